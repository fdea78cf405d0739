/* SPDX-License-Identifier: Apache-2.0 */
/* APNG: the images of an animation, each as a PNG file of its own. */
#ifndef TY_PNG_FRAMES_H
#define TY_PNG_FRAMES_H

#include "io/input.h"

enum { TY_PNG_PALETTE = 12 + 768, TY_PNG_ALPHAS = 12 + 256 };

typedef struct ty_png_frames {
    ty_stream *stream;
    int is_animated;
    uint32_t promised, met; /* frames */
    uint32_t sequence;      /* the next chunk's number in the animation */
    int is_frame;           /* this image, and not what programs show that know no animations */
    int has_data, ended;    /* of this image: met; all of it is read */
    int has_next;           /* and another one follows, of this extent: */
    uint32_t width, height;
    uint64_t left;  /* bytes of the chunk that are still in the stream */
    int is_renamed; /* it was fdAT and is IDAT; its checksum is not among `left` */
    uint32_t check_in, check_out;
    unsigned char header[25]; /* chunks: IHDR, PLTE and tRNS */
    unsigned char palette[TY_PNG_PALETTE], alphas[TY_PNG_ALPHAS];
    size_t palette_size, alphas_size;
    size_t at, end; /* of `ready`: bytes before those of the stream */
    unsigned char ready[8 + 25 + TY_PNG_PALETTE + TY_PNG_ALPHAS];
} ty_png_frames;

/* The first image; the stream is at its beginning. */
void ty_png_frames_start(ty_png_frames *frames, ty_stream *stream);
/* The next bytes of this image's file, less at its end. */
tally_status ty_png_frames_read(ty_png_frames *frames, unsigned char *bytes, size_t size,
                                size_t *got, tally_error *error);
/* Passes over the rest of this image; *more is 0 if it was the last. */
tally_status ty_png_frames_next(ty_png_frames *frames, int *more, tally_error *error);

#endif
