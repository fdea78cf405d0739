# SPDX-License-Identifier: Apache-2.0
"""Quantiles of a Dask array's samples with weights, by NumPy's rule for them: what `tally.quantile` says of the whole
array. Weights of samples that begin with the same bits, as keys, are added up, then of those that go on alike.

A weight is an integer, one of a float of units (tally_weighted_quantiles in tally/quantile.h). Sums are pairs of
integers, the upper and the lower 32 bits, so that int64 holds them whatever is added.
"""

import numpy as np

import libtally as tally
from libtally import _chunks

_LOW = (1 << 32) - 1


# ---- on the workers ----


def look(x, w):
    """The largest weight of a number, one that is refused or None, and how many numbers and NaN there are."""
    x, w = (block.reshape(-1) for block in _chunks.here(x, w))
    if len(x) != len(w):
        raise ValueError("weights should have the same shape as a.")
    wrong, w = w[~((w >= 0) & (w < np.inf))], w[x == x]
    return (w.max() if len(w) else 0, wrong[0] if len(wrong) else None, len(w), len(x) - len(w))


def looked(parts):
    largest, wrong, numbers, nan = zip(*parts)
    return max(largest), next((w for w in wrong if w is not None), None), sum(numbers), sum(nan)


def _units(w, exponent):
    if w.dtype.kind != "f":
        return w.astype(np.uint64)
    units = np.rint(np.ldexp(w.astype(np.float64), 63 - exponent))
    return np.where((units == 0) & (w > 0), 1, units).astype(np.uint64)


def _inside(x, w, keys_of, exponent, prefixes, shift):
    """Keys that begin with one of the prefixes, which ascend, with which, and their weights."""
    x, w = (block.reshape(-1) for block in _chunks.here(x, w))
    numbers = x == x
    x = np.ascontiguousarray(x[numbers].astype(x.dtype.newbyteorder("="), copy=False))
    keys = keys_of(x.view(f"u{x.dtype.itemsize}"), x.dtype.kind).astype(np.uint64)
    begin = keys >> np.uint64(shift) if shift < 64 else np.zeros(len(keys), np.uint64)
    at = np.minimum(np.searchsorted(prefixes, begin), len(prefixes) - 1)
    inside = prefixes[at] == begin
    return keys[inside], at[inside], _units(w[numbers][inside], exponent)


def count(x, w, keys_of, exponent, prefixes, shift, bits):
    """For each prefix and each value of the `bits` bits above `shift`, behind it: how many keys, and their weights."""
    keys, at, units = _inside(x, w, keys_of, exponent, prefixes, shift + bits)
    cells = at << bits | (keys >> np.uint64(shift)).astype(np.int64) & ((1 << bits) - 1)
    size = len(prefixes) << bits
    high, low = (units >> np.uint64(32)).astype(np.int64), (units & np.uint64(_LOW)).astype(np.int64)
    sums = [tally.histogram(cells, size, (0, size), weights=v, threads=1)[0] for v in (high, low)]
    return add([np.stack([*sums, tally.bincount(cells, minlength=size)])])


def add(parts):
    high, low, counts = sum(parts)
    return np.stack([high + (low >> 32), low & _LOW, counts])


def gather(x, w, keys_of, exponent, prefixes, shift):
    keys, _, units = _inside(x, w, keys_of, exponent, prefixes, shift)
    return np.stack([keys, units])


def gathered(parts):
    return np.concatenate(parts, axis=1)


# ---- where it is asked for ----


class Search:
    """`over(join, one, *how)` calls one(x, w, *how) of each chunk."""

    def __init__(self, over, keys_of, dtype, exponent, most):
        self.over, self.most, self.width = over, most, 8 * dtype.itemsize
        self.how = keys_of, exponent

    def find(self, q):
        """The keys at q[0] …, each above 0 or 0."""
        prefixes, below, at, shift, self.total = np.zeros(1, np.uint64), [0], [0] * len(q), self.width, None
        bits = min(16, shift)
        while True:
            shift -= bits
            table = self.over(add, count, *self.how, prefixes, shift, bits).reshape(3, len(prefixes), 1 << bits)
            sums = [[int(x) for x in part.sum(axis=1)] for part in table[:2]]
            self.total = self.total or (sums[0][0] << 32) + sums[1][0]
            sums = table[:2].cumsum(axis=2)
            keys, starts, inside = [], {}, 0
            for p, share in zip(at, q):
                cell, start = self._first(sums[:, p], below[p], share)
                keys.append(int(prefixes[p]) << bits | cell)
                inside += 0 if keys[-1] in starts else int(table[2, p, cell])
                starts[keys[-1]] = start
            if not shift:
                return np.array(keys, np.uint64)
            ordered = sorted(starts)
            prefixes = np.array(ordered, np.uint64)
            below, at = [starts[key] for key in ordered], [ordered.index(key) for key in keys]
            if inside <= self.most:
                return self._of_few(prefixes, shift, below, at, q)
            bits = min(shift, max(1, 16 - (len(prefixes) - 1).bit_length()))

    def _first(self, sums, below, share):
        """The first cell with which the weights reach the share, and those before it; of cumulated pairs."""
        begin, end = 0, sums.shape[1]

        def until(cell):
            return below + (int(sums[0, cell]) << 32) + int(sums[1, cell])

        while begin < end:
            middle = (begin + end) // 2
            if until(middle) > 0 and float(until(middle)) / float(self.total) >= share:
                end = middle
            else:
                begin = middle + 1
        if begin == sums.shape[1]:
            raise RuntimeError("the samples changed between two readings of the chunks")
        return begin, until(begin - 1) if begin else below

    def _of_few(self, prefixes, shift, below, at, q):
        keys, units = self.over(gathered, gather, *self.how, prefixes, shift)
        order = np.argsort(keys, kind="stable")
        keys, units = keys[order], units[order]
        begins = np.searchsorted(keys >> np.uint64(shift), prefixes)
        found = []
        for p, share in zip(at, q):
            some = units[begins[p] : begins[p + 1] if p + 1 < len(begins) else len(units)]
            sums = np.stack([some >> np.uint64(32), some & np.uint64(_LOW)]).astype(np.int64).cumsum(axis=1)
            found.append(keys[begins[p] + self._first(sums, below[p], share)[0]])
        return np.array(found, np.uint64)
