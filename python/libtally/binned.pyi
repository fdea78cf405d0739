# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Samples: TypeAlias = Any
_Statistic: TypeAlias = Literal["mean", "std", "sum", "count", "min", "max", "median"] | Callable[[NDArray[Any]], Any]

__all__ = ["binned_statistic", "binned_statistic_2d", "binned_statistic_dd"]

class BinnedStatisticResult(NamedTuple):
    statistic: NDArray[np.float64]
    bin_edges: NDArray[Any]
    binnumber: NDArray[np.intp]

class BinnedStatistic2dResult(NamedTuple):
    statistic: NDArray[np.float64]
    x_edge: NDArray[Any]
    y_edge: NDArray[Any]
    binnumber: NDArray[np.intp]

class BinnedStatisticddResult(NamedTuple):
    statistic: NDArray[np.float64]
    bin_edges: list[NDArray[Any]]
    binnumber: NDArray[np.intp]

def binned_statistic(
    x: _Samples, values: _Samples, statistic: _Statistic = "mean", bins: int | ArrayLike = 10, range: Any = None
) -> BinnedStatisticResult: ...
def binned_statistic_2d(
    x: _Samples, y: _Samples, values: _Samples, statistic: _Statistic = "mean", bins: Any = 10, range: Any = None,
    expand_binnumbers: bool = False,
) -> BinnedStatistic2dResult: ...
def binned_statistic_dd(
    sample: Any, values: _Samples, statistic: _Statistic = "mean", bins: Any = 10, range: Any = None,
    expand_binnumbers: bool = False, binned_statistic_result: BinnedStatisticddResult | None = None,
) -> BinnedStatisticddResult: ...
