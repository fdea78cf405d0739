"""How the figures of `tally-bench --figure` are drawn, and what their sources published. Data only.

Published numbers are the texts' own; `place` says where they stand.
"""

from collections import namedtuple

# field × times is drawn of the lines whose "panel" is `name` (None: of all). kind: lines (x is a number), bars (x is a
# label, upright) or ranges (a row for each label, from its least value to its greatest). x: linear, log, twos
# (1, 2, 4 …) or bytes (1 KiB, 2 KiB …). limit: (value, words), a line across.
Panel = namedtuple("Panel", "title x_label y_label field times kind x y name limit",
                   defaults=(1, "lines", "linear", "log", None, None))
# One number: of panel `field` (None: of any) at x or label.
Published = namedtuple("Published", "field series at value place")
Figure = namedtuple("Figure", "title panels note published published_on columns height", defaults=((), None, 1, 7.2))

GBPS = "GB/s of samples"


def bars(title, y_label, field, times=1, y="log"):
    return Panel(title, None, y_label, field, times, "bars", y=y)


def image(name, title):
    return Panel(title, "pixels a side", GBPS, "gbps", x="twos", name=name)


def with_ratios(series, values, base, place):
    """Speeds, and the same by that of `base`."""
    divided = [Published("relative", series, at, value / values[base], f"{place}, divided")
               for at, value in values.items()]
    return tuple([Published("gbps", series, at, value, place) for at, value in values.items()] + divided)


def table1(field, values):
    return [Published(field, "measured", method, value, "003 table 1")
            for method, value in zip(("TRISH", "POD", "NUG"), values)]


FIGURES = {
    "reduce-vs-atomic": Figure(
        "A tree of flags against atomics, float32",
        [Panel(None, "samples", "milliseconds", "median_s", 1e3, x="log")],
        "Device time; “from the host” is the whole call, copies included. Source 000 gives one number in its text (less "
        "than 5 ms for 100 M samples; it does not say how many bins: shown at 64); its graph cannot be read.",
        (Published(None, "atomic-local, 64 bins", 1e8, 5, "000, last paragraph: 100 M, less than 5 ms"),),
        "< 5 ms for 100 M, RTX 2060 SUPER (000)", height=6.2),
    "optimisations": Figure(
        "One optimisation after the other: letters a-z, four to a bin",
        [bars("Throughput", GBPS, "gbps"), bars("Times as fast as the naive kernel", "times", "speedup")],
        "Device time. Source 001 explains the kernels and gives no measurements. The book is Pride and Prejudice, "
        "repeated; bytes that are no small letters are in no bin."),
    "whitepaper-64-256": Figure(
        "The whitepaper's histograms of 64 and 256 bins",
        [Panel("Throughput", "bytes", GBPS, "gbps", x="bytes"),
         Panel("Share of the merge kernel", "bytes", "per cent", "merge_share", 100, x="bytes", y="linear",
               limit=(5, "claimed: < 5 %"))],
        "Device time, merge kernel included. Source 002's text has no speeds; it says that merging takes less than 5 % "
        "of the time of counting (section on oclHistogram64). The tagged update is the corrected one: as published it "
        "loses counts on hardware whose warps do not run in lock step.", height=7.6),
    "trish-k": Figure(
        "TRISH: words a thread bins before it loops",
        [Panel("Throughput", "k", GBPS, "gbps"),
         Panel("Relative to k = 31", "k", "times", "relative", y="linear"),
         Panel("Row-sum efficiency", "k", "of 63 words", "efficiency", y="linear")],
        "Device time, uniform bytes. Published: the four values in the text of §5.4; the rest of the paper's figure 4 "
        "cannot be read. Efficiency is ⌊63/k⌋·k/63.",
        with_ratios("TRISH", {1: 18.92, 31: 40.91, 32: 35.44, 63: 41.86}, 31, "003 §5.4"), "GTX 580 (003)",
        height=8.6),
    "trish-throughput": Figure(
        "TRISH, POD and NUG against size and data",
        [Panel(None, "bytes", GBPS, "gbps", x="bytes")],
        "Device time, 256 bins. POD: Podlozhnyuk's method with hardware atomics, and with the (corrected) tag; NUG: "
        "Nugteren's; linear: 0, 1, 2 … 255 again and again. Published: the five values in the text of §6.1 at 64 MiB; "
        "the curves of the paper's figure 6 cannot be read.",
        tuple(Published(None, series, 67108864, value, "003 §6.1, Data Results") for series, value in (
            ("TRISH, uniform", 40.53), ("NUG, uniform", 11.25), ("POD, linear", 43.61), ("POD, uniform", 27.43),
            ("POD, zeros", 0.48))), "GTX 580 (003)", height=6.4),
    "trish-images": Figure(
        "TRISH, POD and NUG on photographs",
        [image("camera", "Cameraman, grey"), image("coins", "Coins, grey"), image("cat", "Cat, grey"),
         image("cat-rgba", "Cat, RGBA")],
        "Device time, 256 bins; the bundled photographs, repeated to side × side pixels. The paper used Lena, Raft and "
        "MRI; its text gives ratios (TRISH 1.05 to 4.4 times POD, 2 to 3 times NUG), and the values of figure 7 cannot "
        "be read. RGBA: four bytes a pixel, alpha 0, as there.", columns=2, height=7.6),
    "trish-ablation": Figure(
        "TRISH with less: no row sums, k = 1, fewer blocks",
        [bars("Throughput", GBPS, "gbps"), bars("Relative to k = 31 with 3 blocks", "times", "relative")],
        "Device time, uniform bytes. Blocks are those that run on a multiprocessor at once. Without row sums a counter "
        "may pass 255: those bars are timings only. Published: §6.2.",
        with_ratios("TRISH", {"k = 31\n3 blocks": 40.9, "no row sums\n3 blocks": 49.4, "k = 1\n3 blocks": 18.9,
                              "k = 31\n2 blocks": 28.5, "k = 31\n1 block": 14.6}, "k = 31\n3 blocks", "003 §6.2"),
        "GTX 580 (003)", height=7.6),
    "trish-table1": Figure(
        "What the three methods take, 256 MiB of uniform bytes",
        [bars("Throughput", GBPS, "gbps"), bars("Time, in TRISH's", "times", "ratio", y="linear"),
         bars("Registers a thread", "registers", "registers", y="linear"),
         bars("Occupancy", "per cent of the threads", "occupancy", 100, "linear")],
        "Device time. Registers and occupancy as compiler and driver tell them (OpenCL tells neither). Published: "
        "table 1, whose times and instructions a byte fit its n as words of four bytes.",
        tuple(table1("gbps", (40.02, 27.03, 11.25)) + table1("ratio", (1.00, 1.48, 3.56)) +
              table1("registers", (36, 18, 42)) + table1("occupancy", (100 * 192 / 1536, 100, 100 * 96 / 1536))),
        "GTX 580 (003)", 2, 7),
    "saturating": Figure(
        "16-bit counters that stick at 65 535",
        [Panel("Throughput", "bins", "samples a second", "samples_per_s", x="twos"),
         Panel("Atomic updates of global memory, a launch", "bins", "updates", "global_updates", x="twos")],
        "Device time, 16-bit samples; host: one thread. Updates: an addition and a minimum in global memory for each "
        "sample (naive), for each bin of each group (shared; at most). The values of the source's chart 1 cannot be "
        "read, and its text gives none.", height=7.6),
    "today": Figure(
        "8-bit samples, 256 bins: every method, from its slowest input to its fastest",
        [Panel(None, None, GBPS, "gbps", kind="ranges")],
        "Device time, samples in device memory, counts compared with the reference. Inputs: zeros, uniform, ramp, 90 % "
        "one value, a book, a photograph. podlozhnyuk-64 has 64 bins, private-register 16. Other libraries: the inputs "
        "of bench/gpu.sh.", height=9),
}


def published(figure, field):
    """{x or label: value} of a panel, by the series where all are at one x."""
    found = [one for one in FIGURES[figure].published if one.field in (None, field)]
    same = len({one.at for one in found}) == 1
    return {one.series if same else one.at: one.value for one in found}
