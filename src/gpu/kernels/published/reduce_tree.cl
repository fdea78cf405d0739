/*
 * reduce-tree (source 000): no atomics at all. One launch an interval: every work-item puts 1 into
 * local memory if its sample lies in the interval, else 0; a binomial tree halves the flags to one
 * sum a group; the groups' sums are added afterwards. So n samples are read once for every
 * interval.
 *
 * TY_COMPARES: a sample is compared with the interval's two ends, as published; else its slot is
 * found and compared.
 *
 * Corrected: the source reads x[gid] before it checks gid < n, and its tree needs a group size that
 * is a power of two. Here the last stride is rounded up, so any size works, and flows are intervals
 * too.
 */
#if TY_COMPARES
#if TY_DTYPE == TY_U64
#define REDUCE_TREE_BELOW(x, e) ty_below_u64(x, e)
#define REDUCE_TREE_EQUAL(x, e) ty_equal_u64(x, e)
#elif TY_DTYPE == TY_I64
#define REDUCE_TREE_BELOW(x, e) ty_below_i64(x, e)
#define REDUCE_TREE_EQUAL(x, e) ty_equal_i64(x, e)
#else
#define REDUCE_TREE_BELOW(x, e) ((double)ty_value(x) < (e))
#define REDUCE_TREE_EQUAL(x, e) ((double)ty_value(x) == (e))
#endif

/* Edge i of the axis, by the rule of binning/bin.h. */
TY_FN double reduce_tree_edge(ty_u32 i, const ty_bins *b, TY_GLOBAL const double *edges)
{
    if (TY_SEARCHED)
        return edges[i];
    return i < b->bins ? b->lo + (double)i * b->width : b->hi;
}

TY_FN int reduce_tree_in_interval(ty_sample x, ty_u32 slot, TY_GLOBAL const ty_u8 *axis)
{
    const ty_bins b = *(TY_GLOBAL const ty_bins *)axis;
    TY_GLOBAL const double *edges = (TY_GLOBAL const double *)(axis + TY_AXIS_TABLE);
    if (slot >= b.bins)
        return ty_slot_of(x, axis) == slot;
    const double low = reduce_tree_edge(slot, &b, edges),
                 high = reduce_tree_edge(slot + 1, &b, edges);
    const int closed = b.closed && slot + 1 == b.bins;
    /* NaN is not below anything, and equal to nothing. */
    return !REDUCE_TREE_BELOW(x, low) &&
           (REDUCE_TREE_BELOW(x, high) || (closed && REDUCE_TREE_EQUAL(x, high)));
}
#else
TY_FN int reduce_tree_in_interval(ty_sample x, ty_u32 slot, TY_GLOBAL const ty_u8 *axis)
{
    return ty_slot_of(x, axis) == slot;
}
#endif

TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    ty_u32 left = TY_GROUP_SIZE;
    TY_LOCAL_INIT
    ty_local[TY_LID] =
        i < n && reduce_tree_in_interval(TY_SAMPLES(data, offset)[i], pass, axis) ? 1 : 0;
    while (left > 1) {
        ty_u32 stride = (left + 1) / 2;
        TY_BARRIER();
        if (TY_LID + stride < left)
            ty_local[TY_LID] += ty_local[TY_LID + stride];
        left = stride;
    }
    if (TY_LID == 0)
        out[(ty_u64)TY_GROUP * slots + pass] = ty_local[0];
}
/* SPDX-License-Identifier: Apache-2.0 */
