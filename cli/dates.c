/* SPDX-License-Identifier: Apache-2.0 */
#include "dates.h"

#include "cli.h"

int cli_value_parse(const char *text, tally_time unit, int is_end, double *value, int *is_date)
{
    calendar_time time;
    *is_date = calendar_parse(text, text + strlen(text), &time);
    if (!*is_date)
        return cli_parse_real(text, value);
    if (is_end && !time.has_time)
        time.seconds += CALENDAR_DAY;
    return calendar_value(&time, unit ? unit : TALLY_TIME_MICROSECOND, value);
}

int cli_has_dates(const cli_options *options, uint32_t d)
{
    int is_date = 0;
    double value;
    const size_t ranges = options->values[CLI_RANGE].count / 2,
                 edges = options->values[CLI_EDGES].count;
    if (ranges)
        cli_value_parse(options->values[CLI_RANGE].texts[ranges > 1 ? 2 * d : 0], TALLY_TIME_NONE,
                        0, &value, &is_date);
    if (edges && !is_date) {
        char first[CLI_DATE_SIZE] = "";
        const char *text = options->values[CLI_EDGES].texts[edges > 1 ? d : 0];
        const size_t length = strcspn(text, ",");
        if (length < sizeof first)
            memcpy(first, text, length);
        cli_value_parse(first, TALLY_TIME_NONE, 0, &value, &is_date);
    }
    return is_date;
}

void cli_date_print(double value, tally_time unit, calendar_precision precision, int iso,
                    char text[CLI_DATE_SIZE])
{
    calendar_time time;
    if (calendar_of(value, unit, &time))
        calendar_print(&time, precision, iso, text);
    else
        snprintf(text, CLI_DATE_SIZE, "%.17g", value);
}

int cli_calendar_parse(const char *text)
{
    static const char *const names[CLI_CALENDAR_COUNT] = {"hour", "day", "week", "month", "year"};
    for (int i = 0; i < CLI_CALENDAR_COUNT; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

/* The number of the unit that a second is in, and the second at which one begins. */
static int64_t number_of(cli_calendar calendar, int64_t seconds)
{
    const int64_t days = calendar_floor(seconds, CALENDAR_DAY);
    const calendar_date date = calendar_of_days(days);
    switch (calendar) {
    case CLI_HOUR:
        return calendar_floor(seconds, 3600);
    case CLI_DAY:
        return days;
    case CLI_WEEK: /* 1970-01-01 was a Thursday */
        return calendar_floor(days + 3, 7);
    case CLI_MONTH:
        return 12 * date.year + date.month - 1;
    default:
        return date.year;
    }
}

static int64_t begin_of(cli_calendar calendar, int64_t number)
{
    calendar_date date = {number, 1, 1};
    switch (calendar) {
    case CLI_HOUR:
        return number * 3600;
    case CLI_DAY:
        return number * CALENDAR_DAY;
    case CLI_WEEK:
        return (number * 7 - 3) * CALENDAR_DAY;
    case CLI_MONTH:
        date.year = calendar_floor(number, 12);
        date.month = (int)(number - 12 * date.year) + 1;
        break;
    default:
        break;
    }
    return calendar_days(date) * CALENDAR_DAY;
}

double *cli_calendar_edges(cli_calendar calendar, tally_time unit, double lo, double hi, int found,
                           uint64_t most, uint64_t *bins)
{
    calendar_time from, to;
    *bins = 0;
    if (!calendar_of(lo, unit, &from) || !calendar_of(hi, unit, &to) ||
        (calendar == CLI_HOUR && unit == TALLY_TIME_DAY))
        return NULL;
    if (!found && !to.nanoseconds) /* what is below */
        to.seconds--;
    const int64_t first = number_of(calendar, from.seconds);
    const uint64_t count = (uint64_t)(number_of(calendar, to.seconds) - first) + 1;
    double *edges = count <= most ? malloc((size_t)(count + 1) * sizeof *edges) : NULL;
    for (uint64_t i = 0; edges && i <= count; i++) {
        const calendar_time edge = {begin_of(calendar, first + (int64_t)i), 0, 0, 0};
        if (!calendar_value(&edge, unit, &edges[i])) {
            free(edges);
            return NULL;
        }
    }
    *bins = edges ? count : 0;
    return edges;
}
