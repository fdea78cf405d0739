/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one histogram as one run of chunks, with the mask and weights that are read in step.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli.h"
#include "progress.h"

/* What a read hands out; valid until the next call on the source. */
typedef struct cli_chunk {
    tally_view views[TALLY_MAX_DIMENSIONS]; /* one for each axis */
    tally_view mask, weights;
    int has_mask, has_weights;
    int is_missing;    /* what the mask leaves out: it counts as NaN */
    uint64_t elements; /* rows × columns */
} cli_chunk;

/* A mask or weights file, handed out in pieces as long as the samples' chunks. */
typedef struct cli_sidecar {
    const char *path, *what; /* path NULL: none */
    tally_input *input;      /* stays open: rewound for every file and pass */
    tally_input_info info;
    tally_view view; /* last chunk read, from `at` on unused */
    uint64_t at, length;
    int used; /* started once: the next start rewinds */
    unsigned char *buffer;
    size_t room;
} cli_sidecar;

/* deal.c: of one file its size, its elements if it is cut, and which process reads it. */
typedef struct cli_deal {
    uint64_t bytes, elements;
    int owner;
} cli_deal;

/* A range of what a source reads. */
typedef struct cli_slice {
    tally_source source;
    const tally_source *from;
    uint64_t offset;
} cli_slice;

typedef struct cli_source {
    const cli_options *options;
    const char *const *paths; /* not owned */
    size_t count;
    int keep; /* it will be read more than once */
    cli_progress *progress;

    size_t current;
    int chunked;            /* above 0: no file may be handed out whole */
    int opened;             /* the current file's input is open and at its start or inside */
    int fresh, read;        /* nothing of it is handed out yet; all of it is, at once */
    tally_input **inputs;   /* one a path; pipes stay open, files are closed when read */
    uint64_t *sizes;        /* stored bytes of each, 0 unknown */
    unsigned char *skipped; /* nonzero for each that failed and is left out */
    int failed;             /* the current file could not be read */
    uint64_t done_bytes, total_bytes; /* total 0: unknown */
    tally_input_info kind;            /* of the first file, which the others must match */

    char **columns; /* --column, then those of --of, or the weights'; owned */
    size_t column_count;
    char *headings[TALLY_MAX_DIMENSIONS];     /* with `beside` what the columns are called; owned */
    size_t beside;                            /* so many at the end are values or weights */
    tally_words *words[TALLY_MAX_DIMENSIONS]; /* of each column; NULL: of numbers */
    tally_time times[TALLY_MAX_DIMENSIONS];   /* of each column: its unit, if it is of times */
    int rounded;                              /* an integer beyond 2^53 was */
    int words_known;                          /* the first file has said which are words */
    uint32_t dimensions;                      /* axes */

    uint64_t channel_mask; /* 0: all */
    uint64_t channels;     /* counted ones */
    char **names;          /* of them; owned; entries may be NULL */
    cli_sidecar mask, weights;

    cli_deal *deals; /* of each path, where several processes count; else NULL */
    uint64_t *load;  /* bytes dealt to each process */
    cli_slice
        slices[TALLY_MAX_DIMENSIONS + 2]; /* what the chunk's views read of a file that is cut */

    struct cli_source *lender; /* what this is one column of; NULL: nothing */
    uint32_t pick;             /* that column */
} cli_source;

/* Checks the options of `tally run` that need no file, and finds the target. CLI_OK, or CLI_USAGE
 * after a message. */
int cli_run_check(const cli_options *options, cli_target *target);

/* columns.c: the columns that --by and --column ask for, then those of the same table that go with
 * the samples, of --of or --weights :NAME, which are so many as *beside. CLI_USAGE after a message;
 * release with cli_split_free(*columns, *count) in any case. */
int cli_columns_parse(const cli_options *options, char ***columns, size_t *count, size_t *beside);
/* A column's name as --column takes it; free. NULL: out of memory. */
char *cli_column_escaped(const char *name);

/* ranks.c: whether --quantiles suits the rest. CLI_USAGE after a message. */
int cli_ranks_check(const cli_options *options, uint32_t axes);
/* of.c: whether --of, or --statistic without it, suits the rest. CLI_USAGE after a message. */
int cli_of_check(const cli_options *options, const cli_target *target, uint32_t axes);

/* all.c: whether all columns are asked for, each by itself; and those of the first file that the
 * bins are for. An exit code, after a message. */
int cli_wants_all(const cli_options *options);
int cli_all_columns(const cli_options *options, const char *path, char ***names, size_t *count);

/* glance.c: whether every column of a table is to be shown at a glance, for nothing else is asked
 * for; and that, for all files of a source, the first of which is open as a whole table
 * (kind.table). Returns an exit code, after a message. */
int cli_glance_wanted(const cli_options *options);
int cli_glance(const cli_source *source);
/* shared.c: a source of several columns of one file, parsed once, for each of them by itself. Opens
 * columns names[0 ... count); 0: it had better be opened for each of them, which also says why. */
int cli_source_share(cli_source *source, const cli_options *options, const char *const *paths,
                     char *const *names, size_t count, cli_progress *progress);
/* Makes `source` of its column `pick`, at its start; closed as any other, before `lender` is. One
 * at a time. On failure it is released already. */
tally_status cli_source_borrow(cli_source *source, cli_source *lender, uint32_t pick,
                               const cli_options *options, cli_progress *progress,
                               tally_error *error);
void cli_source_return(cli_source *source);
/* source_options.c: how the files of a source are opened, as far as is known; whether samples are
 * 64-bit integers. */
void cli_source_input_options(const cli_source *source, tally_input_options *wanted);
int cli_source_has_integers(const cli_source *source);

/* Opens the first file; of a table that is opened whole that is all. On failure the source is
 * released already. */
tally_status cli_source_open(cli_source *source, const cli_options *options,
                             const char *const *paths, size_t count, int keep,
                             cli_progress *progress, tally_error *error);
void cli_source_close(cli_source *source);

/* The next chunk of any file, or all of a file that threads can read themselves, as views with a
 * source; *done is set instead at the end. */
tally_status cli_source_read(cli_source *source, cli_chunk *chunk, int *done, tally_error *error);
/* File i by itself, opened for one thread unless it is open, at its start. Any thread, each a file
 * of its own; released by cli_source_file_done, which takes NULL. */
tally_status cli_source_file(cli_source *source, size_t i, tally_input **input, tally_error *error);
void cli_source_file_done(cli_source *source, size_t i, tally_input *input);
/* Shows that so much, 0 … 1, of a file that was handed out whole is counted. */
void cli_source_progress(const cli_source *source, double share);
tally_status cli_source_rewind(cli_source *source, tally_error *error);
/* Whether a file that cannot be read twice has been copied. */
int cli_source_spooled(const cli_source *source);
/* The option given that makes bins of numbers, of `samples` columns that are a histogram: a column
 * alone is not of words then. NULL: none. */
const cli_option *cli_source_numbers(const cli_options *options, size_t samples);
/* Whether some column is of words. */
int cli_source_has_words(const cli_source *source);
/* Elements that all files have together, 0 unknown. */
uint64_t cli_source_hint(const cli_source *source);
/* Whether all of the file's channels are counted. */
int cli_source_has_all_channels(const cli_source *source);
/* The c-th counted channel's number in the file. */
uint64_t cli_source_channel(const cli_source *source, uint64_t c);
/* The weights' type, 0 without weights. */
tally_dtype cli_source_weight_dtype(const cli_source *source);

/* deal.c: deals the files, if there is a team. */
tally_status cli_deal_start(cli_source *source, tally_error *error);
/* Of the current file: whether others read it, as far as is known without opening it; whether all
 * do, a part each, if all of it is views with a source; cuts such a chunk to this process' part; of
 * one that has no such views, whether this process reads it. */
int cli_deal_skips(cli_source *source);
int cli_deal_cuts(const cli_source *source);
void cli_deal_cut(cli_source *source, cli_chunk *chunk);
int cli_deal_keeps(cli_source *source);
/* A number that tells apart how files were dealt. */
uint64_t cli_deal_print(const cli_source *source);

/* Writes "WORDS" to `error` and returns `status`. */
tally_status cli_error(tally_error *error, tally_status status, const char *format, ...)
    CLI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which cannot see that it never returns TALLY_OK */
#define cli_error(error, status, ...) ((void)(cli_error)(error, status, __VA_ARGS__), (status))
#endif

/* sidecar.c */
tally_status cli_sidecar_open(cli_sidecar *sidecar, const cli_source *source, tally_error *error);
void cli_sidecar_close(cli_sidecar *sidecar);
/* Starts over, in step with the file `path`. */
tally_status cli_sidecar_start(cli_sidecar *sidecar, const char *path, const tally_input_info *of,
                               tally_error *error);
/* All elements as a view with a source, in the shape of `samples`; 0 if there is no such view
 * of as many. Nothing is read. */
int cli_sidecar_whole(cli_sidecar *sidecar, const tally_view *samples, tally_view *view);
/* The next elements, in the shape of `samples`; `as_mask` turns them into 0 and 1. */
tally_status cli_sidecar_take(cli_sidecar *sidecar, const char *path, const tally_view *samples,
                              int as_mask, tally_view *view, tally_error *error);
/* Fails when elements are left over. */
tally_status cli_sidecar_end(cli_sidecar *sidecar, const char *path, tally_error *error);

/* One axis' samples of a source as tally_chunks: channel after channel, masked ones left out. */
typedef struct cli_axis_reader {
    cli_source *source;
    uint32_t dimension;
    cli_chunk chunk;
    uint64_t next_channel; /* of the chunk; equal to source->channels: read on */
    unsigned char *packed;
    size_t capacity; /* bytes of `packed` */
} cli_axis_reader;

/* Copies a channel's samples that count, in the memory of the host, to `into`; returns their
 * number. */
uint64_t cli_pack(const tally_view *view, const tally_view *mask, uint64_t channel, void *into);

tally_chunks cli_axis_reader_chunks(cli_axis_reader *reader, cli_source *source,
                                    uint32_t dimension);
void cli_axis_reader_release(cli_axis_reader *reader);

/* Adds a chunk, or the file that it is all of, to the statistics of each axis: a column that is in
 * dictionaries by these. */
tally_status cli_chunk_stats(cli_source *source, const cli_chunk *chunk, tally_context *context,
                             tally_stats *stats, tally_error *error);

/* axes.c: the axes of a plan, with what they point to. */
typedef struct cli_axes {
    tally_axis axes[TALLY_MAX_DIMENSIONS];
    double *edges[TALLY_MAX_DIMENSIONS]; /* owned */
    uint16_t categories[256];
    int found;           /* a range comes from the data */
    double weight_limit; /* what a team found, 0 none */
} cli_axes;

/* Checks the options that make axes, before any file is opened; `dimensions` as --column has it. */
int cli_axes_check(const cli_options *options, uint32_t dimensions);
/* Whether the data may have to be read before counting. */
int cli_axes_need_data(const cli_options *options);
/* Makes them, reading the source when a range or a number of bins is unknown and rewinding it. */
int cli_axes_make(const cli_options *options, cli_source *source, tally_context *context,
                  cli_axes *axes);
void cli_axes_release(cli_axes *axes);

#endif
