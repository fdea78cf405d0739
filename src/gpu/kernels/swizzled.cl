/*
 * swizzled: one copy of the histogram in local memory, its order scrambled so that no input fixed
 * before the launch can line its samples up on one bank. Cells stay in their row of 32 words;
 * inside the row they move by a hash of the row's number,
 *
 *      word = cell ^ (row*(row*key + key') >> 27),     row = cell / 32
 *
 * or, of two-byte and float32 samples on NVIDIA's devices, by one of float32s (swizzled_moved),
 * with keys that the host draws for each launch. Equal samples of a warp are one word, which costs
 * no more than different banks do; the result never depends on the key.
 *
 * Of few bins there may be several copies (TY_COPIES, a power of two), a word's side by side, which
 * the lanes take in turn: four lanes over four banks meet less often than 32 over 32.
 */

/* The word of a cell, given as the cell + TY_CELL_BIAS: the keys take the bias as they take rows.
 */
#if defined(TY_FMA_DOWN) && !TY_IS_LOOKUP(TY_BINNING) && (TY_IS_HALFWORD || TY_IS_FLOAT32)
/* Where integer units are the busy ones, the hash is one of float32s: the lower bits of the whole
 * part of a square, (row*scale + offset)^2 below 2^23. A cell is a float32 as it is: with the bias
 * its lower bits, without one a multiple of 2^-149. */
typedef struct swizzled_keys {
    float scale, offset;
} swizzled_keys;
TY_FN swizzled_keys swizzled_keys_of(ty_u32 key, ty_u32 more)
{
    swizzled_keys k;
    k.scale = TY_AS_FLOAT(0x3f000000u | key >> 9);
    k.offset = (float)(more >> 12) * (800.0f / 0x1p20f) - k.scale * 0x1p23f;
    return k;
}
TY_FN ty_u32 swizzled_moved(ty_u32 biased, swizzled_keys k)
{
    /* 2^23 + row */
    float row = TY_CELL_BIAS ? TY_FMA_DOWN(TY_AS_FLOAT(biased), 0x1p-5f, 0x1p23f - 0x1p18f)
                             : TY_FMA_DOWN(TY_AS_FLOAT(biased) * 0x1p127f, 0x1p17f, 0x1p23f);
    float root = TY_FMAF(row, k.scale, k.offset);
    return biased ^ (TY_FLOAT_BITS(TY_FMA_DOWN(root, root, 0x1p23f)) & 31u);
}
#if defined(TY_INC_LOCAL_AT)
#define TY_COUNTS_AT
#endif
#else
typedef struct swizzled_keys {
    ty_u32 key, more;
} swizzled_keys;
TY_FN swizzled_keys swizzled_keys_of(ty_u32 key, ty_u32 more)
{
    swizzled_keys k;
    k.key = key;
    k.more = more;
    return k;
}
TY_FN ty_u32 swizzled_moved(ty_u32 biased, swizzled_keys k)
{
    ty_u32 row = biased >> 5;
    return biased ^ (row * (row * k.key + k.more) >> 27);
}
#endif
/* The word of a biased cell. */
TY_FN ty_u32 swizzled_word(ty_u32 biased, swizzled_keys keys)
{
    return swizzled_moved(biased, keys) & ~TY_CELL_BIAS;
}

typedef struct ty_counters {
    TY_LOCAL ty_u32 *words;
    swizzled_keys keys;
    ty_u32 own; /* a work-item's copy; with TY_COUNTS_AT the address of its word 0, less the bias */
    ty_u32 size; /* TY_COUNTS_AT: bytes from a word to the next */
} ty_counters;

TY_FN void ty_count_biased(const ty_counters *c, ty_u32 biased)
{
#if defined(TY_COUNTS_AT)
    /* A product by a number that the compiler does not know: a shift would be the busy units'. */
    TY_INC_LOCAL_AT(swizzled_moved(biased, c->keys) * c->size + c->own);
#else
    TY_ADD_LOCAL(&c->words[swizzled_word(biased, c->keys) * TY_COPIES + c->own], 1);
#endif
}

/* 16-bit samples keep local memory busy with updates: a line that is not put into the cache beside
 * it costs them less. */
TY_FN uint4 ty_walk_load(TY_GLOBAL const uint4 *at)
{
#if defined(TY_READ_ONCE) && TY_IS_HALFWORD
    return TY_READ_ONCE(at);
#else
    return *at;
#endif
}

/* A word's copies, from a work-item's own on, so that neighbours meet different banks. */
TY_FN ty_u32 swizzled_count(TY_LOCAL const ty_u32 *counters, ty_u32 word)
{
    ty_u32 sum = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_COPIES; k++)
        sum += counters[word * TY_COPIES + ((TY_LID + k) & (TY_COPIES - 1))];
    return sum;
}

/* How many exceptions some edges have (ty_cell_exceptions), a cell's number with them, and back. */
TY_FN ty_u32 swizzled_exceptions(const ty_decider *decider)
{
#if TY_EXCEPTIONS
    return decider->exceptions;
#else
    (void)decider;
    return 0;
#endif
}

TY_FN ty_u32 swizzled_number(ty_u32 cell, const ty_decider *decider)
{
#if TY_EXCEPTIONS
    return ty_exceptions_number(cell, decider);
#else
    (void)decider;
    return cell;
#endif
}

TY_FN ty_u32 swizzled_cell(ty_u32 number, const ty_decider *decider)
{
#if TY_EXCEPTIONS
    return ty_exceptions_cell(number, decider);
#else
    (void)decider;
    return number;
#endif
}

/* The word of a cell. */
TY_FN ty_u32 swizzled_cell_word(ty_u32 cell, const ty_decider *decider, swizzled_keys keys)
{
    return swizzled_word(swizzled_number(cell, decider) + TY_CELL_BIAS, keys);
}

/* What a slot counted. */
TY_FN ty_u32 swizzled_result(TY_LOCAL const ty_u32 *words, ty_u32 slot, ty_u32 bins,
                             const ty_decider *decider, swizzled_keys keys)
{
    const ty_u32 cell = ty_cell_of_slot(slot, bins);
#if TY_EXCEPTIONS
    const ty_u32 cells = bins + 2; /* integers have no NaN */
#else
    const ty_u32 cells = bins + TY_CELLS_EXTRA;
#endif
    return cell < cells ? swizzled_count(words, swizzled_cell_word(cell, decider, keys)) : 0;
}

/* Adds a word's counts to another's. */
TY_FN void swizzled_move(TY_LOCAL ty_u32 *counters, ty_u32 from, ty_u32 to)
{
    TY_ADD_LOCAL(&counters[to * TY_COPIES], swizzled_count(counters, from));
    for (ty_u32 k = 0; k < TY_COPIES; k++)
        counters[from * TY_COPIES + k] = 0;
}

/* The counts of four words from a multiple of four on. */
TY_FN uint4 swizzled_four(TY_LOCAL const ty_u32 *counters, ty_u32 word)
{
#if TY_COPIES == 1
    return *(TY_LOCAL const uint4 *)&counters[word];
#else
    uint4 four;
    four.x = swizzled_count(counters, word);
    four.y = swizzled_count(counters, word + 1);
    four.z = swizzled_count(counters, word + 2);
    four.w = swizzled_count(counters, word + 3);
    return four;
#endif
}

#define SWIZZLED_HALVES(low, high) (((low)&0xffffu) | (high) << 16)

/* Partials are the lower 16 bits of each count, as they lie: a word for each two words 32 apart
 * (halves.cl). What is above them goes to `table` at once: a group of n samples has at most n/65536
 * such counts. */
TY_FN void swizzled_leave(TY_LOCAL const ty_u32 *counters, ty_u32 words, TY_GLOBAL ty_u32 *out,
                          TY_GLOBAL ty_u32 *table, ty_u32 bins, const ty_decider *decider,
                          swizzled_keys keys)
{
    for (ty_u32 w = TY_LID; w < words / 8; w += TY_GROUP_SIZE) {
        const ty_u32 word = w / 8 * 64 + w % 8 * 4;
        const uint4 low = swizzled_four(counters, word), high = swizzled_four(counters, word + 32);
        uint4 halves;
        halves.x = SWIZZLED_HALVES(low.x, high.x);
        halves.y = SWIZZLED_HALVES(low.y, high.y);
        halves.z = SWIZZLED_HALVES(low.z, high.z);
        halves.w = SWIZZLED_HALVES(low.w, high.w);
        ((TY_GLOBAL uint4 *)out)[(ty_u64)TY_GROUP * (words / 8) + w] = halves;
        if ((low.x | low.y | low.z | low.w | high.x | high.y | high.z | high.w) >> 16) {
            TY_ROLLED
            for (ty_u32 i = 0; i < 8; i++) {
                const ty_u32 at = word + i % 4 + i / 4 * 32;
                const ty_u32 upper = swizzled_count(counters, at) >> 16;
                const ty_u32 cell = swizzled_cell(swizzled_word(at + TY_CELL_BIAS, keys), decider);
                if (upper)
                    TY_ADD_GLOBAL(&table[ty_slot_of_cell(cell, bins)], upper);
            }
        }
    }
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, TY_FINISH_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    ty_u32 lid = TY_LID;
    const swizzled_keys keys = swizzled_keys_of(key, key * 0x9e3779b9u);
    ty_counters c = {ty_local, keys, lid & (TY_COPIES - 1), 0};
#if defined(TY_COUNTS_AT)
    c.size = TY_COPIES * 4 + pass;
    c.own = TY_LOCAL_BYTES(ty_local) + c.own * 4 - TY_CELL_BIAS * TY_COPIES * 4;
#endif
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
    ty_u32 cells = bins.bins + swizzled_exceptions(&decider) + TY_CELLS_EXTRA,
           words = (cells + 63) & ~63u;
    const ty_u32 all = words * TY_COPIES;
    TY_WHERE where = TY_WHERE_OF(decider, axis, all);
    ty_walk_soon(data, offset, n);
    uint4 zeros = {0, 0, 0, 0};
    for (ty_u32 w = lid; w < all / 4; w += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)ty_local)[w] = zeros;
    TY_GRID_WAIT();
    TY_BARRIER();
    const ty_walker walker = {&bins, &decider, where, &c};
    ty_walk(&walker, data, offset, n, pass);
    TY_BARRIER();
#if TY_EXCEPTIONS
    for (ty_u32 k = lid; k < decider.exceptions; k += TY_GROUP_SIZE) {
        ty_u32 bin, cell = ty_exception(k, &bins, &decider, &bin);
        swizzled_move(ty_local, swizzled_word(cell, keys), swizzled_word(bin, keys));
    }
    TY_BARRIER();
#endif
    /* A clamped flow's samples are its bin's. */
    if (lid == 0 && (how & TY_OUT_CLAMP_UNDER))
        swizzled_move(ty_local, swizzled_cell_word(0, &decider, keys),
                      swizzled_cell_word(1, &decider, keys));
    if (lid == 1 && (how & TY_OUT_CLAMP_OVER))
        swizzled_move(ty_local, swizzled_cell_word(bins.bins + 1, &decider, keys),
                      swizzled_cell_word(bins.bins, &decider, keys));
    TY_BARRIER();
    if (!finish)
        swizzled_leave(ty_local, words, out, table, bins.bins, &decider, keys);
    for (ty_u32 r = lid; finish && r < slots; r += TY_GROUP_SIZE) {
        ty_u32 found = swizzled_result(ty_local, r, bins.bins, &decider, keys);
        if (found)
            TY_ADD_GLOBAL(table + ty_target_of(r, wide, how), found);
    }
    ty_store_table(ty_local, slots, finish, table, counts, first, flows, histogram, wide, how);
}
/* SPDX-License-Identifier: Apache-2.0 */
