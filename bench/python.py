#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the Python package and its peers in turn, as JSON lines; bench/tables.py makes tables of them.

    bench/python.py cpu|cuda [-n SAMPLES,…] [-c REGEX] [-s SECONDS] > bench/results/python-….jsonl

From no sample to 10^9 (or those of -n), for the cases whose name REGEX finds. All take turns on the same data
in one process: seven rounds, on a device 25 (three of calls above half a second), in each of which everyone repeats
its call for some milliseconds. Every answer is compared with NumPy's, or, from 10^7 samples on, with Tally's. Who
would take more than SECONDS (2) a call, as the size before tells, is left out.

On the processor everyone has one thread, and the clock is the process' own time, which other work on the machine
disturbs least. On a device it is the time from the first call to the end of the last one's work, by the number
of calls; `host_s` is what a call takes until it returns, of at most 20 calls put on an idle device; `launch_s` is what
a call of Tally's takes until it launches its first kernel, where bench/launch_clock.c notes that. A device works for a
second first, for its clock is low after a rest.
"""

import argparse
import ctypes
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import sys
import time

ROUNDS, DEVICE_ROUNDS, FEW_ROUNDS, LONG = 7, 25, 3, 0.5
SIZES = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
COMPARED = 10_000_000  # fewer are compared with NumPy's answer


class Bench:
    """One machine: how it is timed, and what was measured."""

    def __init__(self, where, options, clock, finish, spend, host=False):
        """`finish(answer)`: the counts as NumPy's array once they are there; of None: waits."""
        self.where, self.options, self.clock = where, options, clock
        self.finish, self.spend, self.host = finish, spend, host
        self.launched = launch_clock() if host else None
        self.known = {}  # {(case, name): (n, seconds)} of the size before

    def wants(self, case):
        return re.search(self.options.cases, case)

    def serves(self, case, name, n):
        """Whether a contender is likely to be done in time."""
        if (case, name) not in self.known:
            return True
        before, seconds = self.known[case, name]
        return seconds * max(n / max(before, 1), 1) < self.options.seconds

    def once(self, call):
        self.finish(None)
        begin = self.clock()
        call()
        self.finish(None)
        return self.clock() - begin

    def start(self, case, calls, n, expected):
        """{name: (equal, calls a round)} of those that answer."""
        found = {}
        for name, call in calls.items():
            try:
                answer = self.finish(call())
                call()
                seconds = self.once(call)
            except Exception as e:  # an empty array, memory
                print(f"{case}, {n} samples: {name}: {type(e).__name__}: {e}", file=sys.stderr)
                continue
            expected = answer if expected is None else expected
            nan = (answer != answer) & (expected != expected) if answer.shape == expected.shape else False
            equal = answer.shape == expected.shape and bool(((answer == expected) | nan).all())
            found[name] = equal, max(1, min(200_000, int(self.spend / max(seconds, 1e-7))))
        return found

    def measure(self, case, calls, n, dtype, expected=None):
        """Lines of one case. `calls` are {name: function}, ours first; `expected` is NumPy's answer."""
        calls = {name: call for name, call in calls.items() if self.serves(case, name, n)}
        found = self.start(case, calls, n, expected)
        seconds = {name: [] for name in found}
        rounds = DEVICE_ROUNDS if self.host else ROUNDS
        for r in range(rounds):
            for name, (_, repeats) in found.items():
                call = calls[name]
                self.finish(None)
                begin = self.clock()
                for _ in range(repeats):
                    call()
                self.finish(None)
                seconds[name].append((self.clock() - begin) / repeats)
            rounds = FEW_ROUNDS if r == 0 and any(s[0] > LONG for s in seconds.values()) else rounds
            if r + 1 >= rounds:
                break
        for name, (equal, repeats) in found.items():
            median = statistics.median(seconds[name])
            self.known[case, name] = n, median
            line = {"where": self.where, "case": case, "n": n, "dtype": dtype, "by": name, "equal": equal,
                    "calls": repeats, "median_s": median, "min_s": min(seconds[name]),
                    "max_s": max(seconds[name])}  # fmt: skip
            if self.host:
                line["host_s"] = self.host_seconds(calls[name], min(20, repeats))
            if self.launched and name.startswith("tally") and n:
                line["launch_s"] = self.launch_seconds(calls[name])
            print(json.dumps(line), flush=True)

    def host_seconds(self, call, repeats):
        times = []
        for _ in range(5):
            self.finish(None)
            begin = self.clock()
            for _ in range(repeats):
                call()
            times.append((self.clock() - begin) / repeats)
        self.finish(None)
        return statistics.median(times)

    def launch_seconds(self, call):
        times = []
        for _ in range(15):
            self.finish(None)
            self.launched()
            begin = self.clock()
            call()
            times.append(self.launched() - begin)
        return statistics.median(times)


def launch_clock():
    """When the first kernel since the last time was launched, as bench/launch_clock.c notes it; else None."""
    library = os.environ.get("TALLY_CUDA_LIBRARY")
    clock = library and getattr(ctypes.CDLL(library), "launch_clock_first", None)
    if clock:
        clock.restype = ctypes.c_double
    return clock


def versions(names):
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def header(names, **more):
    import libtally as tally

    load = os.getloadavg()[0]
    devices = [{"id": d.id, "name": d.name} for d in tally.devices() if d.available]
    print(json.dumps(dict(
        {"header": "tally-python/1", "date": datetime.datetime.now().strftime("%Y-%m-%dT%H:%M:%S")},
        versions=versions(names), devices=devices, load=load, commit=os.environ.get("COMMIT", ""),
        compiled=tally._compiled.fast is not None, **more)))  # fmt: skip


def module(name):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        return None


# ---- the processor ----


class Cpu:
    """The cases of one size; each gives {name: call}, NumPy's among them."""

    def __init__(self, n):
        import numpy as np

        import libtally as tally

        self.n, self.np, self.tally = n, np, tally
        self.bh, self.fh = module("boost_histogram"), module("fast_histogram")
        self.xh, self.sp = module("xhistogram.core"), module("scipy.stats")
        self.ds, self.pd = module("datashader"), module("pandas")
        self.rng = np.random.default_rng(1)

    def given(self, calls):
        """Without those whose package is missing."""
        have = {"boost-histogram": self.bh, "fast-histogram": self.fh, "xhistogram": self.xh, "scipy": self.sp,
                "datashader": self.ds}  # fmt: skip
        return {name: call for name, call in calls.items() if have.get(name, True)}

    def bincounts(self):
        np, tally, rng, n = self.np, self.tally, self.rng, self.n
        for dtype in ("uint8", "int64"):
            x = rng.integers(0, 256, n).astype(dtype)
            yield f"bincount {dtype}", dtype, {
                "tally": lambda: tally.bincount(x), "numpy": lambda: np.bincount(x),
            }  # fmt: skip
        w = rng.integers(0, 9, n).astype(float)
        yield "bincount, weights", "int64", {
            "tally": lambda: tally.bincount(x, w), "numpy": lambda: np.bincount(x, w),
        }  # fmt: skip

    def even(self):
        np, tally, bh, fh, xh = self.np, self.tally, self.bh, self.fh, self.xh
        for case, dtype, bins in (("histogram float32", "float32", 100), ("histogram float64", "float64", 100),
                                  ("histogram float32, 256 bins", "float32", 256)):  # fmt: skip
            x = self.rng.random(self.n, dtype)
            edges = np.linspace(0, 1, bins + 1)
            yield case, dtype, {
                "tally": lambda: tally.histogram(x, bins, (0.0, 1.0)),
                "numpy": lambda: np.histogram(x, bins, (0.0, 1.0)),
                "boost-histogram": lambda: bh.numpy.histogram(x, bins, (0.0, 1.0)),
                "fast-histogram": lambda: fh.histogram1d(x, bins, (0.0, 1.0)),
                "xhistogram": lambda: xh.histogram(x, bins=[edges]),
            }  # fmt: skip
        for dtype in ("float32", "float64"):
            x = self.rng.random(self.n, dtype)
            yield f"histogram {dtype}, no range", dtype, {
                "tally": lambda: tally.histogram(x, 100), "numpy": lambda: np.histogram(x, 100),
                "boost-histogram": lambda: bh.numpy.histogram(x, 100),
            }  # fmt: skip
        yield "histogram, rule auto", "float64", {
            "tally": lambda: tally.histogram(x, "auto"), "numpy": lambda: np.histogram(x, "auto"),
        }  # fmt: skip
        yield "histogram_bin_edges", "float64", {
            "tally": lambda: tally.histogram_bin_edges(x, 100), "numpy": lambda: np.histogram_bin_edges(x, 100),
        }  # fmt: skip
        whole = self.rng.integers(0, 1000, self.n)
        yield "histogram int64", "int64", {
            "tally": lambda: tally.histogram(whole, 100, (0, 1000)),
            "numpy": lambda: np.histogram(whole, 100, (0, 1000)),
            "boost-histogram": lambda: bh.numpy.histogram(whole, 100, (0, 1000)),
            "fast-histogram": lambda: fh.histogram1d(whole, 100, (0, 1000)),
        }  # fmt: skip

    def weighted(self):
        np, tally, bh, fh = self.np, self.tally, self.bh, self.fh
        x, w = self.rng.random(self.n), self.rng.integers(0, 9, self.n).astype(float)
        edges = np.sort(self.rng.random(101))
        yield "histogram, weights", "float64", {
            "tally": lambda: tally.histogram(x, 100, (0, 1), weights=w),
            "numpy": lambda: np.histogram(x, 100, (0, 1), weights=w),
            "boost-histogram": lambda: bh.numpy.histogram(x, 100, (0, 1), weights=w),
            "fast-histogram": lambda: fh.histogram1d(x, 100, (0, 1), weights=w),
        }  # fmt: skip
        yield "histogram, density", "float64", {
            "tally": lambda: tally.histogram(x, 100, (0, 1), density=True),
            "numpy": lambda: np.histogram(x, 100, (0, 1), density=True),
            "boost-histogram": lambda: bh.numpy.histogram(x, 100, (0, 1), density=True),
        }  # fmt: skip
        yield "histogram, uneven edges", "float64", {
            "tally": lambda: tally.histogram(x, edges), "numpy": lambda: np.histogram(x, edges),
            "boost-histogram": lambda: bh.numpy.histogram(x, edges),
            "xhistogram": lambda: self.xh.histogram(x, bins=[edges]),
        }  # fmt: skip
        yield "digitize", "float64", {
            "tally": lambda: tally.digitize(x, edges), "numpy": lambda: np.digitize(x, edges),
        }  # fmt: skip
        whole, wholes = self.rng.integers(0, 1000, self.n), np.arange(0, 1000, 10)
        yield "digitize int64", "int64", {
            "tally": lambda: tally.digitize(whole, wholes), "numpy": lambda: np.digitize(whole, wholes),
        }  # fmt: skip

    def joint(self):
        np, tally, bh, fh = self.np, self.tally, self.bh, self.fh
        x, y, z, w = (self.rng.random(self.n) for _ in range(4))
        ends = ((0, 1), (0, 1))
        for case, extra in (("histogram2d 64×64", {}), ("histogram2d 64×64, weights", {"weights": np.floor(w * 9)})):
            yield case, "float64", {
                "tally": lambda: tally.histogram2d(x, y, 64, ends, **extra),
                "numpy": lambda: np.histogram2d(x, y, 64, ends, **extra),
                "boost-histogram": lambda: bh.numpy.histogram2d(x, y, 64, ends, **extra),
                "fast-histogram": lambda: fh.histogram2d(x, y, 64, ends, **extra),
            }  # fmt: skip
        yield "histogram2d 64×64, no range", "float64", {
            "tally": lambda: tally.histogram2d(x, y, 64), "numpy": lambda: np.histogram2d(x, y, 64),
            "boost-histogram": lambda: bh.numpy.histogram2d(x, y, 64),
        }  # fmt: skip
        ends = ((0, 1),) * 3
        for case, extra in (("histogramdd 10×10×10", {}), ("histogramdd 10×10×10, weights", {"weights": np.floor(w * 9)})):
            yield case, "float64", {
                "tally": lambda: tally.histogramdd((x, y, z), 10, ends, **extra),
                "numpy": lambda: np.histogramdd((x, y, z), 10, ends, **extra),
                "boost-histogram": lambda: bh.numpy.histogramdd((x, y, z), 10, ends, **extra),
                "fast-histogram": lambda: fh.histogramdd((x, y, z), 10, ends, **extra),
            }  # fmt: skip

    def statistics(self):
        """Means of values in bins: of whole numbers, so that sums are exact."""
        np, tally, bh, sp, n = self.np, self.tally, self.bh, self.sp, self.n
        x, y = self.rng.random(n), self.rng.random(n)
        v = self.rng.integers(-900, 900, n).astype(float)
        yield "binned_statistic, mean", "float64", {
            "tally": lambda: tally.binned_statistic(x, v, "mean", 100, (0, 1)),
            "numpy": lambda: np.divide(*(np.histogram(x, 100, (0, 1), weights=w)[0] for w in (v, None))),
            "scipy": lambda: sp.binned_statistic(x, v, "mean", 100, (0, 1)),
        }  # fmt: skip
        for dtype, bins in (("float64", 100), ("float64", 4096), ("float32", 100), ("float32", 4096)):
            yield f"Hist.fill {dtype}, mean, {bins} bins", dtype, self.means([x], v, [bins], dtype)
        calls = self.means([x, y], v, [1024, 1024], "float64")
        if self.ds and self.pd:
            frame = self.pd.DataFrame({"x": x, "y": y, "v": v})
            canvas = self.ds.Canvas(1024, 1024, x_range=(0, 1), y_range=(0, 1))
            calls["datashader"] = lambda: canvas.points(frame, "x", "y", self.ds.mean("v")).values.T
        yield "Hist.fill, mean, 1024×1024 bins", "float64", calls

    def means(self, samples, v, bins, dtype):
        """Histograms that are filled anew by each call; the answer is all their means, to nine digits."""
        np, tally, bh = self.np, self.tally, self.bh
        samples, v, ends = [x.astype(dtype) for x in samples], v.astype(dtype), [(0, 1)] * len(bins)
        h = tally.Hist(*(tally.Regular(n, 0, 1) for n in bins), storage="mean")

        def ours():
            h.reset().fill(*samples, sample=v)
            return np.round(h.values(), 9)

        def theirs():
            made = bh.Histogram(*(bh.axis.Regular(n, 0, 1) for n in bins), storage=bh.storage.Mean())
            return np.round(made.fill(*samples, sample=v).values(), 9)

        def numpys():
            total, count = (np.histogramdd(samples, bins, ends, weights=w)[0] for w in (v, None))
            return np.round(np.divide(total, count, out=np.zeros(bins), where=count > 0), 9)

        return {"tally": ours, "boost-histogram": theirs, "numpy": numpys}

    def quantiles(self):
        np, tally = self.np, self.tally
        five = (0.1, 0.25, 0.5, 0.75, 0.9)
        for dtype in ("float32", "float64"):
            x = self.rng.random(self.n, dtype)
            yield f"median {dtype}", dtype, {
                "tally": lambda: tally.median(x), "numpy": lambda: np.median(x),
            }  # fmt: skip
            yield f"quantile {dtype}, five", dtype, {
                "tally": lambda: tally.quantile(x, five), "numpy": lambda: np.quantile(x, five),
            }  # fmt: skip
        yield "percentile", "float64", {
            "tally": lambda: tally.percentile(x, 90), "numpy": lambda: np.percentile(x, 90),
        }  # fmt: skip

    def kept(self):
        """Histograms to keep, emptied for the first answer, which is compared, then filled again and again."""
        np, tally, bh = self.np, self.tally, self.bh
        x, y, w = (self.rng.random(self.n) for _ in range(3))
        w, wide = np.floor(w * 9), x * 1.5 - 0.25

        def filler(h, *samples, **extra):
            filled = []

            def fill():
                h.fill(*samples, **extra)
                if not filled:
                    filled.append(1)
                    return np.array(h.values())

            return fill

        def ours(*bins, storage="count"):
            return tally.Hist(*(tally.Regular(n, 0, 1) for n in bins), storage=storage)

        def theirs(*bins, storage="Int64"):
            axes = [bh.axis.Regular(n, 0, 1) for n in bins]
            return bh.Histogram(*axes, storage=getattr(bh.storage, storage)())

        numpys = {
            "Hist.fill": lambda: np.histogram(x, 100, (0, 1)),
            "Hist.fill, weights": lambda: np.histogram(x, 100, (0, 1), weights=w),
            "Hist.fill, weights, a third outside": lambda: np.histogram(wide, 100, (0, 1), weights=w),
            "Hist.fill, 2 axes": lambda: np.histogram2d(x, y, 10, ((0, 1), (0, 1))),
            "Hist.fill, 2 axes, weights": lambda: np.histogram2d(x, y, 10, ((0, 1), (0, 1)), weights=w),
            "Hist.fill, 2 axes, weights, a third outside": lambda: np.histogram2d(
                wide, y, 10, ((0, 1), (0, 1)), weights=w
            ),
        }
        for case, bins, samples, storages in (
            ("Hist.fill", (100,), (x,), ("count", "Int64")),
            ("Hist.fill, weights", (100,), (x,), ("weight", "Weight")),
            ("Hist.fill, weights, a third outside", (100,), (wide,), ("weight", "Weight")),
            ("Hist.fill, 2 axes", (10, 10), (x, y), ("count", "Int64")),
            ("Hist.fill, 2 axes, weights", (10, 10), (x, y), ("weight", "Weight")),
            ("Hist.fill, 2 axes, weights, a third outside", (10, 10), (wide, y), ("weight", "Weight")),
        ):
            extra = [{"weight": w}] * 2 if "weights" in case else [{}, {}]
            calls = {"tally": filler(ours(*bins, storage=storages[0]), *samples, **extra[0])}
            if bh:
                calls["boost-histogram"] = filler(theirs(*bins, storage=storages[1]), *samples, **extra[1])
            yield case, "float64", {**calls, "numpy": numpys[case]}

    def cases(self):
        for part in (self.bincounts, self.even, self.weighted, self.joint, self.statistics, self.quantiles, self.kept):
            yield from part()


def numpys(calls, finish):
    """NumPy's answer, or None where it has none (quantiles of nothing)."""
    try:
        return finish(calls["numpy"]())
    except IndexError:
        return None


def cpu(options):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])  # one thread for everyone
    import numpy as np

    def finish(answer):
        if answer is None:
            return None
        return np.asarray(answer[0] if isinstance(answer, tuple) else answer)

    header(["numpy", "scipy", "boost-histogram", "fast-histogram", "xhistogram", "datashader"], clock="process time")
    bench = Bench("cpu", options, time.process_time, finish, 0.02)
    for n in options.sizes or [n for n in SIZES if n <= 10_000_000]:
        size = Cpu(n)
        for case, dtype, calls in size.cases():
            if bench.wants(case):
                compared = n < COMPARED and bench.serves(case, "numpy", n)
                expected = numpys(calls, finish) if compared else None
                bench.measure(case, size.given(calls), n, dtype, expected)


# ---- a CUDA device ----


class Cuda:
    """The cases of one size: {name: call}, and NumPy's answer to a function that takes it from the device."""

    def __init__(self, n):
        import cupy
        import numpy as np
        import torch

        import libtally as tally

        self.n, self.np, self.cupy, self.torch, self.tally = n, np, cupy, torch, tally

    def bincounts(self):
        cupy, np, tally, torch = self.cupy, self.np, self.tally, self.torch
        for dtype in ("uint8", "int64"):
            x = cupy.random.randint(0, 256, self.n).astype(dtype)
            t = torch.from_dlpack(x)
            yield f"bincount {dtype}", dtype, {
                "tally": lambda: tally.bincount(x, minlength=256),
                "tally on torch": lambda: tally.bincount(t, minlength=256),
                "cupy": lambda: cupy.bincount(x, minlength=256),
                "torch": lambda: torch.bincount(t, minlength=256),
            }, lambda: np.bincount(cupy.asnumpy(x), minlength=256)  # fmt: skip

    def even(self):
        cupy, np, tally, torch = self.cupy, self.np, self.tally, self.torch
        for case, dtype, bins, ends in (
            ("histogram float32, 256 bins", "float32", 256, (0.0, 1.0)),
            ("histogram float32, 100 bins", "float32", 100, (0.0, 1.0)),
            ("histogram float64, 256 bins", "float64", 256, (0.0, 1.0)),
            ("histogram float32, no range", "float32", 100, None),
            ("histogram float64, no range", "float64", 100, None),
        ):
            x = cupy.random.random(self.n, dtype=dtype)
            t = torch.from_dlpack(x)
            yield case, dtype, {
                "tally": lambda: tally.histogram(x, bins, ends),
                "tally on torch": lambda: tally.histogram(t, bins, ends),
                "cupy": lambda: cupy.histogram(x, bins, ends),
                "torch": lambda: torch.histc(t, bins, *(ends or (0, 0))),
            }, lambda: np.histogram(cupy.asnumpy(x), bins, ends)[0]  # fmt: skip

    def joint(self):
        cupy, np, tally, torch = self.cupy, self.np, self.tally, self.torch
        x, y = (cupy.random.random(self.n, dtype="float32") for _ in range(2))
        t, u = torch.from_dlpack(x), torch.from_dlpack(y)
        ends = ((0, 1), (0, 1))
        yield "histogramdd 64×64", "float32", {
            "tally": lambda: tally.histogramdd((x, y), 64, ends),
            "tally on torch": lambda: tally.histogramdd((t, u), 64, ends),
            "cupy": lambda: cupy.histogramdd((x, y), 64, ends),
        }, lambda: np.histogramdd((cupy.asnumpy(x), cupy.asnumpy(y)), 64, ends)[0]  # fmt: skip
        w = cupy.floor(y * 9)
        v = torch.from_dlpack(w)
        yield "histogram float32, weights", "float32", {
            "tally": lambda: tally.histogram(x, 256, (0.0, 1.0), weights=w),
            "tally on torch": lambda: tally.histogram(t, 256, (0.0, 1.0), weights=v),
            "cupy": lambda: cupy.histogram(x, 256, (0.0, 1.0), weights=w),
        }, None  # fmt: skip

    def cases(self):
        for part in (self.bincounts, self.even, self.joint):
            yield from part()


def warm(torch):
    x = torch.ones(1 << 26, device="cuda")
    end = time.perf_counter() + 1
    while time.perf_counter() < end:
        x.mul_(2)
        torch.cuda.synchronize()


def cuda(options):
    import cupy
    import torch

    def finish(answer):
        if answer is None:
            torch.cuda.synchronize()
            return None
        answer = answer[0] if isinstance(answer, tuple) else answer
        return answer.cpu().numpy() if isinstance(answer, torch.Tensor) else cupy.asnumpy(answer)

    header(["numpy", "torch", *(name for name in map(str, importlib.metadata.packages_distributions().get("cupy", [])))],
           clock="wall, back to back")  # fmt: skip
    bench = Bench("cuda", options, time.perf_counter, finish, 0.004, host=True)
    warm(torch)
    for n in options.sizes or SIZES:
        for case, dtype, calls, expected in Cuda(n).cases():
            if bench.wants(case):
                compared = n < COMPARED and expected
                bench.measure(case, calls, n, dtype, expected() if compared else None)
            del calls, expected
            torch.cuda.empty_cache()
            cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("where", choices=["cpu", "cuda"])
    parser.add_argument("-n", dest="sizes", type=lambda text: [int(float(n)) for n in text.split(",")])
    parser.add_argument("-c", dest="cases", default="")
    parser.add_argument("-s", dest="seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    {"cpu": cpu, "cuda": cuda}[arguments.where](arguments)
