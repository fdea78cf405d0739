#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --column all: every column by itself, as one that is asked for alone; those that the bins are not for are named.
. "$(dirname "$0")/lib.sh"
need python3
table=$SRCDIR/data/flights.csv
# same OPTIONS...: each result of -c all is the one of its column.
same() {
    checks=$((checks + 1))
    "$TALLY" "$table" -c all -f json "$@" >all.json 2>notes.txt || fail "exit code of -c all $*"
    python3 - "$TALLY" "$table" "$@" <<'PY' || fail "-c all $*"
import json, subprocess, sys
tally, table, *how = sys.argv[1:]
for result in json.load(open("all.json")):
    name = result["histograms"][0]["name"]
    alone = json.loads(subprocess.run([tally, table, "-c", name, "-f", "json", *how], capture_output=True).stdout)
    assert (result["axes"], result["histograms"]) == (alone["axes"], alone["histograms"]), name
PY
}
# names FILE: of its results, in order.
names() { python3 -c 'import json, sys; print(*(r["histograms"][0]["name"] for r in json.load(open(sys.argv[1]))))' "$1"; }
# plain FILE: its results without what differs between runs.
plain() { python3 -c 'import json, sys; print([(r["axes"], r["histograms"]) for r in json.load(open(sys.argv[1]))])' "$1"; }
same
equal 'day carrier dep_delay arr_delay air_time distance' "$(names all.json)" "columns of -c all"
same --bins 7 --range 0 100
equal 'day dep_delay arr_delay air_time distance' "$(names all.json)" "columns of numbers"
grep -q 'column carrier is of words and left out' notes.txt || fail "a column of words is left out silently"
# The file is read once for up to eight columns, but for looking what they are of (the shell's count of what it reads).
reads() { sh -c '"$@" >/dev/null; sed -n "s/^rchar: //p" /proc/$$/io' sh "$TALLY" "$@"; }
python3 -c 'print("a,b,c,d,e,f"); [print(i, i % 7, i * 3, i % 11, -i, "x%d" % (i % 5), sep=",") for i in range(200000)]' >six.csv
size=$(stat -c %s six.csv)
[ "$(reads six.csv -c all -b 5)" -lt $((2 * size)) ] || fail "-c all reads $(reads six.csv -c all -b 5) bytes of $size"
table=six.csv same --bins 7
# Integers that float64 does not have are counted alone.
{ echo id,x; seq 9007199254740993 9007199254741192 | sed 's/$/,1/'; } >long.csv
table=long.csv same --bins 3
# More columns than a joint histogram has, headings that are numbers or twice there, dates.
python3 - <<'PY'
with open("wide.csv", "w") as out:
    print(*range(20), "twice", "twice", "when", sep=",", file=out)
    for row in range(50):
        print(*(row * i for i in range(20)), 1, 2, f"2026-{row % 12 + 1:02}-01", sep=",", file=out)
PY
"$TALLY" wide.csv -c all -f json -o wide.json
equal "$(seq -s ' ' 0 19) twice twice when" "$(names wide.json)" "columns of a wide table"
"$TALLY" wide.csv -c all --bins month -f json -q -o dates.json
equal when "$(names dates.json)" "columns of dates"
expect 0 '' -- "$TALLY" show wide.json --index 23
for from in "cat wide.csv | $TALLY - -c all" "$TALLY -c all <wide.csv"; do
    bash -c "$from -f json -o piped.json" && equal "$(plain wide.json)" "$(plain piped.json)" "by $from"
done
expect 2 'standard input .-. only alone' -- "$TALLY" wide.csv - -c all
expect 2 'contradict each other' -- "$TALLY" wide.csv -c all --by twice
expect 1 'no-such.csv' -- "$TALLY" no-such.csv -c all
expect 1 'no column is counted by these bins' -- "$TALLY" "$table" -c all --bins month -q
expect 1 'columns are chosen by name in tables' -- "$TALLY" "$SRCDIR/data/camera.png" -c all
finish
