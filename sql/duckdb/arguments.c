/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <string.h>

enum { most_bins = 1 << 24 };

/* Compared with themselves, one further on: the C library has vectors for that. */
int is_constant(const void *values, size_t size, uint64_t count)
{
    return count < 2 || !memcmp(values, (const char *)values + size, (count - 1) * size);
}

/* Among the first `count` values. */
static int has_null(duckdb_vector vector, uint64_t count)
{
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    uint64_t valid = UINT64_MAX;
    if (!validity || !count)
        return 0;
    for (uint64_t i = 0; i < count / 64; i++)
        valid &= validity[i];
    if (count % 64)
        valid &= validity[count / 64] | UINT64_MAX << count % 64;
    return valid != UINT64_MAX;
}

/* Eight bits as eight bytes: each keeps its own bit. */
static uint64_t spread(uint64_t bits)
{
    return bits * 0x0101010101010101 & 0x8040201008040201;
}

/* Rows where the vector is NULL are not present. */
static void note_nulls(arguments *a, duckdb_vector vector)
{
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    if (!has_null(vector, a->rows.count))
        return;
    if (!a->rows.present) {
        memset(a->present, 255, sizeof a->present);
        a->rows.present = a->present;
    }
    for (uint64_t i = 0, eight; i < a->rows.count; i += 8) {
        memcpy(&eight, a->present + i, sizeof eight);
        eight &= spread(validity[i / 64] >> i % 64 & 255);
        memcpy(a->present + i, &eight, sizeof eight);
    }
}

static int read_list(arguments *a, struct axis_arguments *axis, duckdb_vector vector,
                     tally_error *error)
{
    uint64_t count = a->rows.count;
    if (has_null(vector, count))
        return refuse(error, "edges must not be NULL");
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    if (has_null(child, duckdb_list_vector_get_size(vector)))
        return refuse(error, "edges must not hold a NULL");
    axis->lists = duckdb_vector_get_data(vector);
    axis->values = duckdb_vector_get_data(child);
    const duckdb_list_entry *first = axis->lists;
    if (is_constant(first, sizeof *first, count))
        return 1;
    for (uint64_t i = 1; i < count && a->alike; i++)
        if (axis->lists[i].offset != first->offset || axis->lists[i].length != first->length)
            a->alike = axis->lists[i].length == first->length &&
                       !memcmp(axis->values + axis->lists[i].offset, axis->values + first->offset,
                               first->length * sizeof(double));
    return 1;
}

static int read_even(arguments *a, struct axis_arguments *axis, duckdb_data_chunk chunk, idx_t at,
                     tally_error *error)
{
    for (idx_t i = at; i < at + 3; i++)
        if (has_null(duckdb_data_chunk_get_vector(chunk, i), a->rows.count))
            return refuse(error, "lo, hi and bins must not be NULL");
    axis->lo = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, at));
    axis->hi = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, at + 1));
    axis->bins = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, at + 2));
    a->alike = a->alike && is_constant(axis->lo, sizeof *axis->lo, a->rows.count) &&
               is_constant(axis->hi, sizeof *axis->hi, a->rows.count) &&
               is_constant(axis->bins, sizeof *axis->bins, a->rows.count);
    return 1;
}

int arguments_read(arguments *a, const signature *s, duckdb_data_chunk chunk, tally_error *error)
{
    idx_t at = s->dimensions;
    a->signature = s;
    a->alike = 1;
    a->rows = (rows){.count = duckdb_data_chunk_get_size(chunk)};
    if (a->rows.count > most_rows)
        return refuse(error, "a DuckDB with vectors of more than 2048 rows is not supported");
    for (uint32_t d = 0; d < s->dimensions; d++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, d);
        a->rows.samples[d] = duckdb_vector_get_data(vector);
        note_nulls(a, vector);
    }
    for (uint32_t d = 0; d < s->dimensions; d++, at += s->edges ? 1 : 3)
        if (!(s->edges ? read_list(a, &a->axes[d], duckdb_data_chunk_get_vector(chunk, at), error)
                       : read_even(a, &a->axes[d], chunk, at, error)))
            return 0;
    if (s->weighted) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, at);
        a->rows.weights = duckdb_vector_get_data(vector);
        note_nulls(a, vector);
    }
    return 1;
}

int arguments_axes(const arguments *a, uint64_t i, tally_axis *axes, tally_error *error)
{
    for (uint32_t d = 0; d < a->signature->dimensions; d++) {
        const struct axis_arguments *from = &a->axes[d];
        if (a->signature->edges) {
            duckdb_list_entry list = from->lists[i];
            if (list.length < 2 || list.length > most_bins)
                return refuse(error, "a list of edges needs 2 to 16777216 values");
            axes[d] = tally_axis_edges(list.length - 1, from->values + list.offset);
        } else if (from->bins[i] < 1 || from->bins[i] > most_bins)
            return refuse(error, "bins must be 1 to 16777216");
        else
            axes[d] = tally_axis_even((uint64_t)from->bins[i], from->lo[i], from->hi[i]);
    }
    return 1;
}
