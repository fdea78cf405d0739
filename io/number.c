/* SPDX-License-Identifier: Apache-2.0 */
#include "io/number.h"

#include <stddef.h>
#include <string.h>

#if defined(__SSE2__) && !defined(TY_NUMBER_PORTABLE)
#include <emmintrin.h>
#define HAS_SSE2 1
#else
#define HAS_SSE2 0
#endif

__extension__ typedef unsigned __int128 u128;
#define NOINLINE __attribute__((noinline))
#define INLINE   inline __attribute__((always_inline))

#define DIGITS_EXACT 19 /* as many decimal digits always fit in 64 bits */

/* The place of the lowest bit set. "rep bsf" is tzcnt where there is one, which can be far faster;
 * clang 14 leaves "rep" away. */
static inline unsigned lowest(uint64_t v)
{
#if defined(__x86_64__) && defined(__clang__)
    uint64_t i;
    __asm__("rep bsfq %1, %0" : "=r"(i) : "r"(v) : "cc");
    return (unsigned)i;
#else
    return (unsigned)__builtin_ctzll(v);
#endif
}

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

/* ---- 64 bits × a power of ten ---- */

/*
 * Bits of the float64 nearest to w × 10^q.
 *
 * With W = w shifted up to bit 63 and P the infinitely precise table entry, the result's bits are
 * those of W·P. U = floor(W·table / 2^64) has the true value in [U, U+2) for q >= 0 and in
 * (U-1, U+1) for q < 0, in units of U, whose top 54 bits decide.
 *  - q >= 0: doubt is left only where U+1 carries into the bits kept.
 *  - q < 0: only where U has nothing but zeros below the bits kept. For q >= -27 that means
 * equality: W·2^k and d·5^-q, both integers below 2^118, would otherwise differ by more than U's
 * precision. A tie needs w·5^q or w/5^-q to be an integer of exactly 54 bits, hence -4 <= q <= 23;
 * a subnormal result (q < -300) is never one.
 * The table's low word always joins in: digits written from a float64 put W·P next to where the
 * bits kept change, so that a test whether it may matter would often be predicted wrongly.
 */
static INLINE uint64_t scale(uint64_t w, int64_t q)
{
    if (w == 0)
        return 0;
    if ((uint64_t)(q - TY_NUMBER_POWER_FIRST) > TY_NUMBER_POWER_LAST - TY_NUMBER_POWER_FIRST)
        return q < 0 ? 0 : TY_NUMBER_INFINITY;
    const uint64_t *power = ty_number_powers[q - TY_NUMBER_POWER_FIRST];
    int zeros = __builtin_clzll(w);
    uint64_t shifted = w << zeros;
    u128 product = (u128)shifted * power[0] + ((u128)shifted * power[1] >> 64);
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (low + 2 <= 2 &&
        (q >= 0 ? (high & 0x1ff) == 0x1ff && low : q < -27 && !low && !(high & 0x1ff)))
        return ty_number_exact(w, q);
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
    return bits < TY_NUMBER_INFINITY ? bits : TY_NUMBER_INFINITY;
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
    return ty_number_exact_text(digits, end, exponent);
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
    *value = from_bits(TY_NUMBER_INFINITY | sign);
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

/* ---- Sixteen characters at once ---- */

/*
 * Four operations, by SSE2 or by words of eight bytes:
 *  - load_sixteen: the characters at `p`.
 *  - find_digits: bit i says whether p[i] is a digit, reliably as far as there is nothing but
 *    digits, signs and points in front.
 *  - choose: a where `mask` has ones, else b.
 *  - join_sixteen: the number of the 16 digits in v, of which those count as zero where `mask` has
 *    zeros, and signs.
 */
#if HAS_SSE2

typedef __m128i ty_sixteen;

static inline ty_sixteen load_sixteen(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint32_t find_digits(const char *p)
{
    /* '9' becomes 127 and what is above wraps */
    __m128i v = _mm_add_epi8(load_sixteen(p), _mm_set1_epi8(127 - '9'));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(v, _mm_set1_epi8(126 - '9' + '0')));
}

static inline ty_sixteen choose(ty_sixteen mask, ty_sixteen a, ty_sixteen b)
{
    return _mm_xor_si128(b, _mm_and_si128(_mm_xor_si128(a, b), mask));
}

static inline uint64_t join_sixteen(ty_sixteen v, ty_sixteen mask)
{
    __m128i ten = _mm_set1_epi16(10 << 8 | 1);
    __asm__("" : "+x"(ten)); /* one multiplication, not several shifts and additions */
    v = _mm_and_si128(_mm_subs_epu8(v, _mm_set1_epi8('0')), mask);
    v = _mm_srli_epi16(_mm_mullo_epi16(v, ten), 8);
    v = _mm_madd_epi16(v, _mm_set1_epi32(1 << 16 | 100));
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(v);
    return (halves & UINT32_MAX) * tens[8] + (halves >> 32);
}

#else

typedef struct ty_sixteen {
    uint64_t v[2];
} ty_sixteen;

/* The top bits of eight bytes, side by side. */
static inline uint32_t gather(uint64_t v)
{
    return (uint32_t)((v >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

static inline ty_sixteen load_sixteen(const char *p)
{
    return (ty_sixteen){{load_eight(p), load_eight(p + 8)}};
}

static inline uint32_t find_digits(const char *p)
{
    ty_sixteen v = load_sixteen(p);
    return gather(~not_digits(v.v[0] ^ ZEROS)) | gather(~not_digits(v.v[1] ^ ZEROS)) << 8;
}

static inline ty_sixteen choose(ty_sixteen mask, ty_sixteen a, ty_sixteen b)
{
    for (int i = 0; i < 2; i++)
        b.v[i] ^= (a.v[i] ^ b.v[i]) & mask.v[i];
    return b;
}

static inline uint64_t join_sixteen(ty_sixteen v, ty_sixteen mask)
{
    for (int i = 0; i < 2; i++) {
        v.v[i] = (v.v[i] ^ ZEROS) & mask.v[i];
        v.v[i] &= ~((not_digits(v.v[i]) >> 7) * 0xff);
    }
    return join_eight(v.v[0]) * tens[8] + join_eight(v.v[1]);
}

#endif

/* FIRST(i): as many bytes of ones, then of zeros, for i <= 20. */
static const char ones[64] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
#define FIRST(i) (ones + 32 - (i))

/* The first 16 of `count` digits, with a point in front of the one at `at`, as a number of 16
 * digits: zeros follow. */
static inline uint64_t join_around(const char *p, unsigned at, unsigned count)
{
    ty_sixteen v = choose(load_sixteen(FIRST(at)), load_sixteen(p), load_sixteen(p + 1));
    return join_sixteen(v, load_sixteen(FIRST(count)));
}

/* The next three in the same way. */
static inline uint64_t join_three(uint32_t v, unsigned count)
{
    v = ((v ^ (uint32_t)ZEROS) & load_four(FIRST(count) + 16)) << 8;
    v = v * 10 + (v >> 8);
    return (v & 0xff) * 100 + (v >> 16 & 0xff);
}

static inline uint64_t join_three_around(const char *p, unsigned at, unsigned count)
{
    uint32_t a = load_four(p + 16), b = load_four(p + 17);
    return join_three(b ^ ((a ^ b) & load_four(FIRST(at) + 16)), count);
}

/* ---- The usual shapes, quickly ---- */

/*
 * What bounds a walk along a column is how soon the end of a number is known, for the next one
 * starts there, and lengths that vary, for no branch on them can be predicted. So the end is found
 * first, by arithmetic on the text alone, and the digits are read to a fixed length, as if zeros
 * followed: 12.5 as 1250000000000000 × 10^-14. What is below 10^16 and ends in a zero is twice an
 * integer below 2^53, a float64 exactly; so one division gives the value, rounded once. Each
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

/* By whether there is a minus. */
static const double signs[2] = {1, -1};

/* 5^-i modulo 2^64: a multiple of 5^i times it is divided by 5^i. */
static const uint64_t fifths[DIGITS_EXACT] = {
    0x0000000000000001, 0xcccccccccccccccd, 0x8f5c28f5c28f5c29, 0x1cac083126e978d5,
    0xd288ce703afb7e91, 0x5d4e8fb00bcbe61d, 0x790fb65668c26139, 0xe5032477ae8d46a5,
    0xc767074b22e90e21, 0x8e47ce423a2e9c6d, 0x4fa7f60d3ed61f49, 0x0fee64690c913975,
    0x3662e0e1cf503eb1, 0xa47a2cf9f6433fbd, 0x54186f653140a659, 0x7738164770402145,
    0xe4a4d1417cd9a041, 0xc75429d9e5c5200d, 0xc1773b91fac10669};

static NOINLINE const char *finish(const char *after, double *value, uint64_t minus, uint64_t w,
                                   int64_t exponent)
{
    *value = from_bits(scale(w, exponent) | minus << 63);
    return after;
}

/* Adds to *exponent if a sign, two digits and no more stand at `p`, as usual behind an 'e'. */
static inline int add_exponent(const char *p, int64_t *exponent)
{
    uint32_t x = load_four(p) - 0x3030302b; /* + as 0, - as 2, digits as 0 … 9 */
    int64_t size = (x >> 8 & 15) * 10 + (x >> 16 & 15), negative = -(int64_t)(x >> 1 & 1);
    *exponent += (size ^ negative) - negative;
    return !(((x + 0x00060600) | x) & 0x00f0f0fd) && (x >> 24) >= 10;
}

/* `after` is at an 'e' behind w × 10^exponent. */
static NOINLINE const char *finish_exponent(const char *after, const char *end, double *value,
                                            uint64_t minus, uint64_t w, int64_t exponent)
{
    int64_t sum = exponent;
    if (add_exponent(after + 1, &sum))
        return finish(after + 4, value, minus, w, sum);
    after = scan_exponent(after, end, &exponent);
    return finish(after, value, minus, w, exponent);
}

/* The same where w is a float64 exactly. */
static NOINLINE const char *finish_short(const char *after, const char *end, double *value,
                                         uint64_t minus, uint64_t w, int64_t exponent)
{
    int64_t sum = exponent;
    if (!add_exponent(after + 1, &sum) || (uint64_t)(sum + 22) > 44)
        return finish_exponent(after, end, value, minus, w, exponent);
    int64_t up = sum > 0 ? sum : 0;
    *value = (double)(int64_t)w * powers[0][up] / powers[minus][up - sum];
    return after + 4;
}

/* A number of up to 19 digits with a point at `at`. */
static NOINLINE const char *parse_wide(const char *p, const char *end, double *value, unsigned at)
{
    unsigned minus = *p == '-';
    uint64_t number = find_digits(p) | (uint64_t)find_digits(p + 16) << 16 | 1u << at | minus;
    unsigned size = lowest(number + 1), count = size - 1 - minus;
    const char *after = p + size;
    if (count - 1 >= DIGITS_EXACT)
        return parse_any(p, end, value);
    p += minus;
    at -= minus;
    uint64_t w = join_around(p, at, count) * 1000 + join_three_around(p, at, count);
    int64_t exponent = (int64_t)at - DIGITS_EXACT;
    if ((*after | 0x20) == 'e')
        return finish_exponent(after, end, value, minus, w, exponent);
    return finish(after, value, minus, w, exponent);
}

/* A number with a point at `at`, below 8. */
static NOINLINE const char *parse_decimal(const char *p, const char *end, double *value,
                                          unsigned at)
{
    unsigned minus = *p == '-';
    uint64_t number = find_digits(p) | 1u << at | minus;
    unsigned size = lowest(number + 1);
    if (size - 2 - minus > 12) /* no digit, or more than 13 */
        return parse_wide(p, end, value, at);
    const char *after = p + size;
    unsigned c = (unsigned char)*after;
    uint64_t w = join_around(p, at, size - 1); /* a sign counts as a zero */
    if ((c | 0x20) == 'e')
        return finish_short(after, end, value, minus, w, (int64_t)at - 16);
    *value = (double)(int64_t)w / powers[minus][16 - at];
    return after;
}

/* No point among the first eight characters. */
static NOINLINE const char *parse_integer(const char *p, const char *end, double *value)
{
    uint64_t minus = *p == '-';
    uint64_t digits = find_digits(p) | (uint64_t)find_digits(p + 16) << 16 | minus;
    unsigned size = lowest(digits + 1), count = size - (unsigned)minus;
    const char *after = p + size;
    if (count - 1 >= DIGITS_EXACT || (*after | 0x20) == 'e')
        return parse_any(p, end, value);
    if (*after == '.')
        return parse_wide(p, end, value, size);
    p += minus;
    uint64_t w = join_sixteen(load_sixteen(p), load_sixteen(FIRST(count))) * 1000 +
                 join_three(load_four(p + 16), count);
    unsigned zeros = DIGITS_EXACT - count;
    w = (w >> zeros) * fifths[zeros];
    if ((int64_t)w < 0)
        return finish(after, value, minus, w, 0);
    *value = (double)(int64_t)w * signs[minus];
    return after;
}

const char *ty_number_parse(const char *p, const char *end, double *value)
{
    if (end - p < WINDOW)
        return parse_any(p, end, value);
    uint64_t v = load_eight(p) ^ ZEROS, other = not_digits(v) & ~UINT64_C(0xff);
    if (!other)
        return parse_integer(p, end, value);
    unsigned bits = lowest(other), at = bits >> 3;
    unsigned char c = (unsigned char)(v >> (bits & 0x38));
    if (c == ('.' ^ '0'))
        return parse_decimal(p, end, value, at);
    uint64_t minus = *p == '-';
    if ((unsigned char)p[minus] - (unsigned)'0' > 9 || (c | 0x20) == ('E' ^ '0'))
        return parse_any(p, end, value);
    uint64_t w = join_eight((v ^ (-minus & ('-' ^ '0'))) << (71 - bits));
    *value = (double)(int64_t)w * signs[minus];
    return p + at;
}
