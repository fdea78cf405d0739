/* The methods that take any layout: how they are launched. */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

/* Of each method here. */
static const ty_parameter parameters[] = {
    {"threads", 32, 1024, 512, "work-items of a group"},
    {"ahead", 1, 16, 4, "samples of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

/* As many copies of a table of `words` words a slot as two groups of a unit have room for; `rest`
 * bytes of local memory are for something else. */
static void shape_tables(const tally_plan *plan, const ty_device *device, uint64_t n,
                         uint32_t words, uint32_t rest, ty_shape *s)
{
    uint32_t size = (uint32_t)ty_parameter_value(plan, parameters, "threads");
    if (device->warp != 32 && size > 64)
        size = 64; /* a device that runs a group as a loop */
    while (size > device->group_max)
        size /= 2;
    ty_shape_standard(plan, device, n, s);
    uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    uint32_t half = device->unit_local_bytes / 2 - 1024, most = device->local_bytes - 1024;
    uint64_t bytes = plan->slots * words * sizeof(uint32_t);
    s->cleared = bytes + rest > most;
    s->group_size = size;
    s->copies = 1;
    s->local_bytes = rest;
    if (!s->cleared) {
        uint32_t room = bytes + rest > half || half > most ? most : half;
        while (s->copies < 32 && bytes * s->copies * 2 + rest <= room)
            s->copies *= 2;
        s->local_bytes += (uint32_t)bytes * s->copies;
        uint32_t fit = device->unit_local_bytes / (s->local_bytes + 1024);
        per_unit = per_unit < fit ? per_unit : fit;
    }
    s->groups = device->units * (per_unit ? per_unit : 1);
    snprintf(s->defines, sizeof s->defines, "-DTY_AHEAD=%d -DTY_FAR=%d",
             (int)ty_parameter_value(plan, parameters, "ahead"), s->cleared);
}

static tally_status needs_float64(const tally_plan *plan, tally_error *error)
{
    if (ty_plan_device(plan)->has_fp64)
        return TALLY_OK;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (plan->weighted || tally_dtype_bytes(plan->options.dtypes[d]) > 1)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "the device has no float64, which exact binning of %s%s needs",
                            tally_dtype_name(plan->options.dtypes[d]),
                            plan->weighted ? " and sums of weights" : "");
    }
    return TALLY_OK;
}

/* ---- counts ---- */

/* Launches of the kernel for bytes (view_bytes.cl), by the number of channels: work-items of a
 * group, groups on a multiprocessor, loads ahead. The fastest on an H200 without a spilled register
 * (docs/PERFORMANCE_KERNELS.md). */
typedef struct launch_of {
    uint32_t threads, dense, ahead;
} launch_of;

static const launch_of bytes_launch[] = {{256, 6, 4}, {512, 2, 4}, {512, 2, 4}, {1024, 1, 4}};

/* Of the kernel for many images (view_images.cl): work-items of a group; its teams; work-items of a
 * team that add up, the rest a multiple of 32, of three channels of 96; rows on their way to a
 * warp, and loads of 16 bytes of a work-item in a row. One group a multiprocessor. */
typedef struct images_of {
    uint32_t threads, teams, sums, ahead, quads;
} images_of;

static const images_of images_launch[] = {{768, 2, 128, 11, 1},
                                          {1024, 1, 256, 7, 1},
                                          {1024, 1, 256, 7, 1},
                                          {1024, 1, 256, 7, 1}},
                       images_loop[] = {{128, 2, 32, 2, 2}, {128, 1, 32, 2, 2}};

/* What of it fits a device with `local` bytes for a group. */
static launch_of launch_fit(launch_of l, const ty_device *device, uint64_t local)
{
    if (device->warp != 32 && l.threads > 64)
        l.threads = 64; /* a device that runs a group as a loop */
    while (l.threads > device->group_max)
        l.threads /= 2;
    while (l.dense > 1 && (l.dense * l.threads > device->unit_threads ||
                           l.dense * (local + 1024) > device->unit_local_bytes))
        l.dense--;
    return l;
}

/* Bytes of up to four channels have a kernel that reads all channels at once: as many copies of a
 * counter as fit, or 0 where too few do. */
static void shape_bytes(const tally_plan *plan, const ty_device *device, ty_shape *s)
{
    const uint32_t bytes = (uint32_t)plan->channels * 1024;
    uint32_t copies = 32;
    if (plan->options.dimensions > 1 || tally_dtype_bytes(plan->options.dtypes[0]) > 1 ||
        plan->channels > 4)
        return;
    while (copies && bytes * copies > device->local_bytes - 1024)
        copies /= 2;
    const launch_of l = launch_fit(bytes_launch[plan->channels - 1], device, bytes * copies + 128);
    if (copies < 4)
        return;
    s->byte_copies = copies;
    s->byte_size = l.threads;
    s->byte_groups = device->units * l.dense;
    size_t at = strlen(s->defines);
    snprintf(s->defines + at, sizeof s->defines - at,
             " -DTY_CHANNELS=%u -DTY_BYTES_GROUP=%u -DTY_BYTES_DENSE=%u -DTY_BYTES_AHEAD=%u",
             (unsigned)plan->channels, l.threads, l.dense, l.ahead);
}

/* Local memory of one for many images: each team's tables, its rings and what each slot's sums were
 * before; the plan's slots with their values. */
static uint64_t images_bytes(const tally_plan *plan, images_of l)
{
    const uint64_t tables = plan->channels == 1 ? 65536 : 131072,
                   rings = (l.threads / l.teams - l.sums) * l.quads * l.ahead * 16,
                   before = plan->slots * plan->active_count * 2;
    return l.teams * (tables + rings + before * 4) + (plan->slots + 257) * 4;
}

static void shape_images(const tally_plan *plan, const ty_device *device, ty_shape *s)
{
    if (!s->byte_copies) /* more than four channels, among others */
        return;
    images_of l = device->warp == 32 ? images_launch[plan->channels - 1]
                                     : images_loop[plan->channels > 1]; /* groups are loops */
    const uint64_t room = device->local_bytes - 1024;
    while (l.ahead > 2 && images_bytes(plan, l) > room)
        l.ahead--;
    const uint64_t bytes = images_bytes(plan, l);
    if (l.threads > device->group_max || bytes > room)
        return;
    s->image_bytes = (uint32_t)bytes;
    s->image_size = l.threads;
    s->image_teams = l.teams;
    s->image_groups = device->units;
    size_t at = strlen(s->defines);
    snprintf(s->defines + at, sizeof s->defines - at,
             " -DTY_IMAGES_GROUP=%u -DTY_IMAGES_TEAMS=%u -DTY_IMAGES_SUMS=%u -DTY_IMAGES_AHEAD=%u "
             "-DTY_IMAGES_QUADS=%u",
             l.threads, l.teams, l.sums, l.ahead, l.quads);
}

static void shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *s)
{
    shape_tables(plan, device, n, 1, 0, s);
    shape_bytes(plan, device, s);
    shape_images(plan, device, s);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "views counts samples; weighted sums their weights");
    return needs_float64(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = plan->options.dimensions > 1 ? "several coordinates" : "any layout";
    return ty_cost_channels(plan, "views");
}

static const ty_kernel_method kernel = {
    .text = ty_text_views, .shape = shape, .views = 1, .far = 1, .fast = 1};

const ty_method ty_views = {
    "views",
    "tally",
    "any strides, channels, mask and number of coordinates, in one launch",
    TY_ON_OPENCL | TY_ON_CUDA,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    parameters,
    supports,
    cost,
    &kernel,
};

/* ---- sums of weights ---- */

static const ty_parameter weighted_parameters[] = {
    {"threads", 32, 1024, 512, "work-items of a group"},
    {"ahead", 1, 16, 4, "samples of a work-item before it adds"},
    {NULL, 0, 0, 0, NULL}};

static void weighted_shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *s)
{
    const tally_dtype weight = plan->options.weight_dtype;
    const uint32_t sum_words =
                       weight == TALLY_U64 || weight == TALLY_I64 || weight == TALLY_F64 ? 3 : 2,
                   square_words = plan->options.sum_squares ? 3 : 0;
    shape_tables(plan, device, n, sum_words + square_words, TY_WEIGHTED_FLOWS * 4, s);
    s->cells = (uint32_t)plan->slots * (sum_words + square_words) + TY_WEIGHTED_FLOWS;
    size_t at = strlen(s->defines);
    snprintf(s->defines + at, sizeof s->defines - at,
             " -DTY_WEIGHT=%d -DTY_WEIGHT_SIZE=%u -DTY_SUM_WORDS=%u -DTY_SQUARE_WORDS=%u "
             "-DTY_MARGIN=3",
             (int)weight, (unsigned)tally_dtype_bytes(weight), sum_words, square_words);
}

static tally_status weighted_supports(const tally_plan *plan, tally_error *error)
{
    if (!plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "weighted sums weights; the plan has none");
    if (plan->slots > UINT32_MAX / 8)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "weighted sums %u bins at most",
                        (unsigned)(UINT32_MAX / 8 - TY_SLOT_EXTRA));
    return needs_float64(plan, error);
}

static double weighted_cost(const tally_plan *plan, const char **why)
{
    *why = "sums that do not depend on their order";
    return ty_cost_channels(plan, "weighted");
}

static const ty_kernel_method weighted_kernel = {
    .text = ty_text_weighted, .shape = weighted_shape, .views = 1, .far = 1, .fast = 1};

const ty_method ty_weighted = {
    "weighted",
    "tally",
    "sums of weights in fixed point: the same bits on every run",
    TY_ON_OPENCL | TY_ON_CUDA,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    weighted_parameters,
    weighted_supports,
    weighted_cost,
    &weighted_kernel,
};

/* ---- the same, of packed samples and weights by a kernel of their own ---- */

static const ty_parameter packed_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"ahead", 1, 8, 4, "loads of samples, and of weights, before a work-item adds"},
    {NULL, 0, 0, 0, NULL}};

static uint64_t packed_bytes(const tally_plan *plan, uint32_t copies)
{
    return ((uint64_t)plan->bins + TY_CELLS_EXTRA) * 8 * copies + TY_WEIGHTED_FLOWS * 4;
}

/* Other layouts are summed as by `weighted`: its shape, and how the other kernel is launched. One
 * group a multiprocessor, as large as may be, has room for the most copies. */
static void packed_shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *s)
{
    enum { most_copies = 32 };
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads") & ~31u;
    if (device->warp != 32 && size > 64)
        size = 64; /* a device that runs a group as a loop */
    while (size > device->group_max)
        size /= 2;
    weighted_shape(plan, device, n, s);
    s->packed_copies = 1;
    while (s->packed_copies < most_copies &&
           packed_bytes(plan, s->packed_copies * 2) <= device->local_bytes - 1024)
        s->packed_copies *= 2;
    s->packed_size = size;
    s->packed_groups = device->units;
    s->packed_bytes = (uint32_t)packed_bytes(plan, s->packed_copies);
    size_t at = strlen(s->defines);
    snprintf(s->defines + at, sizeof s->defines - at,
             " -DTY_PACKED=%u -DTY_PACKED_AHEAD=%u -DTY_PACKED_GROUP=%u", s->packed_copies,
             (unsigned)ty_method_parameter(plan, "ahead"), size);
}

static tally_status packed_supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t room = ty_plan_device(plan)->local_bytes - 1024;
    if (plan->options.weight_dtype != TALLY_F32 || plan->options.sum_squares ||
        plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "weighted-packed sums weights of f32, over one dimension, without their "
                        "squares; weighted sums any");
    if (packed_bytes(plan, 1) > room)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "weighted-packed keeps all sums in local memory: %u bins at most, not %u",
                        (unsigned)((room - TY_WEIGHTED_FLOWS * 4) / 8 - TY_CELLS_EXTRA),
                        plan->bins);
    return weighted_supports(plan, error);
}

static double packed_cost(const tally_plan *plan, const char **why)
{
    *why = "packed weights by loads of 16 bytes, others as by weighted";
    return ty_cost_channels(plan, "weighted-packed");
}

static const ty_kernel_method packed_kernel = {.text = ty_text_weighted,
                                               .more = ty_text_weighted_packed,
                                               .shape = packed_shape,
                                               .views = 1,
                                               .far = 1,
                                               .fast = 1};

const ty_method ty_weighted_packed = {
    "weighted-packed",
    "tally",
    "sums of float32 weights, the same bits, by loads of 16 bytes",
    TY_ON_OPENCL | TY_ON_CUDA,
    1u << TALLY_F32,
    1,
    TY_MAX_BINS,
    packed_parameters,
    packed_supports,
    packed_cost,
    &packed_kernel,
};
