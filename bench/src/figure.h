/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tally-bench --figure`: the experiments of the sources, measured again. An experiment measures
 * points; a point is a line of JSON. bench/plots.py draws the lines.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "options.h"

/* ---- the experiments: figure_table.c ---- */

typedef struct figure_run figure_run;

typedef struct figure {
    const char *name, *source, *title;
    int (*run)(figure_run *run); /* an exit code */
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
    uint64_t capacity, filled;
    char made[64];         /* what is there */
    unsigned char *period; /* what is repeated, */
    uint64_t period_bytes; /* … so many bytes, */
    uint64_t samples;      /* … so many samples */
    double equal;          /* bytes that are as the one before, a share; of floats NAN */
    unsigned char *block;  /* whole periods, for copying */
    uint64_t block_bytes;
} figure_data;

/* ---- figure_image.c ---- */

typedef struct figure_period {
    unsigned char *bytes;
    uint64_t count;
} figure_period;

/* The first rows of a square of so many pixels a side, tiled with a picture in both directions:
 * the square is these rows again and again. `kind`: "camera", "cat", "cat-rgba" or "phantom".
 * Release with free. */
tally_status figure_image_read(const char *folder, const char *kind, uint64_t side,
                               figure_period *to, tally_error *error);

/* What is counted at a point. */
typedef struct figure_try {
    const char *panel, *series, *label;
    double x;
    const char *method, *set; /* set: "k=31,threads=64" or NULL */
    const char *data;
    tally_dtype dtype;
    uint64_t n, bins, side; /* side: of a picture, in pixels; 0: no picture */
    double hi;              /* bins from 0 to hi; 0: letters a-z, four to a bin */
    tally_counter counter;
    int timing_only;
    int every_run; /* all repeats, whatever time they take */
    int merge;     /* also the time of adding up partial histograms */
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

enum { FIGURE_MOST_REPEATS = 1000 }; /* what --repeats takes */

struct figure_run {
    const bench_options *options;
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
    bench_lines lines;
    uint64_t *expected; /* of the period, for the axis that expected_for says */
    char expected_for[96];
};

/* Measures a point and adds its line. A method that refuses, or data that cannot be had, becomes a
 * line with "skipped" and the reason. An exit code. */
int figure_measure(figure_run *run, const figure_try *wanted);
/* The line measured last, for values that follow from several points; NULL while counting. */
bench_line *figure_last(figure_run *run);
/* Samples of a large experiment: `full`, or less for --quick, for --mib and for what memory the
 * device has. */
uint64_t figure_most(const figure_run *run, uint64_t full, uint64_t quick, tally_dtype dtype);

/* ---- figure.c ---- */

/* --list, or what --figure names. An exit code. */
int figure_run_all(const bench_options *options);

#endif
