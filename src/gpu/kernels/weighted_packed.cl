/*
 * weighted-packed: the sums of weighted.cl, the same bits, for float32 samples and weights that lie
 * packed: loads of 16 bytes, cells without a branch (cell.h), and every counter in TY_PACKED
 * copies, which a warp's lanes take in turn.
 *
 * Lanes that add to one word follow one another, a clock each. Copy c of a cell is in a bank that
 * is c modulo TY_PACKED, so neighbouring lanes do not meet, and no data make it less than TY_PACKED
 * lanes a clock: equal samples are the worst there are.
 *
 * A term of more than 1024 is at most 2^51, so adding 1.5 * 2^52 rounds it to a whole number, ties
 * to even, and leaves it in the sum's bits. What is rare (a weight that cannot be added or is
 * larger than the probe said, a sample outside the axis) is looked for once in four pairs.
 *
 * Local memory, in words; a plane is (bins + TY_CELLS_EXTRA) * TY_PACKED:
 *
 *     0          plane          lower words of the sums: copy c of cell k is at k*TY_PACKED + c
 *     plane      plane          upper words
 *     2 * plane  TY_FLOW_WORDS  samples of each flow; the last is the largest exponent met
 */
#if !defined(TY_NO_FP64)

#define TY_TERM_ROUNDER 6755399441055744.0 /* 1.5 * 2^52 */
#define TY_TERM_HIGH    0x43380000u        /* the upper word of its bits */
#define TY_TERM_ROOM    11 /* for 2^11 terms and more each is small enough for the rounder */

/* Cells by float64 take registers that the loads would need. */
#if TY_BINNING_0 == TY_BY_F32
#define TY_PACKED_BIAS TY_ROUNDER_BITS
#define TY_PACKED_TURN TY_PACKED_AHEAD
#else
#define TY_PACKED_BIAS 0u
#define TY_PACKED_TURN (TY_PACKED_AHEAD - TY_PACKED_AHEAD / 4)
#endif

/* What a work-item adds to and by. */
typedef struct weighted_packed {
    TY_GLOBAL const ty_u8 *axis;
    ty_bins bins;
    ty_cell_map map;
    ty_lookup lookup;
    TY_LOCAL ty_u8 *table;
    TY_LOCAL ty_u32 *flows;
    TY_GLOBAL ty_u32 *state;
    ty_u32 odds;  /* the word of it that is the histogram's first slot's */
    ty_u32 from;  /* the byte of the work-item's copy of cell -TY_PACKED_BIAS, modulo 2^32 */
    ty_u32 plane; /* bytes from a sum's lower word to its upper */
    double scale; /* 2^-base */
    float limit;  /* weights below it are added */
} weighted_packed;

/* The cell of a sample + TY_PACKED_BIAS. */
TY_FN ty_u32 weighted_packed_cell(float x, const weighted_packed *p)
{
#if TY_BINNING_0 == TY_BY_F32
    return ty_biased_cell_f32(x, &p->map);
#elif TY_BINNING_0 == TY_BY_F64
    return ty_cell_f32_wide(x, &p->bins, &p->map);
#elif TY_IS_GLOBAL_LOOKUP(TY_BINNING_0)
    return ty_global_cell_f32(x, &p->lookup, p->axis, TY_BINNING_0, TY_POSITIVE_0);
#else
    TY_GLOBAL const double *edges = (TY_GLOBAL const double *)(p->axis + TY_AXIS_TABLE);
    return ty_cell_of_slot(ty_slot_edges((double)x, &p->bins, edges), p->bins.bins);
#endif
}

TY_FN int weighted_packed_fine(float w, const weighted_packed *p)
{
    return TY_FABS(w) < p->limit;
}

TY_FN int weighted_packed_inside(ty_u32 biased, const weighted_packed *p)
{
    return biased - (TY_PACKED_BIAS + 1) < p->bins.bins;
}

/* Notes what is rare about a pair; returns the weight to be added. */
TY_FN float weighted_packed_rare(float w, ty_u32 biased, const weighted_packed *p, ty_u32 *largest)
{
    ty_u32 own = TY_FLOAT_BITS(w) >> 23 & 255;
    ty_u32 slot = ty_slot_of_cell(biased - TY_PACKED_BIAS, p->bins.bins);
    if (!weighted_packed_inside(biased, p))
        TY_ADD_LOCAL(&p->flows[slot - p->bins.bins], 1);
    if (weighted_packed_fine(w, p))
        return w;
    if (own <= TY_LARGEST)
        *largest = own > *largest ? own : *largest;
    else
        TY_OR_GLOBAL(&p->state[p->odds + slot], w < 0 ? 2 : w > 0 ? 1 : 4);
    return 0.0f;
}

/* Adds n pairs: one with a term of any size, or four with small ones, whose lower words are all
 * under way before the first is looked at. */
TY_FN void weighted_packed_add(const float *x, float *w, int n, const weighted_packed *p,
                               ty_u32 *largest)
{
    ty_u32 biased[4], old[4];
    ty_u64 term[4];
    int usual = 1;
    TY_UNROLL
    for (int k = 0; k < n; k++) {
        biased[k] = weighted_packed_cell(x[k], p);
        usual &= weighted_packed_fine(w[k], p) & weighted_packed_inside(biased[k], p);
    }
    if (!usual) {
        TY_UNROLL
        for (int k = 0; k < n; k++)
            w[k] = weighted_packed_rare(w[k], biased[k], p, largest);
    }
    TY_UNROLL
    for (int k = 0; k < n; k++) {
        biased[k] = biased[k] * (TY_PACKED * 4) + p->from;
        term[k] = n == 1 ? (ty_u64)(ty_i64)TY_RINT((double)w[k] * p->scale)
                         : TY_BITS_OF(TY_FMA((double)w[k], p->scale, TY_TERM_ROUNDER));
        old[k] = TY_ADD_LOCAL(p->table + biased[k], (ty_u32)term[k]);
    }
    TY_UNROLL
    for (int k = 0; k < n; k++) {
        ty_u32 carry = (ty_u32)(((ty_u64)old[k] + (ty_u32)term[k]) >> 32);
        ty_u32 high = (ty_u32)(term[k] >> 32) - (n == 1 ? 0 : TY_TERM_HIGH) + carry;
        if (high)
            TY_ADD_LOCAL(p->table + (biased[k] + p->plane), high);
    }
}

TY_FN void weighted_packed_vector(uint4 x, uint4 w, const weighted_packed *p, ty_u32 *largest)
{
    float samples[4] = {TY_AS_FLOAT(x.x), TY_AS_FLOAT(x.y), TY_AS_FLOAT(x.z), TY_AS_FLOAT(x.w)};
    float weights[4] = {TY_AS_FLOAT(w.x), TY_AS_FLOAT(w.y), TY_AS_FLOAT(w.z), TY_AS_FLOAT(w.w)};
    weighted_packed_add(samples, weights, 4, p, largest);
}

/* Four words that are aligned as words. */
TY_FN uint4 weighted_packed_words(TY_GLOBAL const ty_u32 *from)
{
    uint4 v;
    v.x = from[0];
    v.y = from[1];
    v.z = from[2];
    v.w = from[3];
    return v;
}

#define WEIGHTED_ALIGNED(q)   (((TY_GLOBAL const uint4 *)heavy)[q])
#define WEIGHTED_UNALIGNED(q) weighted_packed_words(heavy + 4 * (ty_u64)(q))

#define WEIGHTED_PACKED_WALK(WEIGHTS)                                                              \
    do {                                                                                           \
        for (; q + (TY_PACKED_TURN - 1) * step < vectors; q += TY_PACKED_TURN * step) {            \
            uint4 x[TY_PACKED_TURN], w[TY_PACKED_TURN];                                            \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_PACKED_TURN; k++) {                                          \
                x[k] = wide[q + k * step];                                                         \
                w[k] = WEIGHTS(q + k * step);                                                      \
            }                                                                                      \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_PACKED_TURN; k++)                                            \
                weighted_packed_vector(x[k], w[k], &p, &largest);                                  \
        }                                                                                          \
        for (; q < vectors; q += step)                                                             \
            weighted_packed_vector(wide[q], WEIGHTS(q), &p, &largest);                             \
    } while (0)

/* The group's table, each sum's copies added up, into its partial at `to`. */
TY_FN void weighted_packed_leave(TY_LOCAL const ty_u32 *table, ty_u32 slots, TY_GLOBAL ty_u32 *to)
{
    const ty_u32 bins = slots - TY_SLOT_EXTRA, words = (bins + TY_CELLS_EXTRA) * TY_PACKED;
    for (ty_u32 s = TY_LID; s < slots; s += TY_PACKED_GROUP) {
        ty_u32 cell = ty_cell_of_slot(s, bins);
        ty_u64 sum = 0;
        for (ty_u32 j = 0; j < TY_PACKED && cell < bins + TY_CELLS_EXTRA; j++) {
            ty_u32 at = cell * TY_PACKED + j;
            sum += table[at] | (ty_u64)table[words + at] << 32;
        }
        to[s] = (ty_u32)sum;
        to[slots + s] = (ty_u32)(sum >> 32);
    }
    if (TY_LID < TY_FLOW_WORDS)
        to[2 * slots + TY_LID] = table[2 * words + TY_LID];
}

/* As `count`, by the same arguments: rows follow each other without a gap. */
TY_KERNEL_DENSE(TY_PACKED_GROUP, 1)
count_packed(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
             TY_GRID_ARGS(weights), ty_i64 weight_channel, TY_GLOBAL const ty_u8 *axis,
             ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives, ty_u32 parts,
             ty_u32 slots, ty_u32 copies, ty_u32 room, ty_u32 round, ty_u32 histograms,
             TY_GLOBAL ty_u32 *state, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, part = TY_GROUP - here * parts;
    ty_u32 bins = slots - TY_SLOT_EXTRA, words = (bins + TY_CELLS_EXTRA) * TY_PACKED;
    ty_u64 b = (first + here) / actives;
    ty_i64 number = ty_channel_of(axis, first + here - b * actives);
    TY_GLOBAL ty_u32 *own_state = state + here * 4;
    int exponent = weighted_exponent(own_state, round),
        idle = round && !weighted_round_of(own_state);
    ty_u32 n = idle ? 0 : (ty_u32)(end - begin), largest = 0;
    TY_GLOBAL const float *light =
        (TY_GLOBAL const float *)(TY_GRID_AT(x0, b, 0, 0) + channel * number + begin * 4);
    TY_GLOBAL const ty_u32 *heavy = (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(weights, b, 0, 0) +
                                                               weight_channel * number + begin * 4);
    ty_u32 head = (ty_u32)((0 - (ty_u64)light) & 15) / 4;
    TY_LOCAL ty_u32 *top = ty_local + 2 * words + TY_FLOW_WORDS - 1;
    weighted_packed p;
    p.axis = axis;
    p.bins = *(TY_GLOBAL const ty_bins *)axis;
    p.map = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);
    p.lookup = *(TY_GLOBAL const ty_lookup *)(axis + TY_AXIS_MAP);
    p.table = (TY_LOCAL ty_u8 *)ty_local;
    p.flows = ty_local + 2 * words;
    p.state = state;
    p.odds = histograms * 4 + here * slots;
    p.from = ((lid & (TY_PACKED - 1)) - TY_PACKED_BIAS * TY_PACKED) * 4;
    p.plane = words * 4;
    p.scale = ty_power(-weighted_base(exponent, (int)room));
    p.limit = TY_AS_FLOAT((ty_u32)(exponent + 1) << 23);
    for (ty_u32 k = lid; k < (idle ? 0 : 2 * words + TY_FLOW_WORDS); k += TY_PACKED_GROUP)
        ty_local[k] = 0;
    TY_BARRIER();
    head = (int)room < TY_TERM_ROOM || head > n ? n : head;
    ty_u32 vectors = (n - head) / 4, loose = head + (n - head) % 4;
    ty_u32 step = parts * TY_PACKED_GROUP, q = part * TY_PACKED_GROUP + lid;
    for (ty_u32 j = q; j < loose; j += step) {
        ty_u32 i = j < head ? j : vectors * 4 + j;
        float x = light[i], w = TY_AS_FLOAT(heavy[i]);
        weighted_packed_add(&x, &w, 1, &p, &largest);
    }
    light += head;
    heavy += head;
    TY_GLOBAL const uint4 *wide = (TY_GLOBAL const uint4 *)light;
    if (((ty_u64)heavy & 15) == 0)
        WEIGHTED_PACKED_WALK(WEIGHTED_ALIGNED);
    else
        WEIGHTED_PACKED_WALK(WEIGHTED_UNALIGNED);
    if (largest && !round)
        TY_MAX_LOCAL(top, largest);
    TY_BARRIER();
    if (lid == 0 && !idle && !round && *top)
        TY_MAX_GLOBAL(&own_state[1], *top);
    out += (ty_u64)TY_GROUP * (2 * slots + TY_FLOW_WORDS);
    if (!idle)
        weighted_packed_leave(ty_local, slots, out);
    (void)mask, (void)mask_at, (void)mask_batch, (void)mask_row, (void)mask_column, (void)masked;
    (void)columns, (void)copies, (void)x0_row, (void)x0_column;
    (void)weights_row, (void)weights_column;
}

/* As `probe`, by the same arguments, eight loads at a time. */
TY_KERNEL(TY_ANY_GROUP)
probe_packed(TY_GRID_ARGS(weights), ty_i64 channel, TY_GLOBAL const ty_u8 *axis, ty_u64 columns,
             ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives, ty_u32 parts, ty_u32 stride,
             TY_GLOBAL ty_u32 *state TY_LOCAL_ARG)
{
    enum { ahead = 8 };
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, largest = 0;
    ty_u64 b = (first + here) / actives, line = TY_GROUP - here * parts;
    ty_u64 step = (ty_u64)parts * stride * TY_ANY_GROUP;
    ty_u64 i = begin + line * stride * TY_ANY_GROUP + lid;
    TY_GLOBAL const ty_u32 *from =
        (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(weights, b, 0, 0) +
                                   channel * ty_channel_of(axis, first + here - b * actives));
    if (lid == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    for (; i < end; i += ahead * step) {
        ty_u32 bits[ahead];
        TY_UNROLL
        for (int k = 0; k < ahead; k++)
            bits[k] = i + k * step < end ? from[i + k * step] : 0;
        TY_UNROLL
        for (int k = 0; k < ahead; k++) {
            ty_u32 own = bits[k] >> 23 & 255;
            largest = own <= TY_LARGEST && own > largest ? own : largest;
        }
    }
    if (largest)
        TY_MAX_LOCAL(&ty_local[0], largest);
    TY_BARRIER();
    if (lid == 0 && ty_local[0])
        TY_MAX_GLOBAL(&state[here * 4], ty_local[0]);
    (void)columns, (void)weights_row, (void)weights_column;
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
