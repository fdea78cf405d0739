"""Dask arrays, on a real scheduler with worker processes."""

import os

import numpy as np
import pytest

import tally

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
import tally.dask  # noqa: E402

rng = np.random.default_rng(9)


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


def test_the_same_bits_every_time(client):
    """Sums of weights too: the tree and its order are those of the chunks."""
    a, w = rng.random(50_000), rng.normal(size=50_000)
    x, y = da.from_array(a, chunks=900), da.from_array(w, chunks=900)
    found = {tally.dask.histogram(x, 20, (0, 1), weights=y)[0].compute().tobytes() for _ in range(4)}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as alone, distributed.Client(alone, set_as_default=False) as one:
        counts, _ = tally.dask.histogram(x, 20, (0, 1), weights=y)
        found.add(one.compute(counts).result().tobytes())
    assert len(found) == 1


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


def test_the_tree_is_merged_on_the_workers(client):
    """Nobody gathers all parts: no task of the graph has more inputs than the tree's fan-in."""
    x = da.from_array(rng.random(20_000), chunks=100)
    counts, _ = tally.dask.histogram(x, 10, (0, 1))
    graph = dict(counts.__dask_graph__())
    adds = [key for key in graph if str(key).startswith("_add")]
    assert len(adds) == 25 + 4 + 1
    assert counts.compute().sum() == 20_000
