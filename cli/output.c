/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output, and where and how results are written. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <strings.h>
#include <unistd.h>

#include "../common/printable.h"
#include "cli.h"

static struct {
    char buffer[1 << 16];
    size_t used;
    int failed; /* errno of the first failure */
} out;

static int write_all(const char *bytes, size_t size)
{
    while (size && !out.failed) {
        ssize_t put = write(STDOUT_FILENO, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            out.failed = errno;
            break;
        }
        bytes += put;
        size -= (size_t)put;
    }
    return out.failed;
}

static int flush(void)
{
    size_t used = out.used;
    out.used = 0;
    return write_all(out.buffer, used);
}

void cli_out_bytes(const void *bytes, size_t size)
{
    if (size > sizeof out.buffer - out.used && flush())
        return;
    if (size > sizeof out.buffer) {
        write_all(bytes, size);
        return;
    }
    memcpy(out.buffer + out.used, bytes, size);
    out.used += size;
}

void cli_out(const char *format, ...)
{
    char small[1024];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (length < 0)
        return;
    if ((size_t)length < sizeof small) {
        cli_out_bytes(small, (size_t)length);
        return;
    }
    char *large = malloc((size_t)length + 1);
    if (!large) {
        out.failed = out.failed ? out.failed : ENOMEM;
        return;
    }
    va_start(list, format);
    vsnprintf(large, (size_t)length + 1, format, list);
    va_end(list);
    cli_out_bytes(large, (size_t)length);
    free(large);
}

void cli_out_json_string(const char *text)
{
    char one[PRINTABLE_MOST];
    cli_out("\"");
    for (size_t left = strlen(text), took; left; left -= took, text += took) {
        took = printable_one(text, left, one);
        cli_out("%s%s", *one == '"' || *one == '\\' ? "\\" : "", one);
    }
    cli_out("\"");
}

void cli_out_shown(const char *text)
{
    char one[PRINTABLE_MOST];
    for (size_t left = strlen(text), took; left; left -= took, text += took) {
        took = printable_one(text, left, one);
        cli_out("%s", one);
    }
}

void cli_out_json_real(double value)
{
    char text[40];
    if (!isfinite(value)) {
        cli_out("null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    cli_out("%s", text);
}

int cli_out_end(void)
{
    flush();
    if (out.failed == 0 || out.failed == EPIPE)
        return CLI_OK;
    return cli_fail("standard output: %s", strerror(out.failed));
}

static int sink(void *user, const void *bytes, size_t size)
{
    (void)user;
    cli_out_bytes(bytes, size);
    return out.failed;
}

static int is_picture(tally_format format)
{
    return format == TALLY_FORMAT_PNG || format == TALLY_FORMAT_SVG;
}

static int has_ending(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && !strchr(dot, '/') && strcasecmp(dot, ending) == 0;
}

/* -1 for an ending that names no format; *advice: for one that promises what is not written. */
static int format_of(const char *path, const char **advice)
{
    static const struct {
        const char *ending;
        int format;
    } endings[] = {{".json", TALLY_FORMAT_JSON},
                   {".csv", TALLY_FORMAT_CSV},
                   {".npy", TALLY_FORMAT_NPY},
                   {".png", TALLY_FORMAT_PNG},
                   {".svg", TALLY_FORMAT_SVG}};
    static const struct {
        const char *endings[8], *advice;
    } others[] = {
        {{".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".pdf"},
         "pictures are .png or .svg"},
        {{".xlsx", ".xls", ".ods", ".tsv"}, "spreadsheets read .csv"},
        {{".gz", ".zst", ".xz", ".bz2"}, "nothing is compressed; -f json -o - | gzip writes that"}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (has_ending(path, endings[i].ending))
            return endings[i].format;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (size_t k = 0; k < 8 && others[i].endings[k]; k++)
            if (has_ending(path, others[i].endings[k]))
                *advice = others[i].advice;
    return -1;
}

static int choose_format(const cli_options *options, int picture, cli_target *target)
{
    const char *named = cli_text(options, CLI_FORMAT, NULL);
    const char *advice = NULL;
    const int format = named          ? tally_format_parse(named)
                       : target->path ? format_of(target->path, &advice)
                                      : -1;
    if (advice)
        return cli_usage(options->word, "-o %s: %s", target->path, advice);
    if (picture && format < 0)
        return cli_usage(options->word, "say where the picture goes: -o FILE.png or -o FILE.svg");
    if (picture && !is_picture((tally_format)format))
        return cli_usage(options->word, "`tally plot` draws png or svg; `tally show` writes %s",
                         named ? named : "other formats");
    target->format = format < 0 ? TALLY_FORMAT_TABLE : (tally_format)format;
    return CLI_OK;
}

static int suits(const cli_options *options, const cli_target *target)
{
    static const struct {
        cli_id id;
        const char *name, *what;
        int pictures, tables;
    } needs[] = {{CLI_TITLE, "title", "pictures", 1, 0},
                 {CLI_HEIGHT, "height", "pictures", 1, 0},
                 {CLI_LOG_COUNTS, "log-counts", "tables and pictures", 1, 1},
                 {CLI_WIDTH, "width", "tables and pictures", 1, 1},
                 {CLI_MAX_ROWS, "max-rows", "tables", 0, 1},
                 {CLI_ASCII, "ascii", "tables", 0, 1}};
    if (cli_has(options, CLI_NO_HEADER) && target->format != TALLY_FORMAT_TABLE &&
        target->format != TALLY_FORMAT_CSV)
        return cli_usage(options->word, "--no-header is for tables and csv");
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        int fits = is_picture(target->format)
                       ? needs[i].pictures
                       : target->format == TALLY_FORMAT_TABLE && needs[i].tables;
        if (cli_has(options, needs[i].id) && !fits)
            return cli_usage(options->word, "--%s is for %s", needs[i].name, needs[i].what);
    }
    uint64_t width = cli_uint(options, CLI_WIDTH, 1000),
             height = cli_uint(options, CLI_HEIGHT, 600);
    if (is_picture(target->format) &&
        (width < 200 || width > 16384 || height < 150 || height > 16384))
        return cli_usage(
            options->word,
            "--width %llu --height %llu: pictures have 200 x 150 to 16384 x 16384 pixels",
            (unsigned long long)width, (unsigned long long)height);
    int binary = is_picture(target->format) || target->format == TALLY_FORMAT_NPY;
    if (!target->path && binary && isatty(STDOUT_FILENO))
        return cli_usage(options->word,
                         "a terminal cannot show this format; write it with -o FILE");
    return CLI_OK;
}

/* --statistic, as bits. */
static int choose_statistics(const cli_options *options, cli_target *target)
{
    uint32_t *chosen = &target->write.statistics;
    size_t count = 0;
    const char *text = cli_text(options, CLI_STATISTIC, NULL);
    char **pieces = text ? cli_split(text, &count) : NULL;
    if (text && !pieces)
        return cli_fail("out of memory");
    int code = CLI_OK;
    for (size_t i = 0; i < count && !code; i++) {
        const int bit = tally_statistic_parse(pieces[i]);
        *chosen |= (uint32_t)bit;
        if (!bit)
            code = cli_usage(options->word, "--statistic %s: some of %s", pieces[i],
                             cli_option_row(CLI_STATISTIC)->choices);
    }
    cli_split_free(pieces, count);
    if (!code && text && target->format == TALLY_FORMAT_JSON)
        code = cli_usage(options->word, "--statistic: json has all of them");
    if (!code && is_picture(target->format) && (*chosen & (*chosen - 1)) &&
        *chosen != (TALLY_STATISTIC_MEAN | TALLY_STATISTIC_ERROR))
        code = cli_usage(options->word, "--statistic: a picture shows one, or mean,error");
    return code;
}

int cli_target_get(const cli_options *options, int picture, cli_target *target)
{
    memset(target, 0, sizeof *target);
    target->path = cli_text(options, CLI_OUTPUT, NULL);
    if (target->path && strcmp(target->path, "-") == 0)
        target->path = NULL;
    int status = choose_format(options, picture, target);
    if (!status)
        status = suits(options, target);
    if (!status)
        status = choose_statistics(options, target);
    if (status)
        return status;
    tally_write_options *write = &target->write;
    target->top = cli_has(options, CLI_BY) ? 0 : cli_uint(options, CLI_TOP, 0);
    write->struct_size = sizeof *write;
    write->width = (uint32_t)cli_uint(options, CLI_WIDTH, 0);
    write->height = (uint32_t)cli_uint(options, CLI_HEIGHT, 0);
    write->max_rows = (uint32_t)cli_uint(options, CLI_MAX_ROWS, 0);
    write->log_counts = cli_has(options, CLI_LOG_COUNTS);
    write->title = cli_text(options, CLI_TITLE, NULL);
    write->ascii = cli_ascii(options);
    write->no_header = cli_has(options, CLI_NO_HEADER);
    if (!target->path) {
        write->color = cli_colors(options, STDOUT_FILENO);
        if (write->width == 0 && target->format == TALLY_FORMAT_TABLE && !options->team)
            write->width = cli_terminal_width(STDOUT_FILENO);
    } else {
        write->color = strcmp(cli_text(options, CLI_COLOR, "auto"), "always") == 0;
    }
    return CLI_OK;
}

static int write_out(const cli_target *target, tally_result *const *results, size_t count)
{
    tally_error error = {""};
    tally_status status = tally_result_write((const tally_result *const *)results, count,
                                             target->format, &target->write, sink, NULL, &error);
    /* A failed write is told by cli_out_end, in its own words. */
    if (status && !out.failed)
        return cli_fail_status(status, &error);
    return CLI_OK;
}

static int write_all_results(const cli_target *target, tally_result *const *results, size_t count)
{
    tally_error error = {""};
    int json = target->format == TALLY_FORMAT_JSON;
    if (target->path) {
        if (count > 1 && !json)
            return cli_fail("%s: %zu results need --format json", target->path, count);
        cli_signals_hold();
        tally_status status =
            tally_result_save((const tally_result *const *)results, count, target->format,
                              &target->write, target->path, &error);
        int code = status ? cli_fail_status(status, &error) : CLI_OK;
        cli_signals_release();
        return code;
    }
    if (count > 1 && !json && target->format != TALLY_FORMAT_TABLE)
        return cli_fail("%zu results need --format table or json", count);
    int code = CLI_OK;
    if (json)
        code = write_out(target, results, count);
    for (size_t i = 0; i < count && !json && !code; i++) {
        if (i > 0)
            cli_out("\n");
        code = write_out(target, results + i, 1);
    }
    int end = cli_out_end();
    return code ? code : end;
}

/* A copy of `result` with the `most` largest words of each axis that has words; *top stays NULL if
 * none has. */
static int take_top(const tally_result *result, uint64_t most, tally_result **top)
{
    tally_error error = {""};
    tally_result_info info = {.struct_size = sizeof info};
    tally_status status = TALLY_OK;
    tally_result_info_get(result, &info);
    for (uint32_t d = 0; d < info.dimensions && !status; d++) {
        const tally_result *from = *top ? *top : result;
        tally_result *next = NULL;
        if (!tally_result_label(result, d, 0))
            continue;
        status = tally_result_top(from, d, most, &next, &error);
        tally_result_destroy(*top);
        *top = next;
    }
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

int cli_results_write(const cli_target *target, tally_result *const *results, size_t count)
{
    if (!target->top)
        return write_all_results(target, results, count);
    tally_result **top = calloc(count + 1, sizeof(tally_result *));
    tally_result **shown = calloc(count + 1, sizeof(tally_result *));
    int code = top && shown ? CLI_OK : cli_fail("out of memory"), any = 0;
    for (size_t i = 0; i < count && !code; i++) {
        code = take_top(results[i], target->top, &top[i]);
        shown[i] = top[i] ? top[i] : results[i];
        any |= top[i] != NULL;
    }
    if (!code && !any)
        code = cli_fail("--top is for values that are words; these are numbers (--categories "
                        "counts each different one)");
    if (!code)
        code = write_all_results(target, shown, count);
    for (size_t i = 0; top && i < count; i++)
        tally_result_destroy(top[i]);
    free(top);
    free(shown);
    return code;
}
