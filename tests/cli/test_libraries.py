#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries that are opened when a file or picture needs them: the command starts without them, and one that cannot be opened
is named by what needs it, which writes nothing; all else works."""

import os
import re
import subprocess
import tempfile

import checks
from checks import TALLY, check

DATA = os.path.join(os.environ["SRCDIR"], "data")
# Name in the message: what needs it.
NEEDS = {
    "libtiff": ["page.tif"],
    "libhdf5": ["file.h5"],
    "cairo": [os.path.join(DATA, "flights.csv"), "-c", "day", "-o", "day.svg"],
}


def said(*words, folder=None):
    environment = dict(os.environ, LD_LIBRARY_PATH=folder) if folder else None
    done = subprocess.run([TALLY, *words], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


def files():
    with open("page.tif", "wb") as file:
        file.write(b"II*\0\x08\0\0\0" + bytes(20))
    with open("file.h5", "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))


def broken():
    """A folder with those libraries' names, of files that are none; and the names."""
    os.mkdir("broken")
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, env={"PATH": "/sbin:/usr/sbin"}, check=False).stdout
    names = set(re.findall(r"\s(lib(?:tiff|cairo|hdf5\w*)\.so\.\d+) ", listed))
    for name in names:
        with open(os.path.join("broken", name), "w", encoding="ascii"):
            pass
    return os.path.abspath("broken"), names


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    files()
    folder, names = broken()
    code, words = said(os.path.join(DATA, "flights.csv"), "-c", "day", folder=folder)
    check(code == 0, "without any of", names, words)
    for library, command in NEEDS.items():
        code, words = said(*command)
        if "this build" in words or not any(library in name for name in names):
            continue  # tests/unit has what builds without it say
        if library == "cairo":
            check(code == 0 and os.path.exists("day.svg"), library, words)
            os.remove("day.svg")
        code, words = said(*command, folder=folder)
        check(code == 3 and f"{library} cannot be used: " in words and words.count("\n") == 1, library, code, words)
        check("file too short" in words or "Exec format" in words, "why", library, "cannot be used:", words)
        check(not os.path.exists("day.svg"), "a picture without", library)
    os.chdir("/")
raise SystemExit(checks.failures != 0)
