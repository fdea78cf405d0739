/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms for a terminal: a row for each bin, or for a few neighbouring bins, with a bar. */
#include "io/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/facts.h"
#include "../common/printable.h"

/* ---- Colour ---- */

/* Nearest of 6 × 6 × 6 colours and 24 greys. */
static unsigned nearest(uint32_t rgb)
{
    static const int steps[] = {0, 95, 135, 175, 215, 255};
    int c[3] = {(int)(rgb >> 16 & 255), (int)(rgb >> 8 & 255), (int)(rgb & 255)}, at[3];
    int cube = 0, grey = 0;
    for (int i = 0; i < 3; i++) {
        at[i] = 0;
        for (int s = 1; s < 6; s++)
            if (abs(steps[s] - c[i]) < abs(steps[at[i]] - c[i]))
                at[i] = s;
        cube += (steps[at[i]] - c[i]) * (steps[at[i]] - c[i]);
    }
    int shade = ((c[0] + c[1] + c[2]) / 3 - 3) / 10;
    shade = shade < 0 ? 0 : shade > 23 ? 23 : shade;
    for (int i = 0; i < 3; i++)
        grey += (8 + 10 * shade - c[i]) * (8 + 10 * shade - c[i]);
    return (unsigned)(grey < cube ? 232 + shade : 16 + 36 * at[0] + 6 * at[1] + at[2]);
}

void ty_table_color(ty_out *out, const tally_write_options *options, uint32_t rgb)
{
    char code[24];
    snprintf(code, sizeof code, "\033[38;5;%um", nearest(rgb));
    ty_put(out, options->color ? code : "");
}

void ty_table_dim(ty_out *out, const tally_write_options *options)
{
    ty_put(out, options->color ? "\033[2m" : "");
}

void ty_table_bold(ty_out *out, const tally_write_options *options)
{
    ty_put(out, options->color ? "\033[1m" : "");
}

void ty_table_plain(ty_out *out, const tally_write_options *options)
{
    ty_put(out, options->color ? "\033[0m" : "");
}

/* ---- Rows ---- */

/* One row: exact while it can be. */
typedef struct row {
    uint64_t first, end;
    uint64_t count; /* COUNTS; sticks at 2^64-1 */
    double value;   /* of any kind */
} row;

typedef struct block {
    const tally_result *result;
    uint64_t h, group, rows;
    ty_row_style style;
    double whole;             /* what 100 % is; 0: no shares */
    double largest, smallest; /* largest magnitude of a row; smallest above 0 */
    int any_negative;
    int decimals; /* of sums; -1: scientific */
    size_t label_columns, count_columns;
} block;

uint64_t ty_table_group(uint64_t bins, uint64_t rows)
{
    uint64_t least = (bins - 1) / rows + 1;
    for (uint64_t group = least; group < 2 * least; group++)
        if (bins % group == 0)
            return group;
    return least;
}

static row get_row(const block *b, uint64_t i)
{
    const tally_result *r = b->result;
    row row = {.first = i * b->group};
    row.end = r->bins - row.first < b->group ? r->bins : row.first + b->group;
    for (uint64_t bin = row.first; bin < row.end; bin++) {
        row.value += ty_result_value(r, b->h, bin);
        if (r->kind == TALLY_RESULT_COUNTS) {
            uint64_t count = ((const uint64_t *)r->counts)[b->h * r->bins + bin];
            row.count = row.count > UINT64_MAX - count ? UINT64_MAX : row.count + count;
        }
    }
    return row;
}

static void print_sum(double sum, int decimals, char text[TY_NUMBER_SIZE])
{
    if (decimals < 0) {
        ty_print_scientific(sum, 5, text);
    } else if (decimals == 0 && fabs(sum) < 0x1p53) {
        text[0] = '-';
        ty_print_grouped((uint64_t)fabs(sum), text + (sum < 0));
    } else {
        ty_print_fixed(sum, decimals, text);
    }
}

static void print_value(const block *b, const row *row, char text[TY_NUMBER_SIZE])
{
    if (b->result->kind == TALLY_RESULT_COUNTS)
        ty_print_grouped(row->count, text);
    else
        print_sum(row->value, b->decimals, text);
}

/* None when all are integers, six significant digits in the largest else. */
int ty_table_decimals(double largest, int all_whole)
{
    if (all_whole && largest < 1e15)
        return 0;
    if (largest >= 1e12 || largest < 1e-3)
        return -1;
    int decimals = 5 - (int)floor(log10(largest));
    return decimals < 0 ? 0 : decimals;
}

/* What a flow adds, as text: a count, a sum, or "?" for a sum that nobody knows. */
static void print_flow(const tally_result *r, uint64_t h, int flow, int decimals,
                       char text[TY_NUMBER_SIZE])
{
    if (r->kind == TALLY_RESULT_COUNTS)
        ty_print_grouped(ty_result_flow_count(r, h, flow), text);
    else if (r->flow_sums)
        print_sum(ty_result_flow(r, h, flow), decimals, text);
    else
        strcpy(text, "?");
}

/* Takes the sums of flows into the largest of magnitude, and whether all are whole. */
static void survey_flows(const tally_result *r, uint64_t h, double *largest, int *all_whole)
{
    for (int i = 0; i < 4 && r->flow_sums; i++) {
        double sum = ty_result_flow(r, h, i);
        *all_whole &= sum == nearbyint(sum);
        if (isfinite(sum))
            *largest = fmax(*largest, fabs(sum));
    }
}

/* What 100 % is: all that was looked at, in bins or not; 0 where parts of it are negative. */
static double whole_of(const block *b, double sum)
{
    const tally_result *r = b->result;
    int negative = b->any_negative;
    for (int i = 0; i < 3 && (r->kind == TALLY_RESULT_COUNTS || r->flow_sums); i++) {
        double flow = ty_result_flow(r, b->h, i);
        negative |= flow < 0;
        sum += flow;
    }
    return !negative && isfinite(sum) ? sum : 0;
}

void ty_table_label(const tally_result *r, const ty_row_style *style, uint64_t first, uint64_t end,
                    char label[TY_ROW_SIZE])
{
    const ty_labels *labels = r->labels[0];
    if (!labels) {
        ty_row_label(&r->axes[0], style, first, end, label);
        return;
    }
    enum { MOST = 48 };
    const char *text = ty_label(labels, first);
    const size_t fit = (size_t)ty_text_fit(text, MOST);
    const size_t took = printable(text, fit, label, TY_ROW_SIZE - 4);
    if (text[took])
        strcat(label, style->ascii ? "..." : "\u2026");
    else if (!*text)
        strcpy(label, "\"\"");
}

/* Widths and scales, from all rows. */
static void survey(block *b, const tally_write_options *options)
{
    const tally_result *r = b->result;
    char text[TY_NUMBER_SIZE], label[TY_ROW_SIZE];
    int integers = 1;
    double sum = 0, extent;
    b->group = ty_table_group(r->bins, options->max_rows);
    b->rows = (r->bins - 1) / b->group + 1;
    b->style.ascii = options->ascii;
    if (!r->labels[0])
        b->style =
            ty_row_style_choose(&r->axes[0], r->dtype, r->times[0], b->group, options->ascii);
    for (uint64_t i = 0; i < b->rows; i++) {
        row row = get_row(b, i);
        sum += row.value;
        integers &= row.value == nearbyint(row.value);
        b->any_negative |= row.value < 0;
        if (isfinite(row.value) && fabs(row.value) > b->largest)
            b->largest = fabs(row.value);
        if (row.value != 0 && isfinite(row.value) &&
            (b->smallest == 0 || fabs(row.value) < b->smallest))
            b->smallest = fabs(row.value);
    }
    extent = b->largest;
    survey_flows(r, b->h, &extent, &integers);
    b->decimals = ty_table_decimals(extent, integers);
    b->label_columns = 5;
    for (uint64_t i = 0; i < b->rows; i++) {
        row row = get_row(b, i);
        print_value(b, &row, text);
        ty_table_label(b->result, &b->style, row.first, row.end, label);
        size_t columns = ty_text_columns(label);
        b->label_columns = columns > b->label_columns ? columns : b->label_columns;
        b->count_columns = strlen(text) > b->count_columns ? strlen(text) : b->count_columns;
    }
    for (int i = 0; i < 4; i++) {
        print_flow(r, b->h, i, b->decimals, text);
        b->count_columns = strlen(text) > b->count_columns ? strlen(text) : b->count_columns;
    }
    size_t heading = r->kind == TALLY_RESULT_COUNTS ? 5 : 3;
    b->count_columns = b->count_columns > heading ? b->count_columns : heading;
    b->whole = whole_of(b, sum);
}

/* ---- Bars ---- */

/* The bar's part of the full length, 0 … 1. */
static double bar_part(const block *b, double value, const tally_write_options *options)
{
    double size = fabs(value);
    if (!(size > 0) || !(b->largest > 0))
        return isinf(value) ? 1 : 0;
    if (size >= b->largest)
        return 1;
    if (!options->log_counts)
        return size / b->largest;
    double unit = b->result->kind == TALLY_RESULT_COUNTS ? 1 : b->smallest;
    return log1p(fmin(size / unit, 1e300)) / log1p(fmin(b->largest / unit, 1e300));
}

static void put_bar(ty_out *out, double part, size_t columns, const tally_write_options *options)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    if (!(part > 0))
        return;
    if (options->ascii) {
        size_t whole = (size_t)(part * (double)columns + 0.5);
        ty_put_repeat(out, "#", whole);
        ty_put(out, whole ? "" : "."); /* there is something */
        return;
    }
    size_t n = (size_t)(part * 8 * (double)columns + 0.5);
    n = n ? n : 1;
    ty_put_repeat(out, "\u2588", n / 8);
    ty_put(out, eighths[n % 8]);
}

/* A bar that ends at the zero line, from the left: full cells and half ones. */
static void put_bar_left(ty_out *out, double part, size_t columns,
                         const tally_write_options *options)
{
    size_t halves = (size_t)(part * 2 * (double)columns + 0.5);
    halves = part > 0 && halves == 0 ? 1 : halves;
    size_t cells = (halves + 1) / 2;
    ty_put_repeat(out, " ", columns - cells);
    if (options->ascii) {
        ty_put_repeat(out, "#", cells);
        return;
    }
    ty_put(out, halves % 2 ? "\u2590" : "");
    ty_put_repeat(out, "\u2588", halves / 2);
}

static void put_row(ty_out *out, const block *b, const row *row, size_t share, size_t bar,
                    const tally_write_options *options)
{
    char text[TY_NUMBER_SIZE], label[TY_ROW_SIZE];
    ty_table_label(b->result, &b->style, row->first, row->end, label);
    (b->result->labels[0] ? ty_put_left : ty_put_right)(out, label, b->label_columns);
    ty_put(out, "  ");
    print_value(b, row, text);
    ty_put_right(out, text, b->count_columns);
    if (share) {
        ty_percent_print(row->value, b->whole, text);
        ty_put(out, "  ");
        ty_put_right(out, text, share);
    }
    double part = bar_part(b, row->value, options);
    if (bar && (part > 0 || b->any_negative)) {
        ty_put(out, "  ");
        ty_table_color(out, options, ty_color_of(b->result, b->h));
        if (b->any_negative) {
            size_t half = (bar - 1) / 2;
            put_bar_left(out, row->value < 0 ? part : 0, half, options);
            ty_put(out, options->ascii ? "|" : "\u2502");
            part = row->value > 0 ? part : 0;
            put_bar(out, part, half, options);
        } else {
            put_bar(out, part, bar, options);
        }
        ty_table_plain(out, options);
    }
    ty_put(out, "\n");
}

void ty_table_flows(ty_out *out, const tally_result *result, uint64_t h, double whole, int decimals,
                    size_t label_columns, size_t count_columns)
{
    const char *words[] = {"below", "above", "NaN", "masked"};
    char text[TY_NUMBER_SIZE];
    double largest = 0;
    int all_whole = 1;
    if (result->axes[0].kind == TALLY_AXIS_CATEGORY)
        words[1] = "other";
    if (result->labels[0])
        words[2] = "missing";
    survey_flows(result, h, &largest, &all_whole);
    if (decimals == TY_OWN_DECIMALS)
        decimals = ty_table_decimals(largest, all_whole);
    for (int i = 0; i < 4; i++) {
        const uint64_t count = ty_result_flow_count(result, h, i);
        if (!count)
            continue;
        (result->labels[0] ? ty_put_left : ty_put_right)(out, words[i], label_columns);
        ty_put(out, "  ");
        print_flow(result, h, i, decimals, text);
        ty_put_right(out, text, count_columns);
        double part = ty_result_flow(result, h, i);
        text[0] = '\0';
        if (whole > 0 && i < 3 && !isnan(part)) /* shares are of what was looked at */
            ty_percent_print(part, whole, text);
        if (whole > 0 && (*text || result->kind != TALLY_RESULT_COUNTS)) {
            ty_put(out, "  ");
            ty_put_right(out, text, 7);
        }
        if (result->kind != TALLY_RESULT_COUNTS) {
            ty_count_noun(count, "sample", text);
            ty_put(out, "  ");
            ty_put(out, text);
        }
        ty_put(out, "\n");
    }
}

static void put_name(ty_out *out, const tally_result *r, uint64_t h,
                     const tally_write_options *options)
{
    if (!r->names[h][0])
        return;
    ty_table_bold(out, options);
    ty_table_color(out, options, ty_color_of(r, h));
    ty_put_printable(out, r->names[h]);
    ty_table_plain(out, options);
    ty_put(out, "\n");
}

/* A blank line before a part of a table, but where it is the first line of all. */
static void put_gap(ty_out *out, const tally_write_options *options, uint64_t part)
{
    ty_put(out, options->no_header && !part ? "" : "\n");
}

static void put_columns(ty_out *out, const block *b, size_t share,
                        const tally_write_options *options)
{
    ty_table_dim(out, options);
    (b->result->labels[0] ? ty_put_left : ty_put_right)(
        out, b->result->axes[0].kind == TALLY_AXIS_CATEGORY ? "bytes" : "value", b->label_columns);
    ty_put(out, "  ");
    ty_put_right(out, b->result->kind == TALLY_RESULT_COUNTS ? "count" : "sum", b->count_columns);
    if (share) {
        ty_put(out, "  ");
        ty_put_right(out, "share", share);
    }
    ty_table_plain(out, options);
    ty_put(out, "\n");
}

static void put_summary(ty_out *out, const tally_result *r, uint64_t h,
                        const tally_write_options *options)
{
    ty_facts facts;
    char text[TY_FACTS_SIZE];
    if (options->no_header || !ty_facts_of(r, h, &facts))
        return;
    ty_facts_print(&facts, options->ascii, text);
    ty_table_dim(out, options);
    size_t column = 0;
    for (char *part = text, *next; part; part = next) {
        next = strstr(part, ", ");
        if (next)
            *next = '\0', next += 2;
        const size_t width = ty_text_columns(part) + 2 * (next != NULL);
        const int wraps = column && column + width > options->width;
        ty_put(out, part == text ? "" : wraps ? ",\n" : ", ");
        ty_put(out, part);
        column = wraps ? width : column + width;
    }
    ty_table_plain(out, options);
    ty_put(out, "\n");
}

static void put_quantiles(ty_out *out, const tally_result *r, uint64_t h,
                          const tally_write_options *options)
{
    const double *q, *values;
    const uint32_t count = tally_result_quantiles_get(r, h, &q, &values);
    size_t column = 0;
    if (!count)
        return;
    ty_table_dim(out, options);
    ty_put(out, "quantiles");
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        char part[TY_LABEL_SIZE], value[TY_LABEL_SIZE];
        ty_edge_print(q[i], (ty_edge_style){.digits = 6}, part);
        ty_print_exact(values[i], r->times[0], value);
        const size_t width = strlen(part) + strlen(value) + 4;
        const int wraps = i && column + width > options->width;
        column = !i ? 9 + width : wraps ? width : column + width;
        ty_put(out, !i ? " " : wraps ? ",\n" : ", ");
        ty_put(out, part);
        ty_put(out, ": ");
        ty_put(out, *value ? value : "-");
    }
    ty_table_plain(out, options);
    ty_put(out, "\n");
}

/* The bar lengths of all blocks share one scale, so that channels compare. */
static void put_block(ty_out *out, block *b, const tally_write_options *options)
{
    size_t used = b->label_columns + 2 + b->count_columns, share = b->whole > 0 ? 7 : 0;
    if (share && options->width < used + share + 2 + 10)
        share = 0;
    used += share ? share + 2 : 0;
    size_t bar = options->width >= used + 2 + 4 ? options->width - used - 2 : 0;
    put_gap(out, options, b->h);
    put_name(out, b->result, b->h, options);
    if (!options->no_header)
        put_columns(out, b, share, options);
    for (uint64_t i = 0; i < b->rows && !out->failed; i++) {
        row row = get_row(b, i);
        put_row(out, b, &row, share, bar, options);
    }
    ty_table_flows(out, b->result, b->h, share ? b->whole : 0, b->decimals, b->label_columns,
                   b->count_columns);
    put_summary(out, b->result, b->h, options);
    put_quantiles(out, b->result, b->h, options);
}

static tally_status put_blocks(ty_out *out, const tally_result *r,
                               const tally_write_options *options, tally_error *error)
{
    block *blocks = ty_calloc((size_t)r->histograms, sizeof *blocks);
    if (!blocks)
        return ty_error_memory(error, "a table", r->histograms * sizeof *blocks);
    double largest = 0, smallest = 0;
    for (uint64_t h = 0; h < r->histograms; h++) {
        blocks[h].result = r;
        blocks[h].h = h;
        survey(&blocks[h], options);
        largest = fmax(largest, blocks[h].largest);
        if (blocks[h].smallest > 0)
            smallest = smallest > 0 ? fmin(smallest, blocks[h].smallest) : blocks[h].smallest;
    }
    for (uint64_t h = 0; h < r->histograms && !out->failed; h++) {
        blocks[h].largest = largest;
        blocks[h].smallest = smallest;
        put_block(out, &blocks[h], options);
    }
    ty_free(blocks);
    return TALLY_OK;
}

/* Of more words than rows the first ones, and all others as one. */
static tally_status put_top(ty_out *out, const tally_result *r, const tally_write_options *options,
                            tally_error *error)
{
    tally_result *top = NULL;
    tally_status status = TALLY_OK;
    if (r->labels[0] && r->bins > options->max_rows && options->max_rows > 1)
        status = tally_result_top(r, 0, options->max_rows - 1, &top, error);
    if (!status)
        status = (r->column ? ty_table_profile : put_blocks)(out, top ? top : r, options, error);
    tally_result_destroy(top);
    return status;
}

/* ---- More than one dimension ---- */

/* A one-dimensional result: the sums of `r`'s histograms over every axis but `d`. */
static tally_status make_marginal(const tally_result *r, uint32_t d, tally_result **marginal,
                                  tally_error *error)
{
    ty_result_shape shape = {.dimensions = 1,
                             .axes = &r->axes[d],
                             .kind = r->kind,
                             .dtype = d == 0 ? r->dtype : (tally_dtype)0,
                             .histograms = r->histograms,
                             .names = (const char *const *)r->names,
                             .labels = {r->labels[d]},
                             .times = {r->times[d]}};
    tally_status status = ty_result_create(&shape, marginal, error);
    if (status)
        return status;
    uint64_t stride = 1, bins = r->axes[d].bins;
    for (uint32_t i = d + 1; i < r->dimensions; i++)
        stride *= r->axes[i].bins;
    for (uint64_t h = 0; h < r->histograms; h++) {
        for (uint64_t i = 0; i < r->bins; i++) {
            uint64_t from = h * r->bins + i, to = h * bins + i / stride % bins;
            if (r->kind == TALLY_RESULT_SUMS_F64)
                ((double *)(*marginal)->counts)[to] += ((const double *)r->counts)[from];
            else /* two's complement: right for i64 as long as the sum fits */
                ((uint64_t *)(*marginal)->counts)[to] += ((const uint64_t *)r->counts)[from];
        }
    }
    return TALLY_OK;
}

static tally_status put_marginals(ty_out *out, const tally_result *r,
                                  const tally_write_options *options, tally_error *error)
{
    char text[TY_LABEL_SIZE];
    for (uint32_t d = 0; d < r->dimensions; d++) {
        tally_result *marginal = NULL;
        tally_status status = make_marginal(r, d, &marginal, error);
        if (status)
            return status;
        snprintf(text, sizeof text, "axis %u of %u, summed over the others\n", d, r->dimensions);
        put_gap(out, options, d);
        ty_put(out, text);
        status = put_top(out, marginal, options, error);
        tally_result_destroy(marginal);
        if (status)
            return status;
    }
    for (uint64_t h = 0; h < r->histograms; h++) {
        int any = 0;
        for (int i = 0; i < 4; i++)
            any |= ty_result_flow_count(r, h, i) != 0;
        if (any) {
            ty_put(out, "\n");
            put_name(out, r, h, options);
            ty_table_flows(out, r, h, 0, TY_OWN_DECIMALS, 6, 1);
        }
    }
    return TALLY_OK;
}

tally_status ty_write_table(ty_out *out, const tally_result *result,
                            const tally_write_options *options, tally_error *error)
{
    tally_status status =
        options->no_header ? TALLY_OK : ty_table_header(out, result, options, error);
    if (status)
        return status;
    if (result->dimensions == 1)
        return put_top(out, result, options, error);
    if (result->dimensions > 2)
        return put_marginals(out, result, options, error);
    for (uint64_t h = 0; !status && h < result->histograms; h++) {
        put_gap(out, options, h);
        put_name(out, result, h, options);
        status = ty_table_map(out, result, h, options, error);
    }
    return status;
}
