/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every byte-counting variant that this processor runs, against a loop of one table. The data sit
 * between pages that may not be touched. Usage: test_bytes [seed]
 */
#define _GNU_SOURCE
#include "cpu/bytes.h"
#include "draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 16, LARGE = 10 << 20 };

static uint64_t seed;
static int failures;
static uint8_t *room; /* LARGE bytes, a forbidden page on either side */

/* The i-th byte of `kind`; a, b, c are drawn once for a buffer. */
static uint8_t sample(int kind, size_t i, uint8_t last, const uint64_t draw[3])
{
    const uint64_t r = next();
    const uint8_t a = (uint8_t)draw[0], b = (uint8_t)draw[1];
    const size_t period = 1 + draw[2] % 300;
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return 255;
    case 2:
        return (uint8_t)r;
    case 3:
        return (uint8_t)i;
    case 4:
        return (uint8_t)(last + r % 7 - 3);
    case 5:
        return r % 10 ? a : (uint8_t)(r >> 8);
    case 6:
        return i & 1 ? a : b;
    case 7:
        return r & 1 ? a : b;
    case 8:
        return r % period ? last : (uint8_t)(r >> 16);
    case 9:
        return (uint8_t)(i * 256 / LARGE);
    case 10:
        return "etaoin shrdlu\n"[r % 14];
    case 11:
        return (uint8_t)(i % period * 37 + a);
    case 12: /* changes its character every few KiB */
        return (i / (1024 * period / 16 + 512)) & 1 ? a : (uint8_t)r;
    case 13: /* one value wherever a block is sampled, noise elsewhere */
        return i % 1024 >= 512 && i % 1024 < 576 ? a : (uint8_t)r;
    case 14:
        return r % 3 ? a : (uint8_t)(b ^ (r >> 8 & 1));
    default:
        return (uint8_t)(64 * (draw[0] & 3) + (r & 63));
    }
}

static void fill(uint8_t *p, size_t n, int kind)
{
    const uint64_t draw[3] = {next(), next(), next()};
    uint8_t last = (uint8_t)draw[0];
    for (size_t i = 0; i < n; i++)
        p[i] = last = sample(kind, i, last, draw);
}

static void naive(const uint8_t *p, size_t n, uint64_t out[256])
{
    for (size_t i = 0; i < n; i++)
        out[p[i]]++;
}

static void compare(const char *what, const char *name, size_t n, size_t shift, int kind,
                    const uint64_t got[256], const uint64_t want[256])
{
    if (memcmp(got, want, 256 * sizeof *got) == 0)
        return;
    int bin = 0;
    while (got[bin] == want[bin])
        bin++;
    if (failures++ < 20)
        printf("FAIL %s %s n=%zu shift=%zu kind=%d bin %d: %" PRIu64 ", should be %" PRIu64 "\n",
               what, name, n, shift, kind, bin, got[bin], want[bin]);
}

/* Bins that already hold something, some of it past 2^32. */
static void start(uint64_t a[256], uint64_t b[256])
{
    for (int i = 0; i < 256; i++)
        a[i] = b[i] = next() >> (next() % 64);
}

static void check(const ty_bytes_variant *v, const uint8_t *p, size_t n, size_t shift, int kind)
{
    uint64_t got[256], want[256];
    start(got, want);
    naive(p, n, want);
    v->fn(p, n, got);
    compare("one shot", v->name, n, shift, kind, got, want);
}

static void check_stream(const ty_bytes_variant *v, const uint8_t *p, size_t n, size_t most,
                         int kind)
{
    uint64_t got[256], want[256];
    uint8_t block[40000];
    ty_bytes_state *s = aligned_alloc(64, (v->stream->state_bytes + 63) & ~(size_t)63);
    if (s == NULL) {
        printf("FAIL no memory for a state\n");
        exit(1);
    }
    memset(s, 0xa5, v->stream->state_bytes);
    start(got, want);
    naive(p, n, want);
    v->stream->begin(s);
    for (size_t i = 0; i < n;) {
        size_t now = below(most + 1);
        now = now < n - i ? now : n - i;
        memcpy(block, p + i, now);
        v->stream->add(s, block, now);
        memset(block, 0x5a, now);
        i += now;
    }
    v->stream->end(s, got);
    free(s);
    compare("stream", v->name, n, most, kind, got, want);
}

/* All short lengths, flush against the page behind, then against the page before. */
static void short_lengths(const ty_bytes_variant *v)
{
    for (size_t n = 0; n <= 5000; n++) {
        const int kind = (int)below(KINDS);
        uint8_t *p = room + LARGE - n;
        fill(p, n, kind);
        check(v, p, n, 0, kind);
        fill(room, n, kind);
        check(v, room, n, 1, kind);
    }
    check(v, NULL, 0, 0, 0);
}

static void alignments(const ty_bytes_variant *v)
{
    for (int kind = 0; kind < KINDS; kind++) {
        fill(room, 80000, kind);
        for (size_t shift = 0; shift < 64; shift++)
            check(v, room + shift, 9000 + below(60000), shift, kind);
    }
}

static void large_lengths(const ty_bytes_variant *v)
{
    for (int kind = 0; kind < KINDS; kind++) {
        /* 90 % one value: enough of it to overflow 16-bit counters that nobody empties */
        const size_t n =
            kind == 2 || kind == 5 ? LARGE : 1 + (size_t)(next() % LARGE) / (1 + below(8));
        uint8_t *p = room + LARGE - n;
        fill(p, n, kind);
        check(v, p, n, 0, kind);
        check_stream(v, p, n, 32768, kind);
        check_stream(v, p, n < 300000 ? n : 300000, 1 + below(5000), kind);
        check_stream(v, p, n < 20000 ? n : 20000, 1 + below(100), kind);
    }
}

/* Small limits make the 16-bit tables empty themselves at every odd place. */
static void limits(void)
{
    typedef void (*limited_fn)(const uint8_t *, size_t, uint64_t *, uint32_t);
    const limited_fn fns[] = {
        ty_bytes_portable_limited,
#if defined(__x86_64__)
        (ty_cpu_features() & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2 ? ty_bytes_avx2_limited : NULL,
#endif
    };
    for (size_t f = 0; f < sizeof fns / sizeof *fns; f++)
        for (int kind = 0; kind < KINDS && fns[f]; kind++)
            for (int k = 0; k < 12; k++) {
                static const uint32_t limit[] = {1, 2, 7, 64, 127, 128, 129, TY_BYTES_LIMIT};
                uint64_t got[256], want[256];
                const uint32_t most = limit[below(8)];
                const size_t n = below(most < 64 ? 5000 : 600000);
                fill(room, n, kind);
                start(got, want);
                naive(room, n, want);
                fns[f](room, n, got, most);
                compare("limited", f ? "avx2" : "portable", n, most, kind, got, want);
            }
}

static void features(void)
{
    const uint32_t all = TY_CPU_LEVEL_AVX512;
    static const struct {
        const char *list;
        uint32_t left;
    } cases[] = {
        {NULL, TY_CPU_LEVEL_AVX512},
        {"", TY_CPU_LEVEL_AVX512},
        {"mmx,,avx", TY_CPU_LEVEL_AVX512},
        {"vbmi2", TY_CPU_LEVEL_AVX2 | TY_CPU_AVX512},
        {"avx512", TY_CPU_LEVEL_AVX2},
        {"avx2", TY_CPU_SSE42 | TY_CPU_BMI2 | TY_CPU_F16C},
        {"bmi2,nothing", TY_CPU_SSE42 | TY_CPU_AVX2 | TY_CPU_F16C},
        {"vbmi2,f16c", TY_CPU_SSE42 | TY_CPU_AVX2 | TY_CPU_BMI2},
        {"sse42", TY_CPU_BMI2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (ty_cpu_features_without(all, cases[i].list) != cases[i].left) {
            printf("FAIL features without %s\n", cases[i].list ? cases[i].list : "(null)");
            failures++;
        }
    if (ty_bytes_choose(0) != &ty_bytes_variants[ty_bytes_variant_count - 1]) {
        printf("FAIL no variant for a bare processor\n");
        failures++;
    }
    if (ty_cpu_features() != ty_cpu_features()) {
        printf("FAIL features change\n");
        failures++;
    }
}

static int reserve(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all = mmap(NULL, LARGE + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, LARGE, PROT_READ | PROT_WRITE) != 0)
        return 0;
    room = all + page;
    return 1;
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 0)
                    : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    state = seed;
    printf("seed %" PRIu64 "\n", seed);
    if (!reserve()) {
        printf("FAIL no memory\n");
        return 1;
    }
    features();
    limits();
    for (size_t i = 0; i < ty_bytes_variant_count; i++) {
        const ty_bytes_variant *v = &ty_bytes_variants[i];
        if ((ty_cpu_features() & v->features) != v->features) {
            printf("skipped: %s, this processor lacks it\n", v->name);
            continue;
        }
        const int before = failures;
        short_lengths(v);
        alignments(v);
        large_lengths(v);
        printf("%s %s\n", failures == before ? "passed" : "FAILED", v->name);
    }
    if (ty_bytes_state_bytes() < ty_bytes_stream_portable.state_bytes)
        failures++;
    return failures != 0;
}
