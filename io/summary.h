/* SPDX-License-Identifier: Apache-2.0 */
/* A table at a glance: what each column holds, in one pass (tally_summary in tally/io.h). */
#ifndef TY_SUMMARY_H
#define TY_SUMMARY_H

#include <tally/io.h>

#define TY_SUMMARY_COLUMNS 4096                /* most of a table */
#define TY_SUMMARY_WORDS   (UINT32_C(1) << 17) /* most different words of a column */
#define TY_SUMMARY_CELLS   10                  /* of the small histogram */
#define TY_SUMMARY_TOP     8                   /* words that are listed */

/*
 * Numbers, counted by the first 23 bits of their float64: sign, exponent and 11 of the fraction. So
 * a cell is at most 1/2048 of its numbers wide, and whole numbers up to 4096 have one each. Sums
 * are kept to twice the precision, so that they do not hang on their order.
 */
typedef struct ty_cell {
    uint64_t count;
    double value; /* of all of them; NaN: they differ */
} ty_cell;

typedef struct ty_numbers {
    uint64_t count, missing, odd, infinite; /* count: all but the missing and odd ones */
    double least, most;
    int has_fractions, has_base;
    double base; /* any of them, from which the squares are taken */
    double sum[2], squares[2];
    ty_cell **pages; /* by the first 12 bits; each has 2048 cells; NULL: none */
} ty_numbers;

typedef struct ty_word_count {
    uint64_t count;
    const char *text;
} ty_word_count;

/*
 * Times and 64-bit integers are counted by how far they are from one of them, `from`, so that
 * quartiles near it are exact. Unsigned ones are integers less 2^63.
 */
typedef struct ty_shift {
    int is_used, is_unsigned;
    int64_t from, least, most; /* least, most: of 64-bit integers */
} ty_shift;

typedef struct ty_summary_column {
    char *name, *why; /* why: it could not be read; else NULL */
    int is_words;
    tally_time time; /* of times, their unit */
    ty_shift shift;
    ty_numbers
        numbers; /* of words `count`, `missing` and `odd`, which came when there were too many */
    /* words */
    uint64_t different;
    int is_full; /* there are more of them */
    ty_word_count top[TY_SUMMARY_TOP];
    uint32_t listed;
    char *text; /* of the words in `top` */
    /* numbers */
    double mean, deviation; /* NaN: none */
    double quartiles[3];
    int is_exact; /* the quartiles are values of the column */
    uint64_t cells[TY_SUMMARY_CELLS];
} ty_summary_column;

struct tally_summary {
    char *name;
    uint64_t rows;
    uint32_t count;
    ty_summary_column *columns;
};

/* ---- numbers.c ---- */

/* Adds `count` values of a type, `stride` bytes apart; 0: out of memory. */
int ty_numbers_add(ty_numbers *numbers, const double *values, size_t count);
/* Adds `from`, and leaves it empty; 0: out of memory. */
int ty_numbers_merge(ty_numbers *into, ty_numbers *from);
void ty_numbers_release(ty_numbers *numbers);
/* Fills what a column says of its numbers. */
void ty_numbers_finish(ty_summary_column *column);

/* ---- summary_write.c is tally_summary_write ---- */

#endif
