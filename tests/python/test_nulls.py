# SPDX-License-Identifier: Apache-2.0
"""Nulls are masked, whoever lends them: as if Arrow had dropped them before NumPy counted."""

import numpy as np
import pytest
from cases import run, same
from hypothesis import given
from hypothesis import strategies as st

import libtally as tally

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.compute")

TYPES = ["int8", "uint16", "int32", "uint64", "int64", "float16", "float32", "float64", "bool"]


def encoded(draw, values, null, name):
    """A pyarrow array of the values, in one of Arrow's ways to store them, cut out of a longer one."""
    ends = [0] * draw(st.integers(0, 9)), [1] * draw(st.integers(0, 2))
    longer = [*ends[0], *values, *ends[1]]
    none = [True] * len(ends[0]) + list(null) + [False] * len(ends[1])
    dtype = getattr(np, name if name != "bool" else "bool_")
    array = pa.array(np.array(longer, dtype), mask=np.array(none, bool))
    way = draw(st.sampled_from(["plain", "dictionary", "runs"]))
    if way == "dictionary" and name != "float16":
        array = array.dictionary_encode()
    elif way == "runs" and name != "float16":
        array = pa.compute.run_end_encode(array) if len(array) else array
    return array[len(ends[0]) : len(ends[0]) + len(values)]


def capital(name):
    """As Polars and pandas write it: UInt8, Float32."""
    return name.replace("u", "U").replace("i", "I").replace("f", "F")


@st.composite
def columns(draw, n=None, types=TYPES, values=None):
    """A column of some lender, what is under its nulls, and where it has none."""
    n = draw(st.integers(0, 40)) if n is None else n
    name = draw(st.sampled_from(types))
    top = 1 if name == "bool" else 9
    values = np.array(draw(st.lists(st.integers(0, top), min_size=n, max_size=n)), np.dtype(name))
    null = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), int) == 0
    if draw(st.integers(0, 3)) == 0:
        null[:] = False
    at = draw(st.integers(0, n))
    lender = draw(st.sampled_from(["array", "chunks", "table", "polars", "pandas", "pandas-arrow"]))
    pieces = [encoded(draw, values, null, name)]
    if lender == "chunks" or lender == "table":
        kind = pieces[0].type
        if not (pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)):
            pieces = [pieces[0][:at], pieces[0][at:]]
        column = pa.chunked_array(pieces)
        if lender == "table":
            column = pa.table({"a": column})["a"]
    elif lender == "polars":
        pl = pytest.importorskip("polars")
        listed = [None if m else v.item() for v, m in zip(values, null)]
        kinds = {"bool": pl.Boolean, "float16": pl.Float32}
        kind = kinds.get(name) or getattr(pl, capital(name))
        column = pl.Series(listed, dtype=kind)
        if draw(st.booleans()):
            column = pl.concat([column[:at], column[at:]], rechunk=False)
    elif lender.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        if lender == "pandas-arrow":
            column = pd.Series(pieces[0], dtype=pd.ArrowDtype(pieces[0].type))
        else:
            kinds = {"bool": "boolean", "float16": "Float32"}
            kind = kinds.get(name) or capital(name)
            column = pd.Series(
                [pd.NA if m else v.item() for v, m in zip(values, null)], dtype=kind
            )
    else:
        column = pieces[0]
    kept = values[~null]
    if lender in ("polars", "pandas") and name == "float16":
        values, kept = values.astype(np.float32), kept.astype(np.float32)
    return column, values, ~null


@given(st.data())
def test_samples(data):
    column, values, there = data.draw(columns())
    kept = values[there]
    for bins, range_ in [(5, (0, 9)), ([0, 1, 4, 9], None), (5, None), ("sqrt", None)]:
        counts, edges, flows = tally.histogram(column, bins, range_, flow="count")
        same((counts, edges), run(np.histogram, kept, bins, range_))
        assert flows.masked == (~there).sum()
    if kept.dtype.kind in "iub" and kept.dtype != np.uint64 and kept.size:
        same(tally.bincount(column), np.bincount(kept))
    if kept.size:
        same(tally.histogram_bin_edges(column, "sturges"), np.histogram_bin_edges(kept, "sturges"))
        where = values > 3
        same(tally.histogram(column, 5, (0, 9), where=where), np.histogram(values[there & where], 5, (0, 9)))


@given(st.data())
def test_weights_labels_masks(data):
    """A sample whose weight, label or mask is null is not counted, whatever lies under the null."""
    a, values, there = data.draw(columns())
    n = len(values)
    kinds = ["int8", "int64", "float32", "float64", "bool"]
    w, weights, weighed = data.draw(columns(n, kinds))
    both = there & weighed
    theirs = np.histogram(values[both], 5, weights=weights[both].astype(np.float64))
    counts, edges = tally.histogram(a, 5, weights=w)
    np.testing.assert_array_equal(counts, theirs[0])
    np.testing.assert_array_equal(edges, theirs[1])
    if both.any():
        same(tally.histogramdd([a, w], 3), np.histogramdd([values[both], weights[both]], 3))
    by, labels, named = data.draw(columns(n, ["int8", "int64", "bool"]))
    counts, _, groups = tally.histogram(a, 4, (0, 9), by=by)
    np.testing.assert_array_equal(groups, np.unique(labels[named]))
    for row, group in zip(counts, groups):
        at = there & named & (labels == group)
        np.testing.assert_array_equal(row, np.histogram(values[at], 4, (0, 9))[0])
    where, truth, known = data.draw(columns(n, ["bool"]))
    counts, _ = tally.histogram(a, 4, (0, 9), where=where)
    np.testing.assert_array_equal(counts, np.histogram(values[there & known & truth], 4, (0, 9))[0])


def test_a_null_in_one_column_drops_the_point():
    x, y = pa.array([1.0, 2, None, 4]), pa.chunked_array([[1, None], [3, 900]])
    kept = pa.table({"x": x, "y": y}).drop_null()
    theirs = np.histogramdd([np.asarray(kept["x"]), np.asarray(kept["y"])], 3)
    same(tally.histogramdd([x, y], 3), theirs)
    same(tally.histogramdd(pa.table({"x": x, "y": y}), 3), theirs)
    counts, edges = tally.histogramdd(pa.record_batch({"x": x, "y": y.combine_chunks()}), 3)
    np.testing.assert_array_equal(counts, theirs[0])
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    same(tally.histogramdd(pl.DataFrame({"x": x, "y": y}), 3), theirs)
    frame = pd.DataFrame({"x": pd.array([1.0, 2, None, 4], "Float64"), "y": pd.array([1, None, 3, 900], "Int64")})
    same(tally.histogramdd(frame, 3), theirs)


def test_what_pyarrow_fills_and_drops():
    a = pa.chunked_array([[1, None, 3], [None, 7]])
    same(tally.bincount(a), np.bincount(a.drop_null()))
    same(tally.bincount(a.fill_null(0)), np.bincount(np.asarray(a.fill_null(0))))
    w = pa.array([1.5, 2.0, None, 4.0, 8.0])
    assert tally.histogram([0, 0, 0, 1, 1], 2, weights=w)[0].tolist() == [3.5, 12]
    hidden = pa.Array.from_buffers(  # what lies under a null is never read as a value
        pa.int64(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([1, 10**18, 2]).tobytes())]
    )
    assert tally.bincount(hidden).tolist() == [0, 1, 1]
    assert tally.histogram([0, 0, 1], 2, weights=hidden)[0].tolist() == [1, 2]
    codes = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), pa.array([50, 70]))
    assert tally.histogram(codes, [50, 60, 70])[0].tolist() == [2, 1]


def test_dictionaries_that_differ_by_chunk():
    a = pa.chunked_array([
        pa.DictionaryArray.from_arrays([0, 1, 1], [3, 5]),
        pa.DictionaryArray.from_arrays([1, 0, None], [9, None]),
    ])  # fmt: skip
    assert tally.bincount(a).tolist() == [0, 0, 0, 1, 0, 2, 0, 0, 0, 1]


def test_text_labels():
    pl = pytest.importorskip("polars")
    for by in (
        pa.array(["x", None, "y", "x"]), pa.array(["x", None, "y", "x"]).dictionary_encode(),
        pl.Series(["x", None, "y", "x"]), pl.Series(["x", None, "y", "x"], dtype=pl.Categorical),
    ):  # fmt: skip
        counts, _, groups = tally.histogram([1, 1, 1, 2], 2, (0, 3), by=by)
        assert list(groups) == ["x", "y"] and counts.tolist() == [[1, 1], [1, 0]]


def test_nothing_but_nulls():
    for a in (pa.nulls(3), pa.array([None, None], pa.int8()), pa.chunked_array([], pa.float32())):
        counts, _, flows = tally.histogram(a, 2, (0, 1), flow="count")
        assert counts.tolist() == [0, 0] and flows.masked == len(a)
    assert tally.bincount(pa.array([None, None], pa.int8()), minlength=2).tolist() == [0, 0]
    assert tally.histogram([1, 2], 2, (0, 3), by=pa.array([None, None], pa.int8()))[0].shape == (0, 2)


def test_what_has_no_answer_is_an_error():
    with pytest.raises(ValueError, match="nulls"):
        tally.digitize(pa.array([1.0, None]), [0.0, 1, 2])
    same(tally.digitize(pa.array([1.0, 2]), [0.0, 1, 2]), np.digitize([1.0, 2], [0.0, 1, 2]))
    with pytest.raises(TypeError, match="nulls"):
        tally.histogram(pa.array([1.0, None]), [np.nan, 1, 2])
    for bad in (pa.array(["a"]), pa.array([[1]]), pa.chunked_array([["a"]])):
        with pytest.raises(TypeError, match="Arrow"):
            tally.histogram(bad)


def test_dates_are_numpys():
    days = np.array(["2001-01-01", "2001-01-03", "2001-01-04"], "M8[s]")
    theirs = np.histogram(days, days)[0]
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for a in (pa.array(days), pa.chunked_array([pa.array(days)]), pl.Series(days.astype("M8[us]")), pd.Series(days)):
        np.testing.assert_array_equal(tally.histogram(a, days)[0], theirs)


def test_nan_is_a_number():
    """Of floats that a lender keeps apart from nulls."""
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    held = [1.0, float("nan"), 2.0]
    for a in (pa.array(held), pl.Series(held), pd.Series(held), np.array(held)):
        assert tally.histogram(a, 2, (0, 4), flow="count")[2].nan == 1


def test_memory_is_given_back():
    before = pa.total_allocated_bytes()
    for _ in range(50):
        a = pa.chunked_array([pa.array(np.arange(10_000.0)), pa.array(np.arange(9.0))])
        tally.histogram(a)
        tally.histogram(a.chunk(0).dictionary_encode(), 3)
        tally.histogram(a.slice(3, 5), 3)
    del a
    assert pa.total_allocated_bytes() <= before + (1 << 18)


def test_one_chunk_is_read_where_it_lies():
    from libtally import _arrays

    a = pa.array(np.arange(9.0))
    for lent in (a, pa.chunked_array([a])):
        assert _arrays.take(lent).pointer == a.buffers()[1].address
    pl = pytest.importorskip("polars")
    s = pl.Series(np.arange(9.0))
    assert _arrays.take(s).pointer == s.to_arrow().buffers()[1].address
