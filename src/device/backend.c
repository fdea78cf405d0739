/*
 * The kernels' backends, "opencl" and "cuda": one algorithm over device.h. Plans build their
 * program here; a run borrows a workspace, counts histogram after histogram and delivers each
 * (run.h).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/fast.h"
#include "core/guide.h"
#include "device/kernels_file.h"
#include "device/run.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

/* Batches shorter than this are worth a launch together more than a kernel of their own. */
enum { many_elements = 1 << 22 };

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
    context->state = device;
    return status;
}

static void backend_close(tally_context *context)
{
    ty_device *device = context->state;
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

/* ---- plans ---- */

void ty_shape_standard(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    uint32_t size = device->group_max < 256 ? device->group_max : 256;
    uint64_t needed = (n + size - 1) / size;
    uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    uint64_t most = (uint64_t)device->units * (per_unit ? per_unit : 1);
    memset(shape, 0, sizeof *shape);
    shape->groups = (uint32_t)(needed < 1 ? 1 : needed < most ? needed : most);
    shape->group_size = size;
    shape->partials = shape->groups;
    shape->cells = (uint32_t)plan->slots;
    shape->passes = 1;
    shape->slab = UINT64_C(1) << 31;
    shape->raw_shift = -1;
}

tally_status ty_kernel_supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "kernels count one dimension; joint tables are counted on the cpu");
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "kernels count samples; weights are summed on the cpu");
    if (!ty_plan_device(plan)->has_fp64 && tally_dtype_bytes(plan->options.dtypes[0]) > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "the device has no float64, which exact binning of %s needs",
                        tally_dtype_name(plan->options.dtypes[0]));
    return TALLY_OK;
}

tally_status ty_kernel_setting_fits(const tally_plan *plan, const char *key, uint32_t most,
                                    tally_error *error)
{
    const char *set = ty_plan_setting(plan, key);
    if (set && strtoull(set, NULL, 10) > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s=%s: this device takes %" PRIu32 " at most", key, set, most);
    return TALLY_OK;
}

/* dialect, bin, fast, guide, sample, walk, words, output, merge, bytes of views, finish, then
 * the method's: one text for both runtimes. */
char *ty_kernel_text(const ty_kernel_method *kernel)
{
    const char *parts[] = {ty_text_dialect_h,
                           ty_text_bin_h,
                           ty_text_fast_h,
                           ty_text_guide_h,
                           kernel->views ? ty_text_view_h : ty_text_sample_h,
                           kernel->views ? ty_text_fixed_h : ty_text_walk_h,
                           kernel->packed ? ty_text_columns_h : "",
                           ty_text_words_h,
                           ty_text_output_h,
                           ty_text_merge,
                           kernel->views ? ty_text_view_bytes : "",
                           kernel->views ? ty_text_view_images : "",
                           kernel->finishes ? ty_text_finish_h : "",
                           kernel->text,
                           kernel->more ? kernel->more : ""};
    enum { count = sizeof parts / sizeof *parts };
    size_t size = 1, at = 0;
    for (int i = 0; i < count; i++)
        size += strlen(parts[i]);
    char *text = ty_malloc(size);
    if (!text)
        return NULL;
    for (int i = 0; i < count; i++) {
        memcpy(text + at, parts[i], strlen(parts[i]));
        at += strlen(parts[i]);
    }
    text[at] = '\0';
    return text;
}

/* sample.h's TY_EVEN; a byte's slot is in a table whatever the axis, so that one kernel is all. */
static int even_of(const tally_plan *plan, uint32_t d)
{
    const ty_axis *axis = &plan->axes[d];
    if (tally_dtype_bytes(plan->options.dtypes[d]) == 1)
        return 1;
    return axis->way ? axis->way : axis->proved ? (int)axis->proved + 1 : axis->even;
}

void ty_kernel_options(const tally_plan *plan, const ty_device *device, const ty_shape *shape,
                       char *options, size_t size)
{
    snprintf(options, size, "-DTY_DTYPE=%d -DTY_EVEN=%d -DTY_WARP=%u -DTY_GROUP_MAX=%u%s%s%s%s",
             (int)plan->options.dtypes[0], even_of(plan, 0), device->warp, shape->group_size,
             shape->raw_shift < 0 ? "" : " -DTY_RAW=1", device->has_fp64 ? "" : " -DTY_NO_FP64",
             shape->defines[0] ? " " : "", shape->defines);
    const ty_kernel_method *kernel = plan->method->backend;
    const ty_axis *axis = &plan->axes[0];
    size_t at = strlen(options);
    if (axis->way && !kernel->views)
        snprintf(options + at, size - at, " -DTY_POSITIVE=%d", axis->positive);
    if (axis->proved == TY_PROVED_LINE && axis->fast.splits)
        snprintf(options + at, size - at, " -DTY_SPLIT=1 -DTY_APART=%u", axis->fast.apart);
    if (axis->proved && axis->fast.tie != 0)
        snprintf(options + at, size - at, " -DTY_TIES=1");
    if (!kernel->views)
        return;
    snprintf(options + at, size - at, " -DTY_DIMS=%u", plan->options.dimensions);
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        at = strlen(options);
        snprintf(options + at, size - at, " -DTY_DTYPE_%u=%d -DTY_EVEN_%u=%d -DTY_POSITIVE_%u=%d",
                 d, (int)plan->options.dtypes[d], d, even_of(plan, d), d, plan->axes[d].positive);
    }
}

static tally_status build(tally_plan *plan, ty_device_plan *own, tally_error *error)
{
    const ty_kernel_method *kernel = plan->method->backend;
    ty_device *device = device_of(plan);
    ty_shape shape;
    char options[TY_OPTIONS_MOST];
    kernel->shape(plan, device, UINT64_C(1) << 31, &shape);
    ty_kernel_options(plan, device, &shape, options, sizeof options);
    char *text = ty_kernel_text(kernel);
    if (!text)
        return ty_error_memory(error, "a kernel's text", 1);
    tally_status status =
        device->ops->build(device, text, options, &own->program, &own->origin, error);
    ty_free(text);
    return status;
}

static int reads_layout(const ty_kernel_method *kernel, ty_layout layout)
{
    return kernel->views && layout == (!kernel->packed ? TY_ANY_LAYOUT
                                       : kernel->rows  ? TY_IN_ROWS
                                                       : TY_PACKED);
}

const ty_method *ty_other_method(const tally_plan *plan, ty_layout layout)
{
    const ty_method *best = NULL;
    const char *why;
    /* What counts any layout is taken even if its speed is not known. */
    double least = ty_unknown_seconds * (layout == TY_ANY_LAYOUT ? 2 : 1);
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        if (!m->cost || ty_method_supports(m, plan, NULL) || !reads_layout(m->backend, layout))
            continue;
        const double cost = m->cost(plan, &why);
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

/* What counts the samples that the kernel of a plan made by `auto` does not read; the plan's text
 * says it. */
static void find_others(tally_plan *plan, ty_device_plan *own)
{
    static const char *const words[] = {"other layouts", "with a mask", "in long rows"};
    const ty_kernel_method *kernel = plan->method->backend;
    if (plan->seconds <= 0 || reads_layout(kernel, TY_ANY_LAYOUT))
        return;
    for (int k = TY_LAYOUTS; k-- > 0;) {
        const ty_layout layout = (ty_layout)k;
        if (layout != TY_ANY_LAYOUT && (plan->channels > 1 || reads_layout(kernel, layout)))
            continue;
        const ty_method *method = own->others[k].method = ty_other_method(plan, layout);
        const size_t at = strlen(plan->text);
        if (method)
            snprintf(plan->text + at, sizeof plan->text - at, "; %s%s %s", words[k],
                     layout == TY_IN_ROWS && reads_bytes(plan) ? " with a mask" : "", method->name);
    }
}

/* A guide to uneven edges, in the local memory that the method's counters leave. */
static tally_status make_near(tally_plan *plan, tally_error *error)
{
    const ty_kernel_method *kernel = plan->method->backend;
    const ty_device *device = device_of(plan);
    const uint32_t spared = 1024; /* some runtimes refuse all of it */
    ty_shape shape;
    kernel->shape(plan, device, UINT64_C(1) << 31, &shape);
    if (shape.local_bytes + spared >= device->local_bytes)
        return TALLY_OK;
    return ty_guide_make(&plan->axes[0], (device->local_bytes - spared - shape.local_bytes) / 4,
                         kernel->guided == 2, 0, error);
}

/* … or in device memory. */
static tally_status make_guides(tally_plan *plan, tally_error *error)
{
    const ty_kernel_method *kernel = plan->method->backend;
    tally_status status = kernel->guided ? make_near(plan, error) : TALLY_OK;
    for (uint32_t d = 0; kernel->far && d < plan->options.dimensions && !status; d++)
        status = ty_far_make(&plan->axes[d], 0, error);
    return status;
}

/* Whether axes had guides to uneven edges, splits or ties; without them cells are found in float64.
 */
static int drop_rare(tally_plan *plan)
{
    int had = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        ty_axis *axis = &plan->axes[d];
        const int fine = axis->fast.splits || axis->fast.tie != 0;
        had |= axis->way != 0 || fine;
        if (fine)
            axis->proved = TY_UNPROVED;
        axis->fast.splits = 0;
        axis->fast.tie = 0;
        ty_free(axis->guide_words);
        axis->guide_words = NULL;
        axis->way = axis->positive = 0;
        memset(&axis->guide, 0, sizeof axis->guide);
    }
    return had;
}

static tally_status prepare(tally_plan *plan, tally_error *error)
{
    ty_device_plan *own = ty_calloc(1, sizeof *own);
    if (!own)
        return ty_error_memory(error, "a plan", sizeof *own);
    pthread_mutex_init(&own->lock, NULL);
    plan->state = own;
    const ty_kernel_method *kernel = plan->method->backend;
    if (kernel->fast)
        for (uint32_t d = 0; d < plan->options.dimensions; d++)
            ty_fast_resolve(&plan->axes[d], kernel->views ? 0 : kernel->fast,
                            kernel->splits ? kernel->splits(plan) : 0);
    tally_status status = make_guides(plan, error);
    if (!status)
        status = build(plan, own, error);
    /* Where there is no compiler: the kernels file has few of the kernels that use these. */
    if (status == TALLY_ERROR_UNSUPPORTED && drop_rare(plan))
        status = build(plan, own, error);
    if (status)
        return status;
    find_others(plan, own);
    static const char *const origins[] = {"compiled", "from the disk cache",
                                          "from the kernels file"};
    size_t at = strlen(plan->text);
    if (kernel->fast)
        at += (size_t)snprintf(plan->text + at, sizeof plan->text - at, "; %s",
                               ty_fast_words(&plan->axes[0]));
    if (at < sizeof plan->text)
        at += (size_t)snprintf(plan->text + at, sizeof plan->text - at, "; kernel %s",
                               origins[own->origin]);
    if (own->origin == TY_COMPILED && device_of(plan)->capability && at < sizeof plan->text)
        snprintf(plan->text + at, sizeof plan->text - at, " (kernels file: %s)",
                 ty_kernels_describe());
    return TALLY_OK;
}

static void finish(tally_plan *plan)
{
    ty_device_plan *own = plan->state;
    if (!own)
        return;
    ty_device *device = device_of(plan);
    ty_workspaces_close(plan);
    for (int i = 0; i < TY_LAYOUTS; i++)
        tally_plan_destroy(own->others[i].plan);
    device->ops->program_close(device, own->program);
    pthread_mutex_destroy(&own->lock);
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
    const ty_kernel_method *kernel = plan->method->backend;
    if (kernel->enqueue)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s launches several kernels",
                        tally_plan_method(plan));
    ty_device *device = device_of(plan);
    ty_kernel_stats stats = {0};
    ty_shape shape;
    kernel->shape(plan, device, n, &shape);
    const int packed = shape.packed_copies != 0; /* what the method is for */
    if (packed) {
        shape.groups = shape.packed_groups;
        shape.group_size = shape.packed_size;
        shape.local_bytes = shape.packed_bytes;
    }
    stats.launched_size = shape.group_size;
    stats.launched_local = shape.local_bytes;
    tally_status status = device->ops->stats(device, ((const ty_device_plan *)plan->state)->program,
                                             packed ? "count_packed" : "count", &stats, error);
    if (status)
        return status;
    *info = (tally_kernel_info){sizeof *info,          shape.groups,
                                shape.group_size,      shape.local_bytes + stats.static_local_bytes,
                                stats.registers,       stats.spill_bytes,
                                stats.groups_per_unit, device->units,
                                device->unit_threads};
    return TALLY_OK;
}

/* ---- runs ---- */

static tally_status count_all(ty_run *r, tally_error *error)
{
    const ty_job *job = r->job;
    const tally_plan *plan = job->plan;
    tally_status status = TALLY_OK;
    if (r->kernel->views)
        return ty_count_views(r, error);
    for (uint64_t b = 0; b < job->batches && !status; b++) {
        for (uint64_t a = 0; a < plan->active_count && !status; a++)
            status = ty_count_histogram(r, b, a, error);
    }
    return status;
}

/* Outputs in device memory cannot be taken back: their caller is asked once, ahead. */
static tally_status ask(const ty_job *job, tally_error *error)
{
    if (job->output->on_device && job->progress &&
        job->progress(job->user, 0, job->batches * job->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

static tally_status run_with(ty_run *r, int *busy, tally_error *error)
{
    const ty_job *job = r->job;
    tally_status status = ask(job, error);
    if (!status)
        status = ty_deliver_check(r, error);
    if (status)
        return status;
    if (job->output->on_device && ty_deliver_by_host(job))
        return ty_deliver_host(r, count_all, error);
    status = count_all(r, error);
    *busy = job->output->on_device && job->stream && !status;
    if (job->output->on_device && !job->stream && !status)
        status = r->device->ops->wait(r->device, r->queue, error);
    return status;
}

/* What a plan that `auto` made counts a job by, if not by its own kernel: another, because it reads
 * the samples as they lie, or counts many short histograms in one launch. NULL: its own. */
static ty_other *other_of(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    const ty_device *device = device_of(plan);
    const ty_kernel_method *kernel = plan->method->backend;
    ty_other *others = ((ty_device_plan *)plan->state)->others;
    if (!others[TY_ANY_LAYOUT].method || job->view_device == TALLY_DEVICE_CPU)
        return NULL;
    const int by_one =
        !kernel->views || kernel->enqueue != NULL || (kernel->pixels && !job->mask.data);
    const int short_ones = by_one && job->batches > 1 && job->elements < many_elements;
    if (!short_ones && ty_kernel_reads(kernel, job, device))
        return NULL;
    for (int k = TY_PACKED; k < TY_LAYOUTS && (job->mask.data || !reads_bytes(plan)); k++) {
        if (others[k].method && ty_kernel_reads(others[k].method->backend, job, device))
            return &others[k];
    }
    return &others[TY_ANY_LAYOUT];
}

static tally_status make_other(const tally_plan *plan, ty_other *other, tally_error *error)
{
    tally_plan_options o = plan->options;
    o.method = other->method->name;
    o.settings = NULL;
    o.settings_count = 0;
    return other->plan ? TALLY_OK : tally_plan_create(plan->context, &o, &other->plan, error);
}

/* Its plan; that for any layout if there is no compiler for its kernel. */
static tally_status other_plan(const tally_plan *plan, ty_other *other, const tally_plan **made,
                               tally_error *error)
{
    ty_device_plan *own = plan->state;
    tally_status status = TALLY_ERROR_UNSUPPORTED;
    pthread_mutex_lock(&own->lock);
    if (!other->missing)
        status = make_other(plan, other, error);
    if (status == TALLY_ERROR_UNSUPPORTED && other != &own->others[TY_ANY_LAYOUT]) {
        other->missing = 1;
        other = &own->others[TY_ANY_LAYOUT];
        status = make_other(plan, other, error);
    }
    *made = other->plan;
    pthread_mutex_unlock(&own->lock);
    return status;
}

/* With a workspace of the plan's. */
static tally_status run_inside(ty_run *r, tally_error *error)
{
    const ty_job *job = r->job;
    const tally_plan *plan = job->plan;
    const ty_device_ops *ops = r->device->ops;
    tally_status status = TALLY_OK;
    int busy = 0, mode = 0;
    if (job->stream && ops->recording)
        status = ops->recording(r->device, job->stream, &r->recording, error);
    if (status)
        return status;
    if (r->recording)
        mode = ops->relax(-1);
    status = ty_workspace_take(plan, job->stream, r->recording, &r->w, error);
    if (!status) {
        r->queue = job->stream ? r->w->borrowed : r->w->queue;
        status = run_with(r, &busy, error);
        /* What is still under way uses the workspace. */
        if (status && !r->recording)
            ops->wait(r->device, r->queue, NULL);
        int sound = !status || status == TALLY_ERROR_CANCELLED || status == TALLY_ERROR_UNSUPPORTED;
        if (sound || r->recording)
            ty_workspace_give(plan, r->w, r->recording, busy);
        else
            ty_workspace_close(r->device, r->w);
    }
    if (r->recording)
        ops->relax(mode);
    return status;
}

static tally_status backend_run(ty_job *job, tally_error *error)
{
    const tally_plan *plan = job->plan;
    ty_device_plan *own = plan->state;
    ty_run r = {.job = job,
                .device = device_of(plan),
                .kernel = plan->method->backend,
                .program = own->program};
    ty_other *other = other_of(job);
    if (other) {
        tally_status status = other_plan(plan, other, &job->plan, error);
        return status ? status : backend_run(job, error);
    }
    if (!job->histograms || (!job->elements && !job->output->on_device))
        return TALLY_OK;
    /* A caller's function may make another device current, and call Tally for it. */
    const ty_device_ops *ops = r.device->ops;
    const int enters = ops->enter && !job->progress;
    if (enters)
        ops->enter(r.device);
    tally_status status = run_inside(&r, error);
    if (enters)
        ops->leave(r.device);
    return status;
}

/* One histogram is fetched whole when all is counted. */
static int backend_directs(const ty_job *job)
{
    return job->histograms == 1 && job->elements;
}

/* ---- the two backends ---- */

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
        type,    #kind,  kind##_count, kind##_info, kind##_open,     backend_close, backend_arch,  \
        prepare, finish, backend_run,  1,           backend_directs, NULL,                         \
    };

BACKEND(opencl, TALLY_DEVICE_OPENCL)
BACKEND(cuda, TALLY_DEVICE_CUDA)
