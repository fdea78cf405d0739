/* SPDX-License-Identifier: Apache-2.0 */
/* Float64s of any decimal digits, exactly: by integers of as many bits as it takes. */
#include "io/number.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* No midpoint between float64 neighbours has more than 768 significant digits, so of digits past
 * these only whether one is not zero can matter. */
#define DIGITS_MAX 800

/* Natural numbers up to 2^3072: DIGITS_MAX digits, or 5^1143, take 2660 bits. */
#define BIG_WORDS 48

typedef struct ty_big {
    size_t size; /* words in use; the last is not zero */
    uint64_t words[BIG_WORDS];
} ty_big;

/* a = a × factor + add */
static void big_multiply(ty_big *a, uint64_t factor, uint64_t add)
{
    for (size_t i = 0; i < a->size; i++) {
        u128 t = (u128)a->words[i] * factor + add;
        a->words[i] = (uint64_t)t;
        add = (uint64_t)(t >> 64);
    }
    if (add)
        a->words[a->size++] = add;
}

static void big_multiply_fives(ty_big *a, int64_t count)
{
    for (; count >= 27; count -= 27)
        big_multiply(a, UINT64_C(7450580596923828125), 0); /* 5^27 */
    uint64_t rest = 1;
    for (; count > 0; count--)
        rest *= 5;
    big_multiply(a, rest, 0);
}

static int64_t big_bits(const ty_big *a)
{
    return a->size ? 64 * (int64_t)a->size - __builtin_clzll(a->words[a->size - 1]) : 0;
}

static void big_shift(ty_big *a, int64_t count)
{
    size_t words = (size_t)(count / 64);
    int bits = (int)(count % 64);
    uint64_t last = 0;
    if (bits) {
        for (size_t i = 0; i < a->size; i++) {
            uint64_t word = a->words[i];
            a->words[i] = word << bits | last;
            last = word >> (64 - bits);
        }
        if (last)
            a->words[a->size++] = last;
    }
    if (words && a->size) {
        memmove(a->words + words, a->words, a->size * sizeof a->words[0]);
        memset(a->words, 0, words * sizeof a->words[0]);
        a->size += words;
    }
}

/* a -= b if a >= b; whether it was. */
static int big_reduce(ty_big *a, const ty_big *b)
{
    if (a->size != b->size) {
        if (a->size < b->size)
            return 0;
    } else {
        size_t i = a->size;
        while (i > 0 && a->words[i - 1] == b->words[i - 1])
            i--;
        if (i > 0 && a->words[i - 1] < b->words[i - 1])
            return 0;
    }
    uint64_t borrow = 0;
    for (size_t i = 0; i < a->size; i++) {
        uint64_t x = a->words[i], y = i < b->size ? b->words[i] : 0, difference = x - y - borrow;
        borrow = x < y || (x == y && borrow);
        a->words[i] = difference;
    }
    while (a->size && a->words[a->size - 1] == 0)
        a->size--;
    return 1;
}

/* Bits of the float64 nearest to (quotient + fraction) × 2^exponent, where `sticky` says that
 * 0 < fraction < 1, and quotient has 63 or 64 bits. */
static uint64_t round_bits(uint64_t quotient, int64_t exponent, int sticky)
{
    int zeros = __builtin_clzll(quotient);
    quotient <<= zeros;
    exponent += 63 - zeros + 1023; /* of the leading bit, biased */
    if (exponent >= 2047)
        return TY_NUMBER_INFINITY;
    int64_t drop = exponent > 0 ? 11 : 12 - exponent;
    if (drop > 64)
        return 0;
    uint64_t kept = drop < 64 ? quotient >> drop : 0, rest = quotient << (64 - drop);
    uint64_t half = UINT64_C(1) << 63;
    kept += rest > half || (rest == half && (sticky || (kept & 1)));
    return exponent > 0 ? ((uint64_t)(exponent - 1) << 52) + kept : kept;
}

/* a × 10^exponent, plus less than one unit more of it if `sticky`. Restoring division of two big
 * integers gives 64 bits of the quotient and whether more follow. */
static uint64_t divide_bits(ty_big *a, int64_t exponent, int sticky)
{
    ty_big b = {1, {1}};
    big_multiply_fives(exponent < 0 ? &b : a, exponent < 0 ? -exponent : exponent);
    int64_t up = big_bits(&b) - big_bits(a);
    big_shift(up > 0 ? a : &b, up > 0 ? up : -up);
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        quotient = quotient << 1 | (uint64_t)big_reduce(a, &b);
        big_shift(a, 1);
    }
    return round_bits(quotient, exponent - up - 63, sticky || a->size);
}

uint64_t ty_number_exact(uint64_t w, int64_t exponent)
{
    ty_big a = {1, {w}};
    return divide_bits(&a, exponent, 0);
}

uint64_t ty_number_exact_text(const char *p, const char *end, int64_t exponent)
{
    ty_big a;
    int64_t taken = 0, dropped = 0;
    int sticky = 0;
    a.size = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (digit > 9 || (digit == 0 && a.size == 0))
            continue;
        if (taken < DIGITS_MAX) {
            big_multiply(&a, 10, digit);
            taken++;
        } else {
            sticky |= digit != 0;
            dropped++;
        }
    }
    exponent += dropped;
    if (a.size == 0 || taken + exponent < -330)
        return 0;
    if (taken + exponent > 310)
        return TY_NUMBER_INFINITY;
    return divide_bits(&a, exponent, sticky);
}
