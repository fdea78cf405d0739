/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: one plan executed by many at once, contexts that come and go, calls inside calls, fork,
 * cancelling, and weighted sums that do not depend on timing. Meant for the thread sanitizer too.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/threads.h"
#include "execute_help.h"
#include "input_help.h"
#include "plan/plan.h"

enum { CALLERS = 6, BINS = 50, BYTES = 6 << 20 };

static tally_context *context;
static unsigned char *data; /* BYTES of them, u8 or f32 */
static unsigned rounds;

typedef struct {
    const tally_plan *plan;
    tally_view view;
    tally_execute_options options;
    uint64_t want[BINS];
    tally_flows flows;
} work;

static tally_output output_of(uint64_t *counts, tally_flows *flows)
{
    tally_output output = {sizeof output, counts, flows, NULL, 0, 0, NULL};
    return output;
}

static work make_work(const tally_plan *plan, tally_dtype dtype, const tally_view *weights)
{
    work w = {.plan = plan};
    w.view = tally_view_1d(data, dtype, BYTES / tally_dtype_bytes(dtype));
    w.options = (tally_execute_options)TALLY_EXECUTE_OPTIONS_INIT;
    w.options.weights = weights;
    tally_output output = output_of(w.want, &w.flows);
    CHECK(tally_execute_reference(plan, &w.view, &w.options, &output, NULL) == TALLY_OK);
    return w;
}

static int counts_right(const work *w)
{
    uint64_t counts[BINS];
    tally_flows flows;
    tally_output output = output_of(counts, &flows);
    return tally_execute(w->plan, &w->view, &w->options, &output, NULL) == TALLY_OK &&
           !memcmp(counts, w->want, sizeof counts) && !memcmp(&flows, &w->flows, sizeof flows);
}

static void *call_often(void *arg)
{
    const work *w = arg;
    long wrong = 0;
    for (unsigned i = 0; i < rounds; i++)
        wrong += !counts_right(w);
    return (void *)wrong;
}

/* `each` runs in CALLERS threads; returns how many of what they return is not 0. */
static long in_threads(void *(*each)(void *), const work *w)
{
    pthread_t threads[CALLERS];
    long wrong = 0;
    for (int i = 0; i < CALLERS; i++) {
        if (pthread_create(&threads[i], NULL, each, (void *)(uintptr_t)w))
            abort();
    }
    for (int i = 0; i < CALLERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += result != NULL;
    }
    return wrong;
}

static void test_shared_plan(void)
{
    tally_plan_options bytes = help_options(TALLY_U8, tally_axis_even(BINS, 0, 200));
    tally_plan_options floats = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    static const char *const methods[] = {"cpu-bytes", "cpu-tables", "cpu-overlap", "cpu-in-place"};
    for (int m = 0; m < 4; m++) {
        tally_plan_options *o = m == 0 ? &bytes : &floats;
        o->method = methods[m];
        tally_plan *plan = help_plan(context, o);
        work w = make_work(plan, o->dtypes[0], NULL);
        CHECK_SAY(in_threads(call_often, &w) == 0, "%s", methods[m]);
        tally_plan_destroy(plan);
    }
}

static void *own_context(void *arg)
{
    const work *w = arg;
    long wrong = 0;
    for (unsigned i = 0; i < rounds; i++) {
        tally_context *mine = help_context(1 + i % 4);
        tally_plan *plan = help_plan(mine, tally_plan_options_get(w->plan));
        work own = *w;
        own.plan = plan;
        wrong += !counts_right(&own);
        tally_plan_destroy(plan);
        tally_context_destroy(mine);
    }
    return (void *)wrong;
}

static void test_contexts(void)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    tally_plan *plan = help_plan(context, &o);
    work w = make_work(plan, TALLY_F32, NULL);
    CHECK(in_threads(own_context, &w) == 0);
    tally_plan_destroy(plan);
    for (int i = 0; i < 20; i++) { /* never used, or asked for by the thousand */
        tally_context_destroy(help_context(0));
        tally_context_destroy(help_context(UINT32_MAX));
    }
}

/* A progress function that calls the library again, on the same context. */
static int count_again(void *user, uint64_t done, uint64_t total)
{
    const work *inner = user;
    CHECK(done <= total);
    CHECK(counts_right(inner));
    return 0;
}

static void test_nested(void)
{
    tally_plan_options o = help_options(TALLY_U8, tally_axis_even(BINS, 0, 200));
    tally_plan *plan = help_plan(context, &o);
    work inner = make_work(plan, TALLY_U8, NULL), outer = inner;
    outer.options.progress = count_again;
    outer.options.user = &inner;
    CHECK(counts_right(&outer));
    tally_plan_destroy(plan);
}

typedef struct {
    ty_pool *pool;
    unsigned parts[64];
} nest;

static void inner_part(void *arg, unsigned part, unsigned worker)
{
    (void)worker;
    __atomic_fetch_add(&((nest *)arg)->parts[part], 1, __ATOMIC_RELAXED);
}

static void outer_part(void *arg, unsigned part, unsigned worker)
{
    nest *n = arg;
    (void)part;
    (void)worker;
    ty_pool_run(n->pool, 0, 64, inner_part, n);
}

/* The pool itself: every part once, also from inside a task and with fewer workers. */
static void test_pool(void)
{
    nest n = {.pool = ty_pool_create(4)};
    if (!n.pool)
        abort();
    ty_pool_run(n.pool, 0, 0, outer_part, &n); /* no parts: nothing happens */
    for (unsigned i = 0; i < 20; i++)
        ty_pool_run(n.pool, i % 5, 8, outer_part, &n);
    for (unsigned i = 0; i < 64; i++)
        CHECK_SAY(n.parts[i] == 160, "part %u: %u", i, n.parts[i]);
    ty_pool_destroy(n.pool);
    ty_pool_destroy(NULL);
}

/* A child has none of the parent's threads: it counts all the same, and may open its own context.
 */
static void test_fork(void)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    tally_plan *plan = help_plan(context, &o);
    work w = make_work(plan, TALLY_F32, NULL);
    CHECK(counts_right(&w)); /* the pool's threads run now */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int right = counts_right(&w);
        if (!help_is_slow()) /* sanitizers end a forked child that starts threads */
            right = right && !own_context(&w);
        tally_plan_destroy(plan);
        tally_context_destroy(context);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    CHECK(counts_right(&w));
    tally_plan_destroy(plan);
}

static void no_part(void *arg, unsigned part, unsigned worker)
{
    (void)arg;
    (void)part;
    (void)worker;
}

static void *run_until_told(void *arg)
{
    nest *n = arg;
    while (!__atomic_load_n(&n->parts[63], __ATOMIC_RELAXED))
        ty_pool_run(n->pool, 0, 1000, no_part, NULL);
    return NULL;
}

/* Forks while the pool's lock is taken more often than not: no child may wait for it. */
static void test_fork_amid_work(void)
{
    nest n = {.pool = ty_pool_create(4)};
    pthread_t busy;
    if (help_is_slow()) { /* sanitizers have locks of their own */
        ty_pool_destroy(n.pool);
        return;
    }
    if (!n.pool || pthread_create(&busy, NULL, run_until_told, &n))
        abort();
    fflush(stdout);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            ty_pool_run(n.pool, 0, 63, inner_part, &n);
            ty_pool_destroy(n.pool);
            _exit(n.parts[0] == 1 && n.parts[62] == 1 ? 0 : 1);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        if (!CHECK_SAY(status == 0, "child %d: status %#x", i, (unsigned)status))
            break;
    }
    __atomic_store_n(&n.parts[63], 1, __ATOMIC_RELAXED);
    pthread_join(busy, NULL);
    ty_pool_destroy(n.pool);
}

typedef struct {
    pthread_t caller;
    uint64_t calls, stop_at, last, total;
} watch;

static int watching(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    CHECK(pthread_equal(pthread_self(), w->caller));
    CHECK(done <= total && done > 0 && (!w->total || w->total == total));
    w->total = total;
    w->last = done;
    return ++w->calls >= w->stop_at;
}

/* Progress comes from the calling thread; a nonzero return cancels, outputs untouched. */
static void test_cancel(const char *method, tally_dtype weight)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    o.method = method;
    o.weight_dtype = weight;
    tally_plan *plan = help_plan(context, &o);
    tally_view v = tally_view_1d(data, TALLY_F32, BYTES / 4);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    watch w = {pthread_self(), 0, UINT64_MAX, 0, 0};
    sheet s;
    tally_output output = help_sheet(&s, 0);
    tally_error error = {""};
    e.weights = weight ? &v : NULL;
    e.progress = watching;
    e.user = &w;
    CHECK(tally_execute(plan, &v, &e, &output, NULL) == TALLY_OK);
    CHECK_SAY(w.calls >= 1 && w.total == BYTES / 4, "%s: %llu calls", method,
              (unsigned long long)w.calls);
    for (uint64_t stop = 1; stop <= 2; stop++) {
        w = (watch){pthread_self(), 0, stop, 0, 0};
        output = help_sheet(&s, 0);
        tally_status status = tally_execute(plan, &v, &e, &output, &error);
        if (w.calls < stop) /* the other threads took all further parts */
            continue;
        CHECK_SAY(status == TALLY_ERROR_CANCELLED, "%s: %s", method, tally_status_string(status));
        CHECK(help_untouched(&s));
        CHECK(strstr(error.message, "cancelled") != NULL);
        CHECK(w.calls == stop);
    }
    tally_plan_destroy(plan);
}

/* Weights whose sum depends on the order of adding: every run gives the same bits, on any number of
 * batches and of threads. */
static void test_weighted_bits(void)
{
    const uint64_t n = BYTES / 4;
    double *weights = malloc(n * sizeof *weights);
    if (!weights)
        abort();
    for (uint64_t i = 0; i < n; i++)
        weights[i] = ldexp((double)help_below(1 << 20) + 0.1, (int)help_below(40) - 20);
    tally_context *three = help_context(3);
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    o.weight_dtype = TALLY_F64;
    tally_plan *plan = help_plan(three, &o);
    for (uint64_t batches = 1; batches <= 8; batches *= 8) {
        tally_view v = tally_view_1d(data, TALLY_F32, n / batches);
        tally_view w = tally_view_1d(weights, TALLY_F64, n / batches);
        v.batches = w.batches = batches;
        tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
        e.weights = &w;
        double first[8 * BINS], again[8 * BINS];
        tally_output a = output_of((uint64_t *)(void *)first, NULL),
                     b = output_of((uint64_t *)(void *)again, NULL);
        CHECK(tally_execute(plan, &v, &e, &a, NULL) == TALLY_OK);
        for (unsigned i = 0; i < (help_is_slow() ? 5 : 100); i++) {
            CHECK(tally_execute(plan, &v, &e, &b, NULL) == TALLY_OK);
            CHECK(!memcmp(first, again, batches * BINS * sizeof *first));
        }
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            tally_context *other = help_context(threads);
            tally_plan *same = help_plan(other, &o);
            CHECK(tally_execute(same, &v, &e, &b, NULL) == TALLY_OK);
            CHECK_SAY(!memcmp(first, again, batches * BINS * sizeof *first), "%u threads", threads);
            tally_plan_destroy(same);
            tally_context_destroy(other);
        }
        double sum = 0; /* and they are right to rounding */
        CHECK(tally_execute_reference(plan, &v, &e, &b, NULL) == TALLY_OK);
        for (uint64_t i = 0; i < batches * BINS; i++)
            sum = fmax(sum, fabs(first[i] - again[i]) / fmax(1, fabs(again[i])));
        CHECK_SAY(sum < 1e-9, "%g", sum);
    }
    tally_plan_destroy(plan);
    tally_context_destroy(three);
    free(weights);
}

/* Threads of this process; 0 where the system does not say. */
static unsigned running(void)
{
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder));)
        n += e->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return n;
}

/* Calls that are soon done start no thread; a large one starts some. */
static void test_small_calls(void)
{
    static const tally_dtype dtypes[][2] = {{TALLY_U8, 0}, {TALLY_F32, 0}, {TALLY_F32, TALLY_F32}};
    static const unsigned sizes[] = {4, 4 << 10, 512 << 10, BYTES};
    for (int d = 0; d < 3; d++) {
        tally_context *four = help_context(4);
        tally_plan_options o = help_options(dtypes[d][0], tally_axis_even(BINS, -100, 100));
        o.weight_dtype = dtypes[d][1];
        tally_plan *plan = help_plan(four, &o);
        const unsigned before = running();
        for (int i = 0; i < 4; i++) {
            tally_view v =
                tally_view_1d(data, dtypes[d][0], sizes[i] / tally_dtype_bytes(dtypes[d][0]));
            tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
            e.weights = o.weight_dtype ? &v : NULL;
            uint64_t counts[BINS];
            tally_output output = output_of(counts, NULL);
            CHECK(tally_execute(plan, &v, &e, &output, NULL) == TALLY_OK);
            CHECK_SAY(!before || (running() > before) == (i == 3), "%u threads, %u after %u bytes",
                      before, running(), sizes[i]);
        }
        tally_plan_destroy(plan);
        tally_context_destroy(four);
    }
}

static void *ask_for_kernels(void *arg)
{
    long wrong = 0;
    (void)arg;
    for (int i = 0; i < 100; i++)
        wrong += strlen(tally_kernels_describe()) == 0;
    return (void *)wrong;
}

/* A text that is written while others read it. */
static void test_kernels(void)
{
    CHECK(in_threads(ask_for_kernels, NULL) == 0);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    rounds = help_is_slow() ? 3 : 15;
    context = help_context(4);
    data = malloc(BYTES);
    if (!data)
        abort();
    for (size_t i = 0; i + 4 <= BYTES; i += 4) { /* floats mostly within the axis; bytes vary too */
        float f = (float)help_below(240000) / 1000 - 120;
        memcpy(data + i, &f, sizeof f);
    }
    test_kernels();
    test_pool();
    test_shared_plan();
    test_contexts();
    test_nested();
    test_fork();
    test_fork_amid_work();
    static const char *const methods[] = {"cpu-tables", "cpu-overlap", "cpu-in-place", "serial"};
    for (int m = 0; m < 4; m++)
        test_cancel(methods[m], (tally_dtype)0);
    test_cancel("cpu-weights", TALLY_F32);
    test_weighted_bits();
    test_small_calls();
    tally_context_destroy(context);
    free(data);
    return help_end();
}
