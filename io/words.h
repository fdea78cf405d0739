/* SPDX-License-Identifier: Apache-2.0 */
/* The different values of a column of words, and a number for each (tally_words in tally/io.h). */
#ifndef TY_WORDS_H
#define TY_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/io.h>

#include "io/text_fields.h"

/* What ty_words_code returns besides a code, all codes are below: the text stands for a missing
 * value; it could not be kept, ty_words_status says why. */
#define TY_WORDS_MISSING (UINT32_MAX - 1)
#define TY_WORDS_FAILED  UINT32_MAX

/* What is said behind a word that is no number: of whom might ask for words instead. */
static inline const char *ty_words_hint(const tally_input_options *options)
{
    return options->words && !options->all_words
               ? "; --categories counts a column's values as words"
               : "";
}

/* As tally_words_create, for at most so many. */
tally_status ty_words_create(uint32_t most, tally_words **words, tally_error *error);

/* The code of these bytes, which are copied where they are new. Any number of threads at once; a
 * word that is known takes no lock. `spelling` as for ty_field_read, the same in every call. */
uint32_t ty_words_code(tally_words *words, const char *text, size_t size,
                       const ty_spelling *spelling);

/* The same of `count` words, at most TY_WORDS_BATCH: faster where there are many different ones,
 * for memory is asked for ahead of each. */
#define TY_WORDS_BATCH 128
void ty_words_codes(tally_words *words, const char *const *texts, const size_t *sizes, size_t count,
                    const ty_spelling *spelling, uint32_t *codes);

/* The same where a value says in other ways that it is missing: these bytes are none, even if they
 * stand for that in text. */
uint32_t ty_words_value(tally_words *words, const char *text, size_t size);

/* Whether there are more words than are kept; not, whether memory ran out. */
int ty_words_is_full(const tally_words *words);

/* Why words could not be kept, naming `file` and `column`; TALLY_OK if all could. */
tally_status ty_words_status(const tally_words *words, const char *file, const char *column,
                             tally_error *error);

/* The bytes of a code below tally_words_count, for as long as `words` lives; a NUL follows them. */
const char *ty_words_bytes(const tally_words *words, uint64_t code, size_t *size);
/* Of a code that will be asked for soon; none, or no longer with new words meanwhile. */
void ty_words_prefetch(const tally_words *words, uint64_t code);

/* Test hook: at most so many different words, of so many bytes in all; 0, 0 as usual. */
void ty_words_limit(uint32_t words, uint64_t bytes);

#endif
