/*
 * swizzled: one copy of the histogram in local memory, its order scrambled so that no input fixed
 * before the launch can line its samples up on one bank. Cells stay in their row of 32 words; inside
 * the row they move by a hash of the row's number,
 *
 *      word = cell ^ (row*(row*key + key') >> 27),     row = cell / 32
 *
 * with keys that the host draws for each launch. Equal samples of a warp are one word, which costs
 * no more than different banks do; the result never depends on the key.
 */
/* The word of a cell, given as the cell + TY_MARK: the keys take the mark as they take rows. */
#define TY_HASH(row)  ((row) * ((row)*key + more) >> 27)
#define TY_WORD(mark) (((mark) ^ TY_HASH((mark) >> 5)) & ~TY_MARK)

/* 16-bit samples keep local memory busy with updates: a line that is not put into the cache beside
 * it costs them less. */
#if defined(TY_READ_ONCE) && (TY_DTYPE == 3 || TY_DTYPE == 4 || TY_DTYPE == 9 || TY_DTYPE == 10)
#undef TY_QUAD
#define TY_QUAD(at) TY_READ_ONCE(at)
#endif

#define TY_EAT(x) TY_LOOK(x)
#define TY_COUNT_MARK(mark)                                                                        \
    do {                                                                                           \
        ty_u32 mark_ = mark;                                                                       \
        TY_ADD_LOCAL(&ty_local[TY_WORD(mark_)], 1);                                                        \
    } while (0)

#define TY_CELL_COUNT(cell) ((cell) < cells ? ty_local[TY_WORD((cell) + TY_MARK)] : 0)
#if TY_SPLIT
TY_FN ty_u32 ty_split_count(TY_LOCAL const ty_u32 *ty_local, ty_u32 cell, const ty_bins *bins,
                            const ty_fast *fast, ty_u32 key, ty_u32 more)
{
    ty_u32 from, count = 0;
    if (cell > bins->bins + 1)
        return 0; /* integers have no NaN */
    for (ty_u32 n = ty_split_of(cell, bins, fast, &from); n--; from++)
        count += ty_local[TY_WORD(from)];
    return count;
}
#define TY_RESULT(r)                                                                               \
    ty_split_count(ty_local, ty_cell_of_slot(r, bins.bins), &bins, &fast, key, more)
#define TY_BIN_RESULT(bin) ty_split_count(ty_local, (bin) + 1, &bins, &fast, key, more)
#define TY_SPLITS fast.splits
#else
#define TY_RESULT(r)       TY_CELL_COUNT(ty_cell_of_slot(r, bins.bins))
#define TY_BIN_RESULT(bin) ty_local[TY_WORD((bin) + 1 + TY_MARK)]
#define TY_SPLITS    0
#endif

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE) count(TY_COUNT_ARGS, ty_u32 key, TY_FINISH_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_ADMIT();
    ty_u32 lid = TY_LID, more = key * 0x9e3779b9u;
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
    ty_u32 cells = bins.bins + TY_SPLITS + TY_CELLS_EXTRA, words = (cells + 31) & ~31u;
    TY_WHERE where = TY_WHERE_OF(fast, axis, words);
    uint4 zeros = {0, 0, 0, 0};
    for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX)
        ((TY_LOCAL uint4 *)ty_local)[w] = zeros;
    TY_AWAIT();
    TY_BARRIER();
    TY_WALK(data, offset, n);
    TY_BARRIER();
    TY_LEAVE_HALVES();
    TY_DELIVER(slots, r);
    (void)pass;
}
