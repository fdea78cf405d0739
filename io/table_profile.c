/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for a terminal: a row for each bin, or for a few neighbouring ones together, a column
 * for each statistic, and the mean drawn as a point with its error to both sides. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/dates.h"
#include "io/profile.h"
#include "io/table.h"

enum { BY_ITSELF = 0xdd }; /* without being asked for: no sum, and no variance */

typedef struct sheet {
    const tally_result *r;
    const tally_write_options *options;
    uint64_t h, group, rows;
    ty_row_style style;
    tally_time time;
    calendar_precision precision; /* of times */
    unsigned shown;
    size_t label, widths[TY_STATISTICS];
    double lo, hi; /* the ends of all means with their errors */
} sheet;

/* One row's statistics, and what is in its bins. */
static ty_moments moments_of(const sheet *s, uint64_t row, char label[TY_ROW_SIZE])
{
    const uint64_t first = row * s->group,
                   end = s->r->bins - first < s->group ? s->r->bins : first + s->group;
    ty_table_label(s->r, &s->style, first, end, label);
    return ty_profile_moments(s->r, s->h, first, end);
}

static void print_cell(const sheet *s, const ty_moments *m, int i, char text[TY_NUMBER_SIZE])
{
    const double value = ty_statistic_of(m, i, s->time);
    char number[TY_NUMBER_SIZE];
    text[0] = '\0';
    if (1 << i == TALLY_STATISTIC_COUNT) {
        ty_print_grouped(m->count, text);
    } else if (isnan(value)) {
        return;
    } else if (s->time && isfinite(value)) {
        if (ty_statistic_is_length(i))
            ty_time_print_span(value, s->time, text);
        else
            ty_time_print(value, s->time, s->precision, 0, text);
    } else if (value == nearbyint(value) && fabs(value) < 1e15) {
        ty_print_grouped((uint64_t)fabs(value), number);
        snprintf(text, TY_NUMBER_SIZE, "%s%.300s", value < 0 ? "-" : "", number);
    } else if (isfinite(value)) {
        ty_edge_print(value, (ty_edge_style){.digits = 6}, text);
    } else {
        strcpy(text, value < 0 ? "-inf" : "inf");
    }
}

static void widen(sheet *s, const ty_moments *m)
{
    char text[TY_NUMBER_SIZE];
    for (int i = 0; i < TY_STATISTICS; i++) {
        print_cell(s, m, i, text);
        s->widths[i] = strlen(text) > s->widths[i] ? strlen(text) : s->widths[i];
    }
}

static double error_of(const ty_moments *m)
{
    const double error = ty_statistic_of(m, 3, TALLY_TIME_NONE);
    return isfinite(error) ? error : 0;
}

/* As fine as a hundredth of what the values span. */
static void find_precision(sheet *s)
{
    const ty_moments all = ty_profile_moments(s->r, s->h, 0, s->r->bins);
    const calendar_precision finest = calendar_finest(s->time),
                             wanted = calendar_as_fine((all.max - all.min) / 100, s->time);
    s->precision = wanted < finest ? wanted : finest;
}

static void survey(sheet *s)
{
    char label[TY_ROW_SIZE];
    const tally_result *r = s->r;
    s->group = ty_table_group(r->bins, s->options->max_rows);
    s->rows = (r->bins - 1) / s->group + 1;
    s->style.ascii = s->options->ascii;
    if (!r->labels[0])
        s->style =
            ty_row_style_choose(&r->axes[0], r->dtype, r->times[0], s->group, s->options->ascii);
    s->time = r->value_times[s->h];
    if (s->time)
        find_precision(s);
    s->label = 6;
    s->lo = INFINITY;
    s->hi = -INFINITY;
    for (int i = 0; i < TY_STATISTICS; i++)
        s->widths[i] = strlen(ty_statistic_name(i));
    for (uint64_t row = 0; row < s->rows; row++) {
        const ty_moments m = moments_of(s, row, label);
        const size_t columns = ty_text_columns(label);
        s->label = columns > s->label ? columns : s->label;
        widen(s, &m);
        if (isfinite(m.mean)) {
            s->lo = fmin(s->lo, m.mean - error_of(&m));
            s->hi = fmax(s->hi, m.mean + error_of(&m));
        }
    }
    for (int flow = 0; flow < 4; flow++) {
        const ty_moments m = ty_profile_flow(r, s->h, flow);
        widen(s, &m);
    }
}

/* ---- Rows ---- */

/* `columns` wide, up to the end of the error. */
static void put_mean(ty_out *out, const sheet *s, const ty_moments *m, size_t columns)
{
    const double scale = s->hi > s->lo ? (double)(columns - 1) / (s->hi - s->lo) : 0;
    if (!isfinite(m->mean) || !isfinite(scale))
        return;
    const double error = error_of(m);
    const size_t from = (size_t)((m->mean - error - s->lo) * scale + 0.5),
                 at = (size_t)((m->mean - s->lo) * scale + 0.5),
                 to = (size_t)((m->mean + error - s->lo) * scale + 0.5);
    ty_put(out, "  ");
    ty_put_repeat(out, " ", from);
    ty_table_color(out, s->options, ty_color_of(s->r, s->h));
    ty_put_repeat(out, s->options->ascii ? "-" : "\u2500", at - from);
    ty_put(out, s->options->ascii ? "o" : "\u25cf");
    ty_put_repeat(out, s->options->ascii ? "-" : "\u2500", to - at);
    ty_table_plain(out, s->options);
}

static void put_cells(ty_out *out, const sheet *s, const char *label, const ty_moments *m)
{
    char text[TY_NUMBER_SIZE];
    (s->r->labels[0] ? ty_put_left : ty_put_right)(out, label, s->label);
    for (int i = 0; i < TY_STATISTICS; i++) {
        if (!(s->shown >> i & 1))
            continue;
        ty_put(out, "  ");
        if (m)
            print_cell(s, m, i, text);
        ty_put_right(out, m ? text : ty_statistic_name(i), s->widths[i]);
    }
}

static void put_heading(ty_out *out, const sheet *s)
{
    if (s->h || !s->options->no_header)
        ty_put(out, "\n");
    if (s->options->no_header && s->r->histograms == 1)
        return;
    ty_table_bold(out, s->options);
    ty_table_color(out, s->options, ty_color_of(s->r, s->h));
    ty_put_printable(out, s->r->names[s->h]);
    ty_table_plain(out, s->options);
    ty_put(out, " in bins of ");
    ty_put_printable(out, s->r->column);
    ty_put(out, "\n");
    if (s->options->no_header)
        return;
    ty_table_dim(out, s->options);
    put_cells(out, s, "value", NULL);
    ty_table_plain(out, s->options);
    ty_put(out, "\n");
}

static void put_sheet(ty_out *out, const sheet *s)
{
    const char *const flows[] = {"below", "above", s->r->labels[0] ? "missing" : "NaN", "masked"};
    char label[TY_ROW_SIZE];
    size_t used = s->label;
    for (int i = 0; i < TY_STATISTICS; i++)
        used += s->shown >> i & 1 ? 2 + s->widths[i] : 0;
    const size_t room = s->options->width > used + 2 ? s->options->width - used - 2 : 0;
    const size_t drawn = !(s->shown & TALLY_STATISTIC_MEAN) || room < 8 ? 0 : room < 40 ? room : 40;
    put_heading(out, s);
    for (uint64_t row = 0; row < s->rows && !out->failed; row++) {
        const ty_moments m = moments_of(s, row, label);
        put_cells(out, s, label, &m);
        if (drawn)
            put_mean(out, s, &m, drawn);
        ty_put(out, "\n");
    }
    for (int flow = 0; flow < 4; flow++) {
        const ty_moments m = ty_profile_flow(s->r, s->h, flow);
        if (!m.count)
            continue;
        put_cells(out, s, flows[flow], &m);
        ty_put(out, "\n");
    }
}

tally_status ty_table_profile(ty_out *out, const tally_result *result,
                              const tally_write_options *options, tally_error *error)
{
    sheet *s = ty_malloc(sizeof *s);
    if (!s)
        return ty_error_memory(error, "a table", sizeof *s);
    for (uint64_t h = 0; h < result->histograms && !out->failed; h++) {
        *s = (sheet){.r = result, .options = options, .h = h};
        s->shown = options->statistics ? options->statistics : BY_ITSELF;
        survey(s);
        put_sheet(out, s);
    }
    ty_free(s);
    return TALLY_OK;
}
