/*
 * order, 3: all keys once. Counts those equal to each edge and in each gap, and keeps those of the
 * gaps that are searched.
 *
 * A key's gap is how many edges are at or below it. The edges are searched as a tree: the children
 * of node k are 2k and 2k + 1, node 1 is the root; what would be their children are the gaps. Of
 * each gap two keys are at hand: the edge that it begins with, and the same again if the gap is
 * searched, else the largest key; so keys above the second are kept. All gaps from the last edge on
 * are of the largest key.
 *
 * Local memory, in words:
 *
 *     0               keys on their way out: those of a tile, and of tiles before that kept few
 *     ORDER_AT_EQUAL  a count of the keys equal to each edge
 *     ORDER_AT_FILL   keys on their way; where they go
 *     ORDER_AT_COUNT  a count for each gap, in `copies`
 *     p.tree          the tree, then the gaps' keys, in `copies`
 *
 * Copies, as many as there is space for, keep lanes out of each other's banks.
 *
 * Phases: tiles are counted, a work-item ORDER_EACH keys at a time; after each, if another might
 * not fit, the kept keys are written out together; the counts are added to the call's.
 */
#define ORDER_STAGE    (ORDER_TILE + ORDER_EXTRA)
#define ORDER_AT_EQUAL (ORDER_STAGE * ORDER_KEY_WORDS)
#define ORDER_AT_FILL  (ORDER_AT_EQUAL + ORDER_TABLE)
#define ORDER_AT_COUNT (ORDER_AT_FILL + 4)
#define ORDER_FEW      3                /* edges that are held in registers */
#define ORDER_HALF     (ORDER_EACH / 2) /* keys of a work-item that are searched together */

/* What a work-item holds of a pass. */
typedef struct order_pass {
    int few;              /* few edges, and only the gap between the first two is searched */
    ty_u32 edges, nodes;  /* nodes of the tree, a power of two, and gaps there */
    ty_u32 copies, shift; /* 2^shift */
    ty_u32 mine;          /* which of them is the work-item's */
    ty_u32 tree;          /* where it is */
    order_key root;
    order_key a, b; /* few edges: the first two; and the next after a, and how many up to b */
    order_key next, span;
    float low, high;             /* the first two as samples, of float32 */
    ty_u32 wanted;               /* few edges: whether those between are kept */
    ty_u32 all;                  /* keys so far */
    ty_u32 none;                 /* of all, what is no key of the source */
    ty_u32 below, inside, equal; /* few edges: counts; equal: to an edge, by comparing keys */
    ty_u32 at_a, at_b;           /* float32: equal to the first, the second, by comparing samples */
} order_pass;

/* Node k of the tree. */
TY_FN order_key order_node(TY_GLOBAL const ty_u64 *state, ty_u32 k, const order_pass *p)
{
    ty_u32 level = 1; /* the first node of this one's */
    while (2 * level <= k)
        level *= 2;
    const ty_u32 edge = (2 * (k - level) + 1) * (p->nodes / (2 * level)) - 1;
    return edge < p->edges ? (order_key)state[ORDER_EDGE + edge] : ORDER_NAN;
}

/* `room`: words of local memory for counts and tree, enough for one copy. */
TY_FN order_pass order_pass_begin(TY_GLOBAL const ty_u64 *state, ty_u32 room, TY_LOCAL ty_u32 *area)
{
    order_pass p;
    p.edges = (ty_u32)state[ORDER_EDGES];
    for (p.nodes = 8; p.nodes <= p.edges; p.nodes *= 2)
        ;
    for (p.shift = 5; p.shift && p.nodes * (1 + 3 * ORDER_KEY_WORDS) << p.shift > room;)
        p.shift--;
    p.copies = 1u << p.shift;
    p.mine = TY_LID & (p.copies - 1);
    p.tree = ORDER_AT_COUNT + p.nodes * p.copies;
    for (ty_u32 i = TY_LID; i < ORDER_AT_COUNT - ORDER_AT_EQUAL + p.nodes * p.copies;
         i += TY_GROUP_SIZE)
        area[ORDER_AT_EQUAL + i] = 0;
    TY_LOCAL order_key *tree = (TY_LOCAL order_key *)(area + p.tree);
    TY_LOCAL order_key *gaps = tree + p.nodes * p.copies;
    for (ty_u32 i = TY_LID; i < p.nodes * p.copies; i += TY_GROUP_SIZE) {
        const ty_u32 k = i >> p.shift;
        const order_key edge = k ? (order_key)state[ORDER_EDGE + k - 1] : 0;
        tree[i] = k ? order_node(state, k, &p) : 0;
        gaps[2 * i] = k && k <= p.edges ? edge : ORDER_NAN;
        gaps[2 * i + 1] = k && k < p.edges && state[ORDER_WANTED + k] ? edge : ORDER_NAN;
    }
    TY_BARRIER();
    p.root = order_node(state, 1, &p);
    p.a = (order_key)state[ORDER_EDGE];
    p.b = (order_key)state[ORDER_EDGE + 1];
    p.next = p.a + 1;
    p.span = p.b > p.a ? p.b - p.a - 1 : 0;
    p.wanted = state[ORDER_WANTED + 1] != 0;
    p.few = p.edges <= ORDER_FEW && !state[ORDER_WANTED + 2];
#if TY_DTYPE == TY_F32
    p.low = TY_AS_FLOAT(order_bits_of(p.a));
    p.high = TY_AS_FLOAT(order_bits_of(p.b));
#else
    p.low = p.high = 0;
#endif
    p.below = p.inside = p.equal = p.at_a = p.at_b = p.all = p.none = 0;
    return p;
}

/* Keeps the keys whose bits are set; KEY(j) is one. */
#define ORDER_KEEP(KEY, kept, area)                                                                \
    do {                                                                                           \
        TY_LOCAL order_key *stage_ = (TY_LOCAL order_key *)(area);                                 \
        if (!(kept))                                                                               \
            break;                                                                                 \
        ty_u32 at_ = TY_ADD_LOCAL(&(area)[ORDER_AT_FILL], ORDER_POPCOUNT(kept));                   \
        TY_UNROLL                                                                                  \
        for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++)                                                 \
            if ((kept) >> j_ & 1)                                                                  \
                stage_[at_++] = KEY(j_);                                                           \
    } while (0)

#define ORDER_X(j) x[j]

/* By comparisons. What is equal to an edge is seldom, or much is. */
TY_FN void order_tile_few(const order_key *x, order_pass *p, TY_LOCAL ty_u32 *area)
{
    ty_u32 strictly = 0;
    int some_equal = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        p->below += x[j] < p->a;
        strictly |= (ty_u32)((order_key)(x[j] - p->next) < p->span) << j;
        some_equal |= x[j] == p->a || x[j] == p->b || x[j] == ORDER_NAN;
    }
    if (some_equal) {
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++) {
            const ty_u32 edge = x[j] == ORDER_NAN ? p->edges - 1 : x[j] == p->a ? 0 : 1;
            if (x[j] == p->a || x[j] == p->b || x[j] == ORDER_NAN) {
                TY_ADD_LOCAL(&area[ORDER_AT_EQUAL + edge], 1);
                p->equal++;
            }
        }
    }
    p->inside += ORDER_POPCOUNT(strictly);
    strictly = p->wanted ? strictly : 0;
    ORDER_KEEP(ORDER_X, strictly, area);
}

#if TY_DTYPE == TY_F32
/* The same of samples, which are compared as floats. Returns 0, and has done nothing, if there is
 * one that is neither below, nor above, nor an edge, nor between: NaN, or 0 where an edge is -0. */
TY_FN int order_samples_few(const ty_u32 *words, order_pass *p, TY_LOCAL ty_u32 *area)
{
#define ORDER_OF_NUMBER(j) (words[j] ^ ((ty_u32)((ty_i32)words[j] >> 31) | ORDER_TOP))
    ty_u32 below = 0, above = 0, at_a = 0, at_b = 0, strictly = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const float x = TY_AS_FLOAT(words[j]);
        below += x < p->low;
        above += x > p->high;
        at_a += words[j] == TY_FLOAT_BITS(p->low) && x == p->low;
        at_b += words[j] == TY_FLOAT_BITS(p->high) && x == p->high;
        strictly |= (ty_u32)(x > p->low && !(x >= p->high)) << j; /* no second edge: high is NaN */
    }
    const ty_u32 inside = ORDER_POPCOUNT(strictly);
    if (below + above + at_a + at_b + inside != ORDER_EACH)
        return 0;
    p->below += below;
    p->inside += inside;
    p->at_a += at_a;
    p->at_b += at_b;
    strictly = p->wanted ? strictly : 0;
    ORDER_KEEP(ORDER_OF_NUMBER, strictly, area);
    return 1;
}
#endif

/* The bits of those that are kept of ORDER_HALF keys, which are searched together and counted. `at`
 * is where a copy of a node lies, in bytes. */
TY_FN ty_u32 order_half(const order_key *x, const order_pass *p, TY_LOCAL ty_u32 *area)
{
    enum { size = 4 * ORDER_KEY_WORDS };
    TY_LOCAL const ty_u8 *bytes = (TY_LOCAL const ty_u8 *)area;
    const ty_u32 counts = TY_LOCAL_ADDRESS(area) + 4 * (ORDER_AT_COUNT + p->mine);
    const ty_u32 copies = p->copies, start = 4 * p->tree + size * p->mine;
    const ty_u32 gaps = start + size * p->nodes * copies, keys = gaps + size * p->mine;
    ty_u32 left = 0u - start, right = left + size * copies; /* 2 (at - start) + start, … */
    ty_u32 at[ORDER_HALF], kept = 0, equal = 0;
    TY_OPAQUE(left);
    TY_OPAQUE(right);
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_HALF; j++)
        at[j] = start + size * copies * (p->root <= x[j] ? 3 : 2);
    for (ty_u32 node = 2; node < p->nodes; node *= 2) {
        order_key there[ORDER_HALF];
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_HALF; j++)
            there[j] = *(TY_LOCAL const order_key *)(bytes + at[j]);
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_HALF; j++)
            at[j] += at[j] + (there[j] <= x[j] ? right : left);
    }
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_HALF; j++) {
        const ty_u32 gap = at[j] - gaps; /* its place, in keys' sizes */
#if ORDER_KEY_WORDS == 2
        const uint4 two = *(TY_LOCAL const uint4 *)(bytes + keys + 2 * gap);
        const order_key edge = two.x | (ty_u64)two.y << 32, above = two.z | (ty_u64)two.w << 32;
#else
        const uint2 two = *(TY_LOCAL const uint2 *)(bytes + keys + 2 * gap);
        const order_key edge = two.x, above = two.y;
#endif
        kept |= (ty_u32)(x[j] > above) << j;
        equal |= (ty_u32)(x[j] == edge) << j;
        TY_INC_AT(area, counts + gap / ORDER_KEY_WORDS);
    }
    if (equal) {
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_HALF; j++) {
            const ty_u32 gap = (at[j] - gaps) / size >> p->shift;
            if (equal >> j & 1)
                TY_ADD_LOCAL(&area[ORDER_AT_EQUAL + (gap ? gap - 1 : 0)], gap != 0);
        }
    }
    return kept;
}

TY_FN void order_tile_many(const order_key *x, const order_pass *p, TY_LOCAL ty_u32 *area)
{
    const ty_u32 low = order_half(x, p, area);
    const ty_u32 kept = low | order_half(x + ORDER_HALF, p, area) << ORDER_HALF;
    ORDER_KEEP(ORDER_X, kept, area);
}

TY_FN void order_tile(const order_key *x, order_pass *p, TY_LOCAL ty_u32 *area)
{
    if (p->few)
        order_tile_few(x, p, area);
    else
        order_tile_many(x, p, area);
}

/* After a tile; `last`: whatever is there is written. */
TY_FN void order_flush(TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *out, ty_u64 most, int last,
                       TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const order_key *stage = (TY_LOCAL const order_key *)area;
    TY_BARRIER();
    const ty_u32 fill = area[ORDER_AT_FILL];
    if (TY_LID == 0 && (fill > ORDER_EXTRA || last))
        area[ORDER_AT_FILL + 1] = fill ? TY_ADD_GLOBAL(state + ORDER_KEPT, fill) : 0;
    TY_BARRIER();
    if (fill <= ORDER_EXTRA && !last)
        return;
    const ty_u32 base = area[ORDER_AT_FILL + 1];
    for (ty_u32 k = TY_LID; k < fill; k += TY_GROUP_SIZE)
        if ((ty_u64)base + k < most)
            out[(ty_u64)base + k] = stage[k];
    if (TY_LID == 0)
        area[ORDER_AT_FILL] = 0;
    TY_BARRIER();
}

/* Adds the group's counts to the call's; what was no key was counted as the largest. */
TY_FN void order_pass_end(TY_GLOBAL ty_u64 *state, const order_pass *p, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *counts = area + ORDER_AT_COUNT, *equal = area + ORDER_AT_EQUAL;
    const ty_u32 last = p->edges - 1;
    if (p->few) {
        TY_ADD_LOCAL(&counts[0], p->below);
        TY_ADD_LOCAL(&counts[p->copies], p->inside);
        TY_ADD_LOCAL(&counts[2 * p->copies],
                     p->all - p->below - p->inside - p->equal - p->at_a - p->at_b);
        TY_ADD_LOCAL(&equal[0], p->at_a);
        TY_ADD_LOCAL(&equal[1], p->at_b);
    }
    if (p->none)
        TY_ADD_LOCAL(p->few ? &equal[last] : &counts[(p->nodes - 1) * p->copies], 0u - p->none);
    TY_BARRIER();
    for (ty_u32 gap = TY_LID; gap < p->nodes; gap += TY_GROUP_SIZE) {
        /* a search counts what is equal to an edge to the gap behind it too, to the last there
         * alone */
        const ty_u32 here = gap < last + (p->few != 0) ? equal[gap] : 0;
        const ty_u32 before = !p->few && gap && gap <= last ? equal[gap - 1] : 0;
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < p->copies; k++)
            sum += counts[gap * p->copies + ((k + gap) & (p->copies - 1))];
        if (sum != before)
            TY_ADD_WIDE(state + ORDER_CELL + (gap <= last ? 2 * gap : 2 * last + 1),
                        (ty_u64)(sum - before));
        if (here)
            TY_ADD_WIDE(state + ORDER_CELL + 2 * gap + 1, (ty_u64)here);
    }
}

#define ORDER_KEYS_OF(words, x)                                                                    \
    do {                                                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 j_ = 0; j_ < ORDER_EACH; j_++)                                                 \
            (x)[j_] = ORDER_KEY_IN(words, j_);                                                     \
    } while (0)

/* Packed samples: whole tiles in loads of 16 bytes, each while the one before is counted; what is
 * before and behind one by one. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 3)
order_pass_packed(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL ty_u64 *state,
                  TY_GLOBAL order_key *out, ty_u64 out_at, ty_u64 most, ty_u32 room TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    TY_GLOBAL const ty_u8 *samples = data + offset;
    const ty_u32 start = (0u - (ty_u32)(ty_u64)samples & 15u) / ORDER_SIZE;
    const ty_u32 head = start < n ? start : (ty_u32)n;
    const ty_u64 full = (n - head) / ORDER_TILE;
    const ty_u32 rest = (ty_u32)(n - full * ORDER_TILE);
    const ty_u64 tiles = full + (rest + ORDER_TILE - 1) / ORDER_TILE;
    TY_GLOBAL const ty_u8 *behind = samples + full * ORDER_TILE * ORDER_SIZE;
    const ty_u64 tile = ORDER_TILE * ORDER_SIZE / 16;
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)(samples + head * ORDER_SIZE);
    order_pass p = order_pass_begin(state, room, ty_local);
    ty_u32 ahead[4 * ORDER_LOADS];
    if (TY_GROUP < full)
        order_fetch(vectors + TY_GROUP * tile + TY_LID, ahead);
    for (ty_u64 t = TY_GROUP; t < tiles; t += TY_GROUPS) {
        order_key x[ORDER_EACH];
        int done = 0;
        if (t < full) {
#if TY_DTYPE == TY_F32
            ty_u32 words[4 * ORDER_LOADS];
            TY_UNROLL
            for (ty_u32 k = 0; k < 4 * ORDER_LOADS; k++)
                words[k] = ahead[k];
#else
            ORDER_KEYS_OF(ahead, x);
#endif
            if (t + TY_GROUPS < full)
                order_fetch(vectors + (t + TY_GROUPS) * tile + TY_LID, ahead);
#if TY_DTYPE == TY_F32
            done = p.few && order_samples_few(words, &p, ty_local);
            if (!done)
                ORDER_KEYS_OF(words, x);
#endif
        }
        for (ty_u32 j = 0; t >= full && j < ORDER_EACH; j++) {
            const ty_u32 e = (ty_u32)(t - full) * ORDER_TILE + j * TY_GROUP_SIZE + TY_LID;
            x[j] = ORDER_NAN;
            if (e < rest)
                x[j] = order_key_of(
                    ty_word_at((e < head ? samples : behind) + e * ORDER_SIZE, ORDER_SIZE));
            p.none += e >= rest;
        }
        if (!done)
            order_tile(x, &p, ty_local);
        p.all += ORDER_EACH;
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}

/* Samples of any layout. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 3)
order_pass_view(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
                ty_u64 n, TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *out, ty_u64 out_at,
                ty_u64 most, ty_u32 room TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    const ty_u64 tiles = (n + ORDER_TILE - 1) / ORDER_TILE;
    const ty_u64 step_rows = TY_GROUP_SIZE / columns;
    const ty_u64 step_columns = TY_GROUP_SIZE - step_rows * columns;
    order_pass p = order_pass_begin(state, room, ty_local);
    for (ty_u64 t = TY_GROUP; t < tiles; t += TY_GROUPS) {
        order_key x[ORDER_EACH];
        ty_u64 i = t * ORDER_TILE + TY_LID, row = i / columns, column = i - row * columns;
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++, i += TY_GROUP_SIZE) {
            const int counts = i < n && ORDER_COUNTS(b, row, column);
            x[j] = counts ? ORDER_KEY_AT(b, row, column) : ORDER_NAN;
            p.none += !counts;
            TY_STEP(row, column, columns, step_rows, step_columns);
        }
        order_tile(x, &p, ty_local);
        p.all += ORDER_EACH;
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}

/* Keys that were kept before. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 3)
order_pass_kept(TY_GLOBAL const order_key *keys, ty_u64 from, TY_GLOBAL ty_u64 *state,
                TY_GLOBAL order_key *out, ty_u64 out_at, ty_u64 most, ty_u32 room TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u64 n = state[ORDER_N], tiles = (n + ORDER_TILE - 1) / ORDER_TILE;
    if (!n)
        return;
    order_pass p = order_pass_begin(state, room, ty_local);
    for (ty_u64 t = TY_GROUP; t < tiles; t += TY_GROUPS) {
        order_key x[ORDER_EACH];
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++) {
            const ty_u64 i = t * ORDER_TILE + j * TY_GROUP_SIZE + TY_LID;
            x[j] = i < n ? keys[from + i] : ORDER_NAN;
            p.none += i >= n;
        }
        order_tile(x, &p, ty_local);
        p.all += ORDER_EACH;
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}
/* SPDX-License-Identifier: Apache-2.0 */
