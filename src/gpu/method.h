/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A method that counts on a graphics processor: a row of the registry (plan/registry.h) whose
 * `backend` is a ty_gpu_method. Its file in src/gpu/methods says how its kernels are launched, its
 * file of the same name in src/gpu/kernels is the kernels.
 *
 * Reading `enqueue` tells all that happens on the device in a call. It is written with the calls of
 * gpu/call.h: clear, launch, merge, store.
 */
#ifndef TY_GPU_METHOD_H
#define TY_GPU_METHOD_H

#include "gpu/device.h"
#include "plan/registry.h"
#include "plan/plan.h"

struct ty_call;

/* How many work-items a kernel is launched with. */
typedef struct ty_geometry {
    uint32_t groups, group_size;
    uint32_t local_bytes; /* of a group */
    uint64_t most;        /* samples of one launch, at most 2^31 */
} ty_geometry;

/* "-DNAME=VALUE …" for the compiler. */
typedef struct ty_defines {
    char text[768];
    size_t length;
} ty_defines;

/* Appends " -DNAME=value". */
void ty_define(ty_defines *defines, const char *name, uint32_t value);
void ty_option(ty_defines *defines, const char *option);

/* How samples lie that a kernel reads on the device; a plan made by `auto` has a route for each. */
enum {
    TY_READS_COLUMN = 0,   /* one channel of one column, packed and aligned, no mask */
    TY_READS_MASKED = 1,   /* packed columns of one channel, with or without a mask */
    TY_READS_ROWS = 2,     /* the same, or long rows with gaps between them */
    TY_READS_CHANNELS = 3, /* packed with all channels interleaved; with a mask one channel */
    TY_READS_ANY = 4,      /* any strides, channels, mask, number of columns */
    TY_READS_KEYS = 5      /* any layout, by no axis: not a method (gpu/order.c) */
};

/* Which affine maps a kernel finds cells by, where the plan proves one (gpu/axes.c); else it
 * compares with edges in float64. Each takes those above it too, the lowest first. */
enum {
    TY_MAPS_NONE,
    TY_MAPS_FLOAT32,   /* in float32 */
    TY_MAPS_16,        /* of 16-bit samples; of a packed column only, as those below */
    TY_MAPS_32,        /* of 32-bit samples */
    TY_MAPS_EXCEPTIONS /* of integers, with exceptions in spare local memory */
};

/* Which lookup tables it finds cells of uneven edges by. */
enum {
    TY_TABLES_NONE,
    TY_TABLES_GLOBAL, /* in global memory */
    TY_TABLES_LOCAL,  /* in spare local memory: one copy, as updates never meet in a bank; or global
                       */
    TY_TABLES_COPIED  /* in as many copies there as fit; or in global memory */
};

typedef struct ty_gpu_method {
    const char *texts[10]; /* the kernels, behind what all share (gpu/text.c); NULL ends them */
    int reads;             /* TY_READS_… */
    int maps;              /* TY_MAPS_… */
    int tables;            /* TY_TABLES_… */
    /* The kernel that tally_plan_kernel tells of; NULL where several do the counting. */
    const char *kernel;
    /* The launch of that kernel, or of the first, for n samples. */
    void (*geometry)(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g);
    /* What the kernels are compiled with besides what all are; NULL: nothing. It must depend on the
     * device's architecture only, and on bins and samples in few steps: kernels are compiled
     * ahead. */
    void (*define)(const tally_plan *plan, const ty_device *device, ty_defines *defines);
    /* How many histograms one call of `enqueue` counts; NULL: one. */
    uint64_t (*histograms)(const struct ty_call *call);
    /* Puts on the queue what counts the call's samples and stores the counts. */
    tally_status (*enqueue)(struct ty_call *call, tally_error *error);
} ty_gpu_method;

static inline const ty_gpu_method *ty_gpu_method_of(const tally_plan *plan)
{
    return plan->method->backend;
}

/* ---- for geometry() ---- */

/* 256 work-items, as many groups as fit the device, no local memory. */
void ty_geometry_standard(const ty_device *device, uint64_t n, ty_geometry *g);

/* ---- for supports() ---- */

/* One dimension, no weights, and the float64 that other samples than bytes need. */
tally_status ty_supports_column(const tally_plan *plan, tally_error *error);
/* The same for kernels that keep a word for each of the plan's slots in local memory. */
tally_status ty_supports_local(const tally_plan *plan, tally_error *error);
/* A setting must not pass `most`, the device's limit; only a standard value is lowered to it. */
tally_status ty_setting_fits(const tally_plan *plan, const char *key, uint32_t most,
                             tally_error *error);

/* ---- compiling (gpu/text.c) ---- */

/* The whole source of a method (ty_free; NULL when memory is out), and its compiler options. */
char *ty_gpu_text(const ty_gpu_method *method);
void ty_gpu_options(const tally_plan *plan, const ty_device *device, ty_defines *options);

/* The device of a plan whose context is not the processor's. */
static inline const ty_device *ty_plan_device(const tally_plan *plan)
{
    return plan->context->state;
}

#endif
