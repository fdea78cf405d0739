/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The saved form, "tally/1": "schema", "source", "dtype", "samples", "axes", "histograms", and last
 * "run": "device", "method" and "seconds", all that may differ when the same is counted again.
 * Beyond these, only where they say something:
 * - "sources", their number, when it is more than the names in "source": these are the first 32
 *   different ones;
 * - "counter" when not u64; "weights" ("f64" or "i64") when the counts are sums of weights;
 * - on an axis "last":"open", "under", "over", "nan" ("clamp", "fail"), "first" of an integer axis,
 *   "categories" of a category axis (256 numbers, null for a byte in no bin), "labels" of an axis
 *   of words, "others" if the last is for so many values together; "time", of an axis of times the
 *   unit that its numbers count since 1970-01-01T00:00Z ("day", "s", "ms", "us", "ns"), and
 *   "dates", its edges as ISO 8601 has them, which follow from the rest and are not read;
 * - "weight_limit" of a plan that had one; then beside the counts "units", which are what counts
 * are rounded from and merging adds: each sum in 2^-63 of the power of two above the limit, as 32
 *   hexadecimal digits of two's complement; and "flow_units", those of the four below;
 * - "sums_squared" beside the counts, and the sums of weights in no bin: "underflow_sum",
 *   "overflow_sum", "nan_sum", "masked_sum".
 * - of a profile "kind" ("profile") and "column", what is binned; then beside the counts of values
 *   "statistics" of each bin and "flow_statistics" of the samples below, above, NaN and masked:
 *   "sum", "mean", "m2" (the sum of squares about the mean), "min", "max", null where there are
 *   none; "error" and "sd" follow from these and are not read; "time" of values that are times, and
 *   in the statistics their "dates";
 * - "by" where each histogram is of a value of a column: "g,x", that column and the samples';
 *   "others" if the last is of so many values together;
 * - "summary" of a histogram of numbers: "n" samples in bins, their "mean", "sd", "min", "median",
 *   "max" where the counts tell, and whether they are "exact": not between edges of bins. It
 * follows from the rest and is not read, but for its "quantiles" of all samples: a "q" and a
 * "value" each, null where there is no sample. What is unknown is null (dtype, device, method) or 0
 * (seconds). Sums that are no JSON numbers are the strings "inf", "-inf" and "nan". Tables of
 * several dimensions are flat, the last axis fastest.
 */
#include "io/dates.h"
#include "io/facts.h"
#include "io/profile.h"
#include "io/write.h"

#include <math.h>
#include <string.h>

#include "../common/printable.h"

/* Characters that stand for themselves, at the text's beginning. */
static size_t count_plain(const char *text)
{
    size_t n = 0;
    while ((unsigned char)text[n] - 0x20u < 0x5f && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

/* What could drive a terminal is escaped: saved forms are read there too. */
void ty_put_json_string(ty_out *out, const char *text)
{
    ty_put(out, "\"");
    for (size_t left = strlen(text), length; left; left -= length, text += length) {
        char escape[16];
        length = count_plain(text);
        if (length) {
            ty_put_bytes(out, text, length);
            continue;
        }
        length = utf8_length(text, left);
        const uint32_t c = utf8_value(text, length);
        if (*text == '"' || *text == '\\')
            ty_put(out, "\\");
        if (!printable_hides(c)) {
            ty_put_bytes(out, text, length);
        } else if (c <= 0xffff) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            ty_put(out, escape);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                     (unsigned)(0xdc00 + (c & 0x3ff)));
            ty_put(out, escape);
        }
    }
    ty_put(out, "\"");
}

static void put_string_or_null(ty_out *out, const char *text)
{
    if (text && *text)
        ty_put_json_string(out, text);
    else
        ty_put(out, "null");
}

static void put_number(ty_out *out, double value)
{
    if (isfinite(value)) {
        ty_put_double(out, value);
        return;
    }
    ty_put(out, "\"");
    ty_put_double(out, value);
    ty_put(out, "\"");
}

static void put_number_or_null(ty_out *out, double value)
{
    if (isnan(value))
        ty_put(out, "null");
    else
        put_number(out, value);
}

static void put_flow(ty_out *out, const char *key, tally_flow flow)
{
    if (flow == TALLY_FLOW_COUNT)
        return;
    ty_put(out, ",\"");
    ty_put(out, key);
    ty_put(out, "\":\"");
    ty_put(out, ty_flow_name(flow));
    ty_put(out, "\"");
}

static void put_labels(ty_out *out, const ty_labels *labels)
{
    for (uint64_t i = 0; i < labels->count && !out->failed; i++) {
        ty_put(out, i ? "," : ",\"labels\":[");
        ty_put_json_string(out, ty_label(labels, i));
    }
    ty_put(out, "]");
    if (labels->others) {
        ty_put(out, ",\"others\":");
        ty_put_u64(out, labels->others);
    }
}

/* The unit, and the edges as dates: to the second, or with as many digits as the unit has. */
static void put_times(ty_out *out, const tally_axis *axis, tally_time time)
{
    char text[TY_LABEL_SIZE];
    const calendar_precision precision = ty_time_edges(axis, time);
    ty_put(out, ",\"time\":\"");
    ty_put(out, ty_time_name(time));
    for (uint64_t i = 0; i <= axis->bins && !out->failed; i++) {
        ty_time_print(tally_axis_edge(axis, i), time, precision, 1, text);
        ty_put(out, i ? "\",\"" : "\",\"dates\":[\"");
        ty_put(out, text);
    }
    ty_put(out, "\"]");
}

static void put_axis(ty_out *out, const tally_axis *axis, const ty_labels *labels, tally_time time)
{
    ty_put(out, "{\"kind\":\"");
    ty_put(out, ty_axis_kind_name(axis->kind));
    ty_put(out, "\",\"bins\":");
    ty_put_u64(out, axis->bins);
    ty_put(out, ",\"lo\":");
    ty_put_double(out, axis->lo);
    ty_put(out, ",\"hi\":");
    ty_put_double(out, axis->hi);
    ty_put(out, ",\"edges\":[");
    for (uint64_t i = 0; i <= axis->bins; i++) {
        ty_put(out, i ? "," : "");
        ty_put_double(out, tally_axis_edge(axis, i));
    }
    ty_put(out, "]");
    if (axis->kind == TALLY_AXIS_INTEGER) {
        ty_put(out, ",\"first\":");
        ty_put_i64(out, axis->first);
    }
    for (int i = 0; axis->categories && i < 256; i++) {
        ty_put(out, i ? "," : ",\"categories\":[");
        if (axis->categories[i] == TALLY_CATEGORY_NONE)
            ty_put(out, "null");
        else
            ty_put_u64(out, axis->categories[i]);
        ty_put(out, i == 255 ? "]" : "");
    }
    for (uint64_t i = 0; axis->kind == TALLY_AXIS_CATEGORY && i < axis->bins; i++) {
        char text[TY_LABEL_SIZE];
        ty_category_label(axis, i, i + 1, 1, text);
        ty_put(out, i ? "," : ",\"letters\":[");
        ty_put_json_string(out, text);
        ty_put(out, i + 1 == axis->bins ? "]" : "");
    }
    if (labels)
        put_labels(out, labels);
    if (time)
        put_times(out, axis, time);
    if (axis->last == TALLY_LAST_OPEN)
        ty_put(out, ",\"last\":\"open\"");
    put_flow(out, "under", axis->under);
    put_flow(out, "over", axis->over);
    put_flow(out, "nan", axis->nan);
    ty_put(out, "}");
}

void ty_put_count(ty_out *out, const tally_result *result, uint64_t i)
{
    if (result->kind == TALLY_RESULT_SUMS_F64)
        ty_put_double(out, ((const double *)result->counts)[i]);
    else if (result->kind == TALLY_RESULT_SUMS_I64)
        ty_put_i64(out, ((const int64_t *)result->counts)[i]);
    else
        ty_put_u64(out, ((const uint64_t *)result->counts)[i]);
}

static void put_units(ty_out *out, const char *key, const tally_wide *sums, uint64_t count)
{
    char digits[36];
    ty_put(out, key);
    for (uint64_t i = 0; i < count && !out->failed; i++) {
        snprintf(digits, sizeof digits, "\"%016llx%016llx\"", (unsigned long long)sums[i].high,
                 (unsigned long long)sums[i].low);
        ty_put(out, i ? "," : "[");
        ty_put(out, digits);
    }
    ty_put(out, "]");
}

static void put_counts(ty_out *out, const tally_result *result, uint64_t h)
{
    uint64_t first = h * result->bins;
    ty_put(out, ",\"counts\":[");
    for (uint64_t i = 0; i < result->bins && !out->failed; i++) {
        ty_put(out, i ? "," : "");
        if (result->kind == TALLY_RESULT_SUMS_F64)
            put_number(out, ((const double *)result->counts)[first + i]);
        else
            ty_put_count(out, result, first + i);
    }
    ty_put(out, "]");
    if (result->wide)
        put_units(out, ",\"units\":", result->wide + first, result->bins);
    for (uint64_t i = 0; result->squares && i < result->bins && !out->failed; i++) {
        ty_put(out, i ? "," : ",\"sums_squared\":[");
        put_number(out, result->squares[first + i]);
        ty_put(out, i + 1 == result->bins ? "]" : "");
    }
}

static void put_flow_sums(ty_out *out, const tally_result *result, uint64_t h)
{
    static const char *const keys[] = {"underflow", "overflow", "nan", "masked"};
    for (unsigned f = 0; result->flow_sums && f < 4; f++) {
        ty_put(out, ",\"");
        ty_put(out, keys[f]);
        ty_put(out, "_sum\":");
        if (result->kind == TALLY_RESULT_SUMS_F64)
            put_number(out, ((const double *)result->flow_sums)[h * 4 + f]);
        else
            ty_put_i64(out, ((const int64_t *)result->flow_sums)[h * 4 + f]);
    }
    if (result->wide)
        put_units(out, ",\"flow_units\":", result->wide_flows + h * 4, 4);
}

/* Exact ones of all samples, behind `before`. */
static void put_quantiles(ty_out *out, const tally_result *result, uint64_t h, const char *before)
{
    const double *q, *values;
    const uint32_t count = tally_result_quantiles_get(result, h, &q, &values);
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        ty_put(out, i ? ",{\"q\":" : before);
        ty_put(out, i ? "" : "\"quantiles\":[{\"q\":");
        ty_put_double(out, q[i]);
        ty_put(out, ",\"value\":");
        put_number_or_null(out, values[i]);
        ty_put(out, "}");
    }
    ty_put(out, count ? "]" : "");
}

/* What follows from the counts of samples in bins, for those who read no further. */
static void put_facts(ty_out *out, const tally_result *result, uint64_t h)
{
    static const char *const keys[] = {"mean", "sd", "min", "median", "max"};
    ty_facts facts;
    if (!ty_facts_of(result, h, &facts)) {
        put_quantiles(out, result, h, ",\"summary\":{");
        ty_put(out, result->quantiles ? "}" : "");
        return;
    }
    const double values[] = {facts.mean, facts.deviation, facts.least, facts.median, facts.most};
    ty_put(out, ",\"summary\":{\"n\":");
    ty_put_u64(out, facts.count);
    for (int i = 0; i < 5; i++) {
        if (!isfinite(values[i]))
            continue;
        ty_put(out, ",\"");
        ty_put(out, keys[i]);
        ty_put(out, "\":");
        ty_put_double(out, values[i]);
    }
    ty_put(out, facts.is_exact ? ",\"exact\":true" : ",\"exact\":false");
    put_quantiles(out, result, h, ",");
    ty_put(out, "}");
}

/* What follows from the arrays before it: the means' errors and the standard deviations. */
static void put_spreads(ty_out *out, const tally_result *r, uint64_t h, int flows)
{
    for (int i = 0; i < TY_STATISTICS; i++) {
        if (!ty_statistic_is_length(i))
            continue;
        ty_put(out, ",\"");
        ty_put(out, ty_statistic_name(i));
        for (uint64_t cell = 0; cell < (flows ? 4 : r->bins) && !out->failed; cell++) {
            const ty_moments m =
                flows ? ty_profile_flow(r, h, (int)cell) : ty_profile_moments(r, h, cell, cell + 1);
            ty_put(out, cell ? "," : "\":[");
            put_number_or_null(out, ty_statistic_of(&m, i, r->value_times[h]));
        }
        ty_put(out, "]");
    }
}

/* Of times the means, minima and maxima, as programs are shown times. */
static void put_value_dates(ty_out *out, const tally_result *r, uint64_t h, uint64_t cells,
                            int flows)
{
    const tally_time time = r->value_times[h];
    static const int dated[] = {1, 3, 4};
    for (int k = 0; k < 3; k++) {
        const double *values = ty_profile_field(r, dated[k], h, flows);
        ty_put(out, k ? ",\"" : ",\"dates\":{\"");
        ty_put(out, ty_profile_fields[dated[k]]);
        for (uint64_t i = 0; i < cells && !out->failed; i++) {
            char text[TY_LABEL_SIZE];
            ty_time_print_value(values[i], time, text);
            ty_put(out, i ? "," : "\":[");
            put_string_or_null(out, text);
        }
        ty_put(out, "]");
    }
    ty_put(out, "}");
}

static void put_statistics(ty_out *out, const tally_result *r, uint64_t h, int flows)
{
    const uint64_t cells = flows ? 4 : r->bins;
    ty_put(out, flows ? ",\"flow_statistics\":{" : ",\"statistics\":{");
    for (int f = 0; f < TY_PROFILE_FIELDS; f++) {
        const double *values = ty_profile_field(r, f, h, flows);
        ty_put(out, f ? ",\"" : "\"");
        ty_put(out, ty_profile_fields[f]);
        for (uint64_t i = 0; i < cells && !out->failed; i++) {
            ty_put(out, i ? "," : "\":[");
            put_number_or_null(out, values[i]);
        }
        ty_put(out, "]");
    }
    put_spreads(out, r, h, flows);
    if (r->value_times[h])
        put_value_dates(out, r, h, cells, flows);
    ty_put(out, "}");
}

static void put_profile(ty_out *out, const tally_result *r, uint64_t h)
{
    if (r->value_times[h]) {
        ty_put(out, ",\"time\":\"");
        ty_put(out, ty_time_name(r->value_times[h]));
        ty_put(out, "\"");
    }
    put_statistics(out, r, h, 0);
    put_statistics(out, r, h, 1);
}

static void put_histogram(ty_out *out, const tally_result *result, uint64_t h)
{
    const tally_flows *flows = &result->flows[h];
    ty_put(out, "{\"name\":");
    ty_put_json_string(out, result->names[h]);
    put_counts(out, result, h);
    ty_put(out, ",\"underflow\":");
    ty_put_u64(out, flows->under);
    ty_put(out, ",\"overflow\":");
    ty_put_u64(out, flows->over);
    ty_put(out, ",\"nan\":");
    ty_put_u64(out, flows->nan);
    ty_put(out, ",\"masked\":");
    ty_put_u64(out, flows->masked);
    put_flow_sums(out, result, h);
    put_facts(out, result, h);
    if (result->column)
        put_profile(out, result, h);
    ty_put(out, "}");
}

static void put_header(ty_out *out, const tally_result *result)
{
    ty_put(out, "{\"schema\":\"tally/1\",\"source\":[");
    for (uint32_t i = 0; i < result->sources_count; i++) {
        ty_put(out, i ? "," : "");
        ty_put_json_string(out, result->sources[i]);
    }
    ty_put(out, "],\"dtype\":");
    put_string_or_null(out, tally_dtype_name(result->dtype));
    ty_put(out, ",\"samples\":");
    ty_put_u64(out, ty_result_samples(result));
    if (result->sources_total != result->sources_count) {
        ty_put(out, ",\"sources\":");
        ty_put_u64(out, result->sources_total);
    }
    if (result->counter != TALLY_COUNTER_U64) {
        ty_put(out, ",\"counter\":\"");
        ty_put(out, ty_counter_name(result->counter));
        ty_put(out, "\"");
    }
    if (result->column) {
        ty_put(out, ",\"kind\":\"profile\",\"column\":");
        ty_put_json_string(out, result->column);
    }
    if (result->by) {
        ty_put(out, ",\"by\":");
        ty_put_json_string(out, result->by);
    }
    if (result->others) {
        ty_put(out, ",\"others\":");
        ty_put_u64(out, result->others);
    }
    if (result->kind != TALLY_RESULT_COUNTS)
        ty_put(out, result->kind == TALLY_RESULT_SUMS_F64 ? ",\"weights\":\"f64\""
                                                          : ",\"weights\":\"i64\"");
    if (result->wide) {
        ty_put(out, ",\"weight_limit\":");
        ty_put_double(out, result->weight_limit);
    }
}

void ty_write_json(ty_out *out, const tally_result *result)
{
    put_header(out, result);
    ty_put(out, ",\n\"axes\":[");
    for (uint32_t d = 0; d < result->dimensions; d++) {
        ty_put(out, d ? ",\n" : "");
        put_axis(out, &result->axes[d], result->labels[d], result->times[d]);
    }
    ty_put(out, "],\n\"histograms\":[");
    for (uint64_t h = 0; h < result->histograms; h++) {
        ty_put(out, h ? ",\n" : "");
        put_histogram(out, result, h);
    }
    ty_put(out, "],\n\"run\":{\"device\":");
    put_string_or_null(out, result->device);
    ty_put(out, ",\"method\":");
    put_string_or_null(out, result->method);
    ty_put(out, ",\"seconds\":");
    ty_put_double(out, result->seconds);
    ty_put(out, "}}");
}
