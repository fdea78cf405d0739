/* SPDX-License-Identifier: Apache-2.0 */
/* A context of the processor that may count on a graphics processor: one opened with
 * TALLY_DEVICE_AUTO. */
#ifndef TY_OFFLOAD_H
#define TY_OFFLOAD_H

#include "plan/plan.h"

/* A CUDA device for such a context; opened when a plan is worth it. */
typedef struct ty_offload ty_offload;

/* NULL when memory is out. */
ty_offload *ty_offload_create(void);
void ty_offload_destroy(ty_offload *offload); /* NULL is fine */

/*
 * `plan` is the processor's, made for `options` by `auto`. Returns a plan on the CUDA device, ready
 * to run and the caller's, where that is expected to take less time: moving the samples and opening
 * the device count, too. Else returns NULL, and `plan` stays what it was, but that its description
 * says what the device would take, if that was looked into. Any thread may call it.
 */
tally_plan *ty_offload_plan(ty_offload *offload, const tally_plan_options *options,
                            tally_plan *plan);

#endif
