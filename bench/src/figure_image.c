/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of the experiments: photographs and a made one, tiled in two dimensions. */
#include <math.h>
#include <tally/io.h>

#include "figure.h"
#include "../../common/splitmix.h"

typedef struct image {
    unsigned char *bytes; /* rows without gaps */
    uint64_t width, height, channels;
} image;

/* ---- read ---- */

/* The file that a kind of data is read from, or NULL. */
static const char *file_of(const char *kind)
{
    static const char *const files[][2] = {
        {"camera", "camera.png"}, {"cat", "photograph.png"}, {"cat-rgba", "photograph.png"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i][0], kind) == 0)
            return files[i][1];
    return NULL;
}

/* A row of pixels as grey (Rec. 601) or, of four channels, as RGBA with an alpha of zeros. */
static void convert(const unsigned char *row, uint64_t pixels, uint64_t from, uint64_t channels,
                    unsigned char *to)
{
    for (uint64_t x = 0; x < pixels; x++) {
        const unsigned char *p = row + x * from;
        unsigned red = p[0], green = p[from > 2 ? 1 : 0], blue = p[from > 2 ? 2 : 0];
        const unsigned char rgba[4] = {p[0], (unsigned char)green, (unsigned char)blue, 0};
        if (channels == 4)
            memcpy(to + 4 * x, rgba, 4);
        else
            to[x] = (unsigned char)((299 * red + 587 * green + 114 * blue + 500) / 1000);
    }
}

static tally_status append_rows(image *to, const tally_view *view)
{
    int64_t packed = (int64_t)(view->columns * view->channels);
    int64_t stride = view->row_stride_bytes ? view->row_stride_bytes : packed;
    uint64_t row = view->columns * to->channels;
    if (to->height && view->columns != to->width)
        return TALLY_ERROR_DATA;
    unsigned char *more = realloc(to->bytes, (to->height + view->rows) * row + 1);
    if (!more)
        return TALLY_ERROR_MEMORY;
    to->bytes = more;
    to->width = view->columns;
    for (uint64_t r = 0; r < view->rows; r++, to->height++)
        convert((const unsigned char *)view->data + (int64_t)r * stride, to->width, view->channels,
                to->channels, to->bytes + to->height * row);
    return TALLY_OK;
}

static tally_status read_image(const char *path, image *to, tally_error *error)
{
    tally_input *input = NULL;
    tally_view view = TALLY_VIEW_INIT;
    int done = 0;
    tally_status status = tally_input_open(path, NULL, &input, error);
    while (!status && !(status = tally_input_read(input, &view, &done, error)) && !done)
        status = append_rows(to, &view);
    tally_input_close(input);
    return status;
}

/* ---- made ---- */

enum { PHANTOM = 512 };

/* A dark picture such as a scan of a head: zeros around ellipses with a little noise. */
static tally_status make_phantom(image *to)
{
    static const struct {
        double x, y, a, b;
        int value;
    } parts[] = {{0, 0, .6, .8, 170},       {0, 0, .56, .76, 20},     {0, .02, .53, .72, 85},
                 {-.15, .05, .09, .22, 25}, {.15, .05, .09, .22, 25}, {.2, -.35, .08, .06, 140}};
    uint64_t state = 1;
    to->width = to->height = PHANTOM;
    to->bytes = malloc(PHANTOM * PHANTOM);
    if (!to->bytes)
        return TALLY_ERROR_MEMORY;
    for (int i = 0; i < PHANTOM * PHANTOM; i++) {
        double x = (i % PHANTOM + .5) / (PHANTOM / 2) - 1,
               y = (i / PHANTOM + .5) / (PHANTOM / 2) - 1;
        int value = 0;
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            if (hypot((x - parts[p].x) / parts[p].a, (y - parts[p].y) / parts[p].b) < 1)
                value = parts[p].value;
        to->bytes[i] = (unsigned char)(value ? value + (int)(splitmix64(&state) % 11) - 5 : 0);
    }
    return TALLY_OK;
}

/* ---- tiled ---- */

/* As many rows of the square as the image has; where the square is smaller, the image is shrunk to
 * it by leaving pixels out. */
static tally_status tile(const image *from, uint64_t side, figure_period *to)
{
    const uint64_t c = from->channels;
    const uint64_t columns = side < from->width ? side : from->width;
    const uint64_t rows = side < from->height ? side : from->height;
    to->count = side * rows * c;
    to->bytes = malloc(to->count);
    if (!to->bytes)
        return TALLY_ERROR_MEMORY;
    for (uint64_t y = 0; y < rows; y++)
        for (uint64_t x = 0; x < side; x++) {
            uint64_t at_x = x % columns * from->width / columns, at_y = y * from->height / rows;
            memcpy(to->bytes + (y * side + x) * c, from->bytes + (at_y * from->width + at_x) * c,
                   c);
        }
    return TALLY_OK;
}

tally_status figure_image_read(const char *folder, const char *kind, uint64_t side,
                               figure_period *to, tally_error *error)
{
    char path[1024];
    image found = {NULL, 0, 0, strcmp(kind, "cat-rgba") == 0 ? 4 : 1};
    tally_status status;
    if (file_of(kind)) {
        snprintf(path, sizeof path, "%s/%s", folder, file_of(kind));
        status = read_image(path, &found, error);
    } else {
        status = make_phantom(&found);
    }
    if (!status && !found.height)
        status = TALLY_ERROR_DATA;
    if (!status)
        status = tile(&found, side, to);
    free(found.bytes);
    return status;
}
