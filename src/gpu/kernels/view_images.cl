/*
 * views, of many byte images without gaps between their rows, TY_CHANNELS interleaved, a histogram
 * each. A group is cut into TY_IMAGES_TEAMS teams, each of which goes from image to image and
 * stores counts as it goes. Most of a team's warps count; its last TY_IMAGES_SUMS work-items add up
 * the image before while the others count the next. So a team has two tables, for every other
 * image.
 *
 * Local memory, in bytes:
 *
 *     0     TEAMS * VIEW_IMAGES_TABLES        each team's pair of tables
 *     ...   TEAMS * WARPS * VIEW_IMAGES_RING  a ring for each warp that counts: the TY_IMAGES_AHEAD
 *                                             rows of vectors that it counts next, of whatever
 * image, on their way from global memory
 *     ...   (slots + 257) * 4                 runs: which values make up a slot (merge.cl)
 *     ...   TEAMS * 2 * results * 4           before: for each table what each sum was an image ago
 *
 * A table has a row of 256 bytes for each value, so that a counter's address is a byte of the
 * samples put between three that are known, which is one permutation:
 *
 *      table << 16 | value << 8 | column        one channel: value << 8 | table << 7 | column
 *
 * where a column is a channel's and a lane's. The lanes of a warp never meet in a bank: lanes 16 to
 * 31 are a channel ahead of lanes 0 to 15 (of three channels by themselves, of four because they
 * take the bytes of each pair in the other order), so that both may have the same columns:
 *
 *      one and two channels   32 columns each
 *      three                  32 of the first, then 16 of the last and 16 of the second
 *      four                   16 each
 *
 * Tables are cleared once: a count is what a sum has grown by.
 *
 * Phases:
 *   start    the rings are filled, tables cleared, `runs` copied
 *   count    those who count: the image's whole vectors, from their rings, which they fill again;
 * rows of vectors are dealt to a team's warps in turn, from one image to the next odd      the
 * others: the bytes before and behind those vectors store    the others, and after a team's last
 * image all of it: sums, and the caller's counts Each image is counted and then stored. Who counts
 * waits only until its table has been added up, who stores until the image has been counted:
 * barriers of a team for each of its tables.
 */
#if TY_IMAGES_GROUP

#define VIEW_IMAGES_TEAM     (TY_IMAGES_GROUP / TY_IMAGES_TEAMS) /* work-items */
#define VIEW_IMAGES_COUNTERS (VIEW_IMAGES_TEAM - TY_IMAGES_SUMS) /* of them who count */
#define VIEW_IMAGES_WARPS    (VIEW_IMAGES_COUNTERS / 32)
#define VIEW_IMAGES_ROW      (TY_IMAGES_VECTORS * 32) /* vectors: a warp counts them at once */
#define VIEW_IMAGES_ROWS     (VIEW_IMAGES_WARPS * VIEW_IMAGES_ROW) /* and all warps of a team */
#define VIEW_IMAGES_LINE     128                                   /* bytes of a cache's line */
#define VIEW_IMAGES_RING     (TY_IMAGES_AHEAD * VIEW_IMAGES_ROW * 16)
#define VIEW_IMAGES_TABLES   (TY_CHANNELS == 1 ? 65536u : 131072u)

/* Barriers: of the group; of a team, when an image has been counted into a table, and when that
 * table may be counted into again. */
#define VIEW_IMAGES_READY                (TY_IMAGES_TEAMS * 4 + 1)
#define VIEW_IMAGES_COUNTED(team, table) ((team)*4 + 1 + (table))
#define VIEW_IMAGES_FREE(team, table)    ((team)*4 + 3 + (table))

/* Where in a team's pair of tables the counters of a channel's value 0 begin, in bytes, and how
 * many vectors of columns they have. */
#if TY_CHANNELS == 1
#define VIEW_IMAGES_AT(table, channel) ((table) << 7)
#define VIEW_IMAGES_VECTORS(channel)   8
#elif TY_CHANNELS == 2
#define VIEW_IMAGES_AT(table, channel) ((table) << 16 | (channel) << 7)
#define VIEW_IMAGES_VECTORS(channel)   8
#elif TY_CHANNELS == 3
#define VIEW_IMAGES_AT(table, channel) ((table) << 16 | ((channel) ? 256 - 64 * (channel) : 0))
#define VIEW_IMAGES_VECTORS(channel)   ((channel) ? 4 : 8)
#else
#define VIEW_IMAGES_AT(table, channel) ((table) << 16 | (channel) << 6)
#define VIEW_IMAGES_VECTORS(channel)   4
#endif

/* An image as a warp goes through it. Rows of vectors are lines of the cache: the image begins
 * `skip` bytes behind such a line, from which `count` vectors are counted up to its last whole one.
 */
typedef struct view_images_image {
    ty_u64 address;
    ty_u32 line, skip, count; /* line: its number in the launch */
    ty_u32 row,
        first; /* the vector where the warp's next row begins; its first of the next image */
    ty_i32 low, reach; /* a work-item has a vector in the rows that begin from `low` to `reach` */
} view_images_image;

/* A work-item. Only `ring` and the images change. */
typedef struct view_images {
    TY_LOCAL ty_u32 *memory, *tables, *runs, *before; /* memory: all; tables, before: its team's */
    ty_u32 team, lid, lane;                           /* lid: its number in the team */
    ty_u32 start;                                     /* the byte where its team's tables begin */
    ty_u32 ring, end;           /* where the vectors are that it counts next; where its ring ends */
    ty_u32 swap;                /* 1: takes the bytes of a pair in the other order */
    ty_u32 length, lines, step; /* bytes of an image; images; from the team's to its next */
    ty_u64 jump;                /* bytes from the team's image to its next */
    view_images_image now;      /* what the team counts, or adds up */
    view_images_image next;     /* what the work-item reads, */
    ty_u64 from;                /* ... and its next vector there */
} view_images;

TY_FN int view_images_counts(const view_images *p)
{
    return p->lid < VIEW_IMAGES_COUNTERS;
}

/* ---- reading ahead ---- */

TY_FN int view_images_in_row(const view_images_image *i, ty_u32 row)
{
    return (ty_i32)row >= i->low && (ty_i32)row < i->reach;
}

TY_FN void view_images_begin(view_images_image *i, ty_u32 length)
{
    ty_u32 rows;
    i->skip = (ty_u32)i->address & (VIEW_IMAGES_LINE - 1);
    i->count = (i->skip + length) / 16;
    i->low = (ty_i32)(i->skip + 15) / 16 - (ty_i32)(TY_LID & 31);
    i->reach = (ty_i32)i->count - (ty_i32)(TY_LID & 31);
    i->row = i->first;
    rows = (i->count + VIEW_IMAGES_ROW - 1) / VIEW_IMAGES_ROW % VIEW_IMAGES_WARPS;
    i->first += (i->first < rows * VIEW_IMAGES_ROW ? VIEW_IMAGES_ROWS : 0) - rows * VIEW_IMAGES_ROW;
    TY_OPAQUE(i->count);
    TY_OPAQUE(i->low);
    TY_OPAQUE(i->reach);
}

/* Behind the last image there is nothing to read and no end. */
TY_FN void view_images_begin_next(view_images *p)
{
    if (p->next.line >= p->lines) {
        p->next.row = 0;
        p->next.count = ~0u;
        p->next.low = p->next.reach = 0;
        return;
    }
    view_images_begin(&p->next, p->length);
    p->from = p->next.address - p->next.skip + (p->next.row + (TY_LID & 31)) * 16;
    TY_OPAQUE_LONG(p->from);
}

/* Begins to read the next row, into local memory from byte `at` on. */
TY_FN void view_images_read(view_images *p, ty_u32 at)
{
    while (p->next.row >= p->next.count) {
        p->next.line += p->step;
        p->next.address += p->jump;
        view_images_begin_next(p);
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++) {
        if (view_images_in_row(&p->next, p->next.row + k * 32))
            TY_COPY(p->memory, at + k * 512, (TY_GLOBAL const uint4 *)p->from + k * 32);
    }
    TY_COPIED();
    p->next.row += VIEW_IMAGES_ROWS;
    p->from += VIEW_IMAGES_ROWS * 16;
}

/* ---- start ---- */

/* Clears a table, by work-item `lid` of `size`. */
TY_FN void view_images_clear(const view_images *p, ty_u32 table, ty_u32 lid, ty_u32 size)
{
    const uint4 zero = {0, 0, 0, 0};
    for (ty_u32 k = lid; k < VIEW_IMAGES_TABLES / 32; k += size) {
        ty_u32 vector = TY_CHANNELS == 1 ? k / 8 * 16 + table * 8 + k % 8 : table * 4096 + k;
        ((TY_LOCAL uint4 *)p->tables)[vector] = zero;
    }
}

/* Who counts begins as soon as the first table is clear. */
TY_FN void view_images_start(view_images *p, TY_GLOBAL const ty_u32 *from_runs, ty_u32 slots,
                             ty_u32 results)
{
    const ty_u32 lid = p->lid - VIEW_IMAGES_COUNTERS;
    if (view_images_counts(p)) {
        for (ty_u32 k = 0; k < TY_IMAGES_AHEAD; k++)
            view_images_read(p, p->ring + k * VIEW_IMAGES_ROW * 16);
        view_images_clear(p, 0, p->lid, VIEW_IMAGES_COUNTERS);
        return;
    }
    if (p->now.line < p->lines)
        TY_MEET_TOO(VIEW_IMAGES_FREE(p->team, 0), VIEW_IMAGES_TEAM, 0);
    view_images_clear(p, 1, lid, TY_IMAGES_SUMS);
    if (p->now.line + p->step < p->lines)
        TY_MEET_TOO(VIEW_IMAGES_FREE(p->team, 1), VIEW_IMAGES_TEAM, 0);
    for (ty_u32 k = p->team * TY_IMAGES_SUMS + lid; k < slots + 257;
         k += TY_IMAGES_TEAMS * TY_IMAGES_SUMS)
        p->runs[k] = from_runs[k];
    for (ty_u32 k = lid; k < results * 2; k += TY_IMAGES_SUMS)
        p->before[k] = 0;
}

/* ---- count ---- */

/* The address of a lane's counter of a channel's value 0. */
TY_FN ty_u32 view_images_counter(const view_images *p, ty_u32 table, ty_u32 channel)
{
    const ty_u32 columns = VIEW_IMAGES_VECTORS(channel) * 4;
    return p->start + VIEW_IMAGES_AT(table, channel) + ((p->lane & (columns - 1)) << 2);
}

/* The four bytes of a word, of which the first is byte j of the work-item's vectors of a row. */
TY_FN void view_images_count_word(const view_images *p, ty_u32 word, ty_u32 j,
                                  const ty_u32 *counters)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < 4; k++)
        TY_COUNT_AT(p->memory, TY_BYTE_INTO(counters[(j + k) % TY_CHANNELS], word, k ^ p->swap));
}

/* Vector k of a row. */
TY_FN void view_images_count_vector(const view_images *p, uint4 v, ty_u32 k, const ty_u32 *counters)
{
    view_images_count_word(p, v.x, k * 512, counters);
    view_images_count_word(p, v.y, k * 512 + 4, counters);
    view_images_count_word(p, v.z, k * 512 + 8, counters);
    view_images_count_word(p, v.w, k * 512 + 12, counters);
}

/* The warp's row of the image: a work-item of which all vectors are the image's reads them at once.
 */
TY_FN void view_images_count_row(const view_images *p, const ty_u32 *counters)
{
    if ((ty_i32)p->now.row >= p->now.low &&
        (ty_i32)(p->now.row + VIEW_IMAGES_ROW - 32) < p->now.reach) {
        uint4 v[TY_IMAGES_VECTORS];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++)
            v[k] = TY_VECTOR_AT(p->memory, p->ring + k * 512);
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++)
            view_images_count_vector(p, v[k], k, counters);
    } else {
        TY_UNROLL
        for (ty_u32 k = 0; TY_IMAGES_VECTORS > 1 && k < TY_IMAGES_VECTORS; k++) {
            if (view_images_in_row(&p->now, p->now.row + k * 32))
                view_images_count_vector(p, TY_VECTOR_AT(p->memory, p->ring + k * 512), k,
                                         counters);
        }
    }
}

TY_FN void view_images_count(view_images *p, ty_u32 table)
{
    ty_u32 counters[TY_CHANNELS]; /* of byte 0, 1, ... of the work-item's vectors */
    TY_UNROLL
    for (ty_u32 j = 0; j < TY_CHANNELS; j++) {
        ty_u32 from = VIEW_IMAGES_LINE * TY_CHANNELS - p->now.skip + (p->now.row + p->lane) * 16;
        counters[j] = view_images_counter(p, table, (from + (j ^ p->swap)) % TY_CHANNELS);
        TY_OPAQUE(counters[j]);
    }
    for (; p->now.row < p->now.count; p->now.row += VIEW_IMAGES_ROWS) {
        TY_COPIES_LEFT(TY_IMAGES_AHEAD - 1);
        view_images_count_row(p, counters);
        view_images_read(p, p->ring);
        p->ring += VIEW_IMAGES_ROW * 16;
        p->ring = p->ring < p->end ? p->ring : p->ring - VIEW_IMAGES_RING;
    }
}

/* Bytes that are in no vector, of an image that there is. */
TY_FN void view_images_count_odd(const view_images *p, ty_u32 table, ty_u32 here)
{
    ty_u32 head = (0 - p->now.skip) & 15, vectors = p->now.count * 16 - p->now.skip - head;
    ty_u32 odd = here ? p->length - vectors : 0;
    for (ty_u32 i = p->lid - VIEW_IMAGES_COUNTERS; i < odd; i += TY_IMAGES_SUMS) {
        ty_u32 j = i < head ? i : i + vectors;
        ty_u32 value = ((TY_GLOBAL const ty_u8 *)p->now.address)[j];
        TY_COUNT_AT(p->memory, view_images_counter(p, table, j % TY_CHANNELS) + (value << 8));
    }
}

/* ---- store ---- */

/* The sum of a slot's values, of a channel. */
TY_FN ty_u32 view_images_sum(const view_images *p, ty_u32 slots, ty_u32 slot, ty_u32 table,
                             ty_u32 channel)
{
    TY_LOCAL const uint4 *vectors =
        (TY_LOCAL const uint4 *)p->tables + VIEW_IMAGES_AT(table, channel) / 16;
    ty_u32 sum = 0, wide = VIEW_IMAGES_VECTORS(channel);
    TY_ROLLED
    for (ty_u32 k = p->runs[slot]; k < p->runs[slot + 1]; k++) {
        ty_u32 value = p->runs[slots + 1 + k];
        for (ty_u32 c = 0; c < wide; c += 4) {
            TY_UNROLL
            for (ty_u32 d = 0; d < 4; d++) {
                uint4 v = vectors[value * 16 + ((value + c + d) & (wide - 1))];
                sum += v.x + v.y + (v.z + v.w);
            }
        }
    }
    (void)channel;
    return sum;
}

/* By work-item `lid` of `size`; list: the active channels. */
TY_FN void view_images_store(const view_images *p, ty_u32 table, ty_u32 lid, ty_u32 size,
                             ty_u32 slots, ty_u32 actives, TY_GLOBAL const ty_u32 *list,
                             TY_OUTPUT_ARGS)
{
    ty_u32 targets = ty_targets(bins, how), results = targets * actives, t = lid, a = 0;
    for (ty_u32 k = lid; k < results; k += size, t += size) {
        TY_LOCAL ty_u32 *before = &p->before[table * results + k];
        ty_u32 old = *before;
        for (; TY_CHANNELS > 1 && t >= targets; t -= targets)
            a++;
        ty_u32 channel = TY_CHANNELS == 1 ? 0 : list[a];
        ty_u64 h = (ty_u64)p->now.line * actives + a;
        ty_u32 sum = view_images_sum(p, slots, t, table, channel);
        if (ty_takes_under(t, how))
            sum += view_images_sum(p, slots, bins + TY_SLOT_UNDER, table, channel);
        if (ty_takes_over(t, bins, how))
            sum += view_images_sum(p, slots, bins + TY_SLOT_OVER, table, channel);
        ty_store_sum(t, sum - old, counts, first + h * bins, flows, histogram + h, bins, how);
        *before = sum;
    }
}

/* ---- the kernel ---- */

/* Where a work-item is and where its memory is. */
TY_FN view_images view_images_of(TY_LOCAL ty_u32 *ty_local, ty_u32 slots, ty_u32 results)
{
    const ty_u32 tables = TY_IMAGES_TEAMS * VIEW_IMAGES_TABLES;
    view_images p;
    p.lid = TY_LID % VIEW_IMAGES_TEAM;
    p.team = TY_LID / VIEW_IMAGES_TEAM;
    p.lane = p.lid & 31;
    p.step = TY_GROUPS * TY_IMAGES_TEAMS;
    p.start = p.team * VIEW_IMAGES_TABLES;
    p.ring = tables + (p.team * VIEW_IMAGES_WARPS + p.lid / 32) * VIEW_IMAGES_RING + p.lane * 16;
    p.end = p.ring + VIEW_IMAGES_RING;
    p.swap = TY_CHANNELS == 4 ? p.lane >> 4 : 0;
    p.memory = ty_local;
    p.tables = ty_local + p.start / 4;
    p.runs = ty_local + (tables + TY_IMAGES_TEAMS * VIEW_IMAGES_WARPS * VIEW_IMAGES_RING) / 4;
    p.before = p.runs + slots + 257 + p.team * results * 2;
    return p;
}

/* length: bytes of an image; batch: the first, of `lines`. */
TY_KERNEL_DENSE(TY_IMAGES_GROUP, 1)
count_images(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u32 *from_runs,
             ty_u32 length, ty_u64 batch, ty_u32 lines, ty_u32 actives, ty_u32 slots,
             TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL_CHECK();
    const ty_u32 results = ty_targets(bins, how) * actives;
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    ty_u32 table = 0;
    view_images p = view_images_of(ty_local, slots, results);
    const int counting = view_images_counts(&p);
    p.length = length;
    p.lines = lines;
    p.jump = p.step * (ty_u64)x_batch;
    p.now.line = TY_GROUP * TY_IMAGES_TEAMS + p.team;
    p.now.address = (ty_u64)(TY_GRID_AT(x, batch + p.now.line, 0, 0));
    p.now.first = p.lid / 32 * VIEW_IMAGES_ROW;
    p.next = p.now;
    view_images_begin_next(&p);
    view_images_start(&p, from_runs, slots, results);
    TY_MEET(1, VIEW_IMAGES_READY, TY_IMAGES_GROUP, !counting);
    for (; p.now.line - p.team < lines; p.now.line += p.step) {
        ty_u32 here = p.now.line < lines; /* as the first team has one, the last may have none */
        view_images_begin(&p.now, length);
        p.now.count = here ? p.now.count : 0;
        if (counting) {
            if (here)
                TY_MEET_TOO(VIEW_IMAGES_FREE(p.team, table), VIEW_IMAGES_TEAM, 1);
            view_images_count(&p, table);
        } else {
            view_images_count_odd(&p, table, here);
        }
        /* All of a team add up its last image. */
        int last = p.now.line + p.step >= lines, sums = !counting || last;
        TY_MEET(here, VIEW_IMAGES_COUNTED(p.team, table), VIEW_IMAGES_TEAM, sums);
        if (here && sums)
            view_images_store(&p, table, last ? p.lid : p.lid - VIEW_IMAGES_COUNTERS,
                              last ? VIEW_IMAGES_TEAM : TY_IMAGES_SUMS, slots, actives, list,
                              counts, first, flows, histogram, bins, how);
        if (!counting && p.now.line + 2 * p.step < lines)
            TY_MEET_TOO(VIEW_IMAGES_FREE(p.team, table), VIEW_IMAGES_TEAM, 0);
        table ^= 1;
        p.now.address += p.jump;
    }
    (void)x_row;
    (void)x_column;
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
