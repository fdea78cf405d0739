/* Where samples of the host are counted, for a context opened with TALLY_DEVICE_AUTO. */
#ifndef TY_PLACE_H
#define TY_PLACE_H

#include "plan.h"

/* A graphics processor beside a processor's context; opened when a plan is worth it. */
typedef struct ty_beside ty_beside;

/* NULL when memory is out. */
ty_beside *ty_beside_create(void);
void ty_beside_destroy(ty_beside *beside); /* NULL is fine */

/*
 * `plan` is the processor's, made for `options` by `auto`. Returns a plan, ready to run, on a CUDA
 * device if that should be done first with the data's way there and the opening of the device
 * counted in; else NULL, and the plan's description says why where that was looked into.
 */
tally_plan *ty_place(ty_beside *beside, const tally_plan_options *options, tally_plan *plan);

#endif
