/*
 * order, 1: keys drawn at random and sorted. Every level begins with these: of the samples, then of
 * the keys that were kept. Where `all` keys or fewer are left they are all taken.
 */

/* Positions that nobody foresees who does not know the key, by a counter. */
TY_FN ty_u64 order_hash(ty_u64 key, ty_u64 i)
{
    ty_u64 z = key + (i + 1) * 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

/* A group's run of keys, drawn by F(position, &counts), sorted and written. */
#define ORDER_DRAW(F)                                                                              \
    const ty_u64 n = state[ORDER_N];                                                               \
    TY_LOCAL order_key *run = (TY_LOCAL order_key *)ty_local;                                      \
    TY_LOCAL ty_u32 *drawn = ty_local + ORDER_RUN * ORDER_KEY_WORDS;                               \
    ty_u32 count = 0;                                                                              \
    if (!n)                                                                                        \
        return;                                                                                    \
    if (TY_LID == 0)                                                                               \
        *drawn = 0;                                                                                \
    TY_BARRIER();                                                                                  \
    for (ty_u32 j = TY_LID; j < ORDER_RUN; j += TY_GROUP_SIZE) {                                   \
        const ty_u64 i = (ty_u64)TY_GROUP * ORDER_RUN + j;                                         \
        const ty_u64 at = n <= all ? i : order_hash(key, i) % n;                                   \
        run[j] = at < n ? F(at, &count) : ORDER_NAN;                                               \
    }                                                                                              \
    TY_ADD_LOCAL(drawn, count);                                                                    \
    TY_BARRIER();                                                                                  \
    order_sort(run, ORDER_RUN);                                                                    \
    for (ty_u32 j = TY_LID; j < ORDER_RUN; j += TY_GROUP_SIZE)                                     \
        out[(ty_u64)TY_GROUP * ORDER_RUN + j] = run[j];                                            \
    if (TY_LID == 0)                                                                               \
    TY_ADD_GLOBAL(state + ORDER_DRAWN, *drawn)

/* Samples; those that the mask leaves out are the largest key, behind all. */
TY_FN order_key order_sample_at(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                                ty_u64 columns, ty_u64 at, ty_u32 *count)
{
    const ty_u64 row = at / columns, column = at - row * columns;
    if (!ORDER_COUNTS(b, row, column))
        return ORDER_NAN;
    (*count)++;
    return ORDER_KEY_AT(b, row, column);
}

TY_FN order_key order_kept_at(TY_GLOBAL const order_key *keys, ty_u64 at, ty_u32 *count)
{
    (*count)++;
    return keys[at];
}

TY_KERNEL(TY_GROUP_SIZE)
order_draw(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
           ty_u64 key, ty_u64 all, TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
#define ORDER_SAMPLE(at, count)                                                                    \
    order_sample_at(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b, columns, at, count)
    ORDER_DRAW(ORDER_SAMPLE);
}

TY_KERNEL(TY_GROUP_SIZE)
order_draw_kept(TY_GLOBAL const order_key *keys, ty_u64 from, ty_u64 key, ty_u64 all,
                TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
#define ORDER_KEPT_KEY(at, count) order_kept_at(keys + from, at, count)
    ORDER_DRAW(ORDER_KEPT_KEY);
}

/* Runs of `length` keys to runs of `ways` times as many: a key's place is its own in its run, and
 * in each other one how many are before it there; of equal keys those of earlier runs. */
TY_KERNEL(TY_GROUP_SIZE)
order_merge(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const order_key *from, ty_u64 from_at,
            TY_GLOBAL order_key *to, ty_u64 to_at, ty_u32 length, ty_u32 ways TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    const ty_u32 i = TY_GROUP * TY_GROUP_SIZE + TY_LID, run = i / length;
    const ty_u32 first = run / ways * ways;
    TY_GLOBAL const order_key *keys = from + from_at;
    const order_key x = keys[i];
    ty_u32 rank = i - run * length;
    for (ty_u32 other = first; other < first + ways; other++) {
        TY_GLOBAL const order_key *there = keys + (ty_u64)other * length;
        ty_u32 before = 0;
        if (other != run) {
            ORDER_BELOW(there, length, x, other < run, before);
            rank += before;
        }
    }
    to[to_at + (ty_u64)first * length + rank] = x;
}
/* SPDX-License-Identifier: Apache-2.0 */
