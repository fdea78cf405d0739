/* Arrow's buffers to samples: bits, indices and decimals decoded, missing values NaN. Compressed
 * buffers are unpacked once for all threads that read a batch. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif
#if TALLY_HAVE_LZ4
#include <lz4frame.h>
#endif

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "io/arrow.h"

enum { PIECE = 4096, WIDEST = 16 };

/* A column's part of a batch as it is read: buffers in the file, or unpacked in memory. */
typedef struct ty_arrow_block {
    struct ty_arrow_block *next;
    size_t batch;
    unsigned users;
    enum { MAKING, READY, BROKEN } state;
    tally_status status;
    tally_error error;
    /* The values', then those of the levels; NULL: none is stored. */
    unsigned char *buffers[TY_ARROW_DEEPEST + 1];
    uint64_t sizes[TY_ARROW_DEEPEST + 1];
} ty_arrow_block;

struct ty_arrow_reader {
    const ty_arrow_index *index;
    const ty_arrow_column *column;
    uint32_t pick;
    tally_dtype dtype;
    pthread_mutex_t lock;
    pthread_cond_t made;
    ty_arrow_block *blocks; /* of compressed batches: those in use, and the last that was */
};

/* Rows [first, first + count) of a part, on their way to samples. */
typedef struct ty_arrow_span {
    const ty_arrow_index *index;
    const char *name; /* the column's */
    const ty_arrow_type *type;
    const ty_arrow_part *part;
    uint32_t levels;
    const ty_arrow_chain *chain; /* NULL: values are stored themselves */
    const ty_arrow_block *block; /* NULL: in the file */
    tally_dtype dtype;
} ty_arrow_span;

static tally_status damaged(const ty_arrow_span *s, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: column '%s': %s, in the buffer at byte %" PRIu64, s->index->in.name,
                    s->name, what, s->part->data.at);
}

/* ---- Unpacking ---- */

#if TALLY_HAVE_LZ4
static int unpack_lz4(const unsigned char *from, size_t packed, unsigned char *into, size_t size)
{
    LZ4F_dctx *state;
    size_t at = 0, done = 0, left = 1;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)))
        return 1;
    while (left && !LZ4F_isError(left)) {
        size_t take = packed - at, give = size - done;
        left = LZ4F_decompress(state, into + done, &give, from + at, &take, NULL);
        at += take;
        done += give;
        if (!take && !give)
            break;
    }
    LZ4F_freeDecompressionContext(state);
    return left || done != size;
}
#endif

/* Nonzero when damaged. */
static int unpack(ty_arrow_codec codec, const unsigned char *from, size_t packed,
                  unsigned char *into, size_t size)
{
#if TALLY_HAVE_ZSTD
    if (codec == TY_ARROW_ZSTD)
        return ZSTD_decompress(into, size, from, packed) != size;
#endif
#if TALLY_HAVE_LZ4
    if (codec == TY_ARROW_LZ4)
        return unpack_lz4(from, packed, into, size);
#endif
    (void)from;
    (void)packed;
    (void)into;
    return codec != TY_ARROW_NONE || size;
}

/* A buffer begins with the number of bytes that it unpacks to, or -1: it is not packed. */
static tally_status unpack_buffer(const ty_arrow_span *s, const ty_arrow_buffer *buffer,
                                  unsigned char **bytes, uint64_t *size, tally_error *error)
{
    const ty_seekable *in = &s->index->in;
    if (buffer->size < 8)
        return buffer->size ? damaged(s, "a packed buffer is cut", error) : TALLY_OK;
    if (buffer->size > SIZE_MAX)
        return ty_error_memory(error, "a packed Arrow buffer", buffer->size);
    unsigned char *stored = ty_malloc((size_t)buffer->size);
    if (!stored)
        return ty_error_memory(error, "a packed Arrow buffer", buffer->size);
    tally_status status = ty_file_read_at(in->name, in->file, in->start + buffer->at, stored,
                                          (size_t)buffer->size, error);
    const uint64_t packed = buffer->size - 8;
    uint64_t all = 0;
    if (!status)
        memcpy(&all, stored, sizeof all);
    const int is_packed = all != UINT64_MAX;
    all = is_packed ? all : packed;
    if (!status && all / TY_ARROW_RATIO > packed + 1)
        status = damaged(s, "more values than its packed bytes can hold", error);
    if (!status && !(*bytes = ty_malloc(all ? (size_t)all : 1)))
        status = ty_error_memory(error, "an Arrow buffer", all);
    if (!status && !is_packed)
        memcpy(*bytes, stored + 8, (size_t)all);
    else if (!status && all &&
             unpack(s->part->codec, stored + 8, (size_t)packed, *bytes, (size_t)all))
        status = damaged(s, "its packed bytes are damaged", error);
    *size = all;
    ty_free(stored);
    return status;
}

static tally_status make_block(const ty_arrow_span *s, ty_arrow_block *block, tally_error *error)
{
    tally_status status =
        unpack_buffer(s, &s->part->data, &block->buffers[0], &block->sizes[0], error);
    for (uint32_t l = 0; l < s->levels && s->part->missing && !status; l++)
        status = unpack_buffer(s, s->index->valid + s->part->valid + l, &block->buffers[1 + l],
                               &block->sizes[1 + l], error);
    return status;
}

static void free_block(ty_arrow_block *block)
{
    for (size_t i = 0; i < sizeof block->buffers / sizeof *block->buffers; i++)
        ty_free(block->buffers[i]);
    ty_free(block);
}

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
        while (block->state == MAKING)
            pthread_cond_wait(&r->made, &r->lock);
        pthread_mutex_unlock(&r->lock);
    } else if ((block = ty_calloc(1, sizeof *block))) {
        block->batch = batch;
        block->users = 1;
        block->next = r->blocks;
        r->blocks = block;
        pthread_mutex_unlock(&r->lock);
        block->status = make_block(s, block, &block->error);
        pthread_mutex_lock(&r->lock);
        block->state = block->status ? BROKEN : READY;
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

/* Blocks without a user go, but for the one that was used last. */
static void give_block(ty_arrow_reader *r, ty_arrow_block *block)
{
    pthread_mutex_lock(&r->lock);
    block->users--;
    for (ty_arrow_block **at = &r->blocks, *one; (one = *at);) {
        if (one->users || (one == block && one->state == READY)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        free_block(one);
    }
    pthread_mutex_unlock(&r->lock);
}

/* ---- Values ---- */

/* Bytes [at, at + size) of buffer `which` of a span, at *bytes; `scratch` holds them if need be. */
static tally_status look(const ty_arrow_span *s, unsigned which, uint64_t at, size_t size,
                         unsigned char *scratch, const unsigned char **bytes, tally_error *error)
{
    const ty_arrow_buffer *buffer =
        which ? s->index->valid + s->part->valid + which - 1 : &s->part->data;
    const uint64_t there = s->block ? s->block->sizes[which] : buffer->size;
    if (at > there || size > there - at)
        return damaged(s, "its values are cut", error);
    *bytes = scratch;
    if (s->block) {
        *bytes = s->block->buffers[which] + at;
        return TALLY_OK;
    }
    const ty_seekable *in = &s->index->in;
    return ty_file_read_at(in->name, in->file, in->start + buffer->at + at, scratch, size, error);
}

/* Which of `count` rows from `first` on have a value. */
static tally_status find_valid(const ty_arrow_span *s, uint64_t first, size_t count,
                               unsigned char *valid, tally_error *error)
{
    unsigned char scratch[PIECE / 8 + 1];
    const unsigned char *bits;
    memset(valid, 1, count);
    for (uint32_t l = 0; l < s->levels; l++) {
        const uint64_t size =
            s->block ? s->block->sizes[1 + l] : s->index->valid[s->part->valid + l].size;
        if (!size)
            continue;
        const uint64_t from = first / 8, to = (first + count + 7) / 8;
        tally_status status = look(s, 1 + l, from, (size_t)(to - from), scratch, &bits, error);
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
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: column '%s' has integers beyond 2^53, which are counted exactly only in a "
                    "column without missing values, alone or with columns of its type",
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
            return damaged(s, "a number that its dictionary has not", error);
        else
            memcpy(to, s->chain->values + number * size, size);
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

/* At most PIECE rows. */
static tally_status read_piece(const ty_arrow_span *s, uint64_t first, size_t count, void *to,
                               tally_error *error)
{
    unsigned char scratch[PIECE * WIDEST], mask[PIECE];
    const unsigned char *from = scratch, *valid = s->part->missing ? mask : NULL;
    const size_t bytes = s->type->bytes;
    const uint64_t at = bytes ? first * bytes : first / 8;
    const size_t size = bytes ? count * bytes : (size_t)((first % 8 + count + 7) / 8);
    tally_status status = valid ? find_valid(s, first, count, mask, error) : TALLY_OK;
    if (!status)
        status = look(s, 0, at, size, scratch, &from, error);
    if (!status)
        status = s->chain ? look_up(s, from, count, valid, to, error)
                          : convert(s, from, (unsigned)(first % 8), count, valid, to, error);
    if (!status && valid)
        put_missing(s->dtype, valid, count, to);
    return status;
}

static tally_status read_span(const ty_arrow_span *s, uint64_t first, uint64_t count,
                              unsigned char *to, tally_error *error)
{
    const size_t size = tally_dtype_bytes(s->dtype);
    const unsigned char *from;
    /* Samples as they are stored, all at once. */
    if (!s->chain && !s->block && !s->part->missing && s->type->kind == TY_ARROW_PLAIN &&
        s->type->dtype == s->dtype)
        return look(s, 0, first * size, (size_t)count * size, to, &from, error);
    tally_status status = TALLY_OK;
    for (size_t n; count && !status; first += n, count -= n, to += n * size) {
        n = count < PIECE ? (size_t)count : PIECE;
        status = read_piece(s, first, n, to, error);
    }
    return status;
}

/* ---- Readers ---- */

ty_arrow_reader *ty_arrow_reader_open(const ty_arrow_index *index, uint32_t pick, tally_dtype dtype)
{
    ty_arrow_reader *r = ty_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->index = index;
    r->column = index->schema.columns + index->picks[pick];
    r->pick = pick;
    r->dtype = dtype;
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
        free_block(block);
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

static tally_status read_batch(ty_arrow_reader *r, size_t batch, uint64_t first, uint64_t count,
                               unsigned char *to, tally_error *error)
{
    const ty_arrow_column *c = r->column;
    const ty_arrow_part *part = r->index->parts + batch * r->index->count + r->pick;
    ty_arrow_span span = {.index = r->index,
                          .name = c->name,
                          .type = c->has_dictionary ? &c->index : &c->type,
                          .part = part,
                          .levels = c->levels,
                          .dtype = r->dtype};
    tally_status status = TALLY_OK;
    if (c->has_dictionary)
        span.chain = r->index->chain + part->chain;
    if (part->codec == TY_ARROW_NONE)
        return read_span(&span, first, count, to, error);
    ty_arrow_block *block = take_block(r, &span, batch, &status, error);
    span.block = block;
    if (!status)
        status = read_span(&span, first, count, to, error);
    if (block)
        give_block(r, block);
    return status;
}

tally_status ty_arrow_read(ty_arrow_reader *r, uint64_t row, uint64_t count, void *to,
                           tally_error *error)
{
    const ty_arrow_index *index = r->index;
    unsigned char *at = to;
    tally_status status = TALLY_OK;
    while (count && !status) {
        const size_t batch = batch_of(index, row);
        const uint64_t left = index->begin[batch + 1] - row, n = left < count ? left : count;
        status = read_batch(r, batch, row - index->begin[batch], n, at, error);
        row += n;
        count -= n;
        at += n * tally_dtype_bytes(r->dtype);
    }
    return status;
}

tally_status ty_arrow_chain_load(const ty_arrow_index *index, ty_arrow_chain *chain,
                                 tally_dtype dtype, tally_error *error)
{
    const ty_arrow_column *c = index->schema.columns + chain->column;
    const size_t size = tally_dtype_bytes(dtype);
    chain->values =
        chain->count < SIZE_MAX / 16 ? ty_malloc((size_t)chain->count * size + 1) : NULL;
    if (!chain->values)
        return ty_error_memory(error, "an Arrow dictionary", chain->count * size);
    unsigned char *to = chain->values;
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < chain->parts && !status; i++) {
        ty_arrow_block block;
        memset(&block, 0, sizeof block);
        ty_arrow_span span = {.index = index,
                              .name = c->name,
                              .type = &c->type,
                              .part = chain->part + i,
                              .levels = 1,
                              .dtype = dtype};
        if (span.part->codec != TY_ARROW_NONE) {
            status = make_block(&span, &block, error);
            span.block = &block;
        }
        if (!status)
            status = read_span(&span, 0, span.part->rows, to, error);
        for (size_t k = 0; k < 2; k++)
            ty_free(block.buffers[k]);
        to += span.part->rows * size;
    }
    return status;
}
