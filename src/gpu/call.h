/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on its way through a graphics processor: what a method's `enqueue` is given, and the
 * calls that it is written with.
 *
 * gpu/run.c takes a call apart into calls of `enqueue`: so many histograms, and of each so many
 * elements that one launch takes. The samples are on the device by then, where the caller had them
 * or where gpu/upload.c brought them.
 */
#ifndef TY_CALL_H
#define TY_CALL_H

#include "gpu/method.h"
#include "gpu/workspace.h"
#include "gpu/kernels/output.h"

/* Bytes from the begin of `memory` to the sample at a batch, row and column: at + batch·b + … */
typedef struct ty_strided {
    ty_memory memory;
    uint64_t at;
    int64_t batch, row, column;
} ty_strided;

/* Where the counts of histograms [h, h + count) go: the last arguments of kernels that store
 * (kernels/output.h). */
typedef struct ty_store {
    ty_memory counts, flows;
    uint64_t first, histogram;
    uint32_t bins, how;
    /* Sums of weights: where integers' upper words begin (0: only the lower are kept); the
     * squares', where they begin, where the flows do and how many there are a histogram
     * (kernels/weighted.cl). */
    ty_memory squares;
    uint64_t high_first, square_first, flow_first;
    uint32_t flow_count;
    int fresh; /* nothing has been stored there yet */
} ty_store;

typedef struct ty_call {
    ty_job *job;
    const tally_plan *plan; /* of the route that was taken: its method, its axes */
    ty_device *device;
    void *program, *queue;
    ty_workspace *w;
    int recording;             /* the queue records a graph */
    int capture_mode, entered; /* what is undone when the call ends */

    /* What is counted: elements [begin, begin + n) of histograms [h, h + count), which are batches
     * with their active channels innermost. */
    uint64_t h, count, begin, n;
    ty_strided samples[TALLY_MAX_DIMENSIONS], mask, weights;
    int64_t channel, weight_channel; /* bytes from a channel to the next */
    uint64_t columns;                /* elements of a row */
    int masked;

    ty_geometry geometry; /* the method's, for n */
    ty_store store;
    uint64_t done; /* elements × active channels so far, for the caller's progress */
    int added;     /* its totals are part of another call's: they are not fetched */
} ty_call;

/* ---- what methods write `enqueue` with; all work is done in the order of these calls ---- */

/* At least `bytes` of device memory, for partials or for anything else. The workspace keeps it for
 * the next call; it is not cleared. */
tally_status ty_call_partials(ty_call *call, uint64_t bytes, ty_memory *memory, tally_error *error);
tally_status ty_call_scratch(ty_call *call, uint64_t bytes, ty_memory *memory, tally_error *error);

/* A word for each slot of the plan and one more. They are zero before a launch, which leaves them
 * zero. */
tally_status ty_call_table(ty_call *call, ty_memory *memory, tally_error *error);

tally_status ty_call_clear(ty_call *call, ty_memory memory, uint64_t offset, uint64_t bytes,
                           tally_error *error);

/* Launches one of the program's kernels; `kernel` is a string that lives as long as the program. */
tally_status ty_call_launch(ty_call *call, const char *kernel, const ty_launch *launch,
                            tally_error *error);

/* The arguments of a kernel that counts one packed column: TY_COUNT_ARGS of kernels/sample.h. */
enum { TY_COLUMN_COUNT = 7, TY_STORE_COUNT = 6 };
unsigned ty_call_column(const ty_call *call, ty_memory out, uint32_t pass, ty_arg *args);
/* The byte in the samples' memory where the launch's samples begin. */
uint64_t ty_call_offset(const ty_call *call);
/* TY_OUTPUT_ARGS of kernels/output.h, from args[n] on; returns where they end. */
unsigned ty_call_store(const ty_call *call, ty_arg *args, unsigned n);

/* Partial histograms as a launch leaves them. */
typedef struct ty_partials {
    ty_memory memory;
    uint32_t count; /* of each of the call's histograms */
    uint32_t words; /* of each: the plan's slots; or values of bytes, shifted right by raw_shift */
    int raw_shift;  /* below 0: slots */
    uint32_t width; /* targets of a group of the merge kernel, a power of two; 0: chosen */
} ty_partials;

/* Adds the partials up in 64 bits and stores them: kernels/merge.cl. */
tally_status ty_call_merge(ty_call *call, const ty_partials *partials, tally_error *error);

/* What most methods with one kernel `count` over a packed column do: make memory for the partials,
 * clear it if the kernel adds to it by atomics (`cleared`), launch `count`, then merge. */
typedef struct ty_counting {
    uint32_t partials; /* 0: one a group */
    uint32_t words;    /* 0: the plan's slots; else values of bytes, shifted right by raw_shift */
    int raw_shift;
    int cleared;
    uint32_t merge_width; /* ty_partials.width */
} ty_counting;
tally_status ty_call_count(ty_call *call, const ty_counting *counting, tally_error *error);

/* The key of one launch: the setting "key", or if that is 0 one that cannot be known before. */
uint32_t ty_call_key(const ty_call *call);

/* These stand around the launches that add partials up and store them, and take their seconds if
 * the caller asks for them. `status` is that of the launches. */
tally_status ty_call_merge_begin(ty_call *call, void **event, tally_error *error);
tally_status ty_call_merge_end(ty_call *call, void *event, tally_status status, tally_error *error);

/* ---- what a call is made of ---- */

/* run.c: the whole job: what tally_execute calls for a plan on a device. */
tally_status ty_gpu_run(ty_job *job, tally_error *error);
/* The same in two steps, for samples on the device and totals on the host. ty_gpu_start queues all
 * work, and the copy to the host if it `fetches`; it waits for nothing but the rounds before the
 * last where the histograms take several. ty_gpu_finish waits and adds to the job's totals. It is
 * always called after ty_gpu_start: `status` is what that returned, or another failure that ends
 * the call. */
tally_status ty_gpu_start(ty_call *call, ty_job *job, int fetches, tally_error *error);
tally_status ty_gpu_finish(ty_call *call, tally_status status, tally_error *error);

/* Sets n, at most what one launch takes of the elements from `begin` to `end`, and the geometry. */
void ty_call_size(ty_call *call, uint64_t end);
/* Tells the caller's progress function that n more samples are done. */
tally_status ty_call_report(ty_call *call, uint64_t n, tally_error *error);
/* The device's seconds from `event` to here, waiting for them, added to *seconds; closes it. */
tally_status ty_call_seconds(ty_call *call, void *event, double *seconds, tally_error *error);

/* upload.c: samples of the host of the call's histograms, which are channels of one batch, brought
 * over and counted in batches. */
tally_status ty_upload(ty_call *call, tally_error *error);
/* How many histograms, from h on, one such call counts: the channels of a pixel, read once. */
uint64_t ty_upload_together(const ty_call *call);
/* Makes its buffers, pinned memory too, and says how many elements a batch has at most. */
tally_status ty_upload_reserve(ty_call *call, uint64_t *n, tally_error *error);

/* rehearse.c: adds the bytes that such a call on samples of the host takes. */
tally_status ty_gpu_memory(const ty_job *job, uint64_t *host, uint64_t *device, tally_error *error);

/* store.c: bytes of one of an output's counts or sums. */
size_t ty_cell_bytes(const tally_plan *plan);
/* store.c: sets call->store for histograms [h, h + count). */
tally_status ty_store_begin(ty_call *call, tally_error *error);
/* Sets it for the i-th of the histograms alone whose totals are at `all`. */
void ty_store_one(ty_call *call, const ty_store *all, uint64_t i);
/* Zeros where nothing has been stored yet, unless it is added to. */
tally_status ty_store_clear(ty_call *call, tally_error *error);
/* Starts the copy of what was stored to the host, then waits for it and adds it to the job's
 * totals: for an output in host memory. */
tally_status ty_store_fetch(ty_call *call, tally_error *error);
tally_status ty_store_end(ty_call *call, tally_error *error);
/* Whether `count` of so many bytes are at a caller's address in device memory, aligned. */
tally_status ty_store_check_memory(const ty_call *call, const void *memory, uint64_t count,
                                   size_t size, const char *what, tally_error *error);
/* Checks a job's output in device memory: alignment, size, and what cannot be recorded. */
tally_status ty_store_check(ty_call *call, tally_error *error);
/* Whether an output in device memory is made on the host: where the counts decide if there is one
 * at all (a policy that fails, a narrow counter that is added to), and for samples of the host. */
int ty_store_by_host(const ty_job *job);
/* Such a call, counted into host memory. Waits for the device. */
tally_status ty_store_through_host(ty_call *call, tally_error *error);

/* views.c: whether a kernel that reads so (TY_READS_…) reads the job's samples on the device. */
int ty_reads_job(int reads, const ty_job *job, const ty_device *device);

#endif
