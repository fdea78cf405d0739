/*
 * What the kernels of source 001 share: the samples of a work-item, those outside the bins, and how
 * a group's table gets into global memory.
 */
#ifndef TY_LECTURE_H
#define TY_LECTURE_H

/* Samples at, at + step … below `end`: a grid apart, so that neighbours read neighbours; or, with
 * TY_CONTIGUOUS, in a row. */
typedef struct ty_share {
    ty_u64 at, end, step;
} ty_share;

TY_FN ty_share ty_share_of(ty_u64 n)
{
    const ty_u64 item = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    ty_share s;
#if TY_CONTIGUOUS
    const ty_u32 each = ((ty_u32)n - 1) / (TY_GROUPS * TY_GROUP_SIZE) + 1; /* n < 2^32 */
    s.at = item * each;
    s.end = s.at + each < n ? s.at + each : n;
    s.step = 1;
#else
    s.at = item;
    s.end = n;
    s.step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
#endif
    return s;
}

/* Samples outside the bins, which the source skips: a work-item counts its own in registers. */
typedef struct ty_outside {
    ty_u32 flows[3]; /* under, over, NaN */
} ty_outside;

TY_FN void ty_outside_none(ty_outside *o)
{
    TY_UNROLL
    for (ty_u32 f = 0; f < 3; f++)
        o->flows[f] = 0;
}

TY_FN void ty_outside_count(ty_outside *o, ty_u32 flow)
{
    TY_UNROLL
    for (ty_u32 f = 0; f < 3; f++)
        o->flows[f] += flow == f ? 1 : 0;
}

TY_FN void ty_outside_add(const ty_outside *o, TY_LOCAL ty_u32 *flows)
{
    TY_UNROLL
    for (ty_u32 f = 0; f < 3; f++) {
        if (o->flows[f])
            TY_ADD_LOCAL(&flows[f], o->flows[f]);
    }
}

/* Of a group without a table: added up in three words of local memory, then to global memory. All
 * work-items call it. */
TY_FN void ty_outside_commit(const ty_outside *o, TY_LOCAL ty_u32 *sums, TY_GLOBAL ty_u32 *flows)
{
    for (ty_u32 f = TY_LID; f < 3; f += TY_GROUP_SIZE)
        sums[f] = 0;
    TY_BARRIER();
    ty_outside_add(o, sums);
    TY_BARRIER();
    for (ty_u32 f = TY_LID; f < 3; f += TY_GROUP_SIZE) {
        if (sums[f])
            TY_ADD_GLOBAL(&flows[f], sums[f]);
    }
}

/* A group's table: left as a partial of its own, which a launch behind this one adds to the others;
 * or, with TY_ATOMIC_COMMIT as published, added to one table. */
TY_FN void ty_commit(TY_LOCAL const ty_u32 *table, ty_u32 slots, TY_GLOBAL ty_u32 *out)
{
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE) {
#if TY_ATOMIC_COMMIT
        if (table[s])
            TY_ADD_GLOBAL(&out[s], table[s]);
#else
        out[(ty_u64)TY_GROUP * slots + s] = table[s];
#endif
    }
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
