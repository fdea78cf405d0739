# SPDX-License-Identifier: Apache-2.0
"""Histograms of Spark data frames: partitions are counted where they are, as Arrow's batches, and
the counts are added by the driver. What a task has counted comes with its result, so a task that is
lost and run again is counted once."""

import builtins
import functools

import numpy as np

import libtally as tally

from . import _wide

__all__ = ["histogram", "histogramdd"]

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
_FLOATS = ("float", "double")
_COUNTS = "counts binary"


# ---- on the workers ----


def _rows(batch):
    """The columns of the rows without a null, as NumPy's."""
    import pyarrow.compute as pc

    present = [column.is_valid() for column in batch.columns if column.null_count]
    if present:
        batch = batch.filter(functools.reduce(pc.and_, present))
    columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
    return [x.astype(np.uint8) if x.dtype.kind == "b" else x for x in columns]


def extremes_of(batches, names):
    """A batch of one row for all of them: of each column the least and the largest number as float64, NaN
    where there is one; of no rows no row."""
    import pyarrow as pa

    ends = []
    for batch in batches:
        columns = _rows(batch)
        if len(columns[0]):
            ends.append([end for x in columns for end in (float(x.min()), float(x.max()))])
    if ends:
        ends = np.array(ends)
        found = [(np.max if d % 2 else np.min)(ends[:, d]) for d in range(ends.shape[1])]
        yield pa.record_batch({name: [float(x)] for name, x in zip(names, found)})


def counts_of(batches, edges, how):
    """A batch of one row for all of them, bytes: counts or sums as int64, or sums of floats as pairs."""
    import pyarrow as pa

    weighted, limit = how
    total = _nothing(edges, limit)
    for batch in batches:
        *columns, weights = [*_rows(batch), *([] if weighted else [None])]
        total = _add([total, _count(columns, edges, weights, limit)], limit)
    yield pa.record_batch({"counts": pa.array([total.tobytes()], pa.binary())})


def _nothing(edges, limit):
    cells = int(np.prod([len(e) - 1 for e in edges]))
    return np.zeros(cells, np.int64) if limit is None else np.zeros((cells, 2), np.uint64)


def _count(columns, edges, weights, limit):
    if limit is not None:
        w = weights if weights.dtype.kind == "f" else weights.astype(float)
        return _wide.sums(columns, edges, w, limit, 1)
    if len(columns) == 1:
        return tally.histogram(columns[0], edges[0], weights=weights, threads=1)[0]
    return tally.histogramdd(columns, edges, threads=1)[0].astype(np.int64).reshape(-1)


def _add(parts, limit):
    """Their sum; of integers refused where int64 does not hold it."""
    if limit is not None:
        return _wide.add(parts)
    low = sum(part & 0xFFFFFFFF for part in parts)
    high = sum(part >> 32 for part in parts) + (low >> 32)
    if len(high) and not -(1 << 31) <= high.min() <= high.max() < 1 << 31:
        raise OverflowError("weights: the sum of a bin passes int64")
    return high << 32 | low & 0xFFFFFFFF


# ---- on the driver ----


def _numbers(df, columns):
    """The columns alone, by names that `mapInArrow` finds; decimals as float64."""
    names = [f"x{i}" for i in builtins.range(len(columns))]
    df = df.select(*columns).toDF(*names)
    for column, (_, kind) in zip(columns, df.dtypes):
        if not kind.startswith("decimal") and kind not in _NUMBERS:
            raise TypeError(f"{column}: {kind} is not counted: cast it to a number")
    kinds = dict(df.dtypes)
    if any(kind.startswith("decimal") for kind in kinds.values()):
        casts = [f"cast({n} as double) {n}" if k.startswith("decimal") else n for n, k in kinds.items()]
        return df.selectExpr(*casts), [k.startswith("decimal") or k in _FLOATS for k in kinds.values()]
    return df, [k in _FLOATS for k in kinds.values()]


def _extremes(df, dimensions, weighted):
    """Of each column two samples that have its extremes, none of nothing; the largest |weight|."""
    names = [f"{end}{i}" for i in builtins.range(dimensions + weighted) for end in ("least", "most")]
    schema = ", ".join(f"{name} double" for name in names)
    rows = df.mapInArrow(functools.partial(extremes_of, names=names), schema).collect()
    rows = np.array([list(row) for row in rows], float).reshape(len(rows), dimensions + weighted, 2)
    limit = None
    if weighted:
        limit = _wide.limit(np.ascontiguousarray(rows[:, dimensions]).reshape(-1))
    return [np.ascontiguousarray(rows[:, d]).reshape(-1) for d in builtins.range(dimensions)], limit


def _counted(df, columns, bins, ranges, weights, whole):
    """Counts or sums, flat, and the edges; integers are summed as such if `whole`."""
    if any(isinstance(b, str) for b in bins):
        raise TypeError("a bin rule needs all samples at once: give a number of bins or edges")
    weighted = weights is not None
    df, floats = _numbers(df, [*columns, weights] if weighted else columns)
    limited = weighted and (floats[-1] or not whole)
    samples, limit = [np.empty(0)] * len(columns), None
    if limited or any(np.ndim(b) == 0 and r is None for b, r in zip(bins, ranges)):
        samples, limit = _extremes(df, len(columns), weighted)
    limit = limit if limited else None
    edges = [
        np.asarray(tally.histogram_bin_edges(x, b, r), float) for x, b, r in zip(samples, bins, ranges)
    ]
    count = functools.partial(counts_of, edges=edges, how=(weighted, limit))
    rows = df.mapInArrow(count, _COUNTS).collect()
    empty = _nothing(edges, limit)
    parts = [np.frombuffer(row[0], empty.dtype).reshape(empty.shape) for row in rows]
    total = _add([empty, *parts], limit)
    return total if limit is None else _wide.rounded(total, limit), edges


def histogram(df, column, bins=10, range=None, weights=None):
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
    weights : str or Column, optional
        A weight for every row; rows where it is null are left out. Sums of floats have the same
        bits for any partitions, by a limit of the weights that a pass of their own finds.

    Returns
    -------
    hist, bin_edges : numpy.ndarray
        As `tally.histogram`'s, on the driver.
    """
    total, (edges,) = _counted(df, [column], [bins], [range], weights, True)
    return total, edges


def histogramdd(df, columns, bins=10, range=None, weights=None):
    """Counts the points of several numeric columns of a Spark data frame.

    Parameters
    ----------
    df, weights
        As for `histogram`; a row with a null in one of the columns is left out.
    columns : sequence of str or Column
    bins : int or sequence, default 10
        One number of bins, or for each column a number or edges.
    range : sequence, optional
        For each column None or its first and last edge.

    Returns
    -------
    H, edges
        As `tally.histogramdd`'s, on the driver.
    """
    columns = list(columns)
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * len(columns)
    ranges = [None] * len(columns) if range is None else list(range)
    if not columns or len(each) != len(columns) or len(ranges) != len(columns):
        raise ValueError(f"bins and range: one for each of the {len(columns)} columns are expected")
    total, edges = _counted(df, columns, each, ranges, weights, False)
    return total.astype(float).reshape([len(e) - 1 for e in edges]), edges
