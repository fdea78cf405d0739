#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files that need no decoding, raw and npy of float32 in the page cache: all threads reading them and nothing else,
# counting the same samples from memory, and counting the file; then the command, its start included, on it and on a
# folder of 200 photographs. JSON lines.
#
#     bench/files_raw.sh [MIB [THREADS…]]     1526 MiB, and as many threads as there are processors, unless given
#
# BUILD names a folder with a build (and its target micro_files) to use as it is, DEVICES the devices ("cpu cuda"),
# ROUNDS the rounds of which the fastest counts.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-9}
mib=${1:-1526}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- "$(nproc)"
if [ -z "${BUILD:-}" ]; then
    scripts/build.sh release -DTALLY_TESTS=OFF >&2
    cmake --build "$build" --target micro_files >&2
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/tally-files-XXXXXX")
trap 'rm -rf "$folder"' EXIT
python3 - "$folder" "$mib" <<'PY'
import array, random, struct, sys

folder, n = sys.argv[1], int(sys.argv[2]) << 18
random.seed(1)
piece = array.array("f", (random.random() for _ in range(1 << 20))).tobytes()
samples = (piece * (n // (1 << 20) + 1))[: 4 * n]  # written all at once, as NumPy does: bench/files.py says why
h = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % n
h = (h + " " * (117 - len(h)) + "\n").encode()
for name, head in (("f32.raw", b""), ("f32.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(h)) + h)):
    with open(f"{folder}/{name}", "wb") as f:
        f.write(head)
        f.flush()
        f.write(samples)
PY
mkdir "$folder/photographs"
for i in {100..299}; do cp "${PHOTO:-data/photograph.png}" "$folder/photographs/$i.png"; done
# timed DEVICE THREADS FILE WHAT ARGUMENT…: the fastest of the rounds, and the least time of all processors.
timed() {
    python3 - "$build/tally" "$rounds" "$@" <<'PY'
import os, subprocess, sys, time

tally, rounds, device, threads, name, what, *arguments = sys.argv[1:]
best = user = 1e9
for _ in range(int(rounds)):
    before, begin = os.times(), time.perf_counter()
    subprocess.run([tally, "--device", device, "--threads", threads, "--format", "csv", *arguments],
                   stdout=subprocess.DEVNULL, check=True)
    best, after = min(best, time.perf_counter() - begin), os.times()
    user = min(user, after.children_user + after.children_system - before.children_user - before.children_system)
path = arguments[-1]
files = [os.path.join(path, f) for f in os.listdir(path)] if os.path.isdir(path) else [path]
size = sum(map(os.path.getsize, files))
print(f'{{"file": "{name}", "what": "{what}", "device": "{device}", "threads": {threads}, "bytes": {size}, '
      f'"seconds": {best:.6f}, "GB_s": {size / best * 1e-9:.3f}, "processor_seconds": {user:.3f}}}')
PY
}
echo "{\"bench\": \"files_raw\", \"commit\": \"$(git describe --always --dirty --abbrev=12 2>/dev/null || true)\"," \
    "\"processor\": \"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)\", \"processors\": $(nproc)," \
    "\"load\": $(cut -d' ' -f1 /proc/loadavg)}"
for threads in "$@"; do
    for device in ${DEVICES:-cpu}; do
        "$build/bench/micro_files" f32 1000 0 1 "$threads" "$rounds" "$device" "$folder/f32.raw" "$folder/f32.npy"
        timed "$device" "$threads" f32.raw command --dtype f32 --bins 1000 --range 0 1 "$folder/f32.raw"
        timed "$device" "$threads" f32.raw "command, bins found" --dtype f32 "$folder/f32.raw"
        [ "$device" != cpu ] || timed cpu "$threads" photographs command "$folder/photographs"
    done
done
