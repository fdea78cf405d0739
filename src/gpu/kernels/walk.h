/*
 * Every sample of a launch once, in loads of 16 bytes whatever the alignment and length: samples
 * before the first whole 16 bytes and behind the last one are counted one by one by the first
 * group. A kernel defines TY_EAT(sample), a statement, and writes TY_WALK(data, offset, n).
 */
#ifndef TY_WALK_H
#define TY_WALK_H

#include "gpu/kernels/sample.h"

#if defined(__OPENCL_VERSION__)
#define TY_DOUBLE_OF(low, high) as_double((ty_u64)(low) | (ty_u64)(high) << 32)
#else
#define TY_DOUBLE_OF(low, high) __hiloint2double((int)(high), (int)(low))
#endif

/* The samples of one word, or of two. */
#if TY_IS_BYTE
#define TY_EAT_WORD(w)                                                                             \
    TY_EAT((w)&0xffu);                                                                             \
    TY_EAT((w) >> 8 & 0xffu);                                                                      \
    TY_EAT((w) >> 16 & 0xffu);                                                                     \
    TY_EAT((w) >> 24)
#elif TY_IS_HALFWORD
#define TY_EAT_WORD(w)                                                                             \
    TY_EAT((ty_sample)((w)&0xffffu));                                                              \
    TY_EAT((ty_sample)((w) >> 16))
#elif TY_IS_FLOAT32
#define TY_EAT_WORD(w) TY_EAT(TY_AS_FLOAT(w))
#elif TY_IS_WHOLE32
#define TY_EAT_WORD(w) TY_EAT((ty_sample)(w))
#elif TY_IS_WHOLE64
#define TY_EAT_PAIR(v, w) TY_EAT((ty_sample)((ty_u64)(v) | (ty_u64)(w) << 32))
#else
#define TY_EAT_PAIR(v, w) TY_EAT(TY_DOUBLE_OF(v, w))
#endif

#if defined(TY_EAT_PAIR)
#define TY_EAT_QUAD(q)                                                                             \
    do {                                                                                           \
        TY_EAT_PAIR((q).x, (q).y);                                                                 \
        TY_EAT_PAIR((q).z, (q).w);                                                                 \
    } while (0)
#else
#define TY_EAT_QUAD(q)                                                                             \
    do {                                                                                           \
        TY_EAT_WORD((q).x);                                                                        \
        TY_EAT_WORD((q).y);                                                                        \
        TY_EAT_WORD((q).z);                                                                        \
        TY_EAT_WORD((q).w);                                                                        \
    } while (0)
#endif

/* Kernels that count cells define TY_COUNT_MARK(mark) and TY_EAT(x) as TY_LOOK(x). Where cells are
 * looked up in local memory (guide.h), a turn of four samples or eight looks before any of it is
 * counted: no compiler moves a look ahead of an update that might change what is read, and one at a
 * time a look is waited for. In device memory, longer: a turn of two loads. */
#define TY_OF_QUAD ((ty_u32)(16 / sizeof(ty_sample)))
#if TY_IN_STEPS
#define TY_TURN    1
#define TY_LOOK(x) looked_at[looks++] = (x)
#define TY_LOOKS_BEGIN                                                                             \
    ty_sample looked_at[TY_OF_QUAD];                                                               \
    ty_u32 looked[TY_OF_QUAD], looks = 0;
#define TY_LOOKS_END                                                                               \
    ty_marks_of(looked_at, looked, looks, &bins, &fast, where);                                    \
    TY_UNROLL                                                                                      \
    for (ty_u32 look = 0; look < looks; look++)                                                    \
        TY_COUNT_MARK(looked[look]);
#elif TY_EVEN >= 4
#define TY_TURN        (TY_OF_QUAD == 2 || TY_IN_MEMORY(TY_EVEN) ? 2 : 1)
#define TY_LOOK(x)     looked[looks++] = ty_mark_of(x, &bins, &fast, where)
#define TY_LOOKS_BEGIN ty_u32 looked[TY_TURN * TY_OF_QUAD], looks = 0;
#define TY_LOOKS_END                                                                               \
    TY_UNROLL                                                                                      \
    for (ty_u32 look = 0; look < looks; look++)                                                    \
        TY_COUNT_MARK(looked[look]);
#else
#define TY_TURN    1
#define TY_LOOK(x) TY_COUNT_MARK(ty_mark_of(x, &bins, &fast, where))
#define TY_LOOKS_BEGIN
#define TY_LOOKS_END
#endif

#if !TY_IS_BYTE
/* The marks (sample.h) of a load. */
#define TY_EAT(x) samples[each++] = (x)
TY_FN void ty_quad_marks(uint4 v, ty_u32 *marks, const ty_bins *b, const ty_decider *f,
                         TY_WHERE axis)
{
    ty_sample samples[16 / sizeof(ty_sample)];
    ty_u32 each = 0;
    TY_EAT_QUAD(v);
    ty_marks_of(samples, marks, each, b, f, axis);
}
#undef TY_EAT
#endif

/* Where the whole quads of a launch lie. */
typedef struct ty_span {
    TY_GLOBAL const ty_sample *first;
    TY_GLOBAL const uint4 *quads;
    ty_u32 head, tail; /* samples before and behind them */
    ty_u32 count;      /* quads: below 2^31, for a launch has at most 2^31 samples */
} ty_span;

TY_FN ty_span ty_span_of(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n)
{
    const ty_u32 each = 16 / sizeof(ty_sample);
    ty_span s;
    s.first = TY_SAMPLES(data, offset);
    s.head = (ty_u32)((0 - (ty_u64)s.first) & 15) / sizeof(ty_sample);
    if (s.head > n)
        s.head = (ty_u32)n;
    s.quads = (TY_GLOBAL const uint4 *)(s.first + s.head);
    s.count = (ty_u32)((n - s.head) / each);
    s.tail = (ty_u32)(n - s.head - (ty_u64)s.count * each);
    return s;
}

/* Sample j < head + tail of those outside the quads. */
TY_FN ty_sample ty_span_odd(ty_span s, ty_u32 j)
{
    const ty_u32 each = 16 / sizeof(ty_sample);
    return s.first[j < s.head ? j : (ty_u64)s.count * each + j];
}

/* How a quad of the turn is loaded. */
#define TY_QUAD(at) (*(at))

#if TY_RING && TY_EVEN < 4
/* So many loads on their way all the time, one asked for when one has come: where the counters
 * leave little first-level cache, eight loads of every work-item at once do not fit it, and all
 * warps wait together. */
#define TY_WALK_TURNS(span, q, step)                                                               \
    if (q + (TY_RING - 1) * step < span.count) {                                                   \
        uint4 v[TY_RING];                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_RING; k++)                                                       \
            v[k] = TY_PINNED(&span.quads[q + k * step]);                                           \
        for (; q + (2 * TY_RING - 1) * step < span.count; q += TY_RING * step) {                   \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_RING; k++) {                                                 \
                uint4 now = v[k];                                                                  \
                v[k] = TY_PINNED(&span.quads[q + (TY_RING + k) * step]);                           \
                TY_PIN(k, pass);                                                                   \
                TY_EAT_QUAD(now);                                                                  \
            }                                                                                      \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_RING; k++)                                                       \
            TY_EAT_QUAD(v[k]);                                                                     \
        q += TY_RING * step;                                                                       \
    }
/* Asks the second-level cache for the first loads of a warp, a line a lane, while counters are
 * cleared. */
#define TY_WALK_SOON(data, offset, n)                                                              \
    do {                                                                                           \
        ty_span span = ty_span_of(data, offset, n);                                                \
        ty_u32 k = TY_LID % 32 / 4, line = TY_LID % 4 * 8;                                         \
        ty_u32 at = (TY_GROUP + k * TY_GROUPS) * TY_GROUP_MAX + (TY_LID & ~31u) + line;            \
        if (k < TY_RING && at < span.count)                                                        \
            TY_PREFETCH(&span.quads[at]);                                                          \
    } while (0)
#else
#define TY_WALK_SOON(data, offset, n)

/* Whole warps take turns together, for TY_LOADED. */
#define TY_WALK_TURNS(span, q, step)                                                               \
    for (; (q | 31) + (TY_AHEAD - 1) * step < span.count; q += TY_AHEAD * step) {                  \
        uint4 v[TY_AHEAD];                                                                         \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k++)                                                      \
            v[k] = TY_QUAD(&span.quads[q + k * step]);                                             \
        TY_LOADED();                                                                               \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k += TY_TURN) {                                           \
            TY_LOOKS_BEGIN                                                                         \
            TY_UNROLL                                                                              \
            for (ty_u32 j = k; j < k + TY_TURN && j < TY_AHEAD; j++)                               \
                TY_EAT_QUAD(v[j]);                                                                 \
            TY_LOOKS_END                                                                           \
        }                                                                                          \
    }
#endif

#define TY_WALK(data, offset, n)                                                                   \
    do {                                                                                           \
        ty_span span = ty_span_of(data, offset, n);                                                \
        ty_u32 step = TY_GROUPS * TY_GROUP_MAX, q = TY_GROUP * TY_GROUP_MAX + TY_LID;              \
        TY_WALK_TURNS(span, q, step)                                                               \
        for (; q < span.count; q += step) {                                                        \
            uint4 v = span.quads[q];                                                               \
            TY_LOOKS_BEGIN                                                                         \
            TY_EAT_QUAD(v);                                                                        \
            TY_LOOKS_END                                                                           \
        }                                                                                          \
        if (TY_GROUP == 0 && TY_LID < span.head + span.tail) {                                     \
            TY_LOOKS_BEGIN                                                                         \
            TY_EAT(ty_span_odd(span, TY_LID));                                                     \
            TY_LOOKS_END                                                                           \
        }                                                                                          \
    } while (0)

#endif
