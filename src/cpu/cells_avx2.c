#if defined(__x86_64__)
#define TY_CELLS_TABLE ty_cells_avx2
#include "cpu/cells_loops.h"
#else
typedef int ty_cells_avx2; /* an empty file is no translation unit */
#endif
