"""Random arrays, strides, edges, weights: the same bits, types and errors as NumPy's.

What is left out here is what docs/PYTHON.md lists as different.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tally

# The same examples each time, so that a change is judged by what it changes; EXAMPLES=4000 asks for so
# many new ones.
settings.register_profile(
    "tally", max_examples=int(os.environ.get("EXAMPLES", 40)), derandomize="EXAMPLES" not in os.environ,
    deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
settings.load_profile("tally")

EXACT = 2**53
NEW_RULES = tuple(int(x) for x in np.__version__.split(".")[:2]) >= (2, 4)
LIMIT = {"f2": 1000.0, "f4": 2.0**100, "f8": 1e300}


def elements(dtype, special):
    """Values of a type; with `special` also NaN and infinities."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        lo, hi = max(info.min, -EXACT), min(info.max, EXACT)
        return st.one_of(st.integers(max(lo, -9), min(hi, 9)), st.integers(lo, hi))
    width = dtype.itemsize * 8
    limit = LIMIT[dtype.str[1:]]
    plain = st.floats(-limit, limit, width=width, allow_subnormal=False)
    grid = st.integers(-50, 50).map(lambda i: float(dtype.type(i / 8)))
    values = [grid, grid, plain]
    if special:
        values.append(st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))
    return st.one_of(values)


DTYPES = ["b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", ">i4", ">f8"]


@st.composite
def arrays(draw, special, dims=2, dtypes=DTYPES):
    """An array and a view of it: steps, reversed, transposed."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=dims, min_side=0, max_side=40))
    a = draw(hnp.arrays(dtype.lstrip(">"), shape, elements=elements(dtype.lstrip(">"), special)))
    a = a.astype(dtype)
    if draw(st.booleans()):
        a = a.T
    if a.ndim and draw(st.booleans()):
        a = a[:: draw(st.sampled_from([-2, -1, 2, 3]))]
    return a


def near(numbers):
    """The numbers, the float64 and float32 next to them, and them with a rounding's residue."""
    aside = [
        lambda x: x, lambda x: x, lambda x: np.nextafter(x, np.inf), lambda x: np.nextafter(x, -np.inf),
        lambda x: np.nextafter(np.float32(x), np.float32(np.inf)),
        lambda x: np.nextafter(np.float32(x), np.float32(-np.inf)),
        lambda x: x + (0.1 * 3 - 0.3), lambda x: x - (0.1 * 3 - 0.3),
    ]  # fmt: skip
    return st.tuples(numbers, st.sampled_from(aside)).map(lambda p: float(p[1](float(p[0]))))


ROUND = st.one_of(
    st.just(0), st.integers(-300, 300), st.sampled_from([7, 8, 15, 16, 24, 31, 32]).map(lambda k: 2**k)
)


@st.composite
def near_ranges(draw):
    """(bins, lo, hi) of a round width from or to a round number, the ends then moved aside."""
    bins, end = draw(st.integers(1, 300)), draw(ROUND)
    width = draw(st.one_of(st.just(1), st.sampled_from([0.1, 0.25, 2, 4, 1000])))
    lo, hi = draw(st.sampled_from([(end, end + bins * width), (end - bins * width, end)]))
    lo, hi = draw(near(st.just(lo))), draw(near(st.just(hi)))
    return bins, *sorted((lo, hi))


def edges():
    grid = st.lists(st.integers(-60, 60).map(lambda i: i / 8), min_size=2, max_size=12)
    wide = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)
    ends = st.lists(
        st.one_of(st.integers(-9, 9).map(float), st.sampled_from([-np.inf, np.inf])),
        min_size=2, max_size=9,
    )  # fmt: skip
    whole = st.lists(st.integers(-9, 9), min_size=2, max_size=9)
    beside = st.lists(near(ROUND), min_size=2, max_size=12)
    return st.one_of(grid, wide, ends, whole, beside).map(sorted)


def ranges():
    pair = st.tuples(st.integers(-40, 40), st.integers(-40, 40)).map(lambda p: (p[0] / 4, p[1] / 4))
    return st.one_of(st.none(), pair.map(lambda p: tuple(sorted(p))), pair)


def weights_for(draw, shape):
    """Weights whose sums are exact in any order, or none."""
    kind = draw(st.sampled_from([None, "f8", "f4", "i8", "i4", "u1", "c16"]))
    if kind is None:
        return None
    values = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 15)))
    return values.astype(kind) * (0.25 + 1j if kind == "c16" else 1)


def run(function, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **keywords)
        except Exception as e:
            return e


def ours(name, *arguments):
    """Our answer, which the short way for small arrays and the long way must agree on."""
    functions = tally.functions
    answer, short = run(getattr(tally, name), *arguments), functions._fast
    try:
        functions._fast = None
        same(run(getattr(tally, name), *arguments), answer)
    finally:
        functions._fast = short
    return answer


def said(error):
    """The message; which zero ends a range is not looked at."""
    return str(error).replace("[-0.0,", "[0.0,").replace(", -0.0]", ", 0.0]")


def same(ours, theirs, integer_weights=False):
    # What NumPy 2.4 refuses, bins too narrow to tell apart, an older one counts or falls over.
    if isinstance(ours, Exception):
        assume(NEW_RULES or "Too many bins" not in str(ours))
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (ours, theirs)
        if not isinstance(theirs, OverflowError):
            assert said(ours) == said(theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    assert type(ours) is type(theirs)
    if isinstance(ours, (tuple, list)):
        assert len(ours) == len(theirs)
        for o, t in zip(ours, theirs):
            same(o, t, integer_weights)
        return
    if not integer_weights or ours.dtype.kind == "f":
        assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


@given(st.data())
def test_histogram(data):
    a = data.draw(arrays(special=data.draw(st.booleans())))
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


def on_edges(edges, dtype):
    """The edges as samples, those whole values next to them, and one step aside."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        at = edges.astype(dtype)
        return np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
    info = np.iinfo(dtype)
    near_edges = {int(e) + step for e in edges for step in (-2, -1, 0, 1, 2)}
    return np.array([x for x in near_edges if info.min <= x <= info.max], dtype)


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
    a = data.draw(arrays(special=False, dtypes=["u1", "i2", "i8", "f8"]))
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


@given(st.data())
def test_histogramdd(data):
    d = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(0, 40))
    dtype = data.draw(st.sampled_from(["u1", "i4", "f4", "f8"]))
    a = data.draw(hnp.arrays(dtype, (n, d), elements=elements(dtype, data.draw(st.booleans()))))
    sample = a if data.draw(st.booleans()) else list(a.T)
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
    x = data.draw(hnp.arrays("f8", n, elements=elements("f8", False)))
    y = data.draw(hnp.arrays("f8", data.draw(st.sampled_from([n, n, n, n + 1])),
                             elements=elements("f8", False)))  # fmt: skip
    bins = data.draw(st.one_of(st.integers(1, 9), edges(), st.tuples(st.integers(1, 9), edges())))
    same(ours("histogram2d", x, y, bins), run(np.histogram2d, x, y, bins))


@given(st.data())
def test_bincount(data):
    dtype = data.draw(st.sampled_from(["b1", "u1", "i1", "u2", "i4", "i8", "f4"]))
    least = -2 if dtype.startswith("i") and data.draw(st.integers(0, 9)) == 0 else 0
    values = st.booleans() if dtype == "b1" else st.integers(least, 100)
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=60))
    x = data.draw(hnp.arrays(dtype, shape, elements=values))
    if x.ndim == 1 and data.draw(st.booleans()):
        x = x[::-2]
    w = weights_for(data.draw, x.shape)
    assume(least == 0 or w is None or w.dtype.kind != "c")  # of two faults either may be told
    minlength = data.draw(st.integers(-1, 200))
    same(ours("bincount", x, w, minlength), run(np.bincount, x, w, minlength))


@given(st.data())
def test_digitize(data):
    a = data.draw(arrays(special=True, dtypes=["i4", "f4", "f8"]))
    bins = data.draw(edges())
    if data.draw(st.booleans()):
        bins = bins[::-1]
    right = data.draw(st.booleans())
    same(ours("digitize", a, bins, right), run(np.digitize, a, bins, right))


def test_short_way_is_there():
    """Built into every wheel, and loaded by every CPython that holds a lock."""
    import sysconfig

    if sysconfig.get_config_var("Py_GIL_DISABLED") or "TALLY_LIBRARY" in os.environ:
        pytest.skip("a free-threaded CPython, or not the wheel's library")
    assert tally.functions._fast is not None


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
    with pytest.raises(TypeError, match="extra"):
        tally.histogram(a, a, where=[True, True])
