#!/usr/bin/env bash
# A profiler's counters for the methods of table 1 of source 003, added to the lines of its figure:
# instructions a byte and a cycle, bank conflicts, branches that diverge. Needs ncu and a device on
# which it may count; clocks are left alone.
#
#     bench/counters.sh LINES.jsonl [TALLY]    LINES as tally-bench --figure trish-table1 wrote them
set -euo pipefail
lines=${1:?usage: bench/counters.sh LINES.jsonl [TALLY]}
tally=${2:-tally}
command -v ncu >/dev/null || { echo "skipped: no ncu"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# 256 MiB, as the paper's counts say; the counts of kernels are added up over the pieces that they go over in.
head -c $((256 << 20)) /dev/urandom >"$work/uniform"
metrics=smsp__inst_executed.sum,smsp__thread_inst_executed.sum,sm__cycles_active.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,smsp__sass_branch_targets.sum,smsp__sass_branch_targets_threads_divergent.sum
for method in trish podlozhnyuk-256 nugteren; do
    ncu --clock-control none --csv --print-units base --kernel-name regex:^count$ \
        --metrics "$metrics" --log-file "$work/$method.csv" \
        "$tally" run --dtype u8 --bins 256 --range 0 256 --device cuda --method "$method" \
        --format csv "$work/uniform" >/dev/null ||
        { echo "skipped: ncu cannot count here: $(tail -n 1 "$work/$method.csv")"; exit 77; }
done
python3 - "$lines" "$work" <<'PY'
import csv, json, os, sys

path, work = sys.argv[1:]
with open(path, encoding="utf-8") as old:
    lines = [json.loads(line) for line in old]
for line in lines:
    with open(os.path.join(work, line["method"] + ".csv"), encoding="utf-8") as table:
        rows = csv.DictReader(row for row in table if row.startswith('"'))
        sums = {}
        for row in rows:
            name = row["Metric Name"]
            sums[name] = sums.get(name, 0) + float(row["Metric Value"].replace(",", ""))
    line["warp_instructions"] = sums["smsp__inst_executed.sum"]
    line["instructions_per_byte"] = sums["smsp__thread_inst_executed.sum"] / (256 << 20)
    line["instructions_per_cycle"] = (sums["smsp__inst_executed.sum"] /
                                      sums["sm__cycles_active.sum"])
    line["bank_conflicts"] = sums["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
    line["branches"] = sums["smsp__sass_branch_targets.sum"]
    line["divergent_branches"] = sums["smsp__sass_branch_targets_threads_divergent.sum"]
with open(path, "w", encoding="utf-8") as new:
    for line in lines:
        new.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
PY
