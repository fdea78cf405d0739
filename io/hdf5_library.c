/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5_library.h"

#include <pthread.h>
#include <stddef.h>

#if TALLY_HAVE_HDF5

#include "io/library.h"

static const ty_symbol symbols[] = {
#define TY_H5_SYMBOL(name) {#name, offsetof(ty_h5, name), 1},
    TY_H5_FUNCTIONS(TY_H5_SYMBOL) TY_H5_VARIABLES(TY_H5_SYMBOL){NULL, 0, 0}};

static ty_h5 table;
static ty_library library = TY_LIBRARY(TY_HDF5_LIBRARY, symbols, &table);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEW, STARTED, FAILED } state;

const ty_h5 *ty_h5_lock(const char **reason)
{
    *reason = ty_library_open(&library);
    if (*reason)
        return NULL;
    pthread_mutex_lock(&lock);
    if (state == NEW)
        state = table.H5open() < 0 ? FAILED : STARTED;
    if (state == STARTED) {
        table.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of this thread, where it knows threads */
        return &table;
    }
    pthread_mutex_unlock(&lock);
    *reason = TY_HDF5_LIBRARY " does not start";
    return NULL;
}

void ty_h5_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

#endif
