/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dtype.h"

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
    {NULL, 0},  {"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2}, {"u32", 4}, {"i32", 4},
    {"u64", 8}, {"i64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8},
};

static const unsigned dtype_count = sizeof dtypes / sizeof *dtypes;

size_t tally_dtype_bytes(tally_dtype dtype)
{
    return (unsigned)dtype < dtype_count ? dtypes[dtype].bytes : 0;
}

const char *tally_dtype_name(tally_dtype dtype)
{
    return (unsigned)dtype < dtype_count ? dtypes[dtype].name : NULL;
}

tally_dtype tally_dtype_parse(const char *name)
{
    for (unsigned i = 1; name && i < dtype_count; i++) {
        if (!strcmp(name, dtypes[i].name))
            return (tally_dtype)i;
    }
    return (tally_dtype)0;
}
