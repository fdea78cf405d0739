/* SPDX-License-Identifier: Apache-2.0 */
/* A device's programs, shared by the plans whose kernels are the same: plans differ in their axes'
 * numbers more often than in their kernels, and to compile, read or load one takes a millisecond or
 * many. Safe from several threads. */
#ifndef TY_PROGRAMS_H
#define TY_PROGRAMS_H

#include "gpu/method.h"

typedef struct ty_program {
    void *handle; /* the device's */
    int origin;   /* TY_COMPILED, … */
    /* programs.c's own */
    const ty_gpu_method *method;
    struct ty_program *next;
    unsigned users; /* plans */
    char options[sizeof((ty_defines *)0)->text];
} ty_program;

/* The program of a method's text and compiler options: one that there is, or a new one. Given back
 * by ty_program_give, which takes NULL too. */
tally_status ty_program_take(ty_device *device, const ty_gpu_method *method, const char *options,
                             ty_program **program, tally_error *error);
void ty_program_give(ty_device *device, ty_program *program);

/* Before the first of these on a device, and after the last. */
void ty_programs_open(ty_device *device);
void ty_programs_close(ty_device *device);

#endif
