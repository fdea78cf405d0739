# SPDX-License-Identifier: Apache-2.0
"""Histograms to keep."""

import json
import pathlib
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import libtally as tally
from libtally import Category, Hist, Integer, Log, Regular, Variable, loc

rng = np.random.default_rng(6)
DATA = pathlib.Path(__file__).parents[2] / "data"


def samples(n=1000):
    return rng.normal(0.5, 0.3, n)


AXES = [
    Regular(10, 0, 1), Variable([0, 0.1, 0.5, 1]), Log(5, 0.01, 1), Integer(0, 2),
    Regular(7, 0, 1, closed=False),
]  # fmt: skip


@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_fill(axis):
    a = np.append(samples(), [1.0, 0.0, np.nan])
    h = Hist(axis).fill(a[:500]).fill(a[500:])
    inside = a if axis.axis.last == 0 else a[a != axis.edges[-1]]
    np.testing.assert_array_equal(h.values(), np.histogram(inside, axis.edges)[0])
    assert h.sum() + sum(h.flows) == a.size
    assert h.flows.nan == 1 and h.flows.under == (a < axis.edges[0]).sum()


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_fill_adds_in_place(storage):
    """Many small fills of many bins: what is kept is added to."""
    a, w = samples(3000), rng.integers(1, 9, 3000).astype(float)
    keywords = [{} if storage == "count" else {"weight": w[i : i + 10]} for i in range(0, 3000, 10)]
    h = Hist(Regular(100000, 0, 1), storage=storage)
    kept = h.sums
    for i, more in enumerate(keywords):
        h.fill(a[10 * i : 10 * i + 10], **more)
    assert np.shares_memory(h.sums, kept) and h.sums.sum() == kept.sum()
    expected = {} if storage == "count" else {"weights": w}
    np.testing.assert_array_equal(h.values(), np.histogram(a, 100000, (0, 1), **expected)[0])
    if storage == "weight":
        squared = np.histogram(a, 100000, (0, 1), weights=w * w)[0]
        np.testing.assert_array_equal(h.variances(), squared)
    assert h.flows.under == (a < 0).sum() and h.flows.over == (a > 1).sum()


FEW = [
    [Regular(2000, 0, 1)], [Variable(np.sort(rng.random(2001)))], [Integer(-900, 900)],
    [Regular(40, 0, 1), Regular(50, 0, 1, closed=False)], [Log(40, 0.01, 1), Integer(-1, 60)],
    [Variable([0, 0.1, 0.5, 1]), Regular(30, 0, 1), Regular(20, 0.2, 1)],
]  # fmt: skip


@pytest.mark.parametrize("axes", FEW, ids=repr)
@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_few_samples(axes, storage):
    """Fills of few samples add what a fill of all of them counts, in the flow bins too."""
    columns = np.concatenate([samples(9000), [0, 1, 0.5, np.nan, np.inf, -np.inf] * 3])
    columns = rng.permutation(np.stack([np.roll(columns, i) for i in range(len(axes))]), axis=1)
    w, where = rng.integers(1, 9, columns.shape[1]).astype(float), rng.random(columns.shape[1]) < 0.9
    few, many = Hist(*axes, storage=storage), Hist(*axes, storage=storage)
    for i in [slice(i, i + 700) for i in range(0, columns.shape[1], 700)]:
        weighted = {} if storage == "count" else {"weight": w[i]}
        few.fill(*columns[:, i], where=where[i], **weighted)
    many.fill(*columns, where=where, **({} if storage == "count" else {"weight": w}))
    assert few == many and few.flows == many.flows and min(few.flows)


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
@pytest.mark.parametrize("axes", [
    [Regular(1000000, 0, 1)], [Variable(np.linspace(0, 1, 1000001))],
    [Regular(1000, 0, 1), Variable(np.linspace(0, 1, 1001))],
], ids=["regular", "variable", "joint"])  # fmt: skip
def test_few_samples_cost_little(axes, storage):
    """A fill of ten samples allocates nothing as large as the bins, once plans are made."""
    h, weighted = Hist(*axes, storage=storage), {} if storage == "count" else {"weight": samples(10)}
    columns = [samples(10) for _ in axes]
    h.fill(*columns, **weighted)
    tracemalloc.start()
    h.fill(*columns, **weighted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100000


def test_edges_are_the_axis_own():
    edges = np.array([0.0, 1, 2])
    h = Hist(Variable(edges))
    edges[1] = 1.9
    assert h.fill([1.5]).values().tolist() == [0, 1]


@pytest.mark.filterwarnings("error")
def test_an_axis_to_the_largest_float():
    top = np.finfo(float).max
    h = Hist(Variable([-top, 0, top]), storage="weight").fill([-1, 1, top, np.nan], weight=[1, 2, 3, 4])
    assert h.values().tolist() == [1, 5] and h.flows.nan == 1
    assert Variable([top / 2, top]).centers.tolist() == [0.75 * top]


def test_categories():
    h = Hist(Category(["c", "a", "b"])).fill(["a", "b", "a", "z"])
    assert h.values().tolist() == [0, 2, 1] and h.flows.over == 1
    assert list(h.axes[0]) == ["c", "a", "b"] and h[loc("b")] == 1
    assert Hist(Category([5, 3])).fill(np.array([3, 3, 5, 4])).values().tolist() == [1, 2]


def test_several_axes():
    x, y = samples(), samples()
    h = Hist(Regular(4, 0, 1, name="x"), Regular(3, 0, 1, name="y")).fill(x, y)
    np.testing.assert_array_equal(h.values(), np.histogram2d(x, y, (4, 3), [(0, 1)] * 2)[0])
    np.testing.assert_array_equal(h.project("y").values(), np.histogram(y, 3, (0, 1))[0])
    np.testing.assert_array_equal(h.project(1, 0).values(), h.values().T)
    assert h.project("x").axes == h.axes[:1]
    np.testing.assert_array_equal(h[1:3, 0].values(), h.values()[1:3, 0])
    np.testing.assert_array_equal(h[0:len:sum, :].values(), h.values().sum(axis=0))
    np.testing.assert_array_equal(h[::sum, :].values(), h.project("y").values())
    assert h[1, 2] == h.values()[1, 2]
    with pytest.raises(ValueError, match="no axis"):
        h.project("z")
    with pytest.raises(ValueError, match="2 axes"):
        h.fill(x)


@pytest.mark.parametrize("storage", ["sum", "weight"])
def test_weights(storage):
    a, w = samples(), rng.integers(0, 9, 1000)
    h = Hist(Regular(8, 0, 1), storage=storage).fill(a, weight=w).fill(a)
    theirs = np.histogram(a, 8, (0, 1), weights=w + 1.0)[0]
    np.testing.assert_array_equal(h.values(), theirs)
    if storage == "weight":
        expected = np.histogram(a, 8, (0, 1), weights=w**2 + 1.0)[0]
        np.testing.assert_array_equal(h.variances(), expected)
        np.testing.assert_allclose(h.counts(), theirs**2 / expected)
    else:
        assert h.variances() is None and h.counts() is None
    with pytest.raises(TypeError, match="storage"):
        Hist(Regular(8, 0, 1)).fill(a, weight=w)


def test_add_and_merge():
    parts = [samples() for _ in range(4)]
    whole = Hist(Regular(9, 0, 1)).fill(np.concatenate(parts))
    each = [Hist(Regular(9, 0, 1)).fill(p) for p in parts]
    assert each[0] + each[1] + each[2] + each[3] == whole
    assert each[0].merge(*each[1:]) == whole and sum(each) == whole
    with pytest.raises(TypeError, match="merge: histograms"):
        whole.merge(5)
    assert each[0] != whole and pickle.loads(pickle.dumps(whole)) == whole
    with pytest.raises(ValueError, match="axes"):
        each[0] += Hist(Regular(8, 0, 1))
    with pytest.raises(ValueError, match="count"):
        each[0] += Hist(Regular(9, 0, 1), storage="sum")


def test_rebin_and_slices():
    a = samples()
    h = Hist(Regular(12, 0, 1)).fill(a)
    half = h.rebin(3)
    np.testing.assert_array_equal(half.values(), h.values().reshape(4, 3).sum(axis=1))
    np.testing.assert_array_equal(half.axes[0].edges, h.axes[0].edges[::3])
    assert h[::2] == h.rebin(2)
    cut = h[3:9]
    assert cut.sum() + sum(cut.flows) == a.size and len(cut.axes[0]) == 6
    np.testing.assert_array_equal(h[loc(0.5) :].values(), h.values()[6:])
    assert h[-1] == h.values()[-1] and h[loc(0.26)] == h.values()[3]
    with pytest.raises(ValueError, match="the 12 bins of axis 0 are no multiple of 5"):
        h.rebin(5)
    with pytest.raises(ValueError, match="at least 1"):
        h.rebin(0)
    with pytest.raises(IndexError):
        h[12]


def test_quantile():
    h = Hist(Regular(4, 0, 4)).fill([0.5, 1.5, 1.5, 3.5])
    assert h.quantile(0.25) == 1 and h.quantile(0.5) == 1.5 and h.quantile(1) == 4
    assert h.quantile([0, 0.75]).tolist() == [0, 2]
    a = rng.random(100_000)
    h = Hist(Regular(1000, 0, 1)).fill(a)
    np.testing.assert_allclose(h.quantile([0.1, 0.9]), np.quantile(a, [0.1, 0.9]), atol=2e-3)
    assert np.isnan(Hist(Regular(4, 0, 4)).quantile(0.5))
    with pytest.raises(ValueError):
        h.quantile(1.5)
    with pytest.raises(TypeError, match="in no order"):
        Hist(tally.Category(["a", "b"])).fill(["a", "b"]).quantile(0.5)


@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_save_and_load(axis, storage, tmp_path):
    h = Hist(axis, Regular(3, 0, 1), storage=storage, name="mine").fill(samples(), samples())
    h.save(tmp_path / "h.json")
    again = Hist.load(tmp_path / "h.json")
    assert again == h and again.name == "mine"
    assert json.loads((tmp_path / "h.json").read_text())["schema"] == "tally/1"
    with pytest.raises(ValueError, match="h.json"):
        (tmp_path / "h.json").write_text("{")
        Hist.load(tmp_path / "h.json")


def test_what_the_command_saves(tmp_path):
    def command(*words):
        return subprocess.run(
            [sys.executable, "-m", "libtally", *words], capture_output=True, text=True, check=True
        )  # fmt: skip

    try:
        command("--version")
    except subprocess.CalledProcessError as e:
        pytest.skip(f"no command here: {e.stderr}")
    np.save(tmp_path / "a.npy", np.arange(100.0))
    command(str(tmp_path / "a.npy"), "--range", "0", "50", "--bins", "5", "-o", str(tmp_path / "h.json"))
    h = Hist.load(tmp_path / "h.json")
    assert h.values().tolist() == [10, 10, 10, 10, 11] and h.flows.over == 49
    assert h.axes == (Regular(5, 0, 50),) and h[tally.overflow] == 49
    (tmp_path / "w.csv").write_text("x,w\n1,0.5\n-1,0.25\n-2,3\n60,1\n")
    command(str(tmp_path / "w.csv"), "--range", "0", "50", "--bins", "5", "-c", "x", "--weights", ":w",
            "-o", str(tmp_path / "w.json"))  # fmt: skip
    w = Hist.load(tmp_path / "w.json")
    assert w.storage == "sum" and w.values(flow=True).tolist() == [3.25, 0.5, 0, 0, 0, 0, 1]
    (h + h).save(tmp_path / "twice.json")
    assert "22" in command("show", str(tmp_path / "twice.json")).stdout


def test_plotting_protocol():
    uhi = pytest.importorskip("uhi.typing.plottable")
    a = samples()
    h = Hist(Regular(10, 0, 1)).fill(a)
    assert isinstance(h, uhi.PlottableHistogram)
    for axis in [*AXES, Category("abc")]:
        assert isinstance(axis, uhi.PlottableAxisGeneric)
    plottable = pytest.importorskip("uhi.numpy_plottable").ensure_plottable_histogram(h)
    np.testing.assert_array_equal(plottable.values(), h.values())
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    drawn = plt.stairs(h.values(), h.axes[0].edges)
    np.testing.assert_array_equal(drawn.get_data().values, h.values())


def test_drawn_by_others():
    hep = pytest.importorskip("mplhep")
    hist = pytest.importorskip("hist")
    h = Hist(Regular(10, 0, 1)).fill(samples())
    np.testing.assert_array_equal(hist.Hist(h).values(), h.values())
    hep.histplot(h)


def test_pictures():
    h = Hist(Regular(1000, 0, 1, name="<x>")).fill(samples())
    text = h._repr_html_()
    assert text.count("<svg") == 1 and "&lt;x&gt;" in text and "<x>" not in text
    two = Hist(Regular(100, 0, 1), Integer(0, 3)).fill(samples(), rng.integers(0, 3, 1000))
    assert two._repr_html_().count("<rect") > 100
    assert "Regular(100, 0, 1)" in repr(two)


def test_wrong_axes():
    for wrong in (lambda: Regular(0, 0, 1), lambda: Regular(3, 1, 0), lambda: Log(3, 0, 1),
                  lambda: Variable([1, 1]), lambda: Integer(3, 3), lambda: Regular(-1, 0, 1),
                  lambda: Log(-1, 1, 2), lambda: Integer(0, 1 << 53)):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()
    for wrong in (lambda: Regular(2.7, 0, 1), lambda: Log(2.0, 1, 2), lambda: Integer(0.5, 3),
                  lambda: Regular("3", 0, 1), lambda: Regular(True, 0, 1)):  # fmt: skip
        with pytest.raises(TypeError, match="integer is expected"):
            wrong()
    assert Regular(np.uint8(3), 0, 1) == Regular(3, 0, 1)
    assert Integer(np.int64(1), np.int16(4)) == Integer(1, 4)
    with pytest.raises(ValueError, match="at most 8"):
        Hist(*[Regular(1, 0, 1)] * 9)
    assert Hist(*[Regular(1, 0, 1)] * 8).fill(*np.full((8, 1), 0.5)).sum() == 1
    with pytest.raises(TypeError):
        Hist(10)
    with pytest.raises(ValueError, match="storage"):
        Hist(Regular(1, 0, 1), storage="median")


def test_a_failed_fill_changes_nothing():
    h = Hist(Regular(3, 0, 1)).fill(samples())
    before = pickle.loads(pickle.dumps(h))

    def stop(done, total):
        raise LookupError

    with pytest.raises(LookupError):
        h.fill(samples(1 << 20), progress=stop)
    assert h == before and tally.Flows(*h.flows) == before.flows


@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_fill_by_name_and_numbers(storage):
    """Samples by the axes' names; a number for all samples, and a weight for all."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.5, 0.4, 300), rng.random(300)
    axes = [tally.Regular(4, 0, 1, name="x", label="length"), tally.Regular(3, 0, 1, name="y")]
    by_order = tally.Hist(*axes, storage=storage).fill(x, y)
    assert tally.Hist(*axes, storage=storage).fill(y=y, x=x) == by_order
    for wrong in ({"x": x}, {"x": x, "y": y, "z": y}):
        with pytest.raises(TypeError, match="by name"):
            tally.Hist(*axes).fill(**wrong)
    with pytest.raises(TypeError, match="by name"):
        tally.Hist(*axes).fill(x, y=y)
    everywhere = tally.Hist(*axes, storage=storage).fill(x, np.full(300, 0.5))
    assert tally.Hist(*axes, storage=storage).fill(x, 0.5) == everywhere
    with pytest.raises(ValueError, match="shape"):
        tally.Hist(*axes).fill(x, y[:5])
    if storage != "count":
        for weight in (2.5, 3, np.float64(-1), np.array(2.5), np.array(3, np.int8)):
            each = tally.Hist(*axes, storage=storage).fill(x, y, weight=np.full(300, float(weight)))
            one = tally.Hist(*axes, storage=storage).fill(x, y, weight=weight)
            np.testing.assert_allclose(one.values(True), each.values(True))
            if storage == "weight":
                np.testing.assert_allclose(one.variances(True), each.variances(True))
            line = tally.Hist(axes[0], storage=storage)
            np.testing.assert_allclose(
                line.fill(x, weight=weight).values(True),
                tally.Hist(axes[0], storage=storage).fill(x, weight=np.full(300, float(weight))).values(True),
            )


def test_axes_by_name():
    h = tally.Hist(tally.Regular(4, 0, 1, name="x", label="length"), tally.Integer(2, 5, name="y"))
    assert h.axes["y"] is h.axes[1] and h.axes.name == ("x", "y") and h.axes.label == ("length", "")
    assert h.axes.size == (4, 3) and h.axes.extent == (6, 5) == h.values(flow=True).shape
    with pytest.raises(ValueError, match="no axis"):
        h.axes["z"]


def test_stack_and_plot():
    h = tally.Hist(tally.Regular(4, 0, 1, name="x"), tally.Integer(0, 3, name="y"))
    h.fill([0.1, 0.6, 0.6, 0.9], [0, 1, 1, 2])
    parts = h.stack("y")
    assert [p.values().tolist() for p in parts] == [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]
    assert parts[0].axes.name == ("x",)
    with pytest.raises(ValueError, match="two or more"):
        parts[0].stack(0)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    drawn = parts[1].plot(ax, color="black")
    assert drawn.get_data().values.tolist() == [0, 0, 2, 0] and ax.get_xlabel() == "x"
    image = h.plot(Figure().add_subplot())
    np.testing.assert_array_equal(np.asarray(image.get_array()).ravel(), h.values().T.ravel())
    with pytest.raises(ValueError, match="one or two"):
        tally.Hist(*[tally.Integer(0, 2)] * 3).plot(ax)


@pytest.mark.parametrize("storage", ["Int64", "Double", "Weight"])
def test_from_boost(storage):
    """With flow bins and names, and back again without loss."""
    bh = pytest.importorskip("boost_histogram")
    rng = np.random.default_rng(5)
    theirs = bh.Histogram(
        bh.axis.Regular(5, 0, 1), bh.axis.Variable([0, 0.5, 2], underflow=False), bh.axis.Integer(0, 4),
        bh.axis.StrCategory(["a", "b"]), bh.axis.Regular(3, 1, 100, transform=bh.axis.transform.log),
        storage=getattr(bh.storage, storage)(),
    )  # fmt: skip
    n = 500
    extra = {"weight": rng.random(n)} if storage != "Int64" else {}
    theirs.fill(
        rng.normal(0.5, 0.5, n), rng.random(n) * 3, rng.integers(-1, 6, n), rng.choice(["a", "b", "c"], n),
        rng.random(n) * 120, **extra,
    )  # fmt: skip
    ours = tally.Hist.from_boost(theirs)
    assert [type(a).__name__ for a in ours.axes] == ["Regular", "Variable", "Integer", "Category", "Variable"]
    assert ours.shape == theirs.shape and np.array_equal(ours.values(), theirs.values())
    assert ours.sum(flow=True) == pytest.approx(np.sum(theirs.values(flow=True)))
    if storage != "Double":
        assert np.array_equal(ours.variances(), theirs.variances())
    again = bh.Histogram(ours)
    assert np.array_equal(again.values(), theirs.values()) and tally.Hist.from_boost(again) == ours
    hist = pytest.importorskip("hist")
    named = tally.Hist.from_boost(hist.Hist.new.Reg(4, 0, 1, name="x", label="length").Int64().fill([0.1, 2]))
    assert named.axes.name == ("x",) and named.flows.over == 1 and named.axes[0].label == "length"
    with pytest.raises(NotImplementedError, match="uneven edges do not grow"):
        tally.Hist.from_boost(bh.Histogram(bh.axis.Variable([0, 1], growth=True)))


def test_axes_are_a_histograms_own():
    """Names and labels of one axis given to two, or kept by a projection; edges that would not be followed."""
    axis = tally.Regular(4, 0, 1)
    one, other = tally.Hist(axis, tally.Integer(0, 3)), tally.Hist(axis)
    part, bins = one.project(0), one[1:, :]
    part.axes[0].label = bins.axes[1].label = other.axes[0].name = "mine"
    assert {*one.axes.label, *one.axes.name, axis.name, axis.label} == {""}
    grown = tally.Hist(tally.Regular(2, 0, 1, growth=True), tally.Category([], growth=True)).fill(3.5, "a")
    for h in (one, grown, grown.copy(), pickle.loads(pickle.dumps(one)), part):
        for a in h.axes:
            with pytest.raises(ValueError, match="read-only"):
                a.edges[0] = -1
    assert one.to_numpy()[1].flags.writeable


def test_texts_that_are_saved(tmp_path):
    """All of them come back, or none is written."""
    def named(text):
        axes = tally.Regular(2, 0, 1, name=text), tally.Regular(2, 0, 1, label=text), tally.Category([text, "?"])
        return tally.Hist(*axes, name=text, label=text).fill(0.2, 0.3, "?")

    path = tmp_path / "h.json"
    for text in ("a\\u0000", 'é"\\/\n', "\x01\x7f", "\U0001f600"):
        h = named(text)
        h.save(path)
        back = tally.Hist.load(path)
        assert back == h and (back.name, back.label) == (text, text)
        assert (back.axes.name, back.axes.label) == (h.axes.name, h.axes.label)
    path.unlink()
    for text in ("a\0b", "\ud800"):
        for part in (named(text), named(text)[..., 1], named(text)[0, 0, :], named(text)[0, :, 1], named(text)[:, 0, 1]):
            with pytest.raises(ValueError):
                part.save(path)
    assert not path.exists()
