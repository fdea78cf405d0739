/* Quantiles: which ranks a method asks for, and what is between two of them. */
#include <tally/quantile.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/order.h"
#include "plan/plan.h"

static const char *const method_names[] = {
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
};
enum { method_count = sizeof method_names / sizeof *method_names };

const char *tally_quantile_method_name(tally_quantile_method method)
{
    return (unsigned)method < method_count ? method_names[method] : NULL;
}

int tally_quantile_method_parse(const char *name)
{
    for (int i = 0; name && i < method_count; i++)
        if (!strcmp(name, method_names[i]))
            return i;
    return -1;
}

/* Between samples x[low] and x[high]: x[low] + (x[high] - x[low]) * part. */
typedef struct place {
    uint64_t low, high;
    double part;
} place;

/* Hyndman and Fan's continuous definitions: q's place, from 0. */
static double place_of(double n, double q, double alpha, double beta)
{
    return n * q + (alpha + q * (1 - alpha - beta)) - 1;
}

/* The next sample, but the one before where `before` holds of the exact place. */
static place one_of(double at, int before, uint64_t n)
{
    double index = floor(at) + !before;
    index = index < 0 ? 0 : index > (double)(n - 1) ? (double)(n - 1) : index;
    return (place){(uint64_t)index, (uint64_t)index, 0};
}

static place between(double at, double part, uint64_t n)
{
    if (at >= (double)(n - 1))
        return (place){n - 1, n - 1, 0};
    if (at < 0)
        return (place){0, 0, 0};
    return (place){(uint64_t)at, (uint64_t)at + 1, part};
}

/* NumPy's arithmetic, step for step, so that the same neighbours are found. n is at least 1. */
static place find_place(tally_quantile_method method, double q, uint64_t n)
{
    const double count = (double)n;
    double at = (count - 1) * q;
    switch (method) {
    case TALLY_QUANTILE_LOWER:
        return one_of(floor(at), 1, n);
    case TALLY_QUANTILE_HIGHER:
        return one_of(ceil(at), 1, n);
    case TALLY_QUANTILE_NEAREST:
        return one_of(nearbyint(at), 1, n);
    case TALLY_QUANTILE_MIDPOINT:
        at = 0.5 * (floor(at) + ceil(at));
        return between(at, at == floor(at) ? 0 : 0.5, n);
    case TALLY_QUANTILE_INVERTED_CDF:
        at = count * q - 1;
        return one_of(at, at == floor(at), n);
    case TALLY_QUANTILE_CLOSEST_OBSERVATION:
        at = count * q - 1 - 0.5;
        return one_of(at, at == floor(at) && fmod(floor(at), 2) != 0, n);
    case TALLY_QUANTILE_AVERAGED_INVERTED_CDF:
        at = count * q - 1;
        return between(at, at == floor(at) ? 0.5 : 1, n);
    case TALLY_QUANTILE_INTERPOLATED_INVERTED_CDF:
        at = place_of(count, q, 0, 1);
        break;
    case TALLY_QUANTILE_HAZEN:
        at = place_of(count, q, 0.5, 0.5);
        break;
    case TALLY_QUANTILE_WEIBULL:
        at = place_of(count, q, 0, 0);
        break;
    case TALLY_QUANTILE_MEDIAN_UNBIASED:
        at = place_of(count, q, 1 / 3.0, 1 / 3.0);
        break;
    case TALLY_QUANTILE_NORMAL_UNBIASED:
        at = place_of(count, q, 3 / 8.0, 3 / 8.0);
        break;
    default:
        break;
    }
    return between(at, at - floor(at), n);
}

/* As NumPy: from the nearer end. Equal ends are not subtracted, for they may be infinite. */
static double mix(double low, double high, double part)
{
    if (low == high || part == 0)
        return low;
    const double gap = high - low;
    return part >= 0.5 ? high - gap * (1 - part) : low + gap * part;
}

/* One call; `groups` of it are batches × channels. */
typedef struct quantile_job {
    ty_grid samples, mask;
    tally_dtype dtype;
    uint64_t groups, elements;
    const double *q;       /* quantiles; or */
    const uint64_t *ranks; /* order statistics */
    uint32_t count;
    tally_quantile_method method;
    int skip_nan;
    ty_pool *pool; /* within a group, or over groups */
    double *values;
    unsigned char *statistics;
    uint64_t *nan;
    tally_status status; /* the first failure */
    tally_error *error;
} quantile_job;

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted, each once; returns how many. */
static unsigned distinct(uint64_t *ranks, unsigned count)
{
    unsigned kept = 0;
    qsort(ranks, count, sizeof *ranks, ascending);
    for (unsigned i = 0; i < count; i++)
        if (!kept || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

static int64_t key_of(const uint64_t *ranks, const int64_t *keys, unsigned count, uint64_t rank)
{
    const uint64_t *at = bsearch(&rank, ranks, count, sizeof *ranks, ascending);
    return keys[at - ranks];
}

/* What a group works in: ranks and keys of them, places of the quantiles. */
typedef struct group_space {
    uint64_t *ranks;
    int64_t *keys;
    place *places;
} group_space;

static void write_quantiles(const quantile_job *job, const group_space *space, unsigned found,
                            double *out)
{
    for (uint32_t i = 0; i < job->count; i++) {
        const place *at = &space->places[i];
        const double low =
            ty_order_value(job->dtype, key_of(space->ranks, space->keys, found, at->low));
        const double high =
            ty_order_value(job->dtype, key_of(space->ranks, space->keys, found, at->high));
        out[i] = mix(low, high, at->part);
    }
}

/* Samples that count, and NaN where they are left out: others are seen on the way. */
static tally_status count_group(const quantile_job *job, const ty_order_group *group,
                                ty_order_kinds *kinds, tally_error *error)
{
    *kinds = (ty_order_kinds){job->elements, 0};
    if (!group->mask && !(job->skip_nan && ty_dtype_is_float(job->dtype)))
        return TALLY_OK;
    return ty_order_kinds_get(group, kinds, error);
}

static tally_status group_quantiles(const quantile_job *job, const ty_order_group *group,
                                    const group_space *space, double *out, tally_error *error)
{
    ty_order_kinds kinds;
    uint64_t nan = 0;
    tally_status status = count_group(job, group, &kinds, error);
    if (status)
        return status;
    const uint64_t n = job->skip_nan ? kinds.count - kinds.nan : kinds.count;
    for (uint32_t i = 0; i < job->count; i++)
        out[i] = NAN;
    if (!n)
        return TALLY_OK;
    for (uint32_t i = 0; i < job->count; i++) {
        space->places[i] = find_place(job->method, job->q[i], n);
        space->ranks[2 * i] = space->places[i].low;
        space->ranks[2 * i + 1] = space->places[i].high;
    }
    const unsigned found = distinct(space->ranks, 2 * job->count);
    status = ty_order_find(group, kinds.count, space->ranks, found, space->keys, &nan, error);
    if (!status && (!nan || job->skip_nan))
        write_quantiles(job, space, found, out);
    return status;
}

static tally_status group_statistics(const quantile_job *job, const ty_order_group *group,
                                     const group_space *space, unsigned char *out, uint64_t *nan,
                                     tally_error *error)
{
    ty_order_kinds kinds;
    uint64_t found_nan = 0;
    tally_status status = count_group(job, group, &kinds, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < job->count; i++)
        if (job->ranks[i] >= kinds.count)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "rank %" PRIu64 " of %" PRIu64 " samples: ranks begin at 0",
                            job->ranks[i], kinds.count);
    memcpy(space->ranks, job->ranks, job->count * sizeof *space->ranks);
    const unsigned found = distinct(space->ranks, job->count);
    status = ty_order_find(group, kinds.count, space->ranks, found, space->keys, &found_nan, error);
    for (uint32_t i = 0; !status && i < job->count; i++)
        ty_order_sample(job->dtype, key_of(space->ranks, space->keys, found, job->ranks[i]),
                        out + i * tally_dtype_bytes(job->dtype));
    if (!status && nan)
        *nan = found_nan;
    return status;
}

/* Answers go to memory of the call, and to the caller's when all have been found. */
static tally_status do_group(const quantile_job *job, uint64_t g, ty_pool *pool, tally_error *error)
{
    const ty_order_group group = {&job->samples, job->mask.data ? &job->mask : NULL,
                                  g / job->samples.channels, g % job->samples.channels, pool};
    const size_t bytes = job->count * (4 * sizeof(uint64_t) + sizeof(place)) + 1;
    uint64_t *memory = ty_malloc(bytes);
    if (!memory)
        return ty_error_memory(error, "finding quantiles", bytes);
    const group_space space = {memory, (int64_t *)(memory + 2 * job->count),
                               (place *)(memory + 4 * job->count)};
    tally_status status =
        job->q ? group_quantiles(job, &group, &space, job->values + g * job->count, error)
               : group_statistics(job, &group, &space,
                                  job->statistics + g * job->count * tally_dtype_bytes(job->dtype),
                                  job->nan ? job->nan + g : NULL, error);
    ty_free(memory);
    return status;
}

/* Many groups: a thread takes some of them each. */
enum { GROUP_PARTS = 4096, GROUP_LARGE = 1 << 20 };

typedef struct group_part {
    const quantile_job *job;
    unsigned parts;
    tally_status *statuses;
    tally_error *errors; /* of threads */
} group_part;

static void do_part(void *arg, unsigned part, unsigned worker)
{
    const group_part *p = arg;
    const uint64_t each = p->job->groups / p->parts, more = p->job->groups % p->parts;
    uint64_t g = part * each + (part < more ? part : more);
    const uint64_t end = g + each + (part < more);
    for (; g < end && !p->statuses[worker]; g++)
        p->statuses[worker] = do_group(p->job, g, NULL, &p->errors[worker]);
}

static tally_status do_groups_apart(const quantile_job *job, tally_error *error)
{
    const unsigned threads = ty_pool_threads(job->pool);
    group_part p = {.job = job, .parts = GROUP_PARTS};
    if (job->groups < p.parts)
        p.parts = (unsigned)job->groups;
    p.statuses = ty_calloc(threads, sizeof *p.statuses);
    p.errors = ty_calloc(threads, sizeof *p.errors);
    tally_status status = TALLY_OK;
    if (!p.statuses || !p.errors)
        status = ty_error(error, TALLY_ERROR_MEMORY, "no memory for finding quantiles");
    else
        ty_pool_run(job->pool, 0, p.parts, do_part, &p);
    for (unsigned i = 0; !status && i < threads; i++)
        if (p.statuses[i]) {
            status = p.statuses[i];
            if (error)
                *error = p.errors[i];
        }
    ty_free(p.statuses);
    ty_free(p.errors);
    return status;
}

static tally_status do_groups(const quantile_job *job, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (job->pool && job->groups > 1 && job->elements <= GROUP_LARGE)
        return do_groups_apart(job, error);
    for (uint64_t g = 0; g < job->groups && !status; g++)
        status = do_group(job, g, job->pool, error);
    return status;
}

static tally_status job_make(quantile_job *job, tally_context *context, const tally_view *view,
                             const tally_quantile_options *options, tally_error *error)
{
    tally_status status = ty_grid_make(view, "view", &job->samples, error);
    if (status)
        return status;
    if (view->device > TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "view: device %d; quantiles need samples in host memory",
                        (int)view->device);
    if ((status = ty_grid_in_memory(&job->samples, "view", error)))
        return status;
    if (options && options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "options: struct_size is wrong; start from TALLY_QUANTILE_OPTIONS_INIT");
    const ty_grid *g = &job->samples;
    if (options && options->mask) {
        status = ty_grid_mask(options->mask, g, &job->mask, error);
        if (!status)
            status = ty_grid_in_memory(&job->mask, "mask", error);
        if (status)
            return status;
    }
    if (__builtin_mul_overflow(g->rows, g->columns, &job->elements) ||
        __builtin_mul_overflow(g->batches, g->channels, &job->groups) ||
        job->elements > UINT64_C(1) << 53)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view: more than 2^53 samples");
    if (options && !tally_quantile_method_name(options->method))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "method %d is none", (int)options->method);
    if (!job->mask.data)
        ty_grid_coalesce(&job->samples, 1);
    job->dtype = g->dtype;
    job->method = options ? options->method : TALLY_QUANTILE_LINEAR;
    job->skip_nan = options && options->skip_nan;
    job->pool = context ? context->pool : NULL;
    return TALLY_OK;
}

/* Runs the job into memory of its own, and copies the answers when all are there. */
static tally_status answer(quantile_job *job, void *out, size_t size, uint64_t *nan,
                           tally_error *error)
{
    uint64_t values;
    size_t bytes, nan_bytes = nan ? job->groups * sizeof *nan : 0;
    if (__builtin_mul_overflow(job->groups, (uint64_t)job->count, &values) ||
        __builtin_mul_overflow(values, size, &bytes) || bytes > SIZE_MAX / 2)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "more answers than there is memory for");
    if (!values && !nan_bytes)
        return TALLY_OK;
    if (!out && values)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "out: NULL");
    unsigned char *memory = ty_calloc(1, nan_bytes + bytes);
    if (!memory)
        return ty_error_memory(error, "quantiles", nan_bytes + bytes);
    job->nan = nan ? (uint64_t *)memory : NULL;
    job->values = (double *)(memory + nan_bytes);
    job->statistics = memory + nan_bytes;
    tally_status status = do_groups(job, error);
    if (!status && bytes)
        memcpy(out, memory + nan_bytes, bytes);
    if (!status && nan_bytes)
        memcpy(nan, memory, nan_bytes);
    ty_free(memory);
    return status;
}

tally_status tally_quantiles(tally_context *context, const tally_view *view, const double *q,
                             uint32_t count, const tally_quantile_options *options, double *out,
                             tally_error *error)
{
    quantile_job job = {.q = q, .count = count};
    tally_status status = job_make(&job, context, view, options, error);
    if (status)
        return status;
    if (!q && count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "q: NULL");
    for (uint32_t i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1))
            return ty_error(error, TALLY_ERROR_ARGUMENT, "q[%" PRIu32 "] is %g; it must be 0 to 1",
                            i, q[i]);
    return count ? answer(&job, out, sizeof *out, NULL, error) : TALLY_OK;
}

tally_status tally_order_statistics(tally_context *context, const tally_view *view,
                                    const uint64_t *ranks, uint32_t count,
                                    const tally_quantile_options *options, void *out, uint64_t *nan,
                                    tally_error *error)
{
    quantile_job job = {.ranks = ranks, .count = count};
    tally_status status = job_make(&job, context, view, options, error);
    if (status)
        return status;
    if (!ranks && count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "ranks: NULL");
    return answer(&job, out, tally_dtype_bytes(job.dtype), nan, error);
}
