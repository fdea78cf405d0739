#if defined(__x86_64__)
#define TY_PACK_TABLE ty_pack_avx512
#include "cpu/pack_loops.h"
#else
typedef int ty_pack_avx512; /* an empty file is no translation unit */
#endif
