/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random case (common/random_case.h) that the bytes steer, with what only a fuzzer asks: methods
 * and settings by name, weights of any bits, reversed and overlapping views, wrong arguments, NULLs
 * and a call that is cancelled. Counted on the processor it must come out as by the reference, bit
 * for bit, or be refused as there with the output untouched. Weights are such that every order of
 * adding them gives the same sums.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/tally.h>

#include "answer.h"
#include "random_case.h"
#include "splitmix.h"

enum { most_cells = 1 << 18 };

typedef struct call {
    random_case c;
    tally_setting setting;
    char value[8], method[64];
    unsigned odd; /* what is given as NULL */
    int until;    /* progress calls before it cancels; 0: never */
} call;

static void need(int condition, const char *what, const char *more)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, more);
    abort();
}

static int chance(rng *r, unsigned one_in)
{
    return rng_below(r, one_in) == one_in - 1;
}

static double any_double(rng *r)
{
    const uint64_t bits = rng_next(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- the plan ---- */

static void name_method(rng *r, call *k)
{
    tally_method_info info = {.struct_size = sizeof info};
    tally_method_get((uint32_t)rng_below(r, tally_method_count() + 1), &info, NULL);
    snprintf(k->method, sizeof k->method, "%s", info.name ? info.name : "none");
    k->c.plan.method = k->method;
}

static void name_setting(rng *r, call *k)
{
    static const char *const keys[] = {"threads", "bins", "tables", "key", ""};
    k->setting = (tally_setting){keys[rng_below(r, 5)], k->value};
    for (int i = 0; i < 6; i++)
        k->value[i] = (char)rng_below(r, 256);
    k->c.plan.settings = &k->setting;
    k->c.plan.settings_count = 1;
}

/* One argument of the plan replaced by any other. */
static void spoil_plan(rng *r, tally_plan_options *plan, random_case *c)
{
    const unsigned d = (unsigned)rng_below(r, plan->dimensions);
    tally_axis *axis = &plan->axes[d];
    switch (rng_below(r, 12)) {
    case 0:
        axis->lo = any_double(r);
        break;
    case 1:
        axis->hi = any_double(r);
        break;
    case 2: /* an axis of edges has no more of them */
        axis->bins = rng_below(r, axis->kind == TALLY_AXIS_EDGES ? axis->bins + 1 : 1 << 16);
        break;
    case 3:
        if (axis->kind == TALLY_AXIS_EDGES)
            c->edges[d][rng_below(r, axis->bins + 1)] = any_double(r);
        break;
    case 4:
        axis->first = (int64_t)rng_next(r);
        break;
    case 5:
        c->categories[rng_below(r, 256)] = (uint16_t)rng_next(r);
        break;
    case 6:
        axis->under = (tally_flow)rng_below(r, 5);
        axis->nan = (tally_flow)rng_below(r, 5);
        break;
    case 7:
        plan->dtypes[d] = (tally_dtype)rng_below(r, 15);
        break;
    case 8:
        plan->weight_dtype = (tally_dtype)rng_below(r, 15);
        break;
    case 9:
        plan->channel_mask = rng_next(r);
        break;
    case 10:
        plan->counter = (tally_counter)rng_below(r, 6);
        break;
    default:
        plan->weight_limit = any_double(r);
        if (plan->weight_limit == 0) /* tenths are added in any order only with a limit */
            plan->weight_limit = -1;
        break;
    }
}

/* ---- views ---- */

/* The strides that 0 stands for. */
static void spell_out(tally_view *v)
{
    const unsigned char *start = v->data;
    const int64_t batch = random_case_at(v, 1, 0, 0, 0) - start,
                  row = random_case_at(v, 0, 1, 0, 0) - start,
                  column = random_case_at(v, 0, 0, 1, 0) - start,
                  channel = random_case_at(v, 0, 0, 0, 1) - start;
    v->batch_stride_bytes = batch;
    v->row_stride_bytes = row;
    v->column_stride_bytes = column;
    v->channel_stride_bytes = channel;
}

/* The view within its own memory, one dimension of it backwards or closer together. */
static void turn(rng *r, tally_view *v, int may_overlap)
{
    const uint64_t extents[4] = {v->batches, v->rows, v->columns, v->channels};
    int64_t *const strides[4] = {&v->batch_stride_bytes, &v->row_stride_bytes,
                                 &v->column_stride_bytes, &v->channel_stride_bytes};
    if (!v->batches || !v->rows || !v->columns)
        return;
    spell_out(v);
    const unsigned d = (unsigned)rng_below(r, 4);
    const int64_t stride = *strides[d], sign = stride < 0 ? -1 : 1;
    if (may_overlap && chance(r, 2)) {
        *strides[d] = sign * (int64_t)(1 + rng_below(r, (uint64_t)(sign * stride)));
        return;
    }
    v->data = (const unsigned char *)v->data + (int64_t)(extents[d] - 1) * stride;
    *strides[d] = -stride;
}

/* One row, column, batch or channel for all. */
static void share(rng *r, tally_view *v)
{
    uint64_t *const extents[4] = {&v->batches, &v->rows, &v->columns, &v->channels};
    uint64_t *extent = extents[rng_below(r, 4)];
    spell_out(v);
    *extent = *extent ? 1 : 0;
}

static void any_weights(rng *r, const tally_view *v)
{
    uint64_t state = rng_next(r);
    for (uint64_t b = 0; b < v->batches; b++)
        for (uint64_t row = 0; row < v->rows; row++)
            for (uint64_t col = 0; col < v->columns; col++)
                for (uint64_t ch = 0; ch < v->channels; ch++) {
                    const uint64_t bits = splitmix64(&state);
                    memcpy(random_case_at(v, b, row, col, ch), &bits, tally_dtype_bytes(v->dtype));
                }
}

static void choose_views(rng *r, random_case *c)
{
    /* Sums of floats and of squares must not depend on the order. */
    const int any = c->weights.dtype < TALLY_F16 && !c->plan.sum_squares;
    if (c->has_weights && any && chance(r, 2))
        any_weights(r, &c->weights);
    for (unsigned d = 0; d < c->plan.dimensions; d++)
        if (chance(r, 3))
            turn(r, &c->views[d], 1);
    if (chance(r, 3))
        turn(r, &c->mask, 1);
    if (chance(r, 3))
        turn(r, &c->weights, any);
    if (chance(r, 8))
        share(r, &c->mask);
    if (chance(r, 8))
        share(r, &c->weights);
    tally_view *view = &c->views[rng_below(r, c->plan.dimensions)];
    if (chance(r, 32) && view->rows)
        view->rows--;
    if (chance(r, 32))
        view->dtype = (tally_dtype)rng_below(r, 15);
}

static void choose(rng *r, call *k)
{
    random_case *c = &k->c;
    need(!random_case_draw(c, r, chance(r, 16) ? 0 : CASE_SMALL, NULL), "memory", "out");
    if (chance(r, 4))
        name_method(r, k);
    if (chance(r, 16))
        name_setting(r, k);
    if (chance(r, 2))
        c->plan.n_hint = rng_next(r) >> rng_below(r, 64);
    choose_views(r, c);
    if (chance(r, 8))
        spoil_plan(r, &c->plan, c);
    uint64_t active = 0;
    for (uint64_t i = 0; i < c->plan.channels; i++)
        active += !c->plan.channel_mask || (c->plan.channel_mask >> i & 1);
    c->histograms = c->views[0].batches * active;
}

/* ---- the call ---- */

/* Something to add to or to overwrite, small whole numbers. */
static answer make_answer(const random_case *c, uint64_t bins)
{
    answer a = answer_make(c, bins, 1);
    for (size_t i = 0; i < a.cells; i++) {
        const uint64_t whole = i % 100;
        a.squares[i] = (double)whole;
        if (c->plan.weight_dtype >= TALLY_F16 && a.cell_bytes == 8)
            memcpy(a.counts + i * 8, &a.squares[i], 8);
        else if (c->plan.weight_dtype)
            memcpy(a.counts + i * a.cell_bytes, &whole, 8);
    }
    for (size_t h = 0; h < a.histograms; h++)
        a.flows[h] = (tally_flows){h, 2, 3, 4};
    return a;
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    int *left = user;
    need(done <= total, "progress", "past the end");
    return *left && --*left == 0;
}

static void run(const call *k, const tally_plan *plan, int reference, answer *a)
{
    const random_case *c = &k->c;
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    int left = k->until;
    how.mask = c->has_mask ? &c->mask : NULL;
    how.weights = c->has_weights && k->odd % 61 != 60 ? &c->weights : NULL;
    how.progress = k->until && !reference ? stop : NULL;
    how.user = &left;
    output.counts = k->odd % 67 == 66 ? NULL : a->counts;
    output.flows = k->odd & 2 ? NULL : a->flows;
    output.sum_squares = c->plan.sum_squares && k->odd % 71 != 70 ? a->squares : NULL;
    output.flow_sums = k->odd & 4 && c->plan.weight_dtype ? a->flow_sums : NULL;
    output.accumulate = k->odd >> 3 & 1;
    const tally_execute_options *options =
        k->odd & 16 && !how.mask && !how.weights && !how.progress ? NULL : &how;
    const tally_view *views = k->odd % 73 == 72 ? NULL : c->views;
    tally_error *error = k->odd & 32 ? NULL : &a->error;
    a->status =
        (reference ? tally_execute_reference : tally_execute)(plan, views, options, &output, error);
    need(!a->status || !error || error->message[0], "a message", "missing");
}

static void compare(const call *k, const tally_plan *plan)
{
    const uint64_t bins = tally_plan_bins(plan);
    if (bins > most_cells || bins * k->c.histograms > most_cells)
        return;
    answer untouched = make_answer(&k->c, bins), got = make_answer(&k->c, bins),
           want = make_answer(&k->c, bins);
    run(k, plan, 0, &got);
    run(k, plan, 1, &want);
    untouched.status = got.status;
    if (got.status == TALLY_ERROR_CANCELLED)
        need(k->until && answer_same(&got, &untouched), "cancelled", k->c.text);
    else
        need(answer_same(&got, &want), k->c.text,
             got.status == want.status ? "not the reference's" : got.error.message);
    untouched.status = want.status;
    if (want.status)
        need(answer_same(&want, &untouched), "refused, but written", want.error.message);
    answer_free(&untouched);
    answer_free(&got);
    answer_free(&want);
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
    rng r = {.bytes = data, .left = size};
    call k;
    tally_plan *plan = NULL;
    tally_error error = {""};
    memset(&k, 0, sizeof k);
    r.state = rng_below(&r, 65536);
    const unsigned which = (unsigned)rng_below(&r, 256);
    k.odd = (unsigned)rng_below(&r, 65536);
    k.until = which & 2 ? (int)(which >> 2) : 0;
    choose(&r, &k);
    const tally_status status = tally_plan_create(context_of(which & 1), &k.c.plan, &plan, &error);
    need(!status == (plan != NULL) && (!status || error.message[0]), "a plan or a message",
         "missing");
    if (plan)
        compare(&k, plan);
    tally_plan_destroy(plan);
    random_case_free(&k.c);
    return 0;
}
