#if defined(__x86_64__)
#define TY_EVEN_TABLE ty_even_avx512
#include "cpu/even_loops.h"
#else
typedef int ty_even_avx512; /* an empty file is no translation unit */
#endif
