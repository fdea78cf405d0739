/*
 * Every sample of a launch once, in loads of 16 bytes whatever the alignment and length: samples
 * before the first whole 16 bytes and behind the last one are counted one by one by the first
 * group. A kernel defines TY_CONSUME(sample), a statement, and writes TY_WALK(data, offset, n).
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
#define TY_CONSUME_WORD(w)                                                                         \
    TY_CONSUME((w)&0xffu);                                                                         \
    TY_CONSUME((w) >> 8 & 0xffu);                                                                  \
    TY_CONSUME((w) >> 16 & 0xffu);                                                                 \
    TY_CONSUME((w) >> 24)
#elif TY_IS_HALFWORD
#define TY_CONSUME_WORD(w)                                                                         \
    TY_CONSUME((ty_sample)((w)&0xffffu));                                                          \
    TY_CONSUME((ty_sample)((w) >> 16))
#elif TY_IS_FLOAT32
#define TY_CONSUME_WORD(w) TY_CONSUME(TY_AS_FLOAT(w))
#elif TY_IS_WHOLE32
#define TY_CONSUME_WORD(w) TY_CONSUME((ty_sample)(w))
#elif TY_IS_WHOLE64
#define TY_CONSUME_PAIR(v, w) TY_CONSUME((ty_sample)((ty_u64)(v) | (ty_u64)(w) << 32))
#else
#define TY_CONSUME_PAIR(v, w) TY_CONSUME(TY_DOUBLE_OF(v, w))
#endif

#if defined(TY_CONSUME_PAIR)
#define TY_CONSUME_VECTOR(q)                                                                       \
    do {                                                                                           \
        TY_CONSUME_PAIR((q).x, (q).y);                                                             \
        TY_CONSUME_PAIR((q).z, (q).w);                                                             \
    } while (0)
#else
#define TY_CONSUME_VECTOR(q)                                                                       \
    do {                                                                                           \
        TY_CONSUME_WORD((q).x);                                                                    \
        TY_CONSUME_WORD((q).y);                                                                    \
        TY_CONSUME_WORD((q).z);                                                                    \
        TY_CONSUME_WORD((q).w);                                                                    \
    } while (0)
#endif

/* Kernels that count cells define TY_COUNT_BIASED(cell), of biased cells, and TY_CONSUME(x) as
 * TY_CLASSIFY(x). Where cells are looked up in local memory (cell_lookup.h), all samples of a turn,
 * four or eight, are classified before any is counted: no compiler moves a read ahead of an update
 * that might change what is read, and one read at a time is waited for. In global memory that takes
 * longer: a turn of two loads. */
#define TY_VECTOR_SAMPLES ((ty_u32)(16 / sizeof(ty_sample)))
#if TY_IN_STEPS
#define TY_TURN        1
#define TY_CLASSIFY(x) pending[classified++] = (x)
#define TY_CLASSIFY_BEGIN                                                                          \
    ty_sample pending[TY_VECTOR_SAMPLES];                                                          \
    ty_u32 cells_of[TY_VECTOR_SAMPLES], classified = 0;
#define TY_CLASSIFY_END                                                                            \
    ty_biased_cells_of(pending, cells_of, classified, &bins, &fast, where);                        \
    TY_UNROLL                                                                                      \
    for (ty_u32 next = 0; next < classified; next++)                                               \
        TY_COUNT_BIASED(cells_of[next]);
#elif TY_EVEN >= 4
#define TY_TURN           (TY_VECTOR_SAMPLES == 2 || TY_IS_GLOBAL_LOOKUP(TY_EVEN) ? 2 : 1)
#define TY_CLASSIFY(x)    cells_of[classified++] = ty_biased_cell_of(x, &bins, &fast, where)
#define TY_CLASSIFY_BEGIN ty_u32 cells_of[TY_TURN * TY_VECTOR_SAMPLES], classified = 0;
#define TY_CLASSIFY_END                                                                            \
    TY_UNROLL                                                                                      \
    for (ty_u32 next = 0; next < classified; next++)                                               \
        TY_COUNT_BIASED(cells_of[next]);
#else
#define TY_TURN        1
#define TY_CLASSIFY(x) TY_COUNT_BIASED(ty_biased_cell_of(x, &bins, &fast, where))
#define TY_CLASSIFY_BEGIN
#define TY_CLASSIFY_END
#endif

#if !TY_IS_BYTE
/* The biased cells (sample.h) of a load. */
#define TY_CONSUME(x) samples[each++] = (x)
TY_FN void ty_vector_cells(uint4 v, ty_u32 *cells, const ty_bins *b, const ty_decider *f,
                           TY_WHERE axis)
{
    ty_sample samples[16 / sizeof(ty_sample)];
    ty_u32 each = 0;
    TY_CONSUME_VECTOR(v);
    ty_biased_cells_of(samples, cells, each, b, f, axis);
}
#undef TY_CONSUME
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

/* How a vector of the turn is loaded. */
#define TY_LOAD_VECTOR(at) (*(at))

#if TY_RING && TY_EVEN < 4
/* So many loads under way all the time, one asked for when one has come: where the counters
 * leave little first-level cache, eight loads of every work-item at once do not fit it, and all
 * warps wait together. */
#define TY_WALK_TURNS(span, q, step)                                                               \
    if (q + (TY_RING - 1) * step < span.count) {                                                   \
        uint4 v[TY_RING];                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_RING; k++)                                                       \
            v[k] = TY_PINNED(&span.vectors[q + k * step]);                                         \
        for (; q + (2 * TY_RING - 1) * step < span.count; q += TY_RING * step) {                   \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_RING; k++) {                                                 \
                uint4 now = v[k];                                                                  \
                v[k] = TY_PINNED(&span.vectors[q + (TY_RING + k) * step]);                         \
                TY_PIN(k, pass);                                                                   \
                TY_CONSUME_VECTOR(now);                                                            \
            }                                                                                      \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_RING; k++)                                                       \
            TY_CONSUME_VECTOR(v[k]);                                                               \
        q += TY_RING * step;                                                                       \
    }
/* Asks the second-level cache for the first loads of a warp, a line a lane, while counters are
 * cleared. */
#define TY_WALK_SOON(data, offset, n)                                                              \
    do {                                                                                           \
        ty_span span = ty_span_of(data, offset, n);                                                \
        ty_u32 k = TY_LID % 32 / 4, line = TY_LID % 4 * 8;                                         \
        ty_u32 at = (TY_GROUP + k * TY_GROUPS) * TY_GROUP_SIZE + (TY_LID & ~31u) + line;           \
        if (k < TY_RING && at < span.count)                                                        \
            TY_PREFETCH(&span.vectors[at]);                                                        \
    } while (0)
#else
#define TY_WALK_SOON(data, offset, n)

/* Whole warps take turns together, for TY_LOADED. */
#define TY_WALK_TURNS(span, q, step)                                                               \
    for (; (q | 31) + (TY_AHEAD - 1) * step < span.count; q += TY_AHEAD * step) {                  \
        uint4 v[TY_AHEAD];                                                                         \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k++)                                                      \
            v[k] = TY_LOAD_VECTOR(&span.vectors[q + k * step]);                                    \
        TY_LOADED();                                                                               \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k += TY_TURN) {                                           \
            TY_CLASSIFY_BEGIN                                                                      \
            TY_UNROLL                                                                              \
            for (ty_u32 j = k; j < k + TY_TURN && j < TY_AHEAD; j++)                               \
                TY_CONSUME_VECTOR(v[j]);                                                           \
            TY_CLASSIFY_END                                                                        \
        }                                                                                          \
    }
#endif

#define TY_WALK(data, offset, n)                                                                   \
    do {                                                                                           \
        ty_span span = ty_span_of(data, offset, n);                                                \
        ty_u32 step = TY_GROUPS * TY_GROUP_SIZE, q = TY_GROUP * TY_GROUP_SIZE + TY_LID;            \
        TY_WALK_TURNS(span, q, step)                                                               \
        for (; q < span.count; q += step) {                                                        \
            uint4 v = span.vectors[q];                                                             \
            TY_CLASSIFY_BEGIN                                                                      \
            TY_CONSUME_VECTOR(v);                                                                  \
            TY_CLASSIFY_END                                                                        \
        }                                                                                          \
        if (TY_GROUP == 0 && TY_LID < span.head + span.tail) {                                     \
            TY_CLASSIFY_BEGIN                                                                      \
            TY_CONSUME(ty_span_odd(span, TY_LID));                                                 \
            TY_CLASSIFY_END                                                                        \
        }                                                                                          \
    } while (0)

#endif
