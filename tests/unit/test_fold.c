/* SPDX-License-Identifier: Apache-2.0 */
/* tally_result_project and tally_result_rebin against sums made the slow way, on random results. */
#include <time.h>

#include "core/alloc.h"
#include "results.h"

/* The bin of axis d in bin i of a result. */
static uint64_t index_of(const tally_result *r, uint64_t i, uint32_t d)
{
    for (uint32_t e = r->dimensions; --e > d;)
        i /= r->axes[e].bins;
    return i % r->axes[d].bins;
}

/* How a bin moves: axes[k] becomes axis k; bins of axis `joined` are joined. */
typedef struct moves {
    uint32_t axes[TALLY_MAX_DIMENSIONS], count, joined;
    uint64_t join;
} moves;

static uint64_t target_of(const tally_result *from, const tally_result *to, uint64_t i,
                          const moves *m)
{
    uint64_t target = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const uint64_t bin = index_of(from, i, m->axes[k]);
        target = target * to->axes[k].bins + (m->axes[k] == m->joined ? bin / m->join : bin);
    }
    return target;
}

/* One bin of the new result, of histogram h; *fits 0 where it cannot be. */
static void check_bin(const tally_result *from, const tally_result *to, uint64_t h, uint64_t bin,
                      const moves *m)
{
    long double integers = 0; /* few enough that each sum below 2^63 is exact in 64 bits */
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < from->bins; i++) {
        const uint64_t at = h * from->bins + i;
        if (target_of(from, to, i, m) != bin)
            continue;
        if (from->kind == TALLY_RESULT_SUMS_F64)
            sum += ((double *)from->counts)[at];
        else if (from->kind == TALLY_RESULT_SUMS_I64)
            integers += (long double)((int64_t *)from->counts)[at];
        else
            integers += (long double)((uint64_t *)from->counts)[at];
        squares += from->squares ? from->squares[at] : 0;
    }
    const uint64_t at = h * to->bins + bin, limit = ty_counter_limit(from->counter);
    if (ty_counter_saturates(from->counter) && integers > (long double)limit)
        integers = (long double)limit;
    if (from->kind == TALLY_RESULT_SUMS_F64)
        CHECK_SAY(same_sums((double *)to->counts + at, &sum, 1), "sum %g", sum);
    else if (from->kind == TALLY_RESULT_SUMS_I64)
        CHECK_SAY((long double)((int64_t *)to->counts)[at] == integers, "%Lg", integers);
    else
        CHECK_SAY((long double)((uint64_t *)to->counts)[at] == integers, "%Lg", integers);
    CHECK_SAY(!from->squares || same_sums(to->squares + at, &squares, 1), "squares %g", squares);
}

/* Everything of the new result but its axes. */
static void check_result(const tally_result *from, const tally_result *to, const moves *m)
{
    CHECK_SAY(to->kind == from->kind && to->counter == from->counter &&
                  !to->squares == !from->squares,
              "kind");
    CHECK_SAY(to->histograms == from->histograms && to->dimensions == m->count, "shape");
    CHECK_SAY(to->noted == from->noted && to->seconds == from->seconds &&
                  to->sources_total == from->sources_total &&
                  to->sources_count == from->sources_count && !strcmp(to->device, from->device) &&
                  !strcmp(to->method, from->method),
              "notes");
    CHECK_SAY(to->dtype == (m->axes[0] == 0 ? from->dtype : 0), "dtype");
    CHECK_SAY(!memcmp(to->flows, from->flows, from->histograms * sizeof *from->flows), "flows");
    CHECK_SAY(
        !to->flow_sums == !from->flow_sums &&
            (!to->flow_sums || !memcmp(to->flow_sums, from->flow_sums, from->histograms * 32)),
        "sums of flows");
    for (uint64_t h = 0; h < to->histograms; h++) {
        CHECK_SAY(!strcmp(to->names[h], from->names[h]), "name");
        for (uint64_t bin = 0; bin < to->bins; bin++)
            check_bin(from, to, h, bin, m);
    }
}

/* Integers whose sums fit, half the time. */
static tally_result *small_result(void)
{
    tally_result *r = random_result();
    for (uint64_t i = 0; r->kind != TALLY_RESULT_SUMS_F64 && i < r->histograms * r->bins; i++) {
        uint64_t *cell = (uint64_t *)r->counts + i;
        *cell >>= 11;
        if (r->kind == TALLY_RESULT_SUMS_I64 && below(2))
            *cell = -*cell;
        if (*cell > ty_counter_limit(r->counter))
            *cell = ty_counter_limit(r->counter);
    }
    return r;
}

static void test_project(void)
{
    tally_result *r = small_result(), *p = NULL;
    moves m = {.joined = TALLY_MAX_DIMENSIONS, .join = 1};
    uint32_t order[] = {0, 1, 2};
    for (uint32_t k = r->dimensions; k > 1; k--) { /* shuffled */
        const uint32_t other = (uint32_t)below(k), kept = order[other];
        order[other] = order[k - 1];
        order[k - 1] = kept;
    }
    m.count = 1 + (uint32_t)below(r->dimensions);
    memcpy(m.axes, order, sizeof order);
    tally_error error = {""};
    tally_status status = tally_result_project(r, m.axes, m.count, &p, &error);
    CHECK_SAY(!status, "%s", error.message);
    if (!status) {
        for (uint32_t k = 0; k < m.count; k++)
            CHECK_SAY(same_axis(&p->axes[k], &r->axes[m.axes[k]]), "axis %u", k);
        check_result(r, p, &m);
    }
    tally_result_destroy(p);
    tally_result_destroy(r);
}

static void check_joined_axis(const tally_axis *from, const tally_axis *to, uint64_t join)
{
    CHECK_SAY(to->bins == (from->bins + join - 1) / join, "bins");
    for (uint64_t i = 0; i < to->bins; i++)
        CHECK_SAY(tally_axis_edge(to, i) == tally_axis_edge(from, i * join), "edge %d", (int)i);
    CHECK_SAY(tally_axis_edge(to, to->bins) == tally_axis_edge(from, from->bins), "the last edge");
    CHECK_SAY(to->under == from->under && to->over == from->over && to->nan == from->nan &&
                  to->last == from->last,
              "policies");
    tally_axis formula = *to;
    double edges[66];
    formula.edges = to->kind == TALLY_AXIS_EDGES ? to->edges : NULL;
    CHECK_SAY(!tally_axis_edges_get(&formula, edges, NULL), "no axis");
    for (uint64_t i = 0; i <= to->bins; i++)
        CHECK_SAY(edges[i] == tally_axis_edge(to, i), "the kind says other edges");
}

static void test_rebin(void)
{
    tally_result *r = small_result(), *b = NULL;
    moves m = {.axes = {0, 1, 2}, .count = r->dimensions};
    m.joined = (uint32_t)below(r->dimensions);
    m.join = below(9) ? 1 + below(9) : UINT64_MAX - below(3);
    tally_error error = {""};
    const tally_axis *old = &r->axes[m.joined];
    tally_status status = tally_result_rebin(r, m.joined, m.join, &b, &error);
    if (old->kind == TALLY_AXIS_CATEGORY) {
        CHECK_SAY(status == TALLY_ERROR_ARGUMENT && strstr(error.message, "categories"),
                  "categories");
    } else {
        CHECK_SAY(!status, "%s", error.message);
        if (m.join <= 9)
            check_joined_axis(old, &b->axes[m.joined], m.join);
        CHECK_SAY(m.join <= 9 || b->axes[m.joined].bins == 1, "all in one");
        check_result(r, b, &m);
    }
    tally_result_destroy(b);
    tally_result_destroy(r);
}

static tally_result *of(tally_axis *axes, uint32_t dimensions, tally_result_kind kind)
{
    tally_result *r = NULL;
    ty_result_shape shape = {.dimensions = dimensions, .axes = axes, .kind = kind, .histograms = 1};
    if (ty_result_create(&shape, &r, NULL))
        abort();
    return r;
}

static void test_kinds(void)
{
    tally_axis even = tally_axis_even(8, 0, 1);
    tally_result *r = of(&even, 1, TALLY_RESULT_COUNTS), *b = NULL, *same = NULL;
    CHECK_SAY(!tally_result_rebin(r, 0, 2, &b, NULL) && b->axes[0].kind == TALLY_AXIS_EVEN, "even");
    even.bins = 4;
    same = of(&even, 1, TALLY_RESULT_COUNTS);
    CHECK_SAY(!tally_result_merge(b, same, NULL), "what was counted in fewer bins adds up");
    tally_result_destroy(same);
    tally_result_destroy(b);
    CHECK_SAY(!tally_result_rebin(r, 0, 3, &b, NULL) && b->axes[0].kind == TALLY_AXIS_EDGES,
              "edges");
    tally_result_destroy(b);
    tally_result_destroy(r);
}

/* Groups in fewer bins merge as before. */
static void test_groups(void)
{
    const tally_axis even = tally_axis_even(8, 0, 1);
    const char *const names[] = {"a", "2 other values"};
    ty_result_shape shape = {
        .dimensions = 1, .axes = &even, .histograms = 2, .names = names, .by = "g,x", .others = 2};
    tally_result *r = NULL, *b = NULL;
    CHECK(!ty_result_create(&shape, &r, NULL) && !tally_result_rebin(r, 0, 2, &b, NULL));
    CHECK(b && b->by && strcmp(b->by, "g,x") == 0 && b->others == 2);
    tally_result_destroy(b);
    tally_result_destroy(r);
}

/* Sums that do not fit; integers may pass int64 on the way. */
static void test_limits(void)
{
    tally_axis axis = tally_axis_even(3, 0, 1);
    tally_error error = {""};
    tally_result *r = of(&axis, 1, TALLY_RESULT_COUNTS), *b = NULL;
    uint64_t *counts = r->counts;
    counts[0] = UINT64_MAX;
    counts[1] = 1;
    CHECK_SAY(tally_result_rebin(r, 0, 2, &b, &error) == TALLY_ERROR_DATA && !b, "%s",
              error.message);
    CHECK_SAY(strstr(error.message, "2^64-1"), "%s", error.message);
    counts[0] = UINT32_MAX;
    r->counter = TALLY_COUNTER_U32;
    CHECK_SAY(tally_result_rebin(r, 0, 2, &b, &error) == TALLY_ERROR_DATA && !b, "%s",
              error.message);
    counts[0] = 65535;
    r->counter = TALLY_COUNTER_U16SAT;
    CHECK_SAY(!tally_result_rebin(r, 0, 2, &b, &error) && *(uint64_t *)b->counts == 65535,
              "sticks");
    tally_result_destroy(b);
    tally_result_destroy(r);
    r = of(&axis, 1, TALLY_RESULT_SUMS_I64);
    int64_t *sums = r->counts;
    sums[0] = INT64_MAX;
    sums[1] = INT64_MAX;
    sums[2] = -INT64_MAX;
    b = NULL;
    CHECK_SAY(!tally_result_rebin(r, 0, 3, &b, &error) && *(int64_t *)b->counts == INT64_MAX,
              "whole");
    tally_result_destroy(b);
    b = NULL;
    sums[2] = 0;
    CHECK_SAY(tally_result_rebin(r, 0, 3, &b, &error) == TALLY_ERROR_DATA && !b, "%s",
              error.message);
    tally_result_destroy(r);
}

static void test_refuses(void)
{
    tally_axis axes[] = {tally_axis_even(3, 0, 1), tally_axis_even(2, 0, 1)};
    const uint32_t twice[] = {1, 1, 0}, beyond[] = {2};
    tally_error error = {""};
    tally_result *r = of(axes, 2, TALLY_RESULT_COUNTS), *n = NULL;
    CHECK_SAY(tally_result_project(r, twice, 2, &n, &error) == TALLY_ERROR_ARGUMENT, "twice");
    CHECK_SAY(strstr(error.message, "axes[1] is 1"), "%s", error.message);
    CHECK_SAY(tally_result_project(r, beyond, 1, &n, &error) == TALLY_ERROR_ARGUMENT, "beyond");
    CHECK_SAY(strstr(error.message, "axes 0 to 1"), "%s", error.message);
    CHECK_SAY(tally_result_project(r, twice, 3, &n, &error) == TALLY_ERROR_ARGUMENT, "too many");
    CHECK_SAY(tally_result_project(r, twice, 0, &n, &error) == TALLY_ERROR_ARGUMENT, "none");
    CHECK_SAY(tally_result_rebin(r, 2, 2, &n, &error) == TALLY_ERROR_ARGUMENT, "axis 2");
    CHECK_SAY(tally_result_rebin(r, 0, 0, &n, &error) == TALLY_ERROR_ARGUMENT, "join 0");
    /* Every allocation may fail. */
    for (long i = 0; i < 40; i++) {
        ty_alloc_fail_after(i);
        tally_status status = i % 2 ? tally_result_rebin(r, 0, 2, &n, &error)
                                    : tally_result_project(r, twice + 1, 1, &n, &error);
        ty_alloc_fail_after(-1);
        CHECK_SAY(status == (n ? TALLY_OK : TALLY_ERROR_MEMORY), "%s", error.message);
        tally_result_destroy(n);
        n = NULL;
    }
    tally_result_destroy(r);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    for (int i = 0; i < 300; i++) {
        test_project();
        test_rebin();
    }
    test_kinds();
    test_groups();
    test_limits();
    test_refuses();
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
