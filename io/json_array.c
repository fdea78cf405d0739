/* SPDX-License-Identifier: Apache-2.0 */
/* Text that begins with a JSON array. It is refused: as a table it would be nonsense. */
#include <string.h>

#include "io/input.h"

typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

/* The next byte that is no blank; 0: none is left. */
static unsigned char next_of(cursor *c)
{
    while (c->at < c->end && *c->at && strchr(" \t\r\n", *c->at))
        c->at++;
    return c->at < c->end ? *c->at : 0;
}

static void skip_text(cursor *c)
{
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        c->at += *c->at == '\\' && c->at + 1 < c->end;
    c->at += c->at < c->end;
}

static void skip_any_of(cursor *c, const char *bytes)
{
    while (c->at < c->end && *c->at && strchr(bytes, *c->at))
        c->at++;
}

/* A number, or a word that JSON has, or Python writes; 0: neither. */
static int skip_plain(cursor *c)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity"};
    c->at += c->at < c->end && *c->at == '-';
    const unsigned char *from = c->at;
    skip_any_of(c, "+-.0123456789eE");
    if (c->at > from)
        return *from >= '0' && *from <= '9';
    skip_any_of(c, "INaefilnrstuy");
    const size_t size = (size_t)(c->at - from);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (size && size <= strlen(words[i]) && !memcmp(from, words[i], size))
            return size == strlen(words[i]) || c->at == c->end;
    return 0;
}

const char *ty_json_array_hint(const unsigned char *head, size_t size)
{
    const char *hint = "jq -r '.[]' FILE | tally - counts its values";
    cursor c = {head, head + size};
    unsigned depth = 0;
    if (next_of(&c) != '[')
        return NULL;
    for (unsigned char next; (next = next_of(&c));) {
        if (next == '[') {
            hint = depth++ ? "jq -r '.[] | @csv' FILE | tally - reads its rows as a table" : hint;
            c.at++;
            if (next_of(&c) != ']')
                continue;
        } else if (next == '{') {
            return ty_json_lines.probe(c.at, (size_t)(c.end - c.at))
                       ? "jq -c '.[]' FILE makes JSON lines"
                       : NULL;
        } else if (next == '"') {
            skip_text(&c);
        } else if (!skip_plain(&c)) {
            return NULL;
        }
        for (; (next = next_of(&c)) == ']' && depth; depth--)
            c.at++;
        if (!depth) /* other values may follow, but no text */
            return !next || next == '[' || next == '{' ? hint : NULL;
        if (next && next != ',')
            return NULL;
        c.at += next == ',';
    }
    return hint;
}
