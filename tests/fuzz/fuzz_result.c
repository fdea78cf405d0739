/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever text tally_result_parse accepts is written and read back as an equal result, and can be
 * shown. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/io.h>

typedef struct kept {
    char *bytes;
    size_t size, room;
} kept;

static int keep(void *user, const void *bytes, size_t size)
{
    kept *k = user;
    if (k->size + size > k->room) {
        k->room = (k->size + size) * 2;
        k->bytes = realloc(k->bytes, k->room);
        if (!k->bytes)
            abort();
    }
    memcpy(k->bytes + k->size, bytes, size);
    k->size += size;
    return 0;
}

static kept as_json(const tally_result *result)
{
    kept k = {0};
    if (tally_result_write(&result, 1, TALLY_FORMAT_JSON, NULL, keep, &k, NULL))
        abort();
    return k;
}

static int drop(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

/* The other formats that need nothing else: they must end, and not fail. */
static void show(const tally_result *result, size_t size)
{
    tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
    size_t written = 0;
    options.width = 1 + (uint32_t)(size % 150);
    options.max_rows = 1 + (uint32_t)(size % 50);
    options.color = size & 1;
    options.ascii = size >> 1 & 1;
    const int profile = tally_profile_column(result) != NULL;
    options.log_counts = !profile && (size >> 2 & 1);
    options.statistics = profile ? (uint32_t)size & 255 : 0;
    for (int format = TALLY_FORMAT_TABLE; format <= TALLY_FORMAT_NPY; format++)
        if (format != TALLY_FORMAT_JSON && !(profile && format == TALLY_FORMAT_NPY) &&
            tally_result_write(&result, 1, (tally_format)format, &options, drop, &written, NULL))
            abort();
}

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "written and read back: %s differ\n", what);
    abort();
}

static void compare(const tally_result *a, const tally_result *b)
{
    tally_result_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    need(!tally_result_info_get(a, &x) && !tally_result_info_get(b, &y), "infos");
    need(x.kind == y.kind && x.dimensions == y.dimensions && x.histograms == y.histograms &&
             x.bins == y.bins && x.samples == y.samples && x.dtype == y.dtype &&
             x.seconds == y.seconds && x.counter == y.counter && x.has_squares == y.has_squares &&
             x.sources == y.sources && x.sources_total == y.sources_total,
         "shapes");
    need(strcmp(x.device, y.device) == 0 && strcmp(x.method, y.method) == 0, "notes");
    for (uint64_t h = 0; h < x.histograms; h++) {
        need(memcmp(tally_result_counts(a, h), tally_result_counts(b, h), x.bins * 8) == 0,
             "counts");
        need(memcmp(tally_result_flows(a, h), tally_result_flows(b, h), sizeof(tally_flows)) == 0,
             "flows");
        need(strcmp(tally_result_name(a, h), tally_result_name(b, h)) == 0, "names");
    }
    for (uint32_t d = 0; d < x.dimensions; d++) {
        const tally_axis *p = tally_result_axis(a, d), *q = tally_result_axis(b, d);
        need(p->bins == q->bins && p->kind == q->kind && p->last == q->last, "axes");
        for (uint64_t i = 0; i <= p->bins; i++)
            need(tally_axis_edge(p, i) == tally_axis_edge(q, i), "edges");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tally_result *first = NULL, *second = NULL;
    tally_error error = {""};
    tally_status status = tally_result_parse((const char *)data, size, "fuzz", 0, &first, &error);
    if (status) {
        need(error.message[0] != '\0' &&
                 (status == TALLY_ERROR_FORMAT || status == TALLY_ERROR_ARGUMENT),
             "an error's message or kind");
        return 0;
    }
    show(first, size);
    kept text = as_json(first);
    if (tally_result_parse(text.bytes, text.size, "written", 0, &second, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    compare(first, second);
    kept again = as_json(second);
    need(text.size == again.size && memcmp(text.bytes, again.bytes, text.size) == 0, "texts");
    free(text.bytes);
    free(again.bytes);
    tally_result_destroy(first);
    tally_result_destroy(second);
    return 0;
}
