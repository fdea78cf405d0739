# SPDX-License-Identifier: Apache-2.0
"""Arrow files and streams that pyarrow writes are counted by the command as NumPy counts the columns."""

import collections
import json
import subprocess

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")

from test_parquet import BINS, RANGE, ROWS, columns, command, counted  # noqa: E402, F401

VARIANTS = {
    "file": dict(),
    "file-lz4": dict(compression="lz4"),
    "file-zstd-batches": dict(compression="zstd", rows=700),
    "stream-batches": dict(rows=700, stream=True),
    "stream-lz4": dict(compression="lz4", stream=True),
    "old-stream": dict(stream=True, use_legacy_format=True, rows=999),
    "version-4": dict(metadata_version="V4"),
}


def write(path, table, rows=None, stream=False, **how):
    if "metadata_version" in how:
        how["metadata_version"] = pa.ipc.MetadataVersion[how["metadata_version"]]
    options = pa.ipc.IpcWriteOptions(**how)
    writer = pa.ipc.new_stream if stream else pa.ipc.new_file
    with writer(str(path), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)


def more_columns(random):
    """Those that Parquet has not, or writes otherwise."""
    made = {name: column for name, column in columns(random).items() if name != "nothing"}
    values = random.integers(0, 90, ROWS)
    missing = random.random(ROWS) < 0.2
    with_nan = np.where(missing, np.nan, values)
    few = pa.array([1.5, 77.25, 2.5])
    numbers = random.integers(0, 3, ROWS)
    made["named"] = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), few), few.to_numpy()[numbers]
    made["named-missing"] = (pa.DictionaryArray.from_arrays(pa.array(numbers, pa.uint32(), mask=missing), few),
                             np.where(missing, np.nan, few.to_numpy()[numbers]))
    holes = pa.array([3, None, 5], pa.int64())
    made["named-holes"] = (pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int16()), holes),
                           np.array([3, np.nan, 5])[numbers])
    made["group"] = (pa.StructArray.from_arrays([pa.array(values), pa.array(["x"] * ROWS)], ["a", "t"],
                                                mask=pa.array(missing)), None)
    made["group.a"] = None, with_nan
    for name, kind in (("text", pa.string()), ("view", pa.string_view() if hasattr(pa, "string_view") else pa.string())):
        made[name] = pa.array([f"a longer text {n}" for n in numbers], kind), None
    made["list"] = pa.array([[1, 2]] * ROWS), None
    made["when"] = pa.array(values, pa.timestamp("us")), values
    made["time"] = pa.array(values.astype(np.int32), pa.time32("s")), values
    made["nothing"] = pa.nulls(ROWS), None
    made["last"] = pa.array(values.astype(np.uint16)), values
    return made


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_column(command, tmp_path, variant):
    seed = 20261122
    print("seed", seed)
    path = tmp_path / "table.arrow"
    made = more_columns(np.random.default_rng(seed))
    write(path, pa.table({name: made[name][0] for name in made if made[name][0] is not None}), **VARIANTS[variant])
    names = [name for name in made if made[name][1] is not None]
    if variant != "file":  # every third
        names = names[list(VARIANTS).index(variant) % 3::3]
    for name in names:
        samples = np.asarray(made[name][1], float)
        histogram, = counted(command, path, "--column", name, "--bins", BINS, "--range", *RANGE)
        missing = np.isnan(samples)
        assert histogram["counts"] == np.histogram(samples[~missing], BINS, RANGE)[0].tolist(), name
        assert histogram["nan"] == missing.sum(), name


def test_dictionaries_that_change(command, tmp_path):
    """A stream may replace a dictionary, or add to it."""
    path = tmp_path / "table.arrows"
    batches = [pa.record_batch({"x": pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(values))})
               for numbers, values in (([0, 1, 0], [10.0, 20.0]), ([2, 2, 0], [10.0, 20.0, 30.0]), ([0, 0], [40.0]))]
    for deltas in (False, True):
        with pa.ipc.new_stream(str(path), batches[0].schema,
                               options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as file:
            for batch in batches:
                file.write_batch(batch)
        histogram, = counted(command, path, "--bins", 5, "--range", 0, 50)
        assert histogram["counts"] == [0, 3, 1, 2, 2]


def test_two_columns_rows_and_pipes(command, tmp_path):
    random = np.random.default_rng(3)
    x, y = random.integers(0, 9, ROWS), random.random(ROWS)
    path = tmp_path / "table.feather"
    feather.write_feather(pa.table({"x": pa.array(x, pa.int8()), "y": y}), path, compression="lz4", chunksize=400)
    histogram, = counted(command, path, "--column", "x,y", "--bins", "9,5", "--range", 0, 9, "--range", 0, 1,
                         "--rows", "399:1300")
    assert histogram["counts"] == np.histogram2d(x[399:1300], y[399:1300], (9, 5), ((0, 9), (0, 1)))[0].ravel().tolist()
    stream = tmp_path / "table.arrows"
    write(stream, pa.table({"x": x, "y": y}), rows=500, stream=True)
    for name in (path, stream):
        with open(name, "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as pipe:
            done = subprocess.run((*command, "-", "--column", "2", "--bins", "5", "--range", "0", "1", "-f", "json"),
                                  stdin=pipe.stdout, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["histograms"][0]["counts"] == np.histogram(y, 5, (0, 1))[0].tolist()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("packing", ["uncompressed", "zstd"])
def test_threads_read_the_same(command, tmp_path, threads, packing):
    random = np.random.default_rng(4)
    rows = 500_000
    x, y = random.random(rows).astype(np.float32), random.integers(0, 50, rows)
    path = tmp_path / "table.arrow"
    table = pa.table({"x": pa.array(x), "y": pa.array(y, mask=random.random(rows) < 0.2)})
    feather.write_feather(table, path, compression=packing, chunksize=190_000)
    one, = counted(command, path, "--column", "x", "--bins", 64, "--range", 0, 1, "-j", threads)
    assert one["counts"] == np.histogram(x, 64, (0, 1))[0].tolist()
    y = table["y"].to_numpy()
    both, = counted(command, path, "--column", "x,y", "--bins", "8,50", "--range", 0, 1, "--range", 0, 50,
                    "-j", threads, "--rows", "123:454321")
    here = slice(123, 454321)
    there = ~np.isnan(y[here])
    assert both["counts"] == np.histogram2d(
        x[here][there].astype(float), y[here][there], (8, 50), ((0, 1), (0, 50)))[0].ravel().tolist()
    assert both["nan"] == (~there).sum()


def word_columns(words):
    """The kinds of text that Arrow has, of the same words; one is inside a group."""
    made = {"utf8": pa.array(words), "large": pa.array(words, pa.large_string()),
            "numbered": pa.array(words).dictionary_encode(),
            "large numbered": pa.array(words, pa.large_string()).dictionary_encode(),
            "whole": pa.array(["" if word is None else word for word in words])}
    if hasattr(pa, "string_view"):
        made["view"] = pa.array(words, pa.string_view())
        made["long"] = pa.array([word and word * 9 for word in words], pa.string_view())
    made["group"] = pa.StructArray.from_arrays([made["utf8"]], ["a"])
    return made


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "version-4"])
def test_words(command, tmp_path, variant):
    seed = 20261123
    print("seed", seed)
    random = np.random.default_rng(seed)
    known = ["", "ä", "NA", 'x"y'] + [f"w{n}" * (1 + n % 9) for n in range(200)]
    words = [None if random.random() < 0.1 else known[int(random.exponential(40)) % 204] for _ in range(ROWS)]
    path = tmp_path / "words.arrow"
    how = VARIANTS[variant]
    write(path, pa.table(made := word_columns(words)), **({} if how.get("stream") else {"unify_dictionaries": True}), **how)
    for name in ("group.a" if name == "group" else name for name in made):
        wanted = made[name].to_pylist() if name != "group.a" else words
        histogram, = counted(command, path, "--column", name, "--top", 1000)
        result = json.loads(subprocess.run((*command, path, "--column", name, "--top", "1000", "-f", "json"),
                                           capture_output=True, check=True).stdout)
        labels = result["axes"][0]["labels"]
        assert dict(zip(labels, histogram["counts"])) == collections.Counter(w for w in wanted if w is not None), name
        assert histogram["nan"] == sum(w is None for w in wanted), name
    both, = counted(command, path, "--column", "numbered,utf8", "--rows", "100:900")
    assert sum(both["counts"]) == sum(w is not None for w in words[100:900])


def test_damaged_words(command, tmp_path):
    """Any verdict, but no crash, and a message."""
    seed = 20261123
    print("seed", seed)
    random = np.random.default_rng(seed)
    words = [None if n % 7 == 0 else f"word {n % 19}" * (n % 3) for n in range(300)]
    path = tmp_path / "bad.arrow"
    write(path, pa.table(word_columns(words)), rows=90)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    for name in ("utf8", "numbered", "view") if hasattr(pa, "string_view") else ("utf8", "numbered"):
        for _ in range(15):
            bad = whole.copy()
            bad[random.integers(0, len(bad), 6)] = random.integers(0, 256, 6)
            path.write_bytes(bad.tobytes())
            done = subprocess.run((*command, path, "--column", name), capture_output=True)
            assert done.returncode in (0, 1, 3) and bool(done.stderr) >= bool(done.returncode), done


def test_polars_writes_files(command, tmp_path):
    """Whose schema is in the footer alone."""
    polars = pytest.importorskip("polars")
    x = np.random.default_rng(5).integers(0, 90, ROWS)
    path = tmp_path / "table.arrow"
    for packing in ("uncompressed", "lz4", "zstd"):
        polars.DataFrame({"name": ["long enough a text"] * ROWS, "x": x}).write_ipc(path, compression=packing)
        histogram, = counted(command, path, "--column", "x", "--bins", BINS, "--range", *RANGE)
        assert histogram["counts"] == np.histogram(x, BINS, RANGE)[0].tolist()
        histogram, = counted(command, path, "--column", "name")
        assert histogram["counts"] == [ROWS]


def test_what_is_refused(command, tmp_path):
    path = tmp_path / "table.arrow"
    values = [2**53, 2**53 + 1, 2**53 + 1, 2**53 + 3]
    write(path, pa.table({"text": list("abcd"), "list": [[1]] * 4, "none": pa.nulls(4), "whole": pa.array(values),
                          "missing": pa.array([*values[:3], None])}))

    def refused(words, *arguments, file=path, code=1):
        done = subprocess.run((*command, file, *arguments), capture_output=True, text=True)
        assert done.returncode == code and words in done.stderr, done.stderr

    glance = subprocess.run((*command, path), capture_output=True, text=True, check=True).stdout
    assert all(name in glance for name in ("text", "list", "none", "whole", "missing"))
    refused("holds text", "--column", "text", "--bins", "4", code=3)
    for name, words in (("list", "lists"), ("none", "nothing")):
        refused("holds " + words, "--column", name, code=3)
    refused("no column 'z'", "--column", "z")
    histogram, = counted(command, path, "--column", "whole", "--bins", 3, "--range", 2**53, 2**53 + 6)
    assert histogram["counts"] == [3, 1, 0]
    whole = path.read_bytes()
    cut = tmp_path / "cut.arrow"
    for size in (8, 40, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:size])
        refused("cut.arrow", "--column", "whole", file=cut)
    stream = tmp_path / "table.arrows"
    write(stream, pa.table({"x": np.arange(9.0)}), stream=True)
    cut.write_bytes(stream.read_bytes()[:-20])
    refused("cut.arrow", file=cut)
    cut.write_bytes(stream.read_bytes() + b"more")
    refused("more bytes follow", file=cut)
