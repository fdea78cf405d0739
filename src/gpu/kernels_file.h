/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels file: code compiled when Tally was built (tools/prebuild.c), so that a machine with
 * only the driver counts at once. One file, `libtally-VERSION.kernels`, beside the library or where
 * it was installed; TALLY_KERNELS_FILE names another, or `none`.
 *
 * It holds blocks of code, each of one architecture and packed (pack.h), and an index by the
 * SHA-256 of version, text, options and target. Index and blocks carry their own SHA-256: what is
 * damaged, or of another version, is not used, and ty_kernels_describe says why.
 */
#ifndef TY_KERNELS_FILE_H
#define TY_KERNELS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

/* What a kernel is compiled for: 10 × major + minor of an architecture; or its PTX, which a driver
 * turns into code for any later one. */
typedef struct ty_target {
    uint32_t arch;
    int is_ptx;
} ty_target;

/* One kernel for the file; nothing is owned. */
typedef struct ty_kernel_entry {
    ty_target target;
    unsigned char key[32]; /* ty_kernels_key */
    const void *code;
    size_t size;
} ty_kernel_entry;

void ty_kernels_key(const char *source, const char *options, ty_target target,
                    unsigned char key[32]);

/* Writes the file whole or not at all; entries of one target must be next to each other. The more
 * alike neighbours are, the smaller it is. */
tally_status ty_kernels_save(const char *path, const ty_kernel_entry *entries, size_t count,
                             tally_error *error);

/* Whether the file has code that runs on `capability`. Cheap after the first call. */
int ty_kernels_serve(uint32_t capability);

/*
 * The file's code for a device (ty_free), or NULL. `is_ptx` 0: machine code, the newest that it can
 * run. Nonzero: the newest PTX, ended by a NUL. Safe from any thread.
 */
void *ty_kernels_get(const char *source, const char *options, uint32_t capability, int is_ptx,
                     size_t *size);

/* "PATH: 812 kernels for sm_75 … and PTX", or "none: why". Lives as long as the process. */
const char *ty_kernels_describe(void);

/* Forgets the file, so that the next call looks again; for tests, with no other thread about. */
void ty_kernels_forget(void);

#endif
