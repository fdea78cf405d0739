#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/counters.sh: a profiler's numbers (here a stand-in's) become the paper's columns, of the right launch.
. "$(dirname "$0")/../cli/lib.sh"
need python3

mkdir bin
cat >bin/ncu <<'NCU'
#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in --log-file) to=$2 ;; --metrics) metrics=$2 ;; esac
    shift
done
[ -z "${REFUSES:-}" ] || { echo '==ERROR== ERR_NVGPUCTRPERM' >"$to"; exit 1; }
# Memory's launch is there twice; the last one counts. Each metric has its own number, times the groups.
case $metrics in memory*) [ -z "${OLD:-}" ] || exit 1 ;; esac
{
    echo '==PROF== Connected'
    echo '"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"'
    number=1
    for metric in ${metrics//,/ }; do
        for launch in 7,64,100 7,64,1000 3,192,1000; do
            IFS=, read -r groups size scale <<<"$launch"
            echo "\"1\",\"count\",\"($size, 1, 1)\",\"($groups, 1, 1)\",\"$metric\",\"\",\"$((number * groups * scale / 1000)),000\""
        done
        number=$((number + 1))
    done
} >"$to"
NCU
chmod +x bin/ncu
export PATH=$PWD/bin:$PATH
line='"figure":"trish-table1","n":1048576,"units":10'
printf '{"label":"TRISH",%s,"groups":7,"group_size":64}\n{"label":"POD",%s,"groups":3,"group_size":192}\n' "$line" "$line" >lines.jsonl
cp lines.jsonl other.jsonl
expect 0 '' -- bash "$SRCDIR/bench/counters.sh" lines.jsonl true all.csv
output '^counters of 2 launches$'
python3 - <<'PY' || fail "counters: see above"
import json
trish, pod = [json.loads(line) for line in open("lines.jsonl", encoding="utf-8")]
assert trish["instructions_issued"] == 3 * 7000 / 10 and pod["instructions_issued"] == 3 * 3000 / 10, (trish, pod)
assert trish["instructions_per_byte"] == 21000 * 32 / 1048576 and trish["instructions_per_cycle"] == 2 / 5, trish
assert trish["cycles"] == 2100 / 0.4 and trish["cycles_ratio"] == 1 and abs(pod["cycles_ratio"] - 3 / 7) < 1e-12, pod
assert trish["lanes"] == 2 and trish["replays"] == 1 / 3 and trish["wavefronts_ideal"] == 2 * 700, trish
PY
grep -q memory_l1 all.csv || fail "all.csv lacks the second count"
OLD=1 expect 0 '' -- bash "$SRCDIR/bench/counters.sh" other.jsonl true
grep -q wavefronts other.jsonl && fail "wavefronts that ncu does not know"
REFUSES=1 expect 77 '' -- bash "$SRCDIR/bench/counters.sh" other.jsonl true
output 'cannot count here: ==ERROR== ERR_NVGPUCTRPERM'
sed -i s/192/193/ other.jsonl
expect 1 'no launch of 3 groups of 193' -- bash "$SRCDIR/bench/counters.sh" other.jsonl true
finish
