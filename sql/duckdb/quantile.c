/* SPDX-License-Identifier: Apache-2.0 */
#include "quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_quantiles = 4096 };

/* What a function takes: samples of 8 bytes, and one quantile or a list. */
typedef struct kind {
    aggregate aggregate;
    tally_dtype dtype;
    duckdb_type type;
    int list;
} kind;

/* A group keeps its samples: they are selected among at the end. */
typedef struct kept {
    uint64_t *samples;
    uint64_t count, capacity;
    double *q; /* of the first row */
    uint64_t q_count;
} kept;

static void kept_free(void *group)
{
    kept *k = group;
    free(k->samples);
    free(k->q);
    free(k);
}

static int append(kept *k, const uint64_t *samples, uint64_t count, tally_error *error)
{
    if (count > k->capacity - k->count) {
        const uint64_t capacity = k->count + count + k->count / 2 + 16;
        uint64_t *larger = realloc(k->samples, capacity * sizeof *larger);
        if (!larger)
            return refuse(error, "no memory for the samples");
        k->samples = larger;
        k->capacity = capacity;
    }
    memcpy(k->samples + k->count, samples, count * sizeof *samples);
    k->count += count;
    return 1;
}

static kept *kept_create(const double *q, uint64_t count)
{
    kept *k = calloc(1, sizeof *k);
    if (k && (k->q = malloc((count + 1) * sizeof *q))) {
        memcpy(k->q, q, count * sizeof *q);
        k->q_count = count;
        return k;
    }
    free(k);
    return NULL;
}

/* Makes the group at its first row. */
static int settle(void **group, const double *q, uint64_t count, tally_error *error)
{
    const kept *k = *group;
    if (k)
        return (k->q_count == count && !memcmp(k->q, q, count * sizeof *q)) ||
               refuse(error, "the quantiles must be the same in all rows of a group");
    if (count > most_quantiles)
        return refuse(error, "at most 4096 quantiles are taken");
    for (uint64_t i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1))
            return refuse(error, "a quantile must be 0 to 1");
    *group = kept_create(q, count);
    return *group || refuse(error, "no memory for the samples");
}

/* The quantiles of row i. */
static int read_quantiles(const kind *f, duckdb_vector vector, idx_t i, const double **q,
                          uint64_t *count, tally_error *error)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    duckdb_vector values = vector;
    duckdb_list_entry entry = {i, 1};
    if (validity && !duckdb_validity_row_is_valid(validity, i))
        return refuse(error, "a quantile must not be NULL");
    if (f->list) {
        entry = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[i];
        values = duckdb_list_vector_get_child(vector);
        validity = duckdb_vector_get_validity(values);
        for (idx_t at = entry.offset; validity && at < entry.offset + entry.length; at++)
            if (!duckdb_validity_row_is_valid(validity, at))
                return refuse(error, "a quantile must not be NULL");
    }
    *q = (double *)duckdb_vector_get_data(values) + entry.offset;
    *count = entry.length;
    return 1;
}

static int update(aggregate *of, duckdb_data_chunk chunk, duckdb_aggregate_state *states,
                  tally_error *error)
{
    const kind *f = (kind *)of;
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
    duckdb_vector quantiles = duckdb_data_chunk_get_vector(chunk, 1);
    const uint64_t *samples = duckdb_vector_get_data(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    const idx_t rows = duckdb_data_chunk_get_size(chunk);
    for (idx_t i = 0; i < rows; i++) {
        void **k = aggregate_group(states[i]);
        const double *q = NULL;
        uint64_t count = 0;
        if (!read_quantiles(f, quantiles, i, &q, &count, error) || !settle(k, q, count, error))
            return 0;
        if ((!validity || duckdb_validity_row_is_valid(validity, i)) &&
            !append(*k, &samples[i], 1, error))
            return 0;
    }
    return 1;
}

static int merge(aggregate *of, void **into, const void *group, tally_error *error)
{
    const kept *from = group;
    (void)of;
    return settle(into, from->q, from->q_count, error) &&
           (!from->count || append(*into, from->samples, from->count, error));
}

/* No samples: NULL in SQL. */
static int answer(aggregate *of, void *group, duckdb_vector result, idx_t row, tally_error *error)
{
    const kind *f = (kind *)of;
    const kept *k = group;
    double found[most_quantiles];
    if (!k || !k->count) {
        answer_null(result, row);
        return 1;
    }
    const tally_view view = tally_view_1d(k->samples, f->dtype, k->count);
    if (tally_quantiles(NULL, &view, k->q, (uint32_t)k->q_count, NULL, found, error))
        return 0;
    if (f->list)
        return answer_list(result, row, found, k->q_count) ||
               refuse(error, "no memory for the result");
    ((double *)duckdb_vector_get_data(result))[row] = found[0];
    return 1;
}

static int add_kind(duckdb_aggregate_function_set set, kind *f)
{
    duckdb_logical_type parameters[] = {duckdb_create_logical_type(f->type),
                                        aggregate_type(DUCKDB_TYPE_DOUBLE, f->list)};
    f->aggregate = (aggregate){update, merge, answer, kept_free};
    return aggregate_add(set, "tally_quantile", &f->aggregate, parameters, 2,
                         aggregate_type(DUCKDB_TYPE_DOUBLE, f->list));
}

int quantile_register(duckdb_connection connection)
{
    static kind kinds[] = {
        {.dtype = TALLY_F64, .type = DUCKDB_TYPE_DOUBLE},
        {.dtype = TALLY_F64, .type = DUCKDB_TYPE_DOUBLE, .list = 1},
        {.dtype = TALLY_I64, .type = DUCKDB_TYPE_BIGINT},
        {.dtype = TALLY_I64, .type = DUCKDB_TYPE_BIGINT, .list = 1},
        {.dtype = TALLY_U64, .type = DUCKDB_TYPE_UBIGINT},
        {.dtype = TALLY_U64, .type = DUCKDB_TYPE_UBIGINT, .list = 1},
    };
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("tally_quantile");
    int done = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        done = done && add_kind(set, &kinds[i]);
    return aggregate_register(connection, set, done);
}
