# SPDX-License-Identifier: Apache-2.0
"""Quantiles of a Dask array. Samples as keys, unsigned integers in their order, are counted by their upper bits. Those
that begin as a wanted one does are gathered; where they are too many, they are counted by the bits that follow.
"""

import functools

import dask.array as da
import numpy as np
from dask import delayed

import libtally as tally
from libtally import _chunks, _heavy
from libtally import quantiles as _quantiles

KEYS = 1 << 24  # so many samples are gathered and sorted; of more, more bits are counted


# ---- on the workers ----


def _bits(block):
    """The bits of a chunk's samples, without NaN, the upper 16 of each or all of 8, and the number of NaN."""
    if hasattr(block, "__cuda_array_interface__"):
        raise TypeError("quantiles of chunks on a device are not found: copy them with map_blocks(cupy.asnumpy)")
    x = _chunks.here(block)[0].reshape(-1)
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


# ---- where they are asked for ----


class _Chunks:
    """All samples of a Dask array, a row."""

    def __init__(self, a):
        self.blocks, self.dtype = _chunks.blocks(a), a.dtype.newbyteorder("=")
        self.bits = min(16, 8 * self.dtype.itemsize)

    def __len__(self):
        return 1

    def look(self, join, one, *how):
        """Each chunk once."""
        one = delayed(one, pure=True)
        return _chunks.tree([one(block, *how) for block in self.blocks], join).compute()

    @functools.cached_property
    def first(self):
        """How many keys begin with each value of `bits` bits, and the number of NaN."""
        counts = self.look(_chunks.add, _count_upper)
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
            table = self.look(_chunks.add, _count_inside, prefixes, shift, bits).reshape(len(prefixes), 1 << bits)
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
    a = _chunks.as_samples(a)
    if a.dtype.kind == "b":
        raise TypeError("booleans have no quantiles: x.astype('u1') has")
    return a


def _whole(a):
    return _Whole(_whole_type(a))


def _weighted(name, a, q, scale, weights, method, skip):
    """As NumPy's quantiles with weights; what it refuses of a few samples is refused so."""
    a = _whole_type(a)
    pairs = list(zip(_chunks.blocks(a), _chunks.weights_of(weights, a)))
    kind, checked = da.asarray(weights).dtype.kind, _quantiles._checked(q, scale)
    alone = functools.partial(getattr(tally, name), q=q, method=method)
    if method != "inverted_cdf" or checked is None or kind not in "biuf":
        return alone(np.zeros(1), weights=np.ones(1, da.asarray(weights).dtype))

    def over(join, one, *how):
        one = delayed(one, pure=True)
        return _chunks.tree([one(x, w, *how) for x, w in pairs] or [one(a, a, *how)], join).compute()

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


def quantile(name, a, q, scale, method, skip=False, weights=None):
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


def median(name, a, skip=False):
    samples = _whole(a)
    found = samples.answer(_quantiles._middle, skip)
    if found is None:
        return getattr(np, name)(np.full(min(1, samples.count), np.nan, samples.dtype))
    return _quantiles._finish(samples, found, (), None)
