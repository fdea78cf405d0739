/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of samples in memory. */
#include <tally/quantile.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binning/place.h"
#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/order.h"
#include "core/quantile.h"
#include "core/weighted.h"
#include "plan/plan.h"

/* One call; `groups` of it are batches × channels. */
typedef struct quantile_job {
    ty_grid samples, mask, weights;
    tally_dtype dtype;
    uint64_t groups, elements;
    int weighted;
    const double *q;       /* quantiles; or */
    const uint64_t *ranks; /* order statistics */
    uint32_t count;
    tally_quantile_method method;
    int skip_nan;
    ty_pool *pool;         /* within a group, or over groups */
    tally_context *device; /* where the samples are on one; else NULL */
    void *stream;
    int on_device; /* the answers, too */
    double *values;
    unsigned char *statistics;
    uint64_t *nan;
    tally_status status; /* the first failure */
    tally_error *error;
} quantile_job;

/* What a group works in: ranks and keys of them, places of the quantiles. */
typedef struct group_space {
    uint64_t *ranks;
    int64_t *keys;
    ty_place *places;
} group_space;

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
    const unsigned found =
        ty_quantile_ranks(job->method, job->q, job->count, n, space->places, space->ranks);
    status = ty_order_find(group, kinds.count, space->ranks, found, space->keys, &nan, error);
    if (!status && (!nan || job->skip_nan))
        ty_quantile_write(job->dtype, space->places, job->count, space->ranks, found, space->keys,
                          out);
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
            return ty_error(error, TALLY_ERROR_ARGUMENT, TY_RANK_WRONG, job->ranks[i], kinds.count);
    memcpy(space->ranks, job->ranks, job->count * sizeof *space->ranks);
    const unsigned found = ty_ranks_distinct(space->ranks, job->count);
    status = ty_order_find(group, kinds.count, space->ranks, found, space->keys, &found_nan, error);
    for (uint32_t i = 0; !status && i < job->count; i++)
        ty_order_sample(job->dtype, ty_ranks_key(space->ranks, space->keys, found, job->ranks[i]),
                        out + i * tally_dtype_bytes(job->dtype));
    if (!status && nan)
        *nan = found_nan;
    return status;
}

static tally_status group_weighted(const quantile_job *job, const ty_order_group *group,
                                   const group_space *space, unsigned char *out, tally_error *error)
{
    tally_status status = ty_weighted_find(group, &job->weights, job->skip_nan, job->q, job->count,
                                           space->keys, error);
    for (uint32_t i = 0; !status && i < job->count; i++)
        ty_order_sample(job->dtype, space->keys[i], out + i * tally_dtype_bytes(job->dtype));
    return status;
}

/* Answers go to memory of the call, and to the caller's when all have been found. */
static tally_status do_group(const quantile_job *job, uint64_t g, ty_pool *pool, tally_error *error)
{
    const ty_order_group group = {&job->samples, job->mask.data ? &job->mask : NULL,
                                  g / job->samples.channels, g % job->samples.channels, pool};
    const size_t bytes = job->count * (4 * sizeof(uint64_t) + sizeof(ty_place)) + 1;
    uint64_t *memory = ty_malloc(bytes);
    if (!memory)
        return ty_error_memory(error, "finding quantiles", bytes);
    const group_space space = {memory, (int64_t *)(memory + 2 * job->count),
                               (ty_place *)(memory + 4 * job->count)};
    unsigned char *samples = job->statistics + g * job->count * tally_dtype_bytes(job->dtype);
    tally_status status =
        job->weighted ? group_weighted(job, &group, &space, samples, error)
        : job->q
            ? group_quantiles(job, &group, &space, job->values + g * job->count, error)
            : group_statistics(job, &group, &space, samples, job->nan ? job->nan + g : NULL, error);
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

/* ---- samples on a device ---- */

static ty_order_source source_of(const quantile_job *job)
{
    return (ty_order_source){&job->samples,
                             job->mask.data ? &job->mask : NULL,
                             job->weighted ? &job->weights : NULL,
                             job->groups,
                             job->elements,
                             job->stream};
}

/* Of all groups. */
static tally_status count_groups(const quantile_job *job, ty_order_kinds *kinds, tally_error *error)
{
    const ty_order_source source = source_of(job);
    const int skip = job->q && job->skip_nan && ty_dtype_is_float(job->dtype);
    for (uint64_t g = 0; g < job->groups; g++)
        kinds[g] = (ty_order_kinds){job->elements, 0};
    if (!job->elements || (!source.mask && !skip && job->count))
        return TALLY_OK;
    return job->device->backend->order->kinds(job->device, &source, kinds, error);
}

/* A group's ranks, two for each quantile, or one. */
static tally_status set_ranks(const quantile_job *job, const ty_order_kinds *kinds, uint64_t *ranks,
                              ty_place *places, tally_error *error)
{
    const uint64_t n = kinds->count - (job->q && job->skip_nan ? kinds->nan : 0);
    for (uint32_t i = 0; i < job->count; i++) {
        if (!job->q && job->ranks[i] >= n)
            return ty_error(error, TALLY_ERROR_ARGUMENT, TY_RANK_WRONG, job->ranks[i], n);
        if (!job->q) {
            ranks[i] = job->ranks[i];
            continue;
        }
        places[i] = (ty_place){UINT64_MAX, UINT64_MAX, 0};
        if (n)
            places[i] = ty_place_find((uint32_t)job->method, job->q[i], n);
        ranks[2 * i] = places[i].low;
        ranks[2 * i + 1] = places[i].high;
    }
    return TALLY_OK;
}

static void take_keys(const quantile_job *job, uint64_t g, const int64_t *keys, uint64_t nan,
                      const ty_place *places)
{
    const size_t size = tally_dtype_bytes(job->dtype);
    for (uint32_t i = 0; i < job->count; i++) {
        const uint64_t at = g * job->count + i;
        if (!job->q)
            ty_order_sample(job->dtype, keys[i], job->statistics + at * size);
        else if (places[i].low == UINT64_MAX || (nan && !job->skip_nan))
            job->values[at] = NAN;
        else
            job->values[at] =
                ty_place_mix(ty_order_value(job->dtype, keys[2 * i]),
                             ty_order_value(job->dtype, keys[2 * i + 1]), places[i].part);
    }
    if (job->nan)
        job->nan[g] = nan;
}

/* The device finds samples by rank; what is between two of them is found here. */
static tally_status do_on_device(const quantile_job *job, tally_error *error)
{
    const ty_order_source source = source_of(job);
    const uint64_t all = job->groups * job->count, each = job->q ? 2 : 1, ranks_all = each * all;
    const size_t bytes = (ranks_all * 2 + job->groups * 3) * 8 + all * sizeof(ty_place);
    uint64_t *memory = ty_malloc(bytes + 1), *ranks = memory, *nan = ranks + 2 * ranks_all;
    if (!memory)
        return ty_error_memory(error, "finding quantiles", bytes);
    int64_t *keys = (int64_t *)(ranks + ranks_all);
    ty_order_kinds *kinds = (ty_order_kinds *)(nan + job->groups);
    ty_place *places = (ty_place *)(kinds + job->groups);
    tally_status status = count_groups(job, kinds, error);
    for (uint64_t g = 0; g < job->groups; g++)
        nan[g] = kinds[g].nan;
    for (uint64_t g = 0; g < job->groups && !status; g++)
        status = set_ranks(job, &kinds[g], ranks + g * each * job->count,
                           places + (job->q ? g * job->count : 0), error);
    if (!status && all && job->elements)
        status = job->device->backend->order->find(job->device, &source, ranks,
                                                   (uint32_t)each * job->count, keys, nan, error);
    for (uint64_t g = 0; g < job->groups && !status; g++)
        take_keys(job, g, keys + g * each * job->count, nan[g],
                  places + (job->q ? g * job->count : 0));
    ty_free(memory);
    return status;
}

static tally_status weigh_on_device(const quantile_job *job, tally_error *error)
{
    const ty_order_source source = source_of(job);
    const size_t size = tally_dtype_bytes(job->dtype);
    const uint64_t all = job->groups * job->count;
    int64_t *keys = ty_malloc(all * sizeof *keys);
    if (!keys)
        return ty_error_memory(error, "finding quantiles", all * sizeof *keys);
    tally_status status = TALLY_OK;
    for (uint64_t i = 0; i < all; i++)
        keys[i] = size == 8 ? INT64_MAX : INT32_MAX;
    if (job->elements)
        status = job->device->backend->order->weighted(job->device, &source, job->skip_nan, job->q,
                                                       job->count, keys, error);
    else if (!ty_dtype_is_float(job->dtype))
        status = ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_NONE, UINT64_C(0), UINT64_C(0));
    for (uint64_t i = 0; i < all && !status; i++)
        ty_order_sample(job->dtype, keys[i], job->statistics + i * size);
    ty_free(keys);
    return status;
}

/* ---- calls ---- */

static tally_status check_options(quantile_job *job, const tally_view *view,
                                  const tally_quantile_options *options, tally_error *error)
{
    if (!options)
        return TALLY_OK;
    if (options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "options: struct_size is wrong; start from TALLY_QUANTILE_OPTIONS_INIT");
    if (!tally_quantile_method_name(options->method))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "method %d is none", (int)options->method);
    if ((options->stream || options->on_device) && !job->device)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "stream and on_device are for samples on a device");
    job->method = options->method;
    job->skip_nan = options->skip_nan != 0;
    job->stream = options->stream;
    job->on_device = options->on_device;
    if (!options->mask)
        return TALLY_OK;
    tally_status status =
        ty_grid_mask(options->mask, &job->samples, view->device, &job->mask, error);
    if (!status && (job->samples.source != NULL) != (job->mask.source != NULL))
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "the view or its mask has a source; both do, or neither");
    return status;
}

static tally_status find_device(quantile_job *job, tally_context *context, const tally_view *view,
                                tally_error *error)
{
    job->pool = context ? context->pool : NULL;
    if (view->device <= TALLY_DEVICE_CPU)
        return TALLY_OK;
    if (!context || context->several || context->device != view->device || !context->backend->order)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "view: device %d; samples there need a context of that device alone",
                        (int)view->device);
    job->device = context;
    return TALLY_OK;
}

/* Weights, and what is not served with them. */
static tally_status add_weights(quantile_job *job, const tally_view *view,
                                const tally_view *weights, tally_error *error)
{
    tally_status status = ty_grid_in_memory(&job->samples, "view", error);
    if (!status)
        status = ty_grid_weights(weights, &job->samples, view->device, &job->weights, error);
    if (!status)
        status = ty_grid_in_memory(&job->weights, "weights", error);
    if (!status && job->on_device)
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED,
                          "on_device: quantiles with weights are left in host memory");
    return status;
}

static tally_status job_make(quantile_job *job, tally_context *context, const tally_view *view,
                             const tally_view *weights, const tally_quantile_options *options,
                             tally_error *error)
{
    tally_status status = ty_grid_make(view, "view", &job->samples, error);
    if (!status)
        status = find_device(job, context, view, error);
    if (!status)
        status = check_options(job, view, options, error);
    if (!status && job->weighted)
        status = add_weights(job, view, weights, error);
    if (status)
        return status;
    const ty_grid *g = &job->samples;
    if (__builtin_mul_overflow(g->rows, g->columns, &job->elements) ||
        __builtin_mul_overflow(g->batches, g->channels, &job->groups) ||
        job->elements > UINT64_C(1) << 53)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view: more than 2^53 samples");
    if (!job->mask.data && !job->weighted)
        ty_grid_coalesce(&job->samples, 1);
    job->dtype = g->dtype;
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
    tally_status status = !job->device    ? do_groups(job, error)
                          : job->weighted ? weigh_on_device(job, error)
                                          : do_on_device(job, error);
    if (!status && bytes)
        memcpy(out, memory + nan_bytes, bytes);
    if (!status && nan_bytes)
        memcpy(nan, memory, nan_bytes);
    ty_free(memory);
    return status;
}

static tally_status leave_on_device(const quantile_job *job, void *out, tally_error *error)
{
    const ty_order_source source = source_of(job);
    if (!job->groups || !job->count)
        return TALLY_OK;
    if (!out)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "out: NULL");
    if (!job->elements)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "view: no samples, whose quantiles cannot be left on the device");
    return job->device->backend->order->quantiles(job->device, &source, job->method, job->skip_nan,
                                                  job->q, job->count, out, error);
}

tally_status tally_quantiles(tally_context *context, const tally_view *view, const double *q,
                             uint32_t count, const tally_quantile_options *options, double *out,
                             tally_error *error)
{
    quantile_job job = {.q = q, .count = count};
    tally_status status = job_make(&job, context, view, NULL, options, error);
    if (status)
        return status;
    status = ty_quantile_check(q, count, error);
    if (status)
        return status;
    if (job.samples.source && count)
        return out ? ty_quantile_source(job.pool, view, options, q, NULL, count, out, NULL, error)
                   : ty_error(error, TALLY_ERROR_ARGUMENT, "out: NULL");
    if (job.on_device)
        return leave_on_device(&job, out, error);
    return count ? answer(&job, out, sizeof *out, NULL, error) : TALLY_OK;
}

tally_status tally_order_statistics(tally_context *context, const tally_view *view,
                                    const uint64_t *ranks, uint32_t count,
                                    const tally_quantile_options *options, void *out, uint64_t *nan,
                                    tally_error *error)
{
    quantile_job job = {.ranks = ranks, .count = count};
    tally_status status = job_make(&job, context, view, NULL, options, error);
    if (status)
        return status;
    if (!ranks && count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "ranks: NULL");
    if (job.on_device)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "on_device: order statistics are left in host memory");
    if (job.samples.source)
        return out || !count ? ty_quantile_source(job.pool, view, options, NULL, ranks, count, out,
                                                  nan, error)
                             : ty_error(error, TALLY_ERROR_ARGUMENT, "out: NULL");
    return answer(&job, out, tally_dtype_bytes(job.dtype), nan, error);
}

tally_status tally_weighted_quantiles(tally_context *context, const tally_view *view,
                                      const tally_view *weights, const double *q, uint32_t count,
                                      const tally_quantile_options *options, void *out,
                                      tally_error *error)
{
    quantile_job job = {.weighted = 1, .q = q, .count = count};
    tally_status status = job_make(&job, context, view, weights, options, error);
    if (!status)
        status = ty_quantile_check(q, count, error);
    if (status || !count)
        return status;
    return answer(&job, out, tally_dtype_bytes(job.dtype), NULL, error);
}
