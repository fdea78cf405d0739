#if defined(__x86_64__)
#define TY_STATS_TABLE ty_stats_avx512
#include "cpu/stats_loops.h"
#else
typedef int ty_stats_avx512; /* an empty file is no translation unit */
#endif
