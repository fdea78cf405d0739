"""The Python package's tables: of the newest python-cpu-*.jsonl and python-cuda-*.jsonl, which bench/python.py makes."""

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


def table(where, peers):
    path, first, cases = read(where)
    rows = []
    for (case, n), found in sorted(cases.items(), key=lambda item: item[0][1]):
        if len(found) < 2 or n == 10000:
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
    return lines.table(["", "samples", "Tally"] + peers, rows) + "\n\n" + said_of


def makers():
    peers = ["numpy", "boost-histogram", "fast-histogram"]
    return {
        "table:python-cpu": lambda: table("cpu", peers),
        "table:python-cuda": lambda: table("cuda", ["tally on torch", "cupy", "torch"]),
    }
