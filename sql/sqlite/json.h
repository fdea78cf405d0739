/* SPDX-License-Identifier: Apache-2.0 */
/* As much of JSON as the aggregates need: arrays of numbers read, text that grows written. */
#ifndef TALLY_SQLITE_JSON_H
#define TALLY_SQLITE_JSON_H

#include <stdint.h>

/* The numbers of a JSON array, for the caller to free. 0 where `text` is none or memory is short.
 */
int json_numbers(const char *text, double **numbers, uint64_t *count);

/* Starts cleared. `text` is the caller's to free, and not ended by NUL. */
typedef struct json_text {
    char *text;
    uint64_t length, capacity;
    int failed; /* no memory: nothing more is added */
} json_text;

void json_put(json_text *to, const char *words);
void json_put_count(json_text *to, uint64_t value);
/* With as many digits as bring it back; null where it is not finite. */
void json_put_double(json_text *to, double value);

#endif
