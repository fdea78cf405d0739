/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of results, through cairo. Units are pixels of the picture; `s` scales sizes that were
 * chosen for 1000 × 600. */
#ifndef TY_DRAW_H
#define TY_DRAW_H

#include "io/cairo_library.h"
#include "io/label.h"
#include "io/ticks.h"
#include "io/write.h"

/* Values to pixels along one direction. */
typedef struct ty_scale {
    double lo, hi;   /* values */
    double from, to; /* their pixels */
    int log;         /* lo > 0 */
} ty_scale;

typedef struct ty_draw {
    cairo_t *cr;
    const tally_result *result;
    const tally_write_options *options;
    double s, width, height;
    double left, top, right, bottom; /* of the plot */
    ty_scale x, y;
    int crowded; /* more bins than pixels tell apart: envelopes are drawn */
    char title[512];
    char subtitle[400];
    char notes[512];
} ty_draw;

typedef enum ty_align { TY_ALIGN_LEFT, TY_ALIGN_CENTER, TY_ALIGN_RIGHT } ty_align;

double ty_scale_at(const ty_scale *scale, double value);

/* draw_text.c */
void ty_draw_color(ty_draw *d, uint32_t rgb, double alpha);
double ty_draw_text_width(ty_draw *d, const char *text, double size, int bold);
/* `y` is the baseline. */
void ty_draw_text(ty_draw *d, double x, double y, const char *text, double size, int bold,
                  uint32_t rgb, ty_align align);
void ty_draw_text_up(ty_draw *d, double x, double y, const char *text, double size, uint32_t rgb);
/* Shortens `text` in place, with "…" at the end, until it is at most `width` wide. */
void ty_draw_text_fit(ty_draw *d, char *text, double width, double size, int bold);
/* At most `most` bytes, below 64, of a histogram's name as a picture shows it. */
void ty_draw_name(const char *text, int most, char name[64]);
/* Title, subtitle and notes at their places; the notes from a result's flows. */
tally_status ty_draw_words(ty_draw *d, tally_error *error);
void ty_draw_headings(ty_draw *d, double subtitle_room);

/* draw.c: TALLY_ERROR_MEMORY if a picture's parts would take more than there is. */
tally_status ty_draw_check(double bytes, tally_error *error);

/* draw_axis.c */
void ty_draw_ticks_x(ty_draw *d, const tally_axis *axis, ty_ticks *ticks);
void ty_draw_axis_x(ty_draw *d, const tally_axis *axis, const char *label);
/* Room left of the plot for the labels; then the axis itself. */
double ty_draw_ticks_width(ty_draw *d, const ty_ticks *ticks);
void ty_draw_axis_y(ty_draw *d, const ty_ticks *ticks, const char *label, int grid);
ty_scale ty_draw_scale_of(const tally_axis *axis, double from, double to);
/* What is in a bin of an axis of bytes or words, of `d`'s result; and whether it is one. */
void ty_draw_bin_label(const ty_draw *d, const tally_axis *axis, uint64_t bin,
                       char label[TY_LABEL_SIZE]);
int ty_draw_has_words(const ty_draw *d, const tally_axis *axis);
/* Whether bins differ in width although the axis is drawn evenly. */
int ty_draw_is_uneven(const ty_draw *d, const tally_axis *axis);

/* draw_profile.c: the limits of the y axis, what it is called, and histogram h of a profile. */
void ty_draw_profile_scale(ty_draw *d);
tally_time ty_draw_profile_time(const ty_draw *d); /* the unit, if what is drawn is times */
void ty_draw_profile_label(const ty_draw *d, char text[TY_ROW_SIZE]);
void ty_draw_profile(ty_draw *d, uint64_t h);

/* draw_series.c: one dimension; draw_map.c: two. */
void ty_draw_series(ty_draw *d);
tally_status ty_draw_map(ty_draw *d, tally_error *error);

#endif
