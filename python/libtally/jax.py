# SPDX-License-Identifier: Apache-2.0
"""Counting inside `jax.jit`, on the processor and on CUDA.

Answers have the types that JAX has: without `jax_enable_x64` counts are int32, and weights are refused, whose sums
are float64.
"""

import re

import jax
import numpy as np
from jax import ffi
from jax import numpy as jnp

from . import _count, _edges
from . import _library as c
from ._compiled import fast

__all__ = ["bincount", "histogram"]

_TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16",
          "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}  # fmt: skip
_traced = {}  # plans by their address: compiled functions call them as long as the process lives


def _register():
    """XLA's names for the compiled part's handlers."""
    if fast is None:
        raise ImportError("tally.jax: it needs the package's compiled part, which does not load")
    import ctypes

    header = open(f"{ffi.include_dir()}/xla/ffi/api/c_api.h").read()
    minor = re.search(r"#define XLA_FFI_API_MINOR (\d+)", header)
    for platform, address in zip(("cpu", "CUDA"), fast.handlers(int(minor[1]))):
        ffi.register_ffi_target("tally_count", ffi.pycapsule(ctypes.c_void_p(address)), platform=platform)


_register()


def _code(x, name="samples"):
    if x.dtype.name not in _TYPES:
        raise TypeError(f"{name}: {x.dtype} is not counted")
    return c.DTYPES[_TYPES[x.dtype.name]]


def _devices():
    """The CUDA devices' numbers, in the order of XLA's ordinals."""
    found = [d for d in jax.local_devices() if d.platform in ("gpu", "cuda")]
    return [d.local_hardware_id for d in found]


def _call(a, axis, weights):
    """The counts of samples on an axis."""
    wide = jax.config.jax_enable_x64
    if weights is not None:
        weights = jnp.asarray(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        if not wide:
            raise ValueError("weights: their sums are 64 bits wide: set jax_enable_x64")
    if not wide and a.size >= 1 << 31:
        raise ValueError("2^31 samples or more may pass int32 counts: set jax_enable_x64")
    floats = weights is not None and weights.dtype.kind not in "iu"
    result = jax.ShapeDtypeStruct((axis.bins,), np.float64 if floats else np.int64 if wide else np.int32)
    if not a.size:
        return jnp.zeros(result.shape, result.dtype)
    weight = 0 if weights is None else _code(weights, "weights")
    plans = [
        _count.plan(_count.context(*device), [axis], [_code(a)], weight=weight, n=a.size, counter=0 if wide else 1)
        for device in [(c.CPU, 0), *((c.CUDA, index) for index in _devices())]
    ]
    _traced.update((p.pointer.value, p) for p in plans)
    words = " ".join([str(int(weight != 0)), *(f"{p.pointer.value:x}" for p in plans)])
    call = ffi.ffi_call("tally_count", result, vmap_method="sequential")
    return call(*([a] if weights is None else [a, weights]), plans=words)


def histogram(a, bins=10, range=None, weights=None):
    """As `numpy.histogram`, of arrays that may be traced.

    Parameters
    ----------
    a : array
        Samples of any shape.
    bins : int or array
        A number of bins, which needs `range`, or edges. Known when the call is traced.
    range : (float, float)
        First and last edge, known as well.
    weights : array, optional
        float32, float64 or integers, in the shape of `a`.

    Returns
    -------
    counts, bin_edges : array
    """
    a = jnp.asarray(a)
    dtype = np.dtype(np.float32) if a.dtype.name == "bfloat16" else a.dtype
    if np.ndim(bins) == 1:
        found = _edges.from_edges(_edges.given(np.asarray(bins)))
    elif range is None:
        raise ValueError("range: it is not found in traced samples: give it, or edges")
    else:
        n = _edges.whole(bins)
        first, last = _edges.outer(range, None)
        found = _edges.even(_edges.spaced(first, last, n, dtype), dtype)
    if found.axis is None or found.places is not None:
        raise ValueError("bins: two edges or more, none repeated, are expected")
    return _call(a, found.axis, weights), jnp.asarray(found.edges)


def bincount(x, length, weights=None):
    """How often 0, 1, … length - 1 occur; other numbers are not counted, as in `jax.numpy.bincount`."""
    x = jnp.asarray(x)
    if x.dtype.kind not in "iu":
        raise TypeError(f"x: integers are expected, not {x.dtype}")
    return _call(x, _count.Axis(c.INTEGER, _edges.whole(length), last=c.LAST_OPEN), weights)
