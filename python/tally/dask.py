"""Histograms of Dask arrays: chunks are counted where they are, and the counts are added in a tree.

Counts are exact and sums are added in the order of the chunks, so that the answer does not depend on
how many workers there are or on who is done first: integer results have the bits of one machine's.
"""

import builtins

import dask
import dask.array as da
import numpy as np
from dask import delayed

import tally

FAN_IN = 8

__all__ = ["histogram", "histogramdd"]


def _add(parts):
    """Counts in the order of the chunks."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _tree(parts):
    """One sum of many, FAN_IN at a time, so that nobody gathers all of them."""
    add = delayed(_add, pure=True)
    while len(parts) > 1:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


def _count(a, w, edges, keywords):
    return tally.histogram(np.asarray(a), edges, weights=w, **keywords)[0]


def _count_points(columns, w, edges, keywords):
    return tally.histogramdd([np.asarray(c) for c in columns], edges, weights=w, **keywords)[0]


def _blocks(a):
    return list(a.to_delayed().ravel())


def _weights(weights, like):
    if weights is None:
        return [None] * len(_blocks(like))
    if weights.shape != like.shape:
        raise ValueError("weights should have the same shape as a.")
    return _blocks(weights.rechunk(like.chunks))


def histogram(a, bins=10, range=None, density=None, weights=None, *, threads=1, method=None):
    """Counts a Dask array in bins, chunk by chunk.

    Parameters
    ----------
    a : dask.array.Array
        Samples of any shape and chunks.
    bins : int or sequence of float, default 10
        Number of equal bins, or edges.
    range : (float, float), optional
        First and last edge; else the array's extremes, which are computed at once.
    density : bool, optional
    weights : dask.array.Array, optional
        A weight for every sample, in the shape of `a`.
    threads : int, default 1
        Most threads that one chunk is counted with: a worker counts several chunks at once.
    method : str, optional
        As for `tally.histogram`.

    Returns
    -------
    hist : dask.array.Array
        As `tally.histogram`'s, not yet computed.
    bin_edges : numpy.ndarray

    Raises
    ------
    TypeError, ValueError
        As `tally.histogram`, and for a rule's name, which needs all samples at once.

    Examples
    --------
    >>> import dask.array as da
    >>> from tally.dask import histogram
    >>> counts, edges = histogram(da.arange(100, chunks=7), bins=4)
    >>> counts.compute()
    array([25, 25, 25, 25])
    """
    edges = _edges(a, bins, range, weights)
    keywords = {"threads": threads, "method": method}
    count = delayed(_count, pure=True)
    parts = [count(x, w, edges, keywords) for x, w in zip(_blocks(a), _weights(weights, a))]
    meta = tally.histogram(
        np.empty(0, a.dtype), edges, weights=None if weights is None else np.empty(0, weights.dtype)
    )[0]
    counts = da.from_delayed(_tree(parts), meta.shape, meta.dtype)
    if density:
        counts = counts / np.array(np.diff(edges), float) / counts.sum()
    return counts, edges


def _edges(a, bins, range, weights):
    """NumPy's edges for the whole array."""
    if isinstance(bins, str):
        raise TypeError("a bin rule needs all samples at once: give a number of bins or edges")
    if np.ndim(bins) == 0 and range is None and a.size:
        ends = np.array(dask.compute(a.min(), a.max()), a.dtype)
        return tally.histogram_bin_edges(ends, bins)
    return tally.histogram_bin_edges(np.empty(0, a.dtype), bins, range)


def histogramdd(sample, bins=10, range=None, density=None, weights=None, *, threads=1, method=None):
    """Counts points in several dimensions, chunk by chunk.

    Parameters
    ----------
    sample : dask.array.Array of shape (N, D), or D of shape (N,)
    bins, range, density, weights
        As for `tally.histogramdd`; weights a Dask array of shape (N,).
    threads, method
        As for `histogram`.

    Returns
    -------
    H : dask.array.Array
        float64, not yet computed.
    edges : list of numpy.ndarray

    Examples
    --------
    >>> import dask.array as da
    >>> from tally.dask import histogramdd
    >>> x = da.arange(8, chunks=3)
    >>> histogramdd([x, x], bins=2)[0].compute()
    array([[4., 0.],
           [0., 4.]])
    """
    columns = _columns(sample)
    edges = _edges_of_points(columns, bins, range)
    keywords = {"threads": threads, "method": method}
    count = delayed(_count_points, pure=True)
    points = zip(*(_blocks(c) for c in columns), _weights(weights, columns[0]))
    parts = [count(list(x), w, edges, keywords) for *x, w in points]
    counts = da.from_delayed(_tree(parts), tuple(len(e) - 1 for e in edges), np.float64)
    if density:
        whole = counts.sum()
        for i, e in enumerate(edges):
            counts = counts / np.diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
        counts = counts / whole
    return counts, edges


def _columns(sample):
    """The coordinates, in the same chunks."""
    if hasattr(sample, "shape"):
        columns = [sample[:, d] for d in builtins.range(sample.shape[1])]
    else:
        columns = list(sample)
    if any(c.shape != columns[0].shape or c.ndim != 1 for c in columns):
        raise ValueError("sample: D arrays of one length are expected")
    return [c.rechunk(columns[0].chunks) for c in columns]


def _edges_of_points(columns, bins, range):
    """NumPy's edges, from the extremes where they are asked for."""
    each = bins if hasattr(bins, "__len__") else [bins] * len(columns)
    ranges = [None] * len(columns) if range is None else range
    asked = any(np.ndim(b) == 0 and r is None for b, r in zip(each, ranges))
    ends = [np.empty(0, c.dtype) for c in columns]
    if asked and columns[0].size:
        found = dask.compute([(c.min(), c.max()) for c in columns])[0]
        ends = [np.array(pair, c.dtype) for pair, c in zip(found, columns)]
    return tally.histogramdd(ends, bins, range)[1]
