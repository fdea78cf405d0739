/* packed16: counters of 16 bits, two a word, checked by their sum. packed16.h tells how. */

TY_FN uint4 packed16_zeros(void)
{
    uint4 v;
    v.x = v.y = v.z = v.w = 0;
    return v;
}

/* So many at a time of all, at most `most`, each time as many. */
TY_FN ty_u32 packed16_equal(ty_u32 all, ty_u32 most)
{
    ty_u32 times = (all + most - 1) / most;
    return times ? (all + times - 1) / times : 1;
}

/* Where things lie, for this work-item. */
TY_FN void packed16_lay_out(packed16_group *g, TY_LOCAL ty_u32 *memory, ty_u32 key)
{
    const ty_u32 start = TY_LOCAL_ADDRESS(memory);
    g->lid = TY_LID;
    g->key = key;
    g->more = key * 0x9e3779b9u;
    g->words = (g->cells + 63) / 64 * 32;
    g->origin = (start + 127) & ~127u;
    g->two = 2;
    g->upper = 65536;
    g->one = 1;
    g->bias = g->origin + P16_BASE * 4 - 2 * P16_BIAS;
    g->waste = g->origin + (P16_WASTE + g->lid % 32) * 4;
    g->spread = packed16_spread(g->cells - P16_NO_BINS);
    g->table = memory + (g->origin - start) / 4;
    g->counters = g->table + P16_BASE;
    g->sums = g->counters + g->words;
    g->list = g->sums + P16_SUMS;
    g->drained = g->list + P16_LISTED;
    g->lane = g->lid % P16_TEAM;
    g->all = g->span.count / P16_CHUNK;
    g->chunks = (g->all + TY_GROUPS - 1 - TY_GROUP) / TY_GROUPS;
}

/* Clears what all epochs add to. Another launch may still write `out` until TY_GRID_WAIT. */
TY_FN void packed16_clear(const packed16_group *g)
{
    for (ty_u32 w = g->lid; w < g->words / 4; w += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)g->counters)[w] = packed16_zeros();
    if (g->lid < P16_SUMS)
        g->sums[g->lid] = 0;
    if (g->lid < 32)
        g->table[P16_WASTE + g->lid] = 0;
    TY_GRID_WAIT();
    TY_BARRIER();
}

/* Adds zeros that the compiler does not know of to constants. They then stay in registers, where it
 * would move them there for each sample; and products remain products, where it would make shifts
 * of them, which the units that are busiest do. The counters are zero. */
TY_FN void packed16_keep_in_registers(packed16_group *g)
{
#if P16_RAW && defined(__CUDACC__)
    g->two += g->counters[g->lid % 32];
    g->upper += g->counters[g->lid % 32];
    g->one += g->counters[g->lid % 32];
    g->bias += g->counters[g->lid % 32];
    TY_OPAQUE(g->two);
    TY_OPAQUE(g->upper);
    TY_OPAQUE(g->one);
    TY_OPAQUE(g->bias);
    TY_BARRIER();
#elif TY_BINNING == TY_BY_F32 && !P16_RAW && defined(__CUDACC__)
    ty_decider *f = &g->decider;
    f->steps = TY_AS_FLOAT(TY_FLOAT_BITS(f->steps) + g->counters[g->lid % 32]);
    f->slack = TY_AS_FLOAT(TY_FLOAT_BITS(f->slack) + g->counters[g->lid % 32]);
    f->scale = TY_AS_FLOAT(TY_FLOAT_BITS(f->scale) + g->counters[g->lid % 32]);
    TY_BARRIER();
#else
    (void)g;
#endif
}

/* Counts the loads that are no whole chunk. */
TY_FN void packed16_count_rest(const packed16_group *g)
{
    for (ty_u32 q = g->all * P16_CHUNK + TY_GROUP * TY_GROUP_SIZE + g->lid; q < g->span.count;
         q += TY_GROUPS * TY_GROUP_SIZE) {
        ty_u32 cells[P16_EACH];
        packed16_cells(g, g->span.vectors[q], cells);
        for (ty_u32 s = 0; s < P16_EACH; s++)
            packed16_add(g, cells[s], 1);
        TY_ADD_LOCAL(&g->sums[P16_EXPECTED], P16_EACH);
    }
}

/* The number of a turn that no sub-group has taken; below 0 when there is none. */
TY_FN ty_i32 packed16_next_turn(const packed16_group *g, ty_i32 turn)
{
#if defined(TY_BALLOT)
    if ((g->lid & 31) == 0)
        turn = (ty_i32)(TY_DEC_LOCAL(&g->sums[P16_TURNS_LEFT]) - 1);
    return (ty_i32)TY_SHUFFLE(turn, 0);
#else
    (void)g;
    return turn - P16_TURNS;
#endif
}

/* Empties the pairs that are listed. */
TY_FN void packed16_drain(const packed16_group *g, ty_i32 turn)
{
    TY_ROLLED
    for (ty_u32 i = turn % P16_DRAIN ? P16_LISTED : g->lane;
         i < P16_LISTED && i < g->sums[P16_LIST_LENGTH]; i += P16_TEAM) {
        ty_u32 even = g->list[i], word = TY_SWAP_LOCAL(packed16_counter(g, even), 0);
        TY_ADD_LOCAL(&g->drained[2 * i], packed16_of_both(word));
        TY_ADD_LOCAL(&g->drained[2 * i + 1], packed16_of_odd(word, even));
    }
}

/* Counts the turns of an epoch that this sub-group takes, the first of which is `turn`. Returns the
 * work-item's samples. */
TY_FN ty_u32 packed16_count_turns(const packed16_group *g, const packed16_epoch *e,
                                  packed16_leader *leader, ty_i32 turn)
{
    ty_u32 counted = 0;
    uint4 loads[TY_AHEAD];
    TY_GLOBAL const uint4 *from = packed16_turn_loads(g, e->at, (ty_u32)turn);
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_AHEAD; k++)
        loads[k] = TY_PINNED(from + k * P16_TEAM);
    while (turn >= 0) {
        ty_i32 following = packed16_next_turn(g, turn);
        TY_GLOBAL const uint4 *next =
            following >= 0 ? packed16_turn_loads(g, e->at, (ty_u32)following) : from;
        counted += TY_AHEAD * P16_EACH;
        packed16_count_turn(g, e->form, leader, loads, next);
        packed16_drain(g, turn);
        /* What the next epoch draws from is asked for towards the end of this one. */
        if (turn < 2 * P16_TURNS && turn >= P16_TURNS && e->end < g->chunks)
            TY_PREFETCH(packed16_drawn_load(g, e->end, packed16_end(g, e, e->end)));
        from = next;
        turn = following;
    }
    return counted;
}

/* Adds `unit` times the samples of the turns that this sub-group takes: -1 takes them back. */
TY_FN ty_u32 packed16_count_slowly(const packed16_group *g, const packed16_epoch *e, ty_u32 unit,
                                   ty_i32 turn)
{
    ty_u32 counted = 0;
    for (; turn >= 0; turn = packed16_next_turn(g, turn)) {
        TY_GLOBAL const uint4 *from = packed16_turn_loads(g, e->at, (ty_u32)turn);
        counted += TY_AHEAD * P16_EACH;
        TY_ROLLED
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {
            ty_u32 cells[P16_EACH];
            packed16_cells(g, from[k * P16_TEAM], cells);
            for (ty_u32 s = 0; s < P16_EACH; s++)
                packed16_add(g, cells[s], unit);
        }
    }
    return counted;
}

/* What checking an epoch by the sum says. */
typedef struct packed16_verdict {
    ty_u32 right;       /* whether no counter overflowed */
    ty_u32 full;        /* whether a pair has P16_FULL samples */
    ty_u32 heavy_words; /* words of the table that may have heavy hitters' counts */
    ty_u32 heavy;       /* samples of the heavy hitters that this work-item looks after */
} packed16_verdict;

/* Adds up what the counters, the heavy hitters' counts and what is drained have, to be compared
 * with the samples counted; of this work-item `counted`. */
TY_FN packed16_verdict packed16_check(const packed16_group *g, const packed16_epoch *e,
                                      ty_u32 counted)
{
    packed16_verdict v;
    ty_u32 sum = 0, any = 0;
    for (ty_u32 w = g->lid; w < g->words / 4; w += TY_GROUP_SIZE) {
        uint4 four = ((TY_LOCAL uint4 *)g->counters)[w];
        sum += packed16_of_both(four.x) + packed16_of_both(four.y) + packed16_of_both(four.z) +
               packed16_of_both(four.w);
        any |= four.x | four.y | four.z | four.w;
    }
    v.heavy = 0;
    v.heavy_words = e->mode == P16_FORWARD && e->form == P16_HEAVY ? P16_HEAVY_CELLS : 0;
    for (ty_u32 i = g->lid; i < v.heavy_words; i += TY_GROUP_SIZE) {
        ty_u32 biased;
        v.heavy += packed16_heavy(g, i, &biased);
    }
    for (ty_u32 i = g->lid; i < P16_LISTED; i += TY_GROUP_SIZE)
        sum += g->drained[2 * i];
    TY_ADD_LOCAL(&g->sums[P16_FOUND], sum + v.heavy);
    TY_ADD_LOCAL(&g->sums[P16_EXPECTED], counted);
    if (any & (0x10000u - P16_FULL))
        TY_ADD_LOCAL(&g->sums[P16_SOME_FULL], 1);
    TY_BARRIER();
    v.right = g->sums[P16_EXPECTED] == g->sums[P16_FOUND];
    v.full = g->sums[P16_SOME_FULL];
    TY_BARRIER();
    if (g->lid == 0)
        g->sums[P16_FOUND] = g->sums[P16_SOME_FULL] = 0;
    return v;
}

/* Gives the counters back what heavy hitters and drained pairs have, so that subtracting the
 * epoch's samples leaves what was there before it. */
TY_FN void packed16_give_back(const packed16_group *g, packed16_verdict v)
{
    for (ty_u32 i = g->lid; i < v.heavy_words; i += TY_GROUP_SIZE) {
        ty_u32 biased, n = packed16_heavy(g, i, &biased);
        if (n)
            packed16_add(g, biased, n);
    }
    for (ty_u32 i = g->lid; i < P16_LISTED; i += TY_GROUP_SIZE) {
        const ty_u32 even = g->list[i];
        if (g->drained[2 * i])
            TY_ADD_LOCAL(packed16_counter(g, even), g->drained[2 * i] * packed16_unit(g, even) +
                                                        (g->drained[2 * i + 1] << 16));
    }
}

/* Stores n samples of a cell, not biased, in `out`. */
TY_FN void packed16_store(const packed16_group *g, ty_u32 cell, ty_u32 n)
{
    TY_ADD_GLOBAL(&g->out[packed16_target(g, cell)], n);
}

/* Stores what heavy hitters and drained pairs have, and pairs that are nearly full. */
TY_FN void packed16_store_epoch(const packed16_group *g, packed16_verdict v)
{
    if (v.heavy)
        TY_ADD_LOCAL(&g->sums[P16_EXPECTED], 0u - v.heavy);
    for (ty_u32 i = g->lid; i < v.heavy_words; i += TY_GROUP_SIZE) {
        ty_u32 biased, n = packed16_heavy(g, i, &biased);
        if (n)
            packed16_store(g, biased - P16_BIAS, n);
    }
    for (ty_u32 i = g->lid; i < P16_LISTED; i += TY_GROUP_SIZE) {
        ty_u32 of_both = g->drained[2 * i], of_odd = g->drained[2 * i + 1];
        if (of_both) {
            TY_ADD_LOCAL(&g->sums[P16_EXPECTED], 0u - of_both);
            packed16_store(g, g->list[i] - P16_BIAS, of_both - of_odd);
        }
        if (of_odd)
            packed16_store(g, g->list[i] + 1 - P16_BIAS, of_odd);
    }
    for (ty_u32 c = 2 * g->lid; v.full && c < g->cells; c += 2 * TY_GROUP_SIZE) {
        ty_u32 word = *packed16_counter(g, c + P16_BIAS);
        ty_u32 of_both = packed16_of_both(word), of_odd = packed16_of_odd(word, c);
        if (of_both >= P16_FULL) {
            *packed16_counter(g, c + P16_BIAS) = 0;
            TY_ADD_LOCAL(&g->sums[P16_EXPECTED], 0u - of_both);
            packed16_store(g, c, of_both - of_odd);
            if (of_odd)
                packed16_store(g, c + 1, of_odd);
        }
    }
}

/* Ends an epoch, or takes it back: what comes next is in `e`. */
TY_FN void packed16_end_epoch(const packed16_group *g, packed16_epoch *e, packed16_verdict v)
{
    if (e->mode == P16_FORWARD && !v.right) {
        e->mode = P16_BACK;
        packed16_give_back(g, v);
    } else if (e->mode == P16_BACK) {
        e->mode = P16_CAREFUL;
        e->careful = e->end;
        e->reach = e->usual;
    } else {
        packed16_store_epoch(g, v);
        e->at = e->end;
        e->mode = e->mode == P16_CAREFUL && e->at < e->careful ? P16_CAREFUL : P16_FORWARD;
    }
}

#if !P16_RAW
/* Where flows are clamped, the samples under the first bin or over the last one are stored as the
 * bin's (packed16_target), and taken from the counters. */
TY_FN void packed16_store_clamped(const packed16_group *g)
{
    const ty_u32 lid = g->lid;
    if (lid < 2 && (g->how & (lid ? TY_OUT_CLAMP_OVER : TY_OUT_CLAMP_UNDER))) {
        ty_u32 cell = lid ? g->bins.bins + 1 : 0;
        ty_u32 word = *packed16_counter(g, cell + P16_BIAS);
        ty_u32 n = packed16_of_odd(word, cell & ~1u);
        n = cell & 1 ? n : packed16_of_both(word) - n;
        packed16_store(g, cell, n);
        packed16_add(g, cell + P16_BIAS, 0u - n);
    }
    TY_BARRIER();
}
#endif

/* A work-group's partial: its counters as bytes, as they lie. So many times 16 bytes, a multiple of
 * 128 bytes. */
TY_FN ty_u32 packed16_partial_vectors(ty_u32 words)
{
    return (words / 8 + 7) & ~7u;
}

/* Writes the lower bytes of the counters as the work-group's partial; what is above them is added
 * to `out` at once. A work-item takes 8 words of a row at a time. */
TY_FN void packed16_write_partial(const packed16_group *g, TY_GLOBAL ty_u32 *partials)
{
    TY_GLOBAL uint4 *to = (TY_GLOBAL uint4 *)(partials + P16_HEAD_WORDS) +
                          (ty_u64)TY_GROUP * packed16_partial_vectors(g->words);
    for (ty_u32 w = g->lid; w < g->words / 8; w += TY_GROUP_SIZE) {
        ty_u32 row = w / 4 * 64, bytes[4] = {0, 0, 0, 0}, above = 0;
        ty_u32 shift = packed16_hash(row + P16_BIAS, g->key, g->more) >> 2;
        uint4 v = ((TY_LOCAL uint4 *)g->counters)[w * 2];
        uint4 u = ((TY_LOCAL uint4 *)g->counters)[w * 2 + 1];
        ty_u32 eight[8] = {v.x, v.y, v.z, v.w, u.x, u.y, u.z, u.w};
        TY_UNROLL
        for (ty_u32 i = 0; i < 8; i++) {
            ty_u32 even = row + ((w % 4 * 8 + i) ^ shift) * 2;
            ty_u32 of_odd = packed16_of_odd(eight[i], even);
            ty_u32 of_even = packed16_of_both(eight[i]) - of_odd;
            above |= of_even | of_odd;
            bytes[i / 2] |= ((of_even & 255u) | (of_odd & 255u) << 16) << i % 2 * 8;
        }
        v.x = bytes[0];
        v.y = bytes[1];
        v.z = bytes[2];
        v.w = bytes[3];
        to[w] = v;
        TY_ROLLED
        for (ty_u32 i = above > 255 ? 0 : 8; i < 8; i++) {
            ty_u32 word = g->counters[w * 8 + i], even = row + ((w % 4 * 8 + i) ^ shift) * 2;
            ty_u32 of_odd = packed16_of_odd(word, even), of_even = packed16_of_both(word) - of_odd;
            if (of_even > 255)
                packed16_store(g, even, of_even & ~255u);
            if (of_odd > 255)
                packed16_store(g, even + 1, of_odd & ~255u);
        }
    }
}

/* Counts the launch's samples: each work-group leaves a partial, and what does not fit one is added
 * to `out`. `epoch` is the length of an epoch in chunks; `hits` and `asked` are the parameters
 * `hits` and `form`. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, ty_u32 epoch, ty_u32 hits, ty_u32 asked,
      TY_GLOBAL ty_u32 *partials, ty_u32 how TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    packed16_group g;
    packed16_epoch e;
    packed16_leader leader;
    g.axis = axis;
    g.out = out;
    g.pass = pass;
    g.how = how;
    g.span = ty_span_of(data, offset, n);
#if P16_RAW
    g.cells = 65536;
#else
    g.bins = *(TY_GLOBAL const ty_bins *)axis;
    g.decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
    g.cells = g.bins.bins + TY_CELLS_EXTRA;
#if TY_BINNING == TY_BY_F32
    g.unusual = g.decider.hi == g.decider.hi ? g.decider.hi : TY_AS_FLOAT(0x7f800000u);
    g.cell_unusual = ty_biased_cell_f32(g.unusual, &g.decider);
#endif
#endif
    packed16_lay_out(&g, ty_local, key);
    leader.cell = P16_NO_CELL;
#if defined(TY_BALLOT)
    leader.random = packed16_mix(key ^ TY_GROUP * 32 ^ g.lid / 32);
#endif
    packed16_clear(&g);
    packed16_keep_in_registers(&g);
    packed16_count_rest(&g);
    e.usual = packed16_equal(g.chunks, epoch);
    e.reach = P16_LONG > 1 ? packed16_equal(g.chunks, e.usual * P16_LONG) : e.usual;
    e.at = e.end = e.careful = 0;
    e.mode = P16_FORWARD;
    e.form = P16_PLAIN;
    while (e.at < g.chunks) {
        packed16_drawn d;
        packed16_begin(&g, &e, &d, hits);
        packed16_draw(&g, &e, &d);
        packed16_list_pairs(&g, &d);
        packed16_choose(&g, &e, &d, &leader, packed16_find_heavy(&g, &d), asked);
        const ty_u32 unit = e.mode == P16_BACK ? 0u - 1u : 1u;
        ty_i32 turn = (ty_i32)((e.end - e.at + 1) * P16_TURNS - 1 - g.lid / P16_TEAM);
        turn = packed16_next_turn(&g, turn);
        ty_u32 counted = 0;
        if (e.mode != P16_FORWARD)
            counted = packed16_count_slowly(&g, &e, unit, turn);
        else if (turn >= 0)
            counted = packed16_count_turns(&g, &e, &leader, turn);
        TY_BARRIER();
        packed16_end_epoch(&g, &e, packed16_check(&g, &e, unit * counted));
    }
    TY_BARRIER();
#if !P16_RAW
    packed16_store_clamped(&g);
#endif
    packed16_write_partial(&g, partials);
    if (TY_GROUP == 0 && g.lid < g.span.head + g.span.tail)
        packed16_store(&g, packed16_cell(&g, ty_span_odd(g.span, g.lid)) - P16_BIAS, 1);
    (void)slots;
}

/* Loads of a work-item of `gather` on their way at a time: those of 132 partials at once; and words
 * of a row of its local memory. */
#define P16_TAKEN  9
#define P16_STRIDE 272

/* Adds up 16 bytes, two of each word's, of every 16th partial from `row` on: a cell of 8 bits in
 * each byte, as `count` left them. `sums` gets those of 8 even cells and, in the upper halves, of
 * the odd cells next to them. `vectors` is the length of a partial, of which `inside` says whether
 * it has these 16 bytes. */
TY_FN void packed16_add_partials(TY_GLOBAL const uint4 *from, ty_u32 count, ty_u32 vectors,
                                 ty_u32 row, int inside, ty_u32 *sums)
{
    for (ty_u32 p = row; p < count + row; p += P16_TAKEN * 16) {
        uint4 v[P16_TAKEN];
        TY_UNROLL
        for (ty_u32 k = 0; k < P16_TAKEN; k++) {
            v[k] = packed16_zeros();
            if (inside && p + k * 16 < count)
                v[k] = TY_PINNED(&from[(ty_u64)(p + k * 16) * vectors]);
        }
        TY_READ_FIRST();
        TY_UNROLL
        for (ty_u32 k = 0; k < P16_TAKEN; k++) {
            ty_u32 word[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
            TY_UNROLL
            for (ty_u32 i = 0; i < 8; i++)
                sums[i] += word[i / 2] >> i % 2 * 8 & 0xff00ffu;
        }
    }
}

/* Adds up the partials of `count` work-groups: with what `count` added to `out` of raw values, with
 * what it added to `table` of cells, which are stored (output.h) and leave the table zero.
 *
 * A work-group has 256 cells. 16 rows of 16 work-items add up every 16th partial, 16 bytes each.
 * The rows meet in local memory, where a work-item adds up one cell. Within the 32 words of a row
 * of 64 cells, words are where the hash put them in `count`.
 */
#if P16_RAW
#define P16_GATHER_ARGS TY_GLOBAL ty_u32 *out
#else
#define P16_GATHER_ARGS ty_u32 slots, TY_GLOBAL ty_u32 *table, TY_OUTPUT_ARGS
#endif
TY_KERNEL_DENSE(256, 4)
gather(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 words, ty_u32 key,
       P16_GATHER_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 column = TY_LID % 16, row = TY_LID / 16, more = key * 0x9e3779b9u;
    ty_u32 vectors = packed16_partial_vectors(words);
    ty_u32 at = TY_GROUP * 16 + column, cell = TY_GROUP * 256 + TY_LID;
    TY_GLOBAL const uint4 *from = (TY_GLOBAL const uint4 *)(partials + P16_HEAD_WORDS) + at;
    ty_u32 sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    TY_GRID_TRIGGER();
    TY_GRID_WAIT();
#if !P16_RAW
    ty_u32 target = ty_slot_of_cell(cell, slots - TY_SLOT_EXTRA);
    ty_u32 above = target < ty_targets(bins, how) ? TY_READ(table + target) : 0;
#endif
    packed16_add_partials(from, count, vectors, row, at < words / 8, sums);
    for (ty_u32 i = 0; i < 8; i++) {
        ty_local[row * P16_STRIDE + i * 34 + column] = sums[i] & 0xffffu;
        ty_local[row * P16_STRIDE + i * 34 + 17 + column] = sums[i] >> 16;
    }
    TY_BARRIER();
    ty_u32 shift = packed16_hash((cell & ~63u) + P16_BIAS, key, more) >> 2;
    ty_u32 word = (cell % 64 / 2) ^ shift, sum = 0;
    ty_u32 first_row = word % 8 * 34 + cell % 2 * 17 + TY_LID / 64 * 4 + word / 8;
    for (ty_u32 r = 0; r < 16; r++)
        sum += ty_local[r * P16_STRIDE + first_row];
#if P16_RAW
    out[cell] += sum;
#else
    if (above)
        table[target] = 0;
    if (target < ty_targets(bins, how))
        ty_store_sum(target, (ty_u64)above + sum, counts, first, flows, histogram, bins, how);
#endif
    /* Nobody reads the partials again: left alone, they would be written back to memory while the
     * next launch counts. */
    from -= column;
    for (ty_u32 i = TY_LID; i < 2 * count; i += 256) {
        if (TY_GROUP * 16 + i % 2 * 8 < vectors)
            TY_DISCARD(&from[(ty_u64)(i / 2) * vectors + i % 2 * 8]);
    }
}

#if P16_RAW
/* Adds the counts of raw values to the slots of the axis: a work-item those of 8 neighbours, which
 * mostly share a slot. */
TY_KERNEL(64)
fold(TY_GLOBAL const ty_u32 *raw, TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 value = (TY_GROUP * 64 + TY_LID) * 8, last = 0, sum = 0;
    TY_GRID_TRIGGER();
    TY_GRID_WAIT();
    for (ty_u32 i = 0; i < 8; i++) {
        ty_u32 slot = ty_slot_of((ty_sample)(value + i), axis);
        if (sum && slot != last) {
            TY_ADD_GLOBAL(&out[last], sum);
            sum = 0;
        }
        last = slot;
        sum += raw[value + i];
    }
    if (sum)
        TY_ADD_GLOBAL(&out[last], sum);
    (void)ty_local;
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
