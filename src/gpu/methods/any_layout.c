/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/methods/any_layout.h"

#include <stdlib.h>

#include "core/error.h"
#include "plan/registry.h"

enum { usual_threads = 512 };

const tally_parameter ty_any_layout_parameters[] = {
    {"threads", 32, 1024, usual_threads, "work-items of a group"},
    {"ahead", 1, 16, 4, "samples of a work-item before it counts or adds"},
    {NULL, 0, 0, 0, NULL}};

ty_any_layout ty_any_layout_make(const tally_plan *plan, const ty_device *device, uint32_t words,
                                 uint32_t rest)
{
    const char *set = ty_plan_setting(plan, "threads");
    uint32_t size = set ? (uint32_t)strtoul(set, NULL, 10) : usual_threads;
    if (device->warp != 32 && size > 64)
        size = 64; /* a device that runs a group as a loop */
    while (size > device->group_max)
        size /= 2;
    uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    const uint32_t half = device->unit_local_bytes / 2 - 1024, most = device->local_bytes - 1024;
    const uint64_t bytes = plan->slots * words * sizeof(uint32_t);
    ty_any_layout l = {{.group_size = size, .local_bytes = rest, .most = UINT64_C(1) << 31},
                       .copies = 0};
    if (bytes + rest <= most) {
        const uint32_t fits = bytes + rest > half || half > most ? most : half;
        l.copies = 1;
        while (l.copies < 32 && bytes * l.copies * 2 + rest <= fits)
            l.copies *= 2;
        l.geometry.local_bytes += (uint32_t)bytes * l.copies;
        const uint32_t fit = device->unit_local_bytes / (l.geometry.local_bytes + 1024);
        per_unit = per_unit < fit ? per_unit : fit;
    }
    l.geometry.groups = device->units * (per_unit ? per_unit : 1);
    return l;
}

void ty_any_layout_define(const tally_plan *plan, const ty_any_layout *l, ty_defines *defines)
{
    ty_define(defines, "TY_AHEAD", (uint32_t)ty_method_parameter(plan, "ahead"));
    ty_define(defines, "TY_GLOBAL_TABLE", !l->copies);
    ty_define(defines, "TY_ANY_GROUP", l->geometry.group_size);
}

tally_status ty_any_layout_supports(const tally_plan *plan, tally_error *error)
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
