/*
 * lane-private-pixels: packed bytes of up to four interleaved channels, or of one channel with a
 * mask beside it, read 16 at a time and counted as raw values as lane-private does it: for each
 * channel a table of 256 values, TY_LANES copies of each counter,
 *
 *      word (channel*256 + value)*TY_LANES + lane,    lane = lid & (TY_LANES - 1)
 *
 * and behind the tables a row for what is masked out. What a work-item reads are vectors a whole
 * number of pixels apart: byte j is of the same channel in all of them, and the channel's part of
 * the address is put together once.
 *
 * All active channels of a batch are counted by `parts` groups. A column of one channel (host data)
 * is counted likewise, whatever the plan's channels, into one histogram.
 *
 * Phases: tables are cleared; vectors are counted, then the bytes in none; each value's copies are
 * added up, and values become the slots of a partial.
 */
#define TY_ROW   (TY_LANES * 4u) /* bytes of a value's counters: 1 << TY_SHIFT */
#define TY_TABLE (TY_ROW * 256)  /* … of a channel's table */
#define TY_WORDS ((TY_PIXEL * 256 + 1) * TY_LANES)

/* Byte k of a word, shifted to where its row begins. */
#define LANE_PRIVATE_ROW_OF(w, k)                                                                  \
    (((k)*8 > TY_SHIFT ? (w) >> (((k)*8 - TY_SHIFT) & 31) : (w) << ((TY_SHIFT - (k)*8) & 31)) &    \
     (0xffu << TY_SHIFT))
#define LANE_PRIVATE_ADD(counters, address)                                                        \
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)(counters) + (address), 1)
#define LANE_PRIVATE_BYTE(counters, own, dustbin, w, m, k, j)                                      \
    do {                                                                                           \
        ty_u32 to = LANE_PRIVATE_ROW_OF(w, k) | (own)[((j) + (k)) % TY_PIXEL];                     \
        LANE_PRIVATE_ADD(counters, ((m) & (0xffu << ((k)*8))) ? to : (dustbin));                   \
    } while (0)
#define LANE_PRIVATE_WORD(counters, own, dustbin, w, m, j)                                         \
    do {                                                                                           \
        LANE_PRIVATE_BYTE(counters, own, dustbin, w, m, 0, j);                                     \
        LANE_PRIVATE_BYTE(counters, own, dustbin, w, m, 1, j);                                     \
        LANE_PRIVATE_BYTE(counters, own, dustbin, w, m, 2, j);                                     \
        LANE_PRIVATE_BYTE(counters, own, dustbin, w, m, 3, j);                                     \
    } while (0)
/* `ahead` vectors, `step` apart, from number q on; those of the mask too where `masked`. */
#define LANE_PRIVATE_VECTORS(counters, own, dustbin, vectors, kept, q, step, ahead, masked)        \
    do {                                                                                           \
        uint4 v[ahead], m[ahead];                                                                  \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            v[k] = (vectors)[(q) + k * (step)];                                                    \
            if (masked)                                                                            \
                m[k] = (kept)[(q) + k * (step)];                                                   \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            LANE_PRIVATE_WORD(counters, own, dustbin, v[k].x, (masked) ? m[k].x : ~0u, 0);         \
            LANE_PRIVATE_WORD(counters, own, dustbin, v[k].y, (masked) ? m[k].y : ~0u, 4);         \
            LANE_PRIVATE_WORD(counters, own, dustbin, v[k].z, (masked) ? m[k].z : ~0u, 8);         \
            LANE_PRIVATE_WORD(counters, own, dustbin, v[k].w, (masked) ? m[k].w : ~0u, 12);        \
        }                                                                                          \
    } while (0)
/* All vectors from number q on, `count` of them. */
#define LANE_PRIVATE_WALK(counters, own, dustbin, vectors, kept, q, step, count, ahead, masked)    \
    do {                                                                                           \
        for (; (q) + ((ahead)-1) * (step) < (count); (q) += (ahead) * (step))                      \
            LANE_PRIVATE_VECTORS(counters, own, dustbin, vectors, kept, q, step, ahead, masked);   \
        for (; (q) < (count); (q) += (step))                                                       \
            LANE_PRIVATE_VECTORS(counters, own, dustbin, vectors, kept, q, step, 1, masked);       \
    } while (0)

/* The group's counts into its partials at `out`, of which a channel's are `parts` * `slots` apart:
 * each value's copies are added up into the first, then values into slots. */
TY_FN void lane_private_pixels_store(TY_LOCAL ty_u32 *counters, TY_GLOBAL const ty_u8 *axis,
                                     ty_u32 channels, ty_u32 results, ty_u32 parts, ty_u32 slots,
                                     TY_GLOBAL ty_u32 *out)
{
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    TY_GLOBAL const ty_u32 *slot_of = (TY_GLOBAL const ty_u32 *)(axis + TY_AXIS_TABLE);
    for (ty_u32 v = TY_LID; v < channels * 256; v += TY_GROUP_SIZE) {
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < TY_LANES; k++)
            sum += counters[v * TY_LANES + ((TY_LID + k) & (TY_LANES - 1))];
        counters[v * TY_LANES] = sum;
    }
    for (ty_u32 a = 0; a < results; a++) {
        for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE) {
            ty_u32 sum = 0;
            for (ty_u32 k = 0; s == slots - TY_SLOT_EXTRA + TY_SLOT_MASKED && k < TY_LANES; k++)
                sum += counters[TY_TABLE / 4 * TY_PIXEL + k];
            out[(ty_u64)a * parts * slots + s] = sum;
        }
    }
    TY_GLOBAL_BARRIER();
    TY_BARRIER();
    for (ty_u32 k = TY_LID; k < results * 256; k += TY_GROUP_SIZE) {
        ty_u32 a = k / 256, v = k - a * 256, from = channels > 1 ? list[a] : 0;
        ty_u32 sum = counters[(from * 256 + v) * TY_LANES];
        if (sum)
            TY_ADD_GLOBAL(&out[(ty_u64)a * parts * slots + slot_of[v]], sum);
    }
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
      TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first,
      ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, part = TY_GROUP - here * parts;
    ty_u32 lane = lid & (TY_LANES - 1), dustbin = TY_TABLE * TY_PIXEL + lane * 4;
    ty_u64 b = first / actives + here;
    TY_GLOBAL const ty_u8 *start = TY_GRID_AT(x0, b, 0, begin);
    TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, 0, begin);
    ty_u32 channels = (ty_u32)x0_column, step = parts * TY_GROUP_SIZE / TY_PIXEL * TY_PIXEL;
    ty_u32 q = part * TY_GROUP_SIZE + lid, own[TY_PIXEL];
    ty_u64 n = (end - begin) * channels, head = (0 - (ty_u64)start) & 15;
    int whole = head < n && (!masked || (((ty_u64)start ^ (ty_u64)keep) & 15) == 0);
    ty_u32 count = whole ? (ty_u32)((n - head) / 16) : 0;
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)(start + head);
    TY_GLOBAL const uint4 *kept = (TY_GLOBAL const uint4 *)(keep + head);
    for (ty_u32 k = lid; k < TY_WORDS; k += TY_GROUP_SIZE)
        ty_local[k] = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < TY_PIXEL; j++)
        own[j] = ((ty_u32)head + q * 16 + j) % channels * TY_TABLE + lane * 4;
    TY_BARRIER();
    /* The work-items that are too many for whole pixels have nothing to do here. */
    q = q < step ? q : count;
    if (masked)
        LANE_PRIVATE_WALK(ty_local, own, dustbin, vectors, kept, q, step, count, TY_AHEAD / 2, 1);
    else
        LANE_PRIVATE_WALK(ty_local, own, dustbin, vectors, kept, q, step, count, TY_AHEAD, 0);
    /* Bytes that are in no vector. */
    head = count ? head : 0;
    for (ty_u64 i = part * TY_GROUP_SIZE + lid; i < n - (ty_u64)count * 16;
         i += (ty_u64)parts * TY_GROUP_SIZE) {
        ty_u64 at = i < head ? i : i + (ty_u64)count * 16;
        ty_u32 to = (ty_u32)(at % channels) * TY_TABLE + start[at] * TY_ROW + lane * 4;
        LANE_PRIVATE_ADD(ty_local, !masked || keep[at] ? to : dustbin);
    }
    TY_BARRIER();
    const ty_u32 results = channels == TY_PIXEL ? actives : 1;
    lane_private_pixels_store(ty_local, axis, channels, results, parts, slots,
                              out + ((ty_u64)here * results * parts + part) * slots);
    (void)channel;
    (void)columns;
    (void)copies;
}
/* SPDX-License-Identifier: Apache-2.0 */
