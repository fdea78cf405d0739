# SPDX-License-Identifier: Apache-2.0
"""Spark's partitions, as Arrow's batches: what the workers run, and the driver, without Spark itself; and
with it, where it and Java are."""

import decimal
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

    def toDF(self, name):
        return Frame([[batch.rename_columns([name]) for batch in part] for part in self.partitions])

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


def frame(column):
    """In partitions and batches of any length, none among them."""
    cuts = sorted(rng.integers(0, len(column) + 1, 6))
    parts = [column[a:b] for a, b in zip([0, *cuts], [*cuts, len(column)])]
    batches = [pa.record_batch({"other": p, "x": p}) for p in parts]
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
    with pytest.raises(TypeError, match="s: string is not counted"):
        tally.spark.histogram(df.selectExpr("cast(i as string) s"), "s")
    assert tally.spark.histogram(df.where("i > 1000"), "i", 2, (0, 1))[0].tolist() == [0, 0]
    flag = tmp_path / "flag"
    lost = df.select("i").mapInArrow(_dies_once(str(flag)), "i bigint")
    counts, _ = tally.spark.histogram(lost, "i", 7, (-60, 60))  # a worker ends in mid-task: counted once
    np.testing.assert_array_equal(counts, tally.histogram(a.astype(int), 7, (-60, 60))[0])
    assert flag.exists()
