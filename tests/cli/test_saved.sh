#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Saved results: the schema, merge, show, plot.
. "$(dirname "$0")/lib.sh"
need python3 gzip
photo=$SRCDIR/data/photograph.png
flights=$SRCDIR/data/flights.csv

# The contract's keys and conservation, for every kind of result.
kind() {
    expect 0 -- "$TALLY" "$@" --format json
    checks=$((checks + 1))
    python3 "$HERE/result.py" check .out 2>.py || fail "$(tail -1 .py): $last"
}
seq 1 1000 >n.txt
kind "$photo"
kind "$photo" --channel R --rows 10:20
kind n.txt
kind n.txt --log
kind n.txt --integer
kind n.txt --edges 1,2,3.5,1000
kind n.txt --alphabet 0-9 --per-bin 2
kind n.txt --counter u8sat
kind n.txt n.txt --each
kind "$flights" --column dep_delay,arr_delay --bins 10
kind "$flights" --column dep_delay --weights :distance --sum-squares
"$TALLY" "$photo" --format json | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert list(r) == ["schema","source","dtype","samples","axes","histograms","run"], list(r)
assert r["dtype"] == "u8" and r["axes"][0]["kind"] == "even" and r["axes"][0]["bins"] == 256
assert [h["name"] for h in r["histograms"]] == ["R", "G", "B"]
assert r["source"] == [sys.argv[1]] and r["run"]["device"].split(":")[0] in ("cpu", "cuda", "opencl")' "$photo" ||
    fail "the photograph's result"

# same A B: the same histograms, axes, samples and kind.
same() {
    checks=$((checks + 1))
    python3 - "$1" "$2" <<'PY' || fail "$1 and $2 differ: $3"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
for key in ("axes", "histograms", "samples", "dtype", "counter", "weights"):
    assert a.get(key) == b.get(key), key
PY
}

# Parts merge to the whole, in any order and grouping, compressed or not.
split -n l/4 n.txt part.
i=0
for part in part.a?; do
    i=$((i + 1))
    "$TALLY" "$part" --range 1 1000 --bins 37 -o p$i.json
done
"$TALLY" n.txt --range 1 1000 --bins 37 -o whole.json
expect 0 "" -- "$TALLY" merge p1.json p2.json p3.json p4.json -o m.json
same whole.json m.json "merging four"
gzip -k p2.json
"$TALLY" merge p3.json p1.json -o m2.json
expect 0 "" -- "$TALLY" merge p4.json m2.json p2.json.gz -o m3.json
same whole.json m3.json "merging merged ones and gzip"
if command -v zstd >/dev/null; then
    zstd -q p2.json
    expect 0 "" -- "$TALLY" merge p4.json m2.json p2.json.zst -o m4.json
    same whole.json m4.json "merging zstd"
fi
"$TALLY" part.a? --each --range 1 1000 --bins 37 -o list.json
expect 0 "" -- "$TALLY" merge list.json -o m5.json
same whole.json m5.json "merging a list"
cat p1.json | "$TALLY" merge - p2.json p3.json p4.json -o m6.json
same whole.json m6.json "merging standard input"
expect 0 "" -- "$TALLY" merge p1.json
output 'samples'
python3 -c '
import json
assert len(json.load(open("m.json"))["source"]) == 4' || fail "the sources of a merged result"

# A list of many results takes time as its length, and merging them memory as one.
python3 - whole.json <<'PY' || fail "making many"
import json, sys
r = json.load(open(sys.argv[1]))
parts = []
for i in range(8000):
    r["source"] = [f"part {i}"]
    parts.append(json.dumps(r))
open("many.json", "w").write("[" + ",".join(parts) + "]")
PY
limited() { (ulimit -t 15 && "$@"); } # seconds of the processor: a fraction of one is needed
expect 0 "" -- limited "$TALLY" show many.json --index 8000 --format json
expect 0 "" -- limited "$TALLY" merge many.json many.json -o twice.json
python3 -c '
import json
r, one = json.load(open("twice.json")), json.load(open("whole.json"))
assert r["source"] == [f"part {i}" for i in range(32)] and r["sources"] == 16000, r["source"]
assert r["histograms"][0]["counts"] == [16000 * n for n in one["histograms"][0]["counts"]]' ||
    fail "16000 results merged"
rm many.json
expect 0 "" -- "$TALLY" merge twice.json
output 'part 0 and 15999 more'

# Many files: in memory that does not grow with them; sums of floats in the files' order, whatever the
# threads; and the first in that order that cannot be added is the one that is named.
seq 1 0.37 2000 >w.txt
"$TALLY" w.txt --weights w.txt --range 1 2000 --bins 4096 -o p.json
mkdir parts
for i in $(seq 1000 "$([ -z "${SANITIZE:-}" ] && echo 1999 || echo 1099)"); do ln p.json parts/$i.json; done
python3 - "$TALLY" <<'PY' || fail "many files"
import json, os, pathlib, random, resource, subprocess, sys
tally, paths = sys.argv[1], sorted(map(str, pathlib.Path("parts").iterdir()))
subprocess.run([tally, "merge", "-j", "4", *paths, "-o", "sum.json"], check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
one, whole = (json.load(open(name))["histograms"][0]["counts"] for name in ("p.json", "sum.json"))
assert max(abs(len(paths) * a - b) for a, b in zip(one, whole)) <= 1e-9 * max(whole)
# All of them at once take 65 MB and more. Sanitizers keep what is freed.
assert most < 40000 or os.environ.get("SANITIZE"), f"{most} KiB"
random.seed(7)
part = json.load(open("p.json"))
for path in paths[:60]:
    part["histograms"][0]["counts"] = [random.random() * 10 ** random.randint(-9, 9) for _ in one]
    pathlib.Path(path).unlink()
    json.dump(part, open(path, "w"))
PY
"$TALLY" merge -j 1 parts/10[0-5]*.json -o one.json
for i in 1 2 3; do
    "$TALLY" merge -j 4 parts/10[0-5]*.json -o four.json
    cmp one.json four.json || fail "sums depend on the threads"
done
echo '[' >parts/1040.json
"$TALLY" p.json --dtype u8 --bins 3 --range 0 255 -o parts/1045.json
expect 1 'parts/1040.json' -- "$TALLY" merge -j 4 parts/*.json -o never.json
[ -e never.json ] && fail "a failed merge left a file"
rm -r parts

# With a limit, parts of float weights that are merged have the whole's bits.
seq 0.1 0.37 1500 | head -n 4000 >w.txt
seq 0.001 0.0777 315 | head -n 4000 >v.txt
for half in "1:2000" "2001:4000"; do
    sed -n "${half/:/,}p" w.txt >w-${half%:*}.txt
    sed -n "${half/:/,}p" v.txt >v-${half%:*}.txt
    expect 0 "" -- "$TALLY" w-${half%:*}.txt --weights v-${half%:*}.txt --weight-limit 400 --range 0 1500 --bins 30 -o p-${half%:*}.json
done
expect 0 "" -- "$TALLY" w.txt --weights v.txt --weight-limit 400 --range 0 1500 --bins 30 --verify -o all.json
expect 0 "" -- "$TALLY" merge p-2001.json p-1.json -o sum.json
for file in all sum; do sed -n '/"histograms"/,/^"run"/p' $file.json | grep -v '^"run"' >$file.part; done
cmp all.part sum.part || fail "parts of float weights have other bits than the whole"
expect 1 'weight_limit of 100' -- "$TALLY" w.txt --weights v.txt --weight-limit 100 -o never.json
wrong=0
"$TALLY" w.txt --weights v.txt --weight-limit 0 -o never.json 2>/dev/null || wrong=$?
[ $wrong = 2 ] || fail "--weight-limit 0: exit code $wrong"

# What does not add up says what differs.
"$TALLY" n.txt --range 1 1000 --bins 38 -o other.json
expect 1 'other.json: cannot be added to whole.json: axis 0.*(37|38)' -- "$TALLY" merge whole.json other.json
"$TALLY" n.txt --range 1 1000.5 --bins 37 -o other.json
expect 1 'other.json.*axis 0' -- "$TALLY" merge whole.json other.json
"$TALLY" n.txt --range 1 1000 --bins 37 --weights n.txt -o weighted.json
expect 1 'weighted.json' -- "$TALLY" merge whole.json weighted.json
"$TALLY" "$photo" -o photo.json
"$TALLY" "$photo" --channel R -o red.json
expect 1 'red.json' -- "$TALLY" merge photo.json red.json
# Numbers stay exact past 2^53, and a sum past 2^64 is refused.
python3 - <<'PY'
import json
r = json.load(open("whole.json"))
counts = r["histograms"][0]["counts"]
others = sum(counts[1:])
for name, first in (("huge", 2**63 + 1), ("huge2", 2**63 + 5), ("wide", 2**53 + 1)):
    counts[0] = first
    r["samples"] = first + others
    json.dump(r, open(name + ".json", "w"))
r["samples"] += 1
json.dump(r, open("wrong.json", "w"))
PY
"$TALLY" merge wide.json whole.json --format json | python3 -c '
import json, sys
first = json.load(open("whole.json"))["histograms"][0]["counts"][0]
assert json.load(sys.stdin)["histograms"][0]["counts"][0] == 2**53 + 1 + first' || fail "a count past 2^53"
expect 1 'huge2.json: cannot be added' -- "$TALLY" merge huge.json huge2.json

# What Python's Hist knows beside the counts is not lost, nor its categories taken for numbers: merging refuses.
beside() { sed "1s/{/{\"hist\":{\"axes\":[{\"name\":\"x\"$1}]$2},/" whole.json >hist.json; }
beside '' '' && expect 0 "" -- "$TALLY" merge hist.json whole.json -o both.json
beside ',"categories":["a","b"]' '' && expect 1 '2 categories are of an integer axis from 0' -- "$TALLY" show hist.json
printf '0\n1\n1\n2\n' | "$TALLY" - --range 0 1 --integer -o words.json
categories='"hist":{"axes":[{"name":"x","categories":["red",2.50]}],"flow":[0,1]},'
sed "1s/{/{$categories/" words.json >hist.json
expect 1 'cannot be added.*with categories' -- "$TALLY" merge hist.json words.json
expect 0 "" -- "$TALLY" show hist.json
grep -q '^ *red  *1 ' .out && grep -q '^ *2.50  *2 ' .out || fail "categories of a Hist: $(cat .out)"
"$TALLY" show hist.json -f json | "$TALLY" show - | grep -q '^ *red  *1 ' || fail "categories of a Hist, saved again"
sed '1s/"red"/null/' hist.json >null.json
expect 1 'a label' -- "$TALLY" show null.json
beside '' ',"means":[1]' && expect 1 'cannot be added.*with means' -- "$TALLY" merge whole.json hist.json
expect 0 "" -- "$TALLY" show hist.json
expect 3 'json from here would lack' -- "$TALLY" merge hist.json -o lost.json
sed "1s/{/{${categories/\"flow\"/\"means\":[1],\"flow\"}/" words.json >hist.json
expect 3 'json from here would lack' -- "$TALLY" show hist.json --format json
expect 1 'wrong.json.*add up' -- "$TALLY" show wrong.json

# show: a result passes through unchanged; other formats are those of run.
expect 0 "" -- "$TALLY" show whole.json --format json
cp .out again.json
same whole.json again.json "show --format json"
"$TALLY" n.txt --range 1 1000 --bins 37 --format csv >run.csv
"$TALLY" show whole.json --format csv >show.csv
cmp -s run.csv show.csv || fail "show --format csv is not what run writes"
"$TALLY" show whole.json --format npy | tail -c $((37 * 8)) | python3 -c '
import json, struct, sys
assert list(struct.unpack("<37Q", sys.stdin.buffer.read())) == json.load(open("whole.json"))["histograms"][0]["counts"]' ||
    fail "show --format npy"
"$TALLY" show - <whole.json >/dev/null || fail "show -"
expect 0 "" -- "$TALLY" show list.json
equal 4 "$(grep -c samples .out)" "tables of a list"
expect 0 "" -- "$TALLY" show list.json --index 2 --format json
cp .out second.json
same p2.json second.json "show --index 2"
expect 1 'holds 4' -- "$TALLY" show list.json --index 5
expect 1 'choose one with --index' -- "$TALLY" show list.json --format csv

# As it was saved before there was "run".
python3 - <<'PY'
import json
r = json.load(open("whole.json"))
r.update(r.pop("run"), device="abacus", seconds=2)
json.dump(r, open("old.json", "w"))
PY
expect 0 'counted on abacus by .* in 2.000000 s' -- "$TALLY" show old.json -v
"$TALLY" show old.json --format json | python3 -c '
import json, sys
assert json.load(sys.stdin)["run"]["device"] == "abacus"' || fail "the device of an older file"

# plot
for ending in png svg; do
    expect 0 "" -- "$TALLY" plot photo.json -o plot.$ending
    [ -s plot.$ending ] || fail "no plot.$ending"
done
expect 0 "" -- "$TALLY" plot list.json --index 1 -o plot.png
expect 1 'choose one' -- "$TALLY" plot list.json -o plot.png
# The axes of a joint histogram are named by its columns.
printf 'x,y\n1,2\n3,4\n' >a.csv
printf 'depth,y\n1,2\n3,4\n' >b.csv
printf 'x,width\n1,2\n3,4\n' >c.csv
for table in a b c; do
    expect 0 "" -- "$TALLY" $table.csv --column 1,2 --title T -o $table.svg
done
cmp -s a.svg b.svg && fail "the first column's name is not in the picture"
cmp -s a.svg c.svg && fail "the second column's name is not in the picture"
expect 2 'draws png or svg' -- "$TALLY" plot photo.json -o plot.csv
python3 -c '
import xml.dom.minidom
xml.dom.minidom.parse("plot.svg")' || fail "plot.svg is no XML"
finish
