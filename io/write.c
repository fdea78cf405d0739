/* SPDX-License-Identifier: Apache-2.0 */
/* Results on their way out: one entry for every format. */
#include "io/write.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/profile.h"
#include "io/temp_file.h"

static const char *const format_names[] = {"table", "csv", "json", "npy", "png", "svg"};
#define FORMATS (int)(sizeof format_names / sizeof *format_names)

int tally_format_parse(const char *name)
{
    for (int i = 0; name && i < FORMATS; i++)
        if (strcmp(name, format_names[i]) == 0)
            return i;
    return -1;
}

char *ty_write_sources(const tally_result *result)
{
    char more[48] = "";
    const char *first = result->sources_count ? result->sources[0] : "";
    if (result->sources_total > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " more", result->sources_total - 1);
    size_t length = strlen(first), extra = strlen(more);
    char *text = ty_malloc(length + extra + 1);
    if (text) {
        memcpy(text, first, length);
        memcpy(text + length, more, extra + 1);
    }
    return text;
}

tally_status ty_write_options(const tally_write_options *from, tally_write_options *options,
                              tally_error *error)
{
    *options = (tally_write_options)TALLY_WRITE_OPTIONS_INIT;
    if (from && from->struct_size < offsetof(tally_write_options, statistics))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "struct_size of the options is %zu, expected %zu; start from "
                        "TALLY_WRITE_OPTIONS_INIT",
                        from->struct_size, sizeof *options);
    if (from) /* one of a program that was compiled with an older header is shorter */
        memcpy(options, from,
               from->struct_size < sizeof *options ? from->struct_size : sizeof *options);
    options->struct_size = sizeof *options;
    return TALLY_OK;
}

static tally_status check_profile(const tally_result *result, tally_format format,
                                  const tally_write_options *options, int picture,
                                  tally_error *error)
{
    const uint32_t shown = options->statistics;
    if (!result->column)
        return shown ? ty_error(error, TALLY_ERROR_ARGUMENT,
                                "statistics are chosen of a profile; this is a histogram")
                     : TALLY_OK;
    if (format == TALLY_FORMAT_NPY)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "npy holds counts; csv and json hold a profile");
    if (shown > TY_STATISTICS_ALL)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "statistics is 0x%x, which has bits that mean nothing", shown);
    if (shown && format == TALLY_FORMAT_JSON)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "statistics are chosen for the other formats; json has all of a profile");
    if (picture && (shown & (shown - 1)) && shown != (TALLY_STATISTIC_MEAN | TALLY_STATISTIC_ERROR))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "a picture of a profile shows one statistic, or the mean with its error");
    if (options->log_counts)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "log_counts is for counts; a profile has other statistics");
    return TALLY_OK;
}

static int has_means(const tally_result *result)
{
    return result->only_python && !strcmp(result->only_python, "means");
}

static tally_status check(const tally_result *const *results, size_t count, tally_format format,
                          const tally_write_options *from, tally_write_options *options,
                          tally_error *error)
{
    if (!results || !count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "there is no result to write");
    for (size_t i = 0; i < count; i++)
        if (!results[i])
            return ty_error(error, TALLY_ERROR_ARGUMENT, "result %zu is NULL", i);
        else if (format == TALLY_FORMAT_JSON && has_means(results[i]))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "Python's Hist saved it with means, which json from here would lack");
    for (size_t i = 0; i < count; i++)
        ty_result_settle(results[i]);
    if ((int)format < 0 || (int)format >= FORMATS)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "format is %d, which is none", (int)format);
    if (count > 1 && format != TALLY_FORMAT_JSON)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%zu results: %s takes exactly one; json takes several", count,
                        format_names[format]);
    tally_status status = ty_write_options(from, options, error);
    if (status)
        return status;
    const int picture = format == TALLY_FORMAT_PNG || format == TALLY_FORMAT_SVG;
    for (size_t i = 0; i < count && !status; i++)
        status = check_profile(results[i], format, options, picture, error);
    if (status)
        return status;
    if (!options->width)
        options->width = picture ? 1000 : 80;
    if (!options->height)
        options->height = 600;
    if (!options->max_rows)
        options->max_rows = 32;
    if (picture && (options->width < 200 || options->width > 16384 || options->height < 150 ||
                    options->height > 16384))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "a picture of %u x %u pixels: 200 x 150 to 16384 x 16384 are drawn",
                        options->width, options->height);
    return TALLY_OK;
}

static void write_json(ty_out *out, const tally_result *const *results, size_t count, int array)
{
    array |= count > 1;
    ty_put(out, array ? "[" : "");
    for (size_t i = 0; i < count; i++) {
        ty_put(out, i ? ",\n" : "");
        ty_write_json(out, results[i]);
    }
    ty_put(out, array ? "]\n" : "\n");
}

static tally_status dispatch(ty_out *out, const tally_result *const *results, size_t count,
                             tally_format format, const tally_write_options *options,
                             tally_error *error)
{
    switch (format) {
    case TALLY_FORMAT_JSON:
        write_json(out, results, count, options->array != 0);
        return TALLY_OK;
    case TALLY_FORMAT_CSV:
        ty_write_csv(out, results[0], options);
        return TALLY_OK;
    case TALLY_FORMAT_NPY:
        ty_write_npy(out, results[0]);
        return TALLY_OK;
    case TALLY_FORMAT_TABLE:
        return ty_write_table(out, results[0], options, error);
    case TALLY_FORMAT_PNG:
    case TALLY_FORMAT_SVG:
        break;
    }
    return ty_write_picture(out, results[0], format, options, error);
}

tally_status tally_result_write(const tally_result *const *results, size_t count,
                                tally_format format, const tally_write_options *options,
                                tally_sink sink, void *user, tally_error *error)
{
    tally_write_options all;
    if (!sink)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "sink is NULL");
    tally_status status = check(results, count, format, options, &all, error);
    if (status)
        return status;
    ty_out *out = ty_malloc(sizeof *out);
    if (!out)
        return ty_error_memory(error, "writing", sizeof *out);
    ty_out_begin(out, sink, user);
    status = dispatch(out, results, count, format, &all, error);
    if (!status)
        status = ty_out_end(out, error);
    ty_free(out);
    return status;
}

tally_status tally_result_save(const tally_result *const *results, size_t count,
                               tally_format format, const tally_write_options *options,
                               const char *path, tally_error *error)
{
    tally_write_options all;
    if (!path || !*path)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "path is %s", path ? "empty" : "NULL");
    tally_status status = check(results, count, format, options, &all, error);
    if (status)
        return status;
    ty_temp *temp;
    status = ty_temp_open(path, &temp, error);
    if (status)
        return status;
    status = tally_result_write(results, count, format, &all, ty_temp_write, temp, error);
    if (status) {
        ty_temp_discard(temp);
        if (status == TALLY_ERROR_IO)
            ty_error_prefix(error, path);
        return status;
    }
    return ty_temp_commit(temp, error);
}
