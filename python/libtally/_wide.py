# SPDX-License-Identifier: Apache-2.0
"""Sums of float weights as whole numbers of 128 bits: the same bits whoever counts which samples."""

import ctypes
import math

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


def sums(samples, edges, weights, limit, threads=None):
    """Of each cell between the `edges` (the last is closed) of one or more arrays: pairs of uint64, the
    lower word first."""
    columns, w = [_arrays.take(a) for a in samples], _arrays.take(weights)
    layout, a = _count.Layout(columns, [w]), columns[0]
    context = _count.context(a.device, a.index, threads)
    axes = [_count.Axis(c.EDGES, len(e) - 1, edges=e) for e in edges]
    codes = [column.code for column in columns]
    plan = _count.plan(context, axes, codes, weight=w.code, n=layout.size, limit=limit)
    found = np.zeros((math.prod(axis.bins for axis in axes), 2), np.uint64)

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
