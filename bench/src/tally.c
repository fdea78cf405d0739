/* SPDX-License-Identifier: Apache-2.0 */
/* Tally as a contender, and the reference that every contender's counts are compared with. */
#include "bench.h"

typedef struct runner {
    tally_context *context; /* not owned */
    const bench_options *options;
    bench_kind kind;
    tally_plan *plan;
    tally_view views[2], weights;
    void *counts; /* cells of u64, or of double when weighted */
    uint64_t cells;
} runner;

static tally_dtype dtype_of(bench_dtype dtype)
{
    return dtype == BENCH_U8 ? TALLY_U8 : dtype == BENCH_F32 ? TALLY_F32 : TALLY_F64;
}

static void describe(const bench_problem *problem, tally_plan_options *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->struct_size = sizeof *plan;
    plan->dimensions = problem->kind == BENCH_EVEN_2D ? 2 : 1;
    plan->n_hint = problem->n;
    for (uint32_t d = 0; d < plan->dimensions; d++) {
        plan->axes[d] = problem->kind == BENCH_EDGES
                            ? tally_axis_edges(problem->bins, problem->edges)
                            : tally_axis_even(problem->bins, problem->lo, problem->hi);
        plan->dtypes[d] = dtype_of(problem->dtype);
    }
    if (problem->kind == BENCH_WEIGHTS)
        plan->weight_dtype = TALLY_F64;
}

/* "KEY=VALUE" of --set, checked before; the copies live as long as the program. */
static size_t settings(const bench_options *options, tally_setting *to)
{
    static char pieces[BENCH_MOST_VALUES][BENCH_SETTING_BYTES];
    size_t count = options->set.count;
    for (size_t i = 0; i < count; i++) {
        snprintf(pieces[i], sizeof *pieces, "%s", options->set.texts[i]);
        char *equal = strchr(pieces[i], '=');
        *equal = '\0';
        to[i] = (tally_setting){pieces[i], equal + 1};
    }
    return count;
}

static void set_views(runner *s, const bench_problem *problem)
{
    s->kind = problem->kind;
    s->views[0] = tally_view_1d(problem->x, dtype_of(problem->dtype), problem->n);
    s->views[1] = tally_view_1d(problem->y, dtype_of(problem->dtype), problem->n);
    s->weights = tally_view_1d(problem->weights, TALLY_F64, problem->n);
}

static tally_status prepare(runner *s, const bench_problem *problem, const bench_options *options,
                            tally_error *error)
{
    tally_plan_options plan;
    tally_setting set[BENCH_MOST_VALUES];
    describe(problem, &plan);
    if (options) {
        plan.method = options->method;
        plan.settings_count = settings(options, set);
        plan.settings = set;
    }
    tally_status status = tally_plan_create(s->context, &plan, &s->plan, error);
    if (status)
        return status;
    set_views(s, problem);
    s->cells = tally_plan_bins(s->plan);
    s->counts = calloc(s->cells, 8);
    return s->counts ? TALLY_OK : TALLY_ERROR_MEMORY;
}

static void release_plan(runner *s)
{
    tally_plan_destroy(s->plan);
    free(s->counts);
    s->plan = NULL;
    s->counts = NULL;
}

/* The counts as doubles, `times` over. */
static void convert(const runner *s, uint64_t times, double *to)
{
    const uint64_t *whole = s->counts;
    const double *real = s->counts;
    for (uint64_t i = 0; i < s->cells; i++)
        to[i] = s->kind == BENCH_WEIGHTS ? real[i] * (double)times : (double)(whole[i] * times);
}

static int start(bench_contender *contender, const bench_problem *problem)
{
    runner *s = contender->shared;
    tally_error error = {""};
    tally_status status = prepare(s, problem, s->options, &error);
    if (status) {
        snprintf(contender->why, sizeof contender->why, "%.300s",
                 error.message[0] ? error.message : tally_status_string(status));
        return -1;
    }
    snprintf(contender->call, sizeof contender->call, "%s", tally_plan_method(s->plan));
    return 0;
}

/* Loops in a peer would be slow if we left the wide registers' upper halves in use: whatever we do,
 * it shall not come out as a better ratio. */
#if defined(__x86_64__)
__attribute__((target("avx"))) static void zero_upper(void)
{
    __builtin_ia32_vzeroupper();
}
#endif

static void clear_upper_registers(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx"))
        zero_upper();
#endif
}

static double time_calls(bench_contender *contender, uint64_t calls)
{
    runner *s = contender->shared;
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    how.weights = s->kind == BENCH_WEIGHTS ? &s->weights : NULL;
    output.counts = s->counts;
    double begin = bench_clock(contender);
    for (uint64_t i = 0; i < calls; i++)
        if (tally_execute(s->plan, s->views, &how, &output, &error)) {
            snprintf(contender->why, sizeof contender->why, "%.300s", error.message);
            return -1;
        }
    double took = bench_clock(contender) - begin;
    clear_upper_registers();
    return took;
}

static int counts(bench_contender *contender, double *to)
{
    convert(contender->shared, 1, to);
    return 0;
}

static void end(bench_contender *contender)
{
    release_plan(contender->shared);
}

int bench_tally_make(bench_contender *contender, const bench_options *options,
                     tally_context *context, unsigned threads)
{
    runner *s = calloc(1, sizeof *s);
    if (!s)
        return bench_fail("out of memory");
    s->context = context;
    s->options = options;
    snprintf(contender->name, sizeof contender->name, "tally");
    snprintf(contender->version, sizeof contender->version, "%s", tally_version());
    contender->threads = threads;
    contender->role = BENCH_TALLY;
    contender->start = start;
    contender->time = time_calls;
    contender->counts = counts;
    contender->end = end;
    contender->shared = s;
    return BENCH_OK;
}

int bench_tally_add(bench_contenders *contenders, const bench_options *options,
                    tally_context *context, unsigned threads)
{
    bench_contender *contender = bench_contender_add(contenders);
    return contender ? bench_tally_make(contender, options, context, threads)
                     : bench_fail("out of memory");
}

int bench_reference(tally_context *context, const bench_problem *problem, int sorted, double *to,
                    tally_error *error)
{
    runner s = {.context = context};
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    uint64_t times = problem->n > BENCH_BLOCK ? problem->n / BENCH_BLOCK : 1;
    tally_status status = prepare(&s, problem, NULL, error);
    /* The data are a block repeated: count that, or for sorted ones every so-manieth sample. */
    for (int d = 0; d < 2 && times > 1; d++) {
        s.views[d].columns = BENCH_BLOCK;
        if (sorted)
            s.views[d].column_stride_bytes = (int64_t)(times * bench_dtype_bytes(problem->dtype));
    }
    if (times > 1)
        s.weights.columns = BENCH_BLOCK;
    how.weights = problem->kind == BENCH_WEIGHTS ? &s.weights : NULL;
    output.counts = s.counts;
    if (!status)
        status = tally_execute_reference(s.plan, s.views, &how, &output, error);
    if (!status)
        convert(&s, times, to);
    release_plan(&s);
    return status ? -1 : 0;
}
