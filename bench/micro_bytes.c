/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of the byte-counting variants on one thread, beside three classical loops in the same run.
 * Usage: micro_bytes [largest MiB [input or "all" [size in bytes]]]
 * Prints GB/s, the best of several rounds in which the contenders take turns, and for each variant
 * the ratio to the best classical loop. Every contender's counts are compared.
 */
#define _GNU_SOURCE
#include "cpu/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "micro.h"

enum { MOST = 8, PEERS = 3 };

/* Peers. Totals of less than 2^32 suffice here. */
static void one_table(const uint8_t *p, size_t n, uint64_t out[256])
{
    uint32_t h[256] = {0};
    for (size_t i = 0; i < n; i++)
        h[p[i]]++;
    for (int b = 0; b < 256; b++)
        out[b] += h[b];
}

static void four_tables(const uint8_t *p, size_t n, uint64_t out[256])
{
    uint32_t h[4][256];
    memset(h, 0, sizeof h);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint32_t w[4];
        memcpy(w, p + i, 16);
        for (int k = 0; k < 4; k++) {
            h[0][w[k] & 255]++;
            h[1][w[k] >> 8 & 255]++;
            h[2][w[k] >> 16 & 255]++;
            h[3][w[k] >> 24]++;
        }
    }
    for (; i < n; i++)
        h[0][p[i]]++;
    for (int b = 0; b < 256; b++)
        out[b] += (uint64_t)h[0][b] + h[1][b] + h[2][b] + h[3][b];
}

static void eight_tables(const uint8_t *p, size_t n, uint64_t out[256])
{
    uint32_t h[8][256];
    memset(h, 0, sizeof h);
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k += 8) {
            uint64_t w;
            memcpy(&w, p + i + k, 8);
            h[0][w & 255]++;
            h[1][w >> 8 & 255]++;
            h[2][w >> 16 & 255]++;
            h[3][w >> 24 & 255]++;
            h[4][w >> 32 & 255]++;
            h[5][w >> 40 & 255]++;
            h[6][w >> 48 & 255]++;
            h[7][w >> 56]++;
        }
    for (; i < n; i++)
        h[i & 7][p[i]]++;
    for (int b = 0; b < 256; b++) {
        uint64_t sum = 0;
        for (int k = 0; k < 8; k++)
            sum += h[k][b];
        out[b] += sum;
    }
}

/* Inputs */
static const char *const inputs[] = {
    "zeros",  "uniform", "walk",   "text",   "ramp",   "90%one",    "two-alt", "tworan",    "runs",
    "sorted", "10vals",  "99%one", "flip4K", "flip1K", "period300", "decoy",   "onequarter"};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static uint8_t letter(void)
{
    static const char frequent[] = "      eeeeetttaaaoooiiinnnssshhrrdlucmfwypvbgk,.ETA\n";
    return (uint8_t)frequent[random_next() % (sizeof frequent - 1)];
}

static void fill(uint8_t *p, size_t n, int input)
{
    uint8_t last = 100;
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = random_next();
        const uint8_t noise = (uint8_t)(r >> 40);
        switch (input) {
        case 0:
            last = 0;
            break;
        case 1:
            last = noise;
            break;
        case 2:
            last = (uint8_t)(last + (int)(r % 3 + (r >> 20) % 3 + (r >> 40) % 3) - 3);
            break;
        case 3:
            last = letter();
            break;
        case 4:
            last = (uint8_t)i;
            break;
        case 5:
            last = r % 10 ? 17 : noise;
            break;
        case 6:
            last = i & 1 ? 3 : 200;
            break;
        case 7:
            last = r >> 63 ? 3 : 200;
            break;
        case 8:
            last = r % 100 ? last : noise;
            break;
        case 9:
            last = (uint8_t)((double)i / (double)n * 256);
            break;
        case 10:
            last = (uint8_t)(r % 10 * 23);
            break;
        case 11:
            last = r % 100 ? 17 : noise;
            break;
        case 12:
            last = i >> 12 & 1 ? noise : 65;
            break;
        case 13:
            last = i >> 10 & 1 ? noise : (uint8_t)(i >> 10);
            break;
        case 14:
            last = (uint8_t)(i % 300 * 7);
            break;
        case 15: /* led wherever a block is sampled, noise elsewhere */
            last = i % 1024 >= 512 && i % 1024 < 576 ? 9 : noise;
            break;
        default:
            last = noise & 63;
        }
        p[i] = last;
    }
}

typedef struct contender {
    const char *name;
    ty_bytes_fn fn;
} contender;

static size_t gather(contender *list)
{
    size_t count = 0;
    list[count++] = (contender){"one", one_table};
    list[count++] = (contender){"four", four_tables};
    list[count++] = (contender){"8x64", eight_tables};
    for (size_t i = 0; i < ty_bytes_variant_count; i++)
        if ((ty_cpu_features() & ty_bytes_variants[i].features) == ty_bytes_variants[i].features)
            list[count++] = (contender){ty_bytes_variants[i].name, ty_bytes_variants[i].fn};
    return count;
}

static int measure(const contender *list, size_t count, const uint8_t *p, size_t n, double *speed)
{
    uint64_t want[256] = {0}, got[256];
    one_table(p, n, want);
    double best[MOST];
    const size_t calls = n < 100000 ? 400000 / (n + 100) + 1 : 1;
    const int rounds = n > ((size_t)8 << 20) ? 5 : 25;
    for (size_t c = 0; c < count; c++) {
        best[c] = 1e30;
        memset(got, 0, sizeof got);
        list[c].fn(p, n, got);
        if (memcmp(got, want, sizeof got) != 0) {
            printf("WRONG %s n=%zu\n", list[c].name, n);
            return 0;
        }
    }
    for (int r = 0; r < rounds; r++)
        for (size_t c = 0; c < count; c++) {
            const double start = now();
            for (size_t k = 0; k < calls; k++)
                list[c].fn(p, n, got);
            const double took = (now() - start) / (double)calls;
            best[c] = took < best[c] ? took : best[c];
        }
    for (size_t c = 0; c < count; c++)
        speed[c] = (double)n / best[c] * 1e-9;
    return 1;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {16,    64,    256,      1024,      4096,
                                   16384, 65536, 1u << 20, 16u << 20, 256u << 20};
    const size_t largest = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    const char *only = argc > 2 && strcmp(argv[2], "all") ? argv[2] : NULL;
    const size_t one_size = argc > 3 ? (size_t)strtoull(argv[3], NULL, 0) : 0;
    contender list[MOST];
    const size_t count = gather(list);
    const size_t room = largest > one_size ? largest : one_size;
    uint8_t *p = malloc(room);
    if (p == NULL)
        return 1;
    printf("%-10s %10s", "input", "bytes");
    for (size_t c = 0; c < count; c++)
        printf(" %8s", list[c].name);
    printf("   ratio to the best of the first three\n");
    for (int input = 0; input < INPUTS; input++) {
        if (only && strcmp(only, inputs[input]))
            continue;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const size_t n = one_size ? one_size : sizes[k];
            if (n > room)
                break;
            double speed[MOST], peer = 0;
            fill(p, n, input);
            if (!measure(list, count, p, n, speed))
                return 1;
            printf("%-10s %10zu", inputs[input], n);
            for (size_t c = 0; c < count; c++) {
                printf(" %8.2f", speed[c]);
                peer = c < PEERS && speed[c] > peer ? speed[c] : peer;
            }
            for (size_t c = PEERS; c < count; c++)
                printf("  %s %.2f", list[c].name, speed[c] / peer);
            printf("\n");
            fflush(stdout);
            if (one_size)
                break;
        }
    }
    free(p);
    return 0;
}
