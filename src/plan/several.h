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

/* Bytes of samples in the smallest piece, of plans with few bins; tests set fewer. */
extern uint64_t ty_several_least;

/* A plan for each device, in one. */
tally_status ty_several_plan(tally_context *context, const tally_plan_options *options,
                             tally_plan **plan, tally_error *error);

#endif
