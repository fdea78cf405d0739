#include "io/number.h"

#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
#define NOINLINE __attribute__((noinline))
#define INLINE   inline __attribute__((always_inline))

#define DIGITS_EXACT 19 /* as many decimal digits always fit in 64 bits */

/* No midpoint between float64 neighbours has more than 768 significant digits, so of digits past
 * these only whether one is not zero can matter. */
#define DIGITS_MAX 800

/* ---- Digits, eight at a time ---- */

#define ZEROS UINT64_C(0x3030303030303030)

static inline uint64_t load_eight(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline uint32_t load_four(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

/* Eight bytes of value 0 … 9, the first digit in the lowest byte, as a number. */
static inline uint64_t join_eight(uint64_t v)
{
    v = v * 10 + (v >> 8); /* pairs, in bytes 0, 2, 4, 6 */
    uint64_t high = (v & 0x000000ff000000ff) * ((UINT64_C(1000000) << 32) + 100);
    uint64_t low = ((v >> 16) & 0x000000ff000000ff) * ((UINT64_C(10000) << 32) + 1);
    return (high + low) >> 32;
}

/* The top bit of each of eight bytes above 9; a carry spoils only bytes after the first such one.
 */
static inline uint64_t not_digits(uint64_t v)
{
    return ((v + 0x7676767676767676) | v) & 0x8080808080808080;
}

static const uint32_t tens[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Appends the digits at `p` to *w (which wraps above 64 bits) and returns where they stop. */
static inline const char *scan_digits(const char *p, const char *end, uint64_t *w)
{
    while (end - p >= 8) {
        uint64_t v = load_eight(p) ^ ZEROS, other = not_digits(v);
        if (other) {
            int bits = __builtin_ctzll(other) & 0x38;
            *w = *w * tens[bits >> 3] + join_eight(v << 8 << (56 - bits));
            return p + (bits >> 3);
        }
        *w = *w * tens[8] + join_eight(v);
        p += 8;
    }
    for (; p < end && (unsigned)(*p - '0') < 10; p++)
        *w = *w * 10 + (unsigned)(*p - '0');
    return p;
}

/* ---- Bits of a float64 ---- */

static inline double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define INFINITY_BITS (UINT64_C(0x7ff) << 52)

/* ---- Exact, by big integers ---- */

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
        return INFINITY_BITS;
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

static NOINLINE uint64_t exact_word(uint64_t w, int64_t exponent)
{
    ty_big a = {1, {w}};
    return divide_bits(&a, exponent, 0);
}

/* The digits in [p, end), a point among them passed over, × 10^exponent, where `exponent` belongs
 * to the last digit. */
static NOINLINE uint64_t exact_text(const char *p, const char *end, int64_t exponent)
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
        return INFINITY_BITS;
    return divide_bits(&a, exponent, sticky);
}

/* ---- 64 bits × a power of ten ---- */

/*
 * Bits of the float64 nearest to w × 10^q.
 *
 * With W = w shifted up to bit 63 and P the infinitely precise table entry, the result's bits are
 * those of W·P. The high word T of the table gives W·T <= W·P < W·T + 2^64 (in units of the
 * product's low word), which settles the top 54 bits unless all bits below them are ones. Then the
 * low word of the table joins in: U = floor(W·table / 2^64) has the true value in [U, U+2) for q >=
 * 0 and in (U-1, U+1) for q < 0.
 *  - q >= 0: doubt is left only where U+1 carries into the bits kept.
 *  - q < 0: only where U has nothing but zeros below the bits kept. For q >= -27 that means
 * equality: W·2^k and d·5^-q, both integers below 2^118, would otherwise differ by more than U's
 * precision. A tie needs w·5^q or w/5^-q to be an integer of exactly 54 bits, hence -4 <= q <= 23;
 * a subnormal result (q < -300) is never one.
 */
static inline uint64_t scale(uint64_t w, int64_t q)
{
    if (w == 0)
        return 0;
    if ((uint64_t)(q - TY_NUMBER_POWER_FIRST) > TY_NUMBER_POWER_LAST - TY_NUMBER_POWER_FIRST)
        return q < 0 ? 0 : INFINITY_BITS;
    const uint64_t *power = ty_number_powers[q - TY_NUMBER_POWER_FIRST];
    int zeros = __builtin_clzll(w);
    uint64_t shifted = w << zeros;
    u128 product = (u128)shifted * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1ff) == 0x1ff) {
        uint64_t more = (uint64_t)((u128)shifted * power[1] >> 64);
        low += more;
        high += low < more;
        if (q >= 0 ? (high & 0x1ff) == 0x1ff && low >= UINT64_MAX - 1
                   : q < -27 && low == 0 && (high & 0x1ff) == 0)
            return exact_word(w, q);
    }
    int top = (int)(high >> 63), shift = 9 + top;
    uint64_t m = high >> shift; /* 53 bits and the one that rounds */
    /* floor(q log2 10), right for |q| <= 400; then the exponent of the leading bit, biased */
    int64_t exponent = (q * 217706 >> 16) + 63 - zeros + top + 1023;
    if (exponent <= 0) {
        m = exponent < -60 ? 0 : m >> (1 - exponent);
        return (m >> 1) + (m & 1); /* 2^52 here is the smallest normal number's bits */
    }
    if (low == 0 && (m & 3) == 1 && q >= -4 && q <= 23 && m << shift == high)
        m &= ~UINT64_C(1); /* a tie, and the number below is even */
    m = (m >> 1) + (m & 1);
    uint64_t bits =
        ((uint64_t)(exponent - 1) << 52) + m; /* m's bit 52 (or 53) raises the exponent */
    return bits < INFINITY_BITS ? bits : INFINITY_BITS;
}

/* ---- The whole ---- */

/* More than DIGITS_EXACT digits in [p, end): usually the first ones decide. */
static uint64_t long_bits(const char *p, const char *end, int64_t exponent)
{
    const char *digits = p;
    uint64_t w = 0;
    int64_t dropped = 0;
    int taken = 0, more = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (digit > 9)
            continue;
        if (taken < DIGITS_EXACT) {
            w = w * 10 + digit;
            taken += w != 0;
        } else {
            more |= digit != 0;
            dropped++;
        }
    }
    uint64_t bits = scale(w, exponent + dropped);
    if (!more || bits == scale(w + 1, exponent + dropped))
        return bits;
    return exact_text(digits, end, exponent);
}

static const char *match(const char *p, const char *end, const char *word)
{
    for (; *word; word++, p++) {
        if (p == end || (*p | 0x20) != *word)
            return NULL;
    }
    return p;
}

static const char *parse_word(const char *p, const char *end, uint64_t sign, double *value)
{
    const char *after = match(p, end, "nan");
    if (after) {
        *value = from_bits(UINT64_C(0x7ff8) << 48 | sign);
        return after;
    }
    after = match(p, end, "inf");
    if (!after)
        return NULL;
    *value = from_bits(INFINITY_BITS | sign);
    const char *longer = match(after, end, "inity");
    return longer ? longer : after;
}

/* Adds the exponent at `p` (an 'e') to *exponent and returns where it stops; `p` if it is none. */
static inline const char *scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    const char *e = p + 1;
    if (e == end)
        return p;
    int64_t negative = -(int64_t)(*e == '-');
    if (__builtin_expect(*e == '-' || *e == '+', 1))
        e++;
    if (e == end || (unsigned)(*e - '0') > 9)
        return p;
    int64_t x = 0;
    for (; e < end && (unsigned)(*e - '0') < 10; e++) {
        if (x <
            INT64_C(100000000000000000)) /* beyond any text's length: nothing changes any more */
            x = x * 10 + (*e - '0');
    }
    *exponent += (x ^ negative) - negative;
    return e;
}

/* Any number, with every read checked against `end`. */
static NOINLINE const char *parse_any(const char *p, const char *end, double *value)
{
    if (p == end)
        return NULL;
    uint64_t sign = 0;
    if (*p == '-') {
        sign = UINT64_C(1) << 63;
        p++;
    } else if (*p == '+') {
        p++;
    }
    const char *digits = p;
    uint64_t w = 0;
    int64_t exponent = 0;
    p = scan_digits(p, end, &w);
    ptrdiff_t count = p - digits;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = scan_digits(fraction, end, &w);
        exponent = fraction - p;
        count -= exponent;
    }
    if (count == 0)
        return parse_word(digits, end, sign, value);
    const char *digits_end = p;
    if (p < end && (*p | 0x20) == 'e')
        p = scan_exponent(p, end, &exponent);
    *value = from_bits(sign | (count > DIGITS_EXACT ? long_bits(digits, digits_end, exponent)
                                                    : scale(w, exponent)));
    return p;
}

/* ---- The usual shapes, quickly ---- */

/*
 * What bounds a walk along a column is how soon the end of a number is known, for the next one
 * starts there. So the end is found first, from words of eight bytes, by arithmetic that does not
 * depend on anything but the text; the value follows beside the search in the next number. Each
 * function below ends in the next so that none has to save registers. They may read WINDOW bytes
 * from p.
 */
#define WINDOW 32

/* 10^i exactly, and its negative: a 53-bit number times or by one of these is rounded once. The
 * rows are longer so that a shift finds the second. */
static const double powers[2][32] = {
    {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22},
    {-1e0,  -1e1,  -1e2,  -1e3,  -1e4,  -1e5,  -1e6,  -1e7,  -1e8,  -1e9,  -1e10, -1e11,
     -1e12, -1e13, -1e14, -1e15, -1e16, -1e17, -1e18, -1e19, -1e20, -1e21, -1e22}};

static NOINLINE const char *finish(const char *after, double *value, uint64_t minus, uint64_t w,
                                   int64_t exponent)
{
    *value = from_bits(scale(w, exponent) | minus << 63);
    return after;
}

static NOINLINE const char *finish_any_exponent(const char *after, const char *end, double *value,
                                                uint64_t minus, uint64_t w, int64_t exponent)
{
    after = scan_exponent(after, end, &exponent);
    *value = from_bits(scale(w, exponent) | minus << 63);
    return after;
}

/* Whether `c`, behind digits, may belong to the number. Few delimiters are above '-'. */
static inline int goes_on(char c)
{
    return c > '-' && (c == '.' || (c | 0x20) == 'e');
}

/* `after` is at an 'e'; usually a sign and two digits follow. `is_wide`: w may be above 2^53. */
static INLINE const char *finish_exponent(const char *after, const char *end, double *value,
                                          uint64_t minus, uint64_t w, int64_t exponent, int is_wide)
{
    uint32_t x = load_four(after + 1) - 0x3030302b; /* + as 0, - as 2, digits as 0 … 9 */
    if ((((x + 0x00060600) | x) & 0x00f0f0fd) || (x >> 24) < 10)
        return finish_any_exponent(after, end, value, minus, w, exponent);
    int64_t size = (x >> 8 & 15) * 10 + (x >> 16 & 15), negative = -(int64_t)(x >> 1 & 1);
    exponent += (size ^ negative) - negative;
    after += 4;
    if (is_wide || (uint64_t)(exponent + 22) > 44)
        return finish(after, value, minus, w, exponent);
    if (exponent > 0)
        *value = (double)(int64_t)w * powers[minus][exponent];
    else
        *value = (double)(int64_t)w / powers[minus][-exponent];
    return after;
}

/* The number of `count` >= 1 digits at `p` after the digits of `w`. */
static inline uint64_t join_digits(const char *p, unsigned count, uint64_t w)
{
    if (count > 8) {
        w = w * tens[8] + join_eight(load_eight(p) ^ ZEROS);
        count -= 8;
        p += 8;
    }
    if (count > 8) {
        w = w * tens[8] + join_eight(load_eight(p) ^ ZEROS);
        count -= 8;
        p += 8;
    }
    return w * tens[count] + join_eight((load_eight(p) ^ ZEROS) << (64 - 8 * count));
}

/* The first eight characters at `p`, of which the one at `at` is a point: their seven digits, as
 * bytes of value, with the last in byte 6. */
static inline uint64_t load_around_point(const char *p, unsigned at)
{
    uint64_t v = load_eight(p) ^ ZEROS, before = (UINT64_C(1) << 8 * at) - 1;
    return (v & before) | (v >> 8 & ~before);
}

/* More than eight characters, not counting a sign; the point is at `at` and the end at `size`. */
static NOINLINE const char *parse_long_decimal(const char *p, const char *end, double *value,
                                               uint64_t minus, unsigned at, unsigned size)
{
    if (size - 1 - minus > DIGITS_EXACT)
        return parse_any(p, end, value);
    const char *after = p + size;
    int64_t exponent = (int64_t)at + 1 - size;
    uint64_t w = join_eight(load_around_point(p + minus, at - (unsigned)minus) << 8);
    size -= (unsigned)minus;
    w = join_digits(p + minus + 8, size - 8, w);
    if (*after > ';' && (*after | 0x20) == 'e')
        return finish_exponent(after, end, value, minus, w, exponent, size > 16);
    if (size > 16) /* 16 digits and more: mostly above 2^53 */
        return finish(after, value, minus, w, exponent);
    *value = (double)(int64_t)w / powers[minus][-exponent];
    return after;
}

/* [-] 1 to 7 digits, a point, …; the lowest bit of `other` marks the point. */
static NOINLINE const char *parse_decimal(const char *p, const char *end, double *value,
                                          uint64_t minus, uint64_t other)
{
    unsigned at = (unsigned)__builtin_ctzll(other) >> 3;
    uint64_t next = not_digits(load_eight(p + 8) ^ ZEROS);
    uint64_t word = other & (other - 1); /* what is no digit behind the point */
    unsigned size = 8;
    /* Lengths around eight characters are common and cannot be predicted: all is kept at hand for a
     * conditional move, which compilers would otherwise turn into a branch. */
    __asm__("" : "+r"(next), "+r"(size));
    size = word ? 0 : size;
    word = word ? word : next;
    __asm__("" : "+r"(word), "+r"(size));
    if (!word) {
        word = not_digits(load_eight(p + 16) ^ ZEROS);
        size = 16;
        if (!word)
            return parse_any(p, end, value);
    }
    size += (unsigned)__builtin_ctzll(word) >> 3;
    unsigned places = size - at - 1, length = size - (unsigned)minus;
    if (length > 8)
        return parse_long_decimal(p, end, value, minus, at, size);
    uint64_t w =
        join_eight(load_around_point(p + minus, at - (unsigned)minus) << (72 - 8 * length));
    const char *after = p + size;
    if (*after > ';' && (*after | 0x20) == 'e')
        return finish_exponent(after, end, value, minus, w, -(int64_t)places, 0);
    *value = (double)(int64_t)w / powers[minus][places];
    return after;
}

/* 16 characters and more. */
static NOINLINE const char *parse_long_integer(const char *p, const char *end, double *value,
                                               uint64_t minus)
{
    uint64_t other = not_digits(load_eight(p + 16) ^ ZEROS);
    unsigned size = 16 + (other ? (unsigned)__builtin_ctzll(other) >> 3 : 8);
    unsigned count = size - (unsigned)minus;
    if (count > 18 || goes_on(p[size]))
        return parse_any(p, end, value);
    uint64_t w = join_digits(p + minus, count, 0);
    *value = (double)(int64_t)w * powers[minus][0];
    return p + size;
}

/* `v` has the first eight characters, all digits but for a sign. */
static NOINLINE const char *parse_integer(const char *p, const char *end, double *value,
                                          uint64_t minus, uint64_t v)
{
    uint64_t x = load_eight(p + 8) ^ ZEROS, other = not_digits(x);
    if (!other)
        return parse_long_integer(p, end, value, minus);
    unsigned bits = (unsigned)__builtin_ctzll(other) & 0x38;
    const char *after = p + 8 + (bits >> 3);
    if (goes_on(*after))
        return parse_any(p, end, value);
    uint64_t w = join_eight(v ^ (-minus & ('-' ^ '0'))) * tens[bits >> 3] +
                 join_eight(x << 8 << (56 - bits));
    *value = (double)(int64_t)w * powers[minus][0];
    return after;
}

const char *ty_number_parse(const char *p, const char *end, double *value)
{
    if (end - p < WINDOW)
        return parse_any(p, end, value);
    uint64_t v = load_eight(p) ^ ZEROS, other = not_digits(v) & ~UINT64_C(0xff);
    uint64_t minus = (((v & 0xff) ^ ('-' ^ '0')) - 1) >> 63;
    if ((unsigned char)p[minus] - (unsigned)'0' > 9)
        return parse_any(p, end, value);
    if (!other)
        return parse_integer(p, end, value, minus, v);
    unsigned bits = (unsigned)__builtin_ctzll(other), at = bits >> 3;
    const char *after = p + at;
    if (*after == '.')
        return parse_decimal(p, end, value, minus, other);
    if (goes_on(*after))
        return parse_any(p, end, value);
    uint64_t w = join_eight((v ^ (-minus & ('-' ^ '0'))) << (71 - bits));
    *value = (double)(int64_t)w * powers[minus][0];
    return after;
}
