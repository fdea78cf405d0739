/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for any method: of 256 bins, or of as many as it counts in. */
#ifndef METHOD_PLAN_H
#define METHOD_PLAN_H

#include <string.h>
#include <tally/tally.h>

static inline tally_plan *make_plan(tally_context *context, const char *method, tally_dtype dtype,
                                    tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    uint64_t bins = !strcmp(method, "private-register") || !strcmp(method, "reduce-tree") ? 8
                    : !strcmp(method, "podlozhnyuk-64")                                   ? 64
                                                                                          : 256;
    o.axes[0] = tally_axis_even(bins, 0, 256);
    o.dtypes[0] = dtype;
    o.method = method;
    o.counter = !strncmp(method, "saturating", 10) ? TALLY_COUNTER_U16SAT : TALLY_COUNTER_U64;
    return tally_plan_create(context, &o, &plan, error) ? NULL : plan;
}

#endif
