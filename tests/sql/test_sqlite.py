#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sqlite.py EXTENSION: the aggregates in SQLite against NumPy. 77 where this Python's sqlite3 loads none."""
import json
import os
import random
import sqlite3
import sys

import numpy as np

extension = os.path.abspath(sys.argv[1])
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261123
print("seed", seed)
sql = sqlite3.connect(":memory:")
if not hasattr(sql, "enable_load_extension"):
    print("skipped: this Python's sqlite3 loads no extensions")
    sys.exit(77)
sql.enable_load_extension(True)
sql.execute("SELECT load_extension(?, 'sqlite3_tally_init')", [extension])


def one(query, *parameters):
    found = sql.execute(query, parameters).fetchone()[0]
    return found if found is None else json.loads(found)


def refused(query, words):
    try:
        sql.execute(query).fetchall()
    except sqlite3.Error as error:
        assert words in str(error), (query, str(error))
    else:
        raise AssertionError(query)


draw = random.Random(seed)
edges = np.linspace(-3, 3, 13)
rows = []
for _ in range(5000):
    x = draw.choice([draw.gauss(0, 2), float(draw.choice(edges)), draw.randint(-4, 4), None, float("inf")])
    if isinstance(x, float) and draw.random() < 0.3:
        x = float(np.nextafter(x, draw.choice([-9, 9])))
    rows.append((x, draw.randint(0, 4), draw.randint(-8, 8) / 4))
sql.execute("CREATE TABLE t (x, k, w)")
sql.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)


def wanted(rows, edges, weighted=False):
    given = [(x, w if weighted else 1) for x, _, w in rows if x is not None]
    inside = [(x, w) for x, w in given if edges[0] <= x <= edges[-1]]
    return {
        "edges": list(edges),
        "counts": np.histogram([x for x, _ in inside], edges, weights=[w for _, w in inside])[0].tolist(),
        "below": sum(w for x, w in given if x < edges[0]),
        "above": sum(w for x, w in given if x > edges[-1]),
        "nan": 0,
        "nulls": len(rows) - len(given),
    }


assert one("SELECT tally_histogram(x, -3, 3, 12) FROM t") == wanted(rows, edges)
assert one("SELECT tally_histogram(x, -3, 3, 12, w) FROM t") == wanted(rows, edges, True)
assert one("SELECT tally(x, -3, 3, 12) FROM t") == wanted(rows, edges)["counts"]
uneven = [-3, -0.5, 0, 1e-3, 3]
assert one("SELECT tally_histogram_edges(x, ' [-3, -0.5, 0, 1e-3 ,3] ') FROM t") == wanted(rows, uneven)
assert one("SELECT tally_edges(x, ?, w) FROM t", json.dumps(uneven)) == wanted(rows, uneven, True)["counts"]
for k, found in sql.execute("SELECT k, tally_histogram(x, -3, 3, 12) FROM t GROUP BY k"):
    assert json.loads(found) == wanted([row for row in rows if row[1] == k], edges)
assert one("SELECT tally(x, -3, 3, 12.0) FROM t") == wanted(rows, edges)["counts"]
assert one("SELECT tally(x, 0, 1, 2) FROM t WHERE 0") is None
assert one("SELECT tally(x, 0, 4, 2) FILTER (WHERE x = 4) FROM t") == [0, sum(x == 4 for x, _, _ in rows)]
big = 2**62
found = one(
    f"SELECT tally_histogram_edges(column1, '[{big}.0, {big + 4096}.0]') FROM (VALUES ({big - 1}), ({big}), ({big + 4096}), ({big + 4097}))"
)
assert (found["counts"], found["below"], found["above"]) == ([2], 1, 1), found
most = 2**63 - 1  # a float64 below it or above it is not it
assert one(f"SELECT tally_edges({most}, '[0, {2**63 - 1024}.0, {2**63}.0]')") == [0, 1]

for query, words in [
    ("tally(x, 1, 0, 3)", "the lower end must be below"),
    ("tally(x, 0, 1, 0)", "bins must be a whole number, 1 to 16777216"),
    ("tally(x, 0, 1, 2.5)", "bins must be a whole number, 1 to 16777216"),
    ("tally(x, 0, 1, 2 + k / 8.0)", "must be"),
    ("tally(x, 0, 1, NULL)", "lo, hi and bins must be numbers"),
    ("tally(x, 0, 1 + k, 3)", "must be the same in all rows"),
    ("tally('seven', 0, 1, 3)", "CAST it to a number"),
    ("tally(x'37', 0, 1, 3)", "is text or a blob"),
    ("tally(x, 0, 1)", "wrong number of arguments"),
    ("tally_edges(x, 3)", "must be a JSON array"),
    ("tally_edges(x, '[0')", "must be a JSON array"),
    ("tally_edges(x, '[0, inf]')", "must be a JSON array"),
    ("tally_edges(x, '[0, 1] 2')", "must be a JSON array"),
    ("tally_edges(x, '[]')", "must be a JSON array"),
    ("tally_edges(x, '[0]')", "2 to 16777216"),
    ("tally_edges(x, '[0, 2, 1]')", "edge"),
]:
    refused(f"SELECT {query} FROM t", words)
print("ok")
