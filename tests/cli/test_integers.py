# SPDX-License-Identifier: Apache-2.0
"""Columns of 64-bit integers in text and JSON lines are counted exactly; others say that they were rounded.

test_integers.py [seed]
"""

import gzip
import json
import os
import random
import struct
import subprocess

from checks import TALLY, check, run_all

PATH = "t.csv"  # and then t.jsonl
ROUNDED = "integers beyond 2^53 were rounded"


def run(*arguments, code=0, says="", text=None):
    done = subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True, input=text)
    check(done.returncode == code and says in done.stderr, arguments, done.returncode, done.stderr)
    check(says == ROUNDED or ROUNDED not in done.stderr, arguments, done.stderr)
    return done.stdout


def saved(*arguments, **how):
    text = run(*arguments, "-f", "json", **how)
    return json.loads(text) if text else {}


def table(ids, quoted=0.1):
    with open(PATH, "w") as out:
        if PATH == "t.jsonl":
            for i, one in enumerate(ids):
                text = f'"{one}"' if one == "x" or random.random() < quoted else one if one != "" else "null"
                out.write(f'{{"x": {i}}}\n' if one == "" and random.random() < 0.5 else f'{{"id": {text}, "x": {i}}}\n')
            return
        out.write("id,x\n")
        for i, one in enumerate(ids):
            text = f"+{one}" if isinstance(one, int) and one >= 0 and random.random() < 0.1 else str(one)
            out.write(f'"{text}",{i}\n' if random.random() < quoted else f"{text},{i}\n")


def npy(path, shape, numbers):
    header = str({"descr": "<i8", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\1\0\x76\0" + header.encode() + b"".join(struct.pack("<q", one) for one in numbers))


def fits(path, cards, records):
    """Headers, a list of cards each, and the last one's data."""
    with open(path, "wb") as out:
        for header in cards:
            out.write("".join(f"{card:80}" for card in [*header, "END"]).encode().ljust(-(-80 * (len(header) + 1) // 2880) * 2880))
        out.write(records.ljust(-(-len(records) // 2880) * 2880, b"\0"))


def exact(ids, axis):
    """By Python's comparisons of integers with floats, which are exact."""
    edges, counts = axis["edges"], [0] * axis["bins"]
    for one in ids:
        i = sum(one >= edge for edge in edges) - 1
        counts[min(i, len(counts) - 1)] += 1
    return counts


def same(path, ids, dtype, *how):
    for options in ((), ("-j", 1), ("-j", 3)):
        got = saved(path, "-c", "id", "-b", 8, *how, *options)
        check(got["dtype"] == dtype, path, how, got["dtype"], dtype)
        check(got["histograms"][0]["counts"] == exact(ids, got["axes"][0]), path, how, options)


def test_exact():
    """float64 has every other integer from 2^53 on: an edge at 2^53 + 2 tells those on its two sides apart."""
    for centre, least, dtype in ((2**53, -2**63, "i64"), (-2**53, -2**63, "i64"), (2**63 - 3000, -2**63, "i64"),
                                 (2**63, 0, "u64"), (2**64 - 2**10, 0, "u64"), (-2**63 + 2**10, -2**63, "i64"))[::1 if PATH == "t.csv" else 3]:
        most = 2**63 - 1 if dtype == "i64" else 2**64 - 1
        reach = 1000 if abs(centre) == 2**53 else 2**21
        ids = [max(least, min(most, centre + random.randrange(-reach, reach))) for _ in range(3000)]
        if dtype == "u64":
            ids[random.randrange(3000)] = most
        ids[0] = max(ids[0], 2**53 + 1) if centre > 0 else min(ids[0], -2**53 - 1)
        table(ids)
        same(PATH, ids, dtype)
        low, high = float(centre - 2**14), float(centre + 2**14)
        if low < high and least <= centre - 2**14 and centre + 2**14 <= most:
            inside = [i for i in ids if low <= i <= high]
            got = saved(PATH, "-c", "id", "-b", 2, "--range", repr(low), repr(high))
            check(got["histograms"][0]["counts"] == exact(inside, got["axes"][0]), centre, "with a range")
        column = saved(PATH)["columns"][0]
        ordered = sorted(ids)
        check((column["min"], column["max"]) == (ordered[0], ordered[-1]) and column["type"] == "integer", column)
        quartiles = [ordered[-(-len(ids) * q // 4) - 1] for q in (1, 2, 3)]
        spread = max(1, max(abs(i - ids[0]) for i in quartiles) // 1000)
        for got, want in zip((column["q1"], column["median"], column["q3"]), quartiles):
            check(abs(got - want) <= spread and (got == want or not column["quartiles_exact"]), column, quartiles)


def test_one_apart():
    """Neighbours that float64 does not tell apart."""
    table([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3])
    got = saved(PATH, "-c", "id", "--edges", f"{2**53},{2**53 + 2},{2**53 + 4}")
    check(got["histograms"][0]["counts"] == [2, 2], got["histograms"])
    rows = run(PATH, "-c", "id", "--categories", "-f", "csv").splitlines()[1:]
    check(sorted(row.replace("'+", "") for row in rows) == [f"id,{2**53 + i},1" for i in range(4)], rows)
    table([2**53 + 1] * 100 + [2**53 - 1])
    column = saved(PATH)["columns"][0]
    check([column[k] for k in ("min", "q1", "median", "max")] == [2**53 - 1] + [2**53 + 1] * 3, column)


def test_kept():
    """From files, gzip and pipes, in memory; several passes see the same."""
    ids = [random.randrange(2**60, 2**60 + 10**6) for _ in range(20000)]
    table(ids)
    text = open(PATH).read()
    with gzip.open(PATH + ".gz", "wt") as out:
        out.write(text)
    same(PATH, ids, "i64")
    same(PATH + ".gz", ids, "i64")
    got = saved("-", "-c", "id", "-b", 5, text=text)
    check(got["histograms"][0]["counts"] == exact(ids, got["axes"][0]) and got["dtype"] == "i64", "a pipe")
    got = saved(PATH, "-c", "id", "-b", 5, "--rows", "100:200")
    check(got["histograms"][0]["counts"] == exact(ids[100:200], got["axes"][0]), "rows")
    got = saved(PATH, "-c", "id", "-b", "auto", "--verify")
    check(sum(got["histograms"][0]["counts"]) == len(ids), "auto")


def test_narrow():
    """Values that lie closer than the bins of a rule can be are counted in fewer."""
    for ids in ([2**60 + i for i in range(500)], [-(2**53) - 2 * i for i in range(500)], [1 + 2**-52 * i for i in range(300)]):
        table([repr(one) for one in ids])
        for how in ((), ("-b", "auto"), ("-b", "sqrt", "-j", 1), ("-c", "id,x")):
            got = saved(PATH, "-c", "id", *how, says=ROUNDED if how[:1] == ("-c",) and ids[0] == 2**60 else "")
            one, axis = got["histograms"][0], got["axes"][0]
            check(sum(one["counts"]) == len(ids) and axis["bins"] > 1, how, got)
            check(len(got["axes"]) > 1 or one["counts"] == exact(ids, axis), how, got)
    table([2**60 + i for i in range(500)])
    run(PATH, "-c", "id", "-b", 50, code=1, says=PATH + ": axis 0: 50 bins between 1.152921504606847e+18 and ")


def test_missing():
    """Missing values are counted as NaN beside integers that are exact; the first record may be one."""
    for centre, dtype in ((2**53, "i64"), (-2**53, "i64"), (2**63, "u64")):
        reach = 1000 if dtype == "i64" else 2**21
        ids = [centre + random.randrange(-reach, reach) for _ in range(3000)]
        ids[1] = 2**53 + 1 if dtype == "i64" else 2**63 + 1
        gaps = [random.choice(["", "NA", "nan", "-"]) if random.random() < 0.2 and i != 1 else one for i, one in enumerate(ids)]
        if PATH == "t.jsonl":
            gaps = ["" if isinstance(one, str) else one for one in gaps]
        there = [one for one in gaps if isinstance(one, int)]
        table(gaps)
        text = open(PATH).read()
        for path, options, how in ((PATH, (), {}), (PATH, ("-j", 1), {}), (PATH, ("-j", 3), {}), ("-", (), {"text": text}),
                                   (PATH, ("--rows", "0:3000", "--verify"), {})):
            got = saved(path, "-c", "id", "-b", 8, *options, **how)
            one = got["histograms"][0]
            check(got["dtype"] == dtype and one["counts"] == exact(there, got["axes"][0]), path, options, one)
            check((one["nan"], one["masked"]) == (len(gaps) - len(there), 0), path, options, one)
        edges = [float(centre - 2048), float(centre), float(centre + (4 if dtype == "i64" else 2**12))]
        low = [one for one in there if edges[0] <= one <= edges[-1]]
        one = saved(PATH, "-c", "id", "--edges", ",".join(map(repr, edges)))["histograms"][0]
        check(one["counts"] == exact(low, {"edges": edges, "bins": 2}), "edges", one)
        answer = json.loads(run("quantiles", PATH, "-c", "id", "--quantiles", "0,1", "-f", "json"))[0]
        check((answer["samples"], answer["missing"]) == (len(there), len(gaps) - len(there)), answer)
        if PATH == "t.csv":
            table([str(one) for one in gaps])  # without a sign before them
            gone = [one for one in there if one != there[5]]
            got = saved(PATH, "-c", "id", "-b", 3, "--na", str(there[5]))
            check(got["histograms"][0]["counts"] == exact(gone, got["axes"][0]), "--na")
    two = [(2**60 + random.randrange(4000) if random.random() < 0.8 else "", 2**61 + random.randrange(4000) if i % 3 else "")
           for i in range(2000)]  # fmt: skip
    two[0] = 2**60 + 1, 2**61 + 1
    with open("two.csv", "w") as out:
        out.write("a,b\n" + "".join(f"{a},{b}\n" for a, b in two))
    got = saved("two.csv", "-c", "a,b", "-b", 1)
    both = sum(a != "" != b for a, b in two)
    one = got["histograms"][0]
    check((got["dtype"], one["counts"], one["nan"]) == ("i64", [both], 2000 - both), "two columns", one)


def test_rounded():
    big = [2**60 + 1 + 10**6 * i for i in range(300)]
    how = ("-c", "id", "-b", 3)
    table(big + [0.5])
    check(saved(PATH, *how, says=ROUNDED)["dtype"] == "f64", "with a fraction")
    table(big + [2**64])
    check(saved(PATH, *how, says=ROUNDED)["dtype"] == "f64", "past 2^64")
    table(big + [-1, 2**63])
    check(saved(PATH, *how, says=ROUNDED)["dtype"] == "f64", "of both signs")
    late = list(range(200)) + big
    table(late)
    same(PATH, late, "i64")
    got = saved(PATH, *how, "--range", 0, 2**62, "--verify")
    check(got["dtype"] == "i64" and got["histograms"][0]["counts"] == exact(late, got["axes"][0]), "late, with a range")
    text = open(PATH).read()
    check(saved("-", *how, says=ROUNDED, text=text)["dtype"] == "f64", "late, of a pipe")
    with open(PATH) as file:
        done = subprocess.run((TALLY, "-", *map(str, how), "-f", "json"), stdin=file, capture_output=True, text=True)
    check(ROUNDED in done.stderr and json.loads(done.stdout)["dtype"] == "f64", "late, of standard input", done)
    check(saved(PATH, *how, "-w", ":x", says=ROUNDED)["dtype"] == "f64", "late, with weights")
    with open("late.csv", "w") as out:
        out.write("a,b\n" + "".join(f"{one},{one / 2}\n" for one in late))
    got = json.loads(run("late.csv", "-c", "a,b", "--separate", "-b", 8, "-f", "json"))
    check([one["dtype"] for one in got] == ["i64", "f64"], "late, beside another", got)
    check(got[0]["histograms"][0]["counts"] == exact(late, got[0]["axes"][0]), "late, beside another")
    table(late + [""])
    got = saved(PATH, *how)
    check((got["dtype"], got["histograms"][0]["nan"]) == ("i64", 1), "late, one missing")
    table(late + [0.5])
    check(saved(PATH, *how, says=ROUNDED)["dtype"] == "f64", "late, with a fraction")
    table(big)
    saved(PATH, "-c", "id,x", "-b", 3, says=ROUNDED)
    saved("-", *how, "--range", 0, 2**62, says=ROUNDED, text=open(PATH).read())
    table(big + ["", -(2**63)])  # no bits are left for what is missing
    check(saved(PATH, *how, says=ROUNDED)["histograms"][0]["nan"] == 1, "and the least one")
    table(big + [""])
    check(saved(PATH, "-c", "id", "-b", 3, "--of", "x", says=ROUNDED)["dtype"] == "f64", "with values")
    table([2**60 + 2**20 * i for i in range(300)] + [0.5])
    saved(PATH, *how)  # all are exact
    table(["1e18", "12345678901234567890.5"])
    saved(PATH, *how)
    columns = saved(PATH)["columns"]
    check(columns[0]["type"] == "integer" and columns[0]["max"] == 12345678901234567890.5, columns)
    table(big + ["x"])
    run(PATH, *how, code=1, says=":302:1: expected a number, found 'x'" if PATH == "t.csv" else ':301:8: expected a number, found "x"')
    check(saved(PATH, says=ROUNDED)["columns"][0]["not_numbers"] == 1, "not a number in the glance")
    table(big)
    run(PATH, "-c", "id", "--integer", code=1, says="bins for single integers stop at 2^53; --categories counts each value")
    for sign in (1, -1):  # a bin each, up to there
        edge = [sign * (2**53 - 1 - i) for i in range(40)] + ([-(2**53)] if sign < 0 else [])
        for ids in (edge, edge + [""] * 7):
            table(ids)
            for how in ((), ("--range", min(edge), max(edge))):
                got = saved(PATH, "-c", "id", "--integer", *how)
                check(got["histograms"][0]["counts"] == [1] * len(edge) and got["axes"][0]["first"] == min(edge), got)
    run(PATH, "-c", "id", "--integer", "--range", 2**53 - 2, 2**53, code=2, says="below 2^53")


def test_several():
    """Of several files the first says whether they are counted as integers; then all are, or are refused."""
    big = [2**53 + random.randrange(-1000, 1000) for _ in range(2000)] + [2**53 + 1]
    ids = {"first": big, "next": [2**53 + random.randrange(-9, 9) for _ in range(150)] + big, "low": [5, -7, ""], "half": [0.5], "most": [2**64 - 1]}
    for name, numbers in ids.items():
        table(sorted(numbers, reverse=True) if name == "first" else numbers)
        os.rename(PATH, name + PATH[1:])
    first, after, low, half, most = (name + PATH[1:] for name in ids)
    how = ("-c", "id", "--edges", f"-10,10,{2**53 - 2},{2**53},{2**53 + 2},{2**53 + 400}")
    for files in ((first, after), (first, low, after, low), (first, *[low, after] * 20)):
        numbers = [one for path in files for one in ids[path.split(".")[0]]]
        there = [one for one in numbers if one != ""]
        for options in ((), ("-j", 1), ("--verify",)):
            got = saved(*files, *how, *options)
            want = exact([one for one in there if one <= 2**53 + 400], got["axes"][0])
            one = got["histograms"][0]
            check((got["dtype"], one["counts"], one["nan"]) == ("i64", want, len(numbers) - len(there)), files, one)
    run(first, half, *how, code=1, says=f"{half}: not all its values are 64-bit integers, as in {first}")
    run(first, most, *how, code=1, says=f"{most}: 1 channel(s) of u64, but {first} has 1 of i64")
    check(saved(low, first, *how, says=ROUNDED)["dtype"] == "f64", "small ones first")


def test_noted():
    """What is of float64 in any case says so where integers were rounded, and not where none was."""
    small, big = list(range(150)), [2**60 + 1 + 10**6 * i for i in range(150)]
    for ids, rounded in ((small + big, True), (small, False), (big, False), ([2**60 + 1, 0.5], True), ([2**60, 0.5], False)):
        table(ids)
        saved(PATH, says=ROUNDED if rounded else "")
    npy("three.npy", (150, 3), (n for i, one in enumerate(big) for n in (one, 2**53 + 1, i)))
    noted = "three.npy: statistics of 2 are of float64, to which integers beyond 2^53 are rounded"
    for how in (("-b", 2), ("--edges", f"0,{2**59}")):  # all are in the bins, then none
        check(saved("three.npy", "-c", "1", *how, "--of", "3,2", says=noted)["dtype"] == "i64", "--of")
    silent = subprocess.run((TALLY, "three.npy", "-c", "1", "--of", "3"), capture_output=True, text=True)
    check(silent.returncode == 0 and not silent.stderr, silent)
    for least, noted in ((2**53 + 1, "quantiles are float64, to which integers beyond 2^53 are rounded"), (2**52, "")):
        npy("q.npy", (3,), (-5, least, 0))
        for how in (("quantiles", "q.npy"), ("q.npy", "-b", 2)):
            done = subprocess.run((TALLY, *map(str, how), "--quantiles", "0,1"), capture_output=True, text=True)
            check(done.returncode == 0 and (noted in done.stderr if noted else not done.stderr), how, done)
        check(str(int(float(least))) in run("quantiles", "q.npy"), "all digits in the table")
    for most in (2**53 + 3, 2**63 + 1):
        table([most, 1])
        check(run(PATH).splitlines()[4].split()[:4] == ["id", "integer", "0", "1"], run(PATH))
    with open("x.txt", "w") as out:
        out.write("1\n1\n1\n")
    for other, total in (("1", 2**53 + 2), ("0.5", None), ("NA", None)):
        with open("w.txt", "w") as out:
            out.write(f"1\n{2**53 + 1}\n{other}\n")
        says = "" if total else "w.txt: weights beyond 2^53 were rounded to float64"
        got = saved("x.txt", "-b", 1, "--range", 0, 2, "-w", "w.txt", says=says)
        check(total is None or got["histograms"][0]["counts"] == [total + 1], got)


def test_fits():
    """BLANK and TNULL beside large integers, signed and unsigned; images and their regions, columns."""
    for centre, shift, dtype in ((2**53, 0, "i64"), (-2**53, 0, "i64"), (2**63, 2**63, "u64")):
        reach = 1000 if shift == 0 else 2**21
        ids = [random.choice([centre, centre + random.randrange(-reach, reach)]) for _ in range(1500)]
        blank = ids[random.randrange(1500)]
        stored = b"".join(struct.pack(">q", one - shift) for one in ids)
        fits("i.fits", [["SIMPLE  =                    T", "BITPIX  = 64", "NAXIS   = 2", "NAXIS1  = 50", "NAXIS2  = 30",
                         f"BLANK   = {blank - shift}", f"BZERO   = {shift}"]], stored)  # fmt: skip
        some = [one for i, one in enumerate(ids) if 7 <= i // 50 < 25 and 3 <= i % 50 < 45]
        region = ("--rows", "7:25", "--cols", "3:45")
        for options, numbers in ((("-b", 8), ids), (("-b", 8, "-j", 1), ids), (("-b", "auto"), ids), (("-b", 8, "--verify"), ids),
                                 (("-b", 8, *region), some), (("-b", "auto", *region), some)):  # fmt: skip
            there = [one for one in numbers if one != blank]
            got = saved("i.fits", *options)
            one = got["histograms"][0]
            check((got["dtype"], one["counts"], one["nan"], one["masked"]) ==
                  (dtype, exact(there, got["axes"][0]), len(numbers) - len(there), 0), options, dtype, got)  # fmt: skip
        there = [one for one in ids if one != blank]
        answer = json.loads(run("quantiles", "i.fits", "--quantiles", "0,1", "-f", "json",
                                says="integers beyond 2^53 are rounded"))[0]  # fmt: skip
        check((answer["samples"], answer["missing"]) == (len(there), 1500 - len(there)), answer)
        check(answer["quantiles"][0]["value"] == float(min(there)), answer)
        other = [one if i % 3 else blank for i, one in enumerate(reversed(ids))]
        fits("t.fits", [["SIMPLE  =                    T", "BITPIX  = 8", "NAXIS   = 0"],
                        ["XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 18", "NAXIS2  = 1500", "PCOUNT  = 0",
                         "GCOUNT  = 1", "TFIELDS = 3", "TTYPE1  = 'a'", "TFORM1  = 'K'", f"TZERO1  = {shift}", f"TNULL1  = {blank - shift}",
                         "TTYPE2  = 'i'", "TFORM2  = 'I'", "TTYPE3  = 'b'", "TFORM3  = 'K'", f"TZERO3  = {shift}",
                         f"TNULL3  = {blank - shift}"]],
             b"".join(struct.pack(">qhq", one - shift, i % 9, two - shift) for i, (one, two) in enumerate(zip(ids, other))))  # fmt: skip
        for name, numbers in (("a", ids), ("b", other)):
            there = [one for one in numbers if one != blank]
            for options in (("-b", 8), ("-b", "auto", "-j", 1)):
                got = saved("t.fits", "-c", name, *options)
                one = got["histograms"][0]
                check((got["dtype"], one["counts"], one["nan"]) == (dtype, exact(there, got["axes"][0]), 1500 - len(there)), name, got)
        rows = [pair for pair in zip(ids, other) if blank not in pair]
        low, high = float(centre - 2**14), float(centre + 2**14)
        edges = f"{low!r},{float(centre + (2**11 if shift else 2))!r},{high!r}"
        got = saved("t.fits", "-c", "a,b", "--edges", edges, "--edges", edges)
        axes = got["axes"]
        want = [0] * 4
        out = 0
        for a, b in rows:
            inside = low <= a <= high and low <= b <= high
            out += not inside
            if inside:
                want[2 * exact([a], axes[0]).index(1) + exact([b], axes[1]).index(1)] += 1
        one = got["histograms"][0]
        check((got["dtype"], one["counts"], one["nan"], one["underflow"] + one["overflow"]) == (dtype, want, 1500 - len(rows), out), got)
        rows = run("t.fits", "-c", "a", "--categories", "-f", "csv").splitlines()[1:]
        counts = {row.split(",")[1].strip("'"): int(row.split(",")[2]) for row in rows}
        check(counts == {"nan" if one == blank else str(one): ids.count(one) for one in set(ids)}, "categories", rows[-3:])
        run("t.fits", "-c", "a,i", "-b", "2,2", code=3, says="beyond 2^53")
        run("t.fits", "-c", "a", "-b", 2, "--of", "i", code=3, says="only if none is missing")


def main():
    global PATH
    test_fits()
    for PATH in ("t.csv", "t.jsonl"):
        for test in (test_exact, test_one_apart, test_narrow, test_kept, test_missing, test_rounded, test_several, test_noted):
            test()


if __name__ == "__main__":
    run_all(main)
