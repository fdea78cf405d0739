/* SPDX-License-Identifier: Apache-2.0 */
/* Results with a histogram for each value of a column (tally_result_by), before they are added:
 * both get the groups of either, in the order that one run over all samples has. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/result.h"

#define NOWHERE UINT64_MAX

typedef struct group {
    const char *name;
    uint64_t samples; /* of both */
    uint64_t at[2];   /* its histogram in the first and second, or NOWHERE */
} group;

tally_status ty_result_check_groups(const tally_result *a, const tally_result *b, int *same,
                                    tally_error *error)
{
    if (strcmp(a->by, b->by) != 0)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the groups are of the columns \"%.*s\" in the first and \"%.*s\" in the "
                        "second; only groups of the same columns add up",
                        ty_text_fit(a->by, 64), a->by, ty_text_fit(b->by, 64), b->by);
    if (a->others || b->others)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the %s has several groups in one histogram, of which nobody knows how "
                        "many each is; merge results that were counted without --top",
                        a->others ? "first" : "second");
    *same = a->histograms == b->histograms;
    for (uint64_t h = 0; *same && h < a->histograms; h++)
        *same = strcmp(a->names[h], b->names[h]) == 0;
    return TALLY_OK;
}

static int by_name(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int by_samples(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples) - (x->samples > y->samples)
                                    : by_name(a, b);
}

/* Adds those of one of the two. A histogram without samples, as there is where no row has a group,
 * is none. */
static void take(const tally_result *r, int which, group *groups, uint64_t *count)
{
    for (uint64_t h = 0; h < r->histograms; h++) {
        const uint64_t *counts = (const uint64_t *)r->counts + h * r->bins;
        group g = {.name = r->names[h], .at = {NOWHERE, NOWHERE}};
        for (uint64_t b = 0; b < r->bins; b++)
            g.samples = ty_add_sticky(g.samples, counts[b]);
        for (int f = 0; f < 4; f++)
            g.samples = ty_add_sticky(g.samples, ty_result_flow_count(r, h, f));
        g.at[which] = h;
        if (g.samples)
            groups[(*count)++] = g;
    }
}

/* The groups of both, each once, the most samples first. */
static tally_status unite(const tally_result *a, const tally_result *b, group *groups,
                          uint64_t *count, tally_error *error)
{
    uint64_t all = 0, kept = 0;
    take(a, 0, groups, &all);
    take(b, 1, groups, &all);
    if (!all)
        groups[all++] = (group){a->names[0], 0, {0, NOWHERE}};
    qsort(groups, (size_t)all, sizeof *groups, by_name);
    for (uint64_t i = 0; i < all; i++) {
        group *last = kept ? &groups[kept - 1] : NULL;
        const int which = groups[i].at[0] == NOWHERE;
        if (!last || strcmp(last->name, groups[i].name) != 0) {
            groups[kept++] = groups[i];
            continue;
        }
        if (last->at[which] != NOWHERE)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "the %s has two groups that are called \"%.*s\"; only different names "
                            "tell which add up",
                            which ? "second" : "first", ty_text_fit(last->name, 64), last->name);
        last->at[which] = groups[i].at[which];
        last->samples = ty_add_sticky(last->samples, groups[i].samples);
    }
    qsort(groups, (size_t)kept, sizeof *groups, by_samples);
    *count = kept;
    return TALLY_OK;
}

/* One of the two with these groups, empty where it has none. */
static tally_status place(const tally_result *r, int which, const group *groups, uint64_t count,
                          const char *const *names, tally_result **placed, tally_error *error)
{
    ty_result_shape shape = {.dimensions = r->dimensions,
                             .axes = r->axes,
                             .kind = r->kind,
                             .dtype = r->dtype,
                             .histograms = count,
                             .names = names,
                             .by = r->by};
    memcpy(shape.labels, r->labels, sizeof shape.labels);
    memcpy(shape.times, r->times, sizeof shape.times);
    tally_result *made;
    tally_status status = ty_result_create(&shape, &made, error);
    if (status)
        return status;
    made->counter = r->counter;
    for (uint64_t g = 0; g < count; g++) {
        const uint64_t at = groups[g].at[which];
        if (at == NOWHERE)
            continue;
        memcpy((uint64_t *)made->counts + g * r->bins, (const uint64_t *)r->counts + at * r->bins,
               r->bins * sizeof(uint64_t));
        made->flows[g] = r->flows[at];
    }
    status = ty_result_add_notes(made, r, error);
    if (status)
        tally_result_destroy(made);
    else
        *placed = made;
    return status;
}

tally_status ty_result_unite_groups(const tally_result *a, const tally_result *b,
                                    tally_result **new_a, tally_result **new_b, tally_error *error)
{
    const uint64_t most = a->histograms + b->histograms;
    uint64_t count = 0;
    group *groups = ty_calloc((size_t)most, sizeof *groups);
    const char **names = ty_calloc((size_t)most, sizeof(const char *));
    tally_status status = TALLY_OK;
    if (!groups || !names)
        status = ty_error_memory(error, "the groups of two results", most * sizeof *groups);
    if (!status)
        status = unite(a, b, groups, &count, error);
    for (uint64_t g = 0; g < count; g++)
        names[g] = groups[g].name;
    if (!status)
        status = place(a, 0, groups, count, names, new_a, error);
    if (!status) {
        status = place(b, 1, groups, count, names, new_b, error);
        if (status)
            tally_result_destroy(*new_a);
    }
    ty_free(groups);
    ty_free(names);
    return status;
}
