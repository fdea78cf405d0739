/* SPDX-License-Identifier: Apache-2.0 */
/* `tally tune`: the library measures its methods on a device, for `auto`. */
#include "cli.h"
#include "progress.h"

static int show(void *user, uint64_t done, uint64_t total)
{
    cli_progress_show(user, done, total);
    return 0;
}

int cli_tune(const cli_options *options)
{
    tally_context *context = NULL;
    tally_error error = {""};
    char path[1024];
    cli_progress progress;
    int code = cli_context_open(options, &context);
    if (code)
        return code;
    cli_progress_start(&progress, options, "tuning");
    progress.plain = 1;
    tally_status status = tally_tune(context, show, &progress, path, &error);
    cli_progress_end(&progress);
    tally_context_destroy(context);
    if (status)
        return cli_fail_status(status, &error);
    cli_out("%s\n", path);
    return cli_out_end();
}
