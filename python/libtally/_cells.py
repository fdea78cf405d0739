# SPDX-License-Identifier: Apache-2.0
"""What a `Hist` keeps in its cells, which are its bins with the flow bins around them."""

from collections import namedtuple

import numpy as np

STORAGES = ("count", "sum", "weight", "mean", "weighted_mean")
_NAMES = {
    "int64": "count", "atomicint64": "count", "double": "sum", "unlimited": "sum",
    "weightedmean": "weighted_mean", **{name: name for name in STORAGES},
}  # fmt: skip

_VIEWED = {  # boost-histogram's fields, of sums, squares, means, deltas
    "weight": ("value", "variance"), "mean": ("count", None, "value", "_sum_of_deltas_squared"),
    "weighted_mean": ("sum_of_weights", "sum_of_weights_squared", "value", "_sum_of_weighted_deltas_squared"),
}  # fmt: skip

_FIELDS = {  # of what is assigned to a cell
    "weight": ("value", "variance"),
    "mean": ("count", "mean", "variance"),
    "weighted_mean": ("sum of weights", "sum of their squares", "mean", "variance"),
}


def storage_named(storage):
    """One of STORAGES, from its name here or in boost-histogram, or from one of boost-histogram's."""
    name = storage
    if not isinstance(storage, str):
        name = (storage if isinstance(storage, type) else type(storage)).__name__
    found = _NAMES.get(name.lower())
    if found is None:
        raise ValueError(f"storage={storage!r}: 'count', 'sum', 'weight', 'mean' or 'weighted_mean'")
    return found


def is_mean(storage):
    return storage in ("mean", "weighted_mean")


class Cells(namedtuple("Cells", "sums squares means deltas")):
    """Arrays of one shape, None where the storage has none.

    sums: int64 counts, or float64 sums of weights. squares: sums of squared weights. means: weighted
    means of what was given as `sample=`, 0 without any; deltas: weighted sums of its squared
    distances from these.
    """

    __slots__ = ()

    @classmethod
    def zeros(cls, storage, shape):
        whole = storage in ("count", "mean")
        if is_mean(storage):  # a cell's fields beside each other: a sample changes all
            n = 3 + (storage == "weighted_mean")
            fields = np.moveaxis(np.zeros((*shape, n)), -1, 0)
            sums = fields[0].view(np.int64) if whole else fields[0]
            return cls(sums, None if whole else fields[1], *fields[-2:])
        return cls(
            np.zeros(shape, np.int64 if whole else np.float64),
            np.zeros(shape) if storage == "weight" else None, None, None,
        )

    def each(self, change):
        """`change` of every array: to one of other places, which adds nothing up."""
        return Cells(*(None if part is None else change(part) for part in self))

    def inside(self):
        """The bins without the flow bins."""
        return self.each(inside)

    def _merged(self, join, spread):
        """Groups of cells as one: `join` adds up each group, `spread` repeats that for its members."""
        sums, squares = join(self.sums), None if self.squares is None else join(self.squares)
        if self.means is None:
            return Cells(sums, squares, None, None)
        means = ratio(join(self.sums * self.means), sums)
        apart = self.deltas + self.sums * (self.means - spread(means)) ** 2
        return Cells(sums, squares, means, join(apart))

    def joined(self, bounds, axis):
        """Cells from each bound up to the next, and to the end, as one."""
        lengths = np.diff([*bounds, self.sums.shape[axis]])
        return self._merged(
            lambda x: np.add.reduceat(x, bounds, axis=axis), lambda x: np.repeat(x, lengths, axis)
        )

    def summed(self, axes):
        """Without these axes."""
        whole = self._merged(lambda x: x.sum(axis=axes, keepdims=True), lambda x: x)
        return whole.each(lambda x: x.sum(axis=axes))

    def add(self, other):
        """Adds in place. (Means by the difference of the two, so that close ones keep their digits.)"""
        if self.means is not None:
            share = ratio(other.sums, self.sums + other.sums)
            apart = other.means - self.means
            self.deltas[...] += other.deltas + apart**2 * self.sums * share
            self.means[...] = np.where(self.sums + other.sums == 0, 0, self.means + apart * share)
        self.sums[...] += other.sums
        if self.squares is not None:
            self.squares[...] += other.squares

    def scale(self, factor):
        """In place; of means what they are the means of, not the weights."""
        first, second = (self.means, self.deltas) if self.means is not None else self[:2]
        np.multiply(first, factor, out=first)
        if second is not None:
            second *= np.square(factor, dtype=float)

    def spread_of_samples(self):
        """Of means the samples' variances, NaN of less than two."""
        n = self.sums if self.squares is None else self.sums - ratio(self.squares, self.sums)
        known = self.sums > 1 if self.squares is None else self.sums**2 > self.squares
        free = n - 1.0 if self.squares is None else n
        return np.divide(self.deltas, free, out=np.full(n.shape, np.nan), where=known)

    def same(self, other):
        return all(
            (a is None) == (b is None) and (a is None or np.array_equal(a, b))
            for a, b in zip(self, other)
        )


def with_spread(sums, squares, means, variances):
    """Cells of means from what `spread_of_samples` tells."""
    free = sums - 1.0 if squares is None else sums - ratio(squares, sums)
    deltas = np.multiply(variances, free, out=np.zeros(sums.shape), where=(free > 0) & np.isfinite(variances))
    return Cells(sums, squares, means, deltas)


def shown(storage, cells):
    """The cells as boost-histogram shows them: of several fields a copy."""
    names = _VIEWED.get(storage)
    if names is None:
        return cells.sums
    made = np.empty(cells.sums.shape, [(name, np.float64) for name in names if name])
    for name, part in zip(names, cells):
        if name:
            made[name] = part
    return made


def assigned(storage, value):
    """Cells from what is assigned to them: an array with boost-histogram's fields, or one whose last
    dimension is the storage's fields if it has several."""
    names = _VIEWED.get(storage, ())
    if value.dtype.names and set(value.dtype.names) == set(filter(None, names)):
        parts = [np.asarray(value[name]) if name else None for name in names]
        return Cells(*(parts + [None] * 2)[:4])
    fields = _FIELDS.get(storage, ())
    n = len(fields)
    if n and (not value.ndim or value.shape[-1] != n):
        raise ValueError(
            f"storage={storage!r}: ({', '.join(fields)}) are expected, as last dimension"
        )
    parts = [value[..., i] for i in range(n)] or [value]
    if storage in ("count", "mean"):
        counts = parts[0]
        whole = counts.astype(np.int64) if counts.dtype.kind in "iufb" else None
        if whole is None or (whole != counts).any() or (whole < 0).any():
            raise ValueError("counts are whole numbers from 0 on")
        parts[0] = whole
    if n < 3:
        return Cells(*(parts + [None] * 3)[:4])
    return with_spread(parts[0], parts[1] if n == 4 else None, *parts[-2:])


def ratio(a, b):
    """a / b, 0 where b is."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=np.asarray(b) != 0)


def inside(cells):
    """An array without the flow bins."""
    return cells[(slice(1, -1),) * cells.ndim]


def sums_of(cells, weights, samples, shape):
    """Cells of the given shape (one dimension) that hold samples with these weights, or None for 1:
    the means twice, the second time from the first."""
    from .functions import bincount  # which asks for NumPy's, where axes.py is not needed

    def total(values):
        return bincount(cells, values, minlength=shape).astype(float)

    w = np.ones(samples.shape) if weights is None else weights
    sums = bincount(cells, minlength=shape) if weights is None else total(w)
    squares = None if weights is None else total(w * w)
    means = ratio(total(w * samples), sums)
    apart = samples - means[cells]
    shift = ratio(total(w * apart), sums)
    apart -= shift[cells]
    return Cells(sums, squares, means + shift, total(w * apart * apart))


def quantile_of(content, edges, q):
    """Where a share q of the bins' content lies below; NaN of none."""
    q = np.asarray(q, float)
    if np.any((q < 0) | (q > 1)) or np.isnan(q).any():
        raise ValueError("quantile: q lies between 0 and 1")
    if (content < 0).any():
        raise ValueError("quantile: a sum of weights is negative")
    below = np.concatenate([[0.0], np.cumsum(content)])
    if not below[-1]:
        return q * np.nan if q.ndim else float("nan")
    wanted = q * below[-1]
    i = np.clip(np.searchsorted(below, wanted, side="left") - 1, 0, len(content) - 1)
    i = np.maximum(i, np.argmax(content > 0))  # q = 0: where the content begins
    x = edges[i] + (wanted - below[i]) / content[i] * (edges[i + 1] - edges[i])
    return x if q.ndim else float(x)
