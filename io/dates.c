/* SPDX-License-Identifier: Apache-2.0 */
#include "io/dates.h"

#include <math.h>
#include <string.h>

/* ---- Reading ---- */

int ty_time_parse(const char *p, const char *end, double *value)
{
    calendar_time time;
    return calendar_parse(p, end, &time) && calendar_value(&time, TY_TEXT_TIME, value);
}

int ty_time_read(const ty_field *from, const ty_spelling *spelling, double *value)
{
    const ty_field field = ty_field_trim(from);
    if (!(spelling && spelling->missing) &&
        ty_time_parse(field.begin, field.begin + field.size, value))
        return 1;
    if (ty_field_is_nan(&field, spelling)) {
        *value = NAN;
        return 1;
    }
    return ty_time_parse(field.begin, field.begin + field.size, value);
}

const char *ty_time_expected(const char *p, const char *end)
{
    calendar_time time;
    if (!calendar_parse(p, end, &time))
        return "expected a date or a time such as 2026-11-23T02:49:22.5Z, as above,";
    return time.is_finer || time.nanoseconds % 1000
               ? "expected a time in whole microseconds, which is what times are held in,"
               : "expected a time that microseconds hold exactly in 53 bits (fractions of seconds "
                 "from 1684 to 2255),";
}

/* ---- Words ---- */

const char *ty_time_name(tally_time time)
{
    static const char *const names[] = {NULL, "day", "s", "ms", "us", "ns"};
    return time <= TALLY_TIME_NANOSECOND ? names[time] : NULL;
}

void ty_time_print(double value, tally_time time, calendar_precision precision, int iso,
                   char text[TY_LABEL_SIZE])
{
    calendar_time at;
    if (calendar_of(value, time, &at)) {
        at = calendar_round(at, precision);
        calendar_print(&at, precision, iso, text);
    } else {
        ty_edge_print(value, (ty_edge_style){.digits = 17}, text);
    }
}

void ty_time_print_cut(double value, tally_time time, calendar_precision precision,
                       char text[TY_LABEL_SIZE])
{
    calendar_time at;
    if (calendar_of(value, time, &at))
        calendar_print(&at, precision, 0, text);
    else
        ty_time_print(value, time, precision, 0, text);
}

void ty_time_print_full(double value, tally_time time, calendar_precision precision,
                        char text[TY_LABEL_SIZE])
{
    calendar_time at;
    int own = CALENDAR_DAYS;
    if (calendar_of(value, time, &at)) {
        at = calendar_round(at, precision);
        const int64_t second = at.seconds - calendar_floor(at.seconds, CALENDAR_DAY) * CALENDAR_DAY;
        own = at.nanoseconds ? CALENDAR_MILLISECONDS
              : second % 60  ? CALENDAR_SECONDS
              : second       ? CALENDAR_MINUTES
                             : CALENDAR_DAYS;
        while (at.nanoseconds % calendar_step((calendar_precision)own) && own > CALENDAR_SECONDS)
            own++;
    }
    ty_time_print(value, time, own < (int)precision ? (calendar_precision)own : precision, 0, text);
}

ty_edge_style ty_time_style(const tally_axis *axis, tally_time time, uint64_t group)
{
    ty_edge_style style = {.time = time, .precision = CALENDAR_YEARS};
    double before = INFINITY;
    for (uint64_t i = 0;; i = axis->bins - i < group ? axis->bins : i + group) {
        const uint64_t next = axis->bins - i < group ? axis->bins : i + group;
        const double edge = tally_axis_edge(axis, i);
        const double after = next > i ? tally_axis_edge(axis, next) - edge : INFINITY;
        const calendar_precision own = calendar_within(edge, time, fmin(before, after) / 100);
        style.precision = own > style.precision ? own : style.precision;
        before = after;
        if (i == axis->bins)
            return style;
    }
}

calendar_precision ty_time_edges(const tally_axis *axis, tally_time time)
{
    const ty_edge_style style = ty_time_style(axis, time, 1);
    const calendar_precision finest = calendar_finest(time);
    if (finest <= CALENDAR_SECONDS || style.precision <= CALENDAR_SECONDS)
        return finest < CALENDAR_SECONDS ? finest : CALENDAR_SECONDS;
    return finest;
}

void ty_time_print_value(double value, tally_time time, char text[TY_LABEL_SIZE])
{
    const double ticks = (double)calendar_ticks(time);
    const int is_whole = value == nearbyint(value) && (!ticks || fmod(value, ticks) == 0);
    text[0] = '\0';
    if (isfinite(value))
        ty_time_print(value, time,
                      !is_whole ? calendar_finest(ticks ? time : TALLY_TIME_SECOND)
                      : ticks   ? CALENDAR_SECONDS
                                : CALENDAR_DAYS,
                      1, text);
}

void ty_time_print_span(double span, tally_time time, char text[TY_LABEL_SIZE])
{
    char number[TY_LABEL_SIZE];
    const char *unit;
    ty_edge_print(calendar_length(span, time, &unit), (ty_edge_style){.digits = 3}, number);
    snprintf(text, TY_LABEL_SIZE, "%.40s %s", number, unit);
}

/* ---- Ticks ---- */

/* A step is so many months, or seconds, and labels are written to a precision. */
typedef struct tick_step {
    int64_t months, seconds;
    calendar_precision precision;
} tick_step;

static const tick_step steps[] = {{0, 1, CALENDAR_SECONDS},        {0, 5, CALENDAR_SECONDS},
                                  {0, 15, CALENDAR_SECONDS},       {0, 30, CALENDAR_SECONDS},
                                  {0, 60, CALENDAR_MINUTES},       {0, 300, CALENDAR_MINUTES},
                                  {0, 900, CALENDAR_MINUTES},      {0, 1800, CALENDAR_MINUTES},
                                  {0, 3600, CALENDAR_MINUTES},     {0, 3 * 3600, CALENDAR_MINUTES},
                                  {0, 6 * 3600, CALENDAR_MINUTES}, {0, 12 * 3600, CALENDAR_MINUTES},
                                  {0, 86400, CALENDAR_DAYS},       {0, 2 * 86400, CALENDAR_DAYS},
                                  {0, 7 * 86400, CALENDAR_DAYS},   {1, 0, CALENDAR_MONTHS},
                                  {3, 0, CALENDAR_MONTHS},         {6, 0, CALENDAR_MONTHS},
                                  {12, 0, CALENDAR_YEARS},         {24, 0, CALENDAR_YEARS},
                                  {60, 0, CALENDAR_YEARS},         {120, 0, CALENDAR_YEARS},
                                  {240, 0, CALENDAR_YEARS},        {600, 0, CALENDAR_YEARS},
                                  {1200, 0, CALENDAR_YEARS},       {6000, 0, CALENDAR_YEARS},
                                  {12000, 0, CALENDAR_YEARS}};

/* The k-th multiple of a step, in seconds; of weeks they are Mondays. */
static int64_t tick_at(const tick_step *step, int64_t k)
{
    if (step->months) {
        const int64_t month = k * step->months;
        const calendar_date date = {calendar_floor(month, 12),
                                    (int)(month - 12 * calendar_floor(month, 12)) + 1, 1};
        return calendar_days(date) * CALENDAR_DAY;
    }
    return k * step->seconds - (step->seconds == 7 * CALENDAR_DAY ? 3 * CALENDAR_DAY : 0);
}

/* The first multiple at or behind a second. */
static int64_t first_tick(const tick_step *step, int64_t seconds)
{
    int64_t k;
    if (step->months) {
        const calendar_date date = calendar_of_days(calendar_floor(seconds, CALENDAR_DAY));
        k = calendar_floor(12 * date.year + date.month - 1, step->months);
    } else {
        k = calendar_floor(seconds, step->seconds);
    }
    while (tick_at(step, k) < seconds)
        k++;
    return k;
}

void ty_ticks_time(double lo, double hi, int most, tally_time time, ty_ticks *ticks)
{
    const double second = 1e9 / calendar_nanoseconds(time); /* in the axis' units */
    calendar_time from, to;
    memset(ticks, 0, sizeof *ticks);
    if (!calendar_of(lo, time, &from) || !calendar_of(hi, time, &to) ||
        to.seconds - from.seconds < 3) {
        ty_ticks_linear(lo, hi, most, 0, 0, ticks);
        return;
    }
    from.seconds += from.nanoseconds > 0;
    most = most < TY_TICKS_MOST ? most : TY_TICKS_MOST;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int64_t first = first_tick(steps + i, from.seconds);
        if (tick_at(steps + i, first + most) <= to.seconds)
            continue;
        for (int64_t k = first; tick_at(steps + i, k) <= to.seconds; k++) {
            const calendar_time at = {tick_at(steps + i, k), 0, 0, 0};
            calendar_print(&at, steps[i].precision, 0, ticks->labels[ticks->count]);
            ticks->values[ticks->count++] = (double)at.seconds * second;
        }
        return;
    }
}
