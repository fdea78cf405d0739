/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel compiled by NVRTC, with no device: the methods of the registry over a stand-in for
 * the device's limits. Of the sources' methods none may spill registers to memory or have a stack
 * frame; of our own it is told, but for their ways that are compiled here by a setting and lookup
 * tables in local memory. What passed is remembered by its text, options, architecture and compiler
 * ($TALLY_CACHE_DIR), and not compiled again.
 *
 * Usually one architecture of each set of instructions that the kernels tell apart, and on 9.0 a
 * third of the types of samples, in turn by method, and the settings; what is_read() says is only
 * read, for machine code takes minutes. With `all`, every architecture that is supported, every
 * type and every setting, and machine code of each.
 *
 *     test_nvrtc [all] [METHOD]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "binning/affine.h"
#include "gpu/method.h"
#include "gpu/order.h"
#include "gpu/statistics.h"
#include "kernel_texts.h"
#include "plan/registry.h"

/* A plan without a CUDA context: made for the processor, then looked at as this device's. */
static int make_plan(tally_context *host, uint32_t dimensions, tally_dtype dtype, uint64_t bins,
                     uint64_t channels, tally_dtype weight, tally_plan **plan)
{
    tally_plan_options o = {
        .struct_size = sizeof o, .dimensions = dimensions, .channels = channels};
    for (uint32_t d = 0; d < dimensions; d++) {
        o.axes[d] = tally_axis_even(bins, 0, 256);
        o.dtypes[d] = dtype;
    }
    o.weight_dtype = weight;
    o.sum_squares = weight == TALLY_F64;
    o.weight_limit = weight && dtype == TALLY_BF16 ? 8 : 0; /* one type's sums have a limit */
    return tally_plan_create(host, &o, plan, NULL);
}

/* ---- what is compiled ---- */

/* One compilation; `key` NULL: standard settings. */
typedef struct job {
    const ty_method *method; /* NULL: the kernels of order statistics */
    tally_dtype dtype;
    uint64_t bins;
    uint32_t dimensions, capability;
    const char *key, *value;
    ty_proof proof;            /* of the axis */
    int lookup_kind, positive; /* the axis' */
    uint32_t exceptions, exception_shift;
    float tie;
    ty_statistics_wish wish; /* of ty_statistics_kernels */
} job;

enum { most_jobs = 4096, most_workers = 8 };

static job jobs[most_jobs];
static unsigned job_count, next, compiled, failed;
static int all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tally_context *context;

static void add(const ty_method *m, tally_dtype dtype, uint64_t bins, uint32_t capability,
                const char *key, const char *value)
{
    if (job_count < most_jobs)
        jobs[job_count] =
            (job){m, dtype, bins, 1, capability, key, value, TY_UNPROVEN, 0, 0, 0, 0, 0, {0}};
    job_count++;
}

static void add_proved(const ty_method *m, tally_dtype dtype, uint64_t bins, uint32_t capability,
                       ty_proof proof)
{
    if (job_count < most_jobs)
        jobs[job_count] =
            (job){m, dtype, bins, 1, capability, NULL, NULL, proof, 0, 0, 0, 0, 0, {0}};
    job_count++;
}

/* 8.6 and 8.9 have the instructions of 8.0. 10.0 has those of 9.0 that are used, and as much local
 * memory; what is newer is met by 12.0. */
static int architecture_wanted(uint32_t arch)
{
    return all || arch == 75 || arch == 80 || arch == 90 || arch == 120;
}

/* Whether it is this type's turn: neighbours in the registry take one third of the types each. */
static int turn(const ty_method *m, tally_dtype dtype)
{
    unsigned index = 0;
    while (ty_methods[index] != m)
        index++;
    return all || (index + dtype) % 3 == 0;
}

/* On one architecture all types of samples, or a third of them; on the others the one with most
 * arithmetic, and bytes where a method reads them in its own kind. */
static int wanted(const ty_method *m, tally_dtype dtype, uint32_t arch)
{
    uint32_t bytes = 1u << TALLY_U8 | 1u << TALLY_I8;
    int own_bytes = !(m->dtypes & ~bytes) || !strcmp(m->source, "tally");
    return (m->dtypes >> dtype & 1) && ((arch == 90 && turn(m, dtype)) || dtype == TALLY_F32 ||
                                        (dtype == TALLY_U8 && own_bytes));
}

/* Lookup tables of uneven edges: every kind on one architecture, with float32 and every other type
 * in turn, float32 on the others; those in device memory, which are the same for all methods, of
 * every type with one. */
static void add_lookups(const ty_method *m, uint32_t arch)
{
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I32, TALLY_U64, TALLY_BF16};
    const int tables = ((const ty_gpu_method *)m->backend)->tables;
    const int local = tables >= TY_TABLES_LOCAL, one = tables == TY_TABLES_COPIED;
    for (int kind = local ? TY_LOOKUP_ONE : TY_LOOKUP_LOG; kind <= TY_LOOKUP_LINEAR; kind++) {
        const int global = TY_IS_GLOBAL_LOOKUP(kind);
        for (int d = 0; d < (arch == 90 && (one || !global) ? 5 : arch == 90 || !global); d++) {
            if (kind == TY_LOOKUP_INDEX && tally_dtype_bytes(dtypes[d]) == 8)
                continue;
            if (!all && d && (kind + d) % 2 == 0)
                continue;
            add(m, dtypes[d], 256, arch, NULL, NULL);
            if (job_count <= most_jobs) {
                jobs[job_count - 1].lookup_kind = kind;
                jobs[job_count - 1].positive = kind == TY_LOOKUP_ONE || kind == TY_LOOKUP_LOG;
            }
        }
    }
}

/* Joint tables, by methods for packed columns: two float32, and on one architecture the others. */
static void add_joint(const ty_method *m, uint32_t arch)
{
    for (tally_dtype dtype = TALLY_U8; dtype <= TALLY_F64; dtype++) {
        if (dtype != TALLY_F32 && (arch != 90 || !turn(m, dtype)))
            continue;
        if (job_count < most_jobs)
            jobs[job_count] =
                (job){m, dtype, 100, 2, arch, NULL, NULL, TY_UNPROVEN, 0, 0, 0, 0, 0, {0}};
        job_count++;
    }
}

/* Order statistics: float32, on one architecture float64 and one of each other size and kind too.
 */
static void add_orders(uint32_t arch)
{
    static const uint32_t others = 1u << TALLY_U8 | 1u << TALLY_I16 | 1u << TALLY_U32 |
                                   1u << TALLY_I64 | 1u << TALLY_BF16 | 1u << TALLY_F64;
    for (tally_dtype dtype = TALLY_U8; dtype <= TALLY_F64; dtype++)
        if (all || dtype == TALLY_F32 || (arch == 90 && others >> dtype & 1))
            add(NULL, dtype, 0, arch, NULL, NULL);
}

/* Statistics of bins, of float32 samples: of values of every type on one architecture, of float32
 * and, there, all that may be asked of them. */
static void add_statistics(uint32_t arch)
{
    static const ty_statistics_wish wishes[] = {
        {TALLY_F32, 2, 1},  {TALLY_F32, 1, 0}, {TALLY_F32, 0, 1}, {TALLY_F64, 2, 1},
        {TALLY_F64, 1, 0},  {TALLY_I64, 2, 1}, {TALLY_U64, 1, 0}, {TALLY_F16, 2, 1},
        {TALLY_BF16, 1, 0}, {TALLY_I32, 2, 1}, {TALLY_U32, 1, 0}, {TALLY_I16, 2, 1},
        {TALLY_U16, 1, 1},  {TALLY_I8, 2, 1},  {TALLY_U8, 1, 0}};
    const unsigned count = sizeof wishes / sizeof *wishes;
    for (unsigned i = 0; i < (all ? count : arch == 90 ? 6 : 1); i++) {
        add(&ty_statistics_kernels, TALLY_F32, i == 1 ? 100000 : 4096, arch, NULL, NULL);
        if (job_count <= most_jobs)
            jobs[job_count - 1].wish = wishes[i];
    }
}

static const char *name_of(const job *j)
{
    return j->method ? j->method->name : "order";
}

static void add_settings(const ty_method *m, uint64_t bins, uint32_t arch)
{
    if (!strcmp(m->name, "trish")) {
        add(m, TALLY_U8, bins, arch, "k", "63");
        add(m, TALLY_U8, bins, arch, "threads", "256");
        add(m, TALLY_U8, bins, arch, "batch", "4");
    }
    if (!strcmp(m->name, "trish-bins"))
        add(m, TALLY_F32, bins, arch, "k", "32");
    if (!strcmp(m->name, "podlozhnyuk-64"))
        add(m, TALLY_U8, bins, arch, "banks", "32");
    /* What a source's method can be set to be without, or as published. */
    for (const tally_parameter *p = m->parameters; p && p->key && strcmp(m->source, "tally"); p++) {
        const tally_dtype dtype = !strcmp(p->key, "compares") ? TALLY_F32 : TALLY_U8;
        if (p->least == 0 && p->most == 1)
            add(m, dtype, bins, arch, p->key, p->standard ? "0" : "1");
    }
}

static void add_method(const ty_method *m, uint32_t arch)
{
    if (!strcmp(m->name, "swizzled-columns") || !strcmp(m->name, "partitioned-columns"))
        add_joint(m, arch);
    if (((const ty_gpu_method *)m->backend)->tables)
        add_lookups(m, arch);
    int few = !strcmp(m->name, "private-register");
    uint64_t bins = few ? 32 : !strcmp(m->name, "podlozhnyuk-64") ? 64 : 256;
    for (tally_dtype dtype = TALLY_U8; dtype <= TALLY_F64; dtype++) {
        if (wanted(m, dtype, arch))
            add(m, dtype, bins, arch, NULL, NULL);
    }
    /* Axes that were proved, as most are: on one architecture, where samples are 16-bit ones of
     * either kind in a method that is fast with them on all. */
    const ty_gpu_method *kernel = m->backend;
    const int fast = kernel->maps != TY_MAPS_NONE;
    const int column = fast && kernel->reads == TY_READS_COLUMN;
    const int lines = !strcmp(m->name, "lane-private") || !strcmp(m->name, "swizzled");
    const int raw =
        !strcmp(m->name, "packed16"); /* counts 16-bit values, however they are proved */
    if (fast && arch == 90 && (m->dtypes >> TALLY_F32 & 1))
        add_proved(m, TALLY_F32, bins, arch, TY_PROVEN_F32);
    for (tally_dtype dtype = TALLY_U16; dtype <= TALLY_F32; dtype++) {
        int wide = dtype == TALLY_U16 || dtype == TALLY_F16;
        int serves =
            ty_affine16_serves(dtype) || (kernel->maps >= TY_MAPS_32 && ty_affine32_serves(dtype));
        if (column && serves && (m->dtypes >> dtype & 1) &&
            !(raw && tally_dtype_bytes(dtype) == 2) && (arch == 90 || (lines && wide)))
            add_proved(m, dtype, bins, arch, TY_PROVEN_AFFINE);
    }
    if (column && arch == 90 && (m->dtypes >> TALLY_F32 & 1)) {
        add_proved(m, TALLY_F32, bins, arch, TY_PROVEN_F32);
        if (job_count <= most_jobs)
            jobs[job_count - 1].tie = 1;
    }
    if (column && !raw && arch == 90 && (m->dtypes >> TALLY_BF16 & 1)) {
        add_proved(m, TALLY_BF16, bins, arch, TY_PROVEN_AFFINE);
        if (job_count <= most_jobs)
            jobs[job_count - 1].tie = 1;
    }
    if (kernel->maps == TY_MAPS_EXCEPTIONS && arch == 90) {
        add_proved(m, TALLY_U16, bins, arch, TY_PROVEN_AFFINE);
        if (job_count <= most_jobs)
            jobs[job_count - 1].exceptions = 1;
        add_proved(m, TALLY_I16, bins, arch, TY_PROVEN_AFFINE);
        if (job_count <= most_jobs)
            jobs[job_count - 1].exceptions = 65, jobs[job_count - 1].exception_shift = 10;
        add_proved(m, TALLY_I32, bins, arch, TY_PROVEN_AFFINE);
        if (job_count <= most_jobs)
            jobs[job_count - 1].exceptions = 65, jobs[job_count - 1].exception_shift = 24;
    }
    /* Every number of bins that is kept in registers: some of them. */
    for (uint64_t b = 1; few && b < 32; b += all ? 3 : arch == 90 ? 6 : 31)
        add(m, TALLY_U8, b, arch, NULL, NULL);
    if (!strcmp(m->name, "partitioned")) { /* 6-bit counters first, of 8 bits where these fit */
        add(m, TALLY_F32, 60000, arch, NULL, NULL);
        static const tally_dtype dtypes[] = {TALLY_U32, TALLY_I32, TALLY_F32, TALLY_F64};
        for (int d = 0; arch == 90 && d < 4; d++)
            add(m, dtypes[d], 1 << 18, arch, NULL, NULL);
        for (int proof = TY_PROVEN_F32; arch == 90 && proof <= TY_PROVEN_AFFINE; proof++)
            add_proved(m, TALLY_F32, 1 << 18, arch, (ty_proof)proof);
        if (arch == 90)
            add_proved(m, TALLY_I32, 1 << 18, arch, TY_PROVEN_AFFINE);
    }
    if (all || arch == 90)
        add_settings(m, bins, arch);
}

/* ---- compiling ---- */

static int is_own(const job *j)
{
    return !j->method || !strcmp(j->method->source, "tally");
}

/* Whether a spill is only noted: in our own methods as they come. */
static int is_noted(const job *j)
{
    return is_own(j) && !j->key && (!j->lookup_kind || TY_IS_GLOBAL_LOOKUP(j->lookup_kind));
}

/* Whether no machine code is made of it and it is only read as CUDA C: what is not for 9.0; of our
 * own methods what is not of float32, and where a spill is only noted: quantiles, statistics and
 * the plain method's variants. */
static int is_read(const job *j)
{
    const tally_dtype dtype = j->wish.value ? j->wish.value : j->dtype;
    const int bytes_only = j->method && !j->wish.value && !(j->method->dtypes >> TALLY_F32 & 1);
    const int variant = !j->method || j->wish.value || j->lookup_kind || j->proof == TY_PROVEN_F32;
    return !all && (j->capability != 90 || (is_own(j) && ((dtype != TALLY_F32 && !bytes_only) ||
                                                          (variant && is_noted(j)))));
}

/* Whom its compilation stands for. */
static void make_signature(const job *j, char *to, size_t size)
{
    char reason[8];
    const char *passed = j->key ? j->key : name_of(j); /* what is asked of it differs */
    snprintf(to, size, "passed|%s|sm_%u|nvrtc %s", passed, j->capability,
             ty_nvrtc_version(reason, sizeof reason));
}

/* What the assembler says of each kernel in the log: no spill and no stack. */
static int check_registers(const job *j, const char *log)
{
    static const char entry[] = "Compiling entry function '", words[] = "bytes stack frame";
    int kernels = 0, ok = 1;
    for (const char *at = log ? strstr(log, entry) : NULL; at; at = strstr(at, entry)) {
        unsigned stack, stores, loads;
        const char *name = at + strlen(entry);
        at = strstr(at, words);
        while (at && at > name && strchr(" 0123456789", at[-1]))
            at--;
        if (!at || sscanf(at, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                          &stack, &stores, &loads) != 3)
            break;
        kernels++;
        if (stack || stores || loads) {
            int own = is_noted(j) && strncmp(name, "merge", 5) != 0 &&
                      !(j->proof == TY_PROVEN_AFFINE && !strncmp(name, "count'", 6) &&
                        strcmp(name_of(j), "packed16") != 0); /* counts values, has no line */
            fprintf(stderr, "%s %s %s sm_%u %s: %.*s: a stack of %u bytes, %u stored, %u loaded\n",
                    own ? "note:" : "FAILED", name_of(j), tally_dtype_name(j->dtype), j->capability,
                    j->key ? j->key : "", (int)strcspn(name, "'"), name, stack, stores, loads);
            ok = ok && own;
        }
    }
    if (kernels < 2)
        fprintf(stderr, "FAILED %s sm_%u: the assembler tells of %d kernels\n%s\n", name_of(j),
                j->capability, kernels, log ? log : "");
    return ok && kernels >= 2;
}

static int compile_text(const job *j, const ty_gpu_method *kernel, const ty_defines *o)
{
    char options[sizeof o->text + 32], *log = NULL;
    tally_error error = {""};
    void *code = NULL;
    size_t size = 0;
    snprintf(options, sizeof options, "%s %s", o->text,
             is_read(j) ? "--fdevice-syntax-only" : "--ptxas-options=--verbose");
    char *text = ty_gpu_text(kernel), signature[96];
    make_signature(j, signature, sizeof signature);
    if ((code = ty_cache_get(text, options, signature, &size)) != NULL) {
        ty_free(code);
        ty_free(text);
        return 1;
    }
    tally_status status =
        ty_nvrtc_compile(text, options, j->capability, &code, &size, &log, &error);
    if (status)
        fprintf(stderr, "FAILED %s sm_%u %s: %s\n", name_of(j), j->capability,
                tally_dtype_name(j->dtype), error.message);
    int ok = !status && (is_read(j) || check_registers(j, log));
    if (ok)
        ty_cache_put(text, options, signature, "passed", 6);
    ty_free(text);
    ty_free(code);
    ty_free(log);
    return ok;
}

/* The job's plan looked at as its device's. */
static int compile_plan(const job *j, tally_plan *plan)
{
    ty_device device = ty_device_virtual(j->capability);
    ty_defines o;
    plan->axes[0].lookup_kind = j->lookup_kind;
    plan->axes[0].positive = j->positive;
    if (j->method == &ty_statistics_kernels)
        ty_statistics_options(plan, &device, &j->wish, &o);
    else
        ty_gpu_options(plan, &device, &o);
    return compile_text(j, j->method->backend, &o);
}

static int compile_order(const job *j)
{
    const ty_device device = ty_device_virtual(j->capability);
    ty_defines o;
    ty_order_options(&device, j->dtype, &o);
    return compile_text(j, &ty_extremes_kernels, &o) && compile_text(j, &ty_order_kernels, &o) &&
           compile_text(j, &ty_weighted_kernels, &o);
}

static int compile(const job *j)
{
    tally_plan *plan = NULL;
    char key[16], value[16], *settings[] = {key, value};
    if (!j->method)
        return compile_order(j);
    /* Weights of one type for each type of samples. */
    tally_dtype weight = strncmp(j->method->name, "weighted", 8) != 0      ? (tally_dtype)0
                         : j->dtype == TALLY_F16 || j->dtype == TALLY_BF16 ? TALLY_F32
                                                                           : j->dtype;
    const int pixels = j->dtype == TALLY_U8 || !strcmp(j->method->name, "lane-private-pixels");
    const uint64_t channels = pixels && j->dimensions == 1 ? 3 : 1;
    if (make_plan(context, j->dimensions, j->dtype, j->bins, channels, weight, &plan)) {
        fprintf(stderr, "FAILED %s %s: no plan\n", j->method->name, tally_dtype_name(j->dtype));
        return 0;
    }
    const ty_method *own = plan->method;
    plan->method = j->method;
    plan->axes[0].proof = j->proof;
    plan->axes[0].map.exceptions = j->exceptions;
    plan->axes[0].map.exception_shift = j->exception_shift;
    plan->axes[0].map.tie = j->tie;
    if (j->key) {
        snprintf(key, sizeof key, "%s", j->key);
        snprintf(value, sizeof value, "%s", j->value);
        plan->settings = settings;
        plan->options.settings_count = 1;
    }
    int ok = compile_plan(j, plan);
    plan->method = own;
    plan->settings = NULL;
    plan->options.settings_count = 0;
    tally_plan_destroy(plan);
    return ok;
}

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        unsigned i = next++;
        pthread_mutex_unlock(&lock);
        if (i >= job_count)
            return unused;
        int ok = compile(&jobs[i]);
        pthread_mutex_lock(&lock);
        compiled += ok != 0;
        failed += ok == 0;
        if (all && (compiled + failed) % 100 == 0)
            fprintf(stderr, "%u of %u\n", compiled + failed, job_count);
        pthread_mutex_unlock(&lock);
    }
}

/* A worker a processor: NVRTC compiles in several threads at once. */
static void compile_all(void)
{
    pthread_t ids[most_workers];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    while (started < most_workers && started + 1 < processors &&
           !pthread_create(&ids[started], NULL, work, NULL))
        started++;
    work(NULL);
    while (started)
        pthread_join(ids[--started], NULL);
}

int main(int argc, char **argv)
{
    char reason[256];
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    if (!ty_nvrtc_version(reason, sizeof reason)) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &context, NULL))
        return 1;
    all = argc > 1 && !strcmp(argv[1], "all");
    const char *only = argc > 1 + all ? argv[1 + all] : NULL;
    for (int i = 0; ty_methods[i]; i++) {
        for (unsigned a = 0; ty_architectures[a]; a++) {
            if (ty_methods[i]->devices & TY_ON_CUDA && architecture_wanted(ty_architectures[a]) &&
                (!only || !strcmp(only, ty_methods[i]->name)))
                add_method(ty_methods[i], ty_architectures[a]);
        }
    }
    for (unsigned a = 0; ty_architectures[a]; a++)
        if (architecture_wanted(ty_architectures[a]) && (!only || !strcmp(only, "order")))
            add_orders(ty_architectures[a]);
    for (unsigned a = 0; ty_architectures[a]; a++)
        if (architecture_wanted(ty_architectures[a]) && (!only || !strcmp(only, "statistics")))
            add_statistics(ty_architectures[a]);
    if (job_count > most_jobs)
        return 1;
    compile_all();
    tally_context_destroy(context);
    printf("NVRTC %s: %u kernels compiled, %u failed\n", ty_nvrtc_version(reason, sizeof reason),
           compiled, failed);
    return failed || !compiled;
}
