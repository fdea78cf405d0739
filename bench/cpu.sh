#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One command that records this processor: builds, runs tally-bench, and leaves its JSON lines, after
# a first line that says what machine, compiler and commit they are of, in bench/results/ (or OUT).
#
#     bench/cpu.sh [NAME [ARGUMENT OF tally-bench…]]      NAME: cpu-2026-11-21 unless given
#
# Then `bench/tables.py` puts the newest into docs/PERFORMANCE.md. The peers are
# what scripts/peers.sh installed. TALLY_DISABLE_CPU is obeyed and written down; BUILD names a folder
# with a build to use as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:-cpu-$(date -u +%F)}
[ $# -eq 0 ] || shift
folder=${OUT:-bench/results}
build=${BUILD:-build/release}
[ -n "${BUILD:-}" ] || scripts/build.sh release -DTALLY_TESTS=OFF
mkdir -p "$folder"
part=$folder/.$name.part
trap 'rm -f "$part"' EXIT

load() { cut -d' ' -f1 /proc/loadavg; }
before=$(load)
"$build/tally-bench" --format json "$@" >"$part"
BEFORE=$before AFTER=$(load) COMPILER=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt") \
    ARGUMENTS="$*" python3 - "$part" >"$folder/$name.jsonl" <<'PY'
import datetime, json, os, subprocess, sys


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


cpu = dict(
    line.split(":", 1)
    for line in said("lscpu").replace(" ", " ").splitlines()
    if line.startswith(("Model name", "CPU family", "Model:", "Stepping", "L1d", "L2", "L3"))
)
lines = [json.loads(line) for line in open(sys.argv[1])]
print(json.dumps({
    "header": "tally-bench/1",
    "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "cpu": {key.strip(" :"): value.strip() for key, value in cpu.items()},
    "processors": len(os.sched_getaffinity(0)),
    "disabled": os.environ.get("TALLY_DISABLE_CPU", ""),
    "load_before_after": [float(os.environ["BEFORE"]), float(os.environ["AFTER"])],
    "compiler": said(os.environ["COMPILER"] or "cc", "--version").splitlines()[0],
    "commit": said("git", "describe", "--always", "--dirty", "--abbrev=12"),
    "arguments": os.environ["ARGUMENTS"],
    "versions": {line["by"]: line["version"] for line in lines if line["version"]},
}))
sys.stdout.writelines(open(sys.argv[1]))
PY
echo "$folder/$name.jsonl: $(($(wc -l <"$folder/$name.jsonl") - 1)) measurements"
