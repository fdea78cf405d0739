/* SPDX-License-Identifier: Apache-2.0 */
/* Images of several frames in a file that can seek: GIF and WebP. All frames are read one after the
 * other, or the page that was asked for, each as it is stored. */
#ifndef TY_FRAMES_H
#define TY_FRAMES_H

#include "io/rows.h"
#include "io/seekable.h"

#define TY_FRAME_MOST ((uint64_t)1 << 30) /* bytes of one that is decoded whole */

typedef struct ty_frame {
    uint64_t at, size; /* in the file, as the format has it */
    uint64_t width, height;
    int transparent; /* GIF: the colour that is; -1: none */
} ty_frame;

typedef struct ty_frames ty_frames;

typedef struct ty_frames_format {
    const char *format;
    /* Finds all frames (ty_frames_add) and `channels`. */
    tally_status (*scan)(ty_frames *frames, tally_error *error);
    /* Before the rows of `frame` are read. */
    tally_status (*begin)(ty_frames *frames, const ty_frame *frame, tally_error *error);
    /* The next row of it; NULL passes over it. */
    tally_status (*row)(ty_frames *frames, const ty_frame *frame, unsigned char *into,
                        tally_error *error);
    void (*close)(void *state); /* NULL is fine */
    size_t state_bytes;
} ty_frames_format;

struct ty_frames {
    const ty_frames_format *format;
    ty_seekable in;
    ty_rows rows;
    tally_input_options options; /* region, chunk and page of each */
    unsigned channels;           /* of all, 3 or 4 */
    size_t count, room, current;
    ty_frame *frame;
    int begun;    /* rows of `current` are being read */
    uint64_t row; /* next of it */
    void *state;  /* the format's, zeros at first */
};

tally_status ty_frames_add(ty_frames *frames, const ty_frame *frame, tally_error *error);
/* Damage near byte `at`. */
tally_status ty_frames_damaged(const ty_frames *frames, uint64_t at, const char *what,
                               tally_error *error);

/* A decoder's functions, but for its probe and opening. */
tally_status ty_frames_open(const ty_frames_format *format, ty_stream *stream,
                            const tally_input_options *options, void **state,
                            tally_input_info *info, tally_error *error);
tally_status ty_frames_read(void *state, tally_view *views, int *done, tally_error *error);
tally_status ty_frames_rewind(void *state, tally_error *error);
const char *ty_frames_channel_name(const void *state, uint64_t channel);
void ty_frames_close(void *state);

#endif
