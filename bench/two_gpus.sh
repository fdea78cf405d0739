#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One command on a machine of two GPUs or more: builds, checks that they count what the reference does, and times all
# of them against one, within LIMIT seconds (150). Results go to the folder OUT (build/two-gpus-results):
# several.jsonl, samples of the host, and parts.jsonl, samples on the devices; put into bench/results as
# NAME-several-DATE.jsonl and NAME-parts-DATE.jsonl.
#
#     bench/two_gpus.sh        KIND=opencl MIB=1 REPEATS=1 tries it elsewhere; BUILT=1: all is built already
set -u
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/two-gpus-results} build=${BUILD:-build/gpu} kind=${KIND:-cuda} limit=${LIMIT:-150}
mkdir -p "$out"
export TALLY_CACHE_DIR=${TALLY_CACHE_DIR:-/tmp/tally-kernels}
failed=0
exec 3>&1

# left: seconds until the limit, at least one.
left() {
    local seconds=$((limit - SECONDS))
    echo $((seconds > 0 ? seconds : 1))
}
step() { # NAME COMMAND…
    local name=$1 begin=$SECONDS
    shift
    timeout "$(left)" "$@"
    local status=$?
    echo "$name: exit $status, $((SECONDS - begin)) s" >&3
    ((status == 0)) || failed=1
}

if [ -z "${BUILT:-}" ]; then
    step build sh -c "cmake -S . -B '$build' -DCMAKE_BUILD_TYPE=Release && cmake --build '$build' -j'$(nproc)' --target \
        device_test_parts device_test_several micro_several micro_parts" >"$out/build.log" 2>&1
fi
step parts "$build/bench/micro_parts" -k "$kind" -m "${MIB:-2048}" -r "${REPEATS:-20}" >"$out/parts.jsonl" 2>"$out/parts.txt"
step several "$build/bench/micro_several" -m "$((2 * ${MIB:-2048}))" -r 5 cpu "$kind:0" "$kind:*" "$kind:*,cpu" \
    >"$out/several.jsonl" 2>"$out/several.txt"
step test_parts "$build/tests/device/test_parts" "$kind:*" 20261123 "${CASES:-20}" >"$out/test_parts.log" 2>&1
step test_several "$build/tests/device/test_several" "$kind:*,cpu" 20261123 "${CASES:-20}" >"$out/test_several.log" 2>&1
tail -n 1 "$out"/test_*.log
cat "$out/parts.txt" "$out/several.txt"
nvidia-smi topo -m 2>/dev/null >"$out/topology.txt" || true
! grep -q '"same":false' "$out"/*.jsonl || { echo "wrong counts"; failed=1; }
echo "all: exit $failed, $SECONDS s"
exit $failed
