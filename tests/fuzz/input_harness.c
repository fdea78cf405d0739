/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "input_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SAMPLES = 4 << 20, MOST_CHUNKS = 20000, MOST_VIEWS = 4096 };

static char folder[512];

typedef struct pass {
    tally_status status;
    uint64_t bytes, hash;
    int cut; /* stopped by our own limits */
} pass;

static void hash_view(pass *p, const tally_view *v)
{
    size_t size = tally_dtype_bytes(v->dtype);
    int64_t channel = v->channel_stride_bytes ? v->channel_stride_bytes : (int64_t)size;
    int64_t column =
        v->column_stride_bytes ? v->column_stride_bytes : channel * (int64_t)v->channels;
    int64_t row = v->row_stride_bytes ? v->row_stride_bytes : column * (int64_t)v->columns;
    for (uint64_t y = 0; y < v->rows; y++) {
        for (uint64_t x = 0; x < v->columns; x++) {
            const unsigned char *at =
                (const unsigned char *)v->data + (int64_t)y * row + (int64_t)x * column;
            for (uint64_t i = 0; i < v->channels * size; i++)
                p->hash = (p->hash ^ at[i]) * UINT64_C(0x100000001b3);
        }
    }
    p->bytes += v->rows * v->columns * v->channels * size;
}

static pass read_pass(tally_input *in)
{
    pass p = {TALLY_OK, 0, UINT64_C(0xcbf29ce484222325), 0};
    static tally_view views[MOST_VIEWS];
    tally_error error = {""};
    for (unsigned chunks = 0;; chunks++) {
        int done = 0;
        p.status = tally_input_read(in, views, &done, &error);
        if (p.status && !error.message[0])
            abort();
        if (p.status || done)
            return p;
        p.cut = chunks == MOST_CHUNKS || p.bytes > MOST_SAMPLES * 8;
        if (p.cut)
            return p;
        hash_view(&p, &views[0]);
    }
}

/* A heading is as long as it is in the file; a byte that is no UTF-8 becomes three. */
static pass open_and_read(const char *path, size_t size, const tally_input_options *options)
{
    pass first = {TALLY_OK, 0, 0, 1}, second;
    tally_input *in = NULL;
    tally_error error = {""};
    tally_input_info info = {.struct_size = sizeof info};
    first.status = tally_input_open(path, options, &in, &error);
    if (first.status) {
        if (!error.message[0] || in)
            abort();
        return first;
    }
    if (tally_input_info_get(in, &info))
        abort();
    for (uint64_t c = 0; c < info.channels && c < 100; c++) {
        const char *name = tally_input_channel_name(in, c);
        if (name && strlen(name) > 3 * size + 100)
            abort();
    }
    if (!info.is_image ||
        (double)info.rows * (double)info.columns * (double)info.channels <= MOST_SAMPLES) {
        first = read_pass(in);
        if (tally_input_rewind(in, &error))
            second.status = TALLY_ERROR_IO; /* a damaged header was refused on opening */
        else
            second = read_pass(in);
        /* How much came before a failure depends on how far ahead was read. */
        if (second.status != first.status ||
            (!first.status &&
             (second.cut != first.cut || second.bytes != first.bytes || second.hash != first.hash)))
            abort();
    }
    tally_input_close(in);
    return first;
}

/* A path that has `data`. */
static const char *put(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

void harness_read(const uint8_t *data, size_t size, const tally_input_options *options,
                  uint64_t other_chunk_bytes)
{
    const char *path = put(data, size);
    pass one = open_and_read(path, size, options);
    if (!other_chunk_bytes || one.cut || one.status)
        return;
    tally_input_options o = *options;
    o.chunk_bytes = other_chunk_bytes;
    pass other = open_and_read(path, size, &o);
    if (!other.cut && (other.status || other.bytes != one.bytes || other.hash != one.hash))
        abort();
}

/* All samples of an input of at most `most` of them, in chunks; how many, or `most` + 1. */
static uint64_t read_all(tally_input *in, unsigned char *into, uint64_t most)
{
    tally_view views[TALLY_MAX_DIMENSIONS];
    uint64_t count = 0;
    for (int done = 0;;) {
        if (tally_input_read(in, views, &done, NULL))
            return most + 1;
        if (done)
            return count;
        const size_t bytes = tally_dtype_bytes(views[0].dtype);
        if (count + views[0].columns > most)
            return most + 1;
        memcpy(into + count * bytes, views[0].data, views[0].columns * bytes);
        count += views[0].columns;
    }
}

/* The samples' counts in some bins: those of dictionaries, if there are any, or of all samples. */
static void check_counts(tally_input *in, const void *samples, tally_dtype dtype, uint64_t count)
{
    enum { BINS = 7 };
    static tally_context *context;
    tally_context_options one = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options wanted = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    uint64_t counts[2][BINS] = {{0}};
    tally_flows flows[2] = {{0, 0, 0, 0}};
    tally_output outputs[2] = {TALLY_OUTPUT_INIT, TALLY_OUTPUT_INIT};
    const tally_view view = tally_view_1d(samples, dtype, count);
    int32_t counted = 0;
    one.device = TALLY_DEVICE_CPU;
    one.threads = 1;
    wanted.axes[0] = tally_axis_even(BINS, -3, 60);
    wanted.dtypes[0] = dtype;
    if ((!context && tally_context_create(&one, &context, NULL)) ||
        tally_plan_create(context, &wanted, &plan, NULL))
        abort();
    for (int i = 0; i < 2; i++) {
        outputs[i].counts = counts[i];
        outputs[i].flows = flows + i;
        outputs[i].accumulate = TALLY_ACCUMULATE_ADD;
    }
    if (tally_input_count(in, plan, outputs, &counted, NULL))
        abort();
    if (counted && (tally_execute(plan, &view, NULL, outputs + 1, NULL) ||
                    memcmp(counts[0], counts[1], sizeof counts[0]) != 0 ||
                    memcmp(flows, flows + 1, sizeof *flows) != 0))
        abort();
    tally_plan_destroy(plan);
}

void harness_view(const uint8_t *data, size_t size, const tally_input_options *options,
                  const char *format)
{
    enum { MOST = 1 << 14, PART = 13 };
    static unsigned char whole[MOST * 8], part[PART * 8];
    tally_view views[TALLY_MAX_DIMENSIONS];
    tally_input *in = NULL;
    tally_input_info info = TALLY_INPUT_INFO_INIT;
    if (tally_input_open(put(data, size), options, &in, NULL))
        return;
    tally_input_info_get(in, &info);
    const uint64_t count = strcmp(info.format, format) ? MOST + 1 : read_all(in, whole, MOST);
    if (count > MOST || tally_input_view(in, views, NULL) || !views[0].source ||
        views[0].rows != 1 || views[0].channels != 1) {
        tally_input_close(in);
        return;
    }
    if (views[0].columns != count)
        abort();
    const size_t bytes = tally_dtype_bytes(views[0].dtype);
    for (uint64_t end = count, n; end; end -= n) {
        n = end < PART ? end : PART;
        tally_error error = {""};
        if (views[0].source->read(views[0].source->user, end - n, n, part, &error) ||
            memcmp(part, whole + (end - n) * bytes, n * bytes) != 0)
            abort();
    }
    check_counts(in, whole, views[0].dtype, count);
    tally_input_close(in);
}

static const char *recognised(const uint8_t *data, size_t size)
{
    if (size < 6)
        return "";
    if (!memcmp(data, "\x89PNG", 4))
        return "png";
    if (!memcmp(data, "\xff\xd8\xff", 3))
        return "jpeg";
    if (!memcmp(data, "II", 2) || !memcmp(data, "MM", 2))
        return "tiff";
    if (!memcmp(data, "\x93NUMPY", 6))
        return "npy";
    if (!memcmp(data, "GIF8", 4))
        return "gif";
    if (!memcmp(data, "BM", 2))
        return "bmp";
    if (size >= 12 && !memcmp(data, "RIFF", 4) && !memcmp(data + 8, "WEBP", 4))
        return "webp";
    return data[0] == 'P' && data[1] >= '1' && data[1] <= '7' ? "pnm" : "";
}

void harness_format(const uint8_t *data, size_t size, const char *format)
{
    if (strcmp(recognised(data, size), format) != 0)
        return;
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    unsigned last = data[size - 1];
    if (last & 1) {
        o.row_begin = last >> 1 & 3;
        o.column_begin = last >> 3 & 3;
        o.column_end = last >> 5 ? o.column_begin + (last >> 5) : 0;
    }
    harness_read(data, size, &o, 64 + last);
}

void harness_begin(int argc, char **argv)
{
    struct stat about;
    for (int i = 1; i < argc && !folder[0]; i++)
        if (argv[i][0] != '-' && !stat(argv[i], &about) && S_ISDIR(about.st_mode))
            snprintf(folder, sizeof folder, "%s", argv[i]);
}

const char *harness_seed_path(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/seed-%s", folder, name);
    return folder[0] && access(path, F_OK) != 0 ? path : NULL;
}

void harness_seed(const char *name, const void *bytes, size_t size)
{
    const char *path = harness_seed_path(name);
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (f) {
        fwrite(bytes, 1, size, f);
        fclose(f);
    }
}

void harness_fill(void *bytes, size_t size)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        ((unsigned char *)bytes)[i] = (unsigned char)(state >> 24);
    }
}
