/* SPDX-License-Identifier: Apache-2.0 */
#include "io/frames.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

tally_status ty_frames_add(ty_frames *f, const ty_frame *frame, tally_error *error)
{
    if (f->count == f->room) {
        const size_t room = f->room ? 2 * f->room : 8;
        ty_frame *all = ty_realloc(f->frame, room * sizeof *all);
        if (!all)
            return ty_error_memory(error, "the frames of an image", room * sizeof *all);
        f->frame = all;
        f->room = room;
    }
    f->frame[f->count++] = *frame;
    return TALLY_OK;
}

tally_status ty_frames_damaged(const ty_frames *f, uint64_t at, const char *what,
                               tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: %s: %s (near byte %" PRIu64 ")", f->in.name,
                    f->format->format, what, at);
}

static tally_status begin_frame(ty_frames *f, size_t i, tally_input_info *info, tally_error *error)
{
    const ty_frame *frame = f->frame + i;
    f->current = i;
    f->row = 0;
    f->begun = 0;
    info->dtype = TALLY_U8;
    info->rows = frame->height;
    info->columns = frame->width;
    info->channels = f->channels;
    info->is_image = 1;
    ty_rows_close(&f->rows);
    return ty_rows_open(&f->rows, f->in.name, 0, &f->options, info, error);
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_frames *f = state;
    const ty_frame *frame = f->frame + f->current;
    const uint64_t row_bytes = f->rows.row_bytes;
    tally_status status = f->begun ? TALLY_OK : f->format->begin(f, frame, error);
    f->begun = !status;
    for (*got = 0; *got < bytes && f->row < frame->height && !status; *got += row_bytes, f->row++)
        status = f->format->row(f, frame, into ? into + *got : NULL, error);
    return status;
}

static tally_status start(ty_frames *f, ty_stream *stream, tally_input_info *info,
                          tally_error *error)
{
    const uint64_t page = f->options.page;
    tally_status status = ty_seekable_open(stream, &f->in, error);
    if (!status && f->format->state_bytes && !(f->state = ty_calloc(1, f->format->state_bytes)))
        status = ty_error_memory(error, "an image", f->format->state_bytes);
    if (!status)
        status = f->format->scan(f, error);
    if (!status && !f->count)
        status = ty_frames_damaged(f, f->in.size, "no image is in it", error);
    if (!status && page > f->count)
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "%s: page %" PRIu64 " is asked for, but it has %zu", f->in.name, page,
                          f->count);
    return status ? status : begin_frame(f, page ? (size_t)page - 1 : 0, info, error);
}

tally_status ty_frames_open(const ty_frames_format *format, ty_stream *stream,
                            const tally_input_options *options, void **state,
                            tally_input_info *info, tally_error *error)
{
    ty_frames *f = ty_calloc(1, sizeof *f);
    if (!f)
        return ty_error_memory(error, "an image", sizeof *f);
    f->format = format;
    f->options = *options;
    tally_status status = start(f, stream, info, error);
    if (status)
        ty_frames_close(f);
    else
        *state = f;
    return status;
}

tally_status ty_frames_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_frames *f = state;
    for (;;) {
        tally_input_info info;
        tally_status status = ty_rows_read(&f->rows, take, f, views, done, error);
        if (status || !*done || f->options.page || f->current + 1 == f->count)
            return status;
        if ((status = begin_frame(f, f->current + 1, &info, error)))
            return status;
    }
}

tally_status ty_frames_rewind(void *state, tally_error *error)
{
    ty_frames *f = state;
    tally_input_info info;
    return begin_frame(f, f->options.page ? (size_t)f->options.page - 1 : 0, &info, error);
}

const char *ty_frames_channel_name(const void *state, uint64_t channel)
{
    return ty_rows_channel_name(((const ty_frames *)state)->channels, channel);
}

void ty_frames_close(void *state)
{
    ty_frames *f = state;
    if (!f)
        return;
    if (f->state && f->format->close)
        f->format->close(f->state);
    ty_rows_close(&f->rows);
    ty_free(f->state);
    ty_free(f->frame);
    ty_free(f);
}
