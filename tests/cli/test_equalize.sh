#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Histogram equalisation against the formula, computed by another road.
. "$(dirname "$0")/lib.sh"
need python3
seed=${SEED:-$(date +%s)}
echo "seed $seed (SEED=$seed repeats it)"

cat >image.py <<'PY'
import random, sys
def write(path, magic, width, height, depth, samples):
    size = 1 if depth == 255 else 2
    head = f"{magic} {width} {height} {depth} ".encode() if magic != "P7" else (
        f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL {depth}\nTUPLTYPE RGB_ALPHA\nENDHDR\n".encode())
    open(path, "wb").write(head + b"".join(v.to_bytes(size, "big") for v in samples))
def read(path):
    data = open(path, "rb").read()
    if data.startswith(b"P7"):
        head, _, body = data.partition(b"ENDHDR\n")
        depth = int(head.split(b"MAXVAL")[1].split()[0])
    else:
        fields = data.split(maxsplit=3)
        depth = int(fields[3].split(maxsplit=1)[0])
        body = data[data.index(fields[3][:len(str(depth))], len(fields[0])) :]
        at = 0
        for _ in range(4):  # magic, width, height, depth
            while chr(data[at]).isspace(): at += 1
            while not chr(data[at]).isspace(): at += 1
        body = data[at + 1 :]
    size = 1 if depth == 255 else 2
    return [int.from_bytes(body[i : i + size], "big") for i in range(0, len(body), size)]
def equalized(samples, channels, depth):
    grey = samples[::channels] if channels < 3 else [
        (299 * samples[i] + 587 * samples[i + 1] + 114 * samples[i + 2] + 500) // 1000
        for i in range(0, len(samples), channels)]
    counts = [0] * (depth + 1)
    for v in grey: counts[v] += 1
    least = next(n for n in counts if n)
    n, cdf, mapping = len(grey), 0, []
    for v in range(depth + 1):
        cdf += counts[v]
        mapping.append(v if n == least else int(max(cdf - least, 0) / (n - least) * depth + 0.5))
    colours = 3 if channels >= 3 else 1
    return [mapping[v] if i % channels < colours else v for i, v in enumerate(samples)]
if sys.argv[1] == "make":
    r = random.Random(int(sys.argv[2]))
    for name, magic, channels, depth in [("grey.pgm", "P5", 1, 255), ("deep.pgm", "P5", 1, 65535),
                                         ("rgb.ppm", "P6", 3, 255), ("deep.ppm", "P6", 3, 65535), ("rgba.pam", "P7", 4, 255)]:
        write(name, magic, 61, 37, depth, [min(depth, int(abs(r.gauss(0.3, 0.1)) * depth)) for _ in range(61 * 37 * channels)])
    write("flat.pgm", "P5", 5, 4, 255, [77] * 20)
else:
    before, after = read(sys.argv[2]), read(sys.argv[3])
    depth = 65535 if "deep" in sys.argv[2] else 255
    want = equalized(before, int(sys.argv[4]), depth)
    assert after == want, next((i, a, b) for i, (a, b) in enumerate(zip(after, want)) if a != b)
PY
python3 image.py make "$seed"
even() { # FILE CHANNELS
    expect 0 "" -- "$TALLY" equalize "$1" -o "out.${1##*.}"
    checks=$((checks + 1))
    python3 image.py check "$1" "out.${1##*.}" "$2" 2>.py || fail "$1: $(tail -1 .py)"
}
even grey.pgm 1
even deep.pgm 1
even rgb.ppm 3
even deep.ppm 3
even rgba.pam 4
even flat.pgm 1
expect 0 "" -- "$TALLY" equalize rgb.ppm -o via.png
expect 0 "" -- "$TALLY" equalize rgb.ppm -o direct.ppm
equal "$(counts direct.ppm)" "$(counts via.png)" "PNG and PNM of the same image"
expect 0 "" -- "$TALLY" equalize "$SRCDIR/data/photograph.png" -o photo.png
# A wide range is used from end to end.
"$TALLY" photo.png --format json | python3 -c '
import json, sys
n = [sum(c) for c in zip(*[h["counts"] for h in json.load(sys.stdin)["histograms"]])]
assert n[255] > 0 and n[0] > 0' || fail "the photograph is not spread"
expect 0 "" -- bash -c "'$TALLY' equalize - -o piped.pgm <grey.pgm"
cmp -s piped.pgm <("$TALLY" equalize grey.pgm -o again.pgm; cat again.pgm) || fail "a pipe and a file"
# Wrong input and output.
seq 10 >n.txt
expect 1 'n.txt.*an image' -- "$TALLY" equalize n.txt -o x.png
expect 1 'No such file' -- "$TALLY" equalize missing.png -o x.png
expect 1 'x.jpg.*\.png' -- "$TALLY" equalize grey.pgm -o x.jpg
expect 1 'No such file' -- "$TALLY" equalize grey.pgm -o nowhere/x.png
equal "" "$(ls x.* 2>/dev/null)" "what failures leave behind"
finish
