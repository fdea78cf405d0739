/* SPDX-License-Identifier: Apache-2.0 */
/* A table of two dimensions as a map of shades: the first axis to the right, the second upwards. */
#include "io/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "../common/printable.h"
#include "core/error.h"
#include "core/text.h"

typedef struct map {
    uint64_t columns, rows;   /* cells shown */
    uint64_t across, up;      /* bins to a cell along each axis */
    uint64_t repeat;          /* terminal columns to a cell */
    double *cells;            /* rows × columns, the bottom row first */
    double largest, smallest; /* finite; smallest above 0 */
    size_t margin;            /* columns of the labels at the left */
} map;

/* The lower or upper end of axis `d`: the word in the bin there, or a number in full when that is
 * short, else as a table's rows would have it. */
static void print_end(const tally_result *r, uint32_t d, uint64_t group, int upper,
                      char text[TY_LABEL_SIZE])
{
    char whole[TY_NUMBER_SIZE];
    const tally_axis *axis = &r->axes[d];
    const double edge = upper ? axis->hi : axis->lo;
    if (r->labels[d]) {
        const char *word = ty_label(r->labels[d], upper ? axis->bins - 1 : 0);
        printable(word, (size_t)ty_text_fit(word, 24), text, TY_LABEL_SIZE);
    } else if (!r->times[d] && ty_print_shortest(edge, whole) <= 8)
        strcpy(text, whole);
    else
        ty_edge_print(edge, ty_edge_style_choose(axis, r->times[d], group), text);
}

static void sum_cells(map *m, const tally_result *r, uint64_t h)
{
    uint64_t ny = r->axes[1].bins;
    for (uint64_t i = 0; i < r->bins; i++) {
        double *cell = &m->cells[i % ny / m->up * m->columns + i / ny / m->across];
        *cell += ty_result_value(r, h, i);
    }
    for (uint64_t i = 0; i < m->rows * m->columns; i++) {
        double size = m->cells[i];
        if (isfinite(size) && size > m->largest)
            m->largest = size;
        if (size > 0 && (m->smallest == 0 || size < m->smallest))
            m->smallest = size;
    }
}

/* 0 for nothing (or below), else above 0 and at most 1. */
static double shade(const map *m, double value, const tally_write_options *options)
{
    if (!(value > 0))
        return 0;
    if (value >= m->largest)
        return 1;
    if (options->log_counts && m->largest > m->smallest)
        return (1 + log(value / m->smallest) / log(m->largest / m->smallest) * 15) / 16;
    return value / m->largest;
}

/* Dark blue to yellow in the colours that terminals with 256 share, ever lighter. */
static unsigned shade_color(double part)
{
    static const unsigned char ramp[] = {234, 17, 18, 24, 30, 36, 42, 77, 113, 149, 185, 221, 227};
    int steps = (int)sizeof ramp - 1;
    return part > 0 ? ramp[1 + (int)(part * (steps - 0.001))] : ramp[0];
}

static void put_cell(ty_out *out, const map *m, uint64_t row, uint64_t column,
                     const tally_write_options *options)
{
    static const char *const blocks[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
    static const char *const letters[] = {" ", ".", ":", "+", "#"};
    double part = shade(m, m->cells[row * m->columns + column], options);
    int level = part > 0 ? 1 + (int)(part * 3.9999) : 0;
    ty_put_repeat(out, (options->ascii ? letters : blocks)[level], m->repeat);
}

/* Two rows of cells in one line: the upper half block in the upper cell's colour on the lower's. */
static void put_pair(ty_out *out, const map *m, uint64_t row, uint64_t column,
                     const tally_write_options *options)
{
    char code[64];
    double upper = shade(m, m->cells[row * m->columns + column], options);
    double lower = row ? shade(m, m->cells[(row - 1) * m->columns + column], options) : 0;
    snprintf(code, sizeof code, "\033[38;5;%u;48;5;%um", shade_color(upper), shade_color(lower));
    ty_put(out, code);
    ty_put_repeat(out, "\u2580", m->repeat);
    ty_put(out, "\033[0m");
}

static void put_x_labels(ty_out *out, const map *m, const tally_result *r,
                         const tally_write_options *options)
{
    char lo[TY_LABEL_SIZE], hi[TY_LABEL_SIZE];
    print_end(r, 0, m->across, 0, lo);
    print_end(r, 0, m->across, 1, hi);
    uint64_t wide = m->columns * m->repeat;
    ty_put_repeat(out, " ", m->margin);
    ty_put(out, options->ascii ? "+" : "\u2514");
    ty_put_repeat(out, options->ascii ? "-" : "\u2500", wide);
    ty_put(out, "\n");
    ty_put_repeat(out, " ", m->margin + 1);
    ty_put(out, lo);
    uint64_t used = ty_text_columns(lo) + ty_text_columns(hi);
    ty_put_repeat(out, " ", used < wide ? wide - used : 1);
    ty_put(out, hi);
    ty_put(out, "\n");
}

/* A value as the shades stand for it: a count, or a rounded sum. */
static void print_shade(const tally_result *r, double value, char text[TY_NUMBER_SIZE])
{
    if (r->kind == TALLY_RESULT_COUNTS && value < 1e9)
        ty_print_grouped((uint64_t)value, text);
    else if (fabs(value) >= 1e6 || fabs(value) < 1e-2)
        ty_print_scientific(value, 2, text);
    else
        ty_print_fixed(value, 3, text);
}

static void put_scale(ty_out *out, const map *m, const tally_result *r,
                      const tally_write_options *options)
{
    static const char *const blocks[] = {"\u2591", "\u2592", "\u2593", "\u2588"};
    static const char *const letters[] = {".", ":", "+", "#"};
    char text[TY_NUMBER_SIZE], before[TY_NUMBER_SIZE] = "", code[32];
    print_shade(r, m->largest, text);
    ty_table_dim(out, options);
    ty_put_repeat(out, " ", m->margin + 1);
    if (!(m->largest > 0)) {
        ty_put(out, "every cell is empty");
    } else if (options->color && !options->ascii) {
        ty_put(out, "0 ");
        ty_table_plain(out, options);
        for (int i = 0; i <= 12; i++) {
            snprintf(code, sizeof code, "\033[38;5;%um\u2588", shade_color(i / 12.0));
            ty_put(out, code);
        }
        ty_table_plain(out, options);
        ty_table_dim(out, options);
        ty_put(out, " ");
        ty_put(out, text);
    } else {
        for (int i = 0; i < 4; i++) {
            double top = m->largest * (i + 1) / 4;
            if (options->log_counts && m->largest > m->smallest)
                top = m->smallest * pow(m->largest / m->smallest, ((i + 1) * 4 - 1) / 15.0);
            print_shade(r, i == 3 ? m->largest : top, text);
            if (r->kind == TALLY_RESULT_COUNTS && (top < 1 || !strcmp(text, before)))
                continue; /* a shade that no count has */
            ty_put(out, before[0] ? "  " : "");
            memcpy(before, text, sizeof before);
            ty_put(out, (options->ascii ? letters : blocks)[i]);
            ty_put(out, options->ascii ? " <= " : " \u2264 ");
            ty_put(out, text);
        }
    }
    ty_put(out, r->kind == TALLY_RESULT_COUNTS ? " in a cell" : " (sum) in a cell");
    if (m->across > 1 || m->up > 1) {
        snprintf(text, sizeof text, " of %" PRIu64 " %s %" PRIu64 " bins", m->across,
                 options->ascii ? "x" : "\u00d7", m->up);
        ty_put(out, text);
    }
    ty_table_plain(out, options);
    ty_put(out, "\n");
}

static void put_lines(ty_out *out, const map *m, const tally_result *r,
                      const tally_write_options *options)
{
    char label[TY_LABEL_SIZE];
    int paired = options->color && !options->ascii;
    uint64_t lines = paired ? (m->rows + 1) / 2 : m->rows;
    for (uint64_t line = 0; line < lines && !out->failed; line++) {
        uint64_t row = paired ? m->rows - 1 - 2 * line : m->rows - 1 - line;
        label[0] = '\0';
        if (line == 0)
            print_end(r, 1, m->up, 1, label);
        else if (line == lines - 1)
            print_end(r, 1, m->up, 0, label);
        ty_put_right(out, label, m->margin - 1);
        ty_put(out, options->ascii ? " |" : " \u2502");
        for (uint64_t column = 0; column < m->columns; column++) {
            if (paired)
                put_pair(out, m, row, column, options);
            else
                put_cell(out, m, row, column, options);
        }
        ty_put(out, "\n");
    }
}

tally_status ty_table_map(ty_out *out, const tally_result *result, uint64_t h,
                          const tally_write_options *options, tally_error *error)
{
    const tally_axis *x = &result->axes[0], *y = &result->axes[1];
    char lo[TY_LABEL_SIZE], hi[TY_LABEL_SIZE];
    map m = {0};
    uint64_t lines =
        options->color && !options->ascii ? 2 * (uint64_t)options->max_rows : options->max_rows;
    m.up = (y->bins - 1) / lines + 1;
    m.rows = (y->bins - 1) / m.up + 1;
    print_end(result, 1, m.up, 0, lo);
    print_end(result, 1, m.up, 1, hi);
    const size_t low = ty_text_columns(lo), high = ty_text_columns(hi);
    m.margin = (low > high ? low : high) + 1;
    uint64_t wide = options->width > m.margin + 9 ? options->width - m.margin - 1 : 8;
    m.across = (x->bins - 1) / wide + 1;
    m.columns = (x->bins - 1) / m.across + 1;
    /* A terminal's characters are twice as high as wide; half blocks are square. */
    uint64_t most = wide / m.columns;
    uint64_t shape = options->color && !options->ascii ? 1 : 2;
    m.repeat = most < shape ? most : shape;
    m.cells = ty_calloc((size_t)(m.rows * m.columns), sizeof *m.cells);
    if (!m.cells)
        return ty_error_memory(error, "a map", m.rows * m.columns * sizeof *m.cells);
    sum_cells(&m, result, h);
    put_lines(out, &m, result, options);
    put_x_labels(out, &m, result, options);
    put_scale(out, &m, result, options);
    ty_free(m.cells);
    ty_table_flows(out, result, h, 0, TY_OWN_DECIMALS, 6, 1);
    return TALLY_OK;
}
