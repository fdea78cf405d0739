#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Columns of words: each different value is counted; what makes a column one; --top, --categories, merging.
. "$(dirname "$0")/lib.sh"
need python3

# Tables whose values are known, of words that are quoted, padded, missing, long and foreign.
python3 - <<'PY'
import collections, csv, io, json, random
random.seed(11)
long = "long " * 30
values = ["apple", "pear", '"fig"', "a,b", "two\nlines", "Bäume", "x" * 16, "x" * 17, "x" * 8, long + "1", long + "2", "t", "7th"]
values += [f"w{i}" for i in range(3000)]
missing = ["", "NA", "null", "n/a", "nan", "gone"]
sums, counts, empty = collections.Counter(), collections.Counter(), 0
for f in range(3):
    text = io.StringIO()
    out = csv.writer(text, quoting=csv.QUOTE_MINIMAL if f else csv.QUOTE_NONNUMERIC, lineterminator=("\n", "\r\n", "\r")[f])
    out.writerow(["n", "word", "z"])
    for i in range(20000):
        word = values[min(int(random.expovariate(0.4)), 12)] if random.random() < 0.9 else random.choice(values)
        if f == 2:
            word = word.replace("\n", " ")
        if random.random() < 0.03:
            word, empty = random.choice(missing), empty + 1
        else:
            counts[word] += 1
            sums[word] += i % 7
        out.writerow([i % 7, word if f == 0 or random.random() < 0.5 else word + "  " if '"' not in word and "," not in word and "\n" not in word else word, 1])
    open(f"{f}.csv", "w", newline="", encoding="utf-8").write(text.getvalue())
def ranked(of):
    return [[w, n] for w, n in sorted(of.items(), key=lambda wn: (-wn[1], wn[0].encode())) if n]
json.dump({"counts": ranked(counts), "sums": ranked(sums), "empty": empty}, open("want.json", "w"))
PY
# same FILE [KEY]: the result of the three tables.
same() {
    checks=$((checks + 1))
    python3 - "$1" "${2:-counts}" <<'PY' || fail "words of $1"
import json, sys
r, want = json.load(open(sys.argv[1])), json.load(open("want.json"))
got = [list(pair) for pair in zip(r["axes"][0]["labels"], r["histograms"][0]["counts"])]
assert r["histograms"][0]["nan"] == want["empty"], (r["histograms"][0]["nan"], want["empty"])
assert got == want[sys.argv[2]], next((a, b) for a, b in zip(got, want[sys.argv[2]]) if a != b)
PY
}
all="0.csv 1.csv 2.csv"
for threads in 1 3; do
    "$TALLY" $all -c word --na gone -j $threads -o r$threads.json && same r$threads.json
done
"$TALLY" 2.csv 0.csv 1.csv -c word --na gone -o back.json && same back.json
"$TALLY" $all -c word --na gone -w :n -o sums.json && same sums.json sums
# With a limit the sums stay in its units, also where parts with other words are merged.
"$TALLY" $all -c word --na gone -w :n --weight-limit 8 -o limited.json && same limited.json sums
for f in 0 1 2; do "$TALLY" $f.csv -c word --na gone -w :n --weight-limit 8 -o part$f.json; done
"$TALLY" merge part2.json part0.json part1.json -o merged.json && same merged.json sums
python3 -c '
import json
a, b = json.load(open("limited.json")), json.load(open("merged.json"))
assert a["weight_limit"] == b["weight_limit"] == 8
for key in ("units", "flow_units"):
    assert a["histograms"][0][key] == b["histograms"][0][key], key' || fail "words with a limit"
# Of weights that cancel the squares stay with their word.
printf 'w,v\na,5\nb,2\nb,-2\n' >cancel.csv
equal $'w,a,5,25\nw,b,0,8' "$("$TALLY" cancel.csv -c w -w :v --sum-squares --no-header -f csv)" "weights that cancel"
# Nine files are counted side by side; a pipe; three saved results added.
"$TALLY" $all $all $all -c word --na gone -j 4 -o nine.json
python3 -c '
import json
a, b = json.load(open("nine.json")), json.load(open("want.json"))
assert a["histograms"][0]["counts"] == [9 // 3 * n for _, n in b["counts"]]' || fail "nine files"
for f in 0 1 2; do "$TALLY" - -c word --na gone -o part$f.json <$f.csv; done
"$TALLY" merge part2.json part0.json part1.json -o merged.json && same merged.json
# What is shown.
"$TALLY" show r1.json --top 2 --format csv >top.csv
equal "histogram,value,count" "$(head -1 top.csv)" "csv's first line"
equal 5 "$(wc -l <top.csv)" "--top 2: two, all others, missing and the heading"
python3 -c '
import csv, json
want, rows = json.load(open("want.json")), list(csv.reader(open("top.csv", newline="")))
assert rows[1][1:] == [want["counts"][0][0], str(want["counts"][0][1])], rows
assert rows[3][1].endswith(" other values") and int(rows[3][2]) == sum(n for _, n in want["counts"][2:]), rows
assert rows[3][1].split()[0] == str(len(want["counts"]) - 2), rows
assert rows[4][1:] == ["nan", str(want["empty"])], rows' || fail "--top 2 as csv"
"$TALLY" show r1.json --width 70 >table.txt
equal 34 "$(sed -n '5,$p' table.txt | grep -c .)" "rows of a table: headings, 31, others and missing"
grep -q '^missing  *[0-9]' table.txt || fail "no row for missing"
checks=$((checks + 1))
"$TALLY" $all -c word -o words.svg && grep -q '<svg' words.svg || fail "a picture of words"
"$TALLY" $all -c word,n --integer --format csv | head -2 >joint.csv
equal "histogram,value0,lo1,hi1,count" "$(head -1 joint.csv)" "a joint histogram's columns"

# What makes words: that the first values are no numbers; else an option, which the error names.
{ echo v; seq 200; echo word; } >late.csv
expect 1 "late.csv:202:1: expected a number, found 'word'; --categories counts" -- "$TALLY" late.csv -c v
for how in '--bins 3' '--range 0 1' --integer; do
    # shellcheck disable=SC2086
    expect 1 "late.csv:202:1: expected a number, found 'word'; --categories counts" -- "$TALLY" late.csv -c v $how
    # shellcheck disable=SC2086
    expect 2 "contradict each other" -- "$TALLY" late.csv -c v --categories $how
done
echo '{"v": "word"}' >word.jsonl
expect 1 'word.jsonl:1:7: expected a number, found "word"; --categories counts' -- "$TALLY" word.jsonl -c v -b 3
# Where that option would not help it is not named.
printf 'k,w\na,x\nb,y\n' >by.csv
expect 1 "by.csv:2:3: expected a number, found 'x'; --na takes" -- "$TALLY" by.csv -c w --by k
expect 1 "by.csv:2:3: expected a number, found 'x'; --na takes" -- "$TALLY" by.csv -c k --categories --of w
expect 1 "by.csv:2:1: expected a number, found 'a'; --na takes" -- "$TALLY" quantiles by.csv -c k
expect 1 '^tally: by.csv: no column of numbers or times$' -- "$TALLY" quantiles by.csv
expect 0 '' -- "$TALLY" late.csv -c v --categories --top 1
output '^200 other values +200 '
output '^1 +1 '
printf 'ok,q\ntrue,1\nfalse,2\ntrue,3\n' >bool.csv
equal 'true,2 false,1' "$("$TALLY" bool.csv -c ok --format csv | sed -n '2,$s/^ok,//p' | paste -sd' ')" "booleans"
# Where numbers are asked for they are 1 and 0, however they are written, wherever a thread's part begins.
python3 - <<'PY'
import random
random.seed(8)
plain = ["true", "false", "True", "False", "TRUE", "FALSE"]
odd = plain + ['"true"', '" false "', " True", "FALSE ", "", "NA", "nan", '""']
for name, words, end in (("plain", plain, "\n"), ("odd", odd, "\r\n")):
    drawn = [random.choice(words) for _ in range(300000)]
    with open(f"{name}-flags.csv", "w", newline="") as file:
        file.write("q,flag,n" + end + "1,true,2" + end + "".join(f"{i % 7},{w},3{end}" for i, w in enumerate(drawn)))
    said = ["".join(c for c in w.lower() if c.isalpha()) for w in drawn]
    yes, no = said.count("true") + 1, said.count("false")
    print(no, yes, len(drawn) + 1 - yes - no, file=open(f"{name}-flags.txt", "w"))
PY
flags() { # FILE OPTIONS…: 0s, 1s and missing ones
    "$TALLY" "$@" -c flag --integer --format json | python3 -c 'import json, sys
h = json.load(sys.stdin)["histograms"][0]
print(*h["counts"], h["nan"])'
}
for name in plain odd; do
    for threads in 1 3; do
        equal "$(cat $name-flags.txt)" "$(flags $name-flags.csv -j $threads)" "$name booleans by $threads threads"
        equal "$(cat $name-flags.txt)" "$(TALLY_DISABLE_CPU=avx512,avx2 flags - -j $threads <$name-flags.csv)" "$name booleans of a pipe"
    done
done
equal '1 0' "$(flags plain-flags.csv --rows 0:1)" "a row of booleans"
equal '2,0.66' "$("$TALLY" bool.csv -c q --of ok --range 1 4 --bins 1 --format csv | sed -n 2p | cut -c10-15)" "a share of booleans"
{ echo ok && yes true | head -300 && echo 1; } >not.csv
expect 1 "not.csv:302:1: expected true or false, as above, found '1'" -- "$TALLY" not.csv -c ok --integer
printf 'ok\n1\ntrue\n' >first.csv
expect 1 "first.csv:3:1: expected a number, found 'true'" -- "$TALLY" first.csv -c ok --integer
printf 'name,ok\nann,TRUE\nbob,\neve,FALSE\n' >header.csv
equal 'FALSE,1 TRUE,1 nan,1' "$("$TALLY" header.csv -c 2 --format csv | sed -n '2,$s/^ok,//p' | paste -sd' ')" "a heading above booleans"
printf 'false,x\ntrue,y\n' >none.csv
equal 'false,1 true,1' "$("$TALLY" none.csv -c 1 --format csv | sed -n '2,$s/^column 1,//p' | paste -sd' ')" "booleans without a heading"
printf 'name,colour\nann,red\nbob,blue\neve,red\n' >text.csv
equal 'red,2 blue,1' "$("$TALLY" text.csv -c colour --format csv | sed -n '2,$s/^colour,//p' | paste -sd' ')" "headings above words"
printf 'a\nb\na\n' >lines.txt
expect 1 "expected a number, found 'a'" -- "$TALLY" lines.txt
equal 'a,2 b,1' "$("$TALLY" lines.txt --categories --format csv | sed -n '2,$s/^,//p' | paste -sd' ')" "lines"
expect 1 "expected a number, found 'red'" -- "$TALLY" text.csv -c colour --bins 5
# Numbers of text are words as they are written, without quotes and blanks around them; elsewhere they are values.
{ echo n,q && printf '%s,1\n' 5 +5 05 5.0 '"5"' ' 5 ' +9007199254740995 9007199254740995; } >written.csv
printf '{"n":%s,"q":1}\n' 5 '"+5"' '"05"' 5.0 '"5"' 5 '"+9007199254740995"' 9007199254740995 >written.jsonl
for file in written.csv written.jsonl; do
    equal "5,3 '+5,1 '+9007199254740995,1 05,1 5.0,1 9007199254740995,1" \
        "$("$TALLY" $file -c n --categories --format csv | sed -n '2,$s/^n,//p' | paste -sd' ')" "$file as written"
    equal 6 "$("$TALLY" $file -c q --by n --range 0 10 --bins 1 --format csv | tail -n +2 | wc -l)" "$file: --by as written"
done
expect 1 '--top is for values that are words' -- "$TALLY" bool.csv -c q --top 2
printf 'a\n\n' >only.csv
expect 0 '' -- "$TALLY" only.csv --categories
printf 'w,n\nNA,1\n,2\n' >none.csv
expect 0 -- "$TALLY" none.csv -c w --categories
output '^missing +2 '
# --by: a histogram for each value, with the samples in no bin.
python3 - <<'PY'
import collections, json, random
random.seed(3)
rows = [(random.choice(["a", "b", "c", "d", ""]), random.choice(["", "-1", "5", "7.5", "10", "11"])) for _ in range(9000)]
open("by.csv", "w").write("g,v\n" + "".join(f"{g},{v}\n" for g, v in rows))
open("by.jsonl", "w").write("".join(json.dumps({"g": g, "v": v}) + "\n" for g, v in rows))
want = {}
for g in "abcd":
    v = [float(v) if v else None for k, v in rows if k == g]
    want[g] = [[sum(x is not None and lo <= x < hi or x == 10 and hi == 10 for x in v) for lo, hi in ((0, 5), (5, 10))],
               v.count(-1), v.count(11), v.count(None), len(v)]
json.dump({"by": want, "missing": sum(g == "" for g, _ in rows)}, open("by.json", "w"))
PY
for case in '1 by.csv' '4 by.csv' '1 by.jsonl' '4 by.jsonl'; do
    expect 0 "^tally: [0-9]+ row.s. have no g" -- "$TALLY" "${case#* }" -c v --by g --bins 2 --range 0 10 -j "${case% *}" -o got.json
    checks=$((checks + 1))
    python3 - <<'PY' || fail "--by"
import json
want, got = json.load(open("by.json"))["by"], json.load(open("got.json"))["histograms"]
assert [h["name"] for h in got] == sorted(want, key=lambda g: (-want[g][4], g)), got
for h in got:
    assert [h["counts"], h["underflow"], h["overflow"], h["nan"], want[h["name"]][4]] == want[h["name"]], (h, want[h["name"]])
PY
done
"$TALLY" - -c v --by g --bins 2 --range 0 10 --top 1 --format csv -q <by.csv >by.txt
equal 1 "$(grep -c '^3 other values,0,5,' by.txt)" "the others of --by"
expect 2 'name one column that is counted for each value of g' -- "$TALLY" by.csv --by g
expect 2 '--by and --weights contradict' -- "$TALLY" by.csv -c v --by g -w :v
# --separate: what each column has by itself.
"$TALLY" "$SRCDIR/data/flights.csv" -c carrier,day -c air_time --separate --format json -q >separate.json
checks=$((checks + 1))
python3 - "$TALLY" "$SRCDIR/data/flights.csv" <<'PY' || fail "--separate"
import json, subprocess, sys
together = json.load(open("separate.json"))
for column, got in zip(("carrier", "day", "air_time"), together, strict=True):
    alone = json.loads(subprocess.run([*sys.argv[1:], "-c", column, "-f", "json"], capture_output=True, check=True).stdout)
    got.pop("run"), alone.pop("run")
    assert got == alone, column
PY
# Numbers of any format are words if that is asked for.
printf 'P6 1 1 255\n\1\2\3' >colours.ppm
expect 3 'are of the values of columns, and this has 3 channels' -- "$TALLY" colours.ppm --categories
python3 - <<'PY'
import struct
def npy(name, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\1\0\x76\0" + head.encode() + data)
npy("long.npy", "<i8", "(5,)", struct.pack("<5q", 2**60, 2**60 + 1, -7, 2**60 + 1, 0))
npy("pairs.npy", "<f8", "(6, 2)", struct.pack("<12d", 1.5, 0, 2, 1, 1.5, 1, float("nan"), 0, 2, 1, 1.5, 9))
PY
labels() { "$TALLY" "$@" --format json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(*r["axes"][0]["labels"], *r["histograms"][0]["counts"], r["histograms"][0]["nan"])'; }
equal '1152921504606846977 -7 0 1152921504606846976 2 1 1 1 0' "$(labels long.npy --categories)" "64-bit integers as words"
equal '1.5 2 3 2 1' "$(labels pairs.npy -c 1 --categories)" "a column of an array as words"
equal '1.5,0,10,3 2,0,10,2' "$("$TALLY" pairs.npy -c 2 --by 1 --bins 1 --range 0 10 --format csv | tail -n +2 | paste -sd ' ')" "--by a column of an array"
expect 2 '--separate needs --column' -- "$TALLY" bool.csv --separate
expect 2 '--separate writes JSON, or tables' -- "$TALLY" bool.csv -c ok,q --separate --format csv
# Damage.
python3 -c 'open("nul.csv", "wb").write(b"w\n" + b"a\n" * 5000 + b"b\0c\n")'
expect 1 "nul.csv: a value of column 'w' has a zero byte" -- "$TALLY" nul.csv -c w
expect 1 'axis 0: its bins are words in the first' -- "$TALLY" merge part0.json <("$TALLY" bool.csv -c q --integer --format json)
"$TALLY" show part0.json --top 2 --format json >top2.json
expect 1 'counted without --top' -- "$TALLY" merge top2.json part1.json
sed 's/"labels":\["[^"]*",/"labels":[/' part0.json >few.json
expect 1 'labels are of an integer axis from 0, one a bin' -- "$TALLY" show few.json
finish
