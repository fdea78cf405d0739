# SPDX-License-Identifier: Apache-2.0
"""tally quantiles: of raw samples of every type, npy, text with missing values and dates, Parquet, pipes and several
files, as NumPy finds them; what it does not take is refused."""

import csv
import io
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import checks
from checks import TALLY, check

import numpy as np

Q = [0, 0.001, 0.25, 0.5, 0.9, 1]
ROUNDED = "quantiles are float64, to which integers beyond 2^53 are rounded"


def run(*arguments, **how):
    return subprocess.run((TALLY, "quantiles", *map(str, arguments)), capture_output=True, text="input" not in how, **how)


def found(*arguments, **how):
    done = run(*arguments, "-f", "json", "--quantiles", ",".join(map(str, Q)), **how)
    answers = json.loads(done.stdout) if done.returncode == 0 else []
    values = [line["value"] for answer in answers for line in answer["quantiles"]]
    noted = any(isinstance(value, (int, float)) and abs(value) >= 2**53 for value in values) and ROUNDED in str(done.stderr)
    check(done.returncode == 0 and (noted or not done.stderr), arguments, done.stderr)
    return answers


def number(value):
    return float("nan") if value is None else float(value)


def same(answer, x, method="linear"):
    x = np.asarray(x)
    numbers = x[x == x]
    want = np.quantile(numbers.astype(np.float64), Q, method=method) if len(numbers) else np.full(len(Q), np.nan)
    got = [number(line["value"]) for line in answer["quantiles"]]
    check(np.array_equal(got, want, equal_nan=True), answer, want)
    check((answer["samples"], answer["missing"]) == (len(numbers), len(x) - len(numbers)), answer)


def main(folder):
    random = np.random.default_rng(20261123)
    for dtype in "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split():
        x = (random.normal(size=5003) * 50).astype(dtype)
        if dtype[0] == "f":
            x[:7] = [np.nan, np.inf, -np.inf, 0.0, -0.0, np.nan, 1e4]
        path = folder / f"{dtype}.npy"
        np.save(path, x)
        with np.errstate(invalid="ignore"):
            for method in ("linear", "inverted_cdf", "nearest"):
                if not (np.isinf(x.astype("f8")).any() and method == "linear"):
                    same(found(path, "--between", method)[0], x, method)
    raw = folder / "raw.bin"
    x = random.integers(0, 10, 3000).astype("<f4")
    x.tofile(raw)
    same(found("--dtype", "float32", raw)[0], x)
    same(found("--dtype", "float32", "-", input=x.tobytes())[0], x)
    together = found("--dtype", "float32", raw, raw)
    check(len(together) == 1 and together[0]["source"] == "", "files together", together)
    same(together[0], np.concatenate([x, x]))
    check([a["source"] for a in found("--dtype", "float32", "--each", raw, raw)] == [str(raw)] * 2, "each")

    table = folder / "t.csv"
    a, b = random.normal(size=400), random.integers(0, 99, 400)
    days = np.datetime64("2026-01-01") + random.integers(0, 300, 400)
    rows = ["a,word,b,day"] + [f"{'' if i % 9 == 0 else repr(float(a[i]))},w{i % 3},{b[i]},{days[i]}" for i in range(400)]
    table.write_text("\n".join(rows) + "\n")
    with_missing = np.where(np.arange(400) % 9 == 0, np.nan, a)
    one, two = found("-c", "a,b", table)
    same(one, with_missing)
    same(two, b)
    same(found("-c", "a", "-", input=table.read_bytes())[0], with_missing)
    one, two = found("-c", "a,b", "-", input=table.read_bytes())
    same(one, with_missing)
    same(two, b)
    for how in (), ("-c", "all"):
        done = run("-f", "csv", "-q", "--quantiles", "0,1", *how, "-", input=table.read_bytes())
        whole = run("-f", "csv", "-q", "--quantiles", "0,1", *how, table)
        check(done.stdout.decode() == whole.stdout.replace(str(table), "standard input"), "a table from a pipe", done)
    done = run(table, "-f", "csv", "--quantiles", "0,1", "-q")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    check([line["column"] for line in lines] == ["a", "a", "b", "b", "day", "day"], "columns", done.stdout)
    check(lines[4]["value"][:10] == str(days.min()) and lines[5]["value"][:10] == str(days.max()), "dates", lines)
    done = run(table, "-c", "day", "--quantiles", "0", "--between", "lower")
    check(str(days.min()) in done.stdout, "a date in a table", done.stdout)

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        pass
    else:
        large = np.array([2**62 + 1, 5, -(2**62), 7])
        path = folder / "t.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"x": with_missing, "large": large.repeat(100)}), path)
        x, y = found(path)
        same(x, with_missing)
        same(y, large.repeat(100))
        x, y = found("-", input=path.read_bytes())
        same(x, with_missing)
        same(y, large.repeat(100))

    for arguments, words in (
        (("--quantiles", "1.5", raw), "no number from 0 to 1"),
        (("--quantiles", "", raw), "quantiles"),
        (("-c", "a,b", "-"), "'a'"),
        (("--between", "mean", raw), "one of linear"),
        (("-c", "word", table), "expected a number"),
        (("-f", "png", raw), "one of table csv json"),
    ):
        done = run(*arguments, input=b"1\n") if arguments[-1] == "-" else run(*arguments)
        check(done.returncode != 0 and words in str(done.stderr), arguments, done.stderr)


def weighed(answer, x, w):
    """Against NumPy where it has weights (from 2.1 on right for q 0), and its rule by Python's integers."""
    numbers = x == x
    x, w = x[numbers].astype("f8"), w[numbers]
    order = np.argsort(x, kind="stable")
    scale = 1 if w.dtype.kind in "iu" else 1 << 40  # weights of the tests are multiples of 2**-40
    sums = list(itertools.accumulate(int(v * scale) for v in w[order].tolist()))
    want = [next(x[i] for i, s in zip(order, sums) if s > 0 and s / sums[-1] >= q) for q in Q]
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        check(np.array_equal(np.quantile(x, Q, weights=w, method="inverted_cdf"), want), "NumPy", want)
    got = [number(line["value"]) for line in answer["quantiles"]]
    check(got == want and answer["between"] == "inverted_cdf", answer, want)
    check((answer["samples"], answer["missing"]) == (len(x), (~numbers).sum()), answer)


def weights(folder):
    random = np.random.default_rng(20261128)
    x, w = random.normal(size=5003), random.integers(0, 9, 5003)
    x[:5] = np.nan, np.inf, -np.inf, 0.0, -0.0
    parts = {"f8": w * 2.0**-40, "f4": (w / 8).astype("f4"), "i4": w.astype("i4"), "u1": w.astype("u1")}
    for samples in "f8 f4 i2 u8".split():
        with np.errstate(invalid="ignore"):
            y = (np.abs(x) * 100 if samples[0] == "u" else x * 100).astype(samples)
        np.save(folder / "x.npy", y)
        for dtype, v in parts.items():
            np.save(folder / f"w.{dtype}.npy", v)
            weighed(found(folder / "x.npy", "-w", folder / f"w.{dtype}.npy")[0], y, v)
    mask = (np.arange(5003) % 3 > 0).astype("u1")
    np.save(folder / "m.npy", mask)
    np.save(folder / "x.npy", x)
    answer = found(folder / "x.npy", "-w", folder / "w.i4.npy", "--mask", folder / "m.npy", "-j", 2)[0]
    weighed(answer, x[mask > 0], w[mask > 0])
    answer = found(folder / "x.npy", folder / "x.npy", "-w", folder / "w.i4.npy")[0]
    weighed(answer, np.tile(x, 2), np.tile(w, 2))
    pixels = random.integers(0, 255, (40, 30, 3)).astype("u1")
    heavy = random.integers(0, 9, (40, 30))
    pixels.tofile(folder / "p.raw")
    np.save(folder / "p.npy", heavy)
    shape = "-t", "u8", "--shape", "40,30,3", "--channel", "1,3"
    first, last = found(folder / "p.raw", *shape, "-w", folder / "p.npy")
    weighed(first, pixels[..., 0].reshape(-1), heavy.reshape(-1))
    weighed(last, pixels[..., 2].reshape(-1), heavy.reshape(-1))
    lines = [f"{'' if i % 7 == 0 else repr(float(v))},{'' if i % 7 == 0 else k},{7 if i % 7 else ''}\n" for i, (v, k) in enumerate(zip(x[5:], w[5:]))]
    table = folder / "w.csv"
    table.write_text("a,w,b\n" + "".join(lines))
    some = np.where(np.arange(len(lines)) % 7 == 0, np.nan, x[5:])
    for how in ({}, {"input": table.read_bytes()}):
        one, two = found("-c", "a,b", "-w", ":w", "-" if how else table, **how)
        weighed(one, some, w[5:])
        weighed(two, np.where(np.arange(len(lines)) % 7 == 0, np.nan, 7), w[5:])
    (folder / "none.csv").write_text("a,w\n,1\n")
    (answer,) = found("-c", "a", "-w", ":w", folder / "none.csv")
    check([line["value"] for line in answer["quantiles"]] == [None] * len(Q), "of no sample", answer)
    (folder / "bad.csv").write_text("a,w\n1,-1\n2,3\n")
    for arguments, code, words in (
        (("-c", "a", "-w", ":w", folder / "bad.csv"), 1, "negative"),
        (("-w", ":w", table), 2, "with --column"),
        (("-c", "a", "-w", ":w", "--between", "linear", table), 2, "as by inverted_cdf"),
        (("-w", folder / "p.npy", folder / "x.npy"), 1, "ends before the samples"),
    ):
        done = run(*arguments)
        check(done.returncode == code and words in done.stderr and not done.stdout, arguments, done)
    large = folder / "large.npy"
    np.lib.format.open_memmap(large, "w+", "u1", (3 << 30,)).flush()  # takes no room
    done = run(large, "-w", large, "-q")
    large.unlink()
    check(done.returncode == 3 and "4 GiB of samples and weights at most" in done.stderr, "too large", done)


def beside(folder, x, dtype, *arguments, **how):
    """The quantiles of a histogram's summary against NumPy's, and its median."""
    done = subprocess.run((TALLY, "-f", "json", "--quantiles", ",".join(map(str, Q)), "--bins", "7", *map(str, arguments)),
                          capture_output=True, **how)  # fmt: skip
    check(done.returncode == 0 and not done.stderr, arguments, done.stderr)
    x = np.asarray(x, dtype)
    x = x[x == x].astype(np.float64)
    for result in json.loads(done.stdout) if done.stdout[:1] == b"[" else [json.loads(done.stdout)]:
        summary = result["histograms"][0]["summary"]
        found = {line["q"]: number(line["value"]) for line in summary["quantiles"]}
        check(list(found) == Q and np.array_equal(list(found.values()), np.quantile(x, Q)), arguments, found)
        check(summary["median"] == found[0.5], "the median is exact", summary)
    return done.stdout


def histograms(folder):
    random = np.random.default_rng(20261127)
    for dtype in "u1 i2 f4 f8".split():
        x = (random.normal(size=4001) * 30).astype(dtype)
        if dtype[0] == "f":
            x[:9] = np.nan
        np.save(folder / "h.npy", x)
        saved = beside(folder, x, dtype, folder / "h.npy")
        beside(folder, x, dtype, folder / "h.npy", "--range", -5, 5)  # of all samples, not those in bins
    (folder / "h.json").write_bytes(saved)
    show = subprocess.run((TALLY, "show", folder / "h.json"), capture_output=True, text=True).stdout
    check(", median " in show and "\nquantiles 0: " in show and show.endswith("\n"), show)
    both = subprocess.run((TALLY, "merge", folder / "h.json", folder / "h.json", "-f", "json"), capture_output=True).stdout
    check(b"quantiles" not in both, "of a sum they are unknown", both)
    mask = (np.arange(4001) % 3 > 0).astype("u1")
    np.save(folder / "m.npy", mask)
    beside(folder, x[mask > 0], "f8", folder / "h.npy", "--mask", folder / "m.npy")
    text = "a,b\n" + "".join(f"{v!r},{-v!r}\n" for v in x[9:].tolist())
    (folder / "h.csv").write_text(text)
    beside(folder, x, "f8", folder / "h.csv", "-c", "a")
    beside(folder, x, "f8", "-", "-c", "a", input=text.encode())
    beside(folder, np.concatenate([x, x]), "f8", folder / "h.csv", folder / "h.csv", "-c", "a")
    beside(folder, x, "f8", "--each", folder / "h.csv", folder / "h.csv", "-c", "a")
    done = run_plain("--separate", "-c", "a,b", folder / "h.csv", "--quantiles", "0.25")
    low, high = np.quantile(x[9:], [0.25, 0.75])
    lines = [line.split(": ")[1] for line in done.stdout.splitlines() if line.startswith("quantiles 0.25: ")]
    check(np.allclose([float(line) for line in lines], [low, -high], rtol=1e-11), "each column", lines)
    (folder / "d.csv").write_text("day\n2026-01-01\n2026-01-03\n2026-01-04\n")
    done = run_plain("-c", "day", "--bins", "2", folder / "d.csv", "--quantiles", "0.5,1")
    check("median 2026-01-03" in done.stdout and "quantiles 0.5: 2026-01-03, 1: 2026-01-04\n" in done.stdout, done.stdout)
    (folder / "none.csv").write_text("a,b\nNaN,w\n")
    done = run_plain("-c", "a", "--range", 0, 1, folder / "none.csv", "--quantiles", "0.5", "-q")
    check(done.returncode == 0 and "quantiles 0.5: -\n" in done.stdout, "of no sample", done)
    for arguments, code, words in (
        (("-c", "a", "--quantiles", "x", folder / "h.csv"), 2, "no number from 0 to 1"),
        (("-c", "a,b", "--quantiles", "0.5", folder / "h.csv"), 2, "2 are joined"),
        (("-c", "a", "--between", "lower", folder / "h.csv"), 2, "--between needs --quantiles"),
        (("-c", "a", "--quantiles", "0.5", "-w", ":b", folder / "h.csv"), 2, "`tally quantiles --weights`"),
        (("-c", "b", "--quantiles", "0.5", folder / "none.csv"), 1, "expected a number"),
        (("--quantiles", "0.5", folder / "h.csv"), 1, "choose one with --column"),
    ):
        done = run_plain(*arguments)
        check(done.returncode == code and words in done.stderr and not done.stdout, arguments, done.stderr)


def run_plain(*arguments):
    return subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    histograms(pathlib.Path(folder))
    weights(pathlib.Path(folder))
    main(pathlib.Path(folder))
sys.exit(f"{checks.failures} checks failed" if checks.failures else 0)
