/* SPDX-License-Identifier: Apache-2.0 */
/* One record of JSON lines: keys looked for, values read or passed over, in one walk. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "io/dates.h"
#include "io/json.h"
#include "io/json_lines.h"
#include "io/number.h"
#include "io/text_fields.h"
#include "io/text_scan.h"

enum { DEEPEST = 64, NAME_MOST = 1024 };

typedef struct ty_jsonl {
    const ty_jsonl_wish *wish;
    const char *end;
    double *values;
    unsigned char *seen;
    ty_jsonl_fault *fault;
    unsigned found; /* names that this record has */
} ty_jsonl;

static const char *fail(ty_jsonl *r, const char *at, const char *what)
{
    r->fault->at = at;
    r->fault->what = what;
    return NULL;
}

static const char *cut(ty_jsonl *r)
{
    return fail(r, r->end,
                "the line ends inside its object; JSON lines have an object a line "
                "(jq -c . makes them)");
}

const char *ty_jsonl_skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* ---- Passing over ---- */

/* The first quote or backslash at or behind p, eight bytes at a time, or `end`. */
static const char *find_quote(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        const uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
        if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & high)
            break;
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* From the quote at p to behind the one that closes it; *escaped: it has escapes. NULL: there is
 * none. */
static const char *skip_string(const char *p, const char *end, int *escaped)
{
    *escaped = 0;
    for (p = find_quote(p + 1, end); p < end && *p == '\\'; p = find_quote(p + 2, end)) {
        *escaped = 1;
        if (end - p < 2)
            return NULL;
    }
    return p < end ? p + 1 : NULL;
}

/* Over an object or an array, brackets counted. */
static const char *skip_nested(const char *p, const char *end)
{
    unsigned open = 0;
    int escaped;
    while (p && p < end) {
        const char c = *p;
        open += c == '{' || c == '[';
        if (c == '}' || c == ']') {
            if (--open == 0)
                return p + 1;
        }
        p = c == '"' ? skip_string(p, end, &escaped) : p + 1;
    }
    return NULL;
}

static const char *skip_scalar(const char *p, const char *end)
{
    while (p < end && *p != ',' && *p != '}' && *p != ']' && *p != ' ' && *p != '\t' && *p != '\r')
        p++;
    return p;
}

/* Over any value; NULL where it does not end. */
static const char *skip_value(const char *p, const char *end)
{
    int escaped;
    if (p == end)
        return NULL;
    if (*p == '"')
        return skip_string(p, end, &escaped);
    return *p == '{' || *p == '[' ? skip_nested(p, end) : skip_scalar(p, end);
}

/* ---- Values ---- */

static const char *not_a_number(ty_jsonl *r, const char *p, const char *end, uint32_t name)
{
    r->fault->at = p;
    r->fault->what = NULL;
    r->fault->name = name;
    r->fault->size = (size_t)(end - p);
    return NULL;
}

/* The bits of an integer. */
static const char *read_integer(ty_jsonl *r, const char *p, const char *end, uint32_t name,
                                double *value)
{
    const int quote = *p == '"';
    const ty_spelling spelling = {r->wish->missing, '.', 0};
    const ty_field field = {.begin = p + quote, .size = (size_t)(end - p) - 2 * (size_t)quote};
    return ty_integer_read(&field, &spelling, r->wish->integers[name], value)
               ? end
               : not_a_number(r, p, end, name);
}

/* Words are counted as they are written. */
static void note_rounded(const ty_jsonl *r, const char *p, const char *end, uint32_t name,
                         double value)
{
    if (fabs(value) >= 0x1p53 && r->wish->rounded && !r->wish->words[name])
        ty_integer_note_rounded(r->wish->rounded, p, end, value);
}

/* The number, or word for one, of [p, end) to *value; NULL: it is none. */
static const char *read_number(ty_jsonl *r, const char *p, const char *end, uint32_t name,
                               double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1}, {"false", 0}, {"null", NAN}};
    const ty_spelling spelling = {r->wish->missing, '.', 0};
    const size_t size = (size_t)(end - p);
    if (*p == '"' && r->wish->is_time[name]) {
        const ty_field field = {.begin = p + 1, .size = size - 2};
        return ty_time_read(&field, &spelling, value) ? end : not_a_number(r, p, end, name);
    }
    if (*p == '"') {
        const ty_field field = {.begin = p + 1, .size = size - 2};
        const ty_field_kind kind = ty_field_read(&field, &spelling, value);
        if (kind != TY_FIELD_NUMBER && kind != TY_FIELD_MISSING)
            return not_a_number(r, p, end, name);
        note_rounded(r, p + 1, end - 1, name, *value);
        return end;
    }
    for (size_t i = 0; *p >= 'f' && i < sizeof words / sizeof *words; i++)
        if (size == strlen(words[i].word) && !memcmp(p, words[i].word, size)) {
            *value = words[i].value;
            return end;
        }
    if (ty_number_parse(p, end, value) != end || r->wish->is_time[name])
        return not_a_number(r, p, end, name);
    note_rounded(r, p, end, name, *value);
    if (r->wish->missing) {
        const ty_field field = {.begin = p, .size = size};
        ty_field_read(&field, &spelling, value);
    }
    return end;
}

/* The string of `size` bytes at `quoted`, which may have escapes, without them; released by
 * ty_free. NULL: it is damaged, or memory is out. */
static char *unescape(const char *quoted, size_t size)
{
    ty_json json;
    tally_error error;
    char *copy = NULL;
    if (ty_json_open(&json, quoted, size, "", &error) ||
        ty_json_string(&json, json.root, "a string", &copy))
        return NULL;
    return copy;
}

/* The code of the string, or of what else is written in [p, end), to *value. */
static const char *read_word(ty_jsonl *r, const char *p, const char *end, uint32_t name,
                             double *value)
{
    tally_words *words = r->wish->words[name];
    const ty_spelling spelling = {r->wish->missing, '.', 0};
    const size_t quote = *p == '"', size = (size_t)(end - p) - 2 * quote;
    uint32_t code;
    if (quote && memchr(p, '\\', size + 1)) {
        char *text = unescape(p, size + 2);
        if (!text)
            return fail(r, p, "a word with an escape that JSON has not, or with U+0000");
        code = ty_words_code(words, text, strlen(text), &spelling);
        ty_free(text);
    } else {
        code = ty_words_code(words, p + quote, size, &spelling);
    }
    *value = code == TY_WORDS_MISSING ? NAN : code;
    return code == TY_WORDS_FAILED ? not_a_number(r, p, end, name) : end;
}

/* The value [p, end), for `name`. */
static const char *read_kind(ty_jsonl *r, const char *p, const char *end, uint32_t name,
                             double *value)
{
    if (r->wish->integers[name])
        return read_integer(r, p, end, name, value);
    if (!r->wish->words[name])
        return read_number(r, p, end, name, value);
    /* Without quotes it must be a number, true, false or null all the same. */
    if (*p != '"' && !read_number(r, p, end, name, value))
        return NULL;
    return read_word(r, p, end, name, value);
}

/* The value at p, for `name`; behind it. */
static const char *read_value(ty_jsonl *r, const char *p, uint32_t name, double *value)
{
    const char *end = p < r->end ? skip_value(p, r->end) : NULL;
    if (!end)
        return cut(r);
    const char *behind = read_kind(r, p, end, name, value);
    if (behind || !r->wish->is_whole)
        return behind;
    *value = ty_odd_value();
    return end;
}

/* ---- Keys ---- */

/* Which names the key completes (bits), and which go on in its value: behind `from` they begin with
 * the key and a dot, and next[i] is what follows; SIZE_MAX: none. */
static unsigned match(const ty_jsonl_wish *wish, const char *key, size_t size, const size_t *from,
                      size_t *next, int *deeper)
{
    unsigned found = 0;
    *deeper = 0;
    for (uint32_t i = 0; i < wish->count; i++) {
        next[i] = SIZE_MAX;
        if (from[i] == SIZE_MAX || wish->name_bytes[i] - from[i] < size)
            continue;
        const char *name = wish->names[i] + from[i];
        const int whole = wish->name_bytes[i] - from[i] == size;
        if ((!whole && name[size] != '.') || memcmp(name, key, size) != 0)
            continue;
        if (whole) {
            found |= 1u << i;
        } else {
            next[i] = from[i] + size + 1;
            *deeper = 1;
        }
    }
    return found;
}

static const char *read_object(ty_jsonl *r, const char *p, const size_t *from, int depth);

static unsigned char kind_seen(const char *p, const char *end)
{
    if (p == end)
        return 1;
    return *p == '"' ? TY_JSONL_STRING : *p == 't' || *p == 'f' ? TY_JSONL_BOOLEAN : 1;
}

/* The value of a key at p: read, walked into (or both: some lines have `a`, others `a.b`) or passed
 * over. */
static const char *read_member(ty_jsonl *r, const char *p, unsigned found, int deeper,
                               const size_t *next, int depth)
{
    deeper = deeper && p < r->end && *p == '{' && depth < DEEPEST;
    if (found) {
        const char *behind = p;
        for (uint32_t i = 0; behind && i < r->wish->count; i++)
            if (found >> i & 1) {
                behind = read_value(r, p, i, r->values + i);
                r->seen[i] = kind_seen(p, r->end);
                r->found |= 1u << i;
            }
        if (!behind || !deeper)
            return behind;
    }
    if (deeper)
        return read_object(r, p, next, depth + 1);
    const char *end = skip_value(p, r->end);
    return !end ? cut(r) : end == p ? fail(r, p, "expected a value") : end;
}

/* The key at p and its value. */
static const char *read_pair(ty_jsonl *r, const char *p, const size_t *from, int depth)
{
    size_t next[TALLY_MAX_DIMENSIONS];
    int escaped, deeper;
    unsigned found;
    if (p == r->end)
        return cut(r);
    if (*p != '"')
        return fail(r, p, "expected a key in quotes");
    const char *end = skip_string(p, r->end, &escaped);
    if (!end)
        return cut(r);
    if (escaped) {
        char *key = unescape(p, (size_t)(end - p));
        if (!key)
            return fail(r, p, "a key with an escape that JSON has not");
        found = match(r->wish, key, strlen(key), from, next, &deeper);
        ty_free(key);
    } else {
        found = match(r->wish, p + 1, (size_t)(end - p) - 2, from, next, &deeper);
    }
    p = ty_jsonl_skip_blanks(end, r->end);
    if (p == r->end)
        return cut(r);
    if (*p != ':')
        return fail(r, p, "expected ':' behind a key");
    return read_member(r, ty_jsonl_skip_blanks(p + 1, r->end), found, deeper, next, depth);
}

/* From the brace at p to behind the one that closes it. */
static const char *read_object(ty_jsonl *r, const char *p, const size_t *from, int depth)
{
    p = ty_jsonl_skip_blanks(p + 1, r->end);
    if (p < r->end && *p == '}')
        return p + 1;
    for (;;) {
        p = read_pair(r, p, from, depth);
        if (!p)
            return NULL;
        p = ty_jsonl_skip_blanks(p, r->end);
        if (p == r->end)
            return cut(r);
        if (*p == '}')
            return p + 1;
        if (*p != ',')
            return fail(r, p, "expected ',' or '}' behind a value");
        p = ty_jsonl_skip_blanks(p + 1, r->end);
    }
}

int ty_jsonl_read(const ty_jsonl_wish *wish, const char *p, const char *end, double *values,
                  unsigned char *seen, ty_jsonl_fault *fault)
{
    const size_t from[TALLY_MAX_DIMENSIONS] = {0};
    ty_jsonl r = {wish, end, values, seen, fault, 0};
    for (uint32_t i = 0; i < wish->count; i++)
        values[i] = NAN;
    if (*p != '{')
        return !fail(&r, p, "expected an object, from '{' to '}'");
    p = read_object(&r, p, from, 0);
    if (!p)
        return 1;
    for (uint32_t i = 0; i < wish->count; i++)
        if (wish->integers[i] && !(r.found >> i & 1))
            ty_integer_miss(wish->integers[i], values + i);
    p = ty_jsonl_skip_blanks(p, end);
    return p != end && !fail(&r, p, "more follows the object; JSON lines have one a line");
}

/* ---- Names ---- */

typedef struct ty_jsonl_walk {
    const char *end;
    int (*take)(void *user, const char *name);
    void *user;
    char name[NAME_MOST];
} ty_jsonl_walk;

static const char *name_object(ty_jsonl_walk *w, const char *p, size_t used, int depth)
{
    int escaped;
    p = ty_jsonl_skip_blanks(p + 1, w->end);
    while (p < w->end && *p == '"') {
        const char *key = p;
        p = skip_string(p, w->end, &escaped);
        char *plain = p ? unescape(key, (size_t)(p - key)) : NULL;
        const size_t size = plain ? strlen(plain) : NAME_MOST;
        if (used + size + 2 > NAME_MOST) {
            ty_free(plain);
            return NULL;
        }
        memcpy(w->name + used, plain, size + 1);
        ty_free(plain);
        p = ty_jsonl_skip_blanks(p, w->end);
        if (p == w->end || *p != ':')
            return NULL;
        p = ty_jsonl_skip_blanks(p + 1, w->end);
        if (p < w->end && *p == '{' && depth < DEEPEST) {
            w->name[used + size] = '.';
            p = name_object(w, p, used + size + 1, depth + 1);
        } else {
            p = skip_value(p, w->end);
            if (!p || w->take(w->user, w->name))
                return NULL;
        }
        p = p ? ty_jsonl_skip_blanks(p, w->end) : NULL;
        if (!p || p == w->end || *p != ',')
            break;
        p = ty_jsonl_skip_blanks(p + 1, w->end);
    }
    return p && p < w->end && *p == '}' ? p + 1 : NULL;
}

void ty_jsonl_names_of(const char *p, const char *end, int (*take)(void *user, const char *name),
                       void *user)
{
    ty_jsonl_walk walk;
    walk.end = end;
    walk.take = take;
    walk.user = user;
    name_object(&walk, p, 0, 0);
}
