# SPDX-License-Identifier: Apache-2.0
"""Parquet files that pyarrow writes, in every encoding and codec of numbers, are counted by the command as
NumPy counts the columns."""

import collections
import decimal
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS, BINS, RANGE = 3000, 120, (-10, 110)


def columns(random):
    """{name: (pyarrow's array, the samples with NaN where one is missing)}"""
    made = {}

    def add(name, values, kind=None):
        for missing in (None, random.random(ROWS) < 0.1):
            samples = np.array([float(value) for value in values])
            if missing is not None:
                samples[missing] = np.nan
            made[name + ("" if missing is None else "-missing")] = (
                pa.array(values, type=kind, mask=missing), samples)

    for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
        values = random.integers(0, 100, ROWS)
        add(name, (values + random.random(ROWS) if name[0] == "f" else values).astype(name))
    add("boolean", random.random(ROWS) < 0.3)
    add("few", random.choice([1.5, 2.5, 77.25], ROWS))
    add("runs", np.repeat(random.integers(0, 90, ROWS // 50), 50))
    cents = [decimal.Decimal(int(value)).scaleb(-2) for value in random.integers(-900, 9999, ROWS)]
    for digits in (9, 18, 30):
        add(f"decimal{digits}", cents, pa.decimal128(digits, 2))
    add("dates", random.integers(0, 99, ROWS).astype("int32"), pa.date32())
    made["nothing"] = pa.array([None] * ROWS, type=pa.float64()), np.full(ROWS, np.nan)
    return made


FLOATS = ("float32", "float64", "few")
WHOLE = ("int32", "int64", "uint32", "uint64", "runs", "dates")
VARIANTS = {
    "snappy": dict(compression="snappy", row_group_size=700, data_page_size=300),
    "gzip-2": dict(compression="gzip", data_page_version="2.0"),
    "zstd-plain": dict(compression="zstd", use_dictionary=False, row_group_size=1000),
    "lz4-2": dict(compression="lz4", data_page_version="2.0", use_dictionary=False),
    "none": dict(compression="none", write_statistics=False, data_page_size=500),
    "split": dict(use_dictionary=False, encode=("BYTE_STREAM_SPLIT", FLOATS + WHOLE + ("float16",))),
    "differences": dict(use_dictionary=False, data_page_size=700, encode=("DELTA_BINARY_PACKED", WHOLE)),
    "differences-2": dict(use_dictionary=False, data_page_version="2.0", encode=("DELTA_BINARY_PACKED", WHOLE)),
    "prefixes": dict(use_dictionary=False, data_page_size=700, encode=("DELTA_BYTE_ARRAY", ("decimal9", "decimal30", "float16"))),
    "boolean-runs": dict(use_dictionary=False, encode=("RLE", ("boolean",))),
}



@pytest.fixture(scope="module")
def command():
    """The wheel's own."""
    import libtally as tally
    path = os.path.join(os.path.dirname(tally.__file__), "bin", "tally")
    return [os.environ["TALLY"]] if "TALLY" in os.environ else [path] if os.path.exists(path) else [sys.executable, "-m", "libtally"]


def counted(command, path, *arguments):
    done = subprocess.run((*command, path, *map(str, arguments), "--device", "cpu", "-f", "json"),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["histograms"]


def write(path, made, encode=None, **how):
    if encode:
        made = {name: column for name, column in made.items() if name.split("-")[0] in encode[1]}
        how["column_encoding"] = {name: encode[0] for name in made}
    pq.write_table(pa.table({name: column for name, (column, _) in made.items()}), path, **how)
    return made


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_column(command, tmp_path, variant):
    seed = 20261122
    print("seed", seed)
    path = tmp_path / "table.parquet"
    for name, (_, samples) in write(path, columns(np.random.default_rng(seed)), **VARIANTS[variant]).items():
        histogram, = counted(command, path, "--column", name, "--bins", BINS, "--range", *RANGE)
        missing = np.isnan(samples)
        assert histogram["counts"] == np.histogram(samples[~missing], BINS, RANGE)[0].tolist(), name
        assert histogram["nan"] == missing.sum(), name


def test_two_columns_rows_and_pipes(command, tmp_path):
    random = np.random.default_rng(3)
    x, y = random.integers(0, 9, ROWS), random.random(ROWS)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"group": pa.StructArray.from_arrays([pa.array(x)], ["x"]), "y": pa.array(y)}), path,
                   row_group_size=400, data_page_size=100)
    histogram, = counted(command, path, "--column", "group.x,y", "--bins", "9,5", "--range", 0, 9,
                         "--range", 0, 1, "--rows", "399:1300")
    assert histogram["counts"] == np.histogram2d(x[399:1300], y[399:1300], (9, 5), ((0, 9), (0, 1)))[0].ravel().tolist()
    with open(path, "rb") as file:
        done = subprocess.run((*command, "-", "--column", "2", "--bins", "5", "--range", "0", "1", "-f", "json"),
                              stdin=file, capture_output=True, text=True)
    assert json.loads(done.stdout)["histograms"][0]["counts"] == np.histogram(y, 5, (0, 1))[0].tolist()


def test_many_files(command, tmp_path):
    """Counted side by side: in dictionaries, with and without missing values, and plain."""
    random = np.random.default_rng(5)
    want, missing = np.zeros(60, int), 0
    for i in range(7):
        values, mask = random.integers(0, 50, ROWS).astype(float), random.random(ROWS) < (i % 2) / 5
        pq.write_table(pa.table({"x": pa.array(values, mask=mask)}), tmp_path / f"{i}.parquet", row_group_size=700,
                       use_dictionary=i % 3 > 0)
        want += np.histogram(values[~mask], 60, (0, 60))[0]
        missing += mask.sum()
    histogram, = counted(command, tmp_path, "--column", "x", "--bins", 60, "--range", 0, 60, "-j", 2)
    assert histogram["counts"] == want.tolist() and histogram["nan"] == missing


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_read_the_same(command, tmp_path, threads):
    """Many parts, pages and row groups; each thread passes over the others'."""
    random = np.random.default_rng(4)
    rows = 700_000
    x, y = random.random(rows).astype(np.float32), random.integers(0, 50, rows)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": pa.array(x), "y": pa.array(y, mask=random.random(rows) < 0.2)}), path,
                   row_group_size=190_000, data_page_size=30_000)
    one, = counted(command, path, "--column", "x", "--bins", 64, "--range", 0, 1, "-j", threads)
    assert one["counts"] == np.histogram(x, 64, (0, 1))[0].tolist()
    table = pq.read_table(path)
    y = table["y"].to_numpy()
    both, = counted(command, path, "--column", "x,y", "--bins", "8,50", "--range", 0, 1, "--range", 0, 50,
                    "-j", threads, "--rows", "123:654321")
    here = slice(123, 654321)
    there = ~np.isnan(y[here])
    assert both["counts"] == np.histogram2d(
        x[here][there].astype(float), y[here][there], (8, 50), ((0, 1), (0, 50)))[0].ravel().tolist()
    assert both["nan"] == (~there).sum()


@pytest.mark.parametrize("threads", [1, 3])
def test_dictionaries(command, tmp_path, threads):
    """Counted by their numbers, the axis applied to each value: in row groups that are all of numbers; others by value."""
    random = np.random.default_rng(5)
    rows = 40_000
    few = random.integers(0, 40, rows) * 2.5 - 10
    special = np.where(random.random(rows) < 0.1, random.choice([np.nan, np.inf, -np.inf, -0.0, 110.0], rows), few)
    growing = np.where(np.arange(rows) < 14_000, few, random.normal(50, 30, rows))  # its dictionary ends within a row group
    columns = {"few": (few, True), "special": (special, True), "i": (few.astype(int), True), "growing": (growing, True),
               "many": (random.normal(50, 30, rows), False), "f": (few.astype("f4"), True)}
    table = {name: pa.array(values) for name, (values, _) in columns.items()}
    for name in ("few", "special", "i"):
        mask = random.random(rows) < 0.2
        table[name + "-missing"] = pa.array(columns[name][0], mask=mask)
        columns[name + "-missing"] = np.where(mask, np.nan, columns[name][0]), True
    path = tmp_path / "codes.parquet"
    pq.write_table(pa.table(table), path, row_group_size=5000, data_page_size=2000, dictionary_pagesize_limit=4000)
    feather = pytest.importorskip("pyarrow.feather")
    coded = {name: pa.chunked_array([array]).dictionary_encode() for name, array in table.items() if columns[name][1]}
    feather.write_feather(pa.table(coded), tmp_path / "codes.arrow", chunksize=5000, compression=("uncompressed", "lz4")[threads > 1])
    edges = np.linspace(RANGE[0], RANGE[1], BINS + 1)
    for path, name in [(path, name) for name in columns] + [(tmp_path / "codes.arrow", name) for name in coded if name != "growing"]:
        samples, by_codes = columns[name]
        done = subprocess.run((*command, str(path), "-c", name, "--range", "-10", "110", "-b", str(BINS), "-j", str(threads),
                               "--device", "cpu", "-v", "-f", "json"), capture_output=True, text=True)
        assert ("counted by dictionaries" in done.stderr) == by_codes, (path, name, done.stderr)
        histogram = json.loads(done.stdout)["histograms"][0]
        there = samples[~np.isnan(samples)]
        assert histogram["counts"] == np.histogram(there, edges)[0].tolist(), name
        assert [histogram[flow] for flow in ("underflow", "overflow", "nan")] == \
            [np.sum(there < -10), np.sum(there > 110), rows - len(there)], name
        done = subprocess.run((*command, str(path), "-c", name, "-b", str(BINS), "-j", str(threads), "--device", "cpu", "-v",
                               "-f", "json"), capture_output=True, text=True)
        assert ("its range by dictionaries" in done.stderr) == by_codes, (path, name, done.stderr)
        axis, histogram = json.loads(done.stdout)["axes"][0], json.loads(done.stdout)["histograms"][0]
        finite = there[np.isfinite(there)]
        assert (axis["lo"], axis["hi"]) == (finite.min(), finite.max()), name
        assert histogram["counts"] == np.histogram(finite, BINS)[0].tolist() and histogram["nan"] == rows - len(there), name
    big = 2**53 + random.integers(0, 5, rows)
    path = tmp_path / "big.parquet"
    pq.write_table(pa.table({"big": big}), path, row_group_size=5000)
    found = counted(command, path, "-c", "big", "--edges", f"{2**53},{2**53 + 2},{2**53 + 4},{2**53 + 6}")[0]["counts"]
    assert found == [int(np.sum((big - 2**53) // 2 == i)) for i in range(3)]
    found = json.loads(subprocess.run((*command, path, "-c", "big", "-b", "2", "-v", "-f", "json", "--device", "cpu", "-j", str(threads)),
                                      capture_output=True, text=True, check=True).stdout)["axes"][0]  # fmt: skip
    assert (found["lo"], found["hi"]) == (2**53, 2**53 + 4)
    # Of a dictionary what is in no row does not count, nor where all rows are missing or infinite.
    names = pa.DictionaryArray.from_arrays(pa.array([1, 2, None] * 900, pa.int8()), pa.array([-1e9, 3.0, 8.0, 1e9, np.nan]))
    empty = pa.DictionaryArray.from_arrays(pa.array([0, None, None] * 900, pa.int8()), pa.array([np.inf, 5.0]))
    path = tmp_path / "unused.arrow"
    feather.write_feather(pa.table({"x": names, "y": empty}), path, chunksize=300, compression="uncompressed")
    for name, ends in (("x", (3.0, 8.0)), ("y", (0.0, 1.0))):
        done = subprocess.run((*command, path, "-c", name, "-b", "5", "-v", "-f", "json", "--device", "cpu", "-j", str(threads)),
                              capture_output=True, text=True, check=True)  # fmt: skip
        axis = json.loads(done.stdout)["axes"][0]
        assert "its range by dictionaries" in done.stderr and (axis["lo"], axis["hi"]) == ends, (name, axis, done.stderr)


@pytest.mark.parametrize("how", (dict(use_dictionary=False), dict(data_page_version="2.0", row_group_size=70), dict(compression="zstd")))
def test_int96(command, tmp_path, how):
    """Timestamps as Spark and Impala write them are counted as those of today, whole microseconds."""
    random = np.random.default_rng(20261129)
    times = random.integers(-(10**9), 2 * 10**9, 500) * 10**6 + random.integers(0, 10**6, 500)
    times[::3] = times[0]
    table = pa.table({"t": pa.array(times, pa.timestamp("us")),
                      "missing": pa.array(times, pa.timestamp("us"), mask=random.random(500) < 0.2),
                      "x": pa.array(random.random(500))})
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    pq.write_table(table, old, use_deprecated_int96_timestamps=True, **how)
    pq.write_table(table, new, coerce_timestamps="us", **how)

    def said(path, *arguments):
        done = subprocess.run((*command, path, *arguments, "--device", "cpu", "-q"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.replace(str(path), "")

    for arguments in (("-c", "t"), ("-c", "missing"), ("-c", "t", "--bins", "year"), ("-c", "t,x", "--bins", "5,3"), ()):
        assert said(old, *arguments) == said(new, *arguments), arguments
    pq.write_table(pa.table({"t": pa.array([-1, 1999], pa.timestamp("ns"))}), old, use_deprecated_int96_timestamps=True, **how)
    axis = json.loads(said(old, "-c", "t", "--bins", "2", "-f", "json"))["axes"][0]
    assert (axis["lo"], axis["hi"]) == (-1, 1)


def test_row_groups_without_rows(command, tmp_path):
    """As pyarrow writes tables without rows: the columns' places are no places then."""
    path = tmp_path / "empty.parquet"
    table = pa.table({"x": pa.array([1, 2, 2], pa.int32()), "word": ["a", "b", "a"]})
    for dictionary in (True, False):
        for groups in ((0,), (0, 3), (3, 0), (0, 3, 0, 0, 3)):
            with pq.ParquetWriter(path, table.schema, use_dictionary=dictionary) as writer:
                for rows in groups:
                    writer.write_table(table[:rows])
            times = sum(groups) // 3
            for threads in (1, 2):
                numbers = counted(command, path, "--column", "x", "--bins", 3, "--range", 0, 3, "-j", threads)
                assert numbers[0]["counts"] == [0, times, 2 * times], groups
                words = counted(command, path, "--column", "word", "-j", threads)
                assert words[0]["counts"] == ([2 * times, times] if times else [0]), groups


def test_integers_beyond_float64(command, tmp_path):
    path = tmp_path / "table.parquet"
    values = [2**53, 2**53 + 1, 2**53 + 1, 2**53 + 3]
    pq.write_table(pa.table({"whole": pa.array(values), "missing": pa.array([*values[:3], None])}), path)
    histogram, = counted(command, path, "--column", "whole", "--bins", 3, "--range", 2**53, 2**53 + 6)
    assert histogram["counts"] == [3, 1, 0]
    histogram, = counted(command, path, "--column", "missing", "--bins", 3, "--range", 2**53, 2**53 + 6)
    assert histogram["counts"] == [3, 0, 0] and histogram["nan"] == 1


WORDS = {
    "dictionary": dict(row_group_size=700, data_page_size=300),
    "dictionary-2": dict(compression="zstd", data_page_version="2.0"),
    "both": dict(row_group_size=1500, data_page_size=400, dictionary_pagesize_limit=600),
    "plain": dict(use_dictionary=False, compression="none", data_page_size=900),
    "lengths": dict(use_dictionary=False, column_encoding={"word": "DELTA_LENGTH_BYTE_ARRAY"}, data_page_size=700),
    "lengths-2": dict(use_dictionary=False, column_encoding={"word": "DELTA_LENGTH_BYTE_ARRAY"},
                      data_page_version="2.0"),
    "prefixes": dict(use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"}, data_page_size=700),
    "prefixes-2": dict(use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"}, data_page_version="2.0",
                       compression="snappy"),
}


@pytest.mark.parametrize("variant", WORDS)
def test_words(command, tmp_path, variant):
    """What stands for missing in text is a word here; only what is null is missing."""
    random = np.random.default_rng(5)
    values = ["", "NA", "null", "nan", "7", "x" * 16, "y" * 300, "Bäume", *(f"w{i}" for i in range(200))]
    words = [values[min(int(random.exponential(30)), len(values) - 1)] for _ in range(ROWS)]
    gone, x = random.random(ROWS) < 0.1, random.integers(0, 3, ROWS)
    path = tmp_path / "words.parquet"
    pq.write_table(pa.table({"word": pa.array(words, mask=gone), "x": pa.array(x)}), path, **WORDS[variant])
    left = [(word, third) for word, third, none in zip(words, x, gone) if not none]
    want = collections.Counter(word for word, _ in left)

    def labelled(*arguments, **how):
        done = subprocess.run((*command, "--column", *arguments, "--device", "cpu", "-f", "json"),
                              capture_output=True, check=True, **how)
        return json.loads(done.stdout)

    for arguments, how in ((("word", path, "-j", "1"), {}), (("word", path, "-j", "3"), {}),
                           (("word", "-"), {"input": path.read_bytes()})):
        found = labelled(*map(str, arguments), **how)
        histogram, = found["histograms"]
        ranked = sorted(want.items(), key=lambda pair: (-pair[1], pair[0].encode()))
        assert list(zip(found["axes"][0]["labels"], histogram["counts"])) == ranked
        assert histogram["nan"] == gone.sum()
    joint = labelled("word,x", "--bins", "1,3", "--range", "0", "1", "--range", "0", "3", str(path))
    if "labels" in joint["axes"][0]:
        counts = np.reshape(joint["histograms"][0]["counts"], (-1, 3))
        pairs = collections.Counter(left)
        assert [[pairs[word, i] for i in range(3)] for word in joint["axes"][0]["labels"]] == counts.tolist()
    by = labelled("x", "--by", "word", "--bins", "2", "--range", "0", "1", "-q", str(path))["histograms"]
    pairs = collections.Counter(left)
    assert {(h["name"], *h["counts"], h["overflow"]) for h in by} == {(word, *(pairs[word, i] for i in range(3))) for word in want}


def test_words_refused(command, tmp_path):
    path = tmp_path / "words.parquet"

    def write_words(values, **how):
        pq.write_table(pa.table({"word": pa.array(values)}), path, **how)

    def said(code, *arguments):
        done = subprocess.run((*command, path, "--column", "word", *arguments), capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stderr

    write_words(["a", "b\0c"])
    assert "zero byte" in said(1)
    # A word that begins with more bytes than the one before has, and one of more bytes than there are.
    write_words(["ab", "ab"], use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"}, compression="none")
    whole = path.read_bytes()
    prefixes = whole.index(b"\x80\x01\x04\x02\x00\x04")  # 128 in 4 parts, 2 values, the first 0, and then 2 more
    suffixes = whole.index(b"\x80\x01\x04\x02\x04\x03")
    for at in (prefixes + 5, suffixes + 4):
        path.write_bytes(whole[:at] + b"\x06" + whole[at + 1:])
        assert "damaged" in said(1)
    write_words(["a", "b"])
    assert "numbers, one a row, are counted; --categories" in said(3, "--bins", "3")
    # A number of a word that the dictionary has not: of five, numbers have three bits each.
    words = ["a", "b", "c", "d", "e"] * 16
    write_words(words * 2, compression="none", row_group_size=80)
    whole = bytearray(path.read_bytes())
    packed = sum("abcde".index(word) << 3 * i for i, word in enumerate(words)).to_bytes(30, "little")
    at = whole.index(b"\x03\x15" + packed) + 2
    assert "by dictionaries" in said(0, "-j", "1", "-v")
    for number in (5, 7):
        whole[at:at + 30] = (int.from_bytes(packed, "little") & ~(7 << 3 * 50) | number << 3 * 50).to_bytes(30, "little")
        path.write_bytes(whole)
        assert "damaged" in said(1, "-j", "1")
    # Sizes that are not true: the first word's, of the dictionary and of a plain page.
    for plain in (False, True):
        write_words(["first", "second"], use_dictionary=not plain, compression="none")
        whole = bytearray(path.read_bytes())
        at = whole.index(b"first")
        for size in (255, 2**31, 2**32 - 1):
            whole[at - 4:at] = size.to_bytes(4, "little")
            path.write_bytes(whole)
            assert "damaged" in said(1)


def test_what_is_refused(command, tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": pa.array(["a", "b"]), "list": pa.array([[1], [2, 3]]), "x": pa.array([1, 2])}), path)

    def refused(words, *arguments, file=path, code=1):
        done = subprocess.run((*command, file, *arguments), capture_output=True, text=True)
        assert done.returncode == code and words in done.stderr, done.stderr

    refused("3 columns (text, list.list.element, x)" if b"element" in path.read_bytes() else "3 columns", "--bins", "3")
    seen = subprocess.run((*command, path, "--width", "100"), capture_output=True, text=True, check=True).stdout
    assert re.search(r"^text +words ", seen, re.M) and re.search(r"^x +integer", seen, re.M), seen
    refused("holds text", "--column", "text", "--range", "0", "1", code=3)
    refused("holds lists", "--column", "2", code=3)
    refused("no column 'z'", "--column", "z")
    wide = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"d": pa.array([1], pa.decimal256(50, 3)), "b": pa.array([b"abc"], pa.binary(3))}), wide)
    refused("column 'd' holds decimals of an unusual size", "--column", "d", file=wide, code=3)
    refused("column 'b' holds bytes", "--column", "b", file=wide, code=3)
    whole = path.read_bytes()
    for size in (3, 11, 40, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / "cut.parquet"
        cut.write_bytes(whole[:size])
        refused("cut.parquet", "--column", "x", file=cut)


def test_checksums(command, tmp_path):
    """Of every page, as it is stored: a bit that is wrong is found, also where it makes another number."""
    path, bad = tmp_path / "sums.parquet", tmp_path / "bad.parquet"
    x = np.random.default_rng(1).integers(0, 90, 3000)
    for how in ({}, {"data_page_version": "2.0"}, {"use_dictionary": False}, {"compression": "none", "use_dictionary": False}):
        pq.write_table(pa.table({"x": x}), path, write_page_checksum=True, data_page_size=999, **how)
        histogram, = counted(command, path, "--bins", 9, "--range", 0, 90)
        assert histogram["counts"] == np.histogram(x, 9, (0, 90))[0].tolist(), how
        damaged = bytearray(path.read_bytes())
        damaged[pq.read_metadata(path).row_group(0).column(0).data_page_offset + 600] ^= 1
        bad.write_bytes(damaged)
        done = subprocess.run((*command, bad, "--bins", "9", "--range", "0", "90"), capture_output=True, text=True)
        assert done.returncode == 1 and "is damaged: its checksum" in done.stderr, (how, done.stderr)


def test_booleans(command, tmp_path):
    """A bin each, unless bins are asked for; of Arrow and NumPy's arrays, too."""
    feather = pytest.importorskip("pyarrow.feather")
    flags = [True] * 5 + [False] * 3
    table = pa.table({"x": range(8), "flag": flags, "some": [None, *flags[1:]]})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, str(tmp_path / "a.arrow"))
    np.save(tmp_path / "a.npy", np.array(flags))
    for name, *column in (("a.parquet", "--column", "flag"), ("a.arrow", "--column", "flag"), ("a.npy",)):
        for more in ((), ("--bins", 2)):
            histogram, = counted(command, tmp_path / name, *column, *more)
            assert histogram["counts"] == [3, 5], name
        histogram, = counted(command, tmp_path / name, *column, "--bins", 3, "--range", -1, 2)
        assert histogram["counts"] == [0, 3, 5], name
        histogram, = counted(command, tmp_path / name, *column, "--bins", 4)
        assert histogram["counts"] == [3, 0, 0, 5], name
        shown = subprocess.run((*command, tmp_path / name, *column, "--categories", "--format", "csv"), capture_output=True, text=True)
        assert [row.split(",")[1:] for row in shown.stdout.split()[1:]] == [["true", "5"], ["false", "3"]], shown
    for name in ("a.parquet", "a.arrow"):
        histogram, = counted(command, tmp_path / name, "--column", "some")
        assert (histogram["counts"], histogram["nan"]) == ([3, 4], 1), name
        histogram, = counted(command, tmp_path / name, "--column", "flag,x", "--bins", 2, "--range", 0, 2, "--range", 0, 8)
        assert histogram["counts"] == [0, 3, 4, 1], name
