/* SPDX-License-Identifier: Apache-2.0 */
/* Samples on several devices, counted into an output in the memory of one of them. */
#ifndef TY_GATHER_H
#define TY_GATHER_H

#include "gpu/device.h"
#include "plan/plan.h"

/*
 * Counts the jobs, whose output lies on the first one's device: each is put on its stream, or on
 * one of our own; then the first device takes over what the others counted, where it can by itself,
 * else by the host's memory, and adds it up. Nothing waits for a device but the end of a call whose
 * first job has no stream, and what runtimes cannot order among themselves. `whole` is all jobs as
 * one. *failed: the job that a failure is of.
 */
tally_status ty_gpu_gather(ty_job *jobs, uint32_t count, const ty_job *whole, uint32_t *failed,
                           tally_error *error);

/* The streams of our own that a device keeps. */
void ty_spares_close(ty_device *device);

#endif
