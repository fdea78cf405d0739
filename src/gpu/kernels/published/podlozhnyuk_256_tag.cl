/*
 * podlozhnyuk-256-tag (source 002): a histogram a warp without atomics. A counter is 27 bits of
 * count and, on top, 5 bits of the lane that wrote it last. To add 1 a lane writes count+1 under
 * its tag and reads it back: of several that collide one write wins, its lane sees its own tag and
 * is done; the others try again, at most 32 times.
 *
 * Corrected: as published it relies on a warp running in lock step, which current hardware does not
 * promise: lanes read, write and check at different times and increments are lost. Here the three
 * steps are kept apart by warp synchronisation, and a lane that is done goes on taking part. Where
 * the device promises no warps, 32 work-items in a row still share a histogram, and the
 * synchronisation is the group's barrier. The unsynchronised writes to one counter are a race by
 * design; one of them wins whole.
 */
#define TY_TAG_COUNT 0x07ffffffu

#if TY_WARP == 32
#if defined(__OPENCL_VERSION__)
TY_FN int podlozhnyuk_any(int x)
{
    ty_u32 result;
    __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(result)
                     : "r"(x));
    return (int)result;
}
#else
TY_FN int podlozhnyuk_any(int x)
{
    return __any_sync(0xffffffffu, x);
}
#endif
#define PODLOZHNYUK_ANY(x) podlozhnyuk_any(x)
#else
/* One word behind the tables tells whether any work-item of the group still has something to do. */
#define PODLOZHNYUK_ANY(x) podlozhnyuk_any_group(x, ty_local + TY_WARPS * 256)
TY_FN int podlozhnyuk_any_group(int x, volatile TY_LOCAL ty_u32 *flag)
{
    TY_BARRIER();
    if (TY_LID == 0)
        *flag = 0;
    TY_BARRIER();
    if (x)
        *flag = 1;
    TY_BARRIER();
    return *flag != 0;
}
#endif

/* Adds 1 to own[bin] for every lane with `wanted`; all lanes of the warp (without warps: of the
 * group) call it together. */
#define PODLOZHNYUK_ADD_TAGGED(own, bin, wanted)                                                   \
    do {                                                                                           \
        ty_u32 bin_ = (bin), count_ = 0;                                                           \
        int left_ = (wanted);                                                                      \
        while (PODLOZHNYUK_ANY(left_)) {                                                           \
            if (left_)                                                                             \
                count_ = tag | (((own)[bin_] & TY_TAG_COUNT) + 1);                                 \
            TY_WARP_SYNC();                                                                        \
            if (left_)                                                                             \
                (own)[bin_] = count_;                                                              \
            TY_WARP_SYNC();                                                                        \
            if (left_)                                                                             \
                left_ = (own)[bin_] != count_;                                                     \
            TY_WARP_SYNC();                                                                        \
        }                                                                                          \
    } while (0)

TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    volatile TY_LOCAL ty_u32 *own = ty_local + (TY_LID / 32) * 256;
    ty_u32 tag = (TY_LID & 31) << 27;
    ty_words w = ty_words_of(data + offset, n);
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    for (ty_u32 i = TY_LID; i < TY_WARPS * 256; i += TY_GROUP_SIZE)
        ty_local[i] = 0;
    TY_BARRIER();
    /* Whole rounds, so that every lane of a warp runs the loop equally often. */
    for (ty_u64 base = (ty_u64)TY_GROUP * TY_GROUP_SIZE; base < w.count; base += step) {
        int there = base + TY_LID < w.count;
        ty_u32 v = there ? w.word[base + TY_LID] : 0;
        PODLOZHNYUK_ADD_TAGGED(own, v & 255, there);
        PODLOZHNYUK_ADD_TAGGED(own, v >> 8 & 255, there);
        PODLOZHNYUK_ADD_TAGGED(own, v >> 16 & 255, there);
        PODLOZHNYUK_ADD_TAGGED(own, v >> 24, there);
    }
    /* Loose bytes are the first group's; all groups pass the barriers. */
    int loose = TY_GROUP == 0 && TY_LID < w.head + w.tail;
    ty_u32 last = loose ? ty_words_loose(&w, TY_LID) : 0;
    PODLOZHNYUK_ADD_TAGGED(own, last, loose);
    TY_BARRIER();
    for (ty_u32 bin = TY_LID; bin < 256; bin += TY_GROUP_SIZE) {
        ty_u32 sum = 0;
        for (ty_u32 warp = 0; warp < TY_WARPS; warp++)
            sum += ty_local[warp * 256 + bin] & TY_TAG_COUNT;
        out[(ty_u64)TY_GROUP * 256 + bin] = sum;
    }
    (void)axis;
    (void)slots;
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
