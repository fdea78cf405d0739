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
    void *stream;                     /* of that device, or NULL for one of the library's */
} tally_part;

#define TALLY_PART_INIT                                                                            \
    {                                                                                              \
        sizeof(tally_part), 0, NULL, NULL, NULL, NULL                                              \
    }

/*
 * Counts all `count` parts into one `output`: as tally_execute of all their samples behind each
 * other, to the bit but for float weights without a weight_limit, which are added part by part. The
 * devices count at the same time, each its parts in their order. Of `options` (may be NULL)
 * progress and user are used: it is asked after parts; mask, weights and stream stand in the parts,
 * and the seconds stay NULL. A failure names the part and its device. Thread-safe as tally_execute.
 *
 * With an output in host memory the call returns when all is counted; after a failure the output is
 * as it was.
 *
 * With output->on_device the output is in the memory of part 0's device, which fetches what the
 * other devices counted and adds it: by itself where it has access to their memory, else through
 * host memory. With part 0's stream given the call only puts its work on the parts' streams, and
 * the output is there when that stream has got so far; the stream may be recording a graph, of
 * which those of all other parts, each with one then, become part. Without it the call waits.
 * OpenCL devices wait for each other by the host. TALLY_ERROR_UNSUPPORTED for what tally_execute
 * would make on the host (tally_output), and for several devices that add atomically.
 */
TALLY_API tally_status tally_execute_parts(const tally_plan *plan, const tally_part *parts,
                                           uint32_t count, const tally_execute_options *options,
                                           const tally_output *output, tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
