/* SPDX-License-Identifier: Apache-2.0 */
/* What micro_own counts: every kind of input, drawn or read from files. */
#include "own_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>

#include "micro.h"

static double zeros(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 0;
}

static double equal(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 0.37;
}

static double uniform(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_unit();
}

static double normal(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    double sum = 0;
    (void)b, (void)i, (void)n, (void)bins;
    for (int k = 0; k < 4; k++)
        sum += random_unit();
    return 0.5 + (sum - 2) / 4; /* deviation 0.14 */
}

/* Neighbouring samples k bins apart, each in the middle of its bin. */
static double ramp(uint64_t i, uint64_t bins, uint64_t k)
{
    return ((double)(i * k % bins) + 0.5) / (double)bins;
}

static double ramp1(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 1);
}

static double ramp32(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 32);
}

static double ramp33(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 33);
}

/* The 32 lanes of a warp 1024 bins apart, in loads of four samples. */
static double lanes(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i / 4 % 32, bins, 1024);
}

static double walk(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    static double at;
    (void)b, (void)n, (void)bins;
    at = i ? at + (random_unit() - 0.5) * 0.01 : 0.5;
    return at = at < 0 ? -at : at >= 1 ? 2 - at - 1e-9 : at;
}

static double sorted(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)bins;
    return (double)i / (double)n;
}

static double two(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n, (void)bins;
    return i & 1 ? 0.81 : 0.12;
}

static double eight(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n, (void)bins;
    return (double)(i & 7) * 0.11 + 0.05;
}

/* Two neighbouring bins at random. */
static double coin(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n;
    return ((double)(bins / 3 & ~UINT64_C(1)) + 1.5 - (double)(random_next() >> 63)) / (double)bins;
}

static double third(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 3 ? random_unit() : 0.37;
}

static double grid(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return floor(random_unit() * 100) * 0.01;
}

static double edges(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n;
    return floor(random_unit() * (double)bins) * (1 / (double)bins);
}

static double skewed(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    double u = random_unit(), u2 = u * u, u4 = u2 * u2;
    (void)b, (void)i, (void)n, (void)bins;
    return u4 * u4;
}

static double mostly(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 10 ? 0.37 : random_unit();
}

/* Long runs: hot bins that change. */
static double runs(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    static double at;
    (void)b, (void)n, (void)bins;
    if (i % 100000 == 0)
        at = random_unit();
    return at;
}

static double missing(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return NAN;
}

static double over(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 1.5;
}

static double strays(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 1000 ? random_unit() * 1.02 - 0.01 : NAN;
}

static double photograph(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[0].bytes[i % b->files[0].size] / 256;
}

static double camera(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[1].bytes[i % b->files[1].size] / 256;
}

static double book(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[2].bytes[i % b->files[2].size] / 256;
}

const own_input own_inputs[own_input_count] = {{"zeros", zeros, 0},
                                               {"equal", equal, 0},
                                               {"uniform", uniform, 0},
                                               {"normal", normal, 0},
                                               {"ramp1", ramp1, 1},
                                               {"ramp32", ramp32, 1},
                                               {"ramp33", ramp33, 1},
                                               {"lanes1024", lanes, 1},
                                               {"walk", walk, 0},
                                               {"sorted", sorted, 0},
                                               {"two", two, 0},
                                               {"eight", eight, 0},
                                               {"coin", coin, 1},
                                               {"third", third, 0},
                                               {"grid", grid, 0},
                                               {"edges", edges, 1},
                                               {"skewed", skewed, 0},
                                               {"mostly", mostly, 0},
                                               {"runs", runs, 0},
                                               {"nan", missing, 0},
                                               {"over", over, 0},
                                               {"strays", strays, 0},
                                               {"photograph", photograph, 0},
                                               {"camera", camera, 0},
                                               {"book", book, 0}};
void ends(const bench *b, tally_dtype dtype, double *lo, double *hi)
{
    *lo = b->lo < b->hi ? b->lo : dtype == TALLY_I16 ? -32768 : 0;
    *hi = b->lo < b->hi        ? b->hi
          : dtype == TALLY_U8  ? 256
          : dtype == TALLY_U16 ? 65536
          : dtype == TALLY_I16 ? 32768
          : dtype >= TALLY_F16 ? 1
                               : 3e6;
}

/* The next float16 towards zero; what overflows or is none keeps being so. */
static uint16_t half_of(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs(x);
    if (x != x)
        return 0x7e00;
    if (size >= 65536)
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    const int exponent = ilogb(size);
    return (uint16_t)(sign | (exponent + 15) << 10 | ((int)ldexp(size, 10 - exponent) & 1023));
}

static uint16_t brain_of(double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return x != x ? 0x7fc0 : (uint16_t)(bits >> 16);
}

/* Edge i of n of an uneven axis, but for whole numbers from 0 to 3e6. */
static double uneven_edge(const bench *b, uint64_t i, uint64_t n)
{
    double u = (double)i / (double)n, x = 2 * u - 1;
    return !strcmp(b->axis, "square")  ? u * u
           : !strcmp(b->axis, "cubic") ? x * x * x * 4 + x
                                       : 10 * random_unit() - 5;
}

void make_edges(bench *b, tally_dtype dtype, uint64_t bins)
{
    tally_axis log =
        tally_axis_log(bins, dtype >= TALLY_F16 ? 1e-3 : 1, dtype >= TALLY_F16 ? 1e3 : 3e6);
    tally_error error;
    free(b->edges);
    b->edges = NULL;
    if (!strcmp(b->axis, "even"))
        return;
    b->edges = malloc((bins + 1) * sizeof *b->edges);
    if (!b->edges || (!strcmp(b->axis, "log") && tally_axis_edges_get(&log, b->edges, &error)))
        die("edges", &error);
    if (!strcmp(b->axis, "log"))
        return;
    for (uint64_t i = 0; i <= bins; i++)
        b->edges[i] = uneven_edge(b, i, bins);
    qsort(b->edges, bins + 1, sizeof *b->edges, ascending);
    double lo = b->edges[0], width = b->edges[bins] - lo;
    for (uint64_t i = 0; i <= bins; i++) {
        if (dtype < TALLY_F16)
            b->edges[i] = floor((b->edges[i] - lo) / width * 3e6);
        if (i && !(b->edges[i] > b->edges[i - 1]))
            b->edges[i] =
                dtype < TALLY_F16 ? b->edges[i - 1] + 1 : nextafter(b->edges[i - 1], INFINITY);
    }
}

/* A place between 0 and 1, or somewhat outside, on the axis. */
static double on_axis(const bench *b, double place, double lo, double hi, uint64_t bins)
{
    if (!b->edges || !(place >= 0 && place < 1))
        return b->edges ? b->edges[0] + place * (b->edges[bins] - b->edges[0])
                        : lo + place * (hi - lo);
    double at = place * (double)bins;
    uint64_t i = (uint64_t)at;
    i = i < bins ? i : bins - 1;
    return b->edges[i] + (at - (double)i) * (b->edges[i + 1] - b->edges[i]);
}

static void put(tally_dtype dtype, unsigned char *to, uint64_t i, double x)
{
    double whole = x == x ? floor(x) : 0;
    switch (dtype) {
    case TALLY_U8:
        to[i] = (unsigned char)(whole < 0 ? 0 : whole > 255 ? 255 : whole);
        break;
    case TALLY_U16:
        ((uint16_t *)(void *)to)[i] = (uint16_t)(whole < 0 ? 0 : whole > 65535 ? 65535 : whole);
        break;
    case TALLY_I16:
        ((int16_t *)(void *)to)[i] = (int16_t)(whole < -32768  ? -32768
                                               : whole > 32767 ? 32767
                                                               : whole);
        break;
    case TALLY_F16:
        ((uint16_t *)(void *)to)[i] = half_of(x);
        break;
    case TALLY_BF16:
        ((uint16_t *)(void *)to)[i] = brain_of(x);
        break;
    case TALLY_I32:
        ((int32_t *)(void *)to)[i] = (int32_t)whole;
        break;
    case TALLY_F32:
        ((float *)(void *)to)[i] = (float)x;
        break;
    default:
        ((double *)(void *)to)[i] = x;
        break;
    }
}

void fill(bench *b, int input, tally_dtype dtype, uint64_t bins)
{
    uint64_t n = b->period / tally_dtype_bytes(dtype);
    double lo, hi;
    tally_error error;
    ends(b, dtype, &lo, &hi);
    for (uint64_t i = 0; i < n; i++)
        put(dtype, b->data, i, on_axis(b, own_inputs[input].make(b, i, n, bins), lo, hi, bins));
    for (size_t at = 0; at < b->bytes; at += b->period) {
        if (b->device->ops->upload(b->device, b->queue, b->samples, at, b->data, b->period, &error))
            die("upload", &error);
    }
    if (b->device->ops->wait(b->device, b->queue, &error))
        die("upload", &error);
}

static void keep(bench *b, int file, const void *from, size_t size)
{
    b->files[file].bytes = realloc(b->files[file].bytes, b->files[file].size + size);
    if (!b->files[file].bytes)
        exit(1);
    memcpy(b->files[file].bytes + b->files[file].size, from, size);
    b->files[file].size += size;
}

void load_photograph(bench *b, int file, const char *path)
{
    tally_input *input = NULL;
    tally_error error;
    tally_view view = TALLY_VIEW_INIT;
    int done = 0;
    if (!path || tally_input_open(path, NULL, &input, &error))
        return;
    while (!tally_input_read(input, &view, &done, &error) && !done) {
        size_t line = view.columns * view.channels;
        int64_t stride = view.row_stride_bytes ? view.row_stride_bytes : (int64_t)line;
        for (uint64_t r = 0; r < view.rows; r++)
            keep(b, file, (const char *)view.data + (int64_t)r * stride, line);
    }
    tally_input_close(input);
}

void load_text(bench *b, int file, const char *path)
{
    char block[65536];
    size_t size;
    FILE *from = path ? fopen(path, "rb") : NULL;
    while (from && (size = fread(block, 1, sizeof block, from)) > 0)
        keep(b, file, block, size);
    if (from)
        fclose(from);
}
