/* SPDX-License-Identifier: Apache-2.0 */
#include "io/library.h"

const char *ty_library_open(ty_library *l)
{
    const char *const candidates[] = {l->file, NULL};
    pthread_mutex_lock(&l->lock);
    if (l->state == TY_LIBRARY_NEW)
        l->state =
            ty_dynlib_open(NULL, candidates, l->symbols, l->table, l->failure, sizeof l->failure)
                ? TY_LIBRARY_OPEN
                : TY_LIBRARY_FAILED;
    const char *failure = l->state == TY_LIBRARY_OPEN ? NULL : l->failure;
    pthread_mutex_unlock(&l->lock);
    return failure;
}
