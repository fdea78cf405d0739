#!/usr/bin/env python3
"""Puts the GPU benchmark's results into README.md and docs/PERFORMANCE_GPU.md, and draws its heat map.

    bench/gpu_table.py [--check] [--show NAME] [FILE]

FILE is the newest bench/results/*-gpu-DATE.jsonl unless given; bench/gpu.sh peers makes one. What
stands between `<!-- table:NAME -->` and `<!-- end -->` is replaced by table NAME, and
docs/gpu-heat-map.svg is written. --check changes nothing and fails if something would change.
"""

import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = ("README.md", "docs/PERFORMANCE_GPU.md")
PICTURE = "docs/gpu-heat-map.svg"
PEERS = (("CUB", "HistogramEven"), ("CUB", "HistogramRange"), ("NPP", "HistogramEven"),
         ("PyTorch", "histc"), ("PyTorch", "bincount"), ("CuPy", "histogram"), ("CuPy", "bincount"))
DTYPES = ("u8", "u16", "i32", "f32", "f64")


def words(n):
    return f"{n:,}".replace(",", " ")


def size_words(n):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:g} {unit}"
        n /= 1024
    return ""


def times(x):
    return f"{x:.2f} ×" if x < 9.95 else f"{x:.0f} ×"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


class Run:
    """The lines of one file, by part."""

    def __init__(self, path):
        self.name = os.path.relpath(path, ROOT)
        self.header, self.parts = {}, collections.defaultdict(list)
        with open(path, encoding="utf-8") as file:
            for line in map(json.loads, file):
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


def newest():
    paths = sorted(glob.glob(os.path.join(ROOT, "bench/results/*-gpu-*.jsonl")))
    if not paths:
        sys.exit("gpu_table.py: no bench/results/*-gpu-DATE.jsonl; bench/gpu.sh peers makes one")
    return paths[-1]


def other_lines(pattern):
    """Of the newest file of results that is made on its own."""
    paths = sorted(glob.glob(os.path.join(ROOT, "bench/results", pattern)))
    if not paths:
        return []
    with open(paths[-1], encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if "median_s" in line]


# ---- the heat map ----

STOPS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def colour(fraction):
    """Viridis, which is read alike with and without colour vision, and in grey."""
    at = min(max(fraction, 0), 1) * (len(STOPS) - 1)
    low = min(int(at), len(STOPS) - 2)
    return tuple(round(a + (b - a) * (at - low)) for a, b in zip(STOPS[low], STOPS[low + 1]))


def heat_map(run):
    cells = run.cells()
    bins = sorted({b for _, b in cells})
    width, height, left, top = 58, 34, 60, 64
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width * len(bins) + 10}" '
           f'height="{top + height * len(DTYPES) + 10}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="18" font-size="14">Percent of the speed of reading memory, slowest '
           f'input of each cell ({run.header["name"]})</text>']
    for i, b in enumerate(bins):
        label = (f"{b >> 20} Mi" if b >= 1 << 20 and b % (1 << 20) == 0 else words(b))
        out.append(f'<text x="{left + width * (i + 0.5)}" y="{top - 8}" text-anchor="middle">'
                   f'{label}</text>')
    out.append(f'<text x="{left}" y="{top - 26}">bins</text>')
    for j, dtype in enumerate(DTYPES):
        y = top + height * j
        out.append(f'<text x="{left - 8}" y="{y + height / 2 + 4}" text-anchor="end">{dtype}</text>')
        for i, b in enumerate(bins):
            if (dtype, b) not in cells:
                continue
            worst = min(line["fraction_of_read"] for line in cells[dtype, b])
            r, g, blue = colour(worst)
            dark = 0.3 * r + 0.59 * g + 0.11 * blue < 140
            out.append(f'<rect x="{left + width * i}" y="{y}" width="{width - 2}" '
                       f'height="{height - 2}" fill="rgb({r},{g},{blue})"/>'
                       f'<text x="{left + width * (i + 0.5) - 1}" y="{y + height / 2 + 4}" '
                       f'text-anchor="middle" fill="{"white" if dark else "black"}">'
                       f'{100 * worst:.{0 if worst >= 0.0995 else 1}f}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


# ---- tables ----

def span(values, show):
    values = list(values)
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low.removesuffix(' ×')} – {high}"


def worst(run):
    """Slowest and fastest input of each cell, and who counted."""
    rows = []
    for (dtype, bins), lines in sorted(run.cells().items(),
                                       key=lambda c: (DTYPES.index(c[0][0]), c[0][1])):
        slow = min(lines, key=lambda line: line["fraction_of_read"])
        fast = max(lines, key=lambda line: line["fraction_of_read"])
        rows.append([dtype, words(bins), ", ".join(sorted({line["call"] for line in lines})),
                     f"**{100 * slow['fraction_of_read']:.1f} %** ({slow['data']})",
                     f"{100 * fast['fraction_of_read']:.1f} % ({fast['data']})",
                     f"{slow['gbps']:,.0f}".replace(",", " ")])
    return table(["samples", "bins", "method", "slowest input", "fastest input", "slowest, GB/s"],
                 rows)


def peers(run, few=False):
    """How many times as fast as each peer, slowest to fastest of the inputs that both counted."""
    points = run.points("peers")
    there = [who for who in PEERS if any(who in point for point in points.values())]
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    for (dtype, bins, data, n), point in points.items():
        for who, line in point.items():
            if who in there and ("Tally", "") in point:
                cells[dtype, bins][who].append(point["Tally", ""]["gbps"] / line["gbps"])
        # Python's peers count half as many samples, beside the same call of ours.
        if ("Tally", "") not in point:
            ours = points.get((dtype, bins, data, 2 * n), {}).get(("Tally", ""))
            for who, line in point.items():
                if ours and who in there:
                    cells[dtype, bins][who].append(ours["gbps"] / line["gbps"])
    rows = []
    for (dtype, bins), found in sorted(cells.items(),
                                       key=lambda c: (DTYPES.index(c[0][0]), c[0][1])):
        if few and bins not in (256, 2048, 65536, 1 << 20):
            continue
        rows.append([f"{dtype}, {words(bins)}"] +
                    [span(found[who], times) if found[who] else "–" for who in there])
    return table(["samples, bins"] + [f"{by} `{call}`" for by, call in there], rows)


def sizes(run):
    """Microseconds a call, one after another."""
    points = run.points("sizes")
    kinds = sorted({(dtype, bins) for dtype, bins, _, _ in points},
                   key=lambda k: (DTYPES.index(k[0]), k[1]))
    totals = sorted({line["bytes"] for point in points.values() for line in point.values()})
    rows = []
    for total in totals:
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
        head += [f"{dtype}, {words(bins)}: Tally", "CUB"] + (["NPP"] if dtype == "u8" else [])
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
    for line in run.parts["edges"] or other_lines("*-edges-cub.jsonl"):
        cells[line["axis"], line["dtype"], line["bins"]][line["by"]][line["data"]] = line
    rows = []
    for (axis, dtype, bins), by in sorted(cells.items(), key=lambda c: (c[0][0] != "log", c[0][1:])):
        ours, theirs = by["Tally"], by.get("CUB", {})
        beside = [ours[data]["gbps"] / line["gbps"] for data, line in theirs.items() if data in ours]
        rows.append([{"log": "logarithmic"}.get(axis, axis), f"{dtype}, {words(bins)}",
                     ", ".join(sorted({line["call"] for line in ours.values()})),
                     span((line["gbps"] for line in ours.values()), lambda x: words(round(x))),
                     span((line["fraction_of_read"] for line in ours.values()),
                          lambda x: f"{100 * x:.0f} %"),
                     span(beside, times) if beside else "–"])
    return table(["edges", "samples, bins", "method", "GB/s", "of reading", "CUB `HistogramRange`"],
                 rows)


def lines_of(name):
    """The lines of a file of bench/results, or none."""
    path = os.path.join(ROOT, "bench/results", name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def cold(run):
    """Process start to first counts."""
    lines = lines_of("h200-cold-start.jsonl")
    if not lines:
        return "Not measured."
    rows = [[line["case"], f"{size_words(line['bytes'])} of {line['dtype']}, {words(line['bins'])} bins",
             f"{line['median_s']:.3f} s", f"{line['min_s']:.3f} – {line['max_s']:.3f} s"]
            for line in lines]
    return table(["kernels from", "", "median", f"of {lines[0]['repeats']} runs"], rows)


def runtimes(run):
    """CUDA beside OpenCL, the slowest input of each."""
    slowest, bytes_of = {}, {"u8": 1, "u16": 2, "f64": 8}
    for line in lines_of("h200-runtimes.jsonl"):
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
            rows[-1] += [words(round(cuda)), words(round(opencl)), f"{100 * opencl / cuda:.1f} %"] if known else ["–"] * 3
    head = [f"{words(bins)} bins: {what}" if what == "CUDA" else what
            for bins in (256, 2048, 8192) for what in ("CUDA", "OpenCL", "")]
    return table(["GB/s"] + head, rows)


def host(run):
    """Samples on the host: counted there, by the device, and where `auto` decides."""
    rows = []
    for line in lines_of("h200-host.jsonl"):
        if line.get("verified"):
            uneven = "" if line["axis"] == "even" else "uneven "
            speeds = [f"{line['bytes'] / line[way] * 1e-9:.1f}" if way in line else "–"
                      for way in ("cpu_s", "cuda_s", "pinned_s", "auto_s")]
            rows.append([f"{line['dtype']}, {words(line['bins'])} {uneven}bins", str(line["threads"] or "all")]
                        + speeds + [{"cpu": "the processor", "cuda": "CUDA"}[line["auto"]]])
    return table(["samples", "threads", "processor, GB/s", "by way of CUDA", "pinned already", "`auto`", "which takes"], rows)


def source(run):
    h = run.header
    versions = sorted({(line["by"], line["version"]) for lines in run.parts.values()
                       for line in lines if line["by"] != "Tally"})
    return (f"From `{run.name}`: {h['name']}, {h['driver']}, reading {h['read_gbps']:,.0f} GB/s, "
            f"commit {h['commit'][:7]}, {h['date']}; "
            + ", ".join(f"{by} {version}" for by, version in versions) + ".")


def readme(run):
    return "\n\n".join([
        "![Percent of the speed of reading memory, by type and number of bins](docs/gpu-heat-map.svg)",
        f"{size_words(run.header['bytes'])} of samples in device memory, every count compared; below, how "
        "many times as fast as others on 256 MiB (Python's: 128), from the slowest input to the fastest.",
        peers(run, few=True), source(run)])


TABLES = {"gpu": readme, "gpu-worst": worst, "gpu-peers": peers, "gpu-sizes": sizes,
          "gpu-differing": differing, "gpu-cold": cold, "gpu-edges": edges, "gpu-source": source,
          "gpu-runtimes": runtimes, "gpu-host": host}


def put(name, new, check):
    """Writes `new` where it differs; 1 if --check has something to say."""
    path = os.path.join(ROOT, name)
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    if new == old:
        return 0
    if check:
        print(f"{name} is out of date: run bench/gpu_table.py", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)
    print(name)
    return 0


def main(arguments):
    check = "--check" in arguments
    show = arguments[arguments.index("--show") + 1] if "--show" in arguments else None
    paths = [a for a in arguments if a.endswith(".jsonl")]
    run = Run(paths[0] if paths else newest())
    if show:
        print(heat_map(run) if show == "picture" else TABLES[show](run))
        return 0
    stale = put(PICTURE, heat_map(run), check)
    for name in FILES:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        stale |= put(name, re.sub(
            r"(<!-- table:([a-z-]+) -->\n).*?(<!-- end -->)",
            lambda m: m[1] + (TABLES[m[2]](run) + "\n" if m[2] in TABLES
                              else m[0][len(m[1]):-len(m[3])]) + m[3],
            text, flags=re.DOTALL), check)
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
