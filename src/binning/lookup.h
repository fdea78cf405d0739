/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of binning/cell_lookup.h. */
#ifndef TY_LOOKUP_H
#define TY_LOOKUP_H

#include "binning/axis.h"

/* The thresholds of an axis as keys, in order; those above every key are left out. */
typedef struct ty_thresholds {
    int64_t *full;
    int32_t *at; /* what the table goes by: all of them, or of 64 bits those that tell them apart */
    uint32_t count;
} ty_thresholds;

/* Allocates and finds them, and what keys of the axis need to know (find `full` only); cleared with
 * ty_thresholds_clear. */
tally_status ty_thresholds_find(ty_axis *axis, ty_thresholds *m, tally_error *error);
void ty_thresholds_clear(ty_thresholds *m);

/* Edge i as a number of the axis' samples, for floats the first of a bin. */
double ty_lookup_bound(const ty_axis *axis, uint32_t i);

/* What cells' keys are not below, of 4 bytes or of 8: cell 0's are never. */
void ty_lookup_fill_least(const ty_axis *axis, const ty_thresholds *m, void *least);

/* Whether an axis is of the kind that tables are made for; whether its keys are a float's. */
int ty_lookup_serves(const ty_axis *axis);
int ty_lookup_by_float(const ty_axis *axis);

/* Bytes that a table in local memory takes at most, but for edges of which most are crowded in few
 * places: a search. */
uint64_t ty_lookup_usual_bytes(const ty_axis *axis);

/* Makes the table of an axis with edges of its own for samples of its dtype, of at most `words`
 * words, of a kind in local memory (0: the fastest that fits). `calm`: the method's updates never
 * meet in a bank; one read of a table between them may, and needs no copies. Where no table fits,
 * axis->lookup_kind stays 0, and edges are searched in float64. */
tally_status ty_lookup_make(ty_axis *axis, uint32_t words, int calm, int kind, tally_error *error);

/* Makes one of kind TY_LOOKUP_INDEX of at most so many words; where edges are too crowded for it,
 * axis->lookup_kind stays 0 and what axis->lookup had is kept. */
tally_status ty_lookup_index_make(ty_axis *axis, const ty_thresholds *m, uint32_t words,
                                  tally_error *error);

/* Makes one in global memory (binning/lookup_global.c), of a kind from TY_LOOKUP_LOG on (0: the
 * fastest). axis->lookup_kind is left as it is where edges allow none of that kind, and where there
 * is a table already. */
tally_status ty_lookup_global_make(ty_axis *axis, int kind, tally_error *error);

#endif
