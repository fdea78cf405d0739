/* SPDX-License-Identifier: Apache-2.0 */
#include "../common/calendar.h"
#include "../common/printable.h"
#include "io/text_fields.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "io/number.h"

static const char *scan_quoted(const char *p, const char *end, ty_field *field)
{
    field->begin = ++p;
    field->quoted = 1;
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        if (!quote) {
            field->open = 1;
            field->size = (size_t)(end - field->begin);
            return end;
        }
        if (quote + 1 == end || quote[1] != '"') {
            field->size = (size_t)(quote - field->begin);
            return quote + 1;
        }
        p = quote + 2;
    }
}

static int is_stop(ty_delimiter delimiter, char c)
{
    return c == delimiter || ty_is_line_end(c) || (delimiter == ' ' && c == '\t');
}

const char *ty_field_scan(ty_delimiter delimiter, const char *p, const char *end, ty_field *field)
{
    p = ty_skip_blanks(delimiter, p, end);
    field->at = field->begin = p;
    field->quoted = field->open = 0;
    if (p < end && *p == '"') {
        const char *closed = scan_quoted(p, end, field);
        p = ty_skip_blanks(delimiter, closed, end);
        if (p == end || is_stop(delimiter, *p) || (delimiter == ' ' && p > closed))
            return p;
        field->begin = field->at; /* more behind the closing quote: it was none */
        field->quoted = 0;
    }
    while (p < end && !is_stop(delimiter, *p))
        p++;
    const char *last = p;
    while (last > field->begin && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    field->size = (size_t)(last - field->begin);
    return delimiter == ' ' ? ty_skip_blanks(delimiter, p, end) : p;
}

/* Whether the first field is what spreadsheets write where a formula has no value. */
static int is_spreadsheet_error(ty_delimiter delimiter, const char *p, const char *end)
{
    static const char *const words[] = {"#N/A",  "#DIV/0!", "#NAME?", "#NULL!",
                                        "#NUM!", "#REF!",   "#VALUE!"};
    int found = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i]);
        if ((size_t)(end - p) < size || memcmp(p, words[i], size) != 0)
            continue;
        const char *behind = ty_skip_blanks(delimiter, p + size, end);
        found |= behind == end || is_stop(delimiter, *behind);
    }
    return found;
}

int ty_line_is_skipped(ty_delimiter delimiter, const char *p, const char *end)
{
    p = ty_skip_blanks(delimiter, p, end);
    return p == end || ty_is_line_end(*p) ||
           (*p == '#' && !is_spreadsheet_error(delimiter, p, end));
}

const char *ty_line_end(const char *p, const char *end)
{
    while (p < end && !ty_is_line_end(*p))
        p++;
    return p;
}

static int equals_word(const ty_field *field, const char *lower)
{
    size_t size = strlen(lower);
    if (field->size != size)
        return 0;
    for (size_t i = 0; i < size; i++) {
        char c = field->begin[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != lower[i])
            return 0;
    }
    return 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the field is one of the words in `list`, which have commas between. */
static int is_listed(const ty_field *field, const char *list)
{
    for (const char *p = list; list; p++) {
        const size_t size = strcspn(p, ",");
        if (size == field->size && memcmp(p, field->begin, size) == 0)
            return 1;
        p += size;
        if (!*p)
            return 0;
    }
    return 0;
}

static int is_missing(const ty_field *field)
{
    static const char words[][TY_MISSING_MOST + 1] = {"-",    "na",  "n/a",  "null",
                                                      "none", "nat", "#n/a", "<na>"};
    int found = field->size == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= equals_word(field, words[i]);
    return found;
}

/* Bytes of what is between thousands, at `p`; 0: it is not. A blank may be one that does not break
 * a line (U+00A0, U+202F), as spreadsheets write it. */
static size_t thousands_sign(char thousands, const char *p, const char *end)
{
    if (thousands && *p == thousands)
        return 1;
    if (thousands == ' ' && end - p > 2 && memcmp(p, "\xe2\x80\xaf", 3) == 0)
        return 3;
    return thousands == ' ' && end - p > 1 && memcmp(p, "\xc2\xa0", 2) == 0 ? 2 : 0;
}

/* Of "1.234,5" with a decimal comma and points between thousands the number. What is written in
 * another way is none. */
static int read_spelled(const ty_field *field, const ty_spelling *spelling, double *value)
{
    enum { MOST = 128 };
    char text[MOST];
    const char *p = field->begin, *end = p + field->size;
    size_t size = 0, digits = 0, groups = 0;
    int whole = 1; /* before the decimal sign */
    if (field->size >= MOST)
        return 0;
    for (; p < end; p++) {
        const size_t sign = whole ? thousands_sign(spelling->thousands, p, end) : 0;
        if (sign) {
            if (groups ? digits != 3 : digits < 1 || digits > 3)
                return 0;
            groups++;
            digits = 0;
            p += sign - 1;
            continue;
        }
        if (whole && !is_digit(*p) && !(size == 0 && (*p == '-' || *p == '+'))) {
            if (groups && digits != 3)
                return 0;
            whole = 0;
        }
        if (*p == '.' && spelling->decimal != '.')
            return 0;
        digits += whole && is_digit(*p);
        text[size++] = *p == spelling->decimal ? '.' : *p;
    }
    if (whole && groups && digits != 3)
        return 0;
    return size && ty_number_parse(text, text + size, value) == text + size;
}

static int read_number(const ty_field *field, const ty_spelling *spelling, double *value)
{
    const char *end = field->begin + field->size;
    if (spelling && (spelling->decimal != '.' || spelling->thousands))
        return read_spelled(field, spelling, value);
    return field->size && ty_number_parse(field->begin, end, value) == end;
}

const char *ty_field_advice(const ty_field *from, int *has_commas)
{
    static const struct {
        ty_spelling spelling;
        const char *advice;
    } ways[] = {
        {{NULL, '.', ','},
         ": a comma between thousands; numbers are written without, as 1234 (and with a decimal "
         "point), or --thousands , or --decimal , says how"},
        {{NULL, ',', 0}, ": a decimal comma; write a decimal point, or give --decimal ,"},
        {{NULL, ',', '.'}, ": a decimal comma behind points; --decimal , --thousands . reads it"},
        {{NULL, '.', ' '}, ": blanks between thousands; --thousands space reads them"},
        {{NULL, ',', ' '}, ": blanks and a decimal comma; --decimal , --thousands space reads it"},
        {{NULL, '.', '\''}, ": signs between thousands; --thousands \"'\" reads them"},
    };
    const ty_field field = ty_field_trim(from);
    double value;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        *has_commas = i < 3;
        if (read_spelled(&field, &ways[i].spelling, &value))
            return ways[i].advice;
    }
    *has_commas = 0;
    return field.size > 3 && memcmp(field.begin, "\xe2\x88\x92", 3) == 0
               ? ": its sign is U+2212, which is no - as numbers begin with"
               : NULL;
}

ty_field ty_field_trim(const ty_field *from)
{
    ty_field field = *from;
    while (field.quoted && field.size && (*field.begin == ' ' || *field.begin == '\t')) {
        field.begin++;
        field.size--;
    }
    while (field.quoted && field.size &&
           (field.begin[field.size - 1] == ' ' || field.begin[field.size - 1] == '\t'))
        field.size--;
    return field;
}

int ty_field_is_missing(const ty_field *trimmed, const ty_spelling *spelling)
{
    return (spelling && is_listed(trimmed, spelling->missing)) || is_missing(trimmed);
}

int ty_field_is_boolean(const ty_field *trimmed, double *value)
{
    *value = equals_word(trimmed, "true");
    return *value == 1 || equals_word(trimmed, "false");
}

ty_field_kind ty_field_read(const ty_field *from, const ty_spelling *spelling, double *value)
{
    const ty_field field = ty_field_trim(from);
    calendar_time time;
    if (spelling && is_listed(&field, spelling->missing)) {
        *value = NAN;
        return TY_FIELD_MISSING;
    }
    if (read_number(&field, spelling, value))
        return TY_FIELD_NUMBER;
    if (is_missing(&field)) {
        *value = NAN;
        return TY_FIELD_MISSING;
    }
    if (calendar_parse(field.begin, field.begin + field.size, &time))
        return TY_FIELD_TIME;
    int has_commas;
    return ty_field_advice(&field, &has_commas) && has_commas ? TY_FIELD_COMMA : TY_FIELD_TEXT;
}

int ty_field_is_nan(const ty_field *field, const ty_spelling *spelling)
{
    double value;
    return ty_field_read(field, spelling, &value) <= TY_FIELD_MISSING && isnan(value);
}

int ty_text_probe(const unsigned char *head, size_t size)
{
    size_t foreign = 0;
    for (size_t i = 0; i < size;) {
        if ((head[i] < 0x20 && head[i] != '\t' && head[i] != '\n' && head[i] != '\r') ||
            head[i] == 0x7f)
            return 0;
        size_t length = utf8_length((const char *)head + i, size - i);
        foreign += length == 0;
        i += length ? length : 1;
    }
    return foreign <= size / 4;
}
