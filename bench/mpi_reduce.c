/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long tally_mpi_reduce takes to add up the ranks' counts and sums at rank 0, beside MPI_Reduce
 * of as many bytes in the same run: the least of several, in JSON lines. bench/mpi.sh runs it.
 */
#include <stdio.h>
#include <tally/mpi.h>

enum { rounds = 9 };

static int rank, ranks;

typedef struct bench {
    tally_plan *plan;
    tally_output output;
    uint64_t bytes;
    void *other; /* as large as the counts, for MPI's sum */
} bench;

static void by_tally(bench *b)
{
    tally_error error = {""};
    if (tally_mpi_reduce(TALLY_OK, b->plan, 1, &b->output, 0, MPI_COMM_WORLD, &error)) {
        fprintf(stderr, "%s\n", error.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void by_mpi(bench *b)
{
    MPI_Reduce(b->output.counts, b->other, (int)(b->bytes / 8), MPI_UINT64_T, MPI_SUM, 0,
               MPI_COMM_WORLD);
}

/* The slowest rank's seconds, the least of `rounds`. */
static double least(bench *b, void (*reduce)(bench *))
{
    double best = 1e30;
    for (int i = 0; i < rounds; i++) {
        double own, all = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        own = -MPI_Wtime();
        reduce(b);
        own += MPI_Wtime();
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = all < best ? all : best;
    }
    return best;
}

static void run(tally_context *context, uint64_t bins, int wide)
{
    bench b = {0};
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = TALLY_F32;
    o.weight_dtype = wide ? TALLY_F32 : (tally_dtype)0;
    o.weight_limit = wide;
    b.output = (tally_output)TALLY_OUTPUT_INIT;
    b.bytes = bins * (wide ? sizeof(tally_wide) : sizeof(uint64_t));
    b.output.counts = calloc(1, b.bytes);
    b.other = calloc(1, b.bytes);
    if (!b.output.counts || !b.other || tally_plan_create(context, &o, &b.plan, NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    const double theirs = least(&b, by_mpi), ours = least(&b, by_tally);
    if (rank == 0)
        printf("{\"bench\":\"mpi\",\"ranks\":%d,\"bins\":%llu,\"sums\":\"%s\",\"bytes\":%llu,"
               "\"tally\":%.3g,\"mpi_reduce\":%.3g}\n",
               ranks, (unsigned long long)bins, wide ? "wide" : "u64", (unsigned long long)b.bytes,
               ours, theirs);
    tally_plan_destroy(b.plan);
    free(b.output.counts);
    free(b.other);
}

int main(int argc, char **argv)
{
    static const uint64_t bins[] = {256, 65536, 1 << 20};
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    o.device = TALLY_DEVICE_CPU;
    o.threads = 1;
    if (tally_context_create(&o, &context, NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 3; i++)
        for (int wide = 0; wide < 2; wide++)
            run(context, bins[i], wide);
    tally_context_destroy(context);
    MPI_Finalize();
    return 0;
}
