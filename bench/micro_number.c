/*
 * ty_number_parse against strtod, on the same text in the same run: one JSON line a column shape.
 *
 *     micro_number [seed]
 *
 * Each shape is `N` numbers, one a line. Both sides walk the whole text; the fastest of several
 * alternating passes counts, and the values must agree bit for bit.
 */
#include "io/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N      100000
#define PASSES 15

static uint64_t state;

static uint64_t next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double unit(void)
{
    return (double)(next() >> 11) * 0x1p-53;
}

static int shape_0(char *p)
{
    return sprintf(p, "%u\n", (unsigned)(next() % 256));
}

static int shape_1(char *p)
{
    return sprintf(p, "%u\n", (unsigned)(next() % 1000000));
}

static int shape_2(char *p)
{
    return sprintf(p, "%" PRId64 "\n", (int64_t)next() >> (next() % 60));
}

static int shape_3(char *p)
{
    return sprintf(p, "%.2f\n", unit() * 1000);
}

static int shape_4(char *p)
{
    return sprintf(p, "%.6f\n", unit());
}

static int shape_5(char *p)
{
    return sprintf(p, "%.6g\n", (unit() - 0.5) * 200);
}

static int shape_6(char *p)
{
    return sprintf(p, "%.9f\n", unit() * 360 - 180);
}

static int shape_7(char *p)
{
    return sprintf(p, "%.17g\n", unit());
}

static int shape_8(char *p) /* shortest that reads back */
{
    double x = unit();
    int digits = 15, size;
    do
        size = sprintf(p, "%.*g", digits, x);
    while (digits++ < 17 && strtod(p, NULL) != x);
    p[size] = '\n';
    return size + 1;
}

static int shape_9(char *p)
{
    return sprintf(p, "%.6e\n", (unit() - 0.5) * 1e10);
}

static int shape_10(char *p) /* any finite float64 */
{
    double x;
    do {
        uint64_t bits = next();
        memcpy(&x, &bits, sizeof x);
    } while (x - x != 0);
    return sprintf(p, "%.16e\n", x);
}

static int shape_11(char *p) /* as NumPy's savetxt */
{
    return sprintf(p, "%.18e\n", (unit() - 0.5) * 1e3);
}

static int shape_12(char *p) /* milliseconds since 1970 */
{
    return sprintf(p, "%" PRIu64 "\n", UINT64_C(1700000000000) + next() % UINT64_C(100000000));
}

static const struct {
    const char *name;
    int (*write)(char *p);
} shapes[] = {
    {"integers 0-255", shape_0},
    {"integers 0-999999", shape_1},
    {"integers of 64 bits", shape_2},
    {"%.2f of 0-1000", shape_3},
    {"%.6f of 0-1", shape_4},
    {"%.6g of -100-100", shape_5},
    {"%.9f of -180-180", shape_6},
    {"%.17g of 0-1", shape_7},
    {"shortest of 0-1", shape_8},
    {"%.6e", shape_9},
    {"%.16e of any float64", shape_10},
    {"%.18e", shape_11},
    {"milliseconds since 1970", shape_12},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const char *name, const char *text, const char *end, double *ours,
                   double *theirs)
{
    double best[2] = {1e9, 1e9};
    for (int pass = 0; pass < PASSES; pass++) {
        double start = now();
        const char *p = text;
        for (size_t i = 0; i < N; i++)
            p = ty_number_parse(p, end, ours + i) + 1;
        double middle = now();
        char *q = (char *)text;
        for (size_t i = 0; i < N; i++)
            theirs[i] = strtod(q, &q);
        double done = now();
        best[0] = middle - start < best[0] ? middle - start : best[0];
        best[1] = done - middle < best[1] ? done - middle : best[1];
    }
    if (memcmp(ours, theirs, N * sizeof *ours)) {
        fprintf(stderr, "%s: the two disagree\n", name);
        return 1;
    }
    double bytes = (double)(end - text);
    printf("{\"bench\":\"number\",\"data\":\"%s\",\"n\":%d,\"bytes\":%.0f,\"ns\":%.2f,"
           "\"strtod_ns\":%.2f,\"mbps\":%.0f,\"times\":%.2f}\n",
           name, N, bytes, best[0] / N * 1e9, best[1] / N * 1e9, bytes / best[0] / 1e6,
           best[1] / best[0]);
    return 0;
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    char *text = malloc(N * 40);
    double *ours = malloc(N * sizeof *ours), *theirs = malloc(N * sizeof *theirs);
    int failed = !text || !ours || !theirs;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes && !failed; s++) {
        char *p = text;
        for (size_t i = 0; i < N; i++)
            p += shapes[s].write(p);
        failed = measure(shapes[s].name, text, p, ours, theirs);
    }
    free(text);
    free(ours);
    free(theirs);
    return failed;
}
