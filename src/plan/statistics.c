/* SPDX-License-Identifier: Apache-2.0 */
/* tally_bin_statistics: the arguments checked, the processor's totals made into the caller's
 * statistics, and statistics merged. */
#include <tally/statistics.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/buffer_cache.h"
#include "core/error.h"
#include "core/memory.h"
#include "cpu/statistics.h"
#include "plan/plan.h"
#include "plan/wide.h"

/* One call: the job, and where its statistics go. */
typedef struct statistics_call {
    ty_job job; /* first: commit finds the rest by it */
    ty_statistics found;
    tally_statistics bins, flows;
    ty_buffer *buffer; /* of the totals */
    int sums;          /* they are asked for */
} statistics_call;

/* The statistics of one bin. */
typedef struct bin_statistics {
    double count, weight, weight_squares, sum, mean, m2;
} bin_statistics;

/* ---- from totals ---- */

static bin_statistics of_sums(const double *t)
{
    return (bin_statistics){t[0], t[0], t[0], t[1], t[1] / t[0], NAN};
}

static bin_statistics of_moments(const double *t, int sum)
{
    const double n = t[0], about = t[1] / n, m2 = t[2] - t[1] * about;
    return (bin_statistics){n, n, n, sum ? fma(n, t[3], t[1]) : 0, t[3] + about, m2 < 0 ? 0 : m2};
}

static bin_statistics of_weighted(const double *t, int sum)
{
    const double w = t[0], about = t[1] / w, m2 = t[2] - t[1] * about;
    if (w == 0)
        return (bin_statistics){t[5], w, t[4], t[1], NAN, NAN};
    return (bin_statistics){
        t[5], w, t[4], sum ? fma(w, t[3], t[1]) : 0, t[3] + about, isfinite(about) ? m2 : NAN};
}

/* Whole numbers of 192 bits, which wrap. */
typedef struct u192 {
    ty_u128 low;
    uint64_t high;
} u192;

static u192 multiply(ty_u128 x, uint64_t y)
{
    const ty_u128 below = (ty_u128)(uint64_t)x * y, above = (x >> 64) * y;
    u192 product = {below + (above << 64), (uint64_t)(above >> 64)};
    product.high += product.low < below;
    return product;
}

static u192 add(u192 x, u192 y)
{
    const u192 sum = {x.low + y.low, x.high + y.high};
    return (u192){sum.low, sum.high + (sum.low < x.low)};
}

static u192 subtract(u192 x, u192 y)
{
    return (u192){x.low - y.low, x.high - y.high - (x.low < y.low)};
}

/* Σ(q - mean)² of whole numbers: about the mean's whole part, which is exact, less what the rest of
 * the mean makes of it. */
static double exact_m2(const ty_exact *t)
{
    const uint64_t whole = (uint64_t)(t->sum / t->n), rest = (uint64_t)(t->sum % t->n);
    u192 about = {t->squares, t->carries};
    about = subtract(about, multiply(t->sum, 2 * whole));
    about = add(about, multiply((ty_u128)whole * whole, t->n));
    const ty_u128 squared = (ty_u128)rest * rest;
    if (!about.high && about.low < (ty_u128)1 << 64)
        return (double)(about.low * t->n - squared) / (double)t->n;
    return ldexp((double)about.high, 128) + (double)about.low - (double)squared / (double)t->n;
}

static bin_statistics of_exact(const ty_exact *t, int exponent)
{
    __extension__ typedef __int128 i128;
    const int unit = exponent - TY_EXACT_BITS;
    const double n = (double)t->n;
    const i128 sum = (i128)(t->sum - (ty_u128)t->n * TY_EXACT_ZERO);
    const tally_wide wide = {(uint64_t)sum, (int64_t)(sum >> 64)};
    const double mean =
        (double)(int64_t)(sum / (i128)t->n) + (double)(int64_t)(sum % (i128)t->n) / n;
    return (bin_statistics){
        n, n, n, ty_wide_value(wide, unit + 63), ldexp(mean, unit), ldexp(exact_m2(t), 2 * unit)};
}

/* What one total says. */
static bin_statistics statistics_of(const ty_statistics *s, uint32_t value, const void *total,
                                    int sum)
{
    static const bin_statistics empty = {0, 0, 0, 0, NAN, NAN};
    const double *t = total;
    switch (s->kind) {
    case TY_STATISTICS_SUMS: /* of an empty bin 0 / 0, which is NaN */
        return of_sums(t);
    case TY_STATISTICS_MOMENTS:
        return of_moments(t, sum);
    case TY_STATISTICS_WEIGHTED:
        return t[5] == 0 ? empty : of_weighted(t, sum);
    case TY_STATISTICS_EXACT:
        return ((const ty_exact *)total)->n ? of_exact(total, s->exponents[value]) : empty;
    default:
        return empty;
    }
}

#define WRITE(field, value)                                                                        \
    do {                                                                                           \
        if (to->field)                                                                             \
            to->field[at] = (value);                                                               \
    } while (0)

/* Sums of whole numbers hold no infinite values and no NaN; `odd` says which of them were there. */
static void mark_odd(bin_statistics *b, unsigned char odd)
{
    if (!odd)
        return;
    b->sum = b->mean = odd == 1 ? INFINITY : odd == 2 ? -INFINITY : NAN;
    b->m2 = NAN;
}

static void write_bin(const tally_statistics *to, uint64_t at, const bin_statistics *b,
                      const double *ends)
{
    WRITE(count, (uint64_t)b->count);
    WRITE(weight, b->weight);
    WRITE(weight_squares, b->weight_squares);
    WRITE(sum, b->sum);
    WRITE(mean, b->mean);
    WRITE(m2, b->m2);
    if (!ends)
        return;
    const int empty = -ends[0] > ends[1];
    WRITE(min, empty ? NAN : 0.0 - ends[0]);
    WRITE(max, empty ? NAN : 0.0 + ends[1]);
}

/* Adds the total at `from` to the one at `to`, and clears it. */
static void move_total(ty_statistics *s, uint64_t to, uint64_t from)
{
    const size_t bytes = ty_statistics_bytes(s->kind);
    unsigned char *totals = s->totals;
    ty_statistics_add(s->kind, totals + to * bytes, totals + from * bytes);
    memset(totals + from * bytes, 0, bytes);
    if (s->odds) {
        s->odds[to] |= s->odds[from];
        s->odds[from] = 0;
    }
    if (!s->extreme_totals)
        return;
    double *from_ends = &s->extreme_totals[TY_EXTREMES_FIELDS * from];
    ty_extremes_add(&s->extreme_totals[TY_EXTREMES_FIELDS * to], from_ends);
    from_ends[0] = from_ends[1] = -INFINITY;
}

/* Writes n totals from `first` on to the arrays from `at` on. Totals are cleared as soon as they
 * are written, while they are in the cache. */
static void write_totals(const statistics_call *call, ty_statistics *s, uint32_t value,
                         const tally_statistics *to, uint64_t at, uint64_t first, uint64_t n)
{
    enum { SOME = 256 };
    const size_t bytes = ty_statistics_bytes(s->kind);
    for (uint64_t some; n; n -= some, at += some, first += some) {
        unsigned char *totals = (unsigned char *)s->totals + first * bytes;
        const double *ends =
            s->extreme_totals ? &s->extreme_totals[TY_EXTREMES_FIELDS * first] : NULL;
        some = n < SOME ? n : SOME;
        for (uint64_t i = 0; i < some; i++) {
            bin_statistics b = statistics_of(s, value, totals + i * bytes, call->sums);
            if (s->odds)
                mark_odd(&b, s->odds[first + i]);
            write_bin(to, at + i, &b, ends ? ends + TY_EXTREMES_FIELDS * i : NULL);
        }
        memset(totals, 0, some * bytes);
    }
}

static void write_column(const statistics_call *call, ty_statistics *s, uint32_t value, uint64_t h)
{
    enum { FLOWS = 4 };
    const tally_plan *plan = call->job.plan;
    const uint64_t row = value * call->job.histograms + h, first = row * s->entries;
    const size_t bytes = ty_statistics_bytes(s->kind);
    for (uint32_t slot = plan->bins; slot < plan->slots; slot++)
        if (ty_plan_clamped(plan, slot) != slot)
            move_total(s, first + ty_plan_clamped(plan, slot), first + slot);
    write_totals(call, s, value, &call->bins, row * plan->bins, first, plan->bins);
    write_totals(call, s, value, &call->flows, row * FLOWS, first + plan->bins, FLOWS);
    memset((unsigned char *)s->totals + (first + plan->bins + FLOWS) * bytes, 0,
           (s->entries - plan->bins - FLOWS) * bytes);
}

/* The bytes of all totals but the extremes. */
static size_t totals_bytes(const statistics_call *call)
{
    const ty_statistics *s = &call->found;
    return (size_t)(call->job.histograms * s->entries * s->count) * ty_statistics_bytes(s->kind);
}

static tally_status commit(const ty_job *job, tally_error *error)
{
    const statistics_call *call = (const statistics_call *)(const void *)job;
    if (*job->beyond_at)
        return ty_error(error, TALLY_ERROR_DATA,
                        "a value is NaN, or beyond its limit (values stay below the next power of "
                        "two)");
    tally_status status = ty_job_check_flows(job, error);
    for (uint32_t i = 0; !status && i < job->statistics->count; i++)
        for (uint64_t h = 0; h < job->histograms; h++)
            write_column(call, job->statistics, i, h);
    if (!status)
        call->buffer->clean = totals_bytes(call);
    return status;
}

/* ---- a call ---- */

static int asked(const statistics_call *call, size_t field)
{
    double *const *bins = (double *const *)(const void *)((const char *)&call->bins + field);
    double *const *flows = (double *const *)(const void *)((const char *)&call->flows + field);
    return *bins || *flows;
}
#define ASKED(field) asked(call, offsetof(tally_statistics, field))

static tally_status check_plan(const tally_plan *plan, tally_error *error)
{
    if (!plan)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "plan is NULL");
    if (plan->context->several)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "statistics of bins are found on one device, or on the processor; the plan "
                        "is on several");
    if (plan->weighted || plan->options.counter != TALLY_COUNTER_U64)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the plan of statistics counts in u64 and has no weight_dtype; weights go "
                        "into the options");
    return TALLY_OK;
}

static tally_status take_limits(statistics_call *call, const double *limits, tally_error *error)
{
    ty_statistics *s = &call->found;
    if (call->job.weights.data)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "limits of values go without weights");
    s->kind = TY_STATISTICS_EXACT;
    s->limited = 1;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!(limits[i] >= 1e-250 && limits[i] <= 1e150))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "limits[%" PRIu32 "] is %.17g; it must lie in 1e-250 to 1e150", i,
                            limits[i]);
        frexp(limits[i], &s->exponents[i]);
    }
    return TALLY_OK;
}

/* On a device all sums are of whole numbers, of samples in its memory. */
static tally_status check_device(statistics_call *call, tally_error *error)
{
    ty_statistics *s = &call->found;
    const ty_job *job = &call->job;
    const char *device = job->plan->context->backend->name;
    if (!job->plan->context->backend->has_memory)
        return TALLY_OK;
    if (job->weights.data)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "weights of values are for plans on the processor; the plan is on the %s "
                        "device",
                        device);
    if (job->view_device == TALLY_DEVICE_CPU && job->histograms && job->elements)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "statistics on the %s device are of samples in its memory; for others take "
                        "a plan on the processor",
                        device);
    s->sums = ASKED(m2) ? 2 : ASKED(mean) || ASKED(sum);
    if (s->kind)
        s->kind = TY_STATISTICS_EXACT;
    return TALLY_OK;
}

static tally_status take_options(statistics_call *call, const tally_statistics_options *options,
                                 tally_error *error)
{
    ty_statistics *s = &call->found;
    tally_status status = TALLY_OK;
    if (options && options->weights)
        status = ty_job_extra(&call->job, options->weights, "weights", &call->job.weights, error);
    if (status)
        return status;
    s->extremes = ASKED(min) || ASKED(max);
    call->sums = ASKED(sum);
    s->skip_nan = options && options->skip_nan;
    if (call->job.weights.data)
        s->kind = TY_STATISTICS_WEIGHTED;
    else if (ASKED(m2))
        s->kind = TY_STATISTICS_MOMENTS;
    else if (ASKED(mean) || ASKED(sum) || ASKED(count) || ASKED(weight) || ASKED(weight_squares))
        s->kind = TY_STATISTICS_SUMS;
    if (options && options->limits && s->kind)
        status = take_limits(call, options->limits, error);
    return status ? status : check_device(call, error);
}

static tally_status take_values(statistics_call *call, const tally_view *values, uint32_t count,
                                tally_error *error)
{
    static const char *const names[] = {"values 0", "values 1", "values 2", "values 3",
                                        "values 4", "values 5", "values 6", "values 7"};
    _Static_assert(sizeof names / sizeof *names == TALLY_MAX_VALUES, "a name for each column");
    if (!values || !count || count > TALLY_MAX_VALUES)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "values: %" PRIu32 " columns%s; 1 to %d are possible", count,
                        values ? "" : " at NULL", TALLY_MAX_VALUES);
    call->found.count = count;
    for (uint32_t i = 0; i < count; i++) {
        tally_status status =
            ty_job_extra(&call->job, &values[i], names[i], &call->found.values[i], error);
        if (status)
            return status;
    }
    return TALLY_OK;
}

static tally_status call_make(statistics_call *call, const tally_plan *plan,
                              const tally_view *views, const tally_view *values, uint32_t count,
                              const tally_statistics_options *options, const tally_output *output,
                              tally_error *error)
{
    tally_execute_options execute = TALLY_EXECUTE_OPTIONS_INIT;
    if (options && options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "options: struct_size is wrong; start from TALLY_STATISTICS_OPTIONS_INIT");
    if (options) {
        execute.mask = options->mask;
        execute.progress = options->progress;
        execute.user = options->user;
        execute.stream = options->stream;
    }
    tally_status status = ty_job_begin(plan, views, &execute, output, &call->job, error);
    if (!status)
        status = take_values(call, values, count, error);
    if (!status)
        status = take_options(call, options, error);
    call->job.statistics = &call->found;
    call->found.bins = &call->bins;
    call->found.flows = &call->flows;
    call->job.direct = 1; /* the job's own totals are flows only */
    return status ? status : ty_job_finish(&call->job, error);
}

static tally_status reserve(statistics_call *call, tally_error *error)
{
    ty_statistics *s = &call->found;
    ty_statistics_lay_out(s, call->job.plan);
    const size_t each =
        ty_statistics_bytes(s->kind) + (s->extremes ? TY_EXTREMES_FIELDS * sizeof(double) : 0) + 1;
    uint64_t all, bytes;
    if (__builtin_mul_overflow(call->job.histograms, s->entries * s->count, &all) ||
        __builtin_mul_overflow(all, (uint64_t)each, &bytes) || bytes >> 62)
        return ty_error(error, TALLY_ERROR_MEMORY, "out of memory: %" PRIu64 " histograms",
                        call->job.histograms);
    tally_status status = ty_memory_check(bytes, "statistics", NULL, error);
    if (status)
        return status;
    const size_t sums = totals_bytes(call);
    call->buffer = ty_buffer_take(&call->job.plan->context->totals, (size_t)bytes);
    if (!call->buffer)
        return ty_error_memory(error, "statistics", (size_t)bytes);
    s->totals = call->buffer->data;
    if (call->buffer->clean < sums)
        memset(s->totals, 0, sums);
    call->buffer->clean = 0; /* until commit has cleared them */
    if (s->extremes)
        s->extreme_totals = (double *)(void *)((unsigned char *)s->totals + sums);
    for (uint64_t i = 0; s->extremes && i < all * TY_EXTREMES_FIELDS; i++)
        s->extreme_totals[i] = -INFINITY;
    if (call->job.plan->context->backend->has_memory) {
        s->odds = (unsigned char *)s->totals + all * (each - 1);
        memset(s->odds, 0, (size_t)all);
    }
    return TALLY_OK;
}

tally_status tally_bin_statistics(const tally_plan *plan, const tally_view *views,
                                  const tally_view *values, uint32_t values_count,
                                  const tally_statistics_options *options,
                                  const tally_statistics *bins, const tally_statistics *flows,
                                  tally_error *error)
{
    static double nothing; /* what counts would go to; no one writes it */
    statistics_call call = {.bins = TALLY_STATISTICS_INIT, .flows = TALLY_STATISTICS_INIT};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_status status = check_plan(plan, error);
    if (status)
        return status;
    if (!bins || bins->struct_size != sizeof *bins ||
        (flows && flows->struct_size != sizeof *flows))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s; start from TALLY_STATISTICS_INIT",
                        bins ? "bins or flows: struct_size is wrong" : "bins is NULL");
    output.counts = &nothing;
    output.on_device = options && options->struct_size == sizeof *options && options->on_device;
    call.bins = *bins;
    if (flows)
        call.flows = *flows;
    status = call_make(&call, plan, views, values, values_count, options, &output, error);
    if (status)
        return status;
    if (output.on_device)
        return plan->context->backend->run(&call.job, error);
    status = reserve(&call, error);
    if (!status)
        status = ty_job_execute(&call.job, plan->context->backend->run, commit, error);
    ty_buffer_return(&plan->context->totals, call.buffer);
    return status;
}

/* ---- merging ---- */

/* Chan, Golub and LeVeque's update. */
static void merge_moments(const tally_statistics *into, const tally_statistics *from, uint64_t i)
{
    const double a = into->weight ? into->weight[i] : (double)into->count[i],
                 b = from->weight ? from->weight[i] : (double)from->count[i];
    if (b == 0)
        return;
    if (a == 0) {
        into->mean[i] = from->mean[i];
        if (into->m2)
            into->m2[i] = from->m2[i];
        return;
    }
    const int infinite = !isfinite(into->mean[i]) || !isfinite(from->mean[i]);
    const double apart = from->mean[i] - into->mean[i], step = apart * (b / (a + b));
    into->mean[i] += infinite ? from->mean[i] : step;
    if (into->m2 && infinite)
        into->m2[i] = NAN;
    else if (into->m2)
        into->m2[i] += from->m2[i] + apart * step * a;
}

/* NaN of no value gives way; any other NaN stays. */
static double merged_extreme(double x, uint64_t has, double y, uint64_t more, int sign)
{
    if (!has || !more)
        return has ? x : y;
    return x != x || sign * x > sign * y ? x : y;
}

tally_status tally_statistics_merge(const tally_statistics *into, const tally_statistics *from,
                                    uint64_t n, tally_error *error)
{
    if (!into || !from || into->struct_size != sizeof *into || from->struct_size != sizeof *from)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "into or from is NULL or of a wrong size");
#define DIFFERS(field) (!into->field != !from->field)
    if (!into->count || DIFFERS(count) || DIFFERS(weight) || DIFFERS(weight_squares) ||
        DIFFERS(sum) || DIFFERS(mean) || DIFFERS(m2) || DIFFERS(min) || DIFFERS(max) ||
        (into->m2 && !into->mean))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "both need the same arrays, count among them, and mean for m2");
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t has = into->count[i], more = from->count[i];
        if (into->mean)
            merge_moments(into, from, i);
        if (into->min)
            into->min[i] = merged_extreme(into->min[i], has, from->min[i], more, -1);
        if (into->max)
            into->max[i] = merged_extreme(into->max[i], has, from->max[i], more, 1);
        if (into->sum)
            into->sum[i] += from->sum[i];
        if (into->weight)
            into->weight[i] += from->weight[i];
        if (into->weight_squares)
            into->weight_squares[i] += from->weight_squares[i];
        into->count[i] += more;
    }
    return TALLY_OK;
}
