#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Statistics of bins on a GPU: builds what is needed, compares with the processor, times beside reading both columns,
# compares again with what time is left; ends by itself after LIMIT seconds (150). Results go to the folder named by OUT.
set -u
cd "$(dirname "$0")/.." || exit
. bench/said.sh

said 60 configure cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
said 80 build cmake --build "$build" -j"$(nproc)" --target device_test_statistics device_test_statistics_packed micro_statistics
said 30 cuda "$build/tests/device/test_statistics" cuda 1 9
said 90 cuda-packed "$build/tests/device/test_statistics_packed" cuda 1 9
said 45 targets "$build/bench/micro_statistics" cuda -b 4096 -c data/camera.png
said 30 bins "$build/bench/micro_statistics" cuda -b 100,65536 -i uniform,zeros,ninety,two
said 40 normal "$build/bench/micro_statistics" cuda -b 4096 -i uniform,ninety -v normal
said 40 opencl "$build/tests/device/test_statistics_packed" opencl 1 4
said 20 cuda-2 "$build/tests/device/test_statistics" cuda 2 40
grep -h '^{' "$out"/{targets,bins,normal}.log >"$out/statistics-cuda.jsonl"
sed -E 's/.*"bins":([0-9]+),"data":"([a-z]+)","values":"([a-z]+)","found":"([a-z0-9,]+)","limits":([a-z]+),"median_s":([0-9.]+).*"fraction_of_read":([0-9.]+),"verified":([a-z]+)}/\1 \2 \3 \4 limits \5 \6 \7 \8/' "$out/statistics-cuda.jsonl"
echo "$SECONDS s"
