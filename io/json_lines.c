/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines: blocks of lines, their parts parsed by all threads. Named values are columns of
 * float64, or of codes of words; a record that does not have one has it missing. */
#include "io/json_lines.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/columns.h"
#include "io/dates.h"
#include "io/input.h"
#include "io/text_keep.h"

enum { BLOCK_BYTES = 1 << 20, PARTS_MOST = 64, NAMES_MOST = 4096, CHUNK_BYTES = 4 << 20 };
enum { HEAD_BYTES = 1 << 16, HEAD_LINES = 100 }; /* that are looked at before all is read */

#define LINE_MOST ((size_t)256 << 20)

/* Lines that one thread parses. */
typedef struct ty_jsonl_part {
    const char *begin, *end;
    uint64_t lines;
    size_t rows, room;
    double *values; /* row by row */
    unsigned char seen[TALLY_MAX_DIMENSIONS];
    int failed, out_of_memory;
    ty_jsonl_fault fault;
    const char *line; /* that has the fault */
} ty_jsonl_part;

typedef struct ty_jsonl_state {
    ty_stream *stream;
    const char *name;
    ty_jsonl_wish wish;
    char **names; /* wish.names: copies */
    unsigned char seen[TALLY_MAX_DIMENSIONS];
    char *buffer;
    size_t capacity, begin, end; /* buffer[begin … end) is read and not parsed */
    int ended;
    uint64_t line; /* of buffer[begin], from 1 */
    uint64_t row;  /* records before those of the parts that are handed out */
    uint64_t row_begin, row_end;
    ty_keep *keep; /* of what was read, for the next time; NULL: it is not read again */
    ty_kept kept;  /* rows of it that are handed out, as one view of all their values; or none */
    unsigned count, part; /* parts of the block, and the one that is handed out next */
    size_t taken;         /* rows of it that are */
    size_t chunk_rows;
    ty_jsonl_part parts[PARTS_MOST];
} ty_jsonl_state;

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

static const char *line_end(const char *p, const char *end)
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

static void parse_part(void *arg, unsigned number, unsigned worker)
{
    const ty_jsonl_state *s = arg;
    ty_jsonl_part *part = (ty_jsonl_part *)s->parts + number;
    const uint32_t count = s->wish.count;
    (void)worker;
    part->lines = part->rows = 0;
    part->failed = part->out_of_memory = 0;
    memset(part->seen, 0, sizeof part->seen);
    for (const char *p = part->begin, *end; p < part->end; p = end + 1, part->lines++) {
        end = line_end(p, part->end);
        const char *first = ty_jsonl_skip_blanks(p, end);
        if (first == end)
            continue;
        part->out_of_memory = !make_row(part, count);
        part->line = p;
        if (part->out_of_memory ||
            ty_jsonl_read(&s->wish, first, end, part->values + part->rows * count, part->seen,
                          &part->fault)) {
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
    const size_t share =
        size / PARTS_MOST + 1 > BLOCK_BYTES / 4 ? size / PARTS_MOST + 1 : (size_t)BLOCK_BYTES / 4;
    s->count = 0;
    for (const char *p = begin; p < end;) {
        ty_jsonl_part *part = s->parts + s->count++;
        const char *stop = (size_t)(end - p) > share ? line_end(p + share, end) : end;
        part->begin = p;
        part->end = stop < end ? stop + 1 : end;
        p = part->end;
    }
    if (pool && s->count > 1)
        ty_pool_run(pool, 0, s->count, parse_part, s);
    else
        for (unsigned i = 0; i < s->count; i++)
            parse_part(s, i, 0);
}

/* ---- Faults ---- */

static tally_status say_fault(const ty_jsonl_state *s, const ty_jsonl_part *part, uint64_t line,
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
    if (s->wish.words[f->name]) {
        tally_status status =
            ty_words_status(s->wish.words[f->name], s->name, s->wish.names[f->name], error);
        if (status)
            return status;
    }
    if (*f->at == '{' || *f->at == '[')
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s:%" PRIu64 ":%" PRIu64 ": '%s' is %s here; numbers are counted, of an "
                        "object's those named as '%s.KEY'",
                        s->name, line, column, s->wish.names[f->name],
                        *f->at == '{' ? "an object" : "an array", s->wish.names[f->name]);
    char *text = ty_text_copy(f->at, f->size < SHOWN ? f->size : SHOWN);
    tally_status status =
        ty_error(error, TALLY_ERROR_FORMAT,
                 "%s:%" PRIu64 ":%" PRIu64 ": %s found %s%s; --na takes words for missing", s->name,
                 line, column,
                 s->wish.is_time[f->name] ? ty_time_expected(f->at + 1, f->at + f->size - 1)
                                          : "expected a number,",
                 text ? text : "text", f->size > SHOWN ? "..." : "");
    ty_free(text);
    return status;
}

/* The first part with a fault says it. Else the block's lines are behind us. */
static tally_status check_parts(ty_jsonl_state *s, tally_error *error)
{
    for (unsigned i = 0; i < s->count; i++) {
        const ty_jsonl_part *part = s->parts + i;
        if (part->failed)
            return say_fault(s, part, s->line + part->lines, error);
        s->line += part->lines;
        for (uint32_t c = 0; c < s->wish.count; c++)
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

static tally_status next_block(ty_jsonl_state *s, tally_error *error)
{
    const char *end = NULL;
    s->part = s->count = 0;
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
    for (unsigned i = 0; s->keep && i < s->count && !status; i++) {
        const ty_kept rows = {s->parts[i].values, 0, s->parts[i].rows * s->wish.count, 1};
        if (rows.rows)
            status = ty_keep_add(s->keep, &rows, error);
    }
    return status;
}

/* A name that no record has is an error: a typing mistake would look like missing values. */
static tally_status check_seen(const ty_jsonl_state *s, tally_error *error)
{
    for (uint32_t c = 0; c < s->wish.count; c++)
        if (!s->seen[c])
            return ty_error(error, TALLY_ERROR_FORMAT, "%s: no line has a value called '%s'",
                            s->name, s->wish.names[c]);
    return TALLY_OK;
}

/* The next rows of the part at hand that are wanted; 0: it has none left. */
static int take_rows(ty_jsonl_state *s, const double *values, size_t all, tally_view *views)
{
    const uint32_t count = s->wish.count;
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
        view.dtype = TALLY_F64;
        view.rows = 1;
        view.columns = rows;
        view.column_stride_bytes = (int64_t)(count * sizeof(double));
        views[c] = view;
    }
    s->taken += rows;
    s->row += rows;
    return rows > 0;
}

static tally_status jsonl_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_jsonl_state *s = state;
    *done = 0;
    for (;;) {
        if (s->kept.rows && take_rows(s, s->kept.samples, s->kept.rows / s->wish.count, views))
            return TALLY_OK;
        for (; s->part < s->count && s->row < s->row_end; s->part++, s->taken = 0)
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
        status = next_block(s, error);
        if (status)
            return status;
    }
}

/* The stream is at its start. */
static tally_status start(ty_jsonl_state *s, tally_error *error)
{
    unsigned char mark[3];
    size_t got;
    const unsigned char *head;
    s->begin = s->end = s->taken = 0;
    s->part = s->count = 0;
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
        return start(s, error);
    ty_keep_rewind(s->keep);
    s->kept.rows = s->taken = 0;
    s->part = s->count = 0;
    s->row = 0;
    return TALLY_OK;
}

static int jsonl_keeps(const void *state)
{
    return ((const ty_jsonl_state *)state)->keep != NULL;
}

/* ---- Opening ---- */

typedef struct ty_jsonl_names {
    char *names[NAMES_MOST];
    uint32_t count;
} ty_jsonl_names;

static int take_name(void *user, const char *name)
{
    ty_jsonl_names *all = user;
    if (all->count < NAMES_MOST && (all->names[all->count] = ty_text_copy(name, strlen(name))))
        all->count++;
    return all->count == NAMES_MOST;
}

/* A first line that is no object is refused before anything else is said of it. */
static tally_status check_first(ty_jsonl_state *s, const char *p, const char *end,
                                tally_error *error)
{
    ty_jsonl_part part = {.line = p};
    return ty_jsonl_read(&s->wish, p, end, NULL, NULL, &part.fault) ? say_fault(s, &part, 1, error)
                                                                    : TALLY_OK;
}

/* Those of the first record, as far as it can be looked at. */
static tally_status find_names(ty_jsonl_state *s, ty_jsonl_names *all, tally_error *error)
{
    const unsigned char *head;
    size_t size;
    tally_status status = ty_stream_peek(s->stream, &head, HEAD_BYTES, &size, error);
    if (status)
        return status;
    const char *p = memchr(head, '{', size), *end = p ? line_end(p, (const char *)head + size) : p;
    if (p)
        ty_jsonl_names_of(p, end, take_name, all);
    return p && end < (const char *)head + size ? check_first(s, p, end, error) : TALLY_OK;
}

/* A name that the first record has not may be a column's number, or of a record to come. */
static tally_status resolve(const ty_columns *columns, const char *wanted, const char **name,
                            tally_error *error)
{
    uint32_t number;
    tally_error unsaid;
    const int is_number = *wanted && !wanted[strspn(wanted, "0123456789")];
    tally_status status = ty_columns_find(columns, wanted, &number, is_number ? error : &unsaid);
    *name = status ? wanted : columns->headings[number];
    return is_number ? status : TALLY_OK;
}

static tally_status choose(ty_jsonl_state *s, const ty_jsonl_names *all,
                           const tally_input_options *options, tally_error *error)
{
    const ty_columns columns = {s->name, (const char *const *)all->names, all->count};
    if (!options->columns_count && all->count != 1)
        return all->count ? ty_columns_refuse_none(&columns, error)
                          : ty_error(error, TALLY_ERROR_FORMAT,
                                     "%s: its first line has no values with names", s->name);
    s->wish.count = options->columns_count ? options->columns_count : 1;
    s->names = ty_calloc(s->wish.count, sizeof *s->names);
    if (!s->names)
        return ty_error_memory(error, "a choice of columns", s->wish.count * sizeof *s->names);
    s->wish.names = (const char *const *)s->names;
    for (uint32_t c = 0; c < s->wish.count; c++) {
        const char *name = *all->names;
        tally_status status = options->columns_count
                                  ? resolve(&columns, options->columns[c], &name, error)
                                  : TALLY_OK;
        if (status)
            return status;
        s->names[c] = ty_text_copy(name, strlen(name));
        if (!s->names[c])
            return ty_error_memory(error, "the name of a column", strlen(name) + 1);
        s->wish.name_bytes[c] = strlen(s->names[c]);
    }
    return TALLY_OK;
}

/* What the first records have for a name: strings that are all times, strings, or numbers. */
static ty_field_kind kind_of(const ty_jsonl_state *s, uint32_t name, const char *p, const char *end)
{
    const ty_jsonl_wish one = {.names = s->wish.names + name,
                               .name_bytes = {s->wish.name_bytes[name]},
                               .count = 1,
                               .missing = s->wish.missing};
    unsigned texts = 0, times = 0;
    for (unsigned lines = 0; p && p < end && lines < HEAD_LINES; lines++) {
        const char *stop = line_end(p, end);
        double value;
        unsigned char seen;
        ty_jsonl_fault fault;
        p = ty_jsonl_skip_blanks(p, stop);
        if (p < stop && ty_jsonl_read(&one, p, stop, &value, &seen, &fault)) {
            if (fault.what || *fault.at != '"')
                break;
            texts++;
            times +=
                fault.size > 2 && ty_time_parse(fault.at + 1, fault.at + fault.size - 1, &value);
        } else if (p < stop && value == value) {
            return TY_FIELD_NUMBER;
        }
        p = stop + 1;
    }
    return !texts ? TY_FIELD_NUMBER : times == texts ? TY_FIELD_TIME : TY_FIELD_TEXT;
}

/* Which of the names are of words, or of times. */
static tally_status choose_kinds(ty_jsonl_state *s, const tally_input_options *options,
                                 tally_error *error)
{
    const unsigned char *head;
    size_t size;
    tally_status status = ty_stream_peek(s->stream, &head, HEAD_BYTES, &size, error);
    if (status)
        return status;
    const char *first = memchr(head, '{', size), *end = (const char *)head + size;
    while (size == HEAD_BYTES && end > first && end[-1] != '\n')
        end--; /* whole lines */
    for (uint32_t c = 0; c < s->wish.count; c++) {
        const ty_field_kind kind = kind_of(s, c, first, end);
        if (options->words && (options->all_words || kind == TY_FIELD_TEXT))
            s->wish.words[c] = options->words[c];
        s->wish.is_time[c] =
            !s->wish.words[c] && (kind == TY_FIELD_TIME || options->times >> c & 1);
    }
    return TALLY_OK;
}

static void jsonl_close(void *state)
{
    ty_jsonl_state *s = state;
    for (unsigned i = 0; i < PARTS_MOST; i++)
        ty_free(s->parts[i].values);
    for (uint32_t c = 0; s->names && c < s->wish.count; c++)
        ty_free(s->names[c]);
    ty_free(s->names);
    ty_free((void *)s->wish.missing);
    ty_free(s->buffer);
    ty_keep_free(s->keep);
    ty_free(s);
}

static tally_status open_lines(ty_jsonl_state *s, const tally_input_options *options,
                               tally_error *error)
{
    ty_jsonl_names *all = ty_calloc(1, sizeof *all);
    if (!all)
        return ty_error_memory(error, "the names of columns", sizeof *all);
    tally_status status = find_names(s, all, error);
    if (!status)
        status = choose(s, all, options, error);
    for (uint32_t i = 0; i < all->count; i++)
        ty_free(all->names[i]);
    ty_free(all);
    if (status)
        return status;
    if (options->missing &&
        !(s->wish.missing = ty_text_copy(options->missing, strlen(options->missing))))
        return ty_error_memory(error, "words for missing values", strlen(options->missing) + 1);
    status = choose_kinds(s, options, error);
    if (status)
        return status;
    const uint64_t bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES;
    const uint64_t rows = bytes / (s->wish.count * sizeof(double));
    s->chunk_rows = rows ? (size_t)rows : 1;
    s->row_begin = options->row_begin;
    s->row_end = options->row_end ? options->row_end : UINT64_MAX;
    const ty_pool *pool = ty_stream_pool(s->stream);
    const unsigned threads = pool ? ty_pool_threads(pool) : 1;
    s->capacity = (size_t)BLOCK_BYTES * threads;
    s->buffer = ty_malloc(s->capacity);
    if (options->rewindable && !(s->keep = ty_keep_create(s->name)))
        return ty_error_memory(error, "values of JSON lines", 0);
    return s->buffer ? start(s, error) : ty_error_memory(error, "JSON lines", s->capacity);
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
    info->dtype = TALLY_F64;
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->wish.count;
    for (uint32_t i = 0; i < s->wish.count; i++)
        info->words |= (uint32_t)(s->wish.words[i] != NULL) << i;
    *state = s;
    return TALLY_OK;
}

static const char *jsonl_channel_name(const void *state, uint64_t channel)
{
    const ty_jsonl_state *s = state;
    return channel < s->wish.count ? s->names[channel] : NULL;
}

static tally_words *jsonl_words(const void *state, uint32_t view)
{
    return ((const ty_jsonl_state *)state)->wish.words[view];
}

static tally_time jsonl_time(const void *state, uint32_t view)
{
    return ((const ty_jsonl_state *)state)->wish.is_time[view] ? TY_TEXT_TIME : TALLY_TIME_NONE;
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
    .time = jsonl_time,
    .keeps = jsonl_keeps,
    .close = jsonl_close,
};
