# SPDX-License-Identifier: Apache-2.0
"""DLPack: memory that another library lends, on the host or a CUDA device.

The lender gives a capsule with a `DLManagedTensor`. It is kept as long as the Array, and then told
that it is no longer needed.
"""

import ctypes

import numpy as np

from . import _library as c
from ._arrays import NUMPY, Array, Lent, module_of, of_numpy

# DLDataTypeCode and bits, to the library's types; bool is code 6.
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_TYPES = {
    (_INT, 8): "i8", (_INT, 16): "i16", (_INT, 32): "i32", (_INT, 64): "i64", (_UINT, 8): "u8",
    (_UINT, 16): "u16", (_UINT, 32): "u32", (_UINT, 64): "u64", (_FLOAT, 16): "f16",
    (_FLOAT, 32): "f32", (_FLOAT, 64): "f64", (_BFLOAT, 16): "bf16", (_BOOL, 8): "u8",
}  # fmt: skip
NUMPY_TYPES = {
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
    "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "bf16": "f4",
}  # fmt: skip


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]

_get = ctypes.pythonapi.PyCapsule_GetPointer
_get.restype, _get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

HOST, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


def take(x, home=None, stream=None):
    """The tensor that `x` lends. `stream` is the CUDA stream that will read it, as DLPack counts."""
    kind, index = x.__dlpack_device__()
    if kind not in (HOST, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise NotImplementedError(f"DLPack device {kind}: the host and CUDA are counted")
    on_device = kind in (CUDA, CUDA_MANAGED)
    if on_device and home is None:
        from . import _cuda

        home = _cuda.home_of(x, index)
        stream = home.dlpack_stream
    if module_of(x) in ("jax", "jaxlib") and home is None:
        from ._jax import Jax

        home = Jax()
    capsule = x.__dlpack__(stream=stream) if on_device else x.__dlpack__()
    managed = ctypes.cast(_get(capsule, b"dltensor"), ctypes.POINTER(Managed)).contents
    tensor = managed.tensor
    name = _TYPES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        raise TypeError(f"DLPack type {tensor.code}, {tensor.bits} bits, is no number counted here")
    dtype = np.dtype(bool) if tensor.code == _BOOL else np.dtype(NUMPY_TYPES[name])
    size = tensor.bits // 8
    shape = tuple(tensor.shape[d] for d in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[d] * size for d in range(tensor.ndim))
    else:
        strides = tuple(size * int(np.prod(shape[d + 1 :])) for d in range(tensor.ndim))
    pointer = (tensor.data or 0) + tensor.byte_offset
    if not on_device:
        if name != "bf16":
            return _on_host(pointer, dtype, shape, strides, capsule, home or NUMPY)
        return Array(pointer, c.DTYPES[name], dtype, shape, strides, capsule, home or NUMPY)
    return Array(
        pointer, c.DTYPES[name], dtype, shape, strides, Owner(capsule, x), home, c.CUDA, index
    )  # fmt: skip


class Owner:
    """What keeps a lent tensor alive."""

    def __init__(self, capsule, lender):
        self.capsule, self.lender = capsule, lender


def _on_host(pointer, dtype, shape, strides, owner, home):
    if not pointer:
        return of_numpy(np.empty(shape, dtype), home)
    return of_numpy(np.asarray(Lent(pointer, dtype, shape, strides, owner)), home)
