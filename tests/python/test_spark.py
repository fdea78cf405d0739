# SPDX-License-Identifier: Apache-2.0
"""Spark's partitions, as Arrow's batches: what the workers run, and the driver, without Spark itself; and
with it, where it and Java are."""

import decimal
import math
import os
import pickle
import shutil
import sys

import numpy as np
import pytest

import libtally as tally
import libtally.spark

pa = pytest.importorskip("pyarrow")
rng = np.random.default_rng(19)


class Row(tuple):
    pass


class Frame:
    """A data frame's methods that are called, with partitions of batches; functions travel as they would."""

    types = {"uint8": "smallint", "int32": "int", "int64": "bigint", "float": "float", "double": "double"}

    def __init__(self, partitions):
        self.partitions = partitions

    def select(self, *columns):
        return Frame([[batch.select(list(columns)) for batch in part] for part in self.partitions])

    def toDF(self, *names):
        return Frame([[batch.rename_columns(list(names)) for batch in part] for part in self.partitions])

    @property
    def dtypes(self):
        schema = next(batch.schema for part in self.partitions for batch in part)
        return [(field.name, self.types.get(str(field.type), str(field.type))) for field in schema]

    def mapInArrow(self, function, schema):
        function = pickle.loads(pickle.dumps(function))
        found = [list(function(iter(part))) for part in self.partitions]
        names = [word.split()[0] for word in schema.split(", ")]
        assert all(batch.schema.names == names for part in found for batch in part)
        return Frame(found)

    def collect(self):
        return [
            Row(row.values()) for part in self.partitions for batch in part for row in batch.to_pylist()
        ]


def frame(column, **others):
    """In partitions and batches of any length, none among them."""
    cuts = sorted(rng.integers(0, len(column) + 1, 6))
    whole = pa.record_batch({"other": column, "x": column, **others})
    batches = [whole.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, len(column)])]
    return Frame([batches[:2], [], batches[2:3], batches[3:]])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1"])
@pytest.mark.parametrize("keywords", [{}, {"bins": 33, "range": (5, 99)}, {"bins": [0, 1, 7.5, 100]}])
def test_histogram(dtype, keywords):
    a = (rng.random(5000) * 120).astype(dtype)
    counts, edges = tally.spark.histogram(frame(pa.array(a)), "x", **keywords)
    ours, theirs = tally.histogram(a.astype("f8"), **keywords)
    np.testing.assert_array_equal(edges, theirs)
    np.testing.assert_array_equal(counts, ours)


def test_nulls_and_nothing():
    a = pa.array([1.0, None, 3.0, None, 2.0, 2.5])
    counts, edges = tally.spark.histogram(frame(a), "x", 2)
    assert counts.tolist() == [1, 3] and edges.tolist() == [1, 2, 3]
    none = frame(pa.array([], pa.float64()))
    assert tally.spark.histogram(none, "x", 3)[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="range"):
        tally.spark.histogram(frame(pa.array([1.0, np.nan])), "x")
    with pytest.raises(TypeError, match="rule"):
        tally.spark.histogram(none, "x", "auto")
    with pytest.raises(TypeError, match="x: string is not counted"):
        tally.spark.histogram(frame(pa.array(["a"])), "x")


def missing(values, share=0.1):
    return pa.array(values, mask=rng.random(len(values)) < share)


def both(*columns):
    """The rows without a null, as NumPy's."""
    present = np.logical_and.reduce([np.asarray(c.is_valid()) for c in columns])
    return [c.filter(pa.array(present)).to_numpy() for c in columns]


def test_weights():
    x, heavy = missing(rng.random(5000) * 120), 10.0 ** rng.uniform(-12, 3, 5000)
    for w in (missing(heavy), missing(heavy.astype("f4")), missing(rng.integers(-(1 << 60), 1 << 60, 5000) // 5000)):
        found = [tally.spark.histogram(frame(x, w=w), "x", 9, weights="w") for _ in range(4)]
        samples, weights = both(x, w)
        edges = tally.histogram_bin_edges(samples, 9)
        at = np.minimum(np.digitize(samples, edges) - 1, 8)
        kind = weights.dtype.kind
        exact = [(math.fsum if kind == "f" else sum)(weights[at == b].tolist()) for b in range(9)]
        for sums, theirs in found:  # the bits of one sum, however the rows lie in partitions
            np.testing.assert_array_equal(theirs, edges)
            assert sums.tobytes() == found[0][0].tobytes()
            assert sums.dtype == ("f8" if kind == "f" else "i8")
            np.testing.assert_allclose(sums, exact, rtol=1e-15 if kind == "f" else 0)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="infinite or NaN"):
            tally.spark.histogram(frame(pa.array([1.0, 2.0]), w=pa.array([1, wrong])), "x", 2, weights="w")
    large = frame(pa.array([1, 1, 1, 2]), w=pa.array([1 << 62] * 4))
    with pytest.raises(OverflowError, match="passes int64"):
        tally.spark.histogram(large, "x", [1, 2, 3], weights="w")
    assert tally.spark.histogram(large, "x", [2, 3], weights="w")[0].tolist() == [1 << 62]
    empty = frame(pa.array([], pa.float64()), w=pa.array([], pa.float64()))
    assert tally.spark.histogram(empty, "x", 2, (0, 1), weights="w")[0].tolist() == [0, 0]


@pytest.mark.parametrize("weighted", [None, "f8", "i4"])
def test_several_columns(weighted):
    x, y = missing(rng.normal(0, 9, 5000)), missing(rng.integers(-9, 9, 5000))
    w = missing((rng.random(5000) * 99 - 50).astype(weighted or "f8"))
    columns = both(x, y, *([w] if weighted else []))
    for bins, ranges in ((7, None), ([3, [-9, 0, 2.5, 8]], [(-5, 5), None])):
        ours, edges = tally.spark.histogramdd(
            frame(x, y=y, w=w), ["x", "y"], bins, ranges, weights="w" if weighted else None
        )
        theirs, others = np.histogramdd(columns[:2], bins, ranges, weights=columns[2] if weighted else None)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12 if weighted == "f8" else 0, atol=1e-10)
        for a, b in zip(edges, others):
            np.testing.assert_allclose(a, b, rtol=1e-15)
    with pytest.raises(ValueError, match="one for each of the 2 columns"):
        tally.spark.histogramdd(frame(x, y=y), ["x", "y"], [1, 2, 3])


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if not shutil.which("java"):
        pytest.skip("no Java here")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    words = {"ui.enabled": "false", "ui.showConsoleProgress": "false",
             "driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1"}  # fmt: skip
    builder = sql.SparkSession.builder.master("local[2,4]")  # a task is tried four times
    for word, value in words.items():
        builder = builder.config(f"spark.{word}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def _dies_once(flag):
    def run(batches):
        if not os.path.exists(flag):
            with open(flag, "x"):
                os._exit(9)
        yield from batches

    return run


def test_spark_itself(spark, tmp_path):
    a = rng.normal(0, 50, 3000)
    rows = [(x, int(x), decimal.Decimal(f"{x:.2f}"), x > 0, None if x < 0 else x) for x in a.tolist()]
    df = spark.createDataFrame(rows, "`a.b` double, i bigint, d decimal(9,2), b boolean, n double")
    columns = {
        "`a.b`": a, "i": a.astype(int), "d": np.round(a, 2), "n": a[a >= 0], "b": (a > 0).astype("u1")
    }  # fmt: skip
    for column, samples in columns.items():
        between = (samples.min(), samples.max()) if column in "in" else None
        counts, edges = tally.spark.histogram(df, column, 9, between)
        ours, theirs = tally.histogram(samples.astype(float), 9)
        np.testing.assert_array_equal(edges, theirs)
        np.testing.assert_array_equal(counts, ours)
    counts, _ = tally.spark.histogram(df, df.i + 1, 7, (-60, 60))
    np.testing.assert_array_equal(counts, tally.histogram(a.astype(int) + 1, 7, (-60, 60))[0])
    weights = np.round(a, 2)
    one = tally.spark.histogram(df, "i", 7, (-60, 60), weights="d")[0]
    np.testing.assert_allclose(one, np.histogram(a.astype(int), 7, (-60, 60), weights=weights)[0], rtol=1e-12)
    for parts in (1, 3, 7):
        many = tally.spark.histogram(df.repartition(parts), "i", 7, (-60, 60), weights="d")[0]
        assert many.tobytes() == one.tobytes()
    table, _ = tally.spark.histogramdd(df, ["i", df.n / 2], [3, 4], [(-60, 60), (0, 60)])
    some = a[a >= 0]
    np.testing.assert_array_equal(
        table, np.histogramdd([some.astype(int), some / 2], [3, 4], [(-60, 60), (0, 60)])[0]
    )
    with pytest.raises(TypeError, match="s: string is not counted"):
        tally.spark.histogram(df.selectExpr("cast(i as string) s"), "s")
    assert tally.spark.histogram(df.where("i > 1000"), "i", 2, (0, 1))[0].tolist() == [0, 0]
    flag = tmp_path / "flag"
    lost = df.select("i").mapInArrow(_dies_once(str(flag)), "i bigint")
    counts, _ = tally.spark.histogram(lost, "i", 7, (-60, 60))  # a worker ends in mid-task: counted once
    np.testing.assert_array_equal(counts, tally.histogram(a.astype(int), 7, (-60, 60))[0])
    assert flag.exists()
