/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a peer of the benchmark is to tally-bench: a shared object in the folder bench/peers
 * next to the program that exports tally_bench_peers. Made from bench/peers/ where a library is
 * installed.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_kind {
    BENCH_EVEN,    /* `bins` even bins from lo to hi */
    BENCH_EDGES,   /* edges[0 … bins] */
    BENCH_EVEN_2D, /* x and y, `bins` even bins each, x outermost */
    BENCH_WEIGHTS  /* even, sums of `weights` */
} bench_kind;

typedef enum bench_dtype { BENCH_U8, BENCH_F32, BENCH_F64 } bench_dtype;

/* One problem. Everything belongs to the caller and outlives the peer's state. */
typedef struct bench_problem {
    bench_kind kind;
    bench_dtype dtype; /* of x and y; weights are f64, edges too */
    uint64_t n;
    uint64_t bins; /* of one axis */
    double lo, hi;
    const double *edges;
    const void *x, *y;
    const double *weights;
} bench_problem;

/* A call by which a peer counts. */
typedef struct bench_peer {
    const char *name;    /* "opencv" */
    const char *call;    /* "calcHist" */
    const char *version; /* "4.6.0" */
    /* Makes what the peer keeps between calls and puts it into *state, or returns the reason (a
     * static string) why it does not take the problem. */
    const char *(*start)(const bench_problem *problem, void **state);
    /* Counts once, from nothing: what is timed. 0, or nonzero on failure. */
    int (*count)(void *state);
    /* Writes the bins (bins × bins in two dimensions) of the last count. */
    void (*counts)(void *state, double *counts);
    void (*end)(void *state);
} bench_peer;

/* The one symbol: an array of peers that lives as long as the object is loaded. */
typedef const bench_peer *(*bench_peers_fn)(size_t *count);
#define BENCH_PEERS_SYMBOL "tally_bench_peers"

#ifdef __cplusplus
}
#endif

#endif
