#include "cpu/cells.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"

enum { LEAST_CELLS = 64, MOST_CELLS = 1 << 16 };

static uint32_t cell_of(const ty_cells *c, double x)
{
    if (c->scale == TY_CELLS_LINEAR)
        return (uint32_t)(int32_t)((x - c->lo) * c->factor);
    return (ty_cells_bits(x) - c->first_bits) >> c->drop;
}

/* Chooses the factor or shift that gives about `wanted` cells; 0 if the range cannot be cut so. */
static int cut(ty_cells *c, const ty_axis *axis, uint32_t wanted)
{
    const ty_bins *b = &axis->bins;
    c->lo = b->lo;
    if (c->scale == TY_CELLS_LINEAR) {
        c->factor = (double)wanted / (b->hi - b->lo);
        if (!isfinite(c->factor) || !isfinite((b->hi - b->lo) * c->factor))
            return 0;
    } else {
        c->first_bits = ty_cells_bits(b->lo);
        uint32_t span = ty_cells_bits(b->hi) - c->first_bits;
        for (c->drop = 0; span >> c->drop >= wanted;)
            c->drop++;
    }
    c->count = cell_of(c, b->hi) + 1;
    return 1;
}

/* Most edges that share a cell; the first edge does not count, as no sample is below it. */
static uint32_t most_inside(const ty_cells *c, const ty_axis *axis)
{
    uint32_t most = 0, inside = 0, last = UINT32_MAX;
    for (uint32_t i = 1; i < axis->bins.bins; i++) {
        uint32_t cell = cell_of(c, axis->edges[i]);
        inside = cell == last ? inside + 1 : 1;
        last = cell;
        most = inside > most ? inside : most;
    }
    return most ? most : 1;
}

/* The fewest cells with the fewest steps, over both scales. */
static int choose(ty_cells *best, const ty_axis *axis)
{
    uint32_t bins = axis->bins.bins;
    best->steps = UINT32_MAX;
    for (uint32_t wanted = LEAST_CELLS; wanted <= MOST_CELLS && best->steps > 1; wanted *= 2) {
        if (wanted < bins)
            continue;
        for (int scale = TY_CELLS_LINEAR; scale <= TY_CELLS_BITS; scale++) {
            ty_cells c = {.scale = (ty_cells_scale)scale};
            if (!cut(&c, axis, wanted))
                continue;
            c.steps = most_inside(&c, axis);
            if (c.steps < best->steps)
                *best = c;
        }
    }
    return best->steps <= TY_CELLS_STEPS;
}

static int fill(ty_cells *c, const ty_axis *axis)
{
    const uint32_t bins = axis->bins.bins;
    /* A flow's slot, too, is followed by edges to compare with. */
    const size_t edges = (size_t)bins + TY_SLOT_EXTRA + TY_CELLS_STEPS + 1;
    c->first = ty_malloc(((size_t)c->count + 3) * sizeof *c->first);
    c->edges = ty_malloc(edges * sizeof *c->edges);
    if (!c->first || !c->edges)
        return 0;
    for (size_t i = 0; i < edges; i++)
        c->edges[i] = i < bins ? axis->edges[i] : NAN;
    uint32_t i = 1; /* the first edge in the cell or behind it */
    for (uint32_t cell = 0; cell < c->count; cell++) {
        while (i < bins && cell_of(c, axis->edges[i]) < cell)
            i++;
        c->first[cell] = i - 1;
    }
    c->first[c->count] = bins + TY_SLOT_UNDER;
    c->first[c->count + 1] = bins + TY_SLOT_OVER;
    c->first[c->count + 2] = bins + TY_SLOT_NAN;
    return 1;
}

tally_status ty_cells_make(const ty_axis *axis, ty_cells **cells, tally_error *error)
{
    ty_cells found;
    *cells = NULL;
    if (!axis->edges || axis->bins.bins > MOST_CELLS || !choose(&found, axis))
        return TALLY_OK;
    ty_cells *c = ty_malloc(sizeof *c);
    if (!c)
        return ty_error_memory(error, "a search index", sizeof *c);
    *c = found;
    c->first = NULL;
    c->edges = NULL;
    if (!fill(c, axis)) {
        ty_cells_free(c);
        return ty_error_memory(error, "a search index", (uint64_t)found.count * sizeof(uint32_t));
    }
    *cells = c;
    return TALLY_OK;
}

void ty_cells_free(ty_cells *cells)
{
    if (!cells)
        return;
    ty_free(cells->first);
    ty_free(cells->edges);
    ty_free(cells);
}
