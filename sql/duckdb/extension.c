/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally in DuckDB: aggregates that count a column into bins, exactly, in one pass (docs/SQL.md).
 * DuckDB's own threads call; each group of a query is a `group`, on axes that all rows agree on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"
#include "merge.h"
#include "quantile.h"

/* A registered function, and the axes it met last: queries' axes are constants, so that all their
 * groups and threads share one plan. Lives as long as the process, as the extension does. */
typedef struct function {
    signature signature;
    pthread_mutex_t lock;
    layout *last;
} function;

/* DuckDB keeps these bytes for each group, and may move them. */
typedef struct slot {
    group *group;
} slot;

static group **group_of(duckdb_aggregate_state state)
{
    return &((slot *)state)->group;
}

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(slot);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    *group_of(state) = NULL;
}

static void state_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++)
        group_destroy(*group_of(states[i]));
}

/* The layout of these axes, retained; NULL and a message where they are none. */
static layout *find_layout(function *f, const tally_axis *axes, tally_error *error)
{
    const signature *s = &f->signature;
    layout *found = NULL;
    pthread_mutex_lock(&f->lock);
    if (!f->last || !layout_is(f->last, axes)) {
        layout *made = layout_create(s->dimensions, axes, s->dtype, s->weighted, error);
        if (made) {
            layout_release(f->last);
            f->last = made;
            found = layout_retain(made);
        }
    } else
        found = layout_retain(f->last);
    pthread_mutex_unlock(&f->lock);
    return found;
}

/* Makes the group of a state, or checks that it is on these axes. `*l` is what the last row had,
 * and gets what this one has; NULL at first. */
static int settle(function *f, const arguments *a, uint64_t row, group **g, layout **l,
                  tally_error *error)
{
    tally_axis axes[most_dimensions];
    if (!*l || !a->alike) {
        if (!arguments_axes(a, row, axes, error))
            return 0;
        if (!*l || !layout_is(*l, axes)) {
            layout_release(*l);
            *l = find_layout(f, axes, error);
            if (!*l)
                return 0;
        }
    }
    if (!*g) {
        *g = group_create(*l);
        if (!*g)
            snprintf(error->message, sizeof error->message, "no memory for the bins");
        return *g != NULL;
    }
    if ((*g)->layout == *l || layout_is((*g)->layout, (*l)->axes))
        return 1;
    snprintf(error->message, sizeof error->message,
             "the range, bins or edges must be the same in all rows of a group");
    return 0;
}

static int is_one_group(const duckdb_aggregate_state *states, uint64_t count)
{
    uintptr_t differing = 0;
    for (uint64_t i = 0; i < count; i++)
        differing |= (uintptr_t)states[i] ^ (uintptr_t)states[0];
    return !differing;
}

static int count_rows(function *f, const arguments *a, duckdb_aggregate_state *states,
                      tally_error *error)
{
    layout *l = NULL;
    int done = 1;
    if (a->alike && is_one_group(states, a->rows.count))
        done = settle(f, a, 0, group_of(states[0]), &l, error) &&
               !group_add_rows(*group_of(states[0]), &a->rows, error);
    else
        for (uint64_t i = 0; i < a->rows.count && done; i++) {
            group **g = group_of(states[i]);
            if (!l || !a->alike || !*g || (*g)->layout != l)
                done = settle(f, a, i, g, &l, error);
            if (done)
                group_add_row(*g, &a->rows, i);
        }
    layout_release(l);
    return done;
}

static void update(duckdb_function_info info, duckdb_data_chunk chunk,
                   duckdb_aggregate_state *states)
{
    function *f = duckdb_aggregate_function_get_extra_info(info);
    tally_error error = {""};
    arguments a;
    if (!arguments_read(&a, &f->signature, chunk, &error) ||
        (a.rows.count && !count_rows(f, &a, states, &error)))
        duckdb_aggregate_function_set_error(info, error.message);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source,
                    duckdb_aggregate_state *target, idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        const group *from = *group_of(source[i]);
        group **into = group_of(target[i]);
        if (!from)
            continue;
        if (!*into && !(*into = group_create(from->layout))) {
            duckdb_aggregate_function_set_error(info, "no memory for the bins");
            return;
        }
        if ((*into)->layout != from->layout && !layout_is((*into)->layout, from->layout->axes)) {
            duckdb_aggregate_function_set_error(
                info, "the range, bins or edges must be the same in all rows of a group");
            return;
        }
        group_merge(*into, from);
    }
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source,
                     duckdb_vector result, idx_t count, idx_t offset)
{
    const function *f = duckdb_aggregate_function_get_extra_info(info);
    for (idx_t i = 0; i < count; i++)
        if (!answer_write(&f->signature, *group_of(source[i]), result, offset + i)) {
            duckdb_aggregate_function_set_error(info, "no memory for the result");
            return;
        }
}

/* ---- registration ---- */

static const struct {
    tally_dtype dtype;
    duckdb_type type;
} types[] = {
    {TALLY_F64, DUCKDB_TYPE_DOUBLE},   {TALLY_F32, DUCKDB_TYPE_FLOAT},
    {TALLY_I8, DUCKDB_TYPE_TINYINT},   {TALLY_I16, DUCKDB_TYPE_SMALLINT},
    {TALLY_I32, DUCKDB_TYPE_INTEGER},  {TALLY_I64, DUCKDB_TYPE_BIGINT},
    {TALLY_U8, DUCKDB_TYPE_UTINYINT},  {TALLY_U16, DUCKDB_TYPE_USMALLINT},
    {TALLY_U32, DUCKDB_TYPE_UINTEGER}, {TALLY_U64, DUCKDB_TYPE_UBIGINT},
};
enum { type_count = sizeof types / sizeof *types };

static void add_parameter(duckdb_aggregate_function made, duckdb_type type, int list)
{
    duckdb_logical_type one = duckdb_create_logical_type(type);
    duckdb_logical_type all = list ? duckdb_create_list_type(one) : one;
    duckdb_aggregate_function_add_parameter(made, all);
    if (list)
        duckdb_destroy_logical_type(&all);
    duckdb_destroy_logical_type(&one);
}

static int add_function(duckdb_aggregate_function_set set, const char *name, const signature *s,
                        duckdb_type type)
{
    function *f = calloc(1, sizeof *f);
    if (!f)
        return 0;
    f->signature = *s;
    pthread_mutex_init(&f->lock, NULL);
    duckdb_aggregate_function made = duckdb_create_aggregate_function();
    duckdb_aggregate_function_set_name(made, name);
    for (uint32_t d = 0; d < s->dimensions; d++)
        add_parameter(made, type, 0);
    for (uint32_t d = 0; d < s->dimensions; d++) {
        add_parameter(made, DUCKDB_TYPE_DOUBLE, s->edges);
        if (!s->edges) {
            add_parameter(made, DUCKDB_TYPE_DOUBLE, 0);
            add_parameter(made, DUCKDB_TYPE_INTEGER, 0);
        }
    }
    if (s->weighted)
        add_parameter(made, DUCKDB_TYPE_DOUBLE, 0);
    duckdb_logical_type answer = answer_type(s);
    duckdb_aggregate_function_set_return_type(made, answer);
    duckdb_destroy_logical_type(&answer);
    duckdb_aggregate_function_set_functions(made, state_size, state_init, update, combine,
                                            finalize);
    duckdb_aggregate_function_set_destructor(made, state_destroy);
    duckdb_aggregate_function_set_special_handling(made); /* NULLs are counted here */
    duckdb_aggregate_function_set_extra_info(made, f, NULL);
    int done = duckdb_add_aggregate_function_to_set(set, made) == DuckDBSuccess;
    duckdb_destroy_aggregate_function(&made);
    return done;
}

/* One name: every number of axes, with and without weights; one column in each of its types. */
static int add_set(duckdb_connection connection, const char *name, int edges, int whole)
{
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set(name);
    int done = 1;
    for (uint32_t d = 1; d <= most_dimensions; d++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int t = 0; t < (d == 1 ? (int)type_count : 1); t++) {
                signature s = {d, types[t].dtype, edges, weighted, whole};
                done = done && add_function(set, name, &s, types[t].type);
            }
    done = done && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return done;
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access)
{
    if (add_set(connection, "tally", 0, 0) && add_set(connection, "tally_edges", 1, 0) &&
        add_set(connection, "tally_histogram", 0, 1) &&
        add_set(connection, "tally_histogram_edges", 1, 1) && merge_register(connection) &&
        quantile_register(connection))
        return true;
    access->set_error(info, "tally: its functions could not be registered");
    return false;
}
