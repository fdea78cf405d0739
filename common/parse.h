/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options, as the command and tally-bench take them. Each returns 0 for any other text.
 */
#ifndef PARSE_H
#define PARSE_H

#include <stdint.h>
#include <string.h>

#include <tally/tally.h>

/* A whole number from 0 to 2^64 - 1, in digits alone. */
static inline int parse_u64(const char *text, uint64_t *value)
{
    uint64_t v = 0;
    if (*text == '\0')
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        uint64_t digit = (uint64_t)(*text - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return 1;
}

/* "auto", or "cpu", "cuda" or "opencl", which may have a number behind a colon. */
static inline int parse_device(const char *text, tally_device_type *type, int32_t *index)
{
    static const char *const names[] = {"auto", "cpu", "cuda", "opencl"};
    static const tally_device_type types[] = {TALLY_DEVICE_AUTO, TALLY_DEVICE_CPU,
                                              TALLY_DEVICE_CUDA, TALLY_DEVICE_OPENCL};
    const size_t length = strcspn(text, ":");
    uint64_t number = 0;
    if (text[length] == ':' && (!parse_u64(text + length + 1, &number) || number > INT32_MAX))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && !memcmp(names[i], text, length)) {
            *type = types[i];
            *index = (int32_t)number;
            return i > 0 || text[length] == '\0';
        }
    }
    return 0;
}

/* A type of raw samples, by its name here or NumPy's; *order: 1 big-endian, -1 little-endian, 0 not
 * said. */
static inline tally_dtype parse_dtype(const char *text, int *order)
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

/* Whether a list of words with blanks between them, "auto cpu cuda", has this one. */
static inline int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at;) {
        const size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, word, size) == 0)
            return 1;
        at += size + strspn(at + size, " ");
    }
    return 0;
}

#endif
