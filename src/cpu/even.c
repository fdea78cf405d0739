#include "cpu/even.h"

#include <float.h>

int ty_even_serves(const ty_axis *axis)
{
    const ty_bins *b = &axis->bins;
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    return axis->even && b->bins <= UINT32_C(1) << 28 && b->width >= largest * 0x1p-46 &&
           b->inverse >= DBL_MIN;
}
