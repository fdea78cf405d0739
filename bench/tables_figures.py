"""The tables of docs/FIGURES.md: of h200-figures-cuda.jsonl, which `tally-bench --figure all -o DIR` wrote.

Published values are those of bench/figures.py.
"""

import re

import lines
from figures import FIGURES, published

RUNTIMES = {"cuda": "CUDA"}
# Table 1's rows that no picture has.
TABLE1 = {"time, µs": ("6 545*", "9 745*", "22 631*"),
          "shared memory, bytes": ("16 384", "6 144", "16 384"),
          "instructions a byte": ("11.71", "23.42", "6.11"),
          "instructions a cycle": ("1.18", "1.58", "0.34"),
          "bank conflicts": ("0", "2 469 684", "7 680"),
          "divergent branches": ("0", "940 361", "0")}


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


def told(name, field):
    """A panel's published values, as the table calls them."""
    return {words(str(at)): f"{value:.4g}" for at, value in published(name, field).items()}


def key_of(line):
    return words(line["label"]) if "label" in line else line["series"]


def values(found, field, key=key_of, keep=lambda line: True, times=1):
    return {key(line): line[field] * times for line in found if field in line and keep(line)}


def compared(figure, field, key=key_of, keep=lambda line: True, times=1, published=None):
    """A row a key: CUDA, and what was published."""
    found = {r: values(figure[r], field, key, keep, times) for r in RUNTIMES}
    keys = dict.fromkeys(k for r in RUNTIMES for k in found[r])
    head = list(RUNTIMES.values()) + (["published"] if published else [])
    return rows(head, [[k] + [shown(found[r].get(k)) for r in RUNTIMES] +
                       ([published.get(k, "–")] if published else []) for k in keys])


def reduce_table(figure):
    return compared(figure, "median_s", keep=lambda line: line["n"] == 100000000, times=1e3)


def optimisations(figure):
    body = {}
    for runtime in RUNTIMES:
        for line in figure[runtime]:
            body.setdefault(words(line["label"]), []).append(
                f"{shown(line['gbps'])} ({shown(line['speedup'])} ×)" if "gbps" in line else "–")
    return rows(["a book", "random letters"], [[k] + v for k, v in body.items()])


def whitepaper(figure):
    body = []
    for series in dict.fromkeys(line["series"] for line in figure["cuda"]):
        row = [series]
        for runtime in RUNTIMES:
            own = [line for line in figure[runtime] if line["series"] == series]
            last = max(own, key=lambda line: line["x"])
            row += [shown(last["gbps"])] + [shown(100 * line["merge_share"], 2) for line in own
                                           if line["n"] in (1 << 20, 1 << 26, 1 << 30)]
        body.append(row)
    shares = ["merging at 1 MiB, %", "64 MiB", "1 GiB"]
    return rows(["GB/s"] + shares, body)


def trish_k(figure):
    key = lambda line: str(line["x"])
    return compared(figure, "gbps", key, lambda line: line["x"] in (1, 4, 9, 21, 31, 32, 63),
                  published=told("trish-k", "gbps"))


def throughput(figure):
    return compared(figure, "gbps", keep=lambda line: line["n"] == 67108864,
                  published=told("trish-throughput", "gbps"))


def images(figure):
    names = ("camera", "coins", "cat", "cat-rgba")
    body = []
    for series in dict.fromkeys(line["series"] for line in figure["cuda"]):
        row = [series]
        for runtime in RUNTIMES:
            found = values(figure[runtime], "gbps", lambda line: line["panel"],
                           lambda line: line["x"] == 4096 and line["series"] == series)
            row += [shown(found.get(name)) for name in names]
        body.append(row)
    return rows(list(names), body)


def ablation(figure):
    return compared(figure, "gbps", published=told("trish-ablation", "gbps"))


def table1(figure):
    fields = (("time, µs", "median_s", 1e6), ("GB/s", "gbps", 1), ("time, in TRISH's", "ratio", 1),
              ("registers", "registers", 1), ("shared memory, bytes", "local_bytes", 1),
              ("occupancy, %", "occupancy", 100), ("instructions a byte", "instructions_per_byte", 1),
              ("instructions a cycle", "instructions_per_cycle", 1),
              ("bank conflicts", "bank_conflicts", 1),
              ("divergent branches", "divergent_branches", 1))
    methods = ("TRISH", "POD", "NUG")
    body = []
    for name, field, times in fields:
        row = [name]
        for runtime in RUNTIMES:
            found = values(figure[runtime], field, times=times)
            row += [shown(found.get(m)) for m in methods]
        texts = (TABLE1[name] if name in TABLE1 else
                 [told("trish-table1", field)[m] for m in methods])
        body.append(row + [t.replace(" ", "\u202f") for t in texts])
    return rows([f"{m}, {w}" for w in list(RUNTIMES.values()) + ["published"] for m in methods], body)


def saturating(figure):
    body = {}
    for runtime in RUNTIMES:
        for line in figure[runtime]:
            key = (line["series"], RUNTIMES[runtime])
            body.setdefault(key, {})[line["bins"]] = shown(line.get("samples_per_s", 0) * 1e-9)
    bins = (128, 256, 512, 1024, 2048)
    return rows([str(b) for b in bins],
                [[f"{s}, {r}"] + [v.get(b, "–") for b in bins] for (s, r), v in body.items()])


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
