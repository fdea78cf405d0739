# SPDX-License-Identifier: Apache-2.0
"""The processor's tables: of the newest bench/results/cpu-DATE.jsonl, and -avx2, -baseline, -threads that go with it.

Only ratios are quoted: of the medians of one run, in which all took turns on the same data.
"""

import collections
import os
import re
import statistics

import lines
from lines import table

RUN = r"cpu-\d{4}-\d\d-\d\d[a-z]?\.jsonl"
PEERS = ("opencv", "boost", "gsl", "fast-histogram", "numpy", "loop")
TITLES = {"opencv": "OpenCV", "boost": "Boost.Histogram", "gsl": "GSL", "numpy": "NumPy",
          "fast-histogram": "fast-histogram", "loop": "plain loops"}
BYTES = {"zeros": "zeros", "uniform": "uniform", "photograph": "photograph", "text": "text",
         "ramp": "ramp", "ninety": "90 % one value", "two": "two in turn", "sorted": "sorted",
         "walk": "walk"}
SIZES = ("4KiB", "64KiB", "1MiB", "64MiB", "256MiB")
REALS = ("uniform", "normal", "lognormal", "equal")
BINS = (10, 256, 2048, 65536, 1048576)


class Case:
    """What was measured on one problem."""

    def __init__(self):
        self.one = self.all = None  # Tally's lines on one and on all threads
        self.limit = None  # as many one-thread Tallies at once, a share each
        self.peers = collections.defaultdict(list)

    def add(self, line):
        if line["peer"]:
            self.peers[line["by"]].append(line)
        elif line["by"] == "scaling":
            self.limit = line
        elif line["threads"] == 1:
            self.one = line
        else:
            self.all = line

    def best(self, by=None):
        """The fastest line of one peer, or of all."""
        found = [line for name in ([by] if by else self.peers) for line in self.peers.get(name, ())]
        return max(found, key=lambda line: line["gbps"], default=None)

    def ratio(self, by=None):
        best = self.best(by)
        return self.one["gbps"] / best["gbps"] if self.one and best else None

    def gain(self, other, key):
        """How much faster than one thread: by the median or the fastest round of each."""
        if not other or self.one["clock"] != other["clock"]:
            return None
        return self.one[key] / other[key]

    def scaling(self):
        return self.gain(self.all, "median_s")

    def best_scaling(self):
        return self.gain(self.all, "min_s")

    def to_limit(self):
        return self.limit["min_s"] / self.all["min_s"] if self.all and self.limit else None


class Run:
    def __init__(self, path):
        self.name = os.path.relpath(path, lines.ROOT)
        self.header, self.cases = None, {}
        for line in lines.read(path):
            if "header" in line:
                self.header = line
            else:
                self.cases.setdefault(line["case"], Case()).add(line)

    def named(self, pattern):
        return {name: case for name, case in self.cases.items() if re.fullmatch(pattern, name)}


def newest():
    path = lines.newest(RUN)
    runs = {"": Run(path)}
    for level in ("avx2", "baseline", "threads"):
        other = path.replace(".jsonl", f"-{level}.jsonl")
        if os.path.exists(other):
            runs[level] = Run(other)
    return runs


# ---- cells ----


def times(ratio):
    if ratio is None:
        return "–"
    return f"{ratio:.0f}×" if ratio >= 20 else f"{ratio:.1f}×" if ratio >= 9.95 else f"{ratio:.2f}×"


def spread(ratios):
    ratios = [r for r in ratios if r is not None]
    if not ratios:
        return "–"
    low, high = times(min(ratios)), times(max(ratios))
    return low if low == high else f"{low[:-1]}–{high}"


def percent(line):
    return f"{100 * line['fraction_of_read']:.0f} %"


def called(line):
    """How a peer is called where it is named as the fastest."""
    return f"{TITLES[line['by']]}, {line['method']}" if line["by"] == "loop" else TITLES[line["by"]]


def source(run):
    header = run.header
    family = header["cpu"].get("CPU family"), header["cpu"].get("Model")
    versions = ", ".join(f"{TITLES[k]} {v}" for k, v in sorted(header["versions"].items())
                         if k in TITLES)
    clock = {line.one["clock"] for line in run.cases.values() if line.one}
    busy = max(header["load_before_after"])
    how = "processor time, " if clock == {"cpu"} else ""
    if busy > header["processors"]:
        how += f"with other work on the machine (load {busy:.0f}), "
    return (f"From `{run.name}` ({how}{len(run.cases)} cases): {header['cpu'].get('Model name', 'a processor')} (family {family[0]}, "
            f"model {family[1]}), {header['processors']} processors, {header['compiler']}, commit "
            f"{header['commit']}, {header['date'][:10]}; {versions}.")


# ---- tables ----


def peer_row(name, cases):
    cases = [case for case in cases if case and case.one]
    return [name, "**" + spread(case.ratio() for case in cases) + "**"] + [
        spread(case.ratio(by) for case in cases) for by in PEERS]


HEAD = ["fastest of all"] + [TITLES[by] for by in PEERS]


def overview(runs):
    run = runs[""]
    rows = [peer_row(BYTES[data], [run.cases.get(f"u8-{data}-256MiB")]) for data in BYTES]
    for dtype in ("f32", "f64"):
        rows += [peer_row(f"{dtype}, {lines.bins(bins)} bins",
                          [run.cases.get(f"{dtype}-{bins}-{data}") for data in REALS])
                 for bins in BINS if bins not in (10, 65536)]
    for kind, words in (("edges", "256 uneven bins"), ("2d", "100 × 100 bins"),
                        ("weights", "f64, 256 bins, weights")):
        rows.append(peer_row(words, run.named(f"{kind}-.*").values()))
    return ("How many times as fast as each, one thread, same buffers, same run. First 256 MiB of bytes in "
            "256 bins, input by input; then 128 MiB of numbers, from the slowest input to the fastest. "
            "NumPy: the faster of `bincount` and `histogram`.\n\n"
            + table([""] + HEAD, rows) + "\n\n" + sources(runs))


def sizes(runs):
    run = runs[""]
    rows = [[BYTES[data]] + [times(run.cases[f"u8-{data}-{size}"].ratio()) for size in SIZES]
            for data in BYTES if f"u8-{data}-256MiB" in run.cases]
    return table(["to the fastest peer"] + [size.replace("iB", " iB").replace("K i", " Ki")
                                             .replace("M i", " Mi") for size in SIZES], rows)


def byte_peers(runs):
    run = runs[""]
    rows = []
    for data in BYTES:
        case = run.cases.get(f"u8-{data}-256MiB")
        if case:
            rows.append(peer_row(BYTES[data], [case]) + [called(case.best()), percent(case.one)])
    return table(["256 MiB"] + HEAD + ["the fastest is", "of read"], rows)


def levels(runs):
    rows = []
    for data in BYTES:
        row = [BYTES[data]]
        for level in ("", "avx2", "baseline"):
            for size in ("1MiB", "64MiB"):
                case = runs[level].cases.get(f"u8-{data}-{size}") if level in runs else None
                row.append(times(case.ratio() if case else None))
        rows.append(row)
    return table(["to the fastest peer", "AVX-512, 1 MiB", "64 MiB", "AVX2, 1 MiB", "64 MiB",
                  "baseline, 1 MiB", "64 MiB"], rows)


def floats(runs):
    run = runs[""]
    rows = []
    for dtype in ("f32", "f64"):
        for bins in BINS:
            for data in REALS:
                case = run.cases.get(f"{dtype}-{bins}-{data}")
                if case:
                    rows.append(peer_row(f"{dtype}, {lines.bins(bins)}, {data}", [case])
                                + [percent(case.one)])
    return table(["128 MiB"] + HEAD + ["of read"], rows)


def others(runs):
    run = runs[""]
    rows = []
    words = {"edges": "256 uneven bins", "2d": "100 × 100 bins", "weights": "256 bins, f64 weights"}
    for name, case in run.named("(edges|2d|weights)-.*").items():
        kind, dtype, data = name.split("-")
        rows.append(peer_row(f"{words[kind]}, {dtype}, {data}", [case]) + [percent(case.one)])
    return table([""] + HEAD + ["of read"], rows)


def threads(runs):
    """How much all threads gain: wall-clock time of Tally on one to that on all."""
    run = runs.get("threads", runs[""])
    rows = [[f"`{name}`", str(case.all["threads"]), times(case.scaling()),
             times(case.best_scaling()), times(case.gain(case.limit, "min_s")), percent(case.all)]
            for name, case in run.cases.items() if case.scaling()]
    if not rows:
        return "Not measured: the machine had other work on both processors."
    return table(["to one thread", "threads", "medians", "fastest rounds", "scaling limit, fastest",
                  "of read"], rows)


def differing(runs):
    """Peers whose counts were not the reference's."""
    run = runs[""]
    found = collections.defaultdict(list)
    for name, case in run.cases.items():
        for of_peer in case.peers.values():
            for line in of_peer:
                if not line["verified"]:
                    found[f"{TITLES[line['by']]} `{line['method']}`"].append(name)
    rows = [[who, str(len(names)), ", ".join(f"`{n}`" for n in names[:4])
             + (", …" if len(names) > 4 else "")] for who, names in sorted(found.items())]
    return table(["whose counts differ", "cases", "which"], rows)


# ---- targets ----


def least(run, pattern, by=None, value=None):
    """The lowest ratio among the cases that match, and where it was."""
    ratios = {name: value(case) if value else case.ratio(by)
              for name, case in run.named(pattern).items()}
    ratios = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    return min(((ratio, name) for name, ratio in ratios.items()), default=None)


def targets(runs):
    big = "(1MiB|64MiB|256MiB)"
    main, threads = runs[""], runs.get("threads", runs[""])
    fastest = "the fastest peer"
    wanted = [
        ("bytes from 1 MiB: uniform, photograph, text", fastest, 1.9, main,
         f"u8-(uniform|photograph|text)-{big}", {}),
        ("bytes from 1 MiB: 90 % one value", fastest, 2.2, main, f"u8-ninety-{big}", {}),
        ("bytes from 1 MiB: any input", fastest, 1.8, main, f"u8-.*-{big}", {}),
        ("bytes, 64 KiB", fastest, 1.0, main, "u8-.*-64KiB", {}),
        ("bytes, 4 KiB", fastest, 1.0, main, "u8-.*-4KiB", {}),
    ]
    for level, words in (("avx2", "AVX2"), ("baseline", "baseline")):
        if level in runs:
            wanted += [
                (f"bytes, {words}: any input", fastest, 1.0, runs[level], f"u8-.*-{big}", {}),
                (f"bytes, {words}: 90 % one value", fastest, 1.3, runs[level],
                 f"u8-ninety-{big}", {})]
    wanted += [
        ("f32, to 2 048 bins, any input", fastest, 2.0, main, "f32-(10|256|2048)-.*", {}),
        ("f64, to 2 048 bins, any input", fastest, 2.0, main, "f64-(10|256|2048)-.*", {}),
        ("f32, 65 536 and 1 Mi bins", fastest, 1.4, main, "f32-(65536|1048576)-.*", {}),
        ("f64, 65 536 and 1 Mi bins", fastest, 1.4, main, "f64-(65536|1048576)-.*", {}),
        ("uneven edges", "NumPy", 10.0, main, "edges-.*", {"by": "numpy"}),
        ("two dimensions", "NumPy", 20.0, main, "2d-.*", {"by": "numpy"}),
        ("all threads (2), from 64 MiB", "one thread", 1.9, threads,
         "(u8-.*-(64|256)MiB|f.*|2d.*|edges.*)", {"value": Case.scaling}),
        ("the same, fastest round of each", "one thread", 1.9, threads,
         "(u8-.*-(64|256)MiB|f.*|2d.*|edges.*)", {"value": Case.best_scaling}),
        ("the same, fastest round of each", "the scaling limit", 0.95, threads,
         "(u8-.*-(64|256)MiB|f.*|2d.*|edges.*)", {"value": Case.to_limit}),
        ("all threads, smaller", "one thread", 1.0, threads, "u8-.*-(4KiB|64KiB|1MiB)",
         {"value": Case.scaling}),
    ]
    rows = []
    for words, against, target, run, pattern, how in wanted:
        found = least(run, pattern, **how)
        if found is None:
            continue
        values = [how["value"](c) if "value" in how else c.ratio(how.get("by"))
                  for c in run.named(pattern).values()]
        values = [v for v in values if v is not None]
        met = sum(v >= target for v in values)
        verdict = "met" if met == len(values) else f"{met} of {len(values)}"
        rows.append([words, against, f"≥ {target:g} ×", f"{times(found[0])} (`{found[1]}`)",
                     times(statistics.median(values)), verdict])
    return table(["what", "against", "target", "slowest", "median", "met"], rows)


def record(runs):
    """How every whole run did, a column each."""
    groups = [("bytes, 4 KiB", "u8-.*-4KiB", None), ("bytes, 64 KiB", "u8-.*-64KiB", None),
              ("bytes from 1 MiB", "u8-.*-(1|64|256)MiB", None),
              ("f32, to 2 048 bins", "f32-(10|256|2048)-.*", None),
              ("f64, to 2 048 bins", "f64-(10|256|2048)-.*", None),
              ("f32, more bins", "f32-(65536|1048576)-.*", None),
              ("f64, more bins", "f64-(65536|1048576)-.*", None),
              ("uneven edges", "edges-.*", None), ("two dimensions", "2d-.*", None),
              ("weights", "weights-.*", None)]
    all_runs = [Run(path) for path in lines.recorded(RUN)]
    rows = [[words] + [spread(case.ratio(by) for case in run.named(pattern).values())
                       for run in all_runs] for words, pattern, by in groups]
    return table(["to the fastest peer"] + [f"{os.path.basename(run.name)[4:-6]}, "
                                            f"{run.header['commit'][:7]}" for run in all_runs], rows)


def sources(runs):
    """The whole run, and the others' files: the same machine, compiler and peers."""
    others = [f"`{run.name}` ({len(run.cases)} cases, commit {run.header['commit'][:7]})"
              for kind, run in runs.items() if kind]
    return source(runs[""]) + ("\n\nOn the same machine: " + ", ".join(others) + "." if others else "")


TABLES = {"cpu": overview, "cpu-record": record, "cpu-bytes": byte_peers, "cpu-sizes": sizes, "cpu-levels": levels,
          "cpu-floats": floats, "cpu-others": others, "cpu-differing": differing,
          "cpu-targets": targets, "cpu-threads": threads}


def makers():
    runs = newest()
    return {f"table:{name}": lambda make=make: make(runs) for name, make in TABLES.items()}
