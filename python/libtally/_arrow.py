# SPDX-License-Identifier: Apache-2.0
"""Columns with nulls: the Arrow C data and stream interfaces, and pandas' nullable types.

What is null is masked, whoever lends it and whatever lies under it. Integers and floats of one chunk are
read where they lie; bits, dictionaries, run ends and several chunks become arrays of their values.
"""

import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p

import numpy as np

from ._arrays import Lent, module_of, of_numpy

# Arrow's format letters for numbers.
_FORMATS = {
    b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8",
    b"e": "f2", b"f": "f4", b"g": "f8",
}  # fmt: skip
# Null, booleans as bits, run ends, tables.
_NULL, _BITS, _RUNS, _STRUCT = b"n", b"b", b"+r", b"+s"


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", POINTER(Schema)),
    ("release", CFUNCTYPE(None, POINTER(Schema))),
    ("private_data", c_void_p),
]


class Data(ctypes.Structure):
    pass


Data._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Data))),
    ("dictionary", POINTER(Data)),
    ("release", CFUNCTYPE(None, POINTER(Data))),
    ("private_data", c_void_p),
]


class Stream(ctypes.Structure):
    pass


Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Data))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
    ("release", CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
]

_get = ctypes.pythonapi.PyCapsule_GetPointer
_get.restype, _get.argtypes = c_void_p, [ctypes.py_object, c_char_p]


def _inside(capsule, name, struct):
    return ctypes.cast(_get(capsule, name), POINTER(struct)).contents


class Received:
    """A struct that a stream has filled; its end gives the memory back."""

    def __init__(self, struct):
        self.struct = struct

    def __del__(self):
        if self.struct.release:
            self.struct.release(ctypes.byref(self.struct))


def take(x):
    """`x` as an Array, its nulls marked in `valid`."""
    if module_of(x) == "pandas":
        values, valid = _of_pandas(x)
    elif hasattr(type(x), "__arrow_c_array__"):
        schema, data = x.__arrow_c_array__()  # the end of these capsules gives the memory back
        about = _inside(schema, b"arrow_schema", Schema)
        values, valid = _table(x, about, [(_inside(data, b"arrow_array", Data), data)])
    else:
        values, valid = _of_stream(x)
    array = of_numpy(values)
    array.valid = valid
    return array


def _of_pandas(x):
    """Columns of pandas' nullable types and of Arrow's; all else is NumPy's, where NaN is a number."""
    if getattr(x, "ndim", 1) == 2:
        columns = [_of_pandas(x.iloc[:, i]) for i in range(x.shape[1])]
        whole = np.asarray(x)
        plain = all(v is None for _, v in columns) and (
            whole.dtype.kind != "O" or any(a.dtype.kind == "O" for a, _ in columns)
        )
        return (whole, None) if plain else _beside(columns)
    held = getattr(x, "array", x)
    if hasattr(held, "codes") and hasattr(held, "categories"):
        categories = take(held.categories)
        codes = np.asarray(held.codes)
        valid = codes >= 0
        return _picked(categories.owner, categories.valid, codes, None if valid.all() else valid)
    if getattr(getattr(held, "dtype", None), "tz", None) is not None:
        return np.asarray(held.tz_convert("UTC").tz_localize(None)), None
    if hasattr(getattr(held, "dtype", None), "pyarrow_dtype"):
        array = take(held.__arrow_array__())
        return array.owner, array.valid
    dtype = getattr(held, "dtype", None)
    kind = getattr(dtype, "numpy_dtype", None)
    if kind is None or dtype.na_value is not sys.modules["pandas"].NA:
        return np.asarray(x), None
    null = np.asarray(held.isna())
    values = held.to_numpy(kind, na_value=kind.type(0)) if null.any() else held.to_numpy(kind)
    return values, ~null if null.any() else None


def _of_stream(x):
    capsule = x.__arrow_c_stream__()
    stream = _inside(capsule, b"arrow_array_stream", Stream)
    schema = Received(Schema())
    _step(stream, stream.get_schema, schema.struct)
    chunks = []
    while True:
        chunk = Received(Data())
        _step(stream, stream.get_next, chunk.struct)
        if not chunk.struct.release:
            return _table(x, schema.struct, chunks)
        chunks.append((chunk.struct, chunk))


def _step(stream, function, struct):
    if function(ctypes.byref(stream), ctypes.byref(struct)):
        said = stream.get_last_error(ctypes.byref(stream)) or b"no reason given"
        raise OSError(f"Arrow stream: {said.decode('utf-8', 'replace')}")


def _table(x, schema, chunks):
    """Chunks of an array, or of a table's columns, in one: values and valid."""
    if schema.format.startswith(b"t"):
        return np.asarray(x), None  # dates: NumPy counts them, and knows no time for a null
    parts = []
    for data, owner in chunks:
        if schema.format != _STRUCT:
            parts.append(_values(schema, data, owner))
            continue
        valid, rows = _bits_of(data, 0, owner), slice(data.offset, data.offset + data.length)
        columns = []
        for i in range(schema.n_children):
            v, ok = _values(schema.children[i].contents, data.children[i].contents, owner)
            ok = None if ok is None else ok[rows]
            columns.append((v[rows], _both(ok, valid)))
        parts.append(_beside(columns))
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _values(schema, Data(), None) if schema.format != _STRUCT else _beside([])
    valid = None
    if any(v is not None for _, v in parts):
        valid = np.concatenate([np.ones(a.shape, bool) if v is None else v for a, v in parts])
    return np.concatenate([a for a, _ in parts]), valid


def _beside(columns):
    """Columns as one array of two dimensions."""
    if not columns:
        return np.empty((0, 0)), None
    valid = None
    if any(v is not None for _, v in columns):
        valid = np.stack([np.ones(a.shape, bool) if v is None else v for a, v in columns], axis=1)
    return np.stack([a for a, _ in columns], axis=1), valid


def _both(a, b):
    return b if a is None else a if b is None else a & b


def _bits_of(data, buffer, owner):
    """A buffer of bits as booleans; None where there is none."""
    n, offset = data.length, data.offset
    if data.n_buffers <= buffer or not data.buffers[buffer] or not n:
        return None
    first, offset = divmod(offset, 8)
    lent = Lent(
        data.buffers[buffer] + first, np.dtype("u1"), ((offset + n + 7) // 8,), None, owner
    )
    bits = np.unpackbits(np.asarray(lent), bitorder="little")
    return bits[offset : offset + n].view(bool)


def _values(schema, data, owner):
    """Values of one chunk and where they are none, None where all are."""
    letter, n = schema.format, data.length
    if letter == _RUNS:
        return _runs(schema, data, owner)
    if letter == _NULL:
        return np.zeros(n), np.zeros(n, bool)
    valid = _bits_of(data, 0, owner) if data.null_count else None
    if letter == _BITS:
        values = _bits_of(data, 1, owner)
        return np.zeros(n, bool) if values is None else values, valid
    if letter not in _FORMATS:
        raise TypeError(
            f"Arrow format {letter.decode()!r}: integers, floats and booleans are counted"
        )
    dtype = np.dtype(_FORMATS[letter])
    if n and data.buffers[1]:
        begin = data.buffers[1] + data.offset * dtype.itemsize
        values = np.asarray(Lent(begin, dtype, (n,), None, owner))
    else:
        values = np.empty(0, dtype)
    if not schema.dictionary:
        return values, valid
    of = data.dictionary.contents if data.dictionary else Data()
    return _picked(*_values(schema.dictionary.contents, of, owner), values, valid)


def _picked(values, marks, codes, valid):
    """The values that codes stand for; those under nulls may be anything."""
    if valid is not None:
        codes = np.where(valid, codes, 0)
        if not values.size:
            values, marks = np.zeros(1, values.dtype), None
    return values[codes], valid if marks is None else _both(marks[codes], valid)


def _runs(schema, data, owner):
    """Values repeated up to their run ends, without what lies outside the chunk."""
    if not data.length:
        return _values(schema.children[1].contents, Data(), owner)
    ends, _ = _values(schema.children[0].contents, data.children[0].contents, owner)
    values, valid = _values(schema.children[1].contents, data.children[1].contents, owner)
    at = np.searchsorted(ends, np.arange(data.offset, data.offset + data.length), side="right")
    return values[at], None if valid is None else valid[at]
