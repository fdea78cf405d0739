/*
 * Many byte images without gaps between their rows, TY_CHANNELS interleaved, a histogram each
 * (views.cl): each of a group's TY_IMAGES_TEAMS goes from image to image and delivers as it goes.
 * Most of a team count; its last TY_IMAGES_SUMS work-items add up the image before while the others
 * count the next. A team has two tables, for every other image, of rows of 256 bytes: a counter's
 * address is a byte of the samples put between three that are known, one permutation,
 *
 *      table << 16 | value << 8 | column        one channel: value << 8 | table << 7 | column
 *
 * where a column is a channel's and a lane's. The lanes of a warp never meet in a bank: lanes 16 …
 * 31 are a channel ahead of lanes 0 … 15 (of three channels by themselves, of four because they
 * take the bytes of each pair in the other order), so that both may have the same columns:
 *
 *      one and two channels   32 columns each
 *      three                  32 of the first, then 16 of the last and 16 of the second
 *      four                   16 each
 *
 * Tables are cleared once: a count is what a sum has grown by. Each warp that counts has a ring of
 * TY_IMAGES_AHEAD rows of quads behind the tables, on their way whatever image they are of. Rows
 * are dealt to a team's warps in turn, from one image to the next.
 */
#if TY_IMAGES_GROUP

#define TY_TEAM         (TY_IMAGES_GROUP / TY_IMAGES_TEAMS)
#define TY_COUNTERS     (TY_TEAM - TY_IMAGES_SUMS)
#define TY_WARPS        (TY_COUNTERS / 32)
#define TY_ROW          (TY_IMAGES_VECTORS * 32)        /* quads that a warp counts at a time */
#define TY_LINE         128                             /* bytes of one of the cache */
#define TY_ROWS         (TY_WARPS * TY_ROW)             /* … and all warps of a team */
#define TY_RING         (TY_IMAGES_AHEAD * TY_ROW * 16) /* bytes of a warp's */
#define TY_TABLES_BYTES (TY_CHANNELS == 1 ? 65536u : 131072u) /* of a team's */

#if TY_CHANNELS == 1
#define TY_TABLE_AT(table, channel) ((table) << 7)
#define TY_COLUMN_VECTORS(channel)  8
#elif TY_CHANNELS == 2
#define TY_TABLE_AT(table, channel) ((table) << 16 | (channel) << 7)
#define TY_COLUMN_VECTORS(channel)  8
#elif TY_CHANNELS == 3
#define TY_TABLE_AT(table, channel) ((table) << 16 | ((channel) ? 256 - 64 * (channel) : 0))
#define TY_COLUMN_VECTORS(channel)  ((channel) ? 4 : 8)
#else
#define TY_TABLE_AT(table, channel) ((table) << 16 | (channel) << 6)
#define TY_COLUMN_VECTORS(channel)  4
#endif
/* Quad k of a table. */
#define TY_TABLE_VECTOR(table, k)                                                                  \
    (TY_CHANNELS == 1 ? (k) / 8 * 16 + (table)*8 + (k) % 8 : (table)*4096 + (k))
#define TY_OWN(tables, table, channel, lane)                                                       \
    ((tables) + TY_TABLE_AT(table, channel) +                                                      \
     (((lane) & (TY_COLUMN_VECTORS(channel) * 4 - 1)) << 2))

#define TY_COUNT_VALUE(w, k, j)                                                                    \
    TY_COUNT_AT(TY_BYTE_INTO(own[((j) + (k)) % TY_CHANNELS], w, (k) ^ swap))
#define TY_COUNT_VALUES(w, j)                                                                      \
    do {                                                                                           \
        TY_COUNT_VALUE(w, 0, j);                                                                   \
        TY_COUNT_VALUE(w, 1, j);                                                                   \
        TY_COUNT_VALUE(w, 2, j);                                                                   \
        TY_COUNT_VALUE(w, 3, j);                                                                   \
    } while (0)
#define TY_COUNT_VECTOR(v, k)                                                                      \
    do {                                                                                           \
        TY_COUNT_VALUES((v).x, (k)*512);                                                           \
        TY_COUNT_VALUES((v).y, (k)*512 + 4);                                                       \
        TY_COUNT_VALUES((v).z, (k)*512 + 8);                                                       \
        TY_COUNT_VALUES((v).w, (k)*512 + 12);                                                      \
    } while (0)

/* An image as a warp goes through it. Rows of quads are lines of the cache: the image begins `skip`
 * bytes behind such a line, from which `count` quads are counted up to its last whole one. */
typedef struct ty_image {
    ty_u64 address;
    ty_u32 line, skip, count;
    ty_u32 row, first; /* the quad where the warp's next row begins; its first of the next image */
    ty_i32 low, reach; /* a work-item has a quad in the rows that begin from `low` to `reach` */
} ty_image;
#define TY_IN_ROW(image, row) ((ty_i32)(row) >= (image).low && (ty_i32)(row) < (image).reach)

TY_FN void ty_image_begin(ty_image *i, ty_u32 length)
{
    ty_u32 rows;
    i->skip = (ty_u32)i->address & (TY_LINE - 1);
    i->count = (i->skip + length) / 16;
    i->low = (ty_i32)(i->skip + 15) / 16 - (ty_i32)(TY_LID & 31);
    i->reach = (ty_i32)i->count - (ty_i32)(TY_LID & 31);
    i->row = i->first;
    rows = (i->count + TY_ROW - 1) / TY_ROW % TY_WARPS;
    i->first += (i->first < rows * TY_ROW ? TY_ROWS : 0) - rows * TY_ROW;
    TY_OPAQUE(i->count);
    TY_OPAQUE(i->low);
    TY_OPAQUE(i->reach);
}

/* What a work-item reads next: `image` with its quad `from`. Behind the last image there is nothing
 * to read and no end. */
typedef struct ty_ahead {
    ty_image image;
    ty_u64 from;
} ty_ahead;

TY_FN void ty_ahead_begin(ty_ahead *a, ty_u32 length, ty_u32 lines)
{
    if (a->image.line >= lines) {
        a->image.row = 0;
        a->image.count = ~0u;
        a->image.low = a->image.reach = 0;
        return;
    }
    ty_image_begin(&a->image, length);
    a->from = a->image.address - a->image.skip + (a->image.row + (TY_LID & 31)) * 16;
    TY_OPAQUE_LONG(a->from);
}

/* Begins to read a row, into local memory from byte `at` on. */
TY_FN void ty_read_ahead(TY_LOCAL ty_u32 *ty_local, ty_ahead *a, ty_u32 at, ty_u32 length,
                         ty_u64 jump, ty_u32 step, ty_u32 lines)
{
    while (a->image.row >= a->image.count) {
        a->image.line += step;
        a->image.address += jump;
        ty_ahead_begin(a, length, lines);
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++) {
        if (TY_IN_ROW(a->image, a->image.row + k * 32))
            TY_COPY(at + k * 512, (TY_GLOBAL const uint4 *)a->from + k * 32);
    }
    TY_COPIED();
    a->image.row += TY_ROWS;
    a->from += TY_ROWS * 16;
    (void)ty_local;
}

/* By work-item `lid` of `size`. */
TY_FN void ty_images_clear(TY_LOCAL ty_u32 *tables, ty_u32 table, ty_u32 lid, ty_u32 size)
{
    uint4 zero = {0, 0, 0, 0};
    for (ty_u32 k = lid; k < TY_TABLES_BYTES / 32; k += size)
        ((TY_LOCAL uint4 *)tables)[TY_TABLE_VECTOR(table, k)] = zero;
}

/* The sum of a slot's values, of a channel. */
TY_FN ty_u32 ty_images_sum(TY_LOCAL const ty_u32 *tables, TY_LOCAL const ty_u32 *runs, ty_u32 slots,
                           ty_u32 slot, ty_u32 table, ty_u32 channel)
{
    TY_LOCAL const uint4 *quads = (TY_LOCAL const uint4 *)tables + TY_TABLE_AT(table, channel) / 16;
    ty_u32 sum = 0, wide = TY_COLUMN_VECTORS(channel);
    TY_ROLLED
    for (ty_u32 k = runs[slot]; k < runs[slot + 1]; k++) {
        ty_u32 value = runs[slots + 1 + k];
        for (ty_u32 c = 0; c < wide; c += 4) {
            TY_UNROLL
            for (ty_u32 d = 0; d < 4; d++) {
                uint4 v = quads[value * 16 + ((value + c + d) & (wide - 1))];
                sum += v.x + v.y + (v.z + v.w);
            }
        }
    }
    (void)channel;
    return sum;
}

/* length: bytes of an image; batch: the first, of `lines`. */
TY_KERNEL_DENSE(TY_IMAGES_GROUP, 1)
count_images(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u32 *from_runs,
             ty_u32 length, ty_u64 batch, ty_u32 lines, ty_u32 actives, ty_u32 slots,
             TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL_CHECK();
    ty_u32 lid = TY_LID % TY_TEAM, team = TY_LID / TY_TEAM, warp = lid / 32, lane = lid & 31;
    ty_u32 step = TY_GROUPS * TY_IMAGES_TEAMS, counting = lid < TY_COUNTERS;
    ty_u32 start = team * TY_TABLES_BYTES, table = 0, targets = TY_TARGETS,
           results = targets * actives;
    ty_u32 at = TY_IMAGES_TEAMS * TY_TABLES_BYTES + (team * TY_WARPS + warp) * TY_RING + lane * 16;
    ty_u32 end = at + TY_RING, swap = TY_CHANNELS == 4 ? lane >> 4 : 0, own[TY_CHANNELS];
    TY_LOCAL ty_u32 *tables = ty_local + start / 4;
    TY_LOCAL ty_u32 *runs = ty_local + TY_IMAGES_TEAMS * (TY_TABLES_BYTES + TY_WARPS * TY_RING) / 4;
    TY_LOCAL ty_u32 *before = runs + slots + 257;
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    ty_u64 jump = step * (ty_u64)x_batch;
    ty_image now;
    ty_ahead next;
    now.line = TY_GROUP * TY_IMAGES_TEAMS + team;
    now.address = (ty_u64)(TY_GRID_AT(x, batch + now.line, 0, 0));
    now.first = warp * TY_ROW;
    next.image = now;
    ty_ahead_begin(&next, length, lines);
    before += team * results * 2;
    /* Who counts begins as soon as the first table is clear. */
    if (counting) {
        for (ty_u32 k = 0; k < TY_IMAGES_AHEAD; k++)
            ty_read_ahead(ty_local, &next, at + k * TY_ROW * 16, length, jump, step, lines);
        ty_images_clear(tables, 0, lid, TY_COUNTERS);
    } else {
        if (now.line < lines)
            TY_MEET_TOO(team * 4 + 3, TY_TEAM, 0);
        ty_images_clear(tables, 1, lid - TY_COUNTERS, TY_IMAGES_SUMS);
        if (now.line + step < lines)
            TY_MEET_TOO(team * 4 + 4, TY_TEAM, 0);
        for (ty_u32 k = team * TY_IMAGES_SUMS + lid - TY_COUNTERS; k < slots + 257;
             k += TY_IMAGES_TEAMS * TY_IMAGES_SUMS)
            runs[k] = from_runs[k];
        for (ty_u32 k = lid - TY_COUNTERS; k < results * 2; k += TY_IMAGES_SUMS)
            before[k] = 0;
    }
    TY_MEET(1, TY_IMAGES_TEAMS * 4 + 1, TY_IMAGES_GROUP, !counting);
    for (; now.line - team < lines; now.line += step) {
        ty_u32 here = now.line < lines; /* as the first team has one, the last may have none */
        ty_image_begin(&now, length);
        now.count = here ? now.count : 0;
        if (counting) {
            if (here) /* the table is clear, or has been added up */
                TY_MEET_TOO(team * 4 + 3 + table, TY_TEAM, 1);
            TY_UNROLL
            for (ty_u32 j = 0; j < TY_CHANNELS; j++) {
                ty_u32 from = TY_LINE * TY_CHANNELS - now.skip + (now.row + lane) * 16,
                       channel = (from + (j ^ swap)) % TY_CHANNELS;
                own[j] = TY_OWN(start, table, channel, lane);
                TY_OPAQUE(own[j]);
            }
            for (; now.row < now.count; now.row += TY_ROWS) {
                TY_COPIES_LEFT(TY_IMAGES_AHEAD - 1);
                if ((ty_i32)now.row >= now.low && (ty_i32)(now.row + TY_ROW - 32) < now.reach) {
                    uint4 v[TY_IMAGES_VECTORS];
                    TY_UNROLL
                    for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++)
                        v[k] = TY_VECTOR_AT(at + k * 512);
                    TY_UNROLL
                    for (ty_u32 k = 0; k < TY_IMAGES_VECTORS; k++)
                        TY_COUNT_VECTOR(v[k], k);
                } else {
                    TY_UNROLL
                    for (ty_u32 k = 0; TY_IMAGES_VECTORS > 1 && k < TY_IMAGES_VECTORS; k++) {
                        if (TY_IN_ROW(now, now.row + k * 32)) {
                            uint4 v = TY_VECTOR_AT(at + k * 512);
                            TY_COUNT_VECTOR(v, k);
                        }
                    }
                }
                ty_read_ahead(ty_local, &next, at, length, jump, step, lines);
                at += TY_ROW * 16;
                at = at < end ? at : at - TY_RING;
            }
        } else {
            /* Bytes that are in no quad. */
            ty_u32 head = (0 - now.skip) & 15, quads = now.count * 16 - now.skip - head;
            ty_u32 odd = here ? length - quads : 0;
            for (ty_u32 i = lid - TY_COUNTERS; i < odd; i += TY_IMAGES_SUMS) {
                ty_u32 j = i < head ? i : i + quads, channel = j % TY_CHANNELS;
                ty_u32 value = ((TY_GLOBAL const ty_u8 *)now.address)[j];
                TY_COUNT_AT(TY_OWN(start, table, channel, lane) + (value << 8));
            }
        }
        /* All of a team add up its last image. */
        ty_u32 last = now.line + step >= lines, sums = !counting || last;
        ty_u32 size = last ? TY_TEAM : TY_IMAGES_SUMS, t = last ? lid : lid - TY_COUNTERS, a = 0;
        TY_MEET(here, team * 4 + 1 + table, TY_TEAM, sums); /* the image has been counted */
        for (ty_u32 k = t; here && sums && k < results; k += size, t += size) {
            TY_LOCAL ty_u32 *was = &before[table * results + k];
            ty_u32 old = *was;
            for (; TY_CHANNELS > 1 && t >= targets; t -= targets)
                a++;
            ty_u32 channel = TY_CHANNELS == 1 ? 0 : list[a];
            ty_u64 h = (ty_u64)now.line * actives + a;
            ty_u32 sum = ty_images_sum(tables, runs, slots, t, table, channel);
            if (TY_TAKES_UNDER(t))
                sum += ty_images_sum(tables, runs, slots, bins + TY_SLOT_UNDER, table, channel);
            if (TY_TAKES_OVER(t))
                sum += ty_images_sum(tables, runs, slots, bins + TY_SLOT_OVER, table, channel);
            ty_store_sum(t, sum - old, counts, first + h * bins, flows, histogram + h, bins, how);
            *was = sum;
        }
        if (!counting && now.line + 2 * step < lines)
            TY_MEET_TOO(team * 4 + 3 + table, TY_TEAM, 0);
        table ^= 1;
        now.address += jump;
    }
    (void)x_row;
    (void)x_column;
}

#endif
