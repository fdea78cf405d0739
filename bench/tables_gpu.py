# SPDX-License-Identifier: Apache-2.0
"""The GPU benchmark's tables: of the newest bench/results/*-gpu-DATE.jsonl, which `bench/gpu.sh peers` makes."""

import collections
import os

import lines
from lines import table
from lines import thousands as words

PEERS = (("CUB", "HistogramEven"), ("CUB", "HistogramRange"), ("NPP", "HistogramEven"),
         ("PyTorch", "histc"), ("PyTorch", "bincount"), ("CuPy", "histogram"), ("CuPy", "bincount"))
DTYPES = ("u8", "u16", "i32", "f32", "f64")


def size_words(n):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:g} {unit}"
        n /= 1024
    return ""


def times(x):
    return f"{x:.2f}×" if x < 9.95 else f"{x:.0f}×"


class Run:
    """The lines of one file, by part."""

    def __init__(self, path):
        self.name = os.path.relpath(path, lines.ROOT)
        self.header, self.parts = {}, collections.defaultdict(list)
        for line in lines.read(path):
            if "header" in line:
                self.header = line
            elif "median_s" in line:
                self.parts[line["part"]].append(line)

    def cells(self):
        """(dtype, bins) → Tally's lines on every input, of the large part."""
        cells = collections.defaultdict(list)
        for line in self.parts["all"]:
            cells[line["dtype"], line["bins"]].append(line)
        return cells

    def points(self, part):
        """(dtype, bins, data, n) → (by, call) → line."""
        points = collections.defaultdict(dict)
        for line in self.parts[part]:
            who = ("Tally", "") if line["by"] == "Tally" else (line["by"], line["call"])
            points[line["dtype"], line["bins"], line["data"], line["n"]][who] = line
        return points


# ---- tables ----

def span(values, show):
    values = list(values)
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low.removesuffix('×').removesuffix('%')}–{high}"


LEAST_BINS = 256  # of a table's rows


def worst(run):
    """The slowest input of each cell, in percent of reading. The heat map has the cells of fewer bins too."""
    cells = run.cells()
    rows = []
    for bins in sorted({bins for _, bins in cells if bins >= LEAST_BINS}):
        methods = {line["call"] for dtype in DTYPES for line in cells.get((dtype, bins), [])}
        row = [lines.bins(bins), ", ".join(sorted(methods))]
        for dtype in DTYPES:
            slow = min(cells.get((dtype, bins), []), default=None, key=lambda line: line["fraction_of_read"])
            row.append(f"**{100 * slow['fraction_of_read']:.1f}** {slow['data']}" if slow else "–")
        rows.append(row)
    return table(["bins", "method"] + list(DTYPES), rows)


def peers(run, kept=(256, 2048, 65536, 1 << 20)):
    """How many times as fast as each peer, slowest to fastest of the inputs that both counted; only these numbers of bins."""
    points = run.points("peers")
    there = [who for who in PEERS if any(who in point for point in points.values())]
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    for (dtype, bins, data, n), point in points.items():
        for who, line in point.items():
            if who in there and ("Tally", "") in point:
                cells[dtype, bins][who].append(point["Tally", ""]["gbps"] / line["gbps"])
        # Python's peers count half as many samples, and are compared with the same call of ours.
        if ("Tally", "") not in point:
            ours = points.get((dtype, bins, data, 2 * n), {}).get(("Tally", ""))
            for who, line in point.items():
                if ours and who in there:
                    cells[dtype, bins][who].append(ours["gbps"] / line["gbps"])
    rows = []
    for (dtype, bins), found in sorted(cells.items(),
                                       key=lambda c: (DTYPES.index(c[0][0]), c[0][1])):
        if bins not in kept:
            continue
        rows.append([f"{dtype}, {lines.bins(bins)}"] +
                    [span(found[who], times) if found[who] else "–" for who in there])
    return table(["samples, bins"] + [f"{by} `{call}`" for by, call in there], rows)


def sizes(run, kept=(1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30)):
    """Microseconds a call, one after another, of calls of so many bytes."""
    points = run.points("sizes")
    kinds = sorted({(dtype, bins) for dtype, bins, _, _ in points},
                   key=lambda k: (DTYPES.index(k[0]), k[1]))
    totals = sorted({line["bytes"] for point in points.values() for line in point.values()})
    rows = []
    for total in (total for total in totals if total in kept):
        row = [size_words(total)]
        for kind in kinds:
            for who in (("Tally", ""), ("CUB", "HistogramEven"), ("NPP", "HistogramEven")):
                if who[0] == "NPP" and kind[0] != "u8":
                    continue
                found = [point[who]["median_s"] * 1e6 for (dtype, bins, _, _), point in
                         points.items() if (dtype, bins) == kind and who in point and
                         point[who]["bytes"] == total]
                row.append(f"{max(found):,.1f}".replace(",", " ") if found else "–")
        rows.append(row)
    head = ["µs a call, slowest of three inputs"]
    for dtype, bins in kinds:
        head += [f"{dtype}, {lines.bins(bins)}: Tally", "CUB"] + (["NPP"] if dtype == "u8" else [])
    return table(head, rows)


def differing(run):
    """Whose counts are not the exact ones."""
    found = collections.defaultdict(list)
    total = collections.Counter()
    for part in ("peers", "sizes", "all", "edges"):
        for line in run.parts[part]:
            who = line["by"] + ("" if line["by"] == "Tally" else f" `{line['call']}`")
            total[who] += 1
            if not line["same"]:
                found[who].append(line)
    rows = [[who, words(total[who]), words(len(found[who])),
             ", ".join(sorted({line["dtype"] for line in found[who]})) or "–"]
            for who in sorted(total)]
    return table(["", "configurations", "with other counts", "types"], rows)


def edges(run):
    """Uneven edges: Tally on the slowest and fastest input, and how many times as fast as CUB."""
    cells = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in run.parts["edges"] or lines.read("h200-edges-cub.jsonl"):
        cells[line["axis"], line["dtype"], line["bins"]][line["by"]][line["data"]] = line
    rows = []
    for (axis, dtype, bins), by in sorted(cells.items(), key=lambda c: (c[0][0] != "log", c[0][1:])):
        if bins not in (1024, 65536, 1 << 20):
            continue
        ours, theirs = by["Tally"], by.get("CUB", {})
        ratios = [ours[data]["gbps"] / line["gbps"] for data, line in theirs.items() if data in ours]
        rows.append([{"log": "logarithmic"}.get(axis, axis), f"{dtype}, {lines.bins(bins)}",
                     span((line["fraction_of_read"] for line in ours.values()),
                          lambda x: f"{100 * x:.0f}%"),
                     span(ratios, times) if ratios else "–"])
    return table(["edges", "samples, bins", "of reading", "CUB `HistogramRange`"], rows)


def cold(run):
    """Process start to first counts, of few bytes."""
    found = [line for line in lines.read("h200-cold-start.jsonl") if line["dtype"] == "u8"]
    rows = [[line["case"], f"{line['median_s']:.3f}", f"{line['min_s']:.3f}–{line['max_s']:.3f}"] for line in found]
    return table(["kernels from", "median, s", f"of {found[0]['repeats']} runs"], rows)


def runtimes(run):
    """CUDA and OpenCL, the slowest input of each."""
    slowest, bytes_of = {}, {"u8": 1, "u16": 2, "f64": 8}
    for line in lines.read("h200-runtimes.jsonl"):
        if line.get("verified"):
            at = (line["dtype"], line["bins"], line["device"])
            speed = line["n"] * bytes_of.get(line["dtype"], 4) / line["median_s"] * 1e-9
            slowest[at] = min(slowest.get(at, speed), speed)
    rows = []
    for dtype in ("u8", "u16", "i32", "f32", "f64"):
        rows.append([dtype])
        for bins in (256, 2048, 8192):
            cuda, opencl = (slowest.get((dtype, bins, device)) for device in ("cuda", "opencl"))
            known = cuda and opencl
            rows[-1] += [words(round(cuda)), words(round(opencl)), f"{100 * opencl / cuda:.1f}%"] if known else ["–"] * 3
    head = [f"{lines.bins(bins)} bins: {what}" if what == "CUDA" else what
            for bins in (256, 2048, 8192) for what in ("CUDA", "OpenCL", "")]
    return table(["GB/s"] + head, rows)


def host(run):
    """Samples on the host: counted there, by the device, and where `auto` decides; three plans of the lines' eight."""
    rows = []
    shown = {("u8", 256), ("f32", 2048), ("f64", 100000)}
    for line in lines.read("h200-host.jsonl"):
        if line.get("verified") and (line["dtype"], line["bins"]) in shown:
            uneven = "" if line["axis"] == "even" else "uneven "
            speeds = [f"{line['bytes'] / line[way] * 1e-9:.1f}" if way in line else "–"
                      for way in ("cpu_s", "cuda_s", "pinned_s", "auto_s")]
            rows.append([f"{line['dtype']}, {lines.bins(line['bins'])} {uneven}bins", str(line["threads"] or "all")]
                        + speeds + [{"cpu": "processor", "cuda": "CUDA"}[line["auto"]]])
    return table(["samples", "threads", "processor", "copied", "pinned", "`auto`", "which takes"], rows)


def source(run):
    h = run.header
    versions = sorted({(line["by"], line["version"]) for part in run.parts.values()
                       for line in part if line["by"] != "Tally"})
    return (f"From `{run.name}`: {h['name']}, {h['driver']}, reading {h['read_gbps']:,.0f} GB/s, "
            f"commit {h['commit'][:7]}, {h['date']}; "
            + ", ".join(f"{by} {version}" for by, version in versions) + ".")


TABLES = {"gpu-worst": worst, "gpu-peers": peers, "gpu-sizes": sizes,
          "gpu-differing": differing, "gpu-cold": cold, "gpu-edges": edges, "gpu-source": source,
          "gpu-runtimes": runtimes, "gpu-host": host,
          "gpu-peers-all": lambda run: peers(run, range(LEAST_BINS, 1 << 31)),
          "gpu-sizes-all": lambda run: sizes(run, range(1 << 40))}


def makers():
    run = Run(lines.newest(r".*-gpu-.*\.jsonl"))
    return {f"table:{name}": lambda make=make: make(run) for name, make in TABLES.items()}
