#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is counted: axes, columns, channels, regions, masks, weights, counters, several files.
. "$(dirname "$0")/lib.sh"
need python3
seed=${SEED:-$(date +%s)}
echo "seed $seed (SEED=$seed repeats it)"

# same SAMPLES ARGUMENTS…: counted with --verify on the way; `compare_same` then asks whether the counts are those of
# bisection, all in one Python.
same_count=0
same() {
    local samples=$1
    shift
    same_count=$((same_count + 1))
    expect 0 -- "$TALLY" "$@" --verify --format json -o same$same_count.json
    printf '%s\t%s\t%s\n' same$same_count.json "$samples" "tally $*" >>same.list
}
compare_same() {
    checks=$((checks + same_count))
    python3 "$HERE/result.py" each same.list >.wrong || fail "bisection ended: $(tail -1 .wrong)"
    while read -r line; do fail "$line"; done <.wrong
    equal "$same_count" "$(wc -l <same.list)" "results compared with bisection"
}

python3 - "$seed" <<'PY'
import random, struct, sys
r = random.Random(int(sys.argv[1]))
def save(name, code, values, text=repr):
    open(name + ".bin", "wb").write(struct.pack("=%d%s" % (len(values), code), *values))
    open(name + ".txt", "w").write("".join(text(v) + "\n" for v in values))
for name, code, bits, signed in [("u8", "B", 8, 0), ("i8", "b", 8, 1), ("u16", "H", 16, 0), ("i16", "h", 16, 1),
                                 ("u32", "I", 32, 0), ("i32", "i", 32, 1), ("u64", "Q", 64, 0), ("i64", "q", 64, 1)]:
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    save(name, code, [r.choice([lo, hi, 0, 1, r.randint(lo, hi), r.randint(max(lo, -50), 50)]) for _ in range(3000)])
f = [r.choice([r.gauss(0, 3), 0.0, 1.0, 0.1, 0.2, 0.30000000000000004, -2.5, r.random()]) for _ in range(3000)]
save("f64", "d", f)
save("f32", "f", f, lambda v: repr(struct.unpack("f", struct.pack("f", v))[0]))
save("special", "d", f[:100] + [float("nan"), float("inf"), float("-inf")])
save("positive", "d", [abs(v) + 1e-3 for v in f])
PY

# Every type, by raw bytes: its own default axis, equal bins, a range, edges, rules, integers.
for type in u8 i8 u16 i16 u32 i32 u64 i64 f32 f64; do
    same $type.txt --dtype $type $type.bin
    same $type.txt --dtype $type $type.bin --bins 10
    same $type.txt --dtype $type $type.bin --bins 7 --range -3 44.5
    same $type.txt --dtype $type $type.bin --edges -2,0,0.1,0.3,1,40,1e6
    same $type.txt --dtype $type $type.bin --bins sturges
    same $type.txt --dtype $type $type.bin --integer --range -20 30
    same $type.txt --dtype $type $type.bin --log --range 0.5 64 --bins 7
done
same special.txt --dtype f64 special.bin --bins 10
same special.txt --dtype f64 special.bin --bins fd
same positive.txt --dtype f64 positive.bin --log
same f64.txt f64.txt
same f64.txt f64.txt --integer
same i16.txt --dtype i16 i16.bin --integer
for rule in auto fd doane scott stone rice sturges sqrt; do
    same f64.txt f64.txt --bins $rule
    same f64.txt f64.txt --bins $rule --range -1 2
done

# int64's and uint64's extremes: none is lost at the ends of the found range.
python3 -c '
import struct
open("ends.bin","wb").write(struct.pack("=6q", -2**63, -2**63+1, -1, 0, 2**63-2, 2**63-1))
open("uends.bin","wb").write(struct.pack("=4Q", 0, 1, 2**64-2, 2**64-1))
open("near.bin","wb").write(struct.pack("=2q", 2**53+1, 2**53+3))'
equal '2 1 1 2 | 0 0 0 0; ' "$(counts --dtype i64 ends.bin --bins 4)" "int64 extremes"
equal '2 2 | 0 0 0 0; ' "$(counts --dtype u64 uends.bin --bins 2)" "uint64 extremes"
equal '2 | 0 0 0 0; ' "$(counts --dtype i64 near.bin --bins 1)" "2^53 + 1 and 2^53 + 3"

# Default axes.
"$TALLY" --dtype u8 u8.bin --format json | grep -q '"bins":256,"lo":0,"hi":256' || fail "u8 default"
"$TALLY" --dtype i8 i8.bin --format json | grep -q '"bins":256,"lo":-128,"hi":128' || fail "i8 default"
printf 'P5 2 1 65535 \000\000\377\377' >deep.pgm
"$TALLY" deep.pgm --format json | grep -q '"bins":256,"lo":0,"hi":65536' || fail "16-bit image default"
"$TALLY" deep.pgm --bins 16 --format json | grep -q '"bins":16,"lo":0,"hi":65536' || fail "16-bit image --bins"

# The alphabet.
printf 'Hello, World-\n\tA\\' >text
equal '4 3 | 0 10 0 0; ' "$(counts --alphabet ehlor text --per-bin 3)" "--alphabet ehlor --per-bin 3"
equal '1 1 1 1 | 0 13 0 0; ' "$(counts --alphabet '\-\\\n\x09' text)" "--alphabet with escapes"
equal 7 "$("$TALLY" --alphabet a-z --per-bin 4 text --format json | python3 -c '
import json, sys; print(json.load(sys.stdin)["axes"][0]["bins"])')" "bins of a-z by 4"

equal 'histogram,value,count|,l,3|,o,2|,e,1|,H,1|,other,10|' "$("$TALLY" --alphabet loeH text -f csv | tr '\n' '|')" "letters in CSV"
equal "['a-d', 'e-h']" "$("$TALLY" --alphabet a-h --per-bin 4 text -o text.json && python3 -c '
import json; print(json.load(open("text.json"))["axes"][0]["letters"])')" "letters in JSON"
equal ',a-d,2' "$("$TALLY" merge text.json text.json --format csv | grep a-d)" "letters of a result that was saved"

# Columns by name and number; two make a joint table; several axes take several values.
printf 'x,y,"a, b"\n1,10,3\n2,20,4\n3,30,5\n3,10,7\n' >t.csv
equal '1 1 2 | 0 0 0 0; ' "$(counts t.csv --column x --integer)" "--column x"
equal '1 1 2 | 0 0 0 0; ' "$(counts t.csv --column 1 --integer)" "--column 1"
equal '3 1 | 0 0 0 0; ' "$(counts t.csv --column 'a\, b' --bins 2 --range 3 8)" "a heading with a comma"
equal '1 0 0 1 1 1 | 0 0 0 0; ' "$(counts t.csv --column x,y --bins 3,2)" "--column x,y"
equal '1 0 0 1 1 1 | 0 0 0 0; ' "$(counts t.csv --column x --column y --bins 3,2 --range 1 3 --range 10 30)" "--column twice"
equal '0 1 1 1 | 1 0 0 0; ' "$(counts t.csv --column x,y --edges 2,3,4 --edges 0,15,40)" "two --edges"
"$TALLY" t.csv --column x,y --format json | grep -q '"name":"x,y"' || fail "the joint histogram's name"
# The map's scale has no shade that no count has.
"$TALLY" t.csv --column x,y --bins 9 --ascii | grep -q '^ *# <= 1 in a cell$' || fail "the scale of a map of ones"
printf '1,1\n1,1\n1,1\n2,2\n2,2\n3,1\n' | "$TALLY" - -c 1,2 --bins 3 --ascii | grep -q '^ *: <= 1  + <= 2  # <= 3 in' ||
    fail "the scale of a map of one, two and three"

# Weights: a column, a file; sums of squares.
equal '3 4 12 | 0 0 0 0; ' "$(counts t.csv --column x --integer --weights ':a, b')" "--weights :NAME"
printf '0.5\n0.25\n1\n2\n' >w.txt
equal '0.5 0.25 3 | 0 0 0 0; ' "$(counts t.csv --column x --integer --weights w.txt --verify)" "--weights FILE"
python3 -c '
import random
r = random.Random(5)
for i in range(50000):
    print(r.random(), r.choice([-1, 1]) * 10 ** r.uniform(-9, 9), sep=",")' >cancel.csv
expect 0 'verified: equal' -- "$TALLY" -v --verify cancel.csv --column 1 --weights :2 --bins 7
"$TALLY" t.csv --column x --integer --weights w.txt --sum-squares --format json |
    grep -q '"sums_squared":\[0.25,0.0625,5\]' || fail "--sum-squares"

# Images: channels, regions, masks.
printf 'P6 3 2 255 abcdefghijklmnopqr' >six.ppm # R: a d g j m p
codes() { python3 - "$@" <<'PY'
import json, sys
for h in json.load(open(sys.argv[1]))["histograms"]:
    print(h["name"] + ":" + "".join(chr(i) * n for i, n in enumerate(h["counts"])), h["masked"], end=" ")
PY
}
"$TALLY" six.ppm -o r.json; equal 'R:adgjmp 0 G:behknq 0 B:cfilor 0 ' "$(codes r.json)" "all channels"
"$TALLY" six.ppm --channel G -o r.json; equal 'G:behknq 0 ' "$(codes r.json)" "--channel G"
"$TALLY" six.ppm --channel b --channel 1 -o r.json; equal 'R:adgjmp 0 B:cfilor 0 ' "$(codes r.json)" "--channel b 1"
"$TALLY" six.ppm --channel R,B -o r.json; equal 'R:adgjmp 0 B:cfilor 0 ' "$(codes r.json)" "--channel R,B"
"$TALLY" six.ppm --rows 1: --channel R -o r.json; equal 'R:jmp 0 ' "$(codes r.json)" "--rows 1:"
"$TALLY" six.ppm --cols 1:2 --channel R -o r.json; equal 'R:dm 0 ' "$(codes r.json)" "--cols 1:2"
"$TALLY" six.ppm --rows :1 --cols 2: --channel R -o r.json; equal 'R:g 0 ' "$(codes r.json)" "a region"
printf 'P5 3 2 255 \001\000\002\000\377\000' >mask.pgm # a g m
"$TALLY" six.ppm --mask mask.pgm -o r.json
equal 'R:agm 3 G:bhn 3 B:cio 3 ' "$(codes r.json)" "--mask"
python3 "$HERE/result.py" check r.json || fail "conservation with a mask"
"$TALLY" six.ppm --mask mask.pgm --cols 1: --channel R -o r.json; equal 'R:gm 2 ' "$(codes r.json)" "--mask in a region"
"$TALLY" six.ppm six.ppm --mask mask.pgm --channel R -o r.json; equal 'R:aaggmm 6 ' "$(codes r.json)" "--mask for two files"
printf dmjpvg >letters
equal '1 5 5 | 0 0 0 0; ' "$(counts --dtype u8 --shape 2,3 --bins 3 --range 100 118 letters \
    --weights <(printf '1\n2\n3\n5\n0\n0\n'))" "weights from a pipe"
# A mask counts in a found range too: 40 is masked.
printf 'P5 3 1 255 \001\001\000' >m3.pgm
python3 -c '
import struct
h = "{'"'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), "'}"
h += " " * (63 - (10 + len(h)) % 64) + "\n"
open("three.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(h)) + h.encode() + struct.pack("<3d", 1, 5, 40))'
equal '1 1 | 0 0 0 1; ' "$(counts three.npy --mask m3.pgm --bins 2)" "a mask and the range"
equal '1 1 | 0 0 0 1; ' "$(counts three.npy --mask m3.pgm --bins sturges)" "a mask and a rule"

# A file is the sum of its parts; --each keeps them apart; channels of a raw file.
head -c 1000 u8.bin >a; tail -c +1001 u8.bin >b
equal "$(counts --dtype u8 u8.bin)" "$(counts --dtype u8 a b)" "two parts"
"$TALLY" --dtype u8 --each a b --format json >each.json
"$TALLY" --dtype u8 a -o a.json; "$TALLY" --dtype u8 b -o b.json
python3 - <<'PY' || fail "--each"
import json
each = json.load(open("each.json"))
assert isinstance(each, list) and len(each) == 2
for one, name in zip(each, "ab"):
    alone = json.load(open(name + ".json"))
    assert one["source"] == [name] and one["histograms"] == alone["histograms"]
PY
"$TALLY" --dtype u8 --each a --format json | python3 -c '
import json, sys; assert len(json.load(sys.stdin)) == 1' || fail "--each of one file is not a list"
split -n l/3 f64.txt part.
equal "$(counts f64.txt --bins 20)" "$(counts part.?? --bins 20)" "a range over three files"
equal "$(counts f64.txt)" "$(counts part.??)" "a rule over three files"
equal "$(counts f64.txt)" "$(cat f64.txt | counts -)" "a pipe and a file"
equal "$(printf '1\n2\n3\n' | counts -)" "$(echo 1 2 3 | counts -)" "numbers on one line"
equal "$(printf '2\n4\n' | counts -)" "$(printf 'a|b\n1|2\n3|4\n' | counts - --delimiter '|' -c b)" "--delimiter"
equal "$(printf '2\n4\n' | counts -)" "$(printf '1\t2\n3 \t4\n' | counts - --delimiter space -c 2)" "--delimiter space"
equal "$(printf '2\n3\n' | counts -)" "$(printf '1\n2\n3\n' | counts - --header yes)" "--header yes"
expect 1 ':1:1: expected a number' -- bash -c "printf 'x\n1\n' | '$TALLY' - --header no"
expect 2 'delimiter .: tab, space, or one sign' -- "$TALLY" f64.txt --delimiter +
expect 2 'tab, space, or one sign' -- "$TALLY" f64.txt --delimiter ';;'
printf 'v;n\n1 234,5;1\n-12 000;2\n' >blanks.csv
for blank in space ' '; do
    equal '1 1 | 0 0 0 0; ' "$(counts blanks.csv -c v --decimal , --thousands "$blank" --edges -12000,0,1234.5)" "--thousands '$blank'"
done
# What is between thousands is no delimiter where lines are numbers with it, and a blank never is.
printf 'v\tk\n1 521,5\t0\n' >one.tsv
equal '1 | 0 0 0 0; ' "$(counts one.tsv -c v --decimal , --thousands space --edges 1521,1522)" "blanks in a table of one row"
printf '1,521\n2,000\n' >commas.txt
equal '1 1 | 0 0 0 0; ' "$(counts commas.txt --thousands , --edges 1521,1600,2000)" "lines of numbers with commas"
printf '"1,521",7\n"2,000",8\n' >quoted.csv
equal '1 1 | 0 0 0 0; ' "$(counts quoted.csv -c 1 --thousands , --edges 1521,1600,2000)" "quoted numbers with commas"
expect 2 'raw data' -- "$TALLY" f64.txt --dtype u8 --na x
expect 1 'are of text' -- "$TALLY" "$SRCDIR/data/camera.png" --na x
printf '1\n-999\ngone\n3\n' >na.txt
equal 2 "$("$TALLY" na.txt --na -999,gone --format json | python3 -c '
import json, sys
print(sum(json.load(sys.stdin)["histograms"][0]["counts"]))')" "--na"
printf '\000\001\002\003\004\005' >rgb
"$TALLY" --dtype u8 --shape 1,2,3 --channel 2 rgb -o r.json
python3 -c '
import json
h = json.load(open("r.json"))["histograms"]
assert len(h) == 1 and [i for i, n in enumerate(h[0]["counts"]) if n] == [1, 4]' || fail "--shape 1,2,3 --channel 2"
equal '2 0 | 0 0 0 0; ' "$(counts --dtype u8 rgb --offset 4 --bins 2)" "--offset"

# Counters.
head -c 70000 /dev/zero >zeros
head -c 40000 /dev/zero >part16
equal "70000 " "$(counts --dtype u8 zeros --bins 1 --counter u32 | cut -d'|' -f1)" "u32"
equal "65535 " "$(counts --dtype u8 zeros --bins 1 --counter u16sat | cut -d'|' -f1)" "u16sat"
equal "255 " "$(counts --dtype u8 zeros --bins 1 --counter u8sat | cut -d'|' -f1)" "u8sat"
cat zeros zeros >twice
for method in serial saturating-serial; do
    for file in zeros twice; do
        equal "65535 " "$(counts --dtype u8 $file --bins 1 --counter u16sat --method $method --device cpu |
            cut -d'|' -f1)" "u16sat by $method"
        expect 0 'verified: identical' -- "$TALLY" --dtype u8 $file --counter u16sat --method $method \
            --device cpu --verify -v
    done
done
equal "65535 " "$(counts --dtype u8 part16 part16 --bins 1 --counter u16sat --method saturating-serial \
    --device cpu | cut -d'|' -f1)" "u16sat over two files of 40 000"
expect 3 'ask for --counter u16sat' -- "$TALLY" --dtype u8 zeros --method saturating-serial --device cpu

# Every processor method, thread count and peeled-off feature agrees.
want=$(counts --dtype f32 f32.bin --bins 100)
for method in $("$TALLY" methods --format json | python3 -c '
import json, sys
print(*[m["name"] for m in json.load(sys.stdin) if "cpu" in m["devices"]])'); do
    if "$TALLY" --dtype f32 f32.bin --bins 100 --device cpu --method "$method" -q >/dev/null 2>&1; then
        equal "$want" "$(counts --dtype f32 f32.bin --bins 100 --device cpu --method "$method")" "--method $method"
    fi
done
equal "$want" "$(counts --dtype f32 f32.bin --bins 100 --threads 1)" "--threads 1"
equal "$want" "$(TALLY_DISABLE_CPU=avx512 counts --dtype f32 f32.bin --bins 100)" "without AVX-512"
equal "$want" "$(TALLY_DISABLE_CPU=avx2 counts --dtype f32 f32.bin --bins 100)" "without AVX2"
expect 0 'verified: identical' -- "$TALLY" -v --verify --dtype f32 f32.bin
compare_same
finish
