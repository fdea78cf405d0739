#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An output that is an input, by whatever name: refused before anything is read, and nothing changes.
. "$(dirname "$0")/lib.sh"
need sha256sum
mkdir d
cp "$SRCDIR/data/photograph.png" p.png
seq 1 100 >n.txt
seq 1 100 >w.txt
"$TALLY" n.txt -o r.json && cp r.json r2.json
printf 'P5 10 10 255 ' >m.pgm
head -c 100 /dev/zero | tr '\\0' 1 >>m.pgm
ln -s ../p.png d/link.png
ln -s link.png d/second.png
ln p.png d/hard.png
sums() { sha256sum p.png n.txt w.txt r.json r2.json m.pgm d/*; }
before=$(sums)

same() { # PATTERN -- COMMAND…
    expect 2 "is the file that is read, $@"
    equal "" "$(cat "$WORK/.out")" "standard output ($last)"
}
same 'p.png; name another' -- "$TALLY" p.png -o p.png
same p.png -- "$TALLY" p.png -o ./p.png
same p.png -- "$TALLY" p.png -o "$PWD/d/../p.png"
same p.png -- "$TALLY" p.png -o d/link.png
same p.png -- "$TALLY" p.png -o d/second.png
same p.png -- "$TALLY" p.png -o d/hard.png
same d/second.png -- "$TALLY" d/second.png --output=p.png
same d/hard.png -- "$TALLY" run d/hard.png -fpng -op.png
same p.png -- "$TALLY" n.txt p.png -o p.png
same p.png -- "$TALLY" --each n.txt p.png -f json -o p.png
same 'standard input' -- "$TALLY" - -o n.txt <n.txt
same 'standard input' -- "$TALLY" -o n.txt <n.txt
same w.txt -- "$TALLY" n.txt --weights w.txt -o w.txt
same m.pgm -- "$TALLY" n.txt --mask m.pgm -o m.pgm
same p.png -- "$TALLY" equalize p.png -o d/hard.png
same r2.json -- "$TALLY" merge r.json r2.json -o r2.json
same r.json -- "$TALLY" show r.json -o r.json
same r.json -- "$TALLY" plot r.json -f png -o ./r.json
same n.txt -- bash -c "'$TALLY' n.txt >>n.txt"
equal "$before" "$(sums)" "the files"
equal 3 "$(find d | grep -c png)" "what is in the folder"

# Others' files, columns and devices are nobody's input.
expect 0 "" -- "$TALLY" p.png -o d/new.png
expect 0 "" -- "$TALLY" n.txt -o d/new.png
printf 'x,w\n1,2\n3,4\n' >t.csv
printf 'old' >:w
expect 0 "" -- "$TALLY" t.csv --column x --weights :w -o ./:w
expect 0 "" -- bash -c "'$TALLY' n.txt -f json -o /dev/null </dev/null"
finish
