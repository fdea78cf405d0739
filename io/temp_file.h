/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files or none: bytes go to a temporary file in the target's folder, which takes its place
 * when all is written. Where the system has files without a name, a process that is killed leaves
 * nothing behind; elsewhere "TARGET.tmp-HEX" stays and is removed when the target is written an
 * hour later. */
#ifndef TY_TEMP_FILE_H
#define TY_TEMP_FILE_H

#include <stddef.h>
#include <tally/tally.h>

typedef struct ty_temp ty_temp;

/* Creates the temporary file for `path`. Symbolic links are followed, also to where nothing is yet;
 * what exists and is no regular file (a device, a pipe) is written directly, for it must not be
 * replaced. An older file stays readable until the commit and hands its permissions on. */
tally_status ty_temp_open(const char *path, ty_temp **temp, tally_error *error);

/* A tally_sink (`temp` is the ty_temp): 0, or an errno value. After a failure every later write
 * returns the same value and the commit fails with it. */
int ty_temp_write(void *temp, const void *bytes, size_t size);

/* Puts the file in the target's place and releases `temp`, or removes the temporary file, releases
 * `temp` and fails: either way `temp` is gone. */
tally_status ty_temp_commit(ty_temp *temp, tally_error *error);

/* Removes the temporary file and releases `temp`; NULL is fine. */
void ty_temp_discard(ty_temp *temp);

/* For tests: as on systems that have no files without a name. */
extern int ty_temp_always_named;

/* What errno value `code` means, in the C library's words, written to `text`. Thread-safe. */
const char *ty_errno_text(int code, char text[128]);

#endif
