# SPDX-License-Identifier: Apache-2.0
"""tally --of: statistics of one column in each bin of another, from text, pipes, several files and Parquet, are those
of exact fractions; what it does not do is refused."""

import fractions
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import checks
from checks import TALLY, check

import numpy as np


def run(*arguments, **how):
    return subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True, **how)


def near(found, exact):
    return found is None if exact is None else found is not None and math.isclose(found, exact, rel_tol=1e-10)


def compare(line, values, what):
    """One bin of the JSON with the values that are in it."""
    exact = [fractions.Fraction(v) for v in values if v == v]
    n = len(exact)
    want = dict.fromkeys(("mean", "error", "sd", "min", "max"))
    want["sum"] = float(sum(exact))
    if n:
        mean = sum(exact) / n
        want.update(mean=float(mean), min=float(min(exact)), max=float(max(exact)))
    if n > 1:
        sd = math.sqrt(sum((v - mean) ** 2 for v in exact) / (n - 1))
        want.update(sd=sd, error=sd / math.sqrt(n))
    check(line["count"] == n, what, line, n)
    for name, value in want.items():
        check(near(line[name], value), what, name, line[name], value)


def same(x, y, *arguments, **how):
    done = run(*arguments, "-c", "x", "--of", "y", "--range", 0, 4, "--bins", 8, "-f", "json", **how)
    check(done.returncode == 0 and not done.stderr, arguments, done.stderr)
    if done.returncode:
        return
    found = json.loads(done.stdout)
    check((found["kind"], found["column"], found["of"], found["samples"]) == ("profile", "x", "y", len(x)), "heads")
    edges = np.linspace(0, 4, 9)
    for i, line in enumerate(found["bins"]):
        inside = (x >= edges[i]) & ((x < edges[i + 1]) | ((i == 7) & (x == 4)))
        check((line["low"], line["high"]) == (edges[i], edges[i + 1]), "edges", line)
        compare(line, y[inside], (arguments, i))
    compare(found["under"], y[x < 0], "under")
    compare(found["over"], y[x > 4], "over")
    compare(found["nan"], y[np.isnan(x)], "nan")


def text(x, y):
    rows = (",".join("" if v != v else repr(float(v)) for v in pair) for pair in zip(x, y))
    return "x,y\n" + "".join(row + "\n" for row in rows)


rng = np.random.default_rng(int(os.environ.get("SEED", "20261123")))
x, y = rng.normal(2, 1.2, 4000), 1e6 + rng.normal(size=4000)
x[:2], x[5], y[7], x[7], y[9] = 4, np.nan, np.nan, 1.7, -1e15
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("all.csv").write_text(text(x, y))
    pathlib.Path("a.csv").write_text(text(x[:1500], y[:1500]))
    pathlib.Path("b.csv").write_text(text(x[1500:], y[1500:]))
    same(x, y, "all.csv")
    same(x, y, "a.csv", "b.csv")
    same(x, y, "-", input=text(x, y))
    try:
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table({"x": x, "y": y}), "all.parquet")
        same(x, y, "all.parquet")
    except ImportError:
        print("no pyarrow: Parquet is left out")
    pathlib.Path("few.csv").write_text("x,y\n0.1,3\n0.2,5\n0.9,7\n0.4,\n3,1\n")
    table = run("few.csv", "-c", "x", "--of", "y", "--bins", 2, "--range", 0, 1).stdout.split("\n")
    check(table[0] == "y in bins of x" and table[1].split() == ["n", "mean", "+-", "sd", "min", "max"], table)
    check(table[2].split()[:8] == ["[0,", "0.5)", "2", "4", "1", "1.41421", "3", "5"], table[2])
    check(table[2].endswith("o------") and table[3].endswith(" " * 23 + "o") or "--o--" in table[2], table[2:4])
    check(table[4].split() == ["over", "1", "1", "1", "1"], table[4])
    lines = run("few.csv", "-c", "x", "--of", "y", "--bins", 2, "--range", 0, 1, "-f", "csv").stdout.split("\n")
    check(lines[0] == "low,high,count,mean,error,sd,sum,min,max" and lines[2] == "0.5,1,1,7,,,7,7,7", lines)
    # dates, in the bins' column and in the other one, of two files; lengths of time are seconds for programs
    pathlib.Path("t.csv").write_text("x,when,at\n1,2026-01-31,2026-02-01T12:00:00Z\n1,2026-02-01,2026-02-02T12:00:00Z\n")
    pathlib.Path("u.csv").write_text("x,when,at\n3,2026-02-28,2026-03-01T00:00:01.5Z\n")
    table = run("t.csv", "u.csv", "-c", "x", "--of", "at", "--bins", 2, "--range", 0, 4).stdout.split("\n")
    check(table[2].split()[:11] == ["[0,", "2)", "2", "2026-02-02", "00:00", "12", "h", "17", "h", "2026-02-01", "12:00"], table[2])
    found = json.loads(run("t.csv", "u.csv", "-c", "x", "--of", "at", "--bins", 2, "--range", 0, 4, "-f", "json").stdout)["bins"]
    check((found[0]["mean"], found[0]["error"], found[0]["sum"]) == ("2026-02-02T00:00:00Z", 43200, None), found)
    check(found[1]["min"] == "2026-03-01T00:00:01.500000Z", found)
    lines = run("t.csv", "u.csv", "-c", "when", "--of", "x", "--bins", "month", "-f", "csv").stdout.split("\n")
    check(lines[1] == "2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,1,1,,,1,1,1" and lines[2].endswith(",2,2,1,1.4142135623730951,4,1,3"), lines)
    table = run("t.csv", "-c", "when", "--of", "x", "--bins", "month").stdout.split("\n")
    check(table[2].startswith("[2026-01, 2026-02) ") and table[2].split()[2:4] == ["1", "1"], table)
    done = run("few.csv", "t.csv", "-c", "x", "--of", "y")
    check(done.returncode == 1, done.stderr)
    pathlib.Path("v.csv").write_text("x,when,at\n1,2026-01-01,5\n")
    done = run("t.csv", "v.csv", "-c", "x", "--of", "at", "--bins", 2)
    check(done.returncode == 1 and "v.csv:2:14: expected a date" in done.stderr and not done.stdout, done.stderr)
    for wrong, words in [
        (["few.csv", "--of", "y"], "name the samples' with --column"),
        (["few.csv", "-c", "x,y", "--of", "y"], "one column is binned; 2"),
        (["few.csv", "-c", "x", "--of", "y", "-o", "a.png"], "to standard output"),
        (["few.csv", "-c", "x", "--of", "y", "-w", ":y"], "contradict"),
    ]:
        done = run(*wrong)
        check(done.returncode == 2 and words in done.stderr and not done.stdout, wrong, done.stderr)
    done = run("few.csv", "-c", "x", "--of", "z")
    check(done.returncode == 1 and "no column 'z'" in done.stderr and not done.stdout, done.stderr)
sys.exit(f"{checks.failures} checks failed" if checks.failures else 0)
