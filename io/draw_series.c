/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of one dimension: filled steps, bars, or envelopes when bins outnumber pixels. */
#if TALLY_HAVE_CAIRO

#include "io/dates.h"
#include "io/draw.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

/* The height of a bin: its count, or counts per unit where bins differ in width. */
static double height_of(const ty_draw *d, uint64_t h, uint64_t bin, int density)
{
    double value = ty_result_value(d->result, h, bin);
    if (density)
        value /= ty_bin_width(&d->result->axes[0], bin);
    return isfinite(value) ? value : isnan(value) ? 0 : value > 0 ? 1e300 : -1e300;
}

/* Limits of the y axis. */
static void scale_heights(ty_draw *d, int density)
{
    double lo = 0, hi = 0, least = INFINITY;
    for (uint64_t h = 0; h < d->result->histograms; h++) {
        for (uint64_t i = 0; i < d->result->bins; i++) {
            double value = height_of(d, h, i, density);
            lo = fmin(lo, value);
            hi = fmax(hi, value);
            if (value > 0)
                least = fmin(least, value);
        }
    }
    if (lo == 0 && hi == 0)
        hi = 1;
    d->y.log = d->options->log_counts && isfinite(least) && hi > 4 * DBL_MIN;
    if (d->y.log) {
        int counts = d->result->kind == TALLY_RESULT_COUNTS && !density;
        d->y.lo = counts ? 0.5 : fmax(least / 2, DBL_MIN); /* a single sample is seen */
        d->y.hi = exp(fmin(log(hi) + 0.06 * (log(hi) - log(d->y.lo)), 708));
    } else {
        d->y.lo = lo < 0 ? lo - 0.05 * (hi - lo) : 0;
        d->y.hi = hi > 0 ? hi + 0.05 * (hi - lo) : 0;
    }
}

static double base_line(const ty_draw *d)
{
    return d->y.log ? d->bottom : ty_scale_at(&d->y, 0);
}

/* The outline of the bins from left to right, without its ends on the base line. */
static void step_path(ty_draw *d, uint64_t h, int density)
{
    const tally_axis *axis = &d->result->axes[0];
    for (uint64_t i = 0; i < d->result->bins; i++) {
        double y = ty_scale_at(&d->y, height_of(d, h, i, density));
        y = y > d->bottom ? d->bottom : y;
        ty_libcairo.line_to(d->cr, ty_scale_at(&d->x, tally_axis_edge(axis, i)), y);
        ty_libcairo.line_to(d->cr, ty_scale_at(&d->x, tally_axis_edge(axis, i + 1)), y);
    }
}

static void draw_steps(ty_draw *d, uint64_t h, int density, double fill)
{
    double base = base_line(d);
    uint32_t color = ty_color_of(d->result, h);
    ty_libcairo.move_to(d->cr, d->left, base);
    step_path(d, h, density);
    ty_libcairo.line_to(d->cr, d->right, base);
    ty_draw_color(d, color, fill);
    ty_libcairo.fill_preserve(d->cr);
    ty_draw_color(d, color, 0.95);
    ty_libcairo.set_line_width(d->cr, 1.4 * d->s);
    ty_libcairo.set_line_join(d->cr, CAIRO_LINE_JOIN_MITER);
    ty_libcairo.stroke(d->cr);
}

/* Separate bars with a gap, for integers and categories; several histograms stand side by side. */
static void draw_bars(ty_draw *d, uint64_t h)
{
    const tally_result *r = d->result;
    double base = base_line(d), part = 0.84 / (double)r->histograms;
    ty_draw_color(d, ty_color_of(r, h), 0.85);
    for (uint64_t i = 0; i < r->bins; i++) {
        double lo = tally_axis_edge(&r->axes[0], i) + 0.08 + part * (double)h;
        double x0 = ty_scale_at(&d->x, lo), x1 = ty_scale_at(&d->x, lo + part);
        double y = ty_scale_at(&d->y, height_of(d, h, i, 0));
        y = y > d->bottom ? d->bottom : y;
        ty_libcairo.rectangle(d->cr, x0, fmin(y, base), x1 - x0, fabs(base - y));
    }
    ty_libcairo.fill(d->cr);
}

/* For each pixel column the least and the greatest height of the bins in it: 2 per column. */
static void envelope(const ty_draw *d, uint64_t h, int density, uint64_t column, uint64_t columns,
                     uint64_t *bin, double limits[2])
{
    const tally_axis *axis = &d->result->axes[0];
    double end = d->left + (d->right - d->left) * (double)(column + 1) / (double)columns;
    limits[0] = INFINITY;
    limits[1] = -INFINITY;
    for (;;) {
        double height = height_of(d, h, *bin, density);
        limits[0] = fmin(limits[0], height);
        limits[1] = fmax(limits[1], height);
        if (*bin + 1 == axis->bins ||
            (column + 1 < columns && ty_scale_at(&d->x, tally_axis_edge(axis, *bin + 1)) > end))
            return;
        ++*bin;
    }
}

/* The area below one side of the envelope. */
static void envelope_path(ty_draw *d, uint64_t h, int density, int side)
{
    uint64_t columns = (uint64_t)(d->right - d->left), bin = 0;
    double base = base_line(d);
    ty_libcairo.move_to(d->cr, d->left, base);
    for (uint64_t i = 0; i < columns; i++) {
        double limits[2];
        envelope(d, h, density, i, columns, &bin, limits);
        double y = ty_scale_at(&d->y, limits[side]);
        y = y > d->bottom ? d->bottom : y;
        double x = d->left + (d->right - d->left) * (double)i / (double)columns;
        ty_libcairo.line_to(d->cr, x, y);
        ty_libcairo.line_to(d->cr, x + 1, y);
    }
    ty_libcairo.line_to(d->cr, d->right, base);
    ty_libcairo.close_path(d->cr);
}

static void draw_envelope(ty_draw *d, uint64_t h, int density, double fill)
{
    uint32_t color = ty_color_of(d->result, h);
    for (int side = 1; side >= 0; side--) {
        envelope_path(d, h, density, side);
        ty_draw_color(d, color, side ? fill * 0.9 : fmin(1, fill * 1.1));
        ty_libcairo.fill(d->cr);
    }
}

/* ---- The legend ---- */

static double entry_width(ty_draw *d, const char *name)
{
    return ty_draw_text_width(d, name, 14 * d->s, 0) + 42 * d->s;
}

/* Entries from the right end of the subtitle's line, as many as fit in `room`; the width taken. */
static double draw_legend(ty_draw *d, double y, double room)
{
    const tally_result *r = d->result;
    char name[64], more[40] = "";
    double taken = 0, last = 0;
    uint64_t shown = 0;
    if (r->histograms == 1)
        return 0;
    for (; shown < r->histograms; shown++) {
        ty_draw_name(r->names[shown], 40, name);
        double width = entry_width(d, name);
        if (taken + width > room - (shown + 1 < r->histograms ? 90 * d->s : 0))
            break;
        taken += width;
    }
    if (shown < r->histograms) {
        snprintf(more, sizeof more, "and %llu more", (unsigned long long)(r->histograms - shown));
        last = ty_draw_text_width(d, more, 14 * d->s, 0) + 8 * d->s;
    }
    double x = d->width - 20 * d->s - last - taken;
    for (uint64_t h = 0; h < shown; h++) {
        ty_draw_name(r->names[h], 40, name);
        uint32_t color = ty_color_of(r, h);
        ty_libcairo.rectangle(d->cr, x + 16 * d->s, y - 11 * d->s, 18 * d->s, 12 * d->s);
        ty_draw_color(d, color, 0.45);
        ty_libcairo.fill_preserve(d->cr);
        ty_draw_color(d, color, 0.95);
        ty_libcairo.set_line_width(d->cr, 1.4 * d->s);
        ty_libcairo.stroke(d->cr);
        ty_draw_text(d, x + 40 * d->s, y, name, 14 * d->s, 0, 0x333333, TY_ALIGN_LEFT);
        x += entry_width(d, name);
    }
    if (more[0])
        ty_draw_text(d, d->width - 20 * d->s, y, more, 14 * d->s, 0, 0x666666, TY_ALIGN_RIGHT);
    return taken + last;
}

/* ---- The whole ---- */

static const char *label_y(const ty_draw *d, int density, char text[TY_ROW_SIZE])
{
    if (d->result->column) {
        ty_draw_profile_label(d, text);
        return text;
    }
    if (d->result->kind == TALLY_RESULT_COUNTS)
        return density ? "samples per unit of value" : "samples per bin";
    return density ? "sum of weights per unit of value" : "sum of weights per bin";
}

/* What the two shades of an envelope are. */
static void add_crowded_note(ty_draw *d)
{
    size_t used = strlen(d->notes);
    snprintf(d->notes + used, sizeof d->notes - used, "%s%s", used ? "; " : "",
             "dark up to the least, light up to the greatest count of the bins in a pixel");
}

static int is_barred(const ty_draw *d)
{
    tally_axis_kind kind = d->result->axes[0].kind;
    double bar = (d->right - d->left) / (double)d->result->bins / (double)d->result->histograms;
    return (kind == TALLY_AXIS_INTEGER || kind == TALLY_AXIS_CATEGORY) && bar > 5 * d->s;
}

static void draw_data(ty_draw *d, int density)
{
    const tally_result *r = d->result;
    double fill = r->histograms == 1 ? 0.5 : 0.28;
    ty_libcairo.save(d->cr);
    ty_libcairo.rectangle(d->cr, d->left, d->top, d->right - d->left, d->bottom - d->top);
    ty_libcairo.clip(d->cr);
    for (uint64_t h = 0; h < r->histograms; h++) {
        if (r->column)
            ty_draw_profile(d, h);
        else if (is_barred(d))
            draw_bars(d, h);
        else if (d->crowded)
            draw_envelope(d, h, density, fill);
        else
            draw_steps(d, h, density, fill);
    }
    ty_libcairo.restore(d->cr);
}

static void choose_ticks(const ty_draw *d, int density, ty_ticks *ticks)
{
    int most = (int)((d->bottom - d->top) / (52 * d->s));
    most = most < 2 ? 2 : most > 10 ? 10 : most;
    if (d->result->column && ty_draw_profile_time(d))
        ty_ticks_time(d->y.lo, d->y.hi, most, ty_draw_profile_time(d), ticks);
    else if (d->y.log)
        ty_ticks_log(d->y.lo, d->y.hi, most, ticks);
    else
        ty_ticks_linear(d->y.lo, d->y.hi, most, 1,
                        d->result->kind == TALLY_RESULT_COUNTS && !density && !d->result->column,
                        ticks);
}

void ty_draw_series(ty_draw *d)
{
    const tally_axis *axis = &d->result->axes[0];
    double s = d->s, line = (d->title[0] ? 60 : 38) * s;
    const int profile = d->result->column != NULL;
    int density = !profile && ty_draw_is_uneven(d, axis);
    char label[TY_ROW_SIZE];
    ty_ticks ticks;
    d->crowded = !profile && (double)axis->bins > (d->width - 110 * s) / 1.5;
    if (d->crowded)
        add_crowded_note(d);
    double legend = draw_legend(d, line, d->width * 0.6);
    ty_draw_headings(d, d->width - 60 * s - legend);
    d->top = line + 22 * s;
    d->bottom = d->height - (d->notes[0] ? 92 : 66) * s;
    d->right = d->width - 28 * s;
    if (profile)
        ty_draw_profile_scale(d);
    else
        scale_heights(d, density);
    choose_ticks(d, density, &ticks);
    d->left = fmin(52 * s + ty_draw_ticks_width(d, &ticks), d->right - 40 * s);
    d->y.from = d->bottom;
    d->y.to = d->top;
    d->x = ty_draw_scale_of(axis, d->left, d->right);
    ty_draw_axis_y(d, &ticks, label_y(d, density, label), 1);
    draw_data(d, density);
    char name[64] = "";
    if (profile)
        ty_draw_name(d->result->column, 40, name);
    else if (d->result->histograms == 1)
        ty_draw_name(d->result->names[0], 40, name);
    ty_draw_axis_x(d, axis, axis->kind == TALLY_AXIS_CATEGORY ? "bytes" : name[0] ? name : "value");
}

#else
typedef int ty_draw_series_needs_cairo; /* a translation unit has to declare something */
#endif
