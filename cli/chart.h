/*
 * Charts of measurements: lines, grouped bars and ranges, as PNG or SVG through cairo. A chart
 * holds up to CHART_PANELS panels that share one legend, beside the data; a series has the same
 * colour and mark in all of them.
 */
#ifndef CHART_H
#define CHART_H

#include <stddef.h>

enum {
    CHART_PANELS = 4,
    CHART_SERIES = 16, /* names in a chart */
    CHART_POINTS = 96, /* of a series in a panel */
    CHART_ROWS = 64,   /* categories of a panel */
    CHART_NAME = 64
};

typedef enum chart_kind {
    CHART_LINES, /* x is a number */
    CHART_BARS,  /* x is a category, upright bars side by side */
    CHART_RANGES /* categories from top to bottom, each from its least to its most */
} chart_kind;

typedef enum chart_scale {
    CHART_LINEAR,
    CHART_LOG,  /* powers of ten: 1, 10, 100, 1 k */
    CHART_TWOS, /* powers of two: 128, 256 */
    CHART_BYTES /* powers of two: 64 KiB, 1 MiB */
} chart_scale;

typedef struct chart_point {
    double x, low, y, high; /* x: the category's number for bars and ranges */
} chart_point;

typedef struct chart_series {
    size_t count;
    chart_point points[CHART_POINTS];
} chart_series;

typedef struct chart_panel {
    chart_kind kind;
    chart_scale x_scale, y_scale;
    char title[96], x_label[96], y_label[96];
    chart_series measured[CHART_SERIES], published[CHART_SERIES];
    size_t rows;
    char row_names[CHART_ROWS][CHART_NAME]; /* "\n" starts another line under it */
    double limit;                           /* a line across at this value; 0 for none */
    char limit_label[96];
} chart_panel;

typedef struct chart {
    unsigned width, height; /* pixels */
    char title[128], subtitle[256], note[512];
    char published[128]; /* what hollow marks are: "published: GTX 580" */
    size_t series;
    char names[CHART_SERIES][CHART_NAME];
    size_t panels, columns; /* panels side by side in a row */
    chart_panel panel[CHART_PANELS];
} chart;

/* The number of the series `name`, added if it is new; CHART_SERIES when there is no more room. */
size_t chart_name(chart *c, const char *name);
/* The number of the category `name` of a panel, or CHART_ROWS. */
size_t chart_row(chart_panel *panel, const char *name);
void chart_add(chart_series *series, chart_point point);

/* Why nothing can be drawn here, or NULL. */
const char *chart_missing(void);
/* Draws to `path`: .svg, else PNG. 0, or -1 with the reason in `why`. */
int chart_save(const chart *c, const char *path, char *why, size_t size);

#endif
