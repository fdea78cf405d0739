/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of numbers whose values are counted as words are: each is written as text, and its code
 * handed out. */
#ifndef TY_NUMBER_WORDS_H
#define TY_NUMBER_WORDS_H

#include <tally/io.h>

typedef struct ty_number_words {
    const char *name; /* of the input, for messages */
    uint32_t count;   /* views that one read hands out */
    uint32_t made;    /* bit d: view d gets codes; others get f64 */
    int rounded;      /* a number of the others was */
    struct ty_number_view {
        tally_words *words;
        tally_time time;
        int is_boolean; /* written as text has them: true and false */
        double *values; /* what is handed out */
        uint64_t room;
        struct ty_number_code *known; /* codes of numbers that were there, by their bits */
    } views[TALLY_MAX_DIMENSIONS];
} ty_number_words;

void ty_number_words_close(ty_number_words *words);
/* Views of one channel, as they were read, become those that are handed out until the next call.
 * Elements whose `mask` is 0 are missing; NULL: none is. */
tally_status ty_number_words_read(ty_number_words *words, tally_view *views,
                                  const unsigned char *mask, tally_error *error);

#endif
