#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a folder for OCL_ICD_VENDORS where PoCL compiles in two thirds of the time: of the 18 000 declarations that it reads
before each program, twice, it gets those that our sources call. What is left out fails to compile.

    scripts/short_pocl.py FOLDER    prints the vendors' folder in it, if PoCL is where Debian has it
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
folder = pathlib.Path(sys.argv[1]).resolve()
vendors = pathlib.Path("/etc/OpenCL/vendors")
share = pathlib.Path("/usr/share/pocl")
header = share / "include/opencl-c.h"
library = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/libpocl.so.2"))), None)
if not library or not header.exists() or not (vendors / "pocl.icd").exists():
    sys.exit()


def link(at, to):
    at.parent.mkdir(parents=True, exist_ok=True)
    at.unlink(missing_ok=True)
    at.symlink_to(to)


# PoCL finds its files from where its library was loaded.
own = folder / "usr/lib" / library.parent.name
link(own / library.name, library)
link(own / "pocl", library.parent / "pocl")
for file in [*share.glob("*.bc"), *share.glob("include/*")]:
    link(folder / "usr/share/pocl" / file.relative_to(share), file)

files = subprocess.run(["git", "ls-files", "src", "tests", "docs"], cwd=root, capture_output=True, text=True, check=True).stdout
called = set()
for name in files.split("\n"):
    if re.search(r"\.(cl|h|c|md)$", name) and (root / name).exists():
        called |= set(re.findall(r"\b([a-z]\w+)\s*\(", (root / name).read_text()))
kept = []
for line in header.read_text().split("\n"):
    declared = re.match(r"[a-z].*?\b(\w+)\(.*\);$", line)
    if not declared or declared[1] in called:
        kept.append(line)
short = folder / "usr/share/pocl/include/opencl-c.h"
short.unlink()
short.write_text("\n".join(kept))

icds = folder / "vendors"
icds.mkdir(exist_ok=True)
for file in vendors.glob("*.icd"):
    (icds / file.name).write_text(str(own / library.name) if file.name == "pocl.icd" else file.read_text())
print(icds)
