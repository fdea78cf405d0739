/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's values to samples: bits, indices and decimals decoded, missing values NaN. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "io/arrow_span.h"

/* Of unused blocks so many are kept: a part of the rows may reach into the next batch, and is read
 * again for its mask. */
enum { WIDEST = 16, KEPT = 2 };

struct ty_arrow_reader {
    const ty_arrow_index *index;
    const ty_arrow_column *column;
    uint32_t pick;
    tally_dtype dtype;
    pthread_mutex_t lock;
    pthread_cond_t made;
    tally_words *words;
    ty_arrow_block *blocks; /* of compressed batches: those in use, and KEPT that were */
};

/* The batch's block, made by the first thread that asks for it; NULL with a failure. */
static ty_arrow_block *take_block(ty_arrow_reader *r, const ty_arrow_span *s, size_t batch,
                                  tally_status *status, tally_error *error)
{
    pthread_mutex_lock(&r->lock);
    ty_arrow_block *block = r->blocks;
    while (block && block->batch != batch)
        block = block->next;
    if (block) {
        block->users++;
        while (block->state == TY_ARROW_MAKING)
            pthread_cond_wait(&r->made, &r->lock);
        pthread_mutex_unlock(&r->lock);
    } else if ((block = ty_calloc(1, sizeof *block))) {
        block->batch = batch;
        block->users = 1;
        block->next = r->blocks;
        r->blocks = block;
        pthread_mutex_unlock(&r->lock);
        block->status = ty_arrow_block_make(s, block, &block->error);
        pthread_mutex_lock(&r->lock);
        block->state = block->status ? TY_ARROW_BROKEN : TY_ARROW_READY;
        pthread_cond_broadcast(&r->made);
        pthread_mutex_unlock(&r->lock);
    } else {
        pthread_mutex_unlock(&r->lock);
        *status = ty_error_memory(error, "an Arrow batch", sizeof *block);
        return NULL;
    }
    if (block->status)
        *status = ty_error(error, block->status, "%s", block->error.message);
    return block;
}

/* Blocks without a user go, but for those that were used last, which come first. */
static void give_block(ty_arrow_reader *r, ty_arrow_block *block)
{
    int kept = 0;
    pthread_mutex_lock(&r->lock);
    block->users--;
    ty_arrow_block **place = &r->blocks;
    while (*place != block)
        place = &(*place)->next;
    *place = block->next;
    block->next = r->blocks;
    r->blocks = block;
    for (ty_arrow_block **at = &r->blocks, *one; (one = *at);) {
        if (one->users || (one->state == TY_ARROW_READY && kept++ < KEPT)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        ty_arrow_block_clear(one);
        ty_free(one);
    }
    pthread_mutex_unlock(&r->lock);
}

/* ---- Values ---- */

/* Which of `count` rows from `first` on have a value: valid[i] becomes 0, or stays 1. */
static tally_status find_valid(const ty_arrow_span *s, uint64_t first, size_t count,
                               unsigned char *valid, tally_error *error)
{
    unsigned char scratch[TY_ARROW_PIECE / 8 + 1];
    const unsigned char *bits;
    for (uint32_t l = 0; l < s->levels; l++) {
        if (!ty_arrow_size(s, 1 + l))
            continue;
        const uint64_t from = first / 8, to = (first + count + 7) / 8;
        tally_status status =
            ty_arrow_look(s, 1 + l, from, (size_t)(to - from), scratch, &bits, error);
        if (status)
            return status;
        for (size_t i = 0; i < count; i++)
            valid[i] &= (unsigned char)(bits[(first % 8 + i) / 8] >> (first + i) % 8 & 1);
    }
    return TALLY_OK;
}

static double decimal(const unsigned char *at, size_t bytes)
{
    uint64_t low, high;
    int32_t narrow;
    if (bytes == 4) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&low, at, sizeof low);
    if (bytes == 8)
        return (double)(int64_t)low;
    memcpy(&high, at + 8, sizeof high);
    __extension__ typedef __int128 ty_i128;
    __extension__ typedef unsigned __int128 ty_u128;
    return (double)(ty_i128)((ty_u128)high << 64 | low);
}

/* Integers of `type` to float64; how many are not exact, but for those that are missing. */
#define TY_ARROW_INTEGERS(type)                                                                    \
    for (size_t i = 0; i < count; i++) {                                                           \
        type value;                                                                                \
        memcpy(&value, from + i * sizeof value, sizeof value);                                     \
        into[i] = (double)value;                                                                   \
    }                                                                                              \
    break;
#define TY_ARROW_WIDE(type)                                                                        \
    for (size_t i = 0; i < count; i++) {                                                           \
        type value;                                                                                \
        memcpy(&value, from + i * sizeof value, sizeof value);                                     \
        into[i] = (double)value;                                                                   \
        inexact |= fabs(into[i]) >= 0x1p53 && value != (type)1 << 53 && (!valid || valid[i]);      \
    }                                                                                              \
    break;

static int widen(tally_dtype dtype, const unsigned char *from, size_t count,
                 const unsigned char *valid, double *into)
{
    int inexact = 0;
    switch (dtype) {
    case TALLY_U8:
        TY_ARROW_INTEGERS(uint8_t)
    case TALLY_I8:
        TY_ARROW_INTEGERS(int8_t)
    case TALLY_U16:
        TY_ARROW_INTEGERS(uint16_t)
    case TALLY_I16:
        TY_ARROW_INTEGERS(int16_t)
    case TALLY_U32:
        TY_ARROW_INTEGERS(uint32_t)
    case TALLY_I32:
        TY_ARROW_INTEGERS(int32_t)
    case TALLY_U64:
        TY_ARROW_WIDE(uint64_t)
    case TALLY_I64:
        TY_ARROW_WIDE(int64_t)
    case TALLY_F32:
        TY_ARROW_INTEGERS(float)
    case TALLY_F64:
        memcpy(into, from, count * sizeof *into);
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            uint16_t half;
            memcpy(&half, from + 2 * i, sizeof half);
            into[i] = ty_f16_decode(half);
        }
    }
    return inexact;
}

static tally_status refuse_inexact(const ty_arrow_span *s, tally_error *error)
{
    return ty_error(
        error, TALLY_ERROR_UNSUPPORTED,
        "%s: column '%s' has integers beyond 2^53, which are counted exactly only alone "
        "or with columns of its type, and beside a mask, weights or values only if "
        "none is missing",
        s->index->in.name, s->name);
}

/* Stored values to samples; bits begin at bit `bit`. */
static tally_status convert(const ty_arrow_span *s, const unsigned char *from, unsigned bit,
                            size_t count, const unsigned char *valid, void *to, tally_error *error)
{
    double *numbers = to;
    unsigned char *bytes = to;
    const ty_arrow_type *type = s->type;
    if (type->kind == TY_ARROW_BITS) {
        for (size_t i = 0; i < count; i++) {
            const unsigned value = from[(bit + i) / 8] >> (bit + i) % 8 & 1;
            if (s->dtype == TALLY_F64)
                numbers[i] = value;
            else
                bytes[i] = (unsigned char)value;
        }
    } else if (type->kind == TY_ARROW_DECIMAL) {
        double divisor = 1;
        for (int n = 0; n < type->scale; n++)
            divisor *= 10;
        for (size_t i = 0; i < count; i++)
            numbers[i] = decimal(from + i * type->bytes, type->bytes) / divisor;
    } else if (type->dtype == s->dtype) {
        memcpy(to, from, count * type->bytes);
    } else if (widen(type->dtype, from, count, valid, numbers)) {
        return refuse_inexact(s, error);
    }
    return TALLY_OK;
}

/* Indices of dictionary values to samples. */
static tally_status look_up(const ty_arrow_span *s, const unsigned char *from, size_t count,
                            const unsigned char *valid, unsigned char *to, tally_error *error)
{
    const size_t bytes = s->type->bytes, size = tally_dtype_bytes(s->dtype);
    for (size_t i = 0; i < count; i++, to += size) {
        uint64_t number = 0;
        memcpy(&number, from + i * bytes, bytes); /* a negative one is too large in any width */
        if (valid && !valid[i])
            memset(to, 0, size);
        else if (number >= s->part->known)
            return ty_arrow_damaged(s, "a number that its dictionary has not", error);
        else
            memcpy(to, s->values + number * size, size);
    }
    return TALLY_OK;
}

static void put_missing(tally_dtype dtype, const unsigned char *valid, size_t count, void *to)
{
    static const uint16_t half = 0x7e00;
    for (size_t i = 0; i < count; i++) {
        if (valid[i])
            continue;
        if (dtype == TALLY_F64)
            ((double *)to)[i] = NAN;
        else if (dtype == TALLY_F32)
            ((float *)to)[i] = NAN;
        else
            memcpy((unsigned char *)to + 2 * i, &half, sizeof half);
    }
}

/* At most TY_ARROW_PIECE rows. */
static tally_status read_piece(const ty_arrow_span *s, uint64_t first, size_t count, void *to,
                               tally_error *error)
{
    unsigned char scratch[TY_ARROW_PIECE * WIDEST], mask[TY_ARROW_PIECE];
    const unsigned char *from = scratch, *valid = s->part->missing ? mask : NULL;
    const size_t bytes = s->type->bytes;
    const uint64_t at = bytes ? first * bytes : first / 8;
    const size_t size = bytes ? count * bytes : (size_t)((first % 8 + count + 7) / 8);
    memset(mask, 1, count);
    tally_status status = valid ? find_valid(s, first, count, mask, error) : TALLY_OK;
    if (!status && s->type->kind == TY_ARROW_WORDS)
        status = ty_arrow_words_read(s, first, count, valid, to, error);
    else if (!status)
        status = ty_arrow_look(s, 0, at, size, scratch, &from, error);
    if (!status && s->type->kind != TY_ARROW_WORDS)
        status = s->values ? look_up(s, from, count, valid, to, error)
                           : convert(s, from, (unsigned)(first % 8), count, valid, to, error);
    if (!status && valid && s->dtype >= TALLY_F16)
        put_missing(s->dtype, valid, count, to);
    return status;
}

static tally_status read_span(const ty_arrow_span *s, uint64_t first, uint64_t count,
                              unsigned char *to, tally_error *error)
{
    const size_t size = tally_dtype_bytes(s->dtype);
    const unsigned char *from;
    /* Samples as they are stored, all at once. */
    if (!s->values && !s->block && !s->part->missing && s->type->kind == TY_ARROW_PLAIN &&
        s->type->dtype == s->dtype)
        return ty_arrow_look(s, 0, first * size, (size_t)count * size, to, &from, error);
    tally_status status = TALLY_OK;
    for (size_t n; count && !status; first += n, count -= n, to += n * size) {
        n = count < TY_ARROW_PIECE ? (size_t)count : TY_ARROW_PIECE;
        status = read_piece(s, first, n, to, error);
    }
    return status;
}

/* ---- Readers ---- */

ty_arrow_reader *ty_arrow_reader_open(const ty_arrow_index *index, uint32_t pick, tally_dtype dtype,
                                      tally_words *words)
{
    ty_arrow_reader *r = ty_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->index = index;
    r->column = index->schema.columns + index->picks[pick];
    r->pick = pick;
    r->dtype = dtype;
    r->words = words;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->made, NULL);
    return r;
}

void ty_arrow_reader_close(ty_arrow_reader *r)
{
    if (!r)
        return;
    for (ty_arrow_block *block = r->blocks, *next; block; block = next) {
        next = block->next;
        ty_arrow_block_clear(block);
        ty_free(block);
    }
    pthread_cond_destroy(&r->made);
    pthread_mutex_destroy(&r->lock);
    ty_free(r);
}

/* The batch that has `row`. */
static size_t batch_of(const ty_arrow_index *index, uint64_t row)
{
    size_t low = 0, high = index->batches;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->begin[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void span_of(const ty_arrow_reader *r, size_t batch, ty_arrow_span *span)
{
    const ty_arrow_column *c = r->column;
    const ty_arrow_part *part = r->index->parts + batch * r->index->count + r->pick;
    *span = (ty_arrow_span){.index = r->index,
                            .name = c->name,
                            .type = c->has_dictionary ? &c->index : &c->type,
                            .part = part,
                            .levels = c->levels,
                            .dtype = r->dtype,
                            .words = r->words};
    if (c->has_dictionary)
        span->values = r->index->chain[part->chain].values[r->pick];
}

static tally_status mask_span(const ty_arrow_span *s, uint64_t first, uint64_t count,
                              unsigned char *mask, tally_error *error)
{
    tally_status status = TALLY_OK;
    for (size_t n; s->part->missing && count && !status; first += n, count -= n, mask += n) {
        n = count < TY_ARROW_PIECE ? (size_t)count : TY_ARROW_PIECE;
        status = find_valid(s, first, n, mask, error);
    }
    return status;
}

/* Samples, or which there are. */
typedef tally_status (*span_read)(const ty_arrow_span *s, uint64_t first, uint64_t count,
                                  unsigned char *to, tally_error *error);

static tally_status read_batch(ty_arrow_reader *r, span_read read, size_t batch, uint64_t first,
                               uint64_t count, unsigned char *to, tally_error *error)
{
    ty_arrow_span span;
    span_of(r, batch, &span);
    tally_status status = TALLY_OK;
    if (span.part->codec == TY_ARROW_NONE)
        return read(&span, first, count, to, error);
    ty_arrow_block *block = take_block(r, &span, batch, &status, error);
    span.block = block;
    if (!status)
        status = read(&span, first, count, to, error);
    if (block)
        give_block(r, block);
    return status;
}

/* Numbers of a dictionary's values, at most TY_ARROW_PIECE, that are there. */
static tally_status count_piece(const ty_arrow_span *s, uint64_t first, size_t count,
                                ty_codes *codes, tally_error *error)
{
    unsigned char scratch[TY_ARROW_PIECE * WIDEST], mask[TY_ARROW_PIECE];
    uint32_t numbers[TY_ARROW_PIECE];
    const unsigned char *from = scratch, *valid = s->part->missing ? mask : NULL;
    const size_t bytes = s->type->bytes;
    size_t there = 0;
    memset(mask, 1, count);
    tally_status status = valid ? find_valid(s, first, count, mask, error) : TALLY_OK;
    if (!status)
        status = ty_arrow_look(s, 0, first * bytes, count * bytes, scratch, &from, error);
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t number = 0;
        memcpy(&number, from + i * bytes, bytes);
        if (valid && !valid[i])
            continue;
        if (number >= s->part->known)
            return ty_arrow_damaged(s, "a number that its dictionary has not", error);
        numbers[there++] = (uint32_t)number;
    }
    if (!status)
        ty_codes_add(codes, numbers, there);
    codes->missing += count - there;
    return status;
}

int ty_arrow_count_codes(ty_arrow_reader *r, size_t batch, ty_codes *codes)
{
    const ty_arrow_part *part = r->index->parts + batch * r->index->count + r->pick;
    ty_arrow_span span;
    tally_error unsaid;
    tally_status status = TALLY_OK;
    if (!r->column->has_dictionary || part->known > UINT32_MAX ||
        !ty_codes_begin(codes, (size_t)part->known, part->rows))
        return 0;
    span_of(r, batch, &span);
    ty_arrow_block *block =
        part->codec != TY_ARROW_NONE ? take_block(r, &span, batch, &status, &unsaid) : NULL;
    span.block = block;
    for (uint64_t row = 0, n; row < part->rows && !status; row += n) {
        n = part->rows - row < TY_ARROW_PIECE ? part->rows - row : TY_ARROW_PIECE;
        status = count_piece(&span, row, (size_t)n, codes, &unsaid);
    }
    if (block)
        give_block(r, block);
    codes->dtype = r->dtype;
    codes->values = span.values;
    return !status && ty_codes_end(codes);
}

/* Each row has `bytes` at `at`. */
static tally_status read_rows(ty_arrow_reader *r, span_read read, uint64_t row, uint64_t count,
                              unsigned char *at, size_t bytes, tally_error *error)
{
    const ty_arrow_index *index = r->index;
    tally_status status = TALLY_OK;
    while (count && !status) {
        const size_t batch = batch_of(index, row);
        const uint64_t left = index->begin[batch + 1] - row, n = left < count ? left : count;
        status = read_batch(r, read, batch, row - index->begin[batch], n, at, error);
        row += n;
        count -= n;
        at += n * bytes;
    }
    return status;
}

tally_status ty_arrow_read(ty_arrow_reader *r, uint64_t row, uint64_t count, void *to,
                           tally_error *error)
{
    return read_rows(r, read_span, row, count, to, tally_dtype_bytes(r->dtype), error);
}

tally_status ty_arrow_mask(ty_arrow_reader *r, uint64_t row, uint64_t count, unsigned char *mask,
                           tally_error *error)
{
    return read_rows(r, mask_span, row, count, mask, 1, error);
}

tally_status ty_arrow_chain_load(const ty_arrow_index *index, ty_arrow_chain *chain, uint32_t pick,
                                 tally_dtype dtype, tally_words *words, tally_error *error)
{
    const ty_arrow_column *c = index->schema.columns + index->picks[pick];
    const size_t size = tally_dtype_bytes(dtype);
    if (!c->has_dictionary || c->dictionary != chain->id)
        return TALLY_OK;
    unsigned char *to =
        chain->count < SIZE_MAX / 16 ? ty_malloc((size_t)chain->count * size + 1) : NULL;
    chain->values[pick] = to;
    if (!to)
        return ty_error_memory(error, "an Arrow dictionary", chain->count * size);
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < chain->parts && !status; i++) {
        ty_arrow_block block;
        memset(&block, 0, sizeof block);
        ty_arrow_span span = {.index = index,
                              .name = c->name,
                              .type = &c->type,
                              .part = chain->part + i,
                              .levels = 1,
                              .dtype = dtype,
                              .words = words};
        if (span.part->codec != TY_ARROW_NONE) {
            status = ty_arrow_block_make(&span, &block, error);
            span.block = &block;
        }
        if (!status)
            status = read_span(&span, 0, span.part->rows, to, error);
        ty_arrow_block_clear(&block);
        to += span.part->rows * size;
    }
    return status;
}
