/* SPDX-License-Identifier: Apache-2.0 */
/* PNG and SVG pictures: surfaces, and what goes on them. */
#include "io/write.h"

#include "core/error.h"

#if !TALLY_HAVE_CAIRO

tally_status ty_write_picture(ty_out *out, const tally_result *result, tally_format format,
                              const tally_write_options *options, tally_error *error)
{
    (void)out;
    (void)result;
    (void)options;
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: this build draws no pictures, for it was made without cairo; table, csv, "
                    "json and npy work",
                    format == TALLY_FORMAT_PNG ? "png" : "svg");
}

#else

#include "io/draw.h"

#include <math.h>

#include "core/memory.h"

tally_status ty_draw_check(double bytes, tally_error *error)
{
    return ty_memory_check((uint64_t)bytes, "a picture", "a smaller one, or for fewer bins", error);
}

static cairo_status_t take(void *user, const unsigned char *bytes, unsigned size)
{
    ty_out *out = user;
    ty_put_bytes(out, bytes, size);
    return out->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static tally_status failed(cairo_status_t status, tally_error *error)
{
    if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_WRITE_ERROR)
        return TALLY_OK; /* ty_out_end reports what the sink said */
    if (status == CAIRO_STATUS_NO_MEMORY)
        return ty_error(error, TALLY_ERROR_MEMORY, "out of memory for a picture");
    return ty_error(error, TALLY_ERROR_INTERNAL, "drawing failed: %s",
                    ty_libcairo.status_to_string(status));
}

static tally_status draw(cairo_t *cr, const tally_result *result,
                         const tally_write_options *options, tally_error *error)
{
    ty_draw d = {.cr = cr,
                 .result = result,
                 .options = options,
                 .width = options->width,
                 .height = options->height};
    d.s = fmin(d.width / 1000, d.height / 600);
    d.s = d.s < 0.55 ? 0.55 : d.s; /* smaller text cannot be read */
    ty_libcairo.set_source_rgb(cr, 1, 1, 1);
    ty_libcairo.paint(cr);
    if (!(ty_draw_text_width(&d, "0", 20, 0) > 0))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "no font to draw text with: install a sans-serif one, such as DejaVu Sans");
    tally_status status = ty_draw_words(&d, error);
    if (status)
        return status;
    if (result->dimensions == 2)
        return ty_draw_map(&d, error);
    ty_draw_series(&d);
    return TALLY_OK;
}

static tally_status draw_on(cairo_surface_t *surface, const tally_result *result,
                            const tally_write_options *options, tally_error *error)
{
    cairo_t *cr = ty_libcairo.create(surface);
    tally_status status = failed(ty_libcairo.status(cr), error);
    if (!status)
        status = draw(cr, result, options, error);
    if (!status)
        status = failed(ty_libcairo.status(cr), error);
    ty_libcairo.destroy(cr);
    return status;
}

static tally_status write_png(ty_out *out, const tally_result *result,
                              const tally_write_options *options, tally_error *error)
{
    tally_status status = ty_draw_check(4.0 * options->width * options->height, error);
    if (status)
        return status;
    cairo_surface_t *surface = ty_libcairo.image_surface_create(
        CAIRO_FORMAT_RGB24, (int)options->width, (int)options->height);
    status = draw_on(surface, result, options, error);
    if (!status)
        status = failed(ty_libcairo.surface_write_to_png_stream(surface, take, out), error);
    ty_libcairo.surface_destroy(surface);
    return status;
}

static tally_status write_svg(ty_out *out, const tally_result *result,
                              const tally_write_options *options, tally_error *error)
{
    cairo_surface_t *surface =
        ty_libcairo.svg_surface_create_for_stream(take, out, options->width, options->height);
#if CAIRO_VERSION >= CAIRO_VERSION_ENCODE(1, 16, 0)
    if (ty_libcairo.surface_status(surface) == CAIRO_STATUS_SUCCESS)
        ty_libcairo.svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
#endif
    tally_status status = draw_on(surface, result, options, error);
    ty_libcairo.surface_finish(surface); /* the text comes out here */
    if (!status)
        status = failed(ty_libcairo.surface_status(surface), error);
    ty_libcairo.surface_destroy(surface);
    return status;
}

/* More words than there are labels for: the first ones, and all others as one. */
static tally_status write_top(ty_out *out, const tally_result *result, uint32_t axis, uint64_t most,
                              tally_format format, const tally_write_options *options,
                              tally_error *error)
{
    tally_result *top = NULL;
    tally_status status = tally_result_top(result, axis, most - 1, &top, error);
    if (!status)
        status = ty_write_picture(out, top, format, options, error);
    tally_result_destroy(top);
    return status;
}

tally_status ty_write_picture(ty_out *out, const tally_result *result, tally_format format,
                              const tally_write_options *options, tally_error *error)
{
    for (uint32_t d = 0; d < 2 && d < result->dimensions; d++) {
        const uint64_t most = d ? options->height / 80 + 2 : options->width / 60 + 2;
        if (result->labels[d] && result->axes[d].bins > most)
            return write_top(out, result, d, most, format, options, error);
    }
    if (result->dimensions > 2)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "pictures show one or two dimensions, not %u; table, csv, json and npy take "
            "any number",
            result->dimensions);
    if (result->dimensions == 2 && result->histograms > 1)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "a picture of two dimensions shows one histogram, not %llu; table, csv, json "
            "and npy take any number",
            (unsigned long long)result->histograms);
    const char *failure = ty_cairo_library_open();
    if (failure)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: no pictures are drawn, for cairo cannot be used: %s; table, csv, json "
                        "and npy work",
                        format == TALLY_FORMAT_PNG ? "png" : "svg", failure);
    return format == TALLY_FORMAT_PNG ? write_png(out, result, options, error)
                                      : write_svg(out, result, options, error);
}

#endif
