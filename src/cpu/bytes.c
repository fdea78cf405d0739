#include "cpu/bytes_tables.h"

TY_TABLES_DEFINE(portable)

const ty_bytes_variant ty_bytes_variants[] = {
#if defined(__x86_64__)
    {"avx512", TY_CPU_LEVEL_AVX512, ty_bytes_avx512, &ty_bytes_stream_avx512},
    {"avx2", TY_CPU_LEVEL_AVX2, ty_bytes_avx2, &ty_bytes_stream_avx2},
#endif
    {"portable", 0, ty_bytes_portable, &ty_bytes_stream_portable},
};
const size_t ty_bytes_variant_count = sizeof ty_bytes_variants / sizeof *ty_bytes_variants;

const ty_bytes_variant *ty_bytes_choose(uint32_t features)
{
    const ty_bytes_variant *variant = ty_bytes_variants;
    while ((features & variant->features) != variant->features)
        variant++;
    return variant;
}

size_t ty_bytes_state_bytes(void)
{
    size_t most = 0;
    for (size_t i = 0; i < ty_bytes_variant_count; i++)
        if (ty_bytes_variants[i].stream->state_bytes > most)
            most = ty_bytes_variants[i].stream->state_bytes;
    return most;
}
