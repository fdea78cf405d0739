/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, plans and jobs: what the public opaque types are inside. */
#ifndef TY_PLAN_H
#define TY_PLAN_H

#include <tally/tally.h>

#include "binning/axis.h"
#include "core/buffer_cache.h"
#include "core/view.h"

struct ty_backend;
struct ty_offload;
struct ty_several;
struct ty_statistics;
struct ty_method;
struct ty_order_ops;
struct ty_pool;
struct ty_tuning;

struct tally_context {
    const struct ty_backend *backend;
    tally_device_type device;
    int32_t index;
    struct ty_pool *pool;       /* host threads; every context has them */
    void *state;                /* the backend's own */
    struct ty_tuning *tuning;   /* what methods cost here, for `auto` */
    struct ty_offload *offload; /* opened with TALLY_DEVICE_AUTO (offload.h); else NULL */
    struct ty_several *several; /* its devices, where there are several (several.h); else NULL */
    ty_buffer_cache tables, totals; /* memory of the last call on the host */
};

struct tally_plan {
    tally_context *context;
    tally_plan_options options; /* pointers inside are to the copies below, or NULL */
    ty_axis axes[TALLY_MAX_DIMENSIONS];
    const struct ty_method *method;
    char **settings;       /* "key", "value", … copied; 2 × options.settings_count */
    uint32_t bins;         /* of one histogram: product over the axes, at most TY_MAX_BINS */
    uint64_t slots;        /* bins + TY_SLOT_EXTRA */
    uint64_t channels;     /* of the samples' views */
    uint64_t *active;      /* the counted channels' numbers */
    uint64_t active_count; /* at least 1 */
    uint32_t weighted;     /* 0; or the kind of sum: TALLY_RESULT_SUMS_… */
    int weight_exponent;   /* SUMS_WIDE: of weight_limit (wide.h) */
    void *state;           /* the method's, made by its backend's prepare */
    tally_plan **several;  /* of a context of several devices: a plan for each; else NULL */
    double seconds;        /* what `auto` expects; 0 for a method asked for by name */
    char text[640];        /* tally_plan_describe */
};

/* plan.c: tally_plan_create without the backend's part. `auto` leaves out the methods whose bits,
 * by their place in ty_methods, are set in `without`. */
tally_status ty_plan_resolve(tally_context *context, const tally_plan_options *options,
                             uint64_t without, tally_plan **plan, tally_error *error);

/*
 * What a walk over the samples does where each is added to the output itself (cpu/in_place.h). The
 * output stays as it was if the call fails: where a policy or a caller who may cancel can refuse
 * it, a walk finds the flows first; a count or sum of integers that wraps is found while adding,
 * and then all that was added is taken away again (a job's `wrapped`): tables have wider sums, and
 * words for what does not fit.
 */
typedef enum ty_walk {
    TY_WALK_NONE,    /* the job is not done in place */
    TY_WALK_FLOWS,   /* finds the flows */
    TY_WALK_COUNT,   /* finds the flows, and adds to the bins */
    TY_WALK_ADD,     /* adds to the bins; the flows are known */
    TY_WALK_UNDO,    /* takes away what was added */
    TY_WALK_SQUARES, /* of integers, when their sums are added: float64 cannot be taken away again
                      */
} ty_walk;

/* One tally_execute, checked and normalised. */
typedef struct ty_job {
    const tally_plan *plan;
    ty_grid samples[TALLY_MAX_DIMENSIONS];
    ty_grid mask, weights;      /* data NULL when absent; extents of 1 repeated by strides of 0 */
    uint64_t batches, elements; /* elements of a batch: rows × columns */
    uint64_t histograms;        /* batches × active channels */
    tally_device_type view_device; /* where the samples lie */
    const tally_output *output;
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    void *stream;
    double *device_seconds, *merge_seconds;
    /* Where a backend that counts on the host leaves its results, cleared: histograms × slots; or,
     * for a job that is `direct`, histograms × flows, and the bins in the output: over what is
     * there while the job is `fresh`, else added to it. */
    uint64_t *totals;
    ty_buffer *totals_buffer; /* where they are if they are large, else NULL */
    double *sums;             /* weighted f64, else NULL */
    int64_t *isums; /* integers, and wide sums of floats, else NULL: a sum is this and 2^64 times …
                     */
    int64_t *carries; /* … this, by ty_carry, as sums may pass int64 and come back */
    double *squares;  /* with sum_squares, else NULL */
    int direct;
    int fresh;      /* direct: what the output's bins hold is none of ours yet */
    ty_walk walk;   /* in place, and then direct too: what is done with each sample now */
    int shared;     /* in place: others may add at once */
    int wrapped;    /* in place: a count or sum passed its type, and the output is as it was */
    int beyond;     /* nonzero: a weight is beyond the plan's limit */
    int *beyond_at; /* that of the job which this is a copy of, or its own; set from any thread */
    struct ty_source_failure *failure; /* samples, mask and weights are read; else NULL */
    struct ty_statistics *statistics; /* what is found instead of counts (cpu/statistics.h), or NULL
                                       */
} ty_job;

/* The totals of one histogram's bins, and of its flows. */
static inline uint64_t *ty_job_bins(const ty_job *job, uint64_t h)
{
    return job->direct ? (uint64_t *)job->output->counts + h * job->plan->bins
                       : job->totals + h * job->plan->slots;
}

static inline uint64_t *ty_job_flows(const ty_job *job, uint64_t h)
{
    return job->direct ? job->totals + h * TY_SLOT_EXTRA
                       : job->totals + h * job->plan->slots + job->plan->bins;
}

/* Whether sums are whole numbers, in isums. */
static inline int ty_plan_sums_whole(const tally_plan *plan)
{
    return plan->weighted == TALLY_RESULT_SUMS_I64 || plan->weighted == TALLY_RESULT_SUMS_WIDE;
}

/* Notes a weight beyond the plan's limit, from any thread. */
static inline void ty_job_beyond(const ty_job *job)
{
    __atomic_store_n(job->beyond_at, 1, __ATOMIC_RELAXED);
}

/* Notes that an integer sum wrapped around, upwards or downwards; from any thread. */
static inline void ty_carry(int64_t *carries, int upwards)
{
    __atomic_fetch_add(carries, upwards ? 1 : -1, __ATOMIC_RELAXED);
}

/* Adds to such a sum. */
static inline void ty_carry_add(int64_t *sum, int64_t *carries, int64_t x)
{
    if (__builtin_expect(__builtin_add_overflow(*sum, x, sum), 0))
        ty_carry(carries, x >= 0);
}

/* The same of 128 bits, the upper word of which counts the carries of an unsigned lower one. */
static inline void ty_carry_add_wide(int64_t *sum, int64_t *carries, tally_wide x)
{
    ty_carry_add(sum, carries, (int64_t)x.low);
    *carries += x.high + ((int64_t)x.low < 0);
}

/* Where the sum of weights of a histogram's flow is in sums and isums. */
static inline uint64_t ty_job_flow_at(const ty_job *job, uint64_t h, unsigned flow)
{
    return job->direct ? h * TY_SLOT_EXTRA + flow : h * job->plan->slots + job->plan->bins + flow;
}

/* The value of a plan's setting `key`, or NULL. */
const char *ty_plan_setting(const tally_plan *plan, const char *key);

/* A device kind: what context, plan and execute call. */
typedef struct ty_backend {
    tally_device_type device;
    const char *name;        /* "cpu", "cuda", "opencl" */
    uint32_t (*count)(void); /* devices present; missing ones are described by info(0) */
    void (*info)(int32_t index, tally_device_info *info);
    tally_status (*open)(tally_context *context, const tally_context_options *options,
                         tally_error *error);
    void (*close)(tally_context *context);
    /* Which default speeds are the context's: "cuda-sm_90". */
    void (*arch)(const tally_context *context, char *arch, size_t size);
    /* Makes plan->state for plan->method; undone by finish. Either may be NULL. */
    tally_status (*prepare)(tally_plan *plan, tally_error *error);
    void (*finish)(tally_plan *plan);
    /* Counts: into job->totals (and sums), which execute commits; or, where the output is in device
     * memory, into it. */
    tally_status (*run)(ty_job *job, tally_error *error);
    int has_memory; /* of its own, that outputs may be in */
    /* Whether `run` serves a direct job like this one; NULL: none. */
    int (*directs)(const ty_job *job);
    /* Whether `run` had better add such a job in place, and can; NULL: never. */
    int (*adds_in_place)(const ty_job *job);
    /* Adds what `run` takes for such a job, at most: bytes of the host besides ty_job_bytes, and of
     * the device's memory. Counts nothing. */
    tally_status (*memory)(const ty_job *job, uint64_t *host, uint64_t *device, tally_error *error);
    const struct ty_order_ops *order; /* core/order.h, of samples on the device; NULL: none */
} ty_backend;

extern const ty_backend ty_cpu_backend, ty_opencl_backend, ty_cuda_backend;

/* All backends, NULL at the end; the first that has a device is TALLY_DEVICE_AUTO's. */
extern const ty_backend *const ty_backends[];

/* job.c: checks the arguments of an execute and fills `job` (nothing owned). */
tally_status ty_job_make(const tally_plan *plan, const tally_view *views,
                         const tally_execute_options *options, const tally_output *output,
                         ty_job *job, tally_error *error);
/* job.c: the same in two steps, between which more views may be taken, weights or values, of their
 * own dtype. */
tally_status ty_job_begin(const tally_plan *plan, const tally_view *views,
                          const tally_execute_options *options, const tally_output *output,
                          ty_job *job, tally_error *error);
tally_status ty_job_extra(const ty_job *job, const tally_view *view, const char *what,
                          ty_grid *grid, tally_error *error);
tally_status ty_job_finish(ty_job *job, tally_error *error);
/* job.c: pointers to the grids of samples, mask, weights and values that there are; returns how
 * many. */
enum { TY_JOB_GRIDS = TALLY_MAX_DIMENSIONS + 2 + TALLY_MAX_VALUES };
unsigned ty_job_grids(ty_job *job, ty_grid **grids);
/* execute.c: runs a job and commits what it found. */
tally_status ty_job_execute(ty_job *job, tally_status (*run)(ty_job *job, tally_error *error),
                            tally_status (*commit)(const ty_job *job, tally_error *error),
                            tally_error *error);
/* The bytes of totals and sums; TALLY_ERROR_MEMORY if no machine has so many. */
tally_status ty_job_bytes(const ty_job *job, uint64_t *bytes, tally_error *error);
/* Allocates and clears totals and sums; released by ty_job_release. */
tally_status ty_job_reserve(ty_job *job, tally_error *error);
void ty_job_release(ty_job *job);
/* commit.c: whether a sample outside some axis, or NaN, makes the call fail. */
int ty_plan_may_fail(const tally_plan *plan);
/* commit.c: whether nothing can refuse the counts, so that their bins may be written at once. Where
 * they are added to, reads all of them. */
int ty_job_surely_commits(const ty_job *job);
/* commit.c: the slot, clamped flows as their bins. */
uint32_t ty_plan_clamped(const tally_plan *plan, uint32_t slot);
/* commit.c: TALLY_ERROR_DATA if the job's flows are not what the axes' policies allow, or their
 * sums of integers no int64. */
tally_status ty_job_check_flows(const ty_job *job, tally_error *error);
/* commit.c: policies, counter widths, then the caller's output, all or nothing. */
tally_status ty_job_commit(const ty_job *job, tally_error *error);

/* reference.c: the slow obvious oracle, into job->totals and sums. */
tally_status ty_reference_run(ty_job *job, tally_error *error);

#endif
