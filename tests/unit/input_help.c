/* SPDX-License-Identifier: Apache-2.0 */
#include "input_help.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif

#include "core/alloc.h"
#include "../../common/splitmix.h"

static char folder[64];
static uint64_t state;

void help_begin(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10)
                             : (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    state = seed;
    signal(SIGPIPE, SIG_IGN); /* a refused pipe is not read to its end */
    /* Thousands of small files: in memory where that is possible. */
    snprintf(folder, sizeof folder, "/dev/shm/tally-test-XXXXXX");
    if (!mkdtemp(folder) && !mkdtemp(strcpy(folder, "/tmp/tally-test-XXXXXX"))) {
        perror("mkdtemp");
        exit(1);
    }
}

int help_end(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(folder);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

uint64_t help_random(void)
{
    return splitmix64(&state);
}

uint64_t help_below(uint64_t n)
{
    return help_random() % n;
}

void help_fill(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(help_random() >> 20);
}

void blob_add(blob *b, const void *bytes, size_t size)
{
    if (b->size + size >= b->room) {
        b->room = 2 * (b->size + size) + 1;
        b->bytes = realloc(b->bytes, b->room);
    }
    if (!b->bytes)
        abort();
    if (size)
        memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

void blob_text(blob *b, const char *text)
{
    blob_add(b, text, strlen(text));
}

void blob_free(blob *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}

const char *help_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *help_write(const char *name, const void *bytes, size_t size)
{
    const char *path = help_path(name);
    FILE *f = fopen(path, "wb");
    if (!f || (size && fwrite(bytes, 1, size, f) != size) || fclose(f)) {
        perror(path);
        exit(1);
    }
    return path;
}

blob help_load(const char *path)
{
    blob b = {0};
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof block, f));)
        blob_add(&b, block, got);
    fclose(f);
    return b;
}

int help_files(void)
{
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

blob help_gzip(const void *bytes, size_t size)
{
    blob out = {0};
#if TALLY_HAVE_ZLIB
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    size_t room = deflateBound(&z, size) + 64;
    out.bytes = malloc(room);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    z.next_out = out.bytes;
    z.avail_out = (uInt)room;
    if (!out.bytes || deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    out.size = z.total_out;
    deflateEnd(&z);
#else
    (void)bytes, (void)size;
#endif
    return out;
}

blob help_zstd(const void *bytes, size_t size)
{
    blob out = {0};
#if TALLY_HAVE_ZSTD
    size_t room = ZSTD_compressBound(size);
    out.bytes = malloc(room);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    if (!out.bytes || !c)
        abort();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    out.size = ZSTD_compress2(c, out.bytes, room, bytes, size);
    if (ZSTD_isError(out.size))
        abort();
    ZSTD_freeCCtx(c);
#else
    (void)bytes, (void)size;
#endif
    return out;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static void add_view(blob *b, const tally_view *v)
{
    size_t size = tally_dtype_bytes(v->dtype);
    int64_t channel = v->channel_stride_bytes ? v->channel_stride_bytes : (int64_t)size;
    int64_t column =
        v->column_stride_bytes ? v->column_stride_bytes : channel * (int64_t)v->channels;
    int64_t row = v->row_stride_bytes ? v->row_stride_bytes : column * (int64_t)v->columns;
    for (uint64_t y = 0; y < v->rows; y++) {
        const unsigned char *from = (const unsigned char *)v->data + (int64_t)y * row;
        if (channel == (int64_t)size && column == channel * (int64_t)v->channels) {
            blob_add(b, from, (size_t)(v->columns * v->channels) * size);
            continue;
        }
        for (uint64_t x = 0; x < v->columns; x++)
            for (uint64_t c = 0; c < v->channels; c++)
                blob_add(b, from + (int64_t)x * column + (int64_t)c * channel, size);
    }
}

static tally_status read_pass(tally_input *in, blob *samples, unsigned *chunks, tally_error *error)
{
    tally_view views[TALLY_MAX_DIMENSIONS];
    for (int done = 0;;) {
        tally_status status = tally_input_read(in, views, &done, error);
        if (status || done)
            return status;
        CHECK(views[0].struct_size == sizeof views[0] && views[0].rows * views[0].columns > 0);
        add_view(samples, &views[0]);
        ++*chunks;
    }
}

tally_status help_read(const char *path, const tally_input_options *options, int passes,
                       contents *out, tally_error *error)
{
    tally_input *in = NULL;
    memset(out, 0, sizeof *out);
    tally_status status = tally_input_open(path, options, &in, error);
    if (status) {
        CHECK(in == NULL);
        return status;
    }
    status = read_pass(in, &out->samples, &out->chunks, error);
    for (int pass = 1; pass < passes && !status; pass++) {
        blob again = {0};
        unsigned chunks = 0;
        status = tally_input_rewind(in, error);
        if (!status)
            status = read_pass(in, &again, &chunks, error);
        CHECK_SAY(status || (again.size == out->samples.size &&
                             (!again.size || !memcmp(again.bytes, out->samples.bytes, again.size))),
                  "pass %d of %s", pass, path);
        blob_free(&again);
    }
    if (!status) {
        tally_view view;
        int done = 0;
        CHECK(tally_input_read(in, &view, &done, NULL) == TALLY_OK && done);
    }
    out->info.struct_size = sizeof out->info;
    CHECK(tally_input_info_get(in, &out->info) == TALLY_OK);
    for (uint64_t c = 0; c < 4; c++) {
        const char *name = tally_input_channel_name(in, c);
        snprintf(out->names[c], sizeof out->names[c], "%s", name ? name : "");
    }
    if (!status && out->info.size_bytes && !out->info.compression[0])
        CHECK(tally_input_position(in) <= out->info.size_bytes);
    tally_input_close(in);
    if (status)
        blob_free(&out->samples);
    return status;
}

typedef struct feed {
    int file;
    const unsigned char *bytes;
    size_t size;
} feed;

static void *feed_pipe(void *user)
{
    feed *f = user;
    while (f->size) {
        ssize_t put = write(f->file, f->bytes, f->size > 7777 ? 7777 : f->size);
        if (put <= 0)
            break;
        f->bytes += put;
        f->size -= (size_t)put;
    }
    close(f->file);
    return NULL;
}

tally_status help_read_piped(const void *bytes, size_t size, const tally_input_options *options,
                             int passes, contents *out, tally_error *error)
{
    int ends[2], old = dup(STDIN_FILENO);
    pthread_t thread;
    if (pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0)
        abort();
    close(ends[0]);
    feed f = {ends[1], bytes, size};
    if (pthread_create(&thread, NULL, feed_pipe, &f))
        abort();
    tally_status status = help_read("-", options, passes, out, error);
    if (old >= 0) {
        dup2(old, STDIN_FILENO); /* closes the reading end: the feeder cannot hang */
        close(old);
    } else {
        close(STDIN_FILENO);
    }
    pthread_join(thread, NULL);
    return status;
}

void help_expect_fail(const char *path, const tally_input_options *options, tally_status status,
                      const char *words, const char *file, int line)
{
    contents c;
    tally_error error = {""};
    tally_status got = help_read(path, options, 1, &c, &error);
    check_that(got == status && strstr(error.message, words) != NULL, words, file, line,
               "status %d (%s), not %d", (int)got, got ? error.message : "no message", (int)status);
    if (!got)
        blob_free(&c.samples);
}

blob help_crop(const blob *samples, uint64_t columns, size_t pixel, uint64_t row_begin,
               uint64_t row_end, uint64_t column_begin, uint64_t column_end)
{
    blob out = {0};
    for (uint64_t y = row_begin; y < row_end; y++)
        blob_add(&out, samples->bytes + (y * columns + column_begin) * pixel,
                 (size_t)(column_end - column_begin) * pixel);
    return out;
}

void help_starve(const char *path, const tally_input_options *options)
{
    for (long after = 0; after < 10000; after++) {
        contents c;
        tally_error error = {""};
        ty_alloc_fail_after(after);
        tally_status status = help_read(path, options, 2, &c, &error);
        ty_alloc_fail_after(-1);
        if (!status) {
            CHECK(after > 1);
            blob_free(&c.samples);
            return;
        }
        if (!CHECK_SAY(status == TALLY_ERROR_MEMORY && strstr(error.message, "memory"),
                       "%s: allocation %ld: status %d, %s", path, after, (int)status,
                       error.message))
            return;
    }
    CHECK(!"memory never sufficed");
}

void help_cut_everywhere(const char *name, const blob *file, size_t least, size_t spare,
                         const tally_input_options *options)
{
    size_t step = file->size / 300 + 1;
    for (size_t size = least; size + spare < file->size; size += 1 + help_below(step)) {
        const char *path = help_write(name, file->bytes, size);
        contents c;
        tally_error error = {""};
        tally_status status = help_read(path, options, 1, &c, &error);
        CHECK_SAY(status == TALLY_ERROR_FORMAT || status == TALLY_ERROR_ARGUMENT,
                  "%s cut to %zu of %zu bytes: status %d %s", name, size, file->size, (int)status,
                  error.message);
        CHECK(!status || strstr(error.message, name));
        blob_free(&c.samples);
    }
}

void help_damage(const char *name, const blob *file, const tally_input_options *options, int times)
{
    unsigned char *copy = malloc(file->size);
    if (!copy)
        abort();
    for (int i = 0; i < times; i++) {
        memcpy(copy, file->bytes, file->size);
        for (uint64_t n = 1 + help_below(4); n; n--)
            copy[help_below(file->size)] = (unsigned char)help_random();
        const char *path = help_write(name, copy, file->size);
        contents c;
        tally_error error = {""};
        tally_status status = help_read(path, options, 1, &c, &error);
        CHECK_SAY(!status || error.message[0], "%s: no message for %d", name, (int)status);
        blob_free(&c.samples);
    }
    free(copy);
}

void help_check_image(const char *path, const char *format, const blob *samples, tally_dtype dtype,
                      uint64_t rows, uint64_t columns, unsigned channels, const char *names)
{
    size_t pixel = channels * tally_dtype_bytes(dtype);
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    for (int i = 0; i < 3; i++) {
        contents c;
        tally_error error = {""};
        tally_status status;
        if (i) {
            o.chunk_bytes = 1 + help_below(3 * columns * pixel);
            o.row_begin = help_below(rows);
            o.row_end = o.row_begin + 1 + help_below(rows - o.row_begin);
            o.column_begin = help_below(columns);
            o.column_end = o.column_begin + 1 + help_below(columns - o.column_begin);
        }
        if (i == 2) {
            blob file = help_load(path);
            o.rewindable = 1;
            status = help_read_piped(file.bytes, file.size, &o, 2, &c, &error);
            blob_free(&file);
        } else {
            status = help_read(path, &o, 3, &c, &error);
        }
        blob want = help_crop(samples, columns, pixel, o.row_begin, i ? o.row_end : rows,
                              o.column_begin, i ? o.column_end : columns);
        CHECK_SAY(!status && c.samples.size == want.size &&
                      !memcmp(c.samples.bytes, want.bytes, want.size),
                  "%s %llux%llux%u %s: %s", format, (unsigned long long)rows,
                  (unsigned long long)columns, channels, tally_dtype_name(dtype), error.message);
        if (!status) {
            char all[64] = "";
            for (int n = 0; n < 4; n++)
                strcat(all, c.names[n]);
            CHECK_SAY(!strcmp(all, names), "%s, not %s", all, names);
            CHECK(!strcmp(c.info.format, format) && c.info.dtype == dtype && c.info.is_image &&
                  c.info.channels == channels && c.info.dimensions == 1);
            CHECK(c.info.rows * c.info.columns * pixel == want.size);
        }
        blob_free(&c.samples);
        blob_free(&want);
    }
    o = (tally_input_options)TALLY_INPUT_OPTIONS_INIT;
    o.column_end = columns + 1;
    char words[64];
    snprintf(words, sizeof words, "columns 0:%llu is empty or outside its 0:%llu",
             (unsigned long long)columns + 1, (unsigned long long)columns);
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, words);
}
