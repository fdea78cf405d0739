/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and fields of text: CSV, TSV, semicolons, bars, runs of white space, or one number a line.
 *
 * A line ends in LF, CR LF or CR. Fields may have spaces (and tabs, where these do not separate)
 * around them. A field that begins with a double quote ends at the next one that is not doubled;
 * delimiters and line ends within are part of it. Lines of white space alone and lines whose first
 * character is # are passed over, but for those that begin with a spreadsheet's "#N/A" or the like.
 */
#ifndef TY_TEXT_FIELDS_H
#define TY_TEXT_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

/* ',', '\t', ';', ' ' (any run of spaces and tabs), '\n' (none: a line is one field), or another
 * that was asked for. */
typedef char ty_delimiter;

typedef struct ty_field {
    const char *at;    /* the first byte, or the opening quote */
    const char *begin; /* the text: no quotes or white space around it, doubled quotes still so */
    size_t size;
    int quoted;
    int open; /* quoted, and the text ended before the closing quote */
} ty_field;

static inline int ty_is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static inline const char *ty_skip_blanks(ty_delimiter delimiter, const char *p, const char *end)
{
    while (p < end && (*p == ' ' || (*p == '\t' && delimiter != '\t')))
        p++;
    return p;
}

/* Reads the field at `p` and returns where it stops: at a delimiter, a line end or `end`. After a
 * run of white space that separates, that is the next field's first byte. */
const char *ty_field_scan(ty_delimiter delimiter, const char *p, const char *end, ty_field *field);

/* From where a field stopped to the next field's place. */
static inline const char *ty_field_next(ty_delimiter delimiter, const char *stop)
{
    return stop + (delimiter != ' ');
}

/* Whether the line at `p` is passed over: blank, or a comment. */
int ty_line_is_skipped(ty_delimiter delimiter, const char *p, const char *end);

/* The line end at or after `p`, or `end`. */
const char *ty_line_end(const char *p, const char *end);

/* Past the line end at `p`, which is CR LF, CR or LF. */
static inline const char *ty_line_next(const char *p, const char *end)
{
    return p + 1 + (*p == '\r' && p + 1 < end && p[1] == '\n');
}

typedef enum ty_field_kind {
    TY_FIELD_NUMBER,
    TY_FIELD_MISSING, /* empty, "-", a word for it (text_fields.c): read as NaN */
    TY_FIELD_COMMA,   /* a number to people who write decimal commas, or commas between thousands */
    TY_FIELD_TIME,    /* a date, or a date and a time of day */
    TY_FIELD_TEXT,
    /* Of columns only; such a field is a number, or text. */
    TY_FIELD_INTEGER,
    TY_FIELD_BOOLEAN
} ty_field_kind;

enum { TY_MISSING_MOST = 4 }; /* bytes of the usual words for missing, "-nan" among them */

/* How values are written. */
typedef struct ty_spelling {
    const char *missing; /* words for missing ones besides the usual, with commas between, which may
                            be numbers; NULL: none */
    char decimal;        /* what a number has as its point */
    char thousands;      /* between groups of three digits; 0: nothing */
} ty_spelling;

/* What a field is; for a number and a missing one also its value. `spelling` NULL: as usual, with a
 * point. */
ty_field_kind ty_field_read(const ty_field *field, const ty_spelling *spelling, double *value);

/* A field without the white space within its quotes; whether such a one is missing. */
ty_field ty_field_trim(const ty_field *field);
int ty_field_is_missing(const ty_field *trimmed, const ty_spelling *spelling);
/* Whether a field is missing, or a NaN. */
int ty_field_is_nan(const ty_field *field, const ty_spelling *spelling);
/* Whether it is true or false, in any case; then *value is 1 or 0. */
int ty_field_is_boolean(const ty_field *trimmed, double *value);

/* Of a field that is no number, but one to some people: how it is read, as the end of a message;
 * else NULL. *has_commas: whether TY_FIELD_COMMA is its kind. */
const char *ty_field_advice(const ty_field *field, int *has_commas);

/* How a text is laid out, told from its beginning. */
typedef struct ty_layout {
    ty_delimiter delimiter;
    int has_header;
    uint32_t columns; /* fields of a record: of the first one, or of those with row names */
    int row_names;    /* the first record has one field less: records begin with a name each */
    uint32_t records; /* complete records that were looked at; 0: the rest means nothing */
} ty_layout;

/* What is known of a layout. */
typedef struct ty_layout_wish {
    ty_delimiter delimiter;      /* 0: to be told */
    int header;                  /* as in tally_input_options */
    const ty_spelling *spelling; /* as for ty_field_read */
} ty_layout_wish;

/* Whether a text's first line is "sep=;" or the like, as spreadsheets read it; *delimiter, if 0,
 * becomes that. */
int ty_line_names_delimiter(const char *p, const char *end, ty_delimiter *delimiter);

/* `ended` says that nothing follows the `size` bytes. Fails only when memory is out. */
tally_status ty_layout_detect(const char *text, size_t size, int ended, const ty_layout_wish *wish,
                              ty_layout *layout, tally_error *error);

/* text_integers.c: what is known of a column that may be of 64-bit integers. */
enum {
    TY_INTEGER_NEGATIVE = 1,
    TY_INTEGER_LARGE = 2, /* from 2^63 on */
    TY_INTEGER_BAD = 4,
    TY_INTEGER_MISSING = 8, /* none is there: its bits are TY_INTEGER_NONE */
    TY_INTEGER_TAKEN = 16   /* one has those bits */
};
#define TY_INTEGER_NONE (UINT64_C(1) << 63)
typedef struct ty_integers {
    unsigned flags; /* of the values so far; threads share it */
    int is_settled; /* all values are known: another one is refused */
    int may_miss;   /* values may be missing; else such a column is none of integers */
} ty_integers;

/* Its bits as an integer, to *value; 0: it is not like those before. */
int ty_integer_read(const ty_field *field, const ty_spelling *spelling, ty_integers *integers,
                    double *value);
/* There is no value: *value is TY_INTEGER_NONE. */
void ty_integer_miss(ty_integers *integers, double *value);
/* Whether all values that have these flags are integers of one type, or missing. */
int ty_integers_are_good(unsigned flags);
/* Of `count` values, `step` apart: mask[i] becomes 0 where one is missing, and stays elsewhere. */
void ty_integers_mask(const double *values, size_t step, size_t count, unsigned char *mask);
/* Sets *rounded if [p, end) is an integer, of which `value` was made by rounding. */
void ty_integer_note_rounded(unsigned *rounded, const char *p, const char *end, double value);
/* Whether [p, end) is a 64-bit integer beyond 2^53; *is_integer: whether it is one at all. */
int ty_integer_is_wide(const char *p, const char *end, int *is_integer);

/* Sets kinds[i] of each column by its first records, of a layout that was told: TY_FIELD_TIME if
 * there are dates and nothing else, TY_FIELD_BOOLEAN likewise, TY_FIELD_TEXT if there is text and
 * no number, TY_FIELD_COMMA if most are such or text, TY_FIELD_INTEGER if there are 64-bit
 * integers, some beyond 2^53, and else missing values, TY_FIELD_NUMBER. `text` begins behind the
 * headings. */
tally_status ty_layout_kinds(const ty_layout *layout, const ty_spelling *spelling, const char *text,
                             size_t size, int ended, uint8_t *kinds, tally_error *error);

/* Nonzero when the bytes look like text: no control characters but tabs and line ends, and UTF-8,
 * or another character set with mostly ASCII in it. Nothing at all is text too. */
int ty_text_probe(const unsigned char *head, size_t size);

#endif
