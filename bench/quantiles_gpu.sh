#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exact quantiles on a GPU: builds what is needed, compares with the processor, times, compares again
# with what time is left; ends by itself after LIMIT seconds (240). Results go to the folder named by OUT.
set -u
cd "$(dirname "$0")/.." || exit
LIMIT=${LIMIT:-240}
. bench/said.sh

timed() {
    "$build/bench/micro_quantiles" cuda -c "$build/bench/camera.png" -p "$build/bench/photograph.png" "$@"
}
export -f timed
export build

said 60 configure cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
said 80 build cmake --build "$build" -j"$(nproc)" --target device_test_quantiles micro_quantiles
said 100 cuda "$build/tests/device/test_quantiles" cuda 1 14
said 55 f32 bash -c 'timed -d f32'
said 40 f64 bash -c 'timed -d f64 -i uniform,zeros,sorted,camera,sizes,outliers' # a hundred of f64's "beside" takes too long
said 20 cuda-2 "$build/tests/device/test_quantiles" cuda 2 400
said 60 opencl "$build/tests/device/test_quantiles" opencl 1 40
grep -h '^{' "$out"/f32.log "$out"/f64.log >"$out/quantiles-cuda.jsonl"
sed -E 's/.*"dtype":"([a-z0-9]+)","n":([0-9]+),"rows":([0-9]+),"data":"([a-z]+)","quantiles":([0-9]+),"median_s":([0-9.]+).*"fraction_of_read":([0-9.]+),"verified":([a-z]+)}/\1 \2 \3 \4 \5 \6 \7 \8/' "$out/quantiles-cuda.jsonl"
echo "$SECONDS s"
