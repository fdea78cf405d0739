/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the speeds that `auto` chooses by. Each row is one method on samples of one size in one
 * class of bins: a small call and a large one, the time between them divided by the bytes between
 * them; on uniform samples and on equal ones, of which the slower counts.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/threads.h"
#include "plan/registry.h"
#include "plan/tuning.h"

/* A class of bins reaches up to its number, at which it is measured; the last one has no end. */
static const uint64_t classes[] = {256, 2048, 16384, 56000, 110000, 1 << 20, 4 << 20};
static const tally_dtype dtypes[] = {TALLY_U8, TALLY_U16, TALLY_F32, TALLY_F64};

enum { class_count = sizeof classes / sizeof *classes, few_samples = 1024 };

/* Large calls: the first size whose call takes long enough for the clock. */
static const uint64_t sizes[] = {16 << 20, 256 << 20};
static const double long_enough = 5e-3;

typedef struct tune {
    tally_context *context; /* the processor: of one thread */
    unsigned char *host;    /* the larger size */
    void *memory;           /* the same on the device; NULL: samples stay on the host */
    uint64_t *counts;
    ty_tuning *tuning;
} tune;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Uniform samples of [0, span), or all in the middle. */
static double span_of(tally_dtype dtype)
{
    return dtype == TALLY_U8 ? 256 : dtype == TALLY_U16 ? 65536 : 1;
}

static void fill(unsigned char *to, uint64_t bytes, tally_dtype dtype, int equal)
{
    uint64_t state = 1, period = 4 << 20;
    size_t size = tally_dtype_bytes(dtype);
    for (uint64_t i = 0; i < period / size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double unit = equal ? 0.5 : (double)(state >> 40) * 0x1p-24;
        uint16_t half = (uint16_t)(unit * 65536);
        uint8_t byte = (uint8_t)(unit * 256);
        float single = (float)unit;
        const void *from = size == 1   ? (const void *)&byte
                           : size == 2 ? (const void *)&half
                           : size == 4 ? (const void *)&single
                                       : (const void *)&unit;
        memcpy(to + i * size, from, size);
    }
    for (uint64_t at = period; at < bytes; at += period)
        memcpy(to + at, to, period);
}

/* The median of up to five calls, fewer when they are slow, by the device's clock where the samples
 * are in its memory, which few calls read well; negative on failure. */
static double time_calls(const tune *t, const tally_plan *plan, const void *data, uint64_t n,
                         tally_error *error)
{
    tally_view views[2];
    tally_output out = TALLY_OUTPUT_INIT;
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    double seconds[5], own, enough = data == t->memory ? 0.02 : 0.2;
    int repeats = 0;
    views[0] = tally_view_1d(data, plan->options.dtypes[0], n);
    if (data == t->memory) {
        views[0].device = t->context->device;
        e.device_seconds = &own;
    }
    views[1] = views[0];
    e.weights = plan->weighted ? &views[1] : NULL; /* any numbers will do */
    out.counts = t->counts;
    if (tally_execute(plan, views, &e, &out, error)) /* allocates */
        return -1;
    for (double begin = now(); repeats < 5 && (repeats < 1 || now() - begin < enough);) {
        double from = now();
        if (tally_execute(plan, views, &e, &out, error))
            return -1;
        seconds[repeats] = e.device_seconds && own > 0 ? own : now() - from;
        for (int i = repeats++; i > 0 && seconds[i] < seconds[i - 1]; i--) {
            double swap = seconds[i];
            seconds[i] = seconds[i - 1];
            seconds[i - 1] = swap;
        }
    }
    return seconds[repeats / 2];
}

/* Seconds of a call on few samples, and bytes a second beyond them. */
static tally_status measure(const tune *t, const tally_plan *plan, const void *data, ty_rate *rate,
                            tally_error *error)
{
    size_t size = tally_dtype_bytes(plan->options.dtypes[0]);
    double of_all =
        (double)ty_plan_bytes(plan) / (double)size; /* with weights and other dimensions */
    double few = time_calls(t, plan, data, few_samples, error), many = few;
    uint64_t bytes = 0;
    for (int i = 0; i < 2 && many >= 0 && many - few < long_enough; i++)
        many = time_calls(t, plan, data, (bytes = sizes[i]) / size, error);
    if (few < 0 || many < 0)
        return TALLY_ERROR_DEVICE;
    /* Where the large call is not slower than the small one, all of its time is put down to the
     * bytes. */
    double beyond = many > few ? many - few : many;
    rate->call_us = few * 1e6;
    rate->gbps = of_all * (double)(bytes - few_samples * size) / beyond * 1e-9;
    return TALLY_OK;
}

/* A plan of the method that counts; if it does not, one that sums weights; else one of two
 * dimensions. */
static tally_plan *make_plan(const tune *t, const ty_method *m, tally_dtype dtype, uint64_t bins)
{
    tally_plan *plan = NULL;
    for (int kind = 0; kind < 3 && !plan; kind++) {
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = kind == 2 ? 2 : 1};
        o.axes[0] = tally_axis_even(kind == 2 ? bins / 16 : bins, 0, span_of(dtype));
        o.axes[1] = tally_axis_even(16, 0, span_of(dtype));
        o.dtypes[0] = o.dtypes[1] = dtype;
        o.weight_dtype = kind == 1 ? dtype : (tally_dtype)0;
        o.method = m->name;
        o.n_hint = sizes[1] / tally_dtype_bytes(dtype);
        if (tally_plan_create(t->context, &o, &plan, NULL))
            plan = NULL;
    }
    return plan;
}

static void add_row(ty_tuning *tuning, const char *method, uint32_t bytes, uint64_t bins,
                    const ty_rate *measured)
{
    if (tuning->count == TY_RATES_MOST)
        return;
    ty_rate *r = &tuning->rates[tuning->count++];
    *r = *measured;
    snprintf(r->method, sizeof r->method, "%s", method);
    r->bytes = bytes;
    r->bins = bins;
}

/* The method's rows for one type: a class each, the last one it serves without a limit. */
static tally_status tune_method(const tune *t, const ty_method *m, tally_dtype dtype,
                                const void *data, const ty_rate *other, ty_rate *rates,
                                tally_error *error)
{
    tally_status status = TALLY_OK;
    for (int c = 0; c < class_count && !status; c++) {
        tally_plan *plan = make_plan(t, m, dtype, classes[c]);
        rates[c].gbps = 0;
        if (!plan)
            continue;
        status = measure(t, plan, data, &rates[c], error);
        if (other && other[c].gbps > 0 && other[c].gbps < rates[c].gbps)
            rates[c] = other[c];
        tally_plan_destroy(plan);
    }
    return status;
}

static void add_rows(const tune *t, const ty_method *m, tally_dtype dtype, const ty_rate *rates)
{
    int last = class_count - 1;
    while (last >= 0 && rates[last].gbps == 0)
        last--;
    for (int c = 0; c <= last; c++) {
        if (rates[c].gbps > 0)
            add_row(t->tuning, m->name, (uint32_t)tally_dtype_bytes(dtype),
                    c == last ? 0 : classes[c], &rates[c]);
    }
}

/* ---- the two rows that are no method ---- */

typedef struct reading {
    const unsigned char *from;
    uint64_t sum[64]; /* so that nothing is left out */
} reading;

enum { read_parts = 64 };

static void read_part(void *arg, unsigned part, unsigned worker)
{
    reading *r = arg;
    uint64_t n = sizes[1] / read_parts, sum = 0, word;
    (void)worker;
    for (uint64_t i = 0; i < n; i += sizeof word) {
        memcpy(&word, r->from + part * n + i, sizeof word);
        sum ^= word;
    }
    r->sum[part] = sum;
}

static void tune_reading(const tune *t, ty_pool *pool)
{
    reading r = {.from = t->host};
    ty_rate rate = {.call_us = 0};
    double best = 1;
    for (int i = 0; i < 5; i++) {
        double from = now();
        ty_pool_run(pool, 0, read_parts, read_part, &r);
        double took = now() - from;
        best = took < best ? took : best;
    }
    rate.gbps = (double)sizes[1] / best * 1e-9;
    add_row(t->tuning, TY_RATE_READ, 0, 0, &rate);
}

/* Host samples by the fastest method of a few bins, on so many threads. */
static tally_status tune_way(const tune *t, const char *row, unsigned threads, tally_error *error)
{
    tally_context_options c = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    ty_rate rate;
    o.axes[0] = tally_axis_even(256, 0, 256);
    o.dtypes[0] = TALLY_U8;
    c.device = t->context->device;
    c.index = t->context->index;
    c.threads = threads;
    tally_status status = tally_context_create(&c, &context, error);
    if (!status)
        status = tally_plan_create(context, &o, &plan, error);
    if (!status)
        status = measure(t, plan, t->host, &rate, error);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    if (!status)
        add_row(t->tuning, row, 0, 0, &rate);
    return status;
}

static tally_status tune_host(const tune *t, tally_error *error)
{
    tally_status status = tune_way(t, TY_RATE_HOST, 1, error);
    return status ? status : tune_way(t, TY_RATE_BUS, ty_pool_threads(t->context->pool), error);
}

/* ---- all of it ---- */

static tally_status put_samples(const tune *t, tally_dtype dtype, int equal, tally_error *error)
{
    fill(t->host, sizes[1], dtype, equal);
    return t->memory ? tally_memory_write(t->context, t->memory, 0, t->host, sizes[1], error)
                     : TALLY_OK;
}

static int serves(const tally_context *context, const ty_method *m, tally_dtype dtype)
{
    uint32_t bit = context->device == TALLY_DEVICE_CPU      ? TY_ON_CPU
                   : context->device == TALLY_DEVICE_OPENCL ? TY_ON_OPENCL
                                                            : TY_ON_CUDA;
    return m->cost && (m->devices & bit) && (m->dtypes >> dtype & 1);
}

static tally_status tune_all(const tune *t, int (*progress)(void *, uint64_t, uint64_t), void *user,
                             tally_error *error)
{
    enum { most_methods = 64, dtype_count = 4 };
    ty_rate rates[2][most_methods][class_count];
    const void *data = t->memory ? t->memory : t->host;
    tally_status status = TALLY_OK;
    uint64_t methods = tally_method_count(), total = methods * dtype_count * 2, done = 0;
    if (methods > most_methods)
        return ty_error(error, TALLY_ERROR_INTERNAL, "more methods than tuning has room for");
    for (int d = 0; d < dtype_count && !status; d++) {
        for (int equal = 0; equal < 2 && !status; equal++) {
            status = put_samples(t, dtypes[d], equal, error);
            for (uint64_t m = 0; m < methods && !status; m++) {
                if (progress && progress(user, done++, total))
                    return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
                if (serves(t->context, ty_methods[m], dtypes[d]))
                    status = tune_method(t, ty_methods[m], dtypes[d], data,
                                         equal ? rates[0][m] : NULL, rates[equal][m], error);
            }
        }
        for (uint64_t m = 0; m < methods && !status; m++) {
            if (serves(t->context, ty_methods[m], dtypes[d]))
                add_rows(t, ty_methods[m], dtypes[d], rates[1][m]);
        }
    }
    return status;
}

/* The processor is measured on one thread: what its rows tell. */
static tally_status open_single(tally_context *context, tally_context **single, tally_error *error)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    *single = NULL;
    if (context->device != TALLY_DEVICE_CPU)
        return TALLY_OK;
    o.device = TALLY_DEVICE_CPU;
    o.threads = 1;
    return tally_context_create(&o, single, error);
}

static tally_status measure_all(tune *t, tally_context *context,
                                int (*progress)(void *, uint64_t, uint64_t), void *user,
                                tally_error *error)
{
    tally_status status = TALLY_OK;
    if (context->device == TALLY_DEVICE_CPU) {
        fill(t->host, sizes[1], TALLY_U8, 0);
        tune_reading(t, context->pool);
    } else {
        status = tally_memory_create(context, sizes[1], &t->memory, error);
    }
    if (!status)
        status = tune_all(t, progress, user, error);
    if (!status && t->memory)
        status = tune_host(t, error);
    tally_memory_destroy(context, t->memory);
    return status;
}

tally_status tally_tune(tally_context *context,
                        int (*progress)(void *user, uint64_t done, uint64_t total), void *user,
                        char path[1024], tally_error *error)
{
    if (!context || !path)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", context ? "path" : "context");
    if (context->several)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "a context of several devices: tune each of them by a context of its own");
    tally_context *single;
    tally_status status = ty_tuning_path(context, path, 1024, error); /* before minutes of work */
    if (!status)
        status = open_single(context, &single, error);
    if (status)
        return status;
    tune t = {.context = single ? single : context,
              .host = ty_malloc(sizes[1]),
              .counts = ty_malloc(classes[class_count - 1] * sizeof *t.counts),
              .tuning = ty_calloc(1, sizeof *t.tuning)};
    if (!t.host || !t.counts || !t.tuning)
        status = ty_error_memory(error, "tuning", sizes[1]);
    else
        status = measure_all(&t, context, progress, user, error);
    if (!status)
        status = ty_tuning_save(context, t.tuning, path, error);
    ty_free(t.host);
    ty_free(t.counts);
    ty_free(t.tuning);
    tally_context_destroy(single);
    return status;
}
