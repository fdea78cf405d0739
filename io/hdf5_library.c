/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if TALLY_HAVE_HDF5

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define TY_H5_SYMBOL(name) {#name, offsetof(ty_h5, name)},
    TY_H5_FUNCTIONS(TY_H5_SYMBOL) TY_H5_VARIABLES(TY_H5_SYMBOL)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ty_h5 library;
static enum { NEW, OPEN, FAILED } state;
static char failure[200];

/* It stays open until the process ends, as its own functions at exit need. */
static void load(void)
{
    void *handle = dlopen(TY_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    state = FAILED;
    if (!handle) {
        const char *words = dlerror();
        snprintf(failure, sizeof failure, "%s", words ? words : TY_HDF5_LIBRARY " does not open");
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address) {
            snprintf(failure, sizeof failure, TY_HDF5_LIBRARY " has no %s", symbols[i].name);
            return;
        }
        memcpy((char *)&library + symbols[i].offset, &address, sizeof address);
    }
    if (library.H5open() < 0)
        snprintf(failure, sizeof failure, TY_HDF5_LIBRARY " does not start");
    else
        state = OPEN;
}

const ty_h5 *ty_h5_lock(const char **reason)
{
    pthread_mutex_lock(&lock);
    if (state == NEW)
        load();
    if (state == OPEN) {
        library.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of this thread, where it knows threads */
        return &library;
    }
    pthread_mutex_unlock(&lock);
    *reason = failure;
    return NULL;
}

void ty_h5_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

#endif
