/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of 64-bit integers, which float64 would round. A column in whose first records are
 * nothing but integers, some of them beyond 2^53, may be one: all of the text is read for that, and
 * it is one if every value is an integer and all fit int64, or all uint64; some may be missing
 * where a mask can say so. Otherwise it is of float64 as others are, and what float64 does not hold
 * is rounded, which is noted.
 */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/text_state.h"

/* The integer [p, end), as bits of int64 or uint64; 0: it is none, or does not fit. */
static int parse(const char *p, const char *end, uint64_t *bits, unsigned *flags)
{
    const int minus = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    uint64_t value = 0;
    if (p == end)
        return 0;
    for (; p < end; p++) {
        const unsigned digit = (unsigned char)*p - (unsigned)'0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return 0;
        value = 10 * value + digit;
    }
    if (minus && value > UINT64_C(1) << 63)
        return 0;
    *flags = minus && value ? TY_INTEGER_NEGATIVE : !minus && value >> 63 ? TY_INTEGER_LARGE : 0;
    *bits = minus ? 0 - value : value;
    return 1;
}

int ty_integer_is_wide(const char *p, const char *end, int *is_integer)
{
    uint64_t bits;
    unsigned flags;
    *is_integer = parse(p, end, &bits, &flags);
    if (!*is_integer)
        return 0;
    const uint64_t size = flags & TY_INTEGER_NEGATIVE ? 0 - bits : bits;
    return size > UINT64_C(1) << 53;
}

/* Threads share the flags. */
static void note(unsigned *flags, unsigned found)
{
    if (found & ~__atomic_load_n(flags, __ATOMIC_RELAXED))
        __atomic_fetch_or(flags, found, __ATOMIC_RELAXED);
}

void ty_integer_note_rounded(unsigned *rounded, const char *p, const char *end, double value)
{
    uint64_t bits;
    unsigned flags;
    if (!parse(p, end, &bits, &flags))
        return;
    const double held = flags & TY_INTEGER_NEGATIVE ? (double)(int64_t)bits : (double)bits;
    const int is_same = flags & TY_INTEGER_NEGATIVE
                            ? held < 0x1p63 && (int64_t)held == (int64_t)bits
                            : held < 0x1p64 && (uint64_t)held == bits;
    if (!is_same || held != value)
        note(rounded, 1);
}

static unsigned missing_flag(const ty_integers *integers)
{
    return integers->may_miss ? TY_INTEGER_MISSING : TY_INTEGER_BAD;
}

/* Whether what is no integer is missing. */
static int is_missing(const ty_field *field, const ty_spelling *spelling)
{
    double value;
    const ty_field_kind kind = ty_field_read(field, spelling, &value);
    return kind == TY_FIELD_MISSING || (kind == TY_FIELD_NUMBER && isnan(value));
}

int ty_integer_read(const ty_field *from, const ty_spelling *spelling, ty_integers *integers,
                    double *value)
{
    const ty_field field = ty_field_trim(from);
    uint64_t bits = 0;
    unsigned found = TY_INTEGER_BAD;
    const int missing = spelling && ty_field_is_missing(&field, spelling);
    if (missing || !parse(field.begin, field.begin + field.size, &bits, &found)) {
        bits = TY_INTEGER_NONE;
        found = missing || is_missing(from, spelling) ? missing_flag(integers) : TY_INTEGER_BAD;
    } else if (bits == TY_INTEGER_NONE) {
        found |= TY_INTEGER_TAKEN;
    }
    if (integers->is_settled && found & ~integers->flags)
        return 0;
    note(&integers->flags, found);
    memcpy(value, &bits, sizeof bits);
    return 1;
}

void ty_integer_miss(ty_integers *integers, double *value)
{
    const uint64_t none = TY_INTEGER_NONE;
    memcpy(value, &none, sizeof none);
    note(&integers->flags, missing_flag(integers));
}

int ty_integers_are_good(unsigned flags)
{
    static const unsigned both[] = {TY_INTEGER_NEGATIVE | TY_INTEGER_LARGE,
                                    TY_INTEGER_MISSING | TY_INTEGER_TAKEN};
    return !(flags & TY_INTEGER_BAD) && (flags & both[0]) != both[0] &&
           (flags & both[1]) != both[1];
}

void ty_integers_mask(const double *values, size_t step, size_t count, unsigned char *mask)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + i * step, sizeof bits);
        mask[i] &= bits != TY_INTEGER_NONE;
    }
}

/* ---- Finding out ---- */

/* Reads all there is, only to see what it is. */
static tally_status read_all(ty_text_state *s, tally_status (*read)(ty_text_state *, tally_error *),
                             tally_error *error)
{
    tally_status status = TALLY_OK;
    do {
        status = read(s, error);
        s->taken = s->ready;
    } while (!status && s->ready);
    return status;
}

const unsigned char *ty_text_mask(const void *state)
{
    return ((const ty_text_state *)state)->mask;
}

void ty_text_mask_make(ty_text_state *s, size_t count)
{
    memset(s->mask, 1, count);
    for (uint32_t i = 0; i < s->views; i++)
        if (s->picks[i].integers->flags & TY_INTEGER_MISSING)
            ty_integers_mask(s->out + s->picks[i].view * s->out_stride + s->taken, 1, count,
                             s->mask);
}

/* Whether the columns that may be are of integers; those that are not become float64. *missing:
 * some values of them are. */
static int settle_picks(ty_text_state *s, int *missing)
{
    int all = 1;
    unsigned kinds = 0;
    *missing = 0;
    for (uint32_t i = 0; i < s->views; i++) {
        ty_integers *integers = s->picks[i].integers;
        const unsigned flags = integers ? integers->flags : TY_INTEGER_BAD;
        const int good = ty_integers_are_good(flags);
        all &= good;
        *missing |= (flags & TY_INTEGER_MISSING) != 0;
        kinds |= good ? 1u << (flags & TY_INTEGER_LARGE) : 0;
        if (!good && integers) {
            ty_free(integers);
            s->picks[i].integers = NULL;
        } else if (integers) {
            integers->is_settled = 1;
        }
    }
    /* Views are of one type, but for those of a whole table. */
    const int mixed = !all || (kinds & (kinds - 1));
    for (uint32_t i = 0; i < s->views && !s->is_whole && mixed; i++) {
        ty_free(s->picks[i].integers);
        s->picks[i].integers = NULL;
    }
    return all && !(mixed && !s->is_whole);
}

tally_status ty_integers_settle(ty_text_state *s,
                                tally_status (*read)(ty_text_state *, tally_error *),
                                tally_status (*restart)(ty_text_state *, tally_error *),
                                tally_error *error)
{
    tally_status status = read_all(s, read, error);
    if (status)
        return status;
    int missing;
    const int good = settle_picks(s, &missing);
    if (good && missing && !(s->mask = ty_malloc(s->chunk)))
        return ty_error_memory(error, "which values are missing", s->chunk);
    if (s->keep && good) {
        ty_keep_rewind(s->keep);
        s->taken = s->ready = 0;
        return TALLY_OK;
    }
    if (s->keep) { /* it has bits of integers */
        ty_keep_free(s->keep);
        s->keep = ty_keep_create(s->name);
        if (!s->keep)
            return ty_error_memory(error, "a text's columns", 0);
    }
    status = ty_stream_rewind(s->stream, error);
    return status ? status : restart(s, error);
}
