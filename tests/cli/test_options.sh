#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command line: words, options, help, exit codes, contradictions, colours.
. "$(dirname "$0")/lib.sh"
seq 1 100 >n.txt
printf 'x,y,w\n1,2,3\n4,5,6\n' >t.csv

# Help and version go to standard output and name every option.
expect 0 "" -- "$TALLY" --help
output 'usage: tally FILE'
expect 0 "" -- "$TALLY" --version
output '^tally [0-9]+\.[0-9]+\.[0-9]+$'
"$TALLY" --version -v >version
for what in '^reads by itself .*Parquet' "^loops for $(uname -m).*, by \(gcc\|clang\) [0-9]" '^counts on .*CUDA' '^CUDA kernels compiled ahead: none: .*TALLY_KERNELS_FILE'; do
    grep -q "$what" version || fail "--version -v does not say $what: $(cat version)"
done
[ "$("$TALLY" --version | wc -l)" -le 2 ] || fail "--version is long without -v"
"$TALLY" --version >version
for packer in gzip zstd xz; do # named where it is read
    command -v $packer >/dev/null || continue
    seq 9 | $packer -c >packed
    reads=no names=no
    "$TALLY" packed >/dev/null 2>&1 && reads=yes
    grep -Eqw $packer version && names=yes
    [ $reads = $names ] || fail "$packer: read: $reads, named by --version: $names"
done
for word in run quantiles merge show plot equalize methods devices selftest tune; do
    expect 0 "" -- "$TALLY" $word --help
    output "usage: tally $word"
    "$TALLY" $word -h | awk 'length($0) > 140 { bad = 1 } END { exit bad }' ||
        fail "long lines in tally $word -h"
done
"$TALLY" run --help >help
for option in bins edges range log integer alphabet per-bin dtype shape offset column channel rows \
    cols mask weights counter device method set threads verify format output progress quiet verbose \
    each color; do
    grep -Eq -- "--$option( |\$)" help || fail "run --help does not name --$option"
done
grep -q -- --print help && fail "the hidden option shows in --help"

# A word or a file.
expect 0 "" -- "$TALLY" n.txt
cp .out plain
expect 0 "" -- "$TALLY" run n.txt
# The title's microseconds differ.
equal "$(grep -v samples plain)" "$(grep -v samples .out)" "tally FILE and tally run FILE"
cp n.txt run
expect 0 "" -- "$TALLY" ./run
expect 0 "" -- "$TALLY" run ./run
expect 0 "" -- "$TALLY" run -- run
cp n.txt ./--odd
expect 0 "" -- "$TALLY" -- --odd
expect 0 "" -- "$TALLY" - <n.txt
expect 0 "" -- "$TALLY" <n.txt
expect 1 'mehtods.*No such file' -- "$TALLY" mehtods
expect 1 'do you mean `tally methods`' -- "$TALLY" mehtods

# Wrong options: exit code 2, nothing on standard output, and what would be right.
wrong() {
    expect 2 "$@"
    equal "" "$(cat "$WORK/.out")" "standard output of a wrong command line ($last)"
}
wrong 'no option --bin;.*--bins' -- "$TALLY" --bin 3 n.txt
wrong 'do you mean --verbose' -- "$TALLY" --verbsoe n.txt
wrong '--seed is an option of .tally selftest' -- "$TALLY" --seed 3 n.txt
wrong 'no option -x' -- "$TALLY" -x n.txt
wrong '--bins needs N' -- "$TALLY" n.txt --bins
wrong '--range needs LO HI' -- "$TALLY" n.txt --range 1
wrong '--bins is?|--quiet takes no value' -- "$TALLY" --quiet=1 n.txt
wrong 'format jsn: one of .*json' -- "$TALLY" --format jsn n.txt
wrong '--threads 0: an integer from 1' -- "$TALLY" --threads 0 n.txt
wrong '--threads -1' -- "$TALLY" --threads -1 n.txt
wrong '--format is given twice' -- "$TALLY" --format csv --format csv n.txt
wrong '--bins 0: from 1' -- "$TALLY" --bins 0 n.txt
wrong '--bins ten: a number or one of' -- "$TALLY" --bins ten n.txt
wrong '1099511627776: from 1 to' -- "$TALLY" --bins 1099511627776 n.txt
wrong '100000,100000|10000000000 bins' -- "$TALLY" --column x,y --bins 100000,100000 t.csv
wrong 'one value for all or one for each of 2' -- "$TALLY" --column x,y --bins 1,2,3 t.csv
wrong 'not a finite number' -- "$TALLY" --range 0 x n.txt
wrong 'not a finite number' -- "$TALLY" --range 0 nan n.txt
wrong 'the first must be less' -- "$TALLY" --range 5 1 n.txt
wrong 'the first must be less' -- "$TALLY" --range 5 5 n.txt
wrong 'wider than a double' -- "$TALLY" --range -1.7e308 1.7e308 --bins 3 n.txt
wrong 'edge 3, 2, is not more than the one before, 3' -- "$TALLY" --edges 1,3,2 n.txt
wrong 'edge 2 is "b"' -- "$TALLY" --edges 1,b n.txt
wrong 'at least two edges' -- "$TALLY" --edges 1 n.txt
wrong '--edges and --bins contradict' -- "$TALLY" --edges 1,2 --bins 3 n.txt
wrong '--edges and --range contradict' -- "$TALLY" --edges 1,2 --range 0 1 n.txt
wrong '--log and --integer contradict' -- "$TALLY" --log --integer n.txt
wrong '--alphabet and --bins contradict|--alphabet and' -- "$TALLY" --alphabet a-z --bins 3 n.txt
wrong '--per-bin belongs to --alphabet' -- "$TALLY" --per-bin 2 n.txt
wrong 'runs backwards' -- "$TALLY" --alphabet z-a n.txt
wrong 'named twice' -- "$TALLY" --alphabet aba n.txt
wrong 'after a backslash' -- "$TALLY" --alphabet 'a\q' n.txt
wrong 'several bytes' -- "$TALLY" --alphabet $'\xc3\xa9' n.txt
wrong '--log needs numbers above zero' -- "$TALLY" --log --range 0 1 n.txt
wrong '--bins fd chooses equal bins' -- "$TALLY" --log --bins fd n.txt
wrong '--integer needs integers' -- "$TALLY" --integer --range 0.5 3 n.txt
wrong '--shape needs --dtype' -- "$TALLY" --shape 3,3 n.txt
wrong '--offset .*needs --dtype' -- "$TALLY" --offset 3 n.txt
wrong 'up to three numbers' -- "$TALLY" --dtype u8 --shape 1,2,3,4 n.txt
wrong 'up to three numbers' -- "$TALLY" --dtype u8 --shape 3,x n.txt
wrong '--dtype and --column contradict' -- "$TALLY" --dtype u8 --column 1 n.txt
wrong '--sum-squares needs --weights' -- "$TALLY" --sum-squares n.txt
wrong '--weights and --counter contradict' -- "$TALLY" --weights n.txt --counter u32 n.txt
wrong "name the samples' with --column" -- "$TALLY" --weights :w t.csv
wrong '--set needs --method' -- "$TALLY" --set a=1 n.txt
wrong 'KEY=VALUE' -- "$TALLY" --method serial --set a n.txt
wrong 'A:B with A less than B' -- "$TALLY" --rows 3:1 n.txt
wrong 'A:B with A less than B' -- "$TALLY" --cols 3 n.txt
wrong '--device gpu: auto, cpu' -- "$TALLY" --device gpu n.txt
wrong '--device cuda:x' -- "$TALLY" --device cuda:x n.txt
wrong 'no method is named .quickest' -- "$TALLY" --method quickest n.txt
wrong "pictures are .png or .svg" -- "$TALLY" n.txt -o x.jpg
wrong "nothing is compressed; -f json" -- "$TALLY" n.txt -o x.json.gz
wrong "spreadsheets read .csv" -- "$TALLY" n.txt -o x.TSV
wrong '--title is for pictures' -- "$TALLY" n.txt --title T
wrong '--max-rows is for tables' -- "$TALLY" n.txt --max-rows 3 -o x.csv
wrong 'can be read once' -- "$TALLY" --mask - -
wrong '--quiet and --verbose contradict' -- "$TALLY" -qv n.txt
wrong 'takes no file, but was given x' -- "$TALLY" methods x
wrong 'needs RESULT' -- "$TALLY" merge
wrong 'takes one RESULT' -- "$TALLY" show a b
wrong 'where the picture goes' -- "$TALLY" plot r.json
wrong 'say where the image goes' -- "$TALLY" equalize x.png
wrong '--seconds' -- "$TALLY" selftest --seconds 0
wrong 'no method nothing' -- "$TALLY" selftest --method nothing
wrong 'writes JSON, or tables' -- "$TALLY" --each n.txt t.csv -o x.csv

# What depends on the data is exit code 1.
expect 1 'no channel 2; it has 1' -- "$TALLY" --channel 2 n.txt
expect 1 'no column|columns|column' -- "$TALLY" --column z t.csv

# Forms: joined values, letters together, "=".
expect 0 "" -- "$TALLY" --bins=4 --range=0,8 n.txt
expect 0 "" -- "$TALLY" -b4 n.txt
expect 0 -- "$TALLY" -vb 4 n.txt
expect 0 "" -- "$TALLY" --range -1 -0.5 --bins 2 n.txt
expect 0 "" -- "$TALLY" n.txt --range -1e300 1e300 --bins 2

# Colours: never in a pipe, unless asked for; NO_COLOR only speaks to auto.
escape=$(printf '\033')
"$TALLY" n.txt | grep -q "$escape" && fail "colours in a pipe"
"$TALLY" --color always n.txt | grep -q "$escape" || fail "no colours with --color always"
NO_COLOR=1 "$TALLY" --color always n.txt | grep -q "$escape" || fail "NO_COLOR beats --color always"
if command -v script >/dev/null; then
    export TERM=xterm
    script -qec "$TALLY n.txt" /dev/null </dev/null | grep -q "$escape" || fail "no colours on a terminal"
    NO_COLOR=1 script -qec "$TALLY n.txt" /dev/null </dev/null | grep -q "$escape" &&
        fail "colours in spite of NO_COLOR"
    script -qec "$TALLY --color never n.txt" /dev/null </dev/null | grep -q "$escape" &&
        fail "colours in spite of --color never"
    script -qec "$TALLY n.txt --format png; echo code \$?" /dev/null </dev/null |
        grep -q 'code 2' || fail "a picture goes to a terminal"
    script -qec "$TALLY n.txt --format npy; echo code \$?" /dev/null </dev/null |
        grep -q 'code 2' || fail "an .npy goes to a terminal"
    script -qec "stty cols 60; $TALLY n.txt" /dev/null </dev/null >wide
    awk '{ gsub(/\033\[[0-9;]*m/, ""); gsub(/[\200-\277]/, ""); sub(/\r/, "")
           if (length($0) > 60) bad = 1 } END { exit bad }' wide || fail "the table is wider than the terminal"
fi
"$TALLY" --ascii n.txt | grep -q '#' || fail "no # with --ascii"
LC_ALL=de_DE.ISO-8859-1 "$TALLY" n.txt | grep -q '#' || fail "blocks in a locale that has none"
# tune: what it is given is looked at before it measures.
expect 2 'takes no file' -- "$TALLY" tune photo.png
expect 2 'auto, cpu, cuda, opencl' -- "$TALLY" tune --device nonsense
expect 2 'integer from 1 to 1024' -- "$TALLY" tune --threads 0
TALLY_CACHE_DIR=/dev/null expect 1 'no folder to keep speeds in' -- timeout 10 "$TALLY" tune
expect 3 'none|no CUDA|cuda' -- env TALLY_CUDA_LIBRARY=none "$TALLY" tune --device cuda
finish
