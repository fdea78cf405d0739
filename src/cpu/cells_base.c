/* The loops for any processor, and the choice among the tables. */
#define TY_CELLS_TABLE ty_cells_base
#include "cpu/cells_loops.h"

#include "cpu/features.h"

const ty_cells_loops *ty_cells_loops_get(void)
{
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        return &ty_cells_avx512;
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        return &ty_cells_avx2;
#endif
    return &ty_cells_base;
}
