/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

enum { field_edges, field_counts, field_below, field_above, field_nan, field_nulls, fields };

/* `type` as a list of lists …, `depth` times. Takes `type`. */
static duckdb_logical_type listed(duckdb_logical_type type, uint32_t depth)
{
    while (depth-- > 0) {
        duckdb_logical_type list = duckdb_create_list_type(type);
        duckdb_destroy_logical_type(&type);
        type = list;
    }
    return type;
}

duckdb_logical_type answer_type(const signature *s)
{
    const char *names[fields] = {"edges", "counts", "below", "above", "nan", "nulls"};
    duckdb_type amount = s->weighted ? DUCKDB_TYPE_DOUBLE : DUCKDB_TYPE_UBIGINT;
    duckdb_logical_type counts = listed(duckdb_create_logical_type(amount), s->dimensions);
    if (!s->whole)
        return counts;
    duckdb_logical_type types[fields], whole;
    types[field_edges] =
        listed(duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE), s->dimensions > 1 ? 2 : 1);
    types[field_counts] = counts;
    for (int i = field_below; i < field_nulls; i++)
        types[i] = duckdb_create_logical_type(amount);
    types[field_nulls] = duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT);
    whole = duckdb_create_struct_type(types, names, fields);
    for (int i = 0; i < fields; i++)
        duckdb_destroy_logical_type(&types[i]);
    return whole;
}

/* Appends `count` elements to the lists' child, as the list of `row`; returns the first's index in
 * *at. */
static int append(duckdb_vector result, idx_t row, uint64_t count, idx_t *at)
{
    *at = duckdb_list_vector_get_size(result);
    if (duckdb_list_vector_reserve(result, *at + count) == DuckDBError ||
        duckdb_list_vector_set_size(result, *at + count) == DuckDBError)
        return 0;
    ((duckdb_list_entry *)duckdb_vector_get_data(result))[row] = (duckdb_list_entry){*at, count};
    return 1;
}

int answer_list(duckdb_vector result, idx_t row, const void *values, uint64_t count)
{
    idx_t at;
    if (!append(result, row, count, &at))
        return 0;
    uint64_t *to = duckdb_vector_get_data(duckdb_list_vector_get_child(result));
    memcpy(to + at, values, count * sizeof *to);
    return 1;
}

void answer_null(duckdb_vector result, idx_t row)
{
    duckdb_vector_ensure_validity_writable(result);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(result), row);
}

/* Cells of `left` axes, the last one innermost. */
static int write_cells(const tally_axis *axis, uint32_t left, const amount *cells, uint64_t count,
                       duckdb_vector result, idx_t row)
{
    uint64_t each = count / axis->bins;
    idx_t at;
    if (left == 1)
        return answer_list(result, row, cells, axis->bins);
    if (!append(result, row, axis->bins, &at))
        return 0;
    duckdb_vector child = duckdb_list_vector_get_child(result);
    for (uint64_t i = 0; i < axis->bins; i++)
        if (!write_cells(axis + 1, left - 1, cells + i * each, each, child, at + i))
            return 0;
    return 1;
}

static int write_axis(const tally_axis *axis, duckdb_vector result, idx_t row)
{
    double *edges = malloc((axis->bins + 1) * sizeof *edges);
    int done = edges && !tally_axis_edges_get(axis, edges, NULL) &&
               answer_list(result, row, edges, axis->bins + 1);
    free(edges);
    return done;
}

static int write_edges(const layout *l, duckdb_vector result, idx_t row)
{
    idx_t at;
    if (l->dimensions == 1)
        return write_axis(&l->axes[0], result, row);
    if (!append(result, row, l->dimensions, &at))
        return 0;
    for (uint32_t d = 0; d < l->dimensions; d++)
        if (!write_axis(&l->axes[d], duckdb_list_vector_get_child(result), at + d))
            return 0;
    return 1;
}

static int write_null(const signature *s, duckdb_vector result, idx_t row)
{
    answer_null(result, row);
    for (int i = 0; s->whole && i < fields; i++)
        answer_null(duckdb_struct_vector_get_child(result, (idx_t)i), row);
    return 1;
}

int answer_write(const signature *s, const group *g, duckdb_vector result, idx_t row)
{
    if (!g)
        return write_null(s, result, row);
    const layout *l = g->layout;
    if (!s->whole)
        return write_cells(l->axes, l->dimensions, g->cells, l->cells, result, row);
    for (int i = 0; i < flow_count; i++) {
        duckdb_vector flow = duckdb_struct_vector_get_child(result, (idx_t)(field_below + i));
        ((amount *)duckdb_vector_get_data(flow))[row] = g->flows[i];
    }
    duckdb_vector nulls = duckdb_struct_vector_get_child(result, field_nulls);
    ((uint64_t *)duckdb_vector_get_data(nulls))[row] = g->nulls;
    return write_edges(l, duckdb_struct_vector_get_child(result, field_edges), row) &&
           write_cells(l->axes, l->dimensions, g->cells, l->cells,
                       duckdb_struct_vector_get_child(result, field_counts), row);
}
