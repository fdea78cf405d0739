# SPDX-License-Identifier: Apache-2.0
"""The extension for DuckDB, against NumPy: TALLY_DUCKDB_EXTENSION names the file, as scripts/python.sh does."""
import math
import os

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb")
EXTENSION = os.environ.get("TALLY_DUCKDB_EXTENSION")
if not EXTENSION:
    pytest.skip("TALLY_DUCKDB_EXTENSION names no extension", allow_module_level=True)
SEED = int(os.environ.get("SEED", "20261123"))


@pytest.fixture(scope="module")
def sql():
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute("SET threads = 4")
    return connection


def one(sql, query, *parameters):
    return sql.execute(query, parameters or None).fetchone()[0]


def table(sql, seed, rows):
    """Rows with everything: groups, NULLs, NaN, infinities, samples on edges and a step beside them."""
    random = np.random.default_rng(seed)
    x = random.normal(0, 2, rows)
    edges = np.linspace(-3, 3, 13)
    near = random.random(rows) < 0.3
    x[near] = np.nextafter(random.choice(edges, near.sum()), random.choice([-9.0, 9.0], near.sum()))
    x[random.random(rows) < 0.02] = np.nan
    x[random.random(rows) < 0.02] = np.inf
    null = random.random(rows) < 0.05
    key = random.integers(0, 5, rows)
    weight = random.integers(-8, 9, rows) / 4
    sql.execute("CREATE OR REPLACE TABLE t (x DOUBLE, y DOUBLE, k INTEGER, w DOUBLE)")
    frame = {"x": x, "n": null, "k": key, "w": weight, "y": random.permutation(x)}
    sql.register("frame", __import__("pyarrow").table(frame))
    sql.execute("INSERT INTO t SELECT CASE WHEN n THEN NULL ELSE x END, y, k, w FROM frame")
    sql.unregister("frame")
    return np.where(null, 0, x), null, key, weight, frame["y"]


def wanted(x, null, edges, weight=None):
    """counts, below, above, nan, nulls as the functions define them."""
    edges = np.asarray(edges, float)
    with np.errstate(invalid="ignore"):
        below, above = ~null & (x < edges[0]), ~null & (x > edges[-1])
    nan = ~null & np.isnan(x)
    inside = ~(null | below | above | nan)
    amount = np.ones(len(x), np.int64) if weight is None else weight
    counts = np.histogram(x[inside], edges, weights=amount[inside])[0]
    return counts.tolist(), amount[below].sum(), amount[above].sum(), amount[nan].sum(), null.sum()


def same(got, want):
    return (got["counts"], got["below"], got["above"], got["nan"], got["nulls"]) == want


@pytest.mark.parametrize("rows", [1, 7, 2048, 2049, 300_000])
def test_against_numpy(sql, rows):
    print("seed", SEED)
    x, null, key, weight, _ = table(sql, SEED + rows, rows)
    edges = np.linspace(-3, 3, 13)
    assert same(one(sql, "SELECT tally_histogram(x, -3, 3, 12) FROM t"), wanted(x, null, edges))
    assert one(sql, "SELECT tally(x, -3, 3, 12) FROM t") == wanted(x, null, edges)[0]
    assert same(one(sql, "SELECT tally_histogram(x, -3, 3, 12, w) FROM t"), wanted(x, null, edges, weight))
    uneven = [-3, -2.5, 0, 0.5, 3]
    assert same(one(sql, "SELECT tally_histogram_edges(x, [-3, -2.5, 0, 0.5, 3]) FROM t"), wanted(x, null, uneven))
    assert one(sql, "SELECT tally_edges(x, ?) FROM t", uneven) == wanted(x, null, uneven)[0]
    groups = sql.execute("SELECT k, tally_histogram(x, -3, 3, 12), tally_histogram(x, -3, 3, 12, w) FROM t GROUP BY k")
    for k, counts, sums in groups.fetchall():
        of = key == k
        assert same(counts, wanted(x[of], null[of], edges))
        assert same(sums, wanted(x[of], null[of], edges, weight[of]))


def test_rows_and_chunks_agree(sql):
    """Rows that lie in turns in many groups wait to be counted together, runs of one group are counted as they come."""
    table(sql, SEED, 50_000)
    whole = one(sql, "SELECT tally_histogram(x, -3, 3, 100003, w) FROM t")
    for rows, key in [("t", "k"), ("(FROM t ORDER BY k)", "k"), ("(FROM t ORDER BY y)", "floor(y * 9)")]:
        parts = f"SELECT tally_histogram(x, -3, 3, 100003, w) AS h FROM {rows} GROUP BY {key}"
        assert one(sql, f"SELECT tally_merge(h) FROM ({parts})") == whole


def test_joint(sql):
    x, null, _, weight, y = table(sql, SEED + 1, 20_000)
    got = one(sql, "SELECT tally_histogram(x, y, -3, 3, 12, -1, 2, 5) FROM t")
    keep = ~null & np.isfinite(x) & np.isfinite(y)
    counts = np.histogram2d(x[keep], y[keep], (12, 5), ((-3, 3), (-1, 2)))[0]
    assert got["counts"] == counts.tolist()
    assert got["edges"] == [np.linspace(-3, 3, 13).tolist(), np.linspace(-1, 2, 6).tolist()]
    assert got["nulls"] == null.sum()
    assert got["nan"] == (~null & (np.isnan(x) | np.isnan(y))).sum()
    assert counts.sum() + got["below"] + got["above"] + got["nan"] + got["nulls"] == len(x)
    sums = one(sql, "SELECT tally(x, y, w, -3, 3, 12, -1, 2, 5, -9, 9, 2, w) FROM t")
    keep = keep & ~null
    want = np.histogramdd(
        np.stack([x, y, weight], 1)[keep], (12, 5, 2), ((-3, 3), (-1, 2), (-9, 9)), weights=weight[keep]
    )[0]
    assert sums == want.tolist()
    byrow = sql.execute("SELECT k, tally(x, y, -3, 3, 12, -1, 2, 5) FROM t GROUP BY k").fetchall()
    assert np.sum([h for _, h in byrow], 0).tolist() == counts.tolist()


TYPES = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE"]


@pytest.mark.parametrize("type", TYPES)
def test_types(sql, type):
    query = f"(SELECT (i * 37 % 100)::{type} AS x, i % 3 AS k FROM range(5000) r(i))"
    want = np.histogram(np.arange(5000) * 37 % 100, 9, (10, 90))[0].tolist()
    assert one(sql, f"SELECT tally(x, 10, 90, 9) FROM {query}") == want
    groups = sql.execute(f"SELECT tally(x, 10, 90, 9) FROM {query} GROUP BY k").fetchall()
    assert np.sum([h for (h,) in groups], 0).tolist() == want


@pytest.mark.parametrize("type,base", [("BIGINT", -(2**62)), ("BIGINT", 2**62), ("UBIGINT", 2**63)])
def test_integers_beyond_float64(sql, type, base):
    """Near 2^62 float64 holds every 1024th integer: samples between two of them keep their side of an edge."""
    edges = [float(base), float(base + 4096), float(base + 8192)]
    samples = [base + d for d in (-1, 0, 1, 4095, 4096, 4097, 8191, 8192, 8193)]
    values = ", ".join(f"({v}::{type}, {i % 2})" for i, v in enumerate(samples))
    for group in ("k // 2", "k"):
        rows = sql.execute(f"SELECT tally_histogram_edges(x, ?) FROM (VALUES {values}) v(x, k) GROUP BY {group}", [edges])
        rows = [h for (h,) in rows.fetchall()]
        assert np.sum([h["counts"] for h in rows], 0).tolist() == [3, 4]
        assert sum(h["below"] for h in rows) == 1 and sum(h["above"] for h in rows) == 1


def test_nothing_is_null(sql):
    for name in ("tally", "tally_histogram"):
        assert one(sql, f"SELECT {name}(x, 0, 1, 4) FROM (SELECT 0.5 AS x WHERE false)") is None
    assert one(sql, "SELECT tally_merge([1]) FROM range(0)") is None
    got = one(sql, "SELECT tally_histogram(NULL::DOUBLE, 0, 1, 2) FROM range(3)")
    assert (got["counts"], got["nulls"]) == ([0, 0], 3)


def test_sql_around(sql):
    rows = "range(10) r(i)"
    assert one(sql, f"SELECT tally(i, 0, 10, 2) FILTER (i % 2 = 0) FROM {rows}") == [3, 2]
    assert one(sql, f"SELECT tally(DISTINCT i // 2, 0, 10, 2) FROM {rows}") == [5, 0]
    frames = sql.execute(
        f"SELECT tally(i, 0, 10, 2) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM {rows}"
    ).fetchall()
    assert frames == [
        (np.histogram(range(max(0, i - 2), i + 1), 2, (0, 10))[0].tolist(),) for i in range(10)
    ]
    assert one(sql, f"SELECT tally(i, ?, ?, ?) FROM {rows}", 0.0, 10.0, 2) == [5, 5]
    ranges = sql.execute(
        f"SELECT tally(i, lo, lo + 5, 5) FROM {rows}, (VALUES (0), (5)) v(lo) GROUP BY lo ORDER BY lo"
    ).fetchall()
    assert ranges == [([1, 1, 1, 1, 2],), ([1, 1, 1, 1, 1],)]


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1 has no states for these")
def test_one_state_for_all_rows(sql):
    """Whole partitions, and rows in an aggregate's own order."""
    for call, want in [
        ("tally(i, 0, 5000, 2) OVER ()", [2500, 2500]),
        ("tally(i, 0, 5000, 2) OVER (PARTITION BY i % 1)", [2500, 2500]),
        ("tally(i, 0, 5000, 2 ORDER BY i DESC)", [2500, 2500]),
        ("tally_quantile(i, 0.5 ORDER BY i)", 2499.5),
        ("tally_merge([i::UBIGINT] ORDER BY i)", [12497500]),
    ]:
        assert one(sql, f"SELECT {call} FROM range(5000) r(i)") == want


def test_files(sql, tmp_path):
    table(sql, SEED + 2, 10_000)
    want = one(sql, "SELECT tally(x, -3, 3, 12) FROM t")
    for name in ("t.csv", "t.parquet"):
        sql.execute(f"COPY t TO '{tmp_path / name}'")
        assert one(sql, f"SELECT tally(x, -3, 3, 12) FROM '{tmp_path / name}'") == want


def test_merge(sql):
    lists = "(VALUES ([1::UBIGINT, 2]), (NULL), ([3, 4])) v(h)"
    assert one(sql, f"SELECT tally_merge(h) FROM {lists}") == [4, 6]
    assert one(sql, "SELECT tally_merge(h) FROM (VALUES ([0.5::DOUBLE]), ([0.25])) v(h)") == [0.75]
    parts = "SELECT tally_histogram(i, 0, 10, 3) AS h FROM range(20) r(i) GROUP BY i % 7"
    assert one(sql, f"SELECT tally_merge(h) FROM ({parts})") == one(
        sql, "SELECT tally_histogram(i, 0, 10, 3) FROM range(20) r(i)"
    )


@pytest.mark.parametrize(
    "query,words",
    [
        ("tally(i, 0, i, 3)", "the lower end must be below|must be the same in all rows"),
        ("tally(i, i, 10, 3)", "must be the same in all rows"),
        ("tally(i, 1, 0, 3)", "the lower end must be below"),
        ("tally(i, 0, 'nan'::DOUBLE, 3)", "range 0 to nan"),
        ("tally(i, 0, 1, 0)", "bins must be 1 to 16777216"),
        ("tally(i, 0, 1, 16777217)", "bins must be 1 to 16777216"),
        ("tally(i, i, 0, 1, 16777216, 0, 1, 16777216)", "bins|memory"),
        ("tally(i, 0, NULL, 3)", "must not be NULL"),
        ("tally_edges(i, [0])", "needs 2 to 16777216 values"),
        ("tally_edges(i, [0, 2, 1])", "edge"),
        ("tally_edges(i, [0, NULL])", "must not hold a NULL"),
        ("tally_edges(i, NULL)", "must not be NULL"),
        ("tally_edges(i, [0, i])", "must be the same in all rows|edge"),
        ("tally_merge([i, 1][1:1 + i // 2 % 2]::UBIGINT[])", "different numbers of bins"),
        ("tally_merge([NULL]::UBIGINT[])", "must not hold a NULL"),
        ("tally('a', 0, 1, 3)", "Could not choose|No function|Conversion"),
    ],
)
def test_refused(sql, query, words):
    for group in ("", " GROUP BY i % 2"):
        with pytest.raises(duckdb.Error, match=words):
            sql.execute(f"SELECT {query} FROM range(10) r(i){group}").fetchall()
    assert one(sql, "SELECT tally(1, 0, 2, 1)") == [1]  # and the connection works on


def test_different_edges_are_not_merged(sql):
    with pytest.raises(duckdb.Error, match="different edges"):
        sql.execute(
            "SELECT tally_merge(h) FROM (SELECT tally_histogram(i, 0, 2 + i, 2) AS h FROM range(3) r(i) GROUP BY i)"
        ).fetchall()


@pytest.mark.parametrize("field", ["edges", "counts", "below", "above", "nan", "nulls"])
def test_histograms_that_hold_a_null_are_not_merged(sql, field):
    fields = {"edges": "[0.0::DOUBLE, 1]", "counts": "[1::UBIGINT]"}
    fields |= {name: "2::UBIGINT" for name in ("below", "above", "nan", "nulls")}
    fields[field] = f"CASE WHEN i < 3 THEN {fields[field]} END"
    words = ", ".join(f"{name}: {value}" for name, value in fields.items())
    with pytest.raises(duckdb.Error, match="must not hold a NULL"):
        sql.execute(f"SELECT tally_merge({{{words}}}) FROM range(5) r(i)").fetchall()


def test_many_groups(sql):
    got = sql.execute("SELECT tally(i % 10, 0, 10, 10) FROM range(200000) r(i) GROUP BY i // 10").fetchall()
    assert len(got) == 20_000 and all(h == [1] * 10 for (h,) in got)


def test_conservation(sql):
    x, *_ = table(sql, SEED + 3, 100_000)
    got = one(sql, "SELECT tally_histogram(x, -1, 1, 7) FROM t")
    assert sum(got["counts"]) + got["below"] + got["above"] + got["nan"] + got["nulls"] == len(x)
    assert math.isclose(got["edges"][-1], 1)


def test_quantile(sql):
    x, null, key, *_ = table(sql, SEED + 4, 60_000)
    sql.execute("DELETE FROM t WHERE isnan(x) OR isinf(x)")
    x, key = x[~null & np.isfinite(x)], key[~null & np.isfinite(x)]
    q = [0, 0.01, 0.5, 0.9, 1]
    assert one(sql, "SELECT tally_quantile(x, ?) FROM t", q) == np.quantile(x, q).tolist()
    assert one(sql, "SELECT tally_quantile(x, 0.5) FROM t") == one(sql, "SELECT quantile_cont(x, 0.5) FROM t")
    for k, found in sql.execute("SELECT k, tally_quantile(x, 0.3) FROM t GROUP BY k").fetchall():
        assert found == np.quantile(x[key == k], 0.3)
    assert one(sql, "SELECT tally_quantile(i, 0.5) FROM range(7) r(i)") == 3
    assert one(sql, f"SELECT tally_quantile(i + {2**60}, 1) FROM range(7) r(i)") == float(2**60 + 6)
    assert one(sql, "SELECT tally_quantile(NULL::DOUBLE, 0.5)") is None
    assert one(sql, "SELECT tally_quantile(1.5, 0.5) FROM range(0)") is None
    assert math.isnan(one(sql, "SELECT tally_quantile(x, 0.5) FROM (VALUES (1), ('nan'::DOUBLE)) v(x)"))
    for query, words in [("1, 2", "0 to 1"), ("1, NULL", "NULL"), ("1, [0.5, NULL]", "NULL"), ("i, i / 9", "the same")]:
        with pytest.raises(duckdb.Error, match=words):
            sql.execute(f"SELECT tally_quantile({query}) FROM range(4) r(i)").fetchall()
