/* From lines to a chart: which line is a point of which panel and series. */
#include <math.h>

#include "figure.h"

/* A line belongs to a panel when the panel asks for no name, or for the line's. */
static int belongs(const figure_line *line, const figure_panel *panel)
{
    return !panel->name || strcmp(panel->name, figure_text(line, "panel", "")) == 0;
}

/* The row whose first line of text is `label`, or CHART_ROWS. */
static size_t find_row(const chart_panel *panel, const char *label)
{
    for (size_t i = 0; i < panel->rows; i++) {
        size_t length = strcspn(panel->row_names[i], "\n");
        if (strcmp(panel->row_names[i], label) == 0 ||
            (strlen(label) == length && strncmp(panel->row_names[i], label, length) == 0))
            return i;
    }
    return CHART_ROWS;
}

static void widen(chart_point *point, double value)
{
    point->low = fmin(point->low, value);
    point->high = fmax(point->high, value);
    point->y = point->high;
}

static void add_category(chart_panel *to, chart_series *series, const char *label, double value)
{
    size_t row = chart_row(to, label);
    if (row == CHART_ROWS)
        return;
    for (size_t i = 0; i < series->count; i++)
        if (series->points[i].x == (double)row) {
            widen(&series->points[i], value);
            return;
        }
    chart_add(series, (chart_point){(double)row, value, value, value});
}

static void add_line(chart *c, chart_panel *to, const figure_panel *panel, const figure_line *line)
{
    double value = figure_number(line, panel->y) * panel->times;
    size_t series = chart_name(c, figure_text(line, "series", "?"));
    if (!isfinite(value) || series == CHART_SERIES)
        return;
    const char *label = figure_text(line, "label", NULL);
    if (panel->kind != CHART_LINES && label)
        add_category(to, &to->measured[series], label, value);
    else if (panel->kind == CHART_LINES)
        chart_add(&to->measured[series],
                  (chart_point){figure_number(line, "x"), value, value, value});
}

static int by_x(const void *a, const void *b)
{
    double x = ((const chart_point *)a)->x, y = ((const chart_point *)b)->x;
    return (x > y) - (x < y);
}

/* Rows of ranges from the best to the worst, by their slowest input. */
static void sort_rows(chart_panel *to)
{
    struct {
        double low;
        size_t from;
    } rows[CHART_ROWS], kept;
    char names[CHART_ROWS][CHART_NAME];
    size_t place[CHART_ROWS] = {0};
    memcpy(names, to->row_names, sizeof names);
    for (size_t r = 0; r < to->rows; r++) {
        rows[r].low = 0;
        rows[r].from = r;
    }
    for (size_t s = 0; s < CHART_SERIES; s++)
        for (size_t k = 0; k < to->measured[s].count; k++)
            rows[(size_t)to->measured[s].points[k].x].low = to->measured[s].points[k].low;
    for (size_t r = 1; r < to->rows; r++) {
        size_t at = r;
        kept = rows[r];
        for (; at > 0 && rows[at - 1].low < kept.low; at--)
            rows[at] = rows[at - 1];
        rows[at] = kept;
    }
    for (size_t r = 0; r < to->rows; r++) {
        place[rows[r].from] = r;
        memcpy(to->row_names[r], names[rows[r].from], CHART_NAME);
    }
    for (size_t s = 0; s < CHART_SERIES; s++)
        for (size_t k = 0; k < to->measured[s].count; k++)
            to->measured[s].points[k].x = (double)place[(size_t)to->measured[s].points[k].x];
}

static void add_published(chart *c, const figure *one, const figure_panel *panel, chart_panel *to)
{
    for (const figure_published *p = one->published; p && p->y > 0; p++) {
        if (panel->y && p->panel && strcmp(p->panel, panel->name ? panel->name : panel->y) != 0)
            continue;
        size_t series = chart_name(c, p->series);
        size_t row = p->label ? find_row(to, p->label) : 0;
        if (series < CHART_SERIES && row < CHART_ROWS)
            chart_add(&to->published[series],
                      (chart_point){p->label ? (double)row : p->x, p->y, p->y, p->y});
    }
}

static void make_panel(chart *c, const figure *one, const figure_panel *panel, chart_panel *to,
                       const figure_lines *lines)
{
    to->kind = panel->kind;
    to->x_scale = panel->x_scale;
    to->y_scale = panel->y_scale;
    to->limit = panel->limit;
    snprintf(to->title, sizeof to->title, "%s", panel->title ? panel->title : "");
    snprintf(to->x_label, sizeof to->x_label, "%s", panel->x_label ? panel->x_label : "");
    snprintf(to->y_label, sizeof to->y_label, "%s", panel->y_label);
    snprintf(to->limit_label, sizeof to->limit_label, "%s",
             panel->limit_label ? panel->limit_label : "");
    for (size_t i = 0; i < lines->count; i++)
        if (belongs(&lines->all[i], panel)) {
            double read = figure_number(&lines->all[i], "read_gbps");
            if (read > 0) {
                to->limit = read;
                snprintf(to->limit_label, sizeof to->limit_label, "reading alone: %.0f", read);
            }
            add_line(c, to, panel, &lines->all[i]);
        }
    for (size_t s = 0; s < CHART_SERIES && panel->kind == CHART_LINES; s++)
        qsort(to->measured[s].points, to->measured[s].count, sizeof(chart_point), by_x);
    if (panel->kind == CHART_RANGES)
        sort_rows(to);
    add_published(c, one, panel, to);
}

int figure_draw(const figure *one, const figure_lines *lines, const char *path)
{
    char why[1200];
    chart *c = calloc(1, sizeof *c);
    if (!c)
        return cli_fail("out of memory");
    const figure_line *first = NULL;
    for (size_t i = 0; i < lines->count && !first; i++)
        if (figure_text(&lines->all[i], "driver", "")[0])
            first = &lines->all[i];
    c->width = one->width;
    c->height = one->height;
    c->columns = one->columns;
    snprintf(c->title, sizeof c->title, "%s", one->title);
    if (first)
        snprintf(c->subtitle, sizeof c->subtitle, "%.100s, %.80s; %s%.10s; tally %.16s %.16s",
                 figure_text(first, "name", ""), figure_text(first, "driver", ""),
                 figure_truth(first, "quick") ? "a quick run, " : "",
                 figure_text(first, "date", ""), figure_text(first, "version", ""),
                 figure_text(first, "commit", ""));
    snprintf(c->note, sizeof c->note, "%s", one->note);
    for (size_t p = 0; p < CHART_PANELS && one->panels[p].y; p++)
        make_panel(c, one, &one->panels[p], &c->panel[c->panels++], lines);
    if (one->published && one->published->y > 0)
        snprintf(c->published, sizeof c->published, "published: %s", one->published_on);
    int code = chart_save(c, path, why, sizeof why) ? cli_fail("%s", why) : CLI_OK;
    free(c);
    return code;
}
