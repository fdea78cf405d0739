# SPDX-License-Identifier: Apache-2.0
"""Random tables, written by pyarrow, Polars, DuckDB and pandas in random ways, are counted by the command as NumPy
counts the columns.

SEED=N draws the tables of another run, CASES=N so many of each kind.
"""

import collections
import csv
import json
import os
import subprocess
import time

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from test_parquet import command  # noqa: E402, F401

SEED = int(os.environ.get("SEED", time.time()))
CASES = int(os.environ.get("CASES", 25))
ODD = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 110.0, -10.0]
LETTERS = list("abcxyz ,;|'\"\\#äß€😀") + ["\n", "\t"]


def module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


pl, duckdb, pandas = module("polars"), module("duckdb"), module("pandas")


def pick(random, *of):
    return of[random.integers(len(of))]


# ---- Tables: {name: (array, samples with NaN where one is missing, or words with None)} ----


def shaped(random, values):
    """As they are, few different ones, or in runs."""
    kind = random.integers(3)
    return values if kind == 0 else random.choice(values[:5], len(values)) if kind == 1 else np.sort(values)


TYPES = {"csv": ["bool", "int64", "float64"], "jsonl": ["bool", "int64", "float64"]}
ALL_TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def number_column(random, rows, kind):
    is_text = kind in TYPES
    name = pick(random, *TYPES.get(kind, ALL_TYPES))
    if name == "bool":
        values = random.random(rows) < 0.3
    elif name[0] == "f":
        values = random.normal(50, 40, rows).astype(name)
        if not is_text and random.random() < 0.5:
            odd = random.random(rows) < 0.1
            values[odd] = random.choice(ODD, odd.sum())
    else:
        values = random.integers(0 if name[0] == "u" else -20, 120, rows).astype(name)
    values = shaped(random, values)
    samples, mask = values.astype(float), random.random(rows) < pick(random, 0, 0, 0.1, 1)
    if is_text:
        mask[0] = False  # what a column is of is seen in its first values
    samples[mask] = np.nan
    array = pa.array(values, mask=mask if mask.any() else None)
    return (array.dictionary_encode() if not is_text and random.random() < 0.2 else array), samples


def word_column(random, rows, kind):
    def word(i):
        return f"w{i}" + "".join(random.choice(LETTERS, random.integers(0, pick(random, 3, 30)))) + "."
    pool = [word(i) for i in range(pick(random, 3, 40, 3000))]
    if kind not in TYPES:  # where text may say that it is missing
        pool += ["", "NA", "nan", "7"]
    words = [pool[i] for i in shaped(random, random.integers(0, len(pool), rows))]
    mask = random.random(rows) < pick(random, 0, 0, 0.1)
    array = pa.array(words, pa.string(), mask=mask if mask.any() else None)
    if kind not in TYPES and random.random() < 0.3:
        array = array.dictionary_encode()
    return array, [None if gone else word for word, gone in zip(words, mask)]


def make(random, kind):
    rows = int(pick(random, 1, 2, 63, 64, 65, 1000, 5000, 30_000))
    made = {f"n{i}": number_column(random, rows, kind) for i in range(random.integers(1 + (kind == "csv"), 4))}
    made.update({f"word {i}": word_column(random, rows, kind) for i in range(random.integers(0, 3))})
    names = list(made)
    random.shuffle(names)
    return {name: made[name] for name in names}, rows


# ---- Writers: of a table to a path, what they did ----


def flat(table):
    """Without dictionaries, which not all can write."""
    return pa.table({name: table[name].cast(kind.value_type) if pa.types.is_dictionary(kind) else table[name]
                     for name, kind in zip(table.column_names, table.schema.types)})


def parquet_by_pyarrow(random, table, path):
    how = dict(compression=pick(random, "none", "snappy", "gzip", "zstd", "lz4"), data_page_version=pick(random, "1.0", "2.0"),
               use_dictionary=pick(random, True, False), row_group_size=pick(random, 70, 1000, 100_000),
               data_page_size=pick(random, 200, 20_000, None), write_statistics=pick(random, True, False),
               dictionary_pagesize_limit=pick(random, 300, 1 << 20))
    pq.write_table(table, path, **how)
    return how


def parquet_by_polars(random, table, path):
    how = dict(compression=pick(random, "uncompressed", "snappy", "gzip", "zstd", "lz4"), row_group_size=pick(random, 70, 1000, None),
               data_page_size=pick(random, 500, None), statistics=pick(random, True, False))
    pl.from_arrow(flat(table)).write_parquet(path, **how)
    return how


def by_duckdb(table, path, how):
    there = flat(table)  # noqa: F841
    duckdb.sql(f"COPY (FROM there) TO '{path}' ({how})")
    return how


def parquet_by_duckdb(random, table, path):
    how = (f"FORMAT parquet, COMPRESSION {pick(random, 'uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw')}, "
           f"ROW_GROUP_SIZE {pick(random, 2048, 100_000)}, PARQUET_VERSION {pick(random, 'v1', 'v2')}")
    return by_duckdb(table, path, how)


def arrow_by_pyarrow(random, table, path):
    how = dict(compression=pick(random, None, "lz4", "zstd"))
    stream, rows = pick(random, pa.ipc.new_stream, pa.ipc.new_file), pick(random, 70, 1000, None)
    with stream(str(path), table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True, **how)) as file:
        file.write_table(table, max_chunksize=rows)
    return how, stream.__name__, rows


def arrow_by_polars(random, table, path):
    how = dict(compression=pick(random, "uncompressed", "lz4", "zstd"))
    frame = pl.from_arrow(flat(table))
    (frame.write_ipc_stream if random.random() < 0.3 else frame.write_ipc)(path, **how)
    return how


def csv_by_pandas(random, table, path):
    how = dict(sep=pick(random, *",;\t|"), quoting=pick(random, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL),
               na_rep=pick(random, "", "NA", "nan"), lineterminator=pick(random, "\n", "\r\n"),
               encoding=pick(random, "utf-8", "utf-8-sig"), compression=pick(random, None, "gzip", "bz2", "xz"))
    table.to_pandas(integer_object_nulls=True).to_csv(path, index=False, **how)
    return how


def csv_by_polars(random, table, path):
    how = dict(separator=pick(random, *",;\t|"), quote_style=pick(random, "necessary", "always", "non_numeric"),
               line_terminator=pick(random, "\n", "\r\n"), include_bom=pick(random, True, False))
    pl.from_arrow(table).write_csv(path, **how)
    return how


def csv_by_duckdb(random, table, path):
    return by_duckdb(table, path, f"FORMAT csv, HEADER, DELIM '{pick(random, *',;|')}', COMPRESSION {pick(random, 'none', 'gzip', 'zstd')}"
                     + pick(random, "", ", FORCE_QUOTE *"))


def csv_by_pyarrow(random, table, path):
    from pyarrow import csv as pa_csv
    how = dict(delimiter=pick(random, *",;\t|"), quoting_style=pick(random, "needed", "all_valid"))
    pa_csv.write_csv(table, path, pa_csv.WriteOptions(**how))
    return how


def lines_by_duckdb(random, table, path):
    return by_duckdb(table, path, f"FORMAT json, COMPRESSION {pick(random, 'none', 'gzip')}")


def lines_by_polars(random, table, path):
    pl.from_arrow(table).write_ndjson(path)


def lines_by_pandas(random, table, path):
    how = dict(force_ascii=pick(random, True, False))
    table.to_pandas(integer_object_nulls=True).to_json(path, orient="records", lines=True, double_precision=15, **how)
    return how


WRITERS = {"parquet": (parquet_by_pyarrow, parquet_by_polars, parquet_by_duckdb), "arrow": (arrow_by_pyarrow, arrow_by_polars),
           "csv": (csv_by_pandas, csv_by_polars, csv_by_duckdb, csv_by_pyarrow), "jsonl": (lines_by_duckdb, lines_by_polars, lines_by_pandas)}
NEEDED = {"polars": pl, "duckdb": duckdb, "pandas": pandas, "pyarrow": pa}


# ---- What the command says ----


def axis(random, even):
    """Edges, and the options for them."""
    if even:
        bins = int(pick(random, 1, 8, 128, 4096))
        return np.linspace(-16, 112, bins + 1), ["--bins", str(bins), "--range", "-16", "112"]
    edges = np.unique(random.normal(50, 40, random.integers(2, 40)))
    return edges, ["--edges", ",".join(map(repr, edges.tolist()))]


def check(random, said, made, rows):
    options = ["-j", str(pick(random, 1, 2, 3))]
    begin, end = 0, rows
    if random.random() < 0.3:
        begin, end = sorted(random.choice(rows + 1, 2, replace=False).tolist())
        options += ["--rows", f"{begin}:{end}"]
    for name, (_, values) in made.items():
        values = values[begin:end]
        if isinstance(values, list):
            words = collections.Counter(word for word in values if word is not None)
            if not words:
                continue
            found = said("-c", name, "--categories", *options)
            histogram, = found["histograms"]
            ranked = sorted(words.items(), key=lambda pair: (-pair[1], pair[0].encode()))
            assert list(zip(found["axes"][0]["labels"], histogram["counts"])) == ranked, name
            assert histogram["nan"] == len(values) - words.total(), name
        else:
            edges, how = axis(random, random.random() < 0.5)
            histogram, = said("-c", name, *how, *options)["histograms"]
            there = values[~np.isnan(values)]
            assert histogram["counts"] == np.histogram(there, edges)[0].tolist(), name
            flows = [np.sum(there < edges[0]), np.sum(there > edges[-1]), len(values) - len(there)]
            assert [histogram[flow] for flow in ("underflow", "overflow", "nan")] == flows, name
    # In a joint table CSV has booleans as words.
    pair = [name for name, (array, values) in made.items() if not isinstance(values, list) and not pa.types.is_boolean(array.type)][:2]
    if len(pair) == 2:
        axes = [axis(random, False) for _ in pair]
        histogram, = said("-c", ",".join(pair), *axes[0][1], *axes[1][1], *options)["histograms"]
        both = [made[name][1][begin:end] for name in pair]
        there = ~np.isnan(both[0]) & ~np.isnan(both[1])
        want = np.histogram2d(both[0][there], both[1][there], [edges for edges, _ in axes])[0]
        assert histogram["counts"] == want.ravel().tolist(), pair


class NotBuilt(Exception):
    """The command was built without what a table is compressed by."""


@pytest.mark.parametrize("kind, writer", [(kind, writer) for kind, writers in WRITERS.items() for writer in writers])
def test_as_written(command, tmp_path, kind, writer):  # noqa: F811
    by = writer.__name__.split("_")[-1]
    if not NEEDED[by]:
        pytest.skip(f"without {by}")
    counted = 0
    for case in range(CASES):
        random = np.random.default_rng([SEED, case, *writer.__name__.encode()])
        made, rows = make(random, kind)
        path = tmp_path / f"{case}.{kind}"
        how = writer(random, pa.table({name: array for name, (array, _) in made.items()}), path)
        print(f"SEED={SEED}, {writer.__name__} {case}: {rows} rows, {how}", *((n, a.type) for n, (a, _) in made.items()))

        def said(*arguments):
            print(path, *arguments)
            done = subprocess.run((*command, path, *arguments, "--device", "cpu", "-f", "json"), capture_output=True, text=True)
            if done.returncode == 3 and "this build has no" in done.stderr:
                raise NotBuilt(done.stderr)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        try:
            check(random, said, made, rows)
            counted += 1
        except NotBuilt as error:
            print(error)
    if not counted:
        pytest.skip("not built with what reads such tables")
