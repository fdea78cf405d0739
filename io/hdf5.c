/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5: one dataset of numbers, of any rank and layout, read through libhdf5 in its own order.
 *
 * Shapes are io/shape.h's. A dataset of records (a compound type) is a table: fields of numbers are
 * chosen as columns. */
#include <string.h>

#include "io/input.h"
#include "io/rows.h"

static int hdf5_probe(const unsigned char *head, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at = at ? 2 * at : 512) /* behind a user's block */
        if (!memcmp(head + at, "\x89HDF\r\n\x1a\n", 8))
            return 1;
    return 0;
}

#if !TALLY_HAVE_HDF5

static tally_status hdf5_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    (void)options;
    (void)state;
    (void)info;
    return ty_rows_no_library(stream, "HDF5", "libhdf5", error);
}

const ty_decoder ty_hdf5 = {
    .format = "hdf5", .has_columns = 1, .has_inside = 1, .probe = hdf5_probe, .open = hdf5_open};

#else

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/columns.h"
#include "io/hdf5_dataset.h"
#include "io/mask.h"
#include "io/stored.h"

/* ---- Types ---- */

static const char *kind_words(H5T_class_t kind)
{
    switch (kind) {
    case H5T_STRING:
        return "text";
    case H5T_COMPOUND:
        return "records";
    case H5T_REFERENCE:
        return "references";
    case H5T_VLEN:
        return "lists of any length";
    case H5T_ARRAY:
        return "arrays as elements";
    case H5T_OPAQUE:
        return "opaque bytes";
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
        return "numbers of an unusual size";
    default:
        return "values of a kind that is not counted";
    }
}

/* The type in memory of a stored one; 0 when there is none. */
static tally_dtype dtype_of(const ty_h5 *h5, hid_t type)
{
    const H5T_class_t kind = h5->H5Tget_class(type);
    const size_t size = h5->H5Tget_size(type);
    if (kind == H5T_ENUM) { /* h5py's booleans are such */
        const hid_t base = h5->H5Tget_super(type);
        const tally_dtype dtype = base < 0 ? (tally_dtype)0 : dtype_of(h5, base);
        if (base >= 0)
            h5->H5Tclose(base);
        return dtype;
    }
    if (kind == H5T_FLOAT)
        return size <= 4 ? TALLY_F32 : size <= 8 ? TALLY_F64 : (tally_dtype)0;
    if (kind == H5T_BITFIELD)
        return size == 1 ? TALLY_U8 : (tally_dtype)0;
    if (kind != H5T_INTEGER || size > 8)
        return (tally_dtype)0;
    const int is_signed = h5->H5Tget_sign(type) != H5T_SGN_NONE;
    return size == 1   ? (is_signed ? TALLY_I8 : TALLY_U8)
           : size == 2 ? (is_signed ? TALLY_I16 : TALLY_U16)
           : size <= 4 ? (is_signed ? TALLY_I32 : TALLY_U32)
                       : (is_signed ? TALLY_I64 : TALLY_U64);
}

/* Booleans are an enumeration of 0 and 1 in a byte, as h5py writes them, or a bit field of a byte,
 * as PyTables (and so pandas) does. */
static int is_boolean(const ty_h5 *h5, hid_t type)
{
    unsigned char values[2];
    if (h5->H5Tget_size(type) != 1)
        return 0;
    if (h5->H5Tget_class(type) == H5T_BITFIELD)
        return 1;
    return h5->H5Tget_class(type) == H5T_ENUM && h5->H5Tget_nmembers(type) == 2 &&
           h5->H5Tget_member_value(type, 0, values) >= 0 &&
           h5->H5Tget_member_value(type, 1, values + 1) >= 0 && values[0] + values[1] == 1;
}

static hid_t memory_type(const ty_h5 *h5, tally_dtype dtype, hid_t stored)
{
    if (h5->H5Tget_class(stored) == H5T_BITFIELD)
        return *h5->H5T_NATIVE_B8_g;
    switch (dtype) {
    case TALLY_U8:
        return *h5->H5T_NATIVE_UINT8_g;
    case TALLY_I8:
        return *h5->H5T_NATIVE_INT8_g;
    case TALLY_U16:
        return *h5->H5T_NATIVE_UINT16_g;
    case TALLY_I16:
        return *h5->H5T_NATIVE_INT16_g;
    case TALLY_U32:
        return *h5->H5T_NATIVE_UINT32_g;
    case TALLY_I32:
        return *h5->H5T_NATIVE_INT32_g;
    case TALLY_U64:
        return *h5->H5T_NATIVE_UINT64_g;
    case TALLY_I64:
        return *h5->H5T_NATIVE_INT64_g;
    case TALLY_F32:
        return *h5->H5T_NATIVE_FLOAT_g;
    default:
        return *h5->H5T_NATIVE_DOUBLE_g;
    }
}

/* Whether the dataset is in the file itself, not behind a link to another. */
static int is_inside(const ty_h5_state *s)
{
    H5O_info_t file, dataset;
    return s->h5->H5Oget_info1(s->file, &file) >= 0 &&
           s->h5->H5Oget_info1(s->dataset, &dataset) >= 0 && file.fileno == dataset.fileno;
}

/* Where all samples lie in the file as they are handed out, but for the order of their bytes: sets
 * `start` and `swap`. */
static void find_start(ty_h5_state *s, hid_t made, hid_t type)
{
    const ty_h5 *h5 = s->h5;
    const H5T_class_t kind = h5->H5Tget_class(type);
    const haddr_t at = h5->H5Dget_offset(s->dataset);
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || h5->H5Pget_layout(made) != H5D_CONTIGUOUS ||
        h5->H5Pget_external_count(made) != 0 || at == HADDR_UNDEF ||
        h5->H5Dget_storage_size(s->dataset) != s->elements * s->element_bytes || !is_inside(s))
        return;
    const hid_t host = h5->H5Tcopy(type);
    const H5T_order_t native = h5->H5Tget_order(s->memory);
    const size_t swap = h5->H5Tget_order(type) == native ? 0 : s->element_bytes;
    if (host >= 0 && h5->H5Tset_order(host, native) >= 0 && h5->H5Tequal(host, s->memory) > 0) {
        s->start = at;
        s->swap = swap;
    }
    if (host >= 0)
        h5->H5Tclose(host);
}

/* ---- Fields of records ---- */

static tally_status check_field(const ty_h5_state *s, hid_t member, const char *name,
                                tally_dtype *dtype, tally_error *error)
{
    *dtype = member < 0 ? (tally_dtype)0 : dtype_of(s->h5, member);
    if (*dtype)
        return TALLY_OK;
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: field '%s' of %s holds %s; numbers, one a record, are counted",
                    ty_stream_name(s->stream), name, s->inside,
                    kind_words(member < 0 ? H5T_NO_CLASS : s->h5->H5Tget_class(member)));
}

/* Makes the record in memory: the fields picks[0 … count), each once, of *dtype, if all are of
 * that.
 */
static tally_status make_record(ty_h5_state *s, hid_t type, char *const *names,
                                const uint32_t *picks, uint32_t count, tally_dtype *dtype,
                                tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    tally_status status = TALLY_OK;
    for (int pass = 0; pass < 2 && !status; pass++) {
        const size_t size = pass ? tally_dtype_bytes(*dtype) : 0;
        if (pass && (s->memory = h5->H5Tcreate(H5T_COMPOUND, size * count)) < 0)
            return ty_h5_failed(s, "cannot make a record of", error);
        for (uint32_t i = 0; i < count && !status; i++) {
            tally_dtype own;
            const hid_t member = h5->H5Tget_member_type(type, picks[i]);
            status = check_field(s, member, names[picks[i]], &own, error);
            if (!status && !pass)
                *dtype = i == 0 || *dtype == own ? own : TALLY_F64;
            else if (!status && h5->H5Tinsert(s->memory, names[picks[i]], i * size,
                                              memory_type(h5, *dtype, member)) < 0)
                status = ty_h5_failed(s, "cannot make a record of", error);
            if (member >= 0)
                h5->H5Tclose(member);
        }
    }
    return status;
}

static tally_status pick_fields(ty_h5_state *s, hid_t type, char *const *names, uint32_t fields,
                                const tally_input_options *options, tally_input_info *info,
                                tally_error *error)
{
    const ty_columns columns = {ty_stream_name(s->stream), (const char *const *)names, fields};
    uint32_t picks[TALLY_MAX_DIMENSIONS] = {0};
    const uint32_t count = options->columns_count ? options->columns_count : 1;
    if (!options->columns_count && fields != 1)
        return ty_columns_refuse_none(&columns, error);
    for (uint32_t i = 0; i < options->columns_count; i++) {
        tally_status status = ty_columns_find(&columns, options->columns[i], picks + i, error);
        if (status)
            return status;
    }
    uint32_t fields_read = 0; /* picks[0 … fields_read), without those chosen again */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t field = picks[i];
        uint32_t k = 0;
        while (k < fields_read && picks[k] != field)
            k++;
        picks[k] = field;
        fields_read += k == fields_read;
        s->picks.columns[i] = k;
        const hid_t member = s->h5->H5Tget_member_type(type, field);
        info->booleans |= (uint32_t)(member >= 0 && is_boolean(s->h5, member)) << i;
        if (member >= 0)
            s->h5->H5Tclose(member);
        if (!(s->names[i] = ty_text_copy(names[field], strlen(names[field]))))
            return ty_error_memory(error, "a field's name", strlen(names[field]) + 1);
    }
    s->picks.count = count;
    info->rows = s->elements;
    info->columns = 1;
    info->channels = fields_read;
    return make_record(s, type, names, picks, fields_read, &info->dtype, error);
}

static tally_status open_records(ty_h5_state *s, hid_t type, const tally_input_options *options,
                                 tally_input_info *info, tally_error *error)
{
    const int fields = s->h5->H5Tget_nmembers(type);
    char **names = fields > 0 ? ty_calloc((size_t)fields, sizeof *names) : NULL;
    tally_status status =
        fields < 0 ? ty_h5_failed(s, "cannot read the fields of", error)
        : !names   ? ty_error_memory(error, "the names of fields", (size_t)fields * sizeof *names)
                   : TALLY_OK;
    for (int i = 0; i < fields && !status; i++) {
        names[i] = s->h5->H5Tget_member_name(type, (unsigned)i);
        if (!names[i])
            status = ty_h5_failed(s, "cannot read the fields of", error);
    }
    if (!status)
        status = pick_fields(s, type, names, (uint32_t)fields, options, info, error);
    for (int i = 0; names && i < fields; i++)
        if (names[i])
            s->h5->H5free_memory(names[i]);
    ty_free(names);
    return status;
}

/* ---- Opening ---- */

static tally_status open_samples(ty_h5_state *s, hid_t type, const tally_input_options *options,
                                 tally_input_info *info, tally_error *error)
{
    uint64_t extents[TY_H5_RANK_MOST];
    const ty_shape shape = {extents, s->rank, 0};
    for (unsigned d = 0; d < s->rank; d++)
        extents[d] = s->extents[d];
    info->dtype = dtype_of(s->h5, type);
    if (!info->dtype)
        return ty_h5_unsupported(s, kind_words(s->h5->H5Tget_class(type)), error);
    info->booleans = is_boolean(s->h5, type) ? ~UINT32_C(0) : 0;
    s->memory = s->h5->H5Tcopy(memory_type(s->h5, info->dtype, type));
    if (s->memory < 0)
        return ty_h5_failed(s, "cannot copy the type of", error);
    tally_status status =
        ty_shape_find(&shape, ty_stream_name(s->stream), options, &s->picks, info, error);
    const H5T_class_t kind = s->h5->H5Tget_class(type);
    if (status || (kind != H5T_INTEGER && kind != H5T_FLOAT))
        return status;
    const int may_mask = options->masked && (info->channels == 1 || s->picks.count);
    return ty_h5_find_packing(s, type, may_mask, &info->dtype, error);
}

/* Integers and floats that their type in memory does not hold exactly stop the reading. */
static H5T_conv_ret_t on_inexact(H5T_conv_except_t kind, hid_t from, hid_t to, void *value,
                                 void *converted, void *user)
{
    (void)from;
    (void)to;
    (void)value;
    (void)converted;
    if (kind != H5T_CONV_EXCEPT_PRECISION && kind != H5T_CONV_EXCEPT_TRUNCATE)
        return H5T_CONV_UNHANDLED;
    ((ty_h5_state *)user)->inexact = 1;
    return H5T_CONV_ABORT;
}

static tally_status open_type(ty_h5_state *s, hid_t made, hid_t type,
                              const tally_input_options *options, tally_input_info *info,
                              tally_error *error)
{
    const int is_record = s->h5->H5Tget_class(type) == H5T_COMPOUND;
    tally_status status = is_record ? open_records(s, type, options, info, error)
                                    : open_samples(s, type, options, info, error);
    if (status)
        return status;
    s->stored_bytes = s->h5->H5Tget_size(s->memory);
    s->element_bytes = s->packing.is_used ? tally_dtype_bytes(info->dtype) : s->stored_bytes;
    status = ty_rows_open(&s->rows, ty_stream_name(s->stream), 1, options, info, error);
    if (status)
        return status;
    ty_picks_note(&s->picks, info);
    if (s->packing.is_masked)
        status = ty_mask_make(&s->rows, &s->mask, error);
    else if (!s->packing.is_used)
        find_start(s, made, type);
    if (status)
        return status;
    s->transfer = s->h5->H5Pcreate(*s->h5->H5P_CLS_DATASET_XFER_ID_g);
    if (s->transfer < 0 || s->h5->H5Pset_type_conv_cb(s->transfer, on_inexact, s) < 0)
        return ty_h5_failed(s, "cannot prepare to read", error);
    return TALLY_OK;
}

static tally_status open_all(ty_h5_state *s, const tally_input_options *options,
                             tally_input_info *info, tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    tally_status status = ty_h5_open_file(s, error);
    if (!status)
        status = ty_h5_open_dataset(s, error);
    if (!status)
        status = ty_h5_find_extents(s, error);
    if (status)
        return status;
    const hid_t made = h5->H5Dget_create_plist(s->dataset);
    if (made < 0)
        return ty_h5_failed(s, "cannot read the layout of", error);
    if (h5->H5Pget_layout(made) == H5D_CHUNKED)
        status = ty_h5_open_cached(s, made, error);
    const hid_t type = status ? -1 : h5->H5Dget_type(s->dataset);
    if (!status && type < 0)
        status = ty_h5_failed(s, "cannot read the type of", error);
    if (!status)
        status = open_type(s, made, type, options, info, error);
    if (type >= 0)
        h5->H5Tclose(type);
    h5->H5Pclose(made);
    return status;
}

static void close_all(ty_h5_state *s)
{
    const ty_h5 *h5 = s->h5;
    if (s->transfer > 0)
        h5->H5Pclose(s->transfer);
    if (s->memory > 0)
        h5->H5Tclose(s->memory);
    if (s->space > 0)
        h5->H5Sclose(s->space);
    if (s->dataset > 0)
        h5->H5Dclose(s->dataset);
    if (s->file > 0)
        h5->H5Fclose(s->file);
    ty_rows_close(&s->rows);
    ty_free(s->mask);
    for (int i = 0; i < TALLY_MAX_DIMENSIONS; i++)
        ty_free(s->names[i]);
    ty_free(s->inside);
    ty_free(s);
}

static void hdf5_close(void *state)
{
    ty_h5_state *s = state;
    const char *reason;
    if (!ty_h5_lock(&reason))
        return;
    close_all(s);
    ty_h5_unlock();
}

static tally_status hdf5_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    const char *reason;
    ty_h5_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an HDF5 file", sizeof *s);
    s->stream = stream;
    s->file = s->dataset = s->space = s->transfer = s->memory = -1;
    if (options->inside && !(s->inside = ty_malloc(strlen(options->inside) + 1))) {
        ty_free(s);
        return ty_error_memory(error, "a dataset's name", strlen(options->inside) + 1);
    }
    if (s->inside)
        memcpy(s->inside, options->inside, strlen(options->inside) + 1);
    s->h5 = ty_h5_lock(&reason);
    if (!s->h5) {
        ty_free(s->inside);
        ty_free(s);
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: an HDF5 file, and libhdf5 cannot be used: %s", ty_stream_name(stream),
                        reason);
    }
    tally_status status = open_all(s, options, info, error);
    if (status)
        close_all(s);
    else
        *state = s;
    ty_h5_unlock();
    return status;
}

/* ---- Reading ---- */

/* The largest box of elements, in order, that begins at `at` and has at most `most`: its origin and
 * extents, and how many they are. */
static uint64_t find_box(const ty_h5_state *s, uint64_t at, uint64_t most, hsize_t *from,
                         hsize_t *count)
{
    uint64_t inner = 1; /* elements behind dimension d, all in the box */
    unsigned d = s->rank;
    for (unsigned k = s->rank; k-- > 0; at /= s->extents[k])
        from[k] = at % s->extents[k];
    while (d > 1 && from[d - 1] == 0 && inner * s->extents[d - 1] <= most) {
        count[d - 1] = s->extents[d - 1];
        inner *= s->extents[--d];
    }
    const uint64_t left = s->extents[d - 1] - from[d - 1];
    count[d - 1] = left < most / inner ? left : most / inner;
    for (unsigned k = 0; k + 1 < d; k++)
        count[k] = 1;
    return count[d - 1] * inner;
}

static tally_status read_box(ty_h5_state *s, const hsize_t *from, const hsize_t *count, uint64_t n,
                             void *into, tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    const hsize_t flat = n;
    const hid_t space = h5->H5Screate_simple(1, &flat, NULL);
    const int done = space >= 0 &&
                     (!s->rank || h5->H5Sselect_hyperslab(s->space, H5S_SELECT_SET, from, NULL,
                                                          count, NULL) >= 0) &&
                     h5->H5Dread(s->dataset, s->memory, space, s->space, s->transfer, into) >= 0;
    tally_status status = done ? TALLY_OK
                          : s->inexact
                              ? ty_error(error, TALLY_ERROR_UNSUPPORTED,
                                         "%s: fields of several types of %s, one with integers "
                                         "beyond 2^53: they are counted exactly only alone",
                                         ty_stream_name(s->stream), s->inside)
                              : ty_h5_failed(s, "cannot read", error);
    if (space >= 0)
        h5->H5Sclose(space);
    return status;
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_h5_state *s = state;
    tally_status status = TALLY_OK;
    uint64_t left = bytes / s->element_bytes;
    *got = bytes;
    if (!into) {
        s->element += left;
        return TALLY_OK;
    }
    while (left && !status) {
        hsize_t from[TY_H5_RANK_MOST], count[TY_H5_RANK_MOST];
        const uint64_t n = s->rank ? find_box(s, s->element, left, from, count) : 1;
        status =
            read_box(s, from, count, n, into + n * (s->element_bytes - s->stored_bytes), error);
        if (!status && s->packing.is_used)
            status = ty_h5_unpack(s, into, n, error);
        into += n * s->element_bytes;
        s->element += n;
        left -= n;
    }
    return status;
}

static void mask_chunk(ty_h5_state *s, const tally_view *views)
{
    memset(s->mask, 1, (size_t)(views->rows * views->columns));
    for (uint32_t i = 0; i < (s->picks.count ? s->picks.count : 1); i++)
        ty_mask_missing(views + i, s->packing.bits, s->packing.kinds, s->mask);
}

static tally_status hdf5_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_h5_state *s = state;
    const char *reason = "";
    s->h5 = ty_h5_lock(&reason);
    if (!s->h5)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s", reason);
    tally_status status = ty_rows_read(&s->rows, take, s, views, done, error);
    ty_h5_unlock();
    if (status || *done)
        return status;
    ty_picks_split(&s->picks, views);
    if (s->mask)
        mask_chunk(s, views);
    return TALLY_OK;
}

static tally_status hdf5_rewind(void *state, tally_error *error)
{
    ty_h5_state *s = state;
    (void)error;
    s->element = 0;
    ty_rows_rewind(&s->rows);
    return TALLY_OK;
}

static const char *hdf5_name(const void *state, uint64_t channel)
{
    return channel < TALLY_MAX_DIMENSIONS ? ((const ty_h5_state *)state)->names[channel] : NULL;
}

static const unsigned char *hdf5_mask(const void *state)
{
    return ((const ty_h5_state *)state)->mask;
}

static int hdf5_stored(const void *state, ty_stored *stored)
{
    const ty_h5_state *s = state;
    ty_stored_make(stored, s->stream, &s->rows);
    stored->start = s->start;
    stored->swap = s->swap;
    return s->start && !s->picks.count;
}

const ty_decoder ty_hdf5 = {
    .format = "hdf5",
    .has_columns = 1,
    .has_inside = 1,
    .probe = hdf5_probe,
    .open = hdf5_open,
    .read = hdf5_read,
    .rewind = hdf5_rewind,
    .close = hdf5_close,
    .channel_name = hdf5_name,
    .stored = hdf5_stored,
    .mask = hdf5_mask,
};

#endif
