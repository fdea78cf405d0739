/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order, 8: keys of some slices (order_slices.cl) in lists, and ranks among them.
 */
/* ---- filling ---- */

/*
 * Local memory, in words:
 *
 *     0               the buckets
 *     ORDER_F_LIST    a byte of each slice: its list
 *     ORDER_F_KEY     of each list the key that is left out,
 *     ORDER_F_NUMBER  how many keys of the stage are its, and where they go
 *     ORDER_F_STAGED  how many keys are on the stage
 *     ORDER_F_STAGE   keys of lists, on their way
 */
#define ORDER_F_LIST   (2 * ORDER_BUCKETS)
#define ORDER_F_KEY    (ORDER_F_LIST + ORDER_SLICES_MOST / 4)
#define ORDER_F_NUMBER (ORDER_F_KEY + 512)
#define ORDER_F_STAGED (ORDER_F_NUMBER + 256)
#define ORDER_F_STAGE  (ORDER_F_STAGED + 4)
#define ORDER_F_EXTRA  (ORDER_STAGE_EXTRA / ORDER_KEY_WORDS)
#define ORDER_F_OWN    ((ORDER_TILE + ORDER_F_EXTRA + TY_GROUP_SIZE - 1) / TY_GROUP_SIZE)

/* Writes what is staged, keys or what is held for them, to the lists if another tile's might not
 * fit, or at the end. */
TY_FN void order_lists_flush(TY_GLOBAL ty_u32 *slices, const order_map *m, TY_GLOBAL order_key *out,
                             int last, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const uint2 *buckets = (TY_LOCAL const uint2 *)area;
    TY_LOCAL const ty_u8 *list_of = (TY_LOCAL const ty_u8 *)(area + ORDER_F_LIST);
    TY_LOCAL const order_key *left = (TY_LOCAL const order_key *)(area + ORDER_F_KEY);
    TY_LOCAL const order_key *stage = (TY_LOCAL const order_key *)(area + ORDER_F_STAGE);
    ty_u32 place[ORDER_F_OWN]; /* number among those of the list, and in 8 bits the list */
    TY_BARRIER();
    const ty_u32 staged = area[ORDER_F_STAGED];
    TY_BARRIER();
    if (staged <= ORDER_F_EXTRA && !last)
        return;
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_F_OWN; k++) {
        const ty_u32 i = TY_LID + k * TY_GROUP_SIZE;
        ty_u32 list;
        place[k] = ~0u;
        if (i >= staged)
            continue;
        if (m->even)
            list = order_even_slice(m, stage[i]);
        else
            ORDER_MAP(m, buckets, stage[i], list);
        list = list_of[list];
        if (stage[i] != left[list])
            place[k] = TY_ADD_LOCAL(&area[ORDER_F_NUMBER + list], 1) << 8 | list;
    }
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < 256; s += TY_GROUP_SIZE)
        if (area[ORDER_F_NUMBER + s])
            area[ORDER_F_NUMBER + s] =
                TY_ADD_GLOBAL(slices + ORDER_S_FILL + s, area[ORDER_F_NUMBER + s]);
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_F_OWN; k++)
        if (place[k] != ~0u) {
            const ty_u32 list = place[k] & 255, at = (place[k] >> 8) + area[ORDER_F_NUMBER + list];
            const order_key key = stage[TY_LID + k * TY_GROUP_SIZE];
            if (at < slices[ORDER_S_SPACE + list])
                out[slices[ORDER_S_AT + list] + at] = m->even ? order_key_of_held(key) : key;
        }
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < 256; s += TY_GROUP_SIZE)
        area[ORDER_F_NUMBER + s] = 0;
    if (TY_LID == 0)
        area[ORDER_F_STAGED] = 0;
    TY_BARRIER();
}

/* The list of a key, and of what is held where slices are even. */
#define ORDER_LIST_OF(key, to)                                                                     \
    do {                                                                                           \
        ORDER_MAP(&m, buckets, key, to);                                                           \
        (to) = list_of[to];                                                                        \
    } while (0)
#define ORDER_LIST_BY_VALUE(held, to)                                                              \
    (to) = list_of[order_cell_of(&m.cells, ORDER_HAS_VALUES, ORDER_EVEN_SLICES, held)]
#define ORDER_LIST_BY_KEY(held, to)                                                                \
    (to) = list_of[order_cell_of(&m.cells, 0, ORDER_EVEN_SLICES, held)]

/* A tile's keys, or what is held for them: those of lists go to the stage. `listed_` has a bit for
 * each, the first one's being the upper one. */
#define ORDER_LISTS_FILL_BY(LIST_OF, x, counts)                                                    \
    do {                                                                                           \
        ty_u32 listed_ = 0;                                                                        \
        TY_UNROLL                                                                                  \
        for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_ += ORDER_TOGETHER) {                               \
            ty_u32 list_[ORDER_TOGETHER];                                                          \
            TY_UNROLL                                                                              \
            for (ty_u32 k_ = 0; k_ < ORDER_TOGETHER; k_++)                                         \
                LIST_OF((x)[j_ + k_], list_[k_]);                                                  \
            TY_UNROLL                                                                              \
            for (ty_u32 k_ = 0; k_ < ORDER_TOGETHER; k_++)                                         \
                listed_ = listed_ << 1 | (list_[k_] - lists) >> 31;                                \
            if (heavy) {                                                                           \
                TY_UNROLL                                                                          \
                for (ty_u32 k_ = 0; k_ < ORDER_TOGETHER; k_++)                                     \
                    if ((x)[j_ + k_] == left[list_[k_]])                                           \
                        listed_ &= ~(1u << (ORDER_TOGETHER - 1 - k_));                             \
            }                                                                                      \
        }                                                                                          \
        for (ty_u32 j_ = 0; (counts) != (1u << ORDER_EACH) - 1 && j_ < ORDER_EACH; j_++)           \
            listed_ &= ~((~(counts) >> j_ & 1) << (ORDER_EACH - 1 - j_));                          \
        ty_u32 at_ = 0;                                                                            \
        if (listed_)                                                                               \
            at_ = TY_ADD_LOCAL(&ty_local[ORDER_F_STAGED], ORDER_POPCOUNT(listed_));                \
        TY_UNROLL                                                                                  \
        for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++)                                                 \
            if (listed_ >> (ORDER_EACH - 1 - j_) & 1)                                              \
                stage[at_++] = (x)[j_];                                                            \
        order_lists_flush(slices, &m, out, 0, ty_local);                                           \
    } while (0)

#define ORDER_LISTS_FILL(x, counts, some_nan)                                                      \
    do {                                                                                           \
        (void)(some_nan);                                                                          \
        ORDER_LISTS_FILL_BY(ORDER_LIST_OF, x, counts);                                             \
    } while (0)
/* NaN, which are in no list, do not count. */
#define ORDER_LISTS_FILL_HELD(LIST_OF, x, counts, some_nan)                                        \
    do {                                                                                           \
        for (ty_u32 j_ = 0; (some_nan) && j_ < ORDER_EACH; j_++)                                   \
            (counts) &= ~((ty_u32)order_held_is_nan((x)[j_]) << j_);                               \
        ORDER_LISTS_FILL_BY(LIST_OF, x, counts);                                                   \
    } while (0)
#define ORDER_VALUES_FILL(x, counts, some_nan)                                                     \
    ORDER_LISTS_FILL_HELD(ORDER_LIST_BY_VALUE, x, counts, some_nan)
#define ORDER_KEYS_FILL(x, counts, some_nan)                                                       \
    ORDER_LISTS_FILL_HELD(ORDER_LIST_BY_KEY, x, counts, some_nan)

#define ORDER_LISTS_BEGIN()                                                                        \
    TY_LOCAL const uint2 *buckets = (TY_LOCAL const uint2 *)ty_local;                              \
    TY_LOCAL const ty_u8 *list_of = (TY_LOCAL const ty_u8 *)(ty_local + ORDER_F_LIST);             \
    TY_LOCAL order_key *left = (TY_LOCAL order_key *)(ty_local + ORDER_F_KEY);                     \
    TY_LOCAL order_key *stage = (TY_LOCAL order_key *)(ty_local + ORDER_F_STAGE);                  \
    if (!state[ORDER_N] || (redo && !slices[ORDER_S_REDO]))                                        \
        return;                                                                                    \
    if (slices[ORDER_S_SIFTED] && TY_GROUP >= order_keys_groups(state[ORDER_KEPT]))                \
        return;                                                                                    \
    const order_map m = order_map_of(slices);                                                      \
    const ty_u32 lists = slices[ORDER_S_LISTS], heavy = slices[ORDER_S_HEAVY];                     \
    if (!m.even)                                                                                   \
        order_slices_load(slices, ORDER_S_BUCKET, 2 * ORDER_BUCKETS, ty_local);                    \
    order_slices_load(slices, ORDER_S_LIST, ORDER_SLICES_MOST / 4, ty_local + ORDER_F_LIST);       \
    for (ty_u32 i_ = TY_LID; i_ < 256; i_ += TY_GROUP_SIZE) {                                      \
        const order_key key_ = order_slices_key(slices, ORDER_S_KEY + i_ * ORDER_KEY_WORDS);       \
        left[i_] = m.even ? order_held_of(key_) : key_;                                            \
    }                                                                                              \
    for (ty_u32 i_ = ORDER_F_NUMBER + TY_LID; i_ < ORDER_F_STAGE; i_ += TY_GROUP_SIZE)             \
        ty_local[i_] = 0;                                                                          \
    TY_BARRIER()

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_lists_fill_packed(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n,
                        TY_GLOBAL ty_u64 *state, ty_u64 slices_at, TY_GLOBAL order_key *kept,
                        ty_u64 lists_at, ty_u32 redo TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    TY_GLOBAL order_key *out = kept + lists_at;
    ORDER_LISTS_BEGIN();
    if (slices[ORDER_S_SIFTED])
        ORDER_READ_KEYS(kept, state[ORDER_KEPT], ORDER_LISTS_FILL);
    else if (ORDER_HAS_VALUES && m.even == ORDER_EVEN_VALUES)
        ORDER_READ_PACKED(data, offset, n, order_load_held, order_held, ORDER_VALUES_FILL);
    else if (m.even)
        ORDER_READ_PACKED(data, offset, n, order_load_held, order_held, ORDER_KEYS_FILL);
    else
        ORDER_READ_PACKED(data, offset, n, order_load, order_key_of, ORDER_LISTS_FILL);
    order_lists_flush(slices, &m, out, 1, ty_local);
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_lists_fill_view(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
                      ty_u64 n, TY_GLOBAL ty_u64 *state, ty_u64 slices_at,
                      TY_GLOBAL order_key *kept, ty_u64 lists_at, ty_u32 redo TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    TY_GLOBAL order_key *out = kept + lists_at;
    ORDER_LISTS_BEGIN();
    if (slices[ORDER_S_SIFTED])
        ORDER_READ_KEYS(kept, state[ORDER_KEPT], ORDER_LISTS_FILL);
    else if (ORDER_HAS_VALUES && m.even == ORDER_EVEN_VALUES)
        ORDER_READ_VIEW(order_held, ORDER_VALUES_FILL);
    else if (m.even)
        ORDER_READ_VIEW(order_held, ORDER_KEYS_FILL);
    else
        ORDER_READ_VIEW(order_key_of, ORDER_LISTS_FILL);
    order_lists_flush(slices, &m, out, 1, ty_local);
}

/* Where a list has not the space for its keys, whose number is known now: all get what they need,
 * if that is at most `most`. */
TY_KERNEL(TY_GROUP_SIZE)
order_lists_place(TY_GLOBAL ty_u64 *state, ty_u64 slices_at, ty_u64 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    const ty_u32 lists = slices[ORDER_S_LISTS];
    if (TY_LID == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    for (ty_u32 list = TY_LID; list < lists; list += TY_GROUP_SIZE)
        if (slices[ORDER_S_FILL + list] > slices[ORDER_S_SPACE + list])
            ty_local[0] = 1;
    TY_BARRIER();
    const ty_u32 redo = ty_local[0];
    TY_BARRIER();
    if (!redo)
        return;
    for (ty_u32 list = TY_LID; list < lists; list += TY_GROUP_SIZE)
        slices[ORDER_S_SPACE + list] = slices[ORDER_S_FILL + list];
    TY_WHOLE_BARRIER();
    const ty_u64 all = order_lists_lay(slices, lists, ty_local, ty_local + TY_GROUP_SIZE);
    for (ty_u32 list = TY_LID; all <= most && list < lists; list += TY_GROUP_SIZE)
        slices[ORDER_S_FILL + list] = 0;
    if (TY_LID == 0) {
        slices[ORDER_S_REDO] = all <= most;
        slices[ORDER_S_LOST] |= all > most;
    }
}

/* ---- each rank ---- */

/* DO(key) with `count` keys, the first at a multiple of 16 bytes. */
#define ORDER_LIST_KEYS(keys, count, DO)                                                           \
    do {                                                                                           \
        enum { each_ = 4 / ORDER_KEY_WORDS, loads_ = 8 };                                          \
        TY_GLOBAL const uint4 *vectors_ = (TY_GLOBAL const uint4 *)(keys);                         \
        const ty_u32 full_ = (count) / each_;                                                      \
        for (ty_u32 v_ = TY_LID; v_ < full_; v_ += loads_ * TY_GROUP_SIZE) {                       \
            uint4 four_[loads_];                                                                   \
            TY_UNROLL                                                                              \
            for (ty_u32 k_ = 0; k_ < loads_; k_++)                                                 \
                four_[k_] =                                                                        \
                    vectors_[v_ + k_ * TY_GROUP_SIZE < full_ ? v_ + k_ * TY_GROUP_SIZE : v_];      \
            TY_UNROLL                                                                              \
            for (ty_u32 k_ = 0; k_ < loads_; k_++) {                                               \
                const ty_u32 words_[4] = {four_[k_].x, four_[k_].y, four_[k_].z, four_[k_].w};     \
                if (v_ + k_ * TY_GROUP_SIZE >= full_)                                              \
                    break;                                                                         \
                TY_UNROLL                                                                          \
                for (ty_u32 j_ = 0; j_ < each_; j_++)                                              \
                    DO(ORDER_STORED_KEY(words_, j_));                                              \
            }                                                                                      \
        }                                                                                          \
        for (ty_u32 i_ = full_ * each_ + TY_LID; i_ < (count); i_ += TY_GROUP_SIZE)                \
            DO((keys)[i_]);                                                                        \
    } while (0)

#define ORDER_LIST_DIGIT(key)                                                                      \
    do {                                                                                           \
        const order_key further_ = (key)-s.least;                                                  \
        if (further_ <= wide)                                                                      \
            TY_ADD_LOCAL(&ty_local[(ty_u32)(further_ >> shift)], 1);                               \
    } while (0)
#define ORDER_LIST_BELOW(key) (below += (key) < left)
#define ORDER_LIST_FEW(key)                                                                        \
    do {                                                                                           \
        if ((key)-s->least <= wide)                                                                \
            few[TY_ADD_LOCAL(told, 1)] = (key);                                                    \
    } while (0)

/* What is known of a rank's key: it is between these, and its rank among the keys there. */
typedef struct order_sought {
    order_key least, largest;
    ty_u32 rank;
} order_sought;

/* The bounds of the slice of a list. */
TY_FN order_sought order_list_bounds(TY_GLOBAL const ty_u32 *slices, ty_u32 list)
{
    const ty_u32 slice = slices[ORDER_S_SLICE + list];
    const order_map m = order_map_of(slices);
    order_sought s = {0, ORDER_NAN, 0};
    if (m.even) {
        s.least = slice ? order_even_slice_least(&m, slice) : 0;
        if (slice < ORDER_EVEN_SLICES)
            s.largest = order_even_slice_least(&m, slice + 1) - 1;
        return s;
    }
    const ty_u32 b = slices[ORDER_S_WITHIN + list];
    const uint2 bucket = ((TY_GLOBAL const uint2 *)(slices + ORDER_S_BUCKET))[b];
    const ty_u32 in = slice - bucket.y / ORDER_SLICES, below = bucket.x & 31;
    const ty_u32 first = in ? bucket.x + (in << below) : b << m.shift;
    const ty_u32 end =
        in < (bucket.y & (ORDER_SLICES - 1)) ? bucket.x + ((in + 1) << below) : (b + 1) << m.shift;
    if (first > m.ahead)
        s.least = m.low + ((order_key)(first - m.ahead) << m.drop);
    if (slice + 1 < slices[ORDER_S_SLICES])
        s.largest = m.low + ((order_key)(end - m.ahead) << m.drop) - 1;
    return s;
}

/* The digit of the rank, by the digits' counters in local memory. */
TY_FN ty_u32 order_list_choose(order_sought *s, ty_u32 shift, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *told = area + ORDER_ROW_TOLD;
    ty_u32 own[ORDER_OWN], before = order_own_counts(area, own);
    for (ty_u32 k = 0; k < ORDER_OWN; k++) {
        if (s->rank - before < own[k]) {
            told[0] = TY_LID * ORDER_OWN + k;
            told[1] = before;
            told[2] = own[k];
        }
        before += own[k];
    }
    TY_BARRIER();
    const order_key more = ((order_key)1 << shift) - 1;
    s->least += (order_key)told[0] << shift;
    s->largest = s->largest - s->least < more ? s->largest : s->least + more;
    s->rank -= told[1];
    return told[2];
}

/* The rank's key of few, which are taken to local memory, written to `found`. */
TY_FN void order_list_few(const order_sought *s, TY_GLOBAL const order_key *keys, ty_u32 fill,
                          TY_GLOBAL ty_u64 *found, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *told = area + ORDER_ROW_TOLD;
    TY_LOCAL order_key *few = (TY_LOCAL order_key *)area;
    const order_key wide = s->largest - s->least;
    TY_BARRIER();
    if (TY_LID == 0)
        told[0] = 0;
    TY_BARRIER();
    ORDER_LIST_KEYS(keys, fill, ORDER_LIST_FEW);
    TY_BARRIER();
    const ty_u32 count = told[0];
    for (ty_u32 i = TY_LID; i < count; i += TY_GROUP_SIZE) {
        ty_u32 ahead = 0;
        for (ty_u32 k = 0; k < count; k++)
            ahead += ORDER_AHEAD_OF(few[k], few[i], k < i);
        if (ahead == s->rank)
            *found = few[i];
    }
}

/* How many keys are left out of a list: the edges in its slice that a sieve leaves out, or one. The
 * i-th of them, ascending, and how many are equal to it, to *left and *equal. */
TY_FN ty_u32 order_list_left(TY_GLOBAL const ty_u64 *state, TY_GLOBAL ty_u32 *slices, ty_u32 list,
                             ty_u32 i, order_key *left, ty_u64 *equal)
{
    const ty_u32 slice = slices[ORDER_S_SLICE + list];
    const ty_u32 edges = slices[ORDER_S_SIFTED] ? ORDER_SIFT_EDGES : 0;
    ty_u32 lefts = 0;
    *left = order_slices_key(slices, ORDER_S_KEY + list * ORDER_KEY_WORDS);
    *equal = order_slices_counts(slices)[slice] - slices[ORDER_S_FILL + list];
    for (ty_u32 e = 0; e < edges; e++)
        if (slices[ORDER_S_EDGE + e] == slice) {
            if (lefts++ == i) {
                *left = (order_key)state[ORDER_EDGE + e];
                *equal = state[ORDER_CELL + 2 * e + 1];
            }
        }
    return lefts ? lefts : 1;
}

/* Whether a rank's key was left out of its list: then `s` has it; else the rank among the others.
 */
TY_FN int order_list_is_left(TY_GLOBAL const ty_u64 *state, TY_GLOBAL ty_u32 *slices, ty_u32 list,
                             ty_u64 rank, TY_GLOBAL const order_key *keys, order_sought *s,
                             TY_LOCAL ty_u32 *told)
{
    const ty_u32 fill = slices[ORDER_S_FILL + list];
    order_key left;
    ty_u64 equal;
    const ty_u32 lefts = order_list_left(state, slices, list, 0, &left, &equal);
    int found = 0;
    for (ty_u32 i = 0; i < lefts; i++) {
        ty_u32 below = 0;
        order_list_left(state, slices, list, i, &left, &equal);
        if (TY_LID == 0)
            told[0] = 0;
        TY_BARRIER();
        ORDER_LIST_KEYS(keys, fill, ORDER_LIST_BELOW);
        TY_ADD_LOCAL(told, below);
        TY_BARRIER();
        below = told[0];
        TY_BARRIER();
        if (found || rank < below)
            continue;
        if (rank - below < equal)
            s->least = s->largest = left, found = 1;
        else
            rank -= equal;
    }
    s->rank = (ty_u32)rank;
    return found;
}

/* A group for each rank: the digit of its key, between the bounds of what is left, until few keys
 * are left. Local memory as order_rows has it, without keys. */
TY_KERNEL(TY_GROUP_SIZE)
order_lists_select(TY_GLOBAL ty_u64 *state, ty_u64 slices_at, TY_GLOBAL const order_key *kept,
                   ty_u64 lists_at, ty_u64 found, ty_u64 nans TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    const ty_u32 r = TY_GROUP, nan_list = slices[ORDER_S_LISTS] - 1;
    if (!state[ORDER_N])
        return;
    if (ORDER_IS_FLOAT && r == 0 && TY_LID == 0)
        state[nans] = order_slices_counts(slices)[slices[ORDER_S_SLICES] - 1] -
                      slices[ORDER_S_FILL + nan_list];
    if (state[ORDER_WHAT + r] != ORDER_SOUGHT)
        return;
    if (slices[ORDER_S_LOST]) {
        if (TY_LID == 0)
            state[ORDER_WHAT + r] = state[ORDER_FAILED] = ORDER_LOST;
        return;
    }
    const ty_u32 list = (ty_u32)state[ORDER_LIST + r], fill = slices[ORDER_S_FILL + list];
    TY_GLOBAL const order_key *keys = kept + lists_at + slices[ORDER_S_AT + list];
    order_sought s = order_list_bounds(slices, list);
    ty_u32 same = order_list_is_left(state, slices, list, state[ORDER_IN_SLICE + r], keys, &s,
                                     ty_local + ORDER_ROW_TOLD)
                      ? 1
                      : fill;
    while (s.least < s.largest && same > ORDER_SHORT) {
        const order_key wide = s.largest - s.least;
        const ty_u32 bits = order_bits(wide);
        const ty_u32 shift = bits > ORDER_DIGIT_BITS ? bits - ORDER_DIGIT_BITS : 0;
        order_row_clear(ty_local);
        TY_BARRIER();
        ORDER_LIST_KEYS(keys, fill, ORDER_LIST_DIGIT);
        TY_BARRIER();
        same = order_list_choose(&s, shift, ty_local);
    }
    if (s.least < s.largest)
        order_list_few(&s, keys, fill, state + found + r, ty_local);
    else if (TY_LID == 0)
        state[found + r] = s.least;
    TY_WHOLE_BARRIER();
    if (TY_LID == 0) {
        const int lost = slices[ORDER_S_SIFTED] && (state[found + r] < state[ORDER_FROM + r] ||
                                                    state[found + r] > state[ORDER_TO + r]);
        state[ORDER_WHAT + r] = lost ? ORDER_LOST : ORDER_FOUND;
        if (lost)
            state[ORDER_FAILED] = ORDER_LOST;
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
