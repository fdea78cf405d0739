/* The drawing of a chart: chart_draw.c has the page and the axes, chart_marks.c the data. */
#ifndef CHART_DRAW_H
#define CHART_DRAW_H

#if TALLY_HAVE_CAIRO

#include <cairo.h>
#include <stdint.h>

#include "chart.h"

enum { CHART_INK = 0x333333, CHART_GREY = 0x666666, CHART_FAINT = 0xe2e2e2, CHART_TICKS = 24 };

/* Values to pixels along one direction. */
typedef struct chart_axis {
    double lo, hi, from, to;
    chart_scale scale;
    size_t ticks;
    double tick[CHART_TICKS];
    char label[CHART_TICKS][24];
} chart_axis;

typedef struct chart_frame {
    cairo_t *cr;
    const chart *chart;
    const chart_panel *panel;
    double left, top, right, bottom; /* of the data */
    chart_axis x, y;                 /* of values; a category has its number */
} chart_frame;

void chart_draw(cairo_t *cr, const chart *c);

typedef enum chart_align { CHART_START, CHART_MIDDLE, CHART_END } chart_align;

void chart_color(cairo_t *cr, uint32_t rgb);
double chart_text_width(cairo_t *cr, const char *text, double size, int bold);
void chart_text(cairo_t *cr, double x, double y, const char *text, double size, int bold,
                uint32_t rgb, chart_align align);
double chart_at(const chart_axis *axis, double value);

/* chart_marks.c */
void chart_marks(chart_frame *f);
/* The legend's sample of series `i`, or of published values (i = CHART_SERIES), around (x, y). */
void chart_sample(cairo_t *cr, const chart *c, size_t i, double x, double y);

#endif
#endif
