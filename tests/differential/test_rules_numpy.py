# SPDX-License-Identifier: Apache-2.0
"""tally_rule_bins against numpy.histogram_bin_edges, over random dtypes, sizes and distributions.

Usage: test_rules_numpy.py [SEED [CASES]]; the library is $TALLY_LIBRARY.
"""

import ctypes as c
import inspect
import math
import os
import resource
import sys
import warnings

import numpy as np

RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]
DTYPES = {"u1": 1, "i1": 2, "u2": 3, "i2": 4, "u4": 5, "i4": 6, "u8": 7, "i8": 8, "f2": 9, "f4": 11,
          "f8": 12}
MAX_BINS = 1 << 20
OLD = int(np.__version__.split(".")[0]) < 2


class View(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("data", c.c_void_p), ("dtype", c.c_int),
                ("device", c.c_int)] + [
                    (n, c.c_uint64) for n in ("batches", "rows", "columns", "channels")] + [
                        (n, c.c_int64) for n in ("batch", "row", "column", "channel")]


class Error(c.Structure):
    _fields_ = [("message", c.c_char * 1024)]


READ = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(View), c.POINTER(Error))
REWIND = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Error))


class Chunks(c.Structure):
    _fields_ = [("read", READ), ("rewind", REWIND), ("user", c.c_void_p)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("rule", c.c_int), ("range", c.POINTER(c.c_double)),
                ("skip_nonfinite", c.c_int32)]


class Axis(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("bins", c.c_uint64),
                ("lo", c.c_double), ("hi", c.c_double), ("others", c.c_uint64 * 8)]


def load():
    path = os.environ.get("TALLY_LIBRARY")
    if not path or os.environ.get("SANITIZE"):
        print("skipped: no shared library without sanitizers to load (TALLY_LIBRARY)")
        sys.exit(77)
    lib = c.CDLL(path)
    lib.tally_rule_bins.argtypes = [c.c_void_p, Chunks, c.c_int, c.POINTER(Options),
                                    c.POINTER(Axis), c.POINTER(Error)]
    return lib


def tally(lib, x, rule, limits, skip, step):
    """(bins, lo, hi, passes), reading `step` samples at a time."""
    state = {"at": 0, "passes": 1}

    def read(_, view, __):
        part = x[state["at"]:state["at"] + step]
        state["at"] += step
        if not len(part) and state["at"] > len(x):
            return 0
        v = view.contents
        v.data, v.columns, v.dtype = part.ctypes.data, len(part), DTYPES[x.dtype.str[1:]]
        return 1

    def rewind(_, __):
        state["at"] = 0
        state["passes"] += 1
        return 0

    axis, error = Axis(), Error()
    options = Options(c.sizeof(Options), RULES.index(rule), None, skip)
    if limits:
        options.range = (c.c_double * 2)(*limits)
    status = lib.tally_rule_bins(None, Chunks(READ(read), REWIND(rewind), None),
                                 DTYPES[x.dtype.str[1:]], options, axis, error)
    if status:
        raise ValueError(status, error.message.decode())
    return axis.bins, axis.lo, axis.hi, state["passes"]


def sample(rng, dtype, n):
    """n samples of a random shape of data."""
    kind = rng.integers(12)
    scale = 10.0 ** rng.integers(-3, 4) if dtype != "f2" else 10.0 ** rng.integers(-1, 3)
    f = [lambda: rng.normal(size=n), lambda: rng.random(n), lambda: rng.exponential(size=n),
         lambda: rng.integers(0, 5, n) * 1.0, lambda: np.full(n, rng.normal()),
         lambda: rng.integers(0, 2, n) * rng.normal(), lambda: np.arange(n) * 1.0,
         lambda: np.linspace(-1, 1, n), lambda: rng.standard_cauchy(n).clip(-300, 300),
         lambda: 1000 + rng.normal(size=n), lambda: np.round(rng.normal(size=n), 1),
         lambda: np.where(rng.random(n) < 0.9, 0, rng.normal(size=n))][kind]()
    t = np.dtype(dtype)
    if t.kind == "f":
        f = f * scale
        return (f if dtype != "f2" else f.clip(-30000, 30000)).astype(t)
    info = np.iinfo(t)
    if rng.random() < 0.25:
        return rng.integers(info.min, info.max, n, dtype=t, endpoint=True)
    span = float(rng.choice([3, 20, 100, 1e4, 1e9]))
    return np.clip(f * span, max(info.min, -2.0**62), min(info.max, 2.0**62)).astype(t)


def width_parts(x):
    """NumPy's ptp and the interquartile range, in float64."""
    ptp = float(int(x.max()) - int(x.min())) if x.dtype.kind in "iu" else float(x.max() - x.min())
    return ptp, float(np.subtract(*np.percentile(x, [75, 25])))


def numpy_bins(x, rule, limits):
    """NumPy 2.4's answer by way of the NumPy there is; None when it has none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if rule == "auto" and "sqrt" not in inspect.getsource(auto_selector()):
                return old_auto(x, limits)
            edges = np.histogram_bin_edges(x, rule, limits)
        except (MemoryError, OverflowError, ValueError) as e:
            return None, str(e)
    bins = len(edges) - 1
    if bins < 1:
        return None, "an f16 variance or an integer quantile overflowed"
    if OLD and x.dtype.kind in "iu":
        lo, hi = limits or (edges[0], edges[-1])
        bins = min(bins, max(1, math.ceil(float(hi) - float(lo))))
    return bins, edges


def auto_selector():
    module = getattr(np.lib, "_histograms_impl", None) or np.lib.histograms
    return module._hist_bin_auto


def old_auto(x, limits):
    edges = np.histogram_bin_edges(x, 1, limits)
    if limits:
        x = x[(x >= edges[0]) & (x <= edges[-1])]
    if not len(x):
        return 1, edges
    ptp, iqr = width_parts(x)
    fd = max(2.0 * iqr * x.size**(-1.0 / 3.0), ptp / math.sqrt(x.size) / 2)
    width = min(fd, ptp / (np.log2(x.size) + 1.0))
    if width and x.dtype.kind in "iu" and width < 1:
        width = 1
    return max(1, math.ceil((edges[-1] - edges[0] if limits else ptp) / width)) if width else 1, edges


def near_integer(x, rule, limits, tolerance):
    """Whether rounding of the moments decides: the exact ratio is next to an integer."""
    if limits:
        x = x[(x >= limits[0]) & (x <= limits[1])]
    v = x.astype(np.longdouble)
    n, d = len(v), v - v.mean()
    sigma = np.sqrt((d * d).mean())
    ptp = v.max() - v.min()
    if ptp == 0:  # NumPy's mean of equal samples may differ from them, and its deviation from 0
        return True
    if rule == "scott":
        width = (24.0 * np.pi**0.5 / n)**(1.0 / 3.0) * sigma
    else:
        sg1 = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
        g1 = (d**3).mean() / sigma**3
        width = ptp / (1.0 + np.log2(n) + np.log2(1.0 + abs(g1) / sg1))
    if x.dtype.kind in "iu":
        width = max(width, 1)
    ratio = float((limits[1] - limits[0] if limits else ptp) / width)
    return abs(ratio - round(ratio)) <= tolerance * max(1.0, ratio)


def stone_ties(x, limits, got, want):
    """Whether both numbers come from candidates of (nearly) the same estimated error."""
    edges = np.histogram_bin_edges(x, 1, limits)
    if limits:
        x = x[(x >= limits[0]) & (x <= limits[1])]
    n, ptp, score = len(x), width_parts(x)[0], {}
    for k in range(1, max(100, math.isqrt(n)) + 1):
        counts = np.histogram(x, k, (edges[0], edges[-1]))[0]
        score[k] = k * ((n + 1) * sum(int(c)**2 for c in counts) - 2 * n * n)
    most = max(score.values())
    near = 1e-6 if x.dtype.str[1:] == "f4" else 2e-3 if x.dtype.str[1:] == "f2" else 1e-12
    delta = float(edges[-1]) - float(edges[0]) if limits else ptp
    answers = set()
    for k, value in score.items():
        if value >= most - near * abs(most):
            width = ptp / k
            if x.dtype.kind in "iu":
                width = max(width, 1)
            answers |= {math.ceil(delta / width), math.ceil(delta / width * (1 - 1e-6))}
    return got in answers and want in answers


def overflows(x, limits):
    """NumPy subtracts neighbouring order statistics in the integers' own type."""
    if x.dtype.kind not in "i":
        return False
    if limits:
        x = x[(x >= limits[0]) & (x <= limits[1])]
    s = np.sort(x).astype(object)
    return any(b - a > np.iinfo(x.dtype).max for a, b in zip(s[:-1], s[1:]))


def check(lib, rng, tallied):
    dtype = rng.choice(list(DTYPES))
    if OLD and dtype in ("f2", "f4"):
        dtype = "f8"  # before 2.0 a Python number made f32 results f64
    rule = str(rng.choice(RULES))
    n = int(rng.choice([0, 1, 2, 3, 4, 5, 16, 64, 100, 1000, 1024, int(rng.integers(1, 4000))]))
    x = sample(rng, dtype, n)
    limits = None
    if n and rng.random() < 0.3:
        a, b = sorted(float(v) for v in rng.choice(x, 2))
        limits = (a, b)
        if max(-a, b) > 2**53:  # NumPy compares rounded 64-bit integers, Tally exact ones
            limits = (math.nextafter(a, -math.inf), math.nextafter(b, math.inf))
    got = tally(lib, x, rule, limits, 0, int(rng.choice([1, 7, 1000, 1 << 20]) if n < 100 else 777))
    want, edges = numpy_bins(x, rule, limits)
    where = f"{rule} {dtype} n={n} range={limits} x={x[:6]}…: tally {got}, numpy {want}"
    passes = {"u8": 4, "i8": 4, "f8": 4, "u4": 2, "i4": 2, "f4": 2}.get(dtype, 1)
    assert got[3] <= (2 if rule == "stone" else passes if rule in ("auto", "fd") else 1), where
    if want is None:
        tallied["numpy failed"] = tallied.get("numpy failed", 0) + 1
        return
    assert 1 <= got[0] <= MAX_BINS, where
    low, high = limits or ((x.min(), x.max()) if n else (0, 1))
    if low != high or dtype not in ("f2", "f4"):  # NumPy widens in the data's type
        near = 1e-15 if dtype in ("i8", "u8") else 0
        assert np.allclose([float(edges[0]), float(edges[-1])], got[1:3], near, 0), (where, edges)
    if got[0] == min(want, MAX_BINS):
        tallied["equal"] = tallied.get("equal", 0) + 1
        return
    if dtype == "f2" and rule in ("scott", "doane"):
        tallied["numpy sums f16 in f16"] = tallied.get("numpy sums f16 in f16", 0) + 1
        return
    tolerance = {"f4": 1e-5}.get(dtype, 1e-12)
    if rule in ("scott", "doane") and near_integer(x, rule, limits, tolerance):
        tallied["moments' rounding decides"] = tallied.get("moments' rounding decides", 0) + 1
        return
    if rule == "stone" and stone_ties(x, limits, got[0], want):
        tallied["equal estimates"] = tallied.get("equal estimates", 0) + 1
        return
    if rule in ("auto", "fd") and overflows(x, limits):
        tallied["numpy's quantile overflows"] = tallied.get("numpy's quantile overflows", 0) + 1
        return
    raise AssertionError(where)


def check_nonfinite(lib):
    x = np.array([1.0, np.nan, 2.0, np.inf, 3.0, -np.inf, 7.5])
    for rule in RULES:
        try:
            tally(lib, x, rule, None, 0, 3)
            raise AssertionError("NaN and infinities were accepted")
        except ValueError as e:
            assert e.args[0] == 6 and "1 of 7 samples are NaN and 2 infinite" in e.args[1], e
        finite = x[np.isfinite(x)]
        assert tally(lib, x, rule, None, 1, 3)[0] == numpy_bins(finite, rule, None)[0], rule
        assert tally(lib, x, rule, (0, 5), 0, 3)[0] == numpy_bins(x, rule, (0, 5))[0], rule


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int.from_bytes(os.urandom(4), "little")
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    print(f"numpy {np.__version__}, seed {seed}, {cases} cases")
    # NumPy makes as many edges as a rule asks for: let that fail early.
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, resource.RLIM_INFINITY))
    lib, rng, tallied = load(), np.random.default_rng(seed), {}
    check_nonfinite(lib)
    for _ in range(cases):
        check(lib, rng, tallied)
    print(", ".join(f"{k}: {v}" for k, v in tallied.items()))
    assert tallied["equal"] > 0.9 * cases


main()
