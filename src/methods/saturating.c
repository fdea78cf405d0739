/* Methods of source 004: 16-bit counters that stick at 65535. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static tally_status wants_u16sat(const tally_plan *plan, tally_error *error)
{
    if (plan->options.counter != TALLY_COUNTER_U16SAT || plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it counts in 16 bits that stick at 65535; ask for --counter u16sat");
    return TALLY_OK;
}

static tally_status supports_global(const tally_plan *plan, tally_error *error)
{
    tally_status status = wants_u16sat(plan, error);
    return status ? status : ty_kernel_supports(plan, error);
}

static tally_status supports_local(const tally_plan *plan, tally_error *error)
{
    uint32_t most = ty_plan_device(plan)->local_bytes;
    if (plan->slots * 4 > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it keeps all %u bins in local memory: the device's %u bytes hold %u",
                        plan->bins, most, most / 4 - TY_SLOT_EXTRA);
    return supports_global(plan, error);
}

/* ---- on the host ---- */

static void count_serial(ty_job *job, uint64_t batch, uint64_t active, uint16_t *counts,
                         ty_block *block)
{
    const tally_plan *plan = job->plan;
    uint64_t *totals = ty_totals_of(job, batch, active);
    memset(counts, 0, plan->bins * sizeof *counts);
    for (uint64_t begin = 0; begin < job->elements; begin += TY_BLOCK) {
        size_t n = job->elements - begin < TY_BLOCK ? (size_t)(job->elements - begin) : TY_BLOCK;
        ty_block_slots(job, batch, plan->active[active], begin, n, block);
        for (size_t i = 0; i < n; i++) {
            uint32_t slot = block->slots[i];
            if (slot >= plan->bins)
                totals[slot]++;
            else if (counts[slot] < UINT16_MAX)
                counts[slot]++;
        }
    }
    for (uint32_t b = 0; b < plan->bins; b++)
        totals[b] += counts[b];
}

static tally_status serial_run(ty_job *job, tally_error *error)
{
    const tally_plan *plan = job->plan;
    uint16_t *counts = ty_malloc(plan->bins * sizeof *counts);
    ty_block *block = ty_malloc(sizeof *block);
    tally_status status = TALLY_OK;
    if (!counts || !block)
        status = ty_error_memory(error, "a table of 16-bit counts", plan->bins * sizeof *counts);
    for (uint64_t b = 0; b < job->batches && !status; b++) {
        for (uint64_t a = 0; a < plan->active_count; a++)
            count_serial(job, b, a, counts, block);
        if (job->progress &&
            job->progress(job->user, (b + 1) * job->elements, job->batches * job->elements))
            status = ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    }
    ty_free(counts);
    ty_free(block);
    return status;
}

static const ty_cpu_method serial = {.whole = serial_run};

const ty_method ty_saturating_serial = {
    "saturating-serial",
    "004",
    "16-bit counters that stick at 65535, one thread on the host",
    TY_ON_CPU,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    wants_u16sat,
    NULL,
    &serial,
};

/* ---- kernels ---- */

static void global_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                         ty_shape *shape)
{
    ty_shape_standard(plan, device, n, shape);
    shape->partials = 1;
    shape->cleared = 1;
}

static const ty_kernel_method saturating_global = {.text = ty_text_saturating_global,
                                                   .shape = global_shape};

const ty_method ty_saturating_global = {
    "saturating-global",
    "004",
    "atomic addition to global memory, then atomic minimum",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    supports_global,
    NULL,
    &saturating_global,
};

/* Groups of `size` work-items that fill the device; local tables; one global table. */
static void shared_shape(const tally_plan *plan, const ty_device *device, uint64_t n, uint32_t size,
                         uint32_t committers, ty_shape *shape)
{
    global_shape(plan, device, n, shape);
    uint32_t threads = shape->groups * shape->group_size;
    shape->groups = (threads + size - 1) / size;
    shape->group_size = size;
    shape->local_bytes = (uint32_t)plan->slots * 4;
    snprintf(shape->defines, sizeof shape->defines, "-DTY_COMMITTERS=%u", committers);
}

static void shared_one_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                             ty_shape *shape)
{
    shared_shape(plan, device, n, plan->bins, plan->bins, shape);
}

static tally_status shared_one_supports(const tally_plan *plan, tally_error *error)
{
    if (plan->bins != 128 && plan->bins != 256 && plan->bins != 512 && plan->bins != 1024)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "saturating-shared has one work-item a bin: 128, 256, 512 or 1024, not %u; "
                        "saturating-shared-strided takes any",
                        plan->bins);
    if (plan->bins > ty_plan_device(plan)->group_max)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "saturating-shared has one work-item a bin: the device's groups have %u",
                        ty_plan_device(plan)->group_max);
    return supports_local(plan, error);
}

static const ty_kernel_method shared_one = {.text = ty_text_saturating_shared,
                                            .shape = shared_one_shape};

const ty_method ty_saturating_shared = {
    "saturating-shared",
    "004",
    "a saturating histogram a group, one work-item a bin",
    ON_DEVICES,
    UINT32_MAX,
    128,
    1024,
    NULL,
    shared_one_supports,
    NULL,
    &shared_one,
};

static const ty_parameter strided_parameters[] = {
    {"threads", 32, 1024, 256, "work-items of a group"}, {NULL, 0, 0, 0, NULL}};

/* As published, bins / threads work-items commit, each bins that lie so far apart. */
static void strided_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                          ty_shape *shape)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    size = size < device->group_max ? size : device->group_max;
    uint32_t committers = plan->bins / size;
    committers = committers < 1 ? 1 : committers > size ? size : committers;
    shared_shape(plan, device, n, size, committers, shape);
}

static tally_status strided_supports(const tally_plan *plan, tally_error *error)
{
    tally_status status =
        ty_kernel_setting_fits(plan, "threads", ty_plan_device(plan)->group_max, error);
    return status ? status : supports_local(plan, error);
}

static const ty_kernel_method strided = {.text = ty_text_saturating_shared, .shape = strided_shape};

const ty_method ty_saturating_shared_strided = {
    "saturating-shared-strided",
    "004",
    "the same with a strided merge, for any number of bins",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    strided_parameters,
    strided_supports,
    NULL,
    &strided,
};
