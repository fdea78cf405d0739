/* A chart's data: lines with marks, bars, ranges. Colours are those of Okabe and Ito, which readers
 * who do not see all colours tell apart; marks differ too. */
#include "chart_draw.h"

#if TALLY_HAVE_CAIRO

#include <math.h>
#include <stdio.h>

static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xe69f00,
                                  0xcc79a7, 0x56b4e9, 0x000000, 0x8c6d1f};
enum { COLORS = 8, SHAPES = 5 };

static uint32_t color_of(size_t series)
{
    return colors[series % COLORS];
}

static void shape(cairo_t *cr, size_t kind, double x, double y, double r)
{
    cairo_new_path(cr);
    switch (kind % SHAPES) {
    case 0:
        cairo_arc(cr, x, y, r, 0, 6.283185307179586);
        break;
    case 1:
        cairo_rectangle(cr, x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
        break;
    case 2:
        cairo_move_to(cr, x, y - r * 1.2);
        cairo_line_to(cr, x + r * 1.1, y + r * 0.8);
        cairo_line_to(cr, x - r * 1.1, y + r * 0.8);
        break;
    case 3:
        cairo_move_to(cr, x, y + r * 1.2);
        cairo_line_to(cr, x + r * 1.1, y - r * 0.8);
        cairo_line_to(cr, x - r * 1.1, y - r * 0.8);
        break;
    default:
        cairo_move_to(cr, x - r * 1.2, y);
        cairo_line_to(cr, x, y - r * 1.2);
        cairo_line_to(cr, x + r * 1.2, y);
        cairo_line_to(cr, x, y + r * 1.2);
    }
    cairo_close_path(cr);
}

/* A published value: a large hollow diamond in the series' colour. */
static void hollow(cairo_t *cr, uint32_t rgb, double x, double y)
{
    shape(cr, 4, x, y, 7);
    chart_color(cr, 0xffffff);
    cairo_fill_preserve(cr);
    chart_color(cr, rgb);
    cairo_set_line_width(cr, 2.2);
    cairo_stroke(cr);
}

static void dash(cairo_t *cr, size_t series)
{
    static const double pattern[] = {7, 4};
    cairo_set_dash(cr, pattern, series >= COLORS ? 2 : 0, 0);
}

static void draw_line(chart_frame *f, size_t i)
{
    const chart_series *s = &f->panel->measured[i];
    chart_color(f->cr, color_of(i));
    cairo_set_line_width(f->cr, 2);
    dash(f->cr, i);
    for (size_t k = 0; k < s->count; k++) {
        double x = chart_at(&f->x, s->points[k].x), y = chart_at(&f->y, s->points[k].y);
        if (k)
            cairo_line_to(f->cr, x, y);
        else
            cairo_move_to(f->cr, x, y);
    }
    cairo_stroke(f->cr);
    cairo_set_dash(f->cr, NULL, 0, 0);
    for (size_t k = 0; k < s->count; k++) {
        shape(f->cr, i, chart_at(&f->x, s->points[k].x), chart_at(&f->y, s->points[k].y),
              s->count > 40 ? 2.6 : 3.8);
        chart_color(f->cr, color_of(i));
        cairo_fill(f->cr);
    }
}

/* Three digits, thousands apart; whole numbers as they are. */
static void number(double value, char text[32])
{
    if (value >= 1000)
        snprintf(text, 32, "%d\u2009%03d", (int)(value + 0.5) / 1000, (int)(value + 0.5) % 1000);
    else if (value >= 99.5 || value == floor(value))
        snprintf(text, 32, "%.0f", value);
    else
        snprintf(text, 32, value >= 9.95 ? "%.1f" : value >= 0.1 ? "%.2f" : "%.2g", value);
}

/* Series that this panel has, and how many come before series `i`. */
static size_t present(const chart_panel *p, size_t i, size_t *before)
{
    size_t count = 0;
    *before = 0;
    for (size_t k = 0; k < CHART_SERIES; k++) {
        int here = p->measured[k].count || p->published[k].count;
        count += here;
        *before += here && k < i;
    }
    return count;
}

static void draw_bars(chart_frame *f, size_t i)
{
    const chart_panel *p = f->panel;
    size_t before, count = present(p, i, &before);
    double room = (f->right - f->left) / (double)p->rows, wide = room * 0.8 / (double)count;
    wide = fmin(wide, 60);
    for (int published = 0; published < 2; published++) {
        const chart_series *s = published ? &p->published[i] : &p->measured[i];
        for (size_t k = 0; k < s->count; k++) {
            double middle = f->left + room * (s->points[k].x + 0.5);
            double x = middle + wide * ((double)before - (double)count / 2);
            double y = chart_at(&f->y, s->points[k].y);
            char text[32];
            if (published) {
                hollow(f->cr, CHART_INK, x + wide + 9, y); /* beside the bar and its figure */
                continue;
            }
            chart_color(f->cr, color_of(i));
            cairo_rectangle(f->cr, x + 1, y, wide - 2, f->bottom - y);
            cairo_fill(f->cr);
            number(s->points[k].y, text);
            if (chart_text_width(f->cr, text, 11, 0) < wide + 14)
                chart_text(f->cr, x + wide / 2, y - 4, text, 11, 0, CHART_INK, CHART_MIDDLE);
        }
    }
}

static void draw_ranges(chart_frame *f, size_t i)
{
    const chart_panel *p = f->panel;
    const chart_series *s = &p->measured[i];
    double room = (f->bottom - f->top) / (double)(p->rows ? p->rows : 1);
    double thick = fmin(room * 0.62, 14);
    for (size_t k = 0; k < s->count; k++) {
        const chart_point *at = &s->points[k];
        double y = f->top + room * (at->x + 0.5), from = chart_at(&f->y, at->low),
               to = chart_at(&f->y, at->high);
        char low[32], high[32], text[80];
        if (to - from < 4)
            from = to - 4;
        chart_color(f->cr, color_of(i));
        cairo_rectangle(f->cr, from, y - thick / 2, to - from, thick);
        cairo_fill(f->cr);
        number(at->low, low);
        number(at->high, high);
        snprintf(text, sizeof text, "%s \u2013 %s", low, high);
        if (at->high < 1.03 * at->low)
            snprintf(text, sizeof text, "%s", high);
        chart_color(f->cr, 0xffffff); /* over lines that cross here */
        cairo_rectangle(f->cr, to + 6, y - 7, chart_text_width(f->cr, text, 11.5, 0) + 4, 14);
        cairo_fill(f->cr);
        chart_text(f->cr, to + 8, y + 4, text, 11.5, 0, CHART_INK, CHART_START);
        chart_text(f->cr, f->left - 8, y + 4, p->row_names[(size_t)at->x], 12.5, 0, CHART_INK,
                   CHART_END);
    }
}

void chart_marks(chart_frame *f)
{
    const chart_panel *p = f->panel;
    for (size_t i = 0; i < CHART_SERIES; i++) {
        if (p->kind == CHART_BARS)
            draw_bars(f, i);
        else if (p->kind == CHART_RANGES)
            draw_ranges(f, i);
        else
            draw_line(f, i);
    }
    for (size_t i = 0; i < CHART_SERIES && p->kind == CHART_LINES; i++)
        for (size_t k = 0; k < p->published[i].count; k++)
            hollow(f->cr, color_of(i), chart_at(&f->x, p->published[i].points[k].x),
                   chart_at(&f->y, p->published[i].points[k].y));
}

void chart_sample(cairo_t *cr, const chart *c, size_t i, double x, double y)
{
    if (i == CHART_SERIES) {
        hollow(cr, CHART_INK, x, y);
        return;
    }
    chart_color(cr, color_of(i));
    if (c->panel[0].kind != CHART_LINES) {
        cairo_rectangle(cr, x - 8, y - 7, 16, 14);
        cairo_fill(cr);
        return;
    }
    cairo_set_line_width(cr, 2);
    dash(cr, i);
    cairo_move_to(cr, x - 14, y);
    cairo_line_to(cr, x + 14, y);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    shape(cr, i, x, y, 4);
    cairo_fill(cr);
}

#else
typedef int chart_marks_needs_cairo; /* a translation unit has to declare something */
#endif
