# SPDX-License-Identifier: Apache-2.0
"""Spark's partitions, as Arrow's batches: what the workers run, and the driver, without Spark itself."""

import pickle

import numpy as np
import pytest

import libtally as tally
import libtally.spark

pa = pytest.importorskip("pyarrow")
rng = np.random.default_rng(19)


class Row(tuple):
    pass


class Frame:
    """A data frame's three methods, with partitions of batches; functions travel as they would."""

    def __init__(self, partitions):
        self.partitions = partitions

    def select(self, *columns):
        return Frame([[batch.select(list(columns)) for batch in part] for part in self.partitions])

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
