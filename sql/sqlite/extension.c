/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally in SQLite: the aggregates of docs/SQL.md for one column. What DuckDB gets as lists and
 * structs is JSON here, which SQLite's own functions take apart.
 */
#include <math.h>
#include <sqlite3ext.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../group/group.h"
#include "json.h"

SQLITE_EXTENSION_INIT1

enum { most_bins = 1 << 24 };

/* What a function was registered with. */
typedef struct kind {
    const char *name;
    int edges, weighted,
        whole; /* axes by edges; a weight as last argument; an object, not a list */
} kind;

/* SQLite keeps these bytes for each group, cleared at first. */
typedef struct slot {
    group *group;
    double lo, hi, bins; /* as the first row had them */
    char *edges;
    int failed;
} slot;

static void slot_clear(slot *s)
{
    group_destroy(s->group);
    free(s->edges);
    s->group = NULL;
    s->edges = NULL;
}

static void fail(sqlite3_context *context, slot *s, const char *words)
{
    const kind *k = sqlite3_user_data(context);
    char message[1200];
    snprintf(message, sizeof message, "%s: %s", k->name, words);
    sqlite3_result_error(context, message, -1);
    slot_clear(s);
    s->failed = 1;
}

static int is_number(sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* The first row's axis: makes the group. NULL, or what is wrong. */
static const char *begin_even(slot *s, sqlite3_value **arguments, int weighted, tally_error *error)
{
    s->lo = sqlite3_value_double(arguments[1]);
    s->hi = sqlite3_value_double(arguments[2]);
    s->bins = sqlite3_value_double(arguments[3]);
    if (!(s->bins >= 1 && s->bins <= most_bins && s->bins == floor(s->bins)))
        return "bins must be a whole number, 1 to 16777216";
    tally_axis axis = tally_axis_even((uint64_t)s->bins, s->lo, s->hi);
    layout *l = layout_create(1, &axis, TALLY_F64, weighted, error);
    if (!l)
        return error->message;
    s->group = group_create(l);
    layout_release(l);
    return s->group ? NULL : "no memory for the bins";
}

static const char *begin_edges(slot *s, sqlite3_value **arguments, int weighted, tally_error *error)
{
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    double *edges;
    uint64_t count;
    if (!text || !(s->edges = strdup(text)))
        return "no memory for the edges";
    if (!json_numbers(text, &edges, &count))
        return "edges must be a JSON array of numbers, such as '[0, 1, 10]'";
    layout *l = NULL;
    if (count >= 2 && count <= most_bins) {
        tally_axis axis = tally_axis_edges(count - 1, edges);
        l = layout_create(1, &axis, TALLY_F64, weighted, error);
    } else
        snprintf(error->message, sizeof error->message, "edges need 2 to 16777216 values");
    free(edges);
    if (!l)
        return error->message;
    s->group = group_create(l);
    layout_release(l);
    return s->group ? NULL : "no memory for the bins";
}

static int is_same_axis(const slot *s, const kind *k, sqlite3_value **arguments)
{
    if (k->edges)
        return !strcmp(s->edges, (const char *)sqlite3_value_text(arguments[1]));
    return sqlite3_value_double(arguments[1]) == s->lo &&
           sqlite3_value_double(arguments[2]) == s->hi &&
           sqlite3_value_double(arguments[3]) == s->bins;
}

/* NULL, or what is wrong with the arguments that are the axis. */
static const char *settle(slot *s, const kind *k, sqlite3_value **arguments, tally_error *error)
{
    for (int i = 1; i < (k->edges ? 2 : 4); i++)
        if (k->edges ? sqlite3_value_type(arguments[i]) != SQLITE_TEXT : !is_number(arguments[i]))
            return k->edges ? "edges must be a JSON array of numbers, such as '[0, 1, 10]'"
                            : "lo, hi and bins must be numbers";
    if (!s->group)
        return k->edges ? begin_edges(s, arguments, k->weighted, error)
                        : begin_even(s, arguments, k->weighted, error);
    return is_same_axis(s, k, arguments)
               ? NULL
               : "the range, bins or edges must be the same in all rows of a group";
}

/* A float64 that compares with every edge as x does: x itself, or the one of its two neighbours
 * below it; above it, where that one is the last edge, which x must not be in the bin of. */
static double real_of(sqlite3_int64 x, double last)
{
    double value = (double)x;
    if (value == 0x1p63 || (sqlite3_int64)value > x)
        value = nextafter(value, -INFINITY);
    return (sqlite3_int64)value != x && value == last ? nextafter(value, INFINITY) : value;
}

/* NULL, or what is wrong with the row. */
static const char *count_row(slot *s, const kind *k, sqlite3_value *x, sqlite3_value *w,
                             tally_error *error)
{
    int type = sqlite3_value_type(x);
    const tally_axis *axis = &s->group->layout->axes[0];
    double weight = w ? sqlite3_value_double(w) : 0;
    double real = type == SQLITE_INTEGER
                      ? real_of(sqlite3_value_int64(x), tally_axis_edge(axis, axis->bins))
                      : sqlite3_value_double(x);
    if (type == SQLITE_NULL || (w && sqlite3_value_type(w) == SQLITE_NULL)) {
        s->group->nulls++;
        return NULL;
    }
    if (!is_number(x) || (w && !is_number(w)))
        return "a sample or weight is text or a blob: CAST it to a number";
    const rows r = {.count = 1, .samples = {&real}, .weights = k->weighted ? &weight : NULL};
    return group_add(s->group, &r, 0, 1, error) ? error->message : NULL;
}

static void step(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const kind *k = sqlite3_user_data(context);
    slot *s = sqlite3_aggregate_context(context, sizeof *s);
    tally_error error = {""};
    if (!s) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (s->failed)
        return;
    const char *wrong = settle(s, k, arguments, &error);
    if (!wrong)
        wrong = count_row(s, k, arguments[0], k->weighted ? arguments[count - 1] : NULL, &error);
    if (wrong)
        fail(context, s, wrong);
}

static void write_amounts(json_text *to, const amount *values, uint64_t count, int weighted)
{
    json_put(to, "[");
    for (uint64_t i = 0; i < count; i++) {
        json_put(to, i ? "," : "");
        if (weighted)
            json_put_double(to, values[i].sum);
        else
            json_put_count(to, values[i].count);
    }
    json_put(to, "]");
}

static void write_flow(json_text *to, const char *name, amount value, int weighted)
{
    json_put(to, name);
    if (weighted)
        json_put_double(to, value.sum);
    else
        json_put_count(to, value.count);
}

static void write_whole(json_text *to, const group *g)
{
    const tally_axis *axis = &g->layout->axes[0];
    int weighted = g->layout->weighted;
    json_put(to, "{\"edges\":[");
    for (uint64_t i = 0; i <= axis->bins; i++) {
        json_put(to, i ? "," : "");
        json_put_double(to, tally_axis_edge(axis, i));
    }
    json_put(to, "],\"counts\":");
    write_amounts(to, g->cells, axis->bins, weighted);
    write_flow(to, ",\"below\":", g->flows[flow_under], weighted);
    write_flow(to, ",\"above\":", g->flows[flow_over], weighted);
    write_flow(to, ",\"nan\":", g->flows[flow_nan], weighted);
    json_put(to, ",\"nulls\":");
    json_put_count(to, g->nulls);
    json_put(to, "}");
}

static void finish(sqlite3_context *context)
{
    const kind *k = sqlite3_user_data(context);
    slot *s = sqlite3_aggregate_context(context, 0);
    json_text to = {0};
    tally_error error = {""};
    if (!s || s->failed)
        return; /* no rows: NULL; or the error that is there */
    if (group_finish(s->group, &error)) {
        fail(context, s, error.message);
        return;
    }
    if (k->whole)
        write_whole(&to, s->group);
    else
        write_amounts(&to, s->group->cells, s->group->layout->cells, k->weighted);
    slot_clear(s);
    if (to.failed) {
        free(to.text);
        sqlite3_result_error_nomem(context);
    } else
        sqlite3_result_text64(context, to.text, to.length, free, SQLITE_UTF8);
}

#ifdef _WIN32
__declspec(dllexport)
#endif
    __attribute__((visibility("default"))) int sqlite3_tally_init(sqlite3 *database, char **message,
                                                                  const sqlite3_api_routines *api)
{
    static const kind kinds[] = {
        {"tally", 0, 0, 0},
        {"tally", 0, 1, 0},
        {"tally_edges", 1, 0, 0},
        {"tally_edges", 1, 1, 0},
        {"tally_histogram", 0, 0, 1},
        {"tally_histogram", 0, 1, 1},
        {"tally_histogram_edges", 1, 0, 1},
        {"tally_histogram_edges", 1, 1, 1},
    };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *k = &kinds[i];
        int count = (k->edges ? 2 : 4) + k->weighted;
        int code = sqlite3_create_function_v2(database, k->name, count, flags, (void *)k, NULL,
                                              step, finish, NULL);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK_LOAD_PERMANENTLY;
}
