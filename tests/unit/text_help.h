/* SPDX-License-Identifier: Apache-2.0 */
/* All that the text decoder reads of a text in memory, for the tests of the decoder. */
#ifndef TEXT_HELP_H
#define TEXT_HELP_H

#define THREAD_BYTES ((size_t)256 << 10) /* as large as the first buffer, BUFFER */
#include "check.h"
#include "memory_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (256 << 10) /* the decoder's first buffer */

typedef struct table {
    tally_status status;
    tally_error error;
    uint32_t views;
    size_t count; /* samples of each view */
    double *samples[8];
    char names[8][64];
} table;

static inline void table_free(table *t)
{
    for (uint32_t v = 0; v < t->views; v++)
        free(t->samples[v]);
}

static inline void append(table *t, const tally_view *views, uint64_t most)
{
    uint64_t n = views[0].columns;
    CHECK_SAY(n > 0 && n <= most, "a chunk of %" PRIu64 ", at most %" PRIu64, n, most);
    for (uint32_t v = 0; v < t->views; v++) {
        CHECK_SAY(views[v].dtype == TALLY_F64 && views[v].rows == 1 && views[v].columns == n &&
                      views[v].channels == 1 && views[v].batches == 1 &&
                      views[v].struct_size == sizeof *views,
                  "view %u", v);
        t->samples[v] = realloc(t->samples[v], (t->count + n) * sizeof(double));
        if (!t->samples[v])
            abort();
        memcpy(t->samples[v] + t->count, views[v].data, n * sizeof(double));
    }
    t->count += n;
}

static inline tally_status read_all(void *decoder, table *t, uint64_t chunk_bytes)
{
    uint64_t most = (chunk_bytes ? chunk_bytes : 4 << 20) / 8 / t->views;
    t->count = 0;
    for (int done = 0;;) {
        tally_view views[8];
        tally_status status = ty_text.read(decoder, views, &done, &t->error);
        if (status || done)
            return status;
        append(t, views, most ? most : 1);
    }
}

/* Reads `text` to its end, rewinds and reads it again, which must give the same. */
static inline table read_bytes(const char *text, size_t size, const tally_input_options *options)
{
    table t = {.views = 0};
    char *copy = malloc(size ? size : 1); /* just as long, for the sanitizer */
    if (!copy)
        abort();
    memcpy(copy, text, size);
    ty_stream stream = {.bytes = copy, .size = size};
    tally_input_info info = {.struct_size = sizeof info};
    tally_input_options none = TALLY_INPUT_OPTIONS_INIT;
    void *decoder = NULL;
    options = options ? options : &none;
    t.status = ty_text.open(&stream, options, &decoder, &info, &t.error);
    if (!t.status) {
        CHECK_SAY(info.dtype == TALLY_F64 && info.rows == 0 && info.channels == 1 && !info.is_image,
                  "info");
        t.views = info.dimensions;
        for (uint32_t v = 0; v < t.views; v++) {
            const char *name = ty_text.channel_name(decoder, v);
            snprintf(t.names[v], sizeof t.names[v], "%s", name ? name : "(none)");
        }
        CHECK_SAY(!ty_text.channel_name(decoder, t.views), "a name past the last");
        t.status = read_all(decoder, &t, options->chunk_bytes);
        size_t count = t.count;
        double *first = t.samples[0];
        stream.at = 0;
        t.samples[0] = NULL;
        tally_status status = ty_text.rewind(decoder, &t.error);
        if (!status)
            status = read_all(decoder, &t, options->chunk_bytes);
        CHECK_SAY(status == t.status && t.count == count, "rewound: %zu, was %zu", t.count, count);
        CHECK_SAY(!count || memcmp(first, t.samples[0], count * sizeof *first) == 0, "rewound");
        free(first);
        ty_text.close(decoder);
    }
    free(copy);
    return t;
}

static inline int same(double a, double b)
{
    return a == b || (a != a && b != b);
}

#endif
