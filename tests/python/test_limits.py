# SPDX-License-Identifier: Apache-2.0
"""Integers beyond 2^53, numbers of bins beyond 2^31, nothing at all, and Ctrl-C anywhere."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from cases import run
from hypothesis import given
from hypothesis import strategies as st

import libtally as tally

NOW = 1_700_000_000_000_000_000  # nanoseconds since 1970


def holds(edges, a):
    return int(edges[0]) <= int(a.min()) and int(a.max()) <= int(edges[-1])


@given(st.data())
def test_large_integers_without_a_range(data):
    """Every sample is in a bin, by the edges that are returned."""
    dtype = data.draw(st.sampled_from(["i8", "u8"]))
    info = np.iinfo(dtype)
    around = data.draw(st.sampled_from([NOW, 2**53, 2**63 - 2000, info.max - 2000, info.min + 2000]))
    around = min(max(around, info.min + 2000), info.max - 2000)
    close = st.integers(-2000, 2000).map(lambda i: around + i)
    far = st.integers(max(info.min, -(2**62)), info.max)
    values = data.draw(st.lists(st.one_of(close, far) if data.draw(st.booleans()) else close, min_size=1, max_size=20))
    a = np.array(values, dtype)
    n = data.draw(st.integers(1, 5))
    for function, arguments in [
        (tally.histogram, (a, n)), (tally.histogram, (a, "sqrt")),
        (tally.histogramdd, ([a, a[::-1]], n)), (tally.histogram2d, (a, a.astype(float), n)),
        (tally.histogramdd, ([a, np.zeros(len(a), "f4")], n)),
    ]:  # fmt: skip
        answer = run(function, *arguments)
        if isinstance(answer, Exception):
            assert "Too many bins" in str(answer)  # than floats between the extremes
            continue
        assert answer[0].sum() == len(a), (function, a)
        first = answer[1][0] if function is tally.histogramdd else answer[1]
        assert holds(first, a)
    counts, _, flows = tally.histogramdd([a, a], n, flow="count")[:3]
    assert counts.sum() == len(a) and sum(flows) == 0
    assert tally.histogramdd([a], n, flow="raise")[0].sum() == len(a)


def test_a_range_of_large_integers_is_the_callers():
    """Samples outside are not counted, even if the range is of NumPy's integers."""
    a = NOW + np.array([-5000, 0, 4096, 9000])
    for kind in (int, np.int64, float):
        counts, _, flows = tally.histogram(a, 2, (kind(NOW), kind(NOW + 4096)), flow="count")
        assert counts.sum() == 2 and (flows.under, flows.over) == (1, 1)


def test_edges_that_hold_an_end_that_rounds_to_2_53():
    a = np.array([0, 2**53 + 1])
    counts, edges = tally.histogram(a, 3)
    assert counts.tolist() == [1, 0, 1] and holds(edges, a)


def test_dask_holds_the_extremes():
    da = pytest.importorskip("dask.array")
    import libtally.dask

    a = NOW + np.random.default_rng(1).integers(0, 10**12, 1000)
    counts, edges = tally.dask.histogram(da.from_array(a, chunks=100), 7)
    assert counts.compute().sum() == 1000 and holds(edges, a)


@pytest.mark.parametrize("by", [[], np.empty(0, int), np.empty(0, "U3")])
def test_groups_of_nothing(by):
    counts, edges, groups = tally.histogram(np.empty(0), 3, (0, 1), by=by)
    assert counts.shape == (0, 3) and len(groups) == 0
    counts, edges, groups = tally.histogramdd([[], []], 3, by=by)
    assert counts.shape == (0, 3, 3) and len(groups) == 0


def test_bincount_of_nothing_counted():
    """No bins, in the shape and with the further answers that were asked for."""
    x, no = np.array([[1, 2, 3]]), np.zeros((1, 3), bool)
    assert tally.bincount(x, axis=1, where=no).shape == (1, 0) and tally.bincount(x, axis=0, where=no).shape == (3, 0)
    assert tally.bincount(x[:, :0], axis=1).shape == (1, 0)
    counts, groups, flows = tally.bincount(x[0], where=no[0], by=["a", "b", "a"], flow="count")
    assert counts.shape == (2, 0) and groups.tolist() == ["a", "b"] and flows == (0, 0, 0, 3)
    counts, groups = tally.bincount(x[0], [1.0, 2, 3], where=no[0], by=[5, 5, 5])
    assert counts.shape == (1, 0) and counts.dtype == float
    counts, groups = tally.bincount(x[0, :0], by=[])
    assert counts.shape == (0, 0) and not len(groups)
    with pytest.raises(ValueError, match="out"):
        tally.bincount(x[0], where=no[0], out=np.zeros(4, int))


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("bincount", (np.array([2**45]),)),
        ("bincount", (np.array([3]), None, 2**45)),
        ("bincount", (np.array([2**63], np.uint64),)),
        ("histogram", (np.array([1.0, 2]), 2**45)),
        ("histogram", (np.array([1.0, 2]), 2**45, (0.0, 1.0))),
        ("histogramdd", (np.array([[1.0, 2, 3]]), [2**16, 2**16, 2**16])),
        ("histogram2d", (np.array([1.0, 2]), np.array([1.0, 2]), 2**23)),
    ],
)
def test_bins_by_the_thousand_million_are_numpys(name, arguments):
    """More than 2^31 of them; no memory holds these."""
    theirs = run(getattr(np, name), *arguments)
    assert isinstance(theirs, Exception)
    ours = run(getattr(tally, name), *arguments)
    assert type(ours) is type(theirs) and str(ours) == str(theirs)


INTERRUPTED = """
import random, signal, sys
import numpy as np, libtally as tally

class Enough(KeyboardInterrupt):
    pass

def stop(*_):
    raise Enough

random.seed(int(sys.argv[1]))
signal.signal(signal.SIGALRM, stop)
a = np.random.default_rng(0).random(3000)
heard = 0
for rule in ["auto", "fd", "scott", "stone"] * 60:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 2e-4))
        tally.histogram_bin_edges(a, rule)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Enough:
        heard += 1
print(heard)
"""


def test_control_c_in_a_bin_rule():
    """Whenever the signal comes, what it raises comes out, and nothing else."""
    seed = os.environ.get("SEED", "1")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, seed], capture_output=True, text=True, timeout=100
    )
    # (What CPython's weak references swallow, CPython says.)
    assert not done.returncode and "ctypes" not in done.stderr, f"SEED={seed}\n{done.stderr}"
    assert int(done.stdout) > 20


def test_control_c_stops_a_long_bin_rule():
    """While the library reads."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    a = np.random.default_rng(0).random(1 << 22)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                tally.histogram_bin_edges(a, "fd")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("end", [2**54, -(2**54)])
@pytest.mark.parametrize("storage", ["count", "sum", "weight"])
def test_integers_after_a_closed_end(end, storage):
    """Beyond 2^53 there are integers between an end and the next float64: they are over, or refused."""
    axis = tally.Variable([end - 64, end - 32, end])
    x = np.array([end - 64, end, end + 1, end + 2, end - 1])
    h = tally.Hist(axis, storage=storage)
    if storage == "count":
        assert h.fill(x).values(flow=True).tolist() == [0, 1, 2, 2]
    else:
        with pytest.raises(NotImplementedError, match="convert"):
            h.fill(x)
        assert not h.values(flow=True).any()
    with pytest.raises(NotImplementedError, match="convert"):
        tally.Hist(axis, tally.Regular(99, 0, 1)).fill(x, np.full(5, 0.5))
