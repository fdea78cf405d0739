"""The Python package's tables: of the newest python-cpu-*.jsonl and python-cuda-*.jsonl, which bench/python.py makes.

docs/PYTHON.md has some sizes of the processor's; `bench/tables.py --show python-cpu-all` shows all of them.
"""

import os

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


SOME = (100, 1_000_000)
ALL = (100, 10_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)


def faster(cases, peers):
    """Every case in which somebody is faster, and how much of our time he takes."""
    found = []
    for (case, n), lines_of in sorted(cases.items(), key=lambda item: (item[0][1], item[0][0])):
        ours = lines_of["tally"]["median_s"]
        best = min(((line["median_s"], peer) for peer, line in lines_of.items()
                    if peer in peers and not peer.startswith("tally")), default=(ours, ""))
        if best[0] < ours:
            found.append(f"{case}, {n:,} samples: {best[1]} in {best[0] / ours:.2f} of it")
    return "Faster than Tally: " + ("; ".join(found) if found else "nobody in any of these cases") + "."


def table(where, peers, sizes):
    path, first, cases = read(where)
    rows = []
    for (case, n), found in sorted(cases.items(), key=lambda item: item[0][1]):
        if len(found) < 2 or n not in sizes:
            continue
        ours = found["tally"]["median_s"]
        cells = []
        for peer in peers:
            line = found.get(peer)
            wrong = "" if not line or line["equal"] else " ≠"
            cells.append(f"{line['median_s'] / ours:.2g}×{wrong}" if line else "")
        rows.append([case, f"{n:,}", amount(ours)] + cells)
    said = ", ".join(f"{k} {v}" for k, v in first["versions"].items() if k != "tally")
    device = [d for d in first["devices"] if d["id"].startswith(where)][0]["name"]
    said_of = (f"From `{path}` ({first['clock']}; {device}; load {first['load']:.1f}; {said}): Tally's time "
             "and how many times as long the others take; ≠ marks counts that differ from "
             + ("NumPy's." if where == "cpu" else
                "Tally's, which were NumPy's wherever there were at most a million samples."))
    return lines.table(["", "samples", "Tally"] + peers, rows) + "\n\n" + faster(cases, peers) + "\n\n" + said_of


def makers():
    peers = ["numpy", "boost-histogram", "fast-histogram", "xhistogram"]
    return {
        "table:python-cpu": lambda: table("cpu", peers, SOME),
        "table:python-cpu-all": lambda: table("cpu", peers, ALL),
        "table:python-cuda": lambda: table("cuda", ["tally on torch", "cupy", "torch"], ALL),
    }
