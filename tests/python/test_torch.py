# SPDX-License-Identifier: Apache-2.0
"""tally.torch: operators that torch.compile takes as they are."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import library

import libtally as tally
import libtally.torch

rng = np.random.default_rng(6)
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32])
def test_fakes_are_as_the_answers(device, dtype):
    a = (torch.rand(500) * 50).to(dtype).to(device)
    checks = ("test_schema", "test_faketensor")
    library.opcheck(tally.torch._histogram, (a, 7, 0.0, 30.0), test_utils=checks)
    for w in (torch.ones(500, device=device), torch.ones(500, dtype=torch.int32, device=device)):
        library.opcheck(tally.torch._histogram, (a, 7, 0.0, 30.0, w), test_utils=checks)
    if dtype == torch.int32:
        library.opcheck(tally.torch._bincount, (a, 5), test_utils=checks)


@pytest.mark.parametrize("device", DEVICES)
def test_no_break(device):
    """One graph, with what is before and after."""

    def count(x):
        counts, edges = tally.torch.histogram(x * 2, 10, (0.0, 2.0))
        return counts * 2 + tally.torch.bincount(torch.arange(10, device=x.device), 10), edges

    compiled = torch.compile(count, fullgraph=True, backend="eager", dynamic=True)
    for n in (100, 333):
        x = torch.from_numpy(rng.random(n, np.float32)).to(device)
        counts, edges = compiled(x)
        expected, theirs = np.histogram(x.cpu().numpy() * 2, 10, (0, 2))
        np.testing.assert_array_equal(counts.cpu().numpy(), expected * 2 + 1)
        np.testing.assert_array_equal(edges.cpu().numpy(), theirs)


@pytest.mark.skipif(not hasattr(torch.compiler, "substitute_in_graph"), reason="torch 2.6 or later")
def test_the_package_s_own_functions_are_traced():
    import libtally.torch  # noqa: F401

    x, w = torch.rand(1000), torch.rand(1000)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def whole(x, w):
        counts, edges = tally.histogram(x * 2, 10, (0, 1))
        return counts * 2, edges, tally.histogram(x, 4, (0.0, 1.0), weights=w)[0], tally.bincount((x * 5).long(), minlength=9)

    @torch.compile(backend="aot_eager")
    def broken(x):
        return tally.histogram(x * 2, 10)[0] * 2, tally.histogram(x, [0.0, 0.5, 1])[0], tally.bincount((x * 5).long(), x)

    found = (*whole(x, w), *broken(x))
    counts, edges = tally.histogram(x * 2, 10, (0, 1))
    wanted = (
        counts * 2, edges, tally.histogram(x, 4, (0, 1), weights=w)[0], tally.bincount((x * 5).long(), minlength=9),
        tally.histogram(x * 2, 10)[0] * 2, tally.histogram(x, [0, 0.5, 1])[0], tally.bincount((x * 5).long(), x),
    )  # fmt: skip
    assert all(torch.equal(a, b) for a, b in zip(found, wanted)) and len(found) == len(wanted)


def _filled(x):
    return tally.Hist(tally.Regular(7, 0.1, 0.7), tally.Variable([0, 0.3, 0.9])).fill(x, x)


LONG_WAYS = {
    "weights in a list": lambda x: tally.histogram(x[:3], 4, (0, 1), weights=[1, 2, 3]),
    "complex weights": lambda x: tally.histogram(x, 4, (0, 1), weights=x + 1j)[0] * 2,
    "no range": lambda x: tally.histogram(x * 2, 10),
    "axis": lambda x: tally.histogram(x.reshape(10, -1), 10, (0, 1), axis=1)[0],
    "flow": lambda x: tally.histogram(x, 10, (0.2, 0.5), flow="count")[0],
    "bin_edges": lambda x: tally.histogram_bin_edges(x, 10),
    "rule": lambda x: tally.histogram(x, "fd", (0, 1), threads=1)[1],
    "histogramdd": lambda x: tally.histogramdd((x, x), 4)[0],
    "bincount": lambda x: tally.bincount((x * 5).long(), x),
    "digitize": lambda x: tally.digitize(x, np.linspace(0, 1, 7)),
    "quantile": lambda x: tally.quantile(x.reshape(10, -1), [0.1, 0.7], axis=1, method="hazen"),
    "binned": lambda x: tally.binned_statistic(x, x, "std", 10)[:2],
    "Hist": lambda x: (_filled(x).values(), _filled(x).density(), _filled(x).axes[0].edges),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_edges_and_ranges_are_tensors_of_every_kind(dtype):
    x, edges = (torch.tensor([0, 1, 1, 4, 6, 8]).to(dtype), torch.tensor([0, 4, 8]).to(dtype))
    if dtype.is_floating_point:
        edges.requires_grad_()
    for counts, _ in (tally.histogram(x, edges), tally.histogram(x, 2, (edges[0], edges[-1]))):
        assert counts.tolist() == [3, 3]
    assert tally.histogramdd((x, x), 2, [(edges[0], edges[-1])] * 2)[0].tolist() == [[3, 0], [0, 3]]
    assert tally.histogram2d(x, x, [edges, edges])[0].tolist() == [[3, 0], [0, 3]]
    assert tally.digitize(x, edges).tolist() == [1, 1, 1, 2, 2, 3]


def _freed():
    x = torch.rand(100)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.parametrize("count", [
    lambda x: tally.histogram(x, 2, (0, 1))[0], lambda x: tally.quantile(x, 0.5), lambda x: tally.digitize(x, [0, 1]),
    lambda x: tally.Hist(tally.Regular(2, 0, 1)).fill(x) and x,
])  # fmt: skip
def test_no_memory_no_counts(count):
    """Some of these were read where nothing is."""
    x = torch.rand(3, 100)
    for call in (
        lambda: count(_freed()),
        lambda: count(x.to("meta")),
        lambda: torch.func.functionalize(count)(x),
        lambda: torch.func.vmap(count)(x),
        lambda: torch.func.grad(lambda x: count(x).sum())(x),
    ):
        with pytest.raises(NotImplementedError, match="torch tensors"):
            call()
    with torch._subclasses.FakeTensorMode(), pytest.raises(NotImplementedError, match="without memory"):
        count(torch.rand(3))


@pytest.mark.parametrize("call", LONG_WAYS.values(), ids=LONG_WAYS)
def test_the_package_s_python_is_left_alone(call):
    """What torch.compile would trace there is not what NumPy and the library do."""
    x = torch.rand(1000)
    wanted, found = call(x), torch.compile(call, backend="eager")(x)
    both = zip(wanted, found) if isinstance(wanted, tuple) else [(wanted, found)]
    for one, other in both:
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
