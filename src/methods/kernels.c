/* The methods that run as kernels: how each is launched. Their ideas are in src/kernels, one file
 * each. */
#include <stdio.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static void atomic_global_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                                ty_shape *shape)
{
    ty_shape_standard(plan, device, n, shape);
    shape->slab = (uint64_t)shape->group_size << 23; /* one work-item a sample: 2^31 of them */
    if (n > shape->slab)
        n = shape->slab;
    shape->groups = (uint32_t)((n + shape->group_size - 1) / shape->group_size);
    shape->partials = 1;
    shape->cleared = 1;
}

static const ty_kernel_method atomic_global = {ty_text_atomic_global, atomic_global_shape};

const ty_method ty_atomic_global = {
    "atomic-global",
    "001 004",
    "one work-item a sample, atomics straight to global memory",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    ty_kernel_supports,
    NULL,
    &atomic_global,
};

static void private_shared_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                                 ty_shape *shape)
{
    ty_shape_standard(plan, device, n, shape);
    shape->local_bytes = (uint32_t)plan->slots * 4;
}

static tally_status private_shared_supports(const tally_plan *plan, tally_error *error)
{
    uint32_t most = ty_plan_device(plan)->local_bytes;
    if (plan->slots * 4 > most)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "private-shared keeps all %u bins in local memory: %u bytes hold %u at most",
            plan->bins, most, most / 4 - TY_SLOT_EXTRA);
    return ty_kernel_supports(plan, error);
}

static const ty_kernel_method private_shared = {ty_text_private_shared, private_shared_shape};

static double private_shared_cost(const tally_plan *plan, const char **why)
{
    *why = "the bins fit local memory";
    return 1e-11 * (double)plan->options.n_hint + 1e-5;
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
    private_shared_supports,
    private_shared_cost,
    &private_shared,
};
