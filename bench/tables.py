#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the recorded measurements into docs/.

    bench/tables.py [--check]      all tables
    bench/tables.py --show NAME    one, to standard output

What stands between `<!-- table:NAME -->` (figure:NAME) and `<!-- end -->` is made anew from the lines in
bench/results by the tables_*.py here. --check changes nothing and fails if something would change.
"""

import sys

import lines
import tables_cpu
import tables_figures
import tables_files
import tables_gpu
import tables_methods
import tables_python
import tables_scale

PAGES = [f"docs/{name}.md" for name in (
    "FIGURES", "METHODS", "PERFORMANCE", "PERFORMANCE_GPU", "PYTHON", "SCALE")]


def main(arguments):
    makers = {}
    for of in (tables_cpu, tables_figures, tables_files, tables_gpu, tables_methods, tables_python,
               tables_scale):
        makers.update(of.makers())
    if len(arguments) == 2 and arguments[0] == "--show":
        found = [name for name in makers if arguments[1] in (name, name.partition(":")[2])]
        if not found:
            sys.exit(f"tables.py: no table {arguments[1]}; there are: {' '.join(sorted(makers))}")
        print("\n".join(makers[name]() for name in found))
        return 0
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    return lines.fill(PAGES, makers, arguments == ["--check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
