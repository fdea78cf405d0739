# SPDX-License-Identifier: Apache-2.0
"""Columns of 64-bit integers beyond 2^53 with missing values, in Parquet and Arrow: counted exactly, as DuckDB has it."""

import json
import subprocess

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from test_arrow import write as write_arrow  # noqa: E402
from test_parquet import command, counted  # noqa: E402, F401

ROWS = 5003
CENTRES = {"i64": (0, 2**53, -(2**53), 2**63 - 10**4), "u64": (2**53, 2**63, 2**64 - 10**4)}
PLAIN = dict(use_dictionary=False, data_page_size=2000)
VARIANTS = {
    "parquet": dict(row_group_size=1100),
    "parquet-plain": dict(row_group_size=1300, compression="zstd", **PLAIN),
    "parquet-2": dict(data_page_version="2.0", **PLAIN),
    "parquet-delta": dict(column_encoding="DELTA_BINARY_PACKED", row_group_size=2000, **PLAIN),
    "parquet-both": dict(row_group_size=2500, dictionary_pagesize_limit=3000, data_page_size=1000),
    "arrow": dict(),
    "arrow-zstd": dict(compression="zstd", rows=700),
    "arrow-stream": dict(stream=True, rows=1999),
}


def save(path, table, variant):
    how = dict(VARIANTS[variant])
    if variant.startswith("parquet"):
        pq.write_table(table, path, **how)
    else:
        write_arrow(path, table, **how)


def draw(random, dtype, centre, few=False):
    least, most = (-(2**63), 2**63 - 1) if dtype == "i64" else (0, 2**64 - 1)
    values = [max(least, min(most, centre + int(i))) for i in random.integers(-9000, 9000, ROWS)]
    values = [values[i % 50] for i in range(ROWS)] if few else values
    missing = random.random(ROWS) < random.choice([0.02, 0.5])
    return [None if m else v for v, m in zip(values, missing)]


def exact(values, edges):
    """By Python's comparisons of integers with floats, which are exact; the last edge is of its bin."""
    counts = [0] * (len(edges) - 1)
    for v in values:
        if v is not None and edges[0] <= v <= edges[-1]:
            counts[min(sum(v >= e for e in edges) - 1, len(counts) - 1)] += 1
    return counts


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts(command, tmp_path, variant):  # noqa: F811
    path, random = tmp_path / "t", np.random.default_rng(17)
    for dtype, centres in CENTRES.items():
        kind = pa.int64() if dtype == "i64" else pa.uint64()
        for centre in centres:
            for few in (False, True):
                values = draw(random, dtype, centre, few)
                save(path, pa.table({"a": pa.array(values, kind), "b": pa.array(np.arange(ROWS))}), variant)
                edges = sorted({float(centre + d) for d in (-8000, -300, -2, 0, 2, 4, 300, 4096)})
                some = slice(1000, 4200)
                for how, want in ((("-j", 1), values), (("-j", 3), values), (("--rows", "1000:4200"), values[some])):
                    one, = counted(command, path, "-c", "a", "--edges", ",".join(map(repr, edges)), *how, "--verify")
                    assert one["counts"] == exact(want, edges), (dtype, centre, few, how)
                    assert one["nan"] == want.count(None) and one["masked"] == 0
                    assert sum(one["counts"]) + one["underflow"] + one["overflow"] + one["nan"] == len(want)


@pytest.mark.parametrize("variant", ("parquet", "parquet-plain", "arrow-zstd"))
def test_the_rest(command, tmp_path, variant):  # noqa: F811
    path, random = tmp_path / "t", np.random.default_rng(18)
    a, b = draw(random, "i64", 2**60), draw(random, "i64", 2**61, True)
    times = [None if v is None else v + 10**18 for v in draw(random, "i64", 0)]
    save(path, pa.table({"a": a, "b": b, "t": pa.array(times, pa.timestamp("ns"))}), variant)
    there = sorted(v for v in a if v is not None)

    def run(*arguments, said=""):
        done = subprocess.run((*command, *map(str, arguments), "-f", "json"), capture_output=True, text=True)
        assert done.returncode == 0 and (said in done.stderr if said else not done.stderr), done.stderr
        return json.loads(done.stdout)

    found = run(path, "-c", "a", "-b", 7)  # the range is found
    low, high = found["axes"][0]["lo"], found["axes"][0]["hi"]
    assert found["dtype"] == "i64" and low <= there[0] < low + 512 and high - 512 < there[-1] <= high
    assert found["histograms"][0]["counts"] == exact(a, found["axes"][0]["edges"])
    found = run(path, "-c", "a,b", "-b", 5, "-b", 3)  # a pair counts if it has both
    pairs = [(v, w) for v, w in zip(a, b) if v is not None and w is not None]
    first = found["axes"][0]["edges"]
    want = [exact([w for v, w in pairs if (first[i] <= v < first[i + 1]) or (i == 4 and v == first[5])],
                  found["axes"][1]["edges"]) for i in range(5)]
    assert np.array_equal(np.reshape(found["histograms"][0]["counts"], (5, 3)), want)
    assert found["histograms"][0]["nan"] == ROWS - len(pairs)
    found = run(path, "-c", "b", "--categories")
    labels = {int(label): n for label, n in zip(found["axes"][0]["labels"], found["histograms"][0]["counts"])}
    assert labels == {v: b.count(v) for v in set(b) - {None}} and found["histograms"][0]["nan"] == b.count(None)
    one, two = run("quantiles", path, "-c", "a,b", "--quantiles", "0,0.5,1", "--between", "lower",
                   said="integers beyond 2^53 are rounded")
    assert (one["samples"], one["missing"], two["missing"]) == (len(there), a.count(None), b.count(None))
    assert [q["value"] for q in one["quantiles"]] == [float(there[i]) for i in (0, (len(there) - 1) // 2, -1)]
    column, = (c for c in run(path)["columns"] if c["name"] == "a")
    assert (column["min"], column["max"], column["missing"]) == (there[0], there[-1], a.count(None))
    shown = run(path, "-c", "t", "-b", 4)
    assert sum(shown["histograms"][0]["counts"]) == ROWS - times.count(None), "times of nanoseconds"
    both = run(path, path, "-c", "a", "-b", 7)["histograms"][0]
    assert both["counts"] == [2 * n for n in exact(a, run(path, "-c", "a", "-b", 7)["axes"][0]["edges"])]
    assert both["nan"] == 2 * a.count(None)
    whole = tmp_path / "whole"  # files with and without missing values add up
    save(whole, pa.table({"a": pa.array([2**60] * ROWS)}), variant)
    many = run(path, *[whole] * 5, "-c", "a", "--range", 2**59, 2**61, "-b", 1)["histograms"][0]
    assert (many["counts"], many["nan"]) == ([len(there) + 5 * ROWS], a.count(None))


@pytest.mark.parametrize("variant", ("parquet", "arrow"))
def test_against_duckdb(command, tmp_path, variant):  # noqa: F811
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "t"
    samples = pa.table({"a": draw(np.random.default_rng(19), "i64", 2**62)})
    save(path, samples, variant)
    edges = [2**62 - 8192, 2**62 - 1024, 2**62, 2**62 + 4096]
    one, = counted(command, path, "-c", "a", "--edges", ",".join(map(str, edges)))
    cases = ",".join(f"count(*) filter (a >= {x} and a < {y})" for x, y in zip(edges, edges[1:]))
    database = duckdb.connect()
    database.register("samples", samples)
    *bins, missing = database.execute(f"select {cases}, count(*) - count(a) from samples").fetchone()
    assert (one["counts"], one["nan"]) == (bins, missing)


def test_what_is_refused(command, tmp_path):  # noqa: F811
    """Where two columns are not of one such type, or something goes with each row, values are float64."""
    path, mask = tmp_path / "t.parquet", tmp_path / "m.npy"
    pq.write_table(pa.table({"a": [2**53 + 1, None, 3], "x": [1.5, 2.0, 3.0]}), path)
    np.save(mask, np.ones(3, "u1"))
    for how in (("-c", "a", "--mask", mask), ("-c", "a,x"), ("-c", "x", "--of", "a")):
        done = subprocess.run((*command, path, "--bins", "3", *how), capture_output=True, text=True)
        assert done.returncode == 3 and "beyond 2^53" in done.stderr, (how, done.stderr)
