# SPDX-License-Identifier: Apache-2.0
"""What people of boost-histogram and hist write: their axes come back as they were, views, scaling, categories by
their texts."""

import operator

import numpy as np
import pytest

import libtally as tally

bh = pytest.importorskip("boost_histogram")
STORAGES = "Int64", "Double", "Weight", "Mean", "WeightedMean"


def boost_axes():
    axis = bh.axis
    return [
        axis.Regular(3, 0, 1), axis.Regular(3, 0, 1, growth=True), axis.Regular(3, 0, 1, underflow=False),
        axis.Regular(3, 1, 10, transform=axis.transform.log), axis.Regular(3, 0, 4, transform=axis.transform.sqrt),
        axis.Regular(3, 1, 4, transform=axis.transform.Pow(2)), axis.Variable([0, 1, 3]), axis.Integer(0, 3),
        axis.Integer(0, 3, growth=True), axis.IntCategory([1, 5]), axis.StrCategory(["a", "b"], growth=True),
        axis.StrCategory(["a"], overflow=False), axis.Boolean(),
    ]  # fmt: skip


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("i", range(len(boost_axes())))
def test_there_and_back(i, storage):
    axis = boost_axes()[i]
    theirs = bh.Histogram(axis, storage=getattr(bh.storage, storage)())
    given = {"sample": [2.0, 3.0]} if "Mean" in storage else {}
    theirs.fill(["a", "zz"] if isinstance(axis, bh.axis.StrCategory) else [1, 2], **given)
    back = bh.Histogram(tally.Hist.from_boost(theirs))
    assert back == theirs and type(back.axes[0]) is type(theirs.axes[0])


def test_what_lies_outside_is_not_lost():
    """An axis without flow bins, filled here outside, comes back with them; one that changed as what it is now."""
    theirs = bh.Histogram(bh.axis.Regular(3, 0, 1, underflow=False, overflow=False)).fill([0.5])
    ours = tally.Hist.from_boost(theirs).fill([7])
    assert bh.Histogram(ours).view(flow=True).tolist() == [0, 0, 1, 0, 1]
    assert bh.Histogram(ours[1:]).axes[0].edges.tolist() == theirs.axes[0].edges[1:].tolist()
    grown = tally.Hist.from_boost(bh.Histogram(bh.axis.Regular(2, 0, 2, growth=True))).fill([5])
    assert bh.Histogram(grown).axes[0] == bh.axis.Regular(6, 0, 6, growth=True)
    assert type(bh.Histogram(tally.Hist(tally.Log(3, 1, 10))).axes[0].transform) is bh.axis.transform.Function


def test_hists_names_and_labels():
    hist = pytest.importorskip("hist")
    axes = hist.axis.Regular(3, 0, 1, name="x", label="L"), hist.axis.StrCategory(["a"], name="c", growth=True)
    theirs = hist.Hist(*axes, storage="weight", name="N", label="NL").fill(x=[0.5], c="a", weight=2.0)
    ours = tally.Hist.from_boost(theirs)
    back = hist.Hist(ours.copy())
    assert back == theirs and (back.name, back.label) == ("N", "NL")
    assert [a.__dict__ for a in back.axes] == [a.__dict__ for a in theirs.axes]
    ours.axes[0].label = "new"
    assert hist.Hist(ours).axes[0].label == "new"


@pytest.mark.parametrize("storage", STORAGES)
def test_view(storage):
    """As boost-histogram's, and what it gives is taken."""
    x, v = np.random.default_rng(1).random((2, 50))
    given = {"sample": v} if "Mean" in storage else {}
    ours = tally.Hist(tally.Regular(3, 0.1, 0.9, closed=False), storage=storage).fill(x, **given)
    theirs = bh.Histogram(bh.axis.Regular(3, 0.1, 0.9), storage=getattr(bh.storage, storage)()).fill(x, **given)
    for flow in (False, True):
        view, expected = ours.view(flow), theirs.view(flow)
        assert view.dtype.names == expected.dtype.names
        for name in view.dtype.names or [...]:
            np.testing.assert_allclose(view[name], expected[name], rtol=1e-12)
    other = tally.Hist(*ours.axes, storage=storage)
    other[...] = theirs.view(flow=True)
    np.testing.assert_allclose(other.values(True), ours.values(True), rtol=1e-12)
    np.testing.assert_allclose(other.variances() if storage != "Double" else 0, theirs.variances() if storage != "Double" else 0, rtol=1e-9)


def test_written_views():
    h = tally.Hist(tally.Regular(3, 0, 3))
    h.view()[1] = 5
    assert h.values().tolist() == [0, 5, 0] and not h.empty() and tally.Hist(*h.axes).empty()


def test_scaling():
    h = tally.Hist(tally.Regular(3, 0, 3), tally.Integer(0, 2)).fill([0.5, 1.5, 1.5, 9], [0, 1, 1, 0])
    twice = h.copy()
    twice *= 2
    assert twice == h * 2 and twice.storage == "weight" and twice.fill([0.5], [0], weight=3).values()[0, 0] == 5
    weights = np.array([[1], [2], [4]])
    for scaled in (h * weights, weights * h, h / (1 / weights)):
        np.testing.assert_array_equal(scaled.values(), h.values() * weights)
        np.testing.assert_array_equal(scaled.variances(), h.values() * weights**2)
        assert scaled.values(flow=True)[-1].sum() == 1
    assert (h * np.full((5, 4), 2.0)).values(flow=True)[-1].sum() == 2
    for wrong in (np.ones(7), "2", None):
        with pytest.raises((TypeError, ValueError)):
            h * wrong


def test_shapes():
    h = tally.Hist(tally.Regular(3, 0, 3), tally.Integer(0, 2)).fill([0.5], [1])
    values, (x, y) = h.to_numpy(dd=True)
    assert values.shape == (3, 2) and len(x) == 4 and len(y) == 3 and h.size == 20
    weighted = tally.Hist(tally.Regular(2, 0, 2), storage="weight").fill(1.5, weight=[1, 2])
    assert weighted.values().tolist() == [0, 3] and weighted.variances().tolist() == [0, 5]


def test_categories_by_text():
    h = tally.Hist(tally.Category(["sig", "bkg"], name="c"), tally.Regular(2, 0, 2)).fill(["sig", "bkg", "bkg"], [0, 0, 1])
    assert h["bkg", :].values().tolist() == h[{"c": "bkg"}].values().tolist() == [1, 1] and h["sig", 0] == 1
    h["sig", :] = [7, 8]
    assert h["sig", 1] == 8
    with pytest.raises(KeyError, match="no category 'x'"):
        h["x", :]


def test_rebin_to_edges():
    h = tally.Hist(tally.Regular(10, 0, 1)).fill(np.arange(10) / 10 + 0.05)
    to = [0, 0.2, 0.5, 1.0]
    for tag in (bh.rebin(edges=to), bh.rebin(axis=bh.axis.Variable(to))):
        assert h[::tag].values().tolist() == [2, 3, 5]
    assert h[tally.loc(0.2) :: bh.rebin(edges=[0.2, 0.5])].values(flow=True).tolist() == [2, 3, 5]
    with pytest.raises(ValueError, match="no edges of its bins"):
        h[:: bh.rebin(edges=[0, 0.25, 1])]


def test_axes_answer_arrays():
    x = tally.Regular(4, 0, 4)
    assert x.index([0, 1.5, 4, 9, -1]).tolist() == [0, 1, 3, 4, -1] and x.value(1.5) == 1.5 and x.bin(1) == (1.0, 2.0)
    c = tally.Category(["a", "b"])
    assert c.index(["b", "zz"]).tolist() == [1, 2] and c.value(1) == c.bin(1) == "b"


def test_stacks_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    h = tally.Hist(tally.Category(["a", "b"]), tally.Regular(2, 0, 2, name="x")).fill(["a", "b", "b"], [0, 0, 1])
    _, ax = plt.subplots()
    drawn = h.stack(0).plot(ax)
    assert [d.get_data().values.tolist() for d in drawn] == [[1, 0], [2, 1]]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"] and ax.get_xlabel() == "x"
    assert h.stack(0).plot(ax, stack=False)[1].get_data().values.tolist() == [1, 1]
    with pytest.raises(ValueError, match="one axis"):
        tally.Hist(*h.axes, tally.Integer(0, 2)).stack(0).plot(ax)
    plt.close("all")


NUMBERS = [2, -1, 0, 1.5, np.int64(3), np.float64(0.5)]
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def with_both(storage, axes):
    """The same content here and there."""
    x, y, v = np.random.default_rng(7).random((3, 60)) * 1.6 - 0.3
    given = {"sample": v} if "Mean" in storage else {}
    if "Weight" in storage:
        given["weight"] = np.abs(v)
    columns = (x, y)[:axes]
    ours = tally.Hist(*(tally.Regular(n, 0, 1, closed=False) for n in (3, 2)[:axes]), storage=storage)
    theirs = bh.Histogram(*(bh.axis.Regular(n, 0, 1) for n in (3, 2)[:axes]), storage=getattr(bh.storage, storage)())
    return ours.fill(*columns, **given), theirs.fill(*columns, **given)


def said(function, *arguments):
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except (TypeError, ValueError) as e:
        return e


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("storage", STORAGES)
def test_arithmetic(storage, name):
    """With numbers, arrays and histograms: boost-histogram's cells, flow bins too, but where counts would be
    negative; what it refuses is refused, but differences of weights. Counts times a number are weights here."""
    operation, answered = OPERATIONS[name], 0
    for axes in (1, 2):
        ours, theirs = with_both(storage, axes)
        bins = np.arange(1, 4) if axes == 1 else np.arange(1, 7).reshape(3, 2)
        whole = np.arange(5) if axes == 1 else np.arange(20).reshape(5, 4)
        others = [*NUMBERS, bins, bins / 2, whole, None]
        for other in others:
            for flipped in (False, True):
                pairs = [(h, h if other is None else other) for h in (ours, theirs)]
                if flipped:
                    # NumPy's own ask for arrays; 0 - h of means are no means.
                    if other is None or isinstance(other, (np.ndarray, np.generic)) or "Mean" in storage:
                        continue
                    pairs = [pair[::-1] for pair in pairs]
                before = ours.copy()
                mine, wanted = (said(operation, *pair) for pair in pairs)
                assert ours == before
                if isinstance(wanted, Exception):
                    if not (storage == "Weight" and name == "-" and other is None):
                        assert isinstance(mine, TypeError), (other, mine)
                    continue
                cells = wanted.view(flow=True)
                if storage == "Int64" and name in "+-" and (cells < 0).any():
                    assert isinstance(mine, ValueError)
                    continue
                answered += 1
                for part in [p for p in (None, *(cells.dtype.names or ()))]:
                    value = cells if part is None else cells[part]
                    if part is None and cells.dtype.names:
                        continue
                    got = mine.view(flow=True)
                    got = got if part is None and not got.dtype.names else got[part or "value"]
                    np.testing.assert_allclose(got, value, rtol=1e-12, err_msg=f"{other!r} {part}")
    assert answered >= (10 if "Mean" not in storage else 8 if name in "*/" else 2)


def test_flows_follow_numbers():
    h = tally.Hist(tally.Regular(2, 0, 1)).fill([0.1, 7, -3, np.nan])
    assert (h + 2).flows == (3, 3, 1, 0) and (2 + h).view(True).tolist() == [3, 3, 2, 3] and h.flows == (1, 1, 1, 0)
    assert (h + np.array([5, 6])).view(True).tolist() == [1, 6, 6, 1] and (h + np.array([5, 6])).flows == h.flows
    assert (h * h).storage == "count" and (h / h).storage == "sum" and np.isnan((h / h).values()).tolist() == [False, True]
    assert (3 - h).view(True).tolist() == [2, 2, 3, 2] and (6 / h).values().tolist() == [6, np.inf]
    with pytest.raises(OverflowError):
        big = h + (1 << 62)
        big * big
    with pytest.raises(ValueError, match="axes differ"):
        h * tally.Hist(tally.Regular(3, 0, 1))
    with pytest.raises(ValueError, match="negative"):
        h - 1
    for wrong in ("1", None, 1j, [1, 2]):
        for operation in OPERATIONS.values():
            with pytest.raises(TypeError):
                operation(h, wrong)


def test_numpys_sum():
    x, y = np.random.default_rng(2).random((2, 50)) * 2
    h = tally.Hist(tally.Regular(3, 0, 1), tally.Regular(2, 0, 1)).fill(x, y)
    assert np.sum(h) == h.sum() == h.values().sum() < h.sum(flow=True) and isinstance(np.sum(h), int)
    for wrong in ({"axis": 0}, {"out": np.zeros(())}, {"dtype": float}, {"keepdims": True}):
        with pytest.raises(TypeError):
            np.sum(h, **wrong)
    assert sum([h, h]) == h + h and sum([tally.Hist(h.axes[0], storage="mean")] * 2).empty()
