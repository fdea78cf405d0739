/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text decoder, bytes to views: one JSON line a shape, in MB of text a second.
 *
 *     micro_text [seed]
 *
 * The stream is a block of memory, so that only the decoder is timed; opening, which finds the
 * layout, included. "number_mbps" is ty_number_parse alone on the same bytes where a line is one
 * number.
 */
#include "io/number.h"
#include "micro.h"
#include "tests/common/memory_text.h"

#include <stdlib.h>
#include <time.h>

#define BYTES  ((size_t)16 << 20)
#define PASSES 7

static const struct {
    const char *name, *format; /* the format of one field */
    int fields;
    const char *delimiter, *end;
    const char *columns[3];
    uint32_t columns_count;
} shapes[] = {
    {"%.0f a line", "%.0f", 1, "", "\n", {NULL}, 0},
    {"%.6f a line", "%.6f", 1, "", "\n", {NULL}, 0},
    {"%.6f a line, CR LF", "%.6f", 1, "", "\r\n", {NULL}, 0},
    {"%.17g a line", "%.17g", 1, "", "\n", {NULL}, 0},
    {"%.6f, 1 of 1 columns quoted", "\"%.6f\"", 1, "", "\n", {NULL}, 0},
    {"%.6f, column 2 of 3, CSV", "%.6f", 3, ",", "\n", {"2"}, 1},
    {"%.6f, 3 of 3 columns, CSV", "%.6f", 3, ",", "\n", {"1", "2", "3"}, 3},
    {"%.6f, column 2 of 20, CSV", "%.6f", 20, ",", "\n", {"2"}, 1},
    {"%.6f, column 2 of 3, spaces", "%.6f", 3, "  ", "\n", {"2"}, 1},
};

static void stop(const char *what)
{
    fprintf(stderr, "micro_text: %s\n", what);
    exit(1);
}

/* Samples of all views together. */
static uint64_t decode(const char *text, size_t size, const tally_input_options *options)
{
    ty_stream stream = {.bytes = text, .size = size};
    tally_input_info info = {.struct_size = sizeof info};
    tally_error error;
    tally_view views[3];
    void *decoder;
    uint64_t count = 0;
    if (ty_text.open(&stream, options, &decoder, &info, &error))
        stop(error.message);
    for (int done = 0; !done;) {
        if (ty_text.read(decoder, views, &done, &error))
            stop(error.message);
        if (!done)
            count += views[0].columns * info.dimensions;
    }
    ty_text.close(decoder);
    return count;
}

static double parse_only(const char *text, size_t size)
{
    const char *p = text, *end = text + size;
    volatile double x;
    double value = 0, start = now();
    while (p && p < end) {
        p = ty_number_parse(p, end, &value);
        p = p ? p + 1 : NULL;
    }
    x = value;
    (void)x;
    return p ? now() - start : 0;
}

int main(int argc, char **argv)
{
    random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    char *text = malloc(BYTES + 4096);
    if (!text)
        stop("out of memory");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t size = 0;
        while (size < BYTES) {
            for (int f = 0; f < shapes[s].fields; f++) {
                size += (size_t)sprintf(text + size, "%s", f ? shapes[s].delimiter : "");
                size +=
                    (size_t)sprintf(text + size, shapes[s].format, (random_unit() - 0.2) * 1000);
            }
            size += (size_t)sprintf(text + size, "%s", shapes[s].end);
        }
        tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
        options.columns = shapes[s].columns;
        options.columns_count = shapes[s].columns_count;
        double best = 1e9, alone = 1e9;
        uint64_t samples = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            double start = now();
            samples = decode(text, size, &options);
            double seconds = now() - start, other = parse_only(text, size);
            best = seconds < best ? seconds : best;
            alone = other < alone ? other : alone;
        }
        printf("{\"bench\":\"text\",\"data\":\"%s\",\"bytes\":%zu,\"samples\":%" PRIu64
               ",\"mbps\":%.0f,\"ns\":%.2f",
               shapes[s].name, size, samples, (double)size / best / 1e6,
               best * 1e9 / (double)samples);
        if (alone > 0)
            printf(",\"number_mbps\":%.0f", (double)size / alone / 1e6);
        printf("}\n");
    }
    free(text);
    return 0;
}
