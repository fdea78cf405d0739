/* statistics: the largest exponent of packed float32 values, and those values that a guess of it
 * had put off (statistics_packed.cl). */
#if !defined(TY_NO_FP64) && TY_PACKED
/* Adds the values that were put off to the rare ones, whose units are the guess's. */
TY_KERNEL(256)
statistics_late(TY_GLOBAL const ty_u64 *totals, ty_u64 state_at, ty_u32 slots,
                TY_GLOBAL ty_u64 *rare, ty_u64 rare_at, ty_u32 rare_copies TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL const ty_u64 *state = totals + state_at,
                           *late = rare + rare_at - STATISTICS_LATE_MOST;
    int e = statistics_exponent(0, 0, state);
    ty_u32 finer = (ty_u32)(e - statistics_exponent(0, STATISTICS_GUESSED, state));
    ty_u32 count = statistics_guess_holds(state) ? (ty_u32)state[STATISTICS_LATE] : 0;
    double power = ty_power(50 - e);
    for (ty_u32 i = TY_GROUP * 256 + TY_LID; i < count; i += 256 * STATISTICS_LATE_GROUPS) {
        ty_u64 one = late[i];
        ty_u32 entry = (ty_u32)(one >> 32), here = entry / slots;
        ty_i64 p = (ty_i64)TY_RINT((double)TY_AS_FLOAT((ty_u32)one) * power);
        TY_GLOBAL ty_u64 *to = statistics_rare_of(rare + rare_at, here, 0, rare_copies, slots);
        statistics_put_rare((ty_i64)((ty_u64)p << finer), to + (entry - here * slots), slots);
    }
    (void)ty_local;
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

/* As statistics_probe of values that follow each other: of all, or for a guess of a few. */
TY_KERNEL(TY_ANY_GROUP)
statistics_probe_packed(TY_GRID_ARGS(values), ty_i64 channel, TY_GLOBAL const ty_u8 *axis,
                        ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first, ty_u32 actives,
                        ty_u32 parts, TY_GLOBAL ty_u64 *totals, ty_u64 state_at, ty_u32 stride,
                        ty_u32 found TY_LOCAL_ARG)
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
    q *= stride;
    step *= stride;
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
        TY_MAX_GLOBAL((TY_GLOBAL ty_u32 *)(totals + state_at + found), ty_local[0]);
    (void)columns, (void)values_row, (void)values_column;
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
