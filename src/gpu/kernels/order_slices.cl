/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order, 7: many ranks of one group of samples, in two readings of them.
 *
 * Keys drawn at random say how keys are spread. By them all keys are divided into some thousand
 * slices of about equal count, ascending (order_map.cl).
 *
 *     order_slices_map       how keys are divided, by one group
 *     order_slices_count_…   the first reading: how many keys each slice has
 *     order_slices_choose    the slice of each rank, by one group; it gets a list
 *     order_lists_fill_…     the second reading: keys of these slices go to their lists
 *     order_lists_place      more space where a list had too little; they are filled again
 *     order_lists_select     each rank in its list, a group each, by digits
 *
 * For few ranks there is a sieve before (order_sift.cl), and both readings are of what it kept.
 *
 * Where the lists would have too many keys, map, count and choose are done again with the drawn
 * keys of the ranks' slices alone; else their second launch does nothing. One key of each list is
 * left out, the one in the middle of the slice's drawn keys, so that many equal keys need no space:
 * how many there are is what the slice has more than the list. NaN are a slice of their own, the
 * last, and left out of its list.
 */

/* ---- counting ---- */

/* The buckets, or other words, to local memory. */
TY_FN void order_slices_load(TY_GLOBAL const ty_u32 *slices, ty_u32 at, ty_u32 words,
                             TY_LOCAL ty_u32 *to)
{
    TY_GLOBAL const uint4 *from = (TY_GLOBAL const uint4 *)(slices + at);
    for (ty_u32 i = TY_LID; i < words / 4; i += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)to)[i] = from[i];
}

/* Local memory, in words: the buckets; from ORDER_SLICES_AT on a count of each slice. */
#define ORDER_SLICES_AT (2 * ORDER_BUCKETS)

/* Keys whose slices are looked up at once, so that one's wait is not the next one's. */
#define ORDER_TOGETHER 8

#define ORDER_SLICES_COUNT(x, counts, some_nan)                                                    \
    do {                                                                                           \
        (void)(some_nan);                                                                          \
        if ((counts) == (1u << ORDER_EACH) - 1) {                                                  \
            TY_UNROLL                                                                              \
            for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_ += ORDER_TOGETHER) {                           \
                ty_u32 slice_[ORDER_TOGETHER];                                                     \
                TY_UNROLL                                                                          \
                for (ty_u32 k_ = 0; k_ < ORDER_TOGETHER; k_++)                                     \
                    ORDER_MAP(&m, buckets, (x)[j_ + k_], slice_[k_]);                              \
                TY_UNROLL                                                                          \
                for (ty_u32 k_ = 0; k_ < ORDER_TOGETHER; k_++)                                     \
                    TY_INC_AT(ty_local, first + 4 * slice_[k_]);                                   \
            }                                                                                      \
        } else {                                                                                   \
            for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++) {                                           \
                ty_u32 slice_;                                                                     \
                if (!((counts) >> j_ & 1))                                                         \
                    continue;                                                                      \
                ORDER_MAP(&m, buckets, (x)[j_], slice_);                                           \
                TY_INC_AT(ty_local, first + 4 * slice_);                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* The same of samples as they are held, in even slices. */
#define ORDER_EVEN_COUNT(by_value, x, counts, some_nan)                                            \
    do {                                                                                           \
        if ((counts) == (1u << ORDER_EACH) - 1 && !(some_nan)) {                                   \
            TY_UNROLL                                                                              \
            for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++)                                             \
                TY_INC_AT(ty_local, first + 4 * order_cell_of(&m.cells, by_value,                  \
                                                              ORDER_EVEN_SLICES, (x)[j_]));        \
        } else {                                                                                   \
            for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++)                                             \
                if ((counts) >> j_ & 1)                                                            \
                    TY_INC_AT(ty_local, first + 4 * order_even_slice(&m, (x)[j_]));                \
        }                                                                                          \
    } while (0)
#define ORDER_VALUES_COUNT(x, counts, some_nan)                                                    \
    ORDER_EVEN_COUNT(ORDER_HAS_VALUES, x, counts, some_nan)
#define ORDER_KEYS_COUNT(x, counts, some_nan) ORDER_EVEN_COUNT(0, x, counts, some_nan)

/* The group's counts to those of all. */
TY_FN void order_slices_end(TY_GLOBAL ty_u32 *slices, TY_LOCAL const ty_u32 *counts)
{
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < ORDER_SLICES_MOST; i += TY_GROUP_SIZE)
        if (counts[i])
            TY_ADD_WIDE(order_slices_counts(slices) + i, (ty_u64)counts[i]);
}

#define ORDER_SLICES_BEGIN()                                                                       \
    TY_LOCAL const uint2 *buckets = (TY_LOCAL const uint2 *)ty_local;                              \
    const ty_u32 first = TY_LOCAL_ADDRESS(ty_local) + 4 * ORDER_SLICES_AT;                         \
    if (!state[ORDER_N] || (again == 1 && !slices[ORDER_S_AGAIN]))                                 \
        return;                                                                                    \
    if (slices[ORDER_S_SIFTED] && TY_GROUP >= order_keys_groups(state[ORDER_KEPT]))                \
        return;                                                                                    \
    const order_map m = order_map_of(slices);                                                      \
    if (!m.even)                                                                                   \
        order_slices_load(slices, ORDER_S_BUCKET, 2 * ORDER_BUCKETS, ty_local);                    \
    for (ty_u32 i_ = TY_LID; i_ < ORDER_SLICES_MOST; i_ += TY_GROUP_SIZE)                          \
        ty_local[ORDER_SLICES_AT + i_] = 0;                                                        \
    TY_BARRIER()

TY_KERNEL_DENSE(TY_GROUP_SIZE, 5)
order_slices_count_packed(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n,
                          TY_GLOBAL ty_u64 *state, ty_u64 slices_at,
                          TY_GLOBAL const order_key *kept, ty_u32 again TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    ORDER_SLICES_BEGIN();
    if (slices[ORDER_S_SIFTED])
        ORDER_READ_KEYS(kept, state[ORDER_KEPT], ORDER_SLICES_COUNT);
    else if (ORDER_HAS_VALUES && m.even == ORDER_EVEN_VALUES)
        ORDER_READ_PACKED(data, offset, n, order_load_held, order_held, ORDER_VALUES_COUNT);
    else if (m.even)
        ORDER_READ_PACKED(data, offset, n, order_load_held, order_held, ORDER_KEYS_COUNT);
    else
        ORDER_READ_PACKED(data, offset, n, order_load, order_key_of, ORDER_SLICES_COUNT);
    order_slices_end(slices, ty_local + ORDER_SLICES_AT);
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, 5)
order_slices_count_view(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                        ty_u64 columns, ty_u64 n, TY_GLOBAL ty_u64 *state, ty_u64 slices_at,
                        TY_GLOBAL const order_key *kept, ty_u32 again TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    ORDER_SLICES_BEGIN();
    if (slices[ORDER_S_SIFTED])
        ORDER_READ_KEYS(kept, state[ORDER_KEPT], ORDER_SLICES_COUNT);
    else if (ORDER_HAS_VALUES && m.even == ORDER_EVEN_VALUES)
        ORDER_READ_VIEW(order_held, ORDER_VALUES_COUNT);
    else if (m.even)
        ORDER_READ_VIEW(order_held, ORDER_KEYS_COUNT);
    else
        ORDER_READ_VIEW(order_key_of, ORDER_SLICES_COUNT);
    order_slices_end(slices, ty_local + ORDER_SLICES_AT);
}

/* ---- the slices of the ranks ---- */

/* Local memory, in words: the lower halves of how many keys each slice has, later two bytes of
 * each, whether it has a list and how many lists are before it; how many keys are before each
 * work-item's slices; sums of the work-items and of parts. */
#define ORDER_C_BEFORE (ORDER_SLICES_MOST / 4)
#define ORDER_C_KEYS   ORDER_SLICES_MOST
#define ORDER_C_SUMS   (ORDER_C_KEYS + 2 * TY_GROUP_SIZE)

/* How many keys are before each work-item's slices; `large`: slices may have 2^32 and more. */
TY_FN void order_slices_sums(TY_GLOBAL const ty_u64 *counts, int large, TY_LOCAL ty_u32 *area)
{
    enum { own = ORDER_SLICES_MOST / TY_GROUP_SIZE };
    TY_LOCAL ty_u64 *sums = (TY_LOCAL ty_u64 *)(area + ORDER_C_SUMS);
    ty_u64 sum = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < own; k++)
        area[k * TY_GROUP_SIZE + TY_LID] = (ty_u32)counts[k * TY_GROUP_SIZE + TY_LID];
    TY_BARRIER();
    for (ty_u32 k = 0; k < own; k++)
        sum += large ? counts[TY_LID * own + k] : area[TY_LID * own + k];
    ((TY_LOCAL ty_u64 *)(area + ORDER_C_KEYS))[TY_LID] =
        order_sum_before_wide(sum, sums, sums + TY_GROUP_SIZE);
    TY_BARRIER();
}

/* The slice of each rank that is sought, and the rank in it; slices of ranks and of NaN get a byte.
 */
TY_FN void order_slices_find(TY_GLOBAL ty_u64 *state, TY_GLOBAL const ty_u64 *counts, ty_u32 slices,
                             ty_u32 ranks, TY_LOCAL ty_u32 *area)
{
    enum { own = ORDER_SLICES_MOST / TY_GROUP_SIZE };
    TY_LOCAL const ty_u64 *keys = (TY_LOCAL const ty_u64 *)(area + ORDER_C_KEYS);
    TY_LOCAL ty_u8 *wanted = (TY_LOCAL ty_u8 *)area;
    const int large = state[ORDER_COUNT] >> 32 != 0;
    order_slices_sums(counts, large, area);
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE) {
        const ty_u64 rank = state[ORDER_RANK + r];
        ty_u32 at;
        if (state[ORDER_WHAT + r] == ORDER_FOUND)
            continue;
        ORDER_BELOW(keys, TY_GROUP_SIZE, rank, 1, at);
        ty_u64 left = rank - keys[at - 1];
        const ty_u32 end = at * own < slices ? at * own : slices;
        for (at = (at - 1) * own; at + 1 < end; at++) {
            const ty_u64 here = large ? counts[at] : area[at];
            if (left < here)
                break;
            left -= here;
        }
        state[ORDER_SLICE + r] = at;
        state[ORDER_IN_SLICE + r] = left;
    }
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < ORDER_SLICES_MOST / 4; i += TY_GROUP_SIZE)
        area[i] = 0;
    TY_BARRIER();
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] != ORDER_FOUND)
            wanted[state[ORDER_SLICE + r]] = 1;
#if ORDER_IS_FLOAT
    if (TY_LID == 0)
        wanted[slices - 1] = 1; /* NaN */
#endif
    TY_BARRIER();
}

/* Numbers the lists; each slice gets the number of its list, or 255, and in local memory how many
 * lists are before it. Returns how many there are. */
TY_FN ty_u32 order_slices_number(TY_GLOBAL ty_u32 *slices, TY_LOCAL ty_u32 *area)
{
    enum { own = ORDER_SLICES_MOST / TY_GROUP_SIZE };
    TY_LOCAL const ty_u8 *wanted = (TY_LOCAL const ty_u8 *)area;
    TY_LOCAL ty_u8 *before = (TY_LOCAL ty_u8 *)(area + ORDER_C_BEFORE);
    const ty_u32 begin = TY_LID * own;
    ty_u32 mine = 0, list;
    for (ty_u32 s = begin; s < begin + own; s++)
        mine += wanted[s];
    list = order_sum_before(mine, area + ORDER_C_SUMS, area + ORDER_C_SUMS + TY_GROUP_SIZE);
    const ty_u32 lists = order_total(list + mine, area + ORDER_C_SUMS);
    for (ty_u32 s = begin; s < begin + own; s += 4) {
        ty_u32 four = 0;
        for (ty_u32 k = 0; k < 4; k++) {
            four |= (wanted[s + k] ? list : 255) << 8 * k;
            before[s + k] = (ty_u8)list;
            if (wanted[s + k])
                slices[ORDER_S_SLICE + list++] = s + k;
        }
        slices[ORDER_S_LIST + s / 4] = four;
    }
    TY_WHOLE_BARRIER();
    return lists;
}

/* The bucket of each list. A bucket without lists gets one slice, the same for all such: work-items
 * that look there read one word. */
TY_FN void order_slices_unite(TY_GLOBAL ty_u32 *slices, ty_u32 none, TY_LOCAL const ty_u8 *before)
{
    TY_GLOBAL uint2 *buckets = (TY_GLOBAL uint2 *)(slices + ORDER_S_BUCKET);
    for (ty_u32 b = TY_LID; b < ORDER_BUCKETS; b += TY_GROUP_SIZE) {
        const ty_u32 first = buckets[b].y / ORDER_SLICES;
        const ty_u32 list = before[first];
        const ty_u32 end = before[first + (buckets[b].y & (ORDER_SLICES - 1)) + 1];
        for (ty_u32 k = list; k < end; k++)
            slices[ORDER_S_WITHIN + k] = b;
        if (list == end)
            buckets[b].y = none * ORDER_SLICES;
    }
}

/* A list's key that is left out; and space for the others and some to spare, by the drawn keys. */
TY_FN void order_slices_list(TY_GLOBAL const ty_u64 *state, TY_GLOBAL ty_u32 *slices,
                             TY_GLOBAL const order_key *keys, ty_u32 list)
{
    const ty_u32 slice = slices[ORDER_S_SLICE + list];
    const ty_u64 count = order_slices_counts(slices)[slice];
    const ty_u32 edges = slices[ORDER_S_SIFTED] ? (ty_u32)state[ORDER_EDGES] : 0;
    const order_map m = order_map_of(slices);
    const ty_u32 all = slices[ORDER_S_DRAWN];
    const ty_u32 begin =
        m.even ? order_even_before(&m, keys, all, slice) : slices[ORDER_S_FIRST + slice];
    const ty_u32 drawn =
        (m.even ? order_even_before(&m, keys, all, slice + 1) : slices[ORDER_S_FIRST + slice + 1]) -
        begin;
    ty_u32 equal[2];
    ty_u64 space = count;
    order_key key = ORDER_NAN;
    if (ORDER_IS_FLOAT && slice + 1 == slices[ORDER_S_SLICES]) {
        const ty_u64 most = state[ORDER_COUNT] / 256 + 4096; /* above all drawn keys */
        space = count < most ? count : most;
    } else if (drawn) {
        key = keys[begin + drawn / 2];
        ORDER_BELOW(keys + begin, drawn, key, 0, equal[0]);
        ORDER_BELOW(keys + begin, drawn, key, 1, equal[1]);
        const float other = (float)(drawn - (equal[1] - equal[0]));
        const float share = (other + 3 * (float)sqrt(other) + 4) / (float)drawn;
        space = share < 1 ? (ty_u64)(share * (float)count) + 1 : count;
    }
    for (ty_u32 e = 0, any = 0; e < edges; e++)
        if (slices[ORDER_S_EDGE + e] == slice) { /* keys equal to it did not go through the sieve */
            key = (order_key)state[ORDER_EDGE + e];
            space = (any++ ? space : count) - state[ORDER_CELL + 2 * e + 1];
        }
    if (space < count)
        slices[ORDER_S_HEAVY] = 1;
    if (space >> 31)
        slices[ORDER_S_LOST] = 1;
    slices[ORDER_S_SPACE + list] = space >> 31 ? 0 : (ty_u32)space;
    slices[ORDER_S_FILL + list] = 0;
    order_slices_set_key(slices, ORDER_S_KEY + list * ORDER_KEY_WORDS, key);
}

/* Where lists begin, by the space that they have; returns the end of the last, which is right if it
 * is below 2^32. */
TY_FN ty_u64 order_lists_lay(TY_GLOBAL ty_u32 *slices, ty_u32 lists, TY_LOCAL ty_u32 *sums,
                             TY_LOCAL ty_u32 *parts)
{
    enum { own = 256 / TY_GROUP_SIZE, unit = 16, most_units = (1 << 24) - 1 };
    ty_u32 units[own], sum = 0, at;
    for (ty_u32 k = 0; k < own; k++) {
        const ty_u32 list = TY_LID * own + k;
        units[k] = 0;
        if (list >= lists)
            continue;
        units[k] = (slices[ORDER_S_SPACE + list] + unit - 1) / unit;
        if (units[k] > most_units)
            slices[ORDER_S_SPACE + list] = (units[k] = most_units) * unit;
        sum += units[k];
    }
    at = order_sum_before(sum, sums, parts);
    for (ty_u32 k = 0; k < own; k++) {
        slices[ORDER_S_AT + TY_LID * own + k] = at * unit;
        at += units[k];
    }
    return (ty_u64)order_total(at, sums) * unit;
}

/* Lists have space for `most` keys; where these are too few, this is done `again`, as
 * order_slices_map has it. */
TY_KERNEL(TY_GROUP_SIZE)
order_slices_choose(TY_GLOBAL ty_u64 *state, ty_u64 slices_at,
                    TY_GLOBAL const order_key *drawn_keys, ty_u64 most, ty_u32 ranks,
                    ty_u32 again TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    TY_LOCAL ty_u32 *sums = ty_local + ORDER_C_SUMS;
    ORDER_BEGIN();
    if (!state[ORDER_N] || (again == 1 && !slices[ORDER_S_AGAIN]))
        return;
    order_slices_find(state, order_slices_counts(slices), slices[ORDER_S_SLICES], ranks, ty_local);
    if (TY_LID == 0)
        slices[ORDER_S_HEAVY] = slices[ORDER_S_REDO] = slices[ORDER_S_LOST] = 0;
    const ty_u32 lists = order_slices_number(slices, ty_local);
    if (!slices[ORDER_S_EVEN])
        order_slices_unite(slices, slices[ORDER_S_SLICES],
                           (TY_LOCAL const ty_u8 *)(ty_local + ORDER_C_BEFORE));
    for (ty_u32 list = TY_LID; list < lists; list += TY_GROUP_SIZE)
        order_slices_list(state, slices, drawn_keys + slices[ORDER_S_KEYS], list);
    for (ty_u32 list = lists + TY_LID; list < 256; list += TY_GROUP_SIZE)
        order_slices_set_key(slices, ORDER_S_KEY + list * ORDER_KEY_WORDS, 0);
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] != ORDER_FOUND)
            state[ORDER_LIST + r] =
                ((TY_GLOBAL const ty_u8 *)(slices + ORDER_S_LIST))[state[ORDER_SLICE + r]];
    TY_WHOLE_BARRIER();
    const ty_u64 space = order_lists_lay(slices, lists, sums, sums + TY_GROUP_SIZE);
    if (TY_LID == 0) {
        slices[ORDER_S_AGAIN] = space > most && !again;
        slices[ORDER_S_LISTS] = lists;
    }
    for (ty_u32 list = TY_LID; space > most && again && list < lists; list += TY_GROUP_SIZE)
        slices[ORDER_S_SPACE + list] = 0; /* order_lists_place will know how many they are */
}
/* SPDX-License-Identifier: Apache-2.0 */
