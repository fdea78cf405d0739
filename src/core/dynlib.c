/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/env.h"

/* The first candidate that opens. One that is there but does not open says why. */
static void *open_first(const char *const *candidates, const char **name, char *reason, size_t size)
{
    snprintf(reason, size, "%s is not installed", candidates[0]);
    for (int i = 0; candidates[i]; i++) {
        void *library = dlopen(candidates[i], RTLD_NOW | RTLD_LOCAL);
        *name = candidates[i];
        if (library)
            return library;
        const char *words = dlerror();
        /* "NAME: cannot open …: No such file …"; the name is another's if a dependency is missing.
         */
        if (words && (strncmp(words, candidates[i], strlen(candidates[i])) != 0 ||
                      !strstr(words, "No such file")))
            snprintf(reason, size, "%s does not open: %s", candidates[i], words);
    }
    return NULL;
}

void *ty_dynlib_open(const char *variable, const char *const *candidates, const ty_symbol *symbols,
                     void *table, char *reason, size_t size)
{
    const char *named = variable ? ty_env(variable) : NULL, *name = NULL;
    const char *const only[] = {named, NULL};
    if (named && !strcmp(named, "none")) {
        snprintf(reason, size, "switched off by %s=none", variable);
        return NULL;
    }
    void *library = open_first(named && *named ? only : candidates, &name, reason, size);
    for (const ty_symbol *s = symbols; library && s->name; s++) {
        void *address = dlsym(library, s->name);
        if (!address && s->required) {
            snprintf(reason, size, "%s is too old: it lacks %s", name, s->name);
            return NULL;
        }
        memcpy((char *)table + s->offset, &address, sizeof address);
    }
    return library;
}
