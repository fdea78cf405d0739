/* The tables of kernels/guide.h. */
#ifndef TY_GUIDE_MAKE_H
#define TY_GUIDE_MAKE_H

#include "core/axis.h"

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

#endif
