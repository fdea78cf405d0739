/*
 * order, 1: keys drawn at random and sorted. A group sorts a run and passes on every `thin`-th key
 * of it; these, from all groups, are sorted in their turn. Of `all` samples or fewer each is drawn
 * once, if all keys are passed on.
 */

/* Positions that nobody foresees who does not know the key, by a counter. */
TY_FN ty_u64 order_hash(ty_u64 key, ty_u64 i)
{
    ty_u64 z = key + (i + 1) * 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

/* A position below n from 32 bits of it. */
TY_FN ty_u64 order_position(ty_u64 key, ty_u64 i, ty_u64 n)
{
    const ty_u64 bits = order_hash(key, i) >> 32;
    return bits * (n >> 32) + (bits * (n & 0xffffffffu) >> 32);
}

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

/* A group's run of keys, drawn, sorted and written. Groups pass on keys from different ones on, so
 * that what they leave out is not the same in all. */
TY_KERNEL(TY_GROUP_SIZE)
order_draw(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
           ty_u64 key, ty_u64 all, ty_u32 thin, TY_GLOBAL ty_u64 *state,
           TY_GLOBAL order_key *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL order_key *run = (TY_LOCAL order_key *)ty_local;
    TY_LOCAL ty_u32 *drawn = ty_local + ORDER_RUN * ORDER_KEY_WORDS;
    ty_u32 count = 0;
    ORDER_BEGIN();
    const ty_u64 n = state[ORDER_N];
    if (!n)
        return;
    if (TY_LID == 0)
        *drawn = 0;
    TY_BARRIER();
    for (ty_u32 j = TY_LID; j < ORDER_RUN; j += TY_GROUP_SIZE) {
        const ty_u64 i = (ty_u64)TY_GROUP * ORDER_RUN + j;
        const ty_u64 at = thin == 1 && n <= all ? i : order_position(key, i, n);
        run[j] = at < n ? order_sample_at(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b, columns,
                                          at, &count)
                        : ORDER_NAN;
    }
    TY_ADD_LOCAL(drawn, count);
    TY_BARRIER();
    order_sort(run, ORDER_RUN);
    for (ty_u32 j = TY_LID; j < ORDER_RUN / thin; j += TY_GROUP_SIZE)
        out[(ty_u64)TY_GROUP * (ORDER_RUN / thin) + j] = run[j * thin + TY_GROUP % thin];
    if (TY_LID == 0)
        TY_ADD_GLOBAL(state + ORDER_DRAWN, *drawn);
}

/* A group sorts ORDER_RUN of the keys that were passed on. */
TY_KERNEL(TY_GROUP_SIZE)
order_sort_thinned(TY_GLOBAL const ty_u64 *state, TY_GLOBAL order_key *keys TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL order_key *run = (TY_LOCAL order_key *)ty_local;
    TY_GLOBAL order_key *here = keys + (ty_u64)TY_GROUP * ORDER_RUN;
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    for (ty_u32 j = TY_LID; j < ORDER_RUN; j += TY_GROUP_SIZE)
        run[j] = here[j];
    TY_BARRIER();
    order_sort(run, ORDER_RUN);
    for (ty_u32 j = TY_LID; j < ORDER_RUN; j += TY_GROUP_SIZE)
        here[j] = run[j];
}

/* Runs of `length` keys to runs of `ways` times as many, a work-item for each key and each of
 * `team` shares of the runs: a key's place is how many are ahead of it in all of them, its own
 * too; of equal keys those of earlier runs. */
TY_KERNEL(TY_GROUP_SIZE)
order_merge(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const order_key *from, ty_u64 from_at,
            TY_GLOBAL order_key *to, ty_u64 to_at, ty_u32 length, ty_u32 ways TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    enum { team = ORDER_TEAM(TY_GROUP_SIZE), keys_here = TY_GROUP_SIZE / team };
    const ty_u32 key = TY_LID / team, i = TY_GROUP * keys_here + key;
    const ty_u32 run = i / length, first = run / ways * ways;
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    TY_GLOBAL const order_key *keys = from + from_at + (ty_u64)first * length;
    const order_key x = from[from_at + i];
    ty_u32 place = 0;
    if (TY_LID < keys_here)
        ty_local[TY_LID] = 0;
    TY_BARRIER();
    for (ty_u32 k = TY_LID % team; k < ways; k += team) {
        TY_GLOBAL const order_key *there = keys + k * length;
        ty_u32 ahead = 0;
        for (ty_u32 half_ = length / 2; half_; half_ /= 2)
            ahead += ORDER_AHEAD_OF(there[ahead + half_ - 1], x, first + k < run) ? half_ : 0;
        ahead += ORDER_AHEAD_OF(there[ahead], x, first + k < run);
        place += first + k == run ? i - run * length : ahead;
    }
    TY_ADD_LOCAL(&ty_local[key], place);
    TY_BARRIER();
    if (TY_LID % team == 0)
        to[to_at + (ty_u64)first * length + ty_local[key]] = x;
}
/* SPDX-License-Identifier: Apache-2.0 */
