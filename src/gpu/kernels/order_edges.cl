/*
 * order, 2: by one group. `order_begin` sets a search out; `order_edges` puts edges around where
 * the drawn keys say that each rank is; `order_settle` sees by the counts what became of each rank.
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
        state[ORDER_RANK + r] = state[ORDER_GAP_RANK + r] = rank;
        state[ORDER_LOW + r] = 0;
        state[ORDER_HIGH + r] = ORDER_NAN;
        state[ORDER_WHAT + r] = rank == ORDER_NO_RANK ? ORDER_FOUND : ORDER_SOUGHT;
    }
    if (TY_LID == 0) {
        const ty_u64 counts = counted ? state[kinds] : elements;
        state[ORDER_COUNT] = counts;
        state[ORDER_N] = counts ? elements : 0;
        state[ORDER_DRAWN] = state[ORDER_FAILED] = state[nan] = 0;
    }
}

/* Every rank's key from all of them, sorted. */
TY_FN void order_take(TY_GLOBAL ty_u64 *state, TY_GLOBAL const order_key *keys, ty_u64 found,
                      ty_u32 ranks)
{
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT) {
            state[found + r] = keys[state[ORDER_RANK + r]];
            state[ORDER_WHAT + r] = ORDER_FOUND;
        }
}

/* What the drawn keys are: `count` of them, sorted, a power of two; each stands for `thin` that
 * followed each other in one of `runs` sorted runs. `counted` were drawn that count. */
typedef struct order_drawn {
    TY_GLOBAL const order_key *keys;
    ty_u32 count, thin, runs, counted;
} order_drawn;

/* Where rank r is between two of the drawn keys, or at the ends of its gap. `width` is in
 * sixteenths of standard deviations: of how many drawn keys are below, and of what is not known of
 * those that were not passed on. */
TY_FN void order_bracket(TY_GLOBAL const ty_u64 *state, const order_drawn *d, ty_u32 r, int first,
                         ty_u32 width, TY_LOCAL order_key *low, TY_LOCAL order_key *high)
{
    const order_key from = (order_key)state[ORDER_LOW + r], to = (order_key)state[ORDER_HIGH + r];
    const float all = (float)state[first ? ORDER_COUNT : ORDER_GAP_COUNT + r];
    const float thin = (float)d->thin, offset = (float)(d->thin / 2);
    const float noise = d->thin > 1 ? thin * thin * (float)d->runs / (first ? 12 : 6) : 0.0f;
    ty_u32 begin = 0, end = 0;
    for (ty_u32 half_ = first ? 0 : d->count / 2; half_; half_ /= 2) {
        const order_key a = d->keys[begin + half_ - 1], b = d->keys[end + half_ - 1];
        begin += a <= from ? half_ : 0;
        end += b < to ? half_ : 0;
    }
    if (first) {
        end = d->count;
    } else {
        begin += d->keys[begin] <= from;
        end += d->keys[end] < to;
    }
    const float share = ((float)state[ORDER_GAP_RANK + r] + 0.5f) / all;
    const float here = first ? (float)d->counted : (float)(end - begin) * thin, at = share * here;
    const float rest = at < here ? here - at : 0.0f;
    const float error = (float)sqrt(at * rest / (here + 1) + noise);
    const float wide = width ? (float)width / 16 * error + 2 : 0.0f;
    const float before = (float)floor((at - wide - offset) / thin);
    const float behind = (float)ceil((at + wide - offset) / thin), most = (float)(end - begin);
    low[r] = before < 0 || before >= most ? from : d->keys[begin + (ty_u32)before];
    high[r] = behind < 0 || behind >= most ? to : d->keys[begin + (ty_u32)behind];
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
            state[ORDER_LOW + a] == state[ORDER_LOW + b] &&
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
        if (state[ORDER_WHAT + r] != ORDER_SOUGHT || low[r] >= high[r])
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

/* After the drawn keys are sorted. `first`: they are of the samples; `last`: what is not found by
 * now is lost. NaN are counted where all samples are drawn. */
TY_KERNEL(TY_GROUP_SIZE)
order_edges(TY_GLOBAL ty_u64 *state, TY_GLOBAL const order_key *drawn_keys, ty_u64 at, ty_u64 all,
            ty_u32 thin, ty_u32 first, ty_u32 last, ty_u32 width, ty_u64 found, ty_u64 nan,
            ty_u32 ranks TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL order_key *ends = (TY_LOCAL order_key *)ty_local;
    TY_LOCAL order_key *low = ends + ORDER_TABLE, *high = low + 256;
    TY_LOCAL ty_u32 *sums = (TY_LOCAL ty_u32 *)(high + 256);
    ORDER_BEGIN();
    const ty_u64 n = state[ORDER_N];
    const order_drawn d = {drawn_keys + at, (ty_u32)all / thin, thin, (ty_u32)all / ORDER_RUN,
                           (ty_u32)state[ORDER_DRAWN]};
    const int taken = thin == 1 && n <= all;
    TY_WHOLE_BARRIER();
    if (!n)
        return;
    if (taken || last) {
        if (taken)
            order_take(state, d.keys, found, ranks);
        if (taken && first && ORDER_IS_FLOAT && TY_LID == 0) {
            ty_u32 numbers;
            ORDER_BELOW(d.keys, d.counted, ORDER_NAN, 0, numbers);
            state[nan] = d.counted - numbers;
        }
        for (ty_u32 r = TY_LID; !taken && r < ranks; r += TY_GROUP_SIZE)
            if (state[ORDER_WHAT + r] == ORDER_SOUGHT)
                state[ORDER_WHAT + r] = state[ORDER_FAILED] = ORDER_LOST;
        if (TY_LID == 0)
            state[ORDER_N] = 0;
        return;
    }
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT)
            order_bracket(state, &d, r, (int)first, width, low, high);
    TY_BARRIER();
    order_unite(state, ranks, low, high, ends, sums);
    order_want(state, ranks, low, high, sums);
}

/* What became of rank r, by the sums of the cells and of those of them that were kept. */
TY_FN void order_settle_rank(TY_GLOBAL ty_u64 *state, TY_LOCAL const ty_u64 *sums,
                             TY_LOCAL const ty_u64 *kept, ty_u32 cells, ty_u64 most, ty_u64 found,
                             ty_u32 r)
{
    const ty_u64 rank = state[ORDER_RANK + r];
    ty_u32 cell, edge;
    ORDER_BELOW(sums, cells, rank, 1, cell);
    edge = cell / 2;
    if (cell < cells && (cell & 1)) {
        state[found + r] = state[ORDER_EDGE + edge];
        state[ORDER_WHAT + r] = ORDER_FOUND;
    } else if (edge && cell < cells && state[ORDER_WANTED + edge] && kept[cells - 1] <= most) {
        state[ORDER_LOW + r] = state[ORDER_EDGE + edge - 1];
        state[ORDER_HIGH + r] = state[ORDER_EDGE + edge];
        state[ORDER_GAP_COUNT + r] = sums[cell] - sums[cell - 1];
        state[ORDER_GAP_RANK + r] = rank - sums[cell - 1];
        state[ORDER_RANK + r] = kept[cell - 1] + rank - sums[cell - 1];
    } else {
        state[ORDER_WHAT + r] = state[ORDER_FAILED] = ORDER_LOST;
    }
}

/* After all are counted; `most` keys could be kept. NaN are those of the last edge's cell. */
TY_KERNEL(TY_GROUP_SIZE)
order_settle(TY_GLOBAL ty_u64 *state, ty_u64 most, ty_u32 first, ty_u64 found, ty_u64 nan,
             ty_u32 ranks TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL ty_u64 *sums = (TY_LOCAL ty_u64 *)ty_local, *kept = sums + ORDER_CELLS;
    ORDER_BEGIN();
    const ty_u64 n = state[ORDER_N];
    const ty_u32 cells = 2 * (ty_u32)state[ORDER_EDGES], all = 2 * order_table(ranks);
    TY_WHOLE_BARRIER();
    if (!n)
        return;
    for (ty_u32 c = TY_LID; c < all; c += TY_GROUP_SIZE) {
        const ty_u64 count = c < cells ? state[ORDER_CELL + c] : 0;
        sums[c] = count;
        kept[c] = !(c & 1) && c < cells && state[ORDER_WANTED + c / 2] ? count : 0;
    }
    TY_BARRIER();
    ORDER_SCAN(ty_u64, sums, all, ORDER_CELLS)
    ORDER_SCAN(ty_u64, kept, all, ORDER_CELLS)
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT)
            order_settle_rank(state, sums, kept, all, most, found, r);
    if (TY_LID == 0) {
        if (first && ORDER_IS_FLOAT)
            state[nan] = state[ORDER_CELL + cells - 1];
        state[ORDER_N] = kept[all - 1] <= most ? kept[all - 1] : 0;
        state[ORDER_DRAWN] = 0;
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
