# SPDX-License-Identifier: Apache-2.0
"""What the functions take beyond NumPy's arguments, and where samples may lie."""

import array
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from cases import OnlyDLPack

import libtally as tally

rng = np.random.default_rng(20)


def along(a, axes, **keywords):
    """numpy.histogram of every slice."""
    kept = [d for d in range(a.ndim) if d not in axes]
    rows = a.transpose(kept + list(axes)).reshape([a.shape[d] for d in kept] + [-1])
    return np.apply_along_axis(lambda row: np.histogram(row, **keywords)[0], -1, rows)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("axes", [(0,), (1,), (3,), (0, 2), (1, 3), (0, 1, 2), (0, 1, 2, 3)])
def test_axis(axes, order):
    a = np.asarray(rng.random((5, 6, 3, 4)), order=order)
    keywords = {"bins": 7, "range": (0.1, 0.9)}
    counts, edges = tally.histogram(a, axis=axes, **keywords)
    np.testing.assert_array_equal(counts, along(a, axes, **keywords))
    reversed_ = a[::-1, :, ::-2]
    counts, _ = tally.histogram(reversed_, axis=axes, **keywords)
    np.testing.assert_array_equal(counts, along(reversed_, axes, **keywords))


def test_axis_of_an_image():
    image = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    counts, _ = tally.histogram(image, 256, (0, 256), axis=(0, 1))
    assert counts.shape == (3, 256)
    for i in range(3):
        np.testing.assert_array_equal(counts[i], np.bincount(image[..., i].ravel(), minlength=256))
    np.testing.assert_array_equal(tally.bincount(image, axis=(0, 1), minlength=256), counts)


def test_axis_with_weights_and_density():
    a, w = rng.random((4, 50)), rng.integers(0, 9, (4, 50)).astype(float)
    counts, edges = tally.histogram(a, 5, (0, 1), weights=w, axis=1, density=True)
    for i in range(4):
        expected, _ = np.histogram(a[i], 5, (0, 1), weights=w[i], density=True)
        np.testing.assert_array_equal(counts[i], expected)
    with pytest.raises(np.exceptions.AxisError if hasattr(np, "exceptions") else np.AxisError):
        tally.histogram(a, axis=2)


@pytest.mark.parametrize("shape", [(6, 7, 8), (1, 7, 1), (8,), (7, 1), ()])
def test_where(shape):
    a = rng.random((6, 7, 8))
    where = rng.random(shape) < 0.6
    full = np.broadcast_to(where, a.shape)
    counts, edges, flows = tally.histogram(a, where=where, flow="count") if full.any() else (0,) * 3
    if full.any():
        expected, theirs = np.histogram(a[full])
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(edges, theirs)
        assert flows.masked == (~full).sum()
    assert tally.histogram_bin_edges(a, "fd", where=a > 0.5)[0] == a[a > 0.5].min()
    by_row, _ = tally.histogram(a, 4, (0, 1), axis=(1, 2), where=where)
    for i in range(6):
        np.testing.assert_array_equal(by_row[i], np.histogram(a[i][full[i]], 4, (0, 1))[0])


def test_flow():
    a = np.array([-1.0, 0, 0.5, 1, 2, 3, np.nan])
    counts, _, flows = tally.histogram(a, 2, (0, 1), flow="count")
    assert counts.tolist() == [1, 2] and flows == (1, 2, 1, 0)
    assert tally.histogram(a, 2, (0, 1), flow="clamp")[0].tolist() == [2, 4]
    with pytest.raises(ValueError, match="below|under|outside|NaN|edge"):
        tally.histogram(a, 2, (0, 1), flow="raise")
    with pytest.raises(ValueError, match="flow"):
        tally.histogram(a, flow="drop")


def test_out():
    a = rng.random(1000)
    for dtype in (np.int64, np.uint64, np.float64):
        out = np.ones(10, dtype)
        counts, _ = tally.histogram(a, range=(0, 1), out=out)
        assert counts is out
        np.testing.assert_array_equal(out, np.histogram(a, range=(0, 1))[0] + 1)
    with pytest.raises(ValueError, match="shape"):
        tally.histogram(a, out=np.zeros(9, np.int64))
    with pytest.raises(TypeError, match="out"):
        tally.histogram(a, out=np.zeros(10, np.int32))
    for weights, out in ((a, np.zeros(10, np.uint64)), (a * 1j, np.zeros(10)), (a * 1j, np.zeros(10, np.uint64))):
        with pytest.raises(TypeError, match="out: .* is expected"):  # fractions and imaginary parts were cut off
            tally.histogram(a, weights=weights, out=out)
        assert not out.any()
    sums, _ = tally.histogram(a, range=(0, 1), weights=a * 1j, out=np.zeros(10, complex))
    np.testing.assert_allclose(sums, np.histogram(a, range=(0, 1), weights=a * 1j)[0])


@pytest.mark.parametrize("kind", ["small", "wide", "text", "negative"])
def test_by(kind):
    a, label = rng.random(500), rng.integers(0, 5, 500)
    labels = {
        "small": label.astype(np.uint8), "wide": label * 2**40, "negative": label - 3,
        "text": np.array(list("edcba"))[label],
    }[kind]  # fmt: skip
    w = rng.integers(0, 9, 500)
    counts, _, groups = tally.histogram(a, 6, (0, 1), weights=w, by=labels)
    np.testing.assert_array_equal(groups, np.unique(labels))
    for row, group in zip(counts, groups):
        at = labels == group
        np.testing.assert_array_equal(row, np.histogram(a[at], 6, (0, 1), weights=w[at])[0])
    joint, edges, groups = tally.histogramdd([a, a], 3, by=labels)
    np.testing.assert_array_equal(joint.sum(axis=0), np.histogramdd([a, a], 3)[0])
    assert joint.shape == (len(groups), 3, 3)


def test_by_leaves_out_labels_that_do_not_occur():
    counts, groups = tally.bincount([1, 1, 2], by=[7, 3, 7])
    assert groups.tolist() == [3, 7] and counts.tolist() == [[0, 1, 0], [0, 1, 1]]


def test_method_threads_device():
    a = rng.random(10_000)
    expected = np.histogram(a, 100)[0]
    for keywords in ({"threads": 1}, {"threads": 3}, {"method": "cpu-overlap"}, {"device": "cpu"}):
        np.testing.assert_array_equal(tally.histogram(a, 100, **keywords)[0], expected)
    with pytest.raises(ValueError, match="nothing"):
        tally.histogram(a, method="nothing")
    with pytest.raises(ValueError, match="device"):
        tally.histogram(a, device="abacus")
    with pytest.raises(NotImplementedError):
        tally.histogram(a, method="cpu-bytes")
    missing = [d.id for d in tally.devices() if not d.available and d.id.startswith("cuda")]
    if missing:
        with pytest.raises(NotImplementedError, match="cuda"):
            tally.histogram(a, device="cuda")


def test_opencl():
    if not any(d.available and d.id.startswith("opencl") for d in tally.devices()):
        pytest.skip("no OpenCL device here")
    a = rng.random((3, 5000)).astype(np.float32)
    expected = tally.histogram(a, 50, (0, 1), axis=1)[0]
    np.testing.assert_array_equal(
        tally.histogram(a, 50, (0, 1), axis=1, device="opencl")[0], expected
    )


def test_several_devices():
    """Samples in host memory are shared out; every answer is that of one device."""
    a = rng.random((3, 5000)).astype(np.float32)
    others = [d.id for d in tally.devices() if d.available and d.id != "cpu"]
    if not others:
        pytest.skip("no device here but the processor")
    kind, both = others[0].partition(":")[0], ["cpu", others[0]]
    for device in (both, f"{others[0]},cpu", (f"{kind}:*", "cpu"), [others[0]]):
        counts, edges = tally.histogram(a, 50, (0, 1), device=device)
        np.testing.assert_array_equal(counts, np.histogram(a, 50, (0, 1))[0])
    np.testing.assert_array_equal(
        tally.histogram(a, 50, (0, 1), axis=1, device=both)[0], tally.histogram(a, 50, (0, 1), axis=1)[0]
    )
    h = tally.Hist(tally.Regular(50, 0, 1)).fill(a, device=both)
    np.testing.assert_array_equal(h.values(), np.histogram(a, 50, (0, 1))[0])
    with pytest.raises(NotImplementedError, match="weight"):
        tally.histogram(a, 5, (0, 1), weights=a, device=["cpu", others[0]])
    for wrong in ([], ["cpu", "abacus"], "abacus:*", ["cpu", ""], ["cpu", "cpu"]):
        with pytest.raises(ValueError, match="device"):
            tally.histogram(a, 5, (0, 1), device=wrong)


def test_progress_of_a_call_that_fails():
    for a in (np.array([0.5, 7]), np.full(1 << 24, 7.0)):
        with pytest.raises(ValueError, match="above 1, the last edge"):
            tally.histogram(a, 4, (0, 1), flow="raise", progress=lambda done, total: None)


def test_progress():
    a = np.zeros(3 << 20)
    seen = []
    counts, _ = tally.histogram(a, progress=lambda done, total: seen.append((done, total)))
    assert counts.sum() == a.size and seen[-1] == (a.size, a.size)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)

    def stop(done, total):
        raise LookupError("enough")

    out = np.zeros(10, np.int64)
    with pytest.raises(LookupError, match="enough"):
        tally.histogram(a, out=out, progress=stop)
    assert not out.any()


STOPPED = """
import signal, sys
import numpy as np, libtally as tally
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
a = np.zeros(1 << 25)
print("ready", flush=True)
try:
    while True:
        tally.histogram(a, 10, (0, 1), axis=None, threads=1)
except KeyboardInterrupt:
    sys.exit(3)
"""


def test_control_c_stops_long_work():
    child = subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 3
    finally:
        child.kill()


ENDED = """
import os
import libtally as tally
from libtally import _library
def destroy(pointer, write=os.write):
    write(1, b"destroyed")
_library.plan_destroy = _library.context_destroy = destroy
tally.histogram([[1.0, 2], [3, 4]], 3, (0, 4), axis=1)
"""


def test_plans_are_left_to_the_end_of_the_process():
    """Destroyed after their context, in the order in which the interpreter drops things, they ended it by a crash."""
    assert subprocess.run([sys.executable, "-c", ENDED], capture_output=True, check=True).stdout == b""


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, whatever the tests were started from."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_control_c_inside_one_call(interruptible):
    """The signal comes while the one call runs: it ends before its samples do."""
    a = np.zeros(1 << 24)
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tally.histogram(a, progress=lambda done, total: time.sleep(5))
    timer.join()


def test_the_lock_is_released():
    """Another thread runs Python while a call counts."""
    a = np.zeros(1 << 24)
    ticks, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0.0002)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks[0]
    tally.histogram(a, 1000, (0, 1), threads=1)
    during = ticks[0] - before
    stop.set()
    thread.join()
    assert during >= 3


def test_threads_at_once():
    data = [rng.random(50_000) for _ in range(8)]
    expected = [np.histogram(a, 30 + i)[0] for i, a in enumerate(data)]
    wrong = []

    def work(i):
        for _ in range(20):
            if not (tally.histogram(data[i], 30 + i)[0] == expected[i]).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_after_a_fork():
    """A child counts on, though the parent's threads are not there."""
    a = rng.random(2_000_000)
    expected = tally.histogram(a, 50)[0]
    child = os.fork()
    if not child:
        os._exit(0 if (tally.histogram(a, 50, threads=2)[0] == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_plans_pushed_out_of_the_cache():
    a = rng.random(1000)
    for n in range(1, 150):
        np.testing.assert_array_equal(tally.histogram(a, n)[0], np.histogram(a, n)[0])


# ---- other kinds of memory ----


def test_buffers():
    values = array.array("d", [0.1, 0.2, 0.7])
    np.testing.assert_array_equal(tally.histogram(values, 2)[0], [2, 1])
    data = bytes(range(256)) * 3
    np.testing.assert_array_equal(tally.bincount(memoryview(data)), [3] * 256)


def test_dlpack():
    a = rng.random((20, 30))
    for part in (a, a[::2, ::-3], a.T):
        if part.strides[1] < 0:
            part = part[:, ::-1]
        np.testing.assert_array_equal(tally.histogram(OnlyDLPack(part))[0], np.histogram(part)[0])
    np.testing.assert_array_equal(
        tally.bincount(OnlyDLPack(np.arange(9, dtype=np.uint8))), [1] * 9
    )


def test_arrow():
    pa = pytest.importorskip("pyarrow")
    values = pa.array([1.0, 2.0, None, 4.0, 5.0])
    counts, edges, flows = tally.histogram(values, 4, flow="count")
    np.testing.assert_array_equal(counts, np.histogram([1.0, 2, 4, 5], 4)[0])
    assert flows.masked == 1 and edges[0] == 1 and edges[-1] == 5
    part = pa.array(np.arange(100, dtype=np.int32))[10:20]
    np.testing.assert_array_equal(tally.bincount(part), np.bincount(np.arange(10, 20)))
    chunks = pa.chunked_array([[1, 2], [3, 3]])  # of several chunks: copied together by Arrow
    np.testing.assert_array_equal(tally.bincount(chunks), [0, 1, 1, 2])
    with pytest.raises(TypeError, match="Arrow"):
        tally.histogram(pa.array(["a"]))


def test_no_copy():
    """The library is given the very memory of the caller."""
    a = rng.random((50, 60))
    from libtally import _arrays

    for part in (a, a[::2], a.T, a[:, 3], a[::-1]):
        taken = _arrays.take(part)
        assert taken.pointer == part.__array_interface__["data"][0]
        assert taken.strides == part.strides
    pa = pytest.importorskip("pyarrow")
    values = pa.array(a.ravel())
    assert _arrays.take(values).pointer == values.buffers()[1].address
    plain = OnlyDLPack(a)
    assert _arrays.take(plain).pointer == a.ctypes.data


def test_methods_say_their_settings():
    methods = {m.name: m for m in tally.methods()}
    copies = methods["private-global"].parameters["copies"]
    assert (copies.default, copies.least, copies.most) == (64, 1, 4096)
    assert copies.help
    assert methods["serial"].parameters == {}


def test_an_axis_as_bins():
    """By our functions and, with an axis as `bins=`, by NumPy's, which hand the call over."""
    a = np.append(rng.normal(0.5, 0.4, 300), [0, 1, np.nan])
    open_, closed = tally.Regular(4, 0, 1, closed=False), tally.Log(3, 0.1, 1)
    for module in (tally, np):
        counts, edges = module.histogram(a, open_)
        np.testing.assert_array_equal(counts, np.histogram(a[a != 1], open_.edges)[0])
        np.testing.assert_array_equal(edges, open_.edges)
        np.testing.assert_array_equal(module.histogram(a, bins=closed)[0], np.histogram(a, closed.edges)[0])
        np.testing.assert_array_equal(module.histogram_bin_edges(a, closed), closed.edges)
        np.testing.assert_array_equal(module.digitize(a, closed), np.digitize(a, closed.edges))
        both = np.histogram2d(a, a, [closed.edges, 5], [None, (0, 1)])[0]
        np.testing.assert_array_equal(module.histogram2d(a, a, [closed, 5], [None, (0, 1)])[0], both)
        two = module.histogramdd([a, a], bins=[closed, closed])[0]
        np.testing.assert_array_equal(two, np.histogramdd([a, a], [closed.edges] * 2)[0])
        np.testing.assert_array_equal(tally.histogramdd([a, a], closed)[0], two)
        with pytest.raises(TypeError, match="categories"):
            module.histogram(a, tally.Category(["a"]))
    with pytest.raises(TypeError):
        np.concatenate([closed, closed])
