/* SPDX-License-Identifier: Apache-2.0 */
/* GIF, BMP and WebP: any chunk size gives the same samples. What starts is what Pillow writes
 * (make_seeds.py). */
#include "input_harness.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "gif");
    harness_format(data, size, "bmp");
    harness_format(data, size, "webp");
    return 0;
}
