/*
 * order, extremes: the least and the largest key of packed samples, and how many are NaN, in one
 * reading. Each group of work-items leaves three words; of several groups order_extremes_end makes
 * those of all.
 */

/* Of the group's work-items the first gets those of all. */
TY_FN void order_join(TY_LOCAL ty_u32 *area, order_key least, order_key most, ty_u64 nan,
                      TY_GLOBAL ty_u64 *to)
{
    TY_LOCAL ty_u64 *nans = (TY_LOCAL ty_u64 *)area;
    TY_LOCAL order_key *lows = (TY_LOCAL order_key *)(nans + TY_GROUP_SIZE);
    TY_LOCAL order_key *highs = lows + TY_GROUP_SIZE;
    nans[TY_LID] = nan;
    lows[TY_LID] = least;
    highs[TY_LID] = most;
    TY_BARRIER();
    for (ty_u32 apart = TY_GROUP_SIZE / 2; apart; apart /= 2) {
        if (TY_LID < apart) {
            const order_key low = lows[TY_LID + apart], high = highs[TY_LID + apart];
            nans[TY_LID] += nans[TY_LID + apart];
            lows[TY_LID] = low < lows[TY_LID] ? low : lows[TY_LID];
            highs[TY_LID] = high > highs[TY_LID] ? high : highs[TY_LID];
        }
        TY_BARRIER();
    }
    if (TY_LID == 0) {
        to[0] = lows[0];
        to[1] = highs[0];
        to[2] = nans[0];
    }
}

#define ORDER_TAKE(x)                                                                              \
    do {                                                                                           \
        const order_key x_ = (x);                                                                  \
        least = x_ < least ? x_ : least;                                                           \
        most = x_ > most ? x_ : most;                                                              \
        nan += ORDER_IS_FLOAT && x_ == ORDER_NAN;                                                  \
    } while (0)

TY_KERNEL(TY_GROUP_SIZE)
order_extremes(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n,
               TY_GLOBAL ty_u64 *state TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    TY_GLOBAL const ty_u8 *samples = data + offset;
    ty_u64 head = (0u - (ty_u32)(ty_u64)samples & 15u) / ORDER_SIZE;
    head = head < n ? head : n;
    const ty_u64 full = (n - head) / ORDER_TILE, rest = n - full * ORDER_TILE;
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)(samples + head * ORDER_SIZE);
    order_key least = ORDER_NAN, most = 0;
    ty_u64 nan = 0;
    for (ty_u64 t = TY_GROUP; t < full; t += TY_GROUPS) {
        order_key x[ORDER_EACH];
        order_load(vectors + t * (ORDER_TILE * ORDER_SIZE / 16) + TY_LID, x);
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++)
            ORDER_TAKE(x[j]);
    }
    for (ty_u64 e = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; e < rest;
         e += (ty_u64)TY_GROUPS * TY_GROUP_SIZE) {
        const ty_u64 i = e < head ? e : e + full * ORDER_TILE;
        ORDER_TAKE(order_key_of(ty_word_at(samples + i * ORDER_SIZE, ORDER_SIZE)));
    }
    order_join(ty_local, least, most, nan, state + (ty_u64)TY_GROUP * 3);
}

/* One group of work-items. */
TY_KERNEL(TY_GROUP_SIZE)
order_extremes_end(TY_GLOBAL ty_u64 *state, ty_u32 groups TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    order_key least = ORDER_NAN, most = 0;
    ty_u64 nan = 0;
    for (ty_u32 g = TY_LID; g < groups; g += TY_GROUP_SIZE) {
        const order_key low = (order_key)state[3 * (ty_u64)g],
                        high = (order_key)state[3 * (ty_u64)g + 1];
        least = low < least ? low : least;
        most = high > most ? high : most;
        nan += state[3 * (ty_u64)g + 2];
    }
    order_join(ty_local, least, most, nan, state);
}
/* SPDX-License-Identifier: Apache-2.0 */
