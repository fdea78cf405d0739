/* SPDX-License-Identifier: Apache-2.0 */
/* Packed numbers of Parquet, of 0 to 32 bits, taken in pieces of any size. */
#include <stdlib.h>
#include <string.h>

#include "input_help.h"
#include "io/parquet.h"

enum { NUMBERS = 4096 };

static void check_bits(unsigned bits)
{
    static uint32_t wanted[NUMBERS], got[NUMBERS];
    const size_t groups = 1 + help_below(NUMBERS / 8), count = groups * 8, bytes = groups * bits;
    unsigned char *page = calloc(1, bytes + 16 + 10);
    ty_pq_runs runs;
    size_t head = 0, done = 0;
    if (!page)
        abort();
    for (uint64_t n = groups << 1 | 1; head == 0 || n; n >>= 7, head++)
        page[head] = (unsigned char)((n & 127) | (n > 127 ? 128 : 0));
    for (size_t i = 0; i < count; i++) {
        wanted[i] = (uint32_t)help_random() & (uint32_t)(((uint64_t)1 << bits) - 1);
        for (unsigned b = 0; b < bits; b++)
            page[head + (i * bits + b) / 8] |=
                (unsigned char)((wanted[i] >> b & 1) << (i * bits + b) % 8);
    }
    ty_pq_runs_begin(&runs, page, head + bytes, bits);
    while (done < count) {
        const size_t most = 1 + help_below(help_below(2) ? 9 : 3000);
        const size_t n = ty_pq_runs_open(&runs, most);
        if (!n || n > count - done)
            break;
        ty_pq_runs_unpack(&runs, n, got + done);
        runs.left -= n;
        done += n;
    }
    CHECK_SAY(done == count && !memcmp(got, wanted, count * sizeof *got),
              "%u bits: %zu numbers of %zu", bits, done, count);
    free(page);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    for (unsigned bits = 0; bits <= 32; bits++)
        for (int times = 0; times < 12; times++)
            check_bits(bits);
    return help_end();
}
