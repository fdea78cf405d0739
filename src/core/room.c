#include "core/room.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "core/alloc.h"

/* In front of a room's memory is its description. */
enum { HEAD = 64 };
_Static_assert(sizeof(ty_room) <= HEAD, "it fits");

/* What a context may hold on to; the pages that large rooms ask for. */
static const size_t most_kept = (size_t)64 << 20, page = (size_t)2 << 20;

static ty_room *make(size_t bytes)
{
    const int large = bytes >= TY_ROOM_LEAST;
    if (bytes > SIZE_MAX / 4)
        return NULL;
    const size_t all = large ? (bytes + HEAD + page - 1) & ~(page - 1) : bytes + HEAD;
    ty_room *room = ty_aligned(large ? page : 64, all);
    if (!room)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        madvise(room, all, MADV_HUGEPAGE); /* only speed hangs on it */
#endif
    *room = (ty_room){all - HEAD, 0, (unsigned char *)room + HEAD};
    return room;
}

ty_room *ty_room_take(ty_kept *kept, size_t bytes)
{
    if (bytes < TY_ROOM_LEAST)
        return make(bytes);
    ty_room *room = atomic_exchange(&kept->room, NULL);
    if (room && room->bytes >= bytes)
        return room;
    ty_free(room);
    return make(bytes);
}

void ty_room_return(ty_kept *kept, ty_room *room)
{
    if (room && room->bytes >= TY_ROOM_LEAST && room->bytes <= most_kept)
        room = atomic_exchange(&kept->room, room);
    ty_free(room);
}

void ty_room_forget(ty_kept *kept)
{
    ty_free(atomic_exchange(&kept->room, NULL));
}
