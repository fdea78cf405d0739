#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many files: side by side or one after the other, in any order and by any number of threads the same counts; folders;
# files that fail.
. "$(dirname "$0")/lib.sh"
need python3
photo=$SRCDIR/data/photograph.png

# 120 files of different sizes, of which the histogram of all is known.
mkdir -p set/inner empty
python3 - <<'PY'
import json, random
random.seed(7)
counts = [0] * 256
for i in range(120):
    data = random.randbytes(random.choice([1, 100, 5000, 60000]))
    open(f"set/{i:03}.raw", "wb").write(data)
    for b in data:
        counts[b] += 1
for beside in (".hidden", "_SUCCESS", "_metadata", "_common_metadata"):
    open(f"set/{beside}", "w").write("x")
open("set/inner/other", "w").write("x")
json.dump(counts, open("want", "w"))
PY
# same FILE: the counts are those of all files.
same() {
    checks=$((checks + 1))
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
want = json.load(open("want"))
assert r["histograms"][0]["counts"] == want and r["samples"] == sum(want), sys.argv[1]' "$1" || fail "counts of $1"
}
for threads in 1 7; do
    "$TALLY" --dtype u8 set/*.raw -j $threads -o r$threads.json --device cpu && same r$threads.json
    "$TALLY" --dtype u8 $(ls -r set/*.raw) -j $threads -o back.json --device cpu && same back.json
done
"$TALLY" --dtype u8 set -j 3 -o folder.json --device cpu && same folder.json
"$TALLY" --dtype u8 set/ -j 3 -o folder.json --counter u32 --device cpu && same folder.json
expect 1 'empty: there is no file in this folder' -- "$TALLY" empty
# Images, weights and saturating counters, and files that are given twice.
cp "$photo" a.png
"$TALLY" a.png a.png a.png -j 2 -o three.json --device cpu
"$TALLY" a.png -o one.json --device cpu
checks=$((checks + 1))
python3 -c '
import json
one, three = json.load(open("one.json")), json.load(open("three.json"))
for a, b in zip(one["histograms"], three["histograms"]):
    assert [3 * x for x in a["counts"]] == b["counts"] and a["name"] == b["name"]' || fail "three photographs"

# A file that fails is named, whoever meets it; the one before all others if there are several.
cp -r set bad
printf 'PNG' >bad/100.raw
for i in 050 110; do
    rm bad/$i.raw
    ln -s missing bad/$i.raw
done
for threads in 1 5; do
    expect 1 '^tally: bad/050.raw: cannot be opened' -- "$TALLY" --dtype u8 bad/*.raw -j $threads -o no.json --device cpu
    [ ! -e no.json ] || fail "an output of files that failed"
    expect 1 'bad/110.raw: cannot be opened' -- "$TALLY" --dtype u8 bad/*.raw -j $threads --keep-going -o some.json --device cpu
    checks=$((checks + 1))
    python3 -c '
import collections, json
counts = [0] * 256
for i in range(120):
    if i not in (50, 110):
        for b, n in collections.Counter(open(f"bad/{i:03}.raw", "rb").read()).items():
            counts[b] += n
r = json.load(open("some.json"))
assert r["histograms"][0]["counts"] == counts and r["samples"] == sum(counts)' || fail "the files that are left"
done
# Damage at the end of a file leaves nothing of it; nor does one that a range was looked for in.
head -c 20000 "$photo" >cut.png
expect 1 'cut.png' -- "$TALLY" a.png cut.png a.png -k -o two.json --device cpu -j 2
checks=$((checks + 1))
python3 -c '
import json
one, two = json.load(open("one.json")), json.load(open("two.json"))
for a, b in zip(one["histograms"], two["histograms"]):
    assert [2 * x for x in a["counts"]] == b["counts"]' || fail "two of three photographs"
printf '1\n2\n3\n' >n1
printf '100\n200\nx\n' >n2
printf '4\n5\n' >n3
expect 1 'n2' -- "$TALLY" n1 n2 n3 -k --bins 4 -o n.json --device cpu
checks=$((checks + 1))
python3 -c '
import json
r = json.load(open("n.json"))
assert r["samples"] == 5 and r["axes"][0]["hi"] == 5, r["axes"]' || fail "a range without the file that failed"
expect 1 'n2' -- "$TALLY" n2 n1 -k --bins 4 --format csv
expect 1 'n2' -- "$TALLY" n2 n2 -k --bins 4 -o none.json
[ ! -e none.json ] || fail "an output of nothing"
expect 1 'n2' -- "$TALLY" --each n1 n2 n3 -k --bins 4 -o each.json
checks=$((checks + 1))
python3 -c 'import json; assert [r["samples"] for r in json.load(open("each.json"))] == [3, 2]' || fail "--each without one"
expect 2 'contradict' -- "$TALLY" n1 n3 -k --verify
finish
