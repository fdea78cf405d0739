# SPDX-License-Identifier: Apache-2.0
"""Histograms over MPI: every rank counts its own samples, and all of them get the sum.

The functions are collective: all ranks of the communicator call them, in the same order. Where one
fails, its exception is raised there, and RuntimeError that names the rank on all others.
"""

import numpy as np

import libtally as tally

from . import _arrays, _wide
from ._library import CPU

__all__ = ["histogram", "merge"]


def _world():
    from mpi4py import MPI  # which starts MPI

    return MPI.COMM_WORLD


def _on_all(comm, step, *arguments):
    """What `step` returns here, once it has succeeded on all ranks."""
    own = found = None
    try:
        found = step(*arguments)
    except Exception as e:
        own = e
    said = comm.allgather(own and f"{type(own).__name__}: {own}")
    if own is not None:
        raise own
    for rank, words in enumerate(said):
        if words is not None:
            raise RuntimeError(f"rank {rank}: {words}")
    return found


def _extremes(a):
    """Two samples of the array that have its extremes, on the host; none of an empty one."""
    a = _arrays.take(a)
    values = a.on_host() if a.device == CPU else a.owner
    if a.valid is not None:
        values = values[a.valid]
    if not a.size or not len(values):
        return np.empty(0, a.dtype)
    return np.array([values.min().item(), values.max().item()], a.dtype)


def _weights_limit(weights):
    w = _arrays.take(weights)
    return _wide.limit(weights) if w.dtype.kind == "f" else None


def _count(a, edges, weights, limit, keywords):
    if limit is not None:
        return _wide.sums([a], [edges], weights, limit, keywords.get("threads"))
    counts = tally.histogram(a, edges, weights=weights, **keywords)[0]
    return np.ascontiguousarray(counts.get() if hasattr(counts, "get") else np.asarray(counts))


def _words(pairs):
    """Pairs of 64 bits as four numbers of 32, whose sums do not wrap."""
    return np.ascontiguousarray(pairs).view(np.uint32).astype(np.uint64)


def _pairs(words):
    """The sums of such numbers as pairs again."""
    carry, found = np.zeros(len(words), np.uint64), []
    for i in range(4):
        whole = words[:, i] + carry
        found.append((whole & np.uint64(0xFFFFFFFF)).astype(np.uint32))
        carry = whole >> np.uint64(32)
    return np.ascontiguousarray(np.stack(found, axis=1)).view(np.uint64)


def histogram(a, bins=10, range=None, density=None, weights=None, *, comm=None, threads=None, method=None):
    """Counts the samples of all ranks in bins.

    Parameters
    ----------
    a : array_like
        This rank's samples, NumPy's or on a device; other ranks may have fewer, more or none.
    bins : int or sequence of float, default 10
        Number of equal bins, or edges; the same on all ranks.
    range : (float, float), optional
        First and last edge; else the extremes over all ranks.
    density : bool, optional
    weights : array_like, optional
        A weight for every sample. Sums of floats have the same bits for any number of ranks and
        any split of the samples over them.
    comm : mpi4py.MPI.Comm, default MPI.COMM_WORLD
    threads, method
        As for `tally.histogram`.

    Returns
    -------
    hist, bin_edges : numpy.ndarray
        As `tally.histogram`'s of all samples, on every rank.
    """
    comm = comm or _world()
    if isinstance(bins, str):
        raise TypeError("a bin rule needs all samples at once: give a number of bins or edges")
    keywords = {"threads": threads, "method": method}
    samples = _on_all(comm, _extremes, a)
    if np.ndim(bins) == 0 and range is None:
        samples = np.concatenate(comm.allgather(samples))
    edges = _on_all(comm, tally.histogram_bin_edges, samples, bins, range)
    limit = None
    if weights is not None:
        limits = comm.allgather(_on_all(comm, _weights_limit, weights))
        if len({x is None for x in limits}) > 1:
            raise TypeError("weights: some ranks have integers and some floats")
        limit = None if limits[0] is None else max(limits)
    counts = _on_all(comm, _count, a, edges, weights, limit, keywords)
    if limit is not None:
        counts = _words(counts)
    total = np.empty_like(counts)
    comm.Allreduce(counts, total)  # their sum
    if limit is not None:
        total = _wide.rounded(_pairs(total), limit)
    if density:
        total = total / np.array(np.diff(edges), float) / total.sum()
    return total, edges


def merge(hist, *, comm=None):
    """The sum of all ranks' `tally.Hist`, on every rank: the axes have to be the same. It is added in
    the order of the ranks, which are gathered: for sums of floats the same bits every time."""
    comm = comm or _world()

    def added():
        total = parts[0].copy()
        for part in parts[1:]:
            total += part
        return total

    parts = comm.allgather(hist)
    return _on_all(comm, added)
