/* SPDX-License-Identifier: Apache-2.0 */
/* Columns in dictionaries counted without their values: the numbers of values are counted, then the
 * axis is applied once to each value, or the statistics are taken of each once. Parts of a column
 * that are not in dictionaries are counted by their values, in one call. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "io/codes.h"
#include "io/input.h"

enum { BINS_MOST = 1 << 20, FLOWS = 3 };

typedef struct counting {
    const ty_decoder *decoder;
    void *state;
    const tally_plan *plan; /* NULL: statistics */
    const tally_output *output;
    const tally_axis *axis;
    tally_context *context;
    tally_stats found;     /* of all parts */
    pthread_mutex_t lock;  /* of these and the totals */
    uint64_t *totals;      /* the bins and FLOWS */
    unsigned done, failed; /* parts; while none is done, what has failed tells of the others */
    unsigned char *plain;  /* of each part: it is to be counted by its values */
} counting;

/* The values that are there, once each, and how often they are; 0: memory is out. */
static int find_stats(const ty_codes *codes, tally_stats *stats)
{
    const size_t bytes = tally_dtype_bytes(codes->dtype);
    unsigned char *there = ty_malloc((codes->count + 1) * bytes), *to = there;
    uint64_t samples = codes->dtype < TALLY_F16 ? 0 : codes->missing, nan = samples, minus = 0,
             plus = 0;
    *stats = (tally_stats)TALLY_STATS_INIT;
    for (size_t i = 0; there && i < codes->count; i++) {
        const uint64_t count = codes->counts[i];
        uint64_t bits = 0;
        if (!count)
            continue;
        memcpy(&bits, codes->values + i * bytes, bytes);
        memcpy(to, codes->values + i * bytes, bytes);
        to += bytes;
        const double value = ty_dtype_value(codes->dtype, bits);
        samples += count;
        nan += isnan(value) ? count : 0;
        minus += value == -INFINITY ? count : 0;
        plus += value == INFINITY ? count : 0;
    }
    const tally_view view = tally_view_1d(there, codes->dtype, (size_t)(to - there) / bytes);
    const int good = there && !tally_stats_add(NULL, &view, NULL, 0, 0, stats, NULL);
    stats->samples = samples;
    stats->nan = nan;
    stats->minus_inf = minus;
    stats->plus_inf = plus;
    stats->finite = samples - nan - minus - plus;
    ty_free(there);
    return good;
}

/* The bin of each value that is there, to bins[0 … count], the last that of missing ones; 0: a
 * value is no float64, or the axis refuses it. */
static int find_bins(const counting *c, const ty_codes *codes, uint64_t *bins)
{
    const size_t bytes = tally_dtype_bytes(codes->dtype);
    for (size_t i = 0; i < codes->count; i++) {
        uint64_t bits = 0;
        if (!codes->counts[i])
            continue;
        memcpy(&bits, codes->values + i * bytes, bytes);
        const double value = ty_dtype_value(codes->dtype, bits);
        if ((bytes == 8 && codes->dtype < TALLY_F16 && fabs(value) > 0x1p53) ||
            tally_axis_find(c->axis, value, bins + i, NULL))
            return 0;
    }
    return !codes->missing || !tally_axis_find(c->axis, (double)NAN, bins + codes->count, NULL);
}

/* Adds a part to the totals, or to the statistics; 0: it is to be counted by its values. */
static int add_codes(counting *c, const ty_codes *codes)
{
    tally_stats stats;
    uint64_t *bins = c->plan ? ty_calloc(codes->count + 1, sizeof *bins) : NULL;
    const int good = c->plan ? bins && find_bins(c, codes, bins) : find_stats(codes, &stats);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < codes->count && good && bins; i++)
        c->totals[bins[i]] += codes->counts[i];
    if (good && bins)
        c->totals[bins[codes->count]] += codes->missing;
    else if (good)
        tally_stats_merge(&c->found, &stats, codes->dtype);
    pthread_mutex_unlock(&c->lock);
    ty_free(bins);
    return good;
}

static void count_part(void *arg, unsigned part, unsigned worker)
{
    counting *c = arg;
    ty_codes codes = {0};
    (void)worker;
    pthread_mutex_lock(&c->lock);
    const int hopeless = c->failed && !c->done;
    pthread_mutex_unlock(&c->lock);
    c->plain[part] =
        hopeless || !c->decoder->count_codes(c->state, part, &codes) || !add_codes(c, &codes);
    pthread_mutex_lock(&c->lock);
    c->failed += c->plain[part];
    c->done += !c->plain[part];
    pthread_mutex_unlock(&c->lock);
    ty_free(codes.memory);
    ty_free(codes.counts);
}

/* ---- Parts that are counted by their values ---- */

typedef struct rest {
    const tally_source *source; /* of all rows */
    size_t count;
    uint64_t *begin; /* `count` + 1: elements before each part of the rest */
    uint64_t *row;   /* where each begins */
    size_t bytes;    /* of a value */
} rest;

static tally_status read_rest(void *user, uint64_t begin, uint64_t count, void *to,
                              tally_error *error)
{
    const rest *r = user;
    unsigned char *at = to;
    tally_status status = TALLY_OK;
    size_t low = 0, high = r->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (r->begin[middle] <= begin)
            low = middle;
        else
            high = middle;
    }
    for (; count && !status; low++) {
        const uint64_t left = r->begin[low + 1] - begin, n = left < count ? left : count;
        status =
            r->source->read(r->source->user, r->row[low] + (begin - r->begin[low]), n, at, error);
        at += n * r->bytes;
        begin += n;
        count -= n;
    }
    return status;
}

/* What the source of `view` has, for the rest alone. */
static void take_rest(rest *r, tally_source *source, tally_view *view)
{
    r->source = view->source;
    r->bytes = tally_dtype_bytes(view->dtype);
    *source = (tally_source)TALLY_SOURCE_INIT;
    source->read = read_rest;
    source->user = r;
    view->source = source;
    view->columns = r->begin[r->count];
}

static tally_status count_rest(counting *c, tally_input *input, unsigned parts, tally_error *error)
{
    tally_view view = TALLY_VIEW_INIT, mask = TALLY_VIEW_INIT;
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    rest r = {.begin = ty_calloc(2 * ((size_t)parts + 1), sizeof *r.begin)};
    if (!r.begin)
        return ty_error_memory(error, "parts of a column",
                               2 * ((size_t)parts + 1) * sizeof *r.begin);
    r.row = r.begin + parts + 1;
    uint64_t row = 0;
    for (unsigned part = 0; part < parts; part++) {
        const uint64_t rows = c->decoder->code_rows(c->state, part);
        if (c->plain[part]) {
            r.row[r.count] = row;
            r.begin[r.count + 1] = r.begin[r.count] + rows;
            r.count++;
        }
        row += rows;
    }
    tally_status status = r.count ? tally_input_view(input, &view, error) : TALLY_OK;
    if (!status)
        status = tally_input_mask(input, &mask, error);
    if (!status && r.count) {
        tally_source source, mask_source;
        rest of_mask = r;
        take_rest(&r, &source, &view);
        if (mask.source) {
            take_rest(&of_mask, &mask_source, &mask);
            how.mask = &mask;
        }
        status = c->plan ? tally_execute(c->plan, &view, &how, c->output, error)
                         : tally_stats_add(c->context, &view, how.mask, 0, 0, &c->found, error);
    }
    ty_free(r.begin);
    return status;
}

/* ---- The whole ---- */

/* Whether a plan counts one column's samples, one by one, in host memory. */
static int is_plain_count(const tally_plan *plan, const tally_output *output)
{
    const tally_plan_options *o = tally_plan_options_get(plan);
    tally_device_info device = TALLY_DEVICE_INFO_INIT;
    return o->dimensions == 1 && tally_plan_channels(plan) == 1 && !o->weight_dtype &&
           o->counter == TALLY_COUNTER_U64 && o->axes[0].bins <= BINS_MOST &&
           o->axes[0].under != TALLY_FLOW_BIN && o->axes[0].over != TALLY_FLOW_BIN &&
           o->axes[0].nan != TALLY_FLOW_BIN && o->axes[0].kind != TALLY_AXIS_CATEGORY &&
           output->accumulate == TALLY_ACCUMULATE_ADD && !output->on_device && output->counts &&
           output->flows && !tally_plan_device(plan, &device, NULL) &&
           device.device == TALLY_DEVICE_CPU;
}

/* *counted is 0 if no part is by codes. */
static tally_status count_parts(counting *c, tally_input *input, unsigned parts, int32_t *counted,
                                tally_error *error)
{
    ty_pool *pool = ty_input_pool(input);
    unsigned plain = 0;
    if (pool)
        ty_pool_run(pool, 0, parts, count_part, c);
    else
        for (unsigned part = 0; part < parts; part++)
            count_part(c, part, 0);
    for (unsigned part = 0; part < parts; part++)
        plain += c->plain[part];
    if (plain == parts)
        return TALLY_OK;
    const tally_status status = count_rest(c, input, parts, error);
    *counted = !status;
    return status;
}

/* The same, where it is possible. */
static tally_status count(counting *c, tally_input *input, int32_t *counted, tally_error *error)
{
    *counted = 0;
    c->decoder = ty_input_decoder(input, &c->state);
    const ty_pool *pool = ty_input_pool(input);
    const unsigned parts = c->decoder->code_parts ? c->decoder->code_parts(c->state) : 0;
    if (ty_input_makes_words(input) || !parts || parts < (pool ? ty_pool_threads(pool) : 1))
        return TALLY_OK;
    c->plain = ty_calloc(parts, 1);
    pthread_mutex_init(&c->lock, NULL);
    const tally_status status = c->plain ? count_parts(c, input, parts, counted, error)
                                         : ty_error_memory(error, "a column's parts", parts);
    pthread_mutex_destroy(&c->lock);
    ty_free(c->plain);
    return status;
}

tally_status tally_input_count(tally_input *input, const tally_plan *plan,
                               const tally_output *output, int32_t *counted, tally_error *error)
{
    counting c = {.plan = plan, .output = output};
    if (!input || !plan || !output || !counted)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !input    ? "input"
                        : !plan   ? "plan"
                        : !output ? "output"
                                  : "counted");
    *counted = 0;
    if (!is_plain_count(plan, output))
        return TALLY_OK;
    const uint64_t bins = tally_plan_options_get(plan)->axes[0].bins;
    c.axis = tally_plan_options_get(plan)->axes;
    c.totals = ty_calloc((size_t)bins + FLOWS, sizeof *c.totals);
    if (!c.totals)
        return ty_error_memory(error, "a column's counts", bins * sizeof *c.totals);
    const tally_status status = count(&c, input, counted, error);
    for (uint64_t i = 0; i < bins && *counted; i++)
        ((uint64_t *)output->counts)[i] += c.totals[i];
    output->flows->under += *counted ? c.totals[bins] : 0;
    output->flows->over += *counted ? c.totals[bins + 1] : 0;
    output->flows->nan += *counted ? c.totals[bins + 2] : 0;
    ty_free(c.totals);
    return status;
}

tally_status tally_input_stats(tally_input *input, tally_context *context, tally_stats *stats,
                               int32_t *counted, tally_error *error)
{
    counting c = {.context = context, .found = TALLY_STATS_INIT};
    tally_input_info info = TALLY_INPUT_INFO_INIT;
    if (!input || !stats || !counted || stats->struct_size != sizeof *stats)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s",
                        !input     ? "input is NULL"
                        : !counted ? "counted is NULL"
                                   : "stats: start from TALLY_STATS_INIT");
    const tally_status status = count(&c, input, counted, error);
    tally_input_info_get(input, &info);
    if (*counted)
        tally_stats_merge(stats, &c.found, info.dtype);
    return status;
}
