# SPDX-License-Identifier: Apache-2.0
"""What NumPy's functions share here: the way to an answer, and to NumPy for what is not counted."""

import math

import numpy as np

from . import _arrays, _count, _cuda, _edges
from . import _library as c
from ._core import Call, Weights, finish, served, total


def density_of(counts, edges):
    """The densities of counts that the compiled part made, wherever they lie."""
    if isinstance(counts, np.ndarray):
        return _arrays.NUMPY.density(counts, edges)
    return _cuda.density_there(counts, edges)


# NumPy's own, for what the library does not count; taken now, for a program may put ours there.
THEIRS = {
    name: getattr(np, name)
    for name in ("bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges",
                 "histogramdd")  # fmt: skip
}


def theirs(name, call, reason, *arguments):
    """NumPy's own function, for what the library does not count."""
    if not call.plain:
        raise TypeError(f"{reason} are counted by numpy.{name}, which knows no extra arguments")
    if any(map(_has_nulls, arguments)):
        raise TypeError(f"{reason} are counted by numpy.{name}, which knows no nulls")
    return THEIRS[name](*map(_arrays.without_zone, arguments))


def _has_nulls(x):
    if isinstance(x, (list, tuple)):
        return any(map(_has_nulls, x))
    return _arrays.may_have_nulls(x) and _arrays.take(x).valid is not None


def extremes(call, array, mask=None):
    """The smallest and the largest that is counted; NaN or infinity if there is one; None without any."""
    if not array.size:
        return None
    if array.device != c.CPU:
        return call.home.extremes(array, mask)
    found = _count.stats(_count.context(c.CPU, 0, call.threads), served(array), mask)
    if found.nan:
        return array.dtype.type(np.nan), array.dtype.type(np.nan)
    if not found.samples:
        return None
    lo, hi = _count.extremes(found, array.dtype) if found.finite else (np.inf, -np.inf)
    return -np.inf if found.minus_inf else lo, np.inf if found.plus_inf else hi


def answer_of(call, arrays, bins, weights, labels, density, reduced):
    """Counts and finishes; with `by=` a row for every group."""
    axes, groups = [b.axis for b in bins], None
    _edges.check_bins(math.prod(axis.bins for axis in axes))
    edges = [call.home.give(b.edges) for b in bins]
    if labels is None:
        counts, flows, _ = total(call, arrays, axes, weights, reduced)
    else:
        numbers, label_axis, rows, groups = _groups(call, labels)
        counts, flows, _ = total(call, [numbers, *arrays], [label_axis, *axes], weights, reduced)
        if len(rows) != label_axis.bins:
            counts = counts[rows]
    return finish(call, counts, flows, bins, weights, edges, density, groups)


MOST_LABELS = 1 << 20  # labels further apart than this are numbered first


def labels_of(call, array):
    """The labels of `by=` as an Array, or None."""
    if call.by is None:
        return None
    labels = _arrays.take_labels(call.by)
    if labels.shape != array.shape:
        raise ValueError("by: a label for every sample is expected, in the shape of a")
    if call.axis is not None:
        raise ValueError("by: it goes with axis=None only")
    if labels.device != c.CPU or array.device != c.CPU:
        raise NotImplementedError("by: labels and samples on a device are not grouped")
    return labels


def _groups(call, labels):
    """Numbers in place of the labels, the axis that counts them, and of the labels that there are,
    sorted: their bins on that axis, and they themselves."""
    if labels.dtype.kind in "iub" and labels.size:
        one = Call(threads=call.threads)
        one.start(labels)
        found = _count.stats(one.context, labels, one.mask([labels]))
        lo, hi = (int(x) for x in _count.extremes(found, labels.dtype))
        if found.samples and hi - lo < MOST_LABELS and max(abs(lo), abs(hi)) < _edges.EXACT:
            axis = _count.Axis(c.INTEGER, hi - lo + 1, first=lo, last=c.LAST_OPEN)
            every = tuple(range(len(labels.shape)))
            present, *_ = total(one, [labels], [axis], Weights(None, one, labels.shape), every)
            rows = np.flatnonzero(present)
            return labels, axis, rows, rows + lo
    values, valid = labels.on_host(), labels.valid
    groups, found = np.unique(values if valid is None else values[valid], return_inverse=True)
    numbers = np.zeros(values.shape, np.intp)
    numbers[... if valid is None else valid] = found.reshape(values.shape if valid is None else -1)
    axis = _count.Axis(c.INTEGER, max(len(groups), 1), last=c.LAST_OPEN)
    return _arrays.of_numpy(numbers), axis, np.arange(len(groups)), groups


def double_weights(weights, call, shape):
    """Weights that NumPy's bincount takes: what is safely a float64; without samples it looks at none."""
    if weights is None or 0 in shape:
        return Weights(None, call, shape)
    array = _arrays.take(weights)
    if not np.can_cast(array.dtype, np.double, "safe"):
        raise TypeError(
            f"Cannot cast array data from {array.dtype!r} to dtype('float64') according to the "
            "rule 'safe'"
        )
    if array.shape != shape:
        raise ValueError("The weights and list don't have the same length.")
    return Weights(array, call, shape)
