# SPDX-License-Identifier: Apache-2.0
"""Statistics of values in bins: SciPy's `binned_statistic` and its kin, same arguments, same answers.

What differs: a sample is in the last bin if it is at most the last edge, exactly, where SciPy rounds; NaN among a
bin's values makes its min, max and median NaN, where SciPy leaves it out of min and sorts it last for the others;
means and variances are taken about one of the bin's own values, so that nothing cancels; complex values are refused.
What is binned may be NaN where edges are given, and is then above the last; with a number of bins it is refused, as there.

Of arrays on a device counts, sums, means, deviations and extremes are found there, in bins that `range` or edges give;
the statistic is an array of theirs, and there are no binnumbers (None).
"""

import operator
from collections import namedtuple

import numpy as np

from . import _arrays, _statistics
from . import _library as c
from ._compiled import fast as _fast
from ._count import Axis
from ._untraced import untraced
from .functions import digitize

__all__ = ["binned_statistic", "binned_statistic_2d", "binned_statistic_dd"]

BinnedStatisticResult = namedtuple("BinnedStatisticResult", "statistic bin_edges binnumber")
BinnedStatistic2dResult = namedtuple("BinnedStatistic2dResult", "statistic x_edge y_edge binnumber")
BinnedStatisticddResult = namedtuple("BinnedStatisticddResult", "statistic bin_edges binnumber")

_FOUND = {"count": "count", "sum": "sum", "mean": "mean", "std": "m2", "min": "min", "max": "max"}
_FUNCTIONS = {np.mean: "mean", np.std: "std", np.sum: "sum", np.median: "median", np.min: "min", np.max: "max"}


def binned_statistic(x, values, statistic="mean", bins=10, range=None):
    """A statistic of the values in each bin of `x`: scipy.stats.binned_statistic.

    Parameters
    ----------
    x : array_like
        What is binned.
    values : (N,) or (k, N) array_like
        A value for each x, or k columns of them.
    statistic : {'mean', 'std', 'sum', 'count', 'min', 'max', 'median'} or a function, default 'mean'
        The function gets the values of one bin.
    bins : int or sequence of edges, default 10
    range : (float, float), optional
        Ends of the bins; else the smallest and the largest x.

    Returns
    -------
    statistic, bin_edges, binnumber
        NaN for a bin without values, but 0 for 'sum' and 'count'. binnumber: the bin of each x from 1 on; 0 is
        below the first edge, len(edges) above the last.

    >>> found = binned_statistic([0, 1, 1, 3], [5.0, 2.0, 4.0, 7.0], bins=2, range=(0, 4))
    >>> print(found.statistic, found.binnumber)
    [3.66666667 7.        ] [1 1 1 2]
    """
    bins, range = _one_axis(bins, range)
    return BinnedStatisticResult(*_joined(_binned([x], values, statistic, bins, range, False)))


def binned_statistic_2d(x, y, values, statistic="mean", bins=10, range=None, expand_binnumbers=False):
    """A statistic of the values in each bin of (x, y): scipy.stats.binned_statistic_2d."""
    try:
        few = len(bins)
    except TypeError:
        few = 1
    if few not in (1, 2):
        bins = [np.asarray(bins, float)] * 2
    found, edges, numbers = _binned([x, y], values, statistic, bins, range, expand_binnumbers)
    return BinnedStatistic2dResult(found, *edges, numbers)


def binned_statistic_dd(sample, values, statistic="mean", bins=10, range=None, expand_binnumbers=False,
                        binned_statistic_result=None):  # fmt: skip
    """A statistic of the values in each bin of `sample`, (N, D) or D arrays: scipy.stats.binned_statistic_dd."""
    if binned_statistic_result is not None:
        bins, range = binned_statistic_result.bin_edges, None
    shape = getattr(sample, "shape", ())
    columns = [sample[:, i] for i in np.arange(shape[1])] if len(shape) == 2 else list(sample)
    if columns and np.ndim(columns[0]) == 0:  # one dimension
        columns = [sample]
    return BinnedStatisticddResult(*_binned(columns, values, statistic, bins, range, expand_binnumbers))


def _one_axis(bins, range):
    """The same for the one axis of several."""
    try:
        operator.index(bins)
    except TypeError:
        bins = bins if len(bins) == 1 else [bins]
    if range is not None and len(range) == 2:
        range = [range]
    return bins, range


def _joined(found):
    statistic, edges, numbers = found
    return statistic, edges[0], numbers


def _taken(x, what):
    """A host array without nulls."""
    array = _arrays.take(x)
    if array.device != c.CPU:
        raise TypeError(f"{what}: statistics of bins are found in host memory; copy the array there")
    if array.valid is not None and not array.valid.all():
        raise ValueError(f"{what}: nulls have no bin; drop them")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: {array.dtype} is not binned")
    return array.numbers()


def _edges(columns, bins, range):
    """Edges of every axis, of the samples' floating type, as SciPy makes them."""
    try:
        bins = [operator.index(bins)] * len(columns)
    except TypeError:
        if len(bins) != len(columns):
            raise AttributeError("The dimension of bins must be equal to the dimension of the sample x.") from None
    if any(np.isnan(x).any() for x, b in zip(columns, bins) if np.isscalar(b)):
        raise ValueError("the samples contain NaN, and bins are a number")
    if range is not None and len(range) != len(columns):
        raise ValueError(f"range given for {len(range)} dimensions; {len(columns)} required")
    ends = [None] * len(columns) if range is None else range
    return [_axis_edges(x, b, end, _edge_type(columns)) for x, b, end in zip(columns, bins, ends)]


def _edge_type(columns):
    """The floating type that holds all samples: float64 beside int32."""
    common = np.result_type(*(x.dtype for x in columns))
    return common if common.kind == "f" else np.dtype(float)


def _axis_edges(x, bins, ends, dtype):
    if not np.isscalar(bins):
        edges = np.asarray(bins, dtype)
        if edges.ndim != 1 or len(edges) < 2:
            raise ValueError("bins: a number, or two edges or more, are expected")
    else:
        if bins < 1:
            raise ValueError(f"bins: {bins} of them; at least 1 is needed")
        low, high = ends if ends is not None else _ends(x)
        if high < low:
            raise ValueError("In range, start must be <= stop")
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1, dtype=dtype)
    if not (np.isfinite(edges).all() and (edges[:-1] < edges[1:]).all()):
        raise ValueError("bins: edges must be finite and increase")
    return edges


def _ends(x):
    """The smallest and the largest sample, infinities aside, as SciPy has them."""
    finite = x if np.isfinite(x).all() else x[np.isfinite(x)]
    if x.size and not finite.size:
        raise ValueError("no sample is finite, and bins are a number; give range or edges")
    return float(finite.min()), float(finite.max())


def _binned(columns, values, statistic, bins, range, expand):
    statistic = _FUNCTIONS.get(statistic, statistic) if callable(statistic) else statistic
    if not callable(statistic) and statistic != "median" and statistic not in _FOUND:
        raise ValueError(f"invalid statistic {statistic!r}")
    if _fast:
        found = _fast.binned(statistic, columns, values, bins, range, expand)
        if found is not None:
            return found
    return _binned_untraced(columns, values, statistic, bins, range, expand)


@untraced
def _binned_untraced(columns, values, statistic, bins, range, expand):
    arrays = [_arrays.take(x) for x in (*columns, values)]
    if any(x.device != c.CPU for x in arrays):
        return _binned_there(arrays[:-1], arrays[-1], statistic, bins, range)
    columns = [_taken(x, "samples").reshape(-1) for x in columns]
    if len({x.size for x in columns}) > 1:
        raise ValueError("the samples' dimensions differ in length")
    values = _taken(values, "values")
    lead, rows = values.shape[:-1], np.atleast_2d(values)
    if rows.ndim > 2:
        raise ValueError("values: one or two dimensions are expected")
    if statistic == "count":
        rows = np.broadcast_to(np.float32(0), (len(rows), columns[0].size))
    elif rows.shape[1] != columns[0].size:
        raise AttributeError("The number of `values` elements must match the length of each `sample` dimension.")
    edges = _edges(columns, bins, range)
    numbers = _numbers(columns, edges)
    if statistic in _FOUND:
        found = _find(columns, rows, edges, statistic)
    else:
        found = _sorted(rows, edges, _flat(numbers, edges), statistic)
    found = found.reshape(*lead, *(len(e) - 1 for e in edges))
    return found, edges, np.asarray(numbers) if expand and len(edges) > 1 else _flat(numbers, edges)


def _binned_there(columns, rows, statistic, bins, range):
    first = columns[0]
    if any((x.device, x.index) != (first.device, first.index) for x in (*columns, rows)):
        raise ValueError("the arrays lie on different devices")
    if statistic not in _FOUND or not all(x.code and x.dtype.kind in "iuf" for x in (*columns, rows)):
        raise TypeError(f"{statistic!r} of such arrays on a device is not found there; copy them to the host")
    if any(len(x.shape) != 1 or x.shape != rows.shape[-1:] for x in columns) or len(rows.shape) > 2:
        raise ValueError("samples are columns, values as many or rows of so many")
    if range is None and any(map(np.isscalar, bins if np.iterable(bins) else [bins])):
        raise ValueError("on a device give the range, or edges")
    try:
        bins = [operator.index(bins)] * len(columns)
    except TypeError:
        bins = [x if np.isscalar(x) else first.home.take_back(x) for x in bins]
    ends = [None] * len(columns) if range is None else range
    if not len(bins) == len(ends) == len(columns):
        raise ValueError("bins and range are of as many dimensions as the samples")
    edges = [_axis_edges(x, b, end, _edge_type(columns)) for x, b, end in zip(columns, bins, ends)]
    found = _of(_statistics.find_there(_axes(edges), columns, rows, _wanted(statistic)), statistic)
    found = found.reshape(*rows.shape[:-1], *(len(e) - 1 for e in edges))
    return first.home.give(np.ascontiguousarray(found)), edges, None


def _numbers(columns, edges):
    numbers = []
    for x, e in zip(columns, edges):
        at = digitize(x, e)
        np.subtract(at, x == e[-1], out=at)
        numbers.append(at)
    return numbers


def _flat(numbers, edges):
    return numbers[0] if len(numbers) == 1 else np.ravel_multi_index(numbers, [len(e) + 1 for e in edges])


def _find(columns, rows, edges, statistic):
    bins, _ = _statistics.find(
        _axes(edges), [_statistics.column(x) for x in columns], [_statistics.column(v) for v in rows],
        _wanted(statistic),
    )  # fmt: skip
    return _of(bins, statistic)


def _axes(edges):
    return [Axis(c.EDGES, len(e) - 1, edges=e) for e in edges]


def _wanted(statistic):
    return ("count", "mean", "m2") if statistic == "std" else (_FOUND[statistic],)


def _of(bins, statistic):
    """What was asked for, of the arrays that were found."""
    if statistic != "std":
        return bins[_FOUND[statistic]].astype(float, copy=False)
    with np.errstate(invalid="ignore"):
        return np.sqrt(bins["m2"] / bins["count"])


def _sorted(rows, edges, numbers, statistic):
    """Medians, or what a function says of each bin's values."""
    shape = [len(e) + 1 for e in edges]
    found = _medians_of_few(rows, numbers, shape) if statistic == "median" else None
    if found is None:
        found = _each(rows, numbers, shape, _median if statistic == "median" else statistic)
    if found is None:
        found = np.full((len(rows), int(np.prod(shape))), _nothing(statistic), float)
    inside = (slice(None),) + (slice(1, -1),) * len(edges)
    return found.reshape(len(rows), *shape)[inside]


def _groups(numbers):
    """Where each bin's samples begin and end among sorted numbers."""
    ends = np.flatnonzero(np.diff(numbers, append=-1)) + 1
    return (np.concatenate([[0], ends[:-1]]) if len(ends) else ends), ends


def _medians_of_few(rows, numbers, shape):
    """All bins' at once, by sorting everything; None where bins have so many that each is better sorted alone."""
    bins = int(np.prod(shape))
    if numbers.size > 256 * bins:
        return None
    short = numbers.astype(np.min_scalar_type(bins))  # which is sorted faster
    found = np.full((len(rows), bins), np.nan)
    for row, to in zip(rows, found):
        order = np.argsort(row)
        order = order[np.argsort(short[order], kind="stable")]
        values, (begins, ends) = row[order], _groups(numbers[order])
        low, high, last = (values[i].astype(float) for i in ((begins + ends - 1) // 2, (begins + ends) // 2, ends - 1))
        with np.errstate(invalid="ignore", over="ignore"):
            middle = np.where(low == high, low, (low + high) / 2)
        to[numbers[order[begins]]] = np.where(last == last, middle, last)
    return found


def _each(rows, numbers, shape, function):
    """One bin after the other; None if there are no samples."""
    order = np.argsort(numbers, kind="stable")
    begins, ends = _groups(numbers[order])
    found = None
    for i, row in enumerate(rows):
        grouped = row[order]
        for begin, end in zip(begins, ends):
            answer = function(grouped[begin:end])
            if found is None:
                found = np.full((len(rows), int(np.prod(shape))), _nothing(function), float)
            found[i, numbers[order[begin]]] = answer
    return found


def _median(values):
    values = np.sort(values)
    middle = (len(values) - 1) / 2
    low, high = float(values[int(np.floor(middle))]), float(values[int(np.ceil(middle))])
    return values[-1] if values[-1] != values[-1] else low if low == high else (low + high) / 2


def _nothing(statistic):
    """What a function says of no values."""
    if statistic in ("median", _median):
        return np.nan
    try:
        with np.errstate(invalid="ignore"):
            return statistic([])
    except Exception:
        return np.nan
