# SPDX-License-Identifier: Apache-2.0
"""Dates and durations, counted as the whole numbers that they are.

Edges are of the samples' unit, or of microseconds where that is coarser. NaT is a null.
"""

import numpy as np

from . import _arrays

_COARSER = ("Y", "M", "W", "D", "h", "m", "s", "ms")


def _in_utc(date):
    """Without its time zone, where it has one, as samples are."""
    if getattr(date, "tzinfo", None) is None:
        return date
    return date.replace(tzinfo=None) - date.utcoffset()


def are(array):
    return array.dtype.kind in "mM"


class Dates:
    """`a` as an Array of whole numbers from `first` on, a date of its type."""

    def __init__(self, array):
        x = array.on_host()
        half = 1  # of the samples' unit, in that of the edges
        if np.datetime_data(x.dtype)[0] in _COARSER:
            half = int(x.dtype.type(1, np.datetime_data(x.dtype)).astype(f"{x.dtype.kind}8[us]").astype(int)) // 2
            x = x.astype(f"{x.dtype.kind}8[us]")
        valid = ~np.isnat(x)
        valid = valid if array.valid is None else valid & array.valid
        self.dtype, self.first, self.ends = x.dtype, 0, None
        whole = x.view(np.int64)
        if valid.any():
            self.first = int((whole if valid.all() else whole[valid]).min())
        whole = np.where(valid, whole - self.first, 0)
        if valid.any() and not whole.any():  # all the same
            self.ends = -half, half
        self.array = _arrays.of_numpy(whole)
        if not valid.all():
            self.array.valid = valid

    def number(self, date):
        """Of one date, or some."""
        given = np.asarray(_arrays.take(date).on_host())
        if given.dtype.kind == "O" or (given.dtype.kind, self.dtype.kind) == ("U", "M"):
            given = given.astype(self.dtype)
        if given.dtype.kind != self.dtype.kind:
            raise TypeError(f"range: ends of {self.dtype} are expected, not of {given.dtype}")
        if np.isnat(given).any():
            raise ValueError("NaT is no edge")
        return given.astype(self.dtype).view(np.int64) - self.first

    def range(self, range):
        """Two dates as two numbers."""
        if range is None:
            return self.ends
        lo, hi = (int(self.number(_in_utc(end))) for end in range)
        return lo, hi

    def edges(self, found):
        """The dates that divide the samples as these numbers do."""
        whole = np.ceil(found).astype(np.int64)
        whole[-1] = np.floor(found[-1])  # which takes its end too
        return (whole + self.first).view(self.dtype)


def histogram(count, array, bins, range, *rest, **extras):
    """As `histogram`, which is `count`, of a number of bins or a rule."""
    dates = Dates(array)
    ends = dates.range(range)
    counts, edges, *more = count(dates.array, bins, ends, *rest, **extras)
    return (counts, dates.edges(edges), *more)


def bin_edges(edges_of, array, bins, range, weights, **extras):
    dates = Dates(array)
    return dates.edges(edges_of(dates.array, bins, dates.range(range), weights, **extras))
