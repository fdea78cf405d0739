"""Plain calls on CUDA arrays of torch and CuPy, whose every step but the call itself was done before.

What a call needs besides its samples (the plan, the edges on the device) is kept by the bins, the range, the type
and the order of magnitude of the samples. Then a call makes two arrays and enqueues one count. What is not plain is
None, and goes the long way.
"""

from . import _count, _edges
from . import _library as c
from ._arrays import module_of
from ._compiled import fast as _fast

_MOST = 64
_MOST_BINS = 1 << 20  # whose edges are worth keeping
_prepared = {}  # by key; emptied when there are too many


class Prepared:
    """A plan on a device, and edges there."""

    def __init__(self, lender, index, axis, code, n, edges=None):
        context = _count.context(c.CUDA, index)
        self.owned = _count.plan(context, [axis], [code], n=n)
        self.plan, self.code, self.bins = self.owned.pointer.value, code, axis.bins
        self.edges = None
        if edges is not None:
            home = lender.home(index)
            self.edges = home.give(edges)
            home.settle()  # calls on any stream copy them


def _find(lender, index, kind, code, n, bins, first, last):
    """The prepared call of these bins, or None. `kind` is the samples' type."""
    key = lender.name, index, kind, bins, first, last, type(first), type(last), n.bit_length() >> 1
    found = _prepared.get(key)
    if found is None:
        first, last = _edges.outer((first, last), None)
        binned = _edges.kept(bins, first, last, type(first), type(last), lender.dtype_of(kind))
        if binned.axis is None or binned.places is not None:
            return None
        made = binned.again()
        found = Prepared(lender, index, made.axis, code, n, made.edges)
        _keep(key, found)
    return found


def _keep(key, found):
    if len(_prepared) >= _MOST:
        _prepared.clear()
    _prepared[key] = found


def _lender(a):
    """What knows arrays of this kind, if they may be plain."""
    module = module_of(a)
    if _fast is None or module not in ("torch", "cupy"):
        return None
    if module == "torch":
        from ._torch import plain
    else:
        from ._cuda import plain
    return plain()


def _enqueue(lender, a, prepared, index, n):
    counts = lender.empty_counts(prepared.bins, a, index)
    failed = _fast.enqueue(
        prepared.plan, lender.pointer(a), prepared.code, n, lender.pointer(counts), lender.stream(index)
    )
    if failed:
        raise c.EXCEPTIONS.get(failed[0], RuntimeError)(failed[1])
    return counts


def histogram(a, bins, range_):
    """(counts, edges) of an array on a device, or None if the call is not plain."""
    lender = _lender(a)
    if lender is None or type(bins) is not int or type(range_) not in (tuple, list) or len(range_) != 2:
        return None
    first, last = range_
    numbers = type(first) in (int, float) and type(last) in (int, float)
    about = lender.about(a) if numbers and 1 <= bins <= _MOST_BINS else None
    if about is None:
        return None
    index, kind, code, n = about
    prepared = _find(lender, index, kind, code, n, bins, first, last)
    if prepared is None:
        return None
    return _enqueue(lender, a, prepared, index, n), lender.copy(prepared.edges)


def bincount(x, minlength):
    """Counts of bytes on a device with so long an answer that their largest need not be known; or None."""
    lender = _lender(x)
    if lender is None or type(minlength) is not int or not 256 <= minlength <= _MOST_BINS:
        return None
    about = lender.about(x)
    if about is None or about[2] != c.DTYPES["u8"] or about[1] != lender.bytes or len(x.shape) != 1:
        return None
    index, kind, code, n = about
    key = lender.name, index, kind, minlength, n.bit_length() >> 1
    prepared = _prepared.get(key)
    if prepared is None:
        axis = _count.Axis(c.INTEGER, minlength, last=c.LAST_OPEN)
        prepared = Prepared(lender, index, axis, code, n)
        _keep(key, prepared)
    return _enqueue(lender, x, prepared, index, n)
