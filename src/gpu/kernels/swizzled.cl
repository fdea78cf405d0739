/*
 * swizzled: one copy of the histogram in local memory, its order scrambled so that no input fixed
 * before the launch can line its samples up on one bank. Cells stay in their row of 32 words;
 * inside the row they move by a hash of the row's number,
 *
 *      word = cell ^ (row*(row*key + key') >> 27),     row = cell / 32
 *
 * or, of two-byte and float32 samples on NVIDIA's devices, by one of float32s (ty_moved), with keys
 * that the host draws for each launch. Equal samples of a warp are one word, which costs no more
 * than different banks do; the result never depends on the key.
 *
 * Of few bins there may be several copies (TY_COPIES, a power of two), a word's side by side, which
 * the lanes take in turn: four lanes over four banks meet less often than 32 over 32.
 */

/* The word of a cell, given as the cell + TY_CELL_BIAS: the keys take the bias as they take rows.
 */
#if defined(TY_FMA_DOWN) && TY_EVEN < 4 && (TY_IS_HALFWORD || TY_IS_FLOAT32)
/* Where integer units are the busy ones, the hash is one of float32s: the lower bits of the whole
 * part of a square, (row*scale + offset)^2 below 2^23. A cell is a float32 as it is: with the bias
 * its lower bits, without one a multiple of 2^-149. */
typedef struct ty_keys {
    float scale, offset;
} ty_keys;
TY_FN ty_keys ty_keys_of(ty_u32 key, ty_u32 more)
{
    ty_keys k;
    k.scale = TY_AS_FLOAT(0x3f000000u | key >> 9);
    k.offset = (float)(more >> 12) * (800.0f / 0x1p20f) - k.scale * 0x1p23f;
    return k;
}
TY_FN ty_u32 ty_moved(ty_u32 biased, ty_keys k)
{
    /* 2^23 + row */
    float row = TY_CELL_BIAS ? TY_FMA_DOWN(TY_AS_FLOAT(biased), 0x1p-5f, 0x1p23f - 0x1p18f)
                             : TY_FMA_DOWN(TY_AS_FLOAT(biased) * 0x1p127f, 0x1p17f, 0x1p23f);
    float root = TY_FMAF(row, k.scale, k.offset);
    return biased ^ (TY_FLOAT_BITS(TY_FMA_DOWN(root, root, 0x1p23f)) & 31u);
}
#if defined(TY_INC_LOCAL_AT)
#define TY_COUNTS_AT
/* A product by a number that the compiler does not know: a shift would be the busy units' again. */
#define TY_COUNT_CELL(biased) TY_INC_LOCAL_AT(ty_moved(biased, keys) * size + own)
#endif
#else
typedef struct ty_keys {
    ty_u32 key, more;
} ty_keys;
TY_FN ty_keys ty_keys_of(ty_u32 key, ty_u32 more)
{
    ty_keys k;
    k.key = key;
    k.more = more;
    return k;
}
TY_FN ty_u32 ty_moved(ty_u32 biased, ty_keys k)
{
    ty_u32 row = biased >> 5;
    return biased ^ (row * (row * k.key + k.more) >> 27);
}
#endif
#define TY_WORD(biased) (ty_moved(biased, keys) & ~TY_CELL_BIAS)
#if !defined(TY_COUNT_CELL)
#define TY_COUNT_CELL(biased) TY_ADD_LOCAL(&ty_local[TY_WORD(biased) * TY_COPIES + own], 1)
#endif

/* 16-bit samples keep local memory busy with updates: a line that is not put into the cache beside
 * it costs them less. */
#if defined(TY_READ_ONCE) && TY_IS_HALFWORD
#undef TY_LOAD_VECTOR
#define TY_LOAD_VECTOR(at) TY_READ_ONCE(at)
#endif

#define TY_CONSUME(x) TY_CLASSIFY(x)
#define TY_COUNT_BIASED(biased)                                                                    \
    do {                                                                                           \
        ty_u32 biased_ = biased;                                                                   \
        TY_COUNT_CELL(biased_);                                                                    \
    } while (0)

/* A word's copies, from a work-item's own on, so that neighbours meet different banks. */
TY_FN ty_u32 ty_count_of(TY_LOCAL const ty_u32 *ty_local, ty_u32 word)
{
    ty_u32 sum = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_COPIES; k++)
        sum += ty_local[word * TY_COPIES + ((TY_LID + k) & (TY_COPIES - 1))];
    return sum;
}

/* A cell's number where some edges have exceptions (ty_cell_exceptions), and back. */
#if TY_EXCEPTIONS
#define TY_EXCEPTION_COUNT fast.exceptions
#define TY_CELLS           (bins.bins + 2) /* integers have no NaN */
#define TY_MAIN(cell)      ty_exceptions_number(cell, &fast)
#define TY_USUAL(raw)      ty_exceptions_cell(raw, &fast)
#else
#define TY_EXCEPTION_COUNT 0
#define TY_CELLS           (bins.bins + TY_CELLS_EXTRA)
#define TY_MAIN(cell)      (cell)
#define TY_USUAL(raw)      (raw)
#endif
#define TY_CELL_WORD(cell)  TY_WORD(TY_MAIN(cell) + TY_CELL_BIAS)
#define TY_CELL_COUNT(cell) ((cell) < TY_CELLS ? ty_count_of(ty_local, TY_CELL_WORD(cell)) : 0)
#define TY_RESULT(r)        TY_CELL_COUNT(ty_cell_of_slot(r, bins.bins))

/* Adds a word's counts to another's. */
TY_FN void ty_move(TY_LOCAL ty_u32 *ty_local, ty_u32 from, ty_u32 to)
{
    TY_ADD_LOCAL(&ty_local[to * TY_COPIES], ty_count_of(ty_local, from));
    for (ty_u32 k = 0; k < TY_COPIES; k++)
        ty_local[from * TY_COPIES + k] = 0;
}

/* The counts of four words from a multiple of four on. */
TY_FN uint4 ty_four(TY_LOCAL const ty_u32 *ty_local, ty_u32 word)
{
#if TY_COPIES == 1
    return *(TY_LOCAL const uint4 *)&ty_local[word];
#else
    uint4 four;
    four.x = ty_count_of(ty_local, word);
    four.y = ty_count_of(ty_local, word + 1);
    four.z = ty_count_of(ty_local, word + 2);
    four.w = ty_count_of(ty_local, word + 3);
    return four;
#endif
}

#define TY_TWO_HALVES(low, high) (((low)&0xffffu) | (high) << 16)

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, TY_FINISH_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    ty_u32 lid = TY_LID, own = lid & (TY_COPIES - 1);
    const ty_keys keys = ty_keys_of(key, key * 0x9e3779b9u);
#if defined(TY_COUNTS_AT)
    const ty_u32 size = TY_COPIES * 4 + pass;
    own = TY_LOCAL_BYTES(ty_local) + own * 4 - TY_CELL_BIAS * TY_COPIES * 4;
#endif
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
    ty_u32 cells = bins.bins + TY_EXCEPTION_COUNT + TY_CELLS_EXTRA, words = (cells + 63) & ~63u;
    const ty_u32 all = words * TY_COPIES;
    TY_WHERE where = TY_WHERE_OF(fast, axis, all);
    TY_WALK_SOON(data, offset, n);
    uint4 zeros = {0, 0, 0, 0};
    for (ty_u32 w = lid; w < all / 4; w += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)ty_local)[w] = zeros;
    TY_GRID_WAIT();
    TY_BARRIER();
    TY_WALK(data, offset, n);
    TY_BARRIER();
#if TY_EXCEPTIONS
    for (ty_u32 k = lid; k < fast.exceptions; k += TY_GROUP_SIZE) {
        ty_u32 bin, cell = ty_exception(k, &bins, &fast, &bin);
        ty_move(ty_local, TY_WORD(cell), TY_WORD(bin));
    }
    TY_BARRIER();
#endif
    /* A clamped flow's samples are its bin's. */
    if (lid == 0 && (how & TY_OUT_CLAMP_UNDER))
        ty_move(ty_local, TY_CELL_WORD(0), TY_CELL_WORD(1));
    if (lid == 1 && (how & TY_OUT_CLAMP_OVER))
        ty_move(ty_local, TY_CELL_WORD(bins.bins + 1), TY_CELL_WORD(bins.bins));
    TY_BARRIER();
    /* Partials are the lower 16 bits of each count, as they lie: a word for each two words 32 apart
     * (halves.cl). What is above them goes to `table` at once: a group of n samples has at most
     * n/65536 such counts. */
    for (ty_u32 w = lid; !finish && w < words / 8; w += TY_GROUP_SIZE) {
        const ty_u32 word = w / 8 * 64 + w % 8 * 4;
        const uint4 low = ty_four(ty_local, word), high = ty_four(ty_local, word + 32);
        uint4 halves;
        halves.x = TY_TWO_HALVES(low.x, high.x);
        halves.y = TY_TWO_HALVES(low.y, high.y);
        halves.z = TY_TWO_HALVES(low.z, high.z);
        halves.w = TY_TWO_HALVES(low.w, high.w);
        ((TY_GLOBAL uint4 *)out)[(ty_u64)TY_GROUP * (words / 8) + w] = halves;
        if ((low.x | low.y | low.z | low.w | high.x | high.y | high.z | high.w) >> 16) {
            TY_ROLLED
            for (ty_u32 i = 0; i < 8; i++) {
                const ty_u32 at = word + i % 4 + i / 4 * 32;
                const ty_u32 upper = ty_count_of(ty_local, at) >> 16;
                if (upper)
                    TY_ADD_GLOBAL(
                        &table[ty_slot_of_cell(TY_USUAL(TY_WORD(at + TY_CELL_BIAS)), bins.bins)],
                        upper);
            }
        }
    }
    TY_STORE_TABLE(slots, r);
    (void)pass; /* 0 */
}
