/* SPDX-License-Identifier: Apache-2.0 */
/* A search for order statistics on its way through a device: order.c begins and ends calls,
 * order_search.c, order_slices.c and order_digits.c are what happens on the device. */
#ifndef TY_ORDER_RUN_H
#define TY_ORDER_RUN_H

#include "gpu/call.h"
#include "gpu/kernels/order_state.h"
#include "gpu/order.h"

enum { TY_ORDER_PAIRS = ORDER_RANKS / 2 }; /* quantiles of one search */

/* The programs of a type. */
enum { TY_ORDER_ALL, TY_ORDER_EXTREMES, TY_ORDER_WEIGHTED, TY_ORDER_PROGRAMS };

/* A call under way, of groups [first, first + groups). Offsets are in words of the state. */
typedef struct ty_order_run {
    const ty_order_source *source;
    ty_device *device;
    struct ty_orders *own;
    void *program, *queue;
    ty_workspace *w;
    ty_memory state, drawn, kept;
    uint32_t group_size, key_words, width;
    uint32_t each; /* ranks of a group */
    uint64_t first, groups;
    uint64_t q, ranks, parts, found, nan, kinds, slices, words;
    int counted; /* `kinds` has been filled, by ty_order_count */
    int recording, capture_mode, entered;
} ty_order_run;

/* Begins a call by one of the programs, and ends it; `busy`: do not wait for the device. */
tally_status ty_order_begin(ty_order_run *run, tally_context *context,
                            const ty_order_source *source, int program, tally_error *error);
tally_status ty_order_end(ty_order_run *run, tally_status status, int busy, tally_error *error);
tally_status ty_order_refuse_recording(const ty_order_run *run, tally_error *error);

/* The processor's key (cpu/order.h) of a device's. */
int64_t ty_order_key(const ty_order_run *run, uint64_t word);

/* One kernel of the program. */
tally_status ty_order_launch(const ty_order_run *run, const char *kernel, uint64_t groups,
                             uint32_t local, const ty_arg *args, unsigned count,
                             tally_error *error);
#define TY_ORDER_LAUNCH(r, kernel, groups, local, args, error)                                     \
    ty_order_launch(r, kernel, groups, local, args, sizeof(args) / sizeof *(args), error)

/* Samples and mask as arguments: with `each` of all channels, else of number `channel`. Returns
 * how many. */
unsigned ty_order_grids(const ty_order_run *run, ty_arg *args, int each, uint64_t channel);
/* Groups of work-items that fill the device with so much local memory each. */
uint64_t ty_order_fill(const ty_order_run *run, uint32_t local, uint64_t tiles);

/* Words to the state from word `at` on, which the caller need not keep. */
tally_status ty_order_put(const ty_order_run *run, uint64_t at, const uint64_t *words,
                          uint32_t count, tally_error *error);
/* The groups' samples that count, and NaN, to `kinds`. */
tally_status ty_order_count(const ty_order_run *run, tally_error *error);
/* Whether all samples of a batch and channel follow each other, the first at a multiple of so many
 * bytes. */
int ty_order_is_packed(const ty_device *device, const ty_order_source *source, unsigned bytes);
/* The local memory of a work-group if `groups` of them share a compute unit. */
uint32_t ty_order_local_most(const ty_device *device, uint32_t groups);
/* Samples of the g-th group of this round, which are packed, as arguments; returns how many. */
unsigned ty_order_packed_args(const ty_order_run *run, uint64_t g, ty_arg *args);

/* By slices, all groups of this round: for few ranks of many samples, after a sieve. */
int ty_order_are_sliced(const ty_order_run *run);
tally_status ty_order_by_slices(ty_order_run *run, tally_error *error);

/* Begins the g-th group of this round, and draws keys of it and sorts them; *at gets where those
 * that are passed on begin in `drawn`, which has space for twice as many. `drawn` and `thin`: how
 * many to draw for few ranks, and of how many one is passed on. */
tally_status ty_order_draw(const ty_order_run *run, uint64_t g, uint32_t drawn, uint32_t thin,
                           uint64_t *at, tally_error *error);
void ty_order_draws(const ty_order_run *run, uint32_t *drawn, uint32_t *thin);

/* By digits, a work-group for each group of samples: for `count` groups from number g on, with
 * `lost` only the ranks that are not found yet. ty_order_by_rows does so for all groups of the
 * round. */
tally_status ty_order_by_digits(const ty_order_run *run, uint64_t g, uint64_t count, int lost,
                                tally_error *error);
tally_status ty_order_by_rows(const ty_order_run *run, tally_error *error);
/* Whether all work-groups search together by digits: for one quantile of packed samples, so few
 * that reading them once for each digit takes less time than slices. */
int ty_order_are_middle(const ty_order_run *run);
/* By digits, the g-th group of samples by all groups of work-items. */
tally_status ty_order_by_select(const ty_order_run *run, uint64_t g, tally_error *error);

/* The least and the largest key of the one group, which is packed, and the number of NaN: the first
 * words of the state. */
tally_status ty_order_extremes(ty_order_run *run, tally_error *error);
/* What ty_order_ops says. */
tally_status ty_order_weighted(tally_context *context, const ty_order_source *source, int skip_nan,
                               const double *q, uint32_t count, int64_t *keys, tally_error *error);

/* The keys of `ranks` to `found`, and the numbers of NaN. */
tally_status ty_order_search(ty_order_run *run, tally_error *error);

#endif
