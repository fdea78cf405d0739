/*
 * Every sample of a launch counted once, in loads of 16 bytes whatever the alignment and length:
 * samples before the first whole 16 bytes and behind the last one are counted one by one by the
 * first group. A kernel defines what is declared here, and calls ty_walk.
 */
#ifndef TY_WALK_H
#define TY_WALK_H

#include "gpu/kernels/vectors.h"

/* A work-item's counters, whatever a kernel needs to find one. */
struct ty_counters;
/* How a vector is loaded. */
TY_FN uint4 ty_walk_load(TY_GLOBAL const uint4 *at);

/* What counting a sample takes: the axis held in registers, unless bytes are counted as they are,
 * and the counters. */
typedef struct ty_walker {
#if !TY_IS_BYTE
    const ty_bins *bins;
    const ty_decider *decider;
    TY_WHERE where;
#endif
    const struct ty_counters *counters;
} ty_walker;

/* The samples of a turn that are to be counted together, and how many they are, in a variable of
 * its own: else compilers keep it in memory. Where cells are looked up in local memory
 * (cell_lookup.h), all samples of a turn, four or eight, are classified before any is counted: no
 * compiler moves a read ahead of an update that might change what is read, and one read at a time
 * is waited for. In global memory that takes longer: a turn of two loads. */
#if TY_IS_BYTE
/* Counts a byte, and the four of a word. */
TY_FN void ty_count_byte(const struct ty_counters *c, ty_u32 byte);
TY_FN void ty_count_bytes(const struct ty_counters *c, ty_u32 word);

#define TY_TURN 1
typedef ty_u32 ty_turn[1]; /* none */

TY_FN void ty_take(const ty_walker *w, ty_turn t, ty_u32 *count, ty_sample x)
{
    (void)t;
    (void)count;
    ty_count_byte(w->counters, x);
}

TY_FN void ty_take_vector(const ty_walker *w, ty_turn t, ty_u32 *count, uint4 v)
{
    (void)t;
    (void)count;
    ty_count_bytes(w->counters, v.x);
    ty_count_bytes(w->counters, v.y);
    ty_count_bytes(w->counters, v.z);
    ty_count_bytes(w->counters, v.w);
}
#else
/* Counts a biased cell. */
TY_FN void ty_count_biased(const struct ty_counters *c, ty_u32 cell);

#if TY_IN_STEPS
#define TY_TURN 1
#elif TY_IS_LOOKUP(TY_BINNING)
#define TY_TURN (TY_VECTOR_SAMPLES == 2 || TY_IS_GLOBAL_LOOKUP(TY_BINNING) ? 2 : 1)
#else
#define TY_TURN 1
#endif
#if TY_IN_STEPS
typedef ty_sample ty_turn[TY_VECTOR_SAMPLES]; /* the samples */
#elif TY_IS_LOOKUP(TY_BINNING)
typedef ty_u32 ty_turn[TY_TURN * TY_VECTOR_SAMPLES]; /* their biased cells */
#else
typedef ty_u32 ty_turn[1]; /* none */
#endif

TY_FN void ty_take(const ty_walker *w, ty_turn t, ty_u32 *count, ty_sample x)
{
#if TY_IN_STEPS
    t[(*count)++] = x;
    (void)w;
#elif TY_IS_LOOKUP(TY_BINNING)
    t[(*count)++] = ty_biased_cell_of(x, w->bins, w->decider, w->where);
#else
    ty_count_biased(w->counters, ty_biased_cell_of(x, w->bins, w->decider, w->where));
    (void)t;
    (void)count;
#endif
}

TY_FN void ty_take_vector(const ty_walker *w, ty_turn t, ty_u32 *count, uint4 v)
{
    TY_EACH_SAMPLE(v, ty_take, w, t, count);
}
#endif

/* Counts those of a turn. A macro, so that its loops are unrolled where their lengths are known. */
#if !TY_IS_BYTE && TY_IN_STEPS
#define TY_END_TURN(w, t, count)                                                                   \
    do {                                                                                           \
        ty_u32 cells[TY_VECTOR_SAMPLES];                                                           \
        ty_biased_cells_of(t, cells, count, (w)->bins, (w)->decider, (w)->where);                  \
        TY_UNROLL                                                                                  \
        for (ty_u32 next = 0; next < (count); next++)                                              \
            ty_count_biased((w)->counters, cells[next]);                                           \
    } while (0)
#elif !TY_IS_BYTE && TY_IS_LOOKUP(TY_BINNING)
#define TY_END_TURN(w, t, count)                                                                   \
    do {                                                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 next = 0; next < (count); next++)                                              \
            ty_count_biased((w)->counters, (t)[next]);                                             \
    } while (0)
#else
#define TY_END_TURN(w, t, count) (void)(t), (void)(count)
#endif

/* The turns of many loads: from vector q on, `step` apart; returns where they end. */
#if TY_RING && !TY_IS_LOOKUP(TY_BINNING)
/* So many loads under way all the time, one asked for when one has come: where the counters
 * leave little first-level cache, eight loads of every work-item at once do not fit it, and all
 * warps wait together. */
TY_FN ty_u32 ty_walk_turns(const ty_walker *w, ty_span span, ty_u32 q, ty_u32 step, ty_u32 pass)
{
    if (q + (TY_RING - 1) * step < span.count) {
        uint4 v[TY_RING];
        ty_turn none; /* samples are counted one by one */
        ty_u32 count = 0;
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_RING; k++)
            v[k] = TY_PINNED(&span.vectors[q + k * step]);
        for (; q + (2 * TY_RING - 1) * step < span.count; q += TY_RING * step) {
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_RING; k++) {
                uint4 now = v[k];
                v[k] = TY_PINNED(&span.vectors[q + (TY_RING + k) * step]);
                TY_PIN(k, pass);
                ty_take_vector(w, none, &count, now);
            }
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_RING; k++)
            ty_take_vector(w, none, &count, v[k]);
        q += TY_RING * step;
    }
    return q;
}

/* Asks the second-level cache for the first loads of a warp, a line a lane, while counters are
 * cleared. */
TY_FN void ty_walk_soon(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n)
{
    ty_span span = ty_span_of(data, offset, n);
    ty_u32 k = TY_LID % 32 / 4, line = TY_LID % 4 * 8;
    ty_u32 at = (TY_GROUP + k * TY_GROUPS) * TY_GROUP_SIZE + (TY_LID & ~31u) + line;
    if (k < TY_RING && at < span.count)
        TY_PREFETCH(&span.vectors[at]);
}
#else
/* Whole warps take turns together, for TY_LOADED. */
TY_FN ty_u32 ty_walk_turns(const ty_walker *w, ty_span span, ty_u32 q, ty_u32 step, ty_u32 pass)
{
    for (; (q | 31) + (TY_AHEAD - 1) * step < span.count; q += TY_AHEAD * step) {
        uint4 v[TY_AHEAD];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++)
            v[k] = ty_walk_load(&span.vectors[q + k * step]);
        TY_LOADED();
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k += TY_TURN) {
            ty_turn turn;
            ty_u32 count = 0;
            TY_UNROLL
            for (ty_u32 j = k; j < k + TY_TURN && j < TY_AHEAD; j++)
                ty_take_vector(w, turn, &count, v[j]);
            TY_END_TURN(w, turn, count);
        }
    }
    (void)pass;
    return q;
}

TY_FN void ty_walk_soon(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n)
{
    (void)data;
    (void)offset;
    (void)n;
}
#endif

/* `pass` is 0, which no compiler knows. */
TY_FN void ty_walk(const ty_walker *w, TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n,
                   ty_u32 pass)
{
    ty_span span = ty_span_of(data, offset, n);
    ty_u32 step = TY_GROUPS * TY_GROUP_SIZE, q = TY_GROUP * TY_GROUP_SIZE + TY_LID;
    q = ty_walk_turns(w, span, q, step, pass);
    for (; q < span.count; q += step) {
        uint4 v = span.vectors[q];
        ty_turn turn;
        ty_u32 count = 0;
        ty_take_vector(w, turn, &count, v);
        TY_END_TURN(w, turn, count);
    }
    if (TY_GROUP == 0 && TY_LID < span.head + span.tail) {
        ty_turn turn;
        ty_u32 count = 0;
        ty_take(w, turn, &count, ty_span_odd(span, TY_LID));
        TY_END_TURN(w, turn, count);
    }
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
