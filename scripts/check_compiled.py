#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No compiled file is in git: programs, libraries, objects, Python's bytecode."""
import pathlib
import subprocess
import sys

MAGICS = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
ENDINGS = {".a", ".o", ".pyc", ".so"}


def main():
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    failed = False
    for path in map(pathlib.Path, filter(None, listed.split("\0"))):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            compiled = file.read(8).startswith(MAGICS)
        if compiled or ENDINGS & set(path.suffixes):
            print(f"{path}: compiled; what a build makes is not kept in git")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
