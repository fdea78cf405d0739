#include "core/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tally_status(ty_error)(tally_error *error, tally_status status, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
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
    char old[sizeof error->message];
    memcpy(old, error->message, sizeof old);
    old[sizeof old - 1] = '\0';
    int at = snprintf(error->message, sizeof error->message, "%s: ", prefix);
    if (at > 0 && (size_t)at < sizeof error->message)
        snprintf(error->message + at, sizeof error->message - (size_t)at, "%s", old);
}

const char *tally_status_string(tally_status status)
{
    switch (status) {
    case TALLY_OK:
        return "ok";
    case TALLY_ERROR_ARGUMENT:
        return "wrong argument";
    case TALLY_ERROR_UNSUPPORTED:
        return "not supported";
    case TALLY_ERROR_MEMORY:
        return "out of memory";
    case TALLY_ERROR_IO:
        return "input or output failed";
    case TALLY_ERROR_FORMAT:
        return "damaged or unknown format";
    case TALLY_ERROR_DATA:
        return "samples break a policy";
    case TALLY_ERROR_DEVICE:
        return "device failed";
    case TALLY_ERROR_CANCELLED:
        return "cancelled";
    case TALLY_ERROR_INTERNAL:
        return "internal defect";
    }
    return "unknown status";
}
