/* SPDX-License-Identifier: Apache-2.0 */
/* A Parquet column read in parts by several threads. Each part goes on from where an earlier one
 * ended, if a cursor is there, or else begins its row group anew, passing over pages unread. */
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/parquet.h"

/* A cursor that no thread uses, or one does. */
typedef struct ty_pq_reader {
    struct ty_pq_reader *next;
    ty_pq_cursor cursor;
    size_t group; /* that it is in, if `begun` */
    uint64_t row; /* of the file, that it reads next */
    int begun;
} ty_pq_reader;

/* Which elements have values, left by whoever read these for whoever reads that next. */
typedef struct ty_pq_left {
    struct ty_pq_left *next;
    uint64_t begin, count;
    unsigned char mask[];
} ty_pq_left;

enum { LEFT_MOST = 64 };

struct ty_pq_source {
    tally_source source;
    const ty_pq_chunk *chunks;
    uint32_t count;
    uint64_t row_begin;
    size_t groups;
    uint64_t *group_begin; /* `groups` + 1 rows of the file */
    ty_pq_cursor fresh;
    pthread_mutex_t lock;
    ty_pq_reader *idle;
    ty_pq_left *left; /* at most LEFT_MOST, the last first */
};

/* The idle reader that is at `row`, or any, or a new one; NULL when memory is out. */
static ty_pq_reader *take_reader(ty_pq_source *s, uint64_t row)
{
    pthread_mutex_lock(&s->lock);
    ty_pq_reader **best = &s->idle;
    for (ty_pq_reader **at = &s->idle; *at; at = &(*at)->next)
        if ((*at)->begun && (*at)->row == row)
            best = at;
    ty_pq_reader *reader = *best;
    if (reader)
        *best = reader->next;
    pthread_mutex_unlock(&s->lock);
    if (!reader && (reader = ty_calloc(1, sizeof *reader)))
        reader->cursor = s->fresh;
    return reader;
}

static void give_reader(ty_pq_source *s, ty_pq_reader *reader)
{
    pthread_mutex_lock(&s->lock);
    reader->next = s->idle;
    s->idle = reader;
    pthread_mutex_unlock(&s->lock);
}

/* The row group that has `row`. */
static size_t group_of(const ty_pq_source *s, uint64_t row)
{
    size_t low = 0, high = s->groups;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (s->group_begin[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Brings a reader to `row`, which is in row group `group`. */
static tally_status seek(const ty_pq_source *s, ty_pq_reader *r, size_t group, uint64_t row,
                         tally_error *error)
{
    if (!r->begun || r->group != group || r->row > row) {
        ty_pq_cursor_begin(&r->cursor, s->chunks + group * s->count);
        r->begun = 1;
        r->group = group;
        r->row = s->group_begin[group];
    }
    return ty_pq_cursor_skip(&r->cursor, row - r->row, error);
}

/* ---- Masks ---- */

static void free_left(ty_pq_left *left)
{
    while (left) {
        ty_pq_left *next = left->next;
        ty_free(left);
        left = next;
    }
}

static void leave(ty_pq_source *s, ty_pq_left *one)
{
    pthread_mutex_lock(&s->lock);
    one->next = s->left;
    s->left = one;
    ty_pq_left *last = one;
    for (int n = 1; n < LEFT_MOST && last->next; n++)
        last = last->next;
    ty_pq_left *old = last->next;
    last->next = NULL;
    pthread_mutex_unlock(&s->lock);
    free_left(old);
}

/* What was left for these elements; NULL: nothing. */
static ty_pq_left *take_left(ty_pq_source *s, uint64_t begin, uint64_t count)
{
    pthread_mutex_lock(&s->lock);
    ty_pq_left **at = &s->left;
    while (*at && ((*at)->begin != begin || (*at)->count != count))
        at = &(*at)->next;
    ty_pq_left *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* ---- Parts ---- */

static tally_status read_rows(ty_pq_source *s, uint64_t begin, uint64_t count, void *to,
                              unsigned char *mask, tally_error *error)
{
    const size_t bytes = tally_dtype_bytes(s->fresh.values.target.dtype);
    unsigned char *at = to;
    uint64_t row = s->row_begin + begin;
    tally_status status = TALLY_OK;
    ty_pq_reader *r = take_reader(s, row);
    if (!r)
        return ty_error_memory(error, "a reader of a Parquet column", sizeof *r);
    while (!status && count) {
        const size_t group = group_of(s, row);
        const uint64_t left = s->group_begin[group + 1] - row;
        const size_t n = (size_t)(left < count ? left : count);
        status = seek(s, r, group, row, error);
        if (!status)
            status = ty_pq_cursor_read(&r->cursor, n, at, mask, error);
        row += n;
        r->row = row;
        count -= n;
        at += n * bytes;
        mask = mask ? mask + n : NULL;
    }
    r->begun = !status;
    give_reader(s, r);
    return status;
}

static tally_status read_part(void *user, uint64_t begin, uint64_t count, void *to,
                              tally_error *error)
{
    ty_pq_source *s = user;
    if (!s->fresh.values.target.masked)
        return read_rows(s, begin, count, to, NULL, error);
    ty_pq_left *one = ty_malloc(sizeof *one + (size_t)count);
    if (!one)
        return ty_error_memory(error, "which values are missing", count);
    one->begin = begin;
    one->count = count;
    tally_status status = read_rows(s, begin, count, to, one->mask, error);
    if (status)
        ty_free(one);
    else
        leave(s, one);
    return status;
}

tally_status ty_pq_source_mask(ty_pq_source *s, uint64_t begin, uint64_t count, unsigned char *mask,
                               tally_error *error)
{
    ty_pq_left *one = take_left(s, begin, count);
    tally_status status = TALLY_OK;
    if (!one) { /* nobody has just read the values */
        void *values = ty_malloc((size_t)count * sizeof(uint64_t));
        one = ty_malloc(sizeof *one + (size_t)count);
        status = values && one ? read_rows(s, begin, count, values, one->mask, error)
                               : ty_error_memory(error, "which values are missing", 9 * count);
        ty_free(values);
    }
    for (uint64_t i = 0; i < count && !status; i++)
        mask[i] &= one->mask[i];
    ty_free(one);
    return status;
}

/* ---- Row groups ---- */

/* A reader for all of a row group, which does not go on from where another one ended. */
static ty_pq_reader *take_any(ty_pq_source *s)
{
    ty_pq_reader *r = take_reader(s, UINT64_MAX);
    if (r)
        r->begun = 0;
    return r;
}

int ty_pq_source_codes(ty_pq_source *s, size_t group, ty_codes *codes)
{
    ty_pq_reader *r = take_any(s);
    if (!r)
        return 0;
    const int good = ty_pq_count_codes(&r->cursor, s->chunks + group * s->count, codes);
    give_reader(s, r);
    return good;
}

tally_status ty_pq_source_words(ty_pq_source *s, size_t group, tally_error *error)
{
    ty_pq_reader *r = take_any(s);
    if (!r)
        return ty_error_memory(error, "a reader of a Parquet column", sizeof *r);
    ty_pq_cursor_begin(&r->cursor, s->chunks + group * s->count);
    const tally_status status = ty_pq_cursor_words(&r->cursor, error);
    give_reader(s, r);
    return status;
}

/* The rows of a group, if all but the last have as many. */
static uint64_t grain_of(const ty_pq_source *s)
{
    const uint64_t rows = s->groups ? s->group_begin[1] : 0;
    for (size_t g = 1; g + 1 < s->groups; g++)
        if (s->group_begin[g + 1] - s->group_begin[g] != rows)
            return 0;
    return rows && s->row_begin % rows == 0 ? rows : 0;
}

static uint64_t whole(void *user, uint64_t element)
{
    const ty_pq_source *s = user;
    const uint64_t begin = s->group_begin[group_of(s, s->row_begin + element)];
    return begin > s->row_begin ? begin - s->row_begin : 0;
}

ty_pq_source *ty_pq_source_open(const ty_pq_footer *footer, const ty_pq_chunk *chunks,
                                uint32_t count, const ty_pq_cursor *cursor, uint64_t row_begin)
{
    ty_pq_source *s = ty_calloc(1, sizeof *s);
    uint64_t *begin = ty_calloc(footer->group_count + 1, sizeof *begin);
    if (!s || !begin) {
        ty_free(s);
        ty_free(begin);
        return NULL;
    }
    for (size_t g = 0; g < footer->group_count; g++)
        begin[g + 1] = begin[g] + footer->group_rows[g];
    s->source = (tally_source)TALLY_SOURCE_INIT;
    s->source.read = read_part;
    s->source.user = s;
    s->chunks = chunks;
    s->count = count;
    s->row_begin = row_begin;
    s->groups = footer->group_count;
    s->group_begin = begin;
    s->source.grain = grain_of(s);
    s->source.whole = s->source.grain ? NULL : whole;
    s->fresh.name = cursor->name;
    s->fresh.file = cursor->file;
    s->fresh.start = cursor->start;
    s->fresh.values.target = cursor->values.target;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void ty_pq_source_close(ty_pq_source *s)
{
    if (!s)
        return;
    for (ty_pq_reader *r = s->idle; r; r = s->idle) {
        s->idle = r->next;
        ty_pq_cursor_close(&r->cursor);
        ty_free(r);
    }
    free_left(s->left);
    pthread_mutex_destroy(&s->lock);
    ty_free(s->group_begin);
    ty_free(s);
}

const tally_source *ty_pq_source_get(const ty_pq_source *s)
{
    return &s->source;
}
