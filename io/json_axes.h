/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the saved form, "tally/1". json_axes.c: the axes. */
#ifndef TY_JSON_AXES_H
#define TY_JSON_AXES_H

#include <tally/io.h>

#include "io/json.h"
#include "io/labels.h"
#include "io/result.h"

typedef struct ty_json_axes {
    const ty_json *json;
    uint32_t count;
    uint64_t bins; /* product over the axes */
    tally_axis axes[TALLY_MAX_DIMENSIONS];
    double *edges[TALLY_MAX_DIMENSIONS];
    uint16_t categories[TALLY_MAX_DIMENSIONS][256];
    ty_labels *labels[TALLY_MAX_DIMENSIONS]; /* NULL where an axis has none */
    tally_time times[TALLY_MAX_DIMENSIONS];
} ty_json_axes;

/* Reads the array of axes at `list` into `axes`, which is all zero before and released after, also
 * after an error. The axes point into it. */
tally_status ty_json_axes_read(const ty_json *json, size_t list, ty_json_axes *axes);
void ty_json_axes_release(ty_json_axes *axes);
/* Those of an array of texts and, with `numbers`, of numbers as they are written; ty_free them,
 * also after an error. */
tally_status ty_json_labels_read(const ty_json *json, size_t list, int numbers, ty_labels **labels);

/* json_quantiles.c: those in `summary`, or TY_JSON_NONE, of histogram h; in order, from 0. */
tally_status ty_json_quantiles_read(const ty_json *json, size_t summary, tally_result *result,
                                    uint64_t h);
/* json_profile.c: whether the statistics of one histogram of a profile are there, `time` too if
 * they are times, and as many as there are bins; then what they are. `found` has where
 * "statistics", "flow_statistics" and "time" are. */
enum { TY_JSON_STATISTICS, TY_JSON_FLOW_STATISTICS, TY_JSON_TIME, TY_JSON_PROFILE_KEYS };
tally_status ty_json_profile_check(const ty_json *json, size_t histogram, const size_t *found,
                                   uint64_t bins, tally_time *time);
tally_status ty_json_profile_read(const ty_json *json, const size_t *found, tally_result *result,
                                  uint64_t h);

#endif
