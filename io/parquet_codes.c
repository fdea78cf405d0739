/* SPDX-License-Identifier: Apache-2.0 */
/* A Parquet column's part of a row group, counted by its numbers of values in the dictionary. What
 * is not all of such numbers, or damaged, is left to whoever reads values, who says so. */
#include "io/parquet.h"

enum { PIECE = 1024, PAGE_PIECE = 1 << 16 };

/* The next `rows` numbers; 0: they are damaged. */
static int add_runs(ty_codes *codes, ty_pq_runs *runs, size_t rows)
{
    while (rows) {
        uint32_t numbers[PIECE];
        size_t n = ty_pq_runs_open(runs, rows);
        if (!n)
            return 0;
        if (runs->packed) {
            n = n < PIECE ? n : PIECE;
            ty_pq_runs_unpack(runs, n, numbers);
            if (runs->bits > 31 || 1u << runs->bits > codes->room)
                for (size_t i = 0; i < n; i++)
                    if (numbers[i] >= codes->room)
                        return 0;
            ty_codes_add(codes, numbers, n);
        } else if (runs->value < codes->count) {
            codes->counts[runs->value] += n;
        } else {
            return 0;
        }
        runs->left -= n;
        rows -= n;
    }
    return 1;
}

/* The page that is open. */
static int add_page(ty_codes *codes, ty_pq_cursor *c)
{
    tally_error unsaid;
    if (c->values.encoding != TY_PQ_RLE_DICTIONARY && c->values.encoding >= 0)
        return 0;
    if (!codes->counts && !ty_codes_begin(codes, c->values.dictionary_count, c->chunk->values))
        return 0;
    while (c->page_left) {
        size_t rows = c->page_left < PAGE_PIECE ? (size_t)c->page_left : PAGE_PIECE, count = rows;
        if (c->page_missing && ty_pq_cursor_levels(c, rows, NULL, &count, &unsaid))
            return 0;
        if (count && (c->values.encoding < 0 || !add_runs(codes, &c->values.runs, count)))
            return 0;
        codes->missing += rows - count;
        c->page_left -= rows;
    }
    return c->values.dictionary_count == codes->count;
}

int ty_pq_count_codes(ty_pq_cursor *c, const ty_pq_chunk *chunk, ty_codes *codes)
{
    const tally_dtype dtype = c->values.target.dtype;
    const int may_miss = dtype >= TALLY_F16 || c->values.target.masked;
    tally_error unsaid;
    codes->dtype = dtype;
    if (!chunk->values)
        return ty_codes_begin(codes, 0, 0);
    if (!chunk->is_coded)
        return 0; /* without a page unpacked for nothing */
    ty_pq_cursor_begin(c, chunk);
    int good = 1;
    while (good && c->rows_left)
        good = !ty_pq_cursor_open(c, &unsaid) && add_page(codes, c);
    good = good && codes->counts && (!codes->missing || may_miss) && ty_codes_end(codes);
    if (good) {
        codes->values = codes->memory = c->dictionary;
        c->dictionary = NULL;
    }
    return good;
}
