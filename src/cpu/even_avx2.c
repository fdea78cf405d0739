#if defined(__x86_64__)
#define TY_EVEN_TABLE ty_even_avx2
#include "cpu/even_loops.h"
#else
typedef int ty_even_avx2; /* an empty file is no translation unit */
#endif
