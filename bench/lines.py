# SPDX-License-Identifier: Apache-2.0
"""What the scripts here share: recorded lines, tables in Markdown, and pages whose tables are made from lines."""

import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results")


# What methods were called when older lines were recorded.
RENAMED = {"spill16": "packed16", "routed": "partitioned", "routed-columns": "partitioned-columns"}


def read(path):
    """The lines of a file, methods by today's names; a name without a folder is one of bench/results."""
    with open(os.path.join(RESULTS, path), encoding="utf-8") as lines:
        return [renamed(json.loads(line)) for line in lines]


def renamed(line):
    for key in ("method", "call", "by", "way"):
        name, _, settings = str(line.get(key, "")).partition(":")
        if name in RENAMED:
            line[key] = RENAMED[name] + (":" + settings if settings else "")
    return line


def recorded(pattern):
    """The files of bench/results whose whole name matches, oldest first."""
    return sorted(path for path in glob.glob(os.path.join(RESULTS, "*.jsonl"))
                  if re.fullmatch(pattern, os.path.basename(path)))


def newest(pattern):
    paths = recorded(pattern)
    if not paths:
        sys.exit(f"{os.path.basename(sys.argv[0])}: no file of bench/results is called {pattern}")
    return paths[-1]


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def thousands(number, space=" "):
    return f"{number:,}".replace(",", space)


def bins(number):
    """A number of bins; whole multiples of 2^20 as Mi."""
    return f"{number >> 20} Mi" if number and number % (1 << 20) == 0 else thousands(number)


def fill(names, makers, check):
    """Puts makers[NAME]() between `<!-- NAME -->` and `<!-- end -->` of the pages. With `check` nothing is written. 1 if a page was to change under `check`, else 0."""
    stale = 0
    made = {}

    def new(match):
        if match[2] not in makers:
            sys.exit(f"{name}: nothing makes {match[2]}")
        if match[2] not in made:
            made[match[2]] = makers[match[2]]()
        return f"{match[1]}{made[match[2]]}\n{match[3]}"

    for name in names:
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as page:
            old = page.read()
        text = re.sub(r"(<!-- ([\w:-]+) -->\n).*?(<!-- end -->)", new, old, flags=re.S)
        if text == old:
            continue
        if check:
            print(f"{name} is out of date: run bench/{os.path.basename(sys.argv[0])}", file=sys.stderr)
            stale = 1
            continue
        with open(path, "w", encoding="utf-8") as page:
            page.write(text)
        print(name)
    return stale
