/* Headings, and the columns that were asked for. A column is asked for by its heading, matched
 * whole and case-sensitively, or else by its number from 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/text_state.h"

#define LIST_BYTES 600
#define NAME_BYTES 60 /* most of one name in a message */

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
    for (uint32_t i = 0; i < count; i++) {
        p = ty_field_scan(state->layout.delimiter, p, end, &field);
        state->headings[i] = copy_heading(&field);
        if (!state->headings[i])
            return ty_error_memory(error, "a heading", field.size + 1);
        p = ty_field_next(state->layout.delimiter, p);
    }
    return TALLY_OK;
}

/* "NAME, NAME, …" or, without headings, "1, 2, …"; as many as fit. */
static void list_columns(const ty_text_state *state, char list[LIST_BYTES])
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < state->layout.columns; i++) {
        char item[NAME_BYTES + 32];
        const char *heading = state->headings ? state->headings[i] : "";
        if (*heading)
            snprintf(item, sizeof item, "%s%.*s", i ? ", " : "", ty_text_fit(heading, NAME_BYTES),
                     heading);
        else
            snprintf(item, sizeof item, "%s%" PRIu32, i ? ", " : "", i + 1);
        size_t size = strlen(item);
        if (used + size + 8 > LIST_BYTES) {
            memcpy(list + used, ", ...", 6);
            return;
        }
        memcpy(list + used, item, size + 1);
        used += size;
    }
}

static tally_status refuse_name(const ty_text_state *state, const char *name, tally_error *error)
{
    char list[LIST_BYTES];
    list_columns(state, list);
    return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: no column '%.*s'; %s: %s", state->name,
                    ty_text_fit(name, NAME_BYTES), name,
                    state->headings ? "there are" : "there is no header row, choose by number",
                    list);
}

/* The column called `name`: by heading, else by number. */
static tally_status find_column(const ty_text_state *state, const char *name, uint32_t *column,
                                tally_error *error)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; state->headings && *name && i < state->layout.columns; i++) {
        if (strcmp(state->headings[i], name) != 0)
            continue;
        if (found != UINT32_MAX)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "%s: columns %" PRIu32 " and %" PRIu32
                            " are both called '%.*s'; choose one by its number",
                            state->name, found + 1, i + 1, ty_text_fit(name, NAME_BYTES), name);
        found = i;
    }
    if (found == UINT32_MAX) {
        char *end;
        unsigned long number = *name >= '1' && *name <= '9' ? strtoul(name, &end, 10) : 0;
        if (!number || *end || number > state->layout.columns)
            return refuse_name(state, name, error);
        found = (uint32_t)number - 1;
    }
    *column = found;
    return TALLY_OK;
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

tally_status ty_text_choose(ty_text_state *state, const tally_input_options *options,
                            tally_error *error)
{
    uint32_t count = options->columns_count;
    if (!count && state->layout.columns > 1) {
        char list[LIST_BYTES];
        list_columns(state, list);
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: %" PRIu32 " columns (%s): choose one with --column", state->name,
                        state->layout.columns, list);
    }
    state->views = count ? count : 1;
    state->picks = ty_calloc(state->views, sizeof *state->picks);
    if (!state->picks)
        return ty_error_memory(error, "a choice of columns", state->views * sizeof *state->picks);
    for (uint32_t i = 0; i < count; i++) {
        state->picks[i].view = i;
        tally_status status =
            find_column(state, options->columns[i], &state->picks[i].column, error);
        if (status)
            return status;
    }
    qsort(state->picks, state->views, sizeof *state->picks, compare_picks);
    return make_labels(state, error);
}
