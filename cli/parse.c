/* SPDX-License-Identifier: Apache-2.0 */
/* Small parsers of option values. */
#include <errno.h>
#include <math.h>

#include "cli.h"

/* The process never sets a locale, so the decimal point is a point. */
int cli_parse_real(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || *text == ' ' || *text == '\t')
        return 0;
    double v = strtod(text, &end);
    if (*end != '\0' || !isfinite(v))
        return 0;
    *value = v;
    return 1;
}

void cli_split_free(char **pieces, size_t count)
{
    for (size_t i = 0; pieces && i < count; i++)
        free(pieces[i]);
    free(pieces);
}

/* The length of the piece at `text` and, with `to`, its characters without the backslashes. */
static size_t piece(const char *text, char *to)
{
    size_t i = 0, n = 0;
    for (; text[i] && text[i] != ','; i++) {
        if (text[i] == '\\' && (text[i + 1] == ',' || text[i + 1] == '\\'))
            i++;
        if (to)
            to[n] = text[i];
        n++;
    }
    if (to)
        to[n] = '\0';
    return i;
}

char **cli_split(const char *text, size_t *count)
{
    size_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ',';
    char **pieces = calloc(most, sizeof *pieces);
    *count = 0;
    if (!pieces)
        return NULL;
    for (;;) {
        size_t length = piece(text, NULL);
        char *copy = malloc(length + 1);
        if (!copy) {
            cli_split_free(pieces, *count);
            return NULL;
        }
        piece(text, copy);
        pieces[(*count)++] = copy;
        if (text[length] == '\0')
            return pieces;
        text += length + 1;
    }
}

static int bounded(const char *from, size_t length, uint64_t *value)
{
    char text[32];
    if (length == 0 || length >= sizeof text)
        return 0;
    memcpy(text, from, length);
    text[length] = '\0';
    return parse_u64(text, value);
}

int cli_parse_slice(const char *text, uint64_t *begin, uint64_t *end)
{
    const char *colon = strchr(text, ':');
    *begin = *end = 0;
    if (!colon)
        return 0;
    if (colon > text && !bounded(text, (size_t)(colon - text), begin))
        return 0;
    if (colon[1] == '\0')
        return 1;
    return parse_u64(colon + 1, end) && *begin < *end;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* One letter at *at, escapes undone; -1 when it is wrong. */
static int letter(const char **at, const char **why)
{
    unsigned char c = (unsigned char)*(*at)++;
    if (c >= 0x80) {
        *why = "a letter outside ASCII is several bytes; give bytes as \\xHH";
        return -1;
    }
    if (c != '\\')
        return c;
    c = (unsigned char)*(*at)++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '-':
    case '\\':
        return c;
    case 'x':
        if (hex((*at)[0]) >= 0 && hex((*at)[1]) >= 0) {
            int value = hex((*at)[0]) * 16 + hex((*at)[1]);
            *at += 2;
            return value;
        }
        break;
    default:
        break;
    }
    *why = "after a backslash comes n, t, r, xHH, - or another backslash";
    return -1;
}

int cli_parse_alphabet(const char *text, char letters[256], size_t *count, const char **why)
{
    unsigned char seen[256] = {0};
    *count = 0;
    *why = "no letters";
    while (*text) {
        int first = letter(&text, why);
        int last = first;
        if (first < 0)
            return 0;
        if (text[0] == '-' && text[1]) {
            text++;
            last = letter(&text, why);
            if (last < 0)
                return 0;
        }
        if (last < first) {
            *why = "a range runs backwards";
            return 0;
        }
        for (int c = first; c <= last; c++) {
            if (seen[c]++) {
                *why = "a letter is named twice";
                return 0;
            }
            letters[(*count)++] = (char)c;
        }
    }
    return *count > 0;
}

size_t cli_distance(const char *a, const char *b, size_t limit)
{
    enum { LONGEST = 64 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return limit + 1;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m] < limit + 1 ? row[m] : limit + 1;
}
