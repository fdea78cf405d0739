# SPDX-License-Identifier: Apache-2.0
"""The shared library: finding it, its functions, its errors as exceptions.

ctypes releases the interpreter's lock while a function runs.
"""

import ctypes
import os
import pathlib
import sys
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from ._structs import *

def _folder():
    """Where the package's binaries lie: after `pip install -e` not where its Python does."""
    folders = [pathlib.Path(p) for p in sys.modules[__package__].__path__]
    here = pathlib.Path(__file__).resolve().parent
    return next((f for f in folders if (f / "lib").is_dir()), here)


FOLDER = _folder()


def _load():
    """libtally-io, whose handle finds libtally's functions too: the one beside TALLY_LIBRARY, else
    the one in this package, else the system's."""
    named = os.environ.get("TALLY_LIBRARY")
    inside = FOLDER / "lib" / "libtally-io.so.0"
    path = str(inside) if inside.exists() else inside.name
    if named:
        folder, _, name = named.rpartition("/")
        path = folder + "/" * bool(folder) + name.replace("libtally.", "libtally-io.")
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
bin_statistics = _checked(
    "tally_bin_statistics", c_void_p, POINTER(View), POINTER(View), c_uint32, POINTER(StatisticsOptions),
    POINTER(Statistics), POINTER(Statistics),
)  # fmt: skip
order_statistics = _checked(
    "tally_order_statistics", c_void_p, POINTER(View), c_void_p, c_uint32, c_void_p, c_void_p, c_void_p
)
weighted_quantiles = _checked(
    "tally_weighted_quantiles", c_void_p, POINTER(View), POINTER(View), c_void_p, c_uint32, c_void_p, c_void_p
)
rule_parse = _declare("tally_rule_parse", c_int, c_char_p)
rule_bins = _checked(
    "tally_rule_bins",
    c_void_p,
    Chunks,
    c_int,
    POINTER(RuleOptions),
    POINTER(Axis),
)
wide_round = _checked("tally_wide_round", c_void_p, c_uint64, c_double, c_void_p)
result_create = _checked(
    "tally_result_create", c_void_p, c_uint64, POINTER(c_char_p), POINTER(c_void_p)
)
result_destroy = _declare("tally_result_destroy", None, c_void_p)
result_output = _declare("tally_result_output", Output, c_void_p)
result_info_get = _declare("tally_result_info_get", c_int, c_void_p, POINTER(ResultInfo))
result_axis = _declare("tally_result_axis", POINTER(Axis), c_void_p, c_uint32)
result_label = _declare("tally_result_label", c_char_p, c_void_p, c_uint32, c_uint64)
result_name = _declare("tally_result_name", c_char_p, c_void_p, c_uint64)
result_counts = _declare("tally_result_counts", c_void_p, c_void_p, c_uint64)
result_flows = _declare("tally_result_flows", c_void_p, c_void_p, c_uint64)
result_squares = _declare("tally_result_squares", c_void_p, c_void_p, c_uint64)
result_flow_sums = _declare("tally_result_flow_sums", c_void_p, c_void_p, c_uint64)
profile_column = _declare("tally_profile_column", c_char_p, c_void_p)
profile_bins = _declare("tally_profile_bins", Statistics, c_void_p, c_uint64)
profile_flows = _declare("tally_profile_flows", Statistics, c_void_p, c_uint64)
result_note = _checked(
    "tally_result_note", c_void_p, c_char_p, c_char_p, c_char_p, c_double, c_uint64
)
SINK = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
result_write = _checked(
    "tally_result_write", POINTER(c_void_p), c_size_t, c_int, c_void_p, SINK, c_void_p
)
result_parse = _checked(
    "tally_result_parse", c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p)
)
method_count = _declare("tally_method_count", c_uint32)
method_get = _checked("tally_method_get", c_uint32, POINTER(MethodInfo))
