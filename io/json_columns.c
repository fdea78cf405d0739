/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines: which columns are read, and what they are of, by the first records. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/columns.h"
#include "io/dates.h"
#include "io/json_state.h"
#include "io/summary.h"

enum { NAMES_MOST = TY_SUMMARY_COLUMNS };
enum { HEAD_BYTES = 1 << 16, HEAD_LINES = 100 }; /* that are looked at before all is read */

/* ---- Names ---- */

typedef struct ty_jsonl_names {
    char *names[NAMES_MOST];
    uint32_t count;
} ty_jsonl_names;

static int take_name(void *user, const char *name)
{
    ty_jsonl_names *all = user;
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return 0;
    if (all->count < NAMES_MOST && (all->names[all->count] = ty_text_copy(name, strlen(name))))
        all->count++;
    return all->count == NAMES_MOST;
}

/* A first line that is no object is refused before anything else is said of it. */
static tally_status check_first(ty_jsonl_state *s, const char *p, const char *end,
                                tally_error *error)
{
    const ty_jsonl_wish none = {.count = 0};
    ty_jsonl_part part = {.line = p};
    return ty_jsonl_read(&none, p, end, NULL, NULL, &part.fault) ? ty_jsonl_say(s, &part, 1, error)
                                                                 : TALLY_OK;
}

/* Those of the first records, as far as they can be looked at. */
static tally_status find_names(ty_jsonl_state *s, ty_jsonl_names *all, tally_error *error)
{
    const unsigned char *head;
    size_t size;
    tally_status status = ty_stream_peek(s->stream, &head, HEAD_BYTES, &size, error);
    if (status)
        return status;
    const char *first = memchr(head, '{', size), *end = (const char *)head + size;
    const char *p = first;
    for (unsigned lines = 0; p && p < end && lines < HEAD_LINES; lines++) {
        const char *stop = ty_jsonl_line_end(p, end);
        p = ty_jsonl_skip_blanks(p, stop);
        if (p < stop && *p == '{')
            ty_jsonl_names_of(p, stop, take_name, all);
        p = stop + 1;
    }
    const char *stop = first ? ty_jsonl_line_end(first, end) : end;
    return stop < end ? check_first(s, first, stop, error) : TALLY_OK;
}

/* A name that the first records have not may be a column's number, or of a record to come. */
static tally_status resolve(const ty_columns *columns, const char *wanted, const char **name,
                            tally_error *error)
{
    uint32_t number;
    tally_error unsaid;
    const int is_number = *wanted && !wanted[strspn(wanted, "0123456789")];
    tally_status status = ty_columns_find(columns, wanted, &number, is_number ? error : &unsaid);
    *name = status ? wanted : columns->headings[number];
    return is_number ? status : TALLY_OK;
}

static tally_status add_name(ty_jsonl_state *s, uint32_t c, const char *name, tally_error *error)
{
    uint32_t number;
    ty_jsonl_wish *wish = ty_jsonl_wish_of(s, c, &number);
    s->names[c] = ty_text_copy(name, strlen(name));
    if (!s->names[c])
        return ty_error_memory(error, "the name of a column", strlen(name) + 1);
    wish->names = (const char *const *)s->names + (c - number);
    wish->name_bytes[number] = strlen(name);
    wish->count = number + 1;
    wish->is_whole = s->is_whole;
    wish->rounded = &s->rounded;
    return TALLY_OK;
}

static tally_status choose_names(ty_jsonl_state *s, const ty_jsonl_names *all,
                                 const tally_input_options *options, tally_error *error)
{
    const ty_columns columns = {s->name, (const char *const *)all->names, all->count};
    if (!options->columns_count && !all->count)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: its first line has no values with names",
                        s->name);
    if (!options->columns_count && all->count != 1 && !options->whole_table)
        return ty_columns_refuse_none(&columns, error);
    s->count = options->columns_count ? options->columns_count : all->count;
    s->is_whole = !options->columns_count && s->count > 1;
    s->groups = (s->count - 1) / TALLY_MAX_DIMENSIONS + 1;
    s->names = ty_calloc(s->count, sizeof *s->names);
    s->wishes = ty_calloc(s->groups, sizeof *s->wishes);
    if (!s->names || !s->wishes)
        return ty_error_memory(error, "a choice of columns", s->groups * sizeof *s->wishes);
    tally_status status = TALLY_OK;
    for (uint32_t c = 0; c < s->count && !status; c++) {
        const char *name = all->names[c];
        if (options->columns_count)
            status = resolve(&columns, options->columns[c], &name, error);
        if (!status)
            status = add_name(s, c, name, error);
    }
    return status;
}

/* ---- Kinds ---- */

/* A wish for one column alone. */
static ty_jsonl_wish just(const ty_jsonl_state *s, uint32_t c, ty_integers *integers)
{
    uint32_t number;
    const ty_jsonl_wish *wish = ty_jsonl_wish_of(s, c, &number);
    return (ty_jsonl_wish){.names = (const char *const *)s->names + c,
                           .name_bytes = {wish->name_bytes[number]},
                           .count = 1,
                           .missing = wish->missing,
                           .integers = {integers}};
}

/* What the first records have for a name: strings that are all times, strings of which one at least
 * is no number, nothing but true and false, or numbers. */
static ty_field_kind kind_of(const ty_jsonl_state *s, uint32_t name, const char *p, const char *end)
{
    const ty_jsonl_wish one = just(s, name, NULL);
    unsigned texts = 0, times = 0, numbers = 0, booleans = 0;
    for (unsigned lines = 0; p && p < end && lines < HEAD_LINES; lines++) {
        const char *stop = ty_jsonl_line_end(p, end);
        double value;
        unsigned char seen;
        ty_jsonl_fault fault;
        p = ty_jsonl_skip_blanks(p, stop);
        if (p < stop && ty_jsonl_read(&one, p, stop, &value, &seen, &fault)) {
            if (fault.what || *fault.at != '"')
                break;
            texts++;
            times +=
                fault.size > 2 && ty_time_parse(fault.at + 1, fault.at + fault.size - 1, &value);
        } else if (p < stop && value == value) {
            if (seen != TY_JSONL_STRING && seen != TY_JSONL_BOOLEAN)
                return TY_FIELD_NUMBER;
            numbers += seen == TY_JSONL_STRING;
            booleans += seen == TY_JSONL_BOOLEAN;
        }
        p = stop + 1;
    }
    if (!texts)
        return booleans && !numbers ? TY_FIELD_BOOLEAN : TY_FIELD_NUMBER;
    return times == texts && !numbers && !booleans ? TY_FIELD_TIME : TY_FIELD_TEXT;
}

/* Whether its first records have nothing but integers, some beyond 2^53, where it has a value. */
static int may_be_integers(const ty_jsonl_state *s, uint32_t c, const char *p, const char *end)
{
    ty_integers integers = {.may_miss = 1};
    const ty_jsonl_wish one = just(s, c, &integers);
    int wide = 0;
    for (unsigned lines = 0; p && p < end && lines < HEAD_LINES; lines++) {
        const char *stop = ty_jsonl_line_end(p, end);
        double value;
        int64_t bits;
        unsigned char seen;
        ty_jsonl_fault fault;
        p = ty_jsonl_skip_blanks(p, stop);
        if (p < stop && ty_jsonl_read(&one, p, stop, &value, &seen, &fault))
            return 0;
        memcpy(&bits, &value, sizeof bits);
        wide |= p < stop && bits != INT64_MIN &&
                (bits > INT64_C(1) << 53 || bits < -(INT64_C(1) << 53));
        p = stop + 1;
    }
    return wide && !(integers.flags & TY_INTEGER_BAD);
}

/* Column c is of words, times, integers or numbers. */
static tally_status choose_kind(ty_jsonl_state *s, uint32_t c, const tally_input_options *options,
                                const char *p, const char *end, tally_error *error)
{
    uint32_t number;
    ty_jsonl_wish *wish = ty_jsonl_wish_of(s, c, &number);
    const ty_field_kind kind = kind_of(s, c, p, end);
    const int is_text = kind == TY_FIELD_TEXT || kind == TY_FIELD_BOOLEAN;
    if (s->is_whole && is_text)
        return ty_words_create(TY_SUMMARY_WORDS, &wish->words[number], error);
    if (options->words && !s->is_whole && (options->all_words || is_text))
        wish->words[number] = options->words[c];
    wish->is_time[number] =
        !wish->words[number] && (kind == TY_FIELD_TIME || (c < 32 && options->times >> c & 1));
    if (wish->words[number] || wish->is_time[number] || options->integers == TALLY_INTEGERS_NONE ||
        (options->integers == TALLY_INTEGERS_LARGE && !may_be_integers(s, c, p, end)))
        return TALLY_OK;
    wish->integers[number] = ty_calloc(1, sizeof *wish->integers[number]);
    if (!wish->integers[number])
        return ty_error_memory(error, "a column of integers", sizeof *wish->integers[number]);
    wish->integers[number]->may_miss = options->masked && !s->is_whole;
    return TALLY_OK;
}

static tally_status choose_kinds(ty_jsonl_state *s, const tally_input_options *options,
                                 tally_error *error)
{
    const unsigned char *head;
    size_t size;
    tally_status status = ty_stream_peek(s->stream, &head, HEAD_BYTES, &size, error);
    if (status)
        return status;
    const char *first = memchr(head, '{', size), *end = (const char *)head + size;
    while (size == HEAD_BYTES && end > first && end[-1] != '\n')
        end--; /* whole lines */
    for (uint32_t c = 0; c < s->count && !status; c++)
        status = choose_kind(s, c, options, first, end, error);
    return status;
}

tally_status ty_jsonl_choose(ty_jsonl_state *s, const tally_input_options *options,
                             tally_error *error)
{
    ty_jsonl_names *all = ty_calloc(1, sizeof *all);
    if (!all)
        return ty_error_memory(error, "the names of columns", sizeof *all);
    s->words_hint = ty_words_hint(options);
    tally_status status = find_names(s, all, error);
    if (!status)
        status = choose_names(s, all, options, error);
    for (uint32_t i = 0; i < all->count; i++)
        ty_free(all->names[i]);
    ty_free(all);
    if (status)
        return status;
    if (options->missing &&
        !(s->missing = ty_text_copy(options->missing, strlen(options->missing))))
        return ty_error_memory(error, "words for missing values", strlen(options->missing) + 1);
    for (uint32_t g = 0; g < s->groups; g++)
        s->wishes[g].missing = s->missing;
    return choose_kinds(s, options, error);
}

static void forget_integers(ty_jsonl_state *s, uint32_t c)
{
    uint32_t number;
    ty_jsonl_wish *wish = ty_jsonl_wish_of(s, c, &number);
    ty_free(wish->integers[number]);
    wish->integers[number] = NULL;
}

void ty_jsonl_forget(ty_jsonl_state *s)
{
    for (uint32_t c = 0; s->wishes && c < s->count; c++) {
        uint32_t number;
        if (s->is_whole)
            tally_words_destroy(ty_jsonl_wish_of(s, c, &number)->words[number]);
        forget_integers(s, c);
    }
    for (uint32_t c = 0; s->names && c < s->count; c++)
        ty_free(s->names[c]);
    ty_free(s->names);
    ty_free(s->wishes);
    ty_free(s->missing);
}

/* ---- 64-bit integers ---- */

/* After all lines were read: those columns that are not become float64. Nonzero: none changed.
 * *missing: some values of them are. */
static int settle_columns(ty_jsonl_state *s, int *missing)
{
    int changed = 0, others = 0;
    unsigned kinds = 0;
    *missing = 0;
    for (uint32_t c = 0; c < s->count; c++) {
        uint32_t number;
        ty_integers *integers = ty_jsonl_wish_of(s, c, &number)->integers[number];
        const unsigned flags = integers ? integers->flags : TY_INTEGER_BAD;
        const int good = ty_integers_are_good(flags);
        kinds |= good ? 1u << (flags & TY_INTEGER_LARGE) : 0;
        *missing |= (flags & TY_INTEGER_MISSING) != 0;
        others |= !good;
        changed |= !good && integers;
        if (good)
            integers->is_settled = 1;
        else
            forget_integers(s, c);
    }
    /* Views are of one type, but for those of a whole table. */
    if (s->is_whole || (!others && !(kinds & (kinds - 1))))
        return !changed;
    for (uint32_t c = 0; c < s->count; c++)
        forget_integers(s, c);
    return 0;
}

static tally_status settle(ty_jsonl_state *s, tally_error *error)
{
    tally_status status = TALLY_OK;
    while (!status && !s->ended)
        status = ty_jsonl_next_block(s, error);
    if (status)
        return status;
    int missing;
    const int good = settle_columns(s, &missing);
    if (good && missing && !(s->mask = ty_malloc(s->chunk_rows)))
        return ty_error_memory(error, "which values are missing", s->chunk_rows);
    s->rounded = 0;
    if (s->keep && good) {
        ty_keep_rewind(s->keep);
        s->part = s->count_parts = 0;
        s->taken = 0;
        return TALLY_OK;
    }
    if (s->keep) { /* it has bits of integers */
        ty_keep_free(s->keep);
        s->keep = ty_keep_create(s->name);
        if (!s->keep)
            return ty_error_memory(error, "values of JSON lines", 0);
    }
    status = ty_stream_rewind(s->stream, error);
    return status ? status : ty_jsonl_start(s, error);
}

tally_status ty_jsonl_settle(ty_jsonl_state *s, const tally_input_options *options,
                             tally_error *error)
{
    uint32_t candidates = 0, number;
    for (uint32_t c = 0; c < s->count; c++)
        candidates += ty_jsonl_wish_of(s, c, &number)->integers[number] != NULL;
    const int again = options->rewindable || ty_stream_size(s->stream) > 0;
    if (candidates && again && (s->is_whole || candidates == s->count))
        return settle(s, error);
    for (uint32_t c = 0; c < s->count; c++)
        forget_integers(s, c);
    return TALLY_OK;
}
