/* SPDX-License-Identifier: Apache-2.0 */
/* What netCDF says of a dataset of numbers in its attributes: value = add_offset + scale_factor ×
 * stored, and which stored numbers stand for missing (_FillValue, missing_value). As in FITS scaled
 * values are f64; a missing one is NaN, which makes f64 of integers, but where a mask can say so.
 */
#include "io/hdf5_dataset.h"

#if TALLY_HAVE_HDF5

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/error.h"

#define EXACT_MOST (UINT64_C(1) << 53)

/* The dataset's attribute `name` in the library's type `as`, of at most 8 bytes; *found is 0 where
 * it is not there, or not one number. */
static tally_status read_number(const ty_h5_state *s, const char *name, hid_t as, void *value,
                                int *found, tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    *found = 0;
    const htri_t there = h5->H5Aexists(s->dataset, name);
    if (there == 0)
        return TALLY_OK;
    const hid_t attribute = there > 0 ? h5->H5Aopen(s->dataset, name, H5P_DEFAULT) : -1;
    const hid_t type = attribute < 0 ? -1 : h5->H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? -1 : h5->H5Aget_space(attribute);
    const H5T_class_t kind = type < 0 ? H5T_NO_CLASS : h5->H5Tget_class(type);
    int failed = kind == H5T_NO_CLASS || space < 0;
    *found = !failed && (kind == H5T_INTEGER || kind == H5T_FLOAT) &&
             h5->H5Sget_simple_extent_npoints(space) == 1;
    if (*found)
        failed = h5->H5Aread(attribute, as, value) < 0;
    const tally_status status =
        failed ? ty_h5_failed(s, "cannot read an attribute of", error) : TALLY_OK;
    if (space >= 0)
        h5->H5Sclose(space);
    if (type >= 0)
        h5->H5Tclose(type);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    return status;
}

static int is_integer(tally_dtype dtype)
{
    return dtype < TALLY_F16;
}

static int is_wide(const ty_h5_packing *p)
{
    return p->stored == TALLY_I64 || p->stored == TALLY_U64;
}

/* Notes the stored number, of `type` in the file, that the attribute says, if the type has it; of
 * floats the nearest, for many a file has 1e20 as f64 beside samples of f32. */
static tally_status find_missing(ty_h5_state *s, hid_t type, const char *name, tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    ty_h5_packing *p = &s->packing;
    double said;
    uint64_t bits = 0;
    int found;
    tally_status status = read_number(s, name, *h5->H5T_NATIVE_DOUBLE_g, &said, &found, error);
    if (!status && found)
        status = read_number(s, name, type, &bits, &found, error);
    if (status || !found)
        return status;
    if (h5->H5Tconvert(type, s->memory, 1, &bits, NULL, H5P_DEFAULT) < 0)
        return ty_h5_failed(s, "cannot read an attribute of", error);
    const double nearest = ty_dtype_value(p->stored, bits);
    if (isnan(said) || (is_integer(p->stored) ? nearest != said : isinf(nearest) && !isinf(said)))
        return TALLY_OK; /* as it is, NaN is missing */
    p->missing[p->kinds] = nearest;
    p->bits[p->kinds++] = bits;
    return TALLY_OK;
}

tally_status ty_h5_find_packing(ty_h5_state *s, hid_t type, int may_mask, tally_dtype *dtype,
                                tally_error *error)
{
    ty_h5_packing *p = &s->packing;
    int found;
    const hid_t number = *s->h5->H5T_NATIVE_DOUBLE_g;
    p->stored = *dtype;
    tally_status status = read_number(s, "scale_factor", number, &p->scale, &found, error);
    if (!found)
        p->scale = 1;
    if (!status)
        status = read_number(s, "add_offset", number, &p->zero, &found, error);
    if (!found)
        p->zero = 0;
    if (!status)
        status = find_missing(s, type, "_FillValue", error);
    if (!status)
        status = find_missing(s, type, "missing_value", error);
    p->is_scaled = p->scale != 1 || p->zero != 0;
    p->is_masked = !p->is_scaled && p->kinds && may_mask && is_wide(p);
    p->is_used = p->is_scaled || (p->kinds && !p->is_masked);
    if (p->is_scaled || (p->is_used && is_integer(*dtype)))
        *dtype = TALLY_F64;
    return status;
}

static int is_missing(const ty_h5_packing *p, double value, uint64_t bits)
{
    for (unsigned k = 0; k < p->kinds; k++)
        if (is_integer(p->stored) ? bits == p->bits[k] : value == p->missing[k])
            return 1;
    return 0;
}

/* Whether float64 may not have a 64-bit integer. */
static int is_beyond(const ty_h5_packing *p, uint64_t bits)
{
    return p->stored == TALLY_I64 ? bits + EXACT_MOST > 2 * EXACT_MOST : bits > EXACT_MOST;
}

tally_status ty_h5_unpack(const ty_h5_state *s, void *samples, uint64_t count, tally_error *error)
{
    const ty_h5_packing *p = &s->packing;
    unsigned char *to = samples;
    const unsigned char *from = to + count * (s->element_bytes - s->stored_bytes);
    for (uint64_t i = 0; i < count; i++, from += s->stored_bytes, to += s->element_bytes) {
        uint64_t bits = 0;
        memcpy(&bits, from, s->stored_bytes);
        double value = ty_dtype_value(p->stored, bits);
        if (is_missing(p, value, bits))
            value = (double)NAN;
        else if (p->is_scaled)
            value = p->zero + p->scale * value;
        else if (is_wide(p) && is_beyond(p, bits))
            return ty_error(
                error, TALLY_ERROR_UNSUPPORTED,
                "%s: dataset %s has integers beyond 2^53 and missing ones: they are "
                "counted exactly only as one channel, without a mask, weights or values",
                ty_stream_name(s->stream), s->inside);
        if (s->element_bytes == sizeof value)
            memcpy(to, &value, sizeof value);
        else
            memcpy(to, &(float){(float)value}, sizeof(float));
    }
    return TALLY_OK;
}

#endif
