/* SPDX-License-Identifier: Apache-2.0 */
/* What the methods that read any layout share: views, weighted and weighted-packed. */
#ifndef TY_ANY_LAYOUT_H
#define TY_ANY_LAYOUT_H

#include "gpu/call.h"

extern const struct tally_parameter ty_any_layout_parameters[]; /* "threads", "ahead" */

/* A group's table, of `words` words for each slot, in local memory behind `rest` bytes for other
 * things, as many copies as two groups of a multiprocessor hold; or, where it is too large for
 * that, in global memory, one for all groups of a histogram (`copies` 0). */
typedef struct ty_any_layout {
    ty_geometry geometry;
    uint32_t copies;
} ty_any_layout;

ty_any_layout ty_any_layout_make(const tally_plan *plan, const ty_device *device, uint32_t words,
                                 uint32_t rest);
/* TY_AHEAD; TY_GLOBAL_TABLE where the tables are in global memory; TY_ANY_GROUP, the size of a
 * group.
 */
void ty_any_layout_define(const tally_plan *plan, const ty_any_layout *l, ty_defines *defines);
/* Float64 for what is not a byte. */
tally_status ty_any_layout_supports(const tally_plan *plan, tally_error *error);

/* weighted.c and weighted_packed.c: words of a partial's sums and squares, and of numbers of
 * samples in the flows behind them. */
typedef struct ty_weight_words {
    uint32_t sums, squares;
} ty_weight_words;
enum { TY_WEIGHT_FLOWS = 8 };
ty_weight_words ty_weight_words_of(const tally_plan *plan);
ty_any_layout ty_weighted_layout(const tally_plan *plan, const ty_device *device);
void ty_weighted_define(const tally_plan *plan, const ty_device *device, ty_defines *defines);
tally_status ty_weighted_supports(const tally_plan *plan, tally_error *error);
/* `other`: of another kernel that may count as well, or NULL. */
uint64_t ty_weighted_histograms(const ty_call *call, const ty_geometry *other);
/* Sums by kernels of such names, launched as `g` says; `copies` 0: in global memory. */
tally_status ty_weighted_sum(ty_call *call, const char *probe, const char *count,
                             const ty_geometry *g, uint32_t probe_size, uint32_t copies,
                             tally_error *error);

#endif
