#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tally-bench: a quick run measures and verifies, its JSON lines are the contract's, wrong words are refused.
. "$(dirname "$0")/../cli/lib.sh"
need python3

expect 0 -- "$TALLY_BENCH" --quick --only u8-uniform --only f32-256 --only edges-f64-normal \
    --only 2d-f64-normal --only weights --threads 2 --repeats 2 --format json
cp .out bench.jsonl
python3 - <<'PY' 2>.py || fail "tally-bench --format json: $(tail -1 .py)"
import json
lines = [json.loads(line) for line in open("bench.jsonl")]
fields = ("device method dtype n bins data median_s min_s max_s gbps fraction_of_read verified "
          "case by version clock peer threads calls").split()
for line in lines:
    assert list(line) == fields, line
    assert line["device"] == "cpu" and line["method"], line
    assert 0 < line["min_s"] <= line["median_s"] <= line["max_s"], line
    assert line["gbps"] > 0 and line["fraction_of_read"] > 0 and line["calls"] >= 1, line
    sizes = {"u8": 1, "f32": 4, "f64": 8}
    kind = line["case"].split("-")[0]
    size = sizes[line["dtype"]] * (2 if kind == "2d" else 1) + (8 if kind == "weights" else 0)
    assert abs(line["gbps"] * line["median_s"] * 1e9 / (line["n"] * size) - 1) < 1e-4, line
ours = [line for line in lines if not line["peer"]]
assert all(line["by"] in ("tally", "scaling") and line["verified"] for line in ours)
assert {line["case"] for line in ours if line["by"] == "scaling" and line["threads"] == 2} == {
    "2d-f64-normal", "weights-f64-uniform"}
assert {line["case"] for line in ours} == {
    "u8-uniform-4KiB", "u8-uniform-64KiB", "u8-uniform-1MiB", "f32-256-uniform", "f32-256-equal",
    "edges-f64-normal", "2d-f64-normal", "weights-f64-uniform"}
assert {line["n"] for line in ours if line["dtype"] == "u8"} == {4096, 65536, 1048576}
assert {line["bins"] for line in ours} == {256, 10000}
assert all(line["by"] != "tally" for line in lines if line["peer"])
# Where loops were built they count what everybody counts.
assert all(line["verified"] for line in lines if line["by"] == "loop" and line["dtype"] == "u8")
PY

# Alone: no folder of peers, one thread, a named method; what is missing is said.
mkdir empty
export TALLY_BENCH_FOLDER=$WORK/empty
expect 0 -- "$TALLY_BENCH" --quick --only u8-ramp-64KiB --repeats 2 --threads 1 --method cpu-tables -v
output '^skipped: opencv: not built'
output '^skipped: numpy: '
output '^u8-ramp-64KiB +[0-9.]+ +[0-9]+%'
output '^ +tally cpu-tables +[0-9.]+ GB/s'
expect 1 'nothing could be measured' -- "$TALLY_BENCH" --quick --only u8-photograph
expect 0 '^tally-bench: skipped: gsl: ' -- "$TALLY_BENCH" --quick --only u8-ramp-4KiB --repeats 1 --format json
expect 0 -- "$TALLY_BENCH" --quick --only u8-ramp-4KiB --repeats 1 --format json -q
equal 0 "$(wc -c <.err)" "words on standard error with -q"
expect 0 '^u8-two-1MiB +[0-9]+ %' -- "$TALLY_BENCH" --quick --only 'u8-two-*' --repeats 2 --progress always

expect 0 -- "$TALLY_BENCH" --quick --only u8-ramp-4KiB --repeats 1 --threads 2 --clock cpu --format json
equal '1 cpu 2 wall' "$(python3 -c 'import json; print(*[x for l in open(".out") for l in [json.loads(l)]
    for x in (l["threads"], l["clock"])])')" "clocks"
expect 2 'no such case; they are called u8-uniform-64KiB' -- "$TALLY_BENCH" --only u9
expect 2 'times the processor' -- "$TALLY_BENCH" --device cuda
expect 2 'times the processor' -- "$TALLY_BENCH" --device nonsense
expect 2 'no method nonsense' -- "$TALLY_BENCH" --method nonsense
expect 2 'integer from 1 to 1000' -- "$TALLY_BENCH" --repeats 0
expect 2 'takes no file' -- "$TALLY_BENCH" photo.png
expect 2 'given twice' -- "$TALLY_BENCH" --repeats 2 --repeats 3
expect 2 'no option --onl.*--help' -- "$TALLY_BENCH" --onlx u8
expect 2 'x1b.31mred: no such case' -- "$TALLY_BENCH" --only $'\e[31mred'
grep -q $'\e' .err && fail "an escape sequence on standard error"
expect 2 'no option -x' -- "$TALLY_BENCH" -qx
expect 2 '--only needs CASE' -- "$TALLY_BENCH" --only
expect 2 '--threads needs N' -- "$TALLY_BENCH" -j
expect 2 '--only needs CASE, not an empty word' -- "$TALLY_BENCH" --only ''
expect 2 '--quick takes no value' -- "$TALLY_BENCH" --quick=1
expect 2 'one of table json' -- "$TALLY_BENCH" -f csv
expect 2 'integer from 1 to 1024' -- "$TALLY_BENCH" -j2x
expect 2 'more than 32 of them' -- "$TALLY_BENCH" $(printf -- '--only u8 %.0s' {1..33})
expect 1 'standard output: No space' -- bash -c '"$0" --list >/dev/full' "$TALLY_BENCH"
expect 0 '' -- "$TALLY_BENCH" --version
output "^tally-bench $("$TALLY" --version | cut -d' ' -f2)$"
expect 0 '' -- "$TALLY_BENCH" --help
for option in device threads method set seed quick only repeats clock figure list format output \
    progress quiet verbose help version; do
    output "--$option( |\$)"
done
expect 2 'not KEY=VALUE' -- "$TALLY_BENCH" --set nonsense
expect 1 'nothing could be measured' -- "$TALLY_BENCH" --quick --only u8-ramp-4KiB --set no=1 -v
output '^u8-ramp-4KiB +skipped: .*no'
# A closed pipe is a quiet end.
"$TALLY_BENCH" --quick --only u8-ramp --repeats 1 2>.err | head -n 1 >/dev/null
equal 0 "${PIPESTATUS[0]}" "exit code with a closed pipe"
finish
