# SPDX-License-Identifier: Apache-2.0
"""What the random tests draw, and how two answers are compared."""

import ctypes
import os
import re
import sys
import warnings

import numpy as np
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import libtally as tally
from libtally import _dlpack

# The same examples each time, so that a change is judged by what it changes; EXAMPLES=4000 asks for so
# many new ones.
settings.register_profile(
    "tally", max_examples=int(os.environ.get("EXAMPLES", 40)), derandomize="EXAMPLES" not in os.environ,
    deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
settings.load_profile("tally")

EXACT = 2**53
NEW_RULES = tuple(int(x) for x in np.__version__.split(".")[:2]) >= (2, 4)
LIMIT = {"f2": 1000.0, "f4": 2.0**100, "f8": 1e300}
DTYPES = ["b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


def elements(dtype, special):
    """Values of a type; with `special` also NaN and infinities."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        lo, hi = max(info.min, -EXACT), min(info.max, EXACT)
        return st.one_of(st.integers(max(lo, -9), min(hi, 9)), st.integers(lo, hi))
    width = dtype.itemsize * 8
    limit = LIMIT[dtype.str[1:]]
    plain = st.floats(-limit, limit, width=width, allow_subnormal=False)
    grid = st.integers(-50, 50).map(lambda i: float(dtype.type(i / 8)))
    values = [grid, grid, plain]
    if special:
        values.append(st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))
    return st.one_of(values)


# ---- views ------------------------------------------------------------------------------------


def _packed(draw, a):
    return a


def _steps(draw, a):
    """Every second or third, from either end; perhaps nothing of it."""
    if not a.ndim:
        return a
    return a[:: draw(st.sampled_from([-3, -2, -1, 2, 3, 100]))]


def _part(draw, a):
    return a[..., 1:-1] if a.ndim else a


def _turned(draw, a):
    return a.transpose(draw(st.permutations(range(a.ndim))))


def _windows(draw, a):
    """Windows that overlap."""
    if not a.ndim or a.shape[-1] < 2:
        return a
    return np.lib.stride_tricks.sliding_window_view(a, draw(st.integers(1, 2)), axis=-1)


def _repeated(draw, a):
    """A new dimension, anywhere, along which all is repeated; sometimes no times or once."""
    at, times = draw(st.integers(0, a.ndim)), draw(st.sampled_from([2, 3, 5, 1, 0]))
    shape = a.shape[:at] + (times,) + a.shape[at:]
    return np.broadcast_to(np.expand_dims(a, at), shape)


def _crossed(draw, a):
    """What meshgrid gives without a copy."""
    if a.ndim != 1:
        return a
    other = np.arange(draw(st.integers(1, 4)))
    return draw(st.sampled_from(np.meshgrid(a, other, copy=False)[:1] + np.meshgrid(
        other, a, copy=False)[1:]))  # fmt: skip


def _diagonal(draw, a):
    return a.diagonal() if a.ndim == 2 else a


def _single(draw, a):
    return a[None] if draw(st.booleans()) else a[..., None]


_CHANGES = [_packed, _steps, _steps, _part, _turned, _windows, _repeated, _crossed,
            _diagonal, _single]  # fmt: skip


def _stored(draw, values):
    """The values in memory of some kind, with other numbers before, behind and between them."""
    kind = draw(st.sampled_from(["inside", "inside", "field", "unaligned", "swapped", "fortran"]))
    dtype = values.dtype
    if kind == "inside":
        whole = np.iinfo(dtype) if dtype.kind in "iu" else None if dtype.kind == "b" else np.finfo(dtype)
        large = np.full([n + 4 for n in values.shape], whole.max if whole else True, dtype)
        at = large[(*(slice(2, 2 + n) for n in values.shape), ...)]
    elif kind == "field":
        at = np.full(values.shape, np.array(113, "u1"), "u1").astype(
            np.dtype([("x", "u1"), ("y", dtype), ("z", "u2")])
        )["y"]  # fmt: skip
    elif kind == "unaligned":
        at = np.full(values.nbytes + 1, 113, np.uint8)[1:].view(dtype).reshape(values.shape)
    elif kind == "swapped":
        at = np.empty(values.shape, dtype.newbyteorder())
    else:
        at = np.empty(values.shape, dtype, order="F")
    at[...] = values
    return at


@st.composite
def views(draw, special=False, dims=2, dtypes=DTYPES, values=None, shape=None):
    """A view of an array that need not own its elements nor hold each of them once. With `shape` only
    such changes as lead to it."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    values = elements(dtype, special) if values is None else values
    if shape is not None:
        return _of_shape(draw, dtype, values, shape)
    own = draw(hnp.array_shapes(min_dims=0, max_dims=dims, min_side=0, max_side=12))
    a = _stored(draw, draw(hnp.arrays(dtype, own, elements=values)))
    changes = draw(st.lists(st.sampled_from(_CHANGES), max_size=2))
    for change in changes + [_repeated] * draw(st.integers(0, 1)):
        if a.ndim < 4 and a.size < 2000:
            a = change(draw, a)
    if draw(st.booleans()):
        a.flags.writeable = False
    return a


def _of_shape(draw, dtype, values, shape):
    """Values in a shape: some dimensions repeated, some walked backwards or in steps."""
    how = [draw(st.sampled_from(["repeated", "back", "steps", "plain"])) for _ in shape]
    own = [1 if h == "repeated" else 2 * n if h == "steps" else n for h, n in zip(how, shape)]
    a = _stored(draw, draw(hnp.arrays(dtype, tuple(own), elements=values)))
    steps = {"back": -1, "steps": 2}
    a = a[tuple(slice(None, None, steps.get(h, 1)) for h in how)]
    return np.broadcast_to(a, shape)


class OnlyDLPack:
    """An array that says nothing of itself but DLPack."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **keywords):
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


class Lender:
    """Lends `shape` elements of a buffer by DLPack, with any strides (in elements) and from any of
    them on, as torch does what it expands. Type "bf16" is of a buffer of 16 bits."""

    _codes = {"i": 0, "u": 1, "f": 2, "b": 6}

    def __init__(self, buffer, shape, strides, offset=0, bf16=False):
        self.kept = buffer, (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*strides)
        code = 4 if bf16 else self._codes[buffer.dtype.kind]
        tensor = _dlpack.Tensor(
            data=buffer.ctypes.data, device_type=_dlpack.HOST, ndim=len(shape), code=code,
            bits=8 * buffer.itemsize, lanes=1, shape=self.kept[1], strides=self.kept[2],
            byte_offset=offset * buffer.itemsize,
        )  # fmt: skip
        self.managed = _dlpack.Managed(tensor=tensor)

    def __dlpack_device__(self):
        return _dlpack.HOST, 0

    def __dlpack__(self, **keywords):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


# ---- edges ------------------------------------------------------------------------------------

def near(numbers):
    """The numbers, the float64 and float32 next to them, and them with a rounding's residue."""
    aside = [
        lambda x: x, lambda x: x, lambda x: np.nextafter(x, np.inf), lambda x: np.nextafter(x, -np.inf),
        lambda x: np.nextafter(np.float32(x), np.float32(np.inf)),
        lambda x: np.nextafter(np.float32(x), np.float32(-np.inf)),
        lambda x: x + (0.1 * 3 - 0.3), lambda x: x - (0.1 * 3 - 0.3),
    ]  # fmt: skip
    return st.tuples(numbers, st.sampled_from(aside)).map(lambda p: float(p[1](float(p[0]))))


ROUND = st.one_of(
    st.just(0), st.integers(-300, 300), st.sampled_from([7, 8, 15, 16, 24, 31, 32]).map(lambda k: 2**k)
)


@st.composite
def near_ranges(draw):
    """(bins, lo, hi) of a round width from or to a round number, the ends then moved aside."""
    bins, end = draw(st.integers(1, 300)), draw(ROUND)
    width = draw(st.one_of(st.just(1), st.sampled_from([0.1, 0.25, 2, 4, 1000])))
    lo, hi = draw(st.sampled_from([(end, end + bins * width), (end - bins * width, end)]))
    lo, hi = draw(near(st.just(lo))), draw(near(st.just(hi)))
    return bins, *sorted((lo, hi))


# What is left where decimal fractions ought to cancel, and their sums.
RESIDUES = [0.1 * 3 - 0.3, 0.1 * 3, 0.1 + 0.7, 1 - 0.9, 1 / 3 + 2 / 3, 0.3 - 0.1 * 2, 1.1 * 1.1, 4.35 * 100]


def stepped(x, steps, dtype=np.float64):
    """x and so many floats further."""
    x = dtype(x)
    for _ in range(abs(steps)):
        x = np.nextafter(x, dtype(np.copysign(np.inf, steps)))
    return float(x)


def awkward():
    """Numbers one float from integers, from powers of two, or residues of rounding."""
    base = st.one_of(
        st.integers(-9, 9).map(float), st.integers(-30, 30).map(lambda e: 2.0**e),
        st.integers(-30, 30).map(lambda e: -(2.0**e)), st.sampled_from(RESIDUES),
        st.sampled_from([2.0**53, -(2.0**53), 2.0**24, 16777217.0, 0.0, 255.0, 65535.0]),
    )  # fmt: skip
    dtype = st.sampled_from([np.float64, np.float64, np.float32])
    return st.builds(stepped, base, st.integers(-2, 2), dtype)


def awkward_ranges():
    """Two such numbers, or one and a few floats further."""
    close = st.builds(lambda x, n: (x, stepped(x, n)), awkward(), st.integers(1, 40))
    return st.one_of(st.tuples(awkward(), awkward()).map(lambda p: tuple(sorted(p))), close)


@st.composite
def awkward_edges(draw):
    """Edges among such numbers, some of them neighbours."""
    edges = draw(st.lists(awkward(), min_size=2, max_size=9))
    edges += [stepped(x, n) for x, n in zip(edges, draw(st.lists(st.integers(-2, 2), max_size=4)))]
    return sorted(edges)


def on_edges(edges, dtype):
    """The edges as samples of a type, those whole values next to them, and one step aside."""
    dtype, edges = np.dtype(dtype), np.asarray(edges, np.float64)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            at = edges.astype(dtype)
            beside = [np.nextafter(at, dtype.type(end)) for end in (-np.inf, np.inf)]
        values = np.concatenate([at, *beside])
        return values[np.isfinite(values)]
    info = np.iinfo(dtype)
    least, most = max(info.min, -EXACT), min(info.max, EXACT)  # beyond, NumPy compares rounded numbers
    whole = {int(e) + step for e in edges if abs(e) <= EXACT for step in (-2, -1, 0, 1, 2)}
    return np.array([x for x in sorted(whole) if least <= x <= most] or [0], dtype)


def edges():
    grid = st.lists(st.integers(-60, 60).map(lambda i: i / 8), min_size=2, max_size=12)
    wide = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)
    ends = st.lists(
        st.one_of(st.integers(-9, 9).map(float), st.sampled_from([-np.inf, np.inf])),
        min_size=2, max_size=9,
    )  # fmt: skip
    whole = st.lists(st.integers(-9, 9), min_size=2, max_size=9)
    beside = st.lists(near(ROUND), min_size=2, max_size=12)
    return st.one_of(grid, wide, ends, whole, beside, awkward_edges()).map(sorted)


def ranges():
    pair = st.tuples(st.integers(-40, 40), st.integers(-40, 40)).map(lambda p: (p[0] / 4, p[1] / 4))
    return st.one_of(st.none(), pair.map(lambda p: tuple(sorted(p))), pair, awkward_ranges())


def weights_for(draw, shape, kinds=(None, "f8", "f4", "i8", "i4", "u1", "c16")):
    """Weights whose sums are exact in any order, as a view of some kind; or none."""
    kind = draw(st.sampled_from(kinds))
    if kind is None:
        return None
    return draw(views(dtypes=[kind], values=st.integers(0, 15).map(
        lambda i: i * (0.25 + 1j) if kind == "c16" else i), shape=shape))  # fmt: skip


# ---- answers ----------------------------------------------------------------------------------


def run(function, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **keywords)
        except Exception as e:
            return e


def ours(name, *arguments, **keywords):
    """Our answer, which the short way for small arrays and the long way must agree on."""
    function = getattr(tally, name)
    module = sys.modules[function.__module__]
    answer, short = run(function, *arguments, **keywords), module._fast
    try:
        module._fast = None
        same(run(function, *arguments, **keywords), answer)
    finally:
        module._fast = short
    return answer


def said(error):
    """The message; which zero ends a range is not looked at, nor a type's byte order."""
    text = re.sub(r"dtype\('[^']*'\)", "dtype", str(error))
    return text.replace("[-0.0,", "[0.0,").replace(", -0.0]", ", 0.0]")


def same(ours, theirs, integer_weights=False):
    # What NumPy 2.4 refuses, bins too narrow to tell apart, an older one counts or falls over.
    if isinstance(ours, Exception):
        assume(NEW_RULES or "Too many bins" not in str(ours))
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (ours, theirs)
        if not isinstance(theirs, OverflowError):
            assert said(ours) == said(theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    assert type(ours) is type(theirs)
    if isinstance(ours, (tuple, list)):
        assert len(ours) == len(theirs)
        for o, t in zip(ours, theirs):
            same(o, t, integer_weights)
        return
    if not integer_weights or ours.dtype.kind == "f":
        assert ours.dtype == theirs.dtype.newbyteorder("=")
    np.testing.assert_array_equal(ours, theirs)


def axis_of(rng, other):
    """An axis of any kind, among them `other`."""
    edges = np.sort(rng.choice(np.arange(-50, 100), 8, replace=False)).astype(float)
    closed = bool(rng.random() < 0.7)
    return [
        tally.Regular(int(rng.integers(1, 40)), 0, 40, closed=closed), tally.Variable(edges, closed=closed),
        tally.Log(5, 1, 30), tally.Integer(-3, 40), tally.Regular(5000, 0, 30, closed=closed),
        tally.Category([1, 2, 5]), other,
        tally.Regular(7, -1.5, 30, circular=True), tally.Variable([0, 1, 2 * np.pi], circular=True),
        tally.Integer(-3, 9, circular=True),
    ][rng.integers(0, 10)]  # fmt: skip
