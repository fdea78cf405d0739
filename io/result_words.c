/* SPDX-License-Identifier: Apache-2.0 */
/* Results of words: the bins of an axis have labels, and an order by what is in them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/result.h"
#include "io/words.h"

/* 32 bytes, which qsort moves as they are; larger ones it sorts by pointers to them. */
typedef struct entry {
    union {
        uint64_t count;
        double sum;    /* of weights */
        uint64_t rank; /* then: smaller is earlier */
    };
    uint64_t key; /* bytes of the text, in the order of texts; set_key's */
    const char *text;
    uint32_t bin, size; /* bytes of the text */
} entry;

/* Of all entries that are compared the first `skip` bytes are the same. */
static void set_key(entry *e, size_t skip)
{
    const unsigned char *text = (const unsigned char *)e->text;
    const size_t end = e->size < skip + 8 ? e->size : skip + 8;
    e->key = 0;
    for (size_t i = skip; i < end; i++)
        e->key |= (uint64_t)text[i] << 8 * (skip + 7 - i);
}

/* Returns how many bytes the text has as a label. */
static size_t set_text(entry *e, const char *text, size_t size)
{
    e->text = text;
    e->size = (uint32_t)size;
    return ty_label_bytes(text, size);
}

/* So many of the first `most` bytes of two texts are the same. */
static size_t count_same(const entry *a, const entry *b, size_t most)
{
    size_t same = 0;
    while (same < most && same < b->size && a->text[same] == b->text[same])
        same++;
    return same;
}

static int by_text(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_size(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return by_text(a, b);
}

/* ---- Many entries ---- */

/* An entry, and a number that puts it before those with larger ones. */
typedef struct ticket {
    uint64_t number;
    uint64_t entry;
} ticket;

enum { DIGITS = 8, DIGIT = 256, RADIX_FROM = 4096 };

/* Sorts by the numbers, from their last digit to the first; which of the two arrays has it then. */
static ticket *sort_tickets(ticket *from, ticket *to, size_t n)
{
    size_t at[DIGITS][DIGIT];
    memset(at, 0, sizeof at);
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            at[d][from[i].number >> 8 * d & (DIGIT - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t before = 0;
        if (at[d][from[0].number >> 8 * d & (DIGIT - 1)] == n)
            continue; /* all have the same */
        for (unsigned v = 0; v < DIGIT; v++) {
            const size_t here = at[d][v];
            at[d][v] = before;
            before += here;
        }
        for (size_t i = 0; i < n; i++)
            to[at[d][from[i].number >> 8 * d & (DIGIT - 1)]++] = from[i];
        ticket *const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static unsigned bits_of(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* A number is the rank's bits that differ, and behind them as many of the key's as there is room
 * for: in no other order than by_size. */
static void number_tickets(const entry *e, size_t n, ticket *tickets)
{
    uint64_t rank = e->rank, ranks = rank, key = e->key, keys = key;
    for (size_t i = 1; i < n; i++) {
        rank = e[i].rank < rank ? e[i].rank : rank;
        ranks = e[i].rank > ranks ? e[i].rank : ranks;
        key = e[i].key < key ? e[i].key : key;
        keys = e[i].key > keys ? e[i].key : keys;
    }
    const unsigned room = 64 - bits_of(ranks - rank), need = bits_of(keys - key);
    const unsigned kept = need < room ? need : room;
    for (size_t i = 0; i < n; i++) {
        const uint64_t high = kept < 64 ? (e[i].rank - rank) << kept : 0;
        const uint64_t low = kept ? (e[i].key - key) >> (need - kept) : 0;
        tickets[i] = (ticket){high | low, i};
    }
}

/* Entries whose numbers are the same change places until they are in order. */
static tally_status sort_alike(entry *e, const ticket *sorted, size_t n, tally_error *error)
{
    entry *some = NULL;
    size_t room = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].number == sorted[i].number; end++)
            ;
        const size_t alike = end - i;
        if (alike < 2)
            continue;
        if (alike > room) {
            ty_free(some);
            room = 2 * alike;
            if (!(some = ty_malloc(room * sizeof *some)))
                return ty_error_memory(error, "the order of bins", room * sizeof *some);
        }
        for (size_t k = 0; k < alike; k++)
            some[k] = e[sorted[i + k].entry];
        qsort(some, alike, sizeof *some, by_size);
        for (size_t k = 0; k < alike; k++)
            e[sorted[i + k].entry] = some[k];
    }
    ty_free(some);
    return TALLY_OK;
}

/* By size, and by text where that is the same: the first is e[(*order)[0].entry]. *tickets is to be
 * freed. */
static tally_status sort_entries(entry *e, size_t n, ticket **tickets, const ticket **order,
                                 tally_error *error)
{
    ticket *made = *tickets = ty_large(2 * n * sizeof *made);
    if (!made)
        return ty_error_memory(error, "the order of bins", 2 * n * sizeof *made);
    *order = made;
    if (n >= RADIX_FROM) {
        number_tickets(e, n, made);
        *order = sort_tickets(made, made + n, n);
        return sort_alike(e, *order, n, error);
    }
    qsort(e, n, sizeof *e, by_size);
    for (size_t i = 0; i < n; i++)
        made[i].entry = i;
    return TALLY_OK;
}

/* ---- Entries of bins ---- */

/* Of the largest sum the smallest, of NaN the largest. */
static uint64_t rank_of(double sum)
{
    const double known = isnan(sum) ? -INFINITY : sum + 0.0; /* there is one zero */
    uint64_t bits;
    memcpy(&bits, &known, sizeof bits);
    return bits >> 63 ? bits : ~bits & INT64_MAX;
}

static void add_to_entry(entry *e, unsigned char *filled, const tally_result *r, uint64_t cell)
{
    if (r->kind == TALLY_RESULT_COUNTS) {
        const uint64_t count = ((const uint64_t *)r->counts)[cell];
        *filled |= count != 0;
        e->count = ty_add_sticky(e->count, count);
    } else {
        const double sum = ty_result_value(r, 0, cell);
        *filled |= sum != 0 || (r->squares && r->squares[cell] != 0);
        e->sum += sum;
    }
}

/* An entry for each bin of an axis, with what all histograms and other axes have in it; *filled:
 * whether there is anything at all. */
static entry *entries_make(const tally_result *r, uint32_t axis, unsigned char *filled)
{
    const uint64_t bins = r->axes[axis].bins, cells = r->histograms * r->bins;
    uint64_t stride = 1;
    entry *entries = ty_large((size_t)bins * sizeof *entries);
    ty_result_settle(r);
    for (uint32_t d = axis + 1; d < r->dimensions; d++)
        stride *= r->axes[d].bins;
    for (uint64_t b = 0; entries && b < bins; b++)
        entries[b] = (entry){.bin = (uint32_t)b};
    for (uint64_t i = 0; entries && i < cells;)
        for (uint64_t b = 0; b < bins; b++)
            for (const uint64_t end = i + stride; i < end; i++)
                add_to_entry(entries + b, filled + b, r, i);
    for (uint64_t b = 0; entries && b < bins; b++)
        entries[b].rank =
            r->kind == TALLY_RESULT_COUNTS ? ~entries[b].count : rank_of(entries[b].sum);
    return entries;
}

/* The result with the first `kept` of `entries` as its bins, in their order (NULL: as they are),
 * whose labels have `bytes` bytes; the `others` behind them are one more bin. Bins without an entry
 * are empty. */
static tally_status arrange(const tally_result *r, uint32_t axis, const entry *entries,
                            const ticket *order, uint64_t kept, size_t bytes, uint64_t others,
                            uint64_t stands_for, tally_result **arranged, tally_error *error)
{
    enum { AHEAD = 8 };
    static const char nothing[] = "(none)";
    char last[64];
    const uint64_t bins = kept + (others > 0) + (kept + others == 0);
    snprintf(last, sizeof last, "%" PRIu64 " other values", stands_for);
    bytes += sizeof last + sizeof nothing;
    uint64_t *to = ty_result_zeroes(r->axes[axis].bins, sizeof *to);
    ty_labels *labels = ty_labels_create(bins, bytes);
    tally_status status = TALLY_OK;
    if (!to || !labels)
        status = ty_error_memory(error, "the labels of bins", bytes);
    for (uint64_t i = 0; !status && i < kept + others; i++) {
        const entry *e = entries + (order ? order[i].entry : i);
        if (order && i + 2 * AHEAD < kept) { /* entries and texts lie in other orders */
            __builtin_prefetch(entries + order[i + 2 * AHEAD].entry);
            __builtin_prefetch(entries[order[i + AHEAD].entry].text);
        }
        to[e->bin] = i < kept ? i : kept;
        if (i < kept)
            ty_labels_add(labels, e->text, e->size);
    }
    if (!status && others) {
        ty_labels_add(labels, last, strlen(last));
        labels->others = stands_for;
    } else if (!status && !kept) {
        ty_labels_add(labels, nothing, strlen(nothing));
    }
    if (!status)
        status = ty_result_move_bins(r, axis, to, labels, arranged, error);
    ty_free(to);
    ty_labels_release(labels);
    return status;
}

static tally_status check(const tally_result *result, uint32_t axis, const void *into,
                          tally_error *error)
{
    if (!result || !into)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        result ? "where the new result goes" : "result");
    if (axis >= result->dimensions)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "axis is %u; the result has axes 0 to %u",
                        axis, result->dimensions - 1);
    return TALLY_OK;
}

/* The text of bin `b`; that of a later one is asked for. */
static const char *text_of(const tally_result *r, uint32_t axis, const tally_words *words,
                           uint64_t b, size_t *size)
{
    if (words) {
        ty_words_prefetch(words, b + 16);
        return ty_words_bytes(words, b, size);
    }
    const char *text = ty_label(r->labels[axis], b);
    *size = strlen(text);
    return text;
}

/* The first `bins` entries become those of filled bins, with their texts; returns how many they
 * are, and the labels' bytes. Keys leave out what all texts begin with. */
static uint64_t take_filled(const tally_result *r, uint32_t axis, const tally_words *words,
                            const unsigned char *filled, uint64_t bins, entry *entries,
                            size_t *bytes)
{
    enum { SKIP_MOST = 64 };
    uint64_t kept = 0;
    size_t skip = SKIP_MOST, size;
    for (uint64_t b = 0; b < bins; b++) {
        if (!filled[b])
            continue;
        entry *e = entries + kept++;
        *e = entries[b];
        const char *text = text_of(r, axis, words, b, &size);
        *bytes += set_text(e, text, size);
        const size_t same = count_same(entries, e, skip);
        for (uint64_t i = 0; i + 1 < kept && same < skip; i++)
            set_key(entries + i, same);
        skip = same;
        set_key(e, skip);
    }
    return kept;
}

/* `words` NULL: the labels that there are. */
static tally_status sort_bins(const tally_result *r, uint32_t axis, const tally_words *words,
                              tally_result **sorted, tally_error *error)
{
    const uint64_t bins = r->axes[axis].bins, known = words ? tally_words_count(words) : bins;
    unsigned char *filled = ty_calloc((size_t)bins, 1);
    entry *entries = filled ? entries_make(r, axis, filled) : NULL;
    ticket *tickets = NULL;
    const ticket *order = NULL;
    uint64_t kept = 0;
    size_t bytes = 0;
    if (!entries) {
        ty_free(filled);
        return ty_error_memory(error, "the order of bins", bins * sizeof *entries);
    }
    kept = take_filled(r, axis, words, filled, bins < known ? bins : known, entries, &bytes);
    tally_status status = sort_entries(entries, (size_t)kept, &tickets, &order, error);
    if (!status)
        status = arrange(r, axis, entries, order, kept, bytes, 0, 0, sorted, error);
    if (!status && words && axis == 0)
        (*sorted)->dtype = (tally_dtype)0; /* that of codes says nothing */
    ty_free(tickets);
    ty_free(entries);
    ty_free(filled);
    return status;
}

tally_status tally_result_words(const tally_result *result, uint32_t axis, const tally_words *words,
                                tally_result **named, tally_error *error)
{
    tally_status status = check(result, axis, named, error);
    if (status)
        return status;
    if (!words)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "words is NULL");
    if (result->axes[axis].kind != TALLY_AXIS_INTEGER || result->axes[axis].first != 0)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u does not count codes of words: those are integers from 0", axis);
    return sort_bins(result, axis, words, named, error);
}

tally_status tally_result_top(const tally_result *result, uint32_t axis, uint64_t most,
                              tally_result **top, tally_error *error)
{
    tally_status status = check(result, axis, top, error);
    if (status)
        return status;
    const ty_labels *labels = result->labels[axis];
    if (!labels || !most)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s",
                        labels ? "most is 0; 1 or more bins are kept"
                               : "the bins of this axis are no words");
    const uint64_t bins = labels->count, single = labels->others ? bins - 1 : bins;
    const uint64_t kept = most < single ? most : single, others = bins - kept;
    entry *entries = ty_calloc((size_t)bins, sizeof *entries);
    if (!entries)
        return ty_error_memory(error, "the order of bins", bins * sizeof *entries);
    size_t bytes = 0;
    for (uint64_t b = 0; b < bins; b++) {
        entries[b].bin = (uint32_t)b;
        if (b < kept)
            bytes += set_text(&entries[b], ty_label(labels, b), strlen(ty_label(labels, b)));
    }
    status = arrange(result, axis, entries, NULL, kept, bytes, others,
                     single - kept + labels->others, top, error);
    ty_free(entries);
    return status;
}

const char *tally_result_label(const tally_result *result, uint32_t axis, uint64_t bin)
{
    if (!result || axis >= result->dimensions || !result->labels[axis] ||
        bin >= result->labels[axis]->count)
        return NULL;
    return ty_label(result->labels[axis], bin);
}

/* ---- Merging ---- */

static int same_labels(const ty_labels *a, const ty_labels *b)
{
    if (a->count != b->count || a->others != b->others)
        return 0;
    for (uint64_t i = 0; i < a->count; i++)
        if (strcmp(ty_label(a, i), ty_label(b, i)) != 0)
            return 0;
    return 1;
}

tally_status ty_result_check_labels(const tally_result *a, const tally_result *b, uint32_t axis,
                                    int *same, tally_error *error)
{
    const ty_labels *x = a->labels[axis], *y = b->labels[axis];
    *same = 1;
    if (!x != !y)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: its bins are words in the %s and numbers in the other", axis,
                        x ? "first" : "second");
    if (!x || same_labels(x, y))
        return TALLY_OK;
    *same = 0;
    if (x->others || y->others)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: the %s has several values in one bin, of which nobody knows how "
                        "many each is; merge results that were counted without --top",
                        axis, x->others ? "first" : "second");
    return TALLY_OK;
}

static entry *entries_by_text(const ty_labels *labels)
{
    entry *entries = ty_calloc((size_t)labels->count, sizeof *entries);
    for (uint64_t i = 0; entries && i < labels->count; i++) {
        entries[i].bin = (uint32_t)i;
        set_text(&entries[i], ty_label(labels, i), strlen(ty_label(labels, i)));
        set_key(&entries[i], 0);
    }
    if (entries)
        qsort(entries, (size_t)labels->count, sizeof *entries, by_text);
    return entries;
}

/* All labels of both, and where each of b's goes; a's stay where they are. */
static ty_labels *unite(const ty_labels *a, const ty_labels *b, uint64_t *to_b)
{
    entry *x = entries_by_text(a), *y = entries_by_text(b);
    ty_labels *all = x && y ? ty_labels_create(a->count + b->count, a->used + b->used) : NULL;
    for (uint64_t i = 0; all && i < a->count; i++)
        ty_labels_add(all, ty_label(a, i), strlen(ty_label(a, i)));
    for (uint64_t i = 0, j = 0; all && j < b->count; j++) {
        while (i < a->count && strcmp(x[i].text, y[j].text) < 0)
            i++;
        if (i < a->count && strcmp(x[i].text, y[j].text) == 0) {
            to_b[y[j].bin] = x[i].bin;
        } else {
            to_b[y[j].bin] = all->count;
            ty_labels_add(all, y[j].text, strlen(y[j].text));
        }
    }
    ty_free(x);
    ty_free(y);
    return all;
}

tally_status ty_result_unite(const tally_result *a, const tally_result *b, uint32_t axis,
                             tally_result **new_a, tally_result **new_b, tally_error *error)
{
    const ty_labels *x = a->labels[axis], *y = b->labels[axis];
    uint64_t *to_a = ty_calloc((size_t)x->count, sizeof *to_a);
    uint64_t *to_b = ty_calloc((size_t)y->count, sizeof *to_b);
    ty_labels *all = to_a && to_b ? unite(x, y, to_b) : NULL;
    tally_status status = TALLY_OK;
    if (!all)
        status = ty_error_memory(error, "the labels of bins", x->used + y->used);
    for (uint64_t i = 0; !status && i < x->count; i++)
        to_a[i] = i;
    if (!status)
        status = ty_result_move_bins(a, axis, to_a, all, new_a, error);
    if (!status) {
        status = ty_result_move_bins(b, axis, to_b, all, new_b, error);
        if (status)
            tally_result_destroy(*new_a);
    }
    ty_free(to_a);
    ty_free(to_b);
    ty_labels_release(all);
    return status;
}

tally_status ty_result_sort_labels(const tally_result *r, uint32_t axis, tally_result **sorted,
                                   tally_error *error)
{
    return sort_bins(r, axis, NULL, sorted, error);
}
