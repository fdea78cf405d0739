/*
 * Samples as keys: unsigned integers that order as the samples do, of 32 bits for samples of up to
 * 4 bytes, else of 64. NaN are all the largest key, which no number has. The processor's keys
 * (cpu/order.h) are these with the upper bit flipped.
 */
#ifndef TY_ORDER_KERNEL_H
#define TY_ORDER_KERNEL_H

#include "gpu/kernels/grid.h"
#include "gpu/kernels/order_state.h"

#if TY_TYPE_IS_WHOLE64(TY_DTYPE) || TY_DTYPE == TY_F64
typedef ty_u64 order_key;
#define ORDER_KEY_WORDS 2
#define ORDER_SIZE      8
#define ORDER_EACH      8 /* samples of a work-item in a tile */
#else
typedef ty_u32 order_key;
#define ORDER_KEY_WORDS 1
#define ORDER_SIZE      (TY_TYPE_IS_BYTE(TY_DTYPE) ? 1 : TY_TYPE_IS_HALFWORD(TY_DTYPE) ? 2 : 4)
#define ORDER_EACH      16
#endif
#define ORDER_NAN   ((order_key) ~(order_key)0)
#define ORDER_TOP   ((order_key)1 << (32 * ORDER_KEY_WORDS - 1))
#define ORDER_TILE  (TY_GROUP_SIZE * ORDER_EACH)
#define ORDER_LOADS (ORDER_EACH * ORDER_SIZE / 16) /* of 16 bytes, for a work-item's keys */

#define ORDER_IS_FLOAT (TY_TYPE_IS_HALF(TY_DTYPE) || TY_DTYPE == TY_F32 || TY_DTYPE == TY_F64)

#if defined(__OPENCL_VERSION__)
#define ORDER_POPCOUNT(x) ((ty_u32)popcount((ty_u32)(x)))
#else
#define ORDER_POPCOUNT(x) ((ty_u32)__popc(x))
#endif

/* The key of a float that is no NaN. */
TY_FN order_key order_key_of_number(order_key bits)
{
#if ORDER_KEY_WORDS == 2
    return bits ^ ((ty_u64)((ty_i64)bits >> 63) | ORDER_TOP);
#else
    return bits ^ ((ty_u32)((ty_i32)bits >> 31) | ORDER_TOP);
#endif
}

TY_FN order_key order_key_of(ty_u64 bits)
{
#if TY_DTYPE == TY_I8
    return (ty_u32)(ty_i32)(ty_i8)(ty_u8)bits ^ ORDER_TOP;
#elif TY_DTYPE == TY_I16
    return (ty_u32)(ty_i32)(ty_i16)(ty_u16)bits ^ ORDER_TOP;
#elif TY_DTYPE == TY_U8 || TY_DTYPE == TY_U16 || TY_DTYPE == TY_I32 || TY_DTYPE == TY_I64
    return (order_key)bits ^ ORDER_TOP;
#elif TY_DTYPE == TY_U32 || TY_DTYPE == TY_U64
    return (order_key)bits;
#elif TY_TYPE_IS_HALF(TY_DTYPE)
    const ty_u32 low = (ty_u32)bits, infinite = TY_DTYPE == TY_F16 ? 0x7c00u : 0x7f80u;
    const ty_i32 whole = (ty_i16)(ty_u16)low;
    const ty_u32 key = (ty_u32)(whole < 0 ? whole ^ 0x7fff : whole) ^ ORDER_TOP;
    return (low & 0x7fffu) > infinite ? ORDER_NAN : key;
#elif TY_DTYPE == TY_F32
    const ty_u32 low = (ty_u32)bits;
    return TY_AS_FLOAT(low) != TY_AS_FLOAT(low) ? ORDER_NAN : order_key_of_number(low);
#else
    return (bits & ~ORDER_TOP) > (ty_u64)0x7ff << 52 ? ORDER_NAN : order_key_of_number(bits);
#endif
}

#if TY_DTYPE == TY_F32 || TY_DTYPE == TY_F64
#define ORDER_HOLDS_FLOATS 1
#else
#define ORDER_HOLDS_FLOATS 0
#endif

/* What a sieve holds of a sample: a float of 32 or 64 bits as it is, else the key. */
TY_FN order_key order_held(ty_u64 bits)
{
    return ORDER_HOLDS_FLOATS ? (order_key)bits : order_key_of(bits);
}

/* The key of what is held, if that is no NaN; and what is held for a key. */
TY_FN order_key order_key_of_held(order_key held)
{
    return ORDER_HOLDS_FLOATS ? order_key_of_number(held) : held;
}

TY_FN order_key order_held_of(order_key key)
{
    return !ORDER_HOLDS_FLOATS ? key : key & ORDER_TOP ? key ^ ORDER_TOP : ~key;
}

TY_FN int order_held_is_nan(order_key held)
{
    return ORDER_IS_FLOAT && (ORDER_HOLDS_FLOATS ? order_key_of(held) : held) == ORDER_NAN;
}

#if !defined(TY_NO_FP64)
/* A key's sample, rounded to float64. */
TY_FN double order_value(order_key key)
{
    const order_key flipped = key ^ ORDER_TOP;
#if TY_DTYPE == TY_U32 || TY_DTYPE == TY_U64
    (void)flipped;
    return (double)key;
#elif TY_DTYPE == TY_I64
    return (double)(ty_i64)flipped;
#elif TY_DTYPE == TY_F64
    return key == ORDER_NAN ? TY_AS_DOUBLE((ty_u64)0x7ff8 << 48)
                            : TY_AS_DOUBLE(key >> 63 ? flipped : ~key);
#elif TY_DTYPE == TY_F32
    (void)flipped;
    return key == ORDER_NAN ? (double)TY_AS_FLOAT(0x7fc00000u)
                            : (double)TY_AS_FLOAT(order_held_of(key));
#elif TY_TYPE_IS_HALF(TY_DTYPE)
    const ty_i32 whole = (ty_i32)flipped;
    const ty_u32 bits = key == ORDER_NAN ? 0x7fffu : (ty_u32)(whole < 0 ? whole ^ 0x7fff : whole);
    const ty_u32 sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
    if (TY_DTYPE == TY_BF16)
        return (double)TY_AS_FLOAT(bits << 16);
    return rest >= 0x0f800000u ? (double)TY_AS_FLOAT(sign | 0x70000000u | rest)
                               : (double)TY_AS_FLOAT(sign | rest) * 0x1p112;
#else
    return (double)(ty_i32)flipped;
#endif
}
#endif

/* Position `at` of a batch: whether it counts, and its key. */
#define ORDER_COUNTS(b, row, column) (!masked || *TY_GRID_AT(mask, b, row, column))
#define ORDER_KEY_AT(b, row, column)                                                               \
    order_key_of(ty_word_at(TY_GRID_AT(x0, b, row, column), ORDER_SIZE))

/* A work-item's way through the samples of a batch and channel, which `parts` groups share. */
typedef struct order_walk {
    ty_u64 i, row, column; /* the sample */
    ty_u64 step, step_rows, step_columns;
} order_walk;

TY_FN order_walk order_walk_of(ty_u32 part, ty_u32 parts, ty_u64 columns)
{
    order_walk w;
    w.i = (ty_u64)part * TY_GROUP_SIZE + TY_LID;
    w.row = w.i / columns;
    w.column = w.i - w.row * columns;
    w.step = (ty_u64)parts * TY_GROUP_SIZE;
    w.step_rows = w.step / columns;
    w.step_columns = w.step - w.step_rows * columns;
    return w;
}

#define ORDER_STEP(w, columns)                                                                     \
    do {                                                                                           \
        (w).i += (w).step;                                                                         \
        TY_STEP((w).row, (w).column, columns, (w).step_rows, (w).step_columns);                    \
    } while (0)

/* Key j of those in an array of words. */
#if ORDER_KEY_WORDS == 2
#define ORDER_KEY_IN(words, j)                                                                     \
    order_key_of((ty_u64)(words)[2 * (j)] | (ty_u64)(words)[2 * (j) + 1] << 32)
#elif ORDER_SIZE == 4
#define ORDER_KEY_IN(words, j) order_key_of((words)[j])
#else
#define ORDER_KEY_IN(words, j)                                                                     \
    order_key_of((words)[(j)*ORDER_SIZE / 4] >> (j)*ORDER_SIZE % 4 * 8 &                           \
                 ((1u << 8 * ORDER_SIZE) - 1u))
#endif

/* The same of keys. */
#if ORDER_KEY_WORDS == 2
#define ORDER_STORED_KEY(words, j) ((ty_u64)(words)[2 * (j)] | (ty_u64)(words)[2 * (j) + 1] << 32)
#else
#define ORDER_STORED_KEY(words, j) ((words)[j])
#endif

/* A work-item's part of a tile of packed samples. */
TY_FN void order_fetch(TY_GLOBAL const uint4 *from, ty_u32 *words)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_LOADS; k++) {
        const uint4 v = TY_STREAM(from + k * TY_GROUP_SIZE);
        words[4 * k] = v.x;
        words[4 * k + 1] = v.y;
        words[4 * k + 2] = v.z;
        words[4 * k + 3] = v.w;
    }
}

/* The same as keys. Returns whether NaN may be among them. */
TY_FN int order_load(TY_GLOBAL const uint4 *from, order_key *x)
{
    ty_u32 words[4 * ORDER_LOADS];
    order_fetch(from, words);
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        x[j] = ORDER_KEY_IN(words, j);
    return ORDER_IS_FLOAT;
}

/* The same as a sieve holds them. Returns whether NaN may be among them. */
TY_FN int order_load_held(TY_GLOBAL const uint4 *from, order_key *x)
{
    ty_u32 words[4 * ORDER_LOADS];
    order_fetch(from, words);
#if TY_DTYPE == TY_F32
    float sum = 0; /* NaN, if one of them is NaN or infinite */
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        sum = TY_FMAF(TY_AS_FLOAT(x[j] = words[j]), 0.0f, sum);
    return sum != sum;
#elif TY_DTYPE == TY_F64 && !defined(TY_NO_FP64)
    double sum = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        sum = TY_FMA(TY_AS_DOUBLE(x[j] = ORDER_STORED_KEY(words, j)), 0.0, sum);
    return sum != sum;
#else
    int some = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const order_key key = ORDER_KEY_IN(words, j);
        x[j] = ORDER_HOLDS_FLOATS ? ORDER_STORED_KEY(words, j) : key;
        some |= ORDER_IS_FLOAT && key == ORDER_NAN;
    }
    return some;
#endif
}

/* The same of keys. */
TY_FN void order_load_keys(TY_GLOBAL const uint4 *from, order_key *x)
{
    ty_u32 words[ORDER_EACH * ORDER_KEY_WORDS];
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_EACH * ORDER_KEY_WORDS / 4; k++) {
        const uint4 v = TY_STREAM(from + k * TY_GROUP_SIZE);
        words[4 * k] = v.x;
        words[4 * k + 1] = v.y;
        words[4 * k + 2] = v.z;
        words[4 * k + 3] = v.w;
    }
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        x[j] = ORDER_STORED_KEY(words, j);
}

/* Edges that keys may be equal to: all, but the last where it is NaN or no rank is there. */
TY_FN ty_u32 order_edges_real(TY_GLOBAL const ty_u64 *state)
{
    return (ty_u32)state[ORDER_EDGES] - (state[ORDER_TOP_IS] == 0);
}

/* All whole tiles of packed samples, ORDER_EACH x[] of a work-item at a time, which LOAD takes;
 * then what is before and behind, one by one, by ONE, with x[] where `counts` has a bit. TILE(x,
 * counts, some_nan) is done with them. */
#define ORDER_READ_PACKED(data, offset, n, LOAD, ONE, TILE)                                        \
    do {                                                                                           \
        TY_GLOBAL const ty_u8 *samples_ = (data) + (offset);                                       \
        const ty_u32 start_ = (0u - (ty_u32)(ty_u64)samples_ & 15u) / ORDER_SIZE;                  \
        const ty_u32 head_ = start_ < (n) ? start_ : (ty_u32)(n);                                  \
        const ty_u64 full_ = ((n)-head_) / ORDER_TILE, tile_ = ORDER_TILE * ORDER_SIZE / 16;       \
        const ty_u32 rest_ = (ty_u32)((n)-full_ * ORDER_TILE);                                     \
        const ty_u64 tiles_ = full_ + (rest_ + ORDER_TILE - 1) / ORDER_TILE;                       \
        TY_GLOBAL const ty_u8 *behind_ = samples_ + full_ * ORDER_TILE * ORDER_SIZE;               \
        TY_GLOBAL const uint4 *vectors_ =                                                          \
            (TY_GLOBAL const uint4 *)(samples_ + head_ * ORDER_SIZE);                              \
        for (ty_u64 t_ = TY_GROUP; t_ < tiles_; t_ += TY_GROUPS) {                                 \
            order_key x[ORDER_EACH];                                                               \
            ty_u32 counts = (1u << ORDER_EACH) - 1;                                                \
            int some_nan = ORDER_IS_FLOAT;                                                         \
            if (t_ < full_)                                                                        \
                some_nan = LOAD(vectors_ + t_ * tile_ + TY_LID, x);                                \
            for (ty_u32 j_ = 0; t_ >= full_ && j_ < ORDER_EACH; j_++) {                            \
                const ty_u32 e_ = (ty_u32)(t_ - full_) * ORDER_TILE + j_ * TY_GROUP_SIZE + TY_LID; \
                x[j_] = 0;                                                                         \
                if (e_ < rest_)                                                                    \
                    x[j_] = ONE(ty_word_at((e_ < head_ ? samples_ : behind_) + e_ * ORDER_SIZE,    \
                                           ORDER_SIZE));                                           \
                else                                                                               \
                    counts &= ~(1u << j_);                                                         \
            }                                                                                      \
            TILE(x, counts, some_nan);                                                             \
        }                                                                                          \
    } while (0)

/* The same of samples of any layout. */
#define ORDER_READ_VIEW(ONE, TILE)                                                                 \
    do {                                                                                           \
        const ty_u64 tiles_ = (n + ORDER_TILE - 1) / ORDER_TILE;                                   \
        const ty_u64 step_rows_ = TY_GROUP_SIZE / columns;                                         \
        const ty_u64 step_columns_ = TY_GROUP_SIZE - step_rows_ * columns;                         \
        for (ty_u64 t_ = TY_GROUP; t_ < tiles_; t_ += TY_GROUPS) {                                 \
            order_key x[ORDER_EACH];                                                               \
            ty_u32 counts = 0;                                                                     \
            ty_u64 i_ = t_ * ORDER_TILE + TY_LID, row_ = i_ / columns;                             \
            ty_u64 column_ = i_ - row_ * columns;                                                  \
            TY_UNROLL                                                                              \
            for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++, i_ += TY_GROUP_SIZE) {                      \
                const int in_ = i_ < n && ORDER_COUNTS(b, row_, column_);                          \
                x[j_] = in_ ? ONE(ty_word_at(TY_GRID_AT(x0, b, row_, column_), ORDER_SIZE)) : 0;   \
                counts |= (ty_u32)in_ << j_;                                                       \
                TY_STEP(row_, column_, columns, step_rows_, step_columns_);                        \
            }                                                                                      \
            TILE(x, counts, ORDER_IS_FLOAT);                                                       \
        }                                                                                          \
    } while (0)

#define ORDER_KEYS_TILES 4

/* So many groups share `n` keys that each has some tiles, for it begins and ends slowly. */
TY_FN ty_u32 order_keys_groups(ty_u64 n)
{
    const ty_u64 most = n / (ORDER_TILE * ORDER_KEYS_TILES) + 1;
    return most < TY_GROUPS ? (ty_u32)most : TY_GROUPS;
}

/* The same of `n` keys, the first at a multiple of 16 bytes, of which none is NaN. */
#define ORDER_READ_KEYS(keys, n, TILE)                                                             \
    do {                                                                                           \
        TY_GLOBAL const uint4 *vectors_ = (TY_GLOBAL const uint4 *)(keys);                         \
        const ty_u64 full_ = (n) / ORDER_TILE, tile_ = ORDER_TILE * ORDER_KEY_WORDS / 4;           \
        const ty_u64 tiles_ = ((n) + ORDER_TILE - 1) / ORDER_TILE;                                 \
        const ty_u32 groups_ = order_keys_groups(n);                                               \
        for (ty_u64 t_ = TY_GROUP; t_ < tiles_; t_ += groups_) {                                   \
            order_key x[ORDER_EACH];                                                               \
            ty_u32 counts = (1u << ORDER_EACH) - 1;                                                \
            if (t_ < full_)                                                                        \
                order_load_keys(vectors_ + t_ * tile_ + TY_LID, x);                                \
            for (ty_u32 j_ = 0; t_ >= full_ && j_ < ORDER_EACH; j_++) {                            \
                const ty_u64 i_ = full_ * ORDER_TILE + j_ * TY_GROUP_SIZE + TY_LID;                \
                x[j_] = i_ < (n) ? (keys)[i_] : 0;                                                 \
                counts &= i_ < (n) ? ~0u : ~(1u << j_);                                            \
            }                                                                                      \
            TILE(x, counts, 0);                                                                    \
        }                                                                                          \
    } while (0)

/* How many of `count` ascending keys are below x; with `or_equal` or equal. */
#define ORDER_BELOW(keys, count, x, or_equal, to)                                                  \
    do {                                                                                           \
        ty_u32 most_ = (ty_u32)(count);                                                            \
        (to) = 0;                                                                                  \
        while ((to) < most_) {                                                                     \
            const ty_u32 half_ = ((to) + most_) / 2;                                               \
            if ((keys)[half_] < (x) || ((or_equal) && (keys)[half_] == (x)))                       \
                (to) = half_ + 1;                                                                  \
            else                                                                                   \
                most_ = half_;                                                                     \
        }                                                                                          \
    } while (0)

/* Sums of `count` numbers in local memory, a power of two and at most `most`, a constant: each of
 * itself and all before. */
#define ORDER_SCAN(type, sums, count, most)                                                        \
    for (ty_u32 far_ = 1; far_ < (count); far_ *= 2) {                                             \
        type before_[(most) / TY_GROUP_SIZE + 1];                                                  \
        for (ty_u32 i = TY_LID, k_ = 0; i < (count); i += TY_GROUP_SIZE, k_++)                     \
            before_[k_] = i >= far_ ? (sums)[i - far_] : 0;                                        \
        TY_BARRIER();                                                                              \
        for (ty_u32 i = TY_LID, k_ = 0; i < (count); i += TY_GROUP_SIZE, k_++)                     \
            (sums)[i] += before_[k_];                                                              \
        TY_BARRIER();                                                                              \
    }

/* More edges than there can be with so many ranks, a power of two. */
TY_FN ty_u32 order_table(ty_u32 ranks)
{
    ty_u32 table = 8;
    while (table < 2 * ranks + 2)
        table *= 2;
    return table;
}

/* Whether key a is ahead of x: below it, or with `or_equal` equal to it. */
#define ORDER_AHEAD_OF(a, x, or_equal) ((a) < (x) || ((or_equal) && (a) == (x)))

/* Sorts `count` keys in local memory, a power of two and at most ORDER_RUN, by the group: pairs of
 * sorted runs become one. A key's place is its own in its run, and how many of the other run are
 * ahead; of equal keys those of the first run. */
TY_FN void order_sort(TY_LOCAL order_key *keys, ty_u32 count)
{
    enum { each = ORDER_RUN / TY_GROUP_SIZE };
    for (ty_u32 run = 1; run < count; run *= 2) {
        order_key x[each];
        ty_u32 other[each], ahead[each];
        TY_UNROLL
        for (ty_u32 k = 0; k < each; k++) {
            const ty_u32 i = TY_LID + k * TY_GROUP_SIZE;
            x[k] = i < count ? keys[i] : 0;
            other[k] = i < count ? (i ^ run) & ~(run - 1) : 0;
            ahead[k] = 0;
        }
        for (ty_u32 half_ = run / 2; half_; half_ /= 2) {
            TY_UNROLL
            for (ty_u32 k = 0; k < each; k++) {
                const order_key there = keys[other[k] + ahead[k] + half_ - 1];
                ahead[k] += ORDER_AHEAD_OF(there, x[k], !(other[k] & run)) ? half_ : 0;
            }
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < each; k++)
            ahead[k] += ORDER_AHEAD_OF(keys[other[k] + ahead[k]], x[k], !(other[k] & run));
        TY_BARRIER();
        TY_UNROLL
        for (ty_u32 k = 0; k < each; k++) {
            const ty_u32 i = TY_LID + k * TY_GROUP_SIZE;
            if (i < count)
                keys[(i & ~(2 * run - 1)) + (i & (run - 1)) + ahead[k]] = x[k];
        }
        TY_BARRIER();
    }
}

#define ORDER_DIGITS_ALL ((32 * ORDER_KEY_WORDS + ORDER_DIGIT_BITS - 1) / ORDER_DIGIT_BITS)
#define ORDER_OWN        (ORDER_DIGITS / TY_GROUP_SIZE) /* digits of a work-item */
#define ORDER_AHEAD      8 /* samples that a work-item reads at a time */

/* The sum of what earlier work-items have; `sums` holds one of each, `parts` sums of ORDER_PART. */
#define ORDER_SUM_BEFORE(name, type)                                                               \
    TY_FN type name(type own, TY_LOCAL type *sums, TY_LOCAL type *parts)                           \
    {                                                                                              \
        const ty_u32 part = TY_LID / ORDER_PART;                                                   \
        type sum = 0;                                                                              \
        sums[TY_LID] = own;                                                                        \
        TY_BARRIER();                                                                              \
        if (TY_LID < (TY_GROUP_SIZE + ORDER_PART - 1) / ORDER_PART) {                              \
            for (ty_u32 k = 0; k < ORDER_PART && TY_LID * ORDER_PART + k < TY_GROUP_SIZE; k++)     \
                sum += sums[TY_LID * ORDER_PART + k];                                              \
            parts[TY_LID] = sum;                                                                   \
        }                                                                                          \
        TY_BARRIER();                                                                              \
        sum = 0;                                                                                   \
        for (ty_u32 k = 0; k < part; k++)                                                          \
            sum += parts[k];                                                                       \
        for (ty_u32 k = part * ORDER_PART; k < TY_LID; k++)                                        \
            sum += sums[k];                                                                        \
        return sum;                                                                                \
    }
ORDER_SUM_BEFORE(order_sum_before_wide, ty_u64)
#if TY_WARP == 32
TY_FN ty_u32 order_sum_before(ty_u32 own, TY_LOCAL ty_u32 *sums, TY_LOCAL ty_u32 *parts)
{
    const ty_u32 lane = TY_LID % 32, warp = TY_LID / 32;
    ty_u32 sum = own;
    (void)parts;
    TY_UNROLL
    for (ty_u32 far_ = 1; far_ < 32; far_ *= 2) {
        const ty_u32 up = TY_SHUFFLE_UP(sum, far_);
        sum += lane >= far_ ? up : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    TY_BARRIER();
    sum -= own;
    TY_UNROLL
    for (ty_u32 k = 0; k + 1 < TY_GROUP_SIZE / 32; k++)
        sum += k < warp ? sums[k] : 0;
    return sum;
}
#else
ORDER_SUM_BEFORE(order_sum_before, ty_u32)
#endif

/* The least key of the work-items; `least` holds one of each. */
TY_FN order_key order_least(order_key own, TY_LOCAL order_key *least)
{
#if ORDER_KEY_WORDS == 1
    TY_BARRIER();
    if (TY_LID == 0)
        least[0] = ORDER_NAN;
    TY_BARRIER();
    TY_MIN_LOCAL(&least[0], own);
    TY_BARRIER();
#else
    TY_BARRIER();
    least[TY_LID] = own;
    TY_BARRIER();
    for (ty_u32 half_ = TY_GROUP_SIZE / 2; half_; half_ /= 2) {
        if (TY_LID < half_ && least[TY_LID + half_] < least[TY_LID])
            least[TY_LID] = least[TY_LID + half_];
        TY_BARRIER();
    }
#endif
    return least[0];
}

/* Digits are taken from the upper end; so many bits are below number `digit`, the last being 0. */
TY_FN ty_u32 order_shift(ty_u32 digit)
{
    return digit ? 32 * ORDER_KEY_WORDS - ORDER_DIGIT_BITS * (ORDER_DIGITS_ALL - digit) : 0;
}

/* How much more than the first one a key can be that differs in the `left` lower digits alone. */
TY_FN order_key order_more(ty_u32 left)
{
    return left < ORDER_DIGITS_ALL ? ((order_key)1 << order_shift(left)) - 1 : ORDER_NAN;
}

/* What is before this kernel on the queue is done, and what is behind it may start. */
#define ORDER_BEGIN()                                                                              \
    TY_GRID_WAIT();                                                                                \
    TY_GRID_TRIGGER()

#endif
/* SPDX-License-Identifier: Apache-2.0 */
