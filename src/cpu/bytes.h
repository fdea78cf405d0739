/* SPDX-License-Identifier: Apache-2.0 */
/* Counting bytes in 256 bins on one thread, whatever the data. */
#ifndef TY_CPU_BYTES_H
#define TY_CPU_BYTES_H

#include "cpu/features.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Adds the counts of p[0..n) to out[0..256). Exact for any n, alignment and data; reads nothing
 * outside [p, p + n); p may be NULL when n is 0. Needs no heap and at most TY_BYTES_STACK bytes
 * of stack. Calls with different `out` may run at once. `out` must not overlap the bytes.
 */
typedef void (*ty_bytes_fn)(const uint8_t *p, size_t n, uint64_t out[256]);

enum { TY_BYTES_STACK = 80 << 10 };

/*
 * The same count fed block by block, for callers that make the bytes as they go. The caller owns
 * the state: `state_bytes` bytes, aligned to 64, that need no initialisation. begin() empties it,
 * add() counts a block that may be overwritten at once, and end() adds the totals to `out`, after
 * which only begin() may follow. Blocks of a few KiB keep full speed. A state belongs to one
 * thread at a time.
 */
typedef struct ty_bytes_state ty_bytes_state;

typedef struct ty_bytes_stream {
    size_t state_bytes;
    void (*begin)(ty_bytes_state *state);
    void (*add)(ty_bytes_state *state, const uint8_t *p, size_t n);
    void (*end)(ty_bytes_state *state, uint64_t out[256]);
} ty_bytes_stream;

typedef struct ty_bytes_variant {
    const char *name;
    uint32_t features; /* TY_CPU_* that the processor must have */
    ty_bytes_fn fn;
    const ty_bytes_stream *stream;
} ty_bytes_variant;

/* Every variant built in, best first; the last one runs anywhere. */
extern const ty_bytes_variant ty_bytes_variants[];
extern const size_t ty_bytes_variant_count;

/* The first variant that runs with `features`; never NULL. */
const ty_bytes_variant *ty_bytes_choose(uint32_t features);

void ty_bytes_portable(const uint8_t *p, size_t n, uint64_t out[256]);
extern const ty_bytes_stream ty_bytes_stream_portable;

#if defined(__x86_64__)
void ty_bytes_avx2(const uint8_t *p, size_t n, uint64_t out[256]);
extern const ty_bytes_stream ty_bytes_stream_avx2;
void ty_bytes_avx512(const uint8_t *p, size_t n, uint64_t out[256]);
extern const ty_bytes_stream ty_bytes_stream_avx512;
#endif

/*
 * What a 16-bit counter holds before it is emptied into a 64-bit total. The functions below take a
 * smaller limit (at least 1), so that a test can see counters emptied everywhere.
 */
#define TY_BYTES_LIMIT INT16_MAX
void ty_bytes_portable_limited(const uint8_t *p, size_t n, uint64_t out[256], uint32_t limit);
#if defined(__x86_64__)
void ty_bytes_avx2_limited(const uint8_t *p, size_t n, uint64_t out[256], uint32_t limit);
#endif

/* Room for the state of any stream. */
size_t ty_bytes_state_bytes(void);

#endif
