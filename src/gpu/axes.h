/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TY_GPU_AXES_H
#define TY_GPU_AXES_H

#include "plan/plan.h"

/* Gives the plan's axes the proofs and lookup tables that its method's kernels can use. */
tally_status ty_gpu_axes_make(tally_plan *plan, tally_error *error);

/* Takes back those that few kernels of the kernels file use, so that cells are found in float64;
 * returns whether there were any. */
int ty_gpu_axes_simplify(tally_plan *plan);

#endif
