/*
 * order, 2: by one group. `order_begin` sets a search out; `order_edges` puts edges around where
 * the drawn keys say that each rank is.
 *
 * Edges ascend; the last is the largest key. A key is equal to an edge, or in the gap before one.
 */

TY_KERNEL(TY_GROUP_SIZE)
order_begin(TY_GLOBAL ty_u64 *state, ty_u64 ranks, ty_u32 count, ty_u64 elements, ty_u64 kinds,
            ty_u32 counted, ty_u64 nan TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ORDER_BEGIN();
    for (ty_u32 r = TY_LID; r < count; r += TY_GROUP_SIZE) {
        const ty_u64 rank = state[ranks + r];
        state[ORDER_RANK + r] = rank;
        state[ORDER_WHAT + r] = rank == ORDER_NO_RANK ? ORDER_FOUND : ORDER_SOUGHT;
    }
    if (TY_LID == 0) {
        const ty_u64 counts = counted ? state[kinds] : elements;
        state[ORDER_COUNT] = counts;
        state[ORDER_N] = counts ? elements : 0;
        state[ORDER_DRAWN] = state[ORDER_TOP_IS] = state[ORDER_OVER] = 0;
        state[ORDER_FAILED] = state[ORDER_NANS] = state[nan] = 0;
    }
}

/* What the drawn keys are: `count` of them, sorted, a power of two; each stands for `thin` that
 * followed each other in one of `runs` sorted runs. `counted` were drawn that count. */
typedef struct order_drawn {
    TY_GLOBAL const order_key *keys;
    ty_u32 count, thin, runs, counted;
} order_drawn;

/* Two of the drawn keys that rank r is between, or the ends of all keys. `width` is in sixteenths
 * of standard deviations: of how many drawn keys are below, and of what is not known of those that
 * were not passed on. */
TY_FN void order_bracket(TY_GLOBAL const ty_u64 *state, const order_drawn *d, ty_u32 r,
                         ty_u32 width, TY_LOCAL order_key *low, TY_LOCAL order_key *high)
{
    const float thin = (float)d->thin, offset = (float)(d->thin / 2), here = (float)d->counted;
    const float noise = d->thin > 1 ? thin * thin * (float)d->runs / 12 : 0.0f;
    const float share = ((float)state[ORDER_RANK + r] + 0.5f) / (float)state[ORDER_COUNT];
    const float at = share * here, rest = at < here ? here - at : 0.0f;
    const float error = (float)sqrt(at * rest / (here + 1) + noise);
    const float wide = width ? (float)width / 16 * error + 2 : 0.0f;
    const float before = (float)floor((at - wide - offset) / thin);
    const float behind = (float)ceil((at + wide - offset) / thin), most = (float)d->count;
    low[r] = before < 0 || before >= most ? 0 : d->keys[(ty_u32)before];
    high[r] = behind < 0 || behind >= most ? ORDER_NAN : d->keys[(ty_u32)behind];
}

/* Neighbouring ranks of a pair in one gap get the same ends. Then all ends, sorted, each once, are
 * the edges; *total is how many. */
TY_FN void order_unite(TY_GLOBAL ty_u64 *state, ty_u32 ranks, TY_LOCAL order_key *low,
                       TY_LOCAL order_key *high, TY_LOCAL order_key *ends, TY_LOCAL ty_u32 *sums)
{
    const ty_u32 table = order_table(ranks);
    for (ty_u32 p = TY_LID; p < ranks / 2; p += TY_GROUP_SIZE) {
        const ty_u32 a = 2 * p, b = a + 1;
        if (state[ORDER_WHAT + a] == ORDER_SOUGHT && state[ORDER_WHAT + b] == ORDER_SOUGHT &&
            state[ORDER_RANK + b] - state[ORDER_RANK + a] <= 1) {
            low[a] = low[b] = low[a] < low[b] ? low[a] : low[b];
            high[a] = high[b] = high[a] > high[b] ? high[a] : high[b];
        }
    }
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < table; i += TY_GROUP_SIZE) {
        const int sought = i / 2 < ranks && state[ORDER_WHAT + i / 2] == ORDER_SOUGHT;
        ends[i] = !sought ? ORDER_NAN : i & 1 ? high[i / 2] : low[i / 2];
    }
    TY_BARRIER();
    order_sort(ends, table);
    for (ty_u32 i = TY_LID; i < table; i += TY_GROUP_SIZE)
        sums[i] = !i || ends[i] != ends[i - 1];
    TY_BARRIER();
    ORDER_SCAN(ty_u32, sums, table, ORDER_TABLE)
    for (ty_u32 i = TY_LID; i < table; i += TY_GROUP_SIZE) {
        if (!i || ends[i] != ends[i - 1])
            state[ORDER_EDGE + sums[i] - 1] = ends[i];
        if (i >= sums[table - 1])
            state[ORDER_EDGE + i] = ORDER_NAN;
    }
    if (TY_LID == 0)
        state[ORDER_EDGES] = sums[table - 1];
    TY_WHOLE_BARRIER();
}

/* The gaps between a rank's ends are searched; nothing has been counted. */
TY_FN void order_want(TY_GLOBAL ty_u64 *state, ty_u32 ranks, TY_LOCAL const order_key *low,
                      TY_LOCAL const order_key *high, TY_LOCAL ty_u32 *sums)
{
    TY_GLOBAL const ty_u64 *edges = state + ORDER_EDGE;
    const ty_u32 count = (ty_u32)state[ORDER_EDGES], table = order_table(ranks);
    for (ty_u32 i = TY_LID; i < table; i += TY_GROUP_SIZE)
        sums[i] = 0;
    TY_BARRIER();
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE) {
        ty_u32 a, b;
        if (state[ORDER_WHAT + r] != ORDER_SOUGHT)
            continue;
        state[ORDER_FROM + r] = low[r];
        state[ORDER_TO + r] = high[r];
        if (low[r] == ORDER_NAN && !ORDER_IS_FLOAT)
            state[ORDER_TOP_IS] = 1;
        if (low[r] >= high[r])
            continue;
        ORDER_BELOW(edges, count, low[r], 0, a);
        ORDER_BELOW(edges, count, high[r], 0, b);
        TY_ADD_LOCAL(&sums[a + 1], 1);
        if (b + 1 < table)
            TY_ADD_LOCAL(&sums[b + 1], 0xffffffffu);
    }
    TY_BARRIER();
    ORDER_SCAN(ty_u32, sums, table, ORDER_TABLE)
    for (ty_u32 i = TY_LID; i < table; i += TY_GROUP_SIZE)
        state[ORDER_WANTED + i] = sums[i] != 0;
    for (ty_u32 i = TY_LID; i < 2 * table; i += TY_GROUP_SIZE)
        state[ORDER_CELL + i] = 0;
    if (TY_LID == 0)
        state[ORDER_KEPT] = 0;
}

/* After the drawn keys are sorted. */
TY_KERNEL(TY_GROUP_SIZE)
order_edges(TY_GLOBAL ty_u64 *state, TY_GLOBAL const order_key *drawn_keys, ty_u64 at, ty_u64 all,
            ty_u32 thin, ty_u32 width, ty_u32 ranks TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL order_key *ends = (TY_LOCAL order_key *)ty_local;
    TY_LOCAL order_key *low = ends + ORDER_TABLE, *high = low + 256;
    TY_LOCAL ty_u32 *sums = (TY_LOCAL ty_u32 *)(high + 256);
    ORDER_BEGIN();
    const order_drawn d = {drawn_keys + at, (ty_u32)all / thin, thin, (ty_u32)all / ORDER_RUN,
                           (ty_u32)state[ORDER_DRAWN]};
    if (!state[ORDER_N])
        return;
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT)
            order_bracket(state, &d, r, width, low, high);
    TY_BARRIER();
    order_unite(state, ranks, low, high, ends, sums);
    order_want(state, ranks, low, high, sums);
}
/* SPDX-License-Identifier: Apache-2.0 */
