# SPDX-License-Identifier: Apache-2.0
"""Statistics of values in bins: the library's call on NumPy arrays."""

import ctypes

import numpy as np

from . import _arrays, _count
from . import _library as c

FIELDS = ("count", "weight", "weight_squares", "sum", "mean", "m2", "min", "max")


def column(x):
    """A host array of numbers, in one dimension, that a view describes: copied only where it must be."""
    x = x.reshape(-1)
    if x.dtype.kind == "b":
        x = x.view(np.uint8)
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype not in _arrays.CODES:
        x = x.astype(np.float64)
    return np.ascontiguousarray(x) if x.size > 1 and not x.strides[0] else x


def _view(x):
    return c.View(
        data=x.ctypes.data if x.size else None, dtype=_arrays.CODES[x.dtype], batches=1, rows=1,
        columns=x.size, column_stride=x.strides[0] if x.size > 1 else 0, channels=1,
    )  # fmt: skip


def _views(columns):
    return (c.View * len(columns))(*map(_view, columns))


def _outputs(wanted, shape):
    arrays = {name: np.empty(shape, np.uint64 if name == "count" else float) for name in wanted}
    return arrays, c.Statistics(**{name: a.ctypes.data for name, a in arrays.items()})


def find(axes, coordinates, values, wanted, mask=None, weights=None, threads=None):
    """Arrays by the names in `wanted`: (values, bins…), and the same of the samples in no bin, (values, 4).

    `axes` are the library's, `coordinates` a column for each, `values` columns; mask (bytes) and weights
    too. All have one length.
    """
    context = _count.context(c.CPU, 0, threads)
    codes = [_arrays.CODES[x.dtype] for x in coordinates]
    plan = _count.plan(context, axes, codes, n=coordinates[0].size)
    parts = [
        _find(plan, axes, coordinates, values[i : i + c.MAX_VALUES], wanted, mask, weights)
        for i in range(0, len(values), c.MAX_VALUES)
    ]
    if len(parts) == 1:
        return parts[0]
    return tuple({n: np.concatenate([part[k][n] for part in parts]) for n in wanted} for k in range(2))


def find_there(axes, coordinates, rows, wanted):
    """The same of arrays of one device: columns as coordinates, and values as one or two dimensions; on the host."""
    first = coordinates[0]
    plan = _count.plan(
        _count.context(first.device, first.index), axes, [x.code for x in coordinates], n=first.size
    )
    views = (c.View * len(coordinates))(*(_view_there(x, x.pointer) for x in coordinates))
    starts = [rows.pointer + i * rows.strides[0] for i in range(rows.shape[0])] if len(rows.shape) > 1 else [rows.pointer]
    options = c.StatisticsOptions(stream=first.home.stream)
    found = []
    for i in range(0, len(starts), c.MAX_VALUES):
        part = starts[i : i + c.MAX_VALUES]
        bins, at = _outputs(wanted, (len(part), *(axis.bins for axis in axes)))
        columns = (c.View * len(part))(*(_view_there(rows, start) for start in part))
        c.bin_statistics(
            plan.pointer, views, columns, len(part), ctypes.byref(options), ctypes.byref(at), None,
        )  # fmt: skip
        found.append(bins)
    return {n: np.concatenate([part[n] for part in found]) for n in wanted}


def _view_there(array, pointer):
    """The last dimension of a device's array, from `pointer` on."""
    return c.View(
        data=pointer if array.shape[-1] else None, dtype=array.code, device=array.device, batches=1, rows=1,
        columns=array.shape[-1], column_stride=array.strides[-1] if array.shape[-1] > 1 else 0, channels=1,
    )  # fmt: skip


def _find(plan, axes, coordinates, values, wanted, mask, weights):
    bins, at = _outputs(wanted, (len(values), *(axis.bins for axis in axes)))
    flows, outside = _outputs(wanted, (len(values), 4))
    options = c.StatisticsOptions()
    if mask is not None:
        options.mask = ctypes.pointer(_view(mask))
    if weights is not None:
        options.weights = ctypes.pointer(_view(weights))
    views, columns = _views(coordinates), _views(values)

    def call(callback):
        if callback is not None:
            options.progress = callback
        c.bin_statistics(
            plan.pointer, views, columns, len(values), ctypes.byref(options), ctypes.byref(at),
            ctypes.byref(outside),
        )  # fmt: skip

    size = coordinates[0].size
    _count.Watch(None, size).run(call, sum(x.nbytes for x in (*coordinates, *values)), size)
    return bins, flows
