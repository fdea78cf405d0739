# SPDX-License-Identifier: Apache-2.0
"""Histograms to keep: filled again and again, added, cut, drawn and saved."""

import copy
import functools
import operator

import numpy as np

from . import _boost, _compiled, _filling, _index, _picture, _saved, _uhi
from ._arithmetic import Arithmetic
from ._cells import STORAGES, Cells, assigned, is_mean, quantile_of, ratio, shown, storage_named
from ._core import Flows
from ._untraced import methods_untraced
from .axes import Axes, Axis, Category

MOST_AXES = 8


@methods_untraced("fill")  # which is fast by not being wrapped
class Hist(Arithmetic):
    """Counts, or sums of weights, on one to eight axes.

    Parameters
    ----------
    *axes : Axis
        `Regular`, `Log`, `Variable`, `Integer`, `Category`.
    storage : {'count', 'sum', 'weight', 'mean', 'weighted_mean'}, default 'count'
        64-bit counts; float64 sums of weights; or these with sums of squared weights; counts, or sums
        of weights and of their squares, with means and variances of `fill(…, sample=)`. Also by
        boost-histogram's names: 'Int64', 'Double', 'Weight', 'Mean', 'WeightedMean'.
    name, label : str, optional
        What it is called when it is saved; what hist calls it.
    device : {None, 'cuda'}
        'cuda': what fills with samples on CUDA devices add stays there until something is asked for,
        so that they only put work on the current stream.

    Attributes
    ----------
    axes : tuple of Axis
        `axes.edges`, `axes.centers` and `axes.widths` are those of all, in shapes that broadcast.
    sums, squares, means : array
        The bins' counts or sums; sums of squared weights and means, or None.
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
    >>> import libtally as tally
    >>> h = tally.Hist(tally.Regular(4, 0, 1))
    >>> h.fill([0.1, 0.2, 0.3, 0.9, 7])
    Hist(Regular(4, 0, 1), storage='count') # 4 in bins, 1 over
    >>> h.values()
    array([2., 1., 0., 1.])
    >>> h[1:].values()
    array([1., 0., 1.])
    """

    _filler = None  # of this histogram's axes and storage, once it is filled; copies have none
    device, _kept = None, None  # what was filled on devices and not yet asked for (_kept.py)

    def __getstate__(self):
        self._settle()
        return {name: value for name, value in self.__dict__.items() if name not in ("_filler", "_kept")}

    def __init__(self, *axes, storage="count", name="", label="", device=None):
        if not axes or not all(isinstance(axis, Axis) for axis in axes):
            raise TypeError("Hist: axes are expected, such as tally.Regular(10, 0, 1)")
        if len(axes) > MOST_AXES:
            raise ValueError(f"Hist: {len(axes)} axes; at most {MOST_AXES} are counted on")
        if device not in (None, "cuda"):
            raise ValueError(f"device={device!r}: None or 'cuda'")
        names = [axis.name for axis in axes if axis.name]
        if len(set(names)) < len(names):
            raise ValueError(f"Hist: axes have one name: {names}")
        self.axes = Axes(map(copy.copy, axes))  # whose names and labels are this one's
        self.storage, self.device = storage_named(storage), device
        self.name, self.label = name, label
        self.reset()

    def reset(self):
        """Empties it."""
        self._kept = None
        self._cells = Cells.zeros(self.storage, self.axes.extent)
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
    def size(self):
        """The number of bins with the flow bins."""
        return self._host.sums.size

    def _settle(self):
        """Adds what devices keep."""
        kept, self._kept = self._kept, None
        for part in (kept or {}).values():
            sums, squares, flows = part.take(self)
            self._host.sums[...] += sums
            if squares is not None:
                self._host.squares[...] += squares
            self._numbers = Flows(*(a + int(b) for a, b in zip(self._numbers, flows)))

    @property
    def _cells(self):
        if self._kept:
            self._settle()
        return self._host

    @_cells.setter
    def _cells(self, cells):
        if self._kept:
            self._settle()
        self._host = cells

    @property
    def flows(self):
        if self._kept:
            self._settle()
        return self._numbers

    @flows.setter
    def flows(self, flows):
        if self._kept:
            self._settle()
        self._numbers = flows

    @property
    def sums(self):
        return self._cells.inside().sums

    @property
    def squares(self):
        return self._cells.inside().squares

    @property
    def means(self):
        return self._cells.inside().means

    # ---- filling and adding ----

    def fill(self, *samples, weight=None, sample=None, where=None, device=None, method=None,
             threads=None, progress=None, **named):  # fmt: skip
        """Adds samples.

        Parameters
        ----------
        *samples : array_like
            An array for each axis, of one shape: of every kind that `tally.histogram` takes. A number
            goes with every sample of the others.
        weight : array_like or float, optional
            A weight for every sample, or one for all. 1 where none is given.
        sample : array_like or float
            With storage='mean' and 'weighted_mean': what is averaged in each bin.
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
        if fast and where is device is method is threads is progress is self.device is None:
            if self._filler is None:
                self._filler = _compiled.filler(self.axes, STORAGES.index(self.storage))
            found = None
            if self._filler:
                found = fast.fill(self._filler, self._cells, samples, weight, sample)
            if found is not None:
                if found:
                    self.flows = Flows(*map(operator.add, self.flows, (*found, 0)))
                return self
        options = {"where": where, "device": device, "method": method, "threads": threads,
                   "progress": progress}  # fmt: skip
        _filling.fill(self, samples, weight, sample, options)
        return self

    def _by_name(self, samples, named):
        """The samples in the axes' order."""
        names = list(self.axes.name)
        if samples or sorted(named) != sorted(names):
            raise TypeError(f"fill: samples for all axes in order, or each by name: {names}")
        return tuple(named[name] for name in names)

    def _on(self, axes):
        """The same content on axes that these have grown to."""
        made = Hist(*axes, storage=self.storage, name=self.name, label=self.label, device=self.device)
        at = []
        for axis, wide in zip(self.axes, axes):
            places = axis.placed_in(wide) if axis.growth and wide.growth else np.arange(len(axis))
            at.append(np.concatenate([[0], places + 1, [len(wide) + 1]]))
        for to, part in zip(made._cells, self._cells):
            if to is not None:
                to[np.ix_(*at)] = part
        made.flows = self.flows
        return made

    def merge(self, *others):
        """This and others of the same axes and storage, added up in a new one."""
        if not all(isinstance(other, Hist) for other in others):
            raise TypeError("merge: histograms are expected, one or more")
        return functools.reduce(operator.iadd, others, self.copy())

    def __eq__(self, other):
        return (
            isinstance(other, Hist)
            and self.storage == other.storage
            and self.axes == other.axes
            and self.flows == other.flows
            and self._cells.same(other._cells)
        )

    __hash__ = None

    # ---- the plotting protocol ----

    @property
    def kind(self):
        """'COUNT': bins hold numbers of samples or sums of weights; 'MEAN': means."""
        return "MEAN" if is_mean(self.storage) else "COUNT"

    def _shown(self, flow):
        return self._cells if flow else self._cells.inside()

    def values(self, flow=False):
        """Counts, sums or means as float64; with the flow bins around them if asked for."""
        cells = self._shown(flow)
        return (cells.sums if cells.means is None else cells.means).astype(np.float64)

    def variances(self, flow=False):
        """Of the values: the counts, the sums of squared weights, or None for plain sums. Of means: the
        samples' variance divided by their sum of weights, NaN where there are less than two."""
        cells = self._shown(flow)
        if cells.means is not None:
            return cells.spread_of_samples() / np.where(cells.sums == 0, np.nan, cells.sums)
        if self.storage == "count":
            return self.values(flow)
        return None if cells.squares is None else cells.squares.copy()

    def counts(self, flow=False):
        """Effective numbers of samples; None for plain sums."""
        cells = self._shown(flow)
        if self.storage in ("count", "mean"):
            return cells.sums.astype(np.float64)
        return None if cells.squares is None else ratio(cells.sums**2, cells.squares)

    def __array__(self, dtype=None, copy=None):
        shown = self.sums if self.means is None else self.means
        return shown.astype(dtype or shown.dtype)

    def view(self, flow=False):
        """The bins: counts and sums themselves, which may be written to (`flows` do not follow); others
        as a copy with fields, named as boost-histogram's."""
        return shown(self.storage, self._shown(flow))

    def to_numpy(self, flow=False, *, dd=False):
        """(values, edges of the first axis, …), as `numpy.histogram` and `histogram2d` return them, with
        `dd` all edges in one tuple. With flow bins the edges begin and end with an infinite one."""
        edges = [axis.edges for axis in self.axes]
        if flow:
            edges = [np.concatenate([[-np.inf], e, [np.inf]]) for e in edges]
        edges = tuple(e.copy() for e in edges)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def sum(self, flow=False, *, axis=None, out=None):
        """Of all bins, and of means of how many they are; with the flow bins if asked for. (NumPy's `sum`
        gives an axis and an output, None; `project` and `h[::sum]` take single axes away.)"""
        if axis is not None or out is not None:
            raise TypeError("sum: of all bins; h[::sum] and project sum along an axis")
        return self._shown(flow).sums.sum().item()

    def empty(self, flow=False):
        """Whether nothing is in the bins."""
        return not self._shown(flow).sums.any()

    def density(self):
        """Values divided by their sum and the bins' volumes."""
        self._no_means("density")
        return functools.reduce(operator.truediv, self.axes.widths, self.values()) / self.sum()

    def _no_means(self, what):
        if is_mean(self.storage):
            raise TypeError(f"{what}: of counts and sums, not of means")

    # ---- other shapes ----

    def _of(self, axes, cells):
        """A histogram of other axes with cells made from this one's."""
        made = Hist(*axes, storage=self.storage, name=self.name, label=self.label, device=self.device)
        made._cells = cells.each(lambda x: np.array(x, order="C"))
        made.flows = self.flows
        made._moved(self._outside())
        return made

    def _outside(self):
        """Content of the flow bins: under and over by the first axis where it is outside."""
        under = over = 0
        rest = self._cells.sums
        for i in range(self.ndim):
            rest = np.moveaxis(rest, i, 0)
            under, over = under + rest[0].sum().item(), over + rest[-1].sum().item()
            rest = np.moveaxis(rest[1:-1], 0, i)
        return under, over

    def _moved(self, before):
        """Flows after counts have moved between bins and flow bins."""
        if self.storage not in ("count", "mean"):
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
        cells = self._cells.summed(rest) if rest else self._cells
        return self._of([self.axes[i] for i in keep], cells.each(lambda x: x.transpose(order)))

    def rebin(self, n, axis=None):
        """Every n neighbouring bins as one, on one axis or on all."""
        chosen = range(self.ndim) if axis is None else [_index.where(axis, self.axes)]
        if n < 1:
            raise ValueError(f"rebin: {n} bins as one; at least 1 is expected")
        for i in chosen:
            if len(self.axes[i]) % n:
                raise ValueError(f"rebin: the {len(self.axes[i])} bins of axis {i} are no multiple of {n}")
        made = self.copy()
        for i in chosen:
            made = made._cut(i, np.arange(0, len(made.axes[i]) + 1, n))
        return made

    def _cut(self, i, bounds):
        """Bins of axis i from each bound to the next as one; what is cut off is under and over."""
        axes, cells = list(self.axes), self._cells
        axes[i] = axes[i].part(bounds)
        starts = [0, *(bounds + 1)]
        if isinstance(axes[i], Category):  # what is not among them is over: what is under goes there
            n = bounds[0] + 1
            cells = cells.each(lambda x: np.roll(x, -n, i)).joined([b - n for b in starts[1:]], i)
            return self._of(axes, cells.each(lambda x: np.insert(x, 0, 0, axis=i)))
        return self._of(axes, cells.joined(starts, i))

    def _chosen(self, i, bins):
        """These categories of axis i, in this order; the others are over."""
        axes = list(self.axes)
        axes[i] = axes[i].chosen(bins)
        first = [k + 1 for k in bins]
        rest = [k for k in range(self._cells.sums.shape[i]) if k not in first]
        cells = self._cells.each(functools.partial(np.take, indices=first + rest, axis=i))
        cells = cells.joined(range(len(first) + 1), i)
        return self._of(axes, cells.each(lambda x: np.insert(x, 0, 0, axis=i)))

    def __getitem__(self, key):
        """Bins by number, slice or tag: `h[3]`, `h[2:8, 0]`, `h[tally.loc(0.5):]`, `h[::sum]`.

        A number or tag picks a bin, of `weight` storages its sum. A slice keeps the axis: what it cuts
        off goes to the flow bins. A step joins so many bins, and what is left over at the end goes to
        the flow bin. With `sum` as step the axis goes: `[::sum]` adds flow bins too, `[0:len:sum]` the
        bins only. The tags of `uhi`, `boost_histogram` and `hist` are understood, `0.5j` for loc(0.5), and
        `{axis: key}`. A text is the bin of a category; a list picks categories by number or text, the
        others are over.
        """
        keys = _index.expanded(key, self.axes)
        made, at = self.copy(), 0
        for i, k in enumerate(keys):
            todo = _index.operation(k, i, self.axes[i])
            if isinstance(todo, _index.Cut):
                made = made._cut(at, todo.bounds)
            if isinstance(todo, _index.Chosen):
                made = made._chosen(at, todo.bins)
            if todo is None or isinstance(todo, (_index.Cut, _index.Chosen)):
                at += 1
                continue
            pick = isinstance(todo, _index.Pick)
            chosen = todo.cell if pick else range(todo.begin, todo.end)
            cells = made._cells.each(functools.partial(np.take, indices=chosen, axis=at))
            cells = cells if pick else cells.summed(at)
            if made.ndim == 1:
                return (cells.sums if cells.means is None else cells.means).item()
            made = made._of(made.axes[:at] + made.axes[at + 1 :], cells)
        return made

    def __setitem__(self, key, value):
        """Sets bins by number, slice or tag; `flows` follow where they hold counts.

        An array has an axis for each slice, of as many numbers as there are bins, or of one, which is
        repeated; a slice that is open at an end takes an array that has its flow bin too. The last
        dimension holds (value, variance) with storage='weight', (count, mean, variance of the samples)
        with 'mean', (sum of weights, of their squares, mean, variance) with 'weighted_mean'.
        """
        keys = _index.expanded(key, self.axes)
        chosen = [_index.selection(k, i, self.axes[i]) for i, k in enumerate(keys)]
        parts = assigned(self.storage, np.asarray(value))
        shape = parts.sums.shape
        slices = [i for i, (cells, _, _) in enumerate(chosen) if isinstance(cells, slice)]
        cells = [c for c, _, _ in chosen]
        if shape and len(shape) != len(slices):
            raise ValueError(f"an array of {len(slices)} dimensions is expected, not {len(shape)}")
        for i, n in zip(slices, shape):
            cells[i] = _index.stretched(chosen[i], n, i)
        before = self._outside()
        for array, part in zip(self._cells, parts):
            if array is not None:
                array[tuple(cells)] = part
        self._moved(before)

    def stack(self, axis):
        """A list of histograms of the other axes, for each bin of this one, given by number or name. Its
        `plot` draws them, of one axis, on each other."""
        at = _index.where(axis, self.axes)
        if self.ndim == 1:
            raise ValueError("stack: two or more axes are expected")
        return _picture.Stack(self.axes[at], [self[{at: i}] for i in range(len(self.axes[at]))])

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
        return _picture.plot(self, ax, keywords)

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
        if isinstance(self.axes[0], Category):
            raise TypeError("quantile: categories are in no order")
        self._no_means("quantile")
        return quantile_of(self.values(), self.axes[0].edges, q)

    # ---- saving and showing ----

    def save(self, path):
        """Writes the command's JSON: `tally show`, `plot` and `merge` read it, but of means the counts and of
        categories the numbers, which `merge` refuses."""
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
        """A histogram of boost-histogram or hist, with its flow bins. A sample equal to the last edge is
        over, as it is there."""
        return _boost.load(cls, theirs)

    def _to_boost_histogram_(self):
        """What `boost_histogram.Histogram(h)` and `hist.Hist(h)` ask for. NaN and masked samples stay
        here."""
        return _boost.give(self)

    def to_uhi(self):
        """A dictionary in UHI's form, which `uhi.io` and boost-histogram write and read."""
        return _uhi.give(self)

    @classmethod
    def from_uhi(cls, data):
        """A histogram from UHI's form."""
        return _uhi.load(cls, data)

    _to_uhi_, _from_uhi_ = to_uhi, from_uhi

    def __repr__(self):
        axes = ", ".join(map(repr, self.axes))
        flows = "".join(f", {n} {f}" for f, n in zip(Flows._fields, self.flows) if n)
        return f"Hist({axes}, storage={self.storage!r}) # {self.sum():g} in bins{flows}"

    def _repr_html_(self):
        return _picture.html(self)
