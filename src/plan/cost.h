/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What methods cost: the model behind `auto` (docs/AUTO.md).
 *
 *     seconds = call + n · bytes / speed
 *
 * with two constants a row, in a table of rows by method, bytes of a sample and number of bins. A
 * device's table is measured (`tally tune`) or the default of its architecture.
 */
#ifndef TY_COST_H
#define TY_COST_H

#include <tally/tally.h>

/* One row: serves `bytes`-byte samples (0: of any size) in up to `bins` bins (0: any number). */
typedef struct ty_rate {
    char method[32];
    uint32_t bytes;
    uint64_t bins;
    double call_us; /* what a call takes before and after its samples */
    double gbps;    /* 10^9 bytes a second; cpu: of one thread. On the slower of uniform and equal
                       samples */
} ty_rate;

enum { TY_RATES_MOST = 512 };

typedef struct ty_tuning {
    unsigned threads; /* cpu: that a call may use; else 1 */
    uint32_t count;
    int measured;   /* on this device; else an architecture's default */
    char note[192]; /* where the rows are from, for a plan's text */
    ty_rate rates[TY_RATES_MOST];
} ty_tuning;

/* Rows that are no method: what all threads of the processor read; host data on their way through
 * another device's counting, as one thread packs them, and by as many as are of use. */
#define TY_RATE_READ "read"
#define TY_RATE_HOST "host"
#define TY_RATE_BUS  "bus"

/* Nor are these: what kernels count in bins of uneven edges, which they find by a lookup table
 * (binning/lookup.h) in local memory, of logarithmic edges or any, by one in global memory,
 * likewise, or by a search there. */
#define TY_RATE_LOCAL_LOG      "local-log"
#define TY_RATE_LOCAL_EDGES    "local-edges"
#define TY_RATE_GLOBAL_LOG     "global-log"
#define TY_RATE_GLOBAL_EDGES   "global-edges"
#define TY_RATE_SEARCHED_EDGES "searched-edges"

/* The defaults for an architecture ("cuda-sm_90", "cpu-avx2", …): its own block of rates.c, else
 * that of what stands before the hyphen. */
void ty_tuning_default(const char *arch, ty_tuning *tuning);

/* Reads rows, a line each, up to a line that starts with '[' or the end; '#' starts a comment. 0
 * for a line that is none, its number in *line. */
int ty_tuning_parse(const char *text, ty_tuning *tuning, unsigned *line);

/* The first row that serves, or NULL. */
const ty_rate *ty_rate_find(const ty_tuning *tuning, const char *method, uint32_t bytes,
                            uint64_t bins);

/* For a method's cost(): the model's seconds for the plan. A method without a row is taken when
 * nothing else serves. */
double ty_cost(const tally_plan *plan, const char *method);

/* The same for a kernel that finds uneven edges by a lookup table in local memory, if `spare` bytes
 * are enough for one whatever the edges. */
double ty_cost_lookup(const tally_plan *plan, const char *method, uint64_t spare);

/* The same for a kernel that reads samples of several channels side by side: `ty_cost` is for one
 * that reads a single channel's only. */
double ty_cost_channels(const tally_plan *plan, const char *method);

/* The same for a kernel that counts values, whatever edges are between them. */
double ty_cost_whatever_edges(const tally_plan *plan, const char *method);

/* The cost of what has no row: more than anything that has one. */
extern const double ty_unknown_seconds;

/* Samples to expect in a call, and bytes of one with all its coordinates and its weight. */
double ty_plan_samples(const tally_plan *plan);
uint32_t ty_plan_bytes(const tally_plan *plan);

/* Seconds for host data, packed by so many threads, to pass a device that is not the processor, at
 * least. */
double ty_cost_host(const ty_tuning *tuning, double bytes, unsigned threads);

/* Of all methods' names, dtypes and parameters and of the version: a table measured with others is
 * out of date. */
uint64_t ty_methods_signature(void);

extern const char *const ty_rates_blocks[]; /* rates.c: "[name]\n", rows; NULL ends them */

#endif
