#if defined(__x86_64__)
#include "cpu/bytes_tables.h"

TY_TABLES_DEFINE(avx2)
#else
typedef int ty_bytes_avx2; /* an empty file is no translation unit */
#endif
