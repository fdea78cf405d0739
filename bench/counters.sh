#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A profiler's counters of the kernels of table 1 of source 003, each of one launch over the whole input, added to the
# lines of its figure as the paper defines its columns: of one multiprocessor, in the mean. Needs ncu and a device on
# which it may count; clocks are left alone.
#
#     bench/counters.sh LINES.jsonl [TALLY-BENCH [CSV]]    LINES as tally-bench --figure trish-table1 wrote them;
#                                                          CSV gets what ncu said
set -euo pipefail
lines=${1:?usage: bench/counters.sh LINES.jsonl [TALLY-BENCH [CSV]]}
bench=${2:-tally-bench} csv=${3:-}
command -v ncu >/dev/null || { echo "skipped: no ncu"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mib=$(python3 -c 'import json, sys; print(max(json.loads(open(sys.argv[1]).readline())["n"] >> 20, 1))' "$lines")

# count NAME METRICS: of every launch that the figure makes with one run a method.
count() {
    ncu --clock-control none --csv --print-units base --kernel-name 'regex:^count$' --metrics "$2" \
        --log-file "$work/$1.csv" "$bench" --figure trish-table1 --device cuda --repeats 1 --mib "$mib" >"$work/$1.log" 2>&1
}
metrics=gpu__time_duration.sum,smsp__inst_executed.sum,smsp__inst_issued.sum,smsp__thread_inst_executed.sum
metrics+=,sm__cycles_active.sum,sm__warps_active.avg.per_cycle_active
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,smsp__sass_branch_targets.sum,smsp__sass_branch_targets_threads_divergent.sum
count all "$metrics" || { echo "skipped: ncu cannot count here: $(tail -n 1 "$work/all.csv")"; exit 77; }
# Not every version of ncu knows these: the wavefronts that shared memory took, and that it took at least.
count wavefronts memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal || rm -f "$work/wavefronts.csv"
[ -z "$csv" ] || grep -h '^"' "$work"/*.csv >"$csv"
python3 - "$lines" "$work" <<'PY'
import csv, glob, json, sys

path, work = sys.argv[1:]
with open(path, encoding="utf-8") as old:
    lines = [json.loads(line) for line in old]
found = {}  # (groups, group size) of a launch: {metric: value}, the last launch's
for name in glob.glob(work + "/*.csv"):
    with open(name, encoding="utf-8") as table:
        for row in csv.DictReader(row for row in table if row.startswith('"')):
            shape = tuple(int(row[key].strip("()").split(",")[0]) for key in ("Grid Size", "Block Size"))
            try:
                found.setdefault(shape, {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
            except ValueError:
                pass  # n/a
base = None
for line in lines:
    shape = int(line["groups"]), int(line["group_size"])
    if shape not in found:
        sys.exit(f"counters.sh: ncu saw no launch of {shape[0]} groups of {shape[1]}")
    of, units, n = found[shape], line["units"], line["n"]
    issued, executed = of["smsp__inst_issued.sum"], of["smsp__inst_executed.sum"]
    line["counted_s"] = of["gpu__time_duration.sum"] * 1e-9
    line["instructions_issued"] = issued / units
    line["instructions_per_byte"] = issued * 32 / n  # as the paper: a warp's is 32, idle lanes or not
    line["instructions_per_cycle"] = executed / of["sm__cycles_active.sum"]
    line["cycles"] = line["instructions_issued"] / line["instructions_per_cycle"]
    base = base or line["cycles"]
    line["cycles_ratio"] = line["cycles"] / base
    line["cycles_active"] = of["sm__cycles_active.sum"] / units
    line["lanes"] = of["smsp__thread_inst_executed.sum"] / executed
    line["warps_per_cycle"] = of["sm__warps_active.avg.per_cycle_active"]
    line["bank_conflicts"] = of["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"] / units
    if "memory_l1_wavefronts_shared_ideal" in of:
        line["wavefronts"] = of["memory_l1_wavefronts_shared"] / units
        line["wavefronts_ideal"] = of["memory_l1_wavefronts_shared_ideal"] / units
    line["branches"] = of["smsp__sass_branch_targets.sum"] / units
    line["divergent_branches"] = of["smsp__sass_branch_targets_threads_divergent.sum"] / units
    line["replays"] = (issued - executed) / issued
with open(path, "w", encoding="utf-8") as new:
    for line in lines:
        new.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
PY
echo "counters of $(wc -l <"$lines") launches"
