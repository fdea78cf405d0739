# SPDX-License-Identifier: Apache-2.0
"""Files of formats that are not read are named, with what would convert them; text that begins as they do is text."""

import gzip
import io
import os
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TALLY = os.environ.get("TALLY", "tally")


def files(folder):
    """{name: (bytes, words of the message)}"""
    archive = io.BytesIO()
    made = {"nc": (b"CDF\1\0\0\0\0" + bytes(40), "nccopy"), "pdf": (b"%PDF-1.4\n1 2\n", "pdfimages"),
            "exr": (b"v/1\1\2\0\0\0" + bytes(30), "OpenEXR"), "mat": (b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM", "-v7.3"),
            "pfm": (b"Pf\n2 1\n-1.0\n" + bytes(8), "PFM"),
            "json": (b' [\n { "a": 1},\n {"a": 2}\n]\n', "jq -c '.[]'")}
    arrays = {"jq -r '.[]'": ["[1,2,3]", "\n[\n -1.5e3,\nnull, true]\n", '["a,]\\"", "b"]', "[]", "[1]\n[2]", "[NaN, -Infinity]",
                              f"[{'100000, ' * 600}1]", f"[{'false,' * 3000}null]"],
              "@csv": ["[[1,2],[3,4]]", '[["a"],\n []]']}
    for words, texts in arrays.items():
        made.update({f"{i}.{words[-4:]}.json": (text.encode(), words) for i, text in enumerate(texts)})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a.csv"))
    made["tar"], made["tgz"] = (packed.getvalue(), "tar -xOf"), (gzip.compress(packed.getvalue()), "tar -xOf")
    with zipfile.ZipFile(archive, "w") as sheet:
        sheet.writestr("xl/workbook.xml", "<a/>")
    made["xlsx"] = archive.getvalue(), "as CSV"
    with sqlite3.connect(folder / "made.db") as base:
        base.execute("create table t (x)")
    base.close()
    made["db"] = (folder / "made.db").read_bytes(), "sqlite3 -csv"
    return made


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = files(folder)
        for ending, (data, words) in made.items():
            path = folder / f"file.{ending}"
            path.write_bytes(data)
            done = subprocess.run((TALLY, path), capture_output=True, text=True)
            if done.returncode != 3 or words not in done.stderr or done.stdout or "which is not read" not in done.stderr:
                failures += 1
                print(ending, done.returncode, done.stderr)
        for heading in ("BM", "BZh", "ORC", "GIF8", "PKs", "CDF", "[{a}]", "[1]", "[null]", "[a]", "[1 2]", "[nul"):
            path = folder / "table.csv"
            path.write_text(f"{heading},b\n1,2\n3,4\n")
            done = subprocess.run((TALLY, path, "--column", heading), capture_output=True, text=True)
            if done.returncode:
                failures += 1
                print(heading, done.stderr)
    print(len(made), "files,", failures, "failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
