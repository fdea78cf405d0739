"""Histograms in the command's saved form, written and read by the library."""

import ctypes
import os

import numpy as np

from . import _count
from . import _library as c
from ._core import Flows
from .axes import Category, Integer, Log, Regular, Variable


def save(hist, path):
    if any(isinstance(axis, Category) for axis in hist.axes):
        raise NotImplementedError("save: categories have no saved form")
    context = _count.context(c.CPU)
    n = len(hist.axes)
    weight = 0 if hist.storage == "count" else c.DTYPES["f64"]
    plan = _count.plan(
        context, [axis.axis for axis in hist.axes], [c.DTYPES["f64"]] * n, weight=weight,
        squares=hist.squares is not None,
    )  # fmt: skip
    result = ctypes.c_void_p()
    names = (ctypes.c_char_p * 1)(hist.name.encode())
    c.result_create(plan.pointer, 1, names, ctypes.byref(result))
    try:
        output = c.result_output(result)
        flows = np.array(hist.flows, np.uint64)
        for to, array in ((output.counts, hist.sums), (output.flows, flows),
                          (output.sum_squares, hist.squares)):  # fmt: skip
            if array is not None:
                ctypes.memmove(to, np.ascontiguousarray(array).ctypes.data, array.nbytes)
        if output.flow_sums:  # the weights of samples in no bin, which a Hist does not keep
            ctypes.memmove(output.flow_sums, np.full(4, np.nan).ctypes.data, 32)
        results = (ctypes.c_void_p * 1)(result)
        c.result_save(results, 1, c.FORMAT_JSON, None, os.fsencode(path))
    finally:
        c.result_destroy(result)


def load(cls, path, index):
    with open(path, "rb") as file:
        text = file.read()
    result = ctypes.c_void_p()
    name = os.fsencode(path)
    c.result_parse(text, len(text), name, index, ctypes.byref(result))
    try:
        return _taken(cls, result)
    finally:
        c.result_destroy(result)


def _taken(cls, result):
    info = c.ResultInfo()
    c.result_info_get(result, ctypes.byref(info))
    axes = [_axis(c.result_axis(result, d).contents) for d in range(info.dimensions)]
    storage = ("count", "sum", "sum")[info.kind] if not info.has_squares else "weight"
    found = []
    for h in range(info.histograms):
        hist = cls(*axes, storage=storage, name=c.result_name(result, h).decode())
        kind = (np.uint64, np.float64, np.int64)[info.kind]
        hist.sums[...] = _copied(c.result_counts(result, h), kind, hist.sums.shape)
        if info.has_squares:
            hist.squares[...] = _copied(c.result_squares(result, h), np.float64, hist.sums.shape)
        flows = _copied(c.result_flows(result, h), np.uint64, (4,))
        hist.flows = Flows(*(int(f) for f in flows))
        found.append(hist)
    return found[0] if len(found) == 1 else found


def _copied(pointer, dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(pointer, size), dtype).reshape(shape)


def _axis(axis):
    """An axis of the result; its own kind where that gives the very edges."""
    n, closed = axis.bins, axis.last == c.LAST_CLOSED
    edges = np.array(axis.edges[: n + 1])
    if axis.kind == c.CATEGORY:
        raise NotImplementedError("load: categories of bytes have no axis here")
    if axis.kind == c.INTEGER:
        return Integer(axis.first, axis.first + n)
    if axis.kind in (c.EVEN, c.LOG):
        kind = Regular if axis.kind == c.EVEN else Log
        found = kind(n, axis.lo, axis.hi, closed=closed)
        if np.array_equal(found.edges, edges):
            return found
    return Variable(edges, closed=closed)
