/*
 * packed16: one copy of the histogram in the local memory of a work-group, two cells a word.
 *
 * Samples of two bytes are counted as raw values (65 536 cells; the kernel `fold` applies the axis
 * to the counts). Others are counted as cells of the axis: the bins in the order of the number
 * line, with the samples under the first bin before them, those over the last one and NaN behind.
 *
 * Two cells in one word. The lower half of a word counts the samples of both cells of a pair, the
 * upper half adds up the numbers of their cells modulo 2^16. So an update adds (cell << 16) + 1,
 * one instruction less than choosing a half, and the odd cell has upper - lower * even samples.
 *
 * Checked by the sum. No update looks at what it returns. A work-group counts the samples of an
 * epoch, then adds up the lower halves. A half that passed 65 535 has lost 65 536, so the sum is
 * right if and only if none did. If it is wrong, the epoch is taken back: the same samples are
 * subtracted, which is exact, for words are numbers modulo 2^32. Then it is counted again, a chunk
 * at a time: too few samples to overflow.
 *
 * Heavy hitters. So that a second count stays rare, pairs of frequent cells are drained. Before an
 * epoch each work-item looks at one load drawn at random. Pairs that many of them find are listed,
 * and each sub-group empties the listed pairs as part of every fourth turn that it counts. A listed
 * pair then hardly holds more than four chunks and a turn of each sub-group: half of what it can.
 * An input made to defeat the draws would have to know the key.
 *
 * Four forms. Lanes of a sub-group that update one word follow one another, a clock a lane, unless
 * they add 1, which the hardware combines. The draws tell how to count the epoch (packed16_form):
 * sample by sample, by lengths of runs, with a table of heavy hitters, or warp-aggregated. The form
 * changes the time that an epoch takes and no count.
 *
 * Phases of an epoch (packed16.cl), `at` … `end` in chunks of the work-group:
 *
 *     begin ── draw ── list pairs ── find heavy hitters ── choose the form      packed16_draw.h
 *       │
 *     count the turns: load ── find cells ── count ── now and then drain       this file
 *       │
 *     check by the sum ─┬─ right: store what is drained or nearly full, next epoch
 *                       └─ wrong: take the epoch back, count it again a chunk at a time
 *
 * Local memory in 32-bit words, from `table`, whose address is a multiple of 128 bytes:
 *
 *     0             TY_GROUP_SIZE   table: while drawing, how many drew a pair; while counting, the
 *                                   heavy hitters, or a word for each work-item (warp-aggregated)
 *     P16_COUNTS    P16_HEAVY_CELLS counts of the heavy hitters; where the table has twice as many
 *                                   words as there are heavy hitters, its second half
 *     P16_WASTE     32              updates that are to change nothing; nobody reads these
 *     P16_COPIES    P16_COPIED_WORDS  copied counters of the heavy hitters (two-byte samples)
 *     P16_BASE      (cells+63)/64*32  counters: of 64 cells each 32 words in a row of 128 bytes,
 *                                   scrambled within the row by a hash of its number
 *     …             P16_SUMS        sums: a few words of the whole work-group, below
 *     …             P16_LISTED      list: even cells of the pairs to be drained
 *     …             2 * P16_LISTED  drained: samples taken out of each listed pair, and how many of
 *                                   them were the odd cell's
 *
 * A biased cell is a cell + P16_BIAS, as classifying by float32 arithmetic finds it (sample.h).
 */
#ifndef TY_PACKED16_H
#define TY_PACKED16_H

#define P16_RAW TY_IS_HALFWORD

#if P16_RAW
#define P16_BIAS       0u
#define P16_NO_BINS    0     /* cells that are no bins */
#define P16_HEAD_WORDS 65536 /* words before the partials: what raw values are added up in */
#else
#define P16_BIAS       TY_CELL_BIAS
#define P16_NO_BINS    TY_CELLS_EXTRA
#define P16_HEAD_WORDS 0
#endif

/* Parts of local memory, in words (see the top). P16_SLOT_BITS and P16_COPIED_WORDS come from the
 * host (gpu/methods/packed16.c). */
#define P16_HEAVY_CELLS (1 << P16_SLOT_BITS)
#define P16_HALF_FREE   (2 * P16_HEAVY_CELLS <= TY_GROUP_SIZE) /* the table's second half is free */
#define P16_COUNTS      (P16_HALF_FREE ? TY_GROUP_SIZE - P16_HEAVY_CELLS : TY_GROUP_SIZE)
#define P16_WASTE       (P16_COUNTS + P16_HEAVY_CELLS)
#define P16_COPIES      ((P16_WASTE + 63) & ~31)
#define P16_BASE        (P16_COPIES + P16_COPIED_WORDS)
#define P16_LISTED      64 /* pairs that are drained at most */

#define P16_EACH  ((ty_u32)(16 / sizeof(ty_sample)))        /* samples of a load */
#define P16_TEAM  (TY_GROUP_SIZE % 32 ? TY_GROUP_SIZE : 32) /* work-items that take a turn */
#define P16_TURNS (TY_GROUP_SIZE / P16_TEAM)                /* turns of a chunk */
#define P16_CHUNK ((ty_u32)(TY_AHEAD * TY_GROUP_SIZE))      /* loads of a chunk */
#define P16_FULL  0x2000u /* a pair with so many samples is emptied after an epoch */
#define P16_DRAIN 4       /* turns from one that drains the listed pairs to the next */
#define P16_KNOWN 3       /* draws that make a cell a heavy hitter */

#define P16_NO_CELL 0xffffe000u /* no biased cell has this number */

/* An epoch is so many times longer where hardly a pair is to be drained. */
#define P16_LONG (P16_RAW ? 4 : 1)

/* Whether the draws name the first leader of a sub-group and spare words that many update. Skewed
 * samples of 32-bit integers are counted 3 % slower with it; it was not measured for float64. */
#define P16_DRAWS_LEAD (P16_RAW || TY_IS_FLOAT32)

/* How the chunks of an epoch are gone through. */
enum {
    P16_FORWARD, /* counted */
    P16_BACK,    /* subtracted, for the sum was wrong */
    P16_CAREFUL  /* counted again, a chunk at a time */
};

/* The forms in which an epoch is counted. */
enum { P16_PLAIN, P16_RUN_LENGTH, P16_HEAVY, P16_AGGREGATED };

/* The work-group's `sums`. */
enum {
    P16_EXPECTED,    /* samples that the counters should have */
    P16_FOUND,       /* samples that they have, by their lower halves */
    P16_SOME_FULL,   /* whether a pair has P16_FULL samples */
    P16_LIST_LENGTH, /* pairs to be drained; the list holds P16_LISTED of them */
    P16_TURNS_LEFT,  /* turns that no sub-group has taken */
    P16_CONSTANT,    /* draws: loads whose samples are all in one cell */
    P16_MET,         /* draws: first samples that another lane's first sample meets in its cell */
    P16_MASS,        /* draws in cells of heavy hitters */
    P16_TOP,         /* the most frequent cell, + 2^17 times its draws */
    P16_UNTABLED,    /* draws of pairs that are to be drained whose cells are no heavy hitters */
    P16_ENTERED,     /* heavy hitters; of two-byte samples, those that have copied counters */
    P16_COPY_BITS,   /* copies of each of these, as a power of two */
    P16_SUMS
};

/* What the phases share; each work-item has its own. */
typedef struct packed16_group {
    ty_span span;           /* the loads of the launch */
    ty_u32 all, chunks;     /* whole chunks of the launch, and of this work-group */
    ty_u32 lid, lane;       /* the work-item in its group, and in its sub-group */
    ty_u32 cells, words;    /* cells, and words of their counters */
    ty_u32 key, more;       /* of the hash (packed16_hash) */
    ty_u32 origin;          /* address of `table` */
    ty_u32 bias;            /* address of `counters`, less 2 * P16_BIAS */
    ty_u32 waste;           /* address of this work-item's word that nobody reads */
    ty_u32 spread;          /* of packed16_slot */
    ty_u32 two, upper, one; /* 2, 65536 and 1 (packed16_keep_in_registers) */
    ty_u32 pass, how;       /* of the launch: 0, and how flows are stored (output.h) */
    TY_LOCAL ty_u32 *table, *counters, *sums, *list, *drained;
    TY_GLOBAL const ty_u8 *axis;
    TY_GLOBAL ty_u32 *out; /* where counts that leave before the end are added */
#if !P16_RAW
    ty_bins bins;
    ty_decider decider;
#if TY_BINNING == TY_BY_F32
    float unusual;       /* what equals the upper end of a closed axis, or infinity */
    ty_u32 cell_unusual; /* its biased cell */
#endif
#endif
} packed16_group;

/* Where a pair of cells is counted: a hash of the number of the row scrambles the row's words. */
TY_FN ty_u32 packed16_hash(ty_u32 biased, ty_u32 key, ty_u32 more)
{
    return ((biased & ~63u) * ((biased & ~63u) * key + more)) >> 25;
}

TY_FN ty_u32 packed16_address(const packed16_group *g, ty_u32 biased)
{
    return ((biased * g->two + g->bias) ^ packed16_hash(biased, g->key, g->more)) & ~3u;
}

TY_FN TY_LOCAL ty_u32 *packed16_word_at(const packed16_group *g, ty_u32 address)
{
    return (TY_LOCAL ty_u32 *)((TY_LOCAL ty_u8 *)g->table + (address - g->origin));
}

TY_FN TY_LOCAL ty_u32 *packed16_counter(const packed16_group *g, ty_u32 biased)
{
    return packed16_word_at(g, packed16_address(g, biased));
}

/* What a sample adds to its counter. */
TY_FN ty_u32 packed16_unit(const packed16_group *g, ty_u32 biased)
{
    return biased * g->upper + g->one;
}

/* Counts n samples of a cell. */
TY_FN void packed16_add(const packed16_group *g, ty_u32 biased, ty_u32 n)
{
    TY_ADD_AT(g->table, packed16_address(g, biased), packed16_unit(g, biased) * n);
}

/* Samples of both cells of a counter, and of the odd one; `even` is the even cell, biased or not,
 * for the bias is a multiple of 2^16. */
TY_FN ty_u32 packed16_of_both(ty_u32 word)
{
    return word & 0xffffu;
}

TY_FN ty_u32 packed16_of_odd(ty_u32 word, ty_u32 even)
{
    return ((word >> 16) - packed16_of_both(word) * even) & 0xffffu;
}

/* The word of the table that may have a cell: by its share of the axis times 191.03, so that
 * neighbours come apart; that the values of bytes, of decimals and of most grids of up to 300
 * values have words of their own, even where they are rounded to cells; and that those near each
 * other have banks of their own. */
TY_FN ty_u32 packed16_spread(ty_u32 bins)
{
    return (ty_u32)((((ty_u64)191 << 32) + 143650911u) / bins) | 1;
}

TY_FN ty_u32 packed16_slot(const packed16_group *g, ty_u32 biased)
{
    return biased * g->spread >> (32 - P16_SLOT_BITS);
}

/* Where a cell's count goes in `out`. */
TY_FN ty_u32 packed16_target(const packed16_group *g, ty_u32 cell)
{
#if P16_RAW
    (void)g;
    return cell;
#else
    return ty_target_of(ty_slot_of_cell(cell, g->bins.bins), g->bins.bins, g->how);
#endif
}

/* The biased cell of one sample. */
TY_FN ty_u32 packed16_cell(const packed16_group *g, ty_sample x)
{
#if P16_RAW
    (void)g;
    return (ty_u32)(ty_u16)x;
#else
    return ty_biased_cell_of(x, &g->bins, &g->decider, g->axis);
#endif
}

/* The biased cells of the samples of a load. */
TY_FN void packed16_append(const packed16_group *g, ty_u32 *cells, ty_u32 *count, ty_sample x)
{
    cells[(*count)++] = packed16_cell(g, x);
}

TY_FN void packed16_cells(const packed16_group *g, uint4 load, ty_u32 *cells)
{
    ty_u32 count = 0;
    TY_EACH_SAMPLE(load, packed16_append, g, cells, &count);
}

/* The same for the loops that count most samples. In float32, NaN and the upper end of a closed
 * axis need two instructions each: one comparison finds both, and only loads that have such samples
 * pay for more. */
TY_FN void packed16_cells_fast(const packed16_group *g, uint4 load, ty_u32 *cells)
{
#if TY_BINNING == TY_BY_F32 && !P16_RAW
    float x[4] = {TY_AS_FLOAT(load.x), TY_AS_FLOAT(load.y), TY_AS_FLOAT(load.z),
                  TY_AS_FLOAT(load.w)};
    int any = 0;
    TY_UNROLL
    for (ty_u32 e = 0; e < 4; e++) {
        cells[e] = ty_biased_cell_f32_usual(x[e], &g->decider);
        any |= !(x[e] < g->unusual) && !(x[e] > g->unusual);
    }
    if (any) {
        TY_UNROLL
        for (ty_u32 e = 0; e < 4; e++) {
            if (!(x[e] < g->unusual) && !(x[e] > g->unusual))
                cells[e] = x[e] == g->unusual ? g->cell_unusual : P16_BIAS + g->bins.bins + 2;
        }
    }
#elif TY_BINNING == TY_LOOKUP_LOG && !P16_RAW
    ty_vector_cells(load, cells, &g->bins, &g->decider, g->axis);
#else
    packed16_cells(g, load, cells);
#if P16_RAW
    /* Each in a word of its own: else the compiler extracts the halves of a word again later. */
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++)
        TY_OPAQUE(cells[e]);
#endif
#endif
}

/* Load k of a turn, classified. As soon as a load has come, the one that follows it in the next
 * turn is asked for, so that as many are on their way all the time: where all of a turn are asked
 * for at once, they do not fit the first-level cache that counters leave, and all sub-groups wait.
 * To be written in the loop over k only, which TY_PIN (dialect.h) may leave for the compiler. */
#define P16_TAKE_LOAD(g, loads, k, next, cells)                                                    \
    packed16_cells_fast(g, (loads)[k], cells);                                                     \
    (loads)[k] = TY_PINNED((next) + (k)*P16_TEAM);                                                 \
    TY_PIN(k, (g)->pass)

/* Counts a turn sample by sample; leaves the cells of its last load in `cells`. */
TY_FN void packed16_count_plain(const packed16_group *g, uint4 *loads, TY_GLOBAL const uint4 *next,
                                ty_u32 *cells)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_AHEAD; k++) {
        P16_TAKE_LOAD(g, loads, k, next, cells);
        TY_UNROLL
        for (ty_u32 e = 0; e < P16_EACH; e++)
            packed16_add(g, cells[e], 1);
    }
}

/* Counts a turn of samples of which neighbours are mostly equal: how often one comes in a row, then
 * all of these at once. */
TY_FN void packed16_count_runs(const packed16_group *g, uint4 *loads, TY_GLOBAL const uint4 *next)
{
    ty_u32 cells[P16_EACH], last = P16_BIAS, run = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_AHEAD; k++) {
        int same = 1;
        P16_TAKE_LOAD(g, loads, k, next, cells);
        last = run ? last : cells[0];
        TY_UNROLL
        for (ty_u32 e = 0; e < P16_EACH; e++)
            same &= cells[e] == last;
        if (same) {
            run += P16_EACH;
        } else {
            TY_UNROLL
            for (ty_u32 e = 0; e < P16_EACH; e++) {
                if (cells[e] != last) {
                    packed16_add(g, last, run);
                    last = cells[e];
                    run = 0;
                }
                run++;
            }
        }
    }
    packed16_add(g, last, run);
}

#if P16_RAW
/* A word of the table has the value of a heavy hitter in its upper half, and in its lower half
 * which of the copied counters is the value's: 2^copy_bits neighbouring words that the lanes take
 * in turn. Exclusive or with the value leaves that number, and nothing above it if the value is
 * this one. A word without a heavy hitter has a value that belongs elsewhere, and P16_FREE, or one
 * less where a value came and no copied counter was left. */
#define P16_FREE        0xffffu
#define P16_EMPTY(slot) ((slot) ? P16_FREE : 0x80000000u | P16_FREE)

/* Makes a value a heavy hitter, in the table's word at `address`, if that is free. */
TY_FN void packed16_enter(const packed16_group *g, ty_u32 address, ty_u32 value, ty_u32 copy_bits)
{
    ty_u32 none = P16_EMPTY(packed16_slot(g, value));
    if (TY_SWAP_LOCAL_IF(packed16_word_at(g, address), none, none - 1) == none) {
        ty_u32 i = TY_ADD_LOCAL(&g->sums[P16_ENTERED], 1);
        if (i < P16_COPIED_WORDS >> copy_bits)
            TY_SWAP_LOCAL(packed16_word_at(g, address), value << 16 | i);
    }
}

/* Counts a load's samples: heavy hitters by adding 1 to a copied counter, the others in their
 * pairs. `mine` is the address of the work-item's copy of the first one. */
TY_FN void packed16_add_heavy(const packed16_group *g, const ty_u32 *cells, ty_u32 k,
                              ty_u32 copy_bits, ty_u32 mine)
{
    ty_u32 at[P16_EACH], word[P16_EACH], cold = 0;
    const ty_u32 step = 4u << copy_bits;
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++) {
        at[e] = g->origin + packed16_slot(g, cells[e]) * 4;
        word[e] = TY_LOAD_AT(g->table, at[e]);
    }
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++) {
        word[e] ^= cells[e] * g->upper;
        cold |= word[e];
    }
    if (!(cold >> 16)) {
        TY_UNROLL
        for (ty_u32 e = 0; e < P16_EACH; e++)
            TY_INC_AT(g->table, word[e] * step + mine);
        return;
    }
    if ((word[k % P16_EACH] & 0xffffu) == P16_FREE)
        packed16_enter(g, at[k % P16_EACH], cells[k % P16_EACH], copy_bits);
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++) {
        const int heavy = !(word[e] >> 16);
        ty_u32 address = packed16_address(g, cells[e]);
        TY_INC_AT(g->table, heavy ? word[e] * step + mine : g->origin + 4 * P16_WASTE);
        address = heavy ? g->waste : address;
        TY_ADD_AT(g->table, address, packed16_unit(g, cells[e]));
    }
}

/* What was counted of the heavy hitter in word i of the table, and its biased cell; 0 where the
 * word has none. */
TY_FN ty_u32 packed16_heavy(const packed16_group *g, ty_u32 i, ty_u32 *biased)
{
    const ty_u32 copy_bits = g->sums[P16_COPY_BITS], which = g->table[i] & 0xffffu;
    const ty_u32 others = (1u << copy_bits) - 1;
    ty_u32 sum = 0;
    *biased = g->table[i] >> 16;
    for (ty_u32 k = 0; which < P16_COPIED_WORDS >> copy_bits && k < 1u << copy_bits; k++)
        sum += g->table[P16_COPIES + (which << copy_bits | ((TY_LID + k) & others))];
    return sum;
}
#else
/* A word of the table has the biased cell of a heavy hitter, or P16_NO_CELL.
 *
 * Counts a load's samples: heavy hitters by adding 1 to their counts, the others in their pairs.
 * Loads of heavy hitters only, as most are, take no select. One of the others' samples becomes a
 * heavy hitter if its word of the table has none. */
TY_FN void packed16_add_heavy(const packed16_group *g, const ty_u32 *cells, ty_u32 k)
{
    ty_u32 at[P16_EACH], cell[P16_EACH], cold = 0;
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++) {
        at[e] = g->origin + packed16_slot(g, cells[e]) * 4;
        cell[e] = TY_LOAD_AT(g->table, at[e]);
    }
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++)
        cold |= cell[e] ^ cells[e];
    if (!cold) {
        TY_UNROLL
        for (ty_u32 e = 0; e < P16_EACH; e++)
            TY_INC_AT(g->table, at[e] + 4 * P16_COUNTS);
        return;
    }
    if (cell[k % P16_EACH] == P16_NO_CELL)
        TY_SWAP_LOCAL_IF(packed16_word_at(g, at[k % P16_EACH]), P16_NO_CELL, cells[k % P16_EACH]);
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++) {
        const int heavy = cell[e] == cells[e];
        ty_u32 address = packed16_address(g, cells[e]);
        TY_INC_AT(g->table, (heavy ? at[e] : g->origin + 4 * P16_HEAVY_CELLS) + 4 * P16_COUNTS);
        address = heavy ? g->waste : address;
        TY_ADD_AT(g->table, address, packed16_unit(g, cells[e]));
    }
}

TY_FN ty_u32 packed16_heavy(const packed16_group *g, ty_u32 i, ty_u32 *biased)
{
    *biased = g->table[i];
    return *biased == P16_NO_CELL ? 0 : g->table[P16_COUNTS + i];
}
#endif

/* Counts a turn whose samples are mostly heavy hitters. */
TY_FN void packed16_count_heavy(const packed16_group *g, uint4 *loads, TY_GLOBAL const uint4 *next)
{
    ty_u32 cells[P16_EACH];
#if P16_RAW
    const ty_u32 bits = g->sums[P16_COPY_BITS];
    const ty_u32 mine = g->origin + P16_COPIES * 4 + (g->lid & ((1u << bits) - 1)) * 4;
#endif
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_AHEAD; k++) {
        P16_TAKE_LOAD(g, loads, k, next, cells);
#if P16_RAW
        packed16_add_heavy(g, cells, k, bits, mine);
#else
        packed16_add_heavy(g, cells, k);
#endif
    }
}

/* Warp-aggregated counting: a sub-group that often meets in one cell, its leader, counts that cell
 * in a word for each work-item. */
#if defined(TY_BALLOT)
#define P16_OFTEN 5 /* lanes in one cell that make it the leader */

typedef struct packed16_leader {
    ty_u32 cell;   /* biased, or P16_NO_CELL */
    ty_u32 random; /* of packed16_find_leader */
} packed16_leader;

/* After a turn, whose last load was in `cells`: whether one sample of each lane often meets another
 * in its cell. Which sample and which lane's cell that is about is drawn anew each time, so that no
 * input can hide. */
TY_FN void packed16_find_leader(packed16_leader *leader, const ty_u32 *cells)
{
    ty_u32 probe[P16_EACH];
    leader->random = leader->random * 0x2c1b3c6du + 0x297a2d39u;
    TY_UNROLL
    for (ty_u32 e = 0; e < P16_EACH; e++)
        probe[e] = cells[e];
    TY_UNROLL
    for (ty_u32 half = P16_EACH / 2; half; half /= 2) {
        TY_UNROLL
        for (ty_u32 e = 0; e < half; e++)
            probe[e] = leader->random & half << 20 ? probe[e + half] : probe[e];
    }
    ty_u32 candidate = TY_SHUFFLE(probe[0], leader->random >> 27);
    if (TY_POPCOUNT(TY_BALLOT(probe[0] == candidate)) >= P16_OFTEN)
        leader->cell = candidate;
}

/* Counts a turn: samples of the leader in the work-item's word of the table, chosen by its address,
 * for a branch costs more. Then the words of the sub-group go to the leader's pair. A leader that
 * fewer than 16 lanes met more than once is one no longer. */
TY_FN void packed16_count_aggregated(const packed16_group *g, packed16_leader *leader, uint4 *loads,
                                     TY_GLOBAL const uint4 *next, ty_u32 *cells)
{
    const ty_u32 own = g->origin + g->lid * 4;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_AHEAD; k++) {
        P16_TAKE_LOAD(g, loads, k, next, cells);
        TY_UNROLL
        for (ty_u32 e = 0; e < P16_EACH; e++) {
            ty_u32 address = packed16_address(g, cells[e]);
            address = cells[e] == leader->cell ? own : address;
            TY_ADD_AT(g->table, address, packed16_unit(g, cells[e]));
        }
    }
    ty_u32 count = packed16_of_both(g->table[g->lid]), met = TY_BALLOT(count > 1);
    g->table[g->lid] = 0;
    count = TY_SUM_LANES(count);
    if (g->lane == 0)
        packed16_add(g, leader->cell, count);
    leader->cell = TY_POPCOUNT(met) >= 16 ? leader->cell : P16_NO_CELL;
}
#else
typedef struct packed16_leader {
    ty_u32 cell; /* nothing: these devices have no ballot */
} packed16_leader;
#endif

/* Counts a turn in the form of the epoch. Its loads have come; `next` is where those of the next
 * turn begin, which replace them. */
TY_FN void packed16_count_turn(const packed16_group *g, ty_u32 form, packed16_leader *leader,
                               uint4 *loads, TY_GLOBAL const uint4 *next)
{
    ty_u32 cells[P16_EACH];
    if (form == P16_HEAVY) {
        packed16_count_heavy(g, loads, next);
    } else if (form == P16_RUN_LENGTH) {
        packed16_count_runs(g, loads, next);
    } else {
#if defined(TY_BALLOT)
        if (leader->cell != P16_NO_CELL)
            packed16_count_aggregated(g, leader, loads, next, cells);
        else
            packed16_count_plain(g, loads, next, cells);
        if (form == P16_AGGREGATED && leader->cell == P16_NO_CELL)
            packed16_find_leader(leader, cells);
#else
        packed16_count_plain(g, loads, next, cells);
        (void)leader;
#endif
    }
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
