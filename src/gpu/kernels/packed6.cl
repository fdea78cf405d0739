/*
 * packed6: what counts before `partitioned` (partitioned.cl) does, where six bits for every cell
 * fit local memory. Each work-group keeps a whole histogram of packed counters there: five of 6
 * bits in a word, or four of 8. What packed6 cannot count exactly it leaves to `partitioned`.
 *
 * Carries. Every update returns its word's old value. The update that takes a counter to a multiple
 * of PACKED6_CARRY (32, half of what 6 bits hold) carries: it subtracts PACKED6_CARRY again and
 * appends the cell to its work-item's carry list in global memory; each entry of the list is added
 * to `out` later as PACKED6_CARRY.
 *
 * Overflow. A counter overflows into its neighbour only if other work-items add 32 more before the
 * subtraction. The update that makes it overflow finds the counter full; no update before it can
 * have been misled. The group then takes back the whole stripe of tiles it was counting. That is
 * exact, since words are numbers modulo 2^32: the carries are added again and the same samples are
 * subtracted. The stripe is listed for `partitioned`. Where overflows become frequent, all groups
 * stop, and `partitioned` counts the remaining stripes.
 *
 * Skewed data. Overflows must be rare. So a stripe is one tile from each of PACKED6_REGIONS regions
 * of the samples, far apart: values that are frequent in one place only are a small part of it. And
 * each work-item first draws a few random samples, by which the group chooses how to count:
 *   PLAIN       every sample in the packed counters;
 *   HEAVY       heavy hitters, cells that many draws found, in 32-bit counters of a hash table;
 *   RUN_LENGTH  equal samples of a sub-group are added up and added to `out` at once: where most
 *               loads are all of one cell, but no cell is frequent everywhere.
 * The choice changes the time, never a count.
 *
 * Kernels, in order:
 *   packed6_count  one group a multiprocessor. Phases: begin, draw, choose; for each stripe count,
 *                  and take it back if it overflowed; then add carries and heavy hitters to `out`
 *                  and store the packed counters.
 *   packed6_merge  adds the packed counters of all groups to `out`.
 *   split, count   of `partitioned`, for what was left.
 *
 * Local memory of packed6_count, in words from the first multiple of 128 bytes on:
 *
 *        0  1024          the cells in the table of heavy hitters, PACKED6_NO_CELL where none
 *     1024  1024          their 32-bit counts
 *     2048  64            sink: updates go here that are to change nothing
 *     2112  stored        packed counters: `words`, rounded up to whole rows of 32 banks
 *      ...  PACKED6_SUMS  sums of the group
 *
 * Scratch memory in global memory (`partitioned` writes over the first two parts later):
 *
 *     byte 0       each group's packed counters, `stored` words
 *     then         each group's carry lists, PACKED6_CARRIES words: entry i of work-item w is word
 *                  i * PACKED6_SIZE + w
 *     byte states  the state: words PACKED6_TICKETS to PACKED6_LIST (partitioned_column.cl)
 */
#if defined(PACKED6_REGIONS)
#define PACKED6_FIELDS (32 / PACKED6_BITS) /* counters of a word */
#define PACKED6_FULL   ((1u << PACKED6_BITS) - 1)

#define PACKED6_SLOTS 1024u /* of the table of heavy hitters */
#define PACKED6_SINK  (2 * PACKED6_SLOTS)
#define PACKED6_BASE  (PACKED6_SINK + 64) /* the first packed counter */

#define PACKED6_EACH    ((ty_u32)(16 / sizeof(ty_sample))) /* samples of a load */
#define PACKED6_READERS (PACKED6_SIZE / PACKED6_REGIONS)   /* work-items that read a tile */
#define PACKED6_STEPS   (PARTITIONED_TILE / (PACKED6_EACH * PACKED6_READERS)) /* loads of each */
#define PACKED6_AHEAD   4 /* of them under way */
#define PACKED6_CARRIES (2 * PACKED6_STEPS * PACKED6_EACH * PACKED6_SIZE)

#define PACKED6_LOADS_DRAWN (4 / PACKED6_EACH) /* by a work-item: four samples */
#define PACKED6_DRAWS       (PACKED6_SIZE * PACKED6_LOADS_DRAWN)

/* Thresholds, all of them measured. */
#define PACKED6_HEAVY_DRAWS 6  /* draws of one cell that make heavy hitters worth counting apart */
#define PACKED6_OFTEN_DRAWS 32 /* so many: too frequent to be added to `out` by all groups */
#define PACKED6_NEAR_DRAWS  8  /* of 128 draws that lie together, in one cell: too many */
#define PACKED6_RARE        8  /* stop where one stripe of so many, or more, overflows */

#define PACKED6_NO_CELL ~0u

/* Sums of a group. */
enum {
    PACKED6_OVERFLOWED, /* the last stripe that overflowed, + 1 */
    PACKED6_GIVEN_UP,
    PACKED6_NEXT,     /* the stripe after the next */
    PACKED6_CONSTANT, /* drawn loads whose samples are all in one cell */
    PACKED6_TOP,      /* draws of the most frequent cell */
    PACKED6_GATHERED, /* draws of cells that are frequent in one place only */
    PACKED6_SUMS
};
enum { PACKED6_PLAIN, PACKED6_HEAVY, PACKED6_RUN_LENGTH };

#if TY_WARP == 32
#define PACKED6_ANY_LANE(condition) (TY_BALLOT(condition) != 0)
#else
#define PACKED6_ANY_LANE(condition) (condition)
#endif

/* What the phases share; nothing of it changes after packed6_begin. */
typedef struct packed6 {
    ty_bins bins;
    ty_decider decider;
    TY_GLOBAL const ty_u8 *axis;
    TY_GLOBAL const uint4 *loads; /* the samples of the tiles */
    TY_GLOBAL ty_u32 *out, *state, *carries;
    TY_LOCAL ty_u32 *table, *counters, *sums;
    ty_u32 tiles, stripes, region;
    ty_u32 key, more;      /* of the hash of banks */
    ty_u32 part, negative; /* 2^32 / words, rounded up, and -words */
    ty_u32 stored;         /* words of counters in whole rows */
    ty_u32 spread;         /* of the hash of heavy hitters: what a cell is multiplied by */
    ty_u32 origin;         /* local addresses: of the table, */
    ty_u32 first;          /* … of the first counter, */
    ty_u32 sink;           /* … of the work-item's word that is never read */
    ty_u32 zero;           /* 0, unknown to the compiler: TY_PIN */
} packed6;

/* A work-item in a stripe. */
typedef struct packed6_progress {
    ty_u32 carried; /* bytes of the group's carry lists where its next entry goes */
    ty_u32 full;    /* what carrying updates found, or-ed: PACKED6_FULL if one overflowed */
    ty_u32 counted; /* loads */
} packed6_progress;

/* ---- cells and their counters ---- */

/* A hash of a row of 32 words, which permutes the banks in the row (swizzled.cl). */
TY_FN ty_u32 packed6_hash(ty_u32 word, ty_u32 key, ty_u32 more)
{
    const ty_u32 row = word & ~31u;
    return row * (row * key + more) >> 25;
}

typedef struct packed6_counter {
    ty_u32 address, shift;
} packed6_counter;

/* A cell's counter: number `field` of word `word`, where the cell is field * words + word, so that
 * neighbouring cells lie in neighbouring words. The division by `words` is exact: `part` is chosen
 * so (partitioned_layout.c). */
TY_FN packed6_counter packed6_counter_of(const packed6 *p, ty_u32 cell)
{
    const ty_u32 field = TY_MUL_HI(cell, p->part), word = field * p->negative + cell;
    packed6_counter c;
    c.shift = field * PACKED6_BITS;
    c.address = ((word * 4 + p->first) ^ packed6_hash(word, p->key, p->more)) & ~3u;
    return c;
}

/* A cell's slot in the table of heavy hitters, in bytes, by multiplicative hashing. */
TY_FN ty_u32 packed6_slot(const packed6 *p, ty_u32 cell)
{
    return (cell * p->spread >> 20) & ~3u;
}

/* The cells of a load's samples. */
TY_FN void packed6_cells(const packed6 *p, uint4 load, ty_u32 *cells)
{
    ty_vector_cells(load, cells, &p->bins, &p->decider, p->axis);
    TY_UNROLL
    for (ty_u32 e = 0; e < PACKED6_EACH; e++)
        cells[e] -= TY_CELL_BIAS;
}

/* The entry at a byte of the group's carry lists. */
TY_FN TY_GLOBAL ty_u32 *packed6_carry_at(const packed6 *p, ty_u32 byte)
{
    return (TY_GLOBAL ty_u32 *)((TY_GLOBAL ty_u8 *)p->carries + byte);
}

/* ---- counting a load ---- */

/* Counts cells in the packed counters, but those that `skip` names. No update is behind a branch:
 * skipped ones add 0 to the sink. */
TY_FN void packed6_add(const packed6 *p, const ty_u32 *cells, const int *skip, packed6_progress *g)
{
    ty_u32 where[PACKED6_EACH], shift[PACKED6_EACH], unit[PACKED6_EACH], old[PACKED6_EACH];
    TY_UNROLL
    for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
        const packed6_counter c = packed6_counter_of(p, cells[e]);
        where[e] = skip[e] ? p->sink : c.address;
        shift[e] = c.shift;
        unit[e] = 1u << c.shift;
        old[e] = TY_FETCH_ADD_AT(p->table, where[e], skip[e] ? 0 : unit[e]);
    }
    TY_UNROLL
    for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
        const ty_u32 was = old[e] >> shift[e];
        if ((was & (PACKED6_CARRY - 1)) == PACKED6_CARRY - 1) {
            TY_ADD_AT(p->table, where[e], (0u - PACKED6_CARRY) * unit[e]);
            *packed6_carry_at(p, g->carried) = cells[e];
            g->carried += 4 * PACKED6_SIZE;
            g->full |= was;
        }
    }
}

/* The same where many are heavy hitters: those by adding 1, which the hardware combines among the
 * lanes of a sub-group. */
TY_FN void packed6_add_heavy(const packed6 *p, const ty_u32 *cells, packed6_progress *g)
{
    ty_u32 slot[PACKED6_EACH], other[PACKED6_EACH], any = 0;
    int skip[PACKED6_EACH];
    TY_UNROLL
    for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
        slot[e] = p->origin + packed6_slot(p, cells[e]);
        other[e] = TY_LOAD_AT(p->table, slot[e]) ^ cells[e];
        skip[e] = !other[e];
        any |= other[e];
    }
    TY_UNROLL
    for (ty_u32 e = 0; e < PACKED6_EACH; e++)
        TY_INC_AT(p->table,
                  (other[e] ? p->origin + 4 * PACKED6_SLOTS : slot[e]) + 4 * PACKED6_SLOTS);
    if (any)
        packed6_add(p, cells, skip, g);
}

/* Adds cells to `out`: equal ones of a sub-group at once, then equal ones of a work-item. */
TY_FN void packed6_add_runs(const packed6 *p, ty_u32 *cells)
{
#if TY_WARP == 32
    for (ty_u32 i = 0; i < 8; i++) {
        ty_u32 mine = PACKED6_NO_CELL, n = 0;
        TY_UNROLL
        for (ty_u32 e = 0; e < PACKED6_EACH; e++)
            mine = cells[e] != PACKED6_NO_CELL ? cells[e] : mine;
        const ty_u32 some = TY_BALLOT(mine != PACKED6_NO_CELL);
        if (!some)
            break;
        const ty_u32 one = TY_SHUFFLE(mine, TY_SET_BITS((some & (0u - some)) - 1));
        TY_UNROLL
        for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
            n += TY_SET_BITS(TY_BALLOT(cells[e] == one));
            cells[e] = cells[e] == one ? PACKED6_NO_CELL : cells[e];
        }
        if ((TY_LID & 31) == 0)
            TY_ADD_GLOBAL(&p->out[ty_slot_of_cell(one, p->bins.bins)], n);
    }
#endif
    /* The last of the equal ones adds them all. */
    for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
        ty_u32 n = 0;
        for (ty_u32 f = 0; f < PACKED6_EACH; f++)
            n = cells[f] != cells[e] ? n : f < e ? n + PACKED6_EACH : n + 1;
        if (cells[e] != PACKED6_NO_CELL && n <= PACKED6_EACH - e)
            TY_ADD_GLOBAL(&p->out[ty_slot_of_cell(cells[e], p->bins.bins)], n);
    }
}

/* ---- the phases of packed6_count ---- */

/* Clears local memory and takes the first two stripes: returned to work-item 0. */
TY_FN ty_u32 packed6_begin(const packed6 *p)
{
    ty_u32 begun = 0;
    for (ty_u32 w = TY_LID; w < PACKED6_BASE + p->stored + PACKED6_SUMS; w += PACKED6_SIZE)
        p->table[w] = 0;
    if (TY_LID == 0)
        begun = TY_ADD_GLOBAL(&p->state[PACKED6_TICKETS], 2);
    TY_BARRIER();
    return begun;
}

TY_FN ty_u32 packed6_mix(ty_u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The cells of a work-item's draws, and the words where they are counted: packed counters are not
 * in use yet. */
typedef struct packed6_draws {
    ty_u32 cell[4], word[4];
    int in_row; /* of a row of 32 loads, else from anywhere */
} packed6_draws;

/* Draws samples and counts their cells, by hash: loads from anywhere in the lower half of a word,
 * rows of 32 loads in the upper half. */
TY_FN void packed6_draw(const packed6 *p, packed6_draws *drawn)
{
    const ty_u32 lid = TY_LID, row = 32 * PACKED6_LOADS_DRAWN;
    const int in_row = (lid & 32) != 0;
    ty_u32 cells[PACKED6_EACH];
    drawn->in_row = in_row;
    TY_UNROLL
    for (ty_u32 d = 0; d < PACKED6_LOADS_DRAWN; d++) {
        const ty_u64 all = (ty_u64)p->tiles * (PARTITIONED_TILE / PACKED6_EACH);
        const ty_u32 n = (in_row ? lid & ~31u : lid) * PACKED6_LOADS_DRAWN + (in_row ? 0 : d);
        const ty_u64 at =
            (n * all + (packed6_mix(p->key ^ packed6_mix(n)) * all >> 32)) / PACKED6_DRAWS;
        const uint4 load = p->loads[in_row ? at / row * row + d * 32 + (lid & 31) : at];
        int same = 1;
        packed6_cells(p, load, cells);
        TY_UNROLL
        for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
            const ty_u32 i = d * PACKED6_EACH + e;
            same &= cells[e] == cells[0];
            drawn->cell[i] = cells[e];
            drawn->word[i] = TY_MUL_HI(packed6_mix(cells[e] ^ p->key), p->stored);
            TY_ADD_LOCAL(&p->counters[drawn->word[i]], in_row ? 0x10000 : 1);
        }
        if (same)
            TY_ADD_LOCAL(&p->sums[PACKED6_CONSTANT], 1);
    }
}

/* Puts the most frequent cells into the table of heavy hitters, clears the counters again and
 * returns how to count. *tries becomes 0 where samples lie so that counters would overflow. */
TY_FN ty_u32 packed6_choose(const packed6 *p, const packed6_draws *drawn, int *tries)
{
    TY_LOCAL ty_u32 *sums = p->sums;
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++) {
        const ty_u32 in_rows = p->counters[drawn->word[i]] >> 16;
        const ty_u32 found = p->counters[drawn->word[i]] & 0xffffu;
        /* The most frequent of the cells that share a slot gets it. */
        TY_MAX_LOCAL(&p->table[packed6_slot(p, drawn->cell[i]) / 4],
                     (found + in_rows) << 19 | drawn->cell[i]);
        TY_MAX_LOCAL(&sums[PACKED6_TOP], found);
        if (drawn->in_row && in_rows > 4 * found + PACKED6_NEAR_DRAWS)
            TY_ADD_LOCAL(&sums[PACKED6_GATHERED], 1);
    }
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++)
        TY_AND_LOCAL(&p->counters[drawn->word[i]], 0);
    for (ty_u32 i = TY_LID; i < PACKED6_SLOTS; i += PACKED6_SIZE)
        p->table[i] = p->table[i] ? p->table[i] & 0x7ffffu : PACKED6_NO_CELL;
    ty_u32 form = sums[PACKED6_TOP] >= PACKED6_HEAVY_DRAWS ? PACKED6_HEAVY : PACKED6_PLAIN;
    if (sums[PACKED6_CONSTANT] * 8 >= PACKED6_DRAWS * 7 && sums[PACKED6_TOP] < PACKED6_OFTEN_DRAWS)
        form = PACKED6_RUN_LENGTH;
    *tries = form == PACKED6_RUN_LENGTH || sums[PACKED6_GATHERED] <= PACKED6_SIZE;
    return form;
}

/* Loads the next PACKED6_AHEAD from `from` on. */
TY_FN void packed6_load(uint4 *loads, TY_GLOBAL const uint4 *from)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < PACKED6_AHEAD; k++)
        loads[k] = TY_PINNED(from + k * PACKED6_READERS);
}

/* Counts the work-item's `steps` loads from `from` on, in a form that is a constant, with as many
 * loads always under way; `loads` are the first, and then those from `behind` on. Stops where the
 * sub-group sees an overflow. */
TY_FN void packed6_count_loads(const packed6 *p, int form, TY_GLOBAL const uint4 *from,
                               ty_u32 steps, TY_GLOBAL const uint4 *behind, uint4 *loads,
                               packed6_progress *g)
{
    ty_u32 cells[PACKED6_EACH], counted = 0;
    const int none[4] = {0, 0, 0, 0};
    TY_ROLLED
    while (counted < steps) {
        TY_GLOBAL const uint4 *then = counted + PACKED6_AHEAD < PACKED6_STEPS
                                          ? from + (counted + PACKED6_AHEAD) * PACKED6_READERS
                                          : behind;
        TY_UNROLL
        for (ty_u32 k = 0; k < PACKED6_AHEAD; k++) {
            packed6_cells(p, loads[k], cells);
            loads[k] = TY_PINNED(then + k * PACKED6_READERS);
            TY_PIN(k, p->zero)
            if (form == PACKED6_PLAIN)
                packed6_add(p, cells, none, g);
            else if (form == PACKED6_HEAVY)
                packed6_add_heavy(p, cells, g);
            else
                packed6_add_runs(p, cells);
        }
        counted += PACKED6_AHEAD;
        if (PACKED6_ANY_LANE((g->full & PACKED6_FULL) == PACKED6_FULL))
            break;
    }
    g->counted = counted;
}

/* Takes back what the work-item counted of a stripe; `before` is where its carries began. */
TY_FN void packed6_take_back(const packed6 *p, ty_u32 form, TY_GLOBAL const uint4 *from,
                             ty_u32 before, packed6_progress *g)
{
    ty_u32 cells[PACKED6_EACH];
    while (g->carried > before) {
        g->carried -= 4 * PACKED6_SIZE;
        const packed6_counter c = packed6_counter_of(p, *packed6_carry_at(p, g->carried));
        TY_ADD_AT(p->table, c.address, PACKED6_CARRY << c.shift);
    }
    TY_ROLLED
    for (ty_u32 s = 0; s < g->counted; s++) {
        packed6_cells(p, from[s * PACKED6_READERS], cells);
        for (ty_u32 e = 0; e < PACKED6_EACH; e++) {
            const ty_u32 slot = p->origin + packed6_slot(p, cells[e]);
            const packed6_counter c = packed6_counter_of(p, cells[e]);
            if (form == PACKED6_HEAVY && TY_LOAD_AT(p->table, slot) == cells[e])
                TY_ADD_AT(p->table, slot + 4 * PACKED6_SLOTS, ~0u);
            else
                TY_ADD_AT(p->table, c.address, 0u - (1u << c.shift));
        }
    }
}

/* Lists a stripe, if it is one, for `partitioned`; returns how many were listed before. */
TY_FN ty_u32 packed6_list(const packed6 *p, ty_u32 stripe)
{
    const ty_u32 listed = stripe < p->stripes ? TY_ADD_GLOBAL(&p->state[PACKED6_LISTED], 1) : 0;
    if (stripe < p->stripes)
        p->state[PACKED6_LIST + listed] = stripe;
    return listed;
}

/* One work-item lists the stripe that was taken back. Where too many were, it stops all groups; a
 * group that is to stop also leaves the two stripes that it took ahead. */
TY_FN void packed6_leave(const packed6 *p, ty_u32 stripe, ty_u32 next, ty_u32 taken)
{
    const ty_u32 listed = packed6_list(p, stripe);
    const int often = (listed + 1) * PACKED6_RARE > next;
    const ty_u32 done = often ? TY_MAX_GLOBAL(&p->state[PACKED6_TICKETS], PACKED6_STOPPED)
                              : TY_ADD_GLOBAL(&p->state[PACKED6_TICKETS], 0);
    if (often && done < p->stripes)
        p->state[PACKED6_DONE] = done;
    if (often || done >= PACKED6_STOPPED) {
        packed6_list(p, next);
        packed6_list(p, taken);
        p->sums[PACKED6_GIVEN_UP] = 1;
    }
}

/* Adds the work-item's carries to `out`, eight loads at a time. */
TY_FN void packed6_add_carries(const packed6 *p, ty_u32 carried)
{
    for (ty_u32 i = TY_LID * 4; i < carried; i += 8 * 4 * PACKED6_SIZE) {
        ty_u32 cells[8];
        TY_UNROLL
        for (ty_u32 k = 0; k < 8; k++) {
            const ty_u32 byte = i + k * 4 * PACKED6_SIZE;
            cells[k] = byte < carried ? *packed6_carry_at(p, byte) : PACKED6_NO_CELL;
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < 8; k++) {
            if (cells[k] != PACKED6_NO_CELL)
                TY_ADD_GLOBAL(&p->out[ty_slot_of_cell(cells[k], p->bins.bins)], PACKED6_CARRY);
        }
    }
}

/* Adds the heavy hitters to `out` and stores the packed counters at `to`. */
TY_FN void packed6_end(const packed6 *p, ty_u32 form, int tries, TY_GLOBAL uint4 *to)
{
    for (ty_u32 i = TY_LID; i < PACKED6_SLOTS; i += PACKED6_SIZE) {
        const ty_u32 count = p->table[PACKED6_SLOTS + i];
        if (form == PACKED6_HEAVY && count)
            TY_ADD_GLOBAL(&p->out[ty_slot_of_cell(p->table[i], p->bins.bins)], count);
    }
    for (ty_u32 w = TY_LID; tries && w < p->stored / 4; w += PACKED6_SIZE)
        to[w] = ((TY_LOCAL uint4 *)p->counters)[w];
}

/* The work-item's first load of a tile. */
TY_FN TY_GLOBAL const uint4 *packed6_tile_loads(const packed6 *p, ty_u32 tile)
{
    return p->loads + (ty_u64)tile * (PARTITIONED_TILE / PACKED6_EACH) + TY_LID % PACKED6_READERS;
}

/* Counts stripes by tickets until there are no more or the group gives up; returns where the
 * work-item's carries end. `stripe` and `next` are the group's first two. */
TY_FN ty_u32 packed6_count_stripes(const packed6 *p, ty_u32 form, ty_u32 stripe, ty_u32 next)
{
    uint4 loads[PACKED6_AHEAD];
    packed6_progress g = {TY_LID * 4, 0, 0};
    ty_u32 tile = partitioned_packed6_tile(stripe, p->region, p->tiles, p->key);
    TY_GLOBAL const uint4 *from = packed6_tile_loads(p, tile);
    if (tile < p->tiles)
        packed6_load(loads, from);
    TY_ROLLED
    while (stripe < p->stripes) {
        const ty_u32 before = g.carried, steps = tile < p->tiles ? PACKED6_STEPS : 0;
        const ty_u32 after = partitioned_packed6_tile(next, p->region, p->tiles, p->key);
        TY_GLOBAL const uint4 *behind = after < p->tiles ? packed6_tile_loads(p, after) : from;
        ty_u32 taken = 0;
        g.full = 0;
        if (TY_LID == 0)
            taken = TY_ADD_GLOBAL(&p->state[PACKED6_TICKETS], 1);
        if (form == PACKED6_PLAIN)
            packed6_count_loads(p, PACKED6_PLAIN, from, steps, behind, loads, &g);
        else if (form == PACKED6_HEAVY)
            packed6_count_loads(p, PACKED6_HEAVY, from, steps, behind, loads, &g);
        else
            packed6_count_loads(p, PACKED6_RUN_LENGTH, from, steps, behind, loads, &g);
        if (g.counted < steps)
            packed6_load(loads, behind);
        if ((g.full & PACKED6_FULL) == PACKED6_FULL)
            TY_MAX_LOCAL(&p->sums[PACKED6_OVERFLOWED], stripe + 1);
        if (TY_LID == 0)
            p->sums[PACKED6_NEXT] = taken;
        TY_BARRIER();
        const int back = p->sums[PACKED6_OVERFLOWED] == stripe + 1;
        taken = p->sums[PACKED6_NEXT];
        if (back)
            packed6_take_back(p, form, from, before, &g);
        if (back && TY_LID == 0)
            packed6_leave(p, stripe, next, taken);
        if (taken >= p->stripes && taken < PACKED6_STOPPED && TY_LID == 0)
            p->state[PACKED6_DONE] = p->stripes;
        if (PACKED6_ANY_LANE(g.carried >= 2 * PACKED6_CARRIES)) { /* half of the list */
            packed6_add_carries(p, g.carried);
            g.carried = TY_LID * 4;
        }
        from = behind;
        tile = after;
        stripe = next;
        next = taken;
        TY_BARRIER();
        stripe = p->sums[PACKED6_GIVEN_UP] ? PACKED6_STOPPED : stripe;
    }
    return g.carried;
}

TY_KERNEL_DENSE(PACKED6_SIZE, 1)
packed6_count(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
              TY_GLOBAL ty_u32 *out, TY_GLOBAL ty_u8 *scratch, ty_u64 states, ty_u32 tiles,
              ty_u32 words, ty_u32 part, ty_u32 key, ty_u32 zero TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    packed6 p;
    p.bins = *(TY_GLOBAL const ty_bins *)axis;
    p.decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
    p.axis = axis;
    p.out = out;
    p.tiles = tiles;
    p.stripes = PARTITIONED_STRIPES(tiles);
    p.region = TY_LID / PACKED6_READERS;
    p.key = key;
    p.more = key * 0x9e3779b9u;
    p.part = part;
    p.negative = 0 - words;
    p.zero = zero;
    p.stored = (words + 31) & ~31u;
    /* From the first bin to the last, slots go 312.9995 times round the table; odd. */
    p.spread = (ty_u32)((((ty_u64)312 << 32) + 4292887283u) / p.bins.bins) | 1;
    p.origin = (TY_LOCAL_ADDRESS(ty_local) + 127) & ~127u;
    p.first = p.origin + PACKED6_BASE * 4;
    p.sink = p.origin + (PACKED6_SINK + 32 + TY_LID % 32) * 4;
    p.table = ty_local + (p.origin - TY_LOCAL_ADDRESS(ty_local)) / 4;
    p.counters = p.table + PACKED6_BASE;
    p.sums = p.counters + p.stored;
    p.state = (TY_GLOBAL ty_u32 *)(scratch + states);
    p.carries = (TY_GLOBAL ty_u32 *)scratch + (ty_u64)TY_GROUPS * p.stored +
                (ty_u64)TY_GROUP * PACKED6_CARRIES;
    p.loads = partitioned_loads(data, offset, 0);

    packed6_draws drawn;
    int tries;
    const ty_u32 begun = packed6_begin(&p);
    packed6_draw(&p, &drawn);
    if (TY_LID == 0)
        p.sums[PACKED6_NEXT] = begun;
    TY_BARRIER();
    const ty_u32 form = packed6_choose(&p, &drawn, &tries);
    const ty_u32 stripe = p.sums[PACKED6_NEXT];
    TY_BARRIER();
    /* All groups draw the same samples, so that all try or none does. */
    const ty_u32 carried =
        packed6_count_stripes(&p, form, tries ? stripe : PACKED6_STOPPED, stripe + 1);
    packed6_add_carries(&p, carried);
    packed6_end(&p, form, tries, (TY_GLOBAL uint4 *)scratch + (ty_u64)TY_GROUP * (p.stored / 4));
}

/* Adds the packed counters of `count` groups to `out`. A work-group takes 64 words, two rows; of
 * its 256 work-items, four share a word and take every fourth group's. Local memory: 256 words for
 * each counter of a word. */
TY_KERNEL(256)
packed6_merge(TY_GLOBAL const ty_u8 *scratch, ty_u64 states, ty_u32 count,
              TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *out, ty_u32 words,
              ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const ty_u32 lid = TY_LID, more = key * 0x9e3779b9u, word = TY_GROUP * 64 + lid % 64;
    const ty_u32 stored = (words + 31) & ~31u;
    const ty_u32 bins = ((TY_GLOBAL const ty_bins *)axis)->bins;
    const ty_u32 at = word ^ (packed6_hash(word, key, more) >> 2 & 31u);
    TY_GLOBAL const ty_u32 *partials = (TY_GLOBAL const ty_u32 *)scratch;
    TY_GLOBAL const ty_u32 *state = (TY_GLOBAL const ty_u32 *)(scratch + states);
    ty_u32 sum[PACKED6_FIELDS] = {0};
    /* Where all was taken back, or nothing was taken, there is nothing to add. */
    count = state[PACKED6_LISTED] < state[PACKED6_DONE] ? count : 0;
    for (ty_u32 p = lid / 64; word < words && p < count; p += 4) {
        const ty_u32 w = partials[(ty_u64)p * stored + at];
        TY_UNROLL
        for (ty_u32 f = 0; f < PACKED6_FIELDS; f++)
            sum[f] += w >> f * PACKED6_BITS & PACKED6_FULL;
    }
    for (ty_u32 f = 0; f < PACKED6_FIELDS; f++)
        ty_local[f * 256 + lid] = sum[f];
    TY_BARRIER();
    for (ty_u32 i = lid; i < 64 * PACKED6_FIELDS; i += 256) {
        const ty_u32 w = TY_GROUP * 64 + i % 64, cell = i / 64 * words + w;
        TY_LOCAL const ty_u32 *four = ty_local + i / 64 * 256 + i % 64;
        if (w < words && cell < bins + TY_CELLS_EXTRA)
            out[ty_slot_of_cell(cell, bins)] += four[0] + four[64] + four[128] + four[192];
    }
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
