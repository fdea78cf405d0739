#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `tally devices` with drivers that are there, missing, old, broken: tests/device/fake's stand-ins,
# found as the real ones are, on LD_LIBRARY_PATH.
. "$(dirname "$0")/lib.sh"
need python3
fakes=${BUILDDIR:-}/tests/device/lib
[ -e "$fakes/libcuda.so.1" ] || skip "no stand-ins for drivers in $fakes"
export LD_LIBRARY_PATH=$fakes TALLY_CACHE_DIR=$WORK/cache
unset TALLY_OPENCL_LIBRARY TALLY_CUDA_LIBRARY TALLY_NVRTC_LIBRARY

# see ID AVAILABLE REASON VARIABLE=VALUE…: what is said of a device, as text and as JSON; the reason
# is an extended regular expression.
see() {
    local id=$1 available=$2 reason=$3
    shift 3
    expect 0 "" -- env "$@" "$TALLY" devices
    if [ "$available" = true ]; then
        output "^$id +fake"
    else
        output "^$id +missing: $reason\$"
    fi
    expect 0 "" -- env "$@" "$TALLY" devices --format json
    checks=$((checks + 1))
    python3 -c '
import json, re, sys
devices = {d["id"]: d for d in json.load(open(".out"))}
d = devices[sys.argv[1]]
assert d["available"] == (sys.argv[2] == "true"), d
if d["available"]:
    assert d["reason"] is None and d["memory_bytes"] == 1 << 30 and d["local_bytes"] > 40000, d
else:
    assert re.fullmatch(sys.argv[3], d["reason"]), d
assert devices["cpu"]["available"]
' "$id" "$available" "$reason" 2>.py || fail "devices --format json, $id with $*: $(tail -1 .py)"
}

see cuda:0 true ""
see opencl:0 true ""
see cuda:1 true "" FAKE_CUDA_DEVICES=2
see opencl:1 true "" FAKE_OPENCL_DEVICES=2

# No library: switched off, named and absent, and not one at all.
see cuda false 'switched off by TALLY_CUDA_LIBRARY=none' TALLY_CUDA_LIBRARY=none
see opencl false 'switched off by TALLY_OPENCL_LIBRARY=none' TALLY_OPENCL_LIBRARY=none
see cuda false '/nowhere/libcuda.so is not installed' TALLY_CUDA_LIBRARY=/nowhere/libcuda.so
echo 'no library' >broken.so
see opencl false "$PWD/broken.so does not open: .*" TALLY_OPENCL_LIBRARY="$PWD/broken.so"
see cuda false '.*libOpenCL.so.1 is too old: it lacks cuInit' TALLY_CUDA_LIBRARY="$fakes/libOpenCL.so.1"

# A driver without a compiler.
see cuda:0 false 'no kernel compiler: switched off by TALLY_NVRTC_LIBRARY=none \(install NVRTC, .*\)' \
    TALLY_NVRTC_LIBRARY=none
see cuda:0 false 'no kernel compiler: NVRTC does not answer \(7\)' FAKE_NVRTC_FAIL=1 FAKE_NVRTC_CODE=7
see opencl:0 false 'its driver has no compiler' FAKE_OPENCL_COMPILER=0

# No device; too old a device; one that does not work.
see cuda false 'the driver finds no device: no CUDA-capable device is detected' FAKE_CUDA_DEVICES=0
see opencl false 'OpenCL has 1 platform but no device' FAKE_OPENCL_DEVICES=0
see opencl false 'libOpenCL is there but no driver is registered with it' FAKE_OPENCL_PLATFORMS=0
see cuda:0 false 'too old: its compute capability is 6\.1; 7\.0.* is needed' FAKE_CUDA_CAPABILITY=61
see opencl:0 false 'too old: its version is OpenCL 1\.1 x; OpenCL 1\.2 is needed' 'FAKE_OPENCL_VERSION=OpenCL 1.1 x'
see opencl:0 false 'its groups have 128 work-items at most; 256 are needed' FAKE_OPENCL_GROUP=128
see opencl:0 false 'its driver says that it is not available' FAKE_OPENCL_UNAVAILABLE=1
see cuda false "the driver finds no device: the fake driver's words" FAKE_CUDA_FAIL=1 FAKE_CUDA_CODE=3
see cuda:0 false "CUDA: cuDeviceGet: the fake driver's words .*719\\)" FAKE_CUDA_FAIL=4 FAKE_CUDA_CODE=719
see opencl false 'clGetPlatformIDs: out of resources \(-5\)' FAKE_OPENCL_FAIL=1 FAKE_OPENCL_CODE=-5

# A name with characters that JSON escapes.
expect 0 "" -- env FAKE_CUDA_NAME='a "GPU" \ here' "$TALLY" devices --format json
equal 'a "GPU" \ here' "$(python3 -c '
import json
print([d["name"] for d in json.load(open(".out")) if d["id"] == "cuda:0"][0])')" "a name with quotes"

# Runs: the reason comes with the refusal, a failure with the driver's words, and the exit code is 1.
printf 'abcabc' >six
raw=(run six --dtype u8 --bins 256 --range 0 256)
expect 3 'no kernel compiler' -- env TALLY_NVRTC_LIBRARY=none "$TALLY" "${raw[@]}" --device cuda
expect 3 'switched off' -- env TALLY_OPENCL_LIBRARY=none "$TALLY" "${raw[@]}" --device opencl
expect 1 'does not build.*expected a semicolon' -- \
    env 'FAKE_OPENCL_BUILD=line 3: expected a semicolon' "$TALLY" "${raw[@]}" --device opencl
expect 1 'NVRTC: the kernel does not build \(6\): tally.cu\(4\): error' -- \
    env 'FAKE_NVRTC_BUILD=tally.cu(4): error' "$TALLY" "${raw[@]}" --device cuda
expect 1 'bytes of device memory: out of device memory \(-4\)' -- \
    env FAKE_OPENCL_MEMORY=100 "$TALLY" "${raw[@]}" --device opencl
expect 1 'bytes of device memory: out of memory \(2\)' -- \
    env FAKE_CUDA_MEMORY=100 "$TALLY" "${raw[@]}" --device cuda
expect 1 "the fake driver's words" -- \
    env FAKE_CUDA_FAIL=40 FAKE_CUDA_CODE=719 FAKE_CUDA_LOST=1 "$TALLY" "${raw[@]}" --device cuda
# Drivers that end the process which loads them: they are missing, and what needs none opens none.
broken=("TALLY_OPENCL_LIBRARY=$fakes/libbroken.so" "TALLY_CUDA_LIBRARY=$fakes/libbroken.so")
ends='its driver ends the process that loads it'
see cuda false "$ends: Aborted \(signal 6\)" "${broken[@]}"
see opencl false "$ends: Aborted \(signal 6\)" "${broken[@]}"
see opencl false "$ends \(exit code 9\)" "${broken[@]}" FAKE_BROKEN_EXIT=1
see cuda:0 true "" "${broken[0]}"
expect 0 "" -- env "${broken[@]}" "$TALLY" "${raw[@]}" --device cpu
expect 0 "" -- env "${broken[@]}" "$TALLY" "${raw[@]}"
expect 0 "" -- env "${broken[@]}" "$TALLY" methods
expect 0 "" -- env "${broken[@]}" "$TALLY" selftest --device cpu --seed 1 --cases 1
expect 0 "" -- env "${broken[@]}" "$TALLY" selftest --seed 1 --cases 1
output "^cuda .*skipped: $ends"
output "^opencl .*skipped: $ends"
expect 1 "$ends" -- env "${broken[@]}" "$TALLY" selftest --device opencl
# With no driver at all the processor counts.
expect 0 "" -- env TALLY_OPENCL_LIBRARY=none TALLY_CUDA_LIBRARY=none "$TALLY" "${raw[@]}" --format csv
finish
