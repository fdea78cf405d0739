/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds are edges as keys; everything is whole numbers from there on. How many words a kind of
 * table takes is found by trying every number of lower bits: the fewest words count.
 */
#include "binning/lookup.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "binning/float32.h"

enum { most_thresholds = 1 << 17, most_steps = 16, most_copies = 5 };

static int is_wide(tally_dtype dtype)
{
    return tally_dtype_bytes(dtype) == 8;
}

/* Whole numbers of 16 bits, too, are float32s. */
int ty_lookup_by_float(const ty_axis *axis)
{
    return axis->dtype == TALLY_F64 || ty_float32_serves(axis->dtype);
}

int ty_lookup_serves(const ty_axis *axis)
{
    return !axis->even && tally_dtype_bytes(axis->dtype) > 1;
}

/* ---- thresholds ---- */

/* Edge i, for floats the first number of a bin: that above the end of a closed axis. */
double ty_lookup_bound(const ty_axis *axis, uint32_t i)
{
    double e = ty_axis_edge(axis, i);
    e = i == axis->bins.bins && axis->bins.closed ? nextafter(e, INFINITY) : e;
    return axis->dtype == TALLY_F64 ? e : (double)ty_float_at_least(e);
}

/* Magnitudes below which no edge but 0 tells two apart: half of the least, so that a binade lies
 * between 0 and its neighbours. */
static double find_floor(const ty_axis *axis)
{
    double least = 1;
    for (uint32_t i = 0; i <= axis->bins.bins; i++) {
        double t = fabs(ty_lookup_bound(axis, i));
        least = t > 0 && t < least ? t : least;
    }
    return axis->dtype == TALLY_F64 ? least / 2 : (double)((float)least / 2);
}

static int64_t float_key(const ty_axis *axis, double e)
{
    return axis->dtype == TALLY_F64 ? ty_key_f64(e, &axis->lookup, axis->positive)
                                    : ty_key_f32((float)e, &axis->lookup, axis->positive);
}

/* The least whole number, as a key, that is not below e, or `past` it; 0 if there is none. */
static int integer_key(tally_dtype dtype, double e, int past, int64_t *key)
{
    const int is_signed = dtype == TALLY_I32 || dtype == TALLY_I64;
    const double least = is_signed ? (is_wide(dtype) ? -0x1p63 : -0x1p31) : 0;
    const double end = least + (is_wide(dtype) ? 0x1p64 : 0x1p32);
    double t = past ? floor(e) : ceil(e);
    if (t >= end)
        return 0;
    if (t < least) {
        t = least;
        past = 0;
    }
    *key = is_signed        ? (int64_t)t
           : is_wide(dtype) ? (int64_t)((uint64_t)t ^ UINT64_C(1) << 63)
                            : (int64_t)t - INT32_MAX - 1;
    if (past && *key == (is_wide(dtype) ? INT64_MAX : INT32_MAX))
        return 0;
    *key += past;
    return 1;
}

static void find_full(ty_axis *axis, ty_thresholds *m)
{
    const uint32_t bins = axis->bins.bins;
    if (ty_lookup_by_float(axis)) {
        double floor = find_floor(axis);
        axis->positive = ty_lookup_bound(axis, 0) > 0;
        axis->lookup.floor = (float)floor;
        axis->lookup.floor_bits = TY_BITS_OF(floor);
    }
    for (uint32_t i = 0; i <= bins; i++) {
        const int past = i == bins && axis->bins.closed;
        if (ty_lookup_by_float(axis))
            m->full[m->count++] = float_key(axis, ty_lookup_bound(axis, i));
        else
            m->count +=
                (uint32_t)integer_key(axis->dtype, ty_axis_edge(axis, i), past, &m->full[m->count]);
    }
}

tally_status ty_thresholds_find(ty_axis *axis, ty_thresholds *m, tally_error *error)
{
    const size_t most = (size_t)axis->bins.bins + 1;
    *m = (ty_thresholds){ty_malloc(most * sizeof *m->full), ty_malloc(most * sizeof *m->at), 0};
    if (!m->full || !m->at) {
        ty_thresholds_clear(m);
        return ty_error_memory(error, "thresholds", most * 12);
    }
    find_full(axis, m);
    return TALLY_OK;
}

void ty_thresholds_clear(ty_thresholds *m)
{
    ty_free(m->full);
    ty_free(m->at);
    *m = (ty_thresholds){NULL, NULL, 0};
}

/* The upper 31 bits of those that the thresholds reach over; 0 if they do not tell all apart. */
static int cut_window(ty_lookup *g, ty_thresholds *m)
{
    const int64_t first = m->full[0], last = m->full[m->count - 1];
    g->low = first > INT64_MIN ? first - 1 : first;
    g->high = last;
    g->window = 0;
    while (((uint64_t)last - (uint64_t)g->low) >> g->window >> 31)
        g->window++;
    for (uint32_t i = 0; i < m->count; i++) {
        m->at[i] = (int32_t)(((uint64_t)m->full[i] - (uint64_t)g->low) >> g->window);
        if (i && m->at[i] == m->at[i - 1])
            return 0;
    }
    g->first = 0;
    g->last = m->at[m->count - 1];
    return 1;
}

static int cut(const ty_axis *axis, ty_lookup *g, ty_thresholds *m)
{
    if (!m->count)
        return 0;
    if (is_wide(axis->dtype))
        return cut_window(g, m);
    for (uint32_t i = 0; i < m->count; i++)
        m->at[i] = (int32_t)m->full[i];
    g->first = m->at[0] > INT32_MIN ? m->at[0] - 1 : INT32_MIN;
    g->last = m->at[m->count - 1];
    return 1;
}

/* ---- the kinds ---- */

static uint32_t upper(int32_t key, uint32_t drop)
{
    return (uint32_t)(key >> drop);
}

static uint64_t cells_of(const ty_lookup *g, uint32_t drop)
{
    return (uint64_t)((int64_t)(g->last >> drop) - (g->first >> drop)) + 1;
}

/* Whether cells fit a word together with the lower bits. */
static int words_fit(const ty_thresholds *m, uint32_t drop)
{
    return ((uint64_t)m->count + 1) << drop <= UINT64_C(1) << 32;
}

/* Most thresholds [from, to) that share all but `drop` lower bits. */
static uint32_t most_shared(const ty_thresholds *m, uint32_t from, uint32_t to, uint32_t drop)
{
    uint32_t most = 0, run = 0;
    for (uint32_t i = from; i < to; i++) {
        run = i > from && upper(m->at[i], drop) == upper(m->at[i - 1], drop) ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most;
}

/* The end of the thresholds from i on that share all but the lower bits. */
static uint32_t run_end(const ty_thresholds *m, uint32_t i, uint32_t drop)
{
    uint32_t end = i;
    while (end < m->count && upper(m->at[end], drop) == upper(m->at[i], drop))
        end++;
    return end;
}

/* The most lower bits, at most `drop`, that no two thresholds share; 32 if two are equal. */
static uint32_t finest(const ty_thresholds *m, uint32_t from, uint32_t to, uint32_t drop)
{
    for (uint32_t i = from + 1; i < to; i++) {
        uint32_t differ = (uint32_t)m->at[i] ^ (uint32_t)m->at[i - 1];
        if (!differ)
            return 32;
        while (drop && !(differ >> drop))
            drop--;
    }
    return drop;
}

/* Words that a kind takes with so many lower bits; UINT64_MAX if it cannot be. */
static uint64_t size_one(const ty_lookup *g, const ty_thresholds *m, uint32_t drop)
{
    if (!words_fit(m, drop) || finest(m, 0, m->count, drop) != drop)
        return UINT64_MAX;
    return cells_of(g, drop);
}

static uint64_t size_two(const ty_lookup *g, const ty_thresholds *m, uint32_t drop)
{
    uint64_t words = 1;
    if (!words_fit(m, drop))
        return UINT64_MAX;
    for (uint32_t i = 0, end; i < m->count; i = end) {
        end = run_end(m, i, drop);
        uint32_t fine = finest(m, i, end, drop);
        if (fine > drop)
            return UINT64_MAX;
        words += (UINT64_C(1) << (drop - fine)) + 1;
    }
    return words < UINT64_C(1) << 25 ? words + cells_of(g, drop) : UINT64_MAX;
}

static uint64_t size_search(const ty_lookup *g, const ty_thresholds *m, uint32_t drop, int steps)
{
    if (g->last == INT32_MAX || most_shared(m, 0, m->count, drop) >= 1u << steps)
        return UINT64_MAX;
    return cells_of(g, drop) + m->count + (1u << steps);
}

/* The fewest words that a kind takes; its lower bits to *drop. */
static uint64_t fewest(const ty_lookup *g, const ty_thresholds *m, int kind, int steps,
                       uint32_t *drop)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t d = 0; d < 32; d++) {
        if (cells_of(g, d) > 1 << 20)
            continue;
        uint64_t size = kind == TY_LOOKUP_ONE   ? size_one(g, m, d)
                        : kind == TY_LOOKUP_TWO ? size_two(g, m, d)
                                                : size_search(g, m, d, steps);
        if (size <= best) {
            best = size;
            *drop = d;
        }
    }
    return best;
}

/* ---- filling ---- */

static uint32_t packed(const ty_thresholds *m, uint32_t i, uint32_t drop, uint32_t cell,
                       uint32_t width)
{
    uint32_t word = i << drop;
    if (i < m->count && upper(m->at[i], width) == cell)
        word += (1u << drop) - ((uint32_t)m->at[i] & ((1u << drop) - 1));
    return word;
}

static void fill_one(const ty_lookup *g, const ty_thresholds *m, uint32_t *words)
{
    const uint32_t d = g->drop;
    for (uint32_t c = 0, i = 0; c < g->cells; c++) {
        uint32_t cell = g->begin + c;
        words[c] = packed(m, i, d, cell, d) - (cell << d);
        i += i < m->count && upper(m->at[i], d) == cell;
    }
}

static void fill_two(const ty_lookup *g, const ty_thresholds *m, uint32_t *words)
{
    const uint32_t d = g->drop, cells = g->cells;
    uint32_t used = 0, plain = UINT32_MAX; /* a word without a threshold, for its cell */
    uint32_t *finer_words = words + cells;
    for (uint32_t c = 0, i = 0; c < cells; c++) {
        uint32_t end = i;
        while (end < m->count && upper(m->at[end], d) == g->begin + c)
            end++;
        if (end == i) {
            if (plain == UINT32_MAX) {
                plain = used;
                finer_words[used++] = i << d;
            }
            words[c] = plain * 4 << 5 | d;
            continue;
        }
        uint32_t fine = finest(m, i, end, d), finer = (g->begin + c) << (d - fine);
        words[c] = used * 4 << 5 | fine;
        for (uint32_t k = 0; k < 1u << (d - fine); k++) {
            finer_words[used++] = packed(m, i, d, finer + k, fine);
            i += i < end && upper(m->at[i], fine) == finer + k;
        }
        plain = UINT32_MAX;
    }
}

static void fill_search(const ty_lookup *g, const ty_thresholds *m, uint32_t rest, uint32_t *words)
{
    uint32_t i = 0, cells = g->cells;
    for (uint32_t c = 0; c < cells; c++) {
        words[c] = i;
        while (i < m->count && upper(m->at[i], g->drop) == g->begin + c)
            i++;
    }
    for (uint32_t k = 0; k < rest; k++)
        words[cells + k] = (uint32_t)(k < m->count ? m->at[k] : INT32_MAX);
}

void ty_lookup_fill_least(const ty_axis *axis, const ty_thresholds *m, void *least)
{
    int32_t *narrow = least;
    int64_t *wide = least;
    if (is_wide(axis->dtype))
        wide[0] = INT64_MIN;
    else
        narrow[0] = INT32_MIN;
    for (uint32_t i = 0; i < m->count; i++) {
        if (is_wide(axis->dtype))
            wide[i + 1] = m->full[i];
        else
            narrow[i + 1] = (int32_t)m->full[i];
    }
}

static uint32_t exact_words(const ty_axis *axis, const ty_thresholds *m)
{
    return is_wide(axis->dtype) ? 2 * (m->count + 1) : 0;
}

static tally_status fill(ty_axis *axis, const ty_thresholds *m, uint64_t size, tally_error *error)
{
    ty_lookup *g = &axis->lookup;
    /* Both even: comparisons in full lie at a multiple of 8 bytes, however many copies there are.
     */
    g->cells = (uint32_t)(cells_of(g, g->drop) + 1) & ~1u;
    const uint32_t rest = (uint32_t)(size - cells_of(g, g->drop) + 1) & ~1u;
    g->words = g->cells + rest + exact_words(axis, m);
    g->exact = rest * 4;
    g->four = 4;
    g->begin = upper(g->first, g->drop);
    g->nan = axis->bins.bins + 2;
    axis->lookup_words = ty_calloc((size_t)g->words, sizeof *axis->lookup_words);
    if (!axis->lookup_words)
        return ty_error_memory(error, "a lookup table of edges",
                               g->words * sizeof *axis->lookup_words);
    if (axis->lookup_kind == TY_LOOKUP_ONE)
        fill_one(g, m, axis->lookup_words);
    else if (axis->lookup_kind == TY_LOOKUP_TWO)
        fill_two(g, m, axis->lookup_words);
    else
        fill_search(g, m, rest, axis->lookup_words);
    if (is_wide(axis->dtype))
        ty_lookup_fill_least(axis, m, axis->lookup_words + g->cells + rest);
    return TALLY_OK;
}

/* As many copies as fit, up to one a lane. */
static void copy_cells(ty_lookup *g, uint64_t most)
{
    while (g->copies < most_copies &&
           g->words - g->cells + ((uint64_t)g->cells << (g->copies + 1)) <= most)
        g->copies++;
}

/* The first of kinds `from` to `to` that fits, one step of searching more at a time. */
static int choose(ty_axis *axis, const ty_thresholds *m, uint64_t words, int from, int to,
                  uint64_t *size)
{
    ty_lookup *g = &axis->lookup;
    for (int w = from, steps = 1; w <= to && steps <= most_steps;
         w < TY_LOOKUP_SEARCH ? w++ : steps++) {
        *size = fewest(g, m, w, steps, &g->drop);
        if (*size <= words) {
            axis->lookup_kind = w;
            g->reach = w == TY_LOOKUP_SEARCH ? 2u << steps : 0;
            return 1;
        }
    }
    return 0;
}

uint64_t ty_lookup_usual_bytes(const ty_axis *axis)
{
    const uint64_t thresholds = (uint64_t)axis->bins.bins + 1;
    return thresholds * (is_wide(axis->dtype) ? 14 : 6);
}

tally_status ty_lookup_make(ty_axis *axis, uint32_t words, int calm, int kind, tally_error *error)
{
    ty_thresholds m;
    uint64_t size;
    if (!ty_lookup_serves(axis) || (uint64_t)axis->bins.bins + 1 > most_thresholds)
        return TALLY_OK;
    tally_status status = ty_thresholds_find(axis, &m, error);
    if (status)
        return status;
    uint32_t taken = exact_words(axis, &m) + 2;
    if (cut(axis, &axis->lookup, &m) && words > taken) {
        const int found = choose(axis, &m, words - taken, kind ? kind : TY_LOOKUP_ONE,
                                 kind && kind < TY_LOOKUP_SEARCH ? kind
                                 : kind                          ? 0
                                                                 : TY_LOOKUP_TWO,
                                 &size);
        if (!found && (!kind || kind == TY_LOOKUP_INDEX))
            status = ty_lookup_index_make(axis, &m, words, error);
        if (found || (!status && !axis->lookup_kind && (!kind || kind == TY_LOOKUP_SEARCH) &&
                      choose(axis, &m, words - taken, TY_LOOKUP_SEARCH, TY_LOOKUP_SEARCH, &size)))
            status = fill(axis, &m, size, error);
    }
    if (axis->lookup_kind && axis->lookup_kind != TY_LOOKUP_INDEX &&
        !(calm && axis->lookup_kind == TY_LOOKUP_ONE))
        copy_cells(&axis->lookup, words);
    ty_thresholds_clear(&m);
    return status;
}
