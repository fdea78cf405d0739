/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's messages, from the first to the last: where the buffers of chosen columns are. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrow.h"
#include "io/rows.h"

enum { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY, MESSAGE_BATCH };
enum { VERSION_4 = 3, VERSION_5 = 4 };

#define FILE_WORD "ARROW1"

typedef struct ty_arrow_scan {
    ty_arrow_index *index;
    uint64_t at, end; /* of the messages, in the file */
    int is_file;
    unsigned char *bytes; /* metadata of the message */
    size_t room;
    ty_flat flat;
    size_t header; /* its table */
    int kind;
    uint64_t body, body_size;
} ty_arrow_scan;

static tally_status damaged(const ty_arrow_scan *s, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: the Arrow message at byte %" PRIu64 ": %s",
                    s->index->in.name, s->at, what);
}

/* Memory for one more element of *list, which has `count` of `size` bytes and may have *room. */
static tally_status make_room(void *list, size_t count, size_t *room, size_t size,
                              tally_error *error)
{
    void *old;
    memcpy(&old, list, sizeof old);
    if (count < *room)
        return TALLY_OK;
    const size_t more = *room ? 2 * *room : 16;
    void *longer = ty_realloc(old, more * size);
    if (!longer)
        return ty_error_memory(error, "where an Arrow table's batches are", more * size);
    memcpy(list, &longer, sizeof longer);
    *room = more;
    return TALLY_OK;
}

/* ---- Messages ---- */

static uint32_t load_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static tally_status read_at(const ty_arrow_scan *s, uint64_t at, void *into, size_t size,
                            tally_error *error)
{
    const ty_seekable *in = &s->index->in;
    return ty_file_read_at(in->name, in->file, in->start + at, into, size, error);
}

/* Metadata of `size` bytes at `at`, to `bytes` and `flat`. */
static tally_status load_metadata(ty_arrow_scan *s, uint64_t at, uint32_t size, tally_error *error)
{
    if (size > s->room) {
        ty_free(s->bytes);
        s->room = 0;
        s->bytes = ty_malloc(size);
        if (!s->bytes)
            return ty_error_memory(error, "an Arrow message", size);
        s->room = size;
    }
    s->flat = (ty_flat){s->bytes, size, 0};
    return read_at(s, at, s->bytes, size, error);
}

/* A file's messages lie between its words, in front of its footer, which is `flat` then. */
static tally_status find_ends(ty_arrow_scan *s, tally_error *error)
{
    const uint64_t size = s->index->in.size;
    unsigned char tail[10], head[8] = {0};
    s->at = 0;
    s->end = size;
    tally_status status =
        read_at(s, 0, head, size < sizeof head ? (size_t)size : sizeof head, error);
    if (status || memcmp(head, FILE_WORD, 6) != 0)
        return status;
    s->is_file = 1;
    s->at = 8;
    if (size >= 8 + sizeof tail)
        status = read_at(s, size - sizeof tail, tail, sizeof tail, error);
    if (status)
        return status;
    if (size < 8 + sizeof tail || memcmp(tail + 4, FILE_WORD, 6) != 0 ||
        load_u32(tail) > size - 8 - sizeof tail)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: no Arrow footer at its end: it is cut, or its writer was stopped",
                        s->index->in.name);
    s->end = size - sizeof tail - load_u32(tail);
    return load_metadata(s, s->end, load_u32(tail), error);
}

static tally_status read_metadata(ty_arrow_scan *s, uint64_t at, uint32_t size, tally_error *error)
{
    if (size > s->end - at)
        return damaged(s, "its metadata are cut", error);
    tally_status status = load_metadata(s, at, size, error);
    if (status)
        return status;
    const size_t root = ty_flat_root(&s->flat);
    const int64_t version = ty_flat_integer(&s->flat, root, 0, 2, 0);
    s->kind = (int)ty_flat_integer(&s->flat, root, 1, 1, 0);
    s->header = ty_flat_table(&s->flat, root, 2);
    const int64_t body_size = ty_flat_integer(&s->flat, root, 3, 8, 0);
    s->body = at + size;
    s->body_size = (uint64_t)body_size;
    if (s->flat.failed || !s->header)
        return damaged(s, "damaged", error);
    if (version < VERSION_4 || version > VERSION_5)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: Arrow metadata of version %" PRId64 "; 4 and 5 are read",
                        s->index->in.name, version + 1);
    return body_size < 0 || s->body_size > s->end - s->body ? damaged(s, "its body is cut", error)
                                                            : TALLY_OK;
}

/* Reads the next message's metadata; *more is 0 at the end of them. */
static tally_status next_message(ty_arrow_scan *s, int *more, tally_error *error)
{
    unsigned char prefix[8];
    const uint64_t left = s->end - s->at;
    *more = 0;
    if (!left) /* a stream may just end */
        return TALLY_OK;
    if (left < 4)
        return damaged(s, "it is cut", error);
    tally_status status = read_at(s, s->at, prefix, left < 8 ? 4 : 8, error);
    if (status)
        return status;
    const int is_old = load_u32(prefix) != UINT32_MAX; /* without the word in front */
    if (!is_old && left < 8)
        return damaged(s, "it is cut", error);
    const uint32_t size = load_u32(prefix + (is_old ? 0 : 4));
    const uint64_t begin = s->at + (is_old ? 4 : 8);
    if (!size) {
        if (begin != s->end)
            return damaged(s, "more bytes follow the end of the stream", error);
        return TALLY_OK;
    }
    *more = 1;
    return read_metadata(s, begin, size, error);
}

int ty_arrow_is_stream(const unsigned char *head, size_t size)
{
    const size_t prefix = size >= 8 && load_u32(head) == UINT32_MAX ? 8 : 4;
    if (size < 24)
        return 0;
    const uint32_t length = load_u32(head + prefix - 4);
    if (length < 16 || length > 1u << 28)
        return 0;
    ty_flat flat = {head + prefix, size - prefix < length ? size - prefix : length, 0};
    const size_t root = ty_flat_root(&flat);
    const int64_t version = ty_flat_integer(&flat, root, 0, 2, 0);
    return ty_flat_integer(&flat, root, 1, 1, 0) == MESSAGE_SCHEMA && version >= 0 &&
           version <= VERSION_5 && !flat.failed;
}

/* ---- Record batches ---- */

typedef struct ty_arrow_batch {
    uint64_t rows;
    ty_arrow_codec codec;
    const unsigned char *nodes, *buffers, *views;
    size_t node_count, buffer_count, view_count;
} ty_arrow_batch;

static uint64_t load_u64(const unsigned char *at)
{
    return (uint64_t)load_u32(at + 4) << 32 | load_u32(at);
}

static tally_status open_batch(ty_arrow_scan *s, size_t table, ty_arrow_batch *b,
                               tally_error *error)
{
    ty_flat *f = &s->flat;
    const int64_t rows = ty_flat_integer(f, table, 0, 8, 0);
    b->rows = (uint64_t)rows;
    b->nodes = ty_flat_list(f, table, 1, 16, &b->node_count);
    b->buffers = ty_flat_list(f, table, 2, 16, &b->buffer_count);
    b->views = ty_flat_list(f, table, 4, 8, &b->view_count);
    const size_t packing = ty_flat_table(f, table, 3);
    const int64_t codec = packing ? ty_flat_integer(f, packing, 0, 1, 0) : -1;
    b->codec = (ty_arrow_codec)(codec + 1);
    if (f->failed || !table || rows < 0)
        return damaged(s, "damaged", error);
    if (codec < -1 || codec > 1 || (packing && ty_flat_integer(f, packing, 1, 1, 0) != 0))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: its batches are compressed in a way that is not known",
                        s->index->in.name);
    if ((!TALLY_HAVE_LZ4 && b->codec == TY_ARROW_LZ4) ||
        (!TALLY_HAVE_ZSTD && b->codec == TY_ARROW_ZSTD))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: compressed by %s, which this build of Tally has not",
                        s->index->in.name,
                        b->codec == TY_ARROW_LZ4 ? "LZ4 (liblz4)" : "Zstandard (libzstd)");
    return TALLY_OK;
}

static tally_status find_buffer(const ty_arrow_scan *s, const ty_arrow_batch *b,
                                const ty_arrow_level *level, unsigned plus, ty_arrow_buffer *buffer,
                                tally_error *error)
{
    uint64_t number = (uint64_t)level->buffer + plus;
    if (level->views > b->view_count)
        return damaged(s, "its views are not counted", error);
    for (size_t i = 0; i < level->views; i++) {
        const uint64_t views = load_u64(b->views + 8 * i);
        number += views < UINT32_MAX ? views : UINT32_MAX;
    }
    if (number >= b->buffer_count)
        return damaged(s, "a column's buffers are missing", error);
    const uint64_t at = load_u64(b->buffers + 16 * number);
    buffer->size = load_u64(b->buffers + 16 * number + 8);
    if (at > s->body_size || buffer->size > s->body_size - at)
        return damaged(s, "a buffer reaches beyond its body", error);
    buffer->at = s->body + at;
    return TALLY_OK;
}

/* Where a column's texts are: in one buffer, or as many as the batch says. */
static tally_status find_texts(ty_arrow_scan *s, const ty_arrow_batch *b,
                               const ty_arrow_level *level, const ty_arrow_type *type,
                               ty_arrow_part *part, tally_error *error)
{
    ty_arrow_index *index = s->index;
    uint64_t count = 1;
    if (type->bytes == 16) {
        if (level->views >= b->view_count)
            return damaged(s, "its views are not counted", error);
        count = load_u64(b->views + 8 * (size_t)level->views);
    }
    if (count > b->buffer_count)
        return damaged(s, "a column's buffers are missing", error);
    part->text = index->valids;
    part->texts = (size_t)count;
    tally_status status = TALLY_OK;
    for (unsigned t = 0; t < count && !status; t++) {
        status = make_room(&index->valid, index->valids, &index->valids_room, sizeof *index->valid,
                           error);
        if (!status)
            status = find_buffer(s, b, level, 2 + t, index->valid + index->valids, error);
        index->valids += !status;
    }
    return status;
}

/* The part of a column of `levels` levels in a batch, with values of `type`. */
static tally_status take_part(ty_arrow_scan *s, const ty_arrow_batch *b,
                              const ty_arrow_level *level, uint32_t levels,
                              const ty_arrow_type *type, ty_arrow_part *part, tally_error *error)
{
    ty_arrow_index *index = s->index;
    uint64_t bytes = b->rows / 8 + (b->rows % 8 != 0);
    *part = (ty_arrow_part){.rows = b->rows, .codec = b->codec, .valid = index->valids};
    part->chain = SIZE_MAX;
    tally_status status = TALLY_OK;
    for (uint32_t l = 0; l < levels && !status; l++) {
        if (level[l].node >= b->node_count)
            return damaged(s, "a column is missing", error);
        const unsigned char *node = b->nodes + 16 * (size_t)level[l].node;
        if (load_u64(node) != b->rows)
            return damaged(s, "a column has not as many values as its batch rows", error);
        part->missing |= load_u64(node + 8) != 0;
        status = make_room(&index->valid, index->valids, &index->valids_room, sizeof *index->valid,
                           error);
        if (!status)
            status = find_buffer(s, b, level + l, 0, index->valid + index->valids, error);
        if (status)
            return status;
        const ty_arrow_buffer *valid = index->valid + index->valids++;
        if (valid->size && b->codec == TY_ARROW_NONE && valid->size < bytes)
            return damaged(s, "a column's bits of missing values are cut", error);
    }
    status = find_buffer(s, b, level + levels - 1, 1, &part->data, error);
    if (!status && type->bytes && ty_rows_multiply(b->rows, type->bytes, &bytes))
        bytes = UINT64_MAX;
    /* Packed ones are looked at when they are unpacked; but no packing is as tight as this. */
    const uint64_t least = b->codec == TY_ARROW_NONE ? bytes : bytes / TY_ARROW_RATIO;
    if (!status && part->data.size < least)
        status = damaged(s, "a column's values are cut", error);
    if (!status && type->kind == TY_ARROW_WORDS)
        status = find_texts(s, b, level + levels - 1, type, part, error);
    return status;
}

/* The latest dictionary of the column's. */
static void use_dictionary(const ty_arrow_index *index, const ty_arrow_column *column,
                           ty_arrow_part *part)
{
    for (size_t i = column->has_dictionary ? index->chains : 0; i-- > 0;) {
        if (index->chain[i].id != column->dictionary)
            continue;
        part->chain = i;
        part->known = index->chain[i].count;
        return;
    }
}

static tally_status take_batch(ty_arrow_scan *s, tally_error *error)
{
    ty_arrow_index *index = s->index;
    ty_arrow_batch batch;
    tally_status status = open_batch(s, s->header, &batch, error);
    if (!status)
        status = make_room(&index->begin, index->batches + 1, &index->batches_room,
                           sizeof *index->begin, error);
    if (!status) {
        ty_arrow_part *parts =
            ty_realloc(index->parts, index->batches_room * index->count * sizeof *index->parts);
        index->parts = parts ? parts : index->parts;
        if (!parts)
            status = ty_error_memory(error, "where an Arrow table's batches are",
                                     index->batches_room * index->count * sizeof *parts);
    }
    for (uint32_t p = 0; p < index->count && !status; p++) {
        const ty_arrow_column *c = index->schema.columns + index->picks[p];
        ty_arrow_part *part = index->parts + index->batches * index->count + p;
        status = take_part(s, &batch, c->level, c->levels, c->has_dictionary ? &c->index : &c->type,
                           part, error);
        if (!status)
            use_dictionary(index, c, part);
    }
    if (status)
        return status;
    if (batch.rows > (uint64_t)INT64_MAX - index->rows)
        return damaged(s, "more rows than 64 bits count", error);
    index->rows += batch.rows;
    index->begin[++index->batches] = index->rows;
    return TALLY_OK;
}

/* ---- Dictionaries ---- */

/* The chain that a dictionary is added to, or a new one. */
static tally_status find_chain(ty_arrow_index *index, int64_t id, int is_delta, size_t *found,
                               tally_error *error)
{
    for (size_t i = index->chains; is_delta && i-- > 0;)
        if (index->chain[i].id == id) {
            *found = i;
            return TALLY_OK;
        }
    tally_status status =
        make_room(&index->chain, index->chains, &index->chains_room, sizeof *index->chain, error);
    if (status)
        return status;
    *found = index->chains++;
    index->chain[*found] = (ty_arrow_chain){.id = id};
    index->chain[*found].values = ty_calloc(index->count, sizeof(unsigned char *));
    return index->chain[*found].values
               ? TALLY_OK
               : ty_error_memory(error, "an Arrow dictionary", index->count * 8);
}

static tally_status take_dictionary(ty_arrow_scan *s, tally_error *error)
{
    static const ty_arrow_level own = {0, 0, 0};
    ty_arrow_index *index = s->index;
    const int64_t id = ty_flat_integer(&s->flat, s->header, 0, 8, 0);
    const size_t table = ty_flat_table(&s->flat, s->header, 1);
    const int is_delta = ty_flat_integer(&s->flat, s->header, 2, 1, 0) != 0;
    uint32_t p = 0;
    while (p < index->count && (!index->schema.columns[index->picks[p]].has_dictionary ||
                                index->schema.columns[index->picks[p]].dictionary != id))
        p++;
    if (p == index->count) /* of a column that is not chosen */
        return s->flat.failed ? damaged(s, "damaged", error) : TALLY_OK;
    const ty_arrow_column *column = index->schema.columns + index->picks[p];
    ty_arrow_batch batch;
    size_t c;
    tally_status status = open_batch(s, table, &batch, error);
    if (!status)
        status = find_chain(index, id, is_delta, &c, error);
    if (status)
        return status;
    ty_arrow_chain *chain = index->chain + c;
    status = make_room(&chain->part, chain->parts, &chain->room, sizeof *chain->part, error);
    if (!status)
        status = take_part(s, &batch, &own, 1, &column->type, chain->part + chain->parts, error);
    if (status)
        return status;
    chain->missing |= chain->part[chain->parts++].missing;
    chain->count += batch.rows;
    return chain->count >= batch.rows ? TALLY_OK : damaged(s, "damaged", error);
}

/* Each must be there, and may have missing values itself. */
static tally_status check_dictionaries(ty_arrow_index *index, tally_error *error)
{
    for (size_t i = 0; i < index->batches * index->count; i++) {
        ty_arrow_part *part = index->parts + i;
        const ty_arrow_column *c = index->schema.columns + index->picks[i % index->count];
        if (c->has_dictionary && part->chain == SIZE_MAX && part->rows)
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: the dictionary of column '%s' is missing", index->in.name,
                            c->name);
        part->missing |= part->chain != SIZE_MAX && index->chain[part->chain].missing;
    }
    return TALLY_OK;
}

/* ---- The whole ---- */

tally_status ty_arrow_index_open(ty_arrow_index *index, tally_error *error)
{
    ty_arrow_scan s = {.index = index};
    int more = 1;
    tally_status status = find_ends(&s, error);
    if (!status && s.is_file)
        s.header = ty_flat_table(&s.flat, ty_flat_root(&s.flat), 1);
    else if (!status)
        status = next_message(&s, &more, error);
    if (!status && !s.is_file && (!more || s.kind != MESSAGE_SCHEMA))
        status = damaged(&s, "no schema is there", error);
    if (!status)
        status = ty_arrow_schema_open(&s.flat, s.header, index->in.name, &index->schema, error);
    ty_free(s.bytes);
    return status;
}

static tally_status take_message(ty_arrow_scan *s, tally_error *error)
{
    if (s->kind == MESSAGE_BATCH)
        return take_batch(s, error);
    return s->kind == MESSAGE_DICTIONARY ? take_dictionary(s, error)
                                         : damaged(s, "neither a batch nor a dictionary", error);
}

/* One message behind the other. */
static tally_status fill_from_stream(ty_arrow_scan *s, tally_error *error)
{
    int more = 1;
    tally_status status = next_message(s, &more, error); /* the schema */
    while (!status && more) {
        s->at = s->body + s->body_size;
        status = next_message(s, &more, error);
        if (!status && more)
            status = take_message(s, error);
    }
    return status;
}

/* The messages of one list of the footer, which is [bytes, bytes + size), in the file's order. */
static tally_status fill_from_list(ty_arrow_scan *s, const unsigned char *bytes, size_t size,
                                   unsigned list, int kind, tally_error *error)
{
    ty_flat footer = {bytes, size, 0};
    size_t count;
    const unsigned char *blocks = ty_flat_list(&footer, ty_flat_root(&footer), list, 24, &count);
    uint64_t behind = 8;
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < count && !status; i++) {
        int more;
        s->at = load_u64(blocks + 24 * i);
        if (s->at < behind || s->at > s->end)
            return damaged(s, "it is not where the footer says", error);
        status = next_message(s, &more, error);
        if (!status && (!more || s->kind != kind))
            status = damaged(s, "it is not what the footer says", error);
        if (!status)
            status = take_message(s, error);
        behind = s->body + s->body_size;
    }
    return status || !footer.failed ? status : damaged(s, "the footer is damaged", error);
}

static tally_status fill_from_file(ty_arrow_scan *s, tally_error *error)
{
    unsigned char *footer = s->bytes;
    const size_t size = s->flat.size;
    s->bytes = NULL;
    s->room = 0;
    tally_status status = fill_from_list(s, footer, size, 2, MESSAGE_DICTIONARY, error);
    if (!status)
        status = fill_from_list(s, footer, size, 3, MESSAGE_BATCH, error);
    ty_free(footer);
    return status;
}

tally_status ty_arrow_index_fill(ty_arrow_index *index, tally_error *error)
{
    ty_arrow_scan s = {.index = index};
    index->begin = ty_calloc(1, sizeof *index->begin);
    index->batches_room = index->begin ? 1 : 0;
    tally_status status = index->begin
                              ? find_ends(&s, error)
                              : ty_error_memory(error, "where an Arrow table's batches are", 8);
    if (!status)
        status = s.is_file ? fill_from_file(&s, error) : fill_from_stream(&s, error);
    ty_free(s.bytes);
    return status ? status : check_dictionaries(index, error);
}

void ty_arrow_index_close(ty_arrow_index *index)
{
    for (size_t i = 0; i < index->chains; i++) {
        ty_free(index->chain[i].part);
        for (uint32_t p = 0; index->chain[i].values && p < index->count; p++)
            ty_free(index->chain[i].values[p]);
        ty_free(index->chain[i].values);
    }
    ty_free(index->chain);
    ty_free(index->valid);
    ty_free(index->parts);
    ty_free(index->begin);
    ty_free(index->picks);
    ty_arrow_schema_close(&index->schema);
}
