/* SPDX-License-Identifier: Apache-2.0 */
/* Files made, read back through tally_input and compared: shared by the input tests. */
#ifndef INPUT_HELP_H
#define INPUT_HELP_H

#include <stddef.h>
#include <stdint.h>
#include <tally/io.h>

#include "check.h"

/* Prints the seed (argv[1], or the clock) and makes an empty folder; help_end removes it, prints
 * the verdict and returns what main is to return. */
void help_begin(int argc, char **argv);
int help_end(void);

uint64_t help_random(void);
uint64_t help_below(uint64_t n);
void help_fill(void *bytes, size_t size);

typedef struct blob {
    unsigned char *bytes;
    size_t size, room; /* room: 0 of bytes that blob_add did not make */
} blob;

void blob_add(blob *b, const void *bytes, size_t size);
void blob_text(blob *b, const char *text);
void blob_free(blob *b);

/* A path inside the folder; overwritten by the fourth next call. */
const char *help_path(const char *name);
const char *help_write(const char *name, const void *bytes, size_t size);
blob help_load(const char *path);
/* Number of files in the folder. */
int help_files(void);

blob help_gzip(const void *bytes, size_t size);
blob help_zstd(const void *bytes, size_t size);

/* Reads all samples, packed, through `passes` passes that must agree; releases nothing on failure
 * but leaves nothing open. */
typedef struct contents {
    tally_input_info info;
    char names[4][8];
    blob samples;
    unsigned chunks;
} contents;

tally_status help_read(const char *path, const tally_input_options *options, int passes,
                       contents *out, tally_error *error);
/* The same with the file's bytes coming through a pipe on standard input. */
tally_status help_read_piped(const void *bytes, size_t size, const tally_input_options *options,
                             int passes, contents *out, tally_error *error);

/* Reading must fail with `status` and a message that contains `words`. */
#define EXPECT_FAIL(path, options, status, words)                                                  \
    help_expect_fail((path), (options), (status), (words), __FILE__, __LINE__)
void help_expect_fail(const char *path, const tally_input_options *options, tally_status status,
                      const char *words, const char *file, int line);

/* The region of `samples` (rows × columns of `pixel` bytes each), packed. */
blob help_crop(const blob *samples, uint64_t columns, size_t pixel, uint64_t row_begin,
               uint64_t row_end, uint64_t column_begin, uint64_t column_end);

/* Opens and reads `path` twice over with every allocation failing in turn: each time it either
 * succeeds or says that memory is out. */
void help_starve(const char *path, const tally_input_options *options);

/* Every beginning of `file`, from `least` bytes to all but `spare` (or some hundred of them), must
 * be refused. */
void help_cut_everywhere(const char *name, const blob *file, size_t least, size_t spare,
                         const tally_input_options *options);

/* Random damage: any verdict will do, but none may crash. */
void help_damage(const char *name, const blob *file, const tally_input_options *options, int times);

/* Reads the image at `path` in full and in a random region with small chunks, from the file and
 * from a pipe: it must have this shape, these names and samples. */
void help_check_image(const char *path, const char *format, const blob *samples, tally_dtype dtype,
                      uint64_t rows, uint64_t columns, unsigned channels, const char *names);

#endif
