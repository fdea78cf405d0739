/* SPDX-License-Identifier: Apache-2.0 */
/* Images written as PNG or PNM, whole or not at all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#if TALLY_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#endif

#include "core/alloc.h"
#include "core/error.h"
#include "core/view.h"
#include "io/rows.h"
#include "io/temp_file.h"

typedef enum ty_image_kind { TY_IMAGE_PNG, TY_IMAGE_PGM, TY_IMAGE_PPM, TY_IMAGE_PAM } ty_image_kind;

typedef struct ty_image_writer {
    ty_grid grid;
    ty_temp *temp;
    unsigned char *row; /* one row, packed */
    size_t row_bytes;
    int swap; /* file formats have the high byte first */
#if TALLY_HAVE_PNG
    png_structp png;
    png_infop info;
    jmp_buf jump;
    tally_status status;
    tally_error *error;
    int no_memory;
#endif
} ty_image_writer;

static tally_status find_kind(const char *path, ty_image_kind *kind, tally_error *error)
{
    static const char *const endings[] = {".png", ".pgm", ".ppm", ".pam"};
    size_t length = strlen(path);
    for (int i = 0; i < 4; i++) {
        if (length > 4 && !strcasecmp(path + length - 4, endings[i])) {
            *kind = (ty_image_kind)i;
            return TALLY_OK;
        }
    }
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: an image is written to a path that ends in .png, .pgm, .ppm or .pam",
                    path);
}

static tally_status check_image(const char *path, ty_image_kind kind, const ty_grid *g,
                                tally_error *error)
{
    if (g->dtype != TALLY_U8 && g->dtype != TALLY_U16)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: an image of %s samples; u8 and u16 can be written", path,
                        tally_dtype_name(g->dtype));
    if (g->batches != 1 || !g->rows || !g->columns || g->channels < 1 || g->channels > 4)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: an image of %" PRIu64 " batches, %" PRIu64 " rows, %" PRIu64
                        " columns and %" PRIu64 " channels; 1 batch of at least 1 row and 1 column "
                        "with 1 to 4 channels can be written",
                        path, g->batches, g->rows, g->columns, g->channels);
    if ((kind == TY_IMAGE_PGM && g->channels != 1) || (kind == TY_IMAGE_PPM && g->channels != 3))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: %" PRIu64 " channels; .pgm takes 1, .ppm 3, .pam and .png 1 to 4",
                        path, g->channels);
    uint64_t most = kind == TY_IMAGE_PNG ? INT32_MAX : UINT32_MAX;
    if (g->rows > most || g->columns > most)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: %" PRIu64 " rows and %" PRIu64 " columns; this format takes at most "
                        "%" PRIu64 " of each",
                        path, g->rows, g->columns, most);
    return TALLY_OK;
}

/* Row `y` as the file has it: packed, the high byte first unless the writer's library sees to it.
 */
static void gather(ty_image_writer *w, uint64_t y)
{
    const ty_grid *g = &w->grid;
    const unsigned char *from = g->data + (int64_t)y * g->row_stride;
    unsigned char *to = w->row;
    int64_t pixel = (int64_t)g->channels * g->size;
    if (g->channel_stride == (int64_t)g->size && g->column_stride == pixel) {
        memcpy(to, from, w->row_bytes);
    } else {
        for (uint64_t x = 0; x < g->columns; x++)
            for (uint64_t c = 0; c < g->channels; c++, to += g->size)
                memcpy(to, from + (int64_t)x * g->column_stride + (int64_t)c * g->channel_stride,
                       g->size);
    }
    if (w->swap)
        ty_rows_swap(w->row, w->row_bytes / 2, 2);
}

static tally_status write_pnm(ty_image_writer *w, ty_image_kind kind)
{
    static const char *const tuples[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    const ty_grid *g = &w->grid;
    unsigned maxval = g->size == 1 ? 255 : 65535;
    char head[256];
    if (kind == TY_IMAGE_PAM)
        snprintf(head, sizeof head,
                 "P7\nWIDTH %" PRIu64 "\nHEIGHT %" PRIu64 "\nDEPTH %" PRIu64
                 "\nMAXVAL %u\nTUPLTYPE %s\nENDHDR\n",
                 g->columns, g->rows, g->channels, maxval, tuples[g->channels - 1]);
    else
        snprintf(head, sizeof head, "P%c\n%" PRIu64 " %" PRIu64 "\n%u\n",
                 kind == TY_IMAGE_PGM ? '5' : '6', g->columns, g->rows, maxval);
    int code = ty_temp_write(w->temp, head, strlen(head));
    for (uint64_t y = 0; y < g->rows && !code; y++) {
        gather(w, y);
        code = ty_temp_write(w->temp, w->row, w->row_bytes);
    }
    return TALLY_OK; /* the commit reports what failed */
}

#if TALLY_HAVE_PNG

static void on_error(png_structp png, png_const_charp words)
{
    ty_image_writer *w = png_get_error_ptr(png);
    w->status = w->no_memory ? ty_error(w->error, TALLY_ERROR_MEMORY,
                                        "out of memory while encoding a PNG image")
                             : ty_error(w->error, TALLY_ERROR_INTERNAL, "png: %s", words);
    longjmp(w->jump, 1);
}

static void on_warning(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t size)
{
    ty_image_writer *w = png_get_mem_ptr(png);
    void *block = ty_malloc(size);
    if (!block)
        w->no_memory = 1;
    return block;
}

static void on_free(png_structp png, png_voidp block)
{
    (void)png;
    ty_free(block);
}

static void on_write(png_structp png, png_bytep bytes, size_t size)
{
    ty_image_writer *w = png_get_io_ptr(png);
    if (ty_temp_write(w->temp, bytes, size))
        longjmp(w->jump, 1); /* the commit reports what failed */
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void encode(ty_image_writer *w)
{
    static const int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
    const ty_grid *g = &w->grid;
    w->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, w, on_error, on_warning, w, on_malloc,
                                       on_free);
    if (w->png)
        w->info = png_create_info_struct(w->png);
    if (!w->info) {
        w->status =
            ty_error(w->error, TALLY_ERROR_MEMORY, "out of memory while encoding a PNG image");
        return;
    }
    png_set_write_fn(w->png, w, on_write, on_flush);
    png_set_user_limits(w->png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(w->png, w->info, (png_uint_32)g->columns, (png_uint_32)g->rows, (int)g->size * 8,
                 colors[g->channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    for (uint64_t y = 0; y < g->rows; y++) {
        gather(w, y);
        png_write_row(w->png, w->row);
    }
    png_write_end(w->png, w->info);
}

static tally_status write_png(ty_image_writer *w, tally_error *error)
{
    w->error = error;
    if (setjmp(w->jump) == 0)
        encode(w);
    png_destroy_write_struct(&w->png, &w->info);
    return w->status;
}

#else

static tally_status write_png(ty_image_writer *w, tally_error *error)
{
    (void)w;
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "this build has no PNG support (libpng was not there at build time); .pgm, "
                    ".ppm and .pam can be written");
}

#endif

static tally_status save(ty_image_writer *w, const char *path, ty_image_kind kind,
                         tally_error *error)
{
    uint64_t bytes;
    if (ty_rows_multiply(w->grid.columns, w->grid.channels * w->grid.size, &bytes) ||
        bytes > SIZE_MAX || !(w->row = ty_malloc((size_t)bytes)))
        return ty_error_memory(error, "a row of an image", bytes);
    w->row_bytes = (size_t)bytes;
    w->swap = w->grid.size == 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    tally_status status = ty_temp_open(path, &w->temp, error);
    if (status)
        return status;
    status = kind == TY_IMAGE_PNG ? write_png(w, error) : write_pnm(w, kind);
    if (status) {
        ty_temp_discard(w->temp);
        return status;
    }
    return ty_temp_commit(w->temp, error);
}

tally_status tally_image_save(const char *path, const tally_view *image, tally_error *error)
{
    if (!path || !image)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", path ? "image" : "path");
    ty_image_kind kind = TY_IMAGE_PNG;
    tally_status status = find_kind(path, &kind, error);
    if (status)
        return status;
    ty_image_writer *w = ty_calloc(1, sizeof *w);
    if (!w)
        return ty_error_memory(error, "writing an image", sizeof *w);
    status = ty_grid_make(image, "image", &w->grid, error);
    if (!status && image->device && image->device != TALLY_DEVICE_CPU)
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "image->device is %d; only host memory can be written", image->device);
    if (!status)
        status = check_image(path, kind, &w->grid, error);
    if (!status)
        status = save(w, path, kind, error);
    ty_free(w->row);
    ty_free(w);
    return status;
}
