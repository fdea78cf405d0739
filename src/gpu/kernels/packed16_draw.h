/*
 * packed16 (packed16.h): what happens before an epoch is counted. Each work-item looks at one load
 * of the coming epoch drawn at random. What is drawn tells which pairs to drain, which cells are
 * heavy hitters, and in which form the epoch is counted.
 */
#ifndef TY_PACKED16_DRAW_H
#define TY_PACKED16_DRAW_H

/* An epoch of the work-group, in chunks of it. */
typedef struct packed16_epoch {
    ty_u32 at, end; /* its chunks */
    ty_u32 usual;   /* the usual length; */
    ty_u32 reach;   /* … of the next one at most */
    ty_u32 mode;    /* P16_FORWARD … */
    ty_u32 form;    /* P16_PLAIN … */
    ty_u32 careful; /* where the chunks end that are counted one at a time */
} packed16_epoch;

/* What a work-item drew. */
typedef struct packed16_drawn {
    int draws;              /* whether it did: an epoch is drawn from when it is first counted */
    ty_u32 many;            /* so many draws of a pair make it one to be drained */
    ty_u32 cell[P16_EACH];  /* of each sample, the cell, not biased, */
    ty_u32 found[P16_EACH]; /* … and how many samples drawn are of its pair, or 0 */
} packed16_drawn;

TY_FN ty_u32 packed16_mix(ty_u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Where a chunk of the work-group begins, of `all`: each round of chunks, one for each work-group,
 * is dealt from another work-group on, so that samples that repeat do not leave some of them all
 * that are slow to count. */
TY_FN ty_u64 packed16_chunk(ty_u32 round, ty_u32 all, ty_u32 key)
{
    ty_u32 first = round * TY_GROUPS, from = TY_MUL_HI(key + round * 0x9e3779b9u, TY_GROUPS);
    ty_u32 group = TY_GROUP + (first + TY_GROUPS <= all ? from : 0u);
    return (ty_u64)(first + (group < TY_GROUPS ? group : group - TY_GROUPS)) * P16_CHUNK;
}

/* The work-item's first load of a turn; the others follow P16_TEAM apart. */
TY_FN TY_GLOBAL const uint4 *packed16_turn_loads(const packed16_group *g, ty_u32 at, ty_u32 turn)
{
    return g->span.vectors + packed16_chunk(at + turn / P16_TURNS, g->all, g->key) + g->lane +
           turn % P16_TURNS * (TY_AHEAD * P16_TEAM);
}

/* The load that the work-item draws from chunks `at` … `end`. Two neighbours draw from one row of
 * loads, whose samples lanes would count at once, and each two from a part of their own, so that no
 * part is left out and a sub-group asks for few pages of memory. */
TY_FN TY_GLOBAL const uint4 *packed16_drawn_load(const packed16_group *g, ty_u32 at, ty_u32 end)
{
    const ty_u32 pair = (TY_GROUP * TY_GROUP_SIZE + g->lid) / 2;
    const ty_u32 draw = packed16_mix(g->key ^ packed16_mix(at * 0x10001u + pair));
    const ty_u32 loads = (end - at) * P16_CHUNK / (TY_GROUP_SIZE / 2);
    ty_u32 j = TY_LID / 2 * loads + (ty_u32)((ty_u64)draw * loads >> 32);
    j ^= P16_TEAM == 32 && TY_LID % 2 ? 1 + draw % 31 : 0;
    return g->span.vectors + (packed16_chunk(at + j / P16_CHUNK, g->all, g->key) + j % P16_CHUNK);
}

/* Where the epoch that begins at chunk `at` ends. */
TY_FN ty_u32 packed16_end(const packed16_group *g, const packed16_epoch *e, ty_u32 at)
{
    return g->chunks - at < e->reach ? g->chunks : at + e->reach;
}

/* Draws of pairs are counted twice, in words that two hashes choose: `way` 0 in the table; 1 in a
 * second table behind it, where local memory has as many words there, else in the upper halves of
 * the first one's words. In a table of their own these are updates by 1 too, which the hardware
 * combines among lanes. */
#define P16_TWO_TABLES                                                                             \
    (P16_DRAWS_LEAD && P16_COUNTS >= TY_GROUP_SIZE && P16_HEAVY_CELLS >= TY_GROUP_SIZE)
#define P16_SECOND (P16_TWO_TABLES ? P16_COUNTS : 0)
TY_FN ty_u32 packed16_pair_slot(ty_u32 cell, ty_u32 way, ty_u32 key)
{
    const ty_u32 hash = packed16_mix((cell >> 1) + key + way * 0x632be5abu);
    return (ty_u32)((ty_u64)hash * TY_GROUP_SIZE >> 32);
}

/* Begins an epoch: what its draws and turns write is cleared. `hits` is the parameter of that
 * name. Standard is half as many draws as of a pair that could overflow. */
TY_FN void packed16_begin(const packed16_group *g, packed16_epoch *e, packed16_drawn *d,
                          ty_u32 hits)
{
    e->end = e->mode == P16_CAREFUL ? e->at + 1 : packed16_end(g, e, e->at);
    ty_u32 many = hits ? hits * P16_EACH : 32768 / (e->reach * TY_AHEAD);
    d->many = many > 8 ? many : 8;
    d->draws = e->mode == P16_FORWARD;
    /* The first turns' loads, 128 bytes a lane: memory has nothing to do while the group draws. */
    if (d->draws && g->lane < TY_AHEAD * P16_TEAM / 8)
        TY_PREFETCH(
            packed16_turn_loads(g, e->at, (e->end - e->at) * P16_TURNS - 1 - g->lid / P16_TEAM) +
            g->lane * 7);
    g->table[g->lid] = g->table[P16_SECOND + g->lid] = 0;
    for (ty_u32 i = g->lid; i < 2 * P16_LISTED; i += TY_GROUP_SIZE)
        g->drained[i] = 0;
    if (g->lid == 0) {
        g->sums[P16_LIST_LENGTH] = 0;
        g->sums[P16_TURNS_LEFT] = (e->end - e->at) * P16_TURNS;
        g->sums[P16_CONSTANT] = g->sums[P16_MET] = g->sums[P16_MASS] = 0;
        g->sums[P16_TOP] = g->sums[P16_UNTABLED] = g->sums[P16_ENTERED] = 0;
    }
    TY_BARRIER();
}

/* Draws a load, and counts how many samples drawn are of the pair of each of its own: the fewer of
 * those in the pair's two words, which other pairs rarely share. */
TY_FN void packed16_draw(const packed16_group *g, const packed16_epoch *e, packed16_drawn *d)
{
    TY_UNROLL
    for (ty_u32 s = 0; s < P16_EACH; s++)
        d->cell[s] = d->found[s] = 0;
    if (d->draws) {
        ty_u32 biased[P16_EACH];
        int same = 1;
        packed16_cells(g, *packed16_drawn_load(g, e->at, e->end), biased);
        TY_UNROLL
        for (ty_u32 s = 0; s < P16_EACH; s++) {
            same &= biased[s] == biased[0];
            d->cell[s] = biased[s] - P16_BIAS;
            TY_ADD_LOCAL(&g->table[packed16_pair_slot(d->cell[s], 0, g->key)], 1);
            TY_ADD_LOCAL(&g->table[P16_SECOND + packed16_pair_slot(d->cell[s], 1, g->key)],
                         P16_TWO_TABLES ? 1 : 0x10000);
        }
        if (same)
            TY_ADD_LOCAL(&g->sums[P16_CONSTANT], 1);
#if defined(TY_BALLOT)
        if (TY_SHUFFLE(d->cell[0], (g->lid ^ 1) & 31) == d->cell[0])
            TY_ADD_LOCAL(&g->sums[P16_MET], 1);
#endif
    }
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 s = 0; s < P16_EACH; s++) {
        ty_u32 one = g->table[packed16_pair_slot(d->cell[s], 0, g->key)] & 0xffffu;
        ty_u32 other = g->table[P16_SECOND + packed16_pair_slot(d->cell[s], 1, g->key)] >>
                       (P16_TWO_TABLES ? 0 : 16);
        d->found[s] = !d->draws ? 0 : one < other ? one : other;
    }
    TY_BARRIER();
}

/* Whether sample s of a load is of the first one's cell, and the first one is enough. */
TY_FN int packed16_repeats(const packed16_drawn *d, ty_u32 s)
{
    return P16_DRAWS_LEAD && s && d->cell[s] == d->cell[0];
}

/* What a pair that many drew bids for its word of the table: the pair that most drew bids most. */
TY_FN ty_u32 packed16_bid(const packed16_drawn *d, ty_u32 s)
{
    return 0x80000000u | (P16_DRAWS_LEAD ? d->found[s] << 16 : 0u) | d->cell[s] >> 1;
}

/* Lists the pairs that many drew: of each word of the table the one that bids most, then, where
 * others lost there, of their other word's. */
TY_FN void packed16_list_pairs(const packed16_group *g, const packed16_drawn *d)
{
    ty_u32 winner = 0, lost = 0;
    for (ty_u32 round = 0; round < 2; round++) {
        TY_UNROLL
        for (ty_u32 s = 0; s < P16_EACH; s++) {
            const int again = packed16_repeats(d, s);
            if (d->found[s] >= d->many && !again && (round == 0 || (lost >> s & 1)))
                TY_MAX_LOCAL(&g->table[packed16_pair_slot(d->cell[s], round, g->key)],
                             packed16_bid(d, s));
        }
        TY_BARRIER();
        ty_u32 last = winner;
        winner = g->table[g->lid];
        if (winner >> 31 && winner != last) {
            ty_u32 i = TY_ADD_LOCAL(&g->sums[P16_LIST_LENGTH], 1);
            if (i < P16_LISTED)
                g->list[i] = (winner & 0xffffu) * 2 + P16_BIAS;
        }
        TY_UNROLL
        for (ty_u32 s = 0; s < P16_EACH; s++) {
            if (g->table[packed16_pair_slot(d->cell[s], 0, g->key)] != packed16_bid(d, s))
                lost |= 1u << s;
        }
        TY_BARRIER();
    }
#if !defined(TY_BALLOT)
    g->table[g->lid] = d->cell[0];
    TY_BARRIER();
    if (d->draws && g->table[g->lid ^ 1] == d->cell[0])
        TY_ADD_LOCAL(&g->sums[P16_MET], 1);
    TY_BARRIER();
#endif
}

/* Finds the heavy hitters: of each word of the table the cell that most drew, then how many drew
 * it. Returns the latter, of the work-item's word of the table. */
TY_FN ty_u32 packed16_find_heavy(const packed16_group *g, const packed16_drawn *d)
{
    g->table[g->lid] = 0;
    if (g->lid < P16_HEAVY_CELLS)
        g->table[P16_COUNTS + g->lid] = 0;
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 s = 0; s < P16_EACH; s++) {
        if (d->found[s] && !packed16_repeats(d, s))
            TY_MAX_LOCAL(&g->table[packed16_slot(g, d->cell[s] + P16_BIAS)],
                         d->found[s] << 17 | d->cell[s]);
    }
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 s = 0; s < P16_EACH; s++) {
        ty_u32 i = packed16_slot(g, d->cell[s] + P16_BIAS);
        if (d->found[s] && (g->table[i] & 0x1ffffu) == d->cell[s])
            TY_ADD_LOCAL(&g->table[P16_COUNTS + i], 1);
        else if (d->found[s] >= d->many)
            TY_ADD_LOCAL(&g->sums[P16_UNTABLED], 1);
    }
    TY_BARRIER();
    return g->lid < P16_HEAVY_CELLS ? g->table[P16_COUNTS + g->lid] : 0;
}

/* Copies of each heavy hitter's counter, as a power of two: as many as these and some more that
 * are met later have words for. Of two-byte samples only. */
TY_FN ty_u32 packed16_copy_bits(ty_u32 heavy)
{
    ty_u32 bits = P16_RAW ? 5 : 0;
    while (bits > 2 && P16_COPIED_WORDS >> bits < heavy + 16)
        bits--;
    return bits;
}

/* The form of an epoch, by what was drawn from it; `asked` is the parameter `form`. */
TY_FN ty_u32 packed16_form(TY_LOCAL const ty_u32 *sums, ty_u32 asked)
{
    const ty_u32 draws = P16_EACH * TY_GROUP_SIZE;
    const ty_u32 others = sums[P16_MASS] - (sums[P16_TOP] >> 17);
    /* Hardly a value is no heavy hitter, and each has 32 copies: no lanes meet. */
    const int known = P16_RAW && sums[P16_MASS] * 128 >= draws * 127 && others * 8 >= draws &&
                      packed16_copy_bits(sums[P16_ENTERED]) == 5;
    if (asked)
        return asked - 1;
    if (sums[P16_CONSTANT] * 8 >= TY_GROUP_SIZE * 7)
        return P16_RUN_LENGTH;
    if (known ||
        (sums[P16_MET] * 32 >= TY_GROUP_SIZE && sums[P16_MASS] * 8 >= draws * 7 &&
         others * 8 >= draws) ||
        (sums[P16_MET] * 6 >= TY_GROUP_SIZE && others * 4 >= draws))
        return P16_HEAVY;
    return sums[P16_MET] * 50 >= TY_GROUP_SIZE ? P16_AGGREGATED : P16_PLAIN;
}

/* Makes the table that the turns count with: the heavy hitters in the form that counts by these,
 * else zeros, a word for each work-item. The work-item's word was drawn `drew` times, and is number
 * `which` of the heavy hitters, each of which has 2^copy_bits counters. */
TY_FN void packed16_make_table(const packed16_group *g, ty_u32 form, ty_u32 drew, ty_u32 which,
                               ty_u32 copy_bits)
{
    const ty_u32 lid = g->lid;
    if (form != P16_HEAVY) {
        g->table[lid] = 0;
    } else if (lid < P16_HEAVY_CELLS) {
#if P16_RAW
        const int enters = drew >= P16_KNOWN && which < P16_COPIED_WORDS >> copy_bits;
        g->table[lid] = enters ? g->table[lid] << 16 | which : P16_EMPTY(lid);
#else
        g->table[lid] = drew >= P16_KNOWN ? (g->table[lid] & 0x1ffffu) + P16_BIAS : P16_NO_CELL;
        (void)which;
        (void)copy_bits;
#endif
        g->table[P16_COUNTS + lid] = 0;
    }
    for (ty_u32 i = lid; form == P16_HEAVY && i < P16_COPIED_WORDS; i += TY_GROUP_SIZE)
        g->table[P16_COPIES + i] = 0;
}

/* Chooses the form of the epoch, whether the pairs listed need be drained in it, and whether it is
 * to be shorter. */
TY_FN void packed16_choose(const packed16_group *g, packed16_epoch *e, const packed16_drawn *d,
                           packed16_leader *leader, ty_u32 drew, ty_u32 asked)
{
    const ty_u32 listed = g->sums[P16_LIST_LENGTH];
    ty_u32 which = 0;
    if (drew >= P16_KNOWN) {
        which = TY_ADD_LOCAL(&g->sums[P16_ENTERED], 1);
        TY_ADD_LOCAL(&g->sums[P16_MASS], drew);
        TY_MAX_LOCAL(&g->sums[P16_TOP], drew << 17 | (g->table[g->lid] & 0x1ffffu));
    }
    TY_BARRIER();
    e->form = e->mode == P16_FORWARD ? packed16_form(g->sums, asked) : e->form;
    /* Every pair that may overflow is one of heavy hitters, which have counters of 32 bits. */
    const int all_heavy = e->form == P16_HEAVY && !g->sums[P16_UNTABLED] &&
                          (!P16_RAW || g->sums[P16_ENTERED] <= P16_COPIED_WORDS / 4);
    const ty_u32 copy_bits = packed16_copy_bits(g->sums[P16_ENTERED]);
    if (P16_RAW && g->lid == 0 && d->draws)
        g->sums[P16_COPY_BITS] = copy_bits;
    if (g->lid == 0 && all_heavy)
        g->sums[P16_LIST_LENGTH] = 0;
    if (d->draws && !all_heavy && e->reach > e->usual && listed > P16_LISTED / 16) {
        e->reach = e->usual;
        e->end = e->at; /* nothing is counted: the next epoch begins here too and is shorter */
        if (g->lid == 0)
            g->sums[P16_TURNS_LEFT] = 0;
    }
    packed16_make_table(g, e->form, drew, which, copy_bits);
#if defined(TY_BALLOT)
    leader->cell = P16_DRAWS_LEAD && e->form == P16_AGGREGATED && g->sums[P16_TOP]
                       ? (g->sums[P16_TOP] & 0x1ffffu) + P16_BIAS
                       : P16_NO_CELL;
#else
    (void)leader;
#endif
    TY_BARRIER();
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
