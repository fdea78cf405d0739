# SPDX-License-Identifier: Apache-2.0
"""Saved results for the command's tests: the contract's schema, and counts by another road.

    python3 result.py check FILE            every key of the contract, and conservation
    python3 result.py count FILE SAMPLES    the same counts as bisection of the edges finds in
                                            SAMPLES, one number a line
    python3 result.py each LIST             the same for each line "FILE<tab>SAMPLES<tab>WORDS" of
                                            LIST; a line on standard output for each that is wrong
"""
import bisect
import json
import math
import sys

HISTOGRAM = {"name": str, "counts": list, "underflow": int, "overflow": int, "nan": int, "masked": int}
RESULT = {"schema": str, "source": list, "dtype": str, "samples": int, "axes": list,
          "histograms": list, "run": dict}
RUN = {"device": str, "method": str, "seconds": (int, float)}
AXIS = {"kind": str, "bins": int, "lo": (int, float), "hi": (int, float), "edges": list}


def need(value, keys, where):
    for key, kind in keys.items():
        assert key in value, f"{where}: no {key}"
        assert isinstance(value[key], kind), f"{where}.{key} is {value[key]!r}"
        assert not isinstance(value[key], bool), f"{where}.{key} is {value[key]!r}"


def check(result):
    need(result, RESULT, "result")
    need(result["run"], RUN, "run")
    assert result["schema"] == "tally/1"
    cells = 1
    for axis in result["axes"]:
        need(axis, AXIS, "axis")
        edges = axis["edges"]
        assert len(edges) == axis["bins"] + 1
        assert all(a < b for a, b in zip(edges, edges[1:])), "edges do not increase"
        assert edges[0] == axis["lo"] and edges[-1] == axis["hi"]
        cells *= axis["bins"]
    total = 0
    for histogram in result["histograms"]:
        need(histogram, HISTOGRAM, "histogram")
        assert len(histogram["counts"]) == cells
        total += sum(histogram["counts"])
        total += sum(histogram[flow] for flow in ("underflow", "overflow", "nan", "masked"))
    if "weights" not in result and "sat" not in result.get("counter", ""):
        assert total == result["samples"], f"{total} counted of {result['samples']}"


def exact(text):
    """Integers as they are; everything else as the nearest double, which is what is counted. Python
    compares the two exactly."""
    return int(text) if text.lstrip("-").isdigit() else float(text)


def count(result, texts):
    (axis,), (histogram,) = result["axes"], result["histograms"]
    edges = axis["edges"]
    counts, under, over, nan = [0] * axis["bins"], 0, 0, 0
    for text in texts:
        x = exact(text)
        if isinstance(x, float) and math.isnan(x):
            nan += 1
        elif x < edges[0]:
            under += 1
        elif x > edges[-1] or (x == edges[-1] and axis.get("last") == "open"):
            over += 1
        else:
            counts[min(bisect.bisect_right(edges, x) - 1, axis["bins"] - 1)] += 1
    assert counts == histogram["counts"], f"counts {histogram['counts']} instead of {counts}"
    assert (under, over, nan) == (histogram["underflow"], histogram["overflow"], histogram["nan"])


def main():
    if sys.argv[1] == "each":
        with open(sys.argv[2], encoding="utf-8") as lines:
            for line in lines:
                saved, samples, words = line.rstrip("\n").split("\t")
                try:
                    compare(saved, samples)
                except (AssertionError, ValueError, KeyError, OSError) as why:
                    print(f"{why}: {words}")
    else:
        compare(sys.argv[2], sys.argv[3] if sys.argv[1] == "count" else None)


def compare(saved, samples):
    with open(saved, encoding="utf-8") as file:
        saved = json.load(file)
    for result in saved if isinstance(saved, list) else [saved]:
        check(result)
    if samples is not None:
        with open(samples, encoding="utf-8") as file:
            count(saved, file.read().split())


main()
