/* SPDX-License-Identifier: Apache-2.0 */
/* The methods, one row each. */
#ifndef TY_REGISTRY_H
#define TY_REGISTRY_H

#include <tally/tally.h>

/* Bits of a method's devices. */
#define TY_ON_CPU    1u
#define TY_ON_OPENCL 2u
#define TY_ON_CUDA   4u

typedef struct ty_method {
    const char *name;
    const char *source; /* "000" … "004", or "tally" */
    const char *summary;
    uint32_t devices;
    uint32_t dtypes; /* bit 1 << dtype */
    uint64_t bins_min, bins_max;
    const tally_parameter *parameters; /* ended by a NULL key; NULL for none */
    /* TALLY_OK when the plan (its axes resolved, this its method, its settings checked) can run;
     * else the reason in `error`, with TALLY_ERROR_UNSUPPORTED. NULL: whatever dtypes and bins
     * allow. */
    tally_status (*supports)(const tally_plan *plan, tally_error *error);
    /* Expected seconds for the plan's n_hint samples, for `auto`; *why gets a few words. NULL: only
     * by name. */
    double (*cost)(const tally_plan *plan, const char **why);
    const void *backend; /* the backend's own description: ty_cpu_method, a kernel … */
} ty_method;

extern const ty_method *const ty_methods[]; /* NULL at the end */

const ty_method *ty_method_find(const char *name);

/* Whether `method` serves the plan: device, dtypes, bins, settings (which a method that has none of
 * such a name or value refuses with TALLY_ERROR_ARGUMENT), then its own supports(); and what it is
 * then expected to cost. The plan's own method is the same afterwards. */
tally_status ty_method_supports(const ty_method *method, tally_plan *plan, tally_error *error);
double ty_method_cost(const ty_method *method, tally_plan *plan, const char **why);

/* The value of the plan's method's parameter `key`: its setting, or the standard value. */
int64_t ty_method_parameter(const tally_plan *plan, const char *key);

#endif
