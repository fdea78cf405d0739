# SPDX-License-Identifier: Apache-2.0
"""CuPy and torch arrays on a CUDA device: answered in kind, in stream order, not through the host."""

import time

import numpy as np
import pytest

import libtally as tally

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")
if not torch.cuda.is_available() or not cupy.cuda.is_available():
    pytest.skip("no CUDA device here", allow_module_level=True)

rng = np.random.default_rng(8)
DTYPES = ["u1", "i2", "i4", "i8", "f2", "f4", "f8"]


def samples(dtype, n=100_003):
    return (rng.random(n) * 100).astype(dtype)


def host(x):
    return x.cpu().numpy() if isinstance(x, torch.Tensor) else cupy.asnumpy(x)


def check(given, plain, kind, **keywords):
    counts, edges, flows = tally.histogram(given, flow="count", **keywords)
    expected, theirs = np.histogram(plain, **keywords)
    assert isinstance(counts, kind) and isinstance(edges, kind)
    np.testing.assert_array_equal(host(counts), expected)
    np.testing.assert_array_equal(host(edges), theirs)
    assert sum(int(f) for f in flows) + int(counts.sum()) == plain.size


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keywords", [{}, {"range": (10, 60)}, {"bins": 256, "range": (0, 256)},
                                      {"bins": [1, 5, 5.5, 70]}])  # fmt: skip
def test_cupy(dtype, keywords):
    a = samples(dtype)
    check(cupy.asarray(a), a, cupy.ndarray, **keywords)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keywords", [{}, {"range": (10, 60)}])
def test_torch(dtype, keywords):
    a = samples(dtype)
    check(torch.from_numpy(a).cuda(), a, torch.Tensor, **keywords)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f2", "f4", "f8"])
def test_prepared_calls(dtype):
    """Plain calls, repeated: on the current stream, in answers of their own, of other samples each time."""
    for _ in range(3):
        a = samples(dtype)
        for bins, range_ in ((10, (0, 100)), (100, (0.0, 1.0)), (256, (10.5, 60))):
            expected, theirs = np.histogram(a, bins, range_)
            with cupy.cuda.Stream(non_blocking=True):
                counts, edges = tally.histogram(cupy.asarray(a), bins, range_)
                np.testing.assert_array_equal(host(counts), expected)
                np.testing.assert_array_equal(host(edges), theirs)
                assert edges.dtype == theirs.dtype
                edges[:] = 0
            with torch.cuda.stream(torch.cuda.Stream()):
                counts, edges = tally.histogram(torch.from_numpy(a).cuda(), bins, range_)
                np.testing.assert_array_equal(host(counts), expected)
                np.testing.assert_array_equal(host(edges), theirs)
                edges.zero_()
    if dtype == "u1":
        for x in (cupy.asarray(a), torch.from_numpy(a).cuda()):
            for n in (256, 300, 256):
                np.testing.assert_array_equal(host(tally.bincount(x, minlength=n)), np.bincount(a, minlength=n))


def test_torch_on_the_host_and_bfloat16():
    a = samples("f4")
    counts, edges = tally.histogram(torch.from_numpy(a), 7)
    assert isinstance(counts, torch.Tensor) and counts.device.type == "cpu"
    np.testing.assert_array_equal(counts.numpy(), np.histogram(a, 7)[0])
    b = torch.from_numpy(a).to(torch.bfloat16)
    for x in (b, b.cuda()):
        counts, _ = tally.histogram(x, 10, (0, 100))
        np.testing.assert_array_equal(host(counts), np.histogram(b.float().numpy(), 10, (0, 100))[0])


def test_bincount_axis_density_out():
    a = samples("u1", 27_000).reshape(100, 90, 3)
    for x in (cupy.asarray(a), torch.from_numpy(a).cuda()):
        counts = tally.bincount(x.reshape(-1))
        np.testing.assert_array_equal(host(counts), np.bincount(a.ravel()))
        by, _ = tally.histogram(x, 16, (0, 256), axis=(0, 1))
        np.testing.assert_array_equal(host(by), tally.histogram(a, 16, (0, 256), axis=(0, 1))[0])
        rows, _ = tally.histogram(x, 16, (0, 256), axis=(1, 2))
        np.testing.assert_array_equal(host(rows), tally.histogram(a, 16, (0, 256), axis=(1, 2))[0])
        density, _ = tally.histogram(x, 16, (0, 100), density=True)
        np.testing.assert_allclose(host(density), np.histogram(a, 16, (0, 100), density=True)[0])
        out, _ = tally.histogram(x, 4, (0, 100))
        again, _ = tally.histogram(x, 4, (0, 100), out=out)
        assert again is out
        np.testing.assert_array_equal(host(out), 2 * np.histogram(a, 4, (0, 100))[0])


def test_strides():
    a = samples("f4", 3000).reshape(50, 60)
    for given in (cupy.asarray(a), torch.from_numpy(a).cuda()):
        many = cupy.broadcast_to(given[0], (4, 60)) if isinstance(given, cupy.ndarray) else (
            given[0].expand(4, 60))  # fmt: skip
        counts, _ = tally.histogram(many, 9, (0, 100))
        np.testing.assert_array_equal(host(counts), 4 * np.histogram(a[0], 9, (0, 100))[0])
        for cut in (np.s_[::2], np.s_[:, 5:20], np.s_[3:40:3, ::7]):
            counts, _ = tally.histogram(given[cut], 9, (0, 100))
            np.testing.assert_array_equal(host(counts), np.histogram(a[cut], 9, (0, 100))[0])


class Interface:
    """Only `__cuda_array_interface__`, from a stream of its own."""

    def __init__(self, x, stream):
        self.x = x
        self.__cuda_array_interface__ = dict(x.__cuda_array_interface__, stream=stream)


class Lender:
    """Only DLPack."""

    def __init__(self, x):
        self.x = x
        self.streams = []

    def __dlpack__(self, stream=None, **keywords):
        self.streams.append(stream)
        return self.x.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.fixture
def busy():
    """Puts about 0.1 s of work on CuPy's current stream."""
    a = cupy.ones((8192, 8192), cupy.float32)
    out = cupy.empty_like(a)
    cupy.matmul(a, a, out=out)
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    cupy.matmul(a, a, out=out)
    cupy.cuda.Device().synchronize()
    times = max(1, int(0.1 / (time.perf_counter() - begin)))
    return lambda: [cupy.matmul(a, a, out=out) for _ in range(times)]


KEYWORDS = {"bins": 64, "range": (0, 100)}


def test_cupy_stream_order(busy):
    """Counted on the caller's stream: after what is on it, before what follows, without a wait."""
    a = samples("f4", 1 << 20)
    there, x = cupy.asarray(a), cupy.zeros(a.size, cupy.float32)
    tally.histogram(x, **KEYWORDS)[0] * 2  # compiles
    x[...] = -1
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        busy()
        x[...] = there
        begin = time.perf_counter()
        counts, _ = tally.histogram(x, **KEYWORDS)
        x[...] = -1
        back = time.perf_counter() - begin
        twice = counts * 2
        waited = not stream.done
        result = cupy.asnumpy(twice)
    np.testing.assert_array_equal(result, 2 * np.histogram(a, **KEYWORDS)[0])
    assert waited, back


def test_torch_stream_order():
    a = samples("f4", 1 << 20)
    there, x = torch.from_numpy(a).cuda(), torch.zeros(a.size, device="cuda")
    tally.histogram(x, **KEYWORDS)
    big = torch.ones(8192, 8192, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(6):
            big @ big
        x.copy_(there)
        counts, _ = tally.histogram(x, **KEYWORDS)
        x.fill_(-1)
        waited = not stream.query()
        result = (counts * 2).cpu().numpy()
    np.testing.assert_array_equal(result, 2 * np.histogram(a, **KEYWORDS)[0])
    assert waited


def test_a_lenders_stream(busy):
    """`__cuda_array_interface__` names the stream that makes the samples: it is waited for."""
    a = samples("f4", 1 << 20)
    there, x = cupy.asarray(a), cupy.zeros(a.size, cupy.float32)
    tally.histogram(x, **KEYWORDS)
    cupy.cuda.Device().synchronize()
    theirs, ours = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    with theirs:
        busy()
        x[...] = there
    with ours:
        counts, _ = tally.histogram(Interface(x, theirs.ptr), **KEYWORDS)
        assert isinstance(counts, cupy.ndarray) and not theirs.done
        result = cupy.asnumpy(counts)
    np.testing.assert_array_equal(result, np.histogram(a, **KEYWORDS)[0])


def test_dlpack_handshake(busy):
    a = samples("f4", 1 << 20)
    there, x = cupy.asarray(a), cupy.zeros(a.size, cupy.float32)
    tally.histogram(x, **KEYWORDS)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        busy()
        x[...] = there
        lender = Lender(x)
        counts, _ = tally.histogram(lender, **KEYWORDS)
        assert lender.streams == [stream.ptr] and isinstance(counts, cupy.ndarray)
        result = cupy.asnumpy(counts)
    np.testing.assert_array_equal(result, np.histogram(a, **KEYWORDS)[0])


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_nothing_goes_through_the_host(kind):
    """By the profiler: no copy from the device, and to it only the edges."""
    a = samples("f4", 1 << 22)
    x = cupy.asarray(a) if kind == "cupy" else torch.from_numpy(a).cuda()
    tally.histogram(x, **KEYWORDS)
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        counts, _ = tally.histogram(x, **KEYWORDS)
        torch.cuda.synchronize()
    events = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    names = [e.name for e in events]
    print(kind, names)
    assert names, "the profiler saw nothing"
    assert not [n for n in names if "DtoH" in n]
    assert host(counts).sum() == a.size


def test_jax():
    jax = pytest.importorskip("jax")
    if not any(d.platform == "gpu" for d in jax.devices()):
        pytest.skip("this JAX has no CUDA device")
    a = samples("f4")
    x = jax.device_put(a, [d for d in jax.devices() if d.platform == "gpu"][0])
    counts, edges = tally.histogram(x * 1, **KEYWORDS)
    assert isinstance(counts, jax.Array) and counts.devices() == x.devices()
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(a, **KEYWORDS)[0])
    counts, _ = tally.histogram(x)
    np.testing.assert_array_equal(np.asarray(counts), np.histogram(a)[0])
    edges = jax.device_put(np.linspace(0, 50, 6, dtype="f4"), x.device)
    for where in (x, jax.device_put(a, jax.devices("cpu")[0])):
        counts, _ = tally.histogram(where, edges)
        assert isinstance(counts, jax.Array)
        np.testing.assert_array_equal(np.asarray(counts), np.histogram(a, np.asarray(edges))[0])


def served(function, *arguments, **keywords):
    try:
        return function(*arguments, **keywords)
    except NotImplementedError as e:
        pytest.skip(f"not on this device: {e}")


def test_points():
    a = samples("f8", 3000).reshape(1000, 3)
    for given in (cupy.asarray(a), torch.from_numpy(a).cuda()):
        ours = served(tally.histogramdd, given, 5)
        np.testing.assert_array_equal(host(ours[0]), np.histogramdd(a, 5)[0])


def test_weights():
    a, w = samples("f4", 10_000), rng.integers(0, 9, 10_000).astype("f8")
    x, y = cupy.asarray(a), cupy.asarray(w)
    expected = np.histogram(a, 9, (0, 100), weights=w)[0]
    ours = served(tally.histogram, x, 9, (0, 100), weights=y)
    np.testing.assert_array_equal(host(ours[0]), expected)


def test_masks():
    a, w = samples("f4", 10_000), rng.integers(0, 9, 10_000)
    x, y = cupy.asarray(a), cupy.asarray(w)
    expected = np.histogram(a[w > 3], 9, (0, 100))[0]
    ours = served(tally.histogram, x, 9, (0, 100), where=y > 3)
    np.testing.assert_array_equal(host(ours[0]), expected)


def test_hist_and_host_arrays():
    a = samples("f4")
    expected = np.histogram(a, np.linspace(0, 100, 21))[0]
    for given in (a, cupy.asarray(a), torch.from_numpy(a).cuda()):
        device = "cuda" if given is a else None
        h = tally.Hist(tally.Regular(20, 0, 100)).fill(given, device=device).fill(given)
        np.testing.assert_array_equal(h.values(), 2 * expected)
    counts, _ = tally.histogram(a, 20, (0, 100), device="cuda")
    np.testing.assert_array_equal(counts, np.histogram(a, 20, (0, 100))[0])


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_hist_stays_there(kind):
    """Hist(device="cuda"): as on the host, and nothing is waited for before it is asked."""
    give = cupy.asarray if kind == "cupy" else lambda a: torch.from_numpy(a).cuda()
    for storage, axes in (("count", 1), ("count", 2), ("sum", 1), ("weight", 2)):
        here, there = (
            tally.Hist(*(tally.Regular(20 + i, 10, 90) for i in range(axes)), storage=storage, device=device)
            for device in (None, "cuda")
        )
        for n in (1000, 50_000, 1000):
            given = [samples("f4", n) for _ in range(axes)]
            given[0][::7] = np.nan
            weight = None if storage == "count" else rng.integers(0, 9, n).astype("f8")
            here.fill(*given, weight=weight)
            there.fill(*map(give, given), weight=None if weight is None else give(weight))
            assert there._kept
        np.testing.assert_array_equal(there.values(flow=True), here.values(flow=True))
        assert there.flows == here.flows and not there._kept
        if storage == "weight":
            np.testing.assert_array_equal(there.variances(), here.variances())
        assert there.fill(*given, weight=weight) == here.fill(*given, weight=weight)
    with pytest.raises(ValueError, match="None or 'cuda'"):
        tally.Hist(tally.Regular(2, 0, 1), device="opencl")


def captured(kind, x, work):
    """What `work` answers in a graph, and what runs the graph on other samples."""
    if kind == "torch":
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        with torch.cuda.stream(side):
            work()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            answers = work()
        return answers, lambda new: (x.copy_(torch.from_numpy(new)), graph.replay(), torch.cuda.synchronize())
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        kept = work()  # memory for the answers in the pool
        stream.synchronize()
        del kept
        stream.begin_capture()
        answers = work()
        graph = stream.end_capture()

    def run(new):
        x.set(new)
        cupy.cuda.Device().synchronize()
        graph.launch(stream)
        stream.synchronize()

    return answers, run


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_graphs(kind):
    """A graph records calls that were made before, and counts what is there whenever it runs."""
    first = samples("f4", 10_000)
    x = cupy.asarray(first) if kind == "cupy" else torch.from_numpy(first).cuda()
    edges, ends = [0.0, 1, 5, 70], ((0, 100), (0, 90))
    answers, run = captured(kind, x, lambda: (
        tally.histogram(x, 64, (0, 100))[0], tally.histogram(x, edges)[0], tally.histogramdd((x, x), 8, ends)[0],
    ))  # fmt: skip
    for _ in range(3):
        a = samples("f4", 10_000)
        run(a)
        np.testing.assert_array_equal(host(answers[0]), np.histogram(a, 64, (0, 100))[0])
        np.testing.assert_array_equal(host(answers[1]), np.histogram(a, edges)[0])
        np.testing.assert_array_equal(host(answers[2]), np.histogramdd((a, a), 8, ends)[0])


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_statistics(kind):
    """What is found on the host, in kind: exactly, but for what sums of floats are off by there."""
    give = cupy.asarray if kind == "cupy" else lambda a: torch.from_numpy(a).cuda()
    x, y = samples("f4", 100_000), samples("f8", 100_000)
    for v in (samples("f4", 300_000).reshape(3, -1), samples("f8", 100_000), samples("i4", 100_000)):
        for statistic in ("count", "sum", "mean", "std", "min", "max"):
            for bins, ends in ((50, (0, 90)), ([[0, 1, 10, 50]], None)):
                bins = bins if ends else np.array(bins[0], float)
                wanted = tally.binned_statistic(x, v, statistic, bins, ends)
                found = tally.binned_statistic(give(x), give(v), statistic, bins, ends)
                np.testing.assert_allclose(host(found.statistic), wanted.statistic, rtol=1e-11)
                np.testing.assert_array_equal(found.bin_edges, wanted.bin_edges)
        wanted = tally.binned_statistic_2d(x, y, v, "mean", 7, [(0, 100), (10, 90)])
        found = tally.binned_statistic_2d(give(x), give(y), give(v), "mean", 7, [(0, 100), (10, 90)])
        np.testing.assert_allclose(host(found.statistic), wanted.statistic, rtol=1e-11)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_quantiles(kind):
    """NumPy's answers, in kind; rows along any axis where they lie; NaN left out or not."""
    give = cupy.asarray if kind == "cupy" else lambda a: torch.from_numpy(a).cuda()
    expected = cupy.ndarray if kind == "cupy" else torch.Tensor
    for dtype in DTYPES:
        a = samples(dtype, 20_000).reshape(4, 50, 100)
        if dtype.startswith("f"):
            a[1, :, 7] = np.nan
        for function in (np.quantile, np.nanquantile):
            ours = getattr(tally, function.__name__)
            for axis in (None, 0, 1, 2, (0, 1), (1, 2)):
                for method in ("linear", "lower", "hazen"):
                    wanted = function(a, [0.1, 0.5, 0.99], axis, method=method)
                    found = ours(give(a), [0.1, 0.5, 0.99], axis, method=method)
                    assert isinstance(found, expected)
                    np.testing.assert_array_equal(host(found), wanted)
        np.testing.assert_array_equal(host(tally.median(give(a), 1, keepdims=True)), np.median(a, 1, keepdims=True))
    part = samples("f4")[: 99_999].reshape(3, -1)
    np.testing.assert_array_equal(host(tally.median(give(part)[:, 5::7], 1)), np.median(part[:, 5::7], 1))
    with pytest.raises(TypeError, match="host"):
        tally.median(give(part) > 50)
