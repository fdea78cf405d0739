#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bad input: the message names the file and the place, the exit code is 1, nothing is left behind.
. "$(dirname "$0")/lib.sh"
need python3 gzip
photo=$SRCDIR/data/photograph.png

# bad PATTERN FILE [OPTIONS]: fails with exit code 1, naming the file, without any output.
failure=1 # the exit code
bad() {
    local pattern=$1 file=$2
    shift 2
    expect $failure "$pattern" -- "$TALLY" "$@" "$file"
    equal "" "$(cat .out)" "standard output of a failure ($last)"
    checks=$((checks + 1))
    grep -Fq -- "$file" .err || { fail "the message does not name $file: $last"; show; }
    expect $failure "$pattern" -- "$TALLY" "$@" "$file" -o made.json
    [ ! -e made.json ] || fail "a file was made: $last"
    compgen -G 'made.json*' >/dev/null && fail "something was left behind: $last"
}

python3 - "$photo" <<'PY'
import struct, sys, gzip
def npy(name, descr, shape, data, version=1):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(head)) + head.encode() + data)
npy("good.npy", "<f8", "(4,)", struct.pack("<4d", 1, 2, 3, 4))
npy("short.npy", "<f8", "(4,)", struct.pack("<2d", 1, 2))
npy("promise.npy", "<f8", "(1152921504606846976,)", struct.pack("<2d", 1, 2))
npy("product.npy", "<f8", "(4294967296, 4294967296, 4)", b"")
npy("complex.npy", "<c16", "(1,)", bytes(16))
npy("nan.npy", "<f8", "(3,)", struct.pack("<3d", *[float("nan")] * 3))
npy("inf.npy", "<f4", "(3,)", struct.pack("<3f", float("inf"), float("-inf"), float("nan")))
npy("none.npy", "<f8", "(0,)", b"")
npy("some_nan.npy", "<f8", "(5,)", struct.pack("<5d", 1, float("nan"), 2, float("inf"), 3))
open("cut_header.npy", "wb").write(open("good.npy", "rb").read()[:40])
png = open(sys.argv[1], "rb").read()
open("cut.png", "wb").write(png[: len(png) // 2])
open("head.png", "wb").write(png[:20])
bent = bytearray(png)
bent[len(png) // 2] ^= 0xFF
open("bent.png", "wb").write(bent)
open("empty", "wb").close()
open("one_byte", "wb").write(b"\x00")
open("junk", "wb").write(bytes((i * 7919 + 13) % 256 for i in range(3000)))
open("words.csv", "w").write("a,b\n1,2\n3,four\n5,6\n")
open("ragged.csv", "w").write("a,b\n1,2\n3\n5,6\n")
open("words.txt", "w").write("1\n2\nthree\n4\n")
z = gzip.compress(b"1\n2\n3\n" * 1000)
open("cut.txt.gz", "wb").write(z[: len(z) // 2])
bent = bytearray(gzip.compress(b"".join(b"%d\n" % (i * i) for i in range(5000))))
bent[-6] ^= 1
open("sum.txt.gz", "wb").write(bent)
open("one.json", "w").write('{"schema":"tally/1"}')
open("not.json", "w").write("not a result")
PY

bad 'empty' empty
bad 'No such file' missing.png
mkdir hollow
bad 'there is no file in this folder' "$WORK/hollow"
bad 'not a format|known' junk
bad 'ends|truncated|short|cut|byte' short.npy
bad 'byte|header' cut_header.npy
bad 'byte|ends|1152921504606846976|short' promise.npy
bad 'more samples|64 bits|too' product.npy
failure=3 bad 'complex' complex.npy
bad 'cut short|ends|truncated|PNG|png' cut.png
bad 'ends|truncated|PNG|png|cut' head.png
bad 'PNG|png|CRC|damaged|byte' bent.png
bad "words.csv:3:3: expected a number, found 'four'" words.csv --column b
bad "words.txt:3:1: expected a number, found 'three'; --categories counts a column's values as words; --na takes words for missing" words.txt
bad 'ragged.csv:3: 1 field, expected 2' ragged.csv --column b
bad 'gzip|ends|truncated|cut' cut.txt.gz
bad 'gzip|damaged|check|CRC' sum.txt.gz
bad 'whole' one_byte --dtype u16
bad 'shape|bytes' good.npy --dtype f64 --shape 1000000,1000000
bad 'byte|offset' good.npy --dtype u8 --offset 100000
bad 'choose one|columns' words.csv --integer
bad 'no column|column' words.csv --column nothing
bad 'no column|column' words.csv --column 9
bad 'no channel 7; it has 3 .R, G, B' "$photo" --channel 7
bad 'no channel Z; it has 3' "$photo" --channel Z
bad 'region|rows|row' "$photo" --rows 100000:100001
printf -- '-1\n5\n' >some_neg.txt
bad 'smallest sample is -1' some_neg.txt --log
printf '1\n40000000000\n' >far.txt
bad '40000000000 bins.*--bins' far.txt --integer
printf '1\n9e18\n' >far18.txt
bad 'stop at 2\^53' far18.txt --integer

# Saved results.
for word in show merge; do
    expect 1 'one.json' -- "$TALLY" $word one.json
    expect 1 'not.json' -- "$TALLY" $word not.json
    expect 1 'empty' -- "$TALLY" $word empty
    expect 1 'missing.json.*No such file' -- "$TALLY" $word missing.json
done

# Nothing to count is a clear answer, not a failure.
expect 0 'no sample is finite .3 NaN, 0 infinite' -- "$TALLY" nan.npy --format json
output '"nan":3'
expect 0 'no sample is finite .1 NaN, 2 infinite' -- "$TALLY" inf.npy --format json
output '"underflow":1,"overflow":1,"nan":1'
expect 0 'none.npy: no samples' -- "$TALLY" none.npy --format json
output '"samples":0'
expect 0 "" -- "$TALLY" -q none.npy
for rule in auto fd doane scott stone rice sturges sqrt 7; do
    expect 0 "" -- "$TALLY" some_nan.npy --bins $rule --format json
    output '"lo":1,"hi":3'
    output '"underflow":0,"overflow":1,"nan":1'
    expect 0 -- "$TALLY" none.npy --bins $rule
    expect 0 -- "$TALLY" nan.npy --bins $rule
done

# Files of two kinds do not add up; the message names both.
expect 1 "good.npy.*far.txt|far.txt.*photo|photograph.png.*good.npy" -- "$TALLY" good.npy "$photo"
expect 1 'only files of one kind add up' -- "$TALLY" good.npy "$photo"
expect 0 "" -- "$TALLY" --each good.npy "$photo"

# Masks and weights of another size.
printf 'P5 2 2 255 abcd' >four.pgm
printf 'P5 3 2 255 abcdef' >six.pgm
printf 'P6 2 2 255 abcdabcdabcd' >four.ppm
expect 1 'six.pgm: 3 x 2, but four.pgm is 2 x 2' -- "$TALLY" four.pgm --mask six.pgm
expect 1 'a mask has one channel' -- "$TALLY" four.pgm --mask four.ppm
printf '1\n2\n3\n' >three.txt
expect 1 'three.txt, the weights, ends before the samples' -- "$TALLY" four.pgm --weights three.txt
seq 9 >nine.txt
expect 1 'nine.txt, the weights, goes on where the samples' -- "$TALLY" four.pgm --weights nine.txt
expect 1 'No such file' -- "$TALLY" four.pgm --mask nothing.pgm
expect 1 'weights have one channel' -- "$TALLY" good.npy --weights four.ppm

# Masks and weights of as many samples, which lie otherwise. One column goes with any shape.
for shape in 3,2 2,3 6,; do
    for order in False True; do
        python3 -c 'import struct, sys
head = "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: %s, \x27shape\x27: (%s)}" % tuple(sys.argv[1:]) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + bytes(range(6)))' \
            $order $shape >"$order$shape.npy"
    done
done
for beside in --mask --weights; do
    expect 1 'False2,3.npy: 3 x 2, but False3,2.npy is 2 x 3' -- "$TALLY" False3,2.npy $beside False2,3.npy
    expect 1 'False2,3.npy: 3 x 2, but four.pgm is 2 x 2' -- "$TALLY" four.pgm $beside False2,3.npy
    expect 1 'True3,2.npy is in Fortran order, and False3,2.npy is not' -- "$TALLY" False3,2.npy $beside True3,2.npy
    expect 1 'True3,2.npy is in Fortran order, and False6,.npy is not' -- "$TALLY" True3,2.npy $beside False6,.npy
    expect 0 '' -- "$TALLY" True3,2.npy $beside True3,2.npy
    expect 0 '' -- "$TALLY" False3,2.npy $beside True6,.npy
    expect 0 '' -- "$TALLY" six.pgm $beside False2,3.npy
done

# Regions: what is outside, and of what.
expect 1 'six.pgm: the region of rows 1:3 is empty or outside its 0:2$' -- "$TALLY" six.pgm --rows 1:3
expect 1 'six.pgm: the region of columns 3:4 is empty or outside its 0:3$' -- "$TALLY" six.pgm --cols 3:4

# A result that cannot hold its counts, and devices that are not there.
head -c 70000 /dev/zero >zeros
expect 0 "" -- "$TALLY" --dtype u8 zeros --counter u32
expect 3 'device cpu:7|cpu:7' -- "$TALLY" --device cpu:7 zeros --dtype u8
if ! "$TALLY" devices --format json | grep '"cuda' | grep -q '"available":true'; then
    expect 3 'cuda' -- "$TALLY" --device cuda zeros --dtype u8
    expect 1 'nothing could be tested' -- "$TALLY" selftest --device cuda --seconds 1
fi

# An unreadable file, as someone who is not root.
cp four.pgm secret.pgm
chmod 000 secret.pgm
if [ "$(id -u)" != 0 ]; then
    bad 'Permission denied' secret.pgm
elif command -v setpriv >/dev/null; then
    # A copy: where the command was built may itself be root's alone.
    mkdir nobody
    ldd "$TALLY" | awk '$1 ~ /^libtally/ { print $3 }' | xargs -r cp -t nobody
    cp "$TALLY" nobody/tally
    chmod -R a+rX . && chmod 000 secret.pgm
    LD_LIBRARY_PATH=$WORK/nobody expect 1 'secret.pgm.*Permission denied' -- \
        setpriv --reuid 65534 --regid 65534 --clear-groups nobody/tally "$WORK/secret.pgm"
else
    echo "part skipped: root reads every file and setpriv is not installed"
fi
finish
