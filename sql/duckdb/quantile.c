/* SPDX-License-Identifier: Apache-2.0 */
#include "quantile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_quantiles = 4096 };

/* What a function takes: samples of 8 bytes, and one quantile or a list. */
typedef struct kind {
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

static kept **kept_of(duckdb_aggregate_state state)
{
    return (kept **)state;
}

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(kept *);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    *kept_of(state) = NULL;
}

static void kept_free(kept *k)
{
    if (k) {
        free(k->samples);
        free(k->q);
        free(k);
    }
}

static void state_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++)
        kept_free(*kept_of(states[i]));
}

/* NULL, or what is wrong. */
static const char *append(kept *k, const uint64_t *samples, uint64_t count)
{
    if (count > k->capacity - k->count) {
        const uint64_t capacity = k->count + count + k->count / 2 + 16;
        uint64_t *larger = realloc(k->samples, capacity * sizeof *larger);
        if (!larger)
            return "no memory for the samples";
        k->samples = larger;
        k->capacity = capacity;
    }
    memcpy(k->samples + k->count, samples, count * sizeof *samples);
    k->count += count;
    return NULL;
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

/* Makes the group at its first row; NULL, or what is wrong with the quantiles. */
static const char *settle(kept **k, const double *q, uint64_t count)
{
    if (*k && (*k)->q_count == count && !memcmp((*k)->q, q, count * sizeof *q))
        return NULL;
    if (*k)
        return "the quantiles must be the same in all rows of a group";
    if (count > most_quantiles)
        return "at most 4096 quantiles are taken";
    for (uint64_t i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1))
            return "a quantile must be 0 to 1";
    *k = kept_create(q, count);
    return *k ? NULL : "no memory for the samples";
}

/* The quantiles of row i. NULL, or what is wrong. */
static const char *read_quantiles(const kind *f, duckdb_vector vector, idx_t i, const double **q,
                                  uint64_t *count)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    duckdb_vector values = vector;
    duckdb_list_entry entry = {i, 1};
    if (validity && !duckdb_validity_row_is_valid(validity, i))
        return "a quantile must not be NULL";
    if (f->list) {
        entry = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[i];
        values = duckdb_list_vector_get_child(vector);
        validity = duckdb_vector_get_validity(values);
        for (idx_t at = entry.offset; validity && at < entry.offset + entry.length; at++)
            if (!duckdb_validity_row_is_valid(validity, at))
                return "a quantile must not be NULL";
    }
    *q = (double *)duckdb_vector_get_data(values) + entry.offset;
    *count = entry.length;
    return NULL;
}

static void update(duckdb_function_info info, duckdb_data_chunk chunk,
                   duckdb_aggregate_state *states)
{
    const kind *f = duckdb_aggregate_function_get_extra_info(info);
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
    const uint64_t *samples = duckdb_vector_get_data(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    const idx_t rows = duckdb_data_chunk_get_size(chunk);
    for (idx_t i = 0; i < rows; i++) {
        const double *q = NULL;
        uint64_t count = 0;
        const char *wrong =
            read_quantiles(f, duckdb_data_chunk_get_vector(chunk, 1), i, &q, &count);
        if (!wrong)
            wrong = settle(kept_of(states[i]), q, count);
        if (!wrong && (!validity || duckdb_validity_row_is_valid(validity, i)))
            wrong = append(*kept_of(states[i]), &samples[i], 1);
        if (wrong) {
            duckdb_aggregate_function_set_error(info, wrong);
            return;
        }
    }
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source,
                    duckdb_aggregate_state *target, idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        const kept *from = *kept_of(source[i]);
        const char *wrong = from ? settle(kept_of(target[i]), from->q, from->q_count) : NULL;
        if (from && !wrong)
            wrong = append(*kept_of(target[i]), from->samples, from->count);
        if (wrong) {
            duckdb_aggregate_function_set_error(info, wrong);
            return;
        }
    }
}

/* NULL, or what is wrong. No samples: NULL in SQL. */
static const char *answer(const kind *f, const kept *k, duckdb_vector result, idx_t row,
                          tally_error *error)
{
    double found[most_quantiles];
    if (!k || !k->count) {
        answer_null(result, row);
        return NULL;
    }
    const tally_view view = tally_view_1d(k->samples, f->dtype, k->count);
    if (tally_quantiles(NULL, &view, k->q, (uint32_t)k->q_count, NULL, found, error))
        return error->message;
    if (f->list)
        return answer_list(result, row, found, k->q_count) ? NULL : "no memory for the result";
    ((double *)duckdb_vector_get_data(result))[row] = found[0];
    return NULL;
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source,
                     duckdb_vector result, idx_t count, idx_t offset)
{
    const kind *f = duckdb_aggregate_function_get_extra_info(info);
    for (idx_t i = 0; i < count; i++) {
        tally_error error = {""};
        const char *wrong = answer(f, *kept_of(source[i]), result, offset + i, &error);
        if (wrong) {
            duckdb_aggregate_function_set_error(info, wrong);
            return;
        }
    }
}

static int add_kind(duckdb_aggregate_function_set set, kind *f)
{
    duckdb_aggregate_function made = duckdb_create_aggregate_function();
    duckdb_logical_type one = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
    duckdb_logical_type list = duckdb_create_list_type(one);
    duckdb_logical_type samples = duckdb_create_logical_type(f->type);
    duckdb_aggregate_function_set_name(made, "tally_quantile");
    duckdb_aggregate_function_add_parameter(made, samples);
    duckdb_aggregate_function_add_parameter(made, f->list ? list : one);
    duckdb_aggregate_function_set_return_type(made, f->list ? list : one);
    duckdb_destroy_logical_type(&samples);
    duckdb_destroy_logical_type(&list);
    duckdb_destroy_logical_type(&one);
    duckdb_aggregate_function_set_functions(made, state_size, state_init, update, combine,
                                            finalize);
    duckdb_aggregate_function_set_destructor(made, state_destroy);
    duckdb_aggregate_function_set_special_handling(made);
    duckdb_aggregate_function_set_extra_info(made, f, NULL);
    int done = duckdb_add_aggregate_function_to_set(set, made) == DuckDBSuccess;
    duckdb_destroy_aggregate_function(&made);
    return done;
}

int quantile_register(duckdb_connection connection)
{
    static kind kinds[] = {
        {TALLY_F64, DUCKDB_TYPE_DOUBLE, 0},  {TALLY_F64, DUCKDB_TYPE_DOUBLE, 1},
        {TALLY_I64, DUCKDB_TYPE_BIGINT, 0},  {TALLY_I64, DUCKDB_TYPE_BIGINT, 1},
        {TALLY_U64, DUCKDB_TYPE_UBIGINT, 0}, {TALLY_U64, DUCKDB_TYPE_UBIGINT, 1},
    };
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("tally_quantile");
    int done = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        done = done && add_kind(set, &kinds[i]);
    done = done && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return done;
}
