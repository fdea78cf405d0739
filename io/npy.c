/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy, versions 1.0, 2.0 and 3.0. The header is a Python literal and is read strictly:
 * what NumPy writes and nothing else.
 *
 * Shapes are io/shape.h's. Bytes after the samples are ignored, as NumPy does. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/input.h"
#include "io/rows.h"
#include "io/shape.h"
#include "io/stored.h"

enum { TY_NPY_HEADER_MOST = 64 * 1024, TY_NPY_DIMENSIONS = 64 };

typedef struct ty_npy_header {
    char descr[32];
    int fortran;
    unsigned dimensions;
    uint64_t shape[TY_NPY_DIMENSIONS];
} ty_npy_header;

typedef struct ty_npy_state {
    ty_stream *stream;
    ty_rows rows;
    ty_picks picks;
    size_t swap;         /* sample size when bytes must be turned round, else 0 */
    uint64_t data_start; /* bytes before the first sample */
    int at_start;
} ty_npy_state;

typedef struct ty_cursor {
    const char *begin, *at, *end;
    const char *name; /* the file's */
    uint64_t base;    /* the header's place in the file */
} ty_cursor;

/* ---- The header's literal ------------------------------------------------------------------ */

static tally_status expected(const ty_cursor *c, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: its npy header is damaged at byte %" PRIu64 ": expected %s", c->name,
                    c->base + (uint64_t)(c->at - c->begin), what);
}

static void skip_spaces(ty_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

static int accept(ty_cursor *c, char wanted)
{
    skip_spaces(c);
    if (c->at == c->end || *c->at != wanted)
        return 0;
    c->at++;
    return 1;
}

static int accept_word(ty_cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return 0;
    c->at += length;
    return 1;
}

static tally_status parse_string(ty_cursor *c, char *into, size_t room, tally_error *error)
{
    char quote = accept(c, '\'') ? '\'' : accept(c, '"') ? '"' : '\0';
    if (!quote)
        return expected(c, "a quoted string", error);
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (length + 1 == room || (unsigned char)*c->at < ' ' || (unsigned char)*c->at > '~')
            return expected(c, "a short plain string", error);
        into[length++] = *c->at++;
    }
    if (c->at == c->end)
        return expected(c, "the end of a string", error);
    c->at++;
    into[length] = '\0';
    return TALLY_OK;
}

static tally_status parse_shape(ty_cursor *c, ty_npy_header *header, tally_error *error)
{
    header->dimensions = 0;
    if (!accept(c, '('))
        return expected(c, "a shape in parentheses", error);
    while (!accept(c, ')')) {
        if (header->dimensions == TY_NPY_DIMENSIONS)
            return expected(c, "at most 64 dimensions", error);
        uint64_t extent = 0;
        const char *first = c->at;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
            unsigned digit = (unsigned)(*c->at - '0');
            if (extent > (UINT64_MAX - digit) / 10)
                return expected(c, "an extent below 2^64", error);
            extent = extent * 10 + digit;
        }
        if (c->at == first)
            return expected(c, "an extent", error);
        accept(c, 'L'); /* Python 2's long integers */
        header->shape[header->dimensions++] = extent;
        if (accept(c, ','))
            continue;
        if (header->dimensions < 2)
            return expected(c, "',' after the only extent", error);
        if (!accept(c, ')'))
            return expected(c, "',' or ')'", error);
        break;
    }
    return TALLY_OK;
}

static tally_status parse_entry(ty_cursor *c, ty_npy_header *header, unsigned *seen,
                                tally_error *error)
{
    char key[16];
    tally_status status = parse_string(c, key, sizeof key, error);
    if (status)
        return status;
    if (!accept(c, ':'))
        return expected(c, "':'", error);
    unsigned bit = !strcmp(key, "descr")           ? 1
                   : !strcmp(key, "fortran_order") ? 2
                   : !strcmp(key, "shape")         ? 4
                                                   : 0;
    if (!bit || *seen & bit)
        return expected(c, "each of 'descr', 'fortran_order' and 'shape' once", error);
    *seen |= bit;
    if (bit == 4)
        return parse_shape(c, header, error);
    if (bit == 2) {
        header->fortran = accept_word(c, "True");
        return header->fortran || accept_word(c, "False") ? TALLY_OK
                                                          : expected(c, "True or False", error);
    }
    skip_spaces(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '('))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a structured array; save one of its fields as an array of its own",
                        c->name);
    return parse_string(c, header->descr, sizeof header->descr, error);
}

static tally_status parse_header(ty_cursor *c, ty_npy_header *header, tally_error *error)
{
    unsigned seen = 0;
    if (!accept(c, '{'))
        return expected(c, "'{'", error);
    while (!accept(c, '}')) {
        tally_status status = parse_entry(c, header, &seen, error);
        if (status)
            return status;
        if (accept(c, ','))
            continue;
        if (!accept(c, '}'))
            return expected(c, "',' or '}'", error);
        break;
    }
    if (seen != 7)
        return expected(c, "'descr', 'fortran_order' and 'shape' before the end", error);
    skip_spaces(c);
    return c->at == c->end ? TALLY_OK : expected(c, "nothing more", error);
}

/* ---- What it means ------------------------------------------------------------------------- */

static const struct {
    char code[3];
    tally_dtype dtype;
} kinds[] = {{"u1", TALLY_U8},  {"b1", TALLY_U8},  {"i1", TALLY_I8},  {"u2", TALLY_U16},
             {"i2", TALLY_I16}, {"u4", TALLY_U32}, {"i4", TALLY_I32}, {"u8", TALLY_U64},
             {"i8", TALLY_I64}, {"f2", TALLY_F16}, {"f4", TALLY_F32}, {"f8", TALLY_F64}};

static const char *refused_kind(char letter)
{
    switch (letter) {
    case 'c':
        return "complex numbers";
    case 'O':
        return "Python objects";
    case 'S':
    case 'a':
        return "byte strings";
    case 'U':
        return "strings";
    case 'V':
        return "raw records";
    case 'M':
        return "dates";
    case 'm':
        return "time differences";
    case 'f':
        return "floating point numbers of an unusual size";
    default:
        return "an unknown kind of element";
    }
}

static tally_status find_dtype(ty_npy_state *s, const ty_npy_header *header, tally_dtype *dtype,
                               tally_error *error)
{
    const char *descr = header->descr;
    char order = descr[0];
    if (order && strchr("<>=|", order)) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            size_t size = tally_dtype_bytes(kinds[i].dtype);
            if (memcmp(descr + 1, kinds[i].code, 2) != 0 || descr[3] || (order == '|' && size > 1))
                continue;
            *dtype = kinds[i].dtype;
            char other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
            s->swap = order == other && size > 1 ? size : 0;
            return TALLY_OK;
        }
    }
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: elements of type '%s' (%s); integers of 1 to 8 bytes, f2, f4, f8 and b1 "
                    "are counted",
                    ty_stream_name(s->stream), descr,
                    refused_kind(order && strchr("<>=|", order) ? descr[1] : order));
}

/* Reads exactly `size` bytes of the header. */
static tally_status read_exactly(ty_stream *stream, void *bytes, size_t size, tally_error *error)
{
    size_t got;
    tally_status status = ty_stream_read(stream, bytes, size, &got, error);
    if (!status && got < size)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: ends inside its npy header, at byte %" PRIu64, ty_stream_name(stream),
                        ty_stream_offset(stream));
    return status;
}

static tally_status read_header(ty_stream *stream, ty_npy_header *header, tally_error *error)
{
    unsigned char start[8], count[4] = {0, 0, 0, 0};
    const char *name = ty_stream_name(stream);
    tally_status status = read_exactly(stream, start, 8, error);
    if (status)
        return status;
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: npy version %d.%d; 1.0, 2.0 and 3.0 are known", name, start[6],
                        start[7]);
    status = read_exactly(stream, count, start[6] == 1 ? 2 : 4, error);
    if (status)
        return status;
    uint32_t length = (uint32_t)count[0] | (uint32_t)count[1] << 8 | (uint32_t)count[2] << 16 |
                      (uint32_t)count[3] << 24;
    if (length > TY_NPY_HEADER_MOST)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: an npy header of %" PRIu32 " bytes; at most %d are read", name, length,
                        TY_NPY_HEADER_MOST);
    char *text = ty_malloc(length);
    if (!text)
        return ty_error_memory(error, "an npy header", length);
    ty_cursor cursor = {text, text, text + length, name, ty_stream_offset(stream)};
    status = read_exactly(stream, text, length, error);
    if (!status)
        status = parse_header(&cursor, header, error);
    ty_free(text);
    return status;
}

/* ---- The decoder --------------------------------------------------------------------------- */

static int npy_probe(const unsigned char *head, size_t size)
{
    return size >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_npy_state *s = state;
    tally_status status = TALLY_OK;
    if (s->at_start) {
        s->at_start = 0;
        status = ty_stream_skip(s->stream, s->data_start - ty_stream_offset(s->stream), got, error);
        if (status)
            return status;
    }
    if (!into)
        return ty_stream_skip(s->stream, bytes, got, error);
    size_t have = 0;
    status = ty_stream_read(s->stream, into, (size_t)bytes, &have, error);
    *got = have;
    if (s->swap)
        ty_rows_swap(into, have / s->swap, s->swap);
    return status;
}

static void npy_close(void *state)
{
    ty_npy_state *s = state;
    if (s)
        ty_rows_close(&s->rows);
    ty_free(s);
}

static tally_status start(ty_npy_state *s, const tally_input_options *options,
                          tally_input_info *info, tally_error *error)
{
    ty_npy_header header;
    memset(&header, 0, sizeof header);
    tally_status status = read_header(s->stream, &header, error);
    if (!status)
        status = find_dtype(s, &header, &info->dtype, error);
    const ty_shape shape = {header.shape, header.dimensions, header.fortran};
    if (!status)
        status = ty_shape_find(&shape, ty_stream_name(s->stream), options, &s->picks, info, error);
    if (!status)
        status = ty_rows_open(&s->rows, ty_stream_name(s->stream), 1, options, info, error);
    if (!status)
        ty_picks_note(&s->picks, info);
    if (status)
        return status;
    info->booleans = header.descr[1] == 'b' ? ~UINT32_C(0) : 0;
    s->data_start = ty_stream_offset(s->stream);
    s->at_start = 1;
    /* A file that is too short is refused before anything is counted. */
    uint64_t size = ty_stream_compression(s->stream)[0] ? 0 : ty_stream_size(s->stream);
    uint64_t want = s->rows.rows * s->rows.row_bytes;
    if (size && size - s->data_start < want)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: its npy header promises %" PRIu64 " bytes of samples, but %" PRIu64
                        " follow",
                        ty_stream_name(s->stream), want, size - s->data_start);
    return TALLY_OK;
}

static tally_status npy_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    ty_npy_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    tally_status status = start(s, options, info, error);
    if (status)
        npy_close(s);
    else
        *state = s;
    return status;
}

static tally_status npy_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_npy_state *s = state;
    tally_status status = ty_rows_read(&s->rows, take, s, views, done, error);
    if (!status && !*done)
        ty_picks_split(&s->picks, views);
    return status;
}

static tally_status npy_rewind(void *state, tally_error *error)
{
    ty_npy_state *s = state;
    (void)error;
    s->at_start = 1;
    ty_rows_rewind(&s->rows);
    return TALLY_OK;
}

static int npy_stored(const void *state, ty_stored *stored)
{
    const ty_npy_state *s = state;
    ty_stored_make(stored, s->stream, &s->rows);
    stored->start = s->data_start;
    stored->swap = s->swap;
    return !s->picks.count;
}

const ty_decoder ty_npy = {
    .format = "npy",
    .has_columns = 1,
    .probe = npy_probe,
    .open = npy_open,
    .read = npy_read,
    .rewind = npy_rewind,
    .close = npy_close,
    .stored = npy_stored,
};
