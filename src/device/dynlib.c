#include "device/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *ty_dynlib_open(const char *const *candidates, const ty_symbol *symbols, void *table,
                     char *reason, size_t size)
{
    void *library = NULL;
    int i = 0;
    for (; candidates[i] && !library; i++)
        library = dlopen(candidates[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, size, "%s is not installed", candidates[0]);
        return NULL;
    }
    for (const ty_symbol *s = symbols; s->name; s++) {
        void *address = dlsym(library, s->name);
        if (!address && s->required) {
            snprintf(reason, size, "%s is too old: it lacks %s", candidates[i - 1], s->name);
            return NULL;
        }
        memcpy((char *)table + s->offset, &address, sizeof address);
    }
    return library;
}
