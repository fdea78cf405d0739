/* SPDX-License-Identifier: Apache-2.0 */
/* What a call borrows from its plan: a queue, buffers, the axes on the device. */
#ifndef TY_WORKSPACE_H
#define TY_WORKSPACE_H

#include <pthread.h>

#include "gpu/method.h"
#include "gpu/programs.h"

enum { TY_OUTPUTS = 4 }; /* arrays of an output: counts, flows, sum_squares, flow_sums */

/*
 * Queue and buffers of one call at a time, kept by the plan so that a repeated call allocates
 * nothing, and by the device when the plan is no more, so that a call by a new plan allocates
 * nothing either. A call that is still under way on a caller's stream when it returns leaves its
 * workspace to the next call on that stream, which comes after it; to others only once the device
 * has been waited for. One that a graph has recorded belongs to that graph.
 */
typedef struct ty_workspace {
    void *queue;    /* our own */
    void *stream;   /* the caller's, as it was given, or NULL */
    void *borrowed; /* a queue around it */
    int busy;       /* work may be under way on `stream` */
    int ready;      /* `axes` are its plan's */
    ty_memory axes; /* as kernels read them, then the active channels' numbers */
    ty_memory partials, scratch, samples, totals; /* grow as they are asked for */
    size_t partials_bytes, scratch_bytes, samples_bytes, totals_bytes, stage_bytes;
    ty_memory table;      /* zero between launches (kernels/finish.h), or none */
    ty_memory raw_slots;  /* which values of bytes each slot is the sum of (kernels/merge.cl) */
    uint32_t raw_longest; /* most values of one slot; 0: they are not its plan's */
    size_t axes_bytes, table_bytes, raw_bytes;
    unsigned char *stage; /* pinned: samples of the host on their way */
    /* Axes and raw_slots as they were uploaded; kept until the queue is closed, for a wait may fail
     * with the copy still pending. */
    unsigned char *images[2];
    unsigned char *small; /* pinned, in place of these once a plan follows another; or none */
    size_t small_used;
    void *outputs[TY_OUTPUTS]; /* of a failed call, on their way by the host: kept likewise */
    /* Of the last launch: a repeated call asks for the same again. */
    ty_geometry geometry;
    uint64_t geometry_n;
    uint64_t *host; /* totals */
    size_t host_bytes;
    int host_pinned;
    struct ty_workspace *next;
} ty_workspace;

/* Those that no call uses now, and those of graphs. */
typedef struct ty_workspaces {
    pthread_mutex_t lock;
    ty_workspace *idle, *recorded;
} ty_workspaces;

/* A workspace for a call on the caller's `stream`, or our own queue if that is NULL; a new one has
 * a queue only. With `recording` it is a new one, that stays in the list. */
tally_status ty_workspaces_take(ty_device *device, ty_workspaces *all, void *stream, int recording,
                                ty_workspace **taken, tally_error *error);
/* Gives it back; `busy`: the call may be under way still. */
void ty_workspaces_give(ty_workspaces *all, ty_workspace *w, int recording, int busy);
/* Leaves them to the device, as they are under way; others, and those of graphs, are waited for and
 * closed. */
void ty_workspaces_close(ty_device *device, ty_workspaces *all);
/* Closes those that the device keeps, which it waits for. */
void ty_workspaces_unpark(ty_device *device);

/* The same of a plan, with the axes. */
tally_status ty_workspace_take(const tally_plan *plan, void *stream, int recording,
                               ty_workspace **taken, tally_error *error);
void ty_workspace_give(const tally_plan *plan, ty_workspace *w, int recording, int busy);
/* After a failure a queue may be in any state: such a workspace is not used again. */
void ty_workspace_close(ty_device *device, ty_workspace *w);

/* 64-bit words of one histogram's totals. */
static inline uint64_t ty_totals_words(const tally_plan *plan)
{
    const uint64_t each =
        1u + (unsigned)ty_plan_sums_whole(plan) + (plan->options.sum_squares != 0);
    return plan->slots * each + (plan->weighted ? TY_SLOT_EXTRA : 0);
}

/* Grow what the name says; they keep it when it is large enough. */
tally_status ty_workspace_partials(ty_device *device, ty_workspace *w, uint64_t bytes,
                                   tally_error *error);
tally_status ty_workspace_scratch(ty_device *device, ty_workspace *w, uint64_t bytes,
                                  tally_error *error);
tally_status ty_workspace_totals(const tally_plan *plan, ty_workspace *w, uint64_t histograms,
                                 tally_error *error);
tally_status ty_workspace_stages(ty_device *device, ty_workspace *w, size_t samples, size_t stage,
                                 tally_error *error);
/* Make what the name says unless it is there. */
tally_status ty_workspace_table(const tally_plan *plan, ty_workspace *w, tally_error *error);
tally_status ty_workspace_raw_slots(const tally_plan *plan, ty_workspace *w, unsigned shift,
                                    tally_error *error);

/* ---- the plan's part (gpu/plan.c) ---- */

/* One way to count: a method and, when a call first needs it, its plan with its compiled kernels.
 */
typedef struct ty_route {
    const ty_method *method; /* NULL: none */
    tally_plan *plan;        /* NULL: not made yet */
    int missing;             /* its kernel cannot be had here */
} ty_route;

/* Routes of a plan besides its own method. If `auto` made it, the fastest that reads any layout, a
 * mask, long rows; and of every plan what adds to the output itself. */
enum { TY_ROUTE_ANY, TY_ROUTE_MASKED, TY_ROUTE_ROWS, TY_ROUTE_IN_PLACE, TY_ROUTES };

/* plan->state */
typedef struct ty_gpu_plan {
    ty_program *program;
    ty_workspaces spaces; /* their lock is the routes' too */
    ty_route routes[TY_ROUTES];
    struct ty_statistics_plan *statistics; /* gpu/statistics.h; when a call first needs it */
} ty_gpu_plan;

/* The cheapest method for the plan whose kernel serves a route, or NULL. */
const ty_method *ty_route_method(tally_plan *plan, int route);

/* The plan that counts the job: this one, or that of one of its routes. */
tally_status ty_route_of(const ty_job *job, const tally_plan **plan, tally_error *error);

#endif
