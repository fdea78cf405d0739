#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts other libraries into the lines of the figure `today`.

    bench/add_peers.py LINES.jsonl PEERS.jsonl…

LINES is what `tally-bench --figure today -o DIR` wrote; PEERS what `bench/gpu.sh peers` did: a head that says the device
and how fast it reads, then measurements. Those of other libraries on the same device, with right counts, of 8-bit
samples in 256 bins and at least 128 MiB, are added to LINES, which is replaced when it is whole; the first line of
`today` gets the speed of reading. Lines of other libraries that were there go.
"""

import json
import os
import sys

import lines

OTHERS = "other libraries"


def is_wanted(line):
    return (line.get("by", "Tally").lower() != "tally" and line.get("part", "peers") == "peers"
            and line.get("dtype") == "u8" and line.get("bins") == 256 and line.get("n", 0) >= 1 << 27
            and (line.get("verified") or line.get("same")))


def main(paths):
    if len(paths) < 2:
        sys.exit(__doc__)
    found = [line for line in lines.read(os.path.abspath(paths[0])) if line["series"] != OTHERS]
    today = [line for line in found if line["figure"] == "today"]
    if not today:
        sys.exit(f"add_peers.py: {paths[0]}: no line of the figure today")
    added = []
    for path in paths[1:]:
        device = ""
        for line in lines.read(os.path.abspath(path)):
            if "header" in line:
                device = line["name"]
                if device == today[0]["name"]:
                    today[0]["read_gbps"] = line["read_gbps"]
                else:
                    print(f"left out: {path}: peers on {device}, not on {today[0]['name']}", file=sys.stderr)
            elif device == today[0]["name"] and is_wanted(line):
                added.append(dict(line, figure="today", series=OTHERS, label=f"{line['by']} {line['call']}",
                                  verified=True))
    at = found.index(today[-1]) + 1
    part = paths[0] + ".part"
    with open(part, "w", encoding="utf-8") as to:
        for line in found[:at] + added + found[at:]:
            to.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    os.replace(part, paths[0])
    print(f"{paths[0]}: {len(added)} lines of other libraries")


if __name__ == "__main__":
    main(sys.argv[1:])
