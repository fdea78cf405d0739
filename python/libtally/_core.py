# SPDX-License-Identifier: Apache-2.0
"""What the functions share: their extra arguments, weights, masks, and the way to an answer."""

import functools
import warnings
from collections import namedtuple

import numpy as np

from . import _arrays, _count
from . import _library as c
from ._edges import Unserved

Flows = namedtuple("Flows", "under over nan masked")
Flows.__doc__ = """Numbers of samples in no bin: arrays, one number a histogram, or numbers."""

_FLOW = {"count": c.COUNT, "clamp": c.CLAMP, "raise": c.FAIL, None: c.COUNT}


class Call:
    """The arguments that all functions share, and what they lead to."""

    def __init__(self, axis=None, where=None, flow=None, out=None, device=None, method=None,
                 threads=None, by=None, progress=None):  # fmt: skip
        if flow not in _FLOW:
            raise ValueError(f"flow={flow!r}: None, 'count', 'clamp' or 'raise'")
        self.axis, self.flow, self.out, self.method = axis, flow, out, method
        self.threads, self.by, self.progress = threads, by, progress
        self.device, self.where, self._mask = device, where, None
        self.wants_flows = flow == "count"
        given = (axis, where, flow, out, device, method, threads, by, progress)
        self.plain = all(value is None for value in given)

    def start(self, array):
        """Chooses device and home by where the samples lie."""
        self.home = self.results = array.home
        if array.device != c.CPU:
            kind = array.device, array.index
            if self.device is not None and _count.parse_device(self.device)[0] != kind[0]:
                raise ValueError(f"device={self.device!r}: the samples lie on a CUDA device")
        else:
            kind = _count.parse_device(self.device)
        self.context = _count.context(*kind, self.threads)
        self.stream = self.home.stream or None
        self.on_device = self.delivers = array.device != c.CPU  # samples; results

    def to_host(self):
        """Results come back to the host, wherever the samples lie."""
        self.delivers, self.results, self.wants_flows = False, _arrays.NUMPY, True

    def mask(self, arrays):
        """What is counted, as bytes of the samples' shape, or None for all: `where=` without the nulls
        of `arrays`, which are the samples and whatever goes with them. Found once a call."""
        if self._mask is None:
            self._mask = (self._find_mask(arrays),)
        return self._mask[0]

    def _find_mask(self, arrays):
        shape = arrays[0].shape
        valid = [a.valid for a in arrays if a.valid is not None]
        if self.where is not None:
            if self.on_device:
                return self.home.like(self.where, shape)
            valid.append(truths(self.where))
        if not valid:
            return None
        both = functools.reduce(np.logical_and, valid)
        return _arrays.of_numpy(np.broadcast_to(both, shape).view(np.uint8))


def truths(where):
    """`where=` as a boolean array; a null is False."""
    array = _arrays.take(where)
    if array.dtype != np.bool_:
        raise TypeError(f"where: boolean is expected, not {array.dtype}")
    if array.device != c.CPU:
        raise ValueError("where: it lies on a device, the samples do not")
    truths = array.on_host().view(np.bool_)
    return truths if array.valid is None else truths & array.valid


def served(array, what="samples"):
    """The library's type, or a word to NumPy that it is its turn."""
    if not array.code:
        raise Unserved(f"{array.dtype} {what}")
    return array


def samples(a):
    array = _arrays.take(a)
    if array.dtype.kind == "b":
        warnings.warn(
            f"Converting input from {array.dtype} to {np.uint8} for compatibility.",
            RuntimeWarning,
            stacklevel=5,
        )
        array.dtype = np.dtype(np.uint8)
        if isinstance(array.owner, np.ndarray):
            array.owner = array.owner.view(np.uint8)
    return array


def normal_axes(axis, n):
    """The dimensions counted together, as a sorted tuple; all for None."""
    if axis is None:
        return tuple(range(n))
    axes = axis if isinstance(axis, tuple) else (axis,)
    found = sorted(_normal_axis(i, n) for i in axes)
    if len(set(found)) < len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(found)


def _normal_axis(i, n):
    if not -n <= i < n:
        raise np.exceptions.AxisError(i, n) if hasattr(np, "exceptions") else np.AxisError(i, n)
    return i % n


class Weights:
    """Weights as the library sums them, and the type that NumPy's answer has."""

    def __init__(self, weights, call, shape):
        self.parts, self.result, self.valid = [], np.dtype(np.intp), None
        self.given = weights is not None
        if not self.given:
            return
        array = _arrays.take(weights)
        if array.shape != shape:
            raise ValueError("weights should have the same shape as a.")
        self.result, self.valid = array.dtype, array.valid
        kind, on_host = array.dtype.kind, array.device == c.CPU
        if kind == "c" and array.dtype.itemsize <= 16 and on_host:
            w = array.owner.astype(np.complex128, copy=False)
            self.parts = [_arrays.of_numpy(w.real), _arrays.of_numpy(w.imag)]
        elif kind in "iub" or array.code in (c.DTYPES["f32"], c.DTYPES["f64"]):
            self.parts = [array]
            if kind in "iub":
                self.result = np.dtype(np.int64)
        elif array.dtype == np.float16 and on_host:
            self.parts = [_arrays.of_numpy(array.owner.astype(np.float32))]
        elif array.code == c.DTYPES["bf16"] and on_host:  # a float32's upper half
            self.parts = [_arrays.of_numpy(array.numbers())]
        else:
            raise Unserved(f"{array.dtype} weights")

    def as_floats(self):
        """Integers as float64, for sums that are kept in it."""
        self.parts = [
            _arrays.of_numpy(p.owner.astype(np.float64)) if p.dtype.kind in "iub" else p
            for p in self.parts
        ]

    @property
    def counter(self):
        """Of the memory that the library writes."""
        if not self.given:
            return np.dtype(np.int64)
        return np.dtype(np.int64 if self.parts[0].dtype.kind in "iub" else np.float64)


def total(call, arrays, axes, weights, reduced, squares=False, onto=None):
    """Counts `arrays` on `axes`: the counts, (kept…, bins…), the flows, (kept…, 4), or None if nobody
    wants them, and of one histogram on the host the sums of squared weights if `squares`, else None.
    `onto`: counts, and squares or None, where results go, that are added to and returned, at the cost of
    the samples alone, if one call of the library does it all (which leaves them alone if it fails),
    and cannot be stopped once done; else new ones are returned."""
    mask = call.mask([*arrays, weights])
    shape = arrays[0].shape
    kept = tuple(d for d in range(len(shape)) if d not in reduced)
    rows = tuple(shape[d] for d in kept)
    bins = tuple(axis.bins for axis in axes)
    policy = _FLOW[call.flow]
    for axis in axes:
        axis.under, axis.over = axis.under or policy, axis.over or policy
        axis.nan = policy if policy == c.FAIL else c.COUNT
    make = call.results.empty if arrays[0].size else call.results.zeros
    answers, squared = [], None
    parts = weights.parts or [None]
    for part in parts:
        layout = _count.Layout(arrays, [a for a in (mask, part) if a is not None], kept)
        once = len(parts) == 1 and layout.times == 1 and len(list(layout.calls())) == 1
        watch = _count.Watch(call.progress, layout.size, layout.times)
        whole = onto is not None and once and not watch.stops(_count.call_size(layout)[1])
        counts = onto[0] if whole else make(rows + bins, weights.counter)
        if squares:
            squared = onto[1] if whole else call.results.zeros(bins, np.dtype(float))
        flows = None
        if call.wants_flows:
            flows = (call.results.zeros if whole else make)(rows + (4,), np.dtype(np.int64))
        plan = _count.plan(
            call.context, axes, [a.code for a in arrays],
            channels=layout.batch[0] if layout.channels else 1,
            weight=part.code if part is not None else 0, squares=squares,
            n=layout.size, method=call.method,
        )  # fmt: skip
        at = call.results.place(counts)
        flow_at = call.results.place(flows) if call.wants_flows else None
        cells = 8 * int(np.prod(bins, dtype=object))

        def target(first, at=at, flow_at=flow_at, cells=cells, whole=whole, squared=squared):
            return c.Output(
                counts=at + first * cells, on_device=call.delivers, accumulate=int(whole),
                flows=flow_at + first * 32 if flow_at else None,
                sum_squares=None if squared is None else call.results.place(squared),
            )  # fmt: skip

        _count.run(plan, layout, mask is not None, part is not None, target, watch, call.stream)
        if layout.times > 1:
            for array in (counts, flows, squared):
                if array is not None:
                    array *= layout.times
        answers.append((counts, flows))
    counts, flows = answers[0]
    if len(answers) == 2:
        counts = counts + 1j * answers[1][0]
    return counts, flows, squared


def finish(call, counts, flows, bins, weights, edges, density=None, groups=None):
    """NumPy's answer: spread, typed, accumulated, with what the extras add."""
    home = call.home
    lead = counts.ndim - len(bins)
    for i, b in enumerate(bins):
        counts = b.spread(counts, lead + i, home.zeros)
    if call.out is not None:
        counts = accumulate(home, call.out, counts)
    else:
        counts = home.cast(counts, weights.result)
    if density:
        counts = home.density(counts, [b.edges for b in bins])
    answer = [counts if call.out is not None else home.result(counts)]
    answer.append([home.result(e) for e in edges])
    if groups is not None:
        answer.append(groups)
    if call.flow == "count":
        answer.append(Flows(*(home.result(home.scalar(flows[..., i])) for i in range(4))))
    return tuple(answer)


def accumulate(home, out, counts):
    """Adds to the caller's array, once all is counted."""
    name = str(getattr(out, "dtype", "")).replace("torch.", "")
    if not name or tuple(out.shape) != tuple(counts.shape):
        raise ValueError(f"out: an array of shape {tuple(counts.shape)} is expected")
    ours = str(counts.dtype).replace("torch.", "")
    if name != ours and (ours != "int64" or name not in ("uint64", "float64")):
        raise TypeError(f"out: {ours} is expected, not {name}")
    out += counts if name == ours else home.cast(counts, np.dtype(name))
    return out
