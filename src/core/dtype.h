/* SPDX-License-Identifier: Apache-2.0 */
/* Sample types: sizes, names, and exact decoding of the 16-bit floats. */
#ifndef TY_DTYPE_H
#define TY_DTYPE_H

#include <stdint.h>
#include <string.h>
#include <tally/tally.h>

static inline float ty_bf16_decode(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

/* IEEE binary16, exactly: subnormals, infinities and NaN included. */
static inline float ty_f16_decode(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = (uint32_t)(bits & 0x7fffu) << 13, wide;
    float x;
    if (rest >= 0x0f800000u) { /* infinity, NaN */
        wide = sign | 0x70000000u | rest;
        memcpy(&x, &wide, sizeof x);
        return x;
    }
    /* Move the value 112 binades up by a multiplication, which also normalises subnormals. */
    wide = sign | rest;
    memcpy(&x, &wide, sizeof x);
    return x * 0x1p112f;
}

/* A sample as a number, from its bits in the low end of `bits`; 64-bit integers are rounded. */
static inline double ty_dtype_value(tally_dtype dtype, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;
    switch (dtype) {
    case TALLY_I8:
        return (int8_t)bits;
    case TALLY_I16:
        return (int16_t)bits;
    case TALLY_I32:
        return (int32_t)bits;
    case TALLY_I64:
        return (double)(int64_t)bits;
    case TALLY_F16:
        return (double)ty_f16_decode((uint16_t)bits);
    case TALLY_BF16:
        return (double)ty_bf16_decode((uint16_t)bits);
    case TALLY_F32:
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    case TALLY_F64:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    default: /* unsigned */
        return (double)bits;
    }
}

static inline int ty_dtype_is_float(tally_dtype dtype)
{
    return dtype >= TALLY_F16 && dtype <= TALLY_F64;
}

#endif
