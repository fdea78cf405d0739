#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long C and Python may be: no file above 600 lines but tables, no function of C above 80. Kernels:
scripts/check_kernels.py."""
import pathlib
import subprocess
import sys

from check_kernels import functions

FILE, FUNCTION = 600, 80
FOLDERS = ("bench", "cli", "common", "include", "io", "python", "src", "tools")
ENDINGS = (".c", ".h", ".hpp")
PYTHON = (".py", ".pyi")


def main():
    failed = False
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in sorted(listed):
        path = pathlib.Path(name)
        counted = name.endswith(ENDINGS) and path.parts[0] in FOLDERS and not name.endswith("_table.c")
        if not (counted or name.endswith(PYTHON)) or not path.is_file() or "kernels" in path.parts:
            continue
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "SPDX-License" not in line]
        if len(lines) > FILE:
            print(f"{name}: {len(lines)} lines; {FILE} is the most, split it")
            failed = True
        for function, length in functions(lines) if counted else ():
            if length > FUNCTION:
                print(f"{name}: {function}: {length} lines; {FUNCTION} is the most")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
