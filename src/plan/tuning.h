/* SPDX-License-Identifier: Apache-2.0 */
/* A device's table of speeds on disk: measured by tally_tune, read when a context is made. */
#ifndef TY_TUNING_H
#define TY_TUNING_H

#include "plan/cost.h"
#include "plan/plan.h"

/* Sets context->tuning (ty_free): what was measured on this device, else its architecture's
 * defaults, the note saying why. */
tally_status ty_tuning_open(tally_context *context, tally_error *error);

/* The file that keeps what was measured on the context's device; its folder is made. */
tally_status ty_tuning_path(const tally_context *context, char *path, size_t size,
                            tally_error *error);
/* Writes it. */
tally_status ty_tuning_save(const tally_context *context, const ty_tuning *tuning, const char *path,
                            tally_error *error);

#endif
