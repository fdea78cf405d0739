/* The methods, one row each. */
#ifndef TY_REGISTRY_H
#define TY_REGISTRY_H

#include <tally/tally.h>

/* A setting that `--set KEY=VALUE` may change: a whole number within limits. */
typedef struct ty_parameter {
    const char *key;
    int64_t least, most, standard;
    const char *help;
} ty_parameter;

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
    const ty_parameter *parameters; /* ended by a NULL key; NULL for none */
    /* TALLY_OK when the plan (axes resolved, method not set yet) can run; else the reason in
     * `error`, with TALLY_ERROR_UNSUPPORTED. NULL: whatever dtypes and bins allow. */
    tally_status (*supports)(const tally_plan *plan, tally_error *error);
    /* Expected seconds for the plan's n_hint samples, for `auto`; *why gets a few words. NULL: only
     * by name. */
    double (*cost)(const tally_plan *plan, const char **why);
    const void *backend; /* the backend's own description: ty_cpu_method, a kernel … */
} ty_method;

extern const ty_method *const ty_methods[]; /* NULL at the end */

const ty_method *ty_method_find(const char *name);

/* Whether `method` serves the plan: device, dtypes, bins, then its own supports(). */
tally_status ty_method_supports(const ty_method *method, const tally_plan *plan,
                                tally_error *error);

/* The value of `key` for a plan of this method: its setting, or the standard value. */
int64_t ty_method_parameter(const tally_plan *plan, const char *key);
/* The same by a table of parameters, for supports(), where the plan has no method yet. */
int64_t ty_parameter_value(const tally_plan *plan, const ty_parameter *parameters, const char *key);

#endif
