/* SPDX-License-Identifier: Apache-2.0 */
/* tally-bench: how fast Tally counts, and the figures of its sources measured again. */
#include <signal.h>
#include <stdio.h>

#include "bench.h"
#include "figure.h"

int main(int argc, char **argv)
{
    bench_options options;
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write */
    int code = bench_options_parse(argc, argv, &options);
    if (code)
        return code;
    if (options.help)
        bench_help();
    else if (options.version)
        printf("tally-bench %s\n", tally_version());
    else if (options.figure || options.list)
        code = figure_run_all(&options);
    else
        code = bench_run(&options);
    int end = bench_out_end();
    return code ? code : end;
}
