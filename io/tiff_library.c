/* SPDX-License-Identifier: Apache-2.0 */
#include "io/tiff_file.h"

#if TY_TIFF
#include "io/library.h"

#include <stddef.h>

ty_libtiff_table ty_libtiff;

static const ty_symbol symbols[] = {
#define SYMBOL(name) {"TIFF" #name, offsetof(ty_libtiff_table, name), 1},
    TY_TIFF_FUNCTIONS(SYMBOL){NULL, 0, 0}};

static ty_library library = TY_LIBRARY(TY_TIFF_LIBRARY, symbols, &ty_libtiff);

const char *ty_tiff_library_open(void)
{
    return ty_library_open(&library);
}

#else
typedef int ty_tiff_library_needs_it; /* a translation unit has to declare something */
#endif
