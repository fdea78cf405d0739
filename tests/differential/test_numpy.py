# SPDX-License-Identifier: Apache-2.0
"""The library against NumPy: histogram, histogramdd and bincount give the same counts, bit for bit.

Usage: test_numpy.py [SEED [CASES [SECONDS]]]; the library is $TALLY_LIBRARY.

Random dtypes, shapes, strides, edges, weights and special values. For float32 and float16 data on
even bins NumPy rounds the edges to the data's type: the library is given those.
"""

import ctypes as c
import os
import sys
import time

import numpy as np

DTYPES = {"u1": 1, "i1": 2, "u2": 3, "i2": 4, "u4": 5, "i4": 6, "u8": 7, "i8": 8, "f2": 9, "f4": 11,
          "f8": 12}
EVEN, EDGES, INTEGER = 0, 1, 3


class View(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("data", c.c_void_p), ("dtype", c.c_int),
                ("device", c.c_int)] + [
                    (n, c.c_uint64) for n in ("batches", "rows", "columns", "channels")] + [
                        (n, c.c_int64) for n in ("batch", "row", "column", "channel")] + [
                            ("source", c.c_void_p)]


class Axis(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("bins", c.c_uint64),
                ("lo", c.c_double), ("hi", c.c_double), ("first", c.c_int64), ("edges", c.c_void_p),
                ("categories", c.c_void_p), ("under", c.c_int), ("over", c.c_int), ("nan", c.c_int),
                ("last", c.c_int)]


class PlanOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("dimensions", c.c_uint32), ("axes", Axis * 8),
                ("dtypes", c.c_int * 8), ("channels", c.c_uint64), ("channel_mask", c.c_uint64),
                ("counter", c.c_int), ("weight_dtype", c.c_int), ("sum_squares", c.c_int32),
                ("n_hint", c.c_uint64), ("method", c.c_char_p), ("settings", c.c_void_p),
                ("settings_count", c.c_size_t), ("timing_only", c.c_int32),
                ("weight_limit", c.c_double)]


class Output(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("counts", c.c_void_p), ("flows", c.c_void_p),
                ("squares", c.c_void_p), ("accumulate", c.c_int32), ("on_device", c.c_int32),
                ("flow_sums", c.c_void_p)]


class ExecuteOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("mask", c.POINTER(View)),
                ("weights", c.POINTER(View)), ("stream", c.c_void_p), ("progress", c.c_void_p),
                ("user", c.c_void_p), ("device_seconds", c.c_void_p), ("merge_seconds", c.c_void_p)]


class ContextOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device", c.c_int), ("index", c.c_int32),
                ("threads", c.c_uint32), ("native", c.c_void_p), ("devices", c.c_char_p)]


class Stats(c.Structure):
    _fields_ = [("struct_size", c.c_size_t)] + [
        (n, c.c_uint64) for n in ("samples", "finite", "nan", "minus_inf", "plus_inf")] + [
            ("min", c.c_double), ("max", c.c_double), ("min_integer", c.c_int64),
            ("max_integer", c.c_int64), ("mean", c.c_double), ("m2", c.c_double),
            ("m3", c.c_double)]


class Error(c.Structure):
    _fields_ = [("message", c.c_char * 1024)]


def sized(structure, **values):
    return structure(struct_size=c.sizeof(structure), **values)


def view_of(x):
    """Up to three dimensions: batches, rows, columns. A stride of 0 would mean packed."""
    shape = (1,) * (3 - x.ndim) + x.shape
    strides = (0,) * (3 - x.ndim) + tuple(s if n > 1 else 0 for s, n in zip(x.strides, x.shape))
    return sized(View, data=x.ctypes.data, dtype=DTYPES[x.dtype.str[1:]], batches=shape[0],
                 rows=shape[1], columns=shape[2], channels=1, batch=strides[0], row=strides[1],
                 column=strides[2])


class Tally:
    def __init__(self, threads):
        path = os.environ.get("TALLY_LIBRARY")
        if not path or os.environ.get("SANITIZE"):
            print("skipped: no shared library without sanitizers to load (TALLY_LIBRARY)")
            sys.exit(77)
        self.lib = c.CDLL(path)
        self.context = c.c_void_p()
        options = sized(ContextOptions, device=1, threads=threads)
        self.call("tally_context_create", c.byref(options), c.byref(self.context))

    def call(self, name, *arguments):
        error = Error()
        status = getattr(self.lib, name)(*arguments, c.byref(error))
        if status:
            raise ValueError(f"{name}: {status}: {error.message.decode()}")

    def edges(self, axis):
        out = np.empty(axis.bins + 1)
        self.call("tally_axis_edges_get", c.byref(axis), c.c_void_p(out.ctypes.data))
        return out

    def histogram(self, arrays, axes, weights=None, mask=None):
        """(counts, flows) of each batch; several arrays make a joint table."""
        options = sized(PlanOptions, dimensions=len(arrays))
        views = (View * len(arrays))(*[view_of(x) for x in arrays])
        for d, axis in enumerate(axes):
            options.axes[d], options.dtypes[d] = axis, views[d].dtype
        execute = sized(ExecuteOptions)
        if weights is not None:
            options.weight_dtype = DTYPES[weights.dtype.str[1:]]
            execute.weights = c.pointer(view_of(weights))
        if mask is not None:
            execute.mask = c.pointer(view_of(mask))
        kind = np.uint64 if weights is None else np.float64 if weights.dtype.kind == "f" else np.int64
        shape = (views[0].batches,) + tuple(axis.bins for axis in axes)
        counts, flows = np.full(shape, 77, kind), np.full((shape[0], 4), 77, np.uint64)
        output = sized(Output, counts=counts.ctypes.data, flows=flows.ctypes.data)
        plan = c.c_void_p()
        self.call("tally_plan_create", self.context, c.byref(options), c.byref(plan))
        try:
            self.call("tally_execute", plan, views, c.byref(execute), c.byref(output))
        finally:
            self.lib.tally_plan_destroy(plan)
        return counts, flows

    def stats(self, x):
        out, view = sized(Stats), view_of(x)
        self.call("tally_stats_add", self.context, c.byref(view), None, c.c_uint64(0), 0,
                  c.byref(out))
        return out


def random_values(rng, dtype, n):
    """Samples of a random kind; 64-bit integers are ones that float64 holds, as NumPy rounds them."""
    t, kind = np.dtype(dtype), rng.integers(7)
    if t.kind in "iu":
        info = np.iinfo(t)
        if kind == 0:
            x = rng.integers(info.min, info.max, n, dtype=t, endpoint=True)
        else:
            most = min(info.max, int(rng.choice([1, 5, 100, 300, 10**6, 2**40])))
            x = rng.integers(max(info.min, -most), most, n, dtype=t, endpoint=True)
        return x >> 12 << 12 if t.itemsize == 8 and kind == 0 else x
    scale = float(rng.choice([1e-3, 1, 100, 1e4]))
    x = [lambda: rng.normal(size=n), lambda: rng.random(n), lambda: rng.exponential(size=n),
         lambda: rng.integers(0, 5, n) * 1.0, lambda: np.full(n, rng.normal()),
         lambda: np.round(rng.normal(size=n), 1), lambda: np.linspace(-1, 1, n)][kind]() * scale
    with np.errstate(all="ignore"):
        return x.astype(t)


def add_specials(rng, x):
    """In place: NaN, infinities, zeros, denormals."""
    if x.dtype.kind == "f" and x.size and rng.random() < 0.5:
        info = np.finfo(x.dtype)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, info.tiny, -info.tiny, info.max, info.min]
        at = rng.integers(0, x.size, 1 + x.size // 20)
        x.reshape(-1)[at] = rng.choice(special, len(at))


def add_edges(rng, x, edges):
    """In place: samples that meet an edge, or lie one step beside it."""
    if not x.size or rng.random() < 0.3:
        return
    at = rng.integers(0, x.size, 1 + x.size // 4)
    e = rng.choice(edges, len(at))
    if x.dtype.kind == "f":
        with np.errstate(all="ignore"):
            e = e.astype(x.dtype)
            step = rng.integers(0, 3, len(at))
            e = np.where(step == 0, e, np.nextafter(e, np.where(step == 1, np.inf, -np.inf),
                                                    dtype=x.dtype))
    else:
        info, exact = np.iinfo(x.dtype), 2.0**53
        e = np.clip(np.floor(e) + rng.integers(-1, 2, len(at)), max(float(info.min), -exact), min(float(info.max), exact))
        e = e.astype(x.dtype)
    x.reshape(-1)[at] = e


def restride(rng, x):
    """The same samples, somewhere else, in another layout."""
    kind = rng.integers(7)
    if kind == 1:  # backwards in memory
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    if kind == 2:  # with gaps
        gaps = np.zeros(x.shape[:-1] + (x.shape[-1] * 3,), x.dtype)
        gaps[..., ::3] = x
        return gaps[..., ::3]
    if kind == 3 and x.ndim > 1:
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if kind == 4:  # a field of a packed record: unaligned
        record = np.zeros(x.shape, np.dtype([("other", "u1"), ("x", x.dtype), ("more", "u2")]))
        record["x"] = x
        return record["x"]
    if kind == 5 and x.ndim > 1:  # a region of something larger, upside down
        big = np.zeros(tuple(n + 3 for n in x.shape), x.dtype)
        inner = big[tuple(slice(1, n + 1) for n in x.shape)][..., ::-1, :]
        inner[...] = x
        return inner
    return x


def random_shape(rng):
    n = int(rng.choice([0, 1, 2, 3, 15, 16, 17, 100, 255, 256, 1000, 1023, 1025,
                        rng.integers(1, 20000)]))
    if rng.random() < 0.02:
        n = int(rng.integers(1 << 18, 1 << 20))
    dimensions = int(rng.integers(1, 4))
    if dimensions == 1:
        return (n,)
    rows = int(rng.integers(1, 9))
    return (rows, n // rows) if dimensions == 2 else (int(rng.integers(1, 4)), rows, n // rows // 2)


def beside(rng, x):
    """x, a float64 or float32 next to it, or x with a rounding's residue."""
    kind, up = int(rng.integers(4)), np.inf if rng.random() < 0.5 else -np.inf
    return float([x, np.nextafter(x, up), np.nextafter(np.float32(x), np.float32(up)),
                  x + np.sign(up) * (0.1 * 3 - 0.3)][kind])


def near_range(rng, bins):
    """Ends of a round width from or to a round number, then moved aside."""
    end = float(rng.choice([0, 0, rng.integers(-300, 300), 2.0 ** rng.integers(3, 17)]))
    width = float(rng.choice([1, 1, 0.1, 2.0 ** rng.integers(-3, 8)]))
    lo, hi = (end, end + bins * width) if rng.random() < 0.5 else (end - bins * width, end)
    return beside(rng, lo), beside(rng, hi)


def random_range(rng, x):
    """Ends that are short numbers or any; in float64."""
    finite = x[np.isfinite(x)] if x.dtype.kind == "f" else x
    lo, hi = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if rng.random() < 0.4:
        lo, hi = lo + (hi - lo) * 0.2, lo + (hi - lo) * 0.7
    if rng.random() < 0.3:
        lo, hi = np.floor(lo), np.ceil(hi)
    limit = {"f2": 3e4, "f4": 1e30}.get(x.dtype.str[1:], 1e300)
    lo, hi = max(lo, -limit), min(hi, limit)
    return (lo, hi) if hi - lo > abs(lo) * 1e-12 else (lo, lo + max(1, abs(lo) / 2))


def uneven_edges(rng, x, bins):
    lo, hi = random_range(rng, x)
    inner = rng.random(bins - 1) ** 2 * (hi - lo) + lo
    if x.dtype.kind in "iu" and rng.random() < 0.5:
        inner = np.floor(inner)
    edges = np.unique(np.concatenate([[lo, hi], inner]))
    return edges if len(edges) > 1 else np.array([lo, lo + 1])


def even(bins, lo, hi):
    return sized(Axis, kind=EVEN, bins=bins, lo=lo, hi=hi)


def table(edges):
    edges = np.ascontiguousarray(edges, dtype=np.float64)
    axis = sized(Axis, kind=EDGES, bins=len(edges) - 1, edges=edges.ctypes.data)
    axis.keep = edges
    return axis


def random_axis(tally, rng, x):
    """(the axis, what NumPy is given for bins, and for range); None if float cannot hold it."""
    bins = int(rng.choice([1, 2, 3, 7, 10, 64, 100, 256, 1000, 4096]))
    if rng.random() < 0.4:
        edges = uneven_edges(rng, x, bins)
        return table(edges), edges, None
    lo, hi = near_range(rng, bins) if rng.random() < 0.3 else random_range(rng, x)
    try:
        edges = np.histogram(np.zeros(0, x.dtype), bins, (lo, hi))[1]
    except ValueError:  # newer ones say so themselves
        return None
    if not np.isfinite(edges).all():
        return None
    if not (np.diff(edges.astype(np.float64)) > 0).all() or hi - lo < max(-lo, hi) * 1e-9:
        return None
    if x.dtype.str[1:] == "f2":  # NumPy finds even bins in float16: it is a bin off, or in none
        return table(edges), edges.astype(np.float64), None
    if edges.dtype != np.float64:
        return table(edges), bins, (lo, hi)
    axis = even(bins, lo, hi)
    assert (tally.edges(axis) == edges).all(), f"edges of {bins} bins, {lo!r} … {hi!r}"
    return axis, bins, (lo, hi)


def random_weights(rng, shape):
    """Whole numbers: their sums are exact in any order."""
    return rng.integers(-30, 70, shape).astype(str(rng.choice(["f4", "f8", "i4", "i8"])))


def check_flows(x, edges, flows, masked, where):
    under, over, nan, hidden = (int(v) for v in flows)
    x = x.astype(np.float64)
    want = (int((x < edges[0]).sum()), int((x > edges[-1]).sum()), int(np.isnan(x).sum()), masked)
    assert (under, over, nan, hidden) == want, f"{where}: flows {under, over, nan, hidden}, {want}"


def check_histogram(tally, rng):
    dtype = str(rng.choice(list(DTYPES)))
    x = random_values(rng, dtype, int(np.prod(shape := random_shape(rng)))).reshape(shape)
    chosen = random_axis(tally, rng, x)
    if chosen is None:
        return "float cannot tell the edges apart"
    axis, bins, limits = chosen
    add_specials(rng, x)
    add_edges(rng, x, tally.edges(axis))
    x = restride(rng, x)
    weights = restride(rng, random_weights(rng, shape)) if rng.random() < 0.3 else None
    mask = restride(rng, (rng.random(shape) < 0.6).astype("u1")) if rng.random() < 0.3 else None
    counts, flows = tally.histogram([x], [axis], weights, mask)
    batches = x.shape[0] if x.ndim == 3 else 1
    for b in range(batches):
        part = [None if a is None else (a[b] if a.ndim == 3 else a).reshape(-1)
                for a in (x, weights, mask)]
        kept = slice(None) if mask is None else part[2] != 0
        w = None if weights is None else part[1][kept]
        if w is not None and w.dtype == np.float32:
            w = w.astype(np.float64)  # NumPy sums float32 weights in float32
        samples = part[0][kept]
        if dtype == "f2":  # newer ones round edges to float16 among such
            samples = samples.astype(np.float64)
        want = np.histogram(samples, bins, limits, weights=w)[0]
        where = f"histogram {dtype} {shape} strides {x.strides} bins {axis.bins}"
        assert (counts[b] == want).all(), f"{where}: {counts[b]}, numpy {want}"
        masked = 0 if mask is None else int((part[2] == 0).sum())
        check_flows(samples, tally.edges(axis), flows[b], masked, where)
    return "histogram" + (" of weights" if weights is not None else "")


def check_joint(tally, rng):
    dimensions = int(rng.integers(2, 5))
    n = int(rng.choice([0, 1, 7, 100, 1024, rng.integers(1, 6000)]))
    arrays, axes, bins = [], [], []
    for _ in range(dimensions):
        x = random_values(rng, str(rng.choice(["u1", "i2", "i4", "f4", "f8", "f8"])), n)
        if rng.random() < 0.5:
            edges = uneven_edges(rng, x, int(rng.integers(2, 9)))
            axes.append(table(edges))
        else:
            lo, hi = random_range(rng, x)
            axes.append(even(int(rng.integers(1, 9)), lo, hi))
        bins.append(tally.edges(axes[-1]))
        add_edges(rng, x, bins[-1])
        arrays.append(restride(rng, x))
    weights = random_weights(rng, (n,)).astype("f8") if rng.random() < 0.3 else None
    counts, flows = tally.histogram(arrays, axes, weights)
    sample = np.stack([a.astype(np.float64) for a in arrays], axis=1)
    want = np.histogramdd(sample, bins, weights=weights)[0]
    assert (counts[0] == want).all(), f"histogramdd {[a.dtype for a in arrays]} n={n}"
    if weights is None:
        assert counts.sum() + flows.sum() == n
        if dimensions == 2:
            assert (counts[0] == np.histogram2d(sample[:, 0], sample[:, 1], bins)[0]).all()
    return f"{dimensions} dimensions"


def check_bincount(tally, rng):
    dtype = str(rng.choice(["u1", "u2", "u4", "i1", "i4", "i8", "u8"]))
    n, most = int(rng.integers(0, 5000)), int(rng.choice([1, 10, 120]))
    x = restride(rng, rng.integers(0, most, n).astype(dtype))
    length = most + int(rng.integers(0, 5))
    axis = sized(Axis, kind=INTEGER, bins=length, first=0)
    weights = rng.integers(-5, 9, n).astype("f8") if rng.random() < 0.4 else None
    counts, _ = tally.histogram([x], [axis], weights)
    want = np.bincount(x.astype(np.int64), weights, length)
    assert (counts[0] == want).all(), f"bincount {dtype} n={n}"
    return "bincount"


def check_range(tally, rng):
    dtype = str(rng.choice(list(DTYPES)))
    x = random_values(rng, dtype, int(np.prod(shape := random_shape(rng)))).reshape(shape)
    add_specials(rng, x)
    x = restride(rng, x)
    s, finite = tally.stats(x), x[np.isfinite(x)]
    assert (s.samples, s.finite, s.nan) == (x.size, finite.size, int(np.isnan(x).sum())), shape
    assert (s.minus_inf, s.plus_inf) == (int((x == -np.inf).sum()), int((x == np.inf).sum())), shape
    if finite.size:
        assert (s.min, s.max) == (float(finite.min()), float(finite.max())), (dtype, shape)
    return "range"


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int.from_bytes(os.urandom(4), "little")
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 15
    print(f"numpy {np.__version__}, seed {seed}, {cases} cases", flush=True)
    tally, done, tried = Tally(3), {}, 0
    end = time.monotonic() + seconds
    checks = [check_histogram] * 6 + [check_joint, check_bincount, check_range]
    while tried < cases and time.monotonic() < end:
        rng = np.random.default_rng((seed, tried))
        try:
            what = checks[tried % len(checks)](tally, rng)
        except Exception:
            print(f"FAILED case {tried} of seed {seed}")
            raise
        done[what] = done.get(what, 0) + 1
        tried += 1
    print(f"{tried} cases equal: " + ", ".join(f"{k} {v}" for k, v in sorted(done.items())))
    assert done.get("histogram", 0) > tried / 4


main()
