# SPDX-License-Identifier: Apache-2.0
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _L, _Array, _Host

_Axes: TypeAlias = int | tuple[int, ...] | None
_Number: TypeAlias = np.number[Any]
_QuantileMethod = Literal[
    "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
]  # fmt: skip

@overload
def quantile(
    a: _L, q: Any, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> _L: ...
@overload
def quantile(
    a: _Host, q: float, axis: None = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: Literal[False] = ...,
    *, weights: ArrayLike | None = None,
) -> _Number: ...
@overload
def quantile(
    a: _Host, q: NDArray[Any] | list[float] | tuple[float, ...], axis: _Axes = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> NDArray[Any]: ...
@overload
def quantile(
    a: _Host, q: ArrayLike, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> Any: ...
@overload
def percentile(
    a: _L, q: Any, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> _L: ...
@overload
def percentile(
    a: _Host, q: float, axis: None = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: Literal[False] = ...,
    *, weights: ArrayLike | None = None,
) -> _Number: ...
@overload
def percentile(
    a: _Host, q: NDArray[Any] | list[float] | tuple[float, ...], axis: _Axes = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> NDArray[Any]: ...
@overload
def percentile(
    a: _Host, q: ArrayLike, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> Any: ...
@overload
def nanquantile(
    a: _L, q: Any, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> _L: ...
@overload
def nanquantile(
    a: _Host, q: float, axis: None = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: Literal[False] = ...,
    *, weights: ArrayLike | None = None,
) -> _Number: ...
@overload
def nanquantile(
    a: _Host, q: NDArray[Any] | list[float] | tuple[float, ...], axis: _Axes = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> NDArray[Any]: ...
@overload
def nanquantile(
    a: _Host, q: ArrayLike, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> Any: ...
@overload
def nanpercentile(
    a: _L, q: Any, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> _L: ...
@overload
def nanpercentile(
    a: _Host, q: float, axis: None = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: Literal[False] = ...,
    *, weights: ArrayLike | None = None,
) -> _Number: ...
@overload
def nanpercentile(
    a: _Host, q: NDArray[Any] | list[float] | tuple[float, ...], axis: _Axes = None, out: None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> NDArray[Any]: ...
@overload
def nanpercentile(
    a: _Host, q: ArrayLike, axis: _Axes = None, out: _Array | None = None,
    overwrite_input: bool = False, method: _QuantileMethod = "linear", keepdims: bool = ...,
    *, weights: ArrayLike | None = None,
) -> Any: ...
@overload
def median(
    a: _L, axis: _Axes = None, out: _Array | None = None, overwrite_input: bool = False, keepdims: bool = ...,
) -> _L: ...
@overload
def median(
    a: _Host, axis: None = None, out: None = None, overwrite_input: bool = False, keepdims: Literal[False] = ...,
) -> _Number: ...
@overload
def median(
    a: _Host, axis: _Axes = None, out: _Array | None = None, overwrite_input: bool = False, keepdims: bool = ...,
) -> Any: ...
@overload
def nanmedian(
    a: _L, axis: _Axes = None, out: _Array | None = None, overwrite_input: bool = False, keepdims: bool = ...,
) -> _L: ...
@overload
def nanmedian(
    a: _Host, axis: None = None, out: None = None, overwrite_input: bool = False, keepdims: Literal[False] = ...,
) -> _Number: ...
@overload
def nanmedian(
    a: _Host, axis: _Axes = None, out: _Array | None = None, overwrite_input: bool = False, keepdims: bool = ...,
) -> Any: ...
