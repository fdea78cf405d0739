/* SPDX-License-Identifier: Apache-2.0 */
/* The saved form, "tally/1", back into a result. Everything is measured against the text before it
 * is allocated, so a small file cannot ask for much memory. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/json_axes.h"
#include "io/result.h"

enum {
    SCHEMA,
    SOURCE,
    DTYPE,
    SAMPLES,
    COUNTER,
    WEIGHTS,
    AXES,
    HISTOGRAMS,
    SOURCES,
    WEIGHT_LIMIT,
    COLUMN,
    HIST, /* what only Python's Hist knows */
    BY,
    OTHERS,
    RUN,
    RUN_KEYS /* of the object "run"; written beside it before there was one */
};
static const char *const top_keys[] = {"schema",  "source", "dtype",      "samples", "counter",
                                       "weights", "axes",   "histograms", "sources", "weight_limit",
                                       "column",  "hist",   "by",         "others",  "run",
                                       "device",  "method", "seconds"};
enum { DEVICE = RUN_KEYS, METHOD, SECONDS };
#define TOP_KEYS (sizeof top_keys / sizeof *top_keys)

enum {
    NAME,
    COUNTS,
    UNDERFLOW_KEY,
    FLOW_SUMS = UNDERFLOW_KEY + 4,
    SUMS_SQUARED = FLOW_SUMS + 4,
    UNITS,
    FLOW_UNITS,
    SUMMARY,
    PROFILE_KEY
};
static const char *const histogram_keys[] = {
    "name",          "counts",       "underflow",  "overflow",        "nan",          "masked",
    "underflow_sum", "overflow_sum", "nan_sum",    "masked_sum",      "sums_squared", "units",
    "flow_units",    "summary",      "statistics", "flow_statistics", "time"};
#define HISTOGRAM_KEYS (sizeof histogram_keys / sizeof *histogram_keys)

/* What is read before the result can be made. */
typedef struct reader {
    ty_json json;
    size_t top[TOP_KEYS];
    ty_json_axes axes;
    ty_result_shape shape;
    tally_counter counter;
    char **names;
    char *column; /* of a profile */
    char *by;     /* of groups */
} reader;

/* ---- Histograms ---- */

static tally_status check_length(const reader *r, size_t at, const char *what)
{
    tally_status status = ty_json_need_array(&r->json, at, what);
    if (status)
        return status;
    uint64_t count = ty_json_count(&r->json, at);
    if (count != r->axes.bins)
        status = ty_json_error(&r->json, at,
                               "%s has %" PRIu64 " numbers, but the axes have %" PRIu64 " bins",
                               what, count, r->axes.bins);
    return status;
}

static tally_status find_histogram(const reader *r, size_t at, size_t *found)
{
    tally_status status = ty_json_need_members(&r->json, at, "a histogram", histogram_keys,
                                               HISTOGRAM_KEYS, FLOW_SUMS, found);
    int sums = 0;
    for (size_t i = FLOW_SUMS; !status && i < SUMS_SQUARED; i++)
        sums += found[i] != TY_JSON_NONE;
    for (size_t i = FLOW_SUMS; sums && !status && i < SUMS_SQUARED; i++)
        if (found[i] == TY_JSON_NONE)
            status = ty_json_error(&r->json, at, "a histogram has no \"%s\"", histogram_keys[i]);
    return status;
}

/* They are there just where there is a weight_limit. */
static tally_status survey_units(const reader *r, size_t at, const size_t *found)
{
    const int limited = r->shape.weight_limit > 0;
    if ((found[UNITS] != TY_JSON_NONE) != limited ||
        (found[FLOW_UNITS] != TY_JSON_NONE) != limited ||
        (limited && found[FLOW_SUMS] == TY_JSON_NONE))
        return ty_json_error(&r->json, at,
                             "with \"weight_limit\", and only then, a histogram has units, "
                             "flow_units and underflow_sum");
    tally_status status = limited ? check_length(r, found[UNITS], "units") : TALLY_OK;
    if (!status && limited)
        status = ty_json_need_array(&r->json, found[FLOW_UNITS], "flow_units");
    if (!status && limited && ty_json_count(&r->json, found[FLOW_UNITS]) != 4)
        status = ty_json_error(&r->json, found[FLOW_UNITS], "flow_units must have 4 sums");
    return status;
}

/* Names and lengths of every histogram: after this the counts may be allocated. */
static tally_status survey_histograms(reader *r)
{
    const ty_json *json = &r->json;
    size_t at = r->top[HISTOGRAMS], found[HISTOGRAM_KEYS];
    tally_status status = ty_json_need_array(json, at, "histograms");
    if (status)
        return status;
    uint64_t count = ty_json_count(json, at), h = 0;
    if (!count)
        return ty_json_error(json, at, "histograms is empty; at least 1 is needed");
    r->names = ty_calloc((size_t)count, sizeof *r->names);
    if (!r->names)
        return ty_error_memory(json->error, "histogram names", count * sizeof *r->names);
    r->shape.histograms = count;
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at), h++) {
        status = find_histogram(r, at, found);
        if (!status)
            status = ty_json_string(json, found[NAME], "name", &r->names[h]);
        if (!status)
            status = check_length(r, found[COUNTS], "counts");
        int squares = !status && found[SUMS_SQUARED] != TY_JSON_NONE;
        if (squares)
            status = check_length(r, found[SUMS_SQUARED], "sums_squared");
        if (status)
            return status;
        if (squares && r->shape.kind == TALLY_RESULT_COUNTS)
            return ty_json_error(json, found[SUMS_SQUARED], "sums_squared without \"weights\"");
        if (h && squares != r->shape.squares)
            return ty_json_error(json, at, "either all histograms have sums_squared or none");
        r->shape.squares = squares;
        int flow_sums = found[FLOW_SUMS] != TY_JSON_NONE;
        if (flow_sums && r->shape.kind == TALLY_RESULT_COUNTS)
            return ty_json_error(json, found[FLOW_SUMS], "underflow_sum without \"weights\"");
        if (h && flow_sums != r->shape.flow_sums)
            return ty_json_error(json, at, "either all histograms have underflow_sum or none");
        r->shape.flow_sums = flow_sums;
        status = survey_units(r, at, found);
        if (!status && !r->column && found[PROFILE_KEY + TY_JSON_STATISTICS] != TY_JSON_NONE)
            status = ty_json_error(json, found[PROFILE_KEY], "statistics without \"column\"");
        if (!status && r->column)
            status = ty_json_profile_check(json, at, found + PROFILE_KEY, r->axes.bins,
                                           h < TALLY_MAX_VALUES ? &r->shape.value_times[h] : NULL);
        if (status)
            return status;
    }
    return TALLY_OK;
}

/* A float64 sum: a number, or "inf", "-inf", "nan". */
static int read_sum(const ty_json *json, size_t at, double *value)
{
    if (ty_json_is(json, at, "nan"))
        *value = NAN;
    else if (ty_json_is(json, at, "inf"))
        *value = INFINITY;
    else if (ty_json_is(json, at, "-inf"))
        *value = -INFINITY;
    else
        return ty_json_double(json, at, value);
    return 1;
}

static tally_status read_sums(const ty_json *json, size_t at, const char *what, double *sums)
{
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at))
        if (!read_sum(json, at, sums++))
            return ty_json_error(
                json, at, "%s must be numbers that float64 holds, or \"inf\", \"-inf\", \"nan\"",
                what);
    return TALLY_OK;
}

static tally_status read_counts(const reader *r, size_t at, tally_result *result, uint64_t first)
{
    const ty_json *json = &r->json;
    uint64_t *counts = (uint64_t *)result->counts + first, limit = ty_counter_limit(r->counter);
    int64_t *sums = (int64_t *)result->counts + first;
    if (result->kind == TALLY_RESULT_SUMS_F64)
        return read_sums(json, at, "counts", (double *)result->counts + first);
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at)) {
        if (result->kind == TALLY_RESULT_SUMS_I64) {
            if (!ty_json_i64(json, at, sums++))
                return ty_json_error(json, at, "a sum of integer weights must be a 64-bit integer");
            continue;
        }
        if (!ty_json_u64(json, at, counts) || *counts > limit)
            return ty_json_error(json, at, "a count must be an integer from 0 to %" PRIu64, limit);
        counts++;
    }
    return TALLY_OK;
}

static tally_status read_flow_sums(const ty_json *json, const size_t *found, tally_result *result,
                                   uint64_t h)
{
    for (unsigned f = 0; result->flow_sums && f < 4; f++) {
        const size_t at = found[FLOW_SUMS + f];
        const int ok = result->kind == TALLY_RESULT_SUMS_F64
                           ? read_sum(json, at, (double *)result->flow_sums + h * 4 + f)
                           : ty_json_i64(json, at, (int64_t *)result->flow_sums + h * 4 + f);
        if (!ok)
            return ty_json_error(json, at, "%s must be %s", histogram_keys[FLOW_SUMS + f],
                                 result->kind == TALLY_RESULT_SUMS_F64
                                     ? "a number that float64 holds, or \"inf\", \"-inf\", \"nan\""
                                     : "a 64-bit integer");
    }
    return TALLY_OK;
}

/* 32 hexadecimal digits between quotes. */
static int read_unit(const ty_json *json, size_t at, tally_wide *sum)
{
    uint64_t words[2] = {0, 0};
    if (ty_json_kind_at(json, at) != TY_JSON_STRING)
        return 0;
    for (int i = 0; i < 32; i++) {
        const char c = json->text[++at]; /* a string ends with a quote, which is no digit */
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return 0;
        words[i / 16] = words[i / 16] << 4 | (unsigned)digit;
    }
    *sum = (tally_wide){words[1], (int64_t)words[0]};
    return json->text[at + 1] == '"';
}

/* Sums as they were added up; what they are rounded to has been read. */
static tally_status read_units(const reader *r, size_t at, tally_wide *wide, const double *rounded)
{
    for (at = ty_json_first(&r->json, at); at != TY_JSON_NONE; at = ty_json_next(&r->json, at)) {
        double value = 0;
        if (!read_unit(&r->json, at, wide))
            return ty_json_error(&r->json, at, "a unit must be 32 hexadecimal digits in quotes");
        tally_wide_round(wide, 1, r->shape.weight_limit, &value, NULL);
        if (value != *rounded)
            return ty_json_error(&r->json, at, "these units are %.17g, but the sum is %.17g", value,
                                 *rounded);
        wide++;
        rounded++;
    }
    return TALLY_OK;
}

static tally_status read_histograms(const reader *r, tally_result *result)
{
    const ty_json *json = &r->json;
    size_t found[HISTOGRAM_KEYS];
    uint64_t h = 0;
    for (size_t at = ty_json_first(json, r->top[HISTOGRAMS]); at != TY_JSON_NONE;
         at = ty_json_next(json, at), h++) {
        tally_flows *flows = &result->flows[h];
        uint64_t *const into[] = {&flows->under, &flows->over, &flows->nan, &flows->masked};
        tally_status status = find_histogram(r, at, found);
        if (!status)
            status = read_counts(r, found[COUNTS], result, h * result->bins);
        if (!status && result->squares)
            status = read_sums(json, found[SUMS_SQUARED], "sums_squared",
                               result->squares + h * result->bins);
        for (int i = 0; !status && i < 4; i++)
            status = ty_json_need_u64(json, found[UNDERFLOW_KEY + i],
                                      histogram_keys[UNDERFLOW_KEY + i], into[i]);
        if (!status)
            status = read_flow_sums(json, found, result, h);
        if (!status && result->wide)
            status = read_units(r, found[UNITS], result->wide + h * result->bins,
                                (const double *)result->counts + h * result->bins);
        if (!status && result->wide)
            status = read_units(r, found[FLOW_UNITS], result->wide_flows + h * 4,
                                (const double *)result->flow_sums + h * 4);
        if (!status)
            status = ty_json_quantiles_read(json, found[SUMMARY], result, h);
        if (!status && result->column)
            status = ty_json_profile_read(json, found + PROFILE_KEY, result, h);
        if (status)
            return status;
    }
    return TALLY_OK;
}

/* ---- The object ---- */

/* What shapes the result: dtype, counter, weights. */
static tally_status read_kinds(reader *r)
{
    static const char *const counters[] = {"u64", "u32", "u16sat", "u8sat"};
    static const char *const weights[] = {"f64", "i64"};
    static const char *const dtypes[] = {"u8",  "i8",  "u16", "i16",  "u32", "i32",
                                         "u64", "i64", "f16", "bf16", "f32", "f64"};
    const ty_json *json = &r->json;
    unsigned chosen = 0;
    tally_status status = TALLY_OK;
    if (!ty_json_is(json, r->top[SCHEMA], "tally/1"))
        return ty_json_error(json, r->top[SCHEMA], "schema must be \"tally/1\"");
    if (r->top[DTYPE] != TY_JSON_NONE && ty_json_kind_at(json, r->top[DTYPE]) != TY_JSON_NULL) {
        status = ty_json_need_choice(json, r->top[DTYPE], "dtype", dtypes, 12, &chosen);
        r->shape.dtype = (tally_dtype)(TALLY_U8 + chosen);
    }
    if (!status && r->top[WEIGHTS] != TY_JSON_NONE) {
        status = ty_json_need_choice(json, r->top[WEIGHTS], "weights", weights, 2, &chosen);
        r->shape.kind = chosen ? TALLY_RESULT_SUMS_I64 : TALLY_RESULT_SUMS_F64;
    }
    if (!status && r->top[WEIGHT_LIMIT] != TY_JSON_NONE &&
        (r->shape.kind != TALLY_RESULT_SUMS_F64 ||
         !ty_json_double(json, r->top[WEIGHT_LIMIT], &r->shape.weight_limit) ||
         tally_wide_round(NULL, 0, r->shape.weight_limit, NULL, NULL)))
        return ty_json_error(
            json, r->top[WEIGHT_LIMIT],
            "weight_limit must be a number from 1e-250, beside \"weights\":\"f64\"");
    if (!status && r->top[COUNTER] != TY_JSON_NONE) {
        status = ty_json_need_choice(json, r->top[COUNTER], "counter", counters, 4, &chosen);
        r->counter = (tally_counter)chosen;
        if (!status && r->counter != TALLY_COUNTER_U64 && r->shape.kind != TALLY_RESULT_COUNTS)
            status = ty_json_error(json, r->top[COUNTER], "sums of weights have no counter");
    }
    return status;
}

/* Text at `key`, noted by the position it has in tally_result_note: source, device or method. */
static tally_status note_text(const reader *r, size_t at, int key, tally_result *result)
{
    char *text;
    if (at == TY_JSON_NONE || (key != SOURCE && ty_json_kind_at(&r->json, at) == TY_JSON_NULL))
        return TALLY_OK;
    tally_status status = ty_json_string(&r->json, at, top_keys[key], &text);
    if (status)
        return status;
    status = tally_result_note(result, key == SOURCE ? text : NULL, key == DEVICE ? text : NULL,
                               key == METHOD ? text : NULL, 0, 0, r->json.error);
    ty_free(text);
    return status;
}

static tally_status read_notes(const reader *r, tally_result *result)
{
    const ty_json *json = &r->json;
    tally_status status = note_text(r, r->top[DEVICE], DEVICE, result);
    if (!status)
        status = note_text(r, r->top[METHOD], METHOD, result);
    if (!status && r->top[SOURCE] != TY_JSON_NONE) {
        status = ty_json_need_array(json, r->top[SOURCE], "source");
        size_t at = status ? TY_JSON_NONE : ty_json_first(json, r->top[SOURCE]);
        for (; !status && at != TY_JSON_NONE; at = ty_json_next(json, at))
            status = note_text(r, at, SOURCE, result);
    }
    uint64_t listed = result->sources_total;
    if (!status && r->top[SOURCES] != TY_JSON_NONE)
        status = ty_json_need_u64(json, r->top[SOURCES], "sources", &result->sources_total);
    if (!status && result->sources_total < listed)
        status = ty_json_error(json, r->top[SOURCES],
                               "sources is %" PRIu64 ", but \"source\" names %" PRIu64,
                               result->sources_total, listed);
    if (!status && r->top[SECONDS] != TY_JSON_NONE &&
        (!ty_json_double(json, r->top[SECONDS], &result->seconds) || result->seconds < 0))
        status = ty_json_error(json, r->top[SECONDS], "seconds must be a number, 0 or more");
    if (status || r->top[SAMPLES] == TY_JSON_NONE)
        return status;
    status = ty_json_need_u64(json, r->top[SAMPLES], "samples", &result->noted);
    uint64_t samples = ty_result_samples(result);
    if (!status && samples != result->noted)
        status = ty_json_error(json, r->top[SAMPLES],
                               "samples is %" PRIu64 ", but bins and flows add up to %" PRIu64,
                               result->noted, samples);
    return status;
}

/* The bins of axis `d` are Python's categories, which the counts have as numbers from 0. */
static tally_status read_categories(const ty_json *json, size_t list, tally_result *result,
                                    uint32_t d)
{
    tally_status status = ty_json_need_array(json, list, "categories");
    const uint64_t count = status ? 0 : ty_json_count(json, list);
    const tally_axis *axis = d < result->dimensions ? &result->axes[d] : NULL;
    if (status)
        return status;
    if (!axis || axis->kind != TALLY_AXIS_INTEGER || axis->first || axis->bins != count ||
        result->labels[d])
        return ty_json_error(json, list,
                             "%" PRIu64 " categories are of an integer axis from 0, one a bin, "
                             "without labels",
                             count);
    if (!result->only_python)
        result->only_python = "categories";
    return ty_json_labels_read(json, list, 1, &result->labels[d]);
}

/* What Python's Hist saved beside the counts, if it is more than counts say. */
static tally_status read_hist(const reader *r, tally_result *result)
{
    static const char *const keys[] = {"axes", "means"}, *const of_axis[] = {"categories"};
    const ty_json *json = &r->json;
    size_t at = r->top[HIST], found[2], categories;
    uint32_t d = 0;
    if (at == TY_JSON_NONE || ty_json_kind_at(json, at) != TY_JSON_OBJECT)
        return TALLY_OK;
    tally_status status = ty_json_members(json, at, keys, 2, found);
    if (status)
        return status;
    if (found[1] != TY_JSON_NONE)
        result->only_python = "means";
    if (found[0] == TY_JSON_NONE || ty_json_kind_at(json, found[0]) != TY_JSON_ARRAY)
        return TALLY_OK;
    for (at = ty_json_first(json, found[0]); !status && at != TY_JSON_NONE;
         at = ty_json_next(json, at), d++) {
        if (ty_json_kind_at(json, at) != TY_JSON_OBJECT)
            continue;
        status = ty_json_members(json, at, of_axis, 1, &categories);
        if (!status && categories != TY_JSON_NONE)
            status = read_categories(json, categories, result, d);
    }
    return status;
}

/* What the groups are of, if the histograms are groups. */
static tally_status read_by(reader *r)
{
    const ty_json *json = &r->json;
    if (r->top[BY] == TY_JSON_NONE)
        return TALLY_OK;
    if (r->column || r->shape.kind != TALLY_RESULT_COUNTS)
        return ty_json_error(json, r->top[BY], "\"by\" is of counts, no profile and no weights");
    tally_status status = ty_json_string(json, r->top[BY], "by", &r->by);
    r->shape.by = r->by;
    if (!status && r->top[OTHERS] != TY_JSON_NONE)
        status = ty_json_need_u64(json, r->top[OTHERS], "others", &r->shape.others);
    return status;
}

static tally_status read_result(reader *r, size_t at, tally_result **result)
{
    tally_status status =
        ty_json_need_members(&r->json, at, "the result", top_keys, TOP_KEYS, SCHEMA + 1, r->top);
    if (!status && r->top[RUN] != TY_JSON_NONE)
        status = ty_json_need_members(&r->json, r->top[RUN], "run", top_keys + RUN_KEYS,
                                      TOP_KEYS - RUN_KEYS, 0, r->top + RUN_KEYS);
    for (size_t i = AXES; !status && i <= HISTOGRAMS; i++)
        if (r->top[i] == TY_JSON_NONE)
            status = ty_json_error(&r->json, at, "the result has no \"%s\"", top_keys[i]);
    if (!status)
        status = read_kinds(r);
    if (!status && r->top[COLUMN] != TY_JSON_NONE)
        status = ty_json_string(&r->json, r->top[COLUMN], "column", &r->column);
    if (!status)
        status = read_by(r);
    if (!status)
        status = ty_json_axes_read(&r->json, r->top[AXES], &r->axes);
    if (!status)
        status = survey_histograms(r);
    if (status)
        return status;
    r->shape.dimensions = r->axes.count;
    r->shape.axes = r->axes.axes;
    memcpy(r->shape.labels, r->axes.labels, sizeof r->shape.labels);
    memcpy(r->shape.times, r->axes.times, sizeof r->shape.times);
    r->shape.names = (const char *const *)r->names;
    r->shape.column = r->column;
    if (r->column && (r->shape.dimensions != 1 || r->shape.kind != TALLY_RESULT_COUNTS ||
                      r->counter != TALLY_COUNTER_U64 || r->shape.histograms > TALLY_MAX_VALUES))
        return ty_json_error(&r->json, r->top[COLUMN],
                             "a profile has one axis, 64-bit counts, no weights and 1 to %d "
                             "histograms",
                             TALLY_MAX_VALUES);
    tally_result *made;
    status = ty_result_create(&r->shape, &made, r->json.error);
    if (status)
        return status;
    made->counter = r->counter;
    status = read_histograms(r, made);
    if (!status)
        status = read_notes(r, made);
    if (!status)
        status = read_hist(r, made);
    if (status)
        tally_result_destroy(made);
    else
        *result = made;
    return status;
}

/* Element `index` of an array, or the object itself when `index` is 0. */
static tally_status choose(const ty_json *json, size_t index, size_t *at)
{
    *at = json->root;
    if (ty_json_kind_at(json, *at) != TY_JSON_ARRAY) {
        if (index)
            return ty_error(json->error, TALLY_ERROR_ARGUMENT,
                            "%.200s holds one result; there is no number %zu", json->name, index);
        return TALLY_OK;
    }
    size_t i = 0;
    for (*at = ty_json_first(json, *at); *at != TY_JSON_NONE && i < index; i++)
        *at = ty_json_next(json, *at);
    if (*at == TY_JSON_NONE)
        return ty_error(json->error, TALLY_ERROR_ARGUMENT,
                        "%.200s holds %zu results; there is no number %zu, counting from 0",
                        json->name, i, index);
    return TALLY_OK;
}

/* The result at `at` of a text that has been checked. */
static tally_status parse_at(const ty_json *json, size_t at, tally_result **result)
{
    reader *r = ty_calloc(1, sizeof *r);
    if (!r)
        return ty_error_memory(json->error, "reading a result", sizeof *r);
    r->json = *json;
    tally_status status = read_result(r, at, result);
    ty_json_axes_release(&r->axes);
    for (uint64_t h = 0; r->names && h < r->shape.histograms; h++)
        ty_free(r->names[h]);
    ty_free(r->names);
    ty_free(r->column);
    ty_free(r->by);
    ty_free(r);
    return status;
}

tally_status tally_result_parse(const char *text, size_t size, const char *name, size_t index,
                                tally_result **result, tally_error *error)
{
    ty_json json;
    size_t at = 0;
    if (!text || !result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", text ? "result" : "text");
    tally_status status = ty_json_open(&json, text, size, name ? name : "result", error);
    if (!status)
        status = choose(&json, index, &at);
    return status ? status : parse_at(&json, at, result);
}

tally_status tally_result_parse_all(const char *text, size_t size, const char *name,
                                    tally_result ***results, size_t *count, tally_error *error)
{
    ty_json json;
    if (!text || !results || !count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !text      ? "text"
                        : !results ? "results"
                                   : "count");
    tally_status status = ty_json_open(&json, text, size, name ? name : "result", error);
    if (status)
        return status;
    int array = ty_json_kind_at(&json, json.root) == TY_JSON_ARRAY;
    size_t at = array ? ty_json_first(&json, json.root) : json.root, made = 0;
    uint64_t all = array ? ty_json_count(&json, json.root) : 1;
    tally_result **list = all ? ty_calloc((size_t)all, sizeof(tally_result *)) : NULL;
    if (all && !list)
        return ty_error_memory(error, "a list of results", all * sizeof(tally_result *));
    while (made < all && !(status = parse_at(&json, at, &list[made])) && ++made < all)
        at = ty_json_next(&json, at);
    if (status) {
        tally_result_destroy_all(list, made);
        return status;
    }
    *results = list;
    *count = made;
    return TALLY_OK;
}
