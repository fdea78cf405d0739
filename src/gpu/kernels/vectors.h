/*
 * Samples in loads of 16 bytes: what is in one, and where the whole ones of a launch lie.
 */
#ifndef TY_VECTORS_H
#define TY_VECTORS_H

#include "gpu/kernels/sample.h"

#define TY_VECTOR_SAMPLES ((ty_u32)(16 / sizeof(ty_sample)))

/* F(a, b, c, sample) for each sample of a load, by a function F. One after the other and not in a
 * loop, which compilers unroll, or do not, as they see fit. */
#if TY_IS_BYTE
#define TY_EACH_OF_WORD(w, F, a, b, c)                                                             \
    F(a, b, c, (ty_sample)((w)&0xffu));                                                            \
    F(a, b, c, (ty_sample)((w) >> 8 & 0xffu));                                                     \
    F(a, b, c, (ty_sample)((w) >> 16 & 0xffu));                                                    \
    F(a, b, c, (ty_sample)((w) >> 24))
#elif TY_IS_HALFWORD
#define TY_EACH_OF_WORD(w, F, a, b, c)                                                             \
    F(a, b, c, (ty_sample)((w)&0xffffu));                                                          \
    F(a, b, c, (ty_sample)((w) >> 16))
#elif TY_IS_FLOAT32
#define TY_EACH_OF_WORD(w, F, a, b, c) F(a, b, c, TY_AS_FLOAT(w))
#elif TY_IS_WHOLE32
#define TY_EACH_OF_WORD(w, F, a, b, c) F(a, b, c, (ty_sample)(w))
#elif TY_IS_WHOLE64
#define TY_SAMPLE_OF_PAIR(low, high) ((ty_sample)((ty_u64)(low) | (ty_u64)(high) << 32))
#elif defined(__OPENCL_VERSION__)
#define TY_SAMPLE_OF_PAIR(low, high) as_double((ty_u64)(low) | (ty_u64)(high) << 32)
#else
#define TY_SAMPLE_OF_PAIR(low, high) __hiloint2double((int)(high), (int)(low))
#endif

#if defined(TY_SAMPLE_OF_PAIR)
#define TY_EACH_SAMPLE(v, F, a, b, c)                                                              \
    do {                                                                                           \
        F(a, b, c, TY_SAMPLE_OF_PAIR((v).x, (v).y));                                               \
        F(a, b, c, TY_SAMPLE_OF_PAIR((v).z, (v).w));                                               \
    } while (0)
#else
#define TY_EACH_SAMPLE(v, F, a, b, c)                                                              \
    do {                                                                                           \
        TY_EACH_OF_WORD((v).x, F, a, b, c);                                                        \
        TY_EACH_OF_WORD((v).y, F, a, b, c);                                                        \
        TY_EACH_OF_WORD((v).z, F, a, b, c);                                                        \
        TY_EACH_OF_WORD((v).w, F, a, b, c);                                                        \
    } while (0)
#endif

#if !TY_IS_BYTE
TY_FN void ty_append(const ty_sample *unused, ty_sample *samples, ty_u32 *count, ty_sample x)
{
    (void)unused;
    samples[(*count)++] = x;
}

/* The biased cells (sample.h) of a load. */
TY_FN void ty_vector_cells(uint4 v, ty_u32 *cells, const ty_bins *b, const ty_decider *f,
                           TY_WHERE axis)
{
    ty_sample samples[16 / sizeof(ty_sample)];
    ty_u32 count = 0;
    TY_EACH_SAMPLE(v, ty_append, samples, samples, &count);
    ty_biased_cells_of(samples, cells, count, b, f, axis);
}
#endif

/* Where the whole vectors of 16 bytes of a launch lie. */
typedef struct ty_span {
    TY_GLOBAL const ty_sample *first;
    TY_GLOBAL const uint4 *vectors;
    ty_u32 head, tail; /* samples before and behind them */
    ty_u32 count;      /* vectors: below 2^31, for a launch has at most 2^31 samples */
} ty_span;

TY_FN ty_span ty_span_of(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n)
{
    const ty_u32 each = 16 / sizeof(ty_sample);
    ty_span s;
    s.first = TY_SAMPLES(data, offset);
    s.head = (ty_u32)((0 - (ty_u64)s.first) & 15) / sizeof(ty_sample);
    if (s.head > n)
        s.head = (ty_u32)n;
    s.vectors = (TY_GLOBAL const uint4 *)(s.first + s.head);
    s.count = (ty_u32)((n - s.head) / each);
    s.tail = (ty_u32)(n - s.head - (ty_u64)s.count * each);
    return s;
}

/* Sample j < head + tail of those outside the vectors. */
TY_FN ty_sample ty_span_odd(ty_span s, ty_u32 j)
{
    const ty_u32 each = 16 / sizeof(ty_sample);
    return s.first[j < s.head ? j : (ty_u64)s.count * each + j];
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
