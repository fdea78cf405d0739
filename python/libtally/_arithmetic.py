# SPDX-License-Identifier: Apache-2.0
"""Histograms added up, subtracted and scaled."""

import numbers
import operator

import numpy as np

from ._cells import Cells, is_mean
from ._core import Flows

_NEGATIVE = "counts would be negative: subtract with storage='sum' or 'weight'"


def _is_factor(x):
    return isinstance(x, numbers.Real) or (isinstance(x, np.ndarray) and x.dtype.kind in "iufb")


def _product(a, b):
    found = a * b
    if found.dtype.kind == "i" and (np.abs(a.astype(float) * b) >= 2.0**63).any():
        raise OverflowError("a product of counts is beyond 64 bits")
    return found


class Arithmetic:
    """What `Hist` has of it. NumPy's arrays leave it to this."""

    __array_ufunc__ = None

    def _alike(self, other):
        """This one and another one on the axes of both, which are the same or have grown from the same."""
        axes = [a if a == b else a.union(b) for a, b in zip(self.axes, other.axes)]
        if len(self.axes) != len(other.axes) or None in axes:
            return self, other
        return [h if h.axes == tuple(axes) else h._on(axes) for h in (self, other)]

    def _like(self, other):
        """Refuses another one that cannot be added up with this one, bin by bin."""
        if self.storage != other.storage:
            raise ValueError(f"one holds {self.storage}s, the other {other.storage}s")
        if self.axes != other.axes:
            raise ValueError(
                "the axes differ: only histograms of the same edges, whose last bins both take their "
                "end or both do not, are added"
            )

    def __iadd__(self, other):
        """Another one, or a number, which is added to every cell, flow bins too, or an array with one for
        each bin; these have their squares as variances."""
        if not isinstance(other, Arithmetic):
            return self._shifted(np.add, other)
        mine, other = self._alike(other)
        mine._like(other)
        if mine is not self:
            self.axes, self._cells, self._filler = mine.axes, mine._cells, None
        self._cells.add(other._cells)
        self.flows = Flows(*map(operator.add, self.flows, other.flows))
        return self

    def __add__(self, other):
        return self.copy().__iadd__(other)

    __radd__ = __add__  # for sum() too

    def __isub__(self, other):
        """Counts without another one's, which are among them; of sums the difference, whose sums of
        squared weights (and numbers of samples in `flows`) add up. Or a number or an array, as for `+`."""
        if not isinstance(other, Arithmetic):
            return self._shifted(np.subtract, other)
        if is_mean(self.storage):
            raise TypeError("means are not subtracted")
        self._like(other)
        counts = self.storage == "count"
        sums, theirs = self._cells.sums, other._cells.sums
        if counts and ((sums < theirs).any() or any(map(operator.lt, self.flows, other.flows))):
            raise ValueError(_NEGATIVE)
        sums -= theirs
        if self._cells.squares is not None:
            self._cells.squares[...] += other._cells.squares
        self.flows = Flows(*map(operator.sub if counts else operator.add, self.flows, other.flows))
        return self

    def __sub__(self, other):
        return self.copy().__isub__(other)

    def __rsub__(self, other):
        return self.copy()._shifted(lambda cells, number: number - cells, other)

    def _shifted(self, change, other):
        """`change` of every cell and a number, in place."""
        other = self._for_cells(other, 0)
        if other is None:
            return NotImplemented
        if is_mean(self.storage):
            if change in (np.add, np.subtract) and np.ndim(other) == 0 and other == 0:  # sum() begins with it
                return self
            raise TypeError("numbers are not added to means")
        before, cells = self._outside(), self._cells
        changed = change(cells.sums, other)
        if self.storage == "count":
            if changed.dtype.kind not in "iu":
                raise TypeError("counts are whole numbers: add others with storage='sum' or 'weight'")
            if (changed < 0).any():
                raise ValueError(_NEGATIVE)
        cells.sums[...] = changed
        if cells.squares is not None:
            cells.squares[...] += np.square(other)
        self._moved(before)
        return self

    def __imul__(self, factor):
        if isinstance(factor, Arithmetic):
            return self._combined(_product, factor)
        factor = self._for_cells(factor, 1)
        if factor is None:
            return NotImplemented
        if self.storage == "count":
            self.storage, self._filler = "weight", None
            sums = self._cells.sums.astype(np.float64)
            self._cells = Cells(sums, sums.copy(), None, None)
        self._cells.scale(factor)
        return self

    def __mul__(self, factor):
        """Sums of weights, or means, times a number, or times an array with one for each bin (flow bins
        stay, unless it has them too); of counts, those of weights that are all this number. Or counts or
        sums times another one's, cell by cell."""
        return self.copy().__imul__(factor)

    __rmul__ = __mul__

    def __itruediv__(self, factor):
        """As `*`; counts or sums by another one's are sums, NaN or infinite where that has nothing."""
        if isinstance(factor, Arithmetic):
            return self._combined(np.true_divide, factor)
        return self.__imul__(1 / np.asarray(factor, float)) if _is_factor(factor) else NotImplemented

    def __truediv__(self, factor):
        return self.copy().__itruediv__(factor)

    def __rtruediv__(self, number):
        number = self._for_cells(number, 1)
        if number is None:
            return NotImplemented
        return self.copy()._replaced(lambda cells: np.true_divide(number, cells))

    def _combined(self, change, other):
        """`change` of both one's cells, in place."""
        self._like(other)
        return self._replaced(lambda cells: change(cells, other._cells.sums))

    def _replaced(self, change):
        """`change` of the cells, in place; what is not whole then are sums."""
        if self.storage not in ("count", "sum"):
            raise TypeError(f"storage={self.storage!r}: only counts and sums are multiplied and divided bin by bin")
        before = self._outside()
        with np.errstate(divide="ignore", invalid="ignore"):
            changed = change(self._cells.sums)
        if changed.dtype.kind == "f" and self.storage == "count":
            self.storage, self._filler = "sum", None
        self._cells = Cells(changed, None, None, None)
        self._moved(before)
        return self

    def _for_cells(self, x, neutral):
        """A number, or numbers for all cells, `neutral` for flow bins that x has none for; None where it
        is neither."""
        if not _is_factor(x):
            return None
        x = np.asarray(x)
        if not x.ndim:
            return x.item()
        if x.ndim == self.ndim and x.shape == self.axes.extent:
            return x
        whole = np.full(self.axes.extent, neutral, np.result_type(x, type(neutral)))
        whole[(slice(1, -1),) * self.ndim] = x  # in a shape that broadcasts to the bins'
        return whole
