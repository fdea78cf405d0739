/* How the kernels' backends are cut: plans (backend.c), what a run borrows (workspace.c), counting
 * (count.c), where the counts go (deliver.c). */
#ifndef TY_RUN_H
#define TY_RUN_H

#include <pthread.h>

#include "device/kernel.h"
#include "methods/registry.h"

enum { TY_OUTPUTS = 4 }; /* arrays of an output: counts, flows, sum_squares, flow_sums */

/*
 * Queue and buffers of one run at a time, kept by the plan so that a repeated call allocates
 * nothing. A run that is still under way on a caller's stream when its call returns leaves its
 * workspace to the next run on that stream, which comes after it; to others only once the device
 * has been waited for. One that a graph has recorded belongs to that graph.
 */
typedef struct ty_workspace {
    void *queue;    /* our own */
    void *stream;   /* the caller's, as it was given, or NULL */
    void *borrowed; /* a queue around it */
    int busy;       /* work may be under way on `stream` */
    ty_memory axis, runs, out, scratch, totals;
    ty_memory samples; /* a batch of the host's (send.c) */
    ty_memory table;   /* zero between launches (kernels/finish.h), or none */
    uint32_t longest;  /* of the runs, in cells; 0 without runs */
    size_t out_bytes, scratch_bytes, samples_bytes, stage_bytes;
    unsigned char *stage;      /* pinned: its pieces on their way */
    unsigned char *images[2];  /* axis and runs as they were uploaded; kept until the queue is
                                  closed, for a wait may fail with the copy still pending */
    void *outputs[TY_OUTPUTS]; /* of a failed call, on their way by the host: kept likewise */
    ty_shape shape;            /* of a launch for `shaped` samples */
    uint64_t shaped;
    uint64_t *host; /* totals of `histograms` histograms */
    int host_pinned;
    uint64_t histograms;
    struct ty_workspace *next;
} ty_workspace;

/* What kernels read on the device: samples in any layout; packed ones and a mask; rows of these. */
typedef enum ty_layout { TY_ANY_LAYOUT, TY_PACKED, TY_IN_ROWS, TY_LAYOUTS } ty_layout;

/* The same plan by another method, for samples that its own kernel does not read. */
typedef struct ty_other {
    const ty_method *method; /* NULL: none */
    tally_plan *plan;        /* made when a call first needs it */
    int missing;             /* its kernel cannot be had here */
} ty_other;

/* plan->state */
typedef struct ty_device_plan {
    void *program;
    int origin;
    pthread_mutex_t lock;
    ty_workspace *idle, *recorded;
    ty_other others[TY_LAYOUTS]; /* of a plan that `auto` made, where its own is another */
} ty_device_plan;

/* The cheapest method for the plan whose kernel reads such a layout, or NULL. */
const ty_method *ty_other_method(const tally_plan *plan, ty_layout layout);

/* A workspace for a run on the caller's `stream`, or our own queue if that is NULL. With
 * `recording` it is a new one, that stays with the plan. */
tally_status ty_workspace_take(const tally_plan *plan, void *stream, int recording,
                               ty_workspace **taken, tally_error *error);
/* Gives it back; `busy`: the run may be under way still. */
void ty_workspace_give(const tally_plan *plan, ty_workspace *w, int recording, int busy);
/* After a failure a queue may be in any state: such a workspace is not used again. */
void ty_workspace_close(ty_device *device, ty_workspace *w);
void ty_workspaces_close(const tally_plan *plan);

/* 64-bit words of one histogram's totals. */
static inline uint64_t ty_totals_words(const tally_plan *plan)
{
    const uint64_t each =
        1u + (plan->weighted == TALLY_RESULT_SUMS_I64) + (plan->options.sum_squares != 0);
    return plan->slots * each + (plan->weighted ? TY_SLOT_EXTRA : 0);
}

/* Grow what the name says; they keep it when it is large enough. */
tally_status ty_workspace_out(ty_device *device, ty_workspace *w, const ty_shape *shape,
                              tally_error *error);
tally_status ty_workspace_totals(const tally_plan *plan, ty_workspace *w, uint64_t histograms,
                                 tally_error *error);
tally_status ty_workspace_stages(ty_device *device, ty_workspace *w, size_t samples, size_t stage,
                                 tally_error *error);

/* Where one histogram's counts go: the merge kernel's last arguments (kernels/output.h). */
typedef struct ty_place {
    ty_memory counts, flows;
    uint64_t first, histogram;
    uint32_t bins, how;
    uint64_t h, count; /* the histograms */
    /* Sums of weights: where integers' upper words begin (0: only the lower are kept); the
     * squares', where they begin, where the flows do and how many there are a histogram
     * (kernels/weighted.cl). */
    ty_memory squares;
    uint64_t high_first, square_first, flow_first;
    uint32_t flow_count;
} ty_place;

/* One call in progress. */
typedef struct ty_run {
    ty_job *job;
    ty_device *device;
    const ty_kernel_method *kernel;
    void *program;
    ty_workspace *w;
    void *queue; /* the workspace's, or the one around the caller's stream */
    int recording;
    uint64_t done; /* elements × active channels */
    ty_place place;
    int fresh;    /* nothing has been delivered to it yet */
    uint32_t key; /* a keyed method's, of the last launch */
} ty_run;

/* count.c: tells the caller's progress function that n more samples are done. */
tally_status ty_count_report(ty_run *run, uint64_t n, tally_error *error);

/* count.c: closes `from` and adds the device's seconds since it to *seconds, waiting for them. */
tally_status ty_add_seconds(ty_run *run, void *from, double *seconds, tally_error *error);

/* count.c: one histogram's samples, added up at run->place. */
tally_status ty_count_histogram(ty_run *run, uint64_t batch, uint64_t active, tally_error *error);

/*
 * send.c: one histogram's samples of the host, sent in batches. A batch of n elements has column c
 * packed from byte columns[c].at of w->samples on; count_batch, which has it counted, finds it
 * there until it returns, in the queue's order. Batches depend on the job's elements and their
 * bytes alone.
 */
typedef struct ty_load {
    struct {
        const ty_grid *grid;
        uint64_t channel;
        size_t at;
    } columns[TALLY_MAX_DIMENSIONS + 2];
    unsigned count;
    size_t element_bytes; /* of all columns */
    uint64_t batch;
    const ty_grid *mask; /* elements that it leaves out are not sent, of a single column; or NULL */
    uint64_t masked;     /* gets their number added */
    tally_status (*count_batch)(ty_run *run, const struct ty_load *load, uint64_t n,
                                tally_error *error);
    uint64_t h; /* the histogram */
} ty_load;

void ty_load_add(ty_load *load, const ty_grid *grid, uint64_t channel);
tally_status ty_send(ty_run *run, ty_load *load, tally_error *error);

/* views.c: all histograms, by a method that takes any layout. */
tally_status ty_count_views(ty_run *run, tally_error *error);

/* Whether a kernel reads samples on the device as they lie. One that does not take any layout reads
 * packed, aligned ones of one channel without a mask; if it is `packed` with a mask likewise, if
 * `rows` in long rows too, if `pixels` those of all channels side by side. */
int ty_kernel_reads(const ty_kernel_method *kernel, const ty_job *job, const ty_device *device);

/* view_bytes.c: whether kernels/view_bytes.cl counts the job's samples, ... */
int ty_bytes_serves(const ty_run *run, const ty_shape *shape);
/* ... how many groups of it count one of so many batches, ... */
uint32_t ty_bytes_parts(const ty_run *run, const ty_shape *shape, uint64_t batches);
/* ... and its launch for histograms [h, h + count): with one group a batch they are delivered, with
 * more their partials are in the workspace. */
tally_status ty_bytes_launch(ty_run *run, const ty_shape *shape, uint64_t h, uint64_t count,
                             uint32_t parts, tally_error *error);

/* deliver.c: sets run->place for `count` histograms from h on. */
tally_status ty_deliver_begin(ty_run *run, uint64_t h, uint64_t count, tally_error *error);
/* TY_OUTPUT_ARGS (kernels/output.h) from args[n] on; returns where they end. */
unsigned ty_deliver_place(const ty_run *run, ty_arg *args, unsigned n);
/* Adds the partials in the workspace, so many a histogram, to the place, or writes them there if
 * they are the first. */
tally_status ty_deliver_partials(ty_run *run, const ty_shape *shape, uint32_t partials,
                                 tally_error *error);
/* TY_FINISH_ARGS of a launch of that shape; one that delivers counts as the delivery. */
void ty_deliver_args(ty_run *run, const ty_shape *shape, ty_arg args[TY_FINISH_COUNT]);
/* The same for a weighted method's partials of 2^room terms. */
tally_status ty_deliver_sums(ty_run *run, uint32_t partials, uint32_t room, tally_error *error);
/* Ends them: an output in host memory gets what is in the place. */
tally_status ty_deliver_end(ty_run *run, tally_error *error);
/* Checks a job's output in device memory: alignment, size, and what cannot be recorded. */
tally_status ty_deliver_check(ty_run *run, tally_error *error);
/* Whether an output in device memory is made on the host: where the counts decide if there is one
 * at all (a policy that fails, a narrow counter that is added to), and for samples of the host. */
int ty_deliver_by_host(const ty_job *job);
/* Such a job; waits for the device. */
tally_status ty_deliver_host(ty_run *run, tally_status (*count)(ty_run *, tally_error *),
                             tally_error *error);

#endif
