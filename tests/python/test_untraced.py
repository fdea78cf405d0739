# SPDX-License-Identifier: Apache-2.0
"""What torch.compile must not look into, with something in torch's place that notes what it is told not to."""

import sys
import types

import numpy as np
import pytest

import libtally as tally


@pytest.fixture
def told(monkeypatch):
    """What ran untraced: functions' names."""
    found = []

    def disable(function):
        def run(*args, **keywords):
            found.append(function.__name__)
            return function(*args, **keywords)

        return run

    torch = types.ModuleType("torch")
    torch.compiler = types.SimpleNamespace(disable=disable)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._dynamo", types.ModuleType("torch._dynamo"))
    # Functions that ran before keep what the true torch gave them.
    monkeypatch.setattr("libtally._untraced._DISABLED", {})
    return found


WHERE = np.array([True, False, True])
X = np.array([1.0, 2.0, 3.0])
CALLS = {
    "histogram": lambda: tally.histogram(X, 2, where=WHERE),
    "bin_edges": lambda: tally.histogram_bin_edges(X, 2, where=WHERE),
    "histogramdd": lambda: tally.histogramdd((X, X), 2, where=WHERE),
    "histogram2d": lambda: tally.histogram2d(X, X, 2, where=WHERE),
    "bincount": lambda: tally.bincount(X.astype(int), where=WHERE),
    "digitize": lambda: tally.digitize(X.astype(">f8"), X),
    "quantile": lambda: tally.quantile(X, 0.5, method="hazen"),
    "median": lambda: tally.median(X, out=np.empty(())),
    "binned": lambda: tally.binned_statistic(X, X.astype(">f8"), "median", 2),
    "Regular": lambda: tally.Regular(3, 0, 1),
    "values": lambda: tally.Hist(tally.Integer(0, 4)).values(),
    "fill": lambda: tally.Hist(tally.Regular(3, 0, 1, growth=True)).fill(X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_long_way_is_not_traced(told, call):
    call()
    assert told
    del sys.modules["torch._dynamo"]
    told.clear()
    call()
    assert not told, "only where torch.compile is in use"


def test_signatures_are_kept():
    assert tally.Regular(3, 0, 1).edges.shape == (4,) and tally.Hist.values.__doc__.startswith("Counts")
