# SPDX-License-Identifier: Apache-2.0
"""Histograms and quantiles of Dask arrays: chunks are counted where they are, and the counts are added in a tree.

The answer does not depend on the chunks, on how many workers there are or on who is done first: counts
and sums of integers are exact, sums of floats are of whole numbers, for which the largest weight is
computed at once. Only with `method=`, with a weight that is infinite or NaN, or with integers beyond 2^53 as
ends are floats added as such, in the order of the chunks.
"""

import builtins
import math

import dask
import dask.array as da
import numpy as np
from dask import delayed

import libtally as tally
from libtally import _chunk_quantiles, _chunks, _wide

EXACT = 1 << 53  # integers beyond may lie outside an end that was rounded to float64

__all__ = [
    "histogram", "histogramdd", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
]  # fmt: skip


# ---- on the workers ----


def _extremes(block):
    """(min, max) as NumPy finds them: NaN where there is one; None of nothing."""
    (block,) = _chunks.here(block)
    return (_scalar(_chunks.to_host(block.min())), _scalar(_chunks.to_host(block.max()))) if block.size else None


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


def _count(w, edges, ends, keywords, whole, *columns):
    """`whole`: of one column, as whole numbers."""
    *columns, w = _chunks.here(*columns, w)
    keywords = {**_within(columns, ends), **keywords}
    if whole:
        return _chunks.to_host(tally.histogram(columns[0], edges[0], weights=w, **keywords)[0])
    return _chunks.to_host(tally.histogramdd(columns, edges, weights=w, **keywords)[0])


def _limit(w):
    """The largest |weight|; None if one is infinite or NaN."""
    try:
        return _wide.limit(*_chunks.here(w))
    except ValueError:
        return None


def _largest(limits):
    return None if None in limits else builtins.max(limits)


def _sum(w, edges, limit, threads, *columns):
    """Sums of float weights as pairs of words."""
    *columns, w = _chunks.here(*columns, w)
    return _wide.sums(columns, edges, w if w.dtype.itemsize > 2 else w.astype("f4"), limit, threads)


def _rounded(total, limit, shape, dtype):
    return _wide.rounded(total, limit).reshape(shape).astype(dtype)


# ---- before the counting ----


def _total(columns, weights, edges, ends, keywords, meta, whole):
    """The counts or sums of all chunks, as an array like `meta`."""
    points = list(zip(*map(_chunks.blocks, columns)))
    parts = _chunks.weights_of(weights, columns[0])
    limit = None
    floats = weights is not None and weights.dtype.kind == "f" and weights.dtype.itemsize <= 8
    if floats and ends is None and keywords["method"] is None:
        one = delayed(_limit, pure=True)
        limit = _chunks.tree([one(w) for w in parts], _largest).compute()
    if limit is None:
        one = delayed(_count, pure=True)
        counts = _chunks.tree([one(w, edges, ends, keywords, whole, *x) for w, x in zip(parts, points)], _chunks.add)
    else:
        one = delayed(_sum, pure=True)
        sums = [one(w, edges, limit, keywords["threads"], *x) for w, x in zip(parts, points)]
        counts = delayed(_rounded, pure=True)(_chunks.tree(sums, _wide.add), limit, meta.shape, meta.dtype)
    return da.from_delayed(counts, meta.shape, meta.dtype)


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
        found = dask.compute([_chunks.tree([one(x) for x in _chunks.blocks(c)], _outermost) for c in columns])[0]
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
        A weight for every sample, in the shape of `a`. The largest of floats is computed at once.
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
    a = _chunks.as_samples(a)
    (bins,), (range,), (samples,) = _settled([a], [bins], [range])
    edges = tally.histogram_bin_edges(samples, bins, range)
    ends = _ends([bins], [range], [samples], [edges])
    keywords = {"threads": threads, "method": method}
    weights = None if weights is None else da.asarray(weights)
    nothing = None if weights is None else np.empty(0, weights.dtype)
    meta = tally.histogram(np.empty(0, a.dtype), edges, weights=nothing, **keywords)[0]
    counts = _total([a], weights, [edges], ends, keywords, meta, True)
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
    counts = _total(columns, weights, edges, ends, keywords, meta, False)
    if density:
        whole = counts.sum()
        for i, e in enumerate(edges):
            counts = counts / np.diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
        counts = counts / whole
    return counts, edges


def _columns(sample):
    """The coordinates, in the same chunks."""
    if not hasattr(sample, "shape"):
        columns = [_chunks.as_samples(x) for x in sample]
    elif sample.ndim == 1:
        columns = [_chunks.as_samples(sample)]
    elif sample.ndim == 2:
        sample = _chunks.as_samples(sample)
        columns = [sample[:, d] for d in builtins.range(sample.shape[1])]
    else:
        raise ValueError(f"sample: an array of shape (N, D) or (N,) is expected, not {sample.shape}")
    message = "sample: D arrays of one length are expected."
    if not columns or any(c.ndim != 1 for c in columns):
        raise ValueError(message)
    return [_chunks.alike(c, columns[0], message) for c in columns]


# ---- quantiles ----


def quantile(a, q, *, method="linear", weights=None):
    """The q-th quantiles of all samples: what numpy.quantile says of the whole array, to the bit.

    They are found at once, in two readings of the chunks for most data: the second gathers what is near the
    quantiles. Where that is more than 2**24 samples, a reading more counts further bits. The chunks have to be the
    same each time.

    Parameters
    ----------
    a : dask.array.Array
        Samples of any shape and chunks, in the memory of the workers.
    q : float or sequence of float
        From 0 to 1.
    method : str, default "linear"
        As for `numpy.quantile`.
    weights : dask.array.Array, optional
        A weight for every sample, in the shape of `a`; with method="inverted_cdf", as NumPy has it. The chunks
        are read once more, to find the largest.

    Returns
    -------
    numpy.ndarray or scalar

    Examples
    --------
    >>> import dask.array as da
    >>> from libtally.dask import quantile
    >>> quantile(da.arange(101, chunks=7), [0.25, 0.5])
    array([25., 50.])
    """
    return _chunk_quantiles.quantile("quantile", a, q, 1, method, weights=weights)


def percentile(a, q, *, method="linear", weights=None):
    """The q-th percentiles of all samples: `quantile` of q / 100."""
    return _chunk_quantiles.quantile("percentile", a, q, 100, method, weights=weights)


def nanquantile(a, q, *, method="linear", weights=None):
    """`quantile` of what is not NaN."""
    return _chunk_quantiles.quantile("nanquantile", a, q, 1, method, skip=True, weights=weights)


def nanpercentile(a, q, *, method="linear", weights=None):
    """`percentile` of what is not NaN."""
    return _chunk_quantiles.quantile("nanpercentile", a, q, 100, method, skip=True, weights=weights)


def median(a):
    """The median of all samples: numpy.median of the whole array."""
    return _chunk_quantiles.median("median", a)


def nanmedian(a):
    """`median` of what is not NaN."""
    return _chunk_quantiles.median("nanmedian", a, skip=True)
