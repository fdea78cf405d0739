/* The tables of binning/cell_lookup.h. */
#ifndef TY_GUIDE_MAKE_H
#define TY_GUIDE_MAKE_H

#include "binning/axis.h"

/* The thresholds of an axis as keys, in order; those above every key are left out. */
typedef struct ty_marks {
    int64_t *full;
    int32_t *at; /* what the table goes by: all of them, or of 64 bits those that tell them apart */
    uint32_t count;
} ty_marks;

/* Allocates and finds them, and what keys of the axis need to know (find `full` only); cleared with
 * ty_marks_clear. */
tally_status ty_marks_find(ty_axis *axis, ty_marks *m, tally_error *error);
void ty_marks_clear(ty_marks *m);

/* Edge i as a number of the axis' samples, for floats the first of a bin. */
double ty_guide_bound(const ty_axis *axis, uint32_t i);

/* What cells' keys are not below, of 4 bytes or of 8: cell 0's are never. */
void ty_guide_fill_least(const ty_axis *axis, const ty_marks *m, void *least);

/* Whether an axis is of the kind that a guide is made for; whether its keys are a float's. */
int ty_guide_serves(const ty_axis *axis);
int ty_guide_by_float(const ty_axis *axis);

/* Bytes in which a guide finds room, but for edges of which most are crowded in few places: a
 * search. */
uint64_t ty_guide_usual_bytes(const ty_axis *axis);

/* Makes the table of an axis with edges of its own for samples of its dtype, of at most `words`
 * words, as `way` (0: the fastest that fits) says. `calm`: the method's updates never meet in a
 * bank; beside them one look may, and needs no copies. Where no table fits, axis->way stays 0, and
 * edges are searched in float64. */
tally_status ty_guide_make(ty_axis *axis, uint32_t words, int calm, int way, tally_error *error);

/* Makes way TY_BY_INDEX of at most so many words; axis->way stays 0 where edges are too crowded for
 * it, and what the guide had is kept. */
tally_status ty_index_make(ty_axis *axis, const ty_marks *m, uint32_t words, tally_error *error);

/* Makes one in device memory (binning/lookup_global.c), as `way` (TY_BY_LOG …; 0: the fastest)
 * says; axis->way is left as it is where that way is none, and always where a guide is there. */
tally_status ty_far_make(ty_axis *axis, int way, tally_error *error);

#endif
