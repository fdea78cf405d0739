/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives: what is read of one does not depend on how it is read. What starts is what NumPy
 * writes (make_seeds.py). */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    if (size < 22 || memcmp(data, "PK", 2) != 0)
        return 0;
    harness_read(data, size, &options, 56);
    options.inside = "one";
    harness_read(data, size, &options, 0);
    harness_view(data, size, &options, "npy");
    return 0;
}
