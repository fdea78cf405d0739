/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in parts, in host memory and on several devices, count as they do in one piece, into host
 * memory or a device's: random calls cut anywhere, to the bit; and what is refused.
 *
 *     test_parts [DEVICES [SEED [CASES]]]      else TALLY_DEVICES says which
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "check.h"
#include "drivers.h"
#include "gpu/device.h"
#include "gpu/gather.h"
#include "plan/several.h"

enum { MOST_PARTS = 5, MOST_VIEWS = TALLY_MAX_DIMENSIONS + 2 };

static tally_context *context;

/* Parts of a case, with copies of what lies on a device. */
typedef struct cut {
    int there;                /* all of it, and the output on part 0's */
    void *queues[MOST_PARTS]; /* whose streams the parts are given */
    tally_part parts[MOST_PARTS];
    tally_view views[MOST_PARTS][MOST_VIEWS];
    uint32_t count;
    struct {
        ty_device *device;
        ty_memory memory;
    } copies[MOST_PARTS * MOST_VIEWS];
    unsigned copied;
} cut;

static tally_context *context_of(unsigned i)
{
    return context->several ? ty_several_context(context->several, i) : context;
}

/* The packed samples of `view` in memory of the device, instead. */
static void send(cut *c, tally_context *where, tally_view *view)
{
    const size_t size = tally_dtype_bytes(view->dtype);
    const size_t n = (size_t)(view->batches * view->rows * view->columns * view->channels);
    unsigned char *packed = malloc(n * size + 1), *to = packed;
    ty_device *device = where->state;
    ty_memory memory = 0;
    void *queue = NULL;
    tally_error error = {""};
    for (uint64_t b = 0; b < view->batches; b++)
        for (uint64_t r = 0; r < view->rows; r++)
            for (uint64_t x = 0; x < view->columns; x++)
                for (uint64_t ch = 0; ch < view->channels; ch++, to += size)
                    memcpy(to, random_case_at(view, b, r, x, ch), size);
    if (device->ops->queue_open(device, NULL, &queue, &error) ||
        device->ops->alloc(device, n * size + 8, &memory, &error) ||
        (n && device->ops->upload(device, queue, memory, 0, packed, n * size, &error)) ||
        device->ops->wait(device, queue, &error)) {
        printf("copy: %s\n", error.message);
        exit(1);
    }
    device->ops->queue_close(device, queue);
    free(packed);
    c->copies[c->copied].device = device;
    c->copies[c->copied++].memory = memory;
    view->data = (void *)(uintptr_t)memory;
    view->device = where->device;
    view->batch_stride_bytes = view->row_stride_bytes = 0;
    view->column_stride_bytes = view->channel_stride_bytes = 0;
}

static void release(cut *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        ty_device *device = context_of(c->parts[i].device)->state;
        if (c->queues[i])
            device->ops->queue_close(device, c->queues[i]);
    }
    while (c->copied--)
        c->copies[c->copied].device->ops->release(c->copies[c->copied].device,
                                                  c->copies[c->copied].memory);
}

/* [begin, begin + n) of a view's rows or columns; extents of 1 are repeated anyway. */
static tally_view slice(const tally_view *view, int rows, uint64_t begin, uint64_t n)
{
    tally_view v = *view;
    uint64_t *extent = rows ? &v.rows : &v.columns;
    if (!v.data || !v.batches || !v.rows || !v.columns || !v.channels)
        return v;
    /* The strides of the whole, where they are left out. */
    const unsigned char *at = random_case_at(view, 0, 0, 0, 0);
    v.channel_stride_bytes = random_case_at(view, 0, 0, 0, 1) - at;
    v.column_stride_bytes = random_case_at(view, 0, 0, 1, 0) - at;
    v.row_stride_bytes = random_case_at(view, 0, 1, 0, 0) - at;
    v.batch_stride_bytes = random_case_at(view, 1, 0, 0, 0) - at;
    if (*extent == 1)
        return v;
    v.data = random_case_at(view, 0, rows ? begin : 0, rows ? 0 : begin, 0);
    *extent = n;
    return v;
}

/* Devices with memory of their own; from `first` on they are the last ones. */
static uint32_t count_memories(unsigned devices, uint32_t *first)
{
    uint32_t count = 0;
    for (*first = 0; *first < devices && context_of(*first)->device == TALLY_DEVICE_CPU;)
        ++*first;
    while (*first + count < devices && context_of(*first + count)->device != TALLY_DEVICE_CPU)
        count++;
    return count;
}

/* A device for a part, of those with memory of their own if it has to be there. */
static uint32_t pick_device(unsigned devices, int there, rng *r)
{
    for (;;) {
        const uint32_t device = (uint32_t)rng_below(r, devices);
        if (!there || context_of(device)->device != TALLY_DEVICE_CPU)
            return device;
    }
}

static void give_stream(cut *c, uint32_t part)
{
    ty_device *device = context_of(c->parts[part].device)->state;
    tally_error error;
    if (device->ops->queue_open(device, NULL, &c->queues[part], &error)) {
        printf("%s\n", error.message);
        exit(1);
    }
    c->parts[part].stream = device->ops->native(c->queues[part]);
}

static void cut_case(cut *c, const random_case *from, unsigned devices, int there, rng *r)
{
    const int rows = from->views[0].rows > from->views[0].columns;
    const uint64_t extent = rows ? from->views[0].rows : from->views[0].columns;
    uint64_t begin = 0;
    uint32_t first;
    const uint32_t memories = count_memories(devices, &first);
    const int each = memories > 1 && rng_below(r, 2); /* one part on each */
    const uint32_t most = each && memories < MOST_PARTS ? memories : MOST_PARTS;
    memset(c, 0, sizeof *c);
    c->there = there;
    c->count = extent > 1 ? 1 + (uint32_t)rng_below(r, most) : 1;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint64_t left = extent - begin;
        const uint64_t n = i + 1 == c->count ? left : rng_below(r, left + 1);
        tally_part *part = &c->parts[i];
        tally_view *views = c->views[i];
        *part = (tally_part)TALLY_PART_INIT;
        part->device = each ? first + i : pick_device(devices, there, r);
        part->views = views;
        for (uint32_t d = 0; d < from->plan.dimensions; d++)
            views[d] = slice(&from->views[d], rows, begin, n);
        views[MOST_VIEWS - 2] = slice(&from->mask, rows, begin, n);
        views[MOST_VIEWS - 1] = slice(&from->weights, rows, begin, n);
        part->mask = from->has_mask ? &views[MOST_VIEWS - 2] : NULL;
        part->weights = from->has_weights ? &views[MOST_VIEWS - 1] : NULL;
        begin += n;
        tally_context *where = context_of(part->device);
        if (where->device == TALLY_DEVICE_CPU || (!there && !each && !rng_below(r, 3)))
            continue;
        for (uint32_t d = 0; d < from->plan.dimensions; d++)
            send(c, where, &views[d]);
        for (int v = MOST_VIEWS - 2; v < MOST_VIEWS; v++)
            if (v == MOST_VIEWS - 2 ? from->has_mask : from->has_weights)
                send(c, where, &views[v]);
        if (there && !rng_below(r, 2))
            give_stream(c, i);
    }
}

static void run_parts(answer *a, const random_case *c, const cut *parts, const tally_plan *plan,
                      int accumulate)
{
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = a->counts;
    output.flows = a->flows;
    output.sum_squares = c->plan.sum_squares ? a->squares : NULL;
    output.flow_sums = c->plan.weight_dtype ? a->flow_sums : NULL;
    output.accumulate = accumulate;
    a->status = tally_execute_parts(plan, parts->parts, parts->count, NULL, &output, &a->error);
}

/* The same with counts and flows in the memory of part 0's device. */
static void run_there(answer *a, const cut *parts, const tally_plan *plan, int accumulate)
{
    ty_device *device = context_of(parts->parts[0].device)->state;
    const ty_device_ops *ops = device->ops;
    const size_t sizes[2] = {a->cells * a->cell_bytes, a->histograms * sizeof *a->flows};
    void *const at[2] = {a->counts, a->flows};
    tally_output output = TALLY_OUTPUT_INIT;
    ty_memory memory[2] = {0, 0};
    void *queue = NULL;
    tally_error error = {""};
    tally_status status = ops->queue_open(device, NULL, &queue, &error);
    for (int i = 0; i < 2 && !status; i++) {
        status = ops->alloc(device, sizes[i] + 8, &memory[i], &error);
        if (!status)
            status = ops->upload(device, queue, memory[i], 0, at[i], sizes[i], &error);
    }
    if (!status)
        status = ops->wait(device, queue, &error);
    output.counts = (void *)(uintptr_t)memory[0];
    output.flows = (void *)(uintptr_t)memory[1];
    output.accumulate = accumulate;
    output.on_device = 1;
    a->status = tally_execute_parts(plan, parts->parts, parts->count, NULL, &output, &a->error);
    if (!status && parts->queues[0])
        status = ops->wait(device, parts->queues[0], &error);
    for (int i = 0; i < 2 && !status; i++)
        status = ops->download(device, queue, at[i], memory[i], 0, sizes[i], &error);
    if (!status)
        status = ops->wait(device, queue, &error);
    CHECK_SAY(!status, "%s", error.message);
    ops->release(device, memory[0]);
    ops->release(device, memory[1]);
    ops->queue_close(device, queue);
    memset(a->flow_sums, 0, ANSWER_FLOW_WORDS * a->histograms * sizeof *a->flow_sums);
}

static uint64_t compared, compared_there;

static void check_case(uint64_t seed, rng *r, unsigned devices, int there)
{
    random_case c;
    tally_plan *plan = NULL;
    tally_error error = {""};
    if (random_case_make(&c, seed, CASE_SMALL, NULL)) {
        CHECK_SAY(0, "out of memory");
        return;
    }
    c.plan.method = NULL;
    c.plan.settings_count = 0;
    if (answer_allow_splits(&c) && !tally_plan_create(context, &c.plan, &plan, &error)) {
        answer got = answer_make(&c, tally_plan_bins(plan), (int)(seed & 1));
        answer want = answer_make(&c, tally_plan_bins(plan), (int)(seed & 1));
        cut parts;
        cut_case(&parts, &c, devices, there, r);
        if (there)
            run_there(&got, &parts, plan, (int)(seed & 1));
        else
            run_parts(&got, &c, &parts, plan, (int)(seed & 1));
        answer_run(&want, &c, plan, (int)(seed & 1), 1);
        if (there)
            memset(want.flow_sums, 0, ANSWER_FLOW_WORDS * want.histograms * sizeof *want.flow_sums);
        const int refused = there && strstr(got.error.message, "added up in host memory");
        CHECK_SAY(refused || answer_same(&got, &want),
                  "seed %llu: %u parts%s: %s: %s %s, reference %s %s", (unsigned long long)seed,
                  parts.count, there ? " there" : "", c.text, tally_status_string(got.status),
                  got.error.message, tally_status_string(want.status), want.error.message);
        compared_there += there && !refused;
        compared++;
        release(&parts);
        answer_free(&got);
        answer_free(&want);
    }
    tally_plan_destroy(plan);
    random_case_free(&c);
}

static int cancel(void *user, uint64_t done, uint64_t total)
{
    CHECK(done <= total);
    ++*(int *)user;
    return 1;
}

static void check_refusals(void)
{
    static const float data[4] = {0.1f, 0.2f, 0.3f, 0.4f};
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_execute_options execute = TALLY_EXECUTE_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    tally_view views[2] = {tally_view_1d(data, TALLY_F32, 4), tally_view_1d(data, TALLY_F32, 2)};
    tally_part parts[2] = {TALLY_PART_INIT, TALLY_PART_INIT};
    uint64_t counts[2] = {7, 7};
    int asked = 0;
    options.axes[0] = tally_axis_even(2, 0, 1);
    options.dtypes[0] = TALLY_F32;
    output.counts = counts;
    parts[0].views = &views[0];
    parts[1].views = &views[1];
    if (!CHECK_SAY(!tally_plan_create(context, &options, &plan, &error), "%s", error.message))
        return;
#define REFUSED(words)                                                                             \
    do {                                                                                           \
        error.message[0] = '\0';                                                                   \
        CHECK(tally_execute_parts(plan, parts, 2, &execute, &output, &error));                     \
        CHECK_SAY(strstr(error.message, words) != NULL, "%s", error.message);                      \
        CHECK(counts[0] == 7 && counts[1] == 7);                                                   \
    } while (0)
    views[1].batches = 0;
    REFUSED("part 1: it has 0 batches, part 0 has 1");
    views[1].batches = 1;
    views[1].dtype = TALLY_F64;
    REFUSED("part 1: view 0: its dtype is f64");
    views[1].dtype = TALLY_F32;
    parts[1].device = 99;
    REFUSED("part 1: device is 99");
    parts[1].device = 0;
    parts[1].struct_size = 3;
    REFUSED("part 1: struct_size is 3");
    parts[1].struct_size = sizeof parts[1];
    execute.mask = &views[0];
    REFUSED("stand in the parts");
    execute.mask = NULL;
    output.on_device = 1;
    REFUSED(context_of(0)->device == TALLY_DEVICE_CPU ? "device memory on the cpu"
                                                      : "added up in host memory");
    output.on_device = 0;
    execute.progress = cancel;
    execute.user = &asked;
    if (tally_execute_parts(plan, parts, 2, &execute, &output, &error))
        CHECK(counts[0] == 7 && asked == 1);
    else
        CHECK(!asked); /* another thread took the device's parts */
    execute.progress = NULL;
    CHECK(!tally_execute_parts(plan, parts, 2, &execute, &output, &error));
    CHECK(counts[0] == 6 && counts[1] == 0);
    CHECK(tally_execute_parts(plan, parts, 0, NULL, &output, &error) == TALLY_ERROR_ARGUMENT);
    tally_plan_destroy(plan);
}

static int open_devices(const char *list, uint32_t threads, tally_error *error)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.devices = list;
    options.threads = threads;
    context = NULL;
    return tally_context_create(&options, &context, error);
}

/* All cases by one context. */
static void check_context(uint64_t seed, uint64_t cases)
{
    const unsigned devices = context->several ? ty_several_count(context->several) : 1;
    rng r = {.state = seed};
    compared = compared_there = 0;
    check_refusals();
    unsigned have_memory = 0;
    for (unsigned i = 0; i < devices; i++)
        have_memory += context_of(i)->device != TALLY_DEVICE_CPU;
    for (uint64_t i = 0; i < cases; i++) {
        ty_gpu_adds_least = i % 4 ? 1 : 1 << 14;
        check_case(seed + i, &r, devices, have_memory && i % 2);
    }
    CHECK(!have_memory || compared_there * 8 > cases);
    CHECK_SAY(compared * 2 > cases, "%llu cases compared", (unsigned long long)compared);
    tally_context_destroy(context);
    printf("%u devices, %llu cases, %llu there\n", devices, (unsigned long long)compared,
           (unsigned long long)compared_there);
}

int main(int argc, char **argv)
{
    const char *named = argc > 1 ? argv[1] : getenv("TALLY_DEVICES");
    const char *devices = named ? named : "cpu,opencl:*";
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261123;
    const uint64_t cases = argc > 3 ? strtoull(argv[3], NULL, 0) : 12;
    setenv("POCL_DEVICES", "pthread pthread pthread", 0); /* as if it were three */
    tally_error error = {""};
    printf("test_parts: %s, seed %llu\n", devices, (unsigned long long)seed);
    if (!open_devices(devices, 2, &error))
        check_context(seed, cases);
    else if (!named)
        printf("%s; the processor alone\n", error.message);
    else
        CHECK_SAY(0, "%s", error.message);
    if (CHECK(!open_devices(NULL, 2, &error)))
        check_context(seed, cases);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
