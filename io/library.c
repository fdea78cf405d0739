/* SPDX-License-Identifier: Apache-2.0 */
#include "io/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void load(ty_library *l)
{
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    l->state = TY_LIBRARY_FAILED;
    if (!handle) {
        const char *words = dlerror();
        snprintf(l->failure, sizeof l->failure, "%s", words ? words : "it does not open");
        return;
    }
    for (size_t i = 0; i < l->count; i++) {
        void *address = dlsym(handle, l->symbols[i].name);
        if (!address) {
            snprintf(l->failure, sizeof l->failure, "%s has no %s", l->file, l->symbols[i].name);
            return;
        }
        memcpy((char *)l->table + l->symbols[i].offset, &address, sizeof address);
    }
    l->state = TY_LIBRARY_OPEN;
}

const char *ty_library_open(ty_library *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->state == TY_LIBRARY_NEW)
        load(l);
    const char *failure = l->state == TY_LIBRARY_OPEN ? NULL : l->failure;
    pthread_mutex_unlock(&l->lock);
    return failure;
}
