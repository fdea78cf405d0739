/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked for of a text: how it is written, its headings, its columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/columns.h"
#include "io/summary.h"
#include "io/text_state.h"

/* Whether `c` may be part of a number or a word. */
static int is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

tally_status ty_text_wishes(ty_text_state *s, const tally_input_options *options,
                            tally_error *error)
{
    const char c = options->delimiter;
    if (c && c != '\t' && c != ' ' && (c < '!' || c > '~' || strchr("\"#+-.", c) || is_word(c)))
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "delimiter is character %d; a tab, a space or a sign other than \" # + - . can "
            "be one",
            (unsigned char)c);
    if (options->header < -1 || options->header > 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "header is %" PRId32 "; -1, 0 and 1 are known",
                        options->header);
    if (options->integers > TALLY_INTEGERS_NONE)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "integers is %d; 0, 1 and 2 are known",
                        (int)options->integers);
    s->wish.delimiter = c;
    s->wish.header = options->header;
    const char decimal = options->decimal ? options->decimal : '.';
    const char thousands = options->thousands;
    if ((decimal != '.' && decimal != ',') || decimal == thousands ||
        (thousands && !strchr(",.' _", thousands)))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "decimal is '%c' and thousands '%c'; the first is a point or a comma, the "
                        "second another of . , ' _ and a space, or nothing",
                        decimal, thousands ? thousands : ' ');
    s->spelling = (ty_spelling){NULL, decimal, thousands};
    if (options->missing) {
        const size_t size = strlen(options->missing) + 1;
        char *missing = ty_malloc(size);
        if (!missing)
            return ty_error_memory(error, "words for missing", size);
        memcpy(missing, options->missing, size);
        s->spelling.missing = missing;
    }
    if (options->missing || decimal != '.' || thousands)
        s->wish.spelling = &s->spelling;
    return TALLY_OK;
}

/* A heading as its owner wrote it: doubled quotes are one. */
static char *copy_heading(const ty_field *field)
{
    char *text = ty_malloc(field->size + 1);
    if (!text)
        return NULL;
    size_t size = 0;
    for (size_t i = 0; i < field->size; i++) {
        text[size++] = field->begin[i];
        i += field->quoted && field->begin[i] == '"';
    }
    char *copy = ty_text_copy(text, size);
    ty_free(text);
    return copy;
}

tally_status ty_text_headings(ty_text_state *state, const char *p, const char *end,
                              tally_error *error)
{
    ty_field field;
    uint32_t count = state->layout.columns;
    state->headings = ty_calloc(count, sizeof *state->headings);
    if (!state->headings)
        return ty_error_memory(error, "the headings of a text", count * sizeof *state->headings);
    if (state->layout.row_names && !(state->headings[0] = ty_text_copy("row", 3)))
        return ty_error_memory(error, "a heading", 4);
    for (uint32_t i = (uint32_t)state->layout.row_names; i < count; i++) {
        p = ty_field_scan(state->layout.delimiter, p, end, &field);
        state->headings[i] = copy_heading(&field);
        if (!state->headings[i])
            return ty_error_memory(error, "a heading", field.size + 1);
        p = ty_field_next(state->layout.delimiter, p);
    }
    return TALLY_OK;
}

int ty_text_asks_for_headings(const ty_text_state *state, const tally_input_options *options,
                              const char *p, const char *end)
{
    ty_field field;
    for (uint32_t i = 0; i < state->layout.columns; i++) {
        p = ty_field_scan(state->layout.delimiter, p, end, &field);
        for (uint32_t c = 0; c < options->columns_count; c++) {
            double value;
            if (strlen(options->columns[c]) == field.size &&
                memcmp(options->columns[c], field.begin, field.size) == 0 &&
                ty_field_read(&field, state->wish.spelling, &value) == TY_FIELD_TEXT)
                return 1;
        }
        if (p == end || ty_is_line_end(*p))
            return 0;
        p = ty_field_next(state->layout.delimiter, p);
    }
    return 0;
}

static int compare_picks(const void *a, const void *b)
{
    const ty_pick *x = a, *y = b;
    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                  : (x->view > y->view) - (x->view < y->view);
}

static tally_status make_labels(ty_text_state *state, tally_error *error)
{
    state->labels = ty_calloc(state->views, sizeof *state->labels);
    if (!state->labels)
        return ty_error_memory(error, "the names of columns", state->views * sizeof *state->labels);
    for (uint32_t i = 0; i < state->views; i++) {
        const ty_pick *pick = state->picks + i;
        char number[32];
        const char *name = state->headings ? state->headings[pick->column] : "";
        if (!*name && state->layout.columns == 1)
            continue;
        if (!*name) {
            snprintf(number, sizeof number, "column %" PRIu32, pick->column + 1);
            name = number;
        }
        state->labels[pick->view] = ty_text_copy(name, strlen(name));
        if (!state->labels[pick->view])
            return ty_error_memory(error, "the name of a column", strlen(name) + 1);
    }
    return TALLY_OK;
}

/* Which picks, in the options' order, are of words or of times. */
static tally_status choose_kinds(ty_text_state *state, const tally_input_options *options,
                                 tally_error *error)
{
    if (state->in_line)
        return TALLY_OK;
    uint8_t *kinds = ty_calloc(state->layout.columns, 1);
    if (!kinds)
        return ty_error_memory(error, "the columns of a text", state->layout.columns);
    tally_status status =
        ty_layout_kinds(&state->layout, state->wish.spelling, state->buffer + state->begin,
                        state->end - state->begin, state->ended, kinds, error);
    for (uint32_t i = 0; !status && i < state->views; i++) {
        ty_pick *pick = state->picks + i;
        const ty_field_kind kind = kinds[pick->column];
        const int is_text = kind == TY_FIELD_TEXT || kind == TY_FIELD_BOOLEAN ||
                            (kind == TY_FIELD_COMMA && state->is_whole);
        tally_words *words = options->words && !state->is_whole ? options->words[i] : NULL;
        if (state->is_whole && is_text)
            status = ty_words_create(TY_SUMMARY_WORDS, &pick->words, error);
        else if (options->all_words || is_text)
            pick->words = words;
        const int is_time = kind == TY_FIELD_TIME || (i < 32 && options->times >> i & 1);
        pick->kind = pick->words                ? TY_FIELD_NUMBER
                     : is_time                  ? TY_FIELD_TIME
                     : kind == TY_FIELD_BOOLEAN ? kind
                                                : TY_FIELD_NUMBER;
        const int may_be_wide =
            options->integers == TALLY_INTEGERS_ALL ||
            (options->integers == TALLY_INTEGERS_LARGE && kind == TY_FIELD_INTEGER);
        if (may_be_wide && !pick->words && pick->kind == TY_FIELD_NUMBER &&
            !(pick->integers = ty_calloc(1, sizeof *pick->integers)))
            status = ty_error_memory(error, "a column of integers", sizeof *pick->integers);
        if (pick->integers)
            pick->integers->may_miss = options->masked && !state->is_whole;
    }
    ty_free(kinds);
    return status;
}

tally_status ty_text_choose(ty_text_state *state, const tally_input_options *options,
                            tally_error *error)
{
    uint32_t count = options->columns_count;
    const ty_columns columns = {state->name, (const char *const *)state->headings,
                                state->layout.columns};
    if (!count && columns.count > 1 && !options->whole_table)
        return ty_columns_refuse_none(&columns, error);
    state->is_whole = !count && columns.count > 1;
    if (state->is_whole && columns.count > TY_SUMMARY_COLUMNS)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: %" PRIu32 " columns; up to %d are shown at a glance, choose some with "
                        "--column",
                        columns.file, columns.count, TY_SUMMARY_COLUMNS);
    state->views = count ? count : columns.count;
    state->words_hint = ty_words_hint(options);
    state->picks = ty_calloc(state->views, sizeof *state->picks);
    if (!state->picks)
        return ty_error_memory(error, "a choice of columns", state->views * sizeof *state->picks);
    for (uint32_t i = 0; i < count; i++) {
        state->picks[i].view = i;
        tally_status status =
            ty_columns_find(&columns, options->columns[i], &state->picks[i].column, error);
        if (status)
            return status;
    }
    for (uint32_t i = 0; state->is_whole && i < state->views; i++)
        state->picks[i].column = state->picks[i].view = i;
    tally_status status = choose_kinds(state, options, error);
    if (status)
        return status;
    qsort(state->picks, state->views, sizeof *state->picks, compare_picks);
    return make_labels(state, error);
}
