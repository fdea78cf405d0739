/* The loops for any processor, and the choice among the tables. */
#define TY_JOIN_TABLE ty_join_base
#include "cpu/join_loops.h"

#include "cpu/features.h"

const ty_join_loops *ty_join_loops_get(void)
{
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        return &ty_join_avx512;
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        return &ty_join_avx2;
#endif
    return &ty_join_base;
}
