#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real files counted by each method on OpenCL that takes their bytes, end to end, verified against the
# reference; then again with the kernels out of the disk cache.
. "$(dirname "$0")/lib.sh"
need python3
export TALLY_CACHE_DIR=$WORK/cache
"$TALLY" devices | grep -Eq '^opencl:0 ' && ! "$TALLY" devices | grep -Eq '^opencl:0 +missing' ||
    skip "no OpenCL device"
photo=$SRCDIR/data/photograph.png
if "$TALLY" "$photo" -q >/dev/null 2>&1; then
    crop=("$photo" --rows 100:164 --cols 50:350)
else # built without PNG
    python3 -c 'print("P6 300 64 255"); ' >photo.ppm
    head -c 57600 "$SRCDIR/data/flights.csv" >>photo.ppm
    crop=(photo.ppm)
fi

for method in $("$TALLY" methods --format json | python3 -c '
import json, sys
print(*[m["name"] for m in json.load(sys.stdin) if "opencl" in m["devices"] and "u8" in m["dtypes"]])'); do
    [ "$method" != weighted ] || continue # a picture has no weights
    bins=256 counter=u64
    case $method in
    podlozhnyuk-64) bins=64 ;;
    private-register) bins=32 ;;
    reduce-tree) bins=16 ;; # a pass a bin
    saturating-*) counter=u16sat ;;
    esac
    for kernel in compiled 'from the disk cache'; do
        expect 0 'verified: identical' -- "$TALLY" "${crop[@]}" --device opencl --method "$method" \
            --range 0 256 --bins $bins --counter $counter --verify -v
        grep -q "; kernel $kernel" .err || fail "$method: kernel not $kernel: $(cat .err)"
    done
done

# Counters that saturate: 40 000 + 40 000 of a value stick at 65535, though no file reaches it.
head -c 40000 /dev/zero >zeros
of() { # of FILE OPTIONS…: the first bin's count, and the samples
    "$TALLY" "$@" --dtype u8 --range 0 256 --bins 256 --counter u16sat -q --format json |
        python3 -c 'import json, sys
r = json.load(sys.stdin)
print(r["histograms"][0]["counts"][0], r["samples"])'
}
for method in saturating-global saturating-shared saturating-shared-strided; do
    equal "40000 40000" "$(of zeros --device opencl --method $method)" "$method"
    equal "65535 80000" "$(of zeros zeros --device opencl --method $method)" "$method, two files"
done
# Channels side by side, as on the processor: of files that all threads read in several pieces, of
# pipes, of some channels or rows, of several files, with a mask.
python3 - <<'END'
import random
draw = random.Random(29)
for name, size in ("pixels", 3 * 2 * 700 * 900), ("more", 3 * 2 * 100 * 900):
    open(name, "wb").write(draw.randbytes(size))
open("mask.pgm", "wb").write(b"P5 900 700 255\n" + bytes(draw.randrange(2) for _ in range(700 * 900)))
END
counts() { # of DEVICE FILE… OPTIONS…: their print
    "$TALLY" "${@:2}" --dtype u16 --shape 0,900,3 --range 3000 60000 --bins 321 --device "$1" \
        -q --format json <pixels | python3 -c 'import json, sys, zlib
print(zlib.crc32(str(json.load(sys.stdin)["histograms"]).encode()))'
}
same() { equal "$(counts cpu "$@" || echo none)" "$(counts opencl "$@")" "$*"; }
same pixels
same -
same pixels more pixels
same pixels --channel 3 --channel 1
same pixels --rows 13:600 --cols 5:800
same pixels --mask mask.pgm

expect 3 'ask for --counter u16sat' -- "$TALLY" --dtype u8 zeros --device opencl --method saturating-global
finish
