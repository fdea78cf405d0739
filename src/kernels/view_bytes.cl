/*
 * Bytes of all channels in one read (views.cl): rows of interleaved bytes without gaps, TY_CHANNELS a
 * sample, counted as raw values with TY_COPIES copies of each counter. A line of `parts` groups counts
 * all histograms of a batch. The windows of 16 aligned bytes that a row touches are dealt out to the
 * work-items; those at its ends, of which the row has a part, go byte by byte.
 */
#if TY_CHANNELS && TY_COPIES

/* Counters of the channel of byte 0, 1, … of a window whose first byte is `at` bytes into its row. */
#define TY_CHANNEL_BASE(j)  (((ty_u32)(phase + (j)) % TY_CHANNELS) * 256u * TY_COPIES + lane)
#define TY_COUNT_RAW(v, b)  TY_ADD_LOCAL(&ty_local[(b) + ((v)&0xffu) * TY_COPIES], 1)
#define TY_COUNT_FOUR(w, j)                                                                        \
    do {                                                                                           \
        TY_COUNT_RAW((w), base[(j) % TY_CHANNELS]);                                                \
        TY_COUNT_RAW((w) >> 8, base[((j) + 1) % TY_CHANNELS]);                                     \
        TY_COUNT_RAW((w) >> 16, base[((j) + 2) % TY_CHANNELS]);                                    \
        TY_COUNT_RAW((w) >> 24, base[((j) + 3) % TY_CHANNELS]);                                    \
    } while (0)

/* A window, before it is counted. */
typedef struct ty_window {
    TY_GLOBAL const ty_u8 *start; /* of its row */
    ty_i64 at;                    /* from there to the window */
    uint4 v;
} ty_window;

TY_FN ty_window ty_window_of(TY_GLOBAL const ty_u8 *batch, ty_i64 row_stride, ty_u32 row,
                             ty_u32 number, ty_u32 length)
{
    ty_window w;
    w.start = batch + (ty_i64)row * row_stride;
    w.at = (ty_i64)number * 16 - (ty_i64)((ty_u64)w.start & 15);
    if (w.at >= 0 && w.at + 16 <= (ty_i64)length)
        w.v = *(TY_GLOBAL const uint4 *)(w.start + w.at);
    return w;
}

TY_FN void ty_window_count(ty_window w, ty_u32 length, ty_u32 lane, TY_LOCAL ty_u32 *ty_local)
{
    ty_u32 base[TY_CHANNELS];
    if (w.at >= 0 && w.at + 16 <= (ty_i64)length) {
        ty_u32 phase = (ty_u32)w.at % TY_CHANNELS;
        TY_UNROLL
        for (int j = 0; j < TY_CHANNELS; j++)
            base[j] = TY_CHANNEL_BASE(j);
        TY_COUNT_FOUR(w.v.x, 0);
        TY_COUNT_FOUR(w.v.y, 4);
        TY_COUNT_FOUR(w.v.z, 8);
        TY_COUNT_FOUR(w.v.w, 12);
        return;
    }
    for (ty_i64 i = w.at; i < w.at + 16; i++) {
        ty_u32 phase = (ty_u32)i % TY_CHANNELS;
        if (i >= 0 && i < (ty_i64)length)
            TY_COUNT_RAW(w.start[i], TY_CHANNEL_BASE(0));
    }
}

/* `length`: bytes of a row; `windows`: that a row touches at most; first: the first batch. */
TY_KERNEL(TY_GROUP_MAX) count_bytes(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, ty_u32 rows,
                                    ty_u32 length, ty_u32 windows, ty_u64 first, ty_u32 actives,
                                    ty_u32 parts, ty_u32 slots,
                                    TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, part = TY_GROUP - here * parts;
    ty_u32 lane = lid & (TY_COPIES - 1), step = parts * TY_GROUP_MAX;
    ty_u32 start = part * TY_GROUP_MAX + lid, row = start / windows, number = start - row * windows;
    ty_u32 step_rows = step / windows, step_numbers = step - step_rows * windows;
    TY_GLOBAL const ty_u8 *batch = TY_GRID_AT(x, first + here, 0, 0);
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    TY_GLOBAL const ty_u32 *slot_of = (TY_GLOBAL const ty_u32 *)(axis + TY_AXIS_TABLE);
    for (ty_u32 k = lid; k < TY_CHANNELS * 256 * TY_COPIES; k += TY_GROUP_MAX)
        ty_local[k] = 0;
    TY_BARRIER();
    while (row < rows) {
        ty_window w[TY_AHEAD];
        ty_u32 n = 0;
        TY_UNROLL
        for (int k = 0; k < TY_AHEAD; k++) {
            if (row < rows) {
                w[k] = ty_window_of(batch, x_row, row, number, length);
                n++;
            }
            row += step_rows;
            number += step_numbers;
            if (number >= windows) {
                number -= windows;
                row++;
            }
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {
            if (k < n)
                ty_window_count(w[k], length, lane, ty_local);
        }
    }
    TY_BARRIER();
    /* The copies of a value into the first, then values into slots. */
    for (ty_u32 v = lid; v < TY_CHANNELS * 256; v += TY_GROUP_MAX) {
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < TY_COPIES; k++)
            sum += ty_local[v * TY_COPIES + ((lid + k) & (TY_COPIES - 1))];
        ty_local[v * TY_COPIES] = sum;
    }
    TY_BARRIER();
    for (ty_u32 a = 0; a < actives; a++) {
        TY_GLOBAL ty_u32 *to = out + (((ty_u64)here * actives + a) * parts + part) * slots;
        for (ty_u32 s = lid; s < slots; s += TY_GROUP_MAX)
            to[s] = 0;
    }
    TY_GLOBAL_BARRIER();
    for (ty_u32 k = lid; k < actives * 256; k += TY_GROUP_MAX) {
        ty_u32 a = k / 256, v = k - a * 256, sum = ty_local[(list[a] * 256 + v) * TY_COPIES];
        if (sum)
            TY_ADD_GLOBAL(&out[(((ty_u64)here * actives + a) * parts + part) * slots + slot_of[v]],
                          sum);
    }
    (void)x_column;
}

#endif
