/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tally-mpi. */
#include "tally_mpi.h"

#include <math.h>
#include <stdarg.h>

#include "../common/parse.h"

static const char help[] =
    "usage: mpirun [-n RANKS] tally-mpi run [OPTION]... FILE...\n"
    "\n"
    "One histogram of all files, counted by all ranks. Rank 0 writes it.\n"
    "\n"
    "  -b, --bins N      even bins (256; with --integer one for each, with --log 64)\n"
    "  --range LO HI     their ends (the smallest and largest finite sample; of 8-bit\n"
    "                    samples and 16-bit images the type's)\n"
    "  --integer         a bin for each integer, LO to HI\n"
    "  --log             bins of equal ratio\n"
    "  -c, --column C    of a table: its name, or number from 1\n"
    "  -w, --weights C   another column: sums of its values. Floats add up to the\n"
    "                    same bits for any number of ranks\n"
    "  -t, --dtype TYPE  the files are raw samples of this type, <f4 or float32 too\n"
    "  --endian ORDER    of raw samples: little or big (the machine's)\n"
    "  --offset BYTES    of raw samples: skip so many first\n"
    "  --delimiter CHAR  text: between fields; tab, space or a character\n"
    "  --header yes|no   text: whether the first line is headings\n"
    "  --na WORD,...     text: more words for missing numbers\n"
    "  -d, --device D    cpu, cuda, opencl or auto (cpu); a rank takes the one that\n"
    "                    has its number on its machine\n"
    "  -j, --threads N   of the processor, each rank (its share of them)\n"
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

static int read_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && isfinite(*value);
}

/* "yes" and "no", "big" and "little": 1 and -1. */
static int read_either(const char *text, const char *yes, const char *no, int32_t *value)
{
    *value = !strcmp(text, yes) ? 1 : !strcmp(text, no) ? -1 : 0;
    return *value != 0;
}

static int read_dtype(const char *text, tally_input_options *input)
{
    int order = 0;
    input->dtype = parse_dtype(text, &order);
    input->byte_order = order ? order : input->byte_order;
    return input->dtype != 0;
}

static int read_delimiter(const char *text, char *delimiter)
{
    *delimiter = (char)(!strcmp(text, "tab") ? '\t' : !strcmp(text, "space") ? ' ' : *text);
    return *delimiter && (!text[1] || *delimiter != *text);
}

static int read_threads(const char *text, uint32_t *threads)
{
    uint64_t number = 0;
    if (!parse_u64(text, &number) || !number || number > 1024)
        return 0;
    *threads = (uint32_t)number;
    return 1;
}

enum {
    BINS,
    COLUMN,
    WEIGHTS,
    DTYPE,
    ENDIAN,
    OFFSET,
    DELIMITER,
    HEADER,
    NA,
    DEVICE,
    THREADS,
    SPLIT,
    FORMAT,
    OUTPUT,
    OPTIONS
};

/* One option with its value; 0 where it takes another. */
static int take(wishes *w, int option, const char *value)
{
    int32_t index;
    switch (option) {
    case BINS:
        return parse_u64(value, &w->bins) && w->bins && w->bins < UINT64_C(1) << 31;
    case COLUMN:
        w->column = value;
        return *value != '\0';
    case WEIGHTS: /* as `tally run` has it, :NAME, too */
        w->weights = value + (*value == ':');
        return *w->weights != '\0';
    case DTYPE:
        return read_dtype(value, &w->input);
    case ENDIAN:
        return read_either(value, "big", "little", &w->input.byte_order);
    case OFFSET:
        return parse_u64(value, &w->input.offset_bytes);
    case DELIMITER:
        return read_delimiter(value, &w->input.delimiter);
    case HEADER:
        return read_either(value, "yes", "no", &w->input.header);
    case NA:
        w->input.missing = value;
        return *value != '\0';
    case DEVICE:
        return !strchr(value, ':') && parse_device(value, &w->device, &index);
    case THREADS:
        return read_threads(value, &w->threads);
    case SPLIT:
        return parse_u64(value, &w->split);
    case FORMAT:
        w->format = tally_format_parse(value);
        return w->format >= 0;
    default:
        w->output = value;
        return *value != '\0';
    }
}

static int find_option(const char *name)
{
    static const char *const names[OPTIONS][2] = {
        {"--bins", "-b"},   {"--column", "-c"}, {"--weights", "-w"}, {"--dtype", "-t"},
        {"--endian", ""},   {"--offset", ""},   {"--delimiter", ""}, {"--header", ""},
        {"--na", ""},       {"--device", "-d"}, {"--threads", "-j"}, {"--split", ""},
        {"--format", "-f"}, {"--output", "-o"}};
    int i = 0;
    while (i < OPTIONS && strcmp(name, names[i][0]) != 0 && strcmp(name, names[i][1]) != 0)
        i++;
    return i;
}

static int check(int speaks, wishes *w)
{
    const char *dot = w->output ? strrchr(w->output, '.') : NULL;
    const int format = dot ? tally_format_parse(dot + 1) : -1;
    if (!w->path_count)
        return usage(speaks, "no file");
    if (w->weights && !w->column)
        return usage(speaks, "--weights is a column beside --column, which is missing");
    if (w->is_log && (w->is_integer || (w->has_range && !(w->range[0] > 0))))
        return usage(speaks, "--log needs a --range above 0, and no --integer");
    if (w->is_integer && w->has_range &&
        (w->bins || w->range[0] != floor(w->range[0]) || w->range[1] != floor(w->range[1])))
        return usage(speaks, "--integer needs a --range of integers, and then no --bins");
    if ((w->input.offset_bytes || w->input.byte_order) && !w->input.dtype)
        return usage(speaks, "--offset and --endian are of raw samples, which need --dtype");
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
    *w = (wishes){.format = -1,
                  .split = UINT64_C(1) << 26,
                  .device = TALLY_DEVICE_CPU,
                  .input = TALLY_INPUT_OPTIONS_INIT};
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
        } else if (find_option(name) == OPTIONS) {
            return usage(speaks, "unknown option %s", name);
        } else if (i + 1 >= argc || !take(w, find_option(name), argv[i + 1])) {
            return usage(speaks, "%s: %s is no value for it", name,
                         i + 1 < argc ? argv[i + 1] : "nothing");
        } else {
            i++;
        }
    }
    return check(speaks, w);
}
