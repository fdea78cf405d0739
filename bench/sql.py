#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tally's aggregates in DuckDB beside DuckDB's own histogram() and GROUP BY, on one table in memory, in turns; JSON
lines on standard output. What is timed is the processor's time in the program, so that others' work counts little.

    bench/sql.py EXTENSION [ROWS [THREADS [REPEATS]]]     20 000 000, 1, 5"""
import json
import resource
import sys

import duckdb

extension = sys.argv[1]
rows, threads, repeats = (int(word) for word in (sys.argv[2:] + ["20000000", "1", "5"][len(sys.argv) - 2 :])[:3])
sql = duckdb.connect(config={"allow_unsigned_extensions": "true"})
sql.execute(f"LOAD '{extension}'")
sql.execute(f"SET threads = {threads}")
sql.execute(
    f"CREATE TABLE t AS SELECT random() AS x, random() AS y, random()::FLOAT AS f, (random() * 100)::INTEGER AS k FROM range({rows})"
)
edges = [i / 256 for i in range(257)]

# name: (whose, query, how to the list of counts)
QUERIES = {
    "read": ("DuckDB", "SELECT sum(x) FROM t"),
    "256 bins": ("Tally", "SELECT tally(x, 0, 1, 256) FROM t"),
    "256 bins, histogram()": ("DuckDB", f"SELECT histogram(x, {edges}) FROM t"),
    "256 bins, GROUP BY": ("DuckDB", "SELECT floor(x * 256)::INTEGER AS b, count(*) FROM t GROUP BY b"),
    "256 bins, float32": ("Tally", "SELECT tally(f, 0, 1, 256) FROM t"),
    "65536 bins": ("Tally", "SELECT tally(x, 0, 1, 65536) FROM t"),
    "256 edges": ("Tally", f"SELECT tally_edges(x, {edges}) FROM t"),
    "256 bins, weights": ("Tally", "SELECT tally(x, 0, 1, 256, y) FROM t"),
    "64 x 64 bins": ("Tally", "SELECT tally(x, y, 0, 1, 64, 0, 1, 64) FROM t"),
    "256 bins in 101 groups": ("Tally", "SELECT k, tally(x, 0, 1, 256) FROM t GROUP BY k"),
    "256 bins in 101 groups, GROUP BY": (
        "DuckDB",
        "SELECT k, floor(x * 256)::INTEGER AS b, count(*) FROM t GROUP BY k, b",
    ),
}



def user_seconds():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


assert sum(sql.execute(QUERIES["256 bins"][1]).fetchone()[0]) == rows
by_bin = dict(sql.execute(QUERIES["256 bins, GROUP BY"][1]).fetchall())
assert sql.execute(QUERIES["256 bins"][1]).fetchone()[0] == [by_bin.get(i, 0) for i in range(256)]

seconds = {name: [] for name in QUERIES}
for _ in range(repeats):
    for name, (_, query) in QUERIES.items():
        if "histogram()" in name and seconds[name]:
            continue  # once: it takes a second for 20 M rows
        begin = user_seconds()
        sql.execute(query).fetchall()
        seconds[name].append(user_seconds() - begin)
for name, (by, query) in QUERIES.items():
    best = min(seconds[name])
    print(json.dumps({"case": name, "by": by, "version": duckdb.__version__ if by == "DuckDB" else "0.1.0", "rows": rows,
                      "threads": threads, "min_user_s": best, "mrows_per_s": rows / best / 1e6}))  # fmt: skip
    print(f"{name:36} {by:8} {rows / best / 1e6:8.0f} M rows/s", file=sys.stderr)
