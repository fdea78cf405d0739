# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/FIGURES.md: of h200-figures-cuda.jsonl, which bench/figures.sh wrote.

Published values are those of bench/figures.py.
"""

import re

import lines
from figures import FIGURES, published

RUNTIMES = {"cuda": "CUDA"}


def read():
    """{figure: {runtime: [line]}}"""
    found = {name: {} for name in FIGURES}
    for runtime in RUNTIMES:
        for line in lines.read(f"h200-figures-{runtime}.jsonl"):
            found[line["figure"]].setdefault(runtime, []).append(line)
    return found


def shown(value, digits=3):
    if value is None:
        return "–"
    if value >= 1000:
        return lines.thousands(round(value), "\u202f")
    if value >= 10 ** (digits - 1) or value == int(value):
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def rows(head, body):
    return lines.table([""] + head, body)


def words(text):
    return re.sub(r"\s+", " ", re.sub(r",?\n", ", ", text))


def cells(found, field, row, column, told=None, times=1, keep=lambda line: True):
    """A row a key, a column a key; what was published, told[row, column], in brackets."""
    body = {}
    for line in found:
        if field in line and keep(line):
            body.setdefault(row(line), {})[column(line)] = shown(line[field] * times)
    columns = list(dict.fromkeys(c for of in body.values() for c in of))
    for (r, c), value in (told or {}).items():
        of = body.setdefault(r, {})
        of[c] = f"{of.get(c, '–')} ({value * times:.4g})"
    return rows([str(c) for c in columns],
                [[words(str(r))] + [of.get(c, "–") for c in columns] for r, of in body.items()])


def panels(name, field, at):
    """{(series, panel): published value} where x is `at`."""
    return {(one.series, one.name): one.value for one in FIGURES[name].published if one.field == field and one.at == at}


def reduce_table(figure):
    def parts(line):
        """What is run, and with how many bins."""
        return re.fullmatch(r"(.*), (\d+ bins.*)", line["series"])

    return cells(figure["cuda"], "median_s", lambda line: parts(line)[1], lambda line: parts(line)[2], times=1e3,
                 keep=lambda line: line["n"] == 100000000)


def optimisations(figure):
    return cells(figure["cuda"], "gbps", lambda line: line["label"], lambda line: line["series"])


def whitepaper(figure):
    body = []
    for series in dict.fromkeys(line["series"] for line in figure["cuda"]):
        own = [line for line in figure["cuda"] if line["series"] == series]
        body.append([series, shown(max(own, key=lambda line: line["x"])["gbps"])] +
                    [shown(100 * line["merge_of_counting"], 2) for line in own
                     if line["n"] in (1 << 20, 1 << 26, 1 << 30)])
    return rows(["GB/s", "merging in counting at 1 MiB, %", "64 MiB", "1 GiB"], body)


def trish_k(figure):
    some = 1, 2, 4, 5, 9, 21, 22, 31, 32, 63
    told = {(one.at, one.series): one.value for one in FIGURES["trish-k"].published
            if one.field == "gbps" and one.at in some}
    return cells(figure["cuda"], "gbps", lambda line: line["x"], lambda line: line["series"], told,
                 keep=lambda line: line["x"] in some)


def throughput(figure):
    return cells(figure["cuda"], "gbps", lambda line: line["series"], lambda line: line["panel"],
                 panels("trish-throughput", "gbps", 1 << 28), keep=lambda line: line["n"] == 1 << 28)


def images(figure):
    return cells(figure["cuda"], "gbps", lambda line: line["series"], lambda line: line["panel"],
                 panels("trish-images", "gbps", 4096), keep=lambda line: line["x"] == 4096)


def ablation(figure):
    told, share = published("trish-ablation", "gbps"), published("trish-ablation", "relative")
    body = []
    for line in figure["cuda"]:
        at = line["series"], line["label"]
        body.append([words(line["label"]), shown(line["gbps"]), shown(line["relative"]),
                     f"{told[at]:.4g}" if at in told else "–", f"{share[at]:.2f}" if at in told else "–",
                     shown(line["ilp_factor"]) if "ilp_factor" in line else "–"])
    return rows(["GB/s", "in the first's", "published", "in the first's", "factor of k = 31"], body)


def table1(figure):
    fields = (("time, µs", "counted_s", 1e6), ("GB/s", "gbps", 1), ("time, of TRISH's", "ratio", 1),
              ("registers", "registers", 1), ("shared memory, bytes", "local_bytes", 1),
              ("occupancy, %", "occupancy", 100), ("warps a cycle", "warps_per_cycle", 1),
              ("instructions a byte", "instructions_per_byte", 1),
              ("instructions a cycle", "instructions_per_cycle", 1),
              ("instructions issued", "instructions_issued", 1), ("bank conflicts", "bank_conflicts", 1),
              ("wavefronts of shared memory", "wavefronts", 1), ("… at least", "wavefronts_ideal", 1),
              ("cycles", "cycles", 1), ("cycles, in TRISH's", "cycles_ratio", 1), ("branches", "branches", 1),
              ("divergent branches", "divergent_branches", 1), ("replays, %", "replays", 100))
    body = []
    for name, field, times in fields:
        told = published("trish-table1", field)
        row = [name]
        for line in figure["cuda"]:
            at = "measured", line["label"]
            row.append((shown(line[field] * times) if field in line else "–") +
                       (f" ({shown(told[at] * times)})" if at in told else ""))
        body.append(row)
    return rows([words(line["label"]) for line in figure["cuda"]], body)


def saturating(figure):
    told = {(one.series, str(one.at)): one.value for one in FIGURES["saturating"].published if one.field == "billion_s"}
    return cells(figure["cuda"], "billion_s", lambda line: line["series"], lambda line: str(int(line["bins"])), told,
                 keep=lambda line: line["panel"] == "uniform")


def today(figure):
    found = {}
    for runtime in RUNTIMES:
        for line in figure[runtime]:
            if "gbps" in line:
                found.setdefault(line["label"], {}).setdefault(runtime, []).append(line["gbps"])
    order = sorted(found, key=lambda k: -min(found[k].get("cuda", found[k].get("opencl"))))

    def span(speeds):
        if not speeds:
            return "–"
        low, high = min(speeds), max(speeds)
        return shown(high) if high < 1.03 * low else f"{shown(low)} – {shown(high)}"

    return rows(list(RUNTIMES.values()), [[k] + [span(found[k].get(r)) for r in RUNTIMES]
                                          for k in order])


TABLES = {"reduce-vs-atomic": reduce_table, "optimisations": optimisations,
          "whitepaper-64-256": whitepaper, "trish-k": trish_k, "trish-throughput": throughput,
          "trish-images": images, "trish-ablation": ablation, "trish-table1": table1,
          "saturating": saturating, "today": today}


def makers():
    figures = read()
    return {f"figure:{name}": lambda make=make, name=name: make(figures[name]) for name, make in TABLES.items()}
