# SPDX-License-Identifier: Apache-2.0
"""The chunks of a Dask array: which arrays are taken, and one value made of what each chunk gives."""

import math

import dask.array as da
import numpy as np
from dask import delayed

FAN_IN = 8


# ---- on the workers ----


def here(*blocks):
    """Chunks where they lie: on a device, or as NumPy's. Of masked ones, in one dimension, what none of them masks."""
    masks = [np.ma.getmaskarray(b) for b in blocks if isinstance(b, np.ma.MaskedArray)]
    there = [b if b is None or hasattr(b, "__cuda_array_interface__") else np.asarray(b) for b in blocks]
    if masks:
        kept = ~np.logical_or.reduce(masks)
        there = [None if b is None else b[kept] for b in there]
    return there


def to_host(counts):
    """Counts on the host, whose workers add them."""
    return counts.get() if hasattr(counts, "get") else np.asarray(counts)


def add(parts):
    """Counts in the order of the chunks."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _joined(join, *parts):
    return join(parts)


def tree(parts, join):
    """One of many, FAN_IN at a time, so that nobody gathers all of them. Each is an argument of its own:
    of a list's Dask takes the whole graph into each task's."""
    joined = delayed(_joined, pure=True)
    while len(parts) > 1:
        parts = [joined(join, *parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


# ---- before the counting ----


def blocks(a):
    return list(a.to_delayed().ravel())


def as_samples(a):
    """A Dask array of a type that is counted."""
    a = da.asarray(a)
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8:
        as_integers = "; dates can be, as integers: x.astype('M8[s]').astype('i8')"
        raise TypeError(
            f"{a.dtype} samples are not counted chunk by chunk{as_integers * (a.dtype.kind in 'mM')}"
        )
    return a


def alike(a, like, message):
    """`a` in the chunks of `like`. Where their lengths are not known, the blocks are taken to belong
    together, which their counting checks."""
    a = da.asarray(a)
    known = not any(map(math.isnan, (*a.shape, *like.shape)))
    if known:
        if a.shape != like.shape:
            raise ValueError(message)
        return a.rechunk(like.chunks)
    if a.numblocks != like.numblocks:
        raise ValueError(
            f"{message[:-1]}, but chunks of unknown lengths are not as many: "
            "call compute_chunk_sizes() on both"
        )
    return a


def weights_of(weights, like):
    if weights is None:
        return [None] * len(blocks(like))
    return blocks(alike(weights, like, "weights should have the same shape as a."))
