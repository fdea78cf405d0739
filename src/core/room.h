/*
 * Memory for large tables that outlives a call: new pages cost as much as counting some millions of
 * samples, so a context keeps what its last call used for the next.
 */
#ifndef TY_ROOM_H
#define TY_ROOM_H

#include <stddef.h>

typedef struct ty_room {
    size_t bytes;
    size_t clean; /* so many of the first are zeros; whoever writes there keeps it true */
    void *at;     /* aligned to 64 bytes */
} ty_room;

/* Where a room waits between calls; zeros to begin with. Calls that overlap find none and get
 * memory of their own. */
typedef struct ty_kept {
    _Atomic(ty_room *) room;
} ty_kept;

/* From this size on memory is kept. */
enum { TY_ROOM_LEAST = 128 << 10 };

/* At least `bytes`, what was kept if it is large enough; NULL when memory is out. */
ty_room *ty_room_take(ty_kept *kept, size_t bytes);

/* For the next call, unless it is small or too large to hold on to. `room` may be NULL. */
void ty_room_return(ty_kept *kept, ty_room *room);

/* At the context's end. */
void ty_room_forget(ty_kept *kept);

#endif
