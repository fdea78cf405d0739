# SPDX-License-Identifier: Apache-2.0
"""What fills have added to a `Hist` on a device, until it is asked for."""

import numpy as np

from . import _library as c
from ._core import total


class Kept:
    """Cells and flows on one device, added to on one stream."""

    def __init__(self, hist, home):
        counts = hist.storage == "count"
        self.home, extent = home, hist.axes.extent
        self.sums = home.zeros(extent, np.dtype(np.int64 if counts else np.float64))
        self.squares = home.zeros(extent, np.dtype(float)) if hist.storage == "weight" else None
        self.flows = home.zeros((4,), np.dtype(np.int64))

    def add(self, hist, call, arrays, weights):
        """As `_filling._add`, but that the numbers of samples in no bin stay here."""
        call.wants_flows = True
        every, squared = tuple(range(len(arrays[0].shape))), self.squares is not None
        wide = [axis.with_ends() for axis in hist.axes]
        onto = self.sums, self.squares
        sums, flows, squares = total(call, arrays, wide, weights, every, squared, onto)
        if sums is not self.sums:
            self.sums += sums
            if squared:
                self.squares += squares
        if ends_are_flows(hist):
            self.flows[2:] += flows[2:]
        else:
            whole = [axis.whole().axis for axis in hist.axes]
            self.flows += total(call, arrays, whole, weights, every, squared)[1]
        return 0, 0, 0, 0

    def take(self, hist):
        """The cells and the flows, on the host."""
        self.home.finish()
        sums, squares, flows = (
            None if x is None else self.home.take_back(x) for x in (self.sums, self.squares, self.flows)
        )
        if ends_are_flows(hist):
            flows[:2] += sums[[0, -1]]
        return sums, squares, flows


def ends_are_flows(hist):
    """Whether the flow bins tell how many samples are under and over."""
    return hist.ndim == 1 and hist.storage == "count"


def find(hist, arrays):
    """Where such samples are counted; None: on the host's cells."""
    if hist.device is None or arrays[0].device == c.CPU or not all(hist.shape):
        return None
    if not all(axis.has_ends() and axis.take_exactly(a) for axis, a in zip(hist.axes, arrays)):
        return None
    home = arrays[0].home
    key = home.name, arrays[0].index, home.stream
    hist._kept = hist._kept or {}
    if key not in hist._kept:
        hist._kept[key] = Kept(hist, home)
    return hist._kept[key]
