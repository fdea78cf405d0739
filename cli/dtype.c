/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types that mean other things elsewhere. */
#include "cli.h"

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
