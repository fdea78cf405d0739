#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tally-bench --figure: every figure of the sources is measured, every point verified; wrong words are
# refused. test_plots.sh draws.
. "$(dirname "$0")/../cli/lib.sh"
need python3

# ---- words ----
expect 0 -- "$TALLY_BENCH" --list
output '^trish-k +003 fig. 4 '
equal 10 "$(wc -l <.out)" "figures listed"
names=$(cut -d' ' -f1 .out)
expect 2 'no such figure' -- "$TALLY_BENCH" --figure nonsense
expect 2 'figures are of graphics processors' -- "$TALLY_BENCH" --figure trish-k --device cpu
expect 2 'auto, cuda or opencl' -- "$TALLY_BENCH" --figure trish-k --device nonsense
for option in '--method trish' '--set k=1' '--only u8' '--clock cpu'; do
    expect 2 'does not go with --figure' -- "$TALLY_BENCH" --figure trish-k $option
done
expect 2 'goes with --figure' -- "$TALLY_BENCH" -o folder
expect 2 'goes with --figure' -- "$TALLY_BENCH" --mib 1
[ -e folder ] && fail "a refused word made a folder"
expect 1 'missing/figures: No such file' -- "$TALLY_BENCH" --figure trish-k -o missing/figures
TALLY_CUDA_LIBRARY=none TALLY_OPENCL_LIBRARY=none \
    expect 1 -- "$TALLY_BENCH" --figure trish-k --quick

# ---- the recorded lines (unit/test_tables: the page says what they say) ----
results=$SRCDIR/bench/results
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
expect 0 'today +[0-9]+ %' -- "$TALLY_BENCH" --figure all --quick --device opencl -o made \
    --progress always
python3 - $names <<'PY' || fail "lines: see above"
import csv, json, sys
ok = True
for name in sys.argv[1:]:
    lines = [json.loads(line) for line in open(f"made/{name}.jsonl", encoding="utf-8")]
    rows = list(csv.DictReader(open(f"made/{name}.csv", encoding="utf-8")))
    assert len(lines) == len(rows) > 2, name
    for line, row in zip(lines, rows):
        assert line["figure"] == name and row["series"] == line["series"], line
        if "this build" in line.get("skipped", ""): # without PNG or zlib
            continue
        if name == "today" and "skipped" in line: # a method that is for other numbers of bins
            continue
        assert "skipped" not in line, line
        assert line["verified"] or line["timing_only"], line
        assert 0 < line["min_s"] <= line["median_s"] <= line["max_s"] and line["gbps"] > 0, line
        assert line["min_s"] <= line["mean_s"] * (1 + 1e-9) <= line["max_s"] * (1 + 2e-9), line
        for key in "name driver date version commit n bins data method".split():
            assert key in line or line["device"] == "cpu", (key, line)
        assert line["quick"] and line["device"] in ("cpu", "opencl:0"), line
    print(name, len(lines))
k = {line["x"]: line for line in map(json.loads, open("made/trish-k.jsonl", encoding="utf-8"))}
assert abs(k[32]["efficiency"] - 32 / 63) < 1e-6 and k[63]["efficiency"] == 1 and k[31]["relative"] == 1
book = [json.loads(line) for line in open("made/optimisations.jsonl", encoding="utf-8")]
assert {line["data"] for line in book} == {"text", "letters", "runs"}
# What data are: runs of 64 letters in the mean, a picture's rows, neighbours that differ.
assert all(abs(line["equal_neighbours"] - 63 / 64) < 0.004 for line in book if line["data"] == "runs"), book
equal = {line["data"]: line["equal_neighbours"]
         for line in map(json.loads, open("made/trish-images.jsonl", encoding="utf-8")) if "skipped" not in line}
assert 0.5 < equal["phantom"] < 0.75, equal
data = {line["data"]: line["equal_neighbours"]
        for line in map(json.loads, open("made/trish-throughput.jsonl", encoding="utf-8"))}
assert data["zeros"] > 0.9999 and data["linear"] == 0 and 0.003 < data["uniform"] < 0.005, data
PY

# Without -o the lines are the output, and nothing is written to a folder.
expect 0 '' -- "$TALLY_BENCH" --figure trish-table1 --quick --device opencl
equal 4 "$(grep -c '^{"figure":"trish-table1"' .out)" "lines on standard output"
expect 0 '' -- "$TALLY_BENCH" --figure trish-table1 --mib 1 --repeats 1 --device opencl
equal 4 "$(grep -c '"n":1048576,' .out)" "points of a MiB"
# A file that is missing costs its points, not the figure.
mkdir bare
TALLY_BENCH_FOLDER=$WORK/bare expect 0 'skipped: optimisations: a book: .*book.txt.gz' -- \
    "$TALLY_BENCH" --figure optimisations --quick --device opencl
equal 10 "$(grep -c '"skipped"' .out)" "points without a book"

ls made | grep -qvE '\.(jsonl|csv)$' && fail "something else was left in the folder"
finish
