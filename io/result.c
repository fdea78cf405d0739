/* SPDX-License-Identifier: Apache-2.0 */
#include "io/result.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/profile.h"

/* Edges of the other kinds follow from lo, hi, bins and first. Powers may differ in the last bit
 * from one C library to the next, so a saved result keeps its own. */
static int has_table(const tally_axis *axis)
{
    return axis->kind == TALLY_AXIS_EDGES || axis->kind == TALLY_AXIS_LOG;
}

static tally_status own_edges(const tally_axis *from, tally_axis *axis, tally_error *error)
{
    const size_t size = (size_t)(from->bins + 1) * sizeof(double);
    double *edges = ty_malloc(size);
    if (!edges)
        return ty_error_memory(error, "bin edges", size);
    axis->edges = edges;
    if (!from->edges)
        return tally_axis_edges_get(from, edges, error);
    memcpy(edges, from->edges, size);
    return TALLY_OK;
}

static tally_status own_axis(const ty_result_shape *shape, uint32_t d, tally_result *r,
                             tally_error *error)
{
    tally_axis *axis = &r->axes[d];
    const tally_axis *from = &shape->axes[d];
    if (!from->bins || from->bins > (SIZE_MAX / 8) - 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64 " bins cannot be held; at least 1 is needed", d,
                        from->bins);
    *axis = *from;
    axis->edges = NULL;
    axis->categories = NULL;
    if (has_table(from)) {
        tally_status status = own_edges(from, axis, error);
        if (status)
            return status;
    }
    axis->lo = tally_axis_edge(axis, 0);
    axis->hi = tally_axis_edge(axis, axis->bins);
    if (axis->kind == TALLY_AXIS_INTEGER || axis->kind == TALLY_AXIS_CATEGORY)
        axis->last = TALLY_LAST_OPEN;
    if (axis->kind == TALLY_AXIS_CATEGORY) {
        uint16_t *categories = ty_malloc(256 * sizeof *categories);
        if (!categories)
            return ty_error_memory(error, "categories", 256 * sizeof *categories);
        memcpy(categories, from->categories, 256 * sizeof *categories);
        axis->categories = categories;
    }
    return TALLY_OK;
}

static tally_status own_names(const ty_result_shape *shape, tally_result *r, tally_error *error)
{
    r->names = ty_calloc((size_t)r->histograms, sizeof *r->names);
    if (!r->names)
        return ty_error_memory(error, "histogram names", r->histograms * sizeof *r->names);
    for (uint64_t h = 0; h < r->histograms; h++) {
        char number[24] = "";
        const char *name = shape->names ? shape->names[h] : NULL;
        if (!name) {
            if (r->histograms > 1)
                snprintf(number, sizeof number, "%" PRIu64, h);
            name = number;
        }
        r->names[h] = ty_text_copy(name, strlen(name));
        if (!r->names[h])
            return ty_error_memory(error, "a histogram's name", strlen(name) + 1);
    }
    return TALLY_OK;
}

void *ty_result_zeroes(uint64_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    void *block = ty_large((size_t)count * size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

static tally_status own_counts(const ty_result_shape *shape, tally_result *r, tally_error *error)
{
    uint64_t cells = r->histograms * r->bins;
    r->counts = ty_result_zeroes(cells, 8);
    if (!r->counts)
        return ty_error_memory(error, "counts", cells * 8);
    r->flows = ty_calloc((size_t)r->histograms, sizeof *r->flows);
    if (!r->flows)
        return ty_error_memory(error, "flows", r->histograms * sizeof *r->flows);
    if (shape->flow_sums) {
        r->flow_sums = ty_calloc((size_t)r->histograms, 4 * sizeof(double));
        if (!r->flow_sums)
            return ty_error_memory(error, "sums of flows", r->histograms * 4 * sizeof(double));
    }
    if (shape->weight_limit > 0) {
        r->weight_limit = shape->weight_limit;
        r->wide = ty_result_zeroes(cells, sizeof *r->wide);
        r->wide_flows = ty_calloc((size_t)r->histograms, 4 * sizeof *r->wide_flows);
        if (!r->wide || !r->wide_flows)
            return ty_error_memory(error, "wide sums", cells * sizeof *r->wide);
    }
    if (shape->squares) {
        r->squares = ty_result_zeroes(cells, sizeof *r->squares);
        if (!r->squares)
            return ty_error_memory(error, "sums of squares", cells * sizeof *r->squares);
    }
    return TALLY_OK;
}

/* All that a result will take, looked for before any of it is asked for. */
static tally_status check_memory(const ty_result_shape *shape, tally_error *error)
{
    const double each = shape->column ? 48 : shape->squares ? 16 : shape->weight_limit > 0 ? 24 : 8;
    double cells = (double)shape->histograms, bytes = 0;
    for (uint32_t d = 0; d < shape->dimensions; d++) {
        bytes += has_table(&shape->axes[d]) ? 8 * (double)shape->axes[d].bins : 0;
        cells *= (double)shape->axes[d].bins;
    }
    bytes += cells * each;
    return ty_memory_check(bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX, "a result", NULL, error);
}

static tally_status fill(const ty_result_shape *shape, tally_result *r, tally_error *error)
{
    tally_status status = check_memory(shape, error);
    if (status)
        return status;
    r->dimensions = shape->dimensions;
    r->kind = shape->kind;
    r->dtype = shape->dtype;
    r->histograms = shape->histograms;
    memcpy(r->times, shape->times, sizeof r->times);
    r->bins = 1;
    for (uint32_t d = 0; d < shape->dimensions; d++) {
        status = own_axis(shape, d, r, error);
        if (status)
            return status;
        if (r->bins > UINT64_MAX / 8 / r->axes[d].bins)
            return ty_error(error, TALLY_ERROR_MEMORY, "the axes' bins multiply to more than 2^61");
        r->bins *= r->axes[d].bins;
    }
    if (r->histograms > UINT64_MAX / 8 / r->bins || r->histograms > SIZE_MAX / 64)
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "%" PRIu64 " histograms of %" PRIu64
                        " bins each are more than memory holds",
                        r->histograms, r->bins);
    r->device = ty_text_copy("", 0);
    r->method = ty_text_copy("", 0);
    r->others = shape->others;
    r->by = shape->by ? ty_text_copy(shape->by, strlen(shape->by)) : NULL;
    if (!r->device || !r->method || !r->by != !shape->by)
        return ty_error_memory(error, "a result", 1);
    for (uint32_t d = 0; d < shape->dimensions; d++)
        r->labels[d] = ty_labels_share(shape->labels[d]);
    status = own_names(shape, r, error);
    if (!status)
        status = own_counts(shape, r, error);
    if (!status && shape->column)
        status = ty_profile_own(shape, r, error);
    return status;
}

tally_status ty_result_create(const ty_result_shape *shape, tally_result **result,
                              tally_error *error)
{
    if (!shape->dimensions || shape->dimensions > TALLY_MAX_DIMENSIONS)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "dimensions is %u; 1 to %d are possible",
                        shape->dimensions, TALLY_MAX_DIMENSIONS);
    if (!shape->histograms)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "histograms is 0; at least 1 is needed");
    tally_result *r = ty_calloc(1, sizeof *r);
    if (!r)
        return ty_error_memory(error, "a result", sizeof *r);
    tally_status status = fill(shape, r, error);
    if (status) {
        tally_result_destroy(r);
        return status;
    }
    *result = r;
    return TALLY_OK;
}

void tally_result_destroy(tally_result *result)
{
    if (!result)
        return;
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        ty_free((void *)result->axes[d].edges);
        ty_free((void *)result->axes[d].categories);
        ty_labels_release(result->labels[d]);
    }
    for (uint64_t h = 0; result->names && h < result->histograms; h++)
        ty_free(result->names[h]);
    for (uint32_t i = 0; i < result->sources_count; i++)
        ty_free(result->sources[i]);
    ty_free(result->names);
    ty_free(result->device);
    ty_free(result->method);
    ty_free(result->counts);
    ty_free(result->squares);
    ty_free(result->flows);
    ty_free(result->flow_sums);
    ty_free(result->q);
    ty_free(result->column);
    ty_free(result->by);
    ty_free(result->statistics);
    ty_free(result->flow_statistics);
    ty_free(result->wide);
    ty_free(result->wide_flows);
    ty_free(result);
}

void tally_result_destroy_all(tally_result **results, size_t count)
{
    for (size_t i = 0; results && i < count; i++)
        tally_result_destroy(results[i]);
    ty_free(results);
}

tally_time tally_result_time(const tally_result *result, uint32_t axis)
{
    return result && axis < result->dimensions ? result->times[axis] : TALLY_TIME_NONE;
}

tally_status tally_result_time_set(tally_result *result, uint32_t axis, tally_time time,
                                   tally_error *error)
{
    if (!result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "result is NULL");
    if (axis >= result->dimensions || (unsigned)time > TALLY_TIME_NANOSECOND)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u of %u cannot have the unit of time %d; 0 to %d are known", axis,
                        result->dimensions, (int)time, TALLY_TIME_NANOSECOND);
    if (time && (result->labels[axis] || result->axes[axis].kind == TALLY_AXIS_CATEGORY))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "axis %u is of categories, not of times",
                        axis);
    result->times[axis] = time;
    return TALLY_OK;
}

tally_output tally_result_output(tally_result *result)
{
    tally_output output = TALLY_OUTPUT_INIT;
    if (result && !result->column) {
        output.counts = result->wide ? (void *)result->wide : result->counts;
        output.flows = result->flows;
        output.sum_squares = result->squares;
        output.flow_sums = result->wide ? (void *)result->wide_flows : result->flow_sums;
        output.accumulate = 1;
    }
    return output;
}

void ty_result_settle(const tally_result *result)
{
    if (!result->wide)
        return;
    tally_wide_round(result->wide, result->histograms * result->bins, result->weight_limit,
                     result->counts, NULL);
    tally_wide_round(result->wide_flows, 4 * result->histograms, result->weight_limit,
                     result->flow_sums, NULL);
}

uint64_t ty_add_sticky(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t ty_result_samples(const tally_result *result)
{
    if (result->kind != TALLY_RESULT_COUNTS || ty_counter_saturates(result->counter) ||
        result->column)
        return result->noted;
    const uint64_t *counts = result->counts;
    uint64_t total = 0;
    for (uint64_t i = 0; i < result->histograms * result->bins; i++)
        total = ty_add_sticky(total, counts[i]);
    for (uint64_t h = 0; h < result->histograms; h++) {
        const tally_flows *f = &result->flows[h];
        total = ty_add_sticky(ty_add_sticky(total, f->under), f->over);
        total = ty_add_sticky(ty_add_sticky(total, f->nan), f->masked);
    }
    return total;
}

static double value_of(const tally_result *result, const void *values, uint64_t i)
{
    if (result->kind == TALLY_RESULT_SUMS_F64)
        return ((const double *)values)[i];
    if (result->kind == TALLY_RESULT_SUMS_I64)
        return (double)((const int64_t *)values)[i];
    return (double)((const uint64_t *)values)[i];
}

double ty_result_value(const tally_result *result, uint64_t h, uint64_t bin)
{
    return value_of(result, result->counts, h * result->bins + bin);
}

double ty_bin_width(const tally_axis *axis, uint64_t bin)
{
    return tally_axis_edge(axis, bin + 1) - tally_axis_edge(axis, bin);
}

uint64_t ty_result_flow_count(const tally_result *result, uint64_t h, int flow)
{
    const tally_flows *f = &result->flows[h];
    const uint64_t counts[] = {f->under, f->over, f->nan, f->masked};
    return counts[flow];
}

double ty_result_flow(const tally_result *result, uint64_t h, int flow)
{
    if (result->kind == TALLY_RESULT_COUNTS)
        return (double)ty_result_flow_count(result, h, flow);
    return result->flow_sums ? value_of(result, result->flow_sums, h * 4 + (unsigned)flow) : NAN;
}

tally_status tally_result_info_get(const tally_result *result, tally_result_info *info)
{
    if (!result || !info || info->struct_size < sizeof info->struct_size)
        return TALLY_ERROR_ARGUMENT;
    tally_result_info all = {
        .struct_size = info->struct_size,
        .kind = result->kind,
        .dimensions = result->dimensions,
        .histograms = result->histograms,
        .bins = result->bins,
        .samples = ty_result_samples(result),
        .dtype = result->dtype,
        .device = result->device,
        .method = result->method,
        .seconds = result->seconds,
        .sources = result->sources_count,
        .counter = result->counter,
        .has_squares = result->squares != NULL,
        .sources_total = result->sources_total,
    };
    memcpy(info, &all, all.struct_size < sizeof all ? all.struct_size : sizeof all);
    return TALLY_OK;
}

const tally_axis *tally_result_axis(const tally_result *result, uint32_t d)
{
    return result && d < result->dimensions ? &result->axes[d] : NULL;
}

const char *tally_result_name(const tally_result *result, uint64_t h)
{
    return result && h < result->histograms ? result->names[h] : NULL;
}

const char *tally_result_source(const tally_result *result, uint32_t i)
{
    return result && i < result->sources_count ? result->sources[i] : NULL;
}

const void *tally_result_counts(const tally_result *result, uint64_t h)
{
    if (result)
        ty_result_settle(result);
    /* All three kinds of counter take 8 bytes. */
    return result && h < result->histograms
               ? (const void *)((const uint64_t *)result->counts + h * result->bins)
               : NULL;
}

const tally_flows *tally_result_flows(const tally_result *result, uint64_t h)
{
    return result && h < result->histograms ? &result->flows[h] : NULL;
}

const double *tally_result_squares(const tally_result *result, uint64_t h)
{
    return result && result->squares && h < result->histograms ? result->squares + h * result->bins
                                                               : NULL;
}

const void *tally_result_flow_sums(const tally_result *result, uint64_t h)
{
    if (result)
        ty_result_settle(result);
    return result && result->flow_sums && h < result->histograms
               ? (const void *)((const double *)result->flow_sums + h * 4)
               : NULL;
}

int ty_result_source_is_new(const tally_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->sources_count; i++)
        if (strcmp(result->sources[i], name) == 0)
            return 0;
    return result->sources_count < TALLY_MAX_SOURCES;
}

/* A copy of `text` into *copy; NULL stays NULL. Returns 0 when memory is out. */
static int copied(const char *text, char **copy)
{
    *copy = text ? ty_text_copy(text, strlen(text)) : NULL;
    return !text || *copy;
}

tally_status tally_result_note(tally_result *result, const char *source, const char *device,
                               const char *method, double seconds, uint64_t samples,
                               tally_error *error)
{
    if (!result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "result is NULL");
    if (!(seconds >= 0) || isinf(seconds))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "seconds is %g; 0 or more is possible",
                        seconds);
    char *new_source = NULL, *new_device = NULL, *new_method = NULL;
    if (!copied(source, &new_source) || !copied(device, &new_device) ||
        !copied(method, &new_method)) {
        ty_free(new_source);
        ty_free(new_device);
        ty_free(new_method);
        return ty_error_memory(error, "a result's notes", source ? strlen(source) : 0);
    }
    if (new_source && ty_result_source_is_new(result, new_source))
        result->sources[result->sources_count++] = new_source;
    else
        ty_free(new_source);
    result->sources_total = ty_add_sticky(result->sources_total, source != NULL);
    if (device) {
        ty_free(result->device);
        result->device = new_device;
    }
    if (method) {
        ty_free(result->method);
        result->method = new_method;
    }
    result->seconds = fmin(result->seconds + seconds, DBL_MAX);
    result->noted = ty_add_sticky(result->noted, samples);
    return TALLY_OK;
}

uint64_t ty_counter_limit(tally_counter counter)
{
    switch (counter) {
    case TALLY_COUNTER_U64:
        return UINT64_MAX;
    case TALLY_COUNTER_U32:
        return UINT32_MAX;
    case TALLY_COUNTER_U16SAT:
        return UINT16_MAX;
    case TALLY_COUNTER_U8SAT:
        return UINT8_MAX;
    }
    return 0;
}

int ty_counter_saturates(tally_counter counter)
{
    return counter == TALLY_COUNTER_U16SAT || counter == TALLY_COUNTER_U8SAT;
}

const char *ty_counter_name(tally_counter counter)
{
    static const char *const names[] = {"u64", "u32", "u16sat", "u8sat"};
    return (unsigned)counter < 4 ? names[counter] : NULL;
}

const char *ty_axis_kind_name(tally_axis_kind kind)
{
    static const char *const names[] = {"even", "edges", "log", "integer", "category"};
    return (unsigned)kind < 5 ? names[kind] : NULL;
}

const char *ty_flow_name(tally_flow flow)
{
    static const char *const names[] = {"count", "clamp", "fail"};
    return (unsigned)flow < 3 ? names[flow] : NULL;
}

tally_status tally_result_narrow(tally_result *result, tally_counter counter, tally_error *error)
{
    if (!result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "result is NULL");
    uint64_t limit = ty_counter_limit(counter), *counts = result->counts;
    if (!limit)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "counter is %d, which is none", (int)counter);
    if (counter == result->counter)
        return TALLY_OK;
    if (result->kind != TALLY_RESULT_COUNTS || result->column)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s counters hold numbers of samples; this result holds %s",
                        ty_counter_name(counter),
                        result->column ? "statistics of values" : "sums of weights");
    if (ty_counter_saturates(result->counter) && limit > ty_counter_limit(result->counter))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "counts saturated as %s no longer know what %s would hold; count again",
                        ty_counter_name(result->counter), ty_counter_name(counter));
    uint64_t cells = result->histograms * result->bins;
    if (!ty_counter_saturates(counter)) {
        for (uint64_t i = 0; i < cells; i++)
            if (counts[i] > limit)
                return ty_error(error, TALLY_ERROR_ARGUMENT,
                                "histogram %" PRIu64 ", bin %" PRIu64 ": %" PRIu64
                                " is more than a %s counter holds; keep u64",
                                i / result->bins, i % result->bins, counts[i],
                                ty_counter_name(counter));
    } else {
        result->noted = ty_result_samples(result);
        for (uint64_t i = 0; i < cells; i++)
            counts[i] = counts[i] < limit ? counts[i] : limit;
    }
    result->counter = counter;
    return TALLY_OK;
}
