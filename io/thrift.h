/* SPDX-License-Identifier: Apache-2.0 */
/* Reading Thrift's compact protocol, in which Parquet keeps what describes its data. Nothing is
 * copied; damage is noted in `failed`, and then everything reads as 0 or ends. */
#ifndef TY_THRIFT_H
#define TY_THRIFT_H

#include <stddef.h>
#include <stdint.h>

typedef enum ty_thrift_type {
    TY_THRIFT_STOP = 0,
    TY_THRIFT_TRUE = 1,
    TY_THRIFT_FALSE = 2,
    TY_THRIFT_BYTE = 3,
    TY_THRIFT_I16 = 4,
    TY_THRIFT_I32 = 5,
    TY_THRIFT_I64 = 6,
    TY_THRIFT_DOUBLE = 7,
    TY_THRIFT_BINARY = 8,
    TY_THRIFT_LIST = 9,
    TY_THRIFT_SET = 10,
    TY_THRIFT_MAP = 11,
    TY_THRIFT_STRUCT = 12
} ty_thrift_type;

typedef struct ty_thrift {
    const unsigned char *at, *end;
    int failed;
} ty_thrift;

/* The type of the struct's next field and its number in *field, which is 0 before the first one.
 * TY_THRIFT_STOP behind the last one. The field's value must be read or skipped. */
ty_thrift_type ty_thrift_field(ty_thrift *t, int *field);
/* The value of a field of type BYTE … I64, or of an element of a list of them. */
int64_t ty_thrift_integer(ty_thrift *t, ty_thrift_type type);
/* That of an integer that must not be negative. */
uint64_t ty_thrift_size(ty_thrift *t, ty_thrift_type type);
/* A BINARY field: its bytes, in place. */
const unsigned char *ty_thrift_bytes(ty_thrift *t, ty_thrift_type type, size_t *size);
/* A LIST field: its number of elements, no more than bytes are left, and their type. */
size_t ty_thrift_list(ty_thrift *t, ty_thrift_type type, ty_thrift_type *element);
/* Passes over a value. */
void ty_thrift_skip(ty_thrift *t, ty_thrift_type type);
/* Notes damage unless `type` is `wanted`. */
void ty_thrift_expect(ty_thrift *t, ty_thrift_type type, ty_thrift_type wanted);

/* An unsigned integer of 7 bits a byte; Parquet's encodings use it too. */
uint64_t ty_thrift_varint(ty_thrift *t);
/* The signed integer behind 0, -1, 1, -2, … counted up. */
static inline int64_t ty_thrift_zigzag(uint64_t n)
{
    return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

#endif
