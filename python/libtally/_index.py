# SPDX-License-Identifier: Apache-2.0
"""What stands in a `Hist`'s brackets: numbers of bins, slices, and tags as UHI describes them.

Along each axis a histogram has cells: cell 0 is what lies under, cell i + 1 is bin i, the last cell
is what lies over. A key becomes one of three things to do along its axis.
"""

import operator
from collections import namedtuple

import numpy as np

Pick = namedtuple("Pick", "cell")  # this cell; the axis goes
Sum = namedtuple("Sum", "begin end")  # cells [begin, end) added up; the axis goes
Cut = namedtuple("Cut", "bounds")  # bins from each bound to the next as one; the rest to the ends
Chosen = namedtuple("Chosen", "bins")  # these categories, in this order; the rest is over


def expanded(key, axes):
    """One key for every axis: from a number, a slice, a tuple, or a dict by axis."""
    n = len(axes)
    if hasattr(key, "items"):
        keys = [slice(None)] * n
        for axis, k in key.items():
            keys[where(axis, axes)] = k
        return keys
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("one ... at most")
    at = dots[0] if dots else len(keys)
    rest = n - len(keys) + len(dots)
    if rest < 0:
        raise IndexError(f"{len(keys) - len(dots)} indices for {n} axes")
    return keys[:at] + [slice(None)] * rest + keys[at + len(dots) :]


def where(axis, axes):
    """The number of an axis, which is given by number or name."""
    for i, a in enumerate(axes):
        named = isinstance(axis, str) and a.name and axis == a.name
        if named or (not isinstance(axis, str) and axis in (i, i - len(axes))):
            return i
    raise ValueError(f"no axis {axis!r}")


def _spelled_out(key, i):
    """hist's shorthand: 0.5j is loc(0.5), 1 + 0.5j loc(0.5, 1), a text its category, and 2j as a step joins
    two bins."""
    if isinstance(key, list):
        return [k if isinstance(k, str) else _spelled_out(k, i) for k in key]
    if isinstance(key, slice):
        step = key.step
        if isinstance(step, complex):
            step = _whole_part(step.imag, i) if not step.real else _number(step, i)
        return slice(_spelled_out(key.start, i), _spelled_out(key.stop, i), step)
    if isinstance(key, str):
        return _named(key, i)
    return loc(key.imag, _whole_part(key.real, i)) if isinstance(key, complex) else key


def _named(key, i):
    """The bin of a category."""

    def bin_of(axis):
        categories = getattr(axis, "categories", ())
        if key not in categories:
            raise KeyError(f"axis {i}: no category {key!r}")
        return categories.index(key)

    return bin_of


def _whole_part(x, i):
    return int(x) if x == int(x) else _number(x, i)


def operation(key, i, axis):
    """What a key does along axis i: a Pick, a Sum, a Cut, or None for nothing."""
    key = _spelled_out(key, i)
    if key is sum or _is_rebin(key):
        key = slice(None, None, key)
    if isinstance(key, list):
        return Chosen(_several(key, i, axis))
    if not isinstance(key, slice):
        return Pick(_cell(key, i, axis))
    if key.step is None and key.start is None and key.stop is None:
        return None
    begin, end = _ends(key, i, axis)
    if begin >= end and (key.step is not sum or None not in (key.start, key.stop)):
        raise IndexError(f"axis {i}: no bins are left")
    if key.step is sum:
        return Sum(0 if key.start is None else begin + 1, len(axis) + 2 if key.stop is None else end + 1)
    return Cut(_bounds(key.step, begin, end, i, axis))


def _several(keys, i, axis):
    """Bins of a list of categories' numbers or texts."""
    categories = getattr(axis, "categories", None)
    if categories is None or not keys:
        raise TypeError(f"axis {i}: a list names categories of a Category axis, one or more")
    found = []
    for key in keys:
        if isinstance(key, str) and key not in categories:
            raise KeyError(f"axis {i}: no category {key!r}")
        found.append(categories.index(key) if isinstance(key, str) else _cell(key, i, axis) - 1)
    if len(set(found)) < len(found) or not 0 <= min(found) <= max(found) < len(axis):
        raise IndexError(f"axis {i}: {keys!r} are not different categories")
    return found


def selection(key, i, axis):
    """Cells that are assigned to: a cell, or a slice of bins and whether it is open at its ends."""
    key = _spelled_out(key, i)
    if not isinstance(key, slice):
        return _cell(key, i, axis), False, False
    if key.step is not None:
        raise ValueError(f"axis {i}: bins are assigned one by one, without a step")
    begin, end = _ends(key, i, axis)
    if begin >= end:
        raise IndexError(f"axis {i}: no bins to assign to")
    return slice(begin + 1, end + 1), key.start is None, key.stop is None


def stretched(chosen, n, i):
    """Cells of axis i for n numbers: its flow bins belong to them if the slice is open there."""
    cells, under, over = chosen
    bins = cells.stop - cells.start
    if n in (1, bins):
        return cells
    if n == bins + under + over:
        return slice(cells.start - under, cells.stop + over)
    raise ValueError(f"axis {i}: {n} numbers for {bins} bins")


def _number(key, i):
    """An integer; what is none, such as 1.5, True or an array, is refused."""
    if not isinstance(key, (bool, np.bool_)) and not (isinstance(key, np.ndarray) and key.ndim):
        try:
            return operator.index(key)
        except TypeError:
            pass
    raise TypeError(
        f"axis {i}: {key!r} names no bin: numbers of bins, slices, and tags such as tally.loc(0.5), "
        "tally.underflow, sum or uhi.tag.rebin(2) do"
    )


def _asked(tag, i, axis):
    """The bin that a tag answers: -1 under, the number of bins over."""
    try:
        found = tag(axis)
    except (TypeError, AttributeError) as e:
        raise TypeError(f"axis {i}: {tag!r} is no tag of a bin: {e}") from e
    return _number(found, i)


def _cell(key, i, axis):
    n = len(axis)
    if callable(key):
        k = _asked(key, i, axis)
        if not -1 <= k <= n:
            raise IndexError(f"axis {i}: {key!r} is bin {k} of {n}")
        return k + 1
    k = _number(key, i)
    if not -n <= k < n:
        raise IndexError(f"axis {i}: bin {k} of {n}")
    return k % n + 1


def _ends(key, i, axis):
    """First bin of a slice, and the one after its last."""
    n, found = len(axis), []
    for end in (key.start, key.stop):
        if callable(end):
            end = min(max(_asked(end, i, axis), 0), n)
        found.append(end if end is None else _number(end, i))
    return slice(*found).indices(n)[:2]


def _is_rebin(key):
    return hasattr(key, "factor")


def _bounds_of_edges(edges, begin, end, i, axis):
    """Where bins begin and end that have these edges, which are all the axis'."""
    there = axis.edges[begin : end + 1]
    at = np.clip(np.searchsorted(there, edges), 1, end - begin)
    at -= edges - there[at - 1] < there[at] - edges
    width = np.diff(there).min()
    if len(at) < 2 or np.any(np.diff(at) < 1) or np.any(np.abs(there[at] - edges) > 1e-9 * width):
        raise ValueError(f"axis {i}: {list(edges)} are no edges of its bins")
    return begin + at


def _bounds(step, begin, end, i, axis):
    """Where the bins of a slice begin, and where the last of them ends."""
    if _is_rebin(step):
        theirs = getattr(step, "axis", None)
        edges = getattr(step, "edges", None) if theirs is None else theirs.edges
        if edges is not None:
            return _bounds_of_edges(np.asarray(edges, float), begin, end, i, axis)
        groups = getattr(step, "groups", None)
        if groups is not None:
            bounds = begin + np.cumsum([0, *groups])
            if bounds[-1] != end or np.any(np.diff(bounds) < 1):
                raise ValueError(f"axis {i}: groups of {list(groups)} are not {end - begin} bins")
            return bounds
        step = step.factor
        if step is None:
            raise TypeError(f"axis {i}: bins are joined by a factor or by groups of bins")
    step = 1 if step is None else _number(step, i)
    if step < 1 or step > end - begin:
        raise ValueError(f"axis {i}: {step} of {end - begin} bins cannot be joined")
    return np.arange(begin, end + 1, step)


# ---- tags ----


class loc:
    """In the brackets of a `Hist`: the bin that holds a number, or, for a single bin, a flow bin.

    Examples
    --------
    >>> import libtally as tally
    >>> h = tally.Hist(tally.Regular(10, 0, 1)).fill([0.05, 0.55])
    >>> h[tally.loc(0.5):].sum()
    1
    """

    def __init__(self, value, offset=0):
        self.value, self.offset = value, offset

    def __call__(self, axis):
        return axis.index(self.value) + self.offset

    def __add__(self, offset):
        return loc(self.value, self.offset + operator.index(offset))

    def __sub__(self, offset):
        return loc(self.value, self.offset - operator.index(offset))

    def __repr__(self):
        return f"loc({self.value!r})" + (f" + {self.offset}" if self.offset else "")


def underflow(axis):
    """In the brackets of a `Hist`: what lies under the first bin of an axis."""
    return -1


def overflow(axis):
    """In the brackets of a `Hist`: what lies over the last bin of an axis."""
    return len(axis)
