/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of bins as numpy.histogram_bin_edges chooses it.
 *
 * NumPy's rules changed over time; this is NumPy 2.4's: integers never get bins narrower than 1,
 * and `auto` keeps the Freedman-Diaconis width from falling below half the width of `sqrt`.
 * Arithmetic is rounded where NumPy rounds it, so that a width that divides the range evenly gives
 * the same number. What remains apart: standard deviation and skewness are taken from float64 sums
 * in our own order, which matters only when range / width lies within their rounding error of an
 * integer.
 */
#include "core/rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/error.h"
#include "core/order.h"
#include "core/quantile.h"
#include "core/select.h"
#include "plan/plan.h"
#include "binning/bin.h"

int tally_rule_parse(const char *name)
{
    static const char *const names[] = {"auto",  "fd",   "doane",   "scott",
                                        "stone", "rice", "sturges", "sqrt"};
    for (int i = 0; name && i < (int)(sizeof names / sizeof *names); i++) {
        if (!strcmp(name, names[i]))
            return i;
    }
    return -1;
}

static double round_f16(double x)
{
    int exponent;
    frexp(x, &exponent); /* |x| in [2^(exponent-1), 2^exponent) */
    double unit = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    return rint(x / unit) * unit;
}

double ty_rule_round(tally_dtype dtype, double x)
{
    double y = x;
    if (dtype == TALLY_F16)
        y = fabs(x) < 65520 ? round_f16(x) : x;
    else if (dtype == TALLY_F32 || dtype == TALLY_BF16)
        y = fabs(x) < 0x1.ffffffp127 ? (double)(float)x : x;
    return y;
}

/* One call. */
typedef struct rule_job {
    tally_context *context;
    ty_sample_reader reader;
    tally_rule rule;
    int by_range;
    tally_stats stats;
    ty_select select; /* for wants_quartiles */
    double span;      /* of the samples, as NumPy's ptp */
} rule_job;

static int wants_moments(tally_rule rule)
{
    return rule == TALLY_RULE_SCOTT || rule == TALLY_RULE_DOANE;
}

static int wants_quartiles(tally_rule rule)
{
    return rule == TALLY_RULE_AUTO || rule == TALLY_RULE_FD;
}

enum {
    SELECT_THREADS = 16,              /* tables of 512 KiB */
    SELECT_MEMORY = 2 << 20,          /* bytes of keys */
    SELECT_PART = TY_ORDER_BLOCK * 32 /* samples that a thread takes at a time */
};

typedef struct select_run {
    ty_select *select;
    const unsigned char *samples;
    size_t count, size;
} select_run;

static void select_part(void *arg, unsigned part, unsigned worker)
{
    const select_run *run = arg;
    size_t at = (size_t)part * SELECT_PART;
    const size_t end = run->count - at < SELECT_PART ? run->count : at + SELECT_PART;
    for (; at < end; at += TY_ORDER_BLOCK)
        ty_select_add(run->select, worker, run->samples + at * run->size, NULL,
                      end - at < TY_ORDER_BLOCK ? end - at : TY_ORDER_BLOCK);
}

static void select_count(rule_job *job, const void *samples, size_t count)
{
    select_run run = {&job->select, samples, count, tally_dtype_bytes(job->reader.dtype)};
    const size_t parts = count / SELECT_PART + (count % SELECT_PART != 0);
    const unsigned workers = job->select.gather.worker_count;
    if (workers > 1 && parts > 1 && parts <= 1 << 20)
        ty_pool_run(job->reader.pool, workers, (unsigned)parts, select_part, &run);
    else
        for (size_t i = 0; i < parts; i++)
            select_part(&run, (unsigned)i, 0);
}

static tally_status take_first(void *arg, const void *samples, size_t count, tally_error *error)
{
    rule_job *job = arg;
    tally_view view = tally_view_1d(samples, job->reader.dtype, count);
    if (wants_quartiles(job->rule))
        select_count(job, samples, count);
    return tally_stats_add(job->context, &view, NULL, 0, wants_moments(job->rule), &job->stats,
                           error);
}

static tally_status take_select(void *arg, const void *samples, size_t count, tally_error *error)
{
    (void)error;
    select_count(arg, samples, count);
    return TALLY_OK;
}

/* The samples of ranks 0 … below n that two quartiles are between. */
typedef struct quartiles {
    uint64_t n, distinct[4];
    unsigned found;
} quartiles;

static int64_t key_of(const rule_job *job, const quartiles *wanted, uint64_t rank)
{
    return ty_ranks_key(wanted->distinct, job->select.key, wanted->found,
                        rank < wanted->n ? rank : wanted->n - 1);
}

/* NumPy's linear interpolation at a place among the samples in order. */
static double quantile(const rule_job *job, const quartiles *wanted, double at)
{
    const uint64_t rank = (uint64_t)at;
    const double t = at - floor(at);
    const int64_t a = key_of(job, wanted, rank), b = key_of(job, wanted, rank + 1);
    const tally_dtype dtype = job->reader.dtype;
    double x = ty_order_value(dtype, a), y = ty_order_value(dtype, b);
    double step = ty_dtype_is_float(dtype) ? ty_rule_round(dtype, y - x)
                                           : (double)((uint64_t)b - (uint64_t)a);
    return t < 0.5 ? x + step * t : y - step * (1 - t);
}

/* The distance from the 25th to the 75th percentile, exactly NumPy's. The first pass is done. */
static tally_status quartile_range(rule_job *job, double *range, tally_error *error)
{
    quartiles wanted = {.n = job->stats.finite};
    const double at[2] = {(double)(wanted.n - 1) * 0.25, (double)(wanted.n - 1) * 0.75};
    for (int i = 0; i < 4; i++) {
        const uint64_t rank = (uint64_t)at[i / 2] + i % 2;
        wanted.distinct[i] = rank < wanted.n ? rank : wanted.n - 1;
    }
    wanted.found = ty_ranks_distinct(wanted.distinct, 4);
    tally_status status = ty_select_end(&job->select, error);
    if (!status)
        status = ty_select_want(&job->select, wanted.distinct, wanted.found, error);
    int more = 1;
    while (!status && !(status = ty_select_next(&job->select, &more, error)) && more) {
        status = ty_sample_reader_pass(&job->reader, take_select, job, error);
        if (!status)
            status = ty_select_end(&job->select, error);
    }
    if (status)
        return status;
    *range = quantile(job, &wanted, at[1]) - quantile(job, &wanted, at[0]);
    return TALLY_OK;
}

/* NumPy sums f16 in f16, which overflows or vanishes for ordinary data: not followed. */
static double deviation(const rule_job *job)
{
    tally_dtype dtype = job->reader.dtype == TALLY_F16 ? TALLY_F64 : job->reader.dtype;
    double variance = job->stats.m2 / (double)job->stats.finite;
    return ty_rule_round(dtype, sqrt(ty_rule_round(dtype, variance)));
}

static double width_doane(const rule_job *job)
{
    double n = (double)job->stats.finite, sigma = deviation(job);
    if (n <= 2 || !(sigma > 0))
        return 0;
    double error = sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)));
    double skew = job->stats.m3 / n / (sigma * sigma * sigma);
    skew = ty_rule_round(job->reader.dtype, skew);
    return job->span / (1.0 + log2(n) + log2(1.0 + fabs(skew) / error));
}

/* Sets *width, 0 for one bin, and *rounded when NumPy has it in the data's type. */
static tally_status rule_width(rule_job *job, double lo, double hi, double *width, int *rounded,
                               tally_error *error)
{
    const double n = (double)job->stats.finite, span = job->span;
    const tally_dtype dtype = job->reader.dtype;
    const double sturges = span / (log2(n) + 1.0), square = span / sqrt(n);
    double quartiles, fd = 0;
    tally_status status;
    *rounded = 0;
    if (wants_quartiles(job->rule)) {
        if ((status = quartile_range(job, &quartiles, error)))
            return status;
        fd = 2.0 * quartiles * pow(n, -1.0 / 3.0);
    }
    switch (job->rule) {
    case TALLY_RULE_AUTO:
        *width = fmin(fmax(fd, square / 2), sturges);
        break;
    case TALLY_RULE_FD:
        *width = fd;
        break;
    case TALLY_RULE_DOANE:
        *width = width_doane(job);
        break;
    case TALLY_RULE_SCOTT:
        *width = pow(24.0 * sqrt(3.141592653589793) / n, 1.0 / 3.0);
        *width = ty_rule_round(dtype, ty_rule_round(dtype, *width) * deviation(job));
        *rounded = 1;
        break;
    case TALLY_RULE_STONE: {
        ty_stone stone = {&job->reader, lo, hi, span, job->by_range, job->stats.finite};
        uint64_t bins;
        if ((status = ty_stone_bins(&stone, &bins, error)))
            return status;
        *width = ty_rule_round(dtype, span / ty_rule_round(dtype, (double)bins));
        *rounded = 1;
        break;
    }
    case TALLY_RULE_RICE:
        *width = ty_rule_round(dtype, span / ty_rule_round(dtype, 2.0 * pow(n, 1.0 / 3.0)));
        *rounded = 1;
        break;
    case TALLY_RULE_STURGES:
        *width = sturges;
        break;
    case TALLY_RULE_SQRT:
        *width = square;
        break;
    }
    return TALLY_OK;
}

/* The difference of the extremes as NumPy has it: exact for integers, else in the data's type. */
static double span_of(const tally_stats *s, tally_dtype dtype)
{
    if (ty_dtype_is_float(dtype))
        return ty_rule_round(dtype, s->max - s->min);
    return (double)((uint64_t)s->max_integer - (uint64_t)s->min_integer);
}

static uint64_t bins_of(const rule_job *job, double delta, double width, int rounded)
{
    if (!ty_dtype_is_float(job->reader.dtype) && width > 0 && width < 1)
        width = 1;
    double bins = delta / width;
    if (rounded && !job->by_range)
        bins = ty_rule_round(job->reader.dtype, bins);
    bins = ceil(bins);
    if (!(width > 0) || !isfinite(width) || !(bins >= 1))
        return 1;
    return bins < (double)TALLY_RULE_MAX_BINS ? (uint64_t)bins : TALLY_RULE_MAX_BINS;
}

/* By 0.5 each way, or to the next float64 where that is no step. */
static void widen(double *lo, double *hi)
{
    if (*lo != *hi)
        return;
    double down = *lo - 0.5, up = *hi + 0.5;
    *lo = down < *lo ? down : nextafter(*lo, -INFINITY);
    *hi = up > *hi ? up : nextafter(*hi, INFINITY);
}

/* The range of the samples. 64-bit integers that float64 cannot hold: outwards, so that all are in.
 */
static void own_range(const tally_stats *s, tally_dtype dtype, double *lo, double *hi)
{
    *lo = s->finite ? s->min : 0;
    *hi = s->finite ? s->max : 1;
    if (s->finite && dtype == TALLY_I64) {
        if (ty_below_i64(s->min_integer, *lo))
            *lo = nextafter(*lo, -INFINITY);
        if (!ty_below_i64(s->max_integer, *hi) && !ty_equal_i64(s->max_integer, *hi))
            *hi = nextafter(*hi, INFINITY);
    } else if (s->finite && dtype == TALLY_U64) {
        if (ty_below_u64((uint64_t)s->min_integer, *lo))
            *lo = nextafter(*lo, -INFINITY);
        if (!ty_below_u64((uint64_t)s->max_integer, *hi) &&
            !ty_equal_u64((uint64_t)s->max_integer, *hi))
            *hi = nextafter(*hi, INFINITY);
    }
    widen(lo, hi);
}

static tally_status check_finite(const tally_stats *s, tally_error *error)
{
    uint64_t infinite = s->minus_inf + s->plus_inf;
    if (!s->nan && !infinite)
        return TALLY_OK;
    return ty_error(error, TALLY_ERROR_DATA,
                    "%" PRIu64 " of %" PRIu64 " samples are NaN and %" PRIu64
                    " infinite, so their range is not finite; give a range, or skip them "
                    "(skip_nonfinite)",
                    s->nan, s->samples, infinite);
}

static tally_status run(rule_job *job, uint64_t *bins, double *lo, double *hi, tally_error *error)
{
    ty_sample_reader *reader = &job->reader;
    tally_status status;
    const unsigned threads = reader->pool ? ty_pool_threads(reader->pool) : 1;
    if (wants_quartiles(job->rule) &&
        (status = ty_select_start(&job->select, reader->dtype,
                                  threads < SELECT_THREADS ? threads : SELECT_THREADS,
                                  SELECT_MEMORY, error)))
        return status;
    if ((status = ty_sample_reader_pass(reader, take_first, job, error)))
        return status;
    double first = reader->lo, last = reader->hi, width = 0;
    if (!job->by_range) {
        if ((status = check_finite(&job->stats, error)))
            return status;
        own_range(&job->stats, reader->dtype, &first, &last);
    }
    int rounded = 0;
    job->span = span_of(&job->stats, reader->dtype);
    if (job->span > 0) {
        double from = job->by_range ? first : job->stats.min;
        double to = job->by_range ? last : job->stats.max;
        if ((status = rule_width(job, from, to, &width, &rounded, error)))
            return status;
    }
    *bins = bins_of(job, job->by_range ? last - first : job->span, width, rounded);
    *lo = first;
    *hi = last;
    return TALLY_OK;
}

tally_status tally_rule_bins(tally_context *context, tally_chunks chunks, tally_dtype dtype,
                             const tally_rule_options *options, tally_axis *axis,
                             tally_error *error)
{
    const tally_rule_options standard = TALLY_RULE_OPTIONS_INIT;
    if (!options)
        options = &standard;
    if (options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "rule options: struct_size is %zu, expected %zu", options->struct_size,
                        sizeof *options);
    const tally_rule rule = options->rule;
    const double *range = options->range;
    if (!chunks.read || !chunks.rewind)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "chunks: read or rewind is NULL");
    if (!axis)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "axis is NULL");
    if (!tally_dtype_bytes(dtype))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "unknown dtype %d", (int)dtype);
    if ((int)rule < 0 || rule > TALLY_RULE_SQRT)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "unknown rule %d", (int)rule);
    if (range && !(isfinite(range[0]) && isfinite(range[1]) && range[0] <= range[1]))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "range %.17g to %.17g; it must be finite and not descend", range[0],
                        range[1]);
    rule_job job = {
        .context = context,
        .reader = {.chunks = chunks, .dtype = dtype, .pool = context ? context->pool : NULL},
        .rule = rule,
        .by_range = range != NULL,
        .stats = TALLY_STATS_INIT};
    if (range) {
        job.reader.lo = range[0];
        job.reader.hi = range[1];
        widen(&job.reader.lo, &job.reader.hi);
        job.reader.filter = 1;
    } else if (options->skip_nonfinite && ty_dtype_is_float(dtype)) {
        job.reader.lo = -1.7976931348623157e308;
        job.reader.hi = 1.7976931348623157e308;
        job.reader.filter = 1;
    }
    uint64_t bins;
    double lo, hi;
    tally_status status = run(&job, &bins, &lo, &hi, error);
    ty_select_clear(&job.select);
    if (!status)
        *axis = tally_axis_even(bins, lo, hi);
    return status;
}
