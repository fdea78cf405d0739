/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a column at a glance (summary.h). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "io/summary.h"
#include "io/text_scan.h"

enum { PAGES = 1 << 12, CELLS = 1 << 11, CELL_BITS = 64 - 23 };

/* Bits in the order of the numbers. */
static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* sum += value, and what rounding takes goes to the second part. */
static inline void add_twice(double sum[2], double value)
{
    const double total = sum[0] + value, part = total - sum[0];
    sum[1] += (sum[0] - (total - part)) + (value - part);
    sum[0] = total;
}

static ty_cell *page_of(ty_numbers *n, uint64_t key)
{
    if (!n->pages && !(n->pages = ty_calloc(PAGES, sizeof *n->pages)))
        return NULL;
    ty_cell **page = n->pages + (key >> 52);
    if (!*page)
        *page = ty_calloc(CELLS, sizeof **page);
    return *page;
}

static void add_missing(ty_numbers *n, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    n->odd += bits == TY_ODD_BITS;
    n->missing += bits != TY_ODD_BITS;
}

static inline void add_cell(ty_cell *cell, uint64_t count, double value)
{
    if (!cell->count)
        cell->value = value;
    else if (cell->value != value)
        cell->value = NAN;
    cell->count += count;
}

int ty_numbers_add(ty_numbers *n, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = values[i] + 0.0; /* of two zeros one */
        if (value != value) {
            add_missing(n, values[i]);
            continue;
        }
        if (!n->count++)
            n->least = n->most = value;
        n->least = value < n->least ? value : n->least;
        n->most = value > n->most ? value : n->most;
        n->has_fractions |= value != nearbyint(value);
        const uint64_t key = key_of(value);
        ty_cell *page = n->pages ? n->pages[key >> 52] : NULL;
        if (!page && !(page = page_of(n, key)))
            return 0;
        add_cell(page + (key >> CELL_BITS & (CELLS - 1)), 1, value);
        if (!isfinite(value)) {
            n->infinite++;
            continue;
        }
        if (!n->has_base) {
            n->base = value;
            n->has_base = 1;
        }
        const double apart = value - n->base;
        add_twice(n->sum, value);
        add_twice(n->squares, apart * apart);
    }
    return 1;
}

static int merge_pages(ty_numbers *into, ty_numbers *from)
{
    for (uint64_t p = 0; from->pages && p < PAGES; p++) {
        if (!from->pages[p])
            continue;
        ty_cell *page = page_of(into, p << 52);
        if (!page)
            return 0;
        for (int c = 0; c < CELLS; c++)
            if (from->pages[p][c].count)
                add_cell(page + c, from->pages[p][c].count, from->pages[p][c].value);
    }
    return 1;
}

int ty_numbers_merge(ty_numbers *into, ty_numbers *from)
{
    if (!merge_pages(into, from))
        return 0;
    if (from->count) {
        into->least = into->count && into->least < from->least ? into->least : from->least;
        into->most = into->count && into->most > from->most ? into->most : from->most;
    }
    into->count += from->count;
    into->missing += from->missing;
    into->odd += from->odd;
    into->infinite += from->infinite;
    into->has_fractions |= from->has_fractions;
    for (int i = 0; i < 2; i++) {
        add_twice(into->sum, from->sum[i]);
        add_twice(into->squares, from->squares[i]);
    }
    if (!into->has_base) {
        into->base = from->base;
        into->has_base = from->has_base;
    }
    ty_numbers_release(from);
    return 1;
}

void ty_numbers_release(ty_numbers *n)
{
    for (int p = 0; n->pages && p < PAGES; p++)
        ty_free(n->pages[p]);
    ty_free(n->pages);
    memset(n, 0, sizeof *n);
}

/* Where the numbers of a cell are, its least and greatest. */
static void cell_ends(const ty_numbers *n, uint64_t cell, double *lo, double *hi)
{
    *lo = *hi = n->pages[cell / CELLS][cell % CELLS].value;
    if (*lo == *hi)
        return;
    *lo = value_of(cell << CELL_BITS);
    *hi = value_of(((cell + 1) << CELL_BITS) - 1);
    *lo = *lo > n->least ? *lo : n->least;
    *hi = *hi < n->most ? *hi : n->most;
    if (!n->has_fractions && isfinite(*lo) && isfinite(*hi)) {
        *lo = ceil(*lo);
        *hi = floor(*hi);
    }
}

/* The values of ranks ranks[0 ... 2], from 1, ascending. */
static void find_quartiles(ty_summary_column *c, const uint64_t ranks[3])
{
    const ty_numbers *n = &c->numbers;
    uint64_t below = 0;
    int q = 0;
    c->is_exact = 1;
    for (uint64_t cell = 0; n->pages && q < 3 && cell < (uint64_t)PAGES * CELLS; cell++) {
        const ty_cell *page = n->pages[cell / CELLS];
        if (!page) {
            cell += CELLS - 1;
            continue;
        }
        const uint64_t here = page[cell % CELLS].count;
        for (; q < 3 && here && ranks[q] <= below + here; q++) {
            double lo, hi;
            cell_ends(n, cell, &lo, &hi);
            const double part = ((double)(ranks[q] - below) - 0.5) / (double)here;
            c->quartiles[q] = lo < hi ? lo + (hi - lo) * part : lo;
            c->is_exact &= !(lo < hi);
        }
        below += here;
    }
}

static void fill_cells(ty_summary_column *c)
{
    const ty_numbers *n = &c->numbers;
    const double width = n->most - n->least;
    for (uint64_t cell = 0; n->pages && cell < (uint64_t)PAGES * CELLS; cell++) {
        const ty_cell *page = n->pages[cell / CELLS];
        if (!page) {
            cell += CELLS - 1;
            continue;
        }
        if (!page[cell % CELLS].count)
            continue;
        double lo, hi;
        cell_ends(n, cell, &lo, &hi);
        const double part = width > 0 ? ((lo + hi) / 2 - n->least) / width : 0;
        const int to = part > 0 ? (int)(part * TY_SUMMARY_CELLS) : 0;
        c->cells[to < TY_SUMMARY_CELLS ? to : TY_SUMMARY_CELLS - 1] += page[cell % CELLS].count;
    }
}

void ty_numbers_finish(ty_summary_column *c)
{
    const ty_numbers *n = &c->numbers;
    const double count = (double)n->count;
    c->mean = c->deviation = c->quartiles[0] = c->quartiles[1] = c->quartiles[2] = NAN;
    if (!n->count)
        return;
    uint64_t ranks[3];
    for (int q = 0; q < 3; q++)
        ranks[q] = n->count / 4 * (unsigned)(q + 1) + (n->count % 4 * (unsigned)(q + 1) + 3) / 4;
    find_quartiles(c, ranks);
    if (n->infinite)
        return;
    fill_cells(c);
    const double sum = n->sum[0] + n->sum[1];
    c->mean = sum / count;
    if (n->count > 1) {
        const double away = c->mean - n->base;
        const double squares = n->squares[0] + n->squares[1] - count * away * away;
        c->deviation = sqrt(fmax(squares, 0) / (count - 1));
    }
}
