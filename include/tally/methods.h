/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods of counting: what there is, what each may be set to, and which is fastest on a
 * device. Part of libtally.
 */
#ifndef TALLY_METHODS_H
#define TALLY_METHODS_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a tally_setting may change. `standard`: its value without one; help: a few words. */
typedef struct tally_parameter {
    const char *key;
    int64_t least, most, standard;
    const char *help;
} tally_parameter;

typedef struct tally_method_info {
    size_t struct_size;
    const char *name;
    const char *source;  /* the text it comes from ("000" … "004") or "tally" */
    const char *summary; /* one line */
    const char *devices; /* "cpu", "opencl cuda" … */
    const char *dtypes;  /* space-separated names */
    uint64_t bins_min, bins_max;
    const tally_parameter *parameters; /* ended by one whose key is NULL; never NULL itself */
} tally_method_info;

#define TALLY_METHOD_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(tally_method_info), NULL, NULL, NULL, NULL, NULL, 0, 0, NULL                        \
    }

/* Thread-safe. What `info` points at is the library's and stays. */
TALLY_API uint32_t tally_method_count(void);
TALLY_API tally_status tally_method_get(uint32_t i, tally_method_info *info, tally_error *error);

/* Measures how fast each method that `auto` may choose is on the context's device, which takes
 * seconds to minutes, and keeps it as text in the user's cache folder (docs/AUTO.md). Contexts
 * opened on that device from then on choose by it. `path` gets the file's name. `progress` may be
 * NULL; nonzero cancels: TALLY_ERROR_CANCELLED, and an older file stays. */
TALLY_API tally_status tally_tune(tally_context *context,
                                  int (*progress)(void *user, uint64_t done, uint64_t total),
                                  void *user, char path[1024], tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
