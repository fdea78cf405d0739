# SPDX-License-Identifier: Apache-2.0
"""Drawn calls on torch's and CuPy's arrays of a CUDA device, compared with the same calls on NumPy's. SEED and
TALLY_TEST_CALLS (of each function) come from the environment; TALLY_TEST_DEVICE=cpu takes torch's arrays of the host."""

import os
import warnings

import numpy as np
import pytest

import libtally as tally
from libtally import binned

SEED = int(os.environ.get("SEED", np.random.SeedSequence().entropy % 2**32))
DEVICE = os.environ.get("TALLY_TEST_DEVICE", "cuda")  # "cpu": torch's arrays of the host
FLOATS, INTEGERS = ["f2", "f4", "f8"], ["u1", "i1", "i2", "i4", "i8"]
METHODS = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
           "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "nearest", "midpoint"]  # fmt: skip


def of_torch():
    torch = pytest.importorskip("torch")
    if DEVICE == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return lambda a: torch.from_numpy(a).to(DEVICE), lambda x: x.cpu().numpy(), torch.Tensor


def of_cupy():
    cupy = pytest.importorskip("cupy")
    if DEVICE != "cuda":
        pytest.skip("CuPy's arrays are on a device")
    return cupy.asarray, cupy.asnumpy, cupy.ndarray


class Draw:
    """Random samples and arguments."""

    def __init__(self, rng):
        self.rng = rng

    def one(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def dtype(self, kinds=None):
        return self.one(*(kinds or FLOATS + INTEGERS))

    def shape(self, dimensions=None):
        n = dimensions or self.one(1, 1, 1, 2, 2, 3)
        return tuple(int(self.rng.integers(0 if self.rng.random() < 0.05 else 1, self.one(3, 40, 40, 300) + 1))
                     for _ in range(n))  # fmt: skip

    def samples(self, shape, dtype, whole=False):
        kind = self.rng.integers(4)
        if kind == 0 or whole:
            a = self.rng.integers(-3 if dtype[0] != "u" else 0, 60, shape)
        elif kind == 1:
            a = self.rng.normal(20, 15, shape)
        elif kind == 2:
            a = self.rng.random(shape) * 50
        else:
            a = self.rng.choice([0, 1, 1, 7.5, 49], shape)
        if dtype[0] == "u":
            a = np.abs(a)
        a = np.asarray(a).astype(dtype)
        if dtype[0] == "f" and a.size and self.rng.random() < 0.1:
            a.reshape(-1)[self.rng.integers(a.size)] = self.one(np.nan, np.inf, -np.inf, -0.0)
        return a

    def bins(self):
        return self.one(1, 7, 10, 100, 3000, [0, 10, 20, 50], [0, 0.1, 0.3, 30.0], np.linspace(0, 50, 33),
                        np.geomspace(0.01, 60, 20))  # fmt: skip

    def range(self):
        return self.one(None, (0, 50), (0.0, 50.0), (-5, 60), (0.1, 33.3), (7, 7))

    def axis(self, dimensions):
        if self.rng.random() < 0.4:
            return {}
        axes = self.rng.permutation(dimensions)[: self.rng.integers(1, dimensions + 1)]
        return {"axis": int(axes[0]) if len(axes) == 1 else tuple(map(int, axes))}

    def some(self, **maybe):
        """Each of these in one call of three."""
        return {k: v() for k, v in maybe.items() if self.rng.random() < 0.33}


def histogram(d):
    shape, dtype = d.shape(), d.dtype()
    keywords = {"bins": d.bins(), "range": d.range()} | d.axis(len(shape)) | d.some(
        density=lambda: True, flow=lambda: d.one("count", "clamp"), where=lambda: d.rng.random(shape) < 0.7,
        weights=lambda: d.samples(shape, d.dtype(["f4", "f8", "i4", "u1"])),
    )  # fmt: skip
    return tally.histogram, [d.samples(shape, dtype)], keywords


def histogram2d(d):
    n, dtype = d.shape(1), d.dtype()
    keywords = {"bins": d.one(5, (4, 9), [3, [0, 10, 50]]), "range": d.one(None, [(0, 50), (-1, 40)])}
    return tally.histogram2d, [d.samples(n, dtype), d.samples(n, dtype)], keywords | d.some(density=lambda: True)


def histogramdd(d):
    n, k = d.shape(1)[0], d.one(1, 2, 3)
    keywords = {"bins": d.one(4, [3, 5, 2][:k]), "range": d.one(None, [(0, 50)] * k)}
    return tally.histogramdd, [d.samples((n, k), d.dtype())], keywords | d.some(
        density=lambda: True, weights=lambda: d.samples((n,), d.one("f4", "f8", "i8")),
    )  # fmt: skip


def bincount(d):
    shape = d.shape(1)
    x = np.abs(d.samples(shape, d.dtype(INTEGERS), whole=True))
    return tally.bincount, [x], d.some(minlength=lambda: d.one(0, 5, 1000),
                                       weights=lambda: d.samples(shape, d.one("f4", "f8", "i4")))  # fmt: skip


def digitize(d):
    return tally.digitize, [d.samples(d.shape(), d.dtype()), np.sort(d.rng.random(d.one(1, 5, 60)) * 50)], d.some(
        right=lambda: True,
    )  # fmt: skip


def quantile(d):
    shape = d.shape()
    name = d.one("quantile", "percentile", "nanquantile", "nanpercentile", "median", "nanmedian")
    q = d.one(0.5, 0.0, 1.0, [0.1, 0.9], np.linspace(0, 1, 11))
    where = [] if "median" in name else [np.asarray(q) * 100 if "percentile" in name else q]
    keywords = {} if "median" in name else d.some(method=lambda: d.one(*METHODS))
    return getattr(tally, name), [d.samples(shape, d.dtype()), *where], keywords | d.axis(len(shape)) | d.some(
        keepdims=lambda: True,
    )  # fmt: skip


def statistic(d):
    n = d.shape(1)
    kind = d.one("count", "sum", "mean", "std", "min", "max")
    return (lambda x, v, **k: binned.binned_statistic(x, v, kind, **k)[:2]), [
        d.samples(n, d.dtype(["f4", "f8"])), d.samples(n, d.dtype(["f4", "f8"]), whole=d.one(True, False)),
    ], {"bins": d.one(5, 100, [0, 10, 50]), "range": d.one((0, 50), (-1.5, 33))}  # fmt: skip


def given(value, there):
    """The arguments as arrays of the other kind; what is no array stays."""
    return there(value) if isinstance(value, np.ndarray) else value


def outcome(call, arguments, keywords):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(*arguments, **keywords), None
    except Exception as error:
        return None, error


def parts(answer):
    """An answer's arrays."""
    if isinstance(answer, (tuple, list)):
        return [p for part in answer for p in parts(part)]
    return [answer]


def same(want, got, back, kind, exact):
    for w, g in zip(parts(want), parts(got), strict=True):
        g = back(g) if isinstance(g, kind) else np.asarray(g)
        w = np.asarray(w)
        if w.dtype.kind in "iu" and g.dtype.kind in "iu":
            g = g.astype(w.dtype)
        assert w.dtype == g.dtype and w.shape == g.shape, (w.dtype, g.dtype, w.shape, g.shape)
        if exact:
            np.testing.assert_array_equal(g, w)
        else:
            loose = 1e-5 if w.dtype == np.float32 else 1e-9  # sums, which NumPy rounds at each addition
            np.testing.assert_allclose(g, w, rtol=loose, atol=loose)


@pytest.mark.parametrize("kind", [of_torch, of_cupy])
@pytest.mark.parametrize("make", [histogram, histogram2d, histogramdd, bincount, digitize, quantile, statistic])
def test_as_on_the_host(kind, make):
    there, back, type_ = kind()
    print(f"SEED={SEED}")
    rng = np.random.default_rng([SEED, len(make.__name__), ord(make.__name__[0])])
    counted = 0
    for number in range(int(os.environ.get("TALLY_TEST_CALLS", 40))):
        call, arguments, keywords = make(Draw(rng))
        want, refused = outcome(call, arguments, keywords)
        got, failed = outcome(call, [given(a, there) for a in arguments], {k: given(v, there) for k, v in keywords.items()})
        if isinstance(failed, NotImplementedError):
            continue
        try:
            assert (failed is None) == (refused is None), (failed, refused)
            if failed is None:
                same(want, got, back, type_, make is not statistic and not {"density", "weights"} & set(keywords))
                counted += 1
        except AssertionError as error:
            shown = [f"{a.dtype}{a.shape}" if isinstance(a, np.ndarray) else a for a in arguments]
            raise AssertionError(f"{make.__name__} {number}: {shown} {keywords}: {error}") from None
    assert counted > 20
