# SPDX-License-Identifier: Apache-2.0
"""bincount and digitize."""

import operator

import numpy as np

from . import _arrays, _count, _edges
from . import _library as c
from ._asked import THEIRS, answer_of, double_weights, extremes, labels_of, theirs
from ._compiled import fast as _fast
from ._core import Call, normal_axes
from ._edges import Unserved
from ._untraced import untraced


def _whole_numbers(x, axis):
    """The argument of bincount as an Array, or NumPy's error."""
    array = _arrays.take(x)
    if not array.size and not hasattr(x, "dtype"):
        array = _arrays.of_numpy(np.zeros(array.shape, np.intp))
    if axis is None and len(array.shape) != 1:
        deep = "too deep" if array.shape else "of too small depth"
        raise ValueError(f"object {deep} for desired array")
    if not np.can_cast(array.dtype, np.intp, "safe"):
        THEIRS["bincount"](np.empty(0, array.dtype))
    return array


def _trimmed(call, counts, least):
    """Without the zeros behind the largest number that occurs."""
    seen = np.flatnonzero(np.asarray(call.home.take_back(counts)).reshape(-1, counts.shape[-1]).any(0))
    length = max(least, int(seen[-1]) + 1 if len(seen) else 0)
    return counts[..., :length] + 0


def bincount(x, /, weights=None, minlength=0, *, axis=None, where=None, flow=None, out=None,
             device=None, method=None, threads=None, by=None, progress=None):  # fmt: skip
    """How often each whole number occurs, as `numpy.bincount`.

    Parameters
    ----------
    x : array_like of non-negative integers
        One dimension, or any with `axis`.
    weights : array_like, optional
        A weight for every number; what float64 holds. Integers are summed in 64 bits.
    minlength : int, default 0
        Least length of the result.
    axis, where, flow, out, device, method, threads, by, progress
        As for `histogram`.

    Returns
    -------
    out : array
        int64 counts, or float64 sums, of 0, 1, … max(x), at least `minlength` of them.
    groups, flows
        As for `histogram`.

    Raises
    ------
    ValueError
        A number is negative, or x has not one dimension.
    TypeError
        x is not of integers.

    Examples
    --------
    >>> import libtally as tally
    >>> tally.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    if _fast:
        counts = _fast.bincount(x, weights, minlength, axis, where, flow, out, device, method, threads,
                                by, progress)  # fmt: skip
        if counts is not None:
            return counts
    return _counted(
        x, weights, minlength, axis=axis, where=where, flow=flow, out=out, device=device, method=method,
        threads=threads, by=by, progress=progress,
    )  # fmt: skip


@untraced
def _counted(x, weights, minlength, **more):
    call = Call(**more)
    array = _whole_numbers(x, call.axis)
    least = operator.index(minlength)
    if least < 0:
        raise ValueError("'minlength' must not be negative")
    w = double_weights(weights, call, array.shape)
    call.start(array)
    labels = labels_of(call, array)
    call.mask([a for a in (array, w, labels) if a is not None])
    bytes_ = array.dtype.kind in "ub" and array.dtype.itemsize == 1 and not w.given and call.out is None
    n = max(least, 256) if bytes_ and array.size else _length(call, array, least)
    w.result = np.dtype(float) if w.given and array.size else np.dtype(np.intp)
    if call.plain and not (n and array.size):
        return call.home.result(call.home.zeros((n,), w.result))
    reduced = normal_axes(call.axis, len(array.shape))
    try:
        _edges.check_bins(n)
        wide = max(n, 1)  # the library has no axis without bins
        bins = _edges.Bins(range(wide + 1), _count.Axis(c.INTEGER, wide, last=c.LAST_OPEN))
        counts, _, *rest = answer_of(call, [array], [bins], w, labels, False, reduced)
    except Unserved as reason:
        return theirs("bincount", call, reason, x, weights, minlength)
    if bytes_ and least < n:
        counts = _trimmed(call, counts, least)
    elif not n:
        counts = counts[..., :0] + 0
    return (counts, *rest) if rest else counts


def _length(call, array, least):
    """How many bins bincount has: one for each number up to the largest, `least` or more."""
    lo, hi = extremes(call, array, call.mask([array])) or (0, -1)
    if lo < 0:
        raise ValueError("'list' argument must have no negative elements")
    return max(least, int(hi) + 1)


def digitize(x, bins, right=False):
    """The index of the bin that each sample is in, as `numpy.digitize`.

    Parameters
    ----------
    x : array_like
        Samples of any shape.
    bins : array_like
        Edges that increase or decrease.
    right : bool, default False
        Bins are closed at their right end.

    Returns
    -------
    indices : array of int64
        In the shape of x: ``bins[i-1] <= x < bins[i]`` for increasing edges.

    Examples
    --------
    >>> import libtally as tally
    >>> tally.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    if _fast:
        indices = _fast.digitize(x, bins, right)
        if indices is not None:
            return indices
    return _places(x, bins, right)


@untraced
def _places(x, bins, right):
    array, axis = _arrays.take(x), _edges.of_axis(bins)
    bins = bins if axis is None else axis.edges
    if array.valid is not None:
        raise ValueError("digitize: x has nulls, which are in no bin: drop or fill them")
    if array.device != c.CPU:
        return array.home.digitize(x, bins, right)
    values, edges = array.numbers(), array.home.take_back(bins)
    if values is x:
        return THEIRS["digitize"](x, edges, right)
    found = digitize(values, edges, right)
    return found if array.home is _arrays.NUMPY else array.home.result(np.asarray(found))
