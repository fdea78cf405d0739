# SPDX-License-Identifier: Apache-2.0
"""histogram and histogram_bin_edges."""

import ctypes

import numpy as np

from . import _count, _dates, _edges
from . import _library as c
from ._asked import answer_of, density_of, extremes, labels_of, theirs
from ._compiled import fast as _fast
from ._core import Call, Weights, normal_axes, samples, served
from ._edges import Unserved
from ._untraced import untraced

_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


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


def _is_number_or_rule(bins):
    return isinstance(bins, str) or (_edges.of_axis(bins) is None and not np.ndim(bins))


def _bins(call, array, bins, range, weights):
    """`bins` and `range` as Bins: NumPy's edges and the library's axis."""
    axis = _edges.of_axis(bins)
    if axis is not None:
        return axis
    if not isinstance(bins, str) and np.ndim(bins) == 1:
        return _edges.from_edges(_edges.given(call.home.take_back(bins)))
    if not isinstance(bins, str) and np.ndim(bins):
        raise ValueError("`bins` must be 1d, when an array")
    n = None if isinstance(bins, str) else _edges.whole(bins)
    if n is None:
        _check_rule(bins, weights.given)
    else:
        _edges.check_bins(n)
    found = extremes(call, array, call.mask([array, weights])) if range is None else None
    first, last = _edges.outer(range, found, call.home)
    if n is None:
        n = _rule(call, array, call.mask([array, weights]), bins, range)
    if found is None and type(first) in (int, float) and type(last) in (int, float):
        return _edges.kept(n, first, last, type(first), type(last), array.dtype).again()
    edges = _edges.spaced(first, last, n, array.dtype)
    return _edges.even(_edges.holding(edges, *found) if found else edges, array.dtype)


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
    device : str or list of str, optional
        Where to count samples that lie in host memory: 'cpu' (the default), 'cuda', 'opencl',
        'cuda:1', 'auto'; several share them: ['cuda:0', 'cuda:1'], 'cuda:*,cpu', but float weights.
        Samples on a device are counted there.
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
    >>> import libtally as tally
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
        if answer is not None:
            return (density_of(answer[0], answer[1:]), answer[1]) if density else answer
    return _counted(
        a, bins, range, density, weights, axis=axis, where=where, flow=flow, out=out, device=device, method=method,
        threads=threads, by=by, progress=progress,
    )  # fmt: skip


@untraced
def _counted(a, bins, range, density, weights, **more):
    call = Call(**more)
    try:
        array = samples(a)
        if _dates.are(array) and _is_number_or_rule(bins):
            return _dates.histogram(histogram, array, bins, range, density, weights, **more)
        w = Weights(weights, call, array.shape)
        served(array)
        call.start(array)
        labels = labels_of(call, array)
        call.mask([x for x in (array, w, labels) if x is not None])
        binned = _bins(call, array, bins, range, w)
        if binned.axis is None:
            raise Unserved("fewer than two edges")
        reduced = normal_axes(call.axis, len(array.shape))
        counts, edges, *rest = answer_of(call, [array], [binned], w, labels, density, reduced)
        return (counts, edges[0], *rest)
    except Unserved as reason:
        if weights is not None and np.asarray(weights).dtype.kind in "iu":
            weights = np.asarray(weights).astype(np.int64)
        return theirs("histogram", call, reason, a, bins, range, density, weights)


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
    >>> import libtally as tally
    >>> tally.histogram_bin_edges([0, 0, 0, 1, 2, 3, 3, 4, 5], bins='auto')
    array([0., 1., 2., 3., 4., 5.])
    """
    if _fast and weights is where is threads is None:
        edges = _fast.bin_edges(a, bins, range)
        if edges is not None:
            return edges
    return _edges_of(a, bins, range, weights, where=where, threads=threads)


@untraced
def _edges_of(a, bins, range, weights, **more):
    call = Call(**more)
    try:
        array = samples(a)
        if _dates.are(array) and _is_number_or_rule(bins):
            return _dates.bin_edges(histogram_bin_edges, array, bins, range, weights, **more)
        w = Weights(weights, call, array.shape)
        call.start(array)
        served(array)
        return call.home.result(call.home.give(_bins(call, array, bins, range, w).edges))
    except Unserved as reason:
        return theirs("histogram_bin_edges", call, reason, a, bins, range, weights)
