/* SPDX-License-Identifier: Apache-2.0 */
/* Samples added one by one to the caller's output: a call costs what its samples do, however many
 * bins there are. */
#ifndef TY_IN_PLACE_H
#define TY_IN_PLACE_H

#include "cpu/cpu.h"

extern const ty_cpu_method ty_in_place_method;

/* Whether a job of a plan that `auto` made is done in place: it has few samples for its bins, or
 * tables would be too large. The job alone decides. */
int ty_in_place_pays(const ty_job *job);

/* Whether a job can be done in place: not sums that may wrap in an output that is overwritten,
 * which could not be brought back. */
int ty_in_place_serves(const ty_job *job);

/* Whether several threads that add to one histogram are worth what they cost. */
int ty_in_place_shares(const ty_job *job);

/* Clears an output that is not added to. */
void ty_in_place_clear(const ty_job *job);

#endif
