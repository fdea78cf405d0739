"""NumPy's histogram functions, with more to ask for."""

import builtins
import ctypes
import math
import operator

import numpy as np

from . import _arrays, _count, _device, _edges
from . import _library as c
from ._compiled import fast as _fast
from ._core import Call, Weights, finish, normal_axes, samples, served, total
from ._edges import Unserved

__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
]

range_ = builtins.range  # NumPy calls an argument so

# NumPy's own, for what the library does not count; taken now, for a program may put ours there.
_THEIRS = {
    name: getattr(np, name)
    for name in ("bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges",
                 "histogramdd")  # fmt: skip
}
_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


def _numpy(name, call, reason, *arguments):
    """NumPy's own function, for what the library does not count."""
    if not call.plain:
        raise TypeError(f"{reason} are counted by numpy.{name}, which knows no extra arguments")
    if any(map(_has_nulls, arguments)):
        raise TypeError(f"{reason} are counted by numpy.{name}, which knows no nulls")
    return _THEIRS[name](*arguments)


def _has_nulls(x):
    if isinstance(x, (list, tuple)):
        return any(map(_has_nulls, x))
    return _arrays.may_have_nulls(x) and _arrays.take(x).valid is not None


# ---- edges ------------------------------------------------------------------------------------


def _extremes(call, array, mask=None):
    """The smallest and the largest that is counted; NaN or infinity if there is one; None without any."""
    if not array.size:
        return None
    if array.device != c.CPU:
        return call.home.extremes(array, mask)
    found = _count.stats(_count.context(c.CPU, 0, call.threads), served(array), mask)
    if found.nan:
        return array.dtype.type(np.nan), array.dtype.type(np.nan)
    if not found.samples:
        return None
    lo, hi = _count.extremes(found, array.dtype) if found.finite else (np.inf, -np.inf)
    return -np.inf if found.minus_inf else lo, np.inf if found.plus_inf else hi


def _check_rule(name, weighted):
    if name not in _RULES:
        raise ValueError(f"{name!r} is not a valid estimator for `bins`")
    if weighted:
        raise TypeError(
            "Automated estimation of the number of bins is not supported for weighted data"
        )


RULE_CHUNK = 1 << 20  # samples that a rule reads between two looks at Ctrl-C


def _rule(call, array, mask, name, range):
    """The number of bins of a rule."""
    served(array)
    if array.device != c.CPU:
        raise NotImplementedError("bin rules are found on the host: give a number of bins")
    values = array.on_host()
    if mask is not None:
        values = values[mask.owner.astype(bool)]
    flat = np.ascontiguousarray(values).reshape(-1)
    if not flat.size:
        return 1
    options, axis = c.RuleOptions(rule=c.rule_parse(name.encode())), c.Axis()
    if range is not None:
        options.range = (ctypes.c_double * 2)(*range)
    context = _count.context(c.CPU, 0, call.threads)

    def choose(callback):
        at = 0

        def read(_user, view, _error):
            nonlocal at
            if callback and callback(None, at, flat.size):
                return -1
            chunk = flat[at : at + RULE_CHUNK]
            at += chunk.size
            view[0] = c.View(data=chunk.ctypes.data, dtype=array.code, columns=chunk.size)
            view[0].batches = view[0].rows = view[0].channels = 1
            return chunk.size > 0

        def rewind(_user, _error):
            nonlocal at
            at = 0
            return 0

        chunks = c.Chunks(read=c.READ(read), rewind=c.REWIND(rewind))
        c.rule_bins(context.pointer, chunks, array.code, options, axis)

    _count.Watch().apart(choose)
    return axis.bins


def _bins(call, array, bins, range, weights):
    """`bins` and `range` as Bins: NumPy's edges and the library's axis."""
    if not isinstance(bins, str) and np.ndim(bins) == 1:
        return _edges.from_edges(_edges.given(call.home.take_back(bins)))
    if not isinstance(bins, str) and np.ndim(bins):
        raise ValueError("`bins` must be 1d, when an array")
    n = None if isinstance(bins, str) else _edges.whole(bins)
    if n is None:
        _check_rule(bins, weights.given)
    else:
        _edges.check_bins(n)
    found = _extremes(call, array, call.mask([array, weights])) if range is None else None
    first, last = _edges.outer(range, found)
    if n is None:
        n = _rule(call, array, call.mask([array, weights]), bins, range)
    if found is None and type(first) in (int, float) and type(last) in (int, float):
        return _edges.kept(n, first, last, type(first), type(last), array.dtype).again()
    edges = _edges.spaced(first, last, n, array.dtype)
    return _edges.even(_edges.holding(edges, *found) if found else edges, array.dtype)


# ---- the functions ----------------------------------------------------------------------------


def _answer(call, arrays, bins, weights, labels, density, reduced):
    """Counts and finishes; with `by=` a row for every group."""
    axes, groups = [b.axis for b in bins], None
    _edges.check_bins(math.prod(axis.bins for axis in axes))
    edges = [call.home.give(b.edges) for b in bins]
    if labels is None:
        counts, flows, _ = total(call, arrays, axes, weights, reduced)
    else:
        numbers, label_axis, rows, groups = _groups(call, labels)
        counts, flows, _ = total(call, [numbers, *arrays], [label_axis, *axes], weights, reduced)
        if len(rows) != label_axis.bins:
            counts = counts[rows]
    return finish(call, counts, flows, bins, weights, edges, density, groups)


MOST_LABELS = 1 << 20  # labels further apart than this are numbered first


def _labels(call, array):
    """The labels of `by=` as an Array, or None."""
    if call.by is None:
        return None
    labels = _arrays.take_labels(call.by)
    if labels.shape != array.shape:
        raise ValueError("by: a label for every sample is expected, in the shape of a")
    if call.axis is not None:
        raise ValueError("by: it goes with axis=None only")
    if labels.device != c.CPU or array.device != c.CPU:
        raise NotImplementedError("by: labels and samples on a device are not grouped")
    return labels


def _groups(call, labels):
    """Numbers in place of the labels, the axis that counts them, and of the labels that there are,
    sorted: their bins on that axis, and they themselves."""
    if labels.dtype.kind in "iub" and labels.size:
        one = Call(threads=call.threads)
        one.start(labels)
        found = _count.stats(one.context, labels, one.mask([labels]))
        lo, hi = (int(x) for x in _count.extremes(found, labels.dtype))
        if found.samples and hi - lo < MOST_LABELS and max(abs(lo), abs(hi)) < _edges.EXACT:
            axis = _count.Axis(c.INTEGER, hi - lo + 1, first=lo, last=c.LAST_OPEN)
            every = tuple(range_(len(labels.shape)))
            present, *_ = total(one, [labels], [axis], Weights(None, one, labels.shape), every)
            rows = np.flatnonzero(present)
            return labels, axis, rows, rows + lo
    values, valid = labels.on_host(), labels.valid
    groups, found = np.unique(values if valid is None else values[valid], return_inverse=True)
    numbers = np.zeros(values.shape, np.intp)
    numbers[... if valid is None else valid] = found.reshape(values.shape if valid is None else -1)
    axis = _count.Axis(c.INTEGER, max(len(groups), 1), last=c.LAST_OPEN)
    return _arrays.of_numpy(numbers), axis, np.arange(len(groups)), groups


def histogram(a, bins=10, range=None, density=None, weights=None, *, axis=None, where=None,
              flow=None, out=None, device=None, method=None, threads=None, by=None,
              progress=None):  # fmt: skip
    """Counts samples in bins, as `numpy.histogram`, and what the keywords ask for.

    Parameters
    ----------
    a : array_like
        Samples of any shape: a NumPy array, a CuPy or torch array, an Arrow array, anything with
        DLPack, the CUDA array interface or a buffer. Read where it lies.
    bins : int, sequence of float or str, default 10
        Number of equal bins, or edges that increase, or the name of a rule.
    range : (float, float), optional
        First and last edge; else the smallest and the largest sample.
    density : bool, optional
        Counts divided by their sum and the bins' widths.
    weights : array_like, optional
        A weight for every sample, in the shape of `a`. Integers are summed in 64 bits.
    axis : int or tuple of int, optional
        The dimensions to count together: a histogram for every index of the others. None: all.
    where : array_like of bool, optional
        Samples to count, broadcast to the shape of `a`.
    flow : {None, 'count', 'clamp', 'raise'}, optional
        What becomes of samples in no bin: dropped; dropped, and their numbers returned; counted in
        the nearest end bin (not NaN); an error.
    out : array, optional
        Counts to add to: int64, uint64, or float64 for float weights, in the shape of the result.
    device : str, optional
        Where to count samples that lie in host memory: 'cpu' (the default), 'cuda', 'opencl',
        'cuda:1', 'auto'. Samples on a device are counted there.
    method : str, optional
        A method's name, with settings as the command takes them: 'cpu-overlap',
        'lane-private:group=512'.
    threads : int, optional
        Most threads to use.
    by : array_like, optional
        A label for every sample: a histogram for each of the distinct labels.
    progress : callable, optional
        Called in this thread now and then with the samples done and the samples in all. What it
        raises stops the work.

    Returns
    -------
    hist : array
        int64 counts; with weights sums in the weights' type, int64 for integers. The shape is that
        of the dimensions kept by `axis` (or the number of groups), then the bins. Of the kind of
        `a`: a CuPy array for a CuPy array.
    bin_edges : array
        The edges, one more than bins; float64, or the samples' type if that is a float's.
    groups : array
        With `by`: the distinct labels, sorted.
    flows : Flows
        With ``flow='count'``: numbers of samples under, over, NaN and masked, one a histogram.

    Raises
    ------
    ValueError, TypeError
        Where NumPy raises them, and for samples that ``flow='raise'`` refuses.
    NotImplementedError
        What this device or method does not serve.
    MemoryError, RuntimeError
        Memory ran out; the device or its driver failed.

    Notes
    -----
    A sample is in a bin exactly when it compares so with the edges that are returned. Safe to call
    from any number of threads; the interpreter's lock is not held while counting.

    Examples
    --------
    >>> import tally
    >>> tally.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    >>> tally.histogram([[1, 2, 9], [4, 4, 4]], bins=[0, 2, 5], axis=1, flow='count')[0]
    array([[1, 1],
           [0, 3]])
    >>> counts, edges, groups = tally.histogram([1, 2, 3, 4], bins=2, by=['a', 'b', 'b', 'b'])
    >>> counts, groups
    (array([[1, 0],
           [1, 2]]), array(['a', 'b'], dtype='<U1'))
    """
    if (_fast and axis is where is flow is out is device is method is threads is by is progress
            is None):  # fmt: skip
        answer = _fast.histogram(a, bins, range, weights)
        if answer is None and weights is None and not density and range is not None:
            answer = _device.histogram(a, bins, range)
        if answer is not None:
            return (_arrays.NUMPY.density(answer[0], answer[1:]), answer[1]) if density else answer
    call = Call(axis, where, flow, out, device, method, threads, by, progress)
    try:
        array = samples(a)
        w = Weights(weights, call, array.shape)
        served(array)
        call.start(array)
        labels = _labels(call, array)
        call.mask([a for a in (array, w, labels) if a is not None])
        binned = _bins(call, array, bins, range, w)
        if binned.axis is None:
            raise Unserved("fewer than two edges")
        reduced = normal_axes(axis, len(array.shape))
        counts, edges, *rest = _answer(call, [array], [binned], w, labels, density, reduced)
        return (counts, edges[0], *rest)
    except Unserved as reason:
        if weights is not None and np.asarray(weights).dtype.kind in "iu":
            weights = np.asarray(weights).astype(np.int64)
        return _numpy("histogram", call, reason, a, bins, range, density, weights)


def histogram_bin_edges(a, bins=10, range=None, weights=None, *, where=None, threads=None):
    """The edges that `histogram` would count in, as `numpy.histogram_bin_edges`.

    Parameters
    ----------
    a, bins, range, weights, where, threads
        As for `histogram`.

    Returns
    -------
    bin_edges : array
        One more than bins.

    Examples
    --------
    >>> import tally
    >>> tally.histogram_bin_edges([0, 0, 0, 1, 2, 3, 3, 4, 5], bins='auto')
    array([0., 1., 2., 3., 4., 5.])
    """
    if _fast and weights is where is threads is None:
        edges = _fast.bin_edges(a, bins, range)
        if edges is not None:
            return edges
    call = Call(where=where, threads=threads)
    try:
        array = samples(a)
        w = Weights(weights, call, array.shape)
        call.start(array)
        return call.home.result(call.home.give(_bins(call, array, bins, range, w).edges))
    except Unserved as reason:
        return _numpy("histogram_bin_edges", call, reason, a, bins, range, weights)


def _columns(sample):
    """The coordinates, one Array a dimension, and the type that NumPy would put them in."""
    if isinstance(sample, (list, tuple)):
        if any(isinstance(x, (list, tuple)) for x in sample):
            sample = list(np.asarray(sample))  # NumPy finds one type for all
        arrays = [_arrays.take(x) for x in sample]
        if not arrays or any(len(x.shape) != 1 or x.shape != arrays[0].shape for x in arrays):
            return _columns(np.atleast_2d(np.asarray(sample)).T)
        if len({(x.device, x.index) for x in arrays}) > 1:
            raise ValueError("sample: its arrays lie on different devices")
        return arrays, np.result_type(*(x.dtype for x in arrays))
    array = _arrays.take(sample)
    if len(array.shape) == 1:
        return [array], array.dtype
    if len(array.shape) != 2:
        raise ValueError("sample: an array of shape (N, D) or D arrays of N are expected")
    return [array.column(d) for d in range_(array.shape[1])], array.dtype


def _bins_of(call, i, column, common, bins, range):
    """Axis i of histogramdd."""
    if np.ndim(bins) == 1:
        words = "must be monotonically increasing, when an array"
        return _edges.from_edges(_edges.given(call.home.take_back(bins), f"`bins[{i}]`", words))
    if np.ndim(bins):
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    if bins < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    found = _extremes(call, column, call.mask([column])) if range is None else None
    first, last = _edges.outer(range, found and tuple(map(common.type, found)))
    try:
        n = operator.index(bins)
    except TypeError as e:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from e
    _edges.check_bins(n)
    edges = np.linspace(first, last, n + 1)
    return _edges.even(_edges.holding(edges, *found) if found else edges, column.dtype)


def _sized(bins, range, dimensions):
    """`bins` and `range` of histogramdd, one a dimension."""
    try:
        if len(bins) != dimensions:
            raise ValueError(
                "The dimension of bins must be equal to the dimension of the sample x."
            )
    except TypeError:
        bins = dimensions * [bins]
    if range is None:
        range = (None,) * dimensions
    elif len(range) != dimensions:
        raise ValueError("range argument must have one entry per dimension")
    return bins, range


def histogramdd(sample, bins=10, range=None, density=None, weights=None, *, where=None,
                flow=None, out=None, device=None, method=None, threads=None, by=None,
                progress=None):  # fmt: skip
    """Counts points in several dimensions, as `numpy.histogramdd`.

    Parameters
    ----------
    sample : array of shape (N, D), or D arrays of N
        The points' coordinates; the arrays may be of different types.
    bins : int or sequence, default 10
        One number of bins, or for each dimension a number or edges.
    range : sequence, optional
        For each dimension None or its first and last edge.
    density : bool, optional
        Counts divided by their sum and the bins' volumes.
    weights : array_like of shape (N,), optional
        A weight for every point; what float64 holds.
    where, flow, out, device, method, threads, by, progress
        As for `histogram`, of shape (N,).

    Returns
    -------
    H : array
        float64 counts or sums, a dimension for each of the sample's; groups come first.
    edges : list of arrays
        The edges of each dimension.
    groups, flows
        As for `histogram`. A point is NaN if one of its coordinates is, else under or over by the
        first that is outside.

    Examples
    --------
    >>> import tally
    >>> counts, edges = tally.histogramdd([[0, 1, 1], [5, 6, 6]], bins=2)
    >>> counts
    array([[1., 0.],
           [0., 2.]])
    """
    if (_fast and where is flow is out is device is method is threads is by is progress
            is None):  # fmt: skip
        answer = _fast.histogramdd(sample, bins, range, weights)
        if answer is not None:
            return (_arrays.NUMPY.density(*answer), answer[1]) if density else answer
    call = Call(None, where, flow, out, device, method, threads, by, progress)
    try:
        columns, common = _columns(sample)
        call.start(columns[0])
        each = _sized(bins, range, len(columns))
        for column in columns:
            served(column)
        labels = _labels(call, columns[0])
        summed = None if weights is None else _arrays.take(weights)
        along = [x for x in (summed, labels) if x is not None and x.shape == columns[0].shape]
        call.mask([*columns, *along])
        binned = [
            _bins_of(call, i, column, common, b, r)
            for i, (column, b, r) in enumerate(zip(columns, *each))
        ]
        w = _double_weights(summed, call, columns[0].shape)
        w.result = np.dtype(float)
        if len(columns) + (by is not None) > c.MAX_DIMENSIONS:
            raise Unserved(f"{len(columns)} dimensions")
        if any(b.axis is None for b in binned):
            raise Unserved("fewer than two edges")
        counts, *rest = _answer(call, columns, binned, w, labels, density, (0,))
    except Unserved as reason:
        return _numpy("histogramdd", call, reason, sample, bins, range, density, weights)
    return (counts, *rest)


def _double_weights(weights, call, shape):
    """Weights that NumPy's bincount takes: what is safely a float64; without samples it looks at none."""
    if weights is None or 0 in shape:
        return Weights(None, call, shape)
    array = _arrays.take(weights)
    if not np.can_cast(array.dtype, np.double, "safe"):
        raise TypeError(
            f"Cannot cast array data from {array.dtype!r} to dtype('float64') according to the "
            "rule 'safe'"
        )
    if array.shape != shape:
        raise ValueError("The weights and list don't have the same length.")
    return Weights(array, call, shape)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None, **extras):
    """Counts pairs of numbers, as `numpy.histogram2d`.

    Parameters
    ----------
    x, y : array_like of shape (N,)
        The coordinates.
    bins : int, edges, or one of these for each of x and y
    range, density, weights
        As for `histogramdd`.
    **extras
        The further arguments of `histogramdd`.

    Returns
    -------
    H : array of shape (nx, ny)
        float64 counts or sums.
    xedges, yedges : array
    groups, flows
        As for `histogramdd`.

    Examples
    --------
    >>> import tally
    >>> tally.histogram2d([0, 1, 1], [0, 1, 1], bins=2)[0]
    array([[1., 0.],
           [0., 2.]])
    """
    if _fast and not extras:
        answer = _fast.histogramdd((x, y), bins, range, weights)
        if answer is not None:
            counts, edges = answer
            return (_arrays.NUMPY.density(counts, edges) if density else counts, *edges)
    if len(x) != len(y):
        return _THEIRS["histogram2d"](x, y)  # has the words for it
    try:
        n = len(bins)
    except TypeError:
        n = 1
    if n not in (1, 2):
        bins = [np.asarray(bins)] * 2
    counts, edges, *rest = histogramdd([x, y], bins, range, density, weights, **extras)
    return (counts, edges[0], edges[1], *rest)


def _whole_numbers(x, axis):
    """The argument of bincount as an Array, or NumPy's error."""
    array = _arrays.take(x)
    if not array.size and not hasattr(x, "dtype"):
        array = _arrays.of_numpy(np.zeros(array.shape, np.intp))
    if axis is None and len(array.shape) != 1:
        deep = "too deep" if array.shape else "of too small depth"
        raise ValueError(f"object {deep} for desired array")
    if not np.can_cast(array.dtype, np.intp, "safe"):
        _THEIRS["bincount"](np.empty(0, array.dtype))
    return array


def _trimmed(call, counts, least):
    """Without the zeros behind the largest number that occurs."""
    seen = np.flatnonzero(np.asarray(call.home.take_back(counts)).reshape(-1, counts.shape[-1]).any(0))
    length = max(least, int(seen[-1]) + 1 if len(seen) else 0)
    return counts[..., :length] + 0


def bincount(x, /, weights=None, minlength=0, *, axis=None, where=None, flow=None, out=None,
             device=None, method=None, threads=None, by=None, progress=None):  # fmt: skip
    """How often each whole number occurs, as `numpy.bincount`.

    Parameters
    ----------
    x : array_like of non-negative integers
        One dimension, or any with `axis`.
    weights : array_like, optional
        A weight for every number; what float64 holds. Integers are summed in 64 bits.
    minlength : int, default 0
        Least length of the result.
    axis, where, flow, out, device, method, threads, by, progress
        As for `histogram`.

    Returns
    -------
    out : array
        int64 counts, or float64 sums, of 0, 1, … max(x), at least `minlength` of them.
    groups, flows
        As for `histogram`.

    Raises
    ------
    ValueError
        A number is negative, or x has not one dimension.
    TypeError
        x is not of integers.

    Examples
    --------
    >>> import tally
    >>> tally.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    if (_fast and axis is where is flow is out is device is method is threads is by is progress
            is None):  # fmt: skip
        counts = _fast.bincount(x, weights, minlength)
        if counts is None and weights is None:
            counts = _device.bincount(x, minlength)
        if counts is not None:
            return counts
    call = Call(axis, where, flow, out, device, method, threads, by, progress)
    array = _whole_numbers(x, axis)
    least = operator.index(minlength)
    if least < 0:
        raise ValueError("'minlength' must not be negative")
    w = _double_weights(weights, call, array.shape)
    call.start(array)
    labels = _labels(call, array)
    call.mask([a for a in (array, w, labels) if a is not None])
    bytes_ = array.dtype.kind in "ub" and array.dtype.itemsize == 1 and not w.given and out is None
    n = max(least, 256) if bytes_ and array.size else _length(call, array, least)
    w.result = np.dtype(float) if w.given and array.size else np.dtype(np.intp)
    if not n or (call.plain and not array.size):
        return call.home.result(call.home.zeros((n,), w.result))
    bins = _edges.Bins(range_(n + 1), _count.Axis(c.INTEGER, n, last=c.LAST_OPEN))
    reduced = normal_axes(axis, len(array.shape))
    try:
        counts, _, *rest = _answer(call, [array], [bins], w, labels, False, reduced)
    except Unserved as reason:
        return _numpy("bincount", call, reason, x, weights, minlength)
    if bytes_ and least < n:
        counts = _trimmed(call, counts, least)
    return (counts, *rest) if rest else counts


def _length(call, array, least):
    """How many bins bincount has: one for each number up to the largest, `least` or more."""
    lo, hi = _extremes(call, array, call.mask([array])) or (0, -1)
    if lo < 0:
        raise ValueError("'list' argument must have no negative elements")
    return max(least, int(hi) + 1)


def digitize(x, bins, right=False):
    """The index of the bin that each sample is in, as `numpy.digitize`.

    Parameters
    ----------
    x : array_like
        Samples of any shape.
    bins : array_like
        Edges that increase or decrease.
    right : bool, default False
        Bins are closed at their right end.

    Returns
    -------
    indices : array of int64
        In the shape of x: ``bins[i-1] <= x < bins[i]`` for increasing edges.

    Examples
    --------
    >>> import tally
    >>> tally.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    if _fast:
        indices = _fast.digitize(x, bins, right)
        if indices is not None:
            return indices
    array = _arrays.take(x)
    if array.valid is not None:
        raise ValueError("digitize: x has nulls, which are in no bin: drop or fill them")
    if array.device == c.CPU:
        there = isinstance(array.owner, np.ndarray)
        return _THEIRS["digitize"](array.owner if there else x, bins, right)
    return array.home.digitize(x, bins, right)
