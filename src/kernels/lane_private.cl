/*
 * lane-private: 32 interleaved copies of the histogram in local memory,
 *
 *      word cell*32 + lane:   copy `lane` of the cell's counter
 *
 * so that the 32 work-items that run together always meet 32 different banks, whatever the data. An
 * update needs no return value and never collides inside a warp, so its cost is one local-memory
 * operation. Bytes are counted as raw values (256 cells; the axis is applied to the totals) and read 16
 * at a time; other samples become slots first. The group adds up its copies and leaves a partial.
 */
#if TY_DTYPE == 1 || TY_DTYPE == 2
#define TY_CELLS 256

/* Counts the four bytes of a word. The address is put together in bytes, the lane's part by an OR, so
 * that a byte costs a shift, one logical operation and the update. */
#define TY_COUNT_BYTE(shifted)                                                                     \
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local + (((shifted) & 0x7f80u) | lane_bytes), 1)
#define TY_COUNT_WORD(v)                                                                           \
    do {                                                                                           \
        TY_COUNT_BYTE((v) << 7);                                                                   \
        TY_COUNT_BYTE((v) >> 1);                                                                   \
        TY_COUNT_BYTE((v) >> 9);                                                                   \
        TY_COUNT_BYTE((v) >> 17);                                                                  \
    } while (0)
#else
#define TY_CELLS slots
#endif

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, lane = lid & 31;
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_MAX, i = (ty_u64)TY_GROUP * TY_GROUP_MAX + lid;
    for (ty_u32 c = lid; c < TY_CELLS * 32; c += TY_GROUP_MAX)
        ty_local[c] = 0;
    TY_BARRIER();
#if TY_DTYPE == 1 || TY_DTYPE == 2
    TY_GLOBAL const ty_u8 *start = data + offset;
    ty_u32 lane_bytes = lane * 4;
    ty_u32 head = (ty_u32)((0 - (ty_u64)start) & 15);
    if (head > n)
        head = (ty_u32)n;
    TY_GLOBAL const uint4 *quads = (TY_GLOBAL const uint4 *)(start + head);
    ty_u64 count = (n - head) / 16;
    ty_u32 tail = (ty_u32)(n - head - count * 16);
    for (; i + (TY_AHEAD - 1) * step < count; i += TY_AHEAD * step) {
        uint4 v[TY_AHEAD];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++)
            v[k] = quads[i + k * step];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {
            TY_COUNT_WORD(v[k].x);
            TY_COUNT_WORD(v[k].y);
            TY_COUNT_WORD(v[k].z);
            TY_COUNT_WORD(v[k].w);
        }
    }
    for (; i < count; i += step) {
        uint4 v = quads[i];
        TY_COUNT_WORD(v.x);
        TY_COUNT_WORD(v.y);
        TY_COUNT_WORD(v.z);
        TY_COUNT_WORD(v.w);
    }
    if (TY_GROUP == 0 && lid < head + tail) {
        ty_u32 b = lid < head ? start[lid] : start[head + count * 16 + (lid - head)];
        TY_COUNT_BYTE(b << 7);
    }
#else
    TY_LOCAL ty_u32 *base = ty_local + lane;
    TY_GLOBAL const ty_sample *x = TY_SAMPLES(data, offset);
    for (; i + (TY_AHEAD - 1) * step < n; i += TY_AHEAD * step) {
        ty_sample v[TY_AHEAD];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++)
            v[k] = x[i + k * step];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++)
            TY_ADD_LOCAL(base + ty_slot_of(v[k], axis) * 32, 1);
    }
    for (; i < n; i += step)
        TY_ADD_LOCAL(base + ty_slot_of(x[i], axis) * 32, 1);
#endif
    TY_BARRIER();
    /* A work-item a cell, starting at its own copy so that neighbours meet different banks. */
    for (ty_u32 c = lid; c < TY_CELLS; c += TY_GROUP_MAX) {
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < 32; k++)
            sum += ty_local[c * 32 + ((lane + k) & 31)];
        out[(ty_u64)TY_GROUP * TY_CELLS + c] = sum;
    }
    (void)axis;
    (void)slots;
    (void)pass;
}
