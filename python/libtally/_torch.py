# SPDX-License-Identifier: Apache-2.0
"""torch tensors, on the host and on CUDA devices: read where they lie, answered in kind."""

import numpy as np
import torch
from torch._subclasses import FakeTensor

from . import _count
from . import _library as c
from ._arrays import Array, Home, of_numpy
from ._compiled import fast
from ._cuda import LEGACY, _density

# torch's types, the library's, NumPy's (float32 stands in for bfloat16).
_TYPES = {
    name: (c.DTYPES[code], np.dtype(numpy))
    for name, code, numpy in [
        ("uint8", "u8", "u1"), ("int8", "i8", "i1"), ("int16", "i16", "i2"),
        ("int32", "i32", "i4"), ("int64", "i64", "i8"), ("uint16", "u16", "u2"),
        ("uint32", "u32", "u4"), ("uint64", "u64", "u8"), ("float16", "f16", "f2"),
        ("bfloat16", "bf16", "f4"), ("float32", "f32", "f4"), ("float64", "f64", "f8"),
        ("bool", "u8", "?"),
    ]
}  # fmt: skip


def _has_memory(x):
    """Not so are tensors that torch traces or transforms, and those whose storage was freed."""
    try:
        fake = isinstance(x, FakeTensor)
        return not fake and (not x.numel() or x.untyped_storage().data_ptr() != 0)
    except RuntimeError:
        return False


def take(x):
    if not isinstance(x, torch.Tensor):
        return of_numpy(np.asarray(x))
    if x.layout != torch.strided or x.is_nested or x.device.type not in ("cpu", "cuda"):
        kind = "nested" if x.is_nested else f"{x.layout} on {x.device}"
        raise NotImplementedError(f"torch tensors: strided ones on cpu and cuda, not {kind}")
    x = x.detach()
    if not _has_memory(x):
        raise NotImplementedError(
            "torch tensors: not those without memory, as torch.func, torch.export and fakes have them; "
            "libtally.torch has operators for tracing"
        )
    name = str(x.dtype).partition(".")[2]
    if x.device.type == "cpu" and name != "bfloat16":
        return of_numpy(x.resolve_conj().resolve_neg().numpy(), HOST)
    if name not in _TYPES:
        raise TypeError(f"{x.dtype} samples are not counted")
    code, dtype = _TYPES[name]
    size = x.element_size()
    on_device = x.device.type == "cuda"
    index = x.device.index or 0
    return Array(
        x.data_ptr(), code, dtype, tuple(x.shape), tuple(s * size for s in x.stride()), x,
        Torch(index) if on_device else HOST, c.CUDA if on_device else c.CPU, index,
    )  # fmt: skip


class Lent:
    """torch's arrays on CUDA devices, as the compiled part asks for them (python/fast/lent.c)."""

    copy, cast, negated, current = "clone", "to", "is_neg", None

    def __init__(self):
        self.exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        self.codes = {getattr(torch, name): code for name, (code, _) in _TYPES.items() if hasattr(torch, name)}
        del self.codes[torch.bool]
        self.empty, self.zeros, self.strided = torch.empty, torch.zeros, torch.empty_strided
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda index: torch.cuda.current_stream(index).cuda_stream
        )
        self.recording = getattr(torch._C, "_cuda_isCurrentStreamCapturing", lambda: False)

    def open(self, index):
        types = torch.int64, torch.float64, torch.float32
        keywords = tuple({"dtype": t, "device": torch.device("cuda", index)} for t in types)
        return _count.context(c.CUDA, index).pointer.value, keywords, types

    def give(self, index, array):
        home = Torch(index)
        there = home.give(array)
        home.settle()
        return there

    def put(self, index, array):
        with torch.inference_mode(False):
            return torch.from_numpy(array).pin_memory().to(torch.device("cuda", index), non_blocking=True)

    def copies(self, x, n):
        with torch.inference_mode(False):
            return list(x.repeat(n, 1).unbind())

    def extremes(self, x):
        return tuple(torch.stack(torch.aminmax(x)).tolist())


if fast:
    fast.lend(torch.Tensor, Lent())


def _type(dtype):
    return getattr(torch, np.dtype(dtype).name)


def _on_host(array):
    return take(array.cpu()).numbers() if isinstance(array, torch.Tensor) else array


class HostTorch(Home):
    """Results as torch tensors on the host; NumPy's until they are handed over."""

    name = "torch"

    def result(self, array):
        return torch.from_numpy(np.asarray(array)) if isinstance(array, np.ndarray) else array

    def take_back(self, array):
        return _on_host(array)


HOST = HostTorch()


class Torch(Home):
    """Results as torch tensors on a CUDA device."""

    name = "torch"

    def __init__(self, index):
        self.device = torch.device("cuda", index)
        self.stream = torch.cuda.current_stream(self.device).cuda_stream or LEGACY
        self.dlpack_stream = self.stream

    def zeros(self, shape, dtype):
        return torch.zeros(shape, dtype=_type(dtype), device=self.device)

    def empty(self, shape, dtype):
        return torch.empty(shape, dtype=_type(dtype), device=self.device)

    def give(self, array):
        # Pinned, for a copy from other memory would wait for the stream.
        there = torch.from_numpy(np.asarray(array, order="C")).pin_memory()
        return there.to(self.device, non_blocking=True)

    def take_back(self, array):
        return _on_host(array)

    def settle(self):
        torch.cuda.current_stream(self.device).synchronize()

    def finish(self):
        torch.cuda.synchronize(self.device)

    def place(self, array):
        return array.data_ptr()

    def cast(self, array, dtype):
        return array.to(_type(dtype))

    def scalar(self, array):
        return array

    def own(self, array):
        """The Array as a tensor on the same memory; a column of one has its own beginning."""
        x = array.owner if isinstance(array.owner, torch.Tensor) else torch.as_tensor(array.owner)
        size = x.element_size()
        begin = x.storage_offset() + (array.pointer - x.data_ptr()) // size
        return x.as_strided(array.shape, [s // size for s in array.strides], begin)

    def copied(self, array):
        there = self.own(array).contiguous()
        size = there.element_size()
        return Array(
            there.data_ptr(), array.code, array.dtype, tuple(there.shape),
            tuple(s * size for s in there.stride()), there, self, array.device, array.index,
        )  # fmt: skip

    def extremes(self, array, mask):
        x = self.own(array)
        if mask is not None:
            x = x[mask.owner.view(torch.bool)]
        lo, hi = torch.stack(torch.aminmax(x)).to(_type(array.dtype)).cpu().numpy()
        return lo, hi

    def like(self, where, shape):
        where = torch.as_tensor(where, device=self.device)
        if where.dtype != torch.bool:
            raise TypeError(f"where: boolean is expected, not {where.dtype}")
        where = where.expand(shape)
        return Array(
            where.data_ptr(), c.DTYPES["u8"], np.dtype(bool), tuple(shape), where.stride(),
            where, self, c.CUDA, self.device.index,
        )  # fmt: skip

    def density(self, counts, edges):
        return _density(counts, [self.give(np.array(np.diff(e), float)) for e in edges], edges)

    def wait(self, stream):
        theirs = torch.cuda.ExternalStream(stream, self.device)
        torch.cuda.current_stream(self.device).wait_stream(theirs)

    def digitize(self, x, bins, right):
        bins = self.give(np.asarray(self.take_back(bins)))
        return torch.bucketize(x, bins, right=not right)
