# SPDX-License-Identifier: Apache-2.0
"""Bins and flow bins of histograms: indices and tags, cuts, arithmetic, and what others make of them."""

import copy
import json
import os

import numpy as np
import pytest

import libtally as tally
from libtally import Category, Hist, Integer, Log, Regular, Variable, loc, overflow, underflow

SEED = int(os.environ.get("SEED", 11))
ROUNDS = int(os.environ.get("EXAMPLES", 60))
rng = np.random.default_rng(SEED)


def some_axis():
    """An axis and samples for it, some of them outside and on edges."""
    kind = rng.integers(4)
    n = int(rng.integers(1, 9))
    if kind == 0:
        axis = Regular(n, -1, 1, closed=bool(rng.integers(2)))
    elif kind == 1:
        axis = Variable(np.unique(rng.normal(size=n + 1)), closed=bool(rng.integers(2)))
    elif kind == 2:
        axis = Integer(-1, n)
    else:
        axis = Category(rng.permutation(n + 3)[:n].tolist())
    count = 200
    if kind > 1:
        return axis, rng.integers(-3, n + 4, count)
    return axis, np.where(rng.random(count) < 0.2, rng.choice(axis.edges, count), rng.normal(size=count))


def places(axis, x):
    """The cell of each sample."""
    return np.array([axis.index(v) + 1 for v in x.tolist()])


def filled(storage="count", dimensions=None):
    """A histogram and its cells by NumPy."""
    found = [some_axis() for _ in range(dimensions or rng.integers(1, 4))]
    axes, samples = zip(*found)
    w = rng.integers(-5, 9, samples[0].size) if storage != "count" else None
    h = Hist(*axes, storage=storage).fill(*samples, weight=w)
    cells, squares = np.zeros([n + 2 for n in h.shape]), np.zeros([n + 2 for n in h.shape])
    at = tuple(places(axis, x) for axis, x in zip(axes, samples))
    np.add.at(cells, at, 1 if w is None else w)
    np.add.at(squares, at, 1 if w is None else w**2)
    return h, cells, squares


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_flow_bins_hold_what_lies_outside(storage):
    for _ in range(ROUNDS):
        h, cells, squares = filled(storage)
        np.testing.assert_array_equal(h.values(flow=True), cells, f"seed {SEED}: {h!r}")
        assert h.sum(flow=True) == cells.sum()
        if storage == "weight":
            np.testing.assert_array_equal(h.variances(flow=True), squares)
        if storage == "count":
            assert h.sum() + sum(h.flows) == 200


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_slices_lose_nothing(storage):
    for _ in range(ROUNDS):
        h, cells, squares = filled(storage)
        i = int(rng.integers(h.ndim))
        n = h.shape[i]
        begin, end = np.sort(rng.choice(n + 1, 2, replace=False)).tolist()
        step = int(rng.integers(1, end - begin + 1)) if not isinstance(h.axes[i], Category) else 1
        cut = h[{i: slice(begin, end, step)}]
        bins = (end - begin) // step
        starts = [0, *(begin + 1 + step * np.arange(bins + 1))]
        for found, full in ((cut.values(flow=True), cells), (cut.variances(flow=True), squares)):
            if found is None:
                continue
            expected = np.moveaxis(np.add.reduceat(full, starts, axis=i), i, 0)
            if isinstance(h.axes[i], Category):
                expected[-1] += expected[0]
                expected[0] = 0
            np.testing.assert_array_equal(found, np.moveaxis(expected, 0, i), f"seed {SEED}: {h!r}")
        if storage == "count":
            assert cut.sum() + sum(cut.flows) == 200
        np.testing.assert_array_equal(h.values(flow=True), cells)


def test_a_cut_axis_takes_what_its_bins_took():
    a = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    h = Hist(Regular(4, 0, 1))
    again = copy.copy(h)[1:3].fill(a)
    assert again == h.fill(a)[1:3] and again.values().tolist() == [1, 1]
    assert isinstance(again.axes[0], Regular)


def test_projections_include_what_is_outside_the_other_axes():
    for _ in range(ROUNDS):
        h, cells, _ = filled(dimensions=3)
        keep = rng.permutation(3)[: rng.integers(1, 3)].tolist()
        rest = tuple(set(range(3)) - set(keep))
        order = np.argsort(np.argsort(keep))
        expected = cells.sum(axis=rest).transpose(order)
        found = h.project(*keep)
        np.testing.assert_array_equal(found.values(flow=True), expected)
        assert found.sum() + sum(found.flows) == 200
        one = h[{i: slice(None, None, sum) for i in rest}]
        np.testing.assert_array_equal(one.values(flow=True), cells.sum(axis=rest))


def tags():
    yield tally
    yield pytest.importorskip("uhi.tag")
    yield pytest.importorskip("boost_histogram")
    yield pytest.importorskip("hist")


def test_tags_of_all_makers():
    h = Hist(Regular(4, 0, 1)).fill([-1, -2, 0.1, 0.3, 0.4, 0.8, 3])
    for maker in tags():
        assert h[maker.underflow] == 2 and h[maker.overflow] == 1
        assert h[maker.loc(-5)] == 2 and h[maker.loc(5)] == 1 and h[maker.loc(0.3)] == 2
        assert h[maker.loc(0.3) + 1] == 0 and h[maker.loc(0.3) - 1] == 1
        assert h[maker.loc(0.5) :].values().tolist() == [0, 1]
        assert h[maker.loc(-5) : maker.loc(9)] == h
        with pytest.raises(IndexError):
            h[maker.loc(-5) - 1]
        if hasattr(maker, "rebin"):
            assert h[:: maker.rebin(2)] == h[maker.rebin(2)] == h.rebin(2)
    bh = pytest.importorskip("boost_histogram")
    assert h[:: bh.rebin(groups=[1, 3])].values().tolist() == [1, 3]
    assert h[::sum] == h[sum] == 7 and h[0:len:sum] == 4 and h[len] == 1
    assert h[lambda axis: len(axis) - 1] == 1
    assert h[:0:sum] == 2 and h[4::sum] == 1
    with pytest.raises(ValueError, match="groups"):
        h[:: bh.rebin(groups=[1, 2])]


@pytest.mark.parametrize(
    "key", [0.5, "a", True, None, 0.5 + 1j, [0, 1], np.array([0, 1]), slice(0.5, None), slice(None, None, 1.5),
            slice(None, None, np.sum), np.sum, max, slice("a", "b"), loc]
)  # fmt: skip
def test_keys_that_name_no_bin(key):
    h = Hist(Regular(4, 0, 1)).fill([0.1, 0.3])
    with pytest.raises((TypeError, KeyError), match="axis 0"):
        h[key]
    with pytest.raises((TypeError, ValueError, KeyError), match="axis 0"):
        h[key] = 1


def test_keys_beyond_the_bins():
    h = Hist(Regular(4, 0, 1), Integer(0, 2))
    for key in (4, -5, (0, 2), (0, 0, 0), (..., ...), (lambda a: -2, 0), slice(3, 3), slice(3, 1, sum)):
        with pytest.raises(IndexError):
            h[key]
    for key in (slice(None, None, 0), slice(None, None, -1), slice(None, None, 5), {2: 0}):
        with pytest.raises(ValueError):
            h[key]
    with pytest.raises(ValueError, match="NaN"):
        h[loc(float("nan")), 0]


def test_copies_are_copies():
    h = Hist(Regular(4, 0, 1), Integer(0, 2), storage="weight").fill([0.1, 7], [1, 0])
    before = copy.deepcopy(h)
    for other in (h[:], h[...], h[:, :], h[{}], copy.copy(h), h.copy(), h.rebin(1), h.project(0, 1)):
        assert other == before
        other.fill([0.2], [0], weight=[3])
        other.sums[0, 0] = 9
        assert h == before != other


def test_assignment():
    h = Hist(Regular(4, 0, 1)).fill([-1, 0.1, 0.3, 2])
    h[1] = 5
    h[underflow] = 3
    h[2:] = [7, 8]
    assert h.values(flow=True).tolist() == [3, 1, 5, 7, 8, 1] and h.flows[:2] == (3, 1)
    h[:] = 0
    assert h.values(flow=True).tolist() == [3, 0, 0, 0, 0, 1]
    h[...] = range(6)
    assert h.values(flow=True).tolist() == [0, 1, 2, 3, 4, 5] and h.flows[:2] == (0, 5)
    before = h.copy()
    for wrong in (-1, 0.5, "a", [1, 2], [[1, 2, 3, 4]], [1, 2, 3, 4, -5]):
        with pytest.raises(ValueError):
            h[:] = wrong
    with pytest.raises(ValueError, match="step"):
        h[::2] = 1
    assert h == before
    w = Hist(Regular(2, 0, 1), Integer(0, 3), storage="weight")
    w[0, :] = [[1, 4], [2, 5], [3, 6]]
    w[1, 1] = 7, 8
    assert w.values().tolist() == [[1, 2, 3], [0, 7, 0]]
    assert w.variances().tolist() == [[4, 5, 6], [0, 8, 0]]
    with pytest.raises(ValueError, match="variance"):
        w[0, 0] = 1


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_arithmetic(storage):
    h, cells, squares = filled(storage, 2)
    other = h.copy()
    twice = h + other
    np.testing.assert_array_equal((twice - h).values(flow=True), cells)
    half = 0.5 * h
    np.testing.assert_array_equal(half.values(flow=True), cells / 2)
    np.testing.assert_array_equal((h / 4).values(flow=True), cells / 4)
    if storage != "sum":
        np.testing.assert_array_equal(half.variances(flow=True), squares / 4)
        assert half.storage == "weight"
    if storage == "weight":
        np.testing.assert_array_equal((h - other).variances(flow=True), squares * 2)
    np.testing.assert_array_equal(h.values(flow=True), cells)
    if storage == "count":
        with pytest.raises(ValueError, match="negative"):
            h - twice
        assert (twice - h).flows == h.flows
    other *= 3
    other /= 3
    np.testing.assert_allclose(other.values(flow=True), cells)
    for wrong in (lambda: h * "a", lambda: h - "a", lambda: h + None, lambda: "a" / h):
        with pytest.raises(TypeError):
            wrong()
    if storage == "weight":  # (others: test_hist_boost.py)
        for wrong in (lambda: h * h, lambda: h / h, lambda: 1 / h):
            with pytest.raises(TypeError):
                wrong()
    assert h.reset().sum(flow=True) == 0 and sum(h.flows) == 0


def test_equal_edges_add_up():
    a = [0.5, 1.5, 1.7]
    one, two = Hist(Regular(2, 0, 2)).fill(a), Hist(Variable([0, 1, 2])).fill(a)
    assert (one + two).values().tolist() == [2, 4] and one == two
    assert Integer(0, 2) == Variable([0, 1, 2], closed=False) != Variable([0, 1, 2])
    assert Log(2, 1, 4) == Variable([1, 2, 4])
    assert Category(["a", "b"]) != Integer(0, 2) and Integer(0, 2) != Category(["a", "b"])
    assert Category([0, 1]) != Category([1, 0])
    with pytest.raises(ValueError, match="edges"):
        one + Hist(Variable([0, 1, np.nextafter(2, 3)]))
    with pytest.raises(ValueError, match="edges"):
        one + Hist(Integer(0, 2))


def test_views_of_it():
    x, y = rng.normal(size=(2, 500))
    h = Hist(Regular(4, -1, 1), Regular(3, -2, 2)).fill(x, y)
    values, xe, ye = h.to_numpy()
    theirs = np.histogram2d(x, y, (4, 3), [(-1, 1), (-2, 2)])
    for found, expected in zip((values, xe, ye), theirs):
        np.testing.assert_array_equal(found, expected)
    values, xe, ye = h.to_numpy(flow=True)
    np.testing.assert_array_equal(values, np.histogram2d(x, y, (xe, ye))[0])
    assert h.shape == (4, 3) and h.ndim == 2
    assert [e.shape for e in h.axes.edges] == [(5, 1), (1, 4)]
    assert h.axes.widths[0].shape == (4, 1) and h.axes.centers[1].ravel().tolist() == list(h.axes[1].centers)
    np.testing.assert_array_equal(
        h.density(), np.histogram2d(x, y, (4, 3), [(-1, 1), (-2, 2)], density=True)[0]
    )


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_boost_has_the_same_cells(storage):
    bh = pytest.importorskip("boost_histogram")
    for _ in range(ROUNDS):
        h, cells, squares = filled(storage)
        theirs = bh.Histogram(h)
        cut = tuple(slice(int(isinstance(axis, Category)), None) for axis in h.axes)
        np.testing.assert_array_equal(theirs.values(flow=True), cells[cut])
        if storage == "weight":
            np.testing.assert_array_equal(theirs.variances(flow=True), squares[cut])


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_saved_whole(storage, tmp_path):
    for _ in range(20):
        h, _, _ = filled(storage)
        for axis in h.axes:
            axis.name, axis.label = "n\"ä\n", "l"
        h.save(tmp_path / "h.json")
        again = Hist.load(tmp_path / "h.json")
        assert again == h
        assert [(a.name, a.label) for a in again.axes] == [("n\"ä\n", "l")] * h.ndim
    assert os.listdir(tmp_path) == ["h.json"]


def test_saved_categories_and_infinite_sums(tmp_path):
    h = Hist(Category(["c", "a"], name="x"), Regular(2, 0, 1), storage="weight")
    h.fill(["a", "?"], [0.7, -1], weight=[2, float("inf")]).save(tmp_path / "h.json")
    again = Hist.load(tmp_path / "h.json")
    assert again == h and again[overflow, underflow] == float("inf")
    with pytest.raises(NotImplementedError, match="categories"):
        Hist(Category([1.0, float("inf")])).save(tmp_path / "no.json")
    assert os.listdir(tmp_path) == ["h.json"]
    whole = json.loads((tmp_path / "h.json").read_text())
    for damage in ({"axes": []}, {"flow": [1]}, {"flow": None}, {"axes": [{"name": "x"}] * 2}, {"axes": 3}):
        (tmp_path / "bad.json").write_text(json.dumps({**whole, "hist": {**whole["hist"], **damage}}))
        with pytest.raises(ValueError, match="bad.json.*damaged"):
            Hist.load(tmp_path / "bad.json")
    member = {"hist": whole.pop("hist")}
    other = {"x": {"hist": {"axes": []}}}
    for written in (member | whole, whole | member | other, whole | other | member, whole | member):
        for indent in (None, 1):
            text = json.dumps(written, indent=indent)
            (tmp_path / "h.json").write_text(text)
            assert Hist.load(tmp_path / "h.json") == h
            (tmp_path / "h.json").write_text(f"[{text},{json.dumps(whole)}]")
            assert Hist.load(tmp_path / "h.json", 0) == h
    (tmp_path / "bare.json").write_text(json.dumps(whole))
    with pytest.warns(UserWarning, match="1 samples lie outside"):
        bare = Hist.load(tmp_path / "bare.json")
    assert bare.sum(flow=True) == 2


def test_integers_beyond_the_floats():
    axis = Regular(2, 0, 2.0**53)
    a = np.array([(1 << 53) + 1, 1 << 53, -1])
    h = Hist(axis).fill(a)
    assert h.values(flow=True).tolist() == [1, 0, 1, 1]
    with pytest.raises(NotImplementedError, match="2\\^53"):
        Hist(axis, storage="sum").fill(a)


def some_key(bh, axis):
    n = len(axis)
    between = 0 if isinstance(axis, Integer) else 0.25  # not on a last edge, which theirs leave out

    def end():
        return int(rng.integers(-n, n + 1)) if rng.integers(2) else None

    return (
        int(rng.integers(-n, n)), slice(end(), end()), slice(end(), end(), sum), slice(None),
        slice(None, None, bh.rebin(int(rng.integers(1, n + 1)))), bh.loc(rng.integers(-4, 9) + between),
        slice(bh.loc(rng.integers(-2, 2) + between), None), bh.underflow, bh.overflow,
    )[rng.integers(9)]  # fmt: skip


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_keys_mean_what_they_mean_to_boost(storage):
    bh = pytest.importorskip("boost_histogram")
    for _ in range(4 * ROUNDS):
        h, _, _ = filled(storage)
        key = tuple(some_key(bh, axis) for axis in h.axes)
        if any(isinstance(axis, Category) for axis in h.axes):
            continue  # theirs have no cell under
        try:
            theirs = bh.Histogram(h)[key]
        except (IndexError, ValueError):  # nothing left; integers, which theirs do not join
            continue
        ours = h[key]
        if isinstance(ours, Hist):
            np.testing.assert_array_equal(ours.values(flow=True), theirs.values(flow=True), f"{SEED}: {key}")
            if storage == "weight":
                np.testing.assert_array_equal(ours.variances(flow=True), theirs.variances(flow=True))
            for one, other in zip(ours.axes, theirs.axes):
                np.testing.assert_allclose(one.edges, other.edges, rtol=0, atol=1e-14)
        else:
            assert ours == (theirs.value if storage == "weight" else theirs), f"seed {SEED}: {key}"


def test_numbers_with_j():
    """hist's shorthand for loc and rebin."""
    h = tally.Hist(tally.Regular(10, -5, 5), tally.Integer(0, 4)).fill(rng.normal(0, 2, 500), rng.integers(0, 4, 500))
    assert h[1.5j, 2j] == h[tally.loc(1.5), tally.loc(2)] and h[1 + 1.5j, 0] == h[tally.loc(1.5, 1), 0]
    assert h[-2j:3j, :] == h[tally.loc(-2) : tally.loc(3), :] and h[::2j, ::4j] == h[::2, ::4]
    h[0j, 1j] = 7
    assert h[5, 1] == 7
    for wrong in (np.s_[0.5 + 1j, 0], np.s_[::1.5j, :], np.s_[:: 1 + 2j, :]):
        with pytest.raises(TypeError, match="axis 0"):
            h[wrong]
