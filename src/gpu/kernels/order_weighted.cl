/*
 * Quantiles of samples with weights: `order_heavy` says what a group of samples and its weights
 * are, `order_weigh` adds up the weights of keys that begin alike by the digit that follows. Units
 * (weight.h) are added in four parts of 16 bits in local memory, then in halves of 32 bits.
 */
#define ORDER_WEIGHED   1024u                    /* values of a digit */
#define ORDER_UNCARRIED (65535u / TY_GROUP_SIZE) /* units that a work-item adds at most */

#define ORDER_WEIGHT_ARGS                                                                          \
    TY_GRID_ARGS(x0), ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, TY_GRID_ARGS(w),          \
        ty_i64 w_channel, ty_u32 w_dtype, ty_u64 columns, ty_u64 n, ty_u64 channels
#define ORDER_WEIGHT_AT(b, row, column)                                                            \
    ty_word_at(TY_GRID_AT(w, b, row, column), ty_dtype_size((int)w_dtype))

/* Batches and channels from number `first` on, `parts` groups for each: four words of each from
 * `kinds` on get its samples that count, NaN among them, the heaviest weight's unit and 2048 (1: an
 * integer; 0: all are 0), and whether some weight is none. */
TY_KERNEL(TY_GROUP_SIZE)
order_heavy(ORDER_WEIGHT_ARGS, ty_u64 first, ty_u32 parts, ty_u32 skip, TY_GLOBAL ty_u64 *state,
            ty_u64 kinds TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u32 here = TY_GROUP / parts;
    const ty_u64 g = first + here, b = g / channels;
    order_walk at = order_walk_of(TY_GROUP - here * parts, parts, columns);
    ty_u32 count = 0, nan = 0, heavy = 0, bad = 0;
    x0_at += (ty_u64)(channel * (ty_i64)(g - b * channels));
    w_at += (ty_u64)(w_channel * (ty_i64)(g - b * channels));
    while (at.i < n) {
        if (ORDER_COUNTS(b, at.row, at.column)) {
            const ty_u64 bits = ORDER_WEIGHT_AT(b, at.row, at.column);
            const ty_u64 magnitude = ty_weight_magnitude(bits, w_dtype);
            const int is_nan = ORDER_IS_FLOAT && ORDER_KEY_AT(b, at.row, at.column) == ORDER_NAN;
            ty_u32 code = 0;
            if (magnitude && !(is_nan && skip))
                code = w_dtype < TY_F32 ? 1 : (ty_u32)(ty_weight_unit(magnitude, w_dtype) + 2048);
            heavy = code > heavy ? code : heavy;
            bad |= ty_weight_is_bad(bits, w_dtype);
            count++;
            nan += is_nan;
        }
        ORDER_STEP(at, columns);
    }
    if (TY_LID < 4)
        ty_local[TY_LID] = 0;
    TY_BARRIER();
    TY_ADD_LOCAL(&ty_local[0], count);
    TY_ADD_LOCAL(&ty_local[1], nan);
    TY_MAX_LOCAL(&ty_local[2], heavy);
    TY_MAX_LOCAL(&ty_local[3], bad);
    TY_BARRIER();
    for (ty_u32 k = TY_LID; k < 4; k += TY_GROUP_SIZE) {
        if (k < 2)
            TY_ADD_WIDE(state + kinds + 4 * here + k, (ty_u64)ty_local[k]);
        else
            TY_MAX_GLOBAL(state + kinds + 4 * here + k, ty_local[k]);
    }
}

/* What was added since the last time, to the halves of the sums. */
TY_FN void order_carry(TY_LOCAL ty_u32 *counts, TY_GLOBAL ty_u64 *sums)
{
    TY_BARRIER();
    for (ty_u32 d = TY_LID; d < ORDER_WEIGHED; d += TY_GROUP_SIZE) {
        const ty_u64 low = counts[4 * d] + ((ty_u64)counts[4 * d + 1] << 16);
        const ty_u64 high = counts[4 * d + 2] + ((ty_u64)counts[4 * d + 3] << 16);
        if (low)
            TY_ADD_WIDE(sums + 2 * d, low);
        if (high)
            TY_ADD_WIDE(sums + 2 * d + 1, high);
        for (ty_u32 k = 0; k < 4; k++)
            counts[4 * d + k] = 0;
    }
    TY_BARRIER();
}

/* `parts` groups for each piece of work, three words from `jobs` on: a batch and channel's number,
 * what keys begin with, the unit. Two words for each digit from `sums` on. */
TY_KERNEL(TY_GROUP_SIZE)
order_weigh(ORDER_WEIGHT_ARGS, ty_u32 parts, TY_GLOBAL const ty_u64 *state, ty_u64 jobs,
            ty_u32 shift, ty_u32 bits, TY_GLOBAL ty_u64 *sums TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u32 here = TY_GROUP / parts;
    const ty_u64 g = state[jobs + 3 * here], b = g / channels, step = (ty_u64)parts * TY_GROUP_SIZE;
    const order_key prefix = (order_key)state[jobs + 3 * here + 1];
    const ty_i32 unit = (ty_i32)(ty_i64)state[jobs + 3 * here + 2];
    ty_u64 base = (ty_u64)(TY_GROUP - here * parts) * TY_GROUP_SIZE;
    ty_u64 row = (base + TY_LID) / columns, column = base + TY_LID - row * columns;
    const ty_u64 step_rows = step / columns, step_columns = step - step_rows * columns;
    x0_at += (ty_u64)(channel * (ty_i64)(g - b * channels));
    w_at += (ty_u64)(w_channel * (ty_i64)(g - b * channels));
    sums += (ty_u64)here * (2 * ORDER_WEIGHED);
    for (ty_u32 d = TY_LID; d < 4 * ORDER_WEIGHED; d += TY_GROUP_SIZE)
        ty_local[d] = 0;
    TY_BARRIER();
    while (base < n) {
        for (ty_u32 k = 0; k < ORDER_UNCARRIED && base < n; k++, base += step) {
            if (base + TY_LID < n && ORDER_COUNTS(b, row, column)) {
                const order_key key = ORDER_KEY_AT(b, row, column);
                if (key >> shift >> bits == prefix && !(ORDER_IS_FLOAT && key == ORDER_NAN)) {
                    const ty_u64 units = ty_weight_units(
                        ty_weight_magnitude(ORDER_WEIGHT_AT(b, row, column), w_dtype), w_dtype,
                        unit);
                    const ty_u32 digit = (ty_u32)(key >> shift) & ((1u << bits) - 1);
                    for (ty_u32 part = 0; part < 4; part++) {
                        const ty_u32 some = (ty_u32)(units >> (16 * part)) & 0xffffu;
                        if (some)
                            TY_ADD_LOCAL(&ty_local[4 * digit + part], some);
                    }
                }
            }
            TY_STEP(row, column, columns, step_rows, step_columns);
        }
        order_carry(ty_local, sums);
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
