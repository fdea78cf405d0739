/* What text.c (reading) and text_columns.c (headings, choosing) share. */
#ifndef TY_TEXT_STATE_H
#define TY_TEXT_STATE_H

#include "io/input.h"
#include "io/text_fields.h"

/* A column that was asked for: where it is in a record and which view it fills. */
typedef struct ty_pick {
    uint32_t column, view;
} ty_pick;

typedef struct ty_text_state {
    ty_stream *stream;
    const char *name; /* the file's */
    char *buffer; /* text[begin … end) is read but not parsed; begin is always a line's start */
    size_t capacity, begin, end;
    int ended;   /* the stream is */
    int reached; /* its end has been reached, in this pass or an earlier one, and `grew` is known */
    int grew;    /* the file was longer by then than when it was opened */
    int after_cr;  /* the line before ended in CR at the buffer's end: an LF now belongs to it */
    uint64_t line; /* of buffer[begin], from 1 */
    uint64_t row;  /* data rows before buffer[begin] */
    uint64_t row_begin, row_end; /* wanted; UINT64_MAX: to the end */
    ty_layout layout;
    char *
        *headings; /* layout.columns of them in one block with their text; NULL without a header */
    uint32_t views;
    ty_pick *picks;  /* `views` of them, by column */
    char **labels;   /* a name for each view, or NULL; in one block with the text */
    double *samples; /* `views` times `chunk` */
    size_t chunk;
} ty_text_state;

/* Copies the headings from the record in [p, end). */
tally_status ty_text_headings(ty_text_state *state, const char *p, const char *end,
                              tally_error *error);

/* Makes views, picks and labels from the options. */
tally_status ty_text_choose(ty_text_state *state, const tally_input_options *options,
                            tally_error *error);

#endif
