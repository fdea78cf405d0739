# SPDX-License-Identifier: Apache-2.0
"""Exact histograms at the speed of memory: NumPy's histogram functions, and histograms to keep.

`histogram`, `histogram2d`, `histogramdd`, `histogram_bin_edges`, `bincount` and `digitize` take what
NumPy's take and answer the same. docs/PYTHON.md lists what they take besides, and what differs.
"""

from . import _library
from ._core import Flows
from ._index import loc, overflow, underflow
from ._merge import merge
from .axes import Category, Integer, Log, Regular, Variable
from .binned import binned_statistic, binned_statistic_2d, binned_statistic_dd
from .functions import (
    bincount,
    digitize,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from .hist import Hist
from .info import devices, methods
from .quantiles import median, nanmedian, nanpercentile, nanquantile, percentile, quantile

__version__ = _library.version().decode()

__all__ = [
    "Category",
    "Flows",
    "Hist",
    "Integer",
    "Log",
    "Regular",
    "Variable",
    "bincount",
    "binned_statistic",
    "binned_statistic_2d",
    "binned_statistic_dd",
    "devices",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "loc",
    "median",
    "merge",
    "methods",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "overflow",
    "percentile",
    "quantile",
    "underflow",
]
