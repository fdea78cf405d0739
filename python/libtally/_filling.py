# SPDX-License-Identifier: Apache-2.0
"""Samples into a `Hist`, by the package's Python: all that the compiled part does not take."""

import copy
import numbers
import operator

import numpy as np

from . import _arrays, _kept, _statistics
from . import _cells as cells_
from . import _library as c
from ._core import Call, Flows, Weights, total, truths
from ._edges import refused
from ._untraced import untraced
from .functions import digitize

EXACT = 1 << 53  # from here on not every integer is a float64


@untraced
def fill(hist, samples, weight, sample, options):
    """Adds to hist, which is as it was if an error is raised. `options`: where, device, method, threads,
    progress."""
    if len(samples) != len(hist.axes):
        raise ValueError(f"{len(samples)} arrays for {len(hist.axes)} axes")
    if weight is not None and hist.storage in ("count", "mean"):
        raise TypeError(
            "weights are summed with storage='sum', 'weight' or 'weighted_mean', not in counts"
        )
    if cells_.is_mean(hist.storage) != (sample is not None):
        raise TypeError("fill: sample= goes with storage='mean' and 'weighted_mean', and they with it")
    grown = _grown(hist, samples, options["where"])
    to = hist if grown is None else hist._on(grown)
    arrays = [axis.take(x) for axis, x in zip(to.axes, samples)]
    given = []
    if not any(a.shape for a in arrays):  # what is given may be of many samples at one point
        given = [_arrays.take(x) for x in (weight, sample) if x is not None]
    if any(a.shape != arrays[0].shape for a in [*arrays, *given]):
        arrays = _spread(arrays, given)
    if cells_.is_mean(hist.storage):
        flows = _add_means(to, arrays, weight, sample, options)
    else:
        flows = _add(to, arrays, weight, options)
    if any(flows):
        to.flows = Flows(*(a + int(b) for a, b in zip(to.flows, flows)))
    if to is not hist:
        hist.__dict__.update(to.__dict__)
        hist._filler = None


def _grown(hist, samples, where):
    """The axes that take these samples, where some have to grow, else None."""
    if not any(axis.growth for axis in hist.axes):
        return None
    # What is not counted grows nothing.
    mask = True if where is None else truths(where)
    axes = [axis.grown_to(x, mask) if axis.growth else axis for axis, x in zip(hist.axes, samples)]
    return None if all(map(operator.is_, axes, hist.axes)) else axes


def _spread(arrays, given):
    """Arrays of one shape, that of what is given too: numbers are repeated."""
    shapes = {a.shape for a in [*arrays, *given] if a.shape}
    if len(shapes) != 1 or any(a.device != arrays[0].device for a in arrays):
        raise ValueError("the arrays differ in shape")
    shape = shapes.pop()
    return [_repeated(a, shape) for a in arrays]


def _repeated(array, shape):
    """An array as it is; a number, or a null, in this shape."""
    if array.shape:
        return array
    made = _arrays.of_numpy(np.full(shape, array.numbers()))
    made.valid = None if array.valid is None else np.full(shape, array.valid)
    return made


# ---- counts and sums ----


@refused("fill")
def _add(hist, arrays, weight, options):
    """The numbers of samples in no bin."""
    method, progress = options["method"], options["progress"]
    call = Call(None, options["where"], None, None, options["device"], method, options["threads"],
                None, progress)  # fmt: skip
    call.start(arrays[0])
    kept = _kept.find(hist, arrays)
    if kept is None:
        call.to_host()
    if weight is None and hist.storage != "count":
        weight = 1
    if isinstance(weight, numbers.Real) or getattr(weight, "ndim", None) == 0:
        weight = np.broadcast_to(np.float64(float(weight)), arrays[0].shape)
    weights = Weights(weight, call, arrays[0].shape)
    if kept is not None:
        return kept.add(hist, call, arrays, weights)
    weights.as_floats()
    plain = method is None and progress is None
    size = hist._cells.sums.size
    few = plain and arrays[0].size < size and all(map(_has_ends, hist.axes, arrays))
    if not all(hist.shape):
        return _count_outside(hist, call, arrays, weights)
    if hist.ndim == 1 and (few or hist.storage == "count"):
        return _add_inside(hist, call, arrays, weights)
    return (_add_all if few else _add_counted)(hist, call, arrays, weights)


def _has_ends(axis, array):
    return axis.has_ends() and axis.take_exactly(array)


def _count_outside(hist, call, arrays, weights):
    """On an axis without bins nothing that is counted is left: all was masked."""
    mask = call.mask([*arrays, weights])
    if mask is None and arrays[0].size or mask is not None and mask.owner.any():
        raise ValueError("samples for an axis without bins")
    return 0, 0, 0, arrays[0].size


def _total(hist, call, arrays, axes, weights, onto=None):
    """Counts or sums, flows and sums of squares or None."""
    every = tuple(range(len(arrays[0].shape)))
    return total(call, arrays, axes, weights, every, hist.storage == "weight", onto)


def _add_onto(hist, call, arrays, axes, weights, cells):
    """Adds onto the first two of these cells, all of it or nothing, at the cost of the samples alone if
    it can be; the numbers of samples in no bin."""
    sums, squares = cells[:2]
    counts, flows, squared = _total(hist, call, arrays, axes, weights, (sums, squares))
    if counts is not sums:
        sums += counts
        if squares is not None:
            squares += squared
    return flows


def _add_inside(hist, call, arrays, weights):
    """One axis: what goes to the flow bins is counted before, in three bins."""
    axis, ends, squares = hist.axes[0], None, None
    if hist.storage != "count":
        ends, _, squares = _total(hist, call, arrays, [axis.whole().with_ends()], weights)
    flows = _add_onto(hist, call, arrays, [copy.copy(axis.axis)], weights, hist._cells.inside())
    hist._cells.sums[[0, -1]] += flows[:2] if ends is None else ends[[0, -1]]
    if squares is not None:
        hist._cells.squares[[0, -1]] += squares[[0, -1]]
    return flows


def _add_all(hist, call, arrays, weights):
    """Several axes: counted with the flow bins, in which all samples but NaN are; how many would
    be in none is counted before, in one bin."""
    _, flows, _ = _total(hist, call, arrays, [axis.whole().axis for axis in hist.axes], weights)
    wide = [axis.with_ends() for axis in hist.axes]
    _add_onto(hist, call, arrays, wide, weights, hist._cells)
    return flows


def _add_counted(hist, call, arrays, weights):
    """Many samples: counted apart, by the axes' own ways, which are quicker than with flow bins."""
    axes = [copy.copy(axis.axis) for axis in hist.axes]
    counts, flows, squares = _total(hist, call, arrays, axes, weights)
    if flows[0] or flows[1]:
        _add_outer(hist, call, arrays, weights)
    inner = hist._cells.inside()
    inner.sums[...] += counts
    if squares is not None:
        inner.squares[...] += squares
    return flows


def _add_outer(hist, call, arrays, weights):
    """To the flow bins: which, and with what weights, by axes with two bins more."""
    if not all(axis.take_exactly(a) for axis, a in zip(hist.axes, arrays)):
        raise NotImplementedError(
            "64-bit integers outside an axis that ends beyond 2^53 or -2^53: convert them to float64"
        )
    call.method = call.progress = None
    axes = [axis.with_ends() for axis in hist.axes]
    for cells, more in zip(hist._cells, _total(hist, call, arrays, axes, weights)[::2]):
        if more is not None:
            cells_.inside(more)[...] = 0
            cells += more


# ---- means ----


def _add_means(hist, arrays, weight, sample, options):
    """Samples are put into cells here, on the host; the numbers of those in no bin."""
    refused = [name for name in ("device", "method", "progress") if options[name] is not None]
    if refused:
        raise NotImplementedError(f"{refused[0]}=: means are found on the host, by one method")
    call = Call(None, options["where"])
    given = [_arrays.take(x) for x in (sample, weight) if x is not None]
    shape = arrays[0].shape
    given = [_repeated(a, shape) for a in given]
    if any(a.shape != shape for a in given):
        raise ValueError("sample and weight should have the same shape as the samples")
    if any(a.device != c.CPU for a in [*arrays, *given]):
        raise NotImplementedError("means of samples on a device: copy them to the host")
    call.start(arrays[0])
    mask = call.mask([*arrays, *given])
    values = [_floats(a) for a in given]
    if all(hist.shape) and 2 * arrays[0].size >= hist._cells.sums.size:
        flows = _means_counted(hist, arrays, values, mask, options["threads"])
        if flows is not None:
            return flows
    counted = np.ones(shape, bool) if mask is None else mask.owner.view(bool)
    values = [v[counted] for v in values]
    coordinates = [_floats(a)[counted] for a in arrays]
    cells, flows = _places(hist, coordinates)
    inside = cells >= 0
    _add_moments(hist, cells[inside], *(v[inside] for v in values))
    return (*flows, counted.size - coordinates[0].size)


def _means_counted(hist, arrays, values, mask, threads):
    """By the library, at the cost of all cells; the numbers of samples in no bin, or None where it does not
    serve these axes."""
    columns = [_statistics.column(a.numbers()) for a in arrays]
    sample, weight = (*map(_statistics.column, values), None)[:2]
    mask = None if mask is None else np.ascontiguousarray(mask.owner).reshape(-1)
    wanted = ("count", "mean", "m2", *(("weight", "weight_squares") * (hist.storage == "weighted_mean")))

    def find(axes):
        return _statistics.find(axes, columns, [sample], wanted, mask, weight, threads)

    found, outside = find([copy.copy(axis.axis) for axis in hist.axes])
    flows = [int(n) for n in outside["count"][0]]
    to = hist._cells
    if hist.ndim == 1:
        found = {n: np.concatenate([outside[n][:, :1], a, outside[n][:, 1:2]], 1) for n, a in found.items()}
    elif flows[0] or flows[1]:
        if not all(map(_has_ends, hist.axes, arrays)):
            return None
        found, _ = find([axis.with_ends() for axis in hist.axes])
    else:
        to = to.inside()
    found = {n: a[0] for n, a in found.items()}
    more = to if not to.sums.any() and not to.deltas.any() else to.each(np.zeros_like)
    more.sums[...] = found.get("weight", found["count"])
    if more.squares is not None:
        more.squares[...] = found["weight_squares"]
    some = more.sums != 0
    np.copyto(more.means, found["mean"], where=some)
    np.copyto(more.deltas, found["m2"], where=some)
    if more is not to:
        to.add(more)
    return flows


def _floats(array):
    """An Array on the host as NumPy's, in float64."""
    x = array.numbers()
    if x.dtype.kind not in "biufO":
        raise TypeError(f"means: of real numbers, not of {x.dtype}")
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8 and x.size and max(abs(int(x.min())), abs(int(x.max()))) > EXACT:
        raise NotImplementedError("means: integers beyond 2^53: convert them to float64")
    return x.astype(np.float64, copy=False)


def _places(hist, coordinates):
    """The number of each sample's cell, -1 of NaN, and how many are under, over and NaN."""
    cells = np.zeros(coordinates[0].size, np.int64)
    nan, outcome = np.zeros(cells.size, bool), np.zeros(cells.size, np.int8)
    for axis, x in zip(hist.axes, coordinates):
        at = digitize(x, axis.edges)
        if axis.axis.last == c.LAST_CLOSED:
            at = np.where(x == axis.edges[-1], len(axis), at)
        outside = np.where(at == 0, np.int8(1), np.where(at > len(axis), np.int8(2), np.int8(0)))
        outcome = np.where(outcome == 0, outside, outcome)
        nan |= np.isnan(x)
        cells = cells * axis.extent + at
    cells[nan], outcome[nan] = -1, 3
    return cells, np.bincount(outcome, minlength=4)[1:4]


def _add_moments(hist, cells, sample, weight=None):
    """At the cost of the samples alone where there are fewer of them than cells."""
    flat = hist._cells.each(lambda x: x.reshape(-1))
    if hist.storage == "weighted_mean" and weight is None:
        weight = np.ones(sample.shape)
    at = slice(None)
    if flat.sums.size > 2 * cells.size:
        at, cells = np.unique(cells, return_inverse=True)
    size = flat.sums.size if isinstance(at, slice) else at.size
    sums = flat.each(lambda x: x[at])
    sums.add(cells_.sums_of(cells, weight, sample, size))
    if not isinstance(at, slice):
        for to, part in zip(flat, sums):
            if to is not None:
                to[at] = part
