/* SPDX-License-Identifier: Apache-2.0 */
/* What swizzled-columns and swizzled-rows share: a joint table in local memory, its order
 * scrambled, for samples whose coordinates are packed columns. */
#ifndef TY_COLUMNS_METHODS_H
#define TY_COLUMNS_METHODS_H

#include "gpu/call.h"

extern const struct tally_parameter ty_columns_parameters[];

void ty_columns_geometry(const tally_plan *plan, const ty_device *device, uint64_t n,
                         ty_geometry *g);
void ty_columns_define(const tally_plan *plan, const ty_device *device, ty_defines *defines);
tally_status ty_columns_supports(const tally_plan *plan, tally_error *error);

/* Each group leaves a partial of the plan's slots. */
uint64_t ty_columns_histograms(const ty_call *call);
tally_status ty_columns_enqueue(ty_call *call, tally_error *error);

#endif
