/* SPDX-License-Identifier: Apache-2.0 */
/* tally: the command. */
#include <errno.h>
#include <unistd.h>

#include "cli.h"

int main(int argc, char **argv)
{
    cli_options options;
    cli_signals_start();
    int code = cli_options_parse(argc, argv, &options);
    if (code == CLI_OK) {
        if (cli_has(&options, CLI_HELP)) {
            int named = argc > 1 && cli_word_find(argv[1]);
            cli_help(named ? options.word : NULL);
            code = cli_out_end();
        } else if (cli_has(&options, CLI_VERSION)) {
            code = cli_word_version(&options);
        } else if (cli_has(&options, CLI_PRINT)) {
            code = cli_generate(&options);
        } else {
            if (options.word->bit & (CLI_RUN | CLI_QUANTILES))
                code = cli_folders_expand(&options);
            if (!code)
                code = cli_output_check(&options, cli_text(&options, CLI_OUTPUT, NULL));
            if (!code)
                code = options.word->act(&options);
        }
    }
    cli_options_release(&options);
    /* What close reports (a full network disk) counts too; a descriptor that was closed does not.
     */
    if (close(STDOUT_FILENO) != 0 && errno != EBADF && errno != EINTR && code == CLI_OK)
        code = cli_fail("standard output: %s", strerror(errno));
    return code;
}
