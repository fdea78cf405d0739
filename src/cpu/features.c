/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/features.h"

#include <stdatomic.h>
#include <string.h>

#include "core/env.h"

/* Rows in order of dependence: a row's `needs` are settled by the rows above it. */
static const struct {
    const char *name;
    uint32_t bit, needs;
} names[] = {
    {"sse42", TY_CPU_SSE42, 0},
    {"avx2", TY_CPU_AVX2, TY_CPU_SSE42},
    {"bmi2", TY_CPU_BMI2, 0},
    {"f16c", TY_CPU_F16C, TY_CPU_SSE42},
    {"avx512", TY_CPU_AVX512, TY_CPU_LEVEL_AVX2},
    {"vbmi2", TY_CPU_VBMI2, TY_CPU_AVX512},
};

enum { NAMES = sizeof names / sizeof *names };

static uint32_t drop_unsupported(uint32_t features)
{
    for (int i = 0; i < NAMES; i++)
        if ((features & names[i].needs) != names[i].needs)
            features &= ~names[i].bit;
    return features;
}

uint32_t ty_cpu_features_without(uint32_t features, const char *list)
{
    for (const char *word = list; word && *word;) {
        size_t length = strcspn(word, ",");
        for (int i = 0; i < NAMES; i++)
            if (strlen(names[i].name) == length && memcmp(names[i].name, word, length) == 0)
                features &= ~names[i].bit;
        word += length + (word[length] == ',');
    }
    return drop_unsupported(features);
}

#if defined(__x86_64__)
#include <cpuid.h>

/* "Hygo", which not every cpuid.h knows. */
#define HYGON_EBX UINT32_C(0x6f677948)

#define ALL_OF(word, mask) (((word) & (mask)) == (mask))

enum { XCR0_YMM = 0x06, XCR0_ZMM = 0xe6 };

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* AMD before Zen 3 (family 0x19) and Hygon run PEXT in microcode, up to hundreds of clocks. */
static int slow_pext(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return 1;
    if (b == HYGON_EBX)
        return 1;
    if (b != signature_AMD_ebx || !__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const uint32_t base = a >> 8 & 15, family = base == 15 ? base + (a >> 20 & 255) : base;
    return family < 0x19;
}

static uint32_t detect(void)
{
    uint32_t a, b, c, d, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const uint32_t leaf1 = c;
    const uint64_t xcr0 = ALL_OF(leaf1, bit_OSXSAVE) ? read_xcr0() : 0;
    const int ymm = ALL_OF(xcr0, XCR0_YMM) && ALL_OF(leaf1, bit_AVX);
    const int zmm = ymm && ALL_OF(xcr0, XCR0_ZMM);

    if (ALL_OF(leaf1, bit_SSE4_2 | bit_POPCNT))
        found |= TY_CPU_SSE42;
    if (ymm && ALL_OF(leaf1, bit_F16C))
        found |= TY_CPU_F16C;
    const int lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && ALL_OF(c, bit_LZCNT);
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return found;
    if (ALL_OF(b, bit_BMI | bit_BMI2) && !slow_pext())
        found |= TY_CPU_BMI2;
    if (ymm && lzcnt && ALL_OF(leaf1, bit_FMA) && ALL_OF(b, bit_AVX2))
        found |= TY_CPU_AVX2;
    const uint32_t base = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD;
    if (zmm && ALL_OF(b, base))
        found |= TY_CPU_AVX512;
    const uint32_t bytes =
        bit_AVX512VBMI | bit_AVX512VBMI2 | bit_GFNI | bit_AVX512BITALG | bit_AVX512VPOPCNTDQ;
    if (zmm && ALL_OF(c, bytes))
        found |= TY_CPU_VBMI2;
    return found;
}
#else
static uint32_t detect(void)
{
    return 0;
}
#endif

uint32_t ty_cpu_features(void)
{
    const uint32_t KNOWN = UINT32_C(1) << 31;
    static _Atomic uint32_t cached;
    uint32_t value = atomic_load_explicit(&cached, memory_order_acquire);
    if (!(value & KNOWN)) {
        uint32_t fresh = ty_cpu_features_without(detect(), ty_env("TALLY_DISABLE_CPU")) | KNOWN;
        /* Threads that arrive together agree on the first answer stored. */
        if (atomic_compare_exchange_strong(&cached, &value, fresh))
            value = fresh;
    }
    return value & ~KNOWN;
}
