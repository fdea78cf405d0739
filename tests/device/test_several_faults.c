/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight devices of a driver that counts nothing (fake/): one reads the others' counts where it has
 * access, and they go by the host where it has none, on the parts' streams and in a graph, without
 * waiting; and a device that fails in the middle of a call is named, the output is as it was, the
 * next call counts again, and nothing is left.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gpu/device.h"
#include "plan/several.h"

enum { DEVICES = 8, SAMPLES = 400000, BINS = 64, MANY_BINS = 1 << 15 };

static uint64_t bins = BINS, counts[MANY_BINS];

static struct {
    void (*begin)(void);
    long (*calls)(const char *name);
    const char *(*failed)(void);
    long (*live)(char *text, size_t size);
    void *(*stream_of)(int device);
    void (*stream_close)(void *stream);
} fake;

static float data[SAMPLES];

static void open_fake(void)
{
    void *handle = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    if (!handle) {
        printf("%s\n", dlerror());
        exit(1);
    }
    *(void **)&fake.begin = dlsym(handle, "fake_begin");
    *(void **)&fake.calls = dlsym(handle, "fake_calls");
    *(void **)&fake.failed = dlsym(handle, "fake_failed");
    *(void **)&fake.live = dlsym(handle, "fake_live");
    *(void **)&fake.stream_of = dlsym(handle, "fake_stream_of");
    *(void **)&fake.stream_close = dlsym(handle, "fake_stream_close");
}

static void set(const char *key, long value)
{
    char variable[64], text[32];
    snprintf(variable, sizeof variable, "FAKE_CUDA_%s", key);
    snprintf(text, sizeof text, "%ld", value);
    setenv(variable, text, 1);
}

/* A context of several devices, a plan, and a part of the samples on each. */
typedef struct scene {
    tally_context *context;
    tally_plan *plan;
    tally_view views[DEVICES];
    tally_part parts[DEVICES];
    ty_memory samples[DEVICES], counts, flows;
} scene;

static ty_device *device_of(const scene *s, unsigned i)
{
    return ty_several_context(s->context->several, i)->state;
}

static void open_scene(scene *s, const char *devices, int parts)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    tally_error error = {""};
    memset(s, 0, sizeof *s);
    where.devices = devices;
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = TALLY_F32;
    int ok = !tally_context_create(&where, &s->context, &error) &&
             !tally_plan_create(s->context, &o, &s->plan, &error);
    for (unsigned i = 0; parts && ok && i < DEVICES; i++) {
        ok = !device_of(s, i)->ops->alloc(device_of(s, i), 4096, &s->samples[i], &error);
        s->views[i] = tally_view_1d((void *)(uintptr_t)s->samples[i], TALLY_F32, 1024);
        s->views[i].device = TALLY_DEVICE_CUDA;
        s->parts[i] = (tally_part)TALLY_PART_INIT;
        s->parts[i].device = i;
        s->parts[i].views = &s->views[i];
    }
    if (parts && ok)
        ok = !device_of(s, 0)->ops->alloc(device_of(s, 0), bins * 8, &s->counts, &error) &&
             !device_of(s, 0)->ops->alloc(device_of(s, 0), 32, &s->flows, &error);
    if (!CHECK_SAY(ok, "%s", error.message))
        exit(1);
}

static void close_scene(scene *s)
{
    char text[256];
    set("FAIL", 0);
    for (unsigned i = 0; i < DEVICES; i++)
        if (s->samples[i])
            device_of(s, i)->ops->release(device_of(s, i), s->samples[i]);
    for (int i = 0; s->counts && i < 2; i++)
        device_of(s, 0)->ops->release(device_of(s, 0), i ? s->flows : s->counts);
    tally_plan_destroy(s->plan);
    for (unsigned i = 0; i < DEVICES; i++)
        if (s->parts[i].stream)
            fake.stream_close(s->parts[i].stream);
    tally_context_destroy(s->context);
    CHECK_SAY(!fake.live(text, sizeof text), "left:%s", text);
}

/* Into `counts` of the host, or the first device's. */
static tally_status run_parts(const scene *s, uint64_t *counts, tally_error *error)
{
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts ? counts : (void *)(uintptr_t)s->counts;
    output.flows = counts ? NULL : (void *)(uintptr_t)s->flows;
    output.on_device = !counts;
    return tally_execute_parts(s->plan, s->parts, DEVICES, NULL, &output, error);
}

/* Copies and waits of a call of all devices, when it is repeated. */
static void check_copies(int peers, int streams, int capturing)
{
    scene s;
    tally_error error = {""};
    set("PEERS", peers);
    open_scene(&s, "cuda:*", 1);
    for (unsigned i = 0; streams && i < DEVICES; i++)
        s.parts[i].stream = fake.stream_of((int)i);
    for (int i = 0; i < 2; i++) {
        set("CAPTURING", capturing && i);
        fake.begin();
        CHECK_SAY(!run_parts(&s, NULL, &error), "%s", error.message);
    }
    set("CAPTURING", 0);
    const long others = DEVICES - 1, copies = 2 * others;
    CHECK(fake.calls("cuMemcpyDtoHAsync") == (peers ? 0 : copies));
    if (!capturing) { /* a graph gets axes and buffers of its own */
        CHECK(fake.calls("cuMemcpyHtoDAsync") == (peers ? 0 : copies));
        CHECK(fake.calls("cuStreamSynchronize") == !streams);
        CHECK(!fake.calls("cuMemAlloc") && !fake.calls("cuEventCreate"));
    }
    /* Every other device is waited for and, unless the call waits for all, waits; in a graph it
     * begins with the first. */
    CHECK_SAY(fake.calls("cuStreamWaitEvent") == (streams ? copies : others), "%ld waits",
              fake.calls("cuStreamWaitEvent"));
    close_scene(&s);
}

/* Into host memory: hardly more calls of the driver than of each device by itself; many bins are
 * added up on the first device, and fetched from it alone. */
static void check_host_output(int many)
{
    scene s;
    tally_error error = {""};
    tally_output output = TALLY_OUTPUT_INIT;
    long each = 0;
    output.counts = counts;
    bins = many ? MANY_BINS : BINS;
    open_scene(&s, "cuda:*", 1);
    tally_plan *one = NULL;
    CHECK(!tally_plan_create(ty_several_context(s.context->several, 0),
                             tally_plan_options_get(s.plan), &one, &error));
    for (int i = 0; i < 2; i++) {
        fake.begin();
        CHECK_SAY(!tally_execute(one, s.views, NULL, &output, &error), "%s", error.message);
        each = fake.calls(NULL);
        fake.begin();
        CHECK_SAY(!run_parts(&s, counts, &error), "%s", error.message);
    }
    CHECK_SAY(fake.calls(NULL) <= DEVICES * (each + (many ? 5 : 2)),
              "%ld calls, and %ld of one device", fake.calls(NULL), each);
    CHECK(fake.calls("cuStreamWaitEvent") == (many ? DEVICES - 1 : 0));
    CHECK(fake.calls("cuStreamSynchronize") == (many ? 1 : DEVICES));
    CHECK(fake.calls("cuMemcpyDtoHAsync") == (many ? 1 : DEVICES));
    tally_plan_destroy(one);
    close_scene(&s);
    bins = BINS;
}

/* How many launches there are when a call of the driver fails; *waits: it is a wait. */
static long launches_until(long k, int *waits)
{
    scene s;
    tally_error error = {""};
    open_scene(&s, "cuda:*", 1);
    CHECK_SAY(!run_parts(&s, counts, &error), "%s", error.message);
    fake.begin();
    set("FAIL", k);
    run_parts(&s, counts, &error);
    const char *call = fake.failed();
    const long launches = fake.calls("cuLaunchKernelEx");
    *waits = !call || !strcmp(call, "cuStreamSynchronize");
    close_scene(&s);
    return launches;
}

static void check_no_early_wait(void)
{
    long launches = 0;
    int waits = 0;
    for (long k = 1; !waits; k++)
        launches = launches_until(k, &waits);
    CHECK_SAY(launches == DEVICES, "%ld launches before the first wait", launches);
}

/* A graph needs a stream of every device. */
static void check_missing_stream(void)
{
    scene s;
    tally_error error = {""};
    open_scene(&s, "cuda:*", 1);
    s.parts[0].stream = fake.stream_of(0);
    set("CAPTURING", 1);
    CHECK(run_parts(&s, NULL, &error) == TALLY_ERROR_UNSUPPORTED);
    CHECK_SAY(strstr(error.message, "part 1, cuda:1: the first part's stream is recording") != NULL,
              "%s", error.message);
    set("CAPTURING", 0);
    close_scene(&s);
}

/* Samples of the host, dealt; or that lie on the devices, with the output there or here. */
typedef enum what { dealt, parts_there, parts_here, many_here } what;

static tally_status run(const scene *s, what way, tally_error *error)
{
    const tally_view view = tally_view_1d(data, TALLY_F32, SAMPLES);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    return way == dealt ? tally_execute(s->plan, &view, NULL, &output, error)
                        : run_parts(s, way == parts_there ? NULL : counts, error);
}

/* Call k of device 1, and all later ones there, fail; afterwards all is as if they had not. */
static int fail_call(const char *devices, what way, long k)
{
    static const char *const forgivable[] = {
        "cuCtxPopCurrent", "cuCtxPushCurrent", "cuEventDestroy",         "cuStreamDestroy",
        "cuMemFree",       "cuMemFreeHost",    "cuPointerGetAttributes", NULL};
    scene s;
    tally_error error = {""};
    static uint64_t before[MANY_BINS];
    memset(counts, 0x77, sizeof counts);
    memcpy(before, counts, sizeof counts);
    bins = way == many_here ? MANY_BINS : BINS;
    open_scene(&s, devices, way != dealt);
    set("OF", 1);
    set("LOST", 1);
    fake.begin();
    set("FAIL", k);
    const tally_status status = run(&s, way, &error);
    const char *call = fake.failed();
    int may = !call;
    for (int i = 0; call && forgivable[i]; i++)
        may |= !strcmp(call, forgivable[i]);
    CHECK_SAY(status || may, "call %ld, %s: nothing was said", k, call ? call : "");
    if (status) {
        CHECK_SAY(strstr(error.message, "cuda:1: ") != NULL, "call %ld, %s: %s", k,
                  call ? call : "none", error.message);
        CHECK(!memcmp(counts, before, sizeof counts));
    }
    set("FAIL", 0);
    set("OF", -1);
    CHECK_SAY(!run(&s, way, &error), "call %ld, %s, and again: %s", k, call ? call : "none",
              error.message);
    close_scene(&s);
    return call != NULL;
}

int main(void)
{
    int failed = 0;
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_OPENCL_LIBRARY", "none", 1);
    setenv("TALLY_CACHE_DIR", "/dev/null", 1);
    set("DEVICES", DEVICES);
    open_fake();
    for (int i = 0; i < 8; i++)
        if (i & 2 || !(i & 4)) /* a graph is recorded on streams */
            check_copies(i & 1, (i & 2) != 0, (i & 4) != 0);
    check_missing_stream();
    for (int many = 0; many < 2; many++)
        check_host_output(many);
    check_no_early_wait();
    for (int peers = 0; peers < 2; peers++) {
        set("PEERS", peers);
        for (long k = 1; k < 1000 && fail_call("cuda:*", parts_there, k); k++)
            failed++;
    }
    for (what way = parts_here; way <= many_here; way++)
        for (long k = 1; k < 1000 && fail_call("cuda:*", way, k); k++)
            failed++;
    ty_several_least = 1 << 16;
    for (long k = 1; k < 60; k += 4) /* who gets which piece differs */
        failed += fail_call("cuda:0,1,cpu", dealt, k);
    CHECK_SAY(failed > 40, "%d calls failed", failed);
    printf("%d calls failed, %d checks, %d failed\n", failed, checks, failures);
    return failures != 0;
}
