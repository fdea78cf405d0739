/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate.h"

#include <stdint.h>
#include <stdio.h>

/* DuckDB keeps these bytes for each group, and may move them. */
typedef struct slot {
    void *group;
    const aggregate *of; /* who frees it */
} slot;

void **aggregate_group(duckdb_aggregate_state state)
{
    return &((slot *)state)->group;
}

int refuse(tally_error *error, const char *words)
{
    snprintf(error->message, sizeof error->message, "%s", words);
    return 0;
}

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(slot);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    *(slot *)state = (slot){NULL, duckdb_aggregate_function_get_extra_info(info)};
}

static void state_destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        slot *s = (slot *)states[i];
        if (s->group)
            s->of->destroy(s->group);
        *s = (slot){NULL, NULL};
    }
}

static int is_state(const aggregate *a, duckdb_aggregate_state state)
{
    const uintptr_t at = (uintptr_t)state;
    return at >= 4096 && at % sizeof(void *) == 0 && at >> 48 == 0 &&
           ((const slot *)state)->of == a;
}

/* DuckDB 1 hands over one state instead of one a row where a window's frame is the whole partition,
 * and for ORDER BY among the arguments (its issue 21537). What lies behind that one is any bytes:
 * the first of them mostly show it, and this is an error instead of a crash. */
static int check_states(const aggregate *a, const duckdb_aggregate_state *states, idx_t rows,
                        tally_error *error)
{
    for (idx_t i = 1; i < rows && i < 4; i++)
        if (!is_state(a, states[i]))
            return refuse(error, "DuckDB 1 cannot call this aggregate for a whole partition, nor "
                                 "with ORDER BY in it: use GROUP BY, or DuckDB 2");
    return 1;
}

static void update(duckdb_function_info info, duckdb_data_chunk chunk,
                   duckdb_aggregate_state *states)
{
    aggregate *a = duckdb_aggregate_function_get_extra_info(info);
    tally_error error = {""};
    if (!check_states(a, states, duckdb_data_chunk_get_size(chunk), &error) ||
        !a->update(a, chunk, states, &error))
        duckdb_aggregate_function_set_error(info, error.message);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source,
                    duckdb_aggregate_state *target, idx_t count)
{
    aggregate *a = duckdb_aggregate_function_get_extra_info(info);
    tally_error error = {""};
    int done = 1;
    for (idx_t i = 0; i < count && done; i++) {
        const void *from = *aggregate_group(source[i]);
        done = !from || a->merge(a, aggregate_group(target[i]), from, &error);
    }
    if (!done)
        duckdb_aggregate_function_set_error(info, error.message);
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source,
                     duckdb_vector result, idx_t count, idx_t offset)
{
    aggregate *a = duckdb_aggregate_function_get_extra_info(info);
    tally_error error = {""};
    int done = 1;
    for (idx_t i = 0; i < count && done; i++)
        done = a->answer(a, *aggregate_group(source[i]), result, offset + i, &error);
    if (!done)
        duckdb_aggregate_function_set_error(info, error.message);
}

duckdb_logical_type aggregate_type(duckdb_type type, int list)
{
    duckdb_logical_type one = duckdb_create_logical_type(type);
    if (!list)
        return one;
    duckdb_logical_type all = duckdb_create_list_type(one);
    duckdb_destroy_logical_type(&one);
    return all;
}

int aggregate_add(duckdb_aggregate_function_set set, const char *name, aggregate *a,
                  duckdb_logical_type *parameters, idx_t count, duckdb_logical_type answer)
{
    duckdb_aggregate_function made = duckdb_create_aggregate_function();
    duckdb_aggregate_function_set_name(made, name);
    for (idx_t i = 0; i < count; i++) {
        duckdb_aggregate_function_add_parameter(made, parameters[i]);
        duckdb_destroy_logical_type(&parameters[i]);
    }
    duckdb_aggregate_function_set_return_type(made, answer);
    duckdb_destroy_logical_type(&answer);
    duckdb_aggregate_function_set_functions(made, state_size, state_init, update, combine,
                                            finalize);
    duckdb_aggregate_function_set_destructor(made, state_destroy);
    duckdb_aggregate_function_set_special_handling(made); /* NULLs are counted here */
    duckdb_aggregate_function_set_extra_info(made, a, NULL);
    int added = duckdb_add_aggregate_function_to_set(set, made) == DuckDBSuccess;
    duckdb_destroy_aggregate_function(&made);
    return added;
}

int aggregate_register(duckdb_connection connection, duckdb_aggregate_function_set set, int added)
{
    int done = added && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return done;
}
