/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally-mpi: `tally run`, where the processes that mpirun starts count together. What the command
 * does is in cli/; here is how processes meet (cli/team.h), by tally/mpi.h.
 */
#include <tally/mpi.h>

#include "../cli/job.h"
#include "../cli/team.h"

static const char help[] =
    "usage: mpirun [-n RANKS] tally-mpi run [OPTION]... FILE...\n"
    "\n"
    "`tally run` (see tally run --help) by all ranks: files are dealt to them, and large ones "
    "cut,\n"
    "where their format allows. Rank 0 writes. The bytes are those of one rank, also of sums of\n"
    "floats. Different from `tally run` are:\n"
    "\n"
    "  --split BYTES     files of so many bytes are counted by all ranks, a range of\n"
    "                    elements each, where their format allows (67108864)\n"
    "  -d, --device D    cpu, cuda, opencl or auto (cpu); a rank takes the one that has its\n"
    "                    number on its machine\n"
    "  -j, --threads N   of the processor, each rank (its share of them)\n"
    "  -b, --bins N      a number; 256 where `tally run` would choose one from the data\n"
    "  -w, --weights     of floats the largest is found, which their sums' bits need;\n"
    "                    --weight-limit saves reading the files for that\n"
    "\n"
    "Not for several processes: tables without --column, standard input, rules as --bins,\n"
    "--quantiles, --of, --sum-squares, --keep-going, --progress.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not served by this build.\n";

typedef struct team {
    cli_team as;
    int ended;         /* the exit code that was agreed on; 0: none */
    tally_error words; /* its words; before that this rank's first failure's */
} team;

/* CLI_OK if all came with that, else the code of the lowest rank that did not, for good. */
static int meet(team *t, int code)
{
    if (t->ended)
        return t->ended;
    t->ended = (int)tally_mpi_agree((tally_status)code, MPI_COMM_WORLD, &t->words);
    return t->ended;
}

/* The same for a status. */
static tally_status meet_with(team *t, tally_status mine, tally_error *error)
{
    if (mine && !t->words.message[0])
        t->words = *error;
    const int code = meet(t, mine ? cli_code_of(mine) : CLI_OK);
    if (code && error != &t->words)
        *error = t->words;
    return !code ? TALLY_OK : code == CLI_UNSUPPORTED ? TALLY_ERROR_UNSUPPORTED : TALLY_ERROR_IO;
}

/* What a call of tally/mpi.h says to all alike. */
static tally_status settle(team *t, tally_status status, const tally_error *error)
{
    if (status) {
        t->ended = cli_code_of(status);
        t->words = *error;
    }
    return status;
}

static tally_status gather(cli_team *as, tally_status mine, const void *own, size_t size, void *all,
                           tally_error *error)
{
    const tally_status status = meet_with((team *)as, mine, error);
    return status ? status
                  : tally_mpi_said(MPI_Allgather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE,
                                                 MPI_COMM_WORLD),
                                   error);
}

static tally_status say(cli_team *as, tally_status mine, int from, void *bytes, uint64_t size,
                        tally_error *error)
{
    tally_status status = meet_with((team *)as, mine, error);
    for (uint64_t n, at = 0; at < size && !status; at += n) {
        n = size - at < INT_MAX ? size - at : INT_MAX;
        status = tally_mpi_said(
            MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD), error);
    }
    return status;
}

static tally_status sum(cli_team *as, tally_status mine, uint64_t *numbers, uint64_t count,
                        tally_error *error)
{
    tally_status status = meet_with((team *)as, mine, error);
    for (uint64_t n, at = 0; at < count && !status; at += n) {
        n = count - at < TALLY_MPI_PIECE ? count - at : TALLY_MPI_PIECE;
        status = tally_mpi_said(MPI_Reduce(as->rank ? numbers + at : MPI_IN_PLACE, numbers + at,
                                           (int)n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD),
                                error);
    }
    return status;
}

static tally_status add(cli_team *as, tally_status mine, const tally_plan *plan,
                        uint64_t histograms, const tally_output *output, tally_error *error)
{
    tally_status status = meet_with((team *)as, mine, error);
    if (status)
        return status;
    status = tally_mpi_reduce(status, plan, histograms, output, 0, MPI_COMM_WORLD, error);
    return settle((team *)as, status, error);
}

static tally_status limit(cli_team *as, tally_status mine, const tally_stats *stats, double *most,
                          tally_error *error)
{
    tally_status status = meet_with((team *)as, mine, error);
    if (status)
        return status;
    status = tally_mpi_limit(status, stats, most, MPI_COMM_WORLD, error);
    return settle((team *)as, status, error);
}

static void form(team *t)
{
    MPI_Comm local;
    MPI_Comm_rank(MPI_COMM_WORLD, &t->as.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t->as.ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, t->as.rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &t->as.number);
    MPI_Comm_size(local, &t->as.here);
    MPI_Comm_free(&local);
    t->as.split = UINT64_C(1) << 26;
    t->as.gather = gather;
    t->as.say = say;
    t->as.sum = sum;
    t->as.add = add;
    t->as.limit = limit;
}

/* Takes --split BYTES out of the arguments, before "--". */
static int take_split(int *argc, char **argv, uint64_t *split)
{
    for (int i = 2; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        const int joined = strncmp(argv[i], "--split=", 8) == 0, took = joined ? 1 : 2;
        if (!joined && strcmp(argv[i], "--split") != 0)
            continue;
        const char *text = joined ? argv[i] + 8 : i + 1 < *argc ? argv[i + 1] : "";
        if (!parse_u64(text, split))
            return cli_usage(NULL, "--split %s: a number of bytes is expected", text);
        memmove(argv + i, argv + i + took, (size_t)(*argc - i - took + 1) * sizeof *argv);
        *argc -= took;
        i--;
    }
    return CLI_OK;
}

static void say_failure(const team *t)
{
    const char *words = t->words.message;
    if (t->ended == CLI_USAGE && strncmp(words, "rank 0: ", 8) == 0) /* all have the same words */
        words += 8;
    cli_failures_keep(NULL);
    if (t->as.rank == 0)
        cli_fail("%s", words);
}

static int act(team *t, int argc, char **argv)
{
    cli_options options = {.team = NULL};
    int code = argc > 1 && strcmp(argv[1], "run") == 0
                   ? take_split(&argc, argv, &t->as.split)
                   : cli_usage(NULL, "it has one word, run (tally-mpi --help)");
    if (!code)
        code = cli_options_parse(argc, argv, &options);
    options.team = &t->as;
    if (!code)
        code = cli_folders_expand(&options);
    if (!code)
        code = cli_output_check(&options, cli_text(&options, CLI_OUTPUT, NULL));
    if (!code)
        code = options.word->act(&options);
    code = meet(t, code);
    if (code)
        say_failure(t);
    if (code == CLI_FAILED)
        cli_run_hint(&options);
    cli_options_release(&options);
    return code;
}

static int asks(int argc, char **argv, const char *what)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], what) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static team t;
    int code = CLI_OK;
    MPI_Init(&argc, &argv);
    form(&t);
    cli_signals_start();
    cli_speaker = t.as.rank ? NULL : "tally-mpi";
    cli_failures_keep(&t.words);
    if (asks(argc, argv, "--help") || asks(argc, argv, "-h")) {
        if (t.as.rank == 0)
            fputs(help, stdout);
    } else if (asks(argc, argv, "--version") || asks(argc, argv, "-V")) {
        if (t.as.rank == 0)
            printf("tally-mpi %s\n", tally_version());
    } else {
        code = act(&t, argc, argv);
    }
    MPI_Finalize();
    return code;
}
