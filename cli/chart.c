/* What a chart holds, and the files it is drawn to. */
#include "chart.h"

#include <stdio.h>
#include <string.h>

#include "chart_draw.h"

static size_t find(char names[][CHART_NAME], size_t *count, size_t most, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    if (*count == most)
        return most;
    snprintf(names[*count], CHART_NAME, "%s", name);
    return (*count)++;
}

size_t chart_name(chart *c, const char *name)
{
    return find(c->names, &c->series, CHART_SERIES, name);
}

size_t chart_row(chart_panel *panel, const char *name)
{
    return find(panel->row_names, &panel->rows, CHART_ROWS, name);
}

void chart_add(chart_series *series, chart_point point)
{
    if (series->count < CHART_POINTS)
        series->points[series->count++] = point;
}

#if !TALLY_HAVE_CAIRO

const char *chart_missing(void)
{
    return "this build draws no pictures, for it was made without cairo";
}

int chart_save(const chart *c, const char *path, char *why, size_t size)
{
    (void)c;
    (void)path;
    snprintf(why, size, "%s", chart_missing());
    return -1;
}

#else

#include <cairo-svg.h>

const char *chart_missing(void)
{
    return NULL;
}

static cairo_surface_t *open_surface(const chart *c, const char *path, int svg)
{
    if (!svg)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)c->width, (int)c->height);
    cairo_surface_t *surface = cairo_svg_surface_create(path, c->width, c->height);
#if CAIRO_VERSION >= CAIRO_VERSION_ENCODE(1, 16, 0)
    if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS)
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
#endif
    return surface;
}

int chart_save(const chart *c, const char *path, char *why, size_t size)
{
    size_t length = strlen(path);
    int svg = length > 4 && strcmp(path + length - 4, ".svg") == 0;
    char part[1024];
    snprintf(part, sizeof part, "%.1000s.part", path);
    cairo_surface_t *surface = open_surface(c, part, svg);
    cairo_t *cr = cairo_create(surface);
    chart_draw(cr, c);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (!status && !svg)
        status = cairo_surface_write_to_png(surface, part);
    cairo_surface_finish(surface);
    if (!status)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status || rename(part, path) != 0) {
        snprintf(why, size, "%s: %s", path,
                 status ? cairo_status_to_string(status) : "cannot be written");
        remove(part);
        return -1;
    }
    return 0;
}

#endif
