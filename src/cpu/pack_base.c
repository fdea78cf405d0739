/* The loops for any processor, and the choice among the tables. */
#define TY_PACK_TABLE ty_pack_base
#include "cpu/pack_loops.h"

#include "cpu/features.h"

const ty_pack_loops *ty_pack_loops_get(void)
{
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        return &ty_pack_avx512;
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        return &ty_pack_avx2;
#endif
    return &ty_pack_base;
}
