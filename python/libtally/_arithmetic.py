# SPDX-License-Identifier: Apache-2.0
"""Histograms added up, subtracted and scaled."""

import numbers
import operator

import numpy as np

from ._cells import Cells, is_mean
from ._core import Flows


def _is_factor(x):
    return isinstance(x, numbers.Real) or (isinstance(x, np.ndarray) and x.dtype.kind in "iufb")


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
        if not isinstance(other, Arithmetic):
            return NotImplemented
        mine, other = self._alike(other)
        mine._like(other)
        if mine is not self:
            self.axes, self._cells, self._filler = mine.axes, mine._cells, None
        self._cells.add(other._cells)
        self.flows = Flows(*map(operator.add, self.flows, other.flows))
        return self

    def __add__(self, other):
        return self.copy().__iadd__(other)

    def __radd__(self, other):
        # for sum()
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __isub__(self, other):
        """Counts without another one's, which are among them; of sums the difference, whose sums of
        squared weights (and numbers of samples in `flows`) add up."""
        if not isinstance(other, Arithmetic):
            return NotImplemented
        if is_mean(self.storage):
            raise TypeError("means are not subtracted")
        self._like(other)
        counts = self.storage == "count"
        sums, theirs = self._cells.sums, other._cells.sums
        if counts and ((sums < theirs).any() or any(map(operator.lt, self.flows, other.flows))):
            raise ValueError("counts would be negative: subtract with storage='sum' or 'weight'")
        sums -= theirs
        if self._cells.squares is not None:
            self._cells.squares[...] += other._cells.squares
        self.flows = Flows(*map(operator.sub if counts else operator.add, self.flows, other.flows))
        return self

    def __sub__(self, other):
        return self.copy().__isub__(other)

    def __imul__(self, factor):
        factor = self._factor(factor)
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
        stay, unless it has them too); of counts, those of weights that are all this number."""
        return self.copy().__imul__(factor)

    __rmul__ = __mul__

    def __itruediv__(self, factor):
        return self.__imul__(1 / np.asarray(factor, float)) if _is_factor(factor) else NotImplemented

    def __truediv__(self, factor):
        return self.copy().__itruediv__(factor)

    def _factor(self, factor):
        """A number, or numbers for all cells; None where it is neither."""
        if not _is_factor(factor):
            return None
        factor = np.asarray(factor)
        if not factor.ndim:
            return factor.item()
        if factor.ndim == self.ndim and factor.shape == self.axes.extent:
            return factor
        whole = np.ones(self.axes.extent)
        whole[(slice(1, -1),) * self.ndim] = factor  # in a shape that broadcasts to the bins'
        return whole
