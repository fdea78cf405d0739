/* SPDX-License-Identifier: Apache-2.0 */
#include "io/thrift.h"

enum { DEEPEST = 32 }; /* structs and lists inside each other */

static unsigned take_byte(ty_thrift *t)
{
    if (t->at == t->end)
        t->failed = 1;
    return t->failed ? 0 : *t->at++;
}

uint64_t ty_thrift_varint(ty_thrift *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const unsigned byte = take_byte(t);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    t->failed = 1;
    return 0;
}

void ty_thrift_expect(ty_thrift *t, ty_thrift_type type, ty_thrift_type wanted)
{
    if (type != wanted)
        t->failed = 1;
}

ty_thrift_type ty_thrift_field(ty_thrift *t, int *field)
{
    const unsigned byte = take_byte(t);
    const unsigned type = byte & 15, step = byte >> 4;
    if (t->failed || !type)
        return TY_THRIFT_STOP;
    *field = step ? *field + (int)step : (int)ty_thrift_zigzag(ty_thrift_varint(t) & 0xffff);
    if (type > TY_THRIFT_STRUCT || *field > INT16_MAX)
        t->failed = 1;
    return t->failed ? TY_THRIFT_STOP : (ty_thrift_type)type;
}

int64_t ty_thrift_integer(ty_thrift *t, ty_thrift_type type)
{
    if (type < TY_THRIFT_BYTE || type > TY_THRIFT_I64)
        t->failed = 1;
    if (type == TY_THRIFT_BYTE)
        return (int8_t)take_byte(t);
    const int64_t value = ty_thrift_zigzag(ty_thrift_varint(t));
    return t->failed ? 0 : value;
}

uint64_t ty_thrift_size(ty_thrift *t, ty_thrift_type type)
{
    const int64_t value = ty_thrift_integer(t, type);
    if (value < 0)
        t->failed = 1;
    return value < 0 ? 0 : (uint64_t)value;
}

const unsigned char *ty_thrift_bytes(ty_thrift *t, ty_thrift_type type, size_t *size)
{
    ty_thrift_expect(t, type, TY_THRIFT_BINARY);
    const uint64_t wanted = ty_thrift_varint(t);
    if (wanted > (uint64_t)(t->end - t->at))
        t->failed = 1;
    *size = t->failed ? 0 : (size_t)wanted;
    const unsigned char *bytes = t->at;
    t->at += *size;
    return bytes;
}

size_t ty_thrift_list(ty_thrift *t, ty_thrift_type type, ty_thrift_type *element)
{
    if (type != TY_THRIFT_LIST && type != TY_THRIFT_SET)
        t->failed = 1;
    const unsigned byte = take_byte(t);
    const uint64_t count = byte >> 4 == 15 ? ty_thrift_varint(t) : byte >> 4;
    *element = (ty_thrift_type)(byte & 15);
    if (count > (uint64_t)(t->end - t->at))
        t->failed = 1;
    return t->failed ? 0 : (size_t)count;
}

static void skip_value(ty_thrift *t, ty_thrift_type type, int deep);

/* Of a list or map; a boolean is a byte there. */
static void skip_element(ty_thrift *t, ty_thrift_type type, int deep)
{
    if (type == TY_THRIFT_TRUE || type == TY_THRIFT_FALSE)
        take_byte(t);
    else
        skip_value(t, type, deep);
}

static void skip_list(ty_thrift *t, ty_thrift_type type, int deep)
{
    ty_thrift_type element;
    for (size_t left = ty_thrift_list(t, type, &element); left && !t->failed; left--)
        skip_element(t, element, deep);
}

static void skip_map(ty_thrift *t, int deep)
{
    const uint64_t count = ty_thrift_varint(t);
    const unsigned types = count ? take_byte(t) : 0;
    for (uint64_t left = count; left && !t->failed; left--) {
        skip_element(t, (ty_thrift_type)(types >> 4), deep);
        skip_element(t, (ty_thrift_type)(types & 15), deep);
    }
}

static void skip_value(ty_thrift *t, ty_thrift_type type, int deep)
{
    size_t size;
    int field = 0;
    ty_thrift_type inner;
    if (t->failed)
        return;
    if (deep == DEEPEST) {
        t->failed = 1;
        return;
    }
    switch (type) {
    case TY_THRIFT_TRUE:
    case TY_THRIFT_FALSE:
        return;
    case TY_THRIFT_BYTE:
        take_byte(t);
        return;
    case TY_THRIFT_I16:
    case TY_THRIFT_I32:
    case TY_THRIFT_I64:
        ty_thrift_varint(t);
        return;
    case TY_THRIFT_DOUBLE:
        for (int i = 0; i < 8; i++)
            take_byte(t);
        return;
    case TY_THRIFT_BINARY:
        ty_thrift_bytes(t, type, &size);
        return;
    case TY_THRIFT_LIST:
    case TY_THRIFT_SET:
        skip_list(t, type, deep + 1);
        return;
    case TY_THRIFT_MAP:
        skip_map(t, deep + 1);
        return;
    case TY_THRIFT_STRUCT:
        while ((inner = ty_thrift_field(t, &field)) != TY_THRIFT_STOP)
            skip_value(t, inner, deep + 1);
        return;
    default:
        t->failed = 1;
    }
}

void ty_thrift_skip(ty_thrift *t, ty_thrift_type type)
{
    skip_value(t, type, 0);
}
