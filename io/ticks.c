/* SPDX-License-Identifier: Apache-2.0 */
#include "io/ticks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/print.h"

/* "10⁶", "10⁻³" */
static size_t put_power(char *text, int power)
{
    static const char *const digits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char plain[16];
    strcpy(text, "10");
    snprintf(plain, sizeof plain, "%d", power);
    for (const char *p = plain; *p; p++)
        strcat(text, *p == '-' ? "\u207b" : digits[*p - '0']);
    return strlen(text);
}

/* "1,250.5": fixed, the digits before the point in threes. */
static void put_grouped(double value, int decimals, char *text)
{
    char number[TY_NUMBER_SIZE], whole[TY_NUMBER_SIZE];
    ty_print_fixed(fabs(value), decimals, number);
    size_t before = strcspn(number, ".");
    uint64_t digits = 0;
    for (size_t i = 0; i < before; i++)
        digits = digits * 10 + (uint64_t)(number[i] - '0');
    ty_print_grouped(digits, whole);
    snprintf(text, TY_TICKS_LABEL, "%s%.24s%.12s", value < 0 ? "\u2212" : "", whole,
             number + before);
}

/* "2×10⁷" with the digits that `step` needs. */
static void put_scientific(double value, double step, char *text)
{
    char number[TY_NUMBER_SIZE];
    int power = (int)floor(log10(fabs(value)) + 1e-9);
    int decimals = power - (int)floor(log10(step) + 1e-9);
    decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    ty_print_fixed(fabs(value) / pow(10, power), decimals, number);
    size_t end = strlen(number);
    if (strchr(number, '.')) {
        while (number[end - 1] == '0')
            end--;
        end -= number[end - 1] == '.';
    }
    number[end] = '\0';
    snprintf(text, TY_TICKS_LABEL, "%s%.17s\u00d7", value < 0 ? "\u2212" : "", number);
    put_power(text + strlen(text), power);
}

static int decimals_of(double step)
{
    int power = (int)floor(log10(step) + 1e-9);
    return power < 0 ? -power : 0;
}

static void put_label(double value, double step, double largest, int counts, char *text)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", "E"};
    if (value == 0) {
        strcpy(text, "0");
    } else if (counts && largest >= 1e6 && largest < 1e21) {
        int group = (int)floor(log10(largest) / 3 + 1e-9);
        double unit = pow(1000, group);
        put_grouped(value / unit, decimals_of(step / unit), text);
        strcat(text, "\u2009"); /* a thin space */
        strcat(text, suffixes[group]);
    } else if (largest < 1e7 && step >= 0.99e-5) {
        put_grouped(value, decimals_of(step), text);
    } else {
        put_scientific(value, step, text);
    }
}

static double nice_step(double least, int whole)
{
    double power = pow(10, floor(log10(least)));
    double step = least <= power * 1.0000001 ? power
                  : least <= 2 * power       ? 2 * power
                  : least <= 5 * power       ? 5 * power
                                             : 10 * power;
    return whole && step < 1 ? 1 : step;
}

void ty_ticks_linear(double lo, double hi, int most, int counts, int whole, ty_ticks *ticks)
{
    memset(ticks, 0, sizeof *ticks);
    double step = nice_step((hi / most - lo / most), whole);
    if (!isfinite(step) || !(step > 0) || most < 2)
        return;
    double slack = step * 1e-6, largest = fmax(fabs(lo), fabs(hi));
    while (isfinite(step) && floor((hi + slack) / step) - ceil((lo - slack) / step) + 1 > most)
        step = nice_step(step * 1.5, whole);
    double first = ceil((lo - slack) / step);
    for (int i = 0; i < most && ticks->count < TY_TICKS_MOST; i++) {
        double value = (first + i) * step;
        if (!(value <= hi + slack))
            break;
        value = fabs(value) < step / 2 ? 0 : value;
        put_label(value, step, largest, counts, ticks->labels[ticks->count]);
        ticks->values[ticks->count++] = value;
    }
}

static void put_log_label(int power, int digit, char *text)
{
    char number[TY_NUMBER_SIZE];
    if (power >= -3 && power <= 3) {
        put_grouped(digit * pow(10, power), power < 0 ? -power : 0, text);
    } else if (digit == 1) {
        put_power(text, power);
    } else {
        snprintf(number, sizeof number, "%d\u00d7", digit);
        strcpy(text, number);
        put_power(text + strlen(text), power);
    }
}

void ty_ticks_log(double lo, double hi, int most, ty_ticks *ticks)
{
    memset(ticks, 0, sizeof *ticks);
    if (!(lo > 0) || !(lo < hi) || !isfinite(hi))
        return;
    int from = (int)floor(log10(lo)), to = (int)ceil(log10(hi));
    double decades = log10(hi) - log10(lo);
    int stride = (int)ceil(decades / most);
    stride = stride < 1 ? 1 : stride;
    int between = decades * 3 <= most ? 5 : decades * 2 <= most ? 3 : 1;
    for (int power = from; power <= to; power++) {
        for (int digit = 1; digit < 10; digit++) {
            double value = digit * pow(10, power);
            if (value < lo * (1 - 1e-9) || value > hi * (1 + 1e-9))
                continue;
            int labelled = digit == 1
                               ? power % stride == 0
                               : stride == 1 && ((between == 5 && (digit == 2 || digit == 5)) ||
                                                 (between == 3 && digit == 3));
            if (labelled && ticks->count < TY_TICKS_MOST) {
                put_log_label(power, digit, ticks->labels[ticks->count]);
                ticks->values[ticks->count++] = value;
            } else if ((digit == 1 || stride == 1) && ticks->minor_count < TY_TICKS_MINOR) {
                ticks->minor[ticks->minor_count++] = value;
            }
        }
    }
    if (ticks->count < 2 && decades < 1) /* less than a decade: evenly after all */
        ty_ticks_linear(lo, hi, most, 0, 0, ticks);
}
