/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

int cli_context_open(const cli_options *options, tally_context **context)
{
    tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *text = cli_text(options, CLI_DEVICE, "auto");
    if (strpbrk(text, ",*"))
        wanted.devices = text;
    else if (!parse_device(text, &wanted.device, &wanted.index))
        return cli_usage(
            options->word,
            "--device %s: auto, cpu, cuda, opencl, cuda:N, cuda:* or several with commas", text);
    wanted.threads = (uint32_t)cli_uint(options, CLI_THREADS, 0);
    tally_status status = tally_context_create(&wanted, context, &error);
    if (!status)
        return CLI_OK;
    cli_fail("--device %s: %s", text,
             error.message[0] ? error.message : tally_status_string(status));
    return cli_code_of(status);
}
