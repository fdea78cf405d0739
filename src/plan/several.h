/* SPDX-License-Identifier: Apache-2.0 */
/* A context of several devices: a call's host samples are dealt to them in pieces, to whichever is
 * free, and what they count is added up. */
#ifndef TY_SEVERAL_H
#define TY_SEVERAL_H

#include "plan/plan.h"

/* The devices of a context. */
typedef struct ty_several ty_several;

/* Makes `context`, whose backend and pool are set here, of the devices that options->devices names.
 * On failure nothing is owned. */
tally_status ty_several_open(tally_context *context, const tally_context_options *options,
                             tally_error *error);

unsigned ty_several_count(const ty_several *several);
tally_context *ty_several_context(const ty_several *several, unsigned i);
const char *ty_several_id(const ty_several *several, unsigned i); /* "cuda:1" */

/* Clear totals for what the device of `plan` counts of the call `whole`: released by
 * ty_job_release. */
tally_status ty_several_reserve(ty_job *totals, const ty_job *whole, const tally_plan *plan,
                                tally_error *error);
/* Adds a device's totals to the call's. One thread at a time may. */
void ty_several_add(ty_job *whole, const ty_job *totals);

/* Bytes of samples in the smallest piece, of plans with few bins; tests set fewer. */
extern uint64_t ty_several_least;

/* A plan for each device, in one. */
tally_status ty_several_plan(tally_context *context, const tally_plan_options *options,
                             tally_plan **plan, tally_error *error);

#endif
