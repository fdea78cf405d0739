/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ty_number_parse against strtod, on the same text in the same run: one JSON line a column shape.
 *
 *     micro_number [seed]
 *
 * Each shape is `N` numbers, one a line, walked several times by both sides in pieces of `PIECE`,
 * turn by turn, so that a busy machine slows both: medians over all pieces, "times" of the ratio
 * on one piece. No branch predictor remembers `N` numbers. The values must agree bit for bit.
 */
#include "io/number.h"
#include "micro.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N      100000
#define PIECE  2000
#define ROUNDS (15 * (N / PIECE))

static int shape_0(char *p)
{
    return sprintf(p, "%u\n", (unsigned)(random_next() % 256));
}

static int shape_1(char *p)
{
    return sprintf(p, "%u\n", (unsigned)(random_next() % 1000000));
}

static int shape_2(char *p)
{
    return sprintf(p, "%" PRId64 "\n", (int64_t)random_next() >> (random_next() % 60));
}

static int shape_3(char *p)
{
    return sprintf(p, "%.2f\n", random_unit() * 1000);
}

static int shape_4(char *p)
{
    return sprintf(p, "%.6f\n", random_unit());
}

static int shape_5(char *p)
{
    return sprintf(p, "%.6g\n", (random_unit() - 0.5) * 200);
}

static int shape_6(char *p)
{
    return sprintf(p, "%.9f\n", random_unit() * 360 - 180);
}

static int shape_7(char *p)
{
    return sprintf(p, "%.17g\n", random_unit());
}

static int shape_8(char *p) /* shortest that reads back */
{
    double x = random_unit();
    int digits = 15, size;
    do
        size = sprintf(p, "%.*g", digits, x);
    while (digits++ < 17 && strtod(p, NULL) != x);
    p[size] = '\n';
    return size + 1;
}

static int shape_9(char *p)
{
    return sprintf(p, "%.6e\n", (random_unit() - 0.5) * 1e10);
}

static int shape_10(char *p) /* any finite float64 */
{
    double x;
    do {
        uint64_t bits = random_next();
        memcpy(&x, &bits, sizeof x);
    } while (x - x != 0);
    return sprintf(p, "%.16e\n", x);
}

static int shape_11(char *p) /* as NumPy's savetxt */
{
    return sprintf(p, "%.18e\n", (random_unit() - 0.5) * 1e3);
}

static int shape_12(char *p) /* milliseconds since 1970 */
{
    return sprintf(p, "%" PRIu64 "\n",
                   UINT64_C(1700000000000) + random_next() % UINT64_C(100000000));
}

static int shape_13(char *p) /* with a point or without */
{
    return sprintf(p, "%g\n", (double)(random_next() % 2000) * 0.25);
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
    {"%g of quarters", shape_13},
};

/* PIECE numbers at `p`, then where they end. */
static const char *parse(const char *p, const char *end, double *values)
{
    for (size_t i = 0; i < PIECE; i++)
        p = ty_number_parse(p, end, values + i) + 1;
    return p;
}

static const char *parse_strtod(const char *p, double *values)
{
    char *q = (char *)p;
    for (size_t i = 0; i < PIECE; i++)
        values[i] = strtod(q, &q);
    return q + 1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static int measure(const char *name, const char *text, const char *end, double *ours,
                   double *theirs)
{
    static double seconds[ROUNDS], strtod_seconds[ROUNDS], times[ROUNDS];
    const char *p = text;
    size_t at = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        const char *after = NULL, *after_theirs = NULL;
        for (size_t side = 0; side < 2; side++) {
            double start = now();
            if (side == round % 2) {
                after = parse(p, end, ours + at);
                seconds[round] = now() - start;
            } else {
                after_theirs = parse_strtod(p, theirs + at);
                strtod_seconds[round] = now() - start;
            }
        }
        times[round] = strtod_seconds[round] / seconds[round];
        if (after != after_theirs) {
            fprintf(stderr, "%s: the two end apart\n", name);
            return 1;
        }
        at = (at + PIECE) % N;
        p = at ? after : text;
    }
    if (memcmp(ours, theirs, N * sizeof *ours)) {
        fprintf(stderr, "%s: the two disagree\n", name);
        return 1;
    }
    double ns = median(seconds, ROUNDS) / PIECE * 1e9;
    printf("{\"bench\":\"number\",\"data\":\"%s\",\"n\":%d,\"bytes\":%td,\"ns\":%.2f,"
           "\"strtod_ns\":%.2f,\"mbps\":%.0f,\"times\":%.2f}\n",
           name, N, end - text, ns, median(strtod_seconds, ROUNDS) / PIECE * 1e9,
           (double)(end - text) / N / ns * 1e3, median(times, ROUNDS));
    return 0;
}

int main(int argc, char **argv)
{
    random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
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
