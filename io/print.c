/* SPDX-License-Identifier: Apache-2.0 */
#include "io/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/error.h"
#include "io/number.h"
#include "io/temp_file.h"

/* printf's decimal point is the locale's and may be several bytes: whatever is neither digit nor
 * sign nor the exponent's letter becomes '.'. */
static size_t fix_point(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if ((*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e')
            *to++ = *p;
        else if (to > text && to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
    return (size_t)(to - text);
}

static size_t print_special(double value, char *text)
{
    strcpy(text, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return strlen(text);
}

size_t ty_print_fixed(double value, int decimals, char text[TY_NUMBER_SIZE])
{
    if (!isfinite(value))
        return print_special(value, text);
    snprintf(text, TY_NUMBER_SIZE, "%.*f", decimals, value);
    return fix_point(text);
}

size_t ty_print_scientific(double value, int decimals, char text[TY_NUMBER_SIZE])
{
    if (!isfinite(value))
        return print_special(value, text);
    snprintf(text, TY_NUMBER_SIZE, "%.*e", decimals, value);
    return fix_point(text);
}

/* Lays out `count` digits with the first worth 10^exponent. */
static size_t lay_out(const char *digits, int count, int exponent, char *to)
{
    char *start = to;
    if (exponent < -5 || exponent > 16) {
        *to++ = digits[0];
        if (count > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, (size_t)count - 1);
            to += count - 1;
        }
        return (size_t)(to - start) + (size_t)snprintf(to, 8, "e%d", exponent);
    }
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = -1; i > exponent; i--)
            *to++ = '0';
        memcpy(to, digits, (size_t)count);
        to += count;
    } else {
        for (int i = 0; i < count || i <= exponent; i++) {
            if (i == exponent + 1)
                *to++ = '.';
            *to++ = i < count ? digits[i] : '0';
        }
    }
    *to = '\0';
    return (size_t)(to - start);
}

/* `value` rounded to `precision` significant digits, zeros at the end dropped. */
static size_t print_digits(double value, int precision, char *text)
{
    char rounded[TY_NUMBER_SIZE], digits[24], *to = text;
    ty_print_scientific(fabs(value), precision - 1, rounded);
    int count = 0, exponent = 0;
    const char *p = rounded;
    for (; *p && *p != 'e'; p++)
        if (*p != '.')
            digits[count++] = *p;
    sscanf(p, "e%d", &exponent);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (signbit(value))
        *to++ = '-';
    return (size_t)(to - text) + lay_out(digits, count, exponent, to);
}

/* The digits of `value`, the last before `end`; returns how many. */
static size_t digits_before(uint64_t value, char *end)
{
    char *at = end;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    return (size_t)(end - at);
}

static size_t print_integer(int64_t value, char *text)
{
    char digits[20], *to = text;
    const size_t count =
        digits_before(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, digits + sizeof digits);
    if (value < 0)
        *to++ = '-';
    memcpy(to, digits + sizeof digits - count, count);
    to[count] = '\0';
    return (size_t)(to - text) + count;
}

size_t ty_print_shortest(double value, char text[TY_NUMBER_SIZE])
{
    if (!isfinite(value))
        return print_special(value, text);
    if (value == 0) {
        strcpy(text, signbit(value) ? "-0" : "0");
        return strlen(text);
    }
    if (fabs(value) < 0x1p53 && value == (double)(int64_t)value)
        return print_integer((int64_t)value, text);
    /* Every decimal of up to 15 digits survives float64, so shorter ones show as zeros at the end
     * of 15; not so below the normal range, where float64 has fewer digits. */
    int precision = fabs(value) < 0x1p-1022 ? 1 : 15;
    for (;; precision++) {
        size_t length = print_digits(value, precision, text);
        double back;
        if (precision == 17 || (ty_number_parse(text, text + length, &back) && back == value))
            return length;
    }
}

size_t ty_print_grouped(uint64_t value, char text[TY_NUMBER_SIZE])
{
    char plain[24], *to = text;
    int count = snprintf(plain, sizeof plain, "%" PRIu64, value);
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
    return (size_t)(to - text);
}

void ty_out_begin(ty_out *out, tally_sink sink, void *user)
{
    out->sink = sink;
    out->user = user;
    out->failed = 0;
    out->used = 0;
}

static void flush(ty_out *out)
{
    if (out->used && !out->failed)
        out->failed = out->sink(out->user, out->bytes, out->used);
    out->used = 0;
}

void ty_put_more(ty_out *out, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size && !out->failed) {
        size_t part = sizeof out->bytes - out->used;
        part = part < size ? part : size;
        memcpy(out->bytes + out->used, from, part);
        out->used += part;
        from += part;
        size -= part;
        if (out->used == sizeof out->bytes)
            flush(out);
    }
}

void ty_put_u64(ty_out *out, uint64_t value)
{
    char text[20];
    const size_t count = digits_before(value, text + sizeof text);
    ty_put_bytes(out, text + sizeof text - count, count);
}

void ty_put_i64(ty_out *out, int64_t value)
{
    if (value < 0)
        ty_put_bytes(out, "-", 1);
    ty_put_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ty_put_double(ty_out *out, double value)
{
    char text[TY_NUMBER_SIZE];
    ty_put_bytes(out, text, ty_print_shortest(value, text));
}

void ty_put_repeat(ty_out *out, const char *text, uint64_t times)
{
    for (uint64_t i = 0; i < times && !out->failed; i++)
        ty_put(out, text);
}

size_t ty_text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

void ty_put_right(ty_out *out, const char *text, size_t columns)
{
    size_t width = ty_text_columns(text);
    ty_put_repeat(out, " ", width < columns ? columns - width : 0);
    ty_put(out, text);
}

void ty_put_left(ty_out *out, const char *text, size_t columns)
{
    size_t width = ty_text_columns(text);
    ty_put(out, text);
    ty_put_repeat(out, " ", width < columns ? columns - width : 0);
}

void ty_put_printable(ty_out *out, const char *text)
{
    char one[PRINTABLE_MOST];
    for (size_t left = strlen(text), took; left; left -= took, text += took) {
        took = printable_one(text, left, one);
        ty_put(out, one);
    }
}

tally_status ty_out_end(ty_out *out, tally_error *error)
{
    char text[128];
    flush(out);
    if (out->failed)
        return ty_error(error, TALLY_ERROR_IO, "cannot write: %s",
                        ty_errno_text(out->failed, text));
    return TALLY_OK;
}
