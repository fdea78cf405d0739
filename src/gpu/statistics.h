/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of values by bins on a device (tally/statistics.h). */
#ifndef TY_GPU_STATISTICS_H
#define TY_GPU_STATISTICS_H

#include "cpu/statistics.h"
#include "gpu/call.h"

/* What kernels are compiled for besides a plan's axes and types. */
typedef struct ty_statistics_wish {
    tally_dtype value;
    uint32_t sums; /* 0; 1: of values; 2: of their squares too */
    uint32_t extremes;
} ty_statistics_wish;

/* What a plan has for them, when a call first needs it. */
typedef struct ty_statistics_plan ty_statistics_plan;

/* The kernels, which are no method's, as if one had them; and what they are compiled with. */
extern const ty_method ty_statistics_kernels;
void ty_statistics_options(const tally_plan *plan, const ty_device *device,
                           const ty_statistics_wish *wish, ty_defines *options);

/* The plan that such jobs of `plan` are done by; when `plan` is closed, ty_statistics_close. */
tally_status ty_statistics_plan_of(const tally_plan *plan, const tally_plan **found,
                                   tally_error *error);
void ty_statistics_close(ty_device *device, ty_statistics_plan *own);

/* All of a call whose job has statistics: waits for them, and leaves them in the job's totals. */
tally_status ty_statistics_run(ty_call *call, tally_error *error);

#endif
