"""Histograms to keep: filled again and again, added, cut, drawn and saved."""

import copy
import functools
import operator

import numpy as np

from . import _arrays, _picture, _saved
from ._core import Call, Flows, Weights, total
from .axes import Axis

STORAGES = ("count", "sum", "weight")


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
    flows : Flows
        Numbers of samples under, over, NaN and masked. With several axes a sample is NaN if one of
        its coordinates is, else under or over by the first that is outside.

    Notes
    -----
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

    def __init__(self, *axes, storage="count", name=""):
        if not axes or not all(isinstance(axis, Axis) for axis in axes):
            raise TypeError("Hist: axes are expected, such as tally.Regular(10, 0, 1)")
        if storage not in STORAGES:
            raise ValueError(f"storage={storage!r}: 'count', 'sum' or 'weight'")
        self.axes, self.storage, self.name = axes, storage, name
        shape = tuple(len(axis) for axis in axes)
        self.sums = np.zeros(shape, np.int64 if storage == "count" else np.float64)
        self.squares = np.zeros(shape) if storage == "weight" else None
        self.flows = Flows(0, 0, 0, 0)

    # ---- filling and adding ----

    def fill(self, *samples, weight=None, where=None, device=None, method=None, threads=None,
             progress=None):  # fmt: skip
        """Adds samples.

        Parameters
        ----------
        *samples : array_like
            An array for each axis, of one shape: of every kind that `tally.histogram` takes.
        weight : array_like, optional
            A weight for every sample. 1 where none is given.
        where : array_like of bool, optional
            Samples to count.
        device, method, threads, progress
            As for `tally.histogram`.

        Returns
        -------
        Hist
            This one. It is as it was if an error is raised.
        """
        if len(samples) != len(self.axes):
            raise ValueError(f"{len(samples)} arrays for {len(self.axes)} axes")
        if weight is not None and self.storage == "count":
            raise TypeError("weights are summed with storage='sum' or 'weight', not in counts")
        arrays = [axis.take(x) for axis, x in zip(self.axes, samples)]
        if any(a.shape != arrays[0].shape for a in arrays):
            raise ValueError("the arrays differ in shape")
        call = Call(None, where, None, None, device, method, threads, None, progress)
        call.start(arrays[0])
        call.to_host()
        if weight is None and self.storage != "count":
            weight = np.broadcast_to(np.float64(1), arrays[0].shape)
        weights = Weights(weight, call, arrays[0].shape)
        weights.as_floats()
        described = [copy.copy(axis.axis) for axis in self.axes]
        every = tuple(range(len(arrays[0].shape)))
        squares = np.zeros_like(self.squares) if self.storage == "weight" else None
        counts, flows = total(call, arrays, described, weights, every, squares)
        self.sums += counts
        if squares is not None:
            self.squares += squares
        self.flows = Flows(*(a + int(b) for a, b in zip(self.flows, flows)))
        return self

    def __iadd__(self, other):
        if not isinstance(other, Hist):
            return NotImplemented
        if self.storage != other.storage:
            raise ValueError(f"one holds {self.storage}s, the other {other.storage}s")
        if self.axes != other.axes:
            raise ValueError("the axes differ: only histograms of the same edges are added")
        self.sums += other.sums
        if self.squares is not None:
            self.squares += other.squares
        self.flows = Flows(*map(operator.add, self.flows, other.flows))
        return self

    def __add__(self, other):
        return copy.deepcopy(self).__iadd__(other)

    def __radd__(self, other):
        return copy.deepcopy(self) if other == 0 else NotImplemented  # for sum()

    def merge(self, *others):
        """This and others of the same axes and storage, added up in a new one."""
        return functools.reduce(operator.iadd, others, copy.deepcopy(self))

    def __eq__(self, other):
        return (
            isinstance(other, Hist)
            and self.storage == other.storage
            and self.axes == other.axes
            and self.flows == other.flows
            and np.array_equal(self.sums, other.sums)
            and (self.squares is None or np.array_equal(self.squares, other.squares))
        )

    __hash__ = None

    # ---- the plotting protocol ----

    @property
    def kind(self):
        """'COUNT': bins hold numbers of samples or sums of weights."""
        return "COUNT"

    def values(self):
        """Counts or sums as float64. Flows belong to no bin: they are in `flows`."""
        return self.sums.astype(np.float64)

    def variances(self):
        """Of the values: the counts, the sums of squared weights, or None for plain sums."""
        if self.storage == "count":
            return self.values()
        return None if self.squares is None else self.squares.copy()

    def counts(self):
        """Effective numbers of samples; None for plain sums."""
        if self.storage == "count":
            return self.values()
        if self.squares is None:
            return None
        zero = np.zeros_like(self.sums)
        return np.divide(self.sums**2, self.squares, out=zero, where=self.squares != 0)

    def __array__(self, dtype=None, copy=None):
        return self.sums.astype(dtype or self.sums.dtype)

    def sum(self):
        """Of all bins."""
        return self.sums.sum().item()

    def density(self):
        """Values divided by their sum and the bins' volumes."""
        widths = np.ones(())
        for axis in self.axes:
            widths = np.multiply.outer(widths, axis.widths)
        return self.values() / self.sum() / widths

    # ---- other shapes ----

    def _where(self, axis):
        for i, a in enumerate(self.axes):
            if axis == i or axis == i - len(self.axes) or (a.name and axis == a.name):
                return i
        raise ValueError(f"no axis {axis!r}")

    def _of(self, axes, change, flows=None):
        """A histogram of other axes whose arrays are changed alike."""
        made = Hist(*axes, storage=self.storage, name=self.name)
        made.sums = np.ascontiguousarray(change(self.sums))
        if self.squares is not None:
            made.squares = np.ascontiguousarray(change(self.squares))
        made.flows = flows or self.flows
        return made

    def project(self, *axes):
        """Only these axes, by number or name, in this order; the others' bins are summed."""
        keep = [self._where(axis) for axis in axes]
        if not keep or len(set(keep)) < len(keep):
            raise ValueError("project: one or more different axes are expected")
        rest = tuple(i for i in range(len(self.axes)) if i not in keep)
        order = [sorted(keep).index(i) for i in keep]
        return self._of(
            [self.axes[i] for i in keep], lambda x: x.sum(axis=rest).transpose(order)
        )

    def rebin(self, n, axis=None):
        """Every n neighbouring bins as one, on one axis or on all."""
        chosen = range(len(self.axes)) if axis is None else [self._where(axis)]
        made = self
        for i in chosen:
            if n < 1 or len(made.axes[i]) % n:
                raise ValueError(f"{len(made.axes[i])} bins are no multiple of {n}")
            made = made._cut(i, 0, len(made.axes[i]), n)
        return made

    def _cut(self, i, begin, end, step=1):
        """Bins [begin, end) of axis i; counts that are cut off become under and over."""
        axes = list(self.axes)
        axes[i] = axes[i].part(begin, end, step)

        def change(x):
            x = np.moveaxis(x, i, 0)[begin:end]
            x = x.reshape((-1, step) + x.shape[1:]).sum(axis=1)
            return np.moveaxis(x, 0, i)

        flows = self.flows
        if self.storage == "count":
            x = np.moveaxis(self.sums, i, 0)
            under, over = int(x[:begin].sum()), int(x[end:].sum())
            flows = flows._replace(under=flows.under + under, over=flows.over + over)
        return self._of(axes, change, flows)

    def _slice(self, i, s):
        """Begin, end and step of a slice: numbers of bins, or functions of the axis."""
        axis = self.axes[i]
        ends = [e(axis) if callable(e) else e for e in (s.start, s.stop)]
        begin, end, _ = slice(*ends).indices(len(axis))
        step = getattr(s.step, "factor", s.step) or 1
        if begin >= end or (end - begin) % step:
            raise ValueError(f"axis {i}: no bins are left, or their number is no multiple of {step}")
        return begin, end, step

    def __getitem__(self, key):
        """Bins by number: `h[3]`, `h[2:8, 0]`, `h[tally.loc(0.5):]`, `h[::sum]`.

        A slice keeps the axis, with a step joins bins, with `sum` drops it; a number picks a bin.
        Counts that are cut off are added to `flows`.
        """
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (len(self.axes) - len(keys) + 1)
        keys += [slice(None)] * (len(self.axes) - len(keys))
        if len(keys) > len(self.axes):
            raise IndexError(f"{len(keys)} indices for {len(self.axes)} axes")
        made, dropped = self, []
        for i, k in enumerate(keys):
            if not isinstance(k, slice):
                k = k(self.axes[i]) if callable(k) else operator.index(k)
                if not -len(self.axes[i]) <= k < len(self.axes[i]):
                    raise IndexError(f"axis {i}: bin {k} of {len(self.axes[i])}")
                k %= len(self.axes[i])
                made = made._cut(i, k, k + 1)
                dropped.append(i)
            elif k.step is sum:
                made = made._cut(i, *self._slice(i, slice(k.start, k.stop)))
                dropped.append(i)
            elif k != slice(None):
                made = made._cut(i, *self._slice(i, k))
        kept = [i for i in range(len(self.axes)) if i not in dropped]
        if kept:
            return made.project(*kept) if dropped else made
        return made.sums.sum().item()

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

    def _to_boost_histogram_(self):
        """What `boost_histogram.Histogram(h)` and `hist.Hist(h)` ask for; flows stay here."""
        import boost_histogram as bh

        storages = {"count": bh.storage.Int64, "sum": bh.storage.Double,
                    "weight": bh.storage.Weight}  # fmt: skip
        axes = [axis.to_boost(bh.axis) for axis in self.axes]
        for ours, theirs in zip(self.axes, axes):
            theirs.__dict__.update(name=ours.name, label=ours.label)
        made = bh.Histogram(*axes, storage=storages[self.storage]())
        if self.storage == "weight":
            made.view().value, made.view().variance = self.sums, self.squares
        else:
            made.view()[...] = self.sums
        return made

    def __repr__(self):
        axes = ", ".join(map(repr, self.axes))
        flows = "".join(f", {n} {f}" for f, n in zip(Flows._fields, self.flows) if n)
        return f"Hist({axes}, storage={self.storage!r}) # {self.sum():g} in bins{flows}"

    def _repr_html_(self):
        return _picture.html(self)


class loc:
    """In a slice of a `Hist`: the bin that holds a number.

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
        return max(axis.index(self.value) + self.offset, 0)
