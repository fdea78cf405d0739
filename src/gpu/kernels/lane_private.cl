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
#if TY_IS_BYTE
/* The address is put together in bytes, the lane's part by an OR, so that a byte costs a shift, one
 * logical operation and the update. */
#undef TY_CONSUME_WORD
#define TY_COUNT_BYTE(shifted)                                                                     \
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local + (((shifted)&0x7f80u) | own), 1)
#define TY_CONSUME_WORD(v)                                                                         \
    TY_COUNT_BYTE((v) << 7);                                                                       \
    TY_COUNT_BYTE((v) >> 1);                                                                       \
    TY_COUNT_BYTE((v) >> 9);                                                                       \
    TY_COUNT_BYTE((v) >> 17)
#define TY_CONSUME(x)             TY_COUNT_BYTE((ty_u32)(x) << 7)
#define TY_CELL_OF_RESULT(result) (result)
#define TY_SLOT_OF_RESULT(result) ty_slot_of((ty_sample)(result), axis)
#define TY_FEW                    TY_FEW_SLOTS
#else
#define TY_FEW                    0
#define TY_CELL_OF_RESULT(result) ty_cell_of_slot(result, bins.bins)
#define TY_SLOT_OF_RESULT(result) (result)
#define TY_CONSUME(x)             TY_CLASSIFY(x)
#define TY_COUNT_BIASED(biased)                                                                    \
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local + ((biased) * (TY_COPIES * 4) + own), 1)
#endif

/* The sum of a cell's copies, from a work-item's own on, so that neighbours meet different banks.
 */
TY_FN ty_u32 ty_copies_sum(TY_LOCAL const ty_u32 *copies, ty_u32 cell, ty_u32 cells)
{
    ty_u32 sum = 0;
    for (ty_u32 k = 0; cell < cells && k < TY_COPIES; k++)
        sum += copies[cell * TY_COPIES + ((TY_LID + k) & (TY_COPIES - 1))];
    return sum;
}

/* Of few slots of bytes a group first adds up its own values: else all groups' additions of half
 * the 256 values would meet in a word of device memory. */
#define TY_RESULT(r) (gathered ? few[r] : ty_copies_sum(ty_local, TY_CELL_OF_RESULT(r), cells))

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE) count(TY_COUNT_ARGS, TY_FINISH_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    ty_u32 lid = TY_LID, own = (lid & (TY_COPIES - 1)) * 4;
#if TY_IS_BYTE
    ty_u32 cells = 256, results = 256;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA, results = slots;
    TY_WHERE where = TY_WHERE_OF(fast, axis, cells * TY_COPIES);
    own -= TY_CELL_BIAS * (TY_COPIES * 4);
#endif
    TY_LOCAL ty_u32 *few = ty_local + cells * TY_COPIES;
    ty_u32 gathered = 0;
    for (ty_u32 c = lid; c < cells * TY_COPIES + TY_FEW; c += TY_GROUP_SIZE)
        ty_local[c] = 0;
    TY_GRID_WAIT();
    TY_BARRIER();
    TY_WALK(data, offset, n);
    TY_BARRIER();
#if TY_FEW
    const ty_u32 gathers = finish && slots <= TY_FEW;
    for (ty_u32 r = lid; gathers && r < results; r += TY_GROUP_SIZE)
        TY_ADD_LOCAL(&few[TY_SLOT_OF_RESULT(r)], TY_RESULT(r));
    TY_BARRIER();
    gathered = gathers;
    results = gathered ? slots : results;
#endif
    TY_LEAVE(results);
    TY_STORE_TABLE(results, gathered ? r : TY_SLOT_OF_RESULT(r));
    (void)axis;
    (void)slots;
    (void)pass;
}
