/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line as one table. Each row of cli_option_table names an option, its arguments, the
 * words it belongs to and its help; parsing, --help, the man page and the shell completions are all
 * made from it. Adding an option is adding a row here and reading it where it acts.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* Exit codes: the contract. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_UNSUPPORTED = 3 };

/* The words, as bits, so that an option can belong to several. */
enum {
    CLI_RUN = 1 << 0,
    CLI_MERGE = 1 << 1,
    CLI_SHOW = 1 << 2,
    CLI_PLOT = 1 << 3,
    CLI_EQUALIZE = 1 << 4,
    CLI_METHODS = 1 << 5,
    CLI_DEVICES = 1 << 6,
    CLI_SELFTEST = 1 << 7,
    CLI_TUNE = 1 << 8,
    CLI_WORD_HELP = 1 << 9,
    CLI_WORD_VERSION = 1 << 10,
    CLI_QUANTILES = 1 << 11,
    CLI_ALL = (1 << 12) - 1
};

typedef enum cli_id {
    /* bins */
    CLI_BINS,
    CLI_EDGES,
    CLI_RANGE,
    CLI_LOG,
    CLI_INTEGER,
    CLI_ALPHABET,
    CLI_PER_BIN,
    CLI_CATEGORIES,
    CLI_TOP,
    CLI_BY,
    CLI_SEPARATE,
    CLI_OF,
    /* input */
    CLI_DTYPE,
    CLI_ENDIAN,
    CLI_SHAPE,
    CLI_OFFSET,
    CLI_COLUMN,
    CLI_DELIMITER,
    CLI_HEADER,
    CLI_NA,
    CLI_DECIMAL,
    CLI_THOUSANDS,
    CLI_CHANNEL,
    CLI_ROWS,
    CLI_COLS,
    CLI_MASK,
    CLI_WEIGHTS,
    CLI_SUM_SQUARES,
    CLI_WEIGHT_LIMIT,
    CLI_EACH,
    CLI_PAGE,
    CLI_KEEP_GOING,
    CLI_INDEX,
    /* work */
    CLI_RANKS,
    CLI_BETWEEN,
    CLI_COUNTER,
    CLI_DEVICE,
    CLI_THREADS,
    CLI_METHOD,
    CLI_SET,
    CLI_VERIFY,
    CLI_SEED,
    CLI_SECONDS,
    CLI_CASES,
    /* output */
    CLI_FORMAT,
    CLI_LIST_FORMAT,
    CLI_OUTPUT,
    CLI_LOG_COUNTS,
    CLI_STATISTIC,
    CLI_MAX_ROWS,
    CLI_WIDTH,
    CLI_HEIGHT,
    CLI_TITLE,
    CLI_ASCII,
    CLI_NO_HEADER,
    CLI_COLOR,
    /* messages */
    CLI_PROGRESS,
    CLI_QUIET,
    CLI_VERBOSE,
    CLI_HELP,
    CLI_VERSION,
    CLI_PRINT,
    CLI_ID_COUNT
} cli_id;

/* What an argument must look like; checked while parsing, so that every reader finds it valid. */
typedef enum cli_kind {
    CLI_FLAG,   /* no argument */
    CLI_TEXT,   /* anything */
    CLI_FILE,   /* a path */
    CLI_CHOICE, /* one of `choices` */
    CLI_UINT,   /* an integer from least to most */
    CLI_REAL,   /* finite numbers */
    CLI_WHEN    /* finite numbers, or dates */
} cli_kind;

typedef struct cli_option {
    cli_id id;
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    cli_kind kind;
    unsigned arguments;   /* how many follow */
    const char *argument; /* how help calls them: "N", "LO HI" */
    unsigned words;
    const char *group;   /* NULL: hidden */
    const char *choices; /* "a b c": completed; for CLI_CHOICE the only ones */
    uint64_t least, most;
    int repeats; /* may be given again: the values add up */
    const char *help;
} cli_option;

extern const cli_option cli_option_table[];
extern const size_t cli_option_count;
extern const char *const cli_group_order[]; /* ends with NULL */

typedef struct cli_options cli_options;
struct cli_team;

typedef struct cli_word {
    unsigned bit;
    const char *name;
    const char *operands;
    unsigned least, most; /* operands; most 0: any number */
    int (*act)(const cli_options *options);
    const char *summary;
    const char *detail;
    const char *examples; /* lines */
} cli_word;

extern const cli_word cli_word_table[];
extern const size_t cli_word_count;
const cli_word *cli_word_find(const char *name); /* NULL if none */

/* A parsed command line. Its strings are argv's or owned by it. */
struct cli_options {
    const cli_word *word;
    struct {
        const char **texts; /* all values, `arguments` for each time it was given */
        size_t count;       /* of texts; for a flag the times it was given */
    } values[CLI_ID_COUNT];
    const char **operands;
    size_t operand_count;
    char *split[64]; /* owned pieces of --option=A,B */
    size_t split_count;
    char **found; /* owned paths of files in folders that were named */
    size_t found_count;
    int all_integers; /* columns of text are tried as 64-bit integers, whatever their first values
                       */
    struct cli_team *team; /* processes that count together (team.h); NULL: this one alone */
};

/* Parses argv[1 …]. CLI_OK; or CLI_USAGE after a message on standard error. Release in both cases.
 */
int cli_options_parse(int argc, char **argv, cli_options *options);
void cli_options_release(cli_options *options);

/* folder.c: each operand that is a folder becomes the files in it, in the order of their names'
 * bytes: not hidden ones, marks that other programs leave, nor other folders. CLI_FAILED after a
 * message. */
int cli_folders_expand(cli_options *options);

int cli_has(const cli_options *options, cli_id id);
/* The last value given, or `otherwise`. */
const char *cli_text(const cli_options *options, cli_id id, const char *otherwise);
uint64_t cli_uint(const cli_options *options, cli_id id, uint64_t otherwise);

/* Row of the table for `id`. */
const cli_option *cli_option_row(cli_id id);

/* help.c: `tally --help` (word NULL) and `tally WORD --help`, to standard output. */
void cli_help(const cli_word *word);
/* generate.c: what --print says: the man page, that of the word that is the operand, or a shell's
 * completions. */
int cli_generate(const cli_options *options);

#endif
