/*
 * Loops over samples are compiled once for each instruction set: a file NAME_loops.c becomes one
 * object for each, with TY_ISA its name (cmake/TallyIsa.cmake). Such a file defines static
 * functions and one table of them, TY_ISA_TABLE(ty_NAME): ty_NAME_base, and on x86-64 ty_NAME_avx2
 * and ty_NAME_avx512. ty_NAME_loops_get (loops.c) chooses among them.
 */
#ifndef TY_ISA_H
#define TY_ISA_H

#define TY_ISA_PASTE2(stem, isa) stem##_##isa
#define TY_ISA_PASTE(stem, isa)  TY_ISA_PASTE2(stem, isa)
#define TY_ISA_TABLE(stem)       TY_ISA_PASTE(stem, TY_ISA)

#endif
