/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the decoder of JSON lines share. */
#ifndef TY_JSON_STATE_H
#define TY_JSON_STATE_H

#include "io/input.h"
#include "io/json_lines.h"
#include "io/text_keep.h"

enum { TY_JSONL_PARTS = 64 };

/* Lines that one thread parses. */
typedef struct ty_jsonl_part {
    const char *begin, *end;
    uint64_t lines;
    size_t rows, room;
    double *values;      /* row by row */
    unsigned char *seen; /* of each column */
    int failed, out_of_memory;
    ty_jsonl_fault fault;
    uint32_t group;   /* whose wish has the fault */
    const char *line; /* that has it */
} ty_jsonl_part;

typedef struct ty_jsonl_state {
    ty_stream *stream;
    const char *name;
    uint32_t count; /* columns */
    uint32_t groups;
    ty_jsonl_wish *wishes;  /* of TALLY_MAX_DIMENSIONS columns each, the last of what is left */
    char **names;           /* of the columns; the wishes point to them, and to `missing` */
    char *missing;          /* as of ty_jsonl_wish */
    unsigned char *seen;    /* of each column, and then of each part's */
    const char *words_hint; /* as ty_words_hint */
    int is_whole;           /* all columns, for a summary: words and integers are the state's */
    unsigned rounded;       /* as in ty_text_state */
    char *buffer;
    size_t capacity, begin, end; /* buffer[begin … end) is read and not parsed */
    int ended;
    uint64_t line; /* of buffer[begin], from 1 */
    uint64_t row;  /* records before those of the parts that are handed out */
    uint64_t row_begin, row_end;
    ty_keep *keep; /* of what was read, for the next time; NULL: it is not read again */
    ty_kept kept;  /* rows of it that are handed out, as one view of all their values; or none */
    unsigned count_parts, part; /* parts of the block, and the one that is handed out next */
    size_t taken;               /* rows of it that are */
    size_t chunk_rows;
    unsigned char *mask; /* of these; NULL: no integer is missing */
    ty_jsonl_part parts[TY_JSONL_PARTS];
} ty_jsonl_state;

/* The wish that column c is of, and its number there. */
static inline ty_jsonl_wish *ty_jsonl_wish_of(const ty_jsonl_state *s, uint32_t c, uint32_t *number)
{
    *number = c % TALLY_MAX_DIMENSIONS;
    return s->wishes + c / TALLY_MAX_DIMENSIONS;
}

/* ---- json_lines.c ---- */

/* The next block of lines, parsed and kept. */
tally_status ty_jsonl_next_block(ty_jsonl_state *state, tally_error *error);
/* The stream is at its start. */
tally_status ty_jsonl_start(ty_jsonl_state *state, tally_error *error);
/* Says what is wrong in a part, in that line. */
tally_status ty_jsonl_say(const ty_jsonl_state *state, const ty_jsonl_part *part, uint64_t line,
                          tally_error *error);
const char *ty_jsonl_line_end(const char *p, const char *end);

/* ---- json_columns.c ---- */

/* Makes the wishes from the options and the first records, at the stream's start; ty_jsonl_forget
 * releases them, after a failure too. */
tally_status ty_jsonl_choose(ty_jsonl_state *state, const tally_input_options *options,
                             tally_error *error);
void ty_jsonl_forget(ty_jsonl_state *state);
/* Finds out which columns are of 64-bit integers, by reading all lines if some may be; started. */
tally_status ty_jsonl_settle(ty_jsonl_state *state, const tally_input_options *options,
                             tally_error *error);

#endif
