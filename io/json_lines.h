/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines: one object a line, of which named values are read as float64. */
#ifndef TY_JSON_LINES_H
#define TY_JSON_LINES_H

#include <tally/io.h>

#include "io/words.h"

/* What is read of each record. */
typedef struct ty_jsonl_wish {
    const char *const *names; /* "a.b" is b in the object a, or the key "a.b" */
    size_t name_bytes[TALLY_MAX_DIMENSIONS];
    uint32_t count;
    const char *missing; /* words for it besides the usual, with commas between; NULL: none */
    tally_words *words[TALLY_MAX_DIMENSIONS];    /* names[i] is of words; NULL: of numbers */
    unsigned char is_time[TALLY_MAX_DIMENSIONS]; /* or of times, as text has them */
    ty_integers *integers[TALLY_MAX_DIMENSIONS]; /* or of integers: their bits are the values */
    int is_whole;      /* what is of another kind than its column is let pass: ty_odd_value */
    unsigned *rounded; /* as in ty_text_state; NULL: nobody asks */
} ty_jsonl_wish;

typedef struct ty_jsonl_fault {
    const char *at;
    const char *what; /* is wrong there; NULL: `name` is no number, or a word that cannot be kept */
    uint32_t name;
    size_t size; /* of the value at `at` */
} ty_jsonl_fault;

enum { TY_JSONL_BOOLEAN = 2, TY_JSONL_STRING = 3 };

/* Reads the record [p, end), a line without its end that begins with '{': values[i] is the number
 * called names[i], 1 for true and 0 for false, NaN where it is null, a word for missing or not
 * there; seen[i] is set where it is there, to TY_JSONL_STRING if it is in quotes, to
 * TY_JSONL_BOOLEAN if it is true or false. Of words values[i] is the code of the string without its
 * quotes and escapes, or of the number, true or false as it is written. Of a key that is there
 * twice, the last. 0, or nonzero with *fault. What is not asked for is passed over, and checked no
 * more than that takes. */
int ty_jsonl_read(const ty_jsonl_wish *wish, const char *p, const char *end, double *values,
                  unsigned char *seen, ty_jsonl_fault *fault);

/* The names of the values of the record [p, end), those of objects joined by dots: calls `take`
 * with each until it returns nonzero. Stops where the record is damaged or cut. */
void ty_jsonl_names_of(const char *p, const char *end, int (*take)(void *user, const char *name),
                       void *user);

/* The first byte at or behind p that is no white space of JSON, line ends aside, or `end`. */
const char *ty_jsonl_skip_blanks(const char *p, const char *end);

#endif
