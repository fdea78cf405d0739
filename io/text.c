/* Text: columns of numbers as f64, one view for each column asked for. text_fields.h says what
 * lines and fields are, text_layout.c how delimiter and header are found, text_columns.c how
 * columns are chosen.
 *
 * - Places in messages are FILE:LINE:COLUMN, from 1; COLUMN counts bytes, a byte order mark apart.
 * - NaN stands for nan, an empty field, "-", and NA, N/A and null in any case.
 * - A record must have as many fields as the first; one empty field more, from a delimiter at the
 *   line's end, is let pass.
 * - A last line without an end counts, unless the file has grown since it was opened.
 * - Rows of a region are data rows from 0. Rows outside it must still be whole; their fields need
 * not be numbers, and nothing is read past its end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/number.h"
#include "io/text_state.h"

#define FIRST_CAPACITY ((size_t)256 << 10)
#define MOST_CAPACITY  ((size_t)64 << 20) /* of one line */
#define CHUNK_BYTES    ((size_t)4 << 20)
#define FOUND_BYTES    41 /* most of a field in a message, as it is shown */

/* ---- Bytes ---- */

/* Moves what is not parsed to the buffer's front and reads on, into a larger buffer if it is full.
 */
static tally_status fill(ty_text_state *s, tally_error *error)
{
    size_t left = s->end - s->begin, got;
    if (s->begin)
        memmove(s->buffer, s->buffer + s->begin, left);
    s->begin = 0;
    s->end = left;
    if (left == s->capacity) {
        if (s->capacity >= MOST_CAPACITY)
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s:%" PRIu64 ": a line of more than %zu MiB, or a quote that is not "
                            "closed; lines end in LF, CR LF or CR",
                            s->name, s->line, MOST_CAPACITY >> 20);
        size_t capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
        char *buffer = ty_realloc(s->buffer, capacity);
        if (!buffer)
            return ty_error_memory(error, "lines of text", capacity);
        s->buffer = buffer;
        s->capacity = capacity;
    }
    tally_status status =
        ty_stream_read(s->stream, s->buffer + left, s->capacity - left, &got, error);
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
    s->begin = s->end = 0;
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
    s->after_cr = *stop == '\r' && next == end;
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

/* ---- Complaints ---- */

/* "FILE:LINE:COLUMN" of `at`, in the record at s->begin, which may span lines. */
static void locate(const ty_text_state *s, const char *at, uint64_t *line, uint64_t *column)
{
    const char *start = s->buffer + s->begin;
    *line = s->line;
    for (const char *p = start; p < at; p++) {
        if (ty_is_line_end(*p)) {
            p += *p == '\r' && p + 1 < at && p[1] == '\n';
            start = p + 1;
            ++*line;
        }
    }
    *column = (uint64_t)(at - start) + 1;
}

static tally_status refuse_field(const ty_text_state *s, const ty_field *field, ty_field_kind kind,
                                 tally_error *error)
{
    char found[FOUND_BYTES];
    const size_t shown = printable(field->begin, field->size, found, sizeof found);
    uint64_t line, column;
    locate(s, field->at, &line, &column);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ":%" PRIu64 ": expected a number, found '%s%s'%s", s->name, line,
                    column, found, shown < field->size ? "..." : "",
                    kind != TY_FIELD_COMMA ? ""
                    : ty_field_has_thousands(field)
                        ? ": a comma between thousands; numbers are written without, as 1234 (and "
                          "with a decimal point)"
                        : "; decimal commas are not supported, write a decimal point");
}

static tally_status refuse_quote(const ty_text_state *s, const ty_field *field, tally_error *error)
{
    uint64_t line, column;
    locate(s, field->at, &line, &column);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ":%" PRIu64 ": the quote that opens here is never closed",
                    s->name, line, column);
}

static tally_status refuse_width(const ty_text_state *s, uint64_t width, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s:%" PRIu64 ": %" PRIu64 " field%s, expected %" PRIu32
                    " as in the first line%s",
                    s->name, s->line, width, width == 1 ? "" : "s", s->layout.columns,
                    s->headings ? " (the header)" : "");
}

static tally_status refuse_region(const ty_text_state *s, tally_error *error)
{
    char last[24] = "";
    if (s->row_end != UINT64_MAX)
        snprintf(last, sizeof last, "%" PRIu64, s->row_end);
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: the region of rows %" PRIu64 ":%s is outside its %" PRIu64 " rows",
                    s->name, s->row_begin, last, s->row);
}

/* ---- Rows ---- */

/* Scans the field at `p`; returns where it stops, or NULL with *status set, which is TALLY_OK when
 * more text is needed. */
static const char *scan_field(const ty_text_state *s, const char *p, const char *end,
                              ty_field *field, tally_status *status, tally_error *error)
{
    const char *stop = ty_field_scan(s->layout.delimiter, p, end, field);
    *status = TALLY_OK;
    if (stop == end && !s->ended)
        return NULL;
    if (!field->open)
        return stop;
    *status = refuse_quote(s, field, error);
    return NULL;
}

/* The same for a field that must be a number, or missing. */
static const char *read_field(const ty_text_state *s, const char *p, const char *end, double *value,
                              tally_status *status, tally_error *error)
{
    ty_field field;
    const char *stop = scan_field(s, p, end, &field, status, error);
    if (!stop)
        return NULL;
    ty_field_kind kind = ty_field_read(&field, value);
    if (kind == TY_FIELD_NUMBER || kind == TY_FIELD_MISSING)
        return stop;
    *status = refuse_field(s, &field, kind, error);
    return NULL;
}

/* A number, perhaps quoted, with a delimiter or a line end behind it: where ty_field_scan would
 * stop, else NULL. */
static inline const char *read_plain(ty_delimiter delimiter, const char *p, const char *end,
                                     double *value)
{
    if (delimiter == ' ')
        p = ty_skip_blanks(delimiter, p, end);
    int quoted = p < end && *p == '"';
    const char *stop = ty_number_parse(p + quoted, end, value);
    if (!stop || (quoted && (stop == end || *stop++ != '"')))
        return NULL;
    const char *next = delimiter == ' ' ? ty_skip_blanks(delimiter, stop, end) : stop;
    if (next == end)
        return NULL;
    return *next == delimiter || ty_is_line_end(*next) || next > stop ? next : NULL;
}

/* The record at s->begin, with its numbers to samples[i] of each view if `wanted`. Returns its line
 * end, or the text's; NULL with *status as read_field. */
static const char *read_record(const ty_text_state *s, int wanted, size_t i, tally_status *status,
                               tally_error *error)
{
    const char *p = s->buffer + s->begin, *end = s->buffer + s->end;
    uint32_t pick = wanted ? 0 : s->views;
    int empty = 0;
    for (uint64_t column = 0;; p = ty_field_next(s->layout.delimiter, p)) {
        if (pick < s->views && s->picks[pick].column == column) {
            double value;
            const char *stop = read_plain(s->layout.delimiter, p, end, &value);
            p = stop ? stop : read_field(s, p, end, &value, status, error);
            for (; p && pick < s->views && s->picks[pick].column == column; pick++)
                s->samples[s->picks[pick].view * s->chunk + i] = value;
        } else {
            ty_field field;
            p = scan_field(s, p, end, &field, status, error);
            empty = field.size == 0 && !field.quoted;
        }
        if (!p)
            return NULL;
        column++;
        if (p < end && !ty_is_line_end(*p))
            continue;
        *status = TALLY_OK;
        if (column == s->layout.columns || (column == (uint64_t)s->layout.columns + 1 && empty))
            return p;
        *status = refuse_width(s, column, error);
        return NULL;
    }
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
        const char *stop = read_record(s, s->row >= s->row_begin, i, &status, error);
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

/* One plain number a line, as long as it lasts: up to `room` of them to `samples`. */
static size_t read_lines(ty_text_state *s, double *samples, size_t room)
{
    const char *p = s->buffer + s->begin, *end = s->buffer + s->end;
    size_t count = 0;
    if (s->after_cr)
        return 0;
    while (count < room) {
        const char *stop = ty_number_parse(p, end, samples + count);
        if (!stop || stop == end)
            break;
        if (*stop != '\n' && !(*stop == '\r' && ++stop < end && *stop == '\n'))
            break;
        p = stop + 1;
        count++;
    }
    s->begin = (size_t)(p - s->buffer);
    s->line += count;
    s->row += count;
    return count;
}

static tally_status text_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_text_state *s = state;
    size_t count = 0;
    int found = 1;
    while (count < s->chunk && s->row < s->row_end && found) {
        uint64_t room = s->row_end - s->row;
        if (room > s->chunk - count)
            room = s->chunk - count;
        if (s->layout.columns == 1 && s->views == 1 && s->row >= s->row_begin) {
            size_t lines = read_lines(s, s->samples + count, (size_t)room);
            count += lines;
            if (lines == room)
                continue;
        }
        uint64_t row = s->row;
        tally_status status = read_row(s, count, &found, error);
        if (status)
            return status;
        count += found && row >= s->row_begin;
    }
    if (!found && (s->row < s->row_begin || (s->row_end != UINT64_MAX && s->row < s->row_end) ||
                   (s->row_begin && s->row == s->row_begin)))
        return refuse_region(s, error);
    *done = count == 0;
    for (uint32_t v = 0; count && v < s->views; v++) {
        tally_view view = TALLY_VIEW_INIT;
        view.data = s->samples + v * s->chunk;
        view.dtype = TALLY_F64;
        view.rows = 1;
        view.columns = count;
        views[v] = view;
    }
    return TALLY_OK;
}

/* ---- Opening ---- */

/* Brings s->begin to the first record, whatever the delimiter will be. */
static tally_status find_first(ty_text_state *s, int *found, tally_error *error)
{
    ty_delimiter delimiter = s->layout.delimiter;
    s->layout.delimiter = '\n';
    tally_status status = start(s, error);
    if (!status)
        status = find_record(s, found, error);
    s->layout.delimiter = delimiter;
    return status;
}

/* Reads until the layout is certain: two records, or all there is, or as much as may be. */
static tally_status find_layout(ty_text_state *s, tally_error *error)
{
    for (;;) {
        tally_status status =
            ty_layout_detect(s->buffer + s->begin, s->end - s->begin, s->ended, &s->layout, error);
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
    while (!(stop = read_record(s, 0, 0, &status, error)) && !status) {
        status = fill(s, error);
        if (status)
            return status;
    }
    if (!status && keep)
        status = ty_text_headings(s, s->buffer + s->begin, stop, error);
    if (!status)
        end_record(s, stop);
    return status;
}

static tally_status open_text(ty_text_state *s, const tally_input_options *options,
                              tally_error *error)
{
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a region of columns is for images; choose columns of text by name or "
                        "number (--column)",
                        s->name);
    s->row_begin = options->row_begin;
    s->row_end = options->row_end ? options->row_end : UINT64_MAX;
    int found;
    tally_status status = find_first(s, &found, error);
    if (!status && !found)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty: no numbers", s->name);
    if (!status)
        status = find_layout(s, error);
    if (!status && !s->layout.records)
        s->layout.columns = 1; /* a record that never ends: reading it says why */
    if (!status)
        status = pass_header(s, 1, error);
    if (!status)
        status = ty_text_choose(s, options, error);
    if (status)
        return status;
    uint64_t wanted = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES;
    size_t row_bytes = sizeof(double) * s->views;
    s->chunk = (size_t)(wanted < SIZE_MAX ? wanted : SIZE_MAX) / row_bytes;
    s->chunk += s->chunk == 0;
    s->samples = ty_malloc(s->chunk * row_bytes);
    return s->samples ? TALLY_OK : ty_error_memory(error, "samples", s->chunk * row_bytes);
}

static void text_close(void *state)
{
    ty_text_state *s = state;
    for (uint32_t i = 0; s->headings && i < s->layout.columns; i++)
        ty_free(s->headings[i]);
    for (uint32_t i = 0; s->labels && i < s->views; i++)
        ty_free(s->labels[i]);
    ty_free(s->headings);
    ty_free(s->labels);
    ty_free(s->picks);
    ty_free(s->samples);
    ty_free(s->buffer);
    ty_free(s);
}

static tally_status text_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    ty_text_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "a text", sizeof *s);
    s->stream = stream;
    s->name = ty_stream_name(stream);
    tally_status status = open_text(s, options, error);
    if (status) {
        text_close(s);
        return status;
    }
    info->dtype = TALLY_F64;
    info->rows = 0;
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->views;
    info->is_image = 0;
    *state = s;
    return TALLY_OK;
}

static tally_status text_rewind(void *state, tally_error *error)
{
    ty_text_state *s = state;
    int found;
    tally_status status = find_first(s, &found, error);
    return status ? status : pass_header(s, 0, error);
}

/* The heading of the i-th column asked for, "column N" where it has none, or NULL for the only
 * column of a text without a header. */
static const char *text_channel_name(const void *state, uint64_t channel)
{
    const ty_text_state *s = state;
    return channel < s->views ? s->labels[channel] : NULL;
}

const ty_decoder ty_text = {"text",      ty_text_probe,     text_open, text_read,
                            text_rewind, text_channel_name, text_close};
