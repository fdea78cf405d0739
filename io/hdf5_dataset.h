/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5_dataset.c: an HDF5 file opened, and its dataset found; hdf5_packing.c: what its attributes
 * say of its numbers. All of it under ty_h5_lock. */
#ifndef TY_HDF5_DATASET_H
#define TY_HDF5_DATASET_H

#include "io/input.h"
#include "io/rows.h"

#if TALLY_HAVE_HDF5

#include "io/hdf5_library.h"
#include "io/shape.h"

enum { TY_H5_RANK_MOST = 32 };

/* value = zero + scale × stored, but for those stored that stand for missing. */
typedef struct ty_h5_packing {
    tally_dtype stored; /* in memory */
    double scale, zero;
    unsigned kinds; /* of missing: floats as numbers, integers as their bits */
    double missing[2];
    uint64_t bits[2];
    int is_scaled;
    int is_masked; /* samples are as stored, and a mask says which are missing */
    int is_used;   /* samples are not as stored */
} ty_h5_packing;

typedef struct ty_h5_state {
    const ty_h5 *h5; /* of the call that has the lock */
    ty_stream *stream;
    char *inside; /* the dataset's path in the file */
    hid_t file, dataset, space, transfer;
    hid_t memory; /* type that is read: a sample, or a record of the fields that are chosen */
    unsigned rank;
    hsize_t extents[TY_H5_RANK_MOST];
    uint64_t elements;                  /* of the dataset, in all */
    uint64_t element;                   /* next to read */
    size_t element_bytes, stored_bytes; /* of an element as handed out, and of `memory` */
    ty_rows rows;
    ty_picks picks;
    ty_h5_packing packing;
    unsigned char *mask;               /* of the elements read last, with packing.is_masked */
    char *names[TALLY_MAX_DIMENSIONS]; /* of the fields that are chosen */
    uint64_t start; /* of samples that lie in the file as they are handed out, else 0 */
    size_t swap;
    int inexact; /* a value was met that its type in memory has not */
} ty_h5_state;

/* An error with what libhdf5 says of the call that failed. */
tally_status ty_h5_failed(const ty_h5_state *s, const char *what, tally_error *error);
/* An error: the dataset holds `what`, which is not counted. */
tally_status ty_h5_unsupported(const ty_h5_state *s, const char *what, tally_error *error);

/* Sets `file`. libhdf5 opens files by name, which a pipe, or what is packed, gets as a copy. */
tally_status ty_h5_open_file(ty_h5_state *s, tally_error *error);
/* Sets `dataset`, and `inside` where the caller named none and there is only one. */
tally_status ty_h5_open_dataset(ty_h5_state *s, tally_error *error);
/* Sets `space`, `rank`, `extents` and `elements`. */
tally_status ty_h5_find_extents(ty_h5_state *s, tally_error *error);
/* Opens the dataset, which was created with the properties `made`, again with memory for all chunks
 * that the first dimension's next step touches, so that each is unpacked once. */
tally_status ty_h5_open_cached(ty_h5_state *s, hid_t made, tally_error *error);
/* Sets `packing` of numbers that are of `type` in the file and *dtype, the type `memory`, in
 * memory; *dtype becomes what they are handed out as. */
tally_status ty_h5_find_packing(ty_h5_state *s, hid_t type, int may_mask, tally_dtype *dtype,
                                tally_error *error);
/* Stored numbers, which lie at the end of the room for `count` samples, to these. */
tally_status ty_h5_unpack(const ty_h5_state *s, void *samples, uint64_t count, tally_error *error);

#endif
#endif
