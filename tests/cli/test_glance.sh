#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A table without a column: every column at a glance, as Python's statistics have it.
. "$(dirname "$0")/lib.sh"
need python3

python3 - <<'PY'
import json, math, random, statistics
random.seed(5)
rows = 30000
columns = {
    "small": [random.randrange(-40, 41) for _ in range(rows)],
    "price": [round(random.lognormvariate(3, 2), 2) for _ in range(rows)],
    "holes": [random.choice(["", "NA", "-3.5", "7", "1e3"]) for _ in range(rows)],
    "word": [random.choice(["oak", "elm", "", '"a, b"', "fir", "fir"]) for _ in range(rows)],
    "flag": [random.choice(["true", "false"]) for _ in range(rows)],
    "none": [""] * rows,
    "tall": [10**12 + random.randrange(10**9) for _ in range(rows)],
    "late": [str(i) if i != 20000 else "oops" for i in range(rows)],
    "names": [f"n{i}" for i in range(rows)],
}
with open("t.csv", "w") as out:
    print(*columns, sep=",", file=out)
    for row in zip(*columns.values()):
        print(*row, sep=",", file=out)
want = {}
for name, values in columns.items():
    if name in ("word", "flag", "names"):
        values = [v.strip('"') for v in values]
        found = {v: values.count(v) for v in set(values) - {""}} if name != "names" else {v: 1 for v in values}
        top = sorted(found.items(), key=lambda vn: (-vn[1], vn[0]))[:8]
        want[name] = {"type": "words", "missing": values.count(""), "different": len(found), "top": [list(t) for t in top]}
        continue
    numbers = sorted(float(v) for v in values if v not in ("", "NA", "oops"))
    n = len(numbers)
    want[name] = {"missing": sum(v in ("", "NA") for v in values), "not_numbers": values.count("oops"),
                  "type": "empty" if not n else "integer" if all(v == int(v) for v in numbers) else "number"}
    if n:
        want[name] |= {"min": numbers[0], "max": numbers[-1], "mean": statistics.fmean(numbers), "sd": statistics.stdev(numbers),
                       "quartiles": [numbers[math.ceil(q * n / 4) - 1] for q in (1, 2, 3)], "counts": n}
json.dump({"rows": rows, "columns": want}, open("want.json", "w"))
PY
# right FILE: the summary in it.
right() {
    checks=$((checks + 1))
    python3 - "$1" <<'PY' || fail "summary of $1"
import json, math, sys
got, want = json.load(open(sys.argv[1])), json.load(open("want.json"))
assert got["rows"] == want["rows"] and [c["name"] for c in got["columns"]] == list(want["columns"])
for c in got["columns"]:
    w = want["columns"][c["name"]]
    for key in ("type", "missing", "different", "top", "not_numbers", "min", "max"):
        assert key not in w or w[key] == c[key], (c["name"], key, w[key], c[key])
    if "mean" not in w:
        continue
    assert math.isclose(c["mean"], w["mean"], rel_tol=1e-14) and math.isclose(c["sd"], w["sd"], rel_tol=1e-9), (c, w)
    exact = c["name"] in ("small", "holes")
    assert c["quartiles_exact"] == exact or not exact, c
    for a, b in zip((c["q1"], c["median"], c["q3"]), w["quartiles"]):
        assert a == b if exact else abs(a - b) <= abs(b) / 2000, (c["name"], a, b)
    assert sum(c["counts"]) == w["counts"]
PY
}
for threads in 1 5; do "$TALLY" t.csv -j $threads -o r$threads.json && right r$threads.json; done
"$TALLY" - --format json <t.csv >pipe.json && right pipe.json
gzip -k t.csv && "$TALLY" t.csv.gz --format json >gz.json && right gz.json
checks=$((checks + 1))
cmp -s r1.json r5.json || fail "a summary hangs on the number of threads"
"$TALLY" t.csv >table.txt
for row in '^30,000 rows, 9 columns' '^small +integer +0 +-40 ' '^word +words +[0-9,]+ +4 values: fir ' '^none +empty +30,000$' '1 not numbers$' '^names +words +0 +30,000 values: '; do
    checks=$((checks + 1))
    grep -Eq -- "$row" table.txt || fail "no line '$row' in the table"
done
equal 80 "$("$TALLY" t.csv | awk 'length > 80' | wc -l | sed 's/^0$/80/')" "lines of more than 80 columns"
equal 10 "$("$TALLY" t.csv --format csv | wc -l)" "lines of csv"
"$TALLY" t.csv t.csv --format json >two.json
equal 2 "$(python3 -c 'import json; print(len(json.load(open("two.json"))))')" "summaries of two files"
# Numbers that are written in another way are shown as they are, not called empty.
printf 'n;euro\n1;3,5\n2;7\n3;3,5\n4;1.234,5\n' >comma.csv
expect 0 '' -- "$TALLY" comma.csv
output '^euro +words +0 +3 values: 3,5 50.00%'
expect 0 '' -- "$TALLY" comma.csv --decimal , --thousands .
output '^euro +number +0 +3.5 '
printf 'icd,n\nE10,1\n007,2\nE11,3\nE10,4\n' >codes.csv
expect 0 '' -- "$TALLY" codes.csv
output '^icd +words +0 +3 values: E10 50.00%'
printf '{"a":[1],"n":1}\n{"a":[2,3],"n":2}\n' >array.jsonl
expect 0 '' -- "$TALLY" array.jsonl
output '^a +- +0 *$'
# Too many different words: said, not listed.
seq 200000 | sed 's/.*/w&,1/' | sed '1i word,n' >many.csv
expect 0 '' -- "$TALLY" many.csv
output '^word +words +0 +over 131,072 values$'
# A value with a zero byte is no text, and stands alone.
python3 -c 'open("nul.csv", "wb").write(b"w,n\n" + b"a,1\n" * 5000 + b"b\0c,1\nd,1\ne,2\n")'
expect 0 '' -- "$TALLY" nul.csv
output '^w +words +0 +3 values: a '
output '^ +1 not text$'
# A format whose columns are read one by one, from a pipe too: two numeric columns and one of vectors.
python3 - <<'PY'
import struct
def unit(**cards):
    lines = "".join(f"{k:8}= {v:>20}".ljust(80) for k, v in cards.items()) + "END"
    return lines.ljust(-(-len(lines) // 2880) * 2880).encode()
rows = b"".join(struct.pack(">hd2h", i - 3, i / 4, 1, 2) for i in range(500))
table = unit(XTENSION="'BINTABLE'", BITPIX=8, NAXIS=2, NAXIS1=14, NAXIS2=500, PCOUNT=0, GCOUNT=1, TFIELDS=3,
             TFORM1="'I'", TTYPE1="'step'", TFORM2="'D'", TTYPE2="'level'", TFORM3="'2I'", TTYPE3="'pair'")
open("t.fits", "wb").write(unit(SIMPLE="T", BITPIX=8, NAXIS=0) + table + rows.ljust(-(-len(rows) // 2880) * 2880, b"\0"))
PY
gzip -k t.fits
"$TALLY" t.fits >want.txt
for row in '^500 rows, 3 columns' '^step +integer +0 +-3 ' '^level +number +0 +0 ' "^column 3 .*'pair' holds several"; do
    checks=$((checks + 1))
    grep -Eq -- "$row" want.txt || fail "no line '$row' of a FITS table"
done
for from in "cat t.fits | $TALLY -" "$TALLY - <t.fits" "$TALLY t.fits.gz" "cat t.fits.gz | $TALLY -"; do
    equal "$(tail -n +2 want.txt)" "$(bash -c "$from" 2>&1 | tail -n +2)" "a FITS table by $from"
done
expect 1 'choose one with --column' -- "$TALLY" t.fits --bins 5
# Other requests are as they were: a column, options for bins, formats of one histogram.
expect 1 'choose one with --column' -- "$TALLY" t.csv --bins 5
expect 1 'choose one with --column' -- "$TALLY" t.csv -o t.npy
printf 'a,b\n1,2\n3\n' >ragged.csv
expect 1 'ragged.csv:3: 1 field, expected 2' -- "$TALLY" ragged.csv -o no.json
[ ! -e no.json ] || fail "an output of a table that is damaged"
python3 -c 'print(",".join(map(str, range(5000)))); print(",".join(["x"] * 5000))' >wide.csv
expect 3 '5000 columns; up to 4096 are shown at a glance' -- "$TALLY" wide.csv
expect 0 '' -- "$TALLY" - --na 3 <<<$'a b\n3 4\n5 x'
output '^a +integer +1 +5 '
finish
