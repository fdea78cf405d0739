/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extremes of one dtype; included once for each by stats_loops.h with
 *   T     the keys' type, ordered as the samples; U its unsigned twin
 *   KIND  0: the sample is the key; 1: unsigned, shifted to signed; 2: floating point
 *   INFINITE  KIND 2: the bits of +infinity
 */

/* Samples at any address, of any declared type. */
typedef U NAME(any) __attribute__((may_alias, aligned(1)));

/* Its own inverse. Negative floats order by falling magnitude. */
static inline T NAME(key)(U bits)
{
#if KIND == 0
    return (T)bits;
#elif KIND == 1
    return (T)(bits ^ (U)1 << (8 * sizeof(U) - 1));
#else
    T s = (T)bits;
    return (T)(s ^ (T)((U)(s >> (8 * sizeof(T) - 1)) >> 1));
#endif
}

/* The smallest and the largest key. */
static inline void NAME(keys)(const NAME(any) * x, size_t count, T *lo, T *hi)
{
    T least = NAME(key)(x[0]), most = least;
    for (size_t i = 0; i < count; i++) {
        T k = NAME(key)(x[i]);
        least = k < least ? k : least;
        most = k > most ? k : most;
    }
    *lo = least;
    *hi = most;
}

#if KIND < 2

static void NAME(range)(const void *samples, size_t count, int64_t *lo, int64_t *hi)
{
    T a, b;
    NAME(keys)(samples, count, &a, &b);
    *lo = (int64_t)NAME(key)((U)a);
    *hi = (int64_t)NAME(key)((U)b);
}

#else

/* Samples whose key is above `limit`; at most 4096, so that U can count them. */
static size_t NAME(above)(const NAME(any) * x, size_t count, T limit)
{
    U n = 0;
    for (size_t i = 0; i < count; i++)
        n = (U)(n + (NAME(key)(x[i]) > limit));
    return n;
}

/* One block that has something other than finite samples. */
static void NAME(sift)(const NAME(any) * x, size_t count, T *lo, T *hi, tally_stats *s)
{
    const T top = (T)INFINITE, bottom = (T)(-top - 1);
    T least = top, most = bottom;
    for (size_t i = 0; i < count; i++) {
        T k = NAME(key)(x[i]), up = k > bottom ? k : top, down = k < top ? k : bottom;
        least = up < least ? up : least;
        most = down > most ? down : most;
    }
    size_t past = NAME(above)(x, count, top), from = NAME(above)(x, count, (T)(top - 1));
    size_t inside = NAME(above)(x, count, bottom), within = NAME(above)(x, count, (T)(bottom - 1));
    *lo = least;
    *hi = most;
    s->nan += past + (count - within);
    s->plus_inf += from - past;
    s->minus_inf += within - inside;
}

/* Counts the kinds of samples; *lo and *hi get the bits of the finite extremes, if there are any.
 */
static void NAME(floats)(const void *samples, size_t count, tally_stats *s, int64_t *lo,
                         int64_t *hi)
{
    const NAME(any) *x = samples;
    const T top = (T)INFINITE, bottom = (T)(-top - 1);
    T least = top, most = bottom;
    for (size_t at = 0; at < count; at += 4096) {
        size_t n = count - at < 4096 ? count - at : 4096;
        T a, b;
        NAME(keys)(x + at, n, &a, &b);
        if (a <= bottom || b >= top)
            NAME(sift)(x + at, n, &a, &b, s);
        least = a < least ? a : least;
        most = b > most ? b : most;
    }
    s->finite = count - s->nan - s->minus_inf - s->plus_inf;
    *lo = (int64_t)NAME(key)((U)least);
    *hi = (int64_t)NAME(key)((U)most);
}

#endif

#undef T
#undef U
#undef KIND
#undef NAME
#undef INFINITE
