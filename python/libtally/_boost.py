# SPDX-License-Identifier: Apache-2.0
"""Histograms of boost-histogram and hist as those of this package, and back."""

import copy

import numpy as np

from ._cells import is_mean, storage_named
from .axes import Category, Integer, Log, Regular, Variable, of_edges

_STORAGES = {"count": "Int64", "sum": "Double", "weight": "Weight", "mean": "Mean",
             "weighted_mean": "WeightedMean"}  # fmt: skip
# Their fields, in the order of Cells without what the storage has not.
_FIELDS = {
    "weight": ("value", "variance"),
    "mean": ("count", "value", "_sum_of_deltas_squared"),
    "weighted_mean": ("sum_of_weights", "sum_of_weights_squared", "value",
                      "_sum_of_weighted_deltas_squared"),
}  # fmt: skip


def _axis(theirs):
    """Ours, which keeps theirs for the way back."""
    made = _made_from(theirs)
    made.theirs = copy.deepcopy(theirs)
    return made


def _made_from(theirs):
    traits, kind = theirs.traits, type(theirs).__name__
    named = {key: theirs.__dict__.get(key) or "" for key in ("name", "label")}
    growing = {**named, "growth": traits.growth}
    turning = {**growing, "circular": traits.circular}
    if kind in ("StrCategory", "IntCategory"):
        return Category(list(theirs), **growing)
    if kind == "Boolean":
        return Integer(0, 2, **named)
    edges = theirs.edges
    if kind == "Variable" and traits.circular:
        _refuse_other_edges(theirs, edges)
    if kind == "Integer":
        return Integer(int(edges[0]), int(edges[-1]), **turning)
    if kind == "Regular" and theirs.transform is None:  # whose edges may differ in the last bit
        return Regular(len(edges) - 1, edges[0], edges[-1], closed=False, **turning)
    if traits.growth:
        raise NotImplementedError("axes of uneven edges do not grow here")
    ours = Log if str(getattr(theirs, "transform", "")) == "log" else Variable
    return of_edges(ours, np.asarray(edges, float), False, **named, circular=traits.circular)


def _refuse_other_edges(theirs, edges):
    """boost-histogram (1.8.1) tells other edges than those that it counts by, of three circular uneven bins or more."""
    inner, n = edges[1:-1], len(edges) - 1
    beside = np.nextafter(inner, -np.inf)
    if not np.array_equal(theirs.index([*inner, *beside]), [*range(1, n), *range(n - 1)]):
        raise NotImplementedError(f"boost-histogram does not tell the edges of its {theirs!r}")


def load(kind, theirs):
    """A histogram of `kind` with the content of theirs, flow bins and all."""
    storage = storage_named(theirs.storage_type)
    named = {key: getattr(theirs, key, None) or "" for key in ("name", "label")}
    made = kind(*map(_axis, theirs.axes), storage=storage, **named)
    cells = tuple(
        slice(0 if a.traits.underflow else 1, len(a) + (2 if a.traits.overflow else 1)) for a in theirs.axes
    )
    view = theirs.view(flow=True)
    parts = [part for part in made._cells if part is not None]
    for part, name in zip(parts, _FIELDS.get(storage, (None,))):
        part[cells] = view if name is None else view[name]
    made._moved((0, 0))
    return made


def give(hist):
    """A boost_histogram.Histogram of the same content."""
    import boost_histogram as bh

    axes = [_given(hist, i, bh.axis) for i in range(hist.ndim)]
    for ours, theirs in zip(hist.axes, axes):
        for key in ("name", "label"):
            if (theirs.__dict__.get(key) or "") != getattr(ours, key):
                theirs.__dict__[key] = getattr(ours, key)
    made = bh.Histogram(*axes, storage=getattr(bh.storage, _STORAGES[hist.storage])())
    for key in ("name", "label"):
        if getattr(hist, key):
            setattr(made, key, getattr(hist, key))
    # Theirs have no cell under categories, and none outside some axes that grow.
    cells = tuple(
        slice(int(not a.traits.underflow), len(a) + 1 + a.traits.overflow) for a in made.axes
    )
    view = made.view(flow=True)
    parts = [part for part in hist._cells if part is not None]
    for part, name in zip(parts, _FIELDS.get(hist.storage, (None,))):
        if name is None:
            view[...] = part[cells]
        else:
            view[name] = part[cells]
    return made


def _given(hist, i, axis):
    """An axis as theirs; one with flow bins where theirs has no place for what lies outside."""
    ours = hist.axes[i]
    made = ours.to_boost(axis) if ours.theirs is None else copy.deepcopy(ours.theirs)
    outer = np.moveaxis(hist._cells.sums, i, 0)[[0, -1]]
    lost = [outer[k].any() for k, has in ((0, made.traits.underflow), (1, made.traits.overflow)) if not has]
    if any(lost) and ours.circular:  # infinite samples: theirs of integers have no place for them
        return axis.Variable(ours.edges, circular=True)
    if any(lost) and not (made.traits.discrete and not ours.growth and ours.theirs is None):
        made = (ours.part(np.arange(len(ours) + 1)) if ours.growth else ours).to_boost(axis)
    return made
