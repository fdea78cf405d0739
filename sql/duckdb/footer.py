# SPDX-License-Identifier: Apache-2.0
"""footer.py FILE PLATFORM VERSION: appends what DuckDB reads before it loads an extension: a custom section in
WebAssembly's form, eight fields of 32 bytes, last first, and room for a signature, which is empty here."""
import sys

path, platform, version = sys.argv[1:]
fields = ["4", platform, "v1.2.0", version, "C_STRUCT", "", "", ""]
section = b"\0\x93\x04\x10duckdb_signature\x80\x04"
with open(path, "ab") as file:
    file.write(section + b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(256))
