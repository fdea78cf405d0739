/* SPDX-License-Identifier: Apache-2.0 */
/* Samples on circular axes, as libtally.axes turns them. */
#include <math.h>
#include <string.h>

#include "fill.h"

/* Integers of 64 bits, exactly: those that are no float64s by the remainders of integers. */
static void turn_integers(const array *a, uint64_t begin, uint64_t n, int64_t first, int64_t bins,
                          double *to)
{
    const int64_t step = a->stride ? a->stride : (int64_t)sizeof(int64_t);
    const char *at = (const char *)a->data + (int64_t)begin * step;
    const int64_t start = (first % bins + bins) % bins;
    for (uint64_t i = 0; i < n; i++, at += step) {
        const int64_t x = *(const int64_t *)(const void *)at;
        const int64_t rest = a->dtype == TALLY_U64 ? (int64_t)((uint64_t)x % (uint64_t)bins)
                                                   : (x % bins + bins) % bins;
        to[i] = (double)((rest - start + bins) % bins + first);
    }
}

static int are_exact(const double *x, uint64_t n)
{
    int exact = 1;
    for (uint64_t i = 0; i < n; i++)
        exact &= fabs(x[i]) < 0x1p52;
    return exact;
}

/* One that is far away, infinite or NaN. */
static __attribute__((noinline, cold)) double turn_one(double x, double lo, double hi)
{
    const double turn = hi - lo, rest = fmod(x - lo, turn);
    return isinf(x) ? INFINITY : lo + (rest < 0 ? rest + turn : rest);
}

/* Without a branch, which is as often taken as not. */
static inline double either(int which, double x, double y)
{
    uint64_t a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    a = b ^ ((a ^ b) & -(uint64_t)which);
    memcpy(&x, &a, sizeof x);
    return x;
}

/* What fmod leaves, without a division: x - lo - k × turn for a whole k is exact, if the product is
 * not rounded. Of a turn that is a float, and k below 2^28, it is not; else fma does not round it.
 */
static void turn_block(const double *x, uint64_t n, double lo, double hi, double *to)
{
    const double turn = hi - lo, turns = 1 / turn, last = nextafter(hi, lo), rounder = 0x1.8p52;
    const int is_float = (double)(float)turn == turn;
    const double most = is_float ? 0x1p28 : 0x1p50;
    for (uint64_t i = 0; i < n; i++) {
        const double apart = x[i] - lo, about = apart * turns;
        const double k = about + rounder - rounder,
                     rest = is_float ? apart - k * turn : fma(-k, turn, apart);
        double at = lo + (rest + either(rest < 0, turn, 0));
        if (__builtin_expect(!(fabs(about) < most), 0))
            at = turn_one(x[i], lo, hi);
        at = at > last && at < INFINITY ? last : at; /* which rounding can pass */
        to[i] = either((x[i] >= lo) & (x[i] < hi), x[i], at);
    }
}

int circular_turn(filling *w, uint32_t d)
{
    array *a = &w->samples[d];
    const filler *f = w->f;
    const tally_axis *axis = &f->axes[PLAIN][d];
    double memory[AT_ONCE];
    double *to = w->turned[d] = PyMem_Malloc((a->n ? a->n : 1) * sizeof *to);
    if (!to)
        return 0;
    const int wide = a->dtype == TALLY_I64 || a->dtype == TALLY_U64;
    PyThreadState *state = lock_release(a->n);
    for (uint64_t begin = 0; begin < a->n; begin += AT_ONCE) {
        const uint64_t n = a->n - begin < AT_ONCE ? a->n - begin : AT_ONCE;
        const double *x = array_doubles(a, begin, n, memory);
        if (wide && axis->kind == TALLY_AXIS_INTEGER && !are_exact(x, n))
            turn_integers(a, begin, n, axis->first, (int64_t)axis->bins, to + begin);
        else
            turn_block(x, n, f->lo[d], f->hi[d], to + begin);
    }
    lock_acquire(state);
    a->data = to;
    a->dtype = TALLY_F64;
    a->stride = 0;
    return 1;
}
