/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar, against one that goes from day to day; what is written reads back the same. */
#include "../../common/calendar.h"

#include <stdlib.h>
#include <time.h>

#include "../../common/splitmix.h"
#include "../common/check.h"

static int length_of(int64_t year, int month)
{
    if (month == 2)
        return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static void test_every_day(void)
{
    calendar_date at = {-401, 1, 1};
    int64_t days = calendar_days(at), wrong = 0;
    const calendar_date epoch = {1970, 1, 1}, late = {2000, 3, 1};
    CHECK_SAY(calendar_days(epoch) == 0 && calendar_days(late) == 11017, "known days");
    for (; at.year < 10000; days++) {
        const calendar_date back = calendar_of_days(days);
        wrong += calendar_days(at) != days || back.year != at.year || back.month != at.month ||
                 back.day != at.day;
        if (++at.day > length_of(at.year, at.month)) {
            at.day = 1;
            if (++at.month > 12) {
                at.month = 1;
                at.year++;
            }
        }
    }
    CHECK_SAY(!wrong, "%lld days differ", (long long)wrong);
}

static void test_reads_what_is_written(uint64_t seed)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = splitmix64(&seed);
        calendar_time time = {0}, back = {0};
        char text[CALENDAR_SIZE];
        /* years 0 to 9999 but for the last day, which may be rounded up to the year 10000 */
        time.seconds = (int64_t)(bits % (315569520000 - 86400)) - 62167219200;
        const calendar_precision precision = (calendar_precision)(CALENDAR_DAYS + (bits >> 60) % 6);
        time.nanoseconds = (int32_t)(splitmix64(&seed) % 1000000000);
        time = calendar_round(time, precision);
        calendar_print(&time, precision, bits >> 59 & 1, text);
        const int good = calendar_parse(text, text + strlen(text), &back);
        CHECK_SAY(good && back.seconds == time.seconds && back.nanoseconds == time.nanoseconds &&
                      back.has_time == (precision > CALENDAR_DAYS),
                  "%s", text);
    }
}

/* Nothing behind `end` is read: texts lie at the end of what they were copied to. */
static int parse(const char *text, calendar_time *time)
{
    const size_t size = strlen(text);
    char *copy = malloc(size + !size);
    memcpy(copy, text, size);
    const int good = calendar_parse(copy, copy + size, time);
    free(copy);
    return good;
}

static void test_forms(void)
{
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanoseconds;
    } good[] = {{"1970-01-01", 0, 0},
                {"1969-12-31T23:59:59.5Z", -1, 500000000},
                {"2000-02-29t00:00z", 951782400, 0},
                {"2026-11-23 02:49:22,123", 1795402162, 123000000},
                {"2026-11-23T02:49:22.123456789+00:00", 1795402162, 123456789},
                {"2026-11-23T04:49:22+02", 1795402162, 0},
                {"2026-11-22T21:19:22-0530", 1795402162, 0},
                {"2026-11-23 02:49:22 +0000", 1795402162, 0},
                {"2026-11-23 02:49:22 UTC", 1795402162, 0},
                {"0000-01-01", -62167219200, 0},
                {"9999-12-31T23:59:59Z", 253402300799, 0}};
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-1-1",
                                      "2026-13-01",
                                      "2026-00-10",
                                      "2026-02-29",
                                      "1900-02-29",
                                      "2026-04-31",
                                      "2026-01-00",
                                      "2026-01-01T",
                                      "2026-01-01T1",
                                      "2026-01-01T24:00",
                                      "2026-01-01T00:60",
                                      "2026-01-01T00:00:60",
                                      "2026-01-01T00:00:0",
                                      "2026-01-01T00:00:00.",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00Zx",
                                      "2026-01-01T00:00+1",
                                      "2026-01-01T00:00+24",
                                      "2026-01-01T00:00+01:60",
                                      "2026-01-01T00:00+01:0",
                                      "2026-01-01 ",
                                      "20260101",
                                      "2026/01/01",
                                      "2026-01-01x00:00",
                                      "2026-01-01T00:00  Z",
                                      "-026-01-01",
                                      "2026-01-01Z",
                                      "2026-01-01T00-00"};
    calendar_time time;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_SAY(parse(good[i].text, &time) && time.seconds == good[i].seconds &&
                      time.nanoseconds == good[i].nanoseconds && !time.is_finer,
                  "%s: %lld %d", good[i].text, (long long)time.seconds, (int)time.nanoseconds);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_SAY(!parse(bad[i], &time), "'%s' is taken for a time", bad[i]);
    CHECK_SAY(parse("2026-01-01T00:00:00.0000000001", &time) && time.is_finer, "finer");
    CHECK_SAY(parse("2026-01-01T00:00:00.00000000000000", &time) && !time.is_finer, "zeros");
}

static void test_units(void)
{
    calendar_time time = {0};
    double value;
    parse("2026-11-23T02:49:22.123456Z", &time);
    CHECK_SAY(calendar_value(&time, TALLY_TIME_MICROSECOND, &value) && value == 1795402162123456,
              "us");
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_MILLISECOND, &value), "too fine for milliseconds");
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_DAY, &value), "too fine for days");
    parse("2026-11-23T02:49:22.123456789Z", &time);
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_NANOSECOND, &value), "2^53 nanoseconds");
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_MICROSECOND, &value), "nanoseconds");
    parse("2026-11-23T02:49:22Z", &time);
    CHECK_SAY(calendar_value(&time, TALLY_TIME_NANOSECOND, &value) && value == 1795402162e9, "ns");
    parse("9999-12-31T23:59:59Z", &time);
    CHECK_SAY(calendar_value(&time, TALLY_TIME_MICROSECOND, &value), "whole seconds are exact");
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_NANOSECOND, &value), "past 2^63 nanoseconds");
    parse("9999-12-31T23:59:59.000001Z", &time);
    CHECK_SAY(!calendar_value(&time, TALLY_TIME_MICROSECOND, &value), "not exact as float64");
    parse("1066-10-14", &time);
    CHECK_SAY(calendar_value(&time, TALLY_TIME_DAY, &value) && value == -329893, "%g days", value);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    test_every_day();
    test_reads_what_is_written(seed);
    test_forms();
    test_units();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
