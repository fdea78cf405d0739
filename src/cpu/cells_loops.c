/* Slots of samples on uneven axes (cells.h). */
#include "cpu/cells.h"
#include "cpu/isa.h"
#include "cpu/simd.h"

/* Samples whose cells are found together; bytes that samples are asked for ahead of their use. */
enum { BLOCK = 64, AHEAD = 8192 };

typedef struct consts {
    f64x lo, end, factor;
    u32h under, over, nan;
    const uint32_t *first;
    const double *edges;
    uint32_t steps, first_bits, drop;
    ty_cells_scale scale;
} consts;

static consts consts_of(const ty_axis *axis)
{
    const ty_cells *cells = axis->cells;
    const ty_bins *b = &axis->bins;
    consts c;
    c.lo = f64x_fill(b->lo);
    c.end = f64x_fill(b->closed ? nextafter(b->hi, INFINITY) : b->hi);
    c.factor = f64x_fill(cells->factor);
    c.under = u32h_fill(cells->count);
    c.over = u32h_fill(cells->count + 1);
    c.nan = u32h_fill(cells->count + 2);
    c.first = cells->first;
    c.edges = cells->edges;
    c.steps = cells->steps;
    c.first_bits = cells->first_bits;
    c.drop = cells->drop;
    c.scale = cells->scale;
    return c;
}

INLINE u32h cell_of(f64x x, const consts *c, ty_cells_scale scale)
{
    u32h cell;
    if (scale == TY_CELLS_LINEAR) {
        cell = f64x_truncate_i32(f64x_mul(f64x_sub(x, c->lo), c->factor));
    } else {
        u32h high = f64x_high_u32(f64x_add(x, f64x_fill(0.0)));
        u32h flip = u32h_and(u32h_sign_mask(high), u32h_fill(INT32_MAX));
        cell = u32h_sub(u32h_xor(high, flip), u32h_fill(c->first_bits));
        cell = u32h_shift_right(cell, c->drop);
    }
    cell = u32h_select(f64x_below(x, c->end), cell, c->over);
    cell = u32h_select(f64x_below(x, c->lo), c->under, cell);
    return u32h_select(f64x_equal(x, x), cell, c->nan);
}

/* The slot of a sample in `cell`: it is past those of the next edges that are not above it. */
INLINE uint32_t slot_of(double x, uint32_t cell, const consts *c, uint32_t steps)
{
    uint32_t slot = c->first[cell];
    const double *edges = c->edges + slot + 1;
    for (uint32_t i = 0; i < steps; i++)
        slot += x >= edges[i];
    return slot;
}

#define DTYPE u32
#define TYPE  uint32_t
#include "cpu/cells_dtype.h"

#define DTYPE i32
#define TYPE  int32_t
#include "cpu/cells_dtype.h"

#define DTYPE f32
#define TYPE  float
#include "cpu/cells_dtype.h"

#define DTYPE f64
#define TYPE  double
#include "cpu/cells_dtype.h"

const ty_cells_loops TY_ISA_TABLE(ty_cells) = {{
    [TALLY_U32] = slots_u32,
    [TALLY_I32] = slots_i32,
    [TALLY_F32] = slots_f32,
    [TALLY_F64] = slots_f64,
}};
