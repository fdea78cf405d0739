/* SPDX-License-Identifier: Apache-2.0 */
#include "random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edge_values.h"
#include "parse.h"

/* `bytes` bytes of the source; less at its end, none past it. */
static uint64_t take(rng *r, int bytes)
{
    uint64_t word = 0;
    for (; bytes && r->left; bytes--, r->left--)
        word = word << 8 | *r->bytes++;
    return word;
}

uint64_t rng_next(rng *r)
{
    return r->left ? take(r, 8) : splitmix64(&r->state);
}

uint64_t rng_below(rng *r, uint64_t n)
{
    return (r->left ? take(r, n <= 256 ? 1 : n <= 65536 ? 2 : 8) : splitmix64(&r->state)) % n;
}

double rng_unit(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* A state of SplitMix64 that the bytes, where there are any, choose. */
static uint64_t *state_of(rng *r)
{
    r->state ^= take(r, 8);
    return &r->state;
}

static int chance(rng *r, unsigned one_in)
{
    return rng_below(r, one_in) == 0;
}

static void *block(random_case *c, size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    c->out_of_memory |= !memory;
    return memory;
}

/* Ranges that hurt: tiny and huge widths, offsets far from zero, ends that are no short fractions.
 */
static void random_range(rng *r, tally_dtype dtype, double *lo, double *hi)
{
    static const double ends[] = {0,   1,     -1,  0.1,  1e-3, 100, 255,
                                  256, 65536, 1e6, -1e6, 1e9,  3.3, 1e300};
    double a = chance(r, 3) ? ends[rng_below(r, sizeof ends / sizeof *ends)]
                            : (rng_unit(r) - 0.5) * exp2((double)rng_below(r, 40));
    double width =
        chance(r, 3) ? exp2((double)rng_below(r, 60) - 30) : (double)(1 + rng_below(r, 300));
    if (chance(r, 20))
        width = fabs(a) * 0x1p-48 + 1e-12;
    if ((dtype == TALLY_I64 || dtype == TALLY_U64) && chance(r, 2)) {
        a = dtype == TALLY_U64 ? exp2((double)(40 + rng_below(r, 24)))
                               : -exp2((double)(40 + rng_below(r, 24)));
        width = exp2((double)(42 + rng_below(r, 22)));
    }
    if (tally_dtype_bytes(dtype) == 1 && chance(r, 2)) {
        a = dtype == TALLY_I8 ? -128 : 0;
        width = 256;
    }
    *lo = a;
    *hi = a + width;
}

/* Of a number that the method may serve. */
static uint64_t random_bins(rng *r, unsigned flags, const tally_method_info *method)
{
    static const uint64_t usual[] = {1,   2,   3,    7,    10,   16,  64,  100, 255,
                                     256, 257, 1000, 2048, 4096, 128, 512, 1024};
    uint64_t bins =
        chance(r, 2) ? usual[rng_below(r, sizeof usual / sizeof *usual)] : 1 + rng_below(r, 500);
    if (!(flags & CASE_SMALL) && chance(r, 40))
        bins = 1 + rng_below(r, 300000);
    if (method && bins > method->bins_max)
        bins = method->bins_max;
    return method && bins < method->bins_min && method->bins_min <= 300000 ? method->bins_min
                                                                           : bins;
}

/* Even bins so narrow that their edges' rounding shows: float64 has 1 to 64 values in each. For
 * 64-bit integers past 2^53, so that samples are rounded too. */
static tally_axis narrow_bins(rng *r, tally_dtype dtype, uint64_t bins)
{
    int wide = dtype == TALLY_I64 || dtype == TALLY_U64;
    double lo =
        ldexp(1 + rng_unit(r), wide ? 53 + (int)rng_below(r, 9) : (int)rng_below(r, 60) - 30);
    double unit = nextafter(lo, INFINITY) - lo;
    double hi =
        lo + (double)(bins * (1 + rng_below(r, chance(r, 2) ? 3 : 64)) + rng_below(r, bins)) * unit;
    return dtype == TALLY_U64 || chance(r, 2) ? tally_axis_even(bins, lo, hi)
                                              : tally_axis_even(bins, -hi, -lo);
}

static void random_axis(random_case *c, unsigned d, rng *r, unsigned flags,
                        const tally_method_info *method)
{
    tally_dtype dtype = c->plan.dtypes[d];
    double lo, hi;
    random_range(r, dtype, &lo, &hi);
    uint64_t bins = random_bins(r, flags, method);
    if (c->plan.dimensions > 1)
        bins = 1 + bins % (c->plan.dimensions > 2 ? 12 : 120);
    const int near = chance(r, 3);
    if (near)
        range_near(state_of(r), bins, &lo, &hi);
    const int bytes = method && dtype == TALLY_U8 && chance(r, 2); /* some methods are for these */
    tally_axis axis = bytes ? tally_axis_even(bins, 0, 256) : tally_axis_even(bins, lo, hi);
    switch (bytes ? 7 : rng_below(r, 8)) {
    case 0:
        axis = tally_axis_integer(bins, near ? (int64_t)fmin(fmax(ceil(lo), -0x1p52), 0x1p52)
                                             : (int64_t)rng_below(r, 200) - 100);
        break;
    case 1: {
        double low = exp2((double)rng_below(r, 20) - 10),
               high = low * (2 + (double)rng_below(r, 1000000));
        if (near) {
            low = value_near(state_of(r), low);
            high = chance(r, 2) ? low * 256 : rint(high);
            high = value_near(state_of(r), high);
        }
        axis = tally_axis_log(bins > 300 ? 300 : bins, low, high);
        break;
    }
    case 2: {
        uint64_t n = bins > 400 ? 400 : bins;
        double *e = c->edges[d] = block(c, (n + 1) * sizeof *e);
        if (!e)
            break;
        axis = tally_axis_edges(n, e);
        if (near) {
            edges_near(state_of(r), n, e);
            break;
        }
        e[0] = lo;
        for (uint64_t i = 1; i <= n; i++) {
            e[i] = e[i - 1] + (chance(r, 4) ? 1 : rng_unit(r) * (hi - lo) / (double)n);
            if (!(e[i] > e[i - 1]))
                e[i] = nextafter(e[i - 1], INFINITY);
        }
        break;
    }
    case 3:
        if (dtype == TALLY_U8) {
            for (int i = 0; i < 256; i++)
                c->categories[i] =
                    chance(r, 3) ? TALLY_CATEGORY_NONE : (uint16_t)rng_below(r, bins);
            axis = tally_axis_integer(bins, 0);
            axis.kind = TALLY_AXIS_CATEGORY;
            axis.categories = c->categories;
        }
        break;
    case 4:
        if (chance(r, 3)) /* bins of few units in the last place */
            axis = narrow_bins(r, dtype, bins);
        break;
    default:
        break;
    }
    axis.under = chance(r, 4) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    axis.over = chance(r, 4) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    if (!(flags & CASE_EXACT)) {
        axis.under = chance(r, 24) ? TALLY_FLOW_FAIL : axis.under;
        axis.over = chance(r, 24) ? TALLY_FLOW_FAIL : axis.over;
        axis.nan = chance(r, 16) ? TALLY_FLOW_FAIL : axis.nan;
    }
    axis.last = chance(r, near ? 2 : 4) ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
    c->plan.axes[d] = axis;
}

static double edge_of(const tally_axis *a, uint64_t i)
{
    switch (a->kind) {
    case TALLY_AXIS_EDGES:
        return a->edges[i];
    case TALLY_AXIS_LOG:
        return i == a->bins ? a->hi : a->lo * pow(a->hi / a->lo, (double)i / (double)a->bins);
    case TALLY_AXIS_EVEN:
        return i == a->bins ? a->hi : a->lo + (double)i * ((a->hi - a->lo) / (double)a->bins);
    case TALLY_AXIS_INTEGER:
        return (double)a->first + (double)i;
    default:
        return (double)i;
    }
}

/* Sample `number`: inside the axis, at an edge or a step beside it, or any bits at all. */
static void random_sample(rng *r, const tally_axis *axis, tally_dtype dtype, unsigned kind,
                          uint64_t number, void *to)
{
    double lo = edge_of(axis, 0), hi = edge_of(axis, axis->bins), x;
    int step = 0;
    uint64_t bits = rng_next(r);
    static const double special[] = {0.0,   -0.0,   INFINITY, -INFINITY, NAN,
                                     1e308, -1e308, 5e-324,   1,         -1};
    switch (kind) {
    case 0: /* constant */
        x = lo + (hi - lo) * 0.37;
        break;
    case 1: /* edges, both ends often, and the values beside them */
        x = chance(r, 3) ? (chance(r, 2) ? lo : hi) : edge_of(axis, rng_below(r, axis->bins + 1));
        step = chance(r, 2) ? 0 : (int)rng_below(r, 5) - 2;
        break;
    case 2: /* any bits */
        memcpy(to, &bits, tally_dtype_bytes(dtype));
        return;
    case 3:
        x = special[rng_below(r, sizeof special / sizeof *special)];
        break;
    case 4: /* skewed */
        x = lo + (hi - lo) * pow(rng_unit(r), 8);
        break;
    case 5: /* two values */
        x = bits & 1 ? lo + (hi - lo) * 0.25 : lo + (hi - lo) * 0.75;
        break;
    case 6: /* mostly one */
        x = lo + (hi - lo) * (bits % 10 ? 0.37 : rng_unit(r));
        break;
    case 7: /* a ramp */
        x = lo + (hi - lo) * (double)(number % 1000) / 1000;
        break;
    default: /* uniform, a little outside too */
        x = lo + (hi - lo) * (rng_unit(r) * 1.1 - 0.05);
        break;
    }
    value_put(to, dtype, x, step);
    if (kind == 1 && (dtype == TALLY_I64 || dtype == TALLY_U64) && chance(r, 2)) {
        uint64_t whole; /* a few float64 steps beside the edge, where float64 has no value */
        memcpy(&whole, to, sizeof whole);
        whole += rng_below(r, 4097) - 2048;
        memcpy(to, &whole, sizeof whole);
    }
}

/* Random bytes, none behind them, so that a checker of memory sees what reads on. */
static unsigned char *random_block(random_case *c, rng *r, size_t bytes)
{
    unsigned char *buffer = block(c, bytes);
    uint64_t *state = state_of(r);
    for (size_t i = 0; buffer && i < bytes; i++)
        buffer[i] = (unsigned char)splitmix64(state);
    return buffer;
}

/* Allocates a buffer for samples without gaps, but for whole samples between batches. */
static unsigned char *lay_out_packed(random_case *c, rng *r, tally_view *v)
{
    const size_t size = tally_dtype_bytes(v->dtype), each = size * v->channels;
    const size_t batch = (v->rows * v->columns + rng_below(r, 9)) * each;
    const size_t total = batch * v->batches, start = rng_below(r, 64 / size) * size;
    unsigned char *buffer = random_block(c, r, total + start);
    if (!buffer)
        return NULL;
    v->data = buffer + start;
    v->batch_stride_bytes = (int64_t)batch;
    return buffer;
}

/* Allocates a buffer with random strides for the extents, points the view into it. */
static unsigned char *lay_out(random_case *c, rng *r, tally_view *v, unsigned flags)
{
    if (flags & CASE_PACKED)
        return lay_out_packed(c, r, v);
    size_t size = tally_dtype_bytes(v->dtype);
    uint64_t slack = chance(r, 3) ? rng_below(r, 5) : 0;
    int negative = chance(r, 8), packed = !chance(r, 3);
    int64_t channel = (int64_t)size, column = channel * (int64_t)v->channels;
    if (!packed) {
        channel += (int64_t)slack * (chance(r, 2) ? 1 : (int64_t)size);
        column = channel * (int64_t)v->channels + (int64_t)rng_below(r, 4);
    }
    int64_t row = column * (int64_t)v->columns + (packed ? 0 : (int64_t)rng_below(r, 9));
    int64_t batch = row * (int64_t)v->rows + (packed ? 0 : (int64_t)rng_below(r, 9));
    size_t total = (size_t)(batch * (int64_t)v->batches);
    size_t start = rng_below(r, 64);
    unsigned char *buffer = random_block(c, r, total + start);
    if (!buffer)
        return NULL;
    v->data = buffer + start;
    v->batch_stride_bytes = batch;
    v->row_stride_bytes = row;
    v->column_stride_bytes = column;
    v->channel_stride_bytes = channel;
    if (negative && !packed && v->rows > 0 && v->columns > 0) {
        v->data = buffer + start + (v->rows - 1) * (uint64_t)row;
        v->row_stride_bytes = -row;
    }
    if (packed && chance(r, 2))
        v->batch_stride_bytes = v->row_stride_bytes = v->column_stride_bytes =
            v->channel_stride_bytes = 0;
    return buffer;
}

unsigned char *random_case_at(const tally_view *v, uint64_t b, uint64_t row, uint64_t col,
                              uint64_t ch)
{
    int64_t size = (int64_t)tally_dtype_bytes(v->dtype);
    int64_t cs = v->channel_stride_bytes ? v->channel_stride_bytes : size;
    int64_t xs = v->column_stride_bytes ? v->column_stride_bytes : cs * (int64_t)v->channels;
    int64_t rs = v->row_stride_bytes ? v->row_stride_bytes : xs * (int64_t)v->columns;
    int64_t bs = v->batch_stride_bytes ? v->batch_stride_bytes : rs * (int64_t)v->rows;
    return (unsigned char *)(uintptr_t)v->data + (int64_t)b * bs + (int64_t)row * rs +
           (int64_t)col * xs + (int64_t)ch * cs;
}

/* Large inputs: samples past so many are copies of earlier ones. */
enum { FRESH = 1 << 15, SAMPLE_KINDS = 11 };

static void fill(random_case *c, rng *r, const tally_view *v, const tally_axis *axis)
{
    unsigned kind = (unsigned)rng_below(r, SAMPLE_KINDS), mixed = chance(r, 3);
    size_t size = tally_dtype_bytes(v->dtype);
    const size_t kept = r->left / 2;
    uint64_t made = 0;
    r->left -= kept;
    unsigned char *fresh = block(c, FRESH * size);
    for (uint64_t b = 0; fresh && b < v->batches; b++)
        for (uint64_t row = 0; row < v->rows; row++)
            for (uint64_t col = 0; col < v->columns; col++)
                for (uint64_t ch = 0; ch < v->channels; ch++) {
                    unsigned char *to = random_case_at(v, b, row, col, ch);
                    if (made >= FRESH) {
                        memcpy(to, fresh + rng_below(r, FRESH) * size, size);
                        continue;
                    }
                    random_sample(r, axis, v->dtype,
                                  mixed ? (unsigned)rng_below(r, SAMPLE_KINDS) : kind, made, to);
                    memcpy(fresh + made++ * size, to, size);
                }
    r->left += kept;
    free(fresh);
}

/* Small whole weights: every order of adding them gives the same float64. With a limit the order
 * does not matter, and tenths of them have more to round. */
static void fill_weights(rng *r, const tally_view *v, double unit)
{
    for (uint64_t b = 0; b < v->batches; b++)
        for (uint64_t row = 0; row < v->rows; row++)
            for (uint64_t col = 0; col < v->columns; col++)
                for (uint64_t ch = 0; ch < v->channels; ch++)
                    value_put(random_case_at(v, b, row, col, ch), v->dtype,
                              ((double)rng_below(r, 100) - 30) * unit, 0);
}

static void random_extents(rng *r, tally_view *v, size_t size, unsigned flags)
{
    static const uint64_t edges[] = {0,  1,   2,   3,   7,   8,    63,   64,
                                     65, 255, 256, 257, 511, 1023, 1024, 1025};
    uint64_t most = flags & CASE_SMALL ? 300 : chance(r, 10) ? 60000 : 5000;
    v->batches = chance(r, flags & CASE_PACKED ? 1 : 4) ? 1 + rng_below(r, 5) : 1;
    v->rows = chance(r, 3) ? 1 + rng_below(r, 20) : 1;
    v->columns =
        chance(r, 3) ? edges[rng_below(r, sizeof edges / sizeof *edges)] : rng_below(r, most);
    if (v->rows > 1)
        v->columns = v->columns / 8 + 1;
    if ((flags & CASE_LARGE) && chance(r, 100))
        v->columns = ((UINT64_C(1) << 20) + rng_below(r, 3 << 20)) /
                     (v->rows * v->batches * v->channels * size);
}

static tally_dtype random_dtype(rng *r, unsigned flags, const tally_method_info *method)
{
    tally_dtype dtype;
    do
        dtype = (tally_dtype)(1 + rng_below(r, flags & CASE_BYTES ? 2 : 12));
    while (method && !has_word(method->dtypes, tally_dtype_name(dtype)));
    return dtype;
}

int random_case_make(random_case *c, uint64_t seed, unsigned flags, const tally_method_info *method)
{
    rng r = {.state = seed};
    return random_case_draw(c, &r, flags, method);
}

int random_case_draw(random_case *c, rng *r, unsigned flags, const tally_method_info *method)
{
    memset(c, 0, sizeof *c);
    c->plan.struct_size = sizeof c->plan;
    c->plan.dimensions =
        !(flags & (CASE_ONE_DIMENSION | CASE_BYTES)) && chance(r, flags & CASE_PACKED ? 2 : 5)
            ? 2 + (unsigned)rng_below(r, 3)
            : 1;
    c->plan.channels = flags & CASE_BYTES ? 1 + rng_below(r, 4)
                       : c->plan.dimensions == 1 && chance(r, 3)
                           ? 1 + rng_below(r, chance(r, 6) ? 20 : 5)
                           : 1;
    if (c->plan.channels > 1 && chance(r, 2))
        c->plan.channel_mask = 1 + rng_below(r, (UINT64_C(1) << c->plan.channels) - 1);
    tally_view shape = TALLY_VIEW_INIT;
    for (unsigned d = 0; d < c->plan.dimensions; d++)
        c->plan.dtypes[d] = random_dtype(r, flags, method);
    shape.channels = c->plan.channels;
    random_extents(r, &shape, tally_dtype_bytes(c->plan.dtypes[0]), flags);
    for (unsigned d = 0; d < c->plan.dimensions; d++) {
        random_axis(c, d, r, flags, method);
        c->views[d] = shape;
        c->views[d].dtype = c->plan.dtypes[d];
        c->buffers[d] = lay_out(c, r, &c->views[d], flags);
        if (c->out_of_memory)
            return 1;
        fill(c, r, &c->views[d], &c->plan.axes[d]);
    }
    c->has_mask = chance(r, 4);
    c->mask = shape;
    c->mask.dtype = TALLY_U8;
    c->mask.channels = 1;
    if (c->has_mask && chance(r, 4))
        c->mask.batches = 1;
    c->buffers[TALLY_MAX_DIMENSIONS] = lay_out(c, r, &c->mask, flags);
    for (uint64_t i = 0; c->has_mask && i < c->mask.columns; i++)
        *random_case_at(&c->mask, 0, 0, i, 0) &= (unsigned char)-(int)(i % 3 != 0);
    c->has_weights = !(flags & CASE_UNWEIGHTED) && chance(r, 4);
    static const tally_dtype weights[] = {TALLY_F32, TALLY_F64, TALLY_I8,  TALLY_I32, TALLY_I64,
                                          TALLY_U16, TALLY_U8,  TALLY_I16, TALLY_U32, TALLY_U64};
    c->weights = shape;
    c->weights.dtype = weights[rng_below(r, sizeof weights / sizeof *weights)];
    if (chance(r, 2))
        c->weights.channels = 1;
    c->buffers[TALLY_MAX_DIMENSIONS + 1] = lay_out(c, r, &c->weights, flags);
    if (c->out_of_memory)
        return 1;
    if (c->has_weights) {
        c->plan.weight_dtype = c->weights.dtype;
        c->plan.sum_squares = chance(r, 2);
        if (c->weights.dtype <= TALLY_F64 && c->weights.dtype >= TALLY_F32 &&
            !c->plan.sum_squares && chance(r, 2))
            c->plan.weight_limit = 6.9;
        fill_weights(r, &c->weights, c->plan.weight_limit != 0 ? 0.1 : 1);
    } else {
        c->plan.counter = chance(r, 3) ? (tally_counter)rng_below(r, flags & CASE_EXACT ? 2 : 4)
                                       : TALLY_COUNTER_U64;
    }
    uint64_t active = 0;
    for (uint64_t i = 0; i < c->plan.channels; i++)
        active += !c->plan.channel_mask || (c->plan.channel_mask >> i & 1);
    c->histograms = shape.batches * active;
    snprintf(c->text, sizeof c->text,
             "%u-D %s kind %d bins %llu [%.17g, %.17g%c %llux%llux%llux%llu%s%s counter %d",
             c->plan.dimensions, tally_dtype_name(c->plan.dtypes[0]), (int)c->plan.axes[0].kind,
             (unsigned long long)c->plan.axes[0].bins, edge_of(&c->plan.axes[0], 0),
             edge_of(&c->plan.axes[0], c->plan.axes[0].bins),
             c->plan.axes[0].last == TALLY_LAST_OPEN ? ')' : ']', (unsigned long long)shape.batches,
             (unsigned long long)shape.rows, (unsigned long long)shape.columns,
             (unsigned long long)shape.channels, c->has_mask ? " mask" : "",
             c->has_weights ? " weights" : "", (int)c->plan.counter);
    return c->out_of_memory;
}

void random_case_free(random_case *c)
{
    for (unsigned i = 0; i < TALLY_MAX_DIMENSIONS; i++)
        free(c->edges[i]);
    for (unsigned i = 0; i < TALLY_MAX_DIMENSIONS + 2; i++)
        free(c->buffers[i]);
}
