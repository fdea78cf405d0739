/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG images: grey, RGB, CMYK; baseline and progressive. */
#include "input_harness.h"

#include <stdio.h>
#include <string.h>

#if TALLY_HAVE_JPEG
#include <jpeglib.h>

static void make(const char *path, int channels, int progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char samples[20 * 4];
    JSAMPROW row = samples;
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f)
        return;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, f);
    jpeg.image_width = 20;
    jpeg.image_height = 17;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg.restart_interval = 2;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    harness_fill(samples, sizeof samples);
    while (jpeg.next_scanline < jpeg.image_height)
        jpeg_write_scanlines(&jpeg, &row, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(f);
}
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    harness_begin(*argc, *argv);
#if TALLY_HAVE_JPEG
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.jpg", i);
        make(harness_seed_path(name), "\1\3\4"[i % 3], i / 3);
    }
#endif
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness_format(data, size, "jpeg");
    return 0;
}
