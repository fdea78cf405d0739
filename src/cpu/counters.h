/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of 32-bit counters, one a channel, as several methods keep them: each slot has 1 << shift
 * counters side by side, taken in turn by neighbouring samples, so that equal neighbours do not
 * wait for each other's store. */
#ifndef TY_COUNTERS_H
#define TY_COUNTERS_H

#include "cpu/cpu.h"

/* Elements that a state of these takes between flushes. */
#define TY_TABLE_MOST UINT32_MAX

/* The shift for a job: 3 while everything stays in the first-level cache, then fewer; 0 when there
 * are too few samples to pay for clearing and adding up. */
unsigned ty_table_shift(const ty_job *job);

size_t ty_table_bytes(const ty_job *job);

/* The table of the a-th active channel. */
uint32_t *ty_table_of(void *state, const ty_job *job, uint64_t a);

/* One sample for each slot. */
void ty_table_add(uint32_t *table, unsigned shift, const uint32_t *slots, size_t n);

/* cpu-overlap's count, for any one axis; its state is such tables. */
void ty_overlap_count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end);

/* ty_cpu_method's flush; of tables by slot, of tables by cell, and of what ty_overlap_count
 * left. */
void ty_table_flush(void *state, ty_job *job, uint64_t batch);
void ty_table_flush_cells(void *state, ty_job *job, uint64_t batch);
void ty_overlap_flush(void *state, ty_job *job, uint64_t batch);

#endif
