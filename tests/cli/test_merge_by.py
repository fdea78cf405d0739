# SPDX-License-Identifier: Apache-2.0
"""Parts of --by, each with groups of its own, merge to what one run over all rows saves; channels, and groups of which nobody
knows which they are, are refused.

test_merge_by.py [seed]
"""

import json
import random
import subprocess

from checks import TALLY, check, run_all

GROUPS = ("US", "DE", "Äpfel", 'a "b"', "(none)", "3 other values", "c,d", "é", "z" * 90, "=1+1", "x y", "\\xff")
HOW = ("-c", "x", "--by", "g", "--range", "0", "10")


def run(*arguments):
    return subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True)


def refused(words, *names):
    done = run("merge", *names, "-o", "refused.json")
    check(done.returncode == 1 and words in done.stderr, "refused", words, done.returncode, done.stderr)


def write(name, rows):
    with open(name, "w", encoding="utf-8") as out:
        out.write("g,x\n")
        for group, x in rows:
            out.write('"{}",{}\n'.format(group.replace('"', '""'), x))


def count(name, rows, *how):
    write("t.csv", rows)
    done = run("t.csv", *HOW, *how, "-q", "-o", name)
    check(done.returncode == 0, name, done.stderr)


def saved(name):
    with open(name, encoding="utf-8") as file:
        result = json.load(file)
    return {key: value for key, value in result.items() if key not in ("run", "source", "sources", "dtype")}


def compare(bins, values):
    """Parts of few rows or many, some without any group; ties among groups are frequent."""
    parts = []
    for _ in range(random.randint(2, 7)):
        some = random.sample(GROUPS, random.randint(1, len(GROUPS)))
        parts.append([(random.choice(some), random.choice(values)) for _ in range(random.choice((1, 3, 30, 400)))])
    parts.insert(random.randrange(len(parts)), [("", 1)])
    count("whole.json", [row for part in parts for row in part], *bins)
    for i, part in enumerate(parts):
        count(f"{i}.json", part, *bins)
    names = [f"{i}.json" for i in range(len(parts))]
    random.shuffle(names)
    done = run("merge", *names, "-o", "merged.json")
    check(done.returncode == 0 and saved("merged.json") == saved("whole.json"), names, done.stderr)
    check(saved("whole.json")["by"] == "g,x", "what the groups are of")
    half = len(names) // 2
    for name, some in (("a.json", names[:half]), ("b.json", names[half:])):
        run("merge", *some, "-o", name)
    done = run("merge", "b.json", "a.json", "-o", "merged.json")
    check(done.returncode == 0 and saved("merged.json") == saved("whole.json"), "merged ones", done.stderr)


def test_parts():
    for _ in range(12):
        compare(("--bins", random.randint(1, 9)), ("", -3, 0, 2.5, 7, 10, 11))
        compare(("--integer",), (0, 3, 10, 12))


def test_no_groups():
    for name in ("0.json", "1.json"):
        count(name, [("", 1)], "--bins", 2)
    done = run("merge", "0.json", "1.json", "-o", "merged.json")
    check(done.returncode == 0 and saved("merged.json") == saved("0.json"), "no groups", done.stderr)


def test_saturating():
    for name, rows in (("a.json", [("u", 1)] * 200 + [("v", 1)]), ("b.json", [("w", 1)] * 50 + [("u", 1)] * 99)):
        count("wide.json", rows, "--bins", 2)
        run("merge", "wide.json", "--counter", "u8sat", "-o", name)
    done = run("merge", "a.json", "b.json", "-o", "m.json")
    found = saved("m.json")
    check([(h["name"], h["counts"]) for h in found["histograms"]] == [("u", [255, 0]), ("w", [50, 0]), ("v", [1, 0])], done.stderr)
    check((found["counter"], found["samples"]) == ("u8sat", 350), "counter and samples", found["samples"])


def test_refused():
    rows = [("a", 1), ("a", 2), ("b", 3), ("c", 4)]
    count("all.json", rows, "--bins", 2)
    count("top.json", rows, "--bins", 2, "--top", 1)
    count("kept.json", rows, "--bins", 2, "--top", 3)
    check(saved("top.json")["others"] == 2 and "others" not in saved("kept.json"), "others")
    refused("the second has several groups in one histogram", "all.json", "top.json")
    refused("the first has several groups in one histogram", "top.json", "all.json")
    refused("merge results that were counted without --top", "top.json", "top.json")
    check(run("merge", "all.json", "kept.json").returncode == 0, "a --top that left nothing out")
    subprocess.run((TALLY, "t.csv", "-c", "x", "--by", "x", "--range", "0", "10", "--bins", "2", "-q", "-o", "other.json"))
    refused('of the columns "g,x" in the first and "x,x" in the second', "all.json", "other.json")
    count("bins.json", rows, "--bins", 3)
    refused("axis 0: 2 bins in the first and 3 in the second", "all.json", "bins.json")


def test_damaged():
    count("all.json", [("a", 1), ("a", 2), ("b", 3)], "--bins", 2)
    count("some.json", [("a", 1)], "--bins", 2)
    whole = saved("all.json")

    def changed(**members):
        with open("changed.json", "w", encoding="utf-8") as out:
            json.dump({**whole, **members}, out)

    for members in ({"by": 3}, {"weights": "f64"}, {"others": -1}):
        changed(**members)
        check(run("show", "changed.json").returncode == 1, members)
    whole["histograms"][1]["name"] = "a"
    changed()
    refused('the first has two groups that are called "a"', "changed.json", "some.json")
    whole["histograms"][1]["counts"] = [2**64 - 2, 0]
    whole["histograms"][1]["name"] = "b"
    del whole["samples"]
    changed()
    count("some.json", [("b", 1), ("b", 1)], "--bins", 2)
    refused("the sum would pass 2^64-1", "changed.json", "some.json")


def test_channels():
    """And what was saved before groups were: only the same names in the same order add up."""
    for name, text in (("rgb.ppm", b"P6 1 1 255\n\1\2\3"), ("grey.pgm", b"P5 1 1 255\n\1")):
        with open(name, "wb") as out:
            out.write(text)
        run(name, "--range", "0", "255", "--bins", "4", "-o", name + ".json")
    refused("only the same channels add up", "rgb.ppm.json", "grey.pgm.json")
    check("by" not in saved("rgb.ppm.json"), "channels are no groups")
    for name, rows in (("a.json", [("u", 1), ("v", 2)]), ("b.json", [("v", 1)]), ("c.json", [("u", 1)] * 3 + [("v", 2)])):
        count(name, rows, "--bins", 2)
        old = saved(name)
        del old["by"]
        with open("old-" + name, "w", encoding="utf-8") as out:
            json.dump(old, out)
    refused("only the same channels add up", "old-a.json", "b.json")
    refused("only the same channels add up", "old-a.json", "old-b.json")
    done = run("merge", "old-a.json", "c.json", "-o", "m.json")
    check([h["counts"] for h in saved("m.json")["histograms"]] == [[4, 0], [2, 0]], done.stderr)


if __name__ == "__main__":
    run_all(test_parts, test_no_groups, test_saturating, test_refused, test_damaged, test_channels)
