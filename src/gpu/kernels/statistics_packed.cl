/*
 * statistics: packed float32 values of packed float32 samples, by loads of 16 bytes. The table has
 * TY_PACKED copies of every word, by cells (cell.h), which neighbouring lanes take in turn.
 */
#if !defined(TY_NO_FP64) && TY_PACKED

typedef struct statistics_packed {
    TY_GLOBAL const ty_u8 *axis;
    ty_bins bins;
    ty_cell_map map;
    ty_lookup lookup;
    statistics_how how;
    statistics_table table;
    ty_u32 run;
    statistics_term all;
} statistics_packed;

TY_FN ty_u32 statistics_packed_cell(ty_u32 x, const statistics_packed *p)
{
    return ty_axis_biased_cell(x, TY_F32, TY_BINNING_0, TY_POSITIVE_0, &p->bins, &p->map,
                               &p->lookup, p->axis) -
           TY_AXIS_BIAS(TY_BINNING_0);
}

/* Returns whether the value was rare, and is not added yet. */
TY_FN ty_u32 statistics_packed_add(ty_u32 x, ty_u32 value, statistics_packed *p)
{
    int usual;
    ty_u32 cell = statistics_packed_cell(x, p);
    statistics_term t = statistics_term_of(value, &p->how, &usual);
    statistics_add(&p->table, cell, &t, &p->run, &p->all);
    return usual ? 0 : 1;
}

TY_FN void statistics_packed_rare(ty_u32 x, ty_u32 value, const statistics_packed *p)
{
    ty_u32 cell = statistics_packed_cell(x, p);
    statistics_term t = statistics_rare(value, ty_slot_of_cell(cell, p->bins.bins), &p->how);
    statistics_put(&p->table, cell, &t);
}

/* A bit for each that was rare. */
TY_FN ty_u32 statistics_packed_vector(uint4 x, uint4 v, statistics_packed *p)
{
    ty_u32 rare = statistics_packed_add(x.x, v.x, p);
    rare |= statistics_packed_add(x.y, v.y, p) << 1;
    rare |= statistics_packed_add(x.z, v.z, p) << 2;
    return rare | statistics_packed_add(x.w, v.w, p) << 3;
}

/* Vector q of values, which are aligned as words. */
TY_FN uint4 statistics_packed_values(TY_GLOBAL const ty_u32 *heavy, ty_u32 q, int aligned)
{
    TY_GLOBAL const ty_u32 *from = heavy + 4 * (ty_u64)q;
    uint4 v;
    if (aligned)
        return *(TY_GLOBAL const uint4 *)from;
    v.x = from[0];
    v.y = from[1];
    v.z = from[2];
    v.w = from[3];
    return v;
}

/* `turn` vectors from q on, `step` apart. A value that is rare waits for the others, and is read
 * again: the code for it stands here once. */
#define STATISTICS_TURN(turn)                                                                      \
    for (; q + ((turn)-1) * step < vectors; q += (turn)*step) {                                    \
        uint4 x[turn], v[turn];                                                                    \
        ty_u32 rare = 0;                                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (turn); k++) {                                                      \
            x[k] = ((TY_GLOBAL const uint4 *)light)[q + k * step];                                 \
            v[k] = statistics_packed_values(heavy, q + k * step, aligned);                         \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (turn); k++)                                                        \
            rare |= statistics_packed_vector(x[k], v[k], &p) << 4 * k;                             \
        TY_ROLLED                                                                                  \
        for (ty_u32 k = 0; rare; k++, rare >>= 1) {                                                \
            ty_u64 at = 4 * (ty_u64)(q + k / 4 * step) + k % 4;                                    \
            if (rare & 1)                                                                          \
                statistics_packed_rare(light[at], heavy[at], &p);                                  \
        }                                                                                          \
    }

/* As statistics_count, by the same arguments: rows follow each other without a gap. */
TY_KERNEL_DENSE(TY_PACKED_GROUP, 1) statistics_count_packed(STATISTICS_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, part = TY_GROUP - here * parts;
    ty_u32 bins = slots - TY_SLOT_EXTRA, plane = (bins + TY_CELLS_EXTRA) * TY_PACKED;
    ty_u64 b = (first + here) / actives;
    ty_i64 number = ty_channel_of(axis, first + here - b * actives);
    ty_u32 n = (ty_u32)(end - begin);
    TY_GLOBAL const ty_u32 *light =
        (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(x0, b, 0, 0) + channel * number + begin * 4);
    TY_GLOBAL const ty_u32 *heavy = (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(values, b, 0, 0) +
                                                               value_channel * number + begin * 4);
    ty_u32 head = (ty_u32)((0 - (ty_u64)light) & 15) / 4;
    statistics_packed p = {0};
    p.axis = axis;
    p.bins = *(TY_GLOBAL const ty_bins *)axis;
    p.map = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);
    p.lookup = *(TY_GLOBAL const ty_lookup *)(axis + TY_AXIS_MAP);
    p.how = statistics_begin(given, flags, totals + state_at);
    p.how.slots = slots;
    p.how.cells = totals + cells_at + (ty_u64)here * slots * STATISTICS_CELL;
    p.how.rare = rare + rare_at + (ty_u64)here * slots * STATISTICS_RARE_WORDS;
    p.table.plane = plane;
    p.table.step = TY_PACKED;
    p.table.keys = (TY_LOCAL statistics_key *)ty_local + (lid & (TY_PACKED - 1));
    p.table.words = ty_local + 2 * STATISTICS_KEY_WORDS * plane + (lid & (TY_PACKED - 1));
    for (ty_u32 k = lid; k < STATISTICS_WORDS * plane; k += TY_PACKED_GROUP)
        ty_local[k] = 0;
    TY_BARRIER();
    head = head > n ? n : head;
    ty_u32 vectors = (n - head) / 4, loose = head + (n - head) % 4;
    ty_u32 step = parts * TY_PACKED_GROUP, q = part * TY_PACKED_GROUP + lid;
    for (ty_u32 j = q; j < loose; j += step) {
        ty_u32 i = j < head ? j : vectors * 4 + j;
        if (statistics_packed_add(light[i], heavy[i], &p))
            statistics_packed_rare(light[i], heavy[i], &p);
    }
    light += head;
    heavy += head;
    int aligned = ((ty_u64)heavy & 15) == 0;
    STATISTICS_TURN(TY_PACKED_AHEAD)
    STATISTICS_TURN(1)
    statistics_put(&p.table, p.run, &p.all);
    TY_BARRIER();
    for (ty_u32 s = lid; s < slots; s += TY_PACKED_GROUP) {
        ty_u32 cell = ty_cell_of_slot(s, bins), none = cell >= bins + TY_CELLS_EXTRA;
        statistics_leave(ty_local, none ? 0 : cell, s, slots, none ? 0 : TY_PACKED, plane,
                         out + (ty_u64)TY_GROUP * STATISTICS_PARTIAL(slots));
    }
    (void)mask, (void)mask_at, (void)mask_batch, (void)mask_row, (void)mask_column, (void)masked;
    (void)flows_at, (void)columns, (void)copies, (void)x0_row, (void)x0_column, (void)values_row;
    (void)values_column;
}
#endif

#if !defined(TY_NO_FP64) && TY_VALUE == TY_F32
/* The largest of four magnitudes and another, infinities and NaN aside. */
TY_FN ty_u32 statistics_largest(uint4 v, ty_u32 largest)
{
    ty_u32 words[4] = {v.x, v.y, v.z, v.w};
    TY_UNROLL
    for (int k = 0; k < 4; k++) {
        ty_u32 own = words[k] & 0x7fffffffu;
        largest = own < 0x7f800000u && own > largest ? own : largest;
    }
    return largest;
}

/* As statistics_probe, by the same arguments, of values that follow each other. */
TY_KERNEL(TY_ANY_GROUP)
statistics_probe_packed(TY_GRID_ARGS(values), ty_i64 channel, TY_GLOBAL const ty_u8 *axis,
                        ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives,
                        ty_u32 parts, TY_GLOBAL ty_u64 *totals, ty_u64 state_at TY_LOCAL_ARG)
{
    enum { ahead = 4 };
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, largest = 0, n = (ty_u32)(end - begin);
    ty_u64 b = (first + here) / actives;
    TY_GLOBAL const ty_u32 *from =
        (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(values, b, 0, 0) + begin * 4 +
                                   channel * ty_channel_of(axis, first + here - b * actives));
    ty_u32 head = (ty_u32)((0 - (ty_u64)from) & 15) / 4;
    ty_u32 step = parts * TY_ANY_GROUP, q = (TY_GROUP - here * parts) * TY_ANY_GROUP + lid;
    if (lid == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    head = head > n ? n : head;
    ty_u32 vectors = (n - head) / 4, loose = head + (n - head) % 4;
    TY_GLOBAL const uint4 *wide = (TY_GLOBAL const uint4 *)(from + head);
    for (ty_u32 j = q; j < loose; j += step) {
        uint4 one = {from[j < head ? j : vectors * 4 + j], 0, 0, 0};
        largest = statistics_largest(one, largest);
    }
    for (; q + (ahead - 1) * step < vectors; q += ahead * step) {
        uint4 v[ahead];
        TY_UNROLL
        for (ty_u32 k = 0; k < ahead; k++)
            v[k] = wide[q + k * step];
        TY_UNROLL
        for (ty_u32 k = 0; k < ahead; k++)
            largest = statistics_largest(v[k], largest);
    }
    for (; q < vectors; q += step)
        largest = statistics_largest(wide[q], largest);
    if (largest)
        TY_MAX_LOCAL(&ty_local[0], (ty_u32)(TY_BITS_OF((double)TY_AS_FLOAT(largest)) >> 52));
    TY_BARRIER();
    if (lid == 0 && ty_local[0])
        TY_MAX_GLOBAL((TY_GLOBAL ty_u32 *)(totals + state_at + STATISTICS_EXPONENT), ty_local[0]);
    (void)columns, (void)values_row, (void)values_column;
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
