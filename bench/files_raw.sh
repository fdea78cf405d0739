#!/usr/bin/env bash
# Files that need no decoding, raw and npy of float32 in the page cache: all threads reading them and nothing else,
# counting the same samples from memory, and counting the file; then the command on it, its start included. JSON lines.
#
#     bench/files_raw.sh [MIB [THREADS…]]     1526 MiB, and as many threads as there are processors, unless given
#
# BUILD names a folder with a build (and its target micro_files) to use as it is, DEVICES the devices ("cpu cuda"), ROUNDS the rounds of which the fastest counts.
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
piece = array.array("f", (random.random() for _ in range(1 << 20)))
h = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % n
h = (h + " " * (117 - len(h)) + "\n").encode()
for name, head in (("f32.raw", b""), ("f32.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(h)) + h)):
    with open(f"{folder}/{name}", "wb") as f:
        f.write(head)
        for i in range(0, n, 1 << 20):
            f.write(piece[: n - i].tobytes())
PY
echo "{\"bench\": \"files_raw\", \"commit\": \"$(git describe --always --dirty --abbrev=12 2>/dev/null || true)\"," \
    "\"processor\": \"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)\", \"processors\": $(nproc)," \
    "\"load\": $(cut -d' ' -f1 /proc/loadavg)}"
for threads in "$@"; do
    for device in ${DEVICES:-cpu}; do
        "$build/bench/micro_files" f32 1000 0 1 "$threads" "$rounds" "$device" "$folder/f32.raw" "$folder/f32.npy"
        python3 - "$build/tally" "$folder/f32.raw" "$threads" "$device" "$rounds" <<'PY'
import os, subprocess, sys, time

tally, path, threads, device, rounds = sys.argv[1:]
best = user = 1e9
for _ in range(int(rounds)):
    before, begin = os.times(), time.perf_counter()
    subprocess.run([tally, "--dtype", "f32", "--bins", "1000", "--range", "0", "1", "--device", device, "--threads",
                    threads, "--format", "csv", path], stdout=subprocess.DEVNULL, check=True)
    best, after = min(best, time.perf_counter() - begin), os.times()
    user = min(user, after.children_user + after.children_system - before.children_user - before.children_system)
size = os.path.getsize(path)
print(f'{{"file": "f32.raw", "what": "command", "device": "{device}", "threads": {threads}, "bytes": {size}, '
      f'"seconds": {best:.6f}, "GB_s": {size / best * 1e-9:.3f}, "processor_seconds": {user:.3f}}}')
PY
    done
done
