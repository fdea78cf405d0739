/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of even axes: their slots, and counting them at once (even.h). */
#include "cpu/even.h"
#include "cpu/isa.h"
#include "cpu/simd.h"

/*
 * BLOCK samples are looked up together, and counted LAG blocks later, when the stores of what was
 * found have left the processor's queue. In between they wait in a ring of RING blocks. Looking up
 * and counting alternate vector by vector: in longer turns the stores of counters would fill the
 * queue and hold up the arithmetic behind them. Counters that are in no near cache are asked for
 * SOON blocks after they are found.
 */
enum { BLOCK = 64, RING = 8, LAG = 4, SOON = 1 };

/*
 * Samples are prefetched in two steps, so many bytes ahead: from memory to the second-level cache,
 * then to the first. The first can have few requests open, and those to memory would take them for
 * so long that counters had to wait, which are not in the cache either.
 */
enum { AHEAD_SECOND = 16384, AHEAD_FIRST = 2048 };

/* Prefetches for a loop that has come to p and reads `bytes`, a multiple of 64, at a time. */
INLINE void fetch_ahead(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD_SECOND + i), 0, 2);
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD_FIRST + i), 0, 3);
    }
}

/*
 * A sample's cell is its bin in the order of the number line (ty_cell_of_slot): cell 0 is below all
 * bins, bin i is cell i + 1, and what is above or NaN has the number of its slot.
 *
 * Most cells are found by speculation (even_speculate.h): quick arithmetic that knows when it may
 * be wrong. Then the block is repaired: looked up again by the exact rule, which compares each
 * sample with its nearest edge. Where samples lie on edges that is common: after a GROUP of blocks
 * of which more than MISSES were repaired, the rule is used at once for a while, for at most
 * PAUSE_MOST groups.
 */
enum { GROUP = 64, MISSES = 12, PAUSE_MOST = 32 };

typedef struct consts {
    f64x lo, hi, end, width, inverse, offset, none, all;
    u32h nan, last, spread[8 / F64_LANES]; /* which of a cell's counters each lane takes */
    const double *edges;                   /* of a nearly even axis; else NULL */
    ty_bins bins;
    unsigned shift;
} consts;

/* The float64 above a finite x; as nextafter, which is a call. */
INLINE double next_above(double x)
{
    uint64_t bits;
    x += 0.0; /* not -0 */
    memcpy(&bits, &x, sizeof bits);
    bits += bits >> 63 ? UINT64_MAX : 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE consts consts_of(const ty_axis *axis, unsigned shift)
{
    consts c;
    const ty_bins *b = &axis->bins;
    c.bins = *b;
    c.shift = shift;
    c.lo = f64x_fill(b->lo);
    c.hi = f64x_fill(b->hi);
    c.end = f64x_fill(b->closed ? next_above(b->hi) : b->hi);
    c.width = f64x_fill(b->width);
    c.inverse = f64x_fill(b->inverse);
    c.offset = f64x_fill(-b->lo * b->inverse);
    c.none = f64x_fill(0);
    c.all = f64x_fill(b->bins);
    c.nan = u32h_fill(b->bins + TY_SLOT_NAN);
    c.last = u32h_fill(b->bins);
    c.edges = axis->edges;
    uint32_t spread[8];
    for (uint32_t i = 0; i < 8; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < 8 / F64_LANES; i++)
        c.spread[i] = u32h_load(spread + i * F64_LANES);
    return c;
}

/* The edges in a table that positions are nearest to; of NaN the last. */
INLINE f64x nearest_edges(f64x positions, const consts *c)
{
    uint32_t at[F64_LANES];
    double edges[F64_LANES];
    u32h_store(at, u32h_min(f64x_round_i32(positions), c->last));
    for (int i = 0; i < F64_LANES; i++)
        edges[i] = c->edges[at[i]];
    return f64x_load_f64((const unsigned char *)edges);
}

/* The counters of lanes i … of a block, by their cells. */
INLINE u32h counters_of(u32h cells, int i, const consts *c)
{
    return u32h_add(u32h_shift_left(cells, c->shift), c->spread[i / F64_LANES % (8 / F64_LANES)]);
}

/*
 * Samples that are counted between the vectors of a block: their counters were found LAG blocks
 * ago. Where the second-level cache cannot hold the counters, those found SOON blocks ago are
 * prefetched into it; not into the first, whose few open requests the samples need.
 */
typedef struct pending {
    uint32_t *table;                /* NULL: there are none */
    const uint32_t *earlier, *soon; /* soon may be NULL */
} pending;

static const pending none_pending = {NULL, NULL, NULL};

/* Counts n samples whose counters are known, two a load. */
INLINE void count_all(uint32_t *table, const uint32_t *counters, int n)
{
    if (n == 1)
        table[*counters]++;
    for (int i = 0; i + 1 < n; i += 2) {
        uint64_t two;
        memcpy(&two, counters + i, sizeof two);
        table[(uint32_t)two]++;
        table[two >> 32]++;
    }
}

/* The same samples without prefetching. The compiler sees that soon is NULL and drops its loop. */
INLINE pending only_count(pending b)
{
    return (pending){b.table, b.earlier, NULL};
}

/* Counts samples i … i + n - 1 of the pending block. */
INLINE void count_pending(const pending *b, int i, int n)
{
    if (!b->table)
        return;
    count_all(b->table, b->earlier + i, n);
    for (int k = 0; b->soon && k < n; k++)
        __builtin_prefetch(b->table + b->soon[i + k], 0, 2);
}

/* Turns n cells, fewer than a block, into slots. */
INLINE void cells_to_slots_rest(uint32_t *cells, size_t n, uint32_t bins)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = cells[i] - 1, behind = slot >= bins ? slot + 1 : slot;
        cells[i] = slot == UINT32_MAX ? bins + TY_SLOT_UNDER : behind;
    }
}

/* Turns the cells of a block into slots. */
INLINE void cells_to_slots(uint32_t *cells, uint32_t bins)
{
    const u32x one = u32x_fill(1), last = u32x_fill(bins - 1);
    u32x outside = u32x_fill(0); /* negative */
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        const u32x slot = u32x_sub(u32x_load(cells + i), one);
        outside = u32x_or3(outside, slot, u32x_sub(last, slot));
    }
    if (__builtin_expect(u32x_any_top_bit(outside), 0)) {
        cells_to_slots_rest(cells, BLOCK, bins);
        return;
    }
    for (int i = 0; i < BLOCK; i += F32_LANES)
        u32x_store(cells + i, u32x_sub(u32x_load(cells + i), one));
}

/* How speculation turns samples into cells. */
typedef struct scale {
    double inverse, offset;
    double error; /* at most so many bins off */
} scale;

enum { RARE = 512 }; /* at most one of so many samples, if evenly spread, may be in doubt */

/*
 * For arithmetic that rounds by at most `ulp` of its result; the first bin's begin is at `first`,
 * which is 1 of cells and 0 of slots. Integer samples of an open axis whose
 * edges are all integers get a half added, which keeps them away from the edges. The edges are
 * integers if `lo` and the width are, and the last one, `hi`, which is not computed from these.
 */
INLINE scale scale_of(const ty_bins *b, int first, int integers, double ulp, int fused)
{
    const int halves = integers && !b->closed && rint(b->lo) == b->lo && rint(b->hi) == b->hi &&
                       rint(b->width) == b->width;
    const double lo = fabs(b->lo), hi = fabs(b->hi), bins = b->bins;
    const double most = (lo > hi ? lo : hi) * b->inverse;
    scale s = {b->inverse, first - (b->lo - 0.5 * halves) * b->inverse, 0};
    /* Of the factor (and the product, if that is rounded), the offset and the sum; then of the
     * edges, the width and its inverse, and samples that float64 rounds. */
    s.error =
        ((fused ? 1 : 2) * most + fabs(s.offset) + bins + 2) * ulp + (most + bins + 1) * 0x1p-50;
    return s;
}

/* Whether to speculate in the next group of blocks, learned from those before. */
typedef struct history {
    unsigned missed;      /* blocks of this group that were repaired */
    unsigned rest, pause; /* groups to go without speculation, and how many last time */
} history;

INLINE void history_group(history *c)
{
    if (c->rest)
        c->rest--;
    else if (c->missed > MISSES)
        c->rest = c->pause = c->pause == 0 ? 1 : c->pause < PAUSE_MOST ? 2 * c->pause : PAUSE_MOST;
    else
        c->pause = 0;
    c->missed = 0;
}

#include "cpu/even_speculate.h"

/*
 * A heavy hitter: a cell that comes often among others, whose additions wait for each other. Where
 * the table is too large for several counters a cell, the heaviest cell gets TY_ADD_SPARE spare
 * counters behind the table. Which cell that is, if any, is looked for after each GROUP of blocks.
 * (A cell that comes all the time needs no spare counters: the processor predicts that.)
 */
typedef struct heavy_hitter {
    uint32_t *table;
    uint32_t cell;     /* its first counter; or NO_CELL */
    uint32_t low_bits; /* of a counter's number: which of its cell's it is */
    uint32_t spare;
    int equal;     /* whether all of the block last looked at were in one cell */
    int scattered; /* whether counters are prefetched: they are many, and hit far apart */
} heavy_hitter;

/* Fewest counters of which most are not in the second-level cache. */
enum { SCATTERED_LEAST = 1 << 18 };

enum { HEAVY_SHIFT = 1, HEAVY_LEAST = BLOCK / 4 }; /* most shift that needs it; fewest of a block */
#define NO_CELL UINT32_MAX

/* Sends the heavy cell's samples to the spare counters. */
INLINE void heavy_redirect(const heavy_hitter *h, uint32_t *counters)
{
    static const uint32_t each[TY_ADD_SPARE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
    const u32x keep = u32x_fill(~h->low_bits), cell = u32x_fill(h->cell),
               first = u32x_fill(h->spare);
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        u32x x = u32x_load(counters + i),
             spare = u32x_add(first, u32x_load(each + i % TY_ADD_SPARE));
        u32x_store(counters + i, u32x_select_equal(u32x_and(x, keep), cell, spare, x));
    }
}

/* Adds the spare counters to the cell that they stand for, and clears them. */
static __attribute__((noinline)) void heavy_settle(heavy_hitter *h)
{
    for (uint32_t i = h->spare; h->cell != NO_CELL && i < h->spare + TY_ADD_SPARE; i++) {
        h->table[h->cell] += h->table[i];
        h->table[i] = 0;
    }
    h->cell = NO_CELL;
}

/* Undoes heavy_redirect. */
INLINE void heavy_restore(const heavy_hitter *h, uint32_t *counters)
{
    for (int i = 0; i < BLOCK; i++)
        counters[i] = counters[i] >= h->spare ? h->cell : counters[i];
}

/* Whether most counters of a block are in other cache lines than the two before them. */
INLINE int is_scattered(const uint32_t *counters)
{
    int apart = 0;
    for (int i = 2; i < BLOCK; i++)
        apart += ((counters[i] ^ counters[i - 1]) > 15) & ((counters[i] ^ counters[i - 2]) > 15);
    return apart > BLOCK / 2;
}

/* Chooses anew after block k; those after k - LAG are not counted yet. */
static __attribute__((noinline)) void heavy_choose(heavy_hitter *h, uint32_t ring[RING][BLOCK],
                                                   size_t k)
{
    uint32_t x[BLOCK];
    memcpy(x, ring[k % RING], sizeof x);
    heavy_restore(h, x);
    for (int i = 0; i < BLOCK; i++)
        x[i] &= ~h->low_bits;
    uint32_t chosen = x[0] == x[BLOCK / 2] ? x[0] : x[BLOCK - 1], often = 0;
    for (int i = 0; i < BLOCK; i++)
        often += x[i] == chosen;
    h->equal = often == BLOCK;
    h->scattered = h->spare >= SCATTERED_LEAST && is_scattered(x);
    chosen = often >= HEAVY_LEAST && !h->equal ? chosen : NO_CELL;
    if (chosen == h->cell)
        return;
    for (size_t b = k - LAG + 1; b <= k && h->cell != NO_CELL; b++)
        heavy_restore(h, ring[b % RING]);
    heavy_settle(h);
    h->cell = chosen;
}

#include "cpu/even_affine.h"

/* Blocks of a call after whose repair the rest of it goes by the more careful way. */
enum { MISSES_IN_CALL = 2 };

/* How the cells of a block are found. */
typedef enum { BY_RULE, BY_F64, BY_F32 } finder;

typedef struct speculators {
    finder how;
    speculator_f64 by_f64;
    speculator_f32 by_f32;
} speculators;

#define DTYPE    u16
#define TYPE     uint16_t
#define INTEGERS 1
#define NARROW
#include "cpu/even_dtype.h"

#define DTYPE    i16
#define TYPE     int16_t
#define INTEGERS 1
#define NARROW
#include "cpu/even_dtype.h"

#define DTYPE    u32
#define TYPE     uint32_t
#define INTEGERS 1
#include "cpu/even_dtype.h"

#define DTYPE    i32
#define TYPE     int32_t
#define INTEGERS 1
#include "cpu/even_dtype.h"

#define DTYPE    u64
#define TYPE     uint64_t
#define INTEGERS 1
#define EXACT    ty_slot_even_u64
#include "cpu/even_dtype.h"

#define DTYPE    i64
#define TYPE     int64_t
#define INTEGERS 1
#define EXACT    ty_slot_even_i64
#include "cpu/even_dtype.h"

#define DTYPE    f16
#define TYPE     uint16_t
#define INTEGERS 0
#define NARROW
#include "cpu/even_dtype.h"

#define DTYPE    bf16
#define TYPE     uint16_t
#define INTEGERS 0
#define NARROW
#include "cpu/even_dtype.h"

#define DTYPE    f32
#define TYPE     float
#define INTEGERS 0
#define NARROW
#define AFFINE
#include "cpu/even_dtype.h"

#define DTYPE    f64
#define TYPE     double
#define INTEGERS 0
#if defined(f64x_affine_floor)
#define AFFINE
#endif
#include "cpu/even_dtype.h"

#define ROW(dtype, suffix) [dtype] = WHICH(suffix)
#define ROWS                                                                                       \
    {                                                                                              \
        ROW(TALLY_U16, u16), ROW(TALLY_I16, i16), ROW(TALLY_U32, u32), ROW(TALLY_I32, i32),        \
            ROW(TALLY_U64, u64), ROW(TALLY_I64, i64), ROW(TALLY_F16, f16), ROW(TALLY_BF16, bf16),  \
            ROW(TALLY_F32, f32), ROW(TALLY_F64, f64)                                               \
    }

const ty_even_loops TY_ISA_TABLE(ty_even) = {
#define WHICH(suffix) slots_##suffix
    .slots = ROWS,
#undef WHICH
#define WHICH(suffix) add_##suffix
    .add = ROWS,
#undef WHICH
    .prove = affine_prove,
};
