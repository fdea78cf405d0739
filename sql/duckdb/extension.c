/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally in DuckDB: aggregates that count a column into bins, exactly, in one pass (docs/SQL.md).
 * DuckDB's own threads call; each group of a query is a `group`, on axes that all rows agree on.
 */
#include <pthread.h>
#include <stdlib.h>

#include "answer.h"
#include "merge.h"
#include "quantile.h"

/* A registered function, and the axes it met last: queries' axes are constants, so that all their
 * groups and threads share one plan. Lives as long as the process, as the extension does. */
typedef struct function {
    aggregate aggregate;
    signature signature;
    pthread_mutex_t lock;
    layout *last;
} function;

static const char not_same[] = "the range, bins or edges must be the same in all rows of a group";

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
    if (!*g)
        return (*g = group_create(*l)) || refuse(error, "no memory for the bins");
    return (*g)->layout == *l || layout_is((*g)->layout, (*l)->axes) || refuse(error, not_same);
}

/* The row behind those from `i` on that are of one group: all, if no group was asked for. */
static uint64_t run_end(const duckdb_aggregate_state *states, uint64_t i, uint64_t count)
{
    uint64_t end = i + 1;
    if (!i && is_constant(states, sizeof *states, count))
        return count;
    while (end < count && states[end] == states[i])
        end++;
    return end;
}

static int count_rows(function *f, const arguments *a, duckdb_aggregate_state *states,
                      tally_error *error)
{
    layout *l = NULL;
    int done = 1;
    for (uint64_t i = 0, end; i < a->rows.count && done; i = end) {
        group **g = (group **)aggregate_group(states[i]);
        end = a->alike ? run_end(states, i, a->rows.count) : i + 1;
        if (!l || !a->alike || !*g || (*g)->layout != l)
            done = settle(f, a, i, g, &l, error);
        done = done && !group_add(*g, &a->rows, i, end, error);
    }
    layout_release(l);
    return done;
}

static int update(aggregate *of, duckdb_data_chunk chunk, duckdb_aggregate_state *states,
                  tally_error *error)
{
    function *f = (function *)of;
    arguments a;
    return arguments_read(&a, &f->signature, chunk, error) && count_rows(f, &a, states, error);
}

static int merge(aggregate *of, void **into, const void *from, tally_error *error)
{
    const group *g = from;
    (void)of;
    if (!*into && !(*into = group_create(g->layout)))
        return refuse(error, "no memory for the bins");
    const layout *l = ((group *)*into)->layout;
    if (l != g->layout && !layout_is(l, g->layout->axes))
        return refuse(error, not_same);
    return !group_merge(*into, g, error);
}

static int answer(aggregate *of, void *g, duckdb_vector result, idx_t row, tally_error *error)
{
    if (g && group_finish(g, error))
        return 0;
    return answer_write(&((function *)of)->signature, g, result, row) ||
           refuse(error, "no memory for the result");
}

static void destroy(void *g)
{
    group_destroy(g);
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

static int add_function(duckdb_aggregate_function_set set, const char *name, const signature *s,
                        duckdb_type type)
{
    duckdb_logical_type parameters[4 * most_dimensions + 1];
    idx_t count = 0;
    function *f = calloc(1, sizeof *f);
    if (!f)
        return 0;
    f->aggregate = (aggregate){update, merge, answer, destroy};
    f->signature = *s;
    pthread_mutex_init(&f->lock, NULL);
    for (uint32_t d = 0; d < s->dimensions; d++)
        parameters[count++] = aggregate_type(type, 0);
    for (uint32_t d = 0; d < s->dimensions; d++) {
        parameters[count++] = aggregate_type(DUCKDB_TYPE_DOUBLE, s->edges);
        if (!s->edges) {
            parameters[count++] = aggregate_type(DUCKDB_TYPE_DOUBLE, 0);
            parameters[count++] = aggregate_type(DUCKDB_TYPE_INTEGER, 0);
        }
    }
    if (s->weighted)
        parameters[count++] = aggregate_type(DUCKDB_TYPE_DOUBLE, 0);
    return aggregate_add(set, name, &f->aggregate, parameters, count, answer_type(s));
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
    return aggregate_register(connection, set, done);
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
