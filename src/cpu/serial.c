/* SPDX-License-Identifier: Apache-2.0 */
/* serial: one thread, one table, on the host, as every source starts from; here it is the
 * reference. */
#include "cpu/cpu.h"
#include "plan/registry.h"

/* The reference's edges. */
static uint64_t whole_bytes(const ty_job *job)
{
    uint64_t bytes = 0;
    for (uint32_t d = 0; d < job->plan->options.dimensions; d++)
        bytes += ((uint64_t)job->plan->axes[d].bins.bins + 1) * sizeof(double);
    return bytes;
}

static const ty_cpu_method method = {.whole = ty_reference_run, .whole_bytes = whole_bytes};

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
