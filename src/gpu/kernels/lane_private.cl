/*
 * lane-private: 32 interleaved copies of the histogram in local memory,
 *
 *      word cell*32 + lane:   copy `lane` of the cell's counter
 *
 * so that the 32 work-items that run together always meet 32 different banks, whatever the data. An
 * update needs no return value and never collides inside a warp, so its cost is one local-memory
 * operation. Where so many do not fit it is 16 copies, and two work-items may meet at a bank. Bytes
 * are counted as raw values (256 cells; the axis is applied to the totals), others as cells of the
 * axis. The group adds up its copies (finish.h).
 */
typedef struct ty_counters {
    TY_LOCAL ty_u32 *words;
    ty_u32 own; /* the byte of a work-item's copy of cell 0, less the bias */
} ty_counters;

TY_FN uint4 ty_walk_load(TY_GLOBAL const uint4 *at)
{
    return *at;
}

#if TY_IS_BYTE
#define TY_FEW TY_FEW_SLOTS
/* The address is put together in bytes, the lane's part by an OR, so that a byte costs a shift, one
 * logical operation and the update. `shifted` has the byte from bit 7 on. */
TY_FN void lane_private_count(const ty_counters *c, ty_u32 shifted)
{
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)c->words + ((shifted & 0x7f80u) | c->own), 1);
}

TY_FN void ty_count_byte(const ty_counters *c, ty_u32 byte)
{
    lane_private_count(c, byte << 7);
}

TY_FN void ty_count_bytes(const ty_counters *c, ty_u32 word)
{
    lane_private_count(c, word << 7);
    lane_private_count(c, word >> 1);
    lane_private_count(c, word >> 9);
    lane_private_count(c, word >> 17);
}
#else
#define TY_FEW 0
TY_FN void ty_count_biased(const ty_counters *c, ty_u32 biased)
{
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)c->words + (biased * (TY_COPIES * 4) + c->own), 1);
}
#endif

/* What result r is of: bytes' are of their values, others' of slots. */
TY_FN ty_u32 lane_private_cell(ty_u32 r, ty_u32 bins)
{
    return TY_IS_BYTE ? r : ty_cell_of_slot(r, bins);
}

TY_FN ty_u32 lane_private_slot(ty_u32 r, TY_GLOBAL const ty_u8 *axis)
{
#if TY_IS_BYTE
    return ty_slot_of((ty_sample)r, axis);
#else
    (void)axis;
    return r;
#endif
}

/* The sum of a cell's copies, from a work-item's own on, so that neighbours meet different banks.
 */
TY_FN ty_u32 lane_private_sum(TY_LOCAL const ty_u32 *copies, ty_u32 cell, ty_u32 cells)
{
    ty_u32 sum = 0;
    for (ty_u32 k = 0; cell < cells && k < TY_COPIES; k++)
        sum += copies[cell * TY_COPIES + ((TY_LID + k) & (TY_COPIES - 1))];
    return sum;
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE) count(TY_COUNT_ARGS, TY_FINISH_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    ty_u32 lid = TY_LID;
    ty_counters c = {ty_local, (lid & (TY_COPIES - 1)) * 4};
#if TY_IS_BYTE
    ty_u32 cells = 256, results = 256, all = 0;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA, results = slots, all = bins.bins;
    TY_WHERE where = TY_WHERE_OF(decider, axis, cells * TY_COPIES);
    c.own -= TY_CELL_BIAS * (TY_COPIES * 4);
#endif
    TY_LOCAL ty_u32 *few = ty_local + cells * TY_COPIES;
    ty_u32 gathered = 0;
    for (ty_u32 w = lid; w < cells * TY_COPIES + TY_FEW; w += TY_GROUP_SIZE)
        ty_local[w] = 0;
    TY_GRID_WAIT();
    TY_BARRIER();
#if TY_IS_BYTE
    const ty_walker walker = {&c};
#else
    const ty_walker walker = {&bins, &decider, where, &c};
#endif
    ty_walk(&walker, data, offset, n, pass);
    TY_BARRIER();
#if TY_FEW
    /* Of few slots of bytes a group first adds up its own values: else all groups' additions of
     * half the 256 values would meet in a word of device memory. */
    gathered = finish && slots <= TY_FEW;
    for (ty_u32 r = lid; gathered && r < results; r += TY_GROUP_SIZE)
        TY_ADD_LOCAL(&few[lane_private_slot(r, axis)], lane_private_sum(ty_local, r, cells));
    TY_BARRIER();
    results = gathered ? slots : results;
#endif
    for (ty_u32 r = lid; !finish && r < results; r += TY_GROUP_SIZE)
        out[(ty_u64)TY_GROUP * results + r] =
            gathered ? few[r] : lane_private_sum(ty_local, lane_private_cell(r, all), cells);
    for (ty_u32 r = lid; finish && r < results; r += TY_GROUP_SIZE) {
        ty_u32 found =
            gathered ? few[r] : lane_private_sum(ty_local, lane_private_cell(r, all), cells);
        if (found)
            TY_ADD_GLOBAL(
                table + ty_target_of(gathered ? r : lane_private_slot(r, axis), wide, how), found);
    }
    ty_store_table(ty_local, slots, finish, table, counts, first, flows, histogram, wide, how);
    (void)axis;
}
/* SPDX-License-Identifier: Apache-2.0 */
