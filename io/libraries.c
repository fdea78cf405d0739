/* SPDX-License-Identifier: Apache-2.0 */
#include <tally/io.h>

#define HAVE_0(text)
#define HAVE_1(text)      ", " text
#define PASTE(have, text) HAVE_##have(text)
#define IF(have, text)    PASTE(have, text)

const char *tally_io_libraries(void)
{
    static const char all[] = IF(TALLY_HAVE_PNG, "PNG") IF(TALLY_HAVE_JPEG, "JPEG")
        IF(TALLY_HAVE_TIFF, "TIFF") IF(TALLY_HAVE_WEBP, "WebP")
#if TALLY_HAVE_ISAL
            ", gzip (ISA-L)"
#elif TALLY_HAVE_ZLIB
            ", gzip (zlib)"
#endif
        IF(TALLY_HAVE_ZSTD, "zstd") IF(TALLY_HAVE_LZMA, "xz") IF(TALLY_HAVE_BZIP2, "bzip2")
            IF(TALLY_HAVE_LZ4, "LZ4") IF(TALLY_HAVE_HDF5, "HDF5")
                IF(TALLY_HAVE_CAIRO, "pictures") "";
    return all[0] ? all + 2 : all;
}
