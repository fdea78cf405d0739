/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of each format: called by write.c with checked arguments. */
#ifndef TY_WRITE_H
#define TY_WRITE_H

#include "io/result.h"
#include "io/print.h"

/* Each puts one whole result; ty_out_end is left to the caller. `options` has its defaults filled
 * in. */
void ty_write_json(ty_out *out, const tally_result *result);
void ty_write_csv(ty_out *out, const tally_result *result, const tally_write_options *options);
void ty_write_npy(ty_out *out, const tally_result *result);
tally_status ty_write_table(ty_out *out, const tally_result *result,
                            const tally_write_options *options, tally_error *error);
/* PNG or SVG. */
tally_status ty_write_picture(ty_out *out, const tally_result *result, tally_format format,
                              const tally_write_options *options, tally_error *error);

/* `options` becomes `from`, or the defaults where that is NULL. */
tally_status ty_write_options(const tally_write_options *from, tally_write_options *options,
                              tally_error *error);

/* "photo.png", "a.png and 2 more", "" — the sources in a few words; released by ty_free, NULL when
 * memory is out. */
char *ty_write_sources(const tally_result *result);

/* Text from outside: a name in CSV, a string of JSON. */
void ty_put_csv_name(ty_out *out, const char *name);
void ty_put_json_string(ty_out *out, const char *text);

/* Count `i` (histogram × bins + bin) exactly: an integer, or the shortest decimal of a sum. */
void ty_put_count(ty_out *out, const tally_result *result, uint64_t i);

#endif
