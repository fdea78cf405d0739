/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words are looked for without a lock: a slot of the hash table goes from empty to a word once, by
 * a release store. It has all that tells a word of at most 16 bytes, and the hash of any, so that
 * no more memory is looked at for one, nor for a larger table. A table that is too full is copied
 * to a larger one; the old ones, together smaller than the new, stay for the threads that still
 * read them. Who misses a word takes its shard's lock and looks again.
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
#define FIRST_SLOTS 32 /* of a shard */
#define BLOCK_BYTES ((size_t)4 << 10)
#define MOST_BLOCK  ((size_t)1 << 20)
#define MOST_WORDS  (UINT32_C(1) << 24)
#define MOST_BYTES  ((uint64_t)1 << 30) /* of words and tables; or a quarter of what is left */
#define SEGMENTS    25                  /* of the list of codes: 1, 1, 2, 4, … words */
#define SHARED_FROM ((size_t)16 << 10)  /* tables that large lie side by side in huge pages */
#define HUGE_PAGES  ((size_t)4 << 20)   /* from here on ty_large asks for them */

typedef struct word {
    uint32_t size;
    char text[];
} word;

typedef struct slot {
    _Atomic(uint64_t) known; /* kind << 32 | code; EMPTY: there is no word */
    uint64_t ends[2];        /* the first and last bytes; of more than 16 the hash and the last */
    const word *word;
} slot;

enum { AHEAD = 16 }; /* words whose slots are asked for before the first is looked at */
#define EMPTY ((uint64_t)TY_WORDS_FAILED)
/* Of the kind of a word that is there whatever it says: what text takes for missing has another
 * entry. */
#define PRESENT (UINT64_C(1) << 31)

typedef struct table {
    _Alignas(64) struct table *older;
    size_t slots, used; /* slots: a power of two */
    int is_shared;      /* its memory is of tally_words.tables */
    _Alignas(64) slot slot[];
} table;

typedef struct block {
    struct block *older;
    size_t left;
    char bytes[];
} block;

typedef struct shard {
    _Alignas(64) _Atomic(table *) table;
    pthread_mutex_t lock; /* of all that changes */
    block *block;
} shard;

/* From TOO_MANY on no new word is kept. */
typedef enum failure { NONE, HAS_NUL, TOO_MANY, TOO_LARGE, NO_MEMORY } failure;

struct tally_words {
    shard shards[SHARDS];
    uint64_t seed; /* so that nobody can write a file whose words all collide */
    atomic_uint count;
    atomic_int failure;
    _Atomic(uint64_t) bytes;
    uint32_t most_words;
    uint64_t most_bytes;
    pthread_mutex_t lock; /* of new segments, and of `tables` */
    block *tables;
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

static void free_table(table *t)
{
    while (t) {
        table *older = t->older;
        if (!t->is_shared)
            ty_free(t);
        t = older;
    }
}

static void free_blocks(block *b)
{
    while (b) {
        block *older = b->older;
        ty_free(b);
        b = older;
    }
}

void tally_words_destroy(tally_words *words)
{
    if (!words)
        return;
    for (int i = 0; i < SHARDS; i++) {
        shard *s = words->shards + i;
        free_table(atomic_load_explicit(&s->table, memory_order_relaxed));
        free_blocks(s->block);
        pthread_mutex_destroy(&s->lock);
    }
    free_blocks(words->tables);
    for (int i = 0; i < SEGMENTS; i++)
        ty_free((void *)atomic_load_explicit(&words->segments[i], memory_order_relaxed));
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
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_init(&made->shards[i].lock, NULL);
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

static inline uint64_t hash_of_slot(uint64_t seed, const slot *s, uint64_t known)
{
    const size_t size = (size_t)(known >> 32 & (PRESENT - 1));
    return size > 16 ? s->ends[0] : hash_of(seed, NULL, size, s->ends);
}

/* A word that is looked for. */
typedef struct wanted {
    uint64_t hash, ends[2]; /* as a slot's */
    uint64_t kind;          /* its size, and PRESENT */
    const char *text;
    size_t size;
} wanted;

static inline wanted want(uint64_t seed, const char *text, size_t size)
{
    wanted w = {.kind = size, .text = text, .size = size};
    find_ends(text, size, w.ends);
    w.hash = hash_of(seed, text, size, w.ends);
    if (size > 16)
        w.ends[0] = w.hash;
    return w;
}

/* The place to look at for the k-th time, k from 1, behind `before`: the other slot of a line of
 * the cache, then the next line. Lines take the time, and only the first was asked for ahead. */
static inline size_t next_place(size_t before, size_t k)
{
    return (before ^ 1) + (k & 1 ? 0 : 2);
}

/* Its code, or TY_WORDS_FAILED: it is not there. */
static inline uint32_t find(const table *t, const wanted *w)
{
    size_t i = w->hash;
    for (size_t k = 1;; i = next_place(i, k++)) {
        const slot *s = &t->slot[i & (t->slots - 1)];
        const uint64_t known = atomic_load_explicit(&s->known, memory_order_acquire);
        if (known == EMPTY)
            return TY_WORDS_FAILED;
        if (known >> 32 == w->kind && s->ends[0] == w->ends[0] && s->ends[1] == w->ends[1] &&
            (w->size <= 16 || memcmp(s->word->text, w->text, w->size) == 0))
            return (uint32_t)known;
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

/* Memory that counts, in whole lines of a cache; NULL after a failure. */
static void *take(tally_words *words, size_t size)
{
    if (atomic_fetch_add(&words->bytes, size) + size > words->most_bytes) {
        fail(words, TOO_LARGE);
        return NULL;
    }
    void *memory = size < HUGE_PAGES ? ty_aligned(64, size) : ty_large(size);
    if (!memory)
        fail(words, NO_MEMORY);
    return memory;
}

/* A table's memory. Every look at one is at another place, so large ones share huge pages: there
 * is room for one of each of eight shards, which grow at about the same time. */
static table *take_table(tally_words *words, size_t slots)
{
    enum { HEAD = 64 }; /* of a block, so that tables begin where a cache's lines do */
    const size_t size = sizeof(table) + slots * sizeof(slot);
    table *made = NULL;
    if (size < SHARED_FROM) {
        if ((made = take(words, size)))
            made->is_shared = 0;
        return made;
    }
    pthread_mutex_lock(&words->lock);
    block *b = words->tables;
    if (!b || b->left < size) {
        const size_t all = (HEAD + 8 * size + HUGE_PAGES - 1) & ~(HUGE_PAGES - 1);
        if ((b = take(words, all))) {
            b->older = words->tables;
            b->left = all - HEAD;
            words->tables = b;
        }
    }
    if (b) {
        b->left -= size;
        made = (table *)(void *)((char *)b + HEAD + b->left);
        made->is_shared = 1;
    }
    pthread_mutex_unlock(&words->lock);
    return made;
}

static void put(table *t, uint64_t hash, const word *w, const uint64_t ends[2], uint64_t known)
{
    size_t i = hash;
    for (size_t k = 1;
         atomic_load_explicit(&t->slot[i & (t->slots - 1)].known, memory_order_relaxed) != EMPTY;
         k++)
        i = next_place(i, k);
    slot *s = &t->slot[i & (t->slots - 1)];
    s->ends[0] = ends[0];
    s->ends[1] = ends[1];
    s->word = w;
    atomic_store_explicit(&s->known, known, memory_order_release);
    t->used++;
}

/* The shard's table with a free slot, at most half full; NULL after a failure. */
static table *grow(tally_words *words, shard *s)
{
    table *old = atomic_load_explicit(&s->table, memory_order_relaxed);
    if (old && 2 * (old->used + 1) <= old->slots)
        return old;
    const size_t slots = old ? 2 * old->slots : FIRST_SLOTS;
    table *made = take_table(words, slots);
    if (!made)
        return NULL;
    made->older = old;
    made->slots = slots;
    made->used = 0;
    for (size_t i = 0; i < slots; i++)
        atomic_init(&made->slot[i].known, EMPTY);
    for (size_t i = 0; old && i < old->slots; i++) {
        const slot *from = &old->slot[i];
        const uint64_t known = atomic_load_explicit(&from->known, memory_order_relaxed);
        if (known != EMPTY)
            put(made, hash_of_slot(words->seed, from, known), from->word, from->ends, known);
    }
    atomic_store_explicit(&s->table, made, memory_order_release);
    return made;
}

static word *new_word(tally_words *words, shard *s, size_t size)
{
    const size_t need = (sizeof(word) + size + 1 + 3) & ~(size_t)3;
    if (!s->block || s->block->left < need) {
        size_t bytes = s->block ? MOST_BLOCK : BLOCK_BYTES;
        if (s->block && !s->block->older)
            bytes = 8 * BLOCK_BYTES;
        bytes = bytes < need ? need : bytes;
        block *made = take(words, sizeof *made + bytes);
        if (!made)
            return NULL;
        made->older = s->block;
        made->left = bytes;
        s->block = made;
    }
    s->block->left -= need;
    /* from the block's end to its beginning, so that `left` is also where */
    return (word *)(void *)(s->block->bytes + s->block->left);
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
        if (!list && (list = take(words, (first ? first : 1) * sizeof(const word *))))
            atomic_store_explicit(&words->segments[segment], list, memory_order_release);
        pthread_mutex_unlock(&words->lock);
    }
    if (list)
        list[code - first] = w;
    return list != NULL;
}

static int is_missing(const char *text, size_t size, const ty_spelling *spelling)
{
    const ty_field field = {.at = text, .begin = text, .size = size};
    double value;
    const ty_field_kind kind = ty_field_read(&field, spelling, &value);
    return kind == TY_FIELD_MISSING || (kind == TY_FIELD_NUMBER && value != value);
}

static uint32_t add(tally_words *words, shard *s, const wanted *new, const ty_spelling *spelling,
                    int present)
{
    if (new->size >= PRESENT || memchr(new->text, '\0', new->size))
        return fail(words, HAS_NUL);
    table *t = grow(words, s);
    word *w = t ? new_word(words, s, new->size) : NULL;
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
    put(t, new->hash, w, new->ends, new->kind << 32 | code);
    return code;
}

int ty_words_is_full(const tally_words *words)
{
    return atomic_load_explicit(&words->failure, memory_order_relaxed) >= TOO_MANY;
}

static inline uint32_t code_of(tally_words *words, const wanted *w, const ty_spelling *spelling,
                               int present)
{
    shard *s = words->shards + (w->hash >> 58);
    table *t = atomic_load_explicit(&s->table, memory_order_acquire);
    uint32_t code = t ? find(t, w) : TY_WORDS_FAILED;
    if (code != TY_WORDS_FAILED || ty_words_is_full(words))
        return code;
    pthread_mutex_lock(&s->lock);
    t = atomic_load_explicit(&s->table, memory_order_relaxed);
    code = t ? find(t, w) : TY_WORDS_FAILED;
    if (code == TY_WORDS_FAILED)
        code = add(words, s, w, spelling, present);
    pthread_mutex_unlock(&s->lock);
    return code;
}

void ty_words_codes(tally_words *words, const char *const *texts, const size_t *sizes, size_t count,
                    const ty_spelling *spelling, uint32_t *codes)
{
    wanted ring[AHEAD];
    for (size_t i = 0; i < count + AHEAD; i++) {
        wanted *w = &ring[i % AHEAD];
        if (i >= AHEAD)
            codes[i - AHEAD] = code_of(words, w, spelling, 0);
        if (i >= count)
            continue;
        *w = want(words->seed, texts[i], sizes[i]);
        const table *t =
            atomic_load_explicit(&words->shards[w->hash >> 58].table, memory_order_acquire);
        if (t)
            __builtin_prefetch(&t->slot[w->hash & (t->slots - 1)]);
    }
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
    const int known = size && code < tally_words_count(words);
    return known ? ty_words_bytes(words, code, size) : NULL;
}

tally_status tally_words_add(tally_words *words, const char *text, size_t size, tally_error *error)
{
    if (!words || !text)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", words ? "text" : "words");
    ty_words_value(words, text, size);
    return ty_words_status(words, "all files", NULL, error);
}

const char *ty_words_bytes(const tally_words *words, uint64_t code, size_t *size)
{
    uint32_t first;
    const unsigned segment = segment_of((uint32_t)code, &first);
    const word *w = atomic_load_explicit(&words->segments[segment],
                                         memory_order_acquire)[(uint32_t)code - first];
    *size = w->size;
    return w->text;
}

void ty_words_prefetch(const tally_words *words, uint64_t code)
{
    uint32_t first;
    if (code >= tally_words_count(words))
        return;
    const unsigned segment = segment_of((uint32_t)code, &first);
    __builtin_prefetch(atomic_load_explicit(&words->segments[segment],
                                            memory_order_acquire)[(uint32_t)code - first]);
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
