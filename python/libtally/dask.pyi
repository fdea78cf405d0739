# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import Any

import dask.array as da
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "histogram",
    "histogramdd",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

def histogram(
    a: da.Array,
    bins: int | ArrayLike = 10,
    range: Sequence[Any] | None = None,
    density: bool | None = None,
    weights: da.Array | None = None,
    *,
    threads: int = 1,
    method: str | None = None,
) -> tuple[da.Array, NDArray[Any]]: ...
def histogramdd(
    sample: da.Array | Sequence[da.Array],
    bins: int | ArrayLike | Sequence[int | ArrayLike] = 10,
    range: Sequence[Sequence[Any] | None] | None = None,
    density: bool | None = None,
    weights: da.Array | None = None,
    *,
    threads: int = 1,
    method: str | None = None,
) -> tuple[da.Array, list[NDArray[Any]]]: ...
def quantile(a: da.Array, q: ArrayLike, *, method: str = "linear", weights: da.Array | None = None) -> Any: ...
def percentile(a: da.Array, q: ArrayLike, *, method: str = "linear", weights: da.Array | None = None) -> Any: ...
def nanquantile(a: da.Array, q: ArrayLike, *, method: str = "linear", weights: da.Array | None = None) -> Any: ...
def nanpercentile(a: da.Array, q: ArrayLike, *, method: str = "linear", weights: da.Array | None = None) -> Any: ...
def median(a: da.Array) -> Any: ...
def nanmedian(a: da.Array) -> Any: ...
