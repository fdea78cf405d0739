/* SPDX-License-Identifier: Apache-2.0 */
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

/* For axes without a proof. */
static tally_status make_tables(tally_plan *plan, tally_error *error)
{
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    const uint32_t spare = spare_local(plan);
    tally_status status = TALLY_OK;
    if (method->tables >= TY_TABLES_LOCAL && spare && !plan->axes[0].proof)
        status =
            ty_lookup_make(&plan->axes[0], spare / 4, method->tables == TY_TABLES_LOCAL, 0, error);
    for (uint32_t d = 0; method->tables && d < plan->options.dimensions && !status; d++) {
        if (!plan->axes[d].proof)
            status = ty_lookup_global_make(&plan->axes[d], 0, error);
    }
    return status;
}

tally_status ty_gpu_axes_make(tally_plan *plan, tally_error *error)
{
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    const uint32_t spare = spare_local(plan);
    const int affine = method->maps >= TY_MAPS_32 ? 2 : method->maps == TY_MAPS_16;
    if (!ty_plan_device(plan)->has_fp64) {
        ty_axis_prove(&plan->axes[0], 0, 0);
        return TALLY_OK;
    }
    for (uint32_t d = 0; method->maps && d < plan->options.dimensions; d++)
        ty_axis_prove(&plan->axes[d], affine, method->maps == TY_MAPS_EXCEPTIONS ? spare / 4 : 0);
    return make_tables(plan, error);
}

int ty_gpu_axes_simplify(tally_plan *plan)
{
    int had = 0, rounded = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        ty_axis *axis = &plan->axes[d];
        const int fine = axis->map.exceptions || axis->map.tie != 0;
        had |= axis->lookup_kind != 0 || fine;
        rounded |= fine && !axis->even;
        if (fine)
            axis->proof = TY_UNPROVEN;
        axis->map.exceptions = 0;
        axis->map.tie = 0;
        ty_free(axis->lookup_words);
        axis->lookup_words = NULL;
        axis->lookup_kind = axis->positive = 0;
        memset(&axis->lookup, 0, sizeof axis->lookup);
    }
    return had && (!rounded || !make_tables(plan, NULL));
}
