# SPDX-License-Identifier: Apache-2.0
"""Quantiles against NumPy's: every type, method, axis and kind of q, with NaN and infinities."""
import ctypes
import os
import types
import warnings
from fractions import Fraction

import numpy as np
import pytest

import libtally as tally
from libtally import _arrays
from libtally import _library as c
from libtally._count import context

SEED = int(os.environ.get("SEED", "20261123"))
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
]  # fmt: skip
TYPES = "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 >i2 >f8".split()
NEW = np.lib.NumpyVersion(np.__version__) >= "2.4.0"  # since then a float q does not take the samples' type


def same(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    if NEW:
        assert ours.dtype == theirs.dtype.newbyteorder("=")
        np.testing.assert_array_equal(ours, theirs)
    else:
        few = theirs.dtype == np.float16  # places in float16, too
        np.testing.assert_allclose(ours, theirs, rtol=2e-2 if few else 1e-5, atol=0.1 if few else 0)


def samples(random, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.normal(0, 9, shape).astype(dtype)
    top = 2 ** (8 * dtype.itemsize - 2)  # differences fit, as in NumPy they have to
    return random.integers(0 if dtype.kind == "u" else -top // 2, top // 2, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("method", METHODS)
def test_against_numpy(dtype, method):
    random = np.random.default_rng(SEED)
    for n in (1, 2, 3, 10, 1000):
        x = samples(random, dtype, n)
        for q in (0.5, 0, 1, 0.25, [0.1, 0.9], np.linspace(0, 1, 11), random.random(), np.float32(0.3)):
            same(tally.quantile(x, q, method=method), np.quantile(x, q, method=method))


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_axes(name):
    random = np.random.default_rng(SEED + 1)
    x = random.normal(size=(4, 5, 6))
    ours, theirs = getattr(tally, name), getattr(np, name)
    q = [0.2, 0.7] if "quantile" in name else [20, 70]
    for missing in (False, True):
        if missing:
            x[random.random(x.shape) < 0.2] = np.nan
        for axis in (None, 0, 1, -1, (0, 2), (2, 0), (0, 1, 2)):
            for keepdims in (False, True):
                same(ours(x, q, axis=axis, keepdims=keepdims), theirs(x, q, axis=axis, keepdims=keepdims))
                same(ours(x, q[0], axis=axis, keepdims=keepdims), theirs(x, q[0], axis=axis, keepdims=keepdims))
    out = np.empty((2, 5, 6))
    assert ours(x, q, axis=0, out=out) is out
    np.testing.assert_array_equal(out, theirs(x, q, axis=0))
    same(ours(x[::2, ::-1].T, q, axis=1), theirs(x[::2, ::-1].T, q, axis=1))


@pytest.mark.parametrize("dtype", TYPES)
def test_median(dtype):
    random = np.random.default_rng(SEED + 2)
    for shape in (1, 2, 7, 1000, (3, 4), (5, 6, 7)):
        x = samples(random, dtype, shape)
        for axis in (None, 0, -1):
            same(tally.median(x, axis=axis), np.median(x, axis=axis))
            same(tally.nanmedian(x, axis=axis), np.nanmedian(x, axis=axis))
    if np.dtype(dtype).kind == "f":
        x = samples(random, dtype, (8, 9))
        x[3, 4] = x[5, 4] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(tally.median(x, axis=0), np.median(x, axis=0))
            same(tally.nanmedian(x, axis=0), np.nanmedian(x, axis=0))


def test_large():
    """Brackets, many ranks, few different values, orders that are hard."""
    random = np.random.default_rng(SEED + 3)
    n = 400_000
    for x in (
        random.normal(size=n).astype("f4"),
        np.arange(n)[::-1].copy(),
        random.integers(0, 10, n),
        np.where(random.random(n) < 0.999, 0.0, random.normal(size=n)),
        np.repeat([1e-300, 1e300], n // 2),
    ):
        ordered = np.sort(x)
        for q in ([0.5], np.linspace(0, 1, 101), random.random(9)):
            np.testing.assert_array_equal(
                tally.quantile(x, q, method="lower"), ordered[np.floor((n - 1) * np.asarray(q)).astype(int)]
            )


def test_infinities():
    assert tally.quantile([1.0, np.inf, np.inf], 0.75) == np.inf
    assert tally.quantile([-np.inf, -np.inf, np.inf], 0.25) == -np.inf
    assert np.isnan(tally.quantile([1.0, np.nan], 0))
    assert tally.nanquantile([1.0, np.nan], 0) == 1
    most = np.finfo(float).max
    for order in "<>":  # by the compiled part and without
        x = np.array([-np.inf, 1, 2, np.inf, np.inf], order + "f8")
        np.testing.assert_array_equal(tally.quantile(x, [0.0, 0.25, 0.8, 1]), [-np.inf, 1, np.inf, np.inf])
        assert tally.quantile(x.astype(order + "f4"), 0.0) == -np.inf
        assert tally.median(np.array([most, most], order + "f8")) == most
        assert tally.quantile(np.array([-(2**63), 2**63 - 1], order + "i8"), 0.25) == -(2.0**62)


def test_kinds_of_answers():
    """Python's numbers do not widen float32, NumPy's do; `keepdims` keeps none, too."""
    x = np.float32([1, 2, 4, 7])
    for q, wide in ((0.3, "f4"), (1, "f4"), (np.float64(0.3), "f8"), (np.float32(0.3), "f4")):
        for name, scale in (("quantile", 1), ("percentile", 100)):
            for samples in (x, x[::-1], x.astype(">f4")):
                found = getattr(tally, name)(samples, q * scale)
                assert found.dtype == wide, (name, type(q))
                assert not NEW or found == getattr(np, name)(samples, q * scale)
    found = tally.median(np.array(3.0), keepdims=True), tally.quantile(np.array(3.0), 0.5, keepdims=True)
    assert [type(a) for a in found] == [np.ndarray] * 2 and found == (3, 3)


@pytest.mark.parametrize("method", METHODS)
def test_whole_quantiles_of_any_type(method):
    """0 and 1 as narrow and unsigned integers, which wrapped: 0 was the largest sample."""
    for n in (2, 300):
        for x in (np.arange(n), np.arange(n, dtype=">f4")):
            for kind in "u1 i1 u2 u4 u8 i8".split():
                ends = np.array([0, 1], kind)
                assert tally.quantile(x, ends, method=method).tolist() == [0, n - 1], kind
                assert tally.nanquantile(x, ends[0], method=method) == 0


def test_quantiles_in_two_dimensions():
    x, q = np.random.default_rng(SEED + 8).normal(size=(4, 7)), np.array([[0.1, 0.5, 0], [0.9, 0.2, 1]])
    for name in ("quantile", "nanquantile"):
        for axis in (None, 0, 1):
            same(getattr(tally, name)(x, q, axis), getattr(np, name)(x, q, axis))
    same(tally.percentile(x, 100 * q, 1, method="weibull"), np.percentile(x, 100 * q, 1, method="weibull"))
    with pytest.raises(ValueError, match="scalar or 1d"):
        tally.quantile(x, q[None])


def test_masked_with_what_numpy_finds():
    """NumPy, which does not look at a mask, is given what is left."""
    mask = [False, False, True, False]
    x, w = np.ma.array([1, 2, 100, 3], mask=mask), np.array([1, 1, 7, 3.0])
    how = {"weights": w, "method": "inverted_cdf"}
    assert tally.quantile(x, 0.4, **how) == tally.nanquantile(x.astype("f4"), 0.4, **how) == 2
    assert tally.quantile(x, 0.5, **how) == tally.quantile(x, 0.5, **{**how, "weights": w.astype("O")[~x.mask]}) == 3
    with pytest.raises(ValueError, match="masked"):
        tally.quantile(np.arange(4), 0.5, **{**how, "weights": np.ma.array(w, mask=mask)})
    for kind in ("m8[s]", "O", "g"):
        assert tally.median(np.ma.array([1, 5, 99, 9], mask=mask).astype(kind)) == np.median(np.array([1, 5, 9]).astype(kind))
    assert tally.median(np.ma.array([True, False, True, False], mask=[1, 0, 1, 0])) == 0


def test_outputs_that_hold_no_fractions():
    """NumPy's refusal, where the answer was cut to whole numbers; narrower ones of a kind are filled."""
    x = np.array([[1, 2], [2, 5], [9, 9]])
    for name, q in (("quantile", (0.3,)), ("nanpercentile", (30,)), ("median", ()), ("nanmedian", ())):
        for out in (np.zeros(2, int), np.zeros(2, np.uint8), np.zeros(2, bool)):
            with pytest.raises(TypeError, match="same_kind"):
                getattr(tally, name)(x, *q, axis=0, out=out)
            assert not out.any()
        narrow = getattr(tally, name)(x, *q, axis=0, out=np.zeros(2, "f4"))
        np.testing.assert_array_equal(narrow, getattr(np, name)(x, *q, axis=0).astype("f4"))
    assert tally.quantile(x, 0.3, method="lower", out=np.zeros((), np.int8)) == 2


def test_what_numpy_does():
    """Types that the library does not have, weights, nothing at all: NumPy's answers, words and warnings."""
    x = np.array([3, 1, 2])
    assert tally.quantile(x, 0.5, weights=[1, 1, 1], method="inverted_cdf") == 2
    assert tally.median([True, False, True]) == 1
    dates = np.array(["2026-01-01", "2026-01-03"], "M8[D]")
    assert tally.quantile(dates, 0.5) == np.quantile(dates, 0.5)
    with pytest.warns(RuntimeWarning):
        assert np.isnan(tally.nanmedian([np.nan]))
    with pytest.raises(ValueError, match="range"):
        tally.quantile(x, 1.5)
    with pytest.raises(ValueError, match="range"):
        tally.percentile(x, -1)
    with pytest.raises(ValueError, match="not a valid method"):
        tally.quantile(x, 0.5, method="best")
    with pytest.raises(IndexError):
        tally.quantile([], 0.5)


# ---- weights: NumPy's inverted_cdf, and by fractions ----

WEIGHED = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0",
    reason="before 2.0 NumPy's quantiles take no weights, in 2.0 that of 0 may be a sample without one",
)
CDF = {"method": "inverted_cdf"}


@WEIGHED
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("weight", "b1 u1 i2 u4 i8 f2 f4 f8 >f8".split())
def test_weights(dtype, weight):
    random = np.random.default_rng(SEED + 2)
    for n in (1, 2, 7, 300):
        x = samples(random, dtype, n)
        w = (random.integers(0, 9, n) / (8 if "f" in weight else 1)).astype(weight)
        w[-1] = 1
        for q in (0.5, 0, 1, [0, 0.1, 0.3, 0.9], np.linspace(0, 1, 17), random.random()):
            ours, theirs = tally.quantile(x, q, weights=w, **CDF), np.quantile(x, q, weights=w, **CDF)
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype.newbyteorder("=")
            np.testing.assert_array_equal(ours, theirs)


@WEIGHED
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_quantiles_of_other_bits_with_weights(kind):
    """NumPy compares in the type of q."""
    random = np.random.default_rng(SEED + 3)
    q = np.concatenate([random.random(50), [0, 0, 1, 0.2, 0.6]]).astype(kind)
    for first in (0, 1e-30, 1):
        x, w = random.normal(size=500), random.integers(0, 5, 500).astype(float)
        w[np.argmin(x)] = first
        np.testing.assert_array_equal(tally.quantile(x, q, weights=w, **CDF), np.quantile(x, q, weights=w, **CDF))


@WEIGHED
@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_weights_along_axes(name):
    random = np.random.default_rng(SEED + 4)
    x = random.normal(size=(4, 5, 6))
    ours, theirs = getattr(tally, name), getattr(np, name)
    q = [0.2, 0.7] if "quantile" in name else [20, 70]
    for missing in (False, True):
        if missing:
            x[0, 1, 2] = x[2, :, 3] = np.nan
        for axis in (None, 0, 1, -1, (0, 1), (2, 0)):
            axes = range(3) if axis is None else [i % 3 for i in np.atleast_1d(axis)]
            few = random.integers(0, 4, [x.shape[i] for i in axes])
            few[..., -1] = 1
            shape = [x.shape[i] if i in axes else 1 for i in range(3)]
            w = np.broadcast_to(few.transpose(np.argsort(axes)).reshape(shape), x.shape)
            for weights in (w, few, w + random.integers(0, 3, x.shape)):
                for keepdims in (False, True):
                    found = ours(x, q, axis, keepdims=keepdims, weights=weights, **CDF)
                    full = w if weights is few else weights  # NumPy's nan forms fail with few
                    same(found, theirs(x, q, axis, keepdims=keepdims, weights=full, **CDF))
        out = np.empty((2, 4, 6))
        assert ours(x, q, 1, out, weights=w + 1, **CDF) is out
        same(out, theirs(x, q, 1, weights=w + 1, **CDF))


def test_weights_of_nan_alone():
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert np.isnan(tally.nanquantile([np.nan, np.nan], 0.5, weights=[1, 2], **CDF))


def test_weights_by_fractions():
    random = np.random.default_rng(SEED + 5)
    for _ in range(20):
        n = int(random.integers(1, 2000))
        x, w = random.permutation(n), random.lognormal(0, 4, n)
        q = random.random(9)
        total, sums = sum(map(Fraction, w)), []
        for i in np.argsort(x):
            sums.append(Fraction(w[i]) + (sums[-1] if sums else 0))
        expected = [next(i for i, s in enumerate(sums) if s >= Fraction(p) * total) for p in q]
        assert tally.quantile(x, q, weights=w, **CDF).tolist() == expected


def test_weights_that_are_refused():
    x = np.arange(4.0)
    for bad in ([1, -1, 1, 1], [1, np.nan, 1, 1], [1, np.inf, 1, 1], [0, 0, 0, 0], [1, 2]):
        with pytest.raises(ValueError):
            tally.quantile(x, 0.5, axis=0, weights=np.array(bad, float), **CDF)
    with pytest.raises(TypeError, match="Axis"):
        tally.quantile(x, 0.5, weights=[1, 2], **CDF)
    with pytest.raises(ValueError, match="inverted_cdf"):
        tally.quantile(x, 0.5, weights=x)
    with pytest.raises(ValueError, match="range"):
        tally.percentile(x, 101, weights=x, **CDF)


def test_other_objects():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1, None, 3, 5], dtype="Int64")
    assert tally.median(series) == 3
    assert tally.quantile(pandas.Series([1.0, 2.0, 4.0]), 1) == 4


def test_torch_comes_back():
    torch = pytest.importorskip("torch")
    answer = tally.quantile(torch.arange(11, dtype=torch.float32), 0.5)
    assert isinstance(answer, torch.Tensor) and float(answer) == 5


class Lender(_arrays.Home):
    """In the place of a library whose arrays are on a device; its answers are NumPy's."""

    stream = None

    def copied(self, array):
        x = np.ascontiguousarray(array.owner)
        return there(x).array


def there(x):
    """A NumPy array's samples in the memory of an OpenCL device, with its shape and strides."""
    try:
        device = context(c.OPENCL).pointer
    except NotImplementedError:
        pytest.skip("no OpenCL device here")
    whole = x if x.base is None else x.base
    memory = ctypes.c_void_p()
    error = c.Error()
    bytes_ = np.ascontiguousarray(whole)
    assert not c.lib.tally_memory_create(device, ctypes.c_uint64(max(bytes_.nbytes, 1)), ctypes.byref(memory), ctypes.byref(error))
    assert not c.lib.tally_memory_write(
        device, memory, ctypes.c_uint64(0), ctypes.c_void_p(bytes_.ctypes.data), ctypes.c_uint64(bytes_.nbytes), ctypes.byref(error)
    )  # fmt: skip
    array = _arrays.Array(
        memory.value, _arrays.CODES.get(x.dtype, 0), x.dtype, x.shape, x.strides, x, Lender(), c.OPENCL
    )  # fmt: skip
    return types.SimpleNamespace(array=array)


@pytest.fixture
def devices(monkeypatch):
    take = _arrays.take
    monkeypatch.setattr(_arrays, "take", lambda x: x.array if isinstance(x, types.SimpleNamespace) else take(x))


@pytest.mark.parametrize("dtype", ["f4", "i2"])
def test_device(devices, dtype):
    random = np.random.default_rng(SEED)
    x = samples(random, dtype, (3, 40, 7))
    if dtype == "f4":
        x[1, :, 3] = np.nan
    for axis in (None, 0, 1, 2, (0, 1), (1, 2), (0, 2)):
        for method in ("linear", "higher", "hazen"):
            same(tally.quantile(there(x), [0.1, 0.5, 1], axis, method=method),
                 tally.quantile(x, [0.1, 0.5, 1], axis, method=method))  # fmt: skip
        same(tally.nanmedian(there(x), axis), tally.nanmedian(x, axis))
    turned = x.transpose(2, 1, 0)
    same(tally.median(there(turned), 1, keepdims=True), tally.median(turned, 1, keepdims=True))
    out = np.empty((3, 7), np.float64)
    assert tally.percentile(there(x), 30, 1, out=out) is out
    same(out, np.asarray(tally.percentile(x, 30, 1), np.float64))


@pytest.mark.parametrize("dtype", ["f4", "i2"])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_device_with_weights(devices, dtype):
    random = np.random.default_rng(SEED + 6)
    x, w = samples(random, dtype, (3, 40, 7)), random.random((3, 40, 7)).astype("f4")
    if dtype == "f4":
        x[1, :, 3] = np.nan
    turned = np.ascontiguousarray(w.transpose(2, 0, 1)).transpose(1, 2, 0)  # the same in another order
    for axis in (None, 0, 1, 2, (0, 1), (0, 2)):
        for weights in (w, turned):
            for ours in (tally.quantile, tally.nanquantile):
                same(ours(there(x), [0.1, 0.5, 1], axis, weights=there(weights), **CDF),
                     ours(x, [0.1, 0.5, 1], axis, weights=w, **CDF))  # fmt: skip
    few = np.arange(40, dtype="u2")
    same(tally.percentile(there(x), 30, 1, weights=there(few), **CDF), tally.percentile(x, 30, 1, weights=few, **CDF))
    for wrong, weights in ((TypeError, w), (TypeError, there(w.astype("f2"))), (ValueError, there(few[:3]))):
        with pytest.raises(wrong):
            tally.quantile(there(x), 0.5, 1, weights=weights, **CDF)


def test_device_refusals(devices):
    for x in (np.zeros(3, bool), np.zeros(0, "f4")):
        with pytest.raises(TypeError, match="copy the array to the host"):
            tally.median(there(x))
