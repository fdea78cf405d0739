# SPDX-License-Identifier: Apache-2.0
"""What people of boost-histogram and hist write: their axes come back as they were, views, scaling, categories by
their texts."""

import operator

import numpy as np
import pytest

import libtally as tally

bh = pytest.importorskip("boost_histogram")
STORAGES = "Int64", "Double", "Weight", "Mean", "WeightedMean"


CIRCULAR = [  # theirs and ours
    (lambda axis: axis.Regular(4, 0, 1, circular=True), tally.Regular(4, 0, 1, circular=True)),
    (lambda axis: axis.Regular(7, -2, 1.5, circular=True), tally.Regular(7, -2, 1.5, circular=True)),
    (lambda axis: axis.Variable([0, 1, 3], circular=True), tally.Variable([0, 1, 3], circular=True)),
    (lambda axis: axis.Integer(-1, 3, circular=True), tally.Integer(-1, 3, circular=True)),
]


def boost_axes():
    axis = bh.axis
    return [
        axis.Regular(3, 0, 1), axis.Regular(3, 0, 1, growth=True), axis.Regular(3, 0, 1, underflow=False),
        axis.Regular(3, 1, 10, transform=axis.transform.log), axis.Regular(3, 0, 4, transform=axis.transform.sqrt),
        axis.Regular(3, 1, 4, transform=axis.transform.Pow(2)), axis.Variable([0, 1, 3]), axis.Integer(0, 3),
        axis.Integer(0, 3, growth=True), axis.IntCategory([1, 5]), axis.StrCategory(["a", "b"], growth=True),
        axis.StrCategory(["a"], overflow=False), axis.Boolean(), *(made(axis) for made, _ in CIRCULAR),
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


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("i", range(len(CIRCULAR)))
def test_circular(i, storage):
    """What lies outside comes back in after whole turns, as boost-histogram's; infinite samples are over."""
    rng, (theirs_of, axis) = np.random.default_rng(i), CIRCULAR[i]
    whole = isinstance(axis, tally.Integer)
    theirs = bh.Histogram(theirs_of(bh.axis), bh.axis.Regular(2, 0, 1), storage=getattr(bh.storage, storage)())
    ours = tally.Hist(axis, tally.Regular(2, 0, 1, closed=False), storage=storage)
    for n in (1, 50, 3000):  # few and many are counted by different ways
        x, y, v = rng.uniform(-30, 40, n), rng.random(n) * 1.2, rng.random(n)
        x = np.floor(x).astype(np.int64) if whole else x
        if n == 50 and not whole:
            x[:2] = np.inf, -np.inf
        given = {"sample": v} if "Mean" in storage else {}
        if "Weight" in storage:
            given["weight"] = v
        ours.fill(x, y, **given)
        theirs.fill(x, y, **given)
    for h in (ours, tally.Hist.from_boost(theirs), tally.Hist.from_uhi(theirs._to_uhi_())):
        part = h._cells.sums[1 : None if not whole else -1, :]
        view = theirs.view(flow=True)
        np.testing.assert_allclose(part, view[next(iter(view.dtype.names))] if view.dtype.names else view, rtol=1e-12)
        np.testing.assert_allclose(h.values(), theirs.values(), rtol=1e-12)
        assert not h._cells.sums[0].any() and h.axes[0].circular and h.axes[0] == axis and not h.axes[1].circular
        for back in (bh.Histogram(h), bh.Histogram._from_uhi_(h.to_uhi())):
            assert back.axes == theirs.axes
            np.testing.assert_allclose(back.values(flow=True), theirs.values(flow=True), rtol=1e-12)
    assert ours.flows.nan == 0 and ours.copy() == ours


def test_circular_edges():
    """Neighbours of the ends, many turns, integers of 64 bits, NaN, masks and what is nothing."""
    h = tally.Hist(tally.Regular(4, 0, 1, circular=True))
    for x, at in ((0, 0), (1, 0), (-1, 0), (np.nextafter(1, 0), 3), (-1e-20, 3), (np.nextafter(1, 2), 0), (2**51 + 0.5, 2),
                  (-0.75, 1), (1e300, 0), (3.25, 1), (np.inf, 4), (-np.inf, 4), (True, 0)):  # fmt: skip
        assert h.axes[0].index(x) == at, x
        assert h.reset().fill([x]).values(flow=True).argmax() == at + 1, x
    assert h.reset().fill([0.1, np.nan, 5.1], where=[True, True, False]).flows == (0, 0, 1, 1)
    assert h.values().tolist() == [1, 0, 0, 0] and h[tally.loc(1.3)] == 0 and h[tally.loc(-1)] == 1
    x = np.array([2**63 - 1, -(2**63), 2**53 + 1, 7, -7])
    ints = tally.Hist(tally.Integer(-3, 4, circular=True)).fill(x)
    assert ints.values().tolist() == np.bincount([(int(v) + 3) % 7 for v in x], minlength=7).tolist()
    big = np.array([2**64 - 1, 2**63], np.uint64)
    assert ints.reset().fill(big).values().tolist() == np.bincount([(int(v) + 3) % 7 for v in big], minlength=7).tolist()
    assert ints.reset().fill(np.array([100, -128], np.int8)).sum() == 2
    for wrong in (lambda: tally.Regular(3, 0, 1, growth=True, circular=True), lambda: tally.Integer(0, 1, growth=True, circular=True)):
        with pytest.raises(ValueError, match="circular"):
            wrong()
    with pytest.raises(TypeError, match="circular"):
        np.histogram([1.0], h.axes[0])


@pytest.mark.parametrize("storage", ["sum", "weight", "weighted_mean"])
def test_one_sample_on_a_circle(storage):
    """A number, which stands for all weights, was read after its memory had been freed."""
    h = tally.Hist(tally.Integer(-4, 1, circular=True), tally.Regular(4, 0, 1, circular=True), storage=storage)
    given = {"sample": [1.0, 1.0]} if "mean" in storage else {}
    for _ in range(50):
        h.fill(-3, 2.5, weight=[0.5, 1], **given)
    assert h.sums[1, 2] == h.sum(flow=True) == 75


def test_circular_edges_that_are_not_told():
    """boost-histogram counts by edges that it does not tell."""
    for edges in ([-2, -1, 1, 3.5], [0, 2, 3, 10], [0, 1, 2, 4]):
        theirs = bh.Histogram(bh.axis.Variable(edges, circular=True)).fill([0.5, 2.5, 3])
        if theirs.axes[0].edges.tolist() == edges:
            assert tally.Hist.from_boost(theirs).values().tolist() == theirs.values().tolist()
        else:
            with pytest.raises(NotImplementedError, match="does not tell"):
                tally.Hist.from_boost(theirs)


def test_circular_kept(tmp_path):
    """Saved, joined and cut: a part of the circle is none."""
    x = np.random.default_rng(3).normal(0, 400, 999)
    for axis in (tally.Regular(8, -180, 180, circular=True, name="angle"), tally.Variable([0, 1, 5, 9, 24], circular=True),
                 tally.Integer(0, 24, circular=True)):  # fmt: skip
        h = tally.Hist(axis).fill(np.round(x))
        h.save(tmp_path / "h.json")
        assert tally.Hist.load(tmp_path / "h.json") == h and "circular=True" in repr(h) and h.sum() == 999
        assert axis != type(axis)(*((len(axis), -180, 180) if axis.name else (0, 24) if len(axis) == 24 else (axis.edges,)))
        two = h.rebin(2)
        assert two.axes[0].circular and two == tally.Hist(two.axes[0]).fill(np.round(x)) and bh.Histogram(two).axes[0].traits.circular
        cut = h[1:]
        assert not cut.axes[0].circular and cut.flows.under == h.values()[0] and cut.sum(flow=True) == 999
        assert h[::sum] == 999 and (h + h).values().tolist() == (2 * h.values()).tolist()
        assert h.axes[0].traits.circular and h.project(0) == h
    infinite = tally.Hist(tally.Integer(0, 3, circular=True)).fill([1.0, np.inf])
    assert bh.Histogram(infinite).values(flow=True).tolist() == [0, 1, 0, 1]
    assert bh.Histogram._from_uhi_(infinite.to_uhi()).values(flow=True).tolist() == [0, 1, 0, 1]
    assert tally.Hist.from_uhi(infinite.to_uhi()) == infinite
