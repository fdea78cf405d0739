/* Compressed bytes undone: members (gzip) or frames (zstd) one behind the other. */
#ifndef TY_UNPACK_H
#define TY_UNPACK_H

#include "io/origin.h"

/* ---- One member: unpack_gzip.c, unpack_zstd.c ---- */

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
    int padded;                 /* zeros may follow the last member */
    void *(*open)(void);        /* NULL: memory is out */
    void (*close)(void *state); /* NULL is fine */
    void (*reset)(void *state); /* before every member */
    ty_unpack_result (*step)(void *state, ty_unpack_step *step);
} ty_codec;

extern const ty_codec *const ty_codec_gzip, *const ty_codec_zstd; /* NULL: not in this build */

/* ---- All members: unpack.c ---- */

typedef enum ty_packing { TY_PLAIN, TY_GZIP, TY_ZSTD } ty_packing;

enum { TY_STORED_BUFFER = 256 * 1024 };

/* The bytes of an origin, unpacked, in order. */
typedef struct ty_unpack {
    ty_origin *origin;
    ty_packing packing;
    const ty_codec *codec; /* NULL: TY_PLAIN */
    void *state;
    int between;    /* no member is open */
    size_t at, end; /* of `stored`, not used yet */
    unsigned char stored[TY_STORED_BUFFER];
} ty_unpack;

/* Looks at the first bytes and says how they are packed. After a failure it is to be closed, too.
 */
tally_status ty_unpack_open(ty_unpack *unpack, ty_origin *origin, tally_error *error);
void ty_unpack_close(ty_unpack *unpack);
/* As many bytes as asked unless the end comes first. */
tally_status ty_unpack_read(ty_unpack *unpack, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error);
/* Passes over at most `bytes` bytes by seeking; *jumped is 0 where that is impossible. */
tally_status ty_unpack_jump(ty_unpack *unpack, uint64_t bytes, uint64_t *jumped,
                            tally_error *error);
/* The origin was rewound. */
void ty_unpack_rewind(ty_unpack *unpack);
/* Stored bytes used. */
uint64_t ty_unpack_stored(const ty_unpack *unpack);
const char *ty_packing_name(ty_packing packing); /* "" for TY_PLAIN */

#endif
