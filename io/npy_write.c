/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts as a NumPy array (format 1.0, little-endian, C order): shape (bins,) for one histogram,
 * one more dimension in front for several, an extent for each axis in several dimensions. u64
 * counts are <u8 and narrowed ones <u4, <u2 or |u1; sums are <f8 or <i8. Edges, flows and sums of
 * squares have no place here: JSON keeps them.
 */
#include "io/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *describe(const tally_result *r, unsigned *bytes)
{
    static const char *const names[] = {"<u8", "<u4", "<u2", "|u1"};
    static const unsigned sizes[] = {8, 4, 2, 1};
    *bytes = r->kind == TALLY_RESULT_COUNTS ? sizes[r->counter] : 8;
    return r->kind == TALLY_RESULT_SUMS_F64   ? "<f8"
           : r->kind == TALLY_RESULT_SUMS_I64 ? "<i8"
                                              : names[r->counter];
}

static void put_header(ty_out *out, const tally_result *r, const char *type)
{
    char text[512];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    if (r->histograms > 1)
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRIu64 ", ", r->histograms);
    for (uint32_t d = 0; d < r->dimensions; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%" PRIu64 "%s", d ? ", " : "",
                      r->axes[d].bins, r->histograms == 1 && r->dimensions == 1 ? "," : "");
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    /* 10 bytes before the text and '\n' after it; the data start at a multiple of 64. */
    while ((n + 11) % 64)
        text[n++] = ' ';
    text[n++] = '\n';
    const unsigned char magic[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(n & 255), (unsigned char)(n >> 8)};
    ty_put_bytes(out, magic, sizeof magic);
    ty_put_bytes(out, text, (size_t)n);
}

void ty_write_npy(ty_out *out, const tally_result *r)
{
    unsigned bytes;
    put_header(out, r, describe(r, &bytes));
    for (uint64_t i = 0; i < r->histograms * r->bins && !out->failed; i++) {
        uint64_t value;
        unsigned char little[8];
        memcpy(&value, (const char *)r->counts + i * 8, 8);
        for (unsigned b = 0; b < 8; b++)
            little[b] = (unsigned char)(value >> (8 * b));
        ty_put_bytes(out, little, bytes);
    }
}
