/* SPDX-License-Identifier: Apache-2.0 */
/* FITS images and columns of tables: any chunk size, and parts in any order, give the same samples.
 * What starts is what make_seeds.py writes. */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"1", "2", "3", "4"}, *const units[] = {"1", "2", "SCI",
                                                                                 NULL};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    if (size < 30 || memcmp(data, "SIMPLE  =                    T", 30) != 0)
        return 0;
    options.inside = units[data[size - 1] & 3];
    harness_read(data, size, &options, 56);
    harness_view(data, size, &options, "fits");
    options.columns = columns + (data[size / 2] & 3);
    options.columns_count = 1;
    harness_read(data, size, &options, 56);
    harness_view(data, size, &options, "fits");
    return 0;
}
