# SPDX-License-Identifier: Apache-2.0
"""JSON lines that Python's json writes are counted as NumPy counts what it reads; bad lines are named."""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import checks
from checks import TALLY, check

import numpy as np


def run(*arguments, **how):
    return subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True, **how)


def counted(path, *arguments, **how):
    done = run(path, *arguments, "-f", "json", **how)
    check(done.returncode == 0, path, arguments, done.stderr)
    return json.loads(done.stdout)["histograms"][0] if done.returncode == 0 else {"counts": [], "nan": 0}


def same(path, samples, *arguments, **how):
    """`samples` has NaN where one is missing."""
    histogram = counted(path, *arguments, "--bins", 40, "--range", -100, 100, **how)
    there = samples[~np.isnan(samples)]
    check(histogram["counts"] == np.histogram(there, 40, (-100, 100))[0].tolist() and
          histogram["nan"] == len(samples) - len(there), path, arguments, "differs")


def value(random):
    """What stands in a line, and the sample."""
    number = random.normal(0, 40)
    return [(number, number), (round(number), round(number)), (f"{number:.3f}", round(number, 3)), (None, np.nan),
            (True, 1), (False, 0), (f"{number:e}", float(f"{number:e}")), (-0.0, 0)][random.integers(0, 8)]


def noise(random, depth=0):
    kinds = ["text", 'a "quoted\\" text, {with: [brackets]}', "\\", "ünïcode \u2028", 7, None, True, 1e-7, ""]
    kind = random.integers(0, len(kinds) + (2 if depth < 3 else 0))
    if kind < len(kinds):
        return kinds[kind]
    inner = [noise(random, depth + 1) for _ in range(random.integers(0, 4))]
    return inner if kind == len(kinds) else {f"k{i}": one for i, one in enumerate(inner)}


def records(random, rows):
    """Lines, and {name: samples}"""
    lines, samples = [], {"x": [], "a.b": [], "ä": []}
    for row in range(rows):
        record = {"noise": noise(random), "a": {"more": noise(random)}}
        for name, place, key in (("x", record, "x"), ("a.b", record["a"], "b"), ("ä", record, "ä")):
            written, sample = value(random)
            if row == 0 or random.random() < 0.9:
                place[key] = written
            else:
                sample = np.nan
            samples[name].append(sample)
        keys = list(record)
        random.shuffle(keys)
        lines.append(json.dumps({key: record[key] for key in keys}, ensure_ascii=bool(random.integers(0, 2)),
                                separators=[(",", ":"), (", ", ": ")][random.integers(0, 2)]))
        if random.random() < 0.02:
            lines.append("  ")
    return lines, {name: np.array(column, float) for name, column in samples.items()}


def check_random(folder, random):
    lines, samples = records(random, 6000)
    for name, text in (("lf", "\n".join(lines)), ("crlf", "\r\n".join(lines) + "\r\n"), ("bom", "\ufeff" + "\n".join(lines))):
        path = folder / f"{name}.jsonl"
        path.write_bytes(text.encode())
        for column in samples:
            same(path, samples[column], "-c", column)
    packed = folder / "lf.jsonl.gz"
    packed.write_bytes(gzip.compress((folder / "lf.jsonl").read_bytes(), 1))
    for threads in (1, 3):
        same(packed, samples["a.b"], "-c", "a.b", "-j", threads)
        same(folder / "lf.jsonl", samples["x"][1000:4567], "-c", "x", "--rows", "1000:4567", "-j", threads)
    with open(folder / "lf.jsonl", "rb") as file, subprocess.Popen("cat", stdin=file, stdout=subprocess.PIPE) as pipe:
        same("-", samples["x"], "-c", "x", stdin=pipe.stdout)
    joint = counted(folder / "lf.jsonl", "-c", "x,a.b", "--bins", "7,9", "--range", -100, 100, "--range", -50, 50)
    there = ~np.isnan(samples["x"]) & ~np.isnan(samples["a.b"])
    wanted = np.histogram2d(samples["x"][there], samples["a.b"][there], (7, 9), ((-100, 100), (-50, 50)))[0]
    check(joint["counts"] == wanted.ravel().tolist(), "joint differs")


def check_parts(folder, random):
    """Many blocks, and lines longer than one."""
    numbers = random.integers(-100, 100, 60_000)
    lines = [f'{{"t":"{"x" * (n % 40)}","n":{n}}}' for n in numbers]
    lines[30_000] = f'{{"t":"{"long" * 1_500_000}","n":{numbers[30_000]}}}'
    path = folder / "long.jsonl"
    path.write_text("\n".join(lines) + "\n")
    for threads in (1, 4):
        same(path, numbers.astype(float), "-c", "n", "-j", threads)
    # Without a range it is read twice.
    check(counted(path, "-c", "n", "--bins", 1)["counts"] == [len(numbers)], "two passes differ")
    lines[50_000] = '{"n": 1'
    path.write_text("\n".join(lines))
    for threads in (1, 4):
        done = run(path, "-c", "n", "-j", threads)
        check(done.returncode == 1 and ":50001:8: the line ends" in done.stderr, done.stderr)


def check_once(folder, random):
    """Without a range the values are kept: the same counts by any threads, rows and pipe, and the file is read once."""
    numbers = random.integers(-1000, 1000, 200_000).astype(float)
    path = folder / "kept.jsonl"
    path.write_text("".join(f'{{"n":{n:g},"m":{i}}}\n' for i, n in enumerate(numbers)))
    for first, last, more in ((0, len(numbers), ()), (0, len(numbers), ("-j", 3)), (1000, 70_001, ("--rows", "1000:70001"))):
        want = np.histogram(numbers[first:last], 12)[0].tolist()
        check(counted(path, "-c", "n", "-b", 12, *more)["counts"] == want, "kept", more)
    with open(path, "rb") as file, subprocess.Popen("cat", stdin=file, stdout=subprocess.PIPE) as pipe:
        check(counted("-", "-c", "n", "-b", 12, stdin=pipe.stdout)["counts"] == np.histogram(numbers, 12)[0].tolist(), "pipe")
    joint = counted(path, "-c", "n,m", "--bins", "4,5")
    check(joint["counts"] == np.histogram2d(numbers, np.arange(len(numbers)), (4, 5))[0].ravel().tolist(), "kept, joint")
    # the shell's count of what it and its children have read
    done = subprocess.run(["sh", "-c", f'"$0" "$@" >/dev/null && cat /proc/$$/io', TALLY, path, "-c", "n", "-b", "12"],
                          capture_output=True, text=True)
    read = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("rchar")]
    size = path.stat().st_size
    check(not read or read[0] < size * 1.5 + 1_000_000, "read more than once:", read, size)


def check_words(folder, random):
    """Strings are counted as Python reads them; a column is of words if its first values are no numbers."""
    path = folder / "words.jsonl"
    pool = ["oak", 'a "b"', "\\", "ü", "\u2028", "x,y", "NA", "", None, "true"]
    values = ["oak"] + [pool[i] for i in random.integers(0, len(pool), 5000)] + [7, 1.5, True]
    path.write_text("\n".join(json.dumps({"w": value, "o": {"w": value}, "n": 1, "s": "5"},
                                         ensure_ascii=bool(random.integers(0, 2))) for value in values))
    gone = ("", "NA", None)
    kept = [value if isinstance(value, str) else json.dumps(value) for value in values if value not in gone]
    want = {word: kept.count(word) for word in kept}
    for arguments in (("-c", "w"), ("-c", "o.w", "-j", 3), ("-c", "1", "--categories"), ("-c", "w", "--rows", "0:9999")):
        done = run(path, *arguments, "-f", "json")
        if "--rows" in arguments:
            check(done.returncode == 1 and "are asked for" in done.stderr, done.stderr)
            continue
        check(done.returncode == 0, arguments, done.stderr)
        result = json.loads(done.stdout or '{"axes": [{"labels": []}], "histograms": [{"counts": [], "nan": 0}]}')
        check(dict(zip(result["axes"][0]["labels"], result["histograms"][0]["counts"])) == want and
              result["histograms"][0]["nan"] == len(values) - len(kept), arguments, result)
    done = run(path, "-f", "json")
    types = [column["type"] for column in json.loads(done.stdout)["columns"]] if done.returncode == 0 else done.stderr
    check(types == ["words", "words", "integer", "integer"], types)
    done = run(path, "-c", "w,n", "--bins", 1, "-f", "csv")
    check(done.returncode == 0, "words and numbers together", done.stderr)
    path.write_text('{"w": "a"}\n{"w": tru}\n')
    check(":2:7: expected a number, found tru" in run(path, "-c", "w").stderr, "no word without quotes")
    for escape in ("\\q", "\\u0000"):
        path.write_text('{"w": "a"}\n{"w": "%s"}\n' % escape)
        check(":2:7: a word with an escape" in run(path, "-c", "w").stderr, escape)
    path.write_text('{"w": "a"}\n{"w": ["b"]}\n')
    check(":2:7: 'w' is an array here" in run(path, "-c", "w").stderr, "array")


def check_booleans(folder):
    """Words where nothing but them is first, else and where numbers are asked for 1 and 0."""
    path = folder / "booleans.jsonl"
    path.write_text('{"b": null, "x": 5}\n{"b": true, "x": 1}\n{"b": false, "x": true}\n{"b": true}\n')
    found = counted(path, "-c", "b")
    check((found["counts"], found["nan"]) == ([2, 1], 1), f"booleans {found}")
    found = counted(path, "-c", "b", "--bins", 2, "--range", 0, 1)
    check((found["counts"], found["nan"]) == ([1, 2], 1), f"booleans in bins {found}")
    found = counted(path, "-c", "x", "--bins", 2, "--range", 0, 2)
    check((found["counts"], found["overflow"], found["nan"]) == ([0, 2], 1, 1), f"a boolean among numbers {found}")
    path.write_text('{"b": true}\n{"b": "maybe"}\n{"b": true}\n')
    check(counted(path, "-c", "b")["counts"] == [2, 1], "booleans among words")
    path.write_text('{"b":true,"n":1}\n{"b":null,"n":2}\n{"b":true,"n":3}\n{"b":false,"n":3}\n')
    done = subprocess.run((TALLY, path), capture_output=True, text=True)
    check("2 values: true 66.67%, false 33.33%" in done.stdout, f"booleans at a glance {done.stdout}")


def check_glance(folder, random):
    """All columns in one pass: more of them than are read in one walk, what is of another kind than its column, a pipe."""
    rows = [{f"n{i}": int(random.integers(0, 50)) for i in range(11)} | {"w": f"w{i % 3}", "o": {"d": f"2026-0{i % 9 + 1}-01"}}
            for i in range(5000)]
    rows[700]["n3"], rows[800]["n3"], rows[900]["w"], rows[0]["l"] = "seven", [7], {"x": 1}, [1]
    for i in range(0, 5000, 7):
        rows[i]["n9"] = None
    rows[1].pop("n10")
    path = folder / "wide.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = run(path, "-f", "json")
    check(whole.returncode == 0, whole.stderr)
    with open(path, "rb") as file, subprocess.Popen("cat", stdin=file, stdout=subprocess.PIPE) as pipe:
        piped = run("-", "-f", "json", "-j", 3, stdin=pipe.stdout)
    columns = {c["name"]: c for c in json.loads(whole.stdout or '{"columns": []}')["columns"]}
    check(piped.stdout.replace("standard input", str(path)) == whole.stdout, "a pipe's glance", piped.stderr)
    check(list(columns) == [f"n{i}" for i in range(11)] + ["w", "o.d", "l"], list(columns))
    for name, column in columns.items():
        if name[0] != "n":
            continue
        values = sorted(row[name] for row in rows if isinstance(row.get(name), int))
        check((column["min"], column["max"], column["median"]) == (values[0], values[-1], values[(len(values) + 1) // 2 - 1]) and
              column["missing"] + column["not_numbers"] == 5000 - len(values), column)
    check(columns["n3"]["not_numbers"] == 2 and columns["l"]["not_numbers"] == 1 and columns["l"]["missing"] == 4999, columns)
    check(columns["w"]["different"] == 3 and columns["o.d"]["type"] == "time", columns["w"], columns["o.d"])


def check_unlike(folder):
    """Lines that have other keys than the first, an object where others have a number, and words that are digits."""
    path = pathlib.Path(folder, "unlike.jsonl")
    path.write_text('{"a":1}\n{"a":{"b":2},"w":"12"}\n{"w":"x","n":"7"}\n{"a":{"b":5},"w":"12","n":"8"}\n')
    done = run(path, "-f", "json")
    columns = {c["name"]: c for c in json.loads(done.stdout)["columns"]} if done.returncode == 0 else {}
    check(list(columns) == ["a", "a.b", "w", "n"], done.stdout, done.stderr)
    for name, wanted in (("a", {"min": 1, "missing": 1, "not_numbers": 2}), ("a.b", {"min": 2, "max": 5, "missing": 2}),
                         ("w", {"type": "words", "top": [["12", 2], ["x", 1]]}), ("n", {"min": 7, "max": 8, "missing": 2})):
        check(wanted.items() <= columns.get(name, {}).items(), name, columns)
    check(counted(path, "-c", "w")["counts"] == [2, 1], "digits among words")


def check_refused(folder):
    path = folder / "bad.jsonl"

    def refused(words, text, *arguments, code=1):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = run(path, *arguments, "--bins", 3)
        check(done.returncode == code and words in done.stderr and not done.stdout, text, words, done.stderr)

    good = '{"x": 1, "y": {"z": 2}, "t": "word", "l": [1]}\n'
    refused("no column '5'", good, "-c", "5")
    refused("4 columns (x, y.z, t, l)", good)
    refused("no line has a value called 'w'", good, "-c", "w")
    refused(':1:30: expected a number, found "word"', good, "-c", "t")
    refused("'y' is an object here", good, "-c", "y")
    refused("'l' is an array here", good, "-c", "l")
    refused("a region of columns", good, "-c", "x", "--cols", "1:2")
    refused("a delimiter", good, "-c", "x", "--delimiter", ",")
    for words, line in (("2:8: the line ends", '{"x": 1'), ("2:9: the line ends", '{"x": "a'), ("2:2: expected a key", '{x: 1}'),
                        ("2:6: expected ':'", '{"x" 1}'), ("2:9: expected ','", '{"y": 1 "x": 2}'), ("2:1: expected an object", "[1]"),
                        ("2:10: more follows", '{"x": 1} {"x": 2}'), ("2:7: expected a number, found tru", '{"x": tru}'),
                        ("2:7: expected a number", '{"x": 1e}'), ("2:7: expected a number", '{"x": }'),
                        ("2:2: a key with an escape", '{"\\q": 1}'), ("2:7: expected a value", '{"y": ,"x": 1}'),
                        ("2:9: expected a key", '{"x": 1,}')):
        refused(words, '{"x": 1}\n' + line + "\n", "-c", "x")
    refused("are asked for", '{"x": 1}\n', "--rows", "0:2")
    refused("no values with names", "{}\n{}\n")
    path.write_text('{"x": 1}\n{"x": "gone"}\n{"x": "N/A"}\n{"x": -9}\n{"x": NaN}\n{"x": 2, "x": 3}')
    check(counted(path, "--na", "gone,-9", "--bins", 3, "--range", 0, 3)["nan"] == 4, "words for missing")
    check(counted(path, "-c", "1", "--na", "gone", "--bins", 4, "--range", 0, 4)["counts"] == [0, 1, 0, 1], "by number")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20261122
    print("seed", seed)
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_random(folder, random)
        check_parts(folder, random)
        check_once(folder, random)
        check_words(folder, random)
        check_booleans(folder)
        check_glance(folder, random)
        check_unlike(folder)
        check_refused(folder)
    print(checks.failures, "failures")
    return checks.failures != 0


if __name__ == "__main__":
    sys.exit(main())
