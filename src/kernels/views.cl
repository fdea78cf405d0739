/*
 * views: any layout at once. A line of `parts` groups counts a histogram, `first` and on, each with a
 * table of its own in local memory, of which every counter has `copies` (a power of two) that
 * neighbouring work-items take in turn. Where local memory does not hold the table (TY_FAR), a
 * histogram's groups count into one in global memory, the samples of one slot that follow each other
 * put together.
 */
#if TY_FAR
#define TY_COUNT_SLOT(s)                                                                           \
    do {                                                                                           \
        if ((s) != run) {                                                                          \
            if (length)                                                                            \
                TY_ADD_GLOBAL(&table[run], length);                                                \
            run = (s);                                                                             \
            length = 0;                                                                            \
        }                                                                                          \
        length++;                                                                                  \
    } while (0)
#else
#define TY_COUNT_SLOT(s) TY_ADD_LOCAL(&table[(s)*copies], 1)
#endif

/* An element's samples and mask, then on by a step. */
#define TY_NEXT(e, keep)                                                                           \
    do {                                                                                           \
        TY_READ_SAMPLES                                                                            \
        (keep) = masked ? *mask_p : 1;                                                             \
        TY_WALK_STEP();                                                                            \
        TY_ON_SAMPLES                                                                              \
        TY_WALK_ON(mask);                                                                          \
    } while (0)
#define TY_SLOT(e, keep)                                                                           \
    ((keep) ? ty_view_slot(e, slots - TY_SLOT_EXTRA, axis) : slots - TY_SLOT_EXTRA + TY_SLOT_MASKED)

/* All elements of a work-item; twice in a kernel, so that aligned samples are read without a test. */
#define TY_COUNT_ALL(is_aligned)                                                                   \
    do {                                                                                           \
        const int aligned = is_aligned;                                                            \
        for (; i + (TY_AHEAD - 1) * step < end; i += TY_AHEAD * step) {                            \
            ty_element ahead[TY_AHEAD];                                                            \
            ty_u32 keep[TY_AHEAD];                                                                 \
            TY_UNROLL                                                                              \
            for (int k = 0; k < TY_AHEAD; k++) {                                                   \
                ty_element e;                                                                      \
                TY_NEXT(e, keep[k]);                                                               \
                ahead[k] = e;                                                                      \
            }                                                                                      \
            TY_UNROLL                                                                              \
            for (int k = 0; k < TY_AHEAD; k++) {                                                   \
                ty_u32 s = TY_SLOT(ahead[k], keep[k]);                                             \
                TY_COUNT_SLOT(s);                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (; i < end; i += step) {                                                               \
            ty_element e;                                                                          \
            ty_u32 keep;                                                                           \
            TY_NEXT(e, keep);                                                                      \
            ty_u32 s = TY_SLOT(e, keep);                                                           \
            TY_COUNT_SLOT(s);                                                                      \
        }                                                                                          \
    } while (0)

TY_KERNEL(TY_GROUP_MAX) count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
                              TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end,
                              ty_u64 first, ty_u32 actives, ty_u32 parts, ty_u32 slots,
                              ty_u32 copies, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts;
    ty_u64 b = (first + here) / actives, step = (ty_u64)parts * TY_GROUP_MAX;
    ty_i64 offset = channel * ty_channel_of(axis, first + here - b * actives);
    ty_u64 i = begin + (ty_u64)(TY_GROUP - here * parts) * TY_GROUP_MAX + lid;
    TY_WALK_VIEW(i, step);
    TY_WALK_SAMPLES
    TY_WALK_GRID(mask, b, 0);
#if TY_FAR
    TY_GLOBAL ty_u32 *table = out + (ty_u64)here * slots;
    ty_u32 run = 0, length = 0;
    (void)copies;
#else
    TY_LOCAL ty_u32 *table = ty_local + (lid & (copies - 1));
    for (ty_u32 k = lid; k < slots * copies; k += TY_GROUP_MAX)
        ty_local[k] = 0;
    TY_BARRIER();
#endif
    if (TY_SAMPLES_ALIGNED(offset))
        TY_COUNT_ALL(1);
    else
        TY_COUNT_ALL(0);
#if TY_FAR
    if (length)
        TY_ADD_GLOBAL(&table[run], length);
    (void)ty_local;
#else
    TY_BARRIER();
    for (ty_u32 k = lid; k < slots; k += TY_GROUP_MAX) {
        ty_u32 sum = 0;
        for (ty_u32 j = 0; j < copies; j++)
            sum += ty_local[k * copies + ((lid + j) & (copies - 1))];
        out[(ty_u64)TY_GROUP * slots + k] = sum;
    }
#endif
}
