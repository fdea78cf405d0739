/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zstd, any number of members and frames: the same bytes however they are asked for. */
#include "input_harness.h"

#include <string.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    unsigned char bytes[300], packed[1000];
    harness_begin(*argc, *argv);
    harness_fill(bytes, sizeof bytes);
    memset(bytes + 50, 'x', 200);
#if TALLY_HAVE_ZLIB
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        z.next_in = bytes;
        z.avail_in = sizeof bytes;
        z.next_out = packed;
        z.avail_out = sizeof packed / 2;
        deflate(&z, Z_FINISH);
        size_t size = z.total_out;
        deflateEnd(&z);
        harness_seed("one.gz", packed, size);
        memcpy(packed + size, packed, size);
        memset(packed + 2 * size, 0, 9);
        harness_seed("two.gz", packed, 2 * size + 9);
    }
#endif
#if TALLY_HAVE_ZSTD
    memcpy(packed, "\x50\x2a\x4d\x18\3\0\0\0abc", 11);
    size_t frame = ZSTD_compress(packed + 11, 400, bytes, sizeof bytes, 3);
    if (!ZSTD_isError(frame)) {
        harness_seed("one.zst", packed + 11, frame);
        memcpy(packed + 11 + frame, packed, 11 + frame);
        harness_seed("two.zst", packed, 2 * (11 + frame));
    }
#endif
    harness_seed("plain", bytes, sizeof bytes);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.dtype = TALLY_U8;
    o.chunk_bytes = 1 << 20;
    harness_read(data, size, &o, 4000);
    return 0;
}
