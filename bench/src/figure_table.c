/* SPDX-License-Identifier: Apache-2.0 */
/* The figures. What is published, and how they are drawn, is in bench/figures.py. */
#include "figure.h"

const figure figure_table[] = {
    {"reduce-vs-atomic", "000", "A tree of flags against atomics, float32", figure_reduce},
    {"optimisations", "001", "One optimisation after the other: letters a-z, four to a bin",
     figure_optimise},
    {"whitepaper-64-256", "002", "The whitepaper's histograms of 64 and 256 bins",
     figure_whitepaper},
    {"trish-k", "003 fig. 4", "TRISH: words a thread bins before it loops", figure_trish_k},
    {"trish-throughput", "003 fig. 6", "TRISH, POD and NUG against size and data",
     figure_trish_throughput},
    {"trish-images", "003 fig. 7", "TRISH, POD and NUG on pictures", figure_trish_images},
    {"trish-ablation", "003 §6.2", "TRISH with less: no row sums, k = 1, fewer blocks",
     figure_trish_ablation},
    {"trish-table1", "003 table 1", "What the three methods take, 256 MiB of uniform bytes",
     figure_trish_table},
    {"saturating", "004 chart 1", "16-bit counters that stick at 65 535", figure_saturating},
    {"today", "tally",
     "8-bit samples, 256 bins: every method, from its slowest input to its fastest", figure_today},
};
const size_t figure_count = sizeof figure_table / sizeof *figure_table;
