/*
 * order, 3: all keys once. Counts those equal to each edge and in each gap, and keeps those of the
 * gaps that are searched.
 *
 * Cells are numbered along the keys: 2e is the gap before edge e, 2e + 1 what is equal to it. So a
 * key's cell is how many thresholds are at or below it: edge 0, the key after edge 0, edge 1, …
 * They are searched as a tree: the children of node k are 2k and 2k + 1, node 1 is the root.
 *
 * Local memory, in words:
 *
 *     0              keys on their way out: those of a tile, and of tiles before that kept few
 *     ORDER_AT_BITS  a bit for each gap that is searched
 *     ORDER_AT_FILL  keys on their way; where they go
 *     ORDER_AT_CELL  a count for each cell, in `copies`
 *     p.tree         the tree, in `copies`
 *
 * Copies, as many as there is space for, keep lanes out of each other's banks.
 *
 * Phases: tiles are counted, a work-item ORDER_EACH keys at a time; after each, if another might
 * not fit, the kept keys are written out together; the counts are added to the call's.
 */
#define ORDER_STAGE   (ORDER_TILE + ORDER_EXTRA)
#define ORDER_AT_BITS (ORDER_STAGE * ORDER_KEY_WORDS)
#define ORDER_AT_FILL (ORDER_AT_BITS + ORDER_TABLE / 32)
#define ORDER_AT_CELL (ORDER_AT_FILL + 4)
#define ORDER_FEW     3 /* edges that are held in registers */

/* What a work-item holds of a pass. */
typedef struct order_pass {
    int few;              /* few edges, and only the gap between the first two is searched */
    ty_u32 edges, nodes;  /* nodes of the tree, a power of two */
    ty_u32 copies, shift; /* 2^shift */
    ty_u32 mine;          /* which of them is the work-item's */
    ty_u32 tree;          /* where it is */
    order_key root;
    order_key a, b; /* few edges: the first two; and the next after a, and how many up to b */
    order_key next, span;
    ty_u32 wanted; /* few edges: whether those between are kept */
    ty_u32 below, inside, equal, all;
    ty_u32 none; /* of these, what is no key of the source */
} order_pass;

/* Threshold i of the tree in order; those behind all are the largest key, which cells end at. */
TY_FN order_key order_threshold(TY_GLOBAL const ty_u64 *state, ty_u32 i, ty_u32 edges)
{
    return i + 1 < 2 * edges ? (order_key)state[ORDER_EDGE + i / 2] + (i & 1) : ORDER_NAN;
}

/* `room`: words of local memory for counts and tree, enough for one copy. */
TY_FN order_pass order_pass_begin(TY_GLOBAL const ty_u64 *state, ty_u32 room, TY_LOCAL ty_u32 *area)
{
    order_pass p;
    p.edges = (ty_u32)state[ORDER_EDGES];
    for (p.nodes = 8; p.nodes < 2 * p.edges; p.nodes *= 2)
        ;
    for (p.shift = 5; p.shift && p.nodes * (1 + ORDER_KEY_WORDS) << p.shift > room;)
        p.shift--;
    p.copies = 1u << p.shift;
    p.mine = TY_LID & (p.copies - 1);
    p.tree = ORDER_AT_CELL + p.nodes * p.copies;
    for (ty_u32 i = TY_LID; i < ORDER_TABLE / 32 + 4 + p.nodes * p.copies; i += TY_GROUP_SIZE)
        area[ORDER_AT_BITS + i] = 0;
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < p.edges; i += TY_GROUP_SIZE)
        if (state[ORDER_WANTED + i])
            TY_ADD_LOCAL(&area[ORDER_AT_BITS + i / 32], 1u << i % 32);
    for (ty_u32 i = TY_LID; i < p.nodes * p.copies; i += TY_GROUP_SIZE) {
        const ty_u32 node = i >> p.shift;
        ty_u32 level = 1; /* the first node of this one's */
        while (2 * level <= node)
            level *= 2;
        ((TY_LOCAL order_key *)(area + p.tree))[i] =
            order_threshold(state, (2 * (node - level) + 1) * (p.nodes / (2 * level)) - 1, p.edges);
    }
    TY_BARRIER();
    p.root = order_threshold(state, p.nodes / 2 - 1, p.edges);
    p.a = (order_key)state[ORDER_EDGE];
    p.b = (order_key)state[ORDER_EDGE + 1];
    p.next = p.a + 1;
    p.span = p.b > p.a ? p.b - p.a - 1 : 0;
    p.wanted = state[ORDER_WANTED + 1] != 0;
    p.few = p.edges <= ORDER_FEW && !state[ORDER_WANTED + 2];
    p.below = p.inside = p.equal = p.all = p.none = 0;
    return p;
}

/* Keeps the keys of `x` whose bits are set. */
TY_FN void order_keep(const order_key *x, ty_u32 kept, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL order_key *stage = (TY_LOCAL order_key *)area;
    ty_u32 at;
    if (!kept)
        return;
    at = TY_ADD_LOCAL(&area[ORDER_AT_FILL], ORDER_POPCOUNT(kept));
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        if (kept >> j & 1)
            stage[at++] = x[j];
}

/* By comparisons. What is equal to an edge is seldom, or all is. */
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
                TY_ADD_LOCAL(&area[ORDER_AT_CELL + (2 * edge + 1) * p->copies + p->mine], 1);
                p->equal++;
            }
        }
    }
    p->inside += ORDER_POPCOUNT(strictly);
    order_keep(x, p->wanted ? strictly : 0, area);
}

/* By search, all keys of a work-item at once. `at` is where its copy of a node lies, in bytes. */
TY_FN void order_tile_many(const order_key *x, order_pass *p, TY_LOCAL ty_u32 *area)
{
    enum { size = 4 * ORDER_KEY_WORDS };
    TY_LOCAL const ty_u8 *bytes = (TY_LOCAL const ty_u8 *)area;
    TY_LOCAL ty_u32 *cells = area + ORDER_AT_CELL + p->mine;
    const ty_u32 copies = p->copies, start = 4 * p->tree + size * p->mine;
    const ty_u32 left = 0u - start, right = left + size * copies; /* 2 (at - start) + start, … */
    const ty_u32 leaves = start + size * p->nodes * copies, last = (2 * p->edges - 1) * copies;
    ty_u32 at[ORDER_EACH], kept = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        at[j] = start + size * copies * (p->root <= x[j] ? 3 : 2);
    for (ty_u32 node = 2; node < p->nodes; node *= 2) {
        order_key there[ORDER_EACH];
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++)
            there[j] = *(TY_LOCAL const order_key *)(bytes + at[j]);
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++)
            at[j] += at[j] + (there[j] <= x[j] ? right : left);
    }
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_u32 leaf = (at[j] - leaves) / size, place = leaf < last ? leaf : last;
        const ty_u32 cell = place >> p->shift, gap = cell / 2;
        TY_ADD_LOCAL(cells + place, 1);
        kept |= (area[ORDER_AT_BITS + gap / 32] >> gap % 32 & ~cell & 1) << j;
    }
    order_keep(x, kept, area);
}

TY_FN void order_tile(const order_key *x, order_pass *p, TY_LOCAL ty_u32 *area)
{
    p->all += ORDER_EACH;
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
    const int full = fill > ORDER_EXTRA || last;
    if (full && TY_LID == 0)
        area[ORDER_AT_FILL + 1] = fill ? TY_ADD_GLOBAL(state + ORDER_KEPT, fill) : 0;
    TY_BARRIER();
    const ty_u32 base = area[ORDER_AT_FILL + 1];
    for (ty_u32 k = TY_LID; full && k < fill; k += TY_GROUP_SIZE)
        if ((ty_u64)base + k < most)
            out[(ty_u64)base + k] = stage[k];
    if (full && TY_LID == 0)
        area[ORDER_AT_FILL] = 0;
    TY_BARRIER();
}

/* Adds the group's counts to the call's; what was no key was counted as the largest. */
TY_FN void order_pass_end(TY_GLOBAL ty_u64 *state, const order_pass *p, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *cells = area + ORDER_AT_CELL;
    if (p->few) {
        TY_ADD_LOCAL(&cells[0], p->below);
        TY_ADD_LOCAL(&cells[2 * p->copies], p->inside);
        TY_ADD_LOCAL(&cells[4 * p->copies], p->all - p->below - p->inside - p->equal);
    }
    if (p->none)
        TY_ADD_LOCAL(&cells[(2 * p->edges - 1) * p->copies], 0u - p->none);
    TY_BARRIER();
    for (ty_u32 c = TY_LID; c < 2 * p->edges; c += TY_GROUP_SIZE) {
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < p->copies; k++)
            sum += cells[c * p->copies + ((k + c) & (p->copies - 1))];
        if (sum)
            TY_ADD_WIDE(state + ORDER_CELL + c, (ty_u64)sum);
    }
}

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
    ty_u64 head = (0u - (ty_u32)(ty_u64)samples & 15u) / ORDER_SIZE;
    head = head < n ? head : n;
    const ty_u64 full = (n - head) / ORDER_TILE, rest = n - full * ORDER_TILE;
    const ty_u64 tiles = full + (rest + ORDER_TILE - 1) / ORDER_TILE;
    const ty_u64 tile = ORDER_TILE * ORDER_SIZE / 16;
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)(samples + head * ORDER_SIZE);
    order_pass p = order_pass_begin(state, room, ty_local);
    ty_u32 words[4 * ORDER_LOADS];
    if (TY_GROUP < full)
        order_fetch(vectors + TY_GROUP * tile + TY_LID, words);
    for (ty_u64 t = TY_GROUP; t < tiles; t += TY_GROUPS) {
        order_key x[ORDER_EACH];
        TY_UNROLL
        for (ty_u32 j = 0; t < full && j < ORDER_EACH; j++)
            x[j] = ORDER_KEY_IN(words, j);
        if (t + TY_GROUPS < full)
            order_fetch(vectors + (t + TY_GROUPS) * tile + TY_LID, words);
        for (ty_u32 j = 0; t >= full && j < ORDER_EACH; j++) {
            const ty_u64 e = (t - full) * ORDER_TILE + j * TY_GROUP_SIZE + TY_LID;
            const ty_u64 i = e < head ? e : e + full * ORDER_TILE;
            x[j] = e < rest ? order_key_of(ty_word_at(samples + i * ORDER_SIZE, ORDER_SIZE))
                            : ORDER_NAN;
            p.none += e >= rest;
        }
        order_tile(x, &p, ty_local);
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}

/* Samples of any layout. */
TY_KERNEL(TY_GROUP_SIZE)
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
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}

/* Keys that were kept before. */
TY_KERNEL(TY_GROUP_SIZE)
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
        order_flush(state, out + out_at, most, 0, ty_local);
    }
    order_flush(state, out + out_at, most, 1, ty_local);
    order_pass_end(state, &p, ty_local);
}
/* SPDX-License-Identifier: Apache-2.0 */
