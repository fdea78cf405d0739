/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are kept come again to the bit, whether they were copied, written where they are
 * kept, or to a file. `test_text_keep [SEED]` */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

#include "io/text_keep.h"

enum { MOST = 3 << 20, ROUNDS = 6 };

static int failures;

static void fail(const char *what, uint64_t number)
{
    failures++;
    printf("%s %" PRIu64 "\n", what, number);
}

/* Blocks of `views` views of samples, thirds whose bytes are hardly ever 0, `total` at least. */
static void test(double *own, uint32_t views, size_t most, size_t total)
{
    ty_keep *keep = ty_keep_create("a test");
    double written = 1, expected = 1;
    ty_kept got;
    for (size_t sum = 0; keep && sum < total;) {
        const size_t rows = 1 + below((unsigned)(most / views));
        const size_t stride = rows + below(3);
        double *samples = NULL;
        if (below(2) && ty_keep_room(keep, stride * views, &samples, NULL))
            fail("no room at", sum);
        if (!samples)
            samples = own;
        for (uint32_t v = 0; v < views; v++)
            for (size_t i = 0; i < rows; i++)
                samples[v * stride + i] = written++ / 3;
        const ty_kept block = {samples, stride, rows, views};
        if (ty_keep_add(keep, &block, NULL))
            fail("not kept at", sum);
        sum += rows * views;
    }
    if (keep)
        ty_keep_rewind(keep);
    else
        fail("no memory", 0);
    while (keep && !ty_keep_next(keep, &got, NULL) && got.rows)
        for (uint32_t v = 0; v < got.views; v++)
            for (size_t i = 0; i < got.rows; i++, expected++)
                if (got.samples[v * got.stride + i] != expected / 3 && failures < 20)
                    fail("another sample at", (uint64_t)expected);
    if (expected != written)
        fail("samples kept:", (uint64_t)expected);
    ty_keep_free(keep);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261128;
    printf("test_text_keep: seed %" PRIu64 "\n", state);
    double *samples = malloc((MOST + 64) * sizeof *samples);
    for (int i = 0; samples && i < ROUNDS; i++) {
        const size_t most = (size_t)1 << (12 + below(10)); /* to more than a slab has */
        ty_keep_limit(i < ROUNDS / 2 ? UINT64_MAX : (uint64_t)below(32) << 20);
        test(samples, 1 + below(3), i == 1 ? MOST : most, (size_t)4 << 20);
    }
    free(samples);
    printf("test_text_keep: %d failures\n", failures);
    return failures != 0 || !samples;
}
