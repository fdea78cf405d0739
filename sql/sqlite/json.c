/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON's numbers have a point, whatever the program's locale writes. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

static locale_t use_plain(void)
{
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

static const char *past_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static int read_numbers(const char *text, double **numbers, uint64_t *count)
{
    uint64_t capacity = 1;
    const char *at = past_blanks(text);
    for (const char *c = at; *c; c++)
        capacity += *c == ',';
    *count = 0;
    *numbers = malloc(capacity * sizeof **numbers);
    if (!*numbers || *at++ != '[')
        goto wrong;
    do {
        char *end;
        at = past_blanks(at);
        if (!strchr("-0123456789", *at) || !*at) /* no names of infinities */
            goto wrong;
        (*numbers)[(*count)++] = strtod(at, &end);
        if (end == at)
            goto wrong;
        at = past_blanks(end);
    } while (*at++ == ',');
    if (at[-1] == ']' && !*past_blanks(at))
        return 1;
wrong:
    free(*numbers);
    *numbers = NULL;
    return 0;
}

int json_numbers(const char *text, double **numbers, uint64_t *count)
{
    locale_t before = use_plain();
    int read = read_numbers(text, numbers, count);
    uselocale(before);
    return read;
}

void json_put(json_text *to, const char *words)
{
    uint64_t length = strlen(words);
    if (to->failed)
        return;
    if (to->length + length > to->capacity) {
        uint64_t capacity = 2 * to->capacity + length + 256;
        char *text = realloc(to->text, capacity);
        if (!text) {
            to->failed = 1;
            return;
        }
        to->text = text;
        to->capacity = capacity;
    }
    memcpy(to->text + to->length, words, length);
    to->length += length;
}

void json_put_count(json_text *to, uint64_t value)
{
    char words[24];
    snprintf(words, sizeof words, "%" PRIu64, value);
    json_put(to, words);
}

void json_put_double(json_text *to, double value)
{
    char words[32];
    if (!isfinite(value)) {
        json_put(to, "null");
        return;
    }
    locale_t before = use_plain();
    snprintf(words, sizeof words, "%.15g", value);
    if (strtod(words, NULL) != value)
        snprintf(words, sizeof words, "%.17g", value);
    uselocale(before);
    json_put(to, words);
}
