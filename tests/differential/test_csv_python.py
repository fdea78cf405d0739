# SPDX-License-Identifier: Apache-2.0
"""Tables that Python's csv module writes, as that module and float() read them: the same counts, on one
thread and on three. Text with delimiters, quotes and line ends in it is where parts of a file meet.

    test_csv_python.py [SEED]
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy

TALLY = os.environ.get("TALLY", "tally")
WORDS = ["", "x", "a,b", "semi;colon", 'say ""', '"', " padded ", "tab\there", "naïve", "9"]
QUOTED = ["two\nlines", "cr\rlf\r\n", "# none"]  # which mean something else without quotes
FILES = 6 if os.environ.get("SANITIZE") else 14


def number(draw):
    return draw.choice((
        lambda: str(draw.randrange(-10**draw.randrange(1, 18), 10**18)),
        lambda: f"{draw.uniform(-1000, 1000):.{draw.randrange(18)}f}",
        lambda: repr(draw.gauss(0, 10.0 ** draw.randrange(-20, 20))),
        lambda: draw.choice(("nan", "inf", "-inf", "1e400", "-0.0", "5e-324", ".5", "7.", "")),
    ))()


def make(draw, rows):
    """A table's text, its delimiter, and which columns are numbers."""
    columns = draw.randrange(2, 9)
    numbers = sorted(draw.sample(range(columns), draw.randrange(1, columns)))
    delimiter = draw.choice(",;\t")
    out = io.StringIO(newline="")
    quoting = draw.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL))
    words = WORDS + QUOTED * (quoting == csv.QUOTE_ALL)
    table = csv.writer(out, delimiter=delimiter, lineterminator=draw.choice(("\n", "\r\n", "\r")), quoting=quoting)
    table.writerow([f"c{i}" for i in range(columns)])
    table.writerow(["1" if i in numbers else "x" for i in range(columns)])
    for _ in range(rows):
        table.writerow([number(draw) if i in numbers else draw.choice(words) for i in range(columns)])
    return out.getvalue(), delimiter, numbers


def check(draw, folder):
    text, delimiter, numbers = make(draw, draw.randrange(1, 15000))
    path = os.path.join(folder, "t.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(("\ufeff" if draw.randrange(3) == 0 else "") + text)
    column = draw.choice(numbers)
    read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    next(read)
    samples = numpy.array([float(row[column] or "nan") for row in read])
    edges = sorted({draw.gauss(0, 10.0 ** draw.randrange(-5, 19)) for _ in range(50)})
    finite = samples[numpy.isfinite(samples)]
    expected = numpy.histogram(finite, edges)[0].tolist()
    for threads in ("1", "3"):
        done = subprocess.run(
            [TALLY, path, "--column", f"c{column}", "--edges=" + ",".join(map(repr, edges)), "-j", threads,
             "--format", "json", "-q"], capture_output=True)
        if done.returncode:
            return done.stderr.decode()
        found = json.loads(done.stdout)
        if found["samples"] != len(samples):
            return f"{found['samples']} samples, expected {len(samples)}"
        if found["histograms"][0]["counts"] != expected:
            return f"counts of c{column} on {threads} threads"
    return None


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int(time.time())
    print(f"seed {seed}")
    draw = random.Random(seed)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(FILES):
            wrong = check(draw, folder)
            if wrong:
                failures += 1
                print(wrong, file=sys.stderr)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
