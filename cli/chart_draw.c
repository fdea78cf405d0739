/* A chart's page: headings, legend, axes. */
#include "chart_draw.h"

#if TALLY_HAVE_CAIRO

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text and lines ---- */

void chart_color(cairo_t *cr, uint32_t rgb)
{
    cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

static void font(cairo_t *cr, double size, int bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

double chart_text_width(cairo_t *cr, const char *text, double size, int bold)
{
    cairo_text_extents_t extents;
    font(cr, size, bold);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

void chart_text(cairo_t *cr, double x, double y, const char *text, double size, int bold,
                uint32_t rgb, chart_align align)
{
    if (align != CHART_START)
        x -= chart_text_width(cr, text, size, bold) * (align == CHART_END ? 1 : 0.5);
    font(cr, size, bold);
    chart_color(cr, rgb);
    cairo_move_to(cr, x, y);
    cairo_show_text(cr, text);
    cairo_new_path(cr);
}

static void line(cairo_t *cr, double x0, double y0, double x1, double y1, uint32_t rgb)
{
    chart_color(cr, rgb);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, floor(x0) + 0.5, floor(y0) + 0.5);
    cairo_line_to(cr, floor(x1) + 0.5, floor(y1) + 0.5);
    cairo_stroke(cr);
}

/* Words in lines of at most `width`; returns the baseline after the last. */
static double paragraph(cairo_t *cr, double x, double y, double width, const char *text,
                        double size, uint32_t rgb)
{
    char row[512] = "";
    while (*text) {
        size_t word = strcspn(text, " "), have = strlen(row);
        char longer[512];
        snprintf(longer, sizeof longer, "%.300s%s%.*s", row, have ? " " : "",
                 word < 100 ? (int)word : 100, text);
        if (have && chart_text_width(cr, longer, size, 0) > width) {
            chart_text(cr, x, y, row, size, 0, rgb, CHART_START);
            y += size * 1.35;
            row[0] = '\0';
            continue;
        }
        strcpy(row, longer);
        text += word + strspn(text + word, " ");
    }
    chart_text(cr, x, y, row, size, 0, rgb, CHART_START);
    return y + size * 1.35;
}

/* ---- scales ---- */

double chart_at(const chart_axis *axis, double value)
{
    double part = axis->scale == CHART_LINEAR
                      ? (value - axis->lo) / (axis->hi - axis->lo)
                      : log(fmax(value, 1e-300) / axis->lo) / log(axis->hi / axis->lo);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return axis->from + part * (axis->to - axis->from);
}

static void add_tick(chart_axis *axis, double value)
{
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static const char *const decimal[] = {"", "\u2009k", "\u2009M", "\u2009G", "\u2009T"};
    double shown = value;
    int unit = 0;
    if (axis->ticks == CHART_TICKS)
        return;
    char *label = axis->label[axis->ticks];
    axis->tick[axis->ticks++] = value;
    double step = axis->scale == CHART_BYTES ? 1024 : 1000;
    while (fabs(shown) >= step * (axis->scale == CHART_LINEAR ? 100 : 1) && unit < 4) {
        shown /= step;
        unit++;
    }
    if (axis->scale == CHART_BYTES)
        snprintf(label, 24, "%g %s", shown, binary[unit]);
    else
        snprintf(label, 24, "%.6g%s", shown, decimal[unit]);
    if (axis->scale == CHART_TWOS)
        snprintf(label, 24, value >= 10000 ? "%.0f\u2009%03.0f" : "%.0f",
                 value >= 10000 ? floor(value / 1000) : value, fmod(value, 1000));
}

/* Powers of `base` in lo … hi, every so-manieth so that there are at most `most`; few powers of ten
 * are joined by their doubles and fives. */
static void log_ticks(chart_axis *axis, double base, int most)
{
    int first = (int)ceil(log(axis->lo) / log(base) - 1e-9),
        last = (int)floor(log(axis->hi) / log(base) + 1e-9);
    int step = 1 + (last - first) / (most > 1 ? most : 1);
    for (int p = first - (base == 10); p <= last; p++) {
        double value = pow(base, p);
        if ((p - first) % step == 0 && p >= first)
            add_tick(axis, value);
        for (int k = 2; base == 10 && last - first < 2 && k <= 5; k += 3)
            if (k * value >= axis->lo * 0.999 && k * value <= axis->hi * 1.001)
                add_tick(axis, k * value);
    }
}

static void linear_ticks(chart_axis *axis, int most)
{
    double step = pow(10, floor(log10((axis->hi - axis->lo) / most)));
    static const double nice[] = {1, 2, 5, 10};
    double chosen = step;
    for (int i = 0; i < 4 && (axis->hi - axis->lo) / chosen > most; i++)
        chosen = step * nice[i];
    long first = (long)ceil(axis->lo / chosen - 1e-6), last = (long)floor(axis->hi / chosen + 1e-6);
    for (long i = first; i <= last; i++)
        add_tick(axis, (double)i * chosen);
}

static void make_ticks(chart_axis *axis, int most)
{
    axis->ticks = 0;
    if (axis->scale == CHART_LINEAR)
        linear_ticks(axis, most);
    else
        log_ticks(axis, axis->scale == CHART_LOG ? 10 : 2, most);
}

/* ---- what the data span ---- */

static void widen(chart_axis *axis, double value)
{
    if (isnan(value) || (axis->scale != CHART_LINEAR && value <= 0))
        return;
    axis->lo = fmin(axis->lo, value);
    axis->hi = fmax(axis->hi, value);
}

static void span(const chart_panel *p, chart_axis *x, chart_axis *y)
{
    *x = (chart_axis){.lo = INFINITY, .hi = -INFINITY, .scale = p->x_scale};
    *y = (chart_axis){.lo = INFINITY, .hi = -INFINITY, .scale = p->y_scale};
    for (size_t i = 0; i < 2 * CHART_SERIES; i++) {
        const chart_series *s =
            i < CHART_SERIES ? &p->measured[i] : &p->published[i - CHART_SERIES];
        for (size_t k = 0; k < s->count; k++) {
            widen(x, s->points[k].x);
            widen(y, s->points[k].y);
            widen(y, s->points[k].low);
            widen(y, s->points[k].high);
        }
    }
    widen(y, p->limit > 0 ? p->limit : NAN);
    if (!(x->lo <= x->hi))
        x->lo = x->hi = 1;
    if (!(y->lo <= y->hi))
        y->lo = y->hi = 1;
}

/* Room beyond the data; a linear axis of values starts at 0. */
static void round_out(chart_axis *axis, int values, chart_kind kind)
{
    if (axis->scale == CHART_LINEAR) {
        axis->lo = values && axis->lo > 0 ? 0 : axis->lo;
        double more = (axis->hi - axis->lo) * (values ? 0.08 : 0.02);
        axis->hi += more > 0 ? more : 1;
        axis->lo -= values ? 0 : more > 0 ? more : 1;
        return;
    }
    double room = pow(axis->hi / axis->lo, 0.04);
    room = room < 1.15 ? 1.15 : room;
    axis->lo /= values && kind == CHART_BARS ? 2.5 : room; /* the least bar is seen too */
    axis->hi *= room;
}

/* ---- a panel ---- */

static double widest(cairo_t *cr, const chart_axis *axis)
{
    double most = 0;
    for (size_t i = 0; i < axis->ticks; i++)
        most = fmax(most, chart_text_width(cr, axis->label[i], 12, 0));
    return most;
}

/* A category's name under its place, line by line. */
static void row_below(chart_frame *f, size_t row)
{
    double x = f->left + ((double)row + 0.5) * (f->right - f->left) / (double)f->panel->rows;
    double y = f->bottom + 18;
    for (const char *at = f->panel->row_names[row]; *at; y += 14) {
        char text[CHART_NAME];
        size_t length = strcspn(at, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        chart_text(f->cr, x, y, text, 11.5, 0, CHART_INK, CHART_MIDDLE);
        at += length + (at[length] == '\n');
    }
}

static void up(cairo_t *cr, double x, double y, const char *text)
{
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_rotate(cr, -1.5707963267948966);
    chart_text(cr, 0, 0, text, 12.5, 0, CHART_INK, CHART_MIDDLE);
    cairo_restore(cr);
}

static void axis_x(chart_frame *f, const char *label)
{
    const chart_panel *p = f->panel;
    int values = p->kind == CHART_RANGES;
    chart_axis *axis = values ? &f->y : &f->x;
    line(f->cr, f->left, f->bottom, f->right, f->bottom, CHART_INK);
    for (size_t i = 0; i < p->rows && p->kind == CHART_BARS; i++)
        row_below(f, i);
    for (size_t i = 0; i < axis->ticks && p->kind != CHART_BARS; i++) {
        double x = chart_at(axis, axis->tick[i]);
        if (values)
            line(f->cr, x, f->top, x, f->bottom, CHART_FAINT);
        line(f->cr, x, f->bottom, x, f->bottom + 5, CHART_INK);
        chart_text(f->cr, x, f->bottom + 19, axis->label[i], 12, 0, CHART_INK, CHART_MIDDLE);
    }
    double y = f->bottom + (p->kind == CHART_BARS ? 18 : 38);
    if (label[0] && p->kind != CHART_BARS)
        chart_text(f->cr, (f->left + f->right) / 2, y, label, 12.5, 0, CHART_INK, CHART_MIDDLE);
}

static void axis_y(chart_frame *f, double outer, const char *label)
{
    for (size_t i = 0; i < f->y.ticks; i++) {
        double y = chart_at(&f->y, f->y.tick[i]);
        line(f->cr, f->left, y, f->right, y, CHART_FAINT);
        chart_text(f->cr, f->left - 8, y + 4, f->y.label[i], 12, 0, CHART_INK, CHART_END);
    }
    up(f->cr, outer + 14, (f->top + f->bottom) / 2, label);
}

static void limit(chart_frame *f)
{
    const chart_panel *p = f->panel;
    if (!(p->limit > 0))
        return;
    static const double dashes[] = {6, 4};
    double at = chart_at(&f->y, p->limit);
    cairo_save(f->cr);
    cairo_set_dash(f->cr, dashes, 2, 0);
    if (p->kind == CHART_RANGES)
        line(f->cr, at, f->top, at, f->bottom, CHART_GREY);
    else
        line(f->cr, f->left, at, f->right, at, CHART_GREY);
    cairo_restore(f->cr);
    if (p->kind == CHART_RANGES)
        chart_text(f->cr, at, f->top - 6, p->limit_label, 11.5, 0, CHART_GREY, CHART_MIDDLE);
    else
        chart_text(f->cr, f->left + 6, at - 5, p->limit_label, 11.5, 0, CHART_GREY, CHART_START);
}

/* Lines under the deepest category name. */
static double rows_height(const chart_panel *p)
{
    int most = 1;
    for (size_t i = 0; i < p->rows; i++) {
        int lines = 1;
        for (const char *c = p->row_names[i]; *c; c++)
            lines += *c == '\n';
        most = lines > most ? lines : most;
    }
    return 14.0 * most;
}

static double rows_width(cairo_t *cr, const chart_panel *p)
{
    double most = 0;
    for (size_t i = 0; i < p->rows; i++)
        most = fmax(most, chart_text_width(cr, p->row_names[i], 12.5, 0));
    return most;
}

static int is_empty(const chart_panel *p)
{
    for (size_t i = 0; i < CHART_SERIES; i++)
        if (p->measured[i].count)
            return 0;
    return 1;
}

static void draw_panel(cairo_t *cr, const chart *c, const chart_panel *p, double left, double top,
                       double right, double bottom)
{
    chart_frame f = {.cr = cr, .chart = c, .panel = p};
    double inner = top;
    if (p->title[0]) {
        chart_text(cr, left, top + 14, p->title, 14, 1, 0x1a1a1a, CHART_START);
        inner += 26;
    }
    span(p, &f.x, &f.y);
    round_out(&f.x, 0, p->kind);
    round_out(&f.y, 1, p->kind);
    f.top = inner + (p->kind == CHART_RANGES && p->limit > 0 ? 16 : 4);
    f.bottom = bottom - (p->kind == CHART_BARS ? 8 + rows_height(p) : 46);
    f.right = right - 10;
    if (p->kind == CHART_RANGES) {
        f.left = left + rows_width(cr, p) + 14;
        f.right -= 90; /* the figures at the bars' ends */
        f.y.from = f.left;
        f.y.to = f.right;
        make_ticks(&f.y, (int)((f.right - f.left) / 70));
        axis_x(&f, p->y_label);
    } else {
        make_ticks(&f.y, (int)((f.bottom - f.top) / 34));
        f.left = left + 28 + widest(cr, &f.y) + 10;
        f.x.from = f.left;
        f.x.to = f.right;
        f.y.from = f.bottom;
        f.y.to = f.top;
        make_ticks(&f.x, (int)((f.right - f.left) / 76));
        axis_y(&f, left, p->y_label);
        axis_x(&f, p->x_label);
    }
    limit(&f);
    if (is_empty(p))
        chart_text(cr, (f.left + f.right) / 2, (f.top + f.bottom) / 2, "not told here", 13, 0,
                   CHART_GREY, CHART_MIDDLE);
    chart_marks(&f);
}

/* ---- the page ---- */

static double legend_width(cairo_t *cr, const chart *c)
{
    double most = c->published[0] ? chart_text_width(cr, c->published, 12.5, 0) : 0;
    for (size_t i = 0; i < c->series; i++)
        most = fmax(most, chart_text_width(cr, c->names[i], 12.5, 0));
    return most + 50;
}

static void legend(cairo_t *cr, const chart *c, double x, double y)
{
    for (size_t i = 0; i < c->series; i++, y += 22) {
        chart_sample(cr, c, i, x + 14, y - 4);
        chart_text(cr, x + 36, y, c->names[i], 12.5, 0, CHART_INK, CHART_START);
    }
    if (c->published[0]) {
        chart_sample(cr, c, CHART_SERIES, x + 14, y + 6);
        chart_text(cr, x + 36, y + 10, c->published, 12.5, 0, CHART_INK, CHART_START);
    }
}

void chart_draw(cairo_t *cr, const chart *c)
{
    double width = c->width, height = c->height;
    chart_color(cr, 0xffffff);
    cairo_paint(cr);
    chart_text(cr, 20, 34, c->title, 19, 1, 0x1a1a1a, CHART_START);
    double size = 12.5;
    while (size > 9 && chart_text_width(cr, c->subtitle, size, 0) > width - 40)
        size -= 0.25;
    chart_text(cr, 20, 56, c->subtitle, size, 0, CHART_GREY, CHART_START);
    double notes = 0;
    if (c->note[0]) {
        double rows = ceil(chart_text_width(cr, c->note, 11.5, 0) * 1.06 / (width - 40));
        notes = rows * 11.5 * 1.35 + 8;
        paragraph(cr, 20, height - notes + 6, width - 40, c->note, 11.5, CHART_GREY);
    }
    double side = legend_width(cr, c), top = 74, left = 20, right = width - side - 12;
    legend(cr, c, width - side, top + 22);
    size_t columns = c->columns ? c->columns : 1, rows = (c->panels + columns - 1) / columns;
    double wide = (right - left) / (double)columns;
    double high = (height - notes - 6 - top) / (double)(rows ? rows : 1);
    for (size_t i = 0; i < c->panels; i++) {
        double x = left + wide * (double)(i % columns), y = top + high * (double)(i / columns);
        draw_panel(cr, c, &c->panel[i], x, y, x + wide, y + high - 6);
    }
}

#else
typedef int chart_draw_needs_cairo; /* a translation unit has to declare something */
#endif
