/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of a graphics processor, for the backends "opencl" and "cuda", which are one algorithm over
 * device.h. A plan has its method's kernels compiled; if `auto` made it, it also has routes: which
 * other methods count samples that its own kernel does not read.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "binning/float32.h"
#include "gpu/axes.h"
#include "gpu/call.h"
#include "gpu/gather.h"
#include "gpu/kernels_file.h"
#include "gpu/order.h"
#include "gpu/statistics.h"
#include "plan/cost.h"
#include "plan/registry.h"

/* Batches shorter than this are worth a launch together more than a kernel of their own. */
enum { many_elements = 1 << 22 };

/* Calls of fewer samples than bins / this add to the output itself. */
enum { in_place_share = 4 };

static ty_device *device_of(const tally_plan *plan)
{
    return plan->context->state;
}

/* ---- contexts ---- */

static tally_status open_with(const ty_device_ops *ops, tally_context *context,
                              const tally_context_options *options, tally_error *error)
{
    ty_device *device = NULL;
    tally_status status = ops->open((uint32_t)options->index, options->native, &device, error);
    if (!status)
        ty_programs_open(device);
    context->state = device;
    return status;
}

static void backend_close(tally_context *context)
{
    ty_device *device = context->state;
    ty_orders_close(device);
    ty_spares_close(device);
    ty_workspaces_unpark(device);
    ty_programs_close(device);
    device->ops->close(device);
}

/* "cuda-sm_90"; "opencl-w32" where work-items run in warps. */
static void backend_arch(const tally_context *context, char *arch, size_t size)
{
    const ty_device *device = context->state;
    if (device->capability)
        snprintf(arch, size, "%s-sm_%" PRIu32, device->ops->name, device->capability);
    else
        snprintf(arch, size, "%s-w%" PRIu32, device->ops->name, device->warp);
}

/* ---- what methods ask ---- */

void ty_geometry_standard(const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint32_t size = device->group_max < 256 ? device->group_max : 256;
    const uint64_t needed = (n + size - 1) / size;
    const uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    const uint64_t most = (uint64_t)device->units * (per_unit ? per_unit : 1);
    *g = (ty_geometry){.groups = (uint32_t)(needed < 1      ? 1
                                            : needed < most ? needed
                                                            : most),
                       .group_size = size,
                       .most = UINT64_C(1) << 31};
}

/* Without float64: bytes, whose slots are in a table, and what float32 is proved to count. */
static tally_status supports_float32(const tally_plan *plan, tally_error *error)
{
    ty_axis axis = plan->axes[0];
    if (tally_dtype_bytes(plan->options.dtypes[0]) == 1)
        return TALLY_OK;
    if (!axis.even || !ty_float32_serves(axis.dtype))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "the device has no float64, which exact binning of %s%s needs",
                        tally_dtype_name(plan->options.dtypes[0]),
                        axis.even ? "" : " by uneven edges");
    ty_axis_prove(&axis, 0, 0);
    return axis.proof == TY_PROVEN_F32
               ? TALLY_OK
               : ty_error(error, TALLY_ERROR_UNSUPPORTED,
                          "the device has no float64, and float32 is not proved to find every bin "
                          "of this axis");
}

tally_status ty_supports_column(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts one dimension; views takes joint tables",
                        plan->method->name);
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts samples; weighted sums their weights",
                        plan->method->name);
    return ty_plan_device(plan)->has_fp64 ? TALLY_OK : supports_float32(plan, error);
}

tally_status ty_supports_local(const tally_plan *plan, tally_error *error)
{
    const uint32_t most = ty_plan_device(plan)->local_bytes;
    if (plan->slots * 4 > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s keeps all %u bins in local memory: the device's %u bytes hold "
                        "%u",
                        plan->method->name, plan->bins, most, most / 4 - TY_SLOT_EXTRA);
    return ty_supports_column(plan, error);
}

tally_status ty_setting_fits(const tally_plan *plan, const char *key, uint32_t most,
                             tally_error *error)
{
    const char *set = ty_plan_setting(plan, key);
    if (set && strtoull(set, NULL, 10) > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s=%s: this device takes %" PRIu32 " at most", key, set, most);
    return TALLY_OK;
}

/* ---- routes ---- */

static int serves_route(const ty_gpu_method *method, int route)
{
    return route == TY_ROUTE_ANY ? method->reads == TY_READS_ANY
           : route == TY_ROUTE_MASKED
               ? method->reads == TY_READS_MASKED || method->reads == TY_READS_CHANNELS
               : method->reads == TY_READS_ROWS;
}

const ty_method *ty_route_method(tally_plan *plan, int route)
{
    const ty_method *best = NULL;
    const char *why;
    if (route == TY_ROUTE_IN_PLACE) {
        best = ty_method_find("global-in-place");
        return plan->method != best && !ty_method_supports(best, plan, NULL) ? best : NULL;
    }
    /* What counts any layout is taken even if its speed is not known. */
    double least = ty_unknown_seconds * (route == TY_ROUTE_ANY ? 2 : 1);
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        if (!m->cost || ty_method_supports(m, plan, NULL) || !serves_route(m->backend, route))
            continue;
        const double cost = ty_method_cost(m, plan, &why);
        if (cost < least) {
            best = m;
            least = cost;
        }
    }
    return best;
}

/* Whether the method for any layout reads samples 16 bytes at a time if there is no mask
 * (kernels/view_bytes.cl). */
static int reads_bytes(const tally_plan *plan)
{
    return plan->options.dimensions == 1 && tally_dtype_bytes(plan->options.dtypes[0]) == 1;
}

/* Those for layouts only of a plan that `auto` made; the plan's text says them. */
static void choose_routes(tally_plan *plan, ty_gpu_plan *own)
{
    static const char *const words[] = {"other layouts", "with a mask", "in long rows"};
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    own->routes[TY_ROUTE_IN_PLACE].method = ty_route_method(plan, TY_ROUTE_IN_PLACE);
    if (plan->seconds <= 0 || serves_route(method, TY_ROUTE_ANY))
        return;
    for (int route = TY_ROUTE_IN_PLACE; route-- > 0;) {
        if (route != TY_ROUTE_ANY && (plan->channels > 1 || serves_route(method, route)))
            continue;
        const ty_method *m = own->routes[route].method = ty_route_method(plan, route);
        const size_t at = strlen(plan->text);
        if (m)
            snprintf(plan->text + at, sizeof plan->text - at, "; %s%s %s", words[route],
                     route == TY_ROUTE_ROWS && reads_bytes(plan) ? " with a mask" : "", m->name);
    }
}

/* The route of a job, or NULL for the plan's own method: another reads the samples as they lie, or
 * counts many short histograms in one launch. */
static ty_route *find_route(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    const ty_device *device = device_of(plan);
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    ty_route *routes = ((ty_gpu_plan *)plan->state)->routes;
    if (!routes[TY_ROUTE_ANY].method || job->view_device == TALLY_DEVICE_CPU)
        return NULL;
    const int one_by_one =
        !method->histograms || (method->reads == TY_READS_CHANNELS && !job->mask.data);
    const int short_ones = one_by_one && job->batches > 1 && job->elements < many_elements;
    if (!short_ones && ty_reads_job(method->reads, job, device))
        return NULL;
    for (int k = TY_ROUTE_MASKED; k < TY_ROUTE_IN_PLACE && (job->mask.data || !reads_bytes(plan));
         k++) {
        if (routes[k].method &&
            ty_reads_job(((const ty_gpu_method *)routes[k].method->backend)->reads, job, device))
            return &routes[k];
    }
    return &routes[TY_ROUTE_ANY];
}

/* Whether a call's samples are added to the output itself: where others may add too; else where
 * they are so few that it takes less than a pass over all bins. */
static int adds_in_place(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    const tally_output *output = job->output;
    if (!output->on_device || !output->accumulate || ty_store_by_host(job))
        return 0;
    return output->accumulate == TALLY_ACCUMULATE_ATOMIC ||
           (plan->seconds > 0 && job->elements < plan->bins / in_place_share);
}

/* A route's kernels are compiled by the first call that takes it; without a compiler that is tried
 * once. */
static tally_status take_route(const ty_job *job, ty_route *route, const tally_plan **plan,
                               tally_error *error)
{
    ty_gpu_plan *own = job->plan->state;
    tally_plan_options o = job->plan->options;
    tally_status status = TALLY_OK;
    o.method = route->method->name;
    o.settings = NULL;
    o.settings_count = 0;
    pthread_mutex_lock(&own->spaces.lock);
    if (route->missing)
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED, "method %s: its kernels cannot be had",
                          o.method);
    else if (!route->plan)
        status = tally_plan_create(job->plan->context, &o, &route->plan, error);
    route->missing = status == TALLY_ERROR_UNSUPPORTED;
    *plan = route->plan;
    pthread_mutex_unlock(&own->spaces.lock);
    return status;
}

/* Where there is no compiler for a route's kernel, another counts the same, but for atomic
 * additions. */
tally_status ty_route_of(const ty_job *job, const tally_plan **plan, tally_error *error)
{
    ty_route *routes = ((ty_gpu_plan *)job->plan->state)->routes;
    ty_route *route = &routes[TY_ROUTE_IN_PLACE];
    tally_status status;
    if (job->statistics)
        return ty_statistics_plan_of(job->plan, plan, error);
    if (route->method && adds_in_place(job)) {
        status = take_route(job, route, plan, error);
        if (status != TALLY_ERROR_UNSUPPORTED || job->output->accumulate == TALLY_ACCUMULATE_ATOMIC)
            return status;
    }
    *plan = job->plan;
    route = find_route(job);
    if (!route)
        return TALLY_OK;
    status = take_route(job, route, plan, error);
    if (status == TALLY_ERROR_UNSUPPORTED && route != &routes[TY_ROUTE_ANY])
        status = take_route(job, &routes[TY_ROUTE_ANY], plan, error);
    return status;
}

/* ---- plans ---- */

static tally_status build(tally_plan *plan, ty_gpu_plan *own, tally_error *error)
{
    ty_device *device = device_of(plan);
    ty_defines options;
    ty_gpu_options(plan, device, &options);
    return ty_program_take(device, ty_gpu_method_of(plan), options.text, &own->program, error);
}

static void describe(tally_plan *plan, const ty_gpu_plan *own)
{
    static const char *const origins[] = {"compiled", "from the disk cache",
                                          "from the kernels file"};
    size_t at = strlen(plan->text);
    if (ty_gpu_method_of(plan)->maps)
        at += (size_t)snprintf(plan->text + at, sizeof plan->text - at, "; %s",
                               ty_axis_proof_words(&plan->axes[0]));
    if (at < sizeof plan->text)
        at += (size_t)snprintf(plan->text + at, sizeof plan->text - at, "; kernel %s",
                               origins[own->program->origin]);
    if (own->program->origin == TY_COMPILED && device_of(plan)->capability &&
        at < sizeof plan->text)
        snprintf(plan->text + at, sizeof plan->text - at, " (kernels file: %s)",
                 ty_kernels_describe());
}

static tally_status prepare(tally_plan *plan, tally_error *error)
{
    ty_gpu_plan *own = ty_calloc(1, sizeof *own);
    if (!own)
        return ty_error_memory(error, "a plan", sizeof *own);
    pthread_mutex_init(&own->spaces.lock, NULL);
    plan->state = own;
    tally_status status = ty_gpu_axes_make(plan, error);
    if (!status)
        status = build(plan, own, error);
    /* Where there is no compiler: the kernels file has few of the kernels for such axes. */
    while (status == TALLY_ERROR_UNSUPPORTED && ty_gpu_axes_simplify(plan))
        status = build(plan, own, error);
    if (status)
        return status;
    choose_routes(plan, own);
    describe(plan, own);
    return TALLY_OK;
}

static void finish(tally_plan *plan)
{
    ty_gpu_plan *own = plan->state;
    if (!own)
        return;
    ty_device *device = device_of(plan);
    ty_workspaces_close(device, &own->spaces);
    ty_statistics_close(device, own->statistics);
    for (int i = 0; i < TY_ROUTES; i++)
        tally_plan_destroy(own->routes[i].plan);
    ty_program_give(device, own->program);
    pthread_mutex_destroy(&own->spaces.lock);
    ty_free(own);
}

tally_status tally_plan_kernel(const tally_plan *plan, uint64_t n, tally_kernel_info *info,
                               tally_error *error)
{
    if (!plan || !info || info->struct_size != sizeof *info)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "plan or info is NULL or info's struct_size is not set");
    if (plan->context->device == TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s on the cpu is no kernel",
                        tally_plan_method(plan));
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    if (!method->kernel)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s launches several kernels",
                        tally_plan_method(plan));
    ty_device *device = device_of(plan);
    ty_geometry g;
    method->geometry(plan, device, n, &g);
    ty_kernel_stats stats = {.launched_size = g.group_size, .launched_local = g.local_bytes};
    tally_status status = device->ops->stats(
        device, ((const ty_gpu_plan *)plan->state)->program->handle, method->kernel, &stats, error);
    if (status)
        return status;
    *info = (tally_kernel_info){sizeof *info,          g.groups,
                                g.group_size,          g.local_bytes + stats.static_local_bytes,
                                stats.registers,       stats.spill_bytes,
                                stats.groups_per_unit, device->units,
                                device->unit_threads};
    return TALLY_OK;
}

/* ---- the two backends ---- */

/* One histogram is fetched whole when all is counted. */
static int backend_directs(const ty_job *job)
{
    return job->histograms == 1 && job->elements;
}

static void info_with(const ty_device_ops *ops, int32_t index, tally_device_info *info)
{
    tally_error error = {""};
    snprintf(info->id, sizeof info->id, "%s", ops->name);
    if (!ops->count(info->reason, sizeof info->reason))
        return;
    if (ops->describe((uint32_t)index, info, &error)) {
        info->available = 0;
        snprintf(info->reason, sizeof info->reason, "%.255s", error.message);
    }
}

#define BACKEND(kind, type)                                                                        \
    static uint32_t kind##_count(void)                                                             \
    {                                                                                              \
        char reason[256];                                                                          \
        return ty_##kind##_ops.count(reason, sizeof reason);                                       \
    }                                                                                              \
    static void kind##_info(int32_t index, tally_device_info *info)                                \
    {                                                                                              \
        info_with(&ty_##kind##_ops, index, info);                                                  \
    }                                                                                              \
    static tally_status kind##_open(tally_context *context, const tally_context_options *options,  \
                                    tally_error *error)                                            \
    {                                                                                              \
        return open_with(&ty_##kind##_ops, context, options, error);                               \
    }                                                                                              \
    const ty_backend ty_##kind##_backend = {                                                       \
        .device = type,                                                                            \
        .name = #kind,                                                                             \
        .count = kind##_count,                                                                     \
        .info = kind##_info,                                                                       \
        .open = kind##_open,                                                                       \
        .close = backend_close,                                                                    \
        .arch = backend_arch,                                                                      \
        .prepare = prepare,                                                                        \
        .finish = finish,                                                                          \
        .run = ty_gpu_run,                                                                         \
        .has_memory = 1,                                                                           \
        .directs = backend_directs,                                                                \
        .memory = ty_gpu_memory,                                                                   \
        .order = &ty_gpu_order,                                                                    \
    };

BACKEND(opencl, TALLY_DEVICE_OPENCL)
BACKEND(cuda, TALLY_DEVICE_CUDA)
