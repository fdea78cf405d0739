# SPDX-License-Identifier: Apache-2.0
"""Means, axes that grow, and the forms in which others hold histograms."""

import json
import os

import numpy as np
import pytest

import libtally as tally
from libtally import Category, Hist, Integer, Log, Regular, Variable, overflow, underflow

SEED = int(os.environ.get("SEED", np.random.SeedSequence().entropy % 1000000))
rng = np.random.default_rng(SEED)
MEANS = ["mean", "weighted_mean"]
ALL = ["count", "sum", "weight", *MEANS]


def filled(axes, storage, n=400):
    """A histogram and what it was filled with; categories are texts."""
    columns = [
        rng.choice(["a", "b", "c", "?"], n) if isinstance(a, Category) else np.round(rng.normal(1, 3, n), 2)
        for a in axes
    ]
    more = {}
    if storage in ("sum", "weight", "weighted_mean"):
        more["weight"] = rng.integers(1, 5, n).astype(float)
    if storage in MEANS:
        more["sample"] = rng.normal(5, 2, n)
    return Hist(*axes, storage=storage, name="mine").fill(*columns, **more), columns, more


def moments(h, columns, more):
    """Counts or weights, means and variances of every cell, one after the other."""
    sizes = [len(a) + 2 for a in h.axes]
    cells = [[] for _ in range(int(np.prod(sizes)))]
    for i, point in enumerate(zip(*columns)):
        at = [a.index(x if isinstance(x, str) else float(x)) + 1 for a, x in zip(h.axes, point)]
        cells[np.ravel_multi_index(at, sizes)].append(i)
    w = more.get("weight", np.ones(len(columns[0])))
    answer = []
    for chosen in cells:
        s, v = more["sample"][chosen].astype(np.longdouble), w[chosen]
        mean = (v * s).sum() / v.sum() if chosen else 0
        free = v.sum() - (v**2).sum() / v.sum() if chosen else 0
        answer.append((v.sum(), mean, ((v * (s - mean) ** 2).sum() / free) if free > 0 else np.nan))
    return [np.array(x, float).reshape(sizes) for x in zip(*answer)]


AXES = [
    [Regular(6, -2, 4, closed=False)],
    [Regular(3, -2, 4), Category(["c", "a", "b"])],
    [Variable([-2, 0, 1, 4]), Integer(-1, 3)],
]


@pytest.mark.parametrize("axes", AXES, ids=repr)
@pytest.mark.parametrize("storage", MEANS)
def test_means(axes, storage):
    h, columns, more = filled(axes, storage)
    n, mean, variance = moments(h, columns, more)
    np.testing.assert_array_equal(h._cells.sums, n)
    np.testing.assert_allclose(h.values(flow=True), mean, rtol=1e-12, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(h.variances(flow=True), variance / n, rtol=1e-9)
    assert h.kind == "MEAN" and h.sum(flow=True) == n.sum()
    halves = [Hist(*axes, storage=storage, name="mine") for _ in range(2)]
    for half, part in zip(halves, (slice(0, 150), slice(150, None))):
        half.fill(*(c[part] for c in columns), **{k: v[part] for k, v in more.items()})
    both = halves[0] + halves[1]
    np.testing.assert_allclose(both.values(True), h.values(True), rtol=1e-12)
    np.testing.assert_allclose(both.variances(True), h.variances(True), rtol=1e-9)
    assert both.flows == h.flows
    twice = h * 2
    np.testing.assert_allclose(twice.values(), 2 * h.values())
    np.testing.assert_allclose(twice.variances(), 4 * h.variances())
    np.testing.assert_array_equal(twice.counts(), h.counts())


@pytest.mark.parametrize("storage", MEANS)
def test_means_of_joined_bins(storage):
    """Bins that are joined or added up hold what one bin would."""
    fine, columns, more = filled([Regular(6, -2, 4), Integer(-3, 6)], storage)
    coarse = Hist(Regular(2, -2, 4), Integer(-3, 6), storage=storage).fill(*columns, **more)
    joined = fine[:: tally.hist._index.namedtuple("Rebin", "factor")(3), :]
    np.testing.assert_allclose(joined.values(True), coarse.values(True), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(joined.variances(True), coarse.variances(True), rtol=1e-9)
    one = Hist(Integer(-3, 6), storage=storage).fill(columns[1], **more)
    np.testing.assert_allclose(fine.project(1).values(True), one.values(True), rtol=1e-12)
    np.testing.assert_allclose(fine[::sum, :].variances(True), one.variances(True), rtol=1e-9)
    assert fine[2, 3] == fine.values()[2, 3]
    again = fine.copy().reset()
    n, fields = fine._cells.sums, [fine.values(True), fine._cells.spread_of_samples()]
    again[...] = np.stack([n, *([fine._cells.squares] if storage != "mean" else []), *fields], axis=-1)
    np.testing.assert_allclose(again.variances(True), fine.variances(True), rtol=1e-12)
    np.testing.assert_array_equal(again.values(True), fine.values(True))


@pytest.mark.parametrize("storage", MEANS)
def test_means_keep_their_digits(storage):
    """Samples far from 0 that lie close: sums of squares would have none of their variance left."""
    far = 1e9 + rng.random(1000)
    h = Hist(Regular(2, 0, 1), storage=storage)
    for part in np.split(far, 10):
        h.fill(np.full(100, 0.2), sample=part)
    h.fill(np.full(1000, 0.7), sample=far)
    expected = np.var(far - 1e9, ddof=1) / 1000
    np.testing.assert_allclose(h.variances(), expected, rtol=1e-5)
    np.testing.assert_allclose(h.rebin(2).variances(), np.var(np.tile(far - 1e9, 2), ddof=1) / 2000, rtol=1e-5)


def test_means_of_what_is_left_out():
    h = Hist(Regular(2, 0, 1), Regular(1, 0, 1), storage="mean")
    x = np.ma.asarray([0.1, 0.1, np.nan, -1, 0.6, 7.0])
    h.fill(x.data, 0.5, sample=[1, 3, 5, 7, 9, 11], where=np.array([1, 1, 1, 1, 0, 1], bool))
    assert h.values()[:, 0].tolist() == [2, 0] and h.flows == (1, 1, 1, 1)
    assert h[underflow, 0] == 7 and h[overflow, 0] == 11
    before = h.copy()
    for wrong in ({}, {"sample": [1, 2]}, {"sample": np.ones(6), "weight": np.ones(6)}):
        with pytest.raises((TypeError, ValueError)):
            h.fill(x, 0.5, **wrong)
    with pytest.raises(TypeError, match="sample="):
        Hist(Regular(2, 0, 1)).fill([0.5], sample=[1])
    for refused in (lambda: h - h, h.density, lambda: Hist(Regular(1, 0, 1), storage="mean").quantile(0.5)):
        with pytest.raises(TypeError, match="means"):
            refused()
    assert h == before


@pytest.mark.parametrize("storage", ALL)
def test_regular_grows(storage):
    """In whatever order samples come, the edges are the same, and so are the counts."""
    x = np.round(rng.normal(0, 30, 300), 2)
    more = {"sample": x} if storage in MEANS else {}
    whole = Hist(Regular(10, 0, 0.7, growth=True), storage=storage).fill(x, **more)
    axis = whole.axes[0]
    assert axis.edges[0] <= x.min() < axis.edges[1] and axis.edges[-2] <= x.max() < axis.edges[-1]
    assert set(Regular(10, 0, 0.7).edges) <= set(axis.edges) and not any(whole.flows)
    np.testing.assert_array_equal(whole._cells.inside().sums, np.histogram(x, axis.edges)[0])
    parts = [Hist(Regular(10, 0, 0.7, growth=True), storage=storage) for _ in range(3)]
    for part, p in zip(parts, np.split(rng.permutation(x), 3)):
        for few in np.split(p, 10):
            part.fill(few, **({"sample": few} if more else {}))
    added = parts[0] + parts[1] + parts[2]
    np.testing.assert_array_equal(added.axes[0].edges, axis.edges, f"seed {SEED}")
    np.testing.assert_array_equal(added.sums, whole.sums)
    np.testing.assert_allclose(added.values(), whole.values())
    part = whole[3:]
    assert not part.axes[0].growth and part.fill([-1e9], **({"sample": [1]} if more else {}))


def test_what_does_not_grow():
    h = Hist(Regular(4, 0, 1, growth=True), Integer(0, 2, growth=True))
    h.fill([0.5, np.inf, -np.inf, np.nan], 1)
    assert h.shape == (4, 2) and h.flows == (1, 1, 1, 0)
    before = h.copy()
    for far in (1e9, 1e300):
        with pytest.raises(ValueError, match="grows to 1048576"):
            h.fill([0.5, far], 7)
    assert h == before and h.shape == (4, 2)
    h.fill([0.5, 77], [1, 5], where=[True, False])
    assert h.shape == (4, 2) and h.flows.masked == 1
    h.fill([1.0, -0.25], [-2, 4])
    assert h.axes[0].edges.tolist() == [-0.25, 0, 0.25, 0.5, 0.75, 1, 1.25] and h.shape == (6, 7)
    assert list(h.axes[1]) == list(range(-2, 5)) and h[5, 0] == 1 and h[0, 6] == 1
    with pytest.raises(ValueError, match="told apart"):
        Hist(Regular(1, 1 - 2**-53, 1, growth=True)).fill([1 + 2**-50])
    with pytest.raises(ValueError, match="axes differ"):
        h + Hist(Regular(5, 0, 1, growth=True), Integer(0, 2, growth=True))


@pytest.mark.parametrize("storage", ["count", "weight", "mean"])
def test_categories_grow(storage):
    more = {"sample": 1} if storage == "mean" else {}
    h = Hist(Category([], growth=True, name="who"), storage=storage)
    assert h.shape == (0,) and h.sum() == 0 and "growth=True" in repr(h) and h._repr_html_()
    h.fill(["b", "a", "b"], **more).fill(np.array(["cc", "a"]), **more)
    assert h.axes[0].categories == ["b", "a", "cc"] and h.sums.tolist() == [2, 2, 1]
    other = Hist(Category(["z"], growth=True), storage=storage).fill(["a", "y"], **more)
    both = h + other
    assert both.axes[0].categories == ["b", "a", "cc", "z", "y"] and both.sums.tolist() == [2, 3, 1, 0, 1]
    assert both.axes[0].name == "who" and h.shape == (3,)
    numbers = Hist(Category([7], growth=True)).fill([3, 7, 3])
    assert numbers.axes[0].categories == [7, 3] and numbers.sums.tolist() == [1, 2]
    with pytest.raises(TypeError, match="texts or numbers"):
        numbers.fill(["a"])
    both = Hist(Regular(2, 0, 2), Category(["a"], growth=True)).fill([0.5, 1, 7], "b")
    assert both[:, tally.loc("b")].values().tolist() == [1, 1] and both.axes[1].categories == ["a", "b"]
    texts = Hist(Category(["a"])).fill([1, 2])
    assert texts.flows.over == 2


def _filled_twice(values):
    h = Hist(Category([], growth=True)).fill(values).fill(values)
    return len(h.axes[0]), h.sums.tolist(), h.flows.over, h.flows.masked


def test_what_no_category_equals_grows_none():
    assert _filled_twice([1.0, np.nan, 2.0]) == (2, [2, 2], 2, 0)
    with pytest.raises(ValueError, match="NaN"):
        Category([1.0, np.nan])
    for unit in ("D", "s", "us", "ns"):
        dates = np.array(["2020-01-01", "NaT", "2020-01-03"], f"M8[{unit}]")
        assert _filled_twice(dates) == (2, [2, 2], 0, 2), unit
        assert _filled_twice(dates[1:2]) == (0, [], 0, 2)
        assert Hist(Category(dates[:1])).fill(dates).sums.tolist() == [1]
        assert tally.histogram([1, 2, 3], 1, by=dates)[0].tolist() == [[1], [1]]


@pytest.mark.skipif(int(np.__version__.partition(".")[0]) < 2, reason="NumPy 2")
def test_categories_of_numpy_s_strings():
    assert _filled_twice(np.array(["a", "bb"], np.dtypes.StringDType())) == (2, [2, 2], 0, 0)
    nulls = np.array(["a", None], np.dtypes.StringDType(na_object=None))
    assert _filled_twice(nulls) == (1, [2], 0, 2)
    assert tally.histogram([1, 2], 1, by=nulls)[2].tolist() == ["a"]


def test_categories_of_pandas():
    pd = pytest.importorskip("pandas")
    for values in (
        pd.Series(["b", None, "a", "b"]), pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.Series(["b", None, "a", "b"], dtype="string"), pd.Series(["b", np.nan, "a", "b"], dtype=object),
    ):  # fmt: skip
        h = Hist(Category([], growth=True)).fill(values)
        assert h.axes[0].categories == ["b", "a"] and h.sums.tolist() == [2, 1], values.dtype
        assert h.flows.masked == 1 and Hist(Category(["a"])).fill(values).flows.over == 2


GROWING = [
    [Regular(4, -1, 1, growth=True, name="x", label="length")],
    [Integer(0, 2, growth=True), Category(["a"], growth=True)],
]


@pytest.mark.parametrize("axes", AXES + GROWING + [[Log(3, 0.1, 10), Regular(2, 0, 1)]], ids=repr)
@pytest.mark.parametrize("storage", ALL)
def test_forms_of_others(axes, storage, tmp_path):
    """Saved and read, to UHI's form and back, to boost-histogram and back: the same, and it grows on."""
    h, columns, more = filled(axes, storage)

    def goes_on(again, exact=True):
        both = [x.copy().fill(*columns, **more) for x in (again, h)]
        assert both[0].axes == both[1].axes and (not exact or both[0] == both[1])
        np.testing.assert_allclose(both[0].variances(True) if storage != "sum" else 0,
                                   both[1].variances(True) if storage != "sum" else 0)  # fmt: skip

    h.save(tmp_path / "h.json")
    again = Hist.load(tmp_path / "h.json")
    assert again == h and again.storage == storage and again.axes.name == h.axes.name
    goes_on(again)
    again = Hist.from_uhi(h.to_uhi())
    assert again.axes == h.axes and again.flows == h.flows and again.name == "mine"
    assert [type(a) for a in again.axes] == [type(a) for a in axes] and again.axes.label == h.axes.label
    np.testing.assert_array_equal(again.values(True), h.values(True))
    goes_on(again, storage not in MEANS)
    bh = pytest.importorskip("boost_histogram")
    theirs = bh.Histogram(h)
    np.testing.assert_array_equal(theirs.values(), h.values())
    np.testing.assert_allclose(theirs.variances() if storage != "sum" else 0,
                               h.variances() if storage != "sum" else 0)  # fmt: skip
    back = Hist.from_boost(theirs)
    assert back._cells.same(h._cells) and back.storage == storage and back.axes.name == h.axes.name
    open_ = [Regular(2, 0, 1, closed=False) if isinstance(a, Regular) and not a.growth else a for a in axes]
    assert [(type(a), a.growth) for a in back.axes if not isinstance(a, (Log, Variable))] == [
        (type(a), a.growth) for a in open_ if not isinstance(a, (Log, Variable))
    ]


@pytest.mark.parametrize("storage", ["Int64", "Double", "Weight", "Mean", "WeightedMean"])
def test_uhi_between_others(storage):
    """UHI's JSON from boost-histogram, and ours read by it; hist's histograms with names."""
    bh, uhi = pytest.importorskip("boost_histogram"), pytest.importorskip("uhi.io.json")
    hist = pytest.importorskip("hist")
    theirs = hist.Hist(
        hist.axis.Regular(4, -2, 2, name="x", label="l"), hist.axis.StrCategory(["a"], growth=True, name="c"),
        hist.axis.Variable([0, 1, 3], underflow=False, name="v"), hist.axis.Integer(0, 3, name="i"),
        hist.axis.Boolean(name="b"), storage=storage, name="whole",
    )  # fmt: skip
    n = 500
    more = {"sample": rng.random(n)} if "Mean" in storage else {}
    if "Weight" in storage:
        more["weight"] = rng.random(n)
    theirs.fill(rng.normal(0, 2, n), rng.choice(list("abc"), n), rng.uniform(-1, 4, n), rng.integers(-1, 5, n),
                rng.random(n) < 0.5, **more)  # fmt: skip
    text = json.dumps(theirs, default=uhi.default)
    read = Hist.from_uhi(json.loads(text, object_hook=uhi.object_hook))
    taken = Hist.from_boost(theirs)
    for ours in (read, taken):
        assert ours.axes.name == ("x", "c", "v", "i", "b") and ours.axes[0].label == "l"
        assert ours.storage == Hist(Regular(1, 0, 1), storage=storage).storage and ours.name == "whole"
        np.testing.assert_array_equal(ours.values(), theirs.values())
        if storage not in ("Double", "Weight"):  # theirs count by weights
            np.testing.assert_allclose(ours.counts(), theirs.counts())
        assert ours.axes["c"].growth
        again = bh.Histogram._from_uhi_(json.loads(json.dumps(ours, default=uhi.default), object_hook=uhi.object_hook))
        np.testing.assert_array_equal(again.values(), theirs.values())
        assert hist.Hist(ours).axes.name == theirs.axes.name
    sparse = json.loads(text, object_hook=uhi.object_hook)
    io = pytest.importorskip("uhi.io")
    assert Hist.from_uhi(io.to_sparse(sparse))._cells.same(read._cells)
    for wrong in ({}, {"uhi_schema": 2}, 3):
        with pytest.raises(ValueError, match="uhi_schema"):
            Hist.from_uhi(wrong)


def test_uhi_schema():
    """The schema that UHI publishes takes what is written."""
    schema = pytest.importorskip("uhi.schema")
    pytest.importorskip("fastjsonschema")
    for axes in AXES + GROWING:
        for storage in ALL:
            text = json.dumps(filled(axes, storage)[0].to_uhi(), default=pytest.importorskip("uhi.io.json").default)
            schema.validate({"one": json.loads(text)})


def test_growing_keeps_what_boost_has_no_cell_for():
    bh = pytest.importorskip("boost_histogram")
    h = Hist(Integer(0, 2, growth=True)).fill([0.0, np.inf, 3])
    theirs = bh.Histogram(h)
    assert theirs.values(flow=True).tolist() == [0, 1, 0, 0, 1, 1] and not theirs.axes[0].traits.growth


@pytest.mark.parametrize("storage", ALL)
def test_storages_by_others_names(storage):
    bh = pytest.importorskip("boost_histogram")
    name = {"count": "Int64", "sum": "Double", "weight": "Weight", "mean": "Mean",
            "weighted_mean": "WeightedMean"}[storage]  # fmt: skip
    for given in (name, name.lower(), getattr(bh.storage, name), getattr(bh.storage, name)()):
        assert Hist(Regular(1, 0, 1), storage=given).storage == storage
    with pytest.raises(ValueError, match="storage"):
        Hist(Regular(1, 0, 1), storage=bh.storage.Storage if hasattr(bh.storage, "Storage") else int)


@pytest.mark.parametrize("storage", ALL)
def test_lists_of_categories(storage):
    h, columns, more = filled([Category(["c", "a", "b"], name="who"), Integer(-1, 3)], storage)
    part = h[["b", "c"], :]
    expected = Hist(Category(["b", "c"]), Integer(-1, 3), storage=storage).fill(*columns, **more)
    assert part.axes[0].categories == ["b", "c"] and part.axes[0].name == "who" and part[[1], :].shape == (1, 4)
    np.testing.assert_allclose(part.values(True), expected.values(True))
    assert h[{"who": [2, 0]}] == part
    if storage in ("count", "mean"):
        assert part.flows == expected.flows
    for wrong, error in ((["z"], KeyError), (["b", 2], IndexError), ([3], IndexError), ([], TypeError)):
        with pytest.raises(error):
            h[wrong, :]
    with pytest.raises(TypeError, match="Category"):
        h[:, [1]]
    with pytest.raises(ValueError, match="one name"):
        Hist(Regular(1, 0, 1, name="x"), Integer(0, 2, name="x"))


def given_for(storage, n):
    """What goes with n samples."""
    weighted = storage in ("sum", "weight", "weighted_mean")
    return {**({"weight": np.arange(1.0, n + 1)} if weighted else {}), **({"sample": np.arange(n)} if storage in MEANS else {})}


@pytest.mark.parametrize("storage", ALL)
@pytest.mark.parametrize("axis", [Regular(3, 0, 3), Regular(3, 0, 3, growth=True), Integer(0, 3, circular=True), Category([1, 2])])
def test_a_number_for_all(axis, storage):
    """Beside nulls, where= and a null for all; and one point for all weights and values."""
    y, mask = np.arange(4) / 4, [True, False, True, True]
    given = given_for(storage, 4)
    for rest in (y, np.ma.array(y, mask=[0, 0, 1, 0])):
        for where in (None, mask):
            each = Hist(axis, Regular(4, 0, 1), storage=storage).fill(np.full(4, 2), rest, where=where, **given)
            assert Hist(axis, Regular(4, 0, 1), storage=storage).fill(2, rest, where=where, **given) == each
            swapped = Hist(Regular(4, 0, 1), axis, storage=storage).fill(rest, 2, where=where, **given)
            assert swapped.project(1, 0).values(True).tolist() == each.values(True).tolist()
    nothing = Hist(axis, Regular(4, 0, 1), storage=storage).fill(np.ma.masked, y, **given)
    assert nothing.empty(flow=True) and nothing.flows.masked == 4
    if given:
        assert Hist(axis, storage=storage).fill(2, **given) == Hist(axis, storage=storage).fill([2] * 4, **given)
        assert Hist(axis, storage=storage).fill(np.ma.masked, **given).empty(flow=True)
    with pytest.raises(ValueError, match="shape"):
        Hist(axis, storage="weighted_mean").fill(2, weight=[1, 2], sample=[1, 2, 3])


@pytest.mark.parametrize("storage", ["sum", "weight", *MEANS])
def test_what_is_not_summed(storage):
    """A TypeError, and nothing has changed."""
    for wrong in (list("12"), np.array([1, 2], "M8[s]"), [1j, 2]):
        h = Hist(Regular(2, 0, 1, growth=True), storage=storage)
        for name in given_for(storage, 1):
            with pytest.raises(TypeError):
                h.fill([0.5, 7.0], **{**given_for(storage, 2), name: wrong})
        assert h == Hist(Regular(2, 0, 1, growth=True), storage=storage)


@pytest.mark.parametrize("growth", [False, True])
def test_texts_as_bytes(growth):
    """Are the texts, as h5py and NumPy's 'S' give them; they were all over."""
    given = ["é", "b", "", "b", "zz"]
    want = Hist(Category(["b", "é"], growth=growth)).fill(given)
    encoded = [v.encode() for v in given]
    for samples in (encoded, np.array(encoded), np.array(encoded, object)):
        for categories in (["b", "é"], [b"b", "é".encode()]):
            h = Hist(Category(categories, growth=growth)).fill(samples)
            assert h == want and h.values()[:2].tolist() == [2, 1]
    assert Hist(Category(["b"])).fill(np.array(encoded, object), where=np.array(given) == "b").values() == 2
    with pytest.raises(ValueError, match="utf-8"):
        Hist(Category(["b"], growth=growth)).fill([b"\xff"])


def test_nothing_grows_for_a_null_in_where():
    for axis, x in ((Regular(2, 0, 1, growth=True), [7.0, 0.5]), (Category(["a"], growth=True), ["b", "a"])):
        h = Hist(axis).fill(x, where=np.ma.array([True, True], mask=[True, False]))
        assert h.axes[0] == axis and h.sum() == h.flows.masked == 1
