#include "cli.h"

int cli_bench(const cli_options *options)
{
    return cli_usage(options->word, "`tally bench` is not in this build");
}
