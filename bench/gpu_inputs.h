/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU benchmark's inputs: made by index, so that any number of threads fills them. */
#ifndef GPU_INPUTS_H
#define GPU_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "gpu_peer.h"

struct ty_pool;

/* Bytes of a file. */
typedef struct gpu_bytes {
    unsigned char *bytes;
    size_t size;
} gpu_bytes;

/* What is repeated to make the inputs of these names. */
typedef struct gpu_files {
    gpu_bytes photograph, camera, book;
} gpu_files;

extern const char *const gpu_inputs[]; /* NULL at the end */

size_t gpu_dtype_bytes(gpu_dtype dtype);
/* Values of `dtype` lie in [0, this). */
double gpu_dtype_span(gpu_dtype dtype);

/* Samples [0, n) of input `name`, for so many bins. 0 when there is none of that name, or when it
 * needs bytes that are not there. */
int gpu_input_fill(struct ty_pool *pool, const char *name, gpu_dtype dtype, uint64_t bins,
                   const gpu_files *files, void *to, uint64_t n);

/* A photograph's samples; any file's bytes. Empty when it cannot be read. */
gpu_bytes gpu_read_photograph(const char *path);
gpu_bytes gpu_read_file(const char *path);

#endif
