/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines: blocks of lines, their parts parsed by all threads. Named values are columns of
 * float64, of codes of words or of 64-bit integers; a record that does not have one has it missing.
 */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/dates.h"
#include "io/json_state.h"

enum { BLOCK_BYTES = 1 << 20, CHUNK_BYTES = 4 << 20 };

#define LINE_MOST ((size_t)256 << 20)

static int jsonl_probe(const unsigned char *head, size_t size)
{
    size_t at = size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    if (at == size || head[at++] != '{')
        return 0;
    while (at < size && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    return at < size && (head[at] == '"' || head[at] == '}');
}

/* ---- Parts ---- */

const char *ty_jsonl_line_end(const char *p, const char *end)
{
    const char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

static int make_row(ty_jsonl_part *part, uint32_t count)
{
    if (part->rows < part->room)
        return 1;
    const size_t room = part->room ? 2 * part->room : 4096;
    double *values = ty_realloc(part->values, room * count * sizeof *values);
    if (!values)
        return 0;
    part->values = values;
    part->room = room;
    return 1;
}

/* The columns of all wishes, to the row behind the last. */
static int read_record(const ty_jsonl_state *s, ty_jsonl_part *part, const char *p, const char *end)
{
    int failed = 0;
    for (part->group = 0; part->group < s->groups && !failed; part->group += !failed) {
        const size_t first = (size_t)part->group * TALLY_MAX_DIMENSIONS;
        failed = ty_jsonl_read(s->wishes + part->group, p, end,
                               part->values + part->rows * s->count + first, part->seen + first,
                               &part->fault);
    }
    return failed;
}

static void parse_part(void *arg, unsigned number, unsigned worker)
{
    const ty_jsonl_state *s = arg;
    ty_jsonl_part *part = (ty_jsonl_part *)s->parts + number;
    (void)worker;
    part->lines = part->rows = 0;
    part->failed = part->out_of_memory = 0;
    memset(part->seen, 0, s->count);
    for (const char *p = part->begin, *end; p < part->end; p = end + 1, part->lines++) {
        end = ty_jsonl_line_end(p, part->end);
        const char *first = ty_jsonl_skip_blanks(p, end);
        if (first == end)
            continue;
        part->out_of_memory = !make_row(part, s->count);
        part->line = p;
        if (part->out_of_memory || read_record(s, part, first, end)) {
            part->failed = 1;
            return;
        }
        part->rows++;
    }
}

/* Splits the lines of [begin, end) over the threads, and parses them. */
static void parse_block(ty_jsonl_state *s, const char *begin, const char *end)
{
    ty_pool *pool = ty_stream_pool(s->stream);
    const size_t size = (size_t)(end - begin);
    const size_t share = size / TY_JSONL_PARTS + 1 > BLOCK_BYTES / 4 ? size / TY_JSONL_PARTS + 1
                                                                     : (size_t)BLOCK_BYTES / 4;
    s->count_parts = 0;
    for (const char *p = begin; p < end;) {
        ty_jsonl_part *part = s->parts + s->count_parts++;
        const char *stop = (size_t)(end - p) > share ? ty_jsonl_line_end(p + share, end) : end;
        part->begin = p;
        part->end = stop < end ? stop + 1 : end;
        p = part->end;
    }
    if (pool && s->count_parts > 1)
        ty_pool_run(pool, 0, s->count_parts, parse_part, s);
    else
        for (unsigned i = 0; i < s->count_parts; i++)
            parse_part(s, i, 0);
}

/* ---- Faults ---- */

tally_status ty_jsonl_say(const ty_jsonl_state *s, const ty_jsonl_part *part, uint64_t line,
                          tally_error *error)
{
    enum { SHOWN = 40 };
    const ty_jsonl_fault *f = &part->fault;
    const uint64_t column = (uint64_t)(f->at - part->line) + 1;
    if (part->out_of_memory)
        return ty_error_memory(error, "the values of JSON lines", part->room * sizeof(double));
    if (f->what)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s:%" PRIu64 ":%" PRIu64 ": %s", s->name, line,
                        column, f->what);
    const ty_jsonl_wish *wish = s->wishes + part->group;
    if (wish->words[f->name]) {
        tally_status status =
            ty_words_status(wish->words[f->name], s->name, wish->names[f->name], error);
        if (status)
            return status;
    }
    if (wish->integers[f->name])
        return ty_error(error, TALLY_ERROR_IO, "%s: changed while it was read", s->name);
    if (*f->at == '{' || *f->at == '[')
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s:%" PRIu64 ":%" PRIu64 ": '%s' is %s here; numbers are counted, of an "
                        "object's those named as '%s.KEY'",
                        s->name, line, column, wish->names[f->name],
                        *f->at == '{' ? "an object" : "an array", wish->names[f->name]);
    char *text = ty_text_copy(f->at, f->size < SHOWN ? f->size : SHOWN);
    tally_status status =
        ty_error(error, TALLY_ERROR_FORMAT,
                 "%s:%" PRIu64 ":%" PRIu64 ": %s found %s%s%s; --na takes words for missing",
                 s->name, line, column,
                 wish->is_time[f->name] ? ty_time_expected(f->at + 1, f->at + f->size - 1)
                                        : "expected a number,",
                 text ? text : "text", f->size > SHOWN ? "..." : "", s->words_hint);
    ty_free(text);
    return status;
}

/* The first part with a fault says it. Else the block's lines are behind us. */
static tally_status check_parts(ty_jsonl_state *s, tally_error *error)
{
    for (unsigned i = 0; i < s->count_parts; i++) {
        const ty_jsonl_part *part = s->parts + i;
        if (part->failed)
            return ty_jsonl_say(s, part, s->line + part->lines, error);
        s->line += part->lines;
        for (uint32_t c = 0; c < s->count; c++)
            s->seen[c] |= part->seen[c];
    }
    return TALLY_OK;
}

/* ---- Blocks ---- */

/* More of the text behind what is left of it; the buffer grows where a line fills it. */
static tally_status fill(ty_jsonl_state *s, tally_error *error)
{
    size_t got;
    memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
    if (s->end == s->capacity) {
        if (s->capacity >= LINE_MOST)
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s:%" PRIu64 ": a line of more than %zu MiB", s->name, s->line,
                            LINE_MOST >> 20);
        char *longer = ty_realloc(s->buffer, 2 * s->capacity);
        if (!longer)
            return ty_error_memory(error, "a line of JSON", 2 * s->capacity);
        s->buffer = longer;
        s->capacity *= 2;
    }
    const size_t wanted = s->capacity - s->end;
    tally_status status = ty_stream_read(s->stream, s->buffer + s->end, wanted, &got, error);
    s->end += got;
    s->ended = got < wanted;
    return status;
}

/* Where the last whole line ends, or NULL. What follows the last line end counts at the end of the
 * file, unless it has grown: then it may be part of a line. */
static const char *last_line(const ty_jsonl_state *s)
{
    const char *begin = s->buffer + s->begin, *end = s->buffer + s->end;
    if (s->ended && !ty_stream_grew(s->stream))
        return end;
    while (end > begin && end[-1] != '\n')
        end--;
    return end > begin ? end : NULL;
}

tally_status ty_jsonl_next_block(ty_jsonl_state *s, tally_error *error)
{
    const char *end = NULL;
    s->part = s->count_parts = 0;
    s->taken = 0;
    while (!end && !s->ended) {
        tally_status status = fill(s, error);
        if (status)
            return status;
        end = last_line(s);
    }
    if (!end)
        return TALLY_OK;
    parse_block(s, s->buffer + s->begin, end);
    s->begin = (size_t)(end - s->buffer);
    tally_status status = check_parts(s, error);
    for (unsigned i = 0; s->keep && i < s->count_parts && !status; i++) {
        const ty_kept rows = {s->parts[i].values, 0, s->parts[i].rows * s->count, 1};
        if (rows.rows)
            status = ty_keep_add(s->keep, &rows, error);
    }
    return status;
}

/* A name that no record has is an error: a typing mistake would look like missing values. */
static tally_status check_seen(const ty_jsonl_state *s, tally_error *error)
{
    for (uint32_t c = 0; c < s->count; c++)
        if (!s->seen[c])
            return ty_error(error, TALLY_ERROR_FORMAT, "%s: no line has a value called '%s'",
                            s->name, s->names[c]);
    return TALLY_OK;
}

static tally_dtype dtype_of(const ty_jsonl_state *s, uint32_t c)
{
    uint32_t number;
    const ty_integers *integers = ty_jsonl_wish_of(s, c, &number)->integers[number];
    return !integers ? TALLY_F64 : integers->flags & TY_INTEGER_LARGE ? TALLY_U64 : TALLY_I64;
}

static void make_mask(ty_jsonl_state *s, const double *values, size_t rows)
{
    memset(s->mask, 1, rows);
    for (uint32_t c = 0; c < s->count; c++) {
        uint32_t number;
        const ty_integers *integers = ty_jsonl_wish_of(s, c, &number)->integers[number];
        if (integers->flags & TY_INTEGER_MISSING)
            ty_integers_mask(values + c, s->count, rows, s->mask);
    }
}

/* The next rows of the part at hand that are wanted; 0: it has none left. */
static int take_rows(ty_jsonl_state *s, const double *values, size_t all, tally_view *views)
{
    const uint32_t count = s->count;
    if (s->row < s->row_begin) {
        const uint64_t unwanted = s->row_begin - s->row, left = all - s->taken;
        s->taken += (size_t)(unwanted < left ? unwanted : left);
        s->row += unwanted < left ? unwanted : left;
    }
    size_t rows = all - s->taken;
    rows = rows < s->chunk_rows ? rows : s->chunk_rows;
    rows = rows < s->row_end - s->row ? rows : (size_t)(s->row_end - s->row);
    for (uint32_t c = 0; c < count && rows; c++) {
        tally_view view = TALLY_VIEW_INIT;
        view.data = values + s->taken * count + c;
        view.dtype = dtype_of(s, c);
        view.rows = 1;
        view.columns = rows;
        view.column_stride_bytes = (int64_t)(count * sizeof(double));
        views[c] = view;
    }
    if (s->mask)
        make_mask(s, values + s->taken * count, rows);
    s->taken += rows;
    s->row += rows;
    return rows > 0;
}

static const unsigned char *jsonl_mask(const void *state)
{
    return ((const ty_jsonl_state *)state)->mask;
}

static tally_status jsonl_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_jsonl_state *s = state;
    *done = 0;
    for (;;) {
        if (s->kept.rows && take_rows(s, s->kept.samples, s->kept.rows / s->count, views))
            return TALLY_OK;
        for (; s->part < s->count_parts && s->row < s->row_end; s->part++, s->taken = 0)
            if (take_rows(s, s->parts[s->part].values, s->parts[s->part].rows, views))
                return TALLY_OK;
        s->taken = 0;
        tally_status status = s->keep ? ty_keep_next(s->keep, &s->kept, error) : TALLY_OK;
        if (status)
            return status;
        if (s->kept.rows && s->row < s->row_end)
            continue;
        *done = s->ended || s->row == s->row_end;
        if (s->ended && s->row_end != UINT64_MAX && s->row < s->row_end)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "%s: rows %" PRIu64 ":%" PRIu64 " are asked for, it has %" PRIu64,
                            s->name, s->row_begin, s->row_end, s->row);
        if (*done)
            return check_seen(s, error);
        status = ty_jsonl_next_block(s, error);
        if (status)
            return status;
    }
}

tally_status ty_jsonl_start(ty_jsonl_state *s, tally_error *error)
{
    unsigned char mark[3];
    size_t got;
    const unsigned char *head;
    s->begin = s->end = s->taken = 0;
    s->part = s->count_parts = 0;
    s->ended = 0;
    s->line = 1;
    s->row = 0;
    tally_status status = ty_stream_peek(s->stream, &head, sizeof mark, &got, error);
    if (!status && got == sizeof mark && !memcmp(head, "\xef\xbb\xbf", sizeof mark))
        status = ty_stream_read(s->stream, mark, sizeof mark, &got, error);
    return status;
}

static tally_status jsonl_rewind(void *state, tally_error *error)
{
    ty_jsonl_state *s = state;
    if (!s->keep)
        return ty_jsonl_start(s, error);
    ty_keep_rewind(s->keep);
    s->kept.rows = s->taken = 0;
    s->part = s->count_parts = 0;
    s->row = 0;
    return TALLY_OK;
}

static int jsonl_keeps(const void *state)
{
    return ((const ty_jsonl_state *)state)->keep != NULL;
}

static void jsonl_close(void *state)
{
    ty_jsonl_state *s = state;
    for (unsigned i = 0; i < TY_JSONL_PARTS; i++)
        ty_free(s->parts[i].values);
    ty_jsonl_forget(s);
    ty_free(s->seen);
    ty_free(s->mask);
    ty_free(s->buffer);
    ty_keep_free(s->keep);
    ty_free(s);
}

static tally_status open_lines(ty_jsonl_state *s, const tally_input_options *options,
                               tally_error *error)
{
    tally_status status = ty_jsonl_choose(s, options, error);
    if (status)
        return status;
    const uint64_t bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES;
    const uint64_t rows = bytes / (s->count * sizeof(double));
    s->chunk_rows = rows ? (size_t)rows : 1;
    s->row_begin = options->row_begin;
    s->row_end = options->row_end ? options->row_end : UINT64_MAX;
    const ty_pool *pool = ty_stream_pool(s->stream);
    const unsigned threads = pool ? ty_pool_threads(pool) : 1;
    s->capacity = (size_t)BLOCK_BYTES * threads;
    s->buffer = ty_malloc(s->capacity);
    s->seen = ty_calloc(1 + TY_JSONL_PARTS, s->count);
    if (!s->buffer || !s->seen)
        return ty_error_memory(error, "JSON lines", s->capacity);
    for (size_t i = 0; i < TY_JSONL_PARTS; i++)
        s->parts[i].seen = s->seen + (1 + i) * s->count;
    if (options->rewindable && !(s->keep = ty_keep_create(s->name)))
        return ty_error_memory(error, "values of JSON lines", 0);
    status = ty_jsonl_start(s, error);
    return status ? status : ty_jsonl_settle(s, options, error);
}

static tally_status jsonl_open(ty_stream *stream, const tally_input_options *options, void **state,
                               tally_input_info *info, tally_error *error)
{
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a region of columns is for images; choose values by name (--column)",
                        ty_stream_name(stream));
    ty_jsonl_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "JSON lines", sizeof *s);
    s->stream = stream;
    s->name = ty_stream_name(stream);
    tally_status status = open_lines(s, options, error);
    if (status) {
        jsonl_close(s);
        return status;
    }
    info->dtype = s->is_whole ? TALLY_F64 : dtype_of(s, 0);
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->count;
    info->table = s->is_whole ? s->count : 0;
    for (uint32_t i = 0; i < s->count && !s->is_whole; i++)
        info->words |= (uint32_t)(s->wishes->words[i] != NULL) << i;
    *state = s;
    return TALLY_OK;
}

static const char *jsonl_channel_name(const void *state, uint64_t channel)
{
    const ty_jsonl_state *s = state;
    return channel < s->count ? s->names[channel] : NULL;
}

static tally_words *jsonl_words(const void *state, uint32_t view)
{
    uint32_t number;
    return ty_jsonl_wish_of(state, view, &number)->words[number];
}

static tally_time jsonl_time(const void *state, uint32_t view)
{
    uint32_t number;
    return ty_jsonl_wish_of(state, view, &number)->is_time[number] ? TY_TEXT_TIME : TALLY_TIME_NONE;
}

static int jsonl_rounded(const void *state)
{
    return __atomic_load_n(&((const ty_jsonl_state *)state)->rounded, __ATOMIC_RELAXED) != 0;
}

const ty_decoder ty_json_lines = {
    .format = "jsonl",
    .has_columns = 1,
    .probe = jsonl_probe,
    .open = jsonl_open,
    .read = jsonl_read,
    .rewind = jsonl_rewind,
    .channel_name = jsonl_channel_name,
    .words = jsonl_words,
    .rounded = jsonl_rounded,
    .mask = jsonl_mask,
    .time = jsonl_time,
    .keeps = jsonl_keeps,
    .close = jsonl_close,
};
