# SPDX-License-Identifier: Apache-2.0
"""Axes of a `Hist`: where its bins begin and end, and how the library is told."""

import copy
import math
import operator
from collections import namedtuple

import numpy as np

from . import _arrays, _count, _index
from . import _library as c
from ._untraced import methods_untraced

Traits = namedtuple("Traits", "circular discrete")
MAX = np.finfo(np.float64).max
EXACT = 1 << 53  # from here on not every integer is a float64
MOST_GROWN = 1 << 20  # bins of an axis that grows


def _whole(x, what):
    """An integer of any kind."""
    try:
        if isinstance(x, (bool, np.bool_)):
            raise TypeError
        return operator.index(x)
    except TypeError:
        raise TypeError(f"{what}: an integer is expected, not {x!r}") from None


def _bins(x):
    n = _whole(x, "bins")
    if n < 1:
        raise ValueError(f"bins={n}: at least 1 is expected")
    return n


class Axes(tuple):
    """The axes of a histogram. Numbers of all axes come in shapes that broadcast to the bins'."""

    def __getitem__(self, key):
        """By number, slice, or name."""
        if isinstance(key, str):
            return super().__getitem__(_index.where(key, self))
        return super().__getitem__(key)

    @property
    def name(self):
        return tuple(axis.name for axis in self)

    @property
    def label(self):
        return tuple(axis.label for axis in self)

    @property
    def size(self):
        """Numbers of bins."""
        return tuple(axis.size for axis in self)

    @property
    def extent(self):
        """Numbers of bins with the flow bins."""
        return tuple(axis.extent for axis in self)

    @property
    def edges(self):
        return self._each("edges")

    @property
    def centers(self):
        return self._each("centers")

    @property
    def widths(self):
        return self._each("widths")

    def _each(self, what):
        n = len(self)
        return tuple(
            getattr(a, what).reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)) for i, a in enumerate(self)
        )


@methods_untraced()
class Axis:
    """What all axes have in common.

    Attributes
    ----------
    edges : array of float64
        One more than bins, increasing; it cannot be written to.
    name, label : str
        What to call it, and what a plot writes beside it.
    growth : bool
        Whether it gets new bins for samples outside, instead of counting them as under or over.
    circular : bool
        Whether it begins again where it ends, as angles do: samples outside are in the bin that they are in
        after whole turns, infinite ones over.
    """

    discrete = False
    growth = False
    circular = False
    theirs = None  # boost-histogram's axis that this one was made from
    is_plain = True  # `take` gives the samples as they are

    def __init__(self, axis, edges, name, label):
        self.__setstate__({"axis": axis, "edges": edges, "name": name, "label": label, "_wide": None})

    def __getstate__(self):
        return {**self.__dict__, "_wide": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.edges.flags.writeable = False  # what the library counts by would not follow

    def __array_function__(self, function, types, arguments, keywords):
        """NumPy's histogram functions are this package's where `bins=` is an axis."""
        from . import functions

        if function.__name__ not in functions.__all__:
            return NotImplemented
        return getattr(functions, function.__name__)(*arguments, **keywords)

    @property
    def traits(self):
        return Traits(self.circular, self.discrete)

    @property
    def centers(self):
        return self.edges[:-1] / 2 + self.edges[1:] / 2

    @property
    def widths(self):
        return np.diff(self.edges)

    def __len__(self):
        return len(self.edges) - 1

    @property
    def size(self):
        """The number of bins."""
        return len(self)

    @property
    def extent(self):
        """The number of bins with the flow bins."""
        return len(self) + 2

    def __getitem__(self, i):
        if not -len(self) <= i < len(self):
            raise IndexError(f"bin {i} of {len(self)}")
        i %= len(self)
        return float(self.edges[i]), float(self.edges[i + 1])

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __eq__(self, other):
        """The same edges, to the bit, and the same side of the last one: whatever the kinds."""
        return (
            isinstance(other, Axis)
            and not isinstance(other, Category)
            and (self.axis.last, self.circular) == (other.axis.last, other.circular)
            and np.array_equal(self.edges, other.edges)
        )

    __hash__ = None

    def index(self, x):
        """The bin of x, or of each of an array; -1 below all, the number of bins above."""
        x = np.asarray(x)
        if (x != x).any():
            raise ValueError("NaN is in no bin")
        x = _turned(self, x) if self.circular else x
        at = np.searchsorted(self.edges, x, side="right") - 1
        if self.axis.last == c.LAST_CLOSED:
            at = np.where(x == self.edges[-1], len(self) - 1, at)
        return at if x.ndim else int(at)

    def bin(self, i):
        """What bin i is: its ends, a number, or a category."""
        return self[i]

    def value(self, x):
        """The axis' number at bin x, of fractions between a bin's ends; arrays too."""
        return np.interp(x, np.arange(len(self) + 1), self.edges)

    def take(self, x):
        """Samples on this axis as an Array."""
        array = _arrays.take(x)
        if not array.code:
            raise TypeError(f"{array.dtype} samples are not counted")
        if not self.circular:
            return array
        if array.device != c.CPU or array.dtype.kind not in "iufb":
            raise NotImplementedError("circular axes take integers and floats in host memory")
        turned = _arrays.of_numpy(np.asarray(_turned(self, array.numbers())))  # NumPy's number of one sample
        turned.valid = array.valid
        return turned

    def grown_to(self, x, mask):
        """The axis that also has bins for these samples where `mask` is True; this one if it has."""
        return self

    def union(self, other):
        """The axis of the bins of both, where they grow alike, or None."""
        return None

    def part(self, bounds):
        """The axis whose bins reach from each of these bins' beginnings to the next. It does not grow:
        what was cut off is in its flow bins."""
        closed = self.axis.last == c.LAST_CLOSED and bounds[-1] == len(self)
        return of_edges(type(self), self.edges[bounds], closed, self.name, self.label, self._whole_turn(bounds))

    def _whole_turn(self, bounds):
        """Whether bins between these bounds are a circular axis again."""
        return self.circular and (bounds[0], bounds[-1]) == (0, len(self))

    def made_circular(self):
        """This axis, whose last bin does not take its end."""
        self.circular, self.is_plain = True, False
        return self

    def whole(self):
        """One bin from end to end."""
        return Variable(self.edges[[0, -1]], closed=self.axis.last == c.LAST_CLOSED)

    def with_ends(self):
        """For the library: with a bin more at each end, which takes all that lies there."""
        if self._wide is None:
            self._wide = self._widened()
            self._wide.under = self._wide.over = c.CLAMP
        return copy.copy(self._wide)

    def _widened(self):
        first, last = self._ends()
        if not -MAX < first or not last < MAX:
            raise ValueError("samples lie outside an axis that ends at the largest float64")
        edges = np.concatenate([[-MAX], self.edges[:-1], [last, MAX]])
        return _count.Axis(c.EDGES, len(self) + 2, edges=edges)

    def _ends(self):
        """The first edge, and the least number above the last bin."""
        closed = self.axis.last == c.LAST_CLOSED
        return self.edges[0], math.nextafter(self.edges[-1], math.inf) if closed else self.edges[-1]

    def take_exactly(self, array):
        """Whether `with_ends` counts these samples: no integer is between the last edge and the next
        float64."""
        beyond = self.axis.last == c.LAST_CLOSED and not -EXACT <= self.edges[-1] < EXACT
        return not (beyond and array.dtype.kind in "iu" and array.dtype.itemsize == 8)

    def has_ends(self):
        """Whether there are numbers on both sides, for `with_ends`."""
        first, last = self._ends()
        return -MAX < first and last < MAX

    def to_boost(self, axis):
        """As one of boost_histogram's, with these edges."""
        return axis.Variable(self.edges, **({"circular": True} if self.circular else {}))

    def __repr__(self):
        name = ", circular=True" * self.circular + (f", name={self.name!r}" if self.name else "")
        return f"{type(self).__name__}({self._says()}{name})"


def _number(x):
    return repr(int(x)) if x == int(x) else repr(float(x))


@methods_untraced()
class Regular(Axis):
    """Bins of one width.

    Parameters
    ----------
    bins : int
    lo, hi : float
        First and last edge.
    name, label : str, optional
    closed : bool, default True
        The last bin takes its end too, as NumPy's.
    growth : bool, default False
        More bins of this width are added for finite samples outside. No bin takes its end then.
    circular : bool, default False
        It begins again at lo where it ends at hi, which is in the first bin.
    """

    def __init__(self, bins, lo, hi, *, name="", label="", closed=True, growth=False, circular=False):
        if growth and circular:
            raise ValueError("an axis grows or is circular, not both")
        last = c.LAST_CLOSED if closed and not growth and not circular else c.LAST_OPEN
        axis = _count.Axis(c.EVEN, _bins(bins), lo=float(lo), hi=float(hi), last=last)
        super().__init__(axis, axis.edges_get(), name, label)
        if growth:
            self.growth, self.start, self.begin = True, (axis.bins, axis.lo, axis.hi), 0
        if circular:
            self.made_circular()

    # A growing axis is bins [begin, begin + len) of an endless row of them, whose edges `start` fixes.

    def _grid(self, i):
        """Edges by their numbers."""
        n, lo, hi = self.start
        i, first = np.asarray(i, np.float64), _count.Axis(c.EVEN, n, lo=lo, hi=hi).edges_get()
        width = (hi - lo) / n
        within = first[np.clip(i, 0, n).astype(np.int64)]
        return np.where(i < 0, lo + i * width, np.where(i > n, hi + (i - n) * width, within))

    def reaching(self, begin, end):
        """Grown to bins [begin, end)."""
        if not 0 < end - begin <= MOST_GROWN:
            raise ValueError(f"an axis of {end - begin} bins: it grows to {MOST_GROWN} at most")
        edges = self._grid(np.arange(begin, end + 1))
        if not (np.diff(edges) > 0).all():
            raise ValueError(f"bins of width {edges[1] - edges[0]:g} cannot be told apart from {edges[0]:g} to {edges[-1]:g}")
        made = copy.copy(self)
        made.__setstate__({"_wide": None, "theirs": None, "begin": int(begin), "edges": edges})
        made.axis = _count.Axis(c.EVEN, end - begin, lo=float(edges[0]), hi=float(edges[-1]), last=c.LAST_OPEN)
        if not np.array_equal(made.axis.edges_get(), edges):
            made.axis = _count.Axis(c.EDGES, end - begin, edges=edges, last=c.LAST_OPEN)
        return made

    def _number_in_grid(self, x):
        """The bin that x is in, of the endless row."""
        n, lo, hi = self.start
        i = math.floor((x - lo) / ((hi - lo) / n))
        if abs(i) > EXACT:
            raise ValueError(f"a sample of {x:g}: an axis grows to {MOST_GROWN} bins at most")
        while self._grid(i) > x:
            i -= 1
        while self._grid(i + 1) <= x:
            i += 1
        return i

    def grown_to(self, x, mask):
        values = _counted(x, mask)
        values = values[np.isfinite(values)]
        if not values.size:
            return self
        first, last = (self._number_in_grid(float(v)) for v in (values.min(), values.max()))
        begin, end = min(first, self.begin), max(last + 1, self.begin + len(self))
        return self if end - begin == len(self) else self.reaching(begin, end)

    def union(self, other):
        if not (self.growth and other.growth and type(other) is Regular and self.start == other.start):
            return None
        ends = [f(x.begin + n * len(x) for x in (self, other)) for f, n in ((min, 0), (max, 1))]
        return self.reaching(*ends)

    def placed_in(self, wide):
        """The bins' numbers on an axis that this one has grown to."""
        return np.arange(len(self)) + (self.begin - wide.begin)

    def to_boost(self, axis):
        how = {"circular": True} if self.circular else {"growth": self.growth}
        return axis.Regular(len(self), self.edges[0], self.edges[-1], **how)

    def _says(self):
        growth = ", growth=True" if self.growth else ""
        return f"{len(self)}, {_number(self.edges[0])}, {_number(self.edges[-1])}{growth}"


@methods_untraced()
class Log(Axis):
    """Bins whose edges are in one ratio: the arguments of `Regular`, 0 < lo."""

    def to_boost(self, axis):
        return axis.Regular(len(self), self.edges[0], self.edges[-1], transform=axis.transform.log)

    def __init__(self, bins, lo, hi, *, name="", label="", closed=True):
        last = c.LAST_CLOSED if closed else c.LAST_OPEN
        axis = _count.Axis(c.LOG, _bins(bins), lo=float(lo), hi=float(hi), last=last)
        super().__init__(axis, axis.edges_get(), name, label)

    def _says(self):
        return f"{len(self)}, {_number(self.edges[0])}, {_number(self.edges[-1])}"


@methods_untraced()
class Variable(Axis):
    """Bins between edges that strictly increase; with `circular` the last edge is the first again."""

    def __init__(self, edges, *, name="", label="", closed=True, circular=False):
        edges = np.ascontiguousarray(edges, np.float64)
        if edges.ndim != 1 or len(edges) < 2:
            raise ValueError("edges: two or more numbers are expected")
        last = c.LAST_CLOSED if closed and not circular else c.LAST_OPEN
        axis = _count.Axis(c.EDGES, len(edges) - 1, edges=edges, last=last)
        super().__init__(axis, axis.edges_get(), name, label)
        if circular:
            self.made_circular()

    def _says(self):
        return "[" + ", ".join(_number(e) for e in self.edges) + "]"


@methods_untraced()
class Integer(Axis):
    """A bin for each whole number from `start` to before `stop`; with `growth` also for what comes; with
    `circular` `stop` is `start` again."""

    discrete = True

    def __init__(self, start, stop, *, name="", label="", growth=False, circular=False):
        if growth and circular:
            raise ValueError("an axis grows or is circular, not both")
        start, stop = _whole(start, "start"), _whole(stop, "stop")
        if not -EXACT < start < stop < EXACT:
            raise ValueError(f"Integer({start}, {stop}): -2^53 < start < stop < 2^53 is expected")
        if growth:
            self.growth = True
            if stop - start > MOST_GROWN:
                raise ValueError(f"an axis of {stop - start} bins: it grows to {MOST_GROWN} at most")
        axis = _count.Axis(c.INTEGER, stop - start, first=start, last=c.LAST_OPEN)
        super().__init__(axis, axis.edges_get(), name, label)
        if circular:
            self.made_circular()

    def __getitem__(self, i):
        return int(super().__getitem__(i)[0])

    def _reaching(self, start, stop):
        return Integer(start, stop, name=self.name, label=self.label, growth=self.growth)

    def grown_to(self, x, mask):
        values = _counted(x, mask)
        values = values[np.isfinite(values)]
        if not values.size:
            return self
        start = min(math.floor(values.min()), self.axis.first)
        stop = max(math.floor(values.max()) + 1, self.axis.first + len(self))
        return self if stop - start == len(self) else self._reaching(start, stop)

    def union(self, other):
        if not (self.growth and other.growth and type(other) is Integer):
            return None
        ends = [(x.axis.first, x.axis.first + len(x)) for x in (self, other)]
        return self._reaching(min(a for a, _ in ends), max(b for _, b in ends))

    def placed_in(self, wide):
        return np.arange(len(self)) + (self.axis.first - wide.axis.first)

    def part(self, bounds):
        first, turn = self.axis.first, self._whole_turn(bounds)
        if np.any(np.diff(bounds) > 1):
            return of_edges(Variable, self.edges[bounds], False, self.name, self.label, turn)
        ends = first + int(bounds[0]), first + int(bounds[-1])
        return Integer(*ends, name=self.name, label=self.label, circular=turn)

    def _widened(self):
        return _count.Axis(
            c.INTEGER, self.axis.bins + 2, first=self.axis.first - 1, last=c.LAST_OPEN
        )

    def to_boost(self, axis):
        how = {"circular": True} if self.circular else {"growth": self.growth}
        return axis.Integer(self.axis.first, self.axis.first + len(self), **how)

    def _says(self):
        growth = ", growth=True" if self.growth else ""
        return f"{self.axis.first}, {self.axis.first + len(self)}{growth}"


@methods_untraced()
class Category(Axis):
    """A bin for each of a list of values: texts (bytes are UTF-8) or numbers. Others count as over; with `growth`
    they get bins as they come, and the list may be empty."""

    discrete = True
    is_plain = False

    def __init__(self, categories, *, name="", label="", growth=False):
        self.categories = [v.decode() if isinstance(v, bytes) else v for v in categories]
        few = not self.categories and not growth
        if few or len(set(self.categories)) < len(self.categories) or any(v != v for v in self.categories):
            raise ValueError("categories: one or more values, all different and none NaN, are expected")
        if growth:
            self.growth = True
        values = np.asarray(self.categories)
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]
        n = len(values)
        edges = np.arange(n + 1.0)
        super().__init__(_count.Axis(c.INTEGER, n, last=c.LAST_OPEN), edges, name, label)

    def __getitem__(self, i):
        return self.categories[i]

    def value(self, x):
        return self[x]

    def __eq__(self, other):
        return type(self) is type(other) and self.categories == other.categories

    __hash__ = None

    def index(self, x):
        if isinstance(x, (list, tuple, np.ndarray)):
            return np.array([self.index(v) for v in x], np.intp)
        return self.categories.index(x) if x in self.categories else len(self)

    def take(self, x):
        values, valid = _arrays.categories(x)
        if not len(self) or (values.dtype.kind == "U") != (self._sorted.dtype.kind == "U"):
            found = np.full(values.shape, len(self))
        else:
            if valid is not None:  # a null cannot be compared
                values = np.where(valid, values, self._sorted[0])
            at = np.minimum(np.searchsorted(self._sorted, values), len(self) - 1)
            found = np.where(self._sorted[at] == values, self._order[at], len(self))
        array = _arrays.of_numpy(np.asarray(found, np.int64, order="C"))
        array.valid = valid
        return array

    def grown_to(self, x, mask):
        values, valid = _arrays.categories(x)
        values = _chosen(values, mask if valid is None else mask & valid)
        found, first = np.unique(values[values == values], return_index=True)
        found = found[np.argsort(first)]
        fine = found.dtype.kind in "mM" and found.dtype > np.dtype(f"{found.dtype.kind}8[us]")  # finer than Python's
        known = set(self.categories)
        new = [v for v in (list(found) if fine else found.tolist()) if v not in known]
        return self._with(new) if new else self

    def _with(self, new):
        categories = self.categories + new
        if len(categories) > MOST_GROWN:
            raise ValueError(f"{len(categories)} categories: an axis grows to {MOST_GROWN} at most")
        if len({isinstance(v, str) for v in categories}) > 1:
            raise TypeError(f"categories are texts or numbers, not both: {new[0]!r} is new")
        return Category(categories, name=self.name, label=self.label, growth=True)

    def union(self, other):
        if not (self.growth and other.growth and type(other) is Category):
            return None
        known = set(self.categories)
        return self._with([v for v in other.categories if v not in known])

    def placed_in(self, wide):
        places = {v: i for i, v in enumerate(wide.categories)}
        return np.array([places[v] for v in self.categories], np.intp)

    def chosen(self, bins):
        """The axis of these bins alone, in their order. It does not grow."""
        return Category([self.categories[k] for k in bins], name=self.name, label=self.label)

    def part(self, bounds):
        if np.any(np.diff(bounds) > 1):
            raise ValueError("categories are not joined")
        return self.chosen(range(bounds[0], bounds[-1]))

    _widened = Integer._widened

    def to_boost(self, axis):
        texts = not self.categories or isinstance(self.categories[0], str)
        return (axis.StrCategory if texts else axis.IntCategory)(self.categories, growth=self.growth)

    def _says(self):
        return repr(self.categories) + (", growth=True" if self.growth else "")


def _counted(x, mask):
    """Samples in host memory that are no nulls, where `mask` is True."""
    array = _arrays.take(x)
    if array.device != c.CPU or array.dtype.kind not in "iufb":
        raise NotImplementedError("axes grow by integers and floats in host memory")
    return _chosen(array.numbers(), mask if array.valid is None else mask & array.valid)


def _chosen(values, mask):
    """Those where `mask` is True; a number stands for all."""
    values, mask = np.broadcast_arrays(values, mask)
    return values[mask]


def _turned(axis, x):
    """Samples after as many whole turns as bring them to a circular axis, where they are: infinite ones are
    above."""
    lo, hi = axis.edges[0], axis.edges[-1]
    x = np.asarray(x)
    if x.dtype.kind in "iu" and isinstance(axis, Integer):  # 64-bit ones too are exact
        n = int(hi - lo)
        x = x if x.dtype == np.uint64 else x.astype(np.int64)
        return np.mod(np.mod(x, x.dtype.type(n)).astype(np.int64) - int(lo) % n, n) + int(lo)
    x = x.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        turned = np.minimum(lo + np.mod(x - lo, hi - lo), np.nextafter(hi, lo))  # which rounding can reach
    return np.where((x >= lo) & (x < hi), x, np.where(np.isinf(x), np.inf, turned))


def of_edges(kind, edges, closed, name="", label="", circular=False):
    """An axis of these edges: of this kind, where that gives them to the bit, else `Variable`."""
    made = None
    if kind in (Regular, Log):
        made = kind(len(edges) - 1, edges[0], edges[-1], name=name, label=label, closed=closed)
    if made is None or not np.array_equal(made.edges, edges):
        made = Variable(edges, name=name, label=label, closed=closed)
    return made.made_circular() if circular else made
