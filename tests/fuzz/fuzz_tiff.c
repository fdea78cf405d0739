/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF images: strips and tiles, planes together and apart, all sample formats. */
#include "input_harness.h"

#include <stdio.h>
#include <string.h>

#if TALLY_HAVE_TIFF
#include <tiffio.h>

static void make(const char *path, unsigned i)
{
    static const uint16_t bits[] = {8, 16, 1, 4, 32, 12}, packings[] = {1, 5, 32773, 8, 4};
    unsigned char samples[16 * 16 * 4 * 4];
    uint16_t channels = i % 3 == 2 ? 3 : 1;
    TIFF *t = path ? TIFFOpen(path, i % 2 ? "wb" : "wl") : NULL;
    if (!t)
        return;
    harness_fill(samples, sizeof samples);
    uint16_t depth = bits[i % 6], packing = packings[i % 5];
    if (packing == 4 && (depth != 1 || channels != 1)) /* fax */
        packing = 1;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 19);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 11);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, depth);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, depth == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, packing);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, i % 4 == 1 ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    int planes = i % 4 == 1 ? channels : 1;
    if (i % 7 < 3) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
        for (uint16_t p = 0; p < planes; p++)
            for (uint32_t x = 0; x < 19; x += 16)
                TIFFWriteTile(t, samples, x, 0, 0, p);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 4);
        for (uint16_t p = 0; p < planes; p++)
            for (uint32_t y = 0; y < 11; y++)
                TIFFWriteScanline(t, samples, y, p);
    }
    TIFFClose(t);
}
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
#if TALLY_HAVE_TIFF
    for (unsigned i = 0; i < 24; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u.tif", i);
        make(harness_seed_path(name), i);
    }
#endif
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "tiff");
    return 0;
}
