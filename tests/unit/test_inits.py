# SPDX-License-Identifier: Apache-2.0
"""Every public struct with a struct_size has a macro TALLY_…_INIT, which sets it and, but for what its comment says, clears
the rest: as C11 and as C++, without a warning."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

headers = pathlib.Path(__file__).parents[2] / "include/tally"
# What is not 0 besides struct_size, as the macros say.
NOT_ZERO = {
    "tally_view": ["batches = 1", "rows = 1", "channels = 1"],
    "tally_quantile_search_options": ["channels = 1"],
    "tally_plan_options": ["dimensions = 1"]
    + [f"axes[{d}].struct_size = sizeof(tally_axis)" for d in range(8)],
}

compiler = os.environ.get("CC", "cc")
if not shutil.which(compiler):
    print(f"skipped: no {compiler} here")
    sys.exit(77)
ours = [p for p in sorted(headers.glob("*.h")) if p.name != "mpi.h"]  # which needs MPI, and has no such struct
text = "\n".join(p.read_text() for p in ours)
structs = re.findall(r"^typedef struct (tally_\w+) \{\n    size_t struct_size;", text, re.MULTILINE)
others = [m for m in re.findall(r"size_t struct_size;", text)]
assert len(structs) == len(others) >= 10, (structs, len(others))
missing = [s for s in structs if f"#define {s.upper()}_INIT " not in text]
if missing:
    sys.exit("without a macro TALLY_…_INIT: " + ", ".join(missing))

lines = ["#include <stdio.h>", "#include <string.h>"]
lines += [f"#include <tally/{p.name}>" for p in ours]
lines += ["int main(void)", "{", "    int wrong = 0;"]
for s in structs:
    lines += ["    {", f"        static const {s} init = {s.upper()}_INIT;", f"        {s} x = {s.upper()}_INIT, want;",
              "        memset(&want, 0, sizeof want);", "        want.struct_size = sizeof want;"]
    lines += [f"        want.{field};" for field in NOT_ZERO.get(s, [])]
    # A struct's padding may hold anything, but for what is copied from static memory.
    lines += ["        memcpy(&x, &init, sizeof x);", "        if (memcmp(&x, &want, sizeof x) != 0)",
              f'            wrong = 1, printf("{s}\\n");', "    }"]
lines += ["    return wrong;", "}", ""]

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "inits.c")
    source.write_text("\n".join(lines))
    program = pathlib.Path(folder, "inits")
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{headers.parent}", str(source)]
    subprocess.run([compiler, "-std=c11", *strict, "-o", str(program)], check=True)
    cxx = shutil.which("c++")
    if cxx:
        subprocess.run([cxx, "-std=c++17", "-x", "c++", "-fsyntax-only", *strict], check=True)
    ran = subprocess.run([str(program)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit("not as it should be: the macros of " + ran.stdout)
print(f"{len(structs)} structs")
