/* SPDX-License-Identifier: Apache-2.0 */
/* What this processor can run, decided once a process. */
#ifndef TY_CPU_FEATURES_H
#define TY_CPU_FEATURES_H

#include <stdint.h>

/*
 * Each bit stands for instructions AND for an operating system that saves their registers
 * (XCR0), and implies every bit that it builds on: AVX512 without AVX2 is never reported.
 */
enum {
    TY_CPU_SSE42 = 1u << 0, /* with POPCNT */
    TY_CPU_AVX2 = 1u << 1,  /* with FMA and LZCNT */
    TY_CPU_BMI2 = 1u << 2,  /* with BMI1, and a PEXT that is not microcode */
    TY_CPU_F16C = 1u << 3,
    TY_CPU_AVX512 = 1u << 4, /* F, BW, DQ, VL, CD; needs AVX2, BMI2 and F16C */
    TY_CPU_VBMI2 = 1u << 5,  /* VBMI, VBMI2, GFNI, BITALG, VPOPCNTDQ; needs AVX512 */
};

/* What objects compiled for AVX2, or for AVX-512, need to run (cmake/TallyIsa.cmake). */
#define TY_CPU_LEVEL_AVX2   (TY_CPU_SSE42 | TY_CPU_AVX2 | TY_CPU_BMI2 | TY_CPU_F16C)
#define TY_CPU_LEVEL_AVX512 (TY_CPU_LEVEL_AVX2 | TY_CPU_AVX512 | TY_CPU_VBMI2)

/*
 * The processor's features less those named in the environment variable TALLY_DISABLE_CPU
 * (comma-separated: sse42, avx2, bmi2, f16c, avx512, vbmi2; unknown names are ignored), and less
 * what builds on those. Both are read at the first call, and the answer stays. 0 where the
 * processor is not x86-64. Any thread may call it.
 */
uint32_t ty_cpu_features(void);

/* `features` less those that `list` names and less what builds on those. `list` may be NULL. */
uint32_t ty_cpu_features_without(uint32_t features, const char *list);

#endif
