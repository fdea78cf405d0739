/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory is left on this machine. Linux lends more than there is and ends a program that
 * uses it; what is large is asked for here first. */
#ifndef TY_MEMORY_H
#define TY_MEMORY_H

#include <stdint.h>
#include <tally/tally.h>

/* Bytes that the system can still give: of the machine, and of every control group that the process
 * is in (version 1 and 2). UINT64_MAX where nothing says. `root` is in front of /proc and /sys: ""
 * but in tests. */
uint64_t ty_memory_available(const char *root);

/* TALLY_ERROR_MEMORY, saying both numbers and what to ask for (NULL: fewer bins), if so many bytes
 * are more than is available. Less than 64 MiB are not looked at. */
tally_status ty_memory_check(uint64_t bytes, const char *what, const char *instead,
                             tally_error *error);

#endif
