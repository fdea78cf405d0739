# SPDX-License-Identifier: Apache-2.0
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import xarray as xr
from numpy.typing import ArrayLike

__all__ = ["histogram"]

def histogram(
    *args: xr.DataArray,
    bins: int | str | ArrayLike | Sequence[int | str | ArrayLike] = 10,
    range: Sequence[Any] | None = None,
    dim: str | Iterable[Hashable] | None = None,
    weights: xr.DataArray | None = None,
    density: bool = False,
    block_size: Any = "auto",
    keep_coords: bool = False,
    bin_dim_suffix: str = "_bin",
) -> xr.DataArray: ...
