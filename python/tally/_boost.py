"""Histograms of boost-histogram and hist as those of this package."""

import numpy as np

from .axes import Category, Integer, Regular, Variable, of_edges

_STORAGES = {"Int64": "count", "AtomicInt64": "count", "Double": "sum", "Unlimited": "sum", "Weight": "weight"}


def _axis(theirs):
    traits, kind = theirs.traits, type(theirs).__name__
    if traits.circular:
        raise NotImplementedError("circular axes: what lies outside would have to come back in")
    named = {"name": getattr(theirs, "name", "") or "", "label": getattr(theirs, "label", "") or ""}
    if kind in ("StrCategory", "IntCategory"):
        return Category(list(theirs), **named)
    if kind == "Boolean":
        return Integer(0, 2, **named)
    if kind == "Integer":
        return Integer(int(theirs.edges[0]), int(theirs.edges[-1]), **named)
    edges = theirs.edges
    if kind == "Regular" and theirs.transform is None:  # whose edges may differ in the last bit
        return Regular(len(edges) - 1, edges[0], edges[-1], closed=False, **named)
    return of_edges(Variable, np.asarray(edges, float), False, **named)


def load(kind, theirs):
    """A histogram of `kind` with the content of theirs, flow bins and all."""
    storage = _STORAGES.get(theirs.storage_type.__name__)
    if storage is None:
        raise NotImplementedError(f"storage {theirs.storage_type.__name__}: Int64, Double and Weight are taken")
    made = kind(*map(_axis, theirs.axes), storage=storage)
    cells = tuple(
        slice(0 if a.traits.underflow else 1, len(a) + (2 if a.traits.overflow else 1)) for a in theirs.axes
    )
    view = theirs.view(flow=True)
    if storage == "weight":
        made._sums[cells], made._squares[cells] = view["value"], view["variance"]
    else:
        made._sums[cells] = view
    made._moved((0, 0))
    return made
