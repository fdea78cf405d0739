/* SPDX-License-Identifier: Apache-2.0 */
/* Raw data: the first bytes choose dtype, shape, offset, region and chunk size. */
#include "input_harness.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    unsigned char bytes[200];
    harness_begin(*argc, *argv);
    harness_fill(bytes, sizeof bytes);
    memset(bytes, 0, 12);
    harness_seed("plain", bytes, sizeof bytes);
    bytes[0] = 4;
    bytes[1] = 3;
    bytes[2] = 5;
    harness_seed("shape", bytes, sizeof bytes);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 12)
        return 0;
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.dtype = (tally_dtype)(1 + data[0] % 12);
    o.shape[0] = data[1] < 200 ? data[1] : UINT64_C(1) << (data[1] - 192);
    o.shape[1] = data[2] < 200 ? data[2] : UINT64_C(1) << (data[2] - 192);
    o.shape[2] = data[3] < 200 ? data[3] % 8 : UINT64_C(1) << (data[3] - 192);
    o.offset_bytes = data[4] < 250 ? data[4] : UINT64_MAX - data[4];
    o.row_begin = data[5];
    o.row_end = data[6];
    o.column_begin = data[7];
    o.column_end = data[8];
    o.chunk_bytes = data[9];
    harness_read(data + 12, size - 12, &o, 1 + data[10]);
    return 0;
}
