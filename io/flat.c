/* SPDX-License-Identifier: Apache-2.0 */
#include "io/flat.h"

#include <string.h>

static uint32_t load(const unsigned char *at, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* `place` if `bytes` bytes from it on are there, else 0. */
static size_t within(ty_flat *f, size_t place, size_t bytes)
{
    if (place <= f->size && bytes <= f->size - place)
        return place;
    f->failed = 1;
    return 0;
}

/* Where the offset at `place`, which was checked, points to. */
static size_t follow(ty_flat *f, size_t place)
{
    const size_t offset = load(f->bytes + place, 4);
    return within(f, place + offset, 4);
}

size_t ty_flat_root(ty_flat *f)
{
    f->failed |= f->size < 8;
    return f->failed ? 0 : follow(f, 0);
}

/* The place of a field with at least `bytes` bytes; 0 where there is none. */
static size_t find(ty_flat *f, size_t table, unsigned field, size_t bytes)
{
    if (!table)
        return 0;
    const int32_t back = (int32_t)load(f->bytes + table, 4);
    const int64_t place = (int64_t)table - back;
    if (place < 0 || !within(f, (size_t)place, 4)) {
        f->failed |= place <= 0;
        return 0;
    }
    const unsigned char *fields = f->bytes + place;
    const size_t size = load(fields, 2), at = 4 + 2 * (size_t)field;
    if (!within(f, (size_t)place, size) || at + 2 > size)
        return 0;
    const size_t offset = load(fields + at, 2);
    return offset ? within(f, table + offset, bytes) : 0;
}

int64_t ty_flat_integer(ty_flat *f, size_t table, unsigned field, size_t bytes, int64_t missing)
{
    const size_t at = find(f, table, field, bytes);
    if (!at)
        return missing;
    const unsigned char *from = f->bytes + at;
    switch (bytes) {
    case 1:
        return (int8_t)*from;
    case 2:
        return (int16_t)load(from, 2);
    case 4:
        return (int32_t)load(from, 4);
    default:
        return (int64_t)((uint64_t)load(from + 4, 4) << 32 | load(from, 4));
    }
}

size_t ty_flat_table(ty_flat *f, size_t table, unsigned field)
{
    const size_t at = find(f, table, field, 4);
    return at ? follow(f, at) : 0;
}

const unsigned char *ty_flat_list(ty_flat *f, size_t table, unsigned field, size_t bytes,
                                  size_t *count)
{
    const size_t at = find(f, table, field, 4), list = at ? follow(f, at) : 0;
    *count = list ? load(f->bytes + list, 4) : 0;
    if (!list || *count > (f->size - list - 4) / bytes) {
        f->failed |= list != 0;
        *count = 0;
        return NULL;
    }
    return f->bytes + list + 4;
}

size_t ty_flat_list_table(ty_flat *f, const unsigned char *list, size_t i)
{
    return follow(f, (size_t)(list - f->bytes) + 4 * i);
}
