"""The shared library: finding it, its structs and functions, its errors as exceptions.

`tally.h` says what each of them means; this file only spells it for ctypes, whose calls release the
interpreter's lock.
"""

import ctypes
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
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

FOLDER = pathlib.Path(__file__).resolve().parent


def _load():
    """TALLY_LIBRARY, else the library in this package, else the system's."""
    named = os.environ.get("TALLY_LIBRARY")
    inside = FOLDER / "lib" / "libtally.so.0"
    path = named or (str(inside) if inside.exists() else "libtally.so.0")
    try:
        return ctypes.CDLL(path), path
    except OSError as e:
        raise ImportError(f"tally: the shared library {path} does not load: {e}") from None


lib, PATH = _load()

(OK, ARGUMENT, UNSUPPORTED, MEMORY, IO, FORMAT, DATA, DEVICE, CANCELLED, INTERNAL) = range(10)

EXCEPTIONS = {
    ARGUMENT: ValueError,
    UNSUPPORTED: NotImplementedError,
    MEMORY: MemoryError,
    IO: OSError,
    FORMAT: ValueError,
    DATA: ValueError,
    DEVICE: RuntimeError,
    CANCELLED: InterruptedError,
    INTERNAL: SystemError,
}

DTYPES = {"u8": 1, "i8": 2, "u16": 3, "i16": 4, "u32": 5, "i32": 6, "u64": 7, "i64": 8}
DTYPES.update({"f16": 9, "bf16": 10, "f32": 11, "f64": 12})
DTYPE_BYTES = (0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8)

AUTO, CPU, CUDA, OPENCL = 0, 1, 2, 4
EVEN, EDGES, LOG, INTEGER, CATEGORY = range(5)
COUNT, CLAMP, FAIL = range(3)
LAST_CLOSED, LAST_OPEN = range(2)
MAX_DIMENSIONS = 8
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
    ]


class Output(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("counts", c_void_p),
        ("flows", c_void_p),
        ("sum_squares", c_void_p),
        ("accumulate", c_int32),
        ("on_device", c_int32),
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
    ]


class Stats(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("samples", c_uint64),
        ("finite", c_uint64),
        ("nan", c_uint64),
        ("below", c_uint64),
        ("above", c_uint64),
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
        ("parameters", c_char_p),
    ]


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments
    return function


def _checked(name, *arguments):
    """A function whose last argument is the error: called without it, it raises."""
    function = _declare(name, c_int, *arguments, POINTER(Error))

    def call(*values):
        error = Error()
        status = function(*values, byref(error))
        if status:
            raise_status(status, error)

    return call


def raise_status(status, error):
    message = error.message.decode("utf-8", "replace") or status_string(status).decode()
    raise EXCEPTIONS.get(status, RuntimeError)(message)


status_string = _declare("tally_status_string", c_char_p, c_int)
version = _declare("tally_version", c_char_p)
axis_edges_get = _checked("tally_axis_edges_get", POINTER(Axis), c_void_p)
context_create = _checked("tally_context_create", POINTER(ContextOptions), POINTER(c_void_p))
context_destroy = _declare("tally_context_destroy", None, c_void_p)
context_device = _checked("tally_context_device", c_void_p, POINTER(DeviceInfo))
device_count = _declare("tally_device_count", c_uint32)
device_get = _checked("tally_device_get", c_uint32, POINTER(DeviceInfo))
plan_create = _checked("tally_plan_create", c_void_p, POINTER(PlanOptions), POINTER(c_void_p))
plan_destroy = _declare("tally_plan_destroy", None, c_void_p)
plan_method = _declare("tally_plan_method", c_char_p, c_void_p)
plan_describe = _declare("tally_plan_describe", c_char_p, c_void_p)
execute = _checked(
    "tally_execute", c_void_p, POINTER(View), POINTER(ExecuteOptions), POINTER(Output)
)
stats_add = _checked(
    "tally_stats_add",
    c_void_p,
    POINTER(View),
    POINTER(View),
    c_uint64,
    c_int,
    POINTER(Stats),
)
rule_parse = _declare("tally_rule_parse", c_int, c_char_p)
rule_bins = _checked(
    "tally_rule_bins",
    c_void_p,
    Chunks,
    c_int,
    c_int,
    POINTER(c_double),
    c_int,
    POINTER(c_uint64),
    POINTER(c_double),
    POINTER(c_double),
)
result_create = _checked(
    "tally_result_create", c_void_p, c_uint64, POINTER(c_char_p), POINTER(c_void_p)
)
result_destroy = _declare("tally_result_destroy", None, c_void_p)
result_output = _declare("tally_result_output", Output, c_void_p)
result_info_get = _declare("tally_result_info_get", c_int, c_void_p, POINTER(ResultInfo))
result_axis = _declare("tally_result_axis", POINTER(Axis), c_void_p, c_uint32)
result_name = _declare("tally_result_name", c_char_p, c_void_p, c_uint64)
result_counts = _declare("tally_result_counts", c_void_p, c_void_p, c_uint64)
result_flows = _declare("tally_result_flows", c_void_p, c_void_p, c_uint64)
result_squares = _declare("tally_result_squares", c_void_p, c_void_p, c_uint64)
result_note = _checked(
    "tally_result_note", c_void_p, c_char_p, c_char_p, c_char_p, c_double, c_uint64
)
result_save = _checked(
    "tally_result_save", POINTER(c_void_p), c_size_t, c_int, c_void_p, c_char_p
)
result_parse = _checked(
    "tally_result_parse", c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p)
)
method_count = _declare("tally_method_count", c_uint32)
method_get = _checked("tally_method_get", c_uint32, POINTER(MethodInfo))
FORMAT_JSON = 2
