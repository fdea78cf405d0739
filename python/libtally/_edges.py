# SPDX-License-Identifier: Apache-2.0
"""NumPy's `bins` and `range` as edges and an axis of the library."""

import contextlib
import copy
import functools
import operator

import numpy as np

from . import _arrays
from . import _library as c
from ._count import Axis

MAX = np.finfo(np.float64).max
EXACT = 1 << 53  # integers up to here are float64
MOST_BINS = 1 << 31  # more are not counted by the library


class Unserved(Exception):
    """The library does not count this; NumPy does."""


@contextlib.contextmanager
def refused(name):
    """What is unserved is a TypeError of this function, which NumPy has not."""
    try:
        yield
    except Unserved as reason:
        raise TypeError(f"{name}: {reason} are not counted") from None


def check_bins(n):
    """More bins than the library counts in are NumPy's."""
    if n > MOST_BINS:
        raise Unserved("more than 2^31 bins")


class Bins:
    """Edges as NumPy returns them, the axis that counts in them, and where its bins go.

    NumPy takes edges that repeat: such a bin is empty, or, at the end, holds the samples equal to
    the edge. The axis has no such bins; its bin i is NumPy's bin `places[i]`.
    """

    def __init__(self, edges, axis, places=None):
        self.edges, self.axis, self.places = edges, axis, places
        self.count = len(edges) - 1

    def again(self):
        """The same for another call, which may change what it gets."""
        return Bins(self.edges.copy(), copy.copy(self.axis), self.places)

    def spread(self, counts, dimension, zeros):
        """Counts of the axis' bins as counts of NumPy's, along a dimension."""
        if self.places is None:
            return counts
        shape = list(counts.shape)
        shape[dimension] = self.count
        full = zeros(tuple(shape), counts.dtype)
        full[(slice(None),) * dimension + (self.places,)] = counts
        return full


def of_axis(bins):
    """Those of an axis of a `Hist`, which counts as it says; None for all else."""
    axis = getattr(bins, "axis", None)
    if not isinstance(axis, Axis):
        return None
    if not bins.is_plain:
        what = "an axis that is circular does not end" if bins.circular else "categories have no edges"
        raise TypeError(f"bins: {what}; fill a tally.Hist")
    return Bins(bins.edges.copy(), copy.copy(axis))


def from_edges(edges):
    """Edges that increase, perhaps not strictly, perhaps from or to infinity."""
    n = len(edges) - 1
    if edges.dtype.kind not in "iufb":
        raise Unserved(f"{edges.dtype} edges")
    exact = edges.astype(np.float64)
    if edges.dtype.kind in "iu" and edges.dtype.itemsize == 8 and n >= 0:
        if max(abs(int(edges[0])), abs(int(edges[-1]))) > EXACT:
            raise Unserved("integer edges beyond 2^53")
    if edges.dtype.itemsize > 8 or np.isnan(exact).any():
        raise Unserved("edges that are no float64, or NaN")
    if n < 1:
        return Bins(edges, None)
    under = over = c.COUNT
    if exact[0] == -np.inf:
        exact[exact == -np.inf], under = -MAX, c.CLAMP
    if exact[-1] == np.inf:
        exact[exact == np.inf], over = MAX, c.CLAMP
    steps = exact[:-1] < exact[1:]
    last, places = c.LAST_CLOSED, None
    if not steps.all():
        places = np.flatnonzero(steps)
        exact = np.append(exact[:-1][steps], exact[-1])
        if not steps[-1]:
            if over or under and len(exact) == 1:
                raise Unserved("infinite edges that repeat")
            places = np.append(places, n - 1)
            exact = np.append(exact, np.nextafter(exact[-1], np.inf))
            last = c.LAST_OPEN
    if places is None and not under and not over:
        axis = _even_axis(exact, edges, False)
        if axis:
            return Bins(edges, axis)
    axis = Axis(c.EDGES, len(exact) - 1, edges=exact, last=last)
    axis.under, axis.over = under, over
    return Bins(edges, axis, places)


def _even_axis(exact, edges, narrow):
    """The library's even axis that counts as these edges do, which it does fastest; or None.

    Its edges are lo + i * width in float64. They may be other numbers than the given ones if no
    sample lies between: where samples are of the edges' own narrow type (`narrow`), NumPy has
    rounded the edges to it, and an edge that was rounded up takes the same samples.
    """
    n, lo, hi = len(exact) - 1, exact[0], exact[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        width = (hi - lo) / n
        there = np.arange(n + 1) * width + lo
    there[-1] = hi
    if not np.isfinite(width) or not width > 0 or not np.all(there[:-1] < there[1:]):
        return None
    if not np.array_equal(there, exact):
        if not narrow:
            return None
        below = np.nextafter(edges, edges.dtype.type(-np.inf))
        if not (np.all(exact >= there) and np.all(below < there)):
            return None
    return Axis(c.EVEN, n, lo=float(lo), hi=float(hi))


def even(edges, dtype):
    """Edges that `linspace` made, for samples of a type."""
    axis = None
    if edges.itemsize <= 8 and np.isfinite(edges[[0, -1]]).all():
        narrow = edges.dtype != np.float64 and np.can_cast(dtype, edges.dtype, "safe")
        axis = _even_axis(edges.astype(np.float64), edges, narrow)
    return Bins(edges, axis) if axis else from_edges(edges)


def holding(edges, lo, hi):
    """The edges found for samples from `lo` to `hi`, with these inside.

    Integers beyond 2^53 may have been rounded inwards on their way to an edge: it is moved outwards
    to the next float.
    """
    if isinstance(lo, (int, np.integer)) and int(edges[0]) > int(lo):
        edges[0] = np.nextafter(edges[0], edges.dtype.type(-np.inf))
    if isinstance(hi, (int, np.integer)) and int(edges[-1]) < int(hi):
        edges[-1] = np.nextafter(edges[-1], edges.dtype.type(np.inf))
    return edges


def outer(range_, found, home=_arrays.NUMPY):
    """First and last edge, from the range, whose ends may be `home`'s, or the samples' extremes (None if there
    are no samples), as NumPy finds them."""
    if range_ is not None:
        first, last = map(home.take_back, range_)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif found is None:
        first, last = 0, 1
    else:
        first, last = found
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def whole(bins):
    """A number of bins."""
    try:
        n = operator.index(bins)
    except TypeError as e:
        raise TypeError("`bins` must be an integer, a string, or an array") from e
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return n


def given(bins, name="`bins`", words="must increase monotonically, when an array"):
    """Edges that the caller wrote down."""
    edges = np.asarray(bins)
    if edges.dtype.kind == "c":
        raise Unserved("complex edges")
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError(f"{name} {words}")
    return edges


def spaced(first, last, n, dtype):
    """`numpy.histogram`'s edges for samples of a type: in the type, if it is a float's."""
    bin_type = np.result_type(first, last, np.empty(0, dtype))
    if np.issubdtype(bin_type, np.integer):
        bin_type = np.result_type(bin_type, float)
    edges = np.linspace(first, last, n + 1, endpoint=True, dtype=bin_type)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(
            f"Too many bins for data range. Cannot create {n} finite-sized bins."
        )
    return edges


@functools.lru_cache(64)
def kept(n, first, last, type_first, type_last, dtype):
    """The edges of a range that was asked for before; 1 and 1.0 are different ends to NumPy."""
    return even(spaced(first, last, n, dtype), dtype)
