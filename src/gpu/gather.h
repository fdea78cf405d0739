/* SPDX-License-Identifier: Apache-2.0 */
/* Samples on several devices, counted into an output in the memory of one of them. */
#ifndef TY_GATHER_H
#define TY_GATHER_H

#include "gpu/call.h"
#include "plan/plan.h"

/*
 * Counts the jobs, whose output lies on the first one's device: each is put on its stream, or on
 * one of our own; then the first device adds up what the others counted: it reads that where it
 * lies if it can, else it is brought by the host's memory. Nothing waits for a device but the end
 * of a call whose first job has no stream, and what runtimes cannot order among themselves. `whole`
 * is all jobs as one. *failed: the job that a failure is of.
 */
tally_status ty_gpu_gather(ty_job *jobs, uint32_t count, const ty_job *whole, uint32_t *failed,
                           tally_error *error);

/* Whether the first job's device is the one to add up what all count, for the host to fetch. */
int ty_gpu_adds_totals(const ty_job *jobs, uint32_t count, const ty_job *whole);
extern uint64_t ty_gpu_adds_least; /* of so many words; for tests */
/* Has it do so with calls that ty_gpu_start has put on their devices, and fetches the sums. */
tally_status ty_gpu_add_totals(ty_call *calls, uint32_t count, uint32_t *failed,
                               tally_error *error);

/* The streams of our own that a device keeps. */
void ty_spares_close(ty_device *device);

#endif
