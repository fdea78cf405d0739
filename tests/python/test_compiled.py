# SPDX-License-Identifier: Apache-2.0
"""The compiled part answers as the package's Python does, bit for bit, and is there."""

import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest
from cases import axis_of, run, said

import libtally as tally
from libtally import _compiled

HERE = _compiled.fast is not None
DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8", "f4", "f8", "f2", "b1", ">f8"]


def test_is_there():
    """Built into every wheel, and loaded by every CPython that holds a lock."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("a free-threaded CPython")
    if "TALLY_LIBRARY" in os.environ and _compiled.fast is None:
        pytest.skip("not the wheel's library")
    assert _compiled.fast is not None


def test_says_that_it_is_missing(tmp_path):
    """Without it everything is counted, and a warning tells."""
    source = os.path.dirname(tally.__file__)
    copy = tmp_path / "libtally"
    copy.mkdir()
    for name in os.listdir(source):
        if name != "_fast.abi3.so" and not name.startswith("__pycache__"):
            (copy / name).symlink_to(os.path.join(source, name))
    code = (
        "import warnings, numpy as np\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    import libtally as tally\n"
        "assert ['compiled part' in str(w.message) for w in found] == [True], found\n"
        "print(tally.histogram(np.arange(4.0), 2, weights=np.ones(4))[0], tally.bincount([1]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    library = environment.pop("TALLY_LIBRARY", None)
    if library:
        for name in ("libtally.so", "libtally.so.0", "libtally-io.so", "libtally-io.so.0"):
            path = os.path.join(os.path.dirname(os.path.abspath(library)), name)
            (tmp_path / name).symlink_to(path)
        environment["TALLY_LIBRARY"] = str(tmp_path / "libtally.so")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "[2. 2.] [0 1]\n", done.stderr


def samples(rng, dtype, n):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        lo, hi = max(info.min, -(2**60)), min(info.max, 2**60)
        wide = rng.integers(lo, hi, n, endpoint=True)
        return np.where(rng.random() < 0.3, wide, rng.integers(0, 100, n)).astype(dtype)
    x = rng.normal(20, 15, n).astype(dtype)
    if n and rng.random() < 0.3:
        x[rng.integers(0, n, 3)] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
    return x


def laid_out(rng, x):
    """As it is, as a list, with steps, or in two dimensions."""
    kind = rng.integers(0, 6)
    if kind == 0 and x.dtype.kind != "b":
        return x.tolist()
    if kind == 1:
        return np.repeat(x, 2)[::2]
    if kind == 2:
        return x[::-1]
    if kind == 3 and len(x) % 4 == 0:
        return x.reshape(4, -1).T if rng.random() < 0.5 else x.reshape(4, -1)
    return x


def weights(rng, shape):
    w = rng.integers(-50, 50, shape)
    return w.astype(rng.choice(["f4", "f8", "i8", "i4", "u1", "f2", "c16"]))


def bins_of(rng, rules=True):
    kind = rng.integers(0, 7)
    if kind == 0:
        return np.sort(rng.choice(np.arange(-50, 100), 8, replace=False)).astype(rng.choice(["i8", "f4", "f8"]))
    if kind == 1:
        return [0, 1, 2.5, 40]
    if kind == 2 and rules:
        return str(rng.choice(["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]))
    if kind == 3:
        return np.linspace(0, 30, 31)
    return int(rng.choice([1, 7, 10, 100, 256, 3000]))


def range_of(rng):
    return [None, None, (0, 40), (0.5, 33.3), [-10, 90], (0, 0), (np.float64(1), 20), (np.float32(1), 20)][
        rng.integers(0, 8)
    ]


def same(a, b):
    """Of one type, with the same bits or words."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, Exception):
        assert said(a) == said(b)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def both(name, *arguments, **keywords):
    """What the two ways answer."""
    function = getattr(tally, name)
    module = sys.modules[function.__module__]
    fast, module._fast = module._fast, None
    try:
        slow = run(function, *arguments, **keywords)
    finally:
        module._fast = fast
    return run(function, *arguments, **keywords), slow


N = [0, 1, 2, 5, 40, 300, 2048, 2052, 5000, 20000]


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("seed", range(6))
def test_histograms(seed):
    rng = np.random.default_rng(seed)
    for _ in range(80):
        n = int(rng.choice(N))
        x = laid_out(rng, samples(rng, rng.choice(DTYPES), n))
        shape = np.shape(x)
        w = weights(rng, shape) if rng.random() < 0.4 else None
        bins, range_ = bins_of(rng), range_of(rng)
        same(*both("histogram", x, bins, range_, bool(rng.random() < 0.2), w))
        same(*both("histogram_bin_edges", x, bins, range_))


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("seed", range(3))
def test_several_dimensions(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        n, d = int(rng.choice(N)), int(rng.integers(1, 5))
        one = rng.choice(["f4", "f8", "i4", "u8"])
        columns = [samples(rng, rng.choice([one, one, "f8"]), n) for _ in range(d)]
        sample = columns
        if rng.random() < 0.3:
            sample = np.stack(columns, axis=1)
        bins = [bins_of(rng, False) for _ in range(d)]
        if rng.random() < 0.5:
            bins = int(rng.integers(1, 8))
        ranges = [range_of(rng) for _ in range(d)] if rng.random() < 0.7 else None
        w = weights(rng, n) if rng.random() < 0.4 else None
        if isinstance(bins, list) and np.prod([b if isinstance(b, int) else 30 for b in bins]) > 1e6:
            bins = 5
        same(*both("histogramdd", sample, bins, ranges, bool(rng.random() < 0.2), w))
        if d == 2 and isinstance(sample, list):
            same(*both("histogram2d", *sample, bins, ranges, False, w))


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("seed", range(3))
def test_bincount_and_digitize(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n = int(rng.choice(N))
        x = rng.integers(0 if rng.random() < 0.8 else -2, rng.choice([5, 100, 70000]), n)
        x = laid_out(rng, np.clip(x, -128, 32767).astype(rng.choice(["i8", "i4", "u2", "i2", "u1", "f8"])))
        w = weights(rng, np.shape(x)) if rng.random() < 0.5 else None
        if w is not None and w.dtype.kind == "i" and rng.random() < 0.3:
            w = w.astype(np.int64) * 2 ** int(rng.choice([20, 44]))
        same(*both("bincount", x, w, int(rng.choice([0, 3, 500, 100000]))))
        x = laid_out(rng, samples(rng, rng.choice(DTYPES), n))
        bins = bins_of(rng, False)
        if not isinstance(bins, int):
            bins = rng.choice([bins, bins[::-1]]) if rng.random() < 0.2 else bins
            same(*both("digitize", x, bins, bool(rng.random() < 0.5)))


@pytest.fixture
def one_processor():
    """As in a job that has one: a thread's own, not those that are started meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:1])
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("dtype", ["i8", "u1", "i4"])
def test_many_numbers_of_few_processors(one_processor, dtype):
    """Whole weights in float64, whose sums are exact; numbers of no bin come late, or zero weights last."""
    rng = np.random.default_rng(1)
    n = (1 << 20) + 777
    x, w = rng.integers(0, 100, n).astype(dtype), rng.integers(-50, 50, n).astype("f8")
    x[-1], w[-1] = 120, 0
    for least in (0, 50, 3000):
        found = _compiled.fast.bincount(x, w, least)
        np.testing.assert_array_equal(found, np.bincount(x, w, least))
        same(found, _compiled.fast.bincount(x, w.astype("f4"), least))
    for wrong in (-3, 1 << 16) if dtype != "u1" else ():
        x[n // 2] = wrong
        assert _compiled.fast.bincount(x, w, 0) is None
        same(*both("bincount", x, w, 0))
    edges = [0.0, 7, 7.5, 90]
    np.testing.assert_array_equal(_compiled.fast.digitize(x, edges, False), np.digitize(x, edges))


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("name", ["bincount", "digitize"])
def test_many_numbers_are_stopped(one_processor, name):
    """More than 64 MiB are answered at once, but for Ctrl-C."""
    x = np.arange((1 << 23) + 9) & 255
    given = (x, x.astype(float), 0) if name == "bincount" else (x, [3.5, 9, 77], False)
    np.testing.assert_array_equal(getattr(_compiled.fast, name)(*given), getattr(np, name)(*given))
    begin, took = time.perf_counter(), []
    getattr(_compiled.fast, name)(*given)
    whole, before = time.perf_counter() - begin, signal.signal(signal.SIGALRM, signal.default_int_handler)
    for _ in range(50):
        try:  # around all of it: on a busy machine the alarm may come before the call
            signal.setitimer(signal.ITIMER_REAL, whole / 9)
            begin = time.perf_counter()
            getattr(_compiled.fast, name)(*given)
            time.sleep(5)
        except KeyboardInterrupt:
            took.append(time.perf_counter() - begin)
    signal.signal(signal.SIGALRM, before)
    assert min(took) < whole / 2


QUANTILES = [0.5, 0, 1, 1.0, 0.3, np.float64(0.75), np.float32(0.5), [0.1, 0.9], (0.25,), [0, 1], [[0.5]], [], 1.5,
             np.array(0.7), np.linspace(0, 1, 11), np.float32([0.5, 1]), np.linspace(0, 1, 80), True, None]  # fmt: skip


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("seed", range(3))
def test_quantiles(seed):
    rng = np.random.default_rng(seed)
    answered, fast = 0, tally.quantiles._fast
    for _ in range(150):
        x = laid_out(rng, samples(rng, rng.choice(DTYPES), int(rng.choice([0, 1, 2, 3, 12, 300, 2400]))))
        if rng.random() < 0.3 and np.shape(x) and len(x) % 12 == 0:
            x = np.reshape(x, (2, 3, -1))
            x = x if rng.random() < 0.7 or x.dtype.kind != "f" else np.where(rng.random(x.shape) < 0.1, np.nan, x)
        options = {} if rng.random() < 0.5 else {"axis": int(rng.integers(-3, 3))}
        options.update({"keepdims": True} if rng.random() < 0.1 else {})
        name = str(rng.choice(["quantile", "nanquantile", "percentile", "nanpercentile", "median", "nanmedian"]))
        q = QUANTILES[rng.integers(0, len(QUANTILES))]
        q = np.multiply(q, 100) if "percentile" in name and rng.random() < 0.5 and isinstance(q, (list, float)) else q
        arguments = (x,) if "median" in name else (x, q)
        with np.errstate(all="ignore"):
            same(*both(name, *arguments, **options))
        plain = [*arguments, None][:2]
        answered += fast.quantile(*plain, 1, "nan" in name, options.get("axis")) is not None
    assert answered > 20


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
def test_quantiles_between_integers():
    """What is subtracted stays in 64 bits; NaN is left out of each group by its own number."""
    x = np.array([2**53, 2**53 + 1, -(2**62)])
    for values in (x, x.astype("u8"), np.array([0, 2**64 - 1], "u8"), np.array([-128, 127], "i1")):
        for q in (0.2, 0.6, [0.5, 0.99]):
            same(*both("quantile", values, q))
    rows = np.where(np.tri(5, 6, dtype=bool), np.arange(30.0).reshape(5, 6), np.nan)
    for axis in (0, 1):
        for a in (rows, rows.astype("f4"), rows[:, ::2]):
            kept = a[:, :5] if axis == 0 else a
            same(*both("nanquantile", np.ascontiguousarray(kept), [0.3, 0.5], axis=axis))
            same(*both("nanmedian", np.ascontiguousarray(kept), axis=axis))
            same(*both("median", kept, axis=axis))


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("seed", range(4))
def test_fill(seed, monkeypatch):
    """Several fills, on one to three axes, of all storages: cells, squares and flows as by the other way."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        storage = str(rng.choice(["count", "sum", "weight"]))
        axes = [axis_of(rng, tally.Regular(3, 0, 2**54)) for _ in range(int(rng.choice([1, 1, 2, 3])))]
        while np.prod([len(a) + 2 for a in axes]) > 1e6:
            axes = axes[1:]
        quick, slow = tally.Hist(*axes, storage=storage), tally.Hist(*axes, storage=storage)
        for _ in range(3):
            n = int(rng.choice(N))
            kinds = [rng.choice(["f4", "f8", "i4", "u1", "i8"]) for _ in axes]
            given = [samples(rng, kind, n) if rng.random() < 0.5 else rng.random(n) * 25 for kind in kinds]
            w = rng.integers(-50, 50, n).astype(rng.choice(["f4", "f8", "i4"]))
            extra = {"weight": w} if rng.random() < 0.5 and (storage != "count" or rng.random() < 0.1) else {}
            with monkeypatch.context() as patched:
                patched.setattr(_compiled, "fast", None)
                theirs = run(slow.fill, *given, **extra)
            ours = run(quick.fill, *given, **extra)
            assert type(ours) is type(theirs), (ours, theirs)
            if isinstance(theirs, Exception):
                same(ours, theirs)
            assert quick == slow
    assert pickle.loads(pickle.dumps(quick)) == quick == quick.copy()


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
@pytest.mark.parametrize("without", ["avx512", "avx2"])
def test_fill_on_older_processors(without):
    """The same by the loops for them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_fill and not older", __file__],
        env={**os.environ, "TALLY_DISABLE_CPU": without}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_whole_turns():
    """On circular axes, around the edges after any number of turns: the bins that `index` names, which Python finds."""
    rng = np.random.default_rng(1)
    tau = 2 * np.pi
    for axis in (
        tally.Regular(8, 0, tau, circular=True), tally.Regular(9, -np.pi, np.pi, circular=True),
        tally.Regular(6, 0, 360, circular=True), tally.Regular(10, 0.1, 0.7, circular=True),
        tally.Variable([-1e-3, 0, 0.7, 1], circular=True), tally.Integer(-3, 4, circular=True),
    ):  # fmt: skip
        turns = rng.integers(-1000, 1000, 400) * 10.0 ** rng.integers(-3, 15, 400)
        x = axis.edges[:, None] + np.round(turns) * (axis.edges[-1] - axis.edges[0])
        x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf), rng.normal(0, 1e3, x.shape)]).ravel()
        whole = rng.integers(-(2**63), 2**63, 300)
        for given in (x, x.astype("f4"), whole, whole.astype(np.uint64), whole.astype("i2"), (whole % 1000)[::2]):
            expected = np.bincount(axis.index(given), minlength=len(axis))
            found = [tally.Hist(axis).fill(given), sum(tally.Hist(axis).fill(part) for part in np.array_split(given, 150))]
            for h in found:
                assert np.array_equal(h.values(), expected[: len(axis)]) and h.flows.over == 0, (axis, given.dtype)


@pytest.mark.skipif(not HERE, reason="without the compiled part there is one way")
def test_fill_leaves_what_it_cannot_add():
    """Arrays of other shapes, and what is no filler."""
    h = tally.Hist(tally.Regular(4, 0, 1), tally.Regular(3, 0, 1)).fill([0.5], [0.5])
    for cells in (np.zeros((2, 2), int), np.zeros(30, int), np.zeros((6, 5), "i4"), np.zeros((5, 6), int).T):
        assert _compiled.fast.fill(h._filler, (cells, None, None, None), ([0.5], [0.5]), None, None) is None
        assert not cells.any()
    cells = np.zeros((6, 5), int)
    assert _compiled.fast.fill(h._filler, (cells, None, None, None), ([0.5], [0.5]), None, None) is False
    assert cells.sum() == 1
    with pytest.raises(ValueError):
        _compiled.fast.fill(object(), None, (), None, None)
    with pytest.raises(ValueError):
        _compiled.fast.filler(0, True, ((0.0, 1.0, False),), ((), ()))
    with pytest.raises(ValueError, match="another library"):
        _compiled.fast.filler(0, True, ((0.0, 1.0, False),), (((b"x", None),),) * 2)


def test_many_plans_and_threads():
    """More axes than plans are kept of, from several threads at once."""
    wrong = []
    x = np.random.default_rng(3).random(5000)

    def count(first):
        for i in range(first, first + 300):
            end = 1 + i % 150 / 100
            edges = np.linspace(0, end, 12)
            edges[5] += 1e-3
            for bins, range_ in ((10, (0, end)), (edges, None)):
                expected = np.histogram(x, bins, range_)[0]
                if (tally.histogram(x, bins, range_)[0] != expected).any():
                    wrong.append((i, bins))

    threads = [threading.Thread(target=count, args=(37 * t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


EDITABLE = """
import importlib.util, sys
source, binaries = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "libtally", source + "/__init__.py", submodule_search_locations=[binaries, source])
sys.modules["libtally"] = tally = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tally)
from libtally import _compiled, _library
assert _library.PATH.startswith(binaries) and _compiled.fast.__spec__.origin.startswith(binaries)
assert tally.histogram([1, 2, 2], 2)[0].tolist() == [1, 2]
"""


def test_binaries_apart_from_the_source(tmp_path):
    """As `pip install -e` lays them: Python in the checkout, what is compiled in site-packages."""
    from libtally import _compiled, _library

    named = os.environ.get("TALLY_LIBRARY")
    folder = pathlib.Path(_library.PATH).resolve().parent
    if not _compiled.fast or not (folder / "libtally-io.so.0").exists():
        pytest.skip("the package's binaries are elsewhere")
    (tmp_path / "lib").symlink_to(folder)
    (tmp_path / "_fast.abi3.so").symlink_to((folder if named else _library.FOLDER) / "_fast.abi3.so")
    env = {k: v for k, v in os.environ.items() if k not in ("TALLY_LIBRARY", "PYTHONPATH")}
    source = tmp_path / "source"  # without binaries
    shutil.copytree(pathlib.Path(tally.__file__).parent, source, ignore=shutil.ignore_patterns("*.so*", "lib", "bin"))
    words = [sys.executable, "-W", "error", "-c", EDITABLE, str(source), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert not done.returncode, done.stderr
