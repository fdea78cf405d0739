#!/usr/bin/env python3
"""Puts the kernels' recorded speeds into docs/METHODS.md.

    bench/methods_table.py [--check]

What stands between `<!-- table:NAME -->` or `<!-- line:METHOD -->` and `<!-- end -->` is made anew from
bench/results/h200-methods-{cuda,opencl}.jsonl (bench/gpu.sh writes them). --check changes nothing and
fails if something would change.
"""

import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "METHODS.md")
RUNTIMES = {"cuda": "CUDA", "opencl": "OpenCL"}
INPUTS = {"zeros": "zeros", "uniform": "uniform", "ramp": "ramp", "walk": "walk", "text": "text",
          "photograph": "photograph", "one-in-ten": "90 % one value", "equal": "equal",
          "skewed": "skewed"}


def read():
    """{(runtime, method, set, dtype, bins): {input: line}}"""
    cases = {}
    for runtime in RUNTIMES:
        path = os.path.join(ROOT, "bench", "results", "h200-methods-%s.jsonl" % runtime)
        with open(path, encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                if line["method"] != "read-only":
                    key = (runtime, line["method"], line["set"], line["dtype"], line["bins"])
                    cases.setdefault(key, {})[line["data"]] = line
    return cases


def speed(line):
    text = "%.0f" % line["gbps"] if line["gbps"] >= 100 else "%.1f" % line["gbps"]
    return text if line["verified"] else text + "*"


def table(cases, wanted, inputs, name=lambda key: key[1]):
    """One row a case: its speed on each input, in GB/s."""
    rows = ["| | " + " | ".join(INPUTS[i] for i in inputs) + " |",
            "| --- |" + " ---: |" * len(inputs)]
    for key, lines in cases.items():
        if wanted(key) and all(i in lines for i in inputs):
            rows.append("| %s | %s |" % (name(key), " | ".join(speed(lines[i]) for i in inputs)))
    return rows


def sentence(cases, method):
    """The slowest and fastest input under each runtime."""
    parts = []
    for runtime, title in RUNTIMES.items():
        for (r, m, setting, dtype, bins), lines in cases.items():
            if (r, m, setting) != (runtime, method, "") or (dtype, bins) == ("f32", 256):
                continue
            low = min(lines.values(), key=lambda line: line["gbps"])
            high = max(lines.values(), key=lambda line: line["gbps"])
            share = 100 * high["fraction_of_read"]
            if high["gbps"] < 1.03 * low["gbps"]:
                span = "%s GB/s on every input" % speed(high)
            else:
                span = "%s GB/s (%s) to %s GB/s (%s)" % (
                    speed(low), INPUTS[low["data"]], speed(high), INPUTS[high["data"]])
            parts.append("%s, %s, %d bins: %s, %s %% of reading at best" % (
                title, dtype, bins, span, "%.0f" % share if share >= 1 else "%.2f" % share))
    return ["Measured: " + "; ".join(parts) + "."] if parts else None


def make(cases, kind, name):
    inputs = [i for i in INPUTS if i not in ("equal", "skewed")]
    if kind == "line":
        return sentence(cases, name)
    if name in RUNTIMES:
        return table(cases, lambda k: k[0] == name and k[3] == "u8" and not k[2], inputs)
    if name == "floats":
        return table(cases, lambda k: k[0] == "cuda" and k[3:] == ("f32", 2048) and not k[2],
                     ("uniform", "equal", "skewed"))
    if name == "trish":
        return table(cases, lambda k: k[1] == "trish", inputs,
                     lambda k: "%s, %s" % (RUNTIMES[k[0]], k[2] or "as it is"))
    return None


def main():
    cases = read()
    with open(PAGE, encoding="utf-8") as page:
        old = page.read()

    def fill(match):
        lines = make(cases, match[1], match[2])
        if lines is None:
            sys.exit("methods_table: nothing is recorded for %s:%s" % (match[1], match[2]))
        return "<!-- %s:%s -->\n%s\n<!-- end -->" % (match[1], match[2], "\n".join(lines))

    new = re.sub(r"<!-- (table|line):([\w-]+) -->\n.*?<!-- end -->", fill, old, flags=re.S)
    if "--check" in sys.argv[1:]:
        sys.exit("docs/METHODS.md: run bench/methods_table.py" if new != old else 0)
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(new)


main()
