/* SPDX-License-Identifier: Apache-2.0 */
#include "../common/printable.h"
#include "io/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/number.h"

tally_status ty_json_error(const ty_json *json, size_t at, const char *format, ...)
{
    if (!json->error)
        return TALLY_ERROR_FORMAT;
    char message[800];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < json->size; i++) {
        if (json->text[i] == '\n') {
            line++;
            column = 1;
        } else {
            column += ((unsigned char)json->text[i] & 0xc0) != 0x80;
        }
    }
    return ty_error(json->error, TALLY_ERROR_FORMAT, "%.200s:%zu:%zu: %s", json->name, line, column,
                    message);
}

/* ---- Checking ---- */

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_space(const ty_json *json, size_t at)
{
    while (at < json->size && is_space(json->text[at]))
        at++;
    return at;
}

static char peek(const ty_json *json, size_t at)
{
    return at < json->size ? json->text[at] : '\0';
}

static int hex4(const ty_json *json, size_t at, unsigned *value)
{
    *value = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = peek(json, i);
        unsigned digit = is_digit(c)            ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return 0;
        *value = *value * 16 + digit;
    }
    return 1;
}

/* The escape at `at` (the backslash): its length and code point; length 0 if it is none. */
static size_t read_escape(const ty_json *json, size_t at, unsigned *code)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char c = peek(json, at + 1);
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        *code = (unsigned char)means[letter - letters];
        return 2;
    }
    unsigned low;
    if (c != 'u' || !hex4(json, at + 2, code) || (*code >= 0xdc00 && *code < 0xe000))
        return 0;
    if (*code < 0xd800 || *code >= 0xe000)
        return 6;
    if (peek(json, at + 6) != '\\' || peek(json, at + 7) != 'u' || !hex4(json, at + 8, &low) ||
        low < 0xdc00 || low >= 0xe000)
        return 0;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static tally_status check_string(const ty_json *json, size_t *at)
{
    size_t start = *at, i = start + 1;
    while (i < json->size && json->text[i] != '"') {
        unsigned code;
        size_t length;
        if ((unsigned char)json->text[i] < 0x20)
            return ty_json_error(json, i, "control character in a string; write it as \\u%04x",
                                 (unsigned)(unsigned char)json->text[i]);
        if (json->text[i] == '\\')
            length = read_escape(json, i, &code);
        else
            length = utf8_length(json->text + i, json->size - i);
        if (!length)
            return ty_json_error(
                json, i, "%s",
                json->text[i] == '\\'
                    ? "not an escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and "
                      "\\u with four hexadecimal digits, surrogates in pairs"
                    : "not valid UTF-8");
        i += length;
    }
    if (i >= json->size)
        return ty_json_error(json, start, "this string does not end; the text is cut off");
    *at = i + 1;
    return TALLY_OK;
}

static tally_status check_number(const ty_json *json, size_t *at)
{
    size_t i = *at, digits;
    i += peek(json, i) == '-';
    digits = i;
    while (is_digit(peek(json, i)))
        i++;
    int ok = i > digits && (json->text[digits] != '0' || i == digits + 1);
    if (ok && peek(json, i) == '.') {
        digits = ++i;
        while (is_digit(peek(json, i)))
            i++;
        ok = i > digits;
    }
    if (ok && (peek(json, i) == 'e' || peek(json, i) == 'E')) {
        i++;
        i += peek(json, i) == '+' || peek(json, i) == '-';
        digits = i;
        while (is_digit(peek(json, i)))
            i++;
        ok = i > digits;
    }
    if (!ok)
        return ty_json_error(json, *at, "not a JSON number");
    *at = i;
    return TALLY_OK;
}

static tally_status check_scalar(const ty_json *json, size_t *at)
{
    static const char *const words[] = {"true", "false", "null"};
    char c = peek(json, *at);
    if (c == '"')
        return check_string(json, at);
    if (c == '-' || is_digit(c))
        return check_number(json, at);
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (json->size - *at >= length && memcmp(json->text + *at, words[i], length) == 0) {
            *at += length;
            return TALLY_OK;
        }
    }
    if (*at >= json->size)
        return ty_json_error(json, *at, "a value is missing; the text is empty or cut off");
    return ty_json_error(json, *at, "not a JSON value");
}

/* A key and its colon; *at is then before the value. */
static tally_status check_key(const ty_json *json, size_t *at)
{
    *at = skip_space(json, *at);
    if (peek(json, *at) != '"')
        return ty_json_error(json, *at, "expected a key in double quotes");
    tally_status status = check_string(json, at);
    if (status)
        return status;
    *at = skip_space(json, *at);
    if (peek(json, *at) != ':')
        return ty_json_error(json, *at, "expected ':' after the key");
    ++*at;
    return TALLY_OK;
}

/* After a value: closes what ends here and stops before the next value, or at depth 0. */
static tally_status check_after(const ty_json *json, size_t *at, const char *open, int *depth)
{
    while (*depth) {
        *at = skip_space(json, *at);
        char c = peek(json, *at), end = open[*depth - 1] == '[' ? ']' : '}';
        if (c == ',') {
            ++*at;
            return end == '}' ? check_key(json, at) : TALLY_OK;
        }
        if (c != end)
            return ty_json_error(
                json, *at,
                *at < json->size ? "expected ',' or '%c'" : "the text is cut off before '%c'", end);
        ++*at;
        --*depth;
    }
    return TALLY_OK;
}

static tally_status check_value(const ty_json *json, size_t *at)
{
    char open[TY_JSON_DEPTH];
    int depth = 0;
    tally_status status;
    do {
        *at = skip_space(json, *at);
        char c = peek(json, *at);
        if (c == '[' || c == '{') {
            if (depth == TY_JSON_DEPTH)
                return ty_json_error(json, *at, "more than %d arrays and objects inside each other",
                                     TY_JSON_DEPTH);
            open[depth++] = c;
            *at = skip_space(json, *at + 1);
            if (peek(json, *at) == (c == '[' ? ']' : '}')) {
                ++*at;
                depth--;
                status = check_after(json, at, open, &depth);
            } else {
                status = c == '{' ? check_key(json, at) : TALLY_OK;
            }
        } else {
            status = check_scalar(json, at);
            if (!status)
                status = check_after(json, at, open, &depth);
        }
    } while (!status && depth);
    return status;
}

tally_status ty_json_open(ty_json *json, const char *text, size_t size, const char *name,
                          tally_error *error)
{
    *json = (ty_json){text, size, 0, name, error};
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    json->root = at = skip_space(json, at);
    tally_status status = check_value(json, &at);
    if (status)
        return status;
    at = skip_space(json, at);
    if (at < size)
        return ty_json_error(json, at, "more text after the end of the JSON value");
    return TALLY_OK;
}

/* ---- Walking what was checked ---- */

ty_json_kind ty_json_kind_at(const ty_json *json, size_t at)
{
    switch (json->text[at]) {
    case '{':
        return TY_JSON_OBJECT;
    case '[':
        return TY_JSON_ARRAY;
    case '"':
        return TY_JSON_STRING;
    case 'n':
        return TY_JSON_NULL;
    case 't':
    case 'f':
        return TY_JSON_BOOL;
    default:
        return TY_JSON_NUMBER;
    }
}

const char *ty_json_kind_name(ty_json_kind kind)
{
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return names[kind];
}

static size_t skip_string(const ty_json *json, size_t at)
{
    for (at++; json->text[at] != '"'; at++)
        at += json->text[at] == '\\';
    return at + 1;
}

/* What ends a number or word; what opens and closes; a quote: of all characters the class. */
enum { PLAIN, SPACE, COMMA, OPEN, CLOSE, QUOTE };
static const unsigned char classes[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, [','] = COMMA,
    ['['] = OPEN,  ['{'] = OPEN,   [']'] = CLOSE,  ['}'] = CLOSE,  ['"'] = QUOTE};

static int class_at(const ty_json *json, size_t at)
{
    return classes[(unsigned char)json->text[at]];
}

/* The position after the value at `at`. */
static size_t skip_value(const ty_json *json, size_t at)
{
    size_t depth = 0;
    if (class_at(json, at) == PLAIN) {
        while (at < json->size && class_at(json, at) == PLAIN)
            at++;
        return at;
    }
    do {
        while (class_at(json, at) <= COMMA)
            at++;
        const int c = class_at(json, at);
        if (c == QUOTE) {
            at = skip_string(json, at);
            continue;
        }
        depth += c == OPEN;
        depth -= c == CLOSE;
        at++;
    } while (depth);
    return at;
}

size_t ty_json_first(const ty_json *json, size_t at)
{
    at = skip_space(json, at + 1);
    return json->text[at] == ']' ? TY_JSON_NONE : at;
}

size_t ty_json_next(const ty_json *json, size_t at)
{
    at = skip_space(json, skip_value(json, at));
    return json->text[at] == ']' ? TY_JSON_NONE : skip_space(json, at + 1);
}

uint64_t ty_json_count(const ty_json *json, size_t at)
{
    uint64_t count = 0;
    for (at = ty_json_first(json, at); at != TY_JSON_NONE; at = ty_json_next(json, at))
        count++;
    return count;
}

tally_status ty_json_members(const ty_json *json, size_t at, const char *const *keys, size_t count,
                             size_t *found)
{
    for (size_t i = 0; i < count; i++)
        found[i] = TY_JSON_NONE;
    at = skip_space(json, at + 1);
    while (json->text[at] != '}') {
        size_t key = at;
        at = skip_space(json, skip_string(json, at)); /* the colon */
        at = skip_space(json, at + 1);
        for (size_t i = 0; i < count; i++) {
            if (!ty_json_is(json, key, keys[i]))
                continue;
            if (found[i] != TY_JSON_NONE)
                return ty_json_error(json, key, "\"%s\" is here a second time", keys[i]);
            found[i] = at;
        }
        at = skip_space(json, skip_value(json, at));
        if (json->text[at] == ',')
            at = skip_space(json, at + 1);
    }
    return TALLY_OK;
}

/* Digits without point or exponent: the magnitude. */
static int read_integer(const ty_json *json, size_t at, uint64_t *value)
{
    uint64_t sum = 0;
    size_t start = at;
    for (; is_digit(peek(json, at)); at++) {
        unsigned digit = (unsigned)(json->text[at] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    char c = peek(json, at);
    *value = sum;
    return at > start && c != '.' && c != 'e' && c != 'E';
}

int ty_json_u64(const ty_json *json, size_t at, uint64_t *value)
{
    return read_integer(json, at, value);
}

int ty_json_i64(const ty_json *json, size_t at, int64_t *value)
{
    int negative = json->text[at] == '-';
    uint64_t size;
    if (!read_integer(json, at + (size_t)negative, &size) ||
        size > (uint64_t)INT64_MAX + (uint64_t)negative)
        return 0;
    *value = !negative ? (int64_t)size : size > INT64_MAX ? INT64_MIN : -(int64_t)size;
    return 1;
}

int ty_json_double(const ty_json *json, size_t at, double *value)
{
    if (ty_json_kind_at(json, at) != TY_JSON_NUMBER)
        return 0;
    return ty_number_parse(json->text + at, json->text + json->size, value) && isfinite(*value);
}

/* The next character of the string at *at as UTF-8 in `bytes`; its length, 0 at the closing quote.
 */
static size_t next_character(const ty_json *json, size_t *at, char bytes[4])
{
    const char *p = json->text + *at;
    unsigned code;
    if (*p == '"')
        return 0;
    if (*p != '\\') {
        size_t length = utf8_length(p, json->size - *at);
        memcpy(bytes, p, length);
        *at += length;
        return length;
    }
    *at += read_escape(json, *at, &code);
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(heads[length] | code);
    return length;
}

int ty_json_is(const ty_json *json, size_t at, const char *text)
{
    char bytes[4];
    size_t length;
    if (json->text[at++] != '"')
        return 0;
    while ((length = next_character(json, &at, bytes)) != 0) {
        if (bytes[0] == '\0' || strncmp(text, bytes, length) != 0)
            return 0;
        text += length;
    }
    return *text == '\0';
}

tally_status ty_json_string(const ty_json *json, size_t at, const char *what, char **copy)
{
    if (ty_json_kind_at(json, at) != TY_JSON_STRING)
        return ty_json_error(json, at, "%s is %s; it must be a string", what,
                             ty_json_kind_name(ty_json_kind_at(json, at)));
    /* An escape is never shorter than what it stands for. */
    size_t need = skip_string(json, at) - at, start = at++, used = 0, length;
    char *text = ty_malloc(need);
    if (!text)
        return ty_error_memory(json->error, what, need);
    while ((length = next_character(json, &at, text + used)) != 0) {
        if (text[used] == '\0') {
            ty_free(text);
            return ty_json_error(json, start, "%s holds the character U+0000", what);
        }
        used += length;
    }
    text[used] = '\0';
    *copy = text;
    return TALLY_OK;
}

tally_status ty_json_need_members(const ty_json *json, size_t at, const char *what,
                                  const char *const *keys, size_t count, size_t required,
                                  size_t *found)
{
    if (ty_json_kind_at(json, at) != TY_JSON_OBJECT)
        return ty_json_error(json, at, "%s is %s; it must be an object", what,
                             ty_json_kind_name(ty_json_kind_at(json, at)));
    tally_status status = ty_json_members(json, at, keys, count, found);
    for (size_t i = 0; !status && i < required; i++)
        if (found[i] == TY_JSON_NONE)
            status = ty_json_error(json, at, "%s has no \"%s\"", what, keys[i]);
    return status;
}

tally_status ty_json_need_array(const ty_json *json, size_t at, const char *what)
{
    if (ty_json_kind_at(json, at) == TY_JSON_ARRAY)
        return TALLY_OK;
    return ty_json_error(json, at, "%s is %s; it must be an array", what,
                         ty_json_kind_name(ty_json_kind_at(json, at)));
}

tally_status ty_json_need_u64(const ty_json *json, size_t at, const char *what, uint64_t *value)
{
    if (ty_json_u64(json, at, value))
        return TALLY_OK;
    return ty_json_error(json, at, "%s must be an integer from 0 to 18446744073709551615", what);
}

tally_status ty_json_need_double(const ty_json *json, size_t at, const char *what, double *value)
{
    if (ty_json_double(json, at, value))
        return TALLY_OK;
    return ty_json_error(json, at, "%s must be a number that float64 holds", what);
}

tally_status ty_json_need_choice(const ty_json *json, size_t at, const char *what,
                                 const char *const *choices, unsigned count, unsigned *chosen)
{
    for (unsigned i = 0; i < count; i++) {
        if (ty_json_is(json, at, choices[i])) {
            *chosen = i;
            return TALLY_OK;
        }
    }
    char list[120] = "";
    for (unsigned i = 0; i < count; i++) {
        strcat(list, i ? ", \"" : "\"");
        strcat(list, choices[i]);
        strcat(list, "\"");
    }
    return ty_json_error(json, at, "%s must be one of %s", what, list);
}
