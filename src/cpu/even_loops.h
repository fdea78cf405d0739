/* The text of every ty_even_* table. The including file names the table by TY_EVEN_TABLE. */
#include "cpu/even.h"
#include "cpu/lanes.h"

/*
 * Samples whose slots are found together, and blocks between finding slots and counting them: far
 * enough that the slots' stores have left. The two kinds of work alternate vector by vector; in
 * longer turns the counters' stores would fill their queue and hold up the arithmetic behind them.
 */
enum { BLOCK = 64, RING = 8, LAG = 4 };

/* Bytes that samples are asked for ahead of their use. */
enum { AHEAD = 8192 };

/* What slots are found for: to be handed out, or to be counted. */
typedef enum { TO_TELL, TO_COUNT } way;

/*
 * Where many blocks have samples outside, a branch for them is mispredicted; then these are counted
 * in the slot of those below, whatever they are, and after every GROUP blocks those concerned are
 * read again and sorted out. It starts after a group with CUT_WORTH of them.
 */
enum { GROUP = 64 };

/* What was counted with those below the bins but is in the last bin, above all, or NaN. */
typedef struct strays {
    uint32_t last, over, nan;
} strays;

typedef struct consts {
    lanes_f lo, hi, width, inverse, offset;
    lanes_i spread[8 / LANES]; /* which of a slot's counters */
    ty_bins bins;
    unsigned shift;
} consts;

INLINE consts consts_of(const ty_axis *axis, unsigned shift)
{
    consts c;
    c.bins = axis->bins;
    c.shift = shift;
    c.lo = lanes_fill(c.bins.lo);
    c.hi = lanes_fill(c.bins.hi);
    c.width = lanes_fill(c.bins.width);
    c.inverse = lanes_fill(c.bins.inverse);
    c.offset = lanes_fill(-c.bins.lo * c.bins.inverse);
    uint32_t spread[8];
    for (uint32_t i = 0; i < 8; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < 8 / LANES; i++)
        c.spread[i] = lanes_i_load(spread + i * LANES);
    return c;
}

/* Slots to counters of them, for lanes i … of a block. */
INLINE lanes_i place(lanes_i slots, int i, const consts *c)
{
    return lanes_i_add(lanes_i_shift(slots, c->shift), c->spread[i / LANES % (8 / LANES)]);
}

/* Counts n slots, two a load. */
INLINE void count_slots(uint32_t *table, const uint32_t *slots, int n)
{
    if (n == 1)
        table[*slots]++;
    for (int i = 0; i + 1 < n; i += 2) {
        uint64_t two;
        memcpy(&two, slots + i, sizeof two);
        table[(uint32_t)two]++;
        table[two >> 32]++;
    }
}

INLINE uint32_t sum_lanes(lanes_i counts)
{
    uint32_t lane[LANES], sum = 0;
    lanes_i_store(lane, counts);
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

/* Moves the strays to where they belong. */
static void put_strays(uint32_t *table, const consts *c, const strays *s)
{
    uint32_t *under = table + ((size_t)(c->bins.bins + TY_SLOT_UNDER) << c->shift);
    uint32_t sum = 0;
    for (unsigned k = 0; k < 1u << c->shift; k++) {
        sum += under[k];
        under[k] = 0;
    }
    *under = sum - s->last - s->over - s->nan;
    table[(size_t)(c->bins.bins - 1) << c->shift] += s->last;
    table[(size_t)(c->bins.bins + TY_SLOT_OVER) << c->shift] += s->over;
    table[(size_t)(c->bins.bins + TY_SLOT_NAN) << c->shift] += s->nan;
}

/*
 * The last edge as computed may lie above hi; a sample between them is not in the last bin. Asking
 * for hi itself there costs an operation a vector, so the loops that count do it only for an axis
 * (and samples, closed ends included) that need it.
 */
static int spills(const ty_bins *b)
{
    return b->lo + (double)b->bins * b->width > b->hi;
}

#define DTYPE u16
#define TYPE  uint16_t
#include "cpu/even_dtype.h"

#define DTYPE i16
#define TYPE  int16_t
#include "cpu/even_dtype.h"

#define DTYPE u32
#define TYPE  uint32_t
#include "cpu/even_dtype.h"

#define DTYPE i32
#define TYPE  int32_t
#include "cpu/even_dtype.h"

#define DTYPE u64
#define TYPE  uint64_t
#define EXACT ty_slot_even_u64
#include "cpu/even_dtype.h"

#define DTYPE i64
#define TYPE  int64_t
#define EXACT ty_slot_even_i64
#include "cpu/even_dtype.h"

#define DTYPE f16
#define TYPE  uint16_t
#include "cpu/even_dtype.h"

#define DTYPE bf16
#define TYPE  uint16_t
#include "cpu/even_dtype.h"

#define DTYPE f32
#define TYPE  float
#include "cpu/even_dtype.h"

#define DTYPE f64
#define TYPE  double
#include "cpu/even_dtype.h"

#define ROW(dtype, suffix) [dtype] = WHICH(suffix)
#define ROWS                                                                                       \
    {                                                                                              \
        ROW(TALLY_U16, u16), ROW(TALLY_I16, i16), ROW(TALLY_U32, u32), ROW(TALLY_I32, i32),        \
            ROW(TALLY_U64, u64), ROW(TALLY_I64, i64), ROW(TALLY_F16, f16), ROW(TALLY_BF16, bf16),  \
            ROW(TALLY_F32, f32), ROW(TALLY_F64, f64)                                               \
    }

const ty_even_loops TY_EVEN_TABLE = {
#define WHICH(suffix) slots_##suffix
    .slots = ROWS,
#undef WHICH
#define WHICH(suffix) add_##suffix
    .add = ROWS,
#undef WHICH
};
