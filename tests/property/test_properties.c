/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold whatever the answer is, for every method of the processor on random calls: the
 * order and the layout of samples do not matter, pieces add up to the whole, pairs of bins to bins
 * twice as wide, and the like.
 *
 *     test_properties [SEED [CASES [SECONDS]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>
#include <time.h>

#include "answer.h"

static tally_context *context;
static uint64_t checked[12]; /* how often each property was looked at */
static const char *const names[12] = {"conservation", "layout",     "permutation", "concatenation",
                                      "merge",        "batches",    "channels",    "masking",
                                      "ones",         "coarsening", "scaling",     "transposition"};
enum {
    CONSERVE,
    LAYOUT,
    PERMUTE,
    CONCATENATE,
    MERGE,
    BATCH,
    CHANNEL,
    MASK,
    ONES,
    COARSEN,
    SCALE,
    TURN
};

static void *room(uint64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    if (!block) {
        printf("out of memory\n");
        exit(1);
    }
    return block;
}

/* The view with no stride left to be filled in. */
static tally_view spelt_out(tally_view v)
{
    int64_t size = (int64_t)tally_dtype_bytes(v.dtype);
    if (!v.channel_stride_bytes)
        v.channel_stride_bytes = size;
    if (!v.column_stride_bytes)
        v.column_stride_bytes = v.channel_stride_bytes * (int64_t)v.channels;
    if (!v.row_stride_bytes)
        v.row_stride_bytes = v.column_stride_bytes * (int64_t)v.columns;
    if (!v.batch_stride_bytes)
        v.batch_stride_bytes = v.row_stride_bytes * (int64_t)v.rows;
    return v;
}

/* Calls `change` on every view of a case: samples, mask, weights. */
static void each_view(random_case *c, void (*change)(tally_view *, uint64_t), uint64_t argument)
{
    for (uint32_t d = 0; d < c->plan.dimensions; d++)
        change(&c->views[d], argument);
    if (c->has_mask)
        change(&c->mask, argument);
    if (c->has_weights)
        change(&c->weights, argument);
}

static void spell_out(tally_view *v, uint64_t argument)
{
    (void)argument;
    *v = spelt_out(*v);
}

static void take_batch(tally_view *v, uint64_t batch)
{
    if (v->batches > 1)
        v->data = (const unsigned char *)v->data + (int64_t)batch * v->batch_stride_bytes;
    v->batches = 1;
}

static void take_channel(tally_view *v, uint64_t channel)
{
    if (v->channels > 1)
        v->data = (const unsigned char *)v->data + (int64_t)channel * v->channel_stride_bytes;
    v->channels = 1;
}

static void skip_columns(tally_view *v, uint64_t first)
{
    v->data = (const unsigned char *)v->data + (int64_t)first * v->column_stride_bytes;
    v->columns -= first;
}

static void keep_columns(tally_view *v, uint64_t count)
{
    v->columns = count;
}

/* A packed copy of a view, elements in the given order, repeated along what it repeats. */
static unsigned char *copy_view(tally_view *v, const tally_view *shape, const uint64_t *order)
{
    const size_t size = tally_dtype_bytes(v->dtype);
    const uint64_t n = shape->rows * shape->columns, channels = v->channels;
    unsigned char *buffer = room(shape->batches * n * channels, size), *to = buffer;
    for (uint64_t b = 0; b < shape->batches; b++) {
        for (uint64_t i = 0; i < n; i++) {
            uint64_t e = order ? order[i] : i;
            for (uint64_t ch = 0; ch < channels; ch++, to += size)
                memcpy(to,
                       random_case_at(v, v->batches > 1 ? b : 0, e / shape->columns,
                                      e % shape->columns, ch),
                       size);
        }
    }
    v->data = buffer;
    v->batches = shape->batches;
    v->rows = 1;
    v->columns = n;
    v->batch_stride_bytes = v->row_stride_bytes = v->column_stride_bytes = v->channel_stride_bytes =
        0;
    *v = spelt_out(*v);
    return buffer;
}

/* The case with one packed row a batch. Axes still point into `c`. Ended by random_case_free. */
static random_case flatten(const random_case *c, const uint64_t *order)
{
    random_case flat = *c;
    const tally_view shape = c->views[0];
    memset(flat.edges, 0, sizeof flat.edges);
    memset(flat.buffers, 0, sizeof flat.buffers);
    for (uint32_t d = 0; d < c->plan.dimensions; d++)
        flat.buffers[d] = copy_view(&flat.views[d], &shape, order);
    if (c->has_mask)
        flat.buffers[TALLY_MAX_DIMENSIONS] = copy_view(&flat.mask, &shape, order);
    if (c->has_weights)
        flat.buffers[TALLY_MAX_DIMENSIONS + 1] = copy_view(&flat.weights, &shape, order);
    return flat;
}

/* The answer of a case by its own plan; status UNSUPPORTED when the method does not serve it. */
static answer ask(const random_case *c)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_status status = tally_plan_create(context, &c->plan, &plan, &error);
    answer a = answer_make(c, status ? 0 : tally_plan_bins(plan), 0);
    if (status) {
        a.status = status;
        a.error = error;
        return a;
    }
    answer_run(&a, c, plan, 0, 0);
    tally_plan_destroy(plan);
    return a;
}

/* Frees `a`, too. */
static int matches(answer a, const answer *whole)
{
    int same = a.status == TALLY_ERROR_UNSUPPORTED || answer_same(&a, whole);
    answer_free(&a);
    return same;
}

static int is_order_free(rng *r, const random_case *c, const answer *whole)
{
    const uint64_t n = c->views[0].rows * c->views[0].columns;
    random_case flat = flatten(c, NULL);
    int ok = matches(ask(&flat), whole);
    checked[LAYOUT]++;
    random_case_free(&flat);
    if (!ok)
        return 0;
    uint64_t *order = room(n, sizeof *order);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = rng_below(r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    flat = flatten(c, order);
    free(order);
    ok = matches(ask(&flat), whole);
    checked[PERMUTE]++;
    random_case_free(&flat);
    return ok;
}

/* Pieces of random lengths, 0 among them, accumulated; and as results, merged. */
static int adds_up(rng *r, const random_case *c, const answer *whole)
{
    random_case flat = flatten(c, NULL);
    tally_plan *plan = NULL;
    tally_result *sum = NULL, *part = NULL;
    int ok = !tally_plan_create(context, &flat.plan, &plan, NULL), pieces = 0;
    const int results = c->plan.counter == TALLY_COUNTER_U64 && !c->plan.sum_squares && ok &&
                        c->histograms && c->plan.weight_limit == 0 &&
                        !tally_result_create(plan, c->histograms, NULL, &sum, NULL);
    answer a = answer_make(c, ok ? tally_plan_bins(plan) : 0, 0);
    for (uint64_t at = 0, n = flat.views[0].columns; ok && (at < n || !pieces); pieces++) {
        uint64_t length = rng_below(r, 3) ? rng_below(r, n / 2 + 2) : rng_below(r, 3);
        length = length < n - at ? length : n - at;
        random_case piece = flat;
        each_view(&piece, skip_columns, at);
        each_view(&piece, keep_columns, length);
        answer_run(&a, &piece, plan, pieces > 0, 0);
        ok = a.status == TALLY_OK;
        at += length;
        if (!results || !ok)
            continue;
        ok = !tally_result_create(plan, c->histograms, NULL, &part, NULL);
        tally_output output = tally_result_output(part);
        tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
        options.mask = c->has_mask ? &piece.mask : NULL;
        options.weights = c->has_weights ? &piece.weights : NULL;
        ok = ok && !tally_execute(plan, piece.views, &options, &output, NULL) &&
             !tally_result_merge(sum, part, NULL);
        tally_result_destroy(part);
    }
    ok = ok && answer_same(&a, whole);
    checked[CONCATENATE]++;
    for (uint64_t h = 0; ok && results && h < c->histograms; h++) {
        size_t bytes = whole->cells / whole->histograms * whole->cell_bytes;
        ok = !memcmp(tally_result_counts(sum, h), whole->counts + h * bytes, bytes) &&
             !memcmp(tally_result_flows(sum, h), &whole->flows[h], sizeof *whole->flows);
        checked[MERGE]++;
    }
    tally_result_destroy(sum);
    tally_plan_destroy(plan);
    answer_free(&a);
    random_case_free(&flat);
    return ok;
}

/* Whether `a` is histograms first, first + step … of the whole; frees it. */
static int is_part(answer a, const answer *whole, size_t first, size_t step)
{
    const size_t bins = whole->histograms ? whole->cells / whole->histograms : 0;
    const size_t bytes = bins * a.cell_bytes;
    int ok = a.status == TALLY_OK && a.cells == a.histograms * bins;
    for (size_t h = 0; ok && h < a.histograms; h++) {
        size_t w = first + h * step;
        ok = !memcmp(a.counts + h * bytes, whole->counts + w * bytes, bytes) &&
             !memcmp(&a.flows[h], &whole->flows[w], sizeof *a.flows) &&
             !memcmp(a.squares + h * bins, whole->squares + w * bins, bins * sizeof *a.squares);
    }
    ok |= a.status == TALLY_ERROR_UNSUPPORTED;
    answer_free(&a);
    return ok;
}

static int batches_stand_alone(const random_case *c, const answer *whole)
{
    const uint64_t batches = c->views[0].batches, each = c->histograms / batches;
    int ok = 1;
    for (uint64_t b = 0; b < batches && ok; b++) {
        random_case one = *c;
        each_view(&one, take_batch, b);
        one.histograms = each;
        ok = is_part(ask(&one), whole, b * each, 1);
        checked[BATCH]++;
    }
    return ok;
}

static int channels_stand_alone(const random_case *c, const answer *whole)
{
    const uint64_t active = c->histograms / c->views[0].batches;
    uint64_t a = 0;
    int ok = 1;
    for (uint64_t ch = 0; ch < c->plan.channels && ok; ch++) {
        if (c->plan.channel_mask && !(c->plan.channel_mask >> ch & 1))
            continue;
        random_case one = *c;
        each_view(&one, take_channel, ch);
        one.plan.channels = 1;
        one.plan.channel_mask = 0;
        one.histograms = c->views[0].batches;
        ok = is_part(ask(&one), whole, a++, active);
        checked[CHANNEL]++;
    }
    return ok;
}

/* The elements that a mask keeps, by themselves; a batch at a time. */
static int masking_selects(const random_case *c)
{
    int ok = 1;
    for (uint64_t b = 0; b < c->views[0].batches && ok; b++) {
        random_case one = *c;
        each_view(&one, take_batch, b);
        one.histograms = c->histograms / c->views[0].batches;
        const uint64_t n = one.views[0].rows * one.views[0].columns;
        uint64_t *kept = room(n, sizeof *kept), count = 0;
        for (uint64_t e = 0; e < n; e++) {
            const unsigned char *m =
                random_case_at(&one.mask, 0, one.mask.rows > 1 ? e / one.views[0].columns : 0,
                               one.mask.columns > 1 ? e % one.views[0].columns : 0, 0);
            if (*m)
                kept[count++] = e;
            else
                kept[n - 1 - (e - count)] = e; /* behind the others */
        }
        random_case flat = flatten(&one, kept);
        free(kept);
        each_view(&flat, keep_columns, count);
        answer with = ask(&one);
        for (uint64_t h = 0; h < one.histograms; h++) {
            ok &= with.status || with.flows[h].masked == n - count;
            with.flows[h].masked = 0;
            const size_t words = one.plan.weight_limit != 0 ? 2 : 1;
            memset(&with.flow_sums[words * (4 * h + 3)], 0, words * sizeof *with.flow_sums);
        }
        flat.has_mask = 0;
        ok = ok && matches(ask(&flat), &with);
        checked[MASK]++;
        answer_free(&with);
        random_case_free(&flat);
    }
    return ok;
}

/* Weights that are one everywhere give the counts, in float64 and in integers. */
static int ones_count(const random_case *c, const answer *whole)
{
    static const uint8_t one_u8 = 1;
    static const double one_f64 = 1;
    int ok = 1;
    for (int real = 0; real < 2 && ok; real++) {
        random_case w = *c;
        w.has_weights = 1;
        w.weights =
            real ? tally_view_1d(&one_f64, TALLY_F64, 1) : tally_view_1d(&one_u8, TALLY_U8, 1);
        w.plan.weight_dtype = w.weights.dtype;
        w.plan.counter = TALLY_COUNTER_U64;
        w.plan.sum_squares = 1;
        w.plan.method = NULL;
        answer a = ask(&w);
        ok = !a.status && a.cells == whole->cells &&
             !memcmp(a.flows, whole->flows, a.histograms * sizeof *a.flows);
        for (size_t i = 0; i < a.cells && ok; i++) {
            uint64_t count = answer_count(whole, i), bits = answer_count(&a, i);
            double sum;
            memcpy(&sum, &bits, sizeof sum);
            ok = (real ? sum == (double)count : bits == count) && a.squares[i] == (double)count;
        }
        checked[ONES]++;
        answer_free(&a);
    }
    return ok;
}

/* Every second edge: pairs of bins, summed. An odd last bin stays alone. */
static int coarsens(const random_case *c, const answer *whole)
{
    const tally_axis *axis = &c->plan.axes[0];
    const uint64_t bins = axis->bins, half = bins / 2 + bins % 2;
    double *edges = room(bins + 1, sizeof *edges);
    if (tally_axis_edges_get(axis, edges, NULL))
        exit(1);
    for (uint64_t i = 0; i <= half; i++)
        edges[i] = edges[2 * i < bins ? 2 * i : bins];
    random_case wide = *c;
    wide.plan.axes[0] = tally_axis_edges(half, edges);
    wide.plan.axes[0].under = axis->under;
    wide.plan.axes[0].over = axis->over;
    wide.plan.axes[0].nan = axis->nan;
    wide.plan.axes[0].last = axis->kind == TALLY_AXIS_INTEGER ? TALLY_LAST_OPEN : axis->last;
    answer a = ask(&wide);
    int ok = a.status == TALLY_OK;
    for (size_t h = 0; h < a.histograms && ok; h++) {
        ok = !memcmp(&a.flows[h], &whole->flows[h], sizeof *a.flows);
        for (uint64_t i = 0; i < half && ok; i++) {
            uint64_t pair = answer_count(whole, h * bins + 2 * i);
            if (2 * i + 1 < bins)
                pair += answer_count(whole, h * bins + 2 * i + 1);
            ok = answer_count(&a, h * half + i) == pair;
        }
    }
    ok |= a.status == TALLY_ERROR_UNSUPPORTED; /* cpu-overlap: even axes only */
    checked[COARSEN]++;
    answer_free(&a);
    free(edges);
    return ok;
}

/* x·2^k; whether that is exact, with room to spare above the denormals. */
static int scale(double *x, int k)
{
    double y = ldexp(*x, k);
    int exact = isnan(*x) || (ldexp(y, -k) == *x && (y == 0 || fabs(y) > 1e-290));
    *x = y;
    return exact;
}

/* Samples and edges times a power of two: the same counts. f64 and f32 only. */
static int scales(rng *r, const random_case *c, const answer *whole)
{
    const int k = (int)rng_below(r, 21) - 10;
    random_case big = flatten(c, NULL);
    tally_axis *axis = &big.plan.axes[0];
    const uint64_t n = big.views[0].columns * big.views[0].batches * big.views[0].channels;
    double *edges = NULL;
    int exact = axis->kind != TALLY_AXIS_INTEGER;
    if (axis->kind == TALLY_AXIS_EDGES) {
        edges = room(axis->bins + 1, sizeof *edges);
        memcpy(edges, axis->edges, (axis->bins + 1) * sizeof *edges);
        for (uint64_t i = 0; i <= axis->bins; i++)
            exact &= scale(&edges[i], k);
        axis->edges = edges;
    } else {
        double width = (axis->hi - axis->lo) / (double)axis->bins;
        exact &= scale(&axis->lo, k) && scale(&axis->hi, k) && scale(&width, k);
    }
    for (uint64_t i = 0; i < n && exact; i++) {
        unsigned char *at = big.buffers[0] + i * tally_dtype_bytes(big.plan.dtypes[0]);
        double x;
        float f;
        if (big.plan.dtypes[0] == TALLY_F64) {
            memcpy(&x, at, sizeof x);
            exact &= scale(&x, k);
            memcpy(at, &x, sizeof x);
        } else {
            memcpy(&f, at, sizeof f);
            x = f;
            exact &= scale(&x, k) &&
                     (x == 0 || isnan(x) || isinf(x) || (fabs(x) < 0x1p127 && fabs(x) > 0x1p-120));
            f = exact ? (float)x : 0;
            memcpy(at, &f, sizeof f);
        }
    }
    int ok = !exact || matches(ask(&big), whole);
    checked[SCALE] += (uint64_t)exact;
    free(edges);
    random_case_free(&big);
    return ok;
}

/* Two axes the other way round: the table turned. Under and over depend on the order. */
static int turns(const random_case *c, const answer *whole)
{
    random_case other = *c;
    for (int d = 0; d < 2; d++) {
        other.views[d] = c->views[1 - d];
        other.plan.axes[d] = c->plan.axes[1 - d];
        other.plan.dtypes[d] = c->plan.dtypes[1 - d];
    }
    answer a = ask(&other);
    const uint64_t rows = c->plan.axes[0].bins, columns = c->plan.axes[1].bins;
    int ok = a.status == TALLY_OK && a.cells == whole->cells;
    for (size_t h = 0; h < a.histograms && ok; h++) {
        for (uint64_t i = 0; i < rows && ok; i++) {
            for (uint64_t j = 0; j < columns && ok; j++)
                ok = answer_count(&a, (h * columns + j) * rows + i) ==
                     answer_count(whole, (h * rows + i) * columns + j);
        }
        const tally_flows *x = &a.flows[h], *y = &whole->flows[h];
        ok = ok && x->nan == y->nan && x->masked == y->masked &&
             x->under + x->over == y->under + y->over;
    }
    ok |= a.status == TALLY_ERROR_UNSUPPORTED;
    checked[TURN]++;
    answer_free(&a);
    return ok;
}

/* The name of a property that does not hold, or NULL. */
static const char *broken(rng *r, const random_case *c, const answer *whole)
{
    const tally_dtype dtype = c->plan.dtypes[0];
    if (!c->has_weights && !answer_conserves(whole, c))
        return names[CONSERVE];
    checked[CONSERVE]++;
    if (!is_order_free(r, c, whole))
        return "layout or permutation";
    if (!adds_up(r, c, whole))
        return "concatenation or merge";
    if (c->views[0].batches > 1 && !batches_stand_alone(c, whole))
        return names[BATCH];
    if (c->plan.channels > 1 && !channels_stand_alone(c, whole))
        return names[CHANNEL];
    if (c->has_mask && !masking_selects(c))
        return names[MASK];
    if (!c->has_weights && !ones_count(c, whole))
        return names[ONES];
    if (!c->has_weights && c->plan.dimensions == 1 && c->plan.axes[0].kind != TALLY_AXIS_CATEGORY &&
        !coarsens(c, whole))
        return names[COARSEN];
    if (c->plan.dimensions == 1 && (dtype == TALLY_F32 || dtype == TALLY_F64) &&
        !scales(r, c, whole))
        return names[SCALE];
    if (c->plan.dimensions == 2 && !turns(c, whole))
        return names[TURN];
    return NULL;
}

static int run_case(uint64_t seed)
{
    random_case c;
    rng r = {.state = seed ^ UINT64_C(0x5555555555555555)};
    int ok = 1;
    if (random_case_make(&c, seed, CASE_EXACT | (rng_below(&r, 8) ? CASE_SMALL : 0), NULL))
        return 0;
    each_view(&c, spell_out, 0);
    for (uint32_t m = 0; m < tally_method_count() && ok; m++) {
        tally_method_info info = {.struct_size = sizeof info};
        tally_method_get(m, &info, NULL);
        c.plan.method = info.name;
        answer whole = ask(&c);
        const char *what = NULL;
        if (!whole.status)
            what = broken(&r, &c, &whole);
        else if (whole.status != TALLY_ERROR_UNSUPPORTED &&
                 strncmp(whole.error.message, "axis", 4) != 0)
            what = whole.error.message;
        if (what)
            printf("FAILED %s, method %s, seed %llu: %s\n", what, info.name,
                   (unsigned long long)seed, c.text);
        ok = !what;
        answer_free(&whole);
    }
    random_case_free(&c);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 2500, tried = 0, failed = 0;
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 20;
    time_t end = time(NULL) + (time_t)seconds;
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 3;
    printf("seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)cases);
    fflush(stdout);
    if (tally_context_create(&options, &context, NULL))
        return 1;
    while (tried < cases && failed < 5 && time(NULL) < end)
        failed += !run_case(seed + tried++);
    tally_context_destroy(context);
    int never = 0; /* a property that no case could look at was not tested */
    for (int i = 0; i < 12; i++) {
        printf("%-14s %llu\n", names[i], (unsigned long long)checked[i]);
        never += checked[i] == 0 && tried >= 1000;
    }
    printf("%llu cases, %llu failed\n", (unsigned long long)tried, (unsigned long long)failed);
    return failed || never || !tried;
}
