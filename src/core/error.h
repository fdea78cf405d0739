/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a caller's tally_error. */
#ifndef TY_ERROR_H
#define TY_ERROR_H

#include <tally/tally.h>

/* Formats the message into `error` (if not NULL; cut at its size) and returns `status`, so that
 * `return ty_error(error, TALLY_ERROR_ARGUMENT, "bins is 0; …");` reads as one statement. */
__attribute__((format(printf, 3, 4))) tally_status ty_error(tally_error *error, tally_status status,
                                                            const char *format, ...);

/* "out of memory: N bytes for WHAT" */
tally_status ty_error_memory(tally_error *error, const char *what, uint64_t bytes);

#ifdef __clang_analyzer__ /* which cannot see that neither returns TALLY_OK */
#define ty_error(error, status, ...) ((void)(ty_error)(error, status, __VA_ARGS__), (status))
#define ty_error_memory(error, what, bytes)                                                        \
    ((void)(ty_error_memory)(error, what, bytes), TALLY_ERROR_MEMORY)
#endif

/* Puts "PREFIX: " before the message that is there. */
void ty_error_prefix(tally_error *error, const char *prefix);

#endif
