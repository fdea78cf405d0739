/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

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

typedef struct merger {
    aggregate aggregate;
    signature signature;
} merger;

static void sum_free(void *group)
{
    sum *s = group;
    free(s->edges);
    free(s->cells);
    free(s);
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

static int merge(aggregate *of, void **into, const void *group, tally_error *error)
{
    const int weighted = ((merger *)of)->signature.weighted;
    const sum *from = group;
    if (!*into && !(*into = sum_like(from)))
        return refuse(error, "no memory for the bins");
    sum *s = *into;
    if (s->bins != from->bins)
        return refuse(error, "histograms of different numbers of bins cannot be merged");
    if (s->edges && memcmp(s->edges, from->edges, (s->bins + 1) * sizeof *s->edges) != 0)
        return refuse(error, "histograms with different edges cannot be merged");
    add(s->cells, from->cells, s->bins, weighted);
    add(s->flows, from->flows, flow_count, weighted);
    s->nulls += from->nulls;
    return 1;
}

static int is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity && !duckdb_validity_row_is_valid(validity, row);
}

/* NULL where the list holds one. */
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

/* Row `row` as a sum whose arrays are DuckDB's. */
static int read_row(const signature *s, duckdb_vector vector, idx_t row, sum *from,
                    tally_error *error)
{
    uint64_t edges = 0;
    duckdb_vector counts = vector;
    *from = (sum){0};
    for (idx_t i = 0; s->whole && i <= field_nulls; i++)
        if (is_null(duckdb_struct_vector_get_child(vector, i), row))
            return refuse(error, "a histogram must not hold a NULL");
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
        return refuse(error, "a histogram must not hold a NULL");
    return !s->whole || edges == from->bins + 1 ||
           refuse(error, "a histogram has one edge more than bins");
}

static int update(aggregate *of, duckdb_data_chunk chunk, duckdb_aggregate_state *states,
                  tally_error *error)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
    idx_t count = duckdb_data_chunk_get_size(chunk);
    for (idx_t i = 0; i < count; i++) {
        sum from;
        if (is_null(vector, i))
            continue; /* as SUM does */
        if (!read_row(&((merger *)of)->signature, vector, i, &from, error) ||
            !merge(of, aggregate_group(states[i]), &from, error))
            return 0;
    }
    return 1;
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

static int answer(aggregate *of, void *group, duckdb_vector result, idx_t row, tally_error *error)
{
    const signature *s = &((merger *)of)->signature;
    const sum *from = group;
    int done = !from      ? answer_write(s, NULL, result, row)
               : s->whole ? write_whole(from, result, row)
                          : answer_list(result, row, from->cells, from->bins);
    return done || refuse(error, "no memory for the result");
}

int merge_register(duckdb_connection connection)
{
    static merger mergers[4];
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("tally_merge");
    int done = 1;
    for (int i = 0; i < 4; i++) {
        mergers[i].aggregate = (aggregate){update, merge, answer, sum_free};
        mergers[i].signature = (signature){1, TALLY_F64, 0, i & 1, i >> 1};
        duckdb_logical_type type = answer_type(&mergers[i].signature);
        done = done && aggregate_add(set, "tally_merge", &mergers[i].aggregate, &type, 1,
                                     answer_type(&mergers[i].signature));
    }
    return aggregate_register(connection, set, done);
}
