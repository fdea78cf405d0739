/*
 * views: any layout at once. Each histogram, from number `first` on, is counted by `parts` groups,
 * each with a table of its own in local memory, of which every counter has `copies` (a power of
 * two) that neighbouring work-items take in turn. Where local memory does not hold the table
 * (TY_GLOBAL_TABLE), a histogram's groups count into one in global memory, the samples of one slot
 * that follow each other put together.
 *
 * Local memory, in words:
 *
 *     0  slots * copies   slot s is counted at s*copies + c, c a work-item's number % copies
 *
 * Phases: the table is cleared; samples are counted; each slot's copies are added up into a
 * partial.
 */
#if TY_GLOBAL_TABLE
/* A sample of slot s more in a table, where `length` of slot `run` are not counted yet. */
#define VIEWS_COUNT(table, copies, run, length, s)                                                 \
    do {                                                                                           \
        if ((s) != (run)) {                                                                        \
            if (length)                                                                            \
                TY_ADD_GLOBAL(&(table)[run], length);                                              \
            (run) = (s);                                                                           \
            (length) = 0;                                                                          \
        }                                                                                          \
        (length)++;                                                                                \
    } while (0)
#else
#define VIEWS_COUNT(table, copies, run, length, s) TY_ADD_LOCAL(&(table)[(s) * (copies)], 1)
#endif

TY_KERNEL(TY_GROUP_SIZE)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
      TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first,
      ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts;
    ty_u64 b = (first + here) / actives, step = (ty_u64)parts * TY_GROUP_SIZE;
    TY_GLOBAL const ty_u8 *list = axis;
    for (int d = 0; d < TY_DIMS; d++)
        list = ty_axis_next(list);
    ty_i64 offset = channel * ((TY_GLOBAL const ty_u32 *)list)[(first + here) - b * actives];
    ty_u64 i = begin + (ty_u64)(TY_GROUP - here * parts) * TY_GROUP_SIZE + lid;
    ty_u64 row = i / columns, column = i - row * columns;
    ty_u64 step_rows = step / columns, step_columns = step - step_rows * columns;
#if TY_GLOBAL_TABLE
    TY_GLOBAL ty_u32 *table = out + (ty_u64)here * slots;
    ty_u32 run = 0, length = 0;
    (void)copies;
#else
    TY_LOCAL ty_u32 *table = ty_local + (lid & (copies - 1));
    for (ty_u32 k = lid; k < slots * copies; k += TY_GROUP_SIZE)
        ty_local[k] = 0;
    TY_BARRIER();
#endif
    for (; i + (TY_AHEAD - 1) * step < end; i += TY_AHEAD * step) {
        ty_u32 s[TY_AHEAD];
        TY_UNROLL
        for (int k = 0; k < TY_AHEAD; k++) {
            TY_MASKED_SLOT(s[k], b, row, column, offset, mask, masked, slots - TY_SLOT_EXTRA, axis);
            TY_STEP(row, column, columns, step_rows, step_columns);
        }
        TY_UNROLL
        for (int k = 0; k < TY_AHEAD; k++)
            VIEWS_COUNT(table, copies, run, length, s[k]);
    }
    for (; i < end; i += step) {
        ty_u32 s;
        TY_MASKED_SLOT(s, b, row, column, offset, mask, masked, slots - TY_SLOT_EXTRA, axis);
        TY_STEP(row, column, columns, step_rows, step_columns);
        VIEWS_COUNT(table, copies, run, length, s);
    }
#if TY_GLOBAL_TABLE
    if (length)
        TY_ADD_GLOBAL(&table[run], length);
    (void)ty_local;
#else
    TY_BARRIER();
    for (ty_u32 k = lid; k < slots; k += TY_GROUP_SIZE) {
        ty_u32 sum = 0;
        for (ty_u32 j = 0; j < copies; j++)
            sum += ty_local[k * copies + ((lid + j) & (copies - 1))];
        out[(ty_u64)TY_GROUP * slots + k] = sum;
    }
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
