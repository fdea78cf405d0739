/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup tables of entries, and those in global memory: kinds 7 to 10 of binning/cell_lookup.h.
 * Nothing here decides a cell; that is the thresholds' (binning/lookup.c): a table only says which
 * of them to compare with.
 */
#include <math.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "binning/lookup.h"

enum {
    most_entries = 1 << 20, /* 8 MiB, of wide keys 16: what fits a device's cache */
    entries_each = 16,      /* a threshold: then few have two */
    most_bins = (1 << TY_MORE) - 2,
    least_part = 4, /* bits of a cell by logarithm: with fewer, too many keys are next to an edge */
    most_part = 16
};

static int is_wide(const ty_axis *axis)
{
    return tally_dtype_bytes(axis->dtype) == 8;
}

static uint32_t key_bytes(const ty_axis *axis)
{
    return is_wide(axis) ? 8 : 4;
}

/* Allocates `table` words of entries and what cells' keys are not below, behind them. */
static tally_status allocate(ty_axis *axis, const ty_thresholds *m, uint32_t table, int kind,
                             tally_error *error)
{
    ty_lookup *g = &axis->lookup;
    g->cells = table;
    g->copies = 0;
    g->count = m->count;
    g->nan = axis->bins.bins + 2;
    g->least = table * 4; /* from the table's begin, until that is known */
    g->words = table + (m->count + 1) * (key_bytes(axis) / 4);
    axis->lookup_words = ty_calloc((size_t)g->words, sizeof *axis->lookup_words);
    if (!axis->lookup_words)
        return ty_error_memory(error, "a lookup table of edges", (size_t)g->words * 4);
    ty_lookup_fill_least(axis, m, axis->lookup_words + table);
    axis->lookup_kind = kind;
    return TALLY_OK;
}

/* ---- by logarithm ---- */

/* Keys whose logarithm ty_log_of knows, no further apart than it can tell. */
static int has_logarithms(const ty_axis *axis, const ty_thresholds *m)
{
    const int64_t first = m->full[0], last = m->full[m->count - 1];
    const int dtype = (int)axis->dtype;
    if (m->count < 2 || first == last)
        return 0;
    if (axis->dtype == TALLY_F64)
        return axis->positive && first >= INT64_C(1) << 52 && (last >> 52) - (first >> 52) < 250;
    if (ty_lookup_by_float(axis))
        return axis->positive && first >= 1 << 23;
    if (dtype == TALLY_U32 || dtype == TALLY_U64)
        return first > (is_wide(axis) ? INT64_MIN : INT32_MIN);
    return first > 0;
}

enum { one_bits = 0x3f800000 };

static uint32_t log_of(const ty_axis *axis, int64_t key)
{
    const int dtype = (int)axis->dtype;
    const uint32_t bits =
        is_wide(axis) ? ty_log_bits_64(key, dtype) : ty_log_bits_32((int32_t)key, dtype);
    return ty_log_of(bits, one_bits);
}

/* How far above the edges they should be the product puts thresholds, from *low to *high, if that
 * is not a cell. */
static int find_error(const ty_axis *axis, const ty_thresholds *m, int64_t *low, int64_t *high)
{
    const ty_lookup *g = &axis->lookup;
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint32_t i = 0; i < m->count; i++) {
        const int64_t at = (int64_t)TY_MUL_HI(log_of(axis, m->full[i]) - g->origin, g->slope);
        const int64_t off = at - ((int64_t)(i + 1) << g->part);
        *low = off < *low ? off : *low;
        *high = off > *high ? off : *high;
        if (*high - *low >= g->mask)
            return 0;
    }
    return 1;
}

/* Whether a product puts every threshold less than a cell above where it is. Neither it nor
 * ty_log_of puts a larger key lower, so a key that is put further above an edge than the worst
 * threshold is not below that edge. */
static int follows_logarithm(ty_axis *axis, const ty_thresholds *m)
{
    ty_lookup *g = &axis->lookup;
    int64_t low, high;
    if (!has_logarithms(axis, m))
        return 0;
    const uint64_t cells = m->count - 1;
    const uint32_t begin = log_of(axis, m->full[0]), range = log_of(axis, m->full[cells]) - begin;
    g->part = most_part;
    while (g->part && (cells << g->part >= range || (cells + 3) << g->part >= UINT32_MAX / 2))
        g->part--;
    if (g->part < least_part)
        return 0;
    g->origin = begin;
    g->slope = (uint32_t)ldexp((double)(cells << g->part) / range, 32);
    g->mask = (1u << g->part) - 1;
    g->one = one_bits;
    if (!find_error(axis, m, &low, &high))
        return 0;
    g->origin -= (uint32_t)ceil(ldexp((double)-low, 32) / g->slope); /* none is put below */
    if (!find_error(axis, m, &low, &high) || low < 0 || high >= g->mask)
        return 0;
    g->near = (uint32_t)high;
    return 1;
}

/* ---- by entries ---- */

/* The number of threshold i, a sample's that is not below it. */
static uint32_t entry_of(const ty_axis *axis, const ty_thresholds *m, uint32_t i, int kind)
{
    const ty_lookup *g = &axis->lookup;
    if (kind == TY_LOOKUP_LINEAR)
        return axis->dtype == TALLY_F64 ? ty_linear_entry_f64(ty_lookup_bound(axis, i), g)
                                        : ty_linear_entry_f32((float)ty_lookup_bound(axis, i), g);
    return is_wide(axis) ? ty_upper_entry_64(m->full[i], g)
                         : ty_upper_entry_32((int32_t)m->full[i], g);
}

/* How entries, `most` of them, are told; returns their number, 0 if they cannot be. */
static uint32_t lay_entries(ty_axis *axis, const ty_thresholds *m, int kind, uint64_t most)
{
    ty_lookup *g = &axis->lookup;
    const int64_t first = m->full[0], last = m->full[m->count - 1];
    if (kind == TY_LOOKUP_LINEAR) {
        const double from = ty_lookup_bound(axis, 0), to = ty_lookup_bound(axis, axis->bins.bins);
        const double per = (double)(most - 1) / (to - from);
        if (!ty_lookup_by_float(axis) || !isfinite(to) || !isfinite((float)per) ||
            !((float)per > 0))
            return 0;
        g->start = (float)from;
        g->per = (float)per;
        g->start_bits = TY_BITS_OF(from);
        g->per_bits = TY_BITS_OF(per);
        return g->entries = (uint32_t)most;
    }
    if (is_wide(axis)) {
        g->low = first;
        g->high = last;
    } else {
        g->first = (int32_t)first;
        g->last = (int32_t)last;
    }
    g->drop = 0;
    while (((uint64_t)last - (uint64_t)first) >> g->drop >= most)
        g->drop++;
    return g->entries = (uint32_t)(((uint64_t)last - (uint64_t)first) >> g->drop) + 1;
}

static uint64_t entries_wanted(const ty_thresholds *m)
{
    const uint64_t wanted = (uint64_t)m->count * entries_each;
    return wanted < most_entries ? wanted : most_entries;
}

/* The end of the thresholds from i on that share an entry. */
static uint32_t entry_end(const ty_axis *axis, const ty_thresholds *m, uint32_t i, int kind)
{
    const uint32_t entry = entry_of(axis, m, i, kind);
    for (i++; i < m->count && entry_of(axis, m, i, kind) == entry;)
        i++;
    return i;
}

/* log2 of thresholds that are more than one. */
static uint32_t steps_of(uint32_t more)
{
    uint32_t steps = 0;
    while (more >> steps)
        steps++;
    return steps;
}

/* Steps of a search, over all cells. */
static uint64_t steps_by(ty_axis *axis, const ty_thresholds *m, int kind)
{
    uint64_t steps = 0;
    if (!lay_entries(axis, m, kind, entries_wanted(m)))
        return UINT64_MAX;
    for (uint32_t i = 0, end; i < m->count; i = end) {
        end = entry_end(axis, m, i, kind);
        steps += (uint64_t)(end - i) * steps_of(end - i - 1);
    }
    return steps;
}

/* An entry without a threshold has the next, or behind all of them the last: what is in it is
 * below the one and not below the other. */
static void fill_entries(ty_axis *axis, const ty_thresholds *m, int kind)
{
    uint32_t *words = axis->lookup_words;
    for (uint32_t c = 0, i = 0; c < axis->lookup.entries; c++) {
        const uint32_t before = i;
        while (i < m->count && entry_of(axis, m, i, kind) == c)
            i++;
        const uint32_t at = before < m->count ? before : m->count - 1;
        const uint32_t more = i > before ? steps_of(i - before - 1) : 0;
        *words++ = at | more << TY_MORE;
        if (is_wide(axis)) {
            *words++ = 0;
            *words++ = (uint32_t)(uint64_t)m->full[at];
            *words++ = (uint32_t)((uint64_t)m->full[at] >> 32);
        } else {
            *words++ = (uint32_t)m->full[at];
        }
    }
}

static int choose_entries(ty_axis *axis, const ty_thresholds *m)
{
    const uint64_t upper = steps_by(axis, m, TY_LOOKUP_UPPER);
    return steps_by(axis, m, TY_LOOKUP_LINEAR) < upper ? TY_LOOKUP_LINEAR : TY_LOOKUP_UPPER;
}

static tally_status make(ty_axis *axis, const ty_thresholds *m, int kind, tally_error *error)
{
    if (!kind || kind == TY_LOOKUP_LOG) {
        if (follows_logarithm(axis, m)) {
            lay_entries(axis, m, TY_LOOKUP_UPPER, 1); /* first and last */
            return allocate(axis, m, 0, TY_LOOKUP_LOG, error);
        }
        if (kind)
            return TALLY_OK;
    }
    kind = kind ? kind : choose_entries(axis, m);
    if (!lay_entries(axis, m, kind, entries_wanted(m)))
        return TALLY_OK;
    tally_status status =
        allocate(axis, m, axis->lookup.entries * (is_wide(axis) ? 4 : 2), kind, error);
    if (!status)
        fill_entries(axis, m, kind);
    return status;
}

/* ---- in local memory ---- */

enum { most_crowd = 6, crowded_share = 2 };

/* Whether few thresholds share an entry, and never many. */
static int is_loose(const ty_axis *axis, const ty_thresholds *m, int kind)
{
    uint64_t crowded = 0;
    for (uint32_t i = 0, end; i < m->count; i = end) {
        end = entry_end(axis, m, i, kind);
        if (end - i > most_crowd)
            return 0;
        crowded += end - i > 1 ? end - i : 0;
    }
    return crowded * crowded_share <= m->count;
}

static void fill_index(ty_axis *axis, const ty_thresholds *m, int kind)
{
    uint16_t *entries = (uint16_t *)(void *)axis->lookup_words;
    for (uint32_t c = 0, i = 0; c < axis->lookup.entries; c++) {
        const uint32_t before = i;
        while (i < m->count && entry_of(axis, m, i, kind) == c)
            i++;
        const uint32_t at = before < m->count ? before : m->count - 1;
        entries[c] = (uint16_t)(at | (i > before + 1 ? TY_CROWDED : 0));
    }
}

tally_status ty_lookup_index_make(ty_axis *axis, const ty_thresholds *m, uint32_t words,
                                  tally_error *error)
{
    const int kind = ty_lookup_by_float(axis) ? TY_LOOKUP_LINEAR : TY_LOOKUP_UPPER;
    const ty_lookup kept = axis->lookup;
    const uint32_t least = m->count + 1;
    if (is_wide(axis) || m->count >= TY_CROWDED || words < 2 * least ||
        !lay_entries(axis, m, kind, (uint64_t)(words - least - 1) * 2) ||
        !is_loose(axis, m, kind)) {
        axis->lookup = kept;
        return TALLY_OK;
    }
    axis->lookup.four = 4;
    axis->lookup.begin = 0;
    tally_status status = allocate(axis, m, (axis->lookup.entries + 1) / 2, TY_LOOKUP_INDEX, error);
    if (!status)
        fill_index(axis, m, kind);
    return status;
}

tally_status ty_lookup_global_make(ty_axis *axis, int kind, tally_error *error)
{
    ty_thresholds m;
    if (axis->lookup_kind || !ty_lookup_serves(axis) || axis->bins.bins > most_bins)
        return TALLY_OK;
    tally_status status = ty_thresholds_find(axis, &m, error);
    if (!status && m.count)
        status = make(axis, &m, kind, error);
    ty_thresholds_clear(&m);
    return status;
}
