# SPDX-License-Identifier: Apache-2.0
"""Where samples, weights, masks and labels may lie: views of every kind, and who may write there."""

import itertools

import numpy as np
import pytest
from cases import Lender, OnlyDLPack, run, same, views
from hypothesis import given
from hypothesis import strategies as st

import libtally as tally

WHOLE = st.integers(0, 12)


def beside(draw, a, dtype, values):
    """An array in the shape of a, or one that is broadcast to it."""
    shape = a.shape
    if draw(st.booleans()):
        shape = shape[draw(st.integers(0, len(shape))) :]
        shape = tuple(draw(st.sampled_from([1, n])) for n in shape)
    return draw(views(dtypes=[dtype], values=values, shape=shape))


@given(st.data())
def test_views_and_masks(data):
    """Counts, extremes and rules of what `where` leaves, from any view, as of a copy of it."""
    a = data.draw(views(special=False, dims=3))
    where = beside(data.draw, a, "?", st.booleans())
    kept = np.array(a)[np.broadcast_to(where, a.shape)]
    for bins, range_ in [(7, (-3, 9)), (np.array([-2.0, 0, 1, 5]), None)]:
        counts, edges, flows = tally.histogram(a, bins, range_, where=where, flow="count")
        same((counts, edges), run(np.histogram, kept, bins, range_))
        assert counts.sum() + sum(flows) == a.size and flows.masked == a.size - kept.size
    if kept.size:
        same(run(tally.histogram, a, 5, where=where), run(np.histogram, kept, 5))
        if a.dtype.kind in "iu":
            rules = "sturges", "rice", "sqrt"
            for rule in rules:
                same(run(tally.histogram_bin_edges, a, rule, where=where),
                     run(np.histogram_bin_edges, kept, rule))  # fmt: skip


@given(st.data())
def test_views_along_axes(data):
    a = data.draw(views(special=True, dims=3, dtypes=["u1", "i4", "f4", "f8"]))
    w = data.draw(views(dtypes=["f8", "i8", "u1"], values=WHOLE, shape=a.shape))
    axes = tuple(d for d in range(a.ndim) if data.draw(st.booleans()))
    counts, edges, flows = tally.histogram(a, 5, (-2, 8), axis=axes, weights=w, flow="count")
    kept = [d for d in range(a.ndim) if d not in axes]
    assert counts.shape == (*(a.shape[d] for d in kept), 5)
    for at in itertools.product(*(range(a.shape[d]) for d in kept)):
        part = [slice(None)] * a.ndim
        for d, i in zip(kept, at):
            part[d] = i
        part = tuple(part)
        x, y = np.array(a[part]), np.array(w[part], float)
        np.testing.assert_array_equal(counts[at], np.histogram(x, 5, (-2, 8), weights=y)[0])
        assert np.asarray(flows.under)[at] == (x < -2).sum()
        assert np.asarray(flows.nan)[at] == (x != x).sum()


@given(st.data())
def test_views_of_labels(data):
    a = data.draw(views(dims=2, dtypes=["u1", "i4", "f8"], values=WHOLE))
    some = data.draw(st.sampled_from([[0, 1, 2, 3], [0, 100], [5]]))
    labels = data.draw(views(dtypes=["u1", "i8", "f4"], shape=a.shape, values=st.sampled_from(some)))
    if data.draw(st.booleans()):
        names = np.array([f"{i:03}" for i in range(101)])
        labels = np.asarray(names[labels.astype(int)])
    counts, _, groups = tally.histogram(a, 6, (0, 12), by=labels)
    np.testing.assert_array_equal(groups, np.unique(labels))
    assert counts.shape == (len(groups), 6)
    for row, group in zip(counts, groups):
        at = np.array(labels) == group
        np.testing.assert_array_equal(row, np.histogram(np.array(a)[at], 6, (0, 12))[0])


def test_repeated_without_a_copy():
    """A thousand million times one number: neither read past its end nor written out."""
    a = np.broadcast_to(np.float64(3), (10**9,))
    counts, edges, flows = tally.histogram(a, 4, flow="count")
    assert counts.tolist() == [0, 0, 10**9, 0] and edges[0] == 2.5 and sum(flows) == 0
    assert tally.histogram(a, 4, (0, 1), flow="count")[2].over == 10**9
    w = np.broadcast_to(np.float32(0.5), a.shape)
    assert tally.histogram(a, 4, weights=w)[0].sum() == 5e8
    assert tally.bincount(a.astype(np.uint8)[:0]).tolist() == []
    assert tally.bincount(np.broadcast_to(np.int16(2), a.shape)).tolist() == [0, 0, 10**9]
    joint, _ = tally.histogramdd([a, np.broadcast_to(np.int8(1), a.shape)], 2)
    assert joint.tolist() == [[0, 0], [0, 1e9]]
    seen = []
    tally.histogram(a, 4, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (10**9, 10**9)


def test_repeated_in_a_histogram_to_keep():
    """What was in it before is there once."""
    one = np.broadcast_to(np.float64(0.3), (1000,))
    weight = np.broadcast_to(np.float64(3), one.shape)
    h = tally.Hist(tally.Regular(4, 0, 1), storage="weight")
    for times in (1, 2, 3):
        h.fill(one, weight=weight)
        assert h.values()[1] == 3000 * times and h.variances()[1] == 9000 * times
    counts = tally.Hist(tally.Regular(4, 0, 1))
    for times in (1, 2, 3):
        counts.fill(one).fill(one + 1)
        assert counts.values()[1] == 1000 * times and counts.flows.over == 1000 * times


def test_meshgrid():
    far = np.arange(-1000.0, 1000)
    x, y = np.meshgrid(far[1000:1007], far[997:1002], copy=False)
    for a in (x, y, x.T, y[::-1]):
        same(tally.histogram(a, 6), np.histogram(np.array(a), 6))
        same(tally.histogram(a, "auto"), np.histogram(np.array(a), "auto"))
    same(tally.histogram2d(x.ravel(), y.ravel()), np.histogram2d(x.ravel(), y.ravel()))


def test_xarray():
    xr = pytest.importorskip("xarray")
    x, y = xr.broadcast(
        xr.DataArray(np.arange(4.0), dims="x"), xr.DataArray(np.arange(5, 8), dims="y")
    )
    for a in (x, y):
        same(tally.histogram(a), np.histogram(np.array(a)))
        same(tally.histogram(a, "sqrt"), np.histogram(np.array(a), "sqrt"))
        same(tally.bincount(a.values.ravel().astype(int)), np.bincount(np.array(a).ravel().astype(int)))


@given(st.data())
def test_dlpack_views(data):
    a = data.draw(views(dtypes=["u1", "i4", "f8"], special=False))
    try:
        a.__dlpack__()
    except BufferError:  # what NumPy does not lend: read-only, foreign byte order
        a = a.astype(a.dtype.newbyteorder("="))
    same(run(tally.histogram, OnlyDLPack(a), 5), run(np.histogram, np.array(a), 5))


EXPANDED = [
    ((7, 5), (0, 1), 0), ((5, 7), (1, 0), 0), ((9,), (0,), 2), ((3, 4, 5), (0, 0, 1), 0), ((2, 3), (0, 0), 1),
    ((5, 2, 3), (1, 0, 0), 0), ((5, 6), (-1, 0), 4), ((1, 4), (0, 0), 3),
]  # fmt: skip


@pytest.mark.parametrize("shape, strides, offset", EXPANDED)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "bf16"])
def test_lent_expanded(dtype, shape, strides, offset):
    """What another library repeats by strides of 0; behind its five numbers lie others."""
    numbers = np.array([0, 1, 2, 3, 4] + [99] * 200, "f4")
    bf16 = dtype == "bf16"
    buffer = (numbers.view("u4") >> 16).astype("u2") if bf16 else numbers.astype(dtype)
    x = Lender(buffer, shape, strides, offset, bf16)
    steps = [4 * s for s in strides]
    a = np.lib.stride_tricks.as_strided(numbers[offset:], shape, steps).copy()
    numbered = np.arange(a.size).reshape(shape)
    for keywords in ({}, {"weights": np.broadcast_to(2.0, shape)}, {"where": numbered % 3 > 0},
                     {"weights": numbered}):  # fmt: skip
        w = keywords.get("weights", np.ones(shape)) * keywords.get("where", True)
        counts = tally.histogram(x, 4, (0, 4), **keywords)[0]
        np.testing.assert_array_equal(counts, np.histogram(a, 4, (0, 4), weights=w)[0])
    counts, edges = tally.histogram(x, 4)
    np.testing.assert_array_equal(counts, np.histogram(a, 4)[0])
    np.testing.assert_array_equal(edges, np.histogram(a, 4)[1])
    along = tally.histogram(x, 4, (0, 4), axis=-1)[0]
    for row, values in zip(along.reshape(-1, 4), a.reshape(-1, shape[-1])):
        np.testing.assert_array_equal(row, np.histogram(values, 4, (0, 4))[0])
    weighted = tally.histogram(np.zeros(shape), 1, (0, 1), weights=x)[0]
    np.testing.assert_array_equal(weighted, [a.sum()])


def test_torch_expanded():
    torch = pytest.importorskip("torch")
    a = torch.arange(5.0)
    for x in (a.expand(7, 5), a[:, None].expand(5, 3), torch.tensor(2.0).expand(9)):
        counts, edges = tally.histogram(x, 4)
        theirs = np.histogram(np.array(x), 4)
        np.testing.assert_array_equal(counts.numpy(), theirs[0])
        np.testing.assert_array_equal(edges.numpy(), theirs[1])
        wide = tally.histogram(x.to(torch.bfloat16), 4, (0, 4))[0]
        np.testing.assert_array_equal(wide.numpy(), np.histogram(np.array(x), 4, (0, 4))[0])
    half = a.to(torch.bfloat16)
    assert tally.histogram(half, 2, weights=half)[0].tolist() == [1, 9]


# ---- the caller's arrays are read only ----


@pytest.mark.parametrize("masks", [1, 2, 3, 4])
def test_nothing_of_the_callers_is_written(masks):
    """Nulls of several columns and `where` together."""
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(masks)
    n, columns = 200, masks - 1 or 1
    null = [rng.random(n) < 0.2 for _ in range(columns)]
    values = [rng.integers(0, 9, n).astype(float) for _ in range(columns)]
    sample = [pa.array(v, mask=m) for v, m in zip(values, null)]
    where = rng.random(n) < 0.7
    before = where.copy()
    counts, _ = tally.histogramdd(sample, 3, where=where)
    np.testing.assert_array_equal(where, before)
    kept = where & ~np.logical_or.reduce(null)
    same(counts, np.histogramdd([v[kept] for v in values], 3)[0])


def test_arguments_are_as_they_were():
    rng = np.random.default_rng(3)
    a, w = rng.integers(0, 9, (4, 50)), rng.random((4, 50))
    given = {"weights": w, "where": w > 0.5, "by": a % 3}
    edges = np.array([-np.inf, 0, 3, 3, np.inf])
    before = [x.copy() for x in (a, edges, *given.values())]
    tally.histogram(a, edges, **given)
    tally.histogram(a, 4, **given)
    tally.histogramdd([a[0], w[0]], [edges, edges], weights=w[1], where=w[2] > 0.5)
    tally.bincount(a[0], w[0], where=w[1] > 0.5)
    tally.digitize(a, np.arange(5))
    tally.Hist(tally.Regular(3, 0, 1), storage="weight").fill(w[0], weight=a[0], where=w[1] > 0.2)
    for x, y in zip((a, edges, *given.values()), before):
        np.testing.assert_array_equal(x, y)


def test_nothing_is_never_repeated():
    """No weights for no samples: a lender of device memory has no address for them."""
    samples, weights = (tally._arrays.take(np.empty(0, np.float32)) for _ in range(2))
    weights.pointer, weights.strides = 0, (0,)
    view = tally._count.Layout([samples], [weights]).view(1, 0)
    assert (view.rows * view.columns, view.data) == (0, None)
