/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files: a strict header, extents that lie, any chunk size gives the same samples. */
#include "input_harness.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }\n",
        "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 4, 3), }\n",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (8, 8), }\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (), }\n",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 2, 2, 2), }\n"};
    harness_begin(*argc, *argv);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char file[256] = "\x93NUMPY\1", name[16];
        size_t length = strlen(headers[i]);
        file[8] = (char)length;
        memcpy(file + 10, headers[i], length);
        harness_fill(file + 10 + length, 64);
        snprintf(name, sizeof name, "%zu.npy", i);
        harness_seed(name, file, 10 + length + 64);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "npy");
    return 0;
}
