/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One histogram of samples that lie in several places: the chunks of a column, or a share on each
 * of several devices. Part of libtally.
 */
#ifndef TALLY_PARTS_H
#define TALLY_PARTS_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Some of a call's samples. */
typedef struct tally_part {
    size_t struct_size;
    /* Who counts it: a number in the list of `devices` that the plan's context was made from ("*"
     * stands for all of a kind, in their order); 0 for a context of one device. */
    uint32_t device;
    /* As for tally_execute: in host memory, or in the memory of that device. Every part has the
     * same number of batches, and of channels; its rows and columns are its own. Without a source.
     */
    const tally_view *views;
    const tally_view *mask, *weights; /* NULL, or as in tally_execute_options */
    void *stream;                     /* of that device, or NULL */
} tally_part;

#define TALLY_PART_INIT                                                                            \
    {                                                                                              \
        sizeof(tally_part), 0, NULL, NULL, NULL, NULL                                              \
    }

/*
 * Counts all `count` parts into one `output` in host memory: as tally_execute of all their samples
 * behind each other, to the bit but for float weights without a weight_limit, which are added part
 * by part. The devices count at the same time, each its parts in their order; the call returns when
 * all are done. Of `options` (may be NULL) progress and user are used: it is asked after parts;
 * mask, weights and stream stand in the parts, and the seconds stay NULL. No parts: all counts are
 * 0. On failure, which names the part and its device, the output is as it was. Thread-safe as
 * tally_execute.
 */
TALLY_API tally_status tally_execute_parts(const tally_plan *plan, const tally_part *parts,
                                           uint32_t count, const tally_execute_options *options,
                                           const tally_output *output, tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
