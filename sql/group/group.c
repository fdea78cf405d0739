/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One context for all queries: DuckDB's threads call, so it has no threads of its own. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static tally_context *context;

static void open_context(void)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 1;
    if (tally_context_create(&options, &context, NULL))
        context = NULL;
}

/* ---- layouts ---- */

static int copy_axes(layout *l, const tally_axis *axes)
{
    l->cells = 1;
    for (uint32_t d = 0; d < l->dimensions; d++) {
        tally_axis *axis = &l->axes[d];
        *axis = axes[d];
        l->cells *= axis->bins;
        if (axis->kind == TALLY_AXIS_EVEN)
            continue;
        l->edges[d] = malloc((axis->bins + 1) * sizeof *l->edges[d]);
        if (!l->edges[d])
            return 0;
        axis->edges = memcpy(l->edges[d], axis->edges, (axis->bins + 1) * sizeof *l->edges[d]);
    }
    return 1;
}

static void layout_free(layout *l)
{
    tally_plan_destroy(l->plan);
    for (uint32_t d = 0; d < l->dimensions; d++)
        free(l->edges[d]);
    free(l);
}

layout *layout_create(uint32_t dimensions, const tally_axis *axes, tally_dtype dtype, int weighted,
                      tally_error *error)
{
    pthread_once(&once, open_context);
    layout *l = calloc(1, sizeof *l);
    if (!l || !context) {
        free(l);
        strcpy(error->message, "no memory for the axes");
        return NULL;
    }
    l->users = 1;
    l->dimensions = dimensions;
    l->weighted = weighted;
    l->dtype = dtype;
    l->bytes = tally_dtype_bytes(dtype);
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    options.dimensions = dimensions;
    options.weight_dtype = weighted ? TALLY_F64 : 0;
    for (uint32_t d = 0; d < dimensions; d++)
        options.dtypes[d] = dtype;
    if (!copy_axes(l, axes))
        strcpy(error->message, "no memory for the edges");
    else {
        memcpy(options.axes, l->axes, sizeof l->axes);
        if (!tally_plan_create(context, &options, &l->plan, error))
            return l;
    }
    layout_free(l);
    return NULL;
}

layout *layout_retain(layout *l)
{
    atomic_fetch_add(&l->users, 1);
    return l;
}

void layout_release(layout *l)
{
    if (l && atomic_fetch_sub(&l->users, 1) == 1)
        layout_free(l);
}

static int is_same_axis(const tally_axis *a, const tally_axis *b)
{
    if (a->kind != b->kind || a->bins != b->bins)
        return 0;
    if (a->kind == TALLY_AXIS_EVEN)
        return a->lo == b->lo && a->hi == b->hi;
    return !memcmp(a->edges, b->edges, (a->bins + 1) * sizeof(double));
}

int layout_is(const layout *l, const tally_axis *axes)
{
    for (uint32_t d = 0; d < l->dimensions; d++)
        if (!is_same_axis(&l->axes[d], &axes[d]))
            return 0;
    return 1;
}

/* ---- groups ---- */

group *group_create(layout *l)
{
    group *g = calloc(1, sizeof *g);
    amount *cells = calloc(l->cells, sizeof *cells);
    if (!g || !cells) {
        free(g);
        free(cells);
        return NULL;
    }
    g->layout = layout_retain(l);
    g->cells = cells;
    return g;
}

void group_destroy(group *g)
{
    if (!g)
        return;
    layout_release(g->layout);
    free(g->cells);
    free((void *)g->waiting.samples[0]); /* all columns */
    free(g);
}

/* ---- rows that are counted at once ---- */

static const void *sample_at(const layout *l, const rows *r, uint32_t d, uint64_t i)
{
    return (const unsigned char *)r->samples[d] + i * l->bytes;
}

static tally_status count_rows(group *g, const rows *r, uint64_t begin, uint64_t end,
                               tally_error *error)
{
    const layout *l = g->layout;
    tally_view views[most_dimensions], weights, mask;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_flows flows = {0, 0, 0, 0};
    double sums[flow_count + 1] = {0};
    for (uint32_t d = 0; d < l->dimensions; d++)
        views[d] = tally_view_1d(sample_at(l, r, d, begin), l->dtype, end - begin);
    if (r->present) {
        mask = tally_view_1d(r->present + begin, TALLY_U8, end - begin);
        options.mask = &mask;
    }
    if (l->weighted) {
        weights = tally_view_1d(r->weights + begin, TALLY_F64, end - begin);
        options.weights = &weights;
        output.flow_sums = sums;
    }
    output.counts = g->cells;
    output.flows = &flows;
    output.accumulate = TALLY_ACCUMULATE_ADD;
    tally_status status = tally_execute(l->plan, views, &options, &output, error);
    if (status)
        return status;
    const uint64_t outside[flow_count] = {flows.under, flows.over, flows.nan};
    for (int i = 0; i < flow_count; i++)
        if (l->weighted)
            g->flows[i].sum += sums[i];
        else
            g->flows[i].count += outside[i];
    g->nulls += flows.masked;
    return TALLY_OK;
}

/* ---- rows that wait ---- */

enum { least_room = 16 }; /* times 4 is most_waiting, again and again */

static void copy_sample(void *to, const void *from, size_t bytes)
{
    switch (bytes) { /* of a number that the compiler knows it makes no call */
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

/* Puts row i behind those of `to`, which has room. */
static void append(const layout *l, rows *to, const rows *from, uint64_t i)
{
    const uint64_t at = to->count++;
    for (uint32_t d = 0; d < l->dimensions; d++)
        copy_sample((void *)sample_at(l, to, d, at), sample_at(l, from, d, i), l->bytes);
    if (l->weighted)
        memcpy((void *)&to->weights[at], &from->weights[i], sizeof *to->weights);
}

tally_status group_finish(group *g, tally_error *error)
{
    const uint64_t count = g->waiting.count;
    g->waiting.count = 0;
    return count ? count_rows(g, &g->waiting, 0, count, error) : TALLY_OK;
}

/* Room for another row: more of it, or all that wait are counted. */
static tally_status make_room(group *g, tally_error *error)
{
    const layout *l = g->layout;
    if (g->room == most_waiting)
        return group_finish(g, error);
    const uint64_t room = g->room ? 4 * g->room : least_room;
    unsigned char *column =
        malloc(room * (l->dimensions * l->bytes + (l->weighted ? sizeof(double) : 0)));
    rows larger = {.samples = {column}};
    if (!column) {
        strcpy(error->message, "no memory for the rows");
        return TALLY_ERROR_MEMORY;
    }
    for (uint32_t d = 0; d < l->dimensions; d++, column += room * l->bytes)
        larger.samples[d] = column;
    larger.weights = l->weighted ? (const double *)(const void *)column : NULL;
    for (uint64_t i = 0; i < g->waiting.count; i++)
        append(l, &larger, &g->waiting, i);
    free((void *)g->waiting.samples[0]);
    g->waiting = larger;
    g->room = room;
    return TALLY_OK;
}

tally_status group_add(group *g, const rows *r, uint64_t begin, uint64_t end, tally_error *error)
{
    if (end - begin >= most_waiting)
        return count_rows(g, r, begin, end, error);
    for (uint64_t i = begin; i < end; i++) {
        if (r->present && !r->present[i]) {
            g->nulls++;
            continue;
        }
        tally_status status = g->waiting.count == g->room ? make_room(g, error) : TALLY_OK;
        if (status)
            return status;
        append(g->layout, &g->waiting, r, i);
    }
    return TALLY_OK;
}

/* `from` stays as it is: DuckDB's windows add it to several, by several threads. */
tally_status group_merge(group *into, const group *from, tally_error *error)
{
    const uint64_t cells = into->layout->cells;
    if (into->layout->weighted) {
        for (uint64_t i = 0; i < cells; i++)
            into->cells[i].sum += from->cells[i].sum;
        for (int i = 0; i < flow_count; i++)
            into->flows[i].sum += from->flows[i].sum;
    } else {
        for (uint64_t i = 0; i < cells; i++)
            into->cells[i].count += from->cells[i].count;
        for (int i = 0; i < flow_count; i++)
            into->flows[i].count += from->flows[i].count;
    }
    into->nulls += from->nulls;
    return group_add(into, &from->waiting, 0, from->waiting.count, error);
}
