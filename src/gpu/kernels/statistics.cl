/*
 * statistics: number, sum, sum of squares and extremes of one column of values by the bins of their
 * samples, of any layout (view.h). What is added up are whole numbers, so that all is the same
 * whatever the order, and the same as on the processor.
 *
 * With E the exponent of a limit, above which no value is, a value is rounded to p units of
 * 2^(E-50). Values of 64 bits are added up as p. Of others a smaller term is made: whole numbers as
 * they are, floats in units of 2^(E-STATISTICS_BITS) where that is exact, as it is for float32 from
 * 2^-8 of the limit on; other floats go as p into `rare`, a table in global memory. E is the
 * caller's, or `probe` finds it; or it is guessed, and late values wait (statistics_packed.cl).
 *
 * A slot's words, one plane after the other, a plane being slots * copies:
 *
 *     2 * KEY_WORDS    largest key, and largest of the keys' complements (0: none)
 *     1                number of values
 *     SUM_WORDS        their sum
 *     SQUARE_WORDS     the sum of their squares
 *
 * What a call is left with, `cells` and a column's `state`, is in statistics_state.h.
 */
#if !defined(TY_NO_FP64)

#if defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

#if TY_VALUE == TY_F64 || TY_VALUE == TY_U64 || TY_VALUE == TY_I64
#define STATISTICS_WIDE 1
#else
#define STATISTICS_WIDE 0
#endif
#if TY_VALUE == TY_F16 || TY_VALUE == TY_BF16 || TY_VALUE == TY_F32
#define STATISTICS_FLOAT 1
#else
#define STATISTICS_FLOAT 0
#endif
#if TY_VALUE == TY_I8 || TY_VALUE == TY_I16 || TY_VALUE == TY_I32 || TY_VALUE == TY_I64
#define STATISTICS_SIGNED 1
#else
#define STATISTICS_SIGNED 0
#endif
/* So that squares have 64 bits; or sums of 2^29 samples, a launch's, 63. */
#define STATISTICS_BITS (TY_SUMS > 1 ? 32 : 34)
/* Of packed float32, where limbs of a term begin, and of its square. */
#define STATISTICS_LOW          17
#define STATISTICS_SQUARE_1     22
#define STATISTICS_SQUARE_2     43
#define STATISTICS_KEY_WORDS    (TY_EXTREMES ? (STATISTICS_WIDE ? 2 : 1) : 0)
#define STATISTICS_SUM_WORDS    (TY_SUMS ? (STATISTICS_WIDE ? 3 : 2) : 0)
#define STATISTICS_SQUARE_WORDS (TY_SUMS > 1 ? (STATISTICS_WIDE ? 4 : 3) : 0)
#define STATISTICS_WORDS                                                                           \
    (2 * STATISTICS_KEY_WORDS + 1 + STATISTICS_SUM_WORDS + STATISTICS_SQUARE_WORDS)
#define STATISTICS_PARTIAL(slots) ((STATISTICS_WORDS * (slots) + 1) & ~1u)

#if STATISTICS_WIDE
typedef ty_wide statistics_sum;
typedef ty_u64 statistics_key;
#if defined(__CUDACC__)
#define STATISTICS_MAX(address, key) atomicMax((ty_u64 *)(address), (key))
#elif TY_GLOBAL_TABLE
#define STATISTICS_MAX(address, key) atom_max((volatile __global ty_u64 *)(address), (key))
#else
#define STATISTICS_MAX(address, key) atom_max((volatile __local ty_u64 *)(address), (key))
#endif
#else
typedef ty_i64 statistics_sum;
typedef ty_u32 statistics_key;
#if TY_GLOBAL_TABLE
#define STATISTICS_MAX(address, key) TY_MAX_GLOBAL(address, key)
#else
#define STATISTICS_MAX(address, key) TY_MAX_LOCAL(address, key)
#endif
#endif

#if TY_GLOBAL_TABLE
#define STATISTICS_SPACE                TY_GLOBAL
#define STATISTICS_TABLE_ADD(to, value) TY_ADD_GLOBAL(to, value)
#else
#define STATISTICS_SPACE                TY_LOCAL
#define STATISTICS_TABLE_ADD(to, value) TY_ADD_LOCAL(to, value)
#endif

/* What values are added by, and where a histogram's rare ones go. */
typedef struct statistics_how {
    double power, most; /* 2^(50-E); finite values are between -most and most */
    float scale, limit; /* 2^(STATISTICS_BITS-E), or NaN; some of the values between, nearly all */
    int whole;          /* whole numbers are added up as they are */
    ty_u32 flags, slots;
    TY_GLOBAL ty_u64 *cells, *state, *rare, *late;
    ty_u32 first; /* of the histogram's slots among the launch's */
} statistics_how;

/* Values of one slot: one, or several that follow each other. */
typedef struct statistics_term {
    statistics_sum sum;
    ty_wide square;
    statistics_key max, min;
    ty_u32 n;
} statistics_term;

/* The table, at a work-item's copy. */
typedef struct statistics_table {
    STATISTICS_SPACE statistics_key *keys;
    STATISTICS_SPACE ty_u32 *words;
    ty_u32 plane, step;
} statistics_table;

/* ---- a value ---- */

TY_FN double statistics_value(ty_u64 bits)
{
    return TY_VALUE == TY_U8    ? (double)(ty_u8)bits
           : TY_VALUE == TY_I8  ? (double)(ty_i8)(ty_u8)bits
           : TY_VALUE == TY_U64 ? (double)bits
           : TY_VALUE == TY_I64 ? (double)(ty_i64)bits
                                : ty_value_of(bits, TY_VALUE);
}

/* Whole numbers of up to 32 bits. */
TY_FN ty_i64 statistics_whole(ty_u64 bits)
{
    return TY_VALUE == TY_I8    ? (ty_i64)(ty_i8)(ty_u8)bits
           : TY_VALUE == TY_I16 ? (ty_i64)(ty_i16)(ty_u16)bits
           : TY_VALUE == TY_I32 ? (ty_i64)(ty_i32)(ty_u32)bits
                                : (ty_i64)bits;
}

/* Its key: in the order of numbers, and not 0. */
TY_FN statistics_key statistics_key_of(ty_u64 bits)
{
    statistics_key top = (statistics_key)1 << (8 * sizeof(statistics_key) - 1), key;
    if (TY_VALUE >= TY_F16) {
        key = TY_VALUE == TY_F64 ? (statistics_key)bits
                                 : (statistics_key)TY_FLOAT_BITS((float)statistics_value(bits));
        return key & top ? ~key : key | top;
    }
    key = STATISTICS_WIDE ? (statistics_key)bits : (statistics_key)statistics_whole(bits);
    return STATISTICS_SIGNED ? key ^ top : key;
}

/* E: no power of two that it goes into overflows. */
TY_FN int statistics_exponent(ty_u32 given, ty_u32 flags, TY_GLOBAL const ty_u64 *state)
{
    ty_u64 found = state[STATISTICS_GUESS];
    if (!(flags & STATISTICS_GUESSED) && state[STATISTICS_EXPONENT] > found)
        found = state[STATISTICS_EXPONENT];
    int e = given ? (int)given - STATISTICS_GIVEN : (int)found - 1022;
    return e < STATISTICS_LEAST ? STATISTICS_LEAST : e;
}

#if TY_PACKED
#define STATISTICS_FAR 4 /* the most that a guess may be too small by */

TY_FN int statistics_guess_holds(TY_GLOBAL const ty_u64 *state)
{
    return state[STATISTICS_EXPONENT] <= state[STATISTICS_GUESS] + STATISTICS_FAR &&
           state[STATISTICS_LATE] < STATISTICS_LATE_MOST;
}

/* Whether a finite value may have to be rounded otherwise than by the guess; then it is put off. */
TY_FN int statistics_put_off(float x, ty_u32 slot, const statistics_how *how)
{
    TY_GLOBAL ty_u32 *found = (TY_GLOBAL ty_u32 *)(how->state + STATISTICS_EXPONENT);
    TY_GLOBAL ty_u32 *late = (TY_GLOBAL ty_u32 *)(how->state + STATISTICS_LATE);
    double unit = x * ty_power(50 - STATISTICS_FAR + 1022 - (int)how->state[STATISTICS_GUESS]);
    ty_u32 own = (ty_u32)(TY_BITS_OF((double)x) >> 52 & 2047), at;
    if (own > *(volatile TY_GLOBAL ty_u32 *)found)
        TY_MAX_GLOBAL(found, own);
    if (own <= how->state[STATISTICS_GUESS] && unit == TY_RINT(unit))
        return 0;
    if (*(volatile TY_GLOBAL ty_u32 *)late < STATISTICS_LATE_MOST) {
        at = TY_ADD_GLOBAL(late, 1);
        if (at < STATISTICS_LATE_MOST)
            how->late[at] = (ty_u64)(how->first + slot) << 32 | TY_FLOAT_BITS(x);
    }
    return 1;
}
#endif

TY_FN statistics_how statistics_begin(ty_u32 given, ty_u32 flags, TY_GLOBAL ty_u64 *state)
{
    statistics_how h;
    int e = statistics_exponent(given, flags, state);
    h.power = ty_power(50 - e);
    h.most =
        TY_AS_DOUBLE((ty_u64)(e < 1024 && !(flags & STATISTICS_GUESSED) ? e + 1023 : 2047) << 52);
    h.limit = e < -120 ? 0.0f : TY_AS_FLOAT((ty_u32)(e < 128 ? e + 127 : 255) << 23);
    h.scale =
        TY_AS_FLOAT(e < -70 || e > 100 ? 0x7fc00000u : (ty_u32)(STATISTICS_BITS - e + 127) << 23);
    h.whole = e <= 50;
    h.flags = flags;
    h.state = state;
    return h;
}

/* ---- tables ---- */

/* Adds x to words that are `stride` apart; what is past the last is dropped. */
#define STATISTICS_PUT(ADD, to, stride, words, x)                                                  \
    do {                                                                                           \
        ty_u32 carry = 0;                                                                          \
        TY_UNROLL                                                                                  \
        for (int k = 0; k < (words); k++) {                                                        \
            ty_u64 more = (ty_u64)(ty_u32)((k < 2 ? (x).low : (x).high) >> 32 * (k & 1)) + carry;  \
            ty_u32 word = (ty_u32)more;                                                            \
            carry = (ty_u32)(more >> 32);                                                          \
            if (word && k + 1 < (words)) {                                                         \
                ty_u32 old = ADD((to) + k * (stride), word);                                       \
                carry += old + word < old ? 1 : 0;                                                 \
            } else if (word) {                                                                     \
                ADD((to) + k * (stride), word);                                                    \
            }                                                                                      \
        }                                                                                          \
    } while (0)

TY_FN ty_wide statistics_wide_of(statistics_sum sum)
{
#if STATISTICS_WIDE
    return sum;
#else
    ty_wide w = {(ty_u64)sum, sum < 0 ? ~(ty_u64)0 : 0};
    return w;
#endif
}

TY_FN ty_wide statistics_square(ty_i64 p)
{
    ty_u64 m = (ty_u64)(p < 0 ? 0 - p : p), low = m & 0xffffffffu, high = m >> 32;
    ty_u64 middle = low * high * 2; /* of 50 bits: m is below 2^51 */
    ty_wide square = {low * low, high * high + (middle >> 32)};
    ty_wide rest = {middle << 32, 0};
    return ty_wide_add(square, rest);
}

/* A histogram's rare values, of which it has copies for its groups. */
TY_FN TY_GLOBAL ty_u64 *statistics_rare_of(TY_GLOBAL ty_u64 *rare, ty_u32 here, ty_u32 group,
                                           ty_u32 copies, ty_u32 slots)
{
    return rare + ((ty_u64)here * copies + group % copies) * slots * STATISTICS_RARE_WORDS;
}

/* Adds p and its square to a slot's rare values, in limbs, to which nothing carries. */
TY_FN void statistics_put_rare(ty_i64 p, TY_GLOBAL ty_u64 *to, ty_u32 slots)
{
    ty_wide square = statistics_square(p);
    TY_ADD_WIDE(to, p & 0x3ffffff);
    TY_ADD_WIDE(to + slots, p >> 26);
    to += STATISTICS_RARE_SQUARES * slots;
    for (int k = 0; k < (TY_SUMS > 1 ? 4 : 0); k++) {
        if (square.low & 0xfffffff)
            TY_ADD_WIDE(to + k * slots, square.low & 0xfffffff);
        square.low = square.low >> 28 | square.high << 36;
        square.high >>= 28;
    }
}

/* The term of a value that is not added as the others are: NaN, infinite, beyond the limit, or with
 * bits below its term's unit. */
TY_FN statistics_term statistics_rare(ty_u64 bits, ty_u32 slot, const statistics_how *how)
{
    statistics_term t = {0};
    double x = statistics_value(bits);
    TY_GLOBAL ty_u64 *cell = how->cells + (ty_u64)slot * STATISTICS_CELL;
    if (x != x && (how->flags & STATISTICS_SKIP))
        return t;
    t.n = 1;
    if (TY_EXTREMES && x == x) {
        t.max = statistics_key_of(bits);
        t.min = ~t.max;
    }
    if (!(x < how->most && x > -how->most)) {
        if (how->flags & STATISTICS_LIMITED)
            TY_OR_GLOBAL((TY_GLOBAL ty_u32 *)how->state, 1);
        else
            TY_OR_GLOBAL((TY_GLOBAL ty_u32 *)(cell + STATISTICS_ODD), x > 0 ? 1 : x < 0 ? 2 : 4);
    } else if (TY_SUMS && STATISTICS_FLOAT) {
#if TY_PACKED
        if ((how->flags & STATISTICS_GUESSED) && statistics_put_off((float)x, slot, how))
            return t;
#endif
        statistics_put_rare((ty_i64)TY_RINT(x * how->power), how->rare + slot, how->slots);
    }
    return t;
}

/* The term of a value, of nothing if that is rare: *usual says whether it is not. */
TY_FN statistics_term statistics_term_of(ty_u64 bits, const statistics_how *how, int *usual)
{
    statistics_term t;
    statistics_key key = TY_EXTREMES ? statistics_key_of(bits) : 0;
    ty_i64 p;
    int is;
#if STATISTICS_FLOAT
    float v = TY_VALUE == TY_F32 ? TY_AS_FLOAT((ty_u32)bits) : (float)statistics_value(bits);
    float scaled = v * how->scale;
    is = TY_FABS(v) < how->limit;
    if (TY_SUMS)
        is &= scaled == TY_RINT(scaled);
    p = TY_SUMS && is ? (ty_i64)scaled : 0;
#else
    double x = statistics_value(bits);
    is = x < how->most && x > -how->most;
    p = !TY_SUMS                         ? 0
        : !is                            ? 0
        : !STATISTICS_WIDE && how->whole ? statistics_whole(bits)
                                         : (ty_i64)TY_RINT(x * how->power);
#endif
    *usual = is;
    t.n = is ? 1 : 0;
    t.max = is ? key : 0;
    t.min = is && TY_EXTREMES ? ~key : 0;
#if STATISTICS_WIDE
    t.sum.low = (ty_u64)p;
    t.sum.high = p < 0 ? ~(ty_u64)0 : 0;
    t.square = statistics_square(TY_SUMS > 1 ? p : 0);
#else
    ty_u32 size = (ty_u32)(p < 0 ? 0 - p : p);
    t.sum = p;
    t.square.low = TY_SUMS > 1 ? (ty_u64)size * size : 0;
    t.square.high = 0;
#endif
    return t;
}

TY_FN void statistics_extreme(STATISTICS_SPACE statistics_key *at, statistics_key key)
{
    if (key > *(volatile STATISTICS_SPACE statistics_key *)at)
        STATISTICS_MAX(at, key);
}

/* Adds a slot's values to its words. */
TY_FN void statistics_put(const statistics_table *table, ty_u32 slot, const statistics_term *t)
{
    ty_u32 at = slot * table->step;
    STATISTICS_SPACE ty_u32 *to = table->words + at;
    if (!t->n)
        return;
    if (TY_EXTREMES) {
        statistics_extreme(table->keys + at, t->max);
        statistics_extreme(table->keys + table->plane + at, t->min);
    }
    STATISTICS_TABLE_ADD(to, t->n);
    to += table->plane;
    if (TY_SUMS) {
        ty_wide sum = statistics_wide_of(t->sum);
        STATISTICS_PUT(STATISTICS_TABLE_ADD, to, table->plane, STATISTICS_SUM_WORDS, sum);
    }
    to += STATISTICS_SUM_WORDS * table->plane;
    if (TY_SUMS > 1)
        STATISTICS_PUT(STATISTICS_TABLE_ADD, to, table->plane, STATISTICS_SQUARE_WORDS, t->square);
}

/* Samples of one slot that follow each other are put together first: *all are those of slot *run
 * that the table does not have yet. */
TY_FN void statistics_add(const statistics_table *table, ty_u32 slot, const statistics_term *t,
                          ty_u32 *run, statistics_term *all)
{
    if (slot != *run) {
        statistics_put(table, *run, all);
        *all = *t;
        *run = slot;
        return;
    }
    all->n += t->n;
    all->max = t->max > all->max ? t->max : all->max;
    all->min = t->min > all->min ? t->min : all->min;
#if STATISTICS_WIDE
    all->sum = ty_wide_add(all->sum, t->sum);
#else
    all->sum += t->sum;
#endif
    if (TY_SUMS > 1)
        all->square = ty_wide_add(all->square, t->square);
}

/* ---- counting ---- */

TY_KERNEL(TY_ANY_GROUP)
statistics_probe(TY_GRID_ARGS(values), ty_i64 channel, TY_GLOBAL const ty_u8 *axis, ty_u64 columns,
                 ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives, ty_u32 parts,
                 TY_GLOBAL ty_u64 *totals, ty_u64 state_at, ty_u32 stride,
                 ty_u32 found TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, largest = 0;
    ty_u64 b = (first + here) / actives, line = TY_GROUP - here * parts;
    ty_i64 offset = channel * ty_channel_of(axis, first + here - b * actives);
    if (lid == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    for (ty_u64 i = begin + line * TY_ANY_GROUP + lid; i < end; i += (ty_u64)parts * TY_ANY_GROUP) {
        ty_u64 row = i / columns;
        ty_u64 bits =
            ty_word_at(TY_GRID_AT(values, b, row, i - row * columns) + offset, TY_VALUE_SIZE);
        ty_u32 own = (ty_u32)(TY_BITS_OF(statistics_value(bits)) >> 52 & 2047);
        largest = own < 2047 && own > largest ? own : largest;
    }
    if (largest)
        TY_MAX_LOCAL(&ty_local[0], largest);
    TY_BARRIER();
    if (lid == 0 && ty_local[0])
        TY_MAX_GLOBAL((TY_GLOBAL ty_u32 *)(totals + state_at + found), ty_local[0]);
    (void)stride;
}

#if !TY_GLOBAL_TABLE
/* A word of each copy of a slot's, added up: `words` of them, a plane apart. */
TY_FN ty_wide statistics_copies(TY_LOCAL const ty_u32 *from, ty_u32 copies, ty_u32 plane, int words)
{
    ty_wide sum = {0, 0};
    for (ty_u32 j = 0; j < copies; j++) {
        ty_wide one = {from[j] | (words > 1 ? (ty_u64)from[plane + j] << 32 : 0), 0};
        one.high = words > 2 ? from[2 * plane + j] : 0;
        one.high |= words > 3 ? (ty_u64)from[3 * plane + j] << 32 : 0;
        sum = ty_wide_add(sum, one);
    }
    return sum;
}

TY_FN void statistics_words(TY_GLOBAL ty_u32 *to, ty_u32 slots, int words, ty_wide x)
{
    for (int k = 0; k < words; k++)
        to[k * slots] = (ty_u32)((k < 2 ? x.low : x.high) >> 32 * (k & 1));
}

/* The copies of a slot, which are those of entry `from` of the group's table, into its partial. */
TY_FN void statistics_leave(TY_LOCAL ty_u32 *table, ty_u32 from, ty_u32 slot, ty_u32 slots,
                            ty_u32 copies, ty_u32 plane, TY_GLOBAL ty_u32 *out)
{
    TY_LOCAL const ty_u32 *words = table + 2 * STATISTICS_KEY_WORDS * plane + (ty_u64)from * copies;
    TY_GLOBAL ty_u32 *to = out + 2 * STATISTICS_KEY_WORDS * slots + slot;
    for (ty_u32 end = 0; end < 2 && TY_EXTREMES; end++) {
        TY_LOCAL const statistics_key *keys =
            (TY_LOCAL const statistics_key *)table + end * plane + from * copies;
        statistics_key key = 0;
        for (ty_u32 j = 0; j < copies; j++)
            key = keys[j] > key ? keys[j] : key;
        ((TY_GLOBAL statistics_key *)out)[end * slots + slot] = key;
    }
    statistics_words(to, slots, 1, statistics_copies(words, copies, plane, 1));
    if (TY_SUMS)
        statistics_words(to + slots, slots, STATISTICS_SUM_WORDS,
                         statistics_copies(words + plane, copies, plane, STATISTICS_SUM_WORDS));
    words += (1 + STATISTICS_SUM_WORDS) * plane;
    if (TY_SUMS > 1)
        statistics_words(to + (1 + STATISTICS_SUM_WORDS) * slots, slots, STATISTICS_SQUARE_WORDS,
                         statistics_copies(words, copies, plane, STATISTICS_SQUARE_WORDS));
}
#endif

#define STATISTICS_ARGS                                                                            \
    TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, TY_GRID_ARGS(values),       \
        ty_i64 value_channel, TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin,           \
        ty_u64 end, ty_u64 first, ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies,       \
        ty_u32 given, ty_u32 flags, TY_GLOBAL ty_u64 *totals, ty_u64 cells_at, ty_u64 flows_at,    \
        ty_u64 state_at, TY_GLOBAL ty_u64 *rare, ty_u64 rare_at, ty_u32 rare_copies,               \
        TY_GLOBAL ty_u32 *out

TY_KERNEL(TY_ANY_GROUP) statistics_count(STATISTICS_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, run = 0, bins = slots - TY_SLOT_EXTRA;
    ty_u64 b = (first + here) / actives, step = (ty_u64)parts * TY_ANY_GROUP;
    ty_i64 number = ty_channel_of(axis, first + here - b * actives);
    ty_i64 offset = channel * number, value_offset = value_channel * number;
    ty_u64 i = begin + (ty_u64)(TY_GROUP - here * parts) * TY_ANY_GROUP + lid;
    ty_u64 row = i / columns, column = i - row * columns;
    ty_u64 step_rows = step / columns, step_columns = step - step_rows * columns;
    TY_GLOBAL ty_u64 *flows = totals + flows_at + (ty_u64)here * STATISTICS_FLOWS;
    statistics_how how = statistics_begin(given, flags, totals + state_at);
    statistics_term all = {0};
    statistics_table table;
    how.slots = slots;
    how.cells = totals + cells_at + (ty_u64)here * slots * STATISTICS_CELL;
    how.rare =
        statistics_rare_of(rare + rare_at, here, TY_GROUP - here * parts, rare_copies, slots);
#if TY_GLOBAL_TABLE
    TY_GLOBAL ty_u32 *base = out + (ty_u64)here * STATISTICS_PARTIAL(slots);
    ty_u32 copy = 0;
    copies = 1;
    (void)ty_local;
#else
    TY_LOCAL ty_u32 *base = ty_local;
    ty_u32 copy = lid & (copies - 1);
    for (ty_u32 k = lid; k < STATISTICS_WORDS * slots * copies; k += TY_ANY_GROUP)
        ty_local[k] = 0;
#endif
    table.plane = slots * copies;
    table.step = copies;
    table.keys = (STATISTICS_SPACE statistics_key *)base + copy;
    table.words = base + 2 * STATISTICS_KEY_WORDS * table.plane + copy;
    TY_BARRIER();
    for (; i < end; i += step) {
        ty_u32 slot;
        TY_MASKED_SLOT(slot, b, row, column, offset, mask, masked, bins, axis);
        ty_u64 bits = ty_word_at(TY_GRID_AT(values, b, row, column) + value_offset, TY_VALUE_SIZE);
        int usual;
        statistics_term t = statistics_term_of(bits, &how, &usual);
        if (!usual)
            t = statistics_rare(bits, slot, &how);
        if ((flags & STATISTICS_ABOUT) && slot >= bins)
            TY_ADD_WIDE(&flows[slot - bins], 1);
        statistics_add(&table, slot, &t, &run, &all);
        TY_STEP(row, column, columns, step_rows, step_columns);
    }
    statistics_put(&table, run, &all);
#if !TY_GLOBAL_TABLE
    TY_BARRIER();
    for (ty_u32 s = lid; s < slots; s += TY_ANY_GROUP)
        statistics_leave(ty_local, s, s, slots, copies, table.plane,
                         out + (ty_u64)TY_GROUP * STATISTICS_PARTIAL(slots));
#endif
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
