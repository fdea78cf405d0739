# SPDX-License-Identifier: Apache-2.0
"""Histograms of xarray's arrays along named dimensions, by the arguments of xhistogram."""

import builtins

import numpy as np
import xarray as xr

from . import _arrays, _count, _edges
from . import _library as c
from ._asked import answer_of
from ._core import Call, Weights, normal_axes, served
from .functions import histogram_bin_edges

__all__ = ["histogram"]


def histogram(*args, bins=10, range=None, dim=None, weights=None, density=False, block_size="auto",
              keep_coords=False, bin_dim_suffix="_bin"):  # fmt: skip
    """Counts named arrays together, along some or all of their dimensions.

    Parameters
    ----------
    *args : xarray.DataArray
        One for each axis of the histogram, each with a name; they are broadcast by their dimensions,
        and coordinates that differ are an error. Dask arrays inside are counted chunk by chunk, and
        the result is one that is not yet computed.
    bins : int, str, sequence of float, or a list of these for each of args
        As for `tally.histogram`; rules' names not for Dask arrays.
    range : (float, float), or a list of these for each of args
    dim : str or sequence of str, optional
        Dimensions that are counted; the others are kept. None: all.
    weights : xarray.DataArray, optional
        A weight for every sample; broadcast like args.
    density : bool, default False
        Counts of each histogram divided by their sum and the bins' volumes.
    block_size
        Taken and not needed.
    keep_coords : bool, default False
        Keep all coordinates that fit, not only those of dimensions.
    bin_dim_suffix : str, default '_bin'
        What follows an array's name in the name of its bins' dimension.

    Returns
    -------
    xarray.DataArray
        Named "histogram_" and the arrays' names. Its dimensions are those that were kept, then the
        bins', whose coordinates are the bins' centres with the arrays' attributes.

    Examples
    --------
    >>> import numpy, xarray
    >>> from libtally.xarray import histogram
    >>> t = xarray.DataArray(numpy.arange(12.0).reshape(3, 4), dims=("day", "x"), name="t")
    >>> histogram(t, bins=[0, 4, 12], dim="x").values
    array([[4, 0],
           [0, 4],
           [0, 4]])
    """
    if not args or not all(isinstance(a, xr.DataArray) for a in args):
        raise TypeError("histogram: xarray.DataArray objects are expected")
    if any(a.name is None for a in args):
        raise ValueError("histogram: every array must have a name, which its bins are called by")
    given = [*args] if weights is None else [*args, weights]
    if not keep_coords:
        given = [a.reset_coords(drop=True) for a in given]
    given = xr.broadcast(*xr.align(*given, join="exact"))
    dims = given[0].dims
    chosen = dims if dim is None else (dim,) if isinstance(dim, str) else tuple(dim)
    missing = [d for d in chosen if d not in dims]
    if missing:
        raise ValueError(f"dim: the arrays have no dimension {missing[0]!r}, only {dims}")
    data = [a.data for a in given]
    axis = tuple(d for d, name in enumerate(dims) if name in chosen)
    counts, edges = joint(
        data[: len(args)], bins, range, axis, None if weights is None else data[-1], density
    )
    kept = [d for d in dims if d not in chosen]
    new = [f"{a.name}{bin_dim_suffix}" for a in args]
    coords = {d: given[0][d] for d in kept if d in given[0].coords}
    if keep_coords:
        fits = {name: x for name, x in given[0].coords.items() if set(x.dims) <= set(kept)}
        coords = {**fits, **coords}
    for name, e, a in zip(new, edges, args):
        coords[name] = (name, e[:-1] + (e[1:] - e[:-1]) / 2, a.attrs)
    name = "_".join(["histogram", *(str(a.name) for a in args)])
    return xr.DataArray(counts, dims=kept + new, coords=coords, name=name)


# ---- arrays without names ----


def joint(arrays, bins, range, axis, weights, density):
    """Counts, (kept…, bins…), and edges, of arrays of one shape along these dimensions."""
    n = len(arrays)
    each = bins if isinstance(bins, list) and len(bins) == n else [bins] * n
    pairs = isinstance(range, list) and all(r is None or np.ndim(r) == 1 for r in range)
    ranges = range if pairs else [range] * n
    if len(ranges) != n:
        raise ValueError(f"range: {len(ranges)} for {n} arrays")
    if any(hasattr(x, "dask") for x in [*arrays, weights]):
        return _in_chunks(arrays, each, ranges, axis, weights, density)
    edges = [_edges_of(a, b, r) for a, b, r in zip(arrays, each, ranges)]
    return _counted(arrays, edges, axis, weights, density), edges


def _edges_of(a, bins, range):
    if np.ndim(bins) and len(bins) < 2:
        raise ValueError("bins: a number or two edges or more are expected, for each array")
    if _is_date(a) and np.ndim(bins) == 0:
        raise TypeError(f"{a.dtype} samples are counted in edges, which bins= has to give")
    return np.asarray(histogram_bin_edges(a, bins, range))


def _is_date(a):
    return a.dtype.kind in "mM"


def _numbers(dates, edges):
    """The bins that dates are in; the number of bins for others and for NaT."""
    at = np.searchsorted(edges, dates, side="right") - 1
    return np.where(dates == edges[-1], len(edges) - 2, at)


@_edges.refused("histogram")
def _counted(arrays, edges, axis, weights, density):
    call, binned, taken = Call(axis), [], []
    for a, e in zip(arrays, edges):
        if _is_date(a):
            taken.append(_arrays.of_numpy(_numbers(np.asarray(a), e)))
            binned.append(_edges.Bins(e, _count.Axis(c.INTEGER, len(e) - 1, last=c.LAST_OPEN)))
        else:
            a = a.view(np.uint8) if a.dtype == bool else a
            taken.append(served(_arrays.take(a)))
            binned.append(_edges.from_edges(_edges.given(e)))
    w = Weights(weights, call, taken[0].shape)
    call.start(taken[0])
    call.mask([*taken, w])
    reduced = normal_axes(axis, len(taken[0].shape))
    if density and any(map(_is_date, arrays)):
        raise TypeError("density: of numbers, not of dates")
    return answer_of(call, taken, binned, w, None, density, reduced)[0]


# ---- Dask ----


def _in_chunks(arrays, bins, ranges, axis, weights, density):
    import dask.array as da

    from . import dask as chunked

    arrays = [da.asarray(a) for a in arrays]
    if any(_is_date(a) and np.ndim(b) == 0 for a, b in zip(arrays, bins)):
        raise TypeError("dates are counted in edges, which bins= has to give")
    bins, ranges, samples = chunked._settled(arrays, bins, ranges)
    edges = [_edges_of(s, b, r) for s, b, r in zip(samples, bins, ranges)]
    ends = chunked._ends(bins, ranges, samples, edges)
    if ends is not None:
        raise NotImplementedError("integers beyond 2^53 in chunks: count them by tally.dask")
    every = tuple(builtins.range(arrays[0].ndim))
    new = tuple(builtins.range(len(every), len(every) + len(edges)))
    parts = [*arrays] if weights is None else [*arrays, da.asarray(weights)]
    nothing = [np.empty((0,) * len(every), p.dtype) for p in parts]
    meta = _block(*nothing, edges=edges, axis=axis, weighted=weights is not None)
    counts = da.blockwise(
        _block, every + new, *(x for p in parts for x in (p, every)), edges=edges, axis=axis,
        weighted=weights is not None, new_axes={i: len(e) - 1 for i, e in zip(new, edges)},
        adjust_chunks={d: 1 for d in axis}, dtype=meta.dtype,
        meta=np.empty((0,) * meta.ndim, meta.dtype),
    ).sum(axis=axis)  # fmt: skip
    if density:
        across = tuple(builtins.range(counts.ndim - len(edges), counts.ndim))
        whole = counts.sum(axis=across, keepdims=True)
        for i, e in enumerate(edges):
            counts = counts / np.diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
        counts = counts / whole
    return counts, edges


def _block(*parts, edges, axis, weighted):
    """Counts of one chunk; the dimensions that are counted have length 1."""
    arrays, weights = (parts[:-1], parts[-1]) if weighted else (parts, None)
    return np.expand_dims(_counted(arrays, edges, axis, weights, False), axis)
