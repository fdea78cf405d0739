/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk's columns are cut into slices, so that there is work for every thread; a slice of a
 * column has sums of its own, which are added up at the end.
 */
#include "io/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/text.h"
#include "io/input.h"
#include "io/labels.h"
#include "io/text_scan.h"
#include "io/words.h"

typedef struct slice {
    ty_numbers numbers;
    uint64_t *counts; /* of words, by code */
    size_t room;
    ty_shift shift;
    int failed; /* memory is out */
} slice;

typedef struct reading {
    tally_input *input;
    const unsigned char *mask; /* of the chunk's only column: 0 is missing; NULL: none is so */
    tally_summary *summary;
    tally_words **words; /* of columns; NULL: numbers */
    slice *slices;       /* `share` a column */
    unsigned share;
    tally_view *views;
} reading;

/* ---- One slice of a chunk ---- */

static int add_words(slice *s, const double *codes, size_t count, uint64_t different)
{
    if (different > s->room) {
        uint64_t *counts = ty_realloc(s->counts, 2 * different * sizeof *counts);
        if (!counts)
            return 0;
        memset(counts + s->room, 0, (2 * different - s->room) * sizeof *counts);
        s->counts = counts;
        s->room = 2 * different;
    }
    for (size_t i = 0; i < count; i++) {
        const double code = codes[i];
        uint64_t bits;
        memcpy(&bits, &code, sizeof bits);
        if (code == code)
            s->counts[(size_t)code]++;
        s->numbers.count += code == code;
        s->numbers.odd += bits == TY_ODD_BITS;
        s->numbers.missing += code != code && bits != TY_ODD_BITS;
    }
    return 1;
}

static double load(tally_dtype dtype, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, tally_dtype_bytes(dtype));
    return ty_dtype_value(dtype, bits);
}

static int is_long(const tally_view *view)
{
    return view->dtype == TALLY_I64 || view->dtype == TALLY_U64;
}

/* The 64-bit integer at `at`; an unsigned one less 2^63. */
static int64_t long_at(const tally_view *view, const unsigned char *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return (int64_t)(bits ^ (view->dtype == TALLY_U64 ? UINT64_C(1) << 63 : 0));
}

/* How far 64-bit integers are from shift->from, whose least and most become theirs, too. */
static void load_long(const tally_view *view, const unsigned char *at, int64_t step, size_t count,
                      ty_shift *shift, double *room)
{
    for (size_t i = 0; i < count; i++, at += step) {
        const int64_t value = long_at(view, at);
        shift->least = value < shift->least ? value : shift->least;
        shift->most = value > shift->most ? value : shift->most;
        room[i] = value >= shift->from ? (double)((uint64_t)value - (uint64_t)shift->from)
                                       : -(double)((uint64_t)shift->from - (uint64_t)value);
    }
}

/* The value numbered `index`, and how far apart they are. */
static const unsigned char *value_at(const tally_view *view, size_t index, int64_t *step)
{
    const size_t size = tally_dtype_bytes(view->dtype);
    *step = view->column_stride_bytes ? view->column_stride_bytes : (int64_t)size;
    return (const unsigned char *)view->data + (int64_t)index * *step;
}

/* f64 of a piece of a view, in `room` where it is of another type or shifted. */
static const double *as_doubles(const tally_view *view, size_t first, size_t count, ty_shift *shift,
                                double *room)
{
    int64_t step;
    const unsigned char *at = value_at(view, first, &step);
    if (shift->is_used && is_long(view)) {
        load_long(view, at, step, count, shift, room);
        return room;
    }
    if (view->dtype == TALLY_F64 && step == sizeof(double) && !shift->is_used)
        return (const double *)(const void *)at;
    for (size_t i = 0; i < count; i++, at += step)
        room[i] = load(view->dtype, at);
    for (size_t i = 0; i < count && shift->is_used; i++)
        room[i] -= isnan(room[i]) ? 0 : (double)shift->from;
    return room;
}

/* The values of a piece, 64-bit integers, that are there. */
static tally_view take_valid(const tally_view *view, const unsigned char *mask, size_t first,
                             size_t count, uint64_t *kept)
{
    size_t there = 0;
    int64_t step;
    const unsigned char *at = value_at(view, first, &step);
    for (size_t i = 0; i < count; i++, at += step) {
        memcpy(kept + there, at, sizeof *kept);
        there += mask[first + i];
    }
    return tally_view_1d(kept, view->dtype, there);
}

static void add_slice(void *arg, unsigned part, unsigned worker)
{
    enum { PIECE = 1024 };
    const reading *r = arg;
    const uint32_t column = part / r->share;
    const tally_view *view = r->views + column;
    const size_t rows = (size_t)(view->rows * view->columns);
    const size_t first = rows / r->share * (part % r->share);
    const size_t end = part % r->share + 1 == r->share ? rows : first + rows / r->share;
    slice *s = r->slices + part;
    (void)worker;
    for (size_t i = first; i < end && !s->failed; i += PIECE) {
        double room[PIECE];
        uint64_t kept[PIECE];
        size_t count = end - i < PIECE ? end - i : PIECE;
        tally_view valid;
        if (r->mask) {
            valid = take_valid(view, r->mask, i, count, kept);
            s->numbers.missing += count - valid.columns;
            count = valid.columns;
        }
        const double *values =
            as_doubles(r->mask ? &valid : view, r->mask ? 0 : i, count, &s->shift, room);
        tally_words *words = r->words[column];
        s->failed = words ? !add_words(s, values, count, tally_words_count(words))
                          : !ty_numbers_add(&s->numbers, values, count);
    }
}

/* Times and 64-bit integers are taken from the one numbered `first`. */
static void set_shift(const reading *r, uint32_t column, size_t first)
{
    slice *s = r->slices + column * r->share;
    const tally_view *view = r->views + column;
    int64_t step;
    if (!is_long(view) && !r->summary->columns[column].time)
        return;
    s->shift = (ty_shift){.is_used = 1, .is_unsigned = view->dtype == TALLY_U64};
    s->shift.from =
        is_long(view) ? long_at(view, value_at(view, first, &step)) : (int64_t)s->numbers.base;
    s->shift.least = s->shift.most = s->shift.from;
    s->numbers.base = 0;
}

/* Squares of all slices are taken from one number: the first that is finite. */
static void set_base(const reading *r, uint32_t column)
{
    slice *s = r->slices + column * r->share;
    const tally_view *view = r->views + column;
    if (s->numbers.has_base || r->words[column])
        return;
    for (size_t i = 0; i < view->rows * view->columns && !s->numbers.has_base; i++) {
        double room[1];
        if (r->mask && !r->mask[i])
            continue;
        ty_shift none = {0};
        const double value = *as_doubles(view, i, 1, &none, room);
        s->numbers.has_base = isfinite(value);
        s->numbers.base = value;
        if (s->numbers.has_base)
            set_shift(r, column, i);
    }
    for (unsigned k = 1; k < r->share; k++) {
        s[k].numbers.has_base = s->numbers.has_base;
        s[k].numbers.base = s->numbers.base;
        s[k].shift = s->shift;
    }
}

static tally_status add_chunk(reading *r, tally_error *error)
{
    const uint32_t columns = r->summary->count;
    ty_pool *pool = ty_input_pool(r->input);
    for (uint32_t c = 0; c < columns; c++)
        set_base(r, c);
    if (pool)
        ty_pool_run(pool, 0, columns * r->share, add_slice, r);
    else
        for (unsigned part = 0; part < columns * r->share; part++)
            add_slice(r, part, 0);
    for (uint32_t part = 0; part < columns * r->share; part++)
        if (r->slices[part].failed)
            return ty_error_memory(error, "a summary", 0);
    r->summary->rows += r->views[0].rows * r->views[0].columns;
    return TALLY_OK;
}

/* ---- A column when all is read ---- */

static int more(const void *a, const void *b)
{
    const ty_word_count *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->text, y->text);
}

/* Puts a word among the largest so far. */
static void list_word(ty_summary_column *c, ty_word_count word)
{
    if (c->listed == TY_SUMMARY_TOP && more(&c->top[c->listed - 1], &word) < 0)
        return;
    if (c->listed < TY_SUMMARY_TOP)
        c->listed++;
    c->top[c->listed - 1] = word;
    qsort(c->top, c->listed, sizeof *c->top, more);
}

/* The words are copied, for they go with the input. */
static int own_texts(ty_summary_column *c)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->listed; i++)
        bytes += ty_label_bytes(c->top[i].text, strlen(c->top[i].text));
    ty_labels *labels = ty_labels_create(c->listed, bytes);
    if (!labels)
        return 0;
    for (uint32_t i = 0; i < c->listed; i++) {
        ty_labels_add(labels, c->top[i].text, strlen(c->top[i].text));
        c->top[i].text = ty_label(labels, i);
    }
    c->text = (char *)labels;
    return 1;
}

static int finish_words(const reading *r, uint32_t column)
{
    ty_summary_column *c = r->summary->columns + column;
    const slice *slices = r->slices + column * r->share;
    const uint64_t different = tally_words_count(r->words[column]);
    for (uint64_t code = 0; code < different; code++) {
        ty_word_count word = {0, NULL};
        size_t size;
        for (unsigned k = 0; k < r->share; k++)
            word.count += code < slices[k].room ? slices[k].counts[code] : 0;
        if (!word.count)
            continue;
        c->different++;
        word.text = ty_words_bytes(r->words[column], code, &size);
        list_word(c, word);
    }
    return own_texts(c);
}

static tally_status finish_column(const reading *r, uint32_t column, tally_error *error)
{
    ty_summary_column *c = r->summary->columns + column;
    slice *slices = r->slices + column * r->share;
    int ok = 1;
    c->is_words = r->words[column] != NULL;
    c->is_full = c->is_words && ty_words_is_full(r->words[column]);
    if (c->is_words && !c->is_full &&
        ty_words_status(r->words[column], c->name, NULL, NULL) == TALLY_ERROR_MEMORY)
        return ty_error_memory(error, "the different values of a column", 0);
    c->shift = slices->shift;
    for (unsigned k = 0; k < r->share && ok; k++) {
        const ty_shift *shift = &slices[k].shift;
        c->shift.least = shift->least < c->shift.least ? shift->least : c->shift.least;
        c->shift.most = shift->most > c->shift.most ? shift->most : c->shift.most;
        ok = ty_numbers_merge(&c->numbers, &slices[k].numbers);
    }
    if (ok && c->is_words)
        ok = finish_words(r, column);
    else if (ok)
        ty_numbers_finish(c);
    /* Only what was found is needed from here on. */
    ty_numbers kept = c->numbers;
    kept.pages = NULL;
    ty_numbers_release(&c->numbers);
    c->numbers = kept;
    return ok ? TALLY_OK : ty_error_memory(error, "a summary", 0);
}

/* ---- The whole ---- */

void tally_summary_destroy(tally_summary *summary)
{
    if (!summary)
        return;
    for (uint32_t i = 0; i < summary->count; i++) {
        ty_free(summary->columns[i].name);
        ty_free(summary->columns[i].why);
        ty_free(summary->columns[i].text);
        ty_numbers_release(&summary->columns[i].numbers);
    }
    ty_free(summary->columns);
    ty_free(summary->name);
    ty_free(summary);
}

static tally_summary *create(const char *name, uint32_t columns)
{
    tally_summary *made = ty_calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->name = ty_text_copy(name, strlen(name));
    made->columns = ty_calloc(columns, sizeof *made->columns);
    made->count = made->columns ? columns : 0;
    if (made->name && made->columns)
        return made;
    tally_summary_destroy(made);
    return NULL;
}

static char *copy_name(const char *name, uint32_t column)
{
    char number[32];
    snprintf(number, sizeof number, "column %" PRIu32, column + 1);
    name = name && *name ? name : number;
    return ty_text_copy(name, strlen(name));
}

static void release(reading *r)
{
    for (uint32_t i = 0; r->slices && i < r->summary->count * r->share; i++) {
        ty_numbers_release(&r->slices[i].numbers);
        ty_free(r->slices[i].counts);
    }
    ty_free(r->slices);
    ty_free(r->words);
    ty_free(r->views);
}

/* Reads `input` into the columns of r->summary, which are as many as its views. */
static tally_status read_all(reading *r, tally_error *error)
{
    const uint32_t columns = r->summary->count;
    const ty_pool *pool = ty_input_pool(r->input);
    const unsigned threads = pool ? ty_pool_threads(pool) : 1;
    r->share = threads > 1 ? 2 * threads / columns + 1 : 1;
    r->slices = ty_calloc((size_t)columns * r->share, sizeof *r->slices);
    r->words = ty_calloc(columns, sizeof(tally_words *));
    r->views = ty_calloc(columns, sizeof *r->views);
    if (!r->slices || !r->words || !r->views)
        return ty_error_memory(error, "a summary", columns * r->share * sizeof *r->slices);
    for (uint32_t c = 0; c < columns; c++) {
        r->words[c] = ty_input_words(r->input, c);
        r->summary->columns[c].time = r->words[c] ? TALLY_TIME_NONE : tally_input_time(r->input, c);
    }
    tally_view mask = TALLY_VIEW_INIT;
    tally_status status = TALLY_OK;
    for (int done = 0; !status;) {
        status = tally_input_read(r->input, r->views, &done, error);
        if (done)
            break;
        if (!status)
            status = tally_input_mask(r->input, &mask, error);
        r->mask = mask.data;
        if (!status)
            status = add_chunk(r, error);
    }
    for (uint32_t c = 0; c < columns && !status; c++)
        status = finish_column(r, c, error);
    return status;
}

static tally_status read_table(tally_input *input, const char *name, uint32_t columns,
                               tally_summary **summary, tally_error *error)
{
    reading r = {.input = input, .summary = create(name, columns)};
    tally_status status = TALLY_OK;
    if (!r.summary)
        return ty_error_memory(error, "a summary", columns * sizeof *r.summary->columns);
    for (uint32_t c = 0; c < columns && !status; c++)
        if (!(r.summary->columns[c].name = copy_name(tally_input_channel_name(input, c), c)))
            status = ty_error_memory(error, "the name of a column", 0);
    if (!status)
        status = read_all(&r, error);
    release(&r);
    if (status)
        tally_summary_destroy(r.summary);
    else
        *summary = r.summary;
    return status;
}

/* ---- Columns that are opened one by one ---- */

/* Why a column cannot be read, without the name of what it is in, which is above all columns. */
static int set_why(ty_summary_column *c, const char *why, const char *name)
{
    const size_t size = strlen(name);
    if (strncmp(why, name, size) == 0 && why[size] == ':')
        why += size + 2;
    c->why = ty_text_copy(why, strlen(why));
    return c->why != NULL;
}

/* The column behind those of `s`; *found is 0 where there is none. */
static tally_status add_column(tally_input *input, tally_summary *s, tally_words *const *texts,
                               int *found, tally_error *error)
{
    char number[16];
    tally_error why = {""};
    snprintf(number, sizeof number, "%" PRIu32, s->count + 1);
    tally_status status = ty_input_column(input, number, texts, &why);
    *found = status != TALLY_ERROR_ARGUMENT;
    if (!*found)
        return s->count ? TALLY_OK : ty_error(error, status, "%s", why.message);
    ty_summary_column *columns = ty_realloc(s->columns, (s->count + 1) * sizeof *columns);
    if (!columns)
        return ty_error_memory(error, "a summary", (s->count + 1) * sizeof *columns);
    s->columns = columns;
    ty_summary_column *c = columns + s->count++;
    memset(c, 0, sizeof *c);
    tally_summary one = {.count = 1, .columns = c};
    reading r = {.input = input, .summary = &one};
    c->name = copy_name(tally_input_channel_name(input, 0), s->count - 1);
    if (!status) {
        status = read_all(&r, &why);
        release(&r);
        s->rows = one.rows > s->rows ? one.rows : s->rows;
    }
    if (status == TALLY_ERROR_MEMORY || !c->name ||
        (status && !set_why(c, why.message, ty_input_name(input))))
        return ty_error_memory(error, "a summary", 0);
    return TALLY_OK;
}

static tally_status read_columns(tally_input *input, const char *name, tally_summary **summary,
                                 tally_error *error)
{
    tally_summary *made = create(name, 1);
    tally_status status = TALLY_OK;
    if (!made)
        return ty_error_memory(error, "a summary", sizeof *made);
    made->count = 0;
    for (int found = 1; !status && found && made->count < TY_SUMMARY_COLUMNS;) {
        tally_words *texts = NULL;
        status = tally_words_create(&texts, error);
        if (!status)
            status = add_column(input, made, &texts, &found, error);
        ty_input_column_close(input);
        tally_words_destroy(texts);
    }
    if (status)
        tally_summary_destroy(made);
    else
        *summary = made;
    return status;
}

/* ---- The interface ---- */

tally_status tally_summary_create(tally_input *input, const char *name, tally_summary **summary,
                                  tally_error *error)
{
    tally_input_info info = TALLY_INPUT_INFO_INIT;
    if (!input || !name || !summary)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !input  ? "input"
                        : !name ? "name"
                                : "summary");
    tally_input_info_get(input, &info);
    if (!info.table)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: was not opened as a whole table", name);
    return ty_input_is_by_columns(input) ? read_columns(input, name, summary, error)
                                         : read_table(input, name, info.table, summary, error);
}

/* Of a table or a single column; *summary stays NULL of what is neither. */
static tally_status read_any(tally_input *input, const char *name, tally_summary **summary,
                             tally_error *error)
{
    tally_input_info info = TALLY_INPUT_INFO_INIT;
    void *state;
    tally_input_info_get(input, &info);
    if (info.table)
        return tally_summary_create(input, name, summary, error);
    if (ty_input_decoder(input, &state)->has_columns)
        return read_table(input, name, 1, summary, error);
    *summary = NULL;
    return TALLY_OK;
}

tally_status tally_summary_open(const char *path, const tally_input_options *options,
                                tally_summary **summary, tally_error *error)
{
    if (!path || !options || !summary)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !path      ? "path"
                        : !options ? "options"
                                   : "summary");
    tally_input_options wanted = *options;
    tally_input *input = NULL;
    tally_words *texts = NULL;
    tally_status status = tally_words_create(&texts, error);
    wanted.words = &texts;
    wanted.whole_table = 2;
    if (!status)
        status = tally_input_open(path, &wanted, &input, error);
    if (!status)
        status = read_any(input, path, summary, error);
    tally_input_close(input);
    tally_words_destroy(texts);
    return status;
}
