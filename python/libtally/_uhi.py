# SPDX-License-Identifier: Apache-2.0
"""UHI's form of a histogram, version 1: a dictionary of axes and storage, for `uhi.io` and others.

What this form has no words for is under "writer_info", "tally": kinds of axes, growth, `flows`.
"""

import numpy as np

from . import _library as c
from ._cells import Cells, storage_named, with_spread
from ._core import Flows
from .axes import Category, Integer, Log, Regular, Variable, of_edges

_TYPES = {"int": "count", "double": "sum", "weighted": "weight", "mean": "mean",
          "weighted_mean": "weighted_mean"}  # fmt: skip
_WORDS = {ours: theirs for theirs, ours in _TYPES.items()}


def give(hist):
    from . import __version__

    bare = [_is_bare(hist, i) for i in range(hist.ndim)]
    axes = [_axis(*each) for each in zip(hist.axes, bare)]
    # Categories and circular axes have no cell under them.
    places = tuple(
        slice(1, -1) if b else slice(int(isinstance(a, Category) or a.circular), None)
        for a, b in zip(hist.axes, bare)
    )
    cells = hist._cells.each(lambda x: x[places])
    storage = {"type": _WORDS[hist.storage]}
    if hist.storage == "mean":
        storage["counts"] = cells.sums.astype(np.float64)
    elif hist.storage == "weighted_mean":
        storage["sum_of_weights"], storage["sum_of_weights_squared"] = cells.sums, cells.squares
    storage["values"] = (cells.sums if cells.means is None else cells.means).copy()
    if cells.means is not None:
        storage["variances"] = cells.spread_of_samples()
    elif cells.squares is not None:
        storage["variances"] = cells.squares.copy()
    info = {"version": __version__, **hist.flows._asdict()}
    return {
        "uhi_schema": 1, "writer_info": {"tally": info}, "axes": axes, "storage": storage,
        "metadata": {key: getattr(hist, key) for key in ("name", "label") if getattr(hist, key)},
    }  # fmt: skip


def _is_bare(hist, i):
    """Whether an axis goes without flow bins: one that grows or is circular, has none in boost-histogram, and
    nothing in them."""
    axis = hist.axes[i]
    has_none = axis.growth and isinstance(axis, (Category, Integer)) or axis.circular and isinstance(axis, Integer)
    return has_none and not np.moveaxis(hist._cells.sums, i, 0)[[0, -1]].any()


def _axis(axis, bare):
    info = {"kind": type(axis).__name__}
    if axis.growth:
        info["growth"] = True
    if isinstance(axis, Category):
        texts = all(isinstance(v, str) for v in axis.categories)
        if not texts and any(int(v) != v for v in axis.categories):
            raise NotImplementedError("categories are texts or whole numbers in UHI's form")
        values = list(axis.categories) if texts else list(map(int, axis.categories))
        described = {"type": "category_str" if texts else "category_int", "categories": values, "flow": not bare}
    else:
        under = not bare and not axis.circular
        described = {"underflow": under, "overflow": not bare, "circular": axis.circular}
        if axis.axis.last == c.LAST_CLOSED:
            info["closed"] = True
        if isinstance(axis, (Regular, Integer)):
            number = int if isinstance(axis, Integer) else float
            ends = {"lower": number(axis.edges[0]), "upper": number(axis.edges[-1]), "bins": len(axis)}
            described = {"type": "regular", **ends, **described}
        else:
            described = {"type": "variable", "edges": axis.edges.copy(), **described}
    if isinstance(axis, Regular) and axis.growth:
        n, lo, hi = axis.start
        info.update(start_bins=n, start_lower=lo, start_upper=hi, begin=axis.begin)
    described["writer_info"] = {"tally": info}
    theirs = _boosts(axis, bare)
    if theirs:
        described["writer_info"]["boost-histogram"] = theirs
    if axis.name or axis.label:
        described["metadata"] = {"name": axis.name, "label": axis.label}
    return described


def _boosts(axis, bare):
    """What boost-histogram and hist write of such an axis, and read."""
    theirs = {"growth": True} if axis.growth and (bare or isinstance(axis, Regular)) else {}
    if isinstance(axis, Integer) and (bare or not axis.circular):
        theirs["orig_type"] = "Integer"
    if isinstance(axis, Log):
        ends = {"lower": float(axis.edges[0]), "upper": float(axis.edges[-1])}
        theirs.update(transform="log", bins=len(axis), **ends)
    return theirs


def load(cls, data):
    if not hasattr(data, "get") or data.get("uhi_schema") != 1:
        raise ValueError("from_uhi: a dictionary with 'uhi_schema': 1 is expected")
    storage = data["storage"]
    if "index" in storage:
        from uhi.io import from_sparse

        storage = from_sparse(data)["storage"]
    if storage["type"] not in _TYPES:
        raise ValueError(f"storage {storage['type']!r}: one of {', '.join(_TYPES)} is expected")
    axes = [_read_axis(described) for described in data["axes"]]
    metadata = data.get("metadata") or {}
    named = {key: str(metadata.get(key) or "") for key in ("name", "label")}
    made = cls(*axes, storage=storage_named(_TYPES[storage["type"]]), **named)
    if len(storage) > 1:
        cells = _read_cells(made.storage, storage)
        places = tuple(map(_places, axes, data["axes"]))
        for to, part in zip(made._cells, cells):
            if to is not None:
                to[places] = part.reshape(to[places].shape)
    made._moved((0, 0))
    flows = data.get("writer_info", {}).get("tally")
    if flows:
        made.flows = Flows(*(int(flows[key]) for key in Flows._fields))
    return made


def _read_cells(kind, storage):
    def of(key):
        return np.asarray(storage[key], np.float64)

    if kind == "count":
        return Cells(np.asarray(storage["values"]), None, None, None)
    if kind == "mean":
        return with_spread(of("counts"), None, of("values"), of("variances"))
    if kind == "weighted_mean":
        return with_spread(*map(of, ("sum_of_weights", "sum_of_weights_squared", "values", "variances")))
    return Cells(of("values"), of("variances") if kind == "weight" else None, None, None)


def _places(axis, described):
    """Where its cells are among ours, which has flow bins at both ends."""
    if described["type"] == "boolean":
        return slice(1, 3)
    if described["type"].startswith("category"):
        return slice(1, len(axis) + 1 + bool(described["flow"]))
    return slice(0 if described["underflow"] else 1, len(axis) + 1 + bool(described["overflow"]))


def _read_axis(described):
    kind, metadata = described["type"], described.get("metadata") or {}
    named = {key: str(metadata.get(key) or "") for key in ("name", "label")}
    writers = described.get("writer_info") or {}
    ours, boost = writers.get("tally") or {}, writers.get("boost-histogram") or {}
    growth = bool(ours.get("growth") or boost.get("growth"))
    circular = bool(described.get("circular"))
    if kind == "boolean":
        return Integer(0, 2, **named)
    if kind in ("category_str", "category_int"):
        return Category(list(described["categories"]), growth=growth, **named)
    closed = bool(ours.get("closed"))
    if kind == "regular":
        lower, upper, bins = described["lower"], described["upper"], int(described["bins"])
        if "Integer" in (ours.get("kind"), boost.get("orig_type")):
            return Integer(int(lower), int(upper), growth=growth, circular=circular, **named)
        if "start_bins" not in ours:
            return Regular(bins, lower, upper, closed=closed, growth=growth, circular=circular, **named)
        start = Regular(int(ours["start_bins"]), ours["start_lower"], ours["start_upper"], growth=True, **named)
        return start.reaching(int(ours["begin"]), int(ours["begin"]) + bins)
    if kind != "variable":
        raise ValueError(f"an axis of type {kind!r} is not known")
    if growth:
        raise NotImplementedError("axes of uneven edges do not grow here")
    log = ours.get("kind") == "Log" or boost.get("transform") == "log"
    return of_edges(Log if log else Variable, np.asarray(described["edges"], float), closed and not circular, **named,
                    circular=circular)  # fmt: skip
