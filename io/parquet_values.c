/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a Parquet page, by encoding, and what becomes of their types. */
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "io/parquet.h"

enum { PIECE = 1024 }; /* values that are turned at a time */

static uint64_t load_u64(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* ---- Runs and packed numbers ---- */

void ty_pq_runs_begin(ty_pq_runs *runs, const unsigned char *at, size_t size, unsigned bits)
{
    memset(runs, 0, sizeof *runs);
    runs->bytes.at = at;
    runs->bytes.end = at + size;
    runs->bits = bits;
}

size_t ty_pq_runs_open(ty_pq_runs *runs, size_t most)
{
    ty_thrift *t = &runs->bytes;
    while (!runs->left && !t->failed && t->at < t->end) {
        const uint64_t head = ty_thrift_varint(t);
        const unsigned value_bytes = (runs->bits + 7) / 8;
        const size_t there = (size_t)(t->end - t->at);
        runs->packed = (int)(head & 1);
        if (runs->packed) {
            /* Groups of eight; a writer's last one may end with the page. */
            uint64_t groups = head >> 1;
            uint64_t bytes = there;
            if (runs->bits && groups > there / runs->bits) {
                runs->left = (uint64_t)there * 8 / runs->bits;
            } else {
                bytes = groups * runs->bits;
                runs->left = groups * 8;
            }
            runs->packed_at = t->at;
            runs->done = 0;
            t->at += bytes;
        } else if (there < value_bytes) {
            t->failed = 1;
        } else {
            runs->value = 0;
            for (unsigned i = 0; i < value_bytes; i++)
                runs->value |= (uint32_t)t->at[i] << 8 * i;
            t->at += value_bytes;
            runs->left = head >> 1;
        }
    }
    return runs->left < most ? (size_t)runs->left : most;
}

/* Eight numbers of 1 to 16 bits, known to the compiler: four from each word that is loaded. */
static inline void unpack_eight(const unsigned char *at, unsigned bits, uint32_t *numbers)
{
    const uint32_t mask = (1u << bits) - 1;
    const uint64_t low = load_u64(at), high = load_u64(at + bits / 2) >> (bits % 2 ? 4 : 0);
    for (unsigned i = 0; i < 4; i++) {
        numbers[i] = (uint32_t)(low >> i * bits) & mask;
        numbers[i + 4] = (uint32_t)(high >> i * bits) & mask;
    }
}

/* Groups of eight; how many numbers that is. */
static size_t unpack_groups(const unsigned char *at, unsigned bits, size_t count, uint32_t *numbers)
{
#define GROUPS(b)                                                                                  \
    case b:                                                                                        \
        for (size_t i = 0; i + 8 <= count; i += 8, at += (b))                                      \
            unpack_eight(at, b, numbers + i);                                                      \
        return count & ~(size_t)7;
    switch (bits) {
        GROUPS(1)
        GROUPS(2)
        GROUPS(3)
        GROUPS(4)
        GROUPS(5)
        GROUPS(6)
        GROUPS(7)
        GROUPS(8)
        GROUPS(9)
        GROUPS(10)
        GROUPS(11)
        GROUPS(12)
        GROUPS(13)
        GROUPS(14)
        GROUPS(15)
    default:
        return 0;
    }
#undef GROUPS
}

void ty_pq_runs_unpack(ty_pq_runs *runs, size_t count, uint32_t *numbers)
{
    const unsigned bits = runs->bits;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    size_t i = runs->done % 8
                   ? 0
                   : unpack_groups(runs->packed_at + runs->done / 8 * bits, bits, count, numbers);
    uint64_t bit = (runs->done + i) * bits;
    for (; i < count; i++, bit += bits)
        numbers[i] = (uint32_t)(load_u64(runs->packed_at + bit / 8) >> bit % 8 & mask);
    runs->done += count;
}

/* ---- Types ---- */

static double power_of_ten(int n)
{
    double power = 1;
    for (int i = 0; i < n; i++)
        power *= 10;
    return power;
}

__extension__ typedef unsigned __int128 ty_u128;
__extension__ typedef __int128 ty_i128;

/* A big-endian integer of 1 to 16 bytes, rounded to float64. */
static double load_wide(const unsigned char *at, size_t bytes)
{
    ty_u128 value = at[0] & 128 ? ~(ty_u128)0 : 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return (double)(ty_i128)value;
}

static ty_pq_fault convert_decimals(const ty_pq_target *target, const unsigned char *stored,
                                    size_t count, double *into)
{
    const double divisor = power_of_ten(target->column->scale);
    for (size_t i = 0; i < count; i++, stored += target->bytes) {
        int64_t wide = 0;
        int32_t narrow;
        if (target->column->type == TY_PQ_FIXED) {
            into[i] = load_wide(stored, target->bytes) / divisor;
        } else if (target->bytes == 4) {
            memcpy(&narrow, stored, sizeof narrow);
            into[i] = narrow / divisor;
        } else {
            memcpy(&wide, stored, sizeof wide);
            into[i] = (double)wide / divisor;
        }
    }
    return TY_PQ_FINE;
}

/* Nanoseconds of a day and its Julian number to microseconds since 1970, as int64 or float64. */
static ty_pq_fault convert_int96(const ty_pq_target *target, const unsigned char *stored,
                                 size_t count, void *into)
{
    enum { DAY_OF_1970 = 2440588, MOST_DAYS = 106000000 }; /* of int64's 106 751 991 */
    int inexact = 0;
    for (size_t i = 0; i < count; i++, stored += target->bytes) {
        const int64_t in_day = (int64_t)load_u64(stored);
        uint32_t day;
        memcpy(&day, stored + 8, sizeof day);
        const int64_t days = (int64_t)day - DAY_OF_1970; /* in_day is below 0 in some files */
        if (days > MOST_DAYS)
            return TY_PQ_DAMAGED;
        const int64_t time = days * 86400000000 + in_day / 1000 - (in_day % 1000 < 0);
        const double rounded = (double)time;
        inexact |= fabs(rounded) > 0x1p53;
        memcpy((char *)into + i * 8, target->dtype == TALLY_I64 ? (const void *)&time : &rounded,
               8);
    }
    return inexact && target->dtype == TALLY_F64 ? TY_PQ_INEXACT : TY_PQ_FINE;
}

/* Integers to float64, exactly. */
static ty_pq_fault convert_integers(const ty_pq_target *target, const unsigned char *stored,
                                    size_t count, double *into)
{
    const int is_unsigned = target->column->is_unsigned;
    int inexact = 0;
    for (size_t i = 0; i < count; i++) {
        if (target->bytes == 4) {
            uint32_t value;
            memcpy(&value, stored + i * 4, sizeof value);
            into[i] = is_unsigned ? (double)value : (double)(int32_t)value;
            continue;
        }
        const uint64_t value = load_u64(stored + i * 8);
        const uint64_t size = is_unsigned || !(value >> 63) ? value : 0 - value;
        into[i] = is_unsigned ? (double)value : (double)(int64_t)value;
        inexact |= size > (uint64_t)1 << 53;
    }
    return inexact ? TY_PQ_INEXACT : TY_PQ_FINE;
}

ty_pq_fault ty_pq_convert(const ty_pq_target *target, const unsigned char *stored, size_t count,
                          void *into)
{
    const int type = target->column->type;
    if (tally_dtype_bytes(target->dtype) == target->bytes &&
        (target->dtype != TALLY_F64 || type == TY_PQ_DOUBLE)) {
        memcpy(into, stored, count * target->bytes);
        return TY_PQ_FINE;
    }
    double *numbers = into;
    if (target->column->is_decimal)
        return convert_decimals(target, stored, count, numbers);
    if (type == TY_PQ_INT96)
        return convert_int96(target, stored, count, into);
    if (type == TY_PQ_INT32 || type == TY_PQ_INT64)
        return convert_integers(target, stored, count, numbers);
    for (size_t i = 0; i < count; i++) {
        float value;
        uint16_t half;
        memcpy(&half, stored + i * target->bytes, sizeof half);
        if (type == TY_PQ_FLOAT)
            memcpy(&value, stored + i * sizeof value, sizeof value);
        numbers[i] = type == TY_PQ_FLOAT ? value : ty_f16_decode(half);
    }
    return TY_PQ_FINE;
}

static ty_pq_fault convert_word(const ty_pq_target *target, const unsigned char *text, size_t size,
                                double *into)
{
    const uint32_t code = ty_words_value(target->words, (const char *)text, size);
    *into = code;
    return code == TY_WORDS_FAILED ? TY_PQ_WORDS : TY_PQ_FINE;
}

ty_pq_fault ty_pq_convert_words(const ty_pq_target *target, const unsigned char **at,
                                const unsigned char *end, size_t count, double *into)
{
    const unsigned char *p = *at;
    ty_pq_fault fault = TY_PQ_FINE;
    for (size_t i = 0; i < count && !fault; i++) {
        uint32_t size;
        if (end - p < 4)
            return TY_PQ_DAMAGED;
        memcpy(&size, p, sizeof size);
        p += sizeof size;
        if (size > (size_t)(end - p))
            return TY_PQ_DAMAGED;
        fault = convert_word(target, p, size, into + i);
        p += size;
    }
    *at = p;
    return fault;
}

/* ---- Encodings ---- */

/* Bits of booleans. */
static void put_booleans(const ty_pq_target *target, const uint32_t *bits, size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        if (target->dtype == TALLY_F64)
            ((double *)into)[i] = bits[i];
        else
            ((unsigned char *)into)[i] = (unsigned char)bits[i];
    }
}

static ty_pq_fault read_plain(ty_pq_values *v, size_t count, void *into)
{
    const size_t there = (size_t)(v->end - v->at);
    if (v->target.column->type == TY_PQ_BOOLEAN) {
        const size_t step = tally_dtype_bytes(v->target.dtype);
        if (v->done + count > (uint64_t)there * 8)
            return TY_PQ_DAMAGED;
        for (size_t i = 0; i < count; i++, v->done++) {
            const uint32_t bit = v->at[v->done / 8] >> v->done % 8 & 1;
            put_booleans(&v->target, &bit, 1, (unsigned char *)into + i * step);
        }
        return TY_PQ_FINE;
    }
    if (v->target.words)
        return ty_pq_convert_words(&v->target, &v->at, v->end, count, into);
    if (count > there / v->target.bytes)
        return TY_PQ_DAMAGED;
    const unsigned char *stored = v->at;
    v->at += count * v->target.bytes;
    return ty_pq_convert(&v->target, stored, count, into);
}

/* Numbers of values in the dictionary. */
static ty_pq_fault read_dictionary(ty_pq_values *v, size_t count, void *into)
{
    const size_t bytes = tally_dtype_bytes(v->target.dtype);
    unsigned char *to = into;
    while (count) {
        uint32_t numbers[PIECE], largest = 0;
        const size_t n = ty_pq_runs_open(&v->runs, count < PIECE ? count : PIECE);
        if (!n)
            return TY_PQ_DAMAGED;
        if (v->runs.packed)
            ty_pq_runs_unpack(&v->runs, n, numbers);
        else
            for (size_t i = 0; i < n; i++)
                numbers[i] = v->runs.value;
        for (size_t i = 0; i < n; i++)
            largest = numbers[i] > largest ? numbers[i] : largest;
        if (largest >= v->dictionary_count)
            return TY_PQ_DAMAGED;
#define GATHER(type)                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
    memcpy(to + i * sizeof(type), v->dictionary + numbers[i] * sizeof(type), sizeof(type))
        if (bytes == 8)
            GATHER(uint64_t);
        else if (bytes == 4)
            GATHER(uint32_t);
        else if (bytes == 2)
            GATHER(uint16_t);
        else
            GATHER(uint8_t);
#undef GATHER
        v->runs.left -= n;
        to += n * bytes;
        count -= n;
    }
    return TY_PQ_FINE;
}

static ty_pq_fault read_boolean_runs(ty_pq_values *v, size_t count, void *into)
{
    unsigned char *to = into;
    while (count) {
        uint32_t numbers[PIECE];
        const size_t n = ty_pq_runs_open(&v->runs, count < PIECE ? count : PIECE);
        if (!n)
            return TY_PQ_DAMAGED;
        if (v->runs.packed)
            ty_pq_runs_unpack(&v->runs, n, numbers);
        else
            for (size_t i = 0; i < n; i++)
                numbers[i] = v->runs.value & 1;
        put_booleans(&v->target, numbers, n, to);
        v->runs.left -= n;
        to += n * tally_dtype_bytes(v->target.dtype);
        count -= n;
    }
    return TY_PQ_FINE;
}

/* The first bytes of all values, then the second bytes of all … */
static ty_pq_fault read_split(ty_pq_values *v, size_t count, void *into)
{
    const size_t bytes = v->target.bytes, all = (size_t)(v->end - v->at) / bytes;
    unsigned char stored[PIECE * 16], *to = into;
    if (count > all - v->done)
        return TY_PQ_DAMAGED;
    while (count) {
        const size_t n = count < PIECE ? count : PIECE;
        for (size_t b = 0; b < bytes; b++)
            for (size_t i = 0; i < n; i++)
                stored[i * bytes + b] = v->at[b * all + v->done + i];
        const ty_pq_fault fault = ty_pq_convert(&v->target, stored, n, to);
        if (fault)
            return fault;
        v->done += n;
        to += n * tally_dtype_bytes(v->target.dtype);
        count -= n;
    }
    return TY_PQ_FINE;
}

/* ---- Differences ---- */

static int begin_deltas(ty_pq_deltas *d, const unsigned char *at, const unsigned char *end)
{
    memset(d, 0, sizeof *d);
    d->bytes.at = at;
    d->bytes.end = end;
    const uint64_t block = ty_thrift_varint(&d->bytes);
    d->parts = ty_thrift_varint(&d->bytes);
    d->left = ty_thrift_varint(&d->bytes);
    d->value = (uint64_t)ty_thrift_zigzag(ty_thrift_varint(&d->bytes));
    d->part = d->parts;
    d->first = 1;
    if (d->bytes.failed || !d->parts || block > 1 << 24 || block % d->parts ||
        !(d->part_size = block / d->parts) || d->part_size % 8)
        return 1;
    return 0;
}

/* Opens the next part. Nonzero when the page has no more. */
static int open_part(ty_pq_deltas *d)
{
    ty_thrift *t = &d->bytes;
    if (++d->part >= d->parts) {
        d->smallest = (uint64_t)ty_thrift_zigzag(ty_thrift_varint(t));
        if (t->failed || d->parts > (uint64_t)(t->end - t->at))
            return 1;
        d->widths = t->at;
        t->at += d->parts;
        d->part = 0;
    }
    const unsigned bits = d->widths[d->part];
    if (bits > 64 || d->part_size / 8 * bits > (uint64_t)(t->end - t->at))
        return 1;
    d->packed = t->at;
    t->at += d->part_size / 8 * bits;
    d->part_left = d->part_size;
    d->part_done = 0;
    return 0;
}

/* The `i`-th number of `bits` bits, 0 … 64; 8 bytes behind the last may be read. */
static uint64_t unpack_one(const unsigned char *packed, uint64_t i, unsigned bits)
{
    const uint64_t bit = i * bits, shift = bit % 8;
    uint64_t word = load_u64(packed + bit / 8) >> shift;
    if (bits + shift > 64)
        word |= (uint64_t)packed[bit / 8 + 8] << (64 - shift);
    return bits == 64 ? word : word & (((uint64_t)1 << bits) - 1);
}

static ty_pq_fault read_differences(ty_pq_values *v, size_t count, void *into)
{
    ty_pq_deltas *d = &v->deltas;
    const size_t bytes = v->target.bytes, step = tally_dtype_bytes(v->target.dtype);
    unsigned char *to = into;
    if (count > d->left)
        return TY_PQ_DAMAGED;
    d->left -= count;
    while (count) {
        unsigned char stored[PIECE * 8];
        size_t n = 0;
        if (d->first) {
            d->first = 0;
        } else {
            if (!d->part_left && open_part(d))
                return TY_PQ_DAMAGED;
            d->value += d->smallest + unpack_one(d->packed, d->part_done++, d->widths[d->part]);
            d->part_left--;
        }
        /* Values one by one until the piece, the part or the count ends. */
        for (;;) {
            memcpy(stored + n++ * bytes, &d->value, bytes);
            if (n == PIECE || n == count || !d->part_left)
                break;
            d->value += d->smallest + unpack_one(d->packed, d->part_done++, d->widths[d->part]);
            d->part_left--;
        }
        const ty_pq_fault fault = ty_pq_convert(&v->target, stored, n, to);
        if (fault)
            return fault;
        to += n * step;
        count -= n;
    }
    return TY_PQ_FINE;
}

/* The next value, in d->value. Nonzero when the page has no more. */
static int next_difference(ty_pq_deltas *d)
{
    if (!d->left)
        return 1;
    d->left--;
    if (d->first) {
        d->first = 0;
        return 0;
    }
    if (!d->part_left && open_part(d))
        return 1;
    d->value += d->smallest + unpack_one(d->packed, d->part_done++, d->widths[d->part]);
    d->part_left--;
    return 0;
}

/* Begins with differences at v->at, which is moved behind them. */
static int pass_deltas(ty_pq_values *v, ty_pq_deltas *deltas)
{
    if (begin_deltas(deltas, v->at, v->end))
        return 1;
    ty_pq_deltas d = *deltas;
    for (uint64_t left = d.left ? d.left - 1 : 0; left;
         left -= left < d.part_left ? left : d.part_left)
        if (open_part(&d))
            return 1;
    v->at = d.bytes.at;
    return 0;
}

/* Words behind the lengths of all. */
static ty_pq_fault read_lengths(ty_pq_values *v, size_t count, double *into)
{
    ty_pq_fault fault = TY_PQ_FINE;
    for (size_t i = 0; i < count && !fault; i++) {
        if (next_difference(&v->deltas) || v->deltas.value > (size_t)(v->end - v->at))
            return TY_PQ_DAMAGED;
        fault = convert_word(&v->target, v->at, (size_t)v->deltas.value, into + i);
        v->at += v->deltas.value;
    }
    return fault;
}

/* Words, or values of fixed length, that begin as the one before did, so many bytes of it. */
static ty_pq_fault read_prefixed(ty_pq_values *v, size_t count, void *into)
{
    const size_t step = tally_dtype_bytes(v->target.dtype);
    unsigned char *to = into;
    ty_pq_fault fault = TY_PQ_FINE;
    for (size_t i = 0; i < count && !fault; i++, to += step) {
        if (next_difference(&v->prefixes) || next_difference(&v->deltas) ||
            v->prefixes.value > v->last_size || v->deltas.value > (size_t)(v->end - v->at))
            return TY_PQ_DAMAGED;
        memcpy(v->last + v->prefixes.value, v->at, (size_t)v->deltas.value);
        v->at += v->deltas.value;
        v->last_size = (size_t)(v->prefixes.value + v->deltas.value);
        if (v->target.words)
            fault = convert_word(&v->target, v->last, v->last_size, (double *)(void *)to);
        else if (v->last_size == v->target.bytes)
            fault = ty_pq_convert(&v->target, v->last, 1, to);
        else
            return TY_PQ_DAMAGED;
    }
    return fault;
}

/* ---- A page ---- */

ty_pq_fault ty_pq_values_begin(ty_pq_values *v, int encoding, const unsigned char *at,
                               const unsigned char *end)
{
    const int type = v->target.column->type;
    const int is_integer = type == TY_PQ_INT32 || type == TY_PQ_INT64;
    v->encoding = encoding == TY_PQ_PLAIN_DICTIONARY ? TY_PQ_RLE_DICTIONARY : encoding;
    v->at = at;
    v->end = end;
    v->done = 0;
    switch (v->encoding) {
    case TY_PQ_PLAIN:
        return TY_PQ_FINE;
    case TY_PQ_RLE_DICTIONARY:
        if (!v->dictionary || at == end || *at > 32)
            return TY_PQ_DAMAGED;
        ty_pq_runs_begin(&v->runs, at + 1, (size_t)(end - at) - 1, *at);
        return TY_PQ_FINE;
    case TY_PQ_RLE:
        if (type != TY_PQ_BOOLEAN || end - at < 4)
            return TY_PQ_DAMAGED;
        ty_pq_runs_begin(&v->runs, at + 4, (size_t)(end - at) - 4, 1);
        return TY_PQ_FINE;
    case TY_PQ_DELTA_PACKED:
        return is_integer && !begin_deltas(&v->deltas, at, end) ? TY_PQ_FINE : TY_PQ_DAMAGED;
    case TY_PQ_DELTA_LENGTHS:
        return v->target.words && !pass_deltas(v, &v->deltas) ? TY_PQ_FINE : TY_PQ_DAMAGED;
    case TY_PQ_DELTA_PREFIXES:
        v->last_size = 0;
        return (v->target.words || type == TY_PQ_FIXED) && !pass_deltas(v, &v->prefixes) &&
                       !pass_deltas(v, &v->deltas)
                   ? TY_PQ_FINE
                   : TY_PQ_DAMAGED;
    case TY_PQ_BYTE_STREAM_SPLIT:
        return v->target.bytes ? TY_PQ_FINE : TY_PQ_DAMAGED;
    default:
        return TY_PQ_DAMAGED;
    }
}

ty_pq_fault ty_pq_values_read(ty_pq_values *v, size_t count, void *into)
{
    switch (v->encoding) {
    case TY_PQ_PLAIN:
        return read_plain(v, count, into);
    case TY_PQ_RLE_DICTIONARY:
        return read_dictionary(v, count, into);
    case TY_PQ_RLE:
        return read_boolean_runs(v, count, into);
    case TY_PQ_DELTA_PACKED:
        return read_differences(v, count, into);
    case TY_PQ_DELTA_LENGTHS:
        return read_lengths(v, count, into);
    case TY_PQ_DELTA_PREFIXES:
        return read_prefixed(v, count, into);
    default:
        return read_split(v, count, into);
    }
}
