# SPDX-License-Identifier: Apache-2.0
"""Histograms and quantiles of Dask arrays: chunks are counted where they are, and the counts are added in a tree.

The answer does not depend on the chunks, on how many workers there are or on who is done first: counts
and sums of integers are exact, sums of floats are of whole numbers, for which the largest weight is
computed at once. Only with `method=`, with a weight that is infinite or NaN, or with integers beyond 2^53 as
ends are floats added as such, in the order of the chunks.
"""

import builtins
import functools
import math

import dask
import dask.array as da
import numpy as np
from dask import delayed

import libtally as tally
from libtally import _heavy, _wide
from libtally import quantiles as _quantiles

FAN_IN = 8
EXACT = 1 << 53  # integers beyond may lie outside an end that was rounded to float64

KEYS = 1 << 24  # so many samples are gathered and sorted to find quantiles; of more, more bits are counted

__all__ = [
    "histogram", "histogramdd", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
]  # fmt: skip


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


def _count(w, edges, ends, keywords, whole, *columns):
    """`whole`: of one column, as whole numbers."""
    columns = [_here(c) for c in columns]
    keywords = {**_within(columns, ends), **keywords}
    if whole:
        return _home(tally.histogram(columns[0], edges[0], weights=w, **keywords)[0])
    return _home(tally.histogramdd(columns, edges, weights=w, **keywords)[0])


def _limit(w):
    """The largest |weight|; None if one is infinite or NaN."""
    try:
        return _wide.limit(_here(w))
    except ValueError:
        return None


def _largest(limits):
    return None if None in limits else builtins.max(limits)


def _sum(w, edges, limit, threads, *columns):
    """Sums of float weights as pairs of words."""
    columns, w = [_here(c) for c in columns], _here(w)
    return _wide.sums(columns, edges, w if w.dtype.itemsize > 2 else w.astype("f4"), limit, threads)


def _rounded(total, limit, shape, dtype):
    return _wide.rounded(total, limit).reshape(shape).astype(dtype)


def _joined(join, *parts):
    return join(parts)


def _tree(parts, join):
    """One of many, FAN_IN at a time, so that nobody gathers all of them. Each is an argument of its own:
    of a list's Dask takes the whole graph into each task's."""
    joined = delayed(_joined, pure=True)
    while len(parts) > 1:
        parts = [joined(join, *parts[i : i + FAN_IN]) for i in builtins.range(0, len(parts), FAN_IN)]
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


def _total(columns, weights, edges, ends, keywords, meta, whole):
    """The counts or sums of all chunks, as an array like `meta`."""
    points = list(zip(*map(_blocks, columns)))
    parts = _weights(weights, columns[0])
    limit = None
    floats = weights is not None and weights.dtype.kind == "f" and weights.dtype.itemsize <= 8
    if floats and ends is None and keywords["method"] is None:
        one = delayed(_limit, pure=True)
        limit = _tree([one(w) for w in parts], _largest).compute()
    if limit is None:
        one = delayed(_count, pure=True)
        counts = _tree([one(w, edges, ends, keywords, whole, *x) for w, x in zip(parts, points)], _add)
    else:
        one = delayed(_sum, pure=True)
        sums = [one(w, edges, limit, keywords["threads"], *x) for w, x in zip(parts, points)]
        counts = delayed(_rounded, pure=True)(_tree(sums, _wide.add), limit, meta.shape, meta.dtype)
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
    a = _samples(a)
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


# ---- quantiles: samples as keys, unsigned integers in their order, are counted by their upper bits; what begins as a
# wanted one does is gathered, or where that is too much counted by the bits that follow ----


def _bits(block):
    """The bits of a chunk's samples, without NaN, the upper 16 of each or all of 8, and the number of NaN."""
    if hasattr(block, "__cuda_array_interface__"):
        raise TypeError("quantiles of chunks on a device are not found: copy them with map_blocks(cupy.asnumpy)")
    x = np.asarray(block).reshape(-1)
    x, nan = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("="), copy=False)), 0
    if x.dtype.kind == "f":
        missing = np.isnan(x)
        nan = int(np.count_nonzero(missing))
        x = x[~missing] if nan else x
    halves = x.dtype.itemsize // 2
    return x.view(f"u{x.dtype.itemsize}"), x.view(np.uint16)[halves - 1 :: halves] if halves else x.view(np.uint8), nan


def _keys(bits, kind):
    """The keys of samples, by their bits; or the upper parts of both."""
    top = bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))
    if kind == "f":
        return np.where(bits & top, ~bits, bits | top)
    return bits ^ top if kind == "i" else bits


def _numbers(keys, dtype):
    """The samples of keys."""
    top = np.uint64(1 << (8 * dtype.itemsize - 1))
    if dtype.kind == "f":
        keys = np.where(keys & top, keys ^ top, ~keys)
    elif dtype.kind == "i":
        keys = keys ^ top
    return keys.astype(f"u{dtype.itemsize}").view(dtype)


def _count_upper(block):
    """How many keys have each value of their upper bits, in order; and the number of NaN."""
    _, upper, nan = _bits(block)
    cells = np.arange(1 << 8 * upper.dtype.itemsize, dtype=upper.dtype)
    counts = np.empty(len(cells) + 1, np.int64)
    counts[_keys(cells, block.dtype.kind)] = tally.bincount(upper, minlength=len(cells))
    counts[-1] = nan
    return counts


def _inside(block, prefixes, shift):
    """The keys that begin with one of the prefixes, which ascend, and with which."""
    bits, upper, _ = _bits(block)
    kind, width = block.dtype.kind, 8 * bits.dtype.itemsize
    wanted = np.zeros(1 << 16, bool)
    wanted[prefixes >> np.uint64(width - shift - 16)] = True
    keys = _keys(bits[wanted[_keys(np.arange(1 << 16, dtype=np.uint16), kind)][upper]], kind)
    begin = keys >> keys.dtype.type(shift)
    at = np.minimum(np.searchsorted(prefixes.astype(keys.dtype), begin), len(prefixes) - 1)
    inside = prefixes[at] == begin
    return keys[inside], at[inside]


def _count_inside(block, prefixes, shift, bits):
    """For each prefix how many keys go on with each value of `bits` bits above `shift`."""
    keys, at = _inside(block, prefixes, shift + bits)
    cells = (keys >> keys.dtype.type(shift)).astype(np.int64) & ((1 << bits) - 1)
    return tally.bincount(at << bits | cells, minlength=len(prefixes) << bits)


def _keep_inside(block, prefixes, shift):
    return _inside(block, prefixes, shift)[0]


class _Chunks:
    """All samples of a Dask array, a row."""

    def __init__(self, a):
        self.blocks, self.dtype = _blocks(a), a.dtype.newbyteorder("=")
        self.bits = min(16, 8 * self.dtype.itemsize)

    def __len__(self):
        return 1

    def look(self, join, one, *how):
        """Each chunk once."""
        one = delayed(one, pure=True)
        return _tree([one(block, *how) for block in self.blocks], join).compute()

    @functools.cached_property
    def first(self):
        """How many keys begin with each value of `bits` bits, and the number of NaN."""
        counts = self.look(_add, _count_upper)
        return counts[:-1], int(counts[-1])

    def order_statistics(self, ranks):
        ranks, (table, nan) = ranks.astype(np.int64), self.first
        found, numbers = np.empty((1, len(ranks)), self.dtype), ranks < table.sum()
        found[0, numbers] = _numbers(self.find(ranks[numbers]), self.dtype)
        if nan:
            found[0, ~numbers] = np.nan
        return found, np.array([nan], np.uint64)

    def find(self, ranks):
        """The keys of ranks."""
        table, bits, shift = self.first[0][None], self.bits, 8 * self.dtype.itemsize - self.bits
        prefixes, below, at = np.zeros(1, np.uint64), np.zeros(1, np.int64), np.zeros(len(ranks), np.intp)
        while len(ranks):
            ends = below[:, None] + table.cumsum(axis=1)
            cell = np.array([np.searchsorted(ends[i], rank, side="right") for i, rank in zip(at, ranks)])
            _unchanged((cell < table.shape[1]).all())
            keys = prefixes[at] << np.uint64(bits) | cell.astype(np.uint64)
            if not shift:
                return keys
            prefixes, one, again = np.unique(keys, return_index=True, return_inverse=True)
            counts = table[at, cell][one]
            below, at = ends[at, cell][one] - counts, again.reshape(-1)
            if counts.sum() <= KEYS:
                kept = np.sort(self.look(np.concatenate, _keep_inside, prefixes, shift))
                _unchanged(len(kept) == counts.sum())
                return kept[ranks + (counts.cumsum() - counts - below)[at]].astype(np.uint64)
            bits = min(shift, max(1, 16 - (len(prefixes) - 1).bit_length()))
            shift -= bits
            table = self.look(_add, _count_inside, prefixes, shift, bits).reshape(len(prefixes), 1 << bits)
        return np.empty(0, np.uint64)


def _unchanged(same):
    if not same:
        raise RuntimeError("the samples changed between two readings of the chunks")


class _Whole(_quantiles._Samples):
    """A Dask array's samples, as those of an array are."""

    def __init__(self, a):
        self.rows = _Chunks(a)
        self.dtype, self.home, self.there, self.kept = self.rows.dtype, _quantiles._arrays.NUMPY, False, ()

    @functools.cached_property
    def count(self):
        table, nan = self.rows.first
        return int(table.sum()) + nan

    def answer(self, of_rows, skip):
        return super().answer(of_rows, skip) if self.count else None


def _whole_type(a):
    a = _samples(a)
    if a.dtype.kind == "b":
        raise TypeError("booleans have no quantiles: x.astype('u1') has")
    return a


def _whole(a):
    return _Whole(_whole_type(a))


def _weighted(name, a, q, scale, weights, method, skip):
    """As NumPy's quantiles with weights; what it refuses of a few samples is refused so."""
    a = _whole_type(a)
    pairs = list(zip(_blocks(a), _weights(weights, a)))
    kind, checked = da.asarray(weights).dtype.kind, _quantiles._checked(q, scale)
    alone = functools.partial(getattr(tally, name), q=q, method=method)
    if method != "inverted_cdf" or checked is None or kind not in "biuf":
        return alone(np.zeros(1), weights=np.ones(1, da.asarray(weights).dtype))

    def over(join, one, *how):
        one = delayed(one, pure=True)
        return _tree([one(x, w, *how) for x, w in pairs] or [one(a, a, *how)], join).compute()

    largest, wrong, numbers, nan = over(_heavy.looked, _heavy.look)
    dtype = a.dtype.newbyteorder("=")
    few = wrong if wrong is not None else largest if not largest else None
    if few is not None or not numbers or (nan and not skip):
        x = np.full(min(1, numbers + nan), np.nan if nan and not (skip and numbers) else 0, dtype)
        return alone(x, weights=np.full(len(x), 1 if few is None else few))
    exponent = int(np.frexp(np.float64(largest))[1]) if kind == "f" else 0
    search = _heavy.Search(over, _keys, dtype, exponent, KEYS)
    found = search.find(_quantiles._reached(np.atleast_1d(checked)).tolist())
    return _numbers(found, dtype).reshape(checked.shape)[()]


def _quantile(name, a, q, scale, method, skip=False, weights=None):
    if weights is not None:
        return _weighted(name, a, q, scale, weights, method, skip)
    samples, theirs = _whole(a), functools.partial(getattr(np, name), method=method)
    if method not in _quantiles._PLACES:
        return theirs(np.zeros(1, samples.dtype), q)  # which refuses it
    if np.asanyarray(q).dtype.kind not in "iuf":
        raise TypeError(f"q={q!r}: numbers are expected")
    found = _quantiles.of_samples(samples, q, scale, method, skip)
    if found is None:
        return theirs(np.full(min(1, samples.count), np.nan, samples.dtype), q)  # with its warning or error
    return _quantiles._finish(samples, *found, None)


def _median(name, a, skip=False):
    samples = _whole(a)
    found = samples.answer(_quantiles._middle, skip)
    if found is None:
        return getattr(np, name)(np.full(min(1, samples.count), np.nan, samples.dtype))
    return _quantiles._finish(samples, found, (), None)


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
    return _quantile("quantile", a, q, 1, method, weights=weights)


def percentile(a, q, *, method="linear", weights=None):
    """The q-th percentiles of all samples: `quantile` of q / 100."""
    return _quantile("percentile", a, q, 100, method, weights=weights)


def nanquantile(a, q, *, method="linear", weights=None):
    """`quantile` of what is not NaN."""
    return _quantile("nanquantile", a, q, 1, method, skip=True, weights=weights)


def nanpercentile(a, q, *, method="linear", weights=None):
    """`percentile` of what is not NaN."""
    return _quantile("nanpercentile", a, q, 100, method, skip=True, weights=weights)


def median(a):
    """The median of all samples: numpy.median of the whole array."""
    return _median("median", a)


def nanmedian(a):
    """`median` of what is not NaN."""
    return _median("nanmedian", a, skip=True)
