# SPDX-License-Identifier: Apache-2.0
"""NumPy's histogram functions, with more to ask for."""

from ._histogram import histogram, histogram_bin_edges
from ._joint import histogram2d, histogramdd
from ._whole import bincount, digitize

__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
]
