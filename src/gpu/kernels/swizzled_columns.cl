/*
 * swizzled-columns: packed columns, and perhaps a mask beside them, read four samples at a time
 * (columns.h) and counted in one scrambled table in local memory as swizzled does it. The table has
 * a word for every cell and one more for what is masked out, so that counting is arithmetic without
 * a branch. What flows mean is settled once a group, when the table is written out as slots.
 *
 * A line of `parts` groups counts a histogram: all their work-items together one row; with TY_ROWS
 * rows that may have gaps between them, 32 work-items a piece of one, or fewer a short one. Columns
 * that do not all begin a vector at the same sample are read a sample at a time.
 *
 * Local memory, in words:
 *
 *     0  cells + 1, in whole rows of 32   a word for every cell, moved in its row by the hash of
 *                                         swizzled.cl; the last cell is what is masked out
 */
#define TY_PIECE 4096u

/* The table: the key and what more the hash takes, and the biased cell of what is masked out. */
typedef struct swizzled_table {
    TY_LOCAL ty_u32 *words;
    ty_u32 key, more, dustbin;
} swizzled_table;

/* The word of a biased cell. Cells stay below 2^24, what their biases are multiples of; the keys
 * take it as they take rows. */
TY_FN TY_LOCAL ty_u32 *swizzled_word(const swizzled_table *t, ty_u32 biased)
{
    ty_u32 row = biased >> 5;
    return t->words + ((biased ^ (row * (row * t->key + t->more) >> 27)) & 0xffffffu);
}

TY_FN void swizzled_count_cell(const swizzled_table *t, ty_u32 cell, int kept)
{
    TY_ADD_LOCAL(swizzled_word(t, kept ? cell : t->dustbin), 1);
}

/* The samples that are counted: `units` of them from sample `head` on, and a mask. */
typedef struct swizzled_samples {
    ty_columns columns;
    TY_GLOBAL const ty_u8 *keep;
    ty_u32 head, units;
} swizzled_samples;

/* `ahead` units from unit q on, `step` apart, up to the last: behind it that is read again, so that
 * all loads are made without a branch, and not counted. */
TY_FN void swizzled_count_units(const swizzled_table *t, const ty_axes *axes,
                                const swizzled_samples *s, int masked, ty_u32 ahead, ty_u32 q,
                                ty_u32 step, ty_u32 last)
{
    ty_u32 m[TY_AHEAD];
    ty_unit units[TY_AHEAD];
    TY_UNROLL
    for (ty_u32 k = 0; k < ahead; k++) {
        ty_u32 unit = q + k * step < last ? q + k * step : last;
        TY_INDEX i = s->head + (TY_INDEX)unit * TY_UNIT;
        ty_columns_read(&s->columns, i, &units[k]);
        m[k] = masked ? *(TY_GLOBAL const ty_u32 *)(s->keep + i) : 0;
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < ahead; k++) {
        TY_UNROLL
        for (int j = 0; j < TY_UNIT; j++) {
            ty_u32 cell = ty_unit_cell(axes, &units[k], j);
            if (q + k * step <= last)
                swizzled_count_cell(t, cell, !masked || (m[k] >> (8 * j) & 0xffu));
        }
    }
}

#define TY_NO_LAST ~0u

/* Every step-th unit from unit q on. Where `masked` is 0 no byte of the mask is tested. */
TY_FN void swizzled_walk(const swizzled_table *t, const ty_axes *axes, const swizzled_samples *s,
                         int masked, ty_u32 q, ty_u32 step)
{
    for (; q + (TY_AHEAD - 1) * step < s->units; q += TY_AHEAD * step)
        swizzled_count_units(t, axes, s, masked, TY_AHEAD, q, step, TY_NO_LAST);
#if TY_ROWS
    if (q < s->units)
        swizzled_count_units(t, axes, s, masked, TY_AHEAD, q, step, s->units - 1);
#else
    for (; q < s->units; q += step)
        swizzled_count_units(t, axes, s, masked, 1, q, step, TY_NO_LAST);
#endif
}

/* Work-item `me` of `step` counts its part of the n samples of columns and mask. */
TY_FN void swizzled_count_samples(const swizzled_table *t, const ty_axes *axes, swizzled_samples *s,
                                  ty_u32 masked, TY_INDEX n, ty_u32 me, ty_u32 step)
{
    ty_u32 head = TY_UNIT; /* at which sample units start, if they do */
    for (ty_u32 h = 0; h < TY_UNIT && head == TY_UNIT; h++) {
        ty_u32 starts = !masked || ty_unit_starts(s->keep + h, 1);
        head = starts & ty_columns_start(&s->columns, h) ? h : head;
    }
    s->units = head < TY_UNIT && head < n ? (ty_u32)((n - head) / TY_UNIT) : 0;
    s->head = s->units ? head : 0;
    if (masked)
        swizzled_walk(t, axes, s, 1, me, step);
    else
        swizzled_walk(t, axes, s, 0, me, step);
    /* Samples that are in no unit. */
    for (ty_u32 q = me; q < n - (TY_INDEX)s->units * TY_UNIT; q += step) {
        TY_INDEX i = q < s->head ? q : q + (TY_INDEX)s->units * TY_UNIT;
        swizzled_count_cell(t, ty_columns_cell(axes, &s->columns, i), !masked || s->keep[i]);
    }
}

/* The group's table as slots, to its partial `out`. Cells that are bins are written, and cleared:
 * what is left in the table is outside some axis. */
TY_FN void swizzled_store(const swizzled_table *t, const ty_axes *axes, ty_u32 slots,
                          TY_GLOBAL ty_u32 *out)
{
    /* How many bins one of a coordinate's spans, which divides a bin's number: right as long as
     * their product is below 2^32. */
    ty_u32 tail[TY_DIMS], inverse[TY_DIMS], all = axes->all;
    TY_UNROLL
    for (int d = 0; d < TY_DIMS; d++) {
        tail[d] = (d ? tail[d - 1] : all) / axes->bins[d].bins;
        inverse[d] = 0xffffffffu / tail[d] + 1;
    }
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE) {
        ty_u32 rest = s, cell = 0, sum = 0;
        TY_UNROLL
        for (int d = 0; d < TY_DIMS; d++) {
            ty_u32 bin = tail[d] > 1 ? TY_MUL_HI(rest, inverse[d]) : rest;
            rest -= bin * tail[d];
            cell = cell * (axes->bins[d].bins + TY_CELLS_EXTRA) + bin + 1;
        }
        if (s < all) {
            TY_LOCAL ty_u32 *word = swizzled_word(t, cell + axes->bias);
            sum = *word;
            *word = 0;
        } else if (s == all + TY_SLOT_MASKED) {
            sum = *swizzled_word(t, t->dustbin);
        }
        out[s] = sum;
    }
    TY_GLOBAL_BARRIER();
    TY_BARRIER();
    for (ty_u32 c = TY_LID; c < axes->cells; c += TY_GROUP_SIZE) {
        ty_u32 sum = *swizzled_word(t, c + axes->bias);
        if (sum)
            TY_ADD_GLOBAL(&out[ty_axes_slot(axes, c)], sum);
    }
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
      TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first,
      ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies, TY_GLOBAL ty_u32 *out,
      ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, part = TY_GROUP - here * parts;
    ty_u64 b = (first + here) / actives;
    ty_axes axes;
    swizzled_samples samples;
    ty_axes_take(axis, &axes);
    const swizzled_table table = {ty_local, key, key * 0x9e3779b9u, axes.bias + axes.cells};
    for (ty_u32 k = lid; k < ((axes.cells + 32) & ~31u); k += TY_GROUP_SIZE)
        ty_local[k] = 0;
    TY_BARRIER();
#if TY_ROWS
    /* Whole rows, which one launch counts, or a part of a row that is alone and longer. */
    ty_u32 length = (ty_u32)(end - begin < columns ? end - begin : columns);
    ty_u32 step = 32; /* work-items of a piece: fewer where rows have no work for so many */
    while (step > 4 && length < step * TY_UNIT * TY_AHEAD)
        step /= 2;
    ty_u32 cuts = (length + TY_PIECE - 1) / TY_PIECE, me = lid & (step - 1);
    ty_u32 pieces = (ty_u32)(end - begin) / length * cuts;
    ty_u32 piece = ((lid >> 5) * parts + part) * (32 / step) + (lid & 31) / step;
    for (; piece < pieces; piece += parts * (TY_GROUP_SIZE / step)) {
        ty_u32 row = piece / cuts, from = (piece - row * cuts) * TY_PIECE;
        ty_u32 n = length - from < TY_PIECE ? length - from : TY_PIECE;
        ty_u64 at = begin + from;
#else
    {
        ty_u32 row = 0, me = part * TY_GROUP_SIZE + lid, step = parts * TY_GROUP_SIZE;
        ty_u64 at = begin, n = end - begin;
#endif
        samples.keep = TY_GRID_AT(mask, b, row, at);
        ty_columns_at(TY_PASS_SAMPLES b, row, at, &samples.columns);
        swizzled_count_samples(&table, &axes, &samples, masked, n, me, step);
    }
    TY_BARRIER();
    swizzled_store(&table, &axes, slots, out + (ty_u64)TY_GROUP * slots);
    (void)channel;
    (void)columns;
    (void)copies;
}
