/* SPDX-License-Identifier: Apache-2.0 */
/* PNG images. Checksums are put right after each mutation, or nothing behind them would be reached.
 */
#include "input_harness.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_right(uint8_t *data, size_t size)
{
    for (size_t at = 8; at + 12 <= size;) {
        uint32_t length = get(data + at), crc = 0xffffffff;
        if (length > size - at - 12)
            return;
        for (size_t i = at + 4; i < at + 8 + length; i++) {
            crc ^= data[i];
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        crc = ~crc;
        at += 8 + length;
        for (int i = 0; i < 4; i++)
            data[at++] = (uint8_t)(crc >> (24 - 8 * i));
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = {"grey.png",    "greya.png",    "rgb.png",    "rgba.png",
                                        "grey-16.png", "greya-16.png", "rgb-16.png", "rgba-16.png"};
    /* Interlaced, two bits, a palette with transparency, 1 × 1. */
    uint8_t palette[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\2\3\0\0\1\0\0\0\0"
                        "\0\0\0\14PLTEabcdefghijkl\0\0\0\0\0\0\0\2tRNS\1\2\0\0\0\0"
                        "\0\0\0\12IDAT\x78\x9c\x63\x28\1\0\0\x42\0\x42\0\0\0\0\0\0\0\0IEND\0\0\0";
    uint8_t samples[9 * 7 * 4 * 2];
    harness_begin(*argc, *argv);
    harness_fill(samples, sizeof samples);
    put_right(palette, sizeof palette);
    harness_seed("palette.png", palette, sizeof palette);
    for (unsigned i = 0; i < 8; i++) {
        tally_view v = tally_view_1d(samples, i < 4 ? TALLY_U8 : TALLY_U16, 9);
        v.rows = 7;
        v.channels = 1 + i % 4;
        const char *path = harness_seed_path(names[i]);
        if (path)
            tally_image_save(path, &v, NULL);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8)
        put_right(data, size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "png");
    return 0;
}
