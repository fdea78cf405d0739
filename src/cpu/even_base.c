/* The loops for any processor, and the choice among the tables. */
#define TY_EVEN_TABLE ty_even_base
#include "cpu/even_loops.h"

#include <float.h>

#include "cpu/features.h"

const ty_even_loops *ty_even_loops_get(void)
{
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        return &ty_even_avx512;
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        return &ty_even_avx2;
#endif
    return &ty_even_base;
}

int ty_even_serves(const ty_axis *axis)
{
    const ty_bins *b = &axis->bins;
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    return axis->even && b->bins <= UINT32_C(1) << 28 && b->width >= largest * 0x1p-46 &&
           b->inverse >= DBL_MIN;
}
