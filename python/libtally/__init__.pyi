# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .binned import binned_statistic as binned_statistic
from .binned import binned_statistic_2d as binned_statistic_2d
from .binned import binned_statistic_dd as binned_statistic_dd
from .quantiles import median as median
from .quantiles import nanmedian as nanmedian
from .quantiles import nanpercentile as nanpercentile
from .quantiles import nanquantile as nanquantile
from .quantiles import percentile as percentile
from .quantiles import quantile as quantile

__version__: str

class _OnDevices(Protocol):
    """CuPy's and torch's arrays, which are answered in kind."""

    @property
    def __cuda_array_interface__(self) -> Any: ...

class _Jax(Protocol):
    def block_until_ready(self) -> Any: ...

class _Lent(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...

class _Arrow(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

_L = TypeVar("_L", bound=_OnDevices | _Jax)
# These are answered by NumPy's arrays.
_Host: TypeAlias = ArrayLike | _Lent | _Arrow | _ArrowStream
# What goes with the samples may be of any kind.
_Samples: TypeAlias = Any
_Array: TypeAlias = Any  # of the lender's kind
_Bins: TypeAlias = int | str | ArrayLike | _OnDevices | _Axis
_JointBins: TypeAlias = int | ArrayLike | _Axis | Sequence[Any]
_Range: TypeAlias = tuple[float, float] | None
_Where: TypeAlias = str | list[str] | tuple[str, ...] | None
_Progress: TypeAlias = Callable[[int, int], object] | None
_Factor: TypeAlias = float | NDArray[Any]
_Storage: TypeAlias = Literal["count", "sum", "weight", "mean", "weighted_mean"]
_H = TypeVar("_H", bound=Hist)

class Flows(NamedTuple):
    under: Any
    over: Any
    nan: Any
    masked: Any

class _Device(NamedTuple):
    id: str
    name: str
    memory_bytes: int
    available: bool
    reason: str

class _Parameter(NamedTuple):
    default: int
    least: int
    most: int
    help: str

class _Method(NamedTuple):
    name: str
    summary: str
    devices: str
    dtypes: str
    parameters: dict[str, _Parameter]

def devices() -> list[_Device]: ...
def methods() -> list[_Method]: ...
@overload
def histogram(
    a: _L, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L]: ...
@overload
def histogram(
    a: _L, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, Flows]: ...
@overload
def histogram(
    a: _L, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, NDArray[Any]]: ...
@overload
def histogram(
    a: _L, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, NDArray[Any], Flows]: ...
@overload
def histogram(
    a: _Host, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def histogram(
    a: _Host, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], Flows]: ...
@overload
def histogram(
    a: _Host, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def histogram(
    a: _Host, bins: _Bins = 10, range: _Range = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Flows]: ...
@overload
def histogram_bin_edges(
    a: _L,
    bins: _Bins = 10, range: _Range = None, weights: _Samples | None = None, *,
    where: _Samples | None = None, threads: int | None = None,
) -> _L: ...
@overload
def histogram_bin_edges(
    a: _Host,
    bins: _Bins = 10, range: _Range = None, weights: _Samples | None = None, *,
    where: _Samples | None = None, threads: int | None = None,
) -> NDArray[Any]: ...
@overload
def histogramdd(
    sample: _L | Sequence[_L],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, list[_L]]: ...
@overload
def histogramdd(
    sample: _L | Sequence[_L],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, list[_L], Flows]: ...
@overload
def histogramdd(
    sample: _L | Sequence[_L],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, list[_L], NDArray[Any]]: ...
@overload
def histogramdd(
    sample: _L | Sequence[_L],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, list[_L], NDArray[Any], Flows]: ...
@overload
def histogramdd(
    sample: _Host | Sequence[_Host],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], list[NDArray[Any]]]: ...
@overload
def histogramdd(
    sample: _Host | Sequence[_Host],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], list[NDArray[Any]], Flows]: ...
@overload
def histogramdd(
    sample: _Host | Sequence[_Host],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], list[NDArray[Any]], NDArray[Any]]: ...
@overload
def histogramdd(
    sample: _Host | Sequence[_Host],
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], list[NDArray[Any]], NDArray[Any], Flows]: ...
@overload
def histogram2d(
    x: _L, y: _L,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, _L]: ...
@overload
def histogram2d(
    x: _L, y: _L,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, _L, Flows]: ...
@overload
def histogram2d(
    x: _L, y: _L,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, _L, NDArray[Any]]: ...
@overload
def histogram2d(
    x: _L, y: _L,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, _L, _L, NDArray[Any], Flows]: ...
@overload
def histogram2d(
    x: _Host, y: _Host,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def histogram2d(
    x: _Host, y: _Host,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Flows]: ...
@overload
def histogram2d(
    x: _Host, y: _Host,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def histogram2d(
    x: _Host, y: _Host,
    bins: _JointBins = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
    weights: _Samples | None = None,
    *,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], Flows]: ...
@overload
def bincount(
    x: _L, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> _L: ...
@overload
def bincount(
    x: _L, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, Flows]: ...
@overload
def bincount(
    x: _L, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, NDArray[Any]]: ...
@overload
def bincount(
    x: _L, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[_L, NDArray[Any], Flows]: ...
@overload
def bincount(
    x: _Host, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> NDArray[Any]: ...
@overload
def bincount(
    x: _Host, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: None = None,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], Flows]: ...
@overload
def bincount(
    x: _Host, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["clamp", "raise"] | None = None, by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def bincount(
    x: _Host, /, weights: _Samples | None = None, minlength: int = 0,
    *,
    axis: int | tuple[int, ...] | None = None,
    where: _Samples | None = None, flow: Literal["count"], by: _Samples,
    out: Any = None, device: _Where = None, method: str | None = None, threads: int | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[Any], NDArray[Any], Flows]: ...
@overload
def digitize(x: _L, bins: _Samples, right: bool = False) -> _L: ...
@overload
def digitize(x: _Host, bins: _Samples, right: bool = False) -> NDArray[np.int64]: ...

class _Traits(NamedTuple):
    circular: bool
    discrete: bool

class _Axis:
    discrete: bool
    growth: bool
    circular: bool
    edges: NDArray[np.float64]
    name: str
    label: str
    @property
    def traits(self) -> _Traits: ...
    @property
    def centers(self) -> NDArray[np.float64]: ...
    @property
    def widths(self) -> NDArray[np.float64]: ...
    def __len__(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def extent(self) -> int: ...
    def __getitem__(self, i: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object) -> bool: ...
    @overload
    def index(self, x: float | str) -> int: ...
    @overload
    def index(self, x: Sequence[Any] | NDArray[Any]) -> NDArray[np.intp]: ...
    def bin(self, i: int) -> Any: ...
    def value(self, x: Any) -> Any: ...

class Regular(_Axis):
    def __init__(
        self, bins: int, lo: float, hi: float, *, name: str = "", label: str = "",
        closed: bool = True, growth: bool = False, circular: bool = False,
    ) -> None: ...

class Log(_Axis):
    def __init__(
        self, bins: int, lo: float, hi: float, *, name: str = "", label: str = "",
        closed: bool = True,
    ) -> None: ...

class Variable(_Axis):
    def __init__(
        self, edges: ArrayLike, *, name: str = "", label: str = "", closed: bool = True, circular: bool = False
    ) -> None: ...

class Integer(_Axis):
    def __init__(
        self, start: int, stop: int, *, name: str = "", label: str = "", growth: bool = False, circular: bool = False
    ) -> None: ...

class Category(_Axis):
    categories: list[Any]
    def __init__(
        self, categories: Sequence[Any], *, name: str = "", label: str = "", growth: bool = False
    ) -> None: ...

class _Axes(tuple[_Axis, ...]):
    @overload
    def __getitem__(self, key: SupportsIndex | str) -> _Axis: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[_Axis, ...]: ...
    @property
    def name(self) -> tuple[str, ...]: ...
    @property
    def label(self) -> tuple[str, ...]: ...
    @property
    def size(self) -> tuple[int, ...]: ...
    @property
    def extent(self) -> tuple[int, ...]: ...
    @property
    def edges(self) -> tuple[NDArray[np.float64], ...]: ...
    @property
    def centers(self) -> tuple[NDArray[np.float64], ...]: ...
    @property
    def widths(self) -> tuple[NDArray[np.float64], ...]: ...

class loc:
    value: Any
    offset: int
    def __init__(self, value: Any, offset: int = 0) -> None: ...
    def __call__(self, axis: _Axis) -> int: ...
    def __add__(self, offset: int) -> loc: ...
    def __sub__(self, offset: int) -> loc: ...

def underflow(axis: _Axis) -> int: ...
def overflow(axis: _Axis) -> int: ...

def merge(paths: Iterable[str | PathLike[str]], threads: int | None = None) -> Hist: ...

class _Stack(list[Hist]):
    axis: _Axis
    def plot(self, ax: Any = None, stack: bool = True, **keywords: Any) -> list[Any]: ...

class Hist:
    axes: _Axes
    storage: _Storage
    name: str
    label: str
    device: str | None
    flows: Flows
    def __init__(
        self, *axes: _Axis, storage: Any = "count", name: str = "", label: str = "", device: str | None = None
    ) -> None: ...
    def reset(self: _H) -> _H: ...
    def copy(self: _H) -> _H: ...
    def __copy__(self: _H) -> _H: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def sums(self) -> NDArray[Any]: ...
    @property
    def squares(self) -> NDArray[np.float64] | None: ...
    @property
    def means(self) -> NDArray[np.float64] | None: ...
    def fill(
        self: _H,
        *samples: _Samples,
        weight: _Samples | float | None = None,
        sample: _Samples | float | None = None,
        where: _Samples | None = None,
        device: _Where = None,
        method: str | None = None,
        threads: int | None = None,
        progress: _Progress = None,
        **named: _Samples,
    ) -> _H: ...
    def __iadd__(self: _H, other: Hist | _Factor) -> _H: ...
    def __add__(self: _H, other: Hist | _Factor) -> _H: ...
    def __radd__(self: _H, other: _Factor) -> _H: ...
    def __isub__(self: _H, other: Hist | _Factor) -> _H: ...
    def __sub__(self: _H, other: Hist | _Factor) -> _H: ...
    def __rsub__(self: _H, other: _Factor) -> _H: ...
    def __imul__(self: _H, factor: Hist | _Factor) -> _H: ...
    def __mul__(self: _H, factor: Hist | _Factor) -> _H: ...
    def __rmul__(self: _H, factor: _Factor) -> _H: ...
    def __itruediv__(self: _H, factor: Hist | _Factor) -> _H: ...
    def __truediv__(self: _H, factor: Hist | _Factor) -> _H: ...
    def __rtruediv__(self: _H, number: _Factor) -> _H: ...
    def merge(self: _H, *others: Hist) -> _H: ...
    def __eq__(self, other: object) -> bool: ...
    @property
    def kind(self) -> str: ...
    def values(self, flow: bool = False) -> NDArray[np.float64]: ...
    def variances(self, flow: bool = False) -> NDArray[np.float64] | None: ...
    def counts(self, flow: bool = False) -> NDArray[np.float64] | None: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def sum(self, flow: bool = False, *, axis: None = None, out: None = None) -> int | float: ...
    def view(self, flow: bool = False) -> NDArray[Any]: ...
    @overload
    def to_numpy(self, flow: bool = False, *, dd: Literal[False] = False) -> tuple[NDArray[np.float64], ...]: ...
    @overload
    def to_numpy(self, flow: bool = False, *, dd: bool) -> tuple[Any, ...]: ...
    def empty(self, flow: bool = False) -> bool: ...
    def density(self) -> NDArray[np.float64]: ...
    def project(self, *axes: int | str) -> Hist: ...
    def rebin(self, n: int, axis: int | str | None = None) -> Hist: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: ArrayLike) -> None: ...
    def stack(self, axis: int | str) -> _Stack: ...
    def plot(self, ax: Any = None, **keywords: Any) -> Any: ...
    @classmethod
    def from_boost(cls: type[_H], theirs: Any) -> _H: ...
    def to_uhi(self) -> dict[str, Any]: ...
    @classmethod
    def from_uhi(cls: type[_H], data: Mapping[str, Any]) -> _H: ...
    @overload
    def quantile(self, q: float) -> float: ...
    @overload
    def quantile(self, q: ArrayLike) -> NDArray[np.float64]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | PathLike[str], index: int = 0) -> Any: ...
