/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static bench_field *find(const bench_line *line, const char *key)
{
    for (size_t i = 0; i < line->count; i++)
        if (strcmp(line->fields[i].key, key) == 0)
            return (bench_field *)&line->fields[i];
    return NULL;
}

static bench_field *place(bench_line *line, const char *key)
{
    bench_field *field = find(line, key);
    if (!field && line->count < BENCH_FIELDS)
        field = &line->fields[line->count++];
    if (field) {
        memset(field, 0, sizeof *field);
        snprintf(field->key, sizeof field->key, "%s", key);
    }
    return field;
}

void bench_set_text(bench_line *line, const char *key, const char *text)
{
    bench_field *field = place(line, key);
    if (!field)
        return;
    field->kind = BENCH_IS_TEXT;
    snprintf(field->text, sizeof field->text, "%s", text);
}

void bench_set_number(bench_line *line, const char *key, double number)
{
    bench_field *field = isfinite(number) ? place(line, key) : NULL;
    if (!field)
        return;
    field->kind = BENCH_IS_NUMBER;
    field->number = number;
}

void bench_set_truth(bench_line *line, const char *key, int truth)
{
    bench_field *field = place(line, key);
    if (!field)
        return;
    field->kind = BENCH_IS_TRUTH;
    field->number = truth != 0;
}

const char *bench_line_text(const bench_line *line, const char *key, const char *otherwise)
{
    const bench_field *field = find(line, key);
    return field && field->kind == BENCH_IS_TEXT ? field->text : otherwise;
}

double bench_line_number(const bench_line *line, const char *key)
{
    const bench_field *field = find(line, key);
    return field && field->kind == BENCH_IS_NUMBER ? field->number : NAN;
}

int bench_lines_add(bench_lines *lines, const bench_line *line)
{
    if (lines->count == lines->capacity) {
        size_t capacity = lines->capacity ? 2 * lines->capacity : 64;
        bench_line *more = realloc(lines->all, capacity * sizeof *more);
        if (!more)
            return bench_fail("out of memory");
        lines->all = more;
        lines->capacity = capacity;
    }
    lines->all[lines->count++] = *line;
    return BENCH_OK;
}

/* ---- writing ---- */

static void print_text(const char *text, FILE *to)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    }
    fputc('"', to);
}

static void print_number(double number, FILE *to)
{
    if (number == floor(number) && fabs(number) < 1e15)
        fprintf(to, "%.0f", number);
    else
        fprintf(to, fabs(number) < 1e15 ? "%.7g" : "%.17g", number);
}

void bench_line_print(const bench_line *line, FILE *to)
{
    for (size_t i = 0; i < line->count; i++) {
        const bench_field *field = &line->fields[i];
        fputs(i ? "," : "{", to);
        print_text(field->key, to);
        fputc(':', to);
        if (field->kind == BENCH_IS_TEXT)
            print_text(field->text, to);
        else if (field->kind == BENCH_IS_TRUTH)
            fputs(field->number != 0 ? "true" : "false", to);
        else
            print_number(field->number, to);
    }
    fputs("}\n", to);
}

/* Every key that any line has, in the order of their first appearance. */
void bench_lines_csv(const bench_lines *lines, FILE *to)
{
    static bench_line head;
    head.count = 0;
    for (size_t i = 0; i < lines->count; i++)
        for (size_t k = 0; k < lines->all[i].count; k++)
            if (!find(&head, lines->all[i].fields[k].key))
                place(&head, lines->all[i].fields[k].key);
    for (size_t k = 0; k < head.count; k++)
        fprintf(to, "%s%s", k ? "," : "", head.fields[k].key);
    fputc('\n', to);
    for (size_t i = 0; i < lines->count; i++) {
        for (size_t k = 0; k < head.count; k++) {
            const bench_field *field = find(&lines->all[i], head.fields[k].key);
            fputs(k ? "," : "", to);
            if (!field)
                continue;
            if (field->kind == BENCH_IS_NUMBER) {
                print_number(field->number, to);
            } else if (field->kind == BENCH_IS_TRUTH) {
                fputs(field->number != 0 ? "true" : "false", to);
            } else {
                fputc('"', to);
                for (const char *c = field->text; *c; c++)
                    fprintf(to, *c == '"' ? "\"\"" : "%c", *c);
                fputc('"', to);
            }
        }
        fputc('\n', to);
    }
}
