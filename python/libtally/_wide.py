# SPDX-License-Identifier: Apache-2.0
"""Sums of float weights as whole numbers of 128 bits: the same bits whoever counts which samples."""

import ctypes

import numpy as np

from . import _arrays, _count
from . import _library as c

LEAST = 1e-250  # limit


def limit(weights):
    """The largest |weight|; infinite or NaN weights are refused."""
    w = _arrays.take(weights)
    if not w.size:
        return LEAST
    found = _count.stats(_count.context(w.device, w.index), w)
    if found.finite != found.samples:
        raise ValueError("weights: one is infinite or NaN")
    return max(abs(found.min), abs(found.max), LEAST)


def sums(a, edges, weights, limit, threads=None):
    """Of each bin between `edges` (the last is closed): pairs of uint64, the lower word first."""
    a, w = _arrays.take(a), _arrays.take(weights)
    layout = _count.Layout([a], [w])
    context = _count.context(a.device, a.index, threads)
    axis = _count.Axis(c.EDGES, len(edges) - 1, edges=edges)
    plan = _count.plan(context, [axis], [a.code], weight=w.code, n=layout.size, limit=limit)
    found = np.zeros((axis.bins, 2), np.uint64)

    def target(_first):
        return c.Output(counts=found.ctypes.data, accumulate=1)

    for _ in range(layout.times):
        _count.run(plan, layout, False, True, target, _count.Watch(), a.home.stream or None)
    return found


def add(parts):
    """The sum of arrays of such pairs."""
    low, high = parts[0][:, 0].copy(), parts[0][:, 1].copy()
    for part in parts[1:]:
        low += part[:, 0]
        high += part[:, 1] + (low < part[:, 0])
    return np.stack([low, high], axis=1)


def rounded(pairs, limit):
    """The nearest float64s."""
    pairs = np.ascontiguousarray(pairs)
    found = np.empty(len(pairs))
    c.wide_round(pairs.ctypes.data, len(pairs), ctypes.c_double(limit), found.ctypes.data)
    return found
