/* SPDX-License-Identifier: Apache-2.0 */
/* What the text decoder's files share. */
#ifndef TY_TEXT_STATE_H
#define TY_TEXT_STATE_H

#include "cpu/threads.h"
#include "io/input.h"
#include "io/text_fields.h"
#include "io/text_keep.h"
#include "io/text_scan.h"
#include "io/words.h"

/* A column that was asked for: where it is in a record and which view it fills. */
typedef struct ty_pick {
    uint32_t column, view;
    tally_words *words; /* its values are words: samples are their codes; NULL: numbers */
    /* What its values are but words: TY_FIELD_NUMBER; TY_FIELD_TIME, microseconds since 1970
     * (io/dates.h); TY_FIELD_BOOLEAN, 1 and 0. */
    ty_field_kind kind;
    ty_integers *integers; /* samples are 64-bit integers, in the bytes of the doubles; else NULL */
} ty_pick;

typedef struct ty_block ty_block;
typedef struct ty_batch ty_batch;

typedef struct ty_text_state {
    ty_stream *stream;
    const char *name;        /* the file's */
    char *buffer;            /* TY_SCAN_SLACK bytes of the allocation are before and behind it */
    size_t capacity, wanted; /* wanted: what it grows to when it is filled next, if it is more */
    size_t begin,
        end;     /* text[begin … end) is read but not parsed; begin is always a line's start */
    int ended;   /* the stream is */
    int reached; /* its end has been reached, in this pass or an earlier one, and `grew` is known */
    int grew;    /* the file was longer by then than when it was opened */
    int after_cr;  /* the line before ended in CR at the buffer's end: an LF now belongs to it */
    uint64_t line; /* of buffer[begin], from 1 */
    uint64_t row;  /* data rows before buffer[begin] */
    uint64_t row_begin, row_end; /* wanted; UINT64_MAX: to the end */
    ty_spelling spelling;        /* its words are the state's */
    ty_layout_wish wish;         /* its spelling is this one, or none */
    ty_layout layout;
    char *
        *headings; /* layout.columns of them in one block with their text; NULL without a header */
    const char *words_hint; /* as ty_words_hint */
    int is_whole; /* all columns, for a summary: values that are not their column's are let pass */
    unsigned rounded; /* an integer of a column of float64 was; threads share it */
    int in_line;      /* its only record is numbers, each a sample; layout.columns is 1 then */
    uint32_t views;
    ty_pick *picks;      /* `views` of them, by column */
    tally_dtype *dtypes; /* of each view */
    char **labels;       /* a name for each view, or NULL; in one block with the text */
    ty_scan *scan;       /* NULL: records are read one by one */
    ty_block *block;
    ty_batch *batch;
    ty_keep *keep;   /* NULL: it is not read again, or then from its start */
    double *samples; /* what is read now, of each view `stride`: where they are kept, or its own */
    const double *out; /* [taken, ready) of each view, `out_stride` apart, are to be handed out */
    size_t stride, out_stride, taken, ready;
    double *own; /* memory for `own_room` samples */
    size_t own_room;
    size_t chunk;        /* most to hand out at once */
    unsigned char *mask; /* of these; NULL: no integer is missing */
} ty_text_state;

/* ---- text_record.c ---- */

/* A record that begins at `p`; the text ends at `end`, for good if `ended`. */
typedef struct ty_record {
    const ty_text_state *text;
    const char *p, *end;
    int ended;
    unsigned *rounded; /* the text's */
} ty_record;

/* Reads it, and writes its numbers to samples[view * stride] unless that is NULL. Returns its line
 * end, or the text's; NULL with *status set, which is TALLY_OK when more text is needed. */
const char *ty_record_read(const ty_record *record, double *samples, size_t stride,
                           tally_status *status, tally_error *error);

/* The code of a field that is a word, NaN if it is missing; 0: it could not be kept. */
int ty_word_value(tally_words *words, const ty_field *field, const ty_spelling *spelling,
                  double *value);

/* The value of a field of a pick's kind, but of numbers; NaN where it is missing; 0: it is neither.
 */
int ty_other_value(ty_field_kind kind, const ty_field *field, const ty_spelling *spelling,
                   double *value);

/* Its fields, if all are numbers or missing, each to a sample unless `samples` is NULL; an empty
 * one at its end is none. Returns how many; 0 if one is something else. */
size_t ty_record_numbers(const ty_record *record, double *samples);

/* ---- text_block.c ---- */

/* What reads records of a text, a part each of several threads. */
typedef struct ty_reader {
    const ty_text_state *text;
    unsigned *rounded; /* the text's */
    const ty_scan_loops *loops;
    const char *end; /* of what is at hand */
} ty_reader;

ty_reader ty_reader_of(ty_text_state *state, const char *end);
/* Reads the records that begin in [*at, stop), up to one that is no good or not whole, and moves
 * *at there. Returns how many; samples[view * state->stride + i] are the i-th. */
size_t ty_records_read(const ty_reader *reader, const char **at, const char *stop, double *samples);
/* Whether a line ends at `p`, which is not the text's last byte. */
int ty_ends_line(const char *p);
/* The first record in [p, end), else `end`; `inside` says whether `p` is inside quotes. */
const char *ty_record_start(const char *p, const char *end, int inside);
/* Moves `rows` samples of each view. */
void ty_text_move_rows(const ty_text_state *state, size_t to, size_t from, size_t rows);
size_t ty_text_part_bytes(void);

/* Reads records of the text at hand, its parts on the threads of `pool` (NULL: the caller's alone),
 * as far as they are whole and good: their samples become those to be handed out, and the text
 * behind them what is not parsed. */
tally_status ty_block_read(ty_text_state *state, ty_pool *pool, tally_error *error);

/* Memory for `rows` samples of each view; those that are there are lost. */
tally_status ty_text_reserve(ty_text_state *state, size_t rows, tally_error *error);

/* Test hook: the size of a part, 0 for the usual one. */
void ty_block_part_size(size_t bytes);

void ty_block_free(ty_block *block); /* NULL is fine */

/* ---- text_batch.c ---- */

/* Reads more of the text, if it is a file's, as ty_block_read does, without text at hand: every
 * thread reads its parts of the file. No samples become ready where that cannot be. */
tally_status ty_batch_read(ty_text_state *state, tally_error *error);
void ty_batch_free(ty_batch *batch); /* NULL is fine */

/* ---- text_integers.c ---- */

/* Finds out which of the columns with `integers` are, by reading all of the text; *read brings the
 * next rows, none at the end, *restart starts over after the stream. */
tally_status ty_integers_settle(ty_text_state *state,
                                tally_status (*read)(ty_text_state *, tally_error *),
                                tally_status (*restart)(ty_text_state *, tally_error *),
                                tally_error *error);
/* As the decoder's mask; makes that of the `count` rows that are handed out next. */
const unsigned char *ty_text_mask(const void *state);
void ty_text_mask_make(ty_text_state *state, size_t count);

/* ---- text_columns.c ---- */

/* Takes delimiter, header, signs of numbers and words for missing from the options. */
tally_status ty_text_wishes(ty_text_state *state, const tally_input_options *options,
                            tally_error *error);

/* Copies the headings from the record in [p, end). */
tally_status ty_text_headings(ty_text_state *state, const char *p, const char *end,
                              tally_error *error);

/* The first record, in [p, end), is headings although nothing else says so: a column that was asked
 * for is called as one of its fields. */
int ty_text_asks_for_headings(const ty_text_state *state, const tally_input_options *options,
                              const char *p, const char *end);

/* Makes views, picks and labels from the options. The first record of data is at hand. */
tally_status ty_text_choose(ty_text_state *state, const tally_input_options *options,
                            tally_error *error);

#endif
