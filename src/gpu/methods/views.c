/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views: samples in any layout. Three kernels: one for everything (kernels/views.cl); one that
 * reads bytes of all channels at once (view_bytes.cl); and one whose groups go from image to image
 * (view_images.cl), for many images of bytes.
 */
#include "core/error.h"
#include "gpu/methods/any_layout.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)n;
    *g = ty_any_layout_make(plan, device, 1, 0).geometry;
}

/* ---- bytes of all channels ---- */

/* Launches of the kernel for bytes, by the number of channels: work-items of a group, groups on a
 * multiprocessor, loads ahead. The fastest on an H200 without a spilled register
 * (docs/KERNELS.md). */
typedef struct bytes_launch {
    uint32_t threads, dense, ahead, copies; /* copies of a counter; 0: too few fit */
} bytes_launch;

static bytes_launch bytes_of(const tally_plan *plan, const ty_device *device)
{
    static const bytes_launch usual[] = {
        {256, 6, 4, 32}, {512, 2, 4, 32}, {512, 2, 4, 32}, {1024, 1, 4, 32}};
    const uint32_t bytes = (uint32_t)plan->channels * 1024;
    if (plan->options.dimensions > 1 || tally_dtype_bytes(plan->options.dtypes[0]) > 1 ||
        plan->channels > 4)
        return (bytes_launch){0, 0, 0, 0};
    bytes_launch l = usual[plan->channels - 1];
    while (l.copies && bytes * l.copies > device->local_bytes - 1024)
        l.copies /= 2;
    const uint64_t local = bytes * l.copies + 128;
    if (device->warp != 32 && l.threads > 64)
        l.threads = 64; /* a device that runs a group as a loop */
    while (l.threads > device->group_max)
        l.threads /= 2;
    while (l.dense > 1 && (l.dense * l.threads > device->unit_threads ||
                           l.dense * (local + 1024) > device->unit_local_bytes))
        l.dense--;
    l.copies = l.copies < 4 ? 0 : l.copies;
    return l;
}

/* A batch's bytes: rows without a gap between them are one. */
typedef struct extents {
    uint64_t rows, length;
} extents;

static extents extents_of(const ty_grid *g)
{
    const uint64_t length = g->columns * g->channels, most = UINT64_C(1) << 31;
    if (g->row_stride == (int64_t)length && length * g->rows + 16 < most)
        return (extents){1, length * g->rows};
    return (extents){g->rows, length};
}

/* Whether the kernel for bytes counts the job's samples. */
static int serves_bytes(const ty_call *call, const bytes_launch *l)
{
    const ty_job *job = call->job;
    const ty_grid *g = &job->samples[0];
    const uint64_t most = UINT64_C(1) << 31;
    return l->copies && !job->mask.data && job->view_device != TALLY_DEVICE_CPU &&
           g->column_stride == (int64_t)g->channels &&
           (g->channels == 1 || g->channel_stride == 1) && job->elements <= most &&
           g->rows < most && g->columns * g->channels + 16 < most;
}

/* Groups of it that count one of so many images. */
static uint32_t bytes_parts(const ty_call *call, const bytes_launch *l, uint64_t images)
{
    enum {
        worth = 32 << 10, /* bytes of an image to each of its groups */
        alone = 192 << 10 /* one group is done with sooner than others' partials are added up */
    };
    const uint64_t bytes = call->job->elements * call->plan->channels;
    const uint64_t groups = (uint64_t)call->device->units * l->dense;
    const uint64_t most = bytes > alone ? bytes / worth : 1;
    const uint64_t parts = groups > images ? groups / images : 1;
    return (uint32_t)(parts < most ? parts : most);
}

/* Bytes of a channel that are worth clearing and adding up 32 copies of each counter, or some. */
enum { many_copies_bytes = 16 << 10, some_copies_bytes = 2 << 10, some_copies = 8 };

static uint32_t copies_worth(const ty_call *call, const bytes_launch *l)
{
    const uint64_t bytes = call->job->elements;
    const uint32_t copies = bytes >= many_copies_bytes   ? 32
                            : bytes >= some_copies_bytes ? some_copies
                                                         : 1;
    return copies < l->copies ? copies : l->copies;
}

static uint32_t log2_of(uint32_t power)
{
    uint32_t k = 0;
    while (power > UINT32_C(1) << k)
        k++;
    return k;
}

/* ---- many images ---- */

/* Work-items of a group; its teams, each an image at a time; work-items of a team that add up, the
 * rest a multiple of 32, of three channels of 96; rows under way to a warp, and loads of 16
 * bytes of a work-item in a row. One group a multiprocessor. */
typedef struct images_launch {
    uint32_t threads, teams, sums, ahead, vectors;
    uint32_t local_bytes; /* 0: does not fit */
} images_launch;

/* Each team's tables, its rings and what each slot's sums were before; the plan's slots with their
 * values. */
static uint64_t images_bytes(const tally_plan *plan, const images_launch *l)
{
    const uint64_t tables = plan->channels == 1 ? 65536 : 131072,
                   rings = (l->threads / l->teams - l->sums) * l->vectors * l->ahead * 16,
                   before = plan->slots * plan->active_count * 2;
    return l->teams * (tables + rings + before * 4) + (plan->slots + 257) * 4;
}

static images_launch images_of(const tally_plan *plan, const ty_device *device)
{
    static const images_launch usual[] = {{768, 2, 128, 11, 1, 0},
                                          {1024, 1, 256, 7, 1, 0},
                                          {1024, 1, 256, 7, 1, 0},
                                          {1024, 1, 256, 7, 1, 0}},
                               loops[] = {{128, 2, 32, 2, 2, 0}, {128, 1, 32, 2, 2, 0}};
    if (!bytes_of(plan, device).copies)
        return (images_launch){.local_bytes = 0};
    images_launch l = device->warp == 32 ? usual[plan->channels - 1]
                                         : loops[plan->channels > 1]; /* groups are loops */
    const uint64_t most = device->local_bytes - 1024;
    while (l.ahead > 2 && images_bytes(plan, &l) > most)
        l.ahead--;
    const uint64_t bytes = images_bytes(plan, &l);
    l.local_bytes = l.threads > device->group_max || bytes > most ? 0 : (uint32_t)bytes;
    return l;
}

/* ---- the method ---- */

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const ty_any_layout any = ty_any_layout_make(plan, device, 1, 0);
    const bytes_launch bytes = bytes_of(plan, device);
    const images_launch images = images_of(plan, device);
    ty_any_layout_define(plan, &any, defines);
    if (bytes.copies) {
        ty_define(defines, "TY_CHANNELS", (uint32_t)plan->channels);
        ty_define(defines, "TY_BYTES_GROUP", bytes.threads);
        ty_define(defines, "TY_BYTES_DENSE", bytes.dense);
        ty_define(defines, "TY_BYTES_AHEAD", bytes.ahead);
    }
    if (images.local_bytes) {
        ty_define(defines, "TY_IMAGES_GROUP", images.threads);
        ty_define(defines, "TY_IMAGES_TEAMS", images.teams);
        ty_define(defines, "TY_IMAGES_SUMS", images.sums);
        ty_define(defines, "TY_IMAGES_AHEAD", images.ahead);
        ty_define(defines, "TY_IMAGES_VECTORS", images.vectors);
    }
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "views counts samples; weighted sums their weights");
    return ty_any_layout_supports(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = plan->options.dimensions > 1 ? "several coordinates" : "any layout";
    return ty_cost_channels(plan, "views");
}

static uint64_t histograms(const ty_call *call)
{
    const tally_plan *plan = call->plan;
    const ty_job *job = call->job;
    const bytes_launch l = bytes_of(plan, call->device);
    const ty_any_layout any = ty_any_layout_make(plan, call->device, 1, 0);
    if (serves_bytes(call, &l))
        return ty_view_histograms(call, bytes_parts(call, &l, job->batches), plan->slots,
                                  plan->active_count);
    return ty_view_histograms(
        call, any.copies ? ty_view_parts(&any.geometry, job->elements, job->histograms) : 1,
        plan->slots, 1);
}

/* The arguments that both kernels for bytes begin with. */
static tally_status put_bytes(ty_call *call, ty_arg *args, unsigned *n, tally_error *error)
{
    tally_status status = ty_workspace_raw_slots(call->plan, call->w, 0, error);
    *n = ty_view_grid(args, 0, &call->samples[0]);
    args[(*n)++] = ty_arg_memory(call->w->axes);
    args[(*n)++] = ty_arg_memory(call->w->raw_slots);
    return status;
}

/* Teams that go from image to image, each of them through as many. */
static tally_status enqueue_images(ty_call *call, const images_launch *l, uint32_t images,
                                   uint32_t length, tally_error *error)
{
    const tally_plan *plan = call->plan;
    const uint32_t at_once = call->device->units * l->teams;
    const uint32_t rounds = (images + at_once - 1) / at_once, used = (images + rounds - 1) / rounds;
    ty_arg args[TY_VIEW_ARGS];
    unsigned n;
    tally_status status = put_bytes(call, args, &n, error);
    args[n++] = ty_arg_u32(length);
    args[n++] = ty_arg_u64(call->h / plan->active_count);
    args[n++] = ty_arg_u32(images);
    args[n++] = ty_arg_u32((uint32_t)plan->active_count);
    args[n++] = ty_arg_u32((uint32_t)plan->slots);
    n = ty_call_store(call, args, n);
    const ty_launch count = {
        (used + l->teams - 1) / l->teams, l->threads, l->local_bytes, args, n, .early = 0};
    call->store.fresh = 0;
    return status ? status : ty_call_launch(call, "count_images", &count, error);
}

/* Several groups an image leave partials; a single one stores its counts itself, and where images
 * are small it is cut into teams that each count one. */
static tally_status enqueue_bytes(ty_call *call, const bytes_launch *l, tally_error *error)
{
    enum { worth_rounds = 4, dustbin_bytes = 128 };
    const tally_plan *plan = call->plan;
    const uint32_t images = (uint32_t)(call->count / plan->active_count);
    const uint32_t parts = bytes_parts(call, l, images);
    const images_launch many = images_of(plan, call->device);
    const extents e = extents_of(&call->job->samples[0]);
    uint32_t copies = parts > 1 ? l->copies : copies_worth(call, l), teams = 1;
    if (parts == 1 && many.local_bytes && e.rows == 1 && call->job->elements >= many_copies_bytes &&
        images >= worth_rounds * call->device->units * many.teams)
        return enqueue_images(call, &many, images, (uint32_t)e.length, error);
    while (parts == 1 && teams * copies * 2 <= l->copies && l->threads / (teams * 2) >= 32 &&
           teams < images)
        teams *= 2;
    ty_partials p = {.memory = call->w->axes, /* an argument has to be some memory */
                     .count = parts,
                     .words = (uint32_t)plan->slots,
                     .raw_shift = -1};
    ty_arg args[TY_VIEW_ARGS];
    unsigned n;
    tally_status status = put_bytes(call, args, &n, error);
    if (!status && parts > 1)
        status = ty_call_partials(call, call->count * parts * plan->slots * 4, &p.memory, error);
    args[n++] = ty_arg_u32((uint32_t)e.rows);
    args[n++] = ty_arg_u32((uint32_t)e.length);
    args[n++] = ty_arg_u32((uint32_t)(e.length + 15) / 16 + 1);
    args[n++] = ty_arg_u64(call->h / plan->active_count);
    args[n++] = ty_arg_u32(images);
    args[n++] = ty_arg_u32((uint32_t)plan->active_count);
    args[n++] = ty_arg_u32(parts);
    args[n++] = ty_arg_u32(log2_of(l->threads / teams));
    args[n++] = ty_arg_u32(log2_of(copies) + 2);
    args[n++] = ty_arg_u32((uint32_t)plan->slots);
    args[n++] = ty_arg_memory(p.memory);
    n = ty_call_store(call, args, n);
    const ty_launch count = {(images + teams - 1) / teams * parts,
                             l->threads,
                             teams * copies * (uint32_t)plan->channels * 1024 + dustbin_bytes,
                             args,
                             n,
                             .early = 0};
    if (!status)
        status = ty_call_launch(call, "count_bytes", &count, error);
    call->store.fresh &= parts > 1;
    return status || parts == 1 ? status : ty_call_merge(call, &p, error);
}

static tally_status enqueue_any(ty_call *call, tally_error *error)
{
    const tally_plan *plan = call->plan;
    const ty_any_layout l = ty_any_layout_make(plan, call->device, 1, 0);
    const uint32_t slots = (uint32_t)plan->slots;
    const uint32_t parts = ty_view_parts(&l.geometry, call->n, call->count);
    ty_partials p = {.count = l.copies ? parts : 1, .words = slots, .raw_shift = -1};
    const uint64_t bytes = call->count * p.count * slots * 4;
    tally_status status = ty_call_partials(call, bytes, &p.memory, error);
    if (!status && !l.copies)
        status = ty_call_clear(call, p.memory, 0, bytes, error);
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_extents(call, parts, args, ty_view_grids(call, args));
    args[n++] = ty_arg_u32(slots);
    args[n++] = ty_arg_u32(l.copies ? l.copies : 1);
    args[n++] = ty_arg_memory(p.memory);
    const ty_launch count = {(uint32_t)call->count * parts,
                             l.geometry.group_size,
                             l.geometry.local_bytes,
                             args,
                             n,
                             .early = 0};
    if (!status)
        status = ty_call_launch(call, "count", &count, error);
    return status ? status : ty_call_merge(call, &p, error);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const bytes_launch l = bytes_of(call->plan, call->device);
    return serves_bytes(call, &l) ? enqueue_bytes(call, &l, error) : enqueue_any(call, error);
}

static const ty_gpu_method kernels = {
    .texts = {ty_text_view_bytes, ty_text_view_images, ty_text_views},
    .reads = TY_READS_ANY,
    .maps = TY_MAPS_FLOAT32,
    .tables = TY_TABLES_GLOBAL,
    .kernel = "count",
    .geometry = geometry,
    .define = define,
    .histograms = histograms,
    .enqueue = enqueue};

const ty_method ty_views = {
    .name = "views",
    .source = "tally",
    .summary = "any strides, channels, mask and number of coordinates, in one launch",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_any_layout_parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
