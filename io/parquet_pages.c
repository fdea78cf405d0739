/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a column chunk, one after the other: read, unpacked, and their rows handed out. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif
#if TALLY_HAVE_LZ4
#include <lz4.h>
#endif

#include "core/alloc.h"
#include "core/error.h"
#include "io/checksum.h"
#include "io/parquet.h"
#include "io/rows.h"
#include "io/seekable.h"
#include "io/snappy.h"

enum { INPUT_BYTES = 1 << 16, HEADER_MOST = 1 << 20, PADDING = 16 };

typedef struct ty_pq_page {
    int type;
    uint64_t packed, unpacked; /* bytes */
    uint64_t rows;             /* values, missing ones too */
    int encoding, levels_encoding;
    uint64_t levels_bytes, repetition_bytes; /* of version 2 */
    int is_packed;
    int has_checksum;
    uint32_t checksum; /* of the bytes as stored */
} ty_pq_page;

static tally_status damaged(const ty_pq_cursor *c, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: the Parquet page of column '%s' at byte %" PRIu64 " is damaged: %s",
                    c->name, c->values.target.column->name, c->next, what);
}

/* At least `bytes` bytes of room, with the padding, in *buffer; what it held is lost. Of pages that
 * differ a little in size not every larger one needs new memory. */
static tally_status make_room(unsigned char **buffer, size_t *room, uint64_t bytes,
                              tally_error *error)
{
    if (bytes <= *room && *buffer)
        return TALLY_OK;
    ty_free(*buffer);
    *room = 0;
    *buffer = NULL;
    if (bytes < SIZE_MAX / 2) {
        bytes += bytes / 8;
        *buffer = ty_malloc((size_t)bytes + PADDING);
    }
    if (!*buffer)
        return ty_error_memory(error, "a Parquet page", bytes);
    *room = (size_t)bytes;
    memset(*buffer + *room, 0, PADDING);
    return TALLY_OK;
}

/* The file's bytes [at, at + size), which lie in the chunk, at *bytes until the next call. */
static tally_status look(ty_pq_cursor *c, uint64_t at, uint64_t size, const unsigned char **bytes,
                         tally_error *error)
{
    if (at < c->input_at || at + size > c->input_at + c->input_size) {
        uint64_t wanted = c->chunk->end - at < INPUT_BYTES ? c->chunk->end - at : INPUT_BYTES;
        if (wanted < size)
            wanted = size;
        c->input_size = 0;
        tally_status status = make_room(&c->input, &c->input_room, wanted, error);
        if (status)
            return status;
        c->input_at = at;
        status = ty_file_read_at(c->name, c->file, c->start + at, c->input, (size_t)wanted, error);
        if (status)
            return status;
        c->input_size = (size_t)wanted;
        memset(c->input + c->input_size, 0, PADDING);
    }
    *bytes = c->input + (at - c->input_at);
    return TALLY_OK;
}

/* ---- Headers ---- */

static void read_page_fields(ty_thrift *t, ty_pq_page *page)
{
    int field = 0;
    const int is_v2 = page->type == TY_PQ_DATA_PAGE_V2;
    page->is_packed = 1;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        if (field == 1)
            page->rows = ty_thrift_size(t, type);
        else if (field == (is_v2 ? 4 : 2))
            page->encoding = (int)ty_thrift_integer(t, type);
        else if (!is_v2 && field == 3 && page->type == TY_PQ_DATA_PAGE)
            page->levels_encoding = (int)ty_thrift_integer(t, type);
        else if (is_v2 && field == 5)
            page->levels_bytes = ty_thrift_size(t, type);
        else if (is_v2 && field == 6)
            page->repetition_bytes = ty_thrift_size(t, type);
        else if (is_v2 && field == 7)
            page->is_packed = type == TY_THRIFT_TRUE;
        else
            ty_thrift_skip(t, type);
    }
}

static void read_header_fields(ty_thrift *t, ty_pq_page *page)
{
    int field = 0;
    memset(page, 0, sizeof *page);
    page->type = -1;
    page->levels_encoding = TY_PQ_RLE;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        if (field == 1)
            page->type = (int)ty_thrift_integer(t, type);
        else if (field == 2)
            page->unpacked = ty_thrift_size(t, type);
        else if (field == 3)
            page->packed = ty_thrift_size(t, type);
        else if (field == 4) {
            page->checksum = (uint32_t)ty_thrift_integer(t, type);
            page->has_checksum = 1;
        } else if ((field == 5 && page->type == TY_PQ_DATA_PAGE) ||
                   (field == 7 && page->type == TY_PQ_DICTIONARY_PAGE) ||
                   (field == 8 && page->type == TY_PQ_DATA_PAGE_V2))
            read_page_fields(t, page);
        else
            ty_thrift_skip(t, type);
    }
}

/* The header at c->next, which then is the place of the page's bytes. */
static tally_status read_header(ty_pq_cursor *c, ty_pq_page *page, tally_error *error)
{
    for (uint64_t size = 256;; size *= 8) {
        const uint64_t left = c->chunk->end - c->next;
        const unsigned char *bytes;
        if (size > left)
            size = left;
        if (!left)
            return damaged(c, "the column ends too early", error);
        tally_status status = look(c, c->next, size, &bytes, error);
        if (status)
            return status;
        ty_thrift t = {bytes, bytes + size, 0};
        read_header_fields(&t, page);
        if (!t.failed) {
            c->next += (uint64_t)(t.at - bytes);
            return page->packed > c->chunk->end - c->next
                       ? damaged(c, "it reaches beyond its column", error)
                       : TALLY_OK;
        }
        if (size == left || size >= HEADER_MOST)
            return damaged(c, "its header", error);
    }
}

/* ---- Unpacking ---- */

static tally_status refuse_codec(const ty_pq_cursor *c, tally_error *error)
{
    static const char *const names[] = {"no compression", "Snappy", "gzip",      "LZO",
                                        "Brotli",         "LZ4",    "Zstandard", "LZ4"};
    const int codec = c->chunk->codec;
    const int known = codec >= 0 && codec < (int)(sizeof names / sizeof *names);
    const int is_ours = codec == TY_PQ_GZIP || codec == TY_PQ_ZSTD || codec == TY_PQ_LZ4_RAW;
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: column '%s' is compressed by %s, which %s; write the file with Snappy, "
                    "Zstandard or none",
                    c->name, c->values.target.column->name, known ? names[codec] : "a new codec",
                    is_ours ? "this build of Tally has not" : "is not read");
}

/* The most bytes that `packed` of them can unpack to, for memory is asked for before. */
static uint64_t most_unpacked(int codec, uint64_t packed)
{
    switch (codec) {
    case TY_PQ_SNAPPY:
        return packed * 32 + 64;
    case TY_PQ_GZIP:
        return packed * 1040 + 64;
    case TY_PQ_LZ4_RAW:
        return packed * 256 + 64;
    case TY_PQ_ZSTD:
        return packed * 40000 + 64; /* blocks of one value repeated */
    default:
        return packed;
    }
}

#if TALLY_HAVE_ZLIB
static int unzip(const unsigned char *from, uint64_t packed, unsigned char *into, uint64_t size)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (packed > UINT32_MAX || size > UINT32_MAX || inflateInit2(&z, 15 + 32) != Z_OK)
        return 1;
    z.next_in = (unsigned char *)from;
    z.avail_in = (unsigned)packed;
    z.next_out = into;
    z.avail_out = (unsigned)size;
    const int done = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_out;
    inflateEnd(&z);
    return !done;
}
#endif

/* Nonzero when damaged. The codec is one that this build has. */
static int unpack(int codec, const unsigned char *from, uint64_t packed, unsigned char *into,
                  uint64_t size)
{
    switch (codec) {
    case TY_PQ_SNAPPY:
        return ty_snappy_unpack(from, (size_t)packed, into, (size_t)size);
#if TALLY_HAVE_ZLIB
    case TY_PQ_GZIP:
        return unzip(from, packed, into, size);
#endif
#if TALLY_HAVE_ZSTD
    case TY_PQ_ZSTD:
        return ZSTD_decompress(into, (size_t)size, from, (size_t)packed) != size;
#endif
#if TALLY_HAVE_LZ4
    case TY_PQ_LZ4_RAW:
        return packed > INT32_MAX || size > INT32_MAX ||
               LZ4_decompress_safe((const char *)from, (char *)into, (int)packed, (int)size) !=
                   (int)size;
#endif
    default:
        return 1;
    }
}

static int has_codec(int codec)
{
    return codec == TY_PQ_NONE || codec == TY_PQ_SNAPPY ||
           (TALLY_HAVE_ZLIB && codec == TY_PQ_GZIP) || (TALLY_HAVE_ZSTD && codec == TY_PQ_ZSTD) ||
           (TALLY_HAVE_LZ4 && codec == TY_PQ_LZ4_RAW);
}

/* The page's bytes, unpacked but for its first `plain` ones, which are stored as they are; at
 * *bytes until the next page is read. */
static tally_status read_body(ty_pq_cursor *c, const ty_pq_page *page, uint64_t plain,
                              const unsigned char **bytes, tally_error *error)
{
    const unsigned char *stored;
    if (!has_codec(c->chunk->codec))
        return refuse_codec(c, error);
    tally_status status = look(c, c->next, page->packed, &stored, error);
    if (status)
        return status;
    if (page->has_checksum && !ty_checksum_is(stored, (size_t)page->packed, page->checksum))
        return damaged(c, "its checksum", error);
    if (plain > page->packed || plain > page->unpacked)
        return damaged(c, "its levels are longer than the page", error);
    if (c->chunk->codec == TY_PQ_NONE || !page->is_packed) {
        *bytes = stored;
        return page->packed == page->unpacked ? TALLY_OK : damaged(c, "its size", error);
    }
    const uint64_t size = page->unpacked - plain, packed = page->packed - plain;
    if (size > most_unpacked(c->chunk->codec, packed))
        return damaged(c, "more bytes than its compressed ones can hold", error);
    status = make_room(&c->page, &c->page_room, page->unpacked, error);
    if (status)
        return status;
    memcpy(c->page, stored, (size_t)plain);
    memset(c->page + page->unpacked, 0, PADDING);
    if (size && unpack(c->chunk->codec, stored + plain, packed, c->page + plain, size))
        return damaged(c, "its compressed bytes", error);
    *bytes = c->page;
    return TALLY_OK;
}

/* ---- Pages ---- */

/* `what` is damaged, or worse. */
static tally_status refuse(const ty_pq_cursor *c, ty_pq_fault fault, const char *what,
                           tally_error *error)
{
    const ty_pq_target *target = &c->values.target;
    if (fault == TY_PQ_DAMAGED)
        return damaged(c, what, error);
    if (fault == TY_PQ_WORDS)
        return ty_words_status(target->words, c->name, target->column->name, error);
    return ty_error(
        error, TALLY_ERROR_UNSUPPORTED,
        "%s: column '%s' has integers beyond 2^53, which are counted exactly only alone "
        "or with columns of its type, and beside a mask, weights or values only if "
        "none is missing",
        c->name, target->column->name);
}

/* Kept in the type that values are handed out in. */
static tally_status take_dictionary(ty_pq_cursor *c, const ty_pq_page *page, tally_error *error)
{
    const unsigned char *bytes;
    ty_pq_values *v = &c->values;
    tally_status status = read_body(c, page, 0, &bytes, error);
    if (status)
        return status;
    const size_t least = v->target.words ? 4 : v->target.bytes;
    if (!least || page->rows > page->unpacked / least ||
        (page->encoding != TY_PQ_PLAIN && page->encoding != TY_PQ_PLAIN_DICTIONARY))
        return damaged(c, "its dictionary", error);
    status = make_room(&c->dictionary, &c->dictionary_room,
                       page->rows * tally_dtype_bytes(v->target.dtype), error);
    if (status)
        return status;
    const ty_pq_fault fault =
        v->target.words ? ty_pq_convert_words(&v->target, &bytes, bytes + page->unpacked,
                                              (size_t)page->rows, (double *)(void *)c->dictionary)
                        : ty_pq_convert(&v->target, bytes, (size_t)page->rows, c->dictionary);
    if (fault)
        return refuse(c, fault, "its dictionary", error);
    v->dictionary = c->dictionary;
    v->dictionary_count = (size_t)page->rows;
    return TALLY_OK;
}

/* Finds the levels in front of the values: [*at, *at + size of levels). Nonzero when damaged. */
static int find_levels(ty_pq_cursor *c, const ty_pq_page *page, const unsigned char **at,
                       const unsigned char *end)
{
    const int levels = c->values.target.column->levels;
    unsigned bits = 0;
    uint64_t size = page->levels_bytes;
    for (int n = levels; n; n >>= 1)
        bits++;
    c->page_missing = levels > 0;
    if (page->type == TY_PQ_DATA_PAGE) {
        if (!levels)
            return 0;
        uint32_t stored;
        if (page->levels_encoding != TY_PQ_RLE || end - *at < 4)
            return 1;
        memcpy(&stored, *at, sizeof stored);
        *at += sizeof stored;
        size = stored;
    }
    if (size > (uint64_t)(end - *at))
        return 1;
    ty_pq_runs_begin(&c->levels, *at, (size_t)size, bits);
    *at += size;
    return 0;
}

static tally_status open_data_page(ty_pq_cursor *c, const ty_pq_page *page, tally_error *error)
{
    const unsigned char *at = NULL;
    const int is_v2 = page->type == TY_PQ_DATA_PAGE_V2;
    if (page->rows > c->rows_left)
        return damaged(c, "it has more rows than its column", error);
    if (is_v2 && page->repetition_bytes)
        return damaged(c, "it has lists in a column of single values", error);
    tally_status status = read_body(c, page, is_v2 ? page->levels_bytes : 0, &at, error);
    if (status)
        return status;
    const unsigned char *const end = at + page->unpacked;
    if (find_levels(c, page, &at, end))
        return damaged(c, "its definition levels", error);
    if (page->encoding == TY_PQ_DELTA_PREFIXES) {
        status = make_room(&c->last, &c->last_room, page->unpacked, error);
        if (status)
            return status;
        c->values.last = c->last;
    }
    /* A page whose rows are all missing may have no byte of values. */
    if (at == end && c->page_missing)
        c->values.encoding = -1;
    else if (ty_pq_values_begin(&c->values, page->encoding, at, end))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: the Parquet page of column '%s' at byte %" PRIu64
                        " has encoding %d, which is damaged or not known for its type",
                        c->name, c->values.target.column->name, c->next, page->encoding);
    c->page_left = page->rows;
    c->rows_left -= page->rows;
    return TALLY_OK;
}

/* Opens the next page with rows; but passes, unread, over pages of which none is after *skip rows,
 * and takes theirs off. */
static tally_status open_page(ty_pq_cursor *c, uint64_t *skip, tally_error *error)
{
    while (!c->page_left && c->rows_left) {
        ty_pq_page page;
        tally_status status = read_header(c, &page, error);
        if (status)
            return status;
        const int is_data = page.type == TY_PQ_DATA_PAGE || page.type == TY_PQ_DATA_PAGE_V2;
        if (page.type == TY_PQ_DICTIONARY_PAGE) {
            status = take_dictionary(c, &page, error);
        } else if (is_data && page.rows <= *skip && page.rows <= c->rows_left) {
            *skip -= page.rows;
            c->rows_left -= page.rows;
        } else if (is_data) {
            status = open_data_page(c, &page, error);
        }
        if (status)
            return status;
        c->next += page.packed;
    }
    return c->page_left || !*skip ? TALLY_OK : damaged(c, "its column has fewer rows", error);
}

/* ---- Rows ---- */

void ty_pq_cursor_close(ty_pq_cursor *c)
{
    ty_free(c->input);
    ty_free(c->page);
    ty_free(c->dictionary);
    ty_free(c->last);
    ty_free(c->valid);
}

void ty_pq_cursor_begin(ty_pq_cursor *c, const ty_pq_chunk *chunk)
{
    c->chunk = chunk;
    c->next = chunk->begin;
    c->input_size = 0;
    c->rows_left = chunk->values;
    c->page_left = 0;
    c->values.dictionary = NULL;
    c->values.dictionary_count = 0;
}

tally_status ty_pq_cursor_levels(ty_pq_cursor *c, size_t rows, unsigned char *valid, size_t *count,
                                 tally_error *error)
{
    const uint32_t whole = (uint32_t)c->values.target.column->levels;
    *count = 0;
    for (size_t done = 0; done < rows;) {
        size_t n = ty_pq_runs_open(&c->levels, rows - done);
        if (!n)
            return damaged(c, "its definition levels end early", error);
        if (c->levels.packed) {
            uint32_t levels[1024];
            n = n < 1024 ? n : 1024;
            ty_pq_runs_unpack(&c->levels, n, levels);
            for (size_t i = 0; i < n; i++)
                *count += levels[i] == whole;
            for (size_t i = 0; valid && i < n; i++)
                valid[done + i] = levels[i] == whole;
        } else {
            if (valid)
                memset(valid + done, c->levels.value == whole, n);
            *count += c->levels.value == whole ? n : 0;
        }
        c->levels.left -= n;
        done += n;
    }
    return TALLY_OK;
}

/* `count` values at the beginning of `into` go to the rows that have one, NaN, or 0 of integers, to
 * the others. */
static void spread(const ty_pq_cursor *c, size_t rows, size_t count, void *into)
{
    for (size_t i = rows; i-- > 0;) {
        const int valid = c->valid[i];
        count -= (size_t)valid;
        switch (c->values.target.dtype) {
        case TALLY_F64:
            ((double *)into)[i] = valid ? ((double *)into)[count] : (double)NAN;
            break;
        case TALLY_F32:
            ((float *)into)[i] = valid ? ((float *)into)[count] : NAN;
            break;
        case TALLY_I64:
        case TALLY_U64:
            ((uint64_t *)into)[i] = valid ? ((uint64_t *)into)[count] : 0;
            break;
        default:
            ((uint16_t *)into)[i] = valid ? ((uint16_t *)into)[count] : 0x7e00;
        }
    }
}

/* Rows of the page that is open. */
static tally_status read_rows(ty_pq_cursor *c, size_t rows, void *into, unsigned char *mask,
                              tally_error *error)
{
    const tally_dtype dtype = c->values.target.dtype;
    size_t count = rows;
    tally_status status = TALLY_OK;
    if (c->page_missing)
        status = make_room(&c->valid, &c->valid_room, rows, error);
    if (!status && c->page_missing)
        status = ty_pq_cursor_levels(c, rows, c->valid, &count, error);
    if (status)
        return status;
    if (count < rows && dtype < TALLY_F16 && !c->values.target.masked)
        return damaged(c, "the footer says that no value is missing, and one is", error);
    const ty_pq_fault fault = count && c->values.encoding < 0 ? TY_PQ_DAMAGED
                              : count ? ty_pq_values_read(&c->values, count, into)
                                      : TY_PQ_FINE;
    if (fault)
        return refuse(c, fault, "its values", error);
    if (count < rows)
        spread(c, rows, count, into);
    if (mask && count < rows)
        memcpy(mask, c->valid, rows);
    else if (mask)
        memset(mask, 1, rows);
    return TALLY_OK;
}

tally_status ty_pq_cursor_open(ty_pq_cursor *c, tally_error *error)
{
    uint64_t none = 0;
    return open_page(c, &none, error);
}

tally_status ty_pq_cursor_read(ty_pq_cursor *c, size_t rows, void *into, unsigned char *mask,
                               tally_error *error)
{
    const size_t bytes = tally_dtype_bytes(c->values.target.dtype);
    unsigned char *to = into;
    while (rows) {
        tally_status status = ty_pq_cursor_open(c, error);
        if (status)
            return status;
        const size_t n = c->page_left < rows ? (size_t)c->page_left : rows;
        status = read_rows(c, n, to, mask, error);
        if (status)
            return status;
        c->page_left -= n;
        to += n * bytes;
        mask = mask ? mask + n : NULL;
        rows -= n;
    }
    return TALLY_OK;
}

tally_status ty_pq_cursor_skip(ty_pq_cursor *c, uint64_t rows, tally_error *error)
{
    double passed[2048];
    while (rows) {
        tally_status status = open_page(c, &rows, error);
        if (status || !rows)
            return status;
        size_t n = sizeof passed / sizeof *passed;
        n = rows < n ? (size_t)rows : n;
        n = c->page_left < n ? (size_t)c->page_left : n;
        status = read_rows(c, n, passed, NULL, error);
        if (status)
            return status;
        c->page_left -= n;
        rows -= n;
    }
    return TALLY_OK;
}

tally_status ty_pq_cursor_words(ty_pq_cursor *c, tally_error *error)
{
    while (c->rows_left) {
        ty_pq_page page;
        tally_status status = read_header(c, &page, error);
        if (status)
            return status;
        const int is_data = page.type == TY_PQ_DATA_PAGE || page.type == TY_PQ_DATA_PAGE_V2;
        const int is_number =
            page.encoding == TY_PQ_PLAIN_DICTIONARY || page.encoding == TY_PQ_RLE_DICTIONARY;
        if (page.type == TY_PQ_DICTIONARY_PAGE)
            status = take_dictionary(c, &page, error);
        else if (is_data && is_number && page.rows <= c->rows_left)
            c->rows_left -= page.rows;
        else if (is_data)
            status = open_data_page(c, &page, error);
        c->next += page.packed;
        if (!status && c->page_left)
            status = ty_pq_cursor_skip(c, c->page_left, error);
        if (status)
            return status;
    }
    return TALLY_OK;
}
