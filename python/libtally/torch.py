# SPDX-License-Identifier: Apache-2.0
"""Counting inside `torch.compile`: operators that know the shapes of their answers.

After `import libtally.torch`, `torch.ops.libtally.histogram` and `torch.ops.libtally.bincount` are there. The functions below
call them with NumPy's arguments; so do `tally.histogram` and `tally.bincount` where they are traced, if the operators
serve their arguments, else the graph breaks there.
"""

from typing import Optional, Tuple

import torch
from torch import library

from . import functions

__all__ = ["bincount", "histogram"]

_HALVES = (torch.float16, torch.float32, torch.float64)  # whose edges are of their type


def _edge_type(dtype):
    if dtype == torch.bfloat16:
        return torch.float32
    return dtype if dtype in _HALVES else torch.float64


def _sum_type(weights):
    return weights.dtype if weights is not None and weights.dtype.is_floating_point else torch.int64


@library.custom_op("libtally::histogram", mutates_args=())
def _histogram(
    a: torch.Tensor, bins: int, lo: float, hi: float, weights: Optional[torch.Tensor] = None
) -> Tuple[torch.Tensor, torch.Tensor]:
    return functions.histogram(a.detach(), bins, (lo, hi), weights=weights)


@_histogram.register_fake
def _(a, bins, lo, hi, weights=None):
    return a.new_empty(bins, dtype=_sum_type(weights)), a.new_empty(bins + 1, dtype=_edge_type(a.dtype))


@library.custom_op("libtally::bincount", mutates_args=())
def _bincount(x: torch.Tensor, minlength: int) -> torch.Tensor:
    return functions.bincount(x, minlength=minlength)


@_bincount.register_fake
def _(x, minlength):
    return x.new_empty(library.get_ctx().new_dynamic_size(min=minlength), dtype=torch.int64)


def histogram(a, bins, range, weights=None):
    """As `tally.histogram` of a tensor, with a number of bins and a range: the counts and the edges."""
    lo, hi = range
    return torch.ops.libtally.histogram(a, bins, float(lo), float(hi), weights)


def bincount(x, minlength=0):
    """As `tally.bincount` of a tensor, whose answer's length depends on the numbers."""
    return torch.ops.libtally.bincount(x, minlength)


_histogram_untraced = torch.compiler.disable(functions.histogram)
_bincount_untraced = torch.compiler.disable(functions.bincount)


def _traced_histogram(a, bins=10, range=None, density=None, weights=None, **more):
    plain = weights is None or isinstance(weights, torch.Tensor) and not weights.is_complex()
    if isinstance(a, torch.Tensor) and isinstance(bins, int) and range is not None and plain and not density and not more:
        return histogram(a, bins, range, weights)
    return _histogram_untraced(a, bins, range, density, weights, **more)


def _traced_bincount(x, /, weights=None, minlength=0, **more):
    if isinstance(x, torch.Tensor) and weights is None and not more:
        return bincount(x, minlength)
    return _bincount_untraced(x, weights, minlength, **more)


if hasattr(torch.compiler, "substitute_in_graph"):  # torch 2.6 and later
    for _one, _traced in ((functions.histogram, _traced_histogram), (functions.bincount, _traced_bincount)):
        torch.compiler.substitute_in_graph(_one, skip_signature_check=True)(_traced)
