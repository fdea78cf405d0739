"""Histograms to keep: filled again and again, added, cut, drawn and saved."""

import copy
import functools
import numbers
import operator

import numpy as np

from . import _arrays, _boost, _compiled, _index, _picture, _saved
from ._core import Call, Flows, Weights, total
from .axes import Axes, Axis, Category

STORAGES = ("count", "sum", "weight")
MOST_AXES = 8


class Hist:
    """Counts, or sums of weights, on one to eight axes.

    Parameters
    ----------
    *axes : Axis
        `Regular`, `Log`, `Variable`, `Integer`, `Category`.
    storage : {'count', 'sum', 'weight'}, default 'count'
        64-bit counts; float64 sums of weights; or these with sums of squared weights.
    name : str, optional
        What it is called when it is saved.

    Attributes
    ----------
    axes : tuple of Axis
        `axes.edges`, `axes.centers` and `axes.widths` are those of all, in shapes that broadcast.
    sums, squares : array
        The bins' counts or sums, and with storage='weight' their sums of squared weights.
    flows : Flows
        Numbers of samples under, over, NaN and masked. With several axes a sample is NaN if one of
        its coordinates is, else under or over by the first that is outside. Slices and `project` move
        counts between bins and flows; with weights, `flows` stay the numbers that were filled.

    Notes
    -----
    Every axis has two flow bins besides, for what lies under and over: `flow=True` shows them, and
    `h[tally.underflow]`. What a slice cuts off goes there, and `project` adds them up with the bins.

    Different histograms may be filled at once by different threads; one is filled by one thread at a time.
    The protocol for plotting (UHI) is followed: `hist`, `mplhep` and matplotlib's `stairs` draw it.

    Examples
    --------
    >>> import tally
    >>> h = tally.Hist(tally.Regular(4, 0, 1))
    >>> h.fill([0.1, 0.2, 0.3, 0.9, 7])
    Hist(Regular(4, 0, 1), storage='count') # 4 in bins, 1 over
    >>> h.values()
    array([2., 1., 0., 1.])
    >>> h[1:].values()
    array([1., 0., 1.])
    """

    _filler = None  # of this histogram's axes and storage, once it is filled; copies have none

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_filler"}

    def __init__(self, *axes, storage="count", name=""):
        if not axes or not all(isinstance(axis, Axis) for axis in axes):
            raise TypeError("Hist: axes are expected, such as tally.Regular(10, 0, 1)")
        if len(axes) > MOST_AXES:
            raise ValueError(f"Hist: {len(axes)} axes; at most {MOST_AXES} are counted on")
        if storage not in STORAGES:
            raise ValueError(f"storage={storage!r}: 'count', 'sum' or 'weight'")
        self.axes, self.storage, self.name = Axes(axes), storage, name
        self.reset()

    def reset(self):
        """Empties it."""
        shape = tuple(n + 2 for n in self.shape)
        self._sums = np.zeros(shape, np.int64 if self.storage == "count" else np.float64)
        self._squares = np.zeros(shape) if self.storage == "weight" else None
        self.flows = Flows(0, 0, 0, 0)
        return self

    def copy(self):
        """Another one of the same content."""
        return copy.deepcopy(self)

    def __copy__(self):
        return copy.deepcopy(self)

    @property
    def shape(self):
        """Numbers of bins, without the flow bins."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.axes)

    @property
    def sums(self):
        return _inside(self._sums)

    @property
    def squares(self):
        return None if self._squares is None else _inside(self._squares)

    # ---- filling and adding ----

    def fill(self, *samples, weight=None, where=None, device=None, method=None, threads=None,
             progress=None, **named):  # fmt: skip
        """Adds samples.

        Parameters
        ----------
        *samples : array_like
            An array for each axis, of one shape: of every kind that `tally.histogram` takes. A number
            goes with every sample of the others.
        weight : array_like or float, optional
            A weight for every sample, or one for all. 1 where none is given.
        where : array_like of bool, optional
            Samples to count.
        device, method, threads, progress
            As for `tally.histogram`.
        **named
            The samples by the axes' names, instead of in their order.

        Returns
        -------
        Hist
            This one. It is as it was if an error is raised.
        """
        if named:
            samples = self._by_name(samples, named)
        fast = _compiled.fast
        if fast and where is device is method is threads is progress is None:
            if self._filler is None:
                self._filler = _compiled.filler(self.axes, STORAGES.index(self.storage))
            found = None
            if self._filler:
                found = fast.fill(self._filler, self._sums, self._squares, samples, weight)
            if found is not None:
                if found:
                    self.flows = Flows(*map(operator.add, self.flows, (*found, 0)))
                return self
        if len(samples) != len(self.axes):
            raise ValueError(f"{len(samples)} arrays for {len(self.axes)} axes")
        if weight is not None and self.storage == "count":
            raise TypeError("weights are summed with storage='sum' or 'weight', not in counts")
        arrays = [axis.take(x) for axis, x in zip(self.axes, samples)]
        if any(a.shape != arrays[0].shape for a in arrays):
            arrays = _spread(arrays)
        call = Call(None, where, None, None, device, method, threads, None, progress)
        call.start(arrays[0])
        call.to_host()
        if weight is None and self.storage != "count":
            weight = 1
        if isinstance(weight, numbers.Real):
            weight = np.broadcast_to(np.float64(weight), arrays[0].shape)
        weights = Weights(weight, call, arrays[0].shape)
        weights.as_floats()
        plain = method is None and progress is None
        few = plain and arrays[0].size < self._sums.size and all(map(_has_ends, self.axes, arrays))
        if self.ndim == 1 and (few or self.storage == "count"):
            flows = self._add_inside(call, arrays, weights)
        elif few:
            flows = self._add_all(call, arrays, weights)
        else:
            flows = self._add_counted(call, arrays, weights)
        self.flows = Flows(*(a + int(b) for a, b in zip(self.flows, flows)))
        return self

    def _by_name(self, samples, named):
        """The samples in the axes' order."""
        names = list(self.axes.name)
        if samples or sorted(named) != sorted(names):
            raise TypeError(f"fill: samples for all axes in order, or each by name: {names}")
        return tuple(named[name] for name in names)

    def _total(self, call, arrays, axes, weights, onto=None):
        """Counts or sums, flows and sums of squares or None."""
        every = tuple(range(len(arrays[0].shape)))
        return total(call, arrays, axes, weights, every, self.storage == "weight", onto)

    def _add_onto(self, call, arrays, axes, weights, sums, squares):
        """Adds to these of ours, all of it or nothing, at the cost of the samples alone if it can be;
        the numbers of samples in no bin."""
        counts, flows, squared = self._total(call, arrays, axes, weights, (sums, squares))
        if counts is not sums:
            sums += counts
            if squares is not None:
                squares += squared
        return flows

    def _add_inside(self, call, arrays, weights):
        """One axis: what goes to the flow bins is counted before, in three bins."""
        axis, ends, squares = self.axes[0], None, None
        if self.storage != "count":
            ends, _, squares = self._total(call, arrays, [axis.whole().with_ends()], weights)
        flows = self._add_onto(call, arrays, [copy.copy(axis.axis)], weights, self.sums, self.squares)
        self._sums[[0, -1]] += flows[:2] if ends is None else ends[[0, -1]]
        if squares is not None:
            self._squares[[0, -1]] += squares[[0, -1]]
        return flows

    def _add_all(self, call, arrays, weights):
        """Several axes: counted with the flow bins, in which all samples but NaN are; how many would
        be in none is counted before, in one bin."""
        _, flows, _ = self._total(call, arrays, [axis.whole().axis for axis in self.axes], weights)
        wide = [axis.with_ends() for axis in self.axes]
        self._add_onto(call, arrays, wide, weights, self._sums, self._squares)
        return flows

    def _add_counted(self, call, arrays, weights):
        """Many samples: counted apart, by the axes' own ways, which are quicker than with flow bins."""
        counts, flows, squares = self._total(
            call, arrays, [copy.copy(axis.axis) for axis in self.axes], weights
        )
        if not flows[0] and not flows[1]:
            self._add_inner(counts, squares)
            return flows
        # Which flow bins, and with what weights: once more, on axes with two bins more.
        if not all(axis.take_exactly(a) for axis, a in zip(self.axes, arrays)):
            raise NotImplementedError(
                "64-bit integers outside an axis that ends beyond 2^53: convert them to float64"
            )
        call.method = call.progress = None
        wide, _, wide_squares = self._total(
            call, arrays, [axis.with_ends() for axis in self.axes], weights
        )
        _inside(wide)[...] = 0
        if squares is not None:
            _inside(wide_squares)[...] = 0
            self._squares += wide_squares
        self._sums += wide
        self._add_inner(counts, squares)
        return flows

    def _add_inner(self, counts, squares):
        self.sums[...] += counts
        if squares is not None:
            self.squares[...] += squares

    def _like(self, other):
        """Refuses another one that cannot be added up with this one, bin by bin."""
        if self.storage != other.storage:
            raise ValueError(f"one holds {self.storage}s, the other {other.storage}s")
        if self.axes != other.axes:
            raise ValueError(
                "the axes differ: only histograms of the same edges, whose last bins both take their "
                "end or both do not, are added"
            )

    def __iadd__(self, other):
        if not isinstance(other, Hist):
            return NotImplemented
        self._like(other)
        self._sums += other._sums
        if self._squares is not None:
            self._squares += other._squares
        self.flows = Flows(*map(operator.add, self.flows, other.flows))
        return self

    def __add__(self, other):
        return self.copy().__iadd__(other)

    def __radd__(self, other):
        # for sum()
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __isub__(self, other):
        """Counts without another one's, which are among them; of sums the difference, whose sums of
        squared weights (and numbers of samples in `flows`) add up."""
        if not isinstance(other, Hist):
            return NotImplemented
        self._like(other)
        counts = self.storage == "count"
        if counts and ((self._sums < other._sums).any() or any(map(operator.lt, self.flows, other.flows))):
            raise ValueError("counts would be negative: subtract with storage='sum' or 'weight'")
        self._sums -= other._sums
        if self._squares is not None:
            self._squares += other._squares
        self.flows = Flows(*map(operator.sub if counts else operator.add, self.flows, other.flows))
        return self

    def __sub__(self, other):
        return self.copy().__isub__(other)

    def __imul__(self, factor):
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        if self.storage == "count":
            raise TypeError("counts stay counts: h * factor makes sums of weights of them")
        self._sums *= factor
        if self._squares is not None:
            self._squares *= float(factor) ** 2
        return self

    def __mul__(self, factor):
        """Sums of weights times a number; of counts, those of weights that are all this number."""
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        made = self.copy()
        if self.storage == "count":
            made.storage = "weight"
            made._sums = self._sums.astype(np.float64)
            made._squares = made._sums.copy()
        return made.__imul__(factor)

    __rmul__ = __mul__

    def __truediv__(self, factor):
        return self * (1 / factor) if isinstance(factor, numbers.Real) else NotImplemented

    def __itruediv__(self, factor):
        return self.__imul__(1 / factor) if isinstance(factor, numbers.Real) else NotImplemented

    def merge(self, *others):
        """This and others of the same axes and storage, added up in a new one."""
        return functools.reduce(operator.iadd, others, self.copy())

    def __eq__(self, other):
        return (
            isinstance(other, Hist)
            and self.storage == other.storage
            and self.axes == other.axes
            and self.flows == other.flows
            and np.array_equal(self._sums, other._sums)
            and (self._squares is None or np.array_equal(self._squares, other._squares))
        )

    __hash__ = None

    # ---- the plotting protocol ----

    @property
    def kind(self):
        """'COUNT': bins hold numbers of samples or sums of weights."""
        return "COUNT"

    def values(self, flow=False):
        """Counts or sums as float64; with the flow bins around them if asked for."""
        return (self._sums if flow else self.sums).astype(np.float64)

    def variances(self, flow=False):
        """Of the values: the counts, the sums of squared weights, or None for plain sums."""
        if self.storage == "count":
            return self.values(flow)
        if self._squares is None:
            return None
        return (self._squares if flow else self.squares).copy()

    def counts(self, flow=False):
        """Effective numbers of samples; None for plain sums."""
        if self.storage == "count":
            return self.values(flow)
        if self._squares is None:
            return None
        values, squares = self.values(flow), self.variances(flow)
        return np.divide(values**2, squares, out=np.zeros_like(values), where=squares != 0)

    def __array__(self, dtype=None, copy=None):
        return self.sums.astype(dtype or self.sums.dtype)

    def to_numpy(self, flow=False):
        """(values, edges of the first axis, …), as `numpy.histogram` and `histogram2d` return them.
        With flow bins the edges begin and end with an infinite one."""
        edges = [axis.edges for axis in self.axes]
        if flow:
            edges = [np.concatenate([[-np.inf], e, [np.inf]]) for e in edges]
        return (self.values(flow), *(e.copy() for e in edges))

    def sum(self, flow=False):
        """Of all bins; with the flow bins if asked for."""
        return (self._sums if flow else self.sums).sum().item()

    def density(self):
        """Values divided by their sum and the bins' volumes."""
        return functools.reduce(operator.truediv, self.axes.widths, self.values()) / self.sum()

    # ---- other shapes ----

    def _of(self, axes, change):
        """A histogram of other axes whose cells are changed alike."""
        made = Hist(*axes, storage=self.storage, name=self.name)
        made._sums = np.ascontiguousarray(change(self._sums))
        if self._squares is not None:
            made._squares = np.ascontiguousarray(change(self._squares))
        made.flows = self.flows
        made._moved(self._outside())
        return made

    def _outside(self):
        """Content of the flow bins: under and over by the first axis where it is outside."""
        under = over = 0
        rest = self._sums
        for i in range(self.ndim):
            rest = np.moveaxis(rest, i, 0)
            under, over = under + rest[0].sum().item(), over + rest[-1].sum().item()
            rest = np.moveaxis(rest[1:-1], 0, i)
        return under, over

    def _moved(self, before):
        """Flows after counts have moved between bins and flow bins."""
        if self.storage != "count":
            return
        change = map(operator.sub, self._outside(), before)
        under, over = map(operator.add, self.flows[:2], change)
        self.flows = self.flows._replace(under=under, over=over)

    def project(self, *axes):
        """Only these axes, by number or name, in this order; the others are summed, with their flow
        bins."""
        keep = [_index.where(axis, self.axes) for axis in axes]
        if not keep or len(set(keep)) < len(keep):
            raise ValueError("project: one or more different axes are expected")
        rest = tuple(i for i in range(self.ndim) if i not in keep)
        order = [sorted(keep).index(i) for i in keep]
        return self._of([self.axes[i] for i in keep], lambda x: x.sum(axis=rest).transpose(order))

    def rebin(self, n, axis=None):
        """Every n neighbouring bins as one, on one axis or on all."""
        chosen = range(self.ndim) if axis is None else [_index.where(axis, self.axes)]
        if n < 1 or any(len(self.axes[i]) % n for i in chosen):
            raise ValueError(f"{[len(self.axes[i]) for i in chosen]} bins are no multiples of {n}")
        made = self.copy()
        for i in chosen:
            made = made._cut(i, np.arange(0, len(made.axes[i]) + 1, n))
        return made

    def _cut(self, i, bounds):
        """Bins of axis i from each bound to the next as one; what is cut off is under and over."""
        axes = list(self.axes)
        axes[i] = axes[i].part(bounds)
        unordered = isinstance(axes[i], Category)  # what is not among them is over

        def change(x):
            x = np.add.reduceat(x, [0, *(bounds + 1)], axis=i)
            if unordered:
                x = np.moveaxis(x, i, 0)
                x[-1] += x[0]
                x[0] = 0
                x = np.moveaxis(x, 0, i)
            return x

        return self._of(axes, change)

    def __getitem__(self, key):
        """Bins by number, slice or tag: `h[3]`, `h[2:8, 0]`, `h[tally.loc(0.5):]`, `h[::sum]`.

        A number or tag picks a bin, of `weight` storages its sum. A slice keeps the axis: what it cuts
        off goes to the flow bins. A step joins so many bins, and what is left over at the end goes to
        the flow bin. With `sum` as step the axis goes: `[::sum]` adds flow bins too, `[0:len:sum]` the
        bins only. The tags of `uhi`, `boost_histogram` and `hist` are understood, and so is
        `{axis: key}`.
        """
        keys = _index.expanded(key, self.axes)
        made, at = self.copy(), 0
        for i, k in enumerate(keys):
            todo = _index.operation(k, i, self.axes[i])
            if isinstance(todo, _index.Cut):
                made = made._cut(at, todo.bounds)
            if todo is None or isinstance(todo, _index.Cut):
                at += 1
                continue
            if isinstance(todo, _index.Pick):
                change = functools.partial(np.take, indices=todo.cell, axis=at)
            else:
                cells = range(todo.begin, todo.end)
                change = functools.partial(_added, cells=cells, axis=at)
            if made.ndim == 1:
                return change(made._sums).item()
            made = made._of(made.axes[:at] + made.axes[at + 1 :], change)
        return made

    def __setitem__(self, key, value):
        """Sets bins by number, slice or tag; `flows` follow where they hold counts.

        An array has an axis for each slice, of as many numbers as there are bins, or of one, which is
        repeated; a slice that is open at an end takes an array that has its flow bin too. With
        storage='weight' the last dimension holds (value, variance).
        """
        keys = _index.expanded(key, self.axes)
        chosen = [_index.selection(k, i, self.axes[i]) for i, k in enumerate(keys)]
        value = np.asarray(value)
        parts = [value]
        if self.storage == "weight":
            if not value.ndim or value.shape[-1] != 2:
                raise ValueError("storage='weight': (value, variance) are expected, as last dimension")
            parts = [value[..., 0], value[..., 1]]
        slices = [i for i, (cells, _, _) in enumerate(chosen) if isinstance(cells, slice)]
        cells = [c for c, _, _ in chosen]
        if parts[0].ndim and parts[0].ndim != len(slices):
            raise ValueError(f"an array of {len(slices)} dimensions is expected, not {parts[0].ndim}")
        for i, n in zip(slices, parts[0].shape):
            cells[i] = _stretched(chosen[i], n, i)
        if self.storage == "count":
            whole = value.astype(np.int64) if value.dtype.kind in "iufb" else None
            if whole is None or (whole != value).any() or (whole < 0).any():
                raise ValueError("counts are whole numbers from 0 on")
            parts = [whole]
        before = self._outside()
        for array, part in zip((self._sums, self._squares), parts):
            array[tuple(cells)] = part
        self._moved(before)

    def stack(self, axis):
        """A histogram of the other axes for each bin of this one, given by number or name."""
        at = _index.where(axis, self.axes)
        if self.ndim == 1:
            raise ValueError("stack: two or more axes are expected")
        return [self[{at: i}] for i in range(len(self.axes[at]))]

    def plot(self, ax=None, **keywords):
        """Draws one axis as steps, two as an image, by matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; else the current ones.
        **keywords
            For `stairs` or `pcolormesh`.

        Returns
        -------
        The artist that was drawn.
        """
        if self.ndim > 2:
            raise ValueError("plot: one or two axes; project to them first")
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.gca()
        edges = [axis.edges for axis in self.axes]
        if self.ndim == 1:
            drawn = ax.stairs(self.values(), edges[0], **keywords)
        else:
            drawn = ax.pcolormesh(*edges, self.values().T, **keywords)
            ax.set_ylabel(self.axes[1].label or self.axes[1].name)
        ax.set_xlabel(self.axes[0].label or self.axes[0].name)
        return drawn

    def quantile(self, q):
        """Where a share q of the bins' content lies below, a bin's being spread evenly in it.

        Parameters
        ----------
        q : float or array_like
            Between 0 and 1.

        Returns
        -------
        float or array of float64
            In the axis' unit; NaN for an empty histogram.
        """
        if len(self.axes) != 1:
            raise ValueError("quantile: of one axis; project to it first")
        q = np.asarray(q, float)
        if np.any((q < 0) | (q > 1)) or np.isnan(q).any():
            raise ValueError("quantile: q lies between 0 and 1")
        content = self.values()
        if (content < 0).any():
            raise ValueError("quantile: a sum of weights is negative")
        below = np.concatenate([[0.0], np.cumsum(content)])
        if not below[-1]:
            return q * np.nan if q.ndim else float("nan")
        wanted = q * below[-1]
        i = np.clip(np.searchsorted(below, wanted, side="left") - 1, 0, len(content) - 1)
        i = np.maximum(i, np.argmax(content > 0))  # q = 0: where the content begins
        edges = self.axes[0].edges
        x = edges[i] + (wanted - below[i]) / content[i] * (edges[i + 1] - edges[i])
        return x if q.ndim else float(x)

    # ---- saving and showing ----

    def save(self, path):
        """Writes the command's JSON: `tally show`, `plot` and `merge` read it."""
        _saved.save(self, path)

    @classmethod
    def load(cls, path, index=0):
        """Reads what `save` or the command wrote.

        Parameters
        ----------
        path : path_like
        index : int, default 0
            Which result, where the file holds several.

        Returns
        -------
        Hist, or list of Hist where the result has several histograms (channels)
        """
        return _saved.load(cls, path, index)

    @classmethod
    def from_boost(cls, theirs):
        """A histogram of boost-histogram or hist, with its flow bins: of storages Int64, Double and
        Weight. A sample equal to the last edge is over, as it is there."""
        return _boost.load(cls, theirs)

    def _to_boost_histogram_(self):
        """What `boost_histogram.Histogram(h)` and `hist.Hist(h)` ask for. NaN and masked samples stay
        here."""
        import boost_histogram as bh

        storages = {"count": bh.storage.Int64, "sum": bh.storage.Double,
                    "weight": bh.storage.Weight}  # fmt: skip
        axes = [axis.to_boost(bh.axis) for axis in self.axes]
        for ours, theirs in zip(self.axes, axes):
            theirs.__dict__.update(name=ours.name, label=ours.label)
        made = bh.Histogram(*axes, storage=storages[self.storage]())
        # Theirs have no cell under categories.
        cells = tuple(slice(int(isinstance(axis, Category)), None) for axis in self.axes)
        view = made.view(flow=True)
        if self.storage == "weight":
            view.value, view.variance = self._sums[cells], self._squares[cells]
        else:
            view[...] = self._sums[cells]
        return made

    def __repr__(self):
        axes = ", ".join(map(repr, self.axes))
        flows = "".join(f", {n} {f}" for f, n in zip(Flows._fields, self.flows) if n)
        return f"Hist({axes}, storage={self.storage!r}) # {self.sum():g} in bins{flows}"

    def _repr_html_(self):
        return _picture.html(self)


def _spread(arrays):
    """Arrays of one shape: numbers are repeated."""
    shapes = {a.shape for a in arrays if a.shape}
    if len(shapes) != 1 or any(a.device != arrays[0].device or a.valid is not None for a in arrays):
        raise ValueError("the arrays differ in shape")
    shape = shapes.pop()
    return [a if a.shape else _arrays.of_numpy(np.full(shape, a.on_host())) for a in arrays]


def _has_ends(axis, array):
    return axis.has_ends() and axis.take_exactly(array)


def _inside(cells):
    """The bins without the flow bins."""
    return cells[(slice(1, -1),) * cells.ndim]


def _added(x, cells, axis):
    return np.take(x, cells, axis=axis).sum(axis=axis)


def _stretched(chosen, n, i):
    """Cells of axis i for n numbers: its flow bins belong to them if the slice is open there."""
    cells, under, over = chosen
    bins = cells.stop - cells.start
    if n in (1, bins):
        return cells
    if n == bins + under + over:
        return slice(cells.start - under, cells.stop + over)
    raise ValueError(f"axis {i}: {n} numbers for {bins} bins")


class loc:
    """In the brackets of a `Hist`: the bin that holds a number, or, for a single bin, a flow bin.

    Examples
    --------
    >>> import tally
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
