# SPDX-License-Identifier: Apache-2.0
"""What `tally.h` and `io.h` declare, spelled for ctypes: constants and structs. The headers say what they mean.

tests/unit/test_python_structs.py compares every size and offset with the compiler's.
"""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

DTYPES = {"u8": 1, "i8": 2, "u16": 3, "i16": 4, "u32": 5, "i32": 6, "u64": 7, "i64": 8}
DTYPES.update({"f16": 9, "bf16": 10, "f32": 11, "f64": 12})
DTYPE_BYTES = (0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8)

AUTO, CPU, CUDA, OPENCL = 0, 1, 2, 4
EVEN, EDGES, LOG, INTEGER, CATEGORY = range(5)
COUNT, CLAMP, FAIL = range(3)
LAST_CLOSED, LAST_OPEN = range(2)
MAX_DIMENSIONS = 8
MAX_VALUES = 8
U64_COUNTER = 0


class Error(Structure):
    _fields_ = [("message", c_char * 1024)]


class Sized(Structure):
    """A struct that starts with its size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class View(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("data", c_void_p),
        ("dtype", c_int),
        ("device", c_int),
        ("batches", c_uint64),
        ("rows", c_uint64),
        ("columns", c_uint64),
        ("channels", c_uint64),
        ("batch_stride", c_int64),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
        ("channel_stride", c_int64),
        ("source", c_void_p),
    ]


class Axis(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int),
        ("bins", c_uint64),
        ("lo", c_double),
        ("hi", c_double),
        ("first", c_int64),
        ("edges", POINTER(c_double)),
        ("categories", POINTER(c_uint16)),
        ("under", c_int),
        ("over", c_int),
        ("nan", c_int),
        ("last", c_int),
    ]


class ContextOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_int),
        ("index", c_int32),
        ("threads", c_uint32),
        ("native", c_void_p),
        ("devices", c_char_p),
    ]


class DeviceInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_int),
        ("index", c_int32),
        ("id", c_char * 32),
        ("name", c_char * 128),
        ("memory_bytes", c_uint64),
        ("local_bytes", c_uint64),
        ("available", c_int32),
        ("reason", c_char * 256),
        ("driver", c_char * 128),
    ]


class Setting(Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class PlanOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("dimensions", c_uint32),
        ("axes", Axis * MAX_DIMENSIONS),
        ("dtypes", c_int * MAX_DIMENSIONS),
        ("channels", c_uint64),
        ("channel_mask", c_uint64),
        ("counter", c_int),
        ("weight_dtype", c_int),
        ("sum_squares", c_int32),
        ("n_hint", c_uint64),
        ("method", c_char_p),
        ("settings", POINTER(Setting)),
        ("settings_count", c_size_t),
        ("timing_only", c_int32),
        ("weight_limit", c_double),
    ]


class Output(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("counts", c_void_p),
        ("flows", c_void_p),
        ("sum_squares", c_void_p),
        ("accumulate", c_int32),
        ("on_device", c_int32),
        ("flow_sums", c_void_p),
    ]


PROGRESS = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class ExecuteOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("mask", POINTER(View)),
        ("weights", POINTER(View)),
        ("stream", c_void_p),
        ("progress", PROGRESS),
        ("user", c_void_p),
        ("device_seconds", POINTER(c_double)),
        ("merge_seconds", POINTER(c_double)),
    ]


class Statistics(Sized):
    _fields_ = [("struct_size", c_size_t)] + [
        (name, c_void_p)
        for name in ("count", "weight", "weight_squares", "sum", "mean", "m2", "min", "max")
    ]


class StatisticsOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("mask", POINTER(View)),
        ("weights", POINTER(View)),
        ("limits", c_void_p),
        ("skip_nan", c_int32),
        ("progress", PROGRESS),
        ("user", c_void_p),
        ("stream", c_void_p),
        ("on_device", c_int32),
    ]


class Stats(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("samples", c_uint64),
        ("finite", c_uint64),
        ("nan", c_uint64),
        ("minus_inf", c_uint64),
        ("plus_inf", c_uint64),
        ("min", c_double),
        ("max", c_double),
        ("min_integer", c_int64),
        ("max_integer", c_int64),
        ("mean", c_double),
        ("m2", c_double),
        ("m3", c_double),
    ]


READ = CFUNCTYPE(c_int, c_void_p, POINTER(View), POINTER(Error))
REWIND = CFUNCTYPE(c_int, c_void_p, POINTER(Error))


class Chunks(Structure):
    _fields_ = [("read", READ), ("rewind", REWIND), ("user", c_void_p)]


class QuantileOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("method", c_int),
        ("skip_nan", c_int32),
        ("mask", POINTER(View)),
        ("stream", c_void_p),
        ("on_device", c_int32),
    ]


class RuleOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("rule", c_int),
        ("range", POINTER(c_double)),
        ("skip_nonfinite", c_int32),
    ]


class ResultInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int),
        ("dimensions", c_uint32),
        ("histograms", c_uint64),
        ("bins", c_uint64),
        ("samples", c_uint64),
        ("dtype", c_int),
        ("device", c_char_p),
        ("method", c_char_p),
        ("seconds", c_double),
        ("sources", c_uint32),
        ("counter", c_int),
        ("has_squares", c_int32),
        ("sources_total", c_uint64),
    ]


class Parameter(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("least", c_int64),
        ("most", c_int64),
        ("standard", c_int64),
        ("help", c_char_p),
    ]


class MethodInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("source", c_char_p),
        ("summary", c_char_p),
        ("devices", c_char_p),
        ("dtypes", c_char_p),
        ("bins_min", c_uint64),
        ("bins_max", c_uint64),
        ("parameters", POINTER(Parameter)),
    ]
FORMAT_JSON = 2
