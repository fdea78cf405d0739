# SPDX-License-Identifier: Apache-2.0
"""Histograms of Dask arrays: chunks are counted where they are, and the counts are added in a tree.

Counts are exact and sums are added in the order of the chunks, so that the answer does not depend on
how many workers there are or on who is done first: integer results have the bits of one machine's.
"""

import builtins
import math

import dask
import dask.array as da
import numpy as np
from dask import delayed

import libtally as tally

FAN_IN = 8
EXACT = 1 << 53  # integers beyond may lie outside an end that was rounded to float64

__all__ = ["histogram", "histogramdd"]


# ---- on the workers ----


def _here(block):
    """A chunk where it lies: on a device, or as NumPy's."""
    return block if hasattr(block, "__cuda_array_interface__") else np.asarray(block)


def _home(counts):
    """Counts on the host, whose workers add them."""
    return counts.get() if hasattr(counts, "get") else np.asarray(counts)


def _add(parts):
    """Counts in the order of the chunks."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _extremes(block):
    """(min, max) as NumPy finds them: NaN where there is one; None of nothing."""
    block = _here(block)
    return (_scalar(_home(block.min())), _scalar(_home(block.max()))) if block.size else None


def _outermost(pairs):
    pairs = [pair for pair in pairs if pair is not None]
    if not pairs:
        return None
    return np.min([low for low, _ in pairs]), np.max([high for _, high in pairs])


def _within(columns, ends):
    """What lies between the exact ends is counted, in the outermost bins where a rounded edge misses
    it."""
    if ends is None:
        return {}
    inside = True
    for column, (low, high) in zip(columns, ends):
        inside = (low <= column) & (column <= high) & inside
    return {"where": inside, "flow": "clamp"}


def _count(a, w, edges, ends, keywords):
    a = _here(a)
    return _home(tally.histogram(a, edges, weights=w, **_within([a], ends), **keywords)[0])


def _count_points(columns, w, edges, ends, keywords):
    columns = [_here(c) for c in columns]
    return _home(tally.histogramdd(columns, edges, weights=w, **_within(columns, ends), **keywords)[0])


def _tree(parts, join):
    """One of many, FAN_IN at a time, so that nobody gathers all of them."""
    join = delayed(join, pure=True)
    while len(parts) > 1:
        parts = [join(parts[i : i + FAN_IN]) for i in builtins.range(0, len(parts), FAN_IN)]
    return parts[0]


# ---- before the counting ----


def _blocks(a):
    return list(a.to_delayed().ravel())


def _samples(a):
    """A Dask array of a type that is counted."""
    a = da.asarray(a)
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8:
        as_integers = "; dates can be, as integers: x.astype('M8[s]').astype('i8')"
        raise TypeError(
            f"{a.dtype} samples are not counted chunk by chunk{as_integers * (a.dtype.kind in 'mM')}"
        )
    return a


def _alike(a, like, message):
    """`a` in the chunks of `like`. Where their lengths are not known, the blocks are taken to belong
    together, which their counting checks."""
    a = da.asarray(a)
    known = not any(map(math.isnan, (*a.shape, *like.shape)))
    if known:
        if a.shape != like.shape:
            raise ValueError(message)
        return a.rechunk(like.chunks)
    if a.numblocks != like.numblocks:
        raise ValueError(
            f"{message[:-1]}, but chunks of unknown lengths are not as many: "
            "call compute_chunk_sizes() on both"
        )
    return a


def _weights(weights, like):
    if weights is None:
        return [None] * len(_blocks(like))
    return _blocks(_alike(weights, like, "weights should have the same shape as a."))


def _settled(columns, bins, ranges):
    """Bins and ranges in which nothing is left to compute, and two samples of each column that have
    its extremes, where they are asked for, else none."""
    if any(isinstance(b, str) for b in bins):
        raise TypeError("a bin rule needs all samples at once: give a number of bins or edges")
    bins, ranges = dask.compute(bins, ranges)
    ranges = list(map(_pair, ranges))
    samples = [np.empty(0, c.dtype) for c in columns]
    if any(np.ndim(b) == 0 and r is None for b, r in zip(bins, ranges)):
        one = delayed(_extremes, pure=True)
        found = dask.compute([_tree([one(x) for x in _blocks(c)], _outermost) for c in columns])[0]
        if all(pair is not None for pair in found):
            samples = [np.array(pair, c.dtype) for pair, c in zip(found, columns)]
    return bins, ranges, samples


def _pair(ends):
    """A range as a tuple of two numbers, or None."""
    if ends is not None and (np.ndim(ends) != 1 or len(ends) != 2):
        raise ValueError(f"range={ends!r}: two numbers are expected")
    return None if ends is None else tuple(map(_scalar, ends))


def _scalar(x):
    """NumPy's own where Dask made an array of one; Python's numbers stay, which have no type to NumPy."""
    return x[()] if isinstance(x, np.ndarray) else x


def _ends(bins, ranges, samples, edges):
    """What is counted along each axis, if the edges do not say it: integers beyond 2^53."""
    ends, rounded = [], False
    for b, r, s, e in zip(bins, ranges, samples, edges):
        pair = r if r is not None else s if len(s) else None
        if np.ndim(b) == 0 and pair is not None and all(np.issubdtype(type(x), np.integer) for x in pair):
            ends.append((int(pair[0]), int(pair[1])))
            rounded |= max(map(abs, ends[-1])) > EXACT
        elif s.dtype.kind in "iu" and np.isfinite(e[[0, -1]]).all():
            ends.append((math.ceil(e[0]), math.floor(e[-1])))
        else:
            ends.append((e[0], e[-1]))
    return ends if rounded else None


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
    >>> from libtally.dask import histogram
    >>> counts, edges = histogram(da.arange(100, chunks=7), bins=4)
    >>> counts.compute()
    array([25, 25, 25, 25])
    """
    a = _samples(a)
    (bins,), (range,), (samples,) = _settled([a], [bins], [range])
    edges = tally.histogram_bin_edges(samples, bins, range)
    ends = _ends([bins], [range], [samples], [edges])
    keywords = {"threads": threads, "method": method}
    weights = None if weights is None else da.asarray(weights)
    nothing = None if weights is None else np.empty(0, weights.dtype)
    meta = tally.histogram(np.empty(0, a.dtype), edges, weights=nothing, **keywords)[0]
    count = delayed(_count, pure=True)
    parts = [count(x, w, edges, ends, keywords) for x, w in zip(_blocks(a), _weights(weights, a))]
    counts = da.from_delayed(_tree(parts, _add), meta.shape, meta.dtype)
    if density:
        counts = counts / np.array(np.diff(edges), float) / counts.sum()
    return counts, edges


def histogramdd(sample, bins=10, range=None, density=None, weights=None, *, threads=1, method=None):
    """Counts points in several dimensions, chunk by chunk.

    Parameters
    ----------
    sample : dask.array.Array of shape (N, D) or (N,), or D of shape (N,)
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
    >>> from libtally.dask import histogramdd
    >>> x = da.arange(8, chunks=3)
    >>> histogramdd([x, x], bins=2)[0].compute()
    array([[4., 0.],
           [0., 4.]])
    """
    columns = _columns(sample)
    several = isinstance(bins, (list, tuple)) or getattr(bins, "ndim", 0)
    each = list(bins) if several else [bins] * len(columns)
    ranges = [None] * len(columns) if range is None else list(range)
    if len(each) != len(columns) or len(ranges) != len(columns):
        raise ValueError(f"bins and range: one for each of the {len(columns)} axes are expected")
    each, ranges, samples = _settled(columns, each, ranges)
    edges = tally.histogramdd(samples, each, ranges)[1]
    ends = _ends(each, ranges, samples, edges)
    keywords = {"threads": threads, "method": method}
    weights = None if weights is None else da.asarray(weights)
    if weights is not None and weights.dtype.kind == "c":
        raise TypeError("histogramdd: complex weights are not summed")
    nothing = None if weights is None else np.empty(0, weights.dtype)
    meta = tally.histogramdd([s[:0] for s in samples], edges, weights=nothing, **keywords)[0]
    count = delayed(_count_points, pure=True)
    points = zip(*(_blocks(c) for c in columns), _weights(weights, columns[0]))
    parts = [count(list(x), w, edges, ends, keywords) for *x, w in points]
    counts = da.from_delayed(_tree(parts, _add), meta.shape, meta.dtype)
    if density:
        whole = counts.sum()
        for i, e in enumerate(edges):
            counts = counts / np.diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
        counts = counts / whole
    return counts, edges


def _columns(sample):
    """The coordinates, in the same chunks."""
    if not hasattr(sample, "shape"):
        columns = [_samples(x) for x in sample]
    elif sample.ndim == 1:
        columns = [_samples(sample)]
    elif sample.ndim == 2:
        sample = _samples(sample)
        columns = [sample[:, d] for d in builtins.range(sample.shape[1])]
    else:
        raise ValueError(f"sample: an array of shape (N, D) or (N,) is expected, not {sample.shape}")
    message = "sample: D arrays of one length are expected."
    if not columns or any(c.ndim != 1 for c in columns):
        raise ValueError(message)
    return [_alike(c, columns[0], message) for c in columns]
