# SPDX-License-Identifier: Apache-2.0
"""Dates and durations in a number of bins, or by a rule: every sample is between the dates that are returned."""

import datetime

import numpy as np
import pytest

import libtally as tally

SPANS = {"D": 900, "h": 9000, "s": 10**7, "ms": 10**10, "us": 10**13, "ns": 10**16}
START, END = np.datetime64("2020-02-01"), np.datetime64("2020-03-01")


def drawn(unit, n=2000):
    rng = np.random.default_rng(1)
    return np.datetime64("2020-01-01", unit) + rng.integers(0, SPANS[unit], n).astype(f"m8[{unit}]")


@pytest.mark.parametrize("unit", SPANS)
@pytest.mark.parametrize("bins", [1, 7, 100, "sqrt", "auto"])
@pytest.mark.parametrize("ends", [None, (START, END)])
def test_numpys_counts_between_the_edges(unit, bins, ends):
    near = np.timedelta64(1, "us")
    for x in (drawn(unit), drawn(unit) - START.astype(f"M8[{unit}]")):
        if ends and x.dtype.kind == "m":
            ends = tuple(e - START for e in ends)
        counts, edges = tally.histogram(x, bins, ends)
        assert edges.dtype == (x[:1].astype(f"{x.dtype.kind}8[us]") if unit != "ns" else x).dtype
        np.testing.assert_array_equal(counts, np.histogram(x.astype(edges.dtype), edges)[0])
        lo, hi = ends or (x.min(), x.max())
        assert abs(edges[0] - lo) <= near and abs(edges[-1] - hi) <= near and (np.diff(edges.astype("i8")) > 0).all()
        np.testing.assert_array_equal(tally.histogram_bin_edges(x, bins, ends), edges)
        if not ends:
            assert counts.sum() == len(x)


def test_with_more():
    days = np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-04", "2020-01-05"], "M8[D]")
    counts, edges, flows = tally.histogram(days, 2, flow="count", weights=np.arange(5.0))
    assert counts.tolist() == [2, 7] and flows.masked == 1 and edges[1] == np.datetime64("2020-01-03")
    counts, edges, groups = tally.histogram(days, 2, by=["a", "a", "b", "b", "b"])
    assert counts.tolist() == [[1, 0], [1, 2]] and groups.tolist() == ["a", "b"]
    assert tally.histogram(days, 2, where=days != days[0])[0].tolist() == [1, 2]
    same = tally.histogram(days[[0, 0]], 2)
    assert same[0].tolist() == [0, 2] and same[1][0] == np.datetime64("2019-12-31T12") and len(tally.histogram(days[:0], 3)[0]) == 3
    with pytest.raises(ValueError, match="NaT"):
        tally.histogram(days, 2, (days[0], days[1]))


def test_ends_are_dates_of_dates_and_durations_of_durations():
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-05"], "M8[D]")
    hours = np.array([1, 5, 100], "m8[h]")
    for ends in (("2020-01-01", "2020-01-05"), (datetime.date(2020, 1, 1), datetime.date(2020, 1, 5)), days[[0, 2]]):
        assert tally.histogram(days, 2, ends)[0].tolist() == [2, 1]
    for ends in ((datetime.timedelta(0), datetime.timedelta(hours=100)), (hours[0], hours[2])):
        assert tally.histogram(hours, 2, ends)[0].tolist() == [2, 1]
    for x, others in (days, hours[[0, 2]]), (hours, days[[0, 2]]), (hours, ("0", "100")):
        for ends in (others, (0, 100), (0.5, 100.5)):
            for of in (tally.histogram, tally.histogram_bin_edges):
                with pytest.raises(TypeError, match="ends of"):
                    of(x, 2, ends)


def test_of_others():
    pd = pytest.importorskip("pandas")
    days = pd.Series(pd.date_range("2020-01-01", periods=10, freq="D"))
    utc = days.dt.tz_localize("UTC")
    for x in (days, utc, pd.DatetimeIndex(days), pd.concat([days, pd.Series([pd.NaT])])):
        counts, edges = tally.histogram(x, 3)
        assert counts.tolist() == [3, 3, 4] and edges[1] == np.datetime64("2020-01-04")
    assert tally.histogram(days, 2, (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-05")))[0].tolist() == [2, 3]
    berlin = days.dt.tz_localize("Europe/Berlin")
    for x in (utc, berlin):
        assert tally.histogram(x, 2, (x[0], x[4]))[0].tolist() == tally.histogram(days, 2, (days[0], days[4]))[0].tolist() == [2, 3]
    for kind in ("polars", "pyarrow"):
        module = pytest.importorskip(kind)
        x = (module.Series if kind == "polars" else module.array)(days.dt.date.tolist() + [None])
        assert tally.histogram(x, 3)[0].tolist() == [3, 3, 4]
