/*
 * order, 6: how keys are divided into slices (order_slices.cl).
 *
 * Slices are cells of equal width in values or in keys (order_cells.h), if drawn keys say that then
 * those of the ranks have few. Else a key finds its slice in two steps: its upper bits tell a
 * bucket, and a bucket has slices of equal width between the least and the largest key that was
 * drawn there, as many as the bucket's share of the drawn keys asks for.
 */

/* How keys are divided. A key's distance from the least, in 32 bits, tells the bucket. A bucket is
 * two words: the distance where its first slice begins, of which the lower 5 bits are also how many
 * bits of a distance are below the slice's; and the number of this slice, and in the lower 12 bits
 * that of further ones. */
typedef struct order_map {
    order_key low;
    ty_u32 most, shift; /* the largest distance; its bits below the bucket's */
    ty_u32 drop, ahead; /* bits of 64 that are dropped; what is added, so that NaN have a bucket */
    ty_u32 even;        /* what slices are (ORDER_S_EVEN); if not ORDER_UNEVEN, */
    order_cells cells;  /* they are these cells, and there are no buckets */
} order_map;

TY_FN order_key order_slices_key(TY_GLOBAL const ty_u32 *slices, ty_u32 at)
{
#if ORDER_KEY_WORDS == 2
    return slices[at] | (ty_u64)slices[at + 1] << 32;
#else
    return slices[at];
#endif
}

TY_FN void order_slices_set_key(TY_GLOBAL ty_u32 *slices, ty_u32 at, order_key key)
{
    slices[at] = (ty_u32)key;
#if ORDER_KEY_WORDS == 2
    slices[at + 1] = (ty_u32)(key >> 32);
#endif
}

/* The keys of each slice. */
TY_FN TY_GLOBAL ty_u64 *order_slices_counts(TY_GLOBAL ty_u32 *slices)
{
    return (TY_GLOBAL ty_u64 *)(slices + ORDER_S_COUNT);
}

TY_FN order_map order_map_of(TY_GLOBAL const ty_u32 *slices)
{
    const order_map m = {order_slices_key(slices, ORDER_S_LOW),
                         slices[ORDER_S_MOST],
                         slices[ORDER_S_SHIFT],
                         slices[ORDER_S_DROP],
                         slices[ORDER_S_AHEAD],
                         slices[ORDER_S_EVEN],
                         order_cells_load(slices + ORDER_S_MAP_CELLS)};
    return m;
}

/* A key's distance from the least, at most the largest. */
TY_FN ty_u32 order_map_distance(const order_map *m, order_key key)
{
    const order_key up = key > m->low ? key : m->low;
#if ORDER_KEY_WORDS == 2
    const order_key far_ = (up - m->low) >> m->drop, most = m->most - m->ahead;
    return (ty_u32)(far_ < most ? far_ : most) + m->ahead;
#else
    const ty_u32 d = up - (m->low - m->ahead);
    return d < m->most ? d : m->most;
#endif
}

TY_FN ty_u32 order_map_slice(ty_u32 d, uint2 bucket)
{
    const ty_u32 in = ((d > bucket.x ? d : bucket.x) - bucket.x) >> (bucket.x & 31);
    const ty_u32 last = bucket.y & (ORDER_SLICES - 1);
    return bucket.y / ORDER_SLICES + (in < last ? in : last);
}

/* The even slice of a sample. */
TY_FN ty_u32 order_even_slice(const order_map *m, order_key held)
{
    if (order_held_is_nan(held))
        return ORDER_EVEN_SLICES;
    if (ORDER_HAS_VALUES && m->even == ORDER_EVEN_VALUES)
        return order_cell_of(&m->cells, ORDER_HAS_VALUES, ORDER_EVEN_SLICES, held);
    return order_cell_of(&m->cells, 0, ORDER_EVEN_SLICES, held);
}

/* The least key of an even slice, or that behind the largest number. */
TY_FN order_key order_even_slice_least(const order_map *m, ty_u32 slice)
{
#if ORDER_IS_FLOAT
    order_key least = 0, most = ORDER_NAN;
#if TY_DTYPE == TY_F32
    const order_key infinite = (order_key)0xff << 23;
#elif TY_DTYPE == TY_F64
    const order_key infinite = (order_key)0x7ff << 52;
#endif
#if ORDER_HOLDS_FLOATS
    least = order_key_of_number(infinite | ORDER_TOP);
    most = order_key_of_number(infinite);
#else
    most--;
#endif
#else
    order_key least = 0, most = ~(order_key)0;
#endif
    if (order_even_slice(m, order_held_of(most)) < slice)
        return most + 1;
    while (least < most) {
        const order_key half_ = least + (most - least) / 2;
        if (order_even_slice(m, order_held_of(half_)) < slice)
            least = half_ + 1;
        else
            most = half_;
    }
    return least;
}

/* How many of the drawn keys, ascending, are in even slices before one. */
TY_FN ty_u32 order_even_before(const order_map *m, TY_GLOBAL const order_key *keys, ty_u32 drawn,
                               ty_u32 slice)
{
    ty_u32 least = 0, most = drawn;
    while (least < most) {
        const ty_u32 half_ = (least + most) / 2;
        if (order_even_slice(m, order_held_of(keys[half_])) < slice)
            least = half_ + 1;
        else
            most = half_;
    }
    return least;
}

/* The slice of a key. BUCKETS: of local or of global memory. */
#define ORDER_SLICE_OF(m, BUCKETS, key, to)                                                        \
    do {                                                                                           \
        if ((m)->even)                                                                             \
            (to) = order_even_slice(m, order_held_of(key));                                        \
        else                                                                                       \
            ORDER_MAP(m, BUCKETS, key, to);                                                        \
    } while (0)
#define ORDER_MAP(m, BUCKETS, key, to)                                                             \
    do {                                                                                           \
        const ty_u32 d_ = order_map_distance(m, key);                                              \
        (to) = order_map_slice(d_, (BUCKETS)[d_ >> (m)->shift]);                                   \
    } while (0)

/* ---- the map ---- */

/* Local memory, in words: sums of the work-items, and of parts; the number of each bucket's first
 * drawn key. */
#define ORDER_MAP_BEGIN (TY_GROUP_SIZE + ORDER_PART)

/* What the last work-item has, to all. */
TY_FN ty_u32 order_total(ty_u32 at, TY_LOCAL ty_u32 *told)
{
    TY_BARRIER();
    if (TY_LID == TY_GROUP_SIZE - 1)
        told[0] = at;
    TY_BARRIER();
    at = told[0];
    TY_BARRIER();
    return at;
}

/* Whether drawn key i or one beside it is in a slice that has a list, or it is the last. */
TY_FN int order_slices_near(TY_GLOBAL const ty_u32 *slices, const order_map *m,
                            TY_GLOBAL const order_key *keys, ty_u32 i, ty_u32 count)
{
    TY_GLOBAL const uint2 *buckets = (TY_GLOBAL const uint2 *)(slices + ORDER_S_BUCKET);
    TY_GLOBAL const ty_u8 *list_of = (TY_GLOBAL const ty_u8 *)(slices + ORDER_S_LIST);
    const ty_u32 lists = slices[ORDER_S_LISTS];
    int near_ = i + 1 == count;
    for (ty_u32 k = i ? i - 1 : 0; k <= i + 1 && k < count; k++) {
        ty_u32 slice;
        ORDER_SLICE_OF(m, buckets, keys[k], slice);
        near_ |= list_of[slice] < lists;
    }
    return near_;
}

/* The drawn keys of slices that have a list, with those before and behind, and the largest, in
 * `keys` at `to`; returns how many. */
TY_FN ty_u32 order_slices_again(TY_GLOBAL const ty_u32 *slices, TY_GLOBAL order_key *keys,
                                ty_u64 from, ty_u64 to, ty_u32 count, TY_LOCAL ty_u32 *sums)
{
    const order_map m = order_map_of(slices);
    const ty_u32 each = (count + TY_GROUP_SIZE - 1) / TY_GROUP_SIZE, first = TY_LID * each;
    ty_u32 mine = 0, at, all;
    for (ty_u32 i = first; i < first + each && i < count; i++)
        mine += order_slices_near(slices, &m, keys + from, i, count);
    at = order_sum_before(mine, sums, sums + TY_GROUP_SIZE);
    all = order_total(at + mine, sums);
    for (ty_u32 i = first; i < first + each && i < count; i++)
        if (order_slices_near(slices, &m, keys + from, i, count))
            keys[to + at++] = keys[from + i];
    TY_WHOLE_BARRIER();
    return all;
}

/* Of edges: where the drawn keys equal to each begin and end, whether the gap before is searched,
 * and where the drawn keys that go on from there are put. */
typedef struct order_near {
    ty_u32 begin[ORDER_NEAR_EDGES + 1], end[ORDER_NEAR_EDGES + 1];
    ty_u32 wanted[ORDER_NEAR_EDGES + 1], put[ORDER_NEAR_EDGES + 2];
} order_near;

/* Which drawn keys go on; returns how many. */
TY_FN ty_u32 order_slices_ranges(TY_LOCAL order_near *near_, ty_u32 edges, ty_u32 drawn)
{
    ty_u32 done = 0, sum = 0, before = 0;
    for (ty_u32 e = 0; e <= edges; e++) {
        const ty_u32 here = e == edges ? drawn : near_->begin[e];
        ty_u32 end = e == edges ? drawn : near_->end[e] + 1;
        if (end > here + ORDER_NEAR_EQUAL)
            end = here + ORDER_NEAR_EQUAL;
        end = end < drawn ? end : drawn;
        const ty_u32 since = e < edges && near_->wanted[e] ? before : here;
        near_->begin[e] = since > done + 1 ? since - 1 : done;
        near_->put[e] = sum;
        sum += end > near_->begin[e] ? end - near_->begin[e] : 0;
        done = end > done ? end : done;
        before = here;
    }
    near_->put[edges + 1] = sum;
    return sum;
}

/* The drawn keys between the edges of each rank, with one before and one behind, a few of those
 * equal to an edge, and the last, of `count` in `keys` from `from` on, at `to`; returns how many.
 * For fewer edges than ORDER_NEAR_EDGES. */
TY_FN ty_u32 order_slices_between(TY_GLOBAL const ty_u64 *state, TY_GLOBAL order_key *keys,
                                  ty_u64 from, ty_u64 to, ty_u32 count, TY_LOCAL order_near *near_)
{
    TY_GLOBAL const order_key *sorted = keys + from;
    const ty_u32 edges = (ty_u32)state[ORDER_EDGES];
    for (ty_u32 e = TY_LID; e <= edges; e += TY_GROUP_SIZE) { /* behind the last, NaN */
        const order_key edge = e < edges ? (order_key)state[ORDER_EDGE + e] : ORDER_NAN;
        near_->wanted[e] = (ty_u32)state[ORDER_WANTED + e];
        ORDER_BELOW(sorted, count, edge, 0, near_->begin[e]);
        ORDER_BELOW(sorted, count, edge, 1, near_->end[e]);
    }
    TY_BARRIER();
    if (TY_LID == 0)
        order_slices_ranges(near_, edges, near_->begin[edges]);
    TY_BARRIER();
    const ty_u32 all = near_->put[edges + 1];
    for (ty_u32 i = TY_LID; i < all; i += TY_GROUP_SIZE) {
        ty_u32 e = 0;
        while (near_->put[e + 1] <= i)
            e++;
        keys[to + i] = sorted[near_->begin[e] + (i - near_->put[e])];
    }
    TY_WHOLE_BARRIER();
    return all;
}

/* The map of the distances up to that of the largest drawn key, less the buckets. */
TY_FN order_map order_map_begin(order_key low, order_key span)
{
    const ty_u32 all = order_bits(span), top = ORDER_KEY_WORDS == 2 && all > 31 ? all - 31 : 0;
    order_map m = {low, 0, 0, top, 0, ORDER_UNEVEN, {0, 0, 0, 0, {0, 0}}};
    const ty_u32 most = (ty_u32)(span >> top), bits = order_bits(most);
    m.shift = bits > ORDER_BUCKET_BITS ? bits - ORDER_BUCKET_BITS : 0;
    while ((most >> m.shift) + 2 > ORDER_BUCKETS)
        m.shift++;
#if ORDER_IS_FLOAT
    m.ahead = (0u - (most + 1)) & ((1u << m.shift) - 1);
    m.most = most + 1 + m.ahead;
#else
    m.most = most;
#endif
    return m;
}

/* A bucket of `count` drawn keys of `drawn`, less the number of its first slice. */
TY_FN uint2 order_map_bucket(const order_map *m, TY_GLOBAL const order_key *keys, ty_u32 count,
                             ty_u32 drawn)
{
    const ty_u32 want = (ty_u32)((ty_u64)count * ORDER_SLICES / drawn);
    const ty_u32 slice_bits = order_bits(want > 1 ? want - 1 : 0);
    ty_u32 first = order_map_distance(m, keys[0]), last = order_map_distance(m, keys[count - 1]);
    ty_u32 below;
    if (count < ORDER_BUCKET_FEW) { /* which say little of where others are */
        first = first >> m->shift << m->shift;
        last = first + ((1u << m->shift) - 1);
    } else if (count > 4 * ORDER_BUCKET_FAR) { /* most may be near each other, and some far */
        const ty_u32 near_first = order_map_distance(m, keys[ORDER_BUCKET_FAR]);
        const ty_u32 near_last = order_map_distance(m, keys[count - 1 - ORDER_BUCKET_FAR]);
        if (near_last > near_first && near_last - near_first <= (last - first) / 16)
            first = near_first, last = near_last;
    }
    uint2 b;
    const ty_u32 bits = order_bits(last - first);
    for (below = bits > slice_bits ? bits - slice_bits : 0;; below++) {
        /* where the lower bits put the beginning behind `first`, keys before it are in the first
         * slice too */
        b.x = (first & ~31u) | below;
        b.x -= b.x > first && b.x >= 32 ? 32 : 0;
        b.y = b.x > last ? 0 : (last - b.x) >> below;
        if (b.y >> slice_bits == 0)
            return b;
    }
}

#define ORDER_MAP_AHEAD 8 /* drawn keys that a work-item reads at once */

/* The distances of drawn keys i and TY_GROUP_SIZE further ones, and of those before each. */
TY_FN void order_map_distances(const order_map *m, TY_GLOBAL const order_key *keys, ty_u32 i,
                               ty_u32 drawn, ty_u32 *d, ty_u32 *before)
{
    order_key x[ORDER_MAP_AHEAD], y[ORDER_MAP_AHEAD];
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_MAP_AHEAD; k++) {
        const ty_u32 at = i + k * TY_GROUP_SIZE < drawn ? i + k * TY_GROUP_SIZE : i;
        x[k] = keys[at];
        y[k] = keys[at ? at - 1 : 0];
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_MAP_AHEAD; k++) {
        d[k] = order_map_distance(m, x[k]);
        before[k] = order_map_distance(m, y[k]);
    }
}

/* The number of the first drawn key of each slice. */
TY_FN void order_map_firsts(const order_map *m, TY_LOCAL const uint2 *buckets,
                            TY_GLOBAL ty_u32 *slices, TY_GLOBAL const order_key *keys, ty_u32 drawn)
{
    for (ty_u32 i = TY_LID; i < drawn; i += ORDER_MAP_AHEAD * TY_GROUP_SIZE) {
        ty_u32 d[ORDER_MAP_AHEAD], before[ORDER_MAP_AHEAD];
        order_map_distances(m, keys, i, drawn, d, before);
        for (ty_u32 k = 0; k < ORDER_MAP_AHEAD && i + k * TY_GROUP_SIZE < drawn; k++) {
            const ty_u32 number = i + k * TY_GROUP_SIZE;
            const ty_u32 slice = order_map_slice(d[k], buckets[d[k] >> m->shift]);
            ty_u32 c = 0;
            if (number)
                c = order_map_slice(before[k], buckets[before[k] >> m->shift]) + 1;
            for (; c <= slice; c++)
                slices[ORDER_S_FIRST + c] = number;
        }
    }
}

/* The number of each bucket's first drawn key, in local memory. */
TY_FN void order_map_begins(const order_map *m, TY_GLOBAL const order_key *keys, ty_u32 drawn,
                            ty_u32 used, TY_LOCAL ty_u32 *begin)
{
    for (ty_u32 b = TY_LID; b <= used; b += TY_GROUP_SIZE)
        begin[b] = drawn;
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < drawn; i += ORDER_MAP_AHEAD * TY_GROUP_SIZE) {
        ty_u32 d[ORDER_MAP_AHEAD], before[ORDER_MAP_AHEAD];
        order_map_distances(m, keys, i, drawn, d, before);
        for (ty_u32 k = 0; k < ORDER_MAP_AHEAD && i + k * TY_GROUP_SIZE < drawn; k++) {
            const ty_u32 number = i + k * TY_GROUP_SIZE;
            for (ty_u32 b = number ? (before[k] >> m->shift) + 1 : 0; b <= d[k] >> m->shift; b++)
                begin[b] = number;
        }
    }
    TY_BARRIER();
}

/* The buckets, in local memory and to `slices`; returns how many slices there are. */
TY_FN ty_u32 order_map_buckets(const order_map *m, TY_GLOBAL const order_key *keys, ty_u32 drawn,
                               TY_GLOBAL ty_u32 *slices, TY_LOCAL uint2 *buckets,
                               TY_LOCAL ty_u32 *area)
{
    enum { own = (ORDER_BUCKETS + TY_GROUP_SIZE - 1) / TY_GROUP_SIZE };
    TY_LOCAL const ty_u32 *begin = area + ORDER_MAP_BEGIN;
    const ty_u32 used = (m->most >> m->shift) + 1;
    ty_u32 mine = 0, at;
    uint2 bucket[own];
    for (ty_u32 k = 0; k < own; k++) {
        const ty_u32 b = TY_LID * own + k;
        bucket[k].x = bucket[k].y = 0;
        if (b < used && begin[b + 1] > begin[b])
            bucket[k] = order_map_bucket(m, keys + begin[b], begin[b + 1] - begin[b], drawn);
        mine += b < used ? bucket[k].y + 1 : 0;
    }
    at = order_sum_before(mine, area, area + TY_GROUP_SIZE);
    const ty_u32 all = order_total(at + mine, area);
    for (ty_u32 k = 0; k < own; k++) {
        const ty_u32 b = TY_LID * own + k, further = bucket[k].y;
        if (b >= ORDER_BUCKETS)
            continue;
        bucket[k].y |= at * ORDER_SLICES;
        ((TY_GLOBAL uint2 *)(slices + ORDER_S_BUCKET))[b] = buckets[b] = bucket[k];
        at += b < used ? further + 1 : 0;
    }
    return all;
}

/* The number of the drawn key that is nearest to a rank, of `drawn` numbers among `passed` keys. */
TY_FN ty_u32 order_drawn_near(TY_GLOBAL const ty_u64 *state, ty_u32 r, ty_u32 passed, ty_u32 drawn)
{
    const float share = ((float)state[ORDER_RANK + r] + 0.5f) / (float)state[ORDER_COUNT];
    const float at = share * (float)passed;
    return at < (float)drawn ? (ty_u32)at : drawn - 1;
}

/* How many of the drawn keys are in the even slices of ranks, but for those equal to the one in the
 * middle. */
TY_FN ty_u32 order_even_cost(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const order_key *keys,
                             ty_u32 drawn, ty_u32 passed, ty_u32 ranks, const order_map *m,
                             TY_LOCAL ty_u32 *sum)
{
    TY_BARRIER();
    if (TY_LID == 0)
        *sum = 0;
    TY_BARRIER();
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE) {
        const ty_u32 at = order_drawn_near(state, r, passed, drawn);
        const ty_u32 before = order_drawn_near(state, r ? r - 1 : 0, passed, drawn);
        const ty_u32 slice = order_even_slice(m, order_held_of(keys[at]));
        if (r && order_even_slice(m, order_held_of(keys[before])) == slice)
            continue;
        const ty_u32 first = order_even_before(m, keys, drawn, slice);
        const ty_u32 here = order_even_before(m, keys, drawn, slice + 1) - first;
        ty_u32 below, with;
        ORDER_BELOW(keys + first, here, keys[first + here / 2], 0, below);
        ORDER_BELOW(keys + first, here, keys[first + here / 2], 1, with);
        TY_ADD_LOCAL(sum, here - (with - below));
    }
    TY_BARRIER();
    return *sum;
}

/* Slices of equal width between the drawn keys of the ranks, in values or in keys, or none, if
 * those of ranks would have too many keys. */
TY_FN void order_even_choose(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const order_key *keys,
                             ty_u32 drawn, ty_u32 passed, ty_u32 ranks, order_map *m,
                             TY_LOCAL ty_u32 *area)
{
    if (TY_LID == 0) {
        area[0] = drawn - 1;
        area[1] = 0;
    }
    TY_BARRIER();
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT) {
            TY_MIN_LOCAL(&area[0], order_drawn_near(state, r, passed, drawn));
            TY_MAX_LOCAL(&area[1], order_drawn_near(state, r, passed, drawn));
        }
    TY_BARRIER();
    const ty_u32 beside = drawn / 256, least = area[0] > beside ? area[0] - beside : 0;
    const ty_u32 most = area[1] + beside < drawn ? area[1] + beside : drawn - 1;
    const order_key first = keys[least], last = keys[most > least ? most : least];
    ty_u32 cost = drawn / 8 + 1;
    order_cells_of_keys(&m->cells, ORDER_EVEN_SLICES, first, last - first);
    m->cells.values =
        order_values_of(ORDER_VALUE(order_held_of(first)), ORDER_VALUE(order_held_of(last)));
    if (m->cells.values.per != 0) {
        m->even = ORDER_EVEN_VALUES;
        cost = order_even_cost(state, keys, drawn, passed, ranks, m, area + 2);
        if (cost <= drawn / 32)
            return;
    }
    m->even = ORDER_EVEN_KEYS;
    const ty_u32 by_key = order_even_cost(state, keys, drawn, passed, ranks, m, area + 2);
    if (cost < by_key && cost <= drawn / 8)
        m->even = ORDER_EVEN_VALUES;
    else if (by_key > drawn / 8)
        m->even = ORDER_UNEVEN;
}

/* What all that follows has to know of a map of `drawn` keys from `from` on. */
TY_FN void order_map_store(TY_GLOBAL ty_u32 *slices, const order_map *m, ty_u32 drawn, ty_u64 from,
                           ty_u32 all)
{
    order_slices_set_key(slices, ORDER_S_LOW, m->low);
    slices[ORDER_S_SHIFT] = m->shift;
    slices[ORDER_S_MOST] = m->most;
    slices[ORDER_S_DROP] = m->drop;
    slices[ORDER_S_AHEAD] = m->ahead;
    slices[ORDER_S_DRAWN] = drawn;
    slices[ORDER_S_KEYS] = (ty_u32)from;
    slices[ORDER_S_SIFTED] = 0;
    slices[ORDER_S_SLICES] = all;
    slices[ORDER_S_EVEN] = m->even;
    order_cells_store(slices + ORDER_S_MAP_CELLS, &m->cells);
}

/* The map with buckets. Local memory as order_slices_map has it. */
TY_FN void order_map_buckets_of(order_map *m, TY_GLOBAL ty_u32 *slices,
                                TY_GLOBAL const order_key *keys, ty_u32 drawn, ty_u64 from,
                                TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *begin = area + ORDER_MAP_BEGIN;
    TY_LOCAL uint2 *buckets = (TY_LOCAL uint2 *)(begin + ORDER_BUCKETS + 8);
    order_map_begins(m, keys, drawn, (m->most >> m->shift) + 1, begin);
    const ty_u32 all = order_map_buckets(m, keys, drawn, slices, buckets, area);
    for (ty_u32 i = TY_LID; i <= ORDER_SLICES_MOST; i += TY_GROUP_SIZE)
        slices[ORDER_S_FIRST + i] = drawn;
    if (TY_LID == 0)
        order_map_store(slices, m, drawn, from, all);
    TY_WHOLE_BARRIER();
    order_map_firsts(m, buckets, slices, keys, drawn);
}

/* `count` drawn keys, each for `thin`, ascending, from `from` on, which is 0 or `count`; with
 * `again` 1 those of the slices that had too many, with 2 those between the edges of each rank,
 * which are put where the others are not. Local memory: sums, the number of each bucket's first
 * drawn key, and the buckets. */
TY_KERNEL(TY_GROUP_SIZE)
order_slices_map(TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *keys, ty_u64 from, ty_u32 count,
                 ty_u32 thin, ty_u64 slices_at, ty_u32 ranks, ty_u32 again TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ty_u32 drawn;
    ORDER_BEGIN();
    if (!state[ORDER_N] || (again == 1 && !slices[ORDER_S_AGAIN]))
        return;
    const int uneven = again != 0;
    if (again == 1)
        from = slices[ORDER_S_KEYS];
    const ty_u64 other = from ? 0 : count;
    if (again == 2 && state[ORDER_EDGES] >= ORDER_NEAR_EDGES)
        again = 0;
    if (again == 2)
        drawn = order_slices_between(state, keys, from, other, count,
                                     (TY_LOCAL order_near *)(ty_local + ORDER_MAP_BEGIN));
    else if (again)
        drawn = order_slices_again(slices, keys, from, other, slices[ORDER_S_DRAWN], ty_local);
    else
        ORDER_BELOW(keys + from, count, ORDER_NAN, 0, drawn); /* the others are NaN, or none */
    from = again ? other : from;
    keys += from;
    const order_key low = drawn ? keys[0] : 0;
    order_map m = order_map_begin(low, drawn ? keys[drawn - 1] - low : 0);
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < ORDER_SLICES_MOST; i += TY_GROUP_SIZE)
        order_slices_counts(slices)[i] = 0;
    if (!uneven && drawn)
        order_even_choose(state, keys, drawn, (ty_u32)state[ORDER_DRAWN] / thin, ranks, &m,
                          ty_local);
    TY_BARRIER();
    if (!m.even)
        order_map_buckets_of(&m, slices, keys, drawn, from, ty_local);
    else if (TY_LID == 0)
        order_map_store(slices, &m, drawn, from, ORDER_EVEN_SLICES + 1);
}
/* SPDX-License-Identifier: Apache-2.0 */
