#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels' measures: no line wider than 100 characters, no file longer than 600 lines, no
function longer than 60; what NAME.cl defines begins with NAME or its first words, but for kernels and for what
a shared header asks of it."""
import pathlib
import re
import sys

WIDTH, FILE, FUNCTION = 100, 600, 60
SHARED = ("dialect", "bin", "cell", "cell_lookup", "place")  # the host compiles them too


def functions(lines):
    """(name, length) of each function: its body is between a { and a } that begin lines."""
    begin = None
    for number, line in enumerate(lines):
        if line == "{":
            first = number
            while first > 0 and lines[first - 1] and lines[first - 1][0] not in "}#*/":
                first -= 1
            head = " ".join(lines[first:number])
            head = re.sub(r"TY_KERNEL(_DENSE)?\([^)]*\)", "", head)
            name = re.search(r"(\w+)\(", head)
            begin = number, name.group(1) if name else "?"
        elif line == "}" and begin:
            yield begin[1], number - begin[0] - 1
            begin = None


def strangers(path, asked):
    """Functions and macros with arguments of a .cl file whose names do not say whose they are."""
    text = path.read_text(encoding="utf-8")
    words = path.stem.split("_")
    own = tuple("_".join(words[:n]) + "_" for n in range(1, len(words) + 1))
    defined = re.findall(r"^TY_FN [\w *]*?(\w+)\(", text, re.M) + re.findall(r"^#define (\w+)\(", text, re.M)
    return sorted({name for name in defined if not name.lower().startswith(own) and name not in asked})


def main():
    failed = False
    headers = pathlib.Path("src/gpu/kernels").rglob("*.h")
    declared = [re.findall(r"^TY_FN [^{;]*?(\w+)\([^{;]*;", h.read_text(encoding="utf-8"), re.M) for h in headers]
    asked = {name for names in declared for name in names}
    paths = [path for path in pathlib.Path("src/gpu/kernels").rglob("*") if path.is_file()]
    paths += [pathlib.Path("src/binning") / (name + ".h") for name in SHARED]
    for path in sorted(paths):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "SPDX-License" not in line]
        for number, line in enumerate(lines, 1):
            if len(line) > WIDTH:
                print(f"{path}:{number}: {len(line)} characters; {WIDTH} is the most")
                failed = True
        for name in strangers(path, asked) if path.suffix == ".cl" else ():
            print(f"{path}: {name}: its name does not begin with {path.stem.split('_')[0]}")
            failed = True
        lengths = [(path.name, len(lines), FILE)]
        lengths += [(f"{path.name}:{name}", length, FUNCTION) for name, length in functions(lines)]
        for name, length, most in lengths:
            if length > most:
                print(f"{path.parent}/{name}: {length} lines; {most} is the most")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
