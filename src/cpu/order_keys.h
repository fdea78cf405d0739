/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics of one width of keys; included once for each by order_loops.c with
 *   T     the keys' type, U its unsigned twin
 *   NAME  a name for this width
 */

/* Adds how many keys are below and up to the bracket's ends. */
static void NAME(tell)(const T *keys, size_t count, ty_order_bracket *bracket)
{
    const T lo = (T)bracket->lo, hi = (T)bracket->hi;
    U below_lo = 0, to_lo = 0, to_hi = 0;
    for (size_t i = 0; i < count; i++) {
        below_lo += keys[i] < lo;
        to_lo += keys[i] <= lo;
        to_hi += keys[i] <= hi;
    }
    bracket->below_lo += below_lo;
    bracket->to_lo += to_lo;
    bracket->to_hi += to_hi;
}

/* Keys strictly between lo and hi to `to`; returns how many. */
static size_t NAME(keep)(const T *keys, size_t count, T lo, T hi, T *to)
{
    size_t kept = 0, i = 0;
#if defined(__AVX512F__)
    enum { LANES = 64 / sizeof(T) };
    for (; i + LANES <= count; i += LANES) {
        const __m512i k = _mm512_loadu_si512(keys + i);
        const unsigned inside = BETWEEN(k, lo, hi);
        if (inside) {
            _mm512_storeu_si512(to + kept, COMPRESS(inside, k));
            kept += (unsigned)__builtin_popcount(inside);
        }
    }
#endif
    for (; i < count; i++)
        if (keys[i] > lo && keys[i] < hi) /* few are: the branch is foreseen */
            to[kept++] = keys[i];
    return kept;
}

static size_t NAME(scan)(const T *keys, size_t count, ty_order_bracket *brackets,
                         unsigned bracket_count, T *to)
{
    size_t kept = 0;
    for (unsigned b = 0; b < bracket_count; b++) {
        const T lo = (T)brackets[b].lo, hi = (T)brackets[b].hi;
        NAME(tell)(keys, count, &brackets[b]);
        if (lo == hi)
            continue;
        const size_t inside = NAME(keep)(keys, count, lo, hi, to + kept);
        brackets[b].inside += inside;
        kept += inside;
    }
    return kept;
}

static size_t NAME(pick)(T *keys, const unsigned char *mask, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        keys[kept] = keys[i];
        kept += mask[i] != 0;
    }
    return kept;
}

/* Keys below the pivot, or above it, to the front; returns how many. */
static size_t NAME(keep_side)(T *keys, size_t count, T pivot, int above)
{
    size_t kept = 0, i = 0;
#if defined(__AVX512F__)
    enum { LANES = 64 / sizeof(T) };
    for (; i + LANES <= count; i += LANES) {
        const __m512i k = _mm512_loadu_si512(keys + i);
        const unsigned side = above ? ABOVE(k, pivot) : BELOW(k, pivot);
        _mm512_storeu_si512(keys + kept, COMPRESS(side, k));
        kept += (unsigned)__builtin_popcount(side);
    }
#endif
    for (; i < count; i++) {
        const T key = keys[i];
        keys[kept] = key;
        kept += above ? key > pivot : key < pivot;
    }
    return kept;
}

/* Keys below the pivot to the front, the others behind them, without a branch. */
static void NAME(partition)(T *keys, size_t count, T pivot)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const T key = keys[i];
        keys[i] = keys[at];
        keys[at] = key;
        at += key < pivot;
    }
}

/* The median of three keys drawn by *state. */
static T NAME(pivot)(const T *keys, size_t count, uint64_t *state)
{
    T three[3];
    for (int i = 0; i < 3; i++) {
        *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): of no keys none is drawn */
        three[i] = keys[(*state >> 33) % count];
    }
    const T low = three[0] < three[1] ? three[0] : three[1];
    const T high = three[0] < three[1] ? three[1] : three[0];
    return three[2] < low ? low : three[2] > high ? high : three[2];
}

/* How many keys are below the pivot, and up to it; `some` of them at a time, for U to hold. */
static void NAME(place)(const T *keys, size_t count, T pivot, size_t *below, size_t *upto)
{
    const size_t some = (size_t)1 << 30;
    *below = 0;
    *upto = count;
    for (size_t begin = 0; begin < count; begin += some) {
        const size_t end = count - begin < some ? count : begin + some;
        U under = 0, over = 0;
        for (size_t i = begin; i < end; i++) {
            under += keys[i] < pivot;
            over += keys[i] > pivot;
        }
        *below += under;
        *upto -= over;
    }
}

/* Ranks are those of the whole; keys[0] has rank `base`. Each step settles the ranks that equal the
 * pivot and goes on with the keys of one side, having done the other where it has ranks too: the
 * depth is that of the ranks' number. */
static void NAME(select)(T *keys, size_t count, uint64_t base, const uint64_t *ranks,
                         unsigned rank_count, int64_t *found, uint64_t *state)
{
    while (rank_count) {
        const T pivot = NAME(pivot)(keys, count, state);
        size_t below, upto;
        unsigned left = 0, same;
        NAME(place)(keys, count, pivot, &below, &upto);
        while (left < rank_count && ranks[left] < base + below)
            left++;
        for (same = left; same < rank_count && ranks[same] < base + upto; same++)
            found[same] = pivot;
        if (same == rank_count) {
            count = NAME(keep_side)(keys, count, pivot, 0);
            rank_count = left;
            continue;
        }
        if (left) {
            NAME(partition)(keys, count, pivot);
            NAME(select)(keys, below, base, ranks, left, found, state);
            keys += below;
            count -= below;
        }
        count = NAME(keep_side)(keys, count, pivot, 1);
        base += upto;
        ranks += same;
        found += same;
        rank_count -= same;
    }
}

static U NAME(span)(const T *keys, size_t count, T *least)
{
    T low = keys[0], high = keys[0];
    for (size_t i = 0; i < count; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    *least = low;
    return (U)high - (U)low;
}

/* Keys of many ranks: counts the keys in buckets of equal width, drops those of buckets without a
 * rank, and numbers the ranks among the others. Returns how many are left. */
static size_t NAME(drop)(T *keys, size_t count, uint64_t *ranks, unsigned rank_count, void *scratch)
{
    uint32_t *counts = scratch;
    unsigned char *wanted = (unsigned char *)(counts + BUCKETS);
    uint64_t before = 0, dropped = 0;
    unsigned shift = 0, r = 0;
    T least;
    U span = NAME(span)(keys, count, &least);
    memset(scratch, 0, TY_ORDER_SCRATCH);
    while (span >> shift >= BUCKETS)
        shift++;
    for (size_t i = 0; i < count; i++)
        counts[((U)keys[i] - (U)least) >> shift]++;
    for (unsigned b = 0; b < BUCKETS; b++) {
        for (; r < rank_count && ranks[r] < before + counts[b]; r++) {
            ranks[r] -= dropped;
            wanted[b] = 1;
        }
        before += counts[b];
        dropped += wanted[b] ? 0 : counts[b];
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const T key = keys[i];
        keys[kept] = key;
        kept += wanted[((U)key - (U)least) >> shift];
    }
    return kept;
}

#undef ABOVE
#undef BELOW
#undef BETWEEN
#undef COMPRESS
#undef T
#undef U
#undef NAME
