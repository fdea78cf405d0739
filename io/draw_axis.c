/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of pictures: scales, ticks, labels, grid lines. */
#if TALLY_HAVE_CAIRO

#include "io/dates.h"
#include "io/draw.h"

#include <math.h>
#include <string.h>

#define INK   0x333333
#define FAINT 0xe4e4e4

double ty_scale_at(const ty_scale *scale, double value)
{
    double part;
    if (scale->log)
        part = value > 0 ? (log(value) - log(scale->lo)) / (log(scale->hi) - log(scale->lo)) : -1e3;
    else
        /* Halves, for hi - lo may be past float64's largest. */
        part = (value / 2 - scale->lo / 2) / (scale->hi / 2 - scale->lo / 2);
    part = part < -1e3 ? -1e3 : part > 1e3 ? 1e3 : part;
    return scale->from + part * (scale->to - scale->from);
}

ty_scale ty_draw_scale_of(const tally_axis *axis, double from, double to)
{
    return (ty_scale){axis->lo, axis->hi, from, to, axis->kind == TALLY_AXIS_LOG};
}

int ty_draw_is_uneven(const ty_draw *d, const tally_axis *axis)
{
    /* months and years are taken for as long as each other */
    const double apart = d->result->times[axis - d->result->axes] ? 0.1 : 1e-6;
    if (axis->kind != TALLY_AXIS_EDGES)
        return 0;
    double mean = axis->hi / (double)axis->bins - axis->lo / (double)axis->bins;
    for (uint64_t i = 0; i < axis->bins; i++)
        if (fabs(ty_bin_width(axis, i) - mean) > apart * mean)
            return 1;
    return 0;
}

/* Integers and categories are labelled in the middle of their bins. */
static int is_centered(const tally_axis *axis)
{
    return axis->kind == TALLY_AXIS_INTEGER || axis->kind == TALLY_AXIS_CATEGORY;
}

void ty_draw_bin_label(const ty_draw *d, const tally_axis *axis, uint64_t bin,
                       char label[TY_LABEL_SIZE])
{
    const ty_labels *labels = d->result->labels[axis - d->result->axes];
    if (labels)
        ty_draw_name(ty_label(labels, bin), TY_LABEL_SIZE - 8, label);
    else
        ty_category_label(axis, bin, bin + 1, 0, label);
}

int ty_draw_has_words(const ty_draw *d, const tally_axis *axis)
{
    return axis->kind == TALLY_AXIS_CATEGORY || d->result->labels[axis - d->result->axes];
}

static void category_ticks(ty_draw *d, const tally_axis *axis, double room, ty_ticks *ticks)
{
    memset(ticks, 0, sizeof *ticks);
    uint64_t stride = 1;
    double most = room / (46 * d->s);
    most = most < 1 ? 1 : most > TY_TICKS_MOST ? TY_TICKS_MOST : most;
    while ((double)((axis->bins - 1) / stride + 1) > most)
        stride++;
    for (uint64_t i = 0; i < axis->bins && ticks->count < TY_TICKS_MOST; i += stride) {
        char label[TY_LABEL_SIZE];
        ty_draw_bin_label(d, axis, i, label);
        ty_draw_text_fit(d, label, room / (double)axis->bins * (double)stride, 14 * d->s, 0);
        strcpy(ticks->labels[ticks->count], label);
        ticks->values[ticks->count++] = (double)i;
    }
}

/* The widest label against the room between neighbours: at most so many ticks fit. */
static int fits(ty_draw *d, const ty_ticks *ticks, double room)
{
    double widest = 0;
    for (int i = 0; i < ticks->count; i++)
        widest = fmax(widest, ty_draw_text_width(d, ticks->labels[i], 14 * d->s, 0));
    return widest * (ticks->count + 0.5) * 1.25 <= room;
}

static void choose_ticks(ty_draw *d, const tally_axis *axis, double room, double size,
                         ty_ticks *ticks)
{
    const tally_time time = d->result->times[axis - d->result->axes];
    int most = (int)(room / (size * d->s));
    most = most < 2 ? 2 : most > 14 ? 14 : most;
    for (;; most--) {
        if (ty_draw_has_words(d, axis)) {
            category_ticks(d, axis, room, ticks);
            return;
        }
        if (time)
            ty_ticks_time(axis->lo, axis->hi, most, time, ticks);
        else if (axis->kind == TALLY_AXIS_LOG)
            ty_ticks_log(axis->lo, axis->hi, most, ticks);
        else if (axis->kind == TALLY_AXIS_INTEGER)
            ty_ticks_linear(axis->lo, axis->hi - 1 > axis->lo ? axis->hi - 1 : axis->hi, most, 0, 1,
                            ticks);
        else
            ty_ticks_linear(axis->lo, axis->hi, most, 0, 0, ticks);
        if (most <= 2 || fits(d, ticks, room))
            return;
    }
}

void ty_draw_ticks_x(ty_draw *d, const tally_axis *axis, ty_ticks *ticks)
{
    choose_ticks(d, axis, d->right - d->left, 70, ticks);
}

static void line(ty_draw *d, double x0, double y0, double x1, double y1, uint32_t rgb, double width)
{
    ty_draw_color(d, rgb, 1);
    ty_libcairo.set_line_width(d->cr, width);
    ty_libcairo.move_to(d->cr, x0, y0);
    ty_libcairo.line_to(d->cr, x1, y1);
    ty_libcairo.stroke(d->cr);
}

/* Onto the middle of a pixel: thin lines stay sharp. */
static double sharp(double at)
{
    return floor(at) + 0.5;
}

void ty_draw_axis_x(ty_draw *d, const tally_axis *axis, const char *label)
{
    ty_ticks ticks;
    double s = d->s, y = d->bottom, shift = is_centered(axis) ? 0.5 : 0;
    ty_draw_ticks_x(d, axis, &ticks);
    line(d, d->left, sharp(y), d->right, sharp(y), INK, fmax(1, s));
    for (int i = 0; i < ticks.count; i++) {
        double x = ty_scale_at(&d->x, ticks.values[i] + shift);
        line(d, sharp(x), y, sharp(x), y + 6 * s, INK, fmax(1, s));
        double half = ty_draw_text_width(d, ticks.labels[i], 14 * s, 0) / 2;
        double middle = fmin(x, d->width - half - 4 * s); /* the last one stays inside */
        ty_draw_text(d, middle, y + 23 * s, ticks.labels[i], 14 * s, 0, INK, TY_ALIGN_CENTER);
    }
    for (int i = 0; i < ticks.minor_count; i++) {
        double x = ty_scale_at(&d->x, ticks.minor[i]);
        line(d, sharp(x), y, sharp(x), y + 3 * s, INK, fmax(1, s));
    }
    ty_draw_text(d, (d->left + d->right) / 2, y + 48 * s, label, 15 * s, 0, INK, TY_ALIGN_CENTER);
}

double ty_draw_ticks_width(ty_draw *d, const ty_ticks *ticks)
{
    double widest = 0;
    for (int i = 0; i < ticks->count; i++)
        widest = fmax(widest, ty_draw_text_width(d, ticks->labels[i], 14 * d->s, 0));
    return widest;
}

void ty_draw_axis_y(ty_draw *d, const ty_ticks *ticks, const char *label, int grid)
{
    double s = d->s,
           shift = d->result->dimensions == 2 && is_centered(&d->result->axes[1]) ? 0.5 : 0;
    for (int i = 0; i < ticks->count; i++) {
        double y = ty_scale_at(&d->y, ticks->values[i] + shift);
        if (grid)
            line(d, d->left, sharp(y), d->right, sharp(y), FAINT, fmax(1, s));
        else
            line(d, d->left - 6 * s, sharp(y), d->left, sharp(y), INK, fmax(1, s));
        ty_draw_text(d, d->left - 10 * s, y + 5 * s, ticks->labels[i], 14 * s, 0, INK,
                     TY_ALIGN_RIGHT);
    }
    for (int i = 0; !grid && i < ticks->minor_count; i++) {
        double y = ty_scale_at(&d->y, ticks->minor[i]);
        line(d, d->left - 3 * s, sharp(y), d->left, sharp(y), INK, fmax(1, s));
    }
    if (!grid)
        line(d, sharp(d->left), d->top, sharp(d->left), d->bottom, INK, fmax(1, s));
    ty_draw_text_up(d, 26 * s, (d->top + d->bottom) / 2, label, 15 * s, INK);
}

#else
typedef int ty_draw_axis_needs_cairo; /* a translation unit has to declare something */
#endif
