"""The Arrow C data interface: one array of numbers, its nulls as a mask."""

import ctypes

import numpy as np

from ._arrays import NUMPY, of_numpy
from ._dlpack import Lent

# Arrow's format letters for numbers.
_FORMATS = {
    b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8",
    b"e": "f2", b"f": "f4", b"g": "f8",
}  # fmt: skip


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p)]  # the rest is not read here


class Data(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ]  # the rest is the lender's


_get = ctypes.pythonapi.PyCapsule_GetPointer
_get.restype, _get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def take(x):
    """`x` as an Array. The capsules are kept with it: their end gives the memory back."""
    schema, data = x.__arrow_c_array__()
    letter = ctypes.cast(_get(schema, b"arrow_schema"), ctypes.POINTER(Schema)).contents.format
    if letter not in _FORMATS:
        raise TypeError(f"Arrow format {letter.decode()!r}: integers and floats are counted")
    dtype = np.dtype(_FORMATS[letter])
    a = ctypes.cast(_get(data, b"arrow_array"), ctypes.POINTER(Data)).contents
    n, offset, address = a.length, a.offset, a.buffers[1]
    if not address or not n:
        return of_numpy(np.empty(0, dtype))
    begin = address + offset * dtype.itemsize
    array = of_numpy(np.asarray(Lent(begin, dtype, (n,), None, data)), NUMPY)
    if a.buffers[0] and a.null_count != 0:
        size = (offset + n + 7) // 8
        bits = np.asarray(Lent(a.buffers[0], np.dtype("u1"), (size,), None, data))
        array.valid = np.unpackbits(bits, bitorder="little")[offset : offset + n].view(bool)
    return array
