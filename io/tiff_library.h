/* SPDX-License-Identifier: Apache-2.0 */
/* libtiff, opened when the first TIFF file is met (io/library.h): its functions, without the "TIFF"
 * of their names. */
#ifndef TY_TIFF_LIBRARY_H
#define TY_TIFF_LIBRARY_H

#include <tiffio.h>

#define TY_TIFF_FUNCTIONS(F)                                                                       \
    F(ClientOpenExt)                                                                               \
    F(Close)                                                                                       \
    F(ComputeStrip)                                                                                \
    F(ComputeTile)                                                                                 \
    F(CurrentDirectory)                                                                            \
    F(GetField)                                                                                    \
    F(GetFieldDefaulted)                                                                           \
    F(GetStrileByteCount)                                                                          \
    F(GetStrileOffset)                                                                             \
    F(IsByteSwapped)                                                                               \
    F(IsCODECConfigured)                                                                           \
    F(IsTiled)                                                                                     \
    F(LastDirectory)                                                                               \
    F(NumberOfStrips)                                                                              \
    F(OpenOptionsAlloc)                                                                            \
    F(OpenOptionsFree)                                                                             \
    F(OpenOptionsSetErrorHandlerExtR)                                                              \
    F(OpenOptionsSetMaxSingleMemAlloc)                                                             \
    F(OpenOptionsSetWarningHandlerExtR)                                                            \
    F(ReadDirectory)                                                                               \
    F(ReadEncodedTile)                                                                             \
    F(ReadScanline)                                                                                \
    F(ReverseBits)                                                                                 \
    F(ScanlineSize64)                                                                              \
    F(SetDirectory)                                                                                \
    F(SetField)                                                                                    \
    F(TileRowSize64)                                                                               \
    F(TileSize64)

typedef struct ty_libtiff_table {
#define TY_TIFF_FUNCTION(name) __typeof__(&TIFF##name) name;
    TY_TIFF_FUNCTIONS(TY_TIFF_FUNCTION)
#undef TY_TIFF_FUNCTION
} ty_libtiff_table;

/* Of use once ty_tiff_library_open has returned NULL, and not why it cannot be used. */
extern ty_libtiff_table ty_libtiff;
const char *ty_tiff_library_open(void);

#endif
