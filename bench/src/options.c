/* SPDX-License-Identifier: Apache-2.0 */
/* The options as one table, which parsing and --help are made from. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { FLAG, TEXT, CHOICE, UINT, LIST } kind;

typedef struct row {
    const char *name;
    char letter; /* 0: none */
    kind kind;
    const char *argument;
    size_t at; /* of the option's member in bench_options */
    uint64_t least, most;
    const char *choices; /* "a b c" */
    const char *help;    /* lines */
} row;

#define AT(member) offsetof(bench_options, member)

static const row rows[] = {
    {"device", 'd', TEXT, "DEVICE", AT(device), 0, 0, NULL,
     "cpu; with --figure: auto, cuda or opencl; cuda:1 is the second one"},
    {"threads", 'j', UINT, "N", AT(threads), 1, 1024, NULL,
     "most processor threads (one for each processor)"},
    {"method", 'm', TEXT, "NAME", AT(method), 0, 0, NULL,
     "how Tally counts; `tally methods` lists the names (auto)"},
    {"set", 0, LIST, "KEY=VALUE", AT(set), 0, 0, NULL, "a setting of the method"},
    {"seed", 0, UINT, "S", AT(seed), 0, UINT64_MAX, NULL, "start of the random numbers (1)"},
    {"quick", 0, FLAG, NULL, AT(quick), 0, 0, NULL,
     "small inputs only: seconds instead of minutes, and numbers that say less"},
    {"only", 0, LIST, "CASE", AT(only), 0, 0, NULL,
     "only the cases of this name, beginning or pattern: u8-uniform, 'u8-*-64KiB',\n"
     "f32-2048; repeat for more"},
    {"repeats", 0, UINT, "N", AT(repeats), 1, 1000, NULL,
     "rounds in which all take turns (9; three times as many for inputs below\n"
     "2 Mi samples; with --figure: 100)"},
    {"mib", 0, UINT, "N", AT(mib), 1, 1 << 20, NULL,
     "with --figure: at most so many MiB of samples a point"},
    {"clock", 0, CHOICE, "CLOCK", AT(clock), 0, 0, "wall cpu",
     "wall (the usual one), or cpu: one-thread times are processor time alone,\n"
     "which is steadier on a machine that has other work"},
    {"figure", 0, TEXT, "NAME", AT(figure), 0, 0, NULL,
     "measure a figure or table of the sources again, on a graphics processor;\n"
     "all of them with all"},
    {"list", 0, FLAG, NULL, AT(list), 0, 0, NULL, "name the figures and where they come from"},
    {"format", 'f', CHOICE, "FORMAT", AT(format), 0, 0, "table json", "table or json"},
    {"output", 'o', TEXT, "DIR", AT(output), 0, 0, NULL,
     "with --figure: the folder for NAME.jsonl and NAME.csv (without it the lines\n"
     "go to standard output); bench/plots.py draws them"},
    {"progress", 0, CHOICE, "WHEN", AT(progress), 0, 0, "auto always never",
     "a line with percent and time left on standard error: auto (on a terminal),\n"
     "always, never"},
    {"quiet", 'q', FLAG, NULL, AT(quiet), 0, 0, NULL, "errors only"},
    {"verbose", 'v', FLAG, NULL, AT(verbose), 0, 0, NULL, "show every contender"},
    {"help", 'h', FLAG, NULL, AT(help), 0, 0, NULL, "show this and end"},
    {"version", 'V', FLAG, NULL, AT(version), 0, 0, NULL, "show the version and end"},
};
enum { ROWS = sizeof rows / sizeof *rows, LETTERS = 3 * ROWS + 2, HELP_COLUMN = 26 };

void bench_help(void)
{
    printf(
        "usage: tally-bench [options]\n\n"
        "Times Tally on one thread and on all, a loop that only reads, and the libraries that\n"
        "scripts/peers.sh gets (OpenCV, GSL, Boost.Histogram, NumPy, fast-histogram), in turns\n"
        "on the same data. Every count is compared with the slow reference's; the exit code is 1\n"
        "if one of Tally's differs. With --figure a graphics processor repeats an experiment of\n"
        "the texts that the methods come from.\n\n"
        "  tally-bench --quick\n"
        "  tally-bench --only u8-photograph --only f32-256 -v\n"
        "  tally-bench --figure trish-k --device cuda -o figures\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        char letter[8] = "    ";
        if (rows[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
        int used = printf("  %s--%s%s%s", letter, rows[i].name, rows[i].argument ? " " : "",
                          rows[i].argument ? rows[i].argument : "");
        for (const char *line = rows[i].help; *line; used = 0) {
            int length = (int)strcspn(line, "\n");
            printf("%*s%.*s\n", HELP_COLUMN - used, "", length, line);
            line += length + (line[length] == '\n');
        }
    }
}

static int set(const row *option, const char *text, bench_options *options)
{
    void *at = (char *)options + option->at;
    uint64_t number;
    if (option->kind != FLAG && *text == '\0')
        return bench_usage("--%s needs %s, not an empty word", option->name, option->argument);
    switch (option->kind) {
    case FLAG:
        *(int *)at = 1;
        break;
    case CHOICE:
        if (!has_word(option->choices, text))
            return bench_usage("--%s %s: one of %s", option->name, text, option->choices);
        *(const char **)at = text;
        break;
    case TEXT:
        *(const char **)at = text;
        break;
    case UINT:
        if (!parse_u64(text, &number) || number < option->least || number > option->most)
            return bench_usage("--%s %s: an integer from %llu to %llu", option->name, text,
                               (unsigned long long)option->least, (unsigned long long)option->most);
        *(uint64_t *)at = number;
        break;
    case LIST:
        if (((bench_list *)at)->count == BENCH_MOST_VALUES)
            return bench_usage("--%s: more than %d of them", option->name, BENCH_MOST_VALUES);
        ((bench_list *)at)->texts[((bench_list *)at)->count++] = text;
        break;
    }
    return BENCH_OK;
}

/* What getopt_long refused: `code` is ':' or '?', `word` the word it stands in. */
static int refused(int code, const char *word)
{
    int is_long = strncmp(word, "--", 2) == 0;
    int length = (int)strcspn(word, "=");
    for (size_t i = 0; i < ROWS && code == ':'; i++)
        if (optopt == (int)i + 256 || (rows[i].letter && optopt == rows[i].letter))
            return bench_usage("--%s needs %s", rows[i].name, rows[i].argument);
    if (is_long && optopt)
        return bench_usage("%.*s takes no value", length, word);
    if (is_long)
        return bench_usage("no option %.*s", length, word);
    return bench_usage("no option -%c", optopt);
}

int bench_options_parse(int argc, char **argv, bench_options *options)
{
    struct option named[ROWS + 1] = {{NULL, 0, NULL, 0}};
    char letters[LETTERS] = ":";
    int given[ROWS] = {0}, code, status = BENCH_OK;
    *options = (bench_options){.seed = 1};
    for (int i = 0; i < ROWS; i++) {
        named[i] = (struct option){rows[i].name, rows[i].kind != FLAG, NULL, i + 256};
        if (rows[i].letter)
            snprintf(letters + strlen(letters), 3, "%c%s", rows[i].letter,
                     rows[i].kind != FLAG ? ":" : "");
    }
    opterr = 0;
    while (!status && (code = getopt_long(argc, argv, letters, named, NULL)) != -1) {
        int i = code - 256;
        for (int k = 0; k < ROWS && code < 256; k++)
            if (rows[k].letter == code)
                i = k;
        if (i < 0)
            return refused(code, argv[optind - 1]);
        if (given[i]++ && rows[i].kind != LIST && rows[i].kind != FLAG)
            return bench_usage("--%s is given twice", rows[i].name);
        status = set(&rows[i], optarg, options);
    }
    if (!status && optind < argc)
        return bench_usage("tally-bench takes no file, but was given %s", argv[optind]);
    return status;
}
