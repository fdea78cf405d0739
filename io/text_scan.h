/* SPDX-License-Identifier: Apache-2.0 */
/* Plain records of text, found by masks of 64 bytes at a time (text_scan_loops.c). */
#ifndef TY_TEXT_SCAN_H
#define TY_TEXT_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <tally/io.h>

#include "io/text_fields.h"

/* So many bytes before a text, and behind it, may be read, whatever they are. */
#define TY_SCAN_SLACK 64

/* Records of more fields are read one by one. */
#define TY_SCAN_COLUMNS 512

/* A column that is wanted: its field lies behind the position numbered `begin` of its record, and
 * ends at the one numbered `end`; -1 is the end of the record before. Position 0 is the record's
 * first separator that is wanted at all. */
typedef struct ty_scan_pick {
    int begin, end;
    int is_last; /* its field ends where the record does */
    uint32_t view;
    tally_words *words; /* as in ty_pick */
    ty_field_kind kind; /* likewise */
    ty_integers *integers;
} ty_scan_pick;

/* What is to be found in every record; nothing in it changes while records are read. Separators
 * are delimiters, of runs of white space the last byte, and line ends outside quotes. */
typedef struct ty_scan {
    ty_delimiter delimiter;
    const ty_spelling *spelling; /* as for ty_field_read */
    uint32_t columns;            /* a record's fields, and so its separators */
    uint32_t positions; /* of a record's separators, how many are wanted; the last one is */
    uint32_t picks;
    int has_others;    /* some pick is of words, integers, or of another kind than numbers */
    unsigned *rounded; /* as in ty_text_state */
    int lenient;       /* as in ty_text_state */
    /* By how many separators of a record have been met: which of the next 64 are line ends, and
     * which are wanted. */
    uint64_t ends[TY_SCAN_COLUMNS], wanted[TY_SCAN_COLUMNS];
    ty_scan_pick pick[];
} ty_scan;

typedef struct ty_count {
    uint64_t lines, quotes;
} ty_count;

typedef struct ty_scan_loops {
    /*
     * Reads records from *at, where one begins, on, and no more when one is not plain or would
     * begin at or behind `stop`. *at is moved to the next record; sample i of view v goes to
     * samples[v * stride + i]. Returns how many. The text ends at `end`; what follows its last line
     * end is not read, nor is a CR that is its last byte taken for one.
     *
     * Plain is a record of as many fields as the first, with numbers or missing ones where they are
     * wanted, quotes only around whole fields, and neither blank nor a comment.
     */
    size_t (*read)(const ty_scan *scan, const char **at, const char *stop, const char *end,
                   double *samples, size_t stride);
    /* Line ends and quotes in [p, end). CR LF is one line end, its LF; a CR that is the last byte
     * is one. */
    ty_count (*count)(const char *p, const char *end);
} ty_scan_loops;

extern const ty_scan_loops ty_text_scan_base, ty_text_scan_avx2, ty_text_scan_avx512;

/* Those that this processor runs fastest. */
const ty_scan_loops *ty_text_scan_loops_get(void);

/* A column that is wanted, as words or numbers; `ty_pick` of text_state.h. */
struct ty_pick;

/* What stands for a value that is not one of its column's, and that is let pass: a NaN that no
 * number is read as. */
#define TY_ODD_BITS UINT64_C(0x7ff80000000badd0)
double ty_odd_value(void);

/* Fills `scan`, which has memory for `views` picks and zeros, for records of `columns` fields of
 * which `picks`, one a view, are wanted. 0: such records, of too many fields, are read one by one.
 */
int ty_text_scan_make(ty_scan *scan, ty_delimiter delimiter, const ty_spelling *spelling,
                      uint32_t columns, const struct ty_pick *picks, uint32_t views);

/* The number in the field [p, end), which has quotes or white space around it, or is missing, or is
 * none; 0 if it is none. */
int ty_text_scan_value(const ty_scan *scan, const char *p, const char *end, double *value);

/* Whether the field [p, end) is a word, or missing. */
int ty_text_scan_is_word(const ty_scan *scan, const char *p, const char *end);

/* The codes of fields that are words, `from` to `to` each, at most TY_WORDS_BATCH. Returns of how
 * many: fewer where one cannot be kept. */
size_t ty_text_scan_words(const ty_scan *scan, tally_words *words, const char *const *from,
                          const char *const *to, size_t count, double *values);

/* The same of an integer of 64 bits. */
int ty_text_scan_integer(const ty_scan *scan, ty_integers *integers, const char *p, const char *end,
                         double *value);

/* The same of a pick's kind, but of numbers. */
int ty_text_scan_other(const ty_scan *scan, ty_field_kind kind, const char *p, const char *end,
                       double *value);

#endif
