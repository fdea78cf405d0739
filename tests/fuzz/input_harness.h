/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes read as an input: shared by the fuzz targets of the formats. */
#ifndef INPUT_HARNESS_H
#define INPUT_HARNESS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/io.h>

/* Opens `data` as a file and reads all of it twice over, touching every sample; the passes must
 * agree, and so must chunks of `other_chunk_bytes` if that is not 0. Aborts when they do not, or
 * when a failure says nothing. What claims to be larger than a few million samples is only opened.
 */
void harness_read(const uint8_t *data, size_t size, const tally_input_options *options,
                  uint64_t other_chunk_bytes);

/* Small columns of `format`, read in chunks and by the view's source in parts from the end: the
 * same samples; and counted by their dictionaries. What is of another format, or no column in a
 * file, is passed over. */
void harness_view(const uint8_t *data, size_t size, const tally_input_options *options,
                  const char *format);

/* As harness_read, without options and with a small chunk size taken from the data; for a `format`
 * that must be recognised, or not be read at all. */
void harness_format(const uint8_t *data, size_t size, const char *format);

/* The corpus folder (libFuzzer's first that is named), for LLVMFuzzerInitialize to put seeds in;
 * NULL when none is. harness_seed_path is a path in it, or NULL when the seed is there already. */
void harness_begin(int argc, char **argv);
const char *harness_seed_path(const char *name);
void harness_seed(const char *name, const void *bytes, size_t size);

/* Random bytes, always the same: seeds are made anew on every machine. */
void harness_fill(void *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
