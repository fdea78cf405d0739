/* SPDX-License-Identifier: Apache-2.0 */
#include "io/number_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "io/dates.h"
#include "io/print.h"
#include "io/words.h"

enum { KNOWN = 4096 };

struct ty_number_code {
    uint64_t bits;
    uint32_t code;
    int is_there;
};

void ty_number_words_close(ty_number_words *w)
{
    for (uint32_t d = 0; d < w->count; d++) {
        ty_free(w->views[d].values);
        ty_free(w->views[d].known);
    }
}

static size_t print(const struct ty_number_view *v, tally_dtype dtype, uint64_t bits, char *text)
{
    const double value = ty_dtype_value(dtype, bits);
    if (v->time)
        ty_time_print_value(value, v->time, text);
    else if (v->is_boolean)
        snprintf(text, TY_NUMBER_SIZE, "%s", value ? "true" : "false");
    else if (dtype == TALLY_U64)
        snprintf(text, TY_NUMBER_SIZE, "%" PRIu64, bits);
    else if (dtype == TALLY_I64)
        snprintf(text, TY_NUMBER_SIZE, "%" PRId64, (int64_t)bits);
    else
        ty_print_shortest(value, text);
    return strlen(text);
}

static uint32_t code_of(struct ty_number_view *v, tally_dtype dtype, uint64_t bits)
{
    char text[TY_NUMBER_SIZE > TY_LABEL_SIZE ? TY_NUMBER_SIZE : TY_LABEL_SIZE];
    struct ty_number_code *known = v->known + (bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) % KNOWN;
    if (!known->is_there || known->bits != bits) {
        const size_t size = print(v, dtype, bits, text);
        *known = (struct ty_number_code){bits, ty_words_value(v->words, text, size), 1};
    }
    return known->code;
}

/* Whether float64 has another number than a 64-bit integer. */
static int is_rounded(tally_dtype dtype, uint64_t bits)
{
    const uint64_t size = dtype == TALLY_I64 && bits >> 63 ? -bits : bits;
    return (dtype == TALLY_I64 || dtype == TALLY_U64) && size > UINT64_C(1) << 53;
}

/* One sample as it is handed out. */
static double convert(ty_number_words *w, uint32_t d, tally_dtype dtype, uint64_t bits)
{
    const double value = ty_dtype_value(dtype, bits);
    if (!(w->made >> d & 1)) {
        w->rounded |= is_rounded(dtype, bits);
        return value;
    }
    const uint32_t code = isnan(value) ? TY_WORDS_MISSING : code_of(&w->views[d], dtype, bits);
    return code < TY_WORDS_MISSING ? code : (double)NAN;
}

static tally_status reserve(struct ty_number_view *v, uint64_t elements, tally_error *error)
{
    if (!v->known && v->words && !(v->known = ty_calloc(KNOWN, sizeof *v->known)))
        return ty_error_memory(error, "codes of numbers", KNOWN * sizeof *v->known);
    if (elements <= v->room)
        return TALLY_OK;
    ty_free(v->values);
    v->values = elements > SIZE_MAX / sizeof(double)
                    ? NULL
                    : ty_malloc((size_t)elements * sizeof *v->values);
    v->room = v->values ? elements : 0;
    return v->values
               ? TALLY_OK
               : ty_error_memory(error, "codes of numbers", (size_t)elements * sizeof(double));
}

tally_status ty_number_words_read(ty_number_words *w, tally_view *views, const unsigned char *mask,
                                  tally_error *error)
{
    for (uint32_t d = 0; d < w->count; d++) {
        struct ty_number_view *v = w->views + d;
        tally_view *from = views + d;
        const size_t size = tally_dtype_bytes(from->dtype);
        const int64_t column =
            from->column_stride_bytes ? from->column_stride_bytes : (int64_t)size;
        const int64_t row =
            from->row_stride_bytes ? from->row_stride_bytes : column * (int64_t)from->columns;
        tally_status status = reserve(v, from->rows * from->columns, error);
        const unsigned char *valid = mask;
        double *to = v->values;
        for (uint64_t r = 0; r < from->rows && !status; r++) {
            const unsigned char *at = (const unsigned char *)from->data + (int64_t)r * row;
            for (uint64_t c = 0; c < from->columns; c++, at += column) {
                uint64_t bits = 0;
                memcpy(&bits, at, size);
                *to++ = valid && !*valid ? (double)NAN : convert(w, d, from->dtype, bits);
                valid = valid ? valid + 1 : NULL;
            }
        }
        if (!status && w->made >> d & 1)
            status = ty_words_status(v->words, w->name, NULL, error);
        if (status)
            return status;
        const uint64_t rows = from->rows, columns = from->columns;
        *from = tally_view_1d(v->values, TALLY_F64, columns);
        from->rows = rows;
    }
    return TALLY_OK;
}
