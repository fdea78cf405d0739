/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and times of the proleptic Gregorian calendar, UTC without leap seconds, as ISO 8601 writes
 * them. */
#ifndef COMMON_CALENDAR_H
#define COMMON_CALENDAR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tally/io.h>

#define CALENDAR_DAY  INT64_C(86400) /* seconds */
#define CALENDAR_SIZE 48             /* of what calendar_print writes */

typedef struct calendar_date {
    int64_t year;
    int month, day; /* from 1 */
} calendar_date;

typedef struct calendar_time {
    int64_t seconds; /* since 1970-01-01T00:00Z */
    int32_t nanoseconds;
    int has_time; /* more than a date was written */
    int is_finer; /* it has digits below a nanosecond */
} calendar_time;

static inline int64_t calendar_floor(int64_t a, int64_t b) /* a / b, b above 0 */
{
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01. Years are taken from March on, so that a leap day is their last: 306 days
 * are then before January, and 153 in five months of 31 30 31 30 31. */
static inline int64_t calendar_days(calendar_date d)
{
    const int64_t year = d.year - (d.month < 3);
    const int64_t leaps =
        calendar_floor(year, 4) - calendar_floor(year, 100) + calendar_floor(year, 400);
    const int64_t month = (d.month + 9) % 12;
    return 365 * year + leaps + (153 * month + 2) / 5 + d.day - 1 - 719468;
}

static inline calendar_date calendar_of_days(int64_t days)
{
    const int64_t from = days + 719468; /* 0000-03-01 */
    const int64_t era = calendar_floor(from, 146097), in_era = from - era * 146097;
    const int64_t century = (4 * in_era + 3) / 146097, in_century = in_era - century * 146097 / 4;
    const int64_t year = (4 * in_century + 3) / 1461, in_year = in_century - year * 1461 / 4;
    const int month = (int)((5 * in_year + 2) / 153);
    calendar_date date = {400 * era + 100 * century + year + (month > 9),
                          month > 9 ? month - 9 : month + 3,
                          (int)(in_year - (153 * month + 2) / 5 + 1)};
    return date;
}

static inline int calendar_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* ---- Reading ---- */

/* Two digits; above 99 if they are none. */
static inline unsigned calendar_two(const char *p)
{
    const unsigned tens = (unsigned char)p[0] - (unsigned)'0',
                   ones = (unsigned char)p[1] - (unsigned)'0';
    return tens < 10 && ones < 10 ? 10 * tens + ones : 100;
}

/* Nothing, Z, UTC, or ±hh, ±hhmm, ±hh:mm, with a blank before or none, up to `end`: how many
 * seconds it is ahead of UTC. */
static inline int calendar_zone(const char *p, const char *end, int *seconds)
{
    *seconds = 0;
    if (p < end && *p == ' ')
        p++;
    else if (p == end)
        return 1;
    const size_t size = (size_t)(end - p);
    if ((size == 1 && (*p == 'Z' || *p == 'z')) || (size == 3 && memcmp(p, "UTC", 3) == 0))
        return 1;
    if ((size != 3 && size != 5 && size != 6) || (*p != '+' && *p != '-') ||
        (size == 6 && p[3] != ':'))
        return 0;
    const unsigned hours = calendar_two(p + 1), minutes = size == 3 ? 0 : calendar_two(end - 2);
    *seconds = (int)(3600 * hours + 60 * minutes) * (*p == '-' ? -1 : 1);
    return hours < 24 && minutes < 60;
}

/* Digits behind the point of a second, to what follows them. NULL: there are none. */
static inline const char *calendar_fraction(const char *p, const char *end, calendar_time *time)
{
    const char *first = p;
    int32_t unit = 100000000;
    for (; p < end && *p >= '0' && *p <= '9'; p++, unit /= 10) {
        time->nanoseconds += (*p - '0') * unit;
        time->is_finer |= !unit && *p != '0';
    }
    return p > first ? p : NULL;
}

/* "hh:mm", with ":ss" and a fraction or without, and a zone. */
static inline int calendar_clock(const char *p, const char *end, calendar_time *time)
{
    int zone;
    if (end - p < 5 || p[2] != ':')
        return 0;
    const unsigned hour = calendar_two(p), minute = calendar_two(p + 3);
    unsigned second = 0;
    p += 5;
    if (end - p >= 3 && *p == ':') {
        second = calendar_two(p + 1);
        p += 3;
        if (p < end && (*p == '.' || *p == ',') && !(p = calendar_fraction(p + 1, end, time)))
            return 0;
    }
    if (hour > 23 || minute > 59 || second > 59 || !calendar_zone(p, end, &zone))
        return 0;
    time->seconds += (int64_t)(3600 * hour + 60 * minute + second) - zone;
    return 1;
}

/* The date [p, end): YYYY-MM-DD; or a time: also T or a blank and hh:mm, :ss, .fraction, and a
 * zone. 0: it is none. */
static inline int calendar_parse(const char *p, const char *end, calendar_time *time)
{
    static const unsigned char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (end - p < 10 || p[4] != '-' || p[7] != '-')
        return 0;
    const unsigned century = calendar_two(p), year = calendar_two(p + 2),
                   month = calendar_two(p + 5), day = calendar_two(p + 8);
    if (century > 99 || year > 99 || month - 1 > 11 || day < 1)
        return 0;
    const calendar_date date = {100 * century + year, (int)month, (int)day};
    if (day > lengths[month - 1] + (unsigned)(month == 2 && calendar_is_leap(date.year)))
        return 0;
    time->seconds = calendar_days(date) * CALENDAR_DAY;
    time->nanoseconds = 0;
    time->is_finer = 0;
    time->has_time = end - p > 10;
    return !time->has_time ||
           ((p[10] == 'T' || p[10] == 't' || p[10] == ' ') && calendar_clock(p + 11, end, time));
}

/* ---- Units ---- */

/* Of a second; 0: a unit of days. */
static inline int64_t calendar_ticks(tally_time unit)
{
    static const int64_t ticks[] = {0, 0, 1, 1000, 1000000, 1000000000};
    return unit <= TALLY_TIME_NANOSECOND ? ticks[unit] : 0;
}

/* A time in a unit; 0: the unit is too coarse, or float64 does not hold it. */
static inline int calendar_value(const calendar_time *time, tally_time unit, double *value)
{
    const int64_t ticks = calendar_ticks(unit);
    int64_t whole;
    if (time->is_finer)
        return 0;
    if (!ticks) {
        *value = (double)calendar_floor(time->seconds, CALENDAR_DAY);
        return time->seconds % CALENDAR_DAY == 0 && !time->nanoseconds;
    }
    if (time->nanoseconds % (1000000000 / ticks) ||
        __builtin_mul_overflow(time->seconds, ticks, &whole) ||
        __builtin_add_overflow(whole, time->nanoseconds / (1000000000 / ticks), &whole))
        return 0;
    *value = (double)whole;
    return *value < 0x1p63 && (int64_t)*value == whole;
}

/* Whole units, and what is left of one in nanoseconds, as a time; 0: it is in no year that is
 * written. */
static inline int calendar_of(double value, tally_time unit, calendar_time *time)
{
    const int64_t ticks = calendar_ticks(unit);
    if (!(fabs(value) < 0x1p63) || (!ticks && fabs(value) > 1e14))
        return 0;
    const int64_t whole = (int64_t)floor(value);
    const double part = value - floor(value);
    memset(time, 0, sizeof *time);
    if (!ticks) {
        const double nanoseconds = part * 86400e9;
        time->seconds = whole * CALENDAR_DAY + (int64_t)(nanoseconds / 1e9);
        time->nanoseconds = (int32_t)fmod(nanoseconds, 1e9);
        return 1;
    }
    time->seconds = calendar_floor(whole, ticks);
    time->nanoseconds = (int32_t)((double)((whole - time->seconds * ticks) * (1000000000 / ticks)) +
                                  part * (double)(1000000000 / ticks));
    return 1;
}

/* ---- Writing ---- */

/* To where a time is written. */
typedef enum calendar_precision {
    CALENDAR_YEARS,
    CALENDAR_MONTHS,
    CALENDAR_DAYS,
    CALENDAR_MINUTES,
    CALENDAR_SECONDS,
    CALENDAR_MILLISECONDS,
    CALENDAR_MICROSECONDS,
    CALENDAR_NANOSECONDS
} calendar_precision;

/* The nanoseconds of a precision from days on. */
static inline int64_t calendar_step(calendar_precision precision)
{
    static const int64_t steps[] = {86400000000000, 60000000000, 1000000000, 1000000, 1000, 1};
    return steps[precision < CALENDAR_DAYS ? 0 : precision - CALENDAR_DAYS];
}

/* The nearest time of a precision; of years and months the day. */
static inline calendar_time calendar_round(calendar_time time, calendar_precision precision)
{
    const int64_t step = calendar_step(precision);
    if (step >= 1000000000) {
        const int64_t seconds = step / 1000000000;
        const int64_t begin = calendar_floor(time.seconds, seconds) * seconds;
        const int up = 2 * (time.seconds - begin) >= seconds && seconds > 1;
        time.seconds =
            begin + ((up || (seconds == 1 && time.nanoseconds >= 500000000)) ? seconds : 0);
        time.nanoseconds = 0;
        return time;
    }
    int64_t nanoseconds = (time.nanoseconds + step / 2) / step * step;
    time.seconds += nanoseconds >= 1000000000;
    time.nanoseconds = (int32_t)(nanoseconds % 1000000000);
    return time;
}

/* Of a unit. */
static inline double calendar_nanoseconds(tally_time unit)
{
    const int64_t ticks = calendar_ticks(unit);
    return ticks ? 1e9 / (double)ticks : 86400e9;
}

/* The precision that all of a unit's values have. */
static inline calendar_precision calendar_finest(tally_time unit)
{
    static const calendar_precision finest[] = {CALENDAR_DAYS,         CALENDAR_DAYS,
                                                CALENDAR_SECONDS,      CALENDAR_MILLISECONDS,
                                                CALENDAR_MICROSECONDS, CALENDAR_NANOSECONDS};
    return finest[unit <= TALLY_TIME_NANOSECOND ? unit : 0];
}

/* The least precise that is at least as fine as `span` units. */
static inline calendar_precision calendar_as_fine(double span, tally_time unit)
{
    int precision = CALENDAR_DAYS;
    while (precision < CALENDAR_NANOSECONDS &&
           (double)calendar_step((calendar_precision)precision) > span * calendar_nanoseconds(unit))
        precision++;
    return (calendar_precision)precision;
}

/* The coarsest, years and months among them, that a time is within `tolerance` units of. */
static inline calendar_precision calendar_within(double value, tally_time unit, double tolerance)
{
    calendar_time at;
    if (!calendar_of(value, unit, &at))
        return CALENDAR_YEARS;
    if (at.seconds % CALENDAR_DAY == 0 && !at.nanoseconds) {
        const calendar_date date = calendar_of_days(calendar_floor(at.seconds, CALENDAR_DAY));
        if (date.day == 1)
            return date.month == 1 ? CALENDAR_YEARS : CALENDAR_MONTHS;
        return CALENDAR_DAYS;
    }
    for (int p = CALENDAR_DAYS; p < CALENDAR_NANOSECONDS; p++) {
        const calendar_time near = calendar_round(at, (calendar_precision)p);
        const double apart =
            (double)(near.seconds - at.seconds) * 1e9 + (double)(near.nanoseconds - at.nanoseconds);
        if (fabs(apart) <= tolerance * calendar_nanoseconds(unit))
            return (calendar_precision)p;
    }
    return CALENDAR_NANOSECONDS;
}

/* A length of time, in the largest of days, hours, minutes and seconds that it has two of. */
static inline double calendar_length(double span, tally_time unit, const char **name)
{
    static const char *const names[] = {"days", "h", "min", "s"};
    static const double seconds[] = {86400, 3600, 60, 1};
    const double all = span * calendar_nanoseconds(unit) / 1e9;
    size_t i = 0;
    while (i < 3 && all < 2 * seconds[i])
        i++;
    *name = names[i];
    return all / seconds[i];
}

/* Writes a time, cut to a precision; `iso` with T and Z, else with a blank and without. */
static inline void calendar_print(const calendar_time *time, calendar_precision precision, int iso,
                                  char text[CALENDAR_SIZE])
{
    const int64_t days = calendar_floor(time->seconds, CALENDAR_DAY);
    const calendar_date date = calendar_of_days(days);
    const int second = (int)(time->seconds - days * CALENDAR_DAY);
    char fraction[16];
    int used =
        snprintf(text, CALENDAR_SIZE, date.year < 0 || date.year > 9999 ? "%+05lld" : "%04lld",
                 (long long)date.year);
    if (precision >= CALENDAR_MONTHS)
        used += snprintf(text + used, CALENDAR_SIZE - (size_t)used, "-%02d", date.month);
    if (precision >= CALENDAR_DAYS)
        used += snprintf(text + used, CALENDAR_SIZE - (size_t)used, "-%02d", date.day);
    if (precision >= CALENDAR_MINUTES)
        used += snprintf(text + used, CALENDAR_SIZE - (size_t)used, "%c%02d:%02d", iso ? 'T' : ' ',
                         second / 3600, second / 60 % 60);
    if (precision >= CALENDAR_SECONDS)
        used += snprintf(text + used, CALENDAR_SIZE - (size_t)used, ":%02d", second % 60);
    if (precision > CALENDAR_SECONDS) {
        snprintf(fraction, sizeof fraction, "%09d", (int)time->nanoseconds);
        used += snprintf(text + used, CALENDAR_SIZE - (size_t)used, ".%.*s",
                         3 * (int)(precision - CALENDAR_SECONDS), fraction);
    }
    if (iso && precision >= CALENDAR_MINUTES)
        snprintf(text + used, CALENDAR_SIZE - (size_t)used, "Z");
}

#endif
