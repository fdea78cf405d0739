#!/usr/bin/env python3
"""Times the Python package and its peers in turn, as JSON lines; bench/tables.py makes tables of them.

    bench/python.py cpu|cuda > bench/results/python-….jsonl

All take turns on the same data in one process: seven rounds, in each of which everyone repeats its call
for some milliseconds. Every answer is compared with NumPy's. On the processor everyone has one
thread, and the clock is the process' own time, which other work on the machine disturbs least; on a
device it is the time from the first call to the end of the last one's work, by the number of calls.
"""

import datetime
import json
import os
import platform
import statistics
import sys
import time

ROUNDS = 7


def measure(case, calls, expected, clock, finish, spend, extra):
    """Lines of one case. `calls` are {name: function}, ours first."""
    repeats, equal = {}, {}
    for name, call in calls.items():
        answer = finish(call())
        equal[name] = bool((answer == expected).all()) if answer is not None else None
        call()
        begin = clock()
        call()
        finish(None)
        repeats[name] = max(1, min(200_000, int(spend / max(clock() - begin, 1e-7))))
    seconds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            finish(None)
            begin = clock()
            for _ in range(repeats[name]):
                call()
            finish(None)
            seconds[name].append((clock() - begin) / repeats[name])
    for name in calls:
        line = dict(extra, case=case, by=name, equal=equal[name], calls=repeats[name])
        line.update(median_s=statistics.median(seconds[name]), min_s=min(seconds[name]),
                    max_s=max(seconds[name]))  # fmt: skip
        print(json.dumps(line), flush=True)


def versions(names):
    found = {"python": platform.python_version()}
    for name in names:
        try:
            module = __import__(name)
            found[name] = getattr(module, "__version__", "")
        except ImportError:
            pass
    return found


def header(names, **more):
    import tally

    load = os.getloadavg()[0]
    print(json.dumps(dict(
        {"header": "tally-python/1", "date": datetime.datetime.now().strftime("%Y-%m-%dT%H:%M:%S")},
        versions=versions(names), devices=[d._asdict() for d in tally.devices() if d.available],
        load=load, commit=os.environ.get("COMMIT", ""), **more)))  # fmt: skip


# ---- the processor ----


def cpu():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one thread for everyone
    import boost_histogram as bh
    import fast_histogram as fh
    import numpy as np

    import tally

    def finish(answer):
        if answer is None:
            return None
        answer = answer[0] if isinstance(answer, tuple) else answer
        return np.asarray(answer)

    header(["numpy", "boost_histogram", "fast_histogram", "tally"], clock="process time")
    rng = np.random.default_rng(1)

    def run(case, calls, n, dtype):
        expected = finish(calls["numpy"]())
        extra = {"where": "cpu", "n": n, "dtype": dtype, "threads": 1}
        measure(case, calls, expected, time.process_time, finish, 0.02, extra)

    for n in (100, 10_000, 1_000_000, 10_000_000):
        for dtype in ("uint8", "int64"):
            x = rng.integers(0, 256, n).astype(dtype)
            run(f"bincount {dtype}", {
                "tally": lambda: tally.bincount(x), "numpy": lambda: np.bincount(x),
            }, n, dtype)  # fmt: skip
        for dtype in ("float32", "float64"):
            x = rng.random(n).astype(dtype)
            run(f"histogram {dtype}", {
                "tally": lambda: tally.histogram(x, 100, (0.0, 1.0)),
                "numpy": lambda: np.histogram(x, 100, (0.0, 1.0)),
                "boost-histogram": lambda: bh.numpy.histogram(x, 100, (0.0, 1.0)),
                "fast-histogram": lambda: fh.histogram1d(x, 100, (0.0, 1.0)),
            }, n, dtype)  # fmt: skip
        y = rng.random(n, "float32")
        run("histogram float32, 256 bins", {
            "tally": lambda: tally.histogram(y, 256, (0.0, 1.0)),
            "numpy": lambda: np.histogram(y, 256, (0.0, 1.0)),
            "boost-histogram": lambda: bh.numpy.histogram(y, 256, (0.0, 1.0)),
            "fast-histogram": lambda: fh.histogram1d(y, 256, (0.0, 1.0)),
        }, n, "float32")  # fmt: skip
    n = 1_000_000
    x, y, w = rng.random(n), rng.random(n), rng.integers(0, 9, n).astype(float)
    edges = np.sort(rng.random(101))
    regular = bh.axis.Regular(100, 0, 1)
    run("histogram, uneven edges", {
        "tally": lambda: tally.histogram(x, edges),
        "numpy": lambda: np.histogram(x, edges),
        "boost-histogram": lambda: bh.numpy.histogram(x, edges),
    }, n, "float64")  # fmt: skip
    run("histogram, no range", {
        "tally": lambda: tally.histogram(x, 100), "numpy": lambda: np.histogram(x, 100),
        "boost-histogram": lambda: bh.numpy.histogram(x, 100),
    }, n, "float64")  # fmt: skip
    run("histogram, weights", {
        "tally": lambda: tally.histogram(x, 100, (0, 1), weights=w),
        "numpy": lambda: np.histogram(x, 100, (0, 1), weights=w),
        "boost-histogram": lambda: bh.numpy.histogram(x, 100, (0, 1), weights=w),
        "fast-histogram": lambda: fh.histogram1d(x, 100, (0, 1), weights=w),
    }, n, "float64")  # fmt: skip
    run("histogram2d 64×64", {
        "tally": lambda: tally.histogram2d(x, y, 64, ((0, 1), (0, 1))),
        "numpy": lambda: np.histogram2d(x, y, 64, ((0, 1), (0, 1))),
        "boost-histogram": lambda: bh.numpy.histogram2d(x, y, 64, ((0, 1), (0, 1))),
        "fast-histogram": lambda: fh.histogram2d(x, y, 64, ((0, 1), (0, 1))),
    }, n, "float64")  # fmt: skip
    run("Hist.fill", {
        "tally": lambda: tally.Hist(tally.Regular(100, 0, 1)).fill(x).values(),
        "numpy": lambda: np.histogram(x, 100, (0, 1)),
        "boost-histogram": lambda: bh.Histogram(regular).fill(x).values(),
    }, n, "float64")  # fmt: skip


# ---- a CUDA device ----


def cuda():
    import cupy
    import numpy as np
    import torch

    import tally

    def finish(answer):
        if answer is None:
            torch.cuda.synchronize()
            return None
        answer = answer[0] if isinstance(answer, tuple) else answer
        return answer.cpu().numpy() if isinstance(answer, torch.Tensor) else cupy.asnumpy(answer)

    header(["numpy", "cupy", "torch", "tally"], clock="wall, back to back")

    def run(case, calls, n, dtype):
        extra = {"where": "cuda", "n": n, "dtype": dtype}
        expected = finish(calls["tally"]())  # compared with NumPy's below where n is small
        measure(case, calls, expected, time.perf_counter, finish, 0.01, extra)
        torch.cuda.empty_cache()
        cupy.get_default_memory_pool().free_all_blocks()

    for n in (1_000_000_000, 100_000_000, 1_000_000, 100):
        x = cupy.random.randint(0, 256, n, dtype=cupy.uint8)
        t = torch.from_dlpack(x)
        if n <= 1_000_000:
            assert (finish(tally.bincount(x)) == np.bincount(cupy.asnumpy(x))).all()
        long = t.long() if n <= 100_000_000 else None
        calls = {
            "tally": lambda: tally.bincount(x, minlength=256),
            "tally on torch": lambda: tally.bincount(t, minlength=256),
            "cupy": lambda: cupy.bincount(x, minlength=256),
        }
        if long is not None:
            calls["torch"] = lambda: torch.bincount(t, minlength=256)
        run("bincount uint8", calls, n, "uint8")
        del calls, x, t, long
        for dtype, bins in (("float32", 256), ("float32", 100), ("float64", 256)):
            if dtype == "float64" and n > 100_000_000:
                continue
            x = cupy.random.random(n, dtype=dtype)
            t = torch.from_dlpack(x)
            if n <= 1_000_000:
                theirs = np.histogram(cupy.asnumpy(x), bins, (0.0, 1.0))[0]
                assert (finish(tally.histogram(x, bins, (0.0, 1.0))) == theirs).all()
            run(f"histogram {dtype}, {bins} bins", {
                "tally": lambda: tally.histogram(x, bins, (0.0, 1.0)),
                "tally on torch": lambda: tally.histogram(t, bins, (0.0, 1.0)),
                "cupy": lambda: cupy.histogram(x, bins, (0.0, 1.0)),
                "torch": lambda: torch.histc(t, bins, 0.0, 1.0),
            }, n, dtype)  # fmt: skip
            del x, t


if __name__ == "__main__":
    if sys.argv[1:] not in (["cpu"], ["cuda"]):
        sys.exit(__doc__)
    {"cpu": cpu, "cuda": cuda}[sys.argv[1]]()
