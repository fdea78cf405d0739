/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow files and streams, one of their first columns: any chunk size, and parts in any order, give
 * the same samples. What starts is what pyarrow writes (make_seeds.py). */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"1", "2", "3", "4"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    if (size < 24 || (memcmp(data, "ARROW1", 6) != 0 && memcmp(data, "\xff\xff\xff\xff", 4) != 0))
        return 0;
    options.columns = columns + (data[size / 2] & 3);
    options.columns_count = 1;
    tally_words *words = NULL;
    if (tally_words_create(&words, NULL))
        return 0;
    options.words = &words;
    options.masked = size & 1;
    harness_read(data, size, &options, 56);
    harness_view(data, size, &options, "arrow");
    tally_words_destroy(words);
    return 0;
}
