# SPDX-License-Identifier: Apache-2.0
"""Plain calls on device arrays are prepared once: here on the driver that counts calls, with arrays in CuPy's place,
and with some that DLPack's exchange table lends. The driver's kernels count nothing."""

import contextlib
import ctypes
import os
import pathlib
import sys
import time
import types

drivers = pathlib.Path(os.environ["BUILDDIR"]) / "tests/device/lib"
if "TALLY_LIBRARY" not in os.environ or os.environ.get("SANITIZE") or not (drivers / "libcuda.so.1").exists():
    print("skipped: no shared library without sanitizers here, or no stand-in for a driver")
    sys.exit(77)
os.environ["TALLY_CUDA_LIBRARY"] = str(drivers / "libcuda.so.1")
os.environ["TALLY_NVRTC_LIBRARY"] = str(drivers / "libnvrtc.so.13")
os.environ["TALLY_OPENCL_LIBRARY"] = "none"
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

import numpy as np

driver = ctypes.CDLL(os.environ["TALLY_CUDA_LIBRARY"])
driver.fake_calls.restype, driver.fake_calls.argtypes = ctypes.c_long, [ctypes.c_char_p]
driver.fake_stream.restype = ctypes.c_void_p
stream = driver.fake_stream()


lying = {}  # types of samples by their address


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p))
def extremes(arguments):
    """The kernel order_extremes (src/gpu/kernels/order_extremes.cl)."""
    data, _, n, state = (ctypes.cast(arguments[i], ctypes.POINTER(ctypes.c_uint64))[0] for i in range(4))
    x = np.frombuffer((ctypes.c_char * (n * lying[data].itemsize)).from_address(data), lying[data])
    top = 1 << (63 if x.itemsize == 8 else 31)
    if x.dtype.kind == "f":
        bits = [int(b) for b in (x.min(), x.max()) for b in [np.array(b).view(f"u{x.itemsize}")]]
        keys = [top * 2 - 1 - b if b >> (8 * x.itemsize - 1) else b | top for b in bits]
    else:
        keys = [int(v) + (0 if x.dtype.kind == "u" and x.itemsize > 2 else top) for v in (x.min(), x.max())]
    (ctypes.c_uint64 * 3).from_address(state)[:] = [*keys, 0]


driver.fake_kernel(b"order_extremes", extremes)


class Array:
    """What the package asks of a CuPy array; its memory is the host's."""

    device, __hash__ = types.SimpleNamespace(id=0), None

    def __init__(self, shape, dtype=None):
        self.a = np.zeros(shape, dtype) if dtype is not None else shape
        lying[self.a.ctypes.data] = self.a.dtype
        self.dtype, self.shape, self.size = self.a.dtype, self.a.shape, self.a.size
        self.data = types.SimpleNamespace(ptr=self.a.ctypes.data)
        self.flags = types.SimpleNamespace(c_contiguous=self.a.flags.c_contiguous)

    @property
    def __cuda_array_interface__(self):
        if not self.size or self.ndim_is_read:
            return dict(self.a.__array_interface__, strides=self.a.strides)
        raise AssertionError("the long way was taken")

    ndim_is_read = False

    def __getitem__(self, i):
        return type(self)(self.a[i])

    def __setitem__(self, i, x):
        self.a[i] = x.a

    def __iadd__(self, other):
        self.a += other.a
        return self

    def __iter__(self):
        return (type(self)(row) for row in self.a)

    def copy(self):
        return type(self)(self.a.copy())

    def astype(self, dtype):
        return type(self)(self.a.astype(dtype))

    def tolist(self):
        return self.a.tolist()

    def min(self):
        return self.a.min()

    def max(self):
        return self.a.max()


class Device(contextlib.nullcontext):
    def synchronize(self):
        driver.fake_finished = True


Array.__module__ = "cupy"
recording = False
current = types.SimpleNamespace(ptr=stream, synchronize=lambda: None, is_capturing=lambda: recording)
sys.modules["cupy"] = types.ModuleType("cupy")
vars(sys.modules["cupy"]).update(
    ndarray=Array, empty=Array, asnumpy=lambda x: x.a.copy(), asarray=lambda a: Array(a.copy()), zeros=lambda n, dtype: Array(np.zeros(n, dtype)),
    cuda=types.SimpleNamespace(
        Device=Device, get_current_stream=lambda: current,
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
    ),
)  # fmt: skip

import libtally as tally
from libtally import _compiled, _cuda

if _compiled.fast is None:
    print("skipped: without the compiled part")
    sys.exit(77)


# ---- DLPack's exchange table ----


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]  # fmt: skip


class Lent(Array):
    """An array that has the table, and nothing that CuPy's are read by."""

    flags = device = None

    def __init__(self, shape, dtype=None):
        super().__init__(shape, dtype)
        self.flags = self.data = None
        self.extents = (ctypes.c_int64 * 8)(*self.shape)
        self.steps = (ctypes.c_int64 * 8)(*(s // self.dtype.itemsize for s in self.a.strides))


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
def describe(x, tensor):
    tensor[0] = Tensor(
        x.a.ctypes.data, 2, 0, len(x.shape), {"i": 0, "u": 1, "f": 2}[x.dtype.kind], 8 * x.dtype.itemsize, 1,
        ctypes.cast(x.extents, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(x.steps, ctypes.POINTER(ctypes.c_int64)),
    )  # fmt: skip
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(kind, index, given):
    given[0] = stream
    return 0


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3), ("describe", ctypes.c_void_p), ("stream", ctypes.c_void_p),
    ]  # fmt: skip


table = Table(1, 3)
table.describe = ctypes.cast(describe, ctypes.c_void_p).value
table.stream = ctypes.cast(current_stream, ctypes.c_void_p).value
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Lends(_cuda.Lent):
    def __init__(self):
        super().__init__(sys.modules["cupy"])
        self.exchange = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
        self.empty, self.zeros = Lent, self.make_zeros
        self.current = self.codes = self.stream = None

    given = 0  # how often a new plan's edges

    def strided(self, shape, strides, dtype):
        made = Lent(shape, dtype)
        assert made.a.size == 0 or made.a.strides == tuple(s * made.dtype.itemsize for s in strides)
        return made

    zero = 0  # how often zeros

    def make_zeros(self, n, dtype):
        Lends.zero += 1
        return Lent(np.zeros(n, dtype))

    def give(self, index, array):
        Lends.given += 1
        return Lent(array.copy())

    def put(self, index, array):
        return Lent(array.copy())

    def copies(self, x, n):
        return [x.copy() for _ in range(n)]

    def extremes(self, x):
        return x.a.min().item(), x.a.max().item()


_compiled.fast.lend(Lent, Lends())
sys.modules["cupy"].broadcast_to = lambda x, shape: Array(np.broadcast_to(x.a, shape))


# ---- calls ----


def calls():
    names = (
        "cuLaunchKernel", "cuLaunchKernelEx", "cuStreamSynchronize", "cuMemAlloc", "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync",
        "cuModuleLoadData",
    )  # fmt: skip
    return {name: driver.fake_calls(name.encode()) for name in names}, driver.fake_calls(None)


def repeated(what, call, waits=0, axes=0):
    """`waits`: for so many answers of the device; `axes`: so many are put there."""
    for _ in range(3):
        call()
    before, all_before = calls()
    for _ in range(10):
        call()
    after, all_after = calls()
    each = {name: (after[name] - before[name]) / 10 for name in after}
    assert each.pop("cuLaunchKernelEx") + each.pop("cuLaunchKernel") >= 1, (what, each)
    assert each.pop("cuMemcpyHtoDAsync") == axes, (what, each)
    assert each.pop("cuMemcpyDtoHAsync") == waits, (what, each)
    some = 0.2 * axes  # of many an axis
    assert waits <= each.pop("cuStreamSynchronize") <= waits + some and each.pop("cuMemAlloc") <= some, (what, each)
    assert not any(each.values()), (what, each)
    begin = time.process_time()
    for _ in range(300):
        call()
    took = (time.process_time() - begin) / 300
    print(f"{what}: {(all_after - all_before) / 10:g} driver calls, {took * 1e6:.1f} µs")


def first_call_prepares():
    """A graph may record the second call of a process: it puts nothing on the device."""
    x = Array(np.arange(10, dtype=np.float32))
    tally.histogram(x, 7, (0, 1))
    before = calls()[0]["cuMemcpyHtoDAsync"]
    tally.histogram(x, 7, (0, 1))
    assert calls()[0]["cuMemcpyHtoDAsync"] == before


def same(edges, expected):
    assert edges.dtype == expected.dtype and (edges.a == expected).all(), (edges.a, expected)


def counts_of_none(kind):
    """Zeros, each the caller's own, though they are made many at a time; a graph's are made for it."""
    global recording
    none, w = kind(np.empty(0, np.float32)), kind(np.empty(0, np.float32))
    for call, shape, dtype in (
        (lambda: tally.histogram(none, 40, (0, 1))[0], (40,), np.int64),
        (lambda: tally.histogram(none, 2000, (0, 1))[0], (2000,), np.int64),
        (lambda: tally.histogram(none, 40, (0, 1), weights=w)[0], (40,), np.float32),
        (lambda: tally.bincount(kind(np.empty(0, np.uint8)), minlength=41), (41,), np.int64),
        (lambda: tally.histogramdd((none, w), 4, ((0, 1), (0, 2)))[0], (4, 4), np.float64),
    ):
        many = [call() for _ in range(80)]
        assert len({c.a.ctypes.data for c in many}) == 80
        for c in many:
            assert type(c) is kind and c.shape == shape and c.dtype == dtype and not c.a.any()
            c.a[:] = 1
    made = Lends.zero
    for _ in range(64):
        tally.histogram(none, 40, (0, 1))
    if kind is Lent:
        assert Lends.zero - made <= 4, "made many at a time"
        recording = True
        for _ in range(10):
            tally.histogram(none, 39, (0, 1))
        recording = False
        assert Lends.zero - made >= 10, "made for a graph"


def freed(kind):
    """Samples whose memory is no more, which the library refuses, are left to the package's Python, which has words."""
    x = kind(np.ones(3, np.float32))
    x.a = types.SimpleNamespace(ctypes=types.SimpleNamespace(data=0), dtype=x.a.dtype, shape=(3,), strides=(4,))
    x.data = types.SimpleNamespace(ptr=0)
    for call in (lambda: tally.histogram(x, 7, (0, 1)), lambda: tally.histogram(x, 7)):
        try:
            call()
        except AssertionError as e:
            assert "the long way" in str(e), e
        else:
            raise AssertionError("read where nothing is")


first_call_prepares()
rng = np.random.default_rng(1)
for kind in (Array, Lent):
    x, y, u, i, w = (
        kind(a) for a in (
            rng.random(1000, np.float32), rng.random(1000, np.float32), rng.integers(0, 256, 1000).astype(np.uint8),
            rng.integers(3, 9, 1000), np.ones(1000, np.float32),
        )
    )  # fmt: skip
    counts, edges = tally.histogram(x, 100, (0, 1))
    expected = np.histogram(x.a, 100, (0, 1))[1]
    assert type(counts) is kind and counts.shape == (100,) and counts.dtype == np.int64
    same(edges, expected)
    again = tally.histogram(x, 100, (0, 1))[1]
    edges.a[:] = 0  # the caller's own
    same(again, expected)
    same(tally.histogram(x, 100, (0.0, 1.0))[1], np.histogram(x.a, 100, (0.0, 1.0))[1])
    same(tally.histogram(x, 100)[1], np.histogram(x.a, 100)[1])
    several = [tally.histogram(x, 100, (0, 1))[1] for _ in range(80)]
    for e in several[::2]:
        e.a[:] = 0
    for e in several[1::2]:
        same(e, expected)
    for dtype in (np.float16, np.float64, np.int16, np.int64):
        z = kind((x.a * 100).astype(dtype))
        for ends in ((0, 100), (10.5, 60), (-1e-3, 2e-3)):
            same(tally.histogram(z, 30, ends)[1], np.histogram(z.a, 30, ends)[1])
        if dtype != np.float16:
            same(tally.histogram(z, 30)[1], np.histogram(z.a, 30)[1])
    written = np.array([0, 0.1, 0.5])
    same(tally.histogram(x, written)[1], written)
    assert tally.histogram(x, 9, (0, 1), weights=w)[0].dtype == np.float32
    assert tally.histogram(x, 9, (0, 1), weights=kind(i.a.astype(np.int32)))[0].dtype == np.int64
    counts, edges = tally.histogramdd((x, y), 4, ((0, 1), (0, 2)))
    assert counts.dtype == np.float64 and counts.shape == (4, 4) and len(edges) == 2
    for ours, theirs in zip(edges, np.histogramdd((x.a, y.a), 4, ((0, 1), (0, 2)))[1]):
        same(ours, theirs)
    points = kind(rng.random((50, 3)))
    counts, edges = tally.histogramdd(points, 5)
    assert counts.shape == (5, 5, 5)
    for ours, theirs in zip(edges, np.histogramdd(points.a, 5)[1]):
        same(ours, theirs)
    assert tally.histogram2d(x, y, 4)[0].shape == (4, 4)
    assert tally.bincount(i).shape == (9,) and tally.bincount(i, minlength=20).shape == (20,)
    assert tally.bincount(i, w).dtype == np.float64 and tally.bincount(u).shape == (int(u.a.max()) + 1,)
    none = kind(np.empty(0, np.float32))
    assert not tally.histogram(none, 7)[0].a.any() and tally.bincount(kind(np.empty(0, int))).shape == (0,)
    counts_of_none(kind)
    freed(kind)
    repeated("histogram", lambda: tally.histogram(x, 100, (0.0, 1.0)))
    repeated("histogram, no range", lambda: tally.histogram(x, 100), waits=1)
    repeated("histogram, weights", lambda: tally.histogram(x, 100, (0, 1), weights=w))
    repeated("histogramdd", lambda: tally.histogramdd((x, y), 10, ((0, 1), (0, 1))))
    repeated("bincount, bytes", lambda: tally.bincount(u, minlength=256))
    repeated("bincount, int64", lambda: tally.bincount(i), waits=1)

    def fresh():
        x.a[0] *= 1.0001  # other ends
        x.a[1] = 1 + x.a[0]
        same(tally.histogram(x, 100)[1], np.histogram(x.a, 100)[1])

    for _ in range(20):
        fresh()
    repeated("histogram, no range, other samples", fresh, waits=1, axes=1)
    loaded = driver.fake_calls(b"cuModuleLoadData")
    for n in range(100):
        assert tally.histogram(x, 10, (0.0, 1.0 + n))[1].a[-1] == np.float32(1 + n)
    assert driver.fake_calls(b"cuModuleLoadData") <= loaded + 2, "plans share their kernels"

# What a graph has recorded stays, whatever other calls are made.
recording = True
tally.histogram(x, 77, (0.0, 1.0))
recording = False
for n in range(100):
    tally.histogram(x, 10, (0.0, 1.0 + n))
before = Lends.given
tally.histogram(x, 77, (0.0, 1.0))
assert Lends.given == before, "the plan is gone"

# What is wrong gets the package's words.
Array.ndim_is_read = True
for wrong, words in (((1.0, 0.0), "larger"), ((0.0, float("nan")), "not finite")):
    try:
        tally.histogram(Array(x.a), 10, wrong)
    except ValueError as e:
        assert words in str(e), e
    else:
        raise AssertionError(wrong)

# Statistics of bins are found there too, in bins that are given.
given = [Array(a.a) for a in (x, y, w)]
for statistic in ("count", "sum", "mean", "std", "min", "max"):
    found = tally.binned_statistic(given[0], given[2], statistic, 12, (0, 1))
    assert found.statistic.shape == (12,) and isinstance(found.statistic, Array) and found.binnumber is None
    assert (found.bin_edges == np.linspace(0, 1, 13, dtype=x.dtype)).all()
assert tally.binned_statistic_2d(*given, "mean", [4, 5], [(0, 1), (0, 2)]).statistic.shape == (4, 5)
for wrong, words in ((dict(statistic="median", range=(0, 1)), "host"), ({}, "range")):
    try:
        tally.binned_statistic(given[0], given[2], **wrong)
    except (TypeError, ValueError) as e:
        assert words in str(e), e
    else:
        raise AssertionError(wrong)

# A histogram's fills stay on the device until it is asked for something.
for axes, storage, weight in (
    ((tally.Regular(20, 0, 1),), "count", None), ((tally.Regular(20, 0, 1),), "weight", Array(w.a)),
    ((tally.Regular(5, 0, 1), tally.Integer(0, 4)), "count", None),
):  # fmt: skip
    h = tally.Hist(*axes, storage=storage, device="cuda")
    given = [Array(x.a), Array(i.a)][: len(axes)]
    for _ in range(2):
        h.fill(*given, weight=weight)
    before, _ = calls()
    driver.fake_finished = False
    for _ in range(5):
        h.fill(*given, weight=weight)
    after, _ = calls()
    for name in ("cuStreamSynchronize", "cuMemcpyDtoHAsync", "cuMemAlloc"):
        assert after[name] == before[name], (storage, name)
    assert not driver.fake_finished and len(h._kept) == 1
    (kept,) = h._kept.values()
    kept.sums.a[...] = 3
    kept.flows.a[...] = (0, 0, 7, 0) if len(axes) == 1 and weight is None else (5, 6, 7, 0)
    assert (h.values() == 3).all() and driver.fake_finished and h.flows.nan == 7
    assert h.flows.under == (3 if len(axes) == 1 and weight is None else 5)
    assert (h.copy().fill(*given, weight=weight).values() == 3).all()
