/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed data of several members and frames: read in order by one thread, and by a thread of
 * its own in parts on several. The same bytes, the same refusals. */
#include "input_help.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif
#if TALLY_HAVE_LZMA
#include <lzma.h>
#endif
#if TALLY_HAVE_BZIP2
#include <bzlib.h>
#endif

#include "io/unpack.h"

static tally_input_options bytes_by(uint32_t threads)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.dtype = TALLY_U8;
    o.threads = threads;
    o.chunk_bytes = 100000;
    return o;
}

static blob some_text(size_t lines)
{
    blob text = {0};
    char line[64];
    for (size_t i = 0; i < lines; i++) {
        snprintf(line, sizeof line, "%zu,%llu\n", i, (unsigned long long)help_below(1000000));
        blob_text(&text, line);
    }
    return text;
}

/* ---- Packers: the same text in pieces ---- */

static void put16(unsigned char *at, size_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

/* A member as bgzip writes it, with another extra field in front of its size now and then. */
static void add_bgzf(blob *to, const unsigned char *bytes, size_t size)
{
    blob plain = help_gzip(bytes, size);
    if (!plain.size) /* without zlib */
        return;
    const size_t other = help_below(3) ? 0 : 4 + help_below(9);
    unsigned char head[12 + 6 + 16] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255};
    put16(head + 10, 6 + other);
    if (other) {
        memcpy(head + 12, "XY", 2);
        put16(head + 14, other - 4);
    }
    memcpy(head + 12 + other, "BC\2\0", 4);
    put16(head + 12 + other + 4, plain.size - 10 + 12 + 6 + other - 1);
    blob_add(to, head, 12 + 6 + other);
    blob_add(to, plain.bytes + 10, plain.size - 10);
    blob_free(&plain);
}

/* A member with all the fields a header may have. */
static void add_named(blob *to, const unsigned char *bytes, size_t size)
{
#if TALLY_HAVE_ZLIB
    static const char head[] = "\x1f\x8b\x08\x1e\1\2\3\4\0\3\6\0XY\2\0xyname\0of it";
    blob plain = help_gzip(bytes, size);
    unsigned char check[2];
    put16(check, crc32(0, (const unsigned char *)head, sizeof head) & 0xffff);
    blob_add(to, head, sizeof head);
    blob_add(to, check, 2);
    blob_add(to, plain.bytes + 10, plain.size - 10);
    blob_free(&plain);
#else
    (void)to, (void)bytes, (void)size;
#endif
}

static void add_gzip(blob *to, const unsigned char *bytes, size_t size)
{
    blob one = help_gzip(bytes, size);
    blob_add(to, one.bytes, one.size);
    blob_free(&one);
}

static void add_zstd(blob *to, const unsigned char *bytes, size_t size)
{
    blob one = help_zstd(bytes, size);
    blob_add(to, one.bytes, one.size);
    blob_free(&one);
}

/* A frame as pzstd writes it: without its size, and behind one that decoders skip. */
static void add_pzstd(blob *to, const unsigned char *bytes, size_t size)
{
#if TALLY_HAVE_ZSTD
    const size_t room = ZSTD_compressBound(size);
    unsigned char *packed = malloc(room);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    if (!packed || !c)
        abort();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, (int)help_below(2));
    ZSTD_inBuffer in = {bytes, size, 0};
    ZSTD_outBuffer out = {packed, room, 0};
    while (in.pos < in.size)
        ZSTD_compressStream2(c, &out, &in, ZSTD_e_continue);
    while (ZSTD_compressStream2(c, &out, &in, ZSTD_e_end))
        continue;
    blob_add(to, "\x50\x2a\x4d\x18\4\0\0\0size", 12);
    blob_add(to, packed, out.pos);
    ZSTD_freeCCtx(c);
    free(packed);
#else
    (void)to, (void)bytes, (void)size;
#endif
}

static void add_xz(blob *to, const unsigned char *bytes, size_t size)
{
#if TALLY_HAVE_LZMA
    const size_t room = lzma_stream_buffer_bound(size);
    unsigned char *packed = malloc(room);
    size_t put = 0;
    if (!packed || lzma_easy_buffer_encode(0, help_below(2) ? LZMA_CHECK_CRC64 : LZMA_CHECK_SHA256,
                                           NULL, bytes, size, packed, &put, room))
        abort();
    blob_add(to, packed, put);
    free(packed);
#else
    (void)to, (void)bytes, (void)size;
#endif
}

static void add_bzip2(blob *to, const unsigned char *bytes, size_t size)
{
#if TALLY_HAVE_BZIP2
    unsigned room = (unsigned)(size + size / 100 + 600);
    char *packed = malloc(room);
    if (!packed || BZ2_bzBuffToBuffCompress(packed, &room, (char *)(uintptr_t)bytes, (unsigned)size,
                                            1 + (int)help_below(9), 0, 0))
        abort();
    blob_add(to, packed, room);
    free(packed);
#else
    (void)to, (void)bytes, (void)size;
#endif
}

typedef void (*packer)(blob *to, const unsigned char *bytes, size_t size);

static const struct {
    const char *name;
    packer pack, other; /* `other` now and then */
    size_t most;        /* of a piece */
} packings[] = {
    {"members", add_gzip, add_gzip, 300000}, {"bgzf", add_bgzf, add_bgzf, 65280},
    {"mixed", add_bgzf, add_gzip, 65280},    {"one", add_gzip, add_gzip, 1 << 30},
    {"frames", add_zstd, add_zstd, 400000},  {"pzstd", add_pzstd, add_pzstd, 400000},
    {"some", add_pzstd, add_zstd, 100000},   {"small", add_zstd, add_pzstd, 300},
    {"tiny", add_named, add_bgzf, 300},      {"frame", add_pzstd, add_pzstd, 1 << 30},
    {"xz", add_xz, add_xz, 70000},           {"bzip2", add_bzip2, add_bzip2, 70000},
};

enum { PACKINGS = sizeof packings / sizeof *packings };

static blob pack(int which, const blob *text, size_t size)
{
    blob out = {0};
    for (size_t at = 0; at < size;) {
        size_t n = help_below(20) ? 1 + help_below(packings[which].most) : 0;
        n = packings[which].most == 1 << 30 || n > size - at ? size - at : n;
        (help_below(10) ? packings[which].pack : packings[which].other)(&out, text->bytes + at, n);
        at += n;
    }
    return out;
}

/* ---- Tests ---- */

static void check_same(const char *name, const blob *packed, const blob *text, size_t size,
                       uint32_t threads, int piped)
{
    tally_input_options o = bytes_by(threads);
    contents c;
    tally_error error = {""};
    o.rewindable = piped;
    const tally_status status =
        piped ? help_read_piped(packed->bytes, packed->size, &o, 2, &c, &error)
              : help_read(help_write(name, packed->bytes, packed->size), &o, 2, &c, &error);
    CHECK_SAY(!status && c.samples.size == size && !memcmp(c.samples.bytes, text->bytes, size),
              "%s, %u threads%s: %s", name, threads, piped ? ", piped" : "", error.message);
    if (!status)
        blob_free(&c.samples);
}

static void test_same(const blob *text)
{
    for (int i = 0; i < PACKINGS; i++) {
        const int is_slow = packings[i].most < 1000 || packings[i].pack == add_bzip2;
        const size_t size = is_slow ? text->size / 4 : text->size;
        blob packed = pack(i, text, size);
        if (packed.size)
            for (uint32_t threads = 1; threads <= 5; threads += 2)
                for (int piped = 0; piped < 2; piped++)
                    check_same(packings[i].name, &packed, text, size, threads, piped);
        blob_free(&packed);
    }
    /* A pipe of bytes as they are. */
    check_same("plain", text, text, text->size, 3, 1);
}

/* What other calls leave behind: a codec must not go by it. */
static void scribble(void)
{
    volatile unsigned char stack[4096];
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = (unsigned char)help_random();
}

/* A member that comes in two pieces, cut anywhere. */
static void test_cuts(const ty_codec *codec, packer pack, const blob *text)
{
    enum { SIZE = 700 };
    blob packed = {0};
    unsigned char out[SIZE];
    pack(&packed, text->bytes, SIZE);
    void *state = codec && packed.size ? codec->open() : NULL;
    for (size_t cut = 1; state && cut < packed.size; cut++) {
        ty_unpack_step step = {packed.bytes, cut, out, SIZE, ""};
        memset(out, 0, sizeof out);
        codec->reset(state);
        const ty_unpack_result first = codec->step(state, &step);
        scribble();
        step.in_size = packed.size - (size_t)(step.in - packed.bytes);
        const ty_unpack_result second = codec->step(state, &step);
        CHECK_SAY(first == TY_UNPACK_MORE && second == TY_UNPACK_END && !step.out_size &&
                      !step.in_size && !memcmp(out, text->bytes, SIZE),
                  "%s, cut at %zu of %zu: %s", codec->name, cut, packed.size, step.damage);
    }
    if (codec)
        codec->close(state);
    blob_free(&packed);
}

/* What reading says of a file: its status, and bytes before that. */
static tally_status verdict(const char *path, uint32_t threads, tally_error *error)
{
    const tally_input_options o = bytes_by(threads);
    contents c;
    const tally_status status = help_read(path, &o, 1, &c, error);
    if (!status)
        blob_free(&c.samples);
    return status;
}

/* Damage is refused by any number of threads, near the same byte. */
static void check_refused(int which, const blob *packed, size_t byte, const char *what)
{
    const char *path = help_write("damaged", packed->bytes, packed->size);
    tally_error errors[2] = {{""}, {""}};
    const tally_status one = verdict(path, 1, &errors[0]), three = verdict(path, 3, &errors[1]);
    CHECK_SAY(one == three, "%s, %s at %zu: %s; %s", packings[which].name, what, byte,
              errors[0].message, errors[1].message);
    for (int i = 0; i < 2 && one; i++) {
        const char *at = strstr(errors[i].message, "stored byte ");
        const double near = at ? strtod(at + 12, NULL) : -1e9;
        CHECK_SAY(one == TALLY_ERROR_FORMAT && near - (double)byte < 600000 &&
                      near > (double)byte - 300000 && near <= (double)packed->size,
                  "%s, %s at %zu of %zu: %s", packings[which].name, what, byte, packed->size,
                  errors[i].message);
    }
}

static void test_damage(const blob *text)
{
    for (int i = 0; i < PACKINGS; i++) {
        if (packings[i].most < 1000)
            continue;
        blob packed = pack(i, text, text->size);
        for (int times = packed.size ? 3 : 0; times-- > 0;) {
            blob bad = {0};
            const size_t byte = packed.size / 3 + help_below(packed.size - packed.size / 3);
            blob_add(&bad, packed.bytes, packed.size);
            bad.bytes[byte] ^= (unsigned char)(1 + help_below(255));
            check_refused(i, &bad, byte, "a wrong byte");
            bad.bytes[byte] = packed.bytes[byte];
            bad.size = byte;
            check_refused(i, &bad, byte, "cut");
            blob_free(&bad);
        }
        blob_free(&packed);
    }
}

/* Sizes in members' headers and trailers that are not true. */
static void test_lies(const blob *text)
{
#if TALLY_HAVE_ZLIB
    for (int times = 0; times < 6; times++) {
        blob packed = {0};
        size_t at = 0, liar = 0;
        while (at + 60000 < text->size) {
            if (packed.size < 600000)
                liar = packed.size;
            add_bgzf(&packed, text->bytes + at, 60000);
            at += 60000;
        }
        /* The header's size is at one of two places, by its fields; the length is in front of the
         * next header. */
        const size_t where = times % 2 ? liar + 16 : liar - 2;
        if (memcmp(packed.bytes + liar + 12, "BC", 2) == 0 || !(times % 2)) {
            packed.bytes[where] ^= (unsigned char)(1 + help_below(255));
            packed.bytes[where + 1] ^= (unsigned char)(help_below(2));
            const char *path = help_write("lies", packed.bytes, packed.size);
            tally_error errors[2] = {{""}, {""}};
            const tally_status one = verdict(path, 1, &errors[0]);
            const tally_status three = verdict(path, 3, &errors[1]);
            /* In order the header's size is not looked at. */
            CHECK_SAY(one == three && one == (times % 2 ? TALLY_OK : TALLY_ERROR_FORMAT),
                      "a lie at %zu of %zu: %s; %s", where, packed.size, errors[0].message,
                      errors[1].message);
        }
        blob_free(&packed);
    }
#else
    (void)text;
#endif
}

typedef struct feed {
    int file;
    const blob *text;
} feed;

static void *write_some(void *user)
{
    const feed *f = user;
    for (size_t at = 0; at < 800000;) {
        const ssize_t put = write(f->file, f->text->bytes + at, 800000 - at);
        if (put <= 0)
            break;
        at += (size_t)put;
    }
    return NULL;
}

/* A pipe whose writer never ends: closing and rewinding do not wait for it. */
static void test_silent_pipe(const blob *text)
{
    for (int rewinds = 0; rewinds < 2; rewinds++) {
        int ends[2], old = dup(STDIN_FILENO);
        if (old < 0 || pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0)
            abort();
        close(ends[0]);
        /* More than is handed out before the thread starts. */
        pthread_t thread;
        tally_input_options o = bytes_by(3);
        tally_input *in = NULL;
        tally_error error = {""};
        tally_view view;
        int done = 0;
        o.rewindable = 1;
        const feed some = {ends[1], text};
        if (pthread_create(&thread, NULL, write_some, (void *)(uintptr_t)&some))
            abort();
        CHECK(!tally_input_open("-", &o, &in, &error));
        for (int i = 0; i < 6; i++)
            CHECK_SAY(!tally_input_read(in, &view, &done, &error), "%s", error.message);
        pthread_join(thread, NULL);
        if (rewinds) {
            CHECK(!tally_input_rewind(in, &error));
            CHECK(!tally_input_read(in, &view, &done, &error));
            CHECK(!memcmp(view.data, text->bytes, (size_t)(view.columns)));
        }
        tally_input_close(in);
        dup2(old, STDIN_FILENO);
        close(old);
        close(ends[1]);
    }
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    alarm(120);
    blob text = some_text(90000);
    test_cuts(ty_codec_gzip, add_gzip, &text);
    test_cuts(ty_codec_gzip, add_bgzf, &text);
    test_cuts(ty_codec_gzip, add_named, &text);
    test_cuts(ty_codec_zstd, add_zstd, &text);
    test_cuts(ty_codec_xz, add_xz, &text);
    test_cuts(ty_codec_bzip2, add_bzip2, &text);
    test_same(&text);
    test_damage(&text);
    test_lies(&text);
    test_silent_pipe(&text);
    const tally_input_options o = bytes_by(2);
    for (int i = 1; i < 6; i += 4) {
        blob packed = pack(i, &text, 400000);
        if (packed.size)
            help_starve(help_write("starved", packed.bytes, packed.size), &o);
        blob_free(&packed);
    }
    blob_free(&text);
    return help_end();
}
