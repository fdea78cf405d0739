# SPDX-License-Identifier: Apache-2.0
"""tally --of: statistics of columns in each bin of another, from text, pipes, several files and Parquet, are those of exact
fractions and of NumPy; saved, merged, shown and drawn; what it does not do is refused."""

import csv
import fractions
import io
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


def compare(found, i, values, what):
    """Cell i of a histogram's statistics, or of its flows', with the values that are in it."""
    exact = [fractions.Fraction(v) for v in values if v == v]
    n = len(exact)
    want = dict.fromkeys(("mean", "m2", "error", "sd", "min", "max"))
    want["sum"] = float(sum(exact))
    if n:
        mean = sum(exact) / n
        m2 = sum((v - mean) ** 2 for v in exact)
        want.update(mean=float(mean), m2=float(m2), min=float(min(exact)), max=float(max(exact)))
    if n > 1:
        sd = math.sqrt(m2 / (n - 1))
        want.update(sd=sd, error=sd / math.sqrt(n))
    for name, value in want.items():
        check(near(found[name][i], value), what, name, found[name][i], value)
    return n


def compare_all(found, x, columns, bins=8):
    """A profile in JSON, of 0 ... 4, with what is exact."""
    edges = np.linspace(0, 4, bins + 1)
    check((found["kind"], found["column"], found["samples"]) == ("profile", "x", len(x)), "heads", found["samples"])
    check([h["name"] for h in found["histograms"]] == list(columns), "names")
    check(found["axes"][0]["edges"] == edges.tolist(), "edges")
    for histogram, (name, y) in zip(found["histograms"], columns.items()):
        for i, count in enumerate(histogram["counts"]):
            inside = (x >= edges[i]) & ((x < edges[i + 1]) | ((i == bins - 1) & (x == 4)))
            check(count == compare(histogram["statistics"], i, y[inside], (name, i)), "count", i)
        for i, (key, outside) in enumerate((("underflow", x < 0), ("overflow", x > 4), ("nan", np.isnan(x)))):
            check(histogram[key] == compare(histogram["flow_statistics"], i, y[outside], (name, key)), key)


def profile(*arguments, **how):
    done = run(*arguments, "-c", "x", "--range", 0, 4, "--bins", 8, "-f", "json", **how)
    check(done.returncode == 0 and not done.stderr, arguments, done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else None


def same(x, y, *arguments, **how):
    compare_all(profile(*arguments, "--of", "y", **how), x, {"y": y})


def by_numpy(table, x, y, edges):
    """Lines of CSV with NumPy's own binning and moments."""
    which = np.digitize(x, edges) - 1
    which[x == edges[-1]] -= 1
    rows = list(csv.DictReader(io.StringIO(table)))
    for i, row in enumerate(rows[: len(edges) - 1]):
        values = y[(which == i) & ~np.isnan(y)]
        check(int(row["count"]) == len(values), row, len(values))
        if len(values) < 2:
            continue
        want = {"sum": values.sum(), "mean": values.mean(), "sd": values.std(ddof=1), "variance": values.var(ddof=1),
                "error": values.std(ddof=1) / np.sqrt(len(values)), "min": values.min(), "max": values.max()}  # fmt: skip
        for name, value in want.items():
            check(math.isclose(float(row[name]), value, rel_tol=1e-9), i, name, row[name], value)


def saved_and_merged(x, columns):
    """Parts that were saved, merged: the whole, and the same however it is shown."""
    of = ",".join(columns)
    for part, rows in (("p1", slice(0, 1000)), ("p2", slice(1000, 1001)), ("p3", slice(1001, None))):
        lines = zip(x[rows], *(y[rows] for y in columns.values()))
        pathlib.Path(part + ".csv").write_text(text_of(["x", *columns], lines))
        done = run(part + ".csv", "-c", "x", "--of", of, "--range", 0, 4, "--bins", 8, "-o", part + ".json")
        check(done.returncode == 0 and not done.stdout, part, done.stderr)
    done = run("merge", "p1.json", "p2.json", "p3.json", "-f", "json")
    compare_all(json.loads(done.stdout), x, columns)
    pathlib.Path("all.json").write_text(done.stdout)
    check(run("show", "all.json", "-f", "json").stdout == done.stdout, "shown as it was saved")
    table = run("show", "all.json").stdout
    check("y in bins of x\n" in table and "z in bins of x\n" in table, table)
    for name in ("all.png", "all.svg"):
        done = run("plot", "all.json", "-o", name, "--title", "a title")
        check(done.returncode == 0 and pathlib.Path(name).stat().st_size > 3000, name, done.stderr)
    done = run("merge", "all.json", "p1.json", "-o", "more.csv", "--statistic", "count")
    lines = pathlib.Path("more.csv").read_text().splitlines()
    check(done.returncode == 0 and lines[0] == "histogram,lo,hi,count", done.stderr, lines)
    edges = ("-c", "x", "--range", 0, 5, "--bins", 8)
    for how, words in ((("-c", "x", "--of", "y", "--range", 0, 4, "--bins", 8), "3 histograms and the second 1"),
                       ((*edges, "--of", of), "edge 1 is 0.5 in the first"),
                       (("-c", "y", "--of", "x,z,w", "--range", 0, 4, "--bins", 8), 'in bins of "x" and the second of "y"'),
                       (("-c", "x", "--of", "y,w,z", "--range", 0, 4, "--bins", 8), 'named "z" in the first and "w"'),
                       (("-c", "x", "--range", 0, 4, "--bins", 8), "the first is a profile")):  # fmt: skip
        done = run("p1.csv", *how, "-o", "other.json")
        check(done.returncode == 0, how, done.stderr)
        pathlib.Path("sum.json").unlink(missing_ok=True)
        done = run("merge", "all.json", "other.json", "-o", "sum.json")
        check(done.returncode == 1 and words in done.stderr and not os.path.exists("sum.json"), words, done.stderr)


def by_words(x, y):
    """Bins that are words, of two parts that have not the same ones, and with missing ones."""
    words = [("", "a", "b b", "c,c", "d")[i % 5] if i < 2000 else "ef"[i % 2] for i in range(len(x))]
    rows = [f'"{word}",{"" if v != v else repr(float(v))}\n' for word, v in zip(words, y)]
    parts = {"w1": rows[:2500], "w2": rows[2500:], "w": rows}
    for name, lines in parts.items():
        pathlib.Path(name + ".csv").write_text("word,y\n" + "".join(lines))
        done = run(name + ".csv", "-c", "word", "--of", "y", "-o", name + ".json")
        check(done.returncode == 0, name, done.stderr)
    merged = json.loads(run("merge", "w1.json", "w2.json", "-f", "json").stdout)
    for found in (json.loads(pathlib.Path("w.json").read_text()), merged):
        labels, histogram = found["axes"][0]["labels"], found["histograms"][0]
        check(sorted(labels) == ["a", "b b", "c,c", "d", "e", "f"], labels)
        check(histogram["counts"] == sorted(histogram["counts"], reverse=True), "the most frequent first")
        for i, label in enumerate(labels):
            values = y[[w == label for w in words]]
            check(histogram["counts"][i] == compare(histogram["statistics"], i, values, label), label)
        missing = y[[w == "" for w in words]]
        check(histogram["nan"] == compare(histogram["flow_statistics"], 2, missing, "missing"), "missing")
    top = run("show", "w.json", "--top", 2, "-f", "csv", "--statistic", "mean").stdout.splitlines()
    check(top[0] == "histogram,value,mean" and top[3].startswith("y,4 other values,"), top)
    others = y[[w in ("a", "b b", "c,c", "d") for w in words]]
    check(math.isclose(float(top[3].split(",")[2]), np.nanmean(others), rel_tol=1e-12), top[3])
    table = run("w.csv", "-c", "word", "--of", "y", "--max-rows", 3).stdout.splitlines()
    check([line.split()[0] for line in table[5:9]] == ["e", "f", "4", "missing"], table)
    check(run("plot", "w.json", "-o", "w.png").returncode == 0, "a picture of words")
    numbers = run("few.csv", "-c", "x", "--categories", "--of", "y", "-f", "csv", "--statistic", "sum").stdout
    check("y,0.1,3\n" in numbers and "y,0.4,0\n" not in numbers, "each number", numbers)


def text_of(names, rows):
    lines = (",".join("" if v != v else repr(float(v)) for v in row) for row in rows)
    return ",".join(names) + "\n" + "".join(line + "\n" for line in lines)


def text(x, y):
    return text_of(["x", "y"], zip(x, y))


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
    few = ("few.csv", "-c", "x", "--of", "y", "--bins", 2, "--range", 0, 1)
    table = run(*few, "--width", 100).stdout.split("\n")
    check(table[:2] == ["few.csv", "f64 · 5 samples · 2 bins"] and table[3] == "y in bins of x", table)
    check(table[4].split() == ["value", "count", "mean", "error", "sd", "min", "max"], table)
    check(table[5].split()[:8] == ["[0.0,", "0.5)", "2", "4", "1", "1.41421", "3", "5"], table[5])
    check("●" in table[5] and table[6].endswith("●") and table[5].index("●") < table[6].index("●"), table[5:7])
    check(table[7].split() == ["above", "1", "1", "1", "1"], table[7])
    table = run(*few, "--statistic", "max,sum", "--ascii", "--no-header").stdout.split("\n")
    check([line.split()[2:] for line in table[:2]] == [["8", "5"], ["7", "7"]], table)
    check("o" in run(*few, "--ascii").stdout.split("\n")[6], "ascii")
    lines = run(*few, "-f", "csv").stdout.split("\n")
    check(lines[0] == "histogram,lo,hi,count,sum,mean,error,sd,variance,min,max" and lines[2] == "y,0.5,1,1,7,7,,,,7,7", lines)
    check(lines[3] == "y,1,inf,1,1,1,,,,1,1", lines)
    lines = run(*few, "-f", "csv", "--statistic", "sd,mean", "--no-header").stdout.split("\n")
    check(lines[0] == "y,0,0.5,4,1.4142135623730951" and lines[1] == "y,0.5,1,7,", lines)
    rows = run("few.csv", "-c", "x", "--of", "y", "--bins", 100, "--range", 0, 1, "--max-rows", 2).stdout.split("\n")
    check(rows[5].split()[:7] == ["[0.0,", "0.5)", "2", "4", "1", "1.41421", "3"], "neighbours together", rows)
    z, w = rng.normal(-5, 3, len(x)), rng.integers(-9, 9, len(x)).astype(float)
    saved_and_merged(x, {"y": y, "z": z, "w": w})
    pathlib.Path("yz.csv").write_text(text_of(["x", "y", "z"], zip(x, y, z)))
    compare_all(profile("yz.csv", "--of", "y,z"), x, {"y": y, "z": z})
    compare_all(profile("yz.csv", "--of", "y", "--of", "3", "-j", 1), x, {"y": y, "z": z})
    by_numpy(run("yz.csv", "-c", "x", "--of", "z", "--bins", 8, "--range", 0, 4, "-f", "csv").stdout, x, z, np.linspace(0, 4, 9))
    both = json.loads(run("a.csv", "b.csv", "--each", "-c", "x", "--of", "y", "--bins", 2, "-f", "json").stdout)
    check([p["samples"] for p in both] == [1500, 2500], "each file by itself")
    by_words(x, y)
    # dates, in the bins' column and in the other one, of two files; lengths of time are seconds for programs
    pathlib.Path("t.csv").write_text("x,when,at\n1,2026-01-31,2026-02-01T12:00:00Z\n1,2026-02-01,2026-02-02T12:00:00Z\n")
    pathlib.Path("u.csv").write_text("x,when,at\n3,2026-02-28,2026-03-01T00:00:01.5Z\n")
    times = ("-c", "x", "--of", "at", "--bins", 2, "--range", 0, 4)
    table = run("t.csv", "u.csv", *times, "--width", 200).stdout.split("\n")
    check(table[5].split()[:11] == ["[0,", "2)", "2", "2026-02-02", "00:00", "12", "h", "17", "h", "2026-02-01", "12:00"], table)
    found = json.loads(run("t.csv", "u.csv", *times, "-f", "json").stdout)["histograms"][0]
    check((found["time"], found["statistics"]["error"][0]) == ("us", 43200e6), found)
    dates = found["statistics"]["dates"]
    check(dates["mean"] == ["2026-02-02T00:00:00Z", "2026-03-01T00:00:01.500000Z"] and dates["max"] == [
        "2026-02-02T12:00:00Z", "2026-03-01T00:00:01.500000Z"], dates)  # fmt: skip
    lines = run("t.csv", *times, "-f", "csv", "--statistic", "sum,mean,error").stdout.split("\n")
    check(lines[1] == "at,0,2,,2026-02-02T00:00:00Z,43200", "times have no sum", lines)
    run("t.csv", *times, "-o", "t.json")
    run("u.csv", *times, "-o", "u.json")
    merged = run("merge", "t.json", "u.json", "-f", "csv").stdout
    check(merged == run("t.csv", "u.csv", *times, "-f", "csv").stdout, "times are merged", merged)
    check(run("plot", "t.json", "-o", "t.svg").returncode == 0, "a picture of times")
    lines = run("t.csv", "u.csv", "-c", "when", "--of", "x", "--bins", "month", "-f", "csv").stdout.split("\n")
    check(lines[1] == "x,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,1,1,1,,,,1,1", lines)
    check(lines[2].endswith(",2,4,2,1,1.4142135623730951,2,1,3"), lines)
    table = run("t.csv", "-c", "when", "--of", "x", "--bins", "month").stdout.split("\n")
    check(table[5].strip().startswith("[2026-01, 2026-02) ") and table[5].split()[2:4] == ["1", "1"], table)
    done = run("few.csv", "t.csv", "-c", "x", "--of", "y")
    check(done.returncode == 1, done.stderr)
    pathlib.Path("v.csv").write_text("x,when,at\n1,2026-01-01,5\n")
    done = run("t.csv", "v.csv", "-c", "x", "--of", "at", "--bins", 2, "-o", "none.json")
    check(done.returncode == 1 and "v.csv:2:14: expected a date" in done.stderr and not os.path.exists("none.json"), done.stderr)
    # pictures: every statistic, and the same bytes again
    for statistic in ("count", "sum", "mean", "error", "sd", "variance", "min", "max", "mean,error"):
        for name in ("p.png", "p.svg"):
            done = run("yz.csv", "-c", "x", "--of", "y,z", "--range", 0, 4, "--statistic", statistic, "-o", name)
            check(done.returncode == 0 and os.path.getsize(name) > 2000, statistic, name, done.stderr)
    once = pathlib.Path("p.svg").read_bytes()
    run("yz.csv", "-c", "x", "--of", "y,z", "--range", 0, 4, "-o", "p.svg")
    check(once == pathlib.Path("p.svg").read_bytes(), "the mean with its error is what is drawn by itself")
    many = ",".join("xyz"[i % 3] for i in range(8))
    for wrong, words in [
        (["few.csv", "--of", "y"], "name the samples' with --column"),
        (["few.csv", "-c", "x,y", "--of", "y"], "one column is binned; 2"),
        (["few.csv", "-c", "x", "--of", "y", "-o", "a.npy"], "a table, csv, json, png or svg"),
        (["few.csv", "-c", "x", "--of", "y", "-w", ":y"], "contradict"),
        (["few.csv", "-c", "x", "--of", "y", "--quantiles", "0.5"], "contradict"),
        (["few.csv", "-c", "x", "--of", many], "--of: at most 8 columns in all"),
        (["few.csv", "-c", "x", "--of", "y", "--log-counts"], "for counts"),
        (["few.csv", "-c", "x", "--of", "y", "--statistic", "mode"], "--statistic mode: some of count sum mean"),
        (["few.csv", "-c", "x", "--of", "y", "--statistic", "mean", "-f", "json"], "json has all of them"),
        (["few.csv", "-c", "x", "--of", "y", "--statistic", "mean,sd", "-o", "a.png"], "a picture shows one"),
        (["few.csv", "-c", "x", "--statistic", "mean"], "--statistic needs --of"),
    ]:
        done = run(*wrong)
        check(done.returncode == 2 and words in done.stderr and not done.stdout, wrong, done.stderr)
    check(not os.path.exists("a.png") and not os.path.exists("a.npy"), "nothing was written")
    run("few.csv", "-c", "x", "-o", "h.json")
    done = run("show", "h.json", "--statistic", "mean")
    check(done.returncode == 1 and "this is a histogram" in done.stderr and not done.stdout, done.stderr)
    done = run("few.csv", "-c", "x", "--of", "y,z")
    check(done.returncode == 1 and "no column 'z'" in done.stderr and not done.stdout, done.stderr)
sys.exit(f"{checks.failures} checks failed" if checks.failures else 0)
