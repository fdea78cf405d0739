"""Contexts, plans and calls: what lies between an Array and its counts."""

import atexit
import ctypes
import itertools
import os
import threading
from collections import OrderedDict

import numpy as np

from . import _library as c

_lock = threading.Lock()


def _renew():
    """In a child: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew)

# ---- devices and plans ------------------------------------------------------------------------


class _Owned:
    """A pointer that is destroyed with its last user."""

    def __init__(self, pointer, destroy, needs=None):
        self.pointer = pointer
        self.needs = needs
        self._destroy = destroy

    def __del__(self):
        if self.pointer and not _exiting:
            self._destroy(self.pointer)


# When the interpreter ends, threads may still be counting: the process takes it all with it.
_exiting = []
atexit.register(_exiting.append, True)


_contexts = {}
_NAMES = {"auto": c.AUTO, "cpu": c.CPU, "cuda": c.CUDA, "opencl": c.OPENCL}


def parse_device(device):
    """"cpu", "cuda", "cuda:1" … as (type, index); None as the processor."""
    if device is None:
        return c.CPU, 0
    name, _, index = str(device).partition(":")
    if name not in _NAMES or (index and not index.isdigit()):
        raise ValueError(f"device={device!r}: 'auto', 'cpu', 'cuda', 'opencl' or e.g. 'cuda:1'")
    return _NAMES[name], int(index or 0)


def context(device, index=0, threads=None):
    """The context of a device: opened once, shared by all calls and threads."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least 1")
    key = (device, index, threads or 0)
    found = _contexts.get(key)
    if found is None:
        with _lock:
            found = _contexts.get(key)
            if found is None:
                options = c.ContextOptions(device=device, index=index, threads=threads or 0)
                pointer = ctypes.c_void_p()
                c.context_create(ctypes.byref(options), ctypes.byref(pointer))
                found = _contexts[key] = _Owned(pointer, c.context_destroy)
    return found


class Axis:
    """An axis as the library takes it, hashable so that plans are found again."""

    __slots__ = ("kind", "bins", "lo", "hi", "first", "edges", "under", "over", "nan", "last")

    def __init__(self, kind, bins, lo=0.0, hi=0.0, first=0, edges=None, last=c.LAST_CLOSED):
        self.kind, self.bins, self.lo, self.hi, self.first = kind, bins, lo, hi, first
        self.edges = edges  # float64, contiguous
        self.last = last
        self.under = self.over = self.nan = c.COUNT

    def key(self):
        return (
            self.kind, self.bins, self.lo, self.hi, self.first, self.under, self.over, self.nan,
            self.last, None if self.edges is None else self.edges.tobytes(),
        )  # fmt: skip

    def fill(self, struct):
        struct.struct_size = ctypes.sizeof(c.Axis)
        struct.kind, struct.bins, struct.first = self.kind, self.bins, self.first
        struct.lo, struct.hi = self.lo, self.hi
        struct.under, struct.over, struct.nan, struct.last = (
            self.under, self.over, self.nan, self.last,
        )  # fmt: skip
        if self.edges is not None:
            struct.edges = self.edges.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def edges_get(self):
        """The bins+1 float64 edges."""
        struct = c.Axis()
        self.fill(struct)
        edges = np.empty(self.bins + 1)
        c.axis_edges_get(ctypes.byref(struct), edges.ctypes.data)
        return edges


_plans = OrderedDict()
_PLANS = 64


def _settings(method):
    """"name:key=value,…" as (name, [(key, value)]): the command's way to write it."""
    if method is None:
        return None, ()
    if not isinstance(method, str):
        raise TypeError(f"method={method!r}: a name, as 'tally methods' lists them")
    name, _, rest = method.partition(":")
    pairs = []
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"method={method!r}: settings are written key=value")
        pairs.append((key.encode(), value.encode()))
    return name.encode(), tuple(pairs)


def plan(context, axes, codes, channels=1, weight=0, squares=False, n=0, method=None):
    """A plan, from the cache of the last ones."""
    key = (
        id(context), tuple(axis.key() for axis in axes), tuple(codes), channels, weight, squares,
        n.bit_length(), method,
    )  # fmt: skip
    with _lock:
        found = _plans.get(key)
        if found is not None:
            _plans.move_to_end(key)
            return found
    options = c.PlanOptions(dimensions=len(axes), channels=channels, weight_dtype=weight)
    options.sum_squares = squares
    options.n_hint = n
    for i, axis in enumerate(axes):
        axis.fill(options.axes[i])
        options.dtypes[i] = codes[i]
    name, pairs = _settings(method)
    options.method = name
    if pairs:
        options.settings = (c.Setting * len(pairs))(*pairs)
        options.settings_count = len(pairs)
    pointer = ctypes.c_void_p()
    c.plan_create(context.pointer, ctypes.byref(options), ctypes.byref(pointer))
    found = _Owned(pointer, c.plan_destroy, context)
    with _lock:
        _plans[key] = found
        if len(_plans) > _PLANS:
            _plans.popitem(last=False)
    return found


# ---- shapes -----------------------------------------------------------------------------------


class Layout:
    """n-dimensional arrays of one shape, as calls on batches × rows × columns × channels.

    `kept` dimensions have a histogram each, the others are counted together. Dimensions that can
    be walked as one are joined; what is left over beyond the library's four is looped over.
    """

    def __init__(self, shape, strides, kept, size):
        """`strides[k][d]`: array k's stride along dimension d, 0 where it repeats. `size`: bytes of
        one of array 0's elements, whose neighbours may be channels."""
        order = sorted(
            (d for d in range(len(shape)) if d not in kept), key=lambda d: -abs(strides[0][d])
        )
        self.kept = self._joined(shape, strides, [d for d in range(len(shape)) if d in kept])
        self.counted = self._joined(shape, strides, order)
        self.outer_kept, self.outer_counted = self.kept[:-1], self.counted[:-2]
        self.histograms = 1
        for extent, _ in self.kept:
            self.histograms *= extent
        self.batch = self.kept[-1] if self.kept else (1, (0,) * len(strides))
        inner = self.counted[-2:]
        one = (1, (0,) * len(strides))
        self.column = inner[-1] if inner else one
        self.row = inner[-2] if len(inner) > 1 else one
        # Interleaved histograms are read together, element by element.
        self.channels = (
            1 < self.batch[0] <= 64
            and len(strides) == 1
            and abs(self.batch[1][0]) == size
            and self.column[0] > 1
        )

    @staticmethod
    def _joined(shape, strides, dimensions):
        joined = []
        for d in dimensions:
            extent, steps = shape[d], tuple(s[d] for s in strides)
            if extent == 1:
                continue
            if joined and all(b == extent * s for b, s in zip(joined[-1][1], steps)):
                joined[-1] = (joined[-1][0] * extent, steps)
            else:
                joined.append((extent, steps))
        return joined

    def calls(self):
        """(first histogram, offsets of each array in bytes) of every call."""
        ranges = [range(extent) for extent, _ in self.outer_kept + self.outer_counted]
        steps = [s for _, s in self.outer_kept + self.outer_counted]
        for index in itertools.product(*ranges):
            histogram = 0
            for i, (extent, _) in zip(index, self.outer_kept):
                histogram = histogram * extent + i
            arrays = range(len(self.batch[1]))
            offsets = [sum(i * s[k] for i, s in zip(index, steps)) for k in arrays]
            yield histogram * self.batch[0], offsets

    def view(self, array, k, offset, extra=False):
        """Array k from `offset` on. A mask or weights (`extra`) may repeat along a dimension."""

        def extent(dimension):
            n, s = dimension
            return 1 if extra and s[k] == 0 else n

        view = c.View(
            data=(array.pointer + offset) or None, dtype=array.code, device=array.device,
            rows=extent(self.row), row_stride=self.row[1][k], columns=extent(self.column),
            column_stride=self.column[1][k],
        )  # fmt: skip
        view.batches = view.channels = 1
        if self.channels:
            view.channels, view.channel_stride = self.batch[0], self.batch[1][k]
        else:
            view.batches, view.batch_stride = extent(self.batch), self.batch[1][k]
        return view


# ---- calls ------------------------------------------------------------------------------------

# Calls on more bytes than this, made by the main thread, can be stopped by Ctrl-C: the counting is
# done by another thread, while the main one waits where Python's signal handlers run.
INTERRUPTIBLE_BYTES = 1 << 26


class Watch:
    """Runs calls so that signals and the caller's progress function are heard meanwhile."""

    def __init__(self, progress, n):
        if progress is not None and not callable(progress):
            raise TypeError("progress: a function of (done, total), in samples, is expected")
        self.progress, self.n = progress, n
        self.before = 0  # samples of the calls that are done

    def run(self, function, n_bytes, samples):
        """`function(callback)` is a call with this progress callback or None."""
        main = threading.current_thread() is threading.main_thread()
        if self.progress is None and (not main or n_bytes < INTERRUPTIBLE_BYTES):
            return function(None)
        worker = _Worker(function)
        try:
            worker.start()
            while not worker.finished.wait(0.05):
                self._report(worker.done)
        except BaseException:
            worker.abandon()
            raise
        if worker.failure:
            raise worker.failure
        self.before += samples
        self._report(0)

    def _report(self, done):
        if self.progress is not None:
            self.progress(self.before + done, self.n)


class _Worker(threading.Thread):
    """One call in a thread of its own. It touches the caller's memory only until `finished`."""

    def __init__(self, function):
        super().__init__(name="tally", daemon=True)
        self.function, self.done, self.failure = function, 0, None
        self.lock, self.begun, self.stop = threading.Lock(), False, 0
        self.finished = threading.Event()

    def run(self):
        with self.lock:
            if self.stop:
                return
            self.begun = True
        try:
            self.function(c.PROGRESS(self.tick))
        except BaseException as e:
            self.failure = e
        self.finished.set()

    def tick(self, _user, done, _total):
        self.done = done
        return self.stop

    def abandon(self):
        """Stops the call and waits for its end, whatever else happens."""
        with self.lock:
            self.stop = 1
        while self.begun and not self.finished.is_set():
            try:
                self.finished.wait()
            except BaseException:
                continue


def run(plan, layout, arrays, mask, weights, target, watch, stream=None):
    """Counts every call of `layout`.

    `arrays` are the samples, one a dimension; `mask` and `weights` follow them in the layout.
    `target(histogram)` is the Output from that histogram on. The first call of a histogram obeys the
    target's `accumulate`, those after it add.
    """
    seen, owners = set(), (arrays, mask, weights)
    n_arrays = len(arrays)
    samples = layout.row[0] * layout.column[0] * layout.batch[0]
    n_bytes = samples * sum(c.DTYPE_BYTES[a.code] for a in arrays)
    if arrays[0].device != c.CPU:
        n_bytes = 0  # put on a stream, not waited for
    for first, offsets in layout.calls():
        views = (c.View * n_arrays)()
        for k, array in enumerate(arrays):
            views[k] = layout.view(array, k, offsets[k])
        options = c.ExecuteOptions()
        options.stream = stream
        k = n_arrays
        if mask is not None:
            options.mask = ctypes.pointer(layout.view(mask, k, offsets[k], True))
            k += 1
        if weights is not None:
            options.weights = ctypes.pointer(layout.view(weights, k, offsets[k], True))
        output = target(first)
        if first in seen:
            output.accumulate = 1
        seen.add(first)

        def call(callback, views=views, options=options, output=output, owners=owners):
            if callback is not None:
                options.progress = callback
            c.execute(plan.pointer, views, ctypes.byref(options), ctypes.byref(output))

        watch.run(call, n_bytes, samples)


def stats(context, array, mask=None, moments=False):
    """Extremes (and moments) of every element, in one read each."""
    masks = [mask] if mask is not None else []
    arrays = [array, *masks]
    layout = Layout(array.shape, [a.strides for a in arrays], (), c.DTYPE_BYTES[array.code])
    found = c.Stats()
    for _, offsets in layout.calls():
        view = layout.view(array, 0, offsets[0])
        covered = ctypes.byref(layout.view(mask, 1, offsets[1], True)) if masks else None
        c.stats_add(
            context.pointer, ctypes.byref(view), covered, 0, int(moments), ctypes.byref(found)
        )
    return found


def extremes(found, dtype):
    """(min, max) of the finite samples as scalars of the samples' type."""
    kind = dtype.kind
    if kind == "b":
        dtype, kind = np.dtype(np.uint8), "u"
    if kind == "i":
        return dtype.type(found.min_integer), dtype.type(found.max_integer)
    if kind == "u":
        mask = (1 << 64) - 1
        return dtype.type(found.min_integer & mask), dtype.type(found.max_integer & mask)
    return dtype.type(found.min), dtype.type(found.max)
