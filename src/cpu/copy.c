/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/copy.h"

#include <stdint.h>
#include <string.h>

#include "cpu/features.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static void copy_lines(unsigned char *to, const unsigned char *from, size_t lines)
{
    for (size_t i = 0; i < lines; i++, to += TY_COPY_LINE, from += TY_COPY_LINE) {
        _mm_prefetch((const char *)from + TY_COPY_AHEAD, _MM_HINT_T1);
        for (int k = 0; k < TY_COPY_LINE; k += 16)
            _mm_stream_si128((__m128i *)(void *)(to + k),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
    }
    _mm_sfence();
}

void ty_copy_past(void *to, const void *from, size_t bytes)
{
    const uint32_t level = TY_CPU_LEVEL_AVX512;
    const size_t whole = (uintptr_t)to % TY_COPY_LINE ? 0 : bytes - bytes % TY_COPY_LINE;
    if (whole && (ty_cpu_features() & level) == level)
        ty_copy_past_avx512(to, from, whole);
    else
        copy_lines(to, from, whole / TY_COPY_LINE);
    memcpy((unsigned char *)to + whole, (const unsigned char *)from + whole, bytes - whole);
}
#else
void ty_copy_past(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
