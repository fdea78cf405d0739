/* SPDX-License-Identifier: Apache-2.0 */
/* Times as they are read from text and shown: numbers of a unit since 1970-01-01T00:00Z. */
#ifndef TY_DATES_H
#define TY_DATES_H

#include "../common/calendar.h"
#include "io/label.h"
#include "io/text_fields.h"
#include "io/ticks.h"

/* What times in text are held in, as float64: every time from 1684 to 2255, and whole seconds of
 * all years that are written, are exact; others are refused. */
#define TY_TEXT_TIME TALLY_TIME_MICROSECOND

/* The time in a field of text, or NaN where it is missing; 0: it is neither, or not exact. */
int ty_time_read(const ty_field *field, const ty_spelling *spelling, double *value);
/* The same of the bytes of a word, without quotes. */
int ty_time_parse(const char *p, const char *end, double *value);
/* What is to be said of one that is refused: "expected ..., found". */
const char *ty_time_expected(const char *p, const char *end);

/* "us" and the like, as the saved form has them; NULL for TALLY_TIME_NONE. */
const char *ty_time_name(tally_time time);

/* How the edges of rows of `group` bins are written: to the year or month where all begin one, else
 * to what keeps each within a hundredth of its row. */
ty_edge_style ty_time_style(const tally_axis *axis, tally_time time, uint64_t group);
/* Writes a value; `iso` for programs, with T and Z. A number where it is no time. */
void ty_time_print(double value, tally_time time, calendar_precision precision, int iso,
                   char text[TY_LABEL_SIZE]);
/* The same for people, cut to the precision and not rounded. */
void ty_time_print_cut(double value, tally_time time, calendar_precision precision,
                       char text[TY_LABEL_SIZE]);
/* The same for people, without a time of day or digits that are zeros. */
void ty_time_print_full(double value, tally_time time, calendar_precision precision,
                        char text[TY_LABEL_SIZE]);
/* What programs are shown edges with: seconds, or all that the unit has if one needs it. */
calendar_precision ty_time_edges(const tally_axis *axis, tally_time time);
/* A value for programs: to the second, or with all digits of the unit; nothing of no number. */
void ty_time_print_value(double value, tally_time time, char text[TY_LABEL_SIZE]);
/* A length of time: "3.25 days". */
void ty_time_print_span(double span, tally_time time, char text[TY_LABEL_SIZE]);

/* As ty_ticks_linear, where days, months and so on begin. */
void ty_ticks_time(double lo, double hi, int most, tally_time time, ty_ticks *ticks);

#endif
