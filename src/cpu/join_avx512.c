#if defined(__x86_64__)
#define TY_JOIN_TABLE ty_join_avx512
#include "cpu/join_loops.h"
#else
typedef int ty_join_avx512; /* an empty file is no translation unit */
#endif
