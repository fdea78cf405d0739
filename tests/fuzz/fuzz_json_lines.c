/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines, one or two of their values, or all: any chunk size gives the same samples. What
 * starts is what Python's json writes (make_seeds.py). */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"x", "a.b", "1", "\xc3\xa4", "2"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    if (size < 2 || memchr("{ \n", data[0], 3) == NULL)
        return 0;
    const unsigned last = data[size - 1];
    options.columns = columns + (last & 3);
    options.columns_count = 1 + (last >> 2 & 1);
    options.missing = last & 8 ? "gone,-9" : NULL;
    options.row_begin = last >> 4 & 3;
    if (last & 64) { /* all of them */
        options.columns_count = 0;
        options.columns = NULL;
        options.whole_table = 1;
        options.threads = 1; /* words are numbered as they are met */
    }
    harness_read(data, size, &options, 24);
    return 0;
}
