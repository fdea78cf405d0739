# SPDX-License-Identifier: Apache-2.0
"""Histograms along named dimensions, and xhistogram's own tests of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

import libtally as tally

xr = pytest.importorskip("xarray")
rng = np.random.default_rng(8)


def arrays(chunks=None):
    """Two variables that share dimensions, and weights that have but one of them."""
    t = xr.DataArray(
        np.round(rng.normal(0, 2, (3, 4, 50)), 1), dims=("day", "y", "x"), name="t",
        coords={"day": [10, 20, 30], "y": np.arange(4.0), "area": ("y", np.ones(4))}, attrs={"units": "K"},
    )  # fmt: skip
    t[1, 2, 3] = np.nan
    s = xr.DataArray(rng.integers(0, 5, (50, 3)), dims=("x", "day"), name="s", coords={"day": [10, 20, 30]})
    w = xr.DataArray(rng.integers(1, 5, 4).astype(float), dims="y", coords={"y": np.arange(4.0)})
    return [a.chunk({"x": 17, "day": 2}) if chunks and "x" in a.dims else a for a in (t, s, w)]


@pytest.mark.parametrize("chunks", [False, True], ids=["memory", "dask"])
@pytest.mark.parametrize("dim", ["x", ("x", "y"), ("day", "y", "x"), None])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_numpy(dim, weighted, chunks):
    pytest.importorskip("dask") if chunks else None
    from libtally.xarray import histogram

    t, s, w = arrays(chunks)
    edges = [np.array([-2, 0, 0.5, 3]), np.arange(6)]
    found = histogram(t, s, bins=edges, dim=dim, weights=w if weighted else None)
    assert hasattr(found.data, "dask") == chunks
    dims = ("day", "y", "x")
    kept = [d for d in dims if dim is not None and d not in np.atleast_1d(dim)]
    assert found.dims == (*kept, "t_bin", "s_bin") and found.name == "histogram_t_s"
    assert found.t_bin.attrs == {"units": "K"} and found.t_bin.values.tolist() == [-1, 0.25, 1.75]
    both = xr.broadcast(t, s, w)
    both = [a.transpose(*kept, ...).values.reshape([t.sizes[d] for d in kept] + [-1]) for a in both]
    for at in np.ndindex(*both[0].shape[:-1]):
        x, y, v = (a[at] for a in both)
        ok = ~np.isnan(x)
        expected = np.histogram2d(x[ok], y[ok], edges, weights=v[ok] if weighted else None)[0]
        np.testing.assert_array_equal(found.values[at], expected)
    one = histogram(t, bins=edges[0], dim=dim, density=True).values
    np.testing.assert_allclose((one * np.diff(edges[0])).sum(axis=-1), 1)
    for d in kept:
        np.testing.assert_array_equal(found[d], t[d]) if d in t.coords else None


def test_names_and_bins():
    from libtally.xarray import histogram

    t, s, _ = arrays()
    t = t.fillna(0)
    counts = histogram(t, bins=7, range=(-3, 3))
    np.testing.assert_array_equal(counts, tally.histogram(t, 7, (-3, 3))[0])
    for bins in (6, "sturges", [0, 1, 2]):
        np.testing.assert_array_equal(histogram(t, bins=bins), np.histogram(t, bins)[0])
    np.testing.assert_array_equal(histogram(t, bins=[7], range=[(-3, 3)]), counts)
    for given, few in (((t,), np.array([4])), ((t,), []), ((t, s), [4])):
        for arrays_ in (given, [a.chunk() for a in given]):
            with pytest.raises(ValueError, match="two edges or more"):
                histogram(*arrays_, bins=few)
    kept = histogram(t, bins=3, dim="x", keep_coords=True, bin_dim_suffix="_class")
    assert "area" in kept.coords and kept.dims == ("day", "y", "t_class")
    assert "area" not in histogram(t, bins=3, dim="x").coords
    two = histogram(t, s, bins=[3, np.arange(4)], range=[(-1, 1), None])
    assert two.shape == (3, 3)
    for wrong, error in (((t.values,), TypeError), ((t.rename(None),), ValueError), ((), TypeError)):
        with pytest.raises(error):
            histogram(*wrong)
    with pytest.raises(ValueError, match="no dimension 'z'"):
        histogram(t, dim="z")
    with pytest.raises(ValueError):
        histogram(t, s.assign_coords(day=[1, 2, 3]))


@pytest.mark.parametrize("chunks", [False, True], ids=["memory", "dask"])
def test_dates(chunks):
    from libtally.xarray import histogram

    when = np.datetime64("2020-01-01", "ns") + rng.integers(0, 10**17, (4, 30)).astype("m8[ns]")
    when[0, 0] = np.datetime64("NaT", "ns")
    edges = np.arange("2020-02", "2022-12", dtype="M8[M]").astype("M8[ns]")
    when[1, 1] = edges[-1]
    a = xr.DataArray(when, dims=("i", "j"), name="when")
    found = histogram(a.chunk({"j": 7}) if chunks else a, bins=edges, dim="j")
    for row, dates in zip(found.values, when):
        dates = dates[~np.isnat(dates)].astype("i8")
        np.testing.assert_array_equal(row, np.histogram(dates, edges.astype("i8"))[0])
    with pytest.raises(TypeError, match="edges"):
        histogram(a, bins=3)


def test_what_is_not_counted():
    from libtally.xarray import histogram

    a = xr.DataArray(np.arange(3.0), dims="i", name="a")
    for wrong in (a.copy(data=np.array([1, 2, 3], object)), a.copy(data=np.array(list("123")))):
        with pytest.raises(TypeError, match="are not counted"):
            histogram(a, bins=np.arange(3.0), weights=wrong)
    with pytest.raises(TypeError, match="are not counted"):
        histogram(a.astype(np.longdouble), bins=np.arange(3.0))


# Not run: how their functions read `bins` and `range`; that Dask arrays without edges are refused, which
# are counted here. Fail with theirs too, by the newest xarray: chunks of two lengths for three dimensions.
SUITES = ["xhistogram.test.test_xarray", "xhistogram.test.test_core", "xhistogram.test.test_chunking"]
NOT_RUN = "ensure_correctly or histogram_dask or (chunked_weights and shape1)"
LONG = "4D or 3D or test_chunk or (results_1d and 10)"  # `make check-all` runs these too
ALL = os.environ.get("TALLY_CHECK") == "all"


def run_suite():
    """In a process of its own, where xhistogram's functions are ours."""
    import dask
    from xhistogram.test import test_core

    from libtally.xarray import histogram, joint

    def of_arrays(*args, bins, range=None, axis=None, weights=None, density=False, block_size=None):
        given = [np.asarray(a) if not hasattr(a, "dask") else a for a in args]
        whole = [*given, *([] if weights is None else [weights])]
        broadcast = dask.array.broadcast_arrays if any(hasattr(a, "dask") for a in whole) else np.broadcast_arrays
        whole = broadcast(*whole)
        axis = tuple(np.arange(whole[0].ndim) if axis is None else np.atleast_1d(axis))
        axis = tuple(int(i) % whole[0].ndim for i in axis)
        return joint(whole[: len(args)], bins, range, axis, None if weights is None else whole[-1], density)

    class Put:
        def pytest_collection_modifyitems(self, items):
            for module in {item.module for item in items}:
                module.histogram = of_arrays if module is test_core else histogram

    dask.config.set(scheduler="synchronous")
    chosen = f"not ({NOT_RUN})" + ("" if ALL else f" and not ({LONG})")
    options = ["-c", "/dev/null", "-q", "-p", "no:cacheprovider", "-rf", "-k", chosen, "--pyargs"]
    return pytest.main([*options, *SUITES], [Put()])


def test_xhistograms_own_tests():
    pytest.importorskip("xhistogram.test.test_xarray")
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    summary = done.stdout.strip().splitlines()[-1]
    assert not done.returncode and " failed" not in summary, done.stdout + done.stderr
    assert int(summary.split(" passed")[0].split()[-1]) > (300 if ALL else 60), done.stdout


if __name__ == "__main__":
    sys.exit(run_suite())
