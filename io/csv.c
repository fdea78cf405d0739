/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts as CSV: one row a bin, "histogram,lo,hi,count", or lo0,hi0,lo1,hi1,… in several
 * dimensions; full precision, a point whatever the locale, "\n" at line ends. Sums of weights have
 * "sum" in place of "count", and "sum_squares" after it when they were asked for.
 *
 * Edges of an axis of times are dates, as ISO 8601 has them (2026-11-23T02:49:22Z).
 *
 * An axis of words, or of an alphabet's bytes, has one column, "value" (or value0, ...), in place
 * of lo and hi; other bytes are "other".
 *
 * A profile has its statistics in place of count, all unless some are asked for.
 *
 * Names come from files. Their control characters are written out (common/printable.h), so a row is
 * one line; one that begins with = + - @, which spreadsheets would take for a formula, or with ',
 * has a ' in front, but not a negative number.
 *
 * Samples in no bin follow their histogram's bins, in the same columns, so that the column adds up
 * to all samples, or their weights; a row appears only when there are such samples:
 * - below: lo = -inf, hi = the first edge;
 * - above: lo = the last edge, hi = inf;
 * - NaN: lo = hi = nan;
 * - masked: lo and hi empty.
 * In several dimensions such a row says the same for every axis; of words "nan", or nothing.
 * Dropping the rows whose lo or hi is not finite leaves the bins. Squares are known of bins alone:
 * "sum_squares" is empty in such a row. Sums that a saved result does not say have no row.
 */
#include "io/write.h"

#include <math.h>
#include <string.h>

#include "../common/printable.h"
#include "io/dates.h"
#include "io/number.h"
#include "io/profile.h"

/* What a spreadsheet would not show as it is: a negative number it does, +5 would be 5. */
static int is_formula(const char *name)
{
    const char *end = name + strlen(name);
    double value;
    if (*name == '-')
        return ty_number_parse(name, end, &value) != end;
    return *name && strchr("=+@'", *name);
}

void ty_put_csv_name(ty_out *out, const char *name)
{
    char one[PRINTABLE_MOST];
    int quote = strpbrk(name, ",\"") != NULL;
    ty_put(out, quote ? "\"" : "");
    ty_put(out, is_formula(name) ? "'" : "");
    for (size_t left = strlen(name), took; left; left -= took, name += took) {
        took = printable_one(name, left, one);
        ty_put(out, *name == '"' ? "\"" : "");
        ty_put(out, one);
    }
    ty_put(out, quote ? "\"" : "");
}

static int has_labels(const tally_result *r, uint32_t d)
{
    return r->labels[d] || r->axes[d].kind == TALLY_AXIS_CATEGORY;
}

static void put_bin_label(ty_out *out, const tally_result *r, uint32_t d, uint64_t bin)
{
    char text[TY_LABEL_SIZE];
    if (!r->labels[d])
        ty_category_label(&r->axes[d], bin, bin + 1, 1, text);
    ty_put_csv_name(out, r->labels[d] ? ty_label(r->labels[d], bin) : text);
}

static void put_header(ty_out *out, const tally_result *r, unsigned shown)
{
    ty_put(out, "histogram");
    for (uint32_t d = 0; d < r->dimensions; d++) {
        char names[] = ",lo0,hi0", value[] = ",value0";
        names[3] = names[7] = value[6] = (char)('0' + d);
        if (has_labels(r, d))
            ty_put_bytes(out, value, r->dimensions == 1 ? 6 : 7);
        else
            ty_put(out, r->dimensions == 1 ? ",lo,hi" : names);
    }
    if (!r->column)
        ty_put(out, r->kind == TALLY_RESULT_COUNTS ? ",count" : ",sum");
    for (int i = 0; i < TY_STATISTICS && r->column; i++) {
        if (!(shown >> i & 1))
            continue;
        ty_put(out, ",");
        ty_put(out, ty_statistic_name(i));
    }
    ty_put(out, r->squares ? ",sum_squares\n" : "\n");
}

/* Those of a profile that are shown: times as ISO 8601 has them, lengths of time in seconds,
 * nothing where there is none. */
static void put_statistics(ty_out *out, const tally_result *r, uint64_t h, const ty_moments *m,
                           unsigned shown)
{
    const tally_time time = r->value_times[h];
    for (int i = 0; i < TY_STATISTICS; i++) {
        const double value = ty_statistic_of(m, i, time);
        char text[TY_LABEL_SIZE];
        if (!(shown >> i & 1))
            continue;
        ty_put(out, ",");
        if (1 << i == TALLY_STATISTIC_COUNT) {
            ty_put_u64(out, m->count);
        } else if (time && !ty_statistic_is_length(i)) {
            ty_time_print_value(value, time, text);
            ty_put(out, text);
        } else if (!isnan(value)) {
            ty_put_double(out, time ? value * calendar_nanoseconds(time) / 1e9 : value);
        }
    }
}

/* An edge; of times as ISO 8601 has it. */
static void put_edge(ty_out *out, const tally_result *r, uint32_t d, uint64_t edge,
                     calendar_precision precision)
{
    char text[TY_LABEL_SIZE];
    const double value = tally_axis_edge(&r->axes[d], edge);
    if (!r->times[d]) {
        ty_put_double(out, value);
        return;
    }
    ty_time_print(value, r->times[d], precision, 1, text);
    ty_put(out, text);
}

static void find_precisions(const tally_result *r, calendar_precision *precisions)
{
    for (uint32_t d = 0; d < r->dimensions; d++)
        precisions[d] = r->times[d] ? ty_time_edges(&r->axes[d], r->times[d]) : CALENDAR_SECONDS;
}

static void put_bins(ty_out *out, const tally_result *r, uint64_t h, unsigned shown)
{
    uint64_t at[TALLY_MAX_DIMENSIONS] = {0};
    calendar_precision precisions[TALLY_MAX_DIMENSIONS];
    find_precisions(r, precisions);
    for (uint64_t bin = 0; bin < r->bins && !out->failed; bin++) {
        ty_put_csv_name(out, r->names[h]);
        for (uint32_t d = 0; d < r->dimensions; d++) {
            ty_put(out, ",");
            if (has_labels(r, d)) {
                put_bin_label(out, r, d, at[d]);
                continue;
            }
            put_edge(out, r, d, at[d], precisions[d]);
            ty_put(out, ",");
            put_edge(out, r, d, at[d] + 1, precisions[d]);
        }
        if (r->column) {
            const ty_moments m = ty_profile_moments(r, h, bin, bin + 1);
            put_statistics(out, r, h, &m, shown);
        } else {
            ty_put(out, ",");
            ty_put_count(out, r, h * r->bins + bin);
        }
        if (r->squares) {
            ty_put(out, ",");
            ty_put_double(out, r->squares[h * r->bins + bin]);
        }
        ty_put(out, "\n");
        for (uint32_t d = r->dimensions; d-- > 0 && ++at[d] == r->axes[d].bins;)
            at[d] = 0;
    }
}

static void put_flow(ty_out *out, const tally_result *r, uint64_t h, int flow, const char *lo,
                     const char *hi, unsigned shown)
{
    const uint64_t count = ty_result_flow_count(r, h, flow);
    if (!count || (r->kind != TALLY_RESULT_COUNTS && !r->flow_sums))
        return;
    calendar_precision precisions[TALLY_MAX_DIMENSIONS];
    find_precisions(r, precisions);
    ty_put_csv_name(out, r->names[h]);
    for (uint32_t d = 0; d < r->dimensions; d++) {
        ty_put(out, ",");
        if (has_labels(r, d)) {
            ty_put(out, flow == 2 ? "nan" : flow == 1 && !r->labels[d] ? "other" : "");
            continue;
        }
        if (lo)
            ty_put(out, lo);
        else
            put_edge(out, r, d, r->axes[d].bins, precisions[d]);
        ty_put(out, ",");
        if (hi)
            ty_put(out, hi);
        else
            put_edge(out, r, d, 0, precisions[d]);
    }
    if (r->column) {
        const ty_moments m = ty_profile_flow(r, h, flow);
        put_statistics(out, r, h, &m, shown);
        ty_put(out, "\n");
        return;
    }
    ty_put(out, ",");
    if (r->kind == TALLY_RESULT_COUNTS)
        ty_put_u64(out, count);
    else if (r->kind == TALLY_RESULT_SUMS_I64)
        ty_put_i64(out, ((const int64_t *)r->flow_sums)[h * 4 + (unsigned)flow]);
    else
        ty_put_double(out, ty_result_flow(r, h, flow));
    ty_put(out, r->squares ? ",\n" : "\n");
}

void ty_write_csv(ty_out *out, const tally_result *r, const tally_write_options *options)
{
    const unsigned shown = options->statistics ? options->statistics : TY_STATISTICS_ALL;
    if (!options->no_header)
        put_header(out, r, shown);
    for (uint64_t h = 0; h < r->histograms; h++) {
        put_bins(out, r, h, shown);
        put_flow(out, r, h, 0, "-inf", NULL, shown);
        put_flow(out, r, h, 1, NULL, "inf", shown);
        put_flow(out, r, h, 2, "nan", "nan", shown);
        put_flow(out, r, h, 3, "", "", shown);
    }
}
