/* SPDX-License-Identifier: Apache-2.0 */
/* PBM, PGM, PPM and PAM, text and binary. */
#include "input_harness.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const files[] = {
        "P1\n# c\n3 2\n101010",
        "P2 2 2 9 1 2\n3 9",
        "P3 1 1 300\n300 0 256",
        "P4 9 1\n\xaa\x80",
        "P5 2 2 255 abcd",
        "P6 1 1 65535 abcdef",
        "P7\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nabcd"};
    harness_begin(*argc, *argv);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[16];
        snprintf(name, sizeof name, "%zu.pnm", i);
        harness_seed(name, files[i], strlen(files[i]));
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "pnm");
    return 0;
}
