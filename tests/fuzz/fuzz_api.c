/*
 * The bytes choose a whole call: axes, types, views of any strides, masks, weights, counters,
 * method, settings, outputs and NULLs. Counted on the processor it must come out as by the
 * reference, bit for bit, or be refused as there with the output untouched. Weights are such that
 * every order of adding them gives the same sums: any integers, or small whole numbers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/tally.h>

#include "../../common/edge_values.h"

enum { most_samples = 1 << 15, most_bins = 1 << 16 };

typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static unsigned take(source *s)
{
    if (!s->left)
        return 0;
    s->left--;
    return *s->at++;
}

static uint64_t take_word(source *s)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | take(s);
    return word;
}

static void need(int condition, const char *what, const char *more)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, more);
    abort();
}

static void *room(size_t bytes)
{
    void *block = calloc(bytes ? bytes : 1, 1);
    need(block != NULL, "memory", "out");
    return block;
}

/* Everything of a call; freed by drop. */
typedef struct call {
    tally_plan_options plan;
    tally_setting setting;
    char value[8];
    tally_view views[TALLY_MAX_DIMENSIONS], mask, weights;
    tally_execute_options how;
    double *edges[TALLY_MAX_DIMENSIONS];
    uint16_t categories[256];
    unsigned char *blocks[TALLY_MAX_DIMENSIONS + 2];
    uint64_t elements, active;
    unsigned odd; /* what is given as NULL or wrong */
    int until;    /* progress calls before it cancels; 0: never */
} call;

/* ---- the plan ---- */

static double take_double(source *s)
{
    const uint64_t bits = take_word(s);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void choose_range(source *s, uint64_t bins, double *lo, double *hi)
{
    uint64_t state;
    switch (take(s) % 8) {
    case 0:
        *lo = (int8_t)take(s);
        *hi = *lo + take(s);
        break;
    case 1:
        *lo = take_double(s);
        *hi = take_double(s);
        break;
    default:
        state = take_word(s);
        range_near(&state, bins, lo, hi);
        break;
    }
}

static void choose_edges(source *s, call *c, unsigned d, uint64_t bins)
{
    double *edges = c->edges[d] = room((bins + 1) * sizeof *edges);
    const unsigned how = take(s) % 3;
    uint64_t state = how == 0 ? take_word(s) : 0;
    if (how == 0)
        edges_near(&state, bins, edges);
    for (uint64_t i = 0; how && i <= bins; i++)
        edges[i] = how == 1 ? (double)i * 1.5 - (int8_t)take(s) / 64.0 : take_double(s);
    c->plan.axes[d] = tally_axis_edges(bins, edges);
}

static void choose_axis(source *s, call *c, unsigned d)
{
    static const uint64_t usual[] = {1, 2, 3, 7, 16, 100, 256, 1000, 4096, 5000};
    const unsigned pick = take(s), kind = take(s);
    uint64_t bins = pick < 10 ? usual[pick] : pick;
    double lo, hi;
    if (c->plan.dimensions > 1)
        bins = 1 + bins % 40;
    choose_range(s, bins, &lo, &hi);
    tally_axis *axis = &c->plan.axes[d];
    *axis = tally_axis_even(bins, lo, hi);
    const unsigned dtype = take(s);
    c->plan.dtypes[d] = (tally_dtype)(dtype == 255 ? 0 : 1 + dtype % 12);
    if (kind % 8 == 1)
        choose_edges(s, c, d, bins);
    else if (kind % 8 == 2)
        *axis = tally_axis_log(bins, lo, hi);
    else if (kind % 8 == 3)
        *axis = tally_axis_integer(bins, kind & 8 ? (int64_t)take_word(s) : (int8_t)take(s));
    else if (kind % 8 == 4) {
        uint64_t state = take_word(s);
        for (int i = 0; i < 256; i++) {
            const uint64_t draw = splitmix64(&state);
            c->categories[i] = draw % 4 ? (uint16_t)(draw / 4 % bins) : TALLY_CATEGORY_NONE;
        }
        axis->kind = TALLY_AXIS_CATEGORY;
        axis->categories = c->categories;
    }
    const unsigned policies = take(s);
    axis->under = policies % 16 == 15 ? TALLY_FLOW_FAIL : (tally_flow)(policies & 1);
    axis->over = policies / 16 == 15 ? TALLY_FLOW_FAIL : (tally_flow)(policies >> 4 & 1);
    axis->nan = policies % 51 == 50 ? TALLY_FLOW_FAIL : TALLY_FLOW_COUNT;
    axis->last = (tally_last_edge)(take(s) & 1);
}

static void choose_plan(source *s, call *c)
{
    static const char *const keys[] = {"threads", "bins", "tables", "key", ""};
    static char names[64][64];
    c->plan.struct_size = sizeof c->plan;
    c->plan.dimensions = 1 + take(s) % 8 % 3;
    c->plan.channels = c->plan.dimensions > 1 ? 1 : 1 + take(s) % 4;
    c->plan.channel_mask = c->plan.channels > 1 ? take(s) & ((1u << c->plan.channels) - 1) : 0;
    for (unsigned d = 0; d < c->plan.dimensions; d++)
        choose_axis(s, c, d);
    const unsigned weights = take(s);
    c->plan.weight_dtype = weights < 128 ? (tally_dtype)0 : (tally_dtype)(weights % 13);
    c->plan.sum_squares = c->plan.weight_dtype && take(s) & 1;
    c->plan.counter = c->plan.weight_dtype ? TALLY_COUNTER_U64 : (tally_counter)(take(s) % 4);
    c->plan.n_hint = take(s) & 1 ? take_word(s) >> (take(s) % 64) : 0;
    const unsigned method = take(s);
    if (method % 4 == 1) {
        tally_method_info info = {.struct_size = sizeof info};
        const uint32_t m = method / 4 % (tally_method_count() + 1);
        tally_method_get(m, &info, NULL);
        snprintf(names[m], sizeof names[m], "%s", info.name ? info.name : "none");
        c->plan.method = names[m];
    }
    if (take(s) % 16 == 1) {
        c->setting = (tally_setting){keys[take(s) % 5], c->value};
        for (int i = 0; i < 6; i++)
            c->value[i] = (char)take(s);
        c->plan.settings = &c->setting;
        c->plan.settings_count = 1;
    }
    for (unsigned k = 0; k < c->plan.channels; k++)
        c->active += !c->plan.channel_mask || c->plan.channel_mask >> k & 1;
}

/* ---- views ---- */

/* A stride of a dimension whose neighbours are `packed` bytes apart: that, as 0 or in full, a few
 * bytes more, backwards, or overlapping. */
static int64_t choose_stride(source *s, int64_t packed, int backwards)
{
    switch (take(s) % 8) {
    case 0:
        return packed + 1 + take(s) % 16;
    case 1:
        return backwards ? -packed : packed;
    case 2:
        return backwards ? -(packed + take(s) % 16) : packed;
    case 3:
        return 1 + take(s) % 8;
    default:
        return packed;
    }
}

/* Memory that ends where the view does, so that what reads past it is caught. */
static unsigned char *lay_out(source *s, tally_view *v)
{
    const int64_t size = (int64_t)tally_dtype_bytes(v->dtype);
    const uint64_t extents[4] = {v->channels, v->columns, v->rows, v->batches};
    int64_t *const strides[4] = {&v->channel_stride_bytes, &v->column_stride_bytes,
                                 &v->row_stride_bytes, &v->batch_stride_bytes};
    const unsigned loose = take(s);
    int64_t packed = size, low = 0, high = size;
    for (int d = 0; d < 4; d++) {
        const int64_t n = (int64_t)extents[d];
        int64_t stride = loose & 1 ? choose_stride(s, packed, loose >> 1 & 1) : packed;
        stride = stride ? stride : size;
        *strides[d] = stride;
        if (n)
            *(stride < 0 ? &low : &high) += (n - 1) * stride;
        packed = (stride < 0 ? -stride : stride) * (n ? n : 1);
    }
    const size_t shift = loose >> 2 & 7, bytes = (size_t)(high - low);
    unsigned char *block = room(bytes + shift);
    v->data = block + shift - low;
    if (!(loose & 1) && loose >> 5 & 1)
        v->channel_stride_bytes = v->column_stride_bytes = v->row_stride_bytes =
            v->batch_stride_bytes = 0;
    /* Some bytes of the source, again and again. */
    for (size_t i = 0; i < bytes + shift; i++)
        block[i] = s->left ? s->at[i % s->left] : (unsigned char)(i * 37);
    return block;
}

typedef void (*filler)(const call *c, uint64_t draw, uint64_t i, tally_dtype dtype, unsigned d,
                       void *to);

static void each(const call *c, const tally_view *v, uint64_t seed, unsigned d, filler fill)
{
    const int64_t size = (int64_t)tally_dtype_bytes(v->dtype);
    const int plain = !v->channel_stride_bytes;
    const int64_t cs = plain ? size : v->channel_stride_bytes,
                  xs = plain ? cs * (int64_t)v->channels : v->column_stride_bytes,
                  rs = plain ? xs * (int64_t)v->columns : v->row_stride_bytes,
                  bs = plain ? rs * (int64_t)v->rows : v->batch_stride_bytes;
    uint64_t i = 0;
    for (uint64_t b = 0; b < v->batches; b++)
        for (uint64_t r = 0; r < v->rows; r++)
            for (uint64_t x = 0; x < v->columns; x++)
                for (uint64_t k = 0; k < v->channels; k++, i++)
                    fill(c, splitmix64(&seed), i, v->dtype, d,
                         (unsigned char *)(uintptr_t)v->data + (int64_t)b * bs + (int64_t)r * rs +
                             (int64_t)x * xs + (int64_t)k * cs);
}

/* A sample on an edge or beside it. */
static void on_edges(const call *c, uint64_t draw, uint64_t i, tally_dtype dtype, unsigned d,
                     void *to)
{
    const tally_axis *a = &c->plan.axes[d];
    const uint64_t e = draw % (a->bins + 1);
    const double x = a->kind == TALLY_AXIS_EDGES     ? a->edges[e]
                     : a->kind == TALLY_AXIS_INTEGER ? (double)a->first + (double)e
                     : e == a->bins                  ? a->hi
                                    : a->lo + (double)e * ((a->hi - a->lo) / (double)a->bins);
    (void)i;
    value_put(to, dtype, x, (int)(draw >> 40) % 5 - 2);
}

static void small_weight(const call *c, uint64_t draw, uint64_t i, tally_dtype dtype, unsigned d,
                         void *to)
{
    (void)c, (void)i, (void)d;
    value_put(to, dtype, (double)(draw % 200) - 50, 0);
}

static void choose_views(source *s, call *c)
{
    tally_view shape = TALLY_VIEW_INIT;
    const unsigned large = take(s);
    shape.batches = large & 1 ? take(s) % 4 : 1;
    shape.rows = large & 2 ? take(s) % 6 : 1;
    shape.columns = take(s) * (large & 4 ? 64u : 1u);
    shape.channels = c->plan.channels;
    while (shape.columns * shape.rows * shape.batches * shape.channels > most_samples)
        shape.columns /= 2;
    c->elements = shape.rows * shape.columns;
    for (unsigned d = 0; d < c->plan.dimensions; d++) {
        const tally_dtype dtype = c->plan.dtypes[d];
        c->views[d] = shape;
        c->views[d].dtype = dtype;
        c->blocks[d] = lay_out(s, &c->views[d]);
        const unsigned fill = take(s);
        if (fill % 4 && tally_dtype_bytes(dtype))
            each(c, &c->views[d], take_word(s), d, on_edges);
    }
    tally_view *const extras[2] = {&c->mask, &c->weights};
    for (int i = 0; i < 2; i++) {
        const unsigned ones = take(s);
        *extras[i] = shape;
        extras[i]->dtype = i ? c->plan.weight_dtype : TALLY_U8;
        if (!i || ones & 1)
            extras[i]->channels = 1;
        extras[i]->columns = (ones & 6) == 6 ? 1 : shape.columns;
        extras[i]->rows = (ones & 24) == 24 ? 1 : shape.rows;
        extras[i]->batches = (ones & 96) == 96 ? 1 : shape.batches;
        c->blocks[TALLY_MAX_DIMENSIONS + i] = lay_out(s, extras[i]);
    }
    /* Sums of floats and of squares must not depend on the order. */
    const tally_dtype w = c->plan.weight_dtype;
    if (tally_dtype_bytes(w) && (w >= TALLY_F16 || c->plan.sum_squares)) {
        tally_view *v = &c->weights;
        free(c->blocks[TALLY_MAX_DIMENSIONS + 1]);
        c->blocks[TALLY_MAX_DIMENSIONS + 1] =
            room(v->batches * v->rows * v->columns * v->channels * tally_dtype_bytes(w));
        v->data = c->blocks[TALLY_MAX_DIMENSIONS + 1];
        v->channel_stride_bytes = v->column_stride_bytes = v->row_stride_bytes =
            v->batch_stride_bytes = 0;
        each(c, v, take_word(s), 0, small_weight);
    }
}

/* ---- the call ---- */

typedef struct answer {
    unsigned char *counts;
    tally_flows *flows;
    double *squares;
    uint64_t *flow_sums;
    size_t counts_bytes, cells, histograms;
    tally_status status;
    tally_error error;
} answer;

/* Something to add to or to overwrite, small whole numbers. */
static answer make_answer(const call *c, uint64_t bins)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    const size_t size = c->plan.weight_dtype ? 8 : sizes[c->plan.counter];
    answer a = {.histograms = (size_t)(c->views[0].batches * c->active)};
    a.cells = a.histograms * (size_t)bins;
    a.counts_bytes = a.cells * size;
    a.counts = room(a.counts_bytes);
    a.flows = room(a.histograms * sizeof *a.flows);
    a.squares = room(a.cells * sizeof *a.squares);
    a.flow_sums = room(a.histograms * 4 * sizeof *a.flow_sums);
    for (size_t i = 0; i < a.cells; i++) {
        const uint64_t whole = i % 100;
        const double number = (double)whole;
        memcpy(a.counts + i * size,
               c->plan.weight_dtype >= TALLY_F16 ? (void *)&number : (void *)&whole, size);
        a.squares[i] = number;
    }
    for (size_t h = 0; h < a.histograms; h++)
        a.flows[h] = (tally_flows){h, 2, 3, 4};
    return a;
}

static void drop_answer(answer *a)
{
    free(a->counts);
    free(a->flows);
    free(a->squares);
    free(a->flow_sums);
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    int *left = user;
    need(done <= total, "progress", "past the end");
    return *left && --*left == 0;
}

static void run(const call *c, const tally_plan *plan, int reference, answer *a)
{
    tally_execute_options how = c->how;
    tally_output output = TALLY_OUTPUT_INIT;
    int left = c->until;
    how.mask = c->odd & 1 ? &c->mask : NULL;
    how.weights = c->plan.weight_dtype && c->odd % 61 != 60 ? &c->weights : NULL;
    how.progress = c->until && !reference ? stop : NULL;
    how.user = &left;
    output.counts = c->odd % 67 == 66 ? NULL : a->counts;
    output.flows = c->odd & 2 ? NULL : a->flows;
    output.sum_squares = c->plan.sum_squares && c->odd % 71 != 70 ? a->squares : NULL;
    output.flow_sums = c->odd & 4 && c->plan.weight_dtype ? a->flow_sums : NULL;
    output.accumulate = c->odd >> 3 & 1;
    const tally_execute_options *options =
        c->odd & 16 && !how.mask && !how.weights && !how.progress ? NULL : &how;
    const tally_view *views = c->odd % 73 == 72 ? NULL : c->views;
    tally_error *error = c->odd & 32 ? NULL : &a->error;
    a->status =
        (reference ? tally_execute_reference : tally_execute)(plan, views, options, &output, error);
    need(!a->status || !error || error->message[0], "a message", "missing");
}

static int same(const answer *a, const answer *b)
{
    return !memcmp(a->counts, b->counts, a->counts_bytes) &&
           !memcmp(a->flows, b->flows, a->histograms * sizeof *a->flows) &&
           !memcmp(a->squares, b->squares, a->cells * sizeof *a->squares) &&
           !memcmp(a->flow_sums, b->flow_sums, a->histograms * 4 * sizeof *a->flow_sums);
}

static void compare(const call *c, const tally_plan *plan)
{
    const uint64_t bins = tally_plan_bins(plan);
    if (bins > most_bins)
        return;
    answer untouched = make_answer(c, bins), got = make_answer(c, bins),
           want = make_answer(c, bins);
    run(c, plan, 0, &got);
    run(c, plan, 1, &want);
    if (got.status == TALLY_ERROR_CANCELLED)
        need(c->until && same(&got, &untouched), "cancelled", tally_plan_describe(plan));
    else
        need(got.status == want.status && same(&got, &want), tally_plan_describe(plan),
             got.status == want.status ? "not the reference's" : got.error.message);
    if (want.status)
        need(same(&want, &untouched), "refused, but written", want.error.message);
    drop_answer(&untouched);
    drop_answer(&got);
    drop_answer(&want);
}

static tally_context *context_of(unsigned which)
{
    static tally_context *contexts[2];
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    options.threads = which ? 3 : 1;
    if (!contexts[which])
        need(!tally_context_create(&options, &contexts[which], NULL), "a context", "missing");
    return contexts[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    source s = {data, size};
    call c;
    tally_plan *plan = NULL;
    tally_error error = {""};
    memset(&c, 0, sizeof c);
    c.how = (tally_execute_options)TALLY_EXECUTE_OPTIONS_INIT;
    const unsigned which = take(&s);
    c.odd = take(&s) | take(&s) << 8;
    c.until = which & 2 ? (int)(which >> 2) : 0;
    choose_plan(&s, &c);
    choose_views(&s, &c);
    const tally_status status = tally_plan_create(context_of(which & 1), &c.plan, &plan, &error);
    need(!status == (plan != NULL) && (!status || error.message[0]), "a plan or a message",
         "missing");
    if (plan)
        compare(&c, plan);
    tally_plan_destroy(plan);
    for (int i = 0; i < TALLY_MAX_DIMENSIONS; i++)
        free(c.edges[i]);
    for (int i = 0; i < TALLY_MAX_DIMENSIONS + 2; i++)
        free(c.blocks[i]);
    return 0;
}
