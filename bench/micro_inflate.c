/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip undone by zlib, ISA-L and libdeflate, as far as they are here: processor seconds of one
 * thread, in turn, the fastest of all rounds; JSON lines. libdeflate wants all of a file and of
 * what comes out in memory; the others write to a buffer of 256 KiB again and again.
 *
 *     micro_inflate ROUNDS FILE.gz…     of one member, less than 4 GiB unpacked
 */
#include <string.h>

#include "micro.h"
#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif
#if TALLY_HAVE_DEFLATE
#include <libdeflate.h>
#endif

enum { BUFFER = 256 << 10 };

typedef struct work {
    unsigned char *in, *out;
    size_t in_size, out_size;
} work;

/* Each returns how many bytes came out. */
#if TALLY_HAVE_ZLIB
static size_t by_zlib(const work *w)
{
    z_stream z;
    size_t done = 0;
    memset(&z, 0, sizeof z);
    inflateInit2(&z, 15 + 16);
    z.next_in = w->in;
    z.avail_in = (uInt)w->in_size;
    for (int code = Z_OK; code == Z_OK; done += BUFFER - z.avail_out) {
        z.next_out = w->out;
        z.avail_out = BUFFER;
        code = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return done;
}
#endif

#if TALLY_HAVE_ISAL
static size_t by_isal(const work *w)
{
    static struct inflate_state s;
    size_t done = 0;
    isal_inflate_init(&s);
    s.crc_flag = ISAL_GZIP;
    s.next_in = w->in;
    s.avail_in = (uint32_t)w->in_size;
    for (int code = 0; !code && s.block_state != ISAL_BLOCK_FINISH; done += BUFFER - s.avail_out) {
        s.next_out = w->out;
        s.avail_out = BUFFER;
        code = isal_inflate(&s);
    }
    return done;
}
#endif

#if TALLY_HAVE_DEFLATE
static size_t by_libdeflate(const work *w)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t done = 0;
    libdeflate_gzip_decompress(d, w->in, w->in_size, w->out, w->out_size, &done);
    libdeflate_free_decompressor(d);
    return done;
}
#endif

static const struct {
    const char *name;
    size_t (*run)(const work *);
} contenders[] = {
#if TALLY_HAVE_ZLIB
    {"zlib", by_zlib},
#endif
#if TALLY_HAVE_ISAL
    {"ISA-L", by_isal},
#endif
#if TALLY_HAVE_DEFLATE
    {"libdeflate", by_libdeflate},
#endif
    {NULL, NULL},
};

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static work load(const char *path)
{
    work w = {0};
    FILE *file = fopen(path, "rb");
    uint32_t size = 0;
    if (!file || fseek(file, 0, SEEK_END) || ftell(file) < 18) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    w.in_size = (size_t)ftell(file);
    rewind(file);
    w.in = malloc(w.in_size);
    if (!w.in || fread(w.in, 1, w.in_size, file) != w.in_size)
        exit(1);
    fclose(file);
    memcpy(&size, w.in + w.in_size - 4, 4);
    w.out_size = size;
    w.out = malloc(w.out_size + BUFFER);
    if (!w.out)
        exit(1);
    return w;
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const work w = load(argv[i]);
        double best[4] = {1e9, 1e9, 1e9, 1e9};
        for (int round = atoi(argv[1]); round-- > 0;)
            for (int k = 0; contenders[k].name; k++) {
                const double begin = processor();
                if (contenders[k].run(&w) != w.out_size) {
                    fprintf(stderr, "%s: %s: not all of it\n", argv[i], contenders[k].name);
                    return 1;
                }
                const double took = processor() - begin;
                best[k] = took < best[k] ? took : best[k];
            }
        for (int k = 0; contenders[k].name; k++)
            printf("{\"file\": \"%s\", \"by\": \"%s\", \"bytes\": %zu, \"unpacked\": %zu, "
                   "\"cpu_s\": %.4f, \"GB_s_unpacked\": %.3f}\n",
                   argv[i], contenders[k].name, w.in_size, w.out_size, best[k],
                   (double)w.out_size / best[k] * 1e-9);
        free(w.in);
        free(w.out);
    }
    return argc < 3;
}
