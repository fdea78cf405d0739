/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of kernels compiled with Tally: what was saved is found, what is damaged, foreign or for
 * another device is not, and every plan that `auto` makes on a device is served from it, with no
 * compiler there. The file of the second half is made by tools/prebuild.c with the stand-in
 * compiler.
 *
 *     test_kernels_file [SEED [PLANS]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "gpu/kernels_file.h"
#include "gpu/call.h"
#include "check.h"
#include "draw.h"
#include "plan/cost.h"
#include "plan/registry.h"
#include "plan/plan.h"

static char folder[] = "/tmp/tally-kernels-XXXXXX";
static char path[64];

/* Whether the file gives exactly `code` for (source, options) on `capability`; NULL: nothing. */
static int gives(const char *source, const char *options, uint32_t capability, int is_ptx,
                 const char *code)
{
    size_t size = 0;
    char *got = ty_kernels_get(source, options, capability, is_ptx, &size);
    int same = code ? got && size == strlen(code) && !memcmp(got, code, size) && !got[size] : !got;
    ty_free(got);
    return same;
}

static void entry(ty_kernel_entry *e, uint32_t arch, int is_ptx, const char *source,
                  const char *options, const char *code)
{
    *e = (ty_kernel_entry){.target = {arch, is_ptx}, .code = code, .size = strlen(code)};
    ty_kernels_key(source, options, e->target, e->key);
}

static void save_four(void)
{
    ty_kernel_entry e[4];
    tally_error error = {""};
    entry(&e[0], 80, 0, "text", "-D1", "eighty");
    entry(&e[1], 80, 0, "text", "-D2", "eighty, other options");
    entry(&e[2], 86, 0, "text", "-D1", "eighty-six");
    entry(&e[3], 75, 1, "text", "-D1", "ptx");
    CHECK_SAY(ty_kernels_save(path, e, 4, &error) == TALLY_OK, "%s: %s", error.message,
              ty_kernels_describe());
    ty_kernels_forget();
}

/* A target of several blocks. */
static void test_blocks(void)
{
    enum { count = 5, size = 900000 };
    ty_kernel_entry e[count];
    char *code[count], options[] = "-D?";
    tally_error error = {""};
    for (int i = 0; i < count; i++) {
        code[i] = malloc(size + 1);
        if (!code[i])
            exit(1);
        memset(code[i], 'a' + i, size);
        code[i][size] = '\0';
        options[2] = (char)('0' + i);
        entry(&e[i], i < 4 ? 80 : 90, 0, "text", options, code[i]);
    }
    CHECK_SAY(ty_kernels_save(path, e, count, &error) == TALLY_OK, "%s: %s", error.message,
              ty_kernels_describe());
    ty_kernels_forget();
    CHECK_SAY(strstr(ty_kernels_describe(), ": 5 kernels for sm_80 sm_90") != NULL,
              "blocks described: %s", ty_kernels_describe());
    for (int i = count; i-- > 0;) {
        options[2] = (char)('0' + i);
        CHECK_SAY(gives("text", options, i < 4 ? 80 : 90, 0, code[i]),
                  "a kernel of a later block: %s", ty_kernels_describe());
        free(code[i]);
    }
}

static void test_targets(void)
{
    struct stat info;
    save_four();
    CHECK_SAY(!stat(path, &info) && (info.st_mode & 0777) == 0644, "anybody may read the file: %s",
              ty_kernels_describe());
    CHECK_SAY(strstr(ty_kernels_describe(), ": 4 kernels for sm_80 sm_86 compute_75") != NULL,
              "its description: %s", ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 80, 0, "eighty"), "its own architecture's: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 86, 0, "eighty-six"), "the newest that runs: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 89, 0, "eighty-six"), "a later one of the generation: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D2", 89, 0, "eighty, other options"), "an older one that has it: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 90, 0, NULL), "no machine code of another generation: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 75, 0, NULL), "none of a later one: %s", ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 120, 1, "ptx") && gives("text", "-D1", 75, 1, "ptx"), "PTX: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D1", 70, 1, NULL), "no PTX of a later one: %s",
              ty_kernels_describe());
    CHECK_SAY(gives("text", "-D2", 80, 1, NULL) && gives("Text", "-D1", 80, 0, NULL) &&
                  gives("text-D1", "", 80, 0, NULL),
              "another text or other options: %s", ty_kernels_describe());
    CHECK_SAY(ty_kernels_serve(75) && ty_kernels_serve(121) && !ty_kernels_serve(70),
              "who is served: %s", ty_kernels_describe());
}

static size_t read_whole(unsigned char *whole, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(whole, 1, size, f) : 0;
    if (f)
        fclose(f);
    return n;
}

static void write_whole(const unsigned char *whole, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(whole, 1, size, f) != size)
        exit(1);
    fclose(f);
    ty_kernels_forget();
}

/* Changed in every byte and cut at every length: nothing wrong ever comes out of it. */
static void test_damage(void)
{
    unsigned char whole[4096];
    int wrong = 0, refused = 0;
    save_four();
    size_t n = read_whole(whole, sizeof whole);
    CHECK_SAY(n > 200 && n < sizeof whole, "the file can be read: %s", ty_kernels_describe());
    for (size_t i = 0; i < 2 * n; i++) {
        if (i < n)
            whole[i] ^= 0x40;
        write_whole(whole, i < n ? n : i - n);
        if (i < n)
            whole[i] ^= 0x40;
        int right = gives("text", "-D1", 86, 0, "eighty-six"),
            none = gives("text", "-D1", 86, 0, NULL);
        wrong += !right && !none;
        refused += none && !strncmp(ty_kernels_describe(), "none: ", 6);
    }
    CHECK_SAY(!wrong, "damage gives no wrong code: %s", ty_kernels_describe());
    CHECK_SAY(refused > (int)n, "damage is told: %s", ty_kernels_describe());
    write_whole(whole, n);
    CHECK_SAY(gives("text", "-D1", 86, 0, "eighty-six"), "and mended it is read again: %s",
              ty_kernels_describe());
    char *version = (char *)whole + 24;
    CHECK_SAY(!strcmp(version, tally_version()), "the place of the version: %s",
              ty_kernels_describe());
    version[0]++;
    write_whole(whole, n);
    CHECK_SAY(gives("text", "-D1", 86, 0, NULL) &&
                  strstr(ty_kernels_describe(), "it is another version's"),
              "another version's file: %s", ty_kernels_describe());
    write_whole((const unsigned char *)"hello", 5);
    CHECK_SAY(gives("text", "-D1", 86, 0, NULL) && strstr(ty_kernels_describe(), "no kernels file"),
              "another kind of file: %s", ty_kernels_describe());
    CHECK_SAY(!ty_kernels_serve(90), "serves nobody: %s", ty_kernels_describe());
    unlink(path);
    ty_kernels_forget();
    CHECK_SAY(gives("text", "-D1", 86, 0, NULL) &&
                  strstr(ty_kernels_describe(), "No such file or directory"),
              "no file: %s", ty_kernels_describe());
    alarm(60); /* a read of the pipe would wait for ever */
    CHECK_SAY(!mkfifo(path, 0600), "a pipe: %s", ty_kernels_describe());
    ty_kernels_forget();
    CHECK_SAY(gives("text", "-D1", 86, 0, NULL) && strstr(ty_kernels_describe(), "it is no file"),
              "a pipe is no kernels file: %s", ty_kernels_describe());
    alarm(0);
    unlink(path);
    setenv("TALLY_KERNELS_FILE", "none", 1);
    ty_kernels_forget();
    CHECK_SAY(strstr(ty_kernels_describe(), "switched off") != NULL, "switched off: %s",
              ty_kernels_describe());
    setenv("TALLY_KERNELS_FILE", path, 1);
}

/* ---- with a stand-in device ---- */

static tally_context *open_cuda(void)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    where.device = TALLY_DEVICE_CUDA;
    CHECK_SAY(tally_context_create(&where, &context, &error) == TALLY_OK, "%s: %s", error.message,
              ty_kernels_describe());
    return context;
}

static char asked[128]; /* of the last plan */

/* Of types that are rarely binned by uneven edges the file has only what takes any layout. */
static int is_rare(const tally_plan_options *o)
{
    const tally_dtype t = o->dtypes[0];
    return (o->axes[0].kind == TALLY_AXIS_EDGES || o->axes[0].kind == TALLY_AXIS_LOG) &&
           t != TALLY_U8 && t != TALLY_U16 && t != TALLY_I32 && t != TALLY_F32 && t != TALLY_F64;
}

/* A plan of any number of bins and samples, of which the file has no list. */
static tally_status random_plan(tally_context *context, const double *edges, tally_plan **plan,
                                tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    int uneven = unit() < 0.3;
    uint64_t bins = (uint64_t)exp(unit() * log(uneven ? 4096 : 1 << 24));
    o.dtypes[0] = (tally_dtype)(TALLY_U8 + (int)(unit() * 12));
    double lo = unit() < 0.5 ? 0 : -3.7 * unit(), hi = unit() < 0.5 ? (double)bins : 12.1 + unit();
    o.axes[0] = !uneven        ? tally_axis_even(bins, lo, hi)
                : unit() < 0.3 ? tally_axis_log(bins, 1, 100)
                               : tally_axis_edges(bins, edges);
    if (o.dtypes[0] >= TALLY_F32 && !uneven && unit() < 0.5) {
        o.axes[0] = tally_axis_even(bins % 500 + 2, 0, 1);
        if (unit() < 0.5)
            o.weight_dtype = unit() < 0.5 ? TALLY_F32 : TALLY_F64;
        else
            o.dimensions = 2;
        o.axes[1] = o.axes[0];
        o.dtypes[1] = o.dtypes[0];
    }
    o.n_hint = unit() < 0.1 ? 0 : (uint64_t)exp(unit() * 24);
    if (o.dtypes[0] <= TALLY_I8)
        o.channels = 1 + (uint64_t)(unit() * 4);
    snprintf(asked, sizeof asked, "%s, %llu bins of %g to %g, %llu channels, n %llu",
             tally_dtype_name(o.dtypes[0]), (unsigned long long)bins, uneven ? 0 : lo,
             uneven ? 0 : hi, (unsigned long long)o.channels, (unsigned long long)o.n_hint);
    /* Not another method, taken for want of this one's kernel. */
    tally_plan *first = NULL;
    tally_status status = ty_plan_resolve(context, &o, 0, &first, error);
    if (!status)
        status = tally_plan_create(context, &o, plan, error);
    if (!status && (*plan)->method != first->method && !is_rare(&o)) {
        snprintf(error->message, sizeof error->message, "%s instead of %s",
                 tally_plan_method(*plan), tally_plan_method(first));
        tally_plan_destroy(*plan);
        *plan = NULL;
        status = TALLY_ERROR_INTERNAL;
    }
    tally_plan_destroy(first);
    return status;
}

/* What counts samples that the plan's own kernel does not read, and what adds them to an output in
 * device memory, is in the file, too. */
static void check_others(tally_context *context, tally_plan *plan, const char *words)
{
    for (int k = 0; k < TY_ROUTES; k++) {
        const ty_method *method = k == TY_ROUTE_ROWS ? NULL : ty_route_method(plan, k);
        tally_plan_options o = plan->options;
        tally_plan *other = NULL;
        if (!method || (is_rare(&o) && k == TY_ROUTE_MASKED))
            continue;
        o.method = method->name;
        CHECK_SAY(!tally_plan_create(context, &o, &other, NULL) &&
                      strstr(tally_plan_describe(other), "kernel from the kernels file"),
                  "%s: %s", words, ty_kernels_describe());
        tally_plan_destroy(other);
    }
}

/* Where the tables of speeds want a kernel that the file lacks, `auto` takes the next one. */
static void check_next(tally_context *context)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    ty_tuning *own = context->tuning, other = *own;
    unsigned line;
    CHECK_SAY(ty_tuning_parse("trish 1 0 1 10000\nlane-private 1 0 10 100\n", &other, &line),
              "speeds of this test: %s", ty_kernels_describe());
    o.axes[0] = tally_axis_even(256, 0, 256);
    o.dtypes[0] = TALLY_U8;
    context->tuning = &other;
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    CHECK_SAY(!status && !strcmp(tally_plan_method(plan), "lane-private"), "%s: %s",
              status ? error.message : tally_plan_describe(plan), ty_kernels_describe());
    tally_plan_destroy(plan);
    context->tuning = own;
}

/* A call that adds atomically to counts in device memory. */
static void check_atomic(tally_context *context)
{
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    tally_plan *plan = NULL;
    void *samples = NULL, *counts = NULL;
    o.axes[0] = tally_axis_even(100, 0, 1);
    o.dtypes[0] = TALLY_F32;
    CHECK_SAY(!tally_plan_create(context, &o, &plan, &error) &&
                  !tally_memory_create(context, 4000, &samples, &error) &&
                  !tally_memory_create(context, 800, &counts, &error),
              "%s", error.message);
    tally_view view = tally_view_1d(samples, TALLY_F32, 1000);
    view.device = TALLY_DEVICE_CUDA;
    output.counts = counts;
    output.on_device = 1;
    output.accumulate = TALLY_ACCUMULATE_ATOMIC;
    CHECK_SAY(!tally_execute(plan, &view, NULL, &output, &error), "%s", error.message);
    tally_memory_destroy(context, samples);
    tally_memory_destroy(context, counts);
    tally_plan_destroy(plan);
}

static int plans = 200; /* random ones without a compiler */

static int without_compiler(uint64_t seed)
{
    double edges[4097];
    char words[320];
    tally_error error = {""};
    tally_plan *plan = NULL;
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_context *context = open_cuda();
    state = seed;
    for (int i = 0; i < 4097; i++)
        edges[i] = i + 0.25 * (i & 1);
    for (int i = 0; context && i < plans; i++) {
        plan = NULL;
        tally_status status = random_plan(context, edges, &plan, &error);
        snprintf(words, sizeof words, "seed %llu, plan %d (%.80s): %.160s",
                 (unsigned long long)seed, i, asked,
                 status ? error.message : tally_plan_describe(plan));
        CHECK_SAY(!status && strstr(tally_plan_describe(plan), "kernel from the kernels file"),
                  "%s: %s", words, ty_kernels_describe());
        if (!status)
            check_others(context, plan, words);
        tally_plan_destroy(plan);
    }
    if (context) {
        check_atomic(context);
        check_next(context);
    }
    plan = NULL;
    o.axes[0] = tally_axis_even(10, 0, 1);
    o.dtypes[0] = TALLY_F32;
    o.method = "coarsened";
    CHECK_SAY(context && tally_plan_create(context, &o, &plan, &error) == TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "no kernel compiler") &&
                  strstr(error.message, "nor was the kernel compiled with Tally"),
              "%s: %s", error.message, ty_kernels_describe());
    tally_context_destroy(context);
    return failures;
}

/* With a compiler it serves what the file lacks, and a file that is none changes nothing else. */
static int with_compiler(int foreign)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    if (foreign)
        write_whole((const unsigned char *)"hello", 5);
    tally_context *context = open_cuda();
    o.axes[0] = tally_axis_even(10, 0, 1);
    o.dtypes[0] = TALLY_F32;
    o.method = foreign ? NULL : "coarsened";
    CHECK_SAY(context && tally_plan_create(context, &o, &plan, &error) == TALLY_OK, "%s: %s",
              error.message, ty_kernels_describe());
    const char *words = plan ? tally_plan_describe(plan) : "";
    CHECK_SAY(strstr(words, "kernel compiled") && !foreign == !strstr(words, "no kernels file"),
              "%s: %s", words, ty_kernels_describe());
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    return failures;
}

/* In a process of its own, where libraries are as the environment says. */
static void apart(int (*run)(uint64_t), int (*other)(int), uint64_t argument)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        int bad = run ? run(argument) : other((int)argument);
        exit(bad != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_SAY(status == 0, "%s: %s", run ? "plans without a compiler" : "plans with one",
              ty_kernels_describe());
}

int main(int argc, char **argv)
{
    char command[512];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261121;
    plans = argc > 2 ? atoi(argv[2]) : plans;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    setenv("TALLY_KERNELS_FILE", path, 1);
    setenv("TALLY_CACHE_DIR", folder, 1);
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_OPENCL_LIBRARY", "none", 1);
    printf("seed %llu\n", (unsigned long long)seed);
    test_targets();
    test_blocks();
    test_damage();
    snprintf(command, sizeof command, "TALLY_CACHE_DIR=%s/cache %s %s 90,ptx", folder, PREBUILD,
             path);
    CHECK_SAY(system(command) == 0, "prebuild with the stand-in compiler: %s",
              ty_kernels_describe());
    ty_kernels_forget();
    apart(NULL, with_compiler, 0);
    setenv("TALLY_NVRTC_LIBRARY", "none", 1);
    apart(without_compiler, NULL, seed);
    CHECK_SAY(system(command) == 0, "prebuild without a compiler is no failure: %s",
              ty_kernels_describe());
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    apart(NULL, with_compiler, 1);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command))
        failures++;
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
