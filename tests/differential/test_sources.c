/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that are read while they are counted: what every method finds in memory, to the bit, also
 * sums of floats, by any number of threads; statistics likewise. A source that fails leaves the
 * output as it was. What is decoded as a whole is read by one thread.
 *
 *     test_sources [SEED [CASES [DEVICE [SECONDS]]]]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"

typedef struct memory {
    const tally_view *view; /* packed, one batch */
    uint64_t fails_at;      /* an element that cannot be read; UINT64_MAX: none */
} memory;

static uint64_t compared, failures, statistics;
static int lends; /* the case's sources */
static uint64_t grain, whole;
static atomic_ullong lent, returned;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static tally_status read_memory(void *user, uint64_t begin, uint64_t count, void *to,
                                tally_error *error)
{
    const memory *m = user;
    const size_t pixel = tally_dtype_bytes(m->view->dtype) * (size_t)m->view->channels;
    if (begin + count > m->view->rows * m->view->columns) {
        printf("FAILED: %llu elements from %llu on are asked for\n", (unsigned long long)count,
               (unsigned long long)begin);
        abort();
    }
    if (m->fails_at >= begin && m->fails_at < begin + count) {
        snprintf(error->message, sizeof error->message, "element %llu is lost",
                 (unsigned long long)m->fails_at);
        return TALLY_ERROR_IO;
    }
    memcpy(to, (const unsigned char *)m->view->data + begin * pixel, (size_t)count * pixel);
    return TALLY_OK;
}

/* Most ranges, as copies at odd addresses, so that one used for too long is found. */
static const void *lend_memory(void *user, uint64_t begin, uint64_t count)
{
    const memory *m = user;
    const size_t pixel = tally_dtype_bytes(m->view->dtype) * (size_t)m->view->channels;
    unsigned char *copy = NULL;
    if ((begin / 4096 + count + (uintptr_t)m / sizeof *m) % 8 &&
        !(m->fails_at >= begin && m->fails_at < begin + count))
        copy = malloc(count * pixel + 1);
    if (!copy)
        return NULL;
    memcpy(copy + 1, (const unsigned char *)m->view->data + begin * pixel, (size_t)count * pixel);
    atomic_fetch_add(&lent, count);
    return copy + 1;
}

static void return_memory(void *user, const void *there, uint64_t begin, uint64_t count)
{
    (void)user;
    (void)begin;
    atomic_fetch_add(&returned, count);
    free((unsigned char *)(uintptr_t)there - 1);
}

/* The view's first batch, packed, in memory of its own. */
static void pack(tally_view *v, unsigned char **buffer)
{
    const size_t size = tally_dtype_bytes(v->dtype);
    unsigned char *packed = malloc(v->rows * v->columns * v->channels * size + 1), *to = packed;
    for (uint64_t r = 0; r < v->rows; r++)
        for (uint64_t c = 0; c < v->columns; c++)
            for (uint64_t ch = 0; ch < v->channels; ch++, to += size)
                memcpy(to, random_case_at(v, 0, r, c, ch), size);
    free(*buffer);
    *buffer = packed;
    v->data = packed;
    v->batches = 1;
    v->batch_stride_bytes = v->row_stride_bytes = v->column_stride_bytes = v->channel_stride_bytes =
        0;
}

/* Weights whose sums hang on the order of additions. */
static void make_uneven(const tally_view *v, rng *r)
{
    for (uint64_t i = 0; i < v->rows * v->columns * v->channels; i++) {
        const double x = (rng_unit(r) - 0.3) * 1e3;
        const float single = (float)x;
        if (v->dtype == TALLY_F64)
            memcpy((unsigned char *)(uintptr_t)v->data + 8 * i, &x, 8);
        else if (v->dtype == TALLY_F32)
            memcpy((unsigned char *)(uintptr_t)v->data + 4 * i, &single, 4);
    }
}

static void pack_case(random_case *c, rng *r)
{
    for (uint32_t d = 0; d < c->plan.dimensions; d++)
        pack(&c->views[d], &c->buffers[d]);
    pack(&c->mask, &c->buffers[TALLY_MAX_DIMENSIONS]);
    pack(&c->weights, &c->buffers[TALLY_MAX_DIMENSIONS + 1]);
    uint64_t bins = 1;
    for (uint32_t d = 0; d < c->plan.dimensions; d++)
        bins *= c->plan.axes[d].bins;
    /* Few samples for many bins are added in place, one by one. */
    if (c->views[0].rows * c->views[0].columns / 64 > bins)
        make_uneven(&c->weights, r);
    c->histograms = 0;
    for (uint64_t i = 0; i < c->plan.channels; i++)
        c->histograms += !c->plan.channel_mask || (c->plan.channel_mask >> i & 1);
}

/* Where the k-th of uneven pieces begins, of `whole` elements or so. */
static uint64_t piece_begin(uint64_t k)
{
    return k * whole + k * k % whole;
}

static uint64_t find_piece(void *user, uint64_t element)
{
    const uint64_t k = element / whole;
    (void)user;
    return piece_begin(k) <= element ? piece_begin(k) : piece_begin(k - 1);
}

/* The same case with sources; `memories` and `sources` are of all its views. */
static random_case read_case(const random_case *c, memory *memories, tally_source *sources,
                             uint64_t fails_at)
{
    random_case same = *c;
    tally_view *views[TALLY_MAX_DIMENSIONS + 2];
    const tally_view *from[TALLY_MAX_DIMENSIONS + 2];
    unsigned n = 0;
    for (; n < c->plan.dimensions; n++) {
        views[n] = &same.views[n];
        from[n] = &c->views[n];
    }
    views[n] = &same.mask;
    from[n++] = &c->mask;
    views[n] = &same.weights;
    from[n++] = &c->weights;
    for (unsigned i = 0; i < n; i++) {
        memories[i] = (memory){from[i], fails_at};
        sources[i] = (tally_source)TALLY_SOURCE_INIT;
        sources[i].read = read_memory;
        sources[i].user = &memories[i];
        sources[i].grain = grain;
        sources[i].whole = whole ? find_piece : NULL;
        if (lends) {
            sources[i].lend = lend_memory;
            sources[i].give_back = return_memory;
        }
        views[i]->data = NULL;
        views[i]->source = &sources[i];
    }
    return same;
}

static int check_plan(const random_case *c, const tally_plan *plan, uint64_t seed, int reference)
{
    memory memories[TALLY_MAX_DIMENSIONS + 2];
    tally_source sources[TALLY_MAX_DIMENSIONS + 2];
    const int accumulate = (int)(seed >> 3 & 1);
    random_case same = read_case(c, memories, sources, UINT64_MAX);
    answer want = answer_make(c, tally_plan_bins(plan), 1),
           got = answer_make(c, tally_plan_bins(plan), 1);
    answer_run(&want, c, plan, accumulate, reference);
    answer_run(&got, &same, plan, accumulate, reference);
    int ok = answer_same(&want, &got);
    if (!ok)
        printf("FAILED: status %d and %d: %s %s\n", (int)want.status, (int)got.status,
               want.error.message, got.error.message);
    compared++;
    answer_free(&got);
    const uint64_t elements = c->views[0].rows * c->views[0].columns;
    if (ok && elements && c->histograms) {
        char words[64];
        const uint64_t lost = seed % elements;
        same = read_case(c, memories, sources, lost);
        got = answer_make(c, tally_plan_bins(plan), 1);
        answer_free(&want);
        want = answer_make(c, tally_plan_bins(plan), 1);
        answer_run(&got, &same, plan, accumulate, reference);
        snprintf(words, sizeof words, "element %llu is lost", (unsigned long long)lost);
        ok = got.status == TALLY_ERROR_IO && !strcmp(got.error.message, words) &&
             !memcmp(got.counts, want.counts, want.cells * want.cell_bytes) &&
             !memcmp(got.flows, want.flows, want.histograms * sizeof *want.flows);
        if (!ok)
            printf("FAILED: not as it was, or status %d: %s\n", (int)got.status, got.error.message);
        failures++;
        answer_free(&got);
    }
    answer_free(&want);
    return ok;
}

static int same_stats(const tally_stats *a, const tally_stats *b)
{
    const double x[5] = {a->min, a->max, a->mean, a->m2, a->m3};
    const double y[5] = {b->min, b->max, b->mean, b->m2, b->m3};
    uint64_t bits[2][5];
    memcpy(bits[0], x, sizeof x);
    memcpy(bits[1], y, sizeof y);
    return a->samples == b->samples && a->finite == b->finite && a->nan == b->nan &&
           a->minus_inf == b->minus_inf && a->plus_inf == b->plus_inf &&
           a->min_integer == b->min_integer && a->max_integer == b->max_integer &&
           !memcmp(bits[0], bits[1], sizeof bits[0]);
}

static int check_stats(const random_case *c, tally_context *context, uint64_t seed)
{
    memory memories[TALLY_MAX_DIMENSIONS + 2];
    tally_source sources[TALLY_MAX_DIMENSIONS + 2];
    const random_case same = read_case(c, memories, sources, UINT64_MAX);
    const int moments = (int)(seed & 1);
    for (uint64_t i = 0; i <= c->plan.channels; i++) {
        const uint64_t ch = i < c->plan.channels ? i : TALLY_ALL_CHANNELS;
        tally_stats want = TALLY_STATS_INIT, got = want;
        tally_error error = {""};
        tally_status one = tally_stats_add(NULL, &c->views[0], c->has_mask ? &c->mask : NULL, ch,
                                           moments, &want, &error);
        tally_status two =
            tally_stats_add(seed & 2 ? context : NULL, &same.views[0],
                            c->has_mask ? &same.mask : NULL, ch, moments, &got, &error);
        statistics++;
        if (one || two || !same_stats(&want, &got)) {
            printf("FAILED: statistics of channel %lld: %d %d %s\n", (long long)ch, (int)one,
                   (int)two, error.message);
            return 0;
        }
    }
    return 1;
}

/* ---- Pieces ---- */

enum { PIECES = 200, PIECE = 5000 };

typedef struct readers {
    pthread_mutex_t lock;
    pthread_t reader[PIECES + 2];
    int known[PIECES + 2], shared; /* pieces that two threads have read */
} readers;

static tally_status read_pieces(void *user, uint64_t begin, uint64_t count, void *to,
                                tally_error *error)
{
    readers *r = user;
    (void)error;
    memset(to, 0, (size_t)count * sizeof(double));
    pthread_mutex_lock(&r->lock);
    for (uint64_t k = 0; k < PIECES + 2; k++) {
        if (begin >= piece_begin(k + 1) || begin + count <= piece_begin(k))
            continue;
        r->shared += r->known[k] && !pthread_equal(r->reader[k], pthread_self());
        r->known[k] = 1;
        r->reader[k] = pthread_self();
    }
    pthread_mutex_unlock(&r->lock);
    return TALLY_OK;
}

/* What a source must not say: elements are counted all the same. */
static uint64_t find_later(void *user, uint64_t element)
{
    (void)user;
    return element + 100;
}

/* No piece is read by two threads where the source says where they begin; else some mostly are. */
static int check_pieces(tally_context *context)
{
    uint64_t counts[10] = {0}, seen = 0;
    int shared[3];
    whole = PIECE;
    for (int kind = 0; kind < 3; kind++) {
        readers r = {.lock = PTHREAD_MUTEX_INITIALIZER};
        tally_source source = TALLY_SOURCE_INIT;
        tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
        tally_output output = TALLY_OUTPUT_INIT;
        tally_plan *plan;
        source.read = read_pieces;
        source.user = &r;
        source.whole = kind == 1 ? find_piece : kind ? find_later : NULL;
        tally_view view = tally_view_1d(NULL, TALLY_F64, piece_begin(PIECES));
        view.source = &source;
        options.axes[0] = tally_axis_even(10, 0, 1);
        options.dtypes[0] = TALLY_F64;
        output.counts = counts;
        if (tally_plan_create(context, &options, &plan, NULL) ||
            tally_execute(plan, &view, NULL, &output, NULL) || counts[0] != piece_begin(PIECES))
            return 0;
        tally_plan_destroy(plan);
        for (int k = 0; k < PIECES; k++)
            seen += (uint64_t)r.known[k];
        shared[kind] = r.shared;
    }
    printf("pieces read by two threads: %d, with whole ones %d\n", shared[0], shared[1]);
    return seen == 3 * PIECES && !shared[1];
}

/* On another device, which takes long to compile kernels, `auto` alone. */
static int run_case(tally_context *const *contexts, uint64_t seed, int cpu)
{
    random_case c;
    rng r = {.state = seed};
    int ok = 1;
    if (random_case_make(&c, seed, CASE_LARGE, NULL))
        return 0;
    pack_case(&c, &r);
    lends = seed % 4 != 0;
    grain = seed % 3 ? 0 : 1 + rng_below(&r, 20000);
    whole = seed % 3 == 1 ? 1 + rng_below(&r, 20000) : 0;
    tally_context *context = contexts[rng_below(&r, 3)];
    for (uint32_t m = cpu ? 0 : tally_method_count(); m <= tally_method_count() && ok; m++) {
        tally_method_info info = TALLY_METHOD_INFO_INIT;
        tally_plan *plan = NULL;
        if (m < tally_method_count())
            tally_method_get(m, &info, NULL);
        /* In place floats are added to what the output holds, one by one. */
        if (info.name && !strcmp(info.name, "cpu-in-place") && c.has_weights)
            continue;
        c.plan.method = info.name;
        if (tally_plan_create(context, &c.plan, &plan, NULL))
            continue;
        ok = check_plan(&c, plan, seed + m, 0);
        if (ok && !info.name && c.views[0].columns < 70000)
            ok = check_plan(&c, plan, seed, 1);
        if (!ok)
            printf("method %s seed %llu: %s\n", info.name ? info.name : "auto",
                   (unsigned long long)seed, c.text);
        tally_plan_destroy(plan);
    }
    ok = ok && check_stats(&c, context, seed);
    random_case_free(&c);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 && strcmp(argv[1], "-") ? strtoull(argv[1], NULL, 10)
                                                     : (uint64_t)time(NULL) * 1000003;
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 3000, tried = 0, failed = 0;
    const char *device = argc > 3 ? argv[3] : "cpu";
    double seconds = argc > 4 ? strtod(argv[4], NULL) : argc > 2 ? 0 : 2, begin = now();
    static const uint32_t threads[3] = {1, 2, 5};
    tally_context *contexts[3] = {NULL};
    printf("%s, seed %llu\n", device, (unsigned long long)seed);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
        tally_error error = {""};
        options.device = !strcmp(device, "cuda")     ? TALLY_DEVICE_CUDA
                         : !strcmp(device, "opencl") ? TALLY_DEVICE_OPENCL
                                                     : TALLY_DEVICE_CPU;
        options.threads = threads[i];
        if (tally_context_create(&options, &contexts[i], &error)) {
            printf("skipped: %s\n", error.message);
            return 77;
        }
    }
    const int cpu = !strcmp(device, "cpu");
    if (cpu && !check_pieces(contexts[2])) {
        printf("FAILED: pieces are read in parts\n");
        failed++;
    }
    for (; tried < cases && failed < 5 && (seconds <= 0 || now() - begin < seconds); tried++)
        failed += !run_case(contexts, seed + tried, cpu);
    for (int i = 0; i < 3; i++)
        tally_context_destroy(contexts[i]);
    printf("%llu cases: %llu comparisons, %llu failing sources, %llu statistics; %llu failed\n",
           (unsigned long long)tried, (unsigned long long)compared, (unsigned long long)failures,
           (unsigned long long)statistics, (unsigned long long)failed);
    if (lent != returned)
        printf("FAILED: %llu elements were lent, %llu given back\n", (unsigned long long)lent,
               (unsigned long long)returned);
    return failed || !compared || !failures || !statistics || (cpu && !lent) || lent != returned;
}
