/* SPDX-License-Identifier: Apache-2.0 */
/* Plain records of text (text_scan.h). Bit i of a mask stands for the i-th of 64 bytes. */
#include "io/text_scan.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/isa.h"
#include "io/number.h"
#include "io/words.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- 64 bytes ---- */

#if defined(__AVX512BW__)

typedef __m512i bytes;

INLINE bytes load(const char *p)
{
    return _mm512_loadu_si512(p);
}

INLINE uint64_t equal(bytes b, char c)
{
    return _mm512_cmpeq_epi8_mask(b, _mm512_set1_epi8(c));
}

INLINE uint64_t at_most(bytes b, char c)
{
    return _mm512_cmple_epu8_mask(b, _mm512_set1_epi8(c));
}

#elif defined(__AVX2__)

typedef struct bytes {
    __m256i v[2];
} bytes;

INLINE bytes load(const char *p)
{
    bytes b = {{_mm256_loadu_si256((const __m256i *)(const void *)p),
                _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))}};
    return b;
}

INLINE uint64_t join(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

INLINE uint64_t equal(bytes b, char c)
{
    __m256i all = _mm256_set1_epi8(c);
    return join(_mm256_cmpeq_epi8(b.v[0], all), _mm256_cmpeq_epi8(b.v[1], all));
}

INLINE uint64_t at_most(bytes b, char c)
{
    __m256i all = _mm256_set1_epi8(c);
    return join(_mm256_cmpeq_epi8(_mm256_min_epu8(b.v[0], all), b.v[0]),
                _mm256_cmpeq_epi8(_mm256_min_epu8(b.v[1], all), b.v[1]));
}

#elif defined(__SSE2__)

typedef struct bytes {
    __m128i v[4];
} bytes;

INLINE bytes load(const char *p)
{
    bytes b;
    for (int i = 0; i < 4; i++)
        b.v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
    return b;
}

INLINE uint64_t equal(bytes b, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(b.v[i], _mm_set1_epi8(c)))
                << 16 * i;
    return mask;
}

INLINE uint64_t at_most(bytes b, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(
                    _mm_cmpeq_epi8(_mm_min_epu8(b.v[i], _mm_set1_epi8(c)), b.v[i]))
                << 16 * i;
    return mask;
}

#else

typedef struct bytes {
    const char *p;
} bytes;

INLINE bytes load(const char *p)
{
    bytes b = {p};
    return b;
}

INLINE uint64_t equal(bytes b, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(b.p[i] == c) << i;
    return mask;
}

INLINE uint64_t at_most(bytes b, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)((unsigned char)b.p[i] <= (unsigned char)c) << i;
    return mask;
}

#endif

/* ---- Bits ---- */

INLINE unsigned lowest(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

INLINE unsigned highest(uint64_t mask)
{
    return 63 - (unsigned)__builtin_clzll(mask);
}

/* All bits below the lowest one set. */
INLINE uint64_t below(uint64_t mask)
{
    return (mask & -mask) - 1;
}

INLINE uint64_t first_bits(size_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Bit i of `bits` goes to where `mask` has its i-th bit. */
INLINE uint64_t deposit(uint64_t bits, uint64_t mask)
{
#if defined(__BMI2__)
    return _pdep_u64(bits, mask);
#else
    uint64_t result = 0;
    for (; bits && mask; bits >>= 1, mask &= mask - 1)
        result |= mask & -mask & -(bits & 1);
    return result;
#endif
}

/* Bit i of the result: whether bits 0 … i of `mask` are odd in number. */
INLINE uint64_t parities(uint64_t mask)
{
    for (int i = 1; i < 64; i *= 2)
        mask ^= mask << i;
    return mask;
}

/* ---- Numbers ---- */

#if defined(__SSE4_1__)

/* Bytes of ones around bytes of zeros, 16 each. */
static const int8_t sixteens[48] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* What 15 digits are divided by, by the place of their point among 16 characters; 16 says that
 * there is none. The second row is for a minus. */
static const double divisors[2][17] = {
    {1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1, 1},
    {-1e15, -1e14, -1e13, -1e12, -1e11, -1e10, -1e9, -1e8, -1e7, -1e6, -1e5, -1e4, -1e3, -1e2, -1e1,
     -1, -1}};

INLINE __m128i sixteen(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/*
 * The number in [p, end), if it is a minus or none, digits and at most one point, in 1 to 15
 * characters but for the minus. Its digits, as an integer below 10^15, and the power of ten are
 * float64 exactly, so one division gives the value, rounded once. 16 characters before `end` are
 * read.
 */
INLINE int short_number(const char *p, const char *end, double *value)
{
    unsigned minus = *p == '-';
    size_t size = (size_t)(end - p) - minus;
    if (size - 1 >= 15)
        return 0;
    __m128i x = _mm_sub_epi8(sixteen(end - 16), _mm_set1_epi8('0'));
    x = _mm_and_si128(x, sixteen(sixteens + 16 + size));
    unsigned points = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('.' - '0')));
    unsigned point = (unsigned)__builtin_ctz(points | 1u << 16);
    /* Digits before the point move over it. Without one, what moves is zero. */
    x = _mm_blendv_epi8(x, _mm_slli_si128(x, 1), sixteen(sixteens + 15 - (point & 15)));
    __m128i above = _mm_subs_epu8(x, _mm_set1_epi8(9));
    if (!_mm_testz_si128(above, above) || size == (points != 0))
        return 0;
    const __m128i ten = _mm_set1_epi16(1 << 8 | 10), hundred = _mm_set1_epi32(1 << 16 | 100),
                  myriad = _mm_set1_epi32(1 << 16 | 10000);
    x = _mm_madd_epi16(_mm_maddubs_epi16(x, ten), hundred);
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(_mm_packus_epi32(x, x), myriad));
    uint64_t digits = (halves & UINT32_MAX) * 100000000 + (halves >> 32);
    *value = (double)(int64_t)digits / divisors[minus][point];
    return 1;
}

#else

INLINE int short_number(const char *p, const char *end, double *value)
{
    (void)p, (void)end, (void)value;
    return 0;
}

#endif

/* The value of the field [p, end); the text goes on to `text_end`. 0: it is no number. */
INLINE int field_value(const ty_scan *scan, const char *p, const char *end, const char *text_end,
                       double *value)
{
    const char *begin = p, *stop = end;
    while (p < stop && *p == ' ')
        p++;
    while (p < stop && (stop[-1] == ' ' || (stop[-1] == '\t' && scan->delimiter == ' ')))
        stop--;
    if (p == stop) {
        *value = NAN;
        return scan->columns > 1; /* the only field: a blank line */
    }
    if (scan->spelling) /* it may be one of those words */
        return ty_text_scan_value(scan, begin, end, value);
    if (*p == '"' && stop - p > 2) { /* most likely it ends with one, too */
        p++;
        stop--;
    }
    if (short_number(p, stop, value))
        return 1;
    if (ty_number_parse(p, text_end, value) == stop) {
        if (fabs(*value) >= 0x1p53)
            ty_integer_note_rounded(scan->rounded, p, stop, *value);
        return 1;
    }
    return ty_text_scan_value(scan, begin, end, value);
}

/* ---- Masks ---- */

/* Where a mask's bytes begin, and what is known from those before. */
typedef struct state {
    const char *p;
    uint64_t met;     /* the record's separators so far */
    uint64_t inside;  /* all ones inside quotes, else zero */
    unsigned follows; /* 1: the byte before is a separator or a closing quote */
    unsigned starts;  /* 1: it is a line end */
    unsigned leads; /* 1: only white space is between it and a line's begin (runs of white space) */
} state;

typedef struct masks {
    uint64_t separators, ends; /* ends: those that are line ends */
    uint64_t closes;           /* closing quotes, also of those that are doubled */
    uint64_t bad;              /* the record with this byte is not plain */
} masks;

/* Whether the line at `p`, which begins with a blank or '#', is passed over or has no end. */
INLINE int is_passed(ty_delimiter delimiter, const char *p, const char *end)
{
    return ty_line_is_skipped(delimiter, p, end);
}

/* Of runs of white space between two fields the last bytes. */
INLINE uint64_t blank_separators(state *s, bytes b, uint64_t valid, const char *end)
{
    uint64_t blanks = (equal(b, ' ') | equal(b, '\t')) & valid;
    uint64_t lines = (equal(b, '\n') | equal(b, '\r')) & valid;
    uint64_t none =
        end - s->p <= 64 || ty_is_line_end(s->p[64]) || s->p[64] == ' ' || s->p[64] == '\t';
    uint64_t before = (blanks | lines | ~valid) >> 1 | none << 63; /* no field behind */
    /* A run that begins with its line: added to its first bit, it is carried away. */
    uint64_t first = blanks & (lines << 1 | s->starts | s->leads);
    uint64_t leading = blanks & ~(blanks + first);
    s->leads = (unsigned)(leading >> 63);
    return blanks & ~before & ~leading;
}

/* Bytes up to '#' that are neither `separators` nor LF are in `low`: quotes, CR, and blanks or '#'
 * at the beginning of a line. */
static void mask_odd(const ty_scan *scan, state *s, bytes b, uint64_t valid, uint64_t low,
                     const char *end, masks *m)
{
    uint64_t returns = equal(b, '\r') & valid, quotes = equal(b, '"') & valid;
    if (returns) {
        size_t left = (size_t)(end - s->p);
        uint64_t feeds = equal(b, '\n') >> 1 | (uint64_t)(left > 64 && s->p[64] == '\n') << 63;
        uint64_t alone = returns & ~feeds;
        if (left <= 64) /* an LF may follow that is not here yet */
            alone &= ~(UINT64_C(1) << (left - 1));
        m->ends |= alone;
        m->separators |= alone;
    }
    if (scan->delimiter == ' ') {
        m->bad |= quotes; /* what is behind one may be a field of its own */
    } else if (quotes | s->inside) {
        uint64_t in = parities(quotes) ^ s->inside, opens = quotes & in;
        m->closes = quotes & ~in;
        m->ends &= ~in;
        m->separators &= ~in;
        m->bad |= opens & ~((m->separators | m->closes) << 1 | s->follows);
        s->inside = -(in >> 63);
    }
    uint64_t begins = (m->ends << 1 | s->starts) & low & ~(returns | quotes);
    for (; begins; begins &= begins - 1) {
        unsigned i = lowest(begins);
        if (is_passed(scan->delimiter, s->p + i, end)) {
            m->bad |= UINT64_C(1) << i;
            break;
        }
    }
}

/* Of what is behind the last record that is wanted or plain, nothing is left. */
static void cut(masks *m, const char *p, const char *stop, int *last)
{
    uint64_t keep = m->bad ? below(m->bad) : UINT64_MAX;
    uint64_t behind = m->ends & keep;
    if (stop - p > 1)
        behind &= stop - p > 64 ? 0 : ~first_bits((size_t)(stop - p - 1));
    if (behind)
        keep &= behind ^ (behind - 1);
    if (!m->bad && !behind)
        return;
    *last = 1;
    m->ends &= keep;
    m->separators &= m->ends ? first_bits(highest(m->ends) + 1) : 0;
}

/* The masks at s->p, and s moved on by 64 bytes. *last is set when nothing more is to be read. */
INLINE masks next_masks(const ty_scan *scan, state *s, const char *stop, const char *end, int *last)
{
    uint64_t valid = first_bits((size_t)(end - s->p));
    bytes b = load(s->p);
    masks m = {0, equal(b, '\n') & valid, 0, 0};
    m.separators = m.ends | (scan->delimiter == ' ' ? blank_separators(s, b, valid, end)
                                                    : equal(b, scan->delimiter) & valid);
    uint64_t low = at_most(b, '#') & valid & ~m.separators;
    if (__builtin_expect((low | s->inside) != 0, 0))
        mask_odd(scan, s, b, valid, low, end, &m);
    m.bad |= deposit(scan->ends[s->met], m.separators) ^ m.ends;
    s->follows = (unsigned)((m.separators | m.closes) >> 63);
    if (__builtin_expect(m.bad || stop - s->p <= 64, 0))
        cut(&m, s->p, stop, last);
    s->starts = (unsigned)(m.ends >> 63);
    s->p += 64;
    return m;
}

/* How many separators of the record that goes on behind these 64 bytes have been met. */
INLINE uint64_t still_met(uint64_t met, const masks *m)
{
    if (m->ends)
        return (uint64_t)__builtin_popcountll(m->separators >> highest(m->ends) >> 1);
    return met + (uint64_t)__builtin_popcountll(m->separators);
}

/* ---- Positions ---- */

/* BATCH positions are found, then their numbers are read. */
enum { BATCH = 2048 };

/* Writes base + i for every bit i of `mask`, and more behind, up to 64 in all. Returns how many. */
INLINE size_t put_positions(uint32_t *to, uint64_t mask, uint32_t base)
{
    size_t count = (size_t)__builtin_popcountll(mask);
#if defined(__AVX512VBMI2__)
    const __m512i places = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bases = _mm512_set1_epi32((int)base);
    __m512i found = _mm512_maskz_compress_epi8(mask, places);
    for (size_t i = 0;;) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
        _mm512_storeu_si512(to + i, _mm512_add_epi32(wide, bases));
        if ((i += 16) >= count)
            break;
        found = _mm512_alignr_epi32(found, found, 4);
    }
#else
    for (; mask; mask &= mask - 1)
        *to++ = base + lowest(mask);
#endif
    return count;
}

/* The field of a record. */
INLINE void find_field(const ty_scan_pick *pick, const uint32_t *positions, const char *base,
                       const char **from, const char **to)
{
    *from = base + positions[pick->begin] + 1;
    *to = base + positions[pick->end];
    *to -= pick->is_last && *to > *from && (*to)[-1] == '\r';
}

/* Reads the numbers of `records`, whose positions, behind `base`, follow each other; position -1 is
 * the end of the record before. Returns of how many. By itself, for within read_records registers
 * are few, and a number takes twice as long. */
static __attribute__((noinline)) size_t put_values(const ty_scan *scan, const uint32_t *positions,
                                                   size_t records, const char *base,
                                                   const char *end, double *samples, size_t stride)
{
    for (uint32_t i = 0; i < scan->picks; i++) {
        const ty_scan_pick *pick = scan->pick + i;
        double *to = samples + pick->view * stride;
        for (size_t r = 0; r < records; r++) {
            const char *from, *stop;
            find_field(pick, positions + r * scan->positions, base, &from, &stop);
            if (!field_value(scan, from, stop, end, to + r))
                records = r;
        }
    }
    return records;
}

/* The same where some are words, integers or of another kind, of at most TY_WORDS_BATCH records.
 * Words are looked up when all records are known to be plain, so that none is kept that the text
 * has not. */
static size_t put_batch(const ty_scan *scan, const uint32_t *positions, size_t records,
                        const char *base, const char *end, double *samples, size_t stride)
{
    const char *from[TY_WORDS_BATCH], *to[TY_WORDS_BATCH];
    for (size_t r = 0; r < records; r++) {
        for (uint32_t i = 0; i < scan->picks; i++) {
            const ty_scan_pick *pick = scan->pick + i;
            double *sample = samples + pick->view * stride + r;
            find_field(pick, positions + r * scan->positions, base, from, to);
            if (!(pick->words      ? ty_text_scan_is_word(scan, *from, *to)
                  : pick->kind     ? ty_text_scan_other(scan, pick->kind, *from, *to, sample)
                  : pick->integers ? ty_text_scan_integer(scan, pick->integers, *from, *to, sample)
                                   : field_value(scan, *from, *to, end, sample)))
                records = r;
        }
    }
    for (uint32_t i = 0; i < scan->picks; i++) {
        const ty_scan_pick *pick = scan->pick + i;
        if (!pick->words)
            continue;
        for (size_t r = 0; r < records; r++)
            find_field(pick, positions + r * scan->positions, base, from + r, to + r);
        records =
            ty_text_scan_words(scan, pick->words, from, to, records, samples + pick->view * stride);
    }
    return records;
}

static __attribute__((noinline)) size_t put_others(const ty_scan *scan, const uint32_t *positions,
                                                   size_t records, const char *base,
                                                   const char *end, double *samples, size_t stride)
{
    for (size_t r = 0; r < records; r += TY_WORDS_BATCH) {
        const size_t n = records - r < TY_WORDS_BATCH ? records - r : TY_WORDS_BATCH;
        const size_t done =
            put_batch(scan, positions + r * scan->positions, n, base, end, samples + r, stride);
        if (done < n)
            return r + done;
    }
    return records;
}

static size_t read_records(const ty_scan *scan, const char **at, const char *stop, const char *end,
                           double *samples, size_t stride)
{
    uint32_t buffer[1 + BATCH + 2 * 64], *positions = buffer + 1;
    const char *base = *at - 1;
    state s = {*at, 0, 0, 1, 1, 0};
    size_t count = 0, records = 0;
    buffer[0] = 0;
    for (int last = 0;;) {
        if (!last && s.p < end) {
            uint32_t here = (uint32_t)(s.p - base);
            uint64_t met = s.met;
            masks m = next_masks(scan, &s, stop, end, &last);
            s.met = still_met(met, &m);
            count +=
                put_positions(positions + count, deposit(scan->wanted[met], m.separators), here);
            if (count < BATCH)
                continue;
        } else {
            last = 1;
        }
        size_t whole = count / scan->positions;
        size_t done =
            scan->has_others
                ? put_others(scan, positions, whole, base, end, samples + records, stride)
                : put_values(scan, positions, whole, base, end, samples + records, stride);
        size_t used = done * scan->positions;
        records += done;
        if (last || done < whole) {
            *at = base + positions[(ptrdiff_t)used - 1] + 1;
            return records;
        }
        memmove(buffer, positions + used - 1, (count - used + 1) * sizeof *buffer);
        count -= used;
    }
}

/* ---- Counting ---- */

static ty_count count_all(const char *p, const char *end)
{
    ty_count count = {0, 0};
    for (; p < end; p += 64) {
        size_t left = (size_t)(end - p);
        uint64_t valid = first_bits(left);
        bytes b = load(p);
        uint64_t lines = equal(b, '\n') & valid, quotes = equal(b, '"') & valid;
        uint64_t returns = equal(b, '\r') & valid;
        if (returns)
            lines |= returns & ~(lines >> 1 | (uint64_t)(left > 64 && p[64] == '\n') << 63);
        count.lines += (uint64_t)__builtin_popcountll(lines);
        count.quotes += (uint64_t)__builtin_popcountll(quotes);
    }
    return count;
}

const ty_scan_loops TY_ISA_TABLE(ty_text_scan) = {read_records, count_all};
