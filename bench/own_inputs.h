/* SPDX-License-Identifier: Apache-2.0 */
/* micro_own's state, and its inputs. */
#ifndef OWN_INPUTS_H
#define OWN_INPUTS_H

#include <tally/tally.h>

#include "gpu/device.h"

enum { most_sets = 32, own_input_count = 25, own_file_inputs = own_input_count - 3 };

typedef struct bench {
    const char *name;
    tally_context *context, *host;
    ty_device *device;
    void *queue;
    ty_memory samples;
    size_t bytes, period; /* of the buffer, of what repeats in it */
    unsigned char *data;  /* one period, pinned */
    struct {
        unsigned char *bytes;
        size_t size;
    } files[3]; /* photograph, camera, book */
    int repeats, failed;
    const char *dtypes, *bins, *inputs, *methods;
    const char *sets[most_sets], *set; /* of -s; the one in use */
    int set_count;
    double lo, hi; /* -x */
    const char *axis;
    double *edges; /* of an uneven axis; NULL for an even one */
    double read_seconds;
} bench;

/* What an input is drawn from: sample number i of n, the plan's bins. Returns a place on the axis:
 * 0 its lower end, 1 its upper. */
typedef double draw(const bench *b, uint64_t i, uint64_t n, uint64_t bins);

typedef struct own_input {
    const char *name;
    draw *make;
    int by_bins; /* depends on the number of bins */
} own_input;

/* The last three are of files: the photograph, the camera's and the book. */
extern const own_input own_inputs[own_input_count];

/* Ends the program. */
void die(const char *what, const tally_error *error);

/* The axis' ends for a dtype. */
void ends(const bench *b, tally_dtype dtype, double *lo, double *hi);
/* The edges of an axis that is not even, for the number of bins. */
void make_edges(bench *b, tally_dtype dtype, uint64_t bins);
/* The samples on the device: a period of the input, repeated. */
void fill(bench *b, int input, tally_dtype dtype, uint64_t bins);
void load_photograph(bench *b, int file, const char *path);
void load_text(bench *b, int file, const char *path);

#endif
