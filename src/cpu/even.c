/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/even.h"

#include <float.h>

int ty_even_serves(const ty_axis *axis)
{
    const ty_bins *b = &axis->bins;
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    const int long_integers = axis->dtype == TALLY_I64 || axis->dtype == TALLY_U64;
    const int nearly = axis->edge_error > 0 && !long_integers && tally_dtype_bytes(axis->dtype) > 1;
    return (axis->even || nearly) && b->bins <= UINT32_C(1) << 28 &&
           b->width >= largest * 0x1p-46 && b->inverse >= DBL_MIN;
}
