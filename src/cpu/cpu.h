/* SPDX-License-Identifier: Apache-2.0 */
/* What a method of the processor offers, and what the methods share. */
#ifndef TY_CPU_H
#define TY_CPU_H

#include "plan/plan.h"

/* Fewest bytes of samples worth another thread, whose table has so many: waking one takes about as
 * long as counting half a megabyte, to flush a table as long as four times its size. */
static inline uint64_t ty_cpu_thread_bytes(uint64_t table)
{
    return (512 << 10) + 4 * table;
}

/* Writes the slot of each of n packed samples (any alignment). */
typedef void (*ty_slots_fn)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots);

/* The fastest that this processor has for a resolved axis, its buckets made if it has any. */
ty_slots_fn ty_slots_pick(const ty_axis *axis);

/*
 * Counts n packed samples (any alignment): for each one counter of `table` goes up by one, one of
 * the 1 << shift that belong to its cell (ty_cell_of_slot): table[cell << shift] and those behind
 * it. Neighbouring samples take different ones, so that equal neighbours do not wait for each
 * other's store. Behind the cells' counters the table has TY_ADD_SPARE more, which are 0 before and
 * after. (slots << shift) must fit 32 bits.
 */
enum { TY_ADD_SPARE = 16 };
typedef void (*ty_add_fn)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                          unsigned shift);

/* The fastest for a resolved axis, or NULL: only by slots. */
ty_add_fn ty_add_pick(const ty_axis *axis);

/* Elements that are worked on together: their slots stay in the first-level cache. */
#define TY_BLOCK 1024

/* Scratch for ty_block_slots; lives on the stack. */
typedef struct ty_block {
    _Alignas(64) uint32_t slots[TY_BLOCK];
    uint32_t other[TY_BLOCK]; /* a further dimension's slots */
    _Alignas(64) unsigned char samples[TY_BLOCK * 8];
    unsigned char mask[TY_BLOCK];
} ty_block;

/* Final slots of elements [begin, begin+n), n <= TY_BLOCK, of one channel: all dimensions joined,
 * mask applied. They are in block->slots. */
void ty_block_slots(const ty_job *job, uint64_t batch, uint64_t channel, uint64_t begin, size_t n,
                    ty_block *block);

/*
 * A method: tables of one worker ("state", 64-byte aligned, cleared before `begin`) that samples
 * are added to, and that are emptied into the job's totals.
 */
typedef struct ty_cpu_method {
    size_t (*state_bytes)(const ty_job *job);
    size_t (*head_bytes)(const ty_job *job); /* what of it must be cleared; NULL: all */
    /* Once for a fresh state; NULL if all zeros will do. */
    void (*begin)(void *state, const ty_job *job);
    /* Counts elements [begin, end) of a batch, all active channels. */
    void (*count)(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end);
    /* Adds the state to the batch's totals and clears it. Never called twice at once in a job. */
    void (*flush)(void *state, ty_job *job, uint64_t batch);
    uint64_t most; /* elements that a state takes between flushes; not 0 */
    int ordered;   /* the order of additions matters: parts by the job alone, flushed in order */
    /* Optional, for a job that one thread does, of an ordered method in one part, and nobody
     * watches: counts straight into the job's totals and returns 1, or returns 0 for the usual way.
     */
    int (*straight)(ty_job *job);
    int direct; /* `flush` serves direct jobs, and sets what is fresh */
    /* If set, the whole job at once instead of the above. */
    tally_status (*whole)(ty_job *job, tally_error *error);
    uint64_t (*whole_bytes)(const ty_job *job); /* that it allocates */
} ty_cpu_method;

/* The method's part of a plan on this backend: plan->state. */
typedef struct ty_cpu_plan {
    const ty_cpu_method *method;
    int in_place; /* cpu-in-place was asked for; `method` serves what it finds full */
    ty_slots_fn slots[TALLY_MAX_DIMENSIONS];
    ty_add_fn add;  /* of the first axis; may be NULL */
    int bytes_same; /* one-byte samples whose slots are their bit patterns */
} ty_cpu_plan;

/* n weights of a type as float64, or integers as int64 (u64: the bits, with the top bit meaning
 * 2^63). */
void ty_weights_f64(const void *from, tally_dtype dtype, size_t n, double *weights);
void ty_weights_i64(const void *from, tally_dtype dtype, size_t n, int64_t *weights);

/* Adds such an integer to a sum. */
static inline void ty_weight_add(int64_t *sum, int64_t *carries, int64_t w, int is_u64)
{
    const int over = is_u64 ? __builtin_add_overflow(*sum, (uint64_t)w, sum)
                            : __builtin_add_overflow(*sum, w, sum);
    if (__builtin_expect(over, 0))
        ty_carry(carries, is_u64 || w >= 0);
}

/* Adds how many of n slots are each of the flows behind `bins` bins. */
void ty_count_flows(uint64_t *flows, const uint32_t *slots, size_t n, uint32_t bins);

/* The totals (slots of them) of one histogram. */
uint64_t *ty_totals_of(const ty_job *job, uint64_t batch, uint64_t active);

/* For supports(): refuses a plan with weights. */
tally_status ty_cpu_unweighted(const tally_plan *plan, tally_error *error);

#endif
