# SPDX-License-Identifier: Apache-2.0
"""Random arrays, strides, edges, weights: the same bits, types and errors as NumPy's.

What is left out here is what docs/PYTHON.md lists as different.
"""

import numpy as np
import pytest
from cases import (
    DTYPES,
    NEW_RULES,
    awkward_edges,
    awkward_ranges,
    edges,
    elements,
    near_ranges,
    on_edges,
    ours,
    ranges,
    run,
    same,
    views,
    weights_for,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import libtally as tally


@given(st.data())
def test_histogram(data):
    a = data.draw(views(special=data.draw(st.booleans())))
    bins = data.draw(st.one_of(st.integers(0, 60), edges()))
    range_ = data.draw(ranges())
    w = weights_for(data.draw, a.shape)
    density = data.draw(st.booleans())
    theirs = run(np.histogram, a, bins, range_, density, w)
    whole = w is not None and w.dtype.kind in "iu"
    if whole:  # sums in int64, where NumPy wraps in the weights' type
        theirs = run(np.histogram, a, bins, range_, density, w.astype(np.int64))
    same(ours("histogram", a, bins, range_, density, w), theirs)


@given(st.data())
def test_edges_at_samples(data):
    """Samples on NumPy's edges and beside them by one step of their type."""
    dtype = np.dtype(data.draw(st.sampled_from(["f4", "f8"])))
    n = data.draw(st.one_of(st.integers(1, 3000), st.sampled_from([64, 100, 256, 1024])))
    lo = data.draw(st.floats(-1e3, 1e3, width=32))
    hi = lo + data.draw(st.floats(2.0**-6, 1e3, width=32))
    range_ = (dtype.type(lo), dtype.type(hi))
    at = run(np.histogram_bin_edges, np.empty(0, dtype), n, range_)
    assume(not isinstance(at, Exception))
    a = np.concatenate([at, np.nextafter(at, dtype.type(-9e9)), np.nextafter(at, dtype.type(9e9))])
    same(ours("histogram", a, n, range_), run(np.histogram, a, n, range_))


@given(st.data())
def test_near_round(data):
    """Axes whose ends are next to round numbers, open and closed: the edges decide."""
    n, lo, hi = data.draw(near_ranges())
    closed = data.draw(st.booleans())
    dtype = data.draw(st.sampled_from(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]))
    assume(hi - lo > n * 4 * np.spacing(max(-lo, hi)))
    axis = tally.Regular(n, lo, hi, closed=closed)
    a = np.repeat(on_edges(axis.edges, dtype), 7)  # more than the fewest that are counted in blocks
    x = a.astype("f8")  # exact: no integer here is past 2^53
    x = x[(x >= lo) & ((x <= hi) if closed else (x < hi))]
    want = np.bincount(np.minimum(np.searchsorted(axis.edges, x, "right"), n) - 1, minlength=n)
    np.testing.assert_array_equal(tally.Hist(axis).fill(a).values(), want)
    if closed:
        same(ours("histogram", a, n, (lo, hi)), run(np.histogram, a, n, (lo, hi)))


def test_an_end_that_is_a_residue():
    for dtype in ("i2", "i4", "i8", "f4", "f8"):
        h = tally.Hist(tally.Regular(288, -288, 0.1 * 3 - 0.3, closed=False))
        h.fill((np.arange(200_000) % 3 - 2).astype(dtype))
        assert h.values()[-3:].tolist() == [0, 66667, 133333], dtype
        assert h.flows.over == 0


AWKWARD = ["u1", "i4", "i8", "f2", "f4", "f8"]


@given(st.data())
def test_awkward_edges(data):
    """Edges one float from each other, from integers and powers of two; samples at and beside them."""
    at = np.array(data.draw(awkward_edges()))
    a = np.repeat(on_edges(at, data.draw(st.sampled_from(AWKWARD))), 20)
    same(ours("histogram", a, at), run(np.histogram, a, at))
    same(ours("histogram", a, at.astype("f4")), run(np.histogram, a, at.astype("f4")))
    sample, bins = [a, a[::-1]], [at, at[len(at) // 3 :]]
    same(ours("histogramdd", sample, bins), run(np.histogramdd, sample, bins))
    same(ours("digitize", a, at), run(np.digitize, a, at))


@given(st.data())
def test_awkward_ranges(data):
    """Even bins between such numbers, or between such samples."""
    range_, n = data.draw(awkward_ranges()), data.draw(st.integers(1, 40))
    one, other = (data.draw(st.sampled_from(AWKWARD)) for _ in range(2))
    assume(one != "f2")  # of which NumPy's indices may be bins off, as of subnormal samples
    assume(range_[1] - range_[0] > 1e-290)
    at = run(np.histogram_bin_edges, np.empty(0, one), n, range_)
    if isinstance(at, Exception):
        return same(ours("histogram", np.zeros(3, one), n, range_), at)
    a = np.repeat(on_edges(at, one), 20)
    same(ours("histogram", a, n, range_), run(np.histogram, a, n, range_))
    same(ours("histogram", a, n), run(np.histogram, a, n))
    b = np.resize(on_edges(at, other), len(a))
    for both in (range_, range_), None:
        same(ours("histogramdd", [a, b], n, both), run(np.histogramdd, [a, b], n, both))


@pytest.mark.parametrize("n", [10, 64, 100, 256, 1000, 4096])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("range_", [(0.0, 1.0), (-1.0, 3.0), (0.1, 0.9), (5.0, 1e4), (-7.5, 0.25)])
def test_each_edge(n, range_, dtype):
    """Where an even axis stands in for rounded edges, and where it must not."""
    at = np.histogram_bin_edges(np.empty(0, dtype), n, range_)
    below, above = (np.nextafter(at, at.dtype.type(x)) for x in (-np.inf, np.inf))
    a = np.concatenate([at, below, above])
    same(ours("histogram", a, n, range_), np.histogram(a, n, range_))
    same(ours("histogram", a, at), np.histogram(a, at))
    points = np.stack([a, a], axis=1)
    same(ours("histogramdd", points, [at, at[::2]]), np.histogramdd(points, [at, at[::2]]))


@pytest.mark.skipif(not NEW_RULES, reason="NumPy's rules changed in 2.4; ours are the new ones")
@given(st.data())
def test_rules(data):
    a = data.draw(views(dtypes=["u1", "i2", "i8", "f8"]))
    rule = data.draw(st.sampled_from(
        ["auto", "fd", "doane", "scott", "rice", "sturges", "sqrt", "stone", "unknown"]
    ))  # fmt: skip
    range_ = data.draw(ranges())
    a = np.clip(a, -1000, 1000) if a.dtype.kind in "if" else a
    theirs = run(np.histogram_bin_edges, a, rule, range_)
    assume(isinstance(theirs, Exception) or len(theirs) < 100_000)
    found = ours("histogram_bin_edges", a, rule, range_)
    assume(isinstance(found, Exception) or len(found) <= 2**20)  # ours are no more than that
    if isinstance(theirs, Exception) or len(found) == len(theirs):
        same(found, theirs)
    else:  # their sums round otherwise; only where range / width is all but whole
        assert rule in ("doane", "scott", "stone") and abs(len(found) - len(theirs)) == 1


def test_histogramdd_without_samples_looks_at_no_weights():
    for w in (np.empty(0, complex), np.ones(3)):
        arguments = (np.empty((0, 1)), [[0.0, 1, 2]], None, False, w)
        same(ours("histogramdd", *arguments), run(np.histogramdd, *arguments))


def test_histogramdd_of_one_number_and_of_no_dimension():
    same(tally.histogramdd(np.float64(3), 2), np.histogramdd(np.float64(3), 2))
    with pytest.raises(ValueError, match=r"shape \(N, D\)"):
        tally.histogramdd(np.empty((4, 0)))


def points(draw, n, d, special):
    """An array of points, or a column for each coordinate, perhaps of different types."""
    dtypes = ["b1", "u1", "i2", "i4", "u8", "i8", "f2", "f4", "f8"]
    if draw(st.booleans()):
        return draw(views(special, dtypes=dtypes, shape=(n, d)))
    if draw(st.booleans()):
        dtypes = [draw(st.sampled_from(dtypes))]
    return [draw(views(special, dtypes=dtypes, shape=(n,))) for _ in range(d)]


@given(st.data())
def test_histogramdd(data):
    d = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(0, 40))
    sample = points(data.draw, n, d, data.draw(st.booleans()))
    bins = data.draw(st.one_of(
        st.integers(0, 9), st.lists(st.one_of(st.integers(1, 9), edges()), min_size=d, max_size=d)
    ))  # fmt: skip
    range_ = data.draw(st.one_of(st.none(), st.lists(ranges(), min_size=d, max_size=d)))
    w = weights_for(data.draw, (n,))
    density = data.draw(st.booleans())
    same(
        ours("histogramdd", sample, bins, range_, density, w),
        run(np.histogramdd, sample, bins, range_, density, w),
    )


@given(st.data())
def test_histogram2d(data):
    n = data.draw(st.integers(0, 40))
    x = data.draw(views(dtypes=["f8", "f4", "i4", "u1"], shape=(n,)))
    y = data.draw(views(dtypes=["f8", "i8"], shape=(data.draw(st.sampled_from([n, n, n, n + 1])),)))
    bins = data.draw(st.one_of(st.integers(1, 9), edges(), st.tuples(st.integers(1, 9), edges())))
    w = weights_for(data.draw, (n,))
    arguments = (x, y, bins, None, False, w)
    same(ours("histogram2d", *arguments), run(np.histogram2d, *arguments))


@given(st.data())
def test_bincount(data):
    dtype = data.draw(st.sampled_from(["b1", "u1", "i1", "u2", "i4", "i8", "f4"]))
    least = -2 if dtype.startswith("i") and data.draw(st.integers(0, 9)) == 0 else 0
    values = st.booleans() if dtype == "b1" else st.integers(least, 100)
    x = data.draw(views(dtypes=[dtype], values=values))
    w = weights_for(data.draw, x.shape)
    assume(least == 0 or w is None or w.dtype.kind != "c")  # of two faults either may be told
    minlength = data.draw(st.integers(-1, 200))
    same(ours("bincount", x, w, minlength), run(np.bincount, x, w, minlength))


@given(st.data())
def test_digitize(data):
    a = data.draw(views(special=True, dtypes=["i4", "f4", "f8"]))
    bins = data.draw(edges())
    if data.draw(st.booleans()):
        bins = bins[::-1]
    right = data.draw(st.booleans())
    same(ours("digitize", a, bins, right), run(np.digitize, a, bins, right))


@pytest.mark.parametrize("n", [10**5, 3 * 10**6])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "f4", "f8"])
def test_large(n, dtype):
    rng = np.random.default_rng(n)
    a = rng.normal(100, 20, n).astype(dtype)
    for bins, range_ in [(10, None), (256, (0, 256)), (1000, (50, 150.5)), (np.arange(0, 200, 7), None)]:
        same(tally.histogram(a, bins, range_), np.histogram(a, bins, range_))


def test_float_weights_within_rounding():
    rng = np.random.default_rng(5)
    a, w = rng.random(100_000), rng.normal(size=100_000)
    ours, theirs = tally.histogram(a, 50, weights=w)[0], np.histogram(a, 50, weights=w)[0]
    scale = np.histogram(a, 50, weights=abs(w))[0]
    assert (abs(ours - theirs) <= 1e-13 * scale).all()
    assert (ours == tally.histogram(a, 50, weights=w, threads=1)[0]).all()


def test_integers_beyond_2_53():
    """NumPy compares them as float64; here the comparison is exact."""
    a = np.array([2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**63 - 1])
    counts, edges = tally.histogram(a, [2**53 * 1.0, 2.0**53 + 2, 2.0**62, 2.0**63])
    assert counts.tolist() == [2, 1, 2]
    assert tally.histogram(a)[0].sum() == 5
    assert tally.histogram(np.array([2**53 + 1, 2**53 + 3]), 2)[0].sum() == 2


def test_objects_are_numpys():
    from decimal import Decimal

    w = np.array([Decimal(1), Decimal(2)])
    same(tally.histogram([1, 2], 2, weights=w), np.histogram([1, 2], 2, weights=w))
    a = np.array(["2001-01-01", "2001-01-03"], "M8[D]")
    same(tally.histogram(a, a), np.histogram(a, a))
    for b in (np.array([1, 3.5, 2], object), np.array([1, 3, 2j])):
        same(tally.histogram_bin_edges(b, 4, (0, 9)), np.histogram_bin_edges(b, 4, (0, 9)))
    with pytest.raises(TypeError, match="extra"):
        tally.histogram(a, a, where=[True, True])
