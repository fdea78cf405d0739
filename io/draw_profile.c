/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: a point for each bin, with a bar as wide as the bin and, for means, as high as the
 * error to both sides. */
#if TALLY_HAVE_CAIRO

#include "io/draw.h"
#include "io/profile.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* The statistic that is drawn, as its number, and whether with the mean's error. */
static int chosen(const ty_draw *d, int *with_error)
{
    unsigned shown = d->options->statistics;
    shown = shown ? shown : TALLY_STATISTIC_MEAN | TALLY_STATISTIC_ERROR;
    *with_error = shown == (TALLY_STATISTIC_MEAN | TALLY_STATISTIC_ERROR);
    int i = 0;
    while (!(shown >> i & 1))
        i++;
    return i;
}

/* One bin's value with what it may be off to both sides; NaN where there is nothing to draw. */
static double value_of(const ty_draw *d, uint64_t h, uint64_t bin, double *error)
{
    int with_error;
    const int i = chosen(d, &with_error);
    const ty_moments m = ty_profile_moments(d->result, h, bin, bin + 1);
    const double value = ty_statistic_of(&m, i, TALLY_TIME_NONE);
    *error = with_error ? ty_statistic_of(&m, 3, TALLY_TIME_NONE) : 0;
    *error = isfinite(*error) ? *error : 0;
    return m.count && isfinite(value) ? value : NAN;
}

void ty_draw_profile_scale(ty_draw *d)
{
    int with_error;
    const int from_zero =
        (1 << chosen(d, &with_error)) & (TALLY_STATISTIC_COUNT | TALLY_STATISTIC_SUM);
    double lo = from_zero ? 0 : INFINITY, hi = from_zero ? 0 : -INFINITY;
    for (uint64_t h = 0; h < d->result->histograms; h++) {
        for (uint64_t i = 0; i < d->result->bins; i++) {
            double error;
            const double value = value_of(d, h, i, &error);
            if (isnan(value))
                continue;
            lo = fmin(lo, value - error);
            hi = fmax(hi, value + error);
        }
    }
    if (lo > hi)
        lo = 0, hi = 1;
    lo = fmax(lo, -DBL_MAX);
    hi = fmin(hi, DBL_MAX);
    const double pad = hi > lo   ? 0.1 * (hi / 2 - lo / 2)
                       : hi == 0 ? 1
                                 : fmax(0.05 * fabs(hi), DBL_MIN);
    d->y.log = 0;
    d->y.lo = from_zero && lo == 0 ? 0 : fmax(lo - pad, -DBL_MAX);
    d->y.hi = from_zero && hi == 0 && lo < 0 ? 0 : fmin(hi + pad, DBL_MAX);
}

tally_time ty_draw_profile_time(const ty_draw *d)
{
    int with_error;
    const int drawn = 1 << chosen(d, &with_error);
    const tally_time time = d->result->value_times[0];
    for (uint64_t h = 1; h < d->result->histograms; h++)
        if (d->result->value_times[h] != time)
            return TALLY_TIME_NONE;
    return drawn & (TALLY_STATISTIC_MEAN | TALLY_STATISTIC_MIN | TALLY_STATISTIC_MAX)
               ? time
               : TALLY_TIME_NONE;
}

void ty_draw_profile_label(const ty_draw *d, char text[TY_ROW_SIZE])
{
    int with_error;
    char name[64] = "";
    const char *statistic = ty_statistic_name(chosen(d, &with_error));
    if (d->result->histograms == 1)
        ty_draw_name(d->result->names[0], 40, name);
    snprintf(text, TY_ROW_SIZE, "%s%s%s%s", statistic, *name ? " of " : "", name,
             with_error ? ", with its error" : "");
}

static void line(ty_draw *d, double x0, double y0, double x1, double y1)
{
    ty_libcairo.move_to(d->cr, x0, y0);
    ty_libcairo.line_to(d->cr, x1, y1);
    ty_libcairo.stroke(d->cr);
}

void ty_draw_profile(ty_draw *d, uint64_t h)
{
    const tally_axis *axis = &d->result->axes[0];
    const double many = (double)d->result->histograms, s = d->s;
    const uint32_t color = ty_color_of(d->result, h);
    for (uint64_t i = 0; i < axis->bins; i++) {
        const double x0 = ty_scale_at(&d->x, tally_axis_edge(axis, i)),
                     x1 = ty_scale_at(&d->x, tally_axis_edge(axis, i + 1)), wide = x1 - x0;
        double error;
        const double value = value_of(d, h, i, &error);
        if (isnan(value))
            continue;
        const double y = ty_scale_at(&d->y, value),
                     apart = fmin(wide / (2 * many), 7 * s) * ((double)h - (many - 1) / 2),
                     x = x0 + wide / 2 + apart;
        ty_draw_color(d, color, 0.55);
        ty_libcairo.set_line_width(d->cr, 1.4 * s);
        if (wide > 4 * s)
            line(d, x0 + s, y, x1 - s, y);
        ty_draw_color(d, color, 0.95);
        if (error > 0)
            line(d, x, ty_scale_at(&d->y, value - error), x, ty_scale_at(&d->y, value + error));
        ty_libcairo.arc(d->cr, x, y, fmax(fmin(3.2 * s, wide / 2), 0.8), 0, 6.283185307179586);
        ty_libcairo.fill(d->cr);
    }
}

#else
typedef int ty_draw_profile_needs_cairo; /* a translation unit has to declare something */
#endif
