/* Where the samples of any layout lie, and their bits. */
#ifndef TY_GRID_KERNEL_H
#define TY_GRID_KERNEL_H

#include "binning/bin.h"

/* Bytes from `x` to the sample at a batch, row and column. */
#define TY_GRID_ARGS(x)                                                                            \
    TY_GLOBAL const ty_u8 *x, ty_u64 x##_at, ty_i64 x##_batch, ty_i64 x##_row, ty_i64 x##_column
#define TY_GRID_AT(x, b, r, c)                                                                     \
    (x + (x##_at + (ty_u64)((ty_i64)(b)*x##_batch + (ty_i64)(r)*x##_row + (ty_i64)(c)*x##_column)))

/* A grid as arguments of a call, ended by a comma. */
#define TY_PASS_GRID(x) x, x##_at, x##_batch, x##_row, x##_column,

/* From an element's row and column to the next one's, `rows` and `places` further. */
#define TY_STEP(row, column, columns, rows, places)                                                \
    do {                                                                                           \
        (row) += (rows);                                                                           \
        (column) += (places);                                                                      \
        if ((column) >= (columns)) {                                                               \
            (column) -= (columns);                                                                 \
            (row)++;                                                                               \
        }                                                                                          \
    } while (0)

/* A little-endian word of 1, 2, 4 or 8 bytes at any address. */
TY_FN ty_u64 ty_word_at(TY_GLOBAL const ty_u8 *p, int size)
{
    if (size == 1)
        return *p;
    if (((ty_u64)p & (ty_u64)(size - 1)) == 0)
        return size == 2   ? *(TY_GLOBAL const ty_u16 *)p
               : size == 4 ? *(TY_GLOBAL const ty_u32 *)p
                           : *(TY_GLOBAL const ty_u64 *)p;
    ty_u64 word = 0;
    for (int i = 0; i < size; i++)
        word |= (ty_u64)p[i] << (8 * i);
    return word;
}

TY_FN int ty_dtype_size(int dtype)
{
    return TY_TYPE_IS_BYTE(dtype)                         ? 1
           : TY_TYPE_IS_HALFWORD(dtype)                   ? 2
           : TY_TYPE_IS_WHOLE32(dtype) || dtype == TY_F32 ? 4
                                                          : 8;
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
