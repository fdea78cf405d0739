# SPDX-License-Identifier: Apache-2.0
"""Odd text tables: every column as Python's csv reads it, and as pandas, DuckDB and pyarrow do where they are installed.

test_odd_tables.py [seed]
"""

import csv
import io
import json
import random
import subprocess

from checks import TALLY, check, run_all


def run(*arguments):
    return subprocess.run((TALLY, *map(str, arguments)), capture_output=True)


def values(path, column, *how):
    """The counts of the different values of a column, and how many are missing; an error's words."""
    done = run(path, "-c", column, "--categories", "-f", "json", *how)
    if done.returncode:
        return done.stderr.decode("utf-8", "replace")
    result = json.loads(done.stdout)
    histogram = result["histograms"][0]
    return dict(zip(result["axes"][0].get("labels", []), histogram["counts"])), histogram["nan"]


def counted(cells, quoted=False):
    """What those should be, of cells that are text or None; white space around one counts in quotes."""
    there = [cell if quoted else cell.strip(" ") for cell in cells if cell not in (None, "", "NA")]
    return {cell: there.count(cell) for cell in there}, len(cells) - len(there)


POOL = ["", "NA", "7", "-1.5", "1e3", "x", "a b", " padded ", "comma, inside", 'a "quote"', "line\nend", "ü€", "#no comment", "'", "\\"]


def table(rows, columns):
    cells = [[f"h{i}" for i in range(columns)]]
    return cells + [[random.choice(POOL) for _ in range(columns)] for _ in range(rows)]


def write(cells, delimiter, end, bom, all_quoted):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end,
                        quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL)
    for row in cells:
        writer.writerow(row)
    text = out.getvalue()
    return (b"\xef\xbb\xbf" if bom else b"") + text.encode()


def readers(path, delimiter):
    """Columns as lists of text or None, by whoever is installed."""
    try:
        import pandas
        frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        yield "pandas", {name: list(frame[name]) for name in frame}
    except ImportError:
        pass
    try:
        import pyarrow as pa
        import pyarrow.csv
        names = [f"h{i}" for i in range(3)]
        got = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                                   convert_options=pyarrow.csv.ConvertOptions(column_types={n: pa.string() for n in names}))
        yield "pyarrow", {name: got[name].to_pylist() for name in got.column_names}
    except ImportError:
        pass
    try:
        import duckdb
        got = duckdb.sql(f"select * from read_csv('{path}', delim='{delimiter}', quote='\"', escape='\"', header=true, all_varchar=true)")
        yield "duckdb", {name: [row[i] for row in got.fetchall()] for i, name in enumerate(got.columns)}
    except ImportError:
        pass


def test_as_others():
    for case in range(12):
        delimiter, end = random.choice(",;\t|"), random.choice(["\n", "\r\n"])
        cells = table(random.choice([5, 300]), 3)
        for row in cells[1:]:
            row[0] = f"k{random.randrange(5)}"  # no row is blank or begins a comment
        data = write(cells, delimiter, end, case % 3 == 0, case % 4 == 0)
        with open("t.csv", "wb") as out:
            out.write(data)
        how = ("--delimiter", delimiter if delimiter != "\t" else "tab", "--header", "yes", "-j", random.choice([1, 3]))
        columns = {f"h{i}": [row[i] for row in cells[1:]] for i in range(3)}
        for name, column in columns.items():
            got = values("t.csv", name, *how)
            check(got == counted(column, case % 4 == 0), "csv", case, repr(delimiter), name, got)
        if end == "\n":
            for who, theirs in readers("t.csv", delimiter):
                for name, column in theirs.items():
                    check(counted(column) == counted(columns[name]), who, "reads otherwise", case, name)


def test_extremes():
    def count(data, column, want, *how):
        with open("t.csv", "wb") as out:
            out.write(data)
        done = run("t.csv", "-c", column, "-f", "json", "-b", 1, *how)
        samples = json.loads(done.stdout)["samples"] if done.returncode == 0 else done.stderr.decode("utf-8", "replace")
        check(samples == want if isinstance(want, int) else want in str(samples), data[:60], samples)

    wide = 200_000
    names = ",".join(f"c{i}" for i in range(wide)).encode()
    row = b"\n" + b",".join([b"5"] * wide)
    count(names + 2 * row, f"c{wide - 1}", 2)
    count(names + row + b"\n" + b",".join([b"5"] * (wide - 1)), "c7", f": {wide - 1} fields, expected {wide}")
    long = b'a,b\n' + b"".join(b'"' + b"x,\n" * 700_000 + b'",%d\n' % i for i in range(3))
    count(long, "b", 3)
    count(long[:-20] + b"y\n", "b", "never closed")
    count(b"a,b\r1,2\r3,4\r", "b", 2)
    count(b"a,b\n\n1,2\n \n3,4\n\n", "b", 2)
    count(b"a,b\n1,2\n3,4,5\n", "b", "t.csv:3: 3 fields, expected 2")
    count(b"a,b\n1,2\n" * 1 + b"3,4\n" * 3000 + b"5,\x006\n", "b", "t.csv:3003:3: expected a number")
    count("a,é\n1,2\n3,4\n".encode("latin-1"), "2", 2)
    count("a,b\n1,2\n".encode("utf-16"), "b", "UTF-16 text")
    count(b'"a" , "b"\n "1" , " 2 "\n', "b", 1)
    count(b"x y\nr1 1 2\nr2 3 4\n", "y", 2)
    count(b"1,2\n3,4\n", "1", 1, "--header", "yes")
    count(b"1x,2\n3,4\n", "1", "t.csv:1:1: expected a number, found '1x'", "--header", "no")


if __name__ == "__main__":
    run_all(test_as_others, test_extremes)
