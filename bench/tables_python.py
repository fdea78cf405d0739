# SPDX-License-Identifier: Apache-2.0
"""The Python package's tables: of the newest python-cpu-*.jsonl and python-cuda-*.jsonl, which bench/python.py makes.

docs/PYTHON.md has two sizes of each; `bench/tables.py --show python-cpu-all` (python-cuda-all) shows every size and
everyone.
"""

import os
import re

import lines

def read(where):
    """The newest file's header and its medians: {(case, n): {by: line}}."""
    path = lines.newest(rf"python-{where}-.*\.jsonl")
    first, *rest = lines.read(path)
    cases = {}
    for line in rest:
        cases.setdefault((line["case"], line["n"]), {})[line["by"]] = line
    return os.path.relpath(path, lines.ROOT), first, cases


def amount(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


SHOWN = (100, 10_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)


def faster(cases, peers):
    """Every case in which somebody is faster, and how much of our time he takes."""
    found = []
    for (case, n), lines_of in sorted(cases.items(), key=lambda item: (item[0][1], item[0][0])):
        ours = lines_of["tally"]["median_s"]
        best = min(((line["median_s"], peer) for peer, line in lines_of.items()
                    if peer in peers and not peer.startswith("tally")), default=(ours, ""))
        if best[0] < ours:
            found.append(f"{case}, {n:,} samples: {best[1]} in {best[0] / ours:.2f} of it")
    return slower(found)


def slower(found):
    return "Faster than Tally: " + ("; ".join(found) if found else "nobody in any of these cases") + "."


def times(line, ours):
    return f"{line['median_s'] / ours:.2g}×" + ("" if line["equal"] else " ≠")


def against(found, peers):
    """The fastest of the others, and how many times as long he takes."""
    others = [(found[peer]["median_s"], peer) for peer in peers if peer in found]
    return " ".join((peer := min(others)[1], times(found[peer], found["tally"]["median_s"]))) if others else ""


# Much like others, which the page shows; the chart has all.
NOT_SHOWN = re.compile("256 bins|float64, no range|(histogram|digitize) int64|_bin_edges|^(median|quantile) float32|percentile|third outside"
                       "|2d 64×64, no range|10×10×10, w|2 axes, w")


def brief(peers):
    path, first, cases = read("cpu")
    sizes, rows = (100, 1_000_000), []
    for case in dict.fromkeys(case for case, n in cases if n in sizes and not NOT_SHOWN.search(case)):
        row = [case]
        for n in sizes:
            found = cases[case, n]
            row += [amount(found["tally"]["median_s"]), against(found, peers)]
        rows.append(row)
    head = [""] + [word for n in sizes for word in (f"{n:,} samples", "next")]
    return lines.table(head, rows) + "\n\n" + told("cpu", peers, path, first, cases)


OURS = {"cupy": "tally", "torch": "tally on torch"}  # each on the arrays that it takes itself


def device():
    """On a device: Tally on CuPy's arrays and on torch's, and how many times as long each takes itself."""
    path, first, cases = read("cuda")
    sizes, rows, lost = (1_000, 1_000_000_000), [], []
    for case in dict.fromkeys(case for case, n in cases):
        row = [case]
        for n in sizes:
            found = cases.get((case, n), {})
            row.append(" / ".join(amount(found[name]["median_s"]) for name in OURS.values() if name in found))
            row.append(", ".join(f"{peer} {times(found[peer], found[name]['median_s'])}"
                                 for peer, name in OURS.items() if {peer, name} <= found.keys()))
        rows.append(row)
    for (case, n), found in cases.items():
        for peer, name in OURS.items():
            if {peer, name} <= found.keys() and found[peer]["median_s"] < found[name]["median_s"]:
                lost.append(f"{case}, {n:,} samples: {peer} in {found[peer]['median_s'] / found[name]['median_s']:.2f} of it")
    head = [""] + [word for n in sizes for word in (f"{n:,} samples", "others")]
    return "\n\n".join([lines.table(head, rows), slower(lost), told("cuda", list(OURS), path, first, cases)])


def table(where, peers):
    path, first, cases = read(where)
    rows = []
    for (case, n), found in sorted(cases.items(), key=lambda item: item[0][1]):
        if len(found) < 2 or n not in SHOWN:
            continue
        ours = found["tally"]["median_s"]
        cells = []
        for peer in peers:
            cells.append(times(found[peer], ours) if peer in found else "")
        rows.append([case, f"{n:,}", amount(ours)] + cells)
    return (lines.table(["", "samples", "Tally"] + peers, rows) + "\n\n"
            + told(where, peers, path, first, cases))


def told(where, peers, path, first, cases):
    """What stands below a table; a device's has every case in it, so that one sees who is faster."""
    said = ", ".join(f"{k} {v}" for k, v in first["versions"].items() if k != "tally")
    name = [d for d in first["devices"] if d["id"].startswith(where)][0]["name"]
    said_of = (f"From `{path}` ({first['clock']}; {name}; load {first['load']:.1f}; {said}): Tally's time "
             "and how many times as long the others take; ≠ marks counts that differ from "
             + ("NumPy's." if where == "cpu" else
                "Tally's, which were NumPy's wherever there were at most a million samples."))
    return said_of if where == "cuda" else faster(cases, peers) + "\n\n" + said_of


def makers():
    peers = ["numpy", "boost-histogram", "fast-histogram", "xhistogram"]
    return {
        "table:python-cpu": lambda: brief(peers),
        "table:python-cpu-all": lambda: table("cpu", peers),
        "table:python-cuda": device,
        "table:python-cuda-all": lambda: table("cuda", ["tally on torch", "cupy", "torch"]),
    }
