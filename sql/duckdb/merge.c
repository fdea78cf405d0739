/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sum so far: as many cells as the first histogram has, and edges where those have. A group on
 * a layout would want a plan, which merging does not. */
typedef struct sum {
    uint64_t bins;
    double *edges; /* bins + 1; NULL: bare lists */
    amount *cells;
    amount flows[flow_count];
    uint64_t nulls;
} sum;

enum { field_edges, field_counts, field_flows, field_nulls = field_flows + flow_count };

static sum **sum_of(duckdb_aggregate_state state)
{
    return (sum **)state;
}

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(sum *);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    *sum_of(state) = NULL;
}

static void sum_free(sum *s)
{
    if (s) {
        free(s->edges);
        free(s->cells);
        free(s);
    }
}

static void state_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++)
        sum_free(*sum_of(states[i]));
}

static sum *sum_like(const sum *from)
{
    sum *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->bins = from->bins;
    s->cells = calloc(from->bins ? from->bins : 1, sizeof *s->cells);
    if (from->edges && (s->edges = malloc((from->bins + 1) * sizeof *s->edges)))
        memcpy(s->edges, from->edges, (from->bins + 1) * sizeof *s->edges);
    if (s->cells && !from->edges == !s->edges)
        return s;
    sum_free(s);
    return NULL;
}

static void add(amount *to, const amount *from, uint64_t count, int weighted)
{
    for (uint64_t i = 0; i < count; i++)
        if (weighted)
            to[i].sum += from[i].sum;
        else
            to[i].count += from[i].count;
}

/* NULL, or what is wrong. */
static const char *merge(sum **into, const sum *from, int weighted)
{
    if (!*into && !(*into = sum_like(from)))
        return "no memory for the bins";
    sum *s = *into;
    if (s->bins != from->bins)
        return "histograms of different numbers of bins cannot be merged";
    if (s->edges && memcmp(s->edges, from->edges, (s->bins + 1) * sizeof *s->edges) != 0)
        return "histograms with different edges cannot be merged";
    add(s->cells, from->cells, s->bins, weighted);
    add(s->flows, from->flows, flow_count, weighted);
    s->nulls += from->nulls;
    return NULL;
}

static const uint64_t *list_at(duckdb_vector vector, idx_t row, uint64_t *count)
{
    duckdb_list_entry entry = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[row];
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    uint64_t *validity = duckdb_vector_get_validity(child);
    *count = entry.length;
    for (idx_t i = entry.offset; validity && i < entry.offset + entry.length; i++)
        if (!duckdb_validity_row_is_valid(validity, i))
            return NULL;
    return (uint64_t *)duckdb_vector_get_data(child) + entry.offset;
}

/* Row `row` as a sum whose arrays are DuckDB's. NULL, or what is wrong. */
static const char *read_row(const signature *s, duckdb_vector vector, idx_t row, sum *from)
{
    uint64_t edges = 0;
    duckdb_vector counts = vector;
    *from = (sum){0};
    if (s->whole) {
        counts = duckdb_struct_vector_get_child(vector, field_counts);
        from->edges =
            (double *)list_at(duckdb_struct_vector_get_child(vector, field_edges), row, &edges);
        for (int i = 0; i < flow_count; i++)
            from->flows[i] = ((amount *)duckdb_vector_get_data(
                duckdb_struct_vector_get_child(vector, (idx_t)(field_flows + i))))[row];
        from->nulls = ((uint64_t *)duckdb_vector_get_data(
            duckdb_struct_vector_get_child(vector, field_nulls)))[row];
    }
    from->cells = (amount *)list_at(counts, row, &from->bins);
    if (!from->cells || (s->whole && !from->edges))
        return "a histogram must not hold a NULL";
    return s->whole && edges != from->bins + 1 ? "a histogram has one edge more than bins" : NULL;
}

static void update(duckdb_function_info info, duckdb_data_chunk chunk,
                   duckdb_aggregate_state *states)
{
    const signature *s = duckdb_aggregate_function_get_extra_info(info);
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    idx_t count = duckdb_data_chunk_get_size(chunk);
    for (idx_t i = 0; i < count; i++) {
        sum from;
        if (validity && !duckdb_validity_row_is_valid(validity, i))
            continue; /* as SUM does */
        const char *wrong = read_row(s, vector, i, &from);
        if (!wrong)
            wrong = merge(sum_of(states[i]), &from, s->weighted);
        if (wrong) {
            duckdb_aggregate_function_set_error(info, wrong);
            return;
        }
    }
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source,
                    duckdb_aggregate_state *target, idx_t count)
{
    const signature *s = duckdb_aggregate_function_get_extra_info(info);
    for (idx_t i = 0; i < count; i++) {
        const sum *from = *sum_of(source[i]);
        const char *wrong = from ? merge(sum_of(target[i]), from, s->weighted) : NULL;
        if (wrong) {
            duckdb_aggregate_function_set_error(info, wrong);
            return;
        }
    }
}

static int write_whole(const sum *s, duckdb_vector result, idx_t row)
{
    for (int i = 0; i < flow_count; i++) {
        duckdb_vector flow = duckdb_struct_vector_get_child(result, (idx_t)(field_flows + i));
        ((amount *)duckdb_vector_get_data(flow))[row] = s->flows[i];
    }
    ((uint64_t *)duckdb_vector_get_data(duckdb_struct_vector_get_child(result, field_nulls)))[row] =
        s->nulls;
    return answer_list(duckdb_struct_vector_get_child(result, field_edges), row, s->edges,
                       s->bins + 1) &&
           answer_list(duckdb_struct_vector_get_child(result, field_counts), row, s->cells,
                       s->bins);
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source,
                     duckdb_vector result, idx_t count, idx_t offset)
{
    const signature *s = duckdb_aggregate_function_get_extra_info(info);
    for (idx_t i = 0; i < count; i++) {
        const sum *from = *sum_of(source[i]);
        int done = !from      ? answer_write(s, NULL, result, offset + i)
                   : s->whole ? write_whole(from, result, offset + i)
                              : answer_list(result, offset + i, from->cells, from->bins);
        if (!done) {
            duckdb_aggregate_function_set_error(info, "no memory for the result");
            return;
        }
    }
}

int merge_register(duckdb_connection connection)
{
    static signature signatures[] = {{1, TALLY_F64, 0, 0, 0},
                                     {1, TALLY_F64, 0, 1, 0},
                                     {1, TALLY_F64, 0, 0, 1},
                                     {1, TALLY_F64, 0, 1, 1}};
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("tally_merge");
    int done = 1;
    for (int i = 0; i < 4; i++) {
        duckdb_aggregate_function made = duckdb_create_aggregate_function();
        duckdb_logical_type type = answer_type(&signatures[i]);
        duckdb_aggregate_function_set_name(made, "tally_merge");
        duckdb_aggregate_function_add_parameter(made, type);
        duckdb_aggregate_function_set_return_type(made, type);
        duckdb_destroy_logical_type(&type);
        duckdb_aggregate_function_set_functions(made, state_size, state_init, update, combine,
                                                finalize);
        duckdb_aggregate_function_set_destructor(made, state_destroy);
        duckdb_aggregate_function_set_special_handling(made);
        duckdb_aggregate_function_set_extra_info(made, &signatures[i], NULL);
        done = done && duckdb_add_aggregate_function_to_set(set, made) == DuckDBSuccess;
        duckdb_destroy_aggregate_function(&made);
    }
    done = done && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return done;
}
