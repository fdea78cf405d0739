#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the licences of the libraries that a repaired wheel carries into it; refuses others.

    scripts/wheel_finish.py WHEEL

The wheel (py3-none-manylinux_…) is written anew, with the licences' texts as Debian keeps them in
/usr/share/doc and a licence expression that names them all. What it may carry is chosen here and by the
options in pyproject.toml, whatever else is installed where it is built. The same content gives the same bytes: files are in
the order of their names, of the time SOURCE_DATE_EPOCH, and have one of two modes.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile

# Library: Debian's package, whose copyright file comes along, and what that is in SPDX's words.
BUNDLED = {
    "libjpeg": ("libjpeg62-turbo", "IJG AND BSD-3-Clause AND Zlib"),
    "liblz4": ("liblz4-1", "BSD-2-Clause"),
    "libpng16": ("libpng16-16", "libpng-2.0"),
    "libzstd": ("libzstd1", "BSD-3-Clause"),  # or GPL-2, as one likes
}
BINARIES = {
    "libtally/_fast.abi3.so", "libtally/bin/tally", "libtally/lib/libtally.so.0", "libtally/lib/libtally-io.so.0",
}  # fmt: skip
EXPRESSION = " AND ".join(
    dict.fromkeys(" AND ".join(["Apache-2.0", *(spdx for _, spdx in BUNDLED.values())]).split(" AND "))
)


def check(names, read):
    """Exactly the binaries and libraries that were chosen."""
    binaries = {name for name in names if read(name)[:4] == b"\x7fELF"}
    bundled = {name for name in binaries if ".libs/" in name}
    found = sorted(re.match(r"(.*)-[0-9a-f]{8}\.so", os.path.basename(name))[1] for name in bundled)
    if found != sorted(BUNDLED):
        sys.exit(f"wheel: carries {found}; chosen are {sorted(BUNDLED)}")
    if binaries - bundled != BINARIES:
        sys.exit(f"wheel: binaries {sorted(binaries - bundled)}; expected are {sorted(BINARIES)}")


def metadata(text, licences):
    """The core metadata with the expression and the names of the texts (version 2.4 has them)."""
    head, blank, body = text.partition("\n\n")
    kept = [
        line for line in head.split("\n")
        if not re.match(r"(Metadata-Version|License|License-Expression|License-File):", line)
    ]  # fmt: skip
    own = [f"License-File: {name}" for name in licences]
    return "\n".join(["Metadata-Version: 2.4", *kept, f"License-Expression: {EXPRESSION}", *own]) + blank + body


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(path):
    with zipfile.ZipFile(path) as wheel:
        entries = [info for info in wheel.infolist() if not info.is_dir()]
        content = {info.filename: wheel.read(info) for info in entries}
    runs = {info.filename for info in entries if info.external_attr >> 16 & 0o100}
    check(content, content.get)
    info = next(name for name in content if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
    for package, _ in BUNDLED.values():
        source = pathlib.Path("/usr/share/doc") / package / "copyright"
        content[f"{info}/licenses/{package}.txt"] = source.read_bytes()
    licences = sorted(n.rpartition("/licenses/")[2] for n in content if n.startswith(f"{info}/licenses/"))
    text = content[f"{info}/METADATA"].decode()
    content[f"{info}/METADATA"] = metadata(text, licences).encode()
    record = f"{info}/RECORD"
    names = sorted(content, key=lambda name: (name == record, ".dist-info/" in name, name))
    lines = [f"{n},{digest(content[n])},{len(content[n])}" for n in names[:-1]]
    content[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    new = path + ".new"
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in names:
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100755 if name in runs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content[name])
    os.replace(new, path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
