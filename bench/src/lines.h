/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements as flat objects of JSON, one a line, and as CSV. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stddef.h>
#include <stdio.h>

enum { BENCH_FIELDS = 64, BENCH_TEXT = 128 };

typedef struct bench_field {
    char key[24];
    enum { BENCH_IS_NUMBER, BENCH_IS_TEXT, BENCH_IS_TRUTH } kind;
    double number; /* of a truth: 0 or 1 */
    char text[BENCH_TEXT];
} bench_field;

typedef struct bench_line {
    size_t count;
    bench_field fields[BENCH_FIELDS];
} bench_line;

typedef struct bench_lines {
    size_t count, capacity;
    bench_line *all;
} bench_lines;

/* A key that is there already gets the new value. */
void bench_set_text(bench_line *line, const char *key, const char *text);
/* Nothing when `number` is not finite: what is not known is not there. */
void bench_set_number(bench_line *line, const char *key, double number);
void bench_set_truth(bench_line *line, const char *key, int truth);
const char *bench_line_text(const bench_line *line, const char *key, const char *otherwise);
double bench_line_number(const bench_line *line, const char *key); /* NAN if it is not there */

/* Adds a copy; an exit code. Release with free(lines->all). */
int bench_lines_add(bench_lines *lines, const bench_line *line);
void bench_line_print(const bench_line *line, FILE *to);
/* A column for every key that any line has. */
void bench_lines_csv(const bench_lines *lines, FILE *to);

#endif
