/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally/mpi.h: what all ranks counted of their parts, added up, is what one process counts of all;
 * failures of one rank reach all. Run under mpirun, by any number of ranks.
 *
 *     test_reduce [SEED]
 */
#define TALLY_MPI_PIECE 7 /* every array takes several */
#include <tally/io.h>
#include <tally/mpi.h>

#include <time.h>

#include "../../common/splitmix.h"
#include "check.h"

enum { n = 60000, bins = 30 };

static uint64_t state;
static int rank, ranks;
static float samples[n];
static double weights[n];
static int64_t wholes[n];
static tally_context *context;

static void draw(void)
{
    for (int i = 0; i < n; i++) {
        samples[i] = (float)(splitmix64_unit(&state) * 12 - 1);
        weights[i] = ldexp(splitmix64_unit(&state) * 2 - 1, 3 - (int)(splitmix64(&state) % 60));
        wholes[i] = (int64_t)splitmix64(&state); /* sums pass int64 on the way */
    }
}

/* Where rank r's part begins: uneven parts, of which some may be empty. */
static uint64_t begin_of(int r)
{
    uint64_t seed = (uint64_t)r * 77;
    return r <= 0       ? 0
           : r >= ranks ? n
                        : splitmix64(&seed) % (n / (uint64_t)ranks) +
                              n / (uint64_t)ranks * (uint64_t)(r - 1);
}

typedef struct sheet {
    union {
        uint64_t u64[bins];
        uint32_t u32[bins];
        uint16_t u16[bins];
        uint8_t u8[bins];
        double f64[bins];
        int64_t i64[bins];
        tally_wide wide[bins];
    } counts;
    union {
        tally_wide wide[4];
        int64_t i64[4];
    } flow_sums;
    tally_flows flows;
    double squares[bins];
} sheet;

static tally_output output_of(const tally_plan *plan, sheet *s)
{
    const tally_plan_options *o = tally_plan_options_get(plan);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = &s->counts;
    output.flows = &s->flows;
    output.flow_sums = o->weight_dtype ? &s->flow_sums : NULL;
    output.sum_squares = o->sum_squares ? s->squares : NULL;
    return output;
}

static tally_status count(const tally_plan *plan, uint64_t begin, uint64_t end, sheet *s,
                          tally_error *error)
{
    const tally_dtype dtype = tally_plan_options_get(plan)->weight_dtype;
    const tally_view view = tally_view_1d(samples + begin, TALLY_F32, end - begin);
    const void *from = dtype == TALLY_I64 ? (const void *)(wholes + begin) : weights + begin;
    const tally_view w = tally_view_1d(from, dtype, end - begin);
    const tally_output output = output_of(plan, s);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    how.weights = dtype ? &w : NULL;
    memset(s, 0, sizeof *s);
    return tally_execute(plan, &view, &how, &output, error);
}

static tally_plan_options plain(void)
{
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    o.axes[0] = tally_axis_even(bins, 0, 10);
    o.dtypes[0] = TALLY_F32;
    return o;
}

static tally_plan *plan_of(const tally_plan_options *options)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    CHECK_SAY(!tally_plan_create(context, options, &plan, &error), "%s", error.message);
    return plan;
}

/* All ranks' parts, at `root`, against one call; the others keep what they had. */
static void check_same(const tally_plan_options *options, int root, const char *what)
{
    tally_plan *plan = plan_of(options);
    tally_error error = {""};
    sheet whole, part, before;
    tally_status status = count(plan, 0, n, &whole, &error);
    CHECK_SAY(!status, "%s: %s", what, error.message);
    status = count(plan, begin_of(rank), begin_of(rank + 1), &part, &error);
    before = part;
    const tally_output output = output_of(plan, &part);
    status = tally_mpi_reduce(status, plan, 1, &output, root, MPI_COMM_WORLD, &error);
    CHECK_SAY(!status, "%s: %s", what, error.message);
    const sheet *want = root == TALLY_MPI_ALL || root == rank ? &whole : &before;
    CHECK_SAY(!memcmp(&part, want, sizeof part), "%s, rank %d of %d, root %d", what, rank, ranks,
              root);
    tally_plan_destroy(plan);
}

static void check_kinds(void)
{
    static const char *const names[] = {"u64", "u32", "u16sat", "u8sat"};
    tally_plan_options o = plain();
    for (int c = 0; c < 4; c++) {
        o.counter = (tally_counter)c;
        check_same(&o, c % ranks, names[c]);
        check_same(&o, TALLY_MPI_ALL, names[c]);
    }
    o = plain();
    o.weight_dtype = TALLY_F64;
    o.weight_limit = 8;
    check_same(&o, ranks - 1, "f64 weights with a limit");
    check_same(&o, TALLY_MPI_ALL, "f64 weights with a limit");
    o = plain();
    for (int i = 0; i < n; i++)
        wholes[i] /= n; /* now the whole fits */
    o.weight_dtype = TALLY_I64;
    o.sum_squares = 0;
    check_same(&o, 0, "i64 weights");
}

/* The result of all ranks is saved by one. */
static void check_result(void)
{
    const tally_plan_options o = plain();
    tally_plan *plan = plan_of(&o);
    tally_result *result = NULL;
    tally_error error = {""};
    sheet whole;
    const uint64_t begin = begin_of(rank), end = begin_of(rank + 1);
    const tally_view view = tally_view_1d(samples + begin, TALLY_F32, end - begin);
    tally_status status = tally_result_create(plan, 1, NULL, &result, &error);
    const tally_output output = tally_result_output(result);
    if (!status)
        status = tally_execute(plan, &view, NULL, &output, &error);
    status = tally_mpi_reduce(status, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(!status && !count(plan, 0, n, &whole, &error), "%s", error.message);
    CHECK(rank ||
          !memcmp(tally_result_counts(result, 0), whole.counts.u64, sizeof whole.counts.u64));
    tally_result_destroy(result);
    tally_plan_destroy(plan);
}

static void check_range(void)
{
    const uint64_t begin = begin_of(rank), end = begin_of(rank + 1);
    const tally_view all = tally_view_1d(samples, TALLY_F32, n),
                     view = tally_view_1d(samples + begin, TALLY_F32, end - begin);
    tally_stats whole = TALLY_STATS_INIT, own = TALLY_STATS_INIT, none = TALLY_STATS_INIT;
    tally_axis axis = TALLY_AXIS_INIT;
    tally_error error = {""};
    double limit = 0;
    tally_stats_add(NULL, &all, NULL, 0, 0, &whole, NULL);
    tally_status status = tally_stats_add(NULL, &view, NULL, 0, 0, &own, &error);
    status = tally_mpi_range(status, &own, bins, &axis, MPI_COMM_WORLD, &error);
    CHECK_SAY(!status && axis.lo == whole.min && axis.hi == whole.max && axis.bins == bins,
              "%s: %g … %g", error.message, axis.lo, axis.hi);
    CHECK(!tally_mpi_range(TALLY_OK, &none, bins, &axis, MPI_COMM_WORLD, NULL) && axis.lo == 0 &&
          axis.hi == 1);
    none.finite = none.samples = rank == ranks - 1;
    none.min = none.max = -3;
    CHECK(!tally_mpi_range(TALLY_OK, &none, bins, &axis, MPI_COMM_WORLD, NULL) && axis.lo == -3.5 &&
          axis.hi == -2.5);
    CHECK(!tally_mpi_limit(TALLY_OK, &none, &limit, MPI_COMM_WORLD, NULL) && limit == 3);
    none.min = none.max = 0x1p60; /* and 0.5 more is the same number */
    CHECK(!tally_mpi_range(TALLY_OK, &none, bins, &axis, MPI_COMM_WORLD, NULL) &&
          axis.lo < 0x1p60 && axis.hi > 0x1p60);
    none.samples += rank == 0;
    status = tally_mpi_limit(TALLY_OK, &none, &limit, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_DATA && strstr(error.message, "rank 0: a weight"), "%s",
              error.message);
}

/* A failure of the last rank is everybody's, and nothing changes. */
static void check_failures(void)
{
    tally_plan_options o = plain();
    tally_error error = {""};
    sheet s, before;
    char who[32];
    const int last = rank == ranks - 1;
    tally_plan *plan = plan_of(&o);
    tally_output output = output_of(plan, &s);
    CHECK(!count(plan, 0, 1000, &s, &error));
    before = s;
    snprintf(who, sizeof who, "rank %d: view 0", ranks - 1);
    tally_view wrong = tally_view_1d(samples, TALLY_F64, 10);
    tally_status mine = last ? tally_execute(plan, &wrong, NULL, &output, &error) : TALLY_OK;
    tally_status status = tally_mpi_reduce(mine, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_ARGUMENT && strstr(error.message, who), "%s", error.message);
    status = tally_mpi_reduce(last ? TALLY_ERROR_IO : TALLY_OK, plan, 1, &output, 0, MPI_COMM_WORLD,
                              NULL);
    CHECK(status == TALLY_ERROR_IO);
    output.on_device = last;
    status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_UNSUPPORTED && strstr(error.message, "device memory"), "%s",
              error.message);
    output.on_device = 0;
    status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, ranks, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_ARGUMENT && strstr(error.message, "root"), "%s", error.message);
    tally_plan_destroy(plan);
    o.axes[0].hi += last ? 1e-9 : 0;
    plan = plan_of(&o);
    status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(ranks == 1 ? !status
                         : status == TALLY_ERROR_ARGUMENT &&
                               strstr(error.message, "plans or outputs differ"),
              "%s", error.message);
    CHECK(ranks == 1 || !memcmp(&s, &before, sizeof s));
    tally_plan_destroy(plan);
}

/* A whole that its type does not hold, though every part fits; and parts that only do together. */
static void check_wholes(void)
{
    tally_plan_options o = plain();
    tally_error error = {""};
    sheet s, before;
    if (ranks == 1)
        return;
    o.counter = TALLY_COUNTER_U32;
    tally_plan *plan = plan_of(&o);
    tally_output output = output_of(plan, &s);
    memset(&s, 0, sizeof s);
    s.counts.u32[20] = UINT32_MAX / (uint32_t)ranks + 1;
    before = s;
    tally_status status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, 1, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_DATA && strstr(error.message, "bin 20") &&
                  strstr(error.message, "u32") && !memcmp(&s, &before, sizeof s),
              "%s", error.message);
    tally_plan_destroy(plan);
    o = plain();
    o.weight_dtype = TALLY_I64;
    plan = plan_of(&o);
    output = output_of(plan, &s);
    memset(&s, 0, sizeof s);
    s.counts.i64[3] = rank % 2 ? INT64_MIN : INT64_MAX;
    s.counts.i64[4] = INT64_MAX;
    before = s;
    status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(status == TALLY_ERROR_DATA && strstr(error.message, "bin 4") &&
                  strstr(error.message, "int64") && !memcmp(&s, &before, sizeof s),
              "%s", error.message);
    s.counts.i64[4] = 0;
    status = tally_mpi_reduce(TALLY_OK, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
    CHECK_SAY(!status && (rank || s.counts.i64[3] == -(ranks / 2)), "%s", error.message);
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    MPI_Bcast(&state, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seed %llu\n", (unsigned long long)state);
    o.device = TALLY_DEVICE_CPU;
    o.threads = 1;
    CHECK(!tally_context_create(&o, &context, NULL));
    draw();
    check_kinds();
    check_result();
    check_range();
    check_failures();
    check_wholes();
    tally_context_destroy(context);
    if (rank == 0)
        printf("%d ranks, %d checks each\n", ranks, checks);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
