#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches duckdb.h and duckdb_extension.h to build/duckdb/include, out of the source package of the same version as
the `duckdb` that this Python has (or VERSION), from PyPI or the index that pip uses. Nothing is kept in the project.

    scripts/duckdb_headers.py [VERSION]"""
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request

TO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "duckdb", "include")
NAMES = ("duckdb.h", "duckdb_extension.h")


def index():
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True
    ).stdout.strip()
    return (os.environ.get("PIP_INDEX_URL") or said or "https://pypi.org/simple").rstrip("/")


def source(version):
    page = f"{index()}/duckdb/"
    text = urllib.request.urlopen(page, timeout=60).read().decode()
    found = re.search(rf'href="([^"]*/duckdb-{re.escape(version)}\.tar\.gz)(?:#sha256=([0-9a-f]+))?', text)
    if not found:
        sys.exit(f"duckdb_headers: {page} has no source package of DuckDB {version}")
    data = urllib.request.urlopen(urllib.parse.urljoin(page, found[1]), timeout=300).read()
    if found[2] and hashlib.sha256(data).hexdigest() != found[2]:
        sys.exit("duckdb_headers: the package that came is not the one that the index names")
    return data


def main():
    if len(sys.argv) > 1:
        version = sys.argv[1]
    else:
        try:
            version = __import__("duckdb").__version__
        except ImportError:
            sys.exit("duckdb_headers: this Python has no duckdb; say the version: scripts/duckdb_headers.py 1.4.0")
    mark = os.path.join(TO, "version")
    if os.path.exists(mark) and open(mark).read() == version:
        return
    os.makedirs(TO, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(source(version))) as package:
        for member in package:
            name = os.path.basename(member.name)
            if name in NAMES and member.name.endswith("src/include/" + name):
                with open(os.path.join(TO, name), "wb") as file:
                    file.write(package.extractfile(member).read())
    if not all(os.path.exists(os.path.join(TO, name)) for name in NAMES):
        sys.exit(f"duckdb_headers: the source package of DuckDB {version} has no {' and '.join(NAMES)}")
    with open(mark, "w") as file:
        file.write(version)


if __name__ == "__main__":
    main()
