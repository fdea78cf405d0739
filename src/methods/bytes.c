/* Methods of sources 002 and 003, which count bytes: how each is launched. */
#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)
#define BYTES      (1u << TALLY_U8 | 1u << TALLY_I8)

/* Local memory that the hardware and the runtime keep of each group's: 1 KB, and OpenCL some bytes.
 */
enum { local_kept = 1024 + 128 };

/* A grid that fills the device with groups of `size` and `local` bytes each; 256 raw values. */
static void shape_bytes(const tally_plan *plan, const ty_device *device, uint64_t n, uint32_t size,
                        uint32_t local, ty_shape *shape)
{
    uint32_t per_unit = device->unit_threads / size,
             fit = device->unit_local_bytes / (local + local_kept);
    ty_shape_standard(plan, device, n, shape);
    per_unit = per_unit < fit ? per_unit : fit;
    per_unit = per_unit < 1 ? 1 : per_unit > 32 ? 32 : per_unit;
    uint64_t needed = n / ((uint64_t)size * 4) + 1, most = (uint64_t)device->units * per_unit;
    shape->group_size = size;
    shape->groups = (uint32_t)(needed < most ? needed : most);
    shape->local_bytes = local;
    shape->partials = shape->groups;
    shape->cells = 256;
    shape->raw_shift = 0;
}

/* ---- 002 ---- */

static const ty_parameter sixty_four_parameters[] = {
    {"group", 64, 1024, 192, "work-items of a group, a multiple of 64"}, {NULL, 0, 0, 0, NULL}};

static uint32_t most_64s(const ty_device *device)
{
    uint32_t most = device->group_max & ~63u, fit = device->local_bytes / 64 & ~63u;
    return most < fit ? most : fit;
}

static void sixty_four_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                             ty_shape *shape)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "group") & ~63u, fit = most_64s(device);
    size = size < fit ? size : fit;
    shape_bytes(plan, device, n, size, size * 64, shape);
    uint64_t bytes = (uint64_t)size * 252;
    if (n > shape->slab)
        n = shape->slab;
    shape->groups = (uint32_t)(n / bytes + 1);
    shape->partials = shape->groups;
    shape->cells = 64;
    shape->raw_shift = 2;
}

static tally_status sixty_four_supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t *slots = plan->axes[0].byte_slots;
    const char *set = ty_plan_setting(plan, "group");
    for (int i = 0; i < 256; i++) {
        if (slots[i] != slots[i & ~3])
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "podlozhnyuk-64 bins bytes by their top 6 bits: byte values %d and %d "
                            "must share a bin (64 bins from 0 to 256 do)",
                            i & ~3, i);
    }
    if (set && strtoul(set, NULL, 10) % 64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "group=%s: a multiple of 64 is needed",
                        set);
    uint32_t most = most_64s(ty_plan_device(plan));
    if (!most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs groups of 64 work-items and 4 KB of local memory");
    tally_status status = ty_kernel_setting_fits(plan, "group", most, error);
    return status ? status : ty_kernel_supports(plan, error);
}

static const ty_kernel_method sixty_four = {.text = ty_text_podlozhnyuk_64,
                                            .shape = sixty_four_shape};

const ty_method ty_podlozhnyuk_64 = {
    "podlozhnyuk-64",
    "002",
    "byte counters, a histogram a work-item, 64 bins",
    ON_DEVICES,
    BYTES,
    1,
    TY_MAX_BINS,
    sixty_four_parameters,
    sixty_four_supports,
    NULL,
    &sixty_four,
};

static const ty_parameter warps_parameters[] = {
    {"warps", 1, 32, 6, "warps (histograms) of a group"}, {NULL, 0, 0, 0, NULL}};

static uint32_t most_warps(const ty_device *device)
{
    uint32_t items = device->group_max / 32, tables = (device->local_bytes - 4) / 1024;
    return items < tables ? items : tables;
}

static void warps_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                        ty_shape *shape)
{
    uint32_t warps = (uint32_t)ty_method_parameter(plan, "warps"), most = most_warps(device);
    warps = warps < most ? warps : most;
    /* One more word, for the tagged method on devices without warps. */
    shape_bytes(plan, device, n, warps * 32, warps * 1024 + (device->warp == 32 ? 0 : 4), shape);
    snprintf(shape->defines, sizeof shape->defines, "-DTY_WARPS=%u", warps);
}

static tally_status warps_supports(const tally_plan *plan, tally_error *error)
{
    uint32_t most = most_warps(ty_plan_device(plan));
    if (!most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs groups of 32 work-items and 1 KB of local memory");
    tally_status status = ty_kernel_setting_fits(plan, "warps", most, error);
    return status ? status : ty_kernel_supports(plan, error);
}

static const ty_kernel_method warps = {.text = ty_text_podlozhnyuk_256, .shape = warps_shape};

const ty_method ty_podlozhnyuk_256 = {
    "podlozhnyuk-256",
    "002 003",
    "a histogram a warp, updated by hardware atomics",
    ON_DEVICES,
    BYTES,
    1,
    TY_MAX_BINS,
    warps_parameters,
    warps_supports,
    NULL,
    &warps,
};

static void tag_shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    warps_shape(plan, device, n, shape);
    /* A warp's counter has 27 bits. */
    uint64_t most = (uint64_t)shape->groups * (shape->group_size / 32) << 25;
    if (shape->slab > most)
        shape->slab = most;
}

static const ty_kernel_method tag = {.text = ty_text_podlozhnyuk_256_tag, .shape = tag_shape};

const ty_method ty_podlozhnyuk_256_tag = {
    "podlozhnyuk-256-tag",
    "002",
    "a histogram a warp, collisions settled by a tag, no atomics",
    ON_DEVICES,
    BYTES,
    1,
    TY_MAX_BINS,
    warps_parameters,
    warps_supports,
    NULL,
    &tag,
};

/* ---- 003 ---- */

static void nugteren_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                           ty_shape *shape)
{
    shape_bytes(plan, device, n, 32, 128 * 32 * 4, shape);
}

static tally_status local_16k(const tally_plan *plan, tally_error *error)
{
    if (ty_plan_device(plan)->local_bytes < 16384)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs 16 KB of local memory; the device has %u bytes",
                        ty_plan_device(plan)->local_bytes);
    return ty_kernel_supports(plan, error);
}

static const ty_kernel_method nugteren = {.text = ty_text_nugteren, .shape = nugteren_shape};

const ty_method ty_nugteren = {
    "nugteren",  "003",     "a histogram a thread, 32 threads, two 16-bit counters a word",
    ON_DEVICES,  BYTES,     1,
    TY_MAX_BINS, NULL,      local_16k,
    NULL,        &nugteren,
};

static const ty_parameter trish_parameters[] = {
    {"k", 1, 63, 31, "words a thread bins before it loops"},
    {"threads", 64, 256, 64, "threads of a block: 64, 128 or 256"},
    {"blocks-per-sm", 0, 32, 0, "blocks on a multiprocessor, 0 for all that fit"},
    {"accumulate", 0, 1, 1, "0 leaves the row sums out: timing only, wrong counts"},
    {NULL, 0, 0, 0, NULL}};

/* Threads of a multiprocessor: with 80 registers each, which k = 63 takes, more would not fit; and
 * measured on an H200, more only contend. */
enum { trish_threads = 768 };

/* Fewer blocks a multiprocessor than would fit are had by padding the local memory, as in the
 * paper. */
static void trish_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                        ty_shape *shape)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    uint32_t wanted = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    uint64_t needed = n / ((uint64_t)size * 4) + 1, most = device->units * (uint64_t)wanted;
    shape_bytes(plan, device, n, size, size * 256, shape);
    if (wanted) {
        uint32_t share = device->unit_local_bytes / wanted;
        share = share < device->local_bytes ? share : device->local_bytes;
        if (share > shape->local_bytes + local_kept)
            shape->local_bytes = (share - local_kept) & ~15u;
        shape->groups = (uint32_t)(needed < most ? needed : most);
    } else if (shape->groups > device->units * (trish_threads / size)) {
        shape->groups = device->units * (trish_threads / size);
    }
    shape->partials = shape->groups * (size / 64);
    snprintf(shape->defines, sizeof shape->defines, "-DTY_K=%d -DTY_ACCUMULATE=%d",
             (int)ty_method_parameter(plan, "k"), (int)ty_method_parameter(plan, "accumulate"));
}

static tally_status trish_supports(const tally_plan *plan, tally_error *error)
{
    const char *threads = ty_plan_setting(plan, "threads"),
               *accumulate = ty_plan_setting(plan, "accumulate");
    unsigned long size = threads ? strtoul(threads, NULL, 10) : 64;
    if (size != 64 && size != 128 && size != 256)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "trish: threads=%lu: 64, 128 or 256", size);
    if (size > ty_plan_device(plan)->group_max || size * 256 > ty_plan_device(plan)->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "trish: threads=%lu need groups of so many and %lu bytes of local memory",
                        size, size * 256);
    if (accumulate && strtol(accumulate, NULL, 10) == 0 && !plan->options.timing_only)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "trish: accumulate=0 gives wrong counts; it is for timing only (tally-bench)");
    return ty_kernel_supports(plan, error);
}

static const ty_kernel_method trish = {.text = ty_text_trish, .shape = trish_shape};

static double trish_cost(const tally_plan *plan, const char **why)
{
    *why = "bytes: deterministic, independent of the data";
    return ty_cost(plan, "trish");
}

const ty_method ty_trish = {
    "trish",
    "003",
    "a histogram a thread of 8-bit counters, row sums in registers",
    ON_DEVICES,
    BYTES,
    1,
    TY_MAX_BINS,
    trish_parameters,
    trish_supports,
    trish_cost,
    &trish,
};
