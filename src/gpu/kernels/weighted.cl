/*
 * weighted: sums of weights, the same bits on every run (fixed.h), of any layout (views.cl).
 *
 * Float weights become multiples of 2^base, chosen from the largest exponent among them: a sum of
 * all just fits TY_SUM_WORDS 32-bit words (2 for f32, 3 for f64). `probe` finds it, for each
 * histogram, in a part of the weights; `count` adds with room for 2^margin times as much and looks
 * at all of them. Where that was not enough, the second `count` does it again; else it has nothing
 * to do. Whole weights are added as they are; their squares are float64 with a base that their type
 * decides. Infinite and NaN weights are not added: what they were is remembered by slot. With
 * TY_LIMITED the base follows from the caller's limit, whose exponent is in `room`: floats are
 * whole multiples of it, and a slot that had a weight beyond the limit gets -2^127, which no sum
 * is.
 *
 * `state` is, for each histogram, {largest exponent of the probe, of all, 0, 0}, and behind all of
 * them a word of bits for each of its slots: 1 inf, 2 -inf, 4 NaN, and the same << 3 for squares.
 *
 * Local memory of `count`, in words; a plane is slots * copies:
 *
 *     0            TY_WORDS planes   word w of slot s in copy c is at w*plane + s*copies + c: the
 *                                    sum's words, then its squares'
 *     then         TY_FLOW_WORDS     samples of each flow; the last is the largest exponent met
 *
 * and of `weigh`, where a work-item adds up every 16th partial of a bin:
 *
 *     0            4 * 256           word w of work-item i's sum is at w*256 + i
 */
#if !defined(TY_NO_FP64)

#define TY_FLOATS        (TY_WEIGHT >= TY_F32 && !TY_LIMITED)
#define TY_PROBED        (TY_FLOATS || (TY_SQUARE_WORDS && TY_WEIGHT >= TY_U64))
#define TY_WORDS         (TY_SUM_WORDS + TY_SQUARE_WORDS) /* sums, then squares: 3 or none */
#define TY_EXPONENT_BIAS (TY_WEIGHT == TY_F32 ? 127 : 1023)
#define TY_LARGEST       (TY_WEIGHT == TY_F32 ? 254 : 2046)
#define TY_FLOW_WORDS    8

#if TY_GLOBAL_TABLE
#define TY_SPACE                      TY_GLOBAL
#define WEIGHTED_TABLE_ADD(to, value) TY_ADD_GLOBAL(to, value)
#else
#define TY_SPACE                      TY_LOCAL
#define WEIGHTED_TABLE_ADD(to, value) TY_ADD_LOCAL(to, value)
#endif

/* A weight as float64: what its square is made of. */
TY_FN double weighted_value(ty_u64 bits)
{
    return TY_WEIGHT == TY_F32   ? (double)TY_AS_FLOAT((ty_u32)bits)
           : TY_WEIGHT == TY_F64 ? TY_AS_DOUBLE(bits)
           : TY_WEIGHT == TY_I8  ? (double)(ty_i8)(ty_u8)bits
           : TY_WEIGHT == TY_I16 ? (double)(ty_i16)(ty_u16)bits
           : TY_WEIGHT == TY_I32 ? (double)(ty_i32)(ty_u32)bits
           : TY_WEIGHT == TY_I64 ? (double)(ty_i64)bits
                                 : (double)bits;
}

/* Its exponent as float32 or float64 store it; above TY_LARGEST it is infinite or NaN. */
TY_FN ty_u32 weighted_exponent_of(ty_u64 bits)
{
    return TY_WEIGHT == TY_F32 ? (ty_u32)bits >> 23 & 255
                               : (ty_u32)(TY_BITS_OF(weighted_value(bits)) >> 52 & 2047);
}

/* The exponent that sums are made for. */
TY_FN int weighted_exponent(TY_GLOBAL const ty_u32 *state, ty_u32 round)
{
    int e = (int)state[round] + (round ? 0 : TY_MARGIN);
    return e < 1 ? 1 : e > TY_LARGEST ? TY_LARGEST : e;
}

/* The worth of the last bit of sums, and of their squares', of 2^room terms. Every float64 is a
 * whole multiple of 2^-1074. */
TY_FN int weighted_base(int exponent, int room)
{
    int base = exponent - TY_EXPONENT_BIAS + 1 - (TY_SUM_WORDS * 32 - 2 - room);
    return TY_LIMITED ? room - 63 : !TY_FLOATS ? 0 : base > -1074 ? base : -1074;
}

TY_FN int weighted_base2(int exponent, int room)
{
    int top = TY_PROBED ? 2 * (exponent - TY_EXPONENT_BIAS + 1) : 16 * TY_WEIGHT_SIZE;
    int base = (top < 1024 ? top : 1024) - (94 - room);
    return base > -1074 ? base : -1074;
}

/* Whose sums are the ones: the second round's only where the first had too little room. */
TY_FN ty_u32 weighted_round_of(TY_GLOBAL const ty_u32 *state)
{
    return TY_PROBED && (int)state[1] > weighted_exponent(state, 0) ? 1 : 0;
}

typedef struct weighted_terms {
    ty_wide sum, square;
} weighted_terms;

/* A weight's terms; its exponent raises *largest; *odd gets the bits of what cannot be added. */
TY_FN weighted_terms weighted_terms_of(ty_u64 bits, int exponent, int base, int square_base,
                                       ty_u32 *largest, ty_u32 *odd)
{
    weighted_terms t = {{0, 0}, {0, 0}};
    double w = weighted_value(bits);
    if (TY_PROBED) {
        ty_u32 own = weighted_exponent_of(bits);
        if (own > TY_LARGEST) {
            *odd = w < 0 ? 2 | 1 << 3 : w > 0 ? 1 | 1 << 3 : 4 | 4 << 3;
            return t;
        }
        *largest = own > *largest ? own : *largest;
        if ((int)own > exponent)
            return t;
    }
    if (TY_LIMITED) {
        double scaled = w * ty_power(-base);
        if (scaled < 0x1p63 && scaled > -0x1p63) {
            t.sum.low = (ty_u64)(ty_i64)TY_RINT(scaled);
            t.sum.high = t.sum.low >> 63 ? ~(ty_u64)0 : 0;
        } else {
            *odd = 1;
        }
    } else if (TY_WEIGHT == TY_F32) {
        t.sum.low = (ty_u64)(ty_i64)TY_RINT(w * ty_power(-base));
    } else if (TY_WEIGHT == TY_F64) {
        t.sum = ty_wide_of(w, base);
    } else {
        ty_i64 whole = TY_WEIGHT == TY_I8    ? (ty_i64)(ty_i8)(ty_u8)bits
                       : TY_WEIGHT == TY_I16 ? (ty_i64)(ty_i16)(ty_u16)bits
                       : TY_WEIGHT == TY_I32 ? (ty_i64)(ty_i32)(ty_u32)bits
                                             : (ty_i64)bits;
        t.sum.low = (ty_u64)whole;
        t.sum.high = TY_WEIGHT != TY_U64 && whole < 0 ? ~(ty_u64)0 : 0;
    }
    if (TY_SQUARE_WORDS) {
        double square = w * w;
        if ((TY_BITS_OF(square) >> 52 & 2047) == 2047)
            *odd |= 1 << 3;
        else
            t.square = ty_wide_of(square, square_base);
    }
    return t;
}

/* Adds `words` words, `stride` apart. */
TY_FN void weighted_table_add(TY_SPACE ty_u32 *to, ty_u32 stride, int words, ty_wide x)
{
    ty_u32 old, word = (ty_u32)x.low, carry = 0;
    ty_u64 next;
    if (word) {
        old = WEIGHTED_TABLE_ADD(to, word);
        carry = old + word < old ? 1 : 0;
    }
    next = (x.low >> 32) + carry;
    word = (ty_u32)next;
    if (words == 2) {
        if (word)
            WEIGHTED_TABLE_ADD(to + stride, word);
        return;
    }
    carry = (ty_u32)(next >> 32);
    if (word) {
        old = WEIGHTED_TABLE_ADD(to + stride, word);
        carry += old + word < old ? 1 : 0;
    }
    word = (ty_u32)x.high + carry;
    if (word)
        WEIGHTED_TABLE_ADD(to + 2 * stride, word);
}

/* Adds the terms of a slot to its sums, at `to`. */
#define WEIGHTED_PUT(to, plane, terms)                                                             \
    do {                                                                                           \
        weighted_table_add(to, plane, TY_SUM_WORDS, (terms).sum);                                  \
        if (TY_SQUARE_WORDS)                                                                       \
            weighted_table_add((to) + TY_SUM_WORDS * (plane), plane, 3, (terms).square);           \
    } while (0)

TY_KERNEL(TY_ANY_GROUP)
probe(TY_GRID_ARGS(weights), ty_i64 channel, TY_GLOBAL const ty_u8 *axis, ty_u64 columns,
      ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives, ty_u32 parts, ty_u32 stride,
      TY_GLOBAL ty_u32 *state TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, largest = 0;
    ty_u64 b = (first + here) / actives, line = TY_GROUP - here * parts;
    ty_i64 offset = channel * ty_channel_of(axis, first + here - b * actives);
    if (lid == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    /* Lines of a group's width, every stride-th of them. */
    for (ty_u64 i = begin + line * stride * TY_ANY_GROUP + lid; i < end;
         i += (ty_u64)parts * stride * TY_ANY_GROUP) {
        ty_u64 row = i / columns;
        ty_u32 own = weighted_exponent_of(
            ty_word_at(TY_GRID_AT(weights, b, row, i - row * columns) + offset, TY_WEIGHT_SIZE));
        if (own <= TY_LARGEST)
            largest = own > largest ? own : largest;
    }
    if (largest)
        TY_MAX_LOCAL(&ty_local[0], largest);
    TY_BARRIER();
    if (lid == 0 && ty_local[0])
        TY_MAX_GLOBAL(&state[here * 4], ty_local[0]);
}

/* The slot and weight of batch b's element at a row and column; then on by a step. */
#define WEIGHTED_NEXT(slot, weight, b, row, column, columns, rows, places, offset, mask, masked,   \
                      weights, weight_offset, bins, axis)                                          \
    do {                                                                                           \
        TY_MASKED_SLOT(slot, b, row, column, offset, mask, masked, bins, axis);                    \
        (weight) =                                                                                 \
            ty_word_at(TY_GRID_AT(weights, b, row, column) + (weight_offset), TY_WEIGHT_SIZE);     \
        TY_STEP(row, column, columns, rows, places);                                               \
    } while (0)

/* A slot's weight into the table. Samples of one slot that follow each other are put together
 * first: `sums` are those of slot `run` that the table, whose slots are `step` words apart, does
 * not have yet. */
#define WEIGHTED_ADD(slot, weight, exponent, base, square_base, largest, run, sums, table, step,   \
                     plane, flows, bins, odds)                                                     \
    do {                                                                                           \
        ty_u32 odd = 0; /* what cannot be added of it */                                           \
        weighted_terms t =                                                                         \
            weighted_terms_of(weight, exponent, base, square_base, &(largest), &odd);              \
        if (odd)                                                                                   \
            TY_OR_GLOBAL(&(odds)[slot], odd);                                                      \
        if ((slot) >= (bins))                                                                      \
            WEIGHTED_TABLE_ADD(&(flows)[(slot) - (bins)], 1);                                      \
        if ((slot) != (run)) {                                                                     \
            WEIGHTED_PUT((table) + (run) * (step), plane, sums);                                   \
            (sums) = (t);                                                                          \
            (run) = (slot);                                                                        \
        } else {                                                                                   \
            (sums).sum = ty_wide_add((sums).sum, (t).sum);                                         \
            (sums).square = ty_wide_add((sums).square, (t).square);                                \
        }                                                                                          \
    } while (0)

#if !TY_GLOBAL_TABLE
/* The group's table, each sum's copies added up, and flows into its partial at `to`, unless there
 * is none. */
TY_FN void weighted_leave(TY_LOCAL const ty_u32 *table, TY_LOCAL const ty_u32 *flows, ty_u32 slots,
                          ty_u32 copies, ty_u32 plane, int idle, TY_GLOBAL ty_u32 *out)
{
    for (ty_u32 s = TY_LID; s < slots && !idle; s += TY_ANY_GROUP) {
        TY_GLOBAL ty_u32 *to = out + s;
        for (int first_word = 0; first_word <= TY_SQUARE_WORDS; first_word += TY_SUM_WORDS) {
            int words = first_word ? 3 : TY_SUM_WORDS;
            ty_wide sum = {0, 0};
            for (ty_u32 j = 0; j < copies; j++) {
                TY_LOCAL const ty_u32 *from = table + first_word * plane + s * copies + j;
                ty_wide one = {from[0] | (ty_u64)from[plane] << 32, 0};
                one.high = words == 3 ? from[2 * plane] : 0;
                sum = ty_wide_add(sum, one);
            }
            to[first_word * slots] = (ty_u32)sum.low;
            to[(first_word + 1) * slots] = (ty_u32)(sum.low >> 32);
            if (words == 3)
                to[(first_word + 2) * slots] = (ty_u32)sum.high;
        }
    }
    if (TY_LID < TY_FLOW_WORDS && !idle)
        out[TY_WORDS * slots + TY_LID] = flows[TY_LID];
}
#endif

TY_KERNEL(TY_ANY_GROUP)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, TY_GRID_ARGS(weights),
      ty_i64 weight_channel, TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end,
      ty_u64 first, ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies, ty_u32 room,
      ty_u32 round, ty_u32 histograms, TY_GLOBAL ty_u32 *state, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, cells = TY_WORDS * slots + TY_FLOW_WORDS;
    ty_u32 largest = 0, run = 0, bins = slots - TY_SLOT_EXTRA;
    ty_u64 b = (first + here) / actives, step = (ty_u64)parts * TY_ANY_GROUP;
    TY_GLOBAL ty_u32 *own_state = state + here * 4;
    TY_GLOBAL ty_u32 *odds = state + histograms * 4 + (ty_u64)here * slots;
    ty_i64 number = ty_channel_of(axis, first + here - b * actives);
    ty_i64 offset = channel * number, weight_offset = weight_channel * number;
    ty_u64 i = begin + (ty_u64)(TY_GROUP - here * parts) * TY_ANY_GROUP + lid;
    int exponent = weighted_exponent(own_state, round), base = weighted_base(exponent, (int)room);
    int square_base = weighted_base2(exponent, (int)room);
    int idle = round && !weighted_round_of(own_state);
    weighted_terms sums = {{0, 0}, {0, 0}};
    ty_u64 row = i / columns, column = i - row * columns;
    ty_u64 step_rows = step / columns, step_columns = step - step_rows * columns;
    end = idle ? 0 : end;
#if TY_GLOBAL_TABLE
    ty_u32 plane = slots, step_words = 1;
    TY_GLOBAL ty_u32 *table = out + (ty_u64)here * cells, *flows = table + TY_WORDS * slots;
    TY_LOCAL ty_u32 *top = ty_local;
    (void)copies;
    if (lid == 0)
        *top = 0;
#else
    ty_u32 plane = slots * copies, step_words = copies;
    TY_LOCAL ty_u32 *table = ty_local + (lid & (copies - 1)), *flows = ty_local + TY_WORDS * plane;
    TY_LOCAL ty_u32 *top = flows + TY_FLOW_WORDS - 1;
    for (ty_u32 k = lid; k < TY_WORDS * plane + TY_FLOW_WORDS; k += TY_ANY_GROUP)
        ty_local[k] = 0;
#endif
    TY_BARRIER();
    for (; i + (TY_AHEAD - 1) * step < end; i += TY_AHEAD * step) {
        ty_u32 slot[TY_AHEAD];
        ty_u64 weight[TY_AHEAD];
        TY_UNROLL
        for (int k = 0; k < TY_AHEAD; k++)
            WEIGHTED_NEXT(slot[k], weight[k], b, row, column, columns, step_rows, step_columns,
                          offset, mask, masked, weights, weight_offset, bins, axis);
        TY_UNROLL
        for (int k = 0; k < TY_AHEAD; k++)
            WEIGHTED_ADD(slot[k], weight[k], exponent, base, square_base, largest, run, sums, table,
                         step_words, plane, flows, bins, odds);
    }
    for (; i < end; i += step) {
        ty_u32 slot;
        ty_u64 weight;
        WEIGHTED_NEXT(slot, weight, b, row, column, columns, step_rows, step_columns, offset, mask,
                      masked, weights, weight_offset, bins, axis);
        WEIGHTED_ADD(slot, weight, exponent, base, square_base, largest, run, sums, table,
                     step_words, plane, flows, bins, odds);
    }
    WEIGHTED_PUT(table + run * step_words, plane, sums);
    if (largest && !round)
        TY_MAX_LOCAL(top, largest);
    TY_BARRIER();
    if (lid == 0 && !round && *top)
        TY_MAX_GLOBAL(&own_state[1], *top);
#if !TY_GLOBAL_TABLE
    weighted_leave(ty_local, flows, slots, copies, plane, idle, out + (ty_u64)TY_GROUP * cells);
#endif
}

/* ---- from partials to sums ---- */

TY_FN ty_wide weighted_partial(TY_GLOBAL const ty_u32 *partial, ty_u32 slots, ty_u32 slot,
                               int words)
{
    ty_wide sum;
    sum.low = partial[slot] | (ty_u64)partial[slots + slot] << 32;
    if (words == 2)
        sum.high = sum.low >> 63 ? ~(ty_u64)0 : 0;
    else
        sum.high = (ty_u64)(ty_i64)(ty_i32)partial[2 * slots + slot];
    return sum;
}

TY_FN ty_wide weighted_get(TY_LOCAL const ty_u32 *sums, ty_u32 i)
{
    ty_wide w = {sums[i] | (ty_u64)sums[256 + i] << 32,
                 sums[512 + i] | (ty_u64)sums[768 + i] << 32};
    return w;
}

TY_FN void weighted_put(TY_LOCAL ty_u32 *sums, ty_u32 i, ty_wide w)
{
    sums[i] = (ty_u32)w.low;
    sums[256 + i] = (ty_u32)(w.low >> 32);
    sums[512 + i] = (ty_u32)w.high;
    sums[768 + i] = (ty_u32)(w.high >> 32);
}

/* A float64 sum, unless infinite or NaN weights decide. */
TY_FN double weighted_odd(double sum, ty_u32 odd)
{
    if ((odd & 4) || (odd & 3) == 3)
        return TY_AS_DOUBLE((ty_u64)0x7ff8 << 48);
    return odd & 1 ? TY_AS_DOUBLE((ty_u64)0x7ff << 52)
           : odd   ? TY_AS_DOUBLE((ty_u64)0xfff << 52)
                   : sum;
}

/* Adds the group's 16 rows of 16 work-items up into the first: sums[i] of work-item i. */
TY_FN void weighted_add_rows(TY_LOCAL ty_u32 *sums, ty_wide own)
{
    weighted_put(sums, TY_LID, own);
    for (ty_u32 stride = 128; stride >= 16; stride /= 2) {
        TY_BARRIER();
        if (TY_LID < stride)
            weighted_put(
                sums, TY_LID,
                ty_wide_add(weighted_get(sums, TY_LID), weighted_get(sums, TY_LID + stride)));
    }
}

/* As merge (merge.cl), for sums: `bins` of them from `sum_at` on in `sums`, integers' upper words
 * there from `high_at` on, unless that is 0, their squares in `squares`, and `flow_count` numbers
 * of samples in `flows`: four, or all five. */
TY_KERNEL(256)
weigh(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 slots, ty_u32 blocks, ty_u32 room,
      ty_u32 histograms, TY_GLOBAL const ty_u32 *state, TY_GLOBAL ty_u64 *sums, ty_u64 sum_at,
      ty_u64 high_at, TY_GLOBAL double *squares, ty_u64 square_at, TY_GLOBAL ty_u64 *flows,
      ty_u64 flow_at, ty_u32 flow_count, ty_u32 bins, ty_u32 how TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / blocks, cells = TY_WORDS * slots + TY_FLOW_WORDS;
    ty_u32 block = TY_GROUP - here * blocks, target = block * 16 + (lid & 15);
    ty_u32 all = slots - TY_SLOT_EXTRA, add = how & TY_OUT_ADD;
    int under = bins == all && target == 0 && (how & TY_OUT_CLAMP_UNDER);
    int over = bins == all && target == bins - 1 && (how & TY_OUT_CLAMP_OVER);
    TY_GLOBAL const ty_u32 *own_state = state + here * 4;
    TY_GLOBAL const ty_u32 *odds = state + histograms * 4 + (ty_u64)here * slots;
    int exponent = weighted_exponent(own_state, weighted_round_of(own_state));
    ty_u32 odd = 0;
    partials += (ty_u64)here * count * cells;
    if (target < bins)
        odd = odds[target] | (under ? odds[all + TY_SLOT_UNDER] : 0) |
              (over ? odds[all + TY_SLOT_OVER] : 0);
    for (int first_word = 0; first_word <= TY_SQUARE_WORDS; first_word += TY_SUM_WORDS) {
        int words = first_word ? 3 : TY_SUM_WORDS;
        ty_wide sum = {0, 0};
        for (ty_u32 p = lid / 16; p < count && target < bins; p += 16) {
            TY_GLOBAL const ty_u32 *partial = partials + (ty_u64)p * cells + first_word * slots;
            sum = ty_wide_add(sum, weighted_partial(partial, slots, target, words));
            if (under)
                sum =
                    ty_wide_add(sum, weighted_partial(partial, slots, all + TY_SLOT_UNDER, words));
            if (over)
                sum = ty_wide_add(sum, weighted_partial(partial, slots, all + TY_SLOT_OVER, words));
        }
        weighted_add_rows(ty_local, sum);
        sum = weighted_get(ty_local, lid); /* its own: others may still be writing theirs */
        if (lid < 16 && target < bins && first_word) {
            TY_GLOBAL double *to = squares + square_at + (ty_u64)here * bins + target;
            *to = (add ? *to : 0.0) +
                  weighted_odd(ty_wide_value(sum, weighted_base2(exponent, (int)room)), odd >> 3);
        } else if (lid < 16 && target < bins && TY_FLOATS) {
            TY_GLOBAL double *to = (TY_GLOBAL double *)sums + sum_at + (ty_u64)here * bins + target;
            *to = (add ? *to : 0.0) +
                  weighted_odd(ty_wide_value(sum, weighted_base(exponent, (int)room)), odd & 7);
        } else if (lid < 16 && target < bins) {
            TY_GLOBAL ty_u64 *to = sums + sum_at + (ty_u64)here * bins + target;
            TY_GLOBAL ty_u64 *high = to + (high_at - sum_at); /* if there are upper words */
            ty_wide old = {add ? *to : 0, add && high_at ? *high : 0};
            sum = ty_wide_add(sum, old);
            if (TY_LIMITED && (odd || (!old.low && old.high == (ty_u64)1 << 63))) {
                sum.low = 0;
                sum.high = (ty_u64)1 << 63;
            }
            *to = sum.low;
            if (high_at)
                *high = sum.high;
        }
        TY_BARRIER();
    }
    if (block == 0 && lid < flow_count && lid < TY_SLOT_EXTRA) {
        TY_GLOBAL ty_u64 *to = flows + flow_at + (ty_u64)here * flow_count + lid;
        int clamped = bins == all && ((lid == TY_SLOT_UNDER && (how & TY_OUT_CLAMP_UNDER)) ||
                                      (lid == TY_SLOT_OVER && (how & TY_OUT_CLAMP_OVER)));
        ty_u64 sum = add ? *to : 0;
        for (ty_u32 p = 0; p < count && !clamped; p++)
            sum += partials[(ty_u64)p * cells + TY_WORDS * slots + lid];
        *to = sum;
    }
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
