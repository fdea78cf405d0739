# SPDX-License-Identifier: Apache-2.0
"""Histograms of Spark data frames: partitions are counted where they are, as Arrow's batches, and
the counts are added by the driver. What a task has counted comes with its result, so a task that is
lost and run again is counted once."""

import functools

import numpy as np

import libtally as tally

__all__ = ["histogram"]

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
_ENDS = "least double, most double"
_COUNTS = "counts binary"


def extremes_of(batches):
    """A batch of one row for all of them: the least and the largest sample as float64, NaN where there
    is one; of no sample no row."""
    import pyarrow as pa

    ends = []
    for batch in batches:
        column = batch.column(0).drop_null()
        if len(column):
            values = column.to_numpy(zero_copy_only=False)
            ends += [float(values.min()), float(values.max())]
    if ends:
        yield pa.record_batch({"least": [float(np.min(ends))], "most": [float(np.max(ends))]})


def counts_of(batches, edges):
    """A batch of one row for all of them: the counts between the edges, as bytes of int64."""
    import pyarrow as pa

    total = np.zeros(len(edges) - 1, np.int64)
    for batch in batches:
        total += tally.histogram(batch.column(0), edges, threads=1)[0]
    yield pa.record_batch({"counts": pa.array([total.tobytes()], pa.binary())})


def _numbers(df, column):
    """The column alone, by a name that `mapInArrow` finds; decimals as float64."""
    df = df.select(column).toDF("x")
    ((_, kind),) = df.dtypes
    if kind.startswith("decimal"):
        return df.selectExpr("cast(x as double) x")
    if kind not in _NUMBERS:
        raise TypeError(f"{column}: {kind} is not counted: cast it to a number")
    return df


def histogram(df, column, bins=10, range=None):
    """Counts a numeric column of a Spark data frame in bins.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    column : str or Column
        Integers, floats, booleans, or decimals, which are rounded to float64; nulls are left out.
    bins : int or sequence of float, default 10
        Number of equal bins, or edges.
    range : (float, float), optional
        First and last edge; else the column's extremes, which are found in a pass of their own.

    Returns
    -------
    hist, bin_edges : numpy.ndarray
        As `tally.histogram`'s, on the driver.
    """
    if isinstance(bins, str):
        raise TypeError("a bin rule needs all samples at once: give a number of bins or edges")
    df = _numbers(df, column)
    samples = np.empty(0)
    if np.ndim(bins) == 0 and range is None:
        rows = df.mapInArrow(extremes_of, _ENDS).collect()
        samples = np.array([x for row in rows for x in row], float)
    edges = np.asarray(tally.histogram_bin_edges(samples, bins, range), float)
    rows = df.mapInArrow(functools.partial(counts_of, edges=edges), _COUNTS).collect()
    total = np.zeros(len(edges) - 1, np.int64)
    for row in rows:
        total += np.frombuffer(row[0], np.int64)
    return total, edges
