/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed bytes undone: members (gzip) or frames (zstd) one behind the other. */
#ifndef TY_UNPACK_H
#define TY_UNPACK_H

#include "io/origin.h"

/* ---- One member: unpack_gzip.c, unpack_zstd.c, unpack_xz.c, unpack_bzip2.c ---- */

/* Moved on by what a step took and wrote. */
typedef struct ty_unpack_step {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
    const char *damage; /* set with TY_UNPACK_DAMAGED */
} ty_unpack_step;

typedef enum ty_unpack_result {
    TY_UNPACK_MORE, /* it needs bytes, or memory to write to */
    TY_UNPACK_END,  /* of the member */
    TY_UNPACK_DAMAGED,
    TY_UNPACK_MEMORY, /* is out */
    TY_UNPACK_WINDOW  /* its window is larger than is read */
} ty_unpack_result;

typedef struct ty_codec {
    const char *name;
    int padded;                 /* not 0: zeros may follow the last member; the first byte of one */
    void *(*open)(void);        /* NULL: memory is out */
    void (*close)(void *state); /* NULL is fine */
    void (*reset)(void *state); /* before every member */
    ty_unpack_result (*step)(void *state, ty_unpack_step *step);
    /* The member that begins at `at`, of which `size` bytes are there: 1, its stored size and at
     * most how many bytes it has, which is known once all of it is there; -1: more bytes are
     * needed; 0: it does not say. */
    int (*measure)(const unsigned char *at, size_t size, size_t *stored, size_t *most);
    /* All of a member; nonzero when damaged. */
    int (*whole)(void *state, const unsigned char *in, size_t in_size, unsigned char *out,
                 size_t out_size, size_t *got);
} ty_codec;

/* NULL: not in this build. */
extern const ty_codec *const ty_codec_gzip, *const ty_codec_zstd, *const ty_codec_xz,
                                                                      *const ty_codec_bzip2;

/* ---- All members: unpack.c ---- */

/* TY_DEFLATE is a member of an archive, which its origin makes gzip of. */
typedef enum ty_packing { TY_PLAIN, TY_GZIP, TY_ZSTD, TY_XZ, TY_BZIP2, TY_DEFLATE } ty_packing;

/* The bytes of an origin, unpacked, in order. */
typedef struct ty_unpack {
    ty_origin *origin;
    ty_packing packing;
    const ty_codec *codec; /* NULL: TY_PLAIN */
    void *state;
    int between;  /* no member is open */
    int by_piece; /* reading also ends before a member that says how large it is, and when a
                     pipe has no more for now */
    unsigned char *stored;
    size_t room, at, end; /* of `stored`; [at, end) is not used yet */
} ty_unpack;

/* Looks at the first bytes and says how they are packed. After a failure it is to be closed, too.
 */
tally_status ty_unpack_open(ty_unpack *unpack, ty_origin *origin, tally_error *error);
void ty_unpack_close(ty_unpack *unpack);
/* As many bytes as asked unless the end comes first; none at the end. */
tally_status ty_unpack_read(ty_unpack *unpack, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error);
/* Passes over at most `bytes` bytes by seeking; *jumped is 0 where that is impossible. */
tally_status ty_unpack_jump(ty_unpack *unpack, uint64_t bytes, uint64_t *jumped,
                            tally_error *error);
/* The origin was rewound. */
void ty_unpack_rewind(ty_unpack *unpack);
/* More stored bytes, behind those that are not used yet, until `stored` is full or the end comes.
 */
tally_status ty_unpack_fill(ty_unpack *unpack, tally_error *error);
/* Stored bytes used. */
uint64_t ty_unpack_stored(const ty_unpack *unpack);
const char *ty_packing_name(ty_packing packing); /* "" for TY_PLAIN */

/* ---- Several members at once: unpack_parts.c ---- */

typedef struct ty_parts ty_parts;

typedef struct ty_piece {
    size_t at, size;
} ty_piece;

/* What was unpacked: pieces of `bytes`. */
typedef struct ty_unpacked {
    unsigned char *bytes;
    size_t room, count;
    ty_piece *pieces;
} ty_unpacked;

/* Memory for `bytes` bytes and all pieces; what was there is lost. */
tally_status ty_unpacked_reserve(ty_unpacked *unpacked, size_t bytes, tally_error *error);
void ty_unpacked_free(ty_unpacked *unpacked);

/* NULL: memory is out. */
ty_parts *ty_parts_create(ty_unpack *unpack, ty_pool *pool);
void ty_parts_free(ty_parts *parts); /* NULL is fine */
/* Between members: the next ones, by all threads, as far as they are whole, say how large they are
 * and are good. `count` is 0 when the next one is not: ty_unpack_read reads that, or says what is
 * wrong with it. */
tally_status ty_parts_read(ty_parts *parts, ty_unpacked *out, tally_error *error);

/* ---- By a thread of their own: ahead.c ---- */

typedef struct ty_ahead ty_ahead;

/* From now on a thread unpacks, members in parts on the threads of `pool`, and `unpack` and its
 * origin are its own. NULL: there is no thread, or no memory, to be had. */
ty_ahead *ty_ahead_start(ty_unpack *unpack, ty_pool *pool);
/* Ends the thread; `unpack` is the caller's again, somewhere behind what was read. NULL is fine. */
void ty_ahead_stop(ty_ahead *ahead);
/* As ty_unpack_read. */
tally_status ty_ahead_read(ty_ahead *ahead, unsigned char *bytes, size_t size, size_t *got,
                           tally_error *error);
/* Stored bytes used for what was read. */
uint64_t ty_ahead_stored(const ty_ahead *ahead);
/* Whether what was read has a copy in a temporary file. */
int ty_ahead_is_spooled(const ty_ahead *ahead);

#endif
