# SPDX-License-Identifier: Apache-2.0
"""What people hold their samples in: pandas, awkward, masked arrays, files larger than memory."""

import subprocess
import sys

import numpy as np
import pytest

import libtally as tally
from libtally import Hist, Regular

EDGES = [0, 1, 2, 3, 4]


def counted(a, **keywords):
    """Counts, and how many were NaN and null."""
    counts, _, flows = tally.histogram(a, EDGES, flow="count", **keywords)
    return counts.tolist(), flows.nan, flows.masked


def test_masked_arrays():
    """What is masked is not counted: as a sample, a weight, a label or in `where`."""
    a = np.ma.masked_array([0.5, 1.5, 2.5, 99], mask=[0, 1, 0, 0])
    assert counted(a) == ([1, 0, 1, 0], 0, 1)
    assert counted(np.ma.masked_array(a.data)) == ([1, 1, 1, 0], 0, 0)
    assert tally.histogram(a, 2)[1].tolist() == [0.5, 49.75, 99]
    assert tally.histogram([1, 1, 1, 2], EDGES, weights=a)[0].tolist() == [0, 3, 99, 0]
    assert tally.bincount(np.ma.masked_array([1, 5, 1], mask=[0, 1, 0])).tolist() == [0, 2]
    assert tally.histogram2d(a, a.data, [EDGES, EDGES])[0].sum() == 2
    assert tally.histogram([1, 2, 1, 1], EDGES, by=np.ma.masked_array([7, 8, 9, 9], a.mask))[2].tolist() == [7, 9]
    assert Hist(Regular(4, 0, 4)).fill(a).flows == (0, 1, 0, 1)
    with pytest.raises(ValueError, match="nulls"):
        tally.digitize(a, EDGES)


def test_pandas():
    pd = pytest.importorskip("pandas")
    assert counted(pd.Series([0.5, 1.5, None, 3.5])) == ([1, 1, 0, 1], 1, 0)
    for null in (
        pd.Series([1, 2, None], dtype="Int64"), pd.Series([1, 2, None], dtype="category"),
        pd.Series(pd.array([1, 2, None], dtype="Int64")).astype("category"),
    ):  # fmt: skip
        assert counted(null) == ([0, 1, 1, 0], 0, 1)
        assert tally.bincount(null).tolist() == [0, 1, 1]
        assert Hist(Regular(4, 0, 4)).fill(null).flows.masked == 1
    with pytest.raises(TypeError):
        tally.histogram(pd.Series(["a", "b"], dtype="category"), EDGES)
    labels = pd.Series(["x", "y", "x", None])
    for by in (labels, labels.astype("category"), labels.astype("string"), labels.astype(object)):
        counts, _, groups = tally.histogram([0.5, 1.5, 2.5, 2.5], EDGES, by=by)
        assert groups.tolist() == ["x", "y"] and counts.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5], "b": [1, 2, 3]})
    expected = np.histogramdd(frame.to_numpy(), [EDGES, EDGES])[0]
    for f in (frame, frame.convert_dtypes(), frame.astype({"b": "category"})):
        np.testing.assert_array_equal(tally.histogramdd(f, [EDGES, EDGES])[0], expected)
        np.testing.assert_array_equal(tally.histogram2d(f.a, f.b, [EDGES, EDGES])[0], expected)
    assert tally.histogram(frame.a, EDGES, where=frame.b > 1)[0].tolist() == [0, 1, 1, 0]


def test_dates_of_pandas():
    pd = pytest.importorskip("pandas")
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-06-01", None, "2021-03-01"]))
    edges = pd.to_datetime(["2020-01-01", "2020-03-01", "2021-01-01", "2022-01-01"])
    zone = "America/New_York"
    for d, e in (
        (dates, edges), (dates, edges.to_numpy()), (pd.DatetimeIndex(dates), edges),
        (dates.dt.tz_localize(zone), edges.tz_localize(zone)),
    ):  # fmt: skip
        assert tally.histogram(d, e)[0].tolist() == [1, 1, 1]
    spans = dates.dropna() - dates[0]
    assert tally.histogram(spans, pd.to_timedelta([0, 100, 1000], unit="D"))[0].tolist() == [1, 2]


def test_awkward():
    """Lists of several lengths are counted by their elements."""
    ak = pytest.importorskip("awkward")
    ragged = ak.Array([[1, 2, 3], [], [2.5]])
    assert counted(ragged) == ([0, 1, 2, 1], 0, 0)
    assert counted(ak.Array([1, None, 2.0])) == ([0, 1, 1, 0], 0, 1)
    assert counted(ak.Array([[1, None], [], [2.0]])) == ([0, 1, 1, 0], 0, 1)
    assert Hist(Regular(4, 0, 4), storage="weight").fill(ragged, weight=ragged).values().tolist() == [0, 1, 4.5, 3]
    whole = ak.Array(np.arange(6.0).reshape(2, 3))
    assert tally.histogram(whole, EDGES, axis=1)[0].tolist() == [[1, 1, 1, 0], [0, 0, 0, 2]]
    assert Hist(tally.Category(["a", "b"])).fill(ak.Array(["a", "b", "b"])).values().tolist() == [1, 2]
    with pytest.raises(TypeError):
        tally.histogram(ak.Array([{"x": 1}]), EDGES)


LARGE = """
import resource, sys
import numpy as np, libtally as tally
a = np.memmap(sys.argv[1], np.uint8, "r")
x = np.memmap(sys.argv[1], np.float32, "r").reshape(-1, 2)
edges = [np.array([-1.0, 1, 2]), np.array([0.0, 3])]
h = tally.Hist(tally.Regular(4, 0, 1))
tally.histogram(x[:9], 4, (0, 1)), h.fill(x[:9, 0]), tally.bincount(a[:9])  # threads and plans are made
used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (used + (48 << 20),) * 2)
try:
    np.ones(64 << 20, np.uint8)
    sys.exit("memory is not limited")
except MemoryError:
    pass
assert tally.bincount(a).tolist() == [a.size]
assert tally.histogram(a, 4, (0, 4))[0][0] == a.size and tally.histogram(x)[0].sum() == x.size
assert tally.histogram(x, 4, (0, 1), axis=0)[0].tolist() == [[len(x), 0, 0, 0]] * 2
assert tally.histogramdd(x, edges)[0].sum() == len(x)
assert h.reset().fill(x[:, 0]).sum() == len(x)
"""


def test_files_larger_than_memory(tmp_path):
    """A file that is mapped is read where it lies: 128 MiB of it by a process that may take 48 MiB."""
    with open(tmp_path / "large", "wb") as file:
        file.truncate(128 << 20)
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(tmp_path / "large")], capture_output=True, text=True
    )
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("lender", ["torch", "jax"])
def test_answers_in_kind(lender):
    """What lies in torch's or JAX's memory on the host is answered by their arrays."""
    if lender == "torch":
        torch = pytest.importorskip("torch")
        make, kind = torch.tensor, torch.Tensor
    else:
        jax = pytest.importorskip("jax")
        make, kind = jax.numpy.asarray, jax.Array
    a = np.float32([[0.5, 1.5], [1.25, -1]])
    x, edges = make(a), make(np.float32([0, 1, 2]))
    for bins, right in ((edges, False), ([0.0, 1, 2], True), ([2.0, 1, 0], False)):
        found = tally.digitize(x, bins, right)
        assert isinstance(found, kind)
        np.testing.assert_array_equal(np.asarray(found), np.digitize(a, np.asarray(bins), right))
    for found in (
        tally.histogram(x, 3), tally.histogram(x, 3, (0, 1)), tally.histogram(x, edges),
        tally.histogram2d(x[0], x[1], 2)[:2], [tally.histogram_bin_edges(x, 4)],
        [tally.median(x), tally.quantile(x, [0.25, 0.5], axis=1)],
    ):  # fmt: skip
        assert all(isinstance(f, kind) for f in found)
    np.testing.assert_array_equal(np.asarray(tally.histogram(x, 3)[0]), np.histogram(a, 3)[0])
    assert isinstance(tally.bincount(make(np.int32([1, 1, 3]))), kind)
    assert Hist(Regular(4, 0, 4, growth=True)).fill(x[0]).sum() == 2
    if lender == "torch":
        half = x.bfloat16()
        np.testing.assert_array_equal(tally.digitize(half, edges).numpy(), np.digitize(a, [0, 1, 2]))
        assert Hist(Regular(2, 0, 2), storage="mean").fill(half[0], sample=half[1]).values().tolist() == [1.25, -1]
