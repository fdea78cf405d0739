#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mean, standard deviation, least, median and greatest beside every histogram: exact where the counts tell, else within
# their bins, said so.
. "$(dirname "$0")/lib.sh"
need python3

python3 - <<'PY'
import json, math, random, statistics, struct
random.seed(9)
def facts(values):
    return {"n": len(values), "mean": statistics.fmean(values), "sd": statistics.stdev(values), "min": min(values),
            "median": sorted(values)[(len(values) + 1) // 2 - 1], "max": max(values)}
bytes_ = [min(255, int(random.expovariate(0.02))) for _ in range(5001)]
open("u8.raw", "wb").write(bytes(bytes_))
shorts = [random.randrange(-300, 300) for _ in range(4000)]
open("i16.raw", "wb").write(struct.pack(f"{len(shorts)}h", *shorts))
reals = [random.gauss(50, 9) for _ in range(4000)]
open("f64.raw", "wb").write(struct.pack(f"{len(reals)}d", *reals))
open("text.csv", "w").write("v\n" + "\n".join(map(str, shorts)) + "\n")
json.dump({"u8": facts(bytes_), "i16": facts(shorts), "f64": facts(reals)}, open("want.json", "w"))
PY
# near NAME TOLERANCE EXACT ARGUMENTS…: the summary is that of NAME, to so much.
near() {
    local name=$1 tolerance=$2 exact=$3
    shift 3
    checks=$((checks + 1))
    "$TALLY" "$@" --format json >got.json
    python3 - "$name" "$tolerance" "$exact" <<'PY' || fail "summary: $*"
import json, sys
want, got = json.load(open("want.json"))[sys.argv[1]], json.load(open("got.json"))["histograms"][0]["summary"]
assert str(got.pop("exact")) == sys.argv[3], got
assert got.keys() == want.keys() and all(abs(got[k] - want[k]) <= float(sys.argv[2]) for k in want), (got, want)
PY
}
near u8 1e-9 True --dtype u8 u8.raw
near i16 1e-9 True --dtype i16 i16.raw --integer
near i16 5 False --dtype i16 i16.raw --bins 120
near i16 1e-9 False text.csv --integer
near f64 0.2 False --dtype f64 f64.raw --bins 500
"$TALLY" --dtype u8 u8.raw -o u8.json
"$TALLY" merge u8.json u8.json --format json >twice.json
equal 10002 "$(python3 -c 'import json; print(json.load(open("twice.json"))["histograms"][0]["summary"]["n"])')" "n of a sum"
# What is in no bin is not in the mean; ends beyond which there is something are not named.
"$TALLY" --dtype u8 u8.raw --range 10 20 --bins 10 --format json >cut.json
equal "['n', 'mean', 'sd', 'exact']" "$(python3 -c 'import json; print([k for k in json.load(open("cut.json"))["histograms"][0]["summary"] if k != "median"])')" "facts of a part"
expect 0 '' -- "$TALLY" --dtype u8 u8.raw --max-rows 4
output '^mean [0-9.]+, sd [0-9.]+, median [0-9]+, min 0, max 255$'
expect 0 '' -- "$TALLY" --dtype f64 f64.raw --bins 50
output '^mean ~[0-9.]+, sd ~[0-9.]+, median ~[0-9.]+, from [0-9.]+ to [0-9.]+$'
# Of wide bins no guess is made: ends between which they are.
expect 0 '' -- "$TALLY" --dtype f64 f64.raw --bins 5
output '^mean [0-9.]+ to [0-9.]+, median [0-9.]+ to [0-9.]+, from [0-9.]+ to [0-9.]+$'
python3 - <<'PY'
import json, random, re, statistics, subprocess, os
random.seed(11)
for _ in range(60):
    values = [random.lognormvariate(0, random.choice([0.1, 1, 3])) * random.choice([-1, 1, 1]) for _ in range(random.randrange(1, 40))]
    text = subprocess.run([os.environ["TALLY"], "-", "--bins", str(random.randrange(1, 9))], input="\n".join(map(repr, values)),
                          capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    truth = {"mean": statistics.fmean(values), "median": sorted(values)[(len(values) + 1) // 2 - 1]}
    found = re.findall(r"(mean|median) (-?[0-9.,e+-]+) to (-?[0-9.,e+-]+?)(?=, [a-z]|$)", text)
    for name, *ends in found:
        lo, hi = (float(e.replace(",", "")) for e in ends)
        wide = 1e-4 * max(abs(lo), abs(hi))  # edges have five digits
        assert lo - wide <= truth[name] <= hi + wide, (text, truth)
    assert re.match(r"(mean|median|from) ", text), text
PY
equal 0 $? "ends between which mean and median are"
expect 0 '' -- "$TALLY" --dtype u8 u8.raw --range 10 20 --bins 10
output '^in bins: mean ~[0-9.]+, sd ~[0-9.]+$'
expect 0 '' -- "$TALLY" --dtype f64 f64.raw --bins 5 --no-header
checks=$((checks + 1))
grep -q mean .out && fail "facts below rows that were asked for alone"
"$TALLY" --dtype u8 u8.raw -o u8.svg
checks=$((checks + 1))
[ "$(stat -c %s u8.svg)" -gt 1000 ] || fail "a picture"
expect 0 '' -- "$TALLY" --alphabet a-z u8.raw
checks=$((checks + 1))
grep -q mean .out && fail "a mean of letters"
finish
