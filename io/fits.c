/* SPDX-License-Identifier: Apache-2.0 */
/* FITS: an image of any rank, or numeric columns of a binary table.
 *
 * Values are physical ones, zero + scale × stored. The zeros by which the format writes unsigned
 * integers (and signed bytes) make those types; any other scale makes f64, and so does a value that
 * stands for missing (BLANK, TNULL), which becomes NaN, but where a mask can say so. Of more than
 * two dimensions the planes lie one below the other. */
#include "io/fits.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/columns.h"
#include "io/mask.h"
#include "io/rows.h"
#include "io/shape.h"

enum { BATCH = 1024, BUFFER_BYTES = 64 * 1024 };

#define EXACT_MOST ((int64_t)1 << 53)

/* A column, or the image, as what several threads read at once. */
typedef struct ty_fits_part {
    tally_source source;
    const struct ty_fits_state *state;
    uint32_t number; /* of `fields` */
} ty_fits_part;

typedef struct ty_fits_state {
    ty_fits_file fits;
    ty_rows rows;
    ty_picks picks; /* of a table: all columns of a record, which are fields[…] */
    uint32_t fields[TALLY_MAX_DIMENSIONS];
    uint32_t count;
    tally_dtype dtype;
    unsigned char *mask; /* of the elements read last; NULL: none can be missing, or NaN says so */
    uint64_t stride;     /* bytes from an element's value to the next in the file */
    uint64_t element;    /* next to read in order */
    ty_fits_part parts[TALLY_MAX_DIMENSIONS];
} ty_fits_state;

static int fits_probe(const unsigned char *head, size_t size)
{
    return size >= 30 && !memcmp(head, "SIMPLE  =                    T", 30);
}

/* ---- Values ---- */

/* The integer type that a zero makes of a stored one; 0: none, it is a number like others. */
static tally_dtype shifted(const ty_fits_field *f)
{
    if (f->scale != 1 || f->is_logical)
        return (tally_dtype)0;
    if (f->zero == 0)
        return f->stored;
    if (f->stored == TALLY_U8)
        return f->zero == -128 ? TALLY_I8 : (tally_dtype)0;
    if (f->stored == TALLY_I16)
        return f->zero == 0x1p15 ? TALLY_U16 : (tally_dtype)0;
    if (f->stored == TALLY_I32)
        return f->zero == 0x1p31 ? TALLY_U32 : (tally_dtype)0;
    if (f->stored == TALLY_I64)
        return f->zero == 0x1p63 ? TALLY_U64 : (tally_dtype)0;
    return (tally_dtype)0;
}

static int is_integer(tally_dtype dtype)
{
    return dtype < TALLY_F16;
}

static int may_miss(const ty_fits_field *f)
{
    return f->has_blank && is_integer(f->stored);
}

/* The one type that the chosen fields are handed out in; *masked: integers, some missing. */
static tally_dtype common_dtype(const ty_fits_state *s, int may_mask, int *masked)
{
    const tally_dtype common = shifted(s->fits.field + s->fields[0]);
    int missing = 0;
    *masked = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const ty_fits_field *f = s->fits.field + s->fields[i];
        if (!common || shifted(f) != common)
            return TALLY_F64;
        missing |= may_miss(f);
    }
    *masked = missing && may_mask && (common == TALLY_I64 || common == TALLY_U64);
    return missing && !*masked ? TALLY_F64 : common;
}

/* A stored integer, in the host's order. */
static int64_t integer_at(tally_dtype stored, const unsigned char *at)
{
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (stored) {
    case TALLY_U8:
        return *at;
    case TALLY_I16:
        memcpy(&two, at, sizeof two);
        return two;
    case TALLY_I32:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return eight;
    }
}

static double float_at(tally_dtype stored, const unsigned char *at)
{
    float four;
    double eight;
    if (stored == TALLY_F32) {
        memcpy(&four, at, sizeof four);
        return (double)four;
    }
    memcpy(&eight, at, sizeof eight);
    return eight;
}

/* Nonzero: an integer that float64 has not. */
static int convert_one(const ty_fits_field *f, const unsigned char *at, double *value)
{
    if (!is_integer(f->stored)) {
        const double stored = float_at(f->stored, at);
        *value = f->scale == 1 && f->zero == 0 ? stored : f->zero + f->scale * stored;
        return 0;
    }
    const int64_t stored = integer_at(f->stored, at);
    if (f->is_logical) {
        *value = stored == 'T' ? 1 : stored == 'F' ? 0 : (double)NAN;
        return 0;
    }
    if (f->has_blank && stored == f->blank) {
        *value = (double)NAN;
        return 0;
    }
    if (!shifted(f)) {
        *value = f->zero + f->scale * (double)stored;
        return 0;
    }
    if (f->zero == 0x1p63) {
        const uint64_t whole = (uint64_t)stored ^ UINT64_C(1) << 63;
        *value = (double)whole;
        return whole > (uint64_t)EXACT_MOST;
    }
    *value = (double)stored + f->zero;
    return f->zero == 0 && (stored > EXACT_MOST || stored < -EXACT_MOST);
}

/* Turns the top bit of `count` values round: what a shift by half the range is. */
static void flip(unsigned char *values, size_t size, size_t count)
{
    const size_t top = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : 0;
    for (size_t i = 0; i < count; i++)
        values[i * size + top] ^= 0x80;
}

/* `count` values, at most BATCH, of a field at `from`, `stride` bytes apart, to `to`, `step` bytes
 * apart. */
static tally_status convert(const ty_fits_state *s, const ty_fits_field *f,
                            const unsigned char *from, uint64_t stride, size_t count,
                            unsigned char *to, size_t step, tally_error *error)
{
    unsigned char values[BATCH * sizeof(double)];
    const size_t size = tally_dtype_bytes(f->stored);
    if (stride == size)
        memcpy(values, from, count * size);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(values + i * size, from + i * stride, size);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        ty_rows_swap(values, count, size);
    if (shifted(f) == s->dtype) {
        if (f->zero != 0)
            flip(values, size, count);
        if (step == size)
            memcpy(to, values, count * size);
        else
            for (size_t i = 0; i < count; i++)
                memcpy(to + i * step, values + i * size, size);
        return TALLY_OK;
    }
    for (size_t i = 0; i < count; i++) {
        double value;
        if (convert_one(f, values + i * size, &value))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: integers beyond 2^53, %s: they are counted exactly only alone or "
                            "with columns of their type, and beside a mask, weights or values "
                            "only if none is missing",
                            s->fits.in.name, f->name ? f->name : "in an image with BLANK");
        memcpy(to + i * step, &value, sizeof value);
    }
    return TALLY_OK;
}

/* Elements [first, first + count) of the data, as records of `fields` of the chosen fields, from
 * fields[begin] on; by any number of threads. */
static tally_status read_elements(const ty_fits_state *s, uint32_t begin, uint32_t fields,
                                  uint64_t first, uint64_t count, unsigned char *to,
                                  tally_error *error)
{
    unsigned char buffer[BUFFER_BYTES];
    const ty_seekable *in = &s->fits.in;
    const uint64_t data = in->start + s->fits.units[s->fits.chosen].data;
    const size_t size = tally_dtype_bytes(s->dtype), step = size * fields;
    const int is_long = s->stride > BUFFER_BYTES; /* then value by value */
    uint64_t most = is_long ? 1 : BUFFER_BYTES / s->stride;
    most = most < BATCH ? most : BATCH;
    tally_status status = TALLY_OK;
    for (uint64_t n; count && !status; first += n, count -= n, to += n * step) {
        n = count < most ? count : most;
        if (!is_long)
            status = ty_file_read_at(in->name, in->file, data + first * s->stride, buffer,
                                     (size_t)(n * s->stride), error);
        for (uint32_t i = 0; i < fields && !status; i++) {
            const ty_fits_field *f = s->fits.field + s->fields[begin + i];
            const unsigned char *from = is_long ? buffer : buffer + f->at;
            if (is_long)
                status = ty_file_read_at(in->name, in->file, data + first * s->stride + f->at,
                                         buffer, tally_dtype_bytes(f->stored), error);
            if (!status)
                status = convert(s, f, from, s->stride, (size_t)n, to + i * size, step, error);
        }
    }
    return status;
}

/* ---- Opening ---- */

static tally_status check_column(const ty_fits_state *s, uint32_t column, tally_error *error)
{
    const ty_fits_field *f = s->fits.field + column;
    return f->refused ? ty_error(error, TALLY_ERROR_UNSUPPORTED,
                                 "%s: column '%s' holds %s; numbers, one a row, are counted",
                                 s->fits.in.name, f->name, f->refused)
                      : TALLY_OK;
}

static tally_status pick_columns(ty_fits_state *s, const ty_columns *columns,
                                 const tally_input_options *options, tally_error *error)
{
    s->count = options->columns_count ? options->columns_count : 1;
    if (!options->columns_count && columns->count != 1)
        return columns->count
                   ? ty_columns_refuse_none(columns, error)
                   : ty_error(error, TALLY_ERROR_FORMAT, "%s: no columns", columns->file);
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < s->count && !status; i++) {
        if (options->columns_count)
            status = ty_columns_find(columns, options->columns[i], s->fields + i, error);
        if (!status)
            status = check_column(s, s->fields[i], error);
    }
    return status;
}

static tally_status open_table(ty_fits_state *s, const tally_input_options *options,
                               tally_input_info *info, tally_error *error)
{
    const ty_fits_file *fits = &s->fits;
    const ty_fits_unit *u = fits->units + fits->chosen;
    const char **names = ty_calloc(fits->fields ? fits->fields : 1, sizeof *names);
    if (!names)
        return ty_error_memory(error, "the names of columns", fits->fields * sizeof *names);
    for (uint32_t i = 0; i < fits->fields; i++)
        names[i] = fits->field[i].name;
    const ty_columns columns = {fits->in.name, names, fits->fields};
    tally_status status = pick_columns(s, &columns, options, error);
    ty_free(names);
    if (status)
        return status;
    s->picks.count = s->count;
    s->stride = u->axes[0];
    for (uint32_t i = 0; i < s->count; i++) {
        s->picks.columns[i] = i;
        info->booleans |= (uint32_t)fits->field[s->fields[i]].is_logical << i;
    }
    info->rows = u->axes[1];
    info->columns = 1;
    info->channels = s->count;
    return TALLY_OK;
}

static tally_status open_image(ty_fits_state *s, const tally_input_options *options,
                               tally_input_info *info, tally_error *error)
{
    const ty_fits_unit *u = s->fits.units + s->fits.chosen;
    if (options->columns_count)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: columns are chosen by name in tables, and this is an image; choose a "
                        "region instead",
                        s->fits.in.name);
    s->count = 1;
    s->stride = tally_dtype_bytes(s->fits.field->stored);
    info->columns = u->rank > 1 ? u->axes[0] : 1;
    info->rows = u->rank > 1 ? 1 : u->axes[0];
    for (unsigned i = 1; i < u->rank; i++)
        info->rows *= u->axes[i];
    info->channels = 1;
    return TALLY_OK;
}

static tally_status open_unit(ty_fits_state *s, ty_stream *stream,
                              const tally_input_options *options, tally_input_info *info,
                              tally_error *error)
{
    ty_fits_file *fits = &s->fits;
    tally_status status = ty_seekable_open(stream, &fits->in, error);
    if (!status)
        status = ty_fits_scan(fits, error);
    if (!status)
        status = ty_fits_choose(fits, options->inside, error);
    if (!status)
        status = ty_fits_fields(fits, error);
    if (!status)
        status = fits->units[fits->chosen].is_table ? open_table(s, options, info, error)
                                                    : open_image(s, options, info, error);
    if (status)
        return status;
    int masked;
    s->dtype = info->dtype = common_dtype(s, options->masked, &masked);
    status = ty_rows_open(&s->rows, ty_stream_name(stream), 1, options, info, error);
    if (status)
        return status;
    ty_picks_note(&s->picks, info);
    return masked ? ty_mask_make(&s->rows, &s->mask, error) : TALLY_OK;
}

static void fits_close(void *state)
{
    ty_fits_state *s = state;
    ty_rows_close(&s->rows);
    ty_free(s->mask);
    ty_fits_close(&s->fits);
    ty_free(s);
}

static tally_status fits_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    ty_fits_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "a FITS file", sizeof *s);
    tally_status status = open_unit(s, stream, options, info, error);
    if (status)
        fits_close(s);
    else
        *state = s;
    return status;
}

/* ---- Reading ---- */

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_fits_state *s = state;
    const uint64_t count = bytes / s->rows.pixel_bytes;
    tally_status status =
        into ? read_elements(s, 0, s->count, s->element, count, into, error) : TALLY_OK;
    s->element += count;
    *got = bytes;
    return status;
}

/* mask[i] becomes 0 where element i of a view of field `i` stands for missing. */
static void mask_field(const ty_fits_state *s, uint32_t i, const tally_view *view,
                       unsigned char *mask)
{
    const ty_fits_field *f = s->fits.field + s->fields[i];
    const uint64_t blank = (uint64_t)f->blank ^ (s->dtype == TALLY_U64 ? UINT64_C(1) << 63 : 0);
    ty_mask_missing(view, &blank, may_miss(f) ? 1 : 0, mask);
}

static void mask_chunk(ty_fits_state *s, const tally_view *views)
{
    memset(s->mask, 1, (size_t)(views->rows * views->columns));
    for (uint32_t i = 0; i < s->count; i++)
        mask_field(s, i, views + i, s->mask);
}

static tally_status fits_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_fits_state *s = state;
    tally_status status = ty_rows_read(&s->rows, take, s, views, done, error);
    if (status || *done)
        return status;
    ty_picks_split(&s->picks, views);
    if (s->mask)
        mask_chunk(s, views);
    return TALLY_OK;
}

static tally_status fits_rewind(void *state, tally_error *error)
{
    ty_fits_state *s = state;
    (void)error;
    s->element = 0;
    ty_rows_rewind(&s->rows);
    return TALLY_OK;
}

/* Elements of the region, row after row. */
static tally_status read_source(void *user, uint64_t begin, uint64_t count, void *to,
                                tally_error *error)
{
    const ty_fits_part *part = user;
    const ty_fits_state *s = part->state;
    const ty_rows *r = &s->rows;
    const size_t bytes = tally_dtype_bytes(s->dtype);
    const uint64_t columns = r->column_end - r->column_begin;
    unsigned char *into = to;
    tally_status status = TALLY_OK;
    for (uint64_t n; count && !status; begin += n, count -= n, into += n * bytes) {
        const uint64_t row = r->row_begin + begin / columns, column = begin % columns;
        n = columns == r->columns || count < columns - column ? count : columns - column;
        status = read_elements(s, part->number, 1, row * r->columns + r->column_begin + column, n,
                               into, error);
    }
    return status;
}

static tally_status fits_view(void *state, tally_view *views, tally_error *error)
{
    ty_fits_state *s = state;
    const ty_rows *r = &s->rows;
    (void)error;
    for (uint32_t i = 0; i < s->count; i++) {
        ty_fits_part *part = s->parts + i;
        tally_view view = TALLY_VIEW_INIT;
        *part = (ty_fits_part){TALLY_SOURCE_INIT, s, i};
        part->source.read = read_source;
        part->source.user = part;
        view.source = &part->source;
        view.dtype = s->dtype;
        view.rows = r->row_end - r->row_begin;
        view.columns = r->column_end - r->column_begin;
        if (r->columns == 1) {
            view.columns = view.rows;
            view.rows = 1;
        }
        views[i] = view;
    }
    return TALLY_OK;
}

static const unsigned char *fits_mask(const void *state)
{
    return ((const ty_fits_state *)state)->mask;
}

static tally_status fits_mask_part(const void *state, uint64_t begin, uint64_t count,
                                   unsigned char *mask, tally_error *error)
{
    const ty_fits_state *s = state;
    uint64_t values[BATCH];
    tally_view view = TALLY_VIEW_INIT;
    view.data = values;
    view.rows = 1;
    tally_status status = TALLY_OK;
    for (uint64_t n; count && !status; begin += n, count -= n, mask += n) {
        n = count < BATCH ? count : BATCH;
        view.columns = n;
        for (uint32_t i = 0; i < s->count && !status; i++) {
            ty_fits_part part = {.state = s, .number = i};
            status = read_source(&part, begin, n, values, error);
            if (!status)
                mask_field(s, i, &view, mask);
        }
    }
    return status;
}

static const char *fits_channel_name(const void *state, uint64_t channel)
{
    const ty_fits_state *s = state;
    return s->picks.count && channel < s->count ? s->fits.field[s->fields[channel]].name : NULL;
}

const ty_decoder ty_fits = {
    .format = "fits",
    .has_columns = 1,
    .has_inside = 1,
    .probe = fits_probe,
    .open = fits_open,
    .read = fits_read,
    .rewind = fits_rewind,
    .channel_name = fits_channel_name,
    .close = fits_close,
    .view = fits_view,
    .mask = fits_mask,
    .mask_part = fits_mask_part,
};
