/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "team.h"

/* Of several processes on a machine each has the device of its number, and its share of the
 * processors. */
static void share(const cli_team *team, tally_context_options *wanted)
{
    int32_t devices = 0;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; wanted->device != TALLY_DEVICE_CPU && i < tally_device_count(); i++) {
        tally_device_info info = TALLY_DEVICE_INFO_INIT;
        devices +=
            !tally_device_get(i, &info, NULL) && info.device == wanted->device && info.available;
    }
    wanted->index = devices ? team->number % devices : 0;
    if (!wanted->threads)
        wanted->threads = processors > team->here ? (uint32_t)(processors / team->here) : 1;
}

int cli_context_open(const cli_options *options, tally_context **context)
{
    tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *text = cli_text(options, CLI_DEVICE, options->team ? "cpu" : "auto");
    if (strpbrk(text, ",*"))
        wanted.devices = text;
    else if (!parse_device(text, &wanted.device, &wanted.index))
        return cli_usage(
            options->word,
            "--device %s: auto, cpu, cuda, opencl, cuda:N, cuda:* or several with commas", text);
    wanted.threads = (uint32_t)cli_uint(options, CLI_THREADS, 0);
    if (options->team)
        share(options->team, &wanted);
    tally_status status = tally_context_create(&wanted, context, &error);
    if (!status)
        return CLI_OK;
    cli_fail("--device %s: %s", text,
             error.message[0] ? error.message : tally_status_string(status));
    return cli_code_of(status);
}
