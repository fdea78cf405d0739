/* Which table of loops this processor runs fastest. */
#include "cpu/buckets.h"
#include "cpu/even.h"
#include "cpu/features.h"
#include "cpu/join.h"
#include "cpu/pack.h"
#include "cpu/stats.h"

#if defined(__x86_64__)
#define BEST(name)                                                                                 \
    uint32_t features = ty_cpu_features();                                                         \
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)                                   \
        return &ty_##name##_avx512;                                                                \
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)                                       \
        return &ty_##name##_avx2;                                                                  \
    return &ty_##name##_base
#else
#define BEST(name) return &ty_##name##_base
#endif

const ty_buckets_loops *ty_buckets_loops_get(void)
{
    BEST(buckets);
}

const ty_even_loops *ty_even_loops_get(void)
{
    BEST(even);
}

const ty_join_loops *ty_join_loops_get(void)
{
    BEST(join);
}

const ty_pack_loops *ty_pack_loops_get(void)
{
    BEST(pack);
}

const ty_stats_loops *ty_stats_loops_get(void)
{
    BEST(stats);
}
