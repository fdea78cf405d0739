# SPDX-License-Identifier: Apache-2.0
"""What people write, for type checkers: `test_types.py` runs mypy and pyright over it, and Python."""

from collections.abc import Sequence
from typing import Any, Callable, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import libtally as tally


class Tensor:
    """As CuPy's and torch's arrays say that they are such."""

    def __init__(self) -> None:
        self.values = np.zeros(3)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise AttributeError

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.values


Answer = NDArray[Any]
a = np.arange(6.0)
counts, edges = tally.histogram(a, 3, (0, 6))
assert_type(counts, Answer)
assert_type(tally.histogram([1, 2, 3], bins="auto"), tuple[Answer, Answer])
assert_type(tally.histogram(a, [0.0, 1, 2], flow="count"), tuple[Answer, Answer, tally.Flows])
assert_type(tally.histogram(a, by=["x"] * 6), tuple[Answer, Answer, Answer])
assert_type(tally.histogram(a, by=["x"] * 6, flow="count"), tuple[Answer, Answer, Answer, tally.Flows])
assert_type(tally.histogram(a.reshape(2, 3), axis=1, threads=1, density=True), tuple[Answer, Answer])
assert_type(tally.histogram(a, tally.Regular(3, 0, 6)), tuple[Answer, Answer])
assert_type(tally.histogram2d(a, a, [2, [0, 3, 6]]), tuple[Answer, Answer, Answer])
assert_type(tally.histogramdd([a, a], 2), tuple[Answer, list[Answer]])
assert_type(tally.histogramdd(a.reshape(3, 2), flow="count"), tuple[Answer, list[Answer], tally.Flows])
assert_type(tally.bincount([1, 2, 2]), Answer)
assert_type(tally.bincount(np.array([1, 2]), by=[0, 1]), tuple[Answer, Answer])
assert_type(tally.digitize(a, [0, 1]), NDArray[np.int64])
assert_type(tally.histogram_bin_edges(a, "fd"), Answer)
assert_type(tally.median(a), "np.number[Any]")
assert_type(tally.quantile([1, 2, 3], 0.5), "np.number[Any]")
assert_type(tally.percentile(a, [5, 95.0]), Answer)


def in_kind(x: Tensor) -> None:
    assert_type(tally.histogram(x, 3), tuple[Tensor, Tensor])
    assert_type(tally.bincount(x), Tensor)
    assert_type(tally.histogramdd([x, x], flow="count"), tuple[Tensor, list[Tensor], tally.Flows])
    assert_type(tally.digitize(x, x), Tensor)
    assert_type(tally.quantile(x, [0.5], axis=0), Tensor)


def any_kind(x: Any, count: Callable[..., tuple[Answer, ...]] = tally.histogram) -> Sequence[Answer]:
    return count(x, 3)


h = tally.Hist(
    tally.Regular(3, 0, 6, name="x", growth=True), tally.Category(["u"], growth=True), storage="weighted_mean"
)
assert_type(h.fill(a, "u", weight=2, sample=a), tally.Hist)
assert_type(h.values(flow=True), NDArray[np.float64])
assert_type(h + h, tally.Hist)
assert_type(h.project("x") * 2, tally.Hist)
plain = tally.Hist(tally.Integer(0, 6)).fill(a)
assert_type(1 + plain * plain - 1, tally.Hist)
assert_type(tally.Regular(8, 0, 360, circular=True).traits.circular, bool)
assert_type(h.axes["x"].edges, NDArray[np.float64])
assert_type(h.stack(0)[0], tally.Hist)
assert_type(tally.Hist.from_uhi(h.to_uhi()), tally.Hist)
assert_type(h.shape, tuple[int, ...])
assert_type(h.sum(flow=True), int | float)
assert_type(tally.Hist(tally.Integer(0, 6)).fill(a).quantile([0.5]), NDArray[np.float64])
part = cast(tally.Hist, h[tally.loc(1) :, :])
part[0, tally.overflow] = np.array([1.0, 1, 2, 0])
assert_type(tally.devices()[0].id, str)
assert_type({k: p.default for k, p in tally.methods()[0].parameters.items()}, dict[str, int])
