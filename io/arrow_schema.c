/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's schema: a tree of fields, walked in the order in which batches have their nodes and
 * buffers. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/arrow.h"

enum { NAME_MOST = 1024 };

enum {
    TYPE_NULL = 1,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_BINARY,
    TYPE_TEXT,
    TYPE_BOOL,
    TYPE_DECIMAL,
    TYPE_DATE,
    TYPE_TIME,
    TYPE_TIMESTAMP,
    TYPE_INTERVAL,
    TYPE_LIST,
    TYPE_STRUCT,
    TYPE_UNION,
    TYPE_FIXED_BYTES,
    TYPE_FIXED_LIST,
    TYPE_MAP,
    TYPE_DURATION,
    TYPE_LARGE_BINARY,
    TYPE_LARGE_TEXT,
    TYPE_LARGE_LIST,
    TYPE_RUN_ENDS,
    TYPE_BINARY_VIEW,
    TYPE_TEXT_VIEW,
    TYPE_LIST_VIEW,
    TYPE_LARGE_LIST_VIEW
};

typedef struct ty_arrow_walk {
    ty_flat *flat;
    const char *file;
    ty_arrow_schema *schema;
    size_t room, fields_left;
    ty_arrow_level next; /* of the field that is met next */
    uint32_t levels;
    ty_arrow_level level[TY_ARROW_DEEPEST];
    size_t name_size;
    char name[NAME_MOST];
} ty_arrow_walk;

static tally_status damaged(const char *file, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: its Arrow schema is damaged", file);
}

/* Buffers of a field of kind `type`, its children's apart. `mode` is a union's. */
static uint32_t buffers_of(int type, int64_t mode)
{
    switch (type) {
    case TYPE_NULL:
    case TYPE_RUN_ENDS:
        return 0;
    case TYPE_STRUCT:
    case TYPE_FIXED_LIST:
        return 1;
    case TYPE_UNION:
        return mode == 1 ? 2 : 1;
    case TYPE_BINARY:
    case TYPE_TEXT:
    case TYPE_LARGE_BINARY:
    case TYPE_LARGE_TEXT:
    case TYPE_LIST_VIEW:
    case TYPE_LARGE_LIST_VIEW:
        return 3;
    default:
        return 2;
    }
}

/* ---- Types ---- */

static tally_dtype integer_dtype(int64_t bits, int is_signed)
{
    switch (bits) {
    case 8:
        return is_signed ? TALLY_I8 : TALLY_U8;
    case 16:
        return is_signed ? TALLY_I16 : TALLY_U16;
    case 32:
        return is_signed ? TALLY_I32 : TALLY_U32;
    case 64:
        return is_signed ? TALLY_I64 : TALLY_U64;
    default:
        return (tally_dtype)0;
    }
}

static ty_arrow_type plain(tally_dtype dtype)
{
    return (ty_arrow_type){TY_ARROW_PLAIN, dtype, dtype ? tally_dtype_bytes(dtype) : 0, 0,
                           TALLY_TIME_NONE};
}

static ty_arrow_type integer_type(ty_flat *f, size_t table)
{
    return plain(
        integer_dtype(ty_flat_integer(f, table, 0, 4, 0), ty_flat_integer(f, table, 1, 1, 0) != 0));
}

static ty_arrow_type decimal_type(ty_flat *f, size_t table)
{
    const int64_t scale = ty_flat_integer(f, table, 1, 4, 0);
    const int64_t bits = ty_flat_integer(f, table, 2, 4, 128);
    ty_arrow_type type = {TY_ARROW_DECIMAL, TALLY_F64, (size_t)bits / 8, (int)scale,
                          TALLY_TIME_NONE};
    if (scale < 0 || scale > 38 || (bits != 32 && bits != 64 && bits != 128))
        type.dtype = (tally_dtype)0;
    return type;
}

static ty_arrow_type timed(tally_dtype dtype, tally_time time)
{
    ty_arrow_type type = plain(dtype);
    type.time = time;
    return type;
}

/* The type of numbers and words; a dtype of 0: they are not counted. */
static ty_arrow_type value_type(ty_flat *f, int type, size_t table)
{
    static const tally_dtype floats[] = {TALLY_F16, TALLY_F32, TALLY_F64};
    const ty_arrow_type none = {TY_ARROW_PLAIN, (tally_dtype)0, 0, 0, TALLY_TIME_NONE};
    int64_t word;
    switch (type) {
    case TYPE_INT:
        return integer_type(f, table);
    case TYPE_FLOAT:
        word = ty_flat_integer(f, table, 0, 2, 0);
        return word >= 0 && word <= 2 ? plain(floats[word]) : none;
    case TYPE_BOOL:
        return (ty_arrow_type){TY_ARROW_BITS, TALLY_U8, 0, 0, TALLY_TIME_NONE};
    case TYPE_DECIMAL:
        return decimal_type(f, table);
    case TYPE_DATE:
        return ty_flat_integer(f, table, 0, 2, 1) == 0 ? timed(TALLY_I32, TALLY_TIME_DAY)
                                                       : timed(TALLY_I64, TALLY_TIME_MILLISECOND);
    case TYPE_TIME:
        return plain(integer_dtype(ty_flat_integer(f, table, 1, 4, 32), 1));
    case TYPE_TIMESTAMP:
        word = ty_flat_integer(f, table, 0, 2, 0);
        return timed(TALLY_I64, word >= 0 && word <= 3 ? (tally_time)(TALLY_TIME_SECOND + word)
                                                       : TALLY_TIME_NONE);
    case TYPE_DURATION:
        return plain(TALLY_I64);
    case TYPE_TEXT:
        return (ty_arrow_type){TY_ARROW_WORDS, TALLY_F64, 4, 0, 0};
    case TYPE_LARGE_TEXT:
        return (ty_arrow_type){TY_ARROW_WORDS, TALLY_F64, 8, 0, 0};
    case TYPE_TEXT_VIEW:
        return (ty_arrow_type){TY_ARROW_WORDS, TALLY_F64, 16, 0, 0};
    default:
        return none;
    }
}

static const char *kind_words(int type)
{
    switch (type) {
    case TYPE_NULL:
        return "nothing (type null)";
    case TYPE_TEXT:
    case TYPE_LARGE_TEXT:
    case TYPE_TEXT_VIEW:
        return "text";
    case TYPE_BINARY:
    case TYPE_FIXED_BYTES:
    case TYPE_LARGE_BINARY:
    case TYPE_BINARY_VIEW:
        return "bytes";
    case TYPE_LIST:
    case TYPE_FIXED_LIST:
    case TYPE_LARGE_LIST:
    case TYPE_LIST_VIEW:
    case TYPE_LARGE_LIST_VIEW:
        return "lists";
    case TYPE_DECIMAL:
        return "decimals of an unusual size";
    default:
        return "values of a kind that is not counted";
    }
}

/* ---- The tree ---- */

static tally_status add_column(ty_arrow_walk *w, size_t field, int type, tally_error *error)
{
    ty_arrow_schema *schema = w->schema;
    if (schema->count == w->room) {
        const size_t room = w->room ? 2 * w->room : 16;
        ty_arrow_column *columns = ty_realloc(schema->columns, room * sizeof *columns);
        if (!columns)
            return ty_error_memory(error, "the columns of an Arrow table", room * sizeof *columns);
        schema->columns = columns;
        w->room = room;
    }
    ty_arrow_column *c = schema->columns + schema->count;
    memset(c, 0, sizeof *c);
    const size_t dictionary = ty_flat_table(w->flat, field, 4);
    c->type = value_type(w->flat, type, ty_flat_table(w->flat, field, 3));
    c->refused = c->type.dtype && c->type.kind != TY_ARROW_WORDS ? NULL : kind_words(type);
    if (dictionary) {
        const size_t index = ty_flat_table(w->flat, dictionary, 1);
        c->has_dictionary = 1;
        c->dictionary = ty_flat_integer(w->flat, dictionary, 0, 8, 0);
        c->index = index ? integer_type(w->flat, index) : plain(TALLY_I32);
        if (!c->index.dtype)
            return damaged(w->file, error);
    }
    memcpy(c->level, w->level, sizeof c->level);
    c->levels = w->levels;
    if (c->levels == TY_ARROW_DEEPEST)
        c->refused = "fields in too many groups", c->type.kind = TY_ARROW_PLAIN;
    else
        c->level[c->levels++] = w->next;
    c->name = ty_text_copy(w->name, w->name_size);
    if (!c->name)
        return ty_error_memory(error, "the name of a column", w->name_size + 1);
    schema->count++;
    return TALLY_OK;
}

static tally_status walk_field(ty_arrow_walk *w, size_t field, int depth, int hidden,
                               tally_error *error);

/* Hidden ones are only passed over. */
static tally_status walk_children(ty_arrow_walk *w, size_t field, int depth, int hidden,
                                  tally_error *error)
{
    size_t count;
    const unsigned char *list = ty_flat_list(w->flat, field, 5, 4, &count);
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = walk_field(w, ty_flat_list_table(w->flat, list, i), depth + 1, hidden, error);
    return status;
}

static tally_status walk_field(ty_arrow_walk *w, size_t field, int depth, int hidden,
                               tally_error *error)
{
    size_t size;
    const unsigned char *name = ty_flat_list(w->flat, field, 0, 1, &size);
    const int type = (int)ty_flat_integer(w->flat, field, 2, 1, 0);
    const int has_dictionary = ty_flat_table(w->flat, field, 4) != 0;
    const size_t before = w->name_size, union_table = ty_flat_table(w->flat, field, 3);
    if (w->flat->failed || !field || depth > 64 || !w->fields_left-- ||
        before + size + 2 > NAME_MOST || w->next.buffer > UINT32_MAX / 2)
        return damaged(w->file, error);
    if (size)
        memcpy(w->name + before, name, size);
    w->name_size += size;
    const int is_group =
        type == TYPE_STRUCT && !has_dictionary && !hidden && w->levels + 1 < TY_ARROW_DEEPEST;
    tally_status status = TALLY_OK;
    if (is_group) {
        w->level[w->levels++] = w->next;
        w->name[w->name_size++] = '.';
    } else if (!hidden) {
        status = add_column(w, field, type, error);
    }
    w->next.node++;
    w->next.buffer +=
        has_dictionary ? 2 : buffers_of(type, ty_flat_integer(w->flat, union_table, 0, 2, 0));
    w->next.views += !has_dictionary && (type == TYPE_BINARY_VIEW || type == TYPE_TEXT_VIEW);
    if (!status && !has_dictionary)
        status = walk_children(w, field, depth, hidden || !is_group, error);
    w->levels -= (uint32_t)is_group;
    w->name_size = before;
    return status;
}

tally_status ty_arrow_schema_open(ty_flat *flat, size_t table, const char *name,
                                  ty_arrow_schema *schema, tally_error *error)
{
    ty_arrow_walk walk;
    size_t count;
    memset(schema, 0, sizeof *schema);
    memset(&walk, 0, sizeof walk);
    walk.flat = flat;
    walk.file = name;
    walk.schema = schema;
    walk.fields_left = flat->size / 24; /* fields may share bytes, but not without end */
    const unsigned char *list = ty_flat_list(flat, table, 1, 4, &count);
    if (flat->failed || !table)
        return damaged(name, error);
    if (ty_flat_integer(flat, table, 0, 2, 0) != 0)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: Arrow data in big-endian order", name);
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = walk_field(&walk, ty_flat_list_table(flat, list, i), 0, 0, error);
    return status || !flat->failed ? status : damaged(name, error);
}

void ty_arrow_schema_close(ty_arrow_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++)
        ty_free(schema->columns[i].name);
    ty_free(schema->columns);
    memset(schema, 0, sizeof *schema);
}
