# SPDX-License-Identifier: Apache-2.0
"""Where a caller's samples lie: arrays of every kind, read without a copy.

`take(x)` turns an object into an `Array`: pointer, type, shape, strides and device, and the object
that owns the memory. NumPy arrays, torch tensors, `__cuda_array_interface__`, pandas' nullable
columns, the Arrow C interfaces, DLPack and the buffer protocol are understood, in this order;
everything else goes through `numpy.asarray`, which copies.
"""

import sys

import numpy as np

from . import _library as c

# NumPy's kind and size, as `dtype.str` has them behind the byte order.
_CODES = {
    "u1": "u8", "i1": "i8", "u2": "u16", "i2": "i16", "u4": "u32", "i4": "i32", "u8": "u64",
    "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64", "b1": "u8",
}  # fmt: skip
CODES = {np.dtype(text): c.DTYPES[name] for text, name in _CODES.items()}


class Array:
    """Memory described as the library needs it; `owner` keeps it alive."""

    __slots__ = ("pointer", "code", "dtype", "shape", "strides", "device", "index", "owner", "home",
                 "valid")  # fmt: skip

    def __init__(self, pointer, code, dtype, shape, strides, owner, home, device=c.CPU, index=0):
        self.pointer = pointer  # address of the first element
        self.code = code  # tally_dtype, or 0: the library does not count this type
        self.dtype = dtype  # NumPy's; float32 stands in for bf16
        self.shape = shape
        self.strides = strides  # bytes
        self.owner = owner
        self.home = home  # the Home that results go back to
        self.device = device
        self.index = index
        self.valid = None  # a host boolean array of this shape: False where a null is

    @property
    def size(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    def part(self, shape):
        """The first `shape` elements along each dimension."""
        if isinstance(self.owner, np.ndarray) and shape:
            return of_numpy(self.owner[tuple(map(slice, shape))], self.home)
        return Array(
            self.pointer, self.code, self.dtype, tuple(shape), self.strides, self.owner, self.home,
            self.device, self.index,
        )  # fmt: skip

    def column(self, i):
        """Column i of two dimensions."""
        if isinstance(self.owner, np.ndarray):
            array = of_numpy(self.owner[:, i], self.home)
        else:
            array = Array(
                self.pointer + i * self.strides[1], self.code, self.dtype, self.shape[:1],
                self.strides[:1], self.owner, self.home, self.device, self.index,
            )  # fmt: skip
        array.valid = None if self.valid is None else self.valid[:, i]
        return array

    def on_host(self):
        """Host memory as NumPy's array; unsigned integers stand in for bf16."""
        if isinstance(self.owner, np.ndarray):
            return self.owner
        dtype = np.dtype(f"u{c.DTYPE_BYTES[self.code]}")
        return np.asarray(Lent(self.pointer, dtype, self.shape, self.strides, self))

    def numbers(self):
        """Host memory as NumPy's array, of float32 for bf16."""
        x = self.on_host()
        return (x.astype("u4") << 16).view("f4") if self.code == c.DTYPES["bf16"] else x

    def contiguous(self):
        """A copy without gaps and repeats."""
        if self.device != c.CPU:
            return self.home.copied(self)
        copy = of_numpy(np.ascontiguousarray(self.on_host()), self.home)
        copy.code, copy.dtype = self.code, self.dtype
        return copy


class Lent:
    """Host memory as NumPy sees it, with what keeps it alive."""

    def __init__(self, pointer, dtype, shape, strides, owner):
        self.__array_interface__ = {
            "data": (pointer, True), "typestr": dtype.str, "shape": shape, "strides": strides,
            "version": 3,
        }  # fmt: skip
        self.owner = owner


class Home:
    """Where results go: the caller's array library. This one is NumPy."""

    name = "numpy"
    stream = 0

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def empty(self, shape, dtype):
        """For the library to write over."""
        return self.zeros(shape, dtype)

    def give(self, array):
        """A small host array (edges, densities) as the caller's kind."""
        return array

    def result(self, array):
        """An array made by `zeros` or `give`, as the caller gets it."""
        return array

    def take_back(self, array):
        """A small array of the caller's (edges) on the host."""
        return array

    def place(self, array):
        """Pointer of an array made by `zeros`."""
        return array.ctypes.data

    def cast(self, array, dtype):
        return array.astype(dtype, copy=False)

    def scalar(self, array):
        """A number where there is one histogram only."""
        return array if array.ndim else int(array)

    def density(self, counts, edges):
        """Counts per unit of every axis, of all that is counted, as NumPy divides them."""
        lead = counts.ndim - len(edges)
        whole = counts.sum(axis=tuple(range(lead, counts.ndim)), keepdims=True)
        if len(edges) == 1:
            return counts / np.array(np.diff(edges[0]), float) / whole
        for i, edge in enumerate(edges):
            widths = np.diff(edge)
            counts = counts / widths.reshape((-1,) + (1,) * (len(edges) - 1 - i))
        return counts / whole


NUMPY = Home()


def of_numpy(a, home=NUMPY):
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    return Array(
        a.__array_interface__["data"][0], CODES.get(a.dtype, 0), a.dtype, a.shape, a.strides, a,
        home,
    )  # fmt: skip


def module_of(x):
    return type(x).__module__.partition(".")[0]


def may_have_nulls(x):
    """Whether x is of a kind that has them. (xarray lends Arrow a table with coordinates in it.)"""
    kind, module = type(x), module_of(x)
    lent = any(hasattr(kind, name) for name in ("__arrow_c_array__", "__arrow_c_stream__"))
    known = module in ("pandas", "awkward") or isinstance(x, np.ma.MaskedArray)
    return known or (lent and module != "xarray")


def take_labels(x):
    """`x` as an Array whose type may also be one that is only compared, such as text."""
    try:
        array = take(x)
    except TypeError:
        if not may_have_nulls(x):
            raise
        array = of_numpy(np.asarray(x, object))
    if array.dtype.kind == "T":
        array = of_numpy(array.owner.astype(object))
    valid = [v for v in (array.valid, not_null(array.owner)) if v is not None] if array.dtype.kind in "OmM" else []
    if valid:
        array.valid = np.logical_and.reduce(valid)
    return array


def categories(x):
    """Categories' values as NumPy's, of texts or numbers, and where they are no nulls, or None."""
    array = take_labels(x)
    values, valid = array.on_host(), array.valid
    if values.dtype.kind == "O":
        kept = values if valid is None else values[valid]
        plain = np.asarray(kept.ravel().tolist())
        filled = np.zeros(values.shape, plain.dtype)
        filled[... if valid is None else valid] = plain.reshape(kept.shape)
        values = filled
    return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values, valid


def without_zone(x):
    """pandas' dates of a time zone as NumPy's, in UTC; all else as it is."""
    aware = module_of(x) == "pandas" and getattr(getattr(x, "dtype", None), "tz", None) is not None
    return take(x).owner if aware else x


def not_null(values):
    """Where an array of objects or dates has none of None, NaN, NaT and pandas' NA; None if it has none at all."""
    if values.dtype.kind in "mM":
        null = np.isnat(values)
        return ~null if null.any() else None
    null = [v is None or type(v).__name__ == "NAType" or v != v for v in values.ravel()]
    return ~np.array(null, bool).reshape(values.shape) if any(null) else None


def take(x):
    """`x` as an Array. Raises what NumPy raises for things that are no array."""
    if type(x) is np.ndarray:
        return of_numpy(x)
    if isinstance(x, Array):
        return x
    if isinstance(x, np.ndarray):  # matrices, memory maps, masked arrays
        array, mask = of_numpy(np.asarray(x)), getattr(x, "mask", np.ma.nomask)
        array.valid = None if mask is np.ma.nomask else ~np.ma.getmaskarray(x)
        return array
    kind = module_of(x)
    if kind == "torch" and "torch" in sys.modules:
        from . import _torch

        return _torch.take(x)
    if kind in ("jax", "jaxlib") and hasattr(x, "__dlpack__"):
        if not hasattr(x, "__dlpack_device__"):
            raise NotImplementedError("jax arrays that are traced are counted by libtally.jax's functions alone")
        from . import _dlpack  # its CUDA array interface does not say what to wait for

        return _dlpack.take(x)
    if kind == "awkward":
        return take(_of_awkward(x))
    if hasattr(x, "__cuda_array_interface__"):
        from . import _cuda

        return _cuda.take(x)
    if may_have_nulls(x):
        from . import _arrow

        return _arrow.take(x)
    if hasattr(type(x), "__dlpack__") and not hasattr(type(x), "__array_ufunc__"):
        from . import _dlpack

        return _dlpack.take(x)
    return of_numpy(np.asarray(x))


def _of_awkward(x):
    """awkward's array as NumPy's, masked where it has None; one whose lists differ in length as all their
    elements, in one dimension."""
    import awkward

    if not isinstance(x, awkward.Array):
        return np.asarray(x)
    try:
        return awkward.to_numpy(x, allow_missing=True)
    except ValueError:
        return awkward.to_numpy(awkward.ravel(x), allow_missing=True)
