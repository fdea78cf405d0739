# SPDX-License-Identifier: Apache-2.0
"""histogramdd and histogram2d."""

import builtins
import operator

import numpy as np

from . import _arrays, _edges
from . import _library as c
from ._asked import THEIRS, answer_of, density_of, double_weights, extremes, labels_of, theirs
from ._compiled import fast as _fast
from ._core import Call, served
from ._edges import Unserved
from ._untraced import untraced

range_ = builtins.range  # NumPy calls an argument so


def _columns(sample):
    """The coordinates, one Array a dimension, and the type that NumPy would put them in."""
    if isinstance(sample, (list, tuple)):
        if any(isinstance(x, (list, tuple)) for x in sample):
            sample = list(np.asarray(sample))  # NumPy finds one type for all
        arrays = [_arrays.take(x) for x in sample]
        if not arrays or any(len(x.shape) != 1 or x.shape != arrays[0].shape for x in arrays):
            return _columns(np.atleast_2d(np.asarray(sample)).T)
        if len({(x.device, x.index) for x in arrays}) > 1:
            raise ValueError("sample: its arrays lie on different devices")
        return arrays, np.result_type(*(x.dtype for x in arrays))
    array = _arrays.take(sample)
    if not array.shape:
        return _columns(np.atleast_1d(sample))
    if len(array.shape) == 1:
        return [array], array.dtype
    if len(array.shape) != 2 or not array.shape[1]:
        raise ValueError("sample: an array of shape (N, D) or D arrays of N are expected")
    return [array.column(d) for d in range_(array.shape[1])], array.dtype


def _bins_of(call, i, column, common, bins, range):
    """Axis i of histogramdd."""
    axis = _edges.of_axis(bins)
    if axis is not None:
        return axis
    if np.ndim(bins) == 1:
        words = "must be monotonically increasing, when an array"
        return _edges.from_edges(_edges.given(call.home.take_back(bins), f"`bins[{i}]`", words))
    if np.ndim(bins):
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    if bins < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    found = extremes(call, column, call.mask([column])) if range is None else None
    first, last = _edges.outer(range, found and tuple(map(common.type, found)), call.home)
    try:
        n = operator.index(bins)
    except TypeError as e:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from e
    _edges.check_bins(n)
    edges = np.linspace(first, last, n + 1)
    return _edges.even(_edges.holding(edges, *found) if found else edges, column.dtype)


def _sized(bins, range, dimensions):
    """`bins` and `range` of histogramdd, one a dimension."""
    if _edges.of_axis(bins) is not None:
        bins = dimensions * [bins]
    try:
        if len(bins) != dimensions:
            raise ValueError(
                "The dimension of bins must be equal to the dimension of the sample x."
            )
    except TypeError:
        bins = dimensions * [bins]
    if range is None:
        range = (None,) * dimensions
    elif len(range) != dimensions:
        raise ValueError("range argument must have one entry per dimension")
    return bins, range


def histogramdd(sample, bins=10, range=None, density=None, weights=None, *, where=None,
                flow=None, out=None, device=None, method=None, threads=None, by=None,
                progress=None):  # fmt: skip
    """Counts points in several dimensions, as `numpy.histogramdd`.

    Parameters
    ----------
    sample : array of shape (N, D), or D arrays of N
        The points' coordinates; the arrays may be of different types.
    bins : int or sequence, default 10
        One number of bins, or for each dimension a number or edges.
    range : sequence, optional
        For each dimension None or its first and last edge.
    density : bool, optional
        Counts divided by their sum and the bins' volumes.
    weights : array_like of shape (N,), optional
        A weight for every point; what float64 holds.
    where, flow, out, device, method, threads, by, progress
        As for `histogram`, of shape (N,).

    Returns
    -------
    H : array
        float64 counts or sums, a dimension for each of the sample's; groups come first.
    edges : list of arrays
        The edges of each dimension.
    groups, flows
        As for `histogram`. A point is NaN if one of its coordinates is, else under or over by the
        first that is outside.

    Examples
    --------
    >>> import libtally as tally
    >>> counts, edges = tally.histogramdd([[0, 1, 1], [5, 6, 6]], bins=2)
    >>> counts
    array([[1., 0.],
           [0., 2.]])
    """
    if (_fast and where is flow is out is device is method is threads is by is progress
            is None):  # fmt: skip
        answer = _fast.histogramdd(sample, bins, range, weights)
        if answer is not None:
            return (density_of(*answer), answer[1]) if density else answer
    return _counted(
        sample, bins, range, density, weights, where=where, flow=flow, out=out, device=device, method=method,
        threads=threads, by=by, progress=progress,
    )  # fmt: skip


@untraced
def _counted(sample, bins, range, density, weights, **more):
    call = Call(**more)
    try:
        columns, common = _columns(sample)
        call.start(columns[0])
        each = _sized(bins, range, len(columns))
        for column in columns:
            served(column)
        labels = labels_of(call, columns[0])
        summed = None if weights is None else _arrays.take(weights)
        along = [x for x in (summed, labels) if x is not None and x.shape == columns[0].shape]
        call.mask([*columns, *along])
        binned = [
            _bins_of(call, i, column, common, b, r)
            for i, (column, b, r) in enumerate(zip(columns, *each))
        ]
        w = double_weights(summed, call, columns[0].shape)
        w.result = np.dtype(float)
        if len(columns) + (call.by is not None) > c.MAX_DIMENSIONS:
            raise Unserved(f"{len(columns)} dimensions")
        if any(b.axis is None for b in binned):
            raise Unserved("fewer than two edges")
        counts, *rest = answer_of(call, columns, binned, w, labels, density, (0,))
    except Unserved as reason:
        return theirs("histogramdd", call, reason, sample, bins, range, density, weights)
    return (counts, *rest)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None, **extras):
    """Counts pairs of numbers, as `numpy.histogram2d`.

    Parameters
    ----------
    x, y : array_like of shape (N,)
        The coordinates.
    bins : int, edges, or one of these for each of x and y
    range, density, weights
        As for `histogramdd`.
    **extras
        The further arguments of `histogramdd`.

    Returns
    -------
    H : array of shape (nx, ny)
        float64 counts or sums.
    xedges, yedges : array
    groups, flows
        As for `histogramdd`.

    Examples
    --------
    >>> import libtally as tally
    >>> tally.histogram2d([0, 1, 1], [0, 1, 1], bins=2)[0]
    array([[1., 0.],
           [0., 2.]])
    """
    if _fast and not extras:
        answer = _fast.histogramdd((x, y), bins, range, weights)
        if answer is not None:
            counts, edges = answer
            return (density_of(counts, edges) if density else counts, *edges)
    return _pairs_counted(x, y, bins, range, density, weights, extras)


@untraced
def _pairs_counted(x, y, bins, range, density, weights, extras):
    if len(x) != len(y):
        return THEIRS["histogram2d"](x, y)  # has the words for it
    try:
        n = 1 if _edges.of_axis(bins) is not None else len(bins)
    except TypeError:
        n = 1
    if n not in (1, 2):
        bins = [np.asarray(bins)] * 2
    counts, edges, *rest = histogramdd([x, y], bins, range, density, weights, **extras)
    return (counts, edges[0], edges[1], *rest)
