/* SPDX-License-Identifier: Apache-2.0 */
/* Text on its way to a sink, and numbers as text that no locale changes. */
#ifndef TY_PRINT_H
#define TY_PRINT_H

#include <string.h>
#include <tally/io.h>

#define TY_NUMBER_SIZE 352 /* any of the numbers below, NUL included */

/* The shortest decimal that reads back as `value`, valid JSON when finite; else "nan", "inf",
 * "-inf". Returns the length. */
size_t ty_print_shortest(double value, char text[TY_NUMBER_SIZE]);

/* Like printf's %.*f and %.*e, with a point whatever the locale; decimals 0 … 20. */
size_t ty_print_fixed(double value, int decimals, char text[TY_NUMBER_SIZE]);
size_t ty_print_scientific(double value, int decimals, char text[TY_NUMBER_SIZE]);

/* "1,234,567" */
size_t ty_print_grouped(uint64_t value, char text[TY_NUMBER_SIZE]);

/* Collects small writes; after a failure of the sink the rest is dropped and ty_out_end says so. */
typedef struct ty_out {
    tally_sink sink;
    void *user;
    int failed; /* the sink's errno value */
    size_t used;
    char bytes[16384];
} ty_out;

void ty_out_begin(ty_out *out, tally_sink sink, void *user);
/* Bytes for which there is no room before the sink is called. */
void ty_put_more(ty_out *out, const void *bytes, size_t size);

static inline void ty_put_bytes(ty_out *out, const void *bytes, size_t size)
{
    if (size >= sizeof out->bytes - out->used) {
        ty_put_more(out, bytes, size);
        return;
    }
    memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
}

static inline void ty_put(ty_out *out, const char *text)
{
    ty_put_bytes(out, text, strlen(text));
}

void ty_put_u64(ty_out *out, uint64_t value);
void ty_put_i64(ty_out *out, int64_t value);
void ty_put_double(ty_out *out, double value); /* shortest */
void ty_put_repeat(ty_out *out, const char *text, uint64_t times);
/* `text` in `columns` terminal columns, right- or left-aligned; wider text is put whole. */
void ty_put_right(ty_out *out, const char *text, size_t columns);
void ty_put_left(ty_out *out, const char *text, size_t columns);
/* Text from outside, as it is shown (common/printable.h). */
void ty_put_printable(ty_out *out, const char *text);
tally_status ty_out_end(ty_out *out, tally_error *error);

/* Code points of valid UTF-8: terminal columns, for the scripts that take one column a letter. */
size_t ty_text_columns(const char *text);

#endif
