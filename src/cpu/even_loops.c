/* Samples of even axes: their slots, and counting them at once (even.h). */
#include "cpu/even.h"
#include "cpu/isa.h"
#include "cpu/simd.h"

/*
 * Samples whose slots are found together, and blocks between finding slots and counting them: far
 * enough that the slots' stores have left. The two kinds of work alternate vector by vector; in
 * longer turns the counters' stores would fill their queue and hold up the arithmetic behind them.
 */
enum { BLOCK = 64, RING = 8, LAG = 4, SOON = 1 };

/*
 * Samples are asked for in two steps. What comes from memory goes to the second cache first: the
 * few requests that the first may have open would be taken up by it for so long that counters wait
 * which are not there either.
 */
enum { AHEAD_FAR = 16384, AHEAD_NEAR = 2048 };

/* Asks for what will be read `bytes`, a multiple of 64, at a time from p. */
INLINE void fetch_ahead(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD_FAR + i), 0, 2);
        __builtin_prefetch((const void *)((uintptr_t)p + AHEAD_NEAR + i), 0, 3);
    }
}

/*
 * Places are slots in the order in which the arithmetic finds them: below all bins 0, bin i at
 * i + 1, then above all, NaN and the rest as slots are.
 *
 * Most samples are placed by a guess that says when it may be wrong (even_guess.h); then the block
 * is done again by the rule itself. Data that lie on the edges make that common: after a GROUP of
 * blocks with more than MISSES the rule alone is used for a while.
 */
enum { GROUP = 64, MISSES = 12, PAUSE_MOST = 32 };

typedef struct consts {
    f64x lo, hi, end, width, inverse, offset, none, all;
    u32h nan, spread[8 / F64_LANES]; /* which of a slot's counters */
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
    uint32_t spread[8];
    for (uint32_t i = 0; i < 8; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < 8 / F64_LANES; i++)
        c.spread[i] = u32h_load(spread + i * F64_LANES);
    return c;
}

/* Places to counters of them, for lanes i … of a block. */
INLINE u32h counters_of(u32h places, int i, const consts *c)
{
    return u32h_add(u32h_shift_left(places, c->shift), c->spread[i / F64_LANES % (8 / F64_LANES)]);
}

/*
 * What is done between the vectors of a block: samples whose counters were found LAG blocks ago are
 * counted. Where the counters are too many for the second cache, those found SOON blocks ago are
 * asked for meanwhile; into that cache, as the first has few open requests and samples need them.
 */
typedef struct beside {
    uint32_t *table;                /* NULL: nothing */
    const uint32_t *earlier, *soon; /* soon may be NULL */
} beside;

static const beside nothing = {NULL, NULL, NULL};

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

/* Where nothing is asked for, which compilers then know. */
INLINE beside only_count(beside b)
{
    return (beside){b.table, b.earlier, NULL};
}

/* A vector's share of it, for samples i … i + n - 1. */
INLINE void do_beside(const beside *b, int i, int n)
{
    if (!b->table)
        return;
    count_all(b->table, b->earlier + i, n);
    for (int k = 0; b->soon && k < n; k++)
        __builtin_prefetch(b->table + b->soon[i + k], 0, 2);
}

/* Places of a block to slots. */
INLINE void places_to_slots(uint32_t *places, uint32_t bins)
{
    const u32x one = u32x_fill(1), last = u32x_fill(bins - 1);
    u32x outside = u32x_fill(0); /* negative */
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        u32x x = u32x_sub(u32x_load(places + i), one);
        outside = u32x_or3(outside, x, u32x_sub(last, x));
        u32x_store(places + i, x);
    }
    if (__builtin_expect(!u32x_any_top_bit(outside), 1))
        return;
    for (int i = 0; i < BLOCK; i++) {
        const uint32_t behind = places[i] >= bins ? places[i] + 1 : places[i];
        places[i] = places[i] == UINT32_MAX ? bins + TY_SLOT_UNDER : behind;
    }
}

/* How a guess turns samples into places. */
typedef struct scale {
    double inverse, offset;
    double error; /* bound on what a place is wrong by, in bins */
} scale;

enum { RARE = 512 }; /* a guess must know all but one of so many samples */

/*
 * For arithmetic that rounds by at most `ulp` of its result. To integers, where all edges of an
 * open axis are integers too, a half is added, which keeps them away from the edges: with `lo` and
 * the width all edges are but the last, which is `hi` and not computed from these.
 */
INLINE scale scale_of(const ty_bins *b, int integers, double ulp, int fused)
{
    const int halves = integers && !b->closed && rint(b->lo) == b->lo && rint(b->hi) == b->hi &&
                       rint(b->width) == b->width;
    const double lo = fabs(b->lo), hi = fabs(b->hi), bins = b->bins;
    const double most = (lo > hi ? lo : hi) * b->inverse;
    scale s = {b->inverse, 1 - (b->lo - 0.5 * halves) * b->inverse, 0};
    /* Of the factor (and the product, if that is rounded), the offset and the sum; then of the
     * edges, the width and its inverse, and samples that float64 rounds. */
    s.error =
        ((fused ? 1 : 2) * most + fabs(s.offset) + bins + 2) * ulp + (most + bins + 1) * 0x1p-50;
    return s;
}

/* Whether to guess the next block, learning from those before. */
typedef struct course {
    unsigned missed, rest, pause; /* in this group; groups still without, and how many there were */
} course;

INLINE void course_group(course *c)
{
    if (c->rest)
        c->rest--;
    else if (c->missed > MISSES)
        c->rest = c->pause = c->pause == 0 ? 1 : c->pause < PAUSE_MOST ? 2 * c->pause : PAUSE_MOST;
    else
        c->pause = 0;
    c->missed = 0;
}

#include "cpu/even_guess.h"

/*
 * A value that comes often among others makes counts wait for each other. Where the table is too
 * large for many counters a place, one place at a time gets some: after each GROUP of blocks it is
 * seen whether a value is that frequent, and then its samples are redirected to spare counters
 * behind the table. (One that comes all the time needs none: processors foresee that.)
 */
typedef struct hot {
    uint32_t *table;
    uint32_t place;  /* its first counter; NOT_HOT: none */
    uint32_t beside; /* of a place's counters, the last one's number */
    uint32_t spare;
    int equal; /* whether all of the block last looked at were in one place */
    int far;   /* whether there are FAR counters, and its were hardly ever near each other */
} hot;

/* Fewest counters of which most are not in the second cache. */
enum { FAR = 1 << 18 };

enum { HOT_SHIFT = 1, HOT_LEAST = BLOCK / 4 }; /* most shift that needs it; fewest of a block */
#define NOT_HOT UINT32_MAX

INLINE void hot_redirect(const hot *h, uint32_t *counters)
{
    static const uint32_t each[TY_ADD_SPARE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
    const u32x keep = u32x_fill(~h->beside), place = u32x_fill(h->place),
               first = u32x_fill(h->spare);
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        u32x x = u32x_load(counters + i),
             spare = u32x_add(first, u32x_load(each + i % TY_ADD_SPARE));
        u32x_store(counters + i, u32x_select_equal(u32x_and(x, keep), place, spare, x));
    }
}

/* The spare counters into the place that they stand for. */
static __attribute__((noinline)) void hot_settle(hot *h)
{
    for (uint32_t i = h->spare; h->place != NOT_HOT && i < h->spare + TY_ADD_SPARE; i++) {
        h->table[h->place] += h->table[i];
        h->table[i] = 0;
    }
    h->place = NOT_HOT;
}

/* Undoes the redirection. */
INLINE void hot_restore(const hot *h, uint32_t *counters)
{
    for (int i = 0; i < BLOCK; i++)
        counters[i] = counters[i] >= h->spare ? h->place : counters[i];
}

/* Whether most counters of a block are in other lines than the two before: not in a cache. */
INLINE int hot_scattered(const uint32_t *counters)
{
    int apart = 0;
    for (int i = 2; i < BLOCK; i++)
        apart += ((counters[i] ^ counters[i - 1]) > 15) & ((counters[i] ^ counters[i - 2]) > 15);
    return apart > BLOCK / 2;
}

/* Chooses anew after block k, when those behind k - LAG are not counted yet. */
static __attribute__((noinline)) void hot_choose(hot *h, uint32_t ring[RING][BLOCK], size_t k)
{
    uint32_t x[BLOCK];
    memcpy(x, ring[k % RING], sizeof x);
    hot_restore(h, x);
    for (int i = 0; i < BLOCK; i++)
        x[i] &= ~h->beside;
    uint32_t chosen = x[0] == x[BLOCK / 2] ? x[0] : x[BLOCK - 1], often = 0;
    for (int i = 0; i < BLOCK; i++)
        often += x[i] == chosen;
    h->equal = often == BLOCK;
    h->far = h->spare >= FAR && hot_scattered(x);
    chosen = often >= HOT_LEAST && !h->equal ? chosen : NOT_HOT;
    if (chosen == h->place)
        return;
    for (size_t b = k - LAG + 1; b <= k && h->place != NOT_HOT; b++)
        hot_restore(h, ring[b % RING]);
    hot_settle(h);
    h->place = chosen;
}

#include "cpu/even_sure.h"

/* How a block's places are found. */
typedef enum { BY_RULE, BY_LANES, BY_WIDE } way;

typedef struct guesses {
    way how;
    guess_lanes lanes;
    guess_wide wide;
} guesses;

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
#define SURE
#include "cpu/even_dtype.h"

#define DTYPE    f64
#define TYPE     double
#define INTEGERS 0
#if defined(f64x_affine_floor)
#define SURE
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
    .prove = sure_make,
};
