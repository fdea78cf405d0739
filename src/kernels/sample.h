/* What every counting kernel takes, and how a sample becomes a slot. TY_DTYPE is the dtype's
 * number, TY_EVEN says whether slots are found by arithmetic (else by the table of edges). */
#ifndef TY_SAMPLE_H
#define TY_SAMPLE_H

#include "bin.h"

/* n samples from byte `offset` of `data`; `axis` is ty_bins, then at byte 64 the table (one-byte
 * dtypes: 256 slots; else the edges); `slots` is bins + TY_SLOT_EXTRA. */
#define TY_COUNT_ARGS                                                                              \
    TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL const ty_u8 *axis,             \
        ty_u32 slots, TY_GLOBAL ty_u32 *out, ty_u32 pass

#if TY_DTYPE == 1 || TY_DTYPE == 2
typedef ty_u8 ty_sample;
#elif TY_DTYPE == 3 || TY_DTYPE == 9 || TY_DTYPE == 10
typedef ty_u16 ty_sample;
#elif TY_DTYPE == 4
typedef ty_i16 ty_sample;
#elif TY_DTYPE == 5
typedef ty_u32 ty_sample;
#elif TY_DTYPE == 6
typedef ty_i32 ty_sample;
#elif TY_DTYPE == 7
typedef ty_u64 ty_sample;
#elif TY_DTYPE == 8
typedef ty_i64 ty_sample;
#elif TY_DTYPE == 11
typedef float ty_sample;
#else
typedef double ty_sample;
#endif

#if TY_DTYPE == 9
/* IEEE binary16: the value moved up 112 binades by a multiplication, which normalises subnormals.
 */
TY_FN double ty_value(ty_sample bits)
{
    ty_u32 sign = (ty_u32)(bits & 0x8000u) << 16, rest = (ty_u32)(bits & 0x7fffu) << 13;
    if (rest >= 0x0f800000u)
        return (double)TY_AS_FLOAT(sign | 0x70000000u | rest);
    return (double)TY_AS_FLOAT(sign | rest) * 0x1p112;
}
#elif TY_DTYPE == 10
TY_FN double ty_value(ty_sample bits)
{
    return (double)TY_AS_FLOAT((ty_u32)bits << 16);
}
#elif TY_DTYPE > 2 && TY_DTYPE != 7 && TY_DTYPE != 8
TY_FN double ty_value(ty_sample x)
{
    return (double)x;
}
#endif

/* The slot of one sample. */
TY_FN ty_u32 ty_slot_of(ty_sample x, TY_GLOBAL const ty_u8 *axis)
{
#if TY_DTYPE == 1 || TY_DTYPE == 2
    return ((TY_GLOBAL const ty_u32 *)(axis + 64))[x];
#else
    ty_bins b = *(TY_GLOBAL const ty_bins *)axis;
    TY_GLOBAL const double *edges = (TY_GLOBAL const double *)(axis + 64);
#if TY_DTYPE == 7
    return TY_EVEN ? ty_slot_even_u64(x, &b) : ty_slot_edges_u64(x, &b, edges);
#elif TY_DTYPE == 8
    return TY_EVEN ? ty_slot_even_i64(x, &b) : ty_slot_edges_i64(x, &b, edges);
#else
    return TY_EVEN ? ty_slot_even(ty_value(x), &b) : ty_slot_edges(ty_value(x), &b, edges);
#endif
#endif
}

#define TY_SAMPLES(data, offset) ((TY_GLOBAL const ty_sample *)((data) + (offset)))

#endif
