/* SPDX-License-Identifier: Apache-2.0 */
/* Files that change while they are read: one that is cut is an error, whatever its format, and of
 * one that grows what was there when it was opened is read, the same in every pass. */
#include "input_help.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than is read at once by one thread. */
enum { LINES = 400000 };

static blob numbers(void)
{
    blob text = {0};
    char line[32];
    for (int i = 1; i <= LINES; i++) {
        snprintf(line, sizeof line, "%d\n", i);
        blob_text(&text, line);
    }
    return text;
}

/* Samples until the end or a failure, in one pass. */
static tally_status count(tally_input *in, uint64_t *samples, double *last, tally_error *error)
{
    tally_view view;
    for (int done = 0;;) {
        tally_status status = tally_input_read(in, &view, &done, error);
        if (status || done)
            return status;
        *samples += view.rows * view.columns;
        if (view.dtype == TALLY_F64)
            memcpy(last, (const char *)view.data + 8 * (view.columns - 1), 8);
    }
}

static tally_input *open_some(const char *path, tally_input_options o)
{
    tally_input *in = NULL;
    tally_error error = {""};
    tally_view view;
    int done;
    o.chunk_bytes = 4096;
    tally_status status = tally_input_open(path, &o, &in, &error);
    if (!status)
        status = tally_input_read(in, &view, &done, &error);
    CHECK_SAY(!status, "%s", error.message);
    return in;
}

/* Opened, one chunk read, cut to `size` bytes, read on: an error in this pass and the next. */
static void check_cut(const char *name, const blob *file, size_t size, tally_input_options o,
                      const char *words)
{
    const char *path = help_write(name, file->bytes, file->size);
    tally_input *in = open_some(path, o);
    CHECK(!truncate(path, (off_t)size));
    for (int pass = 0; in && pass < 2; pass++) {
        tally_error error = {""};
        uint64_t samples = 0;
        double last;
        tally_status status = pass ? tally_input_rewind(in, &error) : TALLY_OK;
        if (!status)
            status = count(in, &samples, &last, &error);
        CHECK_SAY(status == TALLY_ERROR_IO && strstr(error.message, words) &&
                      strstr(error.message, name),
                  "%s cut to %zu of %zu, pass %d: %s: %s", name, size, file->size, pass,
                  tally_status_string(status), error.message);
    }
    tally_input_close(in);
}

static void test_cut(const blob *text)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT, raw = o;
    static const char words[] = "was cut while it was read";
    raw.dtype = TALLY_U8;
    o.threads = 1;
    /* Behind what the first read took, in the middle of a line and at its end, and to nothing. */
    for (size_t size = text->size - 40; size < text->size; size++)
        check_cut("numbers.txt", text, size, o, words);
    check_cut("numbers.txt", text, 600000, o, words);
    check_cut("numbers.txt", text, 0, o, words);
    check_cut("bytes", text, text->size - 1, raw, words);
    /* Members or frames; the cut takes the last one. */
    blob (*const packers[])(const void *, size_t) = {help_gzip, help_zstd};
    for (int p = 0; p < 2; p++) {
        blob one = packers[p](text->bytes, text->size), all = {0};
        if (!one.size)
            continue;
        for (int i = 0; i < 8; i++)
            blob_add(&all, one.bytes, one.size);
        check_cut("packed", &all, 7 * one.size, o, words);
        check_cut("packed", &all, 7 * one.size + 5, o, words);
        blob_free(&one);
        blob_free(&all);
    }
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "ab");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
}

/* Opened, `more` added, read to the end twice over: `samples` of them, the last one `last`. */
static void check_growth(const char *begin, size_t size, const char *more, tally_input_options o,
                         uint64_t samples, double last)
{
    const char *path = help_write("log", begin, size);
    tally_error error = {""};
    tally_input *in = NULL;
    CHECK(!tally_input_open(path, &o, &in, &error));
    for (int pass = 0; in && pass < 3; pass++) {
        uint64_t found = 0;
        double value = last;
        append(path, more);
        CHECK(!pass || !tally_input_rewind(in, &error));
        tally_status status = count(in, &found, &value, &error);
        CHECK_SAY(!status && found == samples && !(value < last) && !(value > last),
                  "pass %d: %s: %llu samples, the last %g", pass, error.message,
                  (unsigned long long)found, value);
    }
    tally_input_close(in);
}

static void test_growth(const blob *text)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT, raw = o;
    const char *bytes = (const char *)text->bytes;
    raw.dtype = TALLY_U8;
    check_growth(bytes, text->size, "7\n8\n", o, LINES, LINES);
    check_growth(bytes, text->size, "", o, LINES, LINES);
    /* The end of the last line comes later: half a number is none. */
    check_growth(bytes, text->size - 3, "00\n8\n", o, LINES - 1, LINES - 1);
    blob table = {0};
    blob_text(&table, "a,b\r\n");
    for (int i = 0; i < LINES; i++)
        blob_text(&table, "1,2\r\n");
    blob_text(&table, "3");
    o.columns = (const char *const[]){"b"};
    o.columns_count = 1;
    check_growth((const char *)table.bytes, table.size, ",4\r\n", o, LINES, 2);
    blob_free(&table);
    /* Nobody adds to it: a last line without an end counts. */
    o = (tally_input_options)TALLY_INPUT_OPTIONS_INIT;
    check_growth("1\n2\n345", 7, "", o, 3, 345);
    check_growth(bytes, 1000, "more", raw, 1000, 0);
    raw.shape[0] = 10;
    raw.shape[1] = 100;
    check_growth(bytes, 1000, "more", raw, 1000, 0);
}

/* In /sys files say 4096 bytes and have a few. */
static void test_pretended(void)
{
    static const char path[] = "/sys/class/net/lo/mtu";
    tally_error error = {""};
    contents c;
    if (access(path, R_OK) != 0) {
        printf("no %s here\n", path);
        return;
    }
    CHECK_SAY(!help_read(path, NULL, 2, &c, &error) && c.samples.size == 8, "%s", error.message);
    blob_free(&c.samples);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    blob text = numbers();
    test_cut(&text);
    test_growth(&text);
    test_pretended();
    blob_free(&text);
    return help_end();
}
