/* SPDX-License-Identifier: Apache-2.0 */
/* The different values of a column: codes that threads agree on, and limits. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/words.h"

enum { WORDS = 5000, THREADS = 4 };

/* Many have the same first eight bytes, or the same last ones. */
static size_t name(unsigned i, char text[64])
{
    static const char *const styles[] = {"a word of more than sixteen bytes, %u", "%u",
                                         "before--%u", "%u---after"};
    return (size_t)snprintf(text, 64, styles[i % 4], i);
}

typedef struct work {
    tally_words *words;
    unsigned first;
    uint32_t codes[WORDS];
} work;

/* Every thread meets all words, each from another one on. */
static void *meet(void *arg)
{
    work *w = arg;
    char text[64];
    for (unsigned i = 0; i < WORDS; i++) {
        const unsigned word = (i * 7 + w->first) % WORDS;
        const size_t size = name(word, text);
        w->codes[word] = ty_words_code(w->words, text, size, NULL);
    }
    return NULL;
}

/* The same, many words at a time: new ones, known ones, and some twice. */
static void *meet_many(void *arg)
{
    work *w = arg;
    char text[TY_WORDS_BATCH][64];
    const char *texts[TY_WORDS_BATCH];
    size_t sizes[TY_WORDS_BATCH];
    uint32_t codes[TY_WORDS_BATCH];
    unsigned met[TY_WORDS_BATCH];
    for (unsigned i = 0; i < WORDS;) {
        const unsigned wanted = 1 + i % TY_WORDS_BATCH;
        unsigned n = 0;
        for (; n < wanted && i < WORDS; n++) {
            met[n] = n && n % 5 == 0 ? met[n - 1] : (i++ * 7 + w->first) % WORDS;
            sizes[n] = name(met[n], text[n]);
            texts[n] = text[n];
        }
        ty_words_codes(w->words, texts, sizes, n, NULL, codes);
        for (unsigned k = 0; k < n; k++)
            w->codes[met[k]] = codes[k];
    }
    return NULL;
}

/* Looks at all words while others add them: each is there as a whole, or not yet. */
static void *look(void *arg)
{
    const tally_words *words = arg;
    for (uint64_t count = 0; count < WORDS;) {
        count = tally_words_count(words);
        for (uint64_t code = 0; code < count; code++) {
            size_t size = 0;
            const char *text = tally_words_text(words, code, &size);
            assert(!text || (size && strlen(text) == size));
        }
    }
    return NULL;
}

static void check_threads(void)
{
    static work works[THREADS];
    tally_words *words;
    tally_error error = {""};
    pthread_t threads[THREADS], looker;
    char text[64];
    assert(tally_words_create(&words, &error) == TALLY_OK);
    assert(pthread_create(&looker, NULL, look, words) == 0);
    for (unsigned t = 0; t < THREADS; t++) {
        works[t].words = words;
        works[t].first = t * 1000;
        assert(pthread_create(&threads[t], NULL, t % 2 ? meet_many : meet, &works[t]) == 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_join(looker, NULL);
    assert(tally_words_count(words) == WORDS);
    unsigned char *seen = calloc(WORDS, 1);
    for (unsigned i = 0; i < WORDS; i++) {
        size_t size, want = name(i, text);
        const uint32_t code = works[0].codes[i];
        for (unsigned t = 1; t < THREADS; t++)
            assert(works[t].codes[i] == code);
        assert(code < WORDS && !seen[code]);
        seen[code] = 1;
        const char *kept = ty_words_bytes(words, code, &size);
        assert(size == want && strcmp(kept, text) == 0);
    }
    free(seen);
    tally_words_destroy(words);
}

/* Words that agree in what is compared first: size, and the first and last eight bytes. */
static void check_alike(void)
{
    tally_words *words;
    char text[3][40] = {"12345678------A------12345678", "12345678------B------12345678",
                        "12345678-----AA------12345678"};
    assert(tally_words_create(&words, NULL) == TALLY_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert(ty_words_code(words, text[i], strlen(text[i]), NULL) == i);
    for (uint32_t i = 0; i < 3; i++)
        assert(ty_words_code(words, text[i], strlen(text[i]), NULL) == i);
    for (uint32_t size = 1; size <= 20; size++)
        assert(ty_words_code(words, "aaaaaaaaaaaaaaaaaaaaaaaa", size, NULL) == 2 + size);
    assert(ty_words_code(words, "NA", 2, NULL) == TY_WORDS_MISSING);
    assert(ty_words_code(words, "", 0, NULL) == TY_WORDS_MISSING);
    assert(ty_words_code(words, "gone", 4, &(ty_spelling){"x,gone", '.', 0}) == TY_WORDS_MISSING);
    assert(ty_words_code(words, "absent", 6, &(ty_spelling){"absent", '.', 0}) == TY_WORDS_MISSING);
    assert(ty_words_code(words, "-nan", 4, NULL) == TY_WORDS_MISSING);
    const char *const texts[] = {"NA", "aa", "never seen", "aa", ""};
    const size_t sizes[] = {2, 2, 10, 2, 0};
    uint32_t codes[5];
    ty_words_codes(words, texts, sizes, 5, NULL, codes);
    assert(codes[0] == TY_WORDS_MISSING && codes[4] == TY_WORDS_MISSING);
    assert(codes[1] == 4 && codes[2] == 23 && codes[3] == 4);
    assert(tally_words_count(words) == 24);
    tally_words_destroy(words);
}

static void check_limit(uint32_t most, uint64_t bytes, tally_status want, const char *message)
{
    tally_words *words;
    tally_error error = {""};
    char text[64];
    uint32_t code = 0;
    ty_words_limit(most, bytes);
    assert(tally_words_create(&words, &error) == TALLY_OK);
    for (unsigned i = 0; i < 10 * WORDS && code != TY_WORDS_FAILED; i++)
        code = ty_words_code(words, text, name(i, text), NULL);
    assert(code == TY_WORDS_FAILED);
    assert(ty_words_status(words, "FILE", "NAME", &error) == want);
    if (!strstr(error.message, message))
        printf("%s\n", error.message);
    assert(strstr(error.message, "FILE: ") && strstr(error.message, message));
    tally_words_destroy(words);
    ty_words_limit(0, 0);
}

/* Out of memory, at whatever place: all words that were handed out are there, others are none. */
static void check_full(void)
{
    for (unsigned longest = 8; longest < 60000; longest += 1 + longest / 4) {
        static char text[60000];
        tally_words *words;
        size_t size = 0;
        uint64_t added = 0;
        ty_words_limit(0, 300000);
        assert(tally_words_create(&words, NULL) == TALLY_OK);
        memset(text, 'x', longest);
        while (snprintf(text, 8, "%07u", (unsigned)added), text[7] = 'x',
               tally_words_add(words, text, longest, NULL) == TALLY_OK)
            added++;
        for (uint64_t code = 0; code <= tally_words_count(words); code++)
            assert(!tally_words_text(words, code, &size) == (code >= added));
        tally_words_destroy(words);
    }
    ty_words_limit(0, 0);
}

/* Codes in the order of another process' words; what a file says is missing stays so. */
static void check_added(void)
{
    static const char *const added[] = {"Oslo", "NA", "Rome", "Oslo"};
    tally_words *words;
    size_t size = 0;
    assert(tally_words_create(&words, NULL) == TALLY_OK);
    for (unsigned i = 0; i < 4; i++)
        assert(tally_words_add(words, added[i], strlen(added[i]), NULL) == TALLY_OK);
    assert(tally_words_count(words) == 3);
    for (unsigned i = 0; i < 3; i++)
        assert(strcmp(tally_words_text(words, i, &size), added[i]) == 0 &&
               size == 4 - 2 * (i == 1));
    assert(!tally_words_text(words, 3, &size) && !tally_words_text(NULL, 0, &size));
    assert(ty_words_code(words, "Rome", 4, NULL) == 2);
    assert(ty_words_code(words, "NA", 2, NULL) == TY_WORDS_MISSING);
    assert(ty_words_value(words, "NA", 2) == 1);
    assert(tally_words_add(words, "a\0b", 3, NULL) == TALLY_ERROR_FORMAT);
    assert(tally_words_add(words, "Bern", 4, NULL) == TALLY_OK);
    assert(tally_words_add(NULL, "a", 1, NULL) == TALLY_ERROR_ARGUMENT);
    tally_words_destroy(words);
}

/* Words that text takes for missing and that are there, of which both are known: neither is taken
 * for the other, wherever a seed puts them and however often tables grow. */
static void check_present(void)
{
    static const char *const both[] = {"", "NA", "nan", "null"};
    for (unsigned i = 0; i < 5000; i++) {
        tally_words *words;
        char text[64];
        assert(tally_words_create(&words, NULL) == TALLY_OK);
        for (unsigned k = 0; k < 4; k++)
            assert(ty_words_value(words, both[k], strlen(both[k])) == k);
        for (unsigned k = 0; k < (i % 50 ? 20 : 2000); k++)
            ty_words_code(words, text, name(k, text), NULL);
        for (unsigned k = 0; k < 4; k++) {
            assert(ty_words_code(words, both[k], strlen(both[k]), NULL) == TY_WORDS_MISSING);
            assert(ty_words_value(words, both[k], strlen(both[k])) == k);
        }
        tally_words_destroy(words);
    }
}

int main(void)
{
    check_present();
    check_threads();
    check_alike();
    check_added();
    check_full();
    check_limit(100, 0, TALLY_ERROR_DATA, "column 'NAME' has more than 100 different values");
    check_limit(0, UINT64_C(1) << 20, TALLY_ERROR_MEMORY, "take more than 1 MiB");
    tally_words *words;
    for (long after = 0; after < 40; after++) { /* each allocation fails in turn */
        ty_alloc_fail_after(after);
        tally_status status = tally_words_create(&words, NULL);
        char text[64];
        for (unsigned i = 0; !status && i < 200; i++)
            ty_words_code(words, text, name(i, text), NULL);
        ty_alloc_fail_after(-1);
        if (!status)
            tally_words_destroy(words);
    }
    printf("%d words by %d threads\n", WORDS, THREADS);
    return 0;
}
