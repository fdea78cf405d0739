/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../common/printable.h"

enum { TEXT_MOST = 8192 }; /* a path and what is wrong with it */

/* Text as it is shown, whatever files and drivers had put into it. What is too long loses its
 * middle: it begins with a path, and ends with what is wrong. */
static void show(const char *text, tally_error *error)
{
    enum { ROOM = sizeof error->message, HEAD = ROOM / 2, TAIL = ROOM - HEAD };
    const size_t size = strlen(text);
    if (printable(text, size, error->message, ROOM) == size)
        return;
    printable(text, size, error->message, HEAD);
    size_t length = strlen(error->message), from = size > TAIL ? size - TAIL : 0;
    char *to = error->message + length;
    memcpy(to, "...", 3);
    while ((text[from] & 0xc0) == 0x80 ||
           printable(text + from, size - from, to + 3, ROOM - length - 3) < size - from)
        from++;
}

tally_status(ty_error)(tally_error *error, tally_status status, const char *format, ...)
{
    if (error) {
        char text[TEXT_MOST];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        show(text, error);
    }
    return status;
}

tally_status(ty_error_memory)(tally_error *error, const char *what, uint64_t bytes)
{
    return ty_error(error, TALLY_ERROR_MEMORY, "out of memory: %" PRIu64 " bytes for %s", bytes,
                    what);
}

void ty_error_prefix(tally_error *error, const char *prefix)
{
    if (!error)
        return;
    char text[TEXT_MOST];
    snprintf(text, sizeof text, "%.*s: %.*s", TEXT_MOST / 2, prefix, (int)sizeof error->message,
             error->message);
    show(text, error);
}
