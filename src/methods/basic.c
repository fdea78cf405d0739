/* Methods of sources 000 and 001: how each is launched. Their ideas are in src/kernels. */
#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static const ty_parameter group_only[] = {{"group", 1, 1024, 256, "work-items of a group"},
                                          {NULL, 0, 0, 0, NULL}};

/* As many groups of `group` as n samples need, `each` samples a work-item; one shared table. */
static void shape_by_samples(const tally_plan *plan, const ty_device *device, uint64_t n,
                             uint64_t each, ty_shape *shape)
{
    uint64_t group = (uint64_t)ty_method_parameter(plan, "group");
    ty_shape_standard(plan, device, n, shape);
    shape->group_size = (uint32_t)(group < device->group_max ? group : device->group_max);
    shape->slab = (uint64_t)shape->group_size << 20; /* at most 2^20 groups a launch */
    if (n > shape->slab)
        n = shape->slab;
    uint64_t samples = shape->group_size * each;
    shape->groups = (uint32_t)((n + samples - 1) / samples);
    shape->groups += !shape->groups;
    shape->partials = 1;
    shape->cleared = 1;
}

/* For methods with the parameter "group". */
static tally_status supports_group(const tally_plan *plan, tally_error *error)
{
    tally_status status =
        ty_kernel_setting_fits(plan, "group", ty_plan_device(plan)->group_max, error);
    return status ? status : ty_kernel_supports(plan, error);
}

/* For methods that keep the plan's slots in local memory. */
static tally_status supports_local(const tally_plan *plan, tally_error *error)
{
    uint32_t most = ty_plan_device(plan)->local_bytes;
    if (plan->slots * 4 > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it keeps all %u bins in local memory: the device's %u bytes hold %u",
                        plan->bins, most, most / 4 - TY_SLOT_EXTRA);
    return supports_group(plan, error);
}

/* ---- 000 ---- */

static void reduce_tree_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                              ty_shape *shape)
{
    uint64_t most = (UINT64_C(64) << 20) / plan->slots; /* 256 MiB of partials */
    shape_by_samples(plan, device, n, 1, shape);
    if (most < 1)
        most = 1;
    if (shape->slab > most * shape->group_size)
        shape->slab = most * shape->group_size;
    if (shape->groups > most)
        shape->groups = (uint32_t)most;
    shape->partials = shape->groups;
    shape->local_bytes = shape->group_size * 4;
    shape->passes = plan->bins + 3; /* under, over and NaN are intervals of their own */
}

static const ty_kernel_method reduce_tree = {.text = ty_text_reduce_tree,
                                             .shape = reduce_tree_shape};

const ty_method ty_reduce_tree = {
    "reduce-tree", "000",        "one pass an interval: flags in local memory, summed by a tree",
    ON_DEVICES,    UINT32_MAX,   1,
    65536,         group_only,   supports_group,
    NULL,          &reduce_tree,
};

static void atomic_local_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                               ty_shape *shape)
{
    shape_by_samples(plan, device, n, 1, shape);
    shape->local_bytes = (uint32_t)plan->slots * 4;
}

static const ty_kernel_method atomic_local = {.text = ty_text_atomic_local,
                                              .shape = atomic_local_shape};

const ty_method ty_atomic_local = {
    "atomic-local", "000",         "counts in local memory by atomics, then every bin to global",
    ON_DEVICES,     UINT32_MAX,    1,
    TY_MAX_BINS,    group_only,    supports_local,
    NULL,           &atomic_local,
};

/* ---- 001 ---- */

static void atomic_global_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                                ty_shape *shape)
{
    shape_by_samples(plan, device, n, 1, shape);
}

static const ty_kernel_method atomic_global = {.text = ty_text_atomic_global,
                                               .shape = atomic_global_shape};

static double atomic_global_cost(const tally_plan *plan, const char **why)
{
    *why = "any number of bins";
    return ty_cost(plan, "atomic-global");
}

const ty_method ty_atomic_global = {
    "atomic-global",    "001 004",      "one work-item a sample, atomics straight to global memory",
    ON_DEVICES,         UINT32_MAX,     1,
    TY_MAX_BINS,        group_only,     supports_group,
    atomic_global_cost, &atomic_global,
};

static const ty_parameter coarsened_parameters[] = {
    {"group", 1, 1024, 256, "work-items of a group"},
    {"elements", 1, 65536, 16, "samples a work-item counts"},
    {NULL, 0, 0, 0, NULL}};

static void coarsened_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                            ty_shape *shape)
{
    uint64_t each = (uint64_t)ty_method_parameter(plan, "elements");
    shape_by_samples(plan, device, n, each, shape);
}

static const ty_kernel_method coarsened = {.text = ty_text_coarsened, .shape = coarsened_shape};

const ty_method ty_coarsened = {
    "coarsened",
    "001",
    "several samples a work-item, atomics to global memory",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    coarsened_parameters,
    supports_group,
    NULL,
    &coarsened,
};

/* A grid that fills the device, a table of the plan's slots in local memory, a partial a group. */
static void private_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                          ty_shape *shape)
{
    ty_shape_standard(plan, device, n, shape);
    shape->local_bytes = (uint32_t)plan->slots * 4;
}

static const ty_kernel_method private_shared = {.text = ty_text_private_shared,
                                                .shape = private_shape};

static double private_shared_cost(const tally_plan *plan, const char **why)
{
    *why = "the bins fit local memory";
    return ty_cost(plan, "private-shared");
}

const ty_method ty_private_shared = {
    "private-shared",
    "001",
    "a histogram a group in shared memory, then committed",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    supports_local,
    private_shared_cost,
    &private_shared,
};

enum { most_register_bins = 32 };

static void private_register_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                                   ty_shape *shape)
{
    private_shape(plan, device, n, shape);
    snprintf(shape->defines, sizeof shape->defines, "-DTY_CELLS=%u", (unsigned)plan->slots);
}

static tally_status private_register_supports(const tally_plan *plan, tally_error *error)
{
    if (plan->bins > most_register_bins)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "private-register keeps every bin in a register: %d at most, not %u",
                        most_register_bins, plan->bins);
    return ty_kernel_supports(plan, error);
}

static const ty_kernel_method private_register = {.text = ty_text_private_register,
                                                  .shape = private_register_shape};

const ty_method ty_private_register = {
    "private-register",
    "001",
    "a histogram a work-item in registers, then shared, then global",
    ON_DEVICES,
    UINT32_MAX,
    1,
    most_register_bins,
    NULL,
    private_register_supports,
    NULL,
    &private_register,
};

static const ty_parameter private_global_parameters[] = {
    {"copies", 1, 4096, 64, "copies of the histogram in global memory"}, {NULL, 0, 0, 0, NULL}};

static void private_global_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                                 ty_shape *shape)
{
    ty_shape_standard(plan, device, n, shape);
    shape->partials = (uint32_t)ty_method_parameter(plan, "copies");
    shape->cleared = 1;
    snprintf(shape->defines, sizeof shape->defines, "-DTY_COPIES=%u", shape->partials);
}

static tally_status private_global_supports(const tally_plan *plan, tally_error *error)
{
    const char *set = ty_plan_setting(plan, "copies");
    uint64_t copies = set ? strtoull(set, NULL, 10) : 64;
    if (copies * plan->slots > UINT64_C(1) << 28)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%u bins in %u copies pass 1 GiB of tables; ask for fewer copies",
                        plan->bins, (unsigned)copies);
    return ty_kernel_supports(plan, error);
}

static const ty_kernel_method private_global = {.text = ty_text_private_global,
                                                .shape = private_global_shape};

const ty_method ty_private_global = {
    "private-global",
    "001",
    "copies in different regions of global memory, then merged",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    private_global_parameters,
    private_global_supports,
    NULL,
    &private_global,
};

static const ty_kernel_method aggregated = {.text = ty_text_aggregated, .shape = private_shape};

const ty_method ty_aggregated = {
    "aggregated", "001",       "runs of equal bins combined, over private-shared",
    ON_DEVICES,   UINT32_MAX,  1,
    TY_MAX_BINS,  NULL,        supports_local,
    NULL,         &aggregated,
};
