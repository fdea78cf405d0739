/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over samples are compiled once for each instruction set: a file NAME_loops.c becomes one
 * object for each, with TY_ISA its name (cmake/TallyIsa.cmake). Such a file defines static
 * functions and one table of them, TY_ISA_TABLE(ty_NAME): ty_NAME_base, and on x86-64 ty_NAME_avx2
 * and ty_NAME_avx512. ty_NAME_loops_get (loops.c) chooses among them, by TY_ISA_BEST.
 *
 * One more set is: its name and flags in TallyIsa.cmake, its level in cpu/features.h, a line of
 * TY_ISA_BEST, its vectors in cpu/simd.h, its table in the headers that declare them, and a block
 * of plan/rates.c by the name that cpu_arch of cpu/backend.c gives it.
 */
#ifndef TY_ISA_H
#define TY_ISA_H

#define TY_ISA_PASTE2(stem, isa) stem##_##isa
#define TY_ISA_PASTE(stem, isa)  TY_ISA_PASTE2(stem, isa)
#define TY_ISA_TABLE(stem)       TY_ISA_PASTE(stem, TY_ISA)

/* Returns the table ty_NAME_… of the best set that this processor runs (cpu/features.h). */
#if defined(__x86_64__)
#define TY_ISA_BEST(name)                                                                          \
    uint32_t features = ty_cpu_features();                                                         \
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)                                   \
        return &ty_##name##_avx512;                                                                \
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)                                       \
        return &ty_##name##_avx2;                                                                  \
    return &ty_##name##_base
#else
#define TY_ISA_BEST(name) return &ty_##name##_base
#endif

#endif
