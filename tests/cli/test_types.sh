#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Types of raw samples by NumPy's names, and in the byte order that these say.
. "$(dirname "$0")/lib.sh"
need python3
python3 - "$TALLY" <<'PY' || fail "a type by NumPy's name"
import json, struct, subprocess, sys
tally = sys.argv[1]

def counted(*how):
    done = subprocess.run([tally, "raw.bin", "-f", "json", "--bins", "4", "--range", "0", "80", *how], capture_output=True, text=True)
    assert done.returncode == 0, (how, done.stderr)
    got = json.loads(done.stdout)
    return got["dtype"], got["histograms"][0]["counts"]

values = [0, 1, 2, 25, 33, 41, 47, 55, 61, 79]
want = [3, 2, 3, 2]
types = {"u1": ("B", "uint8", "u8"), "i1": ("b", "int8", "i8"), "u2": ("H", "uint16", "u16"), "i2": ("h", "int16", "i16"),
         "u4": ("I", "uint32", "u32"), "i4": ("i", "int32", "i32"), "u8": ("Q", "uint64", "u64"), "i8": ("q", "int64", "i64"),
         "f2": ("e", "float16", "f16"), "f4": ("f", "float32", "f32"), "f8": ("d", "float64", "f64")}
for code, (letter, name, ours) in types.items():
    for order in "<>=|":
        if order == "|" and code[1] != "1":
            continue
        with open("raw.bin", "wb") as out:
            out.write(struct.pack(order.replace("|", "=") + "10" + letter, *values))
        assert counted("--dtype", order + code) == (ours, want), (order, code)
        endian = [] if order in "=|" else ["--endian", "little" if order == "<" else "big"]
        for one in (name, ours):
            assert counted("-t", one, *endian) == (ours, want), (one, endian)
PY
printf '\1\1\0' >bits.bin
expect 0 '' -- "$TALLY" bits.bin --dtype bool --integer
# The range of the type, as by our name.
equal "$("$TALLY" bits.bin --dtype u8 -f csv | md5sum)" "$("$TALLY" bits.bin --dtype '|u1' -f csv | md5sum)" "bins of bytes"
finish
