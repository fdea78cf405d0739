# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays that are not torch's: CuPy, and whatever has `__cuda_array_interface__` or DLPack.

Work is put on the stream that CuPy (or torch) has current, so that it is in order with what the
caller does next, and nobody has to wait. What a lender has put on another stream is waited for by
that stream, not by the host.
"""

import functools
import sys

import numpy as np

from . import _count
from . import _library as c
from ._arrays import CODES, Array, Home, module_of
from ._compiled import fast

LEGACY = 1  # the default stream by a name that is not NULL


class CuPy(Home):
    """Results as CuPy arrays on the device of the samples."""

    name = "cupy"

    def __init__(self, index):
        import cupy

        self.cupy, self.index = cupy, index
        with self.here():
            self.stream = cupy.cuda.get_current_stream().ptr or LEGACY
        self.dlpack_stream = self.stream

    def here(self):
        return self.cupy.cuda.Device(self.index)

    def zeros(self, shape, dtype):
        with self.here():
            return self.cupy.zeros(shape, dtype)

    def empty(self, shape, dtype):
        with self.here():
            return self.cupy.empty(shape, dtype)

    def give(self, array):
        with self.here():
            return self.cupy.asarray(array)

    def take_back(self, array):
        return self.cupy.asnumpy(array) if module_of(array) == "cupy" else array

    def settle(self):
        with self.here():
            self.cupy.cuda.get_current_stream().synchronize()

    def finish(self):
        """Waits for all streams."""
        with self.here():
            self.cupy.cuda.Device().synchronize()

    def place(self, array):
        return array.data.ptr

    def cast(self, array, dtype):
        return array.astype(dtype, copy=False)

    def scalar(self, array):
        return array

    def own(self, array):
        """The Array as CuPy's, on the same memory."""
        cupy = self.cupy
        owner = array.owner
        if isinstance(owner, cupy.ndarray) and (owner.data.ptr, owner.shape) == (
            array.pointer, array.shape
        ):  # fmt: skip
            return owner
        memory = cupy.cuda.UnownedMemory(array.pointer, 0, owner, self.index)
        pointer = cupy.cuda.MemoryPointer(memory, 0)
        return cupy.ndarray(array.shape, array.dtype, pointer, array.strides)

    def copied(self, array):
        with self.here():
            return of_interface(self.own(array).copy(), self)

    def extremes(self, array, mask):
        with self.here():
            a = self.own(array)
            if mask is not None:
                a = a[mask.owner]
            lo, hi = self.cupy.asnumpy(self.cupy.stack([a.min(), a.max()]))
        return lo, hi

    def like(self, where, shape):
        with self.here():
            where = self.cupy.asarray(where)
            if where.dtype != np.bool_:
                raise TypeError(f"where: boolean is expected, not {where.dtype}")
            where = self.cupy.broadcast_to(where, shape)
        return of_interface(where, self)

    def density(self, counts, edges):
        return _density(counts, [self.give(np.array(np.diff(e), float)) for e in edges], edges)

    def wait(self, stream):
        with self.here():
            theirs = _external(self.cupy.cuda, stream)
            self.cupy.cuda.get_current_stream().wait_event(theirs.record())

    def digitize(self, x, bins, right):
        return self.cupy.digitize(x, self.give(np.asarray(self.take_back(bins))), right)


class Lent:
    """CuPy's arrays, as the compiled part asks for them (python/fast/lent.c)."""

    copy, cast, negated, strided = "copy", "astype", None, None

    def __init__(self, cupy):
        self.cupy = cupy
        self.exchange = getattr(cupy.ndarray, "__dlpack_c_exchange_api__", None)
        self.codes = {dtype: code for dtype, code in CODES.items() if dtype.kind != "b"}
        self.empty, self.zeros = cupy.ndarray, cupy.zeros
        self.current = cupy.cuda.runtime.getDevice

    def open(self, index):
        types = tuple(map(np.dtype, (np.int64, np.float64, np.float32)))
        keywords = tuple({"dtype": t} for t in types)
        return _count.context(c.CUDA, index).pointer.value, keywords, types

    def give(self, index, array):
        home = CuPy(index)
        there = home.give(array)
        home.settle()
        return there

    def put(self, index, array):
        return self.cupy.asarray(array)

    def copies(self, x, n):
        return list(self.cupy.broadcast_to(x, (n, x.size)).copy())

    def extremes(self, x):
        lo, hi = x.min(), x.max()
        return lo.item(), hi.item()

    def stream(self, index):
        return self.cupy.cuda.get_current_stream().ptr

    def recording(self):
        return self.cupy.cuda.get_current_stream().is_capturing()


@functools.lru_cache(1)
def _lend():
    if fast:
        import cupy

        fast.lend(cupy.ndarray, Lent(cupy))


def _density(counts, widths, edges):
    lead = counts.ndim - len(edges)
    whole = counts.sum(axis=tuple(range(lead, counts.ndim)), keepdims=True)
    for i, width in enumerate(widths):
        counts = counts / width.reshape((-1,) + (1,) * (len(edges) - 1 - i))
    return counts / whole


def density_there(counts, edges):
    """`_density`, where edges too are on the device."""
    widths = [e[1:] - e[:-1] for e in edges]
    floats = [w.double() if hasattr(w, "double") else w.astype(np.float64) for w in widths]
    return _density(counts, floats, edges)


class _Pointer:
    """A stream by the protocol that CuPy takes foreign ones by."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __cuda_stream__(self):
        return 0, self.pointer


def _external(cuda, pointer):
    if hasattr(cuda.Stream, "from_external"):
        return cuda.Stream.from_external(_Pointer(pointer))
    return cuda.ExternalStream(pointer)


def wait(home, stream):
    """Makes the home's stream wait for what the lender's stream holds."""
    if stream is None or stream == home.stream:
        return
    if stream == 0:
        raise ValueError("__cuda_array_interface__: stream 0 is ambiguous and not allowed")
    home.wait(stream)


def of_interface(x, home=None):
    about = x.__cuda_array_interface__
    dtype = np.dtype(about["typestr"])
    shape = tuple(about["shape"])
    strides = about.get("strides")
    if strides is None:
        strides = tuple(dtype.itemsize * int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
    if about.get("mask") is not None:
        raise NotImplementedError("__cuda_array_interface__: its mask is not read")
    pointer = about["data"][0] or 0
    index = x.device.id if module_of(x) == "cupy" else device_of(pointer) if pointer else 0
    if home is None:
        home = home_of(x, index)
        if module_of(x) != "cupy":  # CuPy's stream is the current one: what CuPy itself goes by
            wait(home, about.get("stream"))
    return Array(
        pointer, CODES.get(dtype, 0), dtype, shape, tuple(strides), x, home, c.CUDA, index
    )  # fmt: skip


def take(x):
    if module_of(x) == "cupy":
        _lend()  # plain calls on others of its kind are the compiled part's
    return of_interface(x)


def device_of(pointer):
    """The CUDA device that memory is on."""
    if "cupy" in sys.modules:
        import cupy

        return max(cupy.cuda.runtime.pointerGetAttributes(pointer).device, 0)
    return 0


def home_of(x, index):
    """Where results go for `x`: CuPy where it is installed, else torch."""
    try:
        home = CuPy(index)
    except ImportError:
        try:
            from . import _torch

            home = _torch.Torch(index)
        except ImportError:
            raise NotImplementedError(
                "results on a CUDA device are allocated by CuPy or torch; neither is installed"
            ) from None
    if module_of(x) in ("jax", "jaxlib"):
        from ._jax import through

        return through(home)
    return home
