# SPDX-License-Identifier: Apache-2.0
"""Exact quantiles in one or two readings of the samples: NumPy's `quantile`, `percentile` and `median`, and
those that leave NaN out. Same arguments, same answers; samples are found, not sorted.

What the library has no type for (booleans, dates, complex numbers) and empty arrays are left to NumPy.
Arrays on a device are read there, and the answer is an array of the lender's there.
"""

import ctypes
import math
import warnings

import numpy as np

from . import _arrays
from . import _library as c
from ._compiled import fast as _fast
from ._count import context
from ._untraced import untraced

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

_NONE = np._NoValue if hasattr(np, "_NoValue") else None


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th quantiles of `a`, along `axis`: numpy.quantile.

    >>> quantile([3, 1, 4, 1, 5], [0.5, 1])
    array([3., 5.])
    """
    return _quantiles("quantile", a, q, 1, axis, out, method, keepdims, weights)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-th percentiles of `a`, along `axis`: numpy.percentile.

    >>> float(percentile([3, 1, 4, 1, 5], 50))
    3.0
    """
    return _quantiles("percentile", a, q, 100, axis, out, method, keepdims, weights)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NONE, *, weights=None):
    """The q-th quantiles of what is not NaN in `a`: numpy.nanquantile."""
    return _quantiles("nanquantile", a, q, 1, axis, out, method, keepdims, weights, skip=True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NONE, *, weights=None):
    """The q-th percentiles of what is not NaN in `a`: numpy.nanpercentile."""
    return _quantiles("nanpercentile", a, q, 100, axis, out, method, keepdims, weights, skip=True)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of `a`, along `axis`: numpy.median.

    >>> float(median([3.0, 1.0, 4.0, 1.0]))
    2.0
    """
    return _median("median", a, axis, out, keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=_NONE):
    """The median of what is not NaN in `a`: numpy.nanmedian."""
    return _median("nanmedian", a, axis, out, keepdims, skip=True)


class _Samples:
    """`a` as groups of samples, a row each: every combination of the indices that are not along `axis`."""

    keeps = False  # dimensions

    def __init__(self, a, axis, keepdims):
        array = _arrays.take(a)
        self.home, self.there, self.valid = array.home, array.device != c.CPU, array.valid
        x = array if self.there else array.numbers()
        if not self.there and not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        if array.valid is not None:
            if axis is not None and len(x.shape) > 1:
                raise ValueError("an array with nulls has quantiles of all its values only, not along an axis")
            a = x = x[array.valid]
        self.given = a  # for NumPy
        self.dtype, shape, dimensions = x.dtype, x.shape, len(x.shape)
        self.axes = axes = range(dimensions) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, dimensions) if hasattr(
            np.lib, "array_utils") else np.core.numeric.normalize_axis_tuple(axis, dimensions)  # fmt: skip
        rest = [i for i in range(dimensions) if i not in axes]
        self.whole, self.shape, self.order = shape, tuple(shape[i] for i in rest), rest + list(axes)
        self.keeps = keepdims and keepdims is not _NONE
        if self.keeps:
            self.kept = tuple(1 if i in axes else shape[i] for i in range(dimensions))
        else:
            self.kept = self.shape
        groups = math.prod(self.shape)
        self.count = math.prod(shape[i] for i in axes)
        if self.there:
            self.rows = _Lent(array, rest, sorted(axes), groups, self.count)
        else:
            self.rows = np.ascontiguousarray(x.transpose(self.order)).reshape(groups, self.count)

    def refuse(self):
        """What is left to NumPy is so on the host only."""
        if self.there:
            raise TypeError(f"these quantiles of {self.dtype} are left to NumPy; copy the array to the host")

    def served(self):
        return self.rows.size and self.dtype.kind in "iuf" and self.dtype in _arrays.CODES

    def answer(self, of_rows, skip):
        """of_rows(rows, n), an array of (quantile, row) and the numbers of NaN, of all rows: without `skip` NaN for a
        row that has one; with it of rows with equally many numbers n together. None where a row has no number."""
        if not skip or self.dtype.kind != "f":
            found, nan = of_rows(self.rows, self.count)
            if nan.any():
                found[:, nan > 0] = np.nan
            return found
        counts = self.count - order_statistics(self.rows, ())[1]
        if self.there:
            counts = np.maximum(counts, 1)  # a row without a number has NaN first
        elif not counts.all():
            return None
        whole = None
        for n in np.unique(counts):
            chosen = counts == n
            part, _ = of_rows(self.rows if chosen.all() or self.there else self.rows[chosen], int(n))
            if whole is None:
                whole = np.empty((len(part), len(counts)), part.dtype)
            whole[:, chosen] = part[:, chosen] if self.there else part
        return whole


def _runs(array, dimensions):
    """These dimensions, the outermost first, as at most two: [(extent, stride in bytes)]; or None."""
    found = []
    for i in dimensions:
        extent, stride = array.shape[i], array.strides[i]
        if extent > 1 and found and found[-1][1] == extent * stride:
            found[-1] = found[-1][0] * extent, stride
        elif extent > 1:
            found.append((extent, stride))
    # A stride of 0 is to the library one that it works out.
    return found if len(found) < 3 and all(stride for _, stride in found) else None


class _Lent:
    """The rows of an array on a device, where they lie: those along `axes`, for each index of the rest."""

    def __init__(self, array, rest, axes, groups, count):
        runs = _runs(array, rest), _runs(array, axes)
        if None in runs:
            array = array.contiguous()
            runs = _runs(array, rest), _runs(array, axes)
        if None in runs:
            raise TypeError("on a device quantiles are not along these axes; copy the array to the host")
        one = [(1, 0), (1, 0)]
        (batches, batch), (channels, channel) = (runs[0] + one)[:2]
        (rows, row), (columns, column) = (one + runs[1])[-2:]
        self.array, self.groups, self.size = array, groups, groups * count
        self.view = c.View(
            data=array.pointer, dtype=array.code, device=array.device, batches=batches, rows=rows, columns=columns,
            channels=channels, batch_stride=batch, row_stride=row, column_stride=column, channel_stride=channel,
        )  # fmt: skip

    def __len__(self):
        return self.groups

    def room(self, count):
        """For so many samples of each group."""
        return np.empty((self.groups, count), np.uint16 if self.array.code == c.DTYPES["bf16"] else self.array.dtype)

    def given(self, found):
        return (found.astype(np.uint32) << 16).view(np.float32) if self.array.code == c.DTYPES["bf16"] else found

    def extents(self):
        return self.view.batches, self.view.rows, self.view.columns, self.view.channels

    def order_statistics(self, ranks):
        array, found, nan = self.array, self.room(len(ranks)), np.empty(self.groups, np.uint64)
        options = c.QuantileOptions(stream=array.home.stream)
        c.order_statistics(
            context(array.device, array.index).pointer, ctypes.byref(self.view), ranks.ctypes.data, len(ranks),
            ctypes.byref(options), found.ctypes.data, nan.ctypes.data,
        )  # fmt: skip
        return self.given(found), nan

    def weighted(self, weights, q, skip):
        array, found = self.array, self.room(len(q))
        options = c.QuantileOptions(stream=array.home.stream, skip_nan=skip)
        c.weighted_quantiles(
            context(array.device, array.index).pointer, ctypes.byref(self.view), ctypes.byref(weights), q.ctypes.data,
            len(q), ctypes.byref(options), found.ctypes.data,
        )  # fmt: skip
        return self.given(found)


def _view(rows):
    return c.View(data=rows.ctypes.data, dtype=_arrays.CODES[rows.dtype], batches=len(rows), rows=1,
                  columns=rows.shape[1], channels=1)  # fmt: skip


def order_statistics(rows, ranks):
    """Samples of these ranks of each row, 0 the smallest, as an array of (row, rank); and the numbers of NaN, which
    rank last."""
    ranks = np.asarray(ranks, np.uint64)
    if not isinstance(rows, np.ndarray):
        return rows.order_statistics(ranks)
    found, nan = np.empty((len(rows), len(ranks)), rows.dtype), np.empty(len(rows), np.uint64)
    c.order_statistics(
        context(c.CPU).pointer, ctypes.byref(_view(rows)), ranks.ctypes.data, len(ranks), None, found.ctypes.data,
        nan.ctypes.data,
    )  # fmt: skip
    return found, nan


# Where among n samples in order a quantile lies, from 0, and what of the next sample's distance it takes:
# whole places are samples.
_PLACES = {
    "linear": lambda n, q: (n - 1) * q,
    "interpolated_inverted_cdf": lambda n, q: _continuous(n, q, 0, 1),
    "hazen": lambda n, q: _continuous(n, q, 0.5, 0.5),
    "weibull": lambda n, q: _continuous(n, q, 0, 0),
    "median_unbiased": lambda n, q: _continuous(n, q, 1 / 3.0, 1 / 3.0),
    "normal_unbiased": lambda n, q: _continuous(n, q, 3 / 8.0, 3 / 8.0),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
    "inverted_cdf": lambda n, q: _next(n * q - 1, lambda at: at == np.floor(at)),
    "closest_observation": lambda n, q: _next(
        n * q - 1 - 0.5, lambda at: (at == np.floor(at)) & (np.floor(at) % 2 == 1)
    ),
}
_SAMPLES = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _continuous(n, q, alpha, beta):
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _next(at, stays):
    return np.maximum(np.where(stays(at), np.floor(at), np.floor(at) + 1), 0)


def _part(method, at):
    part = at - np.floor(at)
    if method == "midpoint":
        part = np.where(at % 1 == 0, 0.0, 0.5)
    elif method == "averaged_inverted_cdf":
        part = np.where(part == 0, 0.5, 1.0)
    return part.astype(at.dtype, copy=False)


def _wide(values):
    """Small integers whose differences would not fit."""
    return values.astype(np.int64) if values.dtype.kind in "iu" and values.dtype.itemsize < 8 else values


def _of_rows(rows, n, q, method, weak):
    """Quantiles of rows whose first n samples in order count, and the numbers of NaN."""
    at = _PLACES[method](n, q)
    at = at.astype(np.float64) if at.dtype.kind in "iu" and method != "linear" else at
    low = np.clip(np.floor(at), 0, n - 1).astype(np.intp)
    if method in _SAMPLES or (method == "linear" and at.dtype.kind in "iu"):
        ranks, where = np.unique(low, return_inverse=True)
        found, nan = order_statistics(rows, ranks)
        return found.T[where.reshape(-1)], nan
    high = np.clip(np.floor(at) + 1, 0, n - 1).astype(np.intp)
    high[at >= n - 1] = n - 1
    low[at >= n - 1] = n - 1
    high[at < 0] = 0
    ranks, where = np.unique(np.stack([low, high]), return_inverse=True)
    found, nan = order_statistics(rows, ranks)
    where, wide = where.reshape(2, -1), _wide(found.T)
    a, b = wide[where[0]], wide[where[1]]
    part = float(_part(method, at)[0]) if weak else _part(method, at)[:, None]
    with np.errstate(invalid="ignore"):
        gap = b - a if wide.dtype.kind == "f" else (b - a).view(np.uint64)  # b is no less
        if wide.dtype != found.dtype:  # as wide as the small integers and the part make it
            a, b, gap = (x.astype(np.result_type(found.dtype, part)) for x in (a, b, gap))
        mixed = a + gap * part
        mixed = np.where(np.asarray(part) >= 0.5, b - gap * (1 - part), mixed).astype(mixed.dtype)
    at_sample = (a == b) | (np.asarray(part) == 0)  # infinite ones, too
    return np.where(at_sample, a.astype(mixed.dtype), mixed), nan


def _finish(samples, answer, lead, out):
    answer = answer.reshape(lead + samples.kept)
    if isinstance(out, np.ndarray):
        np.copyto(out, answer, casting="same_kind")  # floats are not cut to integers
        return out
    if out is not None:
        out[...] = samples.home.give(answer) if samples.there else answer
        return out
    answer = samples.home.result(samples.home.give(answer))
    return answer[()] if isinstance(answer, np.ndarray) and not answer.ndim and not samples.keeps else answer


def _plain(a, q, scale, skip, axis, out, keepdims):
    """The compiled part's answer, or None; q None for the median."""
    if _fast and out is None and (keepdims is False or keepdims is _NONE):
        return _fast.quantile(a, q, scale, skip, axis)
    return None


def _quantiles(name, a, q, scale, axis, out, method, keepdims, weights=None, skip=False):
    if method == "linear" and q is not None and weights is None:
        found = _plain(a, q, scale, skip, axis, out, keepdims)
        if found is not None:
            return found
    return _quantiles_untraced(name, a, q, scale, axis, out, method, keepdims, weights, skip)


@untraced
def _quantiles_untraced(name, a, q, scale, axis, out, method, keepdims, weights, skip):
    samples = _Samples(a, axis, keepdims)
    q = samples.home.take_back(q)
    if samples.served() and method in _PLACES:
        if weights is None:
            found = of_samples(samples, q, scale, method, skip)
        else:
            found = _of_weighted(samples, weights, q, scale, axis, method, skip)
        if found is not None:
            return _finish(samples, *found, out)
    samples.refuse()
    more = {} if weights is None else {"weights": weights}
    return getattr(np, name)(np.asarray(samples.given), q, axis, out, method=method, keepdims=keepdims, **more)


def _checked(q, scale):
    """Quantiles from 0 to 1, or None where they are left to NumPy."""
    quantiles = np.asanyarray(q)
    if quantiles.dtype.kind not in "iuf":
        return None
    if quantiles.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    quantiles = np.true_divide(quantiles, scale) if scale != 1 else quantiles
    if not ((quantiles >= 0) & (quantiles <= 1)).all():
        raise ValueError("Percentiles must be in the range [0, 100]" if scale == 100 else
                         "Quantiles must be in the range [0, 1]")  # fmt: skip
    # Narrow and unsigned integers would wrap where places are worked out.
    return quantiles.astype(np.int64) if quantiles.dtype.kind in "iu" else quantiles


def of_samples(samples, q, scale, method, skip):
    """Their quantiles, and the shape of q; None where they are left to NumPy."""
    weak = type(q) in (int, float) and samples.dtype.kind == "f"  # NumPy's numbers widen narrower samples
    quantiles = _checked(q, scale)
    if quantiles is None:
        return None
    flat = quantiles.reshape(-1).astype(np.float64 if weak else quantiles.dtype, copy=False)
    answer = samples.answer(lambda rows, n: _of_rows(rows, n, flat, method, weak), skip)
    return None if answer is None else (answer, quantiles.shape)


def _weights(samples, weights, axis):
    """Weights as rows, one for each of the samples' or one for all; None where they are left to NumPy."""
    w = np.asanyarray(weights)
    if np.ma.is_masked(w):
        raise ValueError("weights: one is masked; drop it, and its sample")
    if samples.valid is not None and w.shape == samples.valid.shape:
        w = np.asarray(w)[samples.valid]
    if w.dtype.kind not in "biuf" or w.dtype.itemsize > 8 or type(w) is not np.ndarray:
        return None
    w = w.astype({"f2": np.float32, "b1": np.uint8}.get(w.dtype.str[1:], w.dtype.newbyteorder("=")), copy=False)
    if w.shape == samples.whole:
        return np.ascontiguousarray(w.transpose(samples.order)).reshape(-1, samples.count)
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if w.shape != tuple(samples.whole[i] for i in samples.axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return np.ascontiguousarray(w).reshape(1, samples.count)


def _weights_there(samples, weights, axis):
    """The samples' rows and the view of weights beside them on a device; and the weights, which are to be kept."""
    array, rows = _arrays.take(weights), samples.rows
    if (array.device, array.index) != (rows.array.device, rows.array.index):
        raise TypeError("weights: they must be on the device of the samples")
    if array.code not in _arrays.CODES.values() or array.code in (c.DTYPES["f16"], c.DTYPES["bf16"]):
        raise TypeError(f"weights of {array.dtype} are left to NumPy; copy the arrays to the host")
    rest, axes = samples.order[: len(samples.shape)], sorted(samples.axes)
    if array.shape == samples.whole:
        lent = _Lent(array, rest, axes, rows.groups, samples.count)
        if lent.extents() != rows.extents():
            rows, lent = (
                _Lent(x.array.contiguous(), rest, axes, rows.groups, samples.count) for x in (rows, lent)
            )  # fmt: skip
        return rows, lent.view, lent
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if array.shape != (samples.count,) or len(axes) > 1:
        raise ValueError("weights: on a device they are of the samples' shape or along one axis")
    view = c.View(data=array.pointer, dtype=array.code, device=array.device, batches=1, rows=1, columns=samples.count,
                  channels=1, column_stride=array.strides[0])  # fmt: skip
    return rows, view, array


def _reached(q):
    """The least float64 that is no less than q in q's type, in which NumPy compares; above 0."""
    if q.dtype.kind != "f" or q.dtype.itemsize > 4:
        near = q.astype(np.float64)
        return np.where(near < q, np.nextafter(near, 1), near)
    q = np.maximum(q, np.nextafter(q.dtype.type(0), q.dtype.type(1)))
    half = (np.nextafter(q, q.dtype.type(-1)).astype(np.float64) + q) / 2
    return np.where(half.astype(q.dtype) >= q, half, np.nextafter(half, 1))


def _of_weighted(samples, weights, q, scale, axis, method, skip):
    """As of_samples."""
    quantiles = _checked(q, scale)
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if quantiles is None:
        return None
    flat = _reached(quantiles.reshape(-1))
    if samples.there:
        rows, w, _lent = _weights_there(samples, weights, axis)
        found = rows.weighted(w, flat, skip)
    else:
        w = _weights(samples, weights, axis)
        if w is None:
            return None
        found = np.empty((len(samples.rows), len(flat)), samples.rows.dtype)
        c.weighted_quantiles(
            context(c.CPU).pointer, ctypes.byref(_view(samples.rows)), ctypes.byref(_view(w)), flat.ctypes.data,
            len(flat), ctypes.byref(c.QuantileOptions(skip_nan=skip)), found.ctypes.data,
        )  # fmt: skip
    if skip and samples.dtype.kind == "f" and np.isnan(found).any():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=6)  # as NumPy
    return found.T, quantiles.shape


def _middle(rows, n):
    found, nan = order_statistics(rows, np.unique([(n - 1) // 2, n // 2]))
    mean = np.mean(found, axis=1)
    return np.where(found[:, 0] == found[:, -1], found[:, 0].astype(mean.dtype), mean)[None], nan


def _median(name, a, axis, out, keepdims, skip=False):
    found = _plain(a, None, 1, skip, axis, out, keepdims)
    return _median_untraced(name, a, axis, out, keepdims, skip) if found is None else found


@untraced
def _median_untraced(name, a, axis, out, keepdims, skip):
    if type(a) is np.ndarray and not a.size:
        return getattr(np, name)(a, axis, out, keepdims=keepdims)
    samples = _Samples(a, axis, keepdims)
    answer = samples.answer(_middle, skip) if samples.served() else None
    if answer is None:
        samples.refuse()
        return getattr(np, name)(np.asarray(samples.given), axis, out, keepdims=keepdims)
    return _finish(samples, answer, (), out)
