"""Plain calls on device arrays are prepared once: here on the driver that counts calls, with arrays in CuPy's place."""

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


class Array:
    """What the package asks of a CuPy array; its memory is the host's."""

    def __init__(self, a):
        self.a, self.dtype, self.shape, self.size = a, a.dtype, a.shape, a.size
        self.data = types.SimpleNamespace(ptr=a.ctypes.data)
        self.flags = types.SimpleNamespace(c_contiguous=a.flags.c_contiguous)
        self.device = types.SimpleNamespace(id=0)

    @property
    def __cuda_array_interface__(self):
        raise AssertionError("the long way was taken")

    def copy(self):
        return Array(self.a.copy())


Array.__module__ = "cupy"
current = types.SimpleNamespace(ptr=stream, synchronize=lambda: None)
sys.modules["cupy"] = types.ModuleType("cupy")
vars(sys.modules["cupy"]).update(
    ndarray=Array, empty=lambda n, dtype: Array(np.empty(n, dtype)), asarray=lambda a: Array(a.copy()),
    cuda=types.SimpleNamespace(
        Device=lambda index: contextlib.nullcontext(), get_current_stream=lambda: current,
        runtime=types.SimpleNamespace(getDevice=lambda: 0),
    ),
)  # fmt: skip

import tally
from tally import _device

if tally.functions._fast is None:
    print("skipped: without the compiled part")
    sys.exit(77)


def calls():
    names = ("cuLaunchKernelEx", "cuStreamSynchronize", "cuMemAlloc_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2")
    return {name: driver.fake_calls(name.encode()) for name in names}, driver.fake_calls(None)


def repeated(what, call):
    for _ in range(3):
        call()
    prepared, (before, all_before) = dict(_device._prepared), calls()
    for _ in range(10):
        call()
    after, all_after = calls()
    assert _device._prepared == prepared, what
    each = {name: (after[name] - before[name]) / 10 for name in after}
    assert each.pop("cuLaunchKernelEx") >= 1 and not any(each.values()), (what, each)
    begin = time.process_time()
    for _ in range(500):
        call()
    took = (time.process_time() - begin) / 500
    print(f"{what}: {(all_after - all_before) / 10:g} driver calls, {took * 1e6:.1f} µs")


rng = np.random.default_rng(1)
x, u = Array(rng.random(1000, np.float32)), Array(rng.integers(0, 256, 1000).astype(np.uint8))
counts, edges = tally.histogram(x, 100, (0, 1))
expected = np.histogram(x.a, 100, (0, 1))[1]
assert type(counts) is Array and counts.shape == (100,) and counts.dtype == np.int64
assert edges.dtype == expected.dtype and (edges.a == expected).all()
again = tally.histogram(x, 100, (0, 1))[1]
edges.a[:] = 0  # the caller's own
assert (again.a == expected).all()
assert (tally.histogram(x, 100, (0.0, 1.0))[1].a == np.histogram(x.a, 100, (0.0, 1.0))[1]).all()
repeated("histogram", lambda: tally.histogram(x, 100, (0.0, 1.0)))
repeated("bincount", lambda: tally.bincount(u, minlength=256))
for i in range(200):
    assert tally.histogram(x, 10, (0.0, 1.0 + i))[1].a[-1] == np.float32(1 + i)
assert len(_device._prepared) <= 64
for wrong, words in (((1.0, 0.0), "larger"), ((0.0, float("nan")), "not finite")):
    try:
        tally.histogram(x, 10, wrong)
    except ValueError as e:
        assert words in str(e), e
    else:
        raise AssertionError(wrong)
