/* The figures: data only. Published numbers are the texts' own; `place` says where they stand. */
#include "figure.h"

static const figure_published reduce_published[] = {
    {NULL, "atomic-local, 64 bins", NULL, 1e8, 5, "000, last paragraph: 100 M, less than 5 ms"},
    {NULL, NULL, NULL, 0, 0, NULL}};

static const figure_published k_published[] = {
    {"gbps", "TRISH", NULL, 1, 18.92, "003 §5.4"},
    {"gbps", "TRISH", NULL, 31, 40.91, "003 §5.4"},
    {"gbps", "TRISH", NULL, 32, 35.44, "003 §5.4"},
    {"gbps", "TRISH", NULL, 63, 41.86, "003 §5.4"},
    {"relative", "TRISH", NULL, 1, 18.92 / 40.91, "003 §5.4, divided"},
    {"relative", "TRISH", NULL, 31, 1, "003 §5.4"},
    {"relative", "TRISH", NULL, 32, 35.44 / 40.91, "003 §5.4, divided"},
    {"relative", "TRISH", NULL, 63, 41.86 / 40.91, "003 §5.4, divided"},
    {NULL, NULL, NULL, 0, 0, NULL}};

static const figure_published throughput_published[] = {
    {NULL, "TRISH, uniform", NULL, 67108864, 40.53, "003 §6.1, Data Results"},
    {NULL, "NUG, uniform", NULL, 67108864, 11.25, "003 §6.1, Data Results"},
    {NULL, "POD, linear", NULL, 67108864, 43.61, "003 §6.1, Data Results"},
    {NULL, "POD, uniform", NULL, 67108864, 27.43, "003 §6.1, Data Results"},
    {NULL, "POD, zeros", NULL, 67108864, 0.48, "003 §6.1, Data Results"},
    {NULL, NULL, NULL, 0, 0, NULL}};

static const figure_published ablation_published[] = {
    {"gbps", "TRISH", "k = 31\n3 blocks", 0, 40.9, "003 §6.2"},
    {"gbps", "TRISH", "no row sums\n3 blocks", 0, 49.4, "003 §6.2"},
    {"gbps", "TRISH", "k = 1\n3 blocks", 0, 18.9, "003 §6.2"},
    {"gbps", "TRISH", "k = 31\n2 blocks", 0, 28.5, "003 §6.2"},
    {"gbps", "TRISH", "k = 31\n1 block", 0, 14.6, "003 §6.2"},
    {"relative", "TRISH", "k = 31\n3 blocks", 0, 1, "003 §6.2"},
    {"relative", "TRISH", "no row sums\n3 blocks", 0, 49.4 / 40.9, "003 §6.2, divided"},
    {"relative", "TRISH", "k = 1\n3 blocks", 0, 18.9 / 40.9, "003 §6.2, divided"},
    {"relative", "TRISH", "k = 31\n2 blocks", 0, 28.5 / 40.9, "003 §6.2, divided"},
    {"relative", "TRISH", "k = 31\n1 block", 0, 14.6 / 40.9, "003 §6.2, divided"},
    {NULL, NULL, NULL, 0, 0, NULL}};

static const figure_published table_published[] = {
    {"gbps", "measured", "TRISH", 0, 40.02, "003 table 1"},
    {"gbps", "measured", "POD", 0, 27.03, "003 table 1"},
    {"gbps", "measured", "NUG", 0, 11.25, "003 table 1"},
    {"ratio", "measured", "TRISH", 0, 1.00, "003 table 1"},
    {"ratio", "measured", "POD", 0, 1.48, "003 table 1"},
    {"ratio", "measured", "NUG", 0, 3.56, "003 table 1"},
    {"registers", "measured", "TRISH", 0, 36, "003 table 1"},
    {"registers", "measured", "POD", 0, 18, "003 table 1"},
    {"registers", "measured", "NUG", 0, 42, "003 table 1"},
    {"occupancy", "measured", "TRISH", 0, 100 * 192 / 1536., "003 table 1"},
    {"occupancy", "measured", "POD", 0, 100, "003 table 1"},
    {"occupancy", "measured", "NUG", 0, 100 * 96 / 1536., "003 table 1"},
    {NULL, NULL, NULL, 0, 0, NULL}};

#define GBPS "GB/s of samples"

const figure figure_table[] = {
    {"reduce-vs-atomic",
     "000",
     "A tree of flags against atomics, float32",
     "< 5 ms for 100 M, RTX 2060 SUPER (000)",
     "Device time; \"from the host\" is the whole call, copies included. Source 000 gives one "
     "number "
     "in its text (less than 5 ms for 100 M samples; it does not say how many bins: shown at 64); "
     "its "
     "graph cannot be read.",
     1100,
     620,
     1,
     {{NULL, NULL, "samples", "milliseconds", "median_s", 1e3, CHART_LINES, CHART_LOG, CHART_LOG, 0,
       NULL}},
     reduce_published,
     figure_reduce},
    {"optimisations",
     "001",
     "One optimisation after the other: letters a-z, four to a bin",
     NULL,
     "Device time. Source 001 explains the kernels and gives no measurements. The book is Pride "
     "and "
     "Prejudice, repeated; bytes that are no small letters are in no bin.",
     1100,
     720,
     1,
     {{NULL, "Throughput", NULL, GBPS, "gbps", 1, CHART_BARS, CHART_LINEAR, CHART_LOG, 0, NULL},
      {NULL, "Times as fast as the naive kernel", NULL, "times", "speedup", 1, CHART_BARS,
       CHART_LINEAR, CHART_LOG, 0, NULL}},
     NULL,
     figure_optimise},
    {"whitepaper-64-256",
     "002",
     "The whitepaper's histograms of 64 and 256 bins",
     NULL,
     "Device time, merge kernel included. Source 002's text has no speeds; it says that merging "
     "takes "
     "less than 5 % of the time of counting (section on oclHistogram64). The tagged update is the "
     "corrected one: as "
     "published "
     "it loses counts on hardware whose warps do not run in lock step.",
     1100,
     760,
     1,
     {{NULL, "Throughput", "bytes", GBPS, "gbps", 1, CHART_LINES, CHART_BYTES, CHART_LOG, 0, NULL},
      {NULL, "Share of the merge kernel", "bytes", "per cent", "merge_share", 100, CHART_LINES,
       CHART_BYTES, CHART_LINEAR, 5, "claimed: < 5 %"}},
     NULL,
     figure_whitepaper},
    {"trish-k",
     "003 fig. 4",
     "TRISH: words a thread bins before it loops",
     "GTX 580 (003)",
     "Device time, uniform bytes. Published: the four values in the text of §5.4; the rest of the "
     "paper's figure 4 cannot be read. Efficiency is ⌊63/k⌋·k/63.",
     1100,
     860,
     1,
     {{NULL, "Throughput", "k", GBPS, "gbps", 1, CHART_LINES, CHART_LINEAR, CHART_LOG, 0, NULL},
      {NULL, "Relative to k = 31", "k", "times", "relative", 1, CHART_LINES, CHART_LINEAR,
       CHART_LINEAR, 0, NULL},
      {NULL, "Row-sum efficiency", "k", "of 63 words", "efficiency", 1, CHART_LINES, CHART_LINEAR,
       CHART_LINEAR, 0, NULL}},
     k_published,
     figure_trish_k},
    {"trish-throughput",
     "003 fig. 6",
     "TRISH, POD and NUG against size and data",
     "GTX 580 (003)",
     "Device time, 256 bins. POD: Podlozhnyuk's method with hardware atomics, and with the "
     "(corrected) "
     "tag; NUG: Nugteren's; linear: 0, 1, 2 … 255 again and again. Published: the five values in "
     "the "
     "text of §6.1 at 64 MiB; the curves of the paper's figure 6 cannot be read.",
     1100,
     640,
     1,
     {{NULL, NULL, "bytes", GBPS, "gbps", 1, CHART_LINES, CHART_BYTES, CHART_LOG, 0, NULL}},
     throughput_published,
     figure_trish_throughput},
    {"trish-images",
     "003 fig. 7",
     "TRISH, POD and NUG on photographs",
     NULL,
     "Device time, 256 bins; the bundled photographs, repeated to side × side pixels. The paper "
     "used "
     "Lena, Raft and MRI; its text gives ratios (TRISH 1.05 to 4.4 times POD, 2 to 3 times NUG), "
     "and the values of figure 7 cannot be read. RGBA: four bytes a pixel, alpha 0, as there.",
     1100,
     760,
     2,
     {{"camera", "Cameraman, grey", "pixels a side", GBPS, "gbps", 1, CHART_LINES, CHART_TWOS,
       CHART_LOG, 0, NULL},
      {"coins", "Coins, grey", "pixels a side", GBPS, "gbps", 1, CHART_LINES, CHART_TWOS, CHART_LOG,
       0, NULL},
      {"cat", "Cat, grey", "pixels a side", GBPS, "gbps", 1, CHART_LINES, CHART_TWOS, CHART_LOG, 0,
       NULL},
      {"cat-rgba", "Cat, RGBA", "pixels a side", GBPS, "gbps", 1, CHART_LINES, CHART_TWOS,
       CHART_LOG, 0, NULL}},
     NULL,
     figure_trish_images},
    {"trish-ablation",
     "003 §6.2",
     "TRISH with less: no row sums, k = 1, fewer blocks",
     "GTX 580 (003)",
     "Device time, uniform bytes. Blocks are those that run on a multiprocessor at once. Without "
     "row "
     "sums a counter may pass 255: those bars are timings only. Published: §6.2.",
     1100,
     760,
     1,
     {{NULL, "Throughput", NULL, GBPS, "gbps", 1, CHART_BARS, CHART_LINEAR, CHART_LOG, 0, NULL},
      {NULL, "Relative to k = 31 with 3 blocks", NULL, "times", "relative", 1, CHART_BARS,
       CHART_LINEAR, CHART_LOG, 0, NULL}},
     ablation_published,
     figure_trish_ablation},
    {"trish-table1",
     "003 table 1",
     "What the three methods take, 256 MiB of uniform bytes",
     "GTX 580 (003)",
     "Device time. Registers and occupancy as compiler and driver tell them (OpenCL tells "
     "neither). "
     "Published: table 1, whose times and instructions a byte fit its n as words of four bytes.",
     1100,
     700,
     2,
     {{NULL, "Throughput", NULL, GBPS, "gbps", 1, CHART_BARS, CHART_LINEAR, CHART_LOG, 0, NULL},
      {NULL, "Time, in TRISH's", NULL, "times", "ratio", 1, CHART_BARS, CHART_LINEAR, CHART_LINEAR,
       0, NULL},
      {NULL, "Registers a thread", NULL, "registers", "registers", 1, CHART_BARS, CHART_LINEAR,
       CHART_LINEAR, 0, NULL},
      {NULL, "Occupancy", NULL, "per cent of the threads", "occupancy", 100, CHART_BARS,
       CHART_LINEAR, CHART_LINEAR, 0, NULL}},
     table_published,
     figure_trish_table},
    {"saturating",
     "004 chart 1",
     "16-bit counters that stick at 65 535",
     NULL,
     "Device time, 16-bit samples; host: one thread. Updates: an addition and a minimum in global "
     "memory for each sample (naive), for each bin of each group (shared; at most). The values of "
     "the "
     "source's chart 1 cannot be read, and its text gives none.",
     1100,
     760,
     1,
     {{NULL, "Throughput", "bins", "samples a second", "samples_per_s", 1, CHART_LINES, CHART_TWOS,
       CHART_LOG, 0, NULL},
      {NULL, "Atomic updates of global memory, a launch", "bins", "updates", "global_updates", 1,
       CHART_LINES, CHART_TWOS, CHART_LOG, 0, NULL}},
     NULL,
     figure_saturating},
    {"today",
     "tally",
     "8-bit samples, 256 bins: every method, from its slowest input to its fastest",
     NULL,
     "Device time, samples in device memory, counts compared with the reference. Inputs: zeros, "
     "uniform, ramp, 90 % one value, a book, a photograph. podlozhnyuk-64 has 64 bins, "
     "private-register 16. Other libraries: the inputs of bench/gpu.sh.",
     1100,
     900,
     1,
     {{NULL, NULL, NULL, GBPS, "gbps", 1, CHART_RANGES, CHART_LINEAR, CHART_LOG, 0, NULL}},
     NULL,
     figure_today},
};
const size_t figure_count = sizeof figure_table / sizeof *figure_table;
