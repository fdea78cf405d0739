#!/usr/bin/env bash
# bench --figure: every figure of the sources is measured and drawn, every point verified; lines are
# drawn again as they were; wrong words are refused.
. "$(dirname "$0")/lib.sh"
need python3

# ---- words ----
expect 0 -- "$TALLY" bench --list
output '^trish-k +003 fig. 4 '
equal 10 "$(wc -l <.out)" "figures listed"
names=$(cut -d' ' -f1 .out)
expect 2 'no such figure' -- "$TALLY" bench --figure nonsense
expect 2 'figures are of graphics processors' -- "$TALLY" bench --figure trish-k --device cpu
expect 2 'auto, cuda or opencl' -- "$TALLY" bench --figure trish-k --device nonsense
expect 2 'needs -o DIR' -- "$TALLY" bench --figure trish-k --from lines
for option in '--method trish' '--set k=1' '--only u8' '--clock cpu'; do
    expect 2 'does not go with --figure' -- "$TALLY" bench --figure trish-k $option
done
for option in '--from lines' '--peers lines' '-o folder'; do
    expect 2 'goes with --figure' -- "$TALLY" bench $option
done
[ -e folder ] && fail "a refused word made a folder"
expect 1 'missing/figures: No such file' -- "$TALLY" bench --figure trish-k -o missing/figures
expect 1 'no-such-lines: No such file' -- "$TALLY" bench --figure trish-k --from no-such-lines -o .
printf '{"figure":"trish-k"}\n\n{"figure":\n' >bad.jsonl
expect 1 'bad.jsonl, line 3: not one object' -- "$TALLY" bench --figure all --from bad.jsonl -o .
printf '{"figure":"trish-k","x":1} {}\n' >bad.jsonl
expect 1 'bad.jsonl, line 1: not one object' -- "$TALLY" bench --figure all --from bad.jsonl -o .
printf '{"nested":{"a":[1,"]}"]},"figure":"other"}\n' >other.jsonl
expect 1 'no line of figure trish-k' -- "$TALLY" bench --figure trish-k --from other.jsonl -o .
TALLY_CUDA_LIBRARY=none TALLY_OPENCL_LIBRARY=none \
    expect 1 -- "$TALLY" bench --figure trish-k --quick

# ---- the recorded lines can be drawn (unit/test_tables: the page says what they say) ----
results=$SRCDIR/bench/results
for runtime in cuda opencl; do
    expect 0 -- "$TALLY" bench --figure all --from "$results/h200-figures-$runtime.jsonl" -o "$runtime"
    grep -q 'draws no pictures' .err ||
        equal 20 "$(ls "$runtime" | grep -cE '\.(png|svg)$')" "pictures of $runtime"
done
python3 - "$results" <<'PY' || fail "recorded lines: see above"
import json, sys
for runtime in "cuda", "opencl":
    with open(f"{sys.argv[1]}/h200-figures-{runtime}.jsonl", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            assert "quick" not in line and ("skipped" in line or line["verified"] or
                                            line["timing_only"]), line
PY

# ---- measured on OpenCL, where there is one ----
if ! "$TALLY" devices --format json | grep -q '"opencl:0".*"available":true'; then
    echo "skipped: measuring: no OpenCL device"
    finish
fi
export TALLY_BENCH_FOLDER=$SRCDIR/data
cat >peers.jsonl <<'J'
{"header":1,"name":"another device","read_gbps":77}
{"by":"elsewhere","call":"histogram","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":true}
J
name=$("$TALLY" devices --format json | python3 -c 'import json, sys
print(json.dumps(*[d["name"] for d in json.load(sys.stdin) if d["id"] == "opencl:0"]))')
cat >>peers.jsonl <<J
{"header":1,"name":$name,"read_gbps":55}
{"by":"somebody","call":"histogram \\"8u\\"","dtype":"u8","bins":256,"n":1073741824,"gbps":123.5,"same":true}
{"by":"somebody","call":"wrong","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":false}
{"by":"somebody","call":"float","dtype":"f32","bins":256,"n":1073741824,"gbps":99,"same":true}
{"by":"Tally","call":"auto","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":true}
J
expect 0 'today +[0-9]+ %' -- "$TALLY" bench --figure all --quick --device opencl -o drawn \
    --peers peers.jsonl --progress always
python3 - $names <<'PY' || fail "lines: see above"
import csv, json, sys
ok = True
for name in sys.argv[1:]:
    lines = [json.loads(line) for line in open(f"drawn/{name}.jsonl", encoding="utf-8")]
    rows = list(csv.DictReader(open(f"drawn/{name}.csv", encoding="utf-8")))
    assert len(lines) == len(rows) > 2, name
    for line, row in zip(lines, rows):
        assert line["figure"] == name and row["series"] == line["series"], line
        if line["series"] == "other libraries":
            assert line["label"] == 'somebody histogram "8u"' == row["label"], line
            continue
        if "this build" in line.get("skipped", ""): # without PNG or zlib
            continue
        if name == "today" and "skipped" in line: # a method that is for other numbers of bins
            continue
        assert "skipped" not in line, line
        assert line["verified"] or line["timing_only"], line
        assert 0 < line["min_s"] <= line["median_s"] <= line["max_s"] and line["gbps"] > 0, line
        for key in "name driver date version commit n bins data method".split():
            assert key in line or line["device"] == "cpu", (key, line)
        assert line["quick"] and line["device"] in ("cpu", "opencl:0"), line
    print(name, len(lines))
today = [json.loads(line) for line in open("drawn/today.jsonl", encoding="utf-8")]
assert sum(line["series"] == "other libraries" for line in today) == 1
assert [line["read_gbps"] for line in today if "read_gbps" in line] == [55]
k = {line["x"]: line for line in map(json.loads, open("drawn/trish-k.jsonl", encoding="utf-8"))}
assert abs(k[32]["efficiency"] - 32 / 63) < 1e-6 and k[63]["efficiency"] == 1 and k[31]["relative"] == 1
book = [json.loads(line) for line in open("drawn/optimisations.jsonl", encoding="utf-8")]
assert {line["data"] for line in book} == {"text", "letters"}
PY

# Without -o the lines are the output, and nothing is drawn.
expect 0 '' -- "$TALLY" bench --figure trish-table1 --quick --device opencl
equal 3 "$(grep -c '^{"figure":"trish-table1"' .out)" "lines on standard output"
# A file that is missing costs its points, not the figure.
mkdir bare
TALLY_BENCH_FOLDER=$WORK/bare expect 0 'skipped: optimisations: a book: .*book.txt.gz' -- \
    "$TALLY" bench --figure optimisations --quick --device opencl
equal 7 "$(grep -c '"skipped"' .out)" "points without a book"

# ---- pictures ----
if grep -q 'without cairo' .err || [ ! -e drawn/trish-k.svg ]; then
    expect 0 'draws no pictures' -- "$TALLY" bench --figure trish-k --from drawn/trish-k.jsonl -o again
    echo "skipped: pictures: this build has no cairo"
    finish
fi
cat drawn/*.jsonl >all.jsonl
expect 0 -- "$TALLY" bench --figure all --from all.jsonl -o again
for name in $names; do
    equal 89504e47 "$(head -c 4 "drawn/$name.png" | od -An -tx1 | tr -d ' \n')" "$name.png"
    cmp -s "drawn/$name.svg" "again/$name.svg" || fail "$name.svg differs when drawn from its lines"
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "again/$name.svg" ||
        fail "$name.svg is no XML"
done
ls drawn again | grep -q part && fail "a part of a file was left"
finish
