#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources' experiments on one GPU in one go: builds, checks the methods against the reference while all kernels that
# will be measured are compiled and tried, measures every figure, under CUDA and then OpenCL, and counts table 1's
# columns with ncu where it may.
#
#     bench/figures.sh [FIGURE…]        those that `tally-bench --list` names (all)
#
# OUT (build/figures) gets figures-DEVICE.jsonl, counters.csv and log. LIMIT=SECONDS (540) ends it: what did not fit is
# named, and the exit status is 3. DEVICES="cuda opencl". MIB=N: at most so many MiB of samples a point. REPEATS=N (100).
# CASES: random calls a method's check (64). BUILD: the folder to build in. COMMIT: what lines call this source.
set -u
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/figures}
build=${BUILD:-build/gpu}
limit=${LIMIT:-540}
figures=("$@")
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$out"/figures-*.jsonl "$out/counters.csv" "$out/log"
export TALLY_CACHE_DIR=${TALLY_CACHE_DIR:-/tmp/tally-kernels}

bench=$build/tally-bench methods=$build/tests/differential/test_methods
if ! { cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTALLY_COMMIT="${COMMIT:-}" &&
    cmake --build "$build" -j"$(nproc)" --target tally_bench differential_test_methods; } >"$work/build" 2>&1; then
    tail -n 40 "$work/build"
    exit 1
fi
say() { echo "$@" | tee -a "$out/log"; }
say "built: $SECONDS s"
[ ${#figures[@]} -gt 0 ] || mapfile -t figures < <("$bench" --list | cut -d' ' -f1)

# said NAME COMMAND…: runs it until the limit; says how it ended, with its last words, all of them if it failed.
said() {
    local name=$1 begin=$SECONDS status words=2
    shift
    if ((SECONDS >= limit)); then
        echo "$name" >>"$work/cut"
        return
    fi
    timeout $((limit - SECONDS)) "$@" >"$work/$name.log" 2>&1
    status=$?
    case $status in
    0 | 77) ;;
    124) echo "$name" >>"$work/cut" ;;
    *) echo "$name" >>"$work/failed"; words=20 ;;
    esac
    say "$name: exit $status, $((SECONDS - begin)) s, at $SECONDS s: $(tail -n $words "$work/$name.log" | tr '\n' ';')"
}

# In the background, as many at once as there are processors.
start() {
    while (($(jobs -rp | wc -l) >= ${JOBS:-$(nproc)})); do wait -n; done
    said "$@" &
}

# ---- checked, and compiled: every point once, with a MiB at most ----

shares=4 cases=${CASES:-64} seed=${SEED:-20261122}
for device in ${DEVICES:-cuda opencl}; do
    for figure in "${figures[@]}"; do
        start "try-$device-$figure" "$bench" --figure "$figure" --device "$device" --mib 1 --repeats 1 -o "$work/try-$device"
    done
    for ((share = 0; share < shares && cases; share++)); do
        start "methods-$device-$share" "$methods" $((seed + share * cases / shares)) $((cases / shares)) "$device" 40
    done
done
wait
say "checked: $SECONDS s; failed: $([ ! -e "$work/failed" ] || tr '\n' ' ' <"$work/failed")"

# ---- measured, with nothing else running ----

for device in ${DEVICES:-cuda opencl}; do
    for figure in "${figures[@]}"; do
        said "$device-$figure" "$bench" --figure "$figure" --device "$device" ${MIB:+--mib "$MIB"} \
            --repeats "${REPEATS:-100}" -o "$work/$device"
    done
    if [ "$device" = cuda ] && [ -e "$work/cuda/trish-table1.jsonl" ]; then
        said counters bench/counters.sh "$work/cuda/trish-table1.jsonl" "$bench" "$out/counters.csv"
    fi
    for figure in "${figures[@]}"; do
        [ ! -e "$work/$device/$figure.jsonl" ] || cat "$work/$device/$figure.jsonl"
    done >"$out/figures-$device.jsonl"
    say "$device: $(wc -l <"$out/figures-$device.jsonl") lines, $(grep -c '"skipped"' "$out/figures-$device.jsonl") skipped"
done
! [ -e "$work/cut" ] || say "no time was left for: $(tr '\n' ' ' <"$work/cut")"
! [ -e "$work/failed" ] || { say "failed: $(tr '\n' ' ' <"$work/failed")"; exit 1; }
! [ -e "$work/cut" ] || exit 3
