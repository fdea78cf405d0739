# SPDX-License-Identifier: Apache-2.0
"""Histograms in the command's saved form, written and read by the library.

What only Python knows is a member "hist" of its own, which the command does not read: of each axis
the name, the label, the categories, whether it is circular, and where growth began; the flow bins' content ("flow",
"flow_squared"), in the order of the memory; the cells' means and deltas.
"""

import ctypes
import json
import os
import warnings

import numpy as np

from . import _count
from . import _library as c
from ._core import Flows
from .axes import Category, Integer, Log, Regular, Variable, of_edges


def save(hist, path):
    text = json.dumps(_member(hist), separators=(",", ":"), allow_nan=False)
    context = _count.context(c.CPU)
    n = len(hist.axes)
    weight = 0 if hist.storage in ("count", "mean") else c.DTYPES["f64"]
    if not all(hist.shape):
        raise ValueError("save: an axis has no bins yet")
    plan = _count.plan(
        context, [axis.axis for axis in hist.axes], [c.DTYPES["f64"]] * n, weight=weight,
        squares=hist.squares is not None,
    )  # fmt: skip
    result = ctypes.c_void_p()
    names = (ctypes.c_char_p * 1)(_text(hist.name).encode())
    c.result_create(plan.pointer, 1, names, ctypes.byref(result))
    try:
        output = c.result_output(result)
        flows = np.array(hist.flows, np.uint64)
        for to, array in ((output.counts, hist.sums), (output.flows, flows),
                          (output.sum_squares, hist.squares)):  # fmt: skip
            if array is not None:
                array = np.ascontiguousarray(array)
                ctypes.memmove(to, array.ctypes.data, array.nbytes)
        if output.flow_sums:
            # A Hist has no weights of samples that are NaN or masked: of none the sum is known.
            sums = np.array([*hist._outside(), *(np.nan if n else 0 for n in hist.flows[2:])], np.float64)
            ctypes.memmove(output.flow_sums, sums.ctypes.data, 32)
        results = (ctypes.c_void_p * 1)(result)
        written = []

        def sink(_user, data, size):
            written.append(ctypes.string_at(data, size))
            return 0

        c.result_write(results, 1, c.FORMAT_JSON, None, c.SINK(sink), None)
    finally:
        c.result_destroy(result)
    theirs = b"".join(written).rstrip()
    _replace(path, theirs[:-1] + b',\n"hist":' + text.encode() + b"}\n")


def _replace(path, data):
    """Another file is in its place once it is whole, or the old one stays."""
    beside = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def _member(hist):
    """What the saved form has no word for."""
    axes = []
    for axis in hist.axes:
        described = {"name": _text(axis.name), "label": _text(axis.label)}
        if isinstance(axis, Category):
            described["categories"] = [_plain(value) for value in axis.categories]
        if axis.growth:
            described["growth"] = [axis.begin, *axis.start] if isinstance(axis, Regular) else True
        if axis.circular:
            described["circular"] = True
        axes.append(described)
    cells = hist._cells
    member = {"label": _text(hist.label), "axes": axes, "flow": _written(cells.sums[_outer(cells.sums)])}
    if cells.squares is not None:
        member["flow_squared"] = _written(cells.squares[_outer(cells.sums)])
    if cells.means is not None:
        member.update(means=_written(cells.means.ravel()), deltas=_written(cells.deltas.ravel()))
    return member


def _text(text):
    """A name or the like, which `load` can read."""
    if "\0" in text:
        raise ValueError(f"save: {text!r} holds the character U+0000")
    text.encode()  # an error of its own for half a pair of surrogates
    return text


def _plain(value):
    """A category as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) is str:
        return _text(value)
    if type(value) not in (int, float) or value in (np.inf, -np.inf):
        raise NotImplementedError(f"save: categories are texts and finite numbers, not {value!r}")
    return value


def _outer(cells):
    """Where the flow bins are."""
    outer = np.ones(cells.shape, bool)
    outer[(slice(1, -1),) * cells.ndim] = False
    return outer


def _written(cells):
    return [x if np.isfinite(x) else repr(x) for x in cells.tolist()]


def _read(numbers, n):
    if len(numbers) != n:
        raise ValueError(f"{len(numbers)} numbers, not {n}")
    return [float(x) if isinstance(x, str) else x for x in numbers]


def load(cls, path, index):
    with open(path, "rb") as file:
        text = file.read()
    result = ctypes.c_void_p()
    name = os.fsencode(path)
    c.result_parse(text, len(text), name, index, ctypes.byref(result))
    try:
        found = _taken(cls, result, b'"others":' in text)
        known = [_flow_sums(hist, result, h) for h, hist in enumerate(found)]
    finally:
        c.result_destroy(result)
    member = _member_of(text, index)
    try:
        for hist, sums in zip(found, known):
            _complete(hist, member, sums, path)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
        raise ValueError(f"{os.fspath(path)}: its member \"hist\" is damaged: {e!r}") from None
    return found[0] if len(found) == 1 else found


def _member_of(text, index):
    """The member "hist", or None. Where it is the last one, as `save` leaves it, the many numbers ahead
    of it are not read again."""
    if b'"hist"' not in text:
        return None
    at = text.rfind(b'"hist":{')
    if at >= 0:
        rest = text[at + 7 :].decode()
        member, end = json.JSONDecoder().raw_decode(rest)
        if rest[end:].strip() == "}":  # of the outermost object
            return member
    whole = json.loads(text)
    return (whole[index] if isinstance(whole, list) else whole).get("hist")


def _flow_sums(hist, result, h):
    """What lies under and over, where flows say what the flow bins hold: one axis, no squares."""
    if hist.ndim > 1 or hist.storage == "weight":
        return None
    if hist.storage in ("count", "mean"):
        return hist.flows[:2]
    info = c.ResultInfo()
    c.result_info_get(result, ctypes.byref(info))
    sums = c.result_flow_sums(result, h)
    return _copied(sums, (np.uint64, np.float64, np.int64)[info.kind], (4,))[:2] if sums else None


def _complete(hist, member, sums, path):
    """Adds what `_member` says; without it, flow bins that `_flow_sums` knows."""
    if member is None:
        under, over = hist.flows[:2]
        if sums is not None:
            hist._cells.sums[[0, -1]] = sums
        elif under or over:
            warnings.warn(
                f"{os.fspath(path)}: {under + over} samples lie outside, and the file does not say in "
                "which flow bins or with what weights: the flow bins are empty",
                stacklevel=4,
            )
        return
    if len(member["axes"]) != hist.ndim:
        raise ValueError(f"{len(member['axes'])} axes")
    hist.axes = type(hist.axes)(map(_named, hist.axes, member["axes"]))
    hist.label = str(member.get("label", ""))
    if "means" in member:
        hist.storage = "mean" if hist.storage == "count" else "weighted_mean"
        shape = hist._cells.sums.shape
        means, deltas = (np.reshape(_read(member[k], np.prod(shape)), shape).astype(float) for k in ("means", "deltas"))
        hist._cells = hist._cells._replace(means=means, deltas=deltas)
    for cells, key in zip(hist._cells, ("flow", "flow_squared")):
        if cells is not None:
            outer = _outer(cells)
            cells[outer] = _read(member[key], outer.sum())


def _named(axis, described):
    """An axis with its name and label; or of its categories, which were saved as their numbers."""
    name, label = str(described["name"]), str(described["label"])
    if "categories" in described:
        growth = bool(described.get("growth"))
        made = Category(described["categories"], name=name, label=label, growth=growth)
        if made.axis.key() != axis.axis.key():
            raise ValueError(f"{len(made)} categories")
        return made
    axis.name, axis.label = name, label
    if described.get("circular"):
        return axis.made_circular()
    if "growth" in described:
        return _growing(axis, described)
    return axis


def _growing(axis, described):
    """An axis that grows, where its bins are those of `axis`."""
    named = {"name": axis.name, "label": axis.label, "growth": True}
    if isinstance(axis, Integer):
        return Integer(axis.axis.first, axis.axis.first + len(axis), **named)
    begin, *start = described["growth"]
    made = Regular(*start, **named).reaching(begin, begin + len(axis))
    if not np.array_equal(made.edges, axis.edges):
        raise ValueError("its bins are not those of the axis")
    return made


def _taken(cls, result, others):
    info = c.ResultInfo()
    c.result_info_get(result, ctypes.byref(info))
    axes = [_words(result, d, others) or _axis(c.result_axis(result, d).contents) for d in range(info.dimensions)]
    storage = ("count", "sum", "sum")[info.kind] if not info.has_squares else "weight"
    column = c.profile_column(result)
    if column is not None:
        storage, axes[0].name = "mean", column.decode()
    found = []
    for h in range(info.histograms):
        hist = cls(*axes, storage=storage, name=c.result_name(result, h).decode())
        kind = (np.uint64, np.float64, np.int64)[info.kind]
        hist.sums[...] = _copied(c.result_counts(result, h), kind, hist.sums.shape)
        if info.has_squares:
            hist.squares[...] = _copied(c.result_squares(result, h), np.float64, hist.sums.shape)
        flows = _copied(c.result_flows(result, h), np.uint64, (4,))
        hist.flows = Flows(*(int(f) for f in flows))
        if column is not None:
            _fill_means(hist._cells, c.profile_bins(result, h), c.profile_flows(result, h))
        found.append(hist)
    return found


def _fill_means(cells, bins, flows):
    """Of a profile; flow bins are those below and above."""
    def all_of(field, dtype):
        below, above = _copied(getattr(flows, field), dtype, (4,))[:2]
        return np.concatenate([[below], _copied(getattr(bins, field), dtype, (len(cells.sums) - 2,)), [above]])

    empty = all_of("count", np.uint64) == 0
    cells.means[...] = np.where(empty, 0, all_of("mean", np.float64))
    cells.deltas[...] = np.where(empty, 0, all_of("m2", np.float64))


def _copied(pointer, dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(pointer, size), dtype).reshape(shape)


def _words(result, d, others):
    """An axis of words, None if its bins are none. It grows, so that histograms of other words add up, unless its last
    bin may stand for words that nobody knows."""
    if c.result_label(result, d, 0) is None:
        return None
    words = [c.result_label(result, d, i).decode() for i in range(c.result_axis(result, d).contents.bins)]
    return Category(words, growth=not others)


def _axis(axis):
    """An axis of the result; its own kind where that gives the very edges."""
    n, closed = axis.bins, axis.last == c.LAST_CLOSED
    if axis.kind == c.CATEGORY:
        raise NotImplementedError("load: categories of bytes have no axis here")
    if axis.kind == c.INTEGER:
        return Integer(axis.first, axis.first + n)
    if axis.kind == c.EVEN:
        edges = np.empty(n + 1)
        c.axis_edges_get(axis, edges.ctypes.data)
    else:
        edges = np.ctypeslib.as_array(axis.edges, (n + 1,)).copy()
    kind = {c.EVEN: Regular, c.LOG: Log}.get(axis.kind, Variable)
    return of_edges(kind, edges, closed)
