/* SPDX-License-Identifier: Apache-2.0 */
/* A public axis, checked and resolved for one dtype: what the backends bin by. */
#ifndef TY_AXIS_H
#define TY_AXIS_H

#include <tally/tally.h>

#include "binning/cell.h"
#include "binning/cell_lookup.h"

/* More would need slots wider than 32 bits and tables that no machine holds. */
#define TY_MAX_BINS UINT64_C(2147483648)

struct ty_buckets;

/* Of nearly even axes (edge_error): one sample in 1024 may be so near an edge that it is compared
 * with it. */
#define TY_NEARLY_EVEN_MOST_ERROR 0x1p-11
#define TY_NEARLY_EVEN_MOST_BINS  (1u << 20)

/* Which arithmetic of cell.h is proven for an axis. */
typedef enum ty_proof {
    TY_UNPROVEN,
    TY_PROVEN_F32,   /* binning/float32.h */
    TY_PROVEN_AFFINE /* binning/affine.h */
} ty_proof;

/* The affine map of samples to cells of an even axis, slope * x + start in float64, truncated. */
typedef struct ty_affine {
    double slope, start;
    int32_t least;   /* a negative sample's bits are taken for at least these, as an integer */
    float end, last; /* a sample equal to end counts as last; end is NaN when there is none */
    int proven;      /* right for every sample; if 0, the others mean nothing */
} ty_affine;

typedef struct ty_axis {
    tally_axis about; /* as asked; its edges and categories point to the copies below or are NULL */
    tally_dtype dtype;
    ty_bins bins;
    int even;          /* slots by arithmetic; else by the table `edges` */
    double *edges;     /* bins+1, owned; NULL when even */
    double edge_error; /* nearly even: edges are at most so many bins off those of an even axis with
                          the same ends, whose width and inverse `bins` has; 0: not nearly even, or
                          even */
    double rounding;   /* float32: the same, up to a quarter of a bin (binning/float32.h); else 0 */
    uint16_t *categories;       /* 256, owned; CATEGORY only */
    uint32_t *byte_slots;       /* 256, owned: the slot of each bit pattern; one-byte dtypes only */
    struct ty_buckets *buckets; /* the processor's index of `edges`, its own; or NULL */
    ty_affine affine; /* for the processor's loops, and made by them (cpu/even_affine.h) */
    ty_cell_map map;  /* for kernels that count cells; filled when such a plan is made */
    ty_proof proof;
    int lookup_kind; /* TY_LOOKUP_…, by which kernels find cells; 0: they do not */
    int positive;    /* … with keys of positive numbers only */
    ty_lookup lookup;
    uint32_t *lookup_words; /* its table, owned */
} ty_axis;

/* What an axis says of itself, less its tables: time does not grow with the bins. `which` is the
 * axis' number in messages. */
tally_status ty_axis_check(const tally_axis *axis, unsigned which, tally_error *error);

/* Checks `axis` and resolves it for samples of `dtype` (0: edges only). On failure nothing is
 * owned. */
tally_status ty_axis_resolve(const tally_axis *axis, tally_dtype dtype, unsigned which,
                             ty_axis *resolved, tally_error *error);
/* The same for the axis' own bins: without those of TALLY_FLOW_BIN, which is then a policy that is
 * none. */
tally_status ty_axis_resolve_bins(const tally_axis *axis, tally_dtype dtype, unsigned which,
                                  ty_axis *resolved, tally_error *error);
/* Whether a policy of the axis is TALLY_FLOW_BIN; of what ty_axis_resolve made, none is. */
int ty_axis_has_flow_bins(const tally_axis *axis);
void ty_axis_clear(ty_axis *axis);

/* Edge i, 0 … bins, as the specification computes it. */
double ty_axis_edge(const ty_axis *axis, uint64_t i);

#endif
