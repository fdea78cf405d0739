/* SPDX-License-Identifier: Apache-2.0 */
/* The text decoder on any bytes: it ends, its messages are sound; chunks of any size, parts of any
 * size, a second reading and reading record by record, as regions are, give the same. The first
 * byte chooses columns, region and chunk size. */
#define FIRST_CAPACITY 512
#define THREAD_BYTES   256
#define MARGIN         100
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/memory_text.h"

static ty_pool *pool; /* threads that read a file; NULL: one reads a pipe */

/* From now on parts are of so many bytes, and read from a file; 0: from a pipe. */
static void read_parts(size_t bytes)
{
    static ty_pool *threads;
    if (!threads)
        threads = ty_pool_create(2);
    pool = bytes ? threads : NULL;
    ty_block_part_size(bytes);
}

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Everything the decoder hands out, boiled down. */
typedef struct digest {
    tally_status status;
    uint64_t count, hash;
} digest;

static digest read_all(void *state, uint32_t views_count, uint64_t most)
{
    digest d = {TALLY_OK, 0, 0};
    tally_error error;
    for (;;) {
        tally_view views[4];
        int done = 0;
        memset(&error, 0, sizeof error);
        d.status = ty_text.read(state, views, &done, &error);
        need(!d.status || strncmp(error.message, "a.csv:", 6) == 0, "a message without a place");
        if (d.status || done)
            return d;
        need(views[0].columns > 0 && views[0].columns <= most, "a chunk's size");
        for (uint64_t i = 0; i < views[0].columns; i++) {
            for (uint32_t v = 0; v < views_count; v++) {
                uint64_t bits;
                memcpy(&bits, (const double *)views[v].data + i, sizeof bits);
                d.hash = d.hash * UINT64_C(0x9e3779b97f4a7c15) + bits;
            }
        }
        d.count += views[0].columns;
    }
}

static int same(digest a, digest b)
{
    /* before a failure as much is handed out as whole chunks held */
    return a.status == b.status && (a.status || (a.count == b.count && a.hash == b.hash));
}

static digest run(const char *text, size_t size, const tally_input_options *options)
{
    ty_stream stream = {.bytes = text, .size = size, .pool = pool, .is_file = pool != NULL};
    tally_input_info info = {.struct_size = sizeof info};
    tally_error error = {""};
    void *state = NULL;
    digest d = {ty_text.open(&stream, options, &state, &info, &error), 0, 0};
    if (d.status) {
        need(strncmp(error.message, "a.csv:", 6) == 0, "a message without the file");
        return d;
    }
    need(info.dimensions == (options->columns_count ? options->columns_count : 1), "views");
    uint64_t chunk = options->chunk_bytes / 8 / info.dimensions;
    chunk = chunk ? chunk : 1;
    d = read_all(state, info.dimensions, chunk);
    stream.at = 0;
    need(ty_text.rewind(state, &error) == TALLY_OK, "rewind");
    need(same(d, read_all(state, info.dimensions, chunk)), "a second reading differs");
    ty_text.close(state);
    return d;
}

/* A sample of a column of words stands for its bytes, as codes are in the order of threads and
 * parts. */
static uint64_t word_bits(const tally_words *words, double code)
{
    uint64_t bits = 0;
    size_t size;
    if (!words || code != code) {
        memcpy(&bits, &code, sizeof bits);
        return bits;
    }
    const char *text = ty_words_bytes(words, (uint64_t)code, &size);
    for (size_t i = 0; i < size; i++)
        bits = bits * 31 + (unsigned char)text[i] + 1;
    return bits;
}

/* All columns of a table, or those of `options` as words, in parts of a size. */
static digest run_words(const char *text, size_t size, const tally_input_options *options,
                        size_t part)
{
    ty_stream stream = {.bytes = text, .size = size, .pool = pool, .is_file = pool != NULL};
    tally_input_info info = {.struct_size = sizeof info};
    tally_words *words[4] = {NULL};
    tally_input_options wanted = *options;
    tally_error error = {""};
    void *state = NULL;
    for (int i = 0; i < 4; i++)
        need(tally_words_create(&words[i], NULL) == TALLY_OK, "words");
    wanted.words = words;
    read_parts(part);
    digest d = {ty_text.open(&stream, &wanted, &state, &info, &error), 0, 0};
    tally_view *views = calloc(info.dimensions + 1, sizeof *views);
    need(views != NULL, "memory");
    for (int done = 0; !d.status && !done;) {
        d.status = ty_text.read(state, views, &done, &error);
        for (uint64_t i = 0; !d.status && !done && i < views[0].columns; i++) {
            for (uint32_t v = 0; v < info.dimensions; v++) {
                const double code = ((const double *)views[v].data)[i];
                d.hash = d.hash * UINT64_C(0x9e3779b97f4a7c15) +
                         word_bits(ty_text.words(state, v), code);
            }
            d.count++;
        }
    }
    need(!d.status || strncmp(error.message, "a.csv:", 6) == 0, "a message without the file");
    if (state)
        ty_text.close(state);
    for (int i = 0; i < 4; i++)
        tally_words_destroy(words[i]);
    free(views);
    read_parts(0);
    return d;
}

static void check_words(const char *text, size_t size, tally_input_options options)
{
    const size_t small = 1 + size % 53;
    options.rewindable = 0;
    options.all_words = (int)(size & 1);
    need(same(run_words(text, size, &options, 0), run_words(text, size, &options, small)),
         "words of small parts differ");
    options.columns_count = 0;
    options.whole_table = 1;
    need(same(run_words(text, size, &options, 0), run_words(text, size, &options, small)),
         "a whole table in small parts differs");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    static const char *const columns[] = {"2", "a", "1", "2"};
    unsigned choice = data[0];
    char *text = malloc(size); /* just as long as the text, plus one for an empty one */
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = columns + (choice & 1);
    options.columns_count = choice >> 1 & 3;
    options.row_begin = choice >> 3 & 3;
    options.row_end = choice >> 5 & 1 ? options.row_begin + 2 : 0;
    options.chunk_bytes = 8192;
    ty_text.probe(data + 1, size - 1);
    digest whole = run(text, size - 1, &options);
    options.chunk_bytes = 1 + (choice >> 6) * 20;
    need(same(whole, run(text, size - 1, &options)), "small chunks differ");
    options.rewindable = 1;
    read_parts(1 + size % 61);
    need(same(whole, run(text, size - 1, &options)), "small parts differ");
    read_parts(0);
    if (!whole.status && whole.count && !options.row_begin && !options.row_end) {
        options.row_end = whole.count;
        digest rows = run(text, size - 1, &options);
        /* Numbers on one line are no rows. */
        int in_line = !options.columns_count && rows.status == TALLY_ERROR_ARGUMENT;
        need(in_line || same(whole, rows), "record by record it differs");
    }
    options.row_begin = options.row_end = 0;
    check_words(text, size - 1, options);
    free(text);
    return 0;
}
