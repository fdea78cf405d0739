/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in 256 bins without a store per byte.
 *
 * split(): each vector of 64 bytes goes, by the bytes' two top bits, to four streams.
 * count(): a full block of one stream becomes six bit planes. For each subset S of the planes, the
 * number of samples whose bits in S have odd parity is found by XOR and population count; these 64
 * parity counts are the Walsh-Hadamard transform of the stream's 64 counts, undone once at the end.
 * The two lean on different units of the core (stores and shuffles, logic and population counts),
 * so count() splits the next input while it walks the subsets. No branch depends on the data.
 */
#include "cpu/bytes.h"

#include "cpu/bytes_few.h"

#include <string.h>

struct ty_bytes_state {
    ty_planes planes;
};

static void begin(ty_bytes_state *state)
{
    ty_planes_begin(&state->planes);
}

static void add(ty_bytes_state *state, const uint8_t *p, size_t n)
{
    ty_planes_add(&state->planes, p, n);
}

static void end(ty_bytes_state *state, uint64_t out[256])
{
    ty_planes_end(&state->planes, out);
}

const ty_bytes_stream ty_bytes_stream_avx512 = {sizeof(ty_bytes_state), begin, add, end};

_Static_assert(sizeof(ty_few) < TY_BYTES_STACK && sizeof(ty_planes) < TY_BYTES_STACK,
               "the engines lie on the stack");

static void add_few(const uint8_t *p, size_t n, uint64_t out[256])
{
    const size_t pieces = (n + TY_FEW_MOST - 1) / TY_FEW_MOST;
    const size_t piece = (n / pieces + 64) & ~(size_t)63;
    for (; n > piece; p += piece, n -= piece)
        ty_few_count(p, piece, out);
    ty_few_count(p, n, out);
}

void ty_bytes_avx512(const uint8_t *p, size_t n, uint64_t out[256])
{
    if (n < TY_FEW || (n < TY_PLANES_WORTH && ty_chunk_repeats(p))) {
        ty_bytes_avx2(p, n, out);
        return;
    }
    const int periodic = n >= TY_PLANES_WORTH && ty_same_vector(p, p + 256);
    if (n <= TY_FEW_WORTH && !periodic && !ty_chunk_repeats(p)) {
        add_few(p, n, out);
        return;
    }
    ty_planes planes;
    ty_planes_begin(&planes);
    ty_planes_add(&planes, p, n);
    ty_planes_end(&planes, out);
}
