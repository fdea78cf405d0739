# SPDX-License-Identifier: Apache-2.0
"""Odd tables, as pandas and DuckDB read them: byte order marks, line ends, quotes, missing values, columns without
end, long lines, other encodings. The random ones print their seed; SEED sets it."""

import csv
import io
import json
import os
import random
import subprocess
import sys
import time

import pytest

pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")

COMMAND = [os.environ["TALLY"]] if "TALLY" in os.environ else [sys.executable, "-m", "libtally"]
MISSING = {"", "-", "na", "n/a", "null", "none", "#n/a", "<na>", "nan"}


def run(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments), "-j", "3", "--device", "cpu"], capture_output=True, text=True)


def words(path, column, *options):
    """{value: count} and how many are missing."""
    done = run(path, "--column", column, "--categories", "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    found = dict(zip(result["axes"][0]["labels"], result["histograms"][0]["counts"]))
    found.pop("(none)", None)
    return found, result["histograms"][0]["nan"]


def counted(values):
    """The same of what another reader says."""
    kept = {}
    missing = 0
    for value in values:
        text = "" if value is None or value != value else value.strip(" \t")
        if text.lower() in MISSING:
            missing += 1
        else:
            kept[text] = kept.get(text, 0) + 1
    return kept, missing


def by_pandas(path, column, **how):
    return counted(pd.read_csv(path, dtype=str, keep_default_na=False, **how)[column])


def by_duckdb(path, column):
    read = f"read_csv('{path}', all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"')"
    return counted(row[0] for row in duckdb.sql(f'SELECT "{column}" FROM {read}').fetchall())


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


ODD = {
    "byte order mark": "\ufeffw,n\nx,1\ny,2\nx,3\n",
    "crlf": "w,n\r\nx,1\r\ny,2\r\n",
    "cr": "w,n\rx,1\ry,2\rx,3\r",
    "no last end": "w,n\nx,1\ny,2",
    "empty lines": "w,n\n\nx,1\n\n\ny,2\n",
    "quotes": 'w,n\n"a ""b"" c",1\n"d,e",2\n"f\ng",3\n"""",4\n"f\ng",5\n',
    "padded": "w,n\n x ,1\ny\t,2\nx, 3\n",
    "missing": "w,n\nNA,1\n,2\nnull,3\nx,\nNaN,4\n",
    "same but for case": "w,n\nX,1\nx,2\nX,3\n",
    "numbers as words": "w,n\n1.50,1\n1.5,2\n01,3\n",
    "more than ASCII": "w,n\nzoë,1\n日本,2\nzoë,3\n🦉,4\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd(tmp_path, name):
    path = write(tmp_path, "odd.csv", ODD[name])
    want = by_pandas(path, "w")
    assert words(path, "w") == want
    if name not in ("padded", "cr"):  # a carriage return alone ends no line there
        assert by_duckdb(path, "w") == want


def make(draw, rows):
    values = ["oak", "elm", 'say "x"', "a,b", "two\nlines", "", "NA", "naïve", "x" * 40] + [f"v{i}" for i in range(draw.randrange(300))]
    out = io.StringIO()
    writer = csv.writer(out, quoting=draw.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL)), lineterminator=draw.choice(("\n", "\r\n")))
    writer.writerow(["i", "w", "x"])
    for i in range(rows):
        writer.writerow([i, draw.choice(values), draw.choice((round(draw.gauss(0, 100), 3), "", draw.randrange(10)))])
    return out.getvalue()


def test_random(tmp_path):
    seed = int(os.environ.get("SEED", time.time_ns() % 10**9))
    print("seed", seed)
    draw = random.Random(seed)
    for i in range(6):
        path = write(tmp_path, f"{i}.csv", make(draw, draw.randrange(1, 20000)))
        want = by_pandas(path, "w")
        assert words(path, "w") == want == by_duckdb(path, "w"), seed
        glance(path, seed)


def glance(path, seed):
    """All columns, as pandas' describe has them."""
    done = run(path, "--format", "json")
    assert done.returncode == 0, (done.stderr, seed)
    columns = {column["name"]: column for column in json.loads(done.stdout)["columns"]}
    for name in ("i", "x"):
        want, got = pd.read_csv(path, keep_default_na=True)[name].describe(), columns[name]
        assert (got["min"], got["max"]) == (want["min"], want["max"]), seed
        assert got["mean"] == pytest.approx(want["mean"], rel=1e-12), seed
        assert want["count"] < 2 or got["sd"] == pytest.approx(want["std"], rel=1e-9), seed
        middle = pd.read_csv(path)[name].quantile([0.25, 0.5, 0.75], interpolation="lower").to_list()
        above = pd.read_csv(path)[name].quantile([0.25, 0.5, 0.75], interpolation="higher").to_list()
        for q, low, high in zip(("q1", "median", "q3"), middle, above):
            assert low - abs(low) / 2000 <= got[q] <= high + abs(high) / 2000, (q, seed)


def test_wide_and_long(tmp_path):
    wide = 1_000_000
    path = write(tmp_path, "wide.csv", ",".join(f"c{i}" for i in range(wide)) + "\n" + ("7," * wide)[:-1] + "\n" + ("8," * wide)[:-1] + "\n")
    done = run(path, "-c", f"c{wide - 1}", "--integer", "--format", "csv")
    assert done.stdout.split()[1:] == [f"c{wide - 1},7,8,1", f"c{wide - 1},8,9,1"], done.stderr
    long = "x" * (5 << 20)
    path = write(tmp_path, "long.csv", f"w,n\n{long},1\nb,2\n{long},3\n")
    assert words(path, "w") == by_pandas(path, "w", engine="c") == ({long: 2, "b": 1}, 0)


@pytest.mark.parametrize("data, column, said", [
    ("a,b\n1,2\n3\n", "b", "t.csv:3: 1 field, expected 2"),
    ("a,b\n1,2\n3,4,5\n", "b", "t.csv:3: 3 fields, expected 2"),
    ("a,b\n1,2\n3,\"4\n", "b", "t.csv:3:3: the quote that opens here is never closed"),
    (b"a,b\n" + b"1,x\n" * 3000 + b"1,\0y\n", "b", "t.csv: a value of column 'b' has a zero byte"),
    ("a,b\n1,2\n".encode("utf-16"), "b", "t.csv: UTF-16 text; UTF-8 is read"),
])
def test_damage(tmp_path, data, column, said):
    done = run(write(tmp_path, "t.csv", data), "--column", column)
    assert done.returncode == 1 and said in done.stderr, done.stderr
    assert done.stdout == ""


def test_latin1(tmp_path):
    path = write(tmp_path, "latin.csv", "Stra\xdfe,n\nM\xfcnchen,1\nBern,2\nM\xfcnchen,3\n".encode("latin-1"))
    found, missing = words(path, "1")
    assert found == {"M\\xfcnchen": 2, "Bern": 1} and missing == 0
