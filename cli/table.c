/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and the word table: data only. */
#include "cli.h"

#define RULES    "auto fd doane scott stone rice sturges sqrt"
#define UNITS    "hour day week month year"
#define DTYPES   "u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64"
#define SAVED    (CLI_MERGE | CLI_SHOW | CLI_PLOT)
#define READING  (CLI_RUN | CLI_QUANTILES)
#define COUNTING (CLI_RUN | CLI_EQUALIZE | CLI_SELFTEST | CLI_TUNE)
#define DRAWING  (CLI_RUN | CLI_MERGE | CLI_SHOW | CLI_PLOT)
#define ANY      UINT64_MAX

const char *const cli_group_order[] = {"Bins", "Input", "Work", "Output", "Messages", NULL};

const cli_option cli_option_table[] = {
    {CLI_BINS, "bins", 'b', CLI_TEXT, 1, "N|RULE|UNIT", CLI_RUN, "Bins", RULES " " UNITS, 0, 0, 1,
     "number of equal bins, or NumPy's rule that chooses it from the data: auto, fd, doane, scott, "
     "stone, rice, sturges, sqrt; of dates and times hour, day, week (from Monday), month or year, "
     "a bin each, UTC; for several columns one for all or N,M,..."},
    {CLI_EDGES, "edges", 0, CLI_TEXT, 1, "E0,E1,...", CLI_RUN, "Bins", NULL, 0, 0, 1,
     "the bins' edges, increasing; the last bin takes its upper edge too; once for each column"},
    {CLI_RANGE, "range", 0, CLI_WHEN, 2, "LO HI", CLI_RUN, "Bins", NULL, 0, 0, 1,
     "from where to where the bins reach; once for all columns or once for each; of times as "
     "dates, "
     "2026-01-01,2026-12-31, the last one included. Without it: the "
     "whole type for 8-bit samples and 16-bit image files, else smallest to largest finite sample"},
    {CLI_LOG, "log", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Bins", NULL, 0, 0, 0,
     "bins that grow by one factor (64 of them unless --bins says); needs positive data or "
     "--range"},
    {CLI_INTEGER, "integer", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Bins", NULL, 0, 0, 0,
     "one bin for each integer, smallest to largest found or LO to HI of --range, both included"},
    {CLI_ALPHABET, "alphabet", 0, CLI_TEXT, 1, "SET", CLI_RUN, "Bins", NULL, 0, 0, 0,
     "count these bytes, such as a-z or A-Za-z0-9; \\n \\t \\xHH \\- \\\\ stand for single bytes. "
     "The file is read as bytes"},
    {CLI_PER_BIN, "per-bin", 0, CLI_UINT, 1, "N", CLI_RUN, "Bins", NULL, 1, 256, 0,
     "so many neighbours of the alphabet in a bin (1)"},

    {CLI_CATEGORIES, "categories", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Bins", NULL, 0, 0, 0,
     "count each different value of the columns, numbers too. Without it a column that is "
     "named with --column is counted so if none of its first values, 100 at most, is a number"},
    {CLI_BY, "by", 0, CLI_TEXT, 1, "NAME|N", CLI_RUN, "Bins", NULL, 0, 0, 0,
     "a histogram of --column for each different value of this column, the most frequent "
     "first; rows without one are left out, and --top N counts all but N together"},
    {CLI_SEPARATE, "separate", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Bins", NULL, 0, 0, 0,
     "of several columns a histogram each, with bins of its own, instead of a joint one"},
    {CLI_OF, "of", 0, CLI_TEXT, 1, "NAME,...", CLI_RUN, "Bins", NULL, 0, 0, 1,
     "statistics of these columns in each bin, or word, of --column, a profile: how many values, "
     "their mean "
     "with its error, standard deviation, extremes; missing ones are left out. Its json is merged "
     "and shown as any; pictures are of the means"},
    {CLI_TOP, "top", 0, CLI_UINT, 1, "N", DRAWING, "Bins", NULL, 1, ANY, 0,
     "of values that are words keep the N largest, and count all others together"},

    {CLI_DTYPE, "dtype", 't', CLI_CHOICE, 1, "TYPE", READING, "Input", DTYPES, 0, 0, 0,
     "the file is raw samples of this type, also by NumPy's names: float32, <f4, >u2"},
    {CLI_ENDIAN, "endian", 0, CLI_CHOICE, 1, "ORDER", READING, "Input", "little big", 0, 0, 0,
     "raw: byte order of the samples; the machine's unless given"},
    {CLI_SHAPE, "shape", 0, CLI_TEXT, 1, "H,W,C", READING, "Input", NULL, 0, 0, 0,
     "raw: rows, columns and channels; H,W is one channel, N is N samples"},
    {CLI_OFFSET, "offset", 0, CLI_UINT, 1, "BYTES", READING, "Input", NULL, 0, ANY, 0,
     "raw: skip so many bytes first"},
    {CLI_COLUMN, "column", 'c', CLI_TEXT, 1, "NAME|N", READING, "Input", NULL, 0, 0, 1,
     "table: the column by its heading (a comma in it as \\,) or its number from 1; two or more, "
     "repeated or as a,b, make a joint histogram; all: each column by itself, as --separate has "
     "them"},
    {CLI_DELIMITER, "delimiter", 0, CLI_TEXT, 1, "CHAR", READING, "Input", "tab space", 0, 0, 0,
     "text: what is between fields; tab, space (any run of white space) or a character"},
    {CLI_HEADER, "header", 0, CLI_CHOICE, 1, "yes|no", READING, "Input", "yes no", 0, 0, 0,
     "text: whether the first line is headings"},
    {CLI_NA, "na", 0, CLI_TEXT, 1, "WORD,...", READING, "Input", NULL, 0, 0, 0,
     "text: more words for missing numbers, such as -999,missing"},
    {CLI_DECIMAL, "decimal", 0, CLI_CHOICE, 1, "SIGN", READING, "Input", ". ,", 0, 0, 0,
     "text: what numbers have as their point: . or , (.)"},
    {CLI_THOUSANDS, "thousands", 0, CLI_CHOICE, 1, "SIGN", READING, "Input", ", . ' _ space", 0, 0,
     0, "text: what numbers have between thousands, if anything"},
    {CLI_CHANNEL, "channel", 0, CLI_TEXT, 1, "NAME|N", READING, "Input", NULL, 0, 0, 1,
     "count only this channel, by name (R, G, B, A, grey) or number from 1; repeat for more"},
    {CLI_ROWS, "rows", 0, CLI_TEXT, 1, "A:B", READING, "Input", NULL, 0, 0, 0,
     "only rows A to B-1, from 0; A: and :B are open"},
    {CLI_COLS, "cols", 0, CLI_TEXT, 1, "A:B", READING, "Input", NULL, 0, 0, 0,
     "only columns A to B-1, from 0"},
    {CLI_MASK, "mask", 0, CLI_FILE, 1, "FILE", READING, "Input", NULL, 0, 0, 0,
     "count where this image or .npy of the same size is not zero"},
    {CLI_WEIGHTS, "weights", 'w', CLI_TEXT, 1, "FILE|:NAME", CLI_RUN, "Input", NULL, 0, 0, 0,
     "add weights instead of ones: a file with as many numbers as there are samples, or :NAME, a "
     "column of the same table"},
    {CLI_WEIGHTS, "weights", 'w', CLI_TEXT, 1, "FILE|:NAME", CLI_QUANTILES, "Input", NULL, 0, 0, 0,
     "how much each sample counts, by the rule inverted_cdf: a file with as many numbers as there "
     "are samples, or :NAME, a column of the same table. Samples and weights are held in memory, 4 "
     "GiB of them at most"},
    {CLI_WEIGHT_LIMIT, "weight-limit", 0, CLI_TEXT, 1, "X", CLI_RUN, "Input", NULL, 0, 0, 0,
     "with --weights: no |weight| is above X; sums then have the same bits however samples are "
     "split "
     "over results that are merged"},
    {CLI_SUM_SQUARES, "sum-squares", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Input", NULL, 0, 0, 0,
     "with --weights: keep the sum of squared weights of each bin too"},
    {CLI_EACH, "each", 'e', CLI_FLAG, 0, NULL, READING, "Input", NULL, 0, 0, 0,
     "each file by itself instead of all together"},
    {CLI_PAGE, "page", 0, CLI_UINT, 1, "N", READING, "Input", NULL, 1, ANY, 0,
     "the N-th image, from 1, of a TIFF, PNM, PNG, GIF or WebP file of several (all of them)"},
    {CLI_KEEP_GOING, "keep-going", 'k', CLI_FLAG, 0, NULL, CLI_RUN, "Input", NULL, 0, 0, 0,
     "name each file that cannot be counted, count the others and end with exit code 1"},
    {CLI_INDEX, "index", 0, CLI_UINT, 1, "N", CLI_SHOW | CLI_PLOT, "Input", NULL, 1, ANY, 0,
     "the N-th result, from 1, of a file that holds several"},

    {CLI_RANKS, "quantiles", 0, CLI_TEXT, 1, "Q,...", CLI_QUANTILES, "Work", NULL, 0, 0, 0,
     "which ones, from 0, the smallest, to 1, the largest (0,0.01,0.25,0.5,0.75,0.99,1)"},
    {CLI_RANKS, "quantiles", 0, CLI_TEXT, 1, "Q,...", CLI_RUN, "Work", NULL, 0, 0, 0,
     "beside the histogram exact quantiles of all its samples, from 0, the smallest, to 1, the "
     "largest; the files are read again for them. Of one axis of numbers or times, without "
     "weights"},
    {CLI_BETWEEN, "between", 0, CLI_CHOICE, 1, "METHOD", READING, "Work",
     "linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf closest_observation "
     "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased",
     0, 0, 0,
     "what a quantile between two samples is, by the methods of NumPy's quantile (linear)"},
    {CLI_COUNTER, "counter", 0, CLI_CHOICE, 1, "TYPE", CLI_RUN | CLI_MERGE, "Work",
     "u64 u32 u16sat u8sat", 0, 0, 0,
     "width of a count (u64): u32 is refused if one would not fit, u16sat and u8sat stick at 65535 "
     "and 255"},
    {CLI_DEVICE, "device", 'd', CLI_TEXT, 1, "DEVICE", COUNTING, "Work", "auto cpu cuda opencl", 0,
     0, 0,
     "where to count: auto, cpu, cuda, opencl; cuda:1 is the second one, cuda:* all; with commas "
     "several"},
    {CLI_THREADS, "threads", 'j', CLI_UINT, 1, "N", COUNTING | CLI_MERGE | CLI_QUANTILES, "Work",
     NULL, 1, 1024, 0, "most processor threads (one for each processor)"},
    {CLI_METHOD, "method", 'm', CLI_TEXT, 1, "NAME", CLI_RUN | CLI_SELFTEST, "Work", NULL, 0, 0, 0,
     "how to count; `tally methods` lists the names (auto)"},
    {CLI_SET, "set", 0, CLI_TEXT, 1, "KEY=VALUE", CLI_RUN, "Work", NULL, 0, 0, 1,
     "a setting of the method"},
    {CLI_VERIFY, "verify", 0, CLI_FLAG, 0, NULL, CLI_RUN, "Work", NULL, 0, 0, 0,
     "count again with the slow reference and compare; a difference ends with exit code 1"},
    {CLI_SEED, "seed", 0, CLI_UINT, 1, "S", CLI_SELFTEST, "Work", NULL, 0, ANY, 0,
     "start of the random numbers (from the clock, and printed)"},
    {CLI_SECONDS, "seconds", 0, CLI_REAL, 1, "T", CLI_SELFTEST, "Work", NULL, 0, 0, 0,
     "how long to test (5)"},
    {CLI_CASES, "cases", 0, CLI_UINT, 1, "N", CLI_SELFTEST, "Work", NULL, 1, ANY, 0,
     "test so many cases of each method and device instead of for a time"},

    {CLI_FORMAT, "format", 'f', CLI_CHOICE, 1, "FORMAT", DRAWING & ~CLI_PLOT, "Output",
     "table csv json npy png svg", 0, 0, 0,
     "table, csv, json, npy, png or svg (by the ending of -o, else table)"},
    {CLI_FORMAT, "format", 'f', CLI_CHOICE, 1, "FORMAT", CLI_PLOT, "Output",
     "table csv json npy png svg", 0, 0, 0, "png or svg (by the ending of -o)"},
    {CLI_FORMAT, "format", 'f', CLI_CHOICE, 1, "FORMAT", CLI_QUANTILES, "Output", "table csv json",
     0, 0, 0, "table, csv or json"},
    {CLI_LIST_FORMAT, "format", 'f', CLI_CHOICE, 1, "FORMAT",
     CLI_METHODS | CLI_DEVICES | CLI_SELFTEST, "Output", "table json", 0, 0, 0, "table or json"},
    {CLI_OUTPUT, "output", 'o', CLI_FILE, 1, "FILE", DRAWING | CLI_EQUALIZE, "Output", NULL, 0, 0,
     0, "write there, all or nothing, and never over a file that is read; - is standard output"},
    {CLI_LOG_COUNTS, "log-counts", 0, CLI_FLAG, 0, NULL, DRAWING, "Output", NULL, 0, 0, 0,
     "draw counts on a logarithmic scale"},
    {CLI_STATISTIC, "statistic", 0, CLI_TEXT, 1, "NAME,...", DRAWING, "Output",
     "count sum mean error sd variance min max", 0, 0, 0,
     "of a profile (--of) show these: count, sum, mean, error, sd, variance, min, max; a picture "
     "shows one, or mean,error"},
    {CLI_MAX_ROWS, "max-rows", 0, CLI_UINT, 1, "N", CLI_RUN | CLI_MERGE | CLI_SHOW, "Output", NULL,
     1, UINT32_MAX, 0, "table: show neighbouring bins together above so many rows (32)"},
    {CLI_WIDTH, "width", 0, CLI_UINT, 1, "N", DRAWING, "Output", NULL, 20, 20000, 0,
     "pictures: pixels (1000); table: columns (the terminal's)"},
    {CLI_HEIGHT, "height", 0, CLI_UINT, 1, "N", DRAWING, "Output", NULL, 20, 20000, 0,
     "pictures: pixels (600)"},
    {CLI_TITLE, "title", 0, CLI_TEXT, 1, "TEXT", DRAWING, "Output", NULL, 0, 0, 0,
     "pictures: the heading (the file's name)"},
    {CLI_ASCII, "ascii", 0, CLI_FLAG, 0, NULL, CLI_RUN | CLI_MERGE | CLI_SHOW, "Output", NULL, 0, 0,
     0, "table: bars of # instead of blocks"},
    {CLI_NO_HEADER, "no-header", 0, CLI_FLAG, 0, NULL, CLI_RUN | CLI_MERGE | CLI_SHOW, "Output",
     NULL, 0, 0, 0,
     "csv: without the line of columns' names; table: the rows without the lines above them"},
    {CLI_COLOR, "color", 0, CLI_CHOICE, 1, "WHEN", CLI_ALL, "Output", "auto always never", 0, 0, 0,
     "colours: auto (on a terminal, unless NO_COLOR is set), always or never"},

    {CLI_PROGRESS, "progress", 0, CLI_CHOICE, 1, "WHEN", READING | CLI_EQUALIZE | CLI_TUNE,
     "Messages", "auto always never", 0, 0, 0,
     "a line with percent, speed and time left on standard error: auto (on a terminal), always, "
     "never"},
    {CLI_QUIET, "quiet", 'q', CLI_FLAG, 0, NULL, CLI_ALL, "Messages", NULL, 0, 0, 0, "errors only"},
    {CLI_VERBOSE, "verbose", 'v', CLI_FLAG, 0, NULL, CLI_ALL, "Messages", NULL, 0, 0, 0,
     "say what is done, how and how fast"},
    {CLI_HELP, "help", 'h', CLI_FLAG, 0, NULL, CLI_ALL, "Messages", NULL, 0, 0, 0,
     "show this and end"},
    {CLI_VERSION, "version", 'V', CLI_FLAG, 0, NULL, CLI_ALL, "Messages", NULL, 0, 0, 0,
     "show the version and end; with -v also what is built in"},
    {CLI_PRINT, "print", 0, CLI_CHOICE, 1, "WHAT", CLI_RUN, NULL, "man bash zsh fish", 0, 0, 0,
     "write the manual page or a shell's completions"},
};
const size_t cli_option_count = sizeof cli_option_table / sizeof *cli_option_table;

const cli_word cli_word_table[] = {
    {CLI_RUN, "run", "[FILE...|-]", 0, 0, cli_run, "count files and show the histogram",
     "Counts the samples of each FILE, or of standard input, and shows the histogram; of a table "
     "without --column all columns at a glance. The files' "
     "content says what they are: PNG, JPEG, TIFF, WebP, GIF, BMP, PNM, .npy, FITS, HDF5 "
     "(FILE:/GROUP/DATASET), "
     "Parquet, "
     "Arrow IPC (Feather), JSON lines, CSV, TSV, one number a line, also as gzip, zstd, xz or "
     "bzip2; a file in a ZIP archive or npz is "
     "FILE:NAME; --dtype reads raw samples. Several files of one kind add up, as do those in a "
     "folder. `tally "
     "FILE` is `tally run FILE`; a file that is named like a word is given "
     "as ./run.",
     "tally photo.png\n"
     "tally --column price --bins 50 sales.csv\n"
     "tally --dtype f32 --bins 1000 --range -1 1 --format json samples.bin\n"
     "tally --alphabet a-z --per-bin 4 book.txt\n"
     "tally -o photo.svg photo.jpg\n"},
    {CLI_QUANTILES, "quantiles", "[FILE...|-]", 0, 0, cli_quantiles,
     "exact quantiles of each column or channel",
     "Finds quantiles of the samples of all FILEs together, or of standard input: of each channel, "
     "and of a table each column, or those that --column names. Missing values and NaN are counted "
     "apart. Each is exact: a sample, or between two of them as --between says. What does not fit "
     "into 256 MiB is read again, at most once for every two bytes of a sample; a pipe is copied "
     "to "
     "a "
     "temporary file for that.",
     "tally quantiles --quantiles 0.5,0.99 --column dep_delay flights.csv\n"
     "tally quantiles --column arr_delay --weights :distance flights.csv\n"
     "tally quantiles -f json photo.png\n"},
    {CLI_MERGE, "merge", "RESULT...", 1, 0, cli_merge, "add saved results that have the same axes",
     "Adds results that `--format json` wrote, however they were made: on other devices, machines "
     "or days. The axes, names and kinds must be the same. gzip and zstd are undone. Any number of "
     "files: two for each thread are in memory, and they are added in their order. The sum names "
     "the first 32 different sources and says how many there were.",
     "tally merge part*.json -o all.json\n"},
    {CLI_SHOW, "show", "RESULT", 1, 1, cli_show, "a saved result as a table or in another format",
     "Shows a result that `--format json` wrote: as a table with bars, CSV, JSON or .npy.",
     "tally show all.json\n"
     "tally show all.json --format csv\n"},
    {CLI_PLOT, "plot", "RESULT", 1, 1, cli_plot, "a saved result as a picture",
     "Draws a saved result as PNG or SVG, by the ending of -o.",
     "tally plot all.json -o all.svg --title Prices\n"},
    {CLI_EQUALIZE, "equalize", "IMAGE", 1, 1, cli_equalize, "histogram-equalise an image",
     "Writes the image with its tones spread evenly: level v becomes round((cdf(v) - cdf_min) / (n "
     "- "
     "cdf_min) * (L - 1)), where cdf is the cumulative histogram of the luminance (Rec. 601 for "
     "colour), cdf_min its first value above zero, n the pixels and L 256 or 65536 levels. Every "
     "colour channel takes the same mapping; alpha stays. The ending of -o says PNG or PNM.",
     "tally equalize photo.jpg -o better.png\n"},
    {CLI_METHODS, "methods", "", 0, 0, cli_methods, "the ways of counting there are",
     "Lists each method with its source, devices, sample types, numbers of bins and settings.", ""},
    {CLI_DEVICES, "devices", "", 0, 0, cli_devices, "the devices here, and why one is missing",
     "Lists processors and graphics processors with their memory, or the reason why they cannot be "
     "used.",
     ""},
    {CLI_SELFTEST, "selftest", "", 0, 0, cli_selftest, "check every method on every device",
     "Counts random data of all kinds with every method on every device present and compares with "
     "the slow reference. Ends with exit code 1 if any count differs. The same seed makes the same "
     "cases.",
     "tally selftest --seconds 60\n"},
    {CLI_TUNE, "tune", "", 0, 0, cli_tune, "measure a device for `auto`",
     "Times every method that `auto` may take on a device (the processor unless --device says; a "
     "minute or two) and keeps what `auto` chooses by from then on. Prints the file that holds it.",
     "tally tune --device cuda\n"},
    {CLI_WORD_HELP, "help", "[WORD]", 0, 1, cli_word_help, "what a word does, and its options",
     "Shows what `tally WORD --help` shows; without WORD, what `tally --help` does.",
     "tally help merge\n"},
    {CLI_WORD_VERSION, "version", "", 0, 0, cli_word_version, "the version, and what is built in",
     "Shows the version and the formats that other libraries read. -v adds what Tally reads by "
     "itself, the instruction sets that it has loops for, its compiler, and the CUDA kernels that "
     "were compiled ahead.",
     "tally --version -v\n"},
};
const size_t cli_word_count = sizeof cli_word_table / sizeof *cli_word_table;

const cli_word *cli_word_find(const char *name)
{
    for (size_t i = 0; i < cli_word_count; i++)
        if (strcmp(cli_word_table[i].name, name) == 0)
            return &cli_word_table[i];
    return NULL;
}

const cli_option *cli_option_row(cli_id id)
{
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].id == id)
            return &cli_option_table[i];
    return NULL;
}
