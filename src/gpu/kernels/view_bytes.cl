/*
 * views, of bytes: all channels are read at once, as rows of interleaved bytes, TY_CHANNELS a
 * pixel, and counted as raw values; values become slots when a team adds its counts up.
 *
 * A launch counts one image (batch) after the other. An image is counted by `parts` groups, each of
 * which leaves a partial, or by one group, or by one of the `teams` that a group is cut into; these
 * store its counts themselves.
 *
 * Local memory, in words of which a team has W = TY_CHANNELS * 256 * copies:
 *
 *             0  W    the first team's counters: lane l counts a value in copy l % copies of its
 *                     counter, word (channel*256 + value)*copies + l % copies
 *           ...  W    each other team's
 *     teams * W  32   sink: bytes that are not the row's own are counted here, and never read
 *
 * Addresses are in bytes, 1 << shift from a value to the next: 4 * copies.
 *
 * Phases:
 *   read_first  Rows without a gap between them are one. It is read in vectors of 16 aligned bytes,
 * a whole number of pixels apart, so that byte j of a work-item's vectors is always of the same
 * channel. Its first are asked for here. clear       the counters, while those are on their way
 * count_vectors the whole vectors, TY_BYTES_AHEAD always on their way count_odd   the bytes before
 * and behind them count_rows  instead, rows with gaps: each by the windows of 16 aligned bytes that
 * it touches sum_copies  of each value, into the first work-item's that will read it store slots:
 * partials, or the caller's counts
 */
#if TY_BYTES_GROUP

#define VIEW_BYTES_WINDOWS 4 /* of rows with gaps, read before they are counted */

/* A work-item: nothing of it changes while it counts. */
typedef struct view_bytes {
    TY_GLOBAL const ty_u8 *image; /* its team's */
    TY_LOCAL ty_u8 *counters;     /* all teams' */
    ty_u32 team, lid, size;       /* its number in its team, of so many */
    ty_u32 line, counts;          /* its image's number in the launch; whether there is one */
    ty_u32 first, all;            /* its number among all that count the image, of so many */
    ty_u32 words, copies;         /* a team's; of each counter */
    ty_u32 shift, mask;           /* where a value is in an address: 0xff << shift */
    ty_u32 base;                  /* the address of its copy of the first counter */
} view_bytes;

TY_FN view_bytes view_bytes_begin(TY_LOCAL ty_u32 *ty_local, ty_u32 lines, ty_u32 parts,
                                  ty_u32 wide, ty_u32 shift)
{
    const ty_u32 teams = TY_BYTES_GROUP >> wide, group = TY_GROUP / parts;
    view_bytes p;
    p.counters = (TY_LOCAL ty_u8 *)ty_local;
    p.size = 1u << wide;
    p.team = TY_LID >> wide;
    p.lid = TY_LID & (p.size - 1);
    p.line = group * teams + p.team;
    p.counts = p.line < lines;
    p.first = (TY_GROUP - group * parts) * p.size + p.lid;
    p.all = parts * p.size;
    p.copies = 1u << (shift - 2);
    p.words = TY_CHANNELS * 256 * p.copies;
    p.shift = shift;
    p.mask = 0xffu << shift;
    p.base = p.team * p.words * 4 + (p.lid & (p.copies - 1)) * 4;
    return p;
}

/* Where the counters of byte 0, 1, ... of a vector begin if byte 0 is byte `phase` of a pixel. */
TY_FN void view_bytes_channels(ty_u32 *channels, ty_u32 phase, const view_bytes *p)
{
    TY_UNROLL
    for (ty_u32 j = 0; j < TY_CHANNELS; j++)
        channels[j] = p->base + ((phase + j) % TY_CHANNELS << (8 + p->shift));
}

/* Counts the four bytes of a word that are bytes j to j+3 of a vector, those whose bit of `keep` is
 * not set in the sink. */
TY_FN void view_bytes_count_word(ty_u32 word, ty_u32 j, ty_u32 keep, ty_u32 sink,
                                 const ty_u32 *channels, const view_bytes *p)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < 4; k++) {
        ty_u32 value = (k ? word >> (8 * k - p->shift) : word << p->shift) & p->mask;
        ty_u32 counter = value | channels[(j + k) % TY_CHANNELS];
        TY_ADD_LOCAL(p->counters + (keep >> (j + k) & 1 ? counter : sink), 1);
    }
}

TY_FN void view_bytes_count_vector(uint4 v, ty_u32 keep, ty_u32 sink, const ty_u32 *channels,
                                   const view_bytes *p)
{
    view_bytes_count_word(v.x, 0, keep, sink, channels, p);
    view_bytes_count_word(v.y, 4, keep, sink, channels, p);
    view_bytes_count_word(v.z, 8, keep, sink, channels, p);
    view_bytes_count_word(v.w, 12, keep, sink, channels, p);
}

/* ---- rows without gaps ---- */

typedef struct view_bytes_run {
    TY_GLOBAL const uint4 *vectors;
    ty_u32 length, head; /* bytes: of all, and before the first vector */
    ty_u32 count, next,
        step; /* vectors: of all, the work-item's next one, and from that to its next */
    uint4 ahead[TY_BYTES_AHEAD]; /* from `next` on */
} view_bytes_run;

/* Asks for the first vectors of `length` bytes, of 0 if there is nothing to count. */
TY_FN void view_bytes_read_first(view_bytes_run *r, ty_u32 length, view_bytes *p)
{
    ty_u64 from;
    r->length = length;
    r->head = (ty_u32)(0 - (ty_u64)p->image) & 15;
    r->count = r->head < length ? (length - r->head) / 16 : 0;
    r->step = p->all / TY_CHANNELS * TY_CHANNELS;
    r->next = p->first < r->step ? p->first : r->count;
    from = (ty_u64)(p->image + r->head);
    TY_OPAQUE(p->mask);
    TY_OPAQUE(r->step);
    TY_OPAQUE(r->count);
    TY_OPAQUE_LONG(from);
    r->vectors = (TY_GLOBAL const uint4 *)from;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_BYTES_AHEAD; k++) {
        if (r->next + k * r->step < r->count)
            r->ahead[k] = TY_STREAM(&r->vectors[r->next + k * r->step]);
    }
}

/* Each vector's registers are read into again, for the round after, as soon as it has been counted.
 */
TY_FN void view_bytes_count_vectors(view_bytes_run *r, const ty_u32 *channels, const view_bytes *p)
{
    while (r->next < r->count) {
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_BYTES_AHEAD; k++) {
            if (r->next + k * r->step < r->count)
                view_bytes_count_vector(r->ahead[k], 0xffff, 0, channels, p);
            if (r->next + (k + TY_BYTES_AHEAD) * r->step < r->count)
                r->ahead[k] = TY_STREAM(&r->vectors[r->next + (k + TY_BYTES_AHEAD) * r->step]);
        }
        r->next += TY_BYTES_AHEAD * r->step;
    }
}

TY_FN void view_bytes_count_odd(const view_bytes_run *r, const view_bytes *p)
{
    const ty_u32 head = r->count ? r->head : 0;
    for (ty_u32 i = p->first; i < r->length - r->count * 16; i += p->all) {
        ty_u32 at = i < head ? i : i + r->count * 16;
        ty_u32 channel = at % TY_CHANNELS << (8 + p->shift);
        TY_ADD_LOCAL(p->counters + (p->base + channel + ((ty_u32)p->image[at] << p->shift)), 1);
    }
}

/* ---- rows with gaps ---- */

/* Four bytes as a word, of which only those whose bit of `keep` is set are read. */
TY_FN ty_u32 view_bytes_four(TY_GLOBAL const ty_u8 *p, ty_u32 keep)
{
    ty_u32 word = 0;
    for (ty_u32 i = 0; i < 4; i++) {
        if (keep >> i & 1)
            word |= (ty_u32)p[i] << 8 * i;
    }
    return word;
}

/* A window, and which bytes of it are its row's. */
typedef struct view_bytes_window {
    uint4 v;
    ty_u32 keep, phase;
} view_bytes_window;

/* Window `number` of the row that begins at `start`. Its 16 bytes are read at once, but where some
 * may lie outside the image: before the row at the lowest address, or behind the highest. */
TY_FN view_bytes_window view_bytes_window_of(TY_GLOBAL const ty_u8 *start, ty_u32 number,
                                             ty_u32 length, int lowest, int highest)
{
    view_bytes_window w;
    ty_u32 before = (ty_u32)(ty_u64)start & 15, skip = number ? 0 : before;
    TY_GLOBAL const ty_u8 *from = start - before + (ty_u64)number * 16;
    ty_i32 left = (ty_i32)(before + length) - (ty_i32)(number * 16);
    w.keep = left <= 0 ? 0 : (left < 16 ? (1u << left) - 1 : 0xffff) & 0xffffu << skip;
    w.phase = (number * 16 + 48 - before) % TY_CHANNELS;
    if (w.keep && (!lowest || !skip) && (!highest || left >= 16)) {
        w.v = *(TY_GLOBAL const uint4 *)from;
    } else {
        w.v.x = view_bytes_four(from, w.keep);
        w.v.y = view_bytes_four(from + 4, w.keep >> 4);
        w.v.z = view_bytes_four(from + 8, w.keep >> 8);
        w.v.w = view_bytes_four(from + 12, w.keep >> 12);
    }
    return w;
}

/* The work-items' windows are counted through row by row. */
TY_FN void view_bytes_count_rows(ty_u32 rows, ty_i64 stride, ty_u32 length, ty_u32 windows,
                                 const view_bytes *p)
{
    ty_u32 up = stride >= 16, down = stride <= -16; /* else rows are too near each other */
    ty_u32 row = p->first / windows, number = p->first - row * windows;
    ty_u32 step_rows = p->all / windows, step_numbers = p->all - step_rows * windows;
    ty_u32 sink = p->words * (TY_BYTES_GROUP / p->size) * 4 + (TY_LID & 31) * 4;
    ty_u32 channels[TY_CHANNELS];
    row = p->counts && rows > 1 ? row : rows;
    while (row < rows) {
        view_bytes_window w[VIEW_BYTES_WINDOWS];
        TY_UNROLL
        for (ty_u32 k = 0; k < VIEW_BYTES_WINDOWS; k++) {
            w[k].keep = 0;
            if (row < rows)
                w[k] = view_bytes_window_of(p->image + (ty_i64)row * stride, number, length,
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
        for (ty_u32 k = 0; k < VIEW_BYTES_WINDOWS; k++) {
            view_bytes_channels(channels, w[k].phase, p);
            if (w[k].keep == 0xffff)
                view_bytes_count_vector(w[k].v, 0xffff, 0, channels, p);
            else if (w[k].keep)
                view_bytes_count_vector(w[k].v, w[k].keep, sink, channels, p);
        }
    }
}

/* ---- from counters to slots ---- */

/* The sum of the copies of counter r of a team, read from another vector of them on than neighbours
 * read theirs, so that they meet different banks. */
TY_FN ty_u32 view_bytes_sum(TY_LOCAL const ty_u32 *first, ty_u32 r, ty_u32 copies)
{
    TY_LOCAL const uint4 *vectors = (TY_LOCAL const uint4 *)first;
    ty_u32 sum = copies == 1 ? *first : 0;
    for (ty_u32 k = 0; k < copies / 4; k++) {
        uint4 v = vectors[(k + r * copies / 32) & (copies / 4 - 1)];
        sum += v.x + v.y + (v.z + v.w);
    }
    return sum;
}

/* Leaves the sum of counter r in its copy r % copies: neighbours in different banks again. */
TY_FN void view_bytes_sum_copies(TY_LOCAL ty_u32 *table, const view_bytes *p)
{
    for (ty_u32 r = p->lid; r < TY_CHANNELS * 256; r += p->size) {
        ty_u32 sum = view_bytes_sum(&table[r * p->copies], r, p->copies);
        table[r * p->copies + (r & (p->copies - 1))] = sum;
    }
}

/* The count of a channel's slot: the sum of the values that `runs` lists for it. */
TY_FN ty_u32 view_bytes_slot(TY_LOCAL const ty_u32 *table, TY_GLOBAL const ty_u32 *runs,
                             ty_u32 slots, ty_u32 slot, ty_u32 channel, ty_u32 copies)
{
    ty_u32 sum = 0;
    for (ty_u32 k = runs[slot]; k < runs[slot + 1]; k++) {
        ty_u32 r = channel * 256 + runs[slots + 1 + k];
        sum += table[r * copies + (r & (copies - 1))];
    }
    return sum;
}

/* rows, length: of an image, in bytes; windows: that a row touches at most; batch: the first of
 * `lines` images; parts: groups an image; wide: log2 of a team's work-items; runs: which values
 * make up a slot (merge.cl). */
TY_KERNEL_DENSE(TY_BYTES_GROUP, TY_BYTES_DENSE)
count_bytes(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u32 *runs, ty_u32 rows,
            ty_u32 length, ty_u32 windows, ty_u64 batch, ty_u32 lines, ty_u32 actives, ty_u32 parts,
            ty_u32 wide, ty_u32 shift, ty_u32 slots, TY_GLOBAL ty_u32 *out,
            TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const uint4 zero = {0, 0, 0, 0};
    ty_u32 channels[TY_CHANNELS];
    view_bytes_run run;
    view_bytes p = view_bytes_begin(ty_local, lines, parts, wide, shift);
    p.image = TY_GRID_AT(x, batch + p.line, 0, 0);
    view_bytes_read_first(&run, p.counts && rows == 1 ? length : 0, &p);
    for (ty_u32 k = TY_LID; k < p.words * (TY_BYTES_GROUP >> wide) / 4 + 8; k += TY_BYTES_GROUP)
        ((TY_LOCAL uint4 *)ty_local)[k] = zero;
    view_bytes_channels(channels, run.head + p.first * 16, &p);
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    TY_BARRIER();
    view_bytes_count_vectors(&run, channels, &p);
    view_bytes_count_odd(&run, &p);
    view_bytes_count_rows(rows, x_row, length, windows, &p);
    TY_BARRIER();
    TY_LOCAL ty_u32 *table = ty_local + p.team * p.words;
    view_bytes_sum_copies(table, &p);
    TY_BARRIER();
    ty_u32 part = TY_GROUP - TY_GROUP / parts * parts;
    ty_u32 targets = parts > 1 ? slots : p.counts ? ty_targets(bins, how) : 0;
    for (ty_u32 a = 0; a < actives; a++) {
        ty_u64 h = (ty_u64)p.line * actives + a;
        ty_u32 channel = TY_CHANNELS == 1 ? 0 : list[a];
        for (ty_u32 t = p.lid; t < targets; t += p.size) {
            ty_u32 sum = view_bytes_slot(table, runs, slots, t, channel, p.copies);
            if (parts > 1) {
                out[(h * parts + part) * slots + t] = sum;
                continue;
            }
            if (ty_takes_under(t, how))
                sum += view_bytes_slot(table, runs, slots, bins + TY_SLOT_UNDER, channel, p.copies);
            if (ty_takes_over(t, bins, how))
                sum += view_bytes_slot(table, runs, slots, bins + TY_SLOT_OVER, channel, p.copies);
            ty_store_sum(t, sum, counts, first + h * bins, flows, histogram + h, bins, how);
        }
    }
    (void)x_column;
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
