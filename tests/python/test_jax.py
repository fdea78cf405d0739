# SPDX-License-Identifier: Apache-2.0
"""tally.jax: counting inside jax.jit."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp

import libtally as tally
import libtally.jax

rng = np.random.default_rng(5)


@pytest.fixture(params=[False, True], ids=["int32", "int64"])
def wide(request):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float16", "float32"])
@pytest.mark.parametrize("keywords", [{"bins": 10, "range": (0, 100)}, {"bins": 100, "range": (0.5, 77.0)},
                                      {"bins": [1, 5, 5.5, 70]}])  # fmt: skip
def test_histogram(wide, dtype, keywords):
    a = (rng.random((70, 90)) * 100).astype(dtype)

    @jax.jit
    def count(x):
        counts, edges = tally.jax.histogram(x, **keywords)
        return counts + 1, edges

    for _ in range(2):
        counts, edges = count(a)
        expected, theirs = np.histogram(a, **keywords)
        np.testing.assert_array_equal(counts, expected + 1)
        np.testing.assert_array_equal(edges, theirs.astype(edges.dtype))
        assert counts.dtype == (np.int64 if wide else np.int32)


def test_weights_and_maps(wide):
    a, w = rng.random((3, 1000)).astype("f4"), rng.integers(0, 9, (3, 1000)).astype("f4")
    count = jax.jit(lambda x, y: tally.jax.histogram(x, 7, (0, 1), weights=y)[0])
    if not wide:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            count(a, w)
        return
    np.testing.assert_array_equal(count(a, w), np.histogram(a, 7, (0, 1), weights=w.astype("f8"))[0])
    rows = jax.vmap(lambda x: tally.jax.histogram(x, 7, (0, 1))[0])(jnp.asarray(a))
    np.testing.assert_array_equal(rows, [np.histogram(x, 7, (0, 1))[0] for x in a])


def test_bincount(wide):
    x = rng.integers(-2, 30, 1000).astype(np.int32)
    inside = x[(x >= 0) & (x < 20)]
    np.testing.assert_array_equal(jax.jit(lambda x: tally.jax.bincount(x, 20))(x), np.bincount(inside, minlength=20))
    assert not np.asarray(tally.jax.bincount(x[:0], 5)).any()


def test_what_is_traced_is_not_counted_by_others():
    x = jnp.ones(5)
    for count in (tally.histogram, tally.bincount, lambda x: tally.quantile(x, 0.5), lambda x: tally.digitize(x, [0, 1])):
        for traced in (jax.jit(count), jax.vmap(count), jax.grad(count)):
            with pytest.raises(NotImplementedError, match="libtally.jax"):
                traced(x)


def test_edges_of_bfloat16():
    x = jnp.array([0, 1, 1, 4, 6, 9], jnp.bfloat16)
    counts, edges = tally.histogram(x, x[jnp.array([0, 3, 5])])
    assert isinstance(counts, jax.Array) and counts.tolist() == [3, 3] and edges.tolist() == [0, 4, 9]


def test_refusals():
    x = jnp.ones(5)
    with pytest.raises(ValueError, match="range"):
        tally.jax.histogram(x)
    with pytest.raises(TypeError, match="integers"):
        tally.jax.bincount(x, 3)
    with pytest.raises(ValueError, match="repeated"):
        tally.jax.histogram(x, [0, 1, 1])
    with pytest.raises(ValueError, match="same shape"):
        tally.jax.histogram(x, 3, (0, 1), weights=jnp.ones(4))
