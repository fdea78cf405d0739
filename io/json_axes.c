/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of the saved form, "tally/1". */
#include "io/json_axes.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/result.h"

enum {
    KIND,
    BINS,
    LO,
    HI,
    EDGES,
    FIRST,
    CATEGORIES,
    LAST,
    UNDER,
    OVER,
    NAN_KEY,
    LABELS,
    OTHERS,
    TIME
};
static const char *const axis_keys[] = {"kind",  "bins",       "lo",     "hi",    "edges",
                                        "first", "categories", "last",   "under", "over",
                                        "nan",   "labels",     "others", "time"};
#define AXIS_KEYS (sizeof axis_keys / sizeof *axis_keys)

static tally_status read_edges(ty_json_axes *a, uint32_t d, const size_t *found)
{
    const ty_json *json = a->json;
    tally_axis *axis = &a->axes[d];
    size_t at = found[EDGES];
    tally_status status = ty_json_need_array(json, at, "edges");
    if (status)
        return status;
    uint64_t count = ty_json_count(json, at);
    if (axis->bins == 0 || count == 0 || count - 1 != axis->bins)
        return ty_json_error(json, at,
                             "edges has %" PRIu64 " numbers, but bins is %" PRIu64
                             "; there is one edge more than bins, and at least 1 bin",
                             count, axis->bins);
    double *edges = a->edges[d] = ty_malloc((size_t)count * sizeof *edges);
    if (!edges)
        return ty_error_memory(json->error, "bin edges", count * sizeof *edges);
    axis->edges = edges;
    uint64_t i = 0;
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at), i++) {
        status = ty_json_need_double(json, at, "an edge", &edges[i]);
        if (status)
            return status;
        if (i && !(edges[i - 1] < edges[i]))
            return ty_json_error(json, at,
                                 "edge %" PRIu64 " is %.17g, not above the one before, %.17g; "
                                 "edges must increase",
                                 i, edges[i], edges[i - 1]);
    }
    if (axis->lo != edges[0])
        return ty_json_error(json, found[LO], "lo is %.17g, but the first edge is %.17g", axis->lo,
                             edges[0]);
    if (axis->hi != edges[axis->bins])
        return ty_json_error(json, found[HI], "hi is %.17g, but the last edge is %.17g", axis->hi,
                             edges[axis->bins]);
    return TALLY_OK;
}

static tally_status read_categories(ty_json_axes *a, uint32_t d, size_t at)
{
    const ty_json *json = a->json;
    tally_status status = ty_json_need_array(json, at, "categories");
    if (status)
        return status;
    uint64_t count = ty_json_count(json, at), i = 0;
    if (count != 256)
        return ty_json_error(json, at, "categories has %" PRIu64 " entries; it must have 256",
                             count);
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at), i++) {
        uint64_t bin = TALLY_CATEGORY_NONE;
        if (ty_json_kind_at(json, at) != TY_JSON_NULL &&
            (!ty_json_u64(json, at, &bin) || bin >= a->axes[d].bins || bin >= TALLY_CATEGORY_NONE))
            return ty_json_error(
                json, at, "category of byte %" PRIu64 " must be null or a bin from 0 to %" PRIu64,
                i, a->axes[d].bins - 1);
        a->categories[d][i] = (uint16_t)bin;
    }
    a->axes[d].categories = a->categories[d];
    return TALLY_OK;
}

tally_status ty_json_labels_read(const ty_json *json, size_t list, int numbers, ty_labels **labels)
{
    /* An escape is longer than what it stands for. */
    const size_t count = (size_t)ty_json_count(json, list), bytes = json->size - list + count;
    tally_status status = TALLY_OK;
    *labels = ty_labels_create(count, bytes);
    if (!*labels)
        return ty_error_memory(json->error, "labels", bytes);
    for (size_t at = ty_json_first(json, list); !status && at != TY_JSON_NONE;
         at = ty_json_next(json, at)) {
        char *text;
        if (numbers && ty_json_kind_at(json, at) == TY_JSON_NUMBER) {
            const char *number = json->text + at;
            ty_labels_add(*labels, number, strspn(number, "+-.0123456789eE"));
            continue;
        }
        status = ty_json_string(json, at, "a label", &text);
        if (status)
            return status;
        ty_labels_add(*labels, text, strlen(text));
        ty_free(text);
    }
    return status;
}

static tally_status read_labels(ty_json_axes *a, uint32_t d, const size_t *found)
{
    const ty_json *json = a->json;
    size_t at = found[LABELS];
    if (at == TY_JSON_NONE)
        return TALLY_OK;
    tally_status status = ty_json_need_array(json, at, "labels");
    if (status)
        return status;
    const uint64_t count = ty_json_count(json, at);
    if (count != a->axes[d].bins || a->axes[d].kind != TALLY_AXIS_INTEGER || a->axes[d].first != 0)
        return ty_json_error(
            json, at,
            "%" PRIu64 " labels, but the axis is \"%s\" with %" PRIu64 " bins from %" PRId64
            "; labels are of an integer axis from 0, one a bin",
            count, ty_axis_kind_name(a->axes[d].kind), a->axes[d].bins, a->axes[d].first);
    status = ty_json_labels_read(json, at, 0, &a->labels[d]);
    if (!status && found[OTHERS] != TY_JSON_NONE)
        status = ty_json_need_u64(json, found[OTHERS], "others", &a->labels[d]->others);
    return status;
}

static tally_status read_time(ty_json_axes *a, uint32_t d, const size_t *found)
{
    static const char *const units[] = {"day", "s", "ms", "us", "ns"};
    unsigned chosen = 0;
    if (found[TIME] == TY_JSON_NONE)
        return TALLY_OK;
    if (a->labels[d] || a->axes[d].kind == TALLY_AXIS_CATEGORY)
        return ty_json_error(a->json, found[TIME], "an axis of categories has no unit of time");
    tally_status status = ty_json_need_choice(a->json, found[TIME], "time", units, 5, &chosen);
    a->times[d] = (tally_time)(TALLY_TIME_DAY + chosen);
    return status;
}

static tally_status read_policies(ty_json_axes *a, uint32_t d, const size_t *found)
{
    static const char *const ends[] = {"closed", "open"}, *const flows[] = {"count", "clamp",
                                                                            "fail"};
    tally_flow *const into[] = {&a->axes[d].under, &a->axes[d].over, &a->axes[d].nan};
    unsigned chosen = 0;
    tally_status status = TALLY_OK;
    if (found[LAST] != TY_JSON_NONE)
        status = ty_json_need_choice(a->json, found[LAST], "last", ends, 2, &chosen);
    a->axes[d].last = (tally_last_edge)chosen;
    for (int i = 0; !status && i < 3; i++) {
        chosen = TALLY_FLOW_COUNT;
        if (found[UNDER + i] != TY_JSON_NONE)
            status = ty_json_need_choice(a->json, found[UNDER + i], axis_keys[UNDER + i], flows, 3,
                                         &chosen);
        *into[i] = (tally_flow)chosen;
    }
    if (!status && a->axes[d].nan == TALLY_FLOW_CLAMP)
        status = ty_json_error(a->json, found[NAN_KEY], "nan must be \"count\" or \"fail\"");
    return status;
}

/* Edges of these kinds follow from the other keys: a file in which they disagree is damaged. */
static tally_status check_edges(ty_json_axes *a, uint32_t d, size_t at)
{
    const tally_axis *axis = &a->axes[d];
    tally_error why = {""};
    if (axis->kind == TALLY_AXIS_LOG && !(axis->lo > 0))
        return ty_json_error(a->json, at, "a log axis starts above 0, not at %g", axis->lo);
    if (axis->kind == TALLY_AXIS_EDGES || axis->kind == TALLY_AXIS_LOG)
        return TALLY_OK; /* powers may differ in the last bit from one C library to the next */
    double *expected = ty_malloc((size_t)(axis->bins + 1) * sizeof *expected);
    if (!expected)
        return ty_error_memory(a->json->error, "bin edges", (axis->bins + 1) * sizeof *expected);
    tally_status status = tally_axis_edges_get(axis, expected, &why);
    if (status && status != TALLY_ERROR_MEMORY)
        status = ty_json_error(a->json, at, "not an axis: %s", why.message);
    for (uint64_t i = 0; !status && i <= axis->bins; i++)
        if (expected[i] != a->edges[d][i])
            status = ty_json_error(a->json, at,
                                   "edge %" PRIu64 " is %.17g, but this %s axis has %.17g there", i,
                                   a->edges[d][i], ty_axis_kind_name(axis->kind), expected[i]);
    ty_free(expected);
    return status;
}

static tally_status read_axis(ty_json_axes *a, uint32_t d, size_t at)
{
    static const char *const kinds[] = {"even", "edges", "log", "integer", "category"};
    const ty_json *json = a->json;
    tally_axis *axis = &a->axes[d];
    size_t found[AXIS_KEYS];
    unsigned kind = 0;
    *axis = (tally_axis)TALLY_AXIS_INIT;
    tally_status status =
        ty_json_need_members(json, at, "an axis", axis_keys, AXIS_KEYS, EDGES + 1, found);
    if (!status)
        status = ty_json_need_choice(json, found[KIND], "kind", kinds, 5, &kind);
    axis->kind = (tally_axis_kind)kind;
    if (!status)
        status = ty_json_need_u64(json, found[BINS], "bins", &axis->bins);
    if (!status)
        status = ty_json_need_double(json, found[LO], "lo", &axis->lo);
    if (!status)
        status = ty_json_need_double(json, found[HI], "hi", &axis->hi);
    if (!status)
        status = read_edges(a, d, found);
    if (!status && axis->kind == TALLY_AXIS_INTEGER) {
        if (found[FIRST] == TY_JSON_NONE)
            return ty_json_error(json, at, "an integer axis needs \"first\"");
        if (!ty_json_i64(json, found[FIRST], &axis->first))
            return ty_json_error(json, found[FIRST], "first must be a 64-bit integer");
    }
    if (!status && axis->kind == TALLY_AXIS_CATEGORY) {
        if (found[CATEGORIES] == TY_JSON_NONE)
            return ty_json_error(json, at, "a category axis needs \"categories\"");
        status = read_categories(a, d, found[CATEGORIES]);
    }
    if (!status)
        status = read_labels(a, d, found);
    if (!status)
        status = read_time(a, d, found);
    if (!status)
        status = read_policies(a, d, found);
    return status ? status : check_edges(a, d, at);
}

tally_status ty_json_axes_read(const ty_json *json, size_t list, ty_json_axes *a)
{
    size_t at = list;
    tally_status status = ty_json_need_array(json, at, "axes");
    if (status)
        return status;
    a->json = json;
    a->bins = 1;
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at)) {
        uint32_t d = a->count;
        if (d == TALLY_MAX_DIMENSIONS)
            return ty_json_error(json, at, "more than %d axes", TALLY_MAX_DIMENSIONS);
        a->count++;
        status = read_axis(a, d, at);
        if (status)
            return status;
        if (a->bins > UINT64_MAX / a->axes[d].bins)
            return ty_json_error(json, at, "the axes' bins multiply to more than 2^64");
        a->bins *= a->axes[d].bins;
    }
    if (!a->count)
        return ty_json_error(json, list, "axes is empty; at least 1 axis is needed");
    return TALLY_OK;
}

void ty_json_axes_release(ty_json_axes *a)
{
    for (uint32_t d = 0; d < a->count; d++) {
        ty_free(a->edges[d]);
        ty_labels_release(a->labels[d]);
    }
}
