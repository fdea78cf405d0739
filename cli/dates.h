/* SPDX-License-Identifier: Apache-2.0 */
/* Dates on the command line: ends of ranges, edges, and bins of calendar units. */
#ifndef CLI_DATES_H
#define CLI_DATES_H

#include <tally/io.h>

#include "../common/calendar.h"
#include "options.h"

#define CLI_DATE_SIZE 64 /* of the longest text that is one */

/* A finite number, or a date or time in `unit` (of none: in microseconds), of which *is_date is
 * set. With `is_end` a date without a time of day stands for the whole day: where it ends. 0: it is
 * neither, or `unit` does not hold it. */
int cli_value_parse(const char *text, tally_time unit, int is_end, double *value, int *is_date);

/* Whether --range or --edges has dates for axis `d`. */
int cli_has_dates(const cli_options *options, uint32_t d);

/* A value as a date or time; `iso` for programs, with T and Z. */
void cli_date_print(double value, tally_time unit, calendar_precision precision, int iso,
                    char text[CLI_DATE_SIZE]);

typedef enum cli_calendar {
    CLI_HOUR,
    CLI_DAY,
    CLI_WEEK,
    CLI_MONTH,
    CLI_YEAR,
    CLI_CALENDAR_COUNT
} cli_calendar;

/* -1: `text` is none of them. */
int cli_calendar_parse(const char *text);

/* The edges of bins that are hours, days and so on, from the one that `lo` is in to the one that
 * holds what is below `hi`, or `hi` itself if it is `found`; malloc. *bins is 0 where there would
 * be more than `most`, or `unit` is too coarse. NULL: out of memory, or none. */
double *cli_calendar_edges(cli_calendar calendar, tally_time unit, double lo, double hi, int found,
                           uint64_t most, uint64_t *bins);

#endif
