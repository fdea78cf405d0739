/* SPDX-License-Identifier: Apache-2.0 */
/* Images and other files written whole or not at all. */
#include "input_help.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/temp_file.h"

static tally_view view_of(const void *data, tally_dtype dtype, uint64_t rows, uint64_t columns,
                          uint64_t channels)
{
    tally_view v = TALLY_VIEW_INIT;
    v.data = data;
    v.dtype = dtype;
    v.rows = rows;
    v.columns = columns;
    v.channels = channels;
    return v;
}

/* Random strides of either sign over random bytes, saved and read back. */
static void test_round_trip(void)
{
    static const struct {
        const char *name, *format;
        unsigned channels; /* bit c-1: c channels can be written */
    } kinds[] = {
        {"a.png", "png", 15}, {"b.PGM", "pnm", 1}, {"c.ppm", "pnm", 4}, {"d.pam", "pnm", 15}};
    for (int i = 0; i < 200; i++) {
        size_t kind = help_below(4);
        if (!TALLY_HAVE_PNG && kind == 0)
            continue;
        tally_dtype dtype = help_below(2) ? TALLY_U8 : TALLY_U16;
        int64_t size = (int64_t)tally_dtype_bytes(dtype);
        uint64_t rows = 1 + help_below(30), columns = 1 + help_below(30),
                 channels = 1 + help_below(4);
        blob data = {malloc(40000), 40000, 0}, want = {0};
        help_fill(data.bytes, data.size);
        tally_view v = view_of(data.bytes + 20001, dtype, rows, columns, channels);
        int64_t layout = (int64_t)help_below(4), pixel = (int64_t)channels * size;
        int64_t step = layout > 1 ? pixel + 1 : pixel, row = (int64_t)columns * step + 3 * layout;
        if (layout == 3) { /* upside down, right to left, channels backwards */
            v.channel_stride_bytes = -size;
            step = -step;
            row = -row;
        }
        if (layout >= 1)
            v.row_stride_bytes = row;
        if (layout >= 2)
            v.column_stride_bytes = step;
        int64_t channel = v.channel_stride_bytes ? v.channel_stride_bytes : size;
        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < columns; x++)
                for (uint64_t c = 0; c < channels; c++)
                    blob_add(&want,
                             (const unsigned char *)v.data + (int64_t)y * row + (int64_t)x * step +
                                 (int64_t)c * channel,
                             (size_t)size);
        const char *path = help_path(kinds[kind].name);
        tally_error error = {""};
        tally_status status = tally_image_save(path, &v, &error);
        if (!(kinds[kind].channels >> (channels - 1) & 1)) {
            CHECK(status == TALLY_ERROR_ARGUMENT && strstr(error.message, ".pgm takes 1"));
        } else if (CHECK_SAY(!status, "%s", error.message)) {
            contents c;
            CHECK_SAY(!help_read(path, NULL, 1, &c, &error), "%s", error.message);
            CHECK(c.samples.size == want.size && !memcmp(c.samples.bytes, want.bytes, want.size));
            CHECK(c.info.rows == rows && c.info.columns == columns && c.info.channels == channels &&
                  c.info.dtype == dtype && !strcmp(c.info.format, kinds[kind].format));
            blob_free(&c.samples);
            unlink(path);
        }
        blob_free(&data);
        blob_free(&want);
    }
    CHECK(help_files() == 0);
}

static void refuse(const char *path, const tally_view *v, tally_status status, const char *words)
{
    tally_error error = {""};
    tally_status got = tally_image_save(path, v, &error);
    CHECK_SAY(got == status && strstr(error.message, words), "%d %s (%s)", (int)got, error.message,
              words);
}

static void test_refusals(void)
{
    unsigned char bytes[64] = {0};
    tally_view v = view_of(bytes, TALLY_U8, 2, 2, 1);
    refuse("/x/y.jpg", &v, TALLY_ERROR_ARGUMENT, ".png, .pgm, .ppm or .pam");
    refuse(".png", &v, TALLY_ERROR_ARGUMENT, ".png, .pgm, .ppm or .pam");
    refuse("/absent/y.pgm", &v, TALLY_ERROR_IO, "/absent/y.pgm: cannot be written: No such file");
    refuse(NULL, &v, TALLY_ERROR_ARGUMENT, "path is NULL");
    refuse("a.pgm", NULL, TALLY_ERROR_ARGUMENT, "image is NULL");
    v.dtype = TALLY_F32;
    refuse("a.pgm", &v, TALLY_ERROR_ARGUMENT, "f32 samples; u8 and u16");
    v.dtype = TALLY_U8;
    v.channels = 5;
    refuse("a.pam", &v, TALLY_ERROR_ARGUMENT, "5 channels");
    v.channels = 1;
    v.rows = 0;
    refuse("a.pam", &v, TALLY_ERROR_ARGUMENT, "0 rows");
    v.rows = 2;
    v.device = TALLY_DEVICE_CUDA;
    refuse("a.pam", &v, TALLY_ERROR_ARGUMENT, "host memory");
    v.device = TALLY_DEVICE_CPU;
    char folder[300];
    snprintf(folder, sizeof folder, "%s", help_path("folder.pgm"));
    CHECK(mkdir(folder, 0700) == 0);
    refuse(folder, &v, TALLY_ERROR_IO, "directory");
    CHECK(rmdir(folder) == 0 && help_files() == 0);
}

/* An older file stays, permissions are handed on, links are followed, nothing is left. */
static void test_replacing(void)
{
    unsigned char bytes[64];
    help_fill(bytes, sizeof bytes);
    tally_view v = view_of(bytes, TALLY_U8, 8, 8, 1);
    char path[300], link_path[300];
    snprintf(path, sizeof path, "%s", help_write("old.pgm", "older", 5));
    snprintf(link_path, sizeof link_path, "%s", help_path("link.pgm"));
    CHECK(chmod(path, 0640) == 0 && symlink("old.pgm", link_path) == 0);
    CHECK(tally_image_save(link_path, &v, NULL) == TALLY_OK);
    struct stat about;
    CHECK(lstat(link_path, &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0640 && about.st_size == 11 + 64);
    CHECK(help_files() == 2);

    mode_t old_mask = umask(027);
    const char *fresh = help_path("fresh.pgm");
    CHECK(tally_image_save(fresh, &v, NULL) == TALLY_OK);
    CHECK(stat(fresh, &about) == 0 && (about.st_mode & 0777) == 0640);
    umask(old_mask);
    unlink(fresh);

    ty_temp *t = NULL;
    CHECK(ty_temp_open(path, &t, NULL) == TALLY_OK && ty_temp_write(t, "x", 1) == 0);
    ty_temp_discard(t);
    ty_temp_discard(NULL);
    CHECK(help_files() == 2 && stat(path, &about) == 0 && about.st_size == 11 + 64);
    unlink(link_path);
    unlink(path);
}

/* Devices are written, not replaced; a full one is an error. */
static void test_devices(void)
{
    struct stat before, after;
    ty_temp *t = NULL;
    tally_error error = {""};
    CHECK(stat("/dev/null", &before) == 0);
    CHECK(ty_temp_open("/dev/null", &t, NULL) == TALLY_OK && ty_temp_write(t, "abc", 3) == 0);
    CHECK(ty_temp_commit(t, NULL) == TALLY_OK);
    CHECK(stat("/dev/null", &after) == 0 && S_ISCHR(after.st_mode) &&
          before.st_ino == after.st_ino);
    if (access("/dev/full", W_OK) != 0) {
        printf("/dev/full: skipped: not here\n");
        return;
    }
    char *block = calloc(1, 100000);
    CHECK(ty_temp_open("/dev/full", &t, NULL) == TALLY_OK);
    CHECK(ty_temp_write(t, block, 100000) == ENOSPC && ty_temp_write(t, block, 1) == ENOSPC);
    CHECK(ty_temp_commit(t, &error) == TALLY_ERROR_IO && strstr(error.message, "No space left"));
    CHECK(ty_temp_open("/dev/full", &t, NULL) == TALLY_OK && ty_temp_write(t, block, 10) == 0);
    CHECK(ty_temp_commit(t, &error) == TALLY_ERROR_IO && strstr(error.message, "No space left"));
    free(block);
}

/* A disk that fills up on the way, in a child whose files may not grow past 20000 bytes. */
static void test_full_disk(const char *name)
{
    size_t size = 200 * 1000;
    unsigned char *bytes = malloc(size);
    help_fill(bytes, size);
    tally_view v = view_of(bytes, TALLY_U8, 200, 1000, 1);
    char path[300];
    snprintf(path, sizeof path, "%s", help_write(name, "older", 5));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {20000, 20000};
        tally_error error = {""};
        signal(SIGXFSZ, SIG_IGN);
        int good = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                   tally_image_save(path, &v, &error) == TALLY_ERROR_IO &&
                   strstr(error.message, "File too large") && strstr(error.message, name);
        if (!good)
            printf("full disk: %s\n", error.message);
        fflush(stdout);
        _exit(good ? 0 : 1);
    }
    int result = 1;
    CHECK(child > 0 && waitpid(child, &result, 0) == child && result == 0);
    blob now = help_load(path);
    CHECK(now.size == 5 && !memcmp(now.bytes, "older", 5) && help_files() == 1);
    blob_free(&now);
    unlink(path);
    free(bytes);
}

static void test_starved(const char *name)
{
    unsigned char bytes[300];
    help_fill(bytes, sizeof bytes);
    tally_view v = view_of(bytes, TALLY_U8, 10, 10, 3);
    const char *path = help_path(name);
    for (long after = 0; after < 1000; after++) {
        tally_error error = {""};
        ty_alloc_fail_after(after);
        tally_status status = tally_image_save(path, &v, &error);
        ty_alloc_fail_after(-1);
        if (!status) {
            CHECK(after > 2 && help_files() == 1);
            unlink(path);
            return;
        }
        CHECK_SAY(status == TALLY_ERROR_MEMORY && strstr(error.message, "memory"), "%ld: %d %s",
                  after, (int)status, error.message);
        CHECK(help_files() == 0);
    }
    CHECK(!"memory never sufficed");
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_round_trip();
    test_refusals();
    test_replacing();
    test_devices();
    test_full_disk("full.pgm");
    test_starved("starved.ppm");
#if TALLY_HAVE_PNG
    test_full_disk("full.png");
    test_starved("starved.png");
#else
    unsigned char byte = 0;
    tally_view v = view_of(&byte, TALLY_U8, 1, 1, 1);
    refuse(help_path("a.png"), &v, TALLY_ERROR_UNSUPPORTED, "libpng");
    CHECK(help_files() == 0);
#endif
    return help_end();
}
