/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tally-mpi. */
#include "tally_mpi.h"

#include <math.h>
#include <stdarg.h>

static const char help[] =
    "usage: mpirun [-n RANKS] tally-mpi run [OPTION]... FILE...\n"
    "\n"
    "One histogram of all files, counted by all ranks. Rank 0 writes it.\n"
    "\n"
    "  --bins N          even bins (256; with --integer one for each)\n"
    "  --range LO HI     their ends (the smallest and largest finite sample)\n"
    "  --integer         a bin for each integer, LO to HI\n"
    "  --log             bins of equal ratio; needs --range\n"
    "  --column C        of a table: its name, or number from 1\n"
    "  --weights C       another column: sums of its values. Floats add up to the\n"
    "                    same bits for any number of ranks\n"
    "  --device D        cpu, cuda, opencl or auto (cpu); a rank takes the one that\n"
    "                    has its number on its machine\n"
    "  --threads N       of the processor, each rank (its share of them)\n"
    "  --split BYTES     files of so many bytes are counted by all ranks, a range\n"
    "                    of elements each, where their format allows (67108864)\n"
    "  -f, --format F    table, csv, json, npy, png or svg (by the ending of -o, else\n"
    "                    table)\n"
    "  -o, --output F    write there (to standard output)\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not served by this build.\n";

tally_status fail(tally_error *error, tally_status status, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vsnprintf(error->message, sizeof error->message, format, words);
    va_end(words);
    return status;
}

/* Rank 0 says what is wrong. */
__attribute__((format(printf, 2, 3))) static int usage(int speaks, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    if (speaks) {
        fputs("tally-mpi: ", stderr);
        vfprintf(stderr, format, words);
        fputs("; see tally-mpi --help\n", stderr);
    }
    va_end(words);
    return 2;
}

static int read_whole(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int read_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && isfinite(*value);
}

static int read_device(const char *text, tally_device_type *device)
{
    static const struct {
        const char *name;
        tally_device_type device;
    } names[] = {{"auto", TALLY_DEVICE_AUTO},
                 {"cpu", TALLY_DEVICE_CPU},
                 {"cuda", TALLY_DEVICE_CUDA},
                 {"opencl", TALLY_DEVICE_OPENCL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *device = names[i].device;
        if (!strcmp(text, names[i].name))
            return 1;
    }
    return 0;
}

/* One option with its value; 0 where it takes another. */
static int take(wishes *w, const char *name, const char *value)
{
    uint64_t number = 0;
    if (!strcmp(name, "--bins"))
        return read_whole(value, &w->bins) && w->bins && w->bins < UINT64_C(1) << 31;
    if (!strcmp(name, "--format") || !strcmp(name, "-f")) {
        w->format = tally_format_parse(value);
        return w->format >= 0;
    }
    if (!strcmp(name, "--split"))
        return read_whole(value, &w->split);
    if (!strcmp(name, "--threads")) {
        if (!read_whole(value, &number) || !number || number > 1024)
            return 0;
        w->threads = (uint32_t)number;
        return 1;
    }
    if (!strcmp(name, "--device"))
        return read_device(value, &w->device);
    if (!strcmp(name, "--column"))
        w->column = value;
    else if (!strcmp(name, "--weights"))
        w->weights = value;
    else
        w->output = value;
    return *value != '\0';
}

static int is_option(const char *name)
{
    static const char *const names[] = {"--bins",   "--split",   "--threads", "--device",
                                        "--column", "--weights", "--output",  "--format",
                                        "-o",       "-f"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

static int check(int speaks, wishes *w)
{
    const char *dot = w->output ? strrchr(w->output, '.') : NULL;
    const int format = dot ? tally_format_parse(dot + 1) : -1;
    if (!w->path_count)
        return usage(speaks, "no file");
    if (w->weights && !w->column)
        return usage(speaks, "--weights is a column beside --column, which is missing");
    if (w->is_log && (w->is_integer || !w->has_range || !(w->range[0] > 0)))
        return usage(speaks, "--log needs --range LO HI above 0, and no --integer");
    if (w->is_integer && w->has_range &&
        (w->bins || w->range[0] != floor(w->range[0]) || w->range[1] != floor(w->range[1])))
        return usage(speaks, "--integer needs a --range of integers, and then no --bins");
    if (w->has_range && !(w->range[0] < w->range[1]) && !w->is_integer)
        return usage(speaks, "--range: the first must be less than the second");
    if (w->output && w->format < 0 && format <= (int)TALLY_FORMAT_TABLE)
        return usage(speaks, "--output %s: it ends in none of .json .csv .npy .png .svg",
                     w->output);
    if (w->format < 0)
        w->format = w->output ? format : (int)TALLY_FORMAT_TABLE;
    return WISHES_COUNT;
}

int wishes_read(int argc, char **argv, int speaks, wishes *w)
{
    int plain = 0; /* behind "--" all are files */
    *w = (wishes){.format = -1, .split = UINT64_C(1) << 26, .device = TALLY_DEVICE_CPU};
    w->paths = argv; /* files move to the front */
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
        if (speaks)
            fputs(help, stdout);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        if (speaks)
            printf("tally-mpi %s\n", tally_version());
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "run") != 0)
        return usage(speaks, "it has one word, run");
    for (int i = 2; i < argc; i++) {
        const char *name = argv[i];
        if (plain || name[0] != '-') {
            w->paths[w->path_count++] = argv[i];
        } else if (!strcmp(name, "--")) {
            plain = 1;
        } else if (!strcmp(name, "--range")) {
            if (i + 2 >= argc || !read_real(argv[i + 1], &w->range[0]) ||
                !read_real(argv[i + 2], &w->range[1]) || !(w->range[0] <= w->range[1]))
                return usage(speaks, "--range takes two finite numbers, the lower first");
            w->has_range = 1;
            i += 2;
        } else if (!strcmp(name, "--integer")) {
            w->is_integer = 1;
        } else if (!strcmp(name, "--log")) {
            w->is_log = 1;
        } else if (!is_option(name)) {
            return usage(speaks, "unknown option %s", name);
        } else if (i + 1 >= argc || !take(w, name, argv[i + 1])) {
            return usage(speaks, "%s: %s is no value for it", name,
                         i + 1 < argc ? argv[i + 1] : "nothing");
        } else {
            i++;
        }
    }
    return check(speaks, w);
}
