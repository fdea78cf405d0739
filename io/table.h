/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of the table format. */
#ifndef TY_TABLE_H
#define TY_TABLE_H

#include "io/label.h"
#include "io/write.h"

/* Escape codes when the options ask for colour, else nothing: of the 256 that terminals share. */
void ty_table_color(ty_out *out, const tally_write_options *options, uint32_t rgb);
void ty_table_dim(ty_out *out, const tally_write_options *options);
void ty_table_bold(ty_out *out, const tally_write_options *options);
void ty_table_plain(ty_out *out, const tally_write_options *options);

/* What is in bins `first` … `end`-1 of one dimension: a word as it is shown, cut if it is long, or
 * as ty_row_label has it. */
void ty_table_label(const tally_result *r, const ty_row_style *style, uint64_t first, uint64_t end,
                    char label[TY_ROW_SIZE]);

/* How sums are written: with so many decimals; -1: scientific. */
int ty_table_decimals(double largest, int all_whole);

/* Samples of histogram `h` in no bin, one a line: "below  3  0.01%", in the columns of a table; or
 * the sum of their weights, and how many they are. `whole` is what 100 % is; 0: no shares.
 * `decimals` of sums; TY_OWN_DECIMALS: as these sums need. */
#define TY_OWN_DECIMALS (-2)
void ty_table_flows(ty_out *out, const tally_result *result, uint64_t h, double whole, int decimals,
                    size_t label_columns, size_t count_columns);

/* table_header.c: the sources, and the facts of the result, above a table. */
tally_status ty_table_header(ty_out *out, const tally_result *result,
                             const tally_write_options *options, tally_error *error);

/* table_map.c: histogram `h` of a result of two dimensions as a shaded map, the first axis from
 * left to right, the second from bottom to top. */
tally_status ty_table_map(ty_out *out, const tally_result *result, uint64_t h,
                          const tally_write_options *options, tally_error *error);

/* table_profile.c: a profile, the means drawn with their errors beside. */
tally_status ty_table_profile(ty_out *out, const tally_result *result,
                              const tally_write_options *options, tally_error *error);

/* The smallest number of neighbours to a row that leaves at most `rows` rows, or up to twice as
 * many when that divides `bins`. */
uint64_t ty_table_group(uint64_t bins, uint64_t rows);

#endif
