/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet files, one of their first columns, at times as words: any chunk size, and parts in any
 * order, give the same samples. What starts is what pyarrow writes (make_seeds.py). */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"1", "2", "3", "4", "5"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    if (size < 12 || memcmp(data, "PAR1", 4) != 0)
        return 0;
    options.columns = columns + data[size - 8] % 5;
    options.columns_count = 1;
    tally_words *words = NULL;
    if (data[size - 8] & 64 && tally_words_create(&words, NULL))
        return 0;
    options.words = &words;
    options.masked = size & 1;
    harness_read(data, size, &options, 56);
    harness_view(data, size, &options, "parquet");
    tally_words_destroy(words);
    return 0;
}
