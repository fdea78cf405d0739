/* SPDX-License-Identifier: Apache-2.0 */
/* Adding one result to another: everything is checked before anything changes. */
#include "io/result.h"

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/dates.h"
#include "io/profile.h"

static tally_status differ(tally_error *error, uint32_t d, const char *what, const char *into,
                           const char *from)
{
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "axis %u: %s is %s in the first and %s in the second; only results of the same "
                    "axes add up",
                    d, what, into, from);
}

/* A clamped end bin holds other samples than a plain one; counting apart and failing agree, for
 * with failing there was nothing to count. */
static tally_status check_policies(const tally_axis *a, const tally_axis *b, uint32_t d,
                                   tally_error *error)
{
    if (a->last != b->last)
        return differ(error, d, "the last edge", a->last ? "open" : "closed",
                      b->last ? "open" : "closed");
    if ((a->under == TALLY_FLOW_CLAMP) != (b->under == TALLY_FLOW_CLAMP))
        return differ(error, d, "the policy for samples below", ty_flow_name(a->under),
                      ty_flow_name(b->under));
    if ((a->over == TALLY_FLOW_CLAMP) != (b->over == TALLY_FLOW_CLAMP))
        return differ(error, d, "the policy for samples above", ty_flow_name(a->over),
                      ty_flow_name(b->over));
    return TALLY_OK;
}

static tally_status check_axis(const tally_axis *a, const tally_axis *b, uint32_t d, int words,
                               tally_error *error)
{
    if (a->kind != b->kind)
        return differ(error, d, "the kind", ty_axis_kind_name(a->kind), ty_axis_kind_name(b->kind));
    if (words)
        return TALLY_OK; /* all the same but for the labels, which ty_result_unite sees to */
    if (a->bins != b->bins)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64 " bins in the first and %" PRIu64
                        " in the second; only results of the same axes add up",
                        d, a->bins, b->bins);
    for (uint64_t i = 0; i <= a->bins; i++)
        if (tally_axis_edge(a, i) != tally_axis_edge(b, i))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: edge %" PRIu64
                            " is %.17g in the first and %.17g in the second; "
                            "only results of the same axes add up",
                            d, i, tally_axis_edge(a, i), tally_axis_edge(b, i));
    if (a->categories && memcmp(a->categories, b->categories, 256 * sizeof *a->categories) != 0)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "axis %u: the two put bytes in different categories; only results of the same "
            "axes add up",
            d);
    return check_policies(a, b, d, error);
}

static const char *kind_name(const tally_result *r)
{
    return r->kind == TALLY_RESULT_COUNTS     ? ty_counter_name(r->counter)
           : r->kind == TALLY_RESULT_SUMS_F64 ? "f64 sums"
                                              : "i64 sums";
}

static const char *time_name(const tally_result *r, uint32_t d)
{
    return r->times[d] ? ty_time_name(r->times[d]) : "none";
}

/* What decides the unit of wide sums; of others less than any. */
static int exponent_of(const tally_result *r)
{
    int exponent = INT_MIN;
    if (r->wide)
        frexp(r->weight_limit, &exponent);
    return exponent;
}

/* *united: the labels of words and the groups are the same, too. */
static tally_status check_same(const tally_result *into, const tally_result *from, int *united,
                               tally_error *error)
{
    const char *more = into->only_python ? into->only_python : from->only_python;
    *united = 1;
    if (more)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "Python's Hist saved it with %s, which its libtally.merge adds and this does not",
            more);
    if (into->kind != from->kind || into->counter != from->counter)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the first holds %s and the second %s; only results of one kind add up",
                        kind_name(into), kind_name(from));
    if (exponent_of(into) != exponent_of(from))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the first's sums have a weight_limit of %g and the second's %g (0: none); "
                        "only sums of one limit add up",
                        into->weight_limit, from->weight_limit);
    if (!into->squares != !from->squares)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the %s has no sums of squares and the other has; count both with them",
                        into->squares ? "second" : "first");
    if (into->dimensions != from->dimensions)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "the first has %u dimensions and the second %u; only results of the same axes "
            "add up",
            into->dimensions, from->dimensions);
    for (uint32_t d = 0; d < into->dimensions; d++) {
        int same = 1;
        tally_status status = ty_result_check_labels(into, from, d, &same, error);
        if (!status && into->times[d] != from->times[d])
            status = differ(error, d, "the unit of time", time_name(into, d), time_name(from, d));
        if (!status)
            status = check_axis(&into->axes[d], &from->axes[d], d, into->labels[d] != NULL, error);
        if (status)
            return status;
        *united &= same;
    }
    tally_status status = ty_profile_check_same(into, from, error);
    if (status)
        return status;
    if (into->by && from->by) {
        int same;
        status = ty_result_check_groups(into, from, &same, error);
        *united &= same;
        return status;
    }
    if (into->histograms != from->histograms)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the first has %" PRIu64 " histograms and the second %" PRIu64
                        "; only the same channels add up",
                        into->histograms, from->histograms);
    for (uint64_t h = 0; h < into->histograms; h++)
        if (strcmp(into->names[h], from->names[h]) != 0)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "histogram %" PRIu64
                            " is named \"%.*s\" in the first and \"%.*s\" in the "
                            "second; only the same channels add up",
                            h, ty_text_fit(into->names[h], 64), into->names[h],
                            ty_text_fit(from->names[h], 64), from->names[h]);
    return TALLY_OK;
}

static tally_status past(tally_error *error, const tally_result *r, uint64_t cell,
                         const char *limit)
{
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "histogram %" PRIu64 ", bin %" PRIu64
                    ": the sum would pass %s; nothing was added",
                    cell / r->bins, cell % r->bins, limit);
}

static tally_status check_counts(const tally_result *into, const tally_result *from,
                                 tally_error *error)
{
    uint64_t cells = into->histograms * into->bins;
    if (into->kind == TALLY_RESULT_SUMS_I64) {
        const int64_t *a = into->counts, *b = from->counts;
        for (uint64_t i = 0; i < cells; i++)
            if (b[i] > 0 ? a[i] > INT64_MAX - b[i] : a[i] < INT64_MIN - b[i])
                return past(error, into, i, "int64's range");
    } else if (into->kind == TALLY_RESULT_COUNTS && !ty_counter_saturates(into->counter)) {
        const uint64_t *a = into->counts, *b = from->counts;
        uint64_t limit = ty_counter_limit(into->counter);
        for (uint64_t i = 0; i < cells; i++)
            if (a[i] > limit || b[i] > limit - a[i])
                return past(error, into, i, limit == UINT64_MAX ? "2^64-1" : "2^32-1");
    }
    for (uint64_t h = 0; h < into->histograms; h++) {
        const tally_flows *a = &into->flows[h], *b = &from->flows[h];
        if (a->under > UINT64_MAX - b->under || a->over > UINT64_MAX - b->over ||
            a->nan > UINT64_MAX - b->nan || a->masked > UINT64_MAX - b->masked)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "histogram %" PRIu64
                            ": samples outside the bins would pass 2^64-1; nothing "
                            "was added",
                            h);
    }
    const int64_t *a = into->flow_sums, *b = from->flow_sums;
    for (uint64_t i = 0; into->kind == TALLY_RESULT_SUMS_I64 && a && b && i < 4 * into->histograms;
         i++)
        if (b[i] > 0 ? a[i] > INT64_MAX - b[i] : a[i] < INT64_MIN - b[i])
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "histogram %" PRIu64 ": the sum of the weights outside the bins would "
                            "pass int64's range; nothing was added",
                            i / 4);
    int is_exact =
        into->kind == TALLY_RESULT_COUNTS && !ty_counter_saturates(into->counter) && !into->column;
    if (!is_exact && from->noted > UINT64_MAX - into->noted)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the samples would pass 2^64-1; nothing was added");
    return TALLY_OK;
}

/* They stay known while both know them. */
static void add_flow_sums(tally_result *into, const tally_result *from)
{
    const uint64_t count = 4 * into->histograms;
    if (!from->flow_sums) {
        ty_free(into->flow_sums);
        into->flow_sums = NULL;
    }
    for (uint64_t i = 0; into->flow_sums && i < count; i++) {
        if (into->kind == TALLY_RESULT_SUMS_F64)
            ((double *)into->flow_sums)[i] += ((const double *)from->flow_sums)[i];
        else
            ((int64_t *)into->flow_sums)[i] += ((const int64_t *)from->flow_sums)[i];
    }
}

static void add_counts(tally_result *into, const tally_result *from)
{
    uint64_t cells = into->histograms * into->bins;
    if (into->column) { /* counts and flows among them */
        ty_profile_merge(into, from);
        return;
    }
    if (into->wide) {
        tally_wide_add(into->wide, from->wide, cells);
        tally_wide_add(into->wide_flows, from->wide_flows, 4 * into->histograms);
    } else if (into->kind == TALLY_RESULT_SUMS_F64) {
        double *a = into->counts;
        const double *b = from->counts;
        for (uint64_t i = 0; i < cells; i++)
            a[i] += b[i];
    } else { /* two's complement: the same addition for i64, which check_counts allowed */
        uint64_t *a = into->counts, limit = ty_counter_limit(into->counter);
        const uint64_t *b = from->counts;
        for (uint64_t i = 0; i < cells; i++) {
            a[i] += b[i];
            if (into->kind == TALLY_RESULT_COUNTS && a[i] > limit)
                a[i] = limit;
        }
    }
    for (uint64_t i = 0; into->squares && i < cells; i++)
        into->squares[i] += from->squares[i];
    for (uint64_t h = 0; h < into->histograms; h++) {
        into->flows[h].under += from->flows[h].under;
        into->flows[h].over += from->flows[h].over;
        into->flows[h].nan += from->flows[h].nan;
        into->flows[h].masked += from->flows[h].masked;
    }
}

/* *text if both say the same or one says nothing; "mixed" if they differ. Allocates into *merged
 * only when *text has to change. */
static int merge_text(const char *into, const char *from, char **merged)
{
    *merged = NULL;
    if (!*from || strcmp(into, from) == 0)
        return 1;
    const char *text = *into ? "mixed" : from;
    *merged = ty_text_copy(text, strlen(text));
    return *merged != NULL;
}

typedef struct notes {
    char *device, *method;
    char *sources[TALLY_MAX_SOURCES]; /* copies of those of `from` that `into` does not have */
    uint32_t count;
} notes;

static void drop_notes(notes *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        ty_free(n->sources[i]);
    ty_free(n->device);
    ty_free(n->method);
}

/* Everything that needs memory, before anything changes. */
static tally_status make_notes(const tally_result *into, const tally_result *from, notes *n,
                               tally_error *error)
{
    memset(n, 0, sizeof *n);
    int ok = merge_text(into->device, from->device, &n->device) &&
             merge_text(into->method, from->method, &n->method);
    for (uint32_t i = 0; ok && i < from->sources_count; i++) {
        const char *name = from->sources[i];
        if (into->sources_count + n->count == TALLY_MAX_SOURCES ||
            !ty_result_source_is_new(into, name))
            continue;
        n->sources[n->count] = ty_text_copy(name, strlen(name));
        ok = n->sources[n->count] != NULL;
        n->count += (uint32_t)ok;
    }
    if (ok)
        return TALLY_OK;
    drop_notes(n);
    return ty_error_memory(error, "a result's notes", sizeof *n);
}

static void add_notes(tally_result *into, const tally_result *from, notes *n)
{
    if (n->device) {
        ty_free(into->device);
        into->device = n->device;
    }
    if (n->method) {
        ty_free(into->method);
        into->method = n->method;
    }
    for (uint32_t i = 0; i < n->count; i++)
        into->sources[into->sources_count++] = n->sources[i];
    into->sources_total = ty_add_sticky(into->sources_total, from->sources_total);
    into->seconds = fmin(into->seconds + from->seconds, DBL_MAX);
    into->noted += from->noted; /* of exact counts it is not read, so it may wrap */
    if (into->dtype != from->dtype)
        into->dtype = (tally_dtype)0;
}

static tally_status merge_same(tally_result *into, const tally_result *from, tally_error *error)
{
    tally_status status = check_counts(into, from, error);
    if (status)
        return status;
    notes n;
    status = make_notes(into, from, &n, error);
    if (status)
        return status;
    tally_result_quantiles_set(into, 0, NULL, NULL, NULL); /* of the sum nobody knows them */
    add_counts(into, from);
    add_flow_sums(into, from);
    add_notes(into, from, &n);
    return TALLY_OK;
}

/* *result becomes `next`; the first one of all is the caller's and stays. */
static void replace(tally_result **result, const tally_result *first, tally_result *next)
{
    if (*result != first)
        tally_result_destroy(*result);
    *result = next;
}

/* Where the words of an axis or the groups differ: by way of results that have those of both. */
static tally_status merge_by_name(tally_result *into, const tally_result *from, tally_error *error)
{
    tally_result *a = into, *b = (tally_result *)from, *new_a, *new_b;
    tally_status status = TALLY_OK;
    if (into->by && from->by) {
        status = ty_result_unite_groups(a, b, &new_a, &new_b, error);
        if (status)
            return status;
        replace(&a, into, new_a);
        replace(&b, from, new_b);
    }
    for (uint32_t d = 0; !status && d < into->dimensions; d++) {
        if (!into->labels[d])
            continue;
        status = ty_result_unite(a, b, d, &new_a, &new_b, error);
        if (!status) {
            replace(&a, into, new_a);
            replace(&b, from, new_b);
        }
    }
    if (!status)
        status = merge_same(a, b, error);
    for (uint32_t d = 0; !status && d < into->dimensions; d++) {
        if (!into->labels[d])
            continue;
        status = ty_result_sort_labels(a, d, &new_a, error);
        if (!status)
            replace(&a, into, new_a);
    }
    if (!status) {
        const tally_result old = *into;
        *into = *a;
        *a = old;
    }
    replace(&a, into, NULL);
    replace(&b, from, NULL);
    return status;
}

tally_status tally_result_merge(tally_result *into, const tally_result *from, tally_error *error)
{
    int united;
    if (!into || !from)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", into ? "from" : "into");
    tally_status status = check_same(into, from, &united, error);
    if (status)
        return status;
    return united ? merge_same(into, from, error) : merge_by_name(into, from, error);
}

tally_status ty_result_add_notes(tally_result *into, const tally_result *from, tally_error *error)
{
    notes n;
    tally_status status = make_notes(into, from, &n, error);
    if (!status)
        add_notes(into, from, &n);
    return status;
}
