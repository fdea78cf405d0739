# SPDX-License-Identifier: Apache-2.0
"""How the figures of `tally-bench --figure` are drawn, and what their sources published (bench/published).

Data only.
"""

import csv
import os
from collections import namedtuple

from lines import ROOT

# field × times is drawn of the lines whose "panel" (or else whose data) is `name` (None: of all). kind: lines (x is a number), bars (x is a
# label, upright) or ranges (a row for each label, from its least value to its greatest). x: linear, log, twos
# (1, 2, 4 …) or bytes (1 KiB, 2 KiB …). limit: (value, words), a line across.
Panel = namedtuple("Panel", "title x_label y_label field times kind x y name limit",
                   defaults=(1, "lines", "linear", "log", None, None))
# One number: of panel `field`, `name` (None: of any), at x or label, in the field's unit.
Published = namedtuple("Published", "field series at value name", defaults=(None,))
Figure = namedtuple("Figure", "title panels note published published_on columns height", defaults=((), None, 1, 7.2))

GBPS = "GB/s of samples"


def bars(title, y_label, field, times=1, y="log"):
    return Panel(title, None, y_label, field, times, "bars", y=y)


def image(name, title):
    return Panel(title, "pixels a side", GBPS, "gbps", x="twos", name=name)


def recorded(name):
    with open(os.path.join(ROOT, "bench", "published", name + ".csv"), encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


def figure_4():
    """Speeds, the same by that at k = 31, and how much of a row sum is used."""
    rows = recorded("trish-figure-4")
    base = next(float(row["throughput_gb_s"]) for row in rows if row["k"] == "31")
    for row in rows:
        k, value = int(row["k"]), float(row["throughput_gb_s"])
        yield Published("gbps", "TRISH, as published", k, value)
        yield Published("relative", "TRISH, as published", k, value / base)
        yield Published("efficiency", "TRISH, as published", k, float(row["rowsum_efficiency"]))


SERIES = {"trish": "TRISH, as published", "podlozhnyuk": "POD", "nugteren": "NUG"}
PICTURES = {("Lena", "grey"): "camera", ("Raft", "grey"): "cat", ("MRI", "grey"): "phantom",
            ("Raft", "rgba"): "cat-rgba"}


def figure_6():
    for row in recorded("trish-figure-6"):
        yield Published("gbps", SERIES[row["method"]], int(row["bytes"]), float(row["throughput_gb_s"]), row["dataset"])


def figure_7():
    for row in recorded("trish-figure-7"):
        yield Published("gbps", SERIES[row["method"]], int(row["side_px"]), float(row["throughput_gb_s"]),
                        PICTURES[row["image"], row["format"]])


# Table 1's columns, by the field of a line that is the same.
COLUMNS = {"gbps": "throughput_gb_s", "ratio": "throughput_ratio", "registers": "registers",
           "local_bytes": "shared_bytes", "warps_per_cycle": "warps_per_cycle", "instructions_per_byte": "instructions_per_byte",
           "instructions_per_cycle": "ipc", "instructions_issued": "instructions_issued",
           "bank_conflicts": "bank_conflicts", "cycles": "cycles", "cycles_ratio": "cycles_ratio",
           "branches": "branches", "divergent_branches": "divergent_branches"}


def table_1():
    for row in recorded("trish-table-1"):
        at = {"trish": "TRISH,\nas published"}.get(row["method"], SERIES[row["method"]])
        for field, column in COLUMNS.items():
            yield Published(field, "measured", at, float(row[column]))
        yield Published("counted_s", "measured", at, float(row["time_us"]) * 1e-6)
        yield Published("occupancy", "measured", at, float(row["threads_of_1536"]) / 1536)
        yield Published("replays", "measured", at, float(row["replay_percent"]) / 100)


def chart_1():
    """Times, and the formulas of the report's table for reads and writes, a sample of 10^9."""
    for row in recorded("saturating-chart-1"):
        naive, bins = row["kernel"] == "naive", int(row["bins"])
        series = "naive" if naive else "optimized, as published"
        yield Published("billion_s", series, bins, float(row["time_s"]), "uniform")
        yield Published("reads_a_sample", series, bins, 2)
        yield Published("writes_a_sample", series, bins, 2 if naive else bins * 1e-9)


def ablation():
    """Speeds, and the same by that of k = 31."""
    at = {"TRISH k=31 as is": "k = 31\n3 blocks", "TRISH without accumulation": "k = 31\nno sums\n3 blocks",
          "TRISH k=1": "k = 1\n3 blocks", "TRISH 2 blocks per SM": "k = 31\n2 blocks",
          "TRISH 1 block per SM": "k = 31\n1 block",
          "TRISH accumulating single bytes": "k = 31\nbyte sums\n3 blocks"}
    found = {at[row["what"]]: float(row["value"]) for row in recorded("stated-numbers")
             if row["what"] in at}
    for label, value in found.items():
        base = 40.3 if label.count("byte") else found["k = 31\n3 blocks"]  # of pairs, then
        yield Published("gbps", "TRISH", label, value)
        yield Published("relative", "TRISH", label, value / base)


FIGURES = {
    "reduce-vs-atomic": Figure(
        "A tree of flags against atomics, float32",
        [Panel(None, "samples", "milliseconds", "median_s", 1e3, x="log")],
        "Device time; “from the host” is the whole call, copies included. Source 000 gives one number in its text "
        "(less than 5 ms for 100 M samples; it does not say how many bins, nor whether with the copy: shown at 64).",
        (Published("median_s", "atomics, 64 bins", 1e8, 0.005),),
        "< 5 ms for 100 M, RTX 2060 SUPER (000)", height=6.6),
    "optimisations": Figure(
        "One optimisation after the other: letters a-z, four to a bin",
        [bars("Throughput", GBPS, "gbps"), bars("Times as fast as the naive kernel", "times", "speedup")],
        "Device time. Source 001 explains the kernels and gives no measurements. The book is Pride and Prejudice, "
        "repeated; bytes that are no small letters are in no bin. Runs: each letter 1 to 127 times.", height=8),
    "whitepaper-64-256": Figure(
        "The whitepaper's histograms of 64 and 256 bins",
        [Panel("Throughput, uniform bytes", "bytes", GBPS, "gbps", x="bytes", name="uniform"),
         Panel("Throughput, zeros", "bytes", GBPS, "gbps", x="bytes", name="zeros"),
         Panel("Merging, in the time of counting: uniform bytes", "bytes", "per cent", "merge_of_counting", 100, x="bytes",
               limit=(5, "claimed: < 5 %"), name="uniform"),
         Panel("Merging, in the time of counting: zeros", "bytes", "per cent", "merge_of_counting", 100, x="bytes",
               limit=(5, "claimed: < 5 %"), name="zeros")],
        "Device time, merge kernel included. Source 002's text has no speeds; it says that merging takes less than 5 % "
        "of the time of counting (section on oclHistogram64). The tagged update is the corrected one: as published it "
        "loses counts on hardware whose warps do not run in lock step.", columns=2, height=8.2),
    "trish-k": Figure(
        "TRISH: words a thread bins before it loops",
        [Panel("Throughput", "k", GBPS, "gbps"),
         Panel("Relative to k = 31", "k", "times", "relative", y="linear"),
         Panel("Row-sum efficiency", "k", "of 63 words", "efficiency", y="linear")],
        "Device time, 256 MiB of uniform bytes. Published: the paper's figure 4, all 63 values, at three blocks a "
        "multiprocessor. Efficiency is ⌊63/k⌋·k/63.",
        tuple(figure_4()), "GTX 580 (003)", height=8.6),
    "trish-throughput": Figure(
        "TRISH, POD and NUG against size and data",
        [Panel(title, "bytes", GBPS, "gbps", x="bytes", name=name) for name, title in (
            ("uniform", "Uniform bytes"), ("zeros", "Zeros"),
            ("linear", "Linear: no two lanes of a warp in one bank"))],
        "Device time, 256 bins. POD: Podlozhnyuk's method with hardware atomics, and with the (corrected) tag; NUG: "
        "Nugteren's. Published: the curves of the paper's figure 6 (its TRISH had three blocks a multiprocessor, its NUG "
        "four sizes).", tuple(figure_6()), "GTX 580 (003)", height=11),
    "trish-images": Figure(
        "TRISH, POD and NUG on pictures",
        [image("camera", "Cameraman, grey (published: Lena)"), image("cat", "Cat, grey (Raft)"),
         image("phantom", "A made scan, grey (MRI)"), image("cat-rgba", "Cat, RGBA (Raft, RGBA)")],
        "Device time, 256 bins; tiled in both directions. The paper's pictures are not here: others of their kind are. "
        "RGBA: four bytes a pixel, alpha 0, as there. Published: the curves of figure 7.", tuple(figure_7()),
        "GTX 580 (003)", columns=2, height=8.6),
    "trish-ablation": Figure(
        "TRISH with less: no row sums, k = 1, fewer blocks",
        [bars("Throughput", GBPS, "gbps"), bars("Relative to k = 31 with 3 blocks", "times", "relative")],
        "Device time, 256 MiB of uniform bytes. Blocks are those that run on a multiprocessor at once. Without row sums a "
        "counter may pass 255: those bars are timings only. Published: §6.2.", tuple(ablation()), "GTX 580 (003)",
        height=7.6),
    "trish-table1": Figure(
        "What the three methods take, 256 MiB of uniform bytes",
        [bars("Throughput", GBPS, "gbps"), bars("Cycles, in TRISH's", "times", "cycles_ratio", y="linear"),
         bars("Instructions a byte", "issued, of 32 lanes", "instructions_per_byte", y="linear"),
         bars("Instructions a cycle", "executed, a multiprocessor", "instructions_per_cycle", y="linear"),
         bars("Registers a thread", "registers", "registers", y="linear"),
         bars("Occupancy as launched", "per cent of the threads", "occupancy", 100, "linear")],
        "Device time and counters of one launch. Registers and occupancy as compiler and driver tell them (OpenCL tells "
        "neither, and has no counters). Published: table 1.", tuple(table_1()), "GTX 580 (003)", 2, 9),
    "saturating": Figure(
        "16-bit counters that stick at 65 535",
        [Panel("Time of 10⁹ samples, uniform", "bins", "seconds", "billion_s", x="twos", name="uniform"),
         Panel("Half of the bins below 65 535", "bins", "seconds", "billion_s", x="twos", name="rare"),
         Panel("Reads of global memory", "bins", "a sample", "reads_a_sample", x="twos", name="uniform"),
         Panel("Writes of global memory", "bins", "a sample", "writes_a_sample", x="twos", name="uniform")],
        "Device time, 10⁹ float32 samples; host: one thread. Reads and writes are of the kernels' loops, an atomic as "
        "one of each. Published: chart 1, whose n and device are not stated (10⁹ floats in the authors' program), and the "
        "formulas of its table: 2 n reads, 2 n or n_bins writes.", tuple(chart_1()), "004", columns=2, height=9),
    "today": Figure(
        "8-bit samples, 256 bins: every method, from its slowest input to its fastest",
        [Panel(None, None, GBPS, "gbps", kind="ranges")],
        "Device time, samples in device memory, counts compared with the reference. Inputs: zeros, uniform, ramp, 90 % "
        "one value, a book, a photograph. podlozhnyuk-64 has 64 bins, private-register 16. Other libraries: the inputs "
        "of bench/gpu.sh.", height=9),
}


def published(figure, field, name=None):
    """{(series, x or label): value} of a panel."""
    return {(one.series, one.at): one.value for one in FIGURES[figure].published
            if one.field in (None, field) and name in (None, one.name)}
