# SPDX-License-Identifier: Apache-2.0
"""Means in a `Hist`: the compiled part fills as the package's Python does, in every size and layout."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from cases import axis_of, run

import libtally as tally
from libtally import _compiled

MEANS = ["mean", "weighted_mean"]
HERE = pytest.mark.skipif(_compiled.fast is None, reason="without the compiled part there is one way")


def samples(rng, kind, n):
    x = rng.normal(20, 15, n)
    if rng.random() < 0.3:  # on edges
        x = np.round(x)
    if n and kind[0] == "f" and rng.random() < 0.3:
        x[rng.integers(0, n, 3)] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    return np.abs(x).astype(kind) if kind[0] in "iu" else x.astype(kind)


def same_cells(ours, theirs):
    assert ours.flows == theirs.flows
    for name in ("sums", "squares"):
        a, b = getattr(ours._cells, name), getattr(theirs._cells, name)
        assert (a is b is None) or np.array_equal(a, b), name
    for name in ("means", "deltas"):
        a, b = getattr(ours._cells, name), getattr(theirs._cells, name)
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-9, err_msg=name)


@HERE
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("storage", MEANS)
def test_fill(seed, storage, monkeypatch):
    """Several fills on one to three axes: few samples go to their cells, many by way of the library."""
    rng = np.random.default_rng(seed)
    quickly, ways = 0, set()
    for _ in range(25):
        axes = [axis_of(rng, tally.Regular(40, 0, 40)) for _ in range(int(rng.choice([1, 1, 2, 3])))]
        while np.prod([len(a) + 2 for a in axes]) > 1e6:
            axes = axes[1:]
        quick, slow = tally.Hist(*axes, storage=storage), tally.Hist(*axes, storage=storage)
        for _ in range(3):
            n = int(rng.choice([0, 1, 2, 7, 511, 512, 1025, 5000, 20000]))
            given = [samples(rng, rng.choice(["f4", "f8", "i4", "u1", "i8"]), n) for _ in axes]
            if rng.random() < 0.2:
                given = [np.stack([x, x], 1)[:, 0] for x in given]
            more = {"sample": samples(rng, rng.choice(["f4", "f8", "i2", "i8"]), n)}
            more["sample"] = np.nan_to_num(more["sample"], posinf=1, neginf=2)
            if storage == "weighted_mean" and rng.random() < 0.7:
                more["weight"] = rng.integers(int(rng.choice([-3, 0, 0])), 9, n).astype(rng.choice(["f4", "f8", "i4"]))
            elif storage == "weighted_mean" or rng.random() < 0.05:
                more["weight"] = float(rng.integers(0, 3))
            with monkeypatch.context() as patched:
                patched.setattr(_compiled, "fast", None)
                theirs = run(slow.fill, *given, **more)
            ours = run(quick.fill, *given, **more)
            assert type(ours) is type(theirs) and (not isinstance(ours, Exception) or str(ours) == str(theirs))
            same_cells(quick, slow)
        quickly += bool(quick._filler)
        ways |= {n > 2048 + 4 * np.prod([len(a) for a in axes])}
    assert quickly > 10 and ways == {False, True}


@HERE
@pytest.mark.parametrize("closed", [False, True])
def test_next_to_edges(closed):
    """Every edge and its neighbours are in the cells that counts have them in."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        bins = int(rng.choice([1, 2, 3, 7, 10, 100, 1000]))
        lo = float(rng.choice([0, 1, -1, 1e16, -1e300, 1e-300, 0.1, -3.7]))
        hi = lo + float(rng.choice([1, 3, 0.3, 1e-3, 1e9, 1e308, *(abs(np.spacing(lo)) * k for k in (64, 2000))]))
        try:
            axis = tally.Regular(bins, lo, hi, closed=closed)
        except ValueError:  # too narrow
            continue
        near = [axis.edges, *(np.nextafter(axis.edges, end) for end in (-np.inf, np.inf)), axis.centers]
        x = np.concatenate([*near, [np.inf, -np.inf, np.finfo(float).max, np.finfo(float).min]])
        counts = tally.Hist(axis).fill(x)
        for size in (2 if bins < 200 else 37, 600):  # one that is unsure has all of a call looked for
            means = tally.Hist(axis, storage="mean")
            for some in np.array_split(x, len(x) // size + 1):
                means.fill(some, sample=np.ones(len(some)))
            assert np.array_equal(means._cells.sums, counts._cells.sums) and means.flows == counts.flows


@HERE
def test_leaves_what_it_cannot_add():
    """Cells of other layouts, means of no values, weights that may cancel."""
    h = tally.Hist(tally.Regular(4, 0, 1), storage="weighted_mean").fill([0.5], sample=[1])
    good = np.zeros((4, 6))
    x = ([0.5],)
    for cells in ([*good[:3], good[3, ::-1]], [*good[:3], np.zeros(12)[::2]], [*good[:3], np.zeros(5)], good[:3]):
        assert _compiled.fast.fill(h._filler, tuple(cells), x, 1.0, [2.0]) is None
    for weight, values in ((1.0, None), ([-1.0], [2.0]), ([np.nan], [2.0]), (-1.0, [2.0]), (1.0, [2.0, 3.0])):
        assert _compiled.fast.fill(h._filler, tuple(good), x, weight, values) is None
    assert not good.any()
    assert _compiled.fast.fill(h._filler, tuple(good), x, 1.0, [2.0]) is False and good[0, 3] == 1


@HERE
@pytest.mark.parametrize("storage", ["count", "weight", "mean"])
@pytest.mark.parametrize("axes, outside_first", [(1, False), (2, False), (2, True)])
def test_large_arrays_and_control_c(storage, axes, outside_first):
    """Beyond 64 MiB a call may be stopped; then the histogram is as it was. The first samples say how it is filled."""
    n = (1 << 23) + 5
    x = (np.arange(n) % 1000 + 900 * outside_first) % 1000 * 0.001
    name = {"count": None, "weight": "weight", "mean": "sample"}[storage]

    def fill(h, x):
        return h.fill(*[x] * axes, **({name: x} if name else {}))

    h, part = (tally.Hist(*[tally.Regular(7, 0, 0.9)] * axes, storage=storage) for _ in range(2))
    fill(h, x)
    for some in np.array_split(x, 4):
        fill(part, some)
    assert h._filler and h.flows == part.flows
    for a, b in zip(h._cells, part._cells):
        assert (a is b is None) or np.allclose(a, b, rtol=1e-9)
    before, kept = signal.signal(signal.SIGINT, signal.default_int_handler), h.copy()
    x = np.concatenate([x] * 4)
    timer = threading.Timer(0.005, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            fill(h, x)
            time.sleep(5)
            pytest.fail("the call was not stopped")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert h == kept


@pytest.mark.parametrize("storage", MEANS)
def test_copies_and_cells(storage):
    """What is made of a histogram is filled as it is, whatever its arrays' layout."""
    x, v = np.random.default_rng(1).random((2, 300)) * 10
    h = tally.Hist(tally.Regular(5, 0, 8), tally.Integer(0, 9), storage=storage).fill(x, v, sample=v)
    for made in (h.copy(), h + h, h[1:, 2:], h.project(1), h.rebin(5, 0)):
        given = (x, v)[2 - made.ndim :]
        twice = made.copy().fill(*given, sample=x)
        again = tally.Hist(*made.axes, storage=storage).fill(*given, sample=x)
        same_cells(twice, made + again)


@pytest.mark.parametrize("given", [{"sample": [1j]}, {"sample": [1], "weight": [1j]}], ids=["sample", "weight"])
def test_complex_numbers_are_refused(given):
    with pytest.raises(TypeError, match="complex"):
        tally.Hist(tally.Regular(2, 0, 1), storage="weighted_mean").fill([0.5], **given)
