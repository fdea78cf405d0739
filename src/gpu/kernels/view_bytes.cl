/*
 * Bytes of all channels in one read (views.cl): rows of interleaved bytes, TY_CHANNELS a sample,
 * counted as raw values with `copies` copies of each counter:
 *
 *      word (channel*256 + value)*copies + lane,    lane = lid & (copies - 1),    copies << 2 == 1
 * << shift
 *
 * An image is counted by a line of `parts` groups, each of which leaves a partial, or by one group
 * or one of the `teams` of a group, which delivers its counts itself. Batches whose rows follow
 * each other without a gap are one row: its whole quads of 16 aligned bytes are read ahead, a whole
 * number of pixels apart, so that byte j of a work-item's quads is always of the same channel.
 * Other rows go by the windows of 16 aligned bytes that they touch; of one that is not a row's
 * alone the other bytes are counted in a row of 32 words behind the tables, at which no one looks.
 */
#if TY_BYTES_GROUP

#define TY_BYTES_WINDOWS 4 /* of rows with gaps, read before they are counted */

#define TY_RAW_AT(address) TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local + (address), 1)
/* Bytes j … j+3 of a quad; those whose bit of `keep` is not set are counted at `dustbin`. */
#define TY_COUNT_KEPT(j, row)                                                                      \
    TY_RAW_AT(keep >> (j)&1 ? ((row)&mask) | own[(j) % TY_CHANNELS] : dustbin)
#define TY_COUNT_FOUR(w, j)                                                                        \
    do {                                                                                           \
        TY_COUNT_KEPT(j, (w) << shift);                                                            \
        TY_COUNT_KEPT((j) + 1, (w) >> (8 - shift));                                                \
        TY_COUNT_KEPT((j) + 2, (w) >> (16 - shift));                                               \
        TY_COUNT_KEPT((j) + 3, (w) >> (24 - shift));                                               \
    } while (0)

TY_FN void ty_count_vector(uint4 v, ty_u32 keep, ty_u32 dustbin, ty_u32 shift, ty_u32 mask,
                           const ty_u32 *own, TY_LOCAL ty_u32 *ty_local)
{
    TY_COUNT_FOUR(v.x, 0);
    TY_COUNT_FOUR(v.y, 4);
    TY_COUNT_FOUR(v.z, 8);
    TY_COUNT_FOUR(v.w, 12);
}

/* Where the counters of byte 0, 1, … begin if byte 0 is the pixel's byte `phase`. */
TY_FN void ty_own_of(ty_u32 *own, ty_u32 phase, ty_u32 shift, ty_u32 first)
{
    TY_UNROLL
    for (ty_u32 j = 0; j < TY_CHANNELS; j++)
        own[j] = first + ((phase + j) % TY_CHANNELS << (8 + shift));
}

/* Those of four bytes that are kept. */
TY_FN ty_u32 ty_some_of_four(TY_GLOBAL const ty_u8 *p, ty_u32 keep)
{
    ty_u32 word = 0;
    for (ty_u32 i = 0; i < 4; i++) {
        if (keep >> i & 1)
            word |= (ty_u32)p[i] << 8 * i;
    }
    return word;
}

/* A window, and which bytes of it are its row's. */
typedef struct ty_window {
    uint4 v;
    ty_u32 keep, phase;
} ty_window;

/* Window `number` of a row: all of it is read where it lies between samples of the image, as it
 * does but at the lowest row's begin and the highest row's end. */
TY_FN ty_window ty_window_of(TY_GLOBAL const ty_u8 *start, ty_u32 number, ty_u32 length, int lowest,
                             int highest)
{
    ty_window w;
    ty_u32 before = (ty_u32)(ty_u64)start & 15, skip = number ? 0 : before;
    TY_GLOBAL const ty_u8 *from = start - before + (ty_u64)number * 16;
    ty_i32 left = (ty_i32)(before + length) - (ty_i32)(number * 16);
    w.keep = left <= 0 ? 0 : (left < 16 ? (1u << left) - 1 : 0xffff) & 0xffffu << skip;
    w.phase = (number * 16 + 48 - before) % TY_CHANNELS;
    if (w.keep && (!lowest || !skip) && (!highest || left >= 16)) {
        w.v = *(TY_GLOBAL const uint4 *)from;
    } else {
        w.v.x = ty_some_of_four(from, w.keep);
        w.v.y = ty_some_of_four(from + 4, w.keep >> 4);
        w.v.z = ty_some_of_four(from + 8, w.keep >> 8);
        w.v.w = ty_some_of_four(from + 12, w.keep >> 12);
    }
    return w;
}

/* The sum of a raw value's copies, from a quad of them on that neighbours do not begin at. */
TY_FN ty_u32 ty_sum_of_copies(TY_LOCAL const ty_u32 *row, ty_u32 r, ty_u32 copies)
{
    TY_LOCAL const uint4 *quads = (TY_LOCAL const uint4 *)row;
    ty_u32 sum = copies == 1 ? *row : 0;
    for (ty_u32 k = 0; k < copies / 4; k++) {
        uint4 v = quads[(k + r * copies / 32) & (copies / 4 - 1)];
        sum += v.x + v.y + (v.z + v.w);
    }
    return sum;
}

/* The count of a channel's slot: `table` holds the values' sums, each among its copies. */
TY_FN ty_u32 ty_raw_slot(TY_LOCAL const ty_u32 *table, TY_GLOBAL const ty_u32 *runs, ty_u32 slots,
                         ty_u32 slot, ty_u32 channel, ty_u32 copies)
{
    ty_u32 sum = 0;
    for (ty_u32 k = runs[slot]; k < runs[slot + 1]; k++) {
        ty_u32 r = channel * 256 + runs[slots + 1 + k];
        sum += table[r * copies + (r & (copies - 1))];
    }
    return sum;
}

/* length: bytes of a row; windows: that it touches at most; batch: the first of `lines`; wide: the
 * logarithm of a team's work-items. */
TY_KERNEL_DENSE(TY_BYTES_GROUP, TY_BYTES_DENSE)
count_bytes(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u32 *runs, ty_u32 rows,
            ty_u32 length, ty_u32 windows, ty_u64 batch, ty_u32 lines, ty_u32 actives, ty_u32 parts,
            ty_u32 wide, ty_u32 shift, ty_u32 slots, TY_GLOBAL ty_u32 *out,
            TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 team = TY_LID >> wide, size = 1u << wide, lid = TY_LID & (size - 1);
    ty_u32 group = TY_GROUP / parts, part = TY_GROUP - group * parts;
    ty_u32 line = group * (TY_BYTES_GROUP >> wide) + team, here = line < lines;
    ty_u32 copies = 1u << (shift - 2), words = TY_CHANNELS * 256 * copies;
    ty_u32 mask = 0xffu << shift, own[TY_CHANNELS];
    ty_u32 base = team * words * 4 + (lid & (copies - 1)) * 4;
    TY_GLOBAL const ty_u8 *image = TY_GRID_AT(x, batch + line, 0, 0);
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    ty_u32 rest = part * size + lid, step = parts * size / TY_CHANNELS * TY_CHANNELS;
    ty_u32 n = here && rows == 1 ? length : 0, head = (ty_u32)(0 - (ty_u64)image) & 15;
    ty_u32 count = head < n ? (n - head) / 16 : 0, q = rest < step ? rest : count;
    ty_u64 from = (ty_u64)(image + head);
    uint4 v[TY_BYTES_AHEAD], zero = {0, 0, 0, 0};
    TY_OPAQUE(mask);
    TY_OPAQUE(step);
    TY_OPAQUE(count);
    TY_OPAQUE_LONG(from);
    TY_GLOBAL const uint4 *quads = (TY_GLOBAL const uint4 *)from;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_BYTES_AHEAD; k++) {
        if (q + k * step < count)
            v[k] = TY_STREAM(&quads[q + k * step]);
    }
    for (ty_u32 k = TY_LID; k < words * (TY_BYTES_GROUP >> wide) / 4 + 8; k += TY_BYTES_GROUP)
        ((TY_LOCAL uint4 *)ty_local)[k] = zero;
    ty_own_of(own, head + rest * 16, shift, base);
    TY_BARRIER();
    while (q < count) {
        /* A quad is counted, and its place read into again for the round after. */
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_BYTES_AHEAD; k++) {
            if (q + k * step < count)
                ty_count_vector(v[k], 0xffff, 0, shift, mask, own, ty_local);
            if (q + (k + TY_BYTES_AHEAD) * step < count)
                v[k] = TY_STREAM(&quads[q + (k + TY_BYTES_AHEAD) * step]);
        }
        q += TY_BYTES_AHEAD * step;
    }
    /* Bytes that are in no quad. */
    head = count ? head : 0;
    for (ty_u32 i = rest; i < n - count * 16; i += parts * size) {
        ty_u32 at = i < head ? i : i + count * 16;
        TY_RAW_AT(base + (at % TY_CHANNELS << (8 + shift)) + ((ty_u32)image[at] << shift));
    }
    /* Rows with gaps. */
    ty_u32 dustbin = words * (TY_BYTES_GROUP >> wide) * 4 + (TY_LID & 31) * 4;
    ty_u32 up = x_row >= 16, down = x_row <= -16; /* else rows are too near each other */
    ty_u32 row = rest / windows, number = rest - row * windows;
    ty_u32 step_rows = parts * size / windows, step_numbers = parts * size - step_rows * windows;
    row = here && rows > 1 ? row : rows;
    while (row < rows) {
        ty_window w[TY_BYTES_WINDOWS];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_BYTES_WINDOWS; k++) {
            w[k].keep = 0;
            if (row < rows)
                w[k] = ty_window_of(image + (ty_i64)row * x_row, number, length,
                                    down ? row == rows - 1 : !up || row == 0,
                                    up ? row == rows - 1 : !down || row == 0);
            row += step_rows;
            number += step_numbers;
            if (number >= windows) {
                number -= windows;
                row++;
            }
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_BYTES_WINDOWS; k++) {
            ty_own_of(own, w[k].phase, shift, base);
            if (w[k].keep == 0xffff)
                ty_count_vector(w[k].v, 0xffff, 0, shift, mask, own, ty_local);
            else if (w[k].keep)
                ty_count_vector(w[k].v, w[k].keep, dustbin, shift, mask, own, ty_local);
        }
    }
    TY_BARRIER();
    TY_LOCAL ty_u32 *table = ty_local + team * words;
    for (ty_u32 r = lid; r < TY_CHANNELS * 256; r += size) {
        ty_u32 sum = ty_sum_of_copies(&table[r * copies], r, copies);
        table[r * copies + (r & (copies - 1))] = sum;
    }
    TY_BARRIER();
    ty_u32 targets = parts > 1 ? slots : here ? TY_TARGETS : 0;
    for (ty_u32 a = 0; a < actives; a++) {
        ty_u64 h = (ty_u64)line * actives + a;
        for (ty_u32 t = lid; t < targets; t += size) {
            ty_u32 sum = ty_raw_slot(table, runs, slots, t, list[a], copies);
            if (parts > 1) {
                out[(h * parts + part) * slots + t] = sum;
                continue;
            }
            if (TY_TAKES_UNDER(t))
                sum += ty_raw_slot(table, runs, slots, bins + TY_SLOT_UNDER, list[a], copies);
            if (TY_TAKES_OVER(t))
                sum += ty_raw_slot(table, runs, slots, bins + TY_SLOT_OVER, list[a], copies);
            ty_store_sum(t, sum, counts, first + h * bins, flows, histogram + h, bins, how);
        }
    }
    (void)x_column;
}

#endif
