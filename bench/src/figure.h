/*
 * `tally bench --figure`: the experiments of the sources, measured again. An experiment measures
 * points; a point is a line of JSON; a picture is drawn from lines, be they just measured or read
 * from a file.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include "chart.h"
#include "cli.h"
#include "progress.h"

/* ---- figure_lines.c: flat objects of JSON, one a line ---- */

enum { FIGURE_FIELDS = 48, FIGURE_TEXT = 128 };

typedef struct figure_field {
    char key[24];
    enum { FIGURE_IS_NUMBER, FIGURE_IS_TEXT, FIGURE_IS_TRUTH } kind;
    double number; /* of a truth: 0 or 1 */
    char text[FIGURE_TEXT];
} figure_field;

typedef struct figure_line {
    size_t count;
    figure_field fields[FIGURE_FIELDS];
} figure_line;

typedef struct figure_lines {
    size_t count, room;
    figure_line *all;
} figure_lines;

void figure_set_text(figure_line *line, const char *key, const char *text);
/* Nothing when `number` is not finite: what is not known is not there. */
void figure_set_number(figure_line *line, const char *key, double number);
void figure_set_truth(figure_line *line, const char *key, int truth);
const char *figure_text(const figure_line *line, const char *key, const char *otherwise);
double figure_number(const figure_line *line, const char *key); /* NAN if it is not there */
int figure_truth(const figure_line *line, const char *key);

/* Adds a copy; an exit code. Release with free(lines->all). */
int figure_lines_add(figure_lines *lines, const figure_line *line);
/* Adds a file's lines; nested values are left out. An exit code, after a message with the place. */
int figure_lines_read(const char *path, figure_lines *lines);
void figure_line_print(const figure_line *line, FILE *to);
void figure_lines_csv(const figure_lines *lines, FILE *to);

/* ---- the experiments: figure_table.c ---- */

typedef struct figure_run figure_run;

typedef struct figure_panel {
    const char *name; /* lines of this "panel"; NULL: of all */
    const char *title, *x_label, *y_label;
    const char *y; /* the field that is drawn */
    double times;  /* what it is multiplied with */
    chart_kind kind;
    chart_scale x_scale, y_scale;
    double limit; /* a published bound, drawn as a line across */
    const char *limit_label;
} figure_panel;

/* A number that a source's text gives, and where. */
typedef struct figure_published {
    const char *panel, *series, *label; /* label: the category of bars, else NULL */
    double x, y;
    const char *place;
} figure_published;

typedef struct figure {
    const char *name, *source, *title;
    const char *published_on; /* the source's device */
    const char *note;         /* what the source's text does not give, what differs here */
    unsigned width, height, columns;
    figure_panel panels[CHART_PANELS];
    const figure_published *published; /* ends with y = 0 */
    int (*run)(figure_run *run);       /* an exit code */
} figure;

extern const figure figure_table[];
extern const size_t figure_count;

int figure_reduce(figure_run *run);     /* 000: figure_sources.c */
int figure_optimise(figure_run *run);   /* 001 */
int figure_whitepaper(figure_run *run); /* 002 */
int figure_saturating(figure_run *run); /* 004 */
int figure_today(figure_run *run);
int figure_trish_k(figure_run *run); /* 003: figure_trish.c */
int figure_trish_throughput(figure_run *run);
int figure_trish_images(figure_run *run);
int figure_trish_ablation(figure_run *run);
int figure_trish_table(figure_run *run);

/* ---- figure_data.c: samples on the device ---- */

typedef struct figure_data {
    void *memory; /* the device's */
    uint64_t room, filled;
    char made[64];         /* what is there */
    unsigned char *period; /* what is repeated, */
    uint64_t period_bytes; /* … so many bytes, */
    uint64_t samples;      /* … so many samples */
    unsigned char *block;  /* whole periods, for copying */
    uint64_t block_bytes;
} figure_data;

/* What is counted at a point. */
typedef struct figure_try {
    const char *panel, *series, *label;
    double x;
    const char *method, *set; /* set: "k=31,threads=64" or NULL */
    const char *data;
    tally_dtype dtype;
    uint64_t n, bins;
    double hi; /* bins from 0 to hi; 0: letters a-z, four to a bin */
    tally_counter counter;
    int timing_only;
    int merge;     /* also the share of adding up partial histograms */
    int from_host; /* end to end: samples in host memory, time by the wall's clock */
    int on_host;   /* counted by the processor */
} figure_try;

/* Makes the period of `wanted` and, unless it is counted from host memory, has so many samples of
 * it on the device. TALLY_ERROR_UNSUPPORTED: this data cannot be had here, or do not fit. */
tally_status figure_data_need(figure_run *run, const figure_try *wanted, tally_error *error);
/* So many samples in host memory; NULL without memory. Release with free. */
void *figure_data_host(const figure_data *data, const figure_try *wanted);
void figure_data_release(figure_run *run);

/* ---- figure_measure.c ---- */

struct figure_run {
    const cli_options *options;
    const figure *figure;
    const char *folder; /* where photographs and the book are */
    tally_context *device, *host;
    tally_device_info info;
    char date[32];
    int quick;
    unsigned repeats;
    int counting; /* no measuring yet: how many points there will be */
    size_t points, done, wrong, skipped;
    figure_data data;
    figure_lines lines, peers;
    cli_progress *progress;
    uint64_t *expected; /* of the period, for the axis that expected_for says */
    char expected_for[96];
};

/* Measures a point and adds its line. A method that refuses, or data that cannot be had, becomes a
 * line with "skipped" and the reason. An exit code. */
int figure_measure(figure_run *run, const figure_try *wanted);
/* Samples of a large experiment: `full`, or less for --quick and for what memory the device has. */
uint64_t figure_most(const figure_run *run, uint64_t full, uint64_t quick, tally_dtype dtype);

/* ---- figure_draw.c ---- */

/* Draws `path` from lines; an exit code. */
int figure_draw(const figure *one, const figure_lines *lines, const char *path);

/* ---- figure.c ---- */

int cli_bench_figures(const cli_options *options, const char *folder);

#endif
