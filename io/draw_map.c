/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of two dimensions: a heat map, the first axis to the right and the second upwards. */
#if TALLY_HAVE_CAIRO

#include "io/dates.h"
#include "io/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Cells of `across` × `up` neighbouring bins, as many as there are pixels at most. */
typedef struct grid {
    uint64_t columns, rows, across, up;
    double *cells;      /* rows × columns, the bottom row first: means over the cell's bins */
    double least, most; /* above 0 and finite */
    int density, log;
} grid;

static double bin_value(const ty_draw *d, uint64_t i, uint64_t j, int density)
{
    const tally_axis *x = &d->result->axes[0], *y = &d->result->axes[1];
    double value = ty_result_value(d->result, 0, i * y->bins + j);
    if (density)
        value /= ty_bin_width(x, i) * ty_bin_width(y, j);
    return isfinite(value) ? value : 0;
}

static tally_status make_grid(ty_draw *d, grid *g, tally_error *error)
{
    const tally_axis *x = &d->result->axes[0], *y = &d->result->axes[1];
    g->density = ty_draw_is_uneven(d, x) || ty_draw_is_uneven(d, y);
    g->log = d->options->log_counts;
    g->across = (uint64_t)((double)x->bins / (d->right - d->left)) + 1;
    g->up = (uint64_t)((double)y->bins / (d->bottom - d->top)) + 1;
    g->columns = (x->bins - 1) / g->across + 1;
    g->rows = (y->bins - 1) / g->up + 1;
    /* Of the cells, and of the image that is made of them. */
    tally_status status = ty_draw_check((double)(g->columns * g->rows) * 12, error);
    if (status)
        return status;
    g->cells = ty_calloc((size_t)(g->columns * g->rows), sizeof *g->cells);
    if (!g->cells)
        return ty_error_memory(error, "a map", g->columns * g->rows * sizeof *g->cells);
    for (uint64_t i = 0; i < x->bins; i++)
        for (uint64_t j = 0; j < y->bins; j++)
            g->cells[j / g->up * g->columns + i / g->across] += bin_value(d, i, j, g->density);
    for (uint64_t k = 0; k < g->columns * g->rows; k++) {
        uint64_t wide = x->bins - k % g->columns * g->across,
                 high = y->bins - k / g->columns * g->up;
        g->cells[k] /=
            (double)(wide < g->across ? wide : g->across) * (double)(high < g->up ? high : g->up);
        if (g->cells[k] > 0 && (g->least == 0 || g->cells[k] < g->least))
            g->least = g->cells[k];
        g->most = fmax(g->most, g->cells[k]);
    }
    g->log = g->log && g->most > g->least;
    return TALLY_OK;
}

/* Empty cells stay white, so that one sample differs from none. */
static uint32_t cell_color(const grid *g, double value)
{
    if (!(value > 0))
        return 0xffffff;
    return ty_color_map(g->log ? (log(value) - log(g->least)) / (log(g->most) - log(g->least))
                               : value / g->most);
}

/* Evenly drawn axes: one image pixel a cell, scaled without smoothing. */
static void draw_image(ty_draw *d, const grid *g)
{
    cairo_surface_t *image =
        ty_libcairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)g->columns, (int)g->rows);
    if (ty_libcairo.surface_status(image) == CAIRO_STATUS_SUCCESS) {
        unsigned char *bytes = ty_libcairo.image_surface_get_data(image);
        size_t stride = (size_t)ty_libcairo.image_surface_get_stride(image);
        for (uint64_t row = 0; row < g->rows; row++) {
            for (uint64_t column = 0; column < g->columns; column++) {
                uint32_t color = cell_color(g, g->cells[(g->rows - 1 - row) * g->columns + column]);
                memcpy(bytes + row * stride + column * 4, &color, 4);
            }
        }
        ty_libcairo.surface_mark_dirty(image);
    }
    const tally_axis *x = &d->result->axes[0], *y = &d->result->axes[1];
    /* The last cell may stand for fewer bins and reaches past the plot, where it is clipped. */
    double wide = (d->right - d->left) * (double)(g->columns * g->across) / (double)x->bins;
    double high = (d->bottom - d->top) * (double)(g->rows * g->up) / (double)y->bins;
    ty_libcairo.save(d->cr);
    ty_libcairo.rectangle(d->cr, d->left, d->top, d->right - d->left, d->bottom - d->top);
    ty_libcairo.clip(d->cr);
    ty_libcairo.translate(d->cr, d->left, d->bottom - high);
    ty_libcairo.scale(d->cr, wide / (double)g->columns, high / (double)g->rows);
    ty_libcairo.set_source_surface(d->cr, image, 0, 0);
    ty_libcairo.pattern_set_filter(ty_libcairo.get_source(d->cr), CAIRO_FILTER_NEAREST);
    ty_libcairo.paint(d->cr);
    ty_libcairo.restore(d->cr);
    ty_libcairo.surface_destroy(image);
}

/* SVG keeps every rectangle, as cairo does, until all are written. */
static tally_status check_cells(const ty_draw *d, const grid *g, tally_error *error)
{
    enum { RECTANGLE = 1100 }; /* bytes, measured with cairo 1.16 */
    uint64_t filled = 0;
    if (ty_libcairo.surface_get_type(ty_libcairo.get_target(d->cr)) != CAIRO_SURFACE_TYPE_SVG)
        return TALLY_OK;
    for (uint64_t k = 0; k < g->columns * g->rows; k++)
        filled += g->cells[k] > 0;
    return ty_draw_check((double)filled * RECTANGLE, error);
}

static tally_status draw_cells(ty_draw *d, const grid *g, tally_error *error)
{
    tally_status status = check_cells(d, g, error);
    if (status)
        return status;
    const tally_axis *x = &d->result->axes[0], *y = &d->result->axes[1];
    ty_libcairo.save(d->cr);
    ty_libcairo.set_antialias(d->cr, CAIRO_ANTIALIAS_NONE); /* no seams between neighbours */
    for (uint64_t k = 0; k < g->columns * g->rows; k++) {
        uint64_t i = k % g->columns * g->across, j = k / g->columns * g->up;
        uint64_t i1 = i + g->across < x->bins ? i + g->across : x->bins;
        uint64_t j1 = j + g->up < y->bins ? j + g->up : y->bins;
        if (!(g->cells[k] > 0))
            continue;
        double x0 = ty_scale_at(&d->x, tally_axis_edge(x, i)),
               x1 = ty_scale_at(&d->x, tally_axis_edge(x, i1));
        double y0 = ty_scale_at(&d->y, tally_axis_edge(y, j)),
               y1 = ty_scale_at(&d->y, tally_axis_edge(y, j1));
        ty_draw_color(d, cell_color(g, g->cells[k]), 1);
        ty_libcairo.rectangle(d->cr, x0, y1, x1 - x0, y0 - y1);
        ty_libcairo.fill(d->cr);
    }
    ty_libcairo.restore(d->cr);
    return TALLY_OK;
}

static const char *bar_label(const ty_draw *d, const grid *g)
{
    if (d->result->kind == TALLY_RESULT_COUNTS)
        return g->density ? "samples per unit of area" : "samples per bin";
    return g->density ? "sum of weights per unit of area" : "sum of weights per bin";
}

static void bar_ticks(const ty_draw *d, const grid *g, ty_ticks *ticks)
{
    int most = (int)((d->bottom - d->top) / (52 * d->s));
    most = most < 2 ? 2 : most > 10 ? 10 : most;
    if (g->log)
        ty_ticks_log(g->least, g->most, most, ticks);
    else
        ty_ticks_linear(0, g->most > 0 ? g->most : 1, most, 1, 0, ticks);
}

static void draw_color_bar(ty_draw *d, const grid *g, double x, const ty_ticks *ticks)
{
    double s = d->s, wide = 18 * s, height = d->bottom - d->top;
    ty_scale scale = {g->log ? g->least : 0, g->most > 0 ? g->most : 1, d->bottom, d->top, g->log};
    cairo_pattern_t *gradient = ty_libcairo.pattern_create_linear(0, d->bottom, 0, d->top);
    for (int i = 0; i <= 64; i++) {
        uint32_t c = ty_color_map(i / 64.0);
        ty_libcairo.pattern_add_color_stop_rgb(gradient, i / 64.0, (c >> 16) / 255.0,
                                               (c >> 8 & 255) / 255.0, (c & 255) / 255.0);
    }
    ty_libcairo.rectangle(d->cr, x, d->top, wide, height);
    ty_libcairo.set_source(d->cr, gradient);
    ty_libcairo.fill(d->cr);
    ty_libcairo.pattern_destroy(gradient);
    for (int i = 0; i < ticks->count; i++) {
        double y = ty_scale_at(&scale, ticks->values[i]);
        ty_draw_color(d, 0x333333, 1);
        ty_libcairo.set_line_width(d->cr, fmax(1, s));
        ty_libcairo.move_to(d->cr, x + wide, floor(y) + 0.5);
        ty_libcairo.line_to(d->cr, x + wide + 5 * s, floor(y) + 0.5);
        ty_libcairo.stroke(d->cr);
        ty_draw_text(d, x + wide + 9 * s, y + 5 * s, ticks->labels[i], 14 * s, 0, 0x333333,
                     TY_ALIGN_LEFT);
    }
    ty_draw_text_up(d, d->width - 12 * s, (d->top + d->bottom) / 2, bar_label(d, g), 15 * s,
                    0x333333);
}

static void ticks_y(ty_draw *d, const tally_axis *axis, ty_ticks *ticks)
{
    int most = (int)((d->bottom - d->top) / (52 * d->s));
    most = most < 2 ? 2 : most > 10 ? 10 : most;
    const tally_time time = d->result->times[axis - d->result->axes];
    if (time) {
        ty_ticks_time(axis->lo, axis->hi, most, time, ticks);
    } else if (axis->kind == TALLY_AXIS_LOG) {
        ty_ticks_log(axis->lo, axis->hi, most, ticks);
    } else if (!ty_draw_has_words(d, axis)) {
        int whole = axis->kind == TALLY_AXIS_INTEGER;
        double hi = whole && axis->bins > 1 ? axis->hi - 1 : axis->hi;
        ty_ticks_linear(axis->lo, hi, most, 0, whole, ticks);
    } else {
        memset(ticks, 0, sizeof *ticks);
        uint64_t stride = (axis->bins - 1) / (uint64_t)most + 1;
        for (uint64_t i = 0; i < axis->bins; i += stride) {
            char label[TY_LABEL_SIZE];
            ty_draw_bin_label(d, axis, i, label);
            ty_draw_text_fit(d, label, 90 * d->s, 14 * d->s, 0);
            strcpy(ticks->labels[ticks->count], label);
            ticks->values[ticks->count++] = (double)i;
        }
    }
}

/* A table's columns name their joint histogram "x,y"; without such a name an axis says which it is.
 */
static void axis_name(const tally_result *r, uint32_t d, char name[64])
{
    static const char *const plain[2][2] = {{"first value", "second value"},
                                            {"bytes (first axis)", "bytes (second axis)"}};
    int category = r->axes[d].kind == TALLY_AXIS_CATEGORY;
    const char *first = r->names[0], *comma = strchr(first, ',');
    const char *from = d && comma ? comma + 1 : first;
    size_t length = d || !comma ? strlen(from) : (size_t)(comma - first);
    if (category || !comma || strchr(comma + 1, ',') || !length)
        snprintf(name, 64, "%s", plain[category][d]);
    else
        ty_draw_name(from, length < 40 ? (int)length : 40, name);
}

tally_status ty_draw_map(ty_draw *d, tally_error *error)
{
    const tally_axis *x = &d->result->axes[0], *y = &d->result->axes[1];
    double s = d->s;
    grid g = {0};
    ty_ticks ticks, counts;
    ty_draw_headings(d, d->width - 40 * s);
    d->top = (d->title[0] ? 82 : 60) * s;
    d->bottom = d->height - (d->notes[0] ? 92 : 66) * s;
    ticks_y(d, y, &ticks);
    d->left = 58 * s + ty_draw_ticks_width(d, &ticks);
    d->right = d->width - 130 * s;
    if (d->right < d->left + 40 * s)
        d->right = d->left + 40 * s;
    tally_status status = make_grid(d, &g, error);
    if (status)
        return status;
    bar_ticks(d, &g, &counts);
    double bar = d->width - 52 * s - ty_draw_ticks_width(d, &counts) - 18 * s;
    d->x = ty_draw_scale_of(x, d->left, d->right);
    d->y = ty_draw_scale_of(y, d->bottom, d->top);
    if (g.density)
        status = draw_cells(d, &g, error);
    else
        draw_image(d, &g);
    char name[64];
    axis_name(d->result, 1, name);
    ty_draw_axis_y(d, &ticks, name, 0);
    axis_name(d->result, 0, name);
    ty_draw_axis_x(d, x, name);
    draw_color_bar(d, &g, bar, &counts);
    ty_free(g.cells);
    return status;
}

#else
typedef int ty_draw_map_needs_cairo; /* a translation unit has to declare something */
#endif
