/* How a plan's kernels find cells: proofs and lookup tables for its axes. */
#include "gpu/axes.h"

#include <string.h>

#include "core/alloc.h"
#include "binning/float32.h"
#include "binning/lookup.h"
#include "gpu/method.h"

/* What the method's counters leave of local memory; a runtime may keep a KiB. */
static uint32_t spare_local(const tally_plan *plan)
{
    const ty_device *device = ty_plan_device(plan);
    const uint32_t kept = 1024;
    ty_geometry g;
    ty_gpu_method_of(plan)->geometry(plan, device, UINT64_C(1) << 31, &g);
    return g.local_bytes + kept < device->local_bytes ? device->local_bytes - kept - g.local_bytes
                                                      : 0;
}

tally_status ty_gpu_axes_make(tally_plan *plan, tally_error *error)
{
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    const unsigned finds = method->finds;
    const uint32_t spare = spare_local(plan);
    tally_status status = TALLY_OK;
    for (uint32_t d = 0; (finds & TY_BY_FLOAT32) && d < plan->options.dimensions; d++)
        ty_axis_prove(&plan->axes[d],
                      method->reads != TY_READS_COLUMN ? 0
                      : finds & TY_BY_POWERS           ? 2
                                                       : 1,
                      finds & TY_BY_EXCEPTIONS ? spare / 4 : 0);
    if ((finds & TY_BY_LOCAL_TABLE) && spare)
        status = ty_lookup_make(&plan->axes[0], spare / 4, (finds & TY_BY_ONE_LOOK) != 0, 0, error);
    for (uint32_t d = 0; (finds & TY_BY_GLOBAL_TABLE) && d < plan->options.dimensions && !status;
         d++)
        status = ty_lookup_global_make(&plan->axes[d], 0, error);
    return status;
}

int ty_gpu_axes_simplify(tally_plan *plan)
{
    int had = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        ty_axis *axis = &plan->axes[d];
        const int fine = axis->fast.exceptions || axis->fast.tie != 0;
        had |= axis->lookup_kind != 0 || fine;
        if (fine)
            axis->proof = TY_UNPROVEN;
        axis->fast.exceptions = 0;
        axis->fast.tie = 0;
        ty_free(axis->lookup_words);
        axis->lookup_words = NULL;
        axis->lookup_kind = axis->positive = 0;
        memset(&axis->lookup, 0, sizeof axis->lookup);
    }
    return had;
}
