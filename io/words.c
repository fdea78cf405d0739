/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words are looked for without a lock: a slot of the hash table goes from empty to a word once, by
 * a release store. It has all that tells a word of at most 16 bytes, and the hash of any, so that
 * no more memory is looked at for one, nor for a larger table; three share a line of the cache. A
 * table that is too full is copied to a larger one; the old ones, together smaller than the new,
 * stay for the threads that still read them. Who misses a word takes its shard's lock and looks
 * again.
 */
#include "io/words.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/text_fields.h"

#define SHARDS      64 /* chosen by a hash's highest bits */
#define FIRST_LINES 16 /* of a shard */
#define MOST_WORDS  (UINT32_C(1) << 24)
#define MOST_BYTES  ((uint64_t)1 << 30) /* of words and tables; or a quarter of what is left */
#define SEGMENTS    25                  /* of the list of codes: 1, 1, 2, 4, … words */
#define WORD_BYTES  ((size_t)2 << 10)   /* taken for a shard's first words; and for later ones */
#define MORE_BYTES  ((size_t)32 << 10)
#define FIRST_BLOCK ((size_t)128 << 10)
#define HUGE_PAGES  ((size_t)4 << 20) /* from here on ty_large asks for them */

typedef struct word {
    uint32_t size;
    char text[];
} word;

enum { AHEAD = 16 }; /* words whose lines are asked for before the first is looked at */

/* Slots fill from the first to the last. */
enum { SLOTS = 3 };
typedef struct line {
    _Alignas(64) _Atomic(uint32_t) known[SLOTS]; /* kind << CODE_BITS | code; EMPTY: no word */
    _Atomic(uint64_t) ends[SLOTS][2]; /* the first and last bytes; of a LONG word hash and place */
} line;

/* What a shard's `table` says. */
typedef struct table {
    line *line;
    size_t last; /* lines, a power of two, less one */
} table;

static line nothing; /* the table of a shard without words, where none is ever put */

/* A kind is the size of a word, or LONG of more than 16 bytes, and PRESENT of one that is there
 * whatever it says: what text takes for missing has another entry. */
#define LONG      UINT32_C(17)
#define PRESENT   UINT32_C(32)
#define KNOWN     UINT32_C(64) /* in every kind */
#define EMPTY     0
#define CODE_BITS 25
#define CODE_MASK ((UINT32_C(1) << CODE_BITS) - 1) /* TY_WORDS_MISSING keeps these bits */

/* Memory for all shards, so that as many as can be share huge pages: every look at a table is at
 * another place. Taken from its end to its beginning, in whole lines of a cache. */
typedef struct block {
    _Alignas(64) struct block *older;
    size_t left;
    _Alignas(64) char bytes[];
} block;

typedef struct shard {
    _Alignas(64) _Atomic(uintptr_t) table; /* its address | log2 of its lines */
    pthread_mutex_t lock;                  /* of all that changes */
    size_t used;                           /* slots of the table */
    char *text;                            /* where words go, from the end */
    size_t left;                           /* bytes of it */
} shard;

/* From TOO_MANY on no new word is kept. */
typedef enum failure { NONE, HAS_NUL, TOO_MANY, TOO_LARGE, NO_MEMORY } failure;

struct tally_words {
    shard shards[SHARDS];
    _Alignas(64) uint64_t seed; /* so that nobody can write a file whose words all collide */
    _Alignas(64) atomic_uint count;
    atomic_int failure;
    uint64_t bytes; /* of blocks */
    uint32_t most_words;
    uint64_t most_bytes;
    pthread_mutex_t lock; /* of new blocks and segments */
    block *block;
    _Atomic(const word **) segments[SEGMENTS];
};

static uint32_t wanted_words;
static uint64_t wanted_bytes;

void ty_words_limit(uint32_t words, uint64_t bytes)
{
    wanted_words = words;
    wanted_bytes = bytes;
}

/* ---- Life ---- */

void tally_words_destroy(tally_words *words)
{
    if (!words)
        return;
    for (block *b = words->block, *older; b; b = older) {
        older = b->older;
        ty_free(b);
    }
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&words->shards[i].lock);
    pthread_mutex_destroy(&words->lock);
    ty_free(words);
}

tally_status tally_words_create(tally_words **words, tally_error *error)
{
    if (!words)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "words is NULL");
    return ty_words_create(wanted_words ? wanted_words : MOST_WORDS, words, error);
}

tally_status ty_words_create(uint32_t most, tally_words **words, tally_error *error)
{
    tally_words *made = ty_aligned(64, sizeof *made);
    if (!made)
        return ty_error_memory(error, "words", sizeof *made);
    memset(made, 0, sizeof *made);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    made->seed = ((uint64_t)now.tv_nsec << 20 ^ (uint64_t)(uintptr_t)made) | 1;
    made->most_words = most;
    const uint64_t left = ty_memory_available("") / 4;
    made->most_bytes = wanted_bytes ? wanted_bytes : left < MOST_BYTES ? left : MOST_BYTES;
    for (int i = 0; i < SHARDS; i++) {
        atomic_init(&made->shards[i].table, (uintptr_t)&nothing);
        pthread_mutex_init(&made->shards[i].lock, NULL);
    }
    pthread_mutex_init(&made->lock, NULL);
    *words = made;
    return TALLY_OK;
}

/* ---- Hashes ---- */

static inline uint64_t load8(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

static inline uint64_t load4(const char *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

static inline void find_ends(const char *text, size_t size, uint64_t ends[2])
{
    if (size >= 8) {
        ends[0] = load8(text);
        ends[1] = load8(text + size - 8);
    } else if (size >= 4) {
        ends[0] = load4(text);
        ends[1] = load4(text + size - 4);
    } else {
        ends[0] = size ? (unsigned char)text[0] | (uint64_t)(unsigned char)text[size / 2] << 8 |
                             (uint64_t)(unsigned char)text[size - 1] << 16
                       : 0;
        ends[1] = 0;
    }
}

static inline uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Of a word of at most 16 bytes, `text` is not looked at. */
static inline uint64_t hash_of(uint64_t seed, const char *text, size_t size, const uint64_t ends[2])
{
    uint64_t hash = mix(mix(seed + size, ends[0]), ends[1]);
    for (size_t i = 8; i + 8 < size && size > 16; i += 8)
        hash = mix(hash, load8(text + i));
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

/* A word that is looked for. */
typedef struct wanted {
    uint64_t hash, ends[2]; /* as a slot's */
    const char *text;
    size_t size;
    uint32_t kind;
} wanted;

static inline wanted want(uint64_t seed, const char *text, size_t size)
{
    wanted w = {.text = text, .size = size, .kind = KNOWN | (size > 16 ? LONG : (uint32_t)size)};
    find_ends(text, size, w.ends);
    w.hash = hash_of(seed, text, size, w.ends);
    if (size > 16)
        w.ends[0] = w.hash;
    return w;
}

static inline uint32_t code_in(uint32_t known)
{
    enum { KIND_BITS = 32 - CODE_BITS }; /* TY_WORDS_MISSING is -2, of which there are fewer bits */
    return (uint32_t)((int32_t)(known << KIND_BITS) >> KIND_BITS);
}

static inline uint32_t known_in(const line *l, unsigned i)
{
    return atomic_load_explicit(&l->known[i], memory_order_acquire);
}

static inline uint64_t end_in(const line *l, unsigned i, unsigned end)
{
    return atomic_load_explicit(&l->ends[i][end], memory_order_relaxed);
}

static uint32_t find_long(const line *l, const wanted *w)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        const uint32_t known = known_in(l, i);
        if (known >> CODE_BITS != w->kind || end_in(l, i, 0) != w->hash)
            continue;
        const word *there = (const word *)(uintptr_t)end_in(l, i, 1);
        if (there->size == w->size && memcmp(there->text, w->text, w->size) == 0)
            return code_in(known);
    }
    return TY_WORDS_FAILED;
}

/* What slot i knows, if that is the word; else `otherwise`. */
static inline uint32_t match(const line *l, unsigned i, const wanted *w, uint32_t otherwise)
{
    const uint32_t known = known_in(l, i);
    const uint64_t differ = (uint64_t)(known >> CODE_BITS ^ w->kind) |
                            (end_in(l, i, 0) ^ w->ends[0]) | (end_in(l, i, 1) ^ w->ends[1]);
    return differ ? otherwise : known;
}

/* The code of a word in this line, or TY_WORDS_FAILED. Which of the later slots has it is not
 * guessed. */
static inline uint32_t find_in(const line *l, const wanted *w)
{
    if (w->size > 16)
        return find_long(l, w);
    const uint32_t first = match(l, 0, w, EMPTY);
    if (first != EMPTY)
        return code_in(first);
    const uint32_t known = match(l, 1, w, match(l, 2, w, EMPTY));
    return known != EMPTY ? code_in(known) : TY_WORDS_FAILED;
}

static inline table table_of(const shard *s)
{
    const uintptr_t is = atomic_load_explicit(&s->table, memory_order_acquire);
    return (table){(line *)(is & ~(uintptr_t)63), ((size_t)1 << (is & 63)) - 1};
}

static inline line *line_of(const table *t, size_t i)
{
    return &t->line[i & t->last];
}

/* The same in all lines. */
static inline uint32_t find(const table *t, const wanted *w)
{
    for (size_t i = w->hash;; i++) {
        const line *l = line_of(t, i);
        const uint32_t code = find_in(l, w);
        if (code != TY_WORDS_FAILED || known_in(l, SLOTS - 1) == EMPTY)
            return code;
    }
}

/* ---- New words; the shard is locked ---- */

static uint32_t fail(tally_words *words, failure why)
{
    int known = atomic_load(&words->failure);
    while (known < TOO_MANY && known < (int)why &&
           !atomic_compare_exchange_weak(&words->failure, &known, why))
        ;
    return TY_WORDS_FAILED;
}

/* Memory in whole lines of a cache; `words` is locked. NULL after a failure. */
static void *take(tally_words *words, size_t size)
{
    block *b = words->block;
    size = (size + 63) & ~(size_t)63;
    if (!b || b->left < size) {
        size_t room = words->bytes < 4 * FIRST_BLOCK ? FIRST_BLOCK : (size_t)words->bytes / 4;
        room = room < size ? size : room;
        size_t all = sizeof *b + room;
        if (all >= HUGE_PAGES)
            all = (all + HUGE_PAGES / 2 - 1) & ~(HUGE_PAGES / 2 - 1);
        words->bytes += all;
        b = words->bytes > words->most_bytes ? NULL : ty_large(all);
        if (!b) {
            fail(words, words->bytes > words->most_bytes ? TOO_LARGE : NO_MEMORY);
            return NULL;
        }
        b->older = words->block;
        b->left = (all - sizeof *b) & ~(size_t)63;
        words->block = b;
    }
    b->left -= size;
    return b->bytes + b->left;
}

static void *lock_and_take(tally_words *words, size_t size)
{
    pthread_mutex_lock(&words->lock);
    void *memory = take(words, size);
    pthread_mutex_unlock(&words->lock);
    return memory;
}

static void put(const table *t, uint64_t hash, const uint64_t ends[2], uint32_t known)
{
    size_t i = hash;
    unsigned slot = 0;
    while (known_in(line_of(t, i), SLOTS - 1) != EMPTY)
        i++;
    line *l = line_of(t, i);
    while (known_in(l, slot) != EMPTY)
        slot++;
    atomic_store_explicit(&l->ends[slot][0], ends[0], memory_order_relaxed);
    atomic_store_explicit(&l->ends[slot][1], ends[1], memory_order_relaxed);
    atomic_store_explicit(&l->known[slot], known, memory_order_release);
}

static void put_again(const tally_words *words, const table *t, const line *l, unsigned i)
{
    const uint32_t known = known_in(l, i), size = known >> CODE_BITS & (PRESENT - 1);
    const uint64_t ends[2] = {end_in(l, i, 0), end_in(l, i, 1)};
    if (known != EMPTY)
        put(t, size == LONG ? ends[0] : hash_of(words->seed, NULL, size, ends), ends, known);
}

/* Sees to a free slot in the shard's table, which is at most two thirds full; 0: a failure. */
static int grow(tally_words *words, shard *s)
{
    const table old = table_of(s);
    const size_t lines = old.line == &nothing ? 0 : old.last + 1;
    if (3 * (s->used + 1) <= 2 * SLOTS * lines)
        return 1;
    const size_t more = lines ? 2 * lines : FIRST_LINES;
    const table new = {lock_and_take(words, more * sizeof(line)), more - 1};
    if (!new.line)
        return 0;
    memset(new.line, 0, more * sizeof(line));
    for (size_t i = 0; i < SLOTS * lines; i++)
        put_again(words, &new, &old.line[i / SLOTS], i % SLOTS);
    atomic_store_explicit(&s->table, (uintptr_t) new.line | (uintptr_t)__builtin_ctzll(more),
                          memory_order_release);
    return 1;
}

static word *new_word(tally_words *words, shard *s, size_t size)
{
    const size_t need = (sizeof(word) + size + 1 + 3) & ~(size_t)3;
    if (s->left < need) {
        const size_t usual = s->text ? MORE_BYTES : WORD_BYTES, bytes = need < usual ? usual : need;
        char *text = lock_and_take(words, bytes);
        if (!text)
            return NULL;
        s->text = text;
        s->left = bytes;
    }
    s->left -= need;
    if (s->left >= 64) /* or the next word would wait for its line of the cache */
        __builtin_prefetch(s->text + s->left - 64, 1);
    return (word *)(void *)(s->text + s->left);
}

/* Where code `code` is listed: in segment 0 the first one, then twice as many each. */
static unsigned segment_of(uint32_t code, uint32_t *first)
{
    const unsigned segment = code ? 32 - (unsigned)__builtin_clz(code) : 0;
    *first = segment ? UINT32_C(1) << (segment - 1) : 0;
    return segment;
}

static int list_word(tally_words *words, const word *w, uint32_t code)
{
    uint32_t first;
    const unsigned segment = segment_of(code, &first);
    const word **list = atomic_load_explicit(&words->segments[segment], memory_order_acquire);
    if (!list) {
        pthread_mutex_lock(&words->lock);
        list = atomic_load_explicit(&words->segments[segment], memory_order_acquire);
        const size_t bytes = (first ? first : 1) * sizeof(const word *);
        if (!list && (list = take(words, bytes)))
            atomic_store_explicit(&words->segments[segment], memset(list, 0, bytes),
                                  memory_order_release);
        pthread_mutex_unlock(&words->lock);
    }
    if (list)
        __atomic_store_n(&list[code - first], w, __ATOMIC_RELEASE);
    return list != NULL;
}

/* NULL: memory ran out before it was listed, or a thread is about to list it. */
static const word *listed(const tally_words *words, uint32_t code)
{
    uint32_t first;
    const unsigned segment = segment_of(code, &first);
    const word **list = atomic_load_explicit(&words->segments[segment], memory_order_acquire);
    return list ? __atomic_load_n(&list[code - first], __ATOMIC_ACQUIRE) : NULL;
}

static int is_missing(const char *text, size_t size, const ty_spelling *spelling)
{
    if (size > TY_MISSING_MOST && !(spelling && spelling->missing))
        return 0;
    const ty_field field = {.at = text, .begin = text, .size = size};
    double value;
    const ty_field_kind kind = ty_field_read(&field, spelling, &value);
    return kind == TY_FIELD_MISSING || (kind == TY_FIELD_NUMBER && value != value);
}

static uint32_t add(tally_words *words, shard *s, const wanted *new, const ty_spelling *spelling,
                    int present)
{
    if (new->size > INT32_MAX || memchr(new->text, '\0', new->size))
        return fail(words, HAS_NUL);
    word *w = grow(words, s) ? new_word(words, s, new->size) : NULL;
    uint32_t code = TY_WORDS_MISSING;
    if (!w)
        return TY_WORDS_FAILED;
    w->size = (uint32_t) new->size;
    memcpy(w->text, new->text, new->size);
    w->text[new->size] = '\0';
    if (present || !is_missing(new->text, new->size, spelling)) {
        code = atomic_fetch_add(&words->count, 1);
        if (code >= words->most_words) {
            atomic_fetch_sub(&words->count, 1);
            return fail(words, TOO_MANY);
        }
        if (!list_word(words, w, code))
            return TY_WORDS_FAILED;
    }
    const uint64_t ends[2] = {new->ends[0], new->size > 16 ? (uintptr_t)w : new->ends[1]};
    const table t = table_of(s);
    put(&t, new->hash, ends, new->kind << CODE_BITS | (code & CODE_MASK));
    s->used++;
    return code;
}

int ty_words_is_full(const tally_words *words)
{
    const int why = atomic_load(&words->failure);
    return why == TOO_MANY || why == TOO_LARGE;
}

static inline uint32_t code_of(tally_words *words, const wanted *w, const ty_spelling *spelling,
                               int present)
{
    shard *s = words->shards + (w->hash >> 58);
    table t = table_of(s);
    uint32_t code = find(&t, w);
    if (code != TY_WORDS_FAILED ||
        atomic_load_explicit(&words->failure, memory_order_relaxed) >= TOO_MANY)
        return code;
    pthread_mutex_lock(&s->lock);
    t = table_of(s);
    code = find(&t, w);
    if (code == TY_WORDS_FAILED)
        code = add(words, s, w, spelling, present);
    pthread_mutex_unlock(&s->lock);
    return code;
}

/* Its code if it is in the first line where it may be; else the next one is asked for. */
static inline uint32_t code_of_first(const tally_words *words, const wanted *w)
{
    const table t = table_of(words->shards + (w->hash >> 58));
    const uint32_t code = find_in(line_of(&t, w->hash), w);
    if (code == TY_WORDS_FAILED)
        __builtin_prefetch(line_of(&t, w->hash + 1));
    return code;
}

void ty_words_codes(tally_words *words, const char *const *texts, const size_t *sizes, size_t count,
                    const ty_spelling *spelling, uint32_t *codes)
{
    wanted all[TY_WORDS_BATCH];
    unsigned char late[TY_WORDS_BATCH];
    size_t missed = 0;
    for (size_t i = 0; i < count + AHEAD; i++) {
        if (i >= AHEAD) {
            codes[i - AHEAD] = code_of_first(words, &all[i - AHEAD]);
            late[missed] = (unsigned char)(i - AHEAD);
            missed += codes[i - AHEAD] == TY_WORDS_FAILED;
        }
        if (i >= count)
            continue;
        all[i] = want(words->seed, texts[i], sizes[i]);
        const table t = table_of(words->shards + (all[i].hash >> 58));
        __builtin_prefetch(line_of(&t, all[i].hash));
    }
    for (size_t i = 0; i < missed; i++)
        codes[late[i]] = code_of(words, &all[late[i]], spelling, 0);
}

uint32_t ty_words_code(tally_words *words, const char *text, size_t size,
                       const ty_spelling *spelling)
{
    const wanted w = want(words->seed, text, size);
    return code_of(words, &w, spelling, 0);
}

uint32_t ty_words_value(tally_words *words, const char *text, size_t size)
{
    wanted w = want(words->seed, text, size);
    const uint32_t code = code_of(words, &w, NULL, 0);
    if (code != TY_WORDS_MISSING)
        return code;
    w.kind |= PRESENT;
    return code_of(words, &w, NULL, 1);
}

/* ---- What there is ---- */

uint64_t tally_words_count(const tally_words *words)
{
    return words ? atomic_load(&words->count) : 0;
}

const char *tally_words_text(const tally_words *words, uint64_t code, size_t *size)
{
    const int known = size && code < tally_words_count(words) && listed(words, (uint32_t)code);
    return known ? ty_words_bytes(words, code, size) : NULL;
}

tally_status tally_words_add(tally_words *words, const char *text, size_t size, tally_error *error)
{
    if (!words || !text)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", words ? "text" : "words");
    const int added = ty_words_value(words, text, size) != TY_WORDS_FAILED;
    return added ? TALLY_OK : ty_words_status(words, "all files", NULL, error);
}

const char *ty_words_bytes(const tally_words *words, uint64_t code, size_t *size)
{
    const word *w = listed(words, (uint32_t)code);
    *size = w->size;
    return w->text;
}

void ty_words_prefetch(const tally_words *words, uint64_t code)
{
    if (code < tally_words_count(words))
        __builtin_prefetch(listed(words, (uint32_t)code));
}

tally_status ty_words_status(const tally_words *words, const char *file, const char *column,
                             tally_error *error)
{
    const char *name = column ? column : "the only one";
    const int fit = ty_text_fit(name, 60);
    switch ((failure)atomic_load(&words->failure)) {
    case TOO_MANY:
        return ty_error(error, TALLY_ERROR_DATA,
                        "%s: column '%.*s' has more than %" PRIu32
                        " different values, too many to count each; choose a column with fewer, or "
                        "count a part of the rows (--rows)",
                        file, fit, name, words->most_words);
    case TOO_LARGE:
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "%s: the different values of column '%.*s' take more than %" PRIu64
                        " MiB; choose a column with fewer, or count a part of the rows (--rows)",
                        file, fit, name, words->most_bytes >> 20);
    case HAS_NUL:
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: a value of column '%.*s' has a zero byte in it, which is no text",
                        file, fit, name);
    case NO_MEMORY:
        return ty_error_memory(error, "the different values of a column", 0);
    case NONE:
        break;
    }
    return TALLY_OK;
}
