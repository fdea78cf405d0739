/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>

#include "cpu/threads.h"

const char *const gpu_inputs[] = {"zeros", "uniform",    "ramp",   "stride",    "walk",   "ninety",
                                  "two",   "skewed",     "normal", "lognormal", "sorted", "gridded",
                                  "bank",  "photograph", "camera", "book",      NULL};

size_t gpu_dtype_bytes(gpu_dtype dtype)
{
    static const size_t bytes[] = {1, 2, 4, 4, 8};
    return bytes[dtype];
}

double gpu_dtype_span(gpu_dtype dtype)
{
    static const double span[] = {256, 65536, 1 << 30, 1, 1};
    return span[dtype];
}

/* ---- values in [0, 1), by index ---- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double unit(uint64_t i, uint64_t seed)
{
    return (double)(mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed) >> 11) * 0x1p-53;
}

static double gauss(uint64_t i)
{
    return sqrt(-2 * log(unit(i, 1) + 0x1p-53)) * cos(6.283185307179586 * unit(i, 2));
}

typedef struct fill {
    int input;
    gpu_dtype dtype;
    uint64_t n, bins;
    const gpu_bytes *bytes; /* of a file */
    void *to;
} fill;

enum { piece = 1 << 16 };

static double in_bin(uint64_t bin, uint64_t bins)
{
    return ((double)bin + 0.5) / (double)bins;
}

static double value(const fill *f, uint64_t i)
{
    double u = unit(i, 0);
    switch (f->input) {
    case 0: /* one value */
        return 0.37;
    case 1:
        return u;
    case 2: /* neighbours in neighbouring bins */
        return in_bin(i % f->bins, f->bins);
    case 3: /* neighbours 32 bins apart */
        return in_bin(i * 32 % f->bins, f->bins);
    case 4: { /* a smooth path with a little noise, as along an image's row */
        double a = unit(i >> 8, 3), b = unit((i >> 8) + 1, 3), at = (double)(i & 255) / 256;
        double v = a + (b - a) * at + (u - 0.5) / 64;
        return v < 0 ? 0 : v >= 1 ? 0.999 : v;
    }
    case 5: /* nine in ten are one value */
        return unit(i, 4) < 0.9 ? 0.37 : u;
    case 6:
        return i & 1 ? 0.25 : 0.75;
    case 7:
        u *= u;
        u *= u;
        return u * u;
    case 8: { /* of five standard deviations each way */
        double v = 0.5 + 0.1 * gauss(i);
        return v < 0 ? 0 : v >= 1 ? 0.999 : v;
    }
    case 9: /* 1 % lie above the last bin, where the type can say so */
        return exp(gauss(i)) / 10;
    case 10:
        return ((double)i + 0.5) / (double)f->n;
    case 11: /* on edges, as decimal data are */
        return floor(u * 100) / 100;
    case 12: /* every 32nd bin, at random: the adversary of memory banks */
        return f->bins < 64 ? u : in_bin((uint64_t)(u * (double)(f->bins / 32)) * 32, f->bins);
    default:
        return f->bytes->bytes[i % f->bytes->size] / 256.0;
    }
}

static void fill_piece(void *arg, unsigned part, unsigned worker)
{
    const fill *f = arg;
    uint64_t begin = (uint64_t)part * piece, end = begin + piece < f->n ? begin + piece : f->n;
    double span = gpu_dtype_span(f->dtype);
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        double v = value(f, i) * span, most = v < span ? v : span - 1;
        switch (f->dtype) {
        case GPU_U8:
            ((uint8_t *)f->to)[i] = (uint8_t)most;
            break;
        case GPU_U16:
            ((uint16_t *)f->to)[i] = (uint16_t)most;
            break;
        case GPU_I32:
            ((int32_t *)f->to)[i] = (int32_t)most;
            break;
        case GPU_F32:
            ((float *)f->to)[i] = (float)v;
            break;
        default:
            ((double *)f->to)[i] = v;
        }
    }
}

int gpu_input_fill(struct ty_pool *pool, const char *name, gpu_dtype dtype, uint64_t bins,
                   const gpu_files *files, void *to, uint64_t n)
{
    fill f = {.dtype = dtype, .n = n, .bins = bins, .to = to};
    while (gpu_inputs[f.input] && strcmp(gpu_inputs[f.input], name) != 0)
        f.input++;
    if (!gpu_inputs[f.input])
        return 0;
    f.bytes = !strcmp(name, "photograph") ? &files->photograph
              : !strcmp(name, "camera")   ? &files->camera
              : !strcmp(name, "book")     ? &files->book
                                          : NULL;
    if (f.bytes && !f.bytes->size)
        return 0;
    ty_pool_run(pool, 0, (unsigned)((n + piece - 1) / piece), fill_piece, &f);
    return 1;
}

/* ---- files ---- */

static int append(gpu_bytes *to, const void *from, size_t size)
{
    unsigned char *more = realloc(to->bytes, to->size + size);
    if (!more)
        return 0;
    memcpy(more + to->size, from, size);
    to->bytes = more;
    to->size += size;
    return 1;
}

gpu_bytes gpu_read_photograph(const char *path)
{
    gpu_bytes all = {NULL, 0};
    tally_input *input = NULL;
    tally_view v = TALLY_VIEW_INIT;
    int done = 0;
    if (tally_input_open(path, NULL, &input, NULL))
        return all;
    while (!tally_input_read(input, &v, &done, NULL) && !done) {
        size_t line = v.columns * v.channels;
        int64_t stride = v.row_stride_bytes ? v.row_stride_bytes : (int64_t)line;
        for (uint64_t r = 0; v.dtype == TALLY_U8 && r < v.rows; r++) {
            if (!append(&all, (const char *)v.data + (int64_t)r * stride, line))
                break;
        }
    }
    tally_input_close(input);
    return all;
}

gpu_bytes gpu_read_file(const char *path)
{
    gpu_bytes all = {NULL, 0};
    char block[65536];
    size_t n;
    FILE *file = fopen(path, "rb");
    while (file && (n = fread(block, 1, sizeof block, file)) > 0 && append(&all, block, n)) {
    }
    if (file)
        fclose(file);
    return all;
}
