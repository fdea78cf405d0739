/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of packed samples (stats.h).
 *
 * Extremes are found among integer keys that are ordered as the samples are (cpu/stats_keys.h),
 * which vectorises without any licence to reorder floating point and finds NaN and infinities at
 * the ends.
 */
#include "cpu/stats.h"
#include "cpu/isa.h"

#include <stdint.h>
#include <string.h>

#include "core/dtype.h"

#define T       uint8_t
#define U       uint8_t
#define KIND    0
#define NAME(f) f##_u8
#include "cpu/stats_keys.h"

#define T       int8_t
#define U       uint8_t
#define KIND    0
#define NAME(f) f##_i8
#include "cpu/stats_keys.h"

#define T       uint16_t
#define U       uint16_t
#define KIND    0
#define NAME(f) f##_u16
#include "cpu/stats_keys.h"

#define T       int16_t
#define U       uint16_t
#define KIND    0
#define NAME(f) f##_i16
#include "cpu/stats_keys.h"

#define T       uint32_t
#define U       uint32_t
#define KIND    0
#define NAME(f) f##_u32
#include "cpu/stats_keys.h"

#define T       int32_t
#define U       uint32_t
#define KIND    0
#define NAME(f) f##_i32
#include "cpu/stats_keys.h"

#define T       int64_t
#define U       uint64_t
#define KIND    0
#define NAME(f) f##_i64
#include "cpu/stats_keys.h"

/* u64 as signed keys: the instruction sets compare those more cheaply. */
#define T       int64_t
#define U       uint64_t
#define KIND    1
#define NAME(f) f##_u64
#include "cpu/stats_keys.h"

#define T        int16_t
#define U        uint16_t
#define KIND     2
#define INFINITE 0x7c00
#define NAME(f)  f##_f16
#include "cpu/stats_keys.h"

#define T        int16_t
#define U        uint16_t
#define KIND     2
#define INFINITE 0x7f80
#define NAME(f)  f##_bf16
#include "cpu/stats_keys.h"

#define T        int32_t
#define U        uint32_t
#define KIND     2
#define INFINITE 0x7f800000
#define NAME(f)  f##_f32
#include "cpu/stats_keys.h"

#define T        int64_t
#define U        uint64_t
#define KIND     2
#define INFINITE 0x7ff0000000000000
#define NAME(f)  f##_f64
#include "cpu/stats_keys.h"

static void integers(tally_stats *s, size_t count, int64_t lo, int64_t hi)
{
    s->samples = s->finite = count;
    s->min_integer = lo;
    s->max_integer = hi;
    s->min = (double)lo;
    s->max = (double)hi;
}

/* `found`: the keys' extremes in lo and hi, decoded; + 0.0 turns -0 into +0. */
#define FLOATS(suffix, type, decode)                                                               \
    do {                                                                                           \
        floats_##suffix(samples, count, s, &lo, &hi);                                              \
        if (s->finite) {                                                                           \
            s->min = decode((type)lo) + 0.0;                                                       \
            s->max = decode((type)hi) + 0.0;                                                       \
        }                                                                                          \
    } while (0)

static inline double decode_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static inline double decode_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define INTEGERS(suffix)                                                                           \
    do {                                                                                           \
        range_##suffix(samples, count, &lo, &hi);                                                  \
        integers(s, count, lo, hi);                                                                \
    } while (0)

static void extremes(tally_dtype dtype, const void *samples, size_t count, tally_stats *s)
{
    int64_t lo, hi;
    s->finite = s->nan = s->minus_inf = s->plus_inf = 0;
    s->min = s->max = 0;
    s->min_integer = s->max_integer = 0;
    s->samples = count;
    switch (dtype) {
    case TALLY_U8:
        INTEGERS(u8);
        break;
    case TALLY_I8:
        INTEGERS(i8);
        break;
    case TALLY_U16:
        INTEGERS(u16);
        break;
    case TALLY_I16:
        INTEGERS(i16);
        break;
    case TALLY_U32:
        INTEGERS(u32);
        break;
    case TALLY_I32:
        INTEGERS(i32);
        break;
    case TALLY_I64:
        INTEGERS(i64);
        break;
    case TALLY_U64:
        INTEGERS(u64);
        s->min = (double)(uint64_t)lo;
        s->max = (double)(uint64_t)hi;
        break;
    case TALLY_F16:
        FLOATS(f16, uint16_t, (double)ty_f16_decode);
        break;
    case TALLY_BF16:
        FLOATS(bf16, uint16_t, (double)ty_bf16_decode);
        break;
    case TALLY_F32:
        FLOATS(f32, uint32_t, decode_f32);
        break;
    case TALLY_F64:
        FLOATS(f64, uint64_t, decode_f64);
        break;
    }
}

#define DECODE(expression)                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
    values[i] = (double)(expression)

static void decode(tally_dtype dtype, const void *samples, size_t count, double *values)
{
    switch (dtype) {
    case TALLY_U8:
        DECODE(((const any_u8 *)samples)[i]);
        break;
    case TALLY_I8:
        DECODE((int8_t)((const any_i8 *)samples)[i]);
        break;
    case TALLY_U16:
        DECODE(((const any_u16 *)samples)[i]);
        break;
    case TALLY_I16:
        DECODE((int16_t)((const any_i16 *)samples)[i]);
        break;
    case TALLY_U32:
        DECODE(((const any_u32 *)samples)[i]);
        break;
    case TALLY_I32:
        DECODE((int32_t)((const any_i32 *)samples)[i]);
        break;
    case TALLY_U64:
        DECODE(((const any_u64 *)samples)[i]);
        break;
    case TALLY_I64:
        DECODE((int64_t)((const any_i64 *)samples)[i]);
        break;
    case TALLY_F16:
        DECODE(ty_f16_decode(((const any_f16 *)samples)[i]));
        break;
    case TALLY_BF16:
        DECODE(ty_bf16_decode(((const any_bf16 *)samples)[i]));
        break;
    case TALLY_F32:
        DECODE(decode_f32(((const any_f32 *)samples)[i]));
        break;
    case TALLY_F64:
        memcpy(values, samples, count * sizeof *values);
        break;
    }
}

/* Sixteen partial sums, sample i into sum i modulo 16, in vectors as wide as the instruction set's.
 */
#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define VECTORS (16 / WIDTH)
typedef double lanes __attribute__((vector_size(8 * WIDTH)));

/* Adds the sixteen sums up, in one order whatever the width. */
static inline double fold(const lanes *sums)
{
    double s[16];
    memcpy(s, sums, sizeof s);
    for (int step = 8; step; step /= 2) {
        for (int i = 0; i < step; i++)
            s[i] += s[i + step];
    }
    return s[0];
}

static double sum(const double *x, size_t count)
{
    lanes sums[VECTORS] = {{0}};
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int k = 0; k < VECTORS; k++) {
            lanes v;
            memcpy(&v, x + i + WIDTH * k, sizeof v);
            sums[k] += v;
        }
    }
    double rest = 0;
    for (; i < count; i++)
        rest += x[i];
    return fold(sums) + rest;
}

/* Two passes over the block in the nearest cache; then the mean's own rounding error is taken out.
 */
static void moments(const double *x, size_t count, tally_stats *stats)
{
    double n = (double)count, mean = sum(x, count) / n;
    lanes one[VECTORS] = {{0}}, two[VECTORS] = {{0}}, three[VECTORS] = {{0}};
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int k = 0; k < VECTORS; k++) {
            lanes d;
            memcpy(&d, x + i + WIDTH * k, sizeof d);
            d -= mean;
            lanes square = d * d;
            one[k] += d;
            two[k] += square;
            three[k] += square * d;
        }
    }
    double rest[3] = {0, 0, 0};
    for (; i < count; i++) {
        double d = x[i] - mean;
        rest[0] += d;
        rest[1] += d * d;
        rest[2] += d * d * d;
    }
    double shift = (fold(one) + rest[0]) / n;
    double s2 = fold(two) + rest[1], s3 = fold(three) + rest[2];
    stats->mean = mean + shift;
    stats->m2 = s2 - n * shift * shift;
    stats->m3 = s3 - 3 * shift * s2 + 2 * n * shift * shift * shift;
    if (stats->m2 < 0)
        stats->m2 = 0;
}

const ty_stats_loops TY_ISA_TABLE(ty_stats) = {extremes, decode, moments};
