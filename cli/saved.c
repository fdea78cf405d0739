/* SPDX-License-Identifier: Apache-2.0 */
/* Saved results: read, show, plot. */
#include "source.h"

static char first_of(const char *text)
{
    return text[strspn(text, " \t\r\n")];
}

/* The whole content of `path`, decompressed, with a zero behind it; of what is no saved result its
 * beginning. */
static tally_status read_all(const char *path, char **whole, size_t *size, tally_error *error)
{
    tally_input_options wanted = TALLY_INPUT_OPTIONS_INIT;
    tally_input *input = NULL;
    char *text = NULL;
    size_t used = 0, room = 0;
    wanted.dtype = TALLY_U8;
    tally_status status = tally_input_open(path, &wanted, &input, error);
    while (!status) {
        tally_view view;
        int done = 0;
        status = tally_input_read(input, &view, &done, error);
        if (status || done)
            break;
        size_t more = (size_t)(view.rows * view.columns);
        if (used + more + 1 > room) {
            room = 2 * (used + more) + 1;
            char *grown = realloc(text, room);
            if (!grown) {
                status =
                    cli_error(error, TALLY_ERROR_MEMORY, "%.900s: out of memory", cli_shown(path));
                break;
            }
            text = grown;
        }
        memcpy(text + used, view.data, more);
        used += more;
        text[used] = '\0';
        if (!strchr("{[", first_of(text))) /* the rest may be more than memory holds */
            break;
    }
    tally_input_close(input);
    if (!status && !text)
        status =
            cli_error(error, TALLY_ERROR_FORMAT,
                      "%.900s: empty; a saved result (--format json) is needed", cli_shown(path));
    if (status)
        free(text);
    else
        text[used] = '\0';
    *whole = text;
    *size = used;
    return status;
}

tally_status cli_saved_read(const char *path, tally_result ***results, size_t *count,
                            tally_error *error)
{
    size_t size;
    char *text;
    *results = NULL;
    *count = 0;
    tally_status status = read_all(path, &text, &size, error);
    if (status)
        return status;
    status = tally_result_parse_all(text, size, cli_shown(path), results, count, error);
    const char first = first_of(text);
    if (status == TALLY_ERROR_FORMAT && first != '{' && first != '[')
        status = cli_error(
            error, status,
            "%.900s: not a saved result, which `--format json` writes; `tally FILE` counts a file",
            cli_shown(path));
    free(text);
    if (!status && !*count)
        status = cli_error(error, TALLY_ERROR_FORMAT, "%.900s: an empty list; it has no result",
                           cli_shown(path));
    return status;
}

int cli_counter_get(const cli_options *options, tally_counter *counter)
{
    static const char *const names[] = {"u64", "u32", "u16sat", "u8sat"};
    const char *text = cli_text(options, CLI_COUNTER, "u64");
    *counter = TALLY_COUNTER_U64;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            *counter = (tally_counter)i;
    return *counter != TALLY_COUNTER_U64;
}

static void say_runs(const cli_options *options, tally_result *const *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tally_result_info info = {.struct_size = sizeof info};
        tally_result_info_get(results[i], &info);
        cli_say(options, "result %zu: counted on %s by %s in %.6f s", i + 1,
                *info.device ? info.device : "an unknown device",
                *info.method ? info.method : "an unknown method", info.seconds);
    }
}

static int show(const cli_options *options, int picture)
{
    cli_target target;
    tally_result **results = NULL;
    size_t count = 0;
    const char *path = options->operands[0];
    int code = cli_target_get(options, picture, &target);
    if (!code) {
        tally_error error = {""};
        const tally_status status = cli_saved_read(path, &results, &count, &error);
        code = status ? cli_fail_status(status, &error) : CLI_OK;
    }
    if (!code)
        say_runs(options, results, count);
    if (!code && cli_has(options, CLI_INDEX)) {
        uint64_t index = cli_uint(options, CLI_INDEX, 1);
        if (index > count)
            code = cli_fail("%s: --index %llu, but it holds %zu", cli_shown(path),
                            (unsigned long long)index, count);
        else
            code = cli_results_write(&target, &results[index - 1], 1);
    } else if (!code) {
        int many = target.format == TALLY_FORMAT_JSON ||
                   (target.format == TALLY_FORMAT_TABLE && !target.path);
        if (count > 1 && !many)
            code = cli_fail("%s: holds %zu results; choose one with --index N", cli_shown(path),
                            count);
        else
            code = cli_results_write(&target, results, count);
    }
    tally_result_destroy_all(results, count);
    return code;
}

int cli_show(const cli_options *options)
{
    return show(options, 0);
}

int cli_plot(const cli_options *options)
{
    return show(options, 1);
}
