/* SPDX-License-Identifier: Apache-2.0 */
#include <immintrin.h>

#include "cpu/copy.h"

/* Whole lines, to a line's begin. */
void ty_copy_past_avx512(void *to, const void *from, size_t bytes)
{
    unsigned char *at = to;
    const unsigned char *with = from;
    for (size_t i = 0; i < bytes; i += TY_COPY_LINE) {
        _mm_prefetch((const char *)with + i + TY_COPY_AHEAD, _MM_HINT_T1);
        _mm512_stream_si512((__m512i *)(void *)(at + i), _mm512_loadu_si512(with + i));
    }
    _mm_sfence();
}
