/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict reader of JSON (RFC 8259). The whole text is checked once; after that values are walked
 * by their position (the byte where they start), which cannot fail and allocates nothing.
 */
#ifndef TY_JSON_H
#define TY_JSON_H

#include <tally/tally.h>

#define TY_JSON_DEPTH 64       /* arrays and objects inside each other */
#define TY_JSON_NONE  SIZE_MAX /* no such value */

typedef struct ty_json {
    const char *text; /* the caller's; not ended by NUL */
    size_t size;
    size_t root;
    const char *name; /* for messages */
    tally_error *error;
} ty_json;

typedef enum ty_json_kind {
    TY_JSON_NULL,
    TY_JSON_BOOL,
    TY_JSON_NUMBER,
    TY_JSON_STRING,
    TY_JSON_ARRAY,
    TY_JSON_OBJECT
} ty_json_kind;

/* Checks the text: grammar, UTF-8, escapes, depth, nothing after the value. A byte order mark is
 * skipped. `name` and `error` are kept in `json` for later messages. */
tally_status ty_json_open(ty_json *json, const char *text, size_t size, const char *name,
                          tally_error *error);

/* TALLY_ERROR_FORMAT with "NAME:LINE:COLUMN: " (from 1; columns are characters) before the message.
 */
__attribute__((format(printf, 3, 4))) tally_status ty_json_error(const ty_json *json, size_t at,
                                                                 const char *format, ...);

ty_json_kind ty_json_kind_at(const ty_json *json, size_t at);
const char *ty_json_kind_name(ty_json_kind kind); /* "an array" … */

/* The first element of the array at `at`, and the one after the element at `at`; or TY_JSON_NONE.
 */
size_t ty_json_first(const ty_json *json, size_t at);
size_t ty_json_next(const ty_json *json, size_t at);
uint64_t ty_json_count(const ty_json *json, size_t at);

/* Finds `count` keys of the object at `at` in one pass: found[i] is where the value of keys[i] is,
 * or TY_JSON_NONE. A key there twice is an error; keys not asked for are passed over. */
tally_status ty_json_members(const ty_json *json, size_t at, const char *const *keys, size_t count,
                             size_t *found);

/* The value at `at` when it is a number that the type holds exactly (integers: no point, no
 * exponent); 0 if it is not. float64 is rounded correctly and must be finite. */
int ty_json_u64(const ty_json *json, size_t at, uint64_t *value);
int ty_json_i64(const ty_json *json, size_t at, int64_t *value);
int ty_json_double(const ty_json *json, size_t at, double *value);

/* Whether the value at `at` is the string `text`. */
int ty_json_is(const ty_json *json, size_t at, const char *text);

/* A copy of the string at `at` (released by ty_free); fails when it is no string or holds U+0000.
 * `what` names it in messages. */
tally_status ty_json_string(const ty_json *json, size_t at, const char *what, char **copy);

/* The same of values that have to be as said, else the error says what `what` must be.
 * members: the first `required` of the keys must be there; choice: which of `count` strings. */
tally_status ty_json_need_members(const ty_json *json, size_t at, const char *what,
                                  const char *const *keys, size_t count, size_t required,
                                  size_t *found);
tally_status ty_json_need_array(const ty_json *json, size_t at, const char *what);
tally_status ty_json_need_u64(const ty_json *json, size_t at, const char *what, uint64_t *value);
tally_status ty_json_need_double(const ty_json *json, size_t at, const char *what, double *value);
tally_status ty_json_need_choice(const ty_json *json, size_t at, const char *what,
                                 const char *const *choices, unsigned count, unsigned *chosen);

#endif
