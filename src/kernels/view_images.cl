/*
 * Many byte images without gaps between their rows, TY_CHANNELS interleaved, a histogram each
 * (views.cl): groups go from image to image and deliver as they go. A counter has 32 copies, one for
 * each lane, in rows of 256 bytes that two tables share:
 *
 *      byte (table/2) << 16 | value << 8 | (table & 1) << 7 | lane << 2
 *
 * so that its address is a byte of the samples put between three that are known: one permutation. The
 * tables are the channels'; of one channel there are two, for every other image, and while one half
 * of the group adds up the last image's the others count the next. Tables are not cleared: a count is
 * what a sum has grown by. While an image's last quads are counted the next image's first are read.
 */
#if TY_IMAGES_GROUP

#if TY_CHANNELS == 1
#define TY_TURNS 2u /* tables of a channel */
#else
#define TY_TURNS 1u
#endif
#define TY_IMAGES_WORDS ((TY_CHANNELS * TY_TURNS + 1) / 2 * 16384)
#define TY_IMAGES_STEP  (TY_IMAGES_GROUP / TY_CHANNELS * TY_CHANNELS)
#define TY_IMAGES_ROUND (TY_IMAGES_AHEAD * TY_IMAGES_STEP)
#define TY_TABLE_AT(t)  ((t) / 2 << 16 | ((t)&1) << 7)

#define TY_COUNT_VALUE(w, k, j)                                                                    \
    TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local +                                                      \
                     TY_BYTE_INTO(own[((j) + (k)) % TY_CHANNELS], w, k),                         \
                 1)
#define TY_COUNT_VALUES(w, j)                                                                      \
    do {                                                                                           \
        TY_COUNT_VALUE(w, 0, j);                                                                   \
        TY_COUNT_VALUE(w, 1, j);                                                                   \
        TY_COUNT_VALUE(w, 2, j);                                                                   \
        TY_COUNT_VALUE(w, 3, j);                                                                   \
    } while (0)

/* An image's quads of 16 aligned bytes: where they begin, how many bytes are before them. */
typedef struct ty_image {
    ty_u64 quads;
    ty_u32 head, count;
} ty_image;

TY_FN ty_image ty_image_of(TY_GLOBAL const ty_u8 *image, ty_u32 length)
{
    ty_image i;
    i.head = (ty_u32)(0 - (ty_u64)image) & 15;
    i.count = i.head < length ? (length - i.head) / 16 : 0;
    i.head = i.count ? i.head : 0;
    i.quads = (ty_u64)(image + i.head);
    TY_OPAQUE(i.head);
    TY_OPAQUE(i.count);
    TY_OPAQUE_LONG(i.quads);
    return i;
}

/* The sum of a slot's values, of a table. */
TY_FN ty_u32 ty_images_sum(TY_LOCAL const ty_u32 *ty_local, TY_LOCAL const ty_u32 *runs,
                           ty_u32 slots, ty_u32 slot, ty_u32 table)
{
    TY_LOCAL const uint4 *quads = (TY_LOCAL const uint4 *)ty_local + TY_TABLE_AT(table) / 16;
    ty_u32 sum = 0;
    for (ty_u32 k = runs[slot]; k < runs[slot + 1]; k++) {
        ty_u32 value = runs[slots + 1 + k];
        TY_UNROLL
        for (ty_u32 c = 0; c < 8; c++) {
            uint4 v = quads[value * 16 + ((value + c) & 7)];
            sum += v.x + v.y + (v.z + v.w);
        }
    }
    return sum;
}

/* length: bytes of an image; batch: the first, of `lines`. */
TY_KERNEL_DENSE(TY_IMAGES_GROUP, TY_IMAGES_DENSE)
count_images(TY_GRID_ARGS(x), TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u32 *from_runs,
             ty_u32 length, ty_u64 batch, ty_u32 lines, ty_u32 actives, ty_u32 slots,
             TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL ty_u32 *runs = ty_local + TY_IMAGES_WORDS, *before = runs + slots + 257;
    TY_GLOBAL const ty_u32 *list = (TY_GLOBAL const ty_u32 *)ty_axis_next(axis);
    ty_u32 lid = TY_LID, targets = TY_TARGETS, turn = 0, own[TY_CHANNELS];
    ty_u32 mine = lid < TY_IMAGES_STEP ? lid : 1u << 30; /* too many for whole pixels */
    TY_OPAQUE(mine);
    uint4 v[TY_IMAGES_AHEAD], zero = {0, 0, 0, 0};
    ty_image now = ty_image_of(TY_GRID_AT(x, batch + TY_GROUP, 0, 0), length);
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_IMAGES_AHEAD; k++) {
        if (mine + k * TY_IMAGES_STEP < now.count)
            v[k] = TY_STREAM((TY_GLOBAL const uint4 *)now.quads + mine + k * TY_IMAGES_STEP);
    }
    for (ty_u32 k = lid; k < TY_IMAGES_WORDS / 4; k += TY_IMAGES_GROUP)
        ((TY_LOCAL uint4 *)ty_local)[k] = zero;
    for (ty_u32 k = lid; k < slots + 257; k += TY_IMAGES_GROUP)
        runs[k] = from_runs[k];
    for (ty_u32 k = lid; k < targets * actives * TY_TURNS; k += TY_IMAGES_GROUP)
        before[k] = 0;
    TY_BARRIER();
    for (ty_u32 line = TY_GROUP; line < lines; line += TY_GROUPS) {
        ty_u32 following = line + TY_GROUPS;
        ty_image next = ty_image_of(TY_GRID_AT(x, batch + following, 0, 0), length);
        next.count = following < lines ? next.count : 0;
        TY_OPAQUE(next.count);
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_CHANNELS; j++) {
            ty_u32 channel = TY_CHANNELS == 1 ? turn : (now.head + mine * 16 + j) % TY_CHANNELS;
            own[j] = TY_TABLE_AT(channel) | (lid & 31) << 2;
            TY_OPAQUE(own[j]);
        }
        /* A quad is counted, and its place read into again for the round after. */
        for (ty_u32 begin = 0, last = 0; !last; begin += TY_IMAGES_ROUND) {
            last = begin + TY_IMAGES_ROUND >= now.count;
            ty_u64 from = last ? next.quads : now.quads;
            ty_u32 count = last ? next.count : now.count, q = mine + begin;
            ty_u32 at = last ? mine : q + TY_IMAGES_ROUND;
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_IMAGES_AHEAD; k++) {
                if (q + k * TY_IMAGES_STEP < now.count) {
                    TY_COUNT_VALUES(v[k].x, 0);
                    TY_COUNT_VALUES(v[k].y, 4);
                    TY_COUNT_VALUES(v[k].z, 8);
                    TY_COUNT_VALUES(v[k].w, 12);
                }
                if (at + k * TY_IMAGES_STEP < count)
                    v[k] = TY_STREAM((TY_GLOBAL const uint4 *)from + at + k * TY_IMAGES_STEP);
            }
        }
        /* Bytes that are in no quad. */
        for (ty_u32 i = lid; i < length - now.count * 16; i += TY_IMAGES_GROUP) {
            ty_u32 at = i < now.head ? i : i + now.count * 16;
            ty_u32 value = ((TY_GLOBAL const ty_u8 *)now.quads)[(ty_i64)at - now.head];
            ty_u32 table = TY_CHANNELS == 1 ? turn : at % TY_CHANNELS;
            TY_ADD_LOCAL((TY_LOCAL ty_u8 *)ty_local +
                             (TY_TABLE_AT(table) | value << 8 | (lid & 31) << 2),
                         1);
        }
        TY_BARRIER();
        ty_u32 width = TY_IMAGES_GROUP / TY_TURNS, first_target = lid - turn * width;
        for (ty_u32 a = 0; a < actives && first_target < width; a++) {
            ty_u32 table = TY_CHANNELS == 1 ? turn : list[a];
            ty_u64 h = (ty_u64)line * actives + a;
            for (ty_u32 t = first_target; t < targets; t += width) {
                TY_LOCAL ty_u32 *was = &before[(turn * actives + a) * targets + t];
                ty_u32 sum = ty_images_sum(ty_local, runs, slots, t, table);
                if (TY_TAKES_UNDER(t))
                    sum += ty_images_sum(ty_local, runs, slots, bins + TY_SLOT_UNDER, table);
                if (TY_TAKES_OVER(t))
                    sum += ty_images_sum(ty_local, runs, slots, bins + TY_SLOT_OVER, table);
                ty_deliver(t, sum - *was, counts, first + h * bins, flows, histogram + h, bins,
                           how);
                *was = sum;
            }
        }
#if TY_TURNS == 2
        turn ^= 1;
#else
        TY_BARRIER();
#endif
        now = next;
    }
    (void)x_row;
    (void)x_column;
}

#endif
