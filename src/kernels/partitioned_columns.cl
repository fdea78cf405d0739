/*
 * partitioned-columns: what `partitioned` (partitioned.cl, which stands before this) does for one column, for
 * packed columns side by side and perhaps a mask beside them (columns.h). Samples are numbered by
 * their cell; one more number is for what is masked out. Counts of numbers are added up in a table
 * of the scratch memory, and what flows mean is settled once a launch, when it is added to `out` as
 * slots.
 *
 * Columns that do not all begin a vector at the same sample, or have a mask, are read a sample at a
 * time.
 */

/* The samples of batch b from sample `at` on. */
#define TY_FROM_ARGS                                                                               \
    TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,                             \
        TY_GLOBAL const ty_u8 *axis, ty_u64 b, ty_u64 at
#define TY_TAKE_AXES                                                                               \
    ty_u32 all = 1, cells = 1, mark = 0;                                                           \
    TY_GLOBAL const ty_u8 *list = axis;                                                            \
    TY_DIMENSIONS(TY_TAKE)
#define TY_TAKE_SAMPLES                                                                            \
    TY_TAKE_AXES                                                                                   \
    ty_u32 row = 0, head = 0, starts = 0;                                                          \
    TY_DIMENSIONS(TY_PLACE)                                                                        \
    TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, row, at);                                    \
    TY_FIND_HEAD(!masked)                                                                          \
    head = starts ? head : 0;

#define TY_UNITS   (TY_PER / TY_UNIT)
#define TY_MOVE(d) column##d += ahead * TY_SIZE(d);
#define TY_COUNT_CELL()                                                                            \
    do {                                                                                           \
        number[n] = cell;                                                                          \
        TY_ADD_LOCAL(TY_OWN(cell), 1);                                                             \
        n++;                                                                                       \
    } while (0)

/* Sorts tile TY_GROUP of the samples. */
TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
split(TY_FROM_ARGS, TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums,
      ty_u32 slices, ty_u32 shift, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_ADMIT();
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)ty_local;
    TY_TAKE_SAMPLES
    ty_u32 number[TY_PER], n = 0, own = ty_own(stride, mark, shift);
    ty_clear(ty_local, stride, slices);
    TY_OPAQUE(own);
    if (starts) {
        ty_u64 ahead = head + (ty_u64)TY_GROUP * TY_TILE + TY_LID * TY_UNIT;
        TY_DIMENSIONS(TY_MOVE)
        TY_DIMENSIONS(TY_HOLD)
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {
            ty_u32 i = k * TY_GROUP_MAX * TY_UNIT;
            TY_DIMENSIONS(TY_FETCH)
        }
        TY_UNROLL
        for (ty_u32 u = 0; u < TY_UNITS; u++) {
            ty_u32 k = u % TY_AHEAD;
            TY_UNROLL
            for (int j = 0; j < TY_UNIT; j++) {
                ty_u32 cell = 0;
                TY_DIMENSIONS(TY_JOIN_UNIT)
                TY_COUNT_CELL();
            }
            if (u + TY_AHEAD < TY_UNITS) {
                ty_u32 i = (u + TY_AHEAD) * TY_GROUP_MAX * TY_UNIT;
                TY_DIMENSIONS(TY_FETCH)
                TY_READ_FIRST(); /* else loads are moved up until registers are spilled */
            }
        }
    } else {
        ty_u64 ahead = (ty_u64)TY_GROUP * TY_TILE + TY_LID;
        TY_DIMENSIONS(TY_MOVE)
        keep += ahead;
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_PER; k++) {
            ty_u32 i = k * TY_GROUP_MAX;
            ty_u32 cell = 0;
            TY_READ_FIRST(); /* one after the other takes fewer registers */
            TY_DIMENSIONS(TY_JOIN_ONE)
            cell =
                !masked | (keep[i] != 0) ? cell : mark + cells; /* without one `keep` is column 0 */
            TY_COUNT_CELL();
        }
    }
    ty_sort(number, TY_GROUP, TY_GROUPS, ~0u, own, scratch, stride, lists, sums, slices, shift, key,
            ty_local);
    (void)channel;
}

/* The samples outside the tiles, which hold `inside` of them: `n` before the first and behind the
 * last. */
TY_KERNEL(TY_GROUP_MAX)
rest(TY_FROM_ARGS, ty_u64 inside, ty_u32 n, TY_GLOBAL ty_u8 *scratch, ty_u64 table TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u64 i = TY_GROUP * TY_GROUP_MAX + TY_LID;
    TY_TAKE_SAMPLES
    if (i < n) {
        ty_u32 cell = 0;
        i = i < head ? i : inside + i;
        TY_DIMENSIONS(TY_JOIN_ONE)
        cell = !masked || keep[i] ? cell - mark : cells;
        TY_ADD_GLOBAL((TY_GLOBAL ty_u32 *)(scratch + table) + cell, 1);
    }
    (void)channel;
    (void)ty_local;
}

/* Adds the table of numbers up in `out`. */
TY_KERNEL(TY_GROUP_MAX)
settle(TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u8 *scratch, ty_u64 table,
       TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 c = TY_GROUP * TY_GROUP_MAX + TY_LID, slot;
    TY_TAKE_AXES
    ty_u32 sum = c <= cells ? ((TY_GLOBAL const ty_u32 *)(scratch + table))[c] : 0;
    if (sum) {
        TY_SETTLE(c)
        slot = c < cells ? slot : all + TY_SLOT_MASKED;
        TY_ADD_GLOBAL(&out[slot], sum);
    }
    (void)mark;
    (void)ty_local;
}
