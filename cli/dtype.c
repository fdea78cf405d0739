/* SPDX-License-Identifier: Apache-2.0 */
/* Types of raw samples, by their names here or NumPy's. */
#include "cli.h"

tally_dtype cli_dtype_parse(const char *text, int *order)
{
    static const char *const names[][2] = {{"bool", "u8"},
                                           {"uint8", "u8"},
                                           {"int8", "i8"},
                                           {"uint16", "u16"},
                                           {"int16", "i16"},
                                           {"uint32", "u32"},
                                           {"int32", "i32"},
                                           {"uint64", "u64"},
                                           {"int64", "i64"},
                                           {"float16", "f16"},
                                           {"half", "f16"},
                                           {"bfloat16", "bf16"},
                                           {"float32", "f32"},
                                           {"single", "f32"},
                                           {"float64", "f64"},
                                           {"double", "f64"},
                                           /* behind a sign of byte order; the number is of bytes */
                                           {"b1", "u8"},
                                           {"u1", "u8"},
                                           {"i1", "i8"},
                                           {"u2", "u16"},
                                           {"i2", "i16"},
                                           {"u4", "u32"},
                                           {"i4", "i32"},
                                           {"u8", "u64"},
                                           {"i8", "i64"},
                                           {"f2", "f16"},
                                           {"f4", "f32"},
                                           {"f8", "f64"}};
    const int has_order = *text && strchr("<>=|", *text) != NULL;
    *order = *text == '>' ? 1 : *text == '<' ? -1 : 0;
    if (!has_order && tally_dtype_parse(text))
        return tally_dtype_parse(text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((strlen(names[i][0]) == 2) == has_order && strcmp(text + has_order, names[i][0]) == 0)
            return tally_dtype_parse(names[i][1]);
    return (tally_dtype)0;
}

const char *cli_dtype_meant(const char *text)
{
    static const char *const names[][2] = {
        {"float", "f32"}, {"byte", "u8"}, {"uchar", "u8"},  {"ushort", "u16"}, {"short", "i16"},
        {"uint", "u32"},  {"int", "i32"}, {"ulong", "u64"}, {"long", "i64"},   {"u1", "u8"},
        {"i1", "i8"},     {"u2", "u16"},  {"i2", "i16"},    {"u4", "u32"},     {"i4", "i32"},
        {"f2", "f16"},    {"f4", "f32"},  {"f8", "f64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}
