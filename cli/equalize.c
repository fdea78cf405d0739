/* SPDX-License-Identifier: Apache-2.0 */
/* `tally equalize`: spread an image's tones evenly. */
#include "source.h"

/* The whole image, packed. */
typedef struct image {
    tally_view view;
    unsigned char *samples; /* owned */
    size_t room;
} image;

static tally_status grow(image *image, uint64_t bytes, const char *path, tally_error *error)
{
    if (bytes <= image->room)
        return TALLY_OK;
    size_t room = (size_t)(bytes > 2 * (uint64_t)image->room ? bytes : 2 * (uint64_t)image->room);
    unsigned char *grown = realloc(image->samples, room);
    if (!grown)
        return cli_error(error, TALLY_ERROR_MEMORY, "%s: out of memory for %zu bytes",
                         cli_shown(path), room);
    image->samples = grown;
    image->room = room;
    return TALLY_OK;
}

static tally_status append(image *image, const tally_view *part, const char *path,
                           tally_error *error)
{
    size_t sample = tally_dtype_bytes(part->dtype), element = sample * (size_t)part->channels;
    int64_t column = part->column_stride_bytes ? part->column_stride_bytes : (int64_t)element;
    int64_t row = part->row_stride_bytes ? part->row_stride_bytes : column * (int64_t)part->columns;
    uint64_t line = part->columns * element;
    tally_status status = grow(image, (image->view.rows + part->rows) * line, path, error);
    if (status)
        return status;
    unsigned char *to = image->samples + image->view.rows * line;
    for (uint64_t r = 0; r < part->rows; r++) {
        const unsigned char *from = (const unsigned char *)part->data + (int64_t)r * row;
        for (uint64_t c = 0; c < part->columns; c++, to += element)
            memcpy(to, from + (int64_t)c * column, element);
    }
    image->view.rows += part->rows;
    image->view.columns = part->columns;
    image->view.dtype = part->dtype;
    image->view.channels = part->channels;
    image->view.data = image->samples;
    return TALLY_OK;
}

static tally_status image_read(const char *path, image *image, cli_progress *progress,
                               tally_error *error)
{
    tally_input *input = NULL;
    tally_input_info info = {.struct_size = sizeof info};
    tally_status status = tally_input_open(path, NULL, &input, error);
    if (status)
        return status;
    tally_input_info_get(input, &info);
    if (!info.is_image || (info.dtype != TALLY_U8 && info.dtype != TALLY_U16) ||
        info.channels < 1 || info.channels > 4)
        status = cli_error(error, TALLY_ERROR_DATA,
                           "%s: %s of %s; an image of 8 or 16 bits and 1 to 4 channels is needed",
                           cli_shown(path), info.format, tally_dtype_name(info.dtype));
    image->view = (tally_view)TALLY_VIEW_INIT;
    image->view.rows = 0;
    for (int done = 0; !status && !done;) {
        tally_view part;
        status = tally_input_read(input, &part, &done, error);
        if (!status && !done)
            status = append(image, &part, path, error);
        cli_progress_show(progress, tally_input_position(input), info.size_bytes);
    }
    tally_input_close(input);
    if (!status && (image->view.rows == 0 || image->view.columns == 0))
        status = cli_error(error, TALLY_ERROR_DATA, "%s: an image without pixels", cli_shown(path));
    return status;
}

static uint32_t sample_at(const image *image, uint64_t i)
{
    uint16_t wide;
    if (image->view.dtype == TALLY_U8)
        return image->samples[i];
    memcpy(&wide, image->samples + 2 * i, 2);
    return wide;
}

static void sample_put(unsigned char *samples, tally_dtype dtype, uint64_t i, uint32_t value)
{
    uint16_t wide = (uint16_t)value;
    if (dtype == TALLY_U8)
        samples[i] = (unsigned char)value;
    else
        memcpy(samples + 2 * i, &wide, 2);
}

/* Rec. 601 luminance, rounded, of every pixel: a packed view whose data the caller releases. */
static tally_status luminance(const image *image, tally_view *grey, tally_error *error)
{
    uint64_t pixels = image->view.rows * image->view.columns, wide = image->view.channels;
    tally_dtype dtype = image->view.dtype;
    unsigned char *samples = malloc((size_t)pixels * tally_dtype_bytes(dtype));
    if (!samples)
        return cli_error(error, TALLY_ERROR_MEMORY, "out of memory for the luminance");
    for (uint64_t i = 0; i < pixels; i++) {
        uint32_t r = sample_at(image, wide * i), g = sample_at(image, wide * i + 1);
        uint32_t b = sample_at(image, wide * i + 2);
        sample_put(samples, dtype, i, (299 * r + 587 * g + 114 * b + 500) / 1000);
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the caller frees grey->data */
    *grey = tally_view_1d(samples, dtype, pixels);
    return TALLY_OK;
}

/* Counts the levels of `grey`, channel 0. */
static tally_status count_levels(tally_context *context, const tally_view *grey, uint64_t *counts,
                                 const cli_options *options, tally_error *error)
{
    uint64_t levels = grey->dtype == TALLY_U8 ? 256 : 65536;
    tally_plan_options wanted;
    tally_plan *plan = NULL;
    memset(&wanted, 0, sizeof wanted);
    wanted.struct_size = sizeof wanted;
    wanted.dimensions = 1;
    wanted.axes[0] = tally_axis_even(levels, 0, (double)levels);
    wanted.dtypes[0] = grey->dtype;
    wanted.channels = grey->channels;
    wanted.channel_mask = 1;
    wanted.n_hint = grey->rows * grey->columns;
    tally_status status = tally_plan_create(context, &wanted, &plan, error);
    if (!status) {
        tally_output output = TALLY_OUTPUT_INIT;
        output.counts = counts;
        cli_say(options, "%s", tally_plan_describe(plan));
        status = tally_execute(plan, grey, NULL, &output, error);
    }
    tally_plan_destroy(plan);
    return status;
}

/* round((cdf(v) - cdf_min) / (n - cdf_min) × (L - 1)); an image of one level stays as it is. */
static void make_mapping(const uint64_t *counts, uint64_t levels, uint16_t *mapping)
{
    uint64_t n = 0, least = 0, sum = 0;
    for (uint64_t v = 0; v < levels; v++) {
        n += counts[v];
        if (!least)
            least = counts[v];
    }
    for (uint64_t v = 0; v < levels; v++) {
        sum += counts[v];
        uint64_t above = sum > least ? sum - least : 0, range = n - least;
        mapping[v] = (uint16_t)v;
        /* In integers, halves up; below 2^47 pixels nothing overflows. */
        if (range)
            mapping[v] = (uint16_t)((2 * above * (levels - 1) + range) / (2 * range));
    }
}

static void apply(image *image, const uint16_t *mapping)
{
    uint64_t pixels = image->view.rows * image->view.columns, wide = image->view.channels;
    uint64_t colours = wide >= 3 ? 3 : 1; /* alpha comes last and stays */
    for (uint64_t i = 0; i < pixels; i++)
        for (uint64_t c = 0; c < colours; c++)
            sample_put(image->samples, image->view.dtype, wide * i + c,
                       mapping[sample_at(image, wide * i + c)]);
}

static tally_status equalize(tally_context *context, image *image, const cli_options *options,
                             tally_error *error)
{
    uint64_t *counts = calloc(65536, sizeof *counts);
    uint16_t *mapping = calloc(65536, sizeof *mapping);
    tally_view grey = image->view;
    tally_status status = TALLY_OK;
    int colour = image->view.channels >= 3;
    if (!counts || !mapping)
        status = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    if (!status && colour)
        status = luminance(image, &grey, error);
    if (!status) {
        status = count_levels(context, &grey, counts, options, error);
        if (colour)
            free((void *)(uintptr_t)grey.data);
    }
    if (!status) {
        make_mapping(counts, image->view.dtype == TALLY_U8 ? 256 : 65536, mapping);
        apply(image, mapping);
    }
    free(counts);
    free(mapping);
    return status;
}

int cli_equalize(const cli_options *options)
{
    const char *path = cli_text(options, CLI_OUTPUT, NULL);
    tally_context *context = NULL;
    tally_error error = {""};
    image image = {.samples = NULL};
    cli_progress progress;
    if (!path || strcmp(path, "-") == 0)
        return cli_usage(options->word,
                         "say where the image goes: -o FILE.png, .pgm, .ppm or .pam");
    int code = cli_context_open(options, &context);
    if (code)
        return code;
    cli_progress_start(&progress, options, "reading");
    tally_status status = image_read(options->operands[0], &image, &progress, &error);
    cli_progress_end(&progress);
    if (!status)
        status = equalize(context, &image, options, &error);
    if (!status) {
        cli_signals_hold();
        status = tally_image_save(path, &image.view, &error);
    }
    if (status)
        code = cli_fail_status(status, &error);
    free(image.samples);
    tally_context_destroy(context);
    cli_signals_release();
    return code;
}
