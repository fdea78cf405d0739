/* SPDX-License-Identifier: Apache-2.0 */
/* Words for bins and numbers that people read: short, aligned, no more digits than they need. */
#ifndef TY_LABEL_H
#define TY_LABEL_H

#include "../common/calendar.h"
#include "io/print.h"
#include "io/result.h"

#define TY_LABEL_SIZE 64
#define TY_ROW_SIZE   192

/* How the edges of a table's rows are written: all with `digits` decimals, or each with `digits`
 * significant digits, in exponents where they would be long; or as times, to a precision. */
typedef struct ty_edge_style {
    int is_fixed;
    int digits;
    tally_time time;
    calendar_precision precision;
} ty_edge_style;

/* The fewest digits that keep every shown edge within a hundredth of its row. The rows are `group`
 * bins each, the last one what is left. */
ty_edge_style ty_edge_style_choose(const tally_axis *axis, tally_time time, uint64_t group);
void ty_edge_print(double edge, ty_edge_style style, char text[TY_LABEL_SIZE]);

/* Whether samples are integers and so are the edges: rows are then "0 … 7", not "[0, 8)". */
int ty_axis_is_discrete(const tally_axis *axis, tally_dtype dtype, uint64_t group);

/* The largest integer of a type in the bins before `end`, of an axis that is discrete. */
double ty_axis_last_integer(const tally_axis *axis, tally_dtype dtype, uint64_t end);

/* The label of the row of bins `first` … `end`-1: "[0.25, 0.50)", "0 … 7", "a-d". Numbers are
 * right-aligned to `columns` each. `ascii` keeps to ASCII. */
typedef struct ty_row_style {
    ty_edge_style edges;
    int discrete, ascii;
    tally_dtype dtype;
    size_t columns;
} ty_row_style;

ty_row_style ty_row_style_choose(const tally_axis *axis, tally_dtype dtype, tally_time time,
                                 uint64_t group, int ascii);
void ty_row_label(const tally_axis *axis, const ty_row_style *style, uint64_t first, uint64_t end,
                  char text[TY_ROW_SIZE]);

/* The bytes of bins `first` … `end`-1 of a category axis: "a-d", "\x0a", "A C G T". */
void ty_category_label(const tally_axis *axis, uint64_t first, uint64_t end, int ascii,
                       char text[TY_LABEL_SIZE]);

/* "12.34%", "<0.01%" */
void ty_percent_print(double part, double whole, char text[TY_LABEL_SIZE]);

/* "921,600 samples", "1 bin": `noun` in the plural that adds an s. */
void ty_count_noun(uint64_t count, const char *noun, char text[TY_LABEL_SIZE]);

/* A histogram's colour: a channel's own (R, G, B, A, grey), one blue when it is alone, else the
 * next of a palette that colour-blind eyes tell apart. 0xRRGGBB. */
uint32_t ty_color_of(const tally_result *result, uint64_t h);

/* A perceptual colour map, dark blue to yellow; t is 0 … 1. 0xRRGGBB. */
uint32_t ty_color_map(double t);

#endif
