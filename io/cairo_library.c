/* SPDX-License-Identifier: Apache-2.0 */
#if TALLY_HAVE_CAIRO

#include "io/cairo_library.h"
#include "io/library.h"

#include <stddef.h>

ty_libcairo_table ty_libcairo;

static const ty_symbol symbols[] = {
#define SYMBOL(name) {"cairo_" #name, offsetof(ty_libcairo_table, name), 1},
    TY_CAIRO_FUNCTIONS(SYMBOL) TY_CAIRO_UNITS(SYMBOL){NULL, 0, 0}};

static ty_library library = TY_LIBRARY(TY_CAIRO_LIBRARY, symbols, &ty_libcairo);

const char *ty_cairo_library_open(void)
{
    return ty_library_open(&library);
}

#else
typedef int ty_cairo_library_needs_it; /* a translation unit has to declare something */
#endif
