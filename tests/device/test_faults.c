/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call to a driver fails in turn, once, or from there on as with a lost device; and every
 * allocation. Drivers are the stand-ins of fake/. Whatever fails, the call says so with the
 * driver's words, everything is given back, and the process goes on: the next run works.
 *
 *     test_faults [STRIDE]    one call in STRIDE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "gpu/device.h"
#include "plan/plan.h"

typedef struct fake_library {
    void (*begin)(void);
    long (*calls)(const char *name);
    const char *(*failed)(void);
    long (*live)(char *text, size_t size);
    void *(*stream)(void);
    void (*stream_close)(void *stream);
} fake_library;

typedef struct walk {
    const char *name; /* the library whose calls fail: "OPENCL", "CUDA", "NVRTC" */
    const char *file;
    tally_device_type device;
    const char *method, *key, *value;
    int code;
    const char *words; /* what the driver says of it */
    int lost, warm;    /* all later calls too; a filled kernel cache */
} walk;

enum { samples = 100003 };

static unsigned char data[samples];
static char folder[] = "/tmp/tally-faults-XXXXXX";

static fake_library library_open(const char *file)
{
    fake_library f;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", FAKE_FOLDER, file);
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&f.begin = dlsym(handle, "fake_begin");
    *(void **)&f.calls = dlsym(handle, "fake_calls");
    *(void **)&f.failed = dlsym(handle, "fake_failed");
    *(void **)&f.live = dlsym(handle, "fake_live");
    *(void **)&f.stream = dlsym(handle, "fake_stream");
    *(void **)&f.stream_close = dlsym(handle, "fake_stream_close");
    return f;
}

static void set_fake(const char *name, const char *key, long value)
{
    char variable[64], text[32];
    snprintf(variable, sizeof variable, "FAKE_%s_%s", name, key);
    snprintf(text, sizeof text, "%ld", value);
    setenv(variable, text, 1);
}

/* Samples kept on the device, counted with both clocks; what is known of the kernel. */
static tally_status resident(tally_context *context, tally_plan *plan, tally_device_type device,
                             tally_error *error)
{
    void *memory = NULL;
    uint64_t counts[256];
    double seconds = 0, merging = 0;
    tally_kernel_info info = {.struct_size = sizeof info};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_status status = tally_memory_create(context, samples, &memory, error);
    if (!status)
        status = tally_memory_write(context, memory, 0, data, samples, error);
    tally_view view = tally_view_1d(memory, TALLY_U8, samples);
    view.device = device;
    output.counts = counts;
    options.device_seconds = &seconds;
    options.merge_seconds = &merging;
    if (!status)
        status = tally_execute(plan, &view, &options, &output, error);
    if (!status)
        status = tally_plan_kernel(plan, samples, &info, error);
    tally_memory_destroy(context, memory);
    return status;
}

/* Samples and output in device memory, on a caller's stream: under way when the call returns, then
 * recorded, then samples of the host. */
typedef struct caller {
    void *stream;
    ty_memory samples, counts;
} caller;

static tally_status run_there(const walk *w, const fake_library *f, tally_context *context,
                              tally_plan *plan, caller *c, tally_error *error)
{
    const ty_device_ops *ops = ((ty_device *)context->state)->ops;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_status status = ops->alloc(context->state, samples, &c->samples, error);
    if (!status)
        status = ops->alloc(context->state, 256 * 8, &c->counts, error);
    if (status || !strcmp(w->name, "NVRTC"))
        return status;
    options.stream = c->stream = f->stream();
    tally_view view = tally_view_1d((void *)(uintptr_t)c->samples, TALLY_U8, samples);
    view.device = w->device;
    output.counts = (void *)(uintptr_t)c->counts;
    output.on_device = 1;
    for (int i = 0; i < 2 && !status; i++)
        status = tally_execute(plan, &view, &options, &output, error);
    setenv("FAKE_CUDA_CAPTURING", "1", 1);
    if (!status)
        status = tally_execute(plan, &view, &options, &output, error);
    setenv("FAKE_CUDA_CAPTURING", "0", 1);
    tally_view here = tally_view_1d(data, TALLY_U8, samples);
    if (!status)
        status = tally_execute(plan, &here, &options, &output, error);
    return status;
}

/* Lists, opens, plans, counts twice. *listed: the device was in the list, else `error` says why.
 * *last: the number of the last call that has to work. */
static tally_status scenario(const walk *w, const fake_library *f, int *listed, long *last,
                             tally_error *error)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_setting setting = {w->key, w->value};
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    uint64_t counts[256];
    double seconds = 0;
    tally_view view = tally_view_1d(data, TALLY_U8, samples);
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    *listed = 1;
    for (uint32_t i = 0; i < tally_device_count(); i++) {
        tally_device_info info = {.struct_size = sizeof info};
        tally_device_get(i, &info, NULL);
        if (info.device == w->device && !info.available) {
            *listed = 0;
            snprintf(error->message, sizeof error->message, "%s", info.reason);
        }
    }
    where.device = w->device;
    where.threads = 1;
    tally_status status = tally_context_create(&where, &context, error);
    o.axes[0] = tally_axis_even(256, 0, 256);
    o.dtypes[0] = TALLY_U8;
    o.method = w->method;
    o.settings = &setting;
    o.settings_count = w->key ? 1 : 0;
    if (!status)
        status = tally_plan_create(context, &o, &plan, error);
    output.counts = counts;
    options.device_seconds = &seconds;
    for (int i = 0; i < 2 && !status; i++)
        status = tally_execute(plan, &view, &options, &output, error);
    if (!status)
        status = resident(context, plan, w->device, error);
    caller c = {NULL, 0, 0};
    if (!status)
        status = run_there(w, f, context, plan, &c, error);
    *last = f->calls(NULL);
    tally_plan_destroy(plan);
    if (context) {
        const ty_device_ops *ops = ((ty_device *)context->state)->ops;
        ops->release(context->state, c.samples);
        ops->release(context->state, c.counts);
    }
    if (c.stream)
        f->stream_close(c.stream);
    tally_context_destroy(context);
    return status;
}

/* Calls whose failure changes nothing that a caller has to know. */
static int forgivable(const walk *w, const char *call)
{
    static const char *const calls[] = {"clGetDeviceIDs",
                                        "clGetProgramInfo",
                                        "clGetDeviceInfo",
                                        "clGetPlatformInfo",
                                        "clGetEventProfilingInfo",
                                        "cuEventElapsedTime",
                                        "cuCtxPopCurrent",
                                        "cuCtxPushCurrent",
                                        "cuEventDestroy",
                                        "cuStreamDestroy",
                                        "clGetKernelWorkGroupInfo",
                                        "cuMemFree",
                                        "cuFuncGetAttribute",
                                        "cuMemFreeHost",
                                        "cuPointerGetAttributes",
                                        "nvrtcDestroyProgram",
                                        "cuThreadExchangeStreamCaptureMode",
                                        NULL};
    static const char *const cached[] = {"clCreateProgramWithBinary", "clBuildProgram",
                                         "cuModuleLoadData", NULL};
    for (int i = 0; calls[i]; i++) {
        if (!strcmp(call, calls[i]))
            return 1;
    }
    for (int i = 0; w->warm && cached[i]; i++) {
        if (!strcmp(call, cached[i]))
            return 1;
    }
    return !strncmp(call, "clRelease", 9);
}

static int nothing_left(const fake_library *f, const char *when, const char *call)
{
    char text[256];
    if (!f->live(text, sizeof text))
        return 1;
    /* Memory of a context that cannot be entered is the driver's to take back. */
    if (call && !strcmp(call, "cuCtxPushCurrent"))
        return 1;
    fprintf(stderr, "left %s:%s\n", when, text);
    return 0;
}

/* In a process of its own: call k fails. 0: as it should; 2: there is no call k. */
static int step(const walk *w, long k)
{
    fake_library f = library_open(w->file);
    tally_error error = {""};
    long last = 0;
    int listed;
    char number[16];
    set_fake(w->name, "FAIL", k);
    set_fake(w->name, "CODE", w->code);
    set_fake(w->name, "LOST", w->lost);
    tally_status status = scenario(w, &f, &listed, &last, &error);
    const char *call = f.failed();
    if (!call)
        return status ? 1 : 2;
    int ok = nothing_left(&f, "after a failure", call);
    int must = k <= last && !forgivable(w, call);
    snprintf(number, sizeof number, "%d", w->code);
    if (must && !status && listed)
        ok = 0;
    if (must && !strstr(error.message, number) && !strstr(error.message, w->words))
        ok = 0;
    if (status && !error.message[0])
        ok = 0;
    if (!ok)
        fprintf(stderr, "FAILED call %ld, %s: %s: %s\n", k, call, tally_status_string(status),
                error.message);
    /* What was found when devices were listed is kept; else the next run works. */
    set_fake(w->name, "FAIL", 0);
    tally_device_info info = {.struct_size = sizeof info};
    int there = 0;
    for (uint32_t i = 0; !there && i < tally_device_count(); i++)
        there = !tally_device_get(i, &info, NULL) && info.device == w->device && info.available;
    status = there ? scenario(w, &f, &listed, &last, &error) : TALLY_OK;
    if (status)
        fprintf(stderr, "FAILED after call %ld, %s: %s: %s\n", k, call, tally_status_string(status),
                error.message);
    return !ok || status || !nothing_left(&f, "at the end", call);
}

/* The same for allocation k. */
static int step_allocation(const walk *w, long k)
{
    fake_library f = library_open(w->file);
    tally_error error = {""};
    long last;
    int listed;
    ty_alloc_fail_after(k);
    long before = ty_alloc_count();
    tally_status status = scenario(w, &f, &listed, &last, &error);
    int reached = ty_alloc_count() - before > k;
    ty_alloc_fail_after(-1);
    /* The cache does without memory; everything else says that there is none. */
    int ok = nothing_left(&f, "without memory", NULL) && (!status || status == TALLY_ERROR_MEMORY);
    if (!ok)
        fprintf(stderr, "FAILED allocation %ld: %s: %s\n", k, tally_status_string(status),
                error.message);
    if (!reached)
        return status ? 1 : 2;
    status = scenario(w, &f, &listed, &last, &error);
    return !ok || status || !nothing_left(&f, "at the end", NULL);
}

static int run_step(const walk *w, long k, int allocation)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, w->warm ? "warm" : "cold");
        setenv("TALLY_CACHE_DIR", path, 1);
        exit(allocation ? step_allocation(w, k) : step(w, k));
    }
    int result = 0;
    waitpid(child, &result, 0);
    if (WIFSIGNALED(result)) {
        fprintf(stderr, "FAILED call %ld: signal %d\n", k, WTERMSIG(result));
        return 1;
    }
    return WEXITSTATUS(result);
}

static void clean(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s%s'", folder, name);
    if (system(command))
        exit(1);
}

static long stride = 1; /* every call, or one in so many */

static long walk_calls(const walk *w, int allocation, int *failed)
{
    long k = allocation ? 0 : 1;
    int before = *failed;
    if (w->warm)
        run_step(w, 1000000, 0); /* no call fails: fills the cache */
    for (;; k += stride) {
        if (!w->warm)
            clean("/cold");
        int result = run_step(w, k, allocation);
        if (result == 2)
            break;
        *failed += result != 0;
        if (*failed > before + 5 || k > 5000)
            break;
    }
    printf("%s, %s, %s%s%s: %ld, %d failed\n", w->name, w->method,
           allocation ? "allocations" : "calls", w->lost ? ", all later ones too" : "",
           w->warm ? ", kernel cached" : "", (allocation ? k : k - 1) / stride, *failed - before);
    return k / stride;
}

int main(int argc, char **argv)
{
    stride = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    static const walk walks[] = {
        {"OPENCL", "libOpenCL.so.1", TALLY_DEVICE_OPENCL, "private-shared", NULL, NULL, -5,
         "out of resources", 0, 0},
        {"OPENCL", "libOpenCL.so.1", TALLY_DEVICE_OPENCL, "private-shared", NULL, NULL, -4,
         "out of device memory", 1, 0},
        {"OPENCL", "libOpenCL.so.1", TALLY_DEVICE_OPENCL, "coarsened", NULL, NULL, -36,
         "invalid command queue", 0, 1},
        {"CUDA", "libcuda.so.1", TALLY_DEVICE_CUDA, "trish", "threads", "256", 719,
         "the fake driver's words", 0, 0},
        {"CUDA", "libcuda.so.1", TALLY_DEVICE_CUDA, "atomic-global", NULL, NULL, 2, "out of memory",
         1, 0},
        {"CUDA", "libcuda.so.1", TALLY_DEVICE_CUDA, "private-shared", NULL, NULL, 719,
         "the fake driver's words", 1, 1},
        {"NVRTC", "libnvrtc.so.13", TALLY_DEVICE_CUDA, "private-shared", NULL, NULL, 11, "NVRTC", 0,
         0},
    };
    int failed = 0;
    long calls = 0;
    setenv("TALLY_OPENCL_LIBRARY", FAKE_FOLDER "/libOpenCL.so.1", 1);
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    if (!mkdtemp(folder))
        return 1;
    for (size_t i = 0; i < samples; i++)
        data[i] = (unsigned char)(i * 7);
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        calls += walk_calls(&walks[i], 0, &failed);
        clean("/warm");
    }
    calls += walk_calls(&walks[0], 1, &failed);
    calls += walk_calls(&walks[3], 1, &failed);
    clean("");
    printf("%ld calls made to fail, %d failed\n", calls, failed);
    return failed || calls * stride < 200;
}
