# SPDX-License-Identifier: Apache-2.0
"""Contexts, plans and calls: what lies between an Array and its counts."""

import _thread
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


# When the interpreter ends, threads may still be counting: the process takes it all with it.
_exiting: list = []
atexit.register(_exiting.append, True)


class _Owned:
    """A pointer that is destroyed with its last user."""

    def __init__(self, pointer, destroy, needs=None):
        self.pointer = pointer
        self.needs = needs
        self._destroy = destroy

    def __del__(self, exiting=_exiting):  # modules' own names are None at the very end
        if self.pointer and not exiting:
            self._destroy(self.pointer)


_contexts: dict = {}
_NAMES = {"auto": c.AUTO, "cpu": c.CPU, "cuda": c.CUDA, "opencl": c.OPENCL}


def parse_device(device):
    """"cpu", "cuda", "cuda:1" … as (type, index); None as the processor; several, a list or "cuda:*,cpu", as the text
    that names them all, and 0."""
    if device is None:
        return c.CPU, 0
    text = ",".join(map(str, device)) if isinstance(device, (list, tuple)) else str(device)
    if "," in text or "*" in text:
        return text, 0
    name, _, index = text.partition(":")
    if name not in _NAMES or (index and not index.isdigit()):
        raise ValueError(
            f"device={device!r}: 'auto', 'cpu', 'cuda', 'opencl', e.g. 'cuda:1', or several: ['cuda:0', 'cpu'], 'cuda:*'"
        )
    return _NAMES[name], int(index or 0)


def context(device, index=0, threads=None):
    """The context of a device, or of several (`parse_device`): opened once, shared by all calls and threads."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least 1")
    key = (device, index, threads or 0)
    found = _contexts.get(key)
    if found is None:
        with _lock:
            found = _contexts.get(key)
            if found is None:
                one = {"devices": device.encode()} if isinstance(device, str) else {"device": device, "index": index}
                options = c.ContextOptions(threads=threads or 0, **one)
                pointer = ctypes.c_void_p()
                c.context_create(ctypes.byref(options), ctypes.byref(pointer))
                found = _contexts[key] = _Owned(pointer, c.context_destroy)
    return found


class Axis:
    """An axis as the library takes it, hashable so that plans are found again."""

    __slots__ = ("kind", "bins", "lo", "hi", "first", "table", "under", "over", "nan", "last")

    def __init__(self, kind, bins, lo=0.0, hi=0.0, first=0, edges=None, last=c.LAST_CLOSED):
        self.kind, self.bins, self.lo, self.hi, self.first = kind, bins, lo, hi, first
        # Of float64 edges: bytes hash once, so that a kept axis finds its plan whatever its bins are.
        self.table = None if edges is None else np.asarray(edges, np.float64).tobytes()
        self.last = last
        self.under = self.over = self.nan = c.COUNT

    def key(self):
        return (
            self.kind, self.bins, self.lo, self.hi, self.first, self.under, self.over, self.nan,
            self.last, self.table,
        )  # fmt: skip

    def fill(self, struct):
        struct.struct_size = ctypes.sizeof(c.Axis)
        struct.kind, struct.bins, struct.first = self.kind, self.bins, self.first
        struct.lo, struct.hi = self.lo, self.hi
        struct.under, struct.over, struct.nan, struct.last = (
            self.under, self.over, self.nan, self.last,
        )  # fmt: skip
        if self.table is not None:
            struct.edges = ctypes.cast(self.table, ctypes.POINTER(ctypes.c_double))

    def edges_get(self):
        """The bins+1 float64 edges."""
        struct = c.Axis()
        self.fill(struct)
        edges = np.empty(self.bins + 1)
        c.axis_edges_get(ctypes.byref(struct), edges.ctypes.data)
        return edges


_plans: OrderedDict = OrderedDict()
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


def plan(context, axes, codes, channels=1, weight=0, squares=False, n=0, method=None, counter=0,
         limit=0.0):  # fmt: skip
    """A plan, from the cache of the last ones. `limit`: the library's weight_limit."""
    key = (
        id(context), tuple(axis.key() for axis in axes), tuple(codes), channels, weight, squares,
        n.bit_length(), method, counter, limit,
    )  # fmt: skip
    with _lock:
        found = _plans.get(key)
        if found is not None:
            _plans.move_to_end(key)
            return found
    options = c.PlanOptions(dimensions=len(axes), channels=channels, weight_dtype=weight)
    options.sum_squares = squares
    options.counter = counter
    options.n_hint = n
    options.weight_limit = limit
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


def walkable(samples, extras, kept):
    """The same arrays in a form that views can describe, and how often each element occurs in them.

    This is the one check before addresses go to the library, to which a stride of 0 means packed:
    it would read past the end of samples that are repeated by such strides. Dimensions outside
    `kept` along which every array repeats are cut to their first index; samples that repeat along
    others are copied. A mask or weights (`extras`) may repeat: a view of extent 1 says so.
    """
    arrays = [*samples, *extras]
    shape, times = list(arrays[0].shape), 1
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise ValueError(f"arrays differ in shape: {arrays[0].shape} and {array.shape}")
        if (array.device, array.index) != (arrays[0].device, arrays[0].index):
            raise ValueError("the arrays lie on different devices")
    for d, extent in enumerate(shape):
        if extent > 1 and d not in kept and not any(a.strides[d] for a in arrays):
            shape[d], times = 1, times * extent
    if times > 1:
        arrays = [a.part(shape) for a in arrays]
    for i in range(len(samples)):
        if any(n > 1 and not s for n, s in zip(arrays[i].shape, arrays[i].strides)):
            arrays[i] = arrays[i].contiguous()
    return arrays, times


class Layout:
    """n-dimensional arrays of one shape, as calls on batches × rows × columns × channels.

    `kept` dimensions have a histogram each, the others are counted together. Dimensions that can
    be walked as one are joined; what is left over beyond the library's four is looped over.
    """

    def __init__(self, samples, extras=(), kept=()):
        """Every element counts `times` times. `extras` are the mask and the weights, if any."""
        self.arrays, self.times = walkable(samples, extras, kept)
        self.n_samples = len(samples)
        shape, strides = self.arrays[0].shape, [a.strides for a in self.arrays]
        self.size = self.arrays[0].size
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
            and abs(self.batch[1][0]) == c.DTYPE_BYTES[self.arrays[0].code]
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

    def view(self, k, offset):
        """Array k from `offset` on."""
        array = self.arrays[k]

        def extent(dimension):
            n, s = dimension
            return min(n, 1) if k >= self.n_samples and s[k] == 0 else n

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

    def __init__(self, progress=None, n=0, times=1):
        """`n` samples in all, each of which counts `times` times."""
        if progress is not None and not callable(progress):
            raise TypeError("progress: a function of (done, total), in samples, is expected")
        self.progress, self.n, self.times = progress, n, times
        self.before = 0  # samples of the calls that are done

    def stops(self, n_bytes):
        """Whether a call on so many bytes may raise although the library has done it."""
        main = threading.current_thread() is threading.main_thread()
        return self.progress is not None or (main and n_bytes >= INTERRUPTIBLE_BYTES)

    def run(self, function, n_bytes, samples):
        """`function(callback)` is a call with this progress callback or None."""
        if not self.stops(n_bytes):
            return function(None)
        self.apart(function)
        self.before += samples
        self._report(0)

    def apart(self, function):
        """Runs `function(callback)` in a thread of its own, where no signal is raised as an exception:
        a callback that the library calls could not hand it on."""
        worker = _Worker(function)
        try:
            worker.start()
            while not worker.wait(0.05):
                self._report(worker.done)
        except BaseException:
            worker.abandon()
            raise
        if worker.failure:
            raise worker.failure

    def _report(self, done):
        if self.progress is not None:
            self.progress((self.before + done) * self.times, self.n * self.times)


class _Worker:
    """One call in a thread of its own. It touches the caller's memory only until it is `finished`.

    Plain locks, for what a signal raises inside the methods of `threading.Thread` and `Event`, which
    are Python, leaves these in disorder.
    """

    def __init__(self, function):
        self.function, self.done, self.failure = function, 0, None
        self.lock, self.begun, self.stop = _thread.allocate_lock(), False, 0
        self.running, self.finished = _thread.allocate_lock(), False
        self.running.acquire()

    def start(self):
        _thread.start_new_thread(self.run, ())

    def run(self):
        with self.lock:
            if self.stop:
                return
            self.begun = True
        try:
            self.function(c.PROGRESS(self.tick))
        except BaseException as e:
            self.failure = e
        self.finished = True
        self.running.release()

    def tick(self, _user, done, _total):
        self.done = done
        return self.stop

    def wait(self, seconds):
        """Whether it is finished, after so long at most."""
        return self.finished or (self.running.acquire(timeout=seconds) and self.finished)

    def abandon(self):
        """Stops the call and waits for its end, whatever else happens."""
        asked = False
        while not asked or (self.begun and not self.finished):
            try:
                if asked:
                    self.wait(0.05)
                with self.lock:
                    self.stop, asked = 1, True
            except BaseException:
                continue


def call_size(layout):
    """The samples of a call, and their bytes: 0 for a call that is put on a stream, not waited for."""
    samples = layout.row[0] * layout.column[0] * layout.batch[0]
    if layout.arrays[0].device != c.CPU:
        return samples, 0
    return samples, samples * sum(c.DTYPE_BYTES[a.code] for a in layout.arrays[: layout.n_samples])


def run(plan, layout, mask, weights, target, watch, stream=None):
    """Counts every call of `layout`.

    `mask` and `weights`: whether the layout has them. `target(histogram)` is the Output from that
    histogram on. The first call of a histogram obeys the target's `accumulate`, those after it add.
    """
    seen, n = set(), layout.n_samples
    samples, n_bytes = call_size(layout)
    for first, offsets in layout.calls():
        views = (c.View * n)(*(layout.view(k, offsets[k]) for k in range(n)))
        options = c.ExecuteOptions()
        options.stream = stream
        if mask:
            options.mask = ctypes.pointer(layout.view(n, offsets[n]))
        if weights:
            options.weights = ctypes.pointer(layout.view(n + mask, offsets[n + mask]))
        output = target(first)
        if first in seen:
            output.accumulate = 1
        seen.add(first)

        # `layout` keeps the arrays alive where the call goes on in another thread.
        def call(callback, views=views, options=options, output=output, layout=layout):
            if callback is not None:
                options.progress = callback
            c.execute(plan.pointer, views, ctypes.byref(options), ctypes.byref(output))

        watch.run(call, n_bytes, samples)


def stats(context, array, mask=None):
    """Extremes of every element, in one read each; how many there are is not kept."""
    layout = Layout([array], [] if mask is None else [mask])
    found = c.Stats()
    for _, offsets in layout.calls():
        view = layout.view(0, offsets[0])
        covered = None if mask is None else ctypes.byref(layout.view(1, offsets[1]))
        c.stats_add(context.pointer, ctypes.byref(view), covered, 0, 0, ctypes.byref(found))
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
