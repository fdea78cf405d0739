/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that few calls need. They are opened when one does: linked, they and all that they need
 * would take longer to load than all else that a small call of the command does. */
#ifndef TY_LIBRARY_H
#define TY_LIBRARY_H

#include <pthread.h>

#include "core/dynlib.h"

typedef struct ty_library {
    const char *file;         /* as the linker would ask for it */
    const ty_symbol *symbols; /* a NULL name at the end */
    void *table;              /* a struct of pointers, set when the library is open */
    pthread_mutex_t lock;
    enum { TY_LIBRARY_NEW, TY_LIBRARY_OPEN, TY_LIBRARY_FAILED } state;
    char failure[200];
} ty_library;

#define TY_LIBRARY(file, symbols, table)                                                           \
    {                                                                                              \
        file, symbols, table, PTHREAD_MUTEX_INITIALIZER, TY_LIBRARY_NEW, ""                        \
    }

/* Any thread, any number of times. NULL, or why it cannot be used, which is the library's. It stays
 * open until the process ends, as functions that it runs at exit need. */
const char *ty_library_open(ty_library *library);

#endif
