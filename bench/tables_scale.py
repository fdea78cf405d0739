# SPDX-License-Identifier: Apache-2.0
"""docs/SCALE.md's tables: what several devices of one host were measured to count, and what more of them and many
ranks would take, computed from parts that were measured.

    counting       s / n of one GPU's seconds for s bytes on n GPUs
    n GPUs         n - 1 times what a second one cost where there was next to nothing to count: the first one reads
                   the counts of the others
    n ranks        ceil(log2 n) steps of t + b / N: t seconds of two ranks of one machine, N bytes a second of network
    b              8 bytes a bin; sums of floats 16
"""

import math

import lines

BINS = (256, 65536, 1 << 20)
GPUS, EACH, FEW = 8, 2 << 30, 4096
RANKS, NETWORK = 1000, 10e9


def several():
    return lines.read(lines.newest(r"h200x2-several-.*\.jsonl"))


def parts():
    """Seconds of one and of all GPUs, by bins and bytes on each; into a GPU's memory."""
    return {(line["way"].split(",")[0], line["bins"], line["bytes_each"]): line["min_s"]
            for line in lines.read(lines.newest(r"h200x2-parts-.*\.jsonl")) if line["way"].endswith("to a device")}


def scaled():
    seconds = parts()
    return lines.table(["bins", "one GPU, 2 GiB", "two GPUs, 4 GiB", "", "few samples", "on two"],
                       [[lines.bins(b)] + [f"{1e3 * seconds[who, b, EACH]:.2f} ms" for who in ("one", "all")] + [
                         f"{2 * seconds['one', b, EACH] / seconds['all', b, EACH]:.2f}x",
                         amount(seconds["one", b, FEW]), amount(seconds["all", b, FEW])] for b in BINS])


def measured():
    speed = {(line["devices"], line["bins"]): line["gbps"] for line in several()}
    return lines.table(["bins", "processor", "one GPU", "two GPUs", "two and the processor"],
                       [[lines.bins(b)] + [f"{speed[who, b]:.0f}" for who in ("cpu", "cuda:0", "cuda:*", "cuda:*,cpu")]
                        for b in BINS])


def size(number):
    for unit, of in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= of:
            return f"{float(f'{number / of:.2g}'):g} {unit}"
    return f"{number:.0f} B"


def amount(seconds):
    for unit, of in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.1 * of:
            return f"{float(f'{seconds / of:.2g}'):g} {unit}"
    return f"{seconds:.2g} s"


def planned():
    seconds = parts()
    two = {(line["bins"], line["sums"]): line["tally"]
           for line in lines.read(lines.newest(r"mpi-.*\.jsonl")) if line["ranks"] == 2}
    rows = []
    for b in BINS:
        one = seconds["one", b, EACH]
        add = (GPUS - 1) * (seconds["all", b, FEW] - seconds["one", b, FEW])
        ranks = [math.ceil(math.log2(RANKS)) * (two[b, kind] + each * b / NETWORK)
                 for kind, each in (("u64", 8), ("wide", 16))]
        rows.append([lines.bins(b), size((RANKS - 1) * 8 * b), amount(ranks[0]), amount(ranks[1]),
                     amount(one), amount(one + add)])
    return lines.table(["bins", f"{lines.thousands(RANKS)} ranks", "take", "float sums", "one GPU, 2 GiB", f"{GPUS} GPUs, {GPUS * EACH >> 30} GiB"], rows)


def makers():
    return {"table:scale-measured": measured, "table:scale-planned": planned,
            "table:scale-parts": scaled}
