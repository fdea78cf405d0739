#!/usr/bin/env python3
"""How long C may be: no function above 80 lines, no file above 600 but tables. Kernels: scripts/check_kernels.py."""
import pathlib
import subprocess
import sys

from check_kernels import functions

FILE, FUNCTION = 600, 80
FOLDERS = ("bench", "cli", "common", "include", "io", "python", "src", "tools")


def main():
    failed = False
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *FOLDERS],
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    for name in sorted(n for n in listed if n.endswith((".c", ".h", ".hpp")) and not n.endswith("_table.c")):
        path = pathlib.Path(name)
        if not path.is_file() or "kernels" in path.parts:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE:
            print(f"{name}: {len(lines)} lines; {FILE} is the most, split it")
            failed = True
        for function, length in functions(lines):
            if length > FUNCTION:
                print(f"{name}: {function}: {length} lines; {FUNCTION} is the most")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
