/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for one dtype, DTYPE by name and TYPE in C; included once for each by
 * buckets_loops.c. */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

INLINE double NAME(value)(const unsigned char *from, size_t i)
{
    TYPE x;
    memcpy(&x, from + i * sizeof x, sizeof x);
    return (double)x;
}

/* Slots of n samples, at most BLOCK, whose buckets are `buckets`. */
INLINE void NAME(find_slots)(const unsigned char *from, size_t n, const consts *c, uint32_t steps,
                             const uint32_t *buckets, uint32_t *slots)
{
    for (size_t i = 0; i < n; i++)
        slots[i] = slot_of(NAME(value)(from, i), buckets[i], c, steps);
}

INLINE void NAME(find_buckets)(const unsigned char *from, const consts *c, ty_buckets_scale scale,
                               uint32_t *buckets)
{
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32h_store(buckets + i, bucket_of(x, c, scale));
    }
}

/* `scale` and, when 1, `steps` are constants. */
INLINE void NAME(stream)(const unsigned char *from, size_t n, const consts *c,
                         ty_buckets_scale scale, uint32_t steps, uint32_t *slots)
{
    _Alignas(64) uint32_t buckets[BLOCK];
    const size_t step = BLOCK * sizeof(TYPE);
    for (; n >= BLOCK; n -= BLOCK, from += step, slots += BLOCK) {
        for (size_t i = 0; i < step; i += 64)
            __builtin_prefetch(from + AHEAD + i);
        NAME(find_buckets)(from, c, scale, buckets);
        NAME(find_slots)(from, BLOCK, c, steps, buckets, slots);
    }
    if (n) {
        unsigned char whole[BLOCK * sizeof(TYPE)];
        memcpy(whole, from, n * sizeof(TYPE));
        for (size_t i = n; i < BLOCK; i++)
            memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
        NAME(find_buckets)(whole, c, scale, buckets);
        NAME(find_slots)(from, n, c, steps, buckets, slots);
    }
}

static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const consts c = consts_of(axis);
    if (c.scale == TY_BUCKETS_LINEAR && c.steps == 1)
        NAME(stream)(samples, n, &c, TY_BUCKETS_LINEAR, 1, slots);
    else if (c.scale == TY_BUCKETS_LINEAR)
        NAME(stream)(samples, n, &c, TY_BUCKETS_LINEAR, c.steps, slots);
    else if (c.steps == 1)
        NAME(stream)(samples, n, &c, TY_BUCKETS_BITS, 1, slots);
    else
        NAME(stream)(samples, n, &c, TY_BUCKETS_BITS, c.steps, slots);
    simd_leave();
}

#undef NAME
#undef PASTE
#undef PASTE2
#undef DTYPE
#undef TYPE
