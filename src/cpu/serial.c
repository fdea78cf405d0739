/* serial: one thread, one table, on the host, as every source starts from; here it is the
 * reference. */
#include "cpu/cpu.h"
#include "methods/registry.h"

static const ty_cpu_method method = {.whole = ty_reference_run};

const ty_method ty_serial = {
    "serial",
    "001 002 003 004",
    "one thread, one table: the reference everything is compared with",
    TY_ON_CPU,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    NULL,
    NULL,
    &method,
};
