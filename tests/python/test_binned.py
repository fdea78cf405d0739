# SPDX-License-Identifier: Apache-2.0
"""Statistics of bins against SciPy's and against exact fractions."""

import fractions
import os

import numpy as np
import pytest
from cases import run

import libtally as tally
from libtally import binned

scipy_stats = pytest.importorskip("scipy.stats")
NAMES = ["count", "sum", "mean", "std", "min", "max", "median"]


@pytest.fixture(autouse=True, params=["compiled", "not compiled"])
def way(request, monkeypatch):
    """All of these both by the compiled part and by the package's Python."""
    if request.param == "not compiled":
        monkeypatch.setattr(binned, "_fast", None)
    elif binned._fast is None:
        pytest.skip("there is no compiled part")
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(int(os.environ.get("SEED", "20261123")))


def same(ours, theirs, scale=1.0):
    np.testing.assert_allclose(ours.statistic, theirs.statistic, rtol=1e-12, atol=1e-13 * scale)
    assert ours.statistic.shape == theirs.statistic.shape and ours.statistic.dtype == theirs.statistic.dtype
    np.testing.assert_array_equal(ours.binnumber, theirs.binnumber)


@pytest.mark.parametrize("statistic", NAMES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_one_axis(rng, statistic, dtype):
    x = (rng.normal(size=3000) * 20 + 100).astype(dtype)
    values = (rng.normal(size=3000) * 9 + 50).astype(dtype)
    for bins, ends in [(10, None), (7, (90, 120)), ([80, 90, 91, 100, 200], None), (1, (100, 100))]:
        ours = tally.binned_statistic(x, values, statistic, bins, ends)
        theirs = scipy_stats.binned_statistic(x, values.astype(float), statistic, bins, ends)
        same(ours, theirs, 1e5)
        np.testing.assert_array_equal(ours.bin_edges, theirs.bin_edges)
        assert ours._fields == theirs._fields


@pytest.mark.parametrize("statistic", NAMES)
def test_several_axes_and_columns(rng, statistic):
    sample, values = rng.random((2000, 3)), rng.normal(size=(11, 2000))
    ours = tally.binned_statistic_dd(sample, values, statistic, [3, 4, 2], expand_binnumbers=True)
    same(ours, scipy_stats.binned_statistic_dd(sample, values, statistic, [3, 4, 2], expand_binnumbers=True), 100)
    x, y = sample[:, 0], sample[:, 1]
    for bins in (5, [4, 6], [0.0, 0.3, 1.0], [[0, 0.5, 1], [0.2, 0.4, 0.6]]):
        ours = tally.binned_statistic_2d(x, y, values[0], statistic, bins)
        theirs = scipy_stats.binned_statistic_2d(x, y, values[0], statistic, bins)
        same(ours, theirs, 100)
        np.testing.assert_array_equal(ours.x_edge, theirs.x_edge)
        np.testing.assert_array_equal(ours.y_edge, theirs.y_edge)
        assert ours._fields == theirs._fields
    again = tally.binned_statistic_dd(sample, values[1], statistic, binned_statistic_result=tally.binned_statistic_dd(
        sample, values[0], statistic, [3, 4, 2]))  # fmt: skip
    same(again, scipy_stats.binned_statistic_dd(sample, values[1], statistic, [3, 4, 2]), 100)


@pytest.mark.parametrize("function", [np.mean, np.median, np.ptp, len, lambda v: v[0]])
def test_functions(rng, function):
    x, values = rng.random(300), rng.random((2, 300))
    for bins in (4, [0, 0.5, 2, 3]):
        same(tally.binned_statistic(x, values, function, bins), scipy_stats.binned_statistic(x, values, function, bins))


def test_edges_and_empty_bins():
    x, values = [0, 1, 2, 2, -1, 5, np.nan], [1.0, 2, 3, 5, 100, 100, 100]
    want = {"count": [1, 3, 0], "sum": [1, 10, 0], "mean": [1, 10 / 3, np.nan], "std": [0, np.sqrt(14 / 9), np.nan],
            "min": [1, 2, np.nan], "max": [1, 5, np.nan], "median": [1, 3, np.nan]}  # fmt: skip
    for name, answer in want.items():
        found = tally.binned_statistic(x, values, name, [0, 1, 2.5, 4])
        np.testing.assert_allclose(found.statistic, answer, rtol=1e-15)
        assert found.binnumber.tolist() == [1, 2, 2, 2, 0, 4, 4]
    closed = tally.binned_statistic(x, values, "count", [0, 1, 2])
    assert closed.statistic.tolist() == [1, 3] and closed.binnumber.tolist() == [1, 2, 2, 2, 0, 3, 3]
    for name in NAMES:
        empty = tally.binned_statistic([], [], name, [0, 1, 2])
        assert empty.statistic.shape == (2,) and len(empty.binnumber) == 0
        assert (empty.statistic == 0).all() if name in ("count", "sum") else np.isnan(empty.statistic).all()


def test_nan():
    x, values = [0.1, 0.2, 0.6, 0.7, 0.8], [1.0, np.nan, 3, 4, np.inf]
    for name in set(NAMES) - {"count"}:
        found = tally.binned_statistic(x, values, name, 2, (0, 1)).statistic
        assert np.isnan(found[0])
        assert np.isnan(found[1]) if name == "std" else found[1] == {"min": 3, "median": 4}.get(name, np.inf)
    assert tally.binned_statistic(x, values, "count", 2, (0, 1)).statistic.tolist() == [2, 3]


def test_medians_of_few_and_of_many(rng, way):
    """Bins of some sorted at once, of many alone; NaN and infinities."""
    for n in (40, 900, 3000):
        x, values = rng.integers(0, 4, n), rng.normal(size=(2, n))
        values[0, :3], values[1, 3:20] = np.nan, rng.choice([np.inf, -np.inf], 17)
        found = tally.binned_statistic(x, values, "median", [0, 1, 2, 3, 9, 12]).statistic
        for row, answers in zip(values, found):
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(answers[:4], [np.median(row[x == i]) for i in range(4)])
            assert np.isnan(answers[4])


@pytest.mark.parametrize("second", ["f4", "f8", "i2", "i4", "u1"])
def test_edges_of_mixed_types(rng, second):
    """Of the type that holds all samples: bins of numbers near to one another, which float32 cannot tell apart."""
    x, y = np.float32([10, 10.000001, 10.000003]), np.array([1, 2, 5]).astype(second)
    for bins in (1, [3, 2], [[9.9999999, 10.0000002, 11.1], 2]) if np.result_type(x, y) == "f8" else (1, [2, 2]):
        ours = tally.binned_statistic_2d(x, y, y, "sum", bins)
        theirs = scipy_stats.binned_statistic_2d(x, y, y, "sum", bins)
        for a, b in zip(ours[:3], theirs):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("statistic", ["count", "mean", "median"])
@pytest.mark.parametrize("range_", [None, (2, 30)])
def test_infinities(rng, range_, statistic, dtype):
    """Outside of all bins, which the finite samples give, as SciPy has it."""
    if tuple(int(part) for part in pytest.importorskip("scipy").__version__.split(".")[:2]) < (1, 18):
        pytest.skip("SciPy refuses infinite samples before 1.18")
    x, values = np.round(rng.normal(20, 9, 3000), 3).astype(dtype), rng.random(3000)
    x[rng.choice(3000, 3, False)] = np.inf, -np.inf, np.inf
    same(tally.binned_statistic(x, values, statistic, 7, range_),
         scipy_stats.binned_statistic(x, values, statistic, 7, range_))  # fmt: skip
    y = rng.random(3000).astype(dtype)
    same(tally.binned_statistic_2d(x, y, values, statistic, [5, [0, 0.4, 1]], [range_, range_] if range_ else None),
         scipy_stats.binned_statistic_2d(x, y, values, statistic, [5, [0, 0.4, 1]], [range_, range_] if range_ else None))  # fmt: skip


def test_zeros_have_no_sign():
    for name in ("min", "max"):
        assert not np.signbit(tally.binned_statistic([0.1, 0.2], [-0.0, -0.0], name, 1).statistic[0])


def test_against_fractions(rng):
    """Far from 0, and one value that dwarfs the others in one bin: within the header's bounds."""
    n = 600
    x, values = rng.integers(0, 5, n), 1e9 + rng.random(n)
    values[7] = 1e25
    mean = tally.binned_statistic(x, values, "mean", 5, (0, 5)).statistic
    std = tally.binned_statistic(x, values, "std", 5, (0, 5)).statistic
    for b in range(5):
        exact = [fractions.Fraction(v) for v in values[x == b]]
        m = sum(exact) / len(exact)
        assert abs(fractions.Fraction(mean[b]) - m) <= m * fractions.Fraction(len(exact), 2**52)
        variance = sum((v - m) ** 2 for v in exact) / len(exact)
        assert abs(fractions.Fraction(std[b]) ** 2 / variance - 1) < 1e-12


def test_refusals(rng):
    x, values = rng.random(10), rng.random(10)
    with pytest.raises(ValueError, match="invalid statistic"):
        tally.binned_statistic(x, values, "mode")
    with pytest.raises(AttributeError, match="values"):
        tally.binned_statistic(x, values[1:])
    for bins in (10, [10, [0, 1]]):
        with pytest.raises(ValueError, match="NaN"):
            tally.binned_statistic_dd([[1, np.nan], [0, 1]], [1, 2], bins=bins)
    with pytest.raises(ValueError, match="no sample is finite"):
        tally.binned_statistic([np.inf, -np.inf], [1, 2])
    with pytest.raises(TypeError, match="complex"):
        tally.binned_statistic(x, values * 1j)
    with pytest.raises(ValueError, match="start must be"):
        tally.binned_statistic(x, values, range=(1, 0))
    with pytest.raises(AttributeError, match="dimension of bins"):
        tally.binned_statistic_dd([x, x], values, bins=[3])
    with pytest.raises(ValueError, match="nulls"):
        tally.binned_statistic(np.ma.masked_less(x, 0.5), values)


@pytest.mark.parametrize("statistic", ["sum", "median", len])
def test_bins_that_are_none(rng, statistic):
    x = rng.random(10)
    for bins in (0, -1, [], [0, 0, 1], [1, 0.5, 0], [0, np.nan, 1]):
        with pytest.raises(ValueError, match="bins: "):
            tally.binned_statistic(x, x, statistic, bins)
    for end in (np.inf, np.nan):
        with pytest.raises(ValueError, match="finite"):
            tally.binned_statistic(x, x, statistic, 3, (0, end))


def test_a_list_of_one_is_a_number_of_bins(rng):
    x = rng.random(10)
    same(tally.binned_statistic(x, x, "sum", [3]), scipy_stats.binned_statistic(x, x, "sum", [3]))


def test_strides_and_kinds(rng):
    both = rng.random((500, 2))
    want = scipy_stats.binned_statistic(both[:, 0], both[:, 1], "std", 6)
    same(tally.binned_statistic(both[:, 0], both[:, 1], "std", 6), want)
    same(tally.binned_statistic(both[:, 0].astype(">f8"), list(both[:, 1]), "std", 6), want)
    flipped = tally.binned_statistic(both[::-1, 0], both[::-1, 1], "max", 6).statistic
    np.testing.assert_array_equal(flipped, scipy_stats.binned_statistic(both[:, 0], both[:, 1], "max", 6).statistic)
    one = tally.binned_statistic(both[:, 0], np.broadcast_to(3.0, 500), "sum", 2).statistic
    assert one.sum() == 1500


def both(monkeypatch, way, function, *arguments, **keywords):
    """The compiled answer and the other one, or what they raise; whether the compiled part answered."""
    fast, answers, used = binned._fast, [], []

    class Seen:
        @staticmethod
        def binned(*given):
            answer = fast.binned(*given)
            used.append(answer is not None)
            return answer

    for part in (Seen, None):
        with monkeypatch.context() as patched:
            patched.setattr(binned, "_fast", part)
            answers.append(run(getattr(tally, function), *arguments, **keywords))
    return *answers, used == [True]


@pytest.mark.parametrize("statistic", NAMES)
def test_compiled_as_not(rng, monkeypatch, way, statistic):
    """Edges, types and numbers to the bit, statistics nearly, errors; most of it is compiled."""
    if way != "compiled":
        pytest.skip("the same again")
    compiled = 0
    for i in range(80):
        n = int(rng.choice([0, 1, 2, 99, 512, 1025, 3000]))
        d = int(rng.choice([1, 1, 2, 3]))
        columns = [np.round(rng.normal(20, 9, n), int(rng.choice([0, 3]))) for _ in range(d)]
        columns = [np.abs(x).astype(rng.choice(["f4", "f8", "i8", "u1"])) for x in columns]
        for x in columns:
            if n and x.dtype.kind == "f" and rng.random() < 0.2:
                x[rng.integers(0, n, 2)] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
        values = rng.normal(0, 9, n).astype(rng.choice(["f4", "f8", "i4"]))
        if n and rng.random() < 0.2 and values.dtype.kind == "f":
            values[rng.integers(0, n, 2)] = rng.choice([np.nan, -0.0])
        edges = [np.sort(rng.choice(np.arange(60), 6, False)) * 0.7, [0, 1, 20, 30], np.arange(0, 40, 4).astype("f4")]
        bins = [int(rng.integers(1, 30)) if rng.random() < 0.6 else edges[rng.integers(3)] for _ in range(d)]
        range_ = None if rng.random() < 0.6 else [(float(rng.integers(0, 9)), 30)] * d
        if all(isinstance(b, int) for b in bins) and rng.random() < 0.5:
            bins = bins[0]
        expand = bool(rng.random() < 0.5)
        ours, theirs, used = both(monkeypatch, way, "binned_statistic_dd", columns, values, statistic, bins, range_, expand)
        compiled += used
        assert type(ours) is type(theirs), (ours, theirs)
        if isinstance(theirs, Exception):
            assert str(ours) == str(theirs)
            continue
        for a, b in zip([*ours.bin_edges, ours.binnumber], [*theirs.bin_edges, theirs.binnumber]):
            assert a.dtype == b.dtype and np.array_equal(a, b)
        assert ours.statistic.dtype == theirs.statistic.dtype
        np.testing.assert_allclose(ours.statistic, theirs.statistic, rtol=1e-11, atol=1e-10)
    assert compiled > 40 or statistic == "median"


def test_sums_are_scipys(rng, way):
    """In the same order: to the bit, up to where one thread is not enough for either."""
    x, values = rng.random(5000), rng.normal(size=5000) * 1e3
    for name in ("count", "sum", "mean", "min", "max"):
        for columns in ([x], [x, x[::-1].copy()]):
            ours = tally.binned_statistic_dd(columns, values, name, 30).statistic
            theirs = scipy_stats.binned_statistic_dd(columns, values, name, 30).statistic
            np.testing.assert_allclose(ours, theirs, rtol=0 if way == "compiled" else 1e-12, atol=0 if way == "compiled" else 1e-9)


def test_large_arrays(way):
    """More than is heard of Ctrl-C in one go; cells far apart."""
    n = (1 << 20) * 2 + 77
    x, values = np.arange(n) % 1000 / 1000, np.arange(n) % 7.0
    found = tally.binned_statistic_2d(x, x, values, "sum", 250, [(0, 1), (0, 0.5)])
    assert found.statistic.sum() == values[x <= 0.5].sum()
    assert (np.bincount(found.binnumber).sum(), found.binnumber[0]) == (n, 253)


def test_means_in_a_hist_of_many_and_of_few(rng):
    """What the library adds up is what the few samples of a fill add up to, flows, weights and masks too."""
    axes = tally.Regular(3, 0, 1), tally.Variable([0, 0.4, 1])
    for storage in "mean", "weighted_mean":
        for used in axes[:1], axes:
            x = [rng.random(400) * 1.5 - 0.2 for _ in used]
            x[0][7] = np.nan
            y, w, where = 1e6 + rng.random(400), rng.random(400), rng.random(400) < 0.9
            weight = {"weight": w} if storage == "weighted_mean" else {}
            whole = tally.Hist(*used, storage=storage).fill(*x, sample=y, where=where, **weight)
            parts = tally.Hist(*used, storage=storage)
            for i in range(400):
                parts.fill(*(c[i] for c in x), sample=y[i], where=where[i], **{k: v[i] for k, v in weight.items()})
            assert whole.flows == parts.flows and whole.flows.nan == where[7]
            assert whole.flows.under > 0 and whole.flows.over > 0 and whole.flows.masked > 0
            for a, b in zip(whole._cells, parts._cells):
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-9)
    inside = tally.Hist(*axes, storage="mean").fill([0.1, 0.9], [0.1, 1.0], sample=[2.0, 4.0])
    assert inside.means[0, 0] == 2 and inside.means[2, 1] == 4
