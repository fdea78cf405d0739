/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives, as npz files are: one of the files in them as a stream. */
#ifndef TY_ZIP_H
#define TY_ZIP_H

#include "io/origin.h"
#include "io/seekable.h"

int ty_zip_probe(const unsigned char *head, size_t size);

/* The file called `inside` in the archive that `stream` is, also without ".npy"; NULL: the only
 * one. `archive` keeps its bytes: after a failure, too, it is to be closed, behind `member`. */
tally_status ty_zip_open(ty_stream *stream, const char *inside, ty_seekable *archive,
                         ty_stream **member, tally_error *error);

#endif
