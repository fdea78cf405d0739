/* SPDX-License-Identifier: Apache-2.0 */
/* Text: columns of numbers as f64, one view for each column asked for. text_fields.h says what
 * lines and fields are, text_layout.c how delimiter and header are found, text_columns.c how
 * columns are chosen, text_batch.c and text_block.c how several threads read it.
 *
 * - Places in messages are FILE:LINE:COLUMN, from 1; COLUMN counts bytes, a byte order mark apart.
 * - NaN stands for nan, an empty field, "-", and NA, N/A and null in any case.
 * - Dates and times are microseconds since 1970, in columns that hold nothing else (io/dates.h).
 * - Numbers on one line, and nothing else, are samples, unless a column or a region is asked for.
 * - A record has as many fields as the first, or one empty one more, from a delimiter at its end.
 * - A last line without an end counts, unless the file has grown since it was opened.
 * - Rows of a region are data rows from 0. Those outside it must be whole; their fields need not be
 *   numbers, and nothing is read past its end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/dates.h"
#include "io/text_state.h"

/* Tests have smaller ones. */
#ifndef FIRST_CAPACITY
#define FIRST_CAPACITY ((size_t)256 << 10)
#endif
#ifndef THREAD_BYTES
#define THREAD_BYTES ((size_t)1 << 20) /* of text for each thread at a time */
#endif

#define MOST_CAPACITY ((size_t)64 << 20) /* of one line */
#define MOST_BLOCK    ((size_t)32 << 20) /* what all threads together read at a time */
#define CHUNK_BYTES   ((size_t)4 << 20)

/* ---- Bytes ---- */

static tally_status grow(ty_text_state *s, size_t capacity, tally_error *error)
{
    char *from = s->buffer ? s->buffer - TY_SCAN_SLACK : NULL;
    char *buffer = ty_realloc(from, capacity + 2 * TY_SCAN_SLACK);
    if (!buffer)
        return ty_error_memory(error, "lines of text", capacity + 2 * TY_SCAN_SLACK);
    s->buffer = buffer + TY_SCAN_SLACK;
    s->capacity = capacity;
    return TALLY_OK;
}

/* Moves what is not parsed to the buffer's front and reads on, into a larger buffer if it is full.
 */
static tally_status fill(ty_text_state *s, tally_error *error)
{
    size_t left = s->end - s->begin, got;
    tally_status status = TALLY_OK;
    if (s->begin)
        memmove(s->buffer, s->buffer + s->begin, left);
    s->begin = 0;
    s->end = left;
    if (left == s->capacity && left >= MOST_CAPACITY)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s:%" PRIu64 ": a line of more than %zu MiB, or a quote that is not "
                        "closed; lines end in LF, CR LF or CR",
                        s->name, s->line, MOST_CAPACITY >> 20);
    if (s->capacity < s->wanted)
        status = grow(s, s->wanted, error);
    else if (left == s->capacity)
        status = grow(s, 2 * s->capacity, error);
    if (!status)
        status = ty_stream_read(s->stream, s->buffer + left, s->capacity - left, &got, error);
    if (status)
        return status;
    s->end += got;
    s->ended = got < s->capacity - left;
    if (s->ended && !s->reached)
        s->grew = ty_stream_grew(s->stream);
    s->reached |= s->ended;
    /* Somebody is writing to it: what was there of the last line may be half a number. */
    if (s->ended && s->grew)
        while (s->end > s->begin && !ty_is_line_end(s->buffer[s->end - 1]))
            s->end--;
    return TALLY_OK;
}

/* The stream is at its start: the first bytes, without a byte order mark. */
static tally_status start(ty_text_state *s, tally_error *error)
{
    s->begin = s->end = s->taken = s->ready = 0;
    s->ended = s->after_cr = 0;
    s->line = 1;
    s->row = 0;
    tally_status status = fill(s, error);
    if (!status && s->end >= 3 && memcmp(s->buffer, "\xef\xbb\xbf", 3) == 0)
        s->begin = 3;
    return status;
}

/* Ends the line that begins at s->begin; `stop` is its line end or the text's. */
static void end_line(ty_text_state *s, const char *stop)
{
    const char *end = s->buffer + s->end;
    if (stop == end) {
        s->begin = s->end;
        return;
    }
    const char *next = ty_line_next(stop, end);
    s->after_cr = *stop == '\r' && stop + 1 == end;
    s->begin = (size_t)(next - s->buffer);
    s->line++;
}

/* Brings s->begin to the next record; *found is 0 when there is none. */
static tally_status find_record(ty_text_state *s, int *found, tally_error *error)
{
    for (;;) {
        const char *p = s->buffer + s->begin, *end = s->buffer + s->end;
        if (s->after_cr && p < end) {
            s->begin += *p == '\n';
            s->after_cr = 0;
            continue;
        }
        const char *stop = end;
        if (p < end) {
            *found = 1;
            if (!ty_line_is_skipped(s->layout.delimiter, p, end))
                return TALLY_OK;
            stop = ty_line_end(p, end);
        }
        if (stop < end) {
            end_line(s, stop);
        } else if (s->ended) {
            s->begin = s->end;
            *found = 0;
            return TALLY_OK;
        } else {
            tally_status status = fill(s, error);
            if (status)
                return status;
        }
    }
}

/* ---- Rows ---- */

static tally_status refuse_region(const ty_text_state *s, tally_error *error)
{
    char last[24] = "";
    if (s->row_end != UINT64_MAX)
        snprintf(last, sizeof last, "%" PRIu64, s->row_end);
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: the region of rows %" PRIu64 ":%s is outside its %" PRIu64 " rows",
                    s->name, s->row_begin, last, s->row);
}

/* Passes the record that stops at `stop`; it may have line ends in quotes. */
static void end_record(ty_text_state *s, const char *stop)
{
    const char *p = s->buffer + s->begin;
    if (memchr(p, '"', (size_t)(stop - p))) {
        while ((p = ty_line_end(p, stop)) < stop) {
            p = ty_line_next(p, stop);
            s->line++;
        }
    }
    end_line(s, stop);
}

/* The next record, into samples[i] if it is in the region; *found is 0 at the end of the text. */
static tally_status read_row(ty_text_state *s, size_t i, int *found, tally_error *error)
{
    for (;;) {
        tally_status status = find_record(s, found, error);
        if (status || !*found)
            return status;
        ty_record record = {s, s->buffer + s->begin, s->buffer + s->end, s->ended, &s->rounded};
        const char *stop = ty_record_read(&record, s->row >= s->row_begin ? s->samples + i : NULL,
                                          s->stride, &status, error);
        if (stop) {
            end_record(s, stop);
            s->row++;
            return TALLY_OK;
        }
        if (!status)
            status = fill(s, error);
        if (status)
            return status;
    }
}

static int has_region(const ty_text_state *s)
{
    return s->row_begin || s->row_end != UINT64_MAX;
}

/* A chunk's rows of the region, one by one; none at its end. */
static tally_status read_region(ty_text_state *s, tally_error *error)
{
    int found = 1;
    tally_status status = ty_text_reserve(s, s->chunk, error);
    while (!status && s->ready < s->chunk && s->row < s->row_end && found) {
        uint64_t row = s->row;
        status = read_row(s, s->ready, &found, error);
        s->ready += found && row >= s->row_begin;
    }
    if (!status && !found &&
        (s->row < s->row_begin || (s->row_end != UINT64_MAX && s->row < s->row_end) ||
         (s->row_begin && s->row == s->row_begin)))
        return refuse_region(s, error);
    return status;
}

/* The numbers of the only record, or none at the end. */
static tally_status read_line(ty_text_state *s, tally_error *error)
{
    int found;
    s->taken = s->ready = 0;
    tally_status status = find_record(s, &found, error);
    if (status || !found)
        return status;
    ty_record record = {s, s->buffer + s->begin, s->buffer + s->end, 1, &s->rounded};
    size_t count = ty_record_numbers(&record, NULL);
    if (!count)
        return ty_error(error, TALLY_ERROR_IO, "%s: changed while it was read", s->name);
    status = ty_text_reserve(s, count, error);
    if (status)
        return status;
    s->ready = ty_record_numbers(&record, s->samples);
    end_line(s, ty_line_end(record.p, record.end));
    return TALLY_OK;
}

/* A block's rows; none at the end. */
static tally_status read_block(ty_text_state *s, tally_error *error)
{
    int found = 1;
    s->taken = s->ready = 0;
    tally_status status = ty_batch_read(s, error);
    while (found && !status && !s->ready) {
        if (!s->ended)
            status = fill(s, error);
        if (s->after_cr && s->begin < s->end) {
            s->begin += s->buffer[s->begin] == '\n';
            s->after_cr = 0;
        }
        size_t begin = s->begin;
        if (!status && begin < s->end)
            status = ty_block_read(s, ty_stream_pool(s->stream), error);
        if (status || s->ready || s->begin > begin)
            continue;
        /* What is at hand is no whole record, or none that is good. */
        status = ty_text_reserve(s, 1, error);
        if (!status)
            status = read_row(s, 0, &found, error);
        s->ready = !status && found;
    }
    return status;
}

/* Rows to hand out: those that were kept, then new ones; none at the end. */
static tally_status read_rows(ty_text_state *s, tally_error *error)
{
    ty_kept kept = {NULL, 0, 0, s->views};
    tally_status status = s->keep ? ty_keep_next(s->keep, &kept, error) : TALLY_OK;
    if (status || kept.rows) {
        s->out = kept.samples;
        s->out_stride = kept.stride;
        s->ready = kept.rows;
        s->taken = 0;
        return status;
    }
    status = s->in_line      ? read_line(s, error)
             : has_region(s) ? read_region(s, error)
                             : read_block(s, error);
    s->out = s->samples;
    s->out_stride = s->stride;
    kept = (ty_kept){s->samples, s->stride, s->ready, s->views};
    if (!status && s->keep && s->ready)
        status = ty_keep_add(s->keep, &kept, error);
    return status;
}

static tally_status text_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_text_state *s = state;
    tally_status status = s->taken == s->ready ? read_rows(s, error) : TALLY_OK;
    if (status)
        return status;
    size_t count = s->ready - s->taken < s->chunk ? s->ready - s->taken : s->chunk;
    *done = count == 0;
    for (uint32_t v = 0; count && v < s->views; v++) {
        tally_view view = TALLY_VIEW_INIT;
        view.data = s->out + v * s->out_stride + s->taken;
        view.dtype = s->dtypes ? s->dtypes[v] : TALLY_F64;
        view.rows = 1;
        view.columns = count;
        views[v] = view;
    }
    if (s->mask)
        ty_text_mask_make(s, count);
    s->taken += count;
    return TALLY_OK;
}

/* ---- Opening ---- */

/* Brings s->begin to the first record, behind a line that names the delimiter. */
static tally_status find_first(ty_text_state *s, int *found, tally_error *error)
{
    ty_delimiter delimiter = s->layout.delimiter;
    s->layout.delimiter = '\n';
    tally_status status = start(s, error);
    status = status ? status : find_record(s, found, error);
    if (!status && *found &&
        ty_line_names_delimiter(s->buffer + s->begin, s->buffer + s->end, &s->wish.delimiter)) {
        end_line(s, ty_line_end(s->buffer + s->begin, s->buffer + s->end));
        status = find_record(s, found, error);
    }
    s->layout.delimiter = delimiter;
    return status;
}

/* Reads until the layout is certain: two records, or all there is, or as much as may be. */
static tally_status find_layout(ty_text_state *s, tally_error *error)
{
    for (;;) {
        tally_status status = ty_layout_detect(s->buffer + s->begin, s->end - s->begin, s->ended,
                                               &s->wish, &s->layout, error);
        if (status || s->layout.records >= 2 || s->ended || s->end - s->begin == MOST_CAPACITY)
            return status;
        status = fill(s, error);
        if (status)
            return status;
    }
}

/* Passes over the header, if there is one, at s->begin; with `keep` its fields become headings. */
static tally_status pass_header(ty_text_state *s, int keep, tally_error *error)
{
    const char *stop;
    tally_status status = TALLY_OK;
    if (!s->layout.has_header)
        return status;
    s->layout.columns -= (uint32_t)s->layout.row_names;
    for (;;) {
        ty_record record = {s, s->buffer + s->begin, s->buffer + s->end, s->ended, &s->rounded};
        stop = ty_record_read(&record, NULL, 0, &status, error);
        if (stop || status)
            break;
        status = fill(s, error);
        if (status)
            return status;
    }
    s->layout.columns += (uint32_t)s->layout.row_names;
    if (!status && keep)
        status = ty_text_headings(s, s->buffer + s->begin, stop, error);
    if (!status)
        end_record(s, stop);
    return status;
}

/* Numbers on one line, without anything else, are samples. */
static void find_line(ty_text_state *s)
{
    if (!s->ended || s->layout.records != 1 || s->layout.columns == 1 || has_region(s))
        return;
    ty_record record = {s, s->buffer + s->begin, s->buffer + s->end, 1, &s->rounded};
    s->in_line = ty_record_numbers(&record, NULL) > 0;
    if (s->in_line)
        s->layout.columns = 1;
}

/* The type of each view is known. */
static tally_status choose_dtypes(ty_text_state *s, tally_error *error)
{
    s->dtypes = ty_malloc(s->views * sizeof *s->dtypes);
    if (!s->dtypes)
        return ty_error_memory(error, "the types of columns", s->views * sizeof *s->dtypes);
    for (uint32_t i = 0; i < s->views; i++) {
        const ty_pick *pick = s->picks + i;
        s->dtypes[pick->view] = !pick->integers                            ? TALLY_F64
                                : pick->integers->flags & TY_INTEGER_LARGE ? TALLY_U64
                                                                           : TALLY_I64;
    }
    return TALLY_OK;
}

/* What to look for in every record, and how much to read at a time. */
static tally_status make_scan(ty_text_state *s, tally_error *error)
{
    const ty_pool *pool = ty_stream_pool(s->stream);
    size_t threads = pool ? ty_pool_threads(pool) : 1;
    s->wanted = threads < MOST_BLOCK / THREAD_BYTES ? threads * THREAD_BYTES : MOST_BLOCK;
    s->scan = ty_calloc(1, sizeof *s->scan + s->views * sizeof *s->scan->pick);
    if (!s->scan)
        return ty_error_memory(error, "a text's columns", sizeof *s->scan);
    s->scan->lenient = s->is_whole;
    s->scan->rounded = &s->rounded;
    if (!ty_text_scan_make(s->scan, s->layout.delimiter, s->wish.spelling, s->layout.columns,
                           s->picks, s->views)) {
        ty_free(s->scan);
        s->scan = NULL;
    }
    return TALLY_OK;
}

static tally_status restart(ty_text_state *s, tally_error *error)
{
    int found;
    tally_status status = find_first(s, &found, error);
    return status ? status : pass_header(s, 0, error);
}

/* Columns that may be of 64-bit integers are read through to know, but in a pipe that is read once:
 * there they are f64. */
static tally_status settle_integers(ty_text_state *s, const tally_input_options *options,
                                    tally_error *error)
{
    uint32_t candidates = 0;
    const int again = options->rewindable || ty_stream_size(s->stream) > 0;
    for (uint32_t i = 0; i < s->views; i++)
        candidates += s->picks[i].integers != NULL;
    /* of several columns, none is of integers unless all are */
    const int hopeless = !again || (!s->is_whole && candidates < s->views);
    for (uint32_t i = 0; i < s->views && hopeless; i++) {
        ty_free(s->picks[i].integers);
        s->picks[i].integers = NULL;
    }
    tally_status status = TALLY_OK;
    if (candidates) {
        status = hopeless ? TALLY_OK : ty_integers_settle(s, read_rows, restart, error);
        ty_free(s->scan);
        s->scan = NULL;
        status = status ? status : make_scan(s, error);
    }
    s->rounded = 0;
    return status ? status : choose_dtypes(s, error);
}

static tally_status open_text(ty_text_state *s, const tally_input_options *options,
                              tally_error *error)
{
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a region of columns is for images; choose columns of text by name or "
                        "number (--column)",
                        s->name);
    tally_status status = ty_text_wishes(s, options, error);
    if (status)
        return status;
    s->row_begin = options->row_begin;
    s->row_end = options->row_end ? options->row_end : UINT64_MAX;
    int found;
    status = find_first(s, &found, error);
    if (!status && !found)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty: no numbers", s->name);
    if (!status)
        status = find_layout(s, error);
    if (!status && !s->layout.records)
        s->layout.columns = 1; /* a record that never ends: reading it says why */
    if (!status && !s->wish.header && !s->layout.has_header)
        s->layout.has_header =
            ty_text_asks_for_headings(s, options, s->buffer + s->begin, s->buffer + s->end);
    if (!status)
        status = pass_header(s, 1, error);
    if (!status && !options->columns_count)
        find_line(s);
    if (!status)
        status = ty_text_choose(s, options, error);
    if (status)
        return status;
    uint64_t wanted = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES;
    s->chunk = (size_t)(wanted < SIZE_MAX ? wanted : SIZE_MAX) / (sizeof(double) * s->views);
    s->chunk += s->chunk == 0;
    if (s->is_whole)
        s->chunk *= 8; /* it is copied nowhere */
    else if (options->rewindable && !(s->keep = ty_keep_create(s->name)))
        return ty_error_memory(error, "a text's columns", 0);
    status = make_scan(s, error);
    return status ? status : settle_integers(s, options, error);
}

static void text_close(void *state)
{
    ty_text_state *s = state;
    for (uint32_t i = 0; s->headings && i < s->layout.columns; i++)
        ty_free(s->headings[i]);
    for (uint32_t i = 0; s->labels && i < s->views; i++)
        ty_free(s->labels[i]);
    for (uint32_t i = 0; s->is_whole && s->picks && i < s->views; i++)
        tally_words_destroy(s->picks[i].words);
    for (uint32_t i = 0; s->picks && i < s->views; i++)
        ty_free(s->picks[i].integers);
    ty_free(s->dtypes);
    ty_free(s->headings);
    ty_free(s->labels);
    ty_free(s->picks);
    ty_free(s->own);
    ty_free(s->mask);
    ty_free(s->scan);
    ty_free((void *)(uintptr_t)s->spelling.missing);
    ty_block_free(s->block);
    ty_batch_free(s->batch);
    ty_keep_free(s->keep);
    if (s->buffer)
        ty_free(s->buffer - TY_SCAN_SLACK);
    ty_free(s);
}

static tally_status text_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    ty_text_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "a text", sizeof *s);
    s->stream = stream;
    s->wanted = FIRST_CAPACITY;
    s->name = ty_stream_name(stream);
    tally_status status = open_text(s, options, error);
    if (status) {
        text_close(s);
        return status;
    }
    info->dtype = s->is_whole ? TALLY_F64 : s->dtypes[0];
    info->rows = 0;
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->views;
    info->table = s->is_whole ? s->views : 0;
    for (uint32_t i = 0; i < s->views && !s->is_whole; i++)
        info->words |= (uint32_t)(s->picks[i].words != NULL) << s->picks[i].view;
    info->is_image = 0;
    *state = s;
    return TALLY_OK;
}

static tally_status text_rewind(void *state, tally_error *error)
{
    ty_text_state *s = state;
    if (s->keep) {
        ty_keep_rewind(s->keep);
        s->taken = s->ready = 0;
        return TALLY_OK;
    }
    return restart(s, error);
}

/* The heading of the i-th column asked for, "column N" where it has none, or NULL for the only
 * column of a text without a header. */
static const char *text_channel_name(const void *state, uint64_t channel)
{
    const ty_text_state *s = state;
    return channel < s->views ? s->labels[channel] : NULL;
}

/* A view's; there is one. */
static const ty_pick *pick_of(const ty_text_state *s, uint32_t view)
{
    const ty_pick *pick = s->picks;
    while (pick->view != view)
        pick++;
    return pick;
}

static tally_words *text_words(const void *state, uint32_t view)
{
    return pick_of(state, view)->words;
}

static tally_time text_time(const void *state, uint32_t view)
{
    return pick_of(state, view)->kind == TY_FIELD_TIME ? TY_TEXT_TIME : TALLY_TIME_NONE;
}

static int text_rounded(const void *state)
{
    return __atomic_load_n(&((const ty_text_state *)state)->rounded, __ATOMIC_RELAXED) != 0;
}

static int text_keeps(const void *state)
{
    const ty_text_state *s = state;
    return s->keep != NULL;
}

const ty_decoder ty_text = {
    .format = "text",
    .has_columns = 1,
    .probe = ty_text_probe,
    .open = text_open,
    .read = text_read,
    .rewind = text_rewind,
    .channel_name = text_channel_name,
    .close = text_close,
    .keeps = text_keeps,
    .words = text_words,
    .time = text_time,
    .rounded = text_rounded,
    .mask = ty_text_mask,
};
