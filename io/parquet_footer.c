/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet's footer: the schema, and where the chunks of columns are. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/parquet.h"

enum { NAME_MOST = 1024, DEEPEST = 64 };

static tally_status damaged(const char *name, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: its Parquet footer is damaged: %s", name, what);
}

/* ---- The schema: a tree in the order in which it is walked ---- */

typedef struct ty_pq_element {
    const unsigned char *name;
    size_t name_size;
    uint64_t children;
    int repetition; /* 0 required, 1 optional, 2 repeated */
    int converted, logical;
    ty_pq_column column;
} ty_pq_element;

enum {
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_MILLISECONDS = 9,
    CONVERTED_MICROSECONDS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14
};
enum {
    LOGICAL_DECIMAL = 5,
    LOGICAL_DATE = 6,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_INTEGER = 10,
    LOGICAL_F16 = 15
};

/* A union of milli-, micro- and nanoseconds: its only field says which. */
static tally_time read_unit(ty_thrift *t)
{
    int field = 0, chosen = 0;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        chosen = field;
        ty_thrift_skip(t, type);
    }
    return chosen >= 1 && chosen <= 3 ? (tally_time)(TALLY_TIME_SECOND + chosen) : TALLY_TIME_NONE;
}

/* Of an INTEGER, a DECIMAL or a TIMESTAMP: what they say beside their names. */
static void read_logical_fields(ty_thrift *t, int kind, ty_pq_column *column)
{
    int field = 0;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        if (kind == LOGICAL_DECIMAL && field == 1)
            column->scale = (int)ty_thrift_integer(t, type);
        else if (kind == LOGICAL_INTEGER && field == 2 &&
                 (type == TY_THRIFT_TRUE || type == TY_THRIFT_FALSE))
            column->is_unsigned = type == TY_THRIFT_FALSE;
        else if (kind == LOGICAL_TIMESTAMP && field == 2 && type == TY_THRIFT_STRUCT)
            column->time = read_unit(t);
        else
            ty_thrift_skip(t, type);
    }
}

/* A union: the number of its only field is the kind. */
static void read_logical(ty_thrift *t, ty_pq_element *element)
{
    int field = 0;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        element->logical = field;
        if (type == TY_THRIFT_STRUCT)
            read_logical_fields(t, field, &element->column);
        else
            ty_thrift_skip(t, type);
    }
}

static void read_element(ty_thrift *t, ty_pq_element *element)
{
    int field = 0;
    memset(element, 0, sizeof *element);
    element->column.type = -1;
    element->converted = -1;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        switch (field) {
        case 1:
            element->column.type = (int)ty_thrift_integer(t, type);
            break;
        case 2:
            element->column.type_bytes = (int)ty_thrift_integer(t, type);
            break;
        case 3:
            element->repetition = (int)ty_thrift_integer(t, type);
            break;
        case 4:
            element->name = ty_thrift_bytes(t, type, &element->name_size);
            break;
        case 5:
            element->children = ty_thrift_size(t, type);
            break;
        case 6:
            element->converted = (int)ty_thrift_integer(t, type);
            break;
        case 7:
            element->column.scale = (int)ty_thrift_integer(t, type);
            break;
        case 10:
            ty_thrift_expect(t, type, TY_THRIFT_STRUCT);
            read_logical(t, element);
            break;
        default:
            ty_thrift_skip(t, type);
        }
    }
    ty_pq_column *column = &element->column;
    column->is_unsigned |=
        element->converted >= CONVERTED_UINT_8 && element->converted <= CONVERTED_UINT_64;
    column->is_decimal =
        element->converted == CONVERTED_DECIMAL || element->logical == LOGICAL_DECIMAL;
    if (element->converted == CONVERTED_DATE || element->logical == LOGICAL_DATE)
        column->time = TALLY_TIME_DAY;
    else if (element->converted == CONVERTED_MILLISECONDS && !column->time)
        column->time = TALLY_TIME_MILLISECOND;
    else if (element->converted == CONVERTED_MICROSECONDS && !column->time)
        column->time = TALLY_TIME_MICROSECOND;
    if (column->type == TY_PQ_INT96) /* which is for nothing else */
        column->time = TALLY_TIME_MICROSECOND;
    else if (column->type != TY_PQ_INT32 && column->type != TY_PQ_INT64)
        column->time = TALLY_TIME_NONE;
    column->is_f16 = element->logical == LOGICAL_F16 && column->type_bytes == 2;
}

/* The groups that the walk is in. */
typedef struct ty_pq_walk {
    struct {
        uint64_t left; /* children to come */
        size_t name_size;
        int levels, repeated;
    } groups[DEEPEST];
    int deep;
    char name[NAME_MOST];
    size_t name_size; /* of the innermost group's, with its dot */
} ty_pq_walk;

static void leave_groups(ty_pq_walk *w)
{
    while (w->deep > 0 && !w->groups[w->deep - 1].left)
        w->deep--;
    w->name_size = w->deep ? w->groups[w->deep - 1].name_size : 0;
}

/* Takes an element of the tree: opens a group, or makes `column`. Nonzero when it is damaged. */
static int take_element(ty_pq_walk *w, const ty_pq_element *element, int root, ty_pq_column *column)
{
    const int levels =
        (w->deep ? w->groups[w->deep - 1].levels : 0) + (element->repetition != 0 && !root);
    const int repeated =
        (w->deep && w->groups[w->deep - 1].repeated) || (element->repetition == 2 && !root);
    if (!root) {
        if (!w->deep || !element->name || w->name_size + element->name_size + 1 >= NAME_MOST)
            return 1;
        w->groups[w->deep - 1].left--;
        memcpy(w->name + w->name_size, element->name, element->name_size);
    }
    const size_t size = w->name_size + (root ? 0 : element->name_size);
    if (element->children || root) {
        if (w->deep == DEEPEST)
            return 1;
        if (!root)
            w->name[size] = '.';
        w->groups[w->deep].left = element->children;
        w->groups[w->deep].name_size = root ? 0 : size + 1;
        w->groups[w->deep].levels = levels;
        w->groups[w->deep++].repeated = repeated;
        return 0;
    }
    *column = element->column;
    column->levels = levels;
    column->repeated = repeated;
    column->name = ty_text_copy(w->name, size);
    return 0;
}

static tally_status read_schema(ty_thrift *t, ty_thrift_type type, const char *name,
                                ty_pq_footer *footer, tally_error *error)
{
    ty_thrift_type inner;
    ty_pq_walk walk;
    walk.deep = 0;
    walk.name_size = 0;
    const size_t count = ty_thrift_list(t, type, &inner);
    ty_thrift_expect(t, inner, TY_THRIFT_STRUCT);
    if (t->failed || !count || footer->columns)
        return damaged(name, "no schema", error);
    footer->columns = ty_calloc(count, sizeof *footer->columns);
    if (!footer->columns)
        return ty_error_memory(error, "the columns of a Parquet file",
                               count * sizeof *footer->columns);
    for (size_t i = 0; i < count; i++) {
        ty_pq_element element;
        ty_pq_column *column = footer->columns + footer->column_count;
        read_element(t, &element);
        if (t->failed || take_element(&walk, &element, i == 0, column))
            return damaged(name, "its schema is no tree", error);
        const int is_column = i && !element.children;
        if (is_column && !column->name)
            return ty_error_memory(error, "the name of a column", element.name_size + 1);
        footer->column_count += is_column;
        leave_groups(&walk);
    }
    return walk.deep ? damaged(name, "its schema has elements missing", error) : TALLY_OK;
}

/* ---- Row groups ---- */

typedef struct ty_pq_reader {
    const char *name;
    const uint32_t *picks;
    uint32_t count;
    uint64_t data_end;
    ty_pq_footer *footer;
    ty_pq_chunk *chunks;
} ty_pq_reader;

/* Whether the footer says that no value is missing. */
static int read_no_missing(ty_thrift *t)
{
    int field = 0, none = 0;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        if (field == 3)
            none = ty_thrift_integer(t, type) == 0;
        else
            ty_thrift_skip(t, type);
    }
    return none;
}

/* Whether pages of values, in a list of the chunk's kinds of page, are not all in a dictionary. */
static int read_plain(ty_thrift *t, ty_thrift_type list)
{
    ty_thrift_type inner;
    int plain = 0;
    const size_t count = ty_thrift_list(t, list, &inner);
    ty_thrift_expect(t, inner, TY_THRIFT_STRUCT);
    for (size_t i = 0; i < count && !t->failed; i++) {
        int field = 0;
        int64_t page = -1, encoding = -1;
        for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
            if (field == 1)
                page = ty_thrift_integer(t, type);
            else if (field == 2)
                encoding = ty_thrift_integer(t, type);
            else
                ty_thrift_skip(t, type);
        }
        plain |= (page == TY_PQ_DATA_PAGE || page == TY_PQ_DATA_PAGE_V2) &&
                 encoding != TY_PQ_RLE_DICTIONARY && encoding != TY_PQ_PLAIN_DICTIONARY;
    }
    return plain;
}

/* A chunk's own description; its type to *type. */
static void read_chunk_fields(ty_thrift *t, ty_pq_chunk *chunk, int *column_type)
{
    int field = 0, plain = 0;
    uint64_t bytes = 0, data = 0, dictionary = 0;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        switch (field) {
        case 1:
            *column_type = (int)ty_thrift_integer(t, type);
            break;
        case 4:
            chunk->codec = (int)ty_thrift_integer(t, type);
            break;
        case 5:
            chunk->values = ty_thrift_size(t, type);
            break;
        case 7:
            bytes = ty_thrift_size(t, type);
            break;
        case 9:
            data = ty_thrift_size(t, type);
            break;
        case 11:
            dictionary = ty_thrift_size(t, type);
            break;
        case 12:
            ty_thrift_expect(t, type, TY_THRIFT_STRUCT);
            chunk->no_missing = read_no_missing(t);
            break;
        case 13:
            plain = read_plain(t, type);
            break;
        default:
            ty_thrift_skip(t, type);
        }
    }
    if (!chunk->values)
        return; /* writers leave out pages, or their places */
    chunk->begin = dictionary && dictionary < data ? dictionary : data;
    chunk->end = chunk->begin + bytes;
    chunk->is_coded = chunk->begin != data && !plain;
}

static tally_status read_chunk(ty_thrift *t, const ty_pq_reader *r, uint32_t column,
                               ty_pq_chunk *chunk, tally_error *error)
{
    int field = 0, column_type = -1, elsewhere = 0, encrypted = 0;
    memset(chunk, 0, sizeof *chunk);
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        elsewhere |= field == 1;
        encrypted |= field == 8;
        if (field == 3 && type == TY_THRIFT_STRUCT)
            read_chunk_fields(t, chunk, &column_type);
        else
            ty_thrift_skip(t, type);
    }
    if (encrypted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: column '%s' is encrypted", r->name,
                        r->footer->columns[column].name);
    if (elsewhere)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: the data of column '%s' are in another file; read that one", r->name,
                        r->footer->columns[column].name);
    if (t->failed || column_type != r->footer->columns[column].type ||
        (chunk->values && chunk->begin < 4) || chunk->end < chunk->begin ||
        chunk->end > r->data_end)
        return damaged(r->name, "a column's place or type", error);
    return TALLY_OK;
}

static tally_status read_group_columns(ty_thrift *t, const ty_pq_reader *r, ty_thrift_type type,
                                       ty_pq_chunk *chunks, tally_error *error)
{
    ty_thrift_type inner;
    const size_t count = ty_thrift_list(t, type, &inner);
    ty_thrift_expect(t, inner, TY_THRIFT_STRUCT);
    if (t->failed || count != r->footer->column_count)
        return damaged(r->name, "a row group has not the columns of the schema", error);
    for (uint32_t i = 0; i < count; i++) {
        int first = -1;
        for (uint32_t p = 0; p < r->count; p++) {
            if (r->picks[p] != i)
                continue;
            if (first >= 0) {
                chunks[p] = chunks[first];
                continue;
            }
            first = (int)p;
            tally_status status = read_chunk(t, r, i, chunks + p, error);
            if (status)
                return status;
        }
        if (first < 0)
            ty_thrift_skip(t, TY_THRIFT_STRUCT);
    }
    return TALLY_OK;
}

static tally_status read_group(ty_thrift *t, const ty_pq_reader *r, size_t g, tally_error *error)
{
    int field = 0, seen = 0;
    uint64_t rows = 0;
    ty_pq_chunk *chunks = r->chunks + g * r->count;
    for (ty_thrift_type type; (type = ty_thrift_field(t, &field)) != TY_THRIFT_STOP;) {
        if (field == 1) {
            tally_status status = read_group_columns(t, r, type, chunks, error);
            if (status)
                return status;
            seen = 1;
        } else if (field == 3) {
            rows = ty_thrift_size(t, type);
        } else {
            ty_thrift_skip(t, type);
        }
    }
    for (uint32_t p = 0; seen && p < r->count; p++)
        if (chunks[p].values != rows)
            return damaged(r->name, "a column has not as many values as its row group rows", error);
    r->footer->group_rows[g] = rows;
    return t->failed || !seen ? damaged(r->name, "a row group", error) : TALLY_OK;
}

static tally_status read_groups(ty_thrift *t, ty_thrift_type type, ty_pq_reader *r,
                                tally_error *error)
{
    ty_thrift_type inner;
    ty_pq_footer *footer = r->footer;
    const size_t count = ty_thrift_list(t, type, &inner);
    if (t->failed || r->chunks || (count && inner != TY_THRIFT_STRUCT))
        return damaged(r->name, "its row groups", error);
    r->chunks = ty_calloc(count ? count : 1, r->count * sizeof *r->chunks);
    footer->group_rows = ty_calloc(count ? count : 1, sizeof *footer->group_rows);
    if (!r->chunks || !footer->group_rows)
        return ty_error_memory(error, "the row groups of a Parquet file",
                               count * (r->count * sizeof *r->chunks + sizeof(uint64_t)));
    footer->group_count = count;
    uint64_t rows = 0;
    for (size_t g = 0; g < count; g++) {
        tally_status status = read_group(t, r, g, error);
        if (status)
            return status;
        rows += footer->group_rows[g];
        if (rows > footer->rows)
            return damaged(r->name, "its row groups have more rows than the file", error);
    }
    return rows == footer->rows
               ? TALLY_OK
               : damaged(r->name, "its row groups have fewer rows than the file", error);
}

/* ---- The whole ---- */

tally_status ty_pq_footer_open(const unsigned char *bytes, size_t size, const char *name,
                               ty_pq_footer *footer, tally_error *error)
{
    ty_thrift t = {bytes, bytes + size, 0};
    int field = 0;
    memset(footer, 0, sizeof *footer);
    tally_status status = TALLY_OK;
    for (ty_thrift_type type; !status && (type = ty_thrift_field(&t, &field)) != TY_THRIFT_STOP;) {
        if (field == 2)
            status = read_schema(&t, type, name, footer, error);
        else if (field == 3)
            footer->rows = ty_thrift_size(&t, type);
        else
            ty_thrift_skip(&t, type);
    }
    if (!status && (t.failed || !footer->columns))
        status = damaged(name, "it ends early", error);
    if (status)
        ty_pq_footer_close(footer);
    return status;
}

void ty_pq_footer_close(ty_pq_footer *footer)
{
    for (size_t i = 0; i < footer->column_count; i++)
        ty_free(footer->columns[i].name);
    ty_free(footer->columns);
    ty_free(footer->group_rows);
    memset(footer, 0, sizeof *footer);
}

tally_status ty_pq_groups(const unsigned char *bytes, size_t size, const char *name,
                          const uint32_t *picks, uint32_t count, uint64_t data_end,
                          ty_pq_footer *footer, ty_pq_chunk **chunks, tally_error *error)
{
    ty_thrift t = {bytes, bytes + size, 0};
    ty_pq_reader reader = {name, picks, count, data_end, footer, NULL};
    int field = 0;
    tally_status status = TALLY_OK;
    for (ty_thrift_type type; !status && (type = ty_thrift_field(&t, &field)) != TY_THRIFT_STOP;) {
        if (field == 4)
            status = read_groups(&t, type, &reader, error);
        else
            ty_thrift_skip(&t, type);
    }
    if (!status && (t.failed || !reader.chunks))
        status = damaged(name, "it has no row groups", error);
    if (status)
        ty_free(reader.chunks);
    else
        *chunks = reader.chunks;
    return status;
}
