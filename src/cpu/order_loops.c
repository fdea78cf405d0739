/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of packed samples (order.h). */
#include "cpu/order.h"
#include "cpu/isa.h"

#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum { BUCKETS = TY_ORDER_SCRATCH / (sizeof(uint32_t) + 1) };

#define T                  int32_t
#define U                  uint32_t
#define NAME(f)            f##_32
#define ABOVE(k, lo)       _mm512_cmpgt_epi32_mask(k, _mm512_set1_epi32(lo))
#define BELOW(k, hi)       _mm512_cmplt_epi32_mask(k, _mm512_set1_epi32(hi))
#define BETWEEN(k, lo, hi) _mm512_mask_cmplt_epi32_mask(ABOVE(k, lo), k, _mm512_set1_epi32(hi))
#define COMPRESS(mask, k)  _mm512_maskz_compress_epi32((__mmask16)(mask), k)
#include "cpu/order_keys.h"

#define T                  int64_t
#define U                  uint64_t
#define NAME(f)            f##_64
#define ABOVE(k, lo)       _mm512_cmpgt_epi64_mask(k, _mm512_set1_epi64(lo))
#define BELOW(k, hi)       _mm512_cmplt_epi64_mask(k, _mm512_set1_epi64(hi))
#define BETWEEN(k, lo, hi) _mm512_mask_cmplt_epi64_mask(ABOVE(k, lo), k, _mm512_set1_epi64(hi))
#define COMPRESS(mask, k)  _mm512_maskz_compress_epi64((__mmask8)(mask), k)
#include "cpu/order_keys.h"

/* Samples at any address, of any declared type. */
#define ANY(type) __attribute__((may_alias, aligned(1))) type
typedef ANY(uint8_t) any_u8;
typedef ANY(int8_t) any_i8;
typedef ANY(uint16_t) any_u16;
typedef ANY(int16_t) any_i16;
typedef ANY(uint32_t) any_u32;
typedef ANY(int32_t) any_i32;
typedef ANY(uint64_t) any_u64;
typedef ANY(int64_t) any_i64;

/* Samples as they are, and unsigned ones of the keys' own width moved down. */
#define LOAD(KEY, SAMPLE, flip)                                                                    \
    {                                                                                              \
        KEY *to = keys;                                                                            \
        const SAMPLE *from = samples;                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            to[i] = (KEY)(from[i] ^ (flip));                                                       \
        return 0;                                                                                  \
    }

/* Floats: the bits after the sign order numbers by magnitude, so negative ones have them inverted.
 * `infinite`: the bits of infinity; what is above is NaN. */
#define LOAD_FLOAT(KEY, SAMPLE, infinite, largest)                                                 \
    {                                                                                              \
        KEY *to = keys;                                                                            \
        const SAMPLE *from = samples;                                                              \
        const KEY magnitude = (KEY)((UINT64_C(1) << (8 * sizeof(SAMPLE) - 1)) - 1);                \
        KEY nan = 0;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                       \
            const KEY bits = from[i], inverted = bits < 0 ? (KEY)(bits ^ magnitude) : bits;        \
            const int is_nan = (bits & magnitude) > (KEY)(infinite);                               \
            to[i] = is_nan ? (largest) : inverted;                                                 \
            nan += is_nan;                                                                         \
        }                                                                                          \
        return (size_t)nan;                                                                        \
    }

static size_t load(tally_dtype dtype, const void *samples, size_t count, void *keys)
{
    switch (dtype) {
    case TALLY_U8:
        LOAD(int32_t, any_u8, 0)
    case TALLY_I8:
        LOAD(int32_t, any_i8, 0)
    case TALLY_U16:
        LOAD(int32_t, any_u16, 0)
    case TALLY_I16:
        LOAD(int32_t, any_i16, 0)
    case TALLY_U32:
        LOAD(int32_t, any_u32, UINT32_C(1) << 31)
    case TALLY_I32:
        LOAD(int32_t, any_i32, 0)
    case TALLY_U64:
        LOAD(int64_t, any_u64, UINT64_C(1) << 63)
    case TALLY_I64:
        LOAD(int64_t, any_i64, 0)
    case TALLY_F16:
        LOAD_FLOAT(int32_t, any_i16, 0x7c00, INT32_MAX)
    case TALLY_BF16:
        LOAD_FLOAT(int32_t, any_i16, 0x7f80, INT32_MAX)
    case TALLY_F32:
        LOAD_FLOAT(int32_t, any_i32, 0x7f800000, INT32_MAX)
    default:
        LOAD_FLOAT(int64_t, any_i64, INT64_C(0x7ff0000000000000), INT64_MAX)
    }
}

static size_t pick(int wide, void *keys, const unsigned char *mask, size_t count)
{
    return wide ? pick_64(keys, mask, count) : pick_32(keys, mask, count);
}

static size_t scan(int wide, const void *keys, size_t count, ty_order_bracket *brackets,
                   unsigned bracket_count, void *to)
{
    return wide ? scan_64(keys, count, brackets, bracket_count, to)
                : scan_32(keys, count, brackets, bracket_count, to);
}

static void select_keys(int wide, void *keys, size_t count, const uint64_t *ranks,
                        unsigned rank_count, int64_t *found, void *scratch)
{
    uint64_t state = count;
    uint64_t *left = (uint64_t *)found; /* a rank is read before its key is written */
    memcpy(left, ranks, rank_count * sizeof *left);
    for (size_t before = 0; scratch && count != before;) {
        before = count;
        count = wide ? drop_64(keys, count, left, rank_count, scratch)
                     : drop_32(keys, count, left, rank_count, scratch);
    }
    if (wide)
        select_64(keys, count, 0, left, rank_count, found, &state);
    else
        select_32(keys, count, 0, left, rank_count, found, &state);
}

const ty_order_loops TY_ISA_TABLE(ty_order) = {load, pick, scan, select_keys};
