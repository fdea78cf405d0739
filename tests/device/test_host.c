/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the host on their way to a device (src/gpu/upload.c), long enough to go round the
 * ring of pinned memory: packed, with gaps, masked, weighted, in two dimensions, by several threads
 * and callers, from memory that is pinned already, broken off. A sample's value tells its place, so
 * that every bin has the same known count: a piece that is lost, doubled or sent to a wrong place
 * shows.
 *
 *     test_host [opencl|cuda [SEED]]
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

#include "core/error.h"
#include "gpu/device.h"
#include "check.h"
#include "drivers.h"
#include "plan/plan.h"

enum {
    run_length = 512,      /* neighbours of one value */
    most = (41 << 20) / 2, /* 16-bit samples: more than the ring holds */
    some = (5 << 20) / 2 + 1,
    most_bins = most / run_length + 1
};

typedef enum { STAGED, STAGED_PAST_CACHES, DIRECT } way;

static const char *const way_names[] = {"staged", "staged past the caches", "direct"};

static int cuda;
static uint64_t state;
static atomic_ulong uploads;
static atomic_long broken_upload = -1, broken_wait = -1; /* so many go well before one fails */
static uint16_t *room;
static float *reals, *heavy;
static unsigned char *mask;

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* ---- a device that takes one of the ways ---- */

static ty_device_ops ops;
static const ty_device_ops *real;

static int pinned_no(ty_device *device, const void *block, size_t bytes)
{
    (void)device;
    (void)block;
    (void)bytes;
    return 0;
}

static int pinned_yes(ty_device *device, const void *block, size_t bytes)
{
    return !pinned_no(device, block, bytes);
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    uploads++;
    if (!broken_upload--)
        return ty_error(error, TALLY_ERROR_DEVICE, "an upload failed");
    return real->upload(device, queue, to, offset, from, bytes, error);
}

static tally_status event_wait(ty_device *device, void *event, tally_error *error)
{
    if (!broken_wait--)
        return ty_error(error, TALLY_ERROR_DEVICE, "a wait failed");
    return real->event_wait(device, event, error);
}

static tally_context *open_context(unsigned threads, way way)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    o.device = cuda ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    o.threads = threads;
    if (tally_context_create(&o, &context, NULL))
        return NULL;
    ty_device *device = context->state;
    real = device->ops;
    ops = *real;
    ops.upload = upload;
    ops.event_wait = event_wait;
    ops.pinned = way == STAGED ? NULL : way == DIRECT ? pinned_yes : pinned_no;
    device->ops = &ops;
    return context;
}

static void close_context(tally_context *context)
{
    ((ty_device *)context->state)->ops = real;
    tally_context_destroy(context);
}

/* ---- plans, counts ---- */

static tally_plan *make_plan(tally_context *context, tally_dtype dtype, uint64_t bins,
                             const char *method, int weighted, tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    o.axes[0] = tally_axis_even(bins, 0, (double)bins);
    o.dtypes[0] = dtype;
    o.method = method;
    o.weight_dtype = weighted ? TALLY_F32 : (tally_dtype)0;
    return tally_plan_create(context, &o, &plan, error) ? NULL : plan;
}

/* Samples i and i + 1 differ by `each` a run: bins of n samples, of which the last has the rest. */
static int is_even(const uint64_t *counts, uint64_t n, uint64_t each)
{
    uint64_t wrong = 0;
    for (uint64_t b = 0; b < most_bins; b++) {
        const uint64_t first = b * run_length, end = first + run_length;
        const uint64_t want = end <= n ? each : first < n ? (n - first) * each / run_length : 0;
        wrong += counts[b] != want;
    }
    return !wrong;
}

static int count(const tally_plan *plan, const tally_view *view, const tally_execute_options *how,
                 uint64_t n, uint64_t each, tally_error *error)
{
    uint64_t *counts = malloc(most_bins * sizeof *counts);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    int ok = counts && tally_execute(plan, view, how, &output, error) == TALLY_OK;
    if (ok && !is_even(counts, n, each)) {
        snprintf(error->message, sizeof error->message, "%" PRIu64 " samples: counts differ", n);
        ok = 0;
    }
    free(counts);
    return ok;
}

static void test_packed(tally_context *context, way way)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    const uint64_t piece = 1 << 17, batch = 128 * piece;
    const uint64_t lengths[] = {most, 1, 63, 65, piece - 1, piece + 1, 3 * piece, 1 + below(some)};
    tally_view first = tally_view_1d(room, TALLY_U16, 1);
    CHECK_SAY(plan && count(plan, &first, NULL, 1, run_length, &error), "a plan: %s",
              error.message);
    for (size_t i = 0; plan && i < sizeof lengths / sizeof *lengths; i++) {
        tally_view view = tally_view_1d(room, TALLY_U16, lengths[i]);
        uploads = 0;
        CHECK_SAY(count(plan, &view, NULL, lengths[i], run_length, &error), "%s: %s",
                  way_names[way], error.message);
        const uint64_t pieces = (lengths[i] + piece - 1) / piece;
        CHECK_SAY(way == DIRECT ? uploads == (lengths[i] + batch - 1) / batch
                                : uploads && uploads <= pieces,
                  "pieces: %s", error.message);
    }
    tally_plan_destroy(plan);
}

/* Every second sample, and rows with gaps. */
static void test_gaps(tally_context *context)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    tally_view columns = tally_view_1d(room, TALLY_U16, some), rows = columns;
    columns.column_stride_bytes = 4;
    CHECK_SAY(plan && count(plan, &columns, NULL, 2 * (uint64_t)some, run_length / 2, &error),
              "every second: %s", error.message);
    rows.columns = run_length * 3;
    rows.rows = some / rows.columns;
    rows.row_stride_bytes = run_length * 4 * 2; /* of 4 runs 3 */
    uint64_t *counts = calloc(most_bins, sizeof *counts), wrong = 0;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    CHECK_SAY(plan && !tally_execute(plan, &rows, NULL, &output, &error), "rows: %s",
              error.message);
    for (uint64_t b = 0; b < most_bins; b++)
        wrong += counts[b] != (b % 4 < 3 && b / 4 < rows.rows ? run_length : 0);
    CHECK_SAY(!wrong, "rows with gaps: %s", error.message);
    free(counts);
    tally_plan_destroy(plan);
}

/* Pixels of samples side by side, of which some channels are counted, in rows that are so many
 * samples apart (they overlap where that is less than a row), in so many pictures. */
static void test_pixels(tally_context *context, uint64_t channels, uint64_t counted,
                        uint64_t columns, uint64_t rows, uint64_t apart, uint64_t pictures)
{
    enum { shift = 1001 }; /* from a picture to the next */
    tally_error error = {""};
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .channels = channels};
    tally_view view = tally_view_1d(room, TALLY_U16, columns);
    tally_output output = TALLY_OUTPUT_INIT;
    tally_plan *plan = NULL;
    o.axes[0] = tally_axis_even(most_bins, 0, most_bins);
    o.dtypes[0] = TALLY_U16;
    o.channel_mask = counted;
    view.batches = pictures;
    view.rows = rows;
    view.channels = channels;
    view.column_stride_bytes = (int64_t)channels * 2;
    view.row_stride_bytes = (int64_t)apart * 2;
    view.batch_stride_bytes = shift * 2;
    const size_t all = pictures * channels * most_bins; /* at most */
    uint64_t *counts = calloc(all, sizeof *counts), *want = calloc(all, sizeof *want), *to = want;
    output.counts = counts;
    for (uint64_t p = 0; p < pictures; p++) {
        for (uint64_t c = 0; c < channels; c++) {
            for (uint64_t r = 0; r < rows && counted >> c & 1; r++)
                for (uint64_t x = 0; x < columns; x++)
                    to[room[p * shift + r * apart + x * channels + c]]++;
            to += counted >> c & 1 ? most_bins : 0;
        }
    }
    CHECK_SAY(pictures * shift + rows * apart + columns * channels < most &&
                  !tally_plan_create(context, &o, &plan, &error) &&
                  !tally_execute(plan, &view, NULL, &output, &error) &&
                  !memcmp(counts, want, all * sizeof *counts),
              "%" PRIu64 " x %" PRIu64 " pixels, channels %" PRIx64 " of %" PRIu64 ": %s", columns,
              rows, counted, channels, error.message);
    tally_plan_destroy(plan);
    free(counts);
    free(want);
}

static void test_channels(tally_context *context, int is_long)
{
    test_pixels(context, 3, 7, 1021, 1 + below(900), 3 * 1021 + 1 + below(7), 2);
    test_pixels(context, 4, 10, 1 + below(63), 1 + below(63), 4 * 63 + 1, 3);
    test_pixels(context, 2, 3, some / 2, 1, 0, 1);
    if (is_long) /* more than the ring holds */
        test_pixels(context, 3, 5, 3001, 5701, 3001 + 5, 1);
}

/* Left out by a mask on the host, or by a kernel that is sent the mask. */
static void test_masked(tally_context *context)
{
    static const char *const methods[] = {"atomic-global", "views"};
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view keep = tally_view_1d(mask, TALLY_U8, some);
    how.mask = &keep;
    for (int m = 0; m < 2; m++) {
        tally_error error = {""};
        tally_plan *plan = make_plan(context, TALLY_U16, most_bins, methods[m], 0, &error);
        tally_view view = tally_view_1d(room, TALLY_U16, some);
        uint64_t n = some - some % run_length;
        view.columns = keep.columns = n;
        CHECK_SAY(plan && count(plan, &view, &how, n, run_length / 4, &error), "%s: %s", methods[m],
                  error.message);
        tally_plan_destroy(plan);
    }
}

/* Two columns a piece, and 2 + 8 bytes an element. */
static void test_weighted(tally_context *context)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_F32, most_bins, NULL, 1, &error);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = tally_view_1d(reals, TALLY_F32, some);
    tally_view weights = tally_view_1d(heavy, TALLY_F32, some);
    tally_output output = TALLY_OUTPUT_INIT;
    double *sums = calloc(most_bins, sizeof *sums);
    uint64_t wrong = 0, whole = some / run_length;
    how.weights = &weights;
    output.counts = sums;
    CHECK_SAY(plan && !tally_execute(plan, &view, &how, &output, &error), "weights: %s",
              error.message);
    for (uint64_t b = 0; b < whole; b++)
        wrong += sums[b] != 1.5 * run_length;
    CHECK_SAY(!wrong, "sums: %s", error.message);
    free(sums);
    tally_plan_destroy(plan);
}

/* ---- several callers ---- */

static void *call(void *arg)
{
    const tally_plan *plan = arg;
    tally_error error = {""};
    tally_view view = tally_view_1d(room, TALLY_U16, some);
    int ok = 1;
    for (int i = 0; i < 3; i++)
        ok &= count(plan, &view, NULL, some, run_length, &error);
    return ok ? NULL : arg;
}

static void test_callers(tally_context *context)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    pthread_t ids[3];
    int ok = plan != NULL;
    for (int i = 0; i < 3 && ok; i++)
        ok &= pthread_create(&ids[i], NULL, call, plan) == 0;
    for (int i = 0; i < 3 && ok; i++) {
        void *result;
        ok &= pthread_join(ids[i], &result) == 0 && !result;
    }
    CHECK_SAY(ok, "three callers: %s", error.message);
    tally_plan_destroy(plan);
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    *(uint64_t *)user = done;
    return 1;
}

static void test_cancelled(tally_context *context)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = tally_view_1d(room, TALLY_U16, most);
    uint64_t *counts = malloc(most_bins * sizeof *counts), done = 0;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    how.progress = stop;
    how.user = &done;
    CHECK_SAY(plan && tally_execute(plan, &view, &how, &output, &error) == TALLY_ERROR_CANCELLED &&
                  done && done < most,
              "broken off: %s", error.message);
    CHECK_SAY(plan && count(plan, &view, NULL, most, run_length, &error), "after that: %s",
              error.message);
    free(counts);
    tally_plan_destroy(plan);
}

/* A driver that fails on the way: it is told, the threads go home, and the next call works. */
static void test_broken(tally_context *context, way way)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    tally_view view = tally_view_1d(room, TALLY_U16, most);
    uint64_t *counts = malloc(most_bins * sizeof *counts);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    for (int k = 0; k < (way == DIRECT ? 2 : 4); k++) {
        broken_upload = k < 2 ? k : -1;
        broken_wait = k < 2 ? -1 : k - 2;
        memset(counts, 0xa5, most_bins * sizeof *counts);
        CHECK_SAY(plan && tally_execute(plan, &view, NULL, &output, &error) == TALLY_ERROR_DEVICE &&
                      strstr(error.message, "failed"),
                  "told: %s", error.message);
        CHECK_SAY(counts[0] == UINT64_C(0xa5a5a5a5a5a5a5a5), "an output as it was: %s",
                  error.message);
        broken_upload = broken_wait = -1;
        const uint64_t next = k % 2 ? most : some; /* once round the ring is enough for each kind */
        view.columns = next;
        CHECK_SAY(plan && count(plan, &view, NULL, next, run_length, &error), "next: %s",
                  error.message);
        view.columns = most;
    }
    free(counts);
    tally_plan_destroy(plan);
}

/* ---- memory that CUDA has pinned ---- */

static void test_pinned(void)
{
    tally_error error = {""};
    tally_context *context = open_context(1, STAGED);
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *block = NULL;
    int (*take)(void *, size_t, unsigned) = NULL, (*give)(void *) = NULL;
    *(void **)&take = dlsym(library, "cuMemHostRegister_v2");
    *(void **)&give = dlsym(library, "cuMemHostUnregister");
    ops.pinned = real->pinned;
    tally_plan *plan = make_plan(context, TALLY_U16, most_bins, NULL, 0, &error);
    ty_device *device = context->state;
    tally_view view = tally_view_1d(room, TALLY_U16, most),
               first = tally_view_1d(room, TALLY_U16, 1);
    CHECK_SAY(plan && count(plan, &first, NULL, 1, run_length, &error), "a plan: %s",
              error.message);
    block = room;
    for (int is = 0; is < 2; is++) {
        real->enter(device);
        CHECK_SAY(!is || !take(block, most * 2, 0), "registered: %s", error.message);
        uploads = 0;
        CHECK_SAY(plan && count(plan, &view, NULL, most, run_length, &error), "pinned: %s",
                  error.message);
        CHECK_SAY(is ? uploads == 2 : uploads > 2, "sent from where it lies: %s", error.message);
        /* A block of which only the begin is pinned. */
        CHECK_SAY(real->pinned(device, room, most * 2) == is &&
                      !real->pinned(device, room, (size_t)most * 2 + 64),
                  "how far: %s", error.message);
        CHECK_SAY(!is || !give(block), "unregistered: %s", error.message);
        real->leave(device);
    }
    tally_plan_destroy(plan);
    close_context(context);
}

/* ---- */

static int fill(void)
{
    room = aligned_alloc(4096, ((size_t)most * 2 + 8192) & ~(size_t)4095);
    reals = malloc(some * sizeof *reals);
    heavy = malloc(some * sizeof *heavy);
    mask = malloc(some);
    if (!room || !reals || !heavy || !mask)
        return 0;
    for (size_t i = 0; i < most; i++)
        room[i] = (uint16_t)(i / run_length);
    for (size_t i = 0; i < some; i++) {
        reals[i] = (float)(i / run_length);
        heavy[i] = i % 2 ? 1 : 2;
        mask[i] = i % 4 == 3 ? 7 : 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const unsigned threads[] = {1, 3, 5, 2};
    static const way ways[] = {STAGED, STAGED, STAGED_PAST_CACHES, DIRECT};
    cuda = argc > 1 && !strcmp(argv[1], "cuda");
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261121;
    if (!fill())
        return 1;
    for (int i = 0; i < 4; i++) {
        tally_context *context = open_context(threads[i], ways[i]);
        if (!context) {
            printf("skipped: no device\n");
            return 77;
        }
        test_packed(context, ways[i]);
        test_gaps(context);
        test_channels(context, i == 1);
        test_masked(context);
        test_weighted(context);
        test_callers(context);
        test_cancelled(context);
        test_broken(context, ways[i]);
        close_context(context);
    }
    if (cuda)
        test_pinned();
    printf("%s, seed %s: %d checks, %d failed\n", cuda ? "cuda" : "opencl",
           argc > 2 ? argv[2] : "20261121", checks, failures);
    free(room);
    free(reals);
    free(heavy);
    free(mask);
    return failures != 0;
}
