/* SPDX-License-Identifier: Apache-2.0 */
/* One record of text: its fields, and what is said of one that is no good. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/alloc.h"
#include "core/error.h"
#include "io/dates.h"
#include "io/number.h"
#include "io/text_state.h"

#define FOUND_BYTES 41 /* most of a field in a message, as it is shown */

/* ---- Complaints ---- */

/* "FILE:LINE:COLUMN" of `at`, in the record at r->p, which may span lines. */
static void locate(const ty_record *r, const char *at, uint64_t *line, uint64_t *column)
{
    const char *start = r->p;
    *line = r->text->line;
    for (const char *p = start; p < at; p++) {
        if (ty_is_line_end(*p)) {
            p += *p == '\r' && p + 1 < at && p[1] == '\n';
            start = p + 1;
            ++*line;
        }
    }
    *column = (uint64_t)(at - start) + 1;
}

static tally_status refuse_field(const ty_record *r, const ty_field *field, tally_error *error)
{
    int has_commas;
    const char *advice = ty_field_advice(field, &has_commas);
    char found[FOUND_BYTES];
    const size_t shown = printable(field->begin, field->size, found, sizeof found);
    uint64_t line, column;
    locate(r, field->at, &line, &column);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ":%" PRIu64 ": expected a number, found '%s%s'%s%s",
                    r->text->name, line, column, found, shown < field->size ? "..." : "",
                    advice ? "" : r->text->words_hint,
                    advice ? advice : "; --na takes words for missing");
}

static tally_status refuse_other(const ty_record *r, const ty_field *field, ty_field_kind kind,
                                 tally_error *error)
{
    char found[FOUND_BYTES];
    const ty_field trimmed = ty_field_trim(field);
    const size_t shown = printable(field->begin, field->size, found, sizeof found);
    uint64_t line, column;
    locate(r, field->at, &line, &column);
    return ty_error(error, TALLY_ERROR_FORMAT, "%s:%" PRIu64 ":%" PRIu64 ": %s found '%s%s'",
                    r->text->name, line, column,
                    kind == TY_FIELD_BOOLEAN
                        ? "expected true or false, as above,"
                        : ty_time_expected(trimmed.begin, trimmed.begin + trimmed.size),
                    found, shown < field->size ? "..." : "");
}

static tally_status refuse_quote(const ty_record *r, const ty_field *field, tally_error *error)
{
    uint64_t line, column;
    locate(r, field->at, &line, &column);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ":%" PRIu64 ": the quote that opens here is never closed",
                    r->text->name, line, column);
}

static tally_status refuse_width(const ty_record *r, uint64_t width, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ": %" PRIu64 " field%s, expected %" PRIu32
                    " as in the first line%s",
                    r->text->name, r->text->line, width, width == 1 ? "" : "s",
                    r->text->layout.columns, r->text->headings ? " (the header)" : "");
}

/* ---- Fields ---- */

/* Scans the field at `p`; returns where it stops, or NULL with *status set, which is TALLY_OK when
 * more text is needed. */
static const char *scan_field(const ty_record *r, const char *p, ty_field *field,
                              tally_status *status, tally_error *error)
{
    const char *stop = ty_field_scan(r->text->layout.delimiter, p, r->end, field);
    *status = TALLY_OK;
    if (stop == r->end && !r->ended)
        return NULL;
    if (!field->open)
        return stop;
    *status = refuse_quote(r, field, error);
    return NULL;
}

/* Bytes of a word with doubled quotes, of which one is left each. */
static uint32_t quoted_code(tally_words *words, const ty_field *field, const ty_spelling *spelling)
{
    char *text = ty_malloc(field->size);
    size_t size = 0;
    if (!text)
        return TY_WORDS_FAILED;
    for (size_t i = 0; i < field->size; i++) {
        text[size++] = field->begin[i];
        i += field->begin[i] == '"';
    }
    const uint32_t code = ty_words_code(words, text, size, spelling);
    ty_free(text);
    return code;
}

int ty_word_value(tally_words *words, const ty_field *field, const ty_spelling *spelling,
                  double *value)
{
    const int doubled = field->quoted && memchr(field->begin, '"', field->size);
    const uint32_t code = doubled ? quoted_code(words, field, spelling)
                                  : ty_words_code(words, field->begin, field->size, spelling);
    *value = code == TY_WORDS_MISSING ? NAN : code;
    return code != TY_WORDS_FAILED;
}

int ty_other_value(ty_field_kind kind, const ty_field *from, const ty_spelling *spelling,
                   double *value)
{
    if (kind == TY_FIELD_TIME)
        return ty_time_read(from, spelling, value);
    const ty_field field = ty_field_trim(from);
    if (!ty_field_is_nan(&field, spelling))
        return ty_field_is_boolean(&field, value);
    *value = NAN;
    return 1;
}

/* The same for a field that must be a number, or missing, or a word. */
static const char *read_field(const ty_record *r, const char *p, const ty_pick *pick, double *value,
                              tally_status *status, tally_error *error)
{
    ty_field field;
    const char *stop = scan_field(r, p, &field, status, error);
    if (!stop)
        return NULL;
    if (pick->words) {
        if (ty_word_value(pick->words, &field, r->text->wish.spelling, value))
            return stop;
        *value = ty_odd_value();
        if (r->text->is_whole)
            return stop;
        *status = ty_words_status(pick->words, r->text->name, r->text->labels[pick->view], error);
        if (!*status)
            *status = ty_error_memory(error, "a word", field.size);
        return NULL;
    }
    if (pick->integers) {
        if (ty_integer_read(&field, r->text->wish.spelling, pick->integers, value))
            return stop;
        *status = ty_error(error, TALLY_ERROR_IO, "%s: changed while it was read", r->text->name);
        return NULL;
    }
    ty_field_kind kind = pick->kind;
    if (pick->kind == TY_FIELD_NUMBER)
        kind = ty_field_read(&field, r->text->wish.spelling, value);
    if (kind == TY_FIELD_NUMBER && fabs(*value) >= 0x1p53) {
        const ty_field number = ty_field_trim(&field);
        ty_integer_note_rounded(r->rounded, number.begin, number.begin + number.size, *value);
    }
    if (kind == TY_FIELD_NUMBER || kind == TY_FIELD_MISSING ||
        (pick->kind != TY_FIELD_NUMBER &&
         ty_other_value(pick->kind, &field, r->text->wish.spelling, value)))
        return stop;
    *value = ty_odd_value();
    if (r->text->is_whole)
        return stop;
    *status = pick->kind == TY_FIELD_NUMBER ? refuse_field(r, &field, error)
                                            : refuse_other(r, &field, pick->kind, error);
    return NULL;
}

/* A number, perhaps quoted, with a delimiter or a line end behind it: where ty_field_scan would
 * stop, else NULL. */
static inline const char *read_plain(ty_delimiter delimiter, const char *p, const char *end,
                                     double *value)
{
    if (delimiter == ' ')
        p = ty_skip_blanks(delimiter, p, end);
    int quoted = p < end && *p == '"';
    const char *stop = ty_number_parse(p + quoted, end, value);
    if (!stop || (quoted && (stop == end || *stop++ != '"')))
        return NULL;
    const char *next = delimiter == ' ' ? ty_skip_blanks(delimiter, stop, end) : stop;
    if (next == end)
        return NULL;
    return *next == delimiter || ty_is_line_end(*next) || next > stop ? next : NULL;
}

const char *ty_record_read(const ty_record *r, double *samples, size_t stride, tally_status *status,
                           tally_error *error)
{
    const ty_text_state *s = r->text;
    const char *p = r->p, *end = r->end;
    uint32_t pick = samples ? 0 : s->views;
    int empty = 0;
    for (uint64_t column = 0;; p = ty_field_next(s->layout.delimiter, p)) {
        if (pick < s->views && s->picks[pick].column == column) {
            double value;
            const ty_pick *now = s->picks + pick;
            const char *stop =
                s->wish.spelling || now->words || now->kind != TY_FIELD_NUMBER || now->integers
                    ? NULL
                    : read_plain(s->layout.delimiter, p, end, &value);
            const char *from = p;
            if (stop && fabs(value) >= 0x1p53) /* which it may have been rounded to */
                stop = NULL;
            p = stop ? stop : read_field(r, p, now, &value, status, error);
            for (; p && pick < s->views && s->picks[pick].column == column; pick++) {
                if ((s->picks[pick].words != now->words || now->integers) &&
                    !read_field(r, from, s->picks + pick, &value, status, error))
                    return NULL;
                now = s->picks + pick;
                samples[now->view * stride] = value;
            }
        } else {
            ty_field field;
            p = scan_field(r, p, &field, status, error);
            empty = field.size == 0 && !field.quoted;
        }
        if (!p)
            return NULL;
        column++;
        if (p < end && !ty_is_line_end(*p))
            continue;
        *status = TALLY_OK;
        if (column == s->layout.columns || (column == (uint64_t)s->layout.columns + 1 && empty))
            return p;
        *status = refuse_width(r, column, error);
        return NULL;
    }
}

size_t ty_record_numbers(const ty_record *r, double *samples)
{
    const ty_delimiter delimiter = r->text->layout.delimiter;
    const char *p = r->p;
    size_t count = 0;
    for (;; p = ty_field_next(delimiter, p)) {
        ty_field field;
        double value;
        p = ty_field_scan(delimiter, p, r->end, &field);
        int is_last = p == r->end || ty_is_line_end(*p);
        if (is_last && count && field.size == 0 && !field.quoted)
            return count;
        ty_field_kind kind = ty_field_read(&field, r->text->wish.spelling, &value);
        if (field.open || (kind != TY_FIELD_NUMBER && kind != TY_FIELD_MISSING))
            return 0;
        if (samples)
            samples[count] = value;
        count++;
        if (is_last)
            return count;
    }
}
