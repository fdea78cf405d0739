/* The loops for any processor, and the choice among the tables. */
#define TY_STATS_TABLE ty_stats_base
#include "cpu/stats_loops.h"

#include "cpu/features.h"

const ty_stats_loops *ty_stats_loops_get(void)
{
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        return &ty_stats_avx512;
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        return &ty_stats_avx2;
#endif
    return &ty_stats_base;
}
