/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer of the GPU benchmark: a shared object that counts samples in device memory by another
 * library. Made by nvcc from bench/peers/NAME.cu; exports gpu_peers and gpu_peer_version.
 */
#ifndef GPU_PEER_H
#define GPU_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gpu_dtype { GPU_U8, GPU_U16, GPU_I32, GPU_F32, GPU_F64 } gpu_dtype;

/* n samples in device memory, in so many even bins of [lo, hi), or between bins+1 `edges`. */
typedef struct gpu_problem {
    gpu_dtype dtype;
    uint64_t n, bins;
    double lo, hi;
    const void *samples;
    const double *edges; /* numbers of the samples' type, or NULL */
} gpu_problem;

typedef struct gpu_peer {
    const char *by, *call; /* "CUB", "HistogramEven" */
    /* Readies *state, or says why not; nothing is left then. */
    const char *(*start)(const gpu_problem *problem, void **state);
    /* Seconds by events of `calls` calls one after another, each from samples to filled counts in
     * device memory; negative on failure. */
    double (*time)(void *state, unsigned calls);
    /* The last call's counts; 0, or nonzero on failure. */
    int (*counts)(void *state, uint64_t *to);
    void (*end)(void *state);
} gpu_peer;

/* Ended by a NULL `by`. */
const gpu_peer *gpu_peers(void);
const char *gpu_peer_version(void);

#ifdef __cplusplus
}
#endif
#endif
