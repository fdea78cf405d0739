#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files larger than memory, more than 2^32 samples of one value, pipes that must be read twice.
. "$(dirname "$0")/lib.sh"
need python3 gzip truncate
case ${SANITIZE:-} in *address* | *thread*) skip "sanitizers take terabytes of address space" ;; esac
limit=$((384 * 1024)) # KiB of address space

# limited COMMAND…: under the limit.
limited() { (ulimit -v $limit && "$@"); }
# total ARGUMENTS…: the sum of all counts, under the limit.
total() {
    limited "$TALLY" "$@" --device cpu --threads 2 --format json -o r.json || return
    python3 "$HERE/result.py" check r.json || return
    python3 -c '
import json
print(*[sum(h["counts"]) for h in json.load(open("r.json"))["histograms"]])'
}

# Without holes files of 512 MiB would fill small disks.
truncate -s 512M big
[ "$(du -k big | cut -f1)" -lt 10000 ] || skip "this file system has no sparse files"
equal 536870912 "$(total --dtype u8 big)" "512 MiB of u8 in 384 MiB"
equal 67108864 "$(total --dtype f64 --bins 10 big)" "512 MiB of f64 with a range to be found"
equal 134217728 "$(total --dtype f32 --range -1 1 --bins 1000 big)" "512 MiB of f32"
equal "134217728 134217728 134217728 134217728" "$(total --dtype u8 --shape 2048,65536,4 big)" "an image of 512 MiB"

# Peak memory does not grow with the file.
peak() {
    python3 - "$@" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}

# Bins take 8 bytes each, and nothing beside: what threads and edges need does not grow with them.
truncate -s 1M many
used=$(peak "$TALLY" --dtype f32 --range 0 1 --bins 33554432 --device cpu many)
[ "$used" -lt 350000 ] || fail "$used KiB for 2^25 bins, which are 262144 KiB"
checks=$((checks + 1))

truncate -s 16M small
low=$(peak "$TALLY" --device cpu --dtype f32 --bins 100 small)
high=$(peak "$TALLY" --device cpu --dtype f32 --bins 100 big)
echo "peak memory: $low KiB for 16 MiB, $high KiB for 512 MiB"
checks=$((checks + 1))
[ "$high" -le $((low + 8192)) ] || fail "peak memory grew from $low to $high KiB"

# The same zeros as an .npy.
python3 -c '
import struct
h = "{'"'descr': '|u1', 'fortran_order': False, 'shape': (8192, 65536), "'}"
h += " " * (63 - (10 + len(h)) % 64) + "\n"
open("big", "r+b").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(h)) + h.encode())'
truncate -s +128 big
mv big big.npy
equal 536870912 "$(total big.npy)" "an .npy of 512 MiB"
equal 8388608 "$(total big.npy --cols 100:1124)" "a region of it"

# What is no saved result is not read to its end.
endless() { yes | limited "$TALLY" show -; }
expect 1 'not a saved result' -- endless

# More than 2^32 samples of one value, through a pipe: exact, and never 4 GiB of anything.
more=$((4294967296 + 77))
equal $more "$(head -c $more /dev/zero | total --dtype u8 -)" "2^32 + 77 zeros"
python3 -c '
import json
c = json.load(open("r.json"))["histograms"][0]["counts"]
assert c[0] == 2**32 + 77 and not any(c[1:])' || fail "they are all in bin 0"
expect 1 'more than a u32 counter holds' -- bash -c "head -c $more /dev/zero | '$TALLY' --dtype u8 - --counter u32 -q"

# A counter that saturates over what is read a chunk at a time: one value in the first chunk and in
# the last, one in all of them, the rest below the limit.
python3 - <<'PY'
end = b"\0" * 60000 + bytes(range(1, 256)) * 4000
open("pieces", "wb").write(end + b"\1" * 15 * 2**20 + end)
PY
for method in serial saturating-serial; do
    "$TALLY" --dtype u8 - --counter u16sat --device cpu --method $method --range 0 256 --bins 256 -o r.json <pieces
    checks=$((checks + 1))
    python3 -c '
import json
r = json.load(open("r.json"))
c = r["histograms"][0]["counts"]
assert c[:3] == [65535, 65535, 8000] and r["samples"] == 120000 + 2 * 255 * 4000 + 15 * 2**20, (c[:3], r["samples"])
' || fail "u16sat by $method, streamed"
done

# Compressed data are streamed too.
python3 - <<'PY'
import struct, zlib
zeros, packer, crc = bytes(1 << 20), zlib.compressobj(1, zlib.DEFLATED, -15), 0
mib = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)  # as often as one likes: it looks at nothing before it
for _ in range(400):
    crc = zlib.crc32(zeros, crc)
with open("zeros.gz", "wb") as f:
    f.write(b"\x1f\x8b\x08" + bytes(7) + 400 * mib + packer.flush() + struct.pack("<II", crc, 400 << 20))
PY
equal 419430400 "$(total --dtype u8 zeros.gz)" "400 MiB out of gzip"
seq 3000000 | gzip -1 >numbers.txt.gz
equal 3000000 "$(total numbers.txt.gz --bins 10)" "text out of gzip, read twice"

# A pipe of unknown range is held in memory, from 16 MiB on in a file, and that it says, unless asked
# not to. Of text the columns are kept.
seq 1000 >n.txt
expect 0 "" -- bash -c "cat n.txt | '$TALLY' -"
expect 0 "" -- bash -c "seq 3000000 | '$TALLY' -"
expect 0 "" -- bash -c "head -c 16000000 /dev/zero | '$TALLY' --dtype f32 -"
large="head -c 20000000 /dev/zero | '$TALLY' --dtype f32"
expect 0 'standard input: a pipe can be read once.*temporary file' -- bash -c "$large -"
expect 0 "" -- bash -c "$large -q -"
expect 0 "" -- bash -c "cat n.txt | '$TALLY' -q -"
expect 0 "" -- bash -c "cat n.txt | '$TALLY' --range 0 1000 --bins 10 -"
expect 0 "" -- bash -c "'$TALLY' - <n.txt"
expect 0 "" -- bash -c "gzip -c n.txt | '$TALLY' --dtype u8 -"
mkdir spool
expect 0 'temporary file' -- bash -c "TMPDIR=$WORK/spool; export TMPDIR; $large -"
equal "" "$(ls spool)" "what is left in TMPDIR"
# A file that grows while it is counted: whole lines that were there when it was opened, the same in
# the pass that finds the range and the one that counts.
seq 1 300000 >log
(for i in $(seq 300001 2000 500000); do seq $i $((i + 1999)); sleep 0.01; done >>log) &
writer=$!
for _ in 1 2 3 4 5; do
    "$TALLY" log --bins 10 -o log.json || fail "a growing file"
    python3 -c '
import json
r = json.load(open("log.json"))
h, hi = r["histograms"][0], r["axes"][0]["hi"]
assert sum(h["counts"]) == r["samples"] == hi >= 300000, (h, hi)' || fail "a file that grew"
done
kill $writer 2>/dev/null
wait $writer 2>/dev/null
finish
