/* SPDX-License-Identifier: Apache-2.0 */
/* What the command's files share: the words, messages, output and small parsers. */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>

#include "../common/parse.h"
#include "options.h"

/* The words; each returns an exit code. */
int cli_run(const cli_options *options);
int cli_merge(const cli_options *options);
int cli_show(const cli_options *options);
int cli_plot(const cli_options *options);
int cli_equalize(const cli_options *options);
int cli_quantiles(const cli_options *options);
int cli_methods(const cli_options *options);
int cli_devices(const cli_options *options);
int cli_selftest(const cli_options *options);
int cli_word_help(const cli_options *options);
int cli_word_version(const cli_options *options);
int cli_tune(const cli_options *options);

/* ---- message.c: standard error ---- */

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

/* Who speaks, "tally"; NULL: nobody says remarks. */
extern const char *cli_speaker;
/* From then on failures are not said: `to` gets the first one's words. */
void cli_failures_keep(tally_error *to);

/* "tally: …" on standard error, the progress line wiped first. Returns CLI_FAILED. */
int cli_fail(const char *format, ...) CLI_PRINTF(1, 2);
/* The same with a pointer to --help; returns CLI_USAGE. */
int cli_usage(const cli_word *word, const char *format, ...) CLI_PRINTF(2, 3);
/* What a status of the library, not TALLY_OK, is for the command's caller: CLI_UNSUPPORTED, else
 * CLI_FAILED. */
int cli_code_of(tally_status status);
/* The library's words. Returns cli_code_of the status. */
int cli_fail_status(tally_status status, const tally_error *error);
/* A remark, unless --quiet; details, with --verbose. */
void cli_note(const cli_options *options, const char *format, ...) CLI_PRINTF(2, 3);
void cli_say(const cli_options *options, const char *format, ...) CLI_PRINTF(2, 3);
/* How a path is called in messages: "-" and CLI_KEPT_STDIN are "standard input". */
const char *cli_shown(const char *path);

/* keep.c: standard input, from its start, by a path that can be opened any number of times. What is
 * no file is copied to a temporary one in its place. An exit code, after a message. */
#define CLI_KEPT_STDIN "/dev/fd/0"
int cli_stdin_keep(const char **path);

/* ---- terminal.c ---- */

int cli_colors(const cli_options *options, int descriptor); /* nonzero: use ANSI colours */
uint32_t cli_terminal_width(int descriptor); /* COLUMNS, or the terminal's; 0: neither */
int cli_ascii(const cli_options *options);   /* nonzero: the locale has no UTF-8 */
double cli_seconds(void);                    /* a clock that never goes back */

/* ---- output.c: standard output, results ---- */

/* A buffered standard output. After a failed write the rest is dropped and cli_out_end says so. */
void cli_out(const char *format, ...) CLI_PRINTF(1, 2);
void cli_out_bytes(const void *bytes, size_t size);
void cli_out_json_string(const char *text); /* as it is shown, quoted and escaped */
void cli_out_shown(const char *text);       /* as it is shown (common/printable.h) */
void cli_out_json_real(double value); /* shortest that reads back the same; null if not finite */
/* Flushes. CLI_OK, also for a closed pipe; CLI_FAILED after a message. */
int cli_out_end(void);

/* Where results go and how, from --format, -o and the rest. `picture`: the word draws. CLI_USAGE
 * after a message when they contradict or standard output is the wrong place. */
typedef struct cli_target {
    tally_format format;
    tally_write_options write;
    const char *path; /* NULL: standard output */
    uint64_t top;     /* of words the largest, all others together; 0: all */
} cli_target;
int cli_target_get(const cli_options *options, int picture, cli_target *target);
/* Writes `count` results; several only as a table or JSON (`several` forces a JSON array). */
int cli_results_write(const cli_target *target, tally_result *const *results, size_t count);

/* ---- same_file.c ---- */

/* Refuses to write to `path` (NULL or "-": standard output) what the command reads, by whatever
 * name or link: CLI_USAGE after a message. Before anything is read. */
int cli_output_check(const cli_options *options, const char *path);

/* ---- signals.c ---- */

/* SIGPIPE becomes an error of write. SIGINT and SIGTERM wipe the progress line and end the process,
 * except while a file is half written: then when it is whole or gone. */
void cli_signals_start(void);
void cli_signals_hold(void);
void cli_signals_release(void);

/* ---- parse.c: no locale, no overflow; 0 when the text is not what it should be ---- */

int cli_parse_real(const char *text, double *value); /* finite */
/* dtype.c: what a name of other programs may mean, NULL if nothing. */
const char *cli_dtype_meant(const char *text);
/* Splits at commas; a backslash keeps the next character. Returns the pieces, NULL without memory;
 * release with cli_split_free. */
char **cli_split(const char *text, size_t *count);
void cli_split_free(char **pieces, size_t count);
/* "A:B", "A:", ":B" with A < B; *end is 0 for an open end. */
int cli_parse_slice(const char *text, uint64_t *begin, uint64_t *end);
/* "a-zA-Z\n\x41": writes at most 256 letters. On failure *why says what is wrong. */
int cli_parse_alphabet(const char *text, char letters[256], size_t *count, const char **why);
/* Edit distance, at most `limit` + 1. */
size_t cli_distance(const char *a, const char *b, size_t limit);

/* Opens the device that --device and --threads name. */
int cli_context_open(const cli_options *options, tally_context **context);

/* ---- devices.c ---- */

typedef struct cli_device_list {
    tally_device_info *devices; /* free */
    size_t count;
} cli_device_list;
/* The devices of one type, or of all (0), missing ones as an entry with the reason. Drivers of no
 * other type are opened, and none in this process. To be called before there are threads. */
int cli_devices_find(tally_device_type only, cli_device_list *list);

/* ---- saved.c ---- */

/* --counter; nonzero when it is not u64, the default. */
int cli_counter_get(const cli_options *options, tally_counter *counter);

/* Reads a saved result file (gzip and zstd undone, "-" is standard input): all its results, at
 * least one, in an array that the caller releases with tally_result_destroy_all. Any thread. */
tally_status cli_saved_read(const char *path, tally_result ***results, size_t *count,
                            tally_error *error);

#endif
