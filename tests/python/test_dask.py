# SPDX-License-Identifier: Apache-2.0
"""Dask arrays, on a real scheduler with worker processes."""

import math
import os
import signal

import numpy as np
import pytest

import libtally as tally

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
import libtally.dask  # noqa: E402
from libtally import _chunk_quantiles  # noqa: E402

SEED = int(os.environ.get("SEED", 9))
ROUNDS = int(os.environ.get("EXAMPLES", 6))
rng = np.random.default_rng(SEED)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=2, processes=True, dashboard_address=":0"
    ) as cluster, distributed.Client(cluster) as client:
        yield client


def test_workers_are_processes(client):
    pids = client.run(os.getpid)
    assert len(set(pids.values())) == 3 and os.getpid() not in pids.values()


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
@pytest.mark.parametrize("chunks", [1000, 777, 40_000])
def test_histogram(client, dtype, chunks):
    a = (rng.random(20_000) * 200).astype(dtype)
    x = da.from_array(a, chunks=chunks)
    for bins, range_ in [(10, None), (33, (5, 99)), ([0, 1, 7.5, 100], None)]:
        counts, edges = tally.dask.histogram(x, bins, range_)
        ours, theirs = tally.histogram(a, bins, range_)
        np.testing.assert_array_equal(edges, theirs)
        found = counts.compute()
        assert found.dtype == ours.dtype
        np.testing.assert_array_equal(found, ours)


def test_shapes_weights_density(client):
    a, w = rng.random((60, 50)), rng.integers(0, 9, (60, 50))
    x, y = da.from_array(a, chunks=(7, 20)), da.from_array(w, chunks=30)
    counts, _ = tally.dask.histogram(x, 9, weights=y)
    np.testing.assert_array_equal(counts.compute(), tally.histogram(a, 9, weights=w)[0])
    counts, _ = tally.dask.histogram(x, 9, density=True)
    np.testing.assert_array_equal(counts.compute(), tally.histogram(a, 9, density=True)[0])
    empty = tally.dask.histogram(da.zeros(0), 3)[0].compute()
    assert empty.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="shape"):
        tally.dask.histogram(x, weights=y[:5])
    with pytest.raises(TypeError, match="rule"):
        tally.dask.histogram(x, "auto")
    for wrong in (1, [0], [0, 1, 2], [[0, 1]]):
        with pytest.raises(ValueError, match="range"):
            tally.dask.histogram(x, 10, wrong)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_the_same_bits_every_time(client, dtype):
    """Sums of float weights too, whoever counts which chunks."""
    a, w = rng.random(20_000), (rng.normal(size=20_000) * 10 ** rng.uniform(-3, 3, 20_000)).astype(dtype)
    found, dd = set(), set()
    for chunks in (900, 20_000, 7777):
        x, y = da.from_array(a, chunks=chunks), da.from_array(w, chunks=1111)
        counts = tally.dask.histogram(x, 20, (0, 1), weights=y)[0]
        found.add(counts.compute().tobytes())
        dd.add(tally.dask.histogramdd([x, x], 5, [(0, 1), (0, 2)], weights=y)[0].compute().tobytes())
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as alone, distributed.Client(alone, set_as_default=False) as one:
        found.add(one.compute(counts).result().tobytes())
    assert len(found) == len(dd) == 1
    ours = tally.histogram(a, 20, (0, 1), weights=w)[0]
    assert counts.dtype == ours.dtype
    exact = [math.fsum(w[(a * 20).astype(int) == b].astype(float)) for b in range(20)]
    near = {"f2": 1e-3, "f4": 1e-6, "f8": 1e-14}[dtype]
    np.testing.assert_allclose(np.frombuffer(found.pop(), ours.dtype), exact, rtol=near)


def test_weights_that_are_no_numbers(client):
    a, w = rng.random(5000), rng.random(5000)
    w[7], w[4000] = np.nan, np.inf
    x, y = da.from_array(a, chunks=900), da.from_array(w, chunks=900)
    np.testing.assert_allclose(
        tally.dask.histogram(x, 20, (0, 1), weights=y)[0].compute(), np.histogram(a, 20, (0, 1), weights=w)[0])


def test_histogramdd(client):
    a = rng.random((5000, 3))
    x = da.from_array(a, chunks=(333, 2))
    for keywords in ({}, {"bins": [3, 4, [0, 0.5, 1]]}, {"range": [(0, 1), None, (0.2, 0.8)]},
                     {"density": True}):  # fmt: skip
        counts, edges = tally.dask.histogramdd(x, **keywords)
        ours, theirs = tally.histogramdd(a, **keywords)
        for e, t in zip(edges, theirs):
            np.testing.assert_array_equal(e, t)
        np.testing.assert_array_equal(counts.compute(), ours)
    w = da.from_array(np.arange(5000), chunks=99)
    counts, _ = tally.dask.histogramdd(list(x.T), 2, weights=w)
    np.testing.assert_array_equal(
        counts.compute(), tally.histogramdd(a, 2, weights=np.arange(5000))[0]
    )


def _dies_once(block, flag, tester):
    """The first worker to get here is killed in the middle of its chunk."""
    assert os.getpid() != tester
    try:
        open(flag, "x").close()
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_is_lost(client, tmp_path):
    """Its chunks are counted again elsewhere, and none twice."""
    a, w = rng.random(20_000), rng.integers(0, 100, 20_000)
    x = da.from_array(a, chunks=1000).map_blocks(_dies_once, str(tmp_path / "flag"), os.getpid(), meta=np.empty(0))
    counts, _ = tally.dask.histogram(x, 20, (0, 1), weights=da.from_array(w, chunks=1000))
    found = client.compute(counts).result(60)
    np.testing.assert_array_equal(found, tally.histogram(a, 20, (0, 1), weights=w)[0])
    assert (tmp_path / "flag").exists()


def test_the_tree_is_merged_on_the_workers(client):
    """Nobody gathers all parts: no task of the graph has more inputs than the tree's fan-in."""
    x = da.from_array(rng.random(20_000), chunks=100)
    counts, _ = tally.dask.histogram(x, 10, (0, 1))
    graph = dict(counts.__dask_graph__())
    adds = [key for key in graph if str(key).startswith("_joined")]
    assert len(adds) == 25 + 4 + 1
    assert counts.compute().sum() == 20_000


# Without workers: what is counted, not where.


def computed(found):
    return found[0].compute(scheduler="sync")


def chunked(a):
    return da.from_array(a, chunks=int(rng.integers(1, a.shape[0] + 1)))


def test_ranges_of_dask_numbers():
    for _ in range(ROUNDS):
        a = rng.normal(size=rng.integers(1, 50)) * 10.0 ** rng.integers(-5, 5)
        a = a.astype(rng.choice(["f4", "f8"]))
        x, n = chunked(a), int(rng.integers(1, 20))
        counts, edges = tally.dask.histogram(x, n, [x.min(), x.max()])
        theirs, their_edges = np.histogram(a, n, [a.min(), a.max()])
        np.testing.assert_array_equal(edges, their_edges, f"seed {SEED}")
        np.testing.assert_array_equal(counts.compute(scheduler="sync"), theirs, f"seed {SEED}")
        if n > 1 and a.min() < a.max():
            assert edges[0] == a.min() and edges[-1] == a.max()
        found = tally.dask.histogramdd([x, x], (n, 2), [(x.min(), x.max()), None])
        theirs, their_edges = np.histogramdd([a, a], (n, 2), [(a.min(), a.max()), None])
        np.testing.assert_array_equal(computed(found), tally.histogramdd([a, a], (n, 2))[0])
        assert computed(found).sum() == a.size


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_beyond_the_floats(dtype):
    ends = np.iinfo(dtype)
    for _ in range(ROUNDS):
        n, low = int(rng.integers(1, 50)), int(rng.integers(ends.min, ends.max - (1 << 62), dtype=dtype))
        a = rng.integers(low, low + (1 << int(rng.integers(14, 62))), n, dtype=dtype)
        x, bins = chunked(a), int(rng.integers(1, 9))
        try:
            ours, edges = tally.histogram(a, bins)
        except ValueError as e:
            with pytest.raises(ValueError, match=str(e)):
                tally.dask.histogram(x, bins)
            continue
        found = tally.dask.histogram(x, bins)
        np.testing.assert_array_equal(found[1], edges)
        np.testing.assert_array_equal(computed(found), ours, f"seed {SEED}")
        assert ours.sum() == n
        assert computed(tally.dask.histogram(x, bins, (x.min(), x.max()))).sum() == n
        assert computed(tally.dask.histogramdd([x, x % 7], bins)).sum() == n
        far = chunked(np.append(a, np.array([ends.min, ends.max], dtype)))
        low, high = a.min(), a.max()
        assert computed(tally.dask.histogram(far, bins, (low, high))).sum() == n + (
            (low == ends.min) + (high == ends.max)
        )


def test_chunks_of_unknown_lengths():
    a = rng.normal(size=200)
    x = da.from_array(a, chunks=7)
    some, kept = x[x > 0.8], a[a > 0.8]
    np.testing.assert_array_equal(computed(tally.dask.histogram(some, 4)), np.histogram(kept, 4)[0])
    twice = (x * 2)[x > 0.8]
    found = computed(tally.dask.histogram(some, 4, weights=twice))
    np.testing.assert_allclose(found, np.histogram(kept, 4, weights=kept * 2)[0])
    found = computed(tally.dask.histogramdd([some, twice], 3, weights=some))
    np.testing.assert_allclose(found, np.histogramdd([kept, 2 * kept], 3, weights=kept)[0])
    assert computed(tally.dask.histogram(x[x > 100], 3)).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="shape"):
        computed(tally.dask.histogram(some, 4, weights=x[x > 0.7]))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        tally.dask.histogram(some, 4, weights=x.rechunk(50)[x.rechunk(50) > 0.8])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        tally.dask.histogramdd([some, x.rechunk(50)], 4)


def test_what_histograms_of_points_take():
    a = rng.normal(size=50)
    x = da.from_array(a, chunks=7)
    np.testing.assert_array_equal(computed(tally.dask.histogramdd(x, 4)), np.histogramdd(a, 4)[0])
    for wrong in (x.reshape(5, 5, 2), [x, x[1:]], [x.reshape(25, 2)], []):
        with pytest.raises(ValueError, match="sample"):
            tally.dask.histogramdd(wrong, 4)
    with pytest.raises(ValueError, match="axes"):
        tally.dask.histogramdd(x, [4, 4])


def test_what_is_not_counted_in_chunks():
    dates = da.from_array(np.array(["2020-01-01", "2020-02-01"], "M8[D]"), chunks=1)
    with pytest.raises(TypeError, match="as integers"):
        tally.dask.histogram(dates, 2)
    with pytest.raises(TypeError, match="as integers"):
        tally.dask.histogramdd([dates], 2)
    assert computed(tally.dask.histogram(dates.astype("i8"), 2)).tolist() == [1, 1]
    x = da.ones(3)
    with pytest.raises(TypeError, match="complex"):
        tally.dask.histogram(x * 1j, 2)
    with pytest.raises(TypeError, match="complex"):
        tally.dask.histogramdd([x], 2, weights=x * 1j)
    assert computed(tally.dask.histogram([1, 2, 3], 2, weights=[1, 2, 3])).tolist() == [1, 5]


def test_chunks_on_a_device(monkeypatch):
    """They are counted there, and their counts come to the host."""

    class Block(np.ndarray):
        __cuda_array_interface__ = {}

        def get(self):
            return np.asarray(self)

    seen = []

    def histogram(a, bins, **keywords):
        seen.append(type(a))
        return found(np.asarray(a), bins, **keywords)[0].view(Block), None

    found = tally.histogram
    monkeypatch.setattr(tally, "histogram", histogram)
    counts = tally.dask._count(None, [[0, 4, 8]], None, {}, True, np.arange(8.0).view(Block))
    assert seen == [Block] and type(counts) is np.ndarray and counts.tolist() == [4, 4]
    assert tally.dask._extremes(np.arange(8.0).view(Block)) == (0, 7)


# ---- quantiles: NumPy's of the whole array, to the bit ----


@pytest.fixture
def here():
    with dask.config.set(scheduler="sync"):
        yield


def same(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype.newbyteorder("=") and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 >i4 >f8".split())
def test_quantiles(here, monkeypatch, dtype):
    a = (rng.normal(size=(30, 211)) * 40 + (120 if dtype[-2] == "u" else 0)).clip(-120, 250).astype(dtype)
    for keys, chunks in ((1 << 24, (7, 100)), (20, (30, 50))):  # few: bits are counted to the last
        monkeypatch.setattr(_chunk_quantiles, "KEYS", keys)
        x = da.from_array(a, chunks=chunks)
        for method in ("linear", "inverted_cdf", "normal_unbiased"):
            for q in (0.5, [0, 0.25, 0.25, 1]):
                same(tally.dask.quantile(x, q, method=method), tally.quantile(a, q, method=method))
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # as test_quantiles.py says
        same(tally.dask.quantile(x, np.linspace(0, 1, 41)), np.quantile(a, np.linspace(0, 1, 41)))
    same(tally.dask.percentile(x, 30), tally.percentile(a, 30))
    same(tally.dask.median(x), np.median(a))


def test_quantiles_by_workers(client, monkeypatch):
    a = rng.normal(size=20_000)
    for keys in (1 << 24, 5):
        monkeypatch.setattr(_chunk_quantiles, "KEYS", keys)
        same(tally.dask.quantile(da.from_array(a, chunks=3000), [0.2, 0.5]), tally.quantile(a, [0.2, 0.5]))


@pytest.mark.parametrize("kind", ["any", "equal", "ten", "sorted", "near"])
def test_quantiles_of_hard_samples(here, monkeypatch, kind):
    n = 20_000
    a = {
        "any": rng.integers(0, 1 << 64, n, np.uint64, endpoint=False).view(np.float64),
        "equal": np.full(n, -0.5),
        "ten": rng.integers(-5, 5, n) * 0.1,
        "sorted": np.sort(rng.normal(size=n)),
        "near": np.nextafter(1, 2, dtype=np.float64) * (1 + rng.integers(0, 9000, n) * 2.0**-52),
    }[kind]  # fmt: skip
    a[rng.random(n) < 0.01] = np.inf
    x, q = da.from_array(a, chunks=1700), [0.01, 0.5, 0.7, 0.999]
    for keys in (1 << 24, 5):
        monkeypatch.setattr(_chunk_quantiles, "KEYS", keys)
        same(tally.dask.quantile(x, q), tally.quantile(a, q))
        same(tally.dask.nanquantile(x, q), tally.nanquantile(a, q))
        same(tally.dask.nanmedian(x), tally.nanmedian(a))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u8", "i4", ">f8"])
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1", "?"])
def test_weighted_quantiles(here, monkeypatch, dtype, kind):
    a = (rng.normal(size=(30, 111)) * 40 + (120 if dtype[-2] == "u" else 0)).clip(-120, 250).astype(dtype)
    w = 10.0 ** rng.uniform(-30, 9, a.shape) if kind[0] == "f" else rng.integers(0, 200, a.shape)
    w = np.where(rng.random(a.shape) < 0.1, 0, w).astype(kind)
    q = [0, 1e-9, 0.25, 0.25, 0.7, 1]
    for keys, chunks in ((1 << 24, (7, 100)), (20, (30, 50))):
        monkeypatch.setattr(_chunk_quantiles, "KEYS", keys)
        x, y = da.from_array(a, chunks=chunks), da.from_array(w, chunks=(8, 9))
        for some in (0.5, q):
            same(tally.dask.quantile(x, some, weights=y, method="inverted_cdf"),
                 tally.quantile(a, some, weights=w, method="inverted_cdf"))  # fmt: skip
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0" and kind[0] != "f":
        same(tally.dask.percentile(x, 30, weights=y, method="inverted_cdf"),
             np.percentile(a, 30, weights=w, method="inverted_cdf"))  # fmt: skip


def test_weighted_quantiles_of_large_sums(here):
    """Sums that pass 2**64, and many equal samples."""
    a, w = rng.integers(0, 5, 9000), rng.integers(1 << 62, (1 << 63) - 1, 9000)
    x, y, q = da.from_array(a, chunks=700), da.from_array(w, chunks=700), np.linspace(0, 1, 33)
    same(tally.dask.quantile(x, q, weights=y, method="inverted_cdf"),
         tally.quantile(a, q, weights=w, method="inverted_cdf"))  # fmt: skip


def test_weighted_quantiles_with_nan(here):
    a, w = rng.normal(size=5000), rng.random(5000)
    a[::7], w[::7] = np.nan, 1e30  # by which no other weight is rounded
    x, y = da.from_array(a, chunks=600), da.from_array(w, chunks=600)
    how = {"method": "inverted_cdf"}
    same(tally.dask.nanquantile(x, [0.1, 0.5], weights=y, **how), tally.nanquantile(a, [0.1, 0.5], weights=w, **how))
    assert np.isnan(tally.dask.quantile(x, [0, 1], weights=y, **how)).all()
    with pytest.warns(RuntimeWarning):
        assert np.isnan(tally.dask.nanpercentile(da.full(9, np.nan, chunks=4), 50, weights=da.ones(9), **how))
    for wrong in (-1, np.inf, np.nan):
        bad = da.from_array(np.where(np.arange(5000) == 4000, wrong, 1.0), chunks=600)
        with pytest.raises(ValueError) as theirs:
            tally.nanquantile(a, 0.5, weights=np.asarray(bad), **how)
        with pytest.raises(ValueError, match=str(theirs.value)[:20]):
            tally.dask.nanquantile(x, 0.5, weights=bad, **how)
    with pytest.raises(ValueError):
        tally.dask.nanquantile(x, 0.5, weights=da.zeros(5000), **how)
    with pytest.raises(ValueError, match="Only method 'inverted_cdf'"):
        tally.dask.nanquantile(x, 0.5, weights=y)
    with pytest.raises(ValueError, match="same shape"):
        tally.dask.nanquantile(x, 0.5, weights=y[:9], **how)


def test_quantiles_with_nan(here):
    a = rng.normal(size=5000).astype("f4")
    a[::7] = np.nan
    x = da.from_array(a, chunks=600)
    assert np.isnan(tally.dask.median(x)) and np.isnan(tally.dask.quantile(x, [0, 1])).all()
    same(tally.dask.nanpercentile(x, [10, 20], method="higher"), tally.nanpercentile(a, [10, 20], method="higher"))
    unknown = x[x > 0]
    same(tally.dask.nanquantile(unknown, 0.9), tally.quantile(a[a > 0], 0.9))
    with pytest.warns(RuntimeWarning):
        assert np.isnan(tally.dask.nanmedian(da.full(9, np.nan, chunks=4)))


def test_quantiles_that_are_refused(here):
    x = da.arange(10, chunks=3)
    for wrong, q in ((ValueError, 1.5), (TypeError, "half")):
        with pytest.raises(wrong):
            tally.dask.quantile(x, q)
    try:
        rows = np.quantile(np.arange(10), [[0.5]])
    except ValueError:  # NumPy before 2.5
        with pytest.raises(ValueError):
            tally.dask.quantile(x, [[0.5]])
    else:
        same(tally.dask.quantile(x, [[0.5]]), rows)
    with pytest.raises(ValueError, match="not a valid method"):
        tally.dask.quantile(x, 0.5, method="best")
    with pytest.raises(TypeError, match="booleans"):
        tally.dask.median(x > 3)
    with pytest.raises(IndexError):
        tally.dask.quantile(da.zeros(0), 0.5)
    other = dask.delayed(lambda: np.random.default_rng().normal(size=1000), pure=False)
    with pytest.raises(RuntimeError, match="changed"):
        for _ in range(9):
            tally.dask.quantile(da.from_delayed(other(), (1000,), float), np.linspace(0, 1, 9))


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "u1"])
def test_masked_chunks(kind):
    """Are counted without what is masked, in samples, other coordinates or weights, as one array is."""
    random = np.random.default_rng(5)
    x, y, w = ((random.random(300) * 9).astype(kind), random.random(300), random.integers(0, 5, 300))
    for masks in ((0.3, 0, 0), (0.3, 0.3, 0.3), (0, 0, 0.3), (1, 0, 0)):
        a, b, v = (np.ma.array(part, mask=random.random(300) < share) for part, share in zip((x, y, w), masks))
        kept = ~(a.mask | b.mask | v.mask)
        lazy = [da.from_array(part, chunks=(70, 80, 0, 150)) for part in (a, b, v, v.astype("f8"))]
        for i in (2, 3):
            found = tally.dask.histogram(lazy[0], 5, (0, 9), weights=lazy[i])[0].compute()
            np.testing.assert_allclose(found, np.histogram(x[~a.mask & ~v.mask], 5, (0, 9), weights=w[~a.mask & ~v.mask])[0])
            found = tally.dask.histogramdd(lazy[:2], 4, [(0, 9), (0, 1)], weights=lazy[i])[0].compute()
            np.testing.assert_allclose(found, np.histogram2d(x[kept], y[kept], 4, [(0, 9), (0, 1)], weights=w[kept])[0])
        counts, edges = tally.dask.histogram(lazy[0], 6)
        want = tally.histogram(a, 6)
        assert counts.compute().tolist() == want[0].tolist() and edges.tolist() == want[1].tolist()
        if kept.any():
            assert tally.dask.quantile(lazy[0], 0.3) == np.quantile(x[~a.mask], 0.3) == tally.quantile(a, 0.3)
            assert tally.dask.median(lazy[0]) == np.median(x[~a.mask])
            how = {"weights": lazy[2] + 1, "method": "inverted_cdf"}
            both = ~a.mask & ~v.mask
            assert tally.dask.quantile(lazy[0], 0.3, **how) == tally.quantile(x[both], 0.3, weights=w[both] + 1, method="inverted_cdf")
